/* SPDX-License-Identifier: MIT */
/* flip_targets: negates some target values of the samples that prepare mirrors left to right, since
 * mirroring changes their sign, as with the yaw and roll of a head.  Inputs targets (N, H, W, C)
 * F32, dense, and seeds (N); output the targets with these values negated. */
#include "elementwise.h"
#include "loss-push.h"
#include "ops.h"

typedef struct {
  guint32 negated; /* one bit per output */
  float flip;      /* probability of a flip */
} FlipTargets;

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  const FlipTargets *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *targets = node->inputs[0], *seeds = node->inputs[1], *flipped = node->outputs[0];
  guint32 count = (guint32) (targets->size_bytes / sizeof (float));
  DynoKernelSpec spec = { .shader = "loss/flip_targets.comp",
                          .push_bytes = sizeof (DynoFlipTargetsPush) };
  spec.local_size[0] = MIN (64, dyno_elementwise_local (info));
  dyno_kernel_spec_set (&spec, DYNO_FLIP_TARGETS_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_FLIP_TARGETS_PER_SAMPLE, count / targets->n);
  dyno_kernel_spec_set (&spec, DYNO_FLIP_TARGETS_C, targets->c);
  dyno_kernel_spec_set (&spec, DYNO_FLIP_TARGETS_NEGATED, attributes->negated);
  dyno_kernel_spec_set_float (&spec, DYNO_FLIP_TARGETS_FLIP, attributes->flip);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "flip", &spec,
                              dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = 2 * targets->size_bytes + seeds->size_bytes;
  DYNO_BIND (dispatch, DynoFlipTargetsPush, targets, targets, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoFlipTargetsPush, seeds, seeds, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoFlipTargetsPush, flipped, flipped, DYNO_ACCESS_WRITE);
}

static const DynoAttribute attributes[] = { DYNO_ATTRIBUTE (FlipTargets, negated),
                                            DYNO_ATTRIBUTE (FlipTargets, flip) };

static const DynoOpClass flip_targets_class = { .name = "flip_targets",
                                                DYNO_OP_ATTRIBUTES (attributes),
                                                .lower = lower };

DynoTensor *
dyno_flip_targets (DynoGraph *graph, DynoTensor *targets, DynoTensor *seeds,
                   const DynoAugmentation *augmentation)
{
  if (!targets || !seeds || augmentation->flip <= 0 || augmentation->negated == 0)
    return targets;
  if (targets->size_bytes / sizeof (float) > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: too many values; lower the batch",
                            targets->name);
  DynoTensor *flipped =
      dyno_graph_tensor (graph, "flipped_targets", DYNO_DTYPE_F32, DYNO_SPACE_ARENA, targets->n,
                         targets->h, targets->w, targets->c, targets->c);
  if (!flipped)
    return NULL;
  dyno_graph_node (
      graph, &flip_targets_class, "flip_targets", (DynoTensor *[]){ targets, seeds }, 2, &flipped,
      1, &(FlipTargets){ augmentation->negated, (float) augmentation->flip }, sizeof (FlipTargets));
  return flipped;
}
