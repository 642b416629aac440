/* SPDX-License-Identifier: MIT */
/* Convolution and linear layer compared with the naive reference in double: every kernel variant
 * that the device can run is forced in turn; and without a device, every matrix-unit kernel
 * compiles. */
#include "conv2d-private.h"
#include "harness.h"
#include "kernel.h"
#include "reference/conv2d.h"
#include "reference/finite.h"
#include "shader.h"
#include <gio/gio.h>
#include <string.h>

static guint32
group_inputs (const ReferenceConv2d *s)
{
  return s->c / MAX (s->groups, 1);
}

/* n h w c k, kernel, stride, pad: odd sides, batch 1, channels that are no multiple of 8, strides
 * that skip rows and taps, pads wider than the kernel reaches, products with and without partial
 * tiles; and enough workgroups that the phases of strides run in parallel. */
static const ReferenceConv2d cases[] = {
  { 2, 7, 7, 8, 8, 3, 3, 1, 1, 1, 1 },     { 1, 9, 5, 3, 10, 3, 3, 2, 2, 1, 1 },
  { 2, 8, 11, 10, 33, 5, 5, 2, 2, 2, 2 },  { 1, 13, 14, 33, 10, 7, 7, 2, 2, 3, 3 },
  { 2, 12, 12, 16, 24, 1, 1, 1, 1, 0, 0 }, { 2, 9, 9, 16, 40, 1, 1, 2, 2, 0, 0 },
  { 1, 1, 1, 72, 33, 1, 1, 1, 1, 0, 0 },   { 3, 6, 5, 8, 16, 3, 3, 1, 1, 0, 0 },
  { 2, 11, 7, 40, 20, 3, 3, 2, 2, 0, 0 },  { 2, 6, 6, 20, 10, 5, 5, 1, 1, 3, 3 },
  { 1, 7, 9, 5, 9, 1, 5, 1, 2, 0, 2 },     { 1, 9, 6, 9, 5, 3, 1, 3, 1, 1, 0 },
  { 2, 9, 12, 1, 16, 5, 5, 1, 1, 2, 2 },   { 2, 5, 6, 3, 8, 2, 3, 1, 1, 0, 1 },
  { 1, 12, 11, 4, 24, 7, 7, 2, 2, 3, 3 },  { 2, 128, 129, 8, 8, 3, 3, 2, 2, 1, 1 },
};
/* The same, then groups and dilation: blocks of several groups, and groups for which no block has
 * whole tiles, with pads; more outputs in a group than inputs, and fewer; few channels; taps with
 * more and fewer common factors with the strides, some of them in no phase; a group for each
 * channel, dilated. */
static const ReferenceConv2d sparse_cases[] = {
  { 2, 7, 6, 64, 64, 3, 3, 1, 1, 1, 1, 16 },    { 1, 7, 8, 128, 64, 3, 3, 2, 2, 1, 1, 4 },
  { 2, 5, 7, 12, 18, 3, 3, 1, 1, 1, 1, 3 },     { 1, 17, 15, 8, 8, 3, 2, 4, 4, 3, 2, 1, 6, 2 },
  { 2, 9, 8, 3, 8, 3, 3, 1, 1, 2, 2, 1, 2, 2 }, { 1, 11, 12, 8, 16, 3, 3, 2, 2, 2, 1, 1, 2, 3 },
  { 1, 8, 7, 4, 4, 3, 3, 1, 1, 2, 2, 4, 2, 2 }, { 2, 8, 9, 64, 64, 3, 3, 1, 2, 2, 2, 2, 2, 2 },
};
/* Large enough for several tiles of every variant, some of them whole; for each variant in turn.
 * One case has a long K axis in both directions, which is split. */
static const ReferenceConv2d variant_cases[] = {
  { 2, 11, 7, 130, 140, 3, 3, 2, 2, 1, 1 }, { 1, 6, 7, 72, 40, 3, 3, 1, 1, 1, 1 },
  { 256, 2, 3, 128, 64, 3, 3, 1, 1, 1, 1 }, { 128, 4, 5, 32, 32, 2, 5, 2, 1, 1, 4 },
  { 2, 16, 16, 64, 256, 1, 1, 1, 1, 0, 0 }, { 2, 19, 40, 20, 28, 3, 3, 1, 1, 1, 1 },
  { 1, 34, 33, 16, 12, 3, 5, 1, 1, 1, 2 },  { 1, 18, 35, 72, 28, 3, 3, 1, 1, 1, 1 },
  { 1, 26, 33, 40, 56, 3, 3, 1, 1, 1, 1 },  { 5, 7, 7, 40, 72, 3, 3, 1, 1, 1, 1 },
};

typedef struct {
  gboolean amp, bias, accumulate, sequence;
  const DynoVariant *variants[DYNO_CONV2D_N_PASSES]; /* NULL: the first choice */
} Options;

static void
add (double *sum, const double *more, gsize n)
{
  for (gsize i = 0; i < n; i++)
    sum[i] += more[i];
}

/* The memory of the weight's gradient is zero where input and output belong to different groups:
 * otherwise the optimizer would turn it into weights. */
static void
assert_nothing_between_groups (Harness *h, const double *gradient, gsize n)
{
  GPtrArray *parameters = dyno_graph_get_parameters (harness_graph (h));
  const DynoParameter *weight = parameters->pdata[0];
  g_autofree double *memory = harness_read (h, weight->gradient);
  guint values = 0, places = 0;
  for (gsize i = 0; i < n; i++)
    values += gradient[i] != 0;
  for (gsize i = 0; i < weight->n_elements; i++)
    places += memory[i] != 0;
  g_assert_cmpuint (places, ==, values);
}

static void
check (const ReferenceConv2d *s, const Options *o)
{
  gsize oh = reference_conv2d_oh (s), ow = reference_conv2d_ow (s),
        nx = (gsize) s->n * s->h * s->w * s->c;
  gsize ny = s->n * oh * ow * s->k,
        nw = (gsize) s->k * group_inputs (s) * s->kernel_h * s->kernel_w;
  g_autofree double *x = harness_random (1, nx, 1), *weight = harness_random (2, nw, 1),
                    *bias = harness_random (3, s->k, 1);
  g_autofree double *dy = harness_random (4, ny, 1), *dx_start = harness_random (5, nx, 1);
  g_autofree double *dw_start = harness_random (6, nw, 1), *db_start = harness_random (7, s->k, 1);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = o->amp, .training = TRUE, .batch = s->n });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  const DynoConv2dParams params = { .out_channels = s->k,
                                    .kernel_h = s->kernel_h,
                                    .kernel_w = s->kernel_w,
                                    .stride_h = s->stride_h,
                                    .stride_w = s->stride_w,
                                    .pad_h = s->pad_h,
                                    .pad_w = s->pad_w,
                                    .groups = s->groups,
                                    .dilation_h = s->dilation_h,
                                    .dilation_w = s->dilation_w,
                                    .bias = o->bias };
  DynoTensor *y = (o->sequence ? dyno_conv1d : dyno_conv2d) (graph, input, "conv", &params);
  g_assert_nonnull (y);
  g_assert_cmpuint (y->h, ==, oh);
  g_assert_cmpuint (y->w, ==, ow);
  harness_set_parameter (h, "conv.weight", weight);
  harness_set_parameter_gradient (h, "conv.weight", dw_start);
  if (o->bias)
    {
      harness_set_parameter (h, "conv.bias", bias);
      harness_set_parameter_gradient (h, "conv.bias", db_start);
    }
  harness_set_gradient (h, y, dy);
  if (o->accumulate)
    harness_set_gradient (h, input, dx_start);
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    if (o->variants[pass])
      {
        g_autofree char *prefix = g_strconcat ("conv2d.", dyno_conv2d_pass_name (pass), NULL);
        harness_force (h, prefix, o->variants[pass]);
      }
  harness_run (h);

  g_autofree double *y_want = g_new (double, ny), *dx_want = g_new (double, nx),
                    *dw_want = g_new (double, nw);
  g_autofree double *db_want = g_new (double, s->k);
  reference_conv2d_forward (s, x, weight, o->bias ? bias : NULL, y_want);
  reference_conv2d_backward (s, x, weight, dy, dx_want, dw_want, db_want);
  add (dw_want, dw_start, nw);
  add (db_want, db_start, s->k);
  if (o->accumulate)
    add (dx_want, dx_start, nx);
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  g_autofree double *dw_got = harness_read_parameter_gradient (h, "conv.weight");
  harness_assert_close (y_got, y_want, ny, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx_want, nx, harness_tolerance (h), "dx");
  harness_assert_close (dw_got, dw_want, nw, harness_tolerance (h), "dweight");
  if (s->groups > 1)
    assert_nothing_between_groups (h, dw_got, nw);
  if (o->bias)
    {
      g_autofree double *db_got = harness_read_parameter_gradient (h, "conv.bias");
      harness_assert_close (db_got, db_want, s->k, harness_tolerance (h), "dbias");
    }
}

