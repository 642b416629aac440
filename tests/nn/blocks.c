/* SPDX-License-Identifier: MIT */
/* Several layers together, as models have them: that what passes between the ops is right, too. */
#include "harness.h"
#include "network.h"
#include <math.h>

/* A block of EfficientNet as its model has it, fused: the change of sum (y * dy) along a direction,
 * by central differences, is what the gradients of x and of all parameters say. */
static double
block_run (const double *x, const double *along, double step, double *slope)
{
  static const guint32 n = 2, side = 6, c = 16;
  gsize count = (gsize) n * side * side * c;
  g_autofree double *moved = g_new (double, count), *dy = harness_random (3, count, 1);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = n });
  DynoGraph *graph = harness_graph (h);
  for (gsize i = 0; i < count; i++)
    moved[i] = x[i] + step * along[i];
  DynoTensor *input = harness_input (h, "x", n, side, side, c, moved);
  const DynoConv2dParams deep = {
    .out_channels = 32, .kernel_h = 3, .kernel_w = 3, .pad_h = 1, .pad_w = 1, .groups = 32
  };
  DynoConv2dParams point = { .out_channels = 32, .kernel_h = 1, .kernel_w = 1 };
  DynoTensor *y = dyno_batch_norm (graph, dyno_conv2d (graph, input, "expand", &point), "bn1");
  y = dyno_activation (graph, y, DYNO_ACTIVATION_SILU, "silu1");
  y = dyno_batch_norm (graph, dyno_conv2d (graph, y, "depthwise", &deep), "bn2");
  y = dyno_activation (graph, y, DYNO_ACTIVATION_SILU, "silu2");
  DynoTensor *s = dyno_activation (
      graph, dyno_conv2d (graph, dyno_global_avg_pool (graph, y, "pool"), "squeeze", &point),
      DYNO_ACTIVATION_SIGMOID, "factors");
  point.out_channels = c;
  y = dyno_conv2d (graph, dyno_scale (graph, y, s, "scale"), "project", &point);
  y = dyno_add (graph, dyno_batch_norm (graph, y, "bn3"), input, "add");
  dyno_fuse_all (graph);
  g_assert_cmpstr (y->producer->op->name, ==, "batch_norm");
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GPtrArray) directions = g_ptr_array_new_with_free_func (g_free);
  for (guint k = 0; k < parameters->len; k++)
    {
      const DynoParameter *parameter = parameters->pdata[k];
      gsize values = dyno_parameter_count (parameter);
      g_autofree double *value = harness_random (50 + k, values, 0.5);
      double *direction = harness_random (90 + k, values, 0.5);
      g_ptr_array_add (directions, direction);
      if (parameter->is_state)
        continue;
      for (gsize i = 0; i < values; i++)
        value[i] += step * direction[i] + (parameter->n_dims == 1);
      harness_set_parameter (h, parameter->name, value);
    }
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_autofree double *got = harness_read (h, y), *dx = harness_read_gradient (h, input);
  double sum = 0;
  *slope = 0;
  for (gsize i = 0; i < count; i++)
    {
      sum += got[i] * dy[i];
      *slope += dx[i] * along[i];
    }
  for (guint k = 0; k < parameters->len; k++)
    {
      const DynoParameter *parameter = parameters->pdata[k];
      const double *direction = directions->pdata[k];
      if (parameter->is_state)
        continue;
      g_autofree double *gradient = harness_read_parameter_gradient (h, parameter->name);
      for (gsize i = 0; i < dyno_parameter_count (parameter); i++)
        *slope += gradient[i] * direction[i];
    }
  return sum;
}

static void
test_block (void)
{
  const gsize count = 2 * 6 * 6 * 16;
  const double step = 1.0 / 256;
  g_autofree double *x = harness_random (1, count, 1), *along = harness_random (2, count, 1);
  double slope, unused;
  double above = block_run (x, along, step, &unused), below = block_run (x, along, -step, &unused);
  block_run (x, along, 0, &slope);
  double want = (above - below) / (2 * step);
  g_test_message ("slope %g, by differences %g", slope, want);
  g_assert_cmpfloat (fabs (slope - want), <, 2e-3 * (1 + fabs (want)));
}

/* Three residual blocks in a row: each writes over the gradient that it shares with the one behind
 * it, which has read it, so that all have one memory; sums: and the convolutions make the sums of
 * batch norms. */
static double *
chain_run (gboolean amp, gboolean fuse, gboolean sums, gsize *n)
{
  static const guint32 batch = 2, side = 7, c = 24;
  guint made = 0;
  gsize count = (gsize) batch * side * side * c;
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp,
                                                         .training = TRUE,
                                                         .batch = batch,
                                                         .as_card = TRUE,
                                                         .gradient_sums = sums ? &made : NULL });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", batch, side, side, c, x), *y = input, *sides[3];
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    {
      g_autofree char *conv = g_strdup_printf ("conv%u", i), *norm = g_strdup_printf ("bn%u", i),
                      *add = g_strdup_printf ("add%u", i), *relu = g_strdup_printf ("relu%u", i);
      const DynoConv2dParams point = { .out_channels = c, .kernel_h = 1, .kernel_w = 1 };
      DynoTensor *z = dyno_batch_norm (graph, dyno_conv2d (graph, y, conv, &point), norm);
      y = sides[i] = dyno_relu (graph, dyno_add (graph, z, y, add), relu);
    }
  if (fuse)
    dyno_fuse_all (graph);
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_assert_cmpuint (made, ==, sums ? 2 : 0);
  for (guint i = 0; i + 1 < G_N_ELEMENTS (sides) && fuse; i++)
    g_assert_true (sides[i]->gradient == y->gradient);
  double *got = harness_read_gradient (h, input);
  *n = count;
  return got;
}

static void
test_chain (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      gsize n;
      g_autofree double *plain = chain_run (amp, FALSE, FALSE, &n),
                        *fused = chain_run (amp, TRUE, FALSE, &n),
                        *summed = chain_run (amp, TRUE, TRUE, &n);
      harness_assert_close (fused, plain, n, amp ? 1e-5 : 1e-7, "fused");
      harness_assert_close (summed, plain, n, amp ? 1e-5 : 1e-7, "with sums on the way");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/blocks/mobile-block-has-the-gradient-of-its-loss", test_block);
  g_test_add_func ("/nn/blocks/residuals-share-one-gradient", test_chain);
  return g_test_run ();
}
