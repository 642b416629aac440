/* SPDX-License-Identifier: MIT */
/* The product of an image and a factor for each of its channels, against the reference. */
#include "harness.h"
#include "reference/elementwise.h"
#include <string.h>

typedef struct {
  guint32 n, h, w, c;
} Shape;

/* Odd sides, a single pixel, channels that are no multiple of 8, more pixels than a workgroup
 * takes. */
static const Shape shapes[] = {
  { 1, 1, 1, 3 }, { 2, 5, 7, 10 }, { 3, 3, 1, 33 }, { 1, 41, 33, 24 }, { 2, 7, 7, 272 },
};

/* A relu reads x too, and with `accumulate` also the factors, so that both gradients are sums. */
static void
check (const Shape *s, gboolean amp, gboolean accumulate)
{
  gsize nx = (gsize) s->n * s->h * s->w * s->c, ns = (gsize) s->n * s->c;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoGraph *graph = harness_graph (h);
  g_autofree double *x = harness_random (1, nx, 1), *f = harness_random (2, ns, 1),
                    *dy = harness_random (3, nx, 1), *dx_start = harness_random (4, nx, 1),
                    *df_start = harness_random (5, ns, 1);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *tf = harness_input (h, "f", s->n, 1, 1, s->c, f);
  DynoTensor *y = dyno_scale (graph, tx, tf, "y");
  harness_set_gradient (h, y, dy);
  if (accumulate)
    {
      harness_set_gradient (h, tx, dx_start);
      harness_set_gradient (h, tf, df_start);
    }
  harness_run (h);
  const ReferenceScale shape = { s->n, s->h * s->w, s->c };
  g_autofree double *want = g_new (double, nx), *dx = g_new (double, nx), *df = g_new (double, ns);
  reference_scale_forward (&shape, x, f, want);
  reference_scale_backward (&shape, x, f, dy, dx, df);
  for (gsize i = 0; i < nx && accumulate; i++)
    dx[i] += dx_start[i];
  for (gsize i = 0; i < ns && accumulate; i++)
    df[i] += df_start[i];
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx),
                    *df_got = harness_read_gradient (h, tf);
  harness_assert_close (y_got, want, nx, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, nx, harness_tolerance (h), "dx");
  harness_assert_close (df_got, df, ns, harness_tolerance (h), "df");
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&shapes[i], amp, FALSE);
}

static void
test_accumulates (void)
{
  for (guint amp = 0; amp < 2; amp++)
    for (guint i = 1; i < 4; i += 2)
      check (&shapes[i], amp, TRUE);
}

/* y = x * f (x), as in squeeze and excitation: both gradients are added to that of x. */
static void
test_own_factors (void)
{
  const Shape *s = &shapes[1];
  gsize nx = (gsize) s->n * s->h * s->w * s->c, ns = (gsize) s->n * s->c, pixels = s->h * s->w;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = s->n });
  DynoGraph *graph = harness_graph (h);
  g_autofree double *x = harness_random (1, nx, 1), *dy = harness_random (2, nx, 1);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *f = dyno_activation (graph, dyno_global_avg_pool (graph, tx, "pool"),
                                   DYNO_ACTIVATION_SIGMOID, "f");
  harness_set_gradient (h, dyno_scale (graph, tx, f, "y"), dy);
  harness_run (h);
  g_autofree double *mean = g_new0 (double, ns), *factor = g_new (double, ns),
                    *dx = g_new (double, nx), *df = g_new (double, ns);
  for (gsize i = 0; i < nx; i++)
    mean[i / (pixels * s->c) * s->c + i % s->c] += x[i] / pixels;
  for (gsize i = 0; i < ns; i++)
    factor[i] = reference_activate (DYNO_ACTIVATION_SIGMOID, mean[i]);
  reference_scale_backward (&(ReferenceScale){ s->n, s->h * s->w, s->c }, x, factor, dy, dx, df);
  for (gsize i = 0; i < nx; i++)
    {
      gsize at = i / (pixels * s->c) * s->c + i % s->c;
      dx[i] += df[at] * reference_activation_slope (DYNO_ACTIVATION_SIGMOID, mean[at]) / pixels;
    }
  g_autofree double *got = harness_read_gradient (h, tx);
  harness_assert_close (got, dx, nx, harness_tolerance (h), "dx");
}

/* The pixels of one large image are divided into splits. */
static void
test_equal_bits (void)
{
  const Shape *s = &shapes[3];
  gsize nx = (gsize) s->n * s->h * s->w * s->c, ns = (gsize) s->n * s->c;
  g_autofree double *x = harness_random (1, nx, 1), *f = harness_random (2, ns, 1), *first = NULL;
  for (guint pass = 0; pass < 2; pass++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = s->n });
      DynoTensor *tf = harness_input (h, "f", s->n, 1, 1, s->c, f);
      DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
      harness_set_gradient (h, dyno_scale (harness_graph (h), tx, tf, "y"), x);
      harness_run (h);
      g_autofree double *got = harness_read_gradient (h, tf);
      if (first)
        g_assert_cmpmem (got, ns * sizeof (double), first, ns * sizeof (double));
      else
        first = g_steal_pointer (&got);
    }
}

static void
test_shapes (void)
{
  const double values[24] = { 0 };
  const guint32 bad[][3] = { { 1, 1, 3 }, { 2, 1, 4 }, { 2, 2, 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
      DynoTensor *x = harness_input (h, "x", 2, 1, 2, 3, values),
                 *f = harness_input (h, "f", bad[i][0], bad[i][1], 1, bad[i][2], values);
      g_assert_null (dyno_scale (harness_graph (h), x, f, "y"));
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, "factors"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/scale/matches-reference", test_matches);
  g_test_add_func ("/nn/scale/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/scale/factors-of-x-itself", test_own_factors);
  g_test_add_func ("/nn/scale/equal-inputs-give-equal-bits", test_equal_bits);
  g_test_add_func ("/nn/scale/bad-shapes-are-errors", test_shapes);
  return g_test_run ();
}
