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
 * Fusion changes the batch_norm node in place (batch_norm_absorb): a residual with its relu, an
 * activation, max pooling. */
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

typedef struct {
  guint32 activation;  /* a DynoActivation; with a residual or a pool NONE or RELU */
  DynoPoolWindow pool; /* kernel 0: none; never with a residual */
} DynoBatchNormAttributes;

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

/* A residual that is the output of a batch norm without an activation, made in the loads of a node of
 * batch norm, whose input 0 has its shape: `at` is its place in the node's inputs, those of that batch
 * norm come behind it. */
gboolean dyno_batch_norm_can_load_residual (const DynoNode *node, guint at,
                                            const DynoNormLoad *load);
void dyno_batch_norm_load_residual (DynoNode *node, guint at, const DynoNormLoad *load);

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

extern const DynoOpClass dyno_batch_norm_stats_op;

/* Appends the node that makes x's statistics; in: running mean and variance, out: mean and inverse
 * deviation.  FALSE: the graph failed. */
gboolean dyno_batch_norm_append_stats (DynoGraph *graph, DynoTensor *x, const char *name,
                                       DynoTensor **mean, DynoTensor **spread);

/* The node that makes this mean writes the table too, which is returned; NULL: the graph failed. */
DynoTensor *dyno_batch_norm_append_table (DynoGraph *graph, const DynoTensor *x, DynoTensor *mean,
                                          DynoTensor *gamma, DynoTensor *beta);

G_END_DECLS
