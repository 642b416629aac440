/* SPDX-License-Identifier: MIT */
/* The search on simulated machines, whose whole grid is known: how near to its best it comes, in
 * which part of the grid's time, and what it says.  Seeds are fixed; the clock is the
 * simulation's. */
#include "simulation.h"
#include "curve.h"
#include "preset.h"
#include "space.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

#define GIB ((double) (1 << 30))

/* An H200 with 16 cores and ResNet-18, of which the others differ in what they name. */
#define USUAL                                                                                   \
  .cores = 16, .n_train = 36000, .n_validation = 4000, .decode_s = 1.0 / 900, .cached_s = 1e-5, \
  .crowding = 0.02, .sample_s = { 3e-4, 1e-4 }, .step_s = 1.5e-3, .optimizer_s = 3e-4,          \
  .overlap_cost = { 0.6, 0.04 }, .host_s = 1e-4, .end_s = 0.1, .base_bytes = 0.5 * GIB,         \
  .sample_bytes = 0.03 * GIB, .limit_bytes = 140 * GIB, .noise = 0.01, .prepare_s = 0.4

/* Each is the usual one but for what it names behind it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
static const DynoMachine machines[] = {
  { .name = "usual", USUAL },
  { .name = "loader-bound", USUAL, .no_cache = TRUE, .decode_s = 1.0 / 150 },
  { .name = "gpu-bound", USUAL, .sample_s = { 4e-3, 1.5e-3 }, .step_s = 8e-3 },
  { .name = "memory-bound",
    USUAL,
    .limit_bytes = 1.6 * GIB,
    .sample_bytes = 0.1 * GIB,
    .step_s = 6e-3,
    .again = 1.15 },
  { .name = "launch-bound",
    USUAL,
    .sample_s = { 2e-6, 1.5e-6 },
    .step_s = 4e-4,
    .optimizer_s = 1e-4,
    .decode_s = 1.0 / 60000,
    .cached_s = 1e-6,
    .host_s = 3e-4,
    .n_train = 54000,
    .n_validation = 6000,
    .sample_bytes = 1e-4 * GIB },
  { .name = "amp-slower", USUAL, .sample_s = { 2e-4, 5e-4 } },
  { .name = "cache-helps", USUAL, .disk = 700 },
  { .name = "crowded",
    USUAL,
    .no_cache = TRUE,
    .crowding = 0.5,
    .cores = 8,
    .decode_s = 1.0 / 1000 },
  { .name = "no-worker-best", USUAL, .overlap_cost = { 0, 0.6 }, .decode_s = 1e-5, .cores = 4 },
  { .name = "software",
    USUAL,
    .cores = 2,
    .no_fp16 = TRUE,
    .sample_s = { 0.02, 0.02 },
    .step_s = 0.02,
    .overlap_cost = { 1, 0.9 },
    .decode_s = 1.0 / 500,
    .n_train = 8000,
    .n_validation = 800,
    .prepare_s = 0.8 },
  { .name = "generated", USUAL, .generated = TRUE },
  { .name = "refused",
    USUAL,
    .limit_bytes = 24 * GIB,
    .refused_bytes = 4 * GIB,
    .sample_bytes = 0.05 * GIB,
    .step_s = 4e-3 },
  { .name = "device-lost", USUAL, .lost_at = 9 },
  { .name = "amp-fails", USUAL, .amp_fails = TRUE },
  { .name = "contended", USUAL, .no_cache = TRUE, .contention = 0.25, .decode_s = 1.0 / 800 },
  /* Each new network costs more than what is measured of it: a card's first day. */
  { .name = "cold",
    USUAL,
    .no_cache = TRUE,
    .decode_s = 1.0 / 500,
    .n_train = 3600,
    .n_validation = 400,
    .compile_s = 2.5,
    .tune_s = 5 },
  /* And a large batch is far better: ResNet-50 with AMP. */
  { .name = "cold-large-batch",
    USUAL,
    .decode_s = 1.0 / 480,
    .n_train = 3600,
    .n_validation = 400,
    .sample_s = { 7.6e-4, 1.6e-4 },
    .step_s = 4e-3,
    .compile_s = 5.5,
    .tune_s = 4,
    .fills = TRUE },
  { .name = "slow-disk",
    USUAL,
    .no_cache = TRUE,
    .waits = TRUE,
    .decode_s = 1.0 / 45,
    .disk = 1460,
    .n_train = 18000,
    .n_validation = 2000 },
  { .name = "cache-fills",
    USUAL,
    .fills = TRUE,
    .decode_s = 1.0 / 500,
    .n_train = 3600,
    .n_validation = 400,
    .compile_s = 1 },
  { .name = "busy",
    USUAL,
    .drift = 0.3,
    .drift_s = 70,
    .noise = 0.04,
    .outside_cpu = 0.35,
    .no_cache = TRUE,
    .decode_s = 1.0 / 300 },
};

/* A small set on a disk that a worker waits for. */
static const DynoMachine small_on_a_slow_disk = { .name = "slow-disk-small",
                                                  USUAL,
                                                  .waits = TRUE,
                                                  .fills = TRUE,
                                                  .decode_s = 1.0 / 49.6,
                                                  .disk = 3100,
                                                  .sample_s = { 8e-6, 5e-6 },
                                                  .ends = 9,
                                                  .step_s = 1e-4,
                                                  .optimizer_s = 5e-5,
                                                  .prepare_s = 0.8,
                                                  .compile_s = 1,
                                                  .n_train = 1800,
                                                  .n_validation = 200 };

/* Machines that are not the same from one measurement to the next. */
static const DynoMachine unsteady[] = {
  { .name = "noisy", USUAL, .noise = 0.08 },
  { .name = "busy-and-heats",
    USUAL,
    .drift = 0.3,
    .drift_s = 70,
    .noise = 0.08,
    .heat = 0.3,
    .heat_s = 60,
    .no_cache = TRUE,
    .decode_s = 1.0 / 300 },
  /* Its first measurements are its fastest. */
  { .name = "heats",
    USUAL,
    .heat = 0.35,
    .heat_s = 40,
    .noise = 0.03,
    .sample_s = { 4e-3, 1.5e-3 },
    .step_s = 8e-3 },
  { .name = "wanders", USUAL, .wander = 0.15, .wander_s = 60, .noise = 0.03 },
  { .name = "visited",
    USUAL,
    .visit = 0.6,
    .visit_s = 15,
    .noise = 0.03,
    .no_cache = TRUE,
    .decode_s = 1.0 / 300 },
  { .name = "visited-often",
    USUAL,
    .visit = 0.6,
    .visit_s = 3,
    .noise = 0.03,
    .no_cache = TRUE,
    .decode_s = 1.0 / 300 },
  /* A disk whose data the system keeps once they were read: what is measured later is faster. */
  { .name = "warms",
    USUAL,
    .read_s = 20e-3,
    .crowding = 0.001,
    .no_cache = TRUE,
    .again_first = TRUE,
    .noise = 0.03 },
  { .name = "stalls", USUAL, .stalls = 0.15, .noise = 0.05 },
};
#pragma GCC diagnostic pop

static const DynoMachine *
find_machine (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (machines); i++)
    if (strcmp (machines[i].name, name) == 0)
      return &machines[i];
  g_assert_not_reached ();
}

static gint64
now_us (gpointer user)
{
  return dyno_simulation_now_us (user);
}

