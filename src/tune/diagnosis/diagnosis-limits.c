/* SPDX-License-Identifier: MIT */
/* Conditions of the rules about the limit of a run, and about the use of that limit. */
#include "diagnosis-private.h"
#include "intl.h"
#include <math.h>
#include <string.h>

#define LEAST_GAIN 0.03
#define LATE_WAIT  0.05 /* share of a step in the last quarter: half of DYNO_DIAGNOSIS_WAITING */
#define KERNEL_US  5.0  /* least time of a kernel, however little it computes: see launch-bound */
/* share of the device's time in launches: from here on a larger batch pays */
#define KERNELS 0.3
/* least factor of a larger batch's measured rate: as for the curve's knee */
#define LARGER 1.10
/* loader's ceiling over the device's: above it waiting is not due to decoding */
#define PLENTY 3.0

/* The gain in rate when the limit becomes `limit`; NaN: no gain worth a sentence. */
static double
gain_to (const DynoMeasures *m, double limit)
{
  double gain = limit / m->rate - 1;

  return gain >= LEAST_GAIN ? gain : (double) NAN;
}

gboolean
dyno_check_is_not_a_number (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoStretches *log = &m->input->log;
  const char *layer = m->input->facts.bad_layer;

  if ((double) log->whole.n_bad < threshold)
    return FALSE;
  w->a = g_strdup_printf ("%" G_GUINT64_FORMAT, log->whole.n_bad);
  if (strcmp (layer, "prepare") == 0) /* the input of the first layer */
    w->b = g_strdup (_ ("; the samples themselves are not finite"));
  else if (*layer)
    w->b = g_strdup_printf (_ ("; the first layer whose output is not finite is “%s”"), layer);
  else
    w->b = g_strdup ("");
  if (m->settings && m->settings->clip_norm <= 0 && strcmp (layer, "prepare") != 0)
    w->value = g_strdup ("1");
  return TRUE;
}

gboolean
dyno_check_is_diverged (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoStretches *log = &m->input->log;
  double reference = MAX (log->first_loss, m->input->facts.guess_loss);

  if (!isfinite (log->last_loss) || log->whole.n_bad > 0
      || !(m->input->facts.diverged || log->last_loss > threshold * reference))
    return FALSE;
  w->a = g_strdup_printf ("%.4g", log->first_loss);
  w->b = g_strdup_printf ("%.4g", log->last_loss);
  if (m->settings)
    w->value = g_strdup_printf ("%g", m->settings->lr / 10);
  return TRUE;
}

gboolean
dyno_measures_cache_fits (const DynoMeasures *m)
{
  const DynoRunFacts *facts = &m->input->facts;
  double need = (double) facts->sample_bytes * (double) (facts->n_train + facts->n_validation);

  /* Crops of the files differ in each epoch, so that decoded samples cannot be reused. */
  if (m->settings && m->settings->augment_crop > 0
      && m->settings->augment_crop_from == DYNO_CROP_FROM_SOURCE)
    return FALSE;
  return m->settings && !m->settings->cache && m->settings->epochs > 1 && need > 0
         && need <= (double) facts->ram_free_bytes / 2;
}

/* The loader's rate with this many workers: each delivers as much as one of the run's workers,
 * within the cores. */
static double
rate_of_workers (const DynoMeasures *m, double workers)
{
  double rate = m->loader_ceiling * workers / m->workers,
         within = dyno_measures_loader_rate (m, workers);

  return isnan (within) ? rate : MIN (rate, MAX (within, m->loader_ceiling));
}

/* The number of workers that the device needs, within the cores; 0: more would not help. */
static double
more_workers (const DynoMeasures *m)
{
  double cores = (double) m->input->facts.cores, needed;

  if (m->software || !m->settings || cores == 0)
    return 0;
  needed = MIN (cores, ceil (m->gpu_ceiling / m->loader_ceiling * m->workers));
  return needed > (double) m->settings->workers ? needed : 0;
}

static void
explain_loader (const DynoMeasures *m, DynoRuleWords *w)
{
  w->share = dyno_measures_share (m, m->phases.wait_data_ms);
  w->a = dyno_word_percent (m->wait_share);
  if (m->input->log.whole.workers > 0)
    w->b =
        g_strdup_printf (ngettext ("%.0f worker", "%.0f workers", (gulong) m->workers), m->workers);
  else
    w->b = g_strdup (_ ("the training thread itself"));
  w->c = dyno_word_rate (m->loader_ceiling);
  w->d = dyno_word_rate (m->gpu_ceiling);
}

