/* SPDX-License-Identifier: MIT */
/* Searches with their trials, and the rates that the history remembers. */
#include "process.h"
#include "store-private.h"
#include <math.h>
#include <string.h>

/* --- columns ---------------------------------------------------------------------------------- */

#define MEMBER(member) G_STRUCT_OFFSET (DynoStoredSearch, member)

static const DynoRecordField search_fields[] = {
  { "id", DYNO_RECORD_INT, MEMBER (id), NULL },
  { "name", DYNO_RECORD_TEXT, MEMBER (name), "name" },
  { "model", DYNO_RECORD_TEXT, MEMBER (model), "model" },
  { "data", DYNO_RECORD_PATH, MEMBER (data), "data" },
  { "preset", DYNO_RECORD_PATH, MEMBER (preset), "preset" },
  { "device", DYNO_RECORD_TEXT, MEMBER (device), "device" },
  { "folder", DYNO_RECORD_PATH, MEMBER (folder), "folder" },
  { "begin_us", DYNO_RECORD_TIME, MEMBER (begin_us), NULL },
  { "end_us", DYNO_RECORD_TIME, MEMBER (end_us), NULL },
  { "state", DYNO_RECORD_OTHER, 0, NULL },
  { "process", DYNO_RECORD_OTHER, 0, NULL },
  { "seen_us", DYNO_RECORD_OTHER, 0, NULL },
  { "best_settings", DYNO_RECORD_OTHER, 0, NULL },
  { "(SELECT count (*) FROM trials WHERE search = searches.id)", DYNO_RECORD_UINT,
    MEMBER (n_trials), "trials" },
  { "best_samples_per_s", DYNO_RECORD_NUMBER, MEMBER (best_samples_per_s), NULL },
  { "baseline_samples_per_s", DYNO_RECORD_NUMBER, MEMBER (baseline_samples_per_s),
    "baseline_samples_per_s" },
  { "proven", DYNO_RECORD_FLAG, MEMBER (proven), "proven" },
  { "text", DYNO_RECORD_TEXT, MEMBER (text), "text" },
};
#undef MEMBER

#define MEMBER(member) G_STRUCT_OFFSET (DynoStoreTrial, member)

static const DynoRecordField trial_fields[] = {
  { "number", DYNO_RECORD_UINT, MEMBER (number), "number" },
  { "stage", DYNO_RECORD_OTHER, 0, NULL },
  { "settings", DYNO_RECORD_OTHER, 0, NULL },
  { "outcome", DYNO_RECORD_OTHER, 0, NULL },
  { "samples_per_s", DYNO_RECORD_NUMBER, MEMBER (samples_per_s), "samples_per_s" },
  { "low", DYNO_RECORD_NUMBER, MEMBER (low), "low" },
  { "high", DYNO_RECORD_NUMBER, MEMBER (high), "high" },
  { "predicted", DYNO_RECORD_NUMBER, MEMBER (predicted), "predicted" },
  { "vram_bytes", DYNO_RECORD_COUNT, MEMBER (vram_bytes), "vram_bytes" },
  { "planned_bytes", DYNO_RECORD_COUNT, MEMBER (planned_bytes), "planned_bytes" },
  { "text", DYNO_RECORD_TEXT, MEMBER (text), "text" },
};
#undef MEMBER

const DynoRecordField *
dyno_stored_search_list_fields (guint *n)
{
  *n = G_N_ELEMENTS (search_fields);
  return search_fields;
}

const DynoRecordField *
dyno_store_trial_list_fields (guint *n)
{
  *n = G_N_ELEMENTS (trial_fields);
  return trial_fields;
}

/* --- searches --------------------------------------------------------------------------------- */

gint64
dyno_store_begin_search (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                         guint64 fingerprint, const char *folder, GError **error)
{
  g_autofree char *settings = dyno_settings_to_lines (&job->settings),
                  *process = dyno_process_describe (), *data = dyno_store_absolute (job->data),
                  *path = folder ? g_canonicalize_filename (folder, NULL) : NULL;
  gint64 now = g_get_real_time (), id = 0;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return 0;
  good = dyno_database_run (
      store->db, error,
      "INSERT INTO searches (model, data, preset, settings, fingerprint, device, driver, version, "
      "folder, begin_us, seen_us, state, process) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
      "'running', ?)",
      "sbbsusssbiis", job->model ? job->model : "", data, job->preset, settings, fingerprint,
      device->name, device->driver, DYNO_VERSION, path, now, now, process);
  if (good)
    id = dyno_database_get_last_id (store->db);
  return dyno_database_end (store->db, good, error) ? id : 0;
}

