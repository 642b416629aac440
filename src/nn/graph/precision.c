/* SPDX-License-Identifier: MIT */
/* The precisions that have kernels.  A new precision needs a row here, its dtype, and the kernels'
 * macros for that dtype; a device can use it where dyno_precision_unusable returns NULL. */
#include "lowering.h"

static const DynoPrecision precisions[] = {
  { .name = "fp32" }, /* all other members are zero: F32, no loss scaling */
  { .name = "amp",
    .storage = DYNO_DTYPE_F16,
    .compute = DYNO_DTYPE_F16,
    .accumulate = DYNO_DTYPE_F32,
    .loss_scaling = TRUE },
};

const char *
dyno_dtype_unusable (DynoDtype dtype, const DynoDeviceInfo *info)
{
  return dtype == DYNO_DTYPE_F16 && !info->fp16 ? "the device has no fp16" : NULL;
}

const DynoPrecision *
dyno_precision_list (guint *n)
{
  *n = G_N_ELEMENTS (precisions);
  return precisions;
}

DynoPrecision
dyno_precision_of_amp (gboolean amp)
{
  return precisions[amp ? 1 : 0];
}

const char *
dyno_precision_unusable (const DynoPrecision *precision, const DynoDeviceInfo *info)
{
  gboolean half = precision->storage == DYNO_DTYPE_F16 || precision->compute == DYNO_DTYPE_F16;
  return half && !info->fp16 ? "no fp16; train without AMP" : NULL;
}
