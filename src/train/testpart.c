/* SPDX-License-Identifier: MIT */
/* The test part of a run.  Invariants:
 * - It is measured once, when the run has done all that its settings ask for, with the weights that
 *   the run keeps as the best; a result belongs to the step at which it was measured.
 * - The measurement overwrites the weights on the device: nothing is trained or saved after it. */
#include "intl.h"
#include "run.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static gboolean
is_wanted (const DynoRun *run)
{
  return run->engine->test.n_samples > 0 && !run->job->no_test && run->session->sweep.steps == 0;
}

static gboolean
is_measured (const DynoRun *run)
{
  return run->test.n_samples > 0 && run->test.step == run->position.step;
}

gboolean
dyno_run_keeps_test (const DynoRun *run)
{
  return is_wanted (run) && run->job->rank == 0;
}

gboolean
dyno_run_lacks_test (const DynoRun *run)
{
  return is_wanted (run) && run->job->max_steps == 0 && !is_measured (run);
}

void
dyno_run_recall_test (DynoRun *run, const char *checkpoint)
{
  g_autofree char *folder = g_path_get_dirname (checkpoint);
  DynoMetricTable table;

  dyno_metrics_get_table (run->session->metrics, &table);
  dyno_test_result_read (folder, &table, &run->test);
}

void
dyno_run_drop_old_test (DynoRun *run)
{
  g_autofree char *path = g_build_filename (run->job->out_dir, DYNO_TEST_RESULT_NAME, NULL);

  if (!is_measured (run))
    g_unlink (path);
}

DynoTestResult
dyno_run_get_test (const DynoRun *run)
{
  return is_measured (run) ? run->test : (DynoTestResult){ 0 };
}

static gboolean
begin (gpointer data, GError **error)
{
  (void) data;
  (void) error;
  return TRUE;
}

static gboolean
measure (DynoRun *run, GError **error)
{
  DynoEngine *engine = run->engine;
  DynoEvaluateParams params = { .figures = engine->figures,
                                .seed = (guint64) engine->job->settings.seed,
                                .begun = begin };
  DynoEvaluation evaluation;

  if (g_cancellable_set_error_if_cancelled (run->session->soft, error))
    return FALSE;
  dyno_run_collect_unreadable (run);
  if (!dyno_run_load_best (run, error) || !dyno_engine_turn_to_test (engine, error))
    return FALSE;
  params.pipe = engine->test.pipe;
  params.loader = dyno_uploader_get_loader (engine->test.uploader);
  dyno_loader_start_epoch (params.loader, 0, 0);
  if (!dyno_evaluate (&params, run->session->soft, &evaluation, error))
    return FALSE;
  dyno_run_collect_unreadable (run);
  dyno_run_warn_unreadable (run);
  run->test = (DynoTestResult){ .n_samples = evaluation.n_samples,
                                .epoch = run->position.best_epoch,
                                .step = run->position.step,
                                .loss = evaluation.loss };
  memcpy (run->test.metrics, evaluation.metrics, sizeof run->test.metrics);
  return TRUE;
}

static void
write_result (DynoRun *run)
{
  g_autoptr (GError) problem = NULL;
  DynoMetricTable table;

  if (!dyno_run_has_begun (run))
    return;
  dyno_metrics_get_table (run->session->metrics, &table);
  if (!dyno_test_result_write (run->job->out_dir, &table, &run->test, &problem))
    dyno_run_warn (run, _ ("The result on the test part was not saved: %s"), problem->message);
}

/* A problem other than a lost device does not undo the training: the run ends well, and is measured
 * when it is resumed. */
static DynoRunOutcome
measure_here (DynoRun *run, GError **error)
{
  g_autoptr (GError) problem = NULL;

  if (!is_measured (run) && !measure (run, &problem))
    {
      if (g_error_matches (problem, G_IO_ERROR, G_IO_ERROR_CANCELLED))
        return g_cancellable_is_cancelled (run->session->hard) ? DYNO_RUN_ENDED : DYNO_RUN_STOPPED;
      if (g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST)
          || g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_TIMEOUT))
        {
          g_propagate_error (error, g_steal_pointer (&problem));
          return DYNO_RUN_FAILED;
        }
      dyno_run_warn (run,
                     _ ("The test part was not measured: %s; all weights are saved, and resuming "
                        "the run measures it"),
                     problem->message);
      return DYNO_RUN_FINISHED;
    }
  write_result (run);
  return DYNO_RUN_FINISHED;
}

DynoRunOutcome
dyno_run_test (DynoRun *run, GError **error)
{
  DynoComm *comm = run->session->comm;
  guint32 outcome = DYNO_RUN_FINISHED;

  if (!is_wanted (run) || dyno_run_find_whole (run) > 0)
    return DYNO_RUN_FINISHED;
  if (run->job->rank == 0)
    outcome = measure_here (run, error);
  if (comm && outcome != DYNO_RUN_FAILED
      && !dyno_comm_broadcast (comm, &outcome, sizeof outcome, 0, error))
    return DYNO_RUN_FAILED;
  return (DynoRunOutcome) outcome;
}