static void
test_shapes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], &(Options){ .amp = amp, .bias = TRUE });
}

static void
test_accumulates (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i], &(Options){ .amp = i % 2, .accumulate = TRUE });
}

static void
test_sparse (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sparse_cases); i++)
    check (&sparse_cases[i],
           &(Options){ .amp = i % 2 == 0, .bias = TRUE, .accumulate = i % 3 == 0 });
}

static DynoConv2dShape
shape_of (const ReferenceConv2d *s, gboolean half)
{
  return (DynoConv2dShape){ .n = s->n,
                            .h = s->h,
                            .w = s->w,
                            .c = s->c,
                            .cp = (s->c + 7) & ~7u,
                            .oh = reference_conv2d_oh (s),
                            .ow = reference_conv2d_ow (s),
                            .k = s->k,
                            .kp = (s->k + 7) & ~7u,
                            .kernel_h = s->kernel_h,
                            .kernel_w = s->kernel_w,
                            .stride_h = s->stride_h,
                            .stride_w = s->stride_w,
                            .pad_h = s->pad_h,
                            .pad_w = s->pad_w,
                            .groups = MAX (s->groups, 1),
                            .dilation_h = s->dilation_h,
                            .dilation_w = s->dilation_w,
                            .dtype = half ? DYNO_DTYPE_F16 : DYNO_DTYPE_F32 };
}

/* Every tile for every pass on the device; the splits of wgrad alternate between few and many. */
static void
check_variants (gboolean amp, const ReferenceConv2d *s, guint turn)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp });
  DynoConv2dShape shape = shape_of (s, amp);
  DynoConv2dVariant variants[DYNO_CONV2D_N_PASSES][DYNO_CONV2D_MAX_VARIANTS];
  guint counts[DYNO_CONV2D_N_PASSES];
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    {
      counts[pass] = dyno_conv2d_variants (harness_info (h), &shape, pass, variants[pass]);
      g_assert_cmpuint (counts[pass], >, 0);
    }
  for (guint i = 0; i < counts[0]; i++)
    {
      Options o = { .amp = amp, .accumulate = i % 2 };
      /* Tiles of images need many images, and the other tiles cannot run with few. */
      if (variants[0][i].tile->images != (s->n >= 128)
          || !harness_takes (turn++, s->n >= 128 ? 1 : 3))
        continue;
      for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
        for (guint v = 0; v < counts[pass]; v++)
          if (variants[pass][v].tile == variants[0][i].tile && (!o.variants[pass] || turn % 2))
            o.variants[pass] = &variants[pass][v].variant;
      for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
        {
          char label[DYNO_VARIANT_LABEL] = "the first choice";
          if (o.variants[pass])
            dyno_variant_print (o.variants[pass], label);
          g_test_message ("%s: %s", dyno_conv2d_pass_name (pass), label);
        }
      check (s, &o);
    }
}

static void
test_variants (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (variant_cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_variants (amp, &variant_cases[i], i + amp);
}

/* Without bias there is no bias parameter either. */
static DynoTensor *
append_linear (DynoGraph *graph, DynoTensor *x, guint32 out, gboolean no_bias, gboolean flattened)
{
  if (!no_bias)
    return flattened ? dyno_linear_flattened (graph, x, "fc", out, DYNO_INIT_KAIMING_UNIFORM)
                     : dyno_linear (graph, x, "fc", out, DYNO_INIT_KAIMING_UNIFORM);
  DynoTensor *y = dyno_linear_with_params (
      graph, x, "fc",
      &(DynoLinearParams){
          .out = out, .init = DYNO_INIT_KAIMING_UNIFORM, .flattened = flattened, .no_bias = TRUE });
  g_assert_cmpuint (dyno_graph_get_parameters (graph)->len, ==, 1);
  return y;
}

static void
test_linear (void)
{
  static const guint32 sizes[][5] = {
    { 3, 1, 1, 33, 10 }, { 5, 1, 1, 512, 100 }, { 2, 3, 5, 10, 7 }, { 1, 4, 4, 64, 128 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint form = 0; form < 4; form++)
      {
        gboolean amp = form & 1, no_bias = form >= 2;
        guint32 n = sizes[i][0], hw = sizes[i][1] * sizes[i][2], c = sizes[i][3], out = sizes[i][4],
                in = hw * c;
        ReferenceConv2d s = { n, 1, 1, in, out, 1, 1, 1, 1, 0, 0 };
        g_autofree double *x = harness_random (1, n * in, 1),
                          *weight = harness_random (2, out * in, 1);
        g_autofree double *bias = harness_random (3, out, 1), *dy = harness_random (4, n * out, 1);
        g_autoptr (Harness) h =
            harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = n });
        DynoTensor *input = harness_input (h, "x", n, sizes[i][1], sizes[i][2], c, x);
        DynoTensor *y = append_linear (harness_graph (h), input, out, no_bias, TRUE);
        harness_set_parameter (h, "fc.weight", weight);
        if (!no_bias)
          harness_set_parameter (h, "fc.bias", bias);
        harness_set_gradient (h, y, dy);
        harness_run (h);
        /* The reference takes x in torchvision's order of a flattened image: channels outermost. */
        g_autofree double *flat = g_new (double, n *in), *dx_flat = g_new (double, n *in),
                          *dx_want = g_new (double, n *in);
        g_autofree double *y_want = g_new (double, n *out), *dw_want = g_new (double, out *in),
                          *db_want = g_new (double, out);
        for (guint32 j = 0; j < n * in; j++)
          flat[j / in * in + j % c * hw + j % in / c] = x[j];
        reference_conv2d_forward (&s, flat, weight, no_bias ? NULL : bias, y_want);
        reference_conv2d_backward (&s, flat, weight, dy, dx_flat, dw_want, db_want);
        for (guint32 j = 0; j < n * in; j++)
          dx_want[j] = dx_flat[j / in * in + j % c * hw + j % in / c];
        g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
        g_autofree double *dw_got = harness_read_parameter_gradient (h, "fc.weight");
        harness_assert_close (y_got, y_want, n * out, harness_tolerance (h), "y");
        harness_assert_close (dx_got, dx_want, n * in, harness_tolerance (h), "dx");
        harness_assert_close (dw_got, dw_want, out * in, harness_tolerance (h), "dweight");
        if (no_bias)
          continue;
        g_autofree double *db_got = harness_read_parameter_gradient (h, "fc.bias");
        harness_assert_close (db_got, db_want, out, harness_tolerance (h), "dbias");
      }
}

