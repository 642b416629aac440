/* SPDX-License-Identifier: MIT */
/* Max pooling and global average pooling against their references. */
#include "harness.h"
#include "reference/pool.h"

static const ReferencePool max_cases[] = {
  { 1, 4, 4, 3, 2, 2, 0 },  { 2, 7, 5, 10, 3, 2, 1 },   { 2, 9, 9, 33, 3, 1, 1 },
  { 1, 5, 6, 8, 3, 3, 0 },  { 1, 8, 8, 512, 2, 2, 0 },  { 3, 6, 7, 16, 5, 2, 2 },
  { 1, 1, 1, 3, 1, 1, 0 },  { 1, 11, 10, 5, 2, 3, 1 },  { 2, 2, 2, 12, 3, 2, 1 },
  { 1, 20, 3, 9, 3, 5, 0 }, { 1, 16, 16, 4, 15, 1, 7 }, { 2, 6, 6, 8, 3, 2, 0 },
};

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
  DynoTensor *y = dyno_max_pool (harness_graph (h), input, "pool", s->kernel, s->stride, s->pad);
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
    { 0, 1, 0 }, { 16, 1, 0 }, { 2, 0, 0 }, { 3, 1, 2 }, { 5, 1, 0 }
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/maxpool/matches-reference", test_max);
  g_test_add_func ("/nn/maxpool/gradients-accumulate", test_max_accumulates);
  g_test_add_func ("/nn/maxpool/first-of-equal-values-takes-the-gradient", test_max_ties);
  g_test_add_func ("/nn/maxpool/bad-windows-are-errors", test_max_shapes);
  g_test_add_func ("/nn/avgpool/matches-reference", test_avg);
  return g_test_run ();
}
