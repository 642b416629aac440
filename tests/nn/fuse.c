/* SPDX-License-Identifier: MIT */
/* Fused nodes compared with the nodes that they replace, on the same inputs. */
#include "fusion.h"
#include "harness.h"
#include <math.h>
#include <string.h>

typedef struct {
  guint32 n, h, w, c;
  guint32 kernel, stride, pad;
} PoolCase;

static const PoolCase pool_cases[] = {
  { 2, 8, 8, 16, 2, 2, 0 },   { 3, 7, 9, 10, 2, 2, 0 },   { 2, 8, 8, 33, 3, 2, 1 },
  { 2, 9, 7, 8, 3, 2, 1 },    { 2, 9, 7, 24, 3, 2, 0 },   { 1, 7, 8, 12, 3, 3, 1 },
  { 2, 6, 9, 64, 3, 3, 0 },   { 2, 10, 11, 5, 2, 3, 0 },  { 2, 5, 6, 9, 2, 2, 1 },
  { 2, 10, 8, 7, 2, 3, 1 },   { 1, 2, 2, 3, 3, 2, 1 },    { 1, 3, 2, 520, 2, 2, 0 },
  { 4, 61, 67, 12, 3, 2, 1 }, { 5, 48, 50, 40, 2, 2, 0 }, { 2, 27, 21, 9, 3, 2, 1 },
  { 1, 16, 10, 20, 3, 2, 1 }, { 2, 15, 11, 9, 3, 2, 0 },  { 1, 21, 14, 10, 2, 2, 0 },
  { 1, 40, 1, 8, 3, 2, 1 },   { 1, 1, 19, 8, 3, 2, 1 },
};

typedef struct {
  gboolean relu, amp, training, accumulate, checkpointing;
  gboolean levels;    /* x takes three values */
  gboolean rounds;    /* different values of x become the same activation in fp16 */
  gboolean nonfinite; /* x holds NaN of both signs and infinities */
  double eps;         /* 0: the default value */
} PoolForm;

/* The results of a graph of batch norm, relu and max pool. */
typedef struct {
  gsize y_count, x_count;
  double *y, *dx, *dgamma, *dbeta, *running;
  double tolerance;
} PoolResult;

static void
pool_result_clear (PoolResult *r)
{
  g_free (r->y);
  g_free (r->dx);
  g_free (r->dgamma);
  g_free (r->dbeta);
  g_free (r->running);
}

static PoolResult
pool_run (const PoolCase *s, const PoolForm *form, gboolean fuse)
{
  PoolResult result = { .x_count = (gsize) s->n * s->h * s->w * s->c };
  g_autofree double *x = harness_random (1, result.x_count, 2);
  for (gsize i = 0; form->levels && i < result.x_count; i++)
    x[i] = x[i] > 0.3 ? 1 : x[i] > -1 ? 0 : -1; /* many equal values, of which the first must win */
  static const double odd[] = { NAN, -NAN, INFINITY, -INFINITY };
  for (gsize i = 0; form->nonfinite && i < result.x_count; i += 5 + i % 7)
    x[i] = odd[i / 3 % G_N_ELEMENTS (odd)];
  g_autofree double *gamma = harness_random (2, s->c, 1), *beta = harness_random (3, s->c, 0.5);
  g_autofree double *mean = harness_random (6, s->c, 1), *variance = harness_random (7, s->c, 0.5);
  for (guint i = 0; i < s->c; i++)
    {
      variance[i] += 1; /* gamma has both signs and may be small */
      beta[i] += form->rounds ? 300 : 0;
    }
  gamma[0] = 0;
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = form->amp,
                        .training = form->training,
                        .batch = s->n,
                        .checkpointing = form->checkpointing,
                        .kind = form->training ? DYNO_COMMAND_FULL : DYNO_COMMAND_FORWARD });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *y =
      dyno_batch_norm_with_params (graph, input, "bn", &(DynoBatchNormParams){ .eps = form->eps });
  y = form->relu ? dyno_relu (graph, y, "relu") : y;
  y = dyno_max_pool (graph, y, "pool", s->kernel, s->stride, s->pad);
  DynoTensor *other = form->accumulate ? dyno_relu (graph, input, "other") : NULL;
  if (fuse)
    {
      dyno_fusion_apply (&dyno_fusion_norm_activation, graph);
      g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_norm_pool, graph), ==, 1);
      g_assert_cmpuint (dyno_graph_get_nodes (graph)->len, ==,
                        (form->training ? 2 : 1) + (other != NULL));
    }
  harness_set_parameter (h, "bn.weight", gamma);
  harness_set_parameter (h, "bn.bias", beta);
  harness_set_parameter (h, "bn.running_mean", mean);
  harness_set_parameter (h, "bn.running_var", variance);
  result.y_count = (gsize) y->n * y->h * y->w * y->c;
  g_autofree double *dy = harness_random (4, result.y_count, 1),
                    *dother = harness_random (5, result.x_count, 1);
  if (form->training)
    harness_set_gradient (h, y, dy);
  if (form->training && other)
    harness_set_gradient (h, other, dother);
  harness_run (h);
  result.tolerance = harness_tolerance (h);
  result.y = harness_read (h, y);
  result.running = harness_read_parameter (h, "bn.running_var");
  if (form->training)
    {
      result.dx = harness_read_gradient (h, input);
      result.dgamma = harness_read_parameter_gradient (h, "bn.weight");
      result.dbeta = harness_read_parameter_gradient (h, "bn.bias");
    }
  return result;
}

