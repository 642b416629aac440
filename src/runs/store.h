/* SPDX-License-Identifier: MIT */
/* The history: every run and every search that this machine has seen, in one SQLite file
 * (database.h), written as it happens.
 *
 * Several processes may have it open.  Names of files are bytes; times are microseconds since 1970.
 * Threads: a store may be used by several, one call at a time waits for the other.  Errors:
 * DYNO_RUNS_ERROR; that of a change is READ_ONLY where nothing can be written, which
 * dyno_store_get_read_only tells before. */
#pragma once
#include "job.h"
#include "metrics.h"
#include "record.h"
#include "runs-error.h"

G_BEGIN_DECLS

typedef struct _DynoStore DynoStore;

/* path NULL: history.sqlite in the folder of dyno_data_dir.  A damaged file is renamed aside and
 * begun anew; one of a newer version is only read. */
DynoStore *dyno_store_open (const char *path, GError **error);
/* The same for who cannot wait long for another process that holds the file: hurry as of
 * dyno_database_open. */
DynoStore *dyno_store_open_in_hurry (const char *path, const gint *hurry, GError **error);
DynoStore *dyno_store_ref (DynoStore *store);
void dyno_store_free (DynoStore *store); /* NULL: nothing; the last reference closes the file */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStore, dyno_store_free)

const char *dyno_store_get_path (DynoStore *store);
/* Why nothing can be written, as a sentence; NULL: it can. */
const char *dyno_store_get_read_only (DynoStore *store);
/* Where a damaged file was moved to when the store was opened; NULL: it was whole. */
const char *dyno_store_get_aside (DynoStore *store);

/* --- runs ------------------------------------------------------------------------------------- */

typedef enum {
  DYNO_RUN_STATE_RUNNING,
  DYNO_RUN_STATE_FINISHED,
  DYNO_RUN_STATE_STOPPED, /* by request; resumable */
  DYNO_RUN_STATE_FAILED,
  DYNO_RUN_STATE_KILLED, /* its process ended without a word */
} DynoRunState;
const char *dyno_run_state_name (DynoRunState state); /* "running", "finished", ... */

/* Strings are the struct's own; those that are not known are NULL, numbers NaN or 0. */
typedef struct {
  gint64 id;   /* small, and never given to another run of this file */
  guint64 uid; /* its identity, whatever file it stands in; 0: none yet */
  char *name;  /* given by _rename, or NULL */
  char *tags;  /* "baseline, night": words of people, in their order; or NULL */
  /* what was asked for */
  char *model, *data, *targets, *preset, *weights_in;
  DynoSettings settings;
  gint64 max_steps;
  /* what it ran on */
  guint64 fingerprint; /* DynoDatasetInfo.content_hash */
  guint64 n_train, n_validation;
  char *device, *driver;
  gboolean software_device;
  char *version; /* of Dyno */
  char *folder;  /* absolute; NULL: nothing was kept, or another run has taken its place */
  /* what came of it */
  gint64 begin_us, end_us; /* end_us 0: not ended */
  gint64 seen_us;          /* when it was last heard of */
  DynoRunState state;
  char *error, *process; /* process: see process.h */
  guint64 steps, epochs;
  double seconds, preparation_seconds; /* of training; of what comes before the first step */
  double loss;                         /* of the last step, or epoch */
  char *metric, *metric_unit;          /* that selects the best epoch, else the first, or NULL */
  gboolean metric_is_fraction;         /* shown in percent */
  double best_metric, best_val_loss;
  guint64 best_epoch;
  double samples_per_s;          /* of the run: runrate.h */
  double epoch_overhead_seconds; /* of an epoch besides its steps: validation, saving */
  guint64 planned_bytes, vram_bytes;
  guint64 n_parameters;
  guint parts; /* micro-batches of a batch, for want of memory */
} DynoStoredRun;

DynoStoredRun *dyno_stored_run_new (void);
void dyno_stored_run_free (DynoStoredRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStoredRun, dyno_stored_run_free)
/* Its members by their columns in the history and their names in JSON. */
const DynoRecordField *dyno_stored_run_list_fields (guint *n);
/* What was asked for, from a job; paths are made absolute. */
void dyno_stored_run_set_job (DynoStoredRun *run, const DynoJob *job);
/* The same the other way, to run it again: without folder and resume.  dyno_job_unref. */
DynoJob *dyno_stored_run_get_job (const DynoStoredRun *run);
/* TRUE of one that finished since it has made the steps that it was asked for (max_steps), with
 * epochs left: it can go on. */
gboolean dyno_stored_run_stopped_as_asked (const DynoStoredRun *run);
/* The name that was given, else that of the folder, else "model on data".  g_free. */
char *dyno_stored_run_get_title (const DynoStoredRun *run);

typedef struct {
  const char *model;  /* NULL: any */
  const char *data;   /* part of DATA or of its path; NULL: any */
  const char *folder; /* NULL: any */
  guint limit;        /* 0: all */
} DynoRunFilter;

/* Newest first, DynoStoredRun*; filter NULL: all. */
GPtrArray *dyno_store_list_runs (DynoStore *store, const DynoRunFilter *filter, GError **error);
/* NOT_FOUND. */
DynoStoredRun *dyno_store_find_run (DynoStore *store, gint64 id, GError **error);
/* The epochs of a run, DynoEpochMetrics; metrics[0] is the run's metric. */
GArray *dyno_store_list_epochs (DynoStore *store, gint64 id, GError **error);
/* name NULL or empty: none.  NOT_FOUND. */
gboolean dyno_store_rename_run (DynoStore *store, gint64 id, const char *name, GError **error);
/* tags: words or phrases between commas; spaces around them and those that come twice are left out.
 * NULL or none: no tags.  NOT_FOUND. */
