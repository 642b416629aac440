/* SPDX-License-Identifier: MIT */
/* The formula: loader and device run in parallel; the time is the longer of both and a share of the
 * shorter one. */
#include "simulation.h"
#include "gpu-error.h"
#include "space.h"
#include <math.h>

#define N_MOMENTS 1000 /* number of times at which visits begin or end */

static double
loader_rate (const DynoMachine *m, const DynoSettings *s)
{
  double each = s->cache ? m->cached_s : m->decode_s, workers = (double) MAX (s->workers, 1), rate;
  double read_s = s->cache ? 0 : m->read_s, above = workers - (double) (m->cores - 1);

  if (m->generated)
    return INFINITY;
  rate = (m->waits && !s->cache ? workers : MIN (workers, m->cores)) / each;
  if (read_s > 0)
    {
      above = workers * each / (each + read_s) - (double) (m->cores - 1);
      rate = MIN (workers / (each + read_s), m->cores / each);
    }
  if (s->workers == 0)
    rate *= 0.9;
  if (above > 0 && !(m->waits && !s->cache))
    rate *= MAX (1 - m->crowding * above, 0.1);
  if (m->disk > 0 && !s->cache)
    rate = MIN (rate, m->disk);
  return rate;
}

static double
gpu_rate (const DynoMachine *m, const DynoSettings *s)
{
  double b = (double) s->batch_size, n = (double) s->accumulate, batch_s;

  batch_s = m->step_s + b * m->sample_s[s->amp != 0];
  if (s->checkpointing)
    batch_s *= m->again > 0 ? m->again : 1.25;
  return b * n / (n * batch_s + m->optimizer_s);
}

double
dyno_machine_train_rate (const DynoMachine *m, const DynoSettings *s)
{
  double loader_s = 1 / loader_rate (m, s), gpu_s = 1 / gpu_rate (m, s);
  double above = MAX ((double) s->workers - m->cores / 2.0, 0);

  loader_s *= 1 + m->contention * above;
  return 1
         / (MAX (loader_s, gpu_s) + m->overlap_cost[s->workers > 0] * MIN (loader_s, gpu_s)
            + m->host_s / (double) (s->batch_size * s->accumulate));
}

static double
planned (const DynoMachine *m, const DynoSettings *s)
{
  return m->base_bytes
         + (double) s->batch_size * m->sample_bytes * (s->amp ? 0.5 : 1)
               * (s->checkpointing ? 0.5 : 1);
}

static double
validation_rate (const DynoMachine *m, const DynoSettings *s)
{
  return MIN (loader_rate (m, s), 3 * gpu_rate (m, s));
}

/* The machine once the device is warm and all data are in memory. */
static DynoMachine
settle (const DynoMachine *machine)
{
  DynoMachine m = *machine;

  for (guint i = 0; i < 2; i++)
    m.sample_s[i] /= 1 - m.heat;
  m.step_s /= 1 - m.heat;
  m.heat = m.read_s = 0;
  return m;
}

double
dyno_machine_rate (const DynoMachine *machine, const DynoSettings *s)
{
  DynoMachine settled = settle (machine);
  const DynoMachine *m = &settled;
  double n = (double) m->n_train;

  if (planned (m, s) > m->limit_bytes || (m->refused_bytes > 0 && planned (m, s) > m->refused_bytes)
      || (m->amp_fails && s->amp))
    return 0;
  return n
         / (n / dyno_machine_train_rate (m, s) + (double) m->n_validation / validation_rate (m, s)
            + m->end_s);
}

double
dyno_machine_best (const DynoMachine *m, const DynoSettings *start, double seconds, double *grid_s)
{
  double best = 0;

  *grid_s = 0;
  for (gint64 batch = 8; batch <= MIN (4096, (gint64) m->n_train / 8); batch *= 2)
    for (gint64 workers = 0; workers <= (m->generated ? 0
                                         : m->waits   ? 4 * m->cores
                                                      : m->cores);
         workers = MAX (1, workers * 2))
      for (int amp = 0; amp <= !m->no_fp16; amp++)
        for (int cache = 0; cache <= !(m->no_cache || m->generated); cache++)
          for (int checkpointing = 0; checkpointing <= 1; checkpointing++)
            {
              DynoSettings s = *start;

              s.batch_size = batch;
              s.workers = workers;
              s.amp = amp;
              s.cache = cache;
              s.checkpointing = checkpointing;
              if (planned (m, &s) > m->limit_bytes)
                continue;
              best = MAX (best, dyno_machine_rate (m, &s));
              *grid_s += m->prepare_s + (workers == 0 && cache == 0 ? m->compile_s + m->tune_s : 0)
                         + MAX (seconds, 7.0 * (double) batch / dyno_machine_train_rate (m, &s));
            }
  return best;
}

