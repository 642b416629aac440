/* SPDX-License-Identifier: MIT */
/* Transposed convolution compared with a plain sum in double, forward and all gradients, with every
 * variant of its kernels; its result has PyTorch's size; and unsupported parameters are refused. */
#include "conv2d-private.h"
#include "harness.h"
#include "kernel.h"
#include "shader.h"
#include <string.h>

typedef struct {
  guint32 n, h, w, c, k; /* from c to k channels */
  guint32 kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, more_h, more_w;
  guint32 groups, dilation_h, dilation_w; /* 0 means 1 */
  guint32 oh, ow;                         /* size of the output by PyTorch's ConvTranspose2d */
} Case;

/* Strides 1, 2 and 3, different ones for both axes, taps that overlap and that leave gaps, odd
 * sides, rows at the end, pads wider than the kernel reaches, channels that are no multiple of 8,
 * one class, one pixel, groups, and dilation. */
static const Case cases[] = {
  { 2, 7, 5, 16, 8, 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 14, 10 },
  { 1, 9, 6, 5, 11, 3, 3, 2, 2, 1, 1, 1, 1, 0, 0, 0, 18, 12 },
  { 2, 5, 7, 33, 10, 3, 3, 1, 1, 1, 1, 0, 0, 0, 0, 0, 5, 7 },
  { 1, 4, 5, 12, 20, 4, 4, 2, 2, 1, 1, 0, 0, 0, 0, 0, 8, 10 },
  { 2, 3, 4, 8, 9, 3, 3, 3, 3, 0, 0, 2, 1, 0, 0, 0, 11, 13 },
  { 1, 5, 3, 10, 3, 5, 3, 3, 2, 2, 0, 0, 1, 0, 0, 0, 13, 8 },
  { 2, 6, 5, 24, 1, 3, 3, 2, 2, 1, 1, 1, 1, 0, 0, 0, 12, 10 },
  { 3, 4, 4, 9, 8, 1, 1, 2, 2, 0, 0, 1, 0, 0, 0, 0, 8, 7 },
  { 2, 1, 1, 40, 16, 4, 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 4 },
  { 1, 7, 6, 3, 4, 3, 3, 1, 1, 3, 2, 0, 0, 0, 0, 0, 3, 4 },
  { 2, 6, 5, 12, 18, 3, 3, 2, 2, 1, 1, 1, 1, 3, 0, 0, 12, 10 },
  { 1, 5, 6, 6, 6, 4, 4, 2, 2, 1, 1, 0, 0, 6, 0, 0, 10, 12 },
  { 1, 6, 7, 8, 8, 3, 3, 1, 2, 0, 1, 0, 2, 1, 2, 3, 10, 19 },
};
/* Several tiles of every variant, some of them whole; one case has a long K axis, which is
 * split. */