/* The pooled values are bit-identical, since the arithmetic is the same.  Gradients are summed over
 * the winners instead of all of x. */
static void
check_pool (const PoolCase *s, const PoolForm *form)
{
  PoolResult fused = pool_run (s, form, TRUE), plain = pool_run (s, form, FALSE);
  g_assert_cmpmem (fused.y, fused.y_count * sizeof (double), plain.y,
                   plain.y_count * sizeof (double));
  g_assert_cmpmem (fused.running, s->c * sizeof (double), plain.running, s->c * sizeof (double));
  if (form->training)
    {
      harness_assert_close (fused.dx, plain.dx, fused.x_count, plain.tolerance, "dx");
      harness_assert_close (fused.dgamma, plain.dgamma, s->c, plain.tolerance, "dgamma");
      harness_assert_close (fused.dbeta, plain.dbeta, s->c, plain.tolerance, "dbeta");
    }
  pool_result_clear (&fused);
  pool_result_clear (&plain);
}

static void
check_pools (PoolForm form, guint step)
{
  for (guint i = 0; i < G_N_ELEMENTS (pool_cases); i += step)
    for (guint amp = 0; amp < 2; amp++)
      {
        form.amp = amp;
        if (harness_takes (i / step + amp + form.relu, 2))
          check_pool (&pool_cases[i], &form);
      }
}

static void
test_pool_relu (void)
{
  check_pools ((PoolForm){ .relu = TRUE, .training = TRUE }, 1);
}

static void
test_pool_plain (void)
{
  check_pools ((PoolForm){ .training = TRUE }, 1);
}

static void
test_pool_evaluation (void)
{
  check_pools ((PoolForm){ .relu = TRUE }, 3);
  check_pools ((PoolForm){ .relu = TRUE, .eps = 0.5 }, 7);
}

static void
test_pool_ties (void)
{
  check_pools ((PoolForm){ .relu = TRUE, .training = TRUE, .levels = TRUE }, 3);
  check_pools ((PoolForm){ .training = TRUE, .levels = TRUE }, 3);
  check_pools ((PoolForm){ .training = TRUE, .rounds = TRUE }, 3);
}

/* y of an evaluation has the same bits, or NaN in both. */
static void
test_pool_nonfinite (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (pool_cases); i += 2)
    for (guint variant = 0; variant < 4; variant++)
      {
        const PoolForm form = { .amp = variant & 1, .relu = variant & 2, .nonfinite = TRUE };
        PoolResult fused = pool_run (&pool_cases[i], &form, TRUE),
                   plain = pool_run (&pool_cases[i], &form, FALSE);
        for (gsize k = 0; k < plain.y_count; k++)
          if (isnan (plain.y[k]))
            g_assert_true (isnan (fused.y[k]));
          else
            g_assert_cmpmem (&fused.y[k], sizeof (double), &plain.y[k], sizeof (double));
        pool_result_clear (&fused);
        pool_result_clear (&plain);
      }
}

static void
test_pool_accumulates (void)
{
  check_pools ((PoolForm){ .relu = TRUE, .training = TRUE, .accumulate = TRUE }, 3);
}

static void
test_pool_checkpointing (void)
{
  check_pools ((PoolForm){ .relu = TRUE, .training = TRUE, .checkpointing = TRUE }, 3);
}

