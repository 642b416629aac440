/* SPDX-License-Identifier: MIT */
/* The reports of a run: its events, its log, and the files of its folder that grow or are written
 * at its end. */
#include "intl.h"
#include "run.h"
#include <math.h>
#include <string.h>

struct _DynoRunLog {
  DynoRunFolder *dir;  /* NULL: nothing is written */
  guint64 step, epoch; /* last rows that the log holds: nothing is reported twice */
  gboolean plan_reported;
  guint64 plan_bytes; /* size of the plan that was reported last */
  gboolean folder_begun, settings_due;
  gboolean followed, follow_warned; /* other programs' logs were written; the last attempt failed */
  gboolean disk_warned;             /* metrics.csv could not be appended to */
  DynoLoaderStats loaded;           /* work of the training's loader up to the last reported step */
  DynoRunFacts facts;               /* complete from dyno_run_report_facts on */
  guint64 vram_all_bytes;
  gint64 vram_asked_us; /* 0: never */
};

/* interval at which the driver is asked for all programs' memory */
#define VRAM_ASK_US (G_USEC_PER_SEC / 4)

DynoRunLog *
dyno_run_log_new (void)
{
  return g_new0 (DynoRunLog, 1);
}

void
dyno_run_log_free (DynoRunLog *log)
{
  if (!log)
    return;
  dyno_run_folder_free (log->dir);
  g_free (log);
}

void
dyno_run_warn (DynoRun *run, const char *format, ...)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_WARNING);
  va_list arguments;

  va_start (arguments, format);
  event->text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_info ("%s", event->text);
  dyno_session_emit (run->session, event);
}

void
dyno_run_report_plan (DynoRun *run)
{
  const DynoEngine *engine = run->engine;
  const DynoDeviceInfo *info = dyno_device_get_info (engine->device);
  DynoEvent *event;

  if (run->log->plan_reported && run->log->plan_bytes == engine->plan.plan.total_bytes)
    return;
  run->log->plan_reported = TRUE;
  run->log->plan_bytes = engine->plan.plan.total_bytes;
  event = dyno_event_new (DYNO_EVENT_PLAN);
  event->plan.plan = engine->plan;
  event->plan.device = g_strdup (info->name);
  event->plan.driver = g_strdup (info->driver);
  event->plan.software_device = info->type == DYNO_DEVICE_TYPE_SOFTWARE;
  event->plan.n_train = engine->training.n_samples;
  event->plan.n_validation = engine->validation.n_samples;
  event->plan.n_test = engine->test.n_samples;
  event->plan.content_hash = run->content_hash;
  dyno_session_emit (run->session, event);
}

void
dyno_run_report_metrics (DynoRun *run)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_METRICS);

  dyno_metric_table_init (&event->metrics, dyno_engine_get_graph (run->engine),
                          dyno_dataset_get_info (run->dataset),
                          g_quark_to_string (run->engine->job->settings.best_metric));
  dyno_metrics_set_table (run->session->metrics, &event->metrics);
  dyno_session_emit (run->session, event);
}

/* --- the folder ------------------------------------------------------------------------------- */

gboolean
dyno_run_open_folder (DynoRun *run, GError **error)
{
  const char *path = run->job->out_dir;

  return !path || (run->log->dir = dyno_run_folder_open (path, error));
}

void
dyno_run_close_folder (DynoRun *run)
{
  g_clear_pointer (&run->log->dir, dyno_run_folder_free);
}

DynoRunFolder *
dyno_run_get_folder (const DynoRun *run)
{
  return run->log->dir;
}

gboolean
dyno_run_has_begun (const DynoRun *run)
{
  return run->log->folder_begun;
}

/* After an attempt to write to metrics.csv: reports a failure (problem is not NULL) once, and the
 * recovery. */
static void
check_log (DynoRun *run, const GError *problem)
{
  if (problem && !run->log->disk_warned)
    dyno_run_warn (run, _ ("%s; training continues, and the log is kept until there is room"),
                   problem->message);
  if (!problem && run->log->disk_warned)
    dyno_run_warn (run, _ ("metrics.csv is written again and is complete"));
  run->log->disk_warned = problem != NULL;
}

/* Writes facts.ini; a failure is only logged. */
static void
write_facts (DynoRun *run)
{
  g_autoptr (GError) problem = NULL;

  if (run->log->folder_begun
      && !dyno_run_facts_write (run->job->out_dir, &run->log->facts, &problem))
    g_info ("%s", problem->message);
}