typedef struct {
  double minutes;
  const DynoSettings *settings, *preset;
  const DynoTuneResult *known;
  void (*wait) (gpointer user);
  GCancellable *cancellable;
  void (*trial) (gpointer user, const DynoTrial *trial);
  DynoSimulation *sim; /* that is there already, with what it compiled; NULL: a new one */
  guint *n_late;       /* measurements that their deadline ended */
  double goal;         /* accuracy; 0: none */
} Wanted;

/* *error: may be NULL, for a search that must not fail. */
static DynoTuneResult *
search (const DynoMachine *m, guint32 seed, Wanted wanted, double *seconds, GError **error)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoSimulation *sim = wanted.sim ? wanted.sim : dyno_simulation_new (m, seed);
  DynoTuneResult *result;
  DynoLearningGoal goal = { "accuracy", wanted.goal, INFINITY, 0 };
  DynoSearchParams params = {
    .meter = &sim->meter,
    .minutes = wanted.minutes > 0 ? wanted.minutes : 2.5,
    .limit_bytes = (guint64) m->limit_bytes,
    .preset = wanted.preset,
    .preset_name = "RTX 3060",
    .known = wanted.known,
    .goal = wanted.goal > 0 ? &goal : NULL,
    .cancellable = wanted.cancellable,
    .hooks = { .now_us = now_us, .wait = wanted.wait, .trial = wanted.trial, .user = sim }
  };
  g_autoptr (GError) problem = NULL;

  if (wanted.settings)
    job->settings = *wanted.settings;
  else
    job->settings.workers = 4;
  params.job = job;
  result = dyno_tune_result_new (job);
  dyno_search_run (&params, result, &problem);
  if (!error)
    g_assert_no_error (problem);
  else
    *error = g_steal_pointer (&problem);
  if (seconds)
    *seconds = sim->clock_s;
  if (wanted.n_late)
    *wanted.n_late = sim->n_late;
  if (!wanted.sim)
    dyno_simulation_free (sim);
  return result;
}

static guint
count (const DynoTuneResult *r, DynoTrialOutcome outcome)
{
  guint n = 0;

  for (guint i = 0; i < r->trials->len; i++)
    n += ((const DynoTrial *) r->trials->pdata[i])->outcome == outcome;
  return n;
}

static gboolean
says (const DynoTuneResult *r, const char *words)
{
  g_autofree char *all = g_strjoinv ("\n", r->reasons);

  return strstr (all, words) != NULL;
}

static const DynoTrial *
trial_of (const DynoTuneResult *r, guint i)
{
  return r->trials->pdata[i];
}

/* --- against the grid ------------------------------------------------------------------------- */

static void
test_grid (gconstpointer data)
{
  const DynoMachine *m = data;
  DynoSettings settings;
  double grid_s, best;

  dyno_settings_init (&settings);
  best = dyno_machine_best (m, &settings, 3, &grid_s);
  for (guint seed = 1; seed <= 8; seed++)
    {
      double seconds, minutes = MIN (grid_s / 600, 3.5);
      g_autoptr (DynoTuneResult) r =
          search (m, seed, (Wanted){ .minutes = minutes }, &seconds, NULL);
      double rate = dyno_machine_rate (m, &r->best.settings);

      g_test_message ("seed %u: %.3f of the grid's best, in %.0f s; the grid takes %.0f", seed,
                      rate / best, seconds, grid_s);
      /* And half of what two measurements of the same differ by. */
      g_assert_cmpfloat (rate, >=, (m->drift > 0 ? 0.95 : 0.965) * best);
      g_assert_cmpfloat (seconds, <=, 0.1 * grid_s);
      g_assert_cmpfloat_with_epsilon (r->best.samples_per_s / rate, 1,
                                      m->drift > 0 ? m->drift : 0.05);
    }
}

/* Preparing takes most of a minute here: what is known of it by kind leaves time for the loader,
 * which needs none, and for the search. */
static void
test_first_minute (gconstpointer data)
{
  const DynoMachine *m = data;
  DynoSettings settings;
  double grid_s, best;

  dyno_settings_init (&settings);
  best = dyno_machine_best (m, &settings, 3, &grid_s);
  for (guint seed = 1; seed <= 8; seed++)
    {
      double seconds;
      g_autoptr (DynoTuneResult) r = search (m, seed, (Wanted){ .minutes = 1 }, &seconds, NULL);
      double rate = dyno_machine_rate (m, &r->best.settings);

      g_test_message ("seed %u: %.3f of the grid's best, in %.0f s", seed, rate / best, seconds);
      g_assert_cmpfloat (rate, >=, 0.95 * best);
      /* The data set ends the batch here, not the memory. */
      for (guint i = 0; i < r->ceilings->len; i++)
        g_assert_cmpint (((const DynoCeiling *) r->ceilings->pdata[i])->settings.accumulate, ==, 1);
      g_assert_cmpfloat (seconds, <=, 66);
      g_assert_true (r->proven);
    }
}

/* Less than half a minute is not enough for all that could be known, nor for a proof of all; what
 * the first looks promise a multiple of is found, however slow they are themselves. */
static void
test_first_half_minute (void)
{
  static const struct {
    gint64 workers;
    double minutes;
  } starts[] = { { 4, 0.4 }, { 2, 0.4 }, { 1, 0.4 }, { 0, 0.5 } };
  const DynoMachine *m = &small_on_a_slow_disk;
  DynoSettings settings;
  double grid_s, best;

  dyno_settings_init (&settings);
  best = dyno_machine_best (m, &settings, 3, &grid_s);
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    for (guint seed = 1; seed <= 8; seed++)
      {
        double seconds, rate;

        settings.workers = starts[i].workers;
        g_autoptr (DynoTuneResult) r =
            search (m, seed, (Wanted){ .minutes = starts[i].minutes, .settings = &settings },
                    &seconds, NULL);
        rate = dyno_machine_rate (m, &r->best.settings);
        g_test_message ("seed %u, %d workers: %.3f of the grid's best, %.1f of what is there, "
                        "in %.0f s",
                        seed, (int) starts[i].workers, rate / best,
                        rate / dyno_machine_rate (m, &r->job->settings), seconds);
        g_assert_cmpfloat (rate, >=, 0.8 * best);
        g_assert_cmpfloat (seconds, <=, 66 * starts[i].minutes);
      }
}

/* Also where another program slows the processor by up to a third, by turns. */
static void
test_never_worse (void)
{
  DynoMachine noisy = *find_machine ("usual");
  const DynoMachine *all[] = { &noisy, find_machine ("busy"), find_machine ("software") };

  noisy.noise = 0.08;
  for (guint k = 0; k < G_N_ELEMENTS (all); k++)
    for (guint seed = 1; seed <= 50; seed++)
      {
        g_autoptr (DynoTuneResult) r =
            search (all[k], seed, (Wanted){ .minutes = seed % 2 ? 1 : 2.5 }, NULL, NULL);
        double rate = dyno_machine_rate (all[k], &r->best.settings);

        g_assert_cmpfloat (rate, >=, 0.97 * dyno_machine_rate (all[k], &r->baseline.settings));
        g_assert_cmpfloat (rate, >=, 0.97 * dyno_machine_rate (all[k], &r->job->settings));
      }
}

/* The fastest of the larger steps: what somebody who knows the machine would have chosen. */
static DynoSettings
find_good (const DynoMachine *m)
{
  DynoSettings s, good;
  double most = 0;

  dyno_settings_init (&s);
  good = s;
  for (s.batch_size = 16; s.batch_size <= 512; s.batch_size *= 2)
    for (s.workers = 0; s.workers <= m->cores; s.workers = MAX (1, 2 * s.workers))
      if (dyno_machine_rate (m, &s) > 1.01 * most)
        {
          most = dyno_machine_rate (m, &s);
          good = s;
        }
  return good;
}

