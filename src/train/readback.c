/* SPDX-License-Identifier: MIT */
/* Outputs and truth on the host; in a slot's buffer the truth follows the outputs. */
#include "readback.h"
#include "half.h"
#include "planjob.h"
#include "stepmemory.h"
#include <string.h>

struct _DynoReadback {
  const DynoTensor *result, *target; /* target NULL: the network reads no target */
  guint64 target_offset;             /* byte offset in a slot's buffer */
  DynoBuffer *buffers[DYNO_JOB_SLOTS];
  DynoCommand *copies[DYNO_JOB_SLOTS];
};

static gboolean
record (DynoReadback *readback, DynoDevice *device, DynoBuild *build, const DynoHostBuffer *host,
        guint slot, GError **error)
{
  DynoMemory *memory = dyno_build_get_memory (build);
  const DynoTensor *parts[] = { readback->result, readback->target };
  guint64 to = 0;

  readback->buffers[slot] = dyno_host_buffer_allocate (host, device, error);
  readback->copies[slot] =
      readback->buffers[slot] ? dyno_command_new (device, DYNO_QUEUE_COMPUTE, error) : NULL;
  if (!readback->copies[slot])
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (parts) && parts[i]; i++)
    {
      guint64 from, size_bytes = dyno_predictions_part_bytes (parts[i]);
      DynoBuffer *source = dyno_memory_locate (memory, parts[i], slot, &from);

      g_return_val_if_fail (source, FALSE);
      dyno_command_copy (readback->copies[slot], source, from, readback->buffers[slot], to,
                         size_bytes);
      to += size_bytes;
    }
  return dyno_command_end (readback->copies[slot], error);
}

static DynoReadback *
new_of (DynoDevice *device, DynoBuild *build, const DynoTensor *result, const DynoTensor *target,
        const DynoHostBuffer *host, GError **error)
{
  g_autoptr (DynoReadback) readback = g_new0 (DynoReadback, 1);

  readback->result = result;
  readback->target = target;
  readback->target_offset = dyno_predictions_part_bytes (result);
  for (guint slot = 0; slot < DYNO_JOB_SLOTS; slot++)
    if (!record (readback, device, build, host, slot, error))
      return NULL;
  return g_steal_pointer (&readback);
}

DynoReadback *
dyno_readback_new (DynoDevice *device, DynoBuild *build, GError **error)
{
  DynoGraph *graph = dyno_build_get_graph (build);
  DynoHostBuffer host = dyno_predictions_plan_buffer (dyno_predictions_slot_bytes (graph));

  return new_of (device, build, dyno_network_get_result (graph),
                 dyno_predictions_find_truth (graph), &host, error);
}

DynoReadback *
dyno_readback_new_watched (DynoDevice *device, DynoBuild *build, GError **error)
{
  DynoGraph *graph = dyno_build_get_graph (build);
  DynoHostBuffer host = dyno_watched_plan_buffer (dyno_watched_slot_bytes (graph));

  return new_of (device, build, dyno_network_get_watched (graph), NULL, &host, error);
}

void
dyno_readback_free (DynoReadback *readback)
{
  if (!readback)
    return;
  for (guint slot = 0; slot < DYNO_JOB_SLOTS; slot++)
    {
      dyno_command_free (readback->copies[slot]);
      dyno_buffer_free (readback->buffers[slot]);
    }
  g_free (readback);
}

gboolean
dyno_readback_submit (DynoReadback *readback, guint slot, guint64 *timeline_value, GError **error)
{
  return dyno_command_submit (readback->copies[slot], NULL, 0, timeline_value, error);
}

void
dyno_readback_get_outputs (DynoReadback *readback, guint slot, guint32 row, float *outputs)
{
  const DynoTensor *tensor = readback->result;
  const guint8 *source = dyno_buffer_get_mapped (readback->buffers[slot]);
  gboolean halves = tensor->dtype == DYNO_DTYPE_F16;
  guint16 half;

  source += (gsize) row * tensor->cp * dyno_dtype_size (tensor->dtype);
  if (!halves)
    memcpy (outputs, source, tensor->c * sizeof *outputs);
  for (guint32 i = 0; i < tensor->c && halves; i++)
    {
      memcpy (&half, source + 2 * (gsize) i, 2);
      outputs[i] = dyno_half_to_float (half);
    }
}

static gconstpointer
get_truth (DynoReadback *readback, guint slot, gsize offset)
{
  const guint8 *source = dyno_buffer_get_mapped (readback->buffers[slot]);

  return source + readback->target_offset + offset;
}

gint32
dyno_readback_get_class (DynoReadback *readback, guint slot, guint32 row)
{
  return *(const gint32 *) get_truth (readback, slot, row * sizeof (gint32));
}

const float *
dyno_readback_get_values (DynoReadback *readback, guint slot, guint32 row)
{
  return get_truth (readback, slot, (gsize) row * readback->result->c * sizeof (float));
}

const guint32 *
dyno_readback_get_counts (DynoReadback *readback, guint slot)
{
  return dyno_buffer_get_mapped (readback->buffers[slot]);
}

const guint8 *
dyno_readback_get_mask (DynoReadback *readback, guint slot, guint32 row)
{
  const DynoTensor *result = readback->result;
  const guint8 *masks = dyno_buffer_get_mapped (readback->buffers[slot]);

  return masks + (gsize) row * result->h * result->w;
}
