/* SPDX-License-Identifier: MIT */
/* The inside of batch norm: its nodes, their attributes and the roles of their tensors, and how
 * sums over rows are split.
 *
 * dyno_batch_norm appends, in a training graph,
 *   batch_norm_stats: x -> mean, inverse deviation (F32, (1, 1, 1, cp)), and the update of the
 *   running statistics.  Never computed again, since the running statistics would move twice; its
 *   outputs are a few KiB.  With a third output, the table of those who make y in their loads
 *   (lib/gemm-load.glsl; of x's type, (1, 1, 4, cp)), it reads weight and bias too;
 *   batch_norm: y = activation? ((x - mean) * inverse deviation * weight + bias + residual?).  May be
 *   computed again: all that it reads is kept or may be computed again too.
 * In an evaluation graph, and where weight and bias are frozen, there is the second node alone, and
 * it reads the running mean and variance.
 *
 * The rewrites of fusions/ change these nodes in place: a residual, an activation and max pooling are
 * added to batch_norm, the table to batch_norm_stats. */
#pragma once
#include "lowering.h"
#include "op.h"

G_BEGIN_DECLS

/* inputs of a batch_norm node; its output 0 is y */
enum {
  DYNO_BATCH_NORM_X,
  DYNO_BATCH_NORM_WEIGHT, /* MASTER, F32 */
  DYNO_BATCH_NORM_BIAS,   /* MASTER, F32 */
  DYNO_BATCH_NORM_MEAN,   /* of the batch; in evaluation, and frozen, running, STATE */
  /* 1 / sqrt (variance + eps) of the batch; in evaluation, and frozen, the running variance itself,
   * STATE */
  DYNO_BATCH_NORM_SPREAD,
  DYNO_BATCH_NORM_RESIDUAL, /* NULL: none */
  /* of the batch norm that makes it of what RESIDUAL is then, in the loads; NULL: none */
  DYNO_BATCH_NORM_RESIDUAL_WEIGHT,
  DYNO_BATCH_NORM_RESIDUAL_BIAS,
  DYNO_BATCH_NORM_RESIDUAL_MEAN,
  DYNO_BATCH_NORM_RESIDUAL_INVSTD,
  DYNO_BATCH_NORM_N_INPUTS
};

/* outputs; those behind y only where a backward pass follows, the first two of them with max
 * pooling */
enum {
  DYNO_BATCH_NORM_Y,
  /* the largest value's place in the window, 255 where the relu stops the gradient; U8, y's
   * shape */
  DYNO_BATCH_NORM_ARGMAX,
  DYNO_BATCH_NORM_WINNERS, /* x at that place: what the backward pass reduces over; y's shape */
  /* with a residual and a relu: which of y are above zero, shaders/lib/mask.glsl; I32, (1, 1,
   * fours of rows, accesses of a row) */
  DYNO_BATCH_NORM_MASK,
  DYNO_BATCH_NORM_N_OUTPUTS
};

#define DYNO_MASK_ROWS 4 /* of a word of the mask */

/* inputs and outputs of a batch_norm_stats node; the last two inputs and the last output with a table
 * only */
enum {
  DYNO_BATCH_NORM_STATS_X,
  DYNO_BATCH_NORM_STATS_RUNNING_MEAN,
  DYNO_BATCH_NORM_STATS_RUNNING_VARIANCE,
  DYNO_BATCH_NORM_STATS_GAMMA,
  DYNO_BATCH_NORM_STATS_BETA,
};
enum {
  DYNO_BATCH_NORM_STATS_MEAN,
  DYNO_BATCH_NORM_STATS_INVSTD,
  DYNO_BATCH_NORM_STATS_TABLE,
};

typedef struct {
  guint32 activation;  /* a DynoActivation; with a residual or a pool NONE or RELU */
  DynoPoolWindow pool; /* kernel 0: none; never with a residual */
} DynoBatchNormAttributes;

/* inputs of a batch_norm_backward node */
enum {
  DYNO_NORM_BACKWARD_X,
  DYNO_NORM_BACKWARD_GAMMA,
  DYNO_NORM_BACKWARD_BETA,
  DYNO_NORM_BACKWARD_MEAN,
  DYNO_NORM_BACKWARD_INVSTD,
  DYNO_NORM_BACKWARD_MASK, /* with a residual and an activation */
  DYNO_NORM_BACKWARD_DY,
  DYNO_NORM_BACKWARD_ARGMAX,
  /* the residual of y, where y can be rematerialised, as the forward node has it */
  DYNO_NORM_BACKWARD_ADDED,
  DYNO_NORM_BACKWARD_ADDED_WEIGHT,
  DYNO_NORM_BACKWARD_ADDED_BIAS,
  DYNO_NORM_BACKWARD_ADDED_MEAN,
  DYNO_NORM_BACKWARD_ADDED_INVSTD,
  /* of the batch norm whose gradient this one makes too, in the order of those of ADDED */
  DYNO_NORM_BACKWARD_PAIR_X,
  DYNO_NORM_BACKWARD_PAIR_WEIGHT,
  DYNO_NORM_BACKWARD_PAIR_BIAS,
  DYNO_NORM_BACKWARD_PAIR_MEAN,
  DYNO_NORM_BACKWARD_PAIR_INVSTD,
  DYNO_NORM_BACKWARD_PAIR_SUMS,
  DYNO_NORM_BACKWARD_N,
  DYNO_NORM_BACKWARD_WINNERS = DYNO_NORM_BACKWARD_MASK
};
/* its outputs, NULL where they are not wanted */
enum {
  DYNO_NORM_BACKWARD_DX,
  DYNO_NORM_BACKWARD_DRESIDUAL,
  DYNO_NORM_BACKWARD_DGAMMA,
  DYNO_NORM_BACKWARD_DBETA,
  DYNO_NORM_BACKWARD_SUMS,    /* of one whose dx another makes: the means that it is made with */
  DYNO_NORM_BACKWARD_PAIR_DX, /* of that other one */
  DYNO_NORM_BACKWARD_N_OUTPUTS
};

