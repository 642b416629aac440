/* SPDX-License-Identifier: MIT */
/* Start values and the order of samples follow from the seed, so that two sessions differ only in
 * precision. */
#include "numerics.h"
#include "intl.h"
#include "runmeter.h"
#include "session.h"
#include <math.h>
#include <string.h>

/* share of the mean loss: rounding grows to this difference in some dozens of steps */
#define GOOD_DIFFERENCE 0.02
#define GOOD_DEVIATIONS 0.25 /* number of standard deviations of the loss from step to step */
/* share of the first loss: a run whose mean loss is below it has learned */
#define LEARNT 0.9
/* first steps, in which the scale may be too high and updates are skipped */
#define SETTLING_STEPS 10
/* after the settling steps at most one update in this many may be skipped */
#define WATCH_SKIPPED 10
#define LEAST_SCALE   1.0 /* below this scale small gradients are lost in fp16 */

const char *
dyno_numerics_verdict_name (DynoNumericsVerdict verdict)
{
  static const char *const names[] = { "good", "watch", "bad" };

  g_return_val_if_fail ((guint) verdict < G_N_ELEMENTS (names), "bad");
  return names[verdict];
}

void
dyno_numerics_clear (DynoNumerics *n)
{
  g_clear_pointer (&n->text, g_free);
}

/* --- the verdict ------------------------------------------------------------------------------ */

/* Mean and standard deviation over the later half. */
static void
take_half (const double *loss, guint n, double *mean, double *deviation)
{
  guint first = n / 2, count = n - first;

  *mean = *deviation = 0;
  for (guint i = first; i < n; i++)
    *mean += loss[i] / count;
  for (guint i = first; i < n; i++)
    *deviation += (loss[i] - *mean) * (loss[i] - *mean) / count;
  *deviation = sqrt (*deviation);
}

static gboolean
is_finite (const double *loss, guint n)
{
  for (guint i = 0; i < n; i++)
    if (!isfinite (loss[i]))
      return FALSE;
  return TRUE;
}

static void G_GNUC_PRINTF (3, 4)
    judge (DynoNumerics *n, DynoNumericsVerdict verdict, const char *format, ...)
{
  va_list arguments;

  n->verdict = verdict;
  va_start (arguments, format);
  n->text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
}

/* TRUE: fp32 learns in these steps, and AMP does not.  Other differences may come from the chaotic
 * start of a training, in which a rounding grows to a third of the loss within some dozens of
 * steps. */
static gboolean
learns_only_in_fp32 (const DynoNumerics *n, double fp32, double amp)
{
  return fp32 < LEARNT * n->loss_fp32[0] && amp > n->loss_amp[0];
}

/* The verdict on two finite curves with a valid scale. */
static void
judge_difference (DynoNumerics *n)
{
  double fp32, amp, deviation, unused, size, good;

  take_half (n->loss_fp32, n->n_steps, &fp32, &deviation);
  take_half (n->loss_amp, n->n_steps, &amp, &unused);
  size = MAX (fabs (fp32), 1e-12);
  n->difference = (amp - fp32) / size;
  good = MAX (GOOD_DIFFERENCE, GOOD_DEVIATIONS * deviation / size);
  if (fabs (n->difference) <= good)
    judge (
        n, DYNO_NUMERICS_GOOD,
        _ ("AMP is as good as fp32 here: over %u steps from the same weights on the same batches "
           "the losses differ by %.2g %%"),
        n->n_steps, 100 * fabs (n->difference));
  else if (!learns_only_in_fp32 (n, fp32, amp))
    judge (n, DYNO_NUMERICS_WATCH,
           _ ("AMP trains, and its loss departs from fp32's by %+.2g %% within %u steps: compare "
              "the accuracy of both after a few epochs"),
           100 * n->difference, n->n_steps);
  else
    judge (n, DYNO_NUMERICS_BAD,
           _ ("AMP does not learn this: after %u steps from the same weights its loss is %.2g %% "
              "above "
              "that of fp32, which falls; train in fp32, or with a lower learning rate"),
           n->n_steps, 100 * n->difference);
}

void
dyno_numerics_judge (DynoNumerics *n)
{
  double last_scale = n->n_steps > 0 ? n->loss_scale[n->n_steps - 1] : 0;
  guint late = 0, after = n->n_steps > SETTLING_STEPS ? n->n_steps - SETTLING_STEPS : 0;

  dyno_numerics_clear (n);
  n->n_skipped = 0;
  n->difference = (double) NAN;
  for (guint i = 0; i < n->n_steps; i++)
    {
      n->n_skipped += n->skipped[i];
      late += n->skipped[i] && i >= SETTLING_STEPS;
    }
  if (!is_finite (n->loss_fp32, n->n_steps))
    judge (n, DYNO_NUMERICS_WATCH,
           _ ("Nothing can be said of AMP: the loss is not finite in fp32 either; take a lower "
              "learning rate, or look at the data"));
  else if (!is_finite (n->loss_amp, n->n_steps))
    judge (
        n, DYNO_NUMERICS_BAD,
        _ ("AMP does not train this: its loss is not finite, and that of fp32 is; train in fp32, "
           "or scale the data"));
  else if (last_scale < LEAST_SCALE)
    judge (
        n, DYNO_NUMERICS_BAD,
        _ ("AMP does not train this: gradients overflow fp16 even at a loss scale of %g; train in "
           "fp32, or clip the gradients (clip_norm)"),
        last_scale);
  else if (late * WATCH_SKIPPED > after)
    judge (n, DYNO_NUMERICS_WATCH,
           _ ("AMP loses steps here: gradients overflowed in %u of the last %u, and those were not "
              "taken; watch the loss scale (now %g)"),
           late, after, last_scale);
  else
    judge_difference (n);
}

