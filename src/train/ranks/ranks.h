/* SPDX-License-Identifier: MIT */
/* Messages between the ranks of a run besides gradients: results, commands, the initial state.  All
 * calls are collective; errors are the communicator's, and the device's.  Private to the train
 * layer. */
#pragma once
#include "checkpoint.h"
#include "evaluate.h"
#include "event.h"
#include "stepper.h"

G_BEGIN_DECLS

/* Replaces the sums of a step's result by those over all ranks; measured times stay this rank's.
 * mine: the times of this rank; all: receives those of every rank. */
gboolean dyno_ranks_sum_step (DynoComm *comm, DynoStepResult *result, const DynoRankStep *mine,
                              DynoRankStep *all, GError **error);

/* The same for the sums of an evaluation, before they become means. */
gboolean dyno_ranks_sum_evaluation (DynoComm *comm, DynoEvaluation *sum, GError **error);

/* Extends names ("sample: reason", char*, which the array frees) to those of all ranks, up to
 * `most`; *count becomes a lower bound of the number of such samples over all ranks. */
gboolean dyno_ranks_share_unreadable (DynoComm *comm, GPtrArray *names, guint most, guint64 *count,
                                      GError **error);

/* The commands that a rank received since the ranks last exchanged commands. */
typedef struct {
  guint32 stop;       /* DynoStop */
  guint32 checkpoint; /* TRUE: a checkpoint is requested */
  guint32 pause;      /* TRUE: the run should be paused */
  guint32 changed;    /* TRUE: the settings have changed */
} DynoRankOrders;

/* All ranks get the same commands: the strictest stop and a checkpoint where any rank was asked for
 * one; the rest are rank 0's. */
gboolean dyno_ranks_agree (DynoComm *comm, DynoRankOrders *orders, GError **error);

/* Fills the names of the hosts and devices of all ranks; other members are unchanged; reports: one
 * per rank. */
gboolean dyno_ranks_share_devices (DynoComm *comm, const char *device, DynoRankReport *reports,
                                   GError **error);

/* The job with rank 0's present settings, as far as they can change in a run; dyno_job_unref. */
const DynoJob *dyno_ranks_share_job (DynoComm *comm, const DynoJob *job, GError **error);

/* Sends rank 0's position and all that steps change in memory: parameters, moments, running
 * statistics, the loss scale.  No submission may be in flight. */
gboolean dyno_ranks_share_state (DynoComm *comm, DynoMemory *memory, DynoPosition *position,
                                 GError **error);

G_END_DECLS
