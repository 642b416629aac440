/* SPDX-License-Identifier: MIT */
/* Optimizer steps, each of one or more batches; a step's result is returned while the next step
 * runs.  Private to the train layer. */
#pragma once
#include "pipe.h"
#include "ranktimes.h"
#include "settings.h"

G_BEGIN_DECLS

/* The lower limit of the loss scale: a gradient that overflows here overflows at any scale. */
#define DYNO_STEP_SCALE_LEAST (1.0f / 1024)

/* The parameters of a step. */
typedef struct {
  guint64 step;  /* number of updates before it */
  guint64 epoch; /* from 0 */
  guint batches; /* number of batches whose gradients it adds up, over all ranks */
  double lr;
} DynoStepOrder;

typedef struct {
  DynoStepOrder order;
  guint64 n_samples;
  double loss_sum, metric_sums[DYNO_MAX_METRICS]; /* sums over the samples */
  double grad_norm, loss_scale;
  gboolean overflow, nonfinite_loss;
  double upload_ms, host_copy_ms, stage_ms[3];
  double wait_ms; /* time of waiting for the loader since the result before */
  gint64 end_us;
  const DynoRankStep *ranks; /* of each rank, until the stepper's next call; NULL: one rank */
} DynoStepResult;            /* with several ranks: sums over all of them, times of this rank */

typedef struct _DynoStepper DynoStepper;

DynoStepper *dyno_stepper_new (DynoPipe *pipe);
void dyno_stepper_free (DynoStepper *stepper);

/* For several ranks, which make each step together and have equal results; the pipe must have an
 * exchange.  turn: the number of consecutive batches of a rank.  A rank without a batch in a step
 * takes part with a gradient of 0.  The communicator outlives the stepper. */
void dyno_stepper_set_comm (DynoStepper *stepper, DynoComm *comm, guint turn);
/* Adds time for which this rank waited for the others outside of the stepper, between two steps. */
void dyno_stepper_add_wait (DynoStepper *stepper, gint64 wait_us);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStepper, dyno_stepper_free)

/* Submits a step, then waits for the step before; *has_result: whether *result holds its result.
 * soft cancels only the wait for the first batch, before any part of the step has run: after
 * G_IO_ERROR_CANCELLED everything is unchanged, and drain returns the result of the step before.
 * hard cancels any wait for the loader.  With a communicator soft has no effect, and hard also
 * cancels the wait for the other ranks, which then fail. */
gboolean dyno_stepper_run (DynoStepper *stepper, const DynoStepOrder *order,
                           const DynoSettings *settings, GCancellable *soft, GCancellable *hard,
                           DynoStepResult *result, gboolean *has_result, GError **error);

/* Waits for the last step.  *unfinished: the loader failed in the middle of a step, whose first
 * batches have left gradients and changed running statistics (dyno_program_abandon_step); the step
 * is dropped, and has to be run again from its first batch. */
gboolean dyno_stepper_drain (DynoStepper *stepper, DynoStepResult *result, gboolean *has_result,
                             gboolean *unfinished, GError **error);

/* Fills the input of a step's batches, except for the fields that differ between batches. */
void dyno_step_fill_input (struct DynoStepInput *input, const DynoStepOrder *order,
                           const DynoSettings *settings);

G_END_DECLS
