/* SPDX-License-Identifier: MIT */
/* dynoctl devices: lists the devices that Vulkan offers, best first, and how Dyno uses them, and
 * measures them on request. */
#include "devicetext.h"
#include "ceilings.h"
#include "cli.h"
#include "kernel.h"
#include "amount.h"
#include "output.h"

static const char *
type_name (DynoDeviceType type)
{
  switch (type)
    {
    case DYNO_DEVICE_TYPE_DISCRETE:
      return "discrete";
    case DYNO_DEVICE_TYPE_INTEGRATED:
      return "integrated";
    case DYNO_DEVICE_TYPE_VIRTUAL:
      return "virtual";
    case DYNO_DEVICE_TYPE_SOFTWARE:
      return "software";
    case DYNO_DEVICE_TYPE_OTHER:
    default:
      return "other";
    }
}

static const char *
matrix_name (DynoMatrix matrix)
{
  return matrix == DYNO_MATRIX_KHR ? "khr" : matrix == DYNO_MATRIX_NV ? "nv" : "none";
}

static void
add_ceilings (DynoJson *json, const DynoDeviceInfo *info)
{
  DynoCeilings c;

  if (!dyno_ceilings_load (info, &c))
    {
      dyno_json_null (json, "ceilings");
      return;
    }
  dyno_json_begin_object (json, "ceilings");
  dyno_json_double (json, "copy_gb_per_s", c.copy_bytes_per_s / 1e9);
  dyno_json_double (json, "fma_tflop_per_s", c.fma_flops_per_s / 1e12);
  dyno_json_double (json, "fp32_tflop_per_s", c.single_flops_per_s / 1e12);
  dyno_json_string (json, "fp32_kernel", c.single_kernel);
  if (c.matrix_flops_per_s > 0)
    dyno_json_double (json, "matrix_tflop_per_s", c.matrix_flops_per_s / 1e12);
  else
    dyno_json_null (json, "matrix_tflop_per_s");
  dyno_json_string (json, "matrix_kernel", *c.matrix_kernel ? c.matrix_kernel : NULL);
  dyno_json_end_object (json);
}

