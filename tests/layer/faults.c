/* SPDX-License-Identifier: MIT */
/* A Vulkan layer that injects faults, only for tests; it is never installed.
 *
 * Loaded by the loader: VK_ADD_LAYER_PATH=<this build folder>
 * VK_INSTANCE_LAYERS=VK_LAYER_DYNO_faults.  The faults are set by DYNO_FAULTS, or by
 * dyno_faults_set in a test that opens the layer as a module: words separated by commas.  Calls are
 * counted from 1, by device; without a word the layer changes nothing.
 *
 *   lost=N          the N-th vkQueueSubmit and all that follows on that device:
 *                   VK_ERROR_DEVICE_LOST
 *   hang=N          the N-th vkQueueSubmit and later ones never finish; waits end with VK_TIMEOUT,
 *                   at once and not after their timeout.  A call that frees memory in use by a
 *                   hanging device, or waits for it without a limit, aborts.
 *   memory=N        the N-th vkAllocateMemory: VK_ERROR_OUT_OF_DEVICE_MEMORY
 *   memory-limit=B  each vkAllocateMemory that would raise the allocated memory above B bytes: the
 *                   same
 *   limit-from=K    that limit only on the K-th device and later ones (default 1)
 *   submit-memory=N the N-th vkQueueSubmit: VK_ERROR_OUT_OF_DEVICE_MEMORY
 *   host=N          the N-th vkAllocateMemory: VK_ERROR_OUT_OF_HOST_MEMORY
 *   pipeline=N      the N-th vkCreateComputePipelines: VK_ERROR_UNKNOWN
 *   pipelines=N     the N-th and all that follow
 *   gate=FILE       vkCreateComputePipelines blocks while FILE exists
 *   idle-size=X     shaders with a workgroup of X x 1 x 1 do nothing: their results are wrong
 *   idle-constant=N only those of them that have a specialisation constant N
 *   thread=NAME     only vkQueueSubmit calls of threads of that name are counted, so that only
 *                   these start a fault
 *   devices=K       the above on the first K devices only (default 1)
 *   fail=CALL       VK_ERROR_OUT_OF_HOST_MEMORY from each vkCreateCommandPool,
 *                   vkAllocateCommandBuffers, vkBeginCommandBuffer, vkBindBufferMemory,
 *                   vkMapMemory, vkCreateShaderModule or vkEnumerateDeviceExtensionProperties
 *   buffer=B        no buffer and no allocation larger than B bytes
 *   shared=B        at most B bytes of workgroup memory
 *   invocations=N   at most N invocations in a workgroup
 *   budget          the device has VK_EXT_memory_budget
 *   budget-bytes=B  the budget of each heap (default 0)
 *   usage-bytes=B   the memory in use of each heap (default 0)
 *   card            the device is reported as an NVIDIA card at 0000:65:00.0, for its sensors
 *   no-fp16, no-16bit, no-matrix, no-address   masked features
 *   late-upload     a second queue family, only for transfers, whose work is done as late as the
 *                   waits allow
 *   late-compute    the same family, while compute is done as late as the waits allow
 *
 * The second family uses the queue of the first: late work is held back in the layer until a call
 * waits for it, so that a missing wait gives the wrong order on the device every time.  Only the
 * functions that Dyno calls are intercepted. */
#include "layer.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_DEVICES 64
#define MOST_LATE    256
#define MOST_WAITS   8
#define MOST_MEMORY  1024 /* number of allocations at the same time */
#define GIVEN_UP     1000 /* number of timeouts after which no call counts as waiting */

/* A submission that is held back. */
typedef struct {
  VkSubmitInfo info;
  VkTimelineSemaphoreSubmitInfo timeline;
  VkSemaphore waits[MOST_WAITS], signal;
  VkPipelineStageFlags stages[MOST_WAITS];
  uint64_t wait_values[MOST_WAITS], signal_value;
  VkCommandBuffer command;
} Late;

