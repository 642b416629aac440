/* SPDX-License-Identifier: MIT */
/* The sums of batch norm's backward pass, made by the kernel that writes dy, compared with those of
 * the pass that reads dy, on the same inputs. */
#include "conv2d-private.h"
#include "fusion.h"
#include "harness.h"
#include "infos.h"
#include "network.h"
#include "plan.h"
#include <string.h>

typedef enum { PLAIN, RELU, RELU6, RESIDUAL } Form;

/* batch norm -> convolution; second: y has another reader, to whose gradient the convolution's data
 * gradient is added. */
typedef struct {
  guint32 n, side, c, out, kernel, stride, pad, groups;
  Form form;
  gboolean second;
} Case;

static const Case cases[] = {
  { 2, 12, 24, 40, 1, 1, 0, 1, RELU, FALSE },     { 3, 11, 10, 12, 3, 1, 1, 1, RELU6, TRUE },
  { 2, 13, 72, 24, 3, 2, 1, 1, RELU, FALSE },     { 2, 13, 16, 24, 3, 2, 1, 1, RESIDUAL, TRUE },
  { 2, 9, 12, 32, 1, 2, 0, 1, RESIDUAL, TRUE },   { 2, 9, 40, 8, 1, 2, 0, 1, PLAIN, FALSE },
  { 2, 12, 136, 24, 1, 1, 0, 1, RESIDUAL, TRUE }, { 2, 12, 20, 24, 1, 1, 0, 1, PLAIN, TRUE },
  { 3, 13, 40, 40, 3, 1, 1, 40, RELU6, FALSE },   { 3, 13, 36, 36, 3, 2, 1, 36, RELU6, FALSE },
  { 2, 11, 20, 20, 5, 1, 2, 20, RELU, TRUE },     { 2, 11, 20, 20, 5, 2, 2, 20, PLAIN, TRUE },
  { 2, 11, 32, 32, 3, 1, 1, 2, RELU, FALSE },     { 2, 13, 72, 24, 3, 1, 1, 1, RESIDUAL, FALSE },
};

typedef struct {
  double *dx, *dgamma, *dbeta, *dresidual, *dweight;
  gsize n_dx, n_dweight;
  double tolerance;
} Results;

static void
results_clear (Results *r)
{
  g_free (r->dx);
  g_free (r->dgamma);
  g_free (r->dbeta);
  g_free (r->dresidual);
  g_free (r->dweight);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Results, results_clear)

typedef struct {
  gboolean amp, as_card, restoring, sums;
  /* The residual has no other reader, so y is not rematerialised from it. */
  gboolean alone;
  const DynoVariant *variant; /* of the data gradient; NULL: the best guess */
  GArray **variants;          /* if not NULL, the variants are listed there and nothing runs */
} Options;

