/* SPDX-License-Identifier: MIT */
/* Activations, add, accumulate and dropout. */
#include "harness.h"
#include "random.h"
#include "reference/elementwise.h"
#include <math.h>
#include <string.h>

typedef struct {
  guint32 n, h, w, c;
} Shape;

static const Shape shapes[] = {
  { 1, 1, 1, 3 }, { 2, 5, 7, 10 }, { 3, 3, 1, 33 }, { 1, 64, 63, 512 }, { 4, 1, 1, 8 }
};

static gsize
shape_count (const Shape *s)
{
  return (gsize) s->n * s->h * s->w * s->c;
}

static Harness *
make (const Shape *s, gboolean amp)
{
  return harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
}

static void
test_relu (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        const Shape *s = &shapes[i];
        gsize count = shape_count (s);
        g_autoptr (Harness) h = make (s, amp);
        g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1);
        x[0] = 0;
        DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
        DynoTensor *y = dyno_relu (harness_graph (h), input, "relu");
        harness_set_gradient (h, y, dy);
        harness_run (h);
        g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
        for (gsize k = 0; k < count; k++)
          {
            g_assert_true (y_got[k] == (x[k] > 0 ? x[k] : 0));
            g_assert_true (dx_got[k] == (x[k] > 0 ? dy[k] : 0));
          }
      }
}

/* A number in the domain of the function, at least 1/2 away from a pole. */
static double
in_domain (DynoActivation kind, double x)
{
  switch (kind)
    {
    case DYNO_ACTIVATION_SQRT:
    case DYNO_ACTIVATION_LOG:
      return 0.5 + fabs (x);
    case DYNO_ACTIVATION_RECIPROCAL:
      return x < 0 ? x - 0.5 : x + 0.5;
    default:
      return x;
    }
}

/* The outputs, including the pads of sigmoid (which the harness checks), and the gradient in memory
 * of its own where x has another reader. */
static void
test_activations (void)
{
  for (guint kind = DYNO_ACTIVATION_RELU6; kind < DYNO_N_ACTIVATIONS; kind++)
    for (guint i = 0; i < 3; i++)
      for (guint form = 0; form < 4; form++)
        {
          const Shape *s = &shapes[i];
          gsize count = shape_count (s);
          g_autoptr (Harness) h = make (s, form & 1);
          g_autofree double *x = harness_random (1, count, 9), *dy = harness_random (2, count, 1),
                            *dz = harness_random (3, count, 1);
          x[0] = 0;
          x[count - 1] = 6;
          for (gsize k = 0; k < count; k++)
            x[k] = harness_round_f16 (in_domain (kind, x[k]));
          DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
          DynoTensor *y = dyno_activation (harness_graph (h), input, kind, "y");
          harness_set_gradient (h, y, dy);
          if (form & 2)
            harness_set_gradient (h, dyno_relu (harness_graph (h), input, "z"), dz);
          harness_run (h);
          g_autofree double *want = g_new (double, count), *dx = g_new (double, count);
          for (gsize k = 0; k < count; k++)
            {
              want[k] = reference_activate (kind, x[k]);
              dx[k] = dy[k] * reference_activation_slope (kind, x[k]);
              if (form & 2)
                dx[k] += x[k] > 0 ? dz[k] : 0;
            }
          g_autofree double *y_got = harness_read (h, y),
                            *dx_got = harness_read_gradient (h, input);
          harness_assert_close (y_got, want, count, harness_tolerance (h), "y");
          harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
        }
}

/* An activation neither hides NaN nor makes one of a large value. */
static void
test_activation_limits (void)
{
  const double x[8] = { NAN, 200, -200, 0, 60000, -60000, INFINITY, 6 };
  for (guint kind = DYNO_ACTIVATION_RELU6; kind < DYNO_N_ACTIVATIONS; kind++)
    {
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = TRUE, .kind = DYNO_COMMAND_FORWARD });
      DynoTensor *y =
          dyno_activation (harness_graph (h), harness_input (h, "x", 1, 1, 1, 8, x), kind, "y");
      harness_run (h);
      g_autofree double *got = harness_read (h, y);
      g_assert_true (isnan (got[0]));
      for (guint i = 1; i < 8; i++)
        {
          double want = harness_round_f16 (reference_activate (kind, x[i]));
          g_assert_true (got[i] == want || (isnan (got[i]) && isnan (want)));
        }
    }
}

/* From -24 to 24 in steps that avoid the bends, close to zero, and the largest numbers: f and its
 * slope are finite and within a few roundings of fp32.  No number is denormal, since GPUs may flush
 * denormals to zero. */