#define NEXT(X)              \
  X (AllocateCommandBuffers) \
  X (BeginCommandBuffer)     \
  X (BindBufferMemory)       \
  X (MapMemory)              \
  X (CreateShaderModule)     \
  X (DestroyDevice)          \
  X (DeviceWaitIdle)         \
  X (GetDeviceQueue)         \
  X (QueueSubmit)            \
  X (WaitSemaphores)         \
  X (AllocateMemory)         \
  X (FreeMemory)             \
  X (CreateBuffer)           \
  X (DestroyBuffer)          \
  X (CreateCommandPool)      \
  X (DestroyCommandPool)     \
  X (CreateComputePipelines)

typedef struct {
  void *key; /* dispatch key of the device and its queues; NULL: free */
  VkDevice handle;
  PFN_vkGetDeviceProcAddr next;
#define MEMBER(name) PFN_vk##name name;
  NEXT (MEMBER)
#undef MEMBER
  bool faulty;  /* one of the first devices, which have the faults */
  bool limited; /* memory-limit applies */
  bool lost, hung;
  uint64_t submits, allocations, pipelines, allocated, timeouts;
  uint32_t second_family; /* UINT32_MAX: none */
  void *second_queue;     /* a dispatchable handle, whose first word is the key */
  VkQueue queue;
  Late late[MOST_LATE];
  unsigned n_late;
  struct {
    VkDeviceMemory memory; /* null: free */
    uint64_t size;
  } held[MOST_MEMORY];
} Device;

static Device *devices[MOST_DEVICES];

static Device *
find_device (const void *handle)
{
  Device *device = NULL;

  pthread_mutex_lock (&layer_lock);
  for (unsigned i = 0; i < MOST_DEVICES && !device; i++)
    if (devices[i] && devices[i]->key == layer_key (handle))
      device = devices[i];
  pthread_mutex_unlock (&layer_lock);
  if (!device)
    layer_give_up ("a device that is not known");
  return device;
}

/* Devices -------------------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL
create_device (VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
               const VkAllocationCallbacks *allocator, VkDevice *handle)
{
  VkLayerDeviceCreateInfo *link = (VkLayerDeviceCreateInfo *) info->pNext;
  uint32_t second = layer_has_second_family () ? layer_count_families (physical) : UINT32_MAX;
  VkDeviceCreateInfo real = *info;
  VkDeviceQueueCreateInfo queues[8];
  const char *extensions[64];
  PFN_vkGetInstanceProcAddr next_instance;
  VkInstance instance;
  Device *device;
  VkResult result;

  while (link
         && (link->sType != VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO
             || link->function != VK_LAYER_LINK_INFO))
    link = (VkLayerDeviceCreateInfo *) link->pNext;
  if (!link)
    return VK_ERROR_INITIALIZATION_FAILED;
  device = calloc (1, sizeof *device);
  next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  device->next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  real.queueCreateInfoCount = 0;
  real.pQueueCreateInfos = queues;
  for (uint32_t i = 0; i < info->queueCreateInfoCount && real.queueCreateInfoCount < 8; i++)
    if (info->pQueueCreateInfos[i].queueFamilyIndex != second)
      queues[real.queueCreateInfoCount++] = info->pQueueCreateInfos[i];
  /* The driver does not support the layer's own extension. */
  if (layer_has_budget () && info->enabledExtensionCount <= 64)
    {
      real.enabledExtensionCount = 0;
      real.ppEnabledExtensionNames = extensions;
      for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        if (strcmp (info->ppEnabledExtensionNames[i], VK_EXT_MEMORY_BUDGET_EXTENSION_NAME))
          extensions[real.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
    }
  instance = layer_instance (physical).handle;
  result = ((PFN_vkCreateDevice) next_instance (instance, "vkCreateDevice")) (physical, &real,
                                                                              allocator, handle);
  if (result != VK_SUCCESS)
    {
      free (device);
      return result;
    }
#define LOAD(name) device->name = (PFN_vk##name) device->next (*handle, "vk" #name);
  NEXT (LOAD)
#undef LOAD
  device->key = device->second_queue = layer_key (*handle);
  device->second_family = second;
  device->handle = *handle;
  pthread_mutex_lock (&layer_lock);
  device->faulty = layer_counts.devices++ < layer_faults.devices;
  device->limited = layer_counts.devices >= layer_faults.limit_from;
  layer_counts = (LayerCounts){ .devices = layer_counts.devices };
  for (unsigned i = 0; i < MOST_DEVICES; i++)
    if (!devices[i])
      {
        devices[i] = device;
        pthread_mutex_unlock (&layer_lock);
        return VK_SUCCESS;
      }
  layer_give_up ("too many devices");
}