static Results
run (const Case *s, const Options *o)
{
  Results r = { .n_dx = (gsize) s->n * s->side * s->side * s->c,
                .n_dweight = (gsize) s->out * (s->c / s->groups) * s->kernel * s->kernel };
  guint fused = 0;
  g_autofree double *x = harness_random (1, r.n_dx, 2), *added = harness_random (2, r.n_dx, 1),
                    *gamma = harness_random (3, s->c, 1), *beta = harness_random (4, s->c, 1);
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = o->amp,
                                     .training = TRUE,
                                     .batch = s->n,
                                     .as_card = o->as_card,
                                     .restoring = o->restoring,
                                     .gradient_sums = o->sums ? &fused : NULL });
  DynoGraph *graph = harness_graph (h);
  DynoTensor *input = harness_input (h, "x", s->n, s->side, s->side, s->c, x),
             *residual = s->form == RESIDUAL
                             ? harness_input (h, "r", s->n, s->side, s->side, s->c, added)
                             : NULL;
  if (residual)
    residual->keep =
        o->restoring && !o->alone; /* as a tensor that another node of the backward pass reads */
  DynoTensor *y = dyno_batch_norm (graph, input, "bn");
  y = residual ? dyno_add (graph, y, residual, "add") : y;
  if (s->form == RELU6)
    y = dyno_activation (graph, y, DYNO_ACTIVATION_RELU6, "relu");
  else if (s->form != PLAIN)
    y = dyno_relu (graph, y, "relu");
  DynoTensor *z = dyno_conv2d (graph, y, "conv",
                               &(DynoConv2dParams){ .out_channels = s->out,
                                                    .kernel_h = s->kernel,
                                                    .kernel_w = s->kernel,
                                                    .stride_h = s->stride,
                                                    .stride_w = s->stride,
                                                    .pad_h = s->pad,
                                                    .pad_w = s->pad,
                                                    .groups = s->groups,
                                                    .init = DYNO_INIT_KAIMING_UNIFORM });
  DynoTensor *other =
      s->second ? dyno_conv2d (
          graph, y, "other",
          &(DynoConv2dParams){
              .out_channels = 8, .kernel_h = 1, .kernel_w = 1, .init = DYNO_INIT_KAIMING_UNIFORM })
                : NULL;
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  harness_set_parameter (h, "bn.weight", gamma);
  harness_set_parameter (h, "bn.bias", beta);
  gsize n_z = (gsize) z->n * z->h * z->w * z->c;
  g_autofree double *dz = harness_random (5, n_z, 1),
                    *dother = harness_random (6, (gsize) s->n * s->side * s->side * 8, 1);
  harness_set_gradient (h, z, dz);
  if (other)
    harness_set_gradient (h, other, dother);
  if (o->variants)
    {
      *o->variants = harness_variants (h, "conv2d.dgrad");
      return r;
    }
  if (o->variant)
    harness_force (h, "conv2d.dgrad", o->variant);
  harness_run (h);
  g_assert_cmpuint (fused, ==, o->sums);
  g_assert_cmpint (harness_has_again (h, y), ==, o->restoring && !o->alone);
  r.tolerance = harness_tolerance (h);
  r.dx = harness_read_gradient (h, input);
  r.dgamma = harness_read_parameter_gradient (h, "bn.weight");
  r.dbeta = harness_read_parameter_gradient (h, "bn.bias");
  r.dweight = harness_read_parameter_gradient (h, "conv.weight");
  r.dresidual = residual ? harness_read_gradient (h, residual) : NULL;
  return r;
}

static void
check (const Case *s, Options o)
{
  char label[DYNO_VARIANT_LABEL] = "";
  if (o.variant)
    dyno_variant_print (o.variant, label);
  g_test_message ("%u^2 x %u, %ux%u/%u, %s %s %s", s->side, s->c, s->kernel, s->kernel, s->stride,
                  o.amp ? "amp" : "fp32", o.as_card ? "card" : "", label);
  o.sums = FALSE;
  g_auto (Results) plain = run (s, &o);
  o.sums = TRUE;
  g_auto (Results) got = run (s, &o);
  harness_assert_close (got.dbeta, plain.dbeta, s->c, plain.tolerance, "dbeta");
  harness_assert_close (got.dgamma, plain.dgamma, s->c, plain.tolerance, "dgamma");
  harness_assert_close (got.dx, plain.dx, plain.n_dx, plain.tolerance, "dx");
  /* the slopes are 0 and 1, so the gradients after them have the same bits */
  if (plain.dresidual)
    g_assert_cmpmem (got.dresidual, plain.n_dx * sizeof (double), plain.dresidual,
                     plain.n_dx * sizeof (double));
  g_assert_cmpmem (got.dweight, plain.n_dweight * sizeof (double), plain.dweight,
                   plain.n_dweight * sizeof (double));
}

static void
test_as_the_pass (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint as_card = 0; as_card < 2; as_card++)
      if (harness_takes (i + as_card, 2) || (cases[i].kernel == 1 && cases[i].stride == 2))
        check (&cases[i], (Options){ .amp = (i / 2 + as_card) % 2, .as_card = as_card });
}

