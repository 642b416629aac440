/* SPDX-License-Identifier: MIT */
/* The folder of a run: its name, the check that it is free, and its settings.ini. */
#include "runwriter.h"
#include "runlog.h"
#include "file.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define MAX_NAME 40 /* characters of a data set's name */

static const char *const run_files[] = { "settings.ini",
                                         "metrics.csv",
                                         "sensors.csv",
                                         "weights.safetensors",
                                         "weights-last.safetensors",
                                         "curves.svg",
                                         "curves.png",
                                         "checkpoint.safetensors",
                                         "checkpoint.previous.safetensors",
                                         "diagnosis.json",
                                         "facts.ini",
                                         "log",
                                         NULL };

const DynoRunWriter dyno_run_writer = {
  .write_settings = dyno_run_writer_write_settings,
  .write_curves = dyno_run_writer_write_curves,
  .write_diagnosis = dyno_run_writer_write_diagnosis,
  .follow = dyno_run_writer_follow,
};

static gboolean
same_folder (const char *a, const char *b)
{
  GStatBuf status_a, status_b;

  return g_stat (a, &status_a) == 0 && g_stat (b, &status_b) == 0
         && status_a.st_dev == status_b.st_dev && status_a.st_ino == status_b.st_ino;
}

static gboolean
is_resumed (const char *folder, const char *resume)
{
  g_autofree char *parent = NULL;

  if (!resume)
    return FALSE;
  parent = g_path_get_dirname (resume);
  return same_folder (folder, resume) || same_folder (folder, parent);
}

gboolean
dyno_run_writer_check_folder (const char *folder, const char *resume, GError **error)
{
  if (is_resumed (folder, resume))
    return TRUE;
  for (guint i = 0; run_files[i]; i++)
    {
      g_autofree char *path = g_build_filename (folder, run_files[i], NULL),
                      *shown = g_filename_display_name (folder);
      GStatBuf status;

      if (g_lstat (path, &status) != 0)
        continue;
      g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS,
                   "“%s” holds an earlier run (%s); choose another folder, resume it by --resume, "
                   "or write over it by --force",
                   shown, run_files[i]);
      return FALSE;
    }
  return TRUE;
}

/* "shapes" of "builtin:shapes?size=32", "mnist" of "/data/mnist/": only characters that any file
 * system accepts. */
static char *
short_name (const char *data)
{
  g_autofree char *plain = g_strdup (data ? data : ""), *base = NULL;
  char *name, *end;

  if (g_str_has_prefix (plain, "builtin:") || g_str_has_prefix (plain, "synthetic:"))
    {
      *strchrnul (plain, '?') = '\0';
      if (plain[0] == 's')
        *strchr (plain, ':') = '\0';
    }
  base = g_path_get_basename (plain);
  name = strchr (base, ':') ? strchr (base, ':') + 1 : base;
  end = strrchr (name, '.');
  if (end && end != name)
    *end = '\0';
  for (char *c = name; *c; c++)
    if (!g_ascii_isalnum (*c) && !strchr ("-_", *c))
      *c = '_';
  return strlen (name) == 0 ? g_strdup ("data") : g_strndup (name, MAX_NAME);
}

/* "mlp-shapes-"; a network's name goes on with its digest, which is left out. */
static char *
make_stem (const char *model, const char *data)
{
  g_autofree char *name = short_name (data);
  return g_strdup_printf ("%.*s-%s-", (int) strcspn (model, "@"), model, name);
}

gboolean
dyno_run_writer_has_claimed (const char *folder, const char *model, const char *data)
{
  g_autofree char *stem = make_stem (model ? model : "", data),
                  *name = g_path_get_basename (folder);
  gsize n = strlen (stem);

  return g_str_has_prefix (name, stem) && name[n]
         && strspn (name + n, "0123456789") == strlen (name + n);
}

char *
dyno_run_writer_claim_folder (const char *parent, const DynoJob *job, GError **error)
{
  g_autofree char *stem = make_stem (job->model, job->data);

  if (!dyno_dir_make (parent))
    {
      dyno_file_set_error (error, errno, parent);
      return NULL;
    }
  for (guint n = 1;; n++)
    {
      g_autofree char *name = g_strdup_printf ("%s%u", stem, n);
      g_autofree char *path = g_build_filename (parent, name, NULL);

      if (g_mkdir (path, 0755) == 0)
        return g_steal_pointer (&path);
      if (errno != EEXIST)
        {
          dyno_file_set_error (error, errno, path);
          return NULL;
        }
    }
}

