/* SPDX-License-Identifier: MIT */
/* The rows and axes of a search for the best validation. */
#include "accuracyview.h"
#include "preset.h"
#include <math.h>
#include <string.h>

typedef struct {
  DynoDataset *dataset;
  DynoJob *job;
  DynoParamSpace space;
  DynoAccuracyResult *result;
} World;

static void
world_init (World *w)
{
  g_autoptr (GError) error = NULL;

  w->dataset = dyno_dataset_open ("builtin:waves?length=16&samples=60&classes=3", NULL, NULL, NULL,
                                  NULL, &error);
  g_assert_no_error (error);
  w->job = dyno_job_new ();
  g_free (w->job->model);
  w->job->model = g_strdup ("mlp");
  w->job->settings.epochs = 9;
  w->job->settings.lr = 0.05;
  dyno_param_space_init (&w->space, w->job, dyno_dataset_get_info (w->dataset));
  w->result = g_new0 (DynoAccuracyResult, 1);
  w->result->metric = dyno_cross_entropy_metrics[0];
  w->result->trials = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyTrial));
  w->result->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  w->result->running = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  w->result->n_rungs = dyno_halving_list_rungs (9, w->result->rungs);
  g_assert_cmpuint (w->result->n_rungs, ==, 3); /* rungs of 1, 3 and 9 epochs */
}

static void
world_clear (World *w)
{
  dyno_accuracy_result_free (w->result);
  dyno_job_unref (w->job);
  dyno_dataset_unref (w->dataset);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

/* Adds a trial that has completed this many rungs, with the value in each; NaN: it failed in the
 * last one. */
static void
add_trial (World *w, guint n_done, double value, double lr)
{
  DynoAccuracyTrial trial = { .settings = w->job->settings, .halving.n_done = n_done };

  trial.settings.lr = lr;
  trial.outcome = isnan (value) ? DYNO_TRIAL_DIVERGED : DYNO_TRIAL_OK;
  trial.halving.failed = isnan (value);
  for (guint i = 0; i < n_done; i++)
    {
      trial.values[i] = value;
      trial.halving.losses[i] = -value;
    }
  g_array_append_val (w->result->trials, trial);
}

static void
add_trials (World *w)
{
  add_trial (w, 3, 0.5, 0.05);
  add_trial (w, 1, 0.4, 0.5);
  add_trial (w, 1, (double) NAN, 5);
  add_trial (w, 3, 0.7, 0.1);
  add_trial (w, 1, 0.6, 0.2);
  add_trial (w, 1, 0.3, 0.01);
}

static const DynoAccuracyRow *
get_row (const GArray *rows, guint i)
{
  return &g_array_index (rows, DynoAccuracyRow, i);
}

static void
assert_states (const GArray *rows, const DynoAccuracyState *states, guint n)
{
  g_assert_cmpuint (rows->len, ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpint (get_row (rows, i)->state, ==, states[i]);
}

static void
test_states_follow_the_search (void)
{
  g_auto (World) w = { 0 };
  DynoAccuracyRun run = { .trial = 6, .epochs = 1 };
  g_autoptr (GArray) searching = NULL, in_final = NULL, over = NULL;

  world_init (&w);
  add_trials (&w);
  run.settings = w.job->settings;
  g_ptr_array_add (w.result->running, dyno_accuracy_run_copy (&run));
  searching = dyno_accuracy_list_rows (w.result);
  /* Six trials reached the first rung, of which the best two go on. */
  assert_states (
      searching,
      (const DynoAccuracyState[]){ DYNO_ACCURACY_STATE_WHOLE, DYNO_ACCURACY_STATE_HALVED,
                                   DYNO_ACCURACY_STATE_DIVERGED, DYNO_ACCURACY_STATE_WHOLE,
                                   DYNO_ACCURACY_STATE_PROMISING, DYNO_ACCURACY_STATE_HALVED,
                                   DYNO_ACCURACY_STATE_RUNNING },
      7);
  g_assert_cmpuint (get_row (searching, 0)->epochs, ==, 9);
  g_assert_cmpuint (get_row (searching, 1)->epochs, ==, 1);
  g_assert_cmpuint (get_row (searching, 6)->epochs, ==, 0);
  g_assert_cmpfloat (get_row (searching, 3)->goodness, ==, 1);
  g_assert_cmpfloat (get_row (searching, 5)->goodness, ==, 0);
  g_assert_cmpfloat (get_row (searching, 0)->goodness, ==, 0.5);
  g_assert_true (isnan (get_row (searching, 2)->goodness));
  g_assert_true (isnan (get_row (searching, 6)->goodness));

  w.result->n_contenders = 1;
  w.result->contenders[0].trial = 3;
  run.trial = 0;
  run.final = TRUE;
  g_ptr_array_set_size (w.result->running, 0);
  g_ptr_array_add (w.result->running, dyno_accuracy_run_copy (&run));
  in_final = dyno_accuracy_list_rows (w.result);
  g_assert_cmpint (get_row (in_final, 0)->state, ==, DYNO_ACCURACY_STATE_RUNNING);
  g_assert_cmpint (get_row (in_final, 3)->state, ==, DYNO_ACCURACY_STATE_FINALIST);
  g_assert_cmpint (get_row (in_final, 4)->state, ==, DYNO_ACCURACY_STATE_PROMISING);

  g_ptr_array_set_size (w.result->running, 0);
  g_ptr_array_add (w.result->runs, dyno_accuracy_run_copy (&run));
  w.result->best = 3;
  w.result->text = g_strdup ("proven");
  over = dyno_accuracy_list_rows (w.result);
  g_assert_cmpint (get_row (over, 0)->state, ==, DYNO_ACCURACY_STATE_FINALIST);
  g_assert_cmpint (get_row (over, 3)->state, ==, DYNO_ACCURACY_STATE_CHOSEN);
}

static guint
find_axis (const World *w, const char *key)
{
  for (guint i = 0; i < w->space.n; i++)
    if (strcmp (w->space.params[i].key, key) == 0)
      return i;
  g_assert_not_reached ();
}

/* Each rank has one row, also where rows are equal or have no value. */
static void
test_ranks_of_equal_rows (void)
{
  static const double goodness[] = { 0.5, NAN, 1, 0.5, NAN, 0 };
  static const guint ranks[] = { 1, 4, 0, 2, 5, 3 };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyRow));

  for (guint i = 0; i < G_N_ELEMENTS (goodness); i++)
    {
      DynoAccuracyRow row = { .trial = i, .goodness = goodness[i] };

      g_array_append_val (rows, row);
    }
  for (guint i = 0; i < G_N_ELEMENTS (goodness); i++)
    {
      g_assert_cmpuint (dyno_accuracy_get_rank (rows, i), ==, ranks[i]);
      g_assert_cmpint (dyno_accuracy_find_rank (rows, ranks[i]), ==, (int) i);
    }
  g_assert_cmpint (dyno_accuracy_find_rank (rows, rows->len), ==, -1);
}

