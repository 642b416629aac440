/* SPDX-License-Identifier: MIT */
/* Products of two tensors, products and sums of a tensor and a parameter for each channel, and of a
 * tensor and a number. */
#include "harness.h"
#include "reference/elementwise.h"
#include <math.h>
#include <string.h>

typedef struct {
  guint32 n, h, w, c;
} Shape;

/* One pixel, channels that are no multiple of 8, more rows than a workgroup sums, many channels. */
static const Shape shapes[] = {
  { 1, 1, 1, 3 }, { 2, 5, 7, 10 }, { 3, 3, 1, 33 }, { 3, 61, 67, 8 }, { 2, 7, 7, 272 },
};

static gsize
shape_count (const Shape *s)
{
  return (gsize) s->n * s->h * s->w * s->c;
}

typedef enum {
  BOTH,
  SUMS,        /* both factors have a gradient already */
  ONLY_FIRST,  /* the second factor needs none */
  ONLY_SECOND, /* the first factor needs none */
  OTHER_READER /* of dy: y is added to something, whose gradient is dy too */
} Form;

static void
check_multiply (const Shape *s, gboolean amp, Form form)
{
  gsize count = shape_count (s);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  g_autofree double *a = harness_random (1, count, 1), *b = harness_random (2, count, 1),
                    *dy = harness_random (3, count, 1), *start = harness_random (4, count, 1),
                    *want = g_new (double, count), *da = g_new (double, count),
                    *db = g_new (double, count);
  DynoTensor *ta = harness_input (h, "a", s->n, s->h, s->w, s->c, a),
             *tb = harness_input (h, "b", s->n, s->h, s->w, s->c, b),
             *tc = harness_input (h, "c", s->n, s->h, s->w, s->c, start);
  DynoTensor *y = dyno_multiply (harness_graph (h), ta, tb, "y"),
             *z = form == OTHER_READER ? dyno_add (harness_graph (h), y, tc, "z") : y;
  ta->needs_gradient = form != ONLY_SECOND;
  tb->needs_gradient = form != ONLY_FIRST;
  harness_set_gradient (h, z, dy);
  if (form == SUMS)
    {
      harness_set_gradient (h, ta, start);
      harness_set_gradient (h, tb, start);
    }
  harness_run (h);
  for (gsize i = 0; i < count; i++)
    {
      double before = form == SUMS ? start[i] : 0;
      want[i] = a[i] * b[i];
      da[i] = dy[i] * b[i] + before;
      db[i] = dy[i] * a[i] + before;
    }
  g_autofree double *y_got = harness_read (h, y);
  harness_assert_close (y_got, want, count, harness_tolerance (h), "y");
  if (form != ONLY_SECOND)
    {
      g_autofree double *got = harness_read_gradient (h, ta);
      harness_assert_close (got, da, count, harness_tolerance (h), "da");
    }
  if (form != ONLY_FIRST)
    {
      g_autofree double *got = harness_read_gradient (h, tb);
      harness_assert_close (got, db, count, harness_tolerance (h), "db");
    }
  if (form == OTHER_READER)
    {
      g_autofree double *got = harness_read_gradient (h, tc);
      harness_assert_close (got, dy, count, 0, "dc");
    }
}

static void
test_multiply (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_multiply (&shapes[i], amp, BOTH);
  for (guint amp = 0; amp < 2; amp++)
    for (Form form = SUMS; form <= OTHER_READER; form++)
      check_multiply (&shapes[1], amp, form);
}

/* y = x * x: both gradients are added to that of x. */
static void
test_square (void)
{
  const Shape *s = &shapes[1];
  gsize count = shape_count (s);
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
      g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                        *dx = g_new (double, count);
      DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
      harness_set_gradient (h, dyno_multiply (harness_graph (h), tx, tx, "y"), dy);
      harness_run (h);
      for (gsize i = 0; i < count; i++)
        dx[i] = 2 * x[i] * dy[i];
      g_autofree double *got = harness_read_gradient (h, tx);
      harness_assert_close (got, dx, count, harness_tolerance (h), "dx");
    }
}

static void
test_shapes (void)
{
  const double values[8] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
  DynoTensor *a = harness_input (h, "a", 1, 1, 1, 3, values),
             *b = harness_input (h, "b", 1, 1, 1, 4, values);
  g_assert_null (dyno_multiply (harness_graph (h), a, b, "y"));
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
}

/* A number ------------------------------------------------------------------------------------- */

