/* SPDX-License-Identifier: MIT */
/* The best of a search, as tune --json prints it; the cost of int8 weights, as save --json does; the
 * events of a run, as train --json does. */
#include "tune-json.h"
#include "output.h"
#include "savecost.h"
#include "train-json.h"
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

/* --- the events of a run ---------------------------------------------------------------------- */

static const DynoMetricTable metrics = { .n = 3,
                                         .infos = {
                                             { .name = "accuracy" },
                                             { .name = "top5" },
                                             { .name = "f1_macro", .of_validation = TRUE } } };

static void
print_steps (void)
{
  const DynoStepMetrics step = { .step = 1,
                                 .epoch = 2,
                                 .loss = 3,
                                 .metrics = { 4, 5, 6 },
                                 .lr = 7,
                                 .samples_per_s = 8,
                                 .step_ms = 9,
                                 .wait_data_ms = 10,
                                 .upload_ms = 11,
                                 .forward_ms = 12,
                                 .backward_ms = 13,
                                 .optimizer_ms = 14,
                                 .grad_norm = 15,
                                 .loss_scale = 16,
                                 .skipped = TRUE,
                                 .vram_bytes = 17,
                                 .vram_all_bytes = 18,
                                 .seconds = 19 };
  const DynoEpochMetrics epoch = { .epoch = 1,
                                   .step = 2,
                                   .train_loss = 3,
                                   .train_metrics = { 4, 5, 6 },
                                   .val_loss = (double) NAN,
                                   .val_metrics = { 7, 8, 9 },
                                   .samples_per_s = 10,
                                   .seconds = 11,
                                   .validation_seconds = 12,
                                   .saving_seconds = 13 };
  DynoRankReport reports[] = {
    { .host = "a", .device = "one", .rate = { 1, 2, 3, 4, 5 } },
    { .host = "b", .device = "two", .rate = { 6, 7, 8, 9, 10 } },
  };
  const DynoEvent ranks = { .ranks = { .step = 9, .n = 2, .reports = reports } };
  const DynoEvent progress = { .progress = { .what = (char *) "scan", .done = 3, .total = 8 } };

  dyno_train_print_step (&metrics, &step);
  dyno_train_print_epoch (&metrics, &epoch);
  dyno_train_print_ranks (&ranks);
  dyno_train_print_text ("checkpoint", "path", "a/b");
  dyno_train_print_preparing (&progress);
  dyno_out_flush ();
}

/* Every member has its own value under its own name; metrics of a validation are of no training. */
static void
test_events (void)
{
  run (print_steps,
       "*{\"event\": \"step\", \"step\": 1, \"epoch\": 2, \"loss\": 3, \"samples_per_s\": 8, "
       "\"vram_bytes\": 17, \"wait_data_ms\": 10, \"step_ms\": 9, \"accuracy\": 4, \"top5\": 5, "
       "\"lr\": 7, \"grad_norm\": 15, \"loss_scale\": 16, \"skipped\": true, \"upload_ms\": 11, "
       "\"forward_ms\": 12, \"backward_ms\": 13, \"optimizer_ms\": 14, \"seconds\": 19}\n"
       "{\"event\": \"epoch\", \"epoch\": 1, \"step\": 2, \"train_loss\": 3, \"val_loss\": null, "
       "\"train_accuracy\": 4, \"train_top5\": 5, \"val_accuracy\": 7, \"val_top5\": 8, "
       "\"val_f1_macro\": 9, \"samples_per_s\": 10, \"seconds\": 11, \"validation_seconds\": 12, "
       "\"saving_seconds\": 13}\n"
       "{\"event\": \"ranks\", \"step\": 9, \"ranks\": [{\"rank\": 0, \"host\": \"a\", \"device\": "
       "\"one\", \"samples_per_s\": 1, \"own_ms\": 2, \"wait_exchange_ms\": 3, \"wait_data_ms\": "
       "4, \"device_ms\": 5}, {\"rank\": 1, \"host\": \"b\", \"device\": \"two\", "
       "\"samples_per_s\": 6, \"own_ms\": 7, \"wait_exchange_ms\": 8, \"wait_data_ms\": 9, "
       "\"device_ms\": 10}]}\n"
       "{\"event\": \"checkpoint\", \"path\": \"a/b\"}\n"
       "{\"event\": \"progress\", \"what\": \"scan\", \"done\": 3, \"total\": 8}\n");
}