static void
advise_cache (const DynoMeasures *m, DynoRuleWords *w)
{
  w->value = g_strdup ("true");
  w->gain = gain_to (m, m->gpu_ceiling);
  w->key = "cache";
  /* Decoding took cores from a device that is a CPU, which then computes faster than was
   * observed. */
  w->action =
      m->software && !m->gpu_measured && w->gain > 0
          ? N_ ("Set cache=true: the samples fit into main memory and are decoded once ({g} or "
                "more from the second epoch on)")
          : N_ ("Set cache=true: the samples fit into main memory and are decoded once ({g} "
                "from the second epoch on)");
}

gboolean
dyno_measures_wait (const DynoMeasures *m, double threshold)
{
  return m->wait_share >= threshold && m->decode_ms > 0 && !m->input->facts.generated;
}

/* TRUE: the device waits in the last quarter too, not only at the beginning. */
static gboolean
is_held_up (const DynoMeasures *m)
{
  return dyno_measures_wait (m, DYNO_DIAGNOSIS_WAITING) && !(m->late_wait_share < LATE_WAIT);
}

/* TRUE where the device waited for data only at first: later the files, or the decoded samples, are
 * in the system's or Dyno's cache. */
gboolean
dyno_check_waited_at_first (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!dyno_measures_wait (m, DYNO_DIAGNOSIS_WAITING) || !(m->late_wait_share < threshold))
    return FALSE;
  /* the wait that is left */
  w->share = m->late_wait_share * dyno_measures_share (m, m->training_ms);
  w->a = dyno_word_percent (m->wait_share);
  w->b = dyno_word_percent (m->late_wait_share);
  return TRUE;
}

/* The wait is for reading, not for computing: more readers help beyond the number of cores. */
gboolean
dyno_check_is_disk_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  double needed;

  if (!is_held_up (m) || !(m->fetch_ms / m->decode_ms >= threshold))
    return FALSE;
  explain_loader (m, w);
  g_free (w->b);
  w->b = dyno_word_percent (m->fetch_ms / m->decode_ms);
  if (dyno_measures_cache_fits (m))
    {
      advise_cache (m, w);
      return TRUE;
    }
  needed = MIN (ceil (m->gpu_ceiling / m->loader_ceiling * m->workers), 2 * m->workers);
  /* The device waits, so the present workers are too few. */
  needed = MAX (needed, m->input->log.whole.workers > 0 ? m->workers + 1 : 1);
  w->value = dyno_word_whole (MIN (needed, 256));
  w->gain = gain_to (m, MIN (m->gpu_ceiling, rate_of_workers (m, needed)));
  return TRUE;
}

gboolean
dyno_check_is_cpu_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  double workers;

  if (!(m->wait_share >= threshold) || !is_held_up (m) || m->fetch_ms / m->decode_ms >= 0.5
      || m->loader_ceiling > PLENTY * m->gpu_ceiling)
    return FALSE;
  explain_loader (m, w);
  workers = more_workers (m);
  w->gain = gain_to (m, MIN (m->gpu_ceiling, rate_of_workers (m, workers)));
  if (workers > 0)
    w->value = dyno_word_whole (workers);
  else if (dyno_measures_cache_fits (m))
    advise_cache (m, w);
  else if (m->software)
    {
      w->key = "image_size";
      w->action =
          N_ ("Decoding and computing share the CPU's cores: smaller images (image_size), or "
              "a GPU");
    }
  else
    {
      w->gain = gain_to (m, m->gpu_ceiling);
      w->key = "image_size";
      w->action = N_ ("All cores decode already: smaller images (image_size), or files that are "
                      "stored smaller (the device could take {g})");
    }
  return TRUE;
}

gboolean
dyno_check_is_transfer_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->copy_share >= threshold))
    return FALSE;
  w->share = dyno_measures_share (m, m->phases.copy_ms);
  w->a = dyno_word_percent (m->copy_share);
  w->b = dyno_word_milliseconds (m->upload_ms);
  w->gain = gain_to (m, m->rate / (1 - m->copy_share));
  if (m->settings && !m->settings->pinned)
    w->value = g_strdup ("true");
  else
    {
      w->no_key = TRUE;
      w->action = N_ ("The link is the limit: smaller images, or a model that computes more per "
                      "sample; a slot with more PCIe lanes");
    }
  return TRUE;
}

