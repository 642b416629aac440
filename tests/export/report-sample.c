/* SPDX-License-Identifier: MIT */
/* report-sample whole|hostile|empty|early|kept: prints the report of a simulated search, for the
 * test that reads it and for viewing.  hostile: names contain markup; early: the search was stopped
 * before the proof, on a small network; kept: no settings are faster. */
#include "reporthtml.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define GIB (1024.0 * 1024 * 1024)

static gboolean hostile;

static char *
text (const char *plain)
{
  return hostile ? g_strconcat (plain, "<script>\"&'</b>]]>\x01\xff&amp;\n-->", NULL)
                 : g_strdup (plain);
}

/* The rates of the simulated machine. */
static double
loader_rate (const DynoSettings *s)
{
  return s->cache ? 11800 : MIN (640.0 * (double) MAX (s->workers, 1), 9600);
}

static double
gpu_rate (const DynoSettings *s)
{
  double batch = (double) s->batch_size, peak = s->amp ? 10800 : 4300;

  return peak * batch / (batch + (s->amp ? 30 : 9));
}

static guint64
memory (const DynoSettings *s)
{
  return (guint64) ((0.4 + (double) s->batch_size * (s->amp ? 0.021 : 0.039)) * GIB);
}

static DynoSettings
settings_of (const DynoSettings *base, gint64 batch, gint64 workers, gboolean amp)
{
  DynoSettings s = *base;

  s.batch_size = batch;
  s.workers = workers;
  s.amp = amp;
  return s;
}

static void
fill_trial (DynoTrial *trial, const char *stage, const DynoSettings *settings)
{
  double rate = 0.96 * MIN (loader_rate (settings), gpu_rate (settings));

  *trial = (DynoTrial){ .stage = stage,
                        .settings = *settings,
                        .samples_per_s = rate,
                        .low = rate * 0.985,
                        .high = rate * 1.013,
                        .train_samples_per_s = rate * 1.06,
                        .validation_s = 0.8,
                        .epoch_end_s = 0.05,
                        .step_ms = (double) settings->batch_size / rate * 1e3,
                        .wait_data_ms = settings->workers < 8 ? 4.2 : 0.1,
                        .outside_cpu = 0.01,
                        .vram_bytes = memory (settings),
                        .planned_bytes = memory (settings),
                        .steps = 240 };
}

static void
add_trial (DynoTuneResult *r, const char *stage, const DynoSettings *settings, double off)
{
  DynoTrial *trial = g_new0 (DynoTrial, 1);

  fill_trial (trial, stage, settings);
  trial->number = r->trials->len + 1;
  trial->predicted = off > 0 ? trial->samples_per_s * off : 0;
  g_ptr_array_add (r->trials, trial);
}

static void
add_failed (DynoTuneResult *r, const DynoSettings *settings, DynoTrialOutcome outcome,
            const char *why)
{
  DynoTrial *trial = g_new0 (DynoTrial, 1);

  *trial = (DynoTrial){ .number = r->trials->len + 1,
                        .stage = "search",
                        .settings = *settings,
                        .outcome = outcome,
                        .predicted = 9900,
                        .planned_bytes = memory (settings),
                        .text = text (why) };
  g_ptr_array_add (r->trials, trial);
}

static void
add_ceilings (DynoTuneResult *r, const DynoSettings *base)
{
  for (guint cache = 0; cache < 2; cache++)
    for (gint64 workers = 0; workers <= 16; workers = workers ? workers * 2 : 1)
      {
        DynoCeiling *c = g_new0 (DynoCeiling, 1);

        c->of = DYNO_CEILING_LOADER;
        c->settings = settings_of (base, 32, workers, FALSE);
        c->samples_per_s = loader_rate (&c->settings) * (workers ? 1 : 0.9);
        c->settings.cache = cache != 0;
        c->samples_per_s *= cache ? 1.3 : 1;
        c->low = c->samples_per_s * 0.97;
        c->high = c->samples_per_s * 1.04;
        g_ptr_array_add (r->ceilings, c);
      }
  for (guint amp = 0; amp < 2; amp++)
    for (gint64 batch = 8; batch <= 512; batch *= 2)
      {
        DynoCeiling *c = g_new0 (DynoCeiling, 1);

        c->of = DYNO_CEILING_GPU;
        c->settings = settings_of (base, batch, 0, amp != 0);
        c->samples_per_s = gpu_rate (&c->settings);
        c->low = c->samples_per_s * 0.99;
        c->high = c->samples_per_s * 1.01;
        g_ptr_array_add (r->ceilings, c);
      }
}

