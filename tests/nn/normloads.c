/* SPDX-License-Identifier: MIT */
/* A batch norm's output made in the loads of the depthwise convolution that reads it, against the
 * double reference and against the pass that writes it. */
#include "harness.h"
#include "reference/batchnorm.h"
#include "reference/conv2d.h"
#include <math.h>

/* batch norm -> activation -> depthwise convolution */
typedef struct {
  guint32 n, h, w, c, kernel, stride, pad;
  DynoActivation activation;
} Case;

static const Case cases[] = {
  { 3, 13, 12, 40, 3, 1, 1, DYNO_ACTIVATION_RELU6 },
  { 3, 13, 11, 36, 3, 2, 1, DYNO_ACTIVATION_RELU6 },
  { 2, 12, 9, 20, 5, 1, 2, DYNO_ACTIVATION_RELU },
  { 2, 11, 12, 21, 5, 2, 2, DYNO_ACTIVATION_RELU6 },
  { 2, 9, 9, 12, 3, 1, 0, DYNO_ACTIVATION_RELU },
  { 2, 9, 7, 10, 3, 2, 1, DYNO_ACTIVATION_RELU },
};

typedef struct {
  double *z, *dx, *dgamma, *dbeta, *dweight;
} Results;

static void
results_clear (Results *r)
{
  g_free (r->z);
  g_free (r->dx);
  g_free (r->dgamma);
  g_free (r->dbeta);
  g_free (r->dweight);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Results, results_clear)

typedef struct {
  gboolean amp, as_card, restoring, checkpointing;
  gboolean plain;    /* the batch norm's pass writes its output */
  gboolean after;    /* a batch norm follows, whose sums the convolution makes */
  double *tolerance; /* for results of this precision; NULL: not wanted */
} Options;

typedef struct {
  gsize n_x, n_z, n_weight;
  double *x, *gamma, *beta, *weight, *dz;
} Values;

static ReferenceConv2d
reference_of (const Case *s)
{
  return (ReferenceConv2d){ .n = s->n,
                            .h = s->h,
                            .w = s->w,
                            .c = s->c,
                            .k = s->c,
                            .kernel_h = s->kernel,
                            .kernel_w = s->kernel,
                            .stride_h = s->stride,
                            .stride_w = s->stride,
                            .pad_h = s->pad,
                            .pad_w = s->pad,
                            .groups = s->c };
}

static void
values_clear (Values *v)
{
  g_free (v->x);
  g_free (v->gamma);
  g_free (v->beta);
  g_free (v->weight);
  g_free (v->dz);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Values, values_clear)

/* Factors of both signs, none, and none without a shift either: there the border of an image differs
 * from its inside by no factor. */
static Values
values_new (const Case *s, gboolean infinite)
{
  const ReferenceConv2d conv = reference_of (s);
  Values v = { .n_x = (gsize) s->n * s->h * s->w * s->c,
               .n_z =
                   (gsize) s->n * reference_conv2d_oh (&conv) * reference_conv2d_ow (&conv) * s->c,
               .n_weight = (gsize) s->kernel * s->kernel * s->c };
  v.x = harness_random (1, v.n_x, 2);
  v.gamma = harness_random (3, s->c, 4);
  v.beta = harness_random (4, s->c, 2);
  v.weight = harness_random (2, v.n_weight, 1);
  v.dz = harness_random (5, v.n_z, 1);
  for (gsize i = 0; i < v.n_x; i++)
    v.x[i] = harness_round_f16 (v.x[i] + (double) (i % s->c % 5));
  v.gamma[1] = 0;
  v.beta[1] = 1.5;
  v.gamma[2] = v.beta[2] = 0;
  if (infinite)
    v.x[v.n_x / 2] = INFINITY;
  return v;
}

