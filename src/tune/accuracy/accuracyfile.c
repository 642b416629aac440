/* SPDX-License-Identifier: MIT */
/* The file is text by RFC 4180, with '.' decimals in any locale.  Reading ends at the first invalid
 * line, since later lines depend on the lines before. */
#include "accuracyfile.h"
#include "csvcell.h"
#include "csvlines.h"
#include "file.h"
#include "intl.h"
#include "preset.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define MOST_BYTES  (64 * 1024 * 1024)
#define MOST_TRIALS 100000

struct _DynoAccuracyFile {
  char *path, *tail; /* tail: what is the same in each line */
  gboolean append;
  int fd; /* -1: no line was added yet */
};

typedef enum {
  TRIAL,
  STAGE,
  SEED,
  FROM,
  EPOCHS,
  OUTCOME,
  VALUE,
  AT_ONCE,
  SECONDS,
  TRAIN_SECONDS,
  TEXT,
  N_FACTS
} Fact;
/* No setting has one of these names. */
static const char *const facts[N_FACTS] = { "trial",    "stage",         "run_seed", "from_epoch",
                                            "to_epoch", "outcome",       "value",    "at_once",
                                            "seconds",  "train_seconds", "text" };
static const char *const ends[] = { "metric", "data", "model", "device", "over" };
static const char *const stages[] = { "search", "final" };

/* --- writing ---------------------------------------------------------------------------------- */

static void
add_count (GString *line, guint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);

  dyno_csv_add_cell (line, text);
}

static GString *
make_header (void)
{
  GString *line = g_string_new (NULL);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < N_FACTS; i++)
    dyno_csv_add_cell (line, facts[i]);
  for (guint i = 0; i < n; i++)
    dyno_csv_add_cell (line, table[i].key);
  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    dyno_csv_add_cell (line, ends[i]);
  return g_string_append_c (line, '\n');
}

static gboolean
open_file (DynoAccuracyFile *file, GError **error)
{
  g_autoptr (GString) first = make_header ();

  if (file->fd < 0)
    file->fd = dyno_csv_open (file->path, first, file->append, MOST_BYTES, error);
  return file->fd >= 0;
}

gboolean
dyno_accuracy_file_add (DynoAccuracyFile *file, const DynoAccuracyRun *run, GError **error)
{
  g_autoptr (GString) line = g_string_new (NULL);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  add_count (line, run->trial);
  dyno_csv_add_cell (line, stages[run->final ? 1 : 0]);
  add_count (line, run->seed);
  add_count (line, run->from_epochs);
  add_count (line, run->epochs);
  dyno_csv_add_cell (line, dyno_trial_outcome_name (run->outcome));
  dyno_csv_add_number (line, run->value);
  add_count (line, run->at_once);
  dyno_csv_add_number (line, run->seconds);
  dyno_csv_add_number (line, run->train_seconds);
  dyno_csv_add_cell (line, run->text ? run->text : "");
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (&run->settings, table[i].key);

      dyno_csv_add_cell (line, value);
    }
  g_string_append_printf (line, "%s\n", file->tail);
  return open_file (file, error) && dyno_csv_append_line (file->fd, line, file->path, error);
}

DynoAccuracyFile *
dyno_accuracy_file_new (const char *path, const DynoJob *job, const char *metric,
                        const char *device, const char *const *over, gboolean append)
{
  DynoAccuracyFile *file = g_new0 (DynoAccuracyFile, 1);
  g_autoptr (GString) tail = g_string_new (" ");
  g_autofree char *lines = over ? g_strjoinv ("\n", (char **) over) : g_strdup ("");

  dyno_csv_add_cell (tail, metric);
  dyno_csv_add_cell (tail, job->data ? job->data : "");
  dyno_csv_add_cell (tail, job->model ? job->model : "");
  dyno_csv_add_cell (tail, device ? device : "");
  dyno_csv_add_cell (tail, lines);
  file->path = g_strdup (path);
  file->tail = g_strdup (tail->str + 1);
  file->append = append;
  file->fd = -1;
  return file;
}