static void
add_curve (DynoTuneResult *r, const DynoSettings *base)
{
  DynoTuneCurve *curve = &r->curve;

  curve->points = g_new0 (DynoCurvePoint, 8);
  for (gint64 batch = 8; batch <= 512; batch *= 2)
    {
      DynoCurvePoint *p = &curve->points[curve->n++];
      DynoSettings s = settings_of (base, batch, 16, TRUE);

      p->batch_size = batch;
      p->samples_per_s = 0.96 * MIN (loader_rate (&s), gpu_rate (&s));
      p->measured = batch >= 32 && batch <= 256;
      p->low = p->measured ? p->samples_per_s * 0.985 : 0;
      p->high = p->measured ? p->samples_per_s * 1.013 : 0;
      p->vram_bytes = memory (&s);
    }
  curve->points[5].samples_per_s = 1.02 * curve->points[4].samples_per_s; /* as a reason states */
  curve->knee = 64;
  curve->smallest = 128;
  curve->fastest = 256;
  curve->text = text ("128 to 256: +2 % for +87 % memory.");
}

static void
add_gain (DynoTuneResult *r, const char *key, const char *from, const char *to, double factor)
{
  r->gains = g_renew (DynoTuneGain, r->gains, r->n_gains + 1);
  r->gains[r->n_gains++] = (DynoTuneGain){ key, text (from), text (to), factor };
}

static void
add_numerics (DynoTuneResult *r)
{
  DynoNumerics *n = r->numerics = g_new0 (DynoNumerics, 1);

  n->n_steps = DYNO_NUMERICS_STEPS;
  for (guint i = 0; i < n->n_steps; i++)
    {
      n->loss_fp32[i] = 0.2 + 2.1 * exp (-(double) i / 15) + 0.05 * sin (i * 1.7);
      n->loss_amp[i] = n->loss_fp32[i] * (1 + 0.02 * sin (i * 0.9));
      n->loss_scale[i] = i < 3 ? 65536 / (1 << i) : 16384;
      n->skipped[i] = i == 1 || i == 2;
    }
  n->loss_amp[20] = (double) NAN;
  n->text = text ("n");
}

/* As in a search, the last reasons are the texts that the result has as separate members too. */
static void
add_words (DynoTuneResult *r)
{
  const char *const reasons[] = {
    "The data pipeline was the limit: 16 workers deliver 9 600 samples/s, 4 of them 2 560.",
    "AMP lets the GPU train 2.5 times as fast; its losses follow those of fp32.",
    "A batch of 128 is within 3 % of the fastest and leaves 12.9 GiB of 16 GiB free.",
    "0.028 for a batch of 128: the square root of the batch's growth. Four times the rate for 16 "
    "times the batch kept the accuracy where it was measured; sixteen times cost two points.",
    "AMP follows fp32: after 48 steps the losses differ by 0.4 %, and two steps were skipped while "
    "the scale settled.",
    "Its batch of 64 with 4 workers runs at 2 458 samples/s, a quarter of what this machine can "
    "do.",
    "Other programs took up to 12 % of the processor meanwhile."
  };

  r->reasons = g_new0 (char *, G_N_ELEMENTS (reasons) + 1);
  for (guint i = 0; i < G_N_ELEMENTS (reasons); i++)
    r->reasons[i] = text (reasons[i]);
  r->lr_advice = text (reasons[3]);
  r->lr = 0.028;
  r->preset_verdict = DYNO_PRESET_VERDICT_LEAVES_UNUSED;
  r->preset_text = text (reasons[5]);
  r->amp_text = text (reasons[4]);
  r->outside_cpu = 0.12;
}

