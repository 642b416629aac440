/* SPDX-License-Identifier: MIT */
/* Divides a batch so that the effective batch is unchanged.  Pure arithmetic; any thread.  Private
 * to the layers up to train. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gint64 size, count;
} DynoMicroBatch;

/* The fewest batches of equal size, at most `fitting` (> 0) samples each, with `effective` (> 0)
 * samples in total.  Where that needs batches below a quarter of `fitting`, the fewest batches that
 * fit, with up to count - 1 samples more in total. */
DynoMicroBatch dyno_micro_batch_of (gint64 effective, gint64 fitting);

/* The least number of equal parts of a batch with `least` to `most` samples each; 0: there is
 * none. */
guint dyno_micro_batch_divide (gint64 batch, gint64 least, gint64 most);

G_END_DECLS