/* --- the meter -------------------------------------------------------------------------------- */

static double
normal (GRand *random)
{
  return sqrt (-2 * log (1 - g_rand_double (random))) * cos (2 * G_PI * g_rand_double (random));
}

static gboolean
is_visited (const DynoSimulation *sim, double at_s)
{
  guint i = 0;

  while (sim->visits[i] <= at_s)
    i++;
  return i % 2 == 1;
}

/* The machine at a moment of a measurement that has taken n samples so far. */
static DynoMachine
machine_at (const DynoSimulation *sim, double at_s, double n)
{
  DynoMachine m = *sim->machine;
  double loader = 1, gpu = 1;

  if (m.heat > 0)
    gpu *= 1 - m.heat * (1 - exp (-at_s / m.heat_s));
  if (m.wander > 0)
    {
      loader *= 1 + m.wander * sin (2 * G_PI * (at_s / m.wander_s + sim->phases[0]));
      gpu *= 1 + m.wander * sin (2 * G_PI * (at_s / m.wander_s / 1.37 + sim->phases[1]));
    }
  if (m.visit > 0 && is_visited (sim, at_s))
    loader *= 1 - m.visit;
  m.decode_s /= loader;
  m.cached_s /= loader;
  m.step_s /= gpu;
  for (guint i = 0; i < 2; i++)
    m.sample_s[i] /= gpu;
  m.read_s *= m.again_first ? (n < sim->n_read ? 0 : 1)
                            : exp (-(sim->n_read + n) / (double) MAX (m.n_train, 1));
  m.heat = 0;
  return m;
}

/* The remaining seconds of compiling a network, or of measuring its kernels. */
static double *
left_of (GHashTable *networks, const DynoSettings *s, double whole)
{
  g_autofree char *key =
      g_strdup_printf ("%" G_GINT64_FORMAT " %d %d", s->batch_size, s->amp, s->checkpointing);
  double *left = g_hash_table_lookup (networks, key);

  if (!left)
    {
      left = g_memdup2 (&whole, sizeof whole);
      g_hash_table_insert (networks, g_steal_pointer (&key), left);
    }
  return left;
}

/* Completed work is kept, also if the deadline (in seconds from now) comes before the end. */
static double
prepare_network (DynoSimulation *sim, const DynoSettings *s, double deadline_s)
{
  const DynoMachine *m = sim->machine;
  double *part[2] = { left_of (sim->compiled, s,
                               s->amp && m->compile_amp_s > 0 ? m->compile_amp_s : m->compile_s),
                      NULL },
         took = 0;

  if (sim->meter.tune_kernels && s->autotune)
    part[1] = left_of (sim->tuned, s, m->tune_s);
  for (guint i = 0; i < 2 && part[i]; i++)
    {
      double done = CLAMP (deadline_s - took, 0, *part[i]);

      if (done > 0 && sim->meter.preparing)
        sim->meter.preparing (i == 0 ? "compile" : "autotune", 12, 40, sim->meter.preparing_user);
      took += *part[i];
      *part[i] -= done;
    }
  if (took > 0 && sim->meter.preparing)
    sim->meter.preparing (NULL, 0, 0, sim->meter.preparing_user);
  return took;
}

typedef double (*Rate) (const DynoMachine *, const DynoSettings *);

