/* SPDX-License-Identifier: MIT */
/* resize with the nearest pixel copies, so its values are exact. */
#include "harness.h"
#include "op.h"
#include "reference/resize.h"
#include <string.h>

static const char *const places[] = { "half_pixel", "pytorch_half_pixel", "align_corners",
                                      "asymmetric" };
static const char *const modes[] = { "linear", "round_prefer_floor", "round_prefer_ceil", "floor",
                                     "ceil" };

static const ReferenceResize cases[] = {
  /* integer factors, up and down */
  { 2, 3, 5, 10, 6, 10, "linear", "half_pixel", 0, 0 },
  { 2, 3, 5, 10, 6, 10, "linear", "align_corners", 0, 0 },
  { 1, 4, 3, 8, 8, 9, "linear", "asymmetric", 0, 0 },
  { 2, 5, 4, 12, 10, 8, "round_prefer_floor", "asymmetric", 0, 0 },
  { 2, 5, 4, 12, 10, 12, "floor", "asymmetric", 0, 0 },
  { 1, 8, 6, 3, 4, 2, "linear", "half_pixel", 0, 0 },
  { 1, 8, 6, 8, 4, 2, "linear", "asymmetric", 0, 0 },
  /* halfway between two pixels */
  { 1, 8, 12, 9, 4, 3, "round_prefer_floor", "half_pixel", 0, 0 },
  { 1, 8, 12, 9, 4, 3, "round_prefer_ceil", "half_pixel", 0, 0 },
  { 1, 6, 4, 8, 4, 6, "round_prefer_ceil", "asymmetric", 0, 0 },
  /* any sizes */
  { 2, 7, 5, 11, 4, 9, "linear", "half_pixel", 0, 0 },
  { 1, 6, 10, 8, 10, 6, "ceil", "asymmetric", 0, 0 },
  { 1, 6, 10, 8, 10, 6, "floor", "half_pixel", 0, 0 },
  { 2, 5, 9, 5, 8, 5, "linear", "align_corners", 0, 0 },
  { 2, 5, 9, 5, 8, 5, "round_prefer_floor", "align_corners", 0, 0 },
  { 1, 3, 13, 16, 13, 3, "linear", "pytorch_half_pixel", 0, 0 },
  { 1, 31, 40, 40, 23, 47, "linear", "half_pixel", 0, 0 },
  /* a factor that gives no whole number of pixels */
  { 1, 5, 7, 8, 7, 10, "linear", "half_pixel", 1.5, 1.5 },
  { 1, 5, 7, 8, 7, 10, "round_prefer_floor", "asymmetric", 1.5, 1.5 },
  { 2, 9, 5, 3, 6, 6, "linear", "asymmetric", 0.7, 1.3 },
  /* sides of one pixel */
  { 2, 1, 1, 20, 5, 4, "linear", "half_pixel", 0, 0 },
  { 2, 1, 1, 20, 5, 4, "round_prefer_floor", "asymmetric", 0, 0 },
  { 1, 1, 4, 8, 6, 8, "linear", "align_corners", 0, 0 },
  { 1, 5, 4, 8, 1, 1, "linear", "align_corners", 0, 0 },
  { 1, 5, 4, 8, 1, 2, "linear", "half_pixel", 0, 0 },
  { 1, 5, 4, 8, 1, 2, "linear", "pytorch_half_pixel", 0, 0 },
  { 1, 5, 4, 8, 1, 3, "ceil", "pytorch_half_pixel", 0, 0 },
  /* only one side */
  { 2, 1, 6, 9, 1, 12, "linear", "half_pixel", 0, 0 },
  { 1, 4, 4, 1, 8, 4, "round_prefer_floor", "half_pixel", 0, 0 },
};

static guint
find (const char *const *names, const char *name)
{
  guint i = 0;

  while (!g_str_equal (names[i], name))
    i++;
  return i;
}

/* The factor in tenths; all factors of the cases are multiples of a tenth. */
static guint32
tenths (double factor)
{
  return (guint32) (factor * 10 + 0.5);
}

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const ReferenceResize *s)
{
  return dyno_resize (graph, x, "y",
                      &(DynoResizeParams){ .height = s->oh,
                                           .width = s->ow,
                                           .mode = find (modes, s->mode),
                                           .places = find (places, s->coordinates),
                                           .up_h = tenths (s->scale_h),
                                           .down_h = 10,
                                           .up_w = tenths (s->scale_w),
                                           .down_w = 10 });
}

