/* SPDX-License-Identifier: MIT */
/* The rows of an exporter: the settings that its file holds, the settings that it leaves out, and
 * the values that the other program then uses.
 *
 * Invariant: a setting is in the file, or it is listed as left out, or the other program has the
 * same default value. */
#include "facts.h"
#include "formats.h"
#include "yaml.h"
#include <string.h>

/* The behaviour of a program without such a setting, where it differs from Dyno's default
 * behaviour; NULL: it is not known, for example the batch size.  For the loading of samples it is
 * the behaviour of PyTorch's DataLoader, which nearly all of these programs use. */
static const DynoExportRow without[] = {
  { "epochs" },
  { "batch_size" },
  { "optimizer" },
  { "lr" },
  { "weight_decay" },
  { "schedule" },
  { "workers" },
  { "seed" },
  { "amp", .by_default = "false" },
  { "pinned", .by_default = "false" },
  { "persistent_workers", .by_default = "false" },
  { "momentum", .by_default = "0" },
  { "warmup_epochs", .by_default = "0" },
  { "data.val_split", .by_default = "0" },
  { NULL },
};

static const DynoExportRow *
find_row (const DynoExportRow *rows, const char *key)
{
  for (const DynoExportRow *row = rows; row && row->key; row++)
    if (g_str_equal (row->key, key))
      return row;
  return NULL;
}

gboolean
dyno_export_has_workers (const DynoExportContext *context)
{
  return context->job->settings.workers > 0;
}

gboolean
dyno_export_knows_steps (const DynoExportContext *context)
{
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  return facts.steps_per_epoch > 0;
}

gboolean
dyno_export_knows_size (const DynoExportContext *context)
{
  return dyno_export_get_size (context) > 0;
}

gboolean
dyno_export_clips_values (const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  return s->clip_value > 0 && s->clip_norm <= 0;
}

static gboolean
is_held (const DynoExportRow *row, const DynoExportContext *context)
{
  return row && row->theirs && (!row->when || row->when (context));
}

static const char *
find_default (const DynoExportRow *row, const DynoSettingInfo *info)
{
  const DynoExportRow *other = row ? row : find_row (without, info->key);

  return other ? other->by_default : info->default_value;
}

static gboolean
is_equal (const DynoSettings *settings, const char *key, const char *text)
{
  DynoSettings other = *settings;

  return dyno_settings_set (&other, key, text, NULL)
         && dyno_settings_get_number (&other, key) == dyno_settings_get_number (settings, key);
}

/* NULL: the file holds the setting, or the other program has the same value by default.  g_free. */
static char *
describe_left_out (const DynoExporter *exporter, const DynoExportContext *context,
                   const DynoSettingInfo *info)
{
  const DynoJob *job = context->job;
  const DynoExportRow *rows = dyno_exporter_get_rows (exporter, context),
                      *row = find_row (rows, info->key);
  g_autofree char *value = dyno_settings_get (&job->settings, info->key);
  const char *theirs;

  if (!rows || is_held (row, context) || !dyno_setting_counts (info, &job->settings)
      || !dyno_job_meets (info, job->model, context->dataset))
    return NULL;
  theirs = find_default (row, info);
  if (theirs && is_equal (&job->settings, info->key, theirs))
    return NULL;
  if (g_str_equal (info->key, "data.group_column"))
    return g_strdup_printf ("%s = %s (divide the samples by whole groups, as scikit-learn's "
                            "GroupShuffleSplit does)",
                            info->key, value);
  if (theirs && *theirs)
    return g_strdup_printf ("%s = %s (there: %s)", info->key, value, theirs);
  return g_strdup_printf ("%s = %s", info->key, value);
}

char **
dyno_exporter_list_left_out (const DynoExporter *exporter, const DynoExportContext *context)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  const DynoSettingInfo *table;
  guint n;

  table = dyno_setting_list (&n);
  for (int same_weights = 0; context->job && same_weights <= 1; same_weights++)
    for (guint i = 0; i < n; i++)
      if (table[i].same_weights == same_weights)
        {
          g_autofree char *line = describe_left_out (exporter, context, &table[i]);

          if (line)
            g_strv_builder_add (list, line);
        }
  return g_strv_builder_end (list);
}

void
dyno_export_append_left_out (GString *text, const DynoExporter *exporter,
                             const DynoExportContext *context)
{
  g_auto (GStrv) list = dyno_exporter_list_left_out (exporter, context);

  if (list[0])
    g_string_append (text, "\n# Left out, since this format cannot hold it:\n");
  for (guint i = 0; list[i]; i++)
    g_string_append_printf (text, "#   %s\n", list[i]);
}

void
dyno_export_yaml_rows (GString *text, const DynoExporter *exporter,
                       const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  for (const DynoExportRow *row = exporter->rows; row->key; row++)
    {
      const DynoSettingInfo *info = dyno_setting_find (row->key);

      if (!row->direct || !is_held (row, context))
        continue;
      if (info->type == DYNO_SETTING_BOOL)
        dyno_yaml_bool (text, 0, row->theirs, dyno_settings_get_number (s, row->key) != 0);
      else if (info->type == DYNO_SETTING_DOUBLE)
        dyno_yaml_double (text, 0, row->theirs, dyno_settings_get_number (s, row->key));
      else
        dyno_yaml_int (text, 0, row->theirs, (gint64) dyno_settings_get_number (s, row->key));
    }
}

void
dyno_export_json_rows (DynoJson *json, const DynoExporter *exporter,
                       const DynoExportContext *context)
{
  const DynoSettings *s = &context->job->settings;

  for (const DynoExportRow *row = exporter->rows; row->key; row++)
    {
      const DynoSettingInfo *info = dyno_setting_find (row->key);

      if (!row->direct || !is_held (row, context))
        continue;
      if (info->type == DYNO_SETTING_BOOL)
        dyno_json_bool (json, row->theirs, dyno_settings_get_number (s, row->key) != 0);
      else if (info->type == DYNO_SETTING_DOUBLE)
        dyno_json_double (json, row->theirs, dyno_settings_get_number (s, row->key));
      else
        dyno_json_int (json, row->theirs, (gint64) dyno_settings_get_number (s, row->key));
    }
}
