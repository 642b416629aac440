/* SPDX-License-Identifier: MIT */
/* Evaluates a curve: batches that failed or do not fit have no rate and do not count. */
#include "curve.h"
#include "intl.h"
#include "verdict.h"
#include <math.h>

#define KNEE 1.10 /* the highest rate of any batch, relative to that of the knee, is at most this */

static const DynoCurvePoint *
find (const DynoTuneCurve *curve, gint64 batch)
{
  for (guint i = 0; i < curve->n; i++)
    if (curve->points[i].batch_size == batch && curve->points[i].samples_per_s > 0)
      return &curve->points[i];
  return NULL;
}

static double
percent_more (double now, double before)
{
  return 100 * (now / before - 1);
}

/* The cost and the gain of the step beyond the advised batch. */
static char *
describe_step (const DynoTuneCurve *curve)
{
  const DynoCurvePoint *from = find (curve, curve->smallest), *to = NULL;

  for (guint i = 0; from && i < curve->n && !to; i++)
    if (curve->points[i].batch_size >= 2 * from->batch_size && curve->points[i].samples_per_s > 0)
      to = &curve->points[i];
  if (!to || from->vram_bytes == 0 || to->vram_bytes == 0
      || to->samples_per_s < 0.9 * from->samples_per_s)
    return NULL;
  return g_strdup_printf (to->measured ? _ ("batch %d to %d: %+.0f %% for %+.0f %% memory")
                                       : _ ("batch %d to %d: %+.0f %% predicted, not measured, for "
                                            "%+.0f %% memory"),
                          (int) from->batch_size, (int) to->batch_size,
                          percent_more (to->samples_per_s, from->samples_per_s),
                          percent_more ((double) to->vram_bytes, (double) from->vram_bytes));
}

void
dyno_curve_read (DynoTuneCurve *curve, gint64 advised)
{
  double fastest = 0;
  guint n = 0;

  curve->knee = curve->smallest = curve->fastest = 0;
  for (guint i = 0; i < curve->n; i++)
    {
      const DynoCurvePoint *p = &curve->points[i];

      if (!(p->samples_per_s > 0))
        continue;
      n++;
      if (p->samples_per_s > fastest)
        {
          fastest = p->samples_per_s;
          curve->fastest = p->batch_size;
        }
    }
  for (guint i = 0; i < curve->n; i++)
    {
      const DynoCurvePoint *p = &curve->points[i];

      if (!(p->samples_per_s > 0))
        continue;
      if (curve->smallest == 0 && p->samples_per_s * DYNO_VERDICT_PAYS >= fastest)
        curve->smallest = p->batch_size;
      if (curve->knee == 0 && n > 1 && p->samples_per_s * KNEE >= fastest)
        curve->knee = p->batch_size;
    }
  if (advised > 0)
    curve->smallest = find (curve, advised) ? advised : 0;
  g_free (curve->text);
  curve->text = describe_step (curve);
}

const char *
dyno_curve_name_advised (const DynoTuneCurve *curve)
{
  const DynoCurvePoint *advised = find (curve, curve->smallest),
                       *fastest = find (curve, curve->fastest);

  double most;

  if (!advised || !fastest)
    return NULL;
  most = MAX (fastest->samples_per_s, curve->elsewhere);
  if (advised->samples_per_s >= most)
    return _ ("advised: the fastest");
  /* Where a smaller batch is within 3 % too, though not with certainty, "within 3 %" is not the
   * reason for this batch. */
  for (const DynoCurvePoint *p = curve->points; p < advised; p++)
    if (p->measured && p->samples_per_s * DYNO_VERDICT_PAYS >= most)
      return _ ("advised");
  /* The advised batch may be more than 3 % slower than the fastest: a faster batch that was only
   * predicted, or that is not clearly faster, is not advised. */
  return advised->samples_per_s * DYNO_VERDICT_PAYS < most ? _ ("advised")
                                                           : _ ("advised: within 3 %");
}

const char *
dyno_curve_name_fastest (const DynoTuneCurve *curve)
{
  const DynoCurvePoint *fastest = find (curve, curve->fastest);

  if (curve->fastest == 0 || curve->smallest == curve->fastest)
    return NULL;
  return !fastest || fastest->measured ? _ ("fastest") : _ ("fastest, predicted");
}
