/* SPDX-License-Identifier: MIT */
/* Host memory as a list: sums, and the only code that allocates page-locked memory from the
 * list. */
#include "hostplan.h"
#include "checked.h"

DynoHostBuffer
dyno_host_buffer (const char *purpose, DynoHostKind kind, guint count, guint64 size_bytes)
{
  if (kind != DYNO_HOST_PLAIN)
    size_bytes = dyno_align_up (size_bytes, DYNO_BUFFER_GRANULARITY);
  return (DynoHostBuffer){ purpose, kind, count, size_bytes };
}

void
dyno_host_plan_add (DynoHostPlan *plan, const DynoHostBuffer *buffer)
{
  if (buffer->count == 0 || buffer->size_bytes == 0)
    return;
  g_return_if_fail (plan->n < DYNO_HOST_PLAN_MAX);
  plan->buffers[plan->n++] = *buffer;
  plan->total_bytes += buffer->count * buffer->size_bytes;
}

guint64
dyno_host_plan_get_bytes (const DynoHostPlan *plan, DynoHostKind kind)
{
  guint64 bytes = 0;

  for (guint i = 0; i < plan->n; i++)
    if (plan->buffers[i].kind == kind)
      bytes += plan->buffers[i].count * plan->buffers[i].size_bytes;
  return bytes;
}

DynoBuffer *
dyno_host_buffer_allocate (const DynoHostBuffer *buffer, DynoDevice *device, GError **error)
{
  g_return_val_if_fail (buffer->kind != DYNO_HOST_PLAIN, NULL);
  return dyno_buffer_new (
      device, buffer->size_bytes, DYNO_MEMORY_STAGING,
      buffer->kind == DYNO_HOST_UPLOAD ? DYNO_BUFFER_UPLOAD : DYNO_BUFFER_READBACK, error);
}
