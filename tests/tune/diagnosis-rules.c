/* SPDX-License-Identifier: MIT */
/* The rules of the diagnosis: each one applies just past its threshold, and not just before it. */
#include "diagnosis-test.h"
#include <math.h>
#include <string.h>

static void
provoke_not_a_number (Machine *m, gboolean past)
{
  m->n_bad = past ? 3 : 0;
}

static void
provoke_diverged (Machine *m, gboolean past)
{
  m->loss1 = past ? 2.4 * 1100 : 2.4 * 900;
}

static void
provoke_disk (Machine *m, gboolean past)
{
  m->in.settings.workers = 4;
  wait_for_data (m, 10.3, 1.25);
  m->fetch_ms = past ? 0.7 : 0.6;
}

/* The cache is full at the beginning of the last quarter (past), or slightly later. */
static void
provoke_first_epoch (Machine *m, gboolean past)
{
  wait_for_data (m, 10, 5);
  m->wait_until = past ? 0.755 : 0.785;
}

static void
provoke_cpu (Machine *m, gboolean past)
{
  m->in.settings.workers = 4;
  wait_for_data (m, past ? 1.3 : 0.9, 0.68);
}

static void
provoke_transfer (Machine *m, gboolean past)
{
  m->in.settings.pinned = FALSE;
  m->upload_ms = past ? 1.3 : 0.9;
  m->step_ms = 9.7 + m->upload_ms;
}

static void
provoke_exchange (Machine *m, gboolean past)
{
  exchange_for (m, past ? 1.3 : 1);
}

static void
provoke_slower_rank (Machine *m, gboolean past)
{
  provoke_exchange (m, FALSE);
  m->in.facts.exchange_wait_ms = 0.3;
  m->in.facts.wait_ranks_ms = past ? 1.3 : 1;
  m->step_ms = 10 + m->in.facts.wait_ranks_ms;
}

static void
provoke_launch (Machine *m, gboolean past)
{
  m->in.facts.batch_dispatches = past ? 2000 : 1500; /* 9.7 ms: 4.85 and 6.5 us each */
}

static void
provoke_idle (Machine *m, gboolean past)
{
  m->upload_ms = 0;
  m->step_ms = past ? 11.6 : 11.2;
}

static void
provoke_heat (Machine *m, gboolean past)
{
  m->in.sensors.heat_share = past ? 0.12 : 0.08;
}

static void
provoke_amp (Machine *m, gboolean past)
{
  m->in.facts.amp = m->in.settings.amp = FALSE;
  m->in.facts.matrix_flops_per_s = past ? 13e12 : 11e12;
}

static void
provoke_small_batch (Machine *m, gboolean past)
{
  m->in.facts.batch_bytes = 1e9;
  m->in.facts.flops_per_sample = past ? 2e9 : 2.5e9; /* 26 and 33 % of 50 TFLOP/s */
}

static void
provoke_workers (Machine *m, gboolean past)
{
  m->in.settings.workers = past ? 17 : 16;
}

static void
provoke_cache (Machine *m, gboolean past)
{
  wait_for_data (m, 3, 0.8);
  m->in.facts.sample_bytes = past ? 70000 : 80000; /* 7.17 and 8.2 GiB of 8 */
}

static void
provoke_memory (Machine *m, gboolean past)
{
  m->in.facts.planned_bytes = (guint64) ((past ? 0.96 : 0.94) * (double) ((guint64) 8 << 30));
}

static void
provoke_no_validation (Machine *m, gboolean past)
{
  m->in.facts.n_validation = past ? 0 : 1;
}

static void
provoke_software (Machine *m, gboolean past)
{
  m->in.facts.software = past;
}

static void
provoke_governor (Machine *m, gboolean past)
{
  wait_for_data (m, 2, 0.8);
  g_strlcpy (m->in.facts.governor, past ? "powersave" : "performance", sizeof m->in.facts.governor);
}

static void
provoke_persistence (Machine *m, gboolean past)
{
  m->in.facts.no_persistence = past;
}

static void
provoke_power (Machine *m, gboolean past)
{
  m->in.sensors.power_share = past ? 0.12 : 0.08;
}

static void
provoke_growth (Machine *m, gboolean past)
{
  m->vram_growth = past ? 100 << 20 : 10 << 20;
}

static void
provoke_ram (Machine *m, gboolean past)
{
  double values[DYNO_N_SENSORS];

  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    values[i] = (double) NAN;
  values[DYNO_SENSOR_RAM_TOTAL] = 100e9;
  for (guint i = 0; i < 200; i++)
    {
      values[DYNO_SENSOR_RAM_USED] = 20e9 + (past ? 15e9 : 8e9) * MIN (i, 150) / 150;
      dyno_diagnosis_input_add_sensors (&m->in, values, 0);
    }
}

