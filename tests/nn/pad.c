/* SPDX-License-Identifier: MIT */
/* pad copies, so values and gradients are exact where nothing is added. */
#include "harness.h"
#include "op.h"
#include "reference/pad.h"
#include <math.h>

static const ReferencePad cases[] = {
  /* TensorFlow's pads, and the same pads on both sides */
  { 2, 5, 7, 10, 0, 1, 0, 1, 0, 0, 0 },
  { 1, 4, 4, 8, 1, 1, 2, 2, 0, 0, 0 },
  /* a value */
  { 2, 3, 5, 3, 2, 0, 1, 3, 0, 0, -1.5 },
  { 1, 1, 9, 33, 0, 0, 3, 1, 0, 0, 4 },
  /* channels: by whole accesses, by parts of one, and past the end of one */
  { 2, 3, 2, 8, 0, 0, 0, 0, 8, 16, 2 },
  { 2, 3, 2, 5, 0, 0, 0, 0, 3, 0, 0.5 },
  { 1, 3, 3, 6, 0, 0, 0, 0, 4, 3, -1 },
  { 1, 2, 2, 13, 0, 0, 0, 0, 0, 7, 3 },
  /* crops */
  { 2, 7, 6, 12, -2, -1, -1, -3, 0, 0, 1 },
  { 1, 4, 5, 24, 0, 0, 0, 0, -8, -3, 1 },
  { 2, 4, 3, 21, 0, 0, 0, 0, -5, -2, 1 },
  /* one side is padded, the other cropped */
  { 2, 6, 5, 11, 3, -2, -1, 2, 2, -4, 0.25 },
  { 1, 1, 1, 1, 1, 2, 0, 1, 1, 1, 7 },
  { 1, 40, 31, 40, 1, -1, -1, 1, -4, 4, 0 },
};

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const ReferencePad *s)
{
  return dyno_pad (graph, x, "y",
                   &(DynoPadParams){ .top = s->top,
                                     .bottom = s->bottom,
                                     .left = s->left,
                                     .right = s->right,
                                     .front = s->front,
                                     .back = s->back,
                                     .value = s->value });
}

/* accumulate: x has a gradient already. */
static void
check (const ReferencePad *s, gboolean amp, gboolean accumulate)
{
  gsize x_count = (gsize) s->n * s->h * s->w * s->c, y_count = reference_pad_count (s);
  g_autofree double *x = harness_random (1, x_count, 1), *dy = harness_random (2, y_count, 1),
                    *start = harness_random (3, x_count, 1), *y_want = g_new (double, y_count),
                    *dx_want = g_new (double, x_count);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *y = append (harness_graph (h), input, s);

  harness_set_gradient (h, y, dy);
  if (accumulate)
    harness_set_gradient (h, input, start);
  harness_run (h);
  reference_pad_forward (s, x, y_want);
  reference_pad_backward (s, dy, dx_want);
  for (gsize i = 0; accumulate && i < x_count; i++)
    dx_want[i] += start[i];
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  g_assert_cmpuint ((gsize) y->n * y->h * y->w * y->c, ==, y_count);
  harness_assert_close (y_got, y_want, y_count, 0, "y");
  harness_assert_close (dx_got, dx_want, x_count, accumulate ? harness_tolerance (h) : 0, "dx");
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
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i += 3)
    check (&cases[i / 2], i % 2, TRUE);
}

/* The value of a max pool's pads: fp16 uses no infinity, since sums over the values are tested for
 * it. */
static void
test_infinity (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      const ReferencePad s = { 1, 1, 2, 8, 0, 0, 0, 1, 0, 0, -INFINITY };
      g_autofree double *x = harness_random (1, 16, 1);
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp, .batch = 1 });
      DynoTensor *input = harness_input (h, "x", 1, 1, 2, 8, x),
                 *y = append (harness_graph (h), input, &s);
      harness_run (h);
      g_autofree double *got = harness_read (h, y);
      for (guint i = 16; i < 24; i++)
        g_assert_cmpfloat (got[i], ==, amp ? -65504 : -INFINITY);
    }
}

/* There is no op where nothing is padded; a copy counts no FLOPs. */
static void
test_nothing (void)
{
  const double values[12] = { 0 };
  const ReferencePad none = { 0 }, crop = { .left = -1, .value = 3 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
  DynoTensor *x = harness_input (h, "x", 1, 2, 2, 3, values);

  g_assert_true (append (harness_graph (h), x, &none) == x);
  const DynoNode *node = append (harness_graph (h), x, &crop)->producer;
  g_autofree char *text = dyno_node_print_attributes (node);
  g_assert_cmpuint (node->op->flops (node), ==, 0);
  g_assert_cmpstr (text, ==, "left=-1 value=3");
}

static void
test_errors (void)
{
  static const ReferencePad bad[] = {
    { .top = -2 },
    { .left = -3, .right = 5 },
    { .right = -3, .left = 5 },
    { .back = G_MAXINT32 },
    { .bottom = -1, .top = -1 },
    { .front = -4, .back = 9 },
    { .top = 1, .value = NAN },
  };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      const double values[12] = { 0 };
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
      g_autoptr (GError) error = NULL;
      DynoTensor *x = harness_input (h, "x", 1, 2, 2, 3, values);
      g_assert_null (append (harness_graph (h), x, &bad[i]));
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

/* Zero padding before a convolution becomes the convolution's own pad, with the same values,
 * gradients and shared memory. */
static void
run_conv (gboolean framed, double **y_got, double **dx_got, gsize *n_y, gsize *n_x)
{
  enum { N = 2, SIDE = 6, C = 5, OUT = 4 };
  const DynoConv2dParams conv = { .out_channels = OUT,
                                  .kernel_h = 3,
                                  .kernel_w = 3,
                                  .pad_h = framed ? 0 : 1,
                                  .pad_w = framed ? 0 : 1,
                                  .init = DYNO_INIT_KAIMING_UNIFORM };
  const DynoPadParams frame = { .top = 1, .bottom = 1, .left = 1, .right = 1 };
  *n_x = N * SIDE * SIDE * C;
  *n_y = N * SIDE * SIDE * OUT;
  g_autofree double *x = harness_random (1, *n_x, 1), *dy = harness_random (2, *n_y, 1);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = N });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", N, SIDE, SIDE, C, x),
             *y = framed ? dyno_pad (graph, input, "pad", &frame) : input;

  y = dyno_conv2d (graph, y, "conv", &conv);
  harness_set_gradient (h, y, dy);
  harness_run (h);
  *y_got = harness_read (h, y);
  *dx_got = harness_read_gradient (h, input);
}

static void
test_convolution (void)
{
  g_autofree double *y = NULL, *dx = NULL, *y_want = NULL, *dx_want = NULL;
  gsize n_y, n_x;

  run_conv (FALSE, &y_want, &dx_want, &n_y, &n_x);
  run_conv (TRUE, &y, &dx, &n_y, &n_x);
  harness_assert_close (y, y_want, n_y, 1e-12, "y");
  harness_assert_close (dx, dx_want, n_x, 1e-12, "dx");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/pad/matches-reference", test_matches);
  g_test_add_func ("/nn/pad/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/pad/infinity", test_infinity);
  g_test_add_func ("/nn/pad/of-zero-is-nothing", test_nothing);
  g_test_add_func ("/nn/pad/bad-pads-are-errors", test_errors);
  g_test_add_func ("/nn/pad/before-a-convolution", test_convolution);
  return g_test_run ();
}
