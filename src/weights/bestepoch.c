/* SPDX-License-Identifier: MIT */
/* The rules of the best epoch and of the early stop. */
#include "bestepoch.h"
#include <math.h>

gboolean
dyno_position_take_validation (DynoPosition *position, const DynoValidated *validated)
{
  DynoPosition *p = position;
  gboolean better = p->best_epoch == 0 || validated->loss < p->best_val_loss;

  if (validated->selecting)
    {
      double value = validated->value;

      if (p->best_epoch > 0 && value != p->best_val_metric)
        better = dyno_metric_is_better (validated->selecting, value, p->best_val_metric);
      if (dyno_metric_is_better (validated->selecting, value, p->best_val_metric))
        p->best_val_metric = value;
    }
  if (!better)
    return FALSE;
  p->best_epoch = validated->epoch;
  p->best_val_loss = validated->loss;
  return TRUE;
}

void
dyno_position_forget_best (DynoPosition *position)
{
  position->best_epoch = 0;
  position->best_val_metric = position->best_val_loss = (double) NAN;
}

gboolean
dyno_position_take_gain (DynoPosition *position, const DynoValidated *validated, double least_gain)
{
  DynoPosition *p = position;
  double value = validated->selecting ? validated->value : validated->loss,
         gain = validated->selecting && validated->selecting->higher_is_better
                    ? value - p->early_best
                    : p->early_best - value;

  if (!isfinite (value) || (p->early_epoch > 0 && !(gain > least_gain)))
    return FALSE;
  p->early_best = value;
  p->early_epoch = validated->epoch;
  return TRUE;
}

gboolean
dyno_position_has_stalled (const DynoPosition *position, guint64 patience)
{
  return patience > 0 && position->early_epoch > 0
         && position->epoch >= position->early_epoch + patience;
}
