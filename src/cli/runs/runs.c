/* SPDX-License-Identifier: MIT */
/* dynoctl runs: lists, shows, compares, renames, deletes and imports runs of the history. */
#include "amount.h"
#include "formats.h"
#include "import.h"
#include "output.h"
#include "run-words.h"
#include "runs-searches.h"
#include "runwriter.h"
#include "text.h"
#include <math.h>
#include <string.h>

typedef struct {
  const char *command;
  char **words; /* arguments after the action */
  guint n_words;
  char *model, *data;
  gint64 limit;
  gboolean files, searches, json;
  DynoStore *store;
} RunsOptions;

static void
runs_options_clear (RunsOptions *o)
{
  g_free (o->model);
  g_free (o->data);
  dyno_store_free (o->store);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (RunsOptions, runs_options_clear)

/* --- list ------------------------------------------------------------------------------------- */

static int
list (RunsOptions *o, GError **error)
{
  DynoRunFilter filter = { .model = o->model,
                           .data = o->data,
                           .limit = (guint) MIN (o->limit, G_MAXUINT) };
  g_autoptr (GPtrArray) runs = NULL;
  g_autoptr (DynoTable) table = NULL;

  if (o->searches)
    return dyno_searches_list (o->store, filter.limit, o->json, o->command, error);
  runs = dyno_store_list_runs (o->store, &filter, error);
  if (!runs)
    return -1;
  if (o->json)
    {
      for (guint i = 0; i < runs->len; i++)
        dyno_run_print_json (g_ptr_array_index (runs, i), NULL);
      return DYNO_EXIT_OK;
    }
  if (runs->len == 0)
    {
      dyno_error_line ("%s: no runs %s; runs --searches lists the searches of tune", o->command,
                       o->model || o->data ? "match" : "yet");
      return DYNO_EXIT_OK;
    }
  table = dyno_table_new ("id", "begun", "name", "model", "data", "state", "epochs", "best",
                          "samples/s", "time", NULL);
  for (guint i = 0; i < runs->len; i++)
    {
      const DynoStoredRun *run = g_ptr_array_index (runs, i);

      dyno_table_add (table, g_strdup_printf ("%" G_GINT64_FORMAT, run->id),
                      dyno_text_when (run->begin_us), dyno_stored_run_get_title (run),
                      g_strdup (run->model), dyno_text_data (run->data),
                      g_strdup (dyno_text_run_state (run)),
                      g_strdup_printf ("%" G_GUINT64_FORMAT, run->epochs), dyno_text_best (run),
                      dyno_text_rate (run->samples_per_s), dyno_text_duration (run->seconds), NULL);
    }
  dyno_table_print (table);
  return DYNO_EXIT_OK;
}

/* --- show ------------------------------------------------------------------------------------- */

static char *
describe_loss (double loss)
{
  return isnan (loss) ? g_strdup ("-") : g_strdup_printf ("%.4f", loss);
}

static void
print_epochs (const DynoStoredRun *run, const GArray *epochs)
{
  g_autoptr (DynoTable) table = NULL;

  if (epochs->len == 0)
    return;
  table = dyno_table_new ("epoch", "step", "loss", "validation loss",
                          run->metric ? run->metric : "metric", "samples/s", "seconds", NULL);
  for (guint i = 0; i < epochs->len; i++)
    {
      const DynoEpochMetrics *e = &g_array_index (epochs, DynoEpochMetrics, i);

      dyno_table_add (table, g_strdup_printf ("%" G_GUINT64_FORMAT, e->epoch),
                      g_strdup_printf ("%" G_GUINT64_FORMAT, e->step),
                      g_strdup_printf ("%.4f", e->train_loss), describe_loss (e->val_loss),
                      dyno_text_metric_value (run, e->val_metrics[0]),
                      dyno_text_rate (e->samples_per_s), dyno_text_duration (e->seconds), NULL);
    }
  dyno_out_line ("%s", "");
  dyno_table_print (table);
}

static void
print_settings (const DynoStoredRun *run)
{
  guint n;
  const DynoSettingInfo *settings = dyno_setting_list (&n);
  DynoSettings defaults;
  g_autoptr (GString) line = g_string_new (NULL);

  dyno_settings_init (&defaults);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (&run->settings, settings[i].key),
                      *other = dyno_settings_get (&defaults, settings[i].key);
      if (strcmp (value, other) != 0)
        g_string_append_printf (line, "%s%s=%s", line->len ? ", " : "", settings[i].key, value);
    }
  dyno_out_line ("settings  %s", line->len ? line->str : "all at their default values");
}

