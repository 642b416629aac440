/* SPDX-License-Identifier: MIT */
/* The search, in its first form: one dimension after the other, each from real steps.  What may be
 * tried, and the base line, is the table's (space.h).
 *
 *   base line   batch 16 where it fits, 0 workers, fp32: what a first script does
 *   today       the job's own settings
 *   amp         fp32 and AMP at a middle batch, where the device has fp16
 *   batch       powers of two from 8, or the largest below that fits, up to what the planner lets
 *               through
 *   workers     0, 1, 2, 4 ... up to the cores (and the preset's range), while it pays
 *   proof       the choice among all trials (verdict.c) once more, longer; when it fails, the next
 *               best; then what it is compared with
 *
 * Every trial is kept and told.  Stopping ends the search; the best of what was measured is still
 * told.  The time is kept by leaving out trials that would not end in it, by a share of it that
 * only proofs use, and by a deadline for each trial. */
#include "tune.h"
#include "intl.h"
#include "ring.h"
#include "space.h"
#include "trial.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

#define N_PROOFS           3   /* the choice, the base line, today's settings */
#define PROOF_SECONDS      2.0 /* measured, at the least */
#define MOST_PROOF_SECONDS 20.0

struct _DynoTune {
  DynoJob *job;
  DynoDataset *dataset;
  double minutes;
  GThread *thread;
  GCancellable *cancellable;
  DynoRing *events;
  GPtrArray *trials; /* DynoTrial*, in order */
  GMutex mutex;
  DynoTuneResult *result; /* of the end; under the mutex */
  DynoDeviceInfo device;
  gint64 begin_us;
  guint planned;    /* trials expected, for the progress */
  double prepare_s; /* the most that a trial took besides measuring */
  double fastest;   /* samples/s of any trial */
};

static void
trial_free (gpointer data)
{
  dyno_trial_clear (data);
  g_free (data);
}

void
dyno_tune_event_free (DynoTuneEvent *event)
{
  if (!event)
    return;
  dyno_trial_clear (&event->trial);
  dyno_trial_clear (&event->baseline);
  dyno_ceiling_clear (&event->ceiling);
  dyno_tune_result_unref (event->result);
  g_clear_error (&event->error);
  g_free (event->text);
  g_free (event);
}

DynoTune *
dyno_tune_new (const DynoJob *job, double minutes)
{
  DynoTune *tune = g_new0 (DynoTune, 1);

  tune->job = dyno_job_copy (job);
  tune->minutes = minutes > 0.0 ? minutes : 3.0;
  g_mutex_init (&tune->mutex);
  tune->cancellable = g_cancellable_new ();
  tune->events = dyno_ring_new (4096, (GDestroyNotify) dyno_tune_event_free);
  tune->trials = g_ptr_array_new_with_free_func (trial_free);
  return tune;
}

void
dyno_tune_set_dataset (DynoTune *tune, DynoDataset *dataset)
{
  g_return_if_fail (!tune->thread);
  g_clear_pointer (&tune->dataset, dyno_dataset_unref);
  tune->dataset = dyno_dataset_ref (dataset);
}

static void
tell (DynoTune *tune, DynoTuneEvent *event)
{
  if (!dyno_ring_push (tune->events, event))
    dyno_tune_event_free (event);
}

static void
tell_progress (DynoTune *tune, const char *stage, const DynoSettings *settings)
{
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);
  g_autofree char *description = dyno_trial_describe (settings);

  event->type = DYNO_TUNE_EVENT_PROGRESS;
  event->fraction =
      MIN (1.0, (double) tune->trials->len / MAX (tune->planned, tune->trials->len + 1));
  event->trial.stage = stage;
  event->trial.settings = *settings;
  event->text = g_strdup_printf ("%s: %s", stage, description);
  tell (tune, event);
}

static gboolean
stopped (DynoTune *tune)
{
  return g_cancellable_is_cancelled (tune->cancellable);
}

static double
seconds_left (DynoTune *tune)
{
  return tune->minutes * 60.0 - (double) (g_get_monotonic_time () - tune->begin_us) / 1e6;
}

