/* SPDX-License-Identifier: MIT */
/* Batches through a program, two in flight: each is uploaded, submitted, and its output read when
 * it is over.
 *
 * A submit waits for the loader and for nothing else; retiring waits for the oldest submission.
 * With an exchange the submit after a step that is exchanged finishes that one first, once its own
 * batch is on its way to the device.
 * One thread, the session's.  Private to the train layer. */
#pragma once
#include "exchange.h"
#include "readback.h"
#include "uploader.h"

G_BEGIN_DECLS

typedef struct _DynoPipe DynoPipe;

#define DYNO_PIPE_SLOTS 2

/* The results of a retired submission. */
typedef struct {
  struct DynoStepOutput output;
  double stage_us[3]; /* device time of forward, backward, optimizer; zeros where not measured */
  double upload_ms, host_copy_ms;
  gint64 end_us; /* monotonic time at which it was seen to be over */
  guint slot;
  guint32 n_taken; /* samples of the batch */
} DynoPipeResult;

/* uploader NULL: the network makes its own input.  last_use: DYNO_PIPE_SLOTS timeline values, 0 at
 * first, of the last computing in each slot; pipes over the same memory share them, so that what
 * one has in flight is not overwritten by another.  All outlive the pipe. */
DynoPipe *dyno_pipe_new (DynoDevice *device, DynoProgram *program, DynoUploader *uploader,
                         guint32 batch, guint64 *last_use);
/* Waits for what is in flight. */
void dyno_pipe_free (DynoPipe *pipe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPipe, dyno_pipe_free)

/* Steps of kind PIECES go through it; it outlives the pipe. */
void dyno_pipe_set_exchange (DynoPipe *pipe, DynoExchange *exchange);

/* It copies the outputs of each submission, which are there from its retirement until the next
 * submission.  NULL: nothing is copied.  Called while nothing is in flight; it outlives the pipe. */
void dyno_pipe_set_readback (DynoPipe *pipe, DynoReadback *readback);

/* Copies what another readback of the pipe's program reads, out of the last submission, before the
 * next one: it is there from that submission's retirement until the next submission of its slot.
 * Errors: those of submitting; the submission is in flight all the same. */
gboolean dyno_pipe_read_back (DynoPipe *pipe, DynoReadback *readback, GError **error);

/* Finishes the step that is being exchanged, if one is: what is submitted from now on sees its
 * update.  Errors: those of dyno_exchange_finish. */
gboolean dyno_pipe_settle (DynoPipe *pipe, GCancellable *cancellable, GError **error);

/* Takes a batch and submits it; the caller keeps fewer than DYNO_PIPE_SLOTS in flight.  input's
 * n_valid is filled in and its loss_divisor, the number of batches of the step, multiplied by it.
 * *n_valid 0: the epoch is over, nothing was submitted.  wait_us is added to.  Errors: those of the
 * loader, G_IO_ERROR_CANCELLED, those of submitting. */
gboolean dyno_pipe_submit (DynoPipe *pipe, DynoCommandKind kind, const struct DynoStepInput *input,
                           GCancellable *cancellable, guint32 *n_valid, gint64 *wait_us,
                           GError **error);

/* Takes no batch and submits an exchanged step (PIECES) to which this rank adds nothing: its input
 * has no valid sample.  Errors: those of submitting and of the exchange. */
gboolean dyno_pipe_submit_blank (DynoPipe *pipe, const struct DynoStepInput *input,
                                 GCancellable *cancellable, GError **error);

guint dyno_pipe_get_pending (DynoPipe *pipe);

/* Microseconds that the exchange took after the backward pass, all in all; 0 without one. */
gint64 dyno_pipe_get_exposed (DynoPipe *pipe);

/* Waits for the oldest submission.  Errors: DEVICE_LOST, TIMEOUT. */
gboolean dyno_pipe_retire (DynoPipe *pipe, DynoPipeResult *result, GError **error);

G_END_DECLS
