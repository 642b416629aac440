/* SPDX-License-Identifier: MIT */
/* Maps labels in text form to class ids, which do not depend on the order in which the labels
 * come. */
#include "imagelist.h"
#include "intl.h"
#include <string.h>

typedef struct {
  const char *label;
  gint64 number;
  guint32 place;
  gboolean numbers; /* all labels are whole numbers */
} Label;

void
dyno_label_table_init (DynoLabelTable *table)
{
  table->labels = g_ptr_array_new_with_free_func (g_free);
  table->ids = g_hash_table_new (g_str_hash, g_str_equal);
}

void
dyno_label_table_clear (DynoLabelTable *table)
{
  g_clear_pointer (&table->ids, g_hash_table_unref);
  g_clear_pointer (&table->labels, g_ptr_array_unref);
}

guint32
dyno_label_table_add (DynoLabelTable *table, const char *label)
{
  gpointer found;
  char *own;

  if (g_hash_table_lookup_extended (table->ids, label, NULL, &found))
    return GPOINTER_TO_UINT (found);
  own = g_strdup (label);
  g_ptr_array_add (table->labels, own);
  g_hash_table_insert (table->ids, own, GUINT_TO_POINTER (table->labels->len - 1));
  return table->labels->len - 1;
}

static int
compare_labels (gconstpointer a, gconstpointer b)
{
  const Label *first = a, *second = b;

  if (first->numbers && first->number != second->number)
    return first->number < second->number ? -1 : 1;
  return strcmp (first->label, second->label);
}

/* Names the classes in the order of the labels' names and returns the class of each label. */
static guint32 *
sort_labels (DynoLabelTable *table, DynoDatasetInfo *info, gboolean numbers)
{
  guint32 n = table->labels->len, *ids = g_new0 (guint32, MAX (n, 1));
  g_autofree Label *labels = g_new0 (Label, MAX (n, 1));

  for (guint32 i = 0; i < n; i++)
    {
      labels[i].label = g_ptr_array_index (table->labels, i);
      labels[i].place = i;
      numbers = numbers
                && g_ascii_string_to_signed (labels[i].label, 10, G_MININT64, G_MAXINT64,
                                             &labels[i].number, NULL);
    }
  for (guint32 i = 0; i < n; i++)
    labels[i].numbers = numbers;
  qsort (labels, n, sizeof *labels, compare_labels);
  dyno_dataset_info_set_classes (info, n);
  for (guint32 i = 0; i < n; i++)
    {
      ids[labels[i].place] = i;
      g_free (info->class_names[i]);
      info->class_names[i] = g_filename_display_name (labels[i].label);
    }
  return ids;
}

void
dyno_label_table_finish (DynoLabelTable *table, DynoDatasetInfo *info, GArray *items,
                         gboolean numbers)
{
  g_autofree guint32 *ids = sort_labels (table, info, numbers);

  for (guint i = 0; i < items->len; i++)
    {
      DynoListedImage *item = &g_array_index (items, DynoListedImage, i);
      item->class_id = (gint32) ids[item->class_id];
    }
}

/* The classes in the order in which they were added. */
static void
name_as_added (DynoLabelTable *table, DynoDatasetInfo *info)
{
  dyno_dataset_info_set_classes (info, table->labels->len);
  for (guint32 i = 0; i < table->labels->len; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_filename_display_name (g_ptr_array_index (table->labels, i));
    }
}

gboolean
dyno_label_table_finish_marks (DynoLabelTable *table, DynoDatasetInfo *info, DynoImageList *list,
                               const GArray *marks, gboolean sorted, GError **error)
{
  g_autofree guint32 *ids = NULL;
  guint64 n = table->labels->len, count = n * list->items->len;
  float *values;

  if (n > DYNO_MOST_LABELS || count > DYNO_MOST_LABEL_VALUES)
    {
      g_set_error (
          error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE,
          _ ("The list has %u samples and %u labels; at most %u labels can be used, and at "
             "most %u values (samples times labels)"),
          list->items->len, table->labels->len, DYNO_MOST_LABELS, DYNO_MOST_LABEL_VALUES);
      return FALSE;
    }
  if (n == 0)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY,
                           _ ("The list names no label"));
      return FALSE;
    }
  if (sorted)
    ids = sort_labels (table, info, TRUE);
  else
    name_as_added (table, info);
  list->n_values = (guint32) n;
  list->labels = TRUE;
  values = g_try_new0 (float, MAX (count, 1));
  if (!values)
    {
      g_set_error_literal (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NO_MEMORY,
                           _ ("There is no memory for the labels of the list"));
      return FALSE;
    }
  for (guint i = 0; i < marks->len; i++)
    {
      const DynoLabelMark *mark = &g_array_index (marks, DynoLabelMark, i);

      values[mark->item * n + (ids ? ids[mark->label] : mark->label)] = mark->state;
    }
  g_array_set_size (list->values, 0);
  g_array_append_vals (list->values, values, (guint) count);
  g_free (values);
  return TRUE;
}

gboolean
dyno_label_table_order (DynoLabelTable *table, DynoDatasetInfo *info, GArray *items, char **names)
{
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint32 *ids = g_new0 (guint32, MAX (table->labels->len, 1));
  guint32 n = g_strv_length (names);

  for (guint32 i = 0; i < n; i++)
    if (!g_hash_table_insert (places, g_strstrip (g_strdup (names[i])), GUINT_TO_POINTER (i)))
      return FALSE;
  for (guint32 i = 0; i < table->labels->len; i++)
    {
      gpointer place;
      if (!g_hash_table_lookup_extended (places, g_ptr_array_index (table->labels, i), NULL,
                                         &place))
        return FALSE;
      ids[i] = GPOINTER_TO_UINT (place);
    }
  dyno_dataset_info_set_classes (info, n);
  for (guint32 i = 0; i < n; i++)
    {
      g_free (info->class_names[i]);
      info->class_names[i] = g_filename_display_name (names[i]);
    }
  for (guint i = 0; i < items->len; i++)
    {
      DynoListedImage *item = &g_array_index (items, DynoListedImage, i);
      item->class_id = (gint32) ids[item->class_id];
    }
  return TRUE;
}
