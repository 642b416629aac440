/* SPDX-License-Identifier: MIT */
/* The search for the best validation with simulated trials: a value for each combination of
 * settings, number of epochs and seed, and a clock that the trials advance. */
#include "accuracyfile.h"
#include "accuracyverdict.h"
#include "file.h"
#include "preset.h"
#include "rng.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define START_S 2.0
#define EPOCH_S 10.0

static DynoDataset *dataset;

typedef struct {
  DynoJob *job;
  DynoParamSpace space;
  DynoMetricInfo metric;
  double clock, start_s, epoch_s, best_lr, noise;
  /* Trials diverge from this learning rate on, in terms of SGD; 0: none does. */
  double diverges_from;
  gboolean ends_at_divergence; /* such a trial takes only the time of its start */
  double own_bonus;            /* added for the job's own settings */
  guint fails_at;   /* this run, counted from 1, ends the search with an error; 0: none */
  guint cancels_at; /* this run, counted from 1, cancels the search; 0: none */
  /* Runs fail, not because of their values, except for each trial whose number is divisible by this;
   * 0: none fails.  The job's own settings, trial 0, never fail. */
  guint works_each;
  double drift; /* the best rate of fewer epochs is lower by this power of their share */
  /* The runner's most runs at once, of which so many train as fast as alone, and so many have
   * memory; 0: 1 and 1, and all. */
  guint most_at_once, parallel, memory_for;
  DynoTrialOutcome lacks; /* the outcome of a run without memory; 0: out of memory */
  guint never_fits;       /* this trial has no memory even alone; 0: none */
  guint n_begun;
  GPtrArray *begun, *ended; /* DynoAccuracyRun, copied, as the watch was told */
  GCancellable *cancellable;
} World;

static void
world_init (World *w, gint64 epochs)
{
  *w = (World){ .best_lr = 0.2, .noise = 0.002, .start_s = START_S, .epoch_s = EPOCH_S };
  w->job = dyno_job_new ();
  g_free (w->job->data);
  w->job->data = g_strdup ("builtin:waves?length=16&samples=60&classes=3");
  g_free (w->job->model);
  w->job->model = g_strdup ("mlp");
  w->job->settings.epochs = epochs;
  w->job->settings.lr = 0.02;
  dyno_param_space_init (&w->space, w->job, dyno_dataset_get_info (dataset));
  w->metric = dyno_cross_entropy_metrics[0];
  w->begun = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  w->ended = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  w->cancellable = g_cancellable_new ();
}

static void
world_clear (World *w)
{
  dyno_job_unref (w->job);
  g_clear_pointer (&w->begun, g_ptr_array_unref);
  g_clear_pointer (&w->ended, g_ptr_array_unref);
  g_clear_object (&w->cancellable);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (World, world_clear)

/* The learning rate in terms of SGD. */
static double
get_rate (const DynoSettings *s)
{
  return s->lr * dyno_optimizer_get_info (DYNO_OPTIMIZER_SGD)->usual_lr
         / dyno_optimizer_get_info ((DynoOptimizer) s->optimizer)->usual_lr;
}

/* 0..1, which rises with the nearness of the learning rate to the best, and with the epochs. */
static double
measure (const World *w, const DynoAccuracyRun *run)
{
  DynoRng rng = dyno_rng_init (run->seed * 1000 + run->trial, run->epochs);
  double share = (double) run->epochs / (double) w->space.own.epochs;
  double away = log (get_rate (&run->settings) / (w->best_lr * pow (share, w->drift)));

  return 0.9 - 0.02 * away * away - 0.2 / (double) (1 + run->epochs)
         + (run->trial == 0 ? w->own_bonus : 0) + w->noise * dyno_rng_normal (&rng);
}

static gboolean
train_one (World *w, DynoAccuracyRun *run, gboolean has_memory, GCancellable *cancellable,
           GError **error)
{
  double epochs_s = w->epoch_s * (double) (run->epochs - run->from_epochs);

  w->n_begun++;
  if (w->n_begun == w->cancels_at)
    g_cancellable_cancel (cancellable);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (w->n_begun == w->fails_at)
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT, "full");
      return FALSE;
    }
  run->train_seconds = epochs_s;
  run->outcome = w->diverges_from > 0 && get_rate (&run->settings) >= w->diverges_from
                     ? DYNO_TRIAL_DIVERGED
                 : w->works_each > 0 && run->trial % w->works_each > 0 ? DYNO_TRIAL_FAILED
                 : has_memory                                          ? DYNO_TRIAL_OK
                 : w->lacks                                            ? w->lacks
                                                                       : DYNO_TRIAL_OUT_OF_MEMORY;
  if (!has_memory)
    run->text = g_strdup ("no memory");
  run->value = measure (w, run);
  if (!w->metric.higher_is_better)
    run->value = 1 - run->value;
  run->has_ended = TRUE;
  return TRUE;
}

static gboolean
train (DynoAccuracyRun *const *runs, guint n, gpointer data, GCancellable *cancellable,
       GError **error)
{
  World *w = data;
  double seconds = 0;

  g_assert_cmpuint (n, <=, MAX (w->most_at_once, 1));
  for (guint i = 0; i < n; i++)
    {
      gboolean has_memory = (w->memory_for == 0 || i < w->memory_for)
                            && (w->never_fits == 0 || runs[i]->trial != w->never_fits);

      if (!train_one (w, runs[i], has_memory, cancellable, error))
        return FALSE;
      seconds += w->start_s;
      if (!w->ends_at_divergence || runs[i]->outcome == DYNO_TRIAL_OK)
        seconds += w->epoch_s * (double) (runs[i]->epochs - runs[i]->from_epochs);
    }
  w->clock += seconds / MIN (n, MAX (w->parallel, 1));
  return TRUE;
}

static double
get_time (gpointer data)
{
  return ((World *) data)->clock;
}

static void
on_begin (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data)
{
  World *w = data;

  g_ptr_array_add (w->begun, dyno_accuracy_run_copy (run));
}

static gboolean
on_end (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data, GError **error)
{
  World *w = data;

  g_ptr_array_add (w->ended, dyno_accuracy_run_copy (run));
  return TRUE;
}

static DynoAccuracyResult *
search_with (World *w, DynoAccuracyParams params, GError **error)
{
  const DynoAccuracyRunner runner = { train, get_time, w, w->most_at_once };
  const DynoAccuracyWatch watch = { on_begin, on_end, w };

  return dyno_accuracy_search (&w->space, &w->metric, &params, &runner, &watch, w->cancellable,
                               error);
}

