/* SPDX-License-Identifier: MIT */
/* The best of a search, as tune --json prints it. */
#include "tune-json.h"
#include "output.h"
#include <math.h>
#include <string.h>

static void
print_best (DynoTuneResult *result)
{
  DynoTuneEvent event = { .type = DYNO_TUNE_EVENT_BEST, .result = result };

  dyno_tune_print_json (&event);
  dyno_out_flush ();
}

static DynoTuneResult *
new_result (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoTuneResult *r = dyno_tune_result_new (job);

  r->best.samples_per_s = 200;
  r->best.low = 190;
  r->best.high = 210;
  r->baseline.samples_per_s = 0; /* it did not work */
  r->today.samples_per_s = 80;
  g_strfreev (r->reasons);
  r->reasons = g_new0 (char *, 1);
  return r;
}

/* Adds a racer to a goal; seconds 0: it did not run. */
static void
add_racer (DynoTuneResult *r, double seconds, gboolean reached)
{
  DynoTuneRacer *racer = g_new0 (DynoTuneRacer, 1);

  racer->settings = r->job->settings;
  racer->ran = seconds > 0;
  racer->learning =
      (DynoLearning){ .reached = reached, .seconds = seconds, .epochs = 3, .best = 0.875 };
  g_ptr_array_add (r->racers, racer);
}

static void
run (void (*print) (void), const char *expected)
{
  if (g_test_subprocess ())
    {
      print ();
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  g_test_trap_assert_stdout (expected);
}

static void
print_goals (void)
{
  for (int winner = -1; winner < 2; winner++)
    {
      g_autoptr (DynoTuneResult) r = new_result ();
      r->goal = g_new0 (DynoLearningGoal, 1);
      g_strlcpy (r->goal->metric, "accuracy", sizeof r->goal->metric);
      r->goal->value = 0.5;
      add_racer (r, 20, winner == 0);
      add_racer (r, 0, FALSE);
      add_racer (r, 10, winner == 1);
      r->winner = winner;
      print_best (r);
    }
}

/* The goal is reached by whichever racer wins; only racers that ran are listed. */
static void
test_goal (void)
{
  static const char *const winners[3][3] = { { "false", "false", "false" },
                                             { "true", "true", "false" },
                                             { "true", "false", "true" } };
  GString *all = g_string_new (NULL);

  for (guint i = 0; i < 3; i++)
    g_string_append_printf (
        all,
        "*\"goal\": {\"metric\": \"accuracy\", \"value\": 0.5, \"reached\": %s, \"runs\": [*"
        "\"reached\": %s, \"seconds\": 20, \"epochs\": 3, \"best\": 0.875, *"
        "\"reached\": %s, \"seconds\": 10, \"epochs\": 3, \"best\": 0.875, \"text\": null}]},*\n",
        winners[i][0], winners[i][1], winners[i][2]);
  run (print_goals, all->str);
  g_string_free (all, TRUE);
}

static void
print_equal (void)
{
  g_autoptr (DynoTuneResult) r = new_result ();

  print_best (r);
  r->equal_epochs = 4;
  g_strlcpy (r->equal[0].name, "loss", sizeof r->equal[0].name);
  r->equal[0].best = 0.25;
  r->equal[1].best = 0.5;
  print_best (r);
}

/* A rate that is not known, and a comparison that was not made, are null. */
static void
test_unknown_is_null (void)
{
  run (print_equal,
       "*\"samples_per_s\": 200, \"low\": 190, \"high\": 210, \"baseline_samples_per_s\": null, "
       "\"current_samples_per_s\": 80, *\"goal\": null, \"equal_epochs\": null, "
       "\"ranks\": null}\n"
       "*\"equal_epochs\": {\"epochs\": 4, \"metric\": \"loss\", \"best\": 0.25, "
       "\"current\": 0.5}, *");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/tune-json/goal", test_goal);
  g_test_add_func ("/cli/tune-json/unknown-is-null", test_unknown_is_null);
  return g_test_run ();
}