/* Makes the path of an existing file or folder absolute; other names, as of built-in data sets,
 * stay. */
static void
make_absolute (char **name)
{
  char *path;

  if (!*name || !g_file_test (*name, G_FILE_TEST_EXISTS))
    return;
  path = g_canonicalize_filename (*name, NULL);
  g_free (*name);
  *name = path;
}

gboolean
dyno_run_writer_write_settings (const char *folder, const DynoJob *job, const char *device,
                                GError **error)
{
  g_autoptr (DynoJob) copy = dyno_job_copy (job);
  g_autofree char *path = g_build_filename (folder, "settings.ini", NULL);
  DynoExportContext context = { .job = copy, .device = device };

  make_absolute (&copy->data);
  make_absolute (&copy->targets);
  return dyno_export_file (dyno_exporter_find ("keyfile"), &context, path, TRUE, error);
}

/* --- other programs' logs ---------------------------------------------------------------------- */

gboolean
dyno_run_writer_follow (const char *folder, const DynoJob *job, DynoMetrics *metrics,
                        gboolean first, GError **error)
{
  DynoLogMode mode = first ? DYNO_LOG_REPLACE : DYNO_LOG_FOLLOW;
  g_auto (DynoRunLog) log = { 0 };
  g_autofree char *trackio = NULL, *mlflow = NULL;

  if (!job->settings.log_trackio && !job->settings.log_mlflow)
    return TRUE;
  trackio = dyno_trackio_find_place ();
  mlflow = dyno_mlflow_find_place ();
  return dyno_run_log_open (&log, folder, metrics, error)
         && (!job->settings.log_trackio || dyno_trackio_write (&log, trackio, mode, NULL, error))
         && (!job->settings.log_mlflow || dyno_mlflow_write (&log, mlflow, mode, NULL, error));
}

/* --- removing --------------------------------------------------------------------------------- */

/* TRUE where settings.ini has the job's model, data and settings. */
static gboolean
check_owner (const char *folder, const DynoJob *job, GError **error)
{
  g_autofree char *path = g_build_filename (folder, "settings.ini", NULL),
                  *shown = g_filename_display_name (folder);
  g_autoptr (DynoJob) found = dyno_job_new ();
  g_autoptr (DynoJob) asked = dyno_job_copy (job);

  make_absolute (&asked->data);
  if (dyno_settings_file_read (path, found, NULL, NULL) && g_strcmp0 (found->model, job->model) == 0
      && g_strcmp0 (found->data, asked->data) == 0
      && dyno_settings_equal (&found->settings, &job->settings))
    return TRUE;
  g_set_error (error, DYNO_EXPORT_ERROR, DYNO_EXPORT_ERROR_EXISTS,
               "It is not certain that “%s” belongs to this run (settings.ini is of another run, "
               "or is missing); remove the folder by hand",
               shown);
  return FALSE;
}

static gboolean
has_run_files (const char *folder)
{
  for (guint i = 0; run_files[i]; i++)
    {
      g_autofree char *path = g_build_filename (folder, run_files[i], NULL);
      if (g_file_test (path, G_FILE_TEST_EXISTS))
        return TRUE;
    }
  return FALSE;
}

static gboolean
remove_file (const char *folder, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  return g_unlink (path) == 0 || errno == ENOENT || dyno_file_set_error (error, errno, path);
}

/* settings.ini is removed last, since it identifies the run of the other files. */
gboolean
dyno_run_writer_remove_files (const char *folder, const DynoJob *job, gboolean *gone,
                              GError **error)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  if (has_run_files (folder) && !check_owner (folder, job, error))
    return FALSE;
  while (dir && (name = g_dir_read_name (dir)))
    if (dyno_file_is_temporary (name) && !remove_file (folder, name, error))
      return FALSE;
  for (guint i = 1; run_files[i]; i++)
    if (!remove_file (folder, run_files[i], error))
      return FALSE;
  if (!remove_file (folder, run_files[0], error))
    return FALSE;
  *gone = g_rmdir (folder) == 0;
  return TRUE;
}
