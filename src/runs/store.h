/* SPDX-License-Identifier: MIT */
/* The history: every run and every search that this machine has seen, in one SQLite file
 * (database.h), written as it happens.
 *
 * Several processes may have it open.  Names of files are bytes; times are microseconds since 1970.
 * Threads: several threads may use a store; a call waits until the call of another thread has
 * ended.  Errors: DYNO_RUNS_ERROR; a change fails with READ_ONLY where nothing can be written, and
 * dyno_store_get_read_only reports that before. */
#pragma once
#include "job.h"
#include "metrics.h"
#include "record.h"
#include "runs-error.h"

G_BEGIN_DECLS

typedef struct _DynoStore DynoStore;

/* path NULL: history.sqlite in the folder of dyno_data_dir.  A damaged file is renamed and begun
 * anew; a file of a newer version is only read. */
DynoStore *dyno_store_open (const char *path, GError **error);
/* The same for callers that cannot wait long for another process that holds the file: hurry is as
 * in dyno_database_open. */
DynoStore *dyno_store_open_in_hurry (const char *path, const gint *hurry, GError **error);
DynoStore *dyno_store_ref (DynoStore *store);
void dyno_store_free (DynoStore *store); /* NULL: nothing; the last reference closes the file */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStore, dyno_store_free)

const char *dyno_store_get_path (DynoStore *store);
/* The reason why nothing can be written, as a sentence; NULL: the store can be written. */
const char *dyno_store_get_read_only (DynoStore *store);
/* The path to which a damaged file was moved when the store was opened; NULL: the file was
 * whole. */
const char *dyno_store_get_aside (DynoStore *store);

/* --- runs ------------------------------------------------------------------------------------- */

typedef enum {
  DYNO_RUN_STATE_RUNNING,
  DYNO_RUN_STATE_FINISHED,
  DYNO_RUN_STATE_STOPPED, /* by request; resumable */
  DYNO_RUN_STATE_FAILED,
  DYNO_RUN_STATE_KILLED, /* its process ended without reporting it */
} DynoRunState;
const char *dyno_run_state_name (DynoRunState state); /* "running", "finished", ... */

/* Strings are owned by the struct; a string that is not known is NULL, a number is NaN or 0. */
typedef struct {
  gint64 id;   /* small, and never given to another run of this file */
  guint64 uid; /* its identity, the same in any file; 0: none yet */
  char *name;  /* given by _rename, or NULL */
  char *tags;  /* "baseline, night": the user's words, in their order; or NULL */
  /* the request */
  char *model, *data, *targets, *preset, *weights_in;
  DynoSettings settings;
  gint64 max_steps;
  /* its data and its device */
  guint64 fingerprint; /* DynoDatasetInfo.content_hash */
  guint64 n_train, n_validation, n_test;
  char *device, *driver;
  gboolean software_device;
  char *version; /* of Dyno */
  char *folder;  /* absolute; NULL: nothing was kept, or another run has taken its place */
  /* the outcome */
  gint64 begin_us, end_us; /* end_us 0: not ended */
  gint64 seen_us;          /* time of the last update by its process */
  DynoRunState state;
  char *error, *process; /* process: see process.h */
  guint64 steps, epochs;
  double seconds, preparation_seconds; /* of training; before the first step */
  double loss;                         /* of the last step, or epoch */
  char *metric, *metric_unit;          /* selects the best epoch; else the first, or NULL */
  gboolean metric_is_fraction;         /* shown in percent */
  double best_metric, best_val_loss;
  guint64 best_epoch;
  double test_metric, test_loss; /* of the best weights on the test part; NaN: not measured */
  double samples_per_s;          /* of the run: runrate.h */
  double epoch_overhead_seconds; /* of an epoch besides its steps: validation, saving */
  guint64 planned_bytes, vram_bytes;
  guint64 n_parameters;
  guint parts; /* micro-batches into which a batch was split for want of memory */
} DynoStoredRun;

DynoStoredRun *dyno_stored_run_new (void);
void dyno_stored_run_free (DynoStoredRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStoredRun, dyno_stored_run_free)
/* The members by their columns in the history and their names in JSON. */
const DynoRecordField *dyno_stored_run_list_fields (guint *n);
/* Takes the requested training from a job; paths are made absolute. */
void dyno_stored_run_set_job (DynoStoredRun *run, const DynoJob *job);
/* A job that repeats the run, without folder and resume.  dyno_job_unref. */
DynoJob *dyno_stored_run_get_job (const DynoStoredRun *run);
/* TRUE for a run that finished because it has made the requested number of steps (max_steps), with
 * epochs left, so that it can be resumed. */
gboolean dyno_stored_run_stopped_as_asked (const DynoStoredRun *run);
/* The name that was given, else the folder's name, else "model on data".  g_free. */
char *dyno_stored_run_get_title (const DynoStoredRun *run);

typedef struct {
  const char *model;  /* NULL: any */
  const char *data;   /* part of DATA or of its path; NULL: any */
  const char *folder; /* NULL: any */
  guint limit;        /* 0: all */
} DynoRunFilter;