static Results
run (const Case *s, const Values *v, const Options *o)
{
  guint fused = 0;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = o->amp,
                                                         .training = TRUE,
                                                         .batch = s->n,
                                                         .as_card = o->as_card,
                                                         .restoring = o->restoring,
                                                         .checkpointing = o->checkpointing,
                                                         .norm_loads = o->plain ? NULL : &fused });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, v->x);
  DynoTensor *y = dyno_batch_norm (graph, input, "bn");
  y = dyno_activation (graph, y, s->activation, "act");
  DynoTensor *z = dyno_conv2d (graph, y, "conv",
                               &(DynoConv2dParams){ .out_channels = s->c,
                                                    .kernel_h = s->kernel,
                                                    .kernel_w = s->kernel,
                                                    .stride_h = s->stride,
                                                    .stride_w = s->stride,
                                                    .pad_h = s->pad,
                                                    .pad_w = s->pad,
                                                    .groups = s->c });
  z = o->after ? dyno_batch_norm (graph, z, "after") : z;
  dyno_fuse_all (graph);
  harness_set_parameter (h, "bn.weight", v->gamma);
  harness_set_parameter (h, "bn.bias", v->beta);
  harness_set_parameter (h, "conv.weight", v->weight);
  harness_set_gradient (h, z, v->dz);
  harness_run (h);
  g_assert_cmpuint (fused, ==, !o->plain);
  if (o->tolerance)
    *o->tolerance = harness_tolerance (h);
  return (Results){ .z = harness_read (h, z),
                    .dx = harness_read_gradient (h, input),
                    .dgamma = harness_read_parameter_gradient (h, "bn.weight"),
                    .dbeta = harness_read_parameter_gradient (h, "bn.bias"),
                    .dweight = harness_read_parameter_gradient (h, "conv.weight") };
}

static Results
expect (const Case *s, const Values *v)
{
  const ReferenceConv2d conv = reference_of (s);
  const ReferenceBatchNorm norm = { .rows = v->n_x / s->c,
                                    .c = s->c,
                                    .x = v->x,
                                    .gamma = v->gamma,
                                    .beta = v->beta,
                                    .activation = s->activation };
  Results r = { g_new (double, v->n_z), g_new (double, v->n_x), g_new (double, s->c),
                g_new (double, s->c), g_new (double, v->n_weight) };
  g_autofree double *y = g_new (double, v->n_x), *dy = g_new (double, v->n_x);
  reference_batch_norm_train (&norm, NULL, NULL, y);
  reference_conv2d_forward (&conv, y, v->weight, NULL, r.z);
  reference_conv2d_backward (&conv, y, v->weight, v->dz, dy, r.dweight, NULL);
  reference_batch_norm_backward (&norm, dy, r.dx, NULL, r.dgamma, r.dbeta);
  return r;
}

static void
compare (const Case *s, const Values *v, const Results *got, const Results *want, double tolerance)
{
  harness_assert_close (got->z, want->z, v->n_z, tolerance, "z");
  harness_assert_close (got->dweight, want->dweight, v->n_weight, tolerance, "dweight");
  harness_assert_close (got->dx, want->dx, v->n_x, tolerance, "dx");
  harness_assert_close (got->dgamma, want->dgamma, s->c, tolerance, "dgamma");
  harness_assert_close (got->dbeta, want->dbeta, s->c, tolerance, "dbeta");
}

static void
check (const Case *s, Options o, gboolean plain)
{
  g_test_message ("%u x %u x %u, %ux%u/%u, %s %s", s->h, s->w, s->c, s->kernel, s->kernel,
                  s->stride, o.amp ? "amp" : "fp32", o.as_card ? "card" : "");
  double tolerance = 0;
  g_auto (Values) v = values_new (s, FALSE);
  o.tolerance = &tolerance;
  g_auto (Results) got = run (s, &v, &o);
  if (!o.after)
    {
      g_auto (Results) want = expect (s, &v);
      compare (s, &v, &got, &want, tolerance);
    }
  if (!plain)
    return;
  o.plain = TRUE;
  g_auto (Results) unfused = run (s, &v, &o);
  compare (s, &v, &got, &unfused, 4 * tolerance); /* the pass rounds */
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint k = 0; k < 2; k++)
      check (&cases[i], (Options){ .amp = k == 0, .as_card = i % 2 == k }, i == 1);
}