static const Case variant_cases[] = {
  { 2, 9, 8, 140, 130, 3, 3, 2, 2, 1, 1, 1, 1, 0, 0, 0, 18, 16 },
  { 1, 6, 7, 264, 40, 3, 3, 1, 1, 1, 1, 0, 0, 0, 0, 0, 6, 7 },
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

static guint32
groups_of (const Case *s)
{
  return MAX (s->groups, 1);
}

/* Adds the products of one pixel of x and one tap. */
static void
add_tap (const Case *s, gsize at_x, gsize at_y, guint32 tap, const double *x, const double *weight,
         const double *dy, Results *r)
{
  guint32 taps = s->kernel_h * s->kernel_w, group_k = s->k / groups_of (s),
          group_c = s->c / groups_of (s);
  for (guint32 c = 0; c < s->c; c++)
    for (guint32 k = 0; k < group_k; k++)
      {
        gsize w = ((gsize) c * group_k + k) * taps + tap,
              y = at_y * s->k + c / group_c * group_k + k;
        r->y[y] += x[at_x * s->c + c] * weight[w];
        r->dx[at_x * s->c + c] += dy[y] * weight[w];
        r->dweight[w] += x[at_x * s->c + c] * dy[y];
      }
}

static Results
expect (const Case *s, const double *x, const double *weight, const double *bias, const double *dy)
{
  gsize nx = (gsize) s->n * s->h * s->w, ny = (gsize) s->n * s->oh * s->ow,
        nw = (gsize) s->c * (s->k / groups_of (s)) * s->kernel_h * s->kernel_w;
  Results r = { g_new0 (double, ny * s->k), g_new0 (double, nx * s->c), g_new0 (double, nw),
                g_new0 (double, s->k) };
  for (gsize i = 0; i < ny * s->k; i++)
    {
      r.y[i] = bias ? bias[i % s->k] : 0;
      r.dbias[i % s->k] += dy[i];
    }
  for (gsize i = 0; i < nx; i++)
    for (guint32 tap = 0; tap < s->kernel_h * s->kernel_w; tap++)
      {
        gsize image = i / (s->h * s->w), row = i / s->w % s->h, column = i % s->w;
        gint64 oy = (gint64) row * s->stride_h + tap / s->kernel_w * MAX (s->dilation_h, 1)
                    - s->pad_h,
               ox = (gint64) column * s->stride_w + tap % s->kernel_w * MAX (s->dilation_w, 1)
                    - s->pad_w;
        if (oy >= 0 && oy < s->oh && ox >= 0 && ox < s->ow)
          add_tap (s, i, (image * s->oh + (gsize) oy) * s->ow + (gsize) ox, tap, x, weight, dy, &r);
      }
  return r;
}

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const Case *s, gboolean bias)
{
  return dyno_conv_transpose (graph, x, "up",
                              &(DynoConvTransposeParams){ .out_channels = s->k,
                                                          .kernel_h = s->kernel_h,
                                                          .kernel_w = s->kernel_w,
                                                          .stride_h = s->stride_h,
                                                          .stride_w = s->stride_w,
                                                          .pad_h = s->pad_h,
                                                          .pad_w = s->pad_w,
                                                          .more_h = s->more_h,
                                                          .more_w = s->more_w,
                                                          .groups = s->groups,
                                                          .dilation_h = s->dilation_h,
                                                          .dilation_w = s->dilation_w,
                                                          .bias = bias,
                                                          .init = DYNO_INIT_KAIMING_UNIFORM });
}

typedef struct {
  gboolean amp, bias, accumulate, as_card;
  const DynoVariant *forward, *dgrad; /* of the kernels of conv2d.dgrad and conv2d.forward */
} Options;

static void
add (double *sum, const double *more, gsize n)
{
  for (gsize i = 0; i < n; i++)
    sum[i] += more[i];
}

static void
check (const Case *s, const Options *o)
{
  gsize nx = (gsize) s->n * s->h * s->w * s->c, ny = (gsize) s->n * s->oh * s->ow * s->k,
        nw = (gsize) s->c * (s->k / groups_of (s)) * s->kernel_h * s->kernel_w;
  g_autofree double *x = harness_random (1, nx, 1), *weight = harness_random (2, nw, 1),
                    *bias = harness_random (3, s->k, 1), *dy = harness_random (4, ny, 1),
                    *dx_start = harness_random (5, nx, 1), *dw_start = harness_random (6, nw, 1);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = o->amp, .training = TRUE, .batch = s->n, .as_card = o->as_card });
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *y = append (harness_graph (h), input, s, o->bias);
  g_assert_nonnull (y);
  g_assert_true (y->n == s->n && y->h == s->oh && y->w == s->ow && y->c == s->k);
  harness_set_parameter (h, "up.weight", weight);
  harness_set_parameter_gradient (h, "up.weight", dw_start);
  if (o->bias)
    harness_set_parameter (h, "up.bias", bias);
  harness_set_gradient (h, y, dy);
  if (o->accumulate)
    harness_set_gradient (h, input, dx_start);
  if (o->forward)
    harness_force (h, "conv2d.dgrad", o->forward);
  if (o->dgrad)
    harness_force (h, "conv2d.forward", o->dgrad);
  harness_run (h);

  g_auto (Results) want = expect (s, x, weight, o->bias ? bias : NULL, dy);
  add (want.dweight, dw_start, nw);
  if (o->accumulate)
    add (want.dx, dx_start, nx);
  g_auto (Results) got = { harness_read (h, y), harness_read_gradient (h, input),
                           harness_read_parameter_gradient (h, "up.weight"),
                           o->bias ? harness_read_parameter_gradient (h, "up.bias") : NULL };
  harness_assert_close (got.y, want.y, ny, harness_tolerance (h), "y");
  harness_assert_close (got.dx, want.dx, nx, harness_tolerance (h), "dx");
  harness_assert_close (got.dweight, want.dweight, nw, harness_tolerance (h), "dweight");
  if (o->bias)
    harness_assert_close (got.dbias, want.dbias, s->k, harness_tolerance (h), "dbias");
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], &(Options){ .amp = amp, .bias = i % 4 != amp });
}