void
dyno_run_write_settings (DynoRun *run)
{
  const DynoRunWriter *writer = run->session->writer;
  g_autoptr (GError) problem = NULL;

  if (!run->log->folder_begun || !writer)
    return;
  run->log->settings_due = !writer->write_settings (
      run->job->out_dir, run->job,
      run->engine ? dyno_device_get_info (run->engine->device)->name : NULL, &problem);
  if (problem)
    dyno_run_warn (run, _ ("%s; training continues, and the settings are tried again at the end"),
                   problem->message);
}

void
dyno_run_begin_folder (DynoRun *run)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GError) unplaced = NULL;

  if (!run->log->dir || run->log->folder_begun)
    return;
  run->log->folder_begun = TRUE;
  dyno_run_folder_begin (run->log->dir, run->session->metrics, &problem);
  dyno_run_drop_old_test (run);
  check_log (run, problem);
  dyno_run_write_settings (run);
  if (!dyno_run_place_best (run, &unplaced))
    dyno_run_warn (run, _ ("%s; training continues, and they are tried again at the end"),
                   unplaced->message);
  write_facts (run);
}

/* Writes the logs for other programs: a failed write is tried again with the next epoch, and
 * reported once. */
static void
bring_up_logs (DynoRun *run)
{
  const DynoRunWriter *writer = run->session->writer;
  g_autoptr (GError) problem = NULL;
  gboolean followed;

  if (!run->log->folder_begun || !writer || !writer->follow)
    return;
  followed = writer->follow (run->job->out_dir, run->job, run->session->metrics,
                             !run->log->followed, &problem);
  run->log->followed = run->log->followed || followed;
  if (problem && !run->log->follow_warned)
    dyno_run_warn (run, _ ("%s; training continues, and every value is in metrics.csv"),
                   problem->message);
  run->log->follow_warned = problem != NULL;
}

/* Writes rows of metrics.csv and sensors.csv. */
static void
write_row (DynoEvent *event, gpointer data)
{
  DynoRun *run = data;
  g_autoptr (GError) problem = NULL;

  if (run->log->dir && event->type == DYNO_EVENT_SENSORS)
    dyno_run_folder_add_sensors (run->log->dir, event->sensors);
  if (!run->log->dir || (event->type != DYNO_EVENT_STEP && event->type != DYNO_EVENT_EPOCH))
    return;
  if (event->type == DYNO_EVENT_STEP)
    dyno_run_folder_add_step (run->log->dir, &event->step, &problem);
  else
    dyno_run_folder_add_epoch (run->log->dir, &event->epoch, &problem);
  check_log (run, problem);
}

const DynoObserver dyno_run_row_writer = { .event = write_row };

void
dyno_run_skip_logged (DynoRun *run)
{
  run->log->step = MAX (run->log->step, run->position.step);
  run->log->epoch = MAX (run->log->epoch, run->position.epoch);
}

void
dyno_run_recall_log (DynoRun *run, const char *checkpoint)
{
  g_autofree char *folder = g_path_get_dirname (checkpoint);
  DynoMetrics *metrics = run->session->metrics;

  if (dyno_metrics_get_steps (metrics) == 0)
    {
      dyno_run_folder_recall (folder, run->position.step, metrics);
      if (run->log->dir)
        dyno_run_folder_recall_sensors (run->log->dir, folder, run->position.step);
    }
  dyno_run_skip_logged (run);
}

static void
write_curves (DynoRun *run)
{
  const DynoRunWriter *writer = run->session->writer;
  guint64 budget =
      run->job->settings.vram_budget && run->engine ? run->engine->plan.budget_bytes : 0;
  g_autoptr (GError) problem = NULL;

  if (writer && !writer->write_curves (run->job->out_dir, run->session->metrics, budget, &problem))
    dyno_run_warn (run, _ ("The curves were not drawn: %s; every value is in metrics.csv"),
                   problem->message);
}

/* Nothing depends on the diagnosis: a failure is only logged. */
static void
write_diagnosis (DynoRun *run)
{
  const DynoRunWriter *writer = run->session->writer;
  g_autoptr (GError) problem = NULL;

  if (writer && writer->write_diagnosis && !writer->write_diagnosis (run->job->out_dir, &problem))
    g_info ("No diagnosis of the run: %s", problem->message);
}

void
dyno_run_finish_folder (DynoRun *run)
{
  g_autoptr (GError) problem = NULL;

  if (!run->log->folder_begun)
    return;
  if (run->log->settings_due)
    dyno_run_write_settings (run);
  if (dyno_metrics_get_steps (run->session->metrics) == 0)
    return;
  if (!dyno_run_folder_finish (run->log->dir, run->session->metrics, &problem))
    dyno_run_warn (run, _ ("metrics.csv is incomplete: %s"), problem->message);
  write_curves (run);
  write_diagnosis (run);
  bring_up_logs (run);
}

