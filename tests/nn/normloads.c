/* SPDX-License-Identifier: MIT */
/* A batch norm's output that is computed in the loads of the convolution that reads it, compared
 * with the reference in double and with the pass that writes it. */
#include "conv2d-private.h"
#include "fusion.h"
#include "harness.h"
#include "reference/batchnorm.h"
#include "reference/conv2d.h"
#include <math.h>
#include <string.h>

/* batch norm -> activation -> convolution; k 0: depthwise; groups and dilation 0: 1 */
typedef struct {
  guint32 n, h, w, c, kernel, stride, pad;
  DynoActivation activation;
  guint32 k, groups, dilation;
  gboolean linear; /* with a linear layer in place of a 1 x 1 kernel */
} Case;

static const Case cases[] = {
  { 3, 13, 12, 40, 3, 1, 1, DYNO_ACTIVATION_RELU6 },
  { 3, 13, 11, 36, 3, 2, 1, DYNO_ACTIVATION_RELU6 },
  { 2, 12, 9, 20, 5, 1, 2, DYNO_ACTIVATION_RELU },
  { 2, 11, 12, 21, 5, 2, 2, DYNO_ACTIVATION_RELU6 },
  { 2, 9, 9, 12, 3, 1, 0, DYNO_ACTIVATION_RELU },
  { 2, 9, 7, 10, 3, 2, 1, DYNO_ACTIVATION_RELU },
  { 2, 9, 8, 20, 3, 1, 2, DYNO_ACTIVATION_RELU6, 0, 0, 2 },
};

/* Pads wider than the kernel reaches, channels that are no multiple of 8, strides, groups that are
 * whole tiles in blocks and groups that are not, few channels, rows and columns that are whole
 * tiles. */
static const Case dense_cases[] = {
  { 2, 9, 11, 24, 3, 1, 1, DYNO_ACTIVATION_RELU, 40 },
  { 1, 13, 10, 10, 3, 2, 1, DYNO_ACTIVATION_RELU6, 33 },
  { 2, 16, 16, 64, 1, 1, 0, DYNO_ACTIVATION_RELU, 256 },
  { 2, 9, 8, 37, 1, 2, 0, DYNO_ACTIVATION_NONE, 20 },
  { 2, 6, 6, 20, 5, 1, 3, DYNO_ACTIVATION_NONE, 10 },
  { 2, 7, 9, 5, 3, 1, 1, DYNO_ACTIVATION_RELU, 9 },
  { 2, 7, 6, 64, 3, 1, 1, DYNO_ACTIVATION_RELU, 64, 16 },
  { 1, 7, 8, 128, 3, 2, 1, DYNO_ACTIVATION_RELU6, 64, 4 },
  { 2, 5, 7, 12, 3, 1, 1, DYNO_ACTIVATION_RELU, 18, 3 },
  { 2, 9, 8, 16, 3, 1, 2, DYNO_ACTIVATION_RELU, 8, 1, 2 },
  { 9, 1, 1, 72, 1, 1, 0, DYNO_ACTIVATION_RELU, 33, 1, 1, TRUE },
  { 3, 2, 4, 20, 1, 1, 0, DYNO_ACTIVATION_RELU, 9, 1, 1, TRUE },
};
/* Several tiles of every variant, a long K axis in both directions, and whole tiles of images. */
static const Case variant_cases[] = {
  { 2, 11, 7, 130, 3, 2, 1, DYNO_ACTIVATION_RELU, 140 },
  { 1, 6, 7, 72, 3, 1, 1, DYNO_ACTIVATION_RELU6, 40 },
  { 2, 16, 16, 64, 1, 1, 0, DYNO_ACTIVATION_RELU, 256 },
  { 256, 2, 3, 128, 3, 1, 1, DYNO_ACTIVATION_RELU, 64 },
  { 128, 4, 5, 32, 3, 2, 1, DYNO_ACTIVATION_RELU6, 32 },
  { 2, 19, 40, 72, 3, 1, 1, DYNO_ACTIVATION_RELU, 28 },
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
  gboolean plain;    /* the batch norm's own pass writes its output */
  gboolean sums;     /* the convolution's dgrad makes the sums of the batch norm's backward pass */
  gboolean after;    /* a batch norm follows, for which the convolution makes the sums */
  double *tolerance; /* of results of this precision; NULL: not needed */
  const DynoVariant *variants[DYNO_CONV2D_N_PASSES]; /* NULL: the first choice */
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
                            .k = s->k > 0 ? s->k : s->c,
                            .kernel_h = s->kernel,
                            .kernel_w = s->kernel,
                            .stride_h = s->stride,
                            .stride_w = s->stride,
                            .pad_h = s->pad,
                            .pad_w = s->pad,
                            .groups = s->k > 0 ? MAX (s->groups, 1) : s->c,
                            .dilation_h = s->dilation,
                            .dilation_w = s->dilation };
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

