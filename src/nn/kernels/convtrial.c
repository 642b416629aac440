/* SPDX-License-Identifier: MIT */
/* See convtrial-private.h. */
#include "convtrial-private.h"
#include "fusion.h"
#include "ops.h"
#include <math.h>

const DynoConvKind dyno_conv_kinds[DYNO_CONV_N_KINDS] = {
  { NULL,
    15,
    { { 2, 16, 16, 64, 256, 1, 1, 0, 1 },
      { 2, 9, 11, 24, 40, 3, 1, 1, 1 },
      { 1, 13, 10, 10, 33, 3, 2, 1, 1 },
      { 2, 17, 40, 3, 40, 3, 1, 1, 1 },
      { 1, 30, 33, 3, 24, 7, 2, 3, 1 },
      { 256, 2, 2, 128, 32, 3, 1, 1, 1 },
      { 256, 3, 2, 32, 32, 3, 2, 1, 1 },
      { 2, 9, 11, 24, 40, 3, 1, 1, 1, DYNO_ACTIVATION_RELU },
      { 2, 8, 8, 64, 256, 1, 1, 0, 1, DYNO_ACTIVATION_RELU6 },
      { 256, 2, 2, 128, 32, 3, 1, 1, 1, DYNO_ACTIVATION_RELU },
      { 2, 19, 40, 20, 10, 3, 1, 1, 1 },
      { 2, 35, 18, 12, 28, 3, 1, 1, 1 },
      { 2, 26, 33, 40, 56, 3, 1, 1, 1 },
      { 2, 7, 7, 40, 72, 3, 1, 1, 1 },
      { 1, 19, 40, 40, 28, 3, 1, 1, 1, DYNO_ACTIVATION_RELU } } },
  { "depthwise",
    3,
    { { 2, 9, 11, 24, 24, 3, 1, 1, 24 },
      { 1, 13, 10, 10, 10, 3, 2, 1, 10 },
      { 2, 7, 6, 33, 33, 5, 1, 2, 33 } } },
  { "grouped", 2, { { 2, 9, 11, 64, 64, 3, 1, 1, 16 }, { 1, 7, 6, 12, 18, 3, 2, 1, 3 } } },
};

/* Values in [-1, 1), exact in fp16. */
static float *
fill (gsize n, guint32 seed)
{
  float *values = g_new (float, n);
  guint32 state = seed * 2654435769u + 1;
  for (gsize i = 0; i < n; i++)
    {
      state = state * 1664525u + 1013904223u;
      values[i] = (float) ((int) (state >> 21) - 1024) / 1024.0f;
    }
  return values;
}

/* The input of the convolution: x, with `load` after the batch norm by the batch's statistics and
 * the activation; g_free. */
static double *
read_of (const DynoConvTrial *t)
{
  double *in = g_new (double, t->n_x);
  gsize c = t->s.c, rows = t->n_x / c;
  for (gsize i = 0; i < t->n_x; i++)
    in[i] = t->x[i];
  for (gsize k = 0; k < c && t->s.load; k++)
    {
      double mean = 0, variance = 0;
      for (gsize row = 0; row < rows; row++)
        mean += in[row * c + k] / (double) rows;
      for (gsize row = 0; row < rows; row++)
        variance += (in[row * c + k] - mean) * (in[row * c + k] - mean) / (double) rows;
      for (gsize row = 0; row < rows; row++)
        {
          double y =
              (in[row * c + k] - mean) / sqrt (variance + 1e-5) * t->norm[0][k] + t->norm[1][k];
          in[row * c + k] = CLAMP (y, 0, t->s.load == DYNO_ACTIVATION_RELU6 ? 6 : INFINITY);
        }
    }
  return in;
}

