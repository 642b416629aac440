/* SPDX-License-Identifier: MIT */
/* The saves of a run: checkpoints while it trains, weights at its end.
 *
 * Invariants:
 * - A checkpoint is exactly the state after the step that its position names, whatever was
 *   submitted since.
 * - A state whose loss is not finite, or has grown beyond the limit (health.h), is never saved and
 *   never the best.
 * - From the first validation on, weights.safetensors holds the best weights by validation (by the
 *   selecting metric, then the loss; only by the loss where no metric selects), and another file
 *   the last weights.  Without validation it holds the last weights. */
#include "run.h"
#include "intl.h"
#include "base-error.h"
#include "bestepoch.h"
#include "file.h"
#include "saveinterval.h"
#include "saver.h"
#include "targets.h"
#include "weightsfile.h"
#include <glib/gstdio.h>
#include <inttypes.h>
#include <math.h>

struct _DynoRunSaving {
  char *checkpoint; /* see dyno_run_get_checkpoint */
  /* the best weights of earlier parts, where no file of the run's folder has them; NULL: none */
  char *best_path;
  DynoSaver *saver; /* NULL: nothing is to be saved */
  DynoSaveInterval interval;
  gboolean armed; /* a state was taken whose position is not committed yet */
};

DynoRunSaving *
dyno_run_saving_new (void)
{
  return g_new0 (DynoRunSaving, 1);
}

void
dyno_run_saving_free (DynoRunSaving *saving)
{
  if (!saving)
    return;
  dyno_saver_free (saving->saver);
  g_free (saving->checkpoint);
  g_free (saving->best_path);
  g_free (saving);
}

/* --- the saver -------------------------------------------------------------------------------- */

/* Called on the writer's thread: any thread may emit. */
static void
on_report (const char *path, gboolean best, const GError *problem, gpointer data)
{
  DynoSession *session = data;
  DynoEvent *event = dyno_event_new (problem ? DYNO_EVENT_WARNING : DYNO_EVENT_CHECKPOINT);

  if (!problem)
    g_info ("Saved “%s”", path);
  if (best && !problem)
    {
      dyno_event_unref (event);
      return;
    }
  if (!problem)
    event->text = g_strdup (path);
  else if (best)
    event->text = g_strdup_printf (
        "The best weights were not saved: %s; they are kept in memory, and the run continues",
        problem->message);
  else
    event->text = g_strdup_printf (
        "The checkpoint was not saved: %s; the one before is kept, and the run continues",
        problem->message);
  if (problem)
    g_info ("%s", event->text);
  dyno_session_emit (session, event);
}

void
dyno_run_begin_saving (DynoRun *run)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);
  DynoSaverParams params = { .program = dyno_engine_get_program (run->engine),
                             .snapshot = run->engine->snapshot,
                             .checkpoint = dir ? dyno_run_folder_get_checkpoint (dir) : NULL,
                             .best = dir ? dyno_run_folder_get_weights (dir) : NULL,
                             .best_waits = run->job->saves_at_end,
                             .content_hash = run->content_hash,
                             .dataset = dyno_dataset_get_info (run->engine->dataset),
                             .reported = on_report,
                             .data = run->session };

  run->saving->armed = FALSE;
  dyno_save_interval_begin (&run->saving->interval, run->position.step,
                            dyno_run_clock_now (&run->clock));
  if (dir || run->job->weights_out || dyno_run_keeps_test (run))
    run->saving->saver = dyno_saver_new (&params);
}

void
dyno_run_end_saving (DynoRun *run)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);

  if (run->saving->saver && dir)
    {
      dyno_saver_flush (run->saving->saver);
      if (dyno_saver_has_saved (run->saving->saver))
        {
          dyno_run_set_checkpoint (run, dyno_run_folder_get_checkpoint (dir));
        }
    }
  g_clear_pointer (&run->saving->saver, dyno_saver_free);
}

/* --- checkpoints ------------------------------------------------------------------------------ */

void
dyno_run_set_checkpoint (DynoRun *run, const char *checkpoint)
{
  char *own = g_strdup (checkpoint);

  g_free (run->saving->checkpoint);
  run->saving->checkpoint = own;
}

const char *
dyno_run_get_checkpoint (const DynoRun *run)
{
  return run->saving->checkpoint;
}

