/* SPDX-License-Identifier: MIT */
/* gather copies, so values are exact; gradients are sums of the readers of a value. */
#include "harness.h"
#include "network.h"
#include <string.h>

/* The index for value i of the result, (count) values from `all` values of a sample; pick differs
 * from case to case. */
typedef enum {
  PICK_REVERSED,  /* each value once */
  PICK_SCATTERED, /* some values several times, others never, and zeros */
  PICK_SHIFTED,   /* pixels in another place, whole accesses */
  PICK_REFLECTED, /* the first pixels twice, whole accesses */
  PICK_WIDENED,   /* the channels of a pixel, then zeros */
  PICK_OFFSET,    /* whole accesses that begin inside of accesses */
  PICK_FIRST,     /* one value for all */
} Pick;

typedef struct {
  guint32 n, h, w, c, to_h, to_w, to_c;
  Pick pick;
} Case;

static const Case cases[] = {
  { 2, 3, 5, 7, 5, 1, 21, PICK_REVERSED },
  { 1, 2, 4, 8, 2, 4, 8, PICK_REVERSED },
  { 3, 2, 3, 5, 4, 3, 9, PICK_SCATTERED },
  { 1, 4, 2, 16, 1, 3, 8, PICK_SCATTERED },
  { 2, 3, 4, 16, 3, 4, 16, PICK_SHIFTED },
  { 2, 3, 4, 12, 3, 4, 12, PICK_SHIFTED },
  { 2, 2, 3, 5, 2, 3, 5, PICK_SHIFTED },
  { 2, 1, 6, 16, 1, 8, 16, PICK_REFLECTED },
  { 2, 1, 6, 3, 1, 8, 3, PICK_REFLECTED },
  /* zeros of the result where the source has pads, whose gradient must stay zero */
  { 2, 1, 3, 5, 1, 3, 8, PICK_WIDENED },
  /* channels of the source where the result has pads */
  { 2, 1, 3, 8, 1, 3, 5, PICK_WIDENED },
  { 2, 1, 3, 16, 1, 3, 8, PICK_OFFSET },
  { 1, 1, 1, 9, 2, 40, 3, PICK_FIRST },
  /* more accesses than a software device's workgroups have invocations */
  { 2, 64, 65, 16, 65, 64, 16, PICK_REVERSED },
  { 2, 64, 65, 16, 66, 64, 16, PICK_SCATTERED },
};

static gsize
count_of (const Case *s)
{
  return (gsize) s->to_h * s->to_w * s->to_c;
}

/* from of the case, for a source of `all` values; g_free */
static gint32 *
make_from (const Case *s, gsize all)
{
  const gsize count = count_of (s), pixels = all / s->c;
  gint32 *from = g_new (gint32, count);

  for (gsize i = 0; i < count; i++)
    {
      const gsize c = i % s->to_c, pixel = i / s->to_c;
      gsize at = 0;
      switch (s->pick)
        {
        case PICK_REVERSED:
          at = count - 1 - i;
          break;
        case PICK_SCATTERED:
          at = i * i * 7 % (all * 2 / 3 + 1);
          break;
        case PICK_SHIFTED:
          at = (pixel + 2) % pixels * s->c + c;
          break;
        case PICK_REFLECTED:
          at = (pixel < 2 ? 2 - pixel : pixel - 2) * s->c + c;
          break;
        case PICK_WIDENED:
          at = pixel * s->c + c;
          break;
        case PICK_OFFSET:
          at = pixel * s->c + 3 + c;
          break;
        case PICK_FIRST:
          break;
        }
      from[i] = (s->pick == PICK_SCATTERED && i % 11 == 3) || (s->pick == PICK_WIDENED && c >= s->c)
                    ? -1
                    : (gint32) at;
    }
  return from;
}

typedef struct {
  gboolean amp, accumulate;
} Options;

static void
check (const Case *s, Options o)
{
  const gsize size = (gsize) s->h * s->w * s->c, count = count_of (s);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = o.amp, .training = TRUE, .batch = s->n });
  g_autofree double *x = harness_random (1, s->n * size, 1),
                    *dy = harness_random (2, s->n * count, 1),
                    *start = harness_random (3, s->n * size, 1), *y = g_new0 (double, s->n *count),
                    *dx = g_new0 (double, s->n *size);
  g_autofree gint32 *from = make_from (s, size);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *ty = dyno_gather (harness_graph (h), tx, "y",
                                &(DynoGatherParams){ s->to_h, s->to_w, s->to_c, from });

  g_assert_nonnull (ty);
  g_assert_true (ty->n == s->n && ty->h == s->to_h && ty->w == s->to_w && ty->c == s->to_c);
  /* The indices are copied. */
  g_autofree gint32 *kept = g_memdup2 (from, count * sizeof *from);
  memset (from, 0, count * sizeof *from);
  harness_set_gradient (h, ty, dy);
  if (o.accumulate)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  for (gsize i = 0; i < s->n * size; i++)
    dx[i] = o.accumulate ? start[i] : 0;
  for (gsize n = 0; n < s->n; n++)
    for (gsize i = 0; i < count; i++)
      if (kept[i] >= 0)
        {
          y[n * count + i] = x[n * size + (gsize) kept[i]];
          dx[n * size + (gsize) kept[i]] += dy[n * count + i];
        }
  g_autofree double *got = harness_read (h, ty), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (got, y, s->n * count, 0, "y");
  harness_assert_close (dx_got, dx, s->n * size, harness_tolerance (h), "dx");
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
  for (guint i = 0; i < 13; i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], (Options){ .amp = amp, .accumulate = TRUE });
}

