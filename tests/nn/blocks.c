/* SPDX-License-Identifier: MIT */
/* Several layers together, as in models: this tests the tensors that the ops pass to each other,
 * too. */
#include "fusion.h"
#include "harness.h"
#include "network.h"
#include <math.h>

/* A block of EfficientNet as in the model, fused: the change of sum (y * dy) along a direction, by
 * central differences, equals the slope by the gradients of x and of all parameters. */
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
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
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

/* Five residual blocks in a row: each overwrites the gradient that it shares with the next block,
 * after that block has read it, so that all share one memory.  sums: the convolutions also compute
 * the sums of batch norms; restoring: of the block outputs that can be rematerialised, every second
 * one is. */
static double *
chain_run (gboolean amp, gboolean fuse, gboolean sums, gboolean restoring, gsize *n)
{
  static const guint32 batch = 2, side = 7, c = 24;
  guint made = 0;
  gsize count = (gsize) batch * side * side * c;
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp,
                                                         .training = TRUE,
                                                         .batch = batch,
                                                         .as_card = TRUE,
                                                         .restoring = restoring,
                                                         .gradient_sums = sums ? &made : NULL });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", batch, side, side, c, x), *y = input, *sides[5];
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++)
    {
      g_autofree char *conv = g_strdup_printf ("conv%u", i), *norm = g_strdup_printf ("bn%u", i),
                      *add = g_strdup_printf ("add%u", i), *relu = g_strdup_printf ("relu%u", i);
      const DynoConv2dParams point = {
        .out_channels = c, .kernel_h = 1, .kernel_w = 1, .init = DYNO_INIT_KAIMING_UNIFORM
      };
      DynoTensor *z = dyno_batch_norm (graph, dyno_conv2d (graph, y, conv, &point), norm);
      y = sides[i] = dyno_relu (graph, dyno_add (graph, z, y, add), relu);
    }
  if (fuse)
    dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_assert_cmpuint (made, ==, sums ? G_N_ELEMENTS (sides) - 1 : 0);
  for (guint i = 0; i + 1 < G_N_ELEMENTS (sides) && fuse; i++)
    g_assert_true (sides[i]->gradient == y->gradient);
  for (guint i = 0; i < G_N_ELEMENTS (sides) && restoring; i++)
    g_assert_cmpint (harness_has_again (h, sides[i]), ==, i == 0 || i == 2);
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
      g_autofree double *plain = chain_run (amp, FALSE, FALSE, FALSE, &n),
                        *fused = chain_run (amp, TRUE, FALSE, FALSE, &n),
                        *summed = chain_run (amp, TRUE, TRUE, FALSE, &n),
                        *restored = chain_run (amp, TRUE, TRUE, TRUE, &n);
      harness_assert_close (fused, plain, n, amp ? 1e-5 : 1e-7, "fused");
      harness_assert_close (summed, plain, n, amp ? 1e-5 : 1e-7, "with sums on the way");
      g_assert_cmpmem (restored, n * sizeof (double), summed, n * sizeof (double));
    }
}

/* A residual block with a strided shortcut: the shortcut's gradient is written without the zeros
 * between pixels, and the convolution of the main branch adds to it, with the same bits as over all
 * pixels. */
typedef struct {
  guint32 side, kernel,
      stride; /* of the convolution in the main branch; if its stride is 1, a second one follows */
  guint32 step;
} StridedCase;

