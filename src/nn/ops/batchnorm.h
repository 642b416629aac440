/* SPDX-License-Identifier: MIT */
/* Batch norm as the fusion rules and the backward pass see it: two nodes, the attributes and the roles of their tensors.
 *
 * dyno_batch_norm appends, in a training graph,
 *   batch_norm_stats: x -> mean, invstd (F32, cp each), and the update of the running statistics.  Never recomputed, since the
 *     running statistics would move twice; its outputs are a few KiB and are kept;
 *   batch_norm: y = (x - mean) * invstd * gamma + beta [+ residual] [relu].  Recomputable: it reads kept tensors alone.
 * In an evaluation graph there is the second node alone, and it reads running mean and variance.
 *
 * Fusion takes a relu on by `relu = TRUE` and by making the relu's output the output of the batch_norm node; it takes an add
 * on by setting inputs[DYNO_BATCH_NORM_RESIDUAL] to the add's other operand and making the add's output its own.  The node must
 * then stand where the add stood, behind the residual's producer.  A relu is always applied last.  n_inputs is
 * DYNO_BATCH_NORM_N_INPUTS always, the residual NULL where there is none. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* inputs of a batch_norm node; output 0 is y */
enum {
  DYNO_BATCH_NORM_X,
  DYNO_BATCH_NORM_GAMMA,    /* MASTER */
  DYNO_BATCH_NORM_BETA,     /* MASTER */
  DYNO_BATCH_NORM_MEAN,     /* of the batch, or STATE */
  DYNO_BATCH_NORM_SPREAD,   /* training: 1 / sqrt (variance + eps) of the batch; evaluation: running variance, STATE */
  DYNO_BATCH_NORM_RESIDUAL, /* NULL: none */
  DYNO_BATCH_NORM_N_INPUTS
};

typedef struct {
  gboolean relu;
} DynoBatchNormAttributes;

extern const DynoOpClass dyno_op_batch_norm;
extern const DynoOpClass dyno_op_batch_norm_stats;
/* what fusion looks for behind it */
extern const DynoOpClass dyno_op_relu; /* input 0 -> output 0 */
extern const DynoOpClass dyno_op_add;  /* inputs 0 and 1 -> output 0 */

G_END_DECLS
