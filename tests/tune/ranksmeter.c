/* SPDX-License-Identifier: MIT */
/* One rank of several: the additions to the measurements of one process, their use by the search,
 * and their storage. */
#include "ranksmeter.h"
#include "preset.h"
#include "search-test.h"
#include "trialsfile.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const DynoExchangeRate slow_link = { 2, 1, 1e-5, 4e6 }, usual_link = { 2, 1, 1e-5, 1e8 },
                              fast_link = { 2, 1, 1e-6, 1e11 };
static const DynoDeviceInfo device = { .name = "card",
                                       .fp16 = TRUE,
                                       .vram_bytes = G_GUINT64_CONSTANT (1) << 36,
                                       .max_buffer_bytes = G_GUINT64_CONSTANT (1) << 32,
                                       .max_groups_x = 65535,
                                       .max_invocations = 1024,
                                       .shared_bytes = 49152,
                                       .subgroup_size = 32,
                                       .subgroup_min = 32,
                                       .subgroup_max = 32,
                                       .processors = 32 };
static char *folder;

static DynoJob *
job_new (guint ranks)
{
  DynoJob *job = dyno_job_new ();

  g_free (job->data);
  job->data = g_strdup ("builtin:shapes?size=32&samples=40000");
  job->settings.workers = 4;
  job->settings.batch_size = 32;
  job->settings.amp = FALSE;
  job->ranks = ranks;
  return job;
}