/* accumulate: x has a gradient already. */
static void
check (const ReferenceResize *s, gboolean amp, gboolean accumulate)
{
  gsize x_count = (gsize) s->n * s->h * s->w * s->c, y_count = (gsize) s->n * s->oh * s->ow * s->c;
  g_autofree double *x = harness_random (1, x_count, 1), *dy = harness_random (2, y_count, 1),
                    *start = harness_random (3, x_count, 1), *y_want = g_new (double, y_count),
                    *dx_want = g_new (double, x_count);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *y = append (harness_graph (h), input, s);

  g_test_message ("%ux%u to %ux%u, %s, %s", s->h, s->w, s->oh, s->ow, s->mode, s->coordinates);
  harness_set_gradient (h, y, dy);
  if (accumulate)
    harness_set_gradient (h, input, start);
  harness_run (h);
  reference_resize_forward (s, x, y_want);
  reference_resize_backward (s, dy, dx_want);
  for (gsize i = 0; accumulate && i < x_count; i++)
    dx_want[i] += start[i];
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  gboolean linear = g_str_equal (s->mode, "linear");
  harness_assert_close (y_got, y_want, y_count, linear ? harness_tolerance (h) : 0, "y");
  harness_assert_close (dx_got, dx_want, x_count, harness_tolerance (h), "dx");
}

static void
test_matches (void)
{
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++)
    check (&cases[i / 2], i % 2, FALSE);
}

static void
test_accumulates (void)
{
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i += 5)
    check (&cases[i / 2], i % 2, TRUE);
}

/* There is no op where each pixel stays in its place. */
static void
test_nothing (void)
{
  static const ReferenceResize same[] = {
    { 1, 4, 6, 3, 4, 6, "linear", "half_pixel", 0, 0 },
    { 1, 4, 6, 3, 4, 6, "linear", "align_corners", 0, 0 },
    { 1, 4, 6, 3, 4, 6, "ceil", "asymmetric", 0, 0 },
    { 1, 4, 6, 3, 4, 6, "round_prefer_floor", "pytorch_half_pixel", 0, 0 },
  };
  /* The size is the same, but pixels do not stay in their places. */
  static const ReferenceResize moved = { 1, 4, 6, 3, 4, 6, "linear", "asymmetric", 1.1, 1.1 },
                               tall = { 1, 4, 6, 3, 8, 6, "floor", "asymmetric", 0, 0 };
  const double values[72] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
  DynoTensor *x = harness_input (h, "x", 1, 4, 6, 3, values);

  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    g_assert_true (append (harness_graph (h), x, &same[i]) == x);
  const DynoNode *node = append (harness_graph (h), x, &moved)->producer;
  g_autofree char *text = dyno_node_print_attributes (node);
  g_assert_cmpstr (text, ==, "places=3 up_h=11 down_h=10 up_w=11 down_w=10");
  g_assert_cmpuint (node->op->flops (node), ==, 8 * 72);
  node = append (harness_graph (h), x, &tall)->producer;
  g_autofree char *other = dyno_node_print_attributes (node);
  g_assert_cmpstr (other, ==, "mode=3 places=3 up_h=2 down_h=1 up_w=1 down_w=1");
  g_assert_cmpuint (node->op->flops (node), ==, 0);
}

static void
test_errors (void)
{
  static const DynoResizeParams bad[] = {
    { .height = 0, .width = 2 },
    { .height = 2, .width = 65536 },
    /* a factor that gives other sizes */
    { .height = 3, .width = 2, .up_h = 2, .down_h = 1 },
    { .height = 2, .width = 3, .up_w = 1, .down_w = 0 },
    /* one pixel in too many */
    { .height = 400, .width = 400 },
    /* a factor of large numbers */
    { .height = 2, .width = 2, .up_h = G_MAXUINT16 << 14, .down_h = (G_MAXUINT16 << 14) - 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      const double values[12] = { 0 };
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
      g_autoptr (GError) error = NULL;
      DynoTensor *x = harness_input (h, "x", 1, 2, 2, 3, values);
      g_assert_null (dyno_resize (harness_graph (h), x, "y", &bad[i]));
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/resize/matches-reference", test_matches);
  g_test_add_func ("/nn/resize/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/resize/of-the-same-size-is-nothing", test_nothing);
  g_test_add_func ("/nn/resize/bad-sizes-are-errors", test_errors);
  return g_test_run ();
}
