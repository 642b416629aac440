/* SPDX-License-Identifier: MIT */
/* The internal interface of batch norm: its nodes, their attributes, the roles of their tensors,
 * and the split of sums over rows.
 *
 * dyno_batch_norm appends, in a training graph,
 *   batch_norm_stats: x -> mean, inverse deviation (F32, (1, 1, 1, cp)), and the update of the
 *   running statistics.  The node is never computed again, since it would update the running
 *   statistics twice; its outputs are a few KiB.  With a third output, the table for kernels that
 *   make y in their loads (lib/gemm-load.glsl; of x's type, (1, 1, 4, cp)), it reads weight and
 *   bias too;
 *   batch_norm: y = activation? ((x - mean) * inverse deviation * weight + bias + residual?).  The
 *   node may be computed again: all of its inputs are kept or may be computed again too.
 * In an evaluation graph, and where weight and bias are frozen, there is only the second node, and
 * it reads the running mean and variance.
 *
 * The rewrites of fusions/ change these nodes in place: a residual, an activation and max pooling
 * are added to batch_norm, the table to batch_norm_stats. */
#pragma once
#include "lowering.h"
#include "modes.h"
#include "op.h"

G_BEGIN_DECLS

/* inputs of a batch_norm node; its output 0 is y */
enum {
  DYNO_BATCH_NORM_X,
  DYNO_BATCH_NORM_WEIGHT, /* MASTER, F32 */
  DYNO_BATCH_NORM_BIAS,   /* MASTER, F32 */
  DYNO_BATCH_NORM_MEAN,   /* of the batch; in evaluation or frozen, the running mean, STATE */
  /* 1 / sqrt (variance + eps) of the batch; in evaluation or frozen, the running variance itself,
   * STATE */
  DYNO_BATCH_NORM_SPREAD,
  DYNO_BATCH_NORM_RESIDUAL, /* NULL: none */
  /* parameters of the batch norm that makes the residual from RESIDUAL in the loads; NULL: RESIDUAL
   * is the residual */
  DYNO_BATCH_NORM_RESIDUAL_WEIGHT,
  DYNO_BATCH_NORM_RESIDUAL_BIAS,
  DYNO_BATCH_NORM_RESIDUAL_MEAN,
  DYNO_BATCH_NORM_RESIDUAL_INVSTD,
  DYNO_BATCH_NORM_N_INPUTS
};

/* outputs; the ones after y exist only where a backward pass follows, ARGMAX and WINNERS only with
 * max pooling */
enum {
  DYNO_BATCH_NORM_Y,
  /* the largest value's place in the window, 255 where the relu stops the gradient; U8, y's
   * shape */
  DYNO_BATCH_NORM_ARGMAX,
  DYNO_BATCH_NORM_WINNERS, /* x at that place, over which the backward pass reduces; y's shape */
  /* with a residual and a relu: bits for the elements of y above zero, shaders/lib/mask.glsl; I32,
   * (1, 1, fours of rows, accesses of a row) */
  DYNO_BATCH_NORM_MASK,
  DYNO_BATCH_NORM_N_OUTPUTS
};

#define DYNO_MASK_ROWS 4 /* rows in a word of the mask */

/* inputs and outputs of a batch_norm_stats node; the last two inputs and the last output exist only
 * with a table */
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
  double parameter;    /* of the activation */
  DynoPoolWindow pool; /* kernel 0: no pooling; never with a residual */
  /* added to the running variance.  A batch norm that computes the residual in the loads never uses
   * running statistics, so its eps is already included in its inverse deviation. */
  double eps;
} DynoBatchNormAttributes;

typedef struct {
  double eps, momentum;
  gboolean rectified; /* with a table: the readers apply ReLU or ReLU6 in their loads */
} DynoBatchNormStatistics;

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
  /* the residual of y as in the forward node, where y can be rematerialised */
  DYNO_NORM_BACKWARD_ADDED,
  DYNO_NORM_BACKWARD_ADDED_WEIGHT,
  DYNO_NORM_BACKWARD_ADDED_BIAS,
  DYNO_NORM_BACKWARD_ADDED_MEAN,
  DYNO_NORM_BACKWARD_ADDED_INVSTD,
  /* tensors of the batch norm whose dx this node computes too, in the order of ADDED */
  DYNO_NORM_BACKWARD_PAIR_X,
  DYNO_NORM_BACKWARD_PAIR_WEIGHT,
  DYNO_NORM_BACKWARD_PAIR_BIAS,
  DYNO_NORM_BACKWARD_PAIR_MEAN,
  DYNO_NORM_BACKWARD_PAIR_INVSTD,
  DYNO_NORM_BACKWARD_PAIR_SUMS,
  DYNO_NORM_BACKWARD_N,
  DYNO_NORM_BACKWARD_WINNERS = DYNO_NORM_BACKWARD_MASK
};
/* outputs of a batch_norm_backward node, NULL where they are not wanted */
enum {
  DYNO_NORM_BACKWARD_DX,
  DYNO_NORM_BACKWARD_DRESIDUAL,
  DYNO_NORM_BACKWARD_DGAMMA,
  DYNO_NORM_BACKWARD_DBETA,
  /* where another node computes dx: the means from which it is computed */
  DYNO_NORM_BACKWARD_SUMS,
  DYNO_NORM_BACKWARD_PAIR_DX, /* dx of the batch norm whose input is PAIR_X */
  DYNO_NORM_BACKWARD_N_OUTPUTS
};

