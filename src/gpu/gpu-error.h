/* SPDX-License-Identifier: MIT */
/* Errors of the gpu layer.  The message of a failed Vulkan call names the call, the code and the
 * object. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_GPU_ERROR (dyno_gpu_error_quark ())
GQuark dyno_gpu_error_quark (void);

typedef enum {
  DYNO_GPU_ERROR_NO_LOADER,            /* libvulkan.so.1 is not installed */
  DYNO_GPU_ERROR_NO_DEVICE,            /* no driver, no compute queue, or no device of that index */
  DYNO_GPU_ERROR_UNSUPPORTED,          /* the device lacks a feature that Dyno requires */
  DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY, /* the driver refused an allocation */
  DYNO_GPU_ERROR_OVER_BUDGET,          /* the allocation would exceed the VRAM budget */
  DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
  DYNO_GPU_ERROR_DEVICE_LOST,
  DYNO_GPU_ERROR_TIMEOUT, /* a wait exceeded its limit: the device hangs or is far too slow */
  DYNO_GPU_ERROR_SHADER,  /* a shader does not compile, or its pipeline cannot be made */
  DYNO_GPU_ERROR_FAILED,  /* any other VkResult */
} DynoGpuError;

G_END_DECLS
