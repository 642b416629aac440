/* SPDX-License-Identifier: MIT */
#include "bestfiles.h"
#include "accuracyhtml.h"
#include "file.h"
#include <string.h>

/* Appends a sentence as comment lines, wrapped between words. */
static void
add_comment (GString *text, const char *sentence)
{
  g_auto (GStrv) words = g_strsplit (sentence, " ", -1);
  gsize column = 0;

  for (guint i = 0; words[i]; i++)
    {
      if (column == 0 || column + strlen (words[i]) > 96)
        {
          g_string_append (text, i > 0 ? "\n#" : "#");
          column = 1;
        }
      g_string_append_printf (text, " %s", words[i]);
      column += strlen (words[i]) + 1;
    }
  g_string_append_c (text, '\n');
}

gboolean
dyno_best_files_write (const char *folder, const DynoExportContext *context,
                       const char *const *sentences, GError **error)
{
  const char *const formats[] = { "keyfile", "json" };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      const DynoExporter *exporter = dyno_exporter_find (formats[i]);
      g_autofree char *name = g_strconcat ("best.", exporter->extension, NULL);
      g_autofree char *path = g_build_filename (folder, name, NULL),
                      *body = exporter->write (context);
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint k = 0; i == 0 && sentences[k]; k++)
        add_comment (text, sentences[k]);
      g_string_append (text, body);
      if (!dyno_file_write_atomic (path, text->str, text->len, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
keeps_files (const char *folder, const DynoAccuracyResult *result)
{
  g_autofree char *path = g_build_filename (folder, "best.ini", NULL);

  return result->stopped && (result->known_proven || result->runs->len == result->n_known)
         && g_file_test (path, G_FILE_TEST_EXISTS);
}

gboolean
dyno_best_files_write_accuracy (const char *folder, const DynoJob *job, const char *device,
                                const DynoAccuracyResult *result, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "report.html", NULL), *html = NULL;
  g_autoptr (DynoJob) chosen = dyno_job_copy (job);
  const char *const reasons[] = { result->text, NULL };
  const DynoExportContext context = { .job = chosen,
                                      .device = device,
                                      .note = result->text,
                                      .reasons = reasons,
                                      .proven = result->verdict == DYNO_ACCURACY_PROVEN };

  if (result->trials->len == 0 || keeps_files (folder, result))
    return TRUE;
  chosen->settings = g_array_index (result->trials, DynoAccuracyTrial, result->best).settings;
  if (!dyno_best_files_write (folder, &context, reasons, error))
    return FALSE;
  html = dyno_report_accuracy_html (result, job, device);
  return dyno_file_write_atomic (path, html, strlen (html), error);
}