static void
print_run (const DynoStoredRun *run, const GArray *epochs)
{
  g_autofree char *title = dyno_stored_run_get_title (run), *begun = dyno_text_when (run->begin_us),
                  *folder = run->folder ? g_filename_display_name (run->folder) : NULL,
                  *data = g_filename_display_name (run->data ? run->data : ""),
                  *best = dyno_text_best (run), *test = dyno_text_test (run), *tested = NULL,
                  *time = dyno_text_duration (run->seconds),
                  *before = dyno_text_duration (run->preparation_seconds),
                  *planned = dyno_amount_bytes (run->planned_bytes, " "),
                  *used = dyno_amount_bytes (run->vram_bytes, " "),
                  *rate = dyno_text_rate (run->samples_per_s);

  dyno_out_line ("run %" G_GINT64_FORMAT "  %s, %s, begun %s", run->id, title,
                 dyno_text_run_state (run), begun);
  if (run->error)
    dyno_out_line ("error     %s", run->error);
  if (run->n_test > 0)
    tested = g_strdup_printf (" + %" G_GUINT64_FORMAT, run->n_test);
  dyno_out_line ("model     %s on %s (%" G_GUINT64_FORMAT " + %" G_GUINT64_FORMAT
                 "%s %s, fingerprint %016" G_GINT64_MODIFIER "x)",
                 run->model, data, run->n_train, run->n_validation, tested ? tested : "",
                 dyno_plural (tested ? run->n_test : run->n_validation, "sample", "samples"),
                 run->fingerprint);
  dyno_out_line ("device    %s%s%s", run->device ? run->device : "none was opened",
                 run->driver ? ", " : "", run->driver ? run->driver : "");
  print_settings (run);
  dyno_out_line ("trained   %" G_GUINT64_FORMAT " %s, %" G_GUINT64_FORMAT
                 " %s in %s (and %s before), %s samples/s",
                 run->steps, dyno_plural (run->steps, "step", "steps"), run->epochs,
                 dyno_plural (run->epochs, "epoch", "epochs"), time, before, rate);
  if (dyno_stored_run_stopped_as_asked (run))
    dyno_out_line ("asked     to stop at step %" G_GINT64_FORMAT ", before its %" G_GINT64_FORMAT
                   " %s were over%s%s",
                   run->max_steps, run->settings.epochs,
                   run->settings.epochs == 1 ? "epoch" : "epochs",
                   folder ? "; resume with: dynoctl train --resume " : "", folder ? folder : "");
  if (run->best_epoch)
    dyno_out_line ("best      %s (epoch %" G_GUINT64_FORMAT ")", best, run->best_epoch);
  if (test)
    dyno_out_line ("test      %s on %" G_GUINT64_FORMAT " %s that the training has not seen", test,
                   run->n_test, dyno_plural (run->n_test, "sample", "samples"));
  dyno_out_line ("memory    %s planned, %s used", planned, used);
  dyno_out_line ("folder    %s", folder ? folder : "nothing is kept");
  print_epochs (run, epochs);
}

static DynoStoredRun *
find (RunsOptions *o, guint at, GError **error)
{
  guint64 id = 0;

  if (!g_ascii_string_to_unsigned (o->words[at], 10, 1, G_MAXINT64, &id, NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "“%s” is not the number of a run; '%s' lists them", o->words[at], o->command);
      return NULL;
    }
  return dyno_store_find_run (o->store, (gint64) id, error);
}

static int
show (RunsOptions *o, GError **error)
{
  gint64 search = dyno_search_parse_id (o->words[0]);
  g_autoptr (DynoStoredRun) run = search ? NULL : find (o, 0, error);
  g_autoptr (GArray) epochs = run ? dyno_store_list_epochs (o->store, run->id, error) : NULL;

  if (search)
    return dyno_search_show (o->store, search, o->json, error);
  if (!epochs)
    return -1;
  if (o->json)
    dyno_run_print_json (run, epochs);
  else
    print_run (run, epochs);
  return DYNO_EXIT_OK;
}

/* --- compare ---------------------------------------------------------------------------------- */