static void flush_late (Device *device, VkSemaphore semaphore, uint64_t value);

/* A call that could wait for a hanging device, or free objects in use by it, is an error. */
static void
check_hang (Device *device, const char *call)
{
  bool hangs;

  pthread_mutex_lock (&layer_lock);
  hangs = device->hung
          && (device->timeouts >= GIVEN_UP || !strcmp (call, "vkDestroyDevice")
              || !strcmp (call, "vkDeviceWaitIdle"));
  pthread_mutex_unlock (&layer_lock);
  if (hangs)
    layer_give_up ("%s on a device that hangs", call);
}

static VKAPI_ATTR void VKAPI_CALL
destroy_device (VkDevice handle, const VkAllocationCallbacks *allocator)
{
  Device *device;

  if (!handle)
    return;
  device = find_device (handle);
  check_hang (device, "vkDestroyDevice");
  flush_late (device, VK_NULL_HANDLE, UINT64_MAX);
  pthread_mutex_lock (&layer_lock);
  for (unsigned i = 0; i < MOST_DEVICES; i++)
    if (devices[i] == device)
      devices[i] = NULL;
  pthread_mutex_unlock (&layer_lock);
  device->DestroyDevice (handle, allocator);
  free (device);
}

static VKAPI_ATTR VkResult VKAPI_CALL
device_wait_idle (VkDevice handle)
{
  Device *device = find_device (handle);

  check_hang (device, "vkDeviceWaitIdle");
  flush_late (device, VK_NULL_HANDLE, UINT64_MAX);
  return device->lost ? VK_ERROR_DEVICE_LOST : device->DeviceWaitIdle (handle);
}

static VKAPI_ATTR void VKAPI_CALL
get_queue (VkDevice handle, uint32_t family, uint32_t index, VkQueue *queue)
{
  Device *device = find_device (handle);

  if (family == device->second_family)
    *queue = (VkQueue) (void *) &device->second_queue;
  else
    {
      device->GetDeviceQueue (handle, family, index, queue);
      device->queue = *queue;
    }
}

/* Submissions ---------------------------------------------------------------------------------- */

/* The copies were moved, so their pointers are set again. */
static void
repoint_late (Device *device)
{
  for (unsigned i = 0; i < device->n_late; i++)
    {
      Late *late = &device->late[i];
      late->info.pNext = &late->timeline;
      late->info.pWaitSemaphores = late->waits;
      late->info.pWaitDstStageMask = late->stages;
      late->info.pSignalSemaphores = &late->signal;
      late->info.pCommandBuffers = &late->command;
      late->timeline.pWaitSemaphoreValues = late->wait_values;
      late->timeline.pSignalSemaphoreValues = &late->signal_value;
    }
}

/* Submits the held-back work to the device, up to that value of that semaphore (null: all).  The
 * lock must be held. */
static VkResult
flush_locked (Device *device, VkSemaphore semaphore, uint64_t value)
{
  VkResult result = VK_SUCCESS;
  unsigned n = 0;

  while (n < device->n_late && result == VK_SUCCESS
         && (!semaphore
             || (device->late[n].signal == semaphore && device->late[n].signal_value <= value)))
    result = device->QueueSubmit (device->queue, 1, &device->late[n++].info, VK_NULL_HANDLE);
  device->n_late -= n;
  memmove (device->late, device->late + n, device->n_late * sizeof device->late[0]);
  repoint_late (device);
  return result;
}

static void
flush_late (Device *device, VkSemaphore semaphore, uint64_t value)
{
  pthread_mutex_lock (&layer_lock);
  if (!device->hung && !device->lost)
    flush_locked (device, semaphore, value);
  pthread_mutex_unlock (&layer_lock);
}

