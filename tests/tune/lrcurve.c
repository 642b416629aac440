/* SPDX-License-Identifier: MIT */
/* Simulated curves of range tests: the best rate is known, or there is none. */
#include "lrcurve.h"
#include "rng.h"
#include <math.h>
#include <string.h>

#define STEPS 100
#define FROM  1e-6
#define TO    10.0

/* The loss at a rate, without noise. */
typedef double (*Shape) (double lr);

static double
rate_at (guint step, guint steps)
{
  return FROM * pow (TO / FROM, (double) step / (steps - 1));
}

/* Adds steps until the curve diverges, with this much noise of this seed. */
static DynoLrCurve *
make_curve (Shape shape, guint steps, double noise, guint64 seed)
{
  DynoLrCurve *curve = dyno_lr_curve_new (FROM, TO, steps);
  DynoRng rng = dyno_rng_init (seed, 0);

  for (guint i = 0; i < steps; i++)
    {
      double lr = rate_at (i, steps);

      if (!dyno_lr_curve_add (curve, lr, shape (lr) + noise * dyno_rng_normal (&rng), FALSE))
        break;
    }
  return curve;
}

static const DynoLrPoint *
get_point (const DynoLrCurve *curve, guint i)
{
  return &g_array_index (curve->points, DynoLrPoint, i);
}

/* Falls from 2.3 to 0.3, fastest at 0.01, and rises from 1 on. */
static double
valley (double lr)
{
  return 0.3 + 2 / (1 + pow (lr / 0.01, 1.5)) + (lr > 1 ? 20 * log (lr) : 0);
}

static double
level (double lr)
{
  return 2.3;
}

static double
rise (double lr)
{
  return 2.3 * (1 + lr);
}

static double
fall (double lr)
{
  return 1 - log10 (lr / FROM) / 10;
}

/* --- smoothing -------------------------------------------------------------------------------- */

/* The mean of a constant is the constant from the first step on; later each step has a weight of a
 * tenth. */
static void
test_smoothing_is_corrected (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, 100);
  double sum = 0, weight = 0;

  for (guint i = 0; i < 20; i++)
    {
      double loss = i < 10 ? 3 : 2;

      sum = 0.9 * sum + 0.1 * loss;
      weight = 0.9 * weight + 0.1;
      g_assert_true (dyno_lr_curve_add (curve, rate_at (i, 100), loss, FALSE));
      g_assert_cmpfloat_with_epsilon (get_point (curve, i)->smoothed, sum / weight, 1e-12);
      g_assert_cmpuint (get_point (curve, i)->step, ==, i + 1);
    }
  g_assert_cmpfloat_with_epsilon (get_point (curve, 0)->smoothed, 3, 1e-12);
  g_assert_cmpfloat_with_epsilon (get_point (curve, 9)->smoothed, 3, 1e-12);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The test ends at four times the least smoothed loss, and no sooner. */
static void
test_diverges_at_four_times_the_least (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, 20); /* a smoothing window of 2 */

  for (guint i = 0; i < 10; i++)
    g_assert_true (dyno_lr_curve_add (curve, rate_at (i, 20), 1, FALSE));
  /* The smoothed loss is 3.95. */
  g_assert_true (dyno_lr_curve_add (curve, rate_at (10, 20), 6.9, FALSE));
  g_assert_cmpint (curve->end, ==, DYNO_LR_END_WHOLE);
  /* The smoothed loss is 4.07. */
  g_assert_false (dyno_lr_curve_add (curve, rate_at (11, 20), 4.2, FALSE));
  g_assert_cmpint (curve->end, ==, DYNO_LR_END_DIVERGED);
  g_assert_cmpuint (curve->points->len, ==, 12);
}

/* The first steps are too few to compare with, but a loss that is not a number ends the test at any
 * time. */