static double
place (const World *w, const DynoAccuracyAxis *axes, const GArray *rows, guint row, guint axis)
{
  double places[DYNO_PARAMS_MOST + 1];

  dyno_accuracy_place_row (axes, &w->space, &w->result->metric, get_row (rows, row), places);
  return places[axis];
}

static void
test_axes_have_their_scales (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (GArray) rows = NULL;
  DynoAccuracyAxis axes[DYNO_PARAMS_MOST + 1];
  guint lr, momentum, optimizer, decay;
  DynoAccuracyTrial *trials;

  world_init (&w);
  add_trials (&w);
  trials = &g_array_index (w.result->trials, DynoAccuracyTrial, 0);
  trials[1].settings.optimizer = DYNO_OPTIMIZER_ADAMW; /* it has no momentum */
  trials[3].settings.momentum = 0.99;
  trials[4].settings.weight_decay = 0;
  rows = dyno_accuracy_list_rows (w.result);
  dyno_accuracy_fill_axes (axes, &w.space, &w.result->metric, rows);
  lr = find_axis (&w, "lr");
  momentum = find_axis (&w, "momentum");
  optimizer = find_axis (&w, "optimizer");
  decay = find_axis (&w, "weight_decay");

  /* The axis is logarithmic from 0.01 to 5. */
  g_assert_cmpfloat (place (&w, axes, rows, 5, lr), ==, 0);
  g_assert_cmpfloat (place (&w, axes, rows, 2, lr), ==, 1);
  g_assert_cmpfloat_with_epsilon (place (&w, axes, rows, 3, lr), log (10) / log (500), 1e-9);
  g_assert_false (axes[lr].has_none);
  g_assert_cmpstr (axes[lr].ticks[0].label, ==, "0.01");

  /* The axis is logarithmic in the distance below 1; higher momentum is placed higher. */
  g_assert_true (axes[momentum].has_none);
  g_assert_true (isnan (place (&w, axes, rows, 1, momentum)));
  g_assert_cmpfloat (place (&w, axes, rows, 3, momentum), ==, 1);
  g_assert_cmpfloat_with_epsilon (place (&w, axes, rows, 0, momentum), log (5) / log (50), 1e-9);

  /* A choice has a tick for each value, the first one at the bottom. */
  g_assert_cmpuint (axes[optimizer].n_ticks, ==, axes[optimizer].param->n_choices);
  g_assert_cmpstr (axes[optimizer].ticks[0].label, ==, "sgd");
  g_assert_cmpfloat (place (&w, axes, rows, 0, optimizer), ==, 0);
  g_assert_cmpfloat (place (&w, axes, rows, 1, optimizer), ==, 0.5);

  /* 0 has a place on a logarithmic axis, below all other values. */
  g_assert_cmpfloat (place (&w, axes, rows, 4, decay), ==, 0);
  g_assert_cmpfloat (place (&w, axes, rows, 0, decay), >, 0.12);
  g_assert_cmpstr (axes[decay].ticks[0].label, ==, "0");

  /* The last axis is the value, in percent. */
  g_assert_null (axes[w.space.n].param);
  g_assert_true (axes[w.space.n].has_none);
  g_assert_true (isnan (place (&w, axes, rows, 2, w.space.n)));
  g_assert_cmpfloat (place (&w, axes, rows, 3, w.space.n), ==, 1);
  g_assert_cmpfloat (place (&w, axes, rows, 5, w.space.n), ==, 0);
  g_assert_cmpstr (axes[w.space.n].ticks[0].label, ==, "30");
}

