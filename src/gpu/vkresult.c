/* SPDX-License-Identifier: MIT */
/* Conversion of VkResult to GError.  Out of memory, a lost device, a timeout, an invalid shader and
 * missing support have codes of their own; any other result is FAILED. */
#include "vk.h"

const char *
dyno_vk_result_name (VkResult result)
{
#define NAME(code) \
  case code:       \
    return #code;
  switch ((int) result)
    {
      NAME (VK_SUCCESS)
      NAME (VK_NOT_READY)
      NAME (VK_TIMEOUT)
      NAME (VK_INCOMPLETE)
      NAME (VK_ERROR_OUT_OF_HOST_MEMORY)
      NAME (VK_ERROR_OUT_OF_DEVICE_MEMORY)
      NAME (VK_ERROR_INITIALIZATION_FAILED)
      NAME (VK_ERROR_DEVICE_LOST)
      NAME (VK_ERROR_MEMORY_MAP_FAILED)
      NAME (VK_ERROR_LAYER_NOT_PRESENT)
      NAME (VK_ERROR_EXTENSION_NOT_PRESENT)
      NAME (VK_ERROR_FEATURE_NOT_PRESENT)
      NAME (VK_ERROR_INCOMPATIBLE_DRIVER)
      NAME (VK_ERROR_TOO_MANY_OBJECTS)
      NAME (VK_ERROR_FRAGMENTED_POOL)
      NAME (VK_ERROR_UNKNOWN)
      NAME (VK_ERROR_OUT_OF_POOL_MEMORY)
      NAME (VK_ERROR_FRAGMENTATION)
      NAME (VK_ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS)
      NAME (VK_ERROR_INVALID_SHADER_NV)
      NAME (VK_PIPELINE_COMPILE_REQUIRED)
    default:
      return "unknown VkResult";
    }
#undef NAME
}

DynoGpuError
dyno_vk_result_code (VkResult result)
{
  switch ((int) result)
    {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_FRAGMENTATION:
    case VK_ERROR_TOO_MANY_OBJECTS:
      return DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY;
    case VK_ERROR_DEVICE_LOST:
      return DYNO_GPU_ERROR_DEVICE_LOST;
    case VK_TIMEOUT:
      return DYNO_GPU_ERROR_TIMEOUT;
    case VK_ERROR_INVALID_SHADER_NV:
      return DYNO_GPU_ERROR_SHADER;
    case VK_ERROR_FEATURE_NOT_PRESENT:
    case VK_ERROR_EXTENSION_NOT_PRESENT:
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return DYNO_GPU_ERROR_UNSUPPORTED;
    default:
      return DYNO_GPU_ERROR_FAILED;
    }
}

static const char *
advice (VkResult result)
{
  switch ((int) result)
    {
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "; use a smaller batch or close other programs that use the device";
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "; close other programs, or raise the memory limit of the process (ulimit -v)";
    case VK_ERROR_DEVICE_LOST:
      return "; the driver reset the device: see the kernel log, then start again from the last "
             "checkpoint";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "; install a Vulkan driver for this device";
    default:
      return "";
    }
}

void
dyno_vk_set_error (GError **error, VkResult result, const char *call, const char *object)
{
  g_set_error (error, DYNO_GPU_ERROR, (int) dyno_vk_result_code (result), "%s: %s (%d)%s%s%s", call,
               dyno_vk_result_name (result), (int) result, object ? ": " : "", object ? object : "",
               advice (result));
}