static void
test_accumulates (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i += 3)
    check (&cases[i], &(Options){ .amp = i % 2, .bias = TRUE, .accumulate = TRUE });
}

/* The tiles of GPUs, which a software device can run too, and splits, each with a bias. */
static void
test_variants (void)
{
  guint turn = 0;
  for (guint i = 0; i < G_N_ELEMENTS (variant_cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        const Case *s = &variant_cases[i];
        gsize nx = (gsize) s->n * s->h * s->w * s->c;
        g_autofree double *x = harness_random (1, nx, 1);
        g_autoptr (Harness) h =
            harness_new (&(HarnessParams){ .amp = amp, .batch = s->n, .as_card = TRUE });
        g_assert_nonnull (
            append (harness_graph (h), harness_input (h, "x", s->n, s->h, s->w, s->c, x), s, TRUE));
        g_autoptr (GArray) variants = harness_variants (h, "conv2d.dgrad");
        g_assert_cmpuint (variants->len, >, 0);
        for (guint v = 0; v < variants->len; v++)
          if (harness_takes (turn++, 3))
            check (s, &(Options){ .amp = amp,
                                  .bias = TRUE,
                                  .as_card = TRUE,
                                  .forward = &g_array_index (variants, DynoVariant, v) });
      }
}

/* The matrix-unit kernels with a bias, which no software device runs, compile: with strides, and
 * with a patch where the output has the size of the input. */
static void
test_matrix_kernels_compile (void)
{
  static const Case shapes[] = { { 3, 9, 7, 128, 64, 2, 2, 2, 2, 0, 0 },
                                 { 3, 9, 7, 64, 72, 3, 3, 1, 1, 1, 1 } };
  const DynoDeviceInfo info = { .shared_bytes = 1 << 20,
                                .max_invocations = 1024,
                                .max_groups_x = 1 << 30,
                                .subgroup_min = 32,
                                .subgroup_max = 32,
                                .subgroup_size = 32,
                                .processors = 1 << 14,
                                .fp16 = TRUE,
                                .matrix = dyno_shader_compiler_matrix () };
  DynoShaderCompiler *compiler =
      dyno_shader_compiler_new ((1 << 22) | (2 << 12), DYNO_OPTIMISE_RECURRENT);
  guint patches = 0, others = 0;
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (
          &(DynoGraphParams){ .batch = 3, .precision = dyno_precision_of_amp (TRUE) });
      DynoTensor *x = dyno_graph_activation (graph, "x", shapes[i].n, shapes[i].h, shapes[i].w,
                                             shapes[i].c),
                 *y = append (graph, x, &shapes[i], TRUE);
      const DynoConv2dShape *shape = y->producer->attributes;
      for (guint t = 0; t < dyno_n_tiles; t++)
        {
          const DynoConv2dVariant variant = { .tile = &dyno_tiles[t], .splits = 1 };
          DynoKernelSpec spec;
          guint32 groups[3];
          DynoConv2dSizes sizes;
          g_autoptr (GError) error = NULL;
          if (!dyno_tile_uses_matrix (&dyno_tiles[t])
              || !dyno_tile_serves (&dyno_tiles[t], &info, shape, DYNO_CONV2D_DGRAD))
            continue;
          dyno_conv2d_spec (&info, shape, DYNO_CONV2D_DGRAD, &variant, &spec, groups, &sizes);
          g_assert_nonnull (strstr (spec.macros, " BIAS=1"));
          g_autoptr (GBytes) spirv = dyno_shader_compiler_get (compiler, spec.shader, spec.macros,
                                                               spec.local_size, &error);
          g_assert_no_error (error);
          harness_validate_spirv (spirv, spec.macros);
          *(dyno_tiles[t].kind == DYNO_TILE_PATCH ? &patches : &others) += 1;
        }
    }
  g_assert_cmpuint (patches, >, 0);
  g_assert_cmpuint (others, >, 0);
  dyno_shader_compiler_free (compiler);
}