/* After a convolution, the gradient of its output overwrites the output; with second_reader another
 * op reads the output too, so it is not overwritten. */
static double *
convolution_run (gboolean amp, gboolean fuse, gboolean second_reader, gsize *count)
{
  const guint32 n = 3, side = 13, c = 5, out = 12;
  g_autofree double *x = harness_random (1, n * side * side * c, 2);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = n });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", n, side, side, c, x);
  DynoConv2dParams params = {
    .out_channels = out, .kernel_h = 3, .kernel_w = 3, .pad_h = 1, .pad_w = 1
  };
  DynoTensor *z = dyno_conv2d (graph, input, "conv", &params);
  DynoTensor *other = second_reader ? dyno_relu (graph, z, "other") : NULL;
  DynoTensor *y = dyno_max_pool (graph, dyno_relu (graph, dyno_batch_norm (graph, z, "bn"), "relu"),
                                 "pool", 3, 2, 1);
  if (fuse)
    dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  g_autofree double *dy = harness_random (2, n * side * side * out, 1);
  harness_set_gradient (h, y, dy);
  if (other)
    harness_set_gradient (h, other, dy);
  harness_run (h);
  g_assert_cmpint (z->gradient == z, ==, fuse && !second_reader);
  g_autofree double *dx = harness_read_gradient (h, input),
                    *dw = harness_read_parameter_gradient (h, "conv.weight");
  gsize n_x = n * side * side * c, n_w = 9 * c * out;
  double *all = g_new (double, n_x + n_w);
  memcpy (all, dx, n_x * sizeof (double));
  memcpy (all + n_x, dw, n_w * sizeof (double));
  *count = n_x + n_w;
  return all;
}

static void
test_pool_over_x (void)
{
  for (guint variant = 0; variant < 4; variant++)
    {
      gsize count;
      g_autofree double *fused = convolution_run (variant & 1, TRUE, variant & 2, &count);
      g_autofree double *plain = convolution_run (variant & 1, FALSE, variant & 2, &count);
      harness_assert_close (fused, plain, count, variant & 1 ? 1e-5 : 1e-7,
                            "gradients of the convolution");
    }
}

/* Convolutions whose kernels sum their columns: all kinds of tiles, edges of tiles, and more groups
 * than are read at once. */
typedef struct {
  guint32 n, side, c, out, kernel, stride, pad;
} SumsCase;

static const SumsCase sums_cases[] = {
  { 3, 13, 5, 12, 3, 1, 1 },  { 2, 19, 3, 40, 7, 2, 3 },  { 2, 12, 24, 72, 1, 1, 0 },
  { 2, 17, 40, 24, 3, 1, 1 }, { 4, 103, 3, 10, 3, 1, 1 },
};

static Harness *
sums_graph (const SumsCase *s, gboolean amp, DynoTensor **z)
{
  g_autofree double *x = harness_random (1, (gsize) s->n * s->side * s->side * s->c, 2);
  g_autofree double *mean = harness_random (3, s->out, 1), *variance = g_new (double, s->out);
  Harness *h = harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", s->n, s->side, s->side, s->c, x);
  DynoConv2dParams params = { .out_channels = s->out,
                              .kernel_h = s->kernel,
                              .kernel_w = s->kernel,
                              .stride_h = s->stride,
                              .stride_w = s->stride,
                              .pad_h = s->pad,
                              .pad_w = s->pad };
  for (guint i = 0; i < s->out; i++)
    variance[i] = 1 + i % 3;
  *z = dyno_conv2d (graph, input, "conv", &params);
  (*z)->keep = TRUE;
  dyno_batch_norm (graph, *z, "bn");
  harness_set_parameter (h, "bn.running_mean", mean);
  harness_set_parameter (h, "bn.running_var", variance);
  g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_column_sums, graph), ==, 1);
  g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_column_sums, graph), ==, 0);
  return h;
}

/* The running statistics, which include those of the batch, are compared with the statistics of the
 * stored output of the convolution. */
