/* SPDX-License-Identifier: MIT */
/* Code shared by ops that go over elements. */
#include "elementwise.h"
#include "elementwise-push.h"

#define LOCAL           256
#define GROUPS          4096
#define GROUPS_SOFTWARE 64

/* for sums over pixels: invocations of a workgroup, workgroups that keep a large card busy, least
 * pixels per invocation */
#define SUM_INVOCATIONS          256
#define SUM_INVOCATIONS_SOFTWARE 64
#define SUM_WORKGROUPS           1024
#define SUM_WORKGROUPS_SOFTWARE  4
#define SUM_LEAST_PIXELS         4

guint32
dyno_elementwise_local (const DynoDeviceInfo *info)
{
  return MIN (LOCAL, info->max_invocations);
}

guint32
dyno_elementwise_groups (const DynoDeviceInfo *info, guint64 count, guint32 local)
{
  guint32 limit = dyno_info_is_software (info) ? GROUPS_SOFTWARE : GROUPS;
  guint64 groups = (count + local - 1) / local;
  return (guint32) CLAMP (groups, 1, MIN (limit, info->max_groups_x));
}

guint32
dyno_elementwise_count_of (DynoLowering *lowering, const DynoTensor *tensor, guint32 bytes)
{
  guint64 count = tensor->size_bytes / bytes;
  if (count > G_MAXINT32)
    dyno_graph_fail (dyno_lowering_get_graph (lowering), DYNO_NN_ERROR_UNSUPPORTED,
                     "%s takes %" G_GUINT64_FORMAT
                     " MiB, more than a kernel reaches; lower the batch",
                     tensor->name, tensor->size_bytes >> 20);
  return (guint32) MIN (count, G_MAXINT32);
}

guint32
dyno_elementwise_count (DynoLowering *lowering, const DynoTensor *tensor)
{
  return dyno_elementwise_count_of (lowering, tensor, 16);
}

void
dyno_elementwise_type (DynoKernelSpec *spec, DynoDtype dtype)
{
  if (dtype == DYNO_DTYPE_F16)
    dyno_kernel_spec_macro (spec, "HALF=1");
}

void
dyno_elementwise_words (DynoKernelSpec *spec, const DynoDeviceInfo *info)
{
  if (dyno_info_is_software (info))
    dyno_kernel_spec_macro (spec, "WORDS64=1");
}

void
dyno_elementwise_lower (DynoLowering *lowering, DynoNode *node, const char *pass,
                        const char *shader, DynoTensor *a, DynoTensor *b, DynoTensor *target,
                        gboolean accumulate, const guint32 *constants, guint n_constants,
                        gboolean step)
{
  dyno_elementwise_lower_spec (lowering, node, pass, &(DynoKernelSpec){ .shader = shader }, a, b,
                               target, accumulate, constants, n_constants, step);
}

void
dyno_elementwise_lower_spec (DynoLowering *lowering, DynoNode *node, const char *pass,
                             const DynoKernelSpec *base, DynoTensor *a, DynoTensor *b,
                             DynoTensor *target, gboolean accumulate, const guint32 *constants,
                             guint n_constants, gboolean step)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 count = dyno_elementwise_count (lowering, target);
  DynoKernelSpec spec = *base;
  spec.push_bytes = sizeof (DynoElementwisePush);
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, target->dtype);
  dyno_elementwise_words (&spec, info);
  if (accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  dyno_kernel_spec_set (&spec, DYNO_ELEMENTWISE_COUNT, count);
  for (guint i = 0; i < n_constants; i++)
    dyno_kernel_spec_set (&spec, DYNO_ELEMENTWISE_COUNT + 1 + i, constants[i]);

  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->flops = dyno_tensor_elements (target);
  dispatch->bytes =
      target->size_bytes * (accumulate ? 2 : 1) + (a ? a->size_bytes : 0) + (b ? b->size_bytes : 0);
  if (a)
    DYNO_BIND (dispatch, DynoElementwisePush, a, a, DYNO_ACCESS_READ);
  if (b)
    DYNO_BIND (dispatch, DynoElementwisePush, b, b, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoElementwisePush, target, target, dyno_access_sum (accumulate));
  if (step)
    DYNO_BIND (dispatch, DynoElementwisePush, step_input,
               dyno_graph_step_input (dyno_lowering_get_graph (lowering)), DYNO_ACCESS_READ);
}

DynoPixelSums
dyno_elementwise_pixel_sums (const DynoDeviceInfo *info, const DynoTensor *x)
{
  gboolean software = dyno_info_is_software (info);
  guint32 cvecs = x->cp / dyno_dtype_lanes (x->dtype), pixels = x->h * x->w;
  guint32 invocations =
      MIN (software ? SUM_INVOCATIONS_SOFTWARE : SUM_INVOCATIONS, info->max_invocations);
  guint32 wanted =
      software ? SUM_WORKGROUPS_SOFTWARE : dyno_device_info_scale (info, SUM_WORKGROUPS);
  DynoPixelSums sums = { .width = MIN (cvecs, 32) };
  sums.lanes = CLAMP (pixels / SUM_LEAST_PIXELS, 1, invocations / sums.width);
  sums.blocks = (cvecs + sums.width - 1) / sums.width;
  guint64 groups = (guint64) x->n * sums.blocks;
  guint64 splits = CLAMP (wanted / groups, 1, MAX (1, pixels / (sums.lanes * SUM_LEAST_PIXELS)));
  sums.split = (guint32) ((pixels + splits - 1) / splits);
  sums.splits = (pixels + sums.split - 1) / sums.split;
  return sums;
}