static DynoAccuracyResult *
search (World *w, DynoAccuracyParams params)
{
  g_autoptr (GError) error = NULL;
  DynoAccuracyResult *result = search_with (w, params, &error);

  g_assert_no_error (error);
  return result;
}

static const DynoAccuracyTrial *
get_trial (const DynoAccuracyResult *r, guint i)
{
  return &g_array_index (r->trials, DynoAccuracyTrial, i);
}

/* --------------------------------------------------------------------------------------------- */

static void
test_finds_and_proves (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;
  double rate, lr = 0, others = 0;

  world_init (&w, 9);
  r = search (&w, (DynoAccuracyParams){ .seconds = 6000 });
  rate = get_rate (&get_trial (r, r->best)->settings);
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_PROVEN);
  g_assert_true (rate > 0.1 && rate < 0.4);
  g_assert_cmpuint (r->contenders[0].gain.n, ==, DYNO_ACCURACY_MOST_SEEDS);
  g_assert_true (strstr (r->text, "proven on 10 seeds"));
  /* the job's own rate is a tenth of the best one: its value is 0.106 less */
  g_assert_cmpfloat (r->contenders[0].gain.mean, >, 0.08);
  g_assert_cmpfloat (r->contenders[0].gain.mean, <, 0.12);
  g_assert_cmpfloat (w.clock, <=, 6000);
  /* Only the learning rate has an effect, and no other parameter exceeds its importance. */
  for (guint i = 0; i < w.space.n; i++)
    if (strcmp (w.space.params[i].key, "lr") == 0)
      lr = r->importance[i];
    else
      others = MAX (others, r->importance[i]);
  g_assert_cmpfloat (lr, >, 0.3);
  g_assert_cmpfloat (lr, >, others);
}

/* All promoted trials are good; without the other trials the estimator would search for settings
 * that differ from good ones.  Over ten seeds, most trials after the 20th are within a factor of 6
 * of the best learning rate, in a range of 900. */
static void
test_late_trials_are_good (void)
{
  guint near = 0, n = 0;

  for (guint seed = 0; seed < 10; seed++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;

      world_init (&w, 9);
      w.job->settings.seed = w.space.own.seed = seed;
      w.best_lr = 0.05;
      r = search (&w, (DynoAccuracyParams){ .seconds = 1e6, .most_trials = 50, .most_seeds = 1 });
      for (guint i = 20; i < r->trials->len; i++, n++)
        near += fabs (log (get_rate (&get_trial (r, i)->settings) / w.best_lr)) < log (6);
    }
  g_test_message ("%u of %u", near, n);
  g_assert_cmpuint (near, >, n * 9 / 10);
}

/* Where few epochs learn best with a fifth of the rate that is best for all of them, the best third
 * of the first rung has no good trial.  Those that go on whatever their value find the rate. */
static void
test_early_values_may_mislead (void)
{
  static const char *const only[] = { "lr=0.001..3", NULL };
  guint near = 0;

  for (guint seed = 0; seed < 20; seed++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;
      double found;

      world_init (&w, 3);
      w.job->settings.seed = w.space.own.seed = seed;
      w.drift = 1.5;
      g_assert_true (
          dyno_param_space_choose (&w.space, w.job, dyno_dataset_get_info (dataset), only, NULL));
      r = search (&w, (DynoAccuracyParams){ .seconds = 1e6, .most_trials = 40, .most_seeds = 3 });
      found = get_rate (&get_trial (r, r->best)->settings);
      g_test_message ("seed %u: %g", seed, found);
      near += MAX (found / w.best_lr, w.best_lr / found) <= 1.5;
    }
  g_assert_cmpuint (near, >=, 15); /* 0 without them */
}

/* The job's own settings come first and go through all rungs; the other trials have the job's seed,
 * and the final has other seeds. */
static void
test_order (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;
  gboolean final = FALSE;
  guint64 seed = 0;

  world_init (&w, 9);
  w.job->settings.seed = w.space.own.seed = 40;
  r = search (&w, (DynoAccuracyParams){ .seconds = 1e6, .most_trials = 12, .most_seeds = 3 });
  g_assert_cmpuint (r->trials->len, ==, 12);
  for (guint i = 0; i < w.ended->len; i++)
    {
      const DynoAccuracyRun *run = w.ended->pdata[i];

      g_assert_true (run->final >= final); /* no search run after the final */
      final = run->final;
      if (i < 3)
        {
          g_assert_cmpuint (run->trial, ==, 0);
          g_assert_true (dyno_settings_equal (&run->settings, &w.space.own));
        }
      g_assert_cmpuint (run->epochs, ==,
                        run->final              ? 9
                        : run->from_epochs == 0 ? 1
                                                : 3 * run->from_epochs);
      g_assert_cmpint (run->settings.epochs, ==, 9); /* the schedule spans all 9 epochs */
      if (!run->final)
        g_assert_cmpuint (run->seed, ==, 40);
      else
        g_assert_true (run->from_epochs == 0 && run->seed >= 41 && run->seed <= 43
                       && run->seed >= seed);
      seed = run->final ? run->seed : 0;
    }
  g_assert_true (final);
  g_assert_cmpuint (r->contenders[0].gain.n, ==, 3);
}

static void
test_lower_is_better (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;
  double rate;

  world_init (&w, 9);
  w.metric = (DynoMetricInfo){ .name = "loss", .format = DYNO_METRIC_NUMBER };
  r = search (&w, (DynoAccuracyParams){ .seconds = 6000 });
  rate = get_rate (&get_trial (r, r->best)->settings);
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_PROVEN);
  g_assert_cmpfloat (r->contenders[0].gain.mean, >, 0.08);
  g_assert_true (rate > 0.1 && rate < 0.4);
}

/* A trial is better than the job's own settings only by chance. */
static void
test_keeps_the_own (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;

  world_init (&w, 9);
  w.own_bonus = 1;
  r = search (&w, (DynoAccuracyParams){ .seconds = 3000 });
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_KEEP);
  g_assert_cmpuint (r->best, ==, 0);
  g_assert_cmpuint (r->n_contenders, ==, 0);
  g_assert_true (g_str_has_prefix (r->text, "Your settings stay"));
}

/* All trials with more epochs are better than the job's own settings with one epoch, but none with
 * equal epochs, so there is no final. */