static void
check_sums (const SumsCase *s, gboolean amp, const DynoVariant *variant)
{
  char label[DYNO_VARIANT_LABEL];
  DynoTensor *z;
  g_autoptr (Harness) h = sums_graph (s, amp, &z);
  harness_force (h, "conv2d.forward", variant);
  harness_run (h);
  g_autofree double *values = harness_read (h, z), *old = harness_random (3, s->out, 1);
  g_autofree double *mean = harness_read_parameter (h, "bn.running_mean");
  g_autofree double *variance = harness_read_parameter (h, "bn.running_var");
  gsize rows = (gsize) z->n * z->h * z->w;
  dyno_variant_print (variant, label);
  g_test_message ("%s %s", amp ? "amp" : "fp32", label);
  for (guint c = 0; c < s->out; c++)
    {
      double sum = 0, square = 0;
      for (gsize row = 0; row < rows; row++)
        sum += values[row * s->out + c];
      for (gsize row = 0; row < rows; row++)
        square += (values[row * s->out + c] - sum / rows) * (values[row * s->out + c] - sum / rows);
      double want = 0.9 * old[c] + 0.1 * sum / rows,
             want_variance = 0.9 * (1 + c % 3) + 0.1 * square / (rows - 1);
      g_assert_cmpfloat_with_epsilon (mean[c], want, 2e-6 * (1 + fabs (want)));
      g_assert_cmpfloat_with_epsilon (variance[c], want_variance, 1e-5 * want_variance);
    }
}

static void
test_statistics (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sums_cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        DynoTensor *z;
        g_autoptr (Harness) first = sums_graph (&sums_cases[i], amp, &z);
        g_autoptr (GArray) variants = harness_variants (first, "conv2d.forward");
        g_assert_cmpuint (variants->len, >, 0);
        for (guint v = 0; v < variants->len; v++)
          if (harness_takes (v + i, i < 2 ? 2 : 4))
            check_sums (&sums_cases[i], amp, &g_array_index (variants, DynoVariant, v));
      }
}

/* Where the running mean, which is the pivot of the sums, is not finite, the sums are made around
 * 0: y is the same as without fusion. */
static void
test_statistics_pivot (void)
{
  const SumsCase *s = &sums_cases[2];
  DynoTensor *z;
  g_autoptr (Harness) h = sums_graph (s, TRUE, &z);
  g_autofree double *mean = harness_random (3, s->out, 1), *gamma = g_new (double, s->out);
  DynoNode *norm = g_ptr_array_index (dyno_graph_get_nodes (harness_graph (h)),
                                      dyno_graph_get_nodes (harness_graph (h))->len - 1);
  for (guint i = 0; i < s->out; i++)
    gamma[i] = 1;
  mean[3] = NAN;
  mean[10] = -INFINITY;
  harness_set_parameter (h, "bn.running_mean", mean);
  harness_set_parameter (h, "bn.weight", gamma);
  harness_run (h);
  g_autofree double *x = harness_read (h, z), *y = harness_read (h, norm->outputs[0]);
  gsize rows = (gsize) z->n * z->h * z->w;
  for (guint c = 0; c < s->out; c++)
    {
      double sum = 0, square = 0;
      for (gsize row = 0; row < rows; row++)
        sum += x[row * s->out + c];
      for (gsize row = 0; row < rows; row++)
        square += (x[row * s->out + c] - sum / rows) * (x[row * s->out + c] - sum / rows);
      for (gsize row = 0; row < rows; row++)
        g_assert_cmpfloat_with_epsilon (
            y[row * s->out + c], (x[row * s->out + c] - sum / rows) / sqrt (square / rows + 1e-5),
            4e-3);
    }
}

/* Channels whose sums of squares exceed fp32 have no variance, and not a variance of 0: their
 * running statistics stay, and those of other channels move.  One channel has such values; in the
 * other, only the squared sum of distances to the running mean is too large, where a kernel
 * computes it. */
static void
check_too_large (const SumsCase *s, const DynoVariant *variant)
{
  const guint large = 3, far = 10;
  gsize per_channel = (gsize) s->c * s->kernel * s->kernel;
  DynoTensor *z;
  g_autoptr (Harness) h = sums_graph (s, FALSE, &z);
  g_autofree double *weight = harness_random (5, s->out * per_channel, 1),
                    *old = harness_random (3, s->out, 1);
  for (gsize i = 0; i < per_channel; i++)
    weight[large * per_channel + i] *= 1e25;
  old[far] = 1e18;
  harness_set_parameter (h, "conv.weight", weight);
  harness_set_parameter (h, "bn.running_mean", old);
  harness_force (h, "conv2d.forward", variant);
  harness_run (h);
  g_autofree double *mean = harness_read_parameter (h, "bn.running_mean");
  g_autofree double *variance = harness_read_parameter (h, "bn.running_var");
  for (guint c = 0; c < s->out; c++)
    {
      g_assert_true (isfinite (mean[c]) && isfinite (variance[c]));
      gboolean stays = mean[c] == (double) (float) old[c] && variance[c] == 1 + c % 3;
      g_assert_true (c == far ? stays || variance[c] > 1 + c % 3 : stays == (c == large));
    }
}

