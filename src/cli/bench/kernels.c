/* SPDX-License-Identifier: MIT */
/* dynoctl kernels: lists the kernel variants of a model's ops on this device and the chosen ones,
 * and tests whether each computes the right result. */
#include "bench.h"
#include "output.h"
#include "selftest.h"
#include "text.h"
#include <string.h>

typedef struct {
  char *model, *batch;
  int device;
  gboolean json, self_test, stats;
} KernelOptions;

/* The statistics of a kernel that drivers report: columns of a table, fields of an object. */
#define STATISTICS_COLUMNS "registers", "spills", "workgroup memory", "subgroups"

static void
add_statistics (DynoJson *json, const DynoKernelStatistics *s)
{
  if (!s->known)
    {
      dyno_json_null (json, "statistics");
      return;
    }
  dyno_json_begin_object (json, "statistics");
  dyno_json_uint (json, "registers", s->registers);
  dyno_json_uint (json, "spills", s->spills);
  dyno_json_uint (json, "scratch_bytes", s->scratch_bytes);
  dyno_json_uint (json, "shared_bytes", s->shared_bytes);
  dyno_json_uint (json, "subgroups", s->subgroups);
  dyno_json_uint (json, "subgroup_size", s->subgroup_size);
  dyno_json_end_object (json);
}

static char *
number (const DynoKernelStatistics *s, guint32 value)
{
  return s->known ? g_strdup_printf ("%u", value) : g_strdup ("-");
}

/* "7x32": seven subgroups of 32 at once. */
static char *
subgroups (const DynoKernelStatistics *s)
{
  if (!s->known || s->subgroup_size == 0)
    return g_strdup ("-");
  return s->subgroups > 0 ? g_strdup_printf ("%ux%u", s->subgroups, s->subgroup_size)
                          : g_strdup_printf ("of %u", s->subgroup_size);
}

static void
print_choice (const DynoChoicePoint *point, gboolean amp, gboolean known, gboolean as_json)
{
  DynoJson json;
  char label[DYNO_VARIANT_LABEL];

  if (!as_json)
    return;
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "choice");
  dyno_json_string (&json, "mode", amp ? "amp" : "fp32");
  dyno_json_string (&json, "node", point->node->name);
  dyno_json_string (&json, "key", point->key);
  dyno_variant_print (&point->variants[point->chosen], label);
  dyno_json_string (&json, "chosen", label);
  dyno_json_bool (&json, "timed", known);
  dyno_json_begin_array (&json, "variants");
  for (guint i = 0; i < point->n_variants; i++)
    {
      dyno_variant_print (&point->variants[i], label);
      dyno_json_string (&json, NULL, label);
    }
  dyno_json_end_array (&json);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* Lists the kernels of a step, each once, as they would be compiled for it. */
static gboolean
list_kernels (DynoDevice *device, const KernelOptions *o, DynoLowering *lowering, gboolean amp,
              GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (dyno_kernel_spec_hash, dyno_kernel_spec_equal);
  g_autoptr (DynoTable) table = dyno_table_new ("kernel", "for", STATISTICS_COLUMNS, NULL);
  g_autoptr (GPtrArray) specs = g_ptr_array_new ();
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);

  for (guint i = 0; i < dispatches->len; i++)
    if (g_hash_table_add (seen, &((DynoDispatch *) dispatches->pdata[i])->spec))
      g_ptr_array_add (specs, &((DynoDispatch *) dispatches->pdata[i])->spec);
  if (!dyno_kernel_get_many (device, (const DynoKernelSpec *const *) specs->pdata, specs->len, NULL,
                             NULL, NULL, NULL, error))
    return FALSE;
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = dispatches->pdata[i];
      DynoKernelStatistics s;
      DynoJson json;

      if (!g_hash_table_remove (seen, &dispatch->spec))
        continue;
      dyno_kernel_get_statistics (device, dyno_kernel_get (device, &dispatch->spec, NULL), &s);
      dyno_table_add (table, g_strdup (dispatch->spec.shader),
                      g_strdup_printf ("%s %s", dispatch->node->name, dispatch->pass),
                      number (&s, s.registers), number (&s, s.spills), number (&s, s.shared_bytes),
                      subgroups (&s), NULL);
      if (!o->json)
        continue;
      dyno_json_init (&json, 0);
      dyno_json_begin_object (&json, NULL);
      dyno_json_string (&json, "event", "kernel");
      dyno_json_string (&json, "mode", amp ? "amp" : "fp32");
      dyno_json_string (&json, "shader", dispatch->spec.shader);
      dyno_json_string (&json, "macros", dispatch->spec.macros);
      dyno_json_string (&json, "node", dispatch->node->name);
      dyno_json_string (&json, "pass", dispatch->pass);
      add_statistics (&json, &s);
      dyno_json_end_object (&json);
      dyno_out_json (&json);
      dyno_json_clear (&json);
    }
  if (!o->json)
    dyno_table_print (table);
  return TRUE;
}

