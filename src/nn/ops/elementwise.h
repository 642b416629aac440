/* SPDX-License-Identifier: MIT */
/* Code shared by ops that go over elements: the width of an access, the number of workgroups, and
 * the lowering of a dispatch over all elements.  Kernels read and write 16 bytes at a time
 * (shaders/lib/lanes.glsl). */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

/* Channels in 16 bytes: 8 of F16, 4 of F32. */
static inline guint32
dyno_dtype_lanes (DynoDtype dtype)
{
  return 16 / dyno_dtype_size (dtype);
}

static inline guint64
dyno_tensor_elements (const DynoTensor *tensor)
{
  return (guint64) tensor->n * tensor->h * tensor->w * tensor->c;
}

static inline gboolean
dyno_info_is_software (const DynoDeviceInfo *info)
{
  return info->type == DYNO_DEVICE_TYPE_SOFTWARE;
}

/* Invocations of a workgroup without shared memory: 256 where the device has them. */
guint32 dyno_elementwise_local (const DynoDeviceInfo *info);

/* Workgroups for count pieces of work; above a limit (which fills any device) a loop in the kernel
 * does the rest. */
guint32 dyno_elementwise_groups (const DynoDeviceInfo *info, guint64 count, guint32 local);

/* Accesses of 16 bytes in a tensor, or of `bytes`.  Kernels count accesses in 31 bits: a larger
 * tensor (32 GiB) fails the graph (UNSUPPORTED). */
guint32 dyno_elementwise_count (DynoLowering *lowering, const DynoTensor *tensor);
guint32 dyno_elementwise_count_of (DynoLowering *lowering, const DynoTensor *tensor, guint32 bytes);

/* Sets the macro HALF=1 for F16. */
void dyno_elementwise_type (DynoKernelSpec *spec, DynoDtype dtype);

/* Sets the macro WORDS64=1 (lanes.glsl) where the device is implemented on the CPU. */
void dyno_elementwise_words (DynoKernelSpec *spec, const DynoDeviceInfo *info);

/* Sets the macros of lib/activation.glsl; NONE: no macro. */
void dyno_elementwise_activation (DynoKernelSpec *spec, DynoActivation activation,
                                  double parameter);
/* TRUE: f (0) = 0 and f' (0) is finite, so that pad channels of values and gradients stay zero. */
gboolean dyno_activation_keeps_zero (DynoActivation activation);

/* Appends one dispatch over all of target; a and b may be NULL, accumulate sets ACCUMULATE=1.
 * Constant 0 is the count of accesses; the given constants follow it.  step: the kernel reads the
 * step's input. */
void dyno_elementwise_lower (DynoLowering *lowering, DynoNode *node, const char *pass,
                             const char *shader, DynoTensor *a, DynoTensor *b, DynoTensor *target,
                             gboolean accumulate, const guint32 *constants, guint n_constants,
                             gboolean step);

/* The same with a spec that names the shader and has its macros. */
void dyno_elementwise_lower_spec (DynoLowering *lowering, DynoNode *node, const char *pass,
                                  const DynoKernelSpec *base, DynoTensor *a, DynoTensor *b,
                                  DynoTensor *target, gboolean accumulate, const guint32 *constants,
                                  guint n_constants, gboolean step);

/* The layout of kernels that add up the pixels of each sample (N, H, W, C): a workgroup has `width`
 * x `lanes` invocations, one for each of `width` accesses of a pixel; `blocks` workgroups cover all
 * channels; and, where samples are few, the pixels of each are cut into `splits` parts of `split`
 * pixels, whose sums are then added up. */
typedef struct {
  guint32 width, lanes, blocks, split, splits;
} DynoPixelSums;

DynoPixelSums dyno_elementwise_pixel_sums (const DynoDeviceInfo *info, const DynoTensor *x);

G_END_DECLS