static void
test_statistics_too_large (void)
{
  DynoTensor *z;
  g_autoptr (Harness) first = sums_graph (&sums_cases[2], FALSE, &z);
  g_autoptr (GArray) variants = harness_variants (first, "conv2d.forward");

  g_assert_cmpuint (variants->len, >, 0);
  for (guint v = 0; v < variants->len; v++)
    {
      const DynoVariant *variant = &g_array_index (variants, DynoVariant, v);
      char label[DYNO_VARIANT_LABEL];

      dyno_variant_print (variant, label);
      g_test_message ("%s", label);
      check_too_large (&sums_cases[2], variant);
    }
}

/* A convolution with a bias, and one that no batch norm follows, make no sums. */
static void
test_statistics_conditions (void)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = TRUE });
  DynoTensor *x = dyno_graph_activation (graph, "x", 2, 20, 20, 8);
  DynoConv2dParams params = { .out_channels = 8, .kernel_h = 1, .kernel_w = 1, .bias = TRUE };
  dyno_batch_norm (graph, dyno_conv2d (graph, x, "biased", &params), "bn");
  params.bias = FALSE;
  dyno_relu (graph, dyno_conv2d (graph, x, "other", &params), "relu");
  dyno_batch_norm (graph, x, "bn2");
  g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_column_sums, graph), ==, 0);
}

static guint
pool_applies (guint32 kernel, guint32 stride, guint32 pad, gboolean residual,
              gboolean second_reader)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = TRUE });
  DynoTensor *x = dyno_graph_activation (graph, "x", 2, 20, 20, 8);
  DynoTensor *y = dyno_batch_norm (graph, x, "bn");
  y = residual ? dyno_add (graph, y, x, "add") : y;
  y = dyno_relu (graph, y, "relu");
  dyno_max_pool (graph, y, "pool", kernel, stride, pad);
  if (second_reader)
    dyno_global_avg_pool (graph, y, "gap");
  dyno_fusion_apply (&dyno_fusion_norm_sum, graph);
  dyno_fusion_apply (&dyno_fusion_norm_activation, graph);
  return dyno_fusion_apply (&dyno_fusion_norm_pool, graph);
}

/* The window is applied to 20 x 20 pixels, with pads at the end. */
static guint
window_applies (DynoPoolWindow window, guint32 end_h, guint32 end_w)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = TRUE });
  DynoTensor *x = dyno_graph_activation (graph, "x", 2, 20, 20, 8),
             *y = dyno_batch_norm (graph, x, "bn");
  const DynoMaxPoolParams params = { .window = window, .end_h = end_h, .end_w = end_w };

  g_assert_nonnull (dyno_max_pool_with_params (graph, y, "pool", &params));
  return dyno_fusion_apply (&dyno_fusion_norm_pool, graph);
}

/* Windows that are not square, or that reach further past the end than the first one begins before
 * the image, are not fused. */
static void
test_pool_of_odd_windows_falls_back (void)
{
  g_assert_cmpuint (window_applies ((DynoPoolWindow){ 3, 3, 2, 2, 0, 0 }, 0, 0), ==, 1);
  g_assert_cmpuint (window_applies ((DynoPoolWindow){ 3, 3, 2, 2, 1, 1 }, 0, 1), ==, 1);
  g_assert_cmpuint (window_applies ((DynoPoolWindow){ 3, 3, 2, 2, 0, 0 }, 1, 0), ==, 0);
  g_assert_cmpuint (window_applies ((DynoPoolWindow){ 3, 3, 2, 2, 0, 0 }, 0, 1), ==, 0);
  g_assert_cmpuint (window_applies ((DynoPoolWindow){ 3, 2, 2, 2, 0, 0 }, 0, 0), ==, 0);
  g_assert_cmpuint (window_applies ((DynoPoolWindow){ 3, 3, 2, 3, 0, 0 }, 0, 0), ==, 0);
  g_assert_cmpuint (window_applies ((DynoPoolWindow){ 3, 3, 2, 2, 0, 1 }, 0, 1), ==, 0);
}

/* Large windows, windows for which fusion gains nothing, residuals and activations with other
 * readers are not fused. */
