/* SPDX-License-Identifier: MIT */
/* Conditions of the check lists for the time before, during and after a run. */
#include "diagnosis-private.h"
#include "intl.h"
#include <math.h>
#include <string.h>

#define MIB          (1024.0 * 1024)
#define LEAST_EPOCHS 3
#define LEAST_COURSE 40 /* least steps for a trend */
/* share of all cores' time, above which no core is idle for a waiting thread */
#define CORES_BUSY 0.95

/* --- before ----------------------------------------------------------------------------------- */

/* The part of a worker's time in which it needs a core: a worker that waits for a disk needs none.
 * It is not known before a run, and 1 is assumed.  If the cores are always busy, reading copies
 * from main memory and does not wait, unless the device is the CPU, which keeps the cores busy. */
static double
computing_share (const DynoMeasures *m)
{
  if (!(m->decode_ms > 0) || (!m->software && m->input->sensors.cpu_busy >= CORES_BUSY))
    return 1;
  return CLAMP (1 - m->fetch_ms / m->decode_ms, 0, 1);
}

/* TRUE where, of this many workers, more than threshold times the cores need a core at the same
 * time. */
static gboolean
shares_cores (const DynoMeasures *m, double threshold)
{
  double cores = (double) m->input->facts.cores;

  return m->settings && cores > 0 && !m->input->facts.generated
         && (double) m->settings->workers > threshold * cores
         && computing_share (m) * (double) m->settings->workers > threshold * cores;
}

gboolean
dyno_check_has_more_workers_than_cores (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  double cores = (double) m->input->facts.cores;

  if (!shares_cores (m, threshold))
    return FALSE;
  w->a = g_strdup_printf ("%" G_GINT64_FORMAT, m->settings->workers);
  w->b = dyno_word_whole (cores);
  if (cores < 2)
    w->text = N_ ("{a} workers share one core");
  w->value = dyno_word_whole (floor (cores / computing_share (m)));
  if (!(m->decode_ms > 0))
    w->action = N_ ("Set workers={v}, unless they wait for a disk or a server");
  return TRUE;
}

gboolean
dyno_check_could_cache (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoRunFacts *f = &m->input->facts;
  double need = (double) f->sample_bytes * (double) (f->n_train + f->n_validation);

  if (!dyno_measures_wait (m, threshold) || !dyno_measures_cache_fits (m))
    return FALSE;
  w->a = dyno_word_bytes (need);
  w->b = dyno_word_bytes ((double) f->ram_free_bytes);
  w->value = g_strdup ("true");
  return TRUE;
}

gboolean
dyno_check_is_near_memory (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  double planned = (double) m->input->facts.planned_bytes,
         limit = (double) m->input->facts.limit_bytes;

  /* A job that does not fit at all is refused, with the settings that would fit. */
  if (limit <= 0 || !(planned / limit > threshold) || planned > limit)
    return FALSE;
  w->a = dyno_word_bytes (planned);
  w->b = dyno_word_bytes (limit);
  return TRUE;
}

gboolean
dyno_check_has_no_validation (const DynoMeasures *m, double threshold G_GNUC_UNUSED,
                              DynoRuleWords *w)
{
  if (m->input->facts.n_train == 0 || m->input->facts.n_validation > 0)
    return FALSE;
  w->value = g_strdup ("0.1");
  return TRUE;
}

gboolean
dyno_check_is_software (const DynoMeasures *m, double threshold G_GNUC_UNUSED, DynoRuleWords *w)
{
  if (!m->software)
    return FALSE;
  w->a = g_strdup (m->input->facts.device);
  return TRUE;
}

gboolean
dyno_check_saves_power (const DynoMeasures *m, double threshold G_GNUC_UNUSED, DynoRuleWords *w)
{
  const char *governor = m->input->facts.governor;

  if (strcmp (governor, "powersave") != 0 && strcmp (governor, "conservative") != 0)
    return FALSE;
  w->a = g_strdup (governor);
  return dyno_measures_wait (m, 0.03) || m->software || m->idle_share >= 0.03;
}

