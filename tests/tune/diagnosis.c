/* SPDX-License-Identifier: MIT */
/* The diagnosis: each rule is provoked past its threshold, and silent just short of it; phases add
 * up; ceilings and gains follow from the run.  No device, no clock, no file. */
#include "base-error.h"
#include "diagnosis.h"
#include "runfacts.h"
#include "sensorscsv.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* A machine and a run on it, from which an input is made.  Times of a step in milliseconds. */
typedef struct {
  DynoDiagnosisInput in;
  guint n;
  double step_ms, wait_ms, upload_ms, host_copy_ms, forward_ms, backward_ms, optimizer_ms;
  double decode_ms, fetch_ms; /* of a sample */
  guint workers, batch;
  double late_factor;  /* of the last half's steps */
  double wait_until;   /* share of the run after which no data is waited for; 0: to its end */
  guint64 vram_growth; /* by the end */
  guint64 vram_all;
  guint n_bad; /* last losses that are NaN */
  double skipped_share;
  double loss0, loss1;
  guint n_epochs;
  double train_loss[8], val_loss[8], validation_s, saving_s;
} Machine;

/* A healthy run on a GPU: 64 samples in 10 ms, data ahead, learning. */
static void
machine_init (Machine *m)
{
  memset (m, 0, sizeof *m);
  dyno_diagnosis_input_init (&m->in);
  m->in.has_settings = TRUE;
  m->in.settings.workers = 8;
  m->in.settings.batch_size = 64;
  m->in.settings.amp = TRUE;
  m->in.settings.epochs = 4;
  m->in.settings.pinned = TRUE;
  m->in.facts = (DynoRunFacts){ .device = "Test GPU",
                                .vendor_id = 0x1002,
                                .fp16 = TRUE,
                                .matrix = TRUE,
                                .timestamps = TRUE,
                                .device_bytes = (guint64) 8 << 30,
                                .limit_bytes = (guint64) 8 << 30,
                                .planned_bytes = (guint64) 1 << 30,
                                .fitting_batch = 512,
                                .cores = 16,
                                .ram_free_bytes = (guint64) 16 << 30,
                                .n_train = 100000,
                                .n_validation = 10000,
                                .batch_size = 64,
                                .accumulate = 1,
                                .parts = 1,
                                .amp = TRUE,
                                .sample_bytes = 1 << 20, /* 100 GiB in all: no cache would hold */
                                .flops_per_sample = 5e9,
                                .batch_dispatches = 200,
                                .batch_bytes = 2e9,
                                .copy_bytes_per_s = 400e9,
                                .single_flops_per_s = 10e12,
                                .matrix_flops_per_s = 50e12,
                                .guess_loss = 2.3,
                                .state = DYNO_SESSION_FINISHED };
  m->n = 200;
  m->step_ms = 10;
  m->upload_ms = 1;
  m->forward_ms = 3.2;
  m->backward_ms = 6;
  m->optimizer_ms = 0.5;
  m->decode_ms = 0.5;
  m->workers = 8;
  m->batch = 64;
  m->late_factor = 1;
  m->loss0 = 2.4;
  m->loss1 = 0.8;
  m->n_epochs = 4;
  for (guint i = 0; i < 8; i++)
    {
      m->train_loss[i] = 1.5 - 0.2 * i;
      m->val_loss[i] = 1.6 - 0.2 * i;
    }
  m->validation_s = 0.02;
  m->saving_s = 0.005;
}

static void
add_epoch (Machine *m, guint epoch, guint64 step, double *clock)
{
  DynoEpochMetrics row = { .epoch = epoch + 1,
                           .step = step,
                           .train_loss = m->train_loss[epoch],
                           .val_loss = m->val_loss[epoch],
                           .validation_seconds = m->validation_s,
                           .saving_seconds = epoch > 0 ? m->saving_s : 0 };

  *clock += m->validation_s + m->saving_s;
  dyno_stretches_add_epoch (&m->in.log, &row);
}

static DynoDiagnosis *
diagnose (Machine *m)
{
  double clock = 0;
  guint each = m->n_epochs > 0 ? m->n / m->n_epochs : m->n;

  for (guint i = 0; i < m->n; i++)
    {
      double late = i >= m->n / 2 ? m->late_factor : 1, x = (double) i / (m->n - 1),
             wait = m->wait_until > 0 && x > m->wait_until ? 0 : m->wait_ms;
      DynoStepMetrics step = {
        .step = i + 1,
        .epoch = i / each + 1,
        .loss = i + m->n_bad >= m->n ? (double) NAN : m->loss0 + (m->loss1 - m->loss0) * x,
        .step_ms = (m->step_ms - m->wait_ms + wait) * late,
        .wait_data_ms = wait * late,
        .upload_ms = m->upload_ms,
        .host_copy_ms = m->host_copy_ms,
        .forward_ms = m->forward_ms * late,
        .backward_ms = m->backward_ms * late,
        .optimizer_ms = m->optimizer_ms * late,
        .skipped = fmod (i * m->skipped_share, 1) + m->skipped_share > 1,
        .vram_bytes = ((guint64) 1 << 30) + (guint64) (x * (double) m->vram_growth),
        .vram_all_bytes = m->vram_all,
        .samples = m->batch,
        .decoded = m->decode_ms > 0 ? m->batch : 0,
        .workers = m->workers,
        .decode_ms = m->decode_ms * m->batch,
        .fetch_ms = m->fetch_ms * m->batch,
      };

      clock += step.step_ms / 1e3;
      step.seconds = clock;
      dyno_stretches_add_step (&m->in.log, &step);
      if (m->n_epochs > 0 && (i + 1) % each == 0)
        add_epoch (m, i / each, i + 1, &clock);
    }
  return dyno_diagnose (&m->in);
}