static void
test_pool_falls_back (void)
{
  g_assert_cmpuint (pool_applies (2, 2, 0, FALSE, FALSE), ==, 1);
  g_assert_cmpuint (pool_applies (3, 2, 1, FALSE, FALSE), ==, 1);
  g_assert_cmpuint (pool_applies (5, 2, 2, FALSE, FALSE), ==, 0);
  g_assert_cmpuint (pool_applies (3, 1, 1, FALSE, FALSE), ==, 0);
  g_assert_cmpuint (pool_applies (3, 5, 0, FALSE, FALSE), ==, 0);
  g_assert_cmpuint (pool_applies (2, 2, 0, TRUE, FALSE), ==, 0);
  g_assert_cmpuint (pool_applies (2, 2, 0, FALSE, TRUE), ==, 0);
}

/* Fusion depends on traits: an unknown op is fused by its declared traits, and an op with only a
 * known name is not. */
static void
test_rules_ask_traits (void)
{
  static const DynoOpClass rectifier = { .name = "rectifier",
                                         .traits = { .activation = DYNO_ACTIVATION_RELU } },
                           namesake = { .name = "relu" };
  for (guint known = 0; known < 2; known++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2 });
      DynoTensor *x = dyno_graph_activation (graph, "x", 2, 4, 4, 8),
                 *y = dyno_graph_activation (graph, "y", 2, 4, 4, 8);
      x = dyno_batch_norm (graph, x, "bn");
      dyno_graph_node (graph, known ? &rectifier : &namesake, "act", &x, 1, &y, 1, NULL, 0);
      g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_norm_activation, graph), ==, known);
      const DynoNode *norm = dyno_graph_get_nodes (graph)->pdata[0];
      double activation;
      g_assert_true (dyno_node_get_attribute (norm, "activation", &activation));
      g_assert_cmpfloat (activation, ==, known ? DYNO_ACTIVATION_RELU : DYNO_ACTIVATION_NONE);
      g_assert_true (norm->outputs[0] == (known ? y : x));
    }
}

/* batch_norm -> add, with either operand, becomes one node, unless another reader of the sum or of
 * the batch norm forbids it. */
static void
test_sum_without_activation (void)
{
  for (guint form = 0; form < 3; form++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2 });
      DynoTensor *x = dyno_graph_activation (graph, "x", 2, 6, 6, 5);
      DynoTensor *norm = dyno_batch_norm (graph, x, "bn");
      DynoTensor *y =
          form == 1 ? dyno_add (graph, x, norm, "add") : dyno_add (graph, norm, x, "add");
      if (form == 2)
        dyno_global_avg_pool (graph, norm, "other");
      g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_norm_sum, graph), ==, form < 2);
      g_assert_cmpstr (y->producer->op->name, ==, form < 2 ? "batch_norm" : "add");
    }
}

/* An activation is fused if it leaves pads zero, and after a residual if its slope follows from y.
 * The maximum over a window equals that of its activations only for monotonic ones, and the kernel
 * supports only ReLU. */
static void
test_activations_fall_back (void)
{
  static const gboolean stays[DYNO_N_ACTIVATIONS] = {
    [DYNO_ACTIVATION_SIGMOID] = TRUE,  [DYNO_ACTIVATION_HARD_SIGMOID] = TRUE,
    [DYNO_ACTIVATION_SOFTPLUS] = TRUE, [DYNO_ACTIVATION_EXP] = TRUE,
    [DYNO_ACTIVATION_SQRT] = TRUE,     [DYNO_ACTIVATION_RECIPROCAL] = TRUE,
    [DYNO_ACTIVATION_LOG] = TRUE,      [DYNO_ACTIVATION_COS] = TRUE
  };
  for (DynoActivation kind = DYNO_ACTIVATION_RELU; kind < DYNO_N_ACTIVATIONS; kind++)
    for (guint residual = 0; residual < 2; residual++)
      {
        g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2 });
        DynoTensor *x = dyno_graph_activation (graph, "x", 2, 6, 6, 5);
        DynoTensor *y = dyno_batch_norm (graph, x, "bn");
        y = residual ? dyno_add (graph, y, x, "add") : y;
        y = dyno_activation (graph, y, kind, "activation");
        dyno_max_pool (graph, y, "pool", 2, 2, 0);
        dyno_fusion_apply (&dyno_fusion_norm_sum, graph);
        dyno_fusion_apply (&dyno_fusion_norm_activation, graph);
        g_assert_cmpint (g_str_equal (y->producer->op->name, "batch_norm"), ==,
                         residual ? kind == DYNO_ACTIVATION_RELU : !stays[kind]);
        g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_norm_pool, graph), ==,
                          !residual && kind == DYNO_ACTIVATION_RELU);
      }
}