/* All kernels of the device for the data gradient, also those that split the K axis. */
static void
test_every_variant (void)
{
  /* More of the first case, since it has all kinds. */
  static const guint which[] = { 1, 6, 3, 0, 13 };
  for (guint amp = 0; amp < 2; amp++)
    for (guint i = 0; i < G_N_ELEMENTS (which); i++)
      {
        const Case *s = &cases[which[i]];
        GArray *variants = NULL;
        Results none = run (s, &(Options){ .amp = amp, .sums = TRUE, .variants = &variants });
        results_clear (&none);
        g_assert_cmpuint (variants->len, >, 0);
        for (guint v = i; v < variants->len; v += i == 0 && amp ? 2 : 4)
          check (s, (Options){ .amp = amp, .variant = &g_array_index (variants, DynoVariant, v) });
        g_array_unref (variants);
      }
}

static void
test_equal_bits (void)
{
  static const guint which[] = { 0, 3, 8, 9 };
  for (guint i = 0; i < G_N_ELEMENTS (which); i++)
    {
      const Case *s = &cases[which[i]];
      const Options o = { .amp = TRUE, .as_card = TRUE, .sums = TRUE };
      g_auto (Results) a = run (s, &o);
      g_auto (Results) b = run (s, &o);
      g_assert_cmpmem (a.dx, a.n_dx * sizeof (double), b.dx, b.n_dx * sizeof (double));
      g_assert_cmpmem (a.dgamma, s->c * sizeof (double), b.dgamma, s->c * sizeof (double));
      g_assert_cmpmem (a.dbeta, s->c * sizeof (double), b.dbeta, s->c * sizeof (double));
    }
}

/* The gradient pass rematerialises y. */
static void
test_rematerialises (void)
{
  check (&cases[0], (Options){ .amp = TRUE, .as_card = TRUE, .restoring = TRUE });
  check (&cases[8], (Options){ .as_card = TRUE, .restoring = TRUE });
  check (&cases[5], (Options){ .as_card = TRUE, .restoring = TRUE });
  check (&cases[3], (Options){ .amp = TRUE, .as_card = TRUE, .restoring = TRUE });
  check (&cases[13], (Options){ .as_card = TRUE, .restoring = TRUE });
  check (&cases[13], (Options){ .as_card = TRUE, .restoring = TRUE, .alone = TRUE });
}

/* A separate pass makes the sums where the kernel that writes dy cannot: where dy is not written by
 * a convolution only, where it could not be stored after the activation, and where other ops read
 * the gradient itself. */
static guint
count_fused (guint form)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 2, .training = TRUE });
  DynoConv2dParams params = { .out_channels = 8, .kernel_h = 1, .kernel_w = 1 };
  DynoTensor *x =
      dyno_conv2d (graph, dyno_graph_activation (graph, "in", 2, 6, 6, 8), "first", &params);
  DynoTensor *y = dyno_batch_norm (graph, x, "bn");
  y = form == 1 ? dyno_activation (graph, y, DYNO_ACTIVATION_SILU, "act")
                : dyno_relu (graph, y, "act");
  y = form == 2 ? dyno_add (graph, y, dyno_relu (graph, x, "side"), "sum") : y;
  y = form == 3 ? dyno_max_pool (graph, y, "pool", 2, 2, 0) : y;
  DynoTensor *z = dyno_conv2d (graph, y, "conv", &params);
  z = form == 4 ? dyno_add (graph, z, y, "late") : z;
  dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  z->gradient = dyno_graph_activation (graph, "dz", z->n, z->h, z->w, z->c);
  dyno_graph_backward (graph);
  g_assert_true (dyno_graph_check (graph, NULL));
  return dyno_fusion_apply (&dyno_fusion_gradient_sums, graph);
}

static void
test_falls_back (void)
{
  g_assert_cmpuint (count_fused (0), ==, 1);
  g_assert_cmpuint (count_fused (1), ==, 0); /* SiLU */
  /* dy is the gradient of the sum, which the other operand reads. */
  g_assert_cmpuint (count_fused (2), ==, 0);
  g_assert_cmpuint (count_fused (3), ==, 0); /* only the winners are summed */
  g_assert_cmpuint (count_fused (4), ==, 0); /* the addition writes the last part of dy */
}

/* Where its sums are made, dy is stored after the slope.  Variants among which the tuner chooses by
 * time write the same values, or it would refuse one of them as wrong. */
