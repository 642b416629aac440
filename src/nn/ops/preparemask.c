/* SPDX-License-Identifier: MIT */
/* prepare_mask: the mask of each sample as the host writes it, (N, H, W) bytes, becomes class ids
 * (N, H, W) int32, with the geometric changes of the sample's image: by the nearest pixel, and
 * DYNO_MASK_IGNORED where the image shows pixels from outside of its border.  Changes of colour,
 * noise and erased rectangles leave a mask unchanged.  Inputs raw, seeds (NULL: nothing is moved);
 * output the ids. */
#include "prepare-private.h"
#include "prepare-push.h"

G_STATIC_ASSERT (DYNO_PREPARE_MASK_OUTSIDE == DYNO_MASK_IGNORED);

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoPrepare *a = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *raw = node->inputs[0], *seeds = node->inputs[1], *ids = node->outputs[0];
  DynoTensor *changes = NULL;
  guint32 count = (guint32) (ids->size_bytes / sizeof (guint32));
  DynoKernelSpec spec = { .shader = "prepare/prepare_mask.comp",
                          .push_bytes = sizeof (DynoPreparePush) };
  if (dyno_prepare_is_mapped (a))
    {
      changes =
          dyno_lowering_workspace (lowering, "changes", ids->n * sizeof (struct DynoPrepareChange));
      dyno_prepare_lower_draw (lowering, node, a, changes);
      dyno_kernel_spec_macro (&spec, "MAP=1");
    }
  else if (a->flip > 0 || a->flip_vertical > 0)
    dyno_kernel_spec_macro (&spec, "FLIPS=1");
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_H, ids->h);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_W, ids->w);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_FLIP, a->flip);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_FLIP_VERTICAL, a->flip_vertical);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_PAD, a->pad);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "mask", &spec,
                              dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = raw->size_bytes + ids->size_bytes;
  DYNO_BIND (dispatch, DynoPreparePush, raw, raw, DYNO_ACCESS_READ);
  if (seeds)
    DYNO_BIND (dispatch, DynoPreparePush, seeds, seeds, DYNO_ACCESS_READ);
  if (changes)
    DYNO_BIND (dispatch, DynoPreparePush, changes, changes, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPreparePush, target, ids, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoPreparePush, step_input,
             dyno_graph_step_input (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
}

static const DynoAttribute attributes[] = {
  DYNO_ATTRIBUTE (DynoPrepare, crop),    DYNO_ATTRIBUTE (DynoPrepare, crop_ratio),
  DYNO_ATTRIBUTE (DynoPrepare, shift_x), DYNO_ATTRIBUTE (DynoPrepare, shift_y),
  DYNO_ATTRIBUTE (DynoPrepare, pad),     DYNO_ATTRIBUTE (DynoPrepare, rotate),
  DYNO_ATTRIBUTE (DynoPrepare, flip),    DYNO_ATTRIBUTE (DynoPrepare, flip_vertical),
};

static const DynoOpClass prepare_mask_class = { .name = "prepare_mask",
                                                .traits = { .restorable = TRUE },
                                                DYNO_OP_ATTRIBUTES (attributes),
                                                .lower = lower };

DynoTensor *
dyno_prepare_mask (DynoGraph *graph, DynoTensor *raw, DynoTensor *seeds, guint32 channels,
                   const DynoAugmentation *augmentation)
{
  DynoPrepare prepare = { 0 };
  DynoTensor *ids;

  if (!raw)
    return NULL;
  if (raw->dtype != DYNO_DTYPE_U8 || raw->c != 1 || raw->cp != 1 || raw->size_bytes > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a mask of shape (%u, %u, %u, %u) is not a byte for each pixel, or "
                            "the batch has more than 2^31 of them; lower the batch",
                            raw->name, raw->n, raw->h, raw->w, raw->c);
  if (!dyno_graph_get_params (graph)->training || !dyno_augmentation_is_on (augmentation))
    seeds = NULL;
  if (seeds && !dyno_prepare_fill_changes (graph, augmentation, raw->w, raw->h, channels, &prepare))
    return NULL;
  ids = dyno_graph_tensor (graph, "class_ids", DYNO_DTYPE_I32, DYNO_SPACE_ARENA, raw->n, raw->h,
                           raw->w, 1, 1);
  if (ids)
    dyno_graph_node (graph, &prepare_mask_class, "prepare_mask", (DynoTensor *[]){ raw, seeds }, 2,
                     &ids, 1, &prepare, sizeof prepare);
  return ids;
}
