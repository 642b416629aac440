/* SPDX-License-Identifier: MIT */
/* The health of a run.
 *
 * Divergence is measured against the run's own first loss, since the loss of unscaled data may be
 * high at first although the run learns, and against the guess, since the first loss may be near
 * 0. */
#include "health.h"
#include "intl.h"
#include "targets.h"
#include "train-error.h"
#include <inttypes.h>
#include <math.h>

#define IDLE_EPOCHS 3
#define IDLE_STEPS  30
#define IDLE_SHARE  0.98 /* of the guess: a lower loss shows that the run learns */

static double
guess_classes (const DynoDatasetInfo *info)
{
  double total = 0, entropy = 0;

  for (guint i = 0; i < info->n_classes; i++)
    total += (double) info->class_counts[i];
  for (guint i = 0; i < info->n_classes; i++)
    if (info->class_counts[i] > 0)
      entropy -=
          (double) info->class_counts[i] / total * log ((double) info->class_counts[i] / total);
  return entropy;
}

/* The mean over the labels of the entropy of a constant prediction; labels that are not known have
 * no loss. */
static double
guess_labels (DynoDataset *dataset, const GArray *train)
{
  guint32 n = dyno_dataset_get_info (dataset)->n_classes;
  double entropy = 0;

  for (guint32 c = 0; c < n; c++)
    {
      double there = 0, absent = 0;

      for (guint i = 0; i < train->len; i++)
        {
          float state = dyno_dataset_get_values (dataset, g_array_index (train, guint32, i))[c];

          there += state > 0;
          absent += state == 0;
        }
      if (there > 0 && absent > 0)
        entropy -=
            there * log (there / (there + absent)) + absent * log (absent / (there + absent));
    }
  return entropy / n / train->len;
}

/* TRUE: a value is the same in all samples. */
static gboolean
is_constant (DynoDataset *dataset, const GArray *train, guint32 value)
{
  float first = dyno_dataset_get_values (dataset, g_array_index (train, guint32, 0))[value];

  for (guint i = 1; i < train->len; i++)
    if (dyno_dataset_get_values (dataset, g_array_index (train, guint32, i))[value] != first)
      return FALSE;
  return TRUE;
}

static double
guess_values (DynoDataset *dataset, const GArray *train, gboolean centred)
{
  guint32 n = dyno_schema_count_values (&dyno_dataset_get_info (dataset)->schema);
  g_autofree float *scale = dyno_targets_measure (dataset, train);
  double guess = 0;

  for (guint32 t = 0; scale && t < n; t++)
    {
      double mean = centred ? 0 : (double) scale[t], deviation = (double) scale[n + t];

      /* The scale of a constant value is 1. */
      if (is_constant (dataset, train, t))
        deviation = 0;
      guess += (mean * mean + deviation * deviation) / n;
    }
  return guess;
}

double
dyno_health_guess (DynoDataset *dataset, const GArray *train, gboolean centred, gboolean weighted)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  if (info->schema.generated || !train || train->len == 0)
    return 0;
  if (dyno_schema_count_values (&info->schema) > 0)
    return guess_values (dataset, train, centred);
  if (dyno_schema_count_labels (&info->schema) > 0)
    return weighted ? 0 : guess_labels (dataset, train);
  return info->class_counts ? guess_classes (info) : 0;
}

gboolean
dyno_health_is_bad (const DynoHealth *health, double loss)
{
  double reference = MAX (health->first, health->guess);

  return !isfinite (loss) || (reference > 0 && loss > DYNO_HEALTH_TIMES * reference);
}

void
dyno_health_take_step (DynoHealth *health, double loss, gboolean finite, gboolean gradient)
{
  finite = finite && isfinite (loss);
  health->gradient = finite && !gradient;
  health->loss = finite ? loss : (double) NAN;
  if (finite && health->first <= 0)
    health->first = loss;
  health->bad_row =
      !finite || !gradient || dyno_health_is_bad (health, loss) ? health->bad_row + 1 : 0;
  health->lost_row = health->bad_row > 0 ? health->lost_row + !finite : 0;
}

gboolean
dyno_health_has_diverged (const DynoHealth *health, guint limit, guint64 step, const char *advice,
                          GError **error)
{
  if (health->bad_row < limit)
    return FALSE;
  if (health->gradient)
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
                 _ ("The gradients were not finite for %u steps in a row, up to step %" PRIu64
                    ", and nothing was learned in them; %stake a lower lr, a longer warm-up or "
                    "smaller input values"),
                 health->bad_row, step, advice);
  else if (isfinite (health->loss))
    g_set_error (
        error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
        _ ("The loss rose from %.4g to %.4g and has stayed there for %u steps, up to step %" PRIu64
           "; %stake a lower lr, a longer warm-up or clip_norm"),
        health->first, health->loss, health->bad_row, step, advice);
  else if (health->lost_row < health->bad_row)
    g_set_error (
        error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
        _ ("The loss was too large or not finite for %u steps in a row, up to step %" PRIu64
           " (not finite: %u); %stake a lower lr, a longer warm-up or clip_norm"),
        health->bad_row, step, health->lost_row, advice);
  else
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED,
                 _ ("The loss was not finite for %u steps in a row, up to step %" PRIu64
                    "; %stake a lower lr, a longer warm-up or clip_norm"),
                 health->bad_row, step, advice);
  return TRUE;
}

gboolean
dyno_health_take_epoch (DynoHealth *health, double loss, guint64 steps)
{
  health->idle_epochs =
      health->guess > 0 && loss >= IDLE_SHARE * health->guess ? health->idle_epochs + 1 : 0;
  if (health->idle_reported || health->idle_epochs < IDLE_EPOCHS || steps < IDLE_STEPS)
    return FALSE;
  health->idle_reported = TRUE;
  return TRUE;
}