static void
test_variants_agree (void)
{
  const DynoDeviceInfo *const infos[] = { &info_card, &info_cpu };
  static const guint32 sides[] = { 7, 16, 56 };
  guint with = 0, without = 0;
  for (guint i = 0; i < G_N_ELEMENTS (infos) * G_N_ELEMENTS (sides) * 4; i++)
    {
      const DynoDeviceInfo *info = infos[i % 2];
      guint32 side = sides[i / 4 % G_N_ELEMENTS (sides)], kernel = i < 12 ? 1 : 3;
      const DynoConv2dShape shape = { .n = 8,
                                      .h = side,
                                      .w = side,
                                      .c = 64,
                                      .cp = 64,
                                      .oh = side,
                                      .ow = side,
                                      .k = 64,
                                      .kp = 64,
                                      .kernel_h = kernel,
                                      .kernel_w = kernel,
                                      .stride_h = 1,
                                      .stride_w = 1,
                                      .pad_h = kernel / 2,
                                      .pad_w = kernel / 2,
                                      .groups = 1,
                                      .dtype = i / 2 % 2 ? DYNO_DTYPE_F16 : DYNO_DTYPE_F32,
                                      .fused = { .norm = DYNO_NORM_ID_SLOPE_MASK,
                                                 .norm_activation = DYNO_ACTIVATION_RELU } };
      DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
      guint n = dyno_conv2d_variants (info, &shape, DYNO_CONV2D_DGRAD, variants), made = 0;
      g_assert_cmpuint (n, >, 1);
      for (guint v = 0; v < n; v++)
        made += dyno_conv2d_norm_groups (info, &shape, &variants[v]) > 0;
      g_assert_true (made == 0 || made == n);
      with += made > 0;
      without += made == 0;
    }
  g_assert_cmpuint (with, >, 0);
  g_assert_cmpuint (without, >, 0);
}

/* In whole networks on a GPU, separate passes are left for the pooled batch norm, for those of
 * shortcuts, whose dy is the gradient of the sum, for the last one, which no convolution follows,
 * and where the data gradient has so few tiles that it is split.  Every second block output is
 * dropped after the forward pass. */
static void
test_networks (void)
{
  static const struct {
    const char *model;
    guint batch, passes, mib;
  } rows[] = { { "resnet50", 128, 9, 3526 },
               { "resnet18", 128, 5, 827 },
               { "mobilenetv2", 128, 4, 1734 },
               { "mobilenetv2", 256, 4, 3467 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      DynoNetworkParams params = { .model = rows[i].model,
                                   .batch = rows[i].batch,
                                   .schema = dyno_schema_image (DYNO_ELEMENT_F32, 224, 224, 3, 0),
                                   .n_outputs = 1000,
                                   .precision = dyno_precision_of_amp (TRUE),
                                   .mode = DYNO_MODE_TRAIN };
      DynoPlan plan;
      guint passes = 0;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info_card, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (dyno_plan_compute (lowering, 2, DYNO_PLAN_DEFAULT, &plan, &error));
      GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
      for (guint k = 0; k < dispatches->len; k++)
        {
          const DynoDispatch *dispatch = g_ptr_array_index (dispatches, k);
          passes += g_str_equal (dispatch->node->op->name, "batch_norm_backward")
                    && g_str_equal (dispatch->pass, "reduce");
        }
      g_test_message ("%s: %u passes, %" G_GUINT64_FORMAT " bytes of arena", rows[i].model, passes,
                      plan.space_bytes[DYNO_SPACE_ARENA]);
      g_assert_cmpuint (passes, <=, rows[i].passes);
      g_assert_cmpuint (plan.space_bytes[DYNO_SPACE_ARENA], <=, (guint64) rows[i].mib << 20);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/gradient-sums/falls-back", test_falls_back);
  g_test_add_func ("/nn/gradient-sums/variants-agree", test_variants_agree);
  g_test_add_func ("/nn/gradient-sums/networks", test_networks);
  g_test_add_func ("/nn/gradient-sums/as-the-pass", test_as_the_pass);
  g_test_add_func ("/nn/gradient-sums/every-variant", test_every_variant);
  g_test_add_func ("/nn/gradient-sums/equal-bits", test_equal_bits);
  g_test_add_func ("/nn/gradient-sums/rematerialises", test_rematerialises);
  return g_test_run ();
}