/* A stem with max pooling and a strided residual block: every fusion applies somewhere. */
static DynoTensor *
append_block (DynoGraph *graph)
{
  const DynoConv2dParams wide = { .out_channels = 16,
                                  .kernel_h = 3,
                                  .kernel_w = 3,
                                  .pad_h = 1,
                                  .pad_w = 1,
                                  .stride_h = 1,
                                  .stride_w = 1 },
                         strided = { .out_channels = 16,
                                     .kernel_h = 3,
                                     .kernel_w = 3,
                                     .pad_h = 1,
                                     .pad_w = 1,
                                     .stride_h = 2,
                                     .stride_w = 2 },
                         shortcut = { .out_channels = 16,
                                      .kernel_h = 1,
                                      .kernel_w = 1,
                                      .stride_h = 2,
                                      .stride_w = 2 };
  DynoTensor *x = dyno_graph_activation (graph, "x", 2, 32, 32, 8);
  x = dyno_batch_norm (graph, dyno_conv2d (graph, x, "stem", &wide), "stem_bn");
  x = dyno_max_pool (graph, dyno_relu (graph, x, "stem_relu"), "pool", 2, 2, 0);
  x = dyno_relu (graph, dyno_batch_norm (graph, dyno_conv2d (graph, x, "in", &wide), "in_bn"),
                 "in_relu");
  DynoTensor *y = dyno_batch_norm (graph, dyno_conv2d (graph, x, "a", &strided), "a_bn");
  y = dyno_batch_norm (graph, dyno_conv2d (graph, dyno_relu (graph, y, "a_relu"), "b", &wide),
                       "b_bn");
  DynoTensor *side = dyno_batch_norm (graph, dyno_conv2d (graph, x, "side", &shortcut), "side_bn");
  y = dyno_relu (graph, dyno_add (graph, y, side, "sum"), "relu");
  y = dyno_conv2d (graph, y, "out", &wide);
  return dyno_global_avg_pool (graph, y, "mean");
}

/* Tries every fusion of the stage at every node, which changes nothing; then applies them. */
static void
try_stage (DynoGraph *graph, DynoFusionStage stage, guint *applied)
{
  const DynoFusion *const *fusions = dyno_fusion_list ();
  for (guint i = 0; fusions[i]; i++)
    {
      if (fusions[i]->stage != stage)
        continue;
      g_autofree char *before = dyno_graph_print (graph);
      GPtrArray *nodes = dyno_graph_get_nodes (graph);
      for (guint k = 0; k < nodes->len; k++)
        {
          DynoNode *node = g_ptr_array_index (nodes, k), *other = NULL;
          if (fusions[i]->match (graph, node, &other))
            g_assert_true (other && other != node);
        }
      g_autofree char *after = dyno_graph_print (graph);
      g_assert_cmpstr (before, ==, after);
      applied[i] += dyno_fusion_apply (fusions[i], graph);
      /* The first call applied it everywhere. */
      g_assert_cmpuint (dyno_fusion_apply (fusions[i], graph), ==, 0);
      g_assert_true (dyno_graph_check (graph, NULL));
    }
}

static void
test_table (void)
{
  const DynoFusion *const *fusions = dyno_fusion_list ();
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  guint applied[32] = { 0 };
  for (guint i = 0; fusions[i]; i++)
    {
      g_assert_cmpuint (i, <, G_N_ELEMENTS (applied));
      g_assert_true (g_hash_table_add (names, (gpointer) fusions[i]->name));
      g_assert_true (i == 0 || fusions[i]->stage >= fusions[i - 1]->stage);
    }
  for (guint training = 0; training < 2; training++)
    {
      g_autoptr (DynoGraph) graph =
          dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = training != 0 });
      DynoTensor *y = append_block (graph);
      try_stage (graph, DYNO_FUSION_FORWARD, applied);
      if (!training)
        continue;
      y->gradient = dyno_graph_activation (graph, "dy", y->n, y->h, y->w, y->c);
      dyno_graph_backward (graph);
      try_stage (graph, DYNO_FUSION_BACKWARD, applied);
    }
  for (guint i = 0; fusions[i]; i++)
    {
      g_test_message ("%s: %u", fusions[i]->name, applied[i]);
      g_assert_cmpuint (applied[i], >, 0);
    }
}

