/* SPDX-License-Identifier: MIT */
/* Decisions of successive halving. */
#include "halving.h"
#include "rng.h"
#include <math.h>
#include <string.h>

typedef struct {
  int trial; /* -1: a new one */
  guint rung;
} Step;

/* The next step of a search that trains one trial at a time, in three rungs. */
static Step
next_step (const DynoHalvingTrial *trials, guint n)
{
  for (guint rung = 2; rung > 0; rung--)
    if (dyno_halving_count_promoted (trials, n, rung) > 0)
      return (Step){ dyno_halving_find_promoted (trials, n, rung), rung };
  return (Step){ -1, 0 };
}

static void
test_rungs (void)
{
  const struct {
    guint64 epochs;
    guint n;
    guint64 rungs[DYNO_HALVING_MOST_RUNGS];
  } cases[] = {
    { 0, 0, { 0 } },
    { 1, 1, { 1 } },
    { 2, 2, { 1, 2 } },
    { 3, 2, { 1, 3 } },
    { 10, 3, { 1, 3, 10 } },
    { 5, 3, { 1, 2, 5 } },
    { 27, 4, { 1, 3, 9, 27 } },
    { 100, 4, { 4, 11, 33, 100 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint64 rungs[DYNO_HALVING_MOST_RUNGS];

      g_assert_cmpuint (dyno_halving_list_rungs (cases[i].epochs, rungs), ==, cases[i].n);
      for (guint k = 0; k < cases[i].n; k++)
        g_assert_cmpuint (rungs[k], ==, cases[i].rungs[k]);
    }
}

static DynoHalvingTrial
trial (guint n_done, double first, double second)
{
  return (DynoHalvingTrial){ .n_done = n_done, .losses = { first, second } };
}

static void
check (const DynoHalvingTrial *trials, guint n, int expected, guint rung)
{
  Step step = next_step (trials, n);

  g_assert_cmpint (step.trial, ==, expected);
  g_assert_cmpuint (step.rung, ==, rung);
}

static void
test_promotes_the_best_third (void)
{
  DynoHalvingTrial trials[] = { trial (1, 3, 0), trial (1, 1, 0), trial (1, 2, 0),
                                trial (2, 4, 0), trial (1, 5, 0), trial (1, 6, 0) };

  check (trials, 2, -1, 0); /* a third of two trials is none */
  check (trials, 3, 1, 1);
  trials[1].n_done = 2;
  check (trials, 3, -1, 0); /* a trial is promoted once */
  check (trials, 5, -1, 0);
  check (trials, 6, 2, 1);
}

/* A trial in a higher rung comes first; within a rung, the values of this rung decide. */
static void
test_higher_rung_first (void)
{
  DynoHalvingTrial trials[] = { trial (2, 1, 9),   trial (2, 2, 7), trial (2, 3, 8),
                                trial (1, 1.5, 0), trial (1, 9, 0), trial (1, 9, 0) };

  check (trials, 6, 1, 2);
  trials[1].n_done = 3;
  check (trials, 6, 3, 1);
}

static void
test_ties (void)
{
  DynoHalvingTrial trials[] = { trial (1, 2, 0), trial (1, 1, 0),
                                trial (1, 1, 0), trial (1, (double) NAN, 0),
                                trial (1, 1, 0), trial (1, 1, 0) };

  check (trials, 3, 1, 1);
  trials[1].n_done = 2;
  check (trials, 3, -1, 0); /* a third of the trials, and not all that are as good */
  check (trials, 5, -1, 0);
  check (trials, 6, 2, 1);
  trials[2].n_done = 2;
  check (trials, 6, -1, 0);
}

/* Every fourth trial goes past the first rung, after better ones, and every 16th past the second
 * one, but not where it failed. */
static void
test_hedges (void)
{
  DynoHalvingTrial trials[32];

  for (guint i = 0; i < 32; i++)
    trials[i] = trial (1, i, 0);
  check (trials, 4, 0, 1);
  trials[0].n_done = 2;
  check (trials, 3, -1, 0);
  check (trials, 4, 3, 1);
  trials[3].n_done = 2;
  trials[3].losses[1] = -1; /* the best of the second rung, but not of three */
  check (trials, 5, -1, 0);
  check (trials, 7, 1, 1);
  trials[1].n_done = 2;
  check (trials, 7, 3, 2);
  trials[3].n_done = 3;
  check (trials, 7, -1, 0);
  check (trials, 8, 7, 1);
  trials[7].failed = TRUE;
  check (trials, 8, -1, 0);
  trials[7].failed = FALSE;
  trials[7].losses[0] = (double) NAN;
  check (trials, 8, -1, 0);
  check (trials, 12, 2, 1);
  trials[2].n_done = 2;
  g_assert_cmpint (dyno_halving_find_promoted (trials, 12, 1), ==, 11);
  trials[11].n_done = 2;
  trials[11].losses[1] = 100;
  g_assert_cmpint (dyno_halving_find_promoted (trials, 12, 2), ==, -1);
  for (guint i = 0; i < 32; i++)
    trials[i] = trial (2, 1, i);
  for (guint i = 0; i < 10; i++)
    trials[i].n_done = 3; /* the best third */
  g_assert_cmpuint (dyno_halving_count_promoted (trials, 32, 2), ==, 2);
  g_assert_cmpint (dyno_halving_find_promoted (trials, 32, 2), ==, 15);
  trials[15].n_done = 3;
  g_assert_cmpint (dyno_halving_find_promoted (trials, 32, 2), ==, 31);
  trials[31].failed = TRUE;
  g_assert_cmpint (dyno_halving_find_promoted (trials, 32, 2), ==, -1);
}

/* A failure counts in its rung and is never promoted, however few trials there are. */
static void
test_failures (void)
{
  DynoHalvingTrial trials[] = { trial (1, 1, 0), trial (1, (double) NAN, 0), trial (1, 2, 0) };

  trials[0].failed = TRUE;
  check (trials, 3, 2, 1);
  trials[2].failed = TRUE;
  check (trials, 3, -1, 0);
}

/* A failure in a higher rung does not change the value in the lower one. */
static void
test_failure_above (void)
{
  DynoHalvingTrial trials[] = { trial (2, 1, 0), trial (1, 2, 0), trial (1, 3, 0) };

  trials[0].failed = TRUE;
  check (trials, 3, -1, 0); /* the best third is the trial that was promoted and failed */
}

/* The number of trials in a rung with a lower loss. */
static guint
count_better (const DynoHalvingTrial *trials, guint n, guint rung, double loss, guint *n_here)
{
  guint better = 0;

  *n_here = 0;
  for (guint i = 0; i < n; i++)
    if (trials[i].n_done > rung)
      {
        gboolean failed = trials[i].failed && trials[i].n_done == rung + 1;

        better += !failed && trials[i].losses[rung] < loss;
        ++*n_here;
      }
  return better;
}

/* For any measurements, no trial is promoted twice, past the last rung or after it failed, and a
 * promoted trial is in the best third of its rung, or one of those that go past the first rung. */
static void
test_properties (void)
{
  for (guint seed = 0; seed < 20; seed++)
    {
      DynoHalvingTrial trials[120] = { 0 };
      guint n = 0, at_rung[3] = { 0 };
      DynoRng rng = dyno_rng_init (seed, 0);

      while (n < 120)
        {
          Step step = next_step (trials, n), again = next_step (trials, n);
          DynoHalvingTrial *t = step.trial < 0 ? &trials[n++] : &trials[step.trial];

          g_assert_cmpmem (&step, sizeof step, &again, sizeof again);
          g_assert_cmpuint (t->n_done, ==, step.rung);
          g_assert_false (t->failed);
          if (step.trial >= 0 && step.trial % DYNO_HALVING_HEDGE != DYNO_HALVING_HEDGE - 1)
            {
              guint n_here, better = count_better (trials, n, step.rung - 1,
                                                   t->losses[step.rung - 1], &n_here);

              g_assert_cmpuint (DYNO_HALVING_ETA * (better + 1), <=, n_here);
            }
          t->losses[t->n_done++] = dyno_rng_uniform (&rng);
          t->failed = dyno_rng_uniform (&rng) < 0.1;
          at_rung[step.rung]++;
        }
      g_assert_cmpuint (at_rung[2], >, 0);
    }
}

/* A trial that is being trained for the next rung counts where it was, and is not promoted again. */
static void
test_busy_trials_are_not_promoted_again (void)
{
  DynoHalvingTrial trials[7];

  for (guint i = 0; i < 7; i++)
    trials[i] = trial (i == 3 ? 2 : 1, 7 - i, 0);
  g_assert_cmpuint (dyno_halving_count_promoted (trials, 7, 1), ==, 2);
  g_assert_cmpint (dyno_halving_find_promoted (trials, 7, 1), ==, 6);
  trials[6].busy = TRUE;
  g_assert_cmpuint (dyno_halving_count_promoted (trials, 7, 1), ==, 1);
  g_assert_cmpint (dyno_halving_find_promoted (trials, 7, 1), ==, 5);
  trials[5].busy = TRUE;
  g_assert_cmpuint (dyno_halving_count_promoted (trials, 7, 1), ==, 0);
  g_assert_cmpint (dyno_halving_find_promoted (trials, 7, 1), ==, -1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/halving/rungs-are-thirds", test_rungs);
  g_test_add_func ("/tune/halving/promotes-the-best-third-once", test_promotes_the_best_third);
  g_test_add_func ("/tune/halving/looks-at-the-higher-rung-first", test_higher_rung_first);
  g_test_add_func ("/tune/halving/the-earlier-of-equals-goes-on", test_ties);
  g_test_add_func ("/tune/halving/every-fourth-goes-past-the-first-rung", test_hedges);
  g_test_add_func ("/tune/halving/failures-are-the-worst", test_failures);
  g_test_add_func ("/tune/halving/failed-above-keeps-its-place-below", test_failure_above);
  g_test_add_func ("/tune/halving/holds-for-any-losses", test_properties);
  g_test_add_func ("/tune/halving/busy-trials-are-not-promoted-again",
                   test_busy_trials_are_not_promoted_again);
  return g_test_run ();
}
