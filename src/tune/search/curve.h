/* SPDX-License-Identifier: MIT */
/* Throughput and memory over the batch size, and what of it matters.  No device and no clock. */
#pragma once
#include "tuneresult.h"

G_BEGIN_DECLS

/* Fills knee, smallest, fastest, largest and text of a curve from its points.  advised: the batch
 * that was chosen, so that no other is advised; 0: none was. */
void dyno_curve_read (DynoTuneCurve *curve, gint64 advised);

/* What the batches `smallest` and `fastest` are called in a plot, translated, static; NULL: nothing
 * is to be marked there. */
const char *dyno_curve_name_advised (const DynoTuneCurve *curve);
const char *dyno_curve_name_fastest (const DynoTuneCurve *curve);

G_END_DECLS
