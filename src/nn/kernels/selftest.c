/* SPDX-License-Identifier: MIT */
/* The self-test: every variant computes small convolutions, which are compared with a plain double
 * convolution on the host.
 *
 * Each convolution is a graph of its own, which runs with each tile through the same lowering, plan
 * and program as a net, with the tile forced at every choice point.  Outputs are filled with NaN
 * first, so that an element that is never written does not pass. */
#include "selftest.h"
#include "conv2d-private.h"
#include "convtrial-private.h"
#include "half.h"
#include "ops.h"
#include "vetting-private.h"
#include <math.h>
#include <string.h>

/* Permitted normalised mean squared error, due to the order of sums and the final rounding. */
#define TOLERANCE_HALF   5e-6
#define TOLERANCE_SINGLE 1e-7

static double
tolerance_of (const DynoPrecision *precision)
{
  return precision->compute == DYNO_DTYPE_F32 ? TOLERANCE_SINGLE : TOLERANCE_HALF;
}

/* Choices that force the tile (NULL: the kind has none) at every choice point; `turn` selects one
 * of several splits. */
static DynoChoices *
force_tile (DynoConvTrial *t, const DynoDeviceInfo *info, const DynoVariant *tile, guint turn,
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

/* Sum of squared differences over sum of squares; infinite if a pad lane is not zero. */
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
weight_error (DynoProgram *program, const DynoConvTrial *t, double *nmse, GError **error)
{
  const float *values[DYNO_CONV_MAX_PARAMETERS];
  g_autofree float *got = g_new (float, t->n_weight), *unwanted = g_new (float, t->s.c);
  float *all[DYNO_CONV_MAX_PARAMETERS] = { NULL };
  guint n = dyno_conv_trial_values (t, values);
  double difference = 0, size = 0;
  for (guint i = 0; i < n; i++)
    all[i] = i + 1 < n ? unwanted : got;
  if (!dyno_program_read_parameters (program, DYNO_SPACE_GRADIENT, all, error))
    return FALSE;
  for (gsize i = 0; i < t->n_weight; i++)
    {
      difference += (got[i] - t->dw_want[i]) * (got[i] - t->dw_want[i]);
      size += t->dw_want[i] * t->dw_want[i];
    }
  *nmse = difference / size;
  return TRUE;
}

/* Writes NaN to every activation, so that an element that is never written is found. */
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

/* Runs a trial and returns the errors of the three passes. */
static gboolean
run (DynoDevice *device, DynoConvTrial *t, DynoChoices *choices,
     double errors[DYNO_CONV2D_N_PASSES], GError **error)
{
  DynoBuildParams params = { .info = dyno_device_get_info (device),
                             .choices = choices,
                             .flags = DYNO_PLAN_NO_ALIAS };
  guint64 timeline_value;
  const float *values[DYNO_CONV_MAX_PARAMETERS];
  g_autoptr (DynoBuild) build = dyno_build_new_graph (t->graph);
  DynoProgram *program;

  if (!dyno_build_plan (build, &params, error) || !dyno_build_allocate (device, &build, 1, error)
      || !dyno_build_record (build, device, 1u << DYNO_COMMAND_FULL, NULL, error))
    return FALSE;
  program = dyno_build_get_program (build);
  dyno_conv_trial_values (t, values);
  return poison (dyno_build_get_memory (build), error)
         && dyno_program_write_parameters (program, DYNO_SPACE_MASTER, values, error)
         && write_activation (program, t->input, t->x, error)
         && write_activation (program, t->seed, t->dy, error)
         && dyno_program_submit (program, DYNO_COMMAND_FULL, 0, NULL, 0, &timeline_value, error)
         && dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error)
         && activation_error (program, t->output, t->y_want, &errors[DYNO_CONV2D_FORWARD], error)
         && activation_error (program, t->behind->gradient, t->dx_want, &errors[DYNO_CONV2D_DGRAD],
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

/* Tests one tile, or a kind that has no tiles, over all cases of the kind.  A kernel that does not
 * compile is stored as the variant's fault; any other error is returned. */
static gboolean
test_variant (DynoDevice *device, const DynoConvKind *kind, const DynoTile *tile,
              DynoConvTrial *trials, const DynoPrecision *precision, DynoVariantFunc func,
              gpointer data, guint *n_failed, GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  const DynoConvCase *cases = kind->cases;
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
      /* Only tiles on matrix units treat adjacent windows of few channels without strides
       * separately, and a CPU takes long to compile kernels. */
      if (tile && cases[i].c < 24 && cases[i].stride == 1 && !dyno_tile_uses_matrix (tile))
        continue;
      /* The cases with many images are for the scheme IMAGES. */
      if (tile && tile->images != (cases[i].n > 2))
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
        if (!(these[pass] <= errors[pass])) /* a NaN is kept */
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
test_kind (DynoDevice *device, const DynoConvKind *kind, const DynoPrecision *precision,
           guint one_of, DynoVariantFunc func, gpointer data, guint *n_failed, GError **error)
{
  DynoConvTrial trials[DYNO_CONV_MAX_CASES];
  guint made = 0, usable = 0;
  gboolean good = TRUE;

  memset (trials, 0, sizeof trials);
  for (; made < kind->n_cases && good; made++)
    good = dyno_conv_trial_init (&trials[made], &kind->cases[made], precision, error);
  for (guint i = 0; i < dyno_n_tiles && good && kind == DYNO_CONV_TILED; i++)
    if (!dyno_tile_unusable (&dyno_tiles[i], dyno_device_get_info (device), precision->compute)
        && usable++ % one_of == 0)
      good = test_variant (device, kind, &dyno_tiles[i], trials, precision, func, data, n_failed,
                           error);
  if (good && kind != DYNO_CONV_TILED)
    good = test_variant (device, kind, NULL, trials, precision, func, data, n_failed, error);
  for (guint i = 0; i < made; i++)
    dyno_conv_trial_clear (&trials[i]);
  return good;
}

static gboolean
test_precision (DynoDevice *device, const DynoPrecision *precision, guint one_of,
                DynoVariantFunc func, gpointer data, guint *n_failed, GError **error)
{
  for (guint i = 0; i < DYNO_CONV_N_KINDS; i++)
    if (!test_kind (device, &dyno_conv_kinds[i], precision, one_of, func, data, n_failed, error))
      return FALSE;
  return TRUE;
}

/* One variant in one pass ---------------------------------------------------------------------- */

struct _DynoVariantTest {
  DynoConvTrial trial;
  DynoConv2dPass pass;
  DynoBuild *build; /* of the pass only */
  char *key;
  DynoVariant variant;
};

/* The pass and precision that a choice's key names; NULL: the key is not a convolution's. */
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

/* Plans the node of the pass with this tile; NULL without an error: the tile cannot compute this
 * shape. */
static DynoBuild *
plan_pass (DynoConvTrial *t, const DynoDeviceInfo *info, const char *key, const DynoVariant *tile,
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
  /* First the cases with borders and channels that fill no tile, then the cases for tiles for few
   * channels and for tiles of images. */
  static const guint order[] = { 1, 3, 4, 10, 11, 12, 0, 2, 6, 5 };
  g_autoptr (DynoVariantTest) test = g_new0 (DynoVariantTest, 1);
  g_autoptr (GError) problem = NULL;
  const DynoPrecision *precision = read_key (key, &test->pass);

  if (!precision)
    return NULL;
  test->key = g_strdup (key);
  test->variant = dyno_variant_tile (variant);
  for (guint i = 0; i < G_N_ELEMENTS (order) && !test->build && !problem; i++)
    {
      dyno_conv_trial_clear (&test->trial);
      if (dyno_conv_trial_init (&test->trial, &DYNO_CONV_TILED->cases[order[i]], precision,
                                &problem))
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
  dyno_conv_trial_clear (&test->trial);
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
  DynoConvTrial *t = &test->trial;
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
  DynoConvTrial *t = &test->trial;

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

/* All variants --------------------------------------------------------------------------------- */

gboolean
dyno_selftest_variants (DynoDevice *device, guint one_of, DynoVariantFunc func, gpointer data,
                        guint *n_failed, GError **error)
{
  guint failed = 0, n;
  const DynoPrecision *list = dyno_precision_list (&n);
  gboolean good = TRUE;

  g_return_val_if_fail (one_of > 0, FALSE);

  for (guint i = 0; i < n && good; i++)
    if (!dyno_precision_unusable (&list[i], dyno_device_get_info (device)))
      good = test_precision (device, &list[i], one_of, func, data, &failed, error);
  if (n_failed)
    *n_failed = failed;
  return good;
}