/* gamma of both signs and zero, and zero with a zero beta: with the last two the border of an image
 * does not differ from its inside by a factor. */
static Values
values_new (const Case *s, gboolean infinite)
{
  const ReferenceConv2d conv = reference_of (s);
  Values v = { .n_x = (gsize) s->n * s->h * s->w * s->c,
               .n_z = (gsize) s->n * reference_conv2d_oh (&conv) * reference_conv2d_ow (&conv)
                      * conv.k,
               .n_weight = (gsize) s->kernel * s->kernel * conv.k * (s->c / conv.groups) };
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
  guint fused = 0, sums = 0;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = o->amp,
                                                         .training = TRUE,
                                                         .batch = s->n,
                                                         .as_card = o->as_card,
                                                         .restoring = o->restoring,
                                                         .checkpointing = o->checkpointing,
                                                         .gradient_sums = o->sums ? &sums : NULL,
                                                         .norm_loads = o->plain ? NULL : &fused });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, v->x);
  DynoTensor *y = dyno_batch_norm (graph, input, "bn");
  if (s->activation)
    y = dyno_activation (graph, y, s->activation, "act");
  const ReferenceConv2d conv = reference_of (s);
  DynoTensor *z = s->linear ? dyno_linear (graph, y, "conv", s->k, DYNO_INIT_KAIMING_UNIFORM)
                            : dyno_conv2d (graph, y, "conv",
                                           &(DynoConv2dParams){ .out_channels = conv.k,
                                                                .kernel_h = s->kernel,
                                                                .kernel_w = s->kernel,
                                                                .stride_h = s->stride,
                                                                .stride_w = s->stride,
                                                                .pad_h = s->pad,
                                                                .pad_w = s->pad,
                                                                .groups = conv.groups,
                                                                .dilation_h = s->dilation,
                                                                .dilation_w = s->dilation });
  z = o->after ? dyno_batch_norm (graph, z, "after") : z;
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  harness_set_parameter (h, "bn.weight", v->gamma);
  harness_set_parameter (h, "bn.bias", v->beta);
  harness_set_parameter (h, "conv.weight", v->weight);
  if (s->linear)
    {
      g_autofree double *zero = g_new0 (double, s->k);
      harness_set_parameter (h, "conv.bias", zero);
    }
  harness_set_gradient (h, z, v->dz);
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    if (o->variants[pass])
      {
        g_autofree char *prefix = g_strconcat ("conv2d.", dyno_conv2d_pass_name (pass), NULL);
        harness_force (h, prefix, o->variants[pass]);
      }
  harness_run (h);
  g_assert_cmpuint (fused, ==, !o->plain);
  g_assert_cmpuint (sums, ==, o->sums);
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
  compare (s, &v, &got, &unfused, 4 * tolerance); /* the pass rounds its output */
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint k = 0; k < 2; k++)
      check (&cases[i], (Options){ .amp = k == 0, .as_card = i % 2 == k }, i == 1);
}

static void
test_dense (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (dense_cases); i++)
    for (guint k = 0; k < 2; k++)
      check (&dense_cases[i], (Options){ .amp = k == 0, .as_card = i % 2 == k }, i % 4 == 1);
}

/* The factor in the loads is rounded to fp16, and all pixels of a channel share this error.  x is
 * nearly normally distributed and the convolution is the identity: the mean over a channel's pixels
 * is right to 1.4e-4 on average over the channels, and would be to 2.8e-4 if the shift did not
 * correct for it. */