static DynoDataset *
dataset_new (const DynoJob *job)
{
  g_autoptr (GError) error = NULL;
  DynoDatasetParams params;

  dyno_job_get_dataset_params (job, &params);
  DynoDataset *dataset = dyno_dataset_open (job->data, &params, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return dataset;
}

/* --- a meter that returns given measurements -------------------------------------------------- */

static DynoMeasurement measured;

static gboolean
give (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
      GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  *measurement = measured;
  return TRUE;
}

static void
give_free (DynoMeter *meter)
{
}

static const DynoMeterClass given_class = {
  .loader = give, .gpu = give, .trial = give, .free = give_free
};

typedef struct {
  DynoMeter given;
  DynoJob *job;
  DynoDataset *dataset;
  DynoMeter *ranks;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  dyno_exchange_keep (&usual_link);
  f->given =
      (DynoMeter){ .class = &given_class, .n_cores = 8, .n_train = 3001, .n_validation = 301 };
  f->job = job_new (2);
  f->dataset = dataset_new (f->job);
  f->ranks = dyno_ranks_meter_new (&f->given, f->job, f->dataset, &device, 1);
  dyno_measurement_init (&measured);
  measured.rate = (DynoEstimate){ 1000, 900, 1100, 20, TRUE };
  measured.run_rate = measured.rate;
  measured.step_ms = 32;
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  dyno_meter_free (f->ranks);
  dyno_job_unref (f->job);
  dyno_dataset_unref (f->dataset);
}

typedef gboolean (*Measure) (DynoMeter *meter, const DynoSettings *settings, double seconds,
                             gint64 deadline_us, GCancellable *cancellable,
                             DynoMeasurement *measurement, GError **error);

static DynoMeasurement
measure (Fixture *f, Measure function)
{
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  g_assert_true (function (f->ranks, &f->job->settings, 1, G_MAXINT64, NULL, &m, &error));
  return m;
}

/* Seconds of the exchange that a step of this length does not hide. */
static double
exposed (Fixture *f, double step_s)
{
  DynoRanksEstimate e;

  f->ranks->class->ranks (f->ranks, &f->job->settings, step_s, &e);
  g_assert_cmpuint (e.ranks, ==, 2);
  g_assert_cmpuint (e.exchange_bytes, >, 100000);
  g_assert_cmpfloat (e.exposed_seconds, >, 1e-4);
  return e.exposed_seconds;
}

static void
test_rates_have_the_exchange (Fixture *f, gconstpointer data)
{
  const DynoMeterClass *class = f->ranks->class;
  DynoMeasurement gpu = measure (f, class->gpu), loader = measure (f, class->loader);
  double step_s = 0.032 + exposed (f, 0.032);

  g_assert_cmpfloat_with_epsilon (gpu.rate.median, 32 / step_s, 1e-6);
  g_assert_cmpfloat_with_epsilon (gpu.step_ms, 1e3 * step_s, 1e-6);
  g_assert_cmpfloat (gpu.rate.low, <, gpu.rate.median);
  g_assert_cmpfloat (gpu.rate.low, >, 0.85 * gpu.rate.median);
  g_assert_cmpfloat (loader.rate.median, ==, 1000);
  g_assert_cmpuint (f->ranks->n_train, ==, 1500);
  g_assert_cmpuint (f->ranks->n_validation, ==, 151);
  g_assert_null (class->learn);
  g_assert_null (class->numerics);
}

/* A step that waits for data waits less for the exchange. */
static void
test_data_hide_the_exchange (Fixture *f, gconstpointer data)
{
  double wait_s = 0.02, hidden = exposed (f, 0.032 - wait_s);
  DynoMeasurement m;

  g_assert_cmpfloat (hidden, <, wait_s);
  measured.wait_data_ms = 1e3 * wait_s;
  m = measure (f, f->ranks->class->trial);
  g_assert_cmpfloat (m.rate.median, ==, 1000);
  g_assert_cmpfloat_with_epsilon (m.wait_data_ms, 1e3 * (wait_s - hidden), 1e-6);
  measured.wait_data_ms = 1e3 * hidden / 4;
  m = measure (f, f->ranks->class->trial);
  g_assert_cmpfloat (m.rate.median, <, 1000);
  g_assert_cmpfloat (m.wait_data_ms, ==, 0);
}

/* Each rank has its share of an epoch's training and validation; the end of an epoch is the same
 * for all. */
static void
test_epochs_are_shared (Fixture *f, gconstpointer data)
{
  DynoMeasurement m;

  measured.validation_rate = 3000;
  measured.epoch_overhead_s = 0.5;
  m = measure (f, f->ranks->class->trial);
  g_assert_cmpfloat_with_epsilon (m.run_rate.median,
                                  1500 / (1500 / m.rate.median + 151 / 3000.0 + 0.5), 1e-6);
}

static void
test_memory_has_the_inbox (Fixture *f, gconstpointer data)
{
  DynoDeviceInfo linked = device;
  g_autoptr (DynoMeter) meter = NULL;
  guint64 bytes, more;
  gboolean fits;
  g_autofree char *advice = NULL;
  DynoMeasurement m;

  linked.peer_memory = TRUE;
  meter = dyno_ranks_meter_new (&f->given, f->job, f->dataset, &linked, 1);
  g_assert_true (f->ranks->class->plan (f->ranks, &f->job->settings, &bytes, &fits, &advice, NULL));
  g_assert_true (meter->class->plan (meter, &f->job->settings, &more, &fits, &advice, NULL));
  g_assert_true (fits);
  g_assert_cmpuint (more, >, bytes);
  measured.vram_bytes = measured.planned_bytes = 5 << 20;
  g_assert_true (meter->class->trial (meter, &f->job->settings, 1, G_MAXINT64, NULL, &m, NULL));
  g_assert_cmpuint (m.vram_bytes, ==, (5 << 20) + more - bytes);
  g_assert_cmpuint (m.planned_bytes, ==, m.vram_bytes);
}

/* The ranks of a host each have a cache. */
static void
test_caches_share_a_host (Fixture *f, gconstpointer data)
{
  g_autoptr (DynoJob) many = job_new (1000000);
  g_autoptr (DynoMeter) few = NULL, crowd = NULL, spread = NULL;

  g_assert_false (f->ranks->can_cache);
  f->given.can_cache = TRUE;
  few = dyno_ranks_meter_new (&f->given, f->job, f->dataset, &device, 1);
  crowd = dyno_ranks_meter_new (&f->given, many, f->dataset, &device, 1);
  spread = dyno_ranks_meter_new (&f->given, many, f->dataset, &device, 1000000);
  g_assert_true (few->can_cache && spread->can_cache);
  g_assert_false (crowd->can_cache);
}

/* --- the search ----------------------------------------------------------------------------------- */

static gint64
now_us (gpointer user)
{
  return dyno_simulation_now_us (user);
}

static DynoTuneResult *
search_ranks (guint ranks, const DynoExchangeRate *link)
{
  g_autoptr (DynoJob) job = job_new (ranks);
  g_autoptr (DynoDataset) dataset = dataset_new (job);
  DynoSimulation *sim = dyno_simulation_new (find_machine ("gpu-bound"), 3);
  g_autoptr (DynoMeter) meter = dyno_ranks_meter_new (&sim->meter, job, dataset, &device, 1);
  DynoSearchParams params = { .job = job,
                              .meter = meter,
                              .minutes = 2.5,
                              .limit_bytes = device.vram_bytes,
                              .hooks = { .now_us = now_us, .user = sim } };
  DynoTuneResult *result = dyno_tune_result_new (job);
  g_autoptr (GError) error = NULL;

  dyno_exchange_keep (link);
  dyno_search_run (&params, result, &error);
  g_assert_no_error (error);
  return result;
}

/* On a slow link the exchange takes as long as a large batch: the search finds a larger batch than
 * for one rank, and than with a fast link. */
static void
test_search_knows_the_exchange (void)
{
  g_autoptr (DynoTuneResult) one = search_ranks (1, &slow_link),
                             fast = search_ranks (2, &fast_link),
                             two = search_ranks (2, &slow_link);
  const DynoSettings *s = &two->best.settings;

  g_assert_cmpuint (count_ceilings (one, DYNO_CEILING_EXCHANGE), ==, 0);
  g_assert_false (says (one, "ranks"));
  g_assert_cmpuint (count_ceilings (two, DYNO_CEILING_EXCHANGE), ==, 1);
  g_assert_cmpuint (two->ranks.ranks, ==, 2);
  g_assert_true (says (two, "each of 2 ranks"));
  g_assert_true (says (two, "Each step exchanges"));
  g_assert_cmpfloat (two->best.samples_per_s, >, 0);
  g_assert_cmpfloat (two->best.samples_per_s, <, one->best.samples_per_s);
  g_assert_cmpint (s->batch_size, >, one->best.settings.batch_size);
  g_assert_cmpint (s->batch_size, >, fast->best.settings.batch_size);
  g_assert_true (says (two, "The exchange between ranks is the limit"));
  g_assert_false (says (fast, "The exchange between ranks is the limit"));
  g_assert_cmpfloat (two->accumulate_gain, >=, 1);
  /* The time of the exchange by itself, and the part of it that a step does not hide. */
  g_assert_cmpfloat_with_epsilon (two->ranks.alone_seconds + two->ranks.exposed_seconds,
                                  (double) (s->batch_size * s->accumulate)
                                      * (1 - two->best.wait_data_ms / two->best.step_ms)
                                      / two->best.train_samples_per_s,
                                  1e-6);
}

/* --- storage ---------------------------------------------------------------------------------- */

static void
test_trials_know_their_ranks (void)
{
  g_autoptr (DynoJob) two = job_new (2), one = job_new (0), read = NULL;
  g_autofree char *path = g_build_filename (folder, DYNO_TRIALS_FILE, NULL);
  DynoTrial trial = {
    .number = 1, .stage = "today", .settings = two->settings, .samples_per_s = 5
  };
  DynoCeiling ceiling = { .of = DYNO_CEILING_EXCHANGE,
                          .settings = two->settings,
                          .samples_per_s = 9 };
  g_autoptr (GError) error = NULL;
  DynoTrialsFile *file = dyno_trials_file_new (path, two, "card", FALSE, &error);

  g_assert_no_error (error);
  g_assert_true (dyno_trials_file_add_trial (file, &trial, &error));
  g_assert_true (dyno_trials_file_add_ceiling (file, &ceiling, &error));
  dyno_trials_file_free (file);
  g_autoptr (DynoTuneResult) result = dyno_trials_file_read (path, two, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result->trials->len, ==, 1);
  g_assert_cmpuint (count_ceilings (result, DYNO_CEILING_EXCHANGE), ==, 1);
  read = dyno_trials_file_read_job (path, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (read->ranks, ==, 2);
  g_assert_cmpstr (read->model, ==, two->model);
  g_assert_null (dyno_trials_file_read (path, one, &error));
  g_assert_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS);
  g_assert_nonnull (strstr (error->message, "its ranks differs"));
  g_unlink (path);
}

int
main (int argc, char **argv)
{
  int code;

  folder = g_dir_make_tmp ("dyno-ranks-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_test_init (&argc, &argv, NULL);
#define ADD(name, function) \
  g_test_add ("/tune/ranks/" name, Fixture, NULL, set_up, function, tear_down)
  ADD ("rates-have-the-exchange", test_rates_have_the_exchange);
  ADD ("data-hide-the-exchange", test_data_hide_the_exchange);
  ADD ("epochs-are-shared", test_epochs_are_shared);
  ADD ("memory-has-the-inbox", test_memory_has_the_inbox);
  ADD ("caches-share-a-host", test_caches_share_a_host);
  g_test_add_func ("/tune/ranks/search-knows-the-exchange", test_search_knows_the_exchange);
  g_test_add_func ("/tune/ranks/trials-know-their-ranks", test_trials_know_their_ranks);
  code = g_test_run ();
  g_free (folder);
  return code;
}