/* The exchange takes the same time, but for twice the samples. */
static double
gain_of_twice (const DynoMeasures *m)
{
  double waits = m->exchange_share;

  return gain_to (m, m->rate * 2 / (2 - waits));
}

static void
advise_exchange (const DynoMeasures *m, DynoRuleWords *w)
{
  const DynoRunFacts *f = &m->input->facts;
  const DynoSettings *s = m->settings;
  double half = MIN (m->exchange_share, f->exchange_sum_ms / 2 / m->training_ms);

  if (s && s->exchange_bucket > 0 && f->exchange_buckets <= 2)
    {
      w->key = "exchange.bucket";
      w->value = g_strdup ("0");
      w->action = N_ ("Set exchange.bucket=0: smaller buckets, of which the backward pass hides "
                      "all but the last");
    }
  else if (s && f->amp && !s->exchange_half)
    {
      w->gain = gain_to (m, m->rate / (1 - half));
      w->value = g_strdup ("true");
    }
  else if (f->batch_size > 0 && f->fitting_batch >= 2 * f->batch_size)
    {
      w->gain = gain_of_twice (m);
      w->key = "batch_size";
      w->value = g_strdup_printf ("%" G_GUINT64_FORMAT, 2 * f->batch_size);
      w->action = N_ ("Set batch_size={v}: the ranks exchange after twice the samples ({g})");
    }
  else
    {
      w->gain = gain_of_twice (m);
      w->key = "accumulate";
      w->value = g_strdup_printf ("%" G_GUINT64_FORMAT, 2 * MAX (f->accumulate, 1));
      w->action = N_ ("Set accumulate={v}: the ranks exchange after twice the samples ({g})");
    }
}

gboolean
dyno_check_is_exchange_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->ranks > 1) || !(m->exchange_share >= threshold))
    return FALSE;
  w->share = m->exchange_share * dyno_measures_share (m, m->training_ms);
  w->a = dyno_word_percent (m->exchange_share);
  w->b = dyno_word_bytes ((double) m->input->facts.exchange_bytes);
  w->c = dyno_word_rate (m->exchange_ceiling);
  w->d = dyno_word_rate (m->gpu_ceiling);
  advise_exchange (m, w);
  return TRUE;
}

gboolean
dyno_check_waits_for_ranks (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->ranks > 1) || !(m->ranks_share >= threshold))
    return FALSE;
  w->share = m->ranks_share * dyno_measures_share (m, m->training_ms);
  w->a = dyno_word_percent (m->ranks_share);
  w->gain = gain_to (m, m->rate / (1 - m->ranks_share));
  return TRUE;
}

gboolean
dyno_check_is_launch_bound (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoRunFacts *facts = &m->input->facts;
  double batches = (double) (MAX (facts->accumulate, 1) * MAX (facts->parts, 1)),
         each = m->device_ms / batches / (double) facts->batch_dispatches;

  if (m->software || !(m->device_share + m->idle_share >= 0.8) || facts->batch_dispatches == 0
      || !(each * 1e3 < threshold))
    return FALSE;
  w->share = (m->device_share + m->idle_share) * dyno_measures_share (m, m->training_ms);
  w->a = g_strdup_printf ("%" G_GUINT64_FORMAT, facts->batch_dispatches);
  w->b = g_strdup_printf ("%.1f µs", each * 1e3);
  w->value = dyno_word_whole (2 * m->batch / m->ranks / batches);
  /* A batch of twice the size takes nearly the same time, as far as the loader keeps up. */
  w->gain = gain_to (m, MIN (2 * m->rate, m->loader_ceiling));
  if (isnan (m->loader_ceiling))
    w->gain = 1;
  return TRUE;
}

gboolean
dyno_check_is_idle (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->idle_share >= threshold) || m->software)
    return FALSE;
  w->share = dyno_measures_share (m, m->phases.idle_ms);
  w->a = dyno_word_percent (m->idle_share);
  w->gain = gain_to (m, m->gpu_ceiling);
  return TRUE;
}

