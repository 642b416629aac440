/* SPDX-License-Identifier: MIT */
/* Depthwise convolution compared with the naive reference in double, one channel at a time. */
#include "fusion.h"
#include "harness.h"
#include "reference/conv2d.h"
#include <math.h>
#include <string.h>

typedef struct {
  guint32 n, h, w, c, kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  guint32 dilation_h, dilation_w; /* 0 means 1 */
} Case;

/* Odd sides, batch 1, channels that are no multiple of 8, strides that skip rows, whole and partial
 * strips of columns and bands of rows, a kernel as large as the image, one dimension, pads wider
 * than the kernel reaches, more taps than registers, and more rows than a workgroup sums. */
static const Case cases[] = {
  { 2, 7, 7, 8, 3, 3, 1, 1, 1, 1 },     { 1, 9, 5, 3, 3, 3, 2, 2, 1, 1 },
  { 2, 12, 11, 33, 3, 3, 1, 1, 1, 1 },  { 1, 5, 6, 40, 3, 3, 2, 2, 0, 0 },
  { 2, 4, 3, 10, 5, 5, 1, 1, 2, 2 },    { 1, 3, 3, 16, 3, 3, 1, 1, 0, 0 },
  { 2, 1, 13, 12, 1, 3, 1, 1, 0, 1 },   { 2, 8, 9, 20, 3, 5, 1, 3, 2, 0 },
  { 1, 5, 6, 12, 3, 3, 1, 1, 3, 2 },    { 1, 9, 8, 24, 5, 5, 2, 2, 2, 2 },
  { 1, 9, 10, 12, 7, 7, 1, 1, 3, 3 },   { 1, 11, 9, 8, 7, 7, 2, 2, 3, 3 },
  { 3, 21, 19, 272, 3, 3, 2, 1, 1, 1 },
};
/* Dilated: phases of different sizes, more phases than rows, one dimension, pads wider than the
 * kernel reaches, and no pads. */
static const Case dilated_cases[] = {
  { 2, 9, 12, 20, 5, 5, 1, 1, 4, 4, 2, 2 }, { 1, 11, 8, 33, 3, 3, 1, 1, 2, 3, 2, 3 },
  { 2, 3, 4, 8, 3, 3, 1, 1, 5, 5, 5, 5 },   { 2, 1, 13, 12, 1, 3, 1, 1, 0, 4, 0, 2 },
  { 1, 10, 9, 16, 3, 3, 1, 1, 0, 0, 3, 2 }, { 1, 6, 7, 24, 3, 3, 1, 1, 6, 4, 2, 2 },
};

typedef struct {
  double *y, *dx, *dweight, *dbias;
} Results;

static void
results_clear (Results *r)
{
  g_free (r->y);
  g_free (r->dx);
  g_free (r->dweight);
  g_free (r->dbias);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Results, results_clear)

/* Copies channel c out of dense rows of `channels`, or back. */
static void
move_channel (double *rows, double *channel, gsize n_rows, guint32 channels, guint32 c,
              gboolean back)
{
  for (gsize i = 0; i < n_rows; i++)
    if (back)
      rows[i * channels + c] = channel[i];
    else
      channel[i] = rows[i * channels + c];
}

static Results
expect (const Case *s, double *x, double *weight, const double *bias, double *dy)
{
  const ReferenceConv2d one = {
    s->n,        s->h,        s->w,     1,        1, s->kernel_h,   s->kernel_w,
    s->stride_h, s->stride_w, s->pad_h, s->pad_w, 1, s->dilation_h, s->dilation_w
  };
  gsize taps = (gsize) s->kernel_h * s->kernel_w, nx = (gsize) s->n * s->h * s->w,
        ny = (gsize) s->n * reference_conv2d_oh (&one) * reference_conv2d_ow (&one);
  Results r = { g_new (double, ny * s->c), g_new (double, nx * s->c), g_new (double, taps * s->c),
                g_new (double, s->c) };
  g_autofree double *x1 = g_new (double, nx), *y1 = g_new (double, ny), *dx1 = g_new (double, nx),
                    *dy1 = g_new (double, ny);
  for (guint32 c = 0; c < s->c; c++)
    {
      move_channel (x, x1, nx, s->c, c, FALSE);
      move_channel (dy, dy1, ny, s->c, c, FALSE);
      reference_conv2d_forward (&one, x1, weight + c * taps, bias + c, y1);
      reference_conv2d_backward (&one, x1, weight + c * taps, dy1, dx1, r.dweight + c * taps,
                                 r.dbias + c);
      move_channel (r.y, y1, ny, s->c, c, TRUE);
      move_channel (r.dx, dx1, nx, s->c, c, TRUE);
    }
  return r;
}