static void
test_first_steps_may_vary (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, 100), lost = NULL;
  g_auto (DynoLrSuggestion) s = { 0 };

  g_assert_true (dyno_lr_curve_add (curve, FROM, 0.01, FALSE));
  for (guint i = 1; i < 20; i++)
    g_assert_true (dyno_lr_curve_add (curve, rate_at (i, 100), 1, FALSE));

  lost = dyno_lr_curve_new (FROM, TO, 100);
  g_assert_true (dyno_lr_curve_add (lost, FROM, 1, FALSE));
  g_assert_false (dyno_lr_curve_add (lost, 2 * FROM, (double) INFINITY, FALSE));
  g_assert_cmpint (lost->end, ==, DYNO_LR_END_DIVERGED);
  g_assert_true (isnan (get_point (lost, 1)->loss) && isnan (get_point (lost, 1)->smoothed));
  dyno_lr_suggest (lost, &s);
  g_assert_cmpint (s.verdict, ==, DYNO_LR_TOO_SHORT);
  g_assert_nonnull (strstr (s.text, "diverged in step 2 of 100"));
}

/* Updates that the loss scale skipped are points like any others. */
static void
test_skipped_steps_are_no_divergence (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, 100);

  for (guint i = 0; i < 30; i++)
    g_assert_true (dyno_lr_curve_add (curve, rate_at (i, 100), 2.3, i % 2 == 0));
  g_assert_cmpint (curve->end, ==, DYNO_LR_END_WHOLE);
  g_assert_true (get_point (curve, 0)->skipped);
  g_assert_false (get_point (curve, 1)->skipped);
  g_assert_cmpfloat (get_point (curve, 28)->loss, ==, 2.3);
}

/* Losses that are not a number, of skipped updates, do not end the test either, up to three in a
 * row: they do not count in the mean or the suggestion. */
static void
test_lost_steps_do_not_count (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, STEPS), plain = NULL, lost = NULL;
  g_auto (DynoLrSuggestion) s = { 0 }, t = { 0 };

  for (guint i = 0; i < STEPS; i++)
    {
      double lr = rate_at (i, STEPS);
      gboolean drops = i % 14 < 2;

      if (!dyno_lr_curve_add (curve, lr, drops ? (double) INFINITY : valley (lr), drops))
        break;
      if (drops)
        g_assert_true (isnan (get_point (curve, i)->smoothed));
    }
  plain = make_curve (valley, STEPS, 0, 0);
  g_assert_cmpint (curve->end, ==, DYNO_LR_END_DIVERGED);
  dyno_lr_suggest (curve, &s);
  dyno_lr_suggest (plain, &t);
  g_assert_cmpint (s.verdict, ==, DYNO_LR_STEEPEST);
  g_assert_cmpfloat (s.lr / t.lr, >, 0.5);
  g_assert_cmpfloat (s.lr / t.lr, <, 2);

  lost = dyno_lr_curve_new (FROM, TO, STEPS);
  g_assert_true (dyno_lr_curve_add (lost, FROM, (double) NAN, TRUE));
  g_assert_true (dyno_lr_curve_add (lost, 2 * FROM, (double) NAN, TRUE));
  g_assert_true (dyno_lr_curve_add (lost, 3 * FROM, 1, FALSE));
  g_assert_cmpfloat (get_point (lost, 2)->smoothed, ==, 1);
  g_assert_true (dyno_lr_curve_add (lost, 4 * FROM, (double) NAN, TRUE));
  g_assert_true (dyno_lr_curve_add (lost, 5 * FROM, (double) NAN, TRUE));
  g_assert_false (dyno_lr_curve_add (lost, 6 * FROM, (double) NAN, TRUE));
  g_assert_cmpint (lost->end, ==, DYNO_LR_END_DIVERGED);
}

/* --- the suggestion --------------------------------------------------------------------------- */

/* Smoothing delays by its window: the steepest point is found at its own rate or up to one window
 * later. */
static void
test_valley_gives_its_steepest_place (void)
{
  double window = pow (TO / FROM, 10.0 / (STEPS - 1));

  for (guint64 seed = 0; seed < 20; seed++)
    {
      g_autoptr (DynoLrCurve) curve = make_curve (valley, STEPS, seed == 0 ? 0 : 0.02, seed);
      g_auto (DynoLrSuggestion) s = { 0 };

      dyno_lr_suggest (curve, &s);
      g_assert_cmpint (curve->end, ==, DYNO_LR_END_DIVERGED);
      g_assert_cmpfloat (s.steepest, >=, 0.01);
      g_assert_cmpfloat (s.steepest, <=, 0.01 * window);
      g_assert_cmpfloat (s.minimum, >=, 0.5);
      g_assert_cmpfloat (s.minimum, <=, 1.3);
      g_assert_cmpfloat (s.tenth, ==, s.minimum / 10);
      g_assert_cmpint (s.verdict, ==, DYNO_LR_STEEPEST);
      /* Rounded to two digits. */
      g_assert_cmpfloat_with_epsilon (s.lr, s.steepest, 0.05 * s.steepest);
      g_assert_cmpfloat (s.fall, >, s.noise);
      g_assert_nonnull (strstr (s.text, "falls fastest"));
      g_assert_null (s.note);
    }
}

