/* SPDX-License-Identifier: MIT */
/* The pipe: submission n uses slot n modulo DYNO_PIPE_SLOTS, and is retired before that slot is
 * used again. */
#include "pipe.h"
#include <string.h>

struct _DynoPipe {
  DynoDevice *device;
  DynoProgram *program;
  DynoUploader *uploader;
  guint32 batch;
  guint64 submitted, retired;
  guint64 timeline_values[DYNO_PIPE_SLOTS]; /* of this pipe's last submission in each slot */
  guint32 n_taken[DYNO_PIPE_SLOTS];         /* samples of this pipe's last batch in each slot */
  guint64 *last_use;                        /* shared with other pipes over the same memory */
  DynoReadback *readback;                   /* NULL: none */
  DynoExchange *exchange;                   /* NULL: none */
  gboolean exchanging;                      /* the last submitted step is not finished */
};

DynoPipe *
dyno_pipe_new (DynoDevice *device, DynoProgram *program, DynoUploader *uploader, guint32 batch,
               guint64 *last_use)
{
  DynoPipe *pipe = g_new0 (DynoPipe, 1);

  pipe->device = dyno_device_ref (device);
  pipe->program = program;
  pipe->uploader = uploader;
  pipe->batch = batch;
  pipe->last_use = last_use;
  return pipe;
}

void
dyno_pipe_free (DynoPipe *pipe)
{
  DynoPipeResult result;

  if (!pipe)
    return;
  while (dyno_pipe_get_pending (pipe) > 0 && dyno_pipe_retire (pipe, &result, NULL))
    ;
  dyno_device_unref (pipe->device);
  g_free (pipe);
}

void
dyno_pipe_set_exchange (DynoPipe *pipe, DynoExchange *exchange)
{
  pipe->exchange = exchange;
}

void
dyno_pipe_set_readback (DynoPipe *pipe, DynoReadback *readback)
{
  pipe->readback = readback;
}

gboolean
dyno_pipe_read_back (DynoPipe *pipe, DynoReadback *readback, GError **error)
{
  guint slot = (guint) ((pipe->submitted + DYNO_PIPE_SLOTS - 1) % DYNO_PIPE_SLOTS);

  g_return_val_if_fail (dyno_pipe_get_pending (pipe) > 0, FALSE);
  if (!dyno_readback_submit (readback, slot, &pipe->timeline_values[slot], error))
    return FALSE;
  pipe->last_use[slot] = pipe->timeline_values[slot];
  return TRUE;
}

guint
dyno_pipe_get_pending (DynoPipe *pipe)
{
  return (guint) (pipe->submitted - pipe->retired);
}

gint64
dyno_pipe_get_exposed (DynoPipe *pipe)
{
  DynoExchangeTimes times = { 0 };

  if (pipe->exchange)
    dyno_exchange_get_times (pipe->exchange, &times);
  return times.exposed_us;
}

gboolean
dyno_pipe_settle (DynoPipe *pipe, GCancellable *cancellable, GError **error)
{
  guint slot = (guint) ((pipe->submitted + DYNO_PIPE_SLOTS - 1) % DYNO_PIPE_SLOTS);

  if (!pipe->exchanging)
    return TRUE;
  if (!dyno_exchange_finish (pipe->exchange, cancellable, &pipe->timeline_values[slot], error))
    return FALSE;
  pipe->exchanging = FALSE;
  pipe->last_use[slot] = pipe->timeline_values[slot];
  return TRUE;
}

/* Submits the computing on the batch that was taken into a slot. */
static gboolean
submit_taken (DynoPipe *pipe, DynoCommandKind kind, guint slot, const DynoWait *upload,
              gboolean blank, GCancellable *cancellable, GError **error)
{
  guint64 *timeline_value = &pipe->timeline_values[slot];

  if (!dyno_pipe_settle (pipe, cancellable, error))
    return FALSE;
  if (kind != DYNO_COMMAND_PIECES)
    return dyno_program_submit (pipe->program, kind, slot, upload, 1, timeline_value, error)
           && (!pipe->readback
               || dyno_readback_submit (pipe->readback, slot, timeline_value, error));
  pipe->exchanging =
      dyno_exchange_begin (pipe->exchange, slot, upload, blank, timeline_value, error);
  return pipe->exchanging;
}

