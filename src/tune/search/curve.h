/* SPDX-License-Identifier: MIT */
/* Throughput and memory over the batch size, and the notable batches.  No device and no clock. */
#pragma once
#include "tuneresult.h"

G_BEGIN_DECLS

/* Fills knee, smallest, fastest and text of a curve from its points.  advised: the batch that was
 * chosen, so that no other batch is advised; 0: none. */
void dyno_curve_read (DynoTuneCurve *curve, gint64 advised);

/* The names of the batches `smallest` and `fastest` in a plot, translated, static; NULL: there is
 * nothing to mark. */
const char *dyno_curve_name_advised (const DynoTuneCurve *curve);
const char *dyno_curve_name_fastest (const DynoTuneCurve *curve);

G_END_DECLS
