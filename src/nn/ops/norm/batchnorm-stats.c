/* SPDX-License-Identifier: MIT */
/* The statistics of batch norm in training: the op batch_norm_stats, and the split of sums over
 * rows for this op and for the backward pass.
 *
 * batch_norm_stats, for each channel c, with M = N * H * W:
 *     mean[c] = sum over n, h, w of x / M
 *     variance[c] = sum over n, h, w of (x - mean[c])^2 / M
 *     invstd[c] = 1 / sqrt (variance[c] + eps)
 *     running_mean[c] = (1 - momentum) * running_mean[c] + momentum * mean[c]
 *     running_variance[c] = (1 - momentum) * running_variance[c]
 *                           + momentum * variance[c] * M / (M - 1)
 * Inputs x (N, H, W, C) and the running statistics (C) each (STATE, moved); outputs mean and
 * invstd, (C) each.
 * With a table (fusions/norm-load.c) gamma and beta (C) are inputs too, and the table is an output.
 * Where the convolution that wrote x has summed up its columns (fusions/column-sums.c) x is not
 * read. */
#include "batchnorm-private.h"
#include "batchnorm-push.h"
#include "elementwise.h"
#include <math.h>

/* The momentum of the running statistics.  With several ranks, whose statistics are averaged, it is
 * the momentum of as many updates as there are ranks: the kept share of the old statistics is the
 * same as in one process that processes the batches of all ranks one after the other. */
static float
find_momentum (DynoGraph *graph, double momentum)
{
  guint ranks = MAX (dyno_graph_get_params (graph)->ranks, 1);

  return (float) (1 - pow (1 - momentum, ranks));
}

DynoBatchNormReduction
dyno_batch_norm_reduction (const DynoDeviceInfo *info, const DynoTensor *x)
{
  gboolean software = dyno_info_is_software (info);
  guint32 invocations = MIN (software ? 64 : 256, info->max_invocations);
  guint32 widest = software ? 16 : 32, wanted = software ? 128 : dyno_device_info_scale (info, 768);
  DynoBatchNormReduction r = { .rows = x->n * x->h * x->w,
                               .cvecs = x->cp / dyno_dtype_lanes (x->dtype) };
  r.blocks = (r.cvecs + widest - 1) / widest;
  r.width = (r.cvecs + r.blocks - 1) / r.blocks;
  r.lanes = invocations / r.width;
  guint32 groups = MAX (1, wanted / r.blocks),
          batch = r.lanes * (software ? 8 : DYNO_BATCH_NORM_ROWS);
  guint32 batches = (r.rows + batch - 1) / batch;
  /* whole batches of rows, so that only the last group has an incomplete batch */
  r.rows_per_group = (batches + groups - 1) / groups * batch;
  r.groups = (r.rows + r.rows_per_group - 1) / r.rows_per_group;
  return r;
}

DynoKernelSpec
dyno_batch_norm_reduction_spec (const DynoBatchNormReduction *r, const char *shader,
                                DynoDtype dtype, guint32 push_bytes)
{
  DynoKernelSpec spec = { .shader = shader,
                          .local_size = { r->width, r->lanes, 1 },
                          .push_bytes = push_bytes };
  dyno_elementwise_type (&spec, dtype);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_REDUCE_ROWS, r->rows);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_REDUCE_CVECS, r->cvecs);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_REDUCE_ROWS_PER_GROUP, r->rows_per_group);
  return spec;
}

DynoKernelSpec
dyno_batch_norm_finish_spec (const DynoBatchNormReduction *r, const DynoDeviceInfo *info,
                             const char *shader, guint32 channels, guint32 push_bytes)
{
  guint32 lanes = MIN (dyno_info_is_software (info) ? 8 : 128, r->groups);
  lanes = MIN (lanes, info->max_invocations / DYNO_BATCH_NORM_FINISH_CHANNELS);
  DynoKernelSpec spec = { .shader = shader,
                          .local_size = { DYNO_BATCH_NORM_FINISH_CHANNELS, lanes, 1 },
                          .push_bytes = push_bytes };
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_COLLECT_ROWS, r->rows);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_COLLECT_CHANNELS, channels);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_COLLECT_ROWS_PER_GROUP, r->rows_per_group);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_COLLECT_GROUPS, r->groups);
  dyno_kernel_spec_macro (&spec, "ROUNDS=%u", (r->groups + lanes - 1) / lanes);
  return spec;
}