/* A lower value is better and is placed higher; the axes are complete for one trial, and for no
 * ended trial. */
static void
test_axes_of_few_trials (void)
{
  g_auto (World) w = { 0 };
  DynoAccuracyRun run = { .trial = 0, .epochs = 1 };
  DynoAccuracyAxis axes[DYNO_PARAMS_MOST + 1];
  g_autoptr (GArray) first = NULL, rows = NULL;

  world_init (&w);
  w.result->metric = (DynoMetricInfo){ .name = "loss", .format = DYNO_METRIC_NUMBER };
  run.settings = w.job->settings;
  g_ptr_array_add (w.result->running, dyno_accuracy_run_copy (&run));
  first = dyno_accuracy_list_rows (w.result);
  dyno_accuracy_fill_axes (axes, &w.space, &w.result->metric, first);
  for (guint i = 0; i < w.space.n; i++)
    {
      double at = place (&w, axes, first, 0, i);

      g_assert_true (isnan (at) || (at >= 0 && at <= 1));
      g_assert_cmpuint (axes[i].n_ticks, >, 0);
    }
  g_assert_true (isnan (place (&w, axes, first, 0, w.space.n)));
  g_ptr_array_set_size (w.result->running, 0);
  add_trial (&w, 1, 2, 0.05);
  add_trial (&w, 1, 4, 0.05);
  add_trial (&w, 1, 4, 0.05);
  rows = dyno_accuracy_list_rows (w.result);
  dyno_accuracy_fill_axes (axes, &w.space, &w.result->metric, rows);
  g_assert_cmpfloat (place (&w, axes, rows, 0, w.space.n), ==, 1);
  g_assert_cmpfloat (place (&w, axes, rows, 1, w.space.n), ==, 0);
  g_assert_cmpfloat (get_row (rows, 0)->goodness, ==, 1);
  g_assert_cmpfloat (get_row (rows, 1)->goodness, ==, 0.25); /* another trial is equal */
}

static void
test_words (void)
{
  g_auto (World) w = { 0 };
  guint momentum;
  g_autofree char *lr = NULL, *none = NULL, *optimizer = NULL;
  DynoSettings settings;

  world_init (&w);
  settings = w.job->settings;
  settings.optimizer = DYNO_OPTIMIZER_ADAMW;
  settings.lr = 0.00123;
  momentum = find_axis (&w, "momentum");
  lr = dyno_accuracy_describe_param (&w.space, find_axis (&w, "lr"), &settings);
  none = dyno_accuracy_describe_param (&w.space, momentum, &settings);
  optimizer = dyno_accuracy_describe_param (&w.space, find_axis (&w, "optimizer"), &settings);
  g_assert_cmpstr (lr, ==, "0.00123");
  g_assert_cmpstr (none, ==, "");
  g_assert_cmpstr (optimizer, ==, "adamw");
  g_assert_cmpstr (dyno_accuracy_get_title (&w.space.params[momentum]), ==, "Momentum");
}

static void
test_important_first (void)
{
  g_auto (World) w = { 0 };
  guint params[DYNO_PARAMS_MOST];

  world_init (&w);
  for (guint i = 0; i < DYNO_PARAMS_MOST; i++)
    w.result->importance[i] = (double) NAN;
  w.result->importance[1] = 0.2;
  w.result->importance[2] = 0.04;
  w.result->importance[4] = 0.6;
  w.result->importance[5] = 0.05;
  g_assert_cmpuint (dyno_accuracy_result_list_important (w.result, params), ==, 3);
  g_assert_cmpuint (params[0], ==, 4);
  g_assert_cmpuint (params[1], ==, 1);
  g_assert_cmpuint (params[2], ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/accuracyview/states-follow-the-search", test_states_follow_the_search);
  g_test_add_func ("/tune/accuracyview/axes-have-their-scales", test_axes_have_their_scales);
  g_test_add_func ("/tune/accuracyview/ranks-of-equal-rows", test_ranks_of_equal_rows);
  g_test_add_func ("/tune/accuracyview/axes-of-few-trials", test_axes_of_few_trials);
  g_test_add_func ("/tune/accuracyview/words", test_words);
  g_test_add_func ("/tune/accuracyview/important-first", test_important_first);
  return g_test_run ();
}
