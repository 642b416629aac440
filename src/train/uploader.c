/* SPDX-License-Identifier: MIT */
/* The uploader: loader slots, page-locked staging, and the recorded copies between them and the
 * program's INPUT slots.
 *
 * Invariants:
 * - A slot of the program is written only after the last computing that reads it (by its
 *   timeline_value); the computing waits for the copy's timeline_value.
 * - When pinned, a batch of the loader is held until its copy has ended, at most one for each
 *   program slot; else it is released as soon as it is staged.
 * - All fields of a batch that the network reads travel together, from one block of memory. */
#include "uploader.h"
#include "checked.h"
#include "stepmemory.h"
#include <string.h>

#define MAX_PROGRAM_SLOTS 4

struct _DynoUploader {
  DynoDevice *device;
  DynoLoader *loader;
  gboolean pinned;
  guint n_loader_slots; /* slots with page-locked memory of their own; 0 when not pinned */
  guint n_program_slots;
  DynoUploadPlan plan;
  DynoTensor *tensors[DYNO_SCHEMA_MAX_FIELDS]; /* by field; NULL: the network does not read it */
  DynoBuffer **slot_buffers;                   /* n_loader_slots */
  DynoBuffer *staging[MAX_PROGRAM_SLOTS];      /* NULL when pinned */
  GPtrArray *commands;                         /* [loader slot * n_program_slots + program slot] */
  DynoTimer *timers[MAX_PROGRAM_SLOTS];        /* NULL where copies cannot be timed */
  DynoBatch *held[MAX_PROGRAM_SLOTS];
  gboolean busy[MAX_PROGRAM_SLOTS];
  gint64 staged_us[MAX_PROGRAM_SLOTS]; /* time of copying into staging; 0 when pinned */
  guint64 timeline_values[MAX_PROGRAM_SLOTS];
};

static gboolean
make_buffers (DynoUploader *u, GError **error)
{
  u->slot_buffers = g_new0 (DynoBuffer *, MAX (1, u->n_loader_slots));
  for (guint i = 0; i < u->n_loader_slots; i++)
    {
      u->slot_buffers[i] = dyno_host_buffer_allocate (&u->plan.batches, u->device, error);
      if (!u->slot_buffers[i])
        return FALSE;
    }
  for (guint s = 0; s < u->n_program_slots; s++)
    {
      if (u->plan.staging.count > 0
          && !(u->staging[s] = dyno_host_buffer_allocate (&u->plan.staging, u->device, error)))
        return FALSE;
      /* A transfer-only queue cannot write timestamps. */
      if (!dyno_device_get_info (u->device)->transfer_queue)
        u->timers[s] = dyno_timer_new (u->device, 2, error);
      if (!u->timers[s] && !dyno_device_get_info (u->device)->transfer_queue)
        return FALSE;
    }
  return TRUE;
}

static DynoCommand *
record_copy (DynoUploader *u, DynoMemory *memory, guint loader_slot, guint slot, GError **error)
{
  g_autoptr (DynoCommand) command = dyno_command_new (u->device, DYNO_QUEUE_TRANSFER, error);
  DynoBuffer *input = dyno_memory_get_buffer (memory, DYNO_SPACE_INPUT, slot);

  if (!command)
    return NULL;
  if (u->timers[slot])
    dyno_command_timestamp (command, u->timers[slot], 0);
  for (guint i = 0; i < u->plan.layout.n_fields; i++)
    if (u->tensors[i])
      dyno_command_copy (command, u->pinned ? u->slot_buffers[loader_slot] : u->staging[slot],
                         u->plan.layout.offset[i], input, u->tensors[i]->offset,
                         dyno_align_up (u->plan.layout.field_bytes[i], 4));
  if (u->timers[slot])
    dyno_command_timestamp (command, u->timers[slot], 1);
  if (!dyno_command_end (command, error))
    return NULL;
  return g_steal_pointer (&command);
}

static gboolean
record_all (DynoUploader *u, DynoMemory *memory, GError **error)
{
  u->commands = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_command_free);
  for (guint k = 0; k < MAX (1, u->n_loader_slots); k++)
    for (guint s = 0; s < u->n_program_slots; s++)
      {
        DynoCommand *command = record_copy (u, memory, k, s, error);
        if (!command)
          return FALSE;
        g_ptr_array_add (u->commands, command);
      }
  return TRUE;
}

static gboolean
make_loader (DynoUploader *u, DynoDataset *dataset, const GArray *indices,
             const DynoLoaderParams *params, GError **error)
{
  DynoLoaderParams own = *params;
  g_autofree gpointer *slots = g_new0 (gpointer, MAX (1, u->n_loader_slots));

  for (guint i = 0; i < u->n_loader_slots; i++)
    slots[i] = dyno_buffer_get_mapped (u->slot_buffers[i]);
  own.slots = u->pinned ? slots : NULL;
  own.n_slots = u->n_loader_slots;
  u->loader = dyno_loader_new (dataset, indices, &own, error);
  return u->loader != NULL;
}