static double *
strided_run (const StridedCase *s, gboolean amp, gboolean sparse, gboolean sums,
             const DynoVariant *variant, GArray **variants, gsize *n)
{
  static const guint32 batch = 2, c = 24;
  guint fused = 0, made = 0;
  gsize count = (gsize) batch * s->side * s->side * c;
  g_autofree double *x = harness_random (1, count, 1);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp,
                                                         .training = TRUE,
                                                         .batch = batch,
                                                         .as_card = TRUE,
                                                         .sparse = sparse ? &fused : NULL,
                                                         .gradient_sums = sums ? &made : NULL });
  DynoGraph *graph = harness_graph (h);
  const DynoConv2dParams beside = { .out_channels = 40,
                                    .kernel_h = s->kernel,
                                    .kernel_w = s->kernel,
                                    .stride_h = s->stride,
                                    .stride_w = s->stride,
                                    .pad_h = s->kernel / 2,
                                    .pad_w = s->kernel / 2,
                                    .init = DYNO_INIT_KAIMING_UNIFORM },
                         second = { .out_channels = 40,
                                    .kernel_h = 3,
                                    .kernel_w = 3,
                                    .stride_h = s->step,
                                    .stride_w = s->step,
                                    .pad_h = 1,
                                    .pad_w = 1,
                                    .init = DYNO_INIT_KAIMING_UNIFORM },
                         shortcut = { .out_channels = 40,
                                      .kernel_h = 1,
                                      .kernel_w = 1,
                                      .stride_h = s->step,
                                      .stride_w = s->step,
                                      .init = DYNO_INIT_KAIMING_UNIFORM };
  DynoTensor *input = harness_input (h, "x", batch, s->side, s->side, c, x);
  DynoTensor *y = dyno_relu (graph, dyno_batch_norm (graph, input, "bn"), "relu");
  DynoTensor *z = dyno_conv2d (graph, y, "beside", &beside);
  if (s->stride == 1)
    z = dyno_conv2d (graph, z, "second", &second);
  z = dyno_add (graph, z, dyno_conv2d (graph, y, "shortcut", &shortcut), "sum");
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  g_autofree double *dz = harness_random (2, (gsize) z->n * z->h * z->w * z->c, 1);
  harness_set_gradient (h, z, dz);
  if (variants)
    {
      g_autofree char *key =
          g_strdup_printf ("conv2d.dgrad %s n%u h%u w%u c%u k40 r%ux%u s%ux%u", amp ? "f16" : "f32",
                           batch, s->side, s->side, c, s->kernel, s->kernel, s->stride, s->stride);
      *variants = harness_variants (h, key);
      return NULL;
    }
  if (variant)
    harness_force (h, "conv2d.dgrad", variant);
  harness_run (h);
  g_assert_cmpuint (fused, ==, sparse);
  g_assert_cmpuint (made, ==, sums);
  *n = count;
  return harness_read_gradient (h, input);
}

static void
check_strided (const StridedCase *s, gboolean amp, gboolean sums, const DynoVariant *variant)
{
  gsize n;
  g_autofree double *whole = strided_run (s, amp, FALSE, sums, variant, NULL, &n),
                    *sparse = strided_run (s, amp, TRUE, sums, variant, NULL, &n);
  g_assert_cmpmem (sparse, n * sizeof (double), whole, n * sizeof (double));
}

static const StridedCase strided_cases[] = {
  { 12, 1, 1, 2 }, { 13, 3, 2, 2 }, { 11, 1, 1, 3 }, { 12, 3, 1, 2 }
};

static void
test_strided_shortcut (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (strided_cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      if (harness_takes (i + amp, 2))
        {
          check_strided (&strided_cases[i], amp, FALSE, NULL);
          check_strided (&strided_cases[i], amp, TRUE, NULL);
        }
}

/* Kernels of each kind, also those that split the K axis. */
static void
test_strided_variants (void)
{
  gboolean split = FALSE;
  for (guint i = 0; i < 2; i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        GArray *variants = NULL;
        gsize n;
        strided_run (&strided_cases[i == 0 ? 0 : 3], amp, TRUE, FALSE, NULL, &variants, &n);
        g_assert_cmpuint (variants->len, >, 0);
        for (guint v = 0; v < variants->len; v++)
          {
            const DynoVariant *variant = &g_array_index (variants, DynoVariant, v);
            if (variant->splits > 1 || harness_takes (v + i, 5))
              check_strided (&strided_cases[i == 0 ? 0 : 3], amp, FALSE, variant);
            split |= variant->splits > 1;
          }
        g_array_unref (variants);
      }
  g_assert_true (split);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/blocks/mobile-block-has-the-gradient-of-its-loss", test_block);
  g_test_add_func ("/nn/blocks/residuals-share-one-gradient", test_chain);
  g_test_add_func ("/nn/blocks/strided-shortcut-without-zeros", test_strided_shortcut);
  g_test_add_func ("/nn/blocks/strided-shortcut-every-variant", test_strided_variants);
  return g_test_run ();
}
