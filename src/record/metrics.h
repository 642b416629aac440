/* SPDX-License-Identifier: MIT */
/* The log of a run: every step and every epoch.  The session appends rows, and any thread may read
 * them.  The newest rows, at least 10,000 steps, are in memory; older ones are read back unchanged
 * from an unnamed file in the cache folder (rowlog.h), so that memory is bounded by
 * DYNO_METRICS_MOST_BYTES for any length of the run. */
#pragma once
#include "metrictable.h"

G_BEGIN_DECLS

typedef struct {
  guint64 step;                         /* optimizer steps, from 1 */
  guint64 epoch;                        /* from 1 */
  double loss;                          /* mean over the effective batch */
  double metrics[DYNO_MAX_RUN_METRICS]; /* means over the batch, in the order of the run's table */
  double lr;
  double samples_per_s; /* over about the last second, without pauses; 0: not known yet */
  double step_ms;       /* from the end of the last step to the end of this one */
  double wait_data_ms;  /* part of it spent waiting for the loader */
  double upload_ms, forward_ms, backward_ms, optimizer_ms; /* device time; 0 where not measured */
  double grad_norm;
  double loss_scale;
  gboolean skipped;       /* overflow: the update did not happen */
  guint64 vram_bytes;     /* device memory used by Dyno */
  guint64 vram_all_bytes; /* device memory used by all programs; 0: not known */
  double seconds;  /* since the run began, without pauses, with earlier parts of a resumed run */
  guint64 samples; /* of the step; 0: not known */
  /* The work of the loader since the step before: samples that it decoded, its present number of
   * workers, and the time that they spent on these samples, and on reading files in that time. */
  guint64 decoded, workers;
  double decode_ms, fetch_ms;
  double host_copy_ms; /* of the training thread's copies into page-locked memory; 0: pinned */
} DynoStepMetrics;

typedef struct {
  guint64 epoch; /* from 1 */
  guint64 step;
  double train_loss;
  double train_metrics[DYNO_MAX_RUN_METRICS];
  double val_loss;                          /* NaN without validation */
  double val_metrics[DYNO_MAX_RUN_METRICS]; /* NaN without validation */
  double samples_per_s;                     /* of training, over the epoch */
  double seconds;                           /* of the epoch, validation included */
  /* The time without training since the epoch before was reported: for validating, and for saving
   * (in this epoch, and at the end of the epoch before).  NaN: not known. */
  double validation_seconds, saving_seconds;
} DynoEpochMetrics;

/* The parts of a run's rate: runrate.h. */
typedef struct {
  guint64 samples;
  double seconds;
} DynoRunRate;

/* Adds a step of the log; the first step of a part, which has no rate, is ignored. */
void dyno_run_rate_add (DynoRunRate *rate, const DynoStepMetrics *step);

#define DYNO_METRICS_MOST_BYTES (20 * 1048576)

typedef struct _DynoMetrics DynoMetrics;

DynoMetrics *dyno_metrics_new (void);
DynoMetrics *dyno_metrics_ref (DynoMetrics *metrics); /* any thread */
void dyno_metrics_unref (DynoMetrics *metrics);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoMetrics, dyno_metrics_unref)
/* The metrics that the rows hold; set before the first of them, and not changed afterwards. */
void dyno_metrics_set_table (DynoMetrics *metrics, const DynoMetricTable *table);
void dyno_metrics_get_table (DynoMetrics *metrics, DynoMetricTable *table);
void dyno_metrics_add_step (DynoMetrics *metrics, const DynoStepMetrics *step);
void dyno_metrics_add_epoch (DynoMetrics *metrics, const DynoEpochMetrics *epoch);
guint64 dyno_metrics_get_steps (DynoMetrics *metrics);
guint64 dyno_metrics_get_epochs (DynoMetrics *metrics);
/* Copies [first, first + count) into rows; returns the number of rows that were copied. */
guint64 dyno_metrics_copy_steps (DynoMetrics *metrics, guint64 first, guint64 count,
                                 DynoStepMetrics *rows);
guint64 dyno_metrics_copy_epochs (DynoMetrics *metrics, guint64 first, guint64 count,
                                  DynoEpochMetrics *rows);
gsize dyno_metrics_get_bytes (DynoMetrics *metrics); /* memory that the log uses */
/* Writes a header and one line per step; the values of an epoch are in the row of its last step.
 * '.' decimals in any locale.  The file is complete or not written; it has the rows that exist at
 * the time of the call.  Errors: DYNO_BASE_ERROR_DISK, _IO. */
gboolean dyno_metrics_write_csv (DynoMetrics *metrics, const char *path, GError **error);
/* The same with only the first n_steps steps and n_epochs epochs. */
gboolean dyno_metrics_write_csv_begin (DynoMetrics *metrics, guint64 n_steps, guint64 n_epochs,
                                       const char *path, GError **error);

/* A column of metrics.csv, for other formats. */
typedef struct {
  char *name;          /* "val_accuracy" */
  gboolean of_epoch;   /* FALSE: of each step */
  guint index, metric; /* private */
} DynoMetricColumn;

/* The columns (DynoMetricColumn, freed with the array), except step and epoch themselves. */
GPtrArray *dyno_metrics_list_columns (const DynoMetricTable *table);
/* row: a DynoStepMetrics or, for a column of an epoch, a DynoEpochMetrics. */
double dyno_metric_column_get (const DynoMetricColumn *column, gconstpointer row);

/* Reads the log of a run from metrics.csv, also of a run that is in progress or was killed: an
 * incomplete last line is left out.  The table follows from the names of the columns; the units of
 * a data set are not in it.  Errors: DYNO_BASE_ERROR_IO, _CORRUPT (names file and line). */
DynoMetrics *dyno_metrics_read (const char *path, GError **error);
/* Appends the rows of such a file up to a step, with the table of metrics that is set, and stops at
 * an invalid line.  A missing file is no error. */
void dyno_metrics_recall (DynoMetrics *metrics, const char *path, guint64 last_step);

G_END_DECLS