static void
test_channel_means (void)
{
  const Case s = { 8, 16, 16, 64, 1, 1, 0, DYNO_ACTIVATION_RELU, 64 };
  g_auto (Values) v = values_new (&s, FALSE);
  memset (v.weight, 0, v.n_weight * sizeof *v.weight);
  g_autofree double *parts = harness_random (6, 12 * v.n_x, 1);
  for (gsize i = 0; i < v.n_x; i++)
    {
      v.x[i] = 0;
      for (guint k = 0; k < 12; k++)
        v.x[i] += parts[12 * i + k];
      v.x[i] = harness_round_f16 (v.x[i] * (1 + (double) (i % s.c) / 100));
    }
  for (guint c = 0; c < s.c; c++)
    {
      v.weight[c * s.c + c] = 1;
      v.gamma[c] = (c % 2 ? -0.5 : 0.5) * (1 + 0.0337 * c);
      v.beta[c] = 0.02 * (c % 30) - 0.3;
    }
  g_auto (Results) got = run (&s, &v, &(Options){ .amp = TRUE });
  g_auto (Results) want = expect (&s, &v);
  double squares = 0;
  for (guint c = 0; c < s.c; c++)
    {
      double sum = 0, true_sum = 0;
      for (gsize i = c; i < v.n_z; i += s.c)
        {
          sum += got.z[i];
          true_sum += want.z[i];
        }
      squares += (sum / true_sum - 1) * (sum / true_sum - 1) / s.c;
    }
  g_test_message ("means of the channels: %.2g", sqrt (squares));
  g_assert_cmpfloat (sqrt (squares), <, 2e-4);
}

static DynoConv2dShape
shape_of (const Case *s, gboolean half)
{
  const ReferenceConv2d conv = reference_of (s);
  return (DynoConv2dShape){ .n = s->n,
                            .h = s->h,
                            .w = s->w,
                            .c = s->c,
                            .cp = (s->c + 7) & ~7u,
                            .oh = reference_conv2d_oh (&conv),
                            .ow = reference_conv2d_ow (&conv),
                            .k = conv.k,
                            .kp = (conv.k + 7) & ~7u,
                            .kernel_h = s->kernel,
                            .kernel_w = s->kernel,
                            .stride_h = s->stride,
                            .stride_w = s->stride,
                            .pad_h = s->pad,
                            .pad_w = s->pad,
                            .groups = conv.groups,
                            .dtype = half ? DYNO_DTYPE_F16 : DYNO_DTYPE_F32 };
}

/* Every tile for both passes; the splits of a tile alternate between few and many. */
static void
check_variants (const Case *s, gboolean amp, guint turn)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp });
  const DynoConv2dShape shape = shape_of (s, amp);
  DynoConv2dVariant variants[DYNO_CONV2D_N_PASSES][DYNO_CONV2D_MAX_VARIANTS];
  guint counts[DYNO_CONV2D_N_PASSES] = { 0 }, fitting = 0;
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    if (pass != DYNO_CONV2D_DGRAD)
      counts[pass] = dyno_conv2d_variants (harness_info (h), &shape, pass, variants[pass]);
  for (guint i = 0; i < counts[DYNO_CONV2D_FORWARD]; i++)
    {
      Options o = { .amp = amp };
      if (variants[DYNO_CONV2D_FORWARD][i].tile->images != (s->n >= 128))
        continue;
      fitting++;
      if (!harness_takes (turn++, s->n >= 128 ? 1 : 3))
        continue;
      o.variants[DYNO_CONV2D_FORWARD] = &variants[DYNO_CONV2D_FORWARD][i].variant;
      for (guint v = 0; v < counts[DYNO_CONV2D_WGRAD]; v++)
        if (variants[DYNO_CONV2D_WGRAD][v].tile == variants[DYNO_CONV2D_FORWARD][i].tile
            && (!o.variants[DYNO_CONV2D_WGRAD] || turn % 2))
          o.variants[DYNO_CONV2D_WGRAD] = &variants[DYNO_CONV2D_WGRAD][v].variant;
      check (s, o, FALSE);
    }
  g_assert_cmpuint (fitting, >, 0);
}

static void
test_every_variant (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (variant_cases); i++)
    check_variants (&variant_cases[i], i % 2 == 1, i);
  check_variants (&variant_cases[1], FALSE, 0);
  check_variants (&variant_cases[4], TRUE, 3);
}

/* The work in the loads takes time, so forward and weight gradient have other choices than without
 * it. */
