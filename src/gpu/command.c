/* SPDX-License-Identifier: MIT */
/* Commands: each is recorded once into a command buffer of its own pool, and submitted any number
 * of times.
 *
 * Every command begins with a full barrier and ends with one towards the host, so submissions of a
 * queue behave as if they ran one after the other; between queues, the values of the timeline
 * semaphores order them.
 *
 * A barrier is requested between all earlier and all later work, but it is recorded only when later
 * work comes, and only between the kinds of work (compute, transfer) that occur: a barrier only
 * between dispatches costs a third less than one that names transfers too, which on some drivers
 * flushes caches that dispatches do not use.
 * Vulkan keeps errors of recording until the end, so recording calls return nothing. */
#include "device-private.h"
#include "intl.h"

/* The time for which a device may finish nothing before it counts as hanging.  It is counted in the
 * slices of waits, not by the clock: while this process is stopped (SIGSTOP, suspend, a paused
 * machine) nothing is counted.  A software device may take minutes for one submission. */
#define WATCHDOG_MS          60000
#define SOFTWARE_WATCHDOG_MS (60 * 60000)
#define SLICE_MS             250
#define MAX_WAITS            8

struct _DynoCommand {
  DynoDevice *device;
  DynoQueue queue;
  VkCommandPool pool;
  VkCommandBuffer handle;
  VkPipeline bound;
  /* For each kind of work, as masks of pipeline stages: earlier work that it is not ordered after,
   * and earlier work that a pending barrier orders it after. */
  VkPipelineStageFlags unordered[2], pending[2];
  guint64 last_value;
  guint barriers; /* recorded */
  gboolean closed;
};

enum { COMPUTE, TRANSFER };
static const VkPipelineStageFlags kind_stages[] = { VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                                    VK_PIPELINE_STAGE_TRANSFER_BIT };

#define ALL_STAGES (VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT)

/* The accesses of work in these stages: its writes; accesses_of adds its reads. */
static VkAccessFlags
writes_of (VkPipelineStageFlags stages)
{
  return (stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT ? VK_ACCESS_SHADER_WRITE_BIT : 0)
         | (stages & VK_PIPELINE_STAGE_TRANSFER_BIT ? VK_ACCESS_TRANSFER_WRITE_BIT : 0);
}

static VkAccessFlags
accesses_of (VkPipelineStageFlags stages)
{
  return writes_of (stages)
         | (stages & VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT ? VK_ACCESS_SHADER_READ_BIT : 0)
         | (stages & VK_PIPELINE_STAGE_TRANSFER_BIT ? VK_ACCESS_TRANSFER_READ_BIT : 0);
}

static void
record_barrier (DynoCommand *command, VkPipelineStageFlags before, VkPipelineStageFlags after,
                VkAccessFlags after_access)
{
  VkMemoryBarrier barrier = { .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                              .srcAccessMask = writes_of (before),
                              .dstAccessMask = after_access };

  command->barriers++;
  command->device->vk.CmdPipelineBarrier (command->handle, before, after, 0, 1, &barrier, 0, NULL,
                                          0, NULL);
}

/* The stages that the command's queue family supports. */
static VkPipelineStageFlags
stages_of (DynoCommand *command)
{
  return command->queue == DYNO_QUEUE_TRANSFER && command->device->n_queues == 2
             ? VK_PIPELINE_STAGE_TRANSFER_BIT
             : ALL_STAGES;
}

/* Records the pending barrier before work of a kind. */
static void
order (DynoCommand *command, int kind)
{
  if (command->pending[kind])
    record_barrier (command, command->pending[kind], kind_stages[kind],
                    accesses_of (kind_stages[kind]));
  command->pending[kind] = 0;
  for (int other = COMPUTE; other <= TRANSFER; other++)
    command->unordered[other] |= kind_stages[kind];
}

static gboolean
begin (DynoCommand *command, GError **error)
{
  DynoDevice *device = command->device;
  VkCommandPoolCreateInfo pool = { .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                   .queueFamilyIndex =
                                       dyno_device_get_queue (device, command->queue)->family };
  VkCommandBufferAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1 };
  VkCommandBufferBeginInfo info = { .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                    .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT };
  const char *call = "vkCreateCommandPool";
  VkResult result = device->vk.CreateCommandPool (device->handle, &pool, NULL, &command->pool);

  if (result == VK_SUCCESS)
    {
      call = "vkAllocateCommandBuffers";
      allocate.commandPool = command->pool;
      result = device->vk.AllocateCommandBuffers (device->handle, &allocate, &command->handle);
    }
  if (result == VK_SUCCESS)
    {
      call = "vkBeginCommandBuffer";
      result = device->vk.BeginCommandBuffer (command->handle, &info);
    }
  if (result == VK_SUCCESS)
    return TRUE;
  dyno_device_set_error (device, error, result, call, NULL);
  return FALSE;
}