/* --- provoking: far past the threshold, or just short of it ------------------------------------ */

/* So many milliseconds of a step are waited for data, which a worker decodes in so many. */
static void
wait_for_data (Machine *m, double wait_ms, double decode_ms)
{
  m->wait_ms = wait_ms;
  m->step_ms = 9.7 + wait_ms;
  m->decode_ms = decode_ms;
  m->workers = (guint) m->in.settings.workers;
}

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

/* The cache is full before the last quarter, or a little later. */
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

/* Two ranks: the exchange takes part of each step that nothing hides. */
static void
provoke_exchange (Machine *m, gboolean past)
{
  m->in.facts.ranks = 2;
  m->in.facts.hosts = 1;
  m->in.facts.exchange_bytes = 100 << 20;
  m->in.facts.exchange_buckets = 8;
  m->in.facts.exchange_sum_ms = 8;
  m->in.facts.exchange_wait_ms = past ? 1.3 : 1;
  m->upload_ms = 0;
  m->batch = 128;
  m->step_ms = 9.7 + m->in.facts.exchange_wait_ms;
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
  const char *key, *value; /* that it advises; NULL: none */
  gboolean verdict;        /* it is what limits, alone */
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
  { "long-epoch-ends", provoke_ends, "data.val_split", NULL, FALSE },
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

/* --- several ranks ---------------------------------------------------------------------------- */

/* What to change of an exchange that limits, and what that brings of a step of 11 ms. */
static void
test_exchange_advice (void)
{
  static const struct {
    gboolean amp, half;
    guint64 bucket, buckets, fitting;
    const char *key, *value;
    double gain;
  } advices[] = {
    { TRUE, FALSE, 0, 8, 512, "exchange.half", "true", 11 / 9.7 - 1 },
    { TRUE, TRUE, 0, 8, 512, "batch_size", "128", 22 / 20.7 - 1 },
    { FALSE, FALSE, 0, 8, 100, "accumulate", "2", 22 / 20.7 - 1 },
    { TRUE, FALSE, 1 << 30, 2, 512, "exchange.bucket", "0", 0 },
    { TRUE, FALSE, 1 << 20, 8, 512, "exchange.half", "true", 11 / 9.7 - 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (advices); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      provoke_exchange (&m, TRUE);
      m.in.facts.amp = advices[i].amp;
      m.in.facts.matrix = FALSE; /* else AMP is advised too */
      m.in.settings.exchange_half = advices[i].half;
      m.in.settings.exchange_bucket = (gint64) advices[i].bucket;
      m.in.facts.exchange_buckets = advices[i].buckets;
      m.in.facts.fitting_batch = advices[i].fitting;
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "exchange-bound");
      g_assert_nonnull (finding);
      g_assert_cmpstr (d->knob, ==, advices[i].key);
      g_assert_cmpstr (finding->value, ==, advices[i].value);
      if (advices[i].gain > 0)
        g_assert_cmpfloat_with_epsilon (d->expected_gain, advices[i].gain, 1e-9);
      else
        g_assert_true (isnan (d->expected_gain));
    }
}

/* The ceilings are those of all ranks; the exchange is a phase; one process has neither. */
static void
test_ranks (void)
{
  Machine m, alone;
  g_autoptr (DynoDiagnosis) d = NULL, one = NULL;

  machine_init (&m);
  provoke_exchange (&m, TRUE);
  m.in.facts.wait_ranks_ms = 0.2;
  m.step_ms = 11.5; /* 0.3 are idle */
  d = diagnose (&m);
  g_assert_cmpuint (d->ranks, ==, 2);
  g_assert_cmpfloat_with_epsilon (d->phases.exchange_ms, 1.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.idle_ms, 0.3, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->exchange_ceiling, 128 / 0.008, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->gpu_ceiling, 128 / 0.0097, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->loader_ceiling, 2 * 8 / 0.0005, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->arithmetic_share, 5e9 * 64 / 0.0097 / 50e12, 1e-6);

  machine_init (&alone);
  alone.in.facts.exchange_wait_ms = 0;
  one = diagnose (&alone);
  g_assert_cmpuint (one->ranks, ==, 1);
  g_assert_true (isnan (one->exchange_ceiling) && one->phases.exchange_ms == 0);
  g_assert_null (dyno_diagnosis_find (one, "exchange-bound"));
}

/* --- what is good ------------------------------------------------------------------------------ */

static void
test_healthy (void)
{
  static const char *const good[] = { "gpu-bound", "prepared", "data-ahead", "steady", "learns" };
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  d = diagnose (&m);
  for (guint i = 0; i < d->findings->len; i++)
    g_assert_cmpint (((DynoFinding *) d->findings->pdata[i])->level, <=, DYNO_FINDING_NOTE);
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      const DynoFinding *finding = dyno_diagnosis_find (d, good[i]);

      g_assert_nonnull (finding);
      g_assert_cmpint (finding->level, ==, DYNO_FINDING_GOOD);
    }
  g_assert_nonnull (dyno_diagnosis_find (d, "device-rates"));
  g_assert_null (d->knob);
  g_assert_true (isnan (d->expected_gain));
  g_assert_cmpfloat_with_epsilon (d->arithmetic_share, 5e9 * 64 / 0.0097 / 50e12, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->bandwidth_share, 2e9 / 0.0097 / 400e9, 1e-6);
}