static void
test_compares_equal_epochs (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;

  world_init (&w, 9);
  w.noise = 0;
  w.best_lr = 0.02;
  r = search (&w, (DynoAccuracyParams){ .seconds = 1e6, .most_trials = 30, .most_seeds = 1 });
  g_assert_cmpuint (r->n_contenders, ==, 0);
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_KEEP);
}

/* All trials are equal but for noise: 40 searches give hardly any proof. */
static void
test_noise_is_no_proof (void)
{
  guint proven = 0, others = 0;

  for (guint seed = 0; seed < 40; seed++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;

      world_init (&w, 3);
      w.job->settings.seed = w.space.own.seed = 100 * seed;
      w.noise = 1000; /* the effect of the learning rate is negligible */
      r = search (&w, (DynoAccuracyParams){ .seconds = 1e6, .most_trials = 10, .most_seeds = 4 });
      proven += r->verdict == DYNO_ACCURACY_PROVEN;
      others += r->n_contenders > 0;
      g_assert_true (r->verdict != DYNO_ACCURACY_NOT_PROVEN
                     || g_str_has_prefix (r->text, "Not proven"));
    }
  g_assert_cmpuint (others, >, 30);
  g_assert_cmpuint (proven, <=, 4);
}

/* The last run ends within the time; the final has the time for all of its runs, or half of all the
 * time, and the trials use the rest: with 3, 6 and 30 runs in the final. */
static void
check_budget (guint most_seeds)
{
  for (double seconds = 250; seconds < 8000; seconds += 370)
    {
      double run_s = START_S + 9 * EPOCH_S * 1.1,
             kept = MIN (seconds / 2, 3 * (most_seeds ? most_seeds : 10) * run_s);
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;
      double clock = 0, began = 0;

      world_init (&w, 9);
      r = search (&w, (DynoAccuracyParams){ .seconds = seconds, .most_seeds = most_seeds });
      g_assert_cmpfloat (w.clock, <=, seconds);
      for (guint i = 0; i < w.ended->len; i++)
        {
          const DynoAccuracyRun *run = w.ended->pdata[i];

          if (run->final && began == 0)
            began = clock;
          clock += run->seconds;
          if (!run->final && run->trial > 0)
            g_assert_cmpfloat (clock, <=, seconds - kept + 1e-6);
        }
      /* At most the run that would have come next was too long. */
      if (began > 0)
        g_assert_cmpfloat (began, >, seconds - kept - run_s);
      /* The final uses as many seeds as there is time for. */
      if (began > 0 && r->n_contenders > 0
          && r->contenders[0].gain.n < (most_seeds ? most_seeds : DYNO_ACCURACY_MOST_SEEDS))
        g_assert_cmpfloat (seconds - clock, <, 3 * run_s + 1);
    }
}

static void
test_budget (void)
{
  check_budget (0);
  check_budget (1);
  check_budget (2);
}

static void
test_too_short (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (GError) error = NULL;

  world_init (&w, 27);
  g_assert_null (search_with (&w, (DynoAccuracyParams){ .seconds = 60 }, &error));
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING);
  g_assert_cmpuint (w.ended->len, ==, 1);
}

/* Diverging trials are results: they are never promoted, and the search goes on. */
static void
test_divergence (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;
  guint failed = 0;

  world_init (&w, 9);
  w.best_lr = 10;
  w.diverges_from = 0.05;
  r = search (&w, (DynoAccuracyParams){ .seconds = 1e6, .most_trials = 30, .most_seeds = 2 });
  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoAccuracyTrial *t = get_trial (r, i);

      failed += t->halving.failed;
      if (get_rate (&t->settings) >= 0.05)
        g_assert_true (t->halving.n_done == 1 && t->outcome == DYNO_TRIAL_DIVERGED);
    }
  g_assert_cmpuint (failed, >, 2);
  g_assert_cmpfloat (get_rate (&get_trial (r, r->best)->settings), <, 0.05);
}

/* The job's own settings diverge: others are tried, and one of them is chosen. */
static void
test_own_diverges (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;

  world_init (&w, 9);
  w.diverges_from = 0.02;
  w.best_lr = 0.001;
  r = search (&w, (DynoAccuracyParams){ .seconds = 1e6, .most_trials = 12, .most_seeds = 2 });
  g_assert_cmpuint (get_trial (r, 0)->halving.n_done, ==, 1);
  g_assert_cmpuint (r->best, >, 0);
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_NO_FINAL);
  g_assert_true (strstr (r->text, "your settings do not train to the end"));
  for (guint i = 0; i < r->runs->len; i++) /* no comparison is possible */
    g_assert_false (((const DynoAccuracyRun *) r->runs->pdata[i])->final);
}

/* Where a start takes more than twice the time of a rung, trials begin with a later one. */
static void
test_slow_start (void)
{
  const struct {
    double start_s;
    guint n_rungs; /* of 1, 3, 9 and 27 epochs of a second each */
    guint most_trials;
  } cases[] = { { 1.9, 4, 0 }, { 2.1, 3, 0 },  { 5.9, 3, 0 }, { 6.1, 2, 0 },
                { 17, 2, 0 },  { 1000, 1, 0 }, { 17, 4, 9 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;

      world_init (&w, 27);
      w.start_s = cases[i].start_s;
      w.epoch_s = 1;
      r = search (&w, (DynoAccuracyParams){ .seconds = 60 * (cases[i].start_s + 27),
                                            .most_trials = cases[i].most_trials });
      g_assert_cmpuint (r->n_rungs, ==, cases[i].n_rungs);
      g_assert_cmpuint (r->rungs[r->n_rungs - 1], ==, 27);
      g_assert_cmpuint (g_array_index (r->trials, DynoAccuracyTrial, 0).halving.n_done, ==,
                        r->n_rungs);
      g_assert_cmpuint (r->trials->len, >, 5);
      for (guint k = 0; k < w.ended->len; k++)
        {
          const DynoAccuracyRun *run = w.ended->pdata[k];

          if (k < 4)
            g_assert_true (run->trial == 0 && !run->final);
          else if (!run->final && run->from_epochs == 0)
            g_assert_cmpuint (run->epochs, ==, r->rungs[0]);
          if (k == 3)
            g_assert_cmpfloat (
                g_array_index (r->trials, DynoAccuracyTrial, 0).values[r->n_rungs - 1], ==,
                run->value);
        }
      g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_PROVEN);
    }
}

/* A resumed search goes on in the rungs of its file, whatever a start takes now; from the runs of
 * the job's own settings alone it decides as the search before would have. */