gboolean
dyno_check_may_unload_driver (const DynoMeasures *m, double threshold G_GNUC_UNUSED,
                              DynoRuleWords *w G_GNUC_UNUSED)
{
  return m->input->facts.no_persistence;
}

gboolean
dyno_check_is_prepared (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoRunFacts *f = &m->input->facts;

  if (f->limit_bytes == 0 || !((double) f->planned_bytes <= threshold * (double) f->limit_bytes)
      || !m->settings || shares_cores (m, 1))
    return FALSE;
  w->a = dyno_word_bytes ((double) f->planned_bytes);
  w->b = dyno_word_bytes ((double) f->limit_bytes);
  return TRUE;
}

/* --- during ----------------------------------------------------------------------------------- */

gboolean
dyno_check_is_data_ahead (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->wait_share < threshold) || m->input->facts.generated || !(m->decode_ms > 0))
    return FALSE;
  w->a = dyno_word_rate (m->loader_ceiling);
  w->b = dyno_word_rate (m->rate);
  return TRUE;
}

gboolean
dyno_check_grows_in_vram (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  double growth = m->late_vram - m->early_vram;

  if (m->n_steps < LEAST_COURSE || !(growth > 16 * MIB) || !(growth > threshold * m->early_vram))
    return FALSE;
  w->a = dyno_word_bytes (m->early_vram);
  w->b = dyno_word_bytes (m->late_vram);
  return TRUE;
}

gboolean
dyno_check_grows_in_ram (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoSensorSummary *s = &m->input->sensors;

  if (s->n < 60 || (m->settings && m->settings->cache)
      || !((s->ram_late - s->ram_early) / s->ram_total > threshold))
    return FALSE;
  w->a = dyno_word_bytes (s->ram_early);
  w->b = dyno_word_bytes (s->ram_late);
  return TRUE;
}

gboolean
dyno_check_slows_down (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (m->n_steps < LEAST_COURSE || !(m->late_ms / m->early_ms > threshold))
    return FALSE;
  w->a = dyno_word_milliseconds (m->early_ms);
  w->b = dyno_word_milliseconds (m->late_ms);
  return TRUE;
}

/* Two measurements, each relative to its own total: Vulkan's covers the whole heap, a sensor's the
 * memory that the driver leaves to programs. */
gboolean
dyno_check_is_swapped_out (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const struct {
    double used, total;
  } counts[] = { { (double) m->input->log.whole.vram_all_bytes,
                   (double) m->input->facts.device_bytes },
                 { m->input->sensors.vram_all_most, m->input->sensors.vram_total } };

  for (guint i = 0; i < G_N_ELEMENTS (counts) && !m->software; i++)
    if (counts[i].total > 0 && counts[i].used >= threshold * counts[i].total)
      {
        w->a = dyno_word_bytes (counts[i].used);
        w->b = dyno_word_bytes (counts[i].total);
        return TRUE;
      }
  return FALSE;
}

gboolean
dyno_check_swaps (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (!(m->input->sensors.swap_in_per_s > threshold * MIB))
    return FALSE;
  w->a = dyno_word_bytes (m->input->sensors.swap_in_per_s);
  return TRUE;
}

/* Ranks of one host count as other programs to each other, and share the machine: no sensor can
 * distinguish the two. */
static gboolean
has_ranks_beside (const DynoMeasures *m)
{
  return m->input->facts.ranks > m->input->facts.hosts;
}

gboolean
dyno_check_shares_gpu (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (has_ranks_beside (m) || !(m->input->sensors.gpu_others >= threshold))
    return FALSE;
  w->a = dyno_word_whole (m->input->sensors.gpu_others);
  if (strcmp (w->a, "1") == 0)
    w->text = N_ ("Another program used this device meanwhile");
  return TRUE;
}

gboolean
dyno_check_shares_cpu (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoSensorSummary *s = &m->input->sensors;

  if (has_ranks_beside (m) || !(s->cpu_busy - s->cpu_own >= threshold))
    return FALSE;
  w->a = dyno_word_percent (s->cpu_busy - s->cpu_own);
  return TRUE;
}