/* Whatever a machine does meanwhile, and also where nothing is to be had: what cannot be shown to be
 * faster does not replace what is there.  And what can be had is found all the same. */
static void
test_unsteady (gconstpointer data)
{
  const DynoMachine *m = data;
  DynoSettings settings, good = find_good (m);
  double grid_s, best, mean = 0;

  dyno_settings_init (&settings);
  best = dyno_machine_best (m, &settings, 3, &grid_s);
  for (guint seed = 1; seed <= 50; seed++)
    for (guint k = 0; k < 2; k++)
      {
        double minutes = seed % 2 ? 1 : 2.5;
        g_autoptr (DynoTuneResult) r = search (
            m, seed, (Wanted){ .minutes = minutes, .settings = k ? &good : NULL }, NULL, NULL);
        double rate = dyno_machine_rate (m, &r->best.settings),
               before = dyno_machine_rate (m, &r->job->settings);

        if (rate < 0.97 * before)
          g_test_message ("seed %u: %.3f of the present settings", seed, rate / before);
        g_assert_cmpfloat (rate, >=, 0.96 * before);
        g_assert_cmpfloat (rate, >=, 0.97 * dyno_machine_rate (m, &r->baseline.settings));
        g_assert_true (!r->keep_today
                       || dyno_settings_equal (&r->best.settings, &r->job->settings));
        g_assert_true (!r->inside_noise || !r->keep_today || says (r, "so they stay")
                       || says (r, "the fastest that were tried"));
        mean += k == 0 ? rate / best / 50 : 0;
      }
  g_test_message ("%.3f of the grid's best, on average", mean);
  g_assert_cmpfloat (mean, >=, m->visit > 0 ? 0.8 : 0.93);
}

/* The best that was found is what was asked for the second time: it stays. */
static void
test_keeps_present_settings (void)
{
  const DynoMachine *m = find_machine ("gpu-bound");
  g_autoptr (DynoTuneResult) first = search (m, 1, (Wanted){ 0 }, NULL, NULL);
  g_autoptr (DynoTuneResult) r =
      search (m, 2, (Wanted){ .settings = &first->best.settings }, NULL, NULL);

  g_assert_false (first->keep_today);
  g_assert_true (r->proven);
  g_assert_true (r->keep_today);
  g_assert_true (dyno_settings_equal (&r->best.settings, &first->best.settings));
  g_assert_true (says (r, "Your settings are already as fast"));
}

/* --- ceilings --------------------------------------------------------------------------------- */

static guint
count_ceilings (const DynoTuneResult *r, DynoCeilingOf of)
{
  guint n = 0;

  for (guint i = 0; i < r->ceilings->len; i++)
    n += ((const DynoCeiling *) r->ceilings->pdata[i])->of == of;
  return n;
}

/* Where the loader is far behind, the device's curve is of no interest; where it is far ahead, its
 * workers are not. */
static void
test_limit_alone_is_judged (void)
{
  DynoMachine slow = *find_machine ("loader-bound"), fast = *find_machine ("gpu-bound");

  slow.decode_s = 1.0 / 15;
  fast.decode_s = 1.0 / 5000;
  g_autoptr (DynoTuneResult) loader = search (&slow, 1, (Wanted){ 0 }, NULL, NULL);
  g_autoptr (DynoTuneResult) gpu = search (&fast, 1, (Wanted){ 0 }, NULL, NULL);

  g_assert_cmpuint (count_ceilings (loader, DYNO_CEILING_GPU), <=, 6);
  g_assert_cmpuint (count_ceilings (loader, DYNO_CEILING_LOADER), >=, 5);
  g_assert_cmpuint (count_ceilings (gpu, DYNO_CEILING_GPU), >=, 6);
  g_assert_cmpuint (count_ceilings (gpu, DYNO_CEILING_LOADER), <=, 4);
  g_assert_true (says (loader, "The data pipeline is the limit"));
  g_assert_true (says (gpu, "The GPU is the limit"));
}

/* The knee is looked for between the doubled batches too. */
static void
test_knee_is_refined (void)
{
  g_autoptr (DynoTuneResult) r = search (find_machine ("usual"), 1, (Wanted){ 0 }, NULL, NULL);
  guint between = 0;

  for (guint i = 0; i < r->ceilings->len; i++)
    {
      gint64 batch = ((const DynoCeiling *) r->ceilings->pdata[i])->settings.batch_size;
      between += (batch & (batch - 1)) != 0;
    }
  g_assert_cmpuint (between, >=, 1);
}

/* --- what goes wrong -------------------------------------------------------------------------- */

static void
test_what_cannot_fit_is_not_tried (void)
{
  const DynoMachine *m = find_machine ("memory-bound");
  g_autoptr (DynoTuneResult) r = search (m, 1, (Wanted){ 0 }, NULL, NULL);

  for (guint i = 0; i < r->ceilings->len; i++)
    g_assert_cmpfloat ((double) ((const DynoCeiling *) r->ceilings->pdata[i])->planned_bytes, <=,
                       m->limit_bytes);
  for (guint i = 0; i < r->trials->len; i++)
    if (strcmp (trial_of (r, i)->stage, "search") == 0)
      g_assert_cmpfloat ((double) trial_of (r, i)->planned_bytes, <=, 0.98 * m->limit_bytes);
  g_assert_cmpuint (r->margin_bytes, >=, (guint64) (0.02 * m->limit_bytes));
  g_assert_true (says (r, "of memory that it may take"));
}

/* A step of several batches is one update: fewer than 8 of an epoch hardly learn. */
static void
test_accumulated_batches_are_one_update (void)
{
  for (gint64 accumulate = 1; accumulate <= 16; accumulate *= 4)
    {
      DynoMachine m = *find_machine ("memory-bound");
      DynoSettings settings;

      m.n_train = 3000;
      m.optimizer_s = 0.05; /* each update costs as much as hundreds of samples */
      dyno_settings_init (&settings);
      settings.batch_size = 8;
      settings.workers = 4;
      settings.accumulate = accumulate;
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .settings = &settings }, NULL, NULL);

      g_test_message ("%d: %d of batch %d", (int) accumulate, (int) r->best.settings.accumulate,
                      (int) r->best.settings.batch_size);
      for (guint i = 0; i < r->trials->len; i++)
        {
          const DynoSettings *s = &trial_of (r, i)->settings;
          g_assert_cmpint (s->batch_size * s->accumulate * 8, <=, 3000);
        }
      for (guint i = 0; i < r->ceilings->len; i++)
        {
          const DynoCeiling *c = r->ceilings->pdata[i];
          g_assert_true (c->of == DYNO_CEILING_LOADER
                         || c->settings.batch_size * c->settings.accumulate * 8 <= 3000);
        }
      g_assert_cmpint (r->curve.points[r->curve.n - 1].batch_size * r->best.settings.accumulate * 8,
                       <=, 3000);
    }
}

