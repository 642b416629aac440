/* SPDX-License-Identifier: MIT */
/* prepare: a field of the batch (N, H, W, C) dense, u8 or f32 -> x (N, H, W, C) of compute type,
 * scaled, normalised, augmented.  Inputs raw and seeds (N), both may be NULL; output x.  Without
 * raw it makes normal noise.  Samples from n_valid on are zero.
 *
 * One kernel reads raw once and writes x once.  Where pixels are moved, recoloured or erased, a
 * kernel with one invocation per sample draws the changes first, and for contrast a further kernel
 * adds up grey values. */
#include "prepare-private.h"
#include "prepare-push.h"

#define GREY_WORKGROUPS          1024 /* workgroups that keep a large card busy */
#define GREY_WORKGROUPS_SOFTWARE 4
#define GREY_MOST_SPLITS         16
#define GREY_LEAST_PIXELS        4 /* least pixels per invocation where samples are few */
/* most pixels per invocation, so that sums stay exact enough */
#define GREY_MOST_PIXELS 1024

gboolean
dyno_prepare_is_mapped (const DynoPrepare *a)
{
  return a->crop > 0 || a->rotate > 0 || a->shift_x > 0 || a->shift_y > 0;
}

static gboolean
is_recoloured (const DynoPrepare *a)
{
  return a->brightness > 0 || a->contrast > 0 || a->saturation > 0 || a->hue > 0;
}

static gboolean
is_erased (const DynoPrepare *a)
{
  return a->erase > 0 || a->time_mask > 0;
}

/* The macros and constants of the kernels that read pixels. */
static void
fill_spec (DynoKernelSpec *spec, const DynoPrepare *a, const DynoTensor *raw, const DynoTensor *x,
           guint32 splits)
{
  spec->push_bytes = sizeof (DynoPreparePush);
  if (raw)
    dyno_kernel_spec_macro (spec, raw->dtype == DYNO_DTYPE_U8 ? "RAW_U8=1" : "RAW_F32=1");
  if (dyno_prepare_is_mapped (a))
    dyno_kernel_spec_macro (spec, "MAP=1");
  if (a->crop > 0 || a->rotate > 0)
    dyno_kernel_spec_macro (spec, "BILINEAR=1");
  dyno_kernel_spec_set (spec, DYNO_PREPARE_H, x->h);
  dyno_kernel_spec_set (spec, DYNO_PREPARE_W, x->w);
  dyno_kernel_spec_set (spec, DYNO_PREPARE_C, x->c);
  dyno_kernel_spec_set_float (spec, DYNO_PREPARE_FLIP, a->flip);
  dyno_kernel_spec_set (spec, DYNO_PREPARE_PAD, a->pad);
  dyno_kernel_spec_set (spec, DYNO_PREPARE_SPLITS, splits);
}

void
dyno_prepare_lower_draw (DynoLowering *lowering, DynoNode *node, const DynoPrepare *a,
                         DynoTensor *changes)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *seeds = node->inputs[1], *x = node->outputs[0];
  DynoKernelSpec spec = { .shader = "prepare/prepare_draw.comp",
                          .push_bytes = sizeof (DynoPreparePush) };
  spec.local_size[0] = MIN (64, dyno_elementwise_local (info));
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_DRAW_COUNT, x->n);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_DRAW_H, x->h);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_DRAW_W, x->w);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_CROP, a->crop);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_CROP_RATIO, a->crop_ratio);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_DRAW_SHIFT_X, a->shift_x);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_DRAW_SHIFT_Y, a->shift_y);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_ROTATE, a->rotate);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_FLIP, a->flip);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_FLIP_VERTICAL, a->flip_vertical);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_BRIGHTNESS, a->brightness);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_CONTRAST, a->contrast);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_SATURATION, a->saturation);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_HUE, a->hue);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_ERASE, a->erase);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_DRAW_TIME_MASK, a->time_mask);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "draw", &spec,
                              dyno_elementwise_groups (info, x->n, spec.local_size[0]), 1, 1);
  dispatch->bytes = changes->size_bytes + seeds->size_bytes;
  DYNO_BIND (dispatch, DynoPreparePush, seeds, seeds, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPreparePush, changes, changes, DYNO_ACCESS_WRITE);
}