static gboolean
fail_to_find (gint64 search, GError **error)
{
  g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND,
               "There is no search %" G_GINT64_FORMAT " in the history any more", search);
  return FALSE;
}

gboolean
dyno_store_add_trial (DynoStore *store, gint64 search, const DynoStoreTrial *t, GError **error)
{
  g_autofree char *settings = dyno_settings_to_lines (&t->settings);
  const char *const others[] = { t->stage, settings, t->outcome },
                    *sql = dyno_row_sql ("INSERT OR REPLACE INTO trials (search, time_us, {names}) "
                                         "VALUES (?1, ?2, {marks})",
                                         trial_fields, G_N_ELEMENTS (trial_fields), 3);
  gint64 now = g_get_real_time ();
  sqlite3_stmt *s = NULL;
  gboolean more, good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (store->db, error, "UPDATE searches SET seen_us = ? WHERE id = ?", "ii",
                            now, search)
         && (dyno_database_get_changes (store->db) > 0 || fail_to_find (search, error))
         && (s = dyno_database_prepare (store->db, error, sql, "ii", search, now))
         && dyno_row_bind (store->db, s, trial_fields, G_N_ELEMENTS (trial_fields), 3, t, others,
                           error)
         && dyno_database_step (store->db, s, &more, error);
  return dyno_database_end (store->db, good, error);
}

gboolean
dyno_store_end_search (DynoStore *store, gint64 search, const DynoStoreSearchEnd *end,
                       GError **error)
{
  g_autofree char *best = end->best ? dyno_settings_to_lines (end->best) : NULL;
  gint64 now = g_get_real_time ();
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (store->db, error,
                            "UPDATE searches SET end_us = ?, seen_us = ?, state = ?, "
                            "best_settings = ?, best_samples_per_s = ?, "
                            "baseline_samples_per_s = ?, proven = ?, text = ? WHERE id = ?",
                            "iissddisi", now, now, end->state, best, end->best_samples_per_s,
                            end->baseline_samples_per_s, (gint64) end->proven, end->text, search)
         && (dyno_database_get_changes (store->db) > 0 || fail_to_find (search, error));
  return dyno_database_end (store->db, good, error);
}

void
dyno_stored_search_free (DynoStoredSearch *search)
{
  if (search)
    dyno_row_clear (search_fields, G_N_ELEMENTS (search_fields), search);
  g_free (search);
}

static char *
read_other (sqlite3_stmt *s, const char *name)
{
  return dyno_row_read_other (s, search_fields, G_N_ELEMENTS (search_fields), name);
}

static DynoStoredSearch *
read_search (sqlite3_stmt *s)
{
  DynoStoredSearch *search = g_new0 (DynoStoredSearch, 1);
  g_autofree char *state = read_other (s, "state"), *process = read_other (s, "process"),
                  *best = read_other (s, "best_settings"), *seen = read_other (s, "seen_us");

  dyno_row_read (s, search_fields, G_N_ELEMENTS (search_fields), search);
  search->state =
      dyno_run_state_find (state, process, NULL, seen ? g_ascii_strtoll (seen, NULL, 10) : 0);
  search->has_best = best != NULL;
  dyno_settings_from_lines (&search->best, best, NULL);
  return search;
}

static GPtrArray *
list_searches (DynoStore *store, const char *pattern, gint64 value, GError **error)
{
  const char *sql = dyno_row_sql (pattern, search_fields, G_N_ELEMENTS (search_fields), 1);
  g_autoptr (GPtrArray) searches =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_stored_search_free);
  sqlite3_stmt *s;
  gboolean row = FALSE, good;

  dyno_database_lock (store->db);
  s = dyno_database_prepare (store->db, error, sql, "i", value);
  good = s != NULL;
  while (good && (good = dyno_database_step (store->db, s, &row, error)) && row)
    g_ptr_array_add (searches, read_search (s));
  dyno_database_unlock (store->db);
  return good ? g_steal_pointer (&searches) : NULL;
}

GPtrArray *
dyno_store_list_searches (DynoStore *store, guint limit, GError **error)
{
  return list_searches (store, "SELECT {names} FROM searches ORDER BY id DESC LIMIT ?",
                        limit ? (gint64) limit : -1, error);
}

DynoStoredSearch *
dyno_store_find_search (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (GPtrArray) searches =
      list_searches (store, "SELECT {names} FROM searches WHERE id = ?", id, error);

  if (searches && searches->len == 1)
    return g_ptr_array_steal_index (searches, 0);
  if (searches)
    g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND,
                 "There is no search s%" G_GINT64_FORMAT "; 'dynoctl runs --searches' lists them",
                 id);
  return NULL;
}