static void
compare_json (const DynoStoredRun *a, const DynoStoredRun *b, const DynoSettingInfo **different,
              guint n)
{
  const DynoStoredRun *both[] = { a, b };
  static const char *const sides[] = { "a", "b" };
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "compare");
  for (guint i = 0; i < 2; i++)
    {
      dyno_json_begin_object (&json, sides[i]);
      dyno_run_add_json (&json, both[i]);
      dyno_json_begin_object (&json, "settings");
      for (guint k = 0; k < n; k++)
        dyno_export_json_setting (&json, &both[i]->settings, different[k]);
      dyno_json_end_object (&json);
      dyno_json_end_object (&json);
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* Adds a row if the two differ or always is TRUE. */
static void
add_row (DynoTable *table, const char *what, char *a, char *b, gboolean always)
{
  if (always || strcmp (a, b) != 0)
    dyno_table_add (table, g_strdup (what), a, b, NULL);
  else
    {
      g_free (a);
      g_free (b);
    }
}

static char *
known (const char *text)
{
  return text ? g_filename_display_name (text) : g_strdup ("-");
}

static void
compare_text (const DynoStoredRun *a, const DynoStoredRun *b, const DynoSettingInfo **different,
              guint n)
{
  g_autofree char *one = g_strdup_printf ("run %" G_GINT64_FORMAT, a->id),
                  *other = g_strdup_printf ("run %" G_GINT64_FORMAT, b->id),
                  *test_a = dyno_text_test (a), *test_b = dyno_text_test (b);
  g_autoptr (DynoTable) table = dyno_table_new ("", one, other, NULL);

  add_row (table, "name", dyno_stored_run_get_title (a), dyno_stored_run_get_title (b), TRUE);
  add_row (table, "model", known (a->model), known (b->model), FALSE);
  add_row (table, "data", known (a->data), known (b->data), FALSE);
  add_row (table, "fingerprint", g_strdup_printf ("%016" G_GINT64_MODIFIER "x", a->fingerprint),
           g_strdup_printf ("%016" G_GINT64_MODIFIER "x", b->fingerprint), FALSE);
  add_row (table, "device", known (a->device), known (b->device), FALSE);
  add_row (table, "driver", known (a->driver), known (b->driver), FALSE);
  add_row (table, "preset", known (a->preset), known (b->preset), FALSE);
  for (guint i = 0; i < n; i++)
    add_row (table, different[i]->key, dyno_settings_get (&a->settings, different[i]->key),
             dyno_settings_get (&b->settings, different[i]->key), TRUE);
  add_row (table, "state", g_strdup (dyno_text_run_state (a)), g_strdup (dyno_text_run_state (b)),
           TRUE);
  add_row (table, "epochs", g_strdup_printf ("%" G_GUINT64_FORMAT, a->epochs),
           g_strdup_printf ("%" G_GUINT64_FORMAT, b->epochs), TRUE);
  add_row (table, "best", dyno_text_best (a), dyno_text_best (b), TRUE);
  add_row (table, "validation loss", describe_loss (a->best_val_loss),
           describe_loss (b->best_val_loss), TRUE);
  add_row (table, "test", known (test_a), known (test_b), FALSE);
  add_row (table, "samples/s", dyno_text_rate (a->samples_per_s), dyno_text_rate (b->samples_per_s),
           TRUE);
  add_row (table, "time", dyno_text_duration (a->seconds), dyno_text_duration (b->seconds), TRUE);
  add_row (table, "memory used", dyno_amount_bytes (a->vram_bytes, " "),
           dyno_amount_bytes (b->vram_bytes, " "), TRUE);
  dyno_table_print (table);
}

static int
compare (RunsOptions *o, GError **error)
{
  g_autoptr (DynoStoredRun) a = find (o, 0, error);
  g_autoptr (DynoStoredRun) b = a ? find (o, 1, error) : NULL;
  g_autofree const DynoSettingInfo **different = NULL;
  guint n;

  if (!b)
    return -1;
  different = dyno_store_compare_settings (&a->settings, &b->settings, &n);
  if (o->json)
    compare_json (a, b, different, n);
  else
    compare_text (a, b, different, n);
  return DYNO_EXIT_OK;
}

/* --- rename, delete --------------------------------------------------------------------------- */

static int
rename_run (RunsOptions *o, GError **error)
{
  gint64 search = dyno_search_parse_id (o->words[0]);
  g_autoptr (DynoStoredRun) run = search ? NULL : find (o, 0, error);

  if (!run && !search)
    return -1;
  if (!g_utf8_validate (o->words[1], -1, NULL))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "The name is no valid UTF-8");
      return -1;
    }
  if (search)
    return dyno_search_rename (o->store, search, o->words[1], error);
  return dyno_store_rename_run (o->store, run->id, o->words[1], error) ? DYNO_EXIT_OK : -1;
}

/* Removes the files first: if one cannot be removed, the entry still has their folder. */
static int
delete_run (RunsOptions *o, GError **error)
{
  gint64 search = dyno_search_parse_id (o->words[0]);
  g_autoptr (DynoStoredRun) run = search ? NULL : find (o, 0, error);

  if (search)
    return dyno_search_delete (o->store, search, o->files, error);
  if (!run)
    return -1;
  if (run->state == DYNO_RUN_STATE_RUNNING)
    {
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "Run %" G_GINT64_FORMAT " is in progress; stop it before it is deleted",
                   run->id);
      return -1;
    }
  if (o->files && run->folder && g_file_test (run->folder, G_FILE_TEST_IS_DIR))
    {
      g_autoptr (DynoJob) job = dyno_stored_run_get_job (run);
      g_autofree char *shown = g_filename_display_name (run->folder);
      gboolean gone = FALSE;

      if (!dyno_run_writer_remove_files (run->folder, job, &gone, error))
        return -1;
      if (!gone && !o->json)
        dyno_error_line ("%s: “%s” stays: other files are in it", o->command, shown);
    }
  return dyno_store_delete_run (o->store, run->id, error) ? DYNO_EXIT_OK : -1;
}

