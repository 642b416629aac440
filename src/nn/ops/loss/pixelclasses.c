/* SPDX-License-Identifier: MIT */
/* pixel_classes: the class of each pixel; pixel_counts: the pixels with each pair of target and
 * class.  Both read the logits (N, H, W, C), so that the host reads one byte per pixel, or one
 * table per batch, instead of the logits. */
#include "elementwise.h"
#include "loss-push.h"
#include "ops.h"

#define MOST_TABLE 4096 /* counts in shared memory, 16 KiB: C <= 64 */
/* loop iterations of an invocation; the software driver ends loops after twice as many */
#define MOST_LOOPS   32768
#define WORKGROUPS   1024
#define SOFTWARE_WGS 16

/* Sets the constants of both kernels, which read the first n_samples samples, and returns the
 * number of workgroups. */
static guint32
fill_spec (DynoKernelSpec *spec, const DynoDeviceInfo *info, const DynoTensor *logits,
           guint32 n_samples)
{
  gboolean software = dyno_info_is_software (info);
  guint32 rows = n_samples * logits->h * logits->w;
  guint32 cvecs = logits->cp / dyno_dtype_lanes (logits->dtype);
  guint64 local = software ? 8 : dyno_elementwise_local (info);
  guint64 most = MAX (MOST_LOOPS / (cvecs + 4), 4), least = (rows - 1) / (local * most) + 1;
  guint64 wanted = MIN (software ? SOFTWARE_WGS : WORKGROUPS, (rows - 1) / (4 * local) + 1);

  spec->push_bytes = sizeof (DynoPixelLossPush);
  spec->local_size[0] = (guint32) local;
  dyno_elementwise_type (spec, logits->dtype);
  dyno_kernel_spec_set (spec, DYNO_LOSS_ROWS, rows);
  dyno_kernel_spec_set (spec, DYNO_LOSS_CVECS, cvecs);
  dyno_kernel_spec_set (spec, DYNO_LOSS_C, logits->c);
  return (guint32) MAX (least, wanted);
}

static gboolean
check (DynoGraph *graph, const DynoTensor *logits)
{
  guint64 rows = (guint64) logits->n * logits->h * logits->w;

  if (rows <= G_MAXINT32 && logits->c <= DYNO_MASK_IGNORED)
    return TRUE;
  dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                   "classes of pixels (%u, %u, %u, %u): there are more than %u classes, or 2^31 "
                   "pixels; lower the batch",
                   logits->n, logits->h, logits->w, logits->c, DYNO_MASK_IGNORED);
  return FALSE;
}

static void
lower_classes (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *logits = node->inputs[0], *classes = node->outputs[0];
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoKernelSpec spec = { .shader = "loss/pixel_classes.comp" };
  guint32 groups = fill_spec (&spec, info, logits, classes->n);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "forward", &spec, groups, 1, 1);

  dispatch->flops = dyno_tensor_elements (logits) / logits->n * classes->n;
  dispatch->bytes = logits->size_bytes / logits->n * classes->n + classes->size_bytes;
  DYNO_BIND (dispatch, DynoPixelLossPush, logits, logits, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPixelLossPush, result, classes, DYNO_ACCESS_WRITE);
}

static const DynoOpClass classes_class = { .name = "pixel_classes", .lower = lower_classes };

DynoTensor *
dyno_pixel_classes (DynoGraph *graph, DynoTensor *logits, guint32 n_samples)
{
  DynoTensor *classes;

  if (!logits || !check (graph, logits))
    return NULL;
  classes = dyno_graph_tensor (graph, "classes", DYNO_DTYPE_U8, DYNO_SPACE_ARENA,
                               MIN (n_samples, logits->n), logits->h, logits->w, 1, 1);
  if (classes)
    /* whole words of 4 bytes are written */
    classes->size_bytes = (classes->size_bytes + 3) / 4 * 4;
  if (classes)
    dyno_graph_node (graph, &classes_class, "classes", &logits, 1, &classes, 1, NULL, 0);
  return classes;
}

static void
lower_counts (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *logits = node->inputs[0], *targets = node->inputs[1], *counts = node->outputs[0];
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoKernelSpec spec = { .shader = "loss/pixel_counts.comp" }, clear;
  guint32 n_counts = logits->c * logits->c, groups = fill_spec (&spec, info, logits, logits->n);
  DynoDispatch *dispatch;

  clear = spec;
  dyno_kernel_spec_macro (&clear, "CLEAR=1");
  dispatch =
      dyno_lowering_dispatch (lowering, node, "clear", &clear,
                              dyno_elementwise_groups (info, n_counts, clear.local_size[0]), 1, 1);
  dispatch->bytes = counts->size_bytes;
  DYNO_BIND (dispatch, DynoPixelLossPush, result, counts, DYNO_ACCESS_WRITE);

  if (logits->h * logits->w > 1)
    dyno_kernel_spec_macro (&spec, "PER_SAMPLE=%u", logits->h * logits->w);
  if (n_counts <= MOST_TABLE)
    dyno_kernel_spec_macro (&spec, "TABLE=%u", n_counts);
  if (!targets)
    dyno_kernel_spec_macro (&spec, "RANDOM_TARGETS=1");
  dispatch = dyno_lowering_dispatch (lowering, node, "count", &spec, groups, 1, 1);
  dispatch->flops = dyno_tensor_elements (logits);
  dispatch->bytes = logits->size_bytes + (targets ? targets->size_bytes : 0);
  DYNO_BIND (dispatch, DynoPixelLossPush, logits, logits, DYNO_ACCESS_READ);
  if (targets)
    DYNO_BIND (dispatch, DynoPixelLossPush, targets, targets, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPixelLossPush, step_input,
             dyno_graph_step_input (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPixelLossPush, result, counts, DYNO_ACCESS_READ_WRITE);
}

static const DynoOpClass counts_class = { .name = "pixel_counts", .lower = lower_counts };

DynoTensor *
dyno_pixel_counts (DynoGraph *graph, DynoTensor *logits, DynoTensor *targets)
{
  DynoTensor *counts;

  if (!logits || !check (graph, logits))
    return NULL;
  counts = dyno_graph_tensor (graph, "counts", DYNO_DTYPE_I32, DYNO_SPACE_ARENA, 1, 1, logits->c,
                              logits->c, logits->c);
  if (counts)
    dyno_graph_node (graph, &counts_class, "counts", (DynoTensor *[]){ logits, targets }, 2,
                     &counts, 1, NULL, 0);
  return counts;
}