typedef struct {
  guint32 activation; /* a DynoActivation */
  gboolean residual;
  gboolean mask_store; /* dy is masked in place by the reducing pass */
  gboolean accumulate, accumulate_residual;
  gboolean own_dy;     /* nobody else reads dy: it may be stored after the activation's slope */
  gboolean running;    /* frozen: by the running statistics; never with max pooling */
  guint32 pair;        /* with DYNO_NORM_BACKWARD_PAIR_X: the activation behind the sum of both */
  DynoPoolWindow pool; /* kernel 0: none */
  DynoTensor *y;       /* what can be rematerialised; NULL: nothing */
} DynoNormBackward;

/* rows that an invocation of a reduction loads at once, where there are few */
#define DYNO_BATCH_NORM_ROWS            4
#define DYNO_BATCH_NORM_FINISH_CHANNELS 8 /* of a workgroup that finishes a reduction */

/* How a reduction over rows is split: workgroups of width x lanes invocations, groups x blocks of
 * them. */
typedef struct {
  guint32 rows, cvecs;
  guint32 width, lanes;
  guint32 groups, blocks, rows_per_group;
} DynoBatchNormReduction;

/* Accesses that an invocation of a kernel that applies takes where there are plenty. */
#define DYNO_BATCH_NORM_ROUNDS 8

/* Constants 0 to 2 of a kernel that applies over count accesses of tensors like x, and its
 * workgroups: an invocation stays with its channels, so as many are at work as are a multiple of
 * cvecs; several rounds each, so that the channels' values are loaded seldom. */
guint32 dyno_batch_norm_apply_geometry (DynoLowering *lowering, DynoKernelSpec *spec,
                                        const DynoTensor *x, guint32 count, guint32 rounds);

/* What a kernel with max pooling is compiled for, and its workgroups: the window and the strips of
 * h x w windows or cells that its invocations take, at most columns x rows, in macros, so that
 * loops unroll; constants 0 to 6. */
guint32 dyno_batch_norm_pool_geometry (DynoLowering *lowering, DynoKernelSpec *spec,
                                       const DynoPoolWindow *pool, const DynoTensor *x,
                                       const DynoTensor *y, guint32 h, guint32 w, guint32 columns,
                                       guint32 rows);

/* By running statistics: in evaluation, and where it is frozen.  Those of a batch are no parameter. */
static inline gboolean
dyno_batch_norm_uses_running (const DynoNode *node)
{
  return node->inputs[DYNO_BATCH_NORM_SPREAD]->parameter != NULL;
}

/* `backward` of batch_norm. */
void dyno_batch_norm_backward (DynoGraph *graph, DynoNode *node);

/* The split for x, and the kernels of both halves: over a group's rows, and over the groups. */
DynoBatchNormReduction dyno_batch_norm_reduction (const DynoDeviceInfo *info, const DynoTensor *x);
DynoKernelSpec dyno_batch_norm_reduction_spec (const DynoBatchNormReduction *r, const char *shader,
                                               DynoDtype dtype, guint32 push_bytes);
DynoKernelSpec dyno_batch_norm_finish_spec (const DynoBatchNormReduction *r,
                                            const DynoDeviceInfo *info, const char *shader,
                                            guint32 channels, guint32 push_bytes);

/* A workspace for the groups' results, [groups][2][cp]. */
DynoTensor *dyno_batch_norm_partials (DynoLowering *lowering, const DynoBatchNormReduction *r,
                                      const DynoTensor *x);

/* Many groups of sums that a convolution has made become few, [groups][2][channels]; few stay.  For
 * a node of batch norm. */
void dyno_batch_norm_join (DynoLowering *lowering, DynoNode *node, guint32 channels,
                           DynoColumnSums *sums);

extern const DynoOpClass dyno_batch_norm_op, dyno_batch_norm_stats_op, dyno_batch_norm_backward_op;

/* Appends the node that makes x's statistics; in: running mean and variance, out: mean and inverse
 * deviation.  FALSE: the graph failed. */
gboolean dyno_batch_norm_append_stats (DynoGraph *graph, DynoTensor *x, const char *name,
                                       DynoTensor **mean, DynoTensor **spread);

G_END_DECLS
