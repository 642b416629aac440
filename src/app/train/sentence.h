/* SPDX-License-Identifier: MIT */
/* A run in one sentence: "8 min left, loss falling, GPU 92 % busy"; a run that is prepared, paused
 * or over begins with its state.  Unknown parts are left out. */
#pragma once
#include "losstrend.h"
#include "runview.h"

G_BEGIN_DECLS

/* gpu_busy: percent, NaN: not known.  g_free. */
char *dyno_sentence_describe (const DynoRunStatus *status, DynoLossTrend trend, double gpu_busy);

G_END_DECLS