/* The lock must be held. */
static VkResult
hold_back (Device *device, const VkSubmitInfo *info)
{
  const VkTimelineSemaphoreSubmitInfo *timeline = info->pNext;
  Late *late;

  if (device->n_late == MOST_LATE)
    flush_locked (device, device->late[0].signal, device->late[0].signal_value);
  if (!timeline || timeline->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO
      || info->commandBufferCount != 1 || info->signalSemaphoreCount != 1
      || info->waitSemaphoreCount > MOST_WAITS)
    layer_give_up ("a submission of a form that cannot be held back");
  late = &device->late[device->n_late++];
  *late = (Late){ .info = *info,
                  .timeline = *timeline,
                  .signal = info->pSignalSemaphores[0],
                  .signal_value = timeline->pSignalSemaphoreValues[0],
                  .command = info->pCommandBuffers[0] };
  for (uint32_t i = 0; i < info->waitSemaphoreCount; i++)
    {
      late->waits[i] = info->pWaitSemaphores[i];
      late->stages[i] = info->pWaitDstStageMask[i];
      late->wait_values[i] = timeline->pWaitSemaphoreValues[i];
    }
  repoint_late (device);
  return VK_SUCCESS;
}

/* The lock must be held. */
static VkResult
submit_now (Device *device, const VkSubmitInfo *info)
{
  const VkTimelineSemaphoreSubmitInfo *timeline = info->pNext;

  for (uint32_t i = 0; device->second_family != UINT32_MAX && i < info->waitSemaphoreCount; i++)
    flush_locked (device, info->pWaitSemaphores[i], timeline->pWaitSemaphoreValues[i]);
  return device->QueueSubmit (device->queue, 1, info, VK_NULL_HANDLE);
}

