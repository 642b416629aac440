/* SPDX-License-Identifier: MIT */
/* Scores of masks as text and JSON. */
#include "masks.h"
#include "output.h"
#include "text.h"
#include <math.h>

#define MOST_SHOWN 20 /* most classes of a confusion matrix in text */

static void
print_json (const DynoMaskScores *s, const DynoWeightsInfo *info, DynoDataset *dataset,
            const char *part, double seconds)
{
  DynoClassMeans means;
  DynoJson json;
  guint32 n = s->n_outputs;

  dyno_class_counts_get_means (&s->counts, &means);
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "evaluation");
  dyno_json_string (&json, "model", info->model);
  dyno_json_string (&json, "data", dyno_dataset_get_info (dataset)->location);
  dyno_json_string (&json, "part", part);
  dyno_json_uint (&json, "samples", s->n_samples);
  dyno_json_uint (&json, "unreadable", s->n_unreadable);
  dyno_json_double (&json, "seconds", seconds);
  dyno_json_double (&json, "mean_iou", means.iou);
  dyno_json_double (&json, "mean_dice", means.f1);
  dyno_json_double (&json, "pixel_accuracy", dyno_mask_scores_get_accuracy (s));
  dyno_json_uint (&json, "ignored_pixels", s->n_ignored);
  dyno_json_begin_array (&json, "classes");
  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (info, i);
      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "class", name);
      dyno_json_uint (&json, "pixels", s->counts.there[i]);
      dyno_json_double (&json, "iou", dyno_class_counts_get_iou (&s->counts, i));
      dyno_json_double (&json, "dice", dyno_class_counts_get_f1 (&s->counts, i));
      dyno_json_double (&json, "precision", dyno_class_counts_get_precision (&s->counts, i));
      dyno_json_double (&json, "recall", dyno_class_counts_get_recall (&s->counts, i));
      dyno_json_end_object (&json);
    }
  dyno_json_end_array (&json);
  dyno_json_begin_array (&json, "confusion"); /* pixels, a row per true class */
  for (guint32 i = 0; i < n; i++)
    {
      dyno_json_begin_array (&json, NULL);
      for (guint32 k = 0; k < n; k++)
        dyno_json_uint (&json, NULL, s->confusion[(gsize) i * n + k]);
      dyno_json_end_array (&json);
    }
  dyno_json_end_array (&json);
  dyno_json_begin_array (&json, "worst");
  for (guint i = 0; i < s->worst->len; i++)
    {
      const DynoMaskScored *one = &g_array_index (s->worst, DynoMaskScored, i);
      g_autofree char *sample = dyno_dataset_describe_sample (dataset, one->index);
      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "sample", sample);
      dyno_json_uint (&json, "index", one->index);
      dyno_json_double (&json, "mean_iou", one->iou);
      dyno_json_double (&json, "pixel_accuracy", one->accuracy);
      dyno_json_end_object (&json);
    }
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static char *
percent (double share)
{
  return isnan (share) ? g_strdup ("-") : g_strdup_printf ("%.1f %%", 100 * share);
}

static void
print_classes (const DynoMaskScores *s, const DynoWeightsInfo *info)
{
  g_autoptr (DynoTable) table =
      dyno_table_new ("class", "pixels", "IoU", "Dice", "precision", "recall", NULL);
  double all = 0;

  for (guint32 i = 0; i < s->n_outputs; i++)
    all += (double) s->counts.there[i];
  for (guint32 i = 0; i < s->n_outputs; i++)
    dyno_table_add (table, dyno_weights_info_name_class (info, i),
                    percent ((double) s->counts.there[i] / all),
                    percent (dyno_class_counts_get_iou (&s->counts, i)),
                    percent (dyno_class_counts_get_f1 (&s->counts, i)),
                    percent (dyno_class_counts_get_precision (&s->counts, i)),
                    percent (dyno_class_counts_get_recall (&s->counts, i)), NULL);
  dyno_table_print (table);
}

/* Prints the matrix in percent of the pixels of each true class. */
static void
print_confusion (const DynoMaskScores *s, const DynoWeightsInfo *info)
{
  guint32 n = s->n_outputs;

  dyno_out_line ("%s", "");
  if (n > MOST_SHOWN)
    {
      dyno_out_line ("confusion matrix: there are too many classes to print it; --json has it");
      return;
    }
  dyno_out_line ("confusion matrix: a row per true class, with the percentage of its pixels that "
                 "each class was predicted for");
  for (guint32 i = 0; i < n; i++)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      g_autofree char *name = dyno_weights_info_name_class (info, i);
      for (guint32 k = 0; k < n; k++)
        if (s->counts.there[i] > 0)
          g_string_append_printf (line, "%7.1f",
                                  100.0 * (double) s->confusion[(gsize) i * n + k]
                                      / (double) s->counts.there[i]);
        else
          g_string_append_printf (line, "%7s", "-");
      dyno_out_line ("%s  %s", line->str, name);
    }
}

static void
print_text (const DynoMaskScores *s, const DynoWeightsInfo *info, DynoDataset *dataset,
            double seconds)
{
  g_autofree char *time = dyno_text_duration (seconds), *iou = NULL, *dice = NULL, *accuracy = NULL,
                  *rate = dyno_text_rate ((double) s->n_samples / MAX (seconds, 1e-9));
  DynoClassMeans means;

  dyno_out_line ("%s on %s: %" G_GUINT64_FORMAT " %s in %s, %s samples/s; %" G_GUINT64_FORMAT
                 " could not be read",
                 info->model, dyno_dataset_get_info (dataset)->name, s->n_samples,
                 dyno_plural (s->n_samples, "sample", "samples"), time, rate, s->n_unreadable);
  if (s->n_samples == 0)
    return;
  dyno_class_counts_get_means (&s->counts, &means);
  iou = percent (means.iou);
  dice = percent (means.f1);
  accuracy = percent (dyno_mask_scores_get_accuracy (s));
  dyno_out_line ("mean IoU %s, mean Dice %s, pixel accuracy %s; at %u x %u pixels", iou, dice,
                 accuracy, s->width, s->height);
  dyno_out_line ("%s", "");
  print_classes (s, info);
  print_confusion (s, info);
  if (s->worst->len > 0)
    dyno_out_line ("%s", "");
  for (guint i = 0; i < s->worst->len; i++)
    {
      const DynoMaskScored *one = &g_array_index (s->worst, DynoMaskScored, i);
      g_autofree char *sample = dyno_dataset_describe_sample (dataset, one->index),
                      *own = percent (one->iou), *right = percent (one->accuracy);

      dyno_out_line ("worst: %s, mean IoU %s, pixel accuracy %s", sample, own, right);
    }
}

void
dyno_mask_scores_print (const DynoMaskScores *scores, const DynoWeightsInfo *info,
                        DynoDataset *dataset, const char *part, double seconds, gboolean json)
{
  if (json)
    print_json (scores, info, dataset, part, seconds);
  else
    print_text (scores, info, dataset, seconds);
}