gboolean
dyno_pipe_submit (DynoPipe *pipe, DynoCommandKind kind, const struct DynoStepInput *input,
                  GCancellable *cancellable, guint32 *n_valid, gint64 *wait_us, GError **error)
{
  guint slot = (guint) (pipe->submitted % DYNO_PIPE_SLOTS);
  DynoWait upload = { DYNO_QUEUE_TRANSFER, 0 };
  struct DynoStepInput *target = dyno_program_step_input (pipe->program, slot);

  g_return_val_if_fail (dyno_pipe_get_pending (pipe) < DYNO_PIPE_SLOTS, FALSE);
  *n_valid = pipe->batch;
  if (pipe->uploader
      && !dyno_uploader_next (pipe->uploader, slot, pipe->last_use[slot], cancellable, n_valid,
                              wait_us, &upload.timeline_value, error))
    return FALSE;
  if (*n_valid == 0)
    return TRUE;
  *target = *input;
  target->n_valid = *n_valid;
  target->loss_divisor = input->loss_divisor * (float) *n_valid;
  if (!submit_taken (pipe, kind, slot, &upload, FALSE, cancellable, error))
    {
      if (pipe->uploader)
        dyno_uploader_reclaim (pipe->uploader, slot, NULL);
      return FALSE;
    }
  pipe->last_use[slot] = pipe->timeline_values[slot];
  pipe->n_taken[slot] = *n_valid;
  pipe->submitted++;
  return TRUE;
}

/* The slot holds an earlier batch, or memory that was never filled; no sample of it counts. */
gboolean
dyno_pipe_submit_blank (DynoPipe *pipe, const struct DynoStepInput *input,
                        GCancellable *cancellable, GError **error)
{
  guint slot = (guint) (pipe->submitted % DYNO_PIPE_SLOTS);
  DynoWait upload = { DYNO_QUEUE_TRANSFER, 0 };
  struct DynoStepInput *target = dyno_program_step_input (pipe->program, slot);

  g_return_val_if_fail (pipe->exchange && dyno_pipe_get_pending (pipe) < DYNO_PIPE_SLOTS, FALSE);
  *target = *input;
  target->n_valid = pipe->n_taken[slot] = 0;
  if (!submit_taken (pipe, DYNO_COMMAND_PIECES, slot, &upload, TRUE, cancellable, error))
    return FALSE;
  pipe->last_use[slot] = pipe->timeline_values[slot];
  pipe->submitted++;
  return TRUE;
}

gboolean
dyno_pipe_retire (DynoPipe *pipe, DynoPipeResult *result, GError **error)
{
  guint slot = (guint) (pipe->retired % DYNO_PIPE_SLOTS);

  g_return_val_if_fail (dyno_pipe_get_pending (pipe) > 0, FALSE);
  if (dyno_pipe_get_pending (pipe) == 1 && !dyno_pipe_settle (pipe, NULL, error))
    return FALSE;
  if (!dyno_queue_wait (pipe->device, DYNO_QUEUE_COMPUTE, pipe->timeline_values[slot], 0, error))
    return FALSE;
  pipe->retired++;
  result->end_us = g_get_monotonic_time ();
  result->slot = slot;
  result->n_taken = pipe->n_taken[slot];
  result->output = *dyno_program_step_output (pipe->program, slot);
  result->upload_ms = result->host_copy_ms = 0;
  if (pipe->uploader)
    result->upload_ms = dyno_uploader_reclaim (pipe->uploader, slot, &result->host_copy_ms);
  dyno_program_read_stages (pipe->program, slot, result->stage_us);
  return TRUE;
}