/* Every rule that is no good sign is provoked by a case above, and says where its threshold is
 * from. */
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

/* --- times ------------------------------------------------------------------------------------- */

static double
sum_of_phases (const DynoPhases *p)
{
  return p->wait_data_ms + p->copy_ms + p->forward_ms + p->backward_ms + p->optimizer_ms
         + p->exchange_ms + p->validation_ms + p->saving_ms + p->idle_ms;
}

static void
test_phases (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;
  double timed;

  machine_init (&m);
  m.step_ms = 16;
  m.wait_ms = 4;
  m.upload_ms = 1.5;
  d = diagnose (&m);
  timed = m.n - 1; /* the first step is left out */
  g_assert_cmpfloat_with_epsilon (d->phases.wait_data_ms, 4, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.copy_ms, 1.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.forward_ms, 3.2, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.idle_ms, 16 - 9.7 - 5.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.validation_ms, 4 * 20 / timed, 1e-9);
  /* the saving after the last epoch is after all that the log tells */
  g_assert_cmpfloat_with_epsilon (d->phases.saving_ms, 3 * 5 / timed, 1e-9);
  g_assert_cmpfloat_with_epsilon (sum_of_phases (&d->phases), d->phases.step_ms, 1e-9);
  /* all of the run's clock, up to the last validation, but for the first step */
  g_assert_cmpfloat_with_epsilon (d->phases.step_ms * timed,
                                  (m.in.log.end_seconds + 0.02) * 1e3 - 16, 1e-6);
}

/* What is hidden behind computing is no part of the time. */
static void
test_phases_hidden (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  m.wait_ms = 5;
  m.upload_ms = 5;
  d = diagnose (&m);
  g_assert_cmpfloat_with_epsilon (d->phases.wait_data_ms, 0.3, 1e-9);
  g_assert_cmpfloat_with_epsilon (d->phases.copy_ms, 0, 1e-9);
  g_assert_cmpfloat_with_epsilon (sum_of_phases (&d->phases), d->phases.step_ms, 1e-9);
  g_assert_null (dyno_diagnosis_find (d, "cpu-bound"));
}

static void
test_no_timestamps (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  m.forward_ms = m.backward_ms = m.optimizer_ms = m.upload_ms = 0;
  d = diagnose (&m);
  g_assert_true (isnan (d->gpu_ceiling) && isnan (d->phases.idle_ms));
  g_assert_cmpfloat_with_epsilon (d->rate, 6400, 1e-6);
  g_assert_null (dyno_diagnosis_find (d, "idle"));
  g_assert_nonnull (strstr (d->verdict, "tells no times"));
}

static void
test_few_steps (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;

  machine_init (&m);
  m.n = 4;
  m.n_epochs = 0;
  m.wait_ms = 9;
  d = diagnose (&m);
  g_assert_nonnull (strstr (d->verdict, "Too few steps"));
  g_assert_null (d->knob);
}

/* What the driver keeps is in Vulkan's count and in its heap, and in none of the sensor's: neither is
 * held against the other's total. */
static void
test_counts_of_memory (void)
{
  const double gib = (double) ((guint64) 1 << 30);
  Machine m;
  g_autoptr (DynoDiagnosis) apart = NULL, full = NULL;

  machine_init (&m);
  m.vram_all = (guint64) (7.8 * gib); /* of 8 */
  m.in.sensors.vram_all_most = 7.3 * gib;
  m.in.sensors.vram_total = 7.5 * gib;
  apart = diagnose (&m);
  g_assert_null (dyno_diagnosis_find (apart, "vram-swapped"));
  m.in.sensors.vram_all_most = 7.4 * gib;
  full = dyno_diagnose (&m.in);
  g_assert_nonnull (strstr (dyno_diagnosis_find (full, "vram-swapped")->text, "7.40 GiB of 7.5"));
}

/* --- ceilings and gains ------------------------------------------------------------------------ */

