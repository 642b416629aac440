/* SPDX-License-Identifier: MIT */
/* The account of device memory, and the deferred frees.
 *
 * The account is Dyno's own and exact: it grows before the driver allocates, and shrinks when
 * memory has been returned.  Memory of a buffer that was freed while a submission may use it is
 * counted until the deferred free. */
#include "device-private.h"
#include "intl.h"
#include <inttypes.h>

static const char *const kind_names[DYNO_MEMORY_N_KINDS] = {
  "weights", "gradients", "optimizer", "activations", "workspace", "staging", "snapshot", "other"
};

const char *
dyno_memory_kind_name (DynoMemoryKind kind)
{
  g_return_val_if_fail (kind < DYNO_MEMORY_N_KINDS, NULL);
  return kind_names[kind];
}

static gboolean
try_reserve (DynoDevice *device, DynoMemoryKind kind, guint64 size_bytes, guint64 *total,
             guint64 *budget)
{
  gboolean fits;

  g_mutex_lock (&device->account_lock);
  *total = device->allocated_total;
  *budget = device->budget_bytes;
  fits = *budget == 0 || (size_bytes <= *budget && *total <= *budget - size_bytes);
  if (fits)
    {
      device->allocated[kind] += size_bytes;
      device->allocated_total += size_bytes;
    }
  g_mutex_unlock (&device->account_lock);
  return fits;
}

gboolean
dyno_account_reserve (DynoDevice *device, DynoMemoryKind kind, guint64 size_bytes, GError **error)
{
  guint64 total, budget;

  if (try_reserve (device, kind, size_bytes, &total, &budget))
    return TRUE;
  if (dyno_device_collect_all (device) && try_reserve (device, kind, size_bytes, &total, &budget))
    return TRUE;
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET,
               _ ("%" PRIu64 " bytes for %s would pass the VRAM budget of %" PRIu64
                  " bytes (%" PRIu64 " in use); use a smaller batch or raise the budget"),
               size_bytes, kind_names[kind], budget, total);
  return FALSE;
}

void
dyno_account_commit (DynoDevice *device)
{
  g_mutex_lock (&device->account_lock);
  device->allocated_peak = MAX (device->allocated_peak, device->allocated_total);
  g_mutex_unlock (&device->account_lock);
}

void
dyno_account_release (DynoDevice *device, DynoMemoryKind kind, guint64 size_bytes)
{
  g_mutex_lock (&device->account_lock);
  g_assert (device->allocated[kind] >= size_bytes);
  device->allocated[kind] -= size_bytes;
  device->allocated_total -= size_bytes;
  g_mutex_unlock (&device->account_lock);
}

void
dyno_account_add_host (DynoDevice *device, gint64 change_bytes)
{
  g_mutex_lock (&device->account_lock);
  device->allocated_host += (guint64) change_bytes;
  g_mutex_unlock (&device->account_lock);
}

static guint64
read_locked (DynoDevice *device, const guint64 *value)
{
  guint64 copy;

  g_mutex_lock (&device->account_lock);
  copy = *value;
  g_mutex_unlock (&device->account_lock);
  return copy;
}

guint64
dyno_device_get_allocated (DynoDevice *device, DynoMemoryKind kind)
{
  g_return_val_if_fail (kind < DYNO_MEMORY_N_KINDS, 0);
  dyno_device_collect (device);
  return read_locked (device, &device->allocated[kind]);
}

guint64
dyno_device_get_allocated_total (DynoDevice *device)
{
  dyno_device_collect (device);
  return read_locked (device, &device->allocated_total);
}

guint64
dyno_device_get_allocated_peak (DynoDevice *device)
{
  return read_locked (device, &device->allocated_peak);
}

guint64
dyno_device_get_allocated_host (DynoDevice *device)
{
  dyno_device_collect (device);
  return read_locked (device, &device->allocated_host);
}

gboolean
dyno_device_set_budget (DynoDevice *device, guint64 budget_bytes, GError **error)
{
  guint64 total;

  dyno_device_collect (device);
  g_mutex_lock (&device->account_lock);
  total = device->allocated_total;
  if (budget_bytes == 0 || total <= budget_bytes)
    {
      device->budget_bytes = budget_bytes;
      g_mutex_unlock (&device->account_lock);
      return TRUE;
    }
  g_mutex_unlock (&device->account_lock);
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET,
               _ ("A VRAM budget of %" PRIu64 " bytes is less than the %" PRIu64
                  " bytes in use; stop the training before lowering it"),
               budget_bytes, total);
  return FALSE;
}

static gboolean
is_due (DynoDevice *device, const DynoDeferredFree *deferred)
{
  if (g_atomic_int_get (&device->hangs))
    return FALSE;
  if (g_atomic_int_get (&device->lost))
    return device->over;
  for (guint i = 0; i < device->n_queues; i++)
    if (deferred->timeline_values[i] > 0
        && dyno_queue_get_completed (device, (DynoQueue) i) < deferred->timeline_values[i])
      return FALSE;
  return TRUE;
}

/* Null handles are allowed here. */
static void
destroy (DynoDevice *device, const DynoDeferredFree *deferred)
{
  device->vk.DestroyQueryPool (device->handle, deferred->queries, NULL);
  device->vk.DestroyCommandPool (device->handle, deferred->pool, NULL);
  device->vk.DestroyBuffer (device->handle, deferred->buffer, NULL);
  device->vk.FreeMemory (device->handle, deferred->memory, NULL);
  if (deferred->account_bytes > 0)
    dyno_account_release (device, deferred->kind, deferred->account_bytes);
  if (deferred->host_bytes > 0)
    dyno_account_add_host (device, -(gint64) deferred->host_bytes);
}

void
dyno_device_defer_free (DynoDevice *device, const DynoDeferredFree *deferred)
{
  if (is_due (device, deferred))
    {
      destroy (device, deferred);
      return;
    }
  g_mutex_lock (&device->deferred_lock);
  g_array_append_val (device->deferred, *deferred);
  g_mutex_unlock (&device->deferred_lock);
}

void
dyno_device_collect (DynoDevice *device)
{
  g_autoptr (GArray) due = NULL;

  g_mutex_lock (&device->deferred_lock);
  for (guint i = device->deferred->len; i-- > 0;)
    {
      DynoDeferredFree *deferred = &g_array_index (device->deferred, DynoDeferredFree, i);
      if (!is_due (device, deferred))
        continue;
      if (!due)
        due = g_array_new (FALSE, FALSE, sizeof (DynoDeferredFree));
      g_array_append_val (due, *deferred);
      g_array_remove_index_fast (device->deferred, i);
    }
  g_mutex_unlock (&device->deferred_lock);
  for (guint i = 0; due && i < due->len; i++)
    destroy (device, &g_array_index (due, DynoDeferredFree, i));
}

gboolean
dyno_device_collect_all (DynoDevice *device)
{
  guint64 timeline_values[DYNO_QUEUE_N] = { 0 };
  gboolean any;

  g_mutex_lock (&device->deferred_lock);
  any = device->deferred->len > 0;
  for (guint i = 0; i < device->deferred->len; i++)
    for (guint k = 0; k < DYNO_QUEUE_N; k++)
      timeline_values[k] =
          MAX (timeline_values[k],
               g_array_index (device->deferred, DynoDeferredFree, i).timeline_values[k]);
  g_mutex_unlock (&device->deferred_lock);
  for (guint k = 0; any && k < device->n_queues; k++)
    if (!dyno_queue_wait (device, (DynoQueue) k, timeline_values[k], 0, NULL))
      return FALSE;
  dyno_device_collect (device);
  return any;
}