DynoTensor *
dyno_batch_norm_partials (DynoLowering *lowering, const DynoBatchNormReduction *r,
                          const DynoTensor *x)
{
  return dyno_lowering_workspace (lowering, "partials",
                                  (guint64) r->groups * 2 * x->cp * sizeof (float));
}

/* The most groups of sums that are reduced in one dispatch; more groups are first joined to JOINED
 * groups. */
#define JOIN_MORE_THAN 1024
#define JOINED         256

void
dyno_batch_norm_join (DynoLowering *lowering, DynoNode *node, guint32 channels,
                      DynoColumnSums *sums)
{
  if (sums->groups <= JOIN_MORE_THAN)
    return;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 vectors = 2 * channels / 4, width = MIN (vectors, 32),
          each = (sums->groups + JOINED - 1) / JOINED;
  DynoKernelSpec spec = { .shader = "batchnorm/batchnorm_join.comp",
                          .local_size = { width, MAX (1, MIN (256, info->max_invocations) / width),
                                          1 },
                          .push_bytes = sizeof (DynoBatchNormJoinPush) };
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_JOIN_GROUPS, sums->groups);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_JOIN_VECTORS, vectors);
  dyno_kernel_spec_set (&spec, DYNO_BATCH_NORM_JOIN_EACH, each);
  guint32 groups = (sums->groups + each - 1) / each;
  DynoTensor *joined = dyno_lowering_workspace (lowering, "joined",
                                                (guint64) groups * 2 * channels * sizeof (float));
  if (!joined)
    return;
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "join", &spec, groups,
                                                   (vectors + width - 1) / width, 1);
  dispatch->flops = (guint64) sums->groups * 2 * channels;
  dispatch->bytes = sums->partials->size_bytes + joined->size_bytes;
  DYNO_BIND (dispatch, DynoBatchNormJoinPush, partials, sums->partials, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormJoinPush, joined, joined, DYNO_ACCESS_WRITE);
  *sums = (DynoColumnSums){ .partials = joined, .groups = groups };
}

/* The statistics of x by group, or, with *are_sums, the sums by group that a convolution has made;
 * sets r->groups to the number of groups. */
static DynoTensor *
statistics_partials (DynoLowering *lowering, DynoNode *node, DynoBatchNormReduction *r,
                     gboolean *are_sums)
{
  DynoTensor *x = node->inputs[0];
  DynoColumnSums sums;
  *are_sums = dyno_lowering_get_column_sums (lowering, x, &sums);
  if (*are_sums)
    {
      dyno_batch_norm_join (lowering, node, x->cp, &sums);
      r->groups = sums.groups;
      return sums.partials;
    }
  DynoTensor *partials = dyno_batch_norm_partials (lowering, r, x);
  DynoKernelSpec spec = dyno_batch_norm_reduction_spec (
      r, "batchnorm/batchnorm_statistics.comp", x->dtype, sizeof (DynoBatchNormStatisticsPush));
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "statistics", &spec, r->groups, r->blocks, 1);
  dispatch->flops = 3 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes;
  DYNO_BIND (dispatch, DynoBatchNormStatisticsPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormStatisticsPush, partials, partials, DYNO_ACCESS_WRITE);
  return partials;
}