static void
test_ceilings (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL, measured = NULL;

  machine_init (&m);
  m.in.settings.workers = 4;
  wait_for_data (&m, 10, 1.2);
  d = diagnose (&m);
  g_assert_cmpfloat_with_epsilon (d->rate, 64 / 0.0197, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->loader_ceiling, 4 / 0.0012, 1e-6);
  g_assert_cmpfloat_with_epsilon (d->gpu_ceiling, 64 / 0.0097, 1e-6);
  g_assert_false (d->loader_measured || d->gpu_measured);
  /* 8 workers give 6667, just above what the device takes. */
  g_assert_cmpstr (d->knob, ==, "workers");
  g_assert_cmpstr (dyno_diagnosis_find (d, "cpu-bound")->value, ==, "8");
  g_assert_cmpfloat_with_epsilon (d->expected_gain, 19.7 / 9.7 - 1, 1e-6);
  /* With fewer cores the loader stays the limit. */
  m.in.facts.cores = 6;
  measured = dyno_diagnose (&m.in);
  g_assert_cmpstr (dyno_diagnosis_find (measured, "cpu-bound")->value, ==, "6");
  g_assert_cmpfloat_with_epsilon (measured->expected_gain, 6 / 0.0012 / (64 / 0.0197) - 1, 1e-6);
  g_clear_pointer (&measured, dyno_diagnosis_unref);
  /* Measured ones are believed. */
  m.in.loader_ceiling = 5000;
  m.in.gpu_ceiling = 9000;
  measured = dyno_diagnose (&m.in);
  g_assert_true (measured->loader_measured && measured->gpu_measured);
  g_assert_true (measured->loader_ceiling == 5000 && measured->gpu_ceiling == 9000);
  g_clear_pointer (&measured, dyno_diagnosis_unref);
  /* But for a loader that would be faster than the device, which waits for it none the less. */
  m.in.loader_ceiling = 20000;
  measured = dyno_diagnose (&m.in);
  g_assert_true (!measured->loader_measured && measured->gpu_measured);
  g_assert_cmpfloat_with_epsilon (measured->loader_ceiling, 4 / 0.0012, 1e-6);
}

/* The history's ceilings are those of a search with the run's settings, data and device. */
static void
test_ceilings_of_a_search (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-diagnosis-XXXXXX", NULL),
                  *path = g_build_filename (folder, "history.sqlite", NULL);
  g_autoptr (DynoStore) store = dyno_store_open (path, NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoDeviceInfo device = { .name = "Test GPU" };
  DynoStoreTrial trial = { .number = 1, .stage = "loader", .outcome = "ok", .samples_per_s = 5000 };
  Machine m;
  gint64 search;

  machine_init (&m);
  g_free (job->model);
  job->model = g_strdup ("mlp");
  trial.settings = m.in.settings;
  search = dyno_store_begin_search (store, job, &device, 77, NULL, NULL);
  g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
  trial.number = 2;
  trial.stage = "gpu";
  trial.samples_per_s = 9000;
  g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
  dyno_diagnosis_input_find_ceilings (&m.in, store); /* a run that says neither model nor data */
  g_assert_true (isnan (m.in.loader_ceiling) && isnan (m.in.gpu_ceiling));
  g_strlcpy (m.in.facts.model, "mlp", sizeof m.in.facts.model);
  m.in.facts.fingerprint = 77;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (m.in.loader_ceiling == 5000 && m.in.gpu_ceiling == 9000);
  /* Larger batches, of which the smallest that is nearly the fastest counts. */
  g_assert_true (m.in.larger_batch == 0 && isnan (m.in.larger_ceiling));
  for (guint i = 0; i < 4; i++)
    {
      static const double rates[] = { 9500, 11000, 11200, 20000 };

      trial.number++;
      trial.settings.batch_size = 128 << i;
      trial.samples_per_s = rates[i];
      g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
    }
  dyno_diagnosis_input_find_ceilings (&m.in, store); /* 1024 would not fit */
  g_assert_true (m.in.larger_batch == 256 && m.in.larger_ceiling == 11000);
  /* The device was measured with whole batches. */
  m.in.facts.parts = 2;
  dyno_diagnosis_input_find_ceilings (&m.in, store);
  g_assert_true (m.in.loader_ceiling == 5000 && isnan (m.in.gpu_ceiling));
  g_assert_true (m.in.larger_batch == 0 && isnan (m.in.larger_ceiling));
  g_clear_pointer (&store, dyno_store_free);
  for (guint i = 0; i < 3; i++)
    {
      static const char *const ends[] = { "", "-wal", "-shm" };
      g_autofree char *file = g_strconcat (path, ends[i], NULL);

      g_remove (file);
    }
  g_rmdir (folder);
}

/* Memory that is not page-locked is copied by the training thread first; what of that is hidden
 * behind computing costs nothing. */
static void
test_host_copies_limit (void)
{
  static const double step_ms[] = { 10.9, 9.8 };

  for (guint i = 0; i < G_N_ELEMENTS (step_ms); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      m.in.settings.pinned = FALSE;
      m.upload_ms = 0.2;
      m.host_copy_ms = 1;
      m.step_ms = step_ms[i];
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "transfer-bound");
      g_assert_cmpstr (finding ? finding->key : NULL, ==, i == 0 ? "pinned" : NULL);
      g_assert_cmpfloat_with_epsilon (d->phases.copy_ms, i == 0 ? 1.2 : 0.1, 1e-6);
    }
}

/* What a search measured at larger batches decides; else the share of the device's own rates; and
 * where nobody measured those, kernels that are hardly longer than their start. */