static void
test_slow_start_is_resumed (void)
{
  const double starts[] = { 1, 17 };

  for (guint i = 0; i < 2; i++)
    for (guint n_known = 4; n_known < 8; n_known++)
      {
        g_auto (World) first = { 0 }, w = { 0 };
        g_autoptr (DynoAccuracyResult) expected = NULL, r = NULL;
        g_autoptr (GPtrArray) known = g_ptr_array_new ();
        const DynoAccuracyRun *next;

        world_init (&first, 27);
        first.start_s = starts[i];
        first.epoch_s = 1;
        expected = search (&first, (DynoAccuracyParams){ .seconds = 2000 });
        for (guint k = 0; k < n_known; k++)
          g_ptr_array_add (known, expected->runs->pdata[k]);
        world_init (&w, 27);
        w.start_s = starts[1 - i];
        w.epoch_s = 1;
        r = search (&w, (DynoAccuracyParams){ .seconds = 2000, .known = known });
        g_assert_cmpuint (r->n_known, ==, n_known);
        g_assert_cmpuint (r->n_rungs, ==, i == 0 ? 4 : 2);
        next = w.ended->pdata[0];
        g_assert_cmpuint (next->epochs, ==,
                          ((DynoAccuracyRun *) expected->runs->pdata[n_known])->epochs);
      }
}

/* An unreadable disk makes all trials fail at once. */
static void
test_failures_end_the_trials (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;

  world_init (&w, 9);
  w.works_each = G_MAXUINT;
  r = search (&w, (DynoAccuracyParams){ .seconds = 1e9 });
  g_assert_cmpuint (r->trials->len, ==, 4);
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_KEEP);
}

/* Two of three trials fail, each time before one that works. */
static void
test_failures_now_and_then (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;

  world_init (&w, 9);
  w.works_each = 3;
  r = search (&w, (DynoAccuracyParams){ .seconds = 1e9, .most_trials = 12 });
  g_assert_cmpuint (r->trials->len, ==, 12);
}

/* A proof is not measured again, and no other contender is omitted for lack of time. */
static void
test_proof_stays (void)
{
  const DynoAccuracyParams params = { .seconds = 1e6, .most_trials = 30, .most_seeds = 6 };
  g_auto (World) whole = { 0 }, w = { 0 };
  g_autoptr (DynoAccuracyResult) expected = NULL, r = NULL;

  world_init (&whole, 9);
  expected = search (&whole, params);
  g_assert_cmpint (expected->verdict, ==, DYNO_ACCURACY_PROVEN);
  world_init (&w, 9);
  r = search (&w, (DynoAccuracyParams){
                      .seconds = 1, .most_trials = 30, .most_seeds = 6, .known = expected->runs });
  g_assert_cmpuint (w.ended->len, ==, 0);
  g_assert_cmpuint (r->n_contenders, ==, DYNO_ACCURACY_CONTENDERS);
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_PROVEN);
  g_assert_cmpfloat (r->contenders[0].gain.half, ==, expected->contenders[0].gain.half);
  g_assert_true (r->known_proven && !expected->known_proven);
  /* The search is stopped in a further trial: the previous proof no longer counts. */
  w.cancels_at = w.n_begun + 1;
  g_clear_pointer (&r, dyno_accuracy_result_free);
  r = search (&w,
              (DynoAccuracyParams){
                  .seconds = 1e6, .most_trials = 31, .most_seeds = 6, .known = expected->runs });
  g_assert_true (r->stopped && r->known_proven && r->verdict != DYNO_ACCURACY_PROVEN);
  g_assert_true (strstr (r->text, "since the search was stopped"));
}

/* A final could be stopped when it looks good, so a stopped final proves nothing. */
static void
test_stopped_proves_nothing (void)
{
  const DynoAccuracyParams params = { .seconds = 1e6, .most_trials = 30, .most_seeds = 6 };
  g_auto (World) whole = { 0 }, w = { 0 };
  g_autoptr (DynoAccuracyResult) expected = NULL, r = NULL;

  world_init (&whole, 9);
  expected = search (&whole, params);
  g_assert_cmpint (expected->verdict, ==, DYNO_ACCURACY_PROVEN);
  world_init (&w, 9);
  w.cancels_at = whole.ended->len; /* the last run */
  r = search (&w, params);
  g_assert_true (r->stopped);
  g_assert_cmpuint (r->best, ==, expected->best);
  g_assert_cmpfloat (r->contenders[0].gain.low, >, 0);
  g_assert_cmpint (r->verdict, ==, DYNO_ACCURACY_NOT_PROVEN);
  g_assert_true (g_str_has_prefix (r->text, "Not proven"));
}

/* Contenders with equal results in the final keep the order of the search. */
static void
test_tie_goes_to_the_first (void)
{
  DynoAccuracyResult r = { .n_contenders = 2, .metric = dyno_cross_entropy_metrics[0] };

  for (guint i = 0; i < DYNO_ACCURACY_MOST_SEEDS; i++)
    {
      double noise = 0.01 * (i % 2);

      r.own.values[i] = 0.5;
      r.contenders[0].values[i] = r.contenders[1].values[i] = 0.7 + noise;
    }
  r.contenders[0].trial = 7;
  r.contenders[1].trial = 3;
  dyno_accuracy_judge (&r);
  g_assert_cmpint (r.verdict, ==, DYNO_ACCURACY_PROVEN);
  g_assert_cmpfloat (r.contenders[0].gain.mean, ==, r.contenders[1].gain.mean);
  g_assert_cmpuint (r.best, ==, 7);
  g_free (r.text);
  r.contenders[1].values[0] += 0.01;
  dyno_accuracy_judge (&r);
  g_assert_cmpuint (r.best, ==, 3);
  g_free (r.text);
}

