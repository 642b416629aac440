/* SPDX-License-Identifier: MIT */
/* The search, in its first form: one dimension after the other, each from real steps.
 *
 *   base line   batch 16, 0 workers, fp32: what a first script does
 *   amp         fp32 and AMP at a middle batch, where the device has fp16
 *   batch       powers of two from 8 up to what the planner lets through; the smallest batch within 3 % of the fastest
 *               is chosen, since a larger one only adds memory
 *   workers     0, 1, 2, 4 ... up to the cores (and the preset's range), while it pays
 *   proof       the choice once more, longer, before it is called best; when it fails, the next best is proven
 *
 * Every trial is kept and told.  Stopping ends the search; the best of what was measured is still told. */
#include "tune.h"
#include "ring.h"
#include "trial.h"
#include <math.h>
#include <string.h>

#define PAYS 1.03 /* a gain below this is noise or not worth the memory */

struct _DynoTune {
  DynoJob *job;
  DynoDataset *dataset;
  double minutes;
  GThread *thread;
  GCancellable *cancellable;
  DynoRing *events;
  GPtrArray *trials; /* DynoTrial*, in order */
  DynoDeviceInfo device;
  gint64 begin_us;
  guint planned; /* trials expected, for the progress */
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

  event->type = DYNO_TUNE_EVENT_PROGRESS;
  event->fraction = MIN (1.0, (double) tune->trials->len / MAX (tune->planned, tune->trials->len + 1));
  event->text = g_strdup_printf ("%s: batch %" G_GINT64_FORMAT ", %s, %" G_GINT64_FORMAT " workers", stage,
                                 settings->batch_size, settings->amp ? "AMP" : "fp32", settings->workers);
  tell (tune, event);
}

static gboolean
stopped (DynoTune *tune)
{
  return g_cancellable_is_cancelled (tune->cancellable);
}

/* Seconds a trial may measure, so that the search ends about in time. */
static double
trial_seconds (DynoTune *tune)
{
  double left = tune->minutes * 60.0 - (double) (g_get_monotonic_time () - tune->begin_us) / 1e6;
  guint trials_left = tune->planned > tune->trials->len ? tune->planned - tune->trials->len : 1;

  /* About half of a trial's time goes into preparing it. */
  return CLAMP (left / trials_left * 0.5, 0.5, 10.0);
}

static gboolean
out_of_time (DynoTune *tune)
{
  return (double) (g_get_monotonic_time () - tune->begin_us) / 60e6 > tune->minutes;
}

/* Runs one trial, keeps it and tells it.  The trial stays the tuner's. */
static const DynoTrial *
try_settings (DynoTune *tune, const char *stage, const DynoSettings *settings, double seconds)
{
  DynoTrial *trial = g_new0 (DynoTrial, 1);
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);

  trial->number = tune->trials->len + 1;
  trial->stage = stage;
  trial->settings = *settings;
  tell_progress (tune, stage, settings);
  if (!dyno_trial_rule_out (trial, tune->job, tune->dataset, &tune->device))
    dyno_trial_run (trial, tune->job, tune->dataset, seconds > 0.0 ? seconds : trial_seconds (tune), tune->cancellable);
  g_ptr_array_add (tune->trials, trial);

  event->type = DYNO_TUNE_EVENT_TRIAL;
  dyno_trial_copy (trial, &event->trial);
  tell (tune, event);
  return trial;
}

static const DynoTrial *
search_amp (DynoTune *tune, DynoSettings *settings)
{
  const DynoTrial *fp32, *amp;

  settings->amp = FALSE;
  fp32 = try_settings (tune, "amp", settings, 0.0);
  if (!tune->device.fp16 || stopped (tune))
    return fp32;
  settings->amp = TRUE;
  amp = try_settings (tune, "amp", settings, 0.0);
  if (amp->outcome == DYNO_TRIAL_OK && (fp32->outcome != DYNO_TRIAL_OK || amp->samples_per_s > fp32->samples_per_s))
    return amp;
  settings->amp = fp32->outcome != DYNO_TRIAL_OK && amp->outcome == DYNO_TRIAL_OK;
  return fp32;
}

/* The smallest batch whose rate is within PAYS of the fastest of this stage. */
static const DynoTrial *
smallest_fast (GPtrArray *trials)
{
  const DynoTrial *choice = NULL;
  double fastest = 0.0;

  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];
      if (t->outcome == DYNO_TRIAL_OK)
        fastest = MAX (fastest, t->samples_per_s);
    }
  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];
      if (t->outcome == DYNO_TRIAL_OK && t->samples_per_s * PAYS >= fastest
          && (!choice || t->settings.batch_size < choice->settings.batch_size))
        choice = t;
    }
  return choice;
}

