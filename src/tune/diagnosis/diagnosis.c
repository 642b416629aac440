/* SPDX-License-Identifier: MIT */
/* Computes the measures of a run, and the verdict of the rules on them.
 *
 * Phases: the time in which the device is idle counts first as waiting for data, up to the host's
 * wait for the loader, then as copying, up to the time of the copies (the device's, and the host's
 * where memory is not page-locked), and the rest as idle.  Loading and copying that overlap with
 * computing cost nothing.  The two ceilings are those of the run's own settings: the rate at which
 * its workers would decode if nobody waited, and the rate at which the device would compute. */
#include "claims.h"
#include "diagnosis-private.h"
#include "intl.h"
#include "runrate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_STEPS 5 /* timed steps: fewer show nothing */
#define NONE        ((double) NAN)

const char *
dyno_finding_level_name (DynoFindingLevel level)
{
  static const char *const names[] = { "good", "note", "warning", "problem" };

  g_return_val_if_fail ((guint) level < G_N_ELEMENTS (names), "");
  return names[level];
}

void
dyno_diagnosis_input_init (DynoDiagnosisInput *input)
{
  double *const sensors[] = {
    &input->sensors.gpu_busy,
    &input->sensors.gpu_others,
    &input->sensors.gpu_power,
    &input->sensors.gpu_power_limit,
    &input->sensors.heat_share,
    &input->sensors.power_share,
    &input->sensors.vram_all_most,
    &input->sensors.vram_total,
    &input->sensors.cpu_busy,
    &input->sensors.cpu_own,
    &input->sensors.ram_early,
    &input->sensors.ram_late,
    &input->sensors.ram_total,
    &input->sensors.swap_in_per_s,
    &input->sensors.disk_read_per_s,
    &input->sensors.pressure_cpu,
    &input->sensors.pressure_io,
    &input->sensors.pressure_memory,
    &input->sensors.gpu_temperature_most,
  };

  memset (input, 0, sizeof *input);
  dyno_settings_init (&input->settings);
  dyno_stretches_init (&input->log);
  for (guint i = 0; i < G_N_ELEMENTS (sensors); i++)
    *sensors[i] = NONE;
  input->loader_ceiling = input->gpu_ceiling = input->larger_ceiling = NONE;
}

/* --- measures --------------------------------------------------------------------------------- */

static double
ratio (double a, double b)
{
  return a > 0 && b > 0 ? a / b : NONE;
}

static void
measure_phases (DynoMeasures *m)
{
  const DynoStretches *log = &m->input->log;
  const DynoStretch *sum = &log->whole;
  double n = (double) MAX (m->n_steps, 1), wait = sum->wait_data_ms / n, gap;
  DynoPhases *p = &m->phases;
  const DynoRunFacts *facts = &m->input->facts;
  double followed;

  m->training_ms = sum->step_ms / n;
  m->upload_ms = (sum->upload_ms + sum->host_copy_ms) / n;
  *p = (DynoPhases){ .wait_data_ms = MIN (wait, m->training_ms),
                     .copy_ms = NONE,
                     .forward_ms = NONE,
                     .backward_ms = NONE,
                     .optimizer_ms = NONE,
                     .idle_ms = NONE };
  m->device_ms = (sum->forward_ms + sum->backward_ms + sum->optimizer_ms) / n;
  if (m->device_ms > 0)
    {
      double scale = MIN (1, m->training_ms / m->device_ms);

      gap = m->training_ms - m->device_ms * scale;
      p->forward_ms = sum->forward_ms / n * scale;
      p->backward_ms = sum->backward_ms / n * scale;
      p->optimizer_ms = sum->optimizer_ms / n * scale;
      /* The part of the exchange that the backward pass hides is not included. */
      p->exchange_ms = CLAMP (facts->exchange_wait_ms + facts->wait_ranks_ms, 0, gap);
      gap -= p->exchange_ms;
      p->wait_data_ms = CLAMP (wait, 0, gap);
      p->copy_ms = CLAMP (m->upload_ms, 0, gap - p->wait_data_ms);
      p->idle_ms = gap - p->wait_data_ms - p->copy_ms;
    }
  else
    m->device_ms = NONE;
  /* The time of the ends of epochs, the last of which has no step after it. */
  if (isnan (log->validation_seconds))
    p->validation_ms = MAX (sum->gap_ms, 0) / n;
  else
    {
      followed = (log->validation_seconds - log->last_validation_seconds) * 1e3;
      p->validation_ms = log->validation_seconds * 1e3 / n;
      p->saving_ms = MAX (0, sum->gap_ms - followed) / n;
    }
  p->step_ms = m->training_ms + p->validation_ms + p->saving_ms;
}

