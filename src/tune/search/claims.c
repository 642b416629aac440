/* SPDX-License-Identifier: MIT */
/* Gathers the measurements by settings, and derives the claims.  Invariants: claims.h. */
#include "claims.h"
#include "space.h"
#include "verdict.h"
#include <math.h>
#include <string.h>

/* --- which is faster -------------------------------------------------------------------------- */

/* Student's t, one-sided, over the degrees of freedom. */
static const double
    student_95[] = { INFINITY, 6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89 }, /* 95 % */
    student_85[] = { INFINITY, 1.96, 1.39, 1.25, 1.19, 1.16, 1.13, 1.12 }; /* 85 % */

static gboolean
is_faster (const DynoEstimate *a, guint n_a, const DynoEstimate *b, guint n_b,
           const double *student)
{
  DynoEstimate x, y;
  double mean = 0, sum = 0;
  guint turns = MIN (MIN (n_a, n_b), G_N_ELEMENTS (student_95));

  dyno_estimate_combine (a, n_a, &x);
  dyno_estimate_combine (b, n_b, &y);
  if (!(x.median > 0) || !(y.median > 0))
    return FALSE;
  if (dyno_estimate_is_above (&x, &y, 1))
    return TRUE;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < turns; i++)
      {
        double more = log (a[i].median / b[i].median);

        if (pass == 0)
          mean += more / turns;
        else
          sum += (more - mean) * (more - mean);
      }
  return turns >= 2 && mean > student[turns - 1] * sqrt (sum / (turns - 1) / turns);
}

gboolean
dyno_claims_is_faster (const DynoEstimate *a, guint n_a, const DynoEstimate *b, guint n_b)
{
  return is_faster (a, n_a, b, n_b, student_95);
}

gboolean
dyno_claims_is_likely_faster (const DynoEstimate *a, guint n_a, const DynoEstimate *b, guint n_b)
{
  return is_faster (a, n_a, b, n_b, student_85);
}

gboolean
dyno_claims_is_closed (const DynoEstimate *e)
{
  return e->median > 0 && isfinite (e->low) && isfinite (e->high)
         && e->high - e->low <= 2 * DYNO_CLAIMS_CLOSED * e->median;
}

/* --- the proof -------------------------------------------------------------------------------- */

/* TRUE where the trial has the rate without its cache, which was being filled. */
static gboolean
was_filling (const DynoTrial *t)
{
  return t->outcome == DYNO_TRIAL_OK && t->settings.cache && t->text;
}

/* The proofs of these settings in this search, in order; proofs made while a cache was being filled
 * only where there are no others.  Elements DynoEstimate. */
static GArray *
list_proofs (const DynoTuneResult *r, const DynoSettings *settings)
{
  GArray *proofs = g_array_new (FALSE, FALSE, sizeof (DynoEstimate)),
         *filling = g_array_new (FALSE, FALSE, sizeof (DynoEstimate));

  for (guint i = r->n_known; i < r->trials->len; i++)
    {
      const DynoTrial *t = r->trials->pdata[i];
      DynoEstimate e = { t->samples_per_s, t->low, t->high, 2, TRUE };

      if (strcmp (t->stage, "proof") == 0 && t->outcome == DYNO_TRIAL_OK && t->samples_per_s > 0
          && dyno_space_same (&t->settings, settings))
        g_array_append_val (was_filling (t) ? filling : proofs, e);
    }
  if (proofs->len == 0)
    g_array_append_vals (proofs, filling->data, filling->len);
  g_array_unref (filling);
  return proofs;
}

static gboolean
is_faster_than (const DynoTuneResult *r, const GArray *best, const DynoTrial *other)
{
  g_autoptr (GArray) proofs = list_proofs (r, &other->settings);

  return dyno_space_same (&r->best.settings, &other->settings)
         || dyno_claims_is_faster ((const DynoEstimate *) (gpointer) best->data, best->len,
                                   (const DynoEstimate *) (gpointer) proofs->data, proofs->len);
}

