/* SPDX-License-Identifier: MIT */
/* Writes a run into MLflow's folder of runs, its "file store", as versions 1 to 3 read it:
 *
 *   mlruns/0/meta.yaml                MLflow's default experiment
 *   mlruns/EXPERIMENT/meta.yaml       Dyno's experiment, "dyno"
 *   mlruns/EXPERIMENT/RUN/meta.yaml   the run: name, status, times in ms; written last
 *                         metrics/KEY lines of "ms value step"; a / in a key is a folder
 *                         params/KEY, tags/KEY   their values as text
 *
 * Invariants: a run's id follows from its folder's path, so that the same run is found again; its
 * artifact location is that folder itself, so no file is copied.
 * Source: mlflow/store/tracking/file_store.py. */
#include "formats.h"
#include "file.h"
#include "intl.h"
#include "outfile.h"
#include "runlog.h"
#include "session.h"
#include "yaml.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define EXPERIMENT "dyno"
#define TAIL       256 /* bytes at the end of a file that hold the last line of a metric */

/* RunStatus of mlflow/protos/service.proto */
enum { RUNNING = 1, FINISHED = 3, FAILED = 4, KILLED = 5 };
#define SOURCE_LOCAL 4

typedef struct {
  const char *root;       /* of all, absolute */
  char *experiment, *run; /* folders */
  char *run_id;
  guint64 after; /* rows of later steps are written; 0: all */
} Store;

/* --- experiments ------------------------------------------------------------------------------ */

static char *
to_uri (const char *path)
{
  char *uri = g_filename_to_uri (path, NULL, NULL);

  return uri ? uri : g_strdup (path);
}

static gboolean
make_folder (const char *path, GError **error)
{
  return g_mkdir_with_parents (path, 0755) == 0 || dyno_file_set_error (error, errno, path);
}

static gboolean
write_text (const char *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return dyno_file_write_atomic (path, text, strlen (text), error);
}

static gboolean
write_experiment (const Store *store, const char *id, const char *name, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *folder = g_build_filename (store->root, id, NULL), *uri = to_uri (folder);
  gint64 now_ms = g_get_real_time () / 1000;

  dyno_yaml_string (text, 0, "artifact_location", uri);
  dyno_yaml_int (text, 0, "creation_time", now_ms);
  dyno_yaml_string (text, 0, "experiment_id", id);
  dyno_yaml_int (text, 0, "last_update_time", now_ms);
  dyno_yaml_string (text, 0, "lifecycle_stage", "active");
  dyno_yaml_string (text, 0, "name", name);
  return make_folder (folder, error) && write_text (folder, "meta.yaml", text->str, error);
}

/* TRUE where a folder belongs to the experiment: a line of its meta.yaml has the name, quoted or
 * not. */
static gboolean
is_experiment (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "meta.yaml", NULL), *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (g_str_equal (lines[i], "name: " EXPERIMENT)
        || g_str_equal (lines[i], "name: \"" EXPERIMENT "\"")
        || g_str_equal (lines[i], "name: '" EXPERIMENT "'"))
      return TRUE;
  return FALSE;
}

/* The experiment's id; the experiment is made where it does not exist. */
static char *
find_experiment (const Store *store, GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (store->root, 0, NULL);
  g_autofree char *zero = g_build_filename (store->root, "0", NULL), *id = NULL;
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *folder = g_build_filename (store->root, name, NULL);
      if (g_ascii_isdigit (*name) && is_experiment (folder))
        return g_strdup (name);
    }
  id = g_strdup_printf ("%" G_GINT64_FORMAT, g_get_real_time ());
  if ((!g_file_test (zero, G_FILE_TEST_EXISTS) && !write_experiment (store, "0", "Default", error))
      || !write_experiment (store, id, EXPERIMENT, error))
    return NULL;
  return g_steal_pointer (&id);
}

/* --- a run ------------------------------------------------------------------------------------ */

static int
get_status (const DynoRunLog *log)
{
  switch ((DynoSessionState) log->facts->state)
    {
    case DYNO_SESSION_FINISHED:
      return FINISHED;
    case DYNO_SESSION_FAILED:
      return FAILED;
    case DYNO_SESSION_STOPPED:
      return KILLED;
    default:
      return RUNNING;
    }
}

