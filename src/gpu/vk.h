/* SPDX-License-Identifier: MIT */
/* Vulkan without its library: the headers give types only, functions are looked up at run time.
 *
 * Every function that the layer calls is in exactly one of the lists below: DynoVkGlobal,
 * DynoVkInstance and DynoVkDevice are made from these, with member "Name" for "vkName".  Required
 * functions are never NULL after a successful load; functions of the OPTIONAL lists may be NULL.
 * Private to the gpu layer; no other layer includes it. */
#pragma once
#include "gpu-error.h"
#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan_core.h>

/* Headers before 1.3.255 do not know the KHR matrix extension; the values are from the Vulkan
 * registry. */
#ifndef VK_KHR_cooperative_matrix
#define VK_KHR_cooperative_matrix                                 1
#define VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME                  "VK_KHR_cooperative_matrix"
#define VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FEATURES_KHR_VALUE   1000506000
#define VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR_VALUE 1000506001
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR \
  ((VkStructureType) VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_FEATURES_KHR_VALUE)
#define VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR \
  ((VkStructureType) VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR_VALUE)
#define VK_COMPONENT_TYPE_FLOAT16_KHR ((VkComponentTypeKHR) 0)
#define VK_COMPONENT_TYPE_FLOAT32_KHR ((VkComponentTypeKHR) 1)
#define VK_SCOPE_SUBGROUP_KHR         ((VkScopeKHR) 3)

typedef int VkComponentTypeKHR;
typedef int VkScopeKHR;

typedef struct {
  VkStructureType sType;
  void *pNext;
  VkBool32 cooperativeMatrix;
  VkBool32 cooperativeMatrixRobustBufferAccess;
} VkPhysicalDeviceCooperativeMatrixFeaturesKHR;

typedef struct {
  VkStructureType sType;
  void *pNext;
  uint32_t MSize;
  uint32_t NSize;
  uint32_t KSize;
  VkComponentTypeKHR AType;
  VkComponentTypeKHR BType;
  VkComponentTypeKHR CType;
  VkComponentTypeKHR ResultType;
  VkBool32 saturatingAccumulation;
  VkScopeKHR scope;
} VkCooperativeMatrixPropertiesKHR;

typedef VkResult (VKAPI_PTR *PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR) (
    VkPhysicalDevice, uint32_t *, VkCooperativeMatrixPropertiesKHR *);
#endif

G_BEGIN_DECLS

#define DYNO_VK_GLOBAL(X)              \
  X (CreateInstance)                   \
  X (EnumerateInstanceVersion)         \
  X (EnumerateInstanceLayerProperties) \
  X (EnumerateInstanceExtensionProperties)

#define DYNO_VK_INSTANCE(X)                     \
  X (DestroyInstance)                           \
  X (EnumeratePhysicalDevices)                  \
  X (GetPhysicalDeviceProperties2)              \
  X (GetPhysicalDeviceFeatures2)                \
  X (GetPhysicalDeviceMemoryProperties2)        \
  X (GetPhysicalDeviceQueueFamilyProperties)    \
  X (GetPhysicalDeviceExternalBufferProperties) \
  X (EnumerateDeviceExtensionProperties)        \
  X (CreateDevice)                              \
  X (GetDeviceProcAddr)

#define DYNO_VK_INSTANCE_OPTIONAL(X)                  \
  X (CreateDebugUtilsMessengerEXT)                    \
  X (DestroyDebugUtilsMessengerEXT)                   \
  X (GetPhysicalDeviceCooperativeMatrixPropertiesKHR) \
  X (GetPhysicalDeviceCooperativeMatrixPropertiesNV)

#define DYNO_VK_DEVICE(X)         \
  X (DestroyDevice)               \
  X (DeviceWaitIdle)              \
  X (GetDeviceQueue)              \
  X (QueueSubmit)                 \
  X (CreateSemaphore)             \
  X (DestroySemaphore)            \
  X (GetSemaphoreCounterValue)    \
  X (WaitSemaphores)              \
  X (CreateBuffer)                \
  X (DestroyBuffer)               \
  X (GetBufferMemoryRequirements) \
  X (GetBufferDeviceAddress)      \
  X (AllocateMemory)              \
  X (FreeMemory)                  \
  X (BindBufferMemory)            \
  X (MapMemory)                   \
  X (CreateShaderModule)          \
  X (DestroyShaderModule)         \
  X (CreatePipelineLayout)        \
  X (DestroyPipelineLayout)       \
  X (CreateComputePipelines)      \
  X (DestroyPipeline)             \
  X (CreatePipelineCache)         \
  X (DestroyPipelineCache)        \
  X (GetPipelineCacheData)        \
  X (CreateCommandPool)           \
  X (DestroyCommandPool)          \
  X (AllocateCommandBuffers)      \
  X (BeginCommandBuffer)          \
  X (EndCommandBuffer)            \
  X (CmdBindPipeline)             \
  X (CmdPushConstants)            \
  X (CmdDispatch)                 \
  X (CmdCopyBuffer)               \
  X (CmdFillBuffer)               \
  X (CmdPipelineBarrier)          \
  X (CreateQueryPool)             \
  X (DestroyQueryPool)            \
  X (ResetQueryPool)              \
  X (CmdResetQueryPool)           \
  X (CmdWriteTimestamp)           \
  X (GetQueryPoolResults)

#define DYNO_VK_DEVICE_OPTIONAL(X)       \
  X (GetPipelineExecutablePropertiesKHR) \
  X (GetPipelineExecutableStatisticsKHR) \
  X (GetMemoryFdKHR)

#define DYNO_VK_MEMBER(name) PFN_vk##name name;

typedef struct {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
  DYNO_VK_GLOBAL (DYNO_VK_MEMBER)
} DynoVkGlobal;

typedef struct {
  DYNO_VK_INSTANCE (DYNO_VK_MEMBER)
  DYNO_VK_INSTANCE_OPTIONAL (DYNO_VK_MEMBER)
} DynoVkInstance;

typedef struct {
  DYNO_VK_DEVICE (DYNO_VK_MEMBER)
  DYNO_VK_DEVICE_OPTIONAL (DYNO_VK_MEMBER)
} DynoVkDevice;

/* The loader, opened once and kept until the process ends.  Errors: NO_LOADER. */
const DynoVkGlobal *dyno_vk_load (GError **error);

/* Fill a table.  Errors: UNSUPPORTED, whose message names the missing function. */
gboolean dyno_vk_load_instance (DynoVkInstance *table, const DynoVkGlobal *global,
                                VkInstance instance, GError **error);
gboolean dyno_vk_load_device (DynoVkDevice *table, const DynoVkInstance *instance, VkDevice device,
                              GError **error);

/* "VK_ERROR_DEVICE_LOST"; and an error from a result: "call: code: object".  object may be NULL. */
const char *dyno_vk_result_name (VkResult result);
DynoGpuError dyno_vk_result_code (VkResult result);
void dyno_vk_set_error (GError **error, VkResult result, const char *call, const char *object);

G_END_DECLS