static void
stats_lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoBatchNormStatistics *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *x = node->inputs[0];
  DynoBatchNormReduction r = dyno_batch_norm_reduction (info, x);
  gboolean are_sums;
  DynoTensor *partials = statistics_partials (lowering, node, &r, &are_sums);

  DynoKernelSpec spec = dyno_batch_norm_finish_spec (&r, info, "batchnorm/batchnorm_finish.comp",
                                                     x->cp, sizeof (DynoBatchNormFinishPush));
  DynoTensor *table = node->n_outputs > DYNO_BATCH_NORM_STATS_TABLE
                          ? node->outputs[DYNO_BATCH_NORM_STATS_TABLE]
                          : NULL;
  if (are_sums)
    dyno_kernel_spec_macro (&spec, "SUMS=1");
  if (table)
    {
      dyno_elementwise_type (&spec, table->dtype);
      dyno_kernel_spec_macro (&spec, "TABLE=1");
      if (attributes->rectified && table->dtype == DYNO_DTYPE_F16)
        dyno_kernel_spec_macro (&spec, "RECTIFIED=1");
    }
  dyno_kernel_spec_set_float (&spec, DYNO_BATCH_NORM_FINISH_EPSILON, (float) attributes->eps);
  dyno_kernel_spec_set_float (
      &spec, DYNO_BATCH_NORM_FINISH_MOMENTUM,
      find_momentum (dyno_lowering_get_graph (lowering), attributes->momentum));
  dyno_kernel_spec_set_float (&spec, DYNO_BATCH_NORM_FINISH_UNBIASED,
                              (float) ((double) r.rows / (r.rows - 1)));
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "finish", &spec,
                                                   x->cp / DYNO_BATCH_NORM_FINISH_CHANNELS, 1, 1);
  dispatch->flops = (guint64) r.groups * 5 * x->c;
  dispatch->bytes = (guint64) x->cp * sizeof (float) * (2 * r.groups + 6);
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, partials, partials, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, mean, node->outputs[0], DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, invstd, node->outputs[1], DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, running_mean, node->inputs[1],
             DYNO_ACCESS_READ_WRITE);
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, running_variance, node->inputs[2],
             DYNO_ACCESS_READ_WRITE);
  if (!table)
    return;
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, gamma, node->inputs[DYNO_BATCH_NORM_STATS_GAMMA],
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, beta, node->inputs[DYNO_BATCH_NORM_STATS_BETA],
             DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoBatchNormFinishPush, table, table, DYNO_ACCESS_WRITE);
}

static const DynoAttribute stats_attributes[] = {
  DYNO_ATTRIBUTE (DynoBatchNormStatistics, eps),
  DYNO_ATTRIBUTE (DynoBatchNormStatistics, momentum),
  DYNO_ATTRIBUTE (DynoBatchNormStatistics, rectified),
};

const DynoOpClass dyno_batch_norm_stats_op = { .name = "batch_norm_stats",
                                               DYNO_OP_ATTRIBUTES (stats_attributes),
                                               .lower = stats_lower };

gboolean
dyno_batch_norm_append_stats (DynoGraph *graph, DynoTensor *x, const char *name,
                              const DynoBatchNormStatistics *attributes, DynoTensor **mean,
                              DynoTensor **spread)
{
  g_autofree char *stats_name = g_strconcat (name, ".stats", NULL);
  g_autofree char *mean_name = g_strconcat (name, ".mean", NULL);
  g_autofree char *invstd_name = g_strconcat (name, ".invstd", NULL);
  DynoTensor *outputs[2] = {
    dyno_graph_tensor (graph, mean_name, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, 1, 1, 1, x->c, x->cp),
    dyno_graph_tensor (graph, invstd_name, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, 1, 1, 1, x->cp, x->cp)
  };
  if (!outputs[0] || !outputs[1])
    return FALSE;
  dyno_graph_node (graph, &dyno_batch_norm_stats_op, stats_name,
                   (DynoTensor *[]){ x, *mean, *spread }, 3, outputs, 2, attributes,
                   sizeof *attributes);
  *mean = outputs[0];
  *spread = outputs[1];
  return TRUE;
}
