/* SPDX-License-Identifier: MIT */
/* Opening a device, and its life.  Every optional feature that kernels may use is enabled where the
 * device has it; find_lacks of probe.c has the features that kernels require. */
#include "device-private.h"
#include "cores.h"
#include "hash.h"
#include "intl.h"
#include "room.h"
#include <string.h>
#include <sys/resource.h>

#define ROOM_BYTES         (G_GUINT64_CONSTANT (192) << 20)
#define MAX_DRIVER_THREADS 32
#define MAX_STACK_BYTES    (G_GUINT64_CONSTANT (8) << 20)

/* The time that a lost device gets to end its work. */
#define LOST_WAIT_NS (G_GUINT64_CONSTANT (10) * 1000000000)

DynoQueueState *
dyno_device_get_queue (DynoDevice *device, DynoQueue queue)
{
  return &device->queues[device->n_queues == DYNO_QUEUE_N ? queue : DYNO_QUEUE_COMPUTE];
}

void
dyno_device_set_error (DynoDevice *device, GError **error, VkResult result, const char *call,
                       const char *object)
{
  if (result == VK_ERROR_DEVICE_LOST)
    g_atomic_int_set (&device->lost, 1);
  dyno_vk_set_error (error, result, call, object ? object : device->info.name);
}

gboolean
dyno_device_check_alive (DynoDevice *device, GError **error)
{
  if (g_atomic_int_get (&device->hangs))
    g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT,
                 _ ("%s hangs and was given up: see the kernel log, then start again from the last "
                    "checkpoint"),
                 device->info.name);
  else if (g_atomic_int_get (&device->lost))
    dyno_vk_set_error (error, VK_ERROR_DEVICE_LOST, "the device was lost in an earlier call",
                       device->info.name);
  else
    return TRUE;
  return FALSE;
}

static DynoProbe *
choose (GPtrArray *probes, int index, GError **error)
{
  DynoProbe *probe;

  if (index >= (int) probes->len)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                   _ ("No Vulkan device %d: there are %u, from 0 to %u"), index, probes->len,
                   probes->len - 1);
      return NULL;
    }
  /* Take the best usable device; when none is usable, report the problem of the first one. */
  for (guint i = 0; index < 0 && i < probes->len; i++)
    if (!((DynoProbe *) probes->pdata[i])->lacks)
      index = (int) i;
  probe = probes->pdata[MAX (index, 0)];
  if (probe->lacks)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
                   _ ("Device %u (%s) cannot be used: it lacks %s; a later driver may have it"),
                   probe->info.index, probe->info.name, probe->lacks);
      return NULL;
    }
  return probe;
}

static void
apply_pretence (DynoDeviceInfo *info, const DynoDeviceParams *params)
{
  if (params->no_fp16)
    info->fp16 = FALSE;
  if (params->no_matrix_khr && info->matrix == DYNO_MATRIX_KHR)
    info->matrix = info->matrix_nv_device ? DYNO_MATRIX_NV : DYNO_MATRIX_NONE;
  if (params->no_matrix || params->no_fp16)
    info->matrix = DYNO_MATRIX_NONE;
  if (params->shared_bytes > 0)
    info->shared_bytes = MIN (info->shared_bytes, params->shared_bytes);
  if (params->max_buffer_bytes > 0)
    info->max_buffer_bytes = MIN (info->max_buffer_bytes, params->max_buffer_bytes);
}

static char *
make_key (const DynoProbe *probe)
{
  const DynoDeviceInfo *info = &probe->info;
  GString *key = g_string_new (NULL);

  g_string_printf (key, "%s | %s | %04x:%04x | driver %08x | api %08x | ", info->name, info->driver,
                   info->vendor_id, info->device_id, info->driver_version, info->api_version);
  for (guint i = 0; i < VK_UUID_SIZE; i++)
    g_string_append_printf (key, "%02x", probe->cache_uuid[i]);
  return g_string_free (key, FALSE);
}

static void
add_feature (VkDeviceCreateInfo *info, void *feature)
{
  VkBaseOutStructure *head = feature;

  head->pNext = (VkBaseOutStructure *) info->pNext;
  info->pNext = feature;
}

/* The features that kernels use and the device has. */
static VkPhysicalDeviceFeatures
wanted_features (const DynoProbe *probe)
{
  return (VkPhysicalDeviceFeatures){ .shaderInt64 = probe->features.shaderInt64,
                                     .shaderInt16 = probe->features.shaderInt16 };
}

static VkPhysicalDeviceVulkan11Features
wanted_features11 (const DynoProbe *probe)
{
  return (VkPhysicalDeviceVulkan11Features){
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
    .storageBuffer16BitAccess = probe->features11.storageBuffer16BitAccess,
    .uniformAndStorageBuffer16BitAccess = probe->features11.uniformAndStorageBuffer16BitAccess,
    .storagePushConstant16 = probe->features11.storagePushConstant16,
  };
}