/* SGD on x^2 / 2 from x = 1: each step leaves 1 - lr of x, which is best at 1 and diverges from 2
 * on.  The rates grow by a factor q, so the sum up to a rate is lr q / (q - 1): the loss exp (-2 lr
 * q / (q - 1)) / 2 falls fastest at lr = (q - 1) / (2 q).  A little noise in the gradient keeps x
 * from 0, where it would not diverge. */
static void
test_quadratic_learns_at_the_suggestion (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, STEPS);
  g_auto (DynoLrSuggestion) s = { 0 };
  double x = 1, q = pow (TO / FROM, 1.0 / (STEPS - 1)), steepest = (q - 1) / (2 * q);
  DynoRng rng = dyno_rng_init (1, 0);

  for (guint i = 0; i < STEPS; i++)
    {
      double lr = rate_at (i, STEPS);

      if (!dyno_lr_curve_add (curve, lr, 0.01 + x * x / 2, FALSE))
        break;
      x -= lr * (x + 0.01 * dyno_rng_normal (&rng));
    }
  dyno_lr_suggest (curve, &s);
  g_assert_cmpint (curve->end, ==, DYNO_LR_END_DIVERGED);
  g_assert_cmpfloat (get_point (curve, curve->points->len - 1)->lr, >, 2);
  g_assert_cmpfloat (s.steepest, >=, steepest);
  g_assert_cmpfloat (s.steepest, <=, steepest * pow (q, 10));
  g_assert_cmpfloat (s.lr, <, 1);                   /* it converges, */
  g_assert_cmpfloat (pow (1 - s.lr, 100), <, 1e-2); /* within the number of tested steps */
}

/* A tenth of the rate of the minimum is suggested where the steepest fall is just before the
 * minimum. */
static void
test_tenth_is_suggested_where_it_is_lower (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, STEPS);
  g_auto (DynoLrSuggestion) s = { 0 };

  for (guint i = 0; i < STEPS; i++)
    if (!dyno_lr_curve_add (curve, rate_at (i, STEPS),
                            i < 70   ? 2.3
                            : i < 80 ? 2.3 - 0.2 * (i - 69)
                                     : 0.3 + 2.0 * (i - 79),
                            FALSE))
      break;
  dyno_lr_suggest (curve, &s);
  g_assert_cmpint (s.verdict, ==, DYNO_LR_TENTH);
  g_assert_cmpfloat (s.tenth, <, s.steepest);
  g_assert_cmpfloat_with_epsilon (s.lr, s.tenth, 0.05 * s.tenth);
  g_assert_nonnull (strstr (s.text, "a tenth of"));
}

static void
test_rise_suggests_nothing (void)
{
  for (guint64 seed = 0; seed < 20; seed++)
    {
      g_autoptr (DynoLrCurve) curve = make_curve (rise, STEPS, seed == 0 ? 0 : 0.02, seed);
      g_auto (DynoLrSuggestion) s = { 0 };

      dyno_lr_suggest (curve, &s);
      g_assert_cmpint (curve->end, ==, DYNO_LR_END_DIVERGED);
      g_assert_cmpint (s.verdict, ==, DYNO_LR_NO_FALL);
      g_assert_true (isnan (s.lr) && isnan (s.steepest));
      g_assert_nonnull (strstr (s.text, "did not fall before it diverged"));
    }
}

/* Equal losses are no fall, and noise may look like one in one of some hundred curves, also with
 * few steps. */