gboolean
dyno_run_has_saved (const DynoRun *run)
{
  return dyno_run_get_folder (run) && run->saving->saver
         && dyno_saver_has_saved (run->saving->saver);
}

void
dyno_run_ask_save (DynoRun *run)
{
  run->saving->interval.due = TRUE;
}

gboolean
dyno_run_is_save_asked (const DynoRun *run)
{
  return run->saving->interval.due;
}

gboolean
dyno_run_save_is_due (DynoRun *run, guint64 step)
{
  DynoRunSaving *saving = run->saving;

  if (!dyno_run_get_folder (run) || saving->armed || run->health.bad_row > 0)
    return FALSE;
  return dyno_save_interval_check (&saving->interval, run->engine->job->settings.checkpoint_minutes,
                                   step, dyno_run_clock_now (&run->clock))
         && dyno_saver_has_room (saving->saver);
}

/* Commits the taken state, which is that of the run's position. */
static void
commit (DynoRun *run, gboolean best)
{
  run->saving->armed = FALSE;
  dyno_saver_commit (run->saving->saver, run->engine->job, &run->position, best);
}

static gboolean
save (DynoRun *run, guint64 step, gboolean best, GError **error)
{
  if (!run->saving->saver || run->health.bad_row > 0 || (!dyno_run_get_folder (run) && !best))
    return TRUE;
  if (!dyno_saver_check (run->saving->saver, error))
    return FALSE;
  /* Beginning the folder removes unfinished files, so it comes before the saver writes one. */
  if (run->position.step > 0)
    dyno_run_begin_folder (run);
  if (!best && !dyno_saver_has_room (run->saving->saver))
    {
      run->saving->interval.due = TRUE;
      return TRUE;
    }
  if (!dyno_saver_take (run->saving->saver, best, error))
    return FALSE;
  /* Best weights that are only kept in memory do not stand for a checkpoint that is due. */
  if (!best || !run->job->saves_at_end)
    dyno_save_interval_take (&run->saving->interval, step, dyno_run_clock_now (&run->clock));
  else
    dyno_save_interval_keep (&run->saving->interval, step);
  run->saving->armed = TRUE;
  if (run->position.step == step)
    commit (run, best);
  return TRUE;
}

gboolean
dyno_run_save (DynoRun *run, guint64 step, gboolean best, GError **error)
{
  return (run->job->saves_at_end && !best && !run->saving->interval.due)
         || save (run, step, best, error);
}

void
dyno_run_save_known (DynoRun *run)
{
  if (!run->saving->armed || run->position.step < run->saving->interval.step)
    return;
  if (run->health.bad_row == 0)
    {
      commit (run, FALSE);
      return;
    }
  run->saving->armed = FALSE;
  dyno_saver_cancel (run->saving->saver);
}

gboolean
dyno_run_save_last (DynoRun *run, GError **error)
{
  if (!run->saving->saver)
    return TRUE;
  dyno_saver_flush (run->saving->saver);
  if (!save (run, run->position.step, FALSE, error))
    return FALSE;
  dyno_saver_flush (run->saving->saver);
  return dyno_saver_check (run->saving->saver, error);
}

gboolean
dyno_run_flush_saves (DynoRun *run, GError **error)
{
  if (!run->saving->saver)
    return TRUE;
  dyno_saver_flush (run->saving->saver);
  return dyno_saver_check (run->saving->saver, error);
}

gboolean
dyno_run_save_all (DynoRun *run, gboolean *saved, GError **error)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);
  g_autoptr (GError) problem = NULL;

  *saved = FALSE;
  if (!dir || !dyno_run_has_begun (run))
    {
      dyno_run_warn (run, dir ? _ ("No step is done yet: the run's memory on the device is kept in "
                                   "this pause")
                              : _ ("The run has no folder to save a checkpoint in: its memory on "
                                   "the device is kept in this pause"));
      return TRUE;
    }
  if (!dyno_run_save_last (run, error))
    return FALSE;
  if (!dyno_saver_holds (run->saving->saver, &run->position))
    {
      dyno_run_warn (run, _ ("The state of the run is not saved: its memory on the device is kept "
                             "in this pause"));
      return TRUE;
    }
  *saved = dyno_run_save_weights (run, TRUE, &problem);
  if (*saved)
    return TRUE;
  if (problem->domain != DYNO_TRAIN_ERROR)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  dyno_run_warn (run, _ ("%s; the run's memory on the device is kept in this pause"),
                 problem->message);
  return TRUE;
}

