/* SPDX-License-Identifier: MIT */
/* A batch norm by running statistics, applied by the convolution before it, compared with both as
 * separate ops, on the same inputs. */
#include "fusion.h"
#include "harness.h"
#include "infos.h"
#include "network.h"
#include <math.h>
#include <string.h>

typedef enum { PLAIN, RELU, RELU6, SILU, LEAKY_RELU, RESIDUAL, RESIDUAL_RELU } Form;

typedef struct {
  guint32 n, side, c, out, kernel, stride, pad, groups;
  Form form;
  double eps; /* 0: the default value */
} Case;

static const Case cases[] = {
  { 2, 12, 24, 40, 1, 1, 0, 1, RESIDUAL_RELU },
  { 3, 11, 16, 12, 3, 1, 1, 1, RELU },
  { 2, 13, 72, 24, 3, 2, 1, 1, RESIDUAL, 0.5 },
  { 2, 9, 12, 36, 1, 2, 0, 1, PLAIN },
  { 2, 17, 3, 40, 3, 1, 1, 1, RELU6 },
  { 1, 30, 3, 24, 7, 2, 3, 1, RESIDUAL_RELU, 0.25 },
  { 1, 7, 136, 40, 3, 1, 1, 1, RESIDUAL_RELU, 0.5 },
  { 2, 11, 32, 32, 3, 1, 1, 2, SILU },
  { 3, 13, 40, 40, 3, 1, 1, 40, RELU6, 0.5 },
  { 2, 11, 20, 20, 5, 2, 2, 20, PLAIN },
  { 2, 8, 20, 20, 3, 1, 1, 20, LEAKY_RELU },
  { 2, 9, 12, 20, 1, 1, 0, 1, LEAKY_RELU },
};

typedef struct {
  gboolean amp, as_card, fused;
  const DynoVariant *variant; /* of the convolution; NULL: the best guess */
  GArray **variants;          /* if not NULL, the variants are listed there and nothing runs */
} Options;

static double *
make_variances (gsize n)
{
  double *values = harness_random (9, n, 1);
  for (gsize i = 0; i < n; i++)
    values[i] = 0.25 + fabs (values[i]);
  return values;
}

static DynoTensor *
build (Harness *h, const Case *s, const double *x, const double *added)
{
  DynoGraph *graph = harness_graph (h);
  DynoTensor *z =
      dyno_conv2d (graph, harness_input (h, "x", s->n, s->side, s->side, s->c, x), "conv",
                   &(DynoConv2dParams){ .out_channels = s->out,
                                        .kernel_h = s->kernel,
                                        .kernel_w = s->kernel,
                                        .stride_h = s->stride,
                                        .stride_w = s->stride,
                                        .pad_h = s->pad,
                                        .pad_w = s->pad,
                                        .groups = s->groups,
                                        .init = DYNO_INIT_KAIMING_UNIFORM });
  DynoTensor *y =
      dyno_batch_norm_with_params (graph, z, "bn", &(DynoBatchNormParams){ .eps = s->eps });
  if (s->form >= RESIDUAL)
    y = dyno_add (graph, y, harness_input (h, "r", y->n, y->h, y->w, y->c, added), "add");
  if (s->form == RELU || s->form == RESIDUAL_RELU)
    y = dyno_relu (graph, y, "act");
  else if (s->form == RELU6 || s->form == SILU)
    y = dyno_activation (graph, y, s->form == SILU ? DYNO_ACTIVATION_SILU : DYNO_ACTIVATION_RELU6,
                         "act");
  else if (s->form == LEAKY_RELU)
    y = dyno_activation_with_parameter (graph, y, DYNO_ACTIVATION_LEAKY_RELU, 0.4, "act");
  return y;
}

/* Applies the other rules for a batch norm and its followers, and with `fused` also the tested
 * rule. */
static double *
run (const Case *s, const Options *o, gsize *n, double *tolerance)
{
  guint32 side = (s->side + 2 * s->pad - s->kernel) / s->stride + 1;
  *n = (gsize) s->n * side * side * s->out;
  g_autofree double *x = harness_random (1, (gsize) s->n * s->side * s->side * s->c, 2),
                    *added = harness_random (2, *n, 1), *gamma = harness_random (3, s->out, 1),
                    *beta = harness_random (4, s->out, 1), *mean = harness_random (5, s->out, 1),
                    *variance = make_variances (s->out);
  g_autoptr (Harness) h = harness_new (&(HarnessParams){
      .amp = o->amp, .batch = s->n, .as_card = o->as_card, .kind = DYNO_COMMAND_FORWARD });
  DynoTensor *y = build (h, s, x, added);
  y->keep = TRUE;
  dyno_fusion_apply (&dyno_fusion_norm_sum, harness_graph (h));
  dyno_fusion_apply (&dyno_fusion_norm_activation, harness_graph (h));
  dyno_fusion_apply (&dyno_fusion_norm_sum, harness_graph (h));
  if (o->fused)
    g_assert_cmpuint (dyno_fusion_apply (&dyno_fusion_running_norm, harness_graph (h)), ==, 1);
  harness_set_parameter (h, "bn.weight", gamma);
  harness_set_parameter (h, "bn.bias", beta);
  harness_set_parameter (h, "bn.running_mean", mean);
  harness_set_parameter (h, "bn.running_var", variance);
  if (o->variants)
    {
      *o->variants = harness_variants (h, "conv2d.forward");
      return NULL;
    }
  if (o->variant)
    harness_force (h, "conv2d.forward", o->variant);
  harness_run (h);
  *tolerance = harness_tolerance (h);
  return harness_read (h, y);
}

