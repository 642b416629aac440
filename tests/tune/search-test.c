/* SPDX-License-Identifier: MIT */
#include "search-test.h"
#include <math.h>
#include <string.h>

/* An H200 with 16 cores and ResNet-18; the machines are this one with named changes. */
#define USUAL                                                                                   \
  .cores = 16, .n_train = 36000, .n_validation = 4000, .decode_s = 1.0 / 900, .cached_s = 1e-5, \
  .crowding = 0.02, .sample_s = { 3e-4, 1e-4 }, .step_s = 1.5e-3, .optimizer_s = 3e-4,          \
  .overlap_cost = { 0.6, 0.04 }, .host_s = 1e-4, .end_s = 0.1, .base_bytes = 0.5 * GIB,         \
  .sample_bytes = 0.03 * GIB, .limit_bytes = 140 * GIB, .noise = 0.01, .prepare_s = 0.4

/* Each machine is the usual one with the changes after its name. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
const DynoMachine machines[] = {
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
  /* Each new network takes longer than its measurement, as on a device without compiled kernels. */
  { .name = "cold",
    USUAL,
    .no_cache = TRUE,
    .decode_s = 1.0 / 500,
    .n_train = 3600,
    .n_validation = 400,
    .compile_s = 2.5,
    .tune_s = 5 },
  /* A large batch is far better: ResNet-50 with AMP. */
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
const guint n_machines = G_N_ELEMENTS (machines);

/* A small data set on a disk that the workers wait for. */
const DynoMachine small_on_a_slow_disk = { .name = "slow-disk-small",
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

const DynoMachine two_cores = { .name = "two-cores",
                                USUAL,
                                .cores = 2,
                                .software = TRUE,
                                .no_fp16 = TRUE,
                                .sample_s = { 2.2e-3, 2.2e-3 },
                                .step_s = 8e-3,
                                .decode_s = 1e-6,
                                .cached_s = 1e-6,
                                .overlap_cost = { 1, 0.5 },
                                .host_s = 0,
                                .n_train = 6800,
                                .n_validation = 760,
                                .ends = 24,
                                .prepare_s = 0.15,
                                .compile_s = 9.6,
                                .noise = 0.04,
                                .wander = 0.04,
                                .wander_s = 17 };

/* Machines that change from one measurement to the next. */
const DynoMachine unsteady[] = {
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
  /* The first measurements are the fastest. */
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
  /* The system caches data that were read from this disk, so later measurements are faster. */
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
const guint n_unsteady = G_N_ELEMENTS (unsteady);

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED __has_feature (address_sanitizer)
#else
#define SANITIZED 0
#endif

guint
searches (guint n)
{
  return SANITIZED ? MAX (n / 10, 1) : n;
}

const DynoMachine *
find_machine (const char *name)
{
  for (guint i = 0; i < n_machines; i++)
    if (strcmp (machines[i].name, name) == 0)
      return &machines[i];
  g_assert_not_reached ();
}

static gint64
now_us (gpointer user)
{
  return dyno_simulation_now_us (user);
}

DynoTuneResult *
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

guint
count (const DynoTuneResult *r, DynoTrialOutcome outcome)
{
  guint n = 0;

  for (guint i = 0; i < r->trials->len; i++)
    n += ((const DynoTrial *) r->trials->pdata[i])->outcome == outcome;
  return n;
}

gboolean
says (const DynoTuneResult *r, const char *words)
{
  g_autofree char *all = g_strjoinv ("\n", r->reasons);

  return strstr (all, words) != NULL;
}

const DynoTrial *
trial_of (const DynoTuneResult *r, guint i)
{
  return r->trials->pdata[i];
}

guint
count_ceilings (const DynoTuneResult *r, DynoCeilingOf of)
{
  guint n = 0;

  for (guint i = 0; i < r->ceilings->len; i++)
    n += ((const DynoCeiling *) r->ceilings->pdata[i])->of == of;
  return n;
}
