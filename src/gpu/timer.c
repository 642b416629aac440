/* SPDX-License-Identifier: MIT */
/* Timestamps of the compute queue.  Ticks wrap at the queue family's number of bits; differences
 * are taken modulo that range. */
#include "device-private.h"

struct _DynoTimer {
  DynoDevice *device;
  VkQueryPool pool; /* null: the device has no timestamps */
  guint n_slots;
};

VkQueryPool
dyno_timer_get_pool (DynoTimer *timer)
{
  return timer->pool;
}

guint
dyno_timer_get_n_slots (DynoTimer *timer)
{
  return timer->n_slots;
}

DynoTimer *
dyno_timer_new (DynoDevice *device, guint n_slots, GError **error)
{
  g_autoptr (DynoTimer) timer = NULL;
  VkQueryPoolCreateInfo info = { .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                 .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                 .queryCount = n_slots };
  VkResult result;

  g_return_val_if_fail (n_slots > 0, NULL);
  timer = g_new0 (DynoTimer, 1);
  timer->device = dyno_device_ref (device);
  timer->n_slots = n_slots;
  if (device->info.timestamp_ns <= 0)
    return g_steal_pointer (&timer);
  result = device->vk.CreateQueryPool (device->handle, &info, NULL, &timer->pool);
  if (result != VK_SUCCESS)
    {
      dyno_device_set_error (device, error, result, "vkCreateQueryPool", NULL);
      return NULL;
    }
  device->vk.ResetQueryPool (device->handle, timer->pool, 0, n_slots);
  return g_steal_pointer (&timer);
}

void
dyno_timer_free (DynoTimer *timer)
{
  DynoDeferredFree deferred = { .kind = DYNO_MEMORY_OTHER };
  DynoDevice *device;

  if (!timer)
    return;
  device = timer->device;
  deferred.queries = timer->pool;
  for (guint i = 0; i < device->n_queues; i++)
    deferred.timeline_values[i] = dyno_queue_get_submitted (device, (DynoQueue) i);
  dyno_device_defer_free (device, &deferred);
  g_free (timer);
  dyno_device_unref (device);
}

gboolean
dyno_timer_read (DynoTimer *timer, double *time_us, guint n_slots, GError **error)
{
  DynoDevice *device = timer->device;
  guint bits = device->probe->timestamp_bits;
  guint64 mask = bits >= 64 ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << bits) - 1;
  g_autofree guint64 *values = NULL;
  VkResult result;

  g_return_val_if_fail (n_slots > 0 && n_slots <= timer->n_slots, FALSE);
  for (guint i = 0; i < n_slots; i++)
    time_us[i] = 0.0;
  if (timer->pool == VK_NULL_HANDLE)
    return TRUE;
  /* Pairs of value and availability. */
  values = g_new0 (guint64, 2 * (gsize) n_slots);
  result = device->vk.GetQueryPoolResults (
      device->handle, timer->pool, 0, n_slots, 2 * n_slots * sizeof (guint64), values,
      2 * sizeof (guint64), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
  if (result != VK_SUCCESS && result != VK_NOT_READY)
    {
      dyno_device_set_error (device, error, result, "vkGetQueryPoolResults", NULL);
      return FALSE;
    }
  for (guint i = 0; i < n_slots; i++)
    {
      if (values[2 * i + 1] == 0)
        {
          g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_FAILED,
                       "Timer slot %u of %u holds no time: wait for the submission that writes it",
                       i, n_slots);
          return FALSE;
        }
      time_us[i] =
          (double) ((values[2 * i] - values[0]) & mask) * device->info.timestamp_ns / 1000.0;
    }
  return TRUE;
}