static void
test_error_ends (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (GError) error = NULL;

  world_init (&w, 9);
  w.fails_at = 6;
  g_assert_null (search_with (&w, (DynoAccuracyParams){ .seconds = 6000 }, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT);
  g_assert_cmpuint (w.ended->len, ==, 5);
}

static void
assert_same_runs (const GPtrArray *a, const GPtrArray *b)
{
  g_assert_cmpuint (a->len, ==, b->len);
  for (guint i = 0; i < a->len; i++)
    {
      const DynoAccuracyRun *x = a->pdata[i], *y = b->pdata[i];

      g_assert_true (x->trial == y->trial && x->final == y->final && x->seed == y->seed
                     && x->epochs == y->epochs && x->from_epochs == y->from_epochs
                     && x->outcome == y->outcome);
      g_assert_true (x->value == y->value || (isnan (x->value) && isnan (y->value)));
      g_assert_true (dyno_settings_equal (&x->settings, &y->settings));
    }
}

/* The number of runs of the search, not of the final, that were trained with so many at once. */
static guint
count_at_once (const DynoAccuracyResult *r, guint at_once)
{
  guint n = 0;

  for (guint i = 0; i < r->runs->len; i++)
    {
      const DynoAccuracyRun *run = r->runs->pdata[i];

      n += !run->final && run->at_once == at_once;
    }
  return n;
}

/* The number of trials that were trained through all rungs. */
static guint
count_whole (const DynoAccuracyResult *r)
{
  guint n = 0;

  for (guint i = 0; i < r->trials->len; i++)
    n += g_array_index (r->trials, DynoAccuracyTrial, i).halving.n_done == r->n_rungs;
  return n;
}

/* Four at once are as fast as one: eight are tried twice and are no gain. */
static void
test_several_at_once_where_it_pays (void)
{
  const DynoAccuracyParams params = { .seconds = 3000, .most_seeds = 2 };
  g_auto (World) one = { 0 }, w = { 0 };
  g_autoptr (DynoAccuracyResult) alone = NULL, r = NULL;

  world_init (&one, 9);
  alone = search (&one, params);
  g_assert_cmpuint (count_at_once (alone, 1) + 6, ==, alone->runs->len);
  world_init (&w, 9);
  w.most_at_once = 8;
  w.parallel = 4;
  r = search (&w, params);
  g_assert_cmpuint (r->trials->len, >, 2 * alone->trials->len);
  g_assert_cmpuint (count_at_once (r, 2), ==, 2 * 2);
  g_assert_cmpuint (count_at_once (r, 8), ==, 2 * 8);
  g_assert_cmpuint (count_at_once (r, 4), >, r->runs->len / 2);
  /* The best third is promoted, and of these the best third to the last rung. */
  g_assert_cmpuint (count_whole (r) + 1, >=, r->trials->len / 9);
  g_assert_cmpfloat (w.clock, <=, params.seconds);
  g_assert_cmpuint (r->running->len, ==, 0);
}

/* One after the other is as fast as two at once, which is found out by two groups. */
static void
test_one_at_a_time_where_several_do_not_pay (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;

  world_init (&w, 9);
  w.most_at_once = 8;
  r = search (&w, (DynoAccuracyParams){ .seconds = 3000 });
  g_assert_cmpuint (count_at_once (r, 2), ==, 2 * 2);
  g_assert_cmpuint (count_at_once (r, 1) + 4, >, r->trials->len);
  g_assert_cmpuint (count_at_once (r, 4) + count_at_once (r, 8), ==, 0);
}

/* Trials that diverge end at once, so that a group with one of them is faster than two that train,
 * and is no measure. */
static void
test_diverged_runs_are_no_gain (void)
{
  for (gint64 seed = 1; seed <= 8; seed++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;

      world_init (&w, 9);
      w.space.own.seed = seed;
      w.most_at_once = 8;
      w.diverges_from = 0.05;
      w.ends_at_divergence = TRUE;
      w.start_s = 0.1;
      r = search (&w, (DynoAccuracyParams){ .seconds = 3000 });
      g_assert_cmpuint (count_at_once (r, 2), >, 0);
      g_assert_cmpuint (count_at_once (r, 4) + count_at_once (r, 8), ==, 0);
    }
}

/* With a number of trials no clock decides; those at once have different settings and one rung, and
 * the same search makes the same trials. */
static void
test_a_number_at_once (void)
{
  const DynoAccuracyParams params = {
    .seconds = 1e9, .most_trials = 23, .most_seeds = 2, .at_once = 3
  };
  g_auto (World) one = { 0 }, w = { 0 };
  g_autoptr (DynoAccuracyResult) alone = NULL, r = NULL, again = NULL;

  world_init (&one, 27);
  one.most_at_once = 8;
  one.parallel = 8;
  alone = search (&one, (DynoAccuracyParams){ .seconds = 1e9, .most_trials = 23 });
  g_assert_cmpuint (count_at_once (alone, 1), >=, 23);
  g_assert_cmpuint (count_at_once (alone, 2), ==, 0);
  world_init (&w, 27);
  w.most_at_once = 8;
  r = search (&w, params);
  g_assert_cmpuint (r->trials->len, ==, 23);
  g_assert_cmpuint (count_at_once (r, 3), >=, 21);
  for (guint i = 0; i + 1 < r->runs->len; i++)
    {
      const DynoAccuracyRun *run = r->runs->pdata[i], *next = r->runs->pdata[i + 1];

      if (!run->final && run->trial > 0 && next->trial > run->trial && !next->final)
        g_assert_false (dyno_settings_equal (&run->settings, &next->settings));
    }
  again = search (&w, params);
  assert_same_runs (again->runs, r->runs);
}

/* The watch is told of each run twice, when its group begins and when it has ended, in the order of
 * the runs; it may leave either out, and there may be none. */
static void
test_watch (void)
{
  DynoAccuracyParams params = { .seconds = 1e9, .most_trials = 7, .most_seeds = 2, .at_once = 3 };
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) r = NULL;

  world_init (&w, 9);
  w.most_at_once = 3;
  r = search (&w, params);
  g_assert_cmpuint (w.begun->len, ==, r->runs->len);
  assert_same_runs (w.ended, r->runs);
  for (guint i = 0; i < w.begun->len; i++)
    {
      const DynoAccuracyRun *begun = w.begun->pdata[i], *ended = w.ended->pdata[i];

      g_assert_false (begun->has_ended);
      g_assert_cmpuint (begun->at_once, ==, ended->at_once);
      g_assert_cmpuint (begun->trial, ==, ended->trial);
      g_assert_cmpuint (begun->epochs, ==, ended->epochs);
    }
  for (guint i = 0; i < 3; i++)
    {
      const DynoAccuracyRunner runner = { train, get_time, &w, w.most_at_once };
      const DynoAccuracyWatch watch = { i == 1 ? on_begin : NULL, NULL, &w };
      g_autoptr (DynoAccuracyResult) other = NULL;

      g_ptr_array_set_size (w.begun, 0);
      other = dyno_accuracy_search (&w.space, &w.metric, &params, &runner, i < 2 ? &watch : NULL,
                                    w.cancellable, NULL);
      assert_same_runs (other->runs, r->runs);
      g_assert_cmpuint (w.begun->len, ==, i == 1 ? r->runs->len : 0);
    }
}

