/* SPDX-License-Identifier: MIT */
/* The search for the settings that reach a goal first, and its statements on learning. */
#include "search-test.h"
#include "space.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

/* A larger batch is faster, and needs more epochs. */
static void
test_goal (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  guint ran = 0, kept = 0;
  double seconds;

  m.n_train = 3600;
  m.n_validation = 400;
  m.learn_epochs = 3;
  g_autoptr (DynoTuneResult) fastest = search (&m, 1, (Wanted){ 0 }, NULL, NULL);
  g_autoptr (DynoTuneResult) r =
      search (&m, 1, (Wanted){ .goal = 0.9, .minutes = 8 }, &seconds, NULL);

  g_assert_cmpfloat (seconds, <=, 480 * 1.1);
  g_assert_cmpint (r->winner, >=, 0);
  g_assert_true (r->proven);
  g_assert_cmpint (r->best.settings.batch_size, <, fastest->best.settings.batch_size);
  g_assert_cmpint (r->curve.smallest, ==, r->best.settings.batch_size);
  g_assert_true (g_str_has_prefix (r->reasons[0], "The goal, accuracy 90 % in validation, is "
                                                  "reached first by batch "));
  g_assert_true (says (r, "From the same start: "));
  g_assert_cmpfloat_with_epsilon (r->best.settings.lr,
                                  dyno_verdict_learning_rate (&r->job->settings, &r->best.settings),
                                  1e-12);
  for (guint i = 0; i < r->racers->len; i++)
    ran += ((const DynoTuneRacer *) r->racers->pdata[i])->ran;
  for (guint i = 0; i < r->trials->len; i++)
    if (strcmp (trial_of (r, i)->stage, "goal") == 0)
      {
        kept++;
        g_assert_true (strstr (trial_of (r, i)->text, "epoch") != NULL);
        g_assert_true (trial_of (r, i)->outcome == DYNO_TRIAL_OK
                       || trial_of (r, i)->outcome == DYNO_TRIAL_DROPPED);
      }
  g_assert_cmpuint (ran, >=, 2);
  g_assert_cmpuint (kept, ==, ran);
  g_autoptr (DynoTuneResult) later =
      search (&m, 1, (Wanted){ .goal = 0.9, .minutes = 8, .known = r }, NULL, NULL);
  g_assert_cmpint (later->winner, >=, 0);
  for (guint i = 0; i < r->racers->len; i++)
    {
      const DynoTuneRacer *a = r->racers->pdata[i], *w = r->racers->pdata[r->winner];

      if (a->ran) /* no candidate trains on when it can no longer win */
        g_assert_cmpfloat (a->learning.seconds, >=, w->learning.seconds);
      if (a->ran)
        g_assert_cmpfloat (
            dyno_machine_epochs (&m, &a->settings) / dyno_machine_rate (&m, &a->settings), >=,
            dyno_machine_epochs (&m, &w->settings) / dyno_machine_rate (&m, &w->settings));
    }
}

static void
test_goal_that_is_not_reached (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  double seconds;

  m.learn_epochs = 1000;
  g_autoptr (DynoTuneResult) plain = search (&m, 1, (Wanted){ .minutes = 2 }, NULL, NULL);
  g_autoptr (DynoTuneResult) r =
      search (&m, 1, (Wanted){ .goal = 0.9, .minutes = 4 }, &seconds, NULL);

  g_assert_cmpfloat (seconds, <=, 240 * 1.1);
  g_assert_cmpint (r->winner, ==, -1);
  g_assert_true (dyno_space_same (&r->best.settings, &plain->best.settings));
  g_assert_true (says (r, "was not reached in the time"));
  /* All candidates have the same share of the time; the rest of a share goes to the later
   * candidates. */
  g_assert_cmpuint (r->racers->len, >=, 3);
  for (guint i = 1; i < r->racers->len; i++)
    {
      const DynoTuneRacer *first = r->racers->pdata[0], *other = r->racers->pdata[i];

      g_test_message ("%g s, %g s", first->learning.seconds, other->learning.seconds);
      g_assert_true (other->ran);
      g_assert_cmpfloat (other->learning.seconds, >=, 0.9 * first->learning.seconds);
    }
}

static GCancellable *stopping;
static const char *stop_stage;

static void
stop_at_stage (gpointer user, const DynoTrial *trial)
{
  (void) user;
  if (strcmp (trial->stage, stop_stage) == 0)
    g_cancellable_cancel (stopping);
}

/* The search is stopped before the race or in it, and does not report that the time was too
 * short. */
static void
test_goal_of_a_stopped_search (void)
{
  static const char *const stages[] = { "today", "search", "proof", "goal" };
  DynoMachine m = *find_machine ("gpu-bound");

  m.learn_epochs = 1000;
  for (guint i = 0; i < G_N_ELEMENTS (stages); i++)
    {
      stopping = g_cancellable_new ();
      stop_stage = stages[i];
      g_autoptr (DynoTuneResult) r = search (
          &m, 1,
          (Wanted){ .goal = 0.9, .minutes = 4, .cancellable = stopping, .trial = stop_at_stage },
          NULL, NULL);

      g_assert_cmpstr (trial_of (r, r->trials->len - 1)->stage, ==, stages[i]);
      g_assert_true (r->stopped);
      g_assert_cmpint (r->winner, ==, -1);
      g_assert_true (says (r, "was not reached before the search was stopped"));
      g_assert_false (says (r, "in the time") || says (r, "more minutes"));
      g_clear_object (&stopping);
    }
}

/* Where the batch differs, the accuracies after equally many epochs are reported, or that they were
 * not measured. */
static void
test_equal_epochs (void)
{
  DynoMachine m = *find_machine ("gpu-bound");

  m.n_train = 3600;
  m.n_validation = 400;
  m.learn_epochs = 3;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .minutes = 6 }, NULL, NULL);
  g_assert_cmpuint (r->equal_epochs, ==, 3);
  g_assert_cmpfloat (r->equal[0].best, <, r->equal[1].best);
  g_assert_true (says (r, "After 3 epochs from the same start: accuracy "));
  m.n_train = 3600000;
  g_autoptr (DynoTuneResult) large = search (&m, 1, (Wanted){ .minutes = 6 }, NULL, NULL);
  g_assert_cmpuint (large->equal_epochs, ==, 0);
  g_assert_true (says (large, "was not measured"));
}

static void
test_learning_rate (void)
{
  g_autoptr (DynoTuneResult) r = search (find_machine ("usual"), 1, (Wanted){ 0 }, NULL, NULL);
  double larger = (double) r->best.settings.batch_size / (double) r->job->settings.batch_size;

  g_assert_cmpfloat (larger, >, 2);
  g_assert_cmpfloat_with_epsilon (r->best.settings.lr, r->job->settings.lr * sqrt (larger), 1e-9);
  g_assert_nonnull (strstr (r->lr_advice, "square root"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/search/goal-is-reached-first", test_goal);
  g_test_add_func ("/tune/search/goal-that-is-not-reached", test_goal_that_is_not_reached);
  g_test_add_func ("/tune/search/goal-of-a-stopped-search", test_goal_of_a_stopped_search);
  g_test_add_func ("/tune/search/accuracy-after-equal-epochs", test_equal_epochs);
  g_test_add_func ("/tune/search/learning-rate-by-the-square-root", test_learning_rate);
  return g_test_run ();
}