/* --- facts ------------------------------------------------------------------------------------ */

static void
take_work (DynoRunFacts *facts, const DynoEngine *engine)
{
  DynoLowering *lowering = dyno_build_get_lowering (engine->training.build);
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);

  facts->batch_dispatches = dispatches->len;
  for (guint i = 0; i < dispatches->len; i++)
    facts->batch_bytes += (double) ((const DynoDispatch *) dispatches->pdata[i])->bytes;
  if (!engine->training.uploader)
    return;
  const DynoBatchLayout *layout =
      dyno_loader_get_layout (dyno_uploader_get_loader (engine->training.uploader));
  for (guint i = 0; i < layout->n_fields; i++)
    facts->sample_bytes += layout->sample_bytes[i];
}

static void
emit_facts (DynoRun *run)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_FACTS);

  event->facts = run->log->facts;
  write_facts (run);
  dyno_session_emit (run->session, event);
}

/* The rate over this run's steps so far; before the first step of a run that is resumed in its
 * folder, the rate in the folder's facts. */
static DynoRunRate
find_rate (const DynoRun *run)
{
  DynoRunFacts before;

  if (run->log->facts.rate.samples > 0 || run->position.step == 0 || !run->job->out_dir
      || !dyno_run_facts_read (run->job->out_dir, &before))
    return run->log->facts.rate;
  return before.rate;
}

void
dyno_run_report_facts (DynoRun *run)
{
  const DynoEngine *engine = run->engine;
  const DynoSettings *s = &engine->job->settings;
  const DynoPosition *p = &run->position;
  DynoRunFacts facts = {
    .fingerprint = run->content_hash,
    .device_bytes = engine->plan.device_bytes,
    .limit_bytes = engine->plan.limit_bytes,
    .planned_bytes = engine->plan.plan.total_bytes,
    .fitting_batch = (guint64) MAX (engine->plan.fitting_batch, 0),
    .n_train = engine->training.n_samples,
    .n_validation = engine->validation.n_samples,
    .n_test = engine->test.n_samples,
    .steps_per_epoch = engine->plan.steps_per_epoch,
    .max_steps = (guint64) MAX (run->job->max_steps, 0),
    .begin_step = p->step,
    .begin_place = p->epoch * engine->plan.steps_per_epoch + p->epoch_step,
    .batch_size = (guint64) s->batch_size,
    .accumulate = (guint64) s->accumulate,
    .parts = engine->parts,
    .amp = s->amp,
    .generated = !engine->training.uploader,
    .flops_per_sample = engine->plan.flops_per_sample,
    .guess_loss = run->health.guess,
    .state = DYNO_SESSION_RUNNING,
  };

  facts.rate = find_rate (run);
  g_strlcpy (facts.model, engine->job->model, sizeof facts.model);
  dyno_run_facts_set_device (&facts, dyno_device_get_info (engine->device));
  dyno_run_facts_set_rates (&facts, dyno_device_get_info (engine->device));
  dyno_run_facts_set_host (&facts);
  take_work (&facts, engine);
  dyno_run_describe_ranks (run, &facts);
  run->log->facts = facts;
  emit_facts (run);
}

void
dyno_run_report_epoch_facts (DynoRun *run)
{
  if (dyno_run_describe_ranks (run, &run->log->facts))
    emit_facts (run);
}