static void
test_activation_precision (void)
{
  enum { N = 1040 };
  double sample[N], x[N], dy[N];
  for (guint i = 0; i < N; i++)
    {
      sample[i] = i < 1000 ? (float) ((i - 499.7) * 0.048)
                           : (float) ((i & 1 ? -1 : 1) * exp2 (-(int) (i - 900) / 2));
      dy[i] = 1;
    }
  sample[N - 1] = 3e38;
  sample[N - 2] = -3e38;
  for (guint kind = DYNO_ACTIVATION_RELU6; kind < DYNO_N_ACTIVATIONS; kind++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE });
      gboolean periodic = kind == DYNO_ACTIVATION_SIN || kind == DYNO_ACTIVATION_COS;
      for (guint i = 0; i < N; i++)
        x[i] =
            (float) in_domain (kind, kind == DYNO_ACTIVATION_EXP ? MIN (sample[i], 24) : sample[i]);
      DynoTensor *input = harness_input (h, "x", 1, 1, N / 8, 8, x);
      DynoTensor *y = dyno_activation (harness_graph (h), input, kind, "y");
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *got = harness_read (h, y), *slope = harness_read_gradient (h, input);
      double worst = 0, worst_slope = 0;
      for (guint i = 0; i < N; i++)
        {
          double want = reference_activate (kind, x[i]);
          want = periodic && i >= N - 2 ? CLAMP (got[i], -1.0001, 1.0001) : want;
          worst = fmax (worst, fabs (got[i] - want) / fmax (1, fabs (want)));
          g_assert_true (isfinite (got[i]) && isfinite (slope[i]));
          want = i < N - 2 ? reference_activation_slope (kind, x[i]) : slope[i];
          worst_slope = fmax (worst_slope, fabs (slope[i] - want) / fmax (1, fabs (want)));
        }
      g_test_message ("%s: %.3g, slope %.3g", y->producer->op->name, worst, worst_slope);
      /* GLSL's exp and log have a few digits less */
      gboolean plain = kind == DYNO_ACTIVATION_EXP || kind == DYNO_ACTIVATION_LOG;
      g_assert_cmpfloat (worst, <, plain ? 4e-6 : 4e-7);
      g_assert_cmpfloat (worst_slope, <, 4e-6);
    }
}

static void
check_parameter (DynoActivation kind, double parameter, gboolean amp)
{
  const Shape *s = &shapes[1];
  gsize count = shape_count (s);
  g_autoptr (Harness) h = make (s, amp);
  g_autofree double *x = harness_random (1, count, 9), *dy = harness_random (2, count, 1),
                    *want = g_new (double, count), *dx = g_new (double, count);
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  DynoTensor *y = dyno_activation_with_parameter (harness_graph (h), input, kind, parameter, "y");
  double kept;
  g_assert_true (dyno_node_get_attribute (y->producer, "parameter", &kept));
  g_assert_cmpfloat (kept, ==, parameter);
  harness_set_gradient (h, y, dy);
  harness_run (h);
  for (gsize k = 0; k < count; k++)
    {
      want[k] = reference_activate_with (kind, parameter, x[k]);
      dx[k] = dy[k] * reference_activation_slope_with (kind, parameter, x[k]);
    }
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  harness_assert_close (y_got, want, count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, count, harness_tolerance (h), "dx");
}

/* With a slope of zero or below, y does not determine the sign of x. */
static void
test_activation_parameters (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      check_parameter (DYNO_ACTIVATION_LEAKY_RELU, 0.3, amp);
      check_parameter (DYNO_ACTIVATION_LEAKY_RELU, 0, amp);
      check_parameter (DYNO_ACTIVATION_LEAKY_RELU, -0.5, amp);
      check_parameter (DYNO_ACTIVATION_LEAKY_RELU, 1.5, amp);
      check_parameter (DYNO_ACTIVATION_ELU, 0.25, amp);
      check_parameter (DYNO_ACTIVATION_ELU, -1.5, amp);
    }
  const double zeros[8] = { 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
  g_assert_null (dyno_activation_with_parameter (harness_graph (h),
                                                 harness_input (h, "x", 1, 1, 1, 8, zeros),
                                                 DYNO_ACTIVATION_ELU, 1e300, "y"));
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
}

/* The norm of a row of zeros has the gradient 0, and not NaN. */
static void
test_root_of_zero (void)
{
  const double x[8] = { 0, 4, 0, 0.25, 0, 0, 1, 0 }, dy[8] = { 1, 1, -1, 1, 0, 2, 1, 1 },
               want[8] = { 0, 0.25, 0, 1, 0, 0, 0.5, 0 };
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp, .training = TRUE });
      DynoTensor *tx = harness_input (h, "x", 1, 1, 1, 8, x),
                 *y = dyno_activation (harness_graph (h), tx, DYNO_ACTIVATION_SQRT, "y");
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *got = harness_read_gradient (h, tx);
      for (guint i = 0; i < 8; i++)
        g_assert_cmpfloat (fabs (got[i] - want[i]), <, 1e-3);
    }
}

