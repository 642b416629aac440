/* SPDX-License-Identifier: MIT */
/* See gru.h. */
#include "reference/gru.h"
#include <math.h>
#include <string.h>

enum { R, Z, NEW, N_GATES };

/* The values of a step of one sequence for the backward pass, H values each. */
typedef struct {
  double *gates[N_GATES], *product; /* product: W_hn h + b_hn */
  double *before, *state;           /* before: the state before the step */
} Step;

#define N_VALUES (N_GATES + 3)

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static double
dot (const double *a, const double *b, guint32 n)
{
  double sum = 0;
  for (guint32 k = 0; k < n; k++)
    sum += a[k] * b[k];
  return sum;
}

static void
step_forward (const ReferenceGru *s, const double *x, double *h, Step *step)
{
  guint32 hidden = s->hidden;
  memcpy (step->before, h, hidden * sizeof (double));
  for (guint32 j = 0; j < hidden; j++)
    {
      double of_x[N_GATES], of_h[N_GATES];
      for (guint gate = 0; gate < N_GATES; gate++)
        {
          gsize row = (gsize) gate * hidden + j;
          of_x[gate] = s->b_ih[row] + dot (s->w_ih + row * s->in, x, s->in);
          of_h[gate] = s->b_hh[row] + dot (s->w_hh + row * hidden, step->before, hidden);
        }
      double r = sigmoid (of_x[R] + of_h[R]), z = sigmoid (of_x[Z] + of_h[Z]),
             n = tanh (of_x[NEW] + r * of_h[NEW]);
      h[j] = (1 - z) * n + z * step->before[j];
      step->gates[R][j] = r;
      step->gates[Z][j] = z;
      step->gates[NEW][j] = n;
      step->product[j] = of_h[NEW];
      step->state[j] = h[j];
    }
}

static guint32
count_valid (const ReferenceGru *s, guint32 n)
{
  return s->valid ? s->valid[n] : s->t;
}

static guint32
place_of (const ReferenceGru *s, guint32 n, guint32 step)
{
  return s->reverse ? count_valid (s, n) - 1 - step : step;
}

/* Computes the valid steps of one sequence, in the order of the recurrence. */
static void
run_sequence (const ReferenceGru *s, guint32 n, const double *x, Step *steps)
{
  g_autofree double *h = g_new0 (double, s->hidden);
  for (guint32 i = 0; i < count_valid (s, n); i++)
    step_forward (s, x + ((gsize) n * s->t + place_of (s, n, i)) * s->in, h, &steps[i]);
}

static Step *
steps_new (const ReferenceGru *s, double **memory)
{
  Step *steps = g_new (Step, s->t);
  double *next = *memory = g_new0 (double, (gsize) s->t * s->hidden * N_VALUES);
  for (guint32 i = 0; i < s->t; i++, next += N_VALUES * s->hidden)
    {
      for (guint gate = 0; gate < N_GATES; gate++)
        steps[i].gates[gate] = next + gate * s->hidden;
      steps[i].product = next + N_GATES * s->hidden;
      steps[i].before = next + (N_GATES + 1) * s->hidden;
      steps[i].state = next + (N_GATES + 2) * s->hidden;
    }
  return steps;
}

void
reference_gru_forward (const ReferenceGru *s, const double *x, double *y)
{
  g_autofree double *memory = NULL;
  g_autofree Step *steps = steps_new (s, &memory);
  for (guint32 n = 0; n < s->n; n++)
    {
      run_sequence (s, n, x, steps);
      for (guint32 t = 0; t < s->t; t++)
        memset (y + ((gsize) n * s->t + t) * s->pitch + s->column, 0, s->hidden * sizeof (double));
      for (guint32 i = 0; i < count_valid (s, n); i++)
        memcpy (y + ((gsize) n * s->t + place_of (s, n, i)) * s->pitch + s->column, steps[i].state,
                s->hidden * sizeof (double));
    }
}

/* Computes the gradients of W_ih x + b_ih and of W_hh h + b_hh of a step from dh, which becomes
 * that of the previous step. */
static void
step_backward (const ReferenceGru *s, const Step *step, double *dh, double *of_x, double *of_h)
{
  guint32 hidden = s->hidden;
  for (guint32 j = 0; j < hidden; j++)
    {
      double r = step->gates[R][j], z = step->gates[Z][j], n = step->gates[NEW][j];
      double dn = dh[j] * (1 - z) * (1 - n * n), dz = dh[j] * (step->before[j] - n) * z * (1 - z),
             dr = dn * step->product[j] * r * (1 - r);
      of_x[R * hidden + j] = of_h[R * hidden + j] = dr;
      of_x[Z * hidden + j] = of_h[Z * hidden + j] = dz;
      of_x[NEW * hidden + j] = dn;
      of_h[NEW * hidden + j] = dn * r;
      dh[j] *= z;
    }
  for (guint32 j = 0; j < hidden; j++)
    for (guint32 row = 0; row < N_GATES * hidden; row++)
      dh[j] += of_h[row] * s->w_hh[(gsize) row * hidden + j];
}

/* Adds the gradients of the weights and of x of a step. */
static void
add_step (const ReferenceGru *s, const double *x, const double *before, const double *of_x,
          const double *of_h, double *dx, const ReferenceGruGradient *gradient)
{
  for (guint32 row = 0; row < N_GATES * s->hidden; row++)
    {
      gradient->b_ih[row] += of_x[row];
      gradient->b_hh[row] += of_h[row];
      for (guint32 k = 0; k < s->in; k++)
        {
          gradient->w_ih[(gsize) row * s->in + k] += of_x[row] * x[k];
          dx[k] += of_x[row] * s->w_ih[(gsize) row * s->in + k];
        }
      for (guint32 k = 0; k < s->hidden; k++)
        gradient->w_hh[(gsize) row * s->hidden + k] += of_h[row] * before[k];
    }
}

void
reference_gru_backward (const ReferenceGru *s, const double *x, const double *dy, double *dx,
                        const ReferenceGruGradient *gradient)
{
  guint32 hidden = s->hidden;
  g_autofree double *memory = NULL, *of_x = g_new (double, N_GATES *hidden),
                    *of_h = g_new (double, N_GATES *hidden);
  g_autofree Step *steps = steps_new (s, &memory);
  for (guint32 n = 0; n < s->n; n++)
    {
      g_autofree double *dh = g_new0 (double, hidden);
      run_sequence (s, n, x, steps);
      for (guint32 i = count_valid (s, n); i-- > 0;)
        {
          gsize at = (gsize) n * s->t + place_of (s, n, i);
          for (guint32 j = 0; j < hidden; j++)
            dh[j] += dy[at * s->pitch + s->column + j];
          step_backward (s, &steps[i], dh, of_x, of_h);
          add_step (s, x + at * s->in, steps[i].before, of_x, of_h, dx + at * s->in, gradient);
        }
    }
}
