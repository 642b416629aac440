/* SPDX-License-Identifier: MIT */
/* Scores, added up sample by sample. */
#include "scores.h"
#include "intl.h"
#include "text.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

guint32 *
dyno_scores_match_classes (const DynoWeightsInfo *info, const DynoDatasetInfo *data, GError **error)
{
  g_autofree guint32 *map = NULL;
  gboolean numbered = TRUE;

  if (info->is_labels != (dyno_schema_count_labels (&data->schema) > 0))
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   info->is_labels
                       ? "The weights predict several labels of a sample; “%s” has none"
                       : "The weights have one answer for a sample; “%s” has several labels of one",
                   data->name);
      return NULL;
    }
  if (data->n_classes == 0 || info->is_values)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   info->is_values ? "The weights predict values; “%s” has classes"
                                   : "The weights predict classes; “%s” has none",
                   data->name);
      return NULL;
    }
  map = g_new0 (guint32, data->n_classes);
  for (guint32 i = 0; i < data->n_classes && numbered; i++)
    {
      g_autofree char *number = g_strdup_printf ("%u", i);
      numbered = strcmp (data->class_names[i], number) == 0;
    }
  for (guint32 i = 0; i < data->n_classes; i++)
    {
      gboolean found = FALSE;

      if (info->class_names && !numbered)
        for (guint32 k = 0; k < info->n_outputs && !found; k++)
          {
            found = strcmp (info->class_names[k], data->class_names[i]) == 0;
            map[i] = found ? k : 0;
          }
      else
        {
          found = i < info->n_outputs;
          map[i] = i;
        }
      map[i] = found ? map[i] : G_MAXUINT32;
      if (found || data->class_counts[i] == 0)
        continue;
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   "The weights do not know the class “%s” of “%s”, of which there are "
                   "%" G_GUINT64_FORMAT " %s",
                   data->class_names[i], data->name, data->class_counts[i],
                   dyno_plural (data->class_counts[i], "sample", "samples"));
      return NULL;
    }
  return g_steal_pointer (&map);
}

gboolean
dyno_scores_check_metric (const DynoMetricInfo *metric, guint64 n_samples, guint32 n_outputs,
                          GError **error)
{
  const char *keeps = dyno_class_validation_metrics[DYNO_CLASS_METRIC_ROC_AUC].name;

  if (strcmp (metric->name, keeps) != 0
      || n_samples <= DYNO_SCORES_MOST_OUTPUTS / MAX (n_outputs, 1))
    return TRUE;
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING,
               _ ("“%s” needs the probabilities of all classes for all samples of the validation, "
                  "more than are kept (%u times %" PRIu64
                  "): validate on fewer samples (data.val_split), or choose another metric"),
               metric->name, n_outputs, n_samples);
  return FALSE;
}

/* The logits of the thresholds; NULL: 0 for all. */
static float *
get_limits (const DynoWeightsInfo *info)
{
  float *limits = info->thresholds ? g_new (float, info->n_outputs) : NULL;

  for (guint32 i = 0; i < info->n_outputs && limits; i++)
    {
      double threshold = (double) info->thresholds[i];
      limits[i] = (float) (log (threshold) - log1p (-threshold));
    }
  return limits;
}

DynoScores *
dyno_scores_new (const DynoWeightsInfo *info, guint n_worst)
{
  DynoScores *scores = g_new0 (DynoScores, 1);
  gsize n = info->n_outputs;

  scores->n_outputs = info->n_outputs;
  scores->is_values = info->is_values;
  scores->is_labels = info->is_labels;
  scores->n_worst_kept = n_worst;
  scores->worst = g_array_new (FALSE, FALSE, sizeof (DynoScored));
  scores->samples = g_array_new (FALSE, FALSE, sizeof (DynoScored));
  scores->outputs = g_array_new (FALSE, FALSE, sizeof (float));
  if (info->is_values)
    dyno_value_sums_init (&scores->values, info->n_outputs);
  else if (info->is_labels)
    {
      dyno_label_sums_init (&scores->labels, info->n_outputs);
      scores->labels.limits = get_limits (info);
    }
  else
    {
      scores->confusion = g_new0 (guint64, n * n);
      dyno_class_counts_init (&scores->counts, info->n_outputs);
    }
  return scores;
}