static gboolean
was_proven_beside (const DynoTuneResult *r, const DynoTrial *other)
{
  g_autoptr (GArray) proofs = list_proofs (r, &other->settings);

  return *other->stage && proofs->len > 0;
}

/* Settings that do not fit into the device's memory have no rate: any settings that run are
 * faster. */
static gboolean
cannot_run (const DynoTrial *trial)
{
  return *trial->stage && trial->outcome == DYNO_TRIAL_DOES_NOT_FIT;
}

/* The racer that reached a goal first is proven the best only if the present settings and at least
 * one other racer ran. */
static guint
find_missing_racers (const DynoTuneResult *r)
{
  guint n = 0, missing = cannot_run (&r->today) ? 0 : DYNO_PROOF_TODAY;

  for (guint i = 0; i < r->racers->len; i++)
    {
      const DynoTuneRacer *racer = r->racers->pdata[i];

      n += racer->ran;
      if (racer->ran && dyno_space_same (&racer->settings, &r->today.settings))
        missing = 0;
    }
  return missing | (n > 1 ? 0 : DYNO_PROOF_RIVAL);
}

/* TRUE where the present settings stay the choice because noise hides whether others are faster. */
static gboolean
stays_for_noise (const DynoTuneResult *r)
{
  return r->keep_today && r->fastest.samples_per_s >= r->today.samples_per_s * DYNO_VERDICT_PAYS;
}

static guint
find_missing (const DynoTuneResult *r)
{
  g_autoptr (GArray) best = list_proofs (r, &r->best.settings);
  guint missing = 0;
  DynoEstimate e;

  dyno_estimate_combine ((const DynoEstimate *) (gpointer) best->data, best->len, &e);
  if (best->len < 2)
    missing |= DYNO_PROOF_BEST;
  else if (!dyno_claims_is_closed (&e))
    missing |= DYNO_PROOF_INTERVAL;
  if (!was_proven_beside (r, &r->baseline))
    missing |= DYNO_PROOF_BASELINE;
  if (!was_proven_beside (r, &r->today) && !cannot_run (&r->today))
    missing |= DYNO_PROOF_TODAY;
  if (r->winner >= 0)
    return missing | find_missing_racers (r);
  if ((missing & ~(guint) DYNO_PROOF_INTERVAL) == 0
      && (!is_faster_than (r, best, &r->baseline)
          || !(cannot_run (&r->today) || is_faster_than (r, best, &r->today))
          || stays_for_noise (r)))
    missing |= DYNO_PROOF_ORDER;
  /* No settings that were tried are faster, but larger batches were not tried. */
  if (r->keep_today && r->batches_to > 0)
    missing |= DYNO_PROOF_BATCHES;
  return missing;
}

/* --- ceilings and the limit ------------------------------------------------------------------- */

static gboolean
has_same_loader (const DynoSettings *a, const DynoSettings *b)
{
  return a->workers == b->workers && a->cache == b->cache && a->prefetch == b->prefetch
         && a->image_size == b->image_size;
}

static gboolean
has_same_device (const DynoSettings *a, const DynoSettings *b)
{
  return a->batch_size == b->batch_size && a->amp == b->amp && a->checkpointing == b->checkpointing
         && a->accumulate == b->accumulate;
}

/* The highest rate of training, or of the loader or device measured by itself, with those settings
 * of the best on which the ceiling depends. */