static void
fill (DynoTuneResult *r)
{
  DynoSettings base = r->job->settings, s;
  const gint64 tried[][3] = { { 32, 4, 0 },   { 64, 8, 1 },  { 128, 8, 1 }, { 128, 16, 1 },
                              { 256, 16, 1 }, { 64, 16, 1 }, { 256, 12, 1 } };

  r->device = text ("NVIDIA RTX A4000");
  r->n_cores = 16;
  r->minutes = 3;
  r->seconds = 183;
  add_ceilings (r, &base);
  add_curve (r, &base);
  s = settings_of (&base, 16, 0, FALSE);
  fill_trial (&r->baseline, "proof", &s);
  add_trial (r, "baseline", &s, 0);
  s = settings_of (&base, 32, 4, FALSE);
  fill_trial (&r->today, "proof", &s);
  for (guint i = 0; i < G_N_ELEMENTS (tried); i++)
    {
      s = settings_of (&base, tried[i][0], tried[i][1], tried[i][2] != 0);
      add_trial (r, i == 0 ? "today" : "search", &s, 0.93 + 0.03 * i);
    }
  s = settings_of (&base, 1024, 16, TRUE);
  add_failed (r, &s, DYNO_TRIAL_DOES_NOT_FIT, "needs 21.9 GiB; 16 GiB are allowed");
  s = settings_of (&base, 512, 16, TRUE);
  add_failed (r, &s, DYNO_TRIAL_OUT_OF_MEMORY, "the driver refused 1.1 GiB");
  s = settings_of (&base, 8, 16, TRUE);
  add_failed (r, &s, DYNO_TRIAL_DROPPED, "half as fast as the best after a first look");
  s = settings_of (&base, 256, 16, TRUE);
  fill_trial (&r->fastest, "proof", &s);
  s = settings_of (&base, 128, 16, TRUE);
  fill_trial (&r->best, "proof", &s);
  add_trial (r, "proof", &s, 1.01);
  r->proven = TRUE;
  r->largest_ran = 256;
  r->largest_fits = 544;
  r->speedup = r->best.samples_per_s / r->baseline.samples_per_s;
  r->gain = r->best.samples_per_s / r->today.samples_per_s;
  add_gain (r, "workers", "0", "16", 4.1);
  add_gain (r, "amp", "false", "true", 2.05);
  add_gain (r, "batch_size", "16", "128", NAN);
  add_gain (r, "prefetch", "2", "4", 1.41);
  add_words (r);
  add_numerics (r);
}

/* The state after two trials. */
static void
stop_early (DynoTuneResult *r)
{
  r->proven = FALSE;
  r->stopped = TRUE;
  g_ptr_array_set_size (r->trials, 2);
  for (guint i = 0; i < r->curve.n; i++)
    r->curve.points[i].vram_bytes /= 100;
}

int
main (int argc, char **argv)
{
  const char *kind = argc == 2 ? argv[1] : "whole";
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) result = NULL;
  g_autofree char *html = NULL;
  DynoReportContext context;
  const DynoDatasetInfo data = { .n_samples = 400000 };
  DynoDeviceInfo device = {
    .name = "card", .driver = "NVIDIA 550.54", .vram_bytes = (guint64) (16 * GIB), .fp16 = TRUE
  };

  setlocale (LC_ALL, "");
  hostile = strcmp (kind, "hostile") == 0;
  g_free (job->model);
  job->model = text ("resnet18");
  job->data = text ("builtin:shapes?size=224&samples=4000");
  job->preset = text ("rtx3060");
  job->settings.batch_size = 32;
  job->settings.workers = 4;
  job->settings.amp = FALSE;
  result = dyno_tune_result_new (job);
  if (strcmp (kind, "empty") == 0)
    context = (DynoReportContext){ 0 };
  else
    {
      dyno_report_context_init (&context);
      context.device = &device;
      context.data = strcmp (kind, "early") == 0 ? NULL : &data;
      context.limit_bytes = (guint64) (16 * GIB);
      fill (result);
      if (strcmp (kind, "early") == 0)
        stop_early (result);
      if (strcmp (kind, "noise") == 0)
        {
          result->proven = FALSE;
          result->inside_noise = TRUE;
        }
      result->keep_today = strcmp (kind, "kept") == 0;
      if (result->keep_today)
        result->fastest.settings.batch_size = result->best.settings.batch_size;
    }
  html = dyno_report_html (result, &context);
  fputs (html, stdout); /* g_print would replace characters that the locale lacks */
  return 0;
}
