/* SPDX-License-Identifier: MIT */
/* Max pool as the fusion rules see it.  Private to the nn layer. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

/* outputs of a max_pool node; argmax only where a backward pass follows */
enum { DYNO_MAX_POOL_Y, DYNO_MAX_POOL_ARGMAX, DYNO_MAX_POOL_N_OUTPUTS };

typedef struct {
  guint32 kernel, stride, pad;
  gboolean accumulate; /* backward */
} DynoMaxPoolAttributes;

#define DYNO_OP_MAX_POOL "max_pool"

G_END_DECLS