/* Of four at once only two have memory, by the plan or by the driver: the others are trained alone,
 * and then two at once. */
static void
test_runs_without_memory_are_trained_alone (void)
{
  static const DynoTrialOutcome lacks[] = { DYNO_TRIAL_OUT_OF_MEMORY, DYNO_TRIAL_DOES_NOT_FIT };

  for (guint k = 0; k < G_N_ELEMENTS (lacks); k++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;

      world_init (&w, 9);
      w.most_at_once = 8;
      w.memory_for = 2;
      w.lacks = lacks[k];
      r = search (&w, (DynoAccuracyParams){
                          .seconds = 1e9, .most_trials = 13, .most_seeds = 2, .at_once = 4 });
      g_assert_cmpuint (r->trials->len, ==, 13);
      for (guint i = 0; i < r->runs->len; i++)
        {
          const DynoAccuracyRun *run = r->runs->pdata[i];

          g_assert_cmpint (run->outcome, ==, DYNO_TRIAL_OK);
          g_assert_null (run->text);
        }
      g_assert_cmpuint (count_at_once (r, 4), ==, 2);
      g_assert_cmpuint (count_at_once (r, 2), >, 4);
    }
}

/* Where two at once have no memory either, the search goes on with one; a trial that does not even
 * fit alone is a result, with its reason. */
static void
test_memory_for_one (void)
{
  static const guint never_fits[] = { 1, 3 }; /* the first of the first group, and a later one */

  for (guint k = 0; k < G_N_ELEMENTS (never_fits); k++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;
      guint n_refused = 0;

      world_init (&w, 9);
      w.most_at_once = 8;
      w.memory_for = 1;
      w.never_fits = never_fits[k];
      w.lacks = DYNO_TRIAL_DOES_NOT_FIT;
      r = search (&w, (DynoAccuracyParams){
                          .seconds = 1e9, .most_trials = 13, .most_seeds = 2, .at_once = 4 });
      g_assert_cmpuint (r->trials->len, ==, 13);
      for (guint i = 0; i < r->runs->len; i++)
        {
          const DynoAccuracyRun *run = r->runs->pdata[i];
          gboolean refused = run->trial == w.never_fits;

          n_refused += refused;
          g_assert_cmpint (run->outcome, ==, refused ? DYNO_TRIAL_DOES_NOT_FIT : DYNO_TRIAL_OK);
          g_assert_cmpstr (run->text, ==, refused ? "no memory" : NULL);
        }
      g_assert_cmpuint (n_refused, ==, 1);
      g_assert_cmpuint (count_at_once (r, 4), ==, k); /* else it is trained alone too */
      g_assert_cmpuint (count_at_once (r, 2), ==, 1);
    }
}

/* A search is stopped in the third of three runs at once, of which the second found no memory, or
 * while that one, or the third, is trained alone: only the runs before are results. */
static void
test_a_stop_beside_a_lack_of_memory (void)
{
  for (guint k = 0; k < 3; k++)
    {
      g_auto (World) w = { 0 };
      g_autoptr (DynoAccuracyResult) r = NULL;

      world_init (&w, 9);
      w.most_at_once = 3;
      w.memory_for = 1;
      w.cancels_at = 3 + 3 + k; /* the job's own settings have three rungs */
      r = search (&w, (DynoAccuracyParams){ .seconds = 1e9, .most_trials = 13, .at_once = 3 });
      g_assert_true (r->stopped);
      g_assert_cmpuint (r->runs->len, ==, 3 + (k < 2 ? 1 : 2));
      g_assert_cmpuint (r->trials->len, ==, k < 2 ? 2 : 3);
      for (guint i = 0; i < r->runs->len; i++)
        g_assert_cmpint (((DynoAccuracyRun *) r->runs->pdata[i])->outcome, ==, DYNO_TRIAL_OK);
    }
}

/* A search is stopped in the third of four runs at once: the first two are kept, and the search that
 * is resumed has no trial twice. */
static void
test_a_stop_amid_several_at_once (void)
{
  DynoAccuracyParams params = { .seconds = 1e9, .most_trials = 13, .most_seeds = 2, .at_once = 4 };
  g_auto (World) w = { 0 };
  g_autoptr (DynoAccuracyResult) stopped = NULL, r = NULL;
  guint n_own;

  world_init (&w, 9);
  w.most_at_once = 4;
  w.cancels_at = 3 + 3; /* the job's own settings have three rungs */
  stopped = search (&w, params);
  g_assert_true (stopped->stopped);
  n_own = 3;
  g_assert_cmpuint (stopped->runs->len, ==, n_own + 2);
  g_assert_cmpuint (w.ended->len, ==, n_own + 2);
  g_assert_cmpuint (stopped->running->len, ==, 0);
  g_cancellable_reset (w.cancellable);
  w.cancels_at = 0;
  params.known = stopped->runs;
  r = search (&w, params);
  g_assert_cmpuint (r->n_known, ==, n_own + 2);
  g_assert_cmpuint (r->trials->len, ==, 13);
  g_assert_cmpuint (w.ended->len, ==, r->runs->len);
}

/* A search that is stopped after any number of runs and resumed from its file has the same runs as
 * an uninterrupted one. */
static void
test_resume (void)
{
  const DynoAccuracyParams params = { .seconds = 1e6, .most_trials = 14, .most_seeds = 2 };
  g_autofree char *folder = g_dir_make_tmp ("dyno-accuracy-XXXXXX", NULL),
                  *path = g_build_filename (folder, DYNO_ACCURACY_FILE, NULL);
  g_auto (World) whole = { 0 };
  g_autoptr (DynoAccuracyResult) expected = NULL;

  world_init (&whole, 9);
  whole.diverges_from = 0.3;
  expected = search (&whole, params);
  for (guint stop = 1; stop <= whole.ended->len; stop += stop < 6 ? 1 : 5)
    {
      g_auto (World) first = { 0 }, second = { 0 };
      g_autoptr (DynoAccuracyResult) stopped = NULL, resumed = NULL;
      g_autoptr (DynoAccuracyRecord) record = NULL;
      g_autoptr (DynoAccuracyFile) file = NULL;
      g_autoptr (GError) error = NULL;
      DynoAccuracyParams go_on = params;

      world_init (&first, 9);
      first.diverges_from = 0.3;
      first.cancels_at = stop;
      stopped = search (&first, params);
      g_assert_true (stopped->stopped);
      g_assert_cmpint (stopped->verdict, !=, DYNO_ACCURACY_PROVEN);
      g_assert_cmpuint (first.ended->len, ==, stop - 1);
      file = dyno_accuracy_file_new (path, first.job, "accuracy", "card", NULL, FALSE);
      for (guint i = 0; i < first.ended->len; i++)
        g_assert_true (dyno_accuracy_file_add (file, first.ended->pdata[i], NULL));
      record = dyno_accuracy_file_read (path, &error);
      if (stop == 1)
        {
          g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
          continue;
        }
      g_assert_no_error (error);
      world_init (&second, 9);
      second.diverges_from = 0.3;
      g_assert_true (dyno_accuracy_record_check (record, second.job, "accuracy", path, &error));
      go_on.known = record->runs;
      resumed = search (&second, go_on);
      g_assert_cmpuint (resumed->n_known, ==, stop - 1);
      g_assert_cmpuint (second.ended->len, ==, whole.ended->len - (stop - 1));
      assert_same_runs (resumed->runs, expected->runs);
      g_assert_cmpuint (resumed->best, ==, expected->best);
      g_assert_cmpstr (resumed->text, ==, expected->text);
    }
  g_unlink (path);
  g_rmdir (folder);
}

