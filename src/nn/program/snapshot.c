/* SPDX-License-Identifier: MIT */
/* Snapshots: a second buffer for each space that holds state, one command that copies all of them,
 * and one command for each block that is read back.
 *
 * Invariants:
 * - Nothing is allocated or recorded after dyno_snapshot_new.
 * - Blocks are small, so that on a device with only one queue no step waits long for a block. */
#include "snapshot.h"
#include "graph-private.h"
#include "lowering-private.h"
#include "network.h"
#include "plan-private.h"
#include <string.h>

#define BLOCK_BYTES (G_GUINT64_CONSTANT (8) << 20)

typedef struct {
  DynoSpace space;
  guint64 offset, size_bytes;
  DynoCommand *command; /* from the copy to the block */
} Block;

struct _DynoSnapshot {
  DynoDevice *device;
  const DynoGraph *graph;
  DynoBuffer *copies[DYNO_SPACE_N]; /* NULL: no state there */
  DynoBuffer *block;
  DynoCommand *copy;
  GArray *blocks;      /* Block */
  guint64 taken, read; /* timeline values: of the last copy, of the last read */
};

static void
clear_block (gpointer data)
{
  dyno_command_free (((Block *) data)->command);
}

static gboolean
make_copies (DynoSnapshot *s, DynoMemory *memory, GError **error)
{
  for (DynoSpace space = 0; space < DYNO_SPACE_N; space++)
    {
      DynoBuffer *buffer = dyno_memory_get_buffer (memory, space, 0);
      if (!buffer || !dyno_space_is_state (space))
        continue;
      s->copies[space] = dyno_buffer_new (s->device, dyno_buffer_get_size (buffer),
                                          DYNO_MEMORY_SNAPSHOT, DYNO_BUFFER_DEVICE, error);
      if (!s->copies[space])
        return FALSE;
      dyno_command_copy (s->copy, buffer, 0, s->copies[space], 0, dyno_buffer_get_size (buffer));
    }
  return dyno_command_end (s->copy, error);
}

static gboolean
record_block (DynoSnapshot *s, DynoSpace space, guint64 offset, guint64 size_bytes, GError **error)
{
  Block block = { space, offset, size_bytes,
                  dyno_command_new (s->device, DYNO_QUEUE_TRANSFER, error) };

  if (!block.command)
    return FALSE;
  dyno_command_copy (block.command, s->copies[space], offset, s->block, 0, size_bytes);
  g_array_append_val (s->blocks, block);
  return dyno_command_end (block.command, error);
}

/* largest: bytes of the largest space that holds state. */
static DynoHostBuffer
host_block (guint64 largest)
{
  return dyno_host_buffer ("snapshot", DYNO_HOST_READBACK, 1, MIN (largest, BLOCK_BYTES));
}

static gboolean
record_blocks (DynoSnapshot *s, GError **error)
{
  DynoHostBuffer planned;
  guint64 most = 0;

  for (guint space = 0; space < DYNO_SPACE_N; space++)
    if (s->copies[space])
      most = MAX (most, dyno_buffer_get_size (s->copies[space]));
  planned = host_block (most);
  s->block = dyno_host_buffer_allocate (&planned, s->device, error);
  if (!s->block)
    return FALSE;
  for (DynoSpace space = 0; space < DYNO_SPACE_N; space++)
    {
      guint64 size = s->copies[space] ? dyno_buffer_get_size (s->copies[space]) : 0;
      for (guint64 offset = 0; offset < size; offset += BLOCK_BYTES)
        if (!record_block (s, space, offset, MIN (BLOCK_BYTES, size - offset), error))
          return FALSE;
    }
  return TRUE;
}

void
dyno_snapshot_plan_host (const DynoPlan *plan, DynoHostPlan *host)
{
  DynoHostBuffer block;
  guint64 most = 0;

  for (DynoSpace space = 0; space < DYNO_SPACE_N; space++)
    if (dyno_space_is_state (space))
      most = MAX (most, plan->space_bytes[space]);
  block = host_block (most);
  dyno_host_plan_add (host, &block);
}

DynoSnapshot *
dyno_snapshot_new (DynoProgram *program, GError **error)
{
  g_autoptr (DynoSnapshot) s = g_new0 (DynoSnapshot, 1);

  s->device = dyno_device_ref (dyno_program_get_device (program));
  s->graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  s->blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  g_array_set_clear_func (s->blocks, clear_block);
  s->copy = dyno_command_new (s->device, DYNO_QUEUE_COMPUTE, error);
  if (!s->copy || !make_copies (s, dyno_program_get_memory (program), error)
      || !record_blocks (s, error))
    return NULL;
  return g_steal_pointer (&s);
}

void
dyno_snapshot_free (DynoSnapshot *s)
{
  if (!s)
    return;
  g_array_unref (s->blocks);
  dyno_command_free (s->copy);
  dyno_buffer_free (s->block);
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    dyno_buffer_free (s->copies[space]);
  dyno_device_unref (s->device);
  g_free (s);
}

gboolean
dyno_snapshot_take (DynoSnapshot *s, GError **error)
{
  DynoWait wait = { DYNO_QUEUE_TRANSFER, s->read };

  return dyno_command_submit (s->copy, &wait, 1, &s->taken, error);
}

/* The first size_bytes of the copy of a space. */
static gboolean
read_space (DynoSnapshot *s, DynoSpace space, void *data, guint64 size_bytes, GError **error)
{
  DynoWait wait = { DYNO_QUEUE_COMPUTE, s->taken };

  for (guint i = 0; i < s->blocks->len; i++)
    {
      const Block *block = &g_array_index (s->blocks, Block, i);
      if (block->space != space || block->offset >= size_bytes)
        continue;
      if (!dyno_command_submit (block->command, &wait, 1, &s->read, error)
          || !dyno_queue_wait (s->device, DYNO_QUEUE_TRANSFER, s->read, 0, error))
        return FALSE;
      memcpy ((guint8 *) data + block->offset, dyno_buffer_get_mapped (s->block),
              MIN (block->size_bytes, size_bytes - block->offset));
    }
  return TRUE;
}

static gboolean
read_values (DynoSnapshot *s, DynoSpace space, float *const *values, GError **error)
{
  guint64 n_elements = dyno_graph_count_elements (s->graph, space);
  g_autofree float *flat = NULL;

  if (n_elements == 0)
    return TRUE;
  flat = g_try_new (float, n_elements);
  if (!flat)
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_NO_MEMORY,
                   "no host memory for %" G_GUINT64_FORMAT " weights", n_elements);
      return FALSE;
    }
  if (!read_space (s, space, flat, n_elements * sizeof (float), error))
    return FALSE;
  dyno_graph_unpack (s->graph, space, flat, values);
  return TRUE;
}

gboolean
dyno_snapshot_read_parameters (DynoSnapshot *s, DynoSpace space, float *const *values,
                               GError **error)
{
  g_return_val_if_fail (s->taken > 0 && s->copies[space], FALSE);
  return read_values (s, space, values, error)
         && (space != DYNO_SPACE_MASTER || read_values (s, DYNO_SPACE_STATE, values, error));
}

gboolean
dyno_snapshot_read_scaler (DynoSnapshot *s, struct DynoScalerState *scaler, GError **error)
{
  g_return_val_if_fail (s->taken > 0 && s->copies[DYNO_SPACE_SCALER], FALSE);
  return read_space (s, DYNO_SPACE_SCALER, scaler, sizeof *scaler, error);
}