DynoCommand *
dyno_command_new (DynoDevice *device, DynoQueue queue, GError **error)
{
  g_autoptr (DynoCommand) command = NULL;

  g_return_val_if_fail (queue < DYNO_QUEUE_N, NULL);
  command = g_new0 (DynoCommand, 1);
  command->device = dyno_device_ref (device);
  command->queue = queue;
  if (!begin (command, error))
    return NULL;
  /* Earlier submissions may have done any work. */
  command->pending[COMPUTE] = command->pending[TRANSFER] = stages_of (command);
  return g_steal_pointer (&command);
}

void
dyno_command_free (DynoCommand *command)
{
  DynoDeferredFree deferred = { .kind = DYNO_MEMORY_OTHER };
  DynoDevice *device;

  if (!command)
    return;
  device = command->device;
  deferred.pool = command->pool;
  deferred.timeline_values[device->n_queues == DYNO_QUEUE_N ? command->queue : DYNO_QUEUE_COMPUTE] =
      command->last_value;
  dyno_device_collect (device);
  dyno_device_defer_free (device, &deferred);
  g_free (command);
  dyno_device_unref (device);
}

void
dyno_command_dispatch (DynoCommand *command, DynoKernel *kernel, const void *push, guint32 groups_x,
                       guint32 groups_y, guint32 groups_z)
{
  DynoDevice *device = command->device;
  VkPipeline pipeline = dyno_kernel_get_pipeline (kernel);
  guint32 push_bytes = dyno_kernel_get_spec (kernel)->push_bytes;

  g_return_if_fail (!command->closed && groups_x > 0 && groups_y > 0 && groups_z > 0);
  g_return_if_fail (groups_x <= device->info.max_groups_x && groups_y <= 65535
                    && groups_z <= 65535);
  order (command, COMPUTE);
  if (command->bound != pipeline)
    {
      device->vk.CmdBindPipeline (command->handle, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      command->bound = pipeline;
    }
  if (push_bytes > 0)
    device->vk.CmdPushConstants (command->handle, device->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                 push_bytes, push);
  device->vk.CmdDispatch (command->handle, groups_x, groups_y, groups_z);
}

void
dyno_command_copy_bytes (DynoCommand *command, DynoBuffer *source, guint64 source_offset,
                         DynoBuffer *target, guint64 target_offset, guint64 size_bytes)
{
  VkBufferCopy region = { .srcOffset = source_offset,
                          .dstOffset = target_offset,
                          .size = size_bytes };
  guint64 source_size = dyno_buffer_get_size (source), target_size = dyno_buffer_get_size (target);

  g_return_if_fail (!command->closed && size_bytes > 0);
  g_return_if_fail (source_offset <= source_size && size_bytes <= source_size - source_offset);
  g_return_if_fail (target_offset <= target_size && size_bytes <= target_size - target_offset);
  order (command, TRANSFER);
  command->device->vk.CmdCopyBuffer (command->handle, dyno_buffer_get_handle (source),
                                     dyno_buffer_get_handle (target), 1, &region);
}

void
dyno_command_copy (DynoCommand *command, DynoBuffer *source, guint64 source_offset,
                   DynoBuffer *target, guint64 target_offset, guint64 size_bytes)
{
  g_return_if_fail (source_offset % 4 == 0 && target_offset % 4 == 0 && size_bytes % 4 == 0);
  dyno_command_copy_bytes (command, source, source_offset, target, target_offset, size_bytes);
}

void
dyno_command_fill (DynoCommand *command, DynoBuffer *buffer, guint64 offset, guint64 size_bytes,
                   guint32 word)
{
  guint64 size = dyno_buffer_get_size (buffer);

  g_return_if_fail (!command->closed && size_bytes > 0 && offset % 4 == 0 && size_bytes % 4 == 0);
  g_return_if_fail (offset <= size && size_bytes <= size - offset);
  order (command, TRANSFER);
  command->device->vk.CmdFillBuffer (command->handle, dyno_buffer_get_handle (buffer), offset,
                                     size_bytes, word);
}

void
dyno_command_barrier (DynoCommand *command)
{
  g_return_if_fail (!command->closed);
  for (int kind = COMPUTE; kind <= TRANSFER; kind++)
    {
      command->pending[kind] |= command->unordered[kind];
      command->unordered[kind] = 0;
    }
}

void
dyno_command_timestamp (DynoCommand *command, DynoTimer *timer, guint slot)
{
  VkQueryPool pool = dyno_timer_get_pool (timer);

  g_return_if_fail (!command->closed && slot < dyno_timer_get_n_slots (timer));
  /* A family only for transfers can neither reset queries nor, on some devices, write them. */
  if (pool == VK_NULL_HANDLE || stages_of (command) != ALL_STAGES)
    return;
  /* All slots are reset at once, since each reset makes the device wait. */
  if (slot == 0)
    command->device->vk.CmdResetQueryPool (command->handle, pool, 0,
                                           dyno_timer_get_n_slots (timer));
  command->device->vk.CmdWriteTimestamp (command->handle, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                         pool, slot);
}

guint
dyno_command_get_barriers (DynoCommand *command)
{
  return command->barriers;
}

gboolean
dyno_command_end (DynoCommand *command, GError **error)
{
  VkResult result;

  g_return_val_if_fail (!command->closed, FALSE);
  record_barrier (command, stages_of (command), VK_PIPELINE_STAGE_HOST_BIT,
                  VK_ACCESS_HOST_READ_BIT);
  command->closed = TRUE;
  result = command->device->vk.EndCommandBuffer (command->handle);
  if (result == VK_SUCCESS)
    return TRUE;
  dyno_device_set_error (command->device, error, result, "vkEndCommandBuffer", NULL);
  return FALSE;
}

gboolean
dyno_command_submit (DynoCommand *command, const DynoWait *waits, guint n_waits,
                     guint64 *timeline_value, GError **error)
{
  DynoDevice *device = command->device;
  DynoQueueState *queue = dyno_device_get_queue (device, command->queue);
  VkSemaphore semaphores[MAX_WAITS];
  VkPipelineStageFlags stages[MAX_WAITS];
  uint64_t values[MAX_WAITS], signal;
  VkTimelineSemaphoreSubmitInfo timeline = { .sType =
                                                 VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                             .pWaitSemaphoreValues = values,
                                             .signalSemaphoreValueCount = 1,
                                             .pSignalSemaphoreValues = &signal };
  VkSubmitInfo info = { .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                        .pNext = &timeline,
                        .pWaitSemaphores = semaphores,
                        .pWaitDstStageMask = stages,
                        .commandBufferCount = 1,
                        .pCommandBuffers = &command->handle,
                        .signalSemaphoreCount = 1,
                        .pSignalSemaphores = &queue->timeline };
  VkResult result;

  g_return_val_if_fail (command->closed && n_waits <= MAX_WAITS, FALSE);
  if (!dyno_device_check_alive (device, error))
    return FALSE;
  dyno_device_collect (device);
  for (guint i = 0; i < n_waits; i++)
    if (waits[i].timeline_value > 0)
      {
        semaphores[info.waitSemaphoreCount] =
            dyno_device_get_queue (device, waits[i].queue)->timeline;
        values[info.waitSemaphoreCount] = waits[i].timeline_value;
        stages[info.waitSemaphoreCount++] = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
      }
  timeline.waitSemaphoreValueCount = info.waitSemaphoreCount;

  g_mutex_lock (&queue->lock);
  signal = queue->submitted + 1;
  result = device->vk.QueueSubmit (queue->handle, 1, &info, VK_NULL_HANDLE);
  if (result == VK_SUCCESS)
    queue->submitted = signal;
  g_mutex_unlock (&queue->lock);
  if (result != VK_SUCCESS)
    {
      dyno_device_set_error (device, error, result, "vkQueueSubmit", NULL);
      return FALSE;
    }
  command->last_value = signal;
  if (timeline_value)
    *timeline_value = signal;
  return TRUE;
}

guint64
dyno_queue_get_submitted (DynoDevice *device, DynoQueue queue)
{
  DynoQueueState *state = dyno_device_get_queue (device, queue);
  guint64 submitted;

  g_mutex_lock (&state->lock);
  submitted = state->submitted;
  g_mutex_unlock (&state->lock);
  return submitted;
}

guint64
dyno_queue_get_completed (DynoDevice *device, DynoQueue queue)
{
  uint64_t value = 0;
  VkResult result = device->vk.GetSemaphoreCounterValue (
      device->handle, dyno_device_get_queue (device, queue)->timeline, &value);

  if (result == VK_ERROR_DEVICE_LOST)
    g_atomic_int_set (&device->lost, 1);
  else if (result != VK_SUCCESS)
    g_warning_once ("vkGetSemaphoreCounterValue: %s (%d): %s: what was submitted counts as running",
                    dyno_vk_result_name (result), (int) result, device->info.name);
  return result == VK_SUCCESS ? value : 0;
}

/* The sum over all queues: a queue that waits for another has not stopped while the other makes
 * progress. */
static guint64
count_completed (DynoDevice *device)
{
  guint64 completed = 0;

  for (guint i = 0; i < device->n_queues; i++)
    completed += dyno_queue_get_completed (device, (DynoQueue) i);
  return completed;
}

void
dyno_device_set_watchdog (DynoDevice *device, guint limit_ms)
{
  g_atomic_int_set (&device->watchdog_ms, (int) limit_ms);
}

/* VK_SUCCESS, VK_TIMEOUT when nothing was finished for limit_ms, or an error.  The limit counts the
 * waits' own times, which do not grow while a program is stopped; *since_us is the time since which
 * nothing was finished: some drivers end waits early. */
static VkResult
wait_patiently (DynoDevice *device, DynoQueue queue, guint64 timeline_value, guint limit_ms,
                gint64 *since_us)
{
  uint64_t value = timeline_value;
  VkSemaphoreWaitInfo info = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                               .semaphoreCount = 1,
                               .pSemaphores = &dyno_device_get_queue (device, queue)->timeline,
                               .pValues = &value };
  guint64 completed = count_completed (device);
  VkResult result = VK_TIMEOUT;

  *since_us = g_get_monotonic_time ();
  for (guint waited_ms = 0; waited_ms < limit_ms && result == VK_TIMEOUT;)
    {
      guint slice_ms = MIN (limit_ms - waited_ms, SLICE_MS);
      guint64 now;

      result = device->vk.WaitSemaphores (device->handle, &info, (uint64_t) slice_ms * 1000000);
      now = count_completed (device);
      waited_ms = now > completed ? 0 : waited_ms + slice_ms;
      if (now > completed)
        *since_us = g_get_monotonic_time ();
      completed = MAX (completed, now);
    }
  return result;
}