/* The layer applies to the last axis only: every pixel, or step of a sequence (N, 1, T, F), is a
 * row. */
static void
test_linear_last_axis (void)
{
  static const guint32 sizes[][5] = { { 3, 1, 7, 5, 10 }, { 2, 3, 4, 16, 9 } };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint form = 0; form < 4; form++)
      {
        gboolean amp = form & 1, no_bias = form >= 2;
        guint32 n = sizes[i][0], h_in = sizes[i][1], w = sizes[i][2], c = sizes[i][3],
                out = sizes[i][4], rows = n * h_in * w;
        ReferenceConv2d s = { rows, 1, 1, c, out, 1, 1, 1, 1, 0, 0 };
        g_autofree double *x = harness_random (1, rows * c, 1),
                          *weight = harness_random (2, out * c, 1),
                          *bias = harness_random (3, out, 1),
                          *dy = harness_random (4, rows * out, 1);
        g_autoptr (Harness) h =
            harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = n });
        DynoTensor *input = harness_input (h, "x", n, h_in, w, c, x);
        DynoTensor *y = append_linear (harness_graph (h), input, out, no_bias, FALSE);
        g_assert_true (y->n == n && y->h == h_in && y->w == w && y->c == out);
        harness_set_parameter (h, "fc.weight", weight);
        if (!no_bias)
          harness_set_parameter (h, "fc.bias", bias);
        harness_set_gradient (h, y, dy);
        harness_run (h);
        g_autofree double *y_want = g_new (double, rows *out), *dx_want = g_new (double, rows *c),
                          *dw_want = g_new (double, out *c), *db_want = g_new (double, out);
        reference_conv2d_forward (&s, x, weight, no_bias ? NULL : bias, y_want);
        reference_conv2d_backward (&s, x, weight, dy, dx_want, dw_want, db_want);
        g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input),
                          *dw_got = harness_read_parameter_gradient (h, "fc.weight");
        harness_assert_close (y_got, y_want, rows * out, harness_tolerance (h), "y");
        harness_assert_close (dx_got, dx_want, rows * c, harness_tolerance (h), "dx");
        harness_assert_close (dw_got, dw_want, out * c, harness_tolerance (h), "dweight");
        if (no_bias)
          continue;
        g_autofree double *db_got = harness_read_parameter_gradient (h, "fc.bias");
        harness_assert_close (db_got, db_want, out, harness_tolerance (h), "dbias");
      }
}

/* The bias gradient of so many rows that 64 groups of them are summed, which on a GPU many
 * invocations share; the lanes of the first and of the last groups differ. */
static void
check_bias (guint32 h_in, guint32 w, guint32 out)
{
  const guint32 c = 3, rows = h_in * w;
  g_autofree double *x = harness_random (1, rows * c, 1), *dy = harness_random (4, rows * out, 1),
                    *want = harness_random (5, out, 1);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .training = TRUE, .batch = 1, .as_card = TRUE });
  DynoTensor *y = append_linear (harness_graph (h), harness_input (h, "x", 1, h_in, w, c, x), out,
                                 FALSE, FALSE);
  harness_set_gradient (h, y, dy);
  harness_set_parameter_gradient (h, "fc.bias", want);
  harness_run (h);
  for (guint32 i = 0; i < rows * out; i++)
    want[i % out] += dy[i];
  g_autofree double *got = harness_read_parameter_gradient (h, "fc.bias");
  harness_assert_close (got, want, out, harness_tolerance (h), "dbias");
}

/* Rows may be more than 64 groups hold; channels are one chunk, three, or more than a
 * workgroup takes. */
static void
test_bias_of_many_rows (void)
{
  check_bias (130, 129, 12);
  check_bias (130, 129, 75);
  check_bias (610, 451, 4);
}

/* A convolution over a sequence (N, T, C), as (N, 1, T, C) with a kernel of height 1, is compared
 * with loops in one dimension.  The weight has the shape of torch.nn.Conv1d's, and inputs that are
 * no sequences are refused. */
static void
test_conv1d (void)
{
  static const ReferenceConv2d sequences[] = { { 2, 1, 19, 5, 9, 1, 5, 1, 2, 0, 2 },
                                               { 1, 1, 8, 12, 20, 1, 3, 1, 1, 0, 1 },
                                               { 2, 1, 20, 64, 64, 1, 3, 1, 1, 0, 4, 2, 1, 4 } };
  for (guint i = 0; i < G_N_ELEMENTS (sequences); i++)
    check (&sequences[i],
           &(Options){ .amp = i == 1, .bias = TRUE, .accumulate = TRUE, .sequence = TRUE });
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  DynoConv2dParams params = { .out_channels = 12, .kernel_w = 3, .pad_w = 1 };
  DynoTensor *x = dyno_graph_activation (graph, "x", 1, 1, 30, 6);
  const DynoTensor *y = dyno_conv1d (graph, x, "conv", &params);
  const DynoParameter *weight = dyno_graph_get_parameters (graph)->pdata[0];
  const guint32 dims[3] = { 12, 6, 3 };
  g_assert_true (y->h == 1 && y->w == 30);
  g_assert_cmpuint (weight->n_dims, ==, 3);
  g_assert_cmpmem (weight->dims, sizeof dims, dims, sizeof dims);
  g_assert_cmpuint (weight->fan_in, ==, 18);
  x = dyno_graph_activation (graph, "image", 1, 4, 30, 6);
  g_assert_null (dyno_conv1d (graph, x, "other", &params));
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (graph, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
}

static void
test_one_dimensional (void)
{
  const guint32 n = 2, t = 11, c = 5, k = 10, taps = 3, stride = 2, pad = 1, out = 6;
  g_autofree double *x = harness_random (1, n * t * c, 1),
                    *weight = harness_random (2, k * c * taps, 1),
                    *dy = harness_random (3, n * out * k, 1);
  g_autofree double *y_want = g_new0 (double, n *out *k), *dx_want = g_new0 (double, n *t *c),
                    *dw_want = g_new0 (double, k *c *taps);
  for (guint32 i = 0; i < n * out * k * c * taps; i++)
    {
      guint32 tap = i % taps, channel = i / taps % c, o = i / taps / c % k, row = i / taps / c / k,
              at = row % out * stride + tap;
      if (at < pad || at - pad >= t)
        continue;
      guint32 from = (row / out * t + at - pad) * c + channel, w = (o * c + channel) * taps + tap;
      y_want[row * k + o] += x[from] * weight[w];
      dx_want[from] += dy[row * k + o] * weight[w];
      dw_want[w] += dy[row * k + o] * x[from];
    }
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = n });
      DynoTensor *input = harness_input (h, "x", n, 1, t, c, x);
      DynoTensor *y = dyno_conv2d (harness_graph (h), input, "conv",
                                   &(DynoConv2dParams){ .out_channels = k,
                                                        .kernel_h = 1,
                                                        .kernel_w = taps,
                                                        .stride_w = stride,
                                                        .pad_w = pad });
      g_assert_cmpuint (y->h, ==, 1);
      g_assert_cmpuint (y->w, ==, out);
      harness_set_parameter (h, "conv.weight", weight);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input),
                        *dw_got = harness_read_parameter_gradient (h, "conv.weight");
      harness_assert_close (y_got, y_want, n * out * k, harness_tolerance (h), "y");
      harness_assert_close (dx_got, dx_want, n * t * c, harness_tolerance (h), "dx");
      harness_assert_close (dw_got, dw_want, k * c * taps, harness_tolerance (h), "dweight");
    }
}

