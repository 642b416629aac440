/* SPDX-License-Identifier: MIT */
/* The self-test: small convolutions by every variant, compared with a plain double convolution on
 * the host.
 *
 * Each tile runs as a graph of its own, through the same lowering, plan and program as a net, with
 * the tile forced at every choice.  The shapes have products that are whole tiles and such that are
 * not, strides, channels to be padded, and few channels.  Outputs are poisoned with NaN before, so
 * that an element never written does not pass. */
#include "selftest.h"
#include "conv2d-private.h"
#include "half.h"
#include "network.h"
#include "ops.h"
#include "vetting-private.h"
#include <math.h>
#include <string.h>

/* Normalised mean squared error: rounding at the end, and the order of sums. */
#define TOLERANCE_HALF   5e-6
#define TOLERANCE_SINGLE 1e-7

typedef struct {
  guint32 n, h, w, c, k, kernel, stride, pad;
  guint32 groups;
} Case;

static double
tolerance_of (const DynoPrecision *precision)
{
  return precision->compute == DYNO_DTYPE_F32 ? TOLERANCE_SINGLE : TOLERANCE_HALF;
}

#define MAX_CASES 5

/* A kind of convolution and its shapes. */
typedef struct {
  const char *label; /* NULL: each tile in turn */
  guint n_cases;
  Case cases[MAX_CASES];
} Kind;

static const Kind kinds[] = {
  { NULL,
    5,
    { { 2, 16, 16, 64, 256, 1, 1, 0, 1 },
      { 2, 9, 11, 24, 40, 3, 1, 1, 1 },
      { 1, 13, 10, 10, 33, 3, 2, 1, 1 },
      { 2, 17, 40, 3, 40, 3, 1, 1, 1 },
      { 1, 30, 33, 3, 24, 7, 2, 3, 1 } } },
  { "depthwise",
    3,
    { { 2, 9, 11, 24, 24, 3, 1, 1, 24 },
      { 1, 13, 10, 10, 10, 3, 2, 1, 10 },
      { 2, 7, 6, 33, 33, 5, 1, 2, 33 } } },
  { "grouped", 2, { { 2, 9, 11, 64, 64, 3, 1, 1, 16 }, { 1, 7, 6, 12, 18, 3, 2, 1, 3 } } },
};
#define TILED (&kinds[0])

/* One case on host and device. */
typedef struct {
  Case s;
  guint32 oh, ow;
  gsize n_x, n_y, n_weight;
  float *x, *dy, *weight; /* dense; weight in torchvision's order */
  double *y_want, *dx_want, *dw_want;
  const DynoPrecision *precision;
  DynoGraph *graph;
  DynoTensor *input, *output, *seed; /* x, y, dy */
} Trial;

/* Values in (-1, 1), exact in fp16. */
static float *
fill (gsize n, guint32 seed)
{
  float *values = g_new (float, n);
  guint32 state = seed * 2654435769u + 1;
  for (gsize i = 0; i < n; i++)
    {
      state = state * 1664525u + 1013904223u;
      values[i] = (float) ((int) (state >> 21) - 1024) / 1024.0f;
    }
  return values;
}

/* Every product of the convolution once, into all three sums. */
static void
reference (Trial *t)
{
  const Case *s = &t->s;
  gsize taps = (gsize) s->kernel * s->kernel;

  for (gsize i = 0; i < (gsize) s->n * t->oh * t->ow * taps; i++)
    {
      gsize pixel = i / taps, tap = i % taps, image = pixel / (t->oh * t->ow);
      gint64 y = (gint64) (pixel / t->ow % t->oh * s->stride + tap / s->kernel) - s->pad;
      gint64 x = (gint64) (pixel % t->ow * s->stride + tap % s->kernel) - s->pad;
      if (y < 0 || x < 0 || y >= s->h || x >= s->w)
        continue;
      gsize x_at = ((image * s->h + (gsize) y) * s->w + (gsize) x) * s->c;
      guint32 per_group = s->c / s->groups;
      for (guint32 k = 0; k < s->k; k++)
        for (guint32 i_c = 0; i_c < per_group; i_c++)
          {
            guint32 c = k / (s->k / s->groups) * per_group + i_c;
            gsize w_at = ((gsize) k * per_group + i_c) * taps + tap;
            double in = t->x[x_at + c], weight = t->weight[w_at], dy = t->dy[pixel * s->k + k];
            t->y_want[pixel * s->k + k] += in * weight;
            t->dx_want[x_at + c] += dy * weight;
            t->dw_want[w_at] += dy * in;
          }
    }
}