static void
test_noise_suggests_nothing (void)
{
  guint mistakes[2] = { 0 };

  for (guint64 seed = 0; seed < 800; seed++)
    {
      guint steps = seed % 2 == 0 ? STEPS : 12;
      g_autoptr (DynoLrCurve) curve = make_curve (level, steps, seed == 0 ? 0 : 0.1, seed);
      g_auto (DynoLrSuggestion) s = { 0 };

      dyno_lr_suggest (curve, &s);
      mistakes[seed % 2] += s.verdict != DYNO_LR_NO_FALL;
      if (seed == 0)
        {
          g_assert_cmpint (s.verdict, ==, DYNO_LR_NO_FALL);
          g_assert_cmpfloat (s.fall, <, 1e-9);
          g_assert_nonnull (strstr (s.text, "can be chance"));
        }
    }
  g_test_message ("%u and %u of 400", mistakes[0], mistakes[1]);
  g_assert_cmpuint (mistakes[0], <=, 4);
  g_assert_cmpuint (mistakes[1], <=, 4);
}

/* A fall as large as the noise of a single step is found in the smoothed losses. */
static void
test_fall_is_found_under_noise (void)
{
  guint found = 0;

  for (guint64 seed = 1; seed <= 50; seed++)
    {
      g_autoptr (DynoLrCurve) curve = make_curve (valley, STEPS, 0.5, seed);
      g_auto (DynoLrSuggestion) s = { 0 };

      dyno_lr_suggest (curve, &s);
      found += s.verdict <= DYNO_LR_TENTH;
    }
  g_assert_cmpuint (found, >=, 45);
}

/* Of two equal slopes, and of two equal losses, the lower rate is taken. */
static void
test_ties_go_to_the_lower_rate (void)
{
  static const double losses[] = { 6, 6, 6, 5, 4, 4, 4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 };
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, G_N_ELEMENTS (losses));
  g_auto (DynoLrSuggestion) s = { 0 };
  double q = pow (TO / FROM, 1.0 / (G_N_ELEMENTS (losses) - 1));

  for (guint i = 0; i < G_N_ELEMENTS (losses); i++)
    {
      DynoLrPoint *point;

      dyno_lr_curve_add (curve, FROM * pow (q, i), losses[i], FALSE);
      point = &g_array_index (curve->points, DynoLrPoint, i);
      point->smoothed = losses[i]; /* not smoothed, since smoothing would break ties */
      point->lr = ldexp (1, (int) i - 20);
    }
  dyno_lr_suggest (curve, &s);
  g_assert_cmpfloat (s.minimum, ==, ldexp (1, 8 - 20));
  g_assert_cmpfloat (s.steepest, ==, ldexp (1, 3 - 20));
}

/* A first loss that is low by chance is not the minimum. */
static void
test_first_loss_is_no_minimum (void)
{
  g_autoptr (DynoLrCurve) curve = dyno_lr_curve_new (FROM, TO, STEPS);
  g_auto (DynoLrSuggestion) s = { 0 };

  for (guint i = 0; i < STEPS; i++)
    if (!dyno_lr_curve_add (curve, rate_at (i, STEPS), i == 0 ? 0.25 : valley (rate_at (i, STEPS)),
                            FALSE))
      break;
  dyno_lr_suggest (curve, &s);
  g_assert_cmpfloat (s.minimum, >=, 0.5);
  g_assert_cmpfloat (s.minimum, <=, 1.3);
  g_assert_cmpint (s.verdict, ==, DYNO_LR_STEEPEST);
}