static void
print_ends (void)
{
  static char *unreadable[] = { (char *) "a: torn", (char *) "b: empty", NULL }, *none[] = { NULL };
  DynoRankReport report = { .host = "a", .device = "one", .rate = { 1, 2, 3, 4, 5 } };
  DynoEvent end = { .done = { .state = DYNO_SESSION_FINISHED,
                              .seconds = 1,
                              .preparation_seconds = 2,
                              .steps = 3,
                              .begin_steps = 4,
                              .begin_seconds = 5,
                              .best_val_metric = 0.5,
                              .best_epoch = 6,
                              .parts = 7,
                              .batch_size = 8,
                              .n_unreadable = 9,
                              .unreadable = unreadable,
                              .whole_steps = 10 } };

  dyno_train_print_done (&metrics, 1, 11, &end);
  end.done.state = DYNO_SESSION_STOPPED;
  end.done.is_idle = TRUE;
  end.done.unreadable = none;
  end.done.whole_steps = 0;
  end.done.out_dir = (char *) "runs/a";
  end.done.test =
      (DynoTestResult){ .n_samples = 20, .loss = 21, .metrics = { 22, 23, (double) NAN } };
  end.done.n_ranks = 1;
  end.done.ranks = &report;
  dyno_train_print_done (&metrics, -1, (double) NAN, &end);
  end.done.state = DYNO_SESSION_FAILED;
  end.done.test.n_samples = end.done.n_ranks = 0;
  dyno_train_print_done (&metrics, 0, 1, &end);
  dyno_out_flush ();
}

/* The end of a run: without what it does not have, and with it. */
static void
test_end (void)
{
  run (
      print_ends,
      "*{\"event\": \"done\", \"seconds\": 1, \"steps\": 3, \"steps_before\": 4, "
      "\"seconds_before\": 5, \"steps_of_epochs\": 10, \"samples_per_s\": 11, \"nothing_left\": "
      "false, \"best_val_top5\": 0.5, \"best_epoch\": 6, \"out\": null, \"state\": \"finished\", "
      "\"micro_batches\": 7, \"unreadable\": 9, \"unreadable_samples\": [\"a: torn\", \"b: "
      "empty\"]}\n"
      "{\"event\": \"done\", \"seconds\": 1, \"steps\": 3, \"steps_before\": 4, "
      "\"seconds_before\": 5, \"steps_of_epochs\": null, \"samples_per_s\": null, "
      "\"nothing_left\": true, \"best_val_accuracy\": 0.5, \"best_epoch\": 6, \"test_samples\": "
      "20, "
      "\"test_loss\": 21, \"test_accuracy\": 22, \"test_top5\": 23, \"test_f1_macro\": null, "
      "\"out\": \"runs/a\", \"state\": \"stopped\", \"micro_batches\": 7, \"unreadable\": 9, "
      "\"unreadable_samples\": [], \"ranks\": [{\"rank\": 0, \"host\": \"a\", \"device\": \"one\", "
      "\"samples_per_s\": 1, \"own_ms\": 2, \"wait_exchange_ms\": 3, \"wait_data_ms\": 4, "
      "\"device_ms\": 5}]}\n"
      "{\"event\": \"done\", *\"best_val_accuracy\": 0.5, \"best_epoch\": 6, \"out\": \"runs/a\", "
      "\"state\": \"failed\", \"micro_batches\": 7, \"unreadable\": 9, \"unreadable_samples\": "
      "[]}\n");
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
  g_test_add_func ("/cli/train-json/events", test_events);
  g_test_add_func ("/cli/train-json/end", test_end);
  return g_test_run ();
}
