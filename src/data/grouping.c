/* SPDX-License-Identifier: MIT */
/* The groups of a data set that is being opened: by the column that data.group_column names, where
 * its class reads one. */
#include "dataset-class.h"
#include "groups.h"
#include "hash.h"
#include "intl.h"

/* DynoGroupMark: the class of each sample, or its labels; g_array_unref. */
static GArray *
list_marks (DynoDataset *dataset)
{
  const DynoDatasetInfo *info = &dataset->info;
  gboolean labels = dyno_schema_count_labels (&info->schema) > 0,
           classes = info->n_classes > 0 && !labels && !dyno_schema_find_mask (&info->schema);
  GArray *marks = g_array_new (FALSE, FALSE, sizeof (DynoGroupMark));

  for (guint32 i = 0; (classes || labels) && i < info->n_samples; i++)
    {
      const float *values = labels ? dataset->klass->values (dataset, i) : NULL;
      DynoGroupMark mark = { .sample = i };

      if (classes)
        {
          mark.class_id = (guint32) dataset->klass->label (dataset, i);
          g_array_append_val (marks, mark);
        }
      for (mark.class_id = 0; values && mark.class_id < info->n_classes; mark.class_id++)
        if (values[mark.class_id] > 0)
          g_array_append_val (marks, mark);
    }
  return marks;
}

static void
note_shared (DynoDataset *dataset, guint32 n_shared)
{
  const DynoDatasetInfo *info = &dataset->info;
  char *note;

  if (info->n_test > 0 && n_shared == 0)
    note = g_strdup_printf (_ ("The data bring their own validation and test part, which "
                               "data.group_column=%s leaves as they are; no group has samples in "
                               "two parts"),
                            info->group_column);
  else if (info->n_test > 0)
    note = g_strdup_printf (
        ngettext ("The data bring their own validation and test part, which data.group_column=%s "
                  "leaves as they are: %u group has samples in several parts, so that validation "
                  "and test promise too much",
                  "The data bring their own validation and test part, which data.group_column=%s "
                  "leaves as they are: %u groups have samples in several parts, so that validation "
                  "and test promise too much",
                  n_shared),
        info->group_column, n_shared);
  else if (n_shared == 0)
    note =
        g_strdup_printf (_ ("The data bring their own validation part, which data.group_column=%s "
                            "leaves as it is; no group has samples in both parts"),
                         info->group_column);
  else
    note = g_strdup_printf (
        ngettext ("The data bring their own validation part, which data.group_column=%s "
                  "leaves as it is: %u group has samples in both parts, so that the validation "
                  "promises too much",
                  "The data bring their own validation part, which data.group_column=%s "
                  "leaves as it is: %u groups have samples in both parts, so that the "
                  "validation promises too much",
                  n_shared),
        info->group_column, n_shared);
  g_ptr_array_add (dataset->notes, note);
}

/* A data set with its own split keeps it: the note says whether groups are in several parts. */
static void
note_groups (DynoDataset *dataset)
{
  const DynoDatasetInfo *info = &dataset->info;
  guint32 n = dyno_groups_get_count (info->groups), n_shared = 0;
  g_autofree guint8 *seen = g_new0 (guint8, (gsize) n + 1);

  if (!info->has_split)
    {
      if (n == info->n_samples)
        g_ptr_array_add (dataset->notes,
                         g_strdup_printf (_ ("Each sample is a group of its own by the column "
                                             "“%s”: data.group_column keeps no samples together"),
                                          info->group_column));
      return;
    }
  for (guint64 i = 0; i < info->n_samples; i++)
    seen[dyno_groups_find (info->groups, i)] |= (guint8) (1u << dyno_dataset_get_part (dataset, i));
  for (guint32 g = 0; g < n; g++)
    n_shared += (seen[g] & (seen[g] - 1)) != 0; /* several bits */
  note_shared (dataset, n_shared);
}

gboolean
dyno_dataset_find_groups (DynoDataset *dataset, const DynoOpenContext *context, GError **error)
{
  DynoDatasetInfo *info = &dataset->info;
  const char *column = context->params->group_column;
  g_autoptr (GArray) marks = NULL;
  g_autofree guint32 *ids = NULL;

  if (!column || *column == '\0' || context->paths
      || (!dataset->has_groups && context->params->may_lack_groups))
    return TRUE;
  if (!dataset->has_groups)
    {
      g_set_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED,
                   _ ("“%s” has no columns, and data.group_column asks for “%s”: a list of images "
                      "or sequences has columns (CSV, TSV, JSON lines); make one, or set "
                      "data.group_column to nothing"),
                   info->name, column);
      return FALSE;
    }
  ids = g_new (guint32, info->n_samples);
  for (guint64 i = 0; i < info->n_samples; i++)
    ids[i] = dataset->klass->group (dataset, i);
  marks = list_marks (dataset);
  info->groups = dyno_groups_new (ids, (guint32) info->n_samples, marks, info->n_classes);
  info->group_column = g_strdup (column);
  for (guint64 i = 0; i < info->n_samples; i++)
    ids[i] = dyno_groups_find (info->groups, i);
  info->content_hash =
      dyno_hash_bytes (info->content_hash, ids, (gsize) info->n_samples * sizeof *ids);
  note_groups (dataset);
  return TRUE;
}
