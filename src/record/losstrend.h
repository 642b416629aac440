/* SPDX-License-Identifier: MIT */
/* The trend of the training loss over the last steps, from noisy means, with a margin so that it
 * does not flicker. */
#pragma once
#include "stretch.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_LOSS_UNKNOWN, /* too few steps, or a loss that is not finite */
  DYNO_LOSS_FALLING,
  DYNO_LOSS_STEADY,
  DYNO_LOSS_RISING,
} DynoLossTrend;

DynoLossTrend dyno_stretches_judge_loss (const DynoStretches *log);

G_END_DECLS
