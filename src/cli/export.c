/* SPDX-License-Identifier: MIT */
/* dynoctl export: settings for other programs, and the results of a run for other programs. */
#include "amount.h"
#include "exporter.h"
#include "job-options.h"
#include "metrics.h"
#include "output.h"
#include "runexporter.h"
#include "runfacts.h"
#include "runrate.h"
#include "signals.h"
#include "text.h"
#include <stdio.h>
#include <string.h>

typedef struct {
  const char *command;
  char *settings, *run, *to, *out;
  gboolean force, list, json;
} Options;

/* --- the lists -------------------------------------------------------------------------------- */

static void
print_format (DynoTable *table, const char *id, const char *title, const char *extension,
              const char *of, const char *file_name)
{
  DynoJson json;

  if (table)
    {
      dyno_table_add (table, g_strdup (id), g_strdup (title), g_strdup (of),
                      file_name ? g_strdup (file_name) : g_strconcat ("*.", extension, NULL), NULL);
      return;
    }
  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "id", id);
  dyno_json_string (&json, "title", title);
  dyno_json_string (&json, "of", of);
  dyno_json_string (&json, "extension", extension);
  dyno_json_string (&json, "file_name", file_name);
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

static int
print_list (gboolean as_json)
{
  g_autoptr (DynoTable) table =
      as_json ? NULL : dyno_table_new ("format", "is", "of", "file", NULL);

  for (const DynoExporter *const *e = dyno_exporter_list (); *e; e++)
    print_format (table, (*e)->id, (*e)->title, (*e)->extension, "settings", (*e)->file_name);
  for (const DynoRunExporter *const *e = dyno_run_exporter_list (); *e; e++)
    print_format (table, (*e)->id, (*e)->title, (*e)->extension, "run", NULL);
  if (table)
    dyno_table_print (table);
  return DYNO_EXIT_OK;
}

static int
unknown_format (const Options *o)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  gboolean other;
  const char *near;

  for (const DynoExporter *const *e = dyno_exporter_list (); o->settings && *e; e++)
    g_ptr_array_add (names, (gpointer) (*e)->id);
  for (const DynoRunExporter *const *e = dyno_run_exporter_list (); o->run && *e; e++)
    g_ptr_array_add (names, (gpointer) (*e)->id);
  g_ptr_array_add (names, NULL);
  other = o->settings ? dyno_run_exporter_find (o->to) != NULL : dyno_exporter_find (o->to) != NULL;
  if (other)
    return dyno_cli_usage (o->command, "--to %s: it is a format of %s", o->to,
                           o->settings ? "a run; name its folder with --run"
                                       : "settings; name their file with --settings");
  near = dyno_text_nearest (o->to, (const char *const *) names->pdata, 3);
  if (near)
    return dyno_cli_usage (o->command, "--to %s: there is no such format; did you mean %s?", o->to,
                           near);
  return dyno_cli_usage (o->command, "--to %s: there is no such format; '%s --list' lists them",
                         o->to, o->command);
}

/* --- settings --------------------------------------------------------------------------------- */

/* Returns the settings file itself, or the settings file in the folder of a run or a search. */
static char *
find_settings (const char *path, GError **error)
{
  static const char *const names[] = { "settings.ini", "best.ini" };
  g_autofree char *shown = g_filename_display_name (path);

  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return g_strdup (path);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *file = g_build_filename (path, names[i], NULL);

      if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer (&file);
    }
  g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_READ,
               "“%s” is no folder of a run or a search: there is no settings.ini or best.ini in it",
               shown);
  return NULL;
}

/* Reads a run's rate and device memory, which are not in its settings.ini, since this was written
 * before the run began. */
static void
take_run (const char *folder, DynoMeasured *measured)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_read (path, NULL);
  guint64 n_epochs = metrics ? dyno_metrics_get_epochs (metrics) : 0,
          n_steps = metrics ? dyno_metrics_get_steps (metrics) : 0;
  g_autofree DynoRunFacts *facts = g_new0 (DynoRunFacts, 1);
  g_autofree DynoStretches *stretches = g_new (DynoStretches, 1);
  DynoStepMetrics step;
  double rate;

  if (n_epochs == 0 || measured->samples_per_s > 0)
    return;
  dyno_run_facts_read (folder, facts);
  dyno_stretches_init (stretches);
  dyno_stretches_add_log (stretches, metrics);
  rate = dyno_run_rate_find (facts, stretches);
  if (rate > 0)
    measured->samples_per_s = rate;
  if (dyno_metrics_copy_steps (metrics, n_steps - 1, 1, &step) == 1)
    measured->vram_bytes = step.vram_bytes;
}

/* The data set determines shapes and steps.  If it is missing, as on another machine, the export
 * works without it. */
static DynoDataset *
open_dataset (const Options *o, const DynoJob *job)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = NULL;

  if (!job->data)
    return NULL;
  dataset = dyno_cli_open_dataset (o->command, job, &error);
  if (!dataset && !dyno_signals_get ())
    dyno_error_line ("%s: warning: shapes and steps of an epoch are not known: %s", o->command,
                     error->message);
  return dataset;
}