static void
test_short_curves_say_why (void)
{
  g_autoptr (DynoLrCurve) none = dyno_lr_curve_new (FROM, TO, STEPS), some = NULL;
  g_autoptr (DynoLrCurve) few = make_curve (rise, 20, 0.01, 1);
  g_autoptr (DynoLrCurve) sparse = dyno_lr_curve_new (FROM, TO, 10);
  g_auto (DynoLrSuggestion) s = { 0 }, t = { 0 }, u = { 0 }, v = { 0 };

  none->end = DYNO_LR_END_STOPPED;
  dyno_lr_suggest (none, &s);
  g_assert_cmpint (s.verdict, ==, DYNO_LR_TOO_SHORT);
  g_assert_nonnull (strstr (s.text, "stopped after step 0 of 100"));
  some = make_curve (level, STEPS, 0.1, 1);
  g_array_set_size (some->points, 30);
  some->end = DYNO_LR_END_TIME;
  dyno_lr_suggest (some, &t);
  g_assert_cmpint (t.verdict, ==, DYNO_LR_NO_FALL);
  g_assert_nonnull (strstr (t.text, "the time was over after step 30 of 100"));
  for (guint i = 0; i < 10; i++)
    dyno_lr_curve_add (sparse, rate_at (i, 10), i % 2 == 0 ? 1 : (double) NAN, i % 2 == 1);
  dyno_lr_suggest (sparse, &v);
  g_assert_cmpint (v.verdict, ==, DYNO_LR_TOO_SHORT);
  g_assert_nonnull (strstr (v.text, "not finite; look at the data"));
  few->fewer = TRUE;
  dyno_lr_suggest (few, &u);
  g_assert_cmpint (u.verdict, ==, DYNO_LR_NO_FALL);
  g_assert_nonnull (strstr (u.text, "for which there was time (20); give the test more minutes"));
}

/* Notes beside the suggestion name the rates that were not tested. */
static void
test_notes_name_rates_beyond (void)
{
  g_autoptr (DynoLrCurve) whole = make_curve (fall, STEPS, 0.001, 1), stopped = NULL, late = NULL;
  g_auto (DynoLrSuggestion) s = { 0 }, t = { 0 }, u = { 0 };

  dyno_lr_suggest (whole, &s);
  g_assert_cmpint (whole->end, ==, DYNO_LR_END_WHOLE);
  g_assert_cmpfloat (s.minimum, ==, TO);
  g_assert_true (isfinite (s.lr));
  g_assert_nonnull (strstr (s.note, "still falling at the last rate, 10"));
  stopped = make_curve (valley, STEPS, 0.01, 1);
  g_array_set_size (stopped->points, 75);
  stopped->end = DYNO_LR_END_STOPPED;
  dyno_lr_suggest (stopped, &t);
  g_assert_true (isfinite (t.lr));
  g_assert_nonnull (strstr (t.note, "in step 75 of 100: higher rates were not tested"));
  late = make_curve (valley, STEPS, 0.01, 1);
  g_array_set_size (late->points, 75);
  late->end = DYNO_LR_END_TIME;
  dyno_lr_suggest (late, &u);
  g_assert_nonnull (strstr (u.note, "The time was over"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/lrcurve/smoothing-is-corrected", test_smoothing_is_corrected);
  g_test_add_func ("/tune/lrcurve/diverges-at-four-times-the-least",
                   test_diverges_at_four_times_the_least);
  g_test_add_func ("/tune/lrcurve/first-steps-may-vary", test_first_steps_may_vary);
  g_test_add_func ("/tune/lrcurve/skipped-steps-are-no-divergence",
                   test_skipped_steps_are_no_divergence);
  g_test_add_func ("/tune/lrcurve/lost-steps-do-not-count", test_lost_steps_do_not_count);
  g_test_add_func ("/tune/lrcurve/valley-gives-its-steepest-place",
                   test_valley_gives_its_steepest_place);
  g_test_add_func ("/tune/lrcurve/quadratic-learns-at-the-suggestion",
                   test_quadratic_learns_at_the_suggestion);
  g_test_add_func ("/tune/lrcurve/tenth-is-suggested-where-it-is-lower",
                   test_tenth_is_suggested_where_it_is_lower);
  g_test_add_func ("/tune/lrcurve/rise-suggests-nothing", test_rise_suggests_nothing);
  g_test_add_func ("/tune/lrcurve/noise-suggests-nothing", test_noise_suggests_nothing);
  g_test_add_func ("/tune/lrcurve/fall-is-found-under-noise", test_fall_is_found_under_noise);
  g_test_add_func ("/tune/lrcurve/ties-go-to-the-lower-rate", test_ties_go_to_the_lower_rate);
  g_test_add_func ("/tune/lrcurve/first-loss-is-no-minimum", test_first_loss_is_no_minimum);
  g_test_add_func ("/tune/lrcurve/short-curves-say-why", test_short_curves_say_why);
  g_test_add_func ("/tune/lrcurve/notes-name-rates-beyond", test_notes_name_rates_beyond);
  return g_test_run ();
}