static void
provoke_slowing (Machine *m, gboolean past)
{
  m->late_factor = past ? 1.2 : 1.12;
}

static void
provoke_swapped (Machine *m, gboolean past)
{
  m->vram_all = (guint64) ((past ? 0.99 : 0.97) * (double) ((guint64) 8 << 30));
}

static void
provoke_host_swap (Machine *m, gboolean past)
{
  m->in.sensors.swap_in_per_s = past ? 1.1 * (1 << 20) : 0.9 * (1 << 20);
}

static void
provoke_gpu_shared (Machine *m, gboolean past)
{
  m->in.sensors.gpu_others = past ? 1 : 0.5;
}

static void
provoke_cpu_shared (Machine *m, gboolean past)
{
  m->in.sensors.cpu_busy = 0.6;
  m->in.sensors.cpu_own = past ? 0.4 : 0.5;
}

static void
provoke_skips (Machine *m, gboolean past)
{
  m->skipped_share = past ? 0.063 : 0.037;
}

static void
provoke_ends (Machine *m, gboolean past)
{
  m->validation_s = past ? 0.20 : 0.13; /* of epochs of 0.5 s */
}

static void
provoke_failed (Machine *m, gboolean past)
{
  m->in.facts.state = past ? DYNO_SESSION_FAILED : DYNO_SESSION_STOPPED;
  g_strlcpy (m->in.facts.problem, "the disk is gone", sizeof m->in.facts.problem);
}

static void
provoke_chance (Machine *m, gboolean past)
{
  for (guint i = 0; i < 8; i++)
    m->train_loss[i] = past || i != 2 ? 2.29 : 2.2;
}

static void
provoke_overfitting (Machine *m, gboolean past)
{
  for (guint i = 1; i < 8; i++)
    m->val_loss[i] = m->val_loss[0] * (past ? 1.08 : 1.03);
}

static const struct {
  const char *id;
  void (*provoke) (Machine *m, gboolean past);
  const char *key, *value; /* the advised setting; NULL: none */
  gboolean verdict;        /* the finding is the only limit */
} cases[] = {
  { "not-a-number", provoke_not_a_number, "clip_norm", "1", TRUE },
  { "diverged", provoke_diverged, "lr", "0.005", TRUE },
  { "waited-at-first", provoke_first_epoch, NULL, NULL, TRUE },
  { "disk-bound", provoke_disk, "workers", "8", TRUE },
  { "cpu-bound", provoke_cpu, "workers", "5", TRUE },
  { "transfer-bound", provoke_transfer, "pinned", "true", TRUE },
  { "exchange-bound", provoke_exchange, "exchange.half", "true", TRUE },
  { "waits-for-ranks", provoke_slower_rank, NULL, NULL, TRUE },
  { "launch-bound", provoke_launch, "batch_size", "128", TRUE },
  { "idle", provoke_idle, "batch_size", NULL, TRUE },
  { "throttled-temperature", provoke_heat, NULL, NULL, TRUE },
  { "amp-off", provoke_amp, "amp", "true", TRUE },
  { "small-batch", provoke_small_batch, "batch_size", "128", TRUE },
  { "workers-above-cores", provoke_workers, "workers", "16", FALSE },
  { "cache-fits", provoke_cache, "cache", "true", FALSE },
  { "memory-tight", provoke_memory, "batch_size", NULL, FALSE },
  { "no-validation", provoke_no_validation, "data.val_split", "0.1", FALSE },
  { "software-device", provoke_software, NULL, NULL, FALSE },
  { "cpu-governor", provoke_governor, NULL, NULL, FALSE },
  { "gpu-persistence", provoke_persistence, NULL, NULL, FALSE },
  { "throttled-power", provoke_power, NULL, NULL, FALSE },
  { "memory-growing", provoke_growth, NULL, NULL, FALSE },
  { "host-memory-growing", provoke_ram, NULL, NULL, FALSE },
  { "slowing-down", provoke_slowing, NULL, NULL, FALSE },
  { "vram-swapped", provoke_swapped, "vram_budget", NULL, FALSE },
  { "host-swapping", provoke_host_swap, "cache", NULL, FALSE },
  { "gpu-shared", provoke_gpu_shared, NULL, NULL, FALSE },
  { "cpu-shared", provoke_cpu_shared, NULL, NULL, FALSE },
  { "updates-skipped", provoke_skips, "amp", "false", FALSE },
  { "long-epoch-ends", provoke_ends, "data.val_split", NULL, TRUE },
  { "failed", provoke_failed, NULL, NULL, FALSE },
  { "stuck-at-chance", provoke_chance, "lr", NULL, FALSE },
  { "overfitting", provoke_overfitting, "epochs", "1", FALSE },
};

