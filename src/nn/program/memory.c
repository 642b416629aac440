/* SPDX-License-Identifier: MIT */
/* The buffers of a plan: one per space, or one per slot where steps in flight must not share a
 * buffer; the arena has as many buffers as it needs.
 *
 * Invariant: the allocated sizes equal the plan's, byte for byte. */
#include "memory-private.h"
#include "step.h"

/* PyTorch's first loss scale. */
#define FIRST_LOSS_SCALE 65536.0f

static gboolean
check_plan (const DynoPlan *plan, GError **error)
{
  if (dyno_plan_fits_buffers (plan))
    return TRUE;
  g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY,
               "One buffer of %" G_GUINT64_FORMAT
               " bytes is needed, the largest of this device is %" G_GUINT64_FORMAT
               "; use a smaller batch or smaller images",
               plan->largest_bytes, plan->buffer_bytes);
  return FALSE;
}

static DynoBufferUsage
usage_of (const DynoPlan *plan, DynoSpace space)
{
  return plan->shared && (space == DYNO_SPACE_GRADIENT || space == DYNO_SPACE_STATE)
             ? DYNO_BUFFER_SHARED
             : DYNO_BUFFER_DEVICE;
}

static gboolean
make_arena (DynoMemory *memory, DynoDevice *device, const DynoPlan *plan, GError **error)
{
  memory->buffer_bytes = plan->buffer_bytes;
  for (guint i = 0; i < plan->n_arena_buffers; i++)
    if (plan->arena_bytes[i] > 0
        && !(memory->arena[i] =
                 dyno_buffer_new (device, plan->arena_bytes[i], dyno_space_kind (DYNO_SPACE_ARENA),
                                  DYNO_BUFFER_DEVICE, error)))
      return FALSE;
  return TRUE;
}

DynoMemory *
dyno_memory_new (DynoDevice *device, const DynoPlan *plan, GError **error)
{
  g_return_val_if_fail (plan->n_slots <= DYNO_MEMORY_MAX_SLOTS, NULL);
  if (!check_plan (plan, error))
    return NULL;
  g_autoptr (DynoMemory) memory = g_new0 (DynoMemory, 1);
  memory->references = 1;
  memory->n_slots = plan->n_slots;
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    {
      guint n = memory->n_buffers[space] = dyno_plan_slots (plan, space);
      for (guint slot = 0; slot < n && plan->space_bytes[space] > 0 && space != DYNO_SPACE_ARENA;
           slot++)
        {
          DynoBuffer *buffer =
              dyno_buffer_new (device, plan->space_bytes[space], dyno_space_kind (space),
                               usage_of (plan, space), error);
          if (!buffer)
            return NULL;
          memory->buffers[space][slot] = buffer;
          if (!dyno_buffer_fill (buffer, 0, dyno_buffer_get_size (buffer), 0, error))
            return NULL;
        }
    }
  if (!make_arena (memory, device, plan, error))
    return NULL;
  struct DynoScalerState scaler = { .scale = plan->space_bytes[DYNO_SPACE_HALF] > 0
                                                 ? FIRST_LOSS_SCALE
                                                 : 1.0f };
  DynoBuffer *buffer = memory->buffers[DYNO_SPACE_SCALER][0];
  if (buffer && !dyno_buffer_write (buffer, 0, &scaler, sizeof scaler, error))
    return NULL;
  return g_steal_pointer (&memory);
}

DynoMemory *
dyno_memory_ref (DynoMemory *memory)
{
  memory->references++;
  return memory;
}

void
dyno_memory_unref (DynoMemory *memory)
{
  if (!memory || --memory->references > 0)
    return;
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    for (guint slot = 0; slot < DYNO_MEMORY_MAX_SLOTS; slot++)
      dyno_buffer_free (memory->buffers[space][slot]);
  for (guint i = 0; i < G_N_ELEMENTS (memory->arena); i++)
    dyno_buffer_free (memory->arena[i]);
  g_free (memory);
}

DynoBuffer *
dyno_memory_get_buffer (DynoMemory *memory, DynoSpace space, guint slot)
{
  g_return_val_if_fail (space < DYNO_SPACE_N && slot < memory->n_slots, NULL);
  return space == DYNO_SPACE_ARENA
             ? memory->arena[0]
             : memory->buffers[space][memory->n_buffers[space] > 1 ? slot : 0];
}

DynoBuffer *
dyno_memory_locate (DynoMemory *memory, const DynoTensor *tensor, guint slot, guint64 *offset)
{
  guint64 index = tensor->space == DYNO_SPACE_ARENA ? tensor->offset / memory->buffer_bytes : 0;
  DynoBuffer *buffer = dyno_memory_get_buffer (memory, tensor->space, slot);

  if (tensor->offset == DYNO_OFFSET_NONE || index >= DYNO_PLAN_MAX_ARENA_BUFFERS)
    return NULL;
  if (tensor->space == DYNO_SPACE_ARENA)
    buffer = memory->arena[index];
  *offset = tensor->offset - index * memory->buffer_bytes;
  return buffer && *offset <= dyno_buffer_get_size (buffer)
                 && tensor->size_bytes <= dyno_buffer_get_size (buffer) - *offset
             ? buffer
             : NULL;
}

GPtrArray *
dyno_memory_list_state (DynoMemory *memory)
{
  GPtrArray *buffers = g_ptr_array_new ();
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    if (memory->buffers[space][0] && (dyno_space_is_state (space) || space == DYNO_SPACE_HALF))
      g_ptr_array_add (buffers, memory->buffers[space][0]);
  return buffers;
}

GPtrArray *
dyno_memory_list_arena (DynoMemory *memory)
{
  GPtrArray *buffers = g_ptr_array_new ();
  for (guint i = 0; i < G_N_ELEMENTS (memory->arena); i++)
    if (memory->arena[i])
      g_ptr_array_add (buffers, memory->arena[i]);
  return buffers;
}