/* Adds every product of the convolution once, to all three sums. */
static void
reference (DynoConvTrial *t)
{
  const DynoConvCase *s = &t->s;
  gsize taps = (gsize) s->kernel * s->kernel;
  g_autofree double *read = read_of (t);

  for (gsize i = 0; i < (gsize) s->n * t->oh * t->ow * taps; i++)
    {
      gsize pixel = i / taps, tap = i % taps, image = pixel / (t->oh * t->ow);
      gint64 y = (gint64) (pixel / t->ow % t->oh * s->stride + tap / s->kernel) - s->pad;
      gint64 x = (gint64) (pixel % t->ow * s->stride + tap % s->kernel) - s->pad;
      if (y < 0 || x < 0 || y >= s->h || x >= s->w)
        continue;
      gsize x_at = ((image * s->h + (gsize) y) * s->w + (gsize) x) * s->c;
      guint32 per_group = s->c / s->groups;
      for (guint32 k = 0; k < s->k; k++)
        for (guint32 i_c = 0; i_c < per_group; i_c++)
          {
            guint32 c = k / (s->k / s->groups) * per_group + i_c;
            gsize w_at = ((gsize) k * per_group + i_c) * taps + tap;
            double in = read[x_at + c], weight = t->weight[w_at], dy = t->dy[pixel * s->k + k];
            t->y_want[pixel * s->k + k] += in * weight;
            t->dx_want[x_at + c] += dy * weight;
            t->dw_want[w_at] += dy * in;
          }
    }
}

void
dyno_conv_trial_clear (DynoConvTrial *t)
{
  g_free (t->x);
  g_free (t->dy);
  g_free (t->weight);
  for (guint i = 0; i < G_N_ELEMENTS (t->norm); i++)
    g_free (t->norm[i]);
  g_free (t->y_want);
  g_free (t->dx_want);
  g_free (t->dw_want);
  dyno_graph_free (t->graph);
}

guint
dyno_conv_trial_values (const DynoConvTrial *t, const float *values[DYNO_CONV_MAX_PARAMETERS])
{
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (t->norm) && t->s.load; i++)
    values[n++] = t->norm[i];
  values[n++] = t->weight;
  return n;
}

/* Factors around 2, and a running variance of 1. */
static void
fill_norm (DynoConvTrial *t)
{
  for (guint i = 0; i < G_N_ELEMENTS (t->norm); i++)
    t->norm[i] = fill (t->s.c, 4 + i);
  for (guint32 k = 0; k < t->s.c; k++)
    {
      t->norm[0][k] = 2 + t->norm[0][k];
      t->norm[3][k] = 1;
    }
}

gboolean
dyno_conv_trial_init (DynoConvTrial *t, const DynoConvCase *s, const DynoPrecision *precision,
                      GError **error)
{
  gboolean accumulate;
  *t = (DynoConvTrial){ .s = *s, .precision = precision };
  t->graph = dyno_graph_new (
      &(DynoGraphParams){ .batch = s->n, .precision = *precision, .training = TRUE });
  t->input = dyno_graph_activation (t->graph, "x", s->n, s->h, s->w, s->c);
  t->behind = t->input;
  if (s->load)
    t->behind = dyno_activation (t->graph, dyno_batch_norm (t->graph, t->input, "norm"), s->load,
                                 "activation");
  else if (t->input)
    t->input->needs_gradient = TRUE;
  t->output = dyno_conv2d (t->graph, t->behind, "conv",
                           &(DynoConv2dParams){ .out_channels = s->k,
                                                .kernel_h = s->kernel,
                                                .kernel_w = s->kernel,
                                                .stride_h = s->stride,
                                                .stride_w = s->stride,
                                                .pad_h = s->pad,
                                                .pad_w = s->pad,
                                                .groups = s->groups });
  if (!dyno_graph_check (t->graph, error))
    return FALSE;
  if (s->load)
    dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, t->graph);
  t->seed = dyno_graph_gradient_target (t->graph, t->output, &accumulate);
  dyno_graph_backward (t->graph);
  if (s->load)
    dyno_fusion_apply (&dyno_fusion_norm_load, t->graph);
  if (!dyno_graph_check (t->graph, error))
    return FALSE;
  t->oh = t->output->h;
  t->ow = t->output->w;
  t->n_x = (gsize) s->n * s->h * s->w * s->c;
  t->n_y = (gsize) s->n * t->oh * t->ow * s->k;
  t->n_weight = (gsize) s->k * (s->c / s->groups) * s->kernel * s->kernel;
  t->x = fill (t->n_x, 1);
  t->dy = fill (t->n_y, 2);
  t->weight = fill (t->n_weight, 3);
  if (s->load)
    fill_norm (t);
  t->y_want = g_new0 (double, t->n_y);
  t->dx_want = g_new0 (double, t->n_x);
  t->dw_want = g_new0 (double, t->n_weight);
  reference (t);
  return TRUE;
}
