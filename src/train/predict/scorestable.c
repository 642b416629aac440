/* SPDX-License-Identifier: MIT */
#include "scorestable.h"
#include "csvcell.h"
#include "file.h"
#include <math.h>

static void
append_head (GString *text, const DynoScores *scores, const DynoWeightsInfo *info)
{
  g_string_append (text, "sample,index");
  if (!scores->is_values && !scores->is_labels)
    {
      g_string_append (text, ",truth,predicted,probability,loss\n");
      return;
    }
  for (guint32 i = 0; i < scores->n_outputs; i++)
    {
      g_autofree char *name = scores->is_labels ? dyno_weights_info_name_class (info, i)
                                                : dyno_weights_info_name_value (info, i),
                      *truth = g_strdup_printf ("truth of %s", name),
                      *predicted = g_strdup_printf ("predicted %s", name);

      dyno_csv_add_cell (text, truth);
      dyno_csv_add_cell (text, predicted);
    }
  g_string_append (text, scores->is_labels ? ",loss\n" : ",squared_error\n");
}

static void
append_classes (GString *line, const DynoWeightsInfo *info, const DynoScored *one)
{
  g_autofree char *truth = dyno_weights_info_name_class (info, one->truth),
                  *predicted = dyno_weights_info_name_class (info, one->predicted);

  dyno_csv_add_cell (line, truth);
  dyno_csv_add_cell (line, predicted);
  dyno_csv_add_number (line, (double) one->share);
}

/* outputs: those of the sample; NULL: they were not kept. */
static void
append_values (GString *line, guint32 n, const float *truth, const float *outputs)
{
  for (guint32 i = 0; i < n; i++)
    {
      dyno_csv_add_number (line, (double) truth[i]);
      dyno_csv_add_number (line, outputs ? (double) outputs[i] : (double) NAN);
    }
}

gboolean
dyno_scores_write_table (const DynoScores *scores, const DynoWeightsInfo *info,
                         DynoDataset *dataset, const char *path, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL), line = g_string_new (NULL);
  guint32 n = scores->n_outputs;

  append_head (text, scores, info);
  for (guint i = 0; i < scores->samples->len; i++)
    {
      const DynoScored *one = &g_array_index (scores->samples, DynoScored, i);
      g_autofree char *sample = dyno_dataset_describe_sample (dataset, one->index);
      gsize first = (gsize) i * n; /* of its outputs */

      g_string_truncate (line, 0);
      dyno_csv_add_cell (line, sample);
      g_string_append_printf (line, ",%" G_GUINT64_FORMAT, one->index);
      if (scores->is_values || scores->is_labels)
        append_values (line, n,
                       scores->is_labels ? &g_array_index (scores->labels.truth, float, first)
                                         : dyno_dataset_get_values (dataset, one->index),
                       scores->outputs ? &g_array_index (scores->outputs, float, first) : NULL);
      else
        append_classes (line, info, one);
      dyno_csv_add_number (line, one->loss);
      g_string_append_len (g_string_append_len (text, line->str, (gssize) line->len), "\n", 1);
    }
  return dyno_file_write_atomic (path, text->str, text->len, error);
}
