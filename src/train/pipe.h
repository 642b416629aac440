/* SPDX-License-Identifier: MIT */
/* Passes batches through a program, two of them in flight: each is uploaded and submitted, and its
 * output is read when it has finished.
 *
 * Submitting waits only for the loader; retiring waits for the oldest submission.  With an
 * exchange, submitting first finishes the step that is being exchanged, after it has submitted the
 * upload of the new batch.  One thread, the session's.  Private to the train layer. */
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
  gint64 end_us; /* monotonic time at which the host saw its end */
  guint slot;
  guint32 n_taken; /* number of samples in the batch */
} DynoPipeResult;

/* uploader NULL: the network generates its own input.  last_use: DYNO_PIPE_SLOTS timeline values, 0
 * at first, of the last submission that uses each slot; pipes over the same memory share them, so
 * that no pipe overwrites a batch that another pipe has in flight.  All outlive the pipe. */
DynoPipe *dyno_pipe_new (DynoDevice *device, DynoProgram *program, DynoUploader *uploader,
                         guint32 batch, guint64 *last_use);
/* Waits for all submissions in flight. */
void dyno_pipe_free (DynoPipe *pipe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoPipe, dyno_pipe_free)

/* Sets the exchange for steps of kind PIECES; it outlives the pipe. */
void dyno_pipe_set_exchange (DynoPipe *pipe, DynoExchange *exchange);

/* Sets the readback that copies the outputs of each submission, which are available from its
 * retirement until the next submission.  NULL: nothing is copied.  To be called while nothing is in
 * flight; the readback outlives the pipe. */
void dyno_pipe_set_readback (DynoPipe *pipe, DynoReadback *readback);

/* Copies the values of another readback of the pipe's program after the last submission and before
 * the next one: they are available from that submission's retirement until the next submission of
 * its slot.  Errors: those of submitting; the submission is in flight all the same. */
gboolean dyno_pipe_read_back (DynoPipe *pipe, DynoReadback *readback, GError **error);

/* Finishes the step that is being exchanged, if there is one: later submissions see its update.
 * Errors: those of dyno_exchange_finish. */
gboolean dyno_pipe_settle (DynoPipe *pipe, GCancellable *cancellable, GError **error);

/* Takes a batch and submits it; the caller must have fewer than DYNO_PIPE_SLOTS in flight.  The
 * submitted input has n_valid set, and its loss_divisor, the number of batches of the step,
 * multiplied by n_valid.  *n_valid 0: the epoch is over, and nothing was submitted.  The time of
 * waiting is added to *wait_us.  Errors: those of the loader, G_IO_ERROR_CANCELLED, those of
 * submitting. */
gboolean dyno_pipe_submit (DynoPipe *pipe, DynoCommandKind kind, const struct DynoStepInput *input,
                           GCancellable *cancellable, guint32 *n_valid, gint64 *wait_us,
                           GError **error);

/* Submits an exchanged step (PIECES) without a batch, to which this rank contributes nothing: its
 * input has no valid sample.  Errors: those of submitting and of the exchange. */
gboolean dyno_pipe_submit_blank (DynoPipe *pipe, const struct DynoStepInput *input,
                                 GCancellable *cancellable, GError **error);

guint dyno_pipe_get_pending (DynoPipe *pipe);

/* Total time in microseconds that exchanges took after the backward pass; 0 without an exchange. */
gint64 dyno_pipe_get_exposed (DynoPipe *pipe);

/* Waits for the oldest submission.  Errors: DEVICE_LOST, TIMEOUT; those of dyno_pipe_settle. */
gboolean dyno_pipe_retire (DynoPipe *pipe, DynoPipeResult *result, GError **error);

G_END_DECLS
