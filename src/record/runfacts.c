/* SPDX-License-Identifier: MIT */
/* facts.ini: one table names the keys. */
#include "runfacts.h"
#include "ceilings.h"
#include "cores.h"
#include "file.h"
#include "sample-cache.h"
#include <math.h>
#include <string.h>

#define VENDOR_NVIDIA 0x10de
#define GROUP         "run"
#define MAX_BYTES     (64 * 1024)
#define ROW(kind, member)                                                                         \
  {                                                                                               \
#member, kind, G_STRUCT_OFFSET(DynoRunFacts, member), sizeof(((DynoRunFacts *) NULL)->member) \
  }

static const struct {
  const char *key;
  enum { TEXT, COUNT, FLAG, REAL } kind;
  gsize offset, size;
} table[] = {
  ROW (TEXT, model),
  ROW (COUNT, fingerprint),
  ROW (TEXT, device),
  ROW (COUNT, vendor_id),
  ROW (FLAG, software),
  ROW (FLAG, fp16),
  ROW (FLAG, matrix),
  ROW (FLAG, timestamps),
  ROW (COUNT, device_bytes),
  ROW (COUNT, limit_bytes),
  ROW (COUNT, planned_bytes),
  ROW (COUNT, fitting_batch),
  ROW (COUNT, cores),
  ROW (COUNT, ram_free_bytes),
  ROW (TEXT, governor),
  ROW (FLAG, no_persistence),
  ROW (COUNT, n_train),
  ROW (COUNT, n_validation),
  ROW (COUNT, n_test),
  ROW (COUNT, steps_per_epoch),
  ROW (COUNT, max_steps),
  ROW (COUNT, begin_step),
  ROW (COUNT, begin_place),
  ROW (COUNT, batch_size),
  ROW (COUNT, accumulate),
  ROW (COUNT, parts),
  ROW (FLAG, amp),
  ROW (FLAG, generated),
  ROW (COUNT, sample_bytes),
  ROW (REAL, flops_per_sample),
  ROW (COUNT, batch_dispatches),
  ROW (REAL, batch_bytes),
  ROW (REAL, copy_bytes_per_s),
  ROW (REAL, single_flops_per_s),
  ROW (REAL, matrix_flops_per_s),
  ROW (REAL, guess_loss),
  ROW (COUNT, ranks),
  ROW (COUNT, hosts),
  ROW (COUNT, exchange_bytes),
  ROW (COUNT, exchange_buckets),
  ROW (REAL, exchange_wait_ms),
  ROW (REAL, exchange_sum_ms),
  ROW (REAL, wait_ranks_ms),
  ROW (COUNT, rate.samples),
  ROW (REAL, rate.seconds),
  ROW (COUNT, state),
  ROW (FLAG, diverged),
  ROW (TEXT, problem),
  ROW (TEXT, bad_layer),
};

gboolean
dyno_run_facts_write (const char *folder, const DynoRunFacts *facts, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = g_build_filename (folder, DYNO_RUN_FACTS_NAME, NULL), *text = NULL;
  gsize size;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      gconstpointer member = (const guint8 *) facts + table[i].offset;

      if (table[i].kind == TEXT)
        g_key_file_set_string (file, GROUP, table[i].key, member);
      else if (table[i].kind == COUNT)
        g_key_file_set_uint64 (file, GROUP, table[i].key, *(const guint64 *) member);
      else if (table[i].kind == FLAG)
        g_key_file_set_boolean (file, GROUP, table[i].key, *(const gboolean *) member);
      else
        g_key_file_set_double (file, GROUP, table[i].key, *(const double *) member);
    }
  text = g_key_file_to_data (file, &size, NULL);
  return dyno_file_write_atomic (path, text, size, error);
}