void
dyno_accuracy_file_free (DynoAccuracyFile *file)
{
  if (!file)
    return;
  if (file->fd >= 0)
    close (file->fd);
  g_free (file->path);
  g_free (file->tail);
  g_free (file);
}

/* --- reading ---------------------------------------------------------------------------------- */

static gboolean
read_count (const char *text, guint64 most, guint64 *value)
{
  return g_ascii_string_to_unsigned (text, 10, 0, most, value, NULL);
}

/* NaN: the cell is empty. */
static gboolean
read_number (const char *text, double *value)
{
  char *end = NULL;

  *value = *text ? g_ascii_strtod (text, &end) : (double) NAN;
  return !*text || (*end == '\0' && isfinite (*value));
}

static gboolean
read_facts (char *const *cells, DynoAccuracyRun *run)
{
  guint64 trial, at_once;

  if (!read_count (cells[TRIAL], MOST_TRIALS, &trial)
      || !read_count (cells[AT_ONCE], DYNO_ACCURACY_MOST_AT_ONCE, &at_once) || at_once == 0
      || !read_count (cells[SEED], G_MAXINT64, &run->seed)
      || !read_count (cells[FROM], G_MAXINT64, &run->from_epochs)
      || !read_count (cells[EPOCHS], G_MAXINT64, &run->epochs)
      || !dyno_trial_outcome_find (cells[OUTCOME], &run->outcome)
      || !read_number (cells[VALUE], &run->value) || !read_number (cells[SECONDS], &run->seconds)
      || !read_number (cells[TRAIN_SECONDS], &run->train_seconds))
    return FALSE;
  run->trial = (guint) trial;
  run->at_once = (guint) at_once;
  run->has_ended = TRUE;
  run->final = strcmp (cells[STAGE], stages[1]) == 0;
  run->text = *cells[TEXT] ? g_strdup (cells[TEXT]) : NULL;
  return (run->final || strcmp (cells[STAGE], stages[0]) == 0)
         && (run->outcome == DYNO_TRIAL_OK) == isfinite (run->value);
}

/* NULL: the line cannot be read. */
static DynoAccuracyRun *
read_run (const GPtrArray *cells)
{
  g_autoptr (DynoAccuracyRun) run = g_new0 (DynoAccuracyRun, 1);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  dyno_settings_init (&run->settings);
  if (cells->len != N_FACTS + n + G_N_ELEMENTS (ends)
      || !read_facts ((char *const *) cells->pdata, run))
    return NULL;
  for (guint i = 0; i < n; i++)
    if (!dyno_settings_set (&run->settings, table[i].key, cells->pdata[N_FACTS + i], NULL))
      return NULL;
  return g_steal_pointer (&run);
}

static void
take_job (DynoAccuracyRecord *record, const GPtrArray *cells, const DynoAccuracyRun *run)
{
  guint n;

  dyno_setting_list (&n);
  record->job = dyno_job_new ();
  record->job->settings = run->settings;
  record->metric = g_strdup (cells->pdata[N_FACTS + n]);
  g_free (record->job->data);
  record->job->data = g_strdup (cells->pdata[N_FACTS + n + 1]);
  g_free (record->job->model);
  record->job->model = g_strdup (cells->pdata[N_FACTS + n + 2]);
  if (*(const char *) cells->pdata[N_FACTS + n + 4])
    record->over = g_strsplit (cells->pdata[N_FACTS + n + 4], "\n", -1);
}

static DynoAccuracyRecord *
refuse (const char *path, const char *reason, GError **error)
{
  g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS,
               _ ("No search can be resumed from “%s”: %s"), path, reason);
  return NULL;
}

