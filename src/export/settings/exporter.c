/* SPDX-License-Identifier: MIT */
/* The table of exporters, the head that all files share, and the writing of files, which does not
 * damage existing ones. */
#include "formats.h"
#include "file.h"
#include "text.h"
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

G_DEFINE_QUARK (dyno - export - error - quark, dyno_export_error)

static const DynoExporter *const exporters[] = { &dyno_exporter_keyfile,
                                                 &dyno_exporter_json,
                                                 &dyno_exporter_pytorch,
                                                 &dyno_exporter_lightning,
                                                 &dyno_exporter_accelerate,
                                                 &dyno_exporter_trainingarguments,
                                                 &dyno_exporter_timm,
                                                 &dyno_exporter_ultralytics,
                                                 &dyno_exporter_deepspeed,
                                                 &dyno_exporter_tensorflow,
                                                 &dyno_exporter_torchrun,
                                                 &dyno_exporter_slurm,
                                                 NULL };

const DynoExporter *const *
dyno_exporter_list (void)
{
  return exporters;
}

const DynoExporter *
dyno_exporter_find (const char *id)
{
  for (guint i = 0; exporters[i]; i++)
    if (g_strcmp0 (exporters[i]->id, id) == 0)
      return exporters[i];
  return NULL;
}

const DynoExportRow *
dyno_exporter_get_rows (const DynoExporter *exporter, const DynoExportContext *context)
{
  return exporter->choose_rows ? exporter->choose_rows (context) : exporter->rows;
}

/* Only the day is written, so that two exports of a day are equal; SOURCE_DATE_EPOCH sets it for
 * reproducible builds. */
char *
dyno_export_day (void)
{
  const char *pinned = g_getenv ("SOURCE_DATE_EPOCH");
  g_autoptr (GDateTime) time = NULL;
  gint64 seconds;

  if (pinned && g_ascii_string_to_signed (pinned, 10, 0, G_MAXINT32, &seconds, NULL))
    time = g_date_time_new_from_unix_utc (seconds);
  if (!time)
    time = g_date_time_new_now_local ();
  return g_strdup_printf ("%04d-%02d-%02d", g_date_time_get_year (time),
                          g_date_time_get_month (time), g_date_time_get_day_of_month (time));
}

/* At least three digits, and never an exponent. */
char *
dyno_export_rate (const DynoExportContext *context)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  double rate = context->samples_per_s;

  if (!(rate > 0))
    return NULL;
  return g_strdup (g_ascii_formatd (number, sizeof number, rate >= 100 ? "%.1f" : "%.3g", rate));
}

/* A name must not end the comment's line, whatever characters it has: YAML, for example, also ends
 * a line at Unicode's line separators. */
static void
add_line (GPtrArray *lines, const char *name, const char *value)
{
  g_autofree char *shown = dyno_text_visible (value);

  g_ptr_array_add (lines, g_strdup_printf ("%s: %s", name, shown));
}

char **
dyno_export_head (const DynoExportContext *context)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new ();
  g_autofree char *today = dyno_export_day (), *rate = NULL;

  g_ptr_array_add (lines, g_strdup_printf ("Dyno %s settings, %s", DYNO_VERSION, today));
  if (context->device)
    add_line (lines, DYNO_HEAD_CARD, context->device);
  if (context->job && context->job->data)
    add_line (lines, DYNO_HEAD_DATA, context->job->data);
  rate = dyno_export_rate (context);
  if (rate)
    g_ptr_array_add (lines, g_strdup_printf (DYNO_HEAD_RATE ": %s samples/s", rate));
  if (context->vram_bytes)
    {
      char mib[G_ASCII_DTOSTR_BUF_SIZE];
      g_ptr_array_add (lines, g_strdup_printf (DYNO_HEAD_MEMORY ": %s MiB",
                                               g_ascii_formatd (mib, sizeof mib, "%.0f",
                                                                (double) context->vram_bytes
                                                                    / (1024.0 * 1024.0))));
    }
  g_ptr_array_add (lines, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&lines), FALSE);
}

void
dyno_export_append_head (GString *text, const DynoExportContext *context)
{
  g_auto (GStrv) head = dyno_export_head (context);

  for (guint i = 0; head[i]; i++)
    g_string_append_printf (text, "# %s\n", head[i]);
}

gboolean
dyno_export_check_path (const char *path, gboolean force, GError **error)
{
  g_autofree char *shown = g_filename_display_name (path);
  GStatBuf status;

  if (g_lstat (path, &status) != 0)
    return TRUE;
  if (S_ISDIR (status.st_mode))
    {
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS,
                   "“%s” is a folder; give the name of a file", shown);
      return FALSE;
    }
  if (!force)
    g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS,
                 S_ISLNK (status.st_mode)
                     ? "“%s” is a symbolic link; choose another name, or replace the link by force"
                     : "“%s” exists; choose another name, or replace it by force",
                 shown);
  return force;
}

gboolean
dyno_export_file (const DynoExporter *exporter, const DynoExportContext *context, const char *path,
                  gboolean force, GError **error)
{
  g_autofree char *text = exporter->write (context);

  return dyno_export_check_path (path, force, error)
         && dyno_file_write_atomic (path, text, strlen (text), error);
}
