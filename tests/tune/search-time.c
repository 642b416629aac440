/* SPDX-License-Identifier: MIT */
/* The search keeps its time limit, however long preparation takes, and uses its time. */
#include "search-test.h"
#include "foresight.h"
#include "preset.h"
#include <string.h>

static void
test_keeps_its_time (void)
{
  static const double minutes[] = { 0.05, 0.2, 0.5, 1, 3, 10 };

  for (guint k = 0; k < n_machines; k++)
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

/* The present settings may take all of the time; the rest of the time is used as far as
 * possible. */
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
        /* The curve predicts no rate for a device that was not measured. */
        for (guint i = 0; i < r->curve.n; i++)
          g_assert_true (r->curve.points[i].measured || !(r->curve.points[i].samples_per_s > 0)
                         || count_ceilings (r, DYNO_CEILING_GPU) > 0);
      }
}

/* AMP's kernels take much longer to compile than those that were measured before: a compilation
 * that did not end in time is not begun again for another batch. */
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

/* Compiling each network takes most of the remaining time: settings that were compared only with
 * the baseline are not a proven best. */
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

/* Not one step runs in the time: the search reports that, and the next one has the compiled
 * kernels. */
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

/* A measurement that does not end takes the remaining time, and no measured result is lost. */
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

static guint first_on_the_way; /* number of the measurement; 0: none yet */

static void
note_way_point (gpointer user, const DynoTrial *trial)
{
  static gboolean proofs;

  proofs = strcmp (trial->stage, "proof") == 0 || (proofs && trial->number > 1);
  if (proofs && first_on_the_way == 0 && strcmp (trial->stage, "search") == 0)
    first_on_the_way = ((const DynoSimulation *) user)->n;
}

/* The last measurement explains a result that is proven already: if the time ends during it, the
 * model explains the result, and no trial counts as failed. */
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

/* A large network takes a second to plan: where the time is over, the gain of each setting is
 * reported without plans. */
static void
test_nothing_is_planned_late (void)
{
  DynoMachine m = *find_machine ("memory-bound");

  m.plan_s = 1;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .minutes = 3 }, NULL, NULL);
  g_assert_cmpuint (r->n_gains, >=, 5);
  g_assert_cmpfloat (r->seconds, <, 3 * 60 + 6);
}

/* On a CPU AMP takes long to compile and is slow, and the present settings request it with a large
 * batch, as the defaults do. */
static void
test_software_device_begins_with_what_is_cheap (void)
{
  DynoMachine m = *find_machine ("software");
  DynoSettings settings;

  m.no_fp16 = FALSE;
  m.software = TRUE;
  m.sample_s[0] = 2e-3;
  m.sample_s[1] = 1e-2;
  m.compile_s = 1;
  m.compile_amp_s = 25;
  dyno_settings_init (&settings);
  settings.batch_size = 256;
  settings.workers = 1;
  for (settings.amp = 0; settings.amp <= 1; settings.amp++)
    for (double minutes = 0.7; minutes < 1.5; minutes += 0.5)
      {
        DynoSettings plain = settings;
        double seconds, grid_s;
        guint amp = 0;
        g_autoptr (DynoTuneResult) r =
            search (&m, 1, (Wanted){ .minutes = minutes, .settings = &settings }, &seconds, NULL);

        plain.amp = FALSE;
        m.no_fp16 = TRUE;
        g_test_message ("AMP %d: %.0f of %.0f samples/s, %u trials, %s", settings.amp,
                        dyno_machine_rate (&m, &r->best.settings),
                        dyno_machine_best (&m, &plain, 1, &grid_s), r->trials->len, r->reasons[0]);
        g_assert_cmpfloat (dyno_machine_rate (&m, &r->best.settings), >=,
                           (minutes < 1 ? 0.75 : 0.95)
                               * dyno_machine_best (&m, &plain, 1, &grid_s));
        m.no_fp16 = FALSE;
        g_assert_cmpfloat (seconds, <=, 66 * minutes);
        g_assert_cmpstr (trial_of (r, 0)->stage, ==, "baseline");
        g_assert_false (r->best.settings.amp);
        for (guint i = 0; i < r->trials->len; i++)
          {
            const DynoTrial *t = trial_of (r, i);

            /* Only the present settings have AMP, and are tried after all others. */
            amp += t->settings.amp;
            g_assert_true (!t->settings.amp
                           || dyno_settings_equal (&t->settings, &r->job->settings));
            g_assert_false (amp > 0 && strcmp (t->stage, "search") == 0 && r->n_gains == 0);
          }
        for (guint i = 0; i < r->ceilings->len; i++)
          {
            const DynoCeiling *c = r->ceilings->pdata[i];

            g_assert_false (c->of == DYNO_CEILING_GPU && c->settings.amp);
          }
      }
}