gboolean
dyno_store_rename_search (DynoStore *store, gint64 id, const char *name, GError **error)
{
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  good = dyno_database_run (store->db, error, "UPDATE searches SET name = ? WHERE id = ?", "si",
                            name && *name ? name : NULL, id)
         && (dyno_database_get_changes (store->db) > 0 || fail_to_find (id, error));
  return dyno_database_end (store->db, good, error);
}

gboolean
dyno_store_delete_search (DynoStore *store, gint64 id, GError **error)
{
  g_autoptr (DynoStoredSearch) search = NULL;
  gboolean good;

  if (!dyno_database_begin (store->db, error))
    return FALSE;
  search = dyno_store_find_search (store, id, error);
  good = search != NULL;
  if (search && search->state == DYNO_RUN_STATE_RUNNING)
    {
      good = FALSE;
      g_set_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE,
                   "Search s%" G_GINT64_FORMAT " is in progress; stop it before it is deleted", id);
    }
  good = good
         && dyno_database_run (store->db, error, "DELETE FROM trials WHERE search = ?", "i", id)
         && dyno_database_run (store->db, error, "DELETE FROM searches WHERE id = ?", "i", id);
  return dyno_database_end (store->db, good, error);
}

static void
free_trial (gpointer data)
{
  DynoStoreTrial *trial = data;

  g_free ((char *) trial->text);
  g_free (trial);
}

static char *
read_word (sqlite3_stmt *s, const char *name)
{
  return dyno_row_read_other (s, trial_fields, G_N_ELEMENTS (trial_fields), name);
}

static DynoStoreTrial *
read_trial (sqlite3_stmt *s)
{
  DynoStoreTrial *trial = g_new0 (DynoStoreTrial, 1);
  g_autofree char *stage = read_word (s, "stage"), *settings = read_word (s, "settings"),
                  *outcome = read_word (s, "outcome");

  dyno_row_read (s, trial_fields, G_N_ELEMENTS (trial_fields), trial);
  trial->stage = g_intern_string (stage);
  dyno_settings_from_lines (&trial->settings, settings, NULL);
  trial->outcome = g_intern_string (outcome);
  return trial;
}

GPtrArray *
dyno_store_list_trials (DynoStore *store, gint64 search, GError **error)
{
  g_autoptr (GPtrArray) trials = g_ptr_array_new_with_free_func (free_trial);
  sqlite3_stmt *s;
  gboolean row = FALSE, good;

  dyno_database_lock (store->db);
  s = dyno_database_prepare (
      store->db, error,
      dyno_row_sql ("SELECT {names} FROM trials WHERE search = ? ORDER BY number", trial_fields,
                    G_N_ELEMENTS (trial_fields), 1),
      "i", search);
  good = s != NULL;
  while (good && (good = dyno_database_step (store->db, s, &row, error)) && row)
    g_ptr_array_add (trials, read_trial (s));
  dyno_database_unlock (store->db);
  return good ? g_steal_pointer (&trials) : NULL;
}

/* --- rates ------------------------------------------------------------------------------------ */

static gboolean
changes_any (const DynoSettingInfo *info)
{
  return info->rate != DYNO_SETTING_RATE_NONE;
}

/* The loader's rate is in samples/s, which neither the batch size nor the settings of the device
 * affect. */
static gboolean
changes_loader (const DynoSettingInfo *info)
{
  return info->rate == DYNO_SETTING_RATE_LOADER || info->rate == DYNO_SETTING_RATE_BOTH;
}

static gboolean
changes_device (const DynoSettingInfo *info)
{
  return info->rate == DYNO_SETTING_RATE_DEVICE || info->rate == DYNO_SETTING_RATE_BOTH;
}

typedef gboolean (*Counts) (const DynoSettingInfo *info);

static gboolean
same_rate (const DynoSettings *a, const DynoSettings *b, Counts counts)
{
  guint n;
  g_autofree const DynoSettingInfo **different = dyno_store_compare_settings (a, b, &n);

  for (guint i = 0; i < n; i++)
    if (counts (different[i]) && dyno_setting_counts (different[i], a))
      return FALSE;
  return TRUE;
}

/* The conditions for which rates are remembered. */
typedef struct {
  const char *model, *device;
  const char *data; /* where that must be equal, too; else NULL */
  guint64 fingerprint;
  const DynoSettings *settings;
  Counts counts; /* the settings that must be equal */
} Wanted;