static void
test_statistics (void)
{
  check (&cases[0], (Options){ .amp = TRUE, .as_card = TRUE, .after = TRUE }, TRUE);
  check (&cases[3], (Options){ .after = TRUE }, TRUE);
}

static void
test_with_less_memory (void)
{
  check (&cases[0], (Options){ .amp = TRUE, .restoring = TRUE }, FALSE);
  check (&cases[2], (Options){ .checkpointing = TRUE }, FALSE);
}

static void
assert_same (const double *a, const double *b, gsize n, const char *what)
{
  for (gsize i = 0; i < n; i++)
    if (a[i] != b[i])
      g_error ("%s: %zu of %zu is %.9g, then %.9g", what, i, n, a[i], b[i]);
}

static void
test_equal_bits (void)
{
  const Options o = { .amp = TRUE, .as_card = TRUE };
  g_auto (Values) v = values_new (&cases[1], FALSE);
  g_auto (Results) a = run (&cases[1], &v, &o), b = run (&cases[1], &v, &o);
  assert_same (a.z, b.z, v.n_z, "z");
  assert_same (a.dx, b.dx, v.n_x, "dx");
  assert_same (a.dweight, b.dweight, v.n_weight, "dweight");
}

/* A value that is not finite leaves its channel's output so. */
static void
test_infinity (void)
{
  for (guint i = 1; i < 3; i++)
    {
      const Case *s = &cases[i];
      g_auto (Values) v = values_new (s, TRUE);
      g_auto (Results) r = run (s, &v, &(Options){ .amp = i == 1 });
      for (gsize k = 0; k < v.n_z; k++)
        if (!isfinite (r.z[k]) != (k % s->c == v.n_x / 2 % s->c))
          g_error ("z of channel %zu is %g", k % s->c, r.z[k]);
    }
}

/* The pass stays where the kernels could not tell the border, where others read its output, and
 * where no statistics of the batch say that all of x is finite. */
static guint
count_fused (guint form)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (
      &(DynoGraphParams){ .batch = 2, .training = TRUE, .freeze = form == 6 ? "bn" : NULL });
  DynoTensor *x = dyno_graph_activation (graph, "in", 2, 6, 6, 8);
  x = dyno_conv2d (graph, x, "first",
                   &(DynoConv2dParams){ .out_channels = 8, .kernel_h = 1, .kernel_w = 1 });
  DynoTensor *y = dyno_batch_norm (graph, x, "bn");
  y = form == 1 ? dyno_add (graph, y, x, "sum") : y;
  if (form != 2)
    y = dyno_activation (graph, y, form == 3 ? DYNO_ACTIVATION_SILU : DYNO_ACTIVATION_RELU6, "act");
  y->keep = form == 4;
  DynoTensor *z = dyno_conv2d (
      graph, y, "conv",
      &(DynoConv2dParams){
          .out_channels = 8, .kernel_h = 3, .kernel_w = 3, .groups = form == 5 ? 1 : 8 });
  z = form == 7 ? dyno_add (graph, z, dyno_max_pool (graph, y, "pool", 3, 1, 0), "two") : z;
  dyno_fuse_all (graph);
  z->gradient = dyno_graph_activation (graph, "dz", z->n, z->h, z->w, z->c);
  dyno_graph_backward (graph);
  dyno_fuse_gradient_sums (graph);
  g_assert_true (dyno_graph_check (graph, NULL));
  return dyno_fuse_norm_loads (graph);
}

static void
test_falls_back (void)
{
  g_assert_cmpuint (count_fused (0), ==, 1);
  for (guint form = 1; form < 8; form++)
    if (count_fused (form) != 0)
      g_error ("form %u: the output is not in memory", form);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/norm-loads/falls-back", test_falls_back);
  g_test_add_func ("/nn/norm-loads/matches-reference", test_matches);
  g_test_add_func ("/nn/norm-loads/statistics-of-the-next", test_statistics);
  g_test_add_func ("/nn/norm-loads/with-less-memory", test_with_less_memory);
  g_test_add_func ("/nn/norm-loads/equal-bits", test_equal_bits);
  g_test_add_func ("/nn/norm-loads/infinity", test_infinity);
  return g_test_run ();
}
