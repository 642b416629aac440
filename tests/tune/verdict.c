/* SPDX-License-Identifier: MIT */
/* What trials say: which settings are chosen, proven and told; no device, no clock. */
#include "verdict.h"
#include "trial.h"
#include <string.h>

typedef struct {
  const char *stage;
  gint64 batch, workers;
  double rate; /* 0: it failed */
} Row;

static void
trial_free (gpointer data)
{
  dyno_trial_clear (data);
  g_free (data);
}

static GPtrArray *
make_trials (const Row *rows, guint n)
{
  GPtrArray *trials = g_ptr_array_new_with_free_func (trial_free);

  for (guint i = 0; i < n; i++)
    {
      DynoTrial *t = g_new0 (DynoTrial, 1);
      t->number = i + 1;
      t->stage = rows[i].stage;
      dyno_settings_init (&t->settings);
      t->settings.batch_size = rows[i].batch;
      t->settings.workers = rows[i].workers;
      t->settings.amp = FALSE;
      t->samples_per_s = rows[i].rate;
      t->step_ms = rows[i].rate > 0 ? 1e3 * (double) rows[i].batch / rows[i].rate : 0;
      t->outcome = rows[i].rate > 0 ? DYNO_TRIAL_OK : DYNO_TRIAL_FAILED;
      g_ptr_array_add (trials, t);
    }
  return trials;
}
#define TRIALS(...) \
  make_trials ((const Row[]){ __VA_ARGS__ }, G_N_ELEMENTS (((const Row[]){ __VA_ARGS__ })))
#define TRIAL(trials, number) ((const DynoTrial *) (trials)->pdata[(number) -1])

static void
assert_next (GPtrArray *trials, guint baseline, guint today, guint expected)
{
  const DynoTrial *next = dyno_verdict_next_proof (trials, TRIAL (trials, baseline),
                                                   today ? TRIAL (trials, today) : NULL);

  g_assert_cmpuint (next ? next->number : 0, ==, expected);
}

static void
test_choice_is_of_every_stage (void)
{
  g_autoptr (GPtrArray) trials =
      TRIALS ({ "baseline", 16, 0, 100 }, { "amp", 32, 4, 300 }, { "batch", 8, 4, 120 },
              { "batch", 16, 4, 150 }, { "workers", 16, 1, 140 });

  g_assert_cmpuint (dyno_verdict_choose (trials)->number, ==, 2);
}

static void
test_choice_is_the_smallest_of_the_fast (void)
{
  g_autoptr (GPtrArray) trials =
      TRIALS ({ "batch", 64, 4, 300 }, { "batch", 32, 4, 295 }, { "batch", 16, 4, 290 },
              { "workers", 32, 2, 293 }, { "workers", 32, 1, 0 });

  g_assert_cmpuint (dyno_verdict_choose (trials)->number, ==, 4);
}

static void
test_proofs_come_in_order_and_once (void)
{
  g_autoptr (GPtrArray) trials =
      TRIALS ({ "baseline", 16, 0, 100 }, { "today", 32, 2, 200 }, { "batch", 64, 4, 300 });
  g_autoptr (GPtrArray) first = TRIALS ({ "baseline", 16, 0, 100 }, { "today", 32, 2, 200 },
                                        { "batch", 64, 4, 300 }, { "proof", 64, 4, 280 });
  g_autoptr (GPtrArray) second =
      TRIALS ({ "baseline", 16, 0, 100 }, { "today", 32, 2, 200 }, { "batch", 64, 4, 300 },
              { "proof", 64, 4, 280 }, { "proof", 16, 0, 110 });
  g_autoptr (GPtrArray) third =
      TRIALS ({ "baseline", 16, 0, 100 }, { "today", 32, 2, 200 }, { "batch", 64, 4, 300 },
              { "proof", 64, 4, 280 }, { "proof", 16, 0, 110 }, { "proof", 32, 2, 0 });

  assert_next (trials, 1, 2, 3);
  assert_next (first, 1, 2, 1);
  assert_next (second, 1, 2, 2);
  assert_next (third, 1, 2, 0);
  assert_next (first, 1, 0, 1);
  assert_next (second, 1, 0, 0);
}

static void
test_next_fastest_is_proven_when_a_proof_fails (void)
{
  g_autoptr (GPtrArray) one = TRIALS ({ "baseline", 16, 0, 100 }, { "batch", 32, 4, 200 },
                                      { "batch", 64, 4, 300 }, { "proof", 64, 4, 0 });
  g_autoptr (GPtrArray) three = TRIALS (
      { "baseline", 16, 0, 100 }, { "batch", 32, 4, 200 }, { "batch", 64, 4, 300 },
      { "batch", 48, 4, 250 }, { "proof", 64, 4, 0 }, { "proof", 48, 4, 0 }, { "proof", 32, 4, 0 });
  DynoVerdict verdict;

  assert_next (one, 1, 0, 2);
  assert_next (three, 1, 0, 0);
  dyno_verdict_judge (one, TRIAL (one, 1), NULL, &verdict);
  g_assert_false (verdict.proven);
  g_assert_cmpuint (verdict.best->number, ==, 2);
}