static void
print_json (const DynoDeviceInfo *info)
{
  g_autofree char *api =
      g_strdup_printf ("%u.%u.%u", info->api_version >> 22, (info->api_version >> 12) & 0x3ff,
                       info->api_version & 0xfff);
  char uuid[33];
  DynoJson json;

  for (guint i = 0; i < 16; i++)
    g_snprintf (uuid + 2 * i, 3, "%02x", info->uuid[i]);
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_uint (&json, "index", info->index);
  dyno_json_string (&json, "name", info->name);
  dyno_json_string (&json, "driver", info->driver);
  dyno_json_string (&json, "type", type_name (info->type));
  dyno_json_bool (&json, "software", info->type == DYNO_DEVICE_TYPE_SOFTWARE);
  dyno_json_string (&json, "note",
                    info->type == DYNO_DEVICE_TYPE_SOFTWARE ? "software, slow" : NULL);
  dyno_json_string (&json, "api", api);
  dyno_json_string (&json, "uuid", uuid);
  dyno_json_uint (&json, "vendor_id", info->vendor_id);
  dyno_json_uint (&json, "device_id", info->device_id);
  dyno_json_uint (&json, "vram_bytes", info->vram_bytes);
  dyno_json_bool (&json, "fp16", info->fp16);
  dyno_json_string (&json, "matrix", matrix_name (info->matrix));
  dyno_json_bool (&json, "matrix_khr_device", info->matrix_khr_device);
  dyno_json_bool (&json, "matrix_nv_device", info->matrix_nv_device);
  dyno_json_string (&json, "matrix_shapes", info->matrix_shapes);
  dyno_json_string (&json, "compiler", dyno_shader_compiler_version ());
  dyno_json_uint (&json, "subgroup_size", info->subgroup_size);
  dyno_json_uint (&json, "shared_bytes", info->shared_bytes);
  dyno_json_uint (&json, "max_invocations", info->max_invocations);
  if (info->processors > 0)
    dyno_json_uint (&json, "processors", info->processors);
  else
    dyno_json_null (&json, "processors");
  dyno_json_bool (&json, "memory_budget", info->memory_budget);
  dyno_json_bool (&json, "transfer_queue", info->transfer_queue);
  dyno_json_double (&json, "timestamp_ns", info->timestamp_ns);
  add_ceilings (&json, info);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static void
print_ceilings (const DynoDeviceInfo *info)
{
  g_autofree char *copy = NULL, *fma = NULL, *single = NULL, *matrix = NULL;
  DynoCeilings c;

  if (!dyno_ceilings_load (info, &c))
    return;
  copy = dyno_text_rate (c.copy_bytes_per_s / 1e9);
  fma = dyno_text_rate (c.fma_flops_per_s / 1e12);
  single = dyno_text_rate (c.single_flops_per_s / 1e12);
  matrix = dyno_text_rate (c.matrix_flops_per_s / 1e12);
  dyno_out_line ("   measured    copy %s GB/s, fp32 in registers %s TFLOP/s", copy, fma);
  dyno_out_line ("               fp32 product %s TFLOP/s (%s)", single, c.single_kernel);
  if (c.matrix_flops_per_s > 0)
    dyno_out_line ("               fp16 product on matrix units %s TFLOP/s (%s)", matrix,
                   c.matrix_kernel);
  else
    dyno_out_line ("               fp16 product on matrix units: none");
}

static void
print_text (const DynoDeviceInfo *info)
{
  g_autofree char *vram = dyno_amount_bytes (info->vram_bytes, " "),
                  *shared = dyno_amount_bytes (info->shared_bytes, " ");
  g_autofree char *matrix = dyno_device_info_matrix_words (info);

  dyno_out_line ("%u  %s%s", info->index, info->name,
                 info->type == DYNO_DEVICE_TYPE_SOFTWARE ? " (software, slow)" : "");
  dyno_out_line ("   type        %s, Vulkan %u.%u", type_name (info->type), info->api_version >> 22,
                 (info->api_version >> 12) & 0x3ff);
  dyno_out_line ("   driver      %s", info->driver);
  dyno_out_line ("   memory      %s%s", vram,
                 info->memory_budget ? ", use by other programs known" : "");
  dyno_out_line ("   AMP         %s", info->fp16 ? "yes" : "no: the device has no fp16");
  dyno_out_line ("   matrix      %s", matrix);
  if (info->matrix == DYNO_MATRIX_NV && info->matrix_khr_device)
    dyno_out_text ("               the device also has the faster VK_KHR_cooperative_matrix, which "
                   "a build with a newer\n"
                   "               shader compiler uses (Debian 13, Ubuntu 24.10 or later)\n");
  dyno_out_line ("   subgroup    %u, workgroup memory %s, %u invocations", info->subgroup_size,
                 shared, info->max_invocations);
  if (info->processors > 0)
    dyno_out_line ("   processors  %u", info->processors);
  else if (info->type != DYNO_DEVICE_TYPE_SOFTWARE)
    dyno_out_line ("   processors  assumed to be %u: the driver does not report them",
                   dyno_device_info_processors (info));
  dyno_out_line ("   transfers   %s",
                 info->transfer_queue ? "on a queue of their own" : "on the compute queue");
  print_ceilings (info);
}

void
dyno_device_print (const DynoDeviceInfo *info, gboolean json)
{
  if (json)
    print_json (info);
  else
    print_text (info);
}

static gboolean
measure (guint index, GError **error)
{
  DynoDeviceParams params = { .index = (int) index };
  DynoCeilings ceilings;
  g_autoptr (DynoDevice) device = dyno_device_open (&params, error);

  if (!device || !dyno_ceilings_measure (device, &ceilings, error))
    return FALSE;
  dyno_ceilings_keep (dyno_device_get_info (device), &ceilings);
  return TRUE;
}

int
dyno_verb_devices (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = NULL;
  gboolean as_json = FALSE, measured = FALSE;
  int code, only = -1;
  const GOptionEntry entries[] = {
    { "measure", 0, 0, G_OPTION_ARG_NONE, &measured,
      "Measure copying and multiplying, some seconds a device; kept on disk", NULL },
    { "device", 0, 0, G_OPTION_ARG_INT, &only, "Only this device, by its number (default: all)",
      "N" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &as_json, "One JSON object a device and line", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (argc, argv, NULL, "Lists the Vulkan devices, best first.", entries, NULL,
                       NULL, 0, &code))
    return code;
  devices = dyno_device_list (&error);
  if (!devices)
    return dyno_cli_fail (g_steal_pointer (&error), as_json);
  if (only < -1 || only >= (int) devices->len)
    return dyno_cli_fail (g_error_new (DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                                       "There is no device %d; there are %u, from 0", only,
                                       devices->len),
                          as_json);
  code = DYNO_EXIT_OK;
  for (guint i = 0; i < devices->len; i++)
    {
      if (only >= 0 && i != (guint) only)
        continue;
      /* A device that cannot be measured is listed nevertheless. */
      if (measured && !measure (i, &error))
        code = dyno_cli_fail (g_steal_pointer (&error), as_json);
      dyno_device_print (devices->pdata[i], as_json);
      dyno_out_flush ();
    }
  if (!as_json)
    {
      dyno_out_line ("%s", "");
      dyno_out_line ("shader compiler: %s", dyno_shader_compiler_version ());
    }
  return code;
}
