/* SPDX-License-Identifier: MIT */
/* The best of a search, as tune --json prints it; the cost of int8 weights, as save --json does. */
#include "tune-json.h"
#include "output.h"
#include "savecost.h"
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

/* --- the cost of int8 weights ----------------------------------------------------------------- */

static void
check_cost (const DynoSaveCost *cost, const char *members, gboolean marked)
{
  g_autofree char *text = NULL, *end = g_strdup_printf ("%s, \"more_than_a_point\": %s}}", members,
                                                        marked ? "true" : "false");
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_save_cost_print_json (cost, &json);
  dyno_json_end_object (&json);
  text = dyno_json_steal (&json);
  dyno_json_clear (&json);
  g_test_message ("%s", text);
  g_assert_true (g_str_has_suffix (text, end));
  if (cost->names)
    {
      g_autofree char *begin = g_strdup_printf (
          "{\"fp32\": {\"samples\": 4, \"loss\": 1, \"mean_absolute_errors\": [%g, %g]}, \"int8\": "
          "{\"samples\": 4, \"loss\": 1.5, \"mean_absolute_errors\": [%g, %g]}, ",
          cost->fp32->values.absolute[0] / 4, cost->fp32->values.absolute[1] / 4,
          cost->int8->values.absolute[0] / 4, cost->int8->values.absolute[1] / 4);

      g_assert_true (g_str_has_prefix (text, begin));
    }
}

/* Any value whose error grows by more than a hundredth marks the cost, not only the last; an error
 * that was 0 counts by itself. */
static void
test_cost_of_values (void)
{
  static const struct {
    double own[2], rounded[2];
    const char *members;
    gboolean marked;
  } rows[] = {
    { { 4, 4 }, { 8, 4 }, "{\"loss\": 0.5, \"mean_absolute_errors\": [1, 0]", TRUE },
    { { 4, 4 }, { 4, 8 }, "{\"loss\": 0.5, \"mean_absolute_errors\": [0, 1]", TRUE },
    { { 400, 4 }, { 402, 4 }, "{\"loss\": 0.5, \"mean_absolute_errors\": [0.5, 0]", FALSE },
    { { 0, 4 }, { 2, 4 }, "{\"loss\": 0.5, \"mean_absolute_errors\": [0.5, 0]", TRUE },
    { { 0, 4 }, { 0.03125, 4 }, "\"loss\": 0.5, \"mean_absolute_errors\": [0.0078125, 0]", FALSE },
    { { 4, 4 }, { 2, 3 }, "{\"loss\": 0.5, \"mean_absolute_errors\": [-0.5, -0.25]", FALSE },
  };
  static char *names[] = { (char *) "yaw", (char *) "pitch", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      double own[2] = { rows[i].own[0], rows[i].own[1] },
             rounded[2] = { rows[i].rounded[0], rows[i].rounded[1] };
      DynoScores fp32 = {
        .n_samples = 4, .is_values = TRUE, .loss_sum = 4, .values.absolute = own
      };
      DynoScores int8 = {
        .n_samples = 4, .is_values = TRUE, .loss_sum = 6, .values.absolute = rounded
      };
      const DynoSaveCost cost = { .fp32 = &fp32, .int8 = &int8, .names = names };

      check_cost (&cost, rows[i].members, rows[i].marked);
    }
}

/* A point of accuracy is more than one sample in a hundred. */
static void
test_cost_of_classes (void)
{
  DynoScores fp32 = { .n_samples = 128, .n_correct = 100, .loss_sum = 128 }, int8 = fp32;
  const DynoSaveCost cost = { .fp32 = &fp32, .int8 = &int8 };

  int8.n_correct = 99;
  check_cost (&cost, "{\"loss\": 0, \"accuracy\": 0.0078125", FALSE);
  int8.n_correct = 98;
  check_cost (&cost, "{\"loss\": 0, \"accuracy\": 0.015625", TRUE);
  fp32.is_labels = int8.is_labels = TRUE;
  fp32.labels.n_samples = int8.labels.n_samples = 64;
  fp32.labels.shares = 33;
  int8.labels.shares = 32;
  check_cost (&cost, "{\"loss\": 0, \"label_accuracy\": 0.015625", TRUE);
}

