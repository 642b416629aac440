/* SPDX-License-Identifier: MIT */
/* See loss.h. */
#include "reference/loss.h"
#include <math.h>
#include <string.h>

/* The weight of the log probability of class j, as in PyTorch's cross entropy with
 * probabilities. */
static double
class_share (const ReferenceLoss *s, const guint32 targets[2], guint32 j)
{
  double weight = s->weights ? s->weights[j] : 1;
  double hot = (1 - s->mixed) * (j == targets[0]) + s->mixed * (j == targets[1]);
  return weight * ((1 - s->smoothing) * hot + s->smoothing / s->c);
}

static double
cross_entropy_row (const ReferenceLoss *s, const double *x, const guint32 targets[2],
                   double *correct, double *gradient)
{
  guint32 best = 0;
  for (guint32 j = 1; j < s->c; j++)
    if (x[j] > x[best])
      best = j;
  double sum = 0, loss = 0, all_q = 0;
  for (guint32 j = 0; j < s->c; j++)
    all_q += class_share (s, targets, j);
  for (guint32 j = 0; j < s->c; j++)
    sum += exp (x[j] - x[best]);
  for (guint32 j = 0; j < s->c; j++)
    {
      double log_p = x[j] - x[best] - log (sum);
      double q = class_share (s, targets, j);
      loss -= q * log_p;
      if (gradient)
        gradient[j] = all_q * exp (log_p) - q;
    }
  *correct += best == targets[s->mixed > 0.5];
  return loss;
}

/* The factor from the mean over rows to the mean over the weights of their targets. */
static double
find_norm (const ReferenceLoss *s, const double *targets)
{
  double sum = 0;
  for (guint32 i = 0; i < s->n_valid; i++)
    if (targets[i] >= 0 && targets[i] < s->c)
      {
        double before = targets[i > 0 ? i - 1 : s->n_valid - 1];
        double own = s->weights[(guint32) targets[i]];
        gboolean other = before >= 0 && before < s->c;
        sum += (1 - s->mixed) * own + s->mixed * (other ? s->weights[(guint32) before] : own);
      }
  return sum > 0 ? s->n_valid / sum : 0;
}

double
reference_cross_entropy (const ReferenceLoss *s, const double *logits, const double *targets,
                         double *correct, double *gradient)
{
  double loss = 0;
  *correct = 0;
  if (gradient)
    memset (gradient, 0, (gsize) s->n * s->c * sizeof (double));
  for (guint32 i = 0; i < s->n_valid; i++)
    if (targets[i] >= 0 && targets[i] < s->c)
      {
        double before = targets[i > 0 ? i - 1 : s->n_valid - 1];
        guint32 both[2] = { (guint32) targets[i], (guint32) targets[i] };
        if (before >= 0 && before < s->c)
          both[1] = (guint32) before;
        loss += cross_entropy_row (s, logits + (gsize) i * s->c, both, correct,
                                   gradient ? gradient + (gsize) i * s->c : NULL);
      }
  if (s->weights)
    {
      double norm = find_norm (s, targets);
      loss *= norm;
      for (gsize i = 0; gradient && i < (gsize) s->n * s->c; i++)
        gradient[i] *= norm;
    }
  return loss;
}

double
reference_log_loss (const ReferenceLoss *s, const double *logits, const double *targets)
{
  const ReferenceLoss plain = { s->n, s->c, s->n_valid, 0, NULL, 0 };
  double correct;
  return reference_cross_entropy (&plain, logits, targets, &correct, NULL) / log (2);
}

/* Removes the largest logit five times. */
double
reference_top5 (const ReferenceLoss *s, const double *logits, const double *targets)
{
  g_autofree double *x = g_new (double, s->c);
  guint32 hits = 0;
  for (guint32 i = 0; i < s->n_valid; i++)
    {
      memcpy (x, logits + (gsize) i * s->c, s->c * sizeof *x);
      for (guint32 place = 0; place < 5 && place < s->c; place++)
        {
          guint32 best = 0;
          for (guint32 j = 1; j < s->c; j++)
            if (x[j] > x[best])
              best = j;
          hits += best == targets[i];
          x[best] = -INFINITY;
        }
    }
  return hits;
}

double
reference_mse (const ReferenceLoss *s, const double *prediction, const double *targets,
               double *absolute, double *gradient)
{
  double loss = 0;
  *absolute = 0;
  for (gsize i = 0; i < (gsize) s->n * s->c; i++)
    {
      double d = i / s->c < s->n_valid ? prediction[i] - targets[i] : 0;
      loss += d * d / s->c;
      *absolute += fabs (d) / s->c;
      if (gradient)
        gradient[i] = 2 * d / s->c;
    }
  return loss;
}

double
reference_smooth_l1 (const ReferenceLoss *s, const double *prediction, const double *targets,
                     const double *beta, double *gradient)
{
  double loss = 0;
  for (gsize i = 0; i < (gsize) s->n * s->c; i++)
    {
      double bend = beta[i % s->c];
      double d = i / s->c < s->n_valid ? prediction[i] - targets[i] : 0;
      gboolean inside = fabs (d) < bend;
      loss += (inside ? d * d / (2 * bend) : fabs (d) - bend / 2) / s->c;
      if (gradient)
        gradient[i] = (inside ? d / bend : d > 0 ? 1 : -1) / s->c;
    }
  return loss;
}

double
reference_absolute (const ReferenceLoss *s, const double *prediction, const double *targets,
                    guint32 output)
{
  double sum = 0;
  for (gsize i = output; i < (gsize) s->n_valid * s->c; i += s->c)
    sum += fabs (prediction[i] - targets[i]);
  return sum;
}
