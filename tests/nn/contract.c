/* SPDX-License-Identifier: MIT */
/* Contractions against a sum in double over the same digits, and their gradients. */
#include "harness.h"
#include <string.h>

#define MOST 6

/* Extents of the result's digits and of the summed ones, and the strides in a and b; a and b have
 * their own number of samples. */
typedef struct {
  const char *name;
  guint32 n_a, n_b;
  guint32 a[3], b[3], y[3]; /* height, width, channels; b[0] 0: there is no b */
  DynoContractPart parts[MOST];
  guint n_out, n_summed;
  double scale;
} Case;

static const Case cases[] = {
  /* two heads of 3 values: queries times keys, and scores times values */
  { "scores",
    2,
    2,
    { 1, 5, 6 },
    { 1, 7, 6 },
    { 2, 5, 7 },
    { { 2, 3, 3 }, { 5, 6, 0 }, { 7, 0, 6 }, { 3, 1, 1 } },
    3,
    1,
    0.5 },
  { "values",
    2,
    2,
    { 2, 5, 7 },
    { 1, 7, 6 },
    { 1, 5, 6 },
    { { 5, 7, 0 }, { 2, 35, 3 }, { 3, 0, 1 }, { 7, 1, 6 } },
    3,
    1,
    0 },
  /* a factor of each channel that all samples share, of each pixel, of each sample and channel */
  { "by channel",
    3,
    1,
    { 2, 3, 9 },
    { 1, 1, 9 },
    { 2, 3, 9 },
    { { 6, 9, 0 }, { 9, 1, 1 } },
    2,
    0,
    0 },
  { "by pixel",
    2,
    2,
    { 4, 3, 5 },
    { 4, 3, 1 },
    { 4, 3, 5 },
    { { 12, 5, 1 }, { 5, 1, 0 } },
    2,
    0,
    2 },
  { "gate", 2, 2, { 3, 3, 8 }, { 1, 1, 8 }, { 3, 3, 8 }, { { 9, 8, 0 }, { 8, 1, 1 } }, 2, 0, 0 },
  /* the first operand is shared, the second has samples */
  { "shared first",
    1,
    3,
    { 1, 4, 3 },
    { 1, 3, 5 },
    { 1, 4, 5 },
    { { 4, 3, 0 }, { 5, 0, 1 }, { 3, 1, 5 } },
    2,
    1,
    0 },
  /* sums and means, of the outer, an inner and all axes; repeated values */
  { "sum of rows",
    2,
    0,
    { 1, 6, 10 },
    { 0 },
    { 1, 1, 10 },
    { { 10, 1, 0 }, { 6, 10, 0 } },
    1,
    1,
    0 },
  { "mean of channels",
    2,
    0,
    { 1, 6, 10 },
    { 0 },
    { 1, 6, 1 },
    { { 6, 10, 0 }, { 10, 1, 0 } },
    1,
    1,
    0.1 },
  { "sum of all", 2, 0, { 2, 3, 4 }, { 0 }, { 1, 1, 1 }, { { 24, 1, 0 } }, 0, 1, 0 },
  { "repeated",
    2,
    0,
    { 1, 3, 4 },
    { 0 },
    { 5, 3, 8 },
    { { 5, 0, 0 }, { 3, 4, 0 }, { 2, 0, 0 }, { 4, 1, 0 } },
    4,
    0,
    0 },
  /* each operand has a summed digit of its own */
  { "sums of both",
    2,
    2,
    { 1, 3, 4 },
    { 1, 3, 2 },
    { 1, 1, 3 },
    { { 3, 4, 2 }, { 4, 1, 0 }, { 2, 0, 1 } },
    1,
    2,
    0 },
  /* squares */
  { "squares", 2, 2, { 1, 5, 9 }, { 1, 5, 9 }, { 1, 5, 1 }, { { 5, 9, 9 }, { 9, 1, 1 } }, 1, 1, 0 },
  /* nothing but one value */
  { "one value", 1, 1, { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 }, { { 1, 1, 1 } }, 1, 0, 0 },
};

/* Products that fill tiles: odd edges, several samples, rows in either order in memory, an operand
 * that samples share, two parts for a row. */