/* Advances the clock, and gives windows with the rate of the machine at that moment. */
static gboolean
measure (DynoSimulation *sim, const DynoSettings *s, Rate rate_of, gboolean uses_cpu,
         double seconds, gint64 deadline_us, gboolean is_loader, DynoEstimate *e, GError **error)
{
  const DynoMachine *m = sim->machine;
  const DynoMachine first = machine_at (sim, sim->clock_s, 0);
  double rate = rate_of (&first, s), n_taken = 0;
  double windows[12], common = 1 + 0.3 * m->noise * normal (sim->random), took;
  double least =
      (is_loader ? 2.0 : 7.0) * (double) (s->batch_size * s->accumulate) / MAX (rate, 1e-9);

  sim->n++;
  sim->prepared_s = m->prepare_s;
  if (!is_loader)
    sim->prepared_s +=
        prepare_network (sim, s, (double) deadline_us / 1e6 - sim->clock_s - m->prepare_s);
  took = sim->prepared_s + MAX (seconds, rate > 0 ? least : 0);
  if (sim->n == m->stuck_at)
    took = INFINITY;
  if (sim->clock_s + took > (double) deadline_us / 1e6 + 1e-9)
    {
      sim->n_late++;
      sim->clock_s = MAX (sim->clock_s, (double) deadline_us / 1e6);
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT, "The time was over");
      return FALSE;
    }
  sim->clock_s += took;
  if (m->all_fails || (m->amp_fails && s->amp))
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_FAILED, "A kernel failed");
      return FALSE;
    }
  if (sim->n == m->lost_at)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_DEVICE_LOST, "The device was lost");
      return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    {
      double at = sim->clock_s - took * (1 - i / 12.0), slow = 1;

      if (uses_cpu && m->drift > 0)
        slow = 1 - m->drift * 0.5 * (1 + sin (2 * G_PI * at / m->drift_s));
      if (m->computes_nothing && !is_loader)
        slow = 0;
      if (m->stalls > 0 && g_rand_double (sim->random) < m->stalls)
        slow /= 3;
      const DynoMachine now = machine_at (sim, at, n_taken);
      rate = rate_of (&now, s);
      windows[i] = rate * common * slow * (1 + m->noise * normal (sim->random));
      windows[i] = MAX (windows[i], 0);
      n_taken += windows[i] * took / 12;
    }
  if (rate_of != gpu_rate)
    sim->n_read = m->again_first ? MAX (sim->n_read, n_taken) : sim->n_read + n_taken;
  dyno_estimate (windows, G_N_ELEMENTS (windows), e);
  return TRUE;
}

static gboolean
is_refused (DynoSimulation *sim, const DynoSettings *s, GError **error)
{
  const DynoMachine *m = sim->machine;

  if (planned (m, s) > m->limit_bytes)
    g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT, "It does not fit.");
  else if (m->refused_bytes > 0 && planned (m, s) > m->refused_bytes)
    {
      sim->clock_s += m->prepare_s;
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY, "It was refused");
    }
  else
    return FALSE;
  return TRUE;
}

static gboolean
loader (DynoMeter *meter, const DynoSettings *s, double seconds, gint64 deadline_us,
        GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  DynoSimulation *sim = (DynoSimulation *) meter;

  dyno_measurement_init (measurement);
  measurement->outside_cpu = sim->machine->outside_cpu;
  return measure (sim, s, loader_rate, TRUE, seconds, deadline_us, TRUE, &measurement->rate, error);
}

static gboolean
gpu (DynoMeter *meter, const DynoSettings *s, double seconds, gint64 deadline_us,
     GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  DynoSimulation *sim = (DynoSimulation *) meter;

  dyno_measurement_init (measurement);
  measurement->vram_bytes = measurement->planned_bytes = (guint64) planned (sim->machine, s);
  measurement->steps = sim->machine->computes_nothing ? 100 : 0;
  return !is_refused (sim, s, error)
         && measure (sim, s, gpu_rate, FALSE, seconds, deadline_us, FALSE, &measurement->rate,
                     error);
}

/* The settings in effect during a trial: the loader has no cache while the cache fills, which is
 * waited for as long as the meter requests. */
