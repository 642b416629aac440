/* SPDX-License-Identifier: MIT */
/* The list of the self-test's variants, and their compilation at its shapes without a run. */
#include "conv2d-private.h"
#include "convtrial-private.h"
#include "selftest.h"

/* Compiling ------------------------------------------------------------------------------------ */

static DynoConv2dShape
shape_of (const DynoConvCase *s, DynoDtype dtype)
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
                            .fused = { .statistics = s->stride == 1, .load = s->load } };
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

/* The tile's kernels for one case: of its first variant, and of its first split variant where the
 * kernel of that variant differs. */
static guint
specs_of (const DynoDeviceInfo *info, const DynoTile *tile, const DynoConvCase *s, DynoDtype dtype,
          DynoConv2dPass pass, DynoKernelSpec specs[2])
{
  DynoConv2dVariant variants[DYNO_CONV2D_MAX_VARIANTS];
  DynoConv2dShape shape = shape_of (s, dtype);
  guint n = dyno_conv2d_variants (info, &shape, pass, variants), found = 0;
  gboolean have[2] = { FALSE, FALSE };

  for (guint i = 0; i < n; i++)
    {
      guint32 groups[3];
      DynoConv2dSizes sizes;
      gboolean split = pass != DYNO_CONV2D_WGRAD && variants[i].splits > 1;
      if (variants[i].tile != tile || have[split])
        continue;
      have[split] = TRUE;
      dyno_conv2d_spec (info, &shape, pass, &variants[i], &specs[found++], groups, &sizes);
    }
  return found;
}

/* A kernel that does not compile is stored as the report's fault; FALSE for any other error. */
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
  for (guint i = 0; i < DYNO_CONV_TILED->n_cases; i++)
    {
      DynoKernelSpec specs[2];
      guint n = specs_of (dyno_device_get_info (device), tile, &DYNO_CONV_TILED->cases[i],
                          report->precision->compute, pass, specs);
      for (guint k = 0; k < n; k++)
        if (!compile_kernel (device, &specs[k], report, error))
          return FALSE;
    }
  return TRUE;
}

/* Compiles the kernels of a kind that has no tiles, as its nodes are lowered. */
static gboolean
compile_case (DynoDevice *device, const DynoConvCase *s, DynoConv2dPass pass,
              DynoVariantReport *report, GError **error)
{
  g_autoptr (DynoLowering) lowering = NULL;
  gboolean good;
  DynoConvTrial trial;

  good =
      dyno_conv_trial_init (&trial, s, report->precision, error)
      && (lowering = dyno_lowering_new (trial.graph, dyno_device_get_info (device), NULL, error));
  GPtrArray *dispatches = good ? dyno_lowering_get_dispatches (lowering) : NULL;
  for (guint i = 0; good && i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      if (g_str_equal (dispatch->pass, dyno_conv2d_pass_name (pass)))
        good = compile_kernel (device, &dispatch->spec, report, error);
    }
  g_clear_pointer (&lowering, dyno_lowering_free);
  dyno_conv_trial_clear (&trial);
  return good;
}

static gboolean
compile_kind (DynoDevice *device, const DynoConvKind *kind, DynoConv2dPass pass,
              DynoVariantReport *report, GError **error)
{
  for (guint i = 0; i < kind->n_cases; i++)
    if (!compile_case (device, &kind->cases[i], pass, report, error))
      return FALSE;
  return TRUE;
}

/* Completes the report; if it has no fault, the kernels have compiled. */
static void
report_compiled (DynoVariantReport *report, DynoVariantFunc func, gpointer data, guint *n_failed)
{
  report->passed = !report->fault;
  *n_failed += !report->passed;
  if (func)
    func (report, data);
  g_free ((char *) report->fault);
}

/* All kinds in one precision, with every one_of-th of their tiles. */
static gboolean
compile_precision (DynoDevice *device, const DynoPrecision *precision, guint one_of,
                   DynoVariantFunc func, gpointer data, guint *n_failed, GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  char label[DYNO_VARIANT_LABEL];
  DynoVariant variant;
  guint usable = 0;

  for (guint i = 0; i < dyno_n_tiles * DYNO_CONV2D_N_PASSES; i++)
    {
      const DynoTile *tile = &dyno_tiles[i / DYNO_CONV2D_N_PASSES];
      DynoConv2dPass pass = i % DYNO_CONV2D_N_PASSES;
      DynoVariantReport report = { .name = label,
                                   .variant = &variant,
                                   .pass = dyno_conv2d_pass_name (pass),
                                   .precision = precision,
                                   .usable = TRUE };

      if (dyno_tile_unusable (tile, info, precision->compute)
          || usable++ / DYNO_CONV2D_N_PASSES % one_of != 0)
        continue;
      variant = dyno_tile_variant (tile, info, precision->compute);
      dyno_variant_print (&variant, label);
      if (!compile_tile (device, tile, pass, &report, error))
        return FALSE;
      report_compiled (&report, func, data, n_failed);
    }
  for (guint i = 0; i < DYNO_CONV_N_KINDS * DYNO_CONV2D_N_PASSES; i++)
    {
      const DynoConvKind *kind = &dyno_conv_kinds[i / DYNO_CONV2D_N_PASSES];
      DynoConv2dPass pass = i % DYNO_CONV2D_N_PASSES;
      DynoVariantReport report = { .name = kind->label,
                                   .pass = dyno_conv2d_pass_name (pass),
                                   .precision = precision,
                                   .usable = TRUE };

      if (kind == DYNO_CONV_TILED)
        continue;
      if (!compile_kind (device, kind, pass, &report, error))
        return FALSE;
      report_compiled (&report, func, data, n_failed);
    }
  return TRUE;
}

gboolean
dyno_selftest_compile (DynoDevice *device, guint one_of, DynoVariantFunc func, gpointer data,
                       guint *n_failed, GError **error)
{
  guint failed = 0, n;
  const DynoPrecision *list = dyno_precision_list (&n);

  g_return_val_if_fail (one_of > 0, FALSE);
  for (guint i = 0; i < n; i++)
    if (!dyno_precision_unusable (&list[i], dyno_device_get_info (device))
        && !compile_precision (device, &list[i], one_of, func, data, &failed, error))
      return FALSE;
  if (n_failed)
    *n_failed = failed;
  return TRUE;
}

/* List ----------------------------------------------------------------------------------------- */

/* TRUE: the tile has a kernel for the precision; a tile that has kernels only for the other
 * precision is not a variant. */
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
  for (guint i = 0; i < DYNO_CONV_N_KINDS * DYNO_CONV2D_N_PASSES; i++)
    if (&dyno_conv_kinds[i / DYNO_CONV2D_N_PASSES] != DYNO_CONV_TILED)
      func (&(DynoVariantReport){ .name = dyno_conv_kinds[i / DYNO_CONV2D_N_PASSES].label,
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