static void
test_rejects (void)
{
  static const DynoConv2dParams bad[] = {
    { .out_channels = 0, .kernel_h = 3, .kernel_w = 3 },
    { .out_channels = 8, .kernel_h = 0, .kernel_w = 3 },
    { .out_channels = 8, .kernel_h = 5, .kernel_w = 1 },
    { .out_channels = 8, .kernel_h = 1, .kernel_w = 7, .pad_w = 1 },
    { .out_channels = 8, .kernel_h = 1, .kernel_w = 1, .groups = 2 },
    { .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .dilation_h = 2 },
    { .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .dilation_w = G_MAXUINT32 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
      const double values[16] = { 0 };
      DynoTensor *x = harness_input (h, "x", 1, 4, 4, 1, values);
      g_autoptr (GError) error = NULL;
      g_assert_null (dyno_conv2d (harness_graph (h), x, "conv", &bad[i]));
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

/* A grid that exceeds max_groups_x is folded into y: each tile is still made once, with strides in
 * all phases of dgrad. */
static void
test_folds_large_grids (void)
{
  const ReferenceConv2d s = { 64, 112, 112, 3, 64, 7, 7, 2, 2, 3, 3 };
  DynoConv2dShape shape = shape_of (&s, FALSE);
  DynoDeviceInfo info = { .shared_bytes = 32768,
                          .max_invocations = 1024,
                          .max_groups_x = 65,
                          .subgroup_min = 8,
                          .subgroup_max = 8 };
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    {
      DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
      guint n = dyno_conv2d_variants (&info, &shape, pass, variants);
      g_assert_cmpuint (n, >, 0);
      for (guint i = 0; i < n; i++)
        {
          DynoKernelSpec spec;
          guint32 groups[3];
          DynoConv2dSizes sizes;
          dyno_conv2d_spec (&info, &shape, pass, &variants[i], &spec, groups, &sizes);
          g_assert_cmpuint (groups[0], <=, 65);
          guint32 tiles = sizes.tiles * (pass == DYNO_CONV2D_DGRAD ? 4 : 1);
          g_assert_cmpuint (groups[0] * groups[1], >=, tiles);
          g_assert_cmpuint (groups[0] * (groups[1] - 1), <, tiles);
        }
    }
}

/* Compiling takes long on a CPU, so one kernel serves layers and batches of all sizes there. */
static void
test_sizes_are_arguments (void)
{
  static const ReferenceConv2d sizes[] = { { 16, 28, 28, 32, 64, 3, 3, 1, 1, 1, 1 },
                                           { 17, 28, 28, 32, 64, 3, 3, 1, 1, 1, 1 },
                                           { 4, 64, 5, 128, 192, 3, 3, 1, 1, 1, 1 } };
  const DynoDeviceInfo info = { .type = DYNO_DEVICE_TYPE_SOFTWARE,
                                .shared_bytes = 32768,
                                .max_invocations = 1024,
                                .max_groups_x = 65535,
                                .subgroup_size = 8,
                                .subgroup_min = 8,
                                .subgroup_max = 8,
                                .processors = 2 };
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    {
      DynoKernelSpec specs[G_N_ELEMENTS (sizes)];
      DynoConv2dSizes given[G_N_ELEMENTS (sizes)];
      for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
        {
          DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
          DynoConv2dShape shape = shape_of (&sizes[i], FALSE);
          guint32 groups[3];
          g_assert_cmpuint (dyno_conv2d_variants (&info, &shape, pass, variants), >, 0);
          g_assert_cmpint (variants[0].variant.path, ==, DYNO_PATH_LANES);
          dyno_conv2d_spec (&info, &shape, pass, &variants[0], &specs[i], groups, &given[i]);
          g_assert_true (dyno_kernel_spec_equal (&specs[i], &specs[0]));
          g_assert_cmpuint (given[i].n, ==, sizes[i].n);
        }
      g_assert_cmpuint (given[2].w, ==, 5);
      g_assert_cmpuint (given[2].c, ==, 128);
      g_assert_cmpuint (given[2].k, ==, 192);
    }
}

/* Where the batch has whole tiles of images, such tiles are the first choice of a large GPU. */
static void
test_guesses_images (void)
{
  const ReferenceConv2d s = { 256, 28, 28, 128, 128, 3, 3, 1, 1, 1, 1 };
  DynoConv2dShape shape = shape_of (&s, TRUE);
  DynoDeviceInfo info = { .shared_bytes = 49152,
                          .max_invocations = 1024,
                          .max_groups_x = 1 << 30,
                          .subgroup_min = 32,
                          .subgroup_max = 32,
                          .subgroup_size = 32,
                          .processors = 132,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_KHR };
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    {
      DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
      g_assert_cmpuint (dyno_conv2d_variants (&info, &shape, pass, variants), >, 4);
      g_assert_cmpint (variants[0].variant.scheme, ==, DYNO_SCHEME_IMAGES);
      DynoConv2dShape few = shape;
      few.n = 32;
      dyno_conv2d_variants (&info, &few, pass, variants);
      g_assert_cmpint (variants[0].variant.scheme, !=, DYNO_SCHEME_IMAGES);
    }
}

/* The first choices of a large GPU without whole tiles of images: matrix variants come first,
 * splits distribute them over the GPU, and no split is empty. */
static void
test_guesses_for_a_card (void)
{
  const ReferenceConv2d s = { 100, 14, 14, 256, 256, 3, 3, 1, 1, 1, 1 };
  DynoConv2dShape shape = shape_of (&s, TRUE);
  DynoDeviceInfo info = { .shared_bytes = 49152,
                          .max_invocations = 1024,
                          .max_groups_x = 1 << 30,
                          .subgroup_min = 32,
                          .subgroup_max = 32,
                          .subgroup_size = 32,
                          .processors = 132,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_KHR };
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    {
      DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
      guint n = dyno_conv2d_variants (&info, &shape, pass, variants);
      g_assert_cmpuint (n, >, 4);
      /* 3 x 3 taps are read from a patch where possible. */
      g_assert_cmpint (variants[0].variant.path, ==, DYNO_PATH_KHR);
      g_assert_true (pass == DYNO_CONV2D_WGRAD
                         ? variants[0].variant.scheme == DYNO_SCHEME_PLAIN
                         : variants[0].variant.scheme == DYNO_SCHEME_PATCH
                               || variants[0].variant.scheme == DYNO_SCHEME_PATCH_AHEAD);
      for (guint i = 0; i < n; i++)
        {
          guint64 pixels = (guint64) s.n * s.h * s.w, each = variants[i].split_len;
          if (pass != DYNO_CONV2D_WGRAD)
            continue;
          g_assert_cmpuint (each * variants[i].splits, >=, pixels);
          g_assert_cmpuint (each * (variants[i].splits - 1), <, pixels);
        }
      if (pass == DYNO_CONV2D_WGRAD)
        g_assert_cmpuint (variants[0].splits, >, 1);
    }
}

/* One image: long K tiles and a split K axis, so that the processors have work and seldom wait for
 * memory; with many images neither is among the variants. */
static void
test_guesses_for_one_image (void)
{
  static const ReferenceConv2d all[] = { { 1, 56, 56, 64, 64, 3, 3, 1, 1, 1, 1 },
                                         { 1, 28, 28, 128, 128, 3, 3, 1, 1, 1, 1 },
                                         { 1, 14, 14, 256, 256, 3, 3, 1, 1, 1, 1 },
                                         { 1, 7, 7, 512, 512, 3, 3, 1, 1, 1, 1 } };
  static const guint32 shared_bytes[] = { 49152, 32768 };
  for (guint i = 0; i < G_N_ELEMENTS (all) * G_N_ELEMENTS (shared_bytes); i++)
    for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
      {
        const DynoDeviceInfo info = { .shared_bytes = shared_bytes[i % 2],
                                      .max_invocations = 1024,
                                      .max_groups_x = 1 << 30,
                                      .subgroup_min = 32,
                                      .subgroup_max = 32,
                                      .subgroup_size = 32,
                                      .processors = 132,
                                      .fp16 = TRUE,
                                      .matrix = DYNO_MATRIX_KHR };
        ReferenceConv2d s = all[i / 2];
        DynoConv2dShape shape = shape_of (&s, TRUE);
        DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
        DynoKernelSpec spec;
        guint32 groups[3];
        DynoConv2dSizes sizes;
        g_assert_cmpuint (dyno_conv2d_variants (&info, &shape, pass, variants), >, 4);
        g_assert_true (dyno_tile_is_deep (variants[0].tile) == (pass != DYNO_CONV2D_WGRAD));
        dyno_conv2d_spec (&info, &shape, pass, &variants[0], &spec, groups, &sizes);
        if (pass != DYNO_CONV2D_WGRAD)
          {
            g_assert_cmpuint (groups[0] * groups[1] * groups[2], >, 66);
            g_assert_cmpuint (groups[0] * groups[1] * groups[2], <=, 132);
          }
        s.n = 128;
        shape = shape_of (&s, TRUE);
        guint n = dyno_conv2d_variants (&info, &shape, pass, variants);
        for (guint v = 0; v < n; v++)
          g_assert_false (dyno_tile_is_deep (variants[v].tile));
      }
}

/* The products of a strided data gradient run in parallel where there are many workgroups, and one
 * after the other where there are few; if only one of them has taps, it is the only one. */
static void
test_phases (void)
{
  static const struct {
    ReferenceConv2d s;
    guint32 phases;
    const char *macros;
  } wanted[] = { { { 256, 56, 56, 64, 128, 3, 3, 2, 2, 1, 1 }, 4, " PHASES=4 PHASES_APART=0 " },
                 { { 256, 14, 14, 256, 512, 3, 3, 2, 2, 1, 1 }, 4, " PHASES=4 PHASES_APART=1 " },
                 { { 256, 56, 56, 64, 128, 1, 1, 2, 2, 0, 0 }, 1, " ALONE=1 " } };
  DynoDeviceInfo info = { .shared_bytes = 49152,
                          .max_invocations = 1024,
                          .max_groups_x = 1 << 30,
                          .subgroup_min = 32,
                          .subgroup_max = 32,
                          .subgroup_size = 32,
                          .processors = 132,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_KHR };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      DynoConv2dShape shape = shape_of (&wanted[i].s, TRUE);
      DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
      DynoKernelSpec spec;
      guint32 groups[3];
      DynoConv2dSizes sizes;
      guint n = dyno_conv2d_variants (&info, &shape, DYNO_CONV2D_DGRAD, variants);
      for (guint v = 0; v < n; v++)
        g_assert_cmpuint (variants[v].splits, ==, 1);
      dyno_conv2d_spec (&info, &shape, DYNO_CONV2D_DGRAD, &variants[0], &spec, groups, &sizes);
      g_test_message ("%s", spec.macros);
      g_assert_nonnull (strstr (spec.macros, wanted[i].macros));
      g_assert_cmpuint (groups[0] * groups[1], ==, spec.constants[16] * wanted[i].phases);
      g_assert_cmpuint (groups[2], ==, 1);
    }
}

/* Workgroups of the first choice for the weight gradient: about two for each processor of any GPU,
 * and the assumption for a GPU whose driver does not report its processors. */
static void
test_splits_follow_the_processors (void)
{
  const ReferenceConv2d s = { 128, 14, 14, 256, 256, 3, 3, 1, 1, 1, 1 };
  static const guint32 processors[] = { 132, 60, 16 };
  DynoConv2dShape shape = shape_of (&s, TRUE);
  DynoDeviceInfo info = { .shared_bytes = 49152,
                          .max_invocations = 1024,
                          .max_groups_x = 1 << 30,
                          .subgroup_min = 32,
                          .subgroup_max = 32,
                          .subgroup_size = 32,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_KHR };
  guint32 last = G_MAXUINT32;
  for (guint i = 0; i < G_N_ELEMENTS (processors); i++)
    {
      DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
      DynoKernelSpec spec;
      guint32 groups[3];
      DynoConv2dSizes sizes;
      info.processors = processors[i];
      g_assert_cmpuint (dyno_conv2d_variants (&info, &shape, DYNO_CONV2D_WGRAD, variants), >, 4);
      dyno_conv2d_spec (&info, &shape, DYNO_CONV2D_WGRAD, &variants[0], &spec, groups, &sizes);
      g_test_message ("%u processors: %u x %u x %u", processors[i], groups[0], groups[1],
                      groups[2]);
      g_assert_cmpuint (groups[0] * groups[1] * groups[2], <, 4 * processors[i]);
      g_assert_cmpuint (groups[0] * groups[1] * groups[2], >=, processors[i]);
      g_assert_cmpuint (variants[0].splits, <, last);
      last = variants[0].splits;
    }
  info.processors = 0;
  g_assert_cmpuint (dyno_device_info_processors (&info), ==, 32);
  info.type = DYNO_DEVICE_TYPE_INTEGRATED;
  g_assert_cmpuint (dyno_device_info_processors (&info), ==, 8);
  g_assert_cmpuint (dyno_device_info_scale (&info, 1), ==, 1);
  info.processors = 132;
  g_assert_cmpuint (dyno_device_info_scale (&info, 768), ==, 768);
}

/* Where the operands of matrix units take twice the registers, a tile that would spill is not the
 * first choice; elsewhere it is. */
static void
test_spilling_tiles_lose_their_place (void)
{
  static const ReferenceConv2d all[] = {
    { 32, 56, 56, 64, 64, 3, 3, 1, 1, 1, 1 },    { 32, 56, 56, 64, 128, 3, 3, 2, 2, 1, 1 },
    { 32, 14, 14, 256, 256, 3, 3, 1, 1, 1, 1 },  { 32, 28, 28, 128, 256, 1, 1, 2, 2, 0, 0 },
    { 128, 14, 14, 256, 256, 3, 3, 1, 1, 1, 1 }, { 128, 28, 28, 128, 128, 3, 3, 1, 1, 1, 1 },
    { 128, 7, 7, 512, 2048, 1, 1, 1, 1, 0, 0 }
  };
  static const guint32 processors[] = { 16, 96 };
  DynoDeviceInfo info = { .shared_bytes = 65536,
                          .max_invocations = 1024,
                          .max_groups_x = 1 << 30,
                          .subgroup_min = 32,
                          .subgroup_size = 64,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_KHR };
  guint spilling[2] = { 0, 0 }, n = G_N_ELEMENTS (all) * G_N_ELEMENTS (processors);
  for (guint wide = 0; wide < 2; wide++)
    for (guint i = 0; i < 2 * n * DYNO_CONV2D_N_PASSES; i++)
      {
        DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
        guint which = i / DYNO_CONV2D_N_PASSES;
        DynoConv2dShape shape = shape_of (&all[which % n / G_N_ELEMENTS (processors)], TRUE);
        DynoDeviceInfo card = info;
        shape.fused.load = which < n ? 0 : DYNO_ACTIVATION_ID_RELU;
        card.processors = processors[which % G_N_ELEMENTS (processors)];
        card.subgroup_max = wide ? 64 : 32;
        g_assert_cmpuint (dyno_conv2d_variants (&card, &shape, i % DYNO_CONV2D_N_PASSES, variants),
                          >, 4);
        card.subgroup_max = 64;
        spilling[wide] +=
            dyno_tile_spills (variants[0].tile, &card, &shape, i % DYNO_CONV2D_N_PASSES);
      }
  g_assert_cmpuint (spilling[0], >, 4);
  g_assert_cmpuint (spilling[1], ==, 0);
  /* The largest tile has no registers left for the values of a batch norm; dgrad needs none. */
  DynoConv2dShape shape = shape_of (&all[0], TRUE);
  info.subgroup_max = 64;
  g_assert_false (dyno_tile_spills (&dyno_tiles[0], &info, &shape, DYNO_CONV2D_FORWARD));
  shape.fused.load = DYNO_ACTIVATION_ID_RELU;
  g_assert_true (dyno_tile_spills (&dyno_tiles[0], &info, &shape, DYNO_CONV2D_FORWARD));
  g_assert_true (dyno_tile_spills (&dyno_tiles[0], &info, &shape, DYNO_CONV2D_WGRAD));
  g_assert_false (dyno_tile_spills (&dyno_tiles[0], &info, &shape, DYNO_CONV2D_DGRAD));
}

/* Subgroups have 64 invocations by default and 32 on request; workgroups with matrix units are
 * multiples of both. */
static void
test_matrix_workgroups_are_whole (void)
{
  static const ReferenceConv2d all[] = {
    { 4, 56, 56, 64, 64, 3, 3, 1, 1, 1, 1 },   { 4, 224, 224, 3, 64, 7, 7, 2, 2, 3, 3 },
    { 4, 224, 224, 3, 32, 3, 3, 1, 1, 1, 1 },  { 4, 33, 31, 3, 40, 5, 5, 1, 1, 2, 2 },
    { 4, 14, 14, 512, 640, 1, 1, 1, 1, 0, 0 }, { 4, 56, 56, 64, 128, 3, 3, 2, 2, 1, 1 }
  };
  DynoDeviceInfo info = { .shared_bytes = 65536,
                          .max_invocations = 1024,
                          .max_groups_x = 1 << 30,
                          .subgroup_min = 32,
                          .subgroup_max = 64,
                          .subgroup_size = 64,
                          .processors = 96,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_KHR };
  for (guint i = 0; i < G_N_ELEMENTS (all) * DYNO_CONV2D_N_PASSES; i++)
    {
      DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
      DynoConv2dShape shape = shape_of (&all[i / DYNO_CONV2D_N_PASSES], TRUE);
      DynoConv2dPass pass = i % DYNO_CONV2D_N_PASSES;
      guint n = dyno_conv2d_variants (&info, &shape, pass, variants);
      for (guint v = 0; v < n; v++)
        {
          DynoKernelSpec spec;
          guint32 groups[3];
          DynoConv2dSizes sizes;
          dyno_conv2d_spec (&info, &shape, pass, &variants[v], &spec, groups, &sizes);
          if (dyno_tile_uses_matrix (variants[v].tile))
            g_assert_cmpuint (spec.local_size[0] % 64, ==, 0);
        }
    }
}

/* A tile does not support some shapes; all shapes that it supports fit into shared memory. */
static void
test_tiles_serve (void)
{
  static const struct {
    ReferenceConv2d s;
    gboolean patch, first, images, strip;
  } wanted[] = {
    { { 8, 56, 56, 64, 64, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 64, 64, 3, 3, 2, 2, 1, 1 }, FALSE, FALSE },
    { { 8, 56, 56, 64, 64, 1, 1, 1, 1, 0, 0 }, FALSE, FALSE },
    { { 8, 56, 56, 64, 64, 3, 3, 1, 1, 0, 0 }, FALSE, FALSE },
    { { 8, 999, 999, 8, 64, 3, 3, 1, 1, 1, 1 }, FALSE, FALSE, FALSE, TRUE },
    { { 8, 224, 224, 3, 64, 7, 7, 2, 2, 3, 3 }, FALSE, TRUE },
    { { 8, 224, 224, 4, 32, 3, 3, 1, 1, 0, 0 }, FALSE, TRUE },
    { { 8, 224, 224, 5, 32, 3, 3, 1, 1, 0, 0 }, FALSE, FALSE },
    { { 8, 224, 224, 3, 64, 9, 9, 4, 4, 3, 3 }, FALSE, FALSE },
    { { 8, 56, 56, 128, 128, 3, 3, 1, 1, 1, 1, 32 }, FALSE, FALSE },
    { { 8, 56, 56, 64, 64, 3, 3, 1, 1, 1, 1, 1, 2, 2 }, FALSE, FALSE },
    { { 128, 7, 7, 64, 32, 3, 3, 2, 2, 1, 1 }, FALSE, FALSE, TRUE },
    { { 128, 7, 7, 64, 32, 3, 3, 2, 2, 0, 0 }, FALSE, FALSE, FALSE },
    { { 128, 7, 7, 64, 64, 3, 3, 2, 2, 1, 1, 2 }, FALSE, FALSE, FALSE },
    { { 128, 7, 7, 64, 64, 3, 3, 1, 1, 1, 1, 1, 2, 2 }, FALSE, FALSE, FALSE },
    { { 96, 7, 7, 64, 64, 5, 3, 2, 1, 1, 1 }, FALSE, FALSE, FALSE },
    { { 128, 7, 7, 40, 64, 3, 3, 2, 2, 1, 1 }, FALSE, FALSE, FALSE },
    { { 8, 56, 56, 16, 16, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 32, 24, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 40, 16, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 128, 32, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 512, 32, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 16, 40, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 16, 72, 3, 3, 1, 1, 1, 1 }, TRUE, FALSE, FALSE, TRUE },
    { { 8, 56, 56, 16, 16, 3, 3, 2, 2, 1, 1 }, FALSE, FALSE, FALSE, FALSE },
    { { 8, 56, 56, 16, 16, 3, 3, 1, 1, 0, 0 }, FALSE, FALSE, FALSE, FALSE },
    { { 8, 56, 56, 16, 16, 1, 1, 1, 1, 0, 0 }, FALSE, FALSE, FALSE, FALSE },
    { { 8, 56, 56, 16, 16, 3, 3, 1, 1, 1, 1, 1, 2, 2 }, FALSE, FALSE, FALSE, FALSE },
    { { 8, 56, 56, 16, 16, 9, 9, 1, 1, 4, 4 }, FALSE, FALSE, FALSE, FALSE },
  };
  const DynoDeviceInfo info = { .shared_bytes = 49152, .max_invocations = 1024 };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      DynoConv2dShape shape = shape_of (&wanted[i].s, TRUE);
      gboolean patch = FALSE, first = FALSE, images = FALSE, strip = FALSE;
      for (guint t = 0; t < dyno_n_tiles; t++)
        {
          patch |= dyno_tiles[t].kind == DYNO_TILE_PATCH
                   && dyno_tile_serves (&dyno_tiles[t], &info, &shape, DYNO_CONV2D_FORWARD);
          first |= dyno_tiles[t].kind == DYNO_TILE_FIRST
                   && dyno_tile_serves (&dyno_tiles[t], &info, &shape, DYNO_CONV2D_FORWARD);
          strip |= dyno_tiles[t].kind == DYNO_TILE_STRIP
                   && dyno_tile_serves (&dyno_tiles[t], &info, &shape, DYNO_CONV2D_FORWARD);
          images |= dyno_tiles[t].images && dyno_tiles[t].m > 32
                    && dyno_tile_serves (&dyno_tiles[t], &info, &shape, DYNO_CONV2D_FORWARD);
          if (dyno_tiles[t].kind == DYNO_TILE_PATCH)
            g_assert_false (dyno_tile_serves (&dyno_tiles[t], &info, &shape, DYNO_CONV2D_WGRAD));
          if (dyno_tiles[t].kind == DYNO_TILE_FIRST)
            g_assert_false (dyno_tile_serves (&dyno_tiles[t], &info, &shape, DYNO_CONV2D_DGRAD));
        }
      g_assert_true (patch == wanted[i].patch || wanted[i].first);
      g_assert_true (first == wanted[i].first);
      g_assert_true (images == wanted[i].images);
      g_assert_true (strip == wanted[i].strip);
    }
}

/* Tiles of 256 pixels: each image separately, or several in one sheet where that takes fewer
 * tiles. */
static void
test_strips_cover_images (void)
{
  static const struct {
    guint32 n, h, w, pad_h, pad_w, across, tile_h, tile_w, n_tiles;
  } wanted[] = {
    { 1, 512, 512, 1, 1, 0, 8, 32, 1024 }, { 8, 56, 56, 1, 1, 0, 8, 32, 112 },
    { 16, 28, 28, 1, 1, 1, 8, 32, 58 },    { 128, 7, 7, 1, 1, 4, 8, 32, 32 },
    { 6, 10, 10, 1, 1, 3, 8, 32, 3 },      { 5, 10, 10, 1, 1, 3, 8, 32, 3 },
    { 9, 17, 11, 3, 2, 1, 16, 16, 12 },    { 2, 16, 16, 1, 1, 0, 16, 16, 2 },
    { 1, 7, 7, 1, 1, 0, 8, 32, 1 },
  };
  const DynoTile tile = { DYNO_TILE_STRIP, 256, 64, 16, 0, 64, 32, 1, 1.0 };

  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      const ReferenceConv2d s = { wanted[i].n,
                                  wanted[i].h,
                                  wanted[i].w,
                                  40,
                                  72,
                                  2 * wanted[i].pad_h + 1,
                                  2 * wanted[i].pad_w + 1,
                                  1,
                                  1,
                                  wanted[i].pad_h,
                                  wanted[i].pad_w };
      const DynoConv2dShape shape = shape_of (&s, TRUE);
      const DynoStripTile forward = dyno_strip_tile (&tile, &shape, DYNO_CONV2D_FORWARD),
                          dgrad = dyno_strip_tile (&tile, &shape, DYNO_CONV2D_DGRAD);

      g_assert_cmpuint (forward.across, ==, wanted[i].across);
      g_assert_cmpuint (forward.tile_h, ==, wanted[i].tile_h);
      g_assert_cmpuint (forward.tile_w, ==, wanted[i].tile_w);
      g_assert_cmpuint (forward.n_tiles, ==, wanted[i].n_tiles);
      g_assert_cmpuint (dyno_tile_count_rectangles (&tile, &shape, DYNO_CONV2D_FORWARD), ==,
                        wanted[i].n_tiles);
      /* With 40 and 72 channels, the last slab is half empty. */
      g_assert_cmpuint (forward.slabs, ==, 3);
      g_assert_cmpuint (dgrad.slabs, ==, 5);
    }
}

