/* SPDX-License-Identifier: MIT */
/* The plain progress lines of a run, as they are printed without a terminal, and its end. */
#include "progress.h"
#include <math.h>

/* Makes the next line due, whatever time it is. */
static void
make_due (DynoProgress *progress)
{
  progress->last_us = -(gint64) G_MAXINT64 / 2;
}

static void
print_latest (void)
{
  DynoProgress progress;

  dyno_progress_init (&progress, NULL, FALSE);
  make_due (&progress);
  dyno_progress_show (&progress, "compiling", 0, "1 of 3");
  make_due (&progress);
  dyno_progress_tick (&progress);
  make_due (&progress);
  dyno_progress_show (&progress, "compiling", 0, "2 of 3");
  /* Each line has its own time: that of the next one begins anew. */
  progress.news_us -= (gint64) 3700 * G_USEC_PER_SEC;
  make_due (&progress);
  dyno_progress_tick (&progress);
  make_due (&progress);
  dyno_progress_show (&progress, "compiling", 0, "3 of 3");
  make_due (&progress);
  dyno_progress_tick (&progress);
}

/* A line that has not changed for long is printed again with its duration; the next line is new and
 * has none. */
static void
test_lines_say_how_long_they_stand (void)
{
  if (g_test_subprocess ())
    {
      print_latest ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout ("*compiling 1 of 3\ncompiling 1 of 3  (for *)\ncompiling 2 of 3\n"
                             "compiling 2 of 3  (for 1:01:*)\ncompiling 3 of 3\n"
                             "compiling 3 of 3  (for * s)\n");
}

static void
print_epoch (void)
{
  g_autoptr (DynoRunView) view = dyno_run_view_new (FALSE);
  DynoEvent event = { .type = DYNO_EVENT_METRICS };
  DynoProgress progress;
  DynoEpochMetrics epoch = {
    .epoch = 1, .step = 9, .train_loss = 0.5, .val_loss = (double) NAN, .samples_per_s = 7
  };
  static const char *const parts[] = { NULL, "yaw", "pitch", "roll" };

  event.metrics.n = G_N_ELEMENTS (parts);
  for (guint i = 0; i < event.metrics.n; i++)
    event.metrics.infos[i] = (DynoMetricInfo){ .name = i ? parts[i] : "mean_error",
                                               .title = "Mean error",
                                               .part = parts[i],
                                               .unit = "degrees",
                                               .output = (gint) i - 1,
                                               .format = DYNO_METRIC_NUMBER };
  dyno_run_view_take_event (view, &event);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    epoch.train_metrics[i] = i + 0.5;
  dyno_run_view_take_epoch (view, &epoch);
  dyno_progress_init (&progress, view, FALSE);
  dyno_progress_epoch (&progress);
}

static void
test_parts_of_a_metric_are_in_one_bracket (void)
{
  if (g_test_subprocess ())
    {
      print_epoch ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout ("*  loss 0.5000  mean error 0.5000 degrees (yaw 1.5000 degrees, pitch "
                             "2.5000 degrees, roll 3.5000 degrees)  7.0 samples/s  *\n*");
}

/* The end states the time of the whole run, and of a resumed one the steps and the time of this
 * process too; only a run that has steps left is to be resumed. */
static void
test_the_end_of_a_run_in_words (void)
{
  const struct {
    guint64 steps, begin_steps, whole_steps, best_epoch;
    double seconds, begin_seconds, rate;
    const char *best, *folder, *words;
  } rows[] = {
    { 1, 0, 0, 0, 2, 0, 0, NULL, "run", "done: 1 step in 2.0 s" },
    { 280, 0, 0, 5, 50, 0, 187, "accuracy 99.00 %", "run",
      "done: 280 steps in 0:50, 187 samples/s, best validation accuracy 99.00 % (epoch 5)" },
    { 27, 9, 0, 0, 3700, 3600, 0, NULL, "run",
      "done: 27 steps in 1:01:40, 18 of them now in 1:40" },
    { 9, 5, 27, 0, 8, 6, 20, NULL, "a run",
      "stopped after 9 of 27 steps as asked, in 8.0 s, 4 of them now in 2.0 s, 20.0 samples/s; "
      "resume with: dynoctl train --resume a run" },
    { 9, 0, 27, 0, 8, 0, 0, NULL, NULL, "stopped after 9 of 27 steps as asked, in 8.0 s" },
    /* Clocks of two processes may differ a little. */
    { 9, 9, 0, 0, 6, 6.5, 0, NULL, "run", "done: 9 steps in 6.0 s, 0 of them now in 0.0 s" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoEvent) event = dyno_event_new (DYNO_EVENT_DONE);
      event->done.steps = rows[i].steps;
      event->done.begin_steps = rows[i].begin_steps;
      event->done.whole_steps = rows[i].whole_steps;
      event->done.best_epoch = rows[i].best_epoch;
      event->done.seconds = rows[i].seconds;
      event->done.begin_seconds = rows[i].begin_seconds;
      g_autofree char *words =
          dyno_progress_describe_end (event, rows[i].best, rows[i].rate, rows[i].folder);
      g_assert_cmpstr (words, ==, rows[i].words);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/progress/lines-say-how-long-they-stand",
                   test_lines_say_how_long_they_stand);
  g_test_add_func ("/cli/progress/parts-of-a-metric-are-in-one-bracket",
                   test_parts_of_a_metric_are_in_one_bracket);
  g_test_add_func ("/cli/progress/the-end-of-a-run-in-words", test_the_end_of_a_run_in_words);
  return g_test_run ();
}
