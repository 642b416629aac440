/* SPDX-License-Identifier: MIT */
/* The claims of a diagnosis, over thousands of simulated runs: phases add up, ceilings are above
 * the rate, the verdict names the longest phase, and every share is between 0 and 1.  Seeds are
 * fixed. */
#include "diagnosis-test.h"
#include <math.h>
#include <string.h>

#define CASES 3000

static double
between (GRand *random, double low, double high)
{
  return g_rand_double_range (random, low, high);
}

static gboolean
chance (GRand *random, double share)
{
  return g_rand_double (random) < share;
}

static void
draw_machine (GRand *random, Machine *m)
{
  DynoRunFacts *f = &m->in.facts;
  double part = between (random, 0.05, 1);

  machine_init (m);
  m->n = 40;
  m->step_ms = exp (between (random, 0, 5));
  m->forward_ms = m->step_ms * part * between (random, 0.2, 0.4);
  m->backward_ms = m->step_ms * part * between (random, 0.3, 0.7);
  m->optimizer_ms = m->step_ms * part * between (random, 0.01, 0.1);
  m->wait_ms = chance (random, 0.6) ? m->step_ms * between (random, 0, 1) : 0;
  m->upload_ms = chance (random, 0.5) ? m->step_ms * between (random, 0, 0.6) : 0;
  m->host_copy_ms = chance (random, 0.2) ? m->step_ms * between (random, 0, 0.6) : 0;
  m->decode_ms = chance (random, 0.9) ? exp (between (random, -4, 4)) : 0;
  m->fetch_ms = m->decode_ms * between (random, 0, 1);
  m->workers = chance (random, 0.1) ? 0 : (guint) g_rand_int_range (random, 1, 20);
  m->late_factor = chance (random, 0.2) ? between (random, 0.5, 2) : 1;
  m->wait_until = chance (random, 0.2) ? between (random, 0.1, 1) : 0;
  m->validation_s = chance (random, 0.3) ? m->step_ms / 1e3 * between (random, 0, 40) : 0;
  m->saving_s = chance (random, 0.3) ? m->step_ms / 1e3 * between (random, 0, 20) : 0;
  m->in.settings.workers = m->workers;
  m->in.settings.pinned = chance (random, 0.5);
  m->in.settings.cache = chance (random, 0.3);
  f->software = chance (random, 0.3);
  f->generated = chance (random, 0.1);
  f->amp = chance (random, 0.5);
  f->cores = (guint64) g_rand_int_range (random, 1, 64);
  f->batch_dispatches = chance (random, 0.5) ? (guint64) g_rand_int_range (random, 1, 5000) : 0;
  f->fitting_batch = (guint64) g_rand_int_range (random, 64, 1000);
  f->single_flops_per_s = chance (random, 0.7) ? exp (between (random, 24, 32)) : 0;
  f->matrix_flops_per_s = f->single_flops_per_s * between (random, 1, 8);
  if (chance (random, 0.3))
    f->copy_bytes_per_s = 0;
  if (chance (random, 0.3))
    {
      double step_ms = m->step_ms;

      exchange_for (m, step_ms * between (random, 0, 0.5));
      m->step_ms = step_ms;
    }
  if (chance (random, 0.5))
    m->in.gpu_ceiling = exp (between (random, 4, 11));
  if (chance (random, 0.5))
    m->in.loader_ceiling = exp (between (random, 4, 11));
}

/* --- phases ----------------------------------------------------------------------------------- */

enum { COMPUTES, WAITS, COPIES, EXCHANGES, IDLES, ENDS, N_PARTS };

/* The parts as shares of a step, to which its part of the ends of epochs is added. */
static void
fill_parts (const DynoPhases *p, double *parts)
{
  parts[COMPUTES] = (p->forward_ms + p->backward_ms + p->optimizer_ms) / p->step_ms;
  parts[WAITS] = p->wait_data_ms / p->step_ms;
  parts[COPIES] = p->copy_ms / p->step_ms;
  parts[EXCHANGES] = p->exchange_ms / p->step_ms;
  parts[IDLES] = p->idle_ms / p->step_ms;
  parts[ENDS] = (p->validation_ms + p->saving_ms) / p->step_ms;
}