/* JSON has no comments: settings that are not in the file are listed here. */
static void
print_left_out (const Options *o, const DynoExporter *exporter, const DynoExportContext *context)
{
  g_auto (GStrv) list = dyno_exporter_list_left_out (exporter, context);
  g_autofree char *all = g_strjoinv ("; ", list);

  if (*all && strcmp (exporter->extension, "json") == 0)
    dyno_error_line ("%s: left out, since this format cannot hold it: %s", o->command, all);
}

static int
export_settings (const Options *o, const DynoExporter *exporter)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_auto (DynoMeasured) measured = { 0 };
  g_autofree char *path = find_settings (o->settings, &error);
  DynoExportContext context;

  if (!path || !dyno_settings_file_read (path, job, warnings, &error))
    return dyno_cli_fail (g_steal_pointer (&error), o->json);
  for (guint i = 0; i < warnings->len; i++)
    dyno_error_line ("%s: warning: %s", o->command, (const char *) warnings->pdata[i]);
  dyno_settings_file_read_measured (path, &measured);
  if (g_file_test (o->settings, G_FILE_TEST_IS_DIR))
    take_run (o->settings, &measured);
  if (exporter->asks_data)
    dataset = open_dataset (o, job);
  if (dyno_signals_get ())
    return dyno_signals_exit_code (dyno_signals_get ());
  context = (DynoExportContext){ .job = job,
                                 .device = measured.device,
                                 .samples_per_s = measured.samples_per_s,
                                 .vram_bytes = measured.vram_bytes,
                                 .dataset = dataset ? dyno_dataset_get_info (dataset) : NULL };
  if (o->out)
    {
      if (!dyno_export_file (exporter, &context, o->out, o->force, &error))
        return dyno_cli_fail (g_steal_pointer (&error), o->json);
    }
  else
    {
      g_autofree char *text = exporter->write (&context);
      dyno_out_text (text);
    }
  print_left_out (o, exporter, &context);
  return DYNO_EXIT_OK;
}

/* --- a run ------------------------------------------------------------------------------------ */

static int
export_run (const Options *o, const DynoRunExporter *exporter)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL, *written = NULL;

  if (!o->out)
    name = dyno_run_exporter_name_file (exporter, o->run);
  if (!dyno_run_export (exporter, o->run, o->out ? o->out : name, o->force, &written, &error))
    return dyno_cli_fail (g_steal_pointer (&error), o->json);
  dyno_out_line ("%s", written);
  return DYNO_EXIT_OK;
}

static int
export_any (const Options *o)
{
  const DynoExporter *exporter = o->to ? dyno_exporter_find (o->to) : NULL;
  const DynoRunExporter *of_run = o->to ? dyno_run_exporter_find (o->to) : NULL;

  if (o->list)
    return print_list (o->json);
  if (!o->settings == !o->run)
    return dyno_cli_usage (o->command, "name either a settings file with --settings, or the folder "
                                       "of a run with --run");
  if (!o->to)
    return dyno_cli_usage (o->command, "--to is missing; '%s --list' lists the formats",
                           o->command);
  if (o->settings ? !exporter : !of_run)
    return unknown_format (o);
  dyno_signals_get_cancellable ();
  dyno_signals_catch ();
  return o->settings ? export_settings (o, exporter) : export_run (o, of_run);
}

int
dyno_verb_export (int argc, char **argv)
{
  Options o = { .command = argv[0] };
  int code;
  const GOptionEntry entries[] = {
    { "settings", 0, 0, G_OPTION_ARG_FILENAME, &o.settings,
      "Settings file, or the folder of a run or a search", "FILE" },
    { "run", 0, 0, G_OPTION_ARG_FILENAME, &o.run, "Folder of a run", "DIR" },
    { "to", 't', 0, G_OPTION_ARG_STRING, &o.to, "Format", "FORMAT" },
    { "out", 'o', 0, G_OPTION_ARG_FILENAME, &o.out,
      "File to write (default: settings to standard output, a run to a file with its name)",
      "FILE" },
    { "force", 'f', 0, G_OPTION_ARG_NONE, &o.force, "Replace a file that is there", NULL },
    { "list", 'l', 0, G_OPTION_ARG_NONE, &o.list, "List the formats", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o.json,
      "One JSON object a format and line, and of a failure", NULL },
    { NULL },
  };

  if (dyno_cli_parse (argc, argv, "--settings FILE|--run DIR --to FORMAT",
                      "Writes settings in the format of another program, or the curves of a run.",
                      entries,
                      "Settings that a format cannot hold are listed in its comments or, where it "
                      "has none, on standard error.",
                      NULL, 0, &code))
    code = export_any (&o);
  g_free (o.settings);
  g_free (o.run);
  g_free (o.to);
  g_free (o.out);
  return code;
}
