/* SPDX-License-Identifier: MIT */
/* Buckets: the gradients of all parameters in a few ranges.  Each range is final while the rest of
 * the backward pass still runs, so that it can be exchanged with other devices meanwhile.
 *
 * Ranges, their sizes and their order follow only from the parameters: the last parameters come
 * first, as in the backward pass.  Equal networks have equal buckets whatever kernels they run.
 * Only the points at which the pass is split depend on its dispatches. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* A small net is one bucket; a large net has about this many, or more of DYNO_BUCKET_MOST bytes, so
 * that the first exchange starts early, and the last bucket, whose exchange no computation hides,
 * is small. */
#define DYNO_BUCKETS_WANTED 8
#define DYNO_BUCKET_LEAST   (G_GUINT64_CONSTANT (4) << 20)
#define DYNO_BUCKET_LAST    (G_GUINT64_CONSTANT (1) << 20)
#define DYNO_BUCKET_MOST    (G_GUINT64_CONSTANT (25) << 20)

typedef struct {
  guint64 offset, size_bytes; /* in DYNO_SPACE_GRADIENT; whole parameters */
  /* the piece of the forward and backward pass after which the bucket is final */
  guint piece;
} DynoBucket;

/* The buckets (DynoBucket), each of about bucket_bytes; 0: derived from the size of the net.
 * Together they cover all gradients; the list is empty where the graph has none.  ends (may be
 * NULL): for each piece, the index of the dispatch after its last one; the last piece ends with the
 * backward pass. */
GArray *dyno_buckets_find (DynoLowering *lowering, guint64 bucket_bytes, GArray **ends);

G_END_DECLS