DynoUploader *
dyno_uploader_new (DynoDevice *device, DynoMemory *memory, DynoGraph *graph, DynoDataset *dataset,
                   const GArray *indices, const DynoLoaderParams *params, guint n_program_slots,
                   gboolean pinned, GError **error)
{
  g_autoptr (DynoUploader) u = g_new0 (DynoUploader, 1);
  DynoBatchSchema schema;

  g_return_val_if_fail (n_program_slots <= MAX_PROGRAM_SLOTS, NULL);
  u->device = dyno_device_ref (device);
  u->pinned = pinned;
  u->n_program_slots = n_program_slots;
  dyno_dataset_get_schema (dyno_dataset_get_info (dataset), params->width, params->height, &schema);
  if (!dyno_upload_plan_init (&u->plan, &schema, params->batch, params->prefetch, n_program_slots,
                              pinned, error))
    return NULL;
  u->n_loader_slots = pinned ? u->plan.batches.count : 0;
  for (guint i = 0; i < schema.n_fields; i++)
    u->tensors[i] = dyno_network_get_input (graph, i);
  if (!make_buffers (u, error) || !record_all (u, memory, error)
      || !make_loader (u, dataset, indices, params, error))
    return NULL;
  return g_steal_pointer (&u);
}

void
dyno_uploader_free (DynoUploader *u)
{
  if (!u)
    return;
  for (guint s = 0; s < u->n_program_slots; s++)
    if (u->timeline_values[s])
      dyno_queue_wait (u->device, DYNO_QUEUE_TRANSFER, u->timeline_values[s], 0, NULL);
  dyno_loader_free (u->loader);
  if (u->commands)
    g_ptr_array_unref (u->commands);
  for (guint s = 0; s < MAX_PROGRAM_SLOTS; s++)
    {
      dyno_timer_free (u->timers[s]);
      dyno_buffer_free (u->staging[s]);
    }
  for (guint i = 0; u->slot_buffers && i < u->n_loader_slots; i++)
    dyno_buffer_free (u->slot_buffers[i]);
  g_free (u->slot_buffers);
  dyno_device_unref (u->device);
  g_free (u);
}

DynoLoader *
dyno_uploader_get_loader (DynoUploader *u)
{
  return u->loader;
}

guint
dyno_uploader_get_max_prefetch (DynoUploader *u)
{
  return u->pinned ? u->n_loader_slots - u->n_program_slots : 64;
}

static void
stage (DynoUploader *u, guint slot, const DynoBatch *batch)
{
  guint8 *staging = dyno_buffer_get_mapped (u->staging[slot]);
  gint64 begin_us = g_get_monotonic_time ();

  for (guint i = 0; i < u->plan.layout.n_fields; i++)
    if (u->tensors[i])
      memcpy (staging + u->plan.layout.offset[i], batch->fields[i], u->plan.layout.field_bytes[i]);
  u->staged_us[slot] = g_get_monotonic_time () - begin_us;
}

gboolean
dyno_uploader_next (DynoUploader *u, guint slot, guint64 after, GCancellable *cancellable,
                    guint32 *n_valid, gint64 *wait_us, guint64 *timeline_value, GError **error)
{
  g_autoptr (GError) problem = NULL;
  DynoWait wait = { DYNO_QUEUE_COMPUTE, after };
  gint64 waited = 0;
  DynoBatch *batch;

  g_return_val_if_fail (slot < u->n_program_slots && !u->busy[slot], FALSE);
  *n_valid = 0;
  batch = dyno_loader_next (u->loader, &waited, cancellable, &problem);
  *wait_us += waited;
  if (problem)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  if (!batch)
    return TRUE;
  if (!u->pinned)
    stage (u, slot, batch);
  u->busy[slot] = TRUE;
  *n_valid = batch->n_valid;
  guint command = (u->pinned ? batch->slot : 0) * u->n_program_slots + slot;
  if (u->pinned)
    u->held[slot] = batch;
  else
    dyno_loader_release (u->loader, batch);
  if (!dyno_command_submit (g_ptr_array_index (u->commands, command), &wait, 1, timeline_value,
                            error))
    {
      dyno_uploader_reclaim (u, slot, NULL);
      return FALSE;
    }
  u->timeline_values[slot] = *timeline_value;
  return TRUE;
}

double
dyno_uploader_reclaim (DynoUploader *u, guint slot, double *host_ms)
{
  double times[2] = { 0, 0 };

  if (host_ms)
    *host_ms = u->busy[slot] ? (double) u->staged_us[slot] / 1e3 : 0;
  if (!u->busy[slot])
    return 0;
  u->busy[slot] = FALSE;
  if (u->held[slot])
    dyno_loader_release (u->loader, g_steal_pointer (&u->held[slot]));
  if (u->timers[slot])
    dyno_timer_read (u->timers[slot], times, 2, NULL);
  return (times[1] - times[0]) / 1000.0;
}