/* NaN must not be hidden: the check for overflow relies on it. */
static void
test_relu_nan (void)
{
  const Shape s = { 1, 1, 1, 8 };
  const double x[8] = { NAN, 1, -1, 0, NAN, INFINITY, -INFINITY, 2 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .kind = DYNO_COMMAND_FORWARD });
  DynoTensor *y =
      dyno_relu (harness_graph (h), harness_input (h, "x", s.n, s.h, s.w, s.c, x), "relu");
  harness_run (h);
  g_autofree double *got = harness_read (h, y);
  g_assert_true (isnan (got[0]) && isnan (got[4]));
  g_assert_true (got[1] == 1 && got[2] == 0 && got[3] == 0 && isinf (got[5]) && got[6] == 0
                 && got[7] == 2);
}

/* y = a + b, where a relu reads a too: one input shares the gradient, and the sum must not
 * overwrite that of the other. */
static void
test_add (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      {
        const Shape *s = &shapes[i];
        gsize count = shape_count (s);
        g_autoptr (Harness) h = make (s, amp);
        DynoGraph *graph = harness_graph (h);
        g_autofree double *a = harness_random (1, count, 1), *b = harness_random (2, count, 1);
        g_autofree double *dy = harness_random (3, count, 1), *dz = harness_random (4, count, 1);
        DynoTensor *ta = harness_input (h, "a", s->n, s->h, s->w, s->c, a);
        DynoTensor *tb = harness_input (h, "b", s->n, s->h, s->w, s->c, b);
        DynoTensor *z = dyno_relu (graph, ta, "z"), *y = dyno_add (graph, ta, tb, "y");
        harness_set_gradient (h, y, dy);
        harness_set_gradient (h, z, dz);
        harness_run (h);
        g_autofree double *y_want = g_new (double, count), *da_want = g_new (double, count);
        for (gsize k = 0; k < count; k++)
          {
            y_want[k] = a[k] + b[k];
            da_want[k] = dy[k] + (a[k] > 0 ? dz[k] : 0);
          }
        g_autofree double *y_got = harness_read (h, y), *da = harness_read_gradient (h, ta),
                          *db = harness_read_gradient (h, tb);
        harness_assert_close (y_got, y_want, count, harness_tolerance (h), "y");
        harness_assert_close (da, da_want, count, harness_tolerance (h), "da");
        harness_assert_close (db, dy, count, 0, "db");
      }
}

/* x -> relu -> two consumers: the relu's backward pass must not overwrite a gradient that another
 * node reads. */
static void
test_shared (void)
{
  const Shape *s = &shapes[1];
  gsize count = shape_count (s);
  g_autoptr (Harness) h = make (s, FALSE);
  DynoGraph *graph = harness_graph (h);
  g_autofree double *x = harness_random (1, count, 1), *b = harness_random (2, count, 1),
                    *dy = harness_random (3, count, 1);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *tb = harness_input (h, "b", s->n, s->h, s->w, s->c, b);
  DynoTensor *p = dyno_relu (graph, tx, "p"), *q = dyno_relu (graph, tb, "q");
  DynoTensor *y = dyno_add (graph, dyno_add (graph, p, q, "sum"), p, "y");
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_autofree double *dx = harness_read_gradient (h, tx), *db = harness_read_gradient (h, tb);
  for (gsize k = 0; k < count; k++)
    {
      g_assert_cmpfloat (dx[k], ==, x[k] > 0 ? 2 * dy[k] : 0);
      g_assert_cmpfloat (db[k], ==, b[k] > 0 ? dy[k] : 0);
    }
}

static void
test_add_shapes (void)
{
  g_autoptr (Harness) h = make (&shapes[0], FALSE);
  const double values[8] = { 0 };
  DynoTensor *a = harness_input (h, "a", 1, 1, 1, 3, values),
             *b = harness_input (h, "b", 1, 1, 1, 4, values);
  g_assert_null (dyno_add (harness_graph (h), a, b, "sum"));
  g_autoptr (GError) error = NULL;
  g_assert_false (dyno_graph_check (harness_graph (h), &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
}

/* Dropout -------------------------------------------------------------------------------------- */

static void
check_dropout (const Shape *s, gboolean amp, gboolean by_sample, double p)
{
  gsize count = shape_count (s), kept = 0;
  guint32 cp = (s->c + 7) / 8 * 8;
  g_autoptr (Harness) h = make (s, amp);
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1);
  struct DynoStepInput *step = harness_step (h);
  step->seed_low = 77;
  step->seed_high = 5;
  step->step = 12;
  step->micro_step = 1;
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x);
  /* after this op, the random stream of the dropout is 1 */
  DynoTensor *other = dyno_relu (harness_graph (h), input, "other");
  DynoTensor *y = by_sample ? dyno_stochastic_depth (harness_graph (h), input, "drop", p)
                            : dyno_dropout (harness_graph (h), input, "drop", p);
  g_autofree double *zeros = g_new0 (double, count);
  harness_set_gradient (h, other, zeros);
  harness_set_gradient (h, y, dy);
  harness_run (h);
  guint32 key = dyno_random_key (77, 5, 12, 1, 1), threshold = (guint32) (p * 4294967296.0);
  g_autofree double *y_want = g_new0 (double, count), *dx_want = g_new0 (double, count);
  for (gsize k = 0; k < count; k++)
    {
      gsize drawn = by_sample ? k / (count / s->n) : k / s->c * cp + k % s->c;
      if (dyno_random_at (key, (guint32) drawn) < threshold)
        continue;
      y_want[k] = x[k] / (1 - p);
      dx_want[k] = dy[k] / (1 - p);
      kept++;
    }
  /* with 11 samples and more, half of them on average: neither all nor none */
  g_assert_true (!by_sample || s->n < 11 || (kept > 0 && kept < count));
  g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, input);
  harness_assert_close (y_got, y_want, count, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx_want, count, harness_tolerance (h), "dx");
}