static gboolean
is_throttled (const DynoMeasures *m, double share, double threshold, DynoRuleWords *w)
{
  const DynoSensorSummary *s = &m->input->sensors;

  if (!(share >= threshold))
    return FALSE;
  w->a = dyno_word_percent (share);
  w->b = isnan (s->gpu_temperature_most) ? g_strdup (_ ("unknown"))
                                         : g_strdup_printf ("%.0f °C", s->gpu_temperature_most);
  w->c = isnan (s->gpu_power) ? g_strdup (_ ("unknown")) : g_strdup_printf ("%.0f W", s->gpu_power);
  w->d = isnan (s->gpu_power_limit) ? g_strdup (_ ("unknown"))
                                    : g_strdup_printf ("%.0f W", s->gpu_power_limit);
  return TRUE;
}

gboolean
dyno_check_is_hot (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  return is_throttled (m, m->input->sensors.heat_share, threshold, w);
}

gboolean
dyno_check_is_short_of_power (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  return is_throttled (m, m->input->sensors.power_share, threshold, w);
}

static gboolean
is_device_bound (const DynoMeasures *m)
{
  return m->device_share >= 0.8 && !m->software;
}

/* The least time that the device's measured rates allow, in fp32 and in AMP, gives AMP's gain,
 * which comes from half the bytes and from matrix units. */
gboolean
dyno_check_amp_would_pay (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoRunFacts *f = &m->input->facts;
  double flops = f->flops_per_sample * m->batch / m->ranks, bytes_moved = f->batch_bytes, fp32, amp,
         factor;

  if (f->amp || !f->fp16 || !f->matrix || !is_device_bound (m))
    return FALSE;
  w->value = g_strdup ("true");
  if (!(f->matrix_flops_per_s > 0) || !(f->single_flops_per_s > 0) || !(flops > 0))
    {
      w->a = g_strdup (_ ("several")); /* "several times": the device was not measured yet */
      return TRUE;
    }
  fp32 = flops / f->single_flops_per_s;
  amp = flops / f->matrix_flops_per_s;
  if (f->copy_bytes_per_s > 0)
    {
      bytes_moved *= (double) (MAX (f->accumulate, 1) * MAX (f->parts, 1));
      fp32 = MAX (fp32, bytes_moved / f->copy_bytes_per_s);
      amp = MAX (amp, bytes_moved / 2 / f->copy_bytes_per_s);
    }
  factor = fp32 / amp;
  if (!(factor >= threshold))
    return FALSE;
  if (m->loader_ceiling > 0)
    factor = MIN (factor, m->loader_ceiling / m->rate);
  w->gain = gain_to (m, factor * m->rate);
  w->a = g_strdup_printf ("%.1f", f->matrix_flops_per_s / f->single_flops_per_s);
  if (isnan (w->gain))
    w->action = N_ ("Set amp=true once data comes faster: the loader is at its ceiling");
  return TRUE;
}

/* A search measured the device at larger batches: their gain is known. */
static gboolean
is_below_measured_batch (const DynoMeasures *m, DynoRuleWords *w)
{
  w->gain =
      gain_to (m, isnan (m->loader_ceiling) ? m->input->larger_ceiling
                                            : MIN (m->input->larger_ceiling, m->loader_ceiling));
  if (!(m->input->larger_ceiling >= LARGER * m->gpu_ceiling) || isnan (w->gain))
    return FALSE;
  w->text =
      N_ ("The device limits, but batch {b} keeps it busy without filling it: it computes {a} "
          "samples/s, and a search measured {d} at batch {v}; up to {c} would fit its "
          "memory");
  w->action = N_ ("Set batch_size={v} ({g})");
  w->a = dyno_word_rate (m->gpu_ceiling);
  w->d = dyno_word_rate (m->input->larger_ceiling);
  w->value = g_strdup_printf ("%" G_GUINT64_FORMAT, m->input->larger_batch);
  return TRUE;
}

/* TRUE where the kernels are so short that their launch is a large part of each; used where the
 * device's rates were not measured. */