static void
test_refusal_is_a_result (void)
{
  const DynoMachine *m = find_machine ("refused");
  g_autoptr (DynoTuneResult) r = search (m, 1, (Wanted){ 0 }, NULL, NULL);
  guint refused = count (r, DYNO_TRIAL_OUT_OF_MEMORY);

  for (guint i = 0; i < r->ceilings->len; i++)
    refused += ((const DynoCeiling *) r->ceilings->pdata[i])->outcome == DYNO_TRIAL_OUT_OF_MEMORY;
  g_assert_cmpuint (refused, >=, 1);
  g_assert_cmpuint (refused, <=, 3); /* what is larger than these is not tried */
  g_assert_true (r->proven);
  g_assert_cmpfloat ((double) r->best.vram_bytes, <, m->refused_bytes);
}

static void
test_failing_kernel_is_a_result (void)
{
  g_autoptr (DynoTuneResult) r = search (find_machine ("amp-fails"), 1, (Wanted){ 0 }, NULL, NULL);

  g_assert_true (r->proven);
  g_assert_false (r->best.settings.amp);
  g_assert_cmpuint (count (r, DYNO_TRIAL_FAILED), <=, 4);
}

static void
test_lost_device_is_a_result (void)
{
  DynoMachine m = *find_machine ("usual");

  m.noise = 0.005;
  for (m.lost_at = 1; m.lost_at < 30; m.lost_at++)
    {
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, NULL);
      guint failed = count (r, DYNO_TRIAL_FAILED);

      for (guint i = 0; i < r->ceilings->len; i++)
        failed += ((const DynoCeiling *) r->ceilings->pdata[i])->outcome == DYNO_TRIAL_FAILED;
      g_assert_cmpuint (failed, ==, 1);
      g_assert_cmpfloat (r->speedup, >, 1);
    }
}

/* AMP is three times as fast here, and its losses are no numbers. */
static void
test_amp_that_does_not_train_is_not_the_best (void)
{
  DynoMachine m = *find_machine ("gpu-bound");

  for (m.amp_diverges = 0; m.amp_diverges <= 1; m.amp_diverges++)
    {
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, NULL);

      g_assert_true (r->proven);
      g_assert_true (r->best.settings.amp == !m.amp_diverges);
      g_assert_nonnull (r->numerics);
      g_assert_true (says (r, r->numerics->text));
    }
}

/* A measurement that does not end takes the time that is left, and nothing of what was measured. */
static void
test_time_out_takes_nothing (void)
{
  DynoMachine m = *find_machine ("usual");

  for (m.stuck_at = 4; m.stuck_at < 36; m.stuck_at++)
    {
      double seconds;
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, &seconds, NULL);
      double before = 0;

      for (guint i = 0; i < r->trials->len; i++)
        before = MAX (before, trial_of (r, i)->samples_per_s);
      g_assert_cmpfloat (r->best.samples_per_s, >=, 0.95 * before);
      g_assert_cmpfloat (seconds, <=, 165);
      for (guint i = 0; i < r->ceilings->len; i++)
        g_assert_cmpint (((const DynoCeiling *) r->ceilings->pdata[i])->outcome, ==, DYNO_TRIAL_OK);
      for (guint i = 0; i < r->trials->len; i++)
        if (strcmp (trial_of (r, i)->stage, "proof") == 0)
          g_assert_cmpint (trial_of (r, i)->outcome, ==, DYNO_TRIAL_OK);
    }
}

static void
test_all_fails (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.all_fails = TRUE;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, &error);

  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING);
  g_assert_nonnull (strstr (error->message, "A kernel failed"));
  g_assert_false (dyno_tune_result_has_best (r));
  g_assert_cmpuint (r->trials->len + r->ceilings->len, <=, 12);
}

static void
test_nothing_fits (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.limit_bytes = 0.2 * GIB;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, &error);

  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_DOES_NOT_FIT);
  g_assert_cmpuint (r->ceilings->len, ==, 0);
}

static void
test_hopeless_is_dropped (void)
{
  guint dropped = 0;

  for (guint seed = 1; seed <= 20; seed++)
    {
      g_autoptr (DynoTuneResult) r =
          search (find_machine ("contended"), seed, (Wanted){ 0 }, NULL, NULL);

      dropped += count (r, DYNO_TRIAL_DROPPED);
      for (guint i = 0; i < r->trials->len; i++)
        if (trial_of (r, i)->outcome == DYNO_TRIAL_DROPPED)
          g_assert_cmpfloat (trial_of (r, i)->samples_per_s, <, 0.9 * r->best.samples_per_s);
    }
  g_assert_cmpuint (dropped, >=, 1);
}

/* --- time ------------------------------------------------------------------------------------- */

static void
test_keeps_its_time (void)
{
  static const double minutes[] = { 0.05, 0.2, 0.5, 1, 3, 10 };

  for (guint k = 0; k < G_N_ELEMENTS (machines); k++)
    for (guint i = 0; i < G_N_ELEMENTS (minutes); i++)
      {
        double seconds;
        g_autoptr (GError) error = NULL;
        g_autoptr (DynoTuneResult) r =
            search (&machines[k], 3, (Wanted){ .minutes = minutes[i] }, &seconds, &error);

        g_assert_true (error != NULL || r->best.samples_per_s > 0);
        g_assert_cmpfloat (seconds, <=, 66 * minutes[i]);
      }
}

static void
test_no_time_at_all (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoTuneResult) r =
      search (find_machine ("usual"), 1, (Wanted){ .minutes = 1e-4 }, NULL, &error);

  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING);
  g_assert_nonnull (strstr (error->message, "time was over"));
  g_assert_cmpuint (r->trials->len, ==, 1);
}

/* The present settings have all the time there is; what is left after them is used as far as it
 * goes. */
static void
test_preparation_takes_most (void)
{
  DynoMachine m = *find_machine ("usual");

  for (double share = 0.1; share < 0.97; share += 0.05)
    for (gboolean fp16 = 0; fp16 <= 1; fp16++)
      {
        guint late;
        double seconds;

        m.no_fp16 = !fp16;
        m.compile_s = share * 60;
        g_autoptr (DynoTuneResult) r =
            search (&m, 1, (Wanted){ .minutes = 1, .n_late = &late }, &seconds, NULL);

        g_test_message ("%.2f: %u late, %.0f s, %.0f samples/s", share, late, seconds,
                        r->best.samples_per_s);
        g_assert_cmpint (r->today.outcome, ==, DYNO_TRIAL_OK);
        g_assert_cmpfloat (r->best.samples_per_s, >=, 0.97 * r->today.samples_per_s);
        g_assert_cmpfloat (seconds, <=, 66);
        g_assert_cmpuint (late, <=, 1);
        g_assert_true (r->proven || says (r, "Not proven"));
        g_assert_cmpint (r->curve.smallest, ==, r->best.settings.batch_size);
        g_assert_false (says (r, "did not work"));
        /* Nothing is foretold of a device that was not measured. */
        for (guint i = 0; i < r->curve.n; i++)
          g_assert_true (r->curve.points[i].measured || !(r->curve.points[i].samples_per_s > 0)
                         || count_ceilings (r, DYNO_CEILING_GPU) > 0);
      }
}

/* The kernels of AMP take much longer to compile than those that were measured before: what did
 * not end is not begun once more for another batch. */
static void
test_preparation_grows (void)
{
  DynoMachine m = *find_machine ("usual");

  m.compile_s = 1;
  for (m.compile_amp_s = 10; m.compile_amp_s < 100; m.compile_amp_s += 10)
    {
      DynoSettings settings;
      guint late;
      double seconds;

      dyno_settings_init (&settings);
      settings.amp = FALSE;
      settings.workers = 4;
      g_autoptr (DynoTuneResult) r = search (
          &m, 1, (Wanted){ .minutes = 1, .settings = &settings, .n_late = &late }, &seconds, NULL);

      g_test_message ("%.0f s: %u late, %.0f s, %.0f samples/s", m.compile_amp_s, late, seconds,
                      r->best.samples_per_s);
      g_assert_cmpuint (late, <=, 1);
      g_assert_cmpfloat (seconds, <=, 66);
      g_assert_true (r->proven || r->batches_to > 0);
    }
}