/* Before a search begins it reports whether it has the time for a proof, for a machine with the
 * numbers of a plan. */
static void
test_short_time_is_foreseen (void)
{
  DynoSettings settings;
  DynoForesightParams params = {
    .present = &settings, .n_train = 36000, .flops_per_sample = 1e9, .flops_per_s = 1e12
  };
  DynoForesight gpu, cpu, amp, small, few;

  dyno_settings_init (&settings);
  settings.batch_size = 64;
  settings.amp = FALSE;
  params.minutes = 0.1;
  dyno_foresee (&params, &gpu);
  g_assert_cmpuint (gpu.n_needed, ==, 9);
  g_assert_cmpuint (gpu.n_fit, <, 9);
  g_autofree char *words = dyno_foresight_describe (&gpu, params.minutes);
  g_assert_true (g_str_has_prefix (words, "0.1 minutes have room for about "));
  g_assert_nonnull (strstr (words, " of the 9 measurements that a proof takes"));
  /* The reported time is enough, and slightly less time is not. */
  params.minutes = 1.01 * gpu.minutes;
  dyno_foresee (&params, &few);
  g_assert_null (dyno_foresight_describe (&few, params.minutes));
  params.minutes = 0.99 * gpu.minutes;
  dyno_foresee (&params, &few);
  g_assert_cmpuint (few.n_fit, ==, 8);
  params.n_cores = 2;
  params.flops_per_s = 0;
  dyno_foresee (&params, &cpu);
  g_assert_cmpfloat (cpu.minutes, >, 10 * gpu.minutes);
  /* Seven steps of batch 64 in each of six measurements, of batch 16 in three. */
  g_assert_cmpfloat (cpu.minutes, <, 10);
  settings.amp = TRUE;
  dyno_foresee (&params, &amp);
  g_assert_cmpfloat (amp.minutes, >, 2 * cpu.minutes);
  settings.amp = FALSE;
  params.n_train = 3; /* so a batch has three samples */
  dyno_foresee (&params, &small);
  g_assert_cmpfloat (small.minutes, <, 0.2 * cpu.minutes);
}

/* A time that is predicted to be too short gives no proof on a machine with that compile time. */
static void
test_foresight_comes_true (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  DynoSettings settings;
  DynoForesightParams params = { .present = &settings, .n_train = m.n_train };

  dyno_settings_init (&settings);
  settings.workers = 4;
  params.flops_per_s = 1 / m.sample_s[0];
  params.flops_per_sample = 1;
  m.prepare_s = 0.3;
  m.compile_s = 0.7;
  m.noise = 0.002;
  for (params.minutes = 0.02; params.minutes < 0.2; params.minutes += 0.02)
    {
      DynoForesight f;
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoTuneResult) r = search (
          &m, 1, (Wanted){ .minutes = params.minutes, .settings = &settings }, NULL, &error);

      dyno_foresee (&params, &f);
      g_test_message ("%.2f minutes: %u of %u, %.2f are needed, proven %d", params.minutes, f.n_fit,
                      f.n_needed, f.minutes, r->proven);
      g_assert_false (f.n_fit < f.n_needed && r->proven);
    }
}

/* Two quiet cores, whose rate varies by a few per cent while a search of 72 s spends more than half
 * of its time on compiling: nearly all searches are proven, and the proofs are right. */