static void
test_small_batch_by_what_is_known (void)
{
  static const struct {
    guint64 larger_batch, dispatches;
    double larger, arithmetic,
        step_ms;               /* the device computes 64 samples in 9.7 ms: 6,598 a second */
    const char *value, *words; /* NULL: it is no small batch */
  } rows[] = {
    { 256, 200, 7300, 0.1, 10, "256", "a search measured 7,300 at batch 256" },
    { 256, 200, 7200, 0.1, 10, NULL, NULL }, /* it is at the plateau, whatever its arithmetic */
    { 0, 200, NAN, 0.29, 10, "128", "29 % of its arithmetic rate" },
    { 0, 1000, NAN, 0.31, 10, NULL, NULL },
    { 0, 590, NAN, NAN, 10, "128", "the 590 kernels of a batch take 16.4 µs each" },
    { 0, 570, NAN, NAN, 10, NULL, NULL },
    { 256, 590, 12000, NAN, 13, NULL, NULL }, /* the device does not limit */
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      m.step_ms = rows[i].step_ms;
      m.in.larger_batch = rows[i].larger_batch;
      m.in.larger_ceiling = rows[i].larger;
      m.in.facts.batch_dispatches = rows[i].dispatches;
      m.in.facts.batch_bytes = 1e9;
      m.in.facts.flops_per_sample =
          (isnan (rows[i].arithmetic) ? 0.1 : rows[i].arithmetic) * 50e12 * 0.0097 / 64;
      if (isnan (rows[i].arithmetic))
        m.in.facts.matrix_flops_per_s = m.in.facts.single_flops_per_s =
            m.in.facts.copy_bytes_per_s = 0;
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "small-batch");
      g_test_message ("%u: %s", i, d->verdict);
      g_assert_cmpstr (finding ? finding->value : NULL, ==, rows[i].value);
      if (!finding)
        continue;
      g_assert_nonnull (strstr (finding->text, rows[i].words));
      g_assert_nonnull (strstr (finding->text, "up to 512 would fit"));
      g_assert_true (g_str_has_prefix (d->verdict, finding->text));
      if (rows[i].larger > 0)
        g_assert_cmpfloat_with_epsilon (d->expected_gain, 7300 / 6400.0 - 1, 1e-6);
    }
}

/* Workers beyond the cores read at the same time, but do not decode. */
static void
test_cores_bound_the_loader (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) decoding = NULL, reading = NULL, ahead = NULL, alone = NULL;

  machine_init (&m);
  m.in.settings.workers = 64;
  wait_for_data (&m, 10, 5);
  m.workers = 64;
  decoding = diagnose (&m);
  g_assert_cmpfloat_with_epsilon (decoding->rate, 64 / 0.0197, 1e-6);
  /* 16 cores, not 64 workers, by 5 ms: what it gave in the run is more */
  g_assert_cmpfloat_with_epsilon (decoding->loader_ceiling, decoding->rate, 1e-6);
  g_assert_nonnull (strstr (decoding->verdict, "64 workers can decode"));
  machine_init (&m);
  m.in.settings.workers = 2;
  wait_for_data (&m, 10, 8);
  m.batch = m.in.settings.batch_size = 4;
  m.fetch_ms = 5;
  m.in.facts.cores = 1;
  reading = diagnose (&m);
  /* 8 ms, of which 3 decode: 250 a second by two workers, and no more than 333 by any number */
  g_assert_cmpfloat_with_epsilon (reading->loader_ceiling, 250, 1e-6);
  g_assert_cmpstr (dyno_diagnosis_find (reading, "disk-bound")->value, ==, "4");
  g_assert_cmpfloat_with_epsilon (reading->expected_gain, 1000 / 3.0 / (4 / 0.0197) - 1, 1e-6);
  /* A device that waits none the less is not told to go on as it is. */
  machine_init (&m);
  m.in.settings.workers = 2;
  wait_for_data (&m, 10, 0.1);
  m.fetch_ms = 0.09;
  ahead = diagnose (&m);
  g_assert_cmpstr (dyno_diagnosis_find (ahead, "disk-bound")->value, ==, "3");
  machine_init (&m);
  m.in.settings.workers = m.workers = 0;
  wait_for_data (&m, 10, 1.2);
  m.workers = 0;
  alone = diagnose (&m);
  g_assert_nonnull (strstr (alone->verdict, "the training thread itself can decode"));
  g_assert_cmpstr (alone->knob, ==, "workers");
}

/* "Little is left for others" is nothing to say of what does not fit. */
static void
test_what_does_not_fit_is_not_tight (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) full = NULL, over = NULL;

  machine_init (&m);
  m.in.facts.planned_bytes = m.in.facts.limit_bytes;
  full = diagnose (&m);
  g_assert_nonnull (dyno_diagnosis_find (full, "memory-tight"));
  m.in.facts.planned_bytes++;
  over = dyno_diagnose (&m.in);
  g_assert_null (dyno_diagnosis_find (over, "memory-tight"));
}

