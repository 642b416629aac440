/* SPDX-License-Identifier: MIT */
/* prepare: a field of the batch (N, H, W, C) dense, u8 or f32 -> x (N, H, W, C) of compute type,
 * scaled, normalised, augmented.  Inputs raw and seeds (N), both may be NULL; output x.  Without
 * raw it makes normal noise.  Samples from n_valid on are zero. */
#include "elementwise.h"
#include "ops.h"
#include "prepare-push.h"
#include <stddef.h>

typedef struct {
  float factor[4], offset[4];
  float flip;       /* probability; 0: none */
  float brightness; /* largest change of the factor; 0: none */
} Prepare;

static void
prepare_lower (DynoLowering *lowering, DynoNode *node)
{
  const Prepare *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *raw = node->inputs[0], *seeds = node->inputs[1], *x = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, x);
  DynoKernelSpec spec = { .shader = "prepare/prepare_apply.comp",
                          .push_bytes = sizeof (DynoPreparePush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, x->dtype);
  if (raw)
    dyno_kernel_spec_macro (&spec, raw->dtype == DYNO_DTYPE_U8 ? "RAW_U8=1" : "RAW_F32=1");
  if (attributes->flip > 0)
    dyno_kernel_spec_macro (&spec, "FLIP=1");
  if (attributes->brightness > 0)
    dyno_kernel_spec_macro (&spec, "BRIGHTNESS=1");
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_CVECS, x->cp / dyno_dtype_lanes (x->dtype));
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_H, x->h);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_W, x->w);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_C, x->c);
  for (guint i = 0; i < 4; i++)
    {
      dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_FACTOR0 + i, attributes->factor[i]);
      dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_OFFSET0 + i, attributes->offset[i]);
    }
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_FLIP_PROBABILITY, attributes->flip);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_MOST_BRIGHTNESS, attributes->brightness);

  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "apply", &spec,
                              dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->flops = 2 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes + (raw ? raw->size_bytes : 0);
  if (raw)
    dyno_dispatch_bind (dispatch, offsetof (DynoPreparePush, raw), raw, DYNO_ACCESS_READ);
  if (seeds)
    dyno_dispatch_bind (dispatch, offsetof (DynoPreparePush, seeds), seeds, DYNO_ACCESS_READ);
  dyno_dispatch_bind (dispatch, offsetof (DynoPreparePush, target), x, DYNO_ACCESS_WRITE);
  dyno_dispatch_bind (dispatch, offsetof (DynoPreparePush, step_input),
                      dyno_graph_step_input (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
}

static const DynoAttribute prepare_attributes[] = {
  DYNO_ATTRIBUTE (Prepare, factor[0]), DYNO_ATTRIBUTE (Prepare, factor[1]),
  DYNO_ATTRIBUTE (Prepare, factor[2]), DYNO_ATTRIBUTE (Prepare, factor[3]),
  DYNO_ATTRIBUTE (Prepare, offset[0]), DYNO_ATTRIBUTE (Prepare, offset[1]),
  DYNO_ATTRIBUTE (Prepare, offset[2]), DYNO_ATTRIBUTE (Prepare, offset[3]),
  DYNO_ATTRIBUTE (Prepare, flip),      DYNO_ATTRIBUTE (Prepare, brightness),
};

static const DynoOpClass prepare_class = { .name = "prepare",
                                           .traits = { .restorable = TRUE },
                                           DYNO_OP_ATTRIBUTES (prepare_attributes),
                                           .lower = prepare_lower };

/* What the kernel multiplies with and adds, by channel. */
static gboolean
fill_scale (DynoGraph *graph, const DynoNormalisation *normalisation, guint32 channels,
            Prepare *attributes)
{
  double scale = normalisation->scale_255 ? 1.0 / 255 : 1.0;
  for (guint i = 0; i < 4; i++)
    {
      float mean = normalisation->mean[i], deviation = normalisation->deviation[i];
      gboolean standardise = normalisation->standardise && deviation > 0;
      if (normalisation->standardise && !standardise && i < channels)
        {
          dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                           "the deviation of channel %u is %g; it must be more than 0", i,
                           (double) deviation);
          return FALSE;
        }
      attributes->factor[i] = (float) (standardise ? scale / deviation : scale);
      attributes->offset[i] = standardise ? -mean / deviation : 0.0f;
    }
  return TRUE;
}

DynoTensor *
dyno_prepare (DynoGraph *graph, DynoTensor *raw, DynoTensor *seeds, const DynoBatchField *field,
              const DynoAugmentation *augmentation)
{
  const DynoGraphParams *graph_params = dyno_graph_get_params (graph);
  guint32 height, width, channels;
  dyno_field_get_image (field, &height, &width, &channels);
  if (raw && raw->dtype != DYNO_DTYPE_U8 && raw->dtype != DYNO_DTYPE_F32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: inputs are bytes or floats",
                            raw->name);
  if (raw
      && (raw->n != graph_params->batch || raw->h != height || raw->w != width || raw->c != channels
          || raw->cp != raw->c))
    return dyno_graph_fail (
        graph, DYNO_NN_ERROR_SHAPE, "%s: an input of shape (%u, %u, %u, %u), not (%u, %u, %u, %u)",
        raw->name, raw->n, raw->h, raw->w, raw->c, graph_params->batch, height, width, channels);
  if (raw && dyno_tensor_elements (raw) > G_MAXUINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: the batch has more than 2^32 values; lower the batch", raw->name);
  Prepare attributes = { 0 };
  if (graph_params->training && dyno_augmentation_is_on (augmentation) && seeds)
    {
      attributes.flip = (float) augmentation->flip;
      attributes.brightness = (float) augmentation->brightness;
    }
  else
    seeds = NULL;
  if (!fill_scale (graph, &field->normalisation, channels, &attributes))
    return NULL;
  DynoTensor *x =
      dyno_graph_activation (graph, "input", graph_params->batch, height, width, channels);
  if (!x)
    return NULL;
  dyno_graph_node (graph, &prepare_class, "prepare", (DynoTensor *[]){ raw, seeds }, 2, &x, 1,
                   &attributes, sizeof attributes);
  return x;
}