DynoAccuracyRecord *
dyno_accuracy_file_read (const char *path, GError **error)
{
  g_autoptr (DynoAccuracyRecord) record = g_new0 (DynoAccuracyRecord, 1);
  g_autoptr (GString) header = make_header ();
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = dyno_csv_read (path, MOST_BYTES, &problem);
  const char *at;

  record->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  if (!text)
    return refuse (path, problem->message, error);
  if (!g_str_has_prefix (text, header->str))
    return refuse (path, _ ("it was not written by this version of Dyno"), error);
  at = text + header->len;
  while (TRUE)
    {
      g_autoptr (GPtrArray) cells = dyno_csv_next_line (&at);
      DynoAccuracyRun *run = cells ? read_run (cells) : NULL;

      if (!cells)
        break;
      if (!run) /* runs after it would be trained again by each resumed search */
        {
          g_autofree char *reason = g_strdup_printf (
              _ ("run %u cannot be read; remove its line and those after it, then resume"),
              record->runs->len + 1);

          return refuse (path, reason, error);
        }
      g_ptr_array_add (record->runs, run);
      if (!record->job && run->trial == 0)
        take_job (record, cells, run);
    }
  if (!record->job)
    return refuse (path, _ ("it contains no trial"), error);
  return g_steal_pointer (&record);
}

gboolean
dyno_accuracy_record_check (const DynoAccuracyRecord *record, const DynoJob *job,
                            const char *metric, const char *path, GError **error)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);
  const char *of = NULL;

  if (g_strcmp0 (record->job->data, job->data) != 0)
    of = "data";
  else if (g_strcmp0 (record->job->model, job->model) != 0)
    of = "model";
  else if (strcmp (record->metric, metric) != 0)
    of = "metric";
  for (guint i = 0; i < n && !of; i++)
    if (!table[i].same_weights
        && dyno_settings_get_number (&record->job->settings, table[i].key)
               != dyno_settings_get_number (&job->settings, table[i].key))
      of = table[i].key;
  if (of)
    g_set_error (error, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_TRIALS,
                 _ ("“%s” belongs to another search: its %s differs; start a new search"), path,
                 of);
  return !of;
}

/* --- finding ---------------------------------------------------------------------------------- */

typedef struct {
  char *folder;
  gint64 time; /* of the last change of its file */
} Place;

static void
clear_place (gpointer data)
{
  g_free (((Place *) data)->folder);
}

static int
compare_newest_first (gconstpointer a, gconstpointer b)
{
  const Place *one = a, *other = b;

  return one->time == other->time ? strcmp (other->folder, one->folder)
                                  : (one->time < other->time ? 1 : -1);
}

char *
dyno_accuracy_find_folder (const char *place, const DynoJob *job, DynoAccuracyRecord **record)
{
  g_autoptr (GDir) dir = g_dir_open (place, 0, NULL);
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (Place));

  g_array_set_clear_func (found, clear_place);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (place, name, DYNO_ACCURACY_FILE, NULL);
      Place at;
      GStatBuf info;

      if (g_stat (path, &info) != 0)
        continue;
      at = (Place){ g_build_filename (place, name, NULL), (gint64) info.st_mtime };
      g_array_append_val (found, at);
    }
  g_array_sort (found, compare_newest_first);
  for (guint i = 0; i < found->len; i++)
    {
      const char *folder = g_array_index (found, Place, i).folder;
      g_autofree char *path = g_build_filename (folder, DYNO_ACCURACY_FILE, NULL);
      g_autoptr (DynoAccuracyRecord) read = dyno_accuracy_file_read (path, NULL);

      if (!read || !dyno_accuracy_record_check (read, job, read->metric, path, NULL))
        continue;
      *record = g_steal_pointer (&read);
      return g_strdup (folder);
    }
  return NULL;
}

void
dyno_accuracy_record_free (DynoAccuracyRecord *record)
{
  if (!record)
    return;
  dyno_job_unref (record->job);
  g_free (record->metric);
  g_strfreev (record->over);
  g_clear_pointer (&record->runs, g_ptr_array_unref);
  g_free (record);
}