gboolean
dyno_check_skips_updates (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoStretch *sum = &m->input->log.whole;
  double share = (double) sum->n_skipped / (double) MAX (sum->n_steps, 1);

  if (sum->n_steps < 100 || !(share > threshold))
    return FALSE;
  w->a = dyno_word_percent (share);
  w->value = g_strdup ("false");
  return TRUE;
}

gboolean
dyno_check_is_steady (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  if (m->n_steps < LEAST_COURSE || !(m->late_ms / m->early_ms <= threshold)
      || !(m->late_vram <= 1.01 * m->early_vram))
    return FALSE;
  w->a = dyno_word_milliseconds (m->late_ms);
  w->b = dyno_word_bytes (m->late_vram);
  return TRUE;
}

/* --- after ------------------------------------------------------------------------------------ */

gboolean
dyno_check_is_at_chance (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoStretches *log = &m->input->log;
  double guess = m->input->facts.guess_loss, last;

  if (!(guess > 0) || log->n_recent < LEAST_EPOCHS || log->n_steps < 30)
    return FALSE;
  for (guint i = log->n_recent - LEAST_EPOCHS; i < log->n_recent; i++)
    if (!(log->recent[i].train_loss >= threshold * guess)
        || log->recent[i].train_loss > 1000 * guess)
      return FALSE;
  last = log->recent[log->n_recent - 1].train_loss;
  w->a = g_strdup_printf ("%.4g", last);
  w->b = g_strdup_printf ("%.4g", guess);
  if (m->settings && m->settings->lr == 0)
    {
      const DynoOptimizerInfo *optimizer =
          dyno_optimizer_get_info ((DynoOptimizer) m->settings->optimizer);
      w->c = g_strdup_printf (_ ("Set lr, which is 0: usual for %s is %g"), optimizer->title,
                              optimizer->usual_lr);
    }
  else
    w->c = g_strdup (_ ("Try lr ten times as large and a tenth of it, and look whether the "
                        "targets belong to the samples"));
  return TRUE;
}

gboolean
dyno_check_overfits (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoStretches *log = &m->input->log;
  const DynoEpochMetrics *last;

  if (log->n_recent == 0 || log->best.epoch == 0 || log->worse_epochs < LEAST_EPOCHS)
    return FALSE;
  last = &log->recent[log->n_recent - 1];
  if (!(last->val_loss > threshold * log->best.val_loss)
      || !(last->train_loss < log->best.train_loss))
    return FALSE;
  w->a = g_strdup_printf ("%.4g", log->best.val_loss);
  w->b = g_strdup_printf ("%.4g", last->val_loss);
  w->c = g_strdup_printf ("%" G_GUINT64_FORMAT, log->best.epoch);
  w->value = g_strdup_printf ("%" G_GUINT64_FORMAT, log->best.epoch);
  return TRUE;
}

gboolean
dyno_check_learns (const DynoMeasures *m, double threshold, DynoRuleWords *w)
{
  const DynoStretches *log = &m->input->log;
  double guess = m->input->facts.guess_loss, reference = guess > 0 ? guess : log->first_loss, last;

  if (log->n_recent == 0)
    return FALSE;
  last = log->recent[log->n_recent - 1].train_loss;
  if (!(last < threshold * reference) || log->whole.n_bad > 0)
    return FALSE;
  w->a = g_strdup_printf ("%.4g", reference);
  w->b = g_strdup_printf ("%.4g", last);
  return TRUE;
}

gboolean
dyno_check_has_failed (const DynoMeasures *m, double threshold G_GNUC_UNUSED, DynoRuleWords *w)
{
  const DynoRunFacts *f = &m->input->facts;

  if (f->state != DYNO_SESSION_FAILED || f->diverged || m->input->log.whole.n_bad > 0)
    return FALSE;
  w->a = g_strdup (*f->problem ? f->problem : _ ("no reason was kept"));
  return TRUE;
}