static void
trial_clear (Trial *t)
{
  g_free (t->x);
  g_free (t->dy);
  g_free (t->weight);
  g_free (t->y_want);
  g_free (t->dx_want);
  g_free (t->dw_want);
  dyno_graph_free (t->graph);
}

static gboolean
trial_init (Trial *t, const Case *s, const DynoPrecision *precision, GError **error)
{
  gboolean accumulate;
  *t = (Trial){ .s = *s, .precision = precision };
  t->graph = dyno_graph_new (
      &(DynoGraphParams){ .batch = s->n, .precision = *precision, .training = TRUE });
  t->input = dyno_graph_activation (t->graph, "x", s->n, s->h, s->w, s->c);
  if (t->input)
    t->input->needs_gradient = TRUE;
  t->output = dyno_conv2d (t->graph, t->input, "conv",
                           &(DynoConv2dParams){ .out_channels = s->k,
                                                .kernel_h = s->kernel,
                                                .kernel_w = s->kernel,
                                                .stride_h = s->stride,
                                                .stride_w = s->stride,
                                                .pad_h = s->pad,
                                                .pad_w = s->pad,
                                                .groups = s->groups });
  if (!dyno_graph_check (t->graph, error))
    return FALSE;
  t->seed = dyno_graph_gradient_target (t->graph, t->output, &accumulate);
  dyno_graph_backward (t->graph);
  if (!dyno_graph_check (t->graph, error))
    return FALSE;
  t->oh = t->output->h;
  t->ow = t->output->w;
  t->n_x = (gsize) s->n * s->h * s->w * s->c;
  t->n_y = (gsize) s->n * t->oh * t->ow * s->k;
  t->n_weight = (gsize) s->k * (s->c / s->groups) * s->kernel * s->kernel;
  t->x = fill (t->n_x, 1);
  t->dy = fill (t->n_y, 2);
  t->weight = fill (t->n_weight, 3);
  t->y_want = g_new0 (double, t->n_y);
  t->dx_want = g_new0 (double, t->n_x);
  t->dw_want = g_new0 (double, t->n_weight);
  reference (t);
  return TRUE;
}

/* The tile (NULL: the kind has none) at every choice point; of several splits the one that `turn`
 * points at. */
static DynoChoices *
force_tile (Trial *t, const DynoDeviceInfo *info, const DynoVariant *tile, guint turn,
            GError **error)
{
  g_autoptr (DynoLowering) lowering = dyno_lowering_new (t->graph, info, NULL, error);
  if (!lowering)
    return NULL;
  GPtrArray *points = dyno_lowering_get_choice_points (lowering);
  DynoChoices *choices = dyno_choices_new ();
  for (guint i = 0; i < points->len; i++)
    {
      const DynoChoicePoint *point = g_ptr_array_index (points, i);
      g_autoptr (GPtrArray) fitting = g_ptr_array_new ();
      for (guint v = 0; tile && v < point->n_variants; v++)
        if (dyno_variant_same_tile (tile, &point->variants[v]))
          g_ptr_array_add (fitting, &point->variants[v]);
      if (fitting->len > 0)
        dyno_choices_set (choices, point->key, g_ptr_array_index (fitting, turn % fitting->len), 0);
    }
  return choices;
}

