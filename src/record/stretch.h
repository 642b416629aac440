/* SPDX-License-Identifier: MIT */
/* A run's log in few numbers: sums over successive stretches of steps, and what is to be known of
 * the epochs.  However long the run is, it is a bounded number of stretches of equal length: when
 * they become too many, neighbours are joined.
 *
 * The time of the first row is left out, since drivers compile in it. */
#pragma once
#include "metrics.h"

G_BEGIN_DECLS

#define DYNO_STRETCHES      64 /* at most */
#define DYNO_STRETCH_RECENT 4  /* epochs */

typedef struct {
  guint64 first_step, n_steps;
  guint64 samples; /* 0: the log does not say */
  double step_ms, wait_data_ms, upload_ms, forward_ms, backward_ms, optimizer_ms; /* sums */
  double gap_ms; /* between the steps: validation, saving */
  guint64 decoded;
  double decode_ms, fetch_ms, workers; /* sums */
  double host_copy_ms;                 /* sum */
  double loss;                         /* sum of the finite ones */
  guint64 n_losses;
  guint64 n_bad;     /* losses that were not finite; in `whole` the first step counts too */
  guint64 n_skipped; /* overflows */
  guint64 vram_bytes, vram_all_bytes; /* most */
} DynoStretch;

typedef struct {
  DynoStretch stretches[DYNO_STRETCHES];
  guint n;
  DynoStretch whole;  /* of all steps but the first */
  DynoRunRate rate;   /* of the run */
  guint64 each;       /* steps of a stretch that is full */
  guint64 n_steps;    /* with the first */
  double first_loss;  /* finite; NaN: none yet */
  double last_loss;   /* as it is */
  double end_seconds; /* of the last step, on the run's clock */
  guint64 n_epochs;
  DynoEpochMetrics best;                        /* the lowest val_loss; its epoch 0: none */
  DynoEpochMetrics recent[DYNO_STRETCH_RECENT]; /* the last ones, oldest first */
  guint n_recent;
  guint64 worse_epochs;      /* in a row since the best */
  double validation_seconds; /* of all epochs; NaN: an epoch does not say */
  double saving_seconds;
  double last_validation_seconds; /* of the last epoch, while no step has followed; else 0 */
} DynoStretches;

void dyno_stretches_init (DynoStretches *log);
void dyno_stretches_add_step (DynoStretches *log, const DynoStepMetrics *step);
void dyno_stretches_add_epoch (DynoStretches *log, const DynoEpochMetrics *epoch);

/* Sums of several in a row: from stretch `first`, `count` of them. */
void dyno_stretches_sum (const DynoStretches *log, guint first, guint count, DynoStretch *sum);

/* The whole log of a run, after what was added before. */
void dyno_stretches_add_log (DynoStretches *log, DynoMetrics *metrics);

/* Reads a run's metrics.csv; what follows a line that is not whole is left out.  FALSE: there is no
 * such file, or it is none. */
gboolean dyno_stretches_read (DynoStretches *log, const char *folder);

G_END_DECLS