/* The phase that a verdict names; N_PARTS: none. */
static guint
find_subject (const char *verdict)
{
  static const struct {
    const char *words;
    guint part;
  } subjects[] = {
    { "The disk limits", WAITS },          { "The data pipeline limits", WAITS },
    { "Copies to the device", COPIES },    { "The exchange of gradients", EXCHANGES },
    { "A slower rank limits", EXCHANGES }, { "The device idles", IDLES },
    { "The ends of epochs", ENDS },        { "The device limits", COMPUTES },
    { "The device limits", COMPUTES },     { "Starting kernels limits", COMPUTES },
  };

  for (guint i = 0; i < G_N_ELEMENTS (subjects); i++)
    if (g_str_has_prefix (verdict, subjects[i].words))
      return subjects[i].part;
  return N_PARTS;
}

static void
check_phases (const DynoDiagnosis *d)
{
  double parts[N_PARTS], sum = 0;

  fill_parts (&d->phases, parts);
  for (guint i = 0; i < N_PARTS; i++)
    {
      g_assert_cmpfloat (parts[i], >=, 0);
      g_assert_cmpfloat (parts[i], <=, 1 + 1e-9);
      sum += parts[i];
    }
  g_assert_cmpfloat_with_epsilon (sum, 1, 1e-9);
}

/* The longest phase without computing is the limit; computing is the limit only if no other phase
 * takes more time. */
static void
check_verdict (const DynoDiagnosis *d)
{
  double parts[N_PARTS];
  guint subject = find_subject (d->verdict);

  fill_parts (&d->phases, parts);
  if (subject == N_PARTS)
    return;
  /* The gaps between kernels are part of their start. */
  if (g_str_has_prefix (d->verdict, "Starting"))
    parts[COMPUTES] += parts[IDLES];
  for (guint i = 0; i < N_PARTS; i++)
    {
      gboolean is_named =
          (i == WAITS
           && (dyno_diagnosis_find (d, "cpu-bound") || dyno_diagnosis_find (d, "disk-bound")))
          || (i == COPIES && dyno_diagnosis_find (d, "transfer-bound"))
          || (i == IDLES && dyno_diagnosis_find (d, "idle"))
          || (i == ENDS && dyno_diagnosis_find (d, "long-epoch-ends"));

      if (is_named && subject != EXCHANGES) /* for which either of two names is used */
        g_assert_cmpfloat (parts[i], <=, parts[subject] + 1e-9);
    }
  for (guint i = 0; i < N_PARTS && subject == COMPUTES; i++)
    g_assert_cmpfloat (parts[i], <=, parts[COMPUTES]);
}

static void
check_ceilings (const Machine *m, const DynoDiagnosis *d)
{
  g_assert_cmpfloat (d->rate, >, 0);
  g_assert_false (d->loader_ceiling < d->rate);
  g_assert_false (d->gpu_ceiling < d->rate);
  g_assert_false (d->exchange_ceiling < d->rate);
  if (d->gpu_measured) /* the ceiling was measured and is not corrected */
    g_assert_cmpfloat (d->gpu_ceiling, ==, m->in.gpu_ceiling);
  if (d->loader_measured)
    g_assert_cmpfloat (d->loader_ceiling, ==, m->in.loader_ceiling);
  g_assert_false (d->expected_gain < 0);
}

/* --- sentences -------------------------------------------------------------------------------- */

static void
check_percents (const char *text)
{
  for (const char *at = text; (at = strstr (at, " %")); at++)
    {
      const char *begin = at;
      double value;

      while (begin > text && strchr ("0123456789.", begin[-1]))
        begin--;
      if (begin == at || (begin > text && begin[-1] == '+'))
        continue; /* a gain may exceed 100 % */
      value = g_ascii_strtod (begin, NULL);
      if (!(value >= 0 && value <= 100))
        g_error ("no share: %s", text);
    }
}