/* form: BOTH, SUMS or OTHER_READER */
static void
check_affine (const Shape *s, gboolean amp, double factor, double offset, Form form)
{
  gsize count = shape_count (s);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                    *start = harness_random (3, count, 1), *want = g_new (double, count),
                    *dx = g_new (double, count);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *tc = harness_input (h, "c", s->n, s->h, s->w, s->c, start);
  DynoTensor *y = dyno_affine (harness_graph (h), tx, factor, offset, "y"),
             *z = form == OTHER_READER ? dyno_add (harness_graph (h), y, tc, "z") : y;

  harness_set_gradient (h, z, dy);
  if (form == SUMS)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  for (gsize i = 0; i < count; i++)
    {
      want[i] = factor * x[i] + offset;
      dx[i] = factor * dy[i] + (form == SUMS ? start[i] : 0);
    }
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (y_got, want, count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
  if (form == OTHER_READER)
    {
      g_autofree double *dc = harness_read_gradient (h, tc);
      harness_assert_close (dc, dy, count, 0, "dc");
    }
}

static void
test_affine (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_affine (&shapes[i], amp, -1.75, 0.375, BOTH);
  for (guint amp = 0; amp < 2; amp++)
    {
      check_affine (&shapes[1], amp, 1, -0.5, SUMS);
      check_affine (&shapes[1], amp, 0.125, 0, OTHER_READER);
    }
}

static void
test_affine_numbers (void)
{
  const double values[8] = { 0 };
  const double wrong[] = { (double) NAN, (double) INFINITY, 1e300 };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
      DynoTensor *x = harness_input (h, "x", 1, 1, 1, 3, values);
      g_assert_null (dyno_affine (harness_graph (h), x, wrong[i], 0, "y"));
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

/* Parameters of channels ----------------------------------------------------------------------- */

/* accumulate: x and the parameter have a gradient already. */
static void
check_channels (const Shape *s, gboolean amp, gboolean adds, gboolean accumulate)
{
  gsize count = shape_count (s);
  const ReferenceScale shape = { 1, s->n * s->h * s->w, s->c };
  const char *name = adds ? "y.bias" : "y.weight";
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  g_autofree double *x = harness_random (1, count, 1), *v = harness_random (2, s->c, 1),
                    *dy = harness_random (3, count, 1), *dx_start = harness_random (4, count, 1),
                    *dv_start = harness_random (5, s->c, 1), *want = g_new (double, count),
                    *dx = g_new (double, count), *dv = g_new (double, s->c);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *y = adds ? dyno_add_channels (harness_graph (h), tx, "y", DYNO_INIT_ZERO)
                       : dyno_scale_channels (harness_graph (h), tx, "y", DYNO_INIT_ONE);
  harness_set_parameter (h, name, v);
  harness_set_gradient (h, y, dy);
  if (accumulate)
    {
      harness_set_gradient (h, tx, dx_start);
      harness_set_parameter_gradient (h, name, dv_start);
    }
  harness_run (h);
  reference_scale_forward (&shape, x, v, want);
  reference_scale_backward (&shape, x, v, dy, dx, dv);
  if (adds)
    memset (dv, 0, s->c * sizeof (double));
  for (gsize i = 0; i < count; i++)
    {
      if (adds)
        {
          want[i] = x[i] + v[i % s->c];
          dx[i] = dy[i];
          dv[i % s->c] += dy[i];
        }
      dx[i] += accumulate ? dx_start[i] : 0;
    }
  for (guint32 c = 0; c < s->c && accumulate; c++)
    dv[c] += dv_start[c];
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx),
                    *dv_got = harness_read_parameter_gradient (h, name);
  harness_assert_close (y_got, want, count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
  harness_assert_close (dv_got, dv, s->c, harness_tolerance (h), "the parameter's gradient");
}

static void
test_channels (gconstpointer adds)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_channels (&shapes[i], amp, GPOINTER_TO_INT (adds), FALSE);
  for (guint amp = 0; amp < 2; amp++)
    check_channels (&shapes[2], amp, GPOINTER_TO_INT (adds), TRUE);
}

/* A frozen parameter gets no gradient, and an x that needs none costs no separate pass. */
static void
test_frozen (void)
{
  const Shape *s = &shapes[1];
  gsize count = shape_count (s);
  g_autofree double *x = harness_random (1, count, 1), *v = harness_random (2, s->c, 1),
                    *dy = harness_random (3, count, 1), *dx = g_new (double, count),
                    *dv = g_new (double, s->c);
  reference_scale_backward (&(ReferenceScale){ 1, s->n * s->h * s->w, s->c }, x, v, dy, dx, dv);
  for (guint frozen = 0; frozen < 2; frozen++)
    {
      g_autoptr (Harness) h = harness_new (
          &(HarnessParams){ .training = TRUE, .batch = s->n, .freeze = frozen ? "y" : NULL });
      DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
      DynoTensor *y = dyno_scale_channels (harness_graph (h), tx, "y", DYNO_INIT_ONE);
      tx->needs_gradient = frozen;
      harness_set_parameter (h, "y.weight", v);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *got =
          frozen ? harness_read_gradient (h, tx) : harness_read_parameter_gradient (h, "y.weight");
      harness_assert_close (got, frozen ? dx : dv, frozen ? count : s->c, harness_tolerance (h),
                            "the gradient");
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/multiply/matches-reference", test_multiply);
  g_test_add_func ("/nn/multiply/a-tensor-by-itself", test_square);
  g_test_add_func ("/nn/multiply/shapes-must-agree", test_shapes);
  g_test_add_func ("/nn/by-a-number/matches-reference", test_affine);
  g_test_add_func ("/nn/by-a-number/must-be-finite", test_affine_numbers);
  g_test_add_data_func ("/nn/scale-channels/matches-reference", GINT_TO_POINTER (FALSE),
                        test_channels);
  g_test_add_func ("/nn/scale-channels/one-gradient-only", test_frozen);
  g_test_add_data_func ("/nn/add-channels/matches-reference", GINT_TO_POINTER (TRUE),
                        test_channels);
  return g_test_run ();
}