/* Each network takes most of what is left to compile: settings that nothing was compared with but
 * the base line are no proven best. */
static void
test_no_time_for_batches (void)
{
  for (guint seed = 1; seed <= 4; seed++)
    {
      DynoSettings settings;

      dyno_settings_init (&settings);
      settings.amp = settings.cache = TRUE;
      settings.batch_size = 24;
      settings.workers = 8;
      g_autoptr (DynoTuneResult) r =
          search (find_machine ("cold-large-batch"), seed,
                  (Wanted){ .minutes = 0.4, .settings = &settings }, NULL, NULL);

      g_test_message ("batch %d, proven %d, batches to %d: %s", (int) r->best.settings.batch_size,
                      r->proven, (int) r->batches_to, r->reasons[0]);
      g_assert_true (r->keep_today);
      g_assert_false (r->proven);
      g_assert_true (says (r, "no time for batches above 24"));
    }
}

/* Not one step in the time: it says so, and what was compiled is there the next time. */
static void
test_preparation_takes_all (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;
  DynoSimulation *sim;

  m.compile_s = 80;
  sim = dyno_simulation_new (&m, 1);
  g_autoptr (DynoTuneResult) none =
      search (&m, 1, (Wanted){ .minutes = 1, .sim = sim }, NULL, &error);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING);
  g_assert_nonnull (strstr (error->message, "The time was over"));
  g_assert_cmpuint (none->trials->len, ==, 1);
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .minutes = 1, .sim = sim }, NULL, NULL);
  g_assert_cmpint (r->today.outcome, ==, DYNO_TRIAL_OK);
  dyno_simulation_free (sim);
}

/* Present settings that were compared with nothing are neither best nor proven. */
static void
test_alone_is_not_proven (void)
{
  DynoMachine m = *find_machine ("usual");

  m.compile_s = 25;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .minutes = 1 }, NULL, NULL);

  for (guint i = 0; i < r->trials->len; i++)
    g_assert_true (dyno_settings_equal (&((const DynoTrial *) r->trials->pdata[i])->settings,
                                        &r->job->settings));
  g_assert_cmpuint (r->trials->len, >=, 3); /* with those of a proof */
  g_assert_false (r->proven);
  g_assert_true (says (r, "nothing else was measured"));
  for (guint i = 0; i < r->trials->len; i++) /* the pipeline's ceiling is no prediction */
    g_assert_cmpfloat (((const DynoTrial *) r->trials->pdata[i])->predicted, <,
                       3 * ((const DynoTrial *) r->trials->pdata[i])->samples_per_s);
  g_assert_false (says (r, "already as fast"));
}

/* A device that ends its work at once and computes nothing counts no sample. */
static void
test_device_that_computes_nothing (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.computes_nothing = TRUE;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, &error);

  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_NOTHING);
  g_assert_nonnull (strstr (error->message, "counted no sample"));
  g_assert_false (dyno_tune_result_has_best (r));
}

static guint waits;

static void
pause_once (gpointer user)
{
  DynoSimulation *sim = user;

  if (++waits == 5)
    sim->clock_s += 1000;
}

static void
test_pause_does_not_count (void)
{
  double seconds;
  g_autoptr (DynoTuneResult) r =
      search (find_machine ("usual"), 1, (Wanted){ .wait = pause_once }, &seconds, NULL);

  g_assert_true (r->proven);
  g_assert_cmpfloat (seconds, >, 1000);
  g_assert_cmpfloat (seconds, <, 1150);
  g_assert_cmpfloat (r->seconds, <, 150);
}

static GCancellable *stopping;

static guint stop_at, n_planned;

static void
stop_at_trial (gpointer user, const DynoTrial *trial)
{
  if (trial->number != stop_at)
    return;
  n_planned = ((const DynoSimulation *) user)->n_planned;
  g_cancellable_cancel (stopping);
}

/* Wherever it is stopped, nothing is begun after, nor planned, which takes its time too. */
static void
test_stopped_tells_what_it_has (void)
{
  for (stop_at = 1; stop_at < 16; stop_at++)
    {
      DynoSimulation *sim = dyno_simulation_new (find_machine ("usual"), 1);

      stopping = g_cancellable_new ();
      g_autoptr (DynoTuneResult) r = search (
          find_machine ("usual"), 1,
          (Wanted){ .cancellable = stopping, .trial = stop_at_trial, .sim = sim }, NULL, NULL);

      g_assert_true (r->stopped);
      g_assert_cmpuint (sim->n_planned, ==, n_planned);
      dyno_simulation_free (sim);
      g_assert_cmpuint (r->trials->len, ==, stop_at);
      g_assert_true (dyno_tune_result_has_best (r));
      g_assert_true (r->proven || says (r, "Not proven"));
      g_assert_false (stop_at < 5 && r->proven);
      g_clear_object (&stopping);
    }
}

/* Before its first trial had ended, it says that, and not that none worked in the time. */
static void
test_stopped_at_once (void)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancelled);
  g_autoptr (DynoTuneResult) r =
      search (find_machine ("usual"), 1, (Wanted){ .cancellable = cancelled }, NULL, &error);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_STOPPED);
  g_assert_nonnull (strstr (error->message, "was stopped before its first trial"));
  g_assert_true (r->stopped);
  g_assert_cmpuint (r->trials->len + r->ceilings->len, ==, 0);
}

/* Nor does it say so once a trial had failed: the time was not over. */
static void
test_stopped_after_a_failure (void)
{
  DynoMachine m = *find_machine ("usual");
  g_autoptr (GError) error = NULL;

  m.computes_nothing = TRUE;
  stop_at = 1;
  DynoSimulation *sim = dyno_simulation_new (&m, 1);
  stopping = g_cancellable_new ();
  g_autoptr (DynoTuneResult) r = search (
      &m, 1, (Wanted){ .cancellable = stopping, .trial = stop_at_trial, .sim = sim }, NULL, &error);
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_STOPPED);
  g_assert_nonnull (strstr (error->message, "stopped before a trial had worked"));
  g_assert_nonnull (strstr (error->message, "counted no sample"));
  g_assert_cmpuint (r->trials->len, ==, 1);
  g_clear_object (&stopping);
  dyno_simulation_free (sim);
}

/* The base line of an earlier search stands, whose plans are not known any more. */
static void
test_stopped_keeps_the_base_line (void)
{
  const DynoMachine *m = find_machine ("memory-bound");
  g_autoptr (DynoTuneResult) first = search (m, 1, (Wanted){ .minutes = 0.5 }, NULL, NULL);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();

  g_cancellable_cancel (cancelled);
  g_autoptr (DynoTuneResult) r =
      search (m, 2, (Wanted){ .known = first, .cancellable = cancelled }, NULL, NULL);
  g_assert_true (r->stopped);
  g_assert_cmpint (r->baseline.settings.batch_size, >, 1);
  g_assert_cmpint (r->baseline.settings.batch_size, <, r->job->settings.batch_size);
  g_assert_cmpuint (r->trials->len, ==, first->trials->len);
  g_assert_true (dyno_settings_equal (&r->baseline.settings, &first->baseline.settings));
  g_assert_cmpfloat (r->baseline.samples_per_s, >, 0);
  g_assert_cmpfloat (r->speedup, >=, 1);
  g_assert_cmpuint (r->n_gains, >, 0);
}

