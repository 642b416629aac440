/* SPDX-License-Identifier: MIT */
#include "foresight.h"
#include "ceilings.h"
#include "cores.h"
#include "intl.h"
#include "parts.h"
#include "space.h"
#include <math.h>

/* seconds of the shortest trial, as in search.c for a search of 20 s and less */
#define TRIAL_S 0.4
#define STEPS   7 /* least steps of a trial, as DYNO_SEARCH_STEPS */
/* seconds for a new network's kernels, from the driver's cache, and its first step */
#define NEW_S   1.0
#define AGAIN_S 0.3
/* factor of NEW_S and AGAIN_S on a CPU, whose driver compiles the kernels */
#define SOFTWARE_NEW 8.0
/* llvmpipe: a small ResNet and a CNN reach 9 GFLOP/s on two cores. */
#define CORE_FLOPS_PER_S 4e9
#define AMP_SLOWER       5.0 /* factor of AMP's time on a CPU, to compile and to run */
#define LOOKS            3
#define TURNS            2

/* Seconds of the first measurement of settings (is_new), or of one of the repeated measurements
 * (turns) of the proof. */
static double
cost (const DynoForesightParams *p, const DynoSettings *s, gboolean is_new)
{
  double rate = p->flops_per_s > 0 ? p->flops_per_s : p->n_cores * CORE_FLOPS_PER_S,
         batch = (double) MIN ((guint64) (s->batch_size * s->accumulate), MAX (p->n_train, 1)),
         prepare = (is_new ? NEW_S : AGAIN_S) * (p->n_cores > 0 ? SOFTWARE_NEW : 1),
         steps = rate > 0 ? STEPS * batch * p->flops_per_sample / rate : 0,
         slower = p->n_cores > 0 && s->amp ? AMP_SLOWER : 1;

  return slower * prepare + MAX (TRIAL_S, slower * steps);
}

/* Counts the measurements in the order of a search on a CPU, which begins with the base line. */
void
dyno_foresee (const DynoForesightParams *p, DynoForesight *f)
{
  DynoSettings settings[LOOKS] = { *p->present, *p->present, *p->present };
  double seconds = 0;

  dyno_space_set_baseline (&settings[0]);
  /* represents the settings that the search finds, which do not use AMP on a CPU */
  settings[1].amp &= p->n_cores == 0;
  *f = (DynoForesight){ .n_needed = LOOKS * (1 + TURNS) };
  for (guint i = 0; i < f->n_needed; i++)
    {
      seconds += cost (p, &settings[i % LOOKS], i < LOOKS);
      f->n_fit += seconds <= 60 * p->minutes;
    }
  f->minutes = seconds / 60;
}

char *
dyno_foresight_describe (const DynoForesight *f, double minutes)
{
  if (f->n_fit >= f->n_needed)
    return NULL;
  return g_strdup_printf (
      ngettext ("%.2g minute has room for about %u of the %u measurements that a "
                "proof takes: about %.1f minutes would do.",
                "%.2g minutes have room for about %u of the %u measurements that a "
                "proof takes: about %.1f minutes would do.",
                minutes == 1 ? 1 : 2),
      minutes, f->n_fit, f->n_needed, MAX (ceil (10 * f->minutes) / 10, 0.1));
}

char *
dyno_foresee_job (const DynoJob *job, const DynoDatasetInfo *info, const DynoDeviceInfo *device,
                  double flops_per_sample, double minutes)
{
  gboolean software = device->type == DYNO_DEVICE_TYPE_SOFTWARE;
  DynoForesightParams params = { .present = &job->settings,
                                 .flops_per_sample = flops_per_sample,
                                 .n_cores = software ? dyno_cores_count () : 0,
                                 .minutes = minutes };
  DynoPartCounts counts;
  DynoForesight foresight;
  DynoCeilings ceilings;

  dyno_job_count_parts (job, info, &counts);
  params.n_train = counts.n_train;
  if (dyno_ceilings_load (device, &ceilings))
    params.flops_per_s = ceilings.single_flops_per_s;
  dyno_foresee (&params, &foresight);
  return dyno_foresight_describe (&foresight, minutes);
}
