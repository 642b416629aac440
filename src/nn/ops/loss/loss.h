/* SPDX-License-Identifier: MIT */
/* Code shared by the losses: a kernel over rows, then a kernel that adds the rows up into the
 * step's output. */
#pragma once
#include "lowering.h"
#include "ops.h"

G_BEGIN_DECLS

/* A loss node has the inputs logits and targets (may be NULL) and, in training, the gradient of the
 * logits as its output. */
DynoTensor *dyno_loss_gradient (DynoGraph *graph, DynoTensor *logits);

/* FALSE, and the graph fails, when targets (may be NULL) do not have c values of dtype, 4 bytes
 * each, for each row (n, h, w) of the logits, or the logits are too many. */
gboolean dyno_loss_check (DynoGraph *graph, const char *name, const DynoTensor *logits,
                          const DynoTensor *targets, DynoDtype dtype, guint32 c);

/* FALSE, and the graph fails, when targets are not one class id for each row, a member of the loss
 * is outside its limits or excludes another one, or weights (may be NULL) are not C + 1 floats or
 * more. */
gboolean dyno_loss_check_classes (DynoGraph *graph, const char *name, const DynoTensor *logits,
                                  const DynoTensor *targets, const DynoClassLoss *loss,
                                  const DynoTensor *weights);
/* The same for targets of one float for each class of a row. */
gboolean dyno_loss_check_labels (DynoGraph *graph, const char *name, const DynoTensor *logits,
                                 const DynoTensor *targets, const DynoClassLoss *loss,
                                 const DynoTensor *weights);
/* Adds the exponent of a focal loss to the kernel over rows; 0 adds nothing. */
void dyno_loss_set_focal (DynoKernelSpec *spec, float focal);

/* Appends the dispatch that adds up n rows of results, which are those of n_samples samples, into
 * the step's output. */
void dyno_loss_lower_sum (DynoLowering *lowering, DynoNode *node, DynoTensor *rows, guint32 n,
                          guint32 n_samples, guint n_metrics);

/* Appends both dispatches.  A third input of the node is bound to the push constants' scale, and
 * norm (may be NULL), which an earlier dispatch writes, to their norm.  spec names the shader over
 * rows and its macros; smoothing is constant 3.  The kernel over rows writes the metrics that the
 * graph declares. */
void dyno_loss_lower (DynoLowering *lowering, DynoNode *node, DynoKernelSpec *spec, float smoothing,
                      DynoTensor *norm);

G_END_DECLS