static DynoSettings
seen_settings (DynoSimulation *sim, const DynoSettings *s, double seconds, DynoMeasurement *taken)
{
  const DynoMachine *m = sim->machine;
  DynoSettings plain = *s;
  double fill_s;

  plain.cache = FALSE;
  if (!m->fills || !s->cache)
    return *s;
  fill_s = (double) m->n_train / dyno_machine_train_rate (m, &plain)
           + (double) m->n_validation / validation_rate (m, &plain);
  taken->filling = fill_s > MAX (1.5 * sim->meter.fill_s, seconds);
  if (taken->filling)
    return plain;
  sim->clock_s += taken->fill_s = fill_s;
  return *s;
}

/* Returns the seconds of a validation; 0 where training waits for data and the validation would
 * take longer than the measurement, as in the meter. */
static double
validate (const DynoMachine *m, const DynoSettings *s, double seconds)
{
  double samples = MIN ((double) m->n_validation, (double) (m->ends * s->batch_size)),
         rate = dyno_machine_train_rate (m, s);

  if (rate < 0.5 * gpu_rate (m, s) && samples > seconds * rate)
    return 0;
  return samples / validation_rate (m, s);
}

static gboolean
trial (DynoMeter *meter, const DynoSettings *s, double seconds, gint64 deadline_us,
       GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  DynoSimulation *sim = (DynoSimulation *) meter;
  const DynoMachine *m = sim->machine, now = machine_at (sim, sim->clock_s, 0);
  DynoSettings seen;
  double share;

  dyno_measurement_init (measurement);
  seen = seen_settings (sim, s, seconds, measurement);
  measurement->planned_bytes = (guint64) planned (m, s);
  measurement->steps = m->computes_nothing ? 100 : 0;
  if (is_refused (sim, s, error)
      || !measure (sim, &seen, dyno_machine_train_rate, loader_rate (m, s) < 2 * gpu_rate (m, s),
                   seconds, deadline_us, FALSE, &measurement->rate, error))
    return FALSE;
  measurement->prepare_s = sim->prepared_s;
  if (!meter->steps_only)
    sim->clock_s += validate (m, &seen, seconds);
  const DynoMachine settled = settle (m);
  share = dyno_machine_rate (m, s) / dyno_machine_train_rate (&settled, s);
  measurement->run_rate = measurement->rate;
  measurement->run_rate.median *= share;
  measurement->run_rate.low *= share;
  measurement->run_rate.high *= share;
  measurement->epoch_overhead_s = m->end_s;
  measurement->validation_rate = validation_rate (m, s);
  if (meter->steps_only)
    {
      sim->n_steps_only++;
      measurement->run_rate = measurement->rate;
      measurement->epoch_overhead_s = measurement->validation_rate = (double) NAN;
    }
  measurement->outside_cpu = m->outside_cpu;
  measurement->n_unreadable = m->n_unreadable;
  measurement->step_ms = 1e3 * (double) s->batch_size / dyno_machine_train_rate (&now, s);
  measurement->wait_data_ms =
      MAX (measurement->step_ms - 1e3 * (double) s->batch_size / gpu_rate (&now, s), 0);
  measurement->vram_bytes = measurement->planned_bytes;
  measurement->steps =
      (guint64) (seconds * dyno_machine_train_rate (m, s) / (double) s->batch_size);
  return TRUE;
}

static gboolean
plan (DynoMeter *meter, const DynoSettings *s, guint64 *bytes, gboolean *fits, char **advice,
      GError **error)
{
  DynoSimulation *sim = (DynoSimulation *) meter;
  const DynoMachine *m = sim->machine;

  sim->n_planned++;
  sim->clock_s += m->plan_s;
  *bytes = (guint64) planned (m, s);
  *fits = planned (m, s) <= m->limit_bytes;
  *advice = NULL;
  return TRUE;
}

static gboolean
numerics (DynoMeter *meter, const DynoSettings *s, gint64 deadline_us, GCancellable *cancellable,
          DynoNumerics *n, GError **error)
{
  DynoSimulation *sim = (DynoSimulation *) meter;

  sim->clock_s += 2 * sim->machine->prepare_s;
  *n = (DynoNumerics){ .n_steps = 16, .batch_size = s->batch_size };
  for (guint i = 0; i < n->n_steps; i++)
    {
      n->loss_fp32[i] = 2.0 / (1 + i);
      n->loss_amp[i] = sim->machine->amp_diverges && i > 4 ? (double) NAN : 2.0 / (1 + i);
      n->loss_scale[i] = 65536;
    }
  dyno_numerics_judge (n);
  return TRUE;
}

