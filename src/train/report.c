/* SPDX-License-Identifier: MIT */
/* What a run tells: events and the log. */
#include "intl.h"
#include "run.h"
#include <math.h>
#include <string.h>

/* the driver is asked for all programs' memory this seldom */
#define VRAM_ASK_US (G_USEC_PER_SEC / 4)

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
dyno_run_tell_plan (DynoRun *run)
{
  const DynoEngine *engine = run->engine;
  const DynoDeviceInfo *info = dyno_device_get_info (engine->device);
  DynoEvent *event;

  if (run->plan_told && run->told_plan_bytes == engine->plan.plan.total_bytes)
    return;
  run->plan_told = TRUE;
  run->told_plan_bytes = engine->plan.plan.total_bytes;
  event = dyno_event_new (DYNO_EVENT_PLAN);
  event->plan.plan = engine->plan;
  event->plan.device = g_strdup (info->name);
  event->plan.driver = g_strdup (info->driver);
  event->plan.software_device = info->type == DYNO_DEVICE_TYPE_SOFTWARE;
  event->plan.n_train = engine->training.n_samples;
  event->plan.n_validation = engine->validation.n_samples;
  event->plan.content_hash = run->content_hash;
  dyno_session_emit (run->session, event);
}

void
dyno_run_tell_metrics (DynoRun *run)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_METRICS);

  dyno_metric_table_init (&event->metrics, dyno_engine_get_graph (run->engine),
                          dyno_dataset_get_info (run->dataset));
  dyno_metrics_set_table (run->session->metrics, &event->metrics);
  dyno_session_emit (run->session, event);
}

void
dyno_run_check_log (DynoRun *run, const GError *problem)
{
  if (problem && !run->disk_warned)
    dyno_run_warn (run, _ ("%s; training goes on, and the log is kept until there is room"),
                   problem->message);
  if (!problem && run->disk_warned)
    dyno_run_warn (run, _ ("metrics.csv is written again, and whole"));
  run->disk_warned = problem != NULL;
}

void
dyno_run_write_settings (DynoRun *run)
{
  const DynoRunWriter *writer = run->session->writer;
  g_autoptr (GError) problem = NULL;

  if (!run->folder_begun || !writer)
    return;
  run->settings_due = !writer->write_settings (
      run->job->out_dir, run->job,
      run->engine ? dyno_device_get_info (run->engine->device)->name : NULL, &problem);
  if (problem)
    dyno_run_warn (run, _ ("%s; training goes on, and the settings are tried again at the end"),
                   problem->message);
}

void
dyno_run_begin_folder (DynoRun *run)
{
  g_autoptr (GError) problem = NULL;
  g_autoptr (GError) unplaced = NULL;

  if (!run->dir || run->folder_begun)
    return;
  run->folder_begun = TRUE;
  dyno_run_folder_begin (run->dir, run->session->metrics, &problem);
  dyno_run_check_log (run, problem);
  dyno_run_write_settings (run);
  if (!dyno_run_place_best (run, &unplaced))
    dyno_run_warn (run, _ ("%s; training goes on, and they are tried again at the end"),
                   unplaced->message);
  dyno_run_write_facts (run);
}

/* For other programs: what cannot be written is tried again with the next epoch, and told once. */
void
dyno_run_follow (DynoRun *run)
{
  const DynoRunWriter *writer = run->session->writer;
  g_autoptr (GError) problem = NULL;
  gboolean followed;

  if (!run->folder_begun || !writer || !writer->follow)
    return;
  followed =
      writer->follow (run->job->out_dir, run->job, run->session->metrics, !run->followed, &problem);
  run->followed = run->followed || followed;
  if (problem && !run->follow_warned)
    dyno_run_warn (run, _ ("%s; training goes on, and every value is in metrics.csv"),
                   problem->message);
  run->follow_warned = problem != NULL;
}

/* Rows of metrics.csv and sensors.csv. */
static void
write_row (DynoEvent *event, gpointer data)
{
  DynoRun *run = data;
  g_autoptr (GError) problem = NULL;

  if (run->dir && event->type == DYNO_EVENT_SENSORS)
    dyno_run_folder_add_sensors (run->dir, event->sensors);
  if (!run->dir || (event->type != DYNO_EVENT_STEP && event->type != DYNO_EVENT_EPOCH))
    return;
  if (event->type == DYNO_EVENT_STEP)
    dyno_run_folder_add_step (run->dir, &event->step, &problem);
  else
    dyno_run_folder_add_epoch (run->dir, &event->epoch, &problem);
  dyno_run_check_log (run, problem);
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

  event->facts = run->facts;
  dyno_run_write_facts (run);
  dyno_session_emit (run->session, event);
}

