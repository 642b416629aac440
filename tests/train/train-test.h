/* SPDX-License-Identifier: MIT */
/* Helpers that tests of sessions share: small jobs, and runs of them to the end. */
#pragma once
#include "session.h"

G_BEGIN_DECLS

/* A job on the built-in shapes that trains in a second or two on a CPU: 16 pixels, width 0.25,
 * fp32, batch 16, every event. */
DynoJob *test_job (const char *model, const char *data);

/* Sets "key=value" pairs; NULL ends them. */
void test_job_set (DynoJob *job, ...) G_GNUC_NULL_TERMINATED;

/* The results of a run. */
typedef struct {
  DynoSessionState state;
  GError *error;       /* from its ERROR event */
  GPtrArray *warnings; /* char* */
  GArray *losses;      /* double, for each step */
  guint plans, checkpoints;
  DynoJobPlan plan;
  guint64 vram_bytes; /* from the last step */
  guint64 done_steps;
  gboolean is_idle; /* from its DONE event */
  double best_val_accuracy;
  guint64 best_epoch;
  double preparation_seconds, train_seconds;
  DynoMetricTable metrics;
  DynoEpochMetrics epoch; /* of the last epoch */
  guint epochs, skipped, parts;
  double last_rate;
  guint64 n_unreadable;
  DynoTestResult test; /* from its DONE event */
  guint n_ranks;
  DynoRankReport *ranks; /* from its DONE event */
  GPtrArray *masks;      /* DynoEvent*: its MASKS events */
} TestRun;

void test_run_clear (TestRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TestRun, test_run_clear)

/* Called at each STEP event in the session's thread, which continues after the call: commands of
 * the hook take effect before another step begins, and the state that it reads is that of its step.
 * A hook must not wait for the session. */
typedef void (*TestHook) (DynoSession *session, const DynoStepMetrics *step, gpointer data);

/* For hooks: pauses the session until n checkpoints of this run were written or have failed.  The
 * saver's thread writes them concurrently with training, at a time of its own.  The pause begins
 * after the steps in flight, at most DYNO_JOB_SLOTS, whose hooks are called before it; the save of
 * a finished epoch is queued by then.  n must be reached without another step. */
void test_pause_for_saves (guint n);

/* Runs the job to its end and asserts the general rules: DONE comes last and once, step numbers
 * rise, the log agrees with the events. */
void test_run (TestRun *run, const DynoJob *job, TestHook hook, gpointer data);
/* As test_run, for one rank of several; comm NULL: for a single process. */
void test_run_rank (TestRun *run, const DynoJob *job, DynoComm *comm, TestHook hook, gpointer data);
/* As test_run, and it must finish without an error. */
void test_run_good (TestRun *run, const DynoJob *job);

/* Makes a folder below the temporary directory; test_remove_tree removes it with its contents. */
char *test_folder (void);
void test_remove_tree (const char *path);

/* Asserts that files are equal byte for byte (weights files: tensor for tensor). */
void test_assert_same_file (const char *a, const char *b);
gboolean test_has_warning (const TestRun *run, const char *word);

G_END_DECLS
