/* SPDX-License-Identifier: MIT */
/* Max pooling and average pooling, over windows and over whole images, compared with their
 * references. */
#include "harness.h"
#include "op.h"
#include "reference/pool.h"

static const ReferencePool max_cases[] = {
  { 1, 4, 4, 3, 2, 2, 0 },
  { 2, 7, 5, 10, 3, 2, 1 },
  { 2, 9, 9, 33, 3, 1, 1 },
  { 1, 5, 6, 8, 3, 3, 0 },
  { 1, 8, 8, 512, 2, 2, 0 },
  { 3, 6, 7, 16, 5, 2, 2 },
  { 1, 1, 1, 3, 1, 1, 0 },
  { 1, 11, 10, 5, 2, 3, 1 },
  { 2, 2, 2, 12, 3, 2, 1 },
  { 1, 20, 3, 9, 3, 5, 0 },
  { 1, 16, 16, 4, 15, 1, 7 },
  { 2, 6, 6, 8, 3, 2, 0 },
  /* different sides */
  { 2, 9, 7, 10, 3, 2, 1, 2, 1, 0 },
  { 2, 5, 12, 8, 1, 1, 0, 5, 3, 2 },
  { 1, 16, 16, 3, 16, 1, 0, 16, 1, 0 },
  /* windows that reach further past the end, as with ceil_mode or unequal pads */
  { 2, 6, 8, 5, 3, 2, 0, 0, 0, 0, 3, 4 },
  { 1, 6, 5, 9, 3, 2, 1, 2, 2, 0, 4, 3 },
  { 2, 4, 4, 8, 3, 3, 0, 3, 3, 0, 2, 2 },
};

/* The windows past the end come from pads at the end, or from ceil_mode where it gives the same. */
static DynoTensor *
append_max (DynoGraph *graph, DynoTensor *x, const ReferencePool *s)
{
  guint32 stride_w = s->kernel_w ? s->stride_w : s->stride,
          kernel_w = s->kernel_w ? s->kernel_w : s->kernel, pad_w = s->kernel_w ? s->pad_w : s->pad;

  if (!s->kernel_w && !s->oh)
    return dyno_max_pool (graph, x, "pool", s->kernel, s->stride, s->pad);
  gboolean ceils = s->oh && !s->kernel_w;
  return dyno_max_pool_with_params (
      graph, x, "pool",
      &(DynoMaxPoolParams){
          .window = { s->kernel, kernel_w, s->stride, stride_w, s->pad, pad_w },
          .end_h = s->oh && !ceils ? (s->oh - 1) * s->stride + s->kernel - s->h - s->pad : s->pad,
          .end_w = s->ow && !ceils ? (s->ow - 1) * stride_w + kernel_w - s->w - pad_w : pad_w,
          .round_up = ceils });
}

static void
check_max (const ReferencePool *s, gboolean amp, gboolean accumulate, gboolean ties)
{
  gsize x_count = (gsize) s->n * s->h * s->w * s->c;
  guint32 oh = reference_pool_oh (s), ow = reference_pool_ow (s);
  gsize y_count = (gsize) s->n * oh * ow * s->c;
  g_autofree double *x = harness_random (1, x_count, 1), *dy = harness_random (2, y_count, 1);
  for (gsize i = 0; ties && i < x_count; i++)
    x[i] = x[i] > 0.3 ? -1 : -2;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *y = append_max (harness_graph (h), input, s);
  DynoTensor *z = accumulate ? dyno_relu (harness_graph (h), input, "z") : NULL;
  g_autofree double *dz = harness_random (3, x_count, 1);
  harness_set_gradient (h, y, dy);
  if (z)
    harness_set_gradient (h, z, dz);
  harness_run (h);
  g_autofree double *y_want = g_new (double, y_count), *dx_want = g_new (double, x_count);
  reference_max_pool_forward (s, x, y_want);
  reference_max_pool_backward (s, x, dy, dx_want);
  for (gsize i = 0; z && i < x_count; i++)
    dx_want[i] += x[i] > 0 ? dz[i] : 0;
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  g_assert_cmpuint (y->h, ==, oh);
  g_assert_cmpuint (y->w, ==, ow);
  harness_assert_close (y_got, y_want, y_count, 0, "y");
  harness_assert_close (dx_got, dx_want, x_count, harness_tolerance (h), "dx");
}

static void
test_max (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (max_cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_max (&max_cases[i], amp, FALSE, FALSE);
}

static void
test_max_accumulates (void)
{
  check_max (&max_cases[1], FALSE, TRUE, FALSE);
  check_max (&max_cases[1], TRUE, TRUE, FALSE);
}

static void
test_max_ties (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (max_cases); i++)
    check_max (&max_cases[i], TRUE, FALSE, TRUE);
}