/* --- the file --------------------------------------------------------------------------------- */

static void
test_file (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-accuracy-XXXXXX", NULL),
                  *path = g_build_filename (folder, DYNO_ACCURACY_FILE, NULL), *text = NULL;
  char *damaged;
  g_auto (World) w = { 0 };
  DynoAccuracyRun run = { .trial = 0,
                          .seed = 5,
                          .epochs = 1,
                          .outcome = DYNO_TRIAL_OK,
                          .value = 0.123456789,
                          .at_once = 1,
                          .seconds = 3,
                          .train_seconds = 2 };
  static const char *const over[] = { "lr=0.1..1", "optimizer=sgd|lion", NULL };
  g_autoptr (DynoAccuracyFile) file = NULL, again = NULL;
  g_autoptr (DynoAccuracyRecord) record = NULL, cut = NULL;
  g_autoptr (GError) error = NULL;
  DynoAccuracyRun *read;
  gsize size;

  world_init (&w, 9);
  run.settings = w.space.own;
  file = dyno_accuracy_file_new (path, w.job, "accuracy", "card", over, FALSE);
  g_assert_true (dyno_accuracy_file_add (file, &run, &error));
  run = (DynoAccuracyRun){ .trial = 1,
                           .final = TRUE,
                           .seed = 6,
                           .from_epochs = 1,
                           .epochs = 9,
                           .outcome = DYNO_TRIAL_DIVERGED,
                           .value = (double) NAN,
                           .at_once = 4,
                           .seconds = 1,
                           .text = (char *) "=a, \"b\"\nc",
                           .settings = run.settings };
  run.settings.lr = 0.7;
  g_assert_true (dyno_accuracy_file_add (file, &run, &error));
  record = dyno_accuracy_file_read (path, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (record->metric, ==, "accuracy");
  g_assert_true (g_strv_equal ((const char *const *) record->over, over));
  g_assert_cmpstr (record->job->data, ==, w.job->data);
  g_assert_true (dyno_settings_equal (&record->job->settings, &w.job->settings));
  g_assert_cmpuint (record->runs->len, ==, 2);
  read = record->runs->pdata[0];
  g_assert_true (read->value == 0.123456789 && read->seconds == 3 && read->train_seconds == 2);
  read = record->runs->pdata[1];
  g_assert_true (read->final && read->seed == 6 && read->from_epochs == 1 && read->epochs == 9);
  g_assert_cmpuint (read->at_once, ==, 4);
  g_assert_cmpstr (read->text, ==, "=a, \"b\"\nc");
  g_assert_cmpfloat (read->settings.lr, ==, 0.7);
  /* A killed process leaves an incomplete line, which the next one removes. */
  g_assert_true (g_file_get_contents (path, &text, &size, NULL));
  g_assert_true (g_file_set_contents (path, text, (gssize) size - 4, NULL));
  cut = dyno_accuracy_file_read (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (cut->runs->len, ==, 1);
  again = dyno_accuracy_file_new (path, w.job, "accuracy", "card", over, TRUE);
  g_assert_true (dyno_accuracy_file_add (again, &run, &error));
  g_clear_pointer (&cut, dyno_accuracy_record_free);
  cut = dyno_accuracy_file_read (path, &error);
  g_assert_cmpuint (cut->runs->len, ==, 2);
  /* A damaged line in the middle is an error. */
  damaged = strstr (text, "\n0,");
  g_assert_nonnull (damaged);
  damaged[1] = 'x';
  g_assert_true (g_file_set_contents (path, text, (gssize) size, NULL));
  g_assert_null (dyno_accuracy_file_read (path, &error));
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
  g_assert_nonnull (strstr (error->message, "run 1 cannot be read"));
  g_clear_error (&error);
  g_unlink (path);
  g_assert_cmpint (mkfifo (path, 0600), ==, 0); /* reading it would block for ever */
  g_assert_null (dyno_accuracy_file_read (path, &error));
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
  g_unlink (path);
  g_rmdir (folder);
}

static void
refuse_other (const DynoAccuracyRecord *record, const DynoJob *job, const char *metric,
              const char *names)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (dyno_accuracy_record_check (record, job, metric, "accuracy.csv", &error));
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
  g_assert_true (strstr (error->message, names));
}

/* Another data set, metric or setting makes another search; other workers do not. */
static void
test_other_job (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (DynoJob) job = NULL;
  DynoAccuracyRecord record;
  g_autoptr (GError) error = NULL;

  world_init (&w, 9);
  job = dyno_job_copy (w.job);
  record = (DynoAccuracyRecord){ .job = w.job, .metric = (char *) "accuracy" };
  job->settings.workers += 1;
  g_assert_true (dyno_accuracy_record_check (&record, job, "accuracy", "f", &error));
  refuse_other (&record, job, "loss", "its metric");
  job->settings.batch_size = 8;
  refuse_other (&record, job, "accuracy", "its batch_size");
  g_free (job->data);
  job->data = g_strdup ("elsewhere");
  refuse_other (&record, job, "accuracy", "its data");
}

/* Lines that no search has written are skipped, without effect. */
static void
test_foreign_runs (void)
{
  g_auto (World) w = { 0 };
  g_autoptr (GPtrArray) known =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  g_autoptr (DynoAccuracyResult) r = NULL;
  DynoAccuracyRun run = {
    .trial = 0, .epochs = 1, .outcome = DYNO_TRIAL_OK, .value = 0.5, .seconds = 1
  };

  world_init (&w, 9);
  run.settings = w.space.own;
  run.seed = (guint64) w.space.own.seed;
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run)); /* twice */
  run.epochs = 7;                                         /* not a rung */
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  run.epochs = 9; /* a lower rung is missing */
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  run.epochs = 3; /* a final that did not end */
  run.final = TRUE;
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  run.final = FALSE;
  run.seed = 77; /* not the seed of the search */
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  run.seed = (guint64) w.space.own.seed;
  run.settings.lr = 0.3; /* not the settings of its first rung */
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  run.settings = w.space.own;
  run.epochs = 1;
  run.trial = 5; /* earlier trials are missing */
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  run.final = TRUE;
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  r = search (&w, (DynoAccuracyParams){
                      .seconds = 1e6, .most_trials = 3, .most_seeds = 1, .known = known });
  g_assert_cmpuint (r->n_known, ==, 1);
  g_assert_cmpuint (r->trials->len, ==, 3);

  g_clear_pointer (&r, dyno_accuracy_result_free);
  g_ptr_array_set_size (known, 0);
  run.trial = 0;
  run.final = FALSE;
  run.epochs = 9; /* its first rungs are missing */
  g_ptr_array_add (known, dyno_accuracy_run_copy (&run));
  r = search (&w, (DynoAccuracyParams){
                      .seconds = 1e6, .most_trials = 2, .most_seeds = 1, .known = known });
  g_assert_cmpuint (r->n_known, ==, 0);
  g_assert_cmpuint (((const DynoAccuracyRun *) r->runs->pdata[0])->epochs, ==, 1);
}