/* One worker at the most, a data set smaller than any batch, of one sample even: found all the
 * same, whatever the present settings ask for. */
static void
test_least_of_everything (void)
{
  DynoMachine m = *find_machine ("usual");
  DynoSettings settings;

  dyno_settings_init (&settings);
  settings.workers = 4;
  settings.batch_size = 64;
  m.cores = 1;
  for (m.n_train = 1; m.n_train < 100; m.n_train = m.n_train * 3 + 1)
    for (m.n_validation = 0; m.n_validation <= 1; m.n_validation++)
      for (m.no_cache = 0; m.no_cache <= 1; m.no_cache++)
        {
          g_autoptr (DynoTuneResult) r =
              search (&m, 1, (Wanted){ .minutes = 1, .settings = &settings }, NULL, NULL);

          g_assert_cmpfloat (r->best.samples_per_s, >, 0);
          g_assert_true (isfinite (r->best.samples_per_s) && isfinite (r->gain));
          g_assert_true (isfinite (r->best.settings.lr));
          g_assert_true (r->n_gains == 0 || isfinite (r->gains[r->n_gains - 1].factor));
          for (guint i = 0; i < r->curve.n; i++)
            g_assert_true (isfinite (r->curve.points[i].samples_per_s));
          for (guint i = 0; r->reasons[i]; i++)
            g_assert_null (strstr (r->reasons[i], "nan"));
        }
}

static void
test_goes_on (void)
{
  const DynoMachine *m = find_machine ("usual");
  g_autoptr (DynoTuneResult) first = search (m, 1, (Wanted){ .minutes = 0.5 }, NULL, NULL);
  g_autoptr (DynoTuneResult) r =
      search (m, 2, (Wanted){ .minutes = 1.5, .known = first }, NULL, NULL);

  guint again = 0;

  g_assert_cmpuint (r->trials->len, >, first->trials->len);
  for (guint i = first->trials->len; i < r->trials->len; i++)
    {
      g_assert_cmpuint (trial_of (r, i)->number, ==, i + 1);
      g_assert_cmpstr (trial_of (r, i)->stage, !=, "today");
      g_assert_cmpstr (trial_of (r, i)->stage, !=, "baseline");
      for (guint k = 0; k < i && strcmp (trial_of (r, i)->stage, "search") == 0; k++)
        g_assert_false (
            dyno_settings_equal (&trial_of (r, i)->settings, &trial_of (r, k)->settings));
    }
  for (guint i = 0; i < r->ceilings->len; i++)
    for (guint k = 0; k < i; k++)
      {
        const DynoCeiling *a = r->ceilings->pdata[i], *b = r->ceilings->pdata[k];
        again += a->of == b->of && dyno_settings_equal (&a->settings, &b->settings);
      }
  g_assert_cmpuint (again, <=, 3); /* whether the device is what it was, in each search */
  g_assert_true (r->proven);
  g_assert_cmpfloat (dyno_machine_rate (m, &r->best.settings), >=,
                     0.97 * dyno_machine_rate (m, &first->best.settings));
}

/* --- what it says ----------------------------------------------------------------------------- */

/* Best, present settings, base line: each has its turn before any has the second. */
static void
test_proof_takes_turns (void)
{
  g_autoptr (DynoTuneResult) r = search (find_machine ("usual"), 1, (Wanted){ 0 }, NULL, NULL);
  const DynoTrial *first[2] = { NULL };
  guint n = 0, before_second = 0, after = 0;
  double longest = 0;

  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoTrial *t = trial_of (r, i);

      if (strcmp (t->stage, "proof") != 0)
        {
          longest = MAX (longest, (double) t->steps * t->step_ms);
          after += n > 0;
        }
      else if (n < 2 && (n == 0 || dyno_settings_equal (&t->settings, &first[0]->settings)))
        first[n++] = t;
      else if (n == 1)
        before_second++;
    }
  g_assert_true (r->proven);
  g_assert_cmpuint (after, <, r->n_gains); /* the points between base line and best */
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (before_second, >=, 2);
  g_assert_cmpfloat ((double) first[0]->steps * first[0]->step_ms, >=, 0.9 * longest);
}

/* An epoch of which a third is its end: the promise is the whole's. */
static void
test_promise_is_a_runs (void)
{
  DynoMachine m = *find_machine ("usual");

  m.n_train = 3600;
  m.n_validation = 400;
  m.end_s = 0.3;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, NULL);
  double rate = dyno_machine_rate (&m, &r->best.settings);

  g_assert_cmpfloat_with_epsilon (r->best.samples_per_s / rate, 1, 0.05);
  g_assert_cmpfloat (r->best.train_samples_per_s, >, 1.3 * r->best.samples_per_s);
  g_assert_cmpfloat_with_epsilon (r->best.epoch_end_s, 0.3, 1e-6);
  g_assert_true (says (r, "its end 0.3 s"));
}

/* Windows that spread by half, and little to be had: what is called proven is faster, but for one
 * in twenty, and most is not called so. */
static void
test_no_claim_inside_the_noise (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  guint unproven = 0, wrong = 0;

  m.sample_s[0] = m.sample_s[1]; /* little is to be had */
  m.step_s = 1e-3;
  m.overlap_cost[0] = m.overlap_cost[1];
  m.noise = 0.5;
  for (guint seed = 1; seed <= 40; seed++)
    {
      g_autoptr (DynoTuneResult) r = search (&m, seed, (Wanted){ .minutes = 1 }, NULL, NULL);
      double rate = dyno_machine_rate (&m, &r->best.settings);

      unproven += r->inside_noise;
      g_assert_true (!r->inside_noise || says (r, "so unsteady"));
      wrong += r->proven && rate < 0.97 * dyno_machine_rate (&m, &r->job->settings);
    }
  g_assert_cmpuint (wrong, <=, 2);
  g_assert_cmpuint (unproven, >=, 5);
}

static void
test_gains_make_the_whole (void)
{
  g_autoptr (DynoTuneResult) r = search (find_machine ("usual"), 1, (Wanted){ 0 }, NULL, NULL);
  double product = 1;

  g_assert_cmpuint (r->n_gains, >=, 3);
  for (guint i = 0; i < r->n_gains; i++)
    product *= isfinite (r->gains[i].factor) ? r->gains[i].factor : 1;
  g_assert_cmpfloat_with_epsilon (product, r->speedup, 1e-6 * product);
  g_assert_false (says (r, "What each setting brought")); /* bars show that */
  g_autofree char *gains = dyno_verdict_explain_gains (r);
  g_assert_true (g_str_has_prefix (gains, "What each setting brought: "));
}

/* What settings are told to have brought is what they truly bring in their place: alone, or together
 * with those before that have no factor.  Returns how many have one. */
static guint
check_gains (const DynoMachine *m, const DynoTuneResult *r, double most)
{
  DynoSettings at = r->baseline.settings;
  double before = dyno_machine_rate (m, &at);
  guint told = 0;

  for (guint i = 0; i < r->n_gains; i++)
    {
      const DynoTuneGain *gain = &r->gains[i];
      double real;

      dyno_settings_set_number (&at, gain->key,
                                dyno_settings_get_number (&r->best.settings, gain->key), NULL);
      real = dyno_machine_rate (m, &at) / before;
      g_test_message ("%s: %s to %s: %.2f told, %.2f had", m->name, gain->key, gain->to,
                      gain->factor, real);
      g_assert_true (isfinite (gain->factor) || i + 1 < r->n_gains);
      if (!isfinite (gain->factor))
        continue;
      g_assert_cmpfloat (fabs (log (gain->factor / real)), <, most);
      before = dyno_machine_rate (m, &at);
      told++;
    }
  return told;
}