static void
test_dropout (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_dropout (&shapes[i], amp, FALSE, 0.3);
}

/* Stochastic depth keeps or drops whole samples. */
static void
test_stochastic_depth (void)
{
  static const Shape many = { 19, 2, 3, 12 };
  for (guint amp = 0; amp < 2; amp++)
    {
      check_dropout (&many, amp, TRUE, 0.5);
      for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
        check_dropout (&shapes[i], amp, TRUE, 0.4);
    }
}

/* The share of dropped values is the rate, and another step draws another mask. */
static void
test_dropout_rate (void)
{
  const Shape s = { 8, 10, 10, 40 };
  gsize count = shape_count (&s), kept[2] = { 0 }, same = 0;
  g_autofree double *x = g_new (double, count), *first = NULL;
  for (gsize i = 0; i < count; i++)
    x[i] = 1;
  for (guint pass = 0; pass < 2; pass++)
    {
      g_autoptr (Harness) h = make (&s, FALSE);
      harness_step (h)->step = pass;
      DynoTensor *y = dyno_dropout (harness_graph (h),
                                    harness_input (h, "x", s.n, s.h, s.w, s.c, x), "drop", 0.2);
      harness_run (h);
      g_autofree double *got = harness_read (h, y);
      for (gsize i = 0; i < count; i++)
        {
          g_assert_true (got[i] == 0 || fabs (got[i] - 1.25) < 1e-6);
          kept[pass] += got[i] > 0;
          same += pass == 1 && (got[i] > 0) == (first[i] > 0);
        }
      if (pass == 0)
        first = g_steal_pointer (&got);
    }
  /* 32000 draws: a standard deviation is 0.0022 */
  g_assert_cmpfloat (fabs ((double) kept[0] / count - 0.8), <, 0.012);
  g_assert_cmpfloat (fabs ((double) kept[1] / count - 0.8), <, 0.012);
  g_assert_cmpfloat (fabs ((double) same / count - 0.68), <, 0.015);
}

static void
test_dropout_evaluation (void)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = FALSE });
  const double value[3] = { 1, 2, 3 };
  DynoTensor *x = harness_input (h, "x", 1, 1, 1, 3, value);
  g_assert_true (dyno_dropout (harness_graph (h), x, "drop", 0.5) == x);
  g_assert_true (dyno_stochastic_depth (harness_graph (h), x, "skip", 0.5) == x);
  g_assert_null (dyno_dropout (harness_graph (h), x, "drop", 1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/relu/matches-reference", test_relu);
  g_test_add_func ("/nn/relu/nan-passes", test_relu_nan);
  g_test_add_func ("/nn/activation/matches-reference", test_activations);
  g_test_add_func ("/nn/activation/limits", test_activation_limits);
  g_test_add_func ("/nn/activation/precision", test_activation_precision);
  g_test_add_func ("/nn/activation/parameters", test_activation_parameters);
  g_test_add_func ("/nn/relu/shared-gradient-is-not-overwritten", test_shared);
  g_test_add_func ("/nn/add/matches-reference", test_add);
  g_test_add_func ("/nn/add/shapes-must-agree", test_add_shapes);
  g_test_add_func ("/nn/dropout/matches-reference", test_dropout);
  g_test_add_func ("/nn/activation/root-of-zero-has-no-slope", test_root_of_zero);
  g_test_add_func ("/nn/dropout/rate-and-steps", test_dropout_rate);
  g_test_add_func ("/nn/stochastic-depth/matches-reference", test_stochastic_depth);
  g_test_add_func ("/nn/dropout/evaluation-leaves-x", test_dropout_evaluation);
  return g_test_run ();
}