/* Each workgroup writes its sums for a batch norm, and their number equals the count, also with
 * several tiles of columns. */
static void
test_strips_count_their_sums (void)
{
  static const ReferenceConv2d shapes[] = { { 4, 512, 512, 32, 16, 3, 3, 1, 1, 1, 1 },
                                            { 16, 28, 28, 72, 136, 3, 3, 1, 1, 1, 1 },
                                            { 1, 8, 8, 16, 24, 3, 3, 1, 1, 1, 1 } };
  const DynoDeviceInfo info = { .shared_bytes = 49152,
                                .max_invocations = 1024,
                                .max_groups_x = 1 << 30,
                                .processors = 132,
                                .fp16 = TRUE,
                                .matrix = DYNO_MATRIX_KHR };
  guint counted = 0;

  for (guint i = 0; i < G_N_ELEMENTS (shapes) * 2 * dyno_n_tiles; i++)
    {
      const DynoTile *tile = &dyno_tiles[i / 2 % dyno_n_tiles];
      const DynoConv2dPass pass = i % 2 ? DYNO_CONV2D_DGRAD : DYNO_CONV2D_FORWARD;
      DynoConv2dShape shape = shape_of (&shapes[i / 2 / dyno_n_tiles], TRUE);
      DynoConv2dVariant variant = { .tile = tile, .splits = 1, .norm = i % 2 };
      DynoConv2dSizes sizes;
      DynoKernelSpec spec;
      guint32 groups[3];

      shape.fused.statistics = TRUE;
      shape.fused.norm = DYNO_NORM_ID_PLAIN;
      if (tile->kind != DYNO_TILE_STRIP || !dyno_tile_serves (tile, &info, &shape, pass))
        continue;
      dyno_conv2d_spec (&info, &shape, pass, &variant, &spec, groups, &sizes);
      g_assert_cmpuint (i % 2 ? dyno_conv2d_norm_groups (&info, &shape, &variant)
                              : dyno_conv2d_statistics_groups (&info, &shape, &variant),
                        ==, groups[0]);
      counted++;
    }
  g_assert_cmpuint (counted, >, 8);
}