/* Those that wait for a disk share no core: the tuner tries them, and the diagnosis agrees. */
static void
test_reading_workers_share_no_core (void)
{
  static const struct {
    double fetch_ms, cpu_busy;
    const char *value; /* advised; NULL: nothing is */
  } shares[] = {
    { 4, NAN, NULL },  /* of 5: 12.8 of 64 decode at the same time */
    { 3, NAN, "40" },  /* 25.6 do */
    { 4, 0.97, "16" }, /* reading is copying: no core is idle */
    { 4, 0.9, NULL },  { 0, NAN, "16" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      Machine m;
      g_autoptr (DynoDiagnosis) d = NULL;
      const DynoFinding *finding;

      machine_init (&m);
      m.in.settings.workers = 64;
      wait_for_data (&m, 10, 5);
      m.workers = 64;
      m.fetch_ms = shares[i].fetch_ms;
      m.in.sensors.cpu_busy = shares[i].cpu_busy;
      d = diagnose (&m);
      finding = dyno_diagnosis_find (d, "workers-above-cores");
      g_assert_cmpstr (finding ? finding->value : NULL, ==, shares[i].value);
      g_assert_true (!finding || !strstr (finding->action, "unless"));
      g_assert_true ((dyno_diagnosis_find (d, "prepared") != NULL) == (shares[i].value == NULL));
    }
}

/* It is the pipeline or it was, and not both; and none that decodes many times what the device
 * takes. */
static void
test_what_is_waited_for_limits_now (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) first = NULL, throughout = NULL, fast = NULL;

  machine_init (&m);
  wait_for_data (&m, 10, 5);
  throughout = diagnose (&m);
  g_assert_nonnull (dyno_diagnosis_find (throughout, "cpu-bound"));
  g_assert_null (dyno_diagnosis_find (throughout, "waited-at-first"));
  machine_init (&m);
  wait_for_data (&m, 10, 5);
  m.wait_until = 0.6;
  first = diagnose (&m);
  g_assert_null (dyno_diagnosis_find (first, "cpu-bound"));
  g_assert_nonnull (dyno_diagnosis_find (first, "waited-at-first"));
  machine_init (&m);
  wait_for_data (&m, 2, 0.01); /* 8 workers: 800,000 samples/s, the device 6,600 */
  fast = diagnose (&m);
  g_assert_null (dyno_diagnosis_find (fast, "cpu-bound"));
  g_assert_null (strstr (fast->verdict, "data pipeline"));
}

/* No more workers than cores: then the cache, then smaller images. */
static void
test_cpu_bound_without_cores (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) cached = NULL, crops = NULL, cpu = NULL, small = NULL;

  machine_init (&m);
  m.in.settings.workers = 16;
  wait_for_data (&m, 10, 5);
  m.in.facts.sample_bytes = 1000;
  cached = diagnose (&m);
  g_assert_cmpstr (cached->knob, ==, "cache");
  g_assert_cmpfloat_with_epsilon (cached->expected_gain, 19.7 / 9.7 - 1, 1e-6);
  g_assert_nonnull (
      strstr (dyno_diagnosis_find (cached, "cpu-bound")->action, "% from the second"));
  /* Crops of the files are others in each epoch. */
  m.in.settings.augment_crop = 0.5;
  m.in.settings.augment_crop_from = DYNO_CROP_FROM_SOURCE;
  crops = dyno_diagnose (&m.in);
  g_assert_cmpstr (crops->knob, !=, "cache");
  m.in.settings.augment_crop = 0;
  /* A CPU that decodes too computes faster without. */
  m.in.facts.software = TRUE;
  cpu = dyno_diagnose (&m.in);
  g_assert_nonnull (strstr (dyno_diagnosis_find (cpu, "cpu-bound")->action, "% or more from"));
  m.in.facts.software = FALSE;
  m.in.settings.cache = TRUE;
  small = dyno_diagnose (&m.in);
  g_assert_cmpstr (small->knob, ==, "image_size");
}

/* AMP brings no more than the loader can give. */
static void
test_amp_gain (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) free_loader = NULL, slow_loader = NULL, unmeasured = NULL;

  machine_init (&m);
  m.in.facts.amp = m.in.settings.amp = FALSE;
  m.in.facts.matrix_flops_per_s = 20e12;
  m.in.facts.batch_bytes = 1e9;
  free_loader = diagnose (&m); /* 8 workers at 0.5 ms: 16000 samples/s */
  g_assert_cmpfloat_with_epsilon (free_loader->expected_gain, 1, 1e-6);
  m.in.loader_ceiling = 6400 * 1.5;
  slow_loader = dyno_diagnose (&m.in);
  g_assert_cmpfloat_with_epsilon (slow_loader->expected_gain, 0.5, 1e-6);
  /* A device whose rates nobody has measured: the advice stands, the gain is not known. */
  m.in.facts.single_flops_per_s = m.in.facts.matrix_flops_per_s = 0;
  unmeasured = dyno_diagnose (&m.in);
  g_assert_cmpstr (unmeasured->knob, ==, "amp");
  g_assert_true (isnan (unmeasured->expected_gain));
  g_assert_nonnull (strstr (unmeasured->verdict, "gain not known"));
}

static void
test_bad_layer_is_named (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL, samples = NULL;

  machine_init (&m);
  m.n_bad = 5;
  g_strlcpy (m.in.facts.bad_layer, "layer2.0.conv1", sizeof m.in.facts.bad_layer);
  d = diagnose (&m);
  g_assert_nonnull (strstr (dyno_diagnosis_find (d, "not-a-number")->text, "layer2.0.conv1"));
  g_assert_nonnull (strstr (d->verdict, "layer2.0.conv1"));
  g_strlcpy (m.in.facts.bad_layer, "prepare", sizeof m.in.facts.bad_layer);
  samples = dyno_diagnose (&m.in);
  g_assert_nonnull (strstr (samples->verdict, "samples themselves"));
}

static void
test_why_not_all (void)
{
  Machine m;
  g_autoptr (DynoDiagnosis) d = NULL;
  const DynoFinding *finding;

  machine_init (&m);
  m.step_ms = 16;
  m.wait_ms = 4;
  d = diagnose (&m);
  finding = dyno_diagnosis_find (d, "why-not-all");
  g_assert_nonnull (finding);
  g_assert_nonnull (strstr (finding->text, "24 % waiting for data"));
  g_assert_nonnull (strstr (finding->text, "copies"));
  g_assert_nonnull (strstr (finding->text, "validation"));
}

