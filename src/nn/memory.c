/* SPDX-License-Identifier: MIT */
/* The buffers of a plan: one a space, or one a slot where steps in flight must not share.
 *
 * Law: what is allocated is what the plan says, byte for byte. */
#include "memory-private.h"
#include "step.h"

/* PyTorch's first loss scale. */
#define FIRST_LOSS_SCALE 65536.0f

DynoMemory *
dyno_memory_new (DynoDevice *device, const DynoPlan *plan, GError **error)
{
  g_return_val_if_fail (plan->n_slots <= DYNO_MEMORY_MAX_SLOTS, NULL);
  g_autoptr (DynoMemory) memory = g_new0 (DynoMemory, 1);
  memory->n_slots = plan->n_slots;
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    {
      guint n = memory->n_buffers[space] = dyno_plan_slots (plan, space);
      for (guint slot = 0; slot < n && plan->space_bytes[space] > 0; slot++)
        {
          DynoBuffer *buffer =
              dyno_buffer_new (device, plan->space_bytes[space], dyno_space_kind (space), DYNO_BUFFER_DEVICE, error);
          if (!buffer)
            return NULL;
          memory->buffers[space][slot] = buffer;
          if (space != DYNO_SPACE_ARENA && !dyno_buffer_fill (buffer, 0, dyno_buffer_get_size (buffer), 0, error))
            return NULL;
        }
    }
  struct DynoScalerState scaler = { .scale = plan->space_bytes[DYNO_SPACE_HALF] > 0 ? FIRST_LOSS_SCALE : 1.0f };
  DynoBuffer *buffer = memory->buffers[DYNO_SPACE_SCALER][0];
  if (buffer && !dyno_buffer_write (buffer, 0, &scaler, sizeof scaler, error))
    return NULL;
  return g_steal_pointer (&memory);
}

void
dyno_memory_free (DynoMemory *memory)
{
  if (!memory)
    return;
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    for (guint slot = 0; slot < DYNO_MEMORY_MAX_SLOTS; slot++)
      dyno_buffer_free (memory->buffers[space][slot]);
  g_free (memory);
}

DynoBuffer *
dyno_memory_get_buffer (DynoMemory *memory, DynoSpace space, guint slot)
{
  g_return_val_if_fail (space < DYNO_SPACE_N && slot < memory->n_slots, NULL);
  return memory->buffers[space][memory->n_buffers[space] > 1 ? slot : 0];
}