/* Both gradients are added to existing values. */
static Results
run (const Case *s, gboolean amp, gboolean as_card, gboolean compare)
{
  const ReferenceConv2d one = {
    s->n,        s->h,        s->w,     1,        1, s->kernel_h,   s->kernel_w,
    s->stride_h, s->stride_w, s->pad_h, s->pad_w, 1, s->dilation_h, s->dilation_w
  };
  guint32 oh = reference_conv2d_oh (&one), ow = reference_conv2d_ow (&one);
  gsize nx = (gsize) s->n * s->h * s->w * s->c, ny = (gsize) s->n * oh * ow * s->c,
        nw = (gsize) s->kernel_h * s->kernel_w * s->c;
  g_autofree double *x = harness_random (1, nx, 1), *weight = harness_random (2, nw, 1),
                    *bias = harness_random (3, s->c, 1), *dy = harness_random (4, ny, 1),
                    *dx_start = harness_random (5, nx, 1), *dw_start = harness_random (6, nw, 1);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n, .as_card = as_card });
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *y = dyno_conv2d (harness_graph (h), input, "conv",
                               &(DynoConv2dParams){ .out_channels = s->c,
                                                    .kernel_h = s->kernel_h,
                                                    .kernel_w = s->kernel_w,
                                                    .stride_h = s->stride_h,
                                                    .stride_w = s->stride_w,
                                                    .pad_h = s->pad_h,
                                                    .pad_w = s->pad_w,
                                                    .groups = s->c,
                                                    .dilation_h = s->dilation_h,
                                                    .dilation_w = s->dilation_w,
                                                    .bias = TRUE });
  g_assert_nonnull (y);
  g_assert_true (y->h == oh && y->w == ow && y->c == s->c);
  g_assert_cmpstr (y->producer->op->name, ==, "depthwise");
  harness_set_parameter (h, "conv.weight", weight);
  harness_set_parameter (h, "conv.bias", bias);
  harness_set_parameter_gradient (h, "conv.weight", dw_start);
  harness_set_gradient (h, y, dy);
  harness_set_gradient (h, input, dx_start);
  harness_run (h);
  Results got = { harness_read (h, y), harness_read_gradient (h, input),
                  harness_read_parameter_gradient (h, "conv.weight"),
                  harness_read_parameter_gradient (h, "conv.bias") };
  if (!compare)
    return got;
  g_auto (Results) want = expect (s, x, weight, bias, dy);
  for (gsize i = 0; i < nx; i++)
    want.dx[i] += dx_start[i];
  for (gsize i = 0; i < nw; i++)
    want.dweight[i] += dw_start[i];
  harness_assert_close (got.y, want.y, ny, harness_tolerance (h), "y");
  harness_assert_close (got.dx, want.dx, nx, harness_tolerance (h), "dx");
  harness_assert_close (got.dweight, want.dweight, nw, harness_tolerance (h), "dweight");
  harness_assert_close (got.dbias, want.dbias, s->c, harness_tolerance (h), "dbias");
  return got;
}

static void
test_matches (void)
{
  /* each case in the forms for a GPU and for a CPU, one of them in fp16 and the other in fp32; the
   * first three cases in both precisions */
  for (guint i = 0; i < G_N_ELEMENTS (cases) + 3; i++)
    for (guint as_card = 0; as_card < 2; as_card++)
      {
        Results got = run (&cases[i % G_N_ELEMENTS (cases)], (i + as_card) % 2, as_card, TRUE);
        results_clear (&got);
      }
}

static void
test_dilated (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (dilated_cases); i++)
    for (guint as_card = 0; as_card < 2; as_card++)
      {
        Results got = run (&dilated_cases[i], (i + as_card) % 2, as_card, TRUE);
        results_clear (&got);
      }
}

/* The running statistics, which include those of the batch, are compared with the statistics of the
 * stored output of the convolution; x is not read for them. */