/* The samples that this run has trained so far, or, of one that is resumed in its folder, before. */
static DynoRunRate
find_rate (const DynoRun *run)
{
  DynoRunFacts before;

  if (run->facts.rate.samples > 0 || run->position.step == 0 || !run->job->out_dir
      || !dyno_run_facts_read (run->job->out_dir, &before))
    return run->facts.rate;
  return before.rate;
}

void
dyno_run_tell_facts (DynoRun *run)
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
  run->facts = facts;
  emit_facts (run);
}

void
dyno_run_tell_epoch_facts (DynoRun *run)
{
  if (!run->rank_times)
    return;
  dyno_run_describe_ranks (run, &run->facts);
  emit_facts (run);
}

void
dyno_run_tell_last_facts (DynoRun *run, DynoSessionState state, const GError *reason)
{
  run->facts.state = state;
  dyno_run_describe_ranks (run, &run->facts);
  run->facts.diverged = g_error_matches (reason, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED);
  g_strlcpy (run->facts.problem, reason ? reason->message : "", sizeof run->facts.problem);
  /* somebody may have measured the device meanwhile */
  if (run->engine)
    dyno_run_facts_set_rates (&run->facts, dyno_device_get_info (run->engine->device));
  emit_facts (run);
}

void
dyno_run_write_facts (DynoRun *run)
{
  g_autoptr (GError) problem = NULL;

  if (run->folder_begun && !dyno_run_facts_write (run->job->out_dir, &run->facts, &problem))
    g_info ("%s", problem->message);
}

const DynoObserver dyno_run_row_writer = { .event = write_row };

static guint64
all_programs_bytes (DynoRun *run)
{
  gint64 now = g_get_monotonic_time ();

  if (run->vram_asked_us == 0 || now - run->vram_asked_us >= VRAM_ASK_US)
    {
      run->vram_asked_us = now;
      dyno_run_ask_memory (run);
    }
  return run->vram_all_bytes;
}

/* What the loader did since the step that was told before. */
static void
take_loader (DynoRun *run, DynoStepMetrics *metrics)
{
  DynoUploader *uploader = run->engine->training.uploader;
  DynoLoaderStats now, before = run->loaded;

  if (!uploader)
    return;
  dyno_loader_get_stats (dyno_uploader_get_loader (uploader), &now);
  if (now.samples < before.samples) /* another loader, made anew */
    memset (&before, 0, sizeof before);
  metrics->workers = now.workers;
  metrics->decoded = now.samples - before.samples;
  metrics->decode_ms = (double) (now.decode_us - MIN (before.decode_us, now.decode_us)) / 1e3;
  metrics->fetch_ms = (double) (now.fetch_us - MIN (before.fetch_us, now.fetch_us)) / 1e3;
  run->loaded = now;
}

void
dyno_run_report_step (DynoRun *run, const DynoStepResult *r)
{
  double n = (double) MAX (r->n_samples, 1);
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
  for (guint i = 0; i < DYNO_MAX_METRICS; i++)
    metrics.metrics[i] = r->metric_sums[i] / n;
  take_loader (run, &metrics);
  dyno_run_tell_unreadable (run);
  if (metrics.step <= run->logged_step)
    return;
  run->logged_step = metrics.step;
  dyno_run_rate_add (&run->facts.rate, &metrics);
  dyno_run_begin_folder (run);
  dyno_metrics_add_step (run->session->metrics, &metrics);
  event = dyno_event_new (DYNO_EVENT_STEP);
  event->step = metrics;
  dyno_session_emit (run->session, event);
  dyno_run_take_ranks (run, r, metrics.step_ms);
}

void
dyno_run_report_epoch (DynoRun *run, const DynoEpochMetrics *epoch)
{
  DynoEvent *event;

  dyno_run_tell_unreadable (run);
  if (epoch->epoch <= run->logged_epoch)
    return;
  run->logged_epoch = epoch->epoch;
  dyno_metrics_add_epoch (run->session->metrics, epoch);
  event = dyno_event_new (DYNO_EVENT_EPOCH);
  event->epoch = *epoch;
  dyno_session_emit (run->session, event);
  dyno_run_tell_epoch_facts (run);
  dyno_run_follow (run);
}
