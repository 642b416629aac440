/* SPDX-License-Identifier: MIT */
/* The model's expectations for settings that were not tried. */
#include "ratemodel.h"
#include <math.h>

static DynoSettings
settings (gint64 batch, gint64 workers, gboolean amp)
{
  DynoSettings s;

  dyno_settings_init (&s);
  s.batch_size = batch;
  s.workers = workers;
  s.amp = amp;
  s.prefetch = 2;
  return s;
}

static DynoRateModel *
make_model (void)
{
  DynoRateModel *model = dyno_rate_model_new ();

  for (gint64 workers = 1; workers <= 8; workers *= 2)
    {
      DynoSettings s = settings (32, workers, FALSE);
      dyno_rate_model_add_loader (model, &s, 100.0 * (double) workers);
    }
  for (gint64 batch = 16; batch <= 64; batch *= 2)
    {
      DynoSettings s = settings (batch, 1, FALSE);
      dyno_rate_model_add_gpu (model, &s, (double) batch / (0.02 + 0.001 * (double) batch));
    }
  return model;
}

static double
predict (DynoRateModel *model, DynoSettings s, double *sd)
{
  return dyno_rate_model_predict (model, &s, sd);
}

static void
test_smaller_ceiling (void)
{
  g_autoptr (DynoRateModel) model = make_model ();

  g_assert_cmpfloat_with_epsilon (predict (model, settings (64, 1, FALSE), NULL), 98, 3);
  g_assert_cmpfloat_with_epsilon (predict (model, settings (16, 8, FALSE), NULL), 430, 25);
  g_assert_cmpfloat (predict (model, settings (64, 8, FALSE), NULL), <, 762);
}

static void
test_between_and_beyond (void)
{
  g_autoptr (DynoRateModel) model = make_model ();
  DynoSettings between = settings (48, 6, FALSE), beyond = settings (1024, 16, FALSE),
               below = settings (8, 1, FALSE);

  g_assert_cmpfloat_with_epsilon (dyno_rate_model_gpu (model, &between), 48 / 0.068, 15);
  g_assert_cmpfloat_with_epsilon (dyno_rate_model_loader (model, &between), 600, 40);
  /* A batch takes a constant time and a time for each sample. */
  g_assert_cmpfloat_with_epsilon (dyno_rate_model_gpu (model, &beyond), 1024 / 1.044, 1);
  g_assert_cmpfloat_with_epsilon (dyno_rate_model_loader (model, &beyond), 800, 1e-6);
  g_assert_cmpfloat (dyno_rate_model_gpu (model, &below), <, 16 / 0.036);
}

/* One point of AMP is known: its factor applies to the whole curve. */
static void
test_precision_by_one_point (void)
{
  g_autoptr (DynoRateModel) model = make_model ();
  DynoSettings fp32 = settings (64, 1, FALSE), amp = settings (64, 1, TRUE),
               known = settings (16, 1, TRUE), plain = settings (16, 1, FALSE);

  dyno_rate_model_add_gpu (model, &known, 2 * dyno_rate_model_gpu (model, &plain));
  g_assert_cmpfloat_with_epsilon (dyno_rate_model_gpu (model, &amp),
                                  2 * dyno_rate_model_gpu (model, &fp32), 1);
}

/* One point of fp32 is known, and AMP's samples take less time: the constant time of a batch is the
 * same, so fp32 is far slower with large batches. */
static void
test_slower_precision_by_one_point (void)
{
  g_autoptr (DynoRateModel) model = dyno_rate_model_new ();
  DynoSettings known = settings (16, 1, FALSE);

  for (gint64 batch = 16; batch <= 512; batch *= 2)
    {
      DynoSettings s = settings (batch, 1, TRUE);

      dyno_rate_model_add_gpu (model, &s, (double) batch / (4e-3 + (double) batch * 1.6e-4));
    }
  dyno_rate_model_add_gpu (model, &known, 16 / (4e-3 + 16 * 7.6e-4));
  for (gint64 batch = 8; batch <= 1024; batch *= 2)
    {
      DynoSettings s = settings (batch, 1, FALSE);
      double rate = (double) batch / (4e-3 + (double) batch * 7.6e-4);

      /* Below the measured batches the curve itself is an estimate. */
      g_assert_cmpfloat_with_epsilon (dyno_rate_model_gpu (model, &s), rate,
                                      (batch < 16 ? 0.1 : 1e-6) * rate);
    }
}

/* At a trial's settings its rate is expected with little uncertainty; far from it, the ceilings
 * decide. */
static void
test_trials_correct (void)
{
  g_autoptr (DynoRateModel) model = make_model ();
  DynoSettings tried = settings (64, 8, FALSE);
  double sd_before, sd_at, sd_far, before, at;

  before = predict (model, tried, &sd_before);
  for (guint i = 0; i < 4; i++)
    dyno_rate_model_add_trial (model, &tried, 0.75 * before, 0.01);
  at = predict (model, tried, &sd_at);
  predict (model, settings (16, 0, TRUE), &sd_far);
  g_assert_cmpfloat_with_epsilon (at, 0.75 * before, 0.03 * before);
  g_assert_cmpfloat (sd_at, <, 0.5 * sd_before);
  g_assert_cmpfloat (sd_far, >, 1.5 * sd_at);
}