#define PIXEL_CLASSES 21 /* as in Pascal VOC */

/* Lists the choices of one network, each key once. */
static gboolean
list_choices (DynoDevice *device, const KernelOptions *o, guint32 batch, gboolean amp,
              GError **error)
{
  g_autoptr (DynoChoices) choices = dyno_choices_load (dyno_device_get_key (device));
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (DynoTable) table = dyno_table_new ("for", "chosen", "timed", "among", NULL);
  const DynoModel *model = dyno_model_find (o->model, NULL);
  guint32 side = MAX (model->min_size, 224);
  DynoNetworkParams params = {
    .model = o->model,
    .batch = batch,
    .n_outputs = model->of_pixels ? PIXEL_CLASSES : 1000,
    .schema = model->of_pixels ? dyno_schema_image_with_mask (DYNO_ELEMENT_U8, side, side, 3)
                               : dyno_schema_image (DYNO_ELEMENT_U8, side, side, 3, 0),
    .precision = dyno_precision_of_amp (amp),
    .mode = DYNO_MODE_TRAIN,
  };
  DynoBuildParams build_params = { .info = dyno_device_get_info (device), .choices = choices };
  g_autoptr (DynoBuild) build = dyno_build_new (&params, error);
  DynoLowering *lowering;
  GPtrArray *points;

  if (!build || !dyno_build_plan (build, &build_params, error))
    return FALSE;
  lowering = dyno_build_get_lowering (build);
  points = dyno_lowering_get_choice_points (lowering);
  for (guint i = 0; i < points->len; i++)
    {
      const DynoChoicePoint *point = points->pdata[i];
      char label[DYNO_VARIANT_LABEL];
      DynoVariant timed;
      gboolean known = dyno_choices_get (choices, point->key, &timed);

      if (!g_hash_table_add (seen, point->key))
        continue;
      print_choice (point, amp, known, o->json);
      dyno_variant_print (&point->variants[point->chosen], label);
      dyno_table_add (table, g_strdup (point->key), g_strdup (label),
                      g_strdup (known ? "yes" : "no"), g_strdup_printf ("%u", point->n_variants),
                      NULL);
    }
  if (!o->json)
    {
      dyno_out_line ("%s, batch %u, %s:", model->title, batch, amp ? "amp" : "fp32");
      dyno_table_print (table);
      dyno_out_line ("%s", "");
    }
  if (!o->stats)
    return TRUE;
  if (!list_kernels (device, o, lowering, amp, error))
    return FALSE;
  if (!o->json)
    dyno_out_line ("%s", "");
  return TRUE;
}

typedef struct {
  DynoTable *table;
  DynoChoices *choices; /* stored times of this device's variants */
  gboolean tested, json, stats;
  guint usable, passed;
} Variants;