void
dyno_scores_free (DynoScores *scores)
{
  if (!scores)
    return;
  g_free (scores->confusion);
  dyno_class_counts_clear (&scores->counts);
  dyno_value_sums_clear (&scores->values);
  dyno_label_sums_clear (&scores->labels);
  g_array_unref (scores->worst);
  g_array_unref (scores->samples);
  g_clear_pointer (&scores->outputs, g_array_unref);
  g_free (scores);
}

/* Inserts the sample into the worst ones, where equal ones stay in the order of processing. */
static void
add_worst (DynoScores *scores, const DynoScored *one)
{
  guint place = scores->worst->len;

  while (place > 0 && !(one->loss <= g_array_index (scores->worst, DynoScored, place - 1).loss))
    place--;
  if (place >= scores->n_worst_kept)
    return;
  g_array_insert_val (scores->worst, place, *one);
  if (scores->worst->len > scores->n_worst_kept)
    g_array_set_size (scores->worst, scores->n_worst_kept);
}

static void
add_sample (DynoScores *scores, const DynoScored *one, const float *outputs)
{
  guint32 n = scores->n_outputs;

  scores->n_samples++;
  scores->loss_sum += one->loss;
  g_array_append_val (scores->samples, *one);
  if (scores->outputs && (guint64) scores->outputs->len + n > DYNO_SCORES_MOST_OUTPUTS)
    g_clear_pointer (&scores->outputs, g_array_unref);
  if (scores->outputs)
    g_array_append_vals (scores->outputs, outputs, n);
  add_worst (scores, one);
}

void
dyno_scores_add_class (DynoScores *scores, const DynoPrediction *prediction, guint32 truth)
{
  const float *logits = prediction->logits;
  guint32 n = scores->n_outputs, best, before = 0;
  double sum = 0;
  DynoScored one = { .index = prediction->index, .truth = truth };

  if (prediction->problem)
    {
      scores->n_unreadable++;
      return;
    }
  best = dyno_class_of_logits (logits, n);
  for (guint32 i = 0; i < n; i++)
    {
      sum += exp ((double) logits[i] - (double) logits[best]);
      before +=
          i != truth && (logits[i] > logits[truth] || (logits[i] == logits[truth] && i < truth));
    }
  one.loss = log (sum) + (double) logits[best] - (double) logits[truth];
  one.predicted = best;
  one.share = prediction->shares[best];
  scores->n_correct += best == truth;
  scores->n_correct_5 += before < 5;
  scores->confusion[(gsize) truth * n + best]++;
  dyno_class_counts_add (&scores->counts, truth, best);
  add_sample (scores, &one, prediction->shares);
}

void
dyno_scores_add_values (DynoScores *scores, const DynoPrediction *prediction, const float *truth)
{
  DynoScored one = { .index = prediction->index };

  if (prediction->problem)
    {
      scores->n_unreadable++;
      return;
    }
  one.loss = dyno_value_sums_add (&scores->values, prediction->logits, truth);
  add_sample (scores, &one, prediction->logits);
}

void
dyno_scores_add_labels (DynoScores *scores, const DynoPrediction *prediction, const float *truth)
{
  DynoScored one = { .index = prediction->index };

  if (prediction->problem)
    {
      scores->n_unreadable++;
      return;
    }
  one.loss =
      dyno_label_sums_add (&scores->labels, prediction->logits, truth, &one.n_known, &one.n_wrong);
  add_sample (scores, &one, prediction->shares);
}

double
dyno_scores_get_loss (const DynoScores *scores)
{
  return scores->n_samples > 0 ? scores->loss_sum / (double) scores->n_samples : (double) NAN;
}

double
dyno_scores_get_precision (const DynoScores *scores, guint32 class_id)
{
  return dyno_class_counts_get_precision (&scores->counts, class_id);
}

double
dyno_scores_get_recall (const DynoScores *scores, guint32 class_id)
{
  return dyno_class_counts_get_recall (&scores->counts, class_id);
}

double
dyno_scores_get_f1 (const DynoScores *scores, guint32 class_id)
{
  return dyno_class_counts_get_f1 (&scores->counts, class_id);
}

guint64
dyno_scores_get_support (const DynoScores *scores, guint32 class_id)
{
  return scores->counts.there[class_id];
}

double
dyno_scores_get_r2 (const DynoScores *scores, guint32 value)
{
  return dyno_value_sums_get_r2 (&scores->values, value);
}
