/* SPDX-License-Identifier: MIT */
/* Group norm against the reference. */
#include "harness.h"
#include "reference/groupnorm.h"
#include <string.h>

typedef struct {
  guint32 n, h, w, c, groups;
} Shape;

/* One group, groups that end within an access, groups of one channel, groups of whole accesses. */
static const Shape shapes[] = { { 1, 1, 1, 3, 1 },
                                { 2, 5, 7, 10, 1 },
                                { 2, 5, 7, 30, 5 },
                                { 3, 3, 1, 33, 33 },
                                { 1, 23, 19, 48, 3 } };

/* x is far from zero, so that a variance computed as a mean of squares would be wrong. */
static void
check (const Shape *s, gboolean amp, gboolean accumulate, double eps)
{
  gsize count = (gsize) s->n * s->h * s->w * s->c;
  const ReferenceGroupNorm shape = { s->n, s->h * s->w, s->c, s->groups, eps > 0 ? eps : 1e-5 };
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                    *start = harness_random (3, count, 1), *y = g_new (double, count),
                    *dx = g_new (double, count);
  for (gsize i = 0; i < count; i++)
    x[i] = harness_round_f16 (x[i] + (amp ? 4 : 32));
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *ty = dyno_group_norm (harness_graph (h), tx, "norm", s->groups, eps);
  harness_set_gradient (h, ty, dy);
  if (accumulate)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  reference_group_norm_forward (&shape, x, y);
  reference_group_norm_backward (&shape, x, dy, dx);
  for (gsize i = 0; i < count && accumulate; i++)
    dx[i] += start[i];
  g_autofree double *y_got = harness_read (h, ty), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (y_got, y, count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&shapes[i], amp, FALSE, 0);
}

static void
test_accumulates (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check (&shapes[2], amp, TRUE, 0);
}

static void
test_eps (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check (&shapes[2], amp, FALSE, 0.3);
}

static void
test_equal_bits (void)
{
  const Shape *s = &shapes[4];
  gsize count = (gsize) s->n * s->h * s->w * s->c;
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                    *first = NULL;
  for (guint pass = 0; pass < 2; pass++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = s->n });
      DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
      harness_set_gradient (h, dyno_group_norm (harness_graph (h), tx, "norm", s->groups, 0), dy);
      harness_run (h);
      g_autofree double *got = harness_read_gradient (h, tx);
      if (first)
        g_assert_cmpmem (got, count * sizeof (double), first, count * sizeof (double));
      else
        first = g_steal_pointer (&got);
    }
}

static void
test_refusals (void)
{
  static const struct {
    guint32 groups;
    double eps;
    const char *word;
  } bad[] = { { 0, 0, "groups" }, { 4, 0, "groups" }, { 12, 0, "groups" }, { 3, -1e-5, "eps" } };
  const double values[12] = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
      DynoTensor *x = harness_input (h, "x", 2, 1, 1, 6, values);
      g_assert_null (dyno_group_norm (harness_graph (h), x, "norm", bad[i].groups, bad[i].eps));
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, bad[i].word));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/group-norm/matches-reference", test_matches);
  g_test_add_func ("/nn/group-norm/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/group-norm/eps", test_eps);
  g_test_add_func ("/nn/group-norm/equal-inputs-give-equal-bits", test_equal_bits);
  g_test_add_func ("/nn/group-norm/bad-parameters-are-errors", test_refusals);
  return g_test_run ();
}
