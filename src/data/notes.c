/* SPDX-License-Identifier: MIT */
/* Notes on likely mistakes in a data set, in sentences: files left out, classes that cannot be
 * learned or checked. */
#include "dataset-class.h"
#include "intl.h"
#include <inttypes.h>
#include <string.h>

#define MAX_NAMED 5  /* classes in a sentence */
#define UNEVEN    50 /* ratio of samples of the largest class to the smallest */
#define GAP       5  /* a gap of this many numbers without a sample is a likely mistake */

typedef struct {
  GPtrArray *notes;
  const DynoDatasetInfo *info;
  guint64 *train, *validation; /* (n_classes); NULL: parts are not known */
  gboolean has_validation;
  /* the first gap in classes that are numbers, and the class after the gap; equal: there is no
     gap */
  guint32 gap, after;
} Notes;

static void
count_labels (DynoDataset *dataset, const GArray *part, guint64 *counts)
{
  for (guint i = 0; i < part->len; i++)
    counts[dataset->klass->label (dataset, g_array_index (part, guint32, i))]++;
}

/* Counts the samples that have each label. */
static void
count_marked (DynoDataset *dataset, const GArray *part, guint64 *counts)
{
  for (guint i = 0; i < part->len; i++)
    for (guint32 c = 0; c < dataset->info.n_classes; c++)
      counts[c] += dyno_dataset_get_values (dataset, g_array_index (part, guint32, i))[c] > 0;
}

/* Counts the samples whose masks have pixels of each class. */
static void
count_shown (DynoDataset *dataset, const GArray *part, guint64 *counts)
{
  for (guint i = 0; i < part->len; i++)
    for (guint32 c = 0; c < dataset->info.n_classes; c++)
      counts[c] += dataset->klass->shows (dataset, g_array_index (part, guint32, i), c);
}

static gboolean
is_number (const Notes *n, guint32 c)
{
  char number[16];

  g_snprintf (number, sizeof number, "%u", c);
  return strcmp (n->info->class_names[c], number) == 0;
}

static void
find_gap (Notes *n)
{
  const guint64 *counts = n->info->class_counts;

  for (guint32 c = 0, first = 0; c < n->info->n_classes; c++)
    {
      if (counts[c] == 0 && is_number (n, c))
        continue;
      if (c - first >= GAP && is_number (n, c))
        {
          n->gap = first;
          n->after = c;
          return;
        }
      first = c + 1;
    }
}

/* Classes in and after the gap are covered by the note on the gap. */
static gboolean
is_empty (const Notes *n, guint32 c)
{
  return n->info->class_counts[c] == 0 && (n->gap == n->after || c < n->gap);
}

static gboolean
is_untrained (const Notes *n, guint32 c)
{
  return n->train && n->train[c] == 0 && n->info->class_counts[c] > 0;
}

static gboolean
is_unchecked (const Notes *n, guint32 c)
{
  return n->has_validation && n->train[c] > 0 && n->validation[c] == 0;
}

/* Adds the note "before “a”, “b” and 3 more after" on the classes for which a condition holds. */
static void
note_classes (Notes *n, gboolean (*holds) (const Notes *n, guint32 c), const char *before,
              const char *after)
{
  g_autoptr (GString) text = g_string_new (before);
  guint32 found = 0;

  for (guint32 c = 0; c < n->info->n_classes; c++)
    if (holds (n, c) && found++ < MAX_NAMED)
      g_string_append_printf (text, "%s“%s”", found > 1 ? ", " : "", n->info->class_names[c]);
  if (found > MAX_NAMED)
    g_string_append_printf (text, _ (" and %u more"), found - MAX_NAMED);
  g_string_append (text, after);
  if (found > 0)
    g_ptr_array_add (n->notes, g_string_free (g_steal_pointer (&text), FALSE));
}