/* The number of partial sums of grey values per sample. */
static guint32
count_splits (const DynoDeviceInfo *info, const DynoTensor *x, guint32 local)
{
  guint32 wanted = dyno_info_is_software (info) ? GREY_WORKGROUPS_SOFTWARE
                                                : dyno_device_info_scale (info, GREY_WORKGROUPS);
  guint64 pixels = (guint64) x->h * x->w, most = pixels / ((guint64) local * GREY_LEAST_PIXELS);
  guint64 least = (pixels - 1) / ((guint64) local * GREY_MOST_PIXELS) + 1;
  return (guint32) MAX (least, CLAMP (wanted / x->n, 1, CLAMP (most, 1, GREY_MOST_SPLITS)));
}

static void
lower_grey (DynoLowering *lowering, DynoNode *node, const DynoKernelSpec *with, DynoTensor *changes,
            DynoTensor *greys)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *raw = node->inputs[0], *x = node->outputs[0];
  DynoKernelSpec spec = *with;
  spec.shader = "prepare/prepare_grey.comp";
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_COUNT, x->n);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, "grey", &spec,
      (guint32) MIN (greys->size_bytes / sizeof (float), info->max_groups_x), 1, 1);
  dispatch->flops = 8 * (guint64) x->n * x->h * x->w;
  dispatch->bytes = raw->size_bytes + greys->size_bytes;
  DYNO_BIND (dispatch, DynoPreparePush, raw, raw, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPreparePush, changes, changes, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPreparePush, greys, greys, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoPreparePush, step_input,
             dyno_graph_step_input (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
}

static void
prepare_lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoPrepare *a = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *raw = node->inputs[0], *seeds = node->inputs[1], *x = node->outputs[0];
  DynoTensor *changes = NULL, *greys = NULL;
  guint32 count = dyno_elementwise_count (lowering, x), local = dyno_elementwise_local (info);
  guint32 splits = a->contrast > 0 ? count_splits (info, x, local) : 0;
  DynoKernelSpec spec = { .shader = "prepare/prepare_apply.comp", .local_size = { local } };
  fill_spec (&spec, a, raw, x, splits);
  if (dyno_prepare_is_mapped (a) || is_recoloured (a) || is_erased (a))
    {
      changes =
          dyno_lowering_workspace (lowering, "changes", x->n * sizeof (struct DynoPrepareChange));
      dyno_prepare_lower_draw (lowering, node, a, changes);
    }
  if (splits > 0)
    {
      greys = dyno_lowering_workspace (lowering, "greys", (guint64) x->n * splits * sizeof (float));
      lower_grey (lowering, node, &spec, changes, greys);
    }
  dyno_elementwise_type (&spec, x->dtype);
  if (!dyno_prepare_is_mapped (a) && (a->flip > 0 || a->flip_vertical > 0))
    dyno_kernel_spec_macro (&spec, "FLIPS=1");
  if (is_recoloured (a))
    dyno_kernel_spec_macro (&spec, "COLOUR=1");
  if (a->noise > 0)
    dyno_kernel_spec_macro (&spec, "NOISED=1");
  if (is_erased (a))
    dyno_kernel_spec_macro (&spec, "ERASE=1");
  if (a->mix)
    dyno_kernel_spec_macro (&spec, "MIX=1");
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_CVECS, x->cp / dyno_dtype_lanes (x->dtype));
  for (guint i = 0; i < 4; i++)
    {
      dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_FACTOR0 + i, a->factor[i]);
      dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_OFFSET0 + i, a->offset[i]);
    }
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_FLIP_VERTICAL, a->flip_vertical);
  dyno_kernel_spec_set (&spec, DYNO_PREPARE_SATURATE, a->saturation > 0 || a->hue > 0);
  dyno_kernel_spec_set_float (&spec, DYNO_PREPARE_NOISE, a->noise);

  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, "apply", &spec, dyno_elementwise_groups (info, count, local), 1, 1);
  dispatch->flops = 2 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes + (raw ? raw->size_bytes : 0);
  if (raw)
    DYNO_BIND (dispatch, DynoPreparePush, raw, raw, DYNO_ACCESS_READ);
  if (seeds)
    DYNO_BIND (dispatch, DynoPreparePush, seeds, seeds, DYNO_ACCESS_READ);
  if (changes)
    DYNO_BIND (dispatch, DynoPreparePush, changes, changes, DYNO_ACCESS_READ);
  if (greys)
    DYNO_BIND (dispatch, DynoPreparePush, greys, greys, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPreparePush, target, x, DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoPreparePush, step_input,
             dyno_graph_step_input (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
}

static const DynoAttribute prepare_attributes[] = {
  DYNO_ATTRIBUTE (DynoPrepare, factor[0]),  DYNO_ATTRIBUTE (DynoPrepare, factor[1]),
  DYNO_ATTRIBUTE (DynoPrepare, factor[2]),  DYNO_ATTRIBUTE (DynoPrepare, factor[3]),
  DYNO_ATTRIBUTE (DynoPrepare, offset[0]),  DYNO_ATTRIBUTE (DynoPrepare, offset[1]),
  DYNO_ATTRIBUTE (DynoPrepare, offset[2]),  DYNO_ATTRIBUTE (DynoPrepare, offset[3]),
  DYNO_ATTRIBUTE (DynoPrepare, crop),       DYNO_ATTRIBUTE (DynoPrepare, crop_ratio),
  DYNO_ATTRIBUTE (DynoPrepare, shift_x),    DYNO_ATTRIBUTE (DynoPrepare, shift_y),
  DYNO_ATTRIBUTE (DynoPrepare, pad),        DYNO_ATTRIBUTE (DynoPrepare, rotate),
  DYNO_ATTRIBUTE (DynoPrepare, flip),       DYNO_ATTRIBUTE (DynoPrepare, flip_vertical),
  DYNO_ATTRIBUTE (DynoPrepare, brightness), DYNO_ATTRIBUTE (DynoPrepare, contrast),
  DYNO_ATTRIBUTE (DynoPrepare, saturation), DYNO_ATTRIBUTE (DynoPrepare, hue),
  DYNO_ATTRIBUTE (DynoPrepare, noise),      DYNO_ATTRIBUTE (DynoPrepare, erase),
  DYNO_ATTRIBUTE (DynoPrepare, time_mask),  DYNO_ATTRIBUTE (DynoPrepare, mix),
};

static const DynoOpClass prepare_class = { .name = "prepare",
                                           .traits = { .restorable = TRUE },
                                           DYNO_OP_ATTRIBUTES (prepare_attributes),
                                           .lower = prepare_lower };

/* Sets the factor and the summand that the kernel applies, by channel; FALSE: the graph failed. */
static gboolean
fill_scale (DynoGraph *graph, const DynoNormalisation *normalisation, guint32 channels,
            DynoPrepare *attributes)
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

gboolean
dyno_prepare_fill_changes (DynoGraph *graph, const DynoAugmentation *augmentation, guint32 width,
                           guint32 height, guint32 channels, DynoPrepare *attributes)
{
  if (augmentation->contrast > 0 && channels != 1 && channels != 3)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "contrast is defined for images with 1 or 3 channels, not %u", channels);
  else if ((augmentation->saturation > 0 || augmentation->hue > 0) && channels != 1
           && channels != 3)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "saturation and hue are defined for images with 3 channels, not %u", channels);
  else
    {
      gboolean shifts_time = augmentation->time_shift > 0;
      double steps = MIN (augmentation->time_shift, 1) * width;
      attributes->crop = (float) augmentation->crop;
      attributes->crop_ratio = (float) MAX (augmentation->crop_ratio, 1);
      attributes->shift_x = shifts_time ? (guint32) steps : MIN (augmentation->shift, width);
      attributes->shift_y = shifts_time ? 0 : MIN (augmentation->shift, height);
      attributes->pad = shifts_time                             ? DYNO_PREPARE_PAD_WRAP
                        : augmentation->pad == DYNO_PAD_REFLECT ? DYNO_PREPARE_PAD_REFLECT
                                                                : DYNO_PREPARE_PAD_ZERO;
      attributes->rotate = (float) augmentation->rotate;
      attributes->flip = (float) augmentation->flip;
      attributes->flip_vertical = (float) augmentation->flip_vertical;
      attributes->brightness = (float) augmentation->brightness;
      attributes->contrast = (float) augmentation->contrast;
      attributes->saturation = channels == 3 ? (float) augmentation->saturation : 0;
      attributes->hue = channels == 3 ? (float) augmentation->hue : 0;
      attributes->noise = (float) augmentation->noise;
      attributes->erase = (float) augmentation->erase;
      attributes->time_mask = (float) augmentation->time_mask;
      return TRUE;
    }
  return FALSE;
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
  DynoPrepare attributes = { 0 };
  if (graph_params->training && dyno_augmentation_is_on (augmentation) && seeds)
    {
      const DynoMix mix = { augmentation->mixup, augmentation->cutmix, height, width };
      if (!dyno_prepare_fill_changes (graph, augmentation, width, height, channels, &attributes))
        return NULL;
      attributes.mix = dyno_mix_is_on (&mix);
      dyno_graph_set_mix (graph, &mix);
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