gboolean
dyno_run_stops_early (DynoRun *run)
{
  const DynoPosition *p = &run->position;
  const DynoSettings *s = &run->engine->job->settings;
  const char *name = s->best_metric ? g_quark_to_string (s->best_metric) : NULL;

  if (!dyno_position_has_stalled (p, (guint64) s->early_stop_patience))
    return FALSE;
  dyno_run_warn (run,
                 _ ("The run ends early, after epoch %" PRIu64 ": since epoch %" PRIu64
                    " the validation (%s) has not been better by more than %g"),
                 p->epoch, p->early_epoch, name ? name : _ ("its first metric"),
                 s->early_stop_delta);
  return TRUE;
}

gboolean
dyno_run_take_validation (DynoRun *run, const DynoEpochMetrics *metrics)
{
  const DynoSettings *s = &run->engine->job->settings;
  DynoValidated validated = { .epoch = metrics->epoch, .loss = metrics->val_loss };
  DynoMetricTable table;
  int selecting;

  /* The loss of the epoch's last step is from before its update: the effect of that update on the
   * weights first shows in this validation. */
  if (dyno_health_is_bad (&run->health, metrics->val_loss) || run->health.bad_row > 0)
    return FALSE;
  dyno_metrics_get_table (run->session->metrics, &table);
  selecting = dyno_metric_table_find_best (&table, g_quark_to_string (s->best_metric));
  if (selecting >= 0)
    {
      validated.selecting = &table.infos[selecting];
      validated.value = metrics->val_metrics[selecting];
    }
  dyno_position_take_gain (&run->position, &validated, s->early_stop_delta);
  if (!dyno_position_take_validation (&run->position, &validated))
    return FALSE;
  if (dyno_run_get_folder (run))
    g_clear_pointer (&run->saving->best_path,
                     g_free); /* the folder's file becomes the better one */
  g_info ("Epoch %" G_GUINT64_FORMAT " is the best so far by validation: its weights are kept",
          metrics->epoch);
  return TRUE;
}

/* --- weights ---------------------------------------------------------------------------------- */

static gboolean
fail_to_save (DynoRun *run, const GError *problem, GError **error)
{
  if (g_error_matches (problem, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED))
    {
      g_propagate_prefixed_error (error, g_error_copy (problem), "The weights were not saved: ");
      return FALSE;
    }
  g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT,
               _ ("The weights were not saved: %s%s"), problem->message,
               run->saving->checkpoint ? _ ("; make room and resume from the checkpoint") : "");
  return FALSE;
}

static gboolean
save_to (const DynoWeights *weights, DynoRun *run, const char *path, GError **error)
{
  g_auto (GStrv) metadata = dyno_checkpoint_weights_metadata (
      run->engine->job, dyno_dataset_get_info (run->engine->dataset), run->position.run_id);
  g_autoptr (GError) problem = NULL;

  return !path
         || dyno_weights_save (weights, dyno_engine_get_graph (run->engine), path,
                               (const char *const *) metadata, &problem)
         || fail_to_save (run, problem, error);
}

static gboolean
copy_file (DynoRun *run, const char *from, const char *to, GError **error)
{
  g_autoptr (GMappedFile) file = NULL;
  g_autoptr (GError) problem = NULL;

  if (!to)
    return TRUE;
  file = g_mapped_file_new (from, FALSE, &problem);
  return (file
          && dyno_file_write_atomic (to, g_mapped_file_get_contents (file),
                                     g_mapped_file_get_length (file), &problem))
         || fail_to_save (run, problem, error);
}

static gboolean
is_same_file (const char *a, const char *b)
{
  GStatBuf one, other;

  return g_stat (a, &one) == 0 && g_stat (b, &other) == 0 && one.st_dev == other.st_dev
         && one.st_ino == other.st_ino;
}

void
dyno_run_forget_best (DynoRun *run)
{
  g_clear_pointer (&run->saving->best_path, g_free);
}

/* Adopts the best weights of earlier parts of the run, from the file beside the checkpoint.
 * Weights of another run, there or in this run's folder, are not used. */
