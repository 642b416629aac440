/* SPDX-License-Identifier: MIT */
/* What the files of batch norm share; for the rest of the nn layer there is batchnorm.h. */
#pragma once
#include "batchnorm.h"
#include "lowering.h"

G_BEGIN_DECLS

#define DYNO_BATCH_NORM_EPSILON 1e-5f
/* rows that an invocation of a reduction loads at once, where there are few */
#define DYNO_BATCH_NORM_ROWS            4
#define DYNO_BATCH_NORM_FINISH_CHANNELS 8 /* of a workgroup that finishes a reduction */

/* How a reduction over rows is cut: workgroups of width x lanes invocations, groups x blocks of
 * them. */
typedef struct {
  guint32 rows, cvecs;
  guint32 width, lanes;
  guint32 groups, blocks, rows_per_group;
} DynoBatchNormReduction;

/* The cut for x, and the kernels of both halves: over a group's rows, and over the groups. */
DynoBatchNormReduction dyno_batch_norm_reduction (const DynoDeviceInfo *info, const DynoTensor *x);
DynoKernelSpec dyno_batch_norm_reduction_spec (const DynoBatchNormReduction *r, const char *shader,
                                               DynoDtype dtype, guint32 push_bytes);
DynoKernelSpec dyno_batch_norm_finish_spec (const DynoBatchNormReduction *r,
                                            const DynoDeviceInfo *info, const char *shader,
                                            guint32 channels, guint32 push_bytes);

/* A workspace for the groups' results, [groups][2][cp]. */
DynoTensor *dyno_batch_norm_partials (DynoLowering *lowering, const DynoBatchNormReduction *r,
                                      const DynoTensor *x);

extern const DynoOpClass dyno_batch_norm_stats_op;

/* Appends the node that makes x's statistics; in: running mean and variance, out: mean and inverse
 * deviation.  FALSE: the graph failed. */
gboolean dyno_batch_norm_append_stats (DynoGraph *graph, DynoTensor *x, const char *name,
                                       DynoTensor **mean, DynoTensor **spread);

G_END_DECLS
