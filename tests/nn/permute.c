/* SPDX-License-Identifier: MIT */
/* permute copies, so values and gradients are exact where nothing is added. */
#include "harness.h"
#include <string.h>

#define MOST 9

/* The sample of x (n, h, w, c) has these axes, which are then put into another order, as (to_h,
 * to_w, to_c). */
typedef struct {
  guint32 n, h, w, c;
  guint32 axes[MOST + 1];
  guint perm[MOST];
  guint32 to_h, to_w, to_c;
} Case;

static const Case cases[] = {
  /* tokens and channels, both odd */
  { 2, 1, 5, 7, { 5, 7 }, { 1, 0 }, 1, 7, 5 },
  /* windows of 2 x 3 pixels, whole accesses */
  { 2, 4, 6, 16, { 2, 2, 2, 3, 16 }, { 0, 2, 1, 3, 4 }, 1, 24, 16 },
  /* the same with channels off the multiple of 8 */
  { 1, 4, 6, 20, { 2, 2, 2, 3, 20 }, { 0, 2, 1, 3, 4 }, 4, 6, 20 },
  /* pixel shuffle, and back */
  { 3, 3, 5, 12, { 3, 5, 3, 2, 2 }, { 0, 3, 1, 4, 2 }, 6, 10, 3 },
  { 3, 6, 10, 3, { 3, 2, 5, 2, 3 }, { 0, 2, 4, 1, 3 }, 3, 5, 12 },
  /* flattened in its own order, with and without pads between the pixels */
  { 2, 3, 5, 7, { 105 }, { 0 }, 1, 1, 105 },
  { 2, 3, 5, 16, { 240 }, { 0 }, 1, 1, 240 },
  /* whole accesses on one side only, and the other way */
  { 2, 1, 5, 8, { 40 }, { 0 }, 1, 2, 20 },
  { 2, 1, 2, 20, { 40 }, { 0 }, 1, 5, 8 },
  /* flattened channels first, and one value a pixel */
  { 1, 3, 5, 9, { 3, 5, 9 }, { 2, 0, 1 }, 1, 1, 135 },
  { 2, 1, 1, 30, { 5, 6 }, { 1, 0 }, 6, 5, 1 },
  /* as many parts as possible; axes of one value are removed */
  { 2, 4, 4, 16, { 2, 2, 2, 2, 2, 2, 2, 2 }, { 7, 6, 5, 4, 3, 2, 1, 0 }, 4, 4, 16 },
  { 1, 4, 4, 32, { 2, 2, 1, 2, 2, 2, 2, 2, 4 }, { 2, 0, 4, 1, 3, 6, 5, 7, 8 }, 8, 1, 64 },
  /* more accesses than a software device's workgroups have invocations */
  { 2, 64, 65, 16, { 64, 65, 16 }, { 1, 0, 2 }, 65, 64, 16 },
  { 1, 64, 65, 17, { 64, 65, 17 }, { 2, 1, 0 }, 17, 65, 64 },
};

static guint
count_axes (const Case *s)
{
  guint n = 0;

  while (n < MOST && s->axes[n])
    n++;
  return n;
}

static gsize
sample_size (const Case *s)
{
  return (gsize) s->h * s->w * s->c;
}

static void
take_parts (const Case *s, DynoPermutePart *parts)
{
  guint n = count_axes (s);
  guint32 stride[MOST], all = 1;

  for (guint i = n; i-- > 0; all *= s->axes[i])
    stride[i] = all;
  for (guint i = 0; i < n; i++)
    parts[i] = (DynoPermutePart){ s->axes[s->perm[i]], stride[s->perm[i]] };
}

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const Case *s, const char *name)
{
  DynoPermutePart parts[MOST];

  take_parts (s, parts);
  return dyno_permute (graph, x, name,
                       &(DynoPermuteParams){ s->to_h, s->to_w, s->to_c, parts, count_axes (s) });
}

/* The index in the result of the value at `place` in a sample of x: the mixed-radix digits of the
 * index, composed in the other order. */
static gsize
moved (const Case *s, gsize place)
{
  guint n = count_axes (s);
  guint32 digit[MOST];
  gsize to = 0;

  for (guint i = n; i-- > 0; place /= s->axes[i])
    digit[i] = (guint32) (place % s->axes[i]);
  for (guint i = 0; i < n; i++)
    to = to * s->axes[s->perm[i]] + digit[s->perm[i]];
  return to;
}

typedef struct {
  gboolean amp, accumulate, as_card;
} Options;