static gboolean
write_meta (const Store *store, const DynoRunLog *log, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *id = g_path_get_basename (store->experiment), *uri = to_uri (log->folder);
  int status = get_status (log);

  dyno_yaml_string (text, 0, "artifact_uri", uri);
  dyno_yaml_null (text, 0, "deleted_time");
  if (status == RUNNING)
    dyno_yaml_null (text, 0, "end_time");
  else
    dyno_yaml_int (text, 0, "end_time", (gint64) (log->end * 1e3));
  dyno_yaml_string (text, 0, "entry_point_name", "");
  dyno_yaml_string (text, 0, "experiment_id", id);
  dyno_yaml_string (text, 0, "lifecycle_stage", "active");
  dyno_yaml_string (text, 0, "run_id", store->run_id);
  dyno_yaml_string (text, 0, "run_name", log->name);
  dyno_yaml_string (text, 0, "run_uuid", store->run_id);
  dyno_yaml_string (text, 0, "source_name", "");
  dyno_yaml_int (text, 0, "source_type", SOURCE_LOCAL);
  dyno_yaml_string (text, 0, "source_version", "");
  dyno_yaml_int (text, 0, "start_time", (gint64) (log->begin * 1e3));
  dyno_yaml_int (text, 0, "status", status);
  g_string_append (text, "tags: []\n");
  dyno_yaml_string (text, 0, "user_id", g_get_user_name ());
  return write_text (store->run, "meta.yaml", text->str, error);
}

