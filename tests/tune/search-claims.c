/* SPDX-License-Identifier: MIT */
/* The claims of the search: proofs, the rate that a run will have, the unsteadiness of the
 * machine. */
#include "search-test.h"
#include "space.h"
#include <string.h>

/* Best, present settings, baseline: each has its first turn before any has the second. */
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
  g_assert_cmpuint (after, <, r->n_gains); /* the points between baseline and best */
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpuint (before_second, >=, 2);
  g_assert_cmpfloat ((double) first[0]->steps * first[0]->step_ms, >=, 0.9 * longest);
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
  g_assert_cmpuint (r->trials->len, >=, 3); /* including those of a proof */
  g_assert_false (r->proven);
  g_assert_true (says (r, "nothing else was measured"));
  for (guint i = 0; i < r->trials->len; i++) /* the pipeline's ceiling is no prediction */
    g_assert_cmpfloat (((const DynoTrial *) r->trials->pdata[i])->predicted, <,
                       3 * ((const DynoTrial *) r->trials->pdata[i])->samples_per_s);
  g_assert_false (says (r, "already as fast"));
}

/* Settings that were compared only with the present settings are not proven either, where the
 * baseline's network takes longer to compile than the remaining time. */
static void
test_without_the_base_line_is_not_proven (void)
{
  DynoMachine m = *find_machine ("usual");
  guint turns = 0;

  m.compile_s = 20;
  g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .minutes = 1 }, NULL, NULL);

  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoTrial *t = trial_of (r, i);

      g_assert_false (dyno_settings_equal (&t->settings, &r->baseline.settings));
      turns += strcmp (t->stage, "proof") == 0 && dyno_space_same (&t->settings, &r->best.settings);
    }
  g_assert_cmpuint (turns, >=, 2);
  g_assert_false (dyno_space_same (&r->best.settings, &r->job->settings));
  g_assert_false (r->proven);
  g_assert_true (says (r, "Not proven: there was no time for longer runs of all"));
}

/* A third of an epoch is its end; the predicted rate is that of the whole epoch. */
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
  g_assert_true (says (r, "its end 300 ms"));
}

/* The windows vary by half, and little can be gained: settings that are called proven are faster in
 * 19 of 20 cases, and most are not called proven. */
static void
test_no_claim_inside_the_noise (void)
{
  DynoMachine m = *find_machine ("gpu-bound");
  guint unproven = 0, wrong = 0;

  m.sample_s[0] = m.sample_s[1]; /* little can be gained */
  m.step_s = 1e-3;
  m.overlap_cost[0] = m.overlap_cost[1];
  m.noise = 0.5;
  for (guint seed = 1; seed <= 40; seed++)
    {
      g_autoptr (DynoTuneResult) r = search (&m, seed, (Wanted){ .minutes = 1 }, NULL, NULL);
      double rate = dyno_machine_rate (&m, &r->best.settings);

      unproven += r->inside_noise;
      g_assert_false (r->inside_noise && r->proven);
      g_assert_true (!r->inside_noise || says (r, "so unsteady"));
      wrong += r->proven && rate < 0.97 * dyno_machine_rate (&m, &r->job->settings);
    }
  g_assert_cmpuint (wrong, <=, 2);
  g_assert_cmpuint (unproven, >=, 5);
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
test_unreadable_samples_are_said (void)
{
  for (guint64 n = 0; n <= 2; n++)
    {
      DynoMachine m = *find_machine ("usual");

      m.n_unreadable = n;
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ 0 }, NULL, NULL);

      g_assert_true (says (r, "At least 1 sample of the data set cannot be read") == (n == 1));
      g_assert_true (says (r, "At least 2 samples of the data set cannot be read") == (n == 2));
    }
}

/* A preset is judged by its rate, and by whether it fits; free memory is reported in bytes. */
static void
test_preset_is_judged (void)
{
  static const struct {
    gint64 batch; /* 0: that of the best settings */
    double limit;
    DynoPresetVerdict verdict;
    const char *words;
  } cases[] = { { 256, 4, DYNO_PRESET_VERDICT_TOO_BIG, "is too big" },
                { 0, 12, DYNO_PRESET_VERDICT_HOLDS,
                  "holds: it is at most 3 % slower than the best" },
                { 32, 12, DYNO_PRESET_VERDICT_LEAVES_UNUSED,
                  "% of the best, and takes 1.46 GiB of the "
                  "12.0 GiB of memory" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      DynoMachine m = *find_machine ("usual");
      DynoSettings preset;

      m.limit_bytes = cases[i].limit * GIB;
      g_autoptr (DynoTuneResult) plain = search (&m, 1, (Wanted){ 0 }, NULL, NULL);
      preset = plain->best.settings;
      if (cases[i].batch > 0)
        {
          dyno_settings_init (&preset);
          preset.batch_size = cases[i].batch;
          preset.workers = 2;
          preset.amp = FALSE;
        }
      g_autoptr (DynoTuneResult) r = search (&m, 1, (Wanted){ .preset = &preset }, NULL, NULL);

      g_assert_cmpint (r->preset_verdict, ==, cases[i].verdict);
      g_assert_true (says (r, cases[i].words));
      g_assert_true (says (r, "RTX 3060"));
      g_assert_false (says (r, "unused"));
      g_assert_null (strstr (r->preset_text, ".."));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/search/proof-takes-turns", test_proof_takes_turns);
  g_test_add_func ("/tune/search/alone-is-not-proven", test_alone_is_not_proven);
  g_test_add_func ("/tune/search/without-the-base-line-is-not-proven",
                   test_without_the_base_line_is_not_proven);
  g_test_add_func ("/tune/search/promised-rate-is-a-whole-runs", test_promise_is_a_runs);
  g_test_add_func ("/tune/search/no-claim-inside-the-noise", test_no_claim_inside_the_noise);
  g_test_add_func ("/tune/search/outside-load-is-said", test_load_is_said);
  g_test_add_func ("/tune/search/unreadable-samples-are-said", test_unreadable_samples_are_said);
  g_test_add_func ("/tune/search/preset-is-judged", test_preset_is_judged);
  return g_test_run ();
}