static VkPhysicalDeviceVulkan12Features
wanted_features12 (const DynoProbe *probe)
{
  const VkPhysicalDeviceVulkan12Features *has = &probe->features12;

  return (VkPhysicalDeviceVulkan12Features){
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
    .storageBuffer8BitAccess = has->storageBuffer8BitAccess,
    .uniformAndStorageBuffer8BitAccess = has->uniformAndStorageBuffer8BitAccess,
    .storagePushConstant8 = has->storagePushConstant8,
    .shaderFloat16 = has->shaderFloat16,
    .shaderInt8 = has->shaderInt8,
    .scalarBlockLayout = has->scalarBlockLayout,
    .shaderSubgroupExtendedTypes = has->shaderSubgroupExtendedTypes,
    .hostQueryReset = has->hostQueryReset,
    .timelineSemaphore = has->timelineSemaphore,
    .bufferDeviceAddress = has->bufferDeviceAddress,
    .vulkanMemoryModel = has->vulkanMemoryModel,
    .vulkanMemoryModelDeviceScope = has->vulkanMemoryModelDeviceScope,
  };
}

/* A driver that computes on the CPU makes threads with the device, and works badly without them. */
static gboolean
check_room (const DynoProbe *probe, GError **error)
{
  struct rlimit stack = { 0 };
  guint64 bytes = ROOM_BYTES;

  if (probe->info.type != DYNO_DEVICE_TYPE_SOFTWARE)
    return TRUE;
  if (getrlimit (RLIMIT_STACK, &stack) != 0 || stack.rlim_cur > MAX_STACK_BYTES)
    stack.rlim_cur = MAX_STACK_BYTES;
  bytes += MIN (dyno_cores_count (), MAX_DRIVER_THREADS) * stack.rlim_cur;
  if (dyno_room_has (bytes))
    return TRUE;
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
               _ ("%s is not opened: the process can get less than %d MB of memory; raise its "
                  "limit (ulimit -v) or close other programs"),
               probe->info.name, (int) (bytes >> 20));
  return FALSE;
}

static gboolean
create_device (DynoDevice *device, GError **error)
{
  const DynoProbe *probe = device->probe;
  gboolean v13 = probe->info.api_version >= VK_API_VERSION_1_3;
  static const float priority = 1.0f;
  const char *extensions[9];
  VkDeviceQueueCreateInfo queues[DYNO_QUEUE_N] = {
    { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = probe->compute_family },
    { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = probe->transfer_family },
  };
  VkPhysicalDeviceFeatures features = wanted_features (probe);
  VkPhysicalDeviceVulkan11Features features11 = wanted_features11 (probe);
  VkPhysicalDeviceVulkan12Features features12 = wanted_features12 (probe);
  VkPhysicalDeviceSubgroupSizeControlFeatures control = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
    .subgroupSizeControl = probe->subgroup_control,
    .computeFullSubgroups = probe->full_subgroups
  };
  VkPhysicalDeviceMaintenance4Features maintenance4 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, .maintenance4 = VK_TRUE
  };
  VkPhysicalDeviceSynchronization2Features sync2 = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES,
    .synchronization2 = VK_TRUE
  };
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR khr = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
    .cooperativeMatrix = VK_TRUE
  };
  VkPhysicalDeviceCooperativeMatrixFeaturesNV nv = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_NV,
    .cooperativeMatrix = VK_TRUE
  };
  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR,
    .pipelineExecutableInfo = VK_TRUE
  };
  VkDeviceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                              .queueCreateInfoCount = device->n_queues,
                              .pQueueCreateInfos = queues,
                              .ppEnabledExtensionNames = extensions,
                              .pEnabledFeatures = &features };
  VkResult result;

  for (guint i = 0; i < DYNO_QUEUE_N; i++)
    {
      queues[i].queueCount = 1;
      queues[i].pQueuePriorities = &priority;
    }
#define ENABLE(has, feature, extension)                         \
  if (has)                                                      \
    {                                                           \
      add_feature (&info, &(feature));                          \
      if ((extension))                                          \
        extensions[info.enabledExtensionCount++] = (extension); \
    }
  add_feature (&info, &features11);
  add_feature (&info, &features12);
  ENABLE (probe->subgroup_control || probe->full_subgroups, control,
          v13 ? NULL : VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)
  ENABLE (probe->maintenance4, maintenance4, v13 ? NULL : VK_KHR_MAINTENANCE_4_EXTENSION_NAME)
  ENABLE (probe->synchronization2, sync2, v13 ? NULL : VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME)
  ENABLE (probe->info.matrix_khr_device, khr, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)
  ENABLE (probe->info.matrix_nv_device, nv, VK_NV_COOPERATIVE_MATRIX_EXTENSION_NAME)
  ENABLE (device->statistics, executables, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME)