/* The result of a test as text. */
static char *
verdict (const DynoVariantReport *report, const char *refused, gboolean tested)
{
  if (!report->usable)
    return g_strdup_printf ("not usable: %s", report->why);
  if (!tested)
    return refused ? g_strdup_printf ("refused: %s", refused) : g_strdup ("usable");
  if (report->fault)
    return g_strdup_printf ("FAILED: %s", report->fault);
  return g_strdup (report->passed ? "passed" : "FAILED");
}

static void
on_variant (const DynoVariantReport *report, gpointer data)
{
  Variants *variants = data;
  g_autofree char *key =
      g_strdup_printf ("conv2d.%s %s", report->pass, dyno_dtype_name (report->precision->compute));
  g_autofree char *refused =
      report->variant ? dyno_choices_get_refusal (variants->choices, key, report->variant) : NULL;
  DynoJson json;

  variants->usable += report->usable != FALSE;
  variants->passed += report->usable && report->passed;
  if (!variants->json && variants->stats)
    {
      const DynoKernelStatistics *s = &report->statistics;
      dyno_table_add (variants->table, g_strdup (report->pass), g_strdup (report->precision->name),
                      g_strdup (report->name), number (s, s->registers), number (s, s->spills),
                      number (s, s->shared_bytes), subgroups (s),
                      report->fault ? g_strdup_printf ("FAILED: %s", report->fault)
                                    : g_strdup ("compiles"),
                      NULL);
      return;
    }
  if (!variants->json)
    {
      dyno_table_add (variants->table, g_strdup (report->pass), g_strdup (report->precision->name),
                      g_strdup (report->name),
                      variants->tested && report->usable ? g_strdup_printf ("%.2g", report->error)
                                                         : g_strdup ("-"),
                      verdict (report, refused, variants->tested), NULL);
      return;
    }
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "variant");
  dyno_json_string (&json, "name", report->name);
  dyno_json_string (&json, "pass", report->pass);
  dyno_json_string (&json, "mode", report->precision->name);
  dyno_json_bool (&json, "usable", report->usable);
  dyno_json_string (&json, "text", report->why);
  dyno_json_string (&json, "refused", refused);
  if (variants->stats)
    {
      dyno_json_bool (&json, "compiles", report->passed);
      dyno_json_string (&json, "fault", report->fault);
      add_statistics (&json, &report->statistics);
    }
  if (variants->tested && report->usable)
    {
      dyno_json_bool (&json, "passed", report->passed);
      dyno_json_double (&json, "error", report->error);
      dyno_json_double (&json, "tolerance", report->tolerance);
      dyno_json_string (&json, "fault", report->fault);
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
  dyno_out_flush ();
}

/* Lists the driver's statistics of every variant. */
static gboolean
list_statistics (DynoDevice *device, const KernelOptions *o, guint *n_failed, GError **error)
{
  g_autoptr (DynoTable) table =
      dyno_table_new ("pass", "mode", "variant", STATISTICS_COLUMNS, "state", NULL);
  g_autoptr (DynoChoices) choices = dyno_choices_load (dyno_device_get_key (device));
  Variants variants = { .table = table, .choices = choices, .stats = TRUE, .json = o->json };

  if (!dyno_selftest_compile (device, 1, on_variant, &variants, n_failed, error))
    return FALSE;
  if (!o->json)
    {
      dyno_table_print (table);
      dyno_out_line ("%s", "");
    }
  return TRUE;
}