gboolean
dyno_queue_wait (DynoDevice *device, DynoQueue queue, guint64 timeline_value, guint timeout_ms,
                 GError **error)
{
  guint watchdog_ms = (guint) g_atomic_int_get (&device->watchdog_ms);
  gint64 since_us;
  guint limit_ms;
  double waited, limit;
  VkResult result;

  if (timeline_value == 0)
    return TRUE;
  if (!dyno_device_check_alive (device, error))
    return FALSE;
  if (watchdog_ms == 0)
    watchdog_ms =
        device->info.type == DYNO_DEVICE_TYPE_SOFTWARE ? SOFTWARE_WATCHDOG_MS : WATCHDOG_MS;
  limit_ms = timeout_ms > 0 ? timeout_ms : watchdog_ms;
  result = wait_patiently (device, queue, timeline_value, limit_ms, &since_us);
  if (result == VK_SUCCESS)
    return TRUE;
  if (result != VK_TIMEOUT)
    {
      dyno_device_set_error (device, error, result, "vkWaitSemaphores", NULL);
      return FALSE;
    }
  if (timeout_ms == 0)
    g_atomic_int_set (&device->hangs, 1);
  waited = (double) (g_get_monotonic_time () - since_us) / 1e6;
  limit = (double) limit_ms / 1000;
  if (waited < 0.9 * limit)
    g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT,
                 _ ("%s finished nothing, and its driver ended waits for %g s after %.1f s: it "
                    "hangs; see the kernel log"),
                 device->info.name, limit, waited);
  else
    g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT,
                 _ ("%s finished nothing for %g s; it hangs or is too slow: see the kernel log, or "
                    "use a smaller batch"),
                 device->info.name, limit);
  return FALSE;
}