/* What a trial of these settings takes at the least: to prepare as the others did, and enough steps
 * at the best rate so far. */
static double
least_seconds (DynoTune *tune, const DynoSettings *settings)
{
  double samples = (double) (settings->batch_size * settings->accumulate) * DYNO_TRIAL_LEAST_STEPS;

  return tune->prepare_s + (tune->fastest > 0.0 ? samples / tune->fastest : 0.0);
}

/* Seconds that are kept for the proofs: of the choice, the base line and today's settings.  Until
 * something was measured there is nothing to prove. */
static double
reserved_seconds (DynoTune *tune)
{
  if (tune->fastest <= 0.0)
    return 0.0;
  return MIN (N_PROOFS * (tune->prepare_s + PROOF_SECONDS), 0.5 * tune->minutes * 60.0);
}

/* FALSE: a trial of these settings would end after the search must. */
static gboolean
has_time (DynoTune *tune, const DynoSettings *settings)
{
  return seconds_left (tune) - reserved_seconds (tune) > least_seconds (tune, settings);
}

/* Seconds a trial may measure, so that the search ends in time. */
static double
trial_seconds (DynoTune *tune)
{
  guint trials_left = tune->planned > tune->trials->len ? tune->planned - tune->trials->len : 1;
  double each = (seconds_left (tune) - reserved_seconds (tune)) / trials_left - tune->prepare_s;

  return CLAMP (each, 0.5, 10.0);
}

/* Runs one trial, which ends reserve_s before the tuner's time is over whatever it has measured,
 * keeps it and tells it.  The trial stays the tuner's. */
static const DynoTrial *
try_settings (DynoTune *tune, const char *stage, const DynoSettings *settings, double seconds,
              double reserve_s)
{
  DynoTrial *trial = g_new0 (DynoTrial, 1);
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);
  gint64 begin_us = g_get_monotonic_time ();
  gint64 deadline_us = begin_us + (gint64) (MAX (seconds_left (tune) - reserve_s, 0.0) * 1e6);

  trial->number = tune->trials->len + 1;
  trial->stage = stage;
  trial->settings = *settings;
  tell_progress (tune, stage, settings);
  if (!dyno_trial_rule_out (trial, tune->job, tune->dataset, &tune->device))
    dyno_trial_run (trial, tune->job, tune->dataset, seconds, deadline_us, tune->cancellable);
  g_ptr_array_add (tune->trials, trial);
  if (trial->outcome == DYNO_TRIAL_OK)
    {
      double whole_s = (double) (g_get_monotonic_time () - begin_us) / 1e6;

      tune->fastest = MAX (tune->fastest, trial->samples_per_s);
      tune->prepare_s =
          MAX (tune->prepare_s, whole_s - (double) trial->steps * trial->step_ms / 1e3);
    }

  event->type = DYNO_TUNE_EVENT_TRIAL;
  dyno_trial_copy (trial, &event->trial);
  tell (tune, event);
  return trial;
}

static const DynoTrial *
search_with (DynoTune *tune, const char *stage, const DynoSettings *settings)
{
  return try_settings (tune, stage, settings, trial_seconds (tune), reserved_seconds (tune));
}

/* The largest batch of these settings that the planner lets through, at most most; 1 when none
 * does, for the trial to say why. */
static gint64
fitting_batch (DynoTune *tune, const DynoSettings *settings, gint64 most)
{
  g_autoptr (DynoJob) job = dyno_job_copy (tune->job);
  DynoJobPlan plan;

  job->settings = *settings;
  job->settings.batch_size = most;
  if (!dyno_job_plan (job, dyno_dataset_get_info (tune->dataset), &tune->device, &plan, NULL))
    return most; /* the trial says what is wrong */
  return plan.fits ? most : CLAMP (plan.fitting_batch, 1, most);
}

