/* SPDX-License-Identifier: MIT */
/* See convtrial-private.h. */
#include "convtrial-private.h"
#include "ops.h"

const DynoConvKind dyno_conv_kinds[DYNO_CONV_N_KINDS] = {
  { NULL,
    7,
    { { 2, 16, 16, 64, 256, 1, 1, 0, 1 },
      { 2, 9, 11, 24, 40, 3, 1, 1, 1 },
      { 1, 13, 10, 10, 33, 3, 2, 1, 1 },
      { 2, 17, 40, 3, 40, 3, 1, 1, 1 },
      { 1, 30, 33, 3, 24, 7, 2, 3, 1 },
      { 256, 2, 2, 128, 32, 3, 1, 1, 1 },
      { 256, 3, 2, 32, 32, 3, 2, 1, 1 } } },
  { "depthwise",
    3,
    { { 2, 9, 11, 24, 24, 3, 1, 1, 24 },
      { 1, 13, 10, 10, 10, 3, 2, 1, 10 },
      { 2, 7, 6, 33, 33, 5, 1, 2, 33 } } },
  { "grouped", 2, { { 2, 9, 11, 64, 64, 3, 1, 1, 16 }, { 1, 7, 6, 12, 18, 3, 2, 1, 3 } } },
};

/* Values in (-1, 1), exact in fp16. */
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

/* Every product of the convolution once, into all three sums. */
static void
reference (DynoConvTrial *t)
{
  const DynoConvCase *s = &t->s;
  gsize taps = (gsize) s->kernel * s->kernel;

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
            double in = t->x[x_at + c], weight = t->weight[w_at], dy = t->dy[pixel * s->k + k];
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
  g_free (t->y_want);
  g_free (t->dx_want);
  g_free (t->dw_want);
  dyno_graph_free (t->graph);
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
  if (t->input)
    t->input->needs_gradient = TRUE;
  t->output = dyno_conv2d (t->graph, t->input, "conv",
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
  t->seed = dyno_graph_gradient_target (t->graph, t->output, &accumulate);
  dyno_graph_backward (t->graph);
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
  t->y_want = g_new0 (double, t->n_y);
  t->dx_want = g_new0 (double, t->n_x);
  t->dw_want = g_new0 (double, t->n_weight);
  reference (t);
  return TRUE;
}
