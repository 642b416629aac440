/* SPDX-License-Identifier: MIT */
/* Optimizer steps, each of one or more batches; a step's result comes while the next one runs.
 * Private to the train layer. */
#pragma once
#include "pipe.h"
#include "ranktimes.h"
#include "settings.h"

G_BEGIN_DECLS

/* The loss scale falls no further: a gradient that overflows here is too large for any. */
#define DYNO_STEP_SCALE_LEAST (1.0f / 1024)

/* The order for a step. */
typedef struct {
  guint64 step;  /* updates before it */
  guint64 epoch; /* from 0 */
  guint batches; /* whose gradients it adds up, of all ranks */
  double lr;
} DynoStepOrder;

typedef struct {
  DynoStepOrder order;
  guint64 n_samples;
  double loss_sum, metric_sums[DYNO_MAX_METRICS]; /* over the samples */
  double grad_norm, loss_scale;
  gboolean overflow, nonfinite_loss;
  double upload_ms, host_copy_ms, stage_ms[3];
  double wait_ms; /* for the loader, since the result before */
  gint64 end_us;
  const DynoRankStep *ranks; /* of several: of each, until the stepper's next call; else NULL */
} DynoStepResult;            /* of several ranks: sums over all, times of this one */

typedef struct _DynoStepper DynoStepper;

DynoStepper *dyno_stepper_new (DynoPipe *pipe);
void dyno_stepper_free (DynoStepper *stepper);

/* Several ranks make each step, the pipe having an exchange, and have equal results.  turn: batches
 * that a rank takes one after the other.  A rank for which a step has no batch takes part with a
 * gradient of 0.  The communicator outlives the stepper. */
void dyno_stepper_set_comm (DynoStepper *stepper, DynoComm *comm, guint turn);
/* Time for which this rank waited for the others outside of the stepper, between two steps. */
void dyno_stepper_add_wait (DynoStepper *stepper, gint64 wait_us);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStepper, dyno_stepper_free)

/* Submits a step, then waits until the one before is over; *has_result says whether one was.
 * soft cancels waiting for the first batch only, when nothing of the step has run:
 * G_IO_ERROR_CANCELLED leaves everything as it was, but for the result that drain then gives.
 * hard cancels any wait for the loader.  With a communicator soft is without effect, and hard
 * cancels the wait for the other ranks too, who then fail. */
gboolean dyno_stepper_run (DynoStepper *stepper, const DynoStepOrder *order,
                           const DynoSettings *settings, GCancellable *soft, GCancellable *hard,
                           DynoStepResult *result, gboolean *has_result, GError **error);

/* Waits for the last step.  *unfinished: the loader failed in the midst of one, whose first batches
 * have left gradients and moved running statistics (dyno_program_abandon_step); it is forgotten, to
 * be run again from its first batch. */
gboolean dyno_stepper_drain (DynoStepper *stepper, DynoStepResult *result, gboolean *has_result,
                             gboolean *unfinished, GError **error);

/* The input of a step's batches but for the fields that differ from batch to batch. */
void dyno_step_fill_input (struct DynoStepInput *input, const DynoStepOrder *order,
                           const DynoSettings *settings);

G_END_DECLS
