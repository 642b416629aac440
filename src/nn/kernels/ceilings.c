/* SPDX-License-Identifier: MIT */
/* The file of the ceilings, and the least times that follow from them. */
#include "ceilings.h"
#include "cachefile.h"
#include "hash.h"
#include <math.h>

#define FOLDER "ceilings"
#define SUFFIX ".ceilings"

static const char magic[8] = { 'd', 'y', 'n', 'o', 'c', 'e', 'i', '1' };

/* The name of the file: device, driver and the properties that the shader compiler sees. */
static DynoCacheKey
device_key (const DynoDeviceInfo *info)
{
  g_autofree char *device =
      g_strdup_printf ("%s | %s | %04x:%04x | driver %08x | api %08x", info->name, info->driver,
                       info->vendor_id, info->device_id, info->driver_version, info->api_version);
  g_autofree char *compiler = g_strdup_printf (
      "%s | matrix %d | fp16 %d", dyno_shader_compiler_version (), (int) info->matrix, info->fp16);
  guint64 uuid =
      dyno_hash_bytes (dyno_hash_string (DYNO_HASH_START, device), info->uuid, sizeof info->uuid);

  return (DynoCacheKey){ { uuid, dyno_hash_string (DYNO_HASH_START, compiler) } };
}

/* The same with the kernels that were timed: another build measures its kernels again, and replaces
 * the old file. */
static DynoCacheKey
content_key (const DynoDeviceInfo *info)
{
  DynoCacheKey key = device_key (info);
  guint64 sources = dyno_shader_sources_hash ();

  key.words[1] = dyno_hash_bytes (key.words[1], &sources, sizeof sources);
  return key;
}

static gboolean
is_rate (double rate)
{
  return isfinite (rate) && rate > 0;
}

static gboolean
is_label (const char *label)
{
  return memchr (label, '\0', DYNO_CEILINGS_LABEL) && g_utf8_validate (label, -1, NULL);
}

static gboolean
are_plausible (const DynoCeilings *c)
{
  return is_rate (c->copy_bytes_per_s) && is_rate (c->fma_flops_per_s)
         && is_rate (c->single_flops_per_s)
         && (c->matrix_flops_per_s == 0 || is_rate (c->matrix_flops_per_s))
         && is_label (c->single_kernel) && is_label (c->matrix_kernel);
}

gboolean
dyno_ceilings_load (const DynoDeviceInfo *info, DynoCeilings *ceilings)
{
  g_autofree char *path = dyno_cache_file_path (FOLDER, device_key (info), SUFFIX);
  g_autoptr (GBytes) bytes = dyno_cache_file_read (path, magic, content_key (info));

  *ceilings = (DynoCeilings){ 0 };
  if (!bytes || g_bytes_get_size (bytes) != sizeof *ceilings)
    return FALSE;
  memcpy (ceilings, g_bytes_get_data (bytes, NULL), sizeof *ceilings);
  if (are_plausible (ceilings))
    return TRUE;
  *ceilings = (DynoCeilings){ 0 };
  return FALSE;
}

void
dyno_ceilings_keep (const DynoDeviceInfo *info, const DynoCeilings *ceilings)
{
  g_autofree char *path = dyno_cache_file_path (FOLDER, device_key (info), SUFFIX);

  dyno_cache_file_write (path, magic, content_key (info), ceilings, sizeof *ceilings);
}

gboolean
dyno_ceilings_on_matrix (const DynoKernelSpec *spec)
{
  return strstr (spec->macros, "MATRIX_KHR=") || strstr (spec->macros, "MATRIX_NV=");
}

double
dyno_ceilings_floor_us (const DynoCeilings *ceilings, const DynoDispatch *dispatch)
{
  double flops_per_s = dyno_ceilings_on_matrix (&dispatch->spec) ? ceilings->matrix_flops_per_s
                                                                 : ceilings->fma_flops_per_s;
  double memory_s =
      ceilings->copy_bytes_per_s > 0 ? (double) dispatch->bytes / ceilings->copy_bytes_per_s : 0;
  double work_s = flops_per_s > 0 ? (double) dispatch->flops / flops_per_s : 0;

  return MAX (memory_s, work_s) * 1e6;
}
