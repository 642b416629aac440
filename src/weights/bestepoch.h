/* SPDX-License-Identifier: MIT */
/* These rules decide which epoch is the best by validation, and since when none was better by a
 * real gain.  They use a position and numbers, and no device.  Private to the layers up to
 * train. */
#pragma once
#include "checkpoint.h"
#include "metrictable.h"

G_BEGIN_DECLS

typedef struct {
  guint64 epoch; /* from 1 */
  double loss;
  const DynoMetricInfo *selecting; /* the metric that selects; NULL: the loss does */
  double value;                    /* its own */
} DynoValidated;

/* TRUE: the epoch is the best so far, and the position says so.  Of equal values of the metric the
 * lower loss is the better one; of equal losses the earlier. */
gboolean dyno_position_take_validation (DynoPosition *position, const DynoValidated *validated);

/* No epoch is the best: the next validation is, whatever there was. */
void dyno_position_forget_best (DynoPosition *position);

/* For the early stop: takes over an epoch that was better by more than least_gain than the last one
 * that was.  FALSE: it was not. */
gboolean dyno_position_take_gain (DynoPosition *position, const DynoValidated *validated,
                                  double least_gain);
/* TRUE: the last gain is so many epochs ago.  patience 0: never. */
gboolean dyno_position_has_stalled (const DynoPosition *position, guint64 patience);

G_END_DECLS