/* Imports the folder of a run, or a folder with many runs. */
static int
import_runs (RunsOptions *o, GError **error)
{
  g_autoptr (DynoStoredRun) run = NULL;
  g_autoptr (GError) problem = NULL;
  gboolean added = FALSE;
  guint n, n_found = 0;

  if (dyno_store_get_read_only (o->store))
    {
      g_set_error_literal (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_READ_ONLY,
                           dyno_store_get_read_only (o->store));
      return -1;
    }
  run = dyno_store_import_run (o->store, o->words[0], &added, &problem);
  n = run ? (guint) added : dyno_store_import_runs (o->store, o->words[0], &n_found);
  if (!run && n_found == 0)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return -1;
    }
  if (run && o->json)
    dyno_run_print_json (run, NULL);
  else if (!o->json)
    dyno_out_line ("%u %s added to the history", n, n == 1 ? "run was" : "runs were");
  return DYNO_EXIT_OK;
}

/* --- the verb --------------------------------------------------------------------------------- */

static const struct {
  const char *name, *words;
  guint n_words;
  int (*run) (RunsOptions *o, GError **error); /* -1: failed, with the error */
} actions[] = {
  { "list", "", 0, list },
  { "show", " ID", 1, show },
  { "compare", " ID ID", 2, compare },
  { "rename", " ID NAME", 2, rename_run },
  { "delete", " ID", 1, delete_run },
  { "import", " FOLDER", 1, import_runs },
};

static int
act (RunsOptions *o, const char *name)
{
  g_autoptr (GError) error = NULL;
  int code = -1;
  guint at = 0;

  while (at < G_N_ELEMENTS (actions) && strcmp (actions[at].name, name) != 0)
    at++;
  if (at == G_N_ELEMENTS (actions))
    return dyno_cli_usage (
        o->command, "there is no “%s”; it is list, show, compare, rename, delete or import", name);
  if (o->n_words != actions[at].n_words)
    return dyno_cli_usage (o->command, "write it as: %s %s%s", o->command, name, actions[at].words);
  o->store = dyno_store_open (NULL, &error);
  if (o->store && dyno_store_get_read_only (o->store))
    dyno_error_line ("%s: %s", o->command, dyno_store_get_read_only (o->store));
  if (o->store)
    code = actions[at].run (o, &error);
  return code >= 0 ? code : dyno_cli_fail (g_steal_pointer (&error), o->json);
}

int
dyno_verb_runs (int argc, char **argv)
{
  g_auto (RunsOptions) o = { .command = argv[0] };
  g_auto (GStrv) rest = NULL;
  int code;
  const GOptionEntry entries[] = {
    { "model", 'm', 0, G_OPTION_ARG_FILENAME, &o.model, "list: only runs of this model", "MODEL" },
    { "data", 'd', 0, G_OPTION_ARG_FILENAME, &o.data, "list: runs whose DATA holds this text",
      "TEXT" },
    { "limit", 'n', 0, G_OPTION_ARG_INT64, &o.limit, "list: only the newest N (default: all)",
      "N" },
    { "searches", 0, 0, G_OPTION_ARG_NONE, &o.searches,
      "list: the searches of tune and of the window instead; show sN shows one, rename sN NAME "
      "names it, delete sN forgets it",
      NULL },
    { "files", 0, 0, G_OPTION_ARG_NONE, &o.files,
      "delete: also the files that Dyno wrote into the folder of the run or search", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &o.json, "One JSON object a line on standard output", NULL },
    { NULL },
  };

  if (!dyno_cli_parse (
          argc, argv,
          "[list | show ID | compare ID ID | rename ID NAME | delete ID | import FOLDER]",
          "The history of runs: every run of dynoctl and of the window.", entries,
          "Without a command it lists them, newest first.", &rest, 3, &code))
    return code;
  if (o.searches && (o.model || o.data))
    return dyno_cli_usage (argv[0], "--searches lists all of them; leave out --model and --data");
  if (o.limit < 0)
    return dyno_cli_usage (argv[0], "--limit %" G_GINT64_FORMAT ": it is 0 (all) or more", o.limit);
  o.n_words = rest && rest[0] ? g_strv_length (rest) - 1 : 0;
  o.words = rest && rest[0] ? rest + 1 : NULL;
  return act (&o, rest && rest[0] ? rest[0] : "list");
}