/* The share of products that a tile of images computes: with 7 taps along a side of 3 pixels 19 of
 * 21, at every second pixel 10 of 12.  Two taps with a stride of two and a pad of 1 are inside 4
 * times in 4 pixels. */
static void
test_images_leave_taps_out (void)
{
  static const struct {
    ReferenceConv2d s;
    double inside;
  } wanted[] = {
    { { 128, 7, 7, 16, 32, 3, 3, 1, 1, 1, 1 }, 19 * 19 },
    { { 128, 7, 7, 16, 32, 3, 3, 2, 2, 1, 1 }, 10 * 10 },
    { { 128, 4, 5, 16, 32, 2, 5, 2, 1, 1, 4 }, 4 * 25 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      DynoConv2dShape shape = shape_of (&wanted[i].s, TRUE);
      g_assert_cmpfloat (dyno_images_products (&shape), ==, wanted[i].inside * 128 * 16 * 32);
    }
}

/* Matrix-unit kernels compile with the extension that this build's shader compiler supports, with
 * and without bounds checks, and with and without a batch norm in their loads. */
static void
test_matrix_kernels_compile (void)
{
  static const ReferenceConv2d shapes[] = { { 2304, 16, 16, 512, 512, 3, 3, 1, 1, 1, 1 },
                                            { 3, 9, 7, 10, 20, 3, 3, 2, 2, 1, 1 },
                                            { 3, 9, 7, 3, 20, 5, 5, 1, 1, 2, 2 },
                                            { 3, 9, 40, 72, 28, 3, 3, 1, 1, 1, 1 },
                                            { 3, 9, 7, 256, 256, 3, 3, 2, 2, 2, 2, 8, 2, 2 } };
  DynoDeviceInfo info = { .shared_bytes = 1 << 20,
                          .max_invocations = 1024,
                          .max_groups_x = 1 << 30,
                          .subgroup_min = 32,
                          .subgroup_max = 32,
                          .subgroup_size = 32,
                          .processors = 1 << 14,
                          .fp16 = TRUE,
                          .matrix = dyno_shader_compiler_matrix () };
  static const guint32 loads[] = { DYNO_ACTIVATION_RELU, DYNO_ACTIVATION_RELU6, 0,
                                   DYNO_ACTIVATION_RELU, DYNO_CONV2D_LOAD_PLAIN };
  /* The kernels are compiled as for NVIDIA's drivers, and some also as for AMD's, which takes three
   * times as long. */
  DynoShaderCompiler *compilers[] = {
    dyno_shader_compiler_new ((1 << 22) | (2 << 12), DYNO_OPTIMISE_ALL),
    dyno_shader_compiler_new ((1 << 22) | (2 << 12), DYNO_OPTIMISE_RECURRENT)
  };
  guint compiled = 0;
  g_assert_cmpint (info.matrix, !=, DYNO_MATRIX_NONE);
  for (guint t = 0; t < dyno_n_tiles; t++)
    for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES && dyno_tile_uses_matrix (&dyno_tiles[t]);
         pass++)
      for (guint k = 0; k < 2 * G_N_ELEMENTS (shapes); k++)
        {
          guint i = k / 2, load = k % 2;
          DynoConv2dShape shape = shape_of (&shapes[i], TRUE);
          DynoConv2dVariant variant = { .tile = &dyno_tiles[t], .splits = 1, .split_len = 32 };
          if (i == 2 && dyno_tiles[t].kind != DYNO_TILE_FIRST
              && (dyno_tiles[t].kind != DYNO_TILE_STRIP || pass == DYNO_CONV2D_WGRAD))
            variant.splits = 2;
          shape.fused.statistics = i > 0;
          shape.accumulate = i > 1;
          /* dgrad with the sums of a batch norm, with and without a slope. */
          variant.norm = pass == DYNO_CONV2D_DGRAD && variant.splits == 1 && t % 2 == 0;
          shape.fused.norm = variant.norm ? 1 + (t / 2 + i) % 3 : 0;
          shape.fused.norm_activation =
              shape.fused.norm > DYNO_NORM_ID_PLAIN ? DYNO_ACTIVATION_RELU : 0;
          shape.fused.load = load == 0 || shape.c <= 4 ? 0 : loads[i];
          if (load == 1 && (shape.fused.load == 0 || pass == DYNO_CONV2D_DGRAD))
            continue;
          DynoKernelSpec spec;
          guint32 groups[3];
          DynoConv2dSizes sizes;
          g_autoptr (GError) error = NULL;
          if (!dyno_tile_serves (&dyno_tiles[t], &info, &shape, pass))
            continue;
          dyno_conv2d_spec (&info, &shape, pass, &variant, &spec, groups, &sizes);
          if (dyno_tiles[t].kind == DYNO_TILE_MATRIX)
            g_assert_true ((strstr (spec.macros, "CHECK_M=0 CHECK_N=0 CHECK_K=0") != NULL)
                           == (i == 0));
          g_assert_true ((strstr (spec.macros, " LOAD=") != NULL) == (load == 1));
          g_assert_false (spec.macros_cut);
          g_autoptr (GBytes) spirv = dyno_shader_compiler_get (
              compilers[compiled++ % 5 > 0], spec.shader, spec.macros, spec.local_size, &error);
          g_assert_no_error (error);
          harness_validate_spirv (spirv, spec.macros);
        }
  for (guint i = 0; i < G_N_ELEMENTS (compilers); i++)
    dyno_shader_compiler_free (compilers[i]);
}