static gboolean
write_params (const Store *store, const DynoRunLog *log, GError **error)
{
  const char *const own[][2] = { { "model", log->job->model },
                                 { "data", log->job->data },
                                 { "preset", log->job->preset },
                                 { "device", *log->facts->device ? log->facts->device : NULL } },
                    *const tags[][2] = { { "mlflow.runName", log->name },
                                         { "mlflow.user", g_get_user_name () },
                                         { "mlflow.source.name", "dyno " DYNO_VERSION },
                                         { "mlflow.source.type", "LOCAL" } };
  g_autofree char *params = g_build_filename (store->run, "params", NULL),
                  *tag = g_build_filename (store->run, "tags", NULL);
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  if (!make_folder (params, error) || !make_folder (tag, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    if (own[i][1] && !write_text (params, own[i][0], own[i][1], error))
      return FALSE;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *value = dyno_settings_get (&log->job->settings, table[i].key);
      if (!write_text (params, table[i].key, value, error))
        return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    if (!write_text (tag, tags[i][0], tags[i][1], error))
      return FALSE;
  return TRUE;
}

/* Names of columns come from the data set, and MLflow allows few characters: others are replaced,
 * so that no name leads out of the folder. */
static char *
name_metric (const char *name)
{
  char *own = g_strdup (name), *column = strchr (own, '/') + 1;

  for (char *c = column; *c; c++)
    if (!g_ascii_isalnum (*c) && !strchr ("_- ", *c) && (*c != '.' || c == column))
      *c = '_';
  return own;
}

typedef struct {
  guint column;
  GString *text;
} Lines;

static gboolean
add_line (const DynoRunLog *log, const DynoStepMetrics *step, const DynoEpochMetrics *epoch,
          double time, gpointer data)
{
  Lines *lines = data;
  double value = dyno_run_log_get (log, lines->column, step, epoch);
  g_autofree char *number = isnan (value) ? NULL : dyno_double_to_text (value);

  if (number)
    g_string_append_printf (lines->text, "%" G_GINT64_FORMAT " %s %" G_GUINT64_FORMAT "\n",
                            (gint64) (time * 1e3), number, step->step);
  return TRUE;
}

static gboolean
append_text (const char *path, const GString *text, GError **error)
{
  FILE *file = g_fopen (path, "ae");
  gboolean ok = file && fwrite (text->str, 1, text->len, file) == text->len;
  int code = errno;

  if (file && fclose (file) != 0 && ok)
    {
      ok = FALSE;
      code = errno;
    }
  return ok || dyno_file_set_error (error, code, path);
}

static gboolean
write_metrics (const Store *store, const DynoRunLog *log, GError **error)
{
  for (guint i = 0; i < log->columns->len; i++)
    {
      g_autofree char *name = name_metric (log->names->pdata[i]),
                      *path = g_build_filename (store->run, "metrics", name, NULL),
                      *folder = g_path_get_dirname (path);
      g_autoptr (GString) text = g_string_new (NULL);
      Lines lines = { i, text };

      dyno_run_log_each (log, store->after, add_line, &lines);
      /* a metric without a value gets no file: MLflow reports an empty file as an error */
      if (text->len > 0
          && (!make_folder (folder, error)
              || !(store->after > 0 ? append_text (path, text, error)
                                    : dyno_file_write_atomic (path, text->str, text->len, error))))
        return FALSE;
    }
  return TRUE;
}

/* The step of the last line of the loss; 0: there is no line. */
static guint64
find_last_step (const Store *store)
{
  g_autofree char *path = g_build_filename (store->run, "metrics", "step", "loss", NULL);
  FILE *file = g_fopen (path, "re");
  char tail[TAIL + 1] = { 0 };
  char *space;

  if (!file)
    return 0;
  if (fseek (file, -TAIL, SEEK_END) != 0)
    rewind (file);
  tail[fread (tail, 1, TAIL, file)] = '\0';
  fclose (file);
  space = strrchr (tail, ' ');
  return space ? g_ascii_strtoull (space + 1, NULL, 10) : 0;
}

static gboolean
write_run (Store *store, const DynoRunLog *log, DynoLogMode mode, GError **error)
{
  g_autofree char *meta = g_build_filename (store->run, "meta.yaml", NULL);
  gboolean there = g_file_test (meta, G_FILE_TEST_EXISTS);

  if (there && mode == DYNO_LOG_ADD)
    {
      g_autofree char *shown = g_filename_display_name (store->run);
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS,
                   _ ("“%s” has the run “%s” already; --force replaces it"), shown, log->name);
      return FALSE;
    }
  store->after = there && mode == DYNO_LOG_FOLLOW ? find_last_step (store) : 0;
  return make_folder (store->run, error) && (store->after > 0 || write_params (store, log, error))
         && write_metrics (store, log, error) && write_meta (store, log, error);
}

gboolean
dyno_mlflow_write (const DynoRunLog *log, const char *path, DynoLogMode mode, char **written,
                   GError **error)
{
  g_autofree char *root = g_canonicalize_filename (path, NULL), *experiment = NULL;
  Store store = { .root = root };
  gboolean ok = make_folder (root, error);

  experiment = ok ? find_experiment (&store, error) : NULL;
  if (!experiment)
    return FALSE;
  store.run_id = g_compute_checksum_for_string (G_CHECKSUM_MD5, log->folder, -1);
  store.experiment = g_build_filename (root, experiment, NULL);
  store.run = g_build_filename (store.experiment, store.run_id, NULL);
  ok = write_run (&store, log, mode, error);
  if (ok && written)
    *written = g_strdup (store.run);
  g_free (store.run_id);
  g_free (store.experiment);
  g_free (store.run);
  return ok;
}

/* mlflow ui reads the folder where it is started; MLFLOW_TRACKING_URI is followed where it is a
 * path or a file: URI, not where it is a server. */
char *
dyno_mlflow_find_place (void)
{
  const char *uri = g_getenv ("MLFLOW_TRACKING_URI");

  if (uri && g_str_has_prefix (uri, "file:"))
    {
      char *path = g_filename_from_uri (uri, NULL, NULL);
      if (path)
        return path;
    }
  return g_strdup (uri && *uri && !strstr (uri, ":") ? uri : "mlruns");
}

static gboolean
add (const char *folder, const char *place, gboolean force, char **written, GError **error)
{
  g_auto (DynoRunLog) log = { 0 };

  return dyno_run_log_open (&log, folder, NULL, error)
         && dyno_mlflow_write (&log, place, force ? DYNO_LOG_REPLACE : DYNO_LOG_ADD, written,
                               error);
}

const DynoRunExporter dyno_run_exporter_mlflow = { .id = "mlflow",
                                                   .title = N_ ("Run in MLflow"),
                                                   .extension = "mlruns",
                                                   .find_place = dyno_mlflow_find_place,
                                                   .add = add };