/* Findings stand by list, in each the worst first. */
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

/* A folder and a view of the same run give the same input; a reading of the view counts once. */
static void
test_sources (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-diagnosis-XXXXXX", NULL),
                  *metrics = g_build_filename (folder, "metrics.csv", NULL),
                  *settings = g_build_filename (folder, "settings.ini", NULL),
                  *sensors = g_build_filename (folder, "sensors.csv", NULL),
                  *facts = g_build_filename (folder, "facts.ini", NULL);
  const char *const files[] = { metrics, settings, sensors, facts, folder };
  g_autoptr (GString) rows = g_string_new (NULL);
  g_autoptr (DynoMetrics) log = dyno_metrics_new ();
  g_autoptr (DynoRunView) view = dyno_run_view_new (FALSE);
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoEvent) told = dyno_event_new (DYNO_EVENT_FACTS),
                        sensed = dyno_event_new (DYNO_EVENT_SENSORS);
  g_autoptr (GError) error = NULL;
  DynoDiagnosisInput a, b;
  DynoStretches whole;
  DynoSensorRow row;
  DynoSensorReading reading;

  dyno_diagnosis_input_init (&a);
  dyno_diagnosis_input_init (&b);
  g_assert_false (dyno_diagnosis_input_read_run (&a, folder, &error));
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_CORRUPT);
  job->settings.workers = 7;
  dyno_run_view_begin (view, job);
  for (guint i = 1; i <= 9; i++)
    {
      DynoStepMetrics step = {
        .step = i, .epoch = 1, .loss = 1.5, .step_ms = 0.137, .samples = 8, .seconds = 0.000137 * i
      };

      dyno_metrics_add_step (log, &step);
      dyno_run_view_take_step (view, &step);
      if (i % 3 == 0)
        {
          DynoEpochMetrics epoch = {
            .epoch = i / 3, .step = i, .val_loss = 1, .saving_seconds = 1
          };

          dyno_metrics_add_epoch (log, &epoch);
          dyno_run_view_take_epoch (view, &epoch);
        }
    }
  g_assert_true (dyno_metrics_write_csv (log, metrics, NULL));
  g_assert_true (g_file_set_contents (settings, "[settings]\nworkers=7\nlater=1\n", -1, NULL));
  told->facts = (DynoRunFacts){ .device = "Card; = \"x\"",
                                .cores = 12,
                                .amp = TRUE,
                                .guess_loss = 2.302585092994046,
                                .bad_layer = "fc" };
  g_assert_true (dyno_run_facts_write (folder, &told->facts, NULL));
  dyno_run_view_take_event (view, told);
  dyno_sensor_reading_init (&reading);
  reading.values[DYNO_SENSOR_GPU_BUSY] = 50;
  reading.time_us = 17;
  dyno_sensor_row_init (&row, &reading, 3);
  dyno_sensors_csv_append_head (rows);
  dyno_sensors_csv_append (rows, &row);
  g_assert_true (g_file_set_contents (sensors, rows->str, -1, NULL));
  sensed->sensors = g_memdup2 (&reading, sizeof reading);
  dyno_run_view_take_event (view, sensed);

  g_clear_error (&error);
  g_assert_true (dyno_diagnosis_input_read_run (&a, folder, &error));
  dyno_stretches_init (&whole);
  dyno_stretches_add_log (&whole, log);
  dyno_diagnosis_input_take_view (&b, view);
  g_assert_cmpmem (&whole, sizeof whole, &b.log, sizeof b.log);
  dyno_diagnosis_input_take_view (&b, view);
  for (guint i = 0; i < 2; i++)
    {
      const DynoDiagnosisInput *in = i ? &b : &a;

      g_assert_true (in->has_settings && in->settings.workers == 7);
      g_assert_cmpuint (in->log.n_steps, ==, 9);
      g_assert_cmpuint (in->log.whole.samples, ==, 64);
      /* steps of which one follows the other: the file's rounding is no gap between them */
      g_assert_cmpfloat (in->log.whole.gap_ms, <, 0.01);
      g_assert_cmpuint (in->sensors.n, ==, 1);
      g_assert_cmpfloat_with_epsilon (in->sensors.gpu_busy, 0.5, 1e-9);
      g_assert_cmpstr (in->facts.device, ==, "Card; = \"x\"");
      g_assert_true (in->facts.cores == 12 && in->facts.amp && !in->facts.software);
      g_assert_true (in->facts.guess_loss == 2.302585092994046);
      g_assert_cmpstr (in->facts.bad_layer, ==, "fc");
    }
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    g_remove (files[i]);
}