/* A linear layer without bias -> batch norm -> relu -> another linear layer: y, and the gradients
 * of x and of the first layer's weight. */
static double *
linear_run (gboolean training, gboolean amp, gboolean as_card, gboolean fuse, gsize *count)
{
  enum { ROWS = 37, IN = 20, MIDDLE = 24, OUT = 5 };
  g_autofree double *x = harness_random (1, ROWS * IN, 1), *dz = harness_random (2, ROWS * OUT, 1);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp,
                                     .training = training,
                                     .batch = ROWS,
                                     .as_card = as_card,
                                     .kind = training ? DYNO_COMMAND_FULL : DYNO_COMMAND_FORWARD });
  DynoGraph *graph = harness_graph (h);
  DynoLinearParams params = { .out = MIDDLE, .init = DYNO_INIT_KAIMING_UNIFORM, .no_bias = TRUE };
  DynoTensor *input = harness_input (h, "x", ROWS, 1, 1, IN, x);
  DynoTensor *y = dyno_linear_with_params (graph, input, "first", &params);
  y = dyno_relu (graph, dyno_batch_norm (graph, y, "bn"), "relu");
  params.out = OUT;
  DynoTensor *z = dyno_linear_with_params (graph, y, "second", &params);
  if (fuse)
    {
      dyno_fusion_apply (&dyno_fusion_norm_activation, graph);
      g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_column_sums, graph), ==, training);
      g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_running_norm, graph), ==, !training);
    }
  if (training)
    harness_set_gradient (h, z, dz);
  harness_run (h);
  double *all = g_new (double, ROWS *OUT + ROWS * IN + MIDDLE * IN);
  g_autofree double *got = harness_read (h, z);
  *count = ROWS * OUT;
  memcpy (all, got, ROWS * OUT * sizeof (double));
  if (!training)
    return all;
  g_autofree double *dx = harness_read_gradient (h, input),
                    *dw = harness_read_parameter_gradient (h, "first.weight");
  memcpy (all + *count, dx, ROWS * IN * sizeof (double));
  memcpy (all + *count + ROWS * IN, dw, MIDDLE * IN * sizeof (double));
  *count += ROWS * IN + MIDDLE * IN;
  return all;
}

static void
test_linear_feeds_a_norm (void)
{
  for (guint form = 0; form < 8; form++)
    {
      gsize count;
      g_autofree double *apart = linear_run (form & 1, form & 2, form & 4, FALSE, &count),
                        *fused = linear_run (form & 1, form & 2, form & 4, TRUE, &count);
      harness_assert_close (fused, apart, count, form & 2 ? 5e-6 : 1e-7, "all");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/fuse/each-of-the-table-applies-and-asking-changes-nothing", test_table);
  g_test_add_func ("/nn/fuse/rules-ask-traits", test_rules_ask_traits);
  g_test_add_func ("/nn/fuse/a-sum-without-activation", test_sum_without_activation);
  g_test_add_func ("/nn/fuse/activations-that-are-not-taken-on", test_activations_fall_back);
  g_test_add_func ("/nn/fuse/statistics-of-a-convolution", test_statistics);
  g_test_add_func ("/nn/fuse/statistics-around-a-running-mean-that-is-not-finite",
                   test_statistics_pivot);
  g_test_add_func ("/nn/fuse/statistics-too-large-for-fp32", test_statistics_too_large);
  g_test_add_func ("/nn/fuse/statistics-conditions", test_statistics_conditions);
  g_test_add_func ("/nn/fuse/batch-norm-relu-max-pool-equals-unfused", test_pool_relu);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-equals-unfused", test_pool_plain);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-evaluates-as-unfused", test_pool_evaluation);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-takes-the-first-of-equals", test_pool_ties);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-of-nan-and-infinity", test_pool_nonfinite);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-accumulates", test_pool_accumulates);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-is-computed-again", test_pool_checkpointing);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-gradient-over-its-input", test_pool_over_x);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-falls-back", test_pool_falls_back);
  g_test_add_func ("/nn/fuse/batch-norm-max-pool-of-odd-windows-falls-back",
                   test_pool_of_odd_windows_falls_back);
  g_test_add_func ("/nn/fuse/linear-without-bias-feeds-a-batch-norm", test_linear_feeds_a_norm);
  return g_test_run ();
}
