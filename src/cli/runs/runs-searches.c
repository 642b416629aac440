/* SPDX-License-Identifier: MIT */
/* Searches have their own numbers, which are written with the prefix s, so that they are not
 * confused with the numbers of runs. */
#include "runs-searches.h"
#include "amount.h"
#include "formats.h"
#include "base-error.h"
#include "output.h"
#include "run-words.h"
#include "runs-error.h"
#include "trialsfile.h"
#include "tuneresult.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>

gint64
dyno_search_parse_id (const char *word)
{
  guint64 id = 0;

  return *word == 's' && g_ascii_string_to_unsigned (word + 1, 10, 1, G_MAXINT64, &id, NULL)
             ? (gint64) id
             : 0;
}

static char *
text_id (const DynoStoredSearch *search)
{
  return g_strdup_printf ("s%" G_GINT64_FORMAT, search->id);
}

static char *
text_rate (double rate)
{
  return rate > 0 ? dyno_text_rate (rate) : g_strdup ("-");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void
add_trials (DynoJson *json, const GPtrArray *trials)
{
  guint n;
  const DynoRecordField *fields = dyno_store_trial_list_fields (&n);

  dyno_json_begin_array (json, "trial_list");
  for (guint i = 0; i < trials->len; i++)
    {
      const DynoStoreTrial *t = trials->pdata[i];

      dyno_json_begin_object (json, NULL);
      dyno_json_record (json, fields, n, t);
      dyno_json_string (json, "stage", t->stage);
      dyno_json_string (json, "outcome", t->outcome);
      dyno_export_json_settings (json, &t->settings);
      dyno_json_end_object (json);
    }
  dyno_json_end_array (json);
}

/* trials: NULL omits settings and trials. */
static void
print_json (const DynoStoredSearch *search, const GPtrArray *trials)
{
  guint n;
  const DynoRecordField *fields = dyno_stored_search_list_fields (&n);
  g_autofree char *id = text_id (search);
  DynoJson json;

  dyno_json_init (&json, 0);
  dyno_json_begin_object (&json, NULL);
  dyno_json_string (&json, "event", "search");
  dyno_json_string (&json, "id", id);
  dyno_json_string (&json, "state", dyno_run_state_name (search->state));
  dyno_json_add_time (&json, "begin", search->begin_us);
  dyno_json_add_time (&json, "end", search->end_us);
  dyno_json_double (&json, "samples_per_s",
                    search->has_best ? search->best_samples_per_s : (double) NAN);
  dyno_json_record (&json, fields, n, search);
  if (trials)
    {
      if (search->has_best)
        dyno_export_json_settings (&json, &search->best);
      else
        dyno_json_null (&json, "settings");
      add_trials (&json, trials);
    }
  dyno_json_end_object (&json);
  dyno_out_json (&json);
  dyno_json_clear (&json);
}

/* --- words ------------------------------------------------------------------------------------ */

static char *
text_verdict (const DynoStoredSearch *search)
{
  return g_strdup (!search->has_best ? "nothing" : search->proven ? "proven" : "not proven");
}

static void
print_trials (const GPtrArray *trials)
{
  g_autoptr (DynoTable) table = NULL;

  if (trials->len == 0)
    return;
  table =
      dyno_table_new ("", "stage", "samples/s", "predicted", "VRAM", "outcome", "settings", NULL);
  for (guint i = 0; i < trials->len; i++)
    {
      const DynoStoreTrial *t = trials->pdata[i];
      g_autofree char *settings = dyno_trial_describe (&t->settings);

      dyno_table_add (
          table, g_strdup_printf ("%u", t->number), g_strdup (dyno_trial_stage_text (t->stage)),
          text_rate (t->samples_per_s), text_rate (t->predicted),
          t->vram_bytes > 0 ? dyno_amount_bytes (t->vram_bytes, " ") : g_strdup ("-"),
          g_strdup (t->outcome),
          g_strdup_printf ("%s%s%s", settings, t->text ? ": " : "", t->text ? t->text : ""), NULL);
    }
  dyno_out_line ("%s", "");
  dyno_table_print (table);
}

static void
print_search (const DynoStoredSearch *search, const GPtrArray *trials)
{
  g_autofree char *id = text_id (search), *begun = dyno_text_when (search->begin_us),
                  *best = dyno_trial_describe (&search->best), *verdict = text_verdict (search),
                  *rate = text_rate (search->best_samples_per_s),
                  *base = text_rate (search->baseline_samples_per_s),
                  *data = g_filename_display_name (search->data ? search->data : ""),
                  *folder = search->folder ? g_filename_display_name (search->folder) : NULL;

  dyno_out_line ("search %s  %s%s%s, begun %s", id, search->name ? search->name : "",
                 search->name ? ", " : "", dyno_run_state_name (search->state), begun);
  dyno_out_line ("model     %s on %s", search->model, data);
  dyno_out_line ("device    %s", search->device ? search->device : "-");
  if (search->has_best)
    dyno_out_line ("best      %s: %s samples/s, %s (base line: %s)", best, rate, verdict, base);
  if (search->text)
    dyno_out_line ("why       %s", search->text);
  dyno_out_line ("folder    %s", folder ? folder : "nothing is kept");
  print_trials (trials);
}

/* --- the actions ------------------------------------------------------------------------------ */

int
dyno_searches_list (DynoStore *store, guint limit, gboolean json, const char *command,
                    GError **error)
{
  g_autoptr (GPtrArray) searches = dyno_store_list_searches (store, limit, error);
  g_autoptr (DynoTable) table = NULL;

  if (!searches)
    return -1;
  if (searches->len == 0 && !json)
    dyno_error_line ("%s: no searches yet", command);
  if (searches->len > 0 && !json)
    table = dyno_table_new ("id", "begun", "name", "model", "data", "state", "trials", "samples/s",
                            "base line", "verdict", "best", NULL);
  for (guint i = 0; i < searches->len; i++)
    {
      const DynoStoredSearch *search = searches->pdata[i];

      if (json)
        print_json (search, NULL);
      else
        dyno_table_add (
            table, text_id (search), dyno_text_when (search->begin_us),
            g_strdup (search->name ? search->name : "-"), g_strdup (search->model),
            dyno_text_data (search->data), g_strdup (dyno_run_state_name (search->state)),
            g_strdup_printf ("%u", search->n_trials), text_rate (search->best_samples_per_s),
            text_rate (search->baseline_samples_per_s), text_verdict (search),
            search->has_best ? dyno_trial_describe (&search->best) : g_strdup ("-"), NULL);
    }
  if (table)
    dyno_table_print (table);
  return DYNO_EXIT_OK;
}

int
dyno_search_show (DynoStore *store, gint64 id, gboolean json, GError **error)
{
  g_autoptr (DynoStoredSearch) search = dyno_store_find_search (store, id, error);
  g_autoptr (GPtrArray) trials = search ? dyno_store_list_trials (store, id, error) : NULL;

  if (!trials)
    return -1;
  if (json)
    print_json (search, trials);
  else
    print_search (search, trials);
  return DYNO_EXIT_OK;
}

/* Whether another search has the same folder: a resumed search continues in the same files. */
static gboolean
shares_folder (DynoStore *store, const DynoStoredSearch *search)
{
  g_autoptr (GPtrArray) all = dyno_store_list_searches (store, 0, NULL);

  for (guint i = 0; all && i < all->len; i++)
    {
      const DynoStoredSearch *other = all->pdata[i];

      if (other->id != search->id && g_strcmp0 (other->folder, search->folder) == 0)
        return TRUE;
    }
  return all == NULL;
}

static gboolean
remove_files (const char *folder, GError **error)
{
  static const char *const names[] = { "best.ini", "best.json", "report.html", DYNO_TRIALS_FILE };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL), *shown = NULL;

      if (g_unlink (path) == 0 || errno == ENOENT)
        continue;
      shown = g_filename_display_name (path);
      g_set_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO, "“%s” cannot be removed: %s", shown,
                   g_strerror (errno));
      return FALSE;
    }
  g_rmdir (folder); /* succeeds only if the folder is empty */
  return TRUE;
}

int
dyno_search_rename (DynoStore *store, gint64 id, const char *name, GError **error)
{
  g_autoptr (DynoStoredSearch) search = dyno_store_find_search (store, id, error);

  return search && dyno_store_rename_search (store, id, name, error) ? DYNO_EXIT_OK : -1;
}

/* Removes the files first: if one cannot be removed, the entry still has their folder. */
int
dyno_search_delete (DynoStore *store, gint64 id, gboolean files, GError **error)
{
  g_autoptr (DynoStoredSearch) search = dyno_store_find_search (store, id, error);

  if (!search)
    return -1;
  if (files && search->folder && search->state != DYNO_RUN_STATE_RUNNING
      && !shares_folder (store, search) && !remove_files (search->folder, error))
    return -1;
  return dyno_store_delete_search (store, id, error) ? DYNO_EXIT_OK : -1;
}