/* Loader and device share the processor, so nothing overlaps, as each trial shows. */
static void
test_overlap_is_learned (void)
{
  g_autoptr (DynoRateModel) model = make_model ();

  for (gint64 workers = 1; workers <= 4; workers *= 2)
    for (gint64 batch = 16; batch <= 64; batch *= 4)
      {
        DynoSettings s = settings (batch, workers, FALSE);
        double rate =
            1 / (1 / dyno_rate_model_loader (model, &s) + 1 / dyno_rate_model_gpu (model, &s));

        dyno_rate_model_add_trial (model, &s, rate, 0.01);
      }
  g_assert_cmpfloat_with_epsilon (predict (model, settings (32, 8, FALSE), NULL),
                                  1 / (1 / 800.0 + 0.052 / 32), 20);
}

/* A repeated or later measurement changes the next prediction; removing it restores the earlier
 * expectation. */
static void
test_measured_again (void)
{
  g_autoptr (DynoRateModel) model = make_model ();
  DynoSettings loader = settings (16, 1, FALSE), gpu = settings (64, 8, FALSE),
               wide = settings (512, 8, FALSE);
  double before, after, wide_before;

  for (guint i = 0; i < 2; i++)
    {
      double rate = i == 0 ? 50 : 70;

      predict (model, loader, NULL);
      dyno_rate_model_add_loader (model, &loader, rate);
      g_assert_cmpfloat_with_epsilon (dyno_rate_model_loader (model, &loader), rate, 1e-9);
      g_assert_cmpfloat_with_epsilon (predict (model, loader, NULL), rate, 3);
    }
  for (guint i = 0; i < 2; i++)
    {
      double rate = i == 0 ? 300 : 600;

      predict (model, gpu, NULL);
      dyno_rate_model_add_gpu (model, &gpu, rate);
      g_assert_cmpfloat_with_epsilon (dyno_rate_model_gpu (model, &gpu), rate, 1e-9);
      g_assert_cmpfloat (predict (model, gpu, NULL), <=, rate * 1.001);
    }
  before = predict (model, gpu, NULL);
  wide_before = predict (model, wide, NULL);
  for (guint i = 0; i < 2; i++)
    {
      double share = i == 0 ? 0.5 : 0.8;

      for (guint k = 0; k < 4; k++)
        dyno_rate_model_add_trial (model, &gpu, share * before, 0.01);
      after = predict (model, gpu, NULL);
      g_assert_cmpfloat_with_epsilon (after, share * before, 0.1 * before);
      dyno_rate_model_forget_trials (model);
      g_assert_cmpfloat (predict (model, gpu, NULL), ==, before);
      g_assert_cmpfloat (predict (model, wide, NULL), ==, wide_before);
    }
  /* ceilings that are measured again after trials do not change the prediction, which follows the
   * trials */
  dyno_rate_model_add_gpu (model, &gpu, 300);
  for (guint k = 0; k < 4; k++)
    dyno_rate_model_add_trial (model, &gpu, 290, 0.01);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpfloat_with_epsilon (predict (model, gpu, NULL), 290, 10);
      dyno_rate_model_add_gpu (model, &gpu, i == 0 ? 240 : 320);
    }
}

static void
test_knows_nothing (void)
{
  g_autoptr (DynoRateModel) model = dyno_rate_model_new ();
  DynoSettings s = settings (32, 1, FALSE);

  g_assert_cmpfloat (predict (model, s, NULL), ==, 0);
  g_assert_true (isinf (dyno_rate_model_gpu (model, &s)));
  /* With only a trial, its rate is predicted. */
  dyno_rate_model_add_trial (model, &s, 50, 0.01);
  g_assert_cmpfloat_with_epsilon (predict (model, settings (64, 2, FALSE), NULL), 50, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/ratemodel/the-smaller-ceiling", test_smaller_ceiling);
  g_test_add_func ("/tune/ratemodel/between-and-beyond", test_between_and_beyond);
  g_test_add_func ("/tune/ratemodel/precision-by-one-point", test_precision_by_one_point);
  g_test_add_func ("/tune/ratemodel/slower-precision-by-one-point",
                   test_slower_precision_by_one_point);
  g_test_add_func ("/tune/ratemodel/trials-correct-it", test_trials_correct);
  g_test_add_func ("/tune/ratemodel/overlap-is-learned", test_overlap_is_learned);
  g_test_add_func ("/tune/ratemodel/measured-again-and-forgotten", test_measured_again);
  g_test_add_func ("/tune/ratemodel/knows-nothing", test_knows_nothing);
  return g_test_run ();
}