/* Tests the reference itself: its gradients are compared with central differences of its forward
 * pass. */
typedef struct {
  const ReferenceConv2d *s;
  const double *x, *weight, *bias, *dy;
  const double **moved;
} Value;

static double
value_of (const double *moved, gpointer data)
{
  Value *v = data;
  const double *kept = *v->moved;
  gsize ny = (gsize) v->s->n * reference_conv2d_oh (v->s) * reference_conv2d_ow (v->s) * v->s->k;
  g_autofree double *y = g_new (double, ny);
  double sum = 0;

  *v->moved = moved;
  reference_conv2d_forward (v->s, v->x, v->weight, v->bias, y);
  *v->moved = kept;
  for (gsize i = 0; i < ny; i++)
    sum += y[i] * v->dy[i];
  return sum;
}

static void
test_reference (void)
{
  static const ReferenceConv2d small[] = { { 2, 5, 4, 3, 2, 3, 3, 2, 2, 1, 1 },
                                           { 1, 4, 5, 2, 3, 2, 3, 1, 2, 0, 2 },
                                           { 2, 3, 3, 2, 2, 1, 1, 2, 1, 0, 0 },
                                           { 1, 7, 6, 4, 6, 3, 2, 2, 1, 2, 1, 2, 2, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (small); i++)
    {
      const ReferenceConv2d *s = &small[i];
      gsize nx = (gsize) s->n * s->h * s->w * s->c,
            nw = (gsize) s->k * group_inputs (s) * s->kernel_h * s->kernel_w;
      gsize ny = (gsize) s->n * reference_conv2d_oh (s) * reference_conv2d_ow (s) * s->k;
      g_autofree double *x = harness_random (1, nx, 1), *weight = harness_random (2, nw, 1),
                        *bias = harness_random (3, s->k, 1);
      g_autofree double *dy = harness_random (4, ny, 1), *dx = g_new (double, nx),
                        *dw = g_new (double, nw);
      g_autofree double *db = g_new (double, s->k);
      Value v = { s, x, weight, bias, dy, &v.x };
      reference_conv2d_backward (s, x, weight, dy, dx, dw, db);
      g_assert_cmpfloat (reference_finite_error (value_of, &v, x, nx, dx, 1e-4), <, 1e-12);
      v.moved = &v.weight;
      g_assert_cmpfloat (reference_finite_error (value_of, &v, weight, nw, dw, 1e-4), <, 1e-12);
      v.moved = &v.bias;
      g_assert_cmpfloat (reference_finite_error (value_of, &v, bias, s->k, db, 1e-4), <, 1e-12);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/conv2d/reference-matches-differences", test_reference);
  g_test_add_func ("/nn/conv2d/matches-reference", test_shapes);
  g_test_add_func ("/nn/conv2d/adds-to-a-gradient", test_accumulates);
  g_test_add_func ("/nn/conv2d/groups-and-dilation-match-reference", test_sparse);
  g_test_add_func ("/nn/conv2d/every-variant-matches-reference", test_variants);
  g_test_add_func ("/nn/conv2d/rejects-bad-shapes", test_rejects);
  g_test_add_func ("/nn/conv2d/folds-large-grids", test_folds_large_grids);
  g_test_add_func ("/nn/conv2d/guesses-for-a-card", test_guesses_for_a_card);
  g_test_add_func ("/nn/conv2d/guesses-for-one-image", test_guesses_for_one_image);
  g_test_add_func ("/nn/conv2d/sizes-are-arguments", test_sizes_are_arguments);
  g_test_add_func ("/nn/conv2d/guesses-tiles-of-images", test_guesses_images);
  g_test_add_func ("/nn/conv2d/phases-of-strides", test_phases);
  g_test_add_func ("/nn/conv2d/splits-follow-the-processors", test_splits_follow_the_processors);
  g_test_add_func ("/nn/conv2d/spilling-tiles-lose-their-place",
                   test_spilling_tiles_lose_their_place);
  g_test_add_func ("/nn/conv2d/matrix-workgroups-are-whole-subgroups",
                   test_matrix_workgroups_are_whole);
  g_test_add_func ("/nn/conv2d/tiles-serve", test_tiles_serve);
  g_test_add_func ("/nn/conv2d/strips-cover-images", test_strips_cover_images);
  g_test_add_func ("/nn/conv2d/strips-count-their-sums", test_strips_count_their_sums);
  g_test_add_func ("/nn/conv2d/images-leave-taps-out", test_images_leave_taps_out);
  g_test_add_func ("/nn/conv2d/matrix-kernels-compile", test_matrix_kernels_compile);
  g_test_add_func ("/nn/conv1d/matches-reference-with-torchs-weight", test_conv1d);
  g_test_add_func ("/nn/conv2d/one-dimensional-is-a-height-of-one", test_one_dimensional);
  g_test_add_func ("/nn/linear/bias-of-many-rows", test_bias_of_many_rows);
  g_test_add_func ("/nn/linear/takes-the-last-axis", test_linear_last_axis);
  g_test_add_func ("/nn/linear/matches-reference", test_linear);
  return g_test_run ();
}
