/* SPDX-License-Identifier: MIT */
/* Code shared by the losses: a kernel over rows, then a kernel that adds the rows up into the
 * step's output. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* A loss node has the inputs logits and targets (may be NULL) and, in training, the gradient of the
 * logits as its output. */
DynoTensor *dyno_loss_gradient (DynoGraph *graph, DynoTensor *logits);

/* FALSE, and the graph fails, when targets do not have c values of dtype for each row (n, h, w) of
 * the logits. */
gboolean dyno_loss_check (DynoGraph *graph, const char *name, const DynoTensor *logits,
                          const DynoTensor *targets, DynoDtype dtype, guint32 c);

/* Appends both dispatches.  A third input of the node is bound to the push constants' scale, and
 * norm (may be NULL), which an earlier dispatch writes, to their norm.  spec names the shader over
 * rows and its macros; smoothing is constant 3.  The kernel over rows writes the metrics that the
 * graph declares. */
void dyno_loss_lower (DynoLowering *lowering, DynoNode *node, DynoKernelSpec *spec, float smoothing,
                      DynoTensor *norm);

G_END_DECLS