static void
check (const Case *s, Options o)
{
  const gsize size = sample_size (s), count = s->n * size;
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = o.amp, .training = TRUE, .batch = s->n, .as_card = o.as_card });
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                    *start = harness_random (3, count, 1), *want = g_new (double, count),
                    *dx = g_new (double, count);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *ty = append (harness_graph (h), tx, s, "y");

  g_assert_nonnull (ty);
  g_assert_true (ty->n == s->n && ty->h == s->to_h && ty->w == s->to_w && ty->c == s->to_c);
  harness_set_gradient (h, ty, dy);
  if (o.accumulate)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  for (gsize i = 0; i < count; i++)
    {
      gsize to = i - i % size + moved (s, i % size);
      want[to] = x[i];
      dx[i] = dy[to] + (o.accumulate ? start[i] : 0);
    }
  g_autofree double *got = harness_read (h, ty), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (got, want, count, 0, "y");
  harness_assert_close (dx_got, dx, count, o.accumulate ? harness_tolerance (h) : 0, "dx");
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], (Options){ .amp = amp });
}

static void
test_accumulates (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      check (&cases[0], (Options){ .amp = amp, .accumulate = TRUE });
      check (&cases[1], (Options){ .amp = amp, .accumulate = TRUE });
    }
}

/* GPUs transpose by tiles: with edges on both axes, axes around and between the two, and pads. */
static void
test_tiles (void)
{
  static const Case large[] = {
    { 2, 1, 49, 20, { 49, 20 }, { 1, 0 }, 1, 20, 49 },
    { 1, 1, 64, 32, { 64, 32 }, { 1, 0 }, 1, 32, 64 },
    { 2, 6, 17, 66, { 3, 2, 17, 2, 33 }, { 1, 4, 0, 3, 2 }, 33, 12, 17 },
    { 3, 5, 40, 16, { 5, 40, 16 }, { 0, 2, 1 }, 1, 5, 640 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (large); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&large[i], (Options){ .amp = amp, .accumulate = i % 2 == 0, .as_card = TRUE });
  /* a size that is too small for tiles */
  check (&cases[0], (Options){ .as_card = TRUE });
}

/* Nothing moves, so the result is x itself. */
static void
test_identity (void)
{
  const Case s = { 2, 3, 5, 7, { 3, 5, 7 }, { 0, 1, 2 }, 3, 5, 7 };
  const double values[2 * 3 * 5 * 7] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
  DynoTensor *x = harness_input (h, "x", 2, 3, 5, 7, values);

  g_assert_true (append (harness_graph (h), x, &s, "y") == x);
}

static void
assert_fails (const DynoPermuteParams *params, const char *words)
{
  const double values[2 * 4 * 4 * 32] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
  g_autoptr (GError) error = NULL;
  DynoTensor *x = harness_input (h, "x", 2, 4, 4, 32, values);

  g_assert_null (dyno_permute (harness_graph (h), x, "y", params));
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
  if (!strstr (error->message, words))
    g_error ("“%s” lacks “%s”", error->message, words);
}

static void
test_errors (void)
{
  const DynoPermutePart twice[] = { { 16, 16 }, { 32, 16 } }, few[] = { { 16, 1 }, { 16, 16 } },
                        many[] = { { 2, 1 },  { 2, 2 },  { 2, 4 },   { 2, 8 },  { 2, 16 },
                                   { 2, 32 }, { 2, 64 }, { 2, 128 }, { 2, 256 } },
                        whole[] = { { 512, 1 } };

  assert_fails (&(DynoPermuteParams){ 4, 4, 32, twice, 2 }, "is not a permutation of the values");
  assert_fails (&(DynoPermuteParams){ 4, 4, 32, few, 2 }, "is not a permutation of the values");
  assert_fails (&(DynoPermuteParams){ 4, 4, 16, whole, 1 }, "is not a permutation of the values");
  assert_fails (&(DynoPermuteParams){ 4, 4, 32, many, 9 }, "a permutation of 9 parts");
  assert_fails (&(DynoPermuteParams){ 1u << 20, 1u << 20, 1u << 20, whole, 1 }, "too many values");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/permute/matches-reference", test_matches);
  g_test_add_func ("/nn/permute/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/permute/cards-take-tiles", test_tiles);
  g_test_add_func ("/nn/permute/no-order-is-no-op", test_identity);
  g_test_add_func ("/nn/permute/bad-orders-are-errors", test_errors);
  return g_test_run ();
}