static void
check_statistics (const Case *s, gboolean amp, gboolean as_card)
{
  g_autofree double *x = harness_random (1, (gsize) s->n * s->h * s->w * s->c, 1),
                    *old = harness_random (2, s->c, 1), *ones = g_new (double, s->c);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n, .as_card = as_card });
  DynoGraph *graph = harness_graph (h);
  for (guint32 i = 0; i < s->c; i++)
    ones[i] = 1;
  DynoTensor *y = dyno_conv2d (graph, harness_input (h, "x", s->n, s->h, s->w, s->c, x), "conv",
                               &(DynoConv2dParams){ .out_channels = s->c,
                                                    .kernel_h = s->kernel_h,
                                                    .kernel_w = s->kernel_w,
                                                    .stride_h = s->stride_h,
                                                    .stride_w = s->stride_w,
                                                    .pad_h = s->pad_h,
                                                    .pad_w = s->pad_w,
                                                    .groups = s->c,
                                                    .dilation_h = s->dilation_h,
                                                    .dilation_w = s->dilation_w,
                                                    .init = DYNO_INIT_KAIMING_UNIFORM });
  y->keep = TRUE;
  dyno_batch_norm (graph, y, "bn");
  g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_column_sums, graph), ==, 1);
  harness_set_parameter (h, "bn.running_mean", old);
  harness_set_parameter (h, "bn.running_var", ones);
  harness_run (h);
  g_autofree double *values = harness_read (h, y),
                    *mean = harness_read_parameter (h, "bn.running_mean"),
                    *variance = harness_read_parameter (h, "bn.running_var");
  gsize rows = (gsize) y->n * y->h * y->w;
  for (guint32 c = 0; c < s->c; c++)
    {
      double sum = 0, square = 0;
      for (gsize row = 0; row < rows; row++)
        sum += values[row * s->c + c];
      for (gsize row = 0; row < rows; row++)
        square += (values[row * s->c + c] - sum / rows) * (values[row * s->c + c] - sum / rows);
      double want = 0.9 * old[c] + 0.1 * sum / rows,
             want_variance = 0.9 + 0.1 * square / (rows - 1);
      g_assert_cmpfloat_with_epsilon (mean[c], want, 2e-6 * (1 + fabs (want)));
      g_assert_cmpfloat_with_epsilon (variance[c], want_variance, 1e-5 * want_variance);
    }
}

static void
test_statistics (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      check_statistics (&cases[2], amp, !amp);
      check_statistics (&cases[9], amp, amp);
      check_statistics (&dilated_cases[1], amp, !amp);
      check_statistics (&cases[G_N_ELEMENTS (cases) - 1], amp, amp);
    }
}

static void
test_equal_bits (void)
{
  const Case *s = &cases[G_N_ELEMENTS (cases) - 1];
  g_auto (Results) first = run (s, FALSE, TRUE, FALSE), second = run (s, FALSE, TRUE, FALSE);
  g_assert_cmpmem (first.dweight, 9 * s->c * sizeof (double), second.dweight,
                   9 * s->c * sizeof (double));
}

/* The weight has torchvision's layout, and in memory no axis of inputs. */
static void
test_weight (void)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  DynoTensor *x = dyno_graph_activation (graph, "x", 1, 8, 8, 12);
  DynoConv2dParams params = { .out_channels = 12, .kernel_h = 3, .kernel_w = 3, .groups = 12 };
  g_assert_nonnull (dyno_conv2d (graph, x, "conv", &params));
  const DynoParameter *weight = dyno_graph_get_parameters (graph)->pdata[0];
  const guint32 dims[4] = { 12, 1, 3, 3 };
  g_assert_cmpmem (weight->dims, sizeof weight->dims, dims, sizeof dims);
  g_assert_cmpuint (weight->n_elements, ==, 9 * 16);
  params.dilation_h = params.dilation_w = params.pad_w = 2;
  g_assert_cmpstr (dyno_conv2d (graph, x, "apart", &params)->producer->op->name, ==, "depthwise");
  params.pad_w = 1; /* pixels meet pixels of other phases */
  g_assert_cmpstr (dyno_conv2d (graph, x, "between", &params)->producer->op->name, ==, "conv2d");
  params.dilation_h = params.dilation_w = params.pad_w = 0;
  /* Two outputs for a channel, so the op is an ordinary convolution with groups. */
  params.out_channels = 24;
  const DynoTensor *wider = dyno_conv2d (graph, x, "wider", &params);
  g_assert_cmpstr (wider->producer->op->name, ==, "conv2d");
  params.out_channels = 20;
  g_assert_null (dyno_conv2d (graph, x, "uneven", &params));
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (graph, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "12 groups"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/depthwise/weight-is-torchvisions", test_weight);
  g_test_add_func ("/nn/depthwise/matches-reference", test_matches);
  g_test_add_func ("/nn/depthwise/dilated-matches-reference", test_dilated);
  g_test_add_func ("/nn/depthwise/statistics-for-a-batch-norm", test_statistics);
  g_test_add_func ("/nn/depthwise/equal-inputs-give-equal-bits", test_equal_bits);
  return g_test_run ();
}
