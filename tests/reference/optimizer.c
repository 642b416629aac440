/* SPDX-License-Identifier: MIT */
/* See optimizer.h. */
#include "reference/optimizer.h"
#include <math.h>

static void
move_scale (ReferenceOptimizer *o)
{
  if (o->overflow)
    o->good_steps = 0;
  else
    o->good_steps++;
  if (!o->dynamic_scale)
    return;
  if (o->overflow)
    o->scale *= 0.5;
  else if (o->good_steps == o->growth_interval)
    {
      o->scale *= 2;
      o->good_steps = 0;
    }
}

static void
step_sgd (const ReferenceOptimizer *o, double g, double *w, double *m)
{
  g += o->weight_decay * *w;
  *m = o->applied == 1 ? g : o->momentum * *m + g;
  *w -= o->lr * *m;
}

static void
step_adam (const ReferenceOptimizer *o, double g, double *w, double *m, double *v)
{
  *m = o->momentum * *m + (1 - o->momentum) * g;
  *v = o->beta2 * *v + (1 - o->beta2) * g * g;
  double first = 1 - pow (o->momentum, o->applied), second = 1 - pow (o->beta2, o->applied);
  *w -= o->lr / first * *m / (sqrt (*v) / sqrt (second) + o->epsilon);
}

static void
step_adamw (const ReferenceOptimizer *o, double g, double *w, double *m, double *v)
{
  *w -= o->lr * o->weight_decay * *w;
  step_adam (o, g, w, m, v);
}

static void
step_rmsprop (const ReferenceOptimizer *o, double g, double *w, double *m, double *v)
{
  g += o->weight_decay * *w;
  *v = o->beta2 * *v + (1 - o->beta2) * g * g;
  *m = o->momentum * *m + g / (sqrt (*v) + o->epsilon);
  *w -= o->lr * *m;
}

static void
step_lion (ReferenceOptimizer *o, double g, double *w, double *m)
{
  double direction = o->momentum * *m + (1 - o->momentum) * g;
  *w *= 1 - o->lr * o->weight_decay;
  *w -= o->lr * ((direction > 0) - (direction < 0));
  *m = o->beta2 * *m + (1 - o->beta2) * g;
  o->least_direction = fmin (o->least_direction, fabs (direction));
}

void
reference_optimizer_step (ReferenceOptimizer *o, gsize n, double *weights, const double *gradient,
                          double *moment1, double *moment2)
{
  double square = 0;
  o->overflow = FALSE;
  for (gsize i = 0; i < n; i++)
    {
      double g = gradient[i] / o->scale;
      square += g * g;
      if (!isfinite (gradient[i]))
        o->overflow = TRUE;
    }
  o->grad_norm = sqrt (square);
  double factor = o->clip_norm > 0 ? fmin (1, o->clip_norm / (o->grad_norm + 1e-6)) : 1;
  if (o->overflow)
    o->skipped++;
  else
    o->applied++;
  o->least_direction = HUGE_VAL;
  o->n_clipped = 0;
  for (gsize i = 0; i < n && !o->overflow; i++)
    {
      double g = gradient[i] / o->scale * factor;
      if (o->clip_value > 0 && fabs (g) > o->clip_value)
        {
          g = g > 0 ? o->clip_value : -o->clip_value;
          o->n_clipped++;
        }
      double *w = &weights[i], *m = &moment1[i], *v = &moment2[i];
      switch (o->rule)
        {
        case REFERENCE_ADAMW:
          step_adamw (o, g, w, m, v);
          break;
        case REFERENCE_ADAM:
          step_adam (o, g + o->weight_decay * *w, w, m, v);
          break;
        case REFERENCE_RMSPROP:
          step_rmsprop (o, g, w, m, v);
          break;
        case REFERENCE_LION:
          step_lion (o, g, w, m);
          break;
        case REFERENCE_SGD:
        default:
          step_sgd (o, g, w, m);
        }
    }
  move_scale (o);
}