static gboolean
are_kernels_short (const DynoMeasures *m, DynoRuleWords *w)
{
  const DynoRunFacts *f = &m->input->facts;
  double kernels = (double) (f->batch_dispatches * MAX (f->accumulate, 1) * MAX (f->parts, 1));

  if (!(kernels * KERNEL_US / 1e3 >= KERNELS * m->device_ms))
    return FALSE;
  w->text =
      N_ ("The device limits, but batch {b} keeps it busy without filling it: the {a} kernels "
          "of a batch take {d} each, of which much is their start; up to {c} would fit its "
          "memory");
  w->a = g_strdup_printf ("%" G_GUINT64_FORMAT, f->batch_dispatches);
  w->d = g_strdup_printf ("%.1f µs", m->device_ms * 1e3 / kernels);
  return TRUE;
}

static gboolean
is_little_used (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->arithmetic_share < threshold) || !(m->bandwidth_share < 0.5))
    return FALSE;
  w->a = dyno_word_percent (m->arithmetic_share);
  return TRUE;
}

gboolean
dyno_check_is_small_batch (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoRunFacts *f = &m->input->facts;
  gboolean small;

  if (!is_device_bound (m) || f->batch_size == 0 || f->fitting_batch < 2 * f->batch_size
      || (f->n_train > 0 && f->n_train < 8 * f->batch_size))
    return FALSE;
  if (m->input->larger_ceiling > 0)
    small = is_below_measured_batch (m, w);
  else if (m->arithmetic_share > 0)
    small = is_little_used (m, threshold, w);
  else
    small = are_kernels_short (m, w);
  if (!small)
    return FALSE;
  w->b = g_strdup_printf ("%" G_GUINT64_FORMAT, f->batch_size);
  w->c = g_strdup_printf ("%" G_GUINT64_FORMAT, f->fitting_batch);
  if (!w->value)
    w->value = g_strdup_printf ("%" G_GUINT64_FORMAT, 2 * f->batch_size);
  return TRUE;
}

gboolean
dyno_check_is_busy (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->device_share >= threshold))
    return FALSE;
  w->a = dyno_word_percent (m->device_share);
  return TRUE;
}

/* Explains why the device is not fully used, by the phases of a step in which it does not
 * compute. */
gboolean
dyno_check_explain_rest (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoPhases *p = &m->phases;
  const struct {
    const char *name;
    double ms;
  } parts[] = { { N_ ("waiting for data"), p->wait_data_ms },
                { N_ ("copies"), p->copy_ms },
                { N_ ("exchange with other ranks"), p->exchange_ms },
                { N_ ("validation"), p->validation_ms },
                { N_ ("saving"), p->saving_ms },
                { N_ ("idle between steps"), p->idle_ms } };
  double computed = p->forward_ms + p->backward_ms + p->optimizer_ms;
  GString *text;

  if (!(m->device_share >= 0) || computed / p->step_ms >= threshold)
    return FALSE;
  text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (parts[i].ms / p->step_ms >= 0.005)
      {
        g_autofree char *share = dyno_word_percent (parts[i].ms / p->step_ms);

        g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", share,
                                _ (parts[i].name));
      }
  w->a = dyno_word_percent (computed / p->step_ms);
  w->b = dyno_word_milliseconds (p->step_ms);
  w->c = g_string_free (text, FALSE);
  return *w->c != '\0';
}

gboolean
dyno_check_explain_arithmetic (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  gboolean computes = m->arithmetic_share >= threshold, moves = m->bandwidth_share >= threshold;

  if (!computes && !moves)
    return FALSE;
  if (!moves)
    w->text = N_ ("While it computes, the device reaches {a} of its own measured arithmetic rate");
  else if (!computes)
    w->text = N_ ("While it computes, the device reaches at least {b} of its own measured memory "
                  "bandwidth");
  w->a = dyno_word_percent (MIN (1, m->arithmetic_share));
  w->b = dyno_word_percent (MIN (1, m->bandwidth_share));
  return TRUE;
}

gboolean
dyno_check_has_long_ends (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  double ends = m->phases.validation_ms + m->phases.saving_ms;

  if (m->input->log.n_epochs == 0 || !(ends / m->phases.step_ms >= threshold))
    return FALSE;
  w->share = dyno_measures_share (m, ends);
  w->a = dyno_word_percent (ends / m->phases.step_ms);
  w->b = dyno_word_percent (m->phases.saving_ms / m->phases.step_ms);
  return TRUE;
}