static void
test_choices (void)
{
  for (guint plain = 0; plain < 2; plain++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph =
          dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = TRUE });
      const DynoDeviceInfo info = { .shared_bytes = 32768,
                                    .max_invocations = 1024,
                                    .max_groups_x = 65535 };
      DynoTensor *x = dyno_graph_activation (graph, "x", 2, 6, 6, 8);
      DynoTensor *y = dyno_relu (graph, dyno_batch_norm (graph, x, "bn"), "relu");
      DynoTensor *z = dyno_conv2d (
          graph, y, "conv",
          &(DynoConv2dParams){
              .out_channels = 8, .kernel_h = 1, .kernel_w = 1, .init = DYNO_INIT_KAIMING_UNIFORM });
      dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
      z->gradient = dyno_graph_activation (graph, "dz", z->n, z->h, z->w, z->c);
      dyno_graph_backward (graph);
      g_assert_true (plain || dyno_fusion_apply (&dyno_fusion_norm_load, graph) == 1);
      g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info, NULL, &error);
      g_assert_no_error (error);
      GPtrArray *points = dyno_lowering_get_choice_points (lowering);
      g_assert_cmpuint (points->len, ==, DYNO_CONV2D_N_PASSES);
      for (guint i = 0; i < points->len; i++)
        {
          const DynoChoicePoint *point = g_ptr_array_index (points, i);
          g_assert_true ((strstr (point->key, " load1") != NULL)
                         == (!plain && !g_str_has_prefix (point->key, "conv2d.dgrad")));
        }
    }
}

static void
test_statistics (void)
{
  check (&dense_cases[1], (Options){ .amp = TRUE, .as_card = TRUE, .after = TRUE }, TRUE);
  check (&dense_cases[2], (Options){ .after = TRUE }, TRUE);
  check (&cases[0], (Options){ .amp = TRUE, .as_card = TRUE, .after = TRUE }, TRUE);
  check (&cases[3], (Options){ .after = TRUE }, TRUE);
}

/* The epilogue of the data gradient computes slope and sums from x. */
static void
test_gradient_sums (void)
{
  for (guint i = 0; i < 4; i++)
    check (&dense_cases[i], (Options){ .amp = i % 2 == 0, .as_card = TRUE, .sums = TRUE }, FALSE);
}

static void
test_with_less_memory (void)
{
  check (&cases[0], (Options){ .amp = TRUE, .restoring = TRUE }, FALSE);
  check (&cases[2], (Options){ .checkpointing = TRUE }, FALSE);
  check (&dense_cases[0], (Options){ .amp = TRUE, .restoring = TRUE }, FALSE);
  check (&dense_cases[0], (Options){ .checkpointing = TRUE }, FALSE);
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

/* A large mean, compared with the deviation, costs no precision. */
static void
test_large_mean (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      const Case *s = &dense_cases[0];
      double tolerance;
      g_auto (Values) v = values_new (s, FALSE);
      for (gsize i = 0; i < v.n_x; i++)
        v.x[i] = harness_round_f16 (v.x[i] + 300);
      g_auto (Results) got = run (s, &v, &(Options){ .amp = amp, .tolerance = &tolerance }),
                       want = expect (s, &v);
      harness_assert_close (got.z, want.z, v.n_z, tolerance, "z");
      harness_assert_close (got.dweight, want.dweight, v.n_weight, tolerance, "dweight");
    }
}

/* A value that is not finite makes the output of its channel not finite. */
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
  const Case *dense[] = { &dense_cases[0], &dense_cases[2], &variant_cases[1] };
  for (guint i = 0; i < G_N_ELEMENTS (dense); i++)
    {
      const Case *s = dense[i];
      g_auto (Values) v = values_new (s, TRUE);
      g_auto (Results) r = run (s, &v, &(Options){ .amp = i != 1 });
      for (gsize k = 0; k < v.n_z; k++)
        if (isfinite (r.z[k]))
          g_error ("z of dense case %u is %g", i, r.z[k]);
    }
}

/* The separate pass is kept where the kernels could not detect the border or have few channels,
 * where its output has other readers, where no batch statistics show that all of x is finite, and
 * on request.  Forms 0 and from 8 on have none of these. */