/* Each worker reads and decodes one sample after the other.  Reading only waits, decoding needs a
 * core: more workers than cores share the cores, although the time of each sample is measured as if
 * its worker had a core for itself. */
double
dyno_measures_loader_rate (const DynoMeasures *m, double workers)
{
  double alone = ratio (m->ranks * workers * 1e3, m->decode_ms),
         computing = m->decode_ms - m->fetch_ms, cores = (double) m->input->facts.cores * m->hosts;

  return cores > 0 && computing > 0 ? MIN (alone, cores * 1e3 / computing) : alone;
}

static void
measure_ceilings (DynoMeasures *m)
{
  const DynoDiagnosisInput *input = m->input;
  const DynoStretch *sum = &input->log.whole;
  const DynoRunFacts *facts = &input->facts;
  double n = (double) MAX (m->n_steps, 1), device_s = m->device_ms / 1e3, flops;

  m->batch = sum->samples > 0        ? (double) sum->samples / n
             : facts->batch_size > 0 ? (double) (facts->batch_size * MAX (facts->accumulate, 1))
             : m->settings           ? (double) (m->settings->batch_size * m->settings->accumulate)
                                     : NONE;
  if (sum->samples == 0) /* the log is that of one rank */
    m->batch *= m->ranks;
  m->rate = dyno_run_rate_find (facts, &input->log);
  if (isnan (m->rate)) /* a log without samples */
    m->rate = ratio (m->batch * 1e3, m->training_ms);
  m->gpu_ceiling = ratio (m->batch * 1e3, m->device_ms);
  /* A rate that this run exceeded is no ceiling, nor is a rate that its device exceeded while it
   * computed. */
  m->gpu_measured = input->gpu_ceiling >= m->rate
                    && !(m->gpu_ceiling > DYNO_CLAIMS_EXCEEDED * input->gpu_ceiling);
  if (m->gpu_measured)
    m->gpu_ceiling = input->gpu_ceiling;
  m->decode_ms = sum->decoded > 0 ? sum->decode_ms / (double) sum->decoded : NONE;
  m->fetch_ms = sum->decoded > 0 ? sum->fetch_ms / (double) sum->decoded : NONE;
  m->workers = MAX (1, sum->workers / n);
  /* Where the loader by itself is faster than the device, but the device waits for it, other work
   * slows the loader down in the run: its rate in the run counts. */
  m->loader_measured = input->loader_ceiling >= m->rate
                       && !(input->loader_ceiling >= m->gpu_ceiling
                            && m->phases.wait_data_ms >= DYNO_DIAGNOSIS_WAITING * m->training_ms);
  m->loader_ceiling =
      m->loader_measured ? input->loader_ceiling : dyno_measures_loader_rate (m, m->workers);
  /* A run proves its own rate: decoding that shares cores with the device is slower than decoding
   * by itself. */
  if (m->loader_ceiling < m->rate)
    m->loader_ceiling = m->rate;
  if (m->gpu_ceiling < m->rate)
    m->gpu_ceiling = m->rate;
  flops = facts->amp && facts->matrix && facts->matrix_flops_per_s > 0 ? facts->matrix_flops_per_s
                                                                       : facts->single_flops_per_s;
  m->exchange_ceiling = ratio (m->batch * 1e3, facts->exchange_sum_ms);
  if (m->exchange_ceiling < m->rate)
    m->exchange_ceiling = m->rate;
  m->arithmetic_share = ratio (facts->flops_per_sample * m->batch / m->ranks, device_s * flops);
  m->bandwidth_share =
      ratio (facts->batch_bytes * (double) (MAX (facts->accumulate, 1) * MAX (facts->parts, 1)),
             device_s * facts->copy_bytes_per_s);
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Median of a step's time in each stretch of the log. */
static double
median_step (const DynoStretches *log, guint first, guint count)
{
  double times[DYNO_STRETCHES];

  if (count == 0)
    return NONE;
  for (guint i = 0; i < count; i++)
    times[i] = log->stretches[first + i].step_ms / (double) log->stretches[first + i].n_steps;
  qsort (times, count, sizeof times[0], compare_doubles);
  return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

static void
measure_course (DynoMeasures *m)
{
  const DynoStretches *log = &m->input->log;
  guint quarter = log->n / 4;
  DynoStretch early, late;

  m->early_ms = m->late_ms = m->early_vram = m->late_vram = m->late_wait_share = NONE;
  if (quarter == 0)
    return;
  m->early_ms = median_step (log, quarter, quarter);
  m->late_ms = median_step (log, log->n - quarter, quarter);
  dyno_stretches_sum (log, 0, quarter, &early);
  dyno_stretches_sum (log, log->n - quarter, quarter, &late);
  m->early_vram = (double) early.vram_bytes;
  m->late_vram = (double) late.vram_bytes;
  m->late_wait_share = late.step_ms > 0 ? late.wait_data_ms / late.step_ms : NONE;
}

void
dyno_measures_init (DynoMeasures *m, const DynoDiagnosisInput *input)
{
  memset (m, 0, sizeof *m);
  m->input = input;
  m->settings = input->has_settings ? &input->settings : NULL;
  m->n_steps = input->log.whole.n_steps;
  m->software = input->facts.software;
  m->ranks = (double) MAX (input->facts.ranks, 1);
  m->hosts = (double) MAX (input->facts.hosts, 1);
  measure_phases (m);
  measure_ceilings (m);
  measure_course (m);
  m->wait_share = m->copy_share = m->idle_share = m->device_share = NONE;
  m->exchange_share = m->ranks_share = NONE;
  if (m->n_steps < LEAST_STEPS || !(m->training_ms > 0))
    return;
  m->wait_share = m->phases.wait_data_ms / m->training_ms;
  m->copy_share = m->phases.copy_ms / m->training_ms;
  m->idle_share = m->phases.idle_ms / m->training_ms;
  m->device_share = MIN (1, m->device_ms / m->training_ms);
  m->exchange_share = MIN (m->phases.exchange_ms, input->facts.exchange_wait_ms) / m->training_ms;
  m->ranks_share = m->phases.exchange_ms / m->training_ms - m->exchange_share;
}

/* --- findings --------------------------------------------------------------------------------- */

void
dyno_finding_free (DynoFinding *finding)
{
  g_free (finding->text);
  g_free (finding->action);
  g_free (finding->value);
  g_free (finding);
}

DynoFinding *
dyno_finding_new (const DynoRule *rule, const DynoRuleWords *words)
{
  DynoFinding *finding = g_new0 (DynoFinding, 1);
  const char *action = words->action ? words->action : rule->action;

  finding->id = rule->info.id;
  finding->level = rule->info.level;
  finding->check = rule->info.check;
  finding->text = dyno_rule_expand (words->text ? words->text : rule->text, words);
  finding->action = action ? dyno_rule_expand (action, words) : NULL;
  finding->key = words->no_key ? NULL : words->key ? words->key : rule->key;
  finding->value = g_strdup (words->value);
  return finding;
}

void
dyno_rule_words_clear (DynoRuleWords *words)
{
  g_free (words->a);
  g_free (words->b);
  g_free (words->c);
  g_free (words->d);
  g_free (words->value);
  memset (words, 0, sizeof *words);
}

static const char *
find_word (const DynoRuleWords *words, char name, const char *gain)
{
  switch (name)
    {
    case 'a':
      return words->a;
    case 'b':
      return words->b;
    case 'c':
      return words->c;
    case 'd':
      return words->d;
    case 'v':
      return words->value;
    case 'g':
      return gain;
    default:
      return NULL;
    }
}

char *
dyno_rule_expand (const char *sentence, const DynoRuleWords *words)
{
  g_autofree char *gain = isnan (words->gain)
                              ? g_strdup (_ ("gain unknown"))
                              : g_strdup_printf (_ ("about +%.0f %%"), 100 * words->gain);
  GString *text = g_string_new (NULL);

  for (const char *c = _ (sentence); *c; c++)
    {
      const char *word = c[0] == '{' && c[1] && c[2] == '}' ? find_word (words, c[1], gain) : NULL;

      if (word)
        {
          g_string_append (text, word);
          c += 2;
        }
      else
        g_string_append_c (text, *c);
    }
  return g_string_free (text, FALSE);
}

/* Sorts by list, the worst first; rules of one level keep the order of the table. */
static int
compare_findings (gconstpointer a, gconstpointer b)
{
  const DynoFinding *x = *(DynoFinding *const *) a, *y = *(DynoFinding *const *) b;

  if (x->check != y->check)
    return (int) x->check - (int) y->check;
  return (int) y->level - (int) x->level;
}

static gint
compare_for_sort (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  return compare_findings (a, b);
}

double
dyno_measures_share (const DynoMeasures *m, double ms)
{
  return ms / m->phases.step_ms;
}

/* Of two phases that limit a run, the longer one is the limit. */
static void
take_verdict (DynoDiagnosis *d, const DynoRule *rule, const DynoFinding *finding,
              const DynoRuleWords *words, double *share)
{
  if (!rule->limits || (d->verdict && !(words->share > *share)))
    return;
  g_free (d->verdict);
  d->verdict = finding->action && rule->info.level != DYNO_FINDING_GOOD
                   ? g_strdup_printf ("%s. %s", finding->text, finding->action)
                   : g_strdup (finding->text);
  d->knob = finding->key;
  d->expected_gain = words->gain;
  *share = words->share;
}

static void
take_rules (DynoDiagnosis *d, const DynoMeasures *m)
{
  guint n;
  double share = NONE;
  const DynoRule *rules = dyno_rule_list (&n);

  for (guint i = 0; i < n; i++)
    {
      const DynoRule *rule = &rules[i];
      DynoRuleWords words = { .gain = NONE, .share = NONE };

      if (rule->applies (m, rule->info.threshold, &words))
        {
          DynoFinding *finding = dyno_finding_new (rule, &words);

          g_ptr_array_add (d->findings, finding);
          take_verdict (d, rule, finding, &words, &share);
        }
      dyno_rule_words_clear (&words);
    }
  /* The sort is stable. */
  g_qsort_with_data (d->findings->pdata, (gint) d->findings->len, sizeof (gpointer),
                     compare_for_sort, NULL);
}

/* The verdict where no rule names a limit. */
static char *
describe_nothing (const DynoMeasures *m)
{
  const DynoPhases *p = &m->phases;
  const struct {
    const char *name;
    double ms;
  } parts[] = { { N_ ("computing"), p->forward_ms + p->backward_ms + p->optimizer_ms },
                { N_ ("waiting for data"), p->wait_data_ms },
                { N_ ("copies"), p->copy_ms },
                { N_ ("exchange with other ranks"), p->exchange_ms },
                { N_ ("validation"), p->validation_ms },
                { N_ ("saving"), p->saving_ms },
                { N_ ("idle between steps"), p->idle_ms } };
  g_autofree char *share = NULL;
  guint most = 0;

  if (m->n_steps < LEAST_STEPS)
    return g_strdup (_ ("Too few steps to judge: let it run a little longer"));
  if (isnan (m->device_share))
    return g_strdup (_ ("The limit is unknown: the device has no timestamps"));
  for (guint i = 1; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].ms > parts[most].ms)
      most = i;
  share = dyno_word_percent (dyno_measures_share (m, parts[most].ms));
  return g_strdup_printf (
      _ ("No setting stands out that should be changed; most of a step, %s, is %s"), share,
      _ (parts[most].name));
}

DynoDiagnosis *
dyno_diagnose (const DynoDiagnosisInput *input)
{
  DynoDiagnosis *d = g_new0 (DynoDiagnosis, 1);
  DynoMeasures m;

  d->findings = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_finding_free);
  d->expected_gain = NONE;
  dyno_measures_init (&m, input);
  d->phases = m.phases;
  d->loader_ceiling = m.loader_ceiling;
  d->gpu_ceiling = m.gpu_ceiling;
  d->rate = m.rate;
  d->ranks = (guint) m.ranks;
  d->exchange_ceiling = m.exchange_ceiling;
  d->loader_measured = m.loader_measured;
  d->gpu_measured = m.gpu_measured;
  d->bandwidth_share = m.bandwidth_share;
  d->arithmetic_share = m.arithmetic_share;
  take_rules (d, &m);
  if (!d->verdict)
    d->verdict = describe_nothing (&m);
  return d;
}

void
dyno_diagnosis_free (DynoDiagnosis *diagnosis)
{
  if (!diagnosis)
    return;
  g_free (diagnosis->verdict);
  g_ptr_array_unref (diagnosis->findings);
  g_free (diagnosis);
}

const DynoFinding *
dyno_diagnosis_find (const DynoDiagnosis *diagnosis, const char *id)
{
  for (guint i = 0; i < diagnosis->findings->len; i++)
    {
      const DynoFinding *finding = diagnosis->findings->pdata[i];

      if (strcmp (finding->id, id) == 0)
        return finding;
    }
  return NULL;
}

const DynoRuleInfo *
dyno_diagnosis_get_rule (guint index)
{
  guint n;
  const DynoRule *rules = dyno_rule_list (&n);

  return index < n ? &rules[index].info : NULL;
}
