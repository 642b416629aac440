/* SPDX-License-Identifier: MIT */
/* The classes in the mask of a sample. */
#include "inspect-mask.h"

#define MOST_SIDE  256 /* side of the decoded sample: a larger one has about the same shares */
#define MOST_NAMED 4

static void
append_class (GString *text, const DynoDatasetInfo *info, guint id, guint64 count, guint64 all)
{
  double share = 100.0 * (double) count / (double) all;

  g_string_append_printf (text, "%s%s ", text->len ? ", " : "", info->class_names[id]);
  if (share < 1)
    g_string_append (text, "<1 %");
  else
    g_string_append_printf (text, "%.0f %%", share);
}

char *
dyno_inspect_describe_mask (DynoDataset *dataset, guint64 index)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  guint32 width = MIN (info->max_width, MOST_SIDE), height = MIN (info->max_height, MOST_SIDE);
  gsize n = (gsize) width * height;
  g_autofree guint8 *image = g_malloc (3 * n), *ids = g_malloc (n);
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { image, ids };
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  guint64 counts[256] = { 0 };

  if (!dyno_dataset_decode (dataset, index, width, height, fields, scratch, NULL))
    return NULL;
  for (gsize i = 0; i < n; i++)
    counts[ids[i]]++;
  for (guint k = 0; k < MOST_NAMED; k++)
    {
      guint most = 0;

      for (guint id = 1; id < info->n_classes; id++)
        most = counts[id] > counts[most] ? id : most;
      if (counts[most] == 0)
        break;
      append_class (text, info, most, counts[most], n);
      counts[most] = 0;
    }
  return text->len ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}