static guint
count_fused (guint form)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (
      &(DynoGraphParams){ .batch = 2, .training = TRUE, .freeze = form == 6 ? "bn" : NULL });
  const guint32 channels = form == 5 ? 4 : 8;
  DynoTensor *x = dyno_graph_activation (graph, "in", 2, 6, 6, 8);
  x = dyno_conv2d (graph, x, "first",
                   &(DynoConv2dParams){ .out_channels = channels, .kernel_h = 1, .kernel_w = 1 });
  DynoTensor *y = dyno_batch_norm (graph, x, "bn");
  y = form == 1 ? dyno_add (graph, y, x, "sum") : y;
  if (form != 2 && form != 8)
    y = dyno_activation (graph, y, form == 3 ? DYNO_ACTIVATION_SILU : DYNO_ACTIVATION_RELU6, "act");
  y->keep = form == 4;
  const guint32 kernel = form == 10 ? 1 : 3, groups = form == 5 || form == 8 || form == 10 ? 1
                                                      : form == 9                          ? 2
                                                                                           : 8;
  DynoTensor *z = dyno_conv2d (
      graph, y, "conv",
      &(DynoConv2dParams){
          .out_channels = 8, .kernel_h = kernel, .kernel_w = kernel, .groups = groups });
  z = form == 7 ? dyno_add (graph, z, dyno_max_pool (graph, y, "pool", 3, 1, 0), "two") : z;
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  z->gradient = dyno_graph_activation (graph, "dz", z->n, z->h, z->w, z->c);
  dyno_graph_backward (graph);
  dyno_fusion_apply (&dyno_fusion_gradient_sums, graph);
  g_assert_true (dyno_graph_check (graph, NULL));
  return dyno_fusion_apply (&dyno_fusion_norm_load, graph);
}

static void
test_falls_back (void)
{
  g_assert_cmpuint (count_fused (0), ==, 1);
  for (guint form = 1; form < 8; form++)
    if (count_fused (form) != 0)
      g_error ("form %u: the output is not in memory", form);
  for (guint form = 8; form < 11; form++)
    g_assert_cmpuint (count_fused (form), ==, 1);
  g_setenv ("DYNO_NORM_LOADS", "1x1", TRUE);
  g_assert_cmpuint (count_fused (9), ==, 0);
  g_assert_cmpuint (count_fused (10), ==, 1);
  g_setenv ("DYNO_NORM_LOADS", "0", TRUE);
  g_assert_cmpuint (count_fused (0), ==, 1);
  g_assert_cmpuint (count_fused (10), ==, 0);
  g_unsetenv ("DYNO_NORM_LOADS");
}

/* The results of a sum with the shortcut's batch norm, in the sum's loads and by a separate pass.
 * pairs: one pass makes the gradients of both batch norms; restoring: y is rematerialised. */
typedef struct {
  double *y, *dx, *dside, *dgamma, *dweight;
} Sum;

static void
sum_clear (Sum *s)
{
  g_free (s->y);
  g_free (s->dx);
  g_free (s->dside);
  g_free (s->dgamma);
  g_free (s->dweight);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sum, sum_clear)

static Sum
sum_run (const Case *s, gboolean amp, gboolean loads, gboolean pairs, gboolean restoring,
         gboolean sums, double *tolerance)
{
  guint fused = 0, made = 0, joined = 0;
  gsize n = (gsize) s->n * s->h * s->w * s->c, n_z = (gsize) s->n * s->h * s->w * s->k;
  g_autofree double *x = harness_random (1, n, 2), *side = harness_random (2, n, 3),
                    *gamma = harness_random (3, s->c, 2), *beta = harness_random (4, s->c, 1),
                    *dz = harness_random (5, n_z, 1);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp,
                                                         .training = TRUE,
                                                         .batch = s->n,
                                                         .as_card = TRUE,
                                                         .restoring = restoring,
                                                         .gradient_sums = sums ? &made : NULL,
                                                         .norm_loads = loads ? &fused : NULL,
                                                         .pairs = pairs ? &joined : NULL });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", s->n, s->h, s->w, s->c, x),
             *other = harness_input (h, "side", s->n, s->h, s->w, s->c, side);
  DynoTensor *y = dyno_add (graph, dyno_batch_norm (graph, input, "bn"),
                            dyno_batch_norm (graph, other, "shortcut"), "sum");
  if (s->activation)
    y = dyno_activation (graph, y, s->activation, "act");
  DynoTensor *z = dyno_conv2d (
      graph, y, "conv",
      &(DynoConv2dParams){
          .out_channels = s->k, .kernel_h = 1, .kernel_w = 1, .init = DYNO_INIT_KAIMING_UNIFORM });
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  harness_set_parameter (h, "bn.weight", beta);
  harness_set_parameter (h, "shortcut.weight", gamma);
  harness_set_parameter (h, "shortcut.bias", beta);
  harness_set_gradient (h, z, dz);
  harness_run (h);
  g_assert_cmpuint (fused, ==, loads);
  g_assert_cmpuint (joined, ==, pairs);
  g_assert_cmpuint (made, ==, sums);
  *tolerance = harness_tolerance (h);
  g_assert_cmpint (harness_has_again (h, y), ==, restoring && loads);
  return (Sum){ .y = harness_read (h, y),
                .dx = harness_read_gradient (h, input),
                .dside = harness_read_gradient (h, other),
                .dgamma = harness_read_parameter_gradient (h, "shortcut.weight"),
                .dweight = harness_read_parameter_gradient (h, "conv.weight") };
}