/* Lists the variants, and tests them on request; a failed variant is a failure of the verb. */
static gboolean
list_variants (DynoDevice *device, const KernelOptions *o, guint *n_failed, GError **error)
{
  g_autoptr (DynoTable) table = dyno_table_new ("pass", "mode", "variant", "error",
                                                o->self_test ? "self-test" : "state", NULL);
  g_autoptr (DynoChoices) choices = dyno_choices_load (dyno_device_get_key (device));
  Variants variants = {
    .table = table, .choices = choices, .tested = o->self_test, .json = o->json
  };

  if (!o->self_test)
    dyno_selftest_list (dyno_device_get_info (device), on_variant, &variants);
  else if (!dyno_selftest_variants (device, 1, on_variant, &variants, n_failed, error))
    return FALSE;
  if (o->json)
    return TRUE;
  dyno_table_print (table);
  if (o->self_test)
    {
      dyno_out_line ("%s", "");
      dyno_out_line ("%u of %u usable %s passed", variants.passed, variants.usable,
                     dyno_plural (variants.usable, "variant", "variants"));
    }
  dyno_out_line ("%s", "");
  return TRUE;
}

static int
kernels (const char *command, const KernelOptions *o)
{
  DynoDeviceParams params = { .index = o->device, .statistics = o->stats };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = NULL;
  const DynoDeviceInfo *info;
  guint64 batch = 32;
  guint n_failed = 0, n_uncompiled = 0;

  if (!dyno_model_find (o->model, &error))
    return dyno_cli_usage (command, "--model %s: %s", o->model, error->message);
  if (o->batch && !g_ascii_string_to_unsigned (o->batch, 10, 1, 65536, &batch, NULL))
    return dyno_cli_usage (command, "--batch %s: a whole number from 1 to 65536", o->batch);
  device = dyno_device_open (&params, &error);
  if (!device)
    return dyno_cli_fail (g_steal_pointer (&error), o->json);
  info = dyno_device_get_info (device);
  if (!o->json)
    {
      dyno_out_line ("%s; %s; matrix units: %s", info->name, dyno_shader_compiler_version (),
                     info->matrix == DYNO_MATRIX_KHR  ? "VK_KHR_cooperative_matrix"
                     : info->matrix == DYNO_MATRIX_NV ? "VK_NV_cooperative_matrix"
                                                      : "not used");
      dyno_out_line ("%s", "");
    }
  if ((!o->stats || o->self_test) && !list_variants (device, o, &n_failed, &error))
    return dyno_cli_fail (g_steal_pointer (&error), o->json);
  if (o->stats && !list_statistics (device, o, &n_uncompiled, &error))
    return dyno_cli_fail (g_steal_pointer (&error), o->json);
  for (guint amp = 0; amp <= (info->fp16 ? 1 : 0); amp++)
    if (!list_choices (device, o, (guint32) batch, amp == 1, &error))
      return dyno_cli_fail (g_steal_pointer (&error), o->json);
  return n_failed || n_uncompiled ? DYNO_EXIT_FAILURE : DYNO_EXIT_OK;
}

int
dyno_verb_kernels (int argc, char **argv)
{
  KernelOptions o = { .device = -1 };
  int code;
  const GOptionEntry entries[] = {
    { "self-test", 0, 0, G_OPTION_ARG_NONE, &o.self_test,
      "Also compute with every variant and compare with the reference", NULL },
    { "stats", 0, 0, G_OPTION_ARG_NONE, &o.stats,
      "Also compile every variant and the model's kernels: registers, spills, workgroup memory, "
      "where the driver reports them",
      NULL },
    { "model", 'm', 0, G_OPTION_ARG_STRING, &o.model,
      "The model whose shapes are used (default: resnet18)", "MODEL" },
    { "batch", 'b', 0, G_OPTION_ARG_STRING, &o.batch,
      "The batch size of these shapes (default: 32)", "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o.json, "One JSON object a choice and line", NULL },
    { "device", 0, 0, G_OPTION_ARG_INT, &o.device,
      "Device by its number in 'dynoctl devices' (default: the best)", "N" },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, NULL, "Lists kernel variants, and which one is chosen for what.",
                       entries, NULL, NULL, 0, &code))
    ; /* the error was printed */
  else
    {
      if (!o.model)
        o.model = g_strdup ("resnet18");
      code = kernels (argv[0], &o);
    }
  g_free (o.model);
  g_free (o.batch);
  return code;
}