/* Notes the gap: one wrong byte in the labels can make hundreds of classes. */
static void
note_gap (Notes *n, DynoDataset *dataset)
{
  const DynoDatasetInfo *info = n->info;
  g_autofree char *sample = NULL;
  guint64 beyond = 0;

  if (n->gap == n->after)
    return;
  for (guint32 c = n->after; c < info->n_classes; c++)
    beyond += info->class_counts[c];
  for (guint64 i = 0; i < info->n_samples && !sample; i++)
    if (dataset->klass->label (dataset, i) >= (gint32) n->after)
      sample = dyno_dataset_describe_sample (dataset, i);
  g_ptr_array_add (
      n->notes,
      g_strdup_printf (
          _ ("No sample has a label from %u to %u, and %" PRIu64 " of %" PRIu64
             " have a larger one, up to %u; the first is %s. This makes %u classes: correct the "
             "labels if they are wrong, else number the classes without gaps"),
          n->gap, n->after - 1, beyond, info->n_samples, info->n_classes - 1, sample ? sample : "?",
          info->n_classes));
}

static void
note_uneven (Notes *n)
{
  const guint64 *counts = n->info->class_counts;
  guint32 most = 0, least = G_MAXUINT32;

  for (guint32 c = 0; c < n->info->n_classes; c++)
    {
      most = counts[c] > counts[most] ? c : most;
      if (counts[c] > 0 && (least == G_MAXUINT32 || counts[c] < counts[least]))
        least = c;
    }
  if (least == G_MAXUINT32 || counts[most] / counts[least] < UNEVEN)
    return;
  g_ptr_array_add (n->notes,
                   g_strdup_printf (_ ("Class “%s” has %" PRIu64 " samples and “%s” has %" PRIu64
                                       ": always predicting “%s” reaches an accuracy of %.1f %%; "
                                       "add samples of the rare classes"),
                                    n->info->class_names[most], counts[most],
                                    n->info->class_names[least], counts[least],
                                    n->info->class_names[most],
                                    100.0 * (double) counts[most] / (double) n->info->n_samples));
}

/* A single class gets here only where one_class allows it. */
static void
note_single (Notes *n)
{
  guint32 used = 0;

  for (guint32 c = 0; c < n->info->n_classes; c++)
    used += n->info->class_counts[c] > 0;
  if (used == 1)
    g_ptr_array_add (n->notes, g_strdup (_ ("All samples are of one class: there are no classes to "
                                            "distinguish, and nothing is learned")));
}

/* Finds names of classes that differ only in capitals: the first pair, which is most likely a
 * typing error. */
static void
note_alike (Notes *n)
{
  const DynoDatasetInfo *info = n->info;
  g_autoptr (GHashTable) folded = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint32 first = 0, second = 0, found = 0;

  for (guint32 c = 0; c < info->n_classes; c++)
    {
      char *key = g_utf8_casefold (info->class_names[c], -1);
      gpointer before = g_hash_table_lookup (folded, key);

      if (before && found++ == 0)
        {
          first = GPOINTER_TO_UINT (before) - 1;
          second = c;
        }
      g_hash_table_insert (folded, key, GUINT_TO_POINTER (c + 1));
    }
  if (found == 0)
    return;
  g_ptr_array_add (
      n->notes,
      found == 1
          ? g_strdup_printf (_ ("The classes “%s” and “%s” differ in capitals only; give "
                                "both one name if they are one"),
                             info->class_names[first], info->class_names[second])
          : g_strdup_printf (ngettext ("The classes “%s” and “%s”, and %u other, differ in "
                                       "capitals only; give those one name that are one",
                                       "The classes “%s” and “%s”, and %u others, differ in "
                                       "capitals only; give those one name that are one",
                                       (gulong) (found - 1)),
                             info->class_names[first], info->class_names[second], found - 1));
}

/* Notes a guess of the task that may well be wrong, and the setting that overrides it. */
static void
note_task (Notes *n)
{
  const DynoDatasetInfo *info = n->info;

  if (!info->task_doubted)
    return;
  if (dyno_schema_find_mask (&info->schema))
    g_ptr_array_add (n->notes,
                     g_strdup_printf (_ ("It is a guess that a class of each pixel is learned: %s; "
                                         "data.task=classes learns the folders as classes"),
                                      info->task_reason));
  else if (dyno_schema_count_labels (&info->schema) > 0)
    g_ptr_array_add (n->notes,
                     g_strdup_printf (_ ("It is a guess that several labels of a sample are "
                                         "learned: %s; data.task=classes learns one class"),
                                      info->task_reason));
  else
    g_ptr_array_add (n->notes,
                     g_strdup_printf (dyno_schema_count_values (&info->schema) > 0
                                          ? _ ("It is a guess that values are predicted: %s; "
                                               "data.task=classes learns classes")
                                          : _ ("It is a guess that classes are learned: %s; "
                                               "data.task=values predicts numbers"),
                                      info->task_reason));
}