/* --- parameters ------------------------------------------------------------------------------- */

/* A parameter of these axes, which lies in memory in their order, with the last one padded. */
static DynoParameterLayout
plain_layout (const guint32 dims[4])
{
  DynoParameterLayout layout = { .extent = { 1, 1, 1, 1 }, .padded = { 1, 1, 1, 1 } };

  for (guint i = 0; i < 4; i++)
    layout.order[i] = (guint8) i;
  for (; layout.n_dims < 4 && dims[layout.n_dims]; layout.n_dims++)
    layout.extent[layout.n_dims] = layout.padded[layout.n_dims] = dims[layout.n_dims];
  guint32 *last = &layout.padded[layout.n_dims - 1];
  *last = (*last + 7) & ~7u;
  return layout;
}

typedef struct {
  gboolean amp, accumulate, twice;
  const char *freeze;
} ParameterOptions;

/* The case's result from the parameter; h, w and c of the case are not read but for c, the last
 * axis. */
static void
check_parameter (const DynoParameterLayout *layout, const Case *s, ParameterOptions o)
{
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = o.amp, .training = TRUE, .freeze = o.freeze });
  DynoGraph *graph = harness_graph (h);
  const DynoParameter *p = dyno_graph_parameter (graph, "p", layout, DYNO_INIT_ZERO, FALSE),
                      *other = dyno_graph_parameter (graph, "q", layout, DYNO_INIT_ZERO, FALSE);
  const gsize size = dyno_parameter_count (p), count = count_of (s);
  g_autofree double *values = harness_random (1, size, 1), *dy = harness_random (2, count, 1),
                    *start = harness_random (3, size, 1), *y = g_new0 (double, count),
                    *dp = g_new0 (double, size), *dq = g_new0 (double, size);
  g_autofree gint32 *from = make_from (s, size);
  const DynoGatherParams params = { s->to_h, s->to_w, s->to_c, from };
  DynoTensor *ty = dyno_gather_parameter (graph, p, "y", &params),
             *tz = dyno_gather_parameter (graph, o.twice ? p : other, "z", &params);

  g_assert_true (ty->n == 1 && ty->h == s->to_h && ty->w == s->to_w && ty->c == s->to_c);
  g_assert_true (ty->needs_gradient == (o.freeze == NULL) && tz->needs_gradient);
  harness_set_parameter (h, "p", values);
  harness_set_parameter (h, "q", values);
  if (!o.freeze)
    harness_set_gradient (h, ty, dy);
  harness_set_gradient (h, tz, dy);
  if (o.accumulate)
    harness_set_parameter_gradient (h, "p", start);
  harness_run (h);
  for (gsize i = 0; i < size && o.accumulate; i++)
    dp[i] = start[i];
  for (gsize i = 0; i < count; i++)
    if (from[i] >= 0)
      {
        y[i] = values[from[i]];
        dp[from[i]] += o.twice ? 2 * dy[i] : dy[i];
        dq[from[i]] += o.twice ? 0 : dy[i];
      }
  g_autofree double *y_got = harness_read (h, ty), *z_got = harness_read (h, tz),
                    *dq_got = harness_read_parameter_gradient (h, "q"),
                    *dp_got = o.freeze ? NULL : harness_read_parameter_gradient (h, "p");
  harness_assert_close (y_got, y, count, 0, "y");
  harness_assert_close (z_got, y, count, 0, "z");
  harness_assert_close (dq_got, dq, size, 1e-7, "dq");
  if (dp_got)
    harness_assert_close (dp_got, dp, size, 1e-7, "dp");
}