/* --- the two runs ----------------------------------------------------------------------------- */

typedef struct {
  double loss[DYNO_NUMERICS_STEPS], scale[DYNO_NUMERICS_STEPS];
  gboolean skipped[DYNO_NUMERICS_STEPS];
  guint n;
  GError *error;
} Curve;

static void
take_step (Curve *curve, const DynoStepMetrics *step)
{
  if (curve->n == DYNO_NUMERICS_STEPS)
    return;
  curve->loss[curve->n] = isfinite (step->loss) ? step->loss : (double) NAN;
  curve->scale[curve->n] = step->loss_scale;
  curve->skipped[curve->n++] = step->skipped;
}

static void
follow (DynoSession *session, DynoEventQueue *events, gint64 deadline_us, GCancellable *cancellable,
        Curve *curve)
{
  gboolean stopped = FALSE, done = FALSE;

  while (!done)
    {
      gint64 left_us = deadline_us - g_get_monotonic_time ();
      g_autoptr (DynoEvent) event =
          dyno_event_queue_pop (events, CLAMP (left_us, 1000, G_USEC_PER_SEC / 20));

      if (event && event->type == DYNO_EVENT_STEP)
        take_step (curve, &event->step);
      else if (event && event->type == DYNO_EVENT_ERROR && !curve->error)
        curve->error = g_error_copy (event->error);
      done = event && event->type == DYNO_EVENT_DONE;
      if (!stopped
          && (g_get_monotonic_time () >= deadline_us || g_cancellable_is_cancelled (cancellable)))
        {
          dyno_session_stop (session, TRUE);
          stopped = TRUE;
        }
    }
}

/* FALSE: the session failed; a loss that diverged, or too little time, is no failure. */
static gboolean
run (const DynoJob *job, DynoDataset *dataset, DynoDevice *device, gint64 deadline_us,
     GCancellable *cancellable, Curve *curve, GError **error)
{
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);

  dyno_session_set_dataset (session, dataset);
  if (device)
    dyno_session_set_device (session, device);
  dyno_session_start (session);
  follow (session, events, deadline_us, cancellable, curve);
  dyno_session_join (session);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    {
      g_clear_error (&curve->error);
      return FALSE;
    }
  if (g_error_matches (curve->error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DIVERGED))
    {
      g_clear_error (&curve->error);
      return TRUE;
    }
  if (curve->error)
    {
      g_propagate_error (error, g_steal_pointer (&curve->error));
      return FALSE;
    }
  if (curve->n >= DYNO_NUMERICS_LEAST)
    return TRUE;
  g_set_error_literal (
      error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
      _ ("The time was over before AMP and fp32 could be compared; give the search "
         "more minutes"));
  return FALSE;
}

/* The settings at a batch that fits in both precisions. */
static DynoJob *
make_job (const DynoJob *job, const DynoSettings *settings, const DynoDatasetInfo *facts,
          const DynoDeviceInfo *info)
{
  DynoJob *copy = dyno_run_meter_job (job, settings);
  DynoJobPlan plan;

  copy->settings.amp = FALSE;
  copy->max_steps = DYNO_NUMERICS_STEPS;
  if (dyno_job_plan (copy, facts, info, &plan, NULL) && !plan.fits && plan.fitting_batch > 0)
    copy->settings.batch_size = plan.fitting_batch;
  return copy;
}

/* Takes the steps that both curves have.  Where one curve ended before DYNO_NUMERICS_LEAST steps,
 * all steps of the other are taken, and the missing losses are NaN. */
static void
fill (DynoNumerics *n, const Curve *fp32, const Curve *amp)
{
  n->n_steps = MAX (fp32->n, amp->n);
  if (MIN (fp32->n, amp->n) >= DYNO_NUMERICS_LEAST)
    n->n_steps = MIN (fp32->n, amp->n);
  for (guint i = 0; i < n->n_steps; i++)
    {
      n->loss_fp32[i] = i < fp32->n ? fp32->loss[i] : (double) NAN;
      n->loss_amp[i] = i < amp->n ? amp->loss[i] : (double) NAN;
      n->loss_scale[i] = i < amp->n ? amp->scale[i] : 0;
      n->skipped[i] = i < amp->n && amp->skipped[i];
    }
}

gboolean
dyno_numerics_compare (const DynoJob *job, DynoDataset *dataset, DynoDevice *device,
                       const DynoDeviceInfo *info, const DynoSettings *settings, gint64 deadline_us,
                       GCancellable *cancellable, DynoNumerics *n, GError **error)
{
  g_autoptr (DynoJob) fp32_job = make_job (job, settings, dyno_dataset_get_info (dataset), info),
                      amp_job = dyno_job_copy (fp32_job);
  gint64 half_us = g_get_monotonic_time () / 2 + deadline_us / 2;
  Curve fp32 = { .n = 0 }, amp = { .n = 0 };

  *n = (DynoNumerics){ .batch_size = fp32_job->settings.batch_size };
  if (!info->fp16)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_UNSUPPORTED,
                   _ ("%s has no fp16, which AMP needs"), info->name);
      return FALSE;
    }
  amp_job->settings.amp = TRUE;
  if (!run (amp_job, dataset, device, half_us, cancellable, &amp, error)
      || !run (fp32_job, dataset, device, deadline_us, cancellable, &fp32, error))
    return FALSE;
  fill (n, &fp32, &amp);
  dyno_numerics_judge (n);
  return TRUE;
}
