/* SPDX-License-Identifier: MIT */
/* Shared parts of the generated Python scripts: the settings as constants, and the constant part
 * below them, which lies in templates/. */
#include "export-templates.h"
#include "facts.h"
#include "formats.h"
#include "quote.h"

#define TOY_SIZE    64 /* height and width of the noise where the data set is not known */
#define TOY_OUTPUTS 10

void
dyno_export_append_template (GString *text, const char *name)
{
  g_autofree char *path = g_strconcat ("/io/github/gpudyno/Dyno/export/", name, NULL);
  g_autoptr (GBytes) bytes = g_resource_lookup_data (dyno_export_templates_get_resource (), path,
                                                     G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

  g_string_append_len (text, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
}

static void
append_string (GString *text, const char *name, const char *value)
{
  g_autofree char *quoted = value ? dyno_quote_python (value) : g_strdup ("None");

  g_string_append_printf (text, "%s = %s\n", name, quoted);
}

/* Writes the setting of a key as a Python constant. */
static void
append_setting (GString *text, const DynoSettings *settings, const char *name, const char *key)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  g_autofree char *value = dyno_settings_get (settings, key);
  double number = dyno_settings_get_number (settings, key);

  g_return_if_fail (info);
  if (info->type == DYNO_SETTING_BOOL)
    g_string_append_printf (text, "%s = %s\n", name, number != 0 ? "True" : "False");
  else if (info->type == DYNO_SETTING_DOUBLE)
    {
      g_autofree char *quoted = dyno_quote_double (number);
      g_string_append_printf (text, "%s = %s\n", name, quoted);
    }
  else if (info->type == DYNO_SETTING_ENUM)
    append_string (text, name, value);
  else
    g_string_append_printf (text, "%s = %" G_GINT64_FORMAT "\n", name,
                            G_STRUCT_MEMBER (gint64, settings, info->offset));
}

static void
append_shape (GString *text, const DynoSettings *settings, gboolean channels_last,
              const DynoExportFacts *known)
{
  DynoExportFacts facts = *known;
  guint32 size = settings->image_size ? (guint32) settings->image_size : TOY_SIZE;

  if (facts.n_axes == 0)
    {
      facts.n_axes = 3;
      facts.shape[0] = 3;
      facts.shape[1] = facts.shape[2] = size;
    }
  g_string_append (text, "SAMPLE_SHAPE = (");
  for (guint i = 0; i < facts.n_axes; i++)
    g_string_append_printf (text, "%u, ", facts.shape[(i + channels_last) % facts.n_axes]);
  g_string_truncate (text, text->len - (facts.n_axes > 1 ? 2 : 1));
  g_string_append_printf (text,
                          ")  # %s\nN_OUTPUTS = %u\nPREDICTS_VALUES = %s\nPREDICTS_LABELS = %s\n"
                          "PREDICTS_PIXELS = %s\n",
                          facts.n_axes != 3 ? "of a sample"
                          : channels_last   ? "height, width, channels"
                                            : "channels, height, width",
                          facts.n_outputs ? facts.n_outputs : TOY_OUTPUTS,
                          facts.values ? "True" : "False", facts.labels ? "True" : "False",
                          facts.pixels ? "True" : "False");
}

void
dyno_export_append_constants (GString *text, const DynoExporter *exporter,
                              const DynoExportContext *context, gboolean channels_last)
{
  const DynoJob *job = context->job;
  DynoExportFacts facts;

  dyno_export_facts (context, &facts);
  append_string (text, "DATA", job->data);
  append_string (text, "MODEL", job->model);
  append_shape (text, &job->settings, channels_last, &facts);
  for (const DynoExportRow *row = exporter->rows; row->key; row++)
    if (row->direct)
      append_setting (text, &job->settings, row->theirs, row->key);
}