static const DynoTrial *
search_batch (DynoTune *tune, DynoSettings *settings, gint64 most)
{
  g_autoptr (GPtrArray) tried = g_ptr_array_new ();
  const DynoTrial *choice;
  double best = 0.0;
  guint flat = 0;

  for (gint64 batch = 8; batch <= most && flat < 2 && !stopped (tune); batch *= 2)
    {
      const DynoTrial *trial;

      if (tried->len > 0 && out_of_time (tune))
        break;
      settings->batch_size = batch;
      trial = try_settings (tune, "batch", settings, 0.0);
      g_ptr_array_add (tried, (gpointer) trial);
      if (trial->outcome == DYNO_TRIAL_DOES_NOT_FIT || trial->outcome == DYNO_TRIAL_OUT_OF_MEMORY)
        break;
      if (trial->outcome != DYNO_TRIAL_OK)
        continue;
      flat = trial->samples_per_s > best * PAYS ? 0 : flat + 1;
      best = MAX (best, trial->samples_per_s);
    }
  choice = smallest_fast (tried);
  if (choice)
    settings->batch_size = choice->settings.batch_size;
  return choice;
}

static const DynoTrial *
search_workers (DynoTune *tune, DynoSettings *settings, const DynoTrial *current)
{
  guint cores = g_get_num_processors ();
  const DynoTrial *best = current;
  gint64 start = settings->workers;
  guint flat = 0;

  for (gint64 workers = 0; workers <= (gint64) cores && flat < 2 && !stopped (tune); workers = workers ? workers * 2 : 1)
    {
      const DynoTrial *trial;

      if (workers == start || (best != current && out_of_time (tune)))
        continue;
      settings->workers = workers;
      trial = try_settings (tune, "workers", settings, 0.0);
      if (trial->outcome != DYNO_TRIAL_OK)
        continue;
      if (!best || trial->samples_per_s > best->samples_per_s * (workers < best->settings.workers ? 1.0 / PAYS : PAYS))
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

static int
compare_rate (gconstpointer a, gconstpointer b)
{
  const DynoTrial *x = *(DynoTrial *const *) a, *y = *(DynoTrial *const *) b;

  return (x->samples_per_s < y->samples_per_s) - (x->samples_per_s > y->samples_per_s);
}

/* All trials that worked, the choice first and then by rate. */
static GPtrArray *
candidates (DynoTune *tune, const DynoTrial *choice)
{
  GPtrArray *order = g_ptr_array_new ();

  for (guint i = 0; i < tune->trials->len; i++)
    {
      const DynoTrial *t = tune->trials->pdata[i];
      if (t->outcome == DYNO_TRIAL_OK && t != choice)
        g_ptr_array_add (order, (gpointer) t);
    }
  g_ptr_array_sort (order, compare_rate);
  g_ptr_array_insert (order, 0, (gpointer) choice);
  return order;
}

/* Runs the choice again, longer; falls back on the next fastest settings when it fails.  A choice that proves slower than
 * the base line was a lucky trial: then the base line is proven too and the faster of the two is it. */
static const DynoTrial *
prove (DynoTune *tune, const DynoTrial *choice, const DynoTrial *baseline)
{
  g_autoptr (GPtrArray) order = candidates (tune, choice);
  const DynoTrial *proven = NULL;

  for (guint i = 0; i < order->len && i < 3 && !proven && !stopped (tune); i++)
    {
      const DynoTrial *candidate = order->pdata[i];
      const DynoTrial *proof = try_settings (tune, "proof", &candidate->settings, MAX (trial_seconds (tune), 2.0));
      if (proof->outcome == DYNO_TRIAL_OK)
        proven = proof;
    }
  if (proven && choice != baseline && baseline->outcome == DYNO_TRIAL_OK && proven->samples_per_s < baseline->samples_per_s
      && !stopped (tune))
    {
      const DynoTrial *proof = try_settings (tune, "proof", &baseline->settings, MAX (trial_seconds (tune), 2.0));
      if (proof->outcome == DYNO_TRIAL_OK && proof->samples_per_s > proven->samples_per_s)
        proven = proof;
    }
  return proven || !stopped (tune) ? proven : choice;
}

static char *
explain (const DynoTrial *best, const DynoTrial *baseline, const GPtrArray *trials)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const DynoSettings *s = &best->settings;
  double larger = 0.0;

  if (baseline == best)
    g_string_append (text, "The base line (batch 16, 0 workers, fp32) is the fastest that was found. ");
  else if (baseline->outcome == DYNO_TRIAL_OK)
    g_string_append_printf (text, "%.1f times the base line (batch 16, 0 workers, fp32). ",
                            best->samples_per_s / baseline->samples_per_s);
  for (guint i = 0; i < trials->len; i++)
    {
      const DynoTrial *t = trials->pdata[i];
      if (strcmp (t->stage, "batch") == 0 && t->outcome == DYNO_TRIAL_OK && t->settings.batch_size > s->batch_size)
        larger = MAX (larger, t->samples_per_s);
    }
  if (larger > 0.0)
    g_string_append_printf (text, "A batch above %" G_GINT64_FORMAT " only adds memory. ", s->batch_size);
  if (best->wait_data_ms > 0.1 * best->step_ms)
    g_string_append_printf (text, "Each step waits %.0f %% of its time for data: more workers, or the cache, would help. ",
                            100.0 * best->wait_data_ms / best->step_ms);
  if (s->batch_size != 16)
    g_string_append_printf (text, "If the learning rate was found with batch 16, start from %.3g times it.",
                            (double) s->batch_size / 16.0);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
tell_best (DynoTune *tune, const DynoTrial *best, const DynoTrial *baseline)
{
  DynoTuneEvent *event = g_new0 (DynoTuneEvent, 1);

  event->type = DYNO_TUNE_EVENT_BEST;
  dyno_trial_copy (best, &event->trial);
  dyno_trial_copy (baseline, &event->baseline);
  event->speedup = baseline->outcome == DYNO_TRIAL_OK ? best->samples_per_s / baseline->samples_per_s : NAN;
  event->text = explain (best, baseline, tune->trials);
  /* What is exported trains for as long as the user wanted. */
  event->trial.settings.epochs = tune->job->settings.epochs;
  tell (tune, event);
}

/* The largest batch worth asking for: the training part must hold a few batches, and the memory decides the rest. */
static gint64
most_batch (DynoTune *tune)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (tune->dataset);
  double train = (double) info->n_samples * (1.0 - tune->job->settings.data_val_split);

  return CLAMP ((gint64) (train / 2.0), 1, 4096);
}

static gboolean
search (DynoTune *tune, GError **error)
{
  DynoSettings settings = tune->job->settings;
  gint64 most = most_batch (tune), middle = MIN (MAX (settings.batch_size, 32), most);
  const DynoTrial *baseline, *choice, *best;
  DynoSettings base;

  tune->planned = 1 + 2 + 8 + 4 + 1;
  base = settings;
  base.batch_size = MIN (16, most);
  base.workers = 0;
  base.amp = FALSE;
  baseline = try_settings (tune, "baseline", &base, 0.0);

  settings.workers = MIN (4, (gint64) g_get_num_processors ());
  settings.batch_size = middle;
  choice = stopped (tune) ? NULL : search_amp (tune, &settings);
  if (!stopped (tune))
    {
      const DynoTrial *by_batch = search_batch (tune, &settings, most);
      choice = by_batch ? by_batch : choice;
    }
  if (!stopped (tune) && choice && !dyno_dataset_get_info (tune->dataset)->device_noise)
    choice = search_workers (tune, &settings, choice);
  if (!choice || choice->outcome != DYNO_TRIAL_OK)
    choice = baseline->outcome == DYNO_TRIAL_OK ? baseline : NULL;

  best = choice ? prove (tune, choice, baseline) : NULL;
  if (!best)
    {
      const DynoTrial *last = tune->trials->pdata[tune->trials->len - 1];
      g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING, "No trial of %u worked; the last said: %s",
                   tune->trials->len, last->text ? last->text : "nothing");
      return FALSE;
    }
  /* Two measurements of the same settings differ by noise alone: the later, longer one stands for both. */
  if (dyno_settings_equal (&best->settings, &baseline->settings))
    baseline = best;
  tell_best (tune, best, baseline);
  return TRUE;
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
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE, "There is no device %d: choose one of 0 to %u", index,
                   devices->len - 1);
      return FALSE;
    }
  tune->device = *(const DynoDeviceInfo *) devices->pdata[index];
  if (!tune->dataset)
    {
      DynoDatasetParams params = { .targets = tune->job->targets };
      tune->dataset = dyno_dataset_open (tune->job->data, &params, NULL, NULL, tune->cancellable, error);
    }
  return tune->dataset != NULL;
}

static gpointer
run (gpointer data)
{
  DynoTune *tune = data;
  DynoTuneEvent *done = g_new0 (DynoTuneEvent, 1);
  GError *error = NULL;

  tune->begin_us = g_get_monotonic_time ();
  if (!prepare (tune, &error) || !search (tune, &error))
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
  return NULL;
}

void
dyno_tune_start (DynoTune *tune)
{
  g_return_if_fail (!tune->thread);
  tune->thread = g_thread_new ("dyno-tune", run, tune);
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
  g_clear_pointer (&tune->dataset, dyno_dataset_unref);
  dyno_job_free (tune->job);
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