double
dyno_machine_epochs (const DynoMachine *m, const DynoSettings *s)
{
  return ceil (m->learn_epochs
               * MAX (pow ((double) (s->batch_size * s->accumulate) / 64, 0.7), 0.5));
}

/* The accuracy rises by equal steps. */
static gboolean
learn (DynoMeter *meter, const DynoSettings *s, const DynoLearningGoal *goal, gint64 deadline_us,
       GCancellable *cancellable, DynoLearning *l, GError **error)
{
  DynoSimulation *sim = (DynoSimulation *) meter;
  const DynoMachine *m = sim->machine;
  double epoch_s = (double) m->n_train / dyno_machine_rate (m, s),
         left = MIN ((double) deadline_us / 1e6 - sim->clock_s, goal->most_seconds);

  *l = (DynoLearning){ .name = "accuracy",
                       .higher_is_better = TRUE,
                       .is_fraction = TRUE,
                       .best = (double) NAN,
                       .samples_per_s = dyno_machine_rate (m, s) };
  while (!l->reached && l->seconds + epoch_s <= left
         && (goal->most_epochs == 0 || l->epochs < goal->most_epochs))
    {
      l->seconds += epoch_s;
      l->best = 0.9 * (double) ++l->epochs / dyno_machine_epochs (m, s);
      l->reached = l->best >= goal->value - 1e-9;
    }
  if (!l->reached && goal->most_epochs == 0)
    l->seconds = MAX (left, 0);
  sim->clock_s += l->seconds;
  return TRUE;
}

static void
simulation_free (DynoMeter *meter)
{
  DynoSimulation *sim = (DynoSimulation *) meter;

  g_rand_free (sim->random);
  g_free (sim->visits);
  g_hash_table_unref (sim->compiled);
  g_hash_table_unref (sim->tuned);
  g_free (sim);
}

static const DynoMeterClass class = { .loader = loader,
                                      .gpu = gpu,
                                      .trial = trial,
                                      .plan = plan,
                                      .free = simulation_free,
                                      .numerics = numerics };
static const DynoMeterClass learning_class = { .loader = loader,
                                               .gpu = gpu,
                                               .trial = trial,
                                               .plan = plan,
                                               .free = simulation_free,
                                               .numerics = numerics,
                                               .learn = learn };

/* Uses random numbers of its own, so that those of the noise do not change. */
static void
draw_moments (DynoSimulation *sim, guint32 seed)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (seed ^ 0x5bd1e995u);
  double at = 0;

  for (guint i = 0; i < 2; i++)
    sim->phases[i] = g_rand_double (random);
  sim->visits = g_new (double, N_MOMENTS);
  for (guint i = 0; i + 1 < N_MOMENTS; i++)
    sim->visits[i] = at -= sim->machine->visit_s * log (1 - g_rand_double (random));
  sim->visits[N_MOMENTS - 1] = INFINITY;
}

DynoSimulation *
dyno_simulation_new (const DynoMachine *machine, guint32 seed)
{
  DynoSimulation *sim = g_new0 (DynoSimulation, 1);

  sim->meter = (DynoMeter){ .class = machine->learn_epochs > 0 ? &learning_class : &class,
                            .n_cores = machine->cores,
                            .has_fp16 = !machine->no_fp16,
                            .software = machine->software,
                            .generated = machine->generated,
                            .can_cache = !machine->no_cache && !machine->generated,
                            .n_train = machine->n_train,
                            .n_validation = machine->n_validation,
                            .tune_kernels = TRUE };
  sim->machine = machine;
  sim->random = g_rand_new_with_seed (seed);
  draw_moments (sim, seed);
  sim->compiled = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  sim->tuned = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return sim;
}

void
dyno_simulation_free (DynoSimulation *sim)
{
  simulation_free (&sim->meter);
}

gint64
dyno_simulation_now_us (DynoSimulation *sim)
{
  return (gint64) (sim->clock_s * 1e6);
}
