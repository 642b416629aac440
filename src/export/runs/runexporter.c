/* SPDX-License-Identifier: MIT */
/* The table of a run's exporters, and the exporters whose output is a file of the folder or a
 * drawing of it. */
#include "runexporter.h"
#include "formats.h"
#include "intl.h"
#include "runwriter.h"
#include <string.h>

/* The log is read and written anew, so that no incomplete line is copied while a line is being
 * appended. */
static gboolean
write_csv (const char *folder, const char *path, GError **error)
{
  g_autofree char *metrics_path = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_read (metrics_path, error);

  return metrics && dyno_metrics_write_csv (metrics, path, error);
}

/* The run's own budget, or 0. */
static guint64
read_budget (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "settings.ini", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();

  if (!dyno_settings_file_read (path, job, NULL, NULL))
    return 0;
  return (guint64) MAX (job->settings.vram_budget, 0);
}

static gboolean
draw (const char *folder, const char *path, const char *extension, GError **error)
{
  g_autofree char *metrics_path = g_build_filename (folder, "metrics.csv", NULL),
                  *ending = g_strconcat (".", extension, NULL), *lower = NULL;
  g_autoptr (DynoMetrics) metrics = dyno_metrics_read (metrics_path, error);

  if (!metrics)
    return FALSE;
  lower = g_ascii_strdown (path, -1);
  if (!g_str_has_suffix (lower, ending))
    {
      g_autofree char *shown = g_filename_display_name (path);
      g_set_error (
          error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_FORMAT,
          "“%s” does not have the extension of the picture's format; give a name that ends in %s",
          shown, ending);
      return FALSE;
    }
  return dyno_run_writer_draw_curves (path, metrics, read_budget (folder), error);
}

static gboolean
write_png (const char *folder, const char *path, GError **error)
{
  return draw (folder, path, "png", error);
}

static gboolean
write_svg (const char *folder, const char *path, GError **error)
{
  return draw (folder, path, "svg", error);
}

static gboolean
write_pdf (const char *folder, const char *path, GError **error)
{
  return draw (folder, path, "pdf", error);
}

static const DynoRunExporter csv = { "csv", N_ ("Metrics as CSV"), "csv", NULL, write_csv },
                             png = { "png", N_ ("Curves as PNG"), "png", NULL, write_png },
                             svg = { "svg", N_ ("Curves as SVG"), "svg", NULL, write_svg },
                             pdf = { "pdf", N_ ("Curves as PDF"), "pdf", NULL, write_pdf };

static const DynoRunExporter *const exporters[] = { &csv,
                                                    &png,
                                                    &svg,
                                                    &pdf,
                                                    &dyno_run_exporter_tensorboard,
                                                    &dyno_run_exporter_trace,
                                                    &dyno_run_exporter_trackio,
                                                    &dyno_run_exporter_mlflow,
                                                    NULL };

const DynoRunExporter *const *
dyno_run_exporter_list (void)
{
  return exporters;
}

const DynoRunExporter *
dyno_run_exporter_find (const char *id)
{
  for (guint i = 0; exporters[i]; i++)
    if (g_strcmp0 (exporters[i]->id, id) == 0)
      return exporters[i];
  return NULL;
}

char *
dyno_run_exporter_name_file (const DynoRunExporter *exporter, const char *folder)
{
  if (exporter->find_place)
    return exporter->find_place ();
  if (exporter->name_file)
    return exporter->name_file ();
  g_autofree char *whole = g_canonicalize_filename (folder, NULL),
                  *name = g_path_get_basename (whole);

  return g_strdup_printf ("%s.%s", strcmp (name, "/") == 0 ? "run" : name, exporter->extension);
}

gboolean
dyno_run_export (const DynoRunExporter *exporter, const char *folder, const char *path,
                 gboolean force, char **written, GError **error)
{
  g_autofree char *file = NULL;

  if (exporter->add)
    return exporter->add (folder, path, force, written, error);
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_autofree char *name = dyno_run_exporter_name_file (exporter, folder);
      file = g_build_filename (path, name, NULL);
    }
  else
    file = g_strdup (path);
  if (!dyno_export_check_path (file, force, error) || !exporter->write (folder, file, error))
    return FALSE;
  if (written)
    *written = g_steal_pointer (&file);
  return TRUE;
}