static void
check (const Case *s, Options o)
{
  char label[DYNO_VARIANT_LABEL] = "";
  gsize n;
  double tolerance;
  if (o.variant)
    dyno_variant_print (o.variant, label);
  g_test_message ("%u^2 x %u, %ux%u/%u of %u, form %u %s %s %s", s->side, s->c, s->kernel,
                  s->kernel, s->stride, s->groups, s->form, o.amp ? "amp" : "fp32",
                  o.as_card ? "card" : "", label);
  o.fused = FALSE;
  g_autofree double *apart = run (s, &o, &n, &tolerance);
  o.fused = TRUE;
  g_autofree double *got = run (s, &o, &n, &tolerance);
  harness_assert_close (got, apart, n, tolerance, "y");
}

static void
test_as_apart (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint as_card = 0; as_card < 2; as_card++)
      check (&cases[i], (Options){ .amp = (i + as_card) % 2, .as_card = as_card });
}

/* All kernels of the device for a convolution, also kernels that split the K axis and whose parts
 * another kernel sums. */
static void
test_every_variant (void)
{
  static const guint which[] = { 6, 1, 5 };
  guint splits = 0;
  for (guint amp = 0; amp < 2; amp++)
    for (guint i = 0; i < G_N_ELEMENTS (which); i++)
      {
        const Case *s = &cases[which[i]];
        GArray *variants = NULL;
        gsize n;
        double tolerance;
        run (s, &(Options){ .amp = amp, .fused = TRUE, .variants = &variants }, &n, &tolerance);
        g_assert_cmpuint (variants->len, >, 0);
        for (guint v = 0; v < variants->len; v++)
          {
            if (!harness_takes (v + i + amp, 3))
              continue;
            const DynoVariant *variant = &g_array_index (variants, DynoVariant, v);
            splits += variant->splits > 1;
            check (s, (Options){ .amp = amp, .variant = variant });
          }
        g_array_unref (variants);
      }
  g_assert_cmpuint (splits, >, 0);
}

typedef enum {
  FUSES,
  IN_TRAINING,
  WITH_BIAS,
  READ_TWICE,
  KEPT,
  POOLED,
  DEPTHWISE_RESIDUAL,
} Obstacle;

static guint
count_fused (Obstacle obstacle)
{
  g_autoptr (DynoGraph) graph =
      dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = obstacle == IN_TRAINING });
  DynoTensor *in = dyno_graph_activation (graph, "in", 2, 6, 6, 16);
  DynoTensor *x =
      dyno_conv2d (graph, in, "conv",
                   &(DynoConv2dParams){ .out_channels = 16,
                                        .kernel_h = 3,
                                        .kernel_w = 3,
                                        .pad_h = 1,
                                        .pad_w = 1,
                                        .bias = obstacle == WITH_BIAS,
                                        .groups = obstacle == DEPTHWISE_RESIDUAL ? 16 : 1 });
  DynoTensor *y = dyno_batch_norm (graph, x, "bn");
  y = obstacle == DEPTHWISE_RESIDUAL ? dyno_add (graph, y, in, "add") : y;
  y = dyno_relu (graph, y, "relu");
  y = obstacle == POOLED ? dyno_max_pool (graph, y, "pool", 2, 2, 0) : y;
  if (obstacle == READ_TWICE)
    dyno_add (graph, y, x, "other");
  x->keep = obstacle == KEPT;
  dyno_fusion_apply (&dyno_fusion_norm_sum, graph);
  dyno_fusion_apply (&dyno_fusion_norm_activation, graph);
  dyno_fusion_apply (&dyno_fusion_norm_pool, graph);
  g_assert_true (dyno_graph_check (graph, NULL));
  return dyno_fusion_apply (&dyno_fusion_running_norm, graph);
}

static void
test_falls_back (void)
{
  g_assert_cmpuint (count_fused (FUSES), ==, 1);
  for (Obstacle obstacle = IN_TRAINING; obstacle <= DEPTHWISE_RESIDUAL; obstacle++)
    g_assert_cmpuint (count_fused (obstacle), ==, 0);
}

/* In prediction and evaluation no separate pass of a batch norm is left, except before pooling. */
static void
test_networks (void)
{
  static const struct {
    const char *model;
    guint pools;
  } rows[] = {
    { "resnet18", 1 }, { "resnet50", 1 }, { "mobilenetv2", 0 }, { "efficientnet_b0", 0 }
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows) * 2; i++)
    {
      g_autoptr (GError) error = NULL;
      DynoNetworkParams params = { .model = rows[i / 2].model,
                                   .batch = 4,
                                   .schema = dyno_schema_image (DYNO_ELEMENT_F32, 64, 64, 3, 0),
                                   .n_outputs = 10,
                                   .precision = dyno_precision_of_amp (TRUE),
                                   .mode = i % 2 ? DYNO_MODE_PREDICT : DYNO_MODE_EVALUATE };
      guint applies = 0, pools = 0;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info_card, NULL, &error);
      g_assert_no_error (error);
      GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
      for (guint k = 0; k < dispatches->len; k++)
        {
          const DynoDispatch *dispatch = g_ptr_array_index (dispatches, k);
          gboolean is_norm = g_str_equal (dispatch->node->op->name, "batch_norm");
          applies += is_norm && g_str_equal (dispatch->pass, "apply");
          pools += is_norm && g_str_equal (dispatch->pass, "pool");
        }
      g_test_message ("%s: %u applied, %u pooled", rows[i / 2].model, applies, pools);
      g_assert_cmpuint (applies, ==, 0);
      g_assert_cmpuint (pools, ==, rows[i / 2].pools);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/affine/falls-back", test_falls_back);
  g_test_add_func ("/nn/affine/networks", test_networks);
  g_test_add_func ("/nn/affine/as-apart", test_as_apart);
  g_test_add_func ("/nn/affine/every-variant", test_every_variant);
  return g_test_run ();
}
