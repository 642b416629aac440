/* SPDX-License-Identifier: MIT */
/* Softmax over the channels compared with a plain implementation in double. */
#include "harness.h"
#include <math.h>

typedef struct {
  guint32 n, h, w, c;
} Shape;

/* One value, whose softmax is 1; channels that are no multiple of 8; the tokens of a window, more
 * rows than a workgroup takes, in several images; rows of more accesses than a workgroup is wide;
 * rows of whole accesses. */
static const Shape shapes[] = { { 2, 1, 3, 1 },   { 1, 1, 1, 3 },     { 2, 3, 49, 49 },
                                { 3, 1, 2, 300 }, { 1, 2, 1, 65536 }, { 2, 1, 150, 16 } };

static gsize
count_of (const Shape *s)
{
  return (gsize) s->n * s->h * s->w * s->c;
}

static void
reference (const Shape *s, const double *x, const double *dy, double *y, double *dx)
{
  for (gsize row = 0; row < (gsize) s->n * s->h * s->w; row++)
    {
      const gsize at = row * s->c;
      double largest = -INFINITY, sum = 0, product = 0;
      for (guint32 c = 0; c < s->c; c++)
        largest = fmax (largest, x[at + c]);
      for (guint32 c = 0; c < s->c; c++)
        sum += exp (x[at + c] - largest);
      for (guint32 c = 0; c < s->c; c++)
        {
          y[at + c] = exp (x[at + c] - largest) / sum;
          product += dy[at + c] * y[at + c];
        }
      for (guint32 c = 0; c < s->c; c++)
        dx[at + c] = y[at + c] * (dy[at + c] - product);
    }
}

typedef struct {
  gboolean amp, accumulate, as_card;
  double offset; /* of all values of x */
} Options;

/* The loss scale of training keeps gradients above the smallest numbers of fp16; here dy grows with
 * the length of the row. */
static void
check (const Shape *s, Options o)
{
  gsize count = count_of (s);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = o.amp, .training = TRUE, .batch = s->n, .as_card = o.as_card });
  g_autofree double *x = harness_random (1, count, 4), *dy = harness_random (2, count, 1),
                    *start = harness_random (3, count, 1), *y = g_new (double, count),
                    *dx = g_new (double, count);
  double scale = exp2 (floor (log2 (s->c) / 2));
  for (gsize i = 0; i < count; i++)
    {
      x[i] = harness_round_f16 (x[i] + o.offset);
      dy[i] *= scale;
    }
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *ty = dyno_softmax (harness_graph (h), tx, "softmax");
  harness_set_gradient (h, ty, dy);
  if (o.accumulate)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  reference (s, x, dy, y, dx);
  for (gsize i = 0; i < count && o.accumulate; i++)
    dx[i] += start[i];
  g_autofree double *y_got = harness_read (h, ty), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (y_got, y, count, harness_tolerance (h), "y");
  if (s->c > 1 || o.accumulate)
    harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
  for (gsize i = 0; i < count && s->c == 1; i++)
    g_assert_true (y_got[i] == 1 && dx_got[i] == dx[i]);
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&shapes[i], (Options){ .amp = amp });
}

static void
test_accumulates (void)
{
  for (guint i = 0; i < 3; i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&shapes[i], (Options){ .amp = amp, .accumulate = TRUE });
}

static void
test_cards (void)
{
  for (guint i = 2; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&shapes[i], (Options){ .amp = amp, .as_card = TRUE });
}

/* Past the range of exp, on both sides; pads, which are 0, would be the maximum of negative
 * rows. */
static void
test_stable (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      check (&shapes[2], (Options){ .amp = amp, .offset = 1000 });
      check (&shapes[2], (Options){ .amp = amp, .offset = -1000 });
    }
}

/* A value of -infinity, as masks set it, takes no part; NaN makes its row NaN and no other. */
static void
test_special (void)
{
  const double x[2 * 8] = { 0, -INFINITY, 0, 0, -INFINITY, 0, -INFINITY, -INFINITY, 1, 2, NAN };
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp });
      DynoTensor *y =
          dyno_softmax (harness_graph (h), harness_input (h, "x", 1, 1, 2, 8, x), "softmax");
      harness_run (h);
      g_autofree double *got = harness_read (h, y);
      for (guint i = 0; i < 8; i++)
        {
          g_assert_cmpfloat (got[i], ==, x[i] == 0 ? 0.25 : 0);
          g_assert_true (isnan (got[8 + i]));
        }
    }
}

/* The gradient takes the memory of dy only where nothing else reads dy; x and y have other readers
 * too. */
static void
test_other_readers (void)
{
  const Shape *s = &shapes[2];
  gsize count = count_of (s);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = s->n });
  DynoGraph *graph = harness_graph (h);
  g_autofree double *x = harness_random (1, count, 4), *a = harness_random (2, count, 1),
                    *dz = harness_random (3, count, 1), *dr = harness_random (4, count, 1),
                    *y = g_new (double, count), *dx = g_new (double, count);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *ta = harness_input (h, "a", s->n, s->h, s->w, s->c, a);
  DynoTensor *r = dyno_relu (graph, tx, "r"), *ty = dyno_softmax (graph, tx, "softmax"),
             *z = dyno_add (graph, ty, ta, "z");
  harness_set_gradient (h, z, dz);
  harness_set_gradient (h, r, dr);
  harness_run (h);
  reference (s, x, dz, y, dx);
  for (gsize i = 0; i < count; i++)
    {
      dx[i] += x[i] > 0 ? dr[i] : 0;
      y[i] += a[i];
    }
  g_autofree double *z_got = harness_read (h, z), *dx_got = harness_read_gradient (h, tx),
                    *da_got = harness_read_gradient (h, ta);
  harness_assert_close (z_got, y, count, harness_tolerance (h), "z");
  harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
  harness_assert_close (da_got, dz, count, 0, "da");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/softmax/matches-reference", test_matches);
  g_test_add_func ("/nn/softmax/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/softmax/cards-match", test_cards);
  g_test_add_func ("/nn/softmax/large-values-do-not-overflow", test_stable);
  g_test_add_func ("/nn/softmax/infinity-and-nan", test_special);
  g_test_add_func ("/nn/softmax/other-readers-keep-their-gradients", test_other_readers);
  return g_test_run ();
}