#undef ENABLE
  if (probe->external_memory)
    extensions[info.enabledExtensionCount++] = VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME;
  if (probe->info.memory_budget)
    extensions[info.enabledExtensionCount++] = VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;

  if (!check_room (device->probe, error))
    return FALSE;
  result = device->instance->vk.CreateDevice (probe->handle, &info, NULL, &device->handle);
  if (result != VK_SUCCESS)
    {
      device->handle = VK_NULL_HANDLE;
      dyno_device_set_error (device, error, result, "vkCreateDevice", NULL);
      return FALSE;
    }
  return dyno_vk_load_device (&device->vk, &device->instance->vk, device->handle, error);
}

static gboolean
create_queues (DynoDevice *device, GError **error)
{
  const guint32 families[DYNO_QUEUE_N] = { device->probe->compute_family,
                                           device->probe->transfer_family };
  VkSemaphoreTypeCreateInfo type = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                     .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE };
  VkSemaphoreCreateInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type };

  for (guint i = 0; i < device->n_queues; i++)
    {
      DynoQueueState *queue = &device->queues[i];
      VkResult result;

      queue->family = families[i];
      device->vk.GetDeviceQueue (device->handle, queue->family, 0, &queue->handle);
      result = device->vk.CreateSemaphore (device->handle, &info, NULL, &queue->timeline);
      if (result != VK_SUCCESS)
        {
          dyno_device_set_error (device, error, result, "vkCreateSemaphore", NULL);
          return FALSE;
        }
    }
  return TRUE;
}

/* Keeps a device that hangs for the rest of the process: its driver may still use all of it. */
static void
leave_behind (DynoDevice *device)
{
  static GMutex lock;
  static GSList *left;

  g_info ("%s hangs: its memory stays allocated until this program ends", device->info.name);
  g_mutex_lock (&lock);
  left = g_slist_prepend (left, device);
  g_mutex_unlock (&lock);
}

/* Waits until no submission runs, or the device is known to hang.  It first waits for timeline
 * values, with a limit, and then calls vkDeviceWaitIdle, which has no limit: drivers may touch a
 * semaphore that a submission waited for shortly after the submission has signalled. */
static void
settle (DynoDevice *device)
{
  if (!g_atomic_int_get (&device->lost) && dyno_device_wait_idle (device, NULL))
    device->vk.DeviceWaitIdle (device->handle);
  if (!g_atomic_int_get (&device->lost))
    return;
  /* By the specification, the work of a lost device ends soon, with or without success. */
  for (guint i = 0; i < device->n_queues; i++)
    {
      uint64_t value = dyno_queue_get_submitted (device, (DynoQueue) i);
      VkSemaphoreWaitInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                   .semaphoreCount = 1,
                                   .pSemaphores = &device->queues[i].timeline,
                                   .pValues = &value };

      if (value > 0
          && device->vk.WaitSemaphores (device->handle, &info, LOST_WAIT_NS) == VK_TIMEOUT)
        g_atomic_int_set (&device->hangs, 1);
    }
  if (!g_atomic_int_get (&device->hangs))
    device->vk.DeviceWaitIdle (device->handle);
  device->over = TRUE;
}

static void
device_free (DynoDevice *device)
{
  if (device->handle != VK_NULL_HANDLE && device->queues[0].timeline != VK_NULL_HANDLE)
    settle (device);
  if (g_atomic_int_get (&device->hangs))
    {
      leave_behind (device);
      return;
    }
  if (device->handle != VK_NULL_HANDLE && device->vk.DestroyDevice)
    {
      dyno_device_collect (device);
      dyno_kernel_table_clear (device);
      for (guint i = 0; i < DYNO_QUEUE_N; i++)
        device->vk.DestroySemaphore (device->handle, device->queues[i].timeline, NULL);
      device->vk.DestroyDevice (device->handle, NULL);
    }
  for (guint i = 0; i < DYNO_QUEUE_N; i++)
    g_mutex_clear (&device->queues[i].lock);
  g_mutex_clear (&device->account_lock);
  g_mutex_clear (&device->deferred_lock);
  g_array_unref (device->deferred);
  dyno_instance_free (device->instance);
  if (device->probe)
    g_free (device->probe->lacks);
  g_free (device->probe);
  g_free (device->key);
  g_free (device);
}

static DynoDevice *
device_new (void)
{
  DynoDevice *device = g_new0 (DynoDevice, 1);

  g_atomic_ref_count_init (&device->references);
  for (guint i = 0; i < DYNO_QUEUE_N; i++)
    g_mutex_init (&device->queues[i].lock);
  g_mutex_init (&device->account_lock);
  g_mutex_init (&device->deferred_lock);
  device->deferred = g_array_new (FALSE, FALSE, sizeof (DynoDeferredFree));
  return device;
}