static void
test_shortcut (void)
{
  static const Case sum_cases[] = { { 2, 7, 5, 24, 1, 1, 0, DYNO_ACTIVATION_RELU, 16 },
                                    { 1, 5, 9, 12, 1, 1, 0, DYNO_ACTIVATION_NONE, 9 } };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (sum_cases); i++)
    {
      const Case *s = &sum_cases[i / 2];
      gsize n = (gsize) s->n * s->h * s->w * s->c;
      gboolean amp = i % 2, sums = i / 2 == 0;
      double tolerance;
      g_auto (Sum) plain = sum_run (s, amp, FALSE, FALSE, FALSE, sums, &tolerance);
      g_auto (Sum) got = sum_run (s, amp, TRUE, FALSE, FALSE, sums, &tolerance);
      g_auto (Sum) again = sum_run (s, amp, TRUE, FALSE, TRUE, sums, &tolerance);
      g_auto (Sum) pair = sum_run (s, amp, TRUE, TRUE, FALSE, sums, &tolerance);
      g_auto (Sum) pair_again = sum_run (s, amp, TRUE, TRUE, TRUE, sums, &tolerance);
      harness_assert_close (got.y, plain.y, n, tolerance, "y");
      harness_assert_close (got.dx, plain.dx, n, tolerance, "dx");
      harness_assert_close (got.dside, plain.dside, n, tolerance, "dside");
      harness_assert_close (got.dgamma, plain.dgamma, s->c, tolerance, "dgamma");
      harness_assert_close (got.dweight, plain.dweight, (gsize) s->c * s->k, tolerance, "dweight");
      g_assert_cmpmem (again.dx, n * sizeof (double), got.dx, n * sizeof (double));
      g_assert_cmpmem (again.dside, n * sizeof (double), got.dside, n * sizeof (double));
      g_assert_cmpmem (again.dweight, s->c * s->k * sizeof (double), got.dweight,
                       s->c * s->k * sizeof (double));
      harness_assert_close (pair.dx, got.dx, n, tolerance / 10, "dx of a pair");
      harness_assert_close (pair.dside, got.dside, n, tolerance / 10, "dside of a pair");
      harness_assert_close (pair.dgamma, got.dgamma, s->c, tolerance / 10, "dgamma of a pair");
      g_assert_cmpmem (pair_again.dx, n * sizeof (double), pair.dx, n * sizeof (double));
      g_assert_cmpmem (pair_again.dside, n * sizeof (double), pair.dside, n * sizeof (double));
      g_assert_cmpmem (pair_again.dweight, s->c * s->k * sizeof (double), got.dweight,
                       s->c * s->k * sizeof (double));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/norm-loads/falls-back", test_falls_back);
  g_test_add_func ("/nn/norm-loads/other-choices", test_choices);
  g_test_add_func ("/nn/norm-loads/matches-reference", test_matches);
  g_test_add_func ("/nn/norm-loads/dense-matches-reference", test_dense);
  g_test_add_func ("/nn/norm-loads/channel-means", test_channel_means);
  g_test_add_func ("/nn/norm-loads/large-mean", test_large_mean);
  g_test_add_func ("/nn/norm-loads/every-variant-matches-reference", test_every_variant);
  g_test_add_func ("/nn/norm-loads/statistics-of-the-next", test_statistics);
  g_test_add_func ("/nn/norm-loads/gradient-sums-beside", test_gradient_sums);
  g_test_add_func ("/nn/norm-loads/with-less-memory", test_with_less_memory);
  g_test_add_func ("/nn/norm-loads/equal-bits", test_equal_bits);
  g_test_add_func ("/nn/norm-loads/infinity", test_infinity);
  g_test_add_func ("/nn/norm-loads/shortcut-in-the-sum", test_shortcut);
  return g_test_run ();
}
