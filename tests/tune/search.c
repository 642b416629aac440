/* SPDX-License-Identifier: MIT */
/* The search compared with the whole grid of simulated machines: how near it comes to the best, in
 * what share of the grid's time, and that its result is never worse than the present settings. */
#include "search-test.h"

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
      /* A gain below 3 % does not count, nor does half of the difference between two equal
       * measurements. */
      g_assert_cmpfloat (rate, >=, (m->drift > 0 ? 0.95 : 0.965) * best);
      g_assert_cmpfloat (seconds, <=, 0.1 * grid_s);
      g_assert_cmpfloat_with_epsilon (r->best.samples_per_s / rate, 1,
                                      m->drift > 0 ? m->drift : 0.05);
    }
}

/* Preparation takes most of a minute here.  Estimates by the kind of network leave time for the
 * loader, which needs no preparation, and for the search. */
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
      /* The data set limits the batch here, not the memory. */
      for (guint i = 0; i < r->ceilings->len; i++)
        g_assert_cmpint (((const DynoCeiling *) r->ceilings->pdata[i])->settings.accumulate, ==, 1);
      g_assert_cmpfloat (seconds, <=, 66);
      g_assert_true (r->proven);
    }
}

/* Less than half a minute is not enough for all measurements, nor for a full proof; settings whose
 * first measurements promise a multiple are found, even if these measurements are slow. */
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

/* The result is never worse, also where another program slows the processor by up to a third,
 * intermittently. */
static void
test_never_worse (void)
{
  DynoMachine noisy = *find_machine ("usual");
  const DynoMachine *all[] = { &noisy, find_machine ("busy"), find_machine ("software") };

  noisy.noise = 0.08;
  for (guint k = 0; k < G_N_ELEMENTS (all); k++)
    for (guint seed = 1; seed <= searches (50); seed++)
      {
        g_autoptr (DynoTuneResult) r =
            search (all[k], seed, (Wanted){ .minutes = seed % 2 ? 1 : 2.5 }, NULL, NULL);
        double rate = dyno_machine_rate (all[k], &r->best.settings);

        g_assert_cmpfloat (rate, >=, 0.97 * dyno_machine_rate (all[k], &r->baseline.settings));
        g_assert_cmpfloat (rate, >=, 0.97 * dyno_machine_rate (all[k], &r->job->settings));
      }
}

/* The fastest of the larger steps, which an expert for the machine would have chosen. */
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

/* On machines that change, and where nothing can be gained, settings that are not shown to be
 * faster do not replace the present ones.  A possible gain is still found. */
static void
test_unsteady (gconstpointer data)
{
  const DynoMachine *m = data;
  DynoSettings settings, good = find_good (m);
  double grid_s, best, mean = 0;
  const guint n = searches (50);

  dyno_settings_init (&settings);
  best = dyno_machine_best (m, &settings, 3, &grid_s);
  for (guint seed = 1; seed <= n; seed++)
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
        mean += k == 0 ? rate / best / n : 0;
      }
  g_test_message ("%.3f of the grid's best, on average", mean);
  g_assert_cmpfloat (mean, >=, m->visit > 0 ? 0.8 : 0.93);
}

/* The second search is started with the best settings of the first, and keeps them. */
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

/* Where the loader is far slower, few points of the device are measured; where it is far faster,
 * few points of the loader. */
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
  g_assert_true (says (gpu, "The device is the limit"));
}

/* The knee is also searched for between the doubled batches. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < n_machines; i++)
    {
      g_autofree char *path =
          g_strconcat ("/tune/search/within-3-percent-of-the-grid/", machines[i].name, NULL);

      g_test_add_data_func (path, &machines[i], test_grid);
    }
  for (guint i = 0; i < n_unsteady; i++)
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
  g_test_add_func ("/tune/search/never-worse-in-50-runs", test_never_worse);
  g_test_add_func ("/tune/search/present-settings-that-are-best-stay", test_keeps_present_settings);
  g_test_add_func ("/tune/search/the-limit-alone-is-judged", test_limit_alone_is_judged);
  g_test_add_func ("/tune/search/knee-is-refined", test_knee_is_refined);
  return g_test_run ();
}
