/* SPDX-License-Identifier: MIT */
/* Measures two weights files on the same data, and compares their results. */
#include "savecost.h"
#include "measure.h"
#include "output.h"
#include "predict-options.h"
#include "signals.h"
#include "text.h"
#include <string.h>

#define MOST 0.01 /* a larger loss (a point of accuracy, a hundredth of the error) is marked */

/* Sets *masks for weights with a class for each pixel, else *scores, and *names for values. */
static gboolean
measure (const char *command, const char *weights, DynoDataset *dataset, char ***names,
         DynoScores **scores, DynoMaskScores **masks, GError **error)
{
  DynoPredictOptions options = { .weights = (char *) weights, .device = -1 };
  g_autoptr (DynoPredictor) predictor =
      dyno_predict_options_open (&options, command, dataset, error);
  const DynoWeightsInfo *info = predictor ? dyno_predictor_get_info (predictor) : NULL;

  if (!info)
    return FALSE;
  if (info->of_pixels)
    {
      *masks = dyno_mask_scores_measure (predictor, dataset, NULL, 0, NULL,
                                         dyno_signals_get_cancellable (), error);
      return *masks != NULL;
    }
  if (info->is_values && !*names)
    {
      *names = g_new0 (char *, info->n_outputs + 1);
      for (guint32 i = 0; i < info->n_outputs; i++)
        (*names)[i] = dyno_weights_info_name_value (info, i);
    }
  *scores = dyno_scores_measure (predictor, dataset, NULL, 0, NULL, dyno_signals_get_cancellable (),
                                 error);
  return *scores != NULL;
}

gboolean
dyno_save_cost_measure (DynoSaveCost *cost, const char *command, const char *fp32, const char *int8,
                        const char *data, GError **error)
{
  const DynoDatasetParams params = { .one_class = TRUE };
  g_autoptr (DynoDataset) dataset =
      dyno_predictor_open_labelled (fp32, data, &params, dyno_signals_get_cancellable (), error);

  return dataset
         && measure (command, fp32, dataset, &cost->names, &cost->fp32, &cost->fp32_masks, error)
         && measure (command, int8, dataset, &cost->names, &cost->int8, &cost->int8_masks, error);
}

void
dyno_save_cost_clear (DynoSaveCost *cost)
{
  dyno_scores_free (cost->fp32);
  dyno_scores_free (cost->int8);
  dyno_mask_scores_free (cost->fp32_masks);
  dyno_mask_scores_free (cost->int8_masks);
  g_strfreev (cost->names);
  memset (cost, 0, sizeof *cost);
}

/* Of several labels, the mean over the samples of the share of their known labels that are right.
 * */
static double
get_accuracy (const DynoScores *scores)
{
  if (scores->is_labels)
    return scores->labels.shares / (double) scores->labels.n_samples;
  return (double) scores->n_correct / (double) scores->n_samples;
}

static const char *
get_accuracy_key (const DynoScores *scores)
{
  return scores->is_labels ? "label_accuracy" : "accuracy";
}

static double
get_error (const DynoScores *scores, guint32 value)
{
  return scores->values.absolute[value] / (double) scores->n_samples;
}

static const char *
get_verdict (double cost)
{
  return cost > MOST ? "more than a point" : "";
}

static double
get_iou (const DynoMaskScores *scores)
{
  DynoClassMeans means;

  dyno_class_counts_get_means (&scores->counts, &means);
  return means.iou;
}

/* Formats a share in percent. */
static void
add_share (DynoTable *table, const char *name, double own, double rounded)
{
  dyno_table_add (table, g_strdup (name), g_strdup_printf ("%.2f %%", 100 * own),
                  g_strdup_printf ("%.2f %%", 100 * rounded),
                  g_strdup_printf ("%+.2f", 100 * (own - rounded)),
                  g_strdup (get_verdict (own - rounded)), NULL);
}

static void
print_table (DynoTable *table, guint64 n_samples)
{
  dyno_out_line ("on %" G_GUINT64_FORMAT " %s:", n_samples,
                 dyno_plural (n_samples, "sample", "samples"));
  dyno_table_print (table);
}

