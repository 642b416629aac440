/* SPDX-License-Identifier: MIT */
/* Scores, added up sample by sample. */
#include "scores.h"
#include "text.h"
#include <math.h>
#include <string.h>

guint32 *
dyno_scores_match_classes (const DynoWeightsInfo *info, const DynoDatasetInfo *data, GError **error)
{
  g_autofree guint32 *map = NULL;
  gboolean numbered = TRUE;

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

DynoScores *
dyno_scores_new (const DynoWeightsInfo *info, guint n_worst)
{
  DynoScores *scores = g_new0 (DynoScores, 1);
  gsize n = info->n_outputs;

  scores->n_outputs = info->n_outputs;
  scores->is_values = info->is_values;
  scores->n_worst_kept = n_worst;
  scores->worst = g_array_new (FALSE, FALSE, sizeof (DynoScored));
  scores->samples = g_array_new (FALSE, FALSE, sizeof (DynoScored));
  scores->outputs = g_array_new (FALSE, FALSE, sizeof (float));
  if (!info->is_values)
    scores->confusion = g_new0 (guint64, n * n);
  scores->absolute = g_new0 (double, n);
  scores->square = g_new0 (double, n);
  scores->truth_sum = g_new0 (double, n);
  scores->truth_square = g_new0 (double, n);
  return scores;
}

void
dyno_scores_free (DynoScores *scores)
{
  if (!scores)
    return;
  g_free (scores->confusion);
  g_free (scores->absolute);
  g_free (scores->square);
  g_free (scores->truth_sum);
  g_free (scores->truth_square);
  g_array_unref (scores->worst);
  g_array_unref (scores->samples);
  g_clear_pointer (&scores->outputs, g_array_unref);
  g_free (scores);
}

/* Among the worst, of which equal ones stand in the order of their coming. */
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
  guint32 n = scores->n_outputs, best = 0, before = 0;
  double sum = 0;
  DynoScored one = { .index = prediction->index, .truth = truth };

  if (prediction->problem)
    {
      scores->n_unreadable++;
      return;
    }
  for (guint32 i = 1; i < n; i++)
    if (logits[i] > logits[best])
      best = i;
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
  for (guint32 i = 0; i < scores->n_outputs; i++)
    {
      double t = (double) truth[i], d = (double) prediction->logits[i] - t;

      scores->absolute[i] += fabs (d);
      scores->square[i] += d * d;
      scores->truth_sum[i] += t;
      scores->truth_square[i] += t * t;
      one.loss += d * d / scores->n_outputs;
    }
  add_sample (scores, &one, prediction->logits);
}

double
dyno_scores_get_loss (const DynoScores *scores)
{
  return scores->n_samples > 0 ? scores->loss_sum / (double) scores->n_samples : (double) NAN;
}

static guint64
count_predicted (const DynoScores *scores, guint32 class_id)
{
  guint64 predicted = 0;

  for (guint32 i = 0; i < scores->n_outputs; i++)
    predicted += scores->confusion[(gsize) i * scores->n_outputs + class_id];
  return predicted;
}

guint64
dyno_scores_get_support (const DynoScores *scores, guint32 class_id)
{
  guint64 there = 0;

  for (guint32 i = 0; i < scores->n_outputs; i++)
    there += scores->confusion[(gsize) class_id * scores->n_outputs + i];
  return there;
}

/* The samples of a class that were predicted as it, over a number of samples. */
static double
share_of_right (const DynoScores *scores, guint32 class_id, double n)
{
  return n > 0 ? (double) scores->confusion[(gsize) class_id * (scores->n_outputs + 1)] / n
               : (double) NAN;
}

double
dyno_scores_get_precision (const DynoScores *scores, guint32 class_id)
{
  return share_of_right (scores, class_id, (double) count_predicted (scores, class_id));
}

double
dyno_scores_get_recall (const DynoScores *scores, guint32 class_id)
{
  return share_of_right (scores, class_id, (double) dyno_scores_get_support (scores, class_id));
}

double
dyno_scores_get_f1 (const DynoScores *scores, guint32 class_id)
{
  return share_of_right (scores, class_id,
                         ((double) count_predicted (scores, class_id)
                          + (double) dyno_scores_get_support (scores, class_id))
                             / 2);
}

double
dyno_scores_get_r2 (const DynoScores *scores, guint32 value)
{
  double n = (double) scores->n_samples, mean = scores->truth_sum[value] / n;
  double spread = scores->truth_square[value] - n * mean * mean;

  return spread > 0 ? 1 - scores->square[value] / spread : (double) NAN;
}
