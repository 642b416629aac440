/* SPDX-License-Identifier: MIT */
/* These rules decide which epoch is the best by validation, and how long ago the last real gain
 * was.  They use a position and numbers, and no device.  Private to the layers up to train. */
#pragma once
#include "checkpoint.h"
#include "metrictable.h"

G_BEGIN_DECLS

typedef struct {
  guint64 epoch; /* from 1 */
  double loss;
  const DynoMetricInfo *selecting; /* the metric that selects; NULL: the loss selects */
  double value;                    /* value of that metric */
} DynoValidated;

/* TRUE: the epoch is the best so far, and the position is updated.  Of equal values of the metric
 * the lower loss is better; of equal losses the earlier epoch. */
gboolean dyno_position_take_validation (DynoPosition *position, const DynoValidated *validated);

/* Clears the best epoch: the next validation becomes the best. */
void dyno_position_forget_best (DynoPosition *position);

/* For the early stop: takes over an epoch that was better by more than least_gain than the last
 * such epoch.  FALSE: the epoch was not. */
gboolean dyno_position_take_gain (DynoPosition *position, const DynoValidated *validated,
                                  double least_gain);
/* TRUE: the last gain is at least `patience` epochs ago.  patience 0: never. */
gboolean dyno_position_has_stalled (const DynoPosition *position, guint64 patience);

G_END_DECLS