static const DynoTrial *
search_amp (DynoTune *tune, DynoSettings *settings)
{
  const DynoTrial *fp32, *amp;

  settings->amp = FALSE;
  fp32 = search_with (tune, "amp", settings);
  if (!tune->device.fp16 || stopped (tune) || !has_time (tune, settings))
    return fp32;
  settings->amp = TRUE;
  amp = search_with (tune, "amp", settings);
  if (amp->outcome == DYNO_TRIAL_OK
      && (fp32->outcome != DYNO_TRIAL_OK || amp->samples_per_s > fp32->samples_per_s))
    return amp;
  settings->amp = fp32->outcome != DYNO_TRIAL_OK && amp->outcome == DYNO_TRIAL_OK;
  return fp32;
}

static const DynoTrial *
search_batch (DynoTune *tune, DynoSettings *settings, gint64 most)
{
  g_autoptr (GPtrArray) tried = g_ptr_array_new ();
  const DynoTrial *choice;
  gint64 middle = settings->batch_size,
         least = (gint64) dyno_setting_find ("batch_size")->tunable.minimum;
  double best = 0.0;
  guint flat = 0;

  for (gint64 batch = fitting_batch (tune, settings, MIN (least, most));
       batch <= most && flat < 2 && !stopped (tune); batch *= 2)
    {
      const DynoTrial *trial;

      settings->batch_size = batch;
      if (!has_time (tune, settings))
        break;
      trial = search_with (tune, "batch", settings);
      g_ptr_array_add (tried, (gpointer) trial);
      if (trial->outcome == DYNO_TRIAL_DOES_NOT_FIT || trial->outcome == DYNO_TRIAL_OUT_OF_MEMORY)
        break;
      if (trial->outcome != DYNO_TRIAL_OK)
        continue;
      flat = trial->samples_per_s > best * DYNO_VERDICT_PAYS ? 0 : flat + 1;
      best = MAX (best, trial->samples_per_s);
    }
  choice = dyno_verdict_choose (tried);
  settings->batch_size = choice ? choice->settings.batch_size : middle;
  return choice;
}

static const DynoTrial *
search_workers (DynoTune *tune, DynoSettings *settings, const DynoTrial *current)
{
  const DynoSettingInfo *info = dyno_setting_find ("workers");
  const DynoTrial *best = current;
  gint64 start = settings->workers;
  double value = -1.0;
  guint flat = 0;

  while (flat < 2 && !stopped (tune) && dyno_space_step (info, &value)
         && value <= g_get_num_processors ())
    {
      const DynoTrial *trial;
      gint64 workers = (gint64) value;

      if (workers == start)
        continue;
      settings->workers = workers;
      if (!has_time (tune, settings))
        break;
      trial = search_with (tune, "workers", settings);
      if (trial->outcome != DYNO_TRIAL_OK)
        continue;
      if (!best
          || trial->samples_per_s > best->samples_per_s
                                        * (workers < best->settings.workers
                                               ? 1.0 / DYNO_VERDICT_PAYS
                                               : DYNO_VERDICT_PAYS))
        {
          best = trial;
          flat = 0;
        }
      else if (best && workers > best->settings.workers)
        flat++;
    }
  settings->workers = best ? best->settings.workers : start;
  return best;
}

/* Runs what the verdict wants proven, for longer.  The choice is proven first; the time that is
 * left is shared. */
static void
prove (DynoTune *tune, const DynoTrial *baseline, const DynoTrial *today)
{
  const DynoTrial *next;

  for (guint n = 0;
       !stopped (tune) && (next = dyno_verdict_next_proof (tune->trials, baseline, today)); n++)
    {
      double left = seconds_left (tune),
             share = left / (n < N_PROOFS ? N_PROOFS - n : 1) - tune->prepare_s;

      if (left < least_seconds (tune, &next->settings))
        return;
      try_settings (tune, "proof", &next->settings,
                    CLAMP (share, PROOF_SECONDS, MOST_PROOF_SECONDS), 0.0);
    }
}