DynoDevice *
dyno_device_open (const DynoDeviceParams *params, GError **error)
{
  static const DynoDeviceParams defaults = { .index = -1 };
  g_autoptr (DynoDevice) device = device_new ();
  g_autoptr (GPtrArray) probes = NULL;
  VkPhysicalDeviceMemoryProperties2 memory = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2
  };
  DynoProbe *probe;

  if (!params)
    params = &defaults;
  device->instance = dyno_instance_new (params->validation, error);
  if (!device->instance)
    return NULL;
  probes = dyno_probe_all (device->instance, error);
  if (!probes)
    return NULL;
  probe = choose (probes, params->index, error);
  if (!probe)
    return NULL;
  device->probe = g_memdup2 (probe, sizeof *probe);
  device->info = probe->info;
  apply_pretence (&device->info, params);
  device->key = make_key (probe);
  device->budget_bytes = params->budget_bytes;
  device->statistics = params->statistics && probe->statistics;
  device->n_queues = probe->info.transfer_queue ? 2 : 1;
  device->instance->vk.GetPhysicalDeviceMemoryProperties2 (probe->handle, &memory);
  device->memory = memory.memoryProperties;
  if (!create_device (device, error) || !create_queues (device, error)
      || !dyno_kernel_table_init (device, error))
    return NULL;
  g_info ("Opened device %u: %s (%s)", device->info.index, device->info.name, device->info.driver);
  return g_steal_pointer (&device);
}

DynoDevice *
dyno_device_ref (DynoDevice *device)
{
  g_atomic_ref_count_inc (&device->references);
  return device;
}

void
dyno_device_unref (DynoDevice *device)
{
  if (device && g_atomic_ref_count_dec (&device->references))
    device_free (device);
}

const DynoDeviceInfo *
dyno_device_get_info (DynoDevice *device)
{
  return &device->info;
}

const char *
dyno_device_get_key (DynoDevice *device)
{
  return device->key;
}

guint
dyno_device_get_validation_messages (DynoDevice *device)
{
  return (guint) g_atomic_int_get (&device->instance->messages);
}

gboolean
dyno_physical_device_query_usage (DynoInstance *instance, VkPhysicalDevice handle,
                                  DynoMemoryUsage *usage)
{
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT
  };
  VkPhysicalDeviceMemoryProperties2 memory = {
    .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget
  };
  guint64 size, free_bytes;
  int best = -1;

  instance->vk.GetPhysicalDeviceMemoryProperties2 (handle, &memory);
  for (uint32_t i = 0; i < memory.memoryProperties.memoryHeapCount; i++)
    if ((memory.memoryProperties.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
        && (best < 0
            || memory.memoryProperties.memoryHeaps[i].size
                   > memory.memoryProperties.memoryHeaps[best].size))
      best = (int) i;
  if (best < 0)
    return FALSE;
  /* Impossible numbers count as unknown. */
  size = memory.memoryProperties.memoryHeaps[best].size;
  if (budget.heapBudget[best] == 0 || budget.heapUsage[best] > size)
    return FALSE;
  /* The budget is the total that this program may use; the unused part of it is left for any
   * program. */
  free_bytes = budget.heapBudget[best] - MIN (budget.heapUsage[best], budget.heapBudget[best]);
  free_bytes = MIN (free_bytes, size - budget.heapUsage[best]);
  *usage = (DynoMemoryUsage){ .own_bytes = budget.heapUsage[best],
                              .used_bytes = size - free_bytes,
                              .available_bytes = free_bytes };
  return TRUE;
}

gboolean
dyno_device_query_usage (DynoDevice *device, DynoMemoryUsage *usage)
{
  /* A part of the account may lie in another heap, but the figures of a driver that counts less
   * than half of it are not used. */
  return device->info.memory_budget
         && dyno_physical_device_query_usage (device->instance, device->probe->handle, usage)
         && usage->own_bytes >= dyno_device_get_allocated_total (device) / 2;
}

gboolean
dyno_device_query_memory (DynoDevice *device, guint64 *used_bytes, guint64 *available_bytes)
{
  DynoMemoryUsage usage;

  if (!dyno_device_query_usage (device, &usage))
    return FALSE;
  *used_bytes = usage.used_bytes;
  *available_bytes = usage.available_bytes;
  return TRUE;
}

gboolean
dyno_device_wait_idle (DynoDevice *device, GError **error)
{
  for (guint i = 0; i < device->n_queues; i++)
    if (!dyno_queue_wait (device, (DynoQueue) i, dyno_queue_get_submitted (device, (DynoQueue) i),
                          0, error))
      return FALSE;
  return TRUE;
}