/* However many steps, the stretches are few, of equal length, and lose nothing. */
static void
test_stretches (void)
{
  DynoStretches log;
  DynoStretch sum;

  dyno_stretches_init (&log);
  for (guint i = 1; i <= 100001; i++)
    {
      DynoStepMetrics step = {
        .step = i, .loss = 1, .step_ms = 2, .samples = 3, .vram_bytes = i, .seconds = 0.0025 * i
      };

      dyno_stretches_add_step (&log, &step);
    }
  g_assert_cmpuint (log.n, <=, DYNO_STRETCHES);
  g_assert_cmpuint (log.n, >=, DYNO_STRETCHES / 2);
  for (guint i = 0; i + 1 < log.n; i++)
    {
      g_assert_cmpuint (log.stretches[i].n_steps, ==, log.each);
      g_assert_cmpuint (log.stretches[i].first_step + log.each, ==,
                        log.stretches[i + 1].first_step);
    }
  dyno_stretches_sum (&log, 0, log.n, &sum);
  g_assert_cmpuint (sum.n_steps, ==, 100000);
  g_assert_cmpuint (sum.samples, ==, 300000);
  g_assert_cmpuint (sum.vram_bytes, ==, 100001);
  g_assert_cmpfloat_with_epsilon (sum.step_ms, 200000, 1e-3);
  g_assert_cmpfloat_with_epsilon (sum.gap_ms, 50000, 1e-3);
  g_assert_cmpfloat_with_epsilon (log.whole.gap_ms, sum.gap_ms, 1e-3);
}

/* Percent become shares; what is not available changes nothing; throttling counts readings. */
static void
test_sensors (void)
{
  DynoDiagnosisInput in;
  double values[DYNO_N_SENSORS];

  dyno_diagnosis_input_init (&in);
  g_assert_true (isnan (in.sensors.gpu_busy) && isnan (in.sensors.heat_share));
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    values[i] = (double) NAN;
  dyno_diagnosis_input_add_sensors (&in, values, 0);
  g_assert_true (isnan (in.sensors.gpu_busy) && isnan (in.sensors.heat_share));
  values[DYNO_SENSOR_GPU_BUSY] = 80;
  values[DYNO_SENSOR_GPU_THROTTLE] = 1;
  values[DYNO_SENSOR_GPU_TEMPERATURE] = 84;
  dyno_diagnosis_input_add_sensors (&in, values, DYNO_THROTTLE_TEMPERATURE);
  values[DYNO_SENSOR_GPU_BUSY] = 40;
  values[DYNO_SENSOR_GPU_THROTTLE] = 0;
  values[DYNO_SENSOR_GPU_TEMPERATURE] = 60;
  dyno_diagnosis_input_add_sensors (&in, values, 0);
  g_assert_cmpuint (in.sensors.n, ==, 3);
  g_assert_cmpfloat_with_epsilon (in.sensors.gpu_busy, 0.6, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.heat_share, 0.5, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.power_share, 0, 1e-9);
  g_assert_cmpfloat_with_epsilon (in.sensors.gpu_temperature_most, 84, 1e-9);
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
  g_test_add_func ("/tune/diagnosis/healthy-run-has-good-signs-only", test_healthy);
  g_test_add_func ("/tune/diagnosis/every-rule-is-provoked-and-sourced", test_table);
  g_test_add_func ("/tune/diagnosis/exchange-advice-follows-the-settings", test_exchange_advice);
  g_test_add_func ("/tune/diagnosis/ranks-have-a-third-ceiling", test_ranks);
  g_test_add_func ("/tune/diagnosis/phases-add-up-to-the-wall-time", test_phases);
  g_test_add_func ("/tune/diagnosis/hidden-waits-cost-nothing", test_phases_hidden);
  g_test_add_func ("/tune/diagnosis/device-without-timestamps", test_no_timestamps);
  g_test_add_func ("/tune/diagnosis/few-steps-tell-nothing", test_few_steps);
  g_test_add_func ("/tune/diagnosis/counts-of-memory-have-their-own-totals", test_counts_of_memory);
  g_test_add_func ("/tune/diagnosis/ceilings-give-the-gain", test_ceilings);
  g_test_add_func ("/tune/diagnosis/ceilings-of-a-search-are-found", test_ceilings_of_a_search);
  g_test_add_func ("/tune/diagnosis/host-copies-limit", test_host_copies_limit);
  g_test_add_func ("/tune/diagnosis/small-batch-by-what-is-known",
                   test_small_batch_by_what_is_known);
  g_test_add_func ("/tune/diagnosis/cores-bound-what-workers-decode", test_cores_bound_the_loader);
  g_test_add_func ("/tune/diagnosis/what-does-not-fit-is-not-tight",
                   test_what_does_not_fit_is_not_tight);
  g_test_add_func ("/tune/diagnosis/workers-that-wait-for-a-disk-share-no-core",
                   test_reading_workers_share_no_core);
  g_test_add_func ("/tune/diagnosis/what-is-waited-for-limits-now",
                   test_what_is_waited_for_limits_now);
  g_test_add_func ("/tune/diagnosis/no-more-workers-than-cores", test_cpu_bound_without_cores);
  g_test_add_func ("/tune/diagnosis/amp-brings-what-the-loader-gives", test_amp_gain);
  g_test_add_func ("/tune/diagnosis/bad-layer-is-named", test_bad_layer_is_named);
  g_test_add_func ("/tune/diagnosis/why-not-100-percent", test_why_not_all);
  g_test_add_func ("/tune/diagnosis/findings-by-list-worst-first", test_order);
  g_test_add_func ("/tune/diagnosis/sensors-add-up", test_sensors);
  g_test_add_func ("/tune/diagnosis/folder-and-view-agree", test_sources);
  g_test_add_func ("/tune/diagnosis/stretches-are-few-and-lose-nothing", test_stretches);
  return g_test_run ();
}