void
dyno_run_report_last_facts (DynoRun *run, DynoSessionState state, const GError *reason)
{
  if (run->log->facts.state == DYNO_SESSION_NEW)
    return;
  run->log->facts.state = state;
  dyno_run_describe_ranks (run, &run->log->facts);
  run->log->facts.diverged = g_error_matches (reason, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
  g_strlcpy (run->log->facts.problem, reason ? reason->message : "",
             sizeof run->log->facts.problem);
  /* the device may have been measured meanwhile */
  if (run->engine)
    dyno_run_facts_set_rates (&run->log->facts, dyno_device_get_info (run->engine->device));
  emit_facts (run);
}

void
dyno_run_set_bad_layer (DynoRun *run, const char *name)
{
  g_strlcpy (run->log->facts.bad_layer, name ? name : "", sizeof run->log->facts.bad_layer);
}

guint64
dyno_run_find_whole (const DynoRun *run)
{
  return dyno_run_facts_find_whole (&run->log->facts, (guint64) run->engine->job->settings.epochs,
                                    run->position.step);
}

/* --- steps and epochs ------------------------------------------------------------------------- */

static guint64
all_programs_bytes (DynoRun *run)
{
  gint64 now = g_get_monotonic_time ();

  if (run->log->vram_asked_us == 0 || now - run->log->vram_asked_us >= VRAM_ASK_US)
    {
      run->log->vram_asked_us = now;
      run->log->vram_all_bytes = dyno_run_ask_memory (run);
    }
  return run->log->vram_all_bytes;
}

/* The work of the loader since the last reported step. */
static void
take_loader (DynoRun *run, DynoStepMetrics *metrics)
{
  DynoUploader *uploader = run->engine->training.uploader;
  DynoLoaderStats now, before = run->log->loaded;

  if (!uploader)
    return;
  dyno_loader_get_stats (dyno_uploader_get_loader (uploader), &now);
  if (now.samples < before.samples) /* it is a new loader */
    memset (&before, 0, sizeof before);
  metrics->workers = now.workers;
  metrics->decoded = now.samples - before.samples;
  metrics->decode_ms = (double) (now.decode_us - MIN (before.decode_us, now.decode_us)) / 1e3;
  metrics->fetch_ms = (double) (now.fetch_us - MIN (before.fetch_us, now.fetch_us)) / 1e3;
  run->log->loaded = now;
}

void
dyno_run_report_step (DynoRun *run, const DynoStepResult *r)
{
  double n = (double) MAX (r->n_samples, 1);
  const DynoMetricInfo *infos;
  guint n_of_loss = dyno_network_get_metrics (dyno_engine_get_graph (run->engine), &infos);
  DynoStepTimes times;
  DynoStepMetrics metrics = {
    .step = r->order.step + 1,
    .epoch = r->order.epoch + 1,
    .loss = r->nonfinite_loss && isfinite (r->loss_sum) ? (double) NAN : r->loss_sum / n,
    .lr = r->order.lr,
    .wait_data_ms = r->wait_ms,
    .upload_ms = r->upload_ms,
    .host_copy_ms = r->host_copy_ms,
    .forward_ms = r->stage_ms[0],
    .backward_ms = r->stage_ms[1],
    .optimizer_ms = r->stage_ms[2],
    .grad_norm = r->grad_norm,
    .loss_scale = r->loss_scale,
    .skipped = r->overflow,
    .vram_bytes = dyno_device_get_allocated_total (run->engine->device),
    .vram_all_bytes = all_programs_bytes (run),
    .samples = r->n_samples,
  };
  DynoEvent *event;

  dyno_run_clock_end_step (&run->clock, r->end_us, r->n_samples, &times);
  metrics.samples_per_s = times.samples_per_s;
  metrics.step_ms = times.step_ms;
  metrics.seconds = times.seconds;
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    metrics.metrics[i] = (double) NAN;
  for (guint i = 0; i < MIN (n_of_loss, DYNO_MAX_METRICS); i++)
    metrics.metrics[i] = r->metric_sums[i] / n;
  take_loader (run, &metrics);
  dyno_run_warn_unreadable (run);
  if (metrics.step <= run->log->step)
    return;
  run->log->step = metrics.step;
  dyno_run_rate_add (&run->log->facts.rate, &metrics);
  dyno_run_begin_folder (run);
  dyno_metrics_add_step (run->session->metrics, &metrics);
  event = dyno_event_new (DYNO_EVENT_STEP);
  event->step = metrics;
  dyno_session_emit (run->session, event);
  dyno_run_take_ranks (run, r, metrics.step_ms);
}

static void
report_masks (DynoRun *run, guint64 epoch)
{
  DynoEvent *event = run->engine->watch ? dyno_mask_watch_report (run->engine->watch, epoch) : NULL;

  if (event)
    dyno_session_emit (run->session, event);
}

void
dyno_run_report_epoch (DynoRun *run, const DynoEpochMetrics *epoch)
{
  DynoEvent *event;

  dyno_run_warn_unreadable (run);
  if (epoch->epoch <= run->log->epoch)
    return;
  run->log->epoch = epoch->epoch;
  dyno_metrics_add_epoch (run->session->metrics, epoch);
  event = dyno_event_new (DYNO_EVENT_EPOCH);
  event->epoch = *epoch;
  dyno_session_emit (run->session, event);
  report_masks (run, epoch->epoch);
  dyno_run_report_epoch_facts (run);
  bring_up_logs (run);
}
