/* SPDX-License-Identifier: MIT */
/* Weights as int8: symmetric, with a scale for each output channel, which is the first axis.  For
 * every weight with two axes or more the file holds "<name>" as I8 and "<name>_scale" as F32 of
 * (outputs); w = scale q with q from -127 to 127, so the error of a weight is at most half its
 * channel's scale.  Other tensors stay F32.  The file has about a quarter of the bytes; loaded
 * weights are used like any others. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

#define DYNO_INT8_SCALE "_scale" /* suffix of a weight's name */

gboolean dyno_int8_applies (const DynoParameter *parameter);

/* Quantises the rows of a weight; a row of zeros has scale 0. */
void dyno_int8_quantise (const float *values, guint64 n_rows, guint64 n_columns, gint8 *out,
                         float *scales);
/* FALSE: a scale is negative or not finite. */
gboolean dyno_int8_restore (const gint8 *values, const float *scales, guint64 n_rows,
                            guint64 n_columns, float *out);

G_END_DECLS