static gboolean
write_activation (DynoProgram *program, const DynoTensor *tensor, const float *values,
                  GError **error)
{
  g_autofree guint8 *bytes = g_malloc0 (tensor->size_bytes);
  gsize rows = (gsize) tensor->n * tensor->h * tensor->w;
  for (gsize i = 0; i < rows * tensor->c; i++)
    {
      gsize at = i / tensor->c * tensor->cp + i % tensor->c;
      if (tensor->dtype == DYNO_DTYPE_F16)
        ((guint16 *) (gpointer) bytes)[at] = dyno_half_from_float (values[i]);
      else
        ((float *) (gpointer) bytes)[at] = values[i];
    }
  return dyno_program_write_tensor (program, tensor, 0, bytes, tensor->size_bytes, error);
}

/* Sum of squared differences over sum of squares; a pad lane that is not zero counts as
 * infinite. */
static gboolean
activation_error (DynoProgram *program, const DynoTensor *tensor, const double *want, double *nmse,
                  GError **error)
{
  g_autofree guint8 *bytes = g_malloc (tensor->size_bytes);
  gsize rows = (gsize) tensor->n * tensor->h * tensor->w;
  double difference = 0, size = 0;
  if (!dyno_program_read_tensor (program, tensor, 0, bytes, tensor->size_bytes, error))
    return FALSE;
  for (gsize i = 0; i < rows * tensor->cp; i++)
    {
      gsize c = i % tensor->cp;
      double got = tensor->dtype == DYNO_DTYPE_F16
                       ? dyno_half_to_float (((guint16 *) (gpointer) bytes)[i])
                       : ((float *) (gpointer) bytes)[i];
      double right = c < tensor->c ? want[i / tensor->cp * tensor->c + c] : 0;
      if (c >= tensor->c && got != 0)
        difference = INFINITY;
      difference += (got - right) * (got - right);
      size += right * right;
    }
  *nmse = difference / size;
  return TRUE;
}

static gboolean
weight_error (DynoProgram *program, const Trial *t, double *nmse, GError **error)
{
  g_autofree float *got = g_new (float, t->n_weight);
  double difference = 0, size = 0;
  if (!dyno_program_read_parameters (program, DYNO_SPACE_GRADIENT, &got, error))
    return FALSE;
  for (gsize i = 0; i < t->n_weight; i++)
    {
      difference += (got[i] - t->dw_want[i]) * (got[i] - t->dw_want[i]);
      size += t->dw_want[i] * t->dw_want[i];
    }
  *nmse = difference / size;
  return TRUE;
}

/* NaN in every activation: what is never written shows. */
static gboolean
poison (DynoMemory *memory, GError **error)
{
  g_autoptr (GPtrArray) arena = dyno_memory_list_arena (memory);

  for (guint i = 0; i < arena->len; i++)
    if (!dyno_buffer_fill (arena->pdata[i], 0, dyno_buffer_get_size (arena->pdata[i]), 0xffffffffu,
                           error))
      return FALSE;
  return TRUE;
}

/* Runs a trial and gives the errors of the three passes. */
static gboolean
run (DynoDevice *device, Trial *t, DynoChoices *choices, double errors[DYNO_CONV2D_N_PASSES],
     GError **error)
{
  DynoBuildParams params = { .info = dyno_device_get_info (device),
                             .choices = choices,
                             .flags = DYNO_PLAN_NO_ALIAS };
  guint64 timeline_value;
  const float *weight = t->weight;
  g_autoptr (DynoBuild) build = dyno_build_new_graph (t->graph);
  DynoProgram *program;

  if (!dyno_build_plan (build, &params, error) || !dyno_build_allocate (device, &build, 1, error)
      || !dyno_build_record (build, device, 1u << DYNO_COMMAND_FULL, NULL, error))
    return FALSE;
  program = dyno_build_get_program (build);
  return poison (dyno_build_get_memory (build), error)
         && dyno_program_write_parameters (program, DYNO_SPACE_MASTER, &weight, error)
         && write_activation (program, t->input, t->x, error)
         && write_activation (program, t->seed, t->dy, error)
         && dyno_program_submit (program, DYNO_COMMAND_FULL, 0, NULL, 0, &timeline_value, error)
         && dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error)
         && activation_error (program, t->output, t->y_want, &errors[DYNO_CONV2D_FORWARD], error)
         && activation_error (program, t->input->gradient, t->dx_want, &errors[DYNO_CONV2D_DGRAD],
                              error)
         && weight_error (program, t, &errors[DYNO_CONV2D_WGRAD], error);
}