static const Case large[] = {
  { "tile",
    2,
    2,
    { 2, 70, 20 },
    { 2, 20, 66 },
    { 2, 70, 66 },
    { { 2, 1400, 1320 }, { 70, 20, 0 }, { 66, 0, 1 }, { 20, 1, 66 } },
    3,
    1,
    0.25 },
  { "turned tile",
    1,
    1,
    { 1, 20, 33 },
    { 1, 17, 20 },
    { 1, 33, 17 },
    { { 33, 1, 0 }, { 17, 0, 20 }, { 20, 33, 1 } },
    2,
    1,
    0 },
  { "shared tile",
    3,
    1,
    { 1, 18, 24 },
    { 1, 24, 40 },
    { 1, 18, 40 },
    { { 18, 24, 0 }, { 40, 0, 1 }, { 24, 1, 40 } },
    2,
    1,
    0 },
  { "rows of two parts",
    2,
    2,
    { 5, 12, 9 },
    { 1, 16, 12 },
    { 9, 16, 5 },
    { { 9, 1, 0 }, { 16, 0, 12 }, { 5, 108, 0 }, { 12, 9, 1 } },
    3,
    1,
    0 },
};

static guint32
size_of (const guint32 *shape)
{
  return shape[0] * shape[1] * shape[2];
}

typedef struct {
  gboolean amp, accumulate, as_card;
} Options;

static DynoTensor *
append (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const Case *s)
{
  return dyno_contract (graph, a, b, s->name,
                        &(DynoContractParams){ s->y[0], s->y[1], s->y[2], s->parts, s->n_out,
                                               s->n_summed, 0, s->scale, s->b[0] > 0 });
}

/* Adds to y the products, and to da and db those with dy. */
static void
reference (const Case *s, const double *a, const double *b, const double *dy, double *y, double *da,
           double *db)
{
  const guint n = s->n_out + s->n_summed, samples = MAX (s->n_a, s->n_b);
  const double scale = s->scale == 0 ? 1 : s->scale;
  gsize count = 1;

  for (guint i = 0; i < n; i++)
    count *= s->parts[i].extent;
  for (guint sample = 0; sample < samples; sample++)
    for (gsize k = 0; k < count; k++)
      {
        gsize rest = k, in_a = 0, in_b = 0, in_y = 0, stride = 1;
        for (guint i = n; i-- > 0; rest /= s->parts[i].extent)
          {
            gsize digit = rest % s->parts[i].extent;
            in_a += digit * s->parts[i].a;
            in_b += digit * s->parts[i].b;
            in_y += i < s->n_out ? digit * stride : 0;
            stride *= i < s->n_out ? s->parts[i].extent : 1;
          }
        in_a += s->n_a > 1 ? (gsize) sample * size_of (s->a) : 0;
        in_b += s->n_b > 1 ? (gsize) sample * size_of (s->b) : 0;
        in_y += (gsize) sample * size_of (s->y);
        double factor = b ? b[in_b] : 1;
        y[in_y] += scale * a[in_a] * factor;
        da[in_a] += scale * dy[in_y] * factor;
        if (b)
          db[in_b] += scale * dy[in_y] * a[in_a];
      }
}

static void
check (const Case *s, Options o)
{
  const guint samples = MAX (s->n_a, s->n_b);
  const gsize of_a = (gsize) s->n_a * size_of (s->a), of_b = (gsize) s->n_b * size_of (s->b),
              of_y = (gsize) samples * size_of (s->y);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = o.amp, .training = TRUE, .batch = samples, .as_card = o.as_card });
  g_autofree double *a = harness_random (1, of_a, 1), *dy = harness_random (3, of_y, 1),
                    *start = harness_random (4, of_a, 1), *y = g_new0 (double, of_y),
                    *b = of_b > 0 ? harness_random (2, of_b, 1) : NULL, *da = g_new0 (double, of_a),
                    *db = g_new0 (double, of_b + 1);
  DynoTensor *ta = harness_input (h, "a", s->n_a, s->a[0], s->a[1], s->a[2], a),
             *tb = b ? harness_input (h, "b", s->n_b, s->b[0], s->b[1], s->b[2], b) : NULL,
             *ty = append (harness_graph (h), ta, tb, s);

  g_assert_nonnull (ty);
  g_assert_true (ty->n == samples && ty->h == s->y[0] && ty->w == s->y[1] && ty->c == s->y[2]);
  harness_set_gradient (h, ty, dy);
  if (o.accumulate)
    {
      harness_set_gradient (h, ta, start);
      memcpy (da, start, of_a * sizeof *da);
    }
  harness_run (h);
  reference (s, a, b, dy, y, da, db);
  g_autofree double *got = harness_read (h, ty), *got_a = harness_read_gradient (h, ta);
  harness_assert_close (got, y, of_y, harness_tolerance (h), s->name);
  harness_assert_close (got_a, da, of_a, harness_tolerance (h), s->name);
  if (b)
    {
      g_autofree double *got_b = harness_read_gradient (h, tb);
      harness_assert_close (got_b, db, of_b, harness_tolerance (h), s->name);
    }
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], (Options){ .amp = amp, .accumulate = i % 2 == 1 });
}