/* --- before a search -------------------------------------------------------------------------- */

static void
test_check (void)
{
  g_auto (World) w = { 0 };
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autoptr (GError) error = NULL;
  DynoMetricInfo metric;
  DynoDatasetInfo one = *info;
  guint64 counts[] = { 60, 0, 0 };

  world_init (&w, 9);
  g_assert_true (dyno_accuracy_check (w.job, info, "accuracy", &metric, &error));
  g_assert_true (metric.higher_is_better);
  g_assert_true (dyno_accuracy_check (w.job, info, "loss", &metric, &error));
  g_assert_false (metric.higher_is_better);
  g_assert_cmpstr (metric.name, ==, "loss");
  g_assert_false (dyno_accuracy_check (w.job, info, "mean_abs_error", &metric, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_SETTING);
  g_assert_true (strstr (error->message, "there are loss, accuracy"));
  g_clear_error (&error);
  one.class_counts = counts;
  g_assert_false (dyno_accuracy_check (w.job, &one, "accuracy", &metric, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_clear_error (&error);
  w.job->settings.data_val_split = 0;
  g_assert_false (dyno_accuracy_check (w.job, info, "accuracy", &metric, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_assert_true (strstr (error->message, "data.val_split"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  dataset = dyno_dataset_open ("builtin:waves?length=16&samples=60&classes=3", NULL, NULL, NULL,
                               NULL, NULL);
  g_test_add_func ("/tune/accuracy/finds-the-best-and-proves-it", test_finds_and_proves);
  g_test_add_func ("/tune/accuracy/late-trials-are-near-the-best", test_late_trials_are_good);
  g_test_add_func ("/tune/accuracy/early-values-may-mislead", test_early_values_may_mislead);
  g_test_add_func ("/tune/accuracy/order-of-runs", test_order);
  g_test_add_func ("/tune/accuracy/lower-may-be-better", test_lower_is_better);
  g_test_add_func ("/tune/accuracy/keeps-the-own-where-nothing-is-better", test_keeps_the_own);
  g_test_add_func ("/tune/accuracy/compares-equal-epochs", test_compares_equal_epochs);
  g_test_add_func ("/tune/accuracy/noise-is-no-proof", test_noise_is_no_proof);
  g_test_add_func ("/tune/accuracy/stays-in-the-time", test_budget);
  g_test_add_func ("/tune/accuracy/time-too-short", test_too_short);
  g_test_add_func ("/tune/accuracy/divergence-is-a-result", test_divergence);
  g_test_add_func ("/tune/accuracy/own-settings-diverge", test_own_diverges);
  g_test_add_func ("/tune/accuracy/slow-start", test_slow_start);
  g_test_add_func ("/tune/accuracy/slow-start-is-resumed", test_slow_start_is_resumed);
  g_test_add_func ("/tune/accuracy/failures-end-the-trials", test_failures_end_the_trials);
  g_test_add_func ("/tune/accuracy/failures-now-and-then", test_failures_now_and_then);
  g_test_add_func ("/tune/accuracy/several-at-once-where-it-pays",
                   test_several_at_once_where_it_pays);
  g_test_add_func ("/tune/accuracy/one-at-a-time-where-several-do-not-pay",
                   test_one_at_a_time_where_several_do_not_pay);
  g_test_add_func ("/tune/accuracy/diverged-runs-are-no-gain", test_diverged_runs_are_no_gain);
  g_test_add_func ("/tune/accuracy/a-number-at-once", test_a_number_at_once);
  g_test_add_func ("/tune/accuracy/watch", test_watch);
  g_test_add_func ("/tune/accuracy/runs-without-memory-are-trained-alone",
                   test_runs_without_memory_are_trained_alone);
  g_test_add_func ("/tune/accuracy/memory-for-one", test_memory_for_one);
  g_test_add_func ("/tune/accuracy/a-stop-amid-several-at-once", test_a_stop_amid_several_at_once);
  g_test_add_func ("/tune/accuracy/a-stop-beside-a-lack-of-memory",
                   test_a_stop_beside_a_lack_of_memory);
  g_test_add_func ("/tune/accuracy/proof-stays", test_proof_stays);
  g_test_add_func ("/tune/accuracy/stopped-proves-nothing", test_stopped_proves_nothing);
  g_test_add_func ("/tune/accuracy/tie-goes-to-the-first", test_tie_goes_to_the_first);
  g_test_add_func ("/tune/accuracy/error-ends-it", test_error_ends);
  g_test_add_func ("/tune/accuracy/resumed-does-the-same", test_resume);
  g_test_add_func ("/tune/accuracy/file-reads-back", test_file);
  g_test_add_func ("/tune/accuracy/file-of-another-job", test_other_job);
  g_test_add_func ("/tune/accuracy/runs-that-do-not-belong", test_foreign_runs);
  g_test_add_func ("/tune/accuracy/checks-before-it-begins", test_check);
  return g_test_run ();
}