/* Rows of (settings, rate, overhead, preparation, time, run), newest first. */
static gboolean
find_among (DynoStore *store, const char *sql, const Wanted *wanted, DynoStoredRate *rate)
{
  sqlite3_stmt *s;
  gboolean row = FALSE, found = FALSE;

  dyno_database_lock (store->db);
  s = dyno_database_prepare (store->db, NULL, sql, "susb", wanted->model ? wanted->model : "",
                             wanted->fingerprint, wanted->device, wanted->data);
  while (s && !found && dyno_database_step (store->db, s, &row, NULL) && row)
    {
      g_autofree char *lines = dyno_column_text (s, 0);
      DynoSettings settings;

      dyno_settings_from_lines (&settings, lines, NULL);
      found = same_rate (&settings, wanted->settings, wanted->counts);
      if (found)
        *rate = (DynoStoredRate){ .samples_per_s = dyno_column_double (s, 1),
                                  .epoch_overhead_seconds = dyno_column_double (s, 2),
                                  .preparation_seconds = dyno_column_double (s, 3),
                                  .time_us = sqlite3_column_int64 (s, 4),
                                  .run = sqlite3_column_int64 (s, 5) };
    }
  if (s)
    sqlite3_reset (s);
  dyno_database_unlock (store->db);
  return found;
}

gboolean
dyno_store_find_rates (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                       guint64 fingerprint, DynoStoredRate *rate)
{
  /* Generated samples are the same ones in any size, which only the location has. */
  gboolean generated =
      job->data
      && (g_str_has_prefix (job->data, "builtin:") || g_str_has_prefix (job->data, "synthetic:"));
  const Wanted wanted = { job->model,  device->name,   generated ? job->data : NULL,
                          fingerprint, &job->settings, changes_any };
  DynoStoredRate trial = { 0 };
  gboolean by_run, by_trial;

  *rate = (DynoStoredRate){ (double) NAN, (double) NAN, (double) NAN, 0, 0 };
  by_run = find_among (store,
                       "SELECT settings, samples_per_s, epoch_overhead_s, preparation_s, seen_us, "
                       "id FROM runs WHERE model = ? AND fingerprint = ? AND device = ? "
                       "AND (?4 IS NULL OR data = ?4) AND samples_per_s > 0 AND parts = 1 ORDER BY "
                       "id DESC LIMIT 1000",
                       &wanted, rate);
  by_trial = find_among (store,
                         "SELECT trials.settings, trials.samples_per_s, NULL, NULL, "
                         "trials.time_us, 0 FROM trials JOIN searches ON searches.id = "
                         "trials.search WHERE searches.model = ? AND searches.fingerprint = ? AND "
                         "searches.device = ? AND (?4 IS NULL OR searches.data = ?4) "
                         "AND trials.samples_per_s > 0 AND trials.outcome = 'ok' AND trials.stage "
                         "NOT IN ('loader', 'gpu') "
                         "AND (trials.text IS NULL OR trials.stage = 'goal') "
                         "ORDER BY trials.time_us DESC, trials.search DESC LIMIT 1000",
                         &wanted, &trial);
  /* A trial is shorter than a run: it counts only where there is no run.  Trials with a text are
   * skipped, since it may state that the cache was still being filled, except in the stage
   * “goal”. */
  if (!by_run && by_trial)
    *rate = trial;
  return by_run || by_trial;
}

double
dyno_store_find_rate (DynoStore *store, const DynoJob *job, const DynoDeviceInfo *device,
                      guint64 fingerprint)
{
  DynoStoredRate rate;

  dyno_store_find_rates (store, job, device, fingerprint, &rate);
  return rate.samples_per_s;
}

#define CEILINGS_OF(stage)                                                                 \
  "SELECT trials.settings, trials.samples_per_s, NULL, NULL, trials.time_us, 0 "           \
  "FROM trials JOIN searches ON searches.id = trials.search WHERE searches.model = ? AND " \
  "searches.fingerprint = ? AND searches.device = ? AND ?4 IS NULL "                       \
  "AND trials.samples_per_s > 0 "                                                          \
  "AND trials.outcome = 'ok' AND trials.stage = '" stage                                   \
  "' ORDER BY trials.time_us DESC, trials.search DESC LIMIT 1000"

void
dyno_store_find_ceilings (DynoStore *store, const char *model, guint64 fingerprint,
                          const char *device, const DynoSettings *settings, double *loader,
                          double *gpu)
{
  const Wanted of_loader = { model, device, NULL, fingerprint, settings, changes_loader },
               of_device = { model, device, NULL, fingerprint, settings, changes_device };
  DynoStoredRate rate;

  *loader = *gpu = (double) NAN;
  if (find_among (store, CEILINGS_OF ("loader"), &of_loader, &rate))
    *loader = rate.samples_per_s;
  if (find_among (store, CEILINGS_OF ("gpu"), &of_device, &rate))
    *gpu = rate.samples_per_s;
}