/* The rates of a sentence are those of the diagnosis. */
static void
check_rates (const DynoDiagnosis *d, const char *text)
{
  g_autoptr (GRegex) rates = g_regex_new ("([0-9][0-9,.]*) samples/s", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  const double known[] = { d->rate, d->loader_ceiling, d->gpu_ceiling, d->exchange_ceiling };

  g_regex_match (rates, text, 0, &match);
  for (; g_match_info_matches (match); g_match_info_next (match, NULL))
    {
      g_autofree char *word = g_match_info_fetch (match, 1);
      g_auto (GStrv) parts = g_strsplit (word, ",", -1);
      g_autofree char *number = g_strjoinv ("", parts);
      double value = g_ascii_strtod (number, NULL);
      gboolean found = FALSE;

      for (guint i = 0; i < G_N_ELEMENTS (known); i++)
        found |= fabs (known[i] - value) <= MAX (0.51, 0.006 * value);
      if (!found)
        g_error ("“%s” is no rate of this run: %s", word, text);
    }
}

static void
test_claims_are_consistent (void)
{
  guint subjects[N_PARTS + 1] = { 0 };

  for (guint32 seed = 1; seed <= CASES; seed++)
    {
      GRand *random = g_rand_new_with_seed (seed);
      g_autoptr (DynoDiagnosis) d = NULL;
      Machine m;

      draw_machine (random, &m);
      d = diagnose (&m);
      g_test_message ("%u: %s", seed, d->verdict);
      check_phases (d);
      check_ceilings (&m, d);
      check_verdict (d);
      check_percents (d->verdict);
      check_rates (d, d->verdict);
      for (guint i = 0; i < d->findings->len; i++)
        {
          const DynoFinding *finding = d->findings->pdata[i];

          check_percents (finding->text);
          check_rates (d, finding->text);
          if (strstr (finding->text, "nan"))
            g_error ("no number: %s", finding->text);
        }
      subjects[find_subject (d->verdict)]++;
      g_rand_free (random);
    }
  for (guint i = 0; i < N_PARTS; i++)
    g_assert_cmpuint (subjects[i], >=, 20);
}

/* --- one by one -------------------------------------------------------------------------------- */

static void
test_longest_phase_limits (void)
{
  static const char *const limits[] = { "cpu-bound", "transfer-bound", "idle", "long-epoch-ends" };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;

      machine_init (&m); /* computes 9.7 ms */
      wait_for_data (&m, i == 0 ? 18 : 7, 5);
      m.upload_ms = i == 1 ? 18 : 7;
      m.step_ms += m.upload_ms + (i == 2 ? 18 : 7);
      m.validation_s = i == 3 ? 1 : 0.75; /* of 50 steps */
      d = diagnose (&m);
      for (guint k = 0; k < G_N_ELEMENTS (limits); k++)
        g_assert_nonnull (dyno_diagnosis_find (d, limits[k]));
      g_assert_true (g_str_has_prefix (d->verdict, dyno_diagnosis_find (d, limits[i])->text));
    }
}

/* The ceiling that a search measured is below the rate of this run, so it is neither used nor
 * called measured. */
static void
test_exceeded_ceiling_is_not_measured (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) below = NULL, above = NULL;

  machine_init (&m); /* 64 samples in 10 ms, with 9.7 ms of computing */
  m.in.gpu_ceiling = m.in.loader_ceiling = 1537;
  below = diagnose (&m);
  g_assert_false (below->gpu_measured || below->loader_measured);
  g_assert_cmpfloat_with_epsilon (below->gpu_ceiling, 64 / 9.7e-3, 1e-6);
  machine_init (&m);
  m.in.gpu_ceiling = m.in.loader_ceiling = 6450;
  above = diagnose (&m);
  g_assert_true (above->gpu_measured && above->loader_measured);
  g_assert_cmpfloat (above->gpu_ceiling, ==, 6450);
}

/* Time that is neither computing, copying nor waiting is reported where no rule applies. */
static void
test_rest_is_named (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  m.in.facts.software = TRUE;
  m.step_ms = 40;
  d = diagnose (&m);
  g_assert_cmpstr (
      d->verdict, ==,
      "No setting stands out that should be changed; most of a step, 72 %, is idle between "
      "steps");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/diagnosis-claims/longest-phase-limits", test_longest_phase_limits);
  g_test_add_func ("/tune/diagnosis-claims/exceeded-ceiling-is-not-measured",
                   test_exceeded_ceiling_is_not_measured);
  g_test_add_func ("/tune/diagnosis-claims/rest-is-named", test_rest_is_named);
  g_test_add_func ("/tune/diagnosis-claims/are-consistent", test_claims_are_consistent);
  return g_test_run ();
}
