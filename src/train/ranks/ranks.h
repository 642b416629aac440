/* SPDX-License-Identifier: MIT */
/* Messages of the ranks of a run beside gradients: results, commands, the state that they begin
 * with.  All calls are collective; errors are the communicator's, and the device's.  Private to
 * the train layer. */
#pragma once
#include "checkpoint.h"
#include "evaluate.h"
#include "event.h"
#include "stepper.h"

G_BEGIN_DECLS

/* A step's sums become those of all ranks; what is measured in time stays this rank's.  With them
 * travels what this rank, mine, does with its time: all gets every rank's. */
gboolean dyno_ranks_sum_step (DynoComm *comm, DynoStepResult *result, const DynoRankStep *mine,
                              DynoRankStep *all, GError **error);

/* The sums of an evaluation, not yet means, likewise. */
gboolean dyno_ranks_sum_evaluation (DynoComm *comm, DynoEvaluation *sum, GError **error);

/* names, "sample: reason" (char*, which it frees), become those of all ranks, at most as many; *count
 * becomes how many samples there are at least, of all. */
gboolean dyno_ranks_share_unreadable (DynoComm *comm, GPtrArray *names, guint most, guint64 *count,
                                      GError **error);

/* The commands that a rank got from outside since the last time. */
typedef struct {
  guint32 stop;       /* DynoStop */
  guint32 checkpoint; /* TRUE: one is wanted */
  guint32 pause;      /* TRUE: it is to stand still */
  guint32 changed;    /* TRUE: there are other settings */
} DynoRankOrders;

/* All ranks get the same: the strictest stop and any checkpoint that one of them was asked for,
 * and only of rank 0 the rest. */
gboolean dyno_ranks_agree (DynoComm *comm, DynoRankOrders *orders, GError **error);

/* Names of the ranks' hosts and devices, the others' fields untouched; reports: one a rank. */
gboolean dyno_ranks_share_devices (DynoComm *comm, const char *device, DynoRankReport *reports,
                                   GError **error);

/* The job with the settings that rank 0's has now, of those that change in a run; dyno_job_unref. */
const DynoJob *dyno_ranks_share_job (DynoComm *comm, const DynoJob *job, GError **error);

/* Rank 0's position and all that steps change in memory: parameters, moments, running statistics,
 * the loss scale.  Nothing is in flight. */
gboolean dyno_ranks_share_state (DynoComm *comm, DynoMemory *memory, DynoPosition *position,
                                 GError **error);

G_END_DECLS
