/* SPDX-License-Identifier: MIT */
/* See lstm.h. */
#include "reference/lstm.h"
#include <math.h>
#include <string.h>

enum { I, F, G, O, N_GATES };

/* The values of a step of one sequence for the backward pass, H values each. */
typedef struct {
  double *gates[N_GATES], *cell, *before, *state; /* before: the state before the step */
} Step;

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static void
step_forward (const ReferenceLstm *s, const double *x, double *h, double *c, Step *step)
{
  guint32 hidden = s->hidden;
  memcpy (step->before, h, hidden * sizeof (double));
  for (guint gate = 0; gate < N_GATES; gate++)
    for (guint32 j = 0; j < hidden; j++)
      {
        gsize row = (gsize) gate * hidden + j;
        double sum = s->b_ih[row] + s->b_hh[row];
        for (guint32 k = 0; k < s->in; k++)
          sum += s->w_ih[row * s->in + k] * x[k];
        for (guint32 k = 0; k < hidden; k++)
          sum += s->w_hh[row * hidden + k] * step->before[k];
        step->gates[gate][j] = gate == G ? tanh (sum) : sigmoid (sum);
      }
  for (guint32 j = 0; j < hidden; j++)
    {
      c[j] = step->gates[F][j] * c[j] + step->gates[I][j] * step->gates[G][j];
      h[j] = step->gates[O][j] * tanh (c[j]);
    }
  memcpy (step->cell, c, hidden * sizeof (double));
  memcpy (step->state, h, hidden * sizeof (double));
}

static guint32
count_valid (const ReferenceLstm *s, guint32 n)
{
  return s->valid ? s->valid[n] : s->t;
}

static guint32
place_of (const ReferenceLstm *s, guint32 n, guint32 step)
{
  return s->reverse ? count_valid (s, n) - 1 - step : step;
}

/* Computes the valid steps of one sequence, in the order of the recurrence. */
static void
run_sequence (const ReferenceLstm *s, guint32 n, const double *x, Step *steps)
{
  g_autofree double *h = g_new0 (double, s->hidden), *c = g_new0 (double, s->hidden);
  for (guint32 i = 0; i < count_valid (s, n); i++)
    step_forward (s, x + ((gsize) n * s->t + place_of (s, n, i)) * s->in, h, c, &steps[i]);
}

static Step *
steps_new (const ReferenceLstm *s, double **memory)
{
  Step *steps = g_new (Step, s->t);
  double *next = *memory = g_new0 (double, (gsize) s->t * s->hidden * (N_GATES + 3));
  for (guint32 i = 0; i < s->t; i++)
    {
      for (guint gate = 0; gate < N_GATES; gate++, next += s->hidden)
        steps[i].gates[gate] = next;
      steps[i].cell = next;
      steps[i].before = next + s->hidden;
      steps[i].state = next + 2 * s->hidden;
      next += 3 * s->hidden;
    }
  return steps;
}

void
reference_lstm_forward (const ReferenceLstm *s, const double *x, double *y)
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

/* Computes dgates of a step from dh and dc, which become those of the previous step. */
static void
step_backward (const ReferenceLstm *s, const Step *step, const double *cell_before, double *dh,
               double *dc, double *dgates)
{
  guint32 hidden = s->hidden;
  for (guint32 j = 0; j < hidden; j++)
    {
      double i = step->gates[I][j], f = step->gates[F][j], g = step->gates[G][j],
             o = step->gates[O][j], e = tanh (step->cell[j]);
      double d = dc[j] + dh[j] * o * (1 - e * e);
      dgates[I * hidden + j] = d * g * i * (1 - i);
      dgates[F * hidden + j] = d * (cell_before ? cell_before[j] : 0) * f * (1 - f);
      dgates[G * hidden + j] = d * i * (1 - g * g);
      dgates[O * hidden + j] = dh[j] * e * o * (1 - o);
      dc[j] = d * f;
    }
  for (guint32 j = 0; j < hidden; j++)
    {
      dh[j] = 0;
      for (guint32 row = 0; row < N_GATES * hidden; row++)
        dh[j] += dgates[row] * s->w_hh[(gsize) row * hidden + j];
    }
}

void
reference_lstm_backward (const ReferenceLstm *s, const double *x, const double *dy, double *dx,
                         double *dw_ih, double *dw_hh, double *db)
{
  guint32 hidden = s->hidden;
  g_autofree double *memory = NULL, *dgates = g_new (double, N_GATES *hidden);
  g_autofree Step *steps = steps_new (s, &memory);
  for (guint32 n = 0; n < s->n; n++)
    {
      g_autofree double *dh = g_new0 (double, hidden), *dc = g_new0 (double, hidden);
      run_sequence (s, n, x, steps);
      for (guint32 i = count_valid (s, n); i-- > 0;)
        {
          gsize at = (gsize) n * s->t + place_of (s, n, i);
          for (guint32 j = 0; j < hidden; j++)
            dh[j] += dy[at * s->pitch + s->column + j];
          step_backward (s, &steps[i], i > 0 ? steps[i - 1].cell : NULL, dh, dc, dgates);
          for (guint32 row = 0; row < N_GATES * hidden; row++)
            {
              db[row] += dgates[row];
              for (guint32 k = 0; k < s->in; k++)
                {
                  dw_ih[(gsize) row * s->in + k] += dgates[row] * x[at * s->in + k];
                  dx[at * s->in + k] += dgates[row] * s->w_ih[(gsize) row * s->in + k];
                }
              for (guint32 k = 0; k < hidden; k++)
                dw_hh[(gsize) row * hidden + k] += dgates[row] * steps[i].before[k];
            }
        }
    }
}