static void
test_tiles (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (large); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&large[i], (Options){ .amp = amp, .accumulate = i % 2 == 0, .as_card = TRUE });
  check (&large[1], (Options){ .amp = FALSE });
}

/* Long sums are shared by several invocations: on a card, and on a software device where one
 * invocation may not count so far. */
static void
test_long_sums (void)
{
  const Case card = { "long",
                      2,
                      2,
                      { 1, 515, 3 },
                      { 1, 515, 1 },
                      { 1, 1, 3 },
                      { { 3, 1, 0 }, { 515, 3, 1 } },
                      1,
                      1,
                      0 },
             software = { "longest",
                          1,
                          0,
                          { 1, 70001, 2 },
                          { 0 },
                          { 1, 1, 2 },
                          { { 2, 1, 0 }, { 70001, 2, 0 } },
                          1,
                          1,
                          1.0 / 256 };

  for (guint amp = 0; amp < 2; amp++)
    check (&card, (Options){ .amp = amp, .as_card = TRUE });
  check (&software, (Options){ .amp = FALSE });
}

/* A shared operand gets the sum of the gradients of all samples; a constant gets none. */
static void
test_constant (void)
{
  static const float table[] = { 2, -1, 3 };
  const double x[] = { 1, 2, 3, 4, 5, 6 }, dy[] = { 1, 1, 1, 2, 2, 2 },
               want[] = { 2, -2, 9, 8, -5, 18 }, dx[] = { 2, -1, 3, 4, -2, 6 };
  const DynoContractPart part = { 3, 1, 1 };

  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = 2 });
      DynoTensor *tx = harness_input (h, "x", 2, 1, 1, 3, x),
                 *c = dyno_graph_constant (harness_graph (h), "table", DYNO_DTYPE_F32, 1, 1, 3,
                                           table),
                 *y = dyno_contract (harness_graph (h), tx, c, "y",
                                     &(DynoContractParams){ 1, 1, 3, &part, 1, 0, 0, 0, TRUE });
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *got = harness_read (h, y), *got_x = harness_read_gradient (h, tx);
      harness_assert_close (got, want, 6, 0, "y");
      harness_assert_close (got_x, dx, 6, 0, "dx");
      g_assert_null (c->gradient);
    }
}

static void
assert_fails (const DynoContractParams *params)
{
  const double values[2 * 12] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
  g_autoptr (GError) error = NULL;
  DynoTensor *a = harness_input (h, "a", 2, 1, 3, 4, values);

  g_assert_null (dyno_contract (harness_graph (h), a, NULL, "y", params));
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
}

static void
test_errors (void)
{
  const DynoContractPart whole[] = { { 12, 1, 0 } }, part[] = { { 3, 4, 0 } },
                         twice[] = { { 12, 1, 0 }, { 12, 1, 0 } },
                         gap[] = { { 3, 4, 0 }, { 4, 2, 0 } },
                         huge[] = { { 12, 1, 0 }, { 1u << 31, 0, 0 }, { 1u << 31, 0, 0 } };
  DynoContractPart many[12];

  for (guint i = 0; i < 11; i++)
    many[i] = (DynoContractPart){ 2, 0, 0 };
  many[11] = (DynoContractPart){ 12, 1, 0 };
  for (guint i = 0; i < 11; i += 2) /* parts that lie apart are not joined */
    many[i].b = 1u << (2 * i);
  assert_fails (&(DynoContractParams){ 1, 1, 13, whole, 1, 0, 0, 0, FALSE });
  assert_fails (&(DynoContractParams){ 1, 1, 3, part, 1, 0, 0, 0, FALSE });
  assert_fails (&(DynoContractParams){ 1, 12, 12, twice, 2, 0, 0, 0, FALSE });
  assert_fails (&(DynoContractParams){ 1, 3, 4, gap, 2, 0, 0, 0, FALSE });
  assert_fails (&(DynoContractParams){ 1, 1, 12, huge, 1, 2, 0, 0, FALSE });
  assert_fails (&(DynoContractParams){ 32, 64, 12, many, 12, 0, 0, 0, FALSE });
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/contract/values-and-gradients-match", test_matches);
  g_test_add_func ("/nn/contract/tiles-match", test_tiles);
  g_test_add_func ("/nn/contract/long-sums-are-shared", test_long_sums);
  g_test_add_func ("/nn/contract/constants-have-no-gradient", test_constant);
  g_test_add_func ("/nn/contract/rejects-bad-shapes", test_errors);
  return g_test_run ();
}