static void
report_passes (DynoVariantReport report, const double errors[DYNO_CONV2D_N_PASSES],
               DynoVariantFunc func, gpointer data, guint *n_failed)
{
  for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
    {
      report.pass = dyno_conv2d_pass_name (pass);
      report.error = errors[pass];
      /* NaN does not pass */
      report.passed = !report.fault && errors[pass] <= report.tolerance;
      if (!report.passed)
        (*n_failed)++;
      if (func)
        func (&report, data);
    }
}

/* One tile, or a kind that has none, over all cases of the kind.  A kernel that does not compile is
 * the variant's fault, any other error is returned. */
static gboolean
test_variant (DynoDevice *device, const Kind *kind, const DynoTile *tile, Trial *trials,
              const DynoPrecision *precision, DynoVariantFunc func, gpointer data, guint *n_failed,
              GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  const Case *cases = kind->cases;
  double errors[DYNO_CONV2D_N_PASSES] = { 0 };
  g_autofree char *fault = NULL;
  char label[DYNO_VARIANT_LABEL];
  DynoVariant variant;

  if (tile)
    {
      variant = dyno_tile_variant (tile, info, precision->compute);
      dyno_variant_print (&variant, label);
    }
  else
    g_strlcpy (label, kind->label, sizeof label);
  for (guint i = 0; i < kind->n_cases && !fault; i++)
    {
      double these[DYNO_CONV2D_N_PASSES] = { 0 };
      /* Windows side by side without strides are a matter of matrix units alone, and a CPU compiles
       * kernels for long. */
      if (tile && cases[i].c <= 4 && cases[i].stride == 1 && !dyno_tile_uses_matrix (tile))
        continue;
      g_autoptr (GError) local = NULL;
      g_autoptr (DynoChoices) choices =
          force_tile (&trials[i], info, tile ? &variant : NULL, i, error);
      if (!choices)
        return FALSE;
      if (!run (device, &trials[i], choices, these, &local))
        {
          if (!g_error_matches (local, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER))
            {
              g_propagate_error (error, g_steal_pointer (&local));
              return FALSE;
            }
          fault = g_strdup (local->message);
        }
      for (guint pass = 0; pass < DYNO_CONV2D_N_PASSES; pass++)
        if (!(these[pass] <= errors[pass])) /* NaN stays */
          errors[pass] = these[pass];
    }
  report_passes ((DynoVariantReport){ .name = label,
                                      .variant = tile ? &variant : NULL,
                                      .precision = precision,
                                      .usable = TRUE,
                                      .tolerance = tolerance_of (precision),
                                      .fault = fault },
                 errors, func, data, n_failed);
  return TRUE;
}

static gboolean
test_kind (DynoDevice *device, const Kind *kind, const DynoPrecision *precision,
           DynoVariantFunc func, gpointer data, guint *n_failed, GError **error)
{
  Trial trials[MAX_CASES];
  guint made = 0;
  gboolean good = TRUE;

  memset (trials, 0, sizeof trials);
  for (; made < kind->n_cases && good; made++)
    good = trial_init (&trials[made], &kind->cases[made], precision, error);
  for (guint i = 0; i < dyno_n_tiles && good && kind == TILED; i++)
    if (!dyno_tile_unusable (&dyno_tiles[i], dyno_device_get_info (device), precision->compute))
      good = test_variant (device, kind, &dyno_tiles[i], trials, precision, func, data, n_failed,
                           error);
  if (good && kind != TILED)
    good = test_variant (device, kind, NULL, trials, precision, func, data, n_failed, error);
  for (guint i = 0; i < made; i++)
    trial_clear (&trials[i]);
  return good;
}

static gboolean
test_precision (DynoDevice *device, const DynoPrecision *precision, DynoVariantFunc func,
                gpointer data, guint *n_failed, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (!test_kind (device, &kinds[i], precision, func, data, n_failed, error))
      return FALSE;
  return TRUE;
}