static void
test_rule (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);

  for (guint past = 0; past < 2; past++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      cases[i].provoke (&m, past == 1);
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, cases[i].id);
      g_assert_true ((finding != NULL) == (past == 1));
      if (!past)
        continue;
      g_assert_cmpint (finding->level, !=, DYNO_FINDING_GOOD);
      g_assert_cmpstr (finding->key, ==, cases[i].key);
      g_assert_cmpstr (finding->value, ==, cases[i].value);
      g_assert_null (strchr (finding->text, '{'));
      g_assert_true (!finding->action || !strchr (finding->action, '{'));
      if (finding->key)
        g_assert_nonnull (dyno_setting_find (finding->key));
      if (finding->value && finding->key)
        g_assert_true (dyno_settings_set (&m.in.settings, finding->key, finding->value, NULL));
      g_assert_true (g_str_has_prefix (d->verdict, finding->text) == cases[i].verdict);
      if (cases[i].verdict)
        g_assert_cmpstr (d->knob, ==, cases[i].key);
    }
}

/* The ranks of one host see each other as other programs there. */
static void
test_ranks_beside (void)
{
  for (guint hosts = 1; hosts <= 2; hosts++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;

      machine_init (&m);
      provoke_gpu_shared (&m, TRUE);
      provoke_cpu_shared (&m, TRUE);
      m.in.facts.ranks = 2;
      m.in.facts.hosts = hosts;
      d = diagnose (&m);
      g_assert_true ((dyno_diagnosis_find (d, "gpu-shared") != NULL) == (hosts == 2));
      g_assert_true ((dyno_diagnosis_find (d, "cpu-shared") != NULL) == (hosts == 2));
    }
}

/* Singular forms: "another", and "one core". */
static void
test_single_ones (void)
{
  for (guint n = 1; n <= 2; n++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *shared, *workers;

      machine_init (&m);
      m.in.sensors.gpu_others = n;
      m.in.facts.cores = n;
      dyno_settings_set (&m.in.settings, "workers", "8", NULL);
      d = diagnose (&m);
      shared = dyno_diagnosis_find (d, "gpu-shared");
      workers = dyno_diagnosis_find (d, "workers-above-cores");
      g_assert_nonnull (shared);
      g_assert_nonnull (workers);
      g_assert_cmpstr (shared->text, ==,
                       n == 1 ? "Another program used this device meanwhile"
                              : "2 other programs used this device meanwhile");
      g_assert_cmpstr (workers->text, ==,
                       n == 1 ? "8 workers share one core" : "8 workers share 2 cores");
    }
}

/* Every rule, except the good signs, has a case above, and states the source of its threshold. */
static void
test_table (void)
{
  static const char *const elsewhere[] = { "why-not-all", "device-rates" };
  const DynoRuleInfo *rule;

  for (guint i = 0; (rule = dyno_diagnosis_get_rule (i)); i++)
    {
      gboolean found = rule->level == DYNO_FINDING_GOOD;

      for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
        found = found || strcmp (cases[k].id, rule->id) == 0;
      for (guint k = 0; k < G_N_ELEMENTS (elsewhere); k++)
        found = found || strcmp (elsewhere[k], rule->id) == 0;
      if (!found)
        g_error ("The rule %s is provoked by no test", rule->id);
      g_assert_true (rule->threshold == 0 || (*rule->unit && *rule->source));
      for (guint k = 0; k < i; k++)
        g_assert_cmpstr (dyno_diagnosis_get_rule (k)->id, !=, rule->id);
    }
}

/* Findings are sorted by list, and within each by severity. */
static void
test_order (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  provoke_growth (&m, TRUE);
  provoke_cpu (&m, TRUE);
  provoke_workers (&m, TRUE);
  provoke_chance (&m, TRUE);
  d = diagnose (&m);
  for (guint i = 1; i < d->findings->len; i++)
    {
      const DynoFinding *a = d->findings->pdata[i - 1], *b = d->findings->pdata[i];

      g_assert_cmpint (a->check, <=, b->check);
      g_assert_true (a->check < b->check || a->level >= b->level);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/tune/diagnosis/rule/", cases[i].id, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_rule);
    }
  g_test_add_func ("/tune/diagnosis/one-is-no-plural", test_single_ones);
  g_test_add_func ("/tune/diagnosis/ranks-of-a-host-are-no-other-programs", test_ranks_beside);
  g_test_add_func ("/tune/diagnosis/every-rule-is-provoked-and-sourced", test_table);
  g_test_add_func ("/tune/diagnosis/findings-by-list-worst-first", test_order);
  return g_test_run ();
}