static void
test_parameters (void)
{
  static const struct {
    guint32 dims[4];
    Case to;
  } rows[] = {
    { { 24 }, { .c = 24, .to_h = 1, .to_w = 1, .to_c = 24, .pick = PICK_REVERSED } },
    { { 13 }, { .c = 13, .to_h = 2, .to_w = 3, .to_c = 5, .pick = PICK_SCATTERED } },
    /* a table of relative positions */
    { { 9, 3 }, { .c = 3, .to_h = 4, .to_w = 4, .to_c = 3, .pick = PICK_SCATTERED } },
    { { 6, 16 }, { .c = 16, .to_h = 1, .to_w = 6, .to_c = 16, .pick = PICK_SHIFTED } },
    { { 2, 3, 7 }, { .c = 7, .to_h = 2, .to_w = 3, .to_c = 7, .pick = PICK_SHIFTED } },
    { { 2, 2, 3, 5 }, { .c = 5, .to_h = 5, .to_w = 2, .to_c = 6, .pick = PICK_REVERSED } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        const DynoParameterLayout layout = plain_layout (rows[i].dims);
        check_parameter (&layout, &rows[i].to, (ParameterOptions){ .amp = amp });
        check_parameter (&layout, &rows[i].to,
                         (ParameterOptions){ .amp = amp, .accumulate = TRUE, .twice = TRUE });
        if (amp || i == 2)
          check_parameter (&layout, &rows[i].to, (ParameterOptions){ .amp = amp, .freeze = "p" });
      }
}

/* Other layouts: indices are in torchvision's order, whatever the order in memory. */
static void
test_layouts (void)
{
  const DynoParameterLayout conv = dyno_layout_conv (5, 3, 2, 3),
                            linear = dyno_layout_linear (9, 2, 3, 4),
                            vector = dyno_layout_vector (11);

  for (guint amp = 0; amp < 2; amp++)
    {
      const ParameterOptions o = { .amp = amp };
      check_parameter (&conv, &(Case){ .c = 3, .to_h = 3, .to_w = 5, .to_c = 6 }, o);
      check_parameter (&linear, &(Case){ .c = 4, .to_h = 9, .to_w = 1, .to_c = 24 }, o);
      check_parameter (
          &vector, &(Case){ .c = 11, .to_h = 3, .to_w = 1, .to_c = 9, .pick = PICK_SCATTERED }, o);
    }
}

/* --- special cases ---------------------------------------------------------------------------- */

static void
test_identity (void)
{
  const double values[2 * 3] = { 0 };
  const gint32 from[] = { 0, 1, 2 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
  DynoTensor *x = harness_input (h, "x", 2, 1, 1, 3, values);

  g_assert_true (dyno_gather (harness_graph (h), x, "y", &(DynoGatherParams){ 1, 1, 3, from })
                 == x);
  g_assert_true (dyno_gather (harness_graph (h), x, "z", &(DynoGatherParams){ 1, 3, 1, from })
                 != x);
}

static void
assert_fails (const DynoGatherParams *params, const char *words)
{
  const double values[2 * 3] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
  g_autoptr (GError) error = NULL;
  DynoTensor *x = harness_input (h, "x", 2, 1, 1, 3, values);

  g_assert_null (dyno_gather (harness_graph (h), x, "y", params));
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
  if (!strstr (error->message, words))
    g_error ("“%s” lacks “%s”", error->message, words);
}

/* A gradient that is the sum of too many values, where the graph has a backward pass. */
static void
assert_many (guint32 count, gboolean fails)
{
  g_autofree gint32 *from = g_new0 (gint32, count);
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1, .training = TRUE });
  DynoTensor *x = dyno_graph_activation (graph, "x", 1, 1, 1, 3);
  gboolean accumulate;

  x->needs_gradient = TRUE;
  DynoTensor *y = dyno_gather (graph, x, "y", &(DynoGatherParams){ 1, count / 8, 8, from });
  dyno_graph_gradient_target (graph, y, &accumulate);
  dyno_graph_backward (graph);
  g_assert_true (dyno_graph_check (graph, NULL) != fails);
}

static void
test_errors (void)
{
  const gint32 past[] = { 0, 3 }, negative[] = { 0, -2 };

  assert_fails (&(DynoGatherParams){ 1, 1, 2, past }, "the index 3 is not among the 3 values");
  assert_fails (&(DynoGatherParams){ 1, 1, 2, negative }, "the index -2 is not among");
  assert_fails (&(DynoGatherParams){ 1, 0, 2, past }, "is empty");
  assert_fails (&(DynoGatherParams){ 1 << 20, 1 << 20, 1 << 20, past }, "too many values");
  assert_fails (&(DynoGatherParams){ 1, (1 << 24) + 1, 1, past }, "too many values");
  assert_many (200000, FALSE);
  assert_many (200008, TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/gather/matches-reference", test_matches);
  g_test_add_func ("/nn/gather/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/gather/parameters-match-reference", test_parameters);
  g_test_add_func ("/nn/gather/indices-follow-the-file", test_layouts);
  g_test_add_func ("/nn/gather/identity-is-no-op", test_identity);
  g_test_add_func ("/nn/gather/bad-indices-are-errors", test_errors);
  return g_test_run ();
}