static void
test_short_search_is_proven (void)
{
  const guint n = searches (100);
  DynoMachine m = two_cores;
  DynoSettings settings;
  double shares = 0;
  guint proven = 0;

  dyno_settings_init (&settings);
  settings.amp = FALSE;
  settings.batch_size = 32;
  settings.workers = 2;
  for (guint seed = 1; seed <= n; seed++)
    {
      double seconds, grid_s;

      m.compile_s = seed % 2 ? 9.6 : 5;
      g_autoptr (DynoTuneResult) r =
          search (&m, seed, (Wanted){ .minutes = 1.2, .settings = &settings }, &seconds, NULL);
      double rate = dyno_machine_rate (&m, &r->best.settings);

      g_assert_cmpfloat (seconds, <=, 1.1 * 72);
      proven += r->proven;
      shares += rate / dyno_machine_best (&m, &settings, 1, &grid_s) / n;
      g_assert_true (!r->proven || rate > dyno_machine_rate (&m, &r->baseline.settings));
      /* No time is spent on smaller batches, since no measurement shows an advantage of them. */
      for (guint i = 0; i < r->ceilings->len; i++)
        {
          const DynoCeiling *c = r->ceilings->pdata[i];

          g_assert_true (c->of != DYNO_CEILING_GPU || c->settings.batch_size >= 16);
        }
    }
  g_test_message ("%u of %u are proven, at %.3f of the best rate", proven, n, shares);
  g_assert_cmpuint (proven, >=, n * 95 / 100);
  g_assert_cmpfloat (shares, >=, 0.96);
  /* Without time for a larger batch, the present settings are kept and no larger batch is known. */
  m.compile_s = 18;
  for (guint seed = 1; seed <= 10; seed++)
    {
      g_autoptr (DynoTuneResult) r =
          search (&m, seed, (Wanted){ .minutes = 1.2, .settings = &settings }, NULL, NULL);

      g_assert_true (r->keep_today);
      g_assert_cmpint (r->batches_to, ==, 32);
      g_assert_true ((r->missing & DYNO_PROOF_BATCHES) != 0);
    }
}

/* The end of an epoch is measured in the first turn of the proof; the other turns have steps
 * only. */
static void
test_proof_measures_the_end_once (void)
{
  DynoSimulation *sim = dyno_simulation_new (&two_cores, 1);
  g_autoptr (DynoTuneResult) r = search (&two_cores, 1, (Wanted){ .sim = sim }, NULL, NULL);
  guint repeated = 0, first = 0;

  for (guint i = 0; i < r->trials->len; i++)
    {
      gboolean again = FALSE;

      if (strcmp (trial_of (r, i)->stage, "proof") != 0)
        continue;
      for (guint k = 0; k < i; k++)
        again |= strcmp (trial_of (r, k)->stage, "proof") == 0
                 && dyno_settings_equal (&trial_of (r, k)->settings, &trial_of (r, i)->settings);
      repeated += again;
      first += !again;
    }
  g_assert_cmpuint (first, >=, 2);
  g_assert_cmpuint (repeated, >, first);
  g_assert_cmpuint (sim->n_steps_only, ==, repeated);
  dyno_simulation_free (sim);
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/search/keeps-its-time", test_keeps_its_time);
  g_test_add_func ("/tune/search/no-time-at-all", test_no_time_at_all);
  g_test_add_func ("/tune/search/preparation-that-takes-most-of-the-time",
                   test_preparation_takes_most);
  g_test_add_func ("/tune/search/preparation-that-grows", test_preparation_grows);
  g_test_add_func ("/tune/search/no-time-for-batches", test_no_time_for_batches);
  g_test_add_func ("/tune/search/preparation-that-takes-all-of-the-time",
                   test_preparation_takes_all);
  g_test_add_func ("/tune/search/time-out-takes-nothing", test_time_out_takes_nothing);
  g_test_add_func ("/tune/search/time-out-on-the-way-is-no-failure", test_time_out_on_the_way);
  g_test_add_func ("/tune/search/nothing-is-planned-late", test_nothing_is_planned_late);
  g_test_add_func ("/tune/search/software-device-begins-with-what-is-cheap",
                   test_software_device_begins_with_what_is_cheap);
  g_test_add_func ("/tune/search/short-time-is-foreseen", test_short_time_is_foreseen);
  g_test_add_func ("/tune/search/foresight-comes-true", test_foresight_comes_true);
  g_test_add_func ("/tune/search/short-search-is-proven", test_short_search_is_proven);
  g_test_add_func ("/tune/search/proof-measures-the-end-once", test_proof_measures_the_end_once);
  g_test_add_func ("/tune/search/pause-does-not-count", test_pause_does_not_count);
  return g_test_run ();
}