/* Masks are marked by their IoU, where a rare class loses pixels, and by their pixels, where a
 * frequent one of many loses them. */
static void
test_cost_of_masks (void)
{
  enum { N = 10 };
  static const struct {
    guint32 from, to;
    guint64 lost;
    gboolean marked;
  } rows[] = { { 0, 1, 0, FALSE }, { 0, 1, 50, FALSE }, { 0, 1, 200, TRUE }, { 9, 0, 20, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint64 there[N] = { 5000, 5000, 100, 100, 100, 100, 100, 100, 100, 100 }, predicted[N],
              right[N];
      DynoMaskScores fp32 = { .n_outputs = N,
                              .n_samples = 1,
                              .counts = { N, there, there, there } };
      DynoMaskScores int8 = { .n_outputs = N,
                              .n_samples = 1,
                              .counts = { N, there, predicted, right } };
      const DynoSaveCost cost = { .fp32_masks = &fp32, .int8_masks = &int8 };

      memcpy (predicted, there, sizeof there);
      memcpy (right, there, sizeof there);
      right[rows[i].from] -= rows[i].lost;
      predicted[rows[i].from] -= rows[i].lost;
      predicted[rows[i].to] += rows[i].lost;
      check_cost (&cost, "", rows[i].marked);
    }
}

static void
print_costs (void)
{
  static char *names[] = { (char *) "yaw", (char *) "pitch", NULL };
  double own[2] = { 4, 400 }, rounded[2] = { 8, 402 };
  DynoScores fp32 = { .n_samples = 4, .is_values = TRUE, .loss_sum = 4, .values.absolute = own };
  DynoScores int8 = {
    .n_samples = 4, .is_values = TRUE, .loss_sum = 6, .values.absolute = rounded
  };
  DynoScores classes = { .n_samples = 128, .n_correct = 100, .loss_sum = 128 }, lost = classes;
  guint64 there[2] = { 600, 400 }, predicted[2] = { 620, 380 }, right[2] = { 600, 380 };
  DynoMaskScores masks = { .n_outputs = 2, .n_samples = 1, .counts = { 2, there, there, there } };
  DynoMaskScores small = { .n_outputs = 2,
                           .n_samples = 1,
                           .counts = { 2, there, predicted, right } };

  lost.n_correct = 99;
  lost.loss_sum = 192;
  dyno_save_cost_print (&(DynoSaveCost){ .fp32 = &fp32, .int8 = &int8, .names = names });
  dyno_save_cost_print (&(DynoSaveCost){ .fp32 = &classes, .int8 = &lost });
  dyno_save_cost_print (&(DynoSaveCost){ .fp32_masks = &masks, .int8_masks = &small });
  dyno_out_flush ();
}

/* The table marks each row by itself. */
static void
test_table_of_costs (void)
{
  run (print_costs, "*on 4 samples:\n*fp32*int8*cost*\n"
                    "mean absolute error of yaw * 1 * 2 * +1 *more than a point*\n"
                    "mean absolute error of pitch * 100 * 100.5 * +0.5\n"
                    "loss * 1.0000 * 1.5000 * +0.5000\n"
                    "on 128 samples:\n*"
                    "accuracy * 78.12 % * 77.34 % * +0.78\n"
                    "loss * 1.0000 * 1.5000 * +0.5000\n"
                    "on 1 sample:\n*"
                    "mean IoU * 100.00 % * 95.89 % * +4.11 *more than a point*\n"
                    "pixel accuracy * 100.00 % * 98.00 % * +2.00 *more than a point*\n*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/tune-json/goal", test_goal);
  g_test_add_func ("/cli/tune-json/unknown-is-null", test_unknown_is_null);
  g_test_add_func ("/cli/save-cost/values", test_cost_of_values);
  g_test_add_func ("/cli/save-cost/classes", test_cost_of_classes);
  g_test_add_func ("/cli/save-cost/masks", test_cost_of_masks);
  g_test_add_func ("/cli/save-cost/table", test_table_of_costs);
  return g_test_run ();
}