char **
dyno_dataset_list_notes (DynoDataset *dataset, const GArray *train, const GArray *validation)
{
  const DynoDatasetInfo *info = &dataset->info;
  g_autofree guint64 *counts = g_new0 (guint64, 2 * (gsize) info->n_classes + 1);
  Notes n = { .notes = g_ptr_array_new (), .info = info };

  if (info->n_unreadable > 0)
    g_ptr_array_add (
        n.notes, g_strdup_printf (
                     ngettext ("%" PRIu64 " file cannot be used and is left out, the first: %s",
                               "%" PRIu64 " files cannot be used and are left out, the first: %s",
                               (gulong) info->n_unreadable),
                     info->n_unreadable,
                     dataset->unreadable->len > 1 ? (char *) dataset->unreadable->pdata[0] : "?"));
  for (guint i = 0; i < dataset->notes->len; i++)
    g_ptr_array_add (n.notes, g_strdup (g_ptr_array_index (dataset->notes, i)));
  note_task (&n);
  if (dyno_schema_find_mask (&info->schema))
    {
      if (train && validation && dataset->klass->shows)
        {
          n.train = counts;
          n.validation = counts + info->n_classes;
          n.has_validation = validation->len > 0;
          count_shown (dataset, train, n.train);
          count_shown (dataset, validation, n.validation);
        }
      note_classes (&n, is_empty, _ ("There is no pixel of class "),
                    _ (": it stays a class, and is never learned"));
      note_classes (&n, is_untrained, _ ("There is no training sample with pixels of class "),
                    _ (": all of them validate or test, none is learned"));
      note_classes (&n, is_unchecked, _ ("There is no validation sample with pixels of class "),
                    _ (": the validation does not measure it"));
      note_alike (&n);
    }
  else if (dyno_schema_count_labels (&info->schema) > 0)
    {
      if (train && validation)
        {
          n.train = counts;
          n.validation = counts + info->n_classes;
          n.has_validation = validation->len > 0;
          count_marked (dataset, train, n.train);
          count_marked (dataset, validation, n.validation);
        }
      note_classes (&n, is_empty, _ ("There is no sample with the label "),
                    _ (": it is never learned"));
      note_classes (&n, is_untrained, _ ("There is no training sample with the label "),
                    _ (": all its samples validate or test, none is learned"));
      note_classes (&n, is_unchecked, _ ("There is no validation sample with the label "),
                    _ (": the mean average precision does not measure it"));
      note_alike (&n);
    }
  else if (dyno_schema_count_values (&info->schema) == 0 && !info->schema.generated)
    {
      if (train && validation)
        {
          n.train = counts;
          n.validation = counts + info->n_classes;
          n.has_validation = validation->len > 0;
          count_labels (dataset, train, n.train);
          count_labels (dataset, validation, n.validation);
        }
      find_gap (&n);
      note_gap (&n, dataset);
      note_classes (&n, is_empty, _ ("There is no sample of class "),
                    _ (": it stays a class, and is never learned"));
      note_classes (&n, is_untrained, _ ("There is no training sample of class "),
                    _ (": all its samples validate or test, none is learned"));
      note_classes (
          &n, is_unchecked, _ ("There is no validation sample of class "),
          info->groups
              ? _ (": the accuracy does not measure it; the samples of a group stay together")
              : _ (": the accuracy does not measure it; only classes of two samples or more are "
                   "divided"));
      note_alike (&n);
      note_uneven (&n);
      note_single (&n);
    }
  g_ptr_array_add (n.notes, NULL);
  return (char **) g_ptr_array_free (n.notes, FALSE);
}
