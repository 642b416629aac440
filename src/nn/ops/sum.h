/* SPDX-License-Identifier: MIT */
/* Sums of gradients: nodes without a backward pass of their own, which autograd appends where
 * several ops contribute to one gradient. */
#pragma once
#include "op.h"

G_BEGIN_DECLS

/* a + b in fresh memory; both have the same shape. */
DynoTensor *dyno_sum (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name);

/* target += source. */
void dyno_sum_accumulate (DynoGraph *graph, DynoTensor *source, DynoTensor *target);

/* `lower` of a node that writes the sum of inputs 0 and 1 to output 0, which may be input 0's
 * memory. */
void dyno_sum_lower (DynoLowering *lowering, DynoNode *node);

/* TRUE: the tensors have the same shape */
gboolean dyno_sum_fits (const DynoTensor *a, const DynoTensor *b);

G_END_DECLS