/* A cache that fills for far longer than a trial lasts, and that is on already: what is measured
 * meanwhile is not taken for what it brings. */
static void
test_filling_is_no_gain (void)
{
  DynoMachine m = *find_machine ("cache-fills");

  m.decode_s = 1.0 / 100;
  m.n_train = 9000;
  m.n_validation = 1000;
  for (guint seed = 1; seed <= 4; seed++)
    for (gboolean cache = 0; cache <= 1; cache++)
      {
        DynoSettings settings;
        gboolean told = FALSE;

        dyno_settings_init (&settings);
        settings.workers = 4;
        settings.cache = cache;
        g_autoptr (DynoTuneResult) r =
            search (&m, seed, (Wanted){ .minutes = 4, .settings = &settings }, NULL, NULL);

        g_assert_true (r->proven);
        g_assert_true (r->best.settings.cache);
        g_assert_cmpfloat_with_epsilon (r->today.samples_per_s / dyno_machine_rate (&m, &settings),
                                        1, 0.05);
        g_assert_cmpuint (check_gains (&m, r, 0.15), >, 0);
        for (guint i = 0; i < r->n_gains; i++)
          told |= strcmp (r->gains[i].key, "cache") == 0;
        g_assert_true (told);
      }
}

/* A batch that was measured is drawn as measured, also one that was so on the way to the best. */
static guint
check_curve (const DynoTuneResult *r)
{
  guint n = 0;

  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoTrial *trial = trial_of (r, i);
      DynoSettings s = r->best.settings;

      s.lr = trial->settings.lr;
      s.batch_size = trial->settings.batch_size;
      if (trial->outcome != DYNO_TRIAL_OK || trial->text
          || !dyno_settings_equal (&s, &trial->settings))
        continue;
      for (guint k = 0; k < r->curve.n; k++)
        if (r->curve.points[k].batch_size == s.batch_size)
          g_assert_true (r->curve.points[k].measured);
      n++;
    }
  return n;
}

/* On any machine that is the same from one measurement to the next, also where there is no time to
 * measure each setting by itself; and what does not fit is not on the way. */
static void
test_gain_of_each_setting (gconstpointer data)
{
  static const double minutes[] = { 2.5, 0.75, 0.4 };
  const DynoMachine *m = data;
  guint told = 0;

  for (guint k = 0; k < G_N_ELEMENTS (minutes); k++)
    for (guint seed = 1; seed <= 4; seed++)
      {
        g_autoptr (DynoTuneResult) r =
            search (m, seed, (Wanted){ .minutes = minutes[k] }, NULL, NULL);

        g_assert_true (k > 0 || check_curve (r) > 0);
        told += check_gains (m, r, m->drift > 0 || m->amp_fails ? INFINITY : 0.1);
      }
  g_assert_cmpuint (told, >, 0);
}

/* A large network takes a second to plan: what each setting brought is told without, where the time
 * is over. */
static void
test_nothing_is_planned_late (void)
{
  DynoMachine m = *find_machine ("memory-bound");

  m.plan_s = 1;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .minutes = 3 }, NULL, NULL);
  g_assert_cmpuint (r->n_gains, >=, 5);
  g_assert_cmpfloat (r->seconds, <, 3 * 60 + 6);
}

static guint first_on_the_way; /* measurement; 0: none yet */

static void
note_way_point (gpointer user, const DynoTrial *trial)
{
  static gboolean proofs;

  proofs = strcmp (trial->stage, "proof") == 0 || (proofs && trial->number > 1);
  if (proofs && first_on_the_way == 0 && strcmp (trial->stage, "search") == 0)
    first_on_the_way = ((const DynoSimulation *) user)->n;
}

/* The last that is measured explains what is proven by then: where the time is over in it, the model
 * explains it, and no trial has failed. */
static void
test_time_out_on_the_way (void)
{
  DynoMachine m = *find_machine ("contended");
  g_autoptr (DynoTuneResult) whole =
      search (&m, 1, (Wanted){ .trial = note_way_point }, NULL, NULL);
  guint n_late = 0;

  g_assert_cmpuint (first_on_the_way, >, 0);
  g_assert_cmpuint (count (whole, DYNO_TRIAL_FAILED), ==, 0);
  m.stuck_at = first_on_the_way;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .n_late = &n_late }, NULL, NULL);
  g_assert_cmpuint (n_late, ==, 1);
  g_assert_cmpuint (count (r, DYNO_TRIAL_FAILED), ==, 0);
  g_assert_cmpint (r->proven, ==, whole->proven);
  g_assert_cmpuint (r->n_gains, ==, whole->n_gains);
}

static void
test_load_is_said (void)
{
  g_autoptr (DynoTuneResult) busy = search (find_machine ("busy"), 1, (Wanted){ 0 }, NULL, NULL);
  g_autoptr (DynoTuneResult) idle = search (find_machine ("usual"), 1, (Wanted){ 0 }, NULL, NULL);

  g_assert_cmpfloat (busy->outside_cpu, ==, 0.35);
  g_assert_true (says (busy, "Other programs took up to 35 %"));
  g_assert_false (says (idle, "Other programs"));
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

static void
test_preset_is_judged (void)
{
  static const struct {
    gint64 batch;
    double limit;
    DynoPresetVerdict verdict;
    const char *words;
  } cases[] = { { 256, 4, DYNO_PRESET_VERDICT_TOO_BIG, "is too big" },
                { 128, 3, DYNO_PRESET_VERDICT_HOLDS, "holds" },
                { 32, 12, DYNO_PRESET_VERDICT_LEAVES_UNUSED, "of the memory unused" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoMachine m = *find_machine ("usual");
      DynoSettings preset;

      m.limit_bytes = cases[i].limit * GIB;
      dyno_settings_init (&preset);
      preset.batch_size = cases[i].batch;
      preset.workers = 2;
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .preset = &preset }, NULL, NULL);

      g_assert_cmpint (r->preset_verdict, ==, cases[i].verdict);
      g_assert_true (says (r, cases[i].words));
      g_assert_true (says (r, "RTX 3060"));
      g_assert_null (strstr (r->preset_text, ".."));
    }
}

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

      if (a->ran) /* nobody trains on that can no longer win */
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
}

/* Where the batch is another, its accuracy after as many epochs is told, or that it is not known. */
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
test_curve (void)
{
  const DynoMachine *m = find_machine ("usual");
  g_autoptr (DynoTuneResult) r = search (m, 1, (Wanted){ 0 }, NULL, NULL);
  guint measured = 0;

  g_assert_cmpuint (r->curve.n, >=, 8);
  for (guint i = 0; i < r->curve.n; i++)
    {
      const DynoCurvePoint *p = &r->curve.points[i];
      DynoSettings s = r->best.settings;

      s.batch_size = p->batch_size;
      measured += p->measured;
      g_assert_cmpfloat_with_epsilon (p->samples_per_s / dyno_machine_rate (m, &s), 1, 0.15);
      g_assert_cmpuint (p->vram_bytes, >, i > 0 ? r->curve.points[i - 1].vram_bytes : 0);
    }
  g_assert_cmpuint (measured, >=, 1);
  g_assert_cmpint (r->curve.smallest, <=, r->curve.fastest);
  g_assert_cmpint (r->curve.smallest, ==, r->best.settings.batch_size);
  g_assert_true (says (r, "memory"));
}