static double
find_measured (const DynoTuneResult *r, DynoCeilingOf of)
{
  gboolean (*is_same) (const DynoSettings *, const DynoSettings *) =
      of == DYNO_CEILING_LOADER ? has_same_loader : has_same_device;
  double most = MAX (r->best.train_samples_per_s, 0);

  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoTrial *t = r->trials->pdata[i];

      if (t->samples_per_s > 0 && is_same (&t->settings, &r->best.settings))
        most = MAX (most, MAX (t->train_samples_per_s, t->samples_per_s));
    }
  for (guint i = 0; i < r->ceilings->len; i++)
    {
      const DynoCeiling *c = r->ceilings->pdata[i];

      if (c->of == of && c->outcome == DYNO_TRIAL_OK && is_same (&c->settings, &r->best.settings))
        most = MAX (most, c->samples_per_s);
    }
  return most;
}

/* A ceiling that was exceeded was measured while other programs used the machine, or the machine
 * has changed since. */
static void
mend_ceiling (const DynoTuneResult *r, DynoCeilingOf of, double *ceiling)
{
  double measured = find_measured (r, of);

  if (!isfinite (*ceiling) || measured > DYNO_CLAIMS_EXCEEDED * *ceiling)
    *ceiling = (double) NAN;
  else
    *ceiling = MAX (*ceiling, measured);
}

/* TRUE where the step hides less than half of the exchange, and the rest takes more than a tenth of
 * the step. */
static gboolean
is_exchange_limit (const DynoTuneResult *r)
{
  return r->ranks.ranks > 1 && r->ranks.exposed_seconds > 0.5 * r->ranks.exchange_seconds
         && r->ranks.exposed_seconds > 0.1 * r->ranks.step_seconds;
}

static DynoTuneLimit
find_limit (const DynoTuneResult *r)
{
  double loader = r->loader_ceiling, gpu = r->gpu_ceiling;
  gboolean known = isfinite (loader) && isfinite (gpu),
           waits = r->wait_share >= DYNO_CLAIMS_WAITING;

  if (is_exchange_limit (r) && !(loader < gpu))
    return DYNO_TUNE_LIMIT_EXCHANGE;
  if (!known)
    return DYNO_TUNE_LIMIT_UNKNOWN;
  if (loader < gpu)
    return waits || isnan (r->wait_share) ? DYNO_TUNE_LIMIT_DATA : DYNO_TUNE_LIMIT_UNKNOWN;
  return waits ? DYNO_TUNE_LIMIT_BOTH : DYNO_TUNE_LIMIT_GPU;
}

/* --- batches ---------------------------------------------------------------------------------- */

static void
find_largest (DynoTuneResult *r)
{
  r->largest_ran = r->largest_fits = 0;
  for (guint i = 0; i < r->trials->len; i++)
    {
      const DynoTrial *t = r->trials->pdata[i];

      if (t->samples_per_s > 0)
        r->largest_ran = MAX (r->largest_ran, t->settings.batch_size);
    }
  for (guint i = 0; i < r->ceilings->len; i++)
    {
      const DynoCeiling *c = r->ceilings->pdata[i];

      if (c->of == DYNO_CEILING_GPU && c->samples_per_s > 0)
        r->largest_ran = MAX (r->largest_ran, c->settings.batch_size);
    }
  r->largest_fits = r->largest_ran;
  for (guint i = 0; i < r->curve.n; i++)
    if (r->curve.points[i].samples_per_s > 0)
      r->largest_fits = MAX (r->largest_fits, r->curve.points[i].batch_size);
}

void
dyno_claims_settle (DynoTuneResult *r)
{
  const DynoTrial *best = &r->best;

  r->wait_share = best->step_ms > 0 && best->wait_data_ms >= 0
                      ? CLAMP (best->wait_data_ms / best->step_ms, 0, 1)
                      : (double) NAN;
  mend_ceiling (r, DYNO_CEILING_LOADER, &r->loader_ceiling);
  mend_ceiling (r, DYNO_CEILING_GPU, &r->gpu_ceiling);
  r->limit = find_limit (r);
  find_largest (r);
  r->missing = find_missing (r);
  r->proven = r->missing == 0 && dyno_tune_result_has_best (r);
  r->inside_noise = (r->missing & DYNO_PROOF_ORDER) != 0;
}
