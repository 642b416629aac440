/* SPDX-License-Identifier: MIT */
/* Runs of the history as text and as JSON. */
#include "run-words.h"
#include "formats.h"
#include "output.h"
#include <math.h>
#include <string.h>

char *
dyno_text_when (gint64 time_us)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_local (time_us / G_USEC_PER_SEC);

  return time && time_us > 0 ? g_date_time_format (time, "%Y-%m-%d %H:%M") : g_strdup ("-");
}

char *
dyno_text_data (const char *data)
{
  g_autofree char *plain = g_strdup (data ? data : ""), *base = NULL;

  *strchrnul (plain, '?') = '\0';
  base = g_path_get_basename (plain);
  return *plain ? g_filename_display_name (base) : g_strdup ("-");
}

const char *
dyno_text_run_state (const DynoStoredRun *run)
{
  return dyno_stored_run_stopped_as_asked (run) ? "stopped as asked"
                                                : dyno_run_state_name (run->state);
}

char *
dyno_text_metric_value (const DynoStoredRun *run, double value)
{
  if (isnan (value))
    return g_strdup ("-");
  if (run->metric_is_fraction)
    return g_strdup_printf ("%.2f %%", 100 * value);
  return g_strdup_printf ("%.4f%s%s", value, run->metric_unit && *run->metric_unit ? " " : "",
                          run->metric_unit ? run->metric_unit : "");
}

char *
dyno_text_best (const DynoStoredRun *run)
{
  g_autofree char *value = NULL;

  if (run->metric && !isnan (run->best_metric))
    {
      value = dyno_text_metric_value (run, run->best_metric);
      return g_strdup_printf ("%s %s", run->metric, value);
    }
  if (!isnan (run->best_val_loss))
    return g_strdup_printf ("validation loss %.4f", run->best_val_loss);
  return isnan (run->loss) ? g_strdup ("-") : g_strdup_printf ("loss %.4f", run->loss);
}

char *
dyno_text_test (const DynoStoredRun *run)
{
  g_autofree char *value = NULL;

  if (isnan (run->test_loss))
    return NULL;
  if (!run->metric || isnan (run->test_metric))
    return g_strdup_printf ("loss %.4f", run->test_loss);
  value = dyno_text_metric_value (run, run->test_metric);
  return g_strdup_printf ("%s %s, loss %.4f", run->metric, value, run->test_loss);
}

void
dyno_json_add_time (DynoJson *json, const char *key, gint64 time_us)
{
  g_autoptr (GDateTime) time =
      time_us > 0 ? g_date_time_new_from_unix_utc (time_us / G_USEC_PER_SEC) : NULL;
  g_autofree char *text = time ? g_date_time_format (time, "%Y-%m-%dT%H:%M:%SZ") : NULL;

  dyno_json_string (json, key, text);
}

void
dyno_run_add_json (DynoJson *json, const DynoStoredRun *run)
{
  guint n;
  const DynoRecordField *fields = dyno_stored_run_list_fields (&n);
  g_autofree char *title = dyno_stored_run_get_title (run),
                  *fingerprint = g_strdup_printf ("%016" G_GINT64_MODIFIER "x", run->fingerprint);

  dyno_json_int (json, "id", run->id);
  dyno_json_string (json, "name", title);
  dyno_json_string (json, "state", dyno_run_state_name (run->state));
  dyno_json_bool (json, "stopped_as_asked", dyno_stored_run_stopped_as_asked (run));
  dyno_json_string (json, "fingerprint", fingerprint);
  dyno_json_add_time (json, "begin", run->begin_us);
  dyno_json_add_time (json, "end", run->end_us);
  dyno_json_record (json, fields, n, run);
}

static void
add_epochs (DynoJson *json, const GArray *epochs)
{
  dyno_json_begin_array (json, "epoch_list");
  for (guint i = 0; i < epochs->len; i++)
    {
      const DynoEpochMetrics *e = &g_array_index (epochs, DynoEpochMetrics, i);

      dyno_json_begin_object (json, NULL);
      dyno_json_uint (json, "epoch", e->epoch);
      dyno_json_uint (json, "step", e->step);
      dyno_json_double (json, "train_loss", e->train_loss);
      dyno_json_double (json, "val_loss", e->val_loss);
      dyno_json_double (json, "train_metric", e->train_metrics[0]);
      dyno_json_double (json, "val_metric", e->val_metrics[0]);
      dyno_json_double (json, "samples_per_s", e->samples_per_s);
      dyno_json_double (json, "seconds", e->seconds);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

void
dyno_run_print_json (const DynoStoredRun *run, const GArray *epochs)
{
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "run");
  dyno_run_add_json (&json, run);
  if (epochs)
    {
      dyno_export_json_settings (&json, &run->settings);
      add_epochs (&json, epochs);
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}