typedef struct {
  guint32 activation; /* a DynoActivation */
  double parameter;   /* of the activation */
  gboolean residual;
  gboolean mask_store; /* dy is masked in place by the reducing pass */
  gboolean accumulate, accumulate_residual;
  /* no other node reads dy: dy may be stored with the activation's slope applied */
  gboolean own_dy;
  gboolean running;    /* uses the running statistics, since it is frozen; never with max pooling */
  double eps;          /* added to the running variance */
  guint32 pair;        /* with DYNO_NORM_BACKWARD_PAIR_X: the activation after the sum of both */
  DynoPoolWindow pool; /* kernel 0: none */
  DynoTensor *y;       /* the tensor that can be rematerialised; NULL: none */
} DynoNormBackward;

/* rows that an invocation of a reduction loads at once */
#define DYNO_BATCH_NORM_ROWS            4
#define DYNO_BATCH_NORM_FINISH_CHANNELS 8 /* of a workgroup that finishes a reduction */

/* The split of a reduction over rows: groups x blocks workgroups of width x lanes invocations. */
typedef struct {
  guint32 rows, cvecs;
  guint32 width, lanes;
  guint32 groups, blocks, rows_per_group;
} DynoBatchNormReduction;

/* Accesses per invocation of an applying kernel, where accesses are plenty. */
#define DYNO_BATCH_NORM_ROUNDS 8

/* Sets constants 0 to 2 of an applying kernel over count accesses of tensors like x, and returns
 * its workgroups.  An invocation keeps to its channels, so the number of invocations is a multiple
 * of cvecs; each takes several rounds, so that the channels' values are rarely loaded. */
guint32 dyno_batch_norm_apply_geometry (DynoLowering *lowering, DynoKernelSpec *spec,
                                        const DynoTensor *x, guint32 count, guint32 rounds);

/* Sets the macros and the constants 0 to 6 of a kernel with max pooling, and returns its
 * workgroups.  The macros hold the window and the strips of h x w windows or cells that invocations
 * take, at most columns x rows, so that loops unroll. */
guint32 dyno_batch_norm_pool_geometry (DynoLowering *lowering, DynoKernelSpec *spec,
                                       const DynoPoolWindow *pool, const DynoTensor *x,
                                       const DynoTensor *y, guint32 h, guint32 w, guint32 columns,
                                       guint32 rows);

/* TRUE: the node normalises by running statistics, as in evaluation and where it is frozen.  Unlike
 * the statistics of a batch, these are parameters. */
static inline gboolean
dyno_batch_norm_uses_running (const DynoNode *node)
{
  return node->inputs[DYNO_BATCH_NORM_SPREAD]->parameter != NULL;
}

/* `backward` of batch_norm. */
void dyno_batch_norm_backward (DynoGraph *graph, DynoNode *node);

/* The split for x, and the kernels of its two halves: sums over a group's rows, and sums over the
 * groups. */
DynoBatchNormReduction dyno_batch_norm_reduction (const DynoDeviceInfo *info, const DynoTensor *x);
DynoKernelSpec dyno_batch_norm_reduction_spec (const DynoBatchNormReduction *r, const char *shader,
                                               DynoDtype dtype, guint32 push_bytes);
DynoKernelSpec dyno_batch_norm_finish_spec (const DynoBatchNormReduction *r,
                                            const DynoDeviceInfo *info, const char *shader,
                                            guint32 channels, guint32 push_bytes);

/* A workspace for the groups' results, [groups][2][cp]. */
DynoTensor *dyno_batch_norm_partials (DynoLowering *lowering, const DynoBatchNormReduction *r,
                                      const DynoTensor *x);

/* Reduces many groups of sums that a convolution has made to few, [groups][2][channels]; few groups
 * are left unchanged.  node: the batch norm's node. */
void dyno_batch_norm_join (DynoLowering *lowering, DynoNode *node, guint32 channels,
                           DynoColumnSums *sums);

extern const DynoOpClass dyno_batch_norm_op, dyno_batch_norm_stats_op, dyno_batch_norm_backward_op;

/* Appends the node that makes x's statistics.  *mean and *spread are running mean and variance on
 * entry, mean and inverse deviation on return.  FALSE: the graph failed. */
gboolean dyno_batch_norm_append_stats (DynoGraph *graph, DynoTensor *x, const char *name,
                                       const DynoBatchNormStatistics *attributes, DynoTensor **mean,
                                       DynoTensor **spread);

G_END_DECLS