gboolean dyno_store_tag_run (DynoStore *store, gint64 id, const char *tags, GError **error);
/* The entry; the folder stays.  ACTIVE: it is running. */
gboolean dyno_store_delete_run (DynoStore *store, gint64 id, GError **error);
/* Writes the entry of the run's uid, but for the name and the tags that it has; where there is none it is
 * inserted, also once more after the file was lost, and the run gets id and uid.  epochs replace
 * those of their numbers. */
gboolean dyno_store_put_run (DynoStore *store, DynoStoredRun *run, const DynoEpochMetrics *epochs,
                             guint n_epochs, GError **error);
/* What is in the folder is of this run alone: others that were there have none any more. */
gboolean dyno_store_claim_folder (DynoStore *store, const DynoStoredRun *run, GError **error);

/* The keys in which two runs' settings differ, in the order of the table.  g_free the array. */
const DynoSettingInfo **dyno_store_compare_settings (const DynoSettings *a, const DynoSettings *b,
                                                     guint *n);

/* --- remembered rates ------------------------------------------------------------------------- */

typedef struct {
  double samples_per_s;          /* NaN: none */
  double epoch_overhead_seconds; /* of an epoch besides its steps; NaN: not known */
  double preparation_seconds;    /* NaN: not known */
  gint64 time_us;                /* when it was measured */
  gint64 run;                    /* by this run; 0: by a search */
} DynoStoredRate;

/* The newest rate of equal model, data, device and settings, as far as they change the rate.
 * FALSE: none is known. */
gboolean dyno_store_find_rates (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                                guint64 fingerprint, DynoStoredRate *rate);
/* Its samples_per_s; NaN: none. */
double dyno_store_find_rate (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                             guint64 fingerprint);
/* samples/s that searches measured last of the loader alone and of the device alone, for equal
 * model, data and device and for the settings that count there; NaN: none. */
void dyno_store_find_ceilings (DynoStore *store, const char *model, guint64 fingerprint,
                               const char *device, const DynoSettings *settings, double *loader,
                               double *gpu);
/* FALSE: a run's rate does not depend on the setting (learning rate, seed, epochs, ...). */
gboolean dyno_setting_changes_rate (const DynoSettingInfo *info);

/* --- searches --------------------------------------------------------------------------------- */

typedef struct {
  guint number;                               /* from 1 */
  const char *stage;                          /* "loader", "gpu", "trial", "proof", ... */
  DynoSettings settings;                      /* whole */
  const char *outcome;                        /* "ok", "oom", "failed", "dropped" */
  double samples_per_s, low, high, predicted; /* NaN: not known */
  guint64 vram_bytes, planned_bytes;
  const char *text; /* why; or NULL */
} DynoStoreTrial;
const DynoRecordField *dyno_store_trial_list_fields (guint *n);

typedef struct {
  const DynoSettings *best; /* NULL: nothing was found */
  double best_samples_per_s, baseline_samples_per_s;
  gboolean proven;
  const char *state; /* "finished", "stopped" or "failed" */
  const char *text;  /* the verdict, or why it failed; or NULL */
} DynoStoreSearchEnd;

/* The job's settings are those that the user has; folder: where the search leaves its files, or
 * NULL.  A search that is resumed is a new one.  0 with the error. */
gint64 dyno_store_begin_search (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                                guint64 fingerprint, const char *folder, GError **error);
/* As it ends; a number that is there already is replaced. */
gboolean dyno_store_add_trial (DynoStore *store, gint64 search, const DynoStoreTrial *trial,
                               GError **error);
gboolean dyno_store_end_search (DynoStore *store, gint64 search, const DynoStoreSearchEnd *end,
                                GError **error);

typedef struct {
  gint64 id;
  char *name; /* given by _rename, or NULL */
  char *model, *data, *preset, *device, *folder, *text;
  gint64 begin_us, end_us;
  DynoRunState state;
  guint n_trials;
  double best_samples_per_s, baseline_samples_per_s;
  gboolean proven, has_best;
  DynoSettings best;
} DynoStoredSearch;
void dyno_stored_search_free (DynoStoredSearch *search); /* NULL: nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStoredSearch, dyno_stored_search_free)
const DynoRecordField *dyno_stored_search_list_fields (guint *n);
/* Newest first, DynoStoredSearch*; limit 0: all. */
GPtrArray *dyno_store_list_searches (DynoStore *store, guint limit, GError **error);
/* NOT_FOUND. */
DynoStoredSearch *dyno_store_find_search (DynoStore *store, gint64 id, GError **error);
/* name NULL or empty: none.  NOT_FOUND. */
gboolean dyno_store_rename_search (DynoStore *store, gint64 id, const char *name, GError **error);
/* The entry with its trials; the folder stays.  NOT_FOUND; ACTIVE: it is running. */
gboolean dyno_store_delete_search (DynoStore *store, gint64 id, GError **error);
/* The trials of a search, DynoStoreTrial*, in their order; their strings live as long as the
 * array. */
GPtrArray *dyno_store_list_trials (DynoStore *store, gint64 search, GError **error);

G_END_DECLS
