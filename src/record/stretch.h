/* SPDX-License-Identifier: MIT */
/* A summary of a run's log: sums over successive stretches of steps, and the main values of the
 * epochs.  For any length of the run there is a bounded number of stretches of equal length: when
 * there are too many, neighbours are joined.
 *
 * The time of the first row is left out, since drivers compile in it. */
#pragma once
#include "metrics.h"

G_BEGIN_DECLS

#define DYNO_STRETCHES      64 /* largest number of stretches */
#define DYNO_STRETCH_RECENT 4  /* epochs */

typedef struct {
  guint64 first_step, n_steps;
  guint64 samples; /* 0: the log does not have them */
  double step_ms, wait_data_ms, upload_ms, forward_ms, backward_ms, optimizer_ms; /* sums */
  double gap_ms; /* time between the steps: validation, saving */
  guint64 decoded;
  double decode_ms, fetch_ms, workers; /* sums */
  double host_copy_ms;                 /* sum */
  double loss;                         /* sum of the finite losses */
  guint64 n_losses;
  guint64 n_bad;     /* losses that were not finite; in `whole` the first step counts too */
  guint64 n_skipped; /* overflows */
  guint64 vram_bytes, vram_all_bytes; /* largest values */
} DynoStretch;

typedef struct {
  DynoStretch stretches[DYNO_STRETCHES];
  guint n;
  DynoStretch whole;  /* sums of all steps but the first */
  DynoRunRate rate;   /* rate of the run */
  guint64 each;       /* steps in a full stretch */
  guint64 n_steps;    /* including the first */
  double first_loss;  /* first finite loss; NaN: none yet */
  double last_loss;   /* of the last step; may be not finite */
  double end_seconds; /* end of the last step, on the run's clock */
  guint64 n_epochs;
  DynoEpochMetrics best; /* the epoch with the lowest val_loss; best.epoch 0: none */
  DynoEpochMetrics recent[DYNO_STRETCH_RECENT]; /* the last epochs, oldest first */
  guint n_recent;
  guint64 worse_epochs;      /* number of epochs since the best */
  double validation_seconds; /* of all epochs; NaN: an epoch does not have it */
  double saving_seconds;
  double last_validation_seconds; /* of the last epoch, until a step follows; else 0 */
} DynoStretches;

void dyno_stretches_init (DynoStretches *log);
void dyno_stretches_add_step (DynoStretches *log, const DynoStepMetrics *step);
void dyno_stretches_add_epoch (DynoStretches *log, const DynoEpochMetrics *epoch);

/* The sums of `count` consecutive stretches, from stretch `first` on. */
void dyno_stretches_sum (const DynoStretches *log, guint first, guint count, DynoStretch *sum);

/* Adds the whole log of a run. */
void dyno_stretches_add_log (DynoStretches *log, DynoMetrics *metrics);

/* Reads a run's metrics.csv, up to the first incomplete line.  FALSE: there is no such file, or it
 * is not valid. */
gboolean dyno_stretches_read (DynoStretches *log, const char *folder);

G_END_DECLS