/* One variant in one pass ---------------------------------------------------------------------- */

struct _DynoVariantTest {
  Trial trial;
  DynoConv2dPass pass;
  DynoBuild *build; /* of the pass alone */
  char *key;
  DynoVariant variant;
};

/* The pass and precision that a choice's key names; NULL: it is none of a convolution. */
static const DynoPrecision *
read_key (const char *key, DynoConv2dPass *pass)
{
  guint n;
  const DynoPrecision *list = dyno_precision_list (&n);

  for (guint i = 0; i < n * DYNO_CONV2D_N_PASSES; i++)
    {
      const DynoPrecision *precision = &list[i / DYNO_CONV2D_N_PASSES];
      g_autofree char *begin = NULL;

      *pass = i % DYNO_CONV2D_N_PASSES;
      begin = g_strdup_printf ("conv2d.%s %s ", dyno_conv2d_pass_name (*pass),
                               dyno_dtype_name (precision->compute));
      if (g_str_has_prefix (key, begin))
        return precision;
    }
  return NULL;
}

/* The node of the pass planned with this tile; NULL without an error: the tile cannot make this
 * shape. */
static DynoBuild *
plan_pass (Trial *t, const DynoDeviceInfo *info, const char *key, const DynoVariant *tile,
           GError **error)
{
  g_autoptr (DynoLowering) whole = dyno_lowering_new (t->graph, info, NULL, error);
  gsize family = dyno_choice_family_length (key);

  if (!whole)
    return NULL;
  GPtrArray *points = dyno_lowering_get_choice_points (whole);
  for (guint i = 0; i < points->len; i++)
    {
      const DynoChoicePoint *point = g_ptr_array_index (points, i);
      if (dyno_choice_family_length (point->key) != family
          || strncmp (point->key, key, family) != 0)
        continue;
      for (guint v = 0; v < point->n_variants; v++)
        if (dyno_variant_same_tile (tile, &point->variants[v]))
          {
            g_autoptr (DynoChoices) choices = dyno_choices_new ();
            g_autoptr (DynoBuild) build = dyno_build_new_graph (t->graph);
            DynoBuildParams params = {
              .info = info, .choices = choices, .node = point->node, .flags = DYNO_PLAN_NO_ALIAS
            };
            dyno_choices_set (choices, point->key, &point->variants[v], 0);
            return dyno_build_plan (build, &params, error) ? g_steal_pointer (&build) : NULL;
          }
    }
  return NULL;
}

DynoVariantTest *
dyno_variant_test_new (const DynoDeviceInfo *info, const char *key, const DynoVariant *variant,
                       GError **error)
{
  /* Borders and channels that fill no tile first; then what serves tiles for few channels. */
  static const guint order[] = { 1, 3, 4, 0, 2 };
  g_autoptr (DynoVariantTest) test = g_new0 (DynoVariantTest, 1);
  g_autoptr (GError) problem = NULL;
  const DynoPrecision *precision = read_key (key, &test->pass);

  if (!precision)
    return NULL;
  test->key = g_strdup (key);
  test->variant = dyno_variant_tile (variant);
  for (guint i = 0; i < G_N_ELEMENTS (order) && !test->build && !problem; i++)
    {
      trial_clear (&test->trial);
      if (trial_init (&test->trial, &TILED->cases[order[i]], precision, &problem))
        test->build = plan_pass (&test->trial, info, key, &test->variant, &problem);
    }
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  if (!test->build)
    return NULL;
  return g_steal_pointer (&test);
}

void
dyno_variant_test_free (DynoVariantTest *test)
{
  if (!test)
    return;
  dyno_build_free (test->build);
  trial_clear (&test->trial);
  g_free (test->key);
  g_free (test);
}

DynoLowering *
dyno_variant_test_get_lowering (DynoVariantTest *test)
{
  return dyno_build_get_lowering (test->build);
}

const char *
dyno_variant_test_get_key (DynoVariantTest *test)
{
  return test->key;
}

const DynoVariant *
dyno_variant_test_get_variant (DynoVariantTest *test)
{
  return &test->variant;
}