/* A trial of the base line was lucky: its proof is what counts, on both sides. */
static void
test_best_is_compared_with_the_base_lines_proof (void)
{
  g_autoptr (GPtrArray) trials =
      TRIALS ({ "baseline", 16, 0, 400 }, { "today", 32, 2, 100 }, { "batch", 64, 4, 410 },
              { "proof", 64, 4, 300 }, { "proof", 16, 0, 200 }, { "proof", 32, 2, 150 });
  DynoVerdict verdict;
  g_autofree char *text = NULL;

  dyno_verdict_judge (trials, TRIAL (trials, 1), TRIAL (trials, 2), &verdict);
  text = dyno_verdict_explain (&verdict, trials);
  g_assert_true (verdict.proven);
  g_assert_false (verdict.keep_today);
  g_assert_cmpuint (verdict.best->number, ==, 4);
  g_assert_cmpuint (verdict.baseline->number, ==, 5);
  g_assert_cmpuint (verdict.today->number, ==, 6);
  g_assert_nonnull (strstr (text, "1.50 times the base line (batch 16, fp32, 0 workers)"));
  g_assert_nonnull (strstr (text, "2.00 times today's settings"));
}

static void
test_a_slower_proof_gives_way_to_the_base_line (void)
{
  g_autoptr (GPtrArray) trials = TRIALS ({ "baseline", 8, 0, 200 }, { "batch", 64, 4, 410 },
                                         { "proof", 64, 4, 140 }, { "proof", 8, 0, 200 });
  DynoVerdict verdict;
  g_autofree char *text = NULL;

  dyno_verdict_judge (trials, TRIAL (trials, 1), NULL, &verdict);
  text = dyno_verdict_explain (&verdict, trials);
  g_assert_cmpuint (verdict.best->number, ==, 4);
  g_assert_true (verdict.best == verdict.baseline);
  g_assert_nonnull (strstr (text, "The base line (batch 8, fp32, 0 workers) is the fastest"));
}

static void
test_a_gain_below_3_percent_keeps_todays (void)
{
  static const struct {
    double rate;
    gboolean keep;
  } cases[] = { { 308, TRUE }, { 310, FALSE }, { 290, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) trials = TRIALS (
          { "baseline", 16, 0, 100 }, { "today", 32, 2, 200 }, { "batch", 64, 4, 300 },
          { "proof", 64, 4, cases[i].rate }, { "proof", 16, 0, 100 }, { "proof", 32, 2, 300 });
      g_autofree char *text = NULL;
      DynoVerdict verdict;

      dyno_verdict_judge (trials, TRIAL (trials, 1), TRIAL (trials, 2), &verdict);
      text = dyno_verdict_explain (&verdict, trials);
      g_assert_true (verdict.proven);
      g_assert_true (verdict.keep_today == cases[i].keep);
      g_assert_cmpuint (verdict.best->number, ==, cases[i].keep ? 6 : 4);
      g_assert_true ((strstr (text, "already as fast") != NULL) == cases[i].keep);
    }
}

/* Without a proof of them, today's settings are not said to be as fast as what was proven. */
static void
test_like_is_compared_with_like (void)
{
  g_autoptr (GPtrArray) trials = TRIALS ({ "baseline", 16, 0, 100 }, { "today", 32, 2, 310 },
                                         { "batch", 64, 4, 320 }, { "proof", 64, 4, 300 });
  DynoVerdict verdict;

  dyno_verdict_judge (trials, TRIAL (trials, 1), TRIAL (trials, 2), &verdict);
  g_assert_true (verdict.proven);
  g_assert_false (verdict.keep_today);
  g_assert_cmpuint (verdict.best->number, ==, 4);
}

static void
test_without_a_proof_it_is_said (void)
{
  g_autoptr (GPtrArray) trials = TRIALS ({ "baseline", 16, 0, 100 }, { "batch", 64, 4, 300 });
  g_autoptr (GPtrArray) none = TRIALS ({ "baseline", 16, 0, 0 });
  g_autofree char *text = NULL;
  DynoVerdict verdict;

  dyno_verdict_judge (trials, TRIAL (trials, 1), NULL, &verdict);
  text = dyno_verdict_explain (&verdict, trials);
  g_assert_false (verdict.proven);
  g_assert_cmpuint (verdict.best->number, ==, 2);
  g_assert_true (g_str_has_prefix (text, "Not proven"));
  dyno_verdict_judge (none, TRIAL (none, 1), TRIAL (none, 1), &verdict);
  g_assert_null (verdict.best);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/verdict/choice-is-of-every-stage", test_choice_is_of_every_stage);
  g_test_add_func ("/tune/verdict/choice-is-the-smallest-of-the-fast",
                   test_choice_is_the_smallest_of_the_fast);
  g_test_add_func ("/tune/verdict/proofs-come-in-order-and-once",
                   test_proofs_come_in_order_and_once);
  g_test_add_func ("/tune/verdict/next-fastest-is-proven-when-a-proof-fails",
                   test_next_fastest_is_proven_when_a_proof_fails);
  g_test_add_func ("/tune/verdict/best-is-compared-with-the-base-lines-proof",
                   test_best_is_compared_with_the_base_lines_proof);
  g_test_add_func ("/tune/verdict/a-slower-proof-gives-way-to-the-base-line",
                   test_a_slower_proof_gives_way_to_the_base_line);
  g_test_add_func ("/tune/verdict/a-gain-below-3-percent-keeps-todays",
                   test_a_gain_below_3_percent_keeps_todays);
  g_test_add_func ("/tune/verdict/like-is-compared-with-like", test_like_is_compared_with_like);
  g_test_add_func ("/tune/verdict/without-a-proof-it-is-said", test_without_a_proof_it_is_said);
  return g_test_run ();
}