gboolean
dyno_run_adopt_best (DynoRun *run, const char *checkpoint, GError **error)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);
  const char *own = dir ? dyno_run_folder_get_weights (dir) : NULL;
  g_autofree char *folder = g_path_get_dirname (checkpoint);
  g_autofree char *beside = g_build_filename (folder, DYNO_WEIGHTS_NAME, NULL);

  g_clear_pointer (&run->saving->best_path, g_free);
  if (run->position.best_epoch > 0 && dyno_checkpoint_owns_weights (beside, run->position.run_id))
    {
      if (!own || !is_same_file (beside, own))
        run->saving->best_path = g_steal_pointer (&beside);
      return !dyno_run_has_begun (run) || dyno_run_place_best (run, error);
    }
  if (run->position.best_epoch > 0 && g_file_test (beside, G_FILE_TEST_EXISTS))
    dyno_run_warn (run,
                   _ ("“%s” does not belong to the run that is resumed: the best weights are "
                      "determined anew, from the next validation on"),
                   beside);
  dyno_position_forget_best (&run->position);
  return TRUE;
}

gboolean
dyno_run_place_best (DynoRun *run, GError **error)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);

  if (!dir || !run->saving->best_path)
    return TRUE;
  if (!copy_file (run, run->saving->best_path, dyno_run_folder_get_weights (dir), error))
    return FALSE;
  g_clear_pointer (&run->saving->best_path, g_free);
  return TRUE;
}

static gboolean
save_best (DynoRun *run, GError **error)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);
  const char *own = dir ? dyno_run_folder_get_weights (dir) : NULL;
  const char *other = run->job->weights_out;
  const DynoWeights *kept = dyno_saver_get_best (run->saving->saver);

  if (kept)
    return save_to (kept, run, other, error) && save_to (kept, run, own, error);
  /* Before the folder begins the best weights stay where they are. */
  return copy_file (run, run->saving->best_path ? run->saving->best_path : own, other, error)
         && (!dyno_run_has_begun (run) || dyno_run_place_best (run, error));
}

static gboolean
save_last (DynoRun *run, GError **error)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);
  gboolean best = run->position.best_epoch > 0;
  const char *path = !dir   ? NULL
                     : best ? dyno_run_folder_get_last_weights (dir)
                            : dyno_run_folder_get_weights (dir);
  const char *other = best ? NULL : run->job->weights_out;
  g_autoptr (DynoState) state = NULL;
  DynoWeights *weights;

  if (!path && !other)
    return TRUE;
  state = dyno_state_read (dyno_engine_get_program (run->engine), NULL, DYNO_STATE_MODEL, error);
  if (!state)
    return FALSE;
  weights = *dyno_state_get_weights (state);
  weights->batches_tracked = run->position.batches_tracked;
  return save_to (weights, run, other, error) && save_to (weights, run, path, error);
}

gboolean
dyno_run_save_weights (DynoRun *run, gboolean last, GError **error)
{
  if (!run->saving->saver)
    return TRUE;
  dyno_saver_flush (run->saving->saver);
  return (run->position.best_epoch == 0 || save_best (run, error))
         && (!last || save_last (run, error));
}

gboolean
dyno_run_load_best (DynoRun *run, GError **error)
{
  DynoRunFolder *dir = dyno_run_get_folder (run);
  DynoGraph *graph = dyno_engine_get_graph (run->engine);
  const DynoWeights *kept = dyno_saver_get_best (run->saving->saver);
  const char *path = run->saving->best_path ? run->saving->best_path
                     : dir                  ? dyno_run_folder_get_weights (dir)
                                            : NULL;
  g_autofree char *shown = path ? g_filename_display_name (path) : NULL;
  DynoWeightsSource source = { .shown = shown, .prefix = "" };
  g_autoptr (DynoWeights) read = NULL;
  g_autoptr (DynoSafetensors) file = NULL;

  if (run->position.best_epoch == 0)
    return TRUE;
  g_return_val_if_fail (kept || path, FALSE);
  if (!kept)
    {
      file = dyno_safetensors_open (path, 0, error);
      read = file ? dyno_weights_new (graph, error) : NULL;
      if (!read || !dyno_weights_read (read, graph, file, &source, error))
        return FALSE;
      dyno_targets_unfold (read, graph);
    }
  return dyno_program_write_parameters (dyno_engine_get_program (run->engine), DYNO_SPACE_MASTER,
                                        (const float *const *) (kept ? kept : read)->values, error);
}