/* Newest first, DynoStoredRun*; filter NULL: all runs. */
GPtrArray *dyno_store_list_runs (DynoStore *store, const DynoRunFilter *filter, GError **error);
/* NOT_FOUND. */
DynoStoredRun *dyno_store_find_run (DynoStore *store, gint64 id, GError **error);
/* The epochs of a run, DynoEpochMetrics; metrics[0] is the run's metric. */
GArray *dyno_store_list_epochs (DynoStore *store, gint64 id, GError **error);
/* name NULL or empty: none.  NOT_FOUND. */
gboolean dyno_store_rename_run (DynoStore *store, gint64 id, const char *name, GError **error);
/* tags: words or phrases between commas; spaces around them and repeated tags are left out.  NULL
 * or none: no tags.  NOT_FOUND. */
gboolean dyno_store_tag_run (DynoStore *store, gint64 id, const char *tags, GError **error);
/* Deletes the entry; the folder stays.  ACTIVE: the run is running. */
gboolean dyno_store_delete_run (DynoStore *store, gint64 id, GError **error);
/* Writes the entry of the run's uid, except the name and the tags that the entry has.  Where there
 * is no entry, it is inserted, also once more after the file was lost, and the run gets id and uid.
 * epochs replace the epochs of the same numbers. */
gboolean dyno_store_put_run (DynoStore *store, DynoStoredRun *run, const DynoEpochMetrics *epochs,
                             guint n_epochs, GError **error);
/* Records that the folder holds only the files of this run: other runs with this folder lose it. */
gboolean dyno_store_claim_folder (DynoStore *store, const DynoStoredRun *run, GError **error);

/* The settings in which two runs differ, in the order of the table.  g_free the array. */
const DynoSettingInfo **dyno_store_compare_settings (const DynoSettings *a, const DynoSettings *b,
                                                     guint *n);

/* --- remembered rates ------------------------------------------------------------------------- */

typedef struct {
  double samples_per_s;          /* NaN: none */
  double epoch_overhead_seconds; /* of an epoch besides its steps; NaN: not known */
  double preparation_seconds;    /* NaN: not known */
  gint64 time_us;                /* when it was measured */
  gint64 run;                    /* measured by this run; 0: by a search */
} DynoStoredRate;

/* The newest rate for the same model, data, device and settings; only settings that change the rate
 * are compared.  FALSE: none is known. */
gboolean dyno_store_find_rates (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                                guint64 fingerprint, DynoStoredRate *rate);
/* The samples_per_s that dyno_store_find_rates finds; NaN: no rate is known. */
double dyno_store_find_rate (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                             guint64 fingerprint);
/* The samples/s of the loader by itself and of the device by itself that searches measured last,
 * for the same model, data and device, and equal values of the settings that affect each; NaN: none
 * is known. */
void dyno_store_find_ceilings (DynoStore *store, const char *model, guint64 fingerprint,
                               const char *device, const DynoSettings *settings, double *loader,
                               double *gpu);

/* --- searches --------------------------------------------------------------------------------- */

typedef struct {
  guint number;                               /* from 1 */
  const char *stage;                          /* "loader", "gpu", "trial", "proof", ... */
  DynoSettings settings;                      /* all settings */
  const char *outcome;                        /* "ok", "oom", "failed", "dropped" */
  double samples_per_s, low, high, predicted; /* NaN: not known */
  guint64 vram_bytes, planned_bytes;
  const char *text; /* the reason; or NULL */
} DynoStoreTrial;
const DynoRecordField *dyno_store_trial_list_fields (guint *n);

typedef struct {
  const DynoSettings *best; /* NULL: nothing was found */
  double best_samples_per_s, baseline_samples_per_s;
  gboolean proven;
  const char *state; /* "finished", "stopped" or "failed" */
  const char *text;  /* the verdict, or the reason for the failure; or NULL */
} DynoStoreSearchEnd;

/* The job's settings are the user's present ones; folder: the folder in which the search leaves its
 * files, or NULL.  A search that is resumed is a new one.  0 with the error. */
gint64 dyno_store_begin_search (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                                guint64 fingerprint, const char *folder, GError **error);
/* Adds a trial when it ends; a trial with the same number is replaced. */
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
void dyno_stored_search_free (DynoStoredSearch *search); /* NULL: does nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoStoredSearch, dyno_stored_search_free)
const DynoRecordField *dyno_stored_search_list_fields (guint *n);
/* Newest first, DynoStoredSearch*; limit 0: all. */
GPtrArray *dyno_store_list_searches (DynoStore *store, guint limit, GError **error);
/* NOT_FOUND. */
DynoStoredSearch *dyno_store_find_search (DynoStore *store, gint64 id, GError **error);
/* name NULL or empty: none.  NOT_FOUND. */
gboolean dyno_store_rename_search (DynoStore *store, gint64 id, const char *name, GError **error);
/* Deletes the entry with its trials; the folder stays.  NOT_FOUND; ACTIVE: the search is
 * running. */
gboolean dyno_store_delete_search (DynoStore *store, gint64 id, GError **error);
/* The trials of a search, DynoStoreTrial*, in their order; their strings live as long as the
 * array. */
GPtrArray *dyno_store_list_trials (DynoStore *store, gint64 search, GError **error);

G_END_DECLS