gboolean
dyno_run_facts_read (const char *folder, DynoRunFacts *facts)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = g_build_filename (folder, DYNO_RUN_FACTS_NAME, NULL), *text = NULL;
  gsize size;

  memset (facts, 0, sizeof *facts);
  if (!g_file_get_contents (path, &text, &size, NULL) || size > MAX_BYTES
      || !g_key_file_load_from_data (file, text, size, G_KEY_FILE_NONE, NULL)
      || !g_key_file_has_group (file, GROUP))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      gpointer member = (guint8 *) facts + table[i].offset;

      if (table[i].kind == TEXT)
        {
          g_autofree char *value = g_key_file_get_string (file, GROUP, table[i].key, NULL);

          g_strlcpy (member, value ? value : "", table[i].size);
        }
      else if (table[i].kind == COUNT)
        *(guint64 *) member = g_key_file_get_uint64 (file, GROUP, table[i].key, NULL);
      else if (table[i].kind == FLAG)
        *(gboolean *) member = g_key_file_get_boolean (file, GROUP, table[i].key, NULL);
      else
        {
          double value = g_key_file_get_double (file, GROUP, table[i].key, NULL);

          *(double *) member = isfinite (value) ? value : 0;
        }
    }
  return TRUE;
}

guint64
dyno_run_facts_count_steps (const DynoRunFacts *facts, guint64 epochs)
{
  guint64 per_epoch = facts->steps_per_epoch, whole;

  if (per_epoch == 0 || epochs == 0 || epochs > (G_MAXUINT64 >> 1) / per_epoch
      || facts->begin_step > G_MAXUINT64 >> 1)
    return 0;
  whole = per_epoch * epochs;
  return facts->begin_step + (whole - MIN (whole, facts->begin_place));
}

guint64
dyno_run_facts_find_whole (const DynoRunFacts *facts, guint64 epochs, guint64 steps)
{
  guint64 whole = dyno_run_facts_count_steps (facts, epochs);

  return facts->max_steps > 0 && steps >= facts->max_steps && whole > steps ? whole : 0;
}

guint64
dyno_run_facts_count_epochs (const DynoRunFacts *facts, guint64 steps)
{
  guint64 place = facts->begin_place + (steps - MIN (steps, facts->begin_step));

  return facts->steps_per_epoch > 0 && place > 0 ? (place - 1) / facts->steps_per_epoch + 1 : 0;
}

void
dyno_run_facts_set_device (DynoRunFacts *facts, const DynoDeviceInfo *info)
{
  g_strlcpy (facts->device, info->name, sizeof facts->device);
  facts->vendor_id = info->vendor_id;
  facts->software = info->type == DYNO_DEVICE_TYPE_SOFTWARE;
  facts->fp16 = info->fp16;
  facts->matrix = info->matrix != DYNO_MATRIX_NONE;
  facts->timestamps = info->timestamp_ns > 0;
}

void
dyno_run_facts_set_rates (DynoRunFacts *facts, const DynoDeviceInfo *info)
{
  DynoCeilings ceilings;

  if (!dyno_ceilings_load (info, &ceilings))
    return;
  facts->copy_bytes_per_s = ceilings.copy_bytes_per_s;
  facts->single_flops_per_s = ceilings.single_flops_per_s;
  facts->matrix_flops_per_s = ceilings.matrix_flops_per_s;
}

void
dyno_run_facts_set_host (DynoRunFacts *facts)
{
  g_autofree char *governor = NULL;

  facts->cores = dyno_cores_count ();
  facts->ram_free_bytes = dyno_sample_cache_get_free_memory ();
  if (g_file_get_contents ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", &governor, NULL,
                           NULL))
    g_strlcpy (facts->governor, g_strstrip (governor), sizeof facts->governor);
  facts->no_persistence = facts->vendor_id == VENDOR_NVIDIA
                          && g_file_test ("/proc/driver/nvidia/version", G_FILE_TEST_EXISTS)
                          && !g_file_test ("/run/nvidia-persistenced", G_FILE_TEST_IS_DIR);
}