static DynoTuneResult *
make_result (DynoTune *tune, const DynoVerdict *v, const char *reason)
{
  DynoTuneResult *result = dyno_tune_result_new (tune->job);
  g_autofree const char **reasons = g_new0 (const char *, 2);

  reasons[0] = reason;
  for (guint i = 0; i < tune->trials->len; i++)
    {
      DynoTrial *copy = g_new0 (DynoTrial, 1);

      dyno_trial_copy (tune->trials->pdata[i], copy);
      g_ptr_array_add (result->trials, copy);
    }
  result->device = g_strdup (tune->device.name);
  result->n_cores = g_get_num_processors ();
  result->minutes = tune->minutes;
  dyno_trial_copy (v->best, &result->best);
  result->best.settings.epochs = tune->job->settings.epochs;
  dyno_trial_copy (v->baseline, &result->baseline);
  if (v->today)
    dyno_trial_copy (v->today, &result->today);
  result->proven = v->proven;
  result->keep_today = v->keep_today;
  result->reasons = g_strdupv ((char **) reasons);
  return result;
}

static void
tell_best (DynoTune *tune, const DynoVerdict *v)
{
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);

  event->type = DYNO_TUNE_EVENT_BEST;
  event->proven = v->proven;
  event->keep_today = v->keep_today;
  dyno_trial_copy (v->best, &event->trial);
  dyno_trial_copy (v->baseline, &event->baseline);
  event->speedup = v->baseline->outcome == DYNO_TRIAL_OK
                       ? v->best->samples_per_s / v->baseline->samples_per_s
                       : (double) NAN;
  event->gain = v->today ? v->best->samples_per_s / v->today->samples_per_s : (double) NAN;
  event->text = dyno_verdict_explain (v, tune->trials);
  /* What is exported trains for as long as the user wanted. */
  event->trial.settings.epochs = tune->job->settings.epochs;
  event->result = make_result (tune, v, event->text);
  event->result->speedup = event->speedup;
  event->result->gain = event->gain;
  g_mutex_lock (&tune->mutex);
  tune->result = dyno_tune_result_ref (event->result);
  g_mutex_unlock (&tune->mutex);
  tell (tune, event);
}

/* The largest batch worth asking for: the training part must hold a few batches, and the memory
 * decides the rest. */
static gint64
most_batch (DynoTune *tune)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (tune->dataset);
  double train = (double) info->n_samples * (1.0 - tune->job->settings.data_val_split);

  double most = dyno_setting_find ("batch_size")->tunable.maximum;

  return (gint64) CLAMP (floor (train / 2.0), 1.0, most);
}

/* Why there is no best: not fitting is one thing, failing another. */
static void
set_nothing (DynoTune *tune, GError **error)
{
  const DynoTrial *last = tune->trials->pdata[tune->trials->len - 1];
  gboolean fits = FALSE;

  for (guint i = 0; i < tune->trials->len; i++)
    {
      DynoTrialOutcome outcome = ((const DynoTrial *) tune->trials->pdata[i])->outcome;
      fits |= outcome != DYNO_TRIAL_DOES_NOT_FIT && outcome != DYNO_TRIAL_OUT_OF_MEMORY;
    }
  if (fits)
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING,
                 _ ("No trial of %u worked in %.3g minutes; the last said: %s"), tune->trials->len,
                 tune->minutes, last->text ? last->text : _ ("nothing"));
  else
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_DOES_NOT_FIT,
                 _ ("Nothing fits the memory: %s"),
                 last->text ? last->text : _ ("the device refused every trial"));
}

/* The stages, in their order; every trial of them is a candidate in the end. */
static void
search_stages (DynoTune *tune, gint64 most)
{
  DynoSettings settings = tune->job->settings;
  const DynoTrial *choice;

  settings.workers = MIN (4, (gint64) g_get_num_processors ());
  settings.batch_size = fitting_batch (tune, &settings, MIN (MAX (settings.batch_size, 32), most));
  if (stopped (tune) || !has_time (tune, &settings))
    return;
  choice = search_amp (tune, &settings);
  if (!stopped (tune))
    {
      const DynoTrial *by_batch = search_batch (tune, &settings, most);
      choice = by_batch ? by_batch : choice;
    }
  if (!stopped (tune) && choice && !dyno_dataset_get_info (tune->dataset)->schema.generated)
    search_workers (tune, &settings, choice);
}

