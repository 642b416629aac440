/* SPDX-License-Identifier: MIT */
/* How a batch is divided so that the effective batch stays.  Pure arithmetic; any thread.
 * Private to the layers up to train. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gint64 size, count;
} DynoMicroBatch;

/* Batches of at most `fitting` (> 0) samples that are `effective` (> 0) together: as few as there
 * can be of equal size.  Where only ones below a quarter of `fitting` are that exactly, as few as
 * fit, which are up to count - 1 samples more together. */
DynoMicroBatch dyno_micro_batch_of (gint64 effective, gint64 fitting);

/* The fewest equal parts of a batch that have `least` to `most` samples; 0: there are none. */
guint dyno_micro_batch_divide (gint64 batch, gint64 least, gint64 most);

G_END_DECLS