static void
test_refuses (void)
{
  static const struct {
    DynoConvTransposeParams params;
    const char *reason;
  } rows[] = {
    { { .out_channels = 8, .kernel_h = 0, .kernel_w = 3 }, "0 x 3 taps" },
    { { .out_channels = 0, .kernel_h = 3, .kernel_w = 3 }, "with 0 channels" },
    { { .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .pad_h = 3 }, "pads of 3 and 0" },
    { { .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .stride_h = 2, .more_h = 2 },
      "2 rows and 0 columns" },
    { { .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .more_w = 1 }, "0 rows and 1 columns" },
    { { .out_channels = 9, .kernel_h = 3, .kernel_w = 3, .groups = 4 }, "4 groups" },
    { { .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .stride_h = 1u << 29 }, "3 x 3 taps" },
    { { .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .stride_h = 1u << 28 }, "too large" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
      g_autoptr (GError) error = NULL;
      DynoTensor *x = dyno_graph_activation (graph, "x", 1, i < 6 ? 2 : 5, 4, 12);
      g_assert_null (dyno_conv_transpose (graph, x, "up", &rows[i].params));
      g_assert_false (dyno_graph_check (graph, &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      if (!strstr (error->message, rows[i].reason))
        g_error ("row %u: %s", i, error->message);
    }
}

/* The weight has PyTorch's layout, inputs first, and its initial values follow PyTorch's fan-in. */
static void
test_weight (void)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  DynoTensor *x = dyno_graph_activation (graph, "x", 1, 4, 4, 12);
  g_assert_nonnull (append (graph, x, &cases[10], TRUE));
  const DynoParameter *weight = dyno_graph_get_parameters (graph)->pdata[0],
                      *bias = dyno_graph_get_parameters (graph)->pdata[1];
  const guint32 dims[4] = { 12, 6, 3, 3 };
  g_assert_cmpmem (weight->dims, sizeof weight->dims, dims, sizeof dims);
  g_assert_cmpuint (weight->fan_in, ==, 6 * 9);
  g_assert_cmpuint (bias->fan_in, ==, 6 * 9);
  g_assert_cmpuint (bias->dims[0], ==, 18);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/conv-transpose/weight-is-pytorchs", test_weight);
  g_test_add_func ("/nn/conv-transpose/matches-a-plain-sum", test_matches);
  g_test_add_func ("/nn/conv-transpose/adds-to-a-gradient", test_accumulates);
  g_test_add_func ("/nn/conv-transpose/every-variant-matches", test_variants);
  g_test_add_func ("/nn/conv-transpose/matrix-kernels-compile", test_matrix_kernels_compile);
  g_test_add_func ("/nn/conv-transpose/refuses-what-cannot-be", test_refuses);
  return g_test_run ();
}