void
dyno_save_cost_print (const DynoSaveCost *cost)
{
  g_autoptr (DynoTable) table = dyno_table_new ("", "fp32", "int8", "cost", "", NULL);

  if (cost->fp32_masks)
    {
      add_share (table, "mean IoU", get_iou (cost->fp32_masks), get_iou (cost->int8_masks));
      add_share (table, "pixel accuracy", dyno_mask_scores_get_accuracy (cost->fp32_masks),
                 dyno_mask_scores_get_accuracy (cost->int8_masks));
      print_table (table, cost->fp32_masks->n_samples);
      return;
    }

  double before = dyno_scores_get_loss (cost->fp32), after = dyno_scores_get_loss (cost->int8);

  if (cost->names)
    for (guint32 i = 0; cost->names[i]; i++)
      {
        double own = get_error (cost->fp32, i), rounded = get_error (cost->int8, i);
        dyno_table_add (table, g_strdup_printf ("mean absolute error of %s", cost->names[i]),
                        g_strdup_printf ("%.6g", own), g_strdup_printf ("%.6g", rounded),
                        g_strdup_printf ("%+.3g", rounded - own),
                        g_strdup (get_verdict (own > 0 ? rounded / own - 1 : rounded)), NULL);
      }
  else
    add_share (table, cost->fp32->is_labels ? "label accuracy" : "accuracy",
               get_accuracy (cost->fp32), get_accuracy (cost->int8));
  dyno_table_add (table, g_strdup ("loss"), g_strdup_printf ("%.4f", before),
                  g_strdup_printf ("%.4f", after), g_strdup_printf ("%+.4f", after - before),
                  g_strdup (""), NULL);
  print_table (table, cost->fp32->n_samples);
}

static void
print_masks_json (const DynoMaskScores *scores, DynoJson *json, const char *name)
{
  dyno_json_begin_object (json, name);
  dyno_json_uint (json, "samples", scores->n_samples);
  dyno_json_double (json, "mean_iou", get_iou (scores));
  dyno_json_double (json, "pixel_accuracy", dyno_mask_scores_get_accuracy (scores));
  dyno_json_end_object (json);
}

static void
print_scores_json (const DynoSaveCost *cost, const DynoScores *scores, DynoJson *json,
                   const char *name)
{
  dyno_json_begin_object (json, name);
  dyno_json_uint (json, "samples", scores->n_samples);
  dyno_json_double (json, "loss", dyno_scores_get_loss (scores));
  if (!cost->names)
    dyno_json_double (json, get_accuracy_key (scores), get_accuracy (scores));
  else
    {
      dyno_json_begin_array (json, "mean_absolute_errors");
      for (guint32 i = 0; cost->names[i]; i++)
        dyno_json_double (json, NULL, get_error (scores, i));
      dyno_json_end_array (json);
    }
  dyno_json_end_object (json);
}

void
dyno_save_cost_print_json (const DynoSaveCost *cost, DynoJson *json)
{
  gboolean much = FALSE;

  if (cost->fp32_masks)
    {
      double lost = get_iou (cost->fp32_masks) - get_iou (cost->int8_masks);
      double lost_pixels = dyno_mask_scores_get_accuracy (cost->fp32_masks)
                           - dyno_mask_scores_get_accuracy (cost->int8_masks);

      print_masks_json (cost->fp32_masks, json, "fp32");
      print_masks_json (cost->int8_masks, json, "int8");
      dyno_json_begin_object (json, "cost");
      dyno_json_double (json, "mean_iou", lost);
      dyno_json_double (json, "pixel_accuracy", lost_pixels);
      dyno_json_bool (json, "more_than_a_point", lost > MOST || lost_pixels > MOST);
      dyno_json_end_object (json);
      return;
    }
  print_scores_json (cost, cost->fp32, json, "fp32");
  print_scores_json (cost, cost->int8, json, "int8");
  dyno_json_begin_object (json, "cost");
  dyno_json_double (json, "loss",
                    dyno_scores_get_loss (cost->int8) - dyno_scores_get_loss (cost->fp32));
  if (!cost->names)
    {
      double lost = get_accuracy (cost->fp32) - get_accuracy (cost->int8);
      dyno_json_double (json, get_accuracy_key (cost->fp32), lost);
      much = lost > MOST;
    }
  else
    {
      dyno_json_begin_array (json, "mean_absolute_errors");
      for (guint32 i = 0; cost->names[i]; i++)
        {
          double own = get_error (cost->fp32, i), rounded = get_error (cost->int8, i);
          dyno_json_double (json, NULL, rounded - own);
          much = much || (own > 0 ? rounded / own - 1 : rounded) > MOST;
        }
      dyno_json_end_array (json);
    }
  dyno_json_bool (json, "more_than_a_point", much);
  dyno_json_end_object (json);
}