static VKAPI_ATTR VkResult VKAPI_CALL
queue_submit (VkQueue queue, uint32_t count, const VkSubmitInfo *info, VkFence fence)
{
  Device *device = find_device (queue);
  bool second = (void *) queue == (void *) &device->second_queue;
  bool late = device->second_family != UINT32_MAX && second == layer_faults.late_upload, refused,
       counted;
  char name[16] = "";
  VkResult result;

  if (count != 1 || fence)
    layer_give_up ("vkQueueSubmit of more than one, or with a fence");
  pthread_getname_np (pthread_self (), name, sizeof name);
  pthread_mutex_lock (&layer_lock);
  counted = !layer_faults.thread[0] || !strcmp (layer_faults.thread, name);
  if (counted)
    layer_counts.submits = ++device->submits;
  if (device->faulty && counted)
    {
      if (layer_faults.lost && device->submits >= layer_faults.lost && !device->lost)
        {
          flush_locked (device, VK_NULL_HANDLE, UINT64_MAX);
          /* work in flight has ended when a loss is reported */
          device->DeviceWaitIdle (device->handle);
          device->lost = true;
        }
      device->hung |= layer_faults.hang && device->submits >= layer_faults.hang;
    }
  refused = counted && device->faulty && layer_faults.submit_memory
            && device->submits == layer_faults.submit_memory;
  result = device->lost   ? VK_ERROR_DEVICE_LOST
           : refused      ? VK_ERROR_OUT_OF_DEVICE_MEMORY
           : device->hung ? VK_SUCCESS
           : late         ? hold_back (device, info)
                          : submit_now (device, info);
  pthread_mutex_unlock (&layer_lock);
  return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
wait_semaphores (VkDevice handle, const VkSemaphoreWaitInfo *info, uint64_t timeout_ns)
{
  Device *device = find_device (handle);
  bool lost, hung;
  VkResult result;

  for (uint32_t i = 0; i < info->semaphoreCount && device->second_family != UINT32_MAX; i++)
    flush_late (device, info->pSemaphores[i], info->pValues[i]);
  pthread_mutex_lock (&layer_lock);
  lost = device->lost;
  hung = device->hung;
  pthread_mutex_unlock (&layer_lock);
  if (lost)
    return VK_ERROR_DEVICE_LOST;
  if (hung && timeout_ns == UINT64_MAX)
    layer_give_up ("vkWaitSemaphores without a limit on a device that hangs");
  result = device->WaitSemaphores (handle, info, hung ? 0 : timeout_ns);
  pthread_mutex_lock (&layer_lock);
  device->timeouts += hung && result == VK_TIMEOUT;
  pthread_mutex_unlock (&layer_lock);
  return result;
}

/* Memory and pipelines ------------------------------------------------------------------------- */

/* The lock must be held. */
static void
hold_memory (Device *device, VkDeviceMemory memory, uint64_t size)
{
  unsigned i = 0;

  while (i < MOST_MEMORY && device->held[i].memory)
    i++;
  if (i == MOST_MEMORY)
    layer_give_up ("too many allocations");
  device->held[i].memory = memory;
  device->held[i].size = size;
  device->allocated += size;
  if (device->allocated > layer_counts.allocated)
    layer_counts.allocated = device->allocated;
}

static VKAPI_ATTR VkResult VKAPI_CALL
allocate_memory (VkDevice handle, const VkMemoryAllocateInfo *info,
                 const VkAllocationCallbacks *allocator, VkDeviceMemory *memory)
{
  Device *device = find_device (handle);
  VkResult result = VK_SUCCESS;

  pthread_mutex_lock (&layer_lock);
  layer_counts.allocations = ++device->allocations;
  if (device->faulty && layer_faults.host && device->allocations == layer_faults.host)
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
  if ((device->faulty && layer_faults.memory && device->allocations == layer_faults.memory)
      || (layer_faults.memory_limit && device->limited
          && device->allocated + info->allocationSize > layer_faults.memory_limit)
      || (layer_faults.buffer && info->allocationSize > layer_faults.buffer))
    result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
  if (result == VK_SUCCESS)
    result = device->AllocateMemory (handle, info, allocator, memory);
  if (result == VK_SUCCESS)
    hold_memory (device, *memory, info->allocationSize);
  pthread_mutex_unlock (&layer_lock);
  return result;
}

static VKAPI_ATTR void VKAPI_CALL
free_memory (VkDevice handle, VkDeviceMemory memory, const VkAllocationCallbacks *allocator)
{
  Device *device = find_device (handle);

  if (memory)
    check_hang (device, "vkFreeMemory");
  pthread_mutex_lock (&layer_lock);
  for (unsigned i = 0; memory && i < MOST_MEMORY; i++)
    if (device->held[i].memory == memory)
      {
        device->held[i].memory = VK_NULL_HANDLE;
        device->allocated -= device->held[i].size;
      }
  pthread_mutex_unlock (&layer_lock);
  device->FreeMemory (handle, memory, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_buffer (VkDevice handle, const VkBufferCreateInfo *info,
               const VkAllocationCallbacks *allocator, VkBuffer *buffer)
{
  Device *device = find_device (handle);
  VkBufferCreateInfo real = *info;

  if (device->second_family != UINT32_MAX)
    {
      real.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
      real.queueFamilyIndexCount = 0;
    }
  return device->CreateBuffer (handle, &real, allocator, buffer);
}

static VKAPI_ATTR void VKAPI_CALL
destroy_buffer (VkDevice handle, VkBuffer buffer, const VkAllocationCallbacks *allocator)
{
  Device *device = find_device (handle);

  if (buffer)
    check_hang (device, "vkDestroyBuffer");
  device->DestroyBuffer (handle, buffer, allocator);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_command_pool (VkDevice handle, const VkCommandPoolCreateInfo *info,
                     const VkAllocationCallbacks *allocator, VkCommandPool *pool)
{
  Device *device = find_device (handle);
  VkCommandPoolCreateInfo real = *info;

  if (layer_fails ("vkCreateCommandPool"))
    return VK_ERROR_OUT_OF_HOST_MEMORY;
  if (real.queueFamilyIndex == device->second_family)
    real.queueFamilyIndex = 0;
  return device->CreateCommandPool (handle, &real, allocator, pool);
}

static VKAPI_ATTR void VKAPI_CALL
destroy_command_pool (VkDevice handle, VkCommandPool pool, const VkAllocationCallbacks *allocator)
{
  Device *device = find_device (handle);

  if (pool)
    check_hang (device, "vkDestroyCommandPool");
  device->DestroyCommandPool (handle, pool, allocator);
}

/* The workgroup size in x of the module's first one-dimensional entry point; 0: none. */
static uint32_t
find_size (const uint32_t *words, size_t n)
{
  for (size_t at = 5; at < n && words[at] >> 16; at += words[at] >> 16)
    if ((words[at] & 0xffff) == 16 /* OpExecutionMode */ && at + 5 < n
        && words[at + 2] == 17 /* LocalSize */ && words[at + 4] == 1 && words[at + 5] == 1)
      return words[at + 3];
  return 0;
}

static bool
has_constant (const uint32_t *words, size_t n, uint64_t id)
{
  for (size_t at = 5; at < n && words[at] >> 16; at += words[at] >> 16)
    if ((words[at] & 0xffff) == 71 /* OpDecorate */ && at + 3 < n
        && words[at + 2] == 1 /* SpecId */ && words[at + 3] == id)
      return true;
  return false;
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_shader_module (VkDevice handle, const VkShaderModuleCreateInfo *info,
                      const VkAllocationCallbacks *allocator, VkShaderModule *module)
{
  Device *device = find_device (handle);
  uint32_t size = find_size (info->pCode, info->codeSize / 4);
  /* void main () {}: header, OpCapability Shader, OpMemoryModel, OpEntryPoint, OpExecutionMode,
   * OpTypeVoid, OpTypeFunction, OpFunction, OpLabel, OpReturn, OpFunctionEnd */
  /* clang-format off */
  const uint32_t idle[] = { 0x07230203, 0x00010300, 0, 5, 0,
                            2 << 16 | 17, 1,
                            3 << 16 | 14, 0, 1,
                            5 << 16 | 15, 5, 1, 0x6e69616d, 0,
                            6 << 16 | 16, 1, 17, size, 1, 1,
                            2 << 16 | 19, 2,
                            3 << 16 | 33, 3, 2,
                            5 << 16 | 54, 2, 1, 0, 3,
                            2 << 16 | 248, 4,
                            1 << 16 | 253,
                            1 << 16 | 56 };
  /* clang-format on */
  VkShaderModuleCreateInfo other = *info;
  bool is_idle;

  other.pCode = idle;
  other.codeSize = sizeof idle;
  is_idle = device->faulty && layer_faults.idle_size && layer_faults.idle_size == size
            && (!layer_faults.idle_constant
                || has_constant (info->pCode, info->codeSize / 4, layer_faults.idle_constant));
  return layer_fails ("vkCreateShaderModule")
             ? VK_ERROR_OUT_OF_HOST_MEMORY
             : device->CreateShaderModule (handle, is_idle ? &other : info, allocator, module);
}

static VKAPI_ATTR VkResult VKAPI_CALL
create_compute_pipelines (VkDevice handle, VkPipelineCache cache, uint32_t count,
                          const VkComputePipelineCreateInfo *infos,
                          const VkAllocationCallbacks *allocator, VkPipeline *pipelines)
{
  Device *device = find_device (handle);
  bool fails;

  while (*layer_faults.gate && access (layer_faults.gate, F_OK) == 0)
    usleep (10000);
  pthread_mutex_lock (&layer_lock);
  layer_counts.pipelines = ++device->pipelines;
  fails = device->faulty
          && ((layer_faults.pipeline && device->pipelines == layer_faults.pipeline)
              || (layer_faults.pipelines && device->pipelines >= layer_faults.pipelines));
  pthread_mutex_unlock (&layer_lock);
  if (!fails)
    return device->CreateComputePipelines (handle, cache, count, infos, allocator, pipelines);
  memset (pipelines, 0, count * sizeof *pipelines);
  return VK_ERROR_UNKNOWN;
}

/* Calls that only fail ------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL
allocate_commands (VkDevice handle, const VkCommandBufferAllocateInfo *info,
                   VkCommandBuffer *commands)
{
  return layer_fails ("vkAllocateCommandBuffers")
             ? VK_ERROR_OUT_OF_HOST_MEMORY
             : find_device (handle)->AllocateCommandBuffers (handle, info, commands);
}

static VKAPI_ATTR VkResult VKAPI_CALL
begin_command (VkCommandBuffer handle, const VkCommandBufferBeginInfo *info)
{
  return layer_fails ("vkBeginCommandBuffer")
             ? VK_ERROR_OUT_OF_HOST_MEMORY
             : find_device (handle)->BeginCommandBuffer (handle, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL
bind_memory (VkDevice handle, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset)
{
  return layer_fails ("vkBindBufferMemory")
             ? VK_ERROR_OUT_OF_HOST_MEMORY
             : find_device (handle)->BindBufferMemory (handle, buffer, memory, offset);
}

static VKAPI_ATTR VkResult VKAPI_CALL
map_memory (VkDevice handle, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
            VkMemoryMapFlags flags, void **data)
{
  return layer_fails ("vkMapMemory")
             ? VK_ERROR_OUT_OF_HOST_MEMORY
             : find_device (handle)->MapMemory (handle, memory, offset, size, flags, data);
}

/* The loader's way in -------------------------------------------------------------------------- */

static PFN_vkVoidFunction get_instance_proc (VkInstance instance, const char *name);
static PFN_vkVoidFunction get_device_proc (VkDevice device, const char *name);

#define OURS(name, function)            \
  {                                     \
    name, (PFN_vkVoidFunction) function \
  }
static const struct {
  const char *name;
  PFN_vkVoidFunction function;
} device_calls[] = {
  OURS ("vkGetDeviceProcAddr", get_device_proc),
  OURS ("vkDestroyDevice", destroy_device),
  OURS ("vkDeviceWaitIdle", device_wait_idle),
  OURS ("vkGetDeviceQueue", get_queue),
  OURS ("vkQueueSubmit", queue_submit),
  OURS ("vkWaitSemaphores", wait_semaphores),
  OURS ("vkAllocateMemory", allocate_memory),
  OURS ("vkFreeMemory", free_memory),
  OURS ("vkCreateBuffer", create_buffer),
  OURS ("vkDestroyBuffer", destroy_buffer),
  OURS ("vkCreateCommandPool", create_command_pool),
  OURS ("vkDestroyCommandPool", destroy_command_pool),
  OURS ("vkCreateShaderModule", create_shader_module),
  OURS ("vkCreateComputePipelines", create_compute_pipelines),
  OURS ("vkAllocateCommandBuffers", allocate_commands),
  OURS ("vkBeginCommandBuffer", begin_command),
  OURS ("vkBindBufferMemory", bind_memory),
  OURS ("vkMapMemory", map_memory),
};

static PFN_vkVoidFunction
find_device_call (const char *name)
{
  for (size_t i = 0; i < sizeof device_calls / sizeof device_calls[0]; i++)
    if (!strcmp (device_calls[i].name, name))
      return device_calls[i].function;
  return NULL;
}

static PFN_vkVoidFunction
get_device_proc (VkDevice device, const char *name)
{
  PFN_vkVoidFunction ours = find_device_call (name);

  return ours ? ours : find_device (device)->next (device, name);
}

static PFN_vkVoidFunction
get_instance_proc (VkInstance instance, const char *name)
{
  PFN_vkVoidFunction ours = find_device_call (name);

  if (!ours)
    ours = !strcmp (name, "vkGetInstanceProcAddr") ? (PFN_vkVoidFunction) get_instance_proc
           : !strcmp (name, "vkCreateDevice")      ? (PFN_vkVoidFunction) create_device
                                                   : layer_instance_call (name);
  return ours ? ours : instance ? layer_instance (instance).next (instance, name) : NULL;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion (VkNegotiateLayerInterface *version)
{
  if (version->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT
      || version->loaderLayerInterfaceVersion < 2)
    return VK_ERROR_INITIALIZATION_FAILED;
  version->loaderLayerInterfaceVersion = 2;
  version->pfnGetInstanceProcAddr = get_instance_proc;
  version->pfnGetDeviceProcAddr = get_device_proc;
  version->pfnGetPhysicalDeviceProcAddr = NULL;
  return VK_SUCCESS;
}