static gboolean
write_operands (DynoVariantTest *test, DynoProgram *program, GError **error)
{
  Trial *t = &test->trial;
  const float *weight = t->weight;

  return (test->pass == DYNO_CONV2D_WGRAD
          || dyno_program_write_parameters (program, DYNO_SPACE_MASTER, &weight, error))
         && (test->pass == DYNO_CONV2D_DGRAD || write_activation (program, t->input, t->x, error))
         && (test->pass == DYNO_CONV2D_FORWARD
             || write_activation (program, t->seed, t->dy, error));
}

static gboolean
read_error (DynoVariantTest *test, DynoProgram *program, double *nmse, GError **error)
{
  Trial *t = &test->trial;

  if (test->pass == DYNO_CONV2D_WGRAD)
    return weight_error (program, t, nmse, error);
  if (test->pass == DYNO_CONV2D_DGRAD)
    return activation_error (program, t->input->gradient, t->dx_want, nmse, error);
  return activation_error (program, t->output, t->y_want, nmse, error);
}

gboolean
dyno_variant_test_run (DynoVariantTest *test, DynoDevice *device, double *nmse, double *tolerance,
                       GError **error)
{
  guint64 timeline_value;
  DynoProgram *program;

  *tolerance = tolerance_of (test->trial.precision);
  if (!dyno_build_allocate (device, &test->build, 1, error)
      || !dyno_build_record (test->build, device, 1u << DYNO_COMMAND_FULL, NULL, error))
    return FALSE;
  program = dyno_build_get_program (test->build);
  return poison (dyno_build_get_memory (test->build), error)
         && write_operands (test, program, error)
         && dyno_program_submit (program, DYNO_COMMAND_FULL, 0, NULL, 0, &timeline_value, error)
         && dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error)
         && read_error (test, program, nmse, error);
}

/* Compiling ------------------------------------------------------------------------------------ */

static DynoConv2dShape
shape_of (const Case *s, DynoDtype dtype)
{
  return (DynoConv2dShape){ .n = s->n,
                            .h = s->h,
                            .w = s->w,
                            .c = s->c,
                            .cp = (s->c + 7) / 8 * 8,
                            .oh = (s->h + 2 * s->pad - s->kernel) / s->stride + 1,
                            .ow = (s->w + 2 * s->pad - s->kernel) / s->stride + 1,
                            .k = s->k,
                            .kp = (s->k + 7) / 8 * 8,
                            .kernel_h = s->kernel,
                            .kernel_w = s->kernel,
                            .stride_h = s->stride,
                            .stride_w = s->stride,
                            .pad_h = s->pad,
                            .pad_w = s->pad,
                            .groups = s->groups,
                            .dtype = dtype,
                            .statistics = s->stride == 1 };
}

static void
take_largest (DynoKernelStatistics *all, const DynoKernelStatistics *one)
{
  if (!one->known)
    return;
  all->subgroups = all->known ? MIN (all->subgroups, one->subgroups) : one->subgroups;
  all->known = TRUE;
  all->registers = MAX (all->registers, one->registers);
  all->spills = MAX (all->spills, one->spills);
  all->scratch_bytes = MAX (all->scratch_bytes, one->scratch_bytes);
  all->shared_bytes = MAX (all->shared_bytes, one->shared_bytes);
  all->subgroup_size = MAX (all->subgroup_size, one->subgroup_size);
}

/* The tile's kernels of one case: the first of its variants, and of those that are split where that
 * is another kernel. */
static guint
specs_of (const DynoDeviceInfo *info, const DynoTile *tile, const Case *s, DynoDtype dtype,
          DynoConv2dPass pass, DynoKernelSpec specs[2])
{
  DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
  DynoConv2dShape shape = shape_of (s, dtype);
  guint n = dyno_conv2d_variants (info, &shape, pass, variants), found = 0;
  gboolean have[2] = { FALSE, FALSE };

  for (guint i = 0; i < n; i++)
    {
      guint32 groups[3];
      gboolean split = pass != DYNO_CONV2D_WGRAD && variants[i].splits > 1;
      if (variants[i].tile != tile || have[split])
        continue;
      have[split] = TRUE;
      dyno_conv2d_spec (info, &shape, pass, &variants[i], &specs[found++], groups);
    }
  return found;
}

