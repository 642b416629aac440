/* SPDX-License-Identifier: MIT */
#include "evaluated.h"
#include "output.h"
#include "text.h"
#include <math.h>

#define MOST_SHOWN 20 /* most classes of a confusion matrix in text */

static void
print_worst_json (DynoJson *json, const DynoEvaluated *e)
{
  dyno_json_begin_array (json, "worst");
  for (guint i = 0; i < e->scores->worst->len; i++)
    {
      const DynoScored *one = &g_array_index (e->scores->worst, DynoScored, i);
      g_autofree char *sample = dyno_dataset_describe_sample (e->dataset, one->index);
      dyno_json_begin_object (json, NULL);
      dyno_json_string (json, "sample", sample);
      dyno_json_uint (json, "index", one->index);
      dyno_json_double (json, "loss", one->loss);
      if (e->info->is_labels)
        dyno_json_uint (json, "wrong_labels", one->n_wrong);
      else if (!e->info->is_values)
        {
          g_autofree char *truth = dyno_weights_info_name_class (e->info, one->truth),
                          *predicted = dyno_weights_info_name_class (e->info, one->predicted);
          dyno_json_string (json, "truth", truth);
          dyno_json_string (json, "predicted", predicted);
          dyno_json_double (json, "probability", (double) one->share);
        }
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

static void
print_figures_json (DynoJson *json, const DynoClassFigures *figures)
{
  dyno_json_double (json, "balanced_accuracy", figures->means.balanced_accuracy);
  dyno_json_double (json, "precision_macro", figures->means.precision);
  dyno_json_double (json, "recall_macro", figures->means.recall);
  dyno_json_double (json, "f1_macro", figures->means.f1);
  dyno_json_double (json, "f1_weighted", figures->means.weighted_f1);
  dyno_json_double (json, "roc_auc", figures->roc_auc);
  dyno_json_double (json, "average_precision", figures->average_precision);
  dyno_json_double (json, "calibration_error", figures->calibration_error);
}

static void
print_classes_json (DynoJson *json, const DynoEvaluated *e)
{
  const DynoScores *s = e->scores;
  guint32 n = s->n_outputs;

  dyno_json_double (json, "accuracy", (double) s->n_correct / (double) s->n_samples);
  if (n > 5)
    dyno_json_double (json, "accuracy_top5", (double) s->n_correct_5 / (double) s->n_samples);
  print_figures_json (json, &e->figures);
  dyno_json_begin_array (json, "classes");
  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (e->info, i);
      dyno_json_begin_object (json, NULL);
      dyno_json_string (json, "class", name);
      dyno_json_uint (json, "samples", dyno_scores_get_support (s, i));
      dyno_json_double (json, "precision", dyno_scores_get_precision (s, i));
      dyno_json_double (json, "recall", dyno_scores_get_recall (s, i));
      dyno_json_double (json, "f1", dyno_scores_get_f1 (s, i));
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
  dyno_json_begin_array (json, "confusion"); /* a row per true class */
  for (guint32 i = 0; i < n; i++)
    {
      dyno_json_begin_array (json, NULL);
      for (guint32 k = 0; k < n; k++)
        dyno_json_uint (json, NULL, s->confusion[(gsize) i * n + k]);
      dyno_json_end_array (json);
    }
  dyno_json_end_array (json);
}

static void
print_labels_json (DynoJson *json, const DynoEvaluated *e)
{
  const DynoScores *s = e->scores;
  const DynoLabelFigures *f = &e->labels;
  const struct {
    const char *name;
    double value;
  } all[] = { { "mean_average_precision", f->mean_average_precision },
              { "roc_auc", f->roc_auc },
              { "f1_micro", f->f1_micro },
              { "precision_micro", f->precision_micro },
              { "recall_micro", f->recall_micro },
              { "f1_macro", f->f1_macro },
              { "precision_macro", f->precision_macro },
              { "recall_macro", f->recall_macro },
              { "label_accuracy", f->label_accuracy },
              { "exact_match", f->exact_match } };

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    dyno_json_double (json, all[i].name, all[i].value);
  dyno_json_begin_array (json, "labels");
  for (guint32 i = 0; i < s->n_outputs; i++)
    {
      g_autofree char *name = dyno_weights_info_name_class (e->info, i);
      double roc_auc = (double) NAN, average_precision = (double) NAN;

      dyno_label_sums_get_areas (&s->labels, i, &roc_auc, &average_precision);
      dyno_json_begin_object (json, NULL);
      dyno_json_string (json, "label", name);
      dyno_json_uint (json, "samples", s->labels.counts.there[i]);
      dyno_json_double (json, "precision", dyno_class_counts_get_precision (&s->labels.counts, i));
      dyno_json_double (json, "recall", dyno_class_counts_get_recall (&s->labels.counts, i));
      dyno_json_double (json, "f1", dyno_class_counts_get_f1 (&s->labels.counts, i));
      dyno_json_double (json, "average_precision", average_precision);
      dyno_json_double (json, "roc_auc", roc_auc);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

static void
print_values_json (DynoJson *json, const DynoEvaluated *e)
{
  const DynoScores *s = e->scores;

  dyno_json_double (json, "rms_error", dyno_value_sums_get_whole_rms_error (&s->values));
  dyno_json_double (json, "r2", dyno_value_sums_get_whole_r2 (&s->values));
  dyno_json_begin_array (json, "values");
  for (guint32 i = 0; i < s->n_outputs; i++)
    {
      dyno_json_begin_object (json, NULL);
      dyno_json_string (json, "name", e->info->target_names ? e->info->target_names[i] : NULL);
      dyno_json_string (json, "unit", e->info->target_units ? e->info->target_units[i] : NULL);
      dyno_json_double (json, "mean_absolute_error", s->values.absolute[i] / (double) s->n_samples);
      dyno_json_double (json, "rms_error", dyno_value_sums_get_rms_error (&s->values, i));
      dyno_json_double (json, "r2", dyno_scores_get_r2 (s, i));
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

static void
print_calibration_json (DynoJson *json, const DynoEvaluated *e)
{
  const DynoCalibration *c = &e->calibration;

  dyno_json_begin_object (json, "calibration");
  dyno_json_string (json, "file", e->weights);
  dyno_json_double (json, "temperature", e->fitted.temperature);
  dyno_json_double (json, "loss_before", c->loss_before);
  dyno_json_double (json, "loss", c->loss_after);
  if (e->info->is_labels)
    {
      dyno_json_begin_array (json, "thresholds");
      for (guint32 i = 0; i < e->info->n_outputs; i++)
        dyno_json_double (json, NULL, (double) e->fitted.thresholds[i]);
      dyno_json_end_array (json);
      dyno_json_uint (json, "thresholds_kept", c->n_kept);
      dyno_json_double (json, "f1_macro_before", c->f1_macro_before);
      dyno_json_double (json, "f1_macro", c->f1_macro_after);
    }
  else
    {
      dyno_json_double (json, "calibration_error_before", c->calibration_error_before);
      dyno_json_double (json, "calibration_error", c->calibration_error_after);
    }
  dyno_json_end_object (json);
}

void
dyno_evaluated_print_json (const DynoEvaluated *e, double seconds)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "evaluation");
  dyno_json_string (&json, "model", e->info->model);
  dyno_json_string (&json, "data", dyno_dataset_get_info (e->dataset)->location);
  dyno_json_string (&json, "part", e->part);
  dyno_json_uint (&json, "samples", e->scores->n_samples);
  dyno_json_uint (&json, "unreadable", e->scores->n_unreadable);
  dyno_json_double (&json, "seconds", seconds);
  dyno_json_double (&json, "loss", dyno_scores_get_loss (e->scores));
  if (e->info->is_values)
    print_values_json (&json, e);
  else if (e->info->is_labels)
    print_labels_json (&json, e);
  else
    print_classes_json (&json, e);
  print_worst_json (&json, e);
  if (e->is_calibrated)
    print_calibration_json (&json, e);
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
print_confusion (const DynoEvaluated *e)
{
  const DynoScores *s = e->scores;
  guint32 n = s->n_outputs;

  dyno_out_line ("%s", "");
  if (n > MOST_SHOWN)
    {
      dyno_out_line ("confusion matrix: %u classes; --json has it", n);
      return;
    }
  dyno_out_line ("confusion matrix: a row per true class, a column per predicted one");
  for (guint32 i = 0; i < n; i++)
    {
      g_autoptr (GString) line = g_string_new (NULL);
      g_autofree char *name = dyno_weights_info_name_class (e->info, i);
      for (guint32 k = 0; k < n; k++)
        g_string_append_printf (line, "%7" G_GUINT64_FORMAT, s->confusion[(gsize) i * n + k]);
      dyno_out_line ("%s  %s", line->str, name);
    }
}

/* Shares that are undefined or unknown are omitted. */
static void
print_figures (const DynoClassFigures *figures)
{
  const struct {
    const char *name;
    double share;
  } all[] = { { "balanced accuracy", figures->means.balanced_accuracy },
              { "macro F1", figures->means.f1 },
              { "weighted F1", figures->means.weighted_f1 },
              { "ROC AUC", figures->roc_auc },
              { "average precision", figures->average_precision },
              { "calibration error", figures->calibration_error } };
  g_autoptr (GString) line = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (!isnan (all[i].share))
      g_string_append_printf (line, "%s%s %.4f", line->len ? ", " : "", all[i].name, all[i].share);
  dyno_out_line ("%s", line->str);
}

static void
print_classes (const DynoEvaluated *e)
{
  const DynoScores *s = e->scores;
  g_autoptr (DynoTable) table =
      dyno_table_new ("class", "samples", "precision", "recall", "f1", NULL);
  g_autofree char *accuracy = percent ((double) s->n_correct / (double) s->n_samples),
                  *top = percent ((double) s->n_correct_5 / (double) s->n_samples);

  if (s->n_outputs > 5)
    dyno_out_line ("accuracy %s, among the first five %s, loss %.4f", accuracy, top,
                   dyno_scores_get_loss (s));
  else
    dyno_out_line ("accuracy %s, loss %.4f", accuracy, dyno_scores_get_loss (s));
  print_figures (&e->figures);
  dyno_out_line ("%s", "");
  for (guint32 i = 0; i < s->n_outputs; i++)
    {
      dyno_table_add (table, dyno_weights_info_name_class (e->info, i),
                      g_strdup_printf ("%" G_GUINT64_FORMAT, dyno_scores_get_support (s, i)),
                      percent (dyno_scores_get_precision (s, i)),
                      percent (dyno_scores_get_recall (s, i)), percent (dyno_scores_get_f1 (s, i)),
                      NULL);
    }
  dyno_table_print (table);
  print_confusion (e);
}

static char *
number (double share)
{
  return isnan (share) ? g_strdup ("-") : g_strdup_printf ("%.4f", share);
}

static void
print_labels (const DynoEvaluated *e)
{
  const DynoLabelSums *sums = &e->scores->labels;
  const DynoLabelFigures *f = &e->labels;
  g_autoptr (DynoTable) table = dyno_table_new ("label", "samples", "precision", "recall", "f1",
                                                "average precision", "ROC AUC", NULL);
  g_autofree char *map = number (f->mean_average_precision), *micro = number (f->f1_micro),
                  *macro = number (f->f1_macro), *right = percent (f->label_accuracy),
                  *exact = percent (f->exact_match), *area = number (f->roc_auc);

  dyno_out_line ("mean average precision %s, micro F1 %s, macro F1 %s, ROC AUC %s", map, micro,
                 macro, area);
  dyno_out_line ("label accuracy %s, all labels right in %s of the samples; loss %.4f", right,
                 exact, dyno_scores_get_loss (e->scores));
  dyno_out_line ("%s", "");
  for (guint32 i = 0; i < sums->n; i++)
    {
      double roc_auc = (double) NAN, average_precision = (double) NAN;

      dyno_label_sums_get_areas (sums, i, &roc_auc, &average_precision);
      dyno_table_add (table, dyno_weights_info_name_class (e->info, i),
                      g_strdup_printf ("%" G_GUINT64_FORMAT, sums->counts.there[i]),
                      percent (dyno_class_counts_get_precision (&sums->counts, i)),
                      percent (dyno_class_counts_get_recall (&sums->counts, i)),
                      percent (dyno_class_counts_get_f1 (&sums->counts, i)),
                      number (average_precision), number (roc_auc), NULL);
    }
  dyno_table_print (table);
}

static void
print_values (const DynoEvaluated *e)
{
  const DynoScores *s = e->scores;
  g_autoptr (DynoTable) table =
      dyno_table_new ("value", "mean absolute error", "rms error", "r2", NULL);

  for (guint32 i = 0; i < s->n_outputs; i++)
    dyno_table_add (table, dyno_weights_info_name_value (e->info, i),
                    g_strdup_printf ("%.6g", s->values.absolute[i] / (double) s->n_samples),
                    g_strdup_printf ("%.6g", dyno_value_sums_get_rms_error (&s->values, i)),
                    g_strdup_printf ("%.4f", dyno_scores_get_r2 (s, i)), NULL);
  dyno_table_print (table);
}

static void
print_calibration (const DynoEvaluated *e)
{
  const DynoCalibration *c = &e->calibration;

  dyno_out_line ("%s", "");
  dyno_out_line ("calibrated, %s: temperature %.3f, loss %.4f before and %.4f after", e->weights,
                 e->fitted.temperature, c->loss_before, c->loss_after);
  if (e->info->is_labels)
    dyno_out_line ("macro F1 %.4f before and %.4f after; with too few samples to choose a "
                   "threshold: %u of %u %s",
                   c->f1_macro_before, c->f1_macro_after, c->n_kept, e->info->n_outputs,
                   dyno_plural (e->info->n_outputs, "label", "labels"));
  else
    dyno_out_line ("calibration error %.4f before and %.4f after", c->calibration_error_before,
                   c->calibration_error_after);
}

void
dyno_evaluated_print (const DynoEvaluated *e, double seconds)
{
  g_autofree char *time = dyno_text_duration (seconds),
                  *rate = dyno_text_rate ((double) e->scores->n_samples / MAX (seconds, 1e-9));

  dyno_out_line ("%s on %s: %" G_GUINT64_FORMAT " %s in %s, %s samples/s; %" G_GUINT64_FORMAT
                 " could not be read",
                 e->info->model, dyno_dataset_get_info (e->dataset)->name, e->scores->n_samples,
                 dyno_plural (e->scores->n_samples, "sample", "samples"), time, rate,
                 e->scores->n_unreadable);
  if (e->scores->n_samples == 0)
    return;
  if (e->info->is_values)
    print_values (e);
  else if (e->info->is_labels)
    print_labels (e);
  else
    print_classes (e);
  if (e->scores->worst->len > 0)
    dyno_out_line ("%s", "");
  for (guint i = 0; i < e->scores->worst->len; i++)
    {
      const DynoScored *one = &g_array_index (e->scores->worst, DynoScored, i);
      g_autofree char *sample = dyno_dataset_describe_sample (e->dataset, one->index);

      if (e->info->is_values)
        {
          dyno_out_line ("worst: %s, squared error %.4g", sample, one->loss);
          continue;
        }
      if (e->info->is_labels)
        {
          dyno_out_line ("worst: %s, %u of %u %s wrong (loss %.3f)", sample, one->n_wrong,
                         one->n_known, dyno_plural (one->n_known, "label", "labels"), one->loss);
          continue;
        }
      g_autofree char *truth = dyno_weights_info_name_class (e->info, one->truth),
                      *predicted = dyno_weights_info_name_class (e->info, one->predicted);
      dyno_out_line ("worst: %s is %s, taken for %s with %.1f %% (loss %.3f)", sample, truth,
                     predicted, 100 * (double) one->share, one->loss);
    }
  if (e->is_calibrated)
    print_calibration (e);
}
