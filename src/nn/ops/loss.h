/* SPDX-License-Identifier: MIT */
/* What the losses share: a kernel over rows, then one that adds the rows up into the step's
 * output. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* Inputs logits and targets (may be NULL); output, in training, the gradient of the logits. */
DynoTensor *dyno_loss_gradient (DynoGraph *graph, DynoTensor *logits);

/* FALSE, and the graph failed, when targets have not c values of dtype for each row of the logits:
 * for each (n, h, w). */
gboolean dyno_loss_check (DynoGraph *graph, const char *name, const DynoTensor *logits,
                          const DynoTensor *targets, DynoDtype dtype, guint32 c);

/* Both dispatches; a third input is the push constants' scale, and norm (may be NULL), which an
 * earlier dispatch writes, theirs.  spec names the rows' shader and its
 * macros; smoothing is constant 3.  The rows' kernel writes the metrics that the graph was
 * told of. */
void dyno_loss_lower (DynoLowering *lowering, DynoNode *node, DynoKernelSpec *spec, float smoothing,
                      DynoTensor *norm);

G_END_DECLS
