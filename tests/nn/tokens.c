/* SPDX-License-Identifier: MIT */
/* Tokens of an image after a class token, with positions. */
#include "harness.h"
#include <string.h>

typedef struct {
  guint32 n, h, w, c;
} Case;

/* One pixel; channels that are no multiple of 8; more samples than four, and no multiple of
 * four. */
static const Case cases[] = { { 1, 1, 1, 8 }, { 2, 3, 2, 20 }, { 7, 2, 2, 16 } };

typedef struct {
  gboolean amp, accumulate;
  gboolean bare, alone; /* positions of an image without a class token; only a class token */
  const char *freeze;
} Options;

static void
check_parameter (Harness *h, const char *name, const double *want, gsize n)
{
  g_autofree double *got = harness_read_parameter_gradient (h, name);
  harness_assert_close (got, want, n, harness_tolerance (h), name);
}

static void
check (const Case *s, Options o)
{
  const gsize first = o.bare ? 0 : 1, t = first + s->h * s->w, nx = s->n * (t - first) * s->c,
              ny = s->n * t * s->c, np = t * s->c;
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = o.amp, .training = TRUE, .batch = s->n, .freeze = o.freeze });
  g_autofree double *x = harness_random (1, nx, 1), *dy = harness_random (2, ny, 1),
                    *token = harness_random (3, s->c, 1), *positions = harness_random (4, np, 1),
                    *start = harness_random (5, nx, 1), *more = harness_random (6, np, 1);
  g_autofree double *y = g_new (double, ny), *dx = g_new (double, nx),
                    *dtoken = g_new0 (double, s->c), *dpositions = g_new0 (double, np);
  DynoGraph *graph = harness_graph (h);
  DynoParameter *a = dyno_token_parameter (graph, "cls", 1, s->c, DYNO_INIT_ZERO),
                *b = dyno_token_parameter (graph, "pos", (guint32) t, s->c, DYNO_INIT_ZERO);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *ty = o.bare    ? dyno_add_positions (graph, tx, "tokens", b)
                   : o.alone ? dyno_prepend_token (graph, tx, "tokens", a)
                             : dyno_tokens (graph, tx, "tokens", a, b);
  g_assert_cmpuint (ty->h, ==, o.bare ? s->h : 1);
  g_assert_cmpuint (ty->h * ty->w, ==, t);
  harness_set_parameter (h, "cls", token);
  harness_set_parameter (h, "pos", positions);
  harness_set_gradient (h, ty, dy);
  if (o.accumulate)
    {
      harness_set_gradient (h, tx, start);
      harness_set_parameter_gradient (h, "pos", more);
      harness_set_parameter_gradient (h, "cls", more);
    }
  harness_run (h);
  for (gsize i = 0; i < ny; i++)
    {
      gsize c = i % s->c, place = i / s->c % t, n = i / (s->c * t);
      gsize from = (n * (t - first) + place - first) * s->c + c;
      y[i] = (place >= first ? x[from] : token[c]) + (o.alone ? 0 : positions[place * s->c + c]);
      dpositions[place * s->c + c] += dy[i];
      if (place >= first)
        dx[from] = dy[i] + (o.accumulate ? start[from] : 0);
      else
        dtoken[c] += dy[i];
    }
  for (gsize i = 0; i < np && o.accumulate; i++)
    {
      dpositions[i] += more[i];
      if (i < s->c)
        dtoken[i] += more[i];
    }
  g_autofree double *y_got = harness_read (h, ty), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (y_got, y, ny, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, nx, harness_tolerance (h), "dx");
  if (!o.bare && (!o.freeze || !g_str_equal (o.freeze, "cls")))
    check_parameter (h, "cls", dtoken, s->c);
  if (!o.alone && (!o.freeze || !g_str_equal (o.freeze, "pos")))
    check_parameter (h, "pos", dpositions, np);
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], (Options){ .amp = amp });
}

static void
test_positions (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], (Options){ .amp = amp, .bare = TRUE, .accumulate = i == 1 });
}

static void
test_token (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&cases[i], (Options){ .amp = amp, .alone = TRUE, .accumulate = i == 1 });
}

static void
test_accumulates (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check (&cases[1], (Options){ .amp = amp, .accumulate = TRUE });
}

static void
test_frozen (void)
{
  check (&cases[1], (Options){ .freeze = "cls" });
  check (&cases[1], (Options){ .freeze = "pos" });
}

static void
test_shapes (void)
{
  const double values[48] = { 0 };
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
      g_autoptr (GError) error = NULL;
      DynoGraph *graph = harness_graph (h);
      DynoTensor *x = harness_input (h, "x", 1, 2, 3, 8, values);
      DynoParameter *a = dyno_token_parameter (graph, "a", i == 0 ? 2 : 1, 8, DYNO_INIT_ZERO),
                    *b = dyno_token_parameter (graph, "b", i == 1 ? 6 : 7, i == 2 ? 9 : 8,
                                               DYNO_INIT_ZERO);
      g_assert_null (dyno_tokens (graph, x, "y", a, b));
      g_assert_false (dyno_graph_check (graph, &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, "2 x 3 tokens of 8 channels"));
      g_clear_error (&error);
      g_autoptr (Harness) bare = harness_new (&(HarnessParams){ .batch = 1 });
      x = harness_input (bare, "x", 1, 2, 3, 8, values);
      b = dyno_token_parameter (harness_graph (bare), "b", i == 1 ? 7 : 6, i == 2 ? 9 : 8,
                                DYNO_INIT_ZERO);
      g_assert_true ((dyno_add_positions (harness_graph (bare), x, "y", b) != NULL) == (i == 0));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/tokens/matches-reference", test_matches);
  g_test_add_func ("/nn/tokens/positions-alone", test_positions);
  g_test_add_func ("/nn/tokens/class-token-alone", test_token);
  g_test_add_func ("/nn/tokens/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/tokens/frozen-parameters", test_frozen);
  g_test_add_func ("/nn/tokens/bad-shapes-are-errors", test_shapes);
  return g_test_run ();
}
