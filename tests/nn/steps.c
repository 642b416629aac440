/* SPDX-License-Identifier: MIT */
/* Extracting one step of a sequence, an image's rows as steps, and pooling along the steps. */
#include "harness.h"
#include "reference/pool.h"
#include <string.h>

#define N 5
#define T 7
#define C 11

static const double lengths[N] = { 14, 5, 0, 3, 99 };
static const guint32 valid[N] = { 7, 2, 1, 1, 7 }; /* lengths with a stride of 2 */

typedef enum { LAST, MEAN, FIRST } Kind;

static void
reference_step (Kind kind, gboolean has_lengths, const double *x, double *y)
{
  for (guint n = 0; n < N; n++)
    for (guint c = 0; c < C; c++)
      {
        guint32 count = has_lengths ? valid[n] : T, place = kind == FIRST ? 0 : count - 1;
        y[n * C + c] = kind == MEAN ? 0 : x[(n * T + place) * C + c];
        for (guint t = 0; kind == MEAN && t < count; t++)
          y[n * C + c] += x[(n * T + t) * C + c] / count;
      }
}

static double
slope_of (Kind kind, gboolean has_lengths, guint n, guint t)
{
  guint32 count = has_lengths ? valid[n] : T;
  return kind == MEAN ? (t < count ? 1.0 / count : 0) : t == (kind == FIRST ? 0 : count - 1);
}

static void
check_step (Kind kind, gboolean has_lengths, gboolean amp, gboolean accumulate)
{
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = N });
  g_autofree double *x = harness_random (1, N * T * C, 1), *dy = harness_random (2, N * C, 1),
                    *start = harness_random (3, N * T * C, 1);
  DynoTensor *tx = harness_input (h, "x", N, 1, T, C, x);
  const DynoSequence sequence = {
    has_lengths ? harness_raw (h, "lengths", DYNO_DTYPE_I32, N, 1, 1, 1, lengths) : NULL, 2
  };
  DynoTensor *y = kind == FIRST  ? dyno_first_step (harness_graph (h), tx, "y")
                  : kind == MEAN ? dyno_mean_step (harness_graph (h), tx, "y", &sequence)
                                 : dyno_last_step (harness_graph (h), tx, "y", &sequence);
  double want[N * C], dx[N * T * C];
  harness_set_gradient (h, y, dy);
  if (accumulate)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  reference_step (kind, has_lengths, x, want);
  for (guint i = 0; i < N * T * C; i++)
    dx[i] = slope_of (kind, has_lengths, i / (T * C), i / C % T) * dy[i / (T * C) * C + i % C]
            + (accumulate ? start[i] : 0);
  g_autofree double *got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (got, want, N * C, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, N * T * C, harness_tolerance (h), "dx");
}

static void
test_step (void)
{
  for (guint form = 0; form < 8; form++)
    check_step (form & 1 ? MEAN : LAST, form & 2, form & 4, FALSE);
  for (guint form = 0; form < 2; form++)
    check_step (form ? MEAN : LAST, TRUE, FALSE, TRUE);
}

static void
test_first (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check_step (FIRST, FALSE, amp, FALSE);
  check_step (FIRST, FALSE, FALSE, TRUE);
}

/* y[n][h][w * C + c] = x[n][h][w][c] uses the same memory where both are dense. */
static void
test_rows (void)
{
  for (guint form = 0; form < 4; form++)
    {
      guint32 c = form & 1 ? 3 : 8;
      gsize count = (gsize) 2 * 4 * 5 * c;
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = form >= 2, .training = TRUE, .batch = 2 });
      g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1);
      DynoTensor *tx = harness_input (h, "x", 2, 4, 5, c, x),
                 *y = dyno_rows (harness_graph (h), tx, "rows");
      g_assert_cmpuint (y->h, ==, 1);
      g_assert_cmpuint (y->w, ==, 4);
      g_assert_cmpuint (y->c, ==, 5 * c);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *got = harness_read (h, y), *dx = harness_read_gradient (h, tx);
      g_assert_cmpmem (got, count * sizeof (double), x, count * sizeof (double));
      g_assert_cmpmem (dx, count * sizeof (double), dy, count * sizeof (double));
    }
}

/* Windows that end at the edge, and overlapping windows that reach past it. */
static void
test_pool (void)
{
  static const ReferencePool shapes[] = { { 2, 1, 9, 5, 2, 2, 0 }, { 3, 1, 8, 16, 3, 2, 1 } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (shapes); i++)
    {
      const ReferencePool *s = &shapes[i / 2];
      guint32 ow = (s->w + 2 * s->pad - s->kernel) / s->stride + 1;
      gsize nx = (gsize) s->n * s->w * s->c, ny = (gsize) s->n * ow * s->c;
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = i % 2, .training = TRUE, .batch = s->n });
      g_autofree double *x = harness_random (1, nx, 1), *dy = harness_random (2, ny, 1),
                        *want = g_new (double, ny), *dx = g_new0 (double, nx);
      DynoTensor *tx = harness_input (h, "x", s->n, 1, s->w, s->c, x),
                 *y = dyno_max_pool1d (harness_graph (h), tx, "y", s->kernel, s->stride, s->pad);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      for (gsize o = 0; o < ny; o++)
        {
          guint c = o % s->c, ox = (guint) (o / s->c) % ow, n = (guint) (o / s->c) / ow;
          gsize best = G_MAXSIZE;
          for (guint k = 0; k < s->kernel; k++)
            {
              guint w = ox * s->stride + k - s->pad;
              gsize at = ((gsize) n * s->w + w) * s->c + c;
              if (w < s->w && (best == G_MAXSIZE || x[at] > x[best]))
                best = at;
            }
          want[o] = x[best];
          dx[best] += dy[o];
        }
      g_autofree double *got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx);
      harness_assert_close (got, want, ny, harness_tolerance (h), "y");
      harness_assert_close (dx_got, dx, nx, harness_tolerance (h), "dx");
    }
}

static void
test_errors (void)
{
  const double values[24] = { 0 };
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
      g_autoptr (GError) error = NULL;
      DynoTensor *x = harness_input (h, "x", 2, i ? 1 : 2, 3, 2, values);
      const DynoSequence sequence = {
        i ? harness_raw (h, "lengths", DYNO_DTYPE_I32, 3, 1, 1, 1, values) : NULL, 1
      };
      g_assert_null (dyno_last_step (harness_graph (h), x, "y", &sequence));
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, i ? "lengths" : "not a sequence"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/steps/last-and-mean-match-reference", test_step);
  g_test_add_func ("/nn/steps/first", test_first);
  g_test_add_func ("/nn/steps/rows-of-an-image", test_rows);
  g_test_add_func ("/nn/steps/max-pool-along-a-sequence", test_pool);
  g_test_add_func ("/nn/steps/bad-shapes-are-errors", test_errors);
  return g_test_run ();
}