/* A kernel that does not compile is the report's fault; FALSE for any other error. */
static gboolean
compile_kernel (DynoDevice *device, const DynoKernelSpec *spec, DynoVariantReport *report,
                GError **error)
{
  g_autoptr (GError) local = NULL;
  DynoKernelStatistics one;
  DynoKernel *kernel = dyno_kernel_get (device, spec, &local);

  if (!kernel && !g_error_matches (local, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (!kernel && !report->fault)
    report->fault = g_strdup (local->message);
  if (kernel && dyno_kernel_get_statistics (device, kernel, &one))
    take_largest (&report->statistics, &one);
  return TRUE;
}

static gboolean
compile_tile (DynoDevice *device, const DynoTile *tile, DynoConv2dPass pass,
              DynoVariantReport *report, GError **error)
{
  for (guint i = 0; i < TILED->n_cases; i++)
    {
      DynoKernelSpec specs[2];
      guint n = specs_of (dyno_device_get_info (device), tile, &TILED->cases[i],
                          report->precision->compute, pass, specs);
      for (guint k = 0; k < n; k++)
        if (!compile_kernel (device, &specs[k], report, error))
          return FALSE;
    }
  return TRUE;
}

/* A kind that has no tiles: what its nodes are lowered to. */
static gboolean
compile_case (DynoDevice *device, const Case *s, DynoConv2dPass pass, DynoVariantReport *report,
              GError **error)
{
  g_autoptr (DynoLowering) lowering = NULL;
  gboolean good;
  Trial trial;

  good =
      trial_init (&trial, s, report->precision, error)
      && (lowering = dyno_lowering_new (trial.graph, dyno_device_get_info (device), NULL, error));
  GPtrArray *dispatches = good ? dyno_lowering_get_dispatches (lowering) : NULL;
  for (guint i = 0; good && i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      if (g_str_equal (dispatch->pass, dyno_conv2d_pass_name (pass)))
        good = compile_kernel (device, &dispatch->spec, report, error);
    }
  g_clear_pointer (&lowering, dyno_lowering_free);
  trial_clear (&trial);
  return good;
}

static gboolean
compile_kind (DynoDevice *device, const Kind *kind, DynoConv2dPass pass, DynoVariantReport *report,
              GError **error)
{
  for (guint i = 0; i < kind->n_cases; i++)
    if (!compile_case (device, &kind->cases[i], pass, report, error))
      return FALSE;
  return TRUE;
}

/* The report's end; it has compiled where it has no fault. */
static void
tell_compiled (DynoVariantReport *report, DynoVariantFunc func, gpointer data, guint *n_failed)
{
  report->passed = !report->fault;
  *n_failed += !report->passed;
  if (func)
    func (report, data);
  g_free ((char *) report->fault);
}

/* All kinds in one precision. */
static gboolean
compile_precision (DynoDevice *device, const DynoPrecision *precision, DynoVariantFunc func,
                   gpointer data, guint *n_failed, GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  char label[DYNO_VARIANT_LABEL];
  DynoVariant variant;

  for (guint i = 0; i < dyno_n_tiles * DYNO_CONV2D_N_PASSES; i++)
    {
      const DynoTile *tile = &dyno_tiles[i / DYNO_CONV2D_N_PASSES];
      DynoConv2dPass pass = i % DYNO_CONV2D_N_PASSES;
      DynoVariantReport report = { .name = label,
                                   .variant = &variant,
                                   .pass = dyno_conv2d_pass_name (pass),
                                   .precision = precision,
                                   .usable = TRUE };

      if (dyno_tile_unusable (tile, info, precision->compute))
        continue;
      variant = dyno_tile_variant (tile, info, precision->compute);
      dyno_variant_print (&variant, label);
      if (!compile_tile (device, tile, pass, &report, error))
        return FALSE;
      tell_compiled (&report, func, data, n_failed);
    }
  for (guint i = 0; i < G_N_ELEMENTS (kinds) * DYNO_CONV2D_N_PASSES; i++)
    {
      const Kind *kind = &kinds[i / DYNO_CONV2D_N_PASSES];
      DynoConv2dPass pass = i % DYNO_CONV2D_N_PASSES;
      DynoVariantReport report = { .name = kind->label,
                                   .pass = dyno_conv2d_pass_name (pass),
                                   .precision = precision,
                                   .usable = TRUE };

      if (kind == TILED)
        continue;
      if (!compile_kind (device, kind, pass, &report, error))
        return FALSE;
      tell_compiled (&report, func, data, n_failed);
    }
  return TRUE;
}

gboolean
dyno_selftest_compile (DynoDevice *device, DynoVariantFunc func, gpointer data, guint *n_failed,
                       GError **error)
{
  guint failed = 0, n;
  const DynoPrecision *list = dyno_precision_list (&n);

  for (guint i = 0; i < n; i++)
    if (!dyno_precision_unusable (&list[i], dyno_device_get_info (device))
        && !compile_precision (device, &list[i], func, data, &failed, error))
      return FALSE;
  if (n_failed)
    *n_failed = failed;
  return TRUE;
}

/* List ----------------------------------------------------------------------------------------- */

/* Whether a tile is made for a precision at all: what is for the other alone is no variant of it. */
static gboolean
is_made_for (const DynoTile *tile, const DynoPrecision *precision)
{
  gboolean single = precision->compute == DYNO_DTYPE_F32;

  return !(tile->kind == DYNO_TILE_MATRIX && single) && (single ? tile->k_single : tile->k) > 0;
}

static void
list_precision (const DynoDeviceInfo *info, const DynoPrecision *precision, DynoVariantFunc func,
                gpointer data)
{
  const char *lacks = dyno_dtype_unusable (precision->compute, info);

  for (guint i = 0; i < dyno_n_tiles * DYNO_CONV2D_N_PASSES; i++)
    {
      const DynoTile *tile = &dyno_tiles[i / DYNO_CONV2D_N_PASSES];
      DynoVariant variant = dyno_tile_variant (tile, info, precision->compute);
      const char *why = dyno_tile_unusable (tile, info, precision->compute);
      char label[DYNO_VARIANT_LABEL];

      if (!is_made_for (tile, precision))
        continue;
      dyno_variant_print (&variant, label);
      func (&(DynoVariantReport){ .name = label,
                                  .variant = &variant,
                                  .pass = dyno_conv2d_pass_name (i % DYNO_CONV2D_N_PASSES),
                                  .precision = precision,
                                  .usable = !why,
                                  .why = why },
            data);
    }
  for (guint i = 0; i < G_N_ELEMENTS (kinds) * DYNO_CONV2D_N_PASSES; i++)
    if (&kinds[i / DYNO_CONV2D_N_PASSES] != TILED)
      func (&(DynoVariantReport){ .name = kinds[i / DYNO_CONV2D_N_PASSES].label,
                                  .pass = dyno_conv2d_pass_name (i % DYNO_CONV2D_N_PASSES),
                                  .precision = precision,
                                  .usable = !lacks,
                                  .why = lacks },
            data);
}

void
dyno_selftest_list (const DynoDeviceInfo *info, DynoVariantFunc func, gpointer data)
{
  guint n;
  const DynoPrecision *list = dyno_precision_list (&n);

  for (guint i = 0; i < n; i++)
    list_precision (info, &list[i], func, data);
}

gboolean
dyno_selftest_variants (DynoDevice *device, DynoVariantFunc func, gpointer data, guint *n_failed,
                        GError **error)
{
  guint failed = 0, n;
  const DynoPrecision *list = dyno_precision_list (&n);
  gboolean good = TRUE;

  for (guint i = 0; i < n && good; i++)
    if (!dyno_precision_unusable (&list[i], dyno_device_get_info (device)))
      good = test_precision (device, &list[i], func, data, &failed, error);
  if (n_failed)
    *n_failed = failed;
  return good;
}