static gboolean
search (DynoTune *tune, GError **error)
{
  gint64 most = most_batch (tune);
  const DynoTrial *baseline, *today;
  DynoSettings base = tune->job->settings;
  DynoVerdict verdict;

  tune->planned = 1 + 1 + 2 + 8 + 4 + N_PROOFS;
  dyno_space_set_baseline (&base);
  base.batch_size = fitting_batch (tune, &base, MIN (base.batch_size, most));
  today = baseline = search_with (tune, "baseline", &base);
  if (!stopped (tune) && !dyno_settings_equal (&base, &tune->job->settings)
      && has_time (tune, &tune->job->settings))
    today = search_with (tune, "today", &tune->job->settings);
  else if (!dyno_settings_equal (&base, &tune->job->settings))
    today = NULL;
  search_stages (tune, most);
  prove (tune, baseline, today);

  dyno_verdict_judge (tune->trials, baseline, today, &verdict);
  if (verdict.best)
    tell_best (tune, &verdict);
  else
    set_nothing (tune, error);
  return verdict.best != NULL;
}

static gboolean
prepare (DynoTune *tune, GError **error)
{
  g_autoptr (GPtrArray) devices = dyno_device_list (error);
  int index = MAX (tune->job->device, 0);

  if (!devices)
    return FALSE;
  if (index >= (int) devices->len)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                   _ ("There is no device %d: choose one of 0 to %u"), index, devices->len - 1);
      return FALSE;
    }
  tune->device = *(const DynoDeviceInfo *) devices->pdata[index];
  if (!tune->dataset)
    {
      DynoDatasetParams params = { .targets = tune->job->targets };
      tune->dataset =
          dyno_dataset_open (tune->job->data, &params, NULL, NULL, tune->cancellable, error);
    }
  return tune->dataset != NULL;
}

/* Takes the error, if there is one. */
static void
end (DynoTune *tune, GError *error)
{
  DynoTuneEvent *done = g_new0 (DynoTuneEvent, 1);

  if (error)
    {
      DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);
      event->type = DYNO_TUNE_EVENT_ERROR;
      event->error = error;
      tell (tune, event);
    }
  done->type = DYNO_TUNE_EVENT_DONE;
  done->fraction = 1.0;
  tell (tune, done);
  dyno_ring_close (tune->events);
}

static gpointer
run (gpointer data)
{
  DynoTune *tune = data;
  GError *error = NULL;

  tune->begin_us = g_get_monotonic_time ();
  end (tune, prepare (tune, &error) && search (tune, &error) ? NULL : error);
  return NULL;
}

void
dyno_tune_start (DynoTune *tune)
{
  GError *error = NULL;

  g_return_if_fail (!tune->thread);
  tune->thread = g_thread_try_new ("dyno-tune", run, tune, &error);
  if (tune->thread)
    return;
  g_prefix_error (&error, _ ("The search was not started, for want of a thread (end other "
                             "programs, or raise their limit): "));
  end (tune, error);
}

void
dyno_tune_stop (DynoTune *tune)
{
  g_cancellable_cancel (tune->cancellable);
}

void
dyno_tune_free (DynoTune *tune)
{
  if (!tune)
    return;
  dyno_tune_stop (tune);
  dyno_ring_close (tune->events); /* nobody takes events any more: no push may wait */
  if (tune->thread)
    g_thread_join (tune->thread);
  dyno_ring_free (tune->events);
  g_ptr_array_unref (tune->trials);
  dyno_tune_result_unref (tune->result);
  g_mutex_clear (&tune->mutex);
  g_clear_pointer (&tune->dataset, dyno_dataset_unref);
  dyno_job_unref (tune->job);
  g_object_unref (tune->cancellable);
  g_free (tune);
}

DynoTuneEvent *
dyno_tune_try_pop (DynoTune *tune)
{
  return dyno_ring_try_pop (tune->events);
}

DynoTuneEvent *
dyno_tune_pop (DynoTune *tune, gint64 timeout_us)
{
  return dyno_ring_pop (tune->events, timeout_us);
}

DynoTuneResult *
dyno_tune_get_result (DynoTune *tune)
{
  DynoTuneResult *result;

  g_mutex_lock (&tune->mutex);
  result = tune->result ? dyno_tune_result_ref (tune->result) : NULL;
  g_mutex_unlock (&tune->mutex);
  return result;
}