static void
test_max_shapes (void)
{
  static const guint32 bad[][3] = {
    { 0, 1, 0 }, { 17, 1, 8 }, { 2, 0, 0 }, { 3, 1, 2 }, { 5, 1, 0 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
      const double values[16] = { 0 };
      DynoTensor *x = harness_input (h, "x", 1, 4, 4, 1, values);
      g_assert_null (dyno_max_pool (harness_graph (h), x, "pool", bad[i][0], bad[i][1], bad[i][2]));
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

static void
check_avg (const ReferencePool *s, gboolean amp, gboolean accumulate)
{
  gsize x_count = (gsize) s->n * s->h * s->w * s->c, y_count = (gsize) s->n * s->c;
  g_autofree double *x = harness_random (1, x_count, 1), *dy = harness_random (2, y_count, 1);
  g_autofree double *dz = harness_random (3, x_count, 1);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *y = dyno_global_avg_pool (harness_graph (h), input, "pool");
  DynoTensor *z = accumulate ? dyno_relu (harness_graph (h), input, "z") : NULL;
  harness_set_gradient (h, y, dy);
  if (z)
    harness_set_gradient (h, z, dz);
  harness_run (h);
  g_autofree double *y_want = g_new (double, y_count), *dx_want = g_new (double, x_count);
  reference_avg_pool_forward (s, x, y_want);
  reference_avg_pool_backward (s, dy, dx_want);
  for (gsize i = 0; z && i < x_count; i++)
    dx_want[i] += x[i] > 0 ? dz[i] : 0;
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  harness_assert_close (y_got, y_want, y_count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx_want, x_count, harness_tolerance (h), "dx");
}

static void
test_avg (void)
{
  static const ReferencePool cases[] = {
    { 1, 1, 1, 3 }, { 2, 7, 7, 512 }, { 3, 5, 3, 33 }, { 1, 40, 31, 10 }, { 5, 2, 1, 264 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        check_avg (&cases[i], amp, FALSE);
        check_avg (&cases[i], amp, TRUE);
      }
}

/* ceil_mode omits a window that would begin in the pad at the end; a pad at the end is less than
 * the kernel, so that no window has only pads. */
static void
test_max_ends (void)
{
  static const struct {
    guint32 kernel, stride, pad, end;
    gboolean round_up;
    guint32 out; /* output size for 6 pixels; 0: an error */
  } rows[] = {
    { 2, 2, 1, 1, TRUE, 4 },  { 2, 3, 1, 1, TRUE, 3 },  { 2, 4, 1, 1, TRUE, 2 },
    { 3, 2, 0, 0, TRUE, 3 },  { 3, 2, 0, 1, FALSE, 3 }, { 3, 3, 0, 2, FALSE, 2 },
    { 2, 1, 0, 1, FALSE, 6 }, { 2, 1, 0, 2, FALSE, 0 }, { 3, 7, 1, 1, TRUE, 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
      const double values[36] = { 0 };
      DynoTensor *x = harness_input (h, "x", 1, 6, 6, 1, values);
      const DynoMaxPoolParams params = { .window = { rows[i].kernel, rows[i].kernel, rows[i].stride,
                                                     rows[i].stride, rows[i].pad, rows[i].pad },
                                         .end_h = rows[i].end,
                                         .end_w = rows[i].end,
                                         .round_up = rows[i].round_up };
      DynoTensor *y = dyno_max_pool_with_params (harness_graph (h), x, "pool", &params);
      g_test_message ("%u", i);
      g_assert_true ((y != NULL) == (rows[i].out > 0));
      if (y)
        g_assert_cmpuint (y->h, ==, rows[i].out);
      if (y)
        g_assert_cmpuint (y->w, ==, rows[i].out);
    }
}

/* A whole image in one window, or in two where its positions exceed a byte: the first of equal
 * values takes the gradient in both cases. */
static void
test_global_max (void)
{
  static const ReferencePool cases[] = { { 2, 7, 9, 5, 7, 1, 0, 9, 1, 0 },
                                         { 2, 20, 17, 9, 20, 1, 0, 17, 1, 0 } };
  for (guint i = 0; i < 4; i++)
    {
      const ReferencePool *s = &cases[i / 2];
      gsize x_count = (gsize) s->n * s->h * s->w * s->c, y_count = (gsize) s->n * s->c;
      g_autofree double *x = harness_random (1, x_count, 1), *dy = harness_random (2, y_count, 1),
                        *y_want = g_new (double, y_count), *dx_want = g_new (double, x_count);
      for (gsize k = 0; k < x_count; k++)
        x[k] = x[k] > 0.9 ? 1 : -1;
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = i % 2, .training = TRUE, .batch = s->n });
      DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
                 *y = dyno_global_max_pool (harness_graph (h), input, "pool");
      g_assert_cmpuint (y->h * y->w, ==, 1);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      reference_max_pool_forward (s, x, y_want);
      reference_max_pool_backward (s, x, dy, dx_want);
      g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
      harness_assert_close (y_got, y_want, y_count, 0, "y");
      harness_assert_close (dx_got, dx_want, x_count, harness_tolerance (h), "dx");
    }
}

/* As PyTorch's AvgPool2d (kernel, stride, pad, ceil_mode, count_include_pad) and
 * AdaptiveAvgPool2d give them. */
typedef struct {
  ReferenceAvgWindow s; /* the size of its output as PyTorch has it */
  gboolean round_up;
} AvgWindow;

static const AvgWindow windows[] = {
  /* windows without overlap, with and without a remaining row */
  { { 2, 4, 6, 8, 2, 3, FALSE, 2, 2, 2, 2, 0, 0, FALSE }, FALSE },
  { { 1, 5, 5, 3, 2, 2, FALSE, 2, 2, 2, 2, 0, 0, FALSE }, FALSE },
  /* overlapping windows with pads, with the pad included and excluded */
  { { 2, 7, 5, 10, 4, 3, FALSE, 3, 3, 2, 2, 1, 1, FALSE }, FALSE },
  { { 2, 7, 5, 10, 4, 3, FALSE, 3, 3, 2, 2, 1, 1, TRUE }, FALSE },
  { { 1, 9, 8, 33, 9, 8, FALSE, 3, 3, 1, 1, 1, 1, TRUE }, FALSE },
  /* different sides, and a stride larger than the kernel */
  { { 2, 11, 10, 12, 4, 5, FALSE, 2, 5, 3, 2, 0, 2, TRUE }, FALSE },
  /* a last window that is truncated, or omitted where it would begin in the pad */
  { { 1, 6, 7, 9, 3, 4, FALSE, 3, 3, 2, 2, 0, 1, FALSE }, TRUE },
  { { 1, 6, 7, 9, 3, 4, FALSE, 3, 3, 2, 2, 0, 1, TRUE }, TRUE },
  { { 2, 5, 6, 16, 2, 2, FALSE, 2, 2, 4, 4, 1, 1, FALSE }, TRUE },
  /* pads at the end that are larger, or smaller */
  { { 1, 6, 7, 9, 3, 3, FALSE, 3, 3, 2, 2, 0, 0, FALSE, 1, 0 }, FALSE },
  { { 1, 6, 7, 9, 3, 3, FALSE, 3, 3, 2, 2, 0, 1, TRUE, 1, -1 }, FALSE },
  { { 1, 6, 8, 4, 3, 4, FALSE, 3, 3, 2, 2, 1, 1, FALSE, -1, -1 }, TRUE },
  /* a sequence */
  { { 3, 1, 13, 20, 1, 6, FALSE, 1, 3, 1, 2, 0, 0, FALSE }, FALSE },
  /* adaptive: evenly divided, with overlapping windows, and to more outputs than inputs */
  { { 2, 8, 6, 8, 4, 2, TRUE, 0, 0, 0, 0, 0, 0, FALSE }, FALSE },
  { { 2, 10, 7, 33, 7, 3, TRUE, 0, 0, 0, 0, 0, 0, FALSE }, FALSE },
  { { 1, 13, 13, 264, 6, 6, TRUE, 0, 0, 0, 0, 0, 0, FALSE }, FALSE },
  { { 2, 3, 2, 5, 7, 5, TRUE, 0, 0, 0, 0, 0, 0, FALSE }, FALSE },
  { { 1, 1, 9, 12, 1, 4, TRUE, 0, 0, 0, 0, 0, 0, FALSE }, FALSE },
};

static DynoTensor *
append_window (DynoGraph *graph, DynoTensor *x, const AvgWindow *c)
{
  const ReferenceAvgWindow *s = &c->s;
  if (s->adaptive)
    return dyno_adaptive_avg_pool (graph, x, "pool", s->oh, s->ow);
  /* a stride that is the kernel is the default value */
  return dyno_avg_pool (
      graph, x, "pool",
      &(DynoAvgPoolParams){ .kernel_h = s->kernel_h,
                            .kernel_w = s->kernel_w,
                            .stride_h = s->stride_h == s->kernel_h ? 0 : s->stride_h,
                            .stride_w = s->stride_w == s->kernel_w ? 0 : s->stride_w,
                            .pad_h = s->pad_h,
                            .pad_w = s->pad_w,
                            .end_h = s->pad_h + (guint32) s->more_h,
                            .end_w = s->pad_w + (guint32) s->more_w,
                            .exclude_pad = s->exclude_pad,
                            .round_up = c->round_up });
}

static void
check_window (const AvgWindow *c, gboolean amp, gboolean accumulate)
{
  const ReferenceAvgWindow *s = &c->s;
  gsize x_count = (gsize) s->n * s->h * s->w * s->c, y_count = (gsize) s->n * s->oh * s->ow * s->c;
  g_autofree double *x = harness_random (1, x_count, 1), *dy = harness_random (2, y_count, 1),
                    *dx = harness_random (3, x_count, 1);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *y = append_window (harness_graph (h), input, c);
  g_assert_nonnull (y);
  g_assert_cmpuint (y->h, ==, s->oh);
  g_assert_cmpuint (y->w, ==, s->ow);
  harness_set_gradient (h, y, dy);
  if (accumulate)
    harness_set_gradient (h, input, dx);
  harness_run (h);
  g_autofree double *y_want = g_new (double, y_count), *dx_want = g_new (double, x_count);
  reference_avg_window_forward (s, x, y_want);
  reference_avg_window_backward (s, dy, dx_want);
  for (gsize i = 0; accumulate && i < x_count; i++)
    dx_want[i] += dx[i];
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  harness_assert_close (y_got, y_want, y_count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx_want, x_count, harness_tolerance (h), "dx");
}

static void
test_windows (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    {
      check_window (&windows[i], i % 2, FALSE);
      check_window (&windows[i], (i + 1) % 2, TRUE);
    }
}

static void
test_windows_shapes (void)
{
  /* kernel, stride, pad; kernel 0: adaptive, to stride x pad */
  static const guint32 bad[][3] = { { 256, 1, 0 },         { 5, 1, 0 }, { 3, 1, 2 },
                                    { 2, 1, G_MAXUINT32 }, { 0, 0, 2 }, { 0, 2, 0 },
                                    { 0, 2000, 2 } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      const guint32 *b = bad[i];
      const DynoAvgPoolParams params = { .kernel_h = b[0],
                                         .kernel_w = b[0],
                                         .stride_h = b[1],
                                         .stride_w = b[1],
                                         .pad_h = b[2],
                                         .pad_w = b[2],
                                         .end_h = b[2],
                                         .end_w = b[2] };
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
      const double values[16] = { 0 };
      DynoGraph *graph = harness_graph (h);
      DynoTensor *x = harness_input (h, "x", 1, 4, 4, 1, values);
      g_assert_null (b[0] ? dyno_avg_pool (graph, x, "pool", &params)
                          : dyno_adaptive_avg_pool (graph, x, "pool", b[1], b[2]));
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (graph, &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

/* There is no kernel where the output equals the input, and one window uses the kernel for whole
 * images. */
static void
test_adaptive_ends (void)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
  const double values[16] = { 0 };
  DynoTensor *x = harness_input (h, "x", 1, 4, 4, 1, values);
  g_assert_true (dyno_adaptive_avg_pool (harness_graph (h), x, "same", 4, 4) == x);
  DynoTensor *one = dyno_adaptive_avg_pool (harness_graph (h), x, "one", 1, 1);
  g_assert_cmpstr (one->producer->op->name, ==, "global_avg_pool");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/maxpool/matches-reference", test_max);
  g_test_add_func ("/nn/maxpool/gradients-accumulate", test_max_accumulates);
  g_test_add_func ("/nn/maxpool/first-of-equal-values-takes-the-gradient", test_max_ties);
  g_test_add_func ("/nn/maxpool/bad-windows-are-errors", test_max_shapes);
  g_test_add_func ("/nn/maxpool/ends-as-in-pytorch", test_max_ends);
  g_test_add_func ("/nn/maxpool/whole-images", test_global_max);
  g_test_add_func ("/nn/avgpool/matches-reference", test_avg);
  g_test_add_func ("/nn/avgpool/windows-match-reference", test_windows);
  g_test_add_func ("/nn/avgpool/bad-windows-are-errors", test_windows_shapes);
  g_test_add_func ("/nn/avgpool/adaptive-to-its-own-size-is-nothing", test_adaptive_ends);
  return g_test_run ();
}