/* What is advised is marked in the curve, also a batch that the set is too small to search for; and
 * nothing is called the fastest beside what is told to be faster. */
static void
test_curve_shows_the_choice (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  DynoSettings settings;

  m.n_train = 1600;
  m.n_validation = 200;
  dyno_settings_init (&settings);
  settings.batch_size = 400;
  settings.workers = 16;
  settings.amp = TRUE;
  settings.cache = TRUE;
  g_autoptr (DynoTuneResult) large = search (&m, 1, (Wanted){ .settings = &settings }, NULL, NULL);

  g_assert_true (large->keep_today);
  g_assert_cmpint (large->curve.smallest, ==, 400);
  for (guint k = 0; k <= G_N_ELEMENTS (unsteady); k++)
    for (guint seed = 1; seed <= 20; seed++)
      {
        const DynoMachine *any =
            k < G_N_ELEMENTS (unsteady) ? &unsteady[k] : find_machine ("amp-slower");
        g_autoptr (DynoTuneResult) r =
            search (any, seed, (Wanted){ .minutes = seed % 2 ? 1 : 2.5 }, NULL, NULL);
        const char *name = dyno_curve_name_advised (&r->curve);

        g_assert_cmpint (r->curve.smallest, ==, r->best.settings.batch_size);
        g_assert_nonnull (name);
        if (strcmp (name, "advised: the fastest") != 0)
          continue;
        g_assert_cmpfloat (r->best.samples_per_s, >=, r->fastest.samples_per_s);
        for (guint i = 0; i < r->curve.n; i++)
          g_assert_cmpfloat (r->best.samples_per_s, >=, r->curve.points[i].samples_per_s);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (machines); i++)
    {
      g_autofree char *path =
          g_strconcat ("/tune/search/within-3-percent-of-the-grid/", machines[i].name, NULL);
      g_autofree char *gains =
          g_strconcat ("/tune/search/gain-of-each-setting/", machines[i].name, NULL);

      g_test_add_data_func (path, &machines[i], test_grid);
      g_test_add_data_func (gains, &machines[i], test_gain_of_each_setting);
    }
  g_test_add_func ("/tune/search/never-worse-in-50-runs", test_never_worse);
  for (guint i = 0; i < G_N_ELEMENTS (unsteady); i++)
    {
      g_autofree char *path =
          g_strconcat ("/tune/search/never-worse-on-an-unsteady-machine/", unsteady[i].name, NULL);
      g_test_add_data_func (path, &unsteady[i], test_unsteady);
    }
  g_test_add_data_func ("/tune/search/first-minute-of-a-card", find_machine ("cold"),
                        test_first_minute);
  g_test_add_data_func ("/tune/search/first-minute-of-a-large-network",
                        find_machine ("cold-large-batch"), test_first_minute);
  g_test_add_func ("/tune/search/first-half-minute-on-a-slow-disk", test_first_half_minute);
  g_test_add_func ("/tune/search/no-time-for-batches", test_no_time_for_batches);
  g_test_add_func ("/tune/search/present-settings-that-are-best-stay", test_keeps_present_settings);
  g_test_add_func ("/tune/search/the-limit-alone-is-judged", test_limit_alone_is_judged);
  g_test_add_func ("/tune/search/knee-is-refined", test_knee_is_refined);
  g_test_add_func ("/tune/search/what-cannot-fit-is-not-tried", test_what_cannot_fit_is_not_tried);
  g_test_add_func ("/tune/search/accumulated-batches-are-one-update",
                   test_accumulated_batches_are_one_update);
  g_test_add_func ("/tune/search/refused-memory-is-a-result", test_refusal_is_a_result);
  g_test_add_func ("/tune/search/failing-kernel-is-a-result", test_failing_kernel_is_a_result);
  g_test_add_func ("/tune/search/lost-device-is-a-result", test_lost_device_is_a_result);
  g_test_add_func ("/tune/search/amp-that-does-not-train-is-not-the-best",
                   test_amp_that_does_not_train_is_not_the_best);
  g_test_add_func ("/tune/search/time-out-takes-nothing", test_time_out_takes_nothing);
  g_test_add_func ("/tune/search/all-fails", test_all_fails);
  g_test_add_func ("/tune/search/nothing-fits", test_nothing_fits);
  g_test_add_func ("/tune/search/hopeless-is-dropped", test_hopeless_is_dropped);
  g_test_add_func ("/tune/search/keeps-its-time", test_keeps_its_time);
  g_test_add_func ("/tune/search/no-time-at-all", test_no_time_at_all);
  g_test_add_func ("/tune/search/preparation-that-takes-most-of-the-time",
                   test_preparation_takes_most);
  g_test_add_func ("/tune/search/preparation-that-grows", test_preparation_grows);
  g_test_add_func ("/tune/search/preparation-that-takes-all-of-the-time",
                   test_preparation_takes_all);
  g_test_add_func ("/tune/search/device-that-computes-nothing", test_device_that_computes_nothing);
  g_test_add_func ("/tune/search/pause-does-not-count", test_pause_does_not_count);
  g_test_add_func ("/tune/search/stopped-tells-what-it-has", test_stopped_tells_what_it_has);
  g_test_add_func ("/tune/search/alone-is-not-proven", test_alone_is_not_proven);
  g_test_add_func ("/tune/search/stopped-before-the-first-trial", test_stopped_at_once);
  g_test_add_func ("/tune/search/stopped-after-a-failure", test_stopped_after_a_failure);
  g_test_add_func ("/tune/search/stopped-keeps-the-base-line", test_stopped_keeps_the_base_line);
  g_test_add_func ("/tune/search/least-of-everything", test_least_of_everything);
  g_test_add_func ("/tune/search/goes-on-without-measuring-again", test_goes_on);
  g_test_add_func ("/tune/search/proof-takes-turns", test_proof_takes_turns);
  g_test_add_func ("/tune/search/promised-rate-is-a-whole-runs", test_promise_is_a_runs);
  g_test_add_func ("/tune/search/no-claim-inside-the-noise", test_no_claim_inside_the_noise);
  g_test_add_func ("/tune/search/gains-make-the-whole", test_gains_make_the_whole);
  g_test_add_func ("/tune/search/cache-that-fills-is-not-judged-by-it", test_filling_is_no_gain);
  g_test_add_func ("/tune/search/nothing-is-planned-late", test_nothing_is_planned_late);
  g_test_add_func ("/tune/search/time-out-on-the-way-is-no-failure", test_time_out_on_the_way);
  g_test_add_func ("/tune/search/outside-load-is-said", test_load_is_said);
  g_test_add_func ("/tune/search/learning-rate-by-the-square-root", test_learning_rate);
  g_test_add_func ("/tune/search/preset-is-judged", test_preset_is_judged);
  g_test_add_func ("/tune/search/goal-is-reached-first", test_goal);
  g_test_add_func ("/tune/search/goal-that-is-not-reached", test_goal_that_is_not_reached);
  g_test_add_func ("/tune/search/accuracy-after-equal-epochs", test_equal_epochs);
  g_test_add_func ("/tune/search/curve-over-the-batch", test_curve);
  g_test_add_func ("/tune/search/curve-shows-the-choice", test_curve_shows_the_choice);
  return g_test_run ();
}
