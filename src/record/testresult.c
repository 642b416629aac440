/* SPDX-License-Identifier: MIT */
/* test.ini: values that are not finite are left out. */
#include "testresult.h"
#include "file.h"
#include <math.h>
#include <string.h>

#define GROUP     "test"
#define MAX_BYTES (64 * 1024)

static void
set_value (GKeyFile *file, const char *key, double value)
{
  if (isfinite (value))
    g_key_file_set_double (file, GROUP, key, value);
}

static double
get_value (GKeyFile *file, const char *key)
{
  g_autoptr (GError) problem = NULL;
  double value = g_key_file_get_double (file, GROUP, key, &problem);

  return problem || !isfinite (value) ? (double) NAN : value;
}

gboolean
dyno_test_result_write (const char *folder, const DynoMetricTable *table,
                        const DynoTestResult *result, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = g_build_filename (folder, DYNO_TEST_RESULT_NAME, NULL), *text = NULL;
  gsize size;

  g_key_file_set_uint64 (file, GROUP, "samples", result->n_samples);
  g_key_file_set_uint64 (file, GROUP, "epoch", result->epoch);
  g_key_file_set_uint64 (file, GROUP, "step", result->step);
  set_value (file, "loss", result->loss);
  for (guint i = 0; i < table->n; i++)
    set_value (file, table->infos[i].name, result->metrics[i]);
  text = g_key_file_to_data (file, &size, NULL);
  return dyno_file_write_atomic (path, text, size, error);
}

gboolean
dyno_test_result_read (const char *folder, const DynoMetricTable *table, DynoTestResult *result)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = g_build_filename (folder, DYNO_TEST_RESULT_NAME, NULL), *text = NULL;
  gsize size;

  memset (result, 0, sizeof *result);
  if (!g_file_get_contents (path, &text, &size, NULL) || size > MAX_BYTES
      || !g_key_file_load_from_data (file, text, size, G_KEY_FILE_NONE, NULL))
    return FALSE;
  result->n_samples = g_key_file_get_uint64 (file, GROUP, "samples", NULL);
  result->epoch = g_key_file_get_uint64 (file, GROUP, "epoch", NULL);
  result->step = g_key_file_get_uint64 (file, GROUP, "step", NULL);
  result->loss = get_value (file, "loss");
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    result->metrics[i] = i < table->n ? get_value (file, table->infos[i].name) : (double) NAN;
  return result->n_samples > 0;
}
