/* SPDX-License-Identifier: MIT */
/* The folder of a run.  metrics.csv is appended to while the run goes on, and written once more,
 * atomically, at the end.  A step's row waits for the next step, because the row of an epoch's last
 * step also holds the epoch's values. */
#include "runfolder.h"
#include "checkpoint.h"
#include "file.h"
#include "intl.h"
#include "log.h"
#include "metricscsv.h"
#include "train-error.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FLUSH_US    G_USEC_PER_SEC
#define FLUSH_BYTES 65536

struct _DynoRunFolder {
  char *path, *checkpoint, *weights, *last_weights, *metrics;
  int lock;      /* the folder */
  guint n_made;  /* folders at the end of path that were not there */
  int fd;        /* metrics.csv; -1: not there yet */
  GString *text; /* not written yet */
  gboolean begun;
  GError *problem; /* why the last attempt did not write all of it; NULL: it did */
  gint64 flushed_us;
  gboolean has_step;
  DynoStepMetrics step; /* whose row waits */
  DynoMetricTable table;
};

static void
remove_leftovers (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    if (dyno_file_is_temporary (name))
      {
        g_autofree char *whole = g_build_filename (path, name, NULL);
        g_info ("Removing “%s”, which an interrupted run left", whole);
        g_unlink (whole);
      }
}

/* How many folders at the end of path are not there. */
static guint
count_missing (const char *path)
{
  g_autofree char *at = g_strdup (path);
  guint n = 0;

  while (!g_file_test (at, G_FILE_TEST_EXISTS))
    {
      char *parent = g_path_get_dirname (at);

      n++;
      g_free (at);
      at = parent;
    }
  return n;
}

static void
remove_made (const char *path, guint n)
{
  g_autofree char *at = g_strdup (path);

  for (; n > 0 && g_rmdir (at) == 0; n--)
    {
      char *parent = g_path_get_dirname (at);

      g_free (at);
      at = parent;
    }
}

/* The folder itself is locked, so that no file is needed and none is left; the kernel unlocks it
 * when the process ends, however. */
static gboolean
lock_folder (DynoRunFolder *dir, GError **error)
{
  g_autofree char *shown = g_filename_display_name (dir->path);
  int code;

  dir->lock = open (dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir->lock >= 0 && flock (dir->lock, LOCK_EX | LOCK_NB) == 0)
    return TRUE;
  code = errno;
  if (code == EWOULDBLOCK)
    {
      g_set_error (
          error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT,
          _ ("Another run is writing into “%s”; wait for its end, or choose another folder"),
          shown);
      return FALSE;
    }
  /* NFS and the like lock no folders. */
  g_message ("“%s” cannot be locked (%s): see to it that only one run writes into it", shown,
             g_strerror (code));
  return TRUE;
}

DynoRunFolder *
dyno_run_folder_open (const char *path, GError **error)
{
  g_autoptr (DynoRunFolder) dir = g_new0 (DynoRunFolder, 1);
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (GError) problem = NULL;

  dir->fd = dir->lock = -1;
  dir->n_made = count_missing (path);
  dir->path = g_strdup (path);
  dir->checkpoint = g_build_filename (path, DYNO_CHECKPOINT_NAME, NULL);
  dir->weights = g_build_filename (path, DYNO_WEIGHTS_NAME, NULL);
  dir->last_weights = g_build_filename (path, DYNO_WEIGHTS_NAME_LAST, NULL);
  dir->metrics = g_build_filename (path, "metrics.csv", NULL);
  dir->text = g_string_new (NULL);
  if (g_mkdir_with_parents (path, 0755) != 0)
    dyno_file_set_error (&problem, errno, path);
  if (problem || !dyno_file_test_writable (dir->metrics, &problem))
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT,
                   _ ("Cannot write into the folder “%s”: %s; choose another one"), shown,
                   problem->message);
      return NULL;
    }
  if (!lock_folder (dir, error))
    return NULL;
  dyno_log_hold ();
  return g_steal_pointer (&dir);
}

void
dyno_run_folder_free (DynoRunFolder *dir)
{
  if (!dir)
    return;
  if (dir->fd >= 0)
    close (dir->fd);
  if (!dir->begun)
    remove_made (dir->path, dir->n_made);
  if (dir->lock >= 0)
    {
      dyno_log_set_file (NULL);
      close (dir->lock);
    }
  g_string_free (dir->text, TRUE);
  g_clear_error (&dir->problem);
  g_free (dir->path);
  g_free (dir->checkpoint);
  g_free (dir->weights);
  g_free (dir->last_weights);
  g_free (dir->metrics);
  g_free (dir);
}

const char *
dyno_run_folder_get_checkpoint (DynoRunFolder *dir)
{
  return dir->checkpoint;
}

const char *
dyno_run_folder_get_weights (DynoRunFolder *dir)
{
  return dir->weights;
}

const char *
dyno_run_folder_get_last_weights (DynoRunFolder *dir)
{
  return dir->last_weights;
}

void
dyno_run_folder_recall (const char *folder, guint64 last_step, DynoMetrics *metrics)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL), *text = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (DynoMetricsCsv) csv = NULL;
  DynoMetricTable table;

  dyno_metrics_get_table (metrics, &table);
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return;
  lines = g_strsplit (text, "\n", -1);
  csv = lines[0] ? dyno_metrics_csv_new (lines[0], &table) : NULL;
  for (guint i = 1; csv && lines[i]; i++)
    {
      DynoStepMetrics step;
      DynoEpochMetrics epoch;
      gboolean has_epoch;

      if (!dyno_metrics_csv_parse (csv, lines[i], &step, &epoch, &has_epoch)
          || step.step > last_step)
        break;
      dyno_metrics_add_step (metrics, &step);
      if (has_epoch)
        dyno_metrics_add_epoch (metrics, &epoch);
    }
}

/* Makes metrics.csv of all that is not written yet, and opens it for what follows. */
static gboolean
create (DynoRunFolder *dir, GError **error)
{
  int code;

  if (!dyno_file_write_atomic (dir->metrics, dir->text->str, dir->text->len, error))
    return FALSE;
  dir->fd = g_open (dir->metrics, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
  code = errno;
  if (dir->fd < 0)
    return dyno_file_set_error (error, code, dir->metrics);
  g_string_truncate (dir->text, 0);
  return TRUE;
}

static gboolean
append (DynoRunFolder *dir, GError **error)
{
  while (dir->text->len > 0)
    {
      gssize n = write (dir->fd, dir->text->str, dir->text->len);
      int code = errno;

      if (n < 0 && code == EINTR)
        continue;
      if (n <= 0)
        return dyno_file_set_error (error, code, dir->metrics);
      g_string_erase (dir->text, 0, n);
    }
  return TRUE;
}

/* What is not written yet, when it is enough or due.  What cannot be written stays for the next
 * time; until then it is an error. */
static gboolean
flush (DynoRunFolder *dir, gboolean now, GError **error)
{
  gint64 time = g_get_monotonic_time ();

  if (!dir->begun)
    return TRUE;
  if (now || dir->text->len >= FLUSH_BYTES || time - dir->flushed_us >= FLUSH_US)
    {
      dir->flushed_us = time;
      g_clear_error (&dir->problem);
      if (dir->fd < 0)
        create (dir, &dir->problem);
      else
        append (dir, &dir->problem);
    }
  if (dir->problem)
    g_propagate_error (error, g_error_copy (dir->problem));
  return !dir->problem;
}

gboolean
dyno_run_folder_begin (DynoRunFolder *dir, DynoMetrics *metrics, GError **error)
{
  g_autofree char *text = dyno_metrics_to_csv (metrics),
                  *log = g_build_filename (dir->path, "log", NULL);

  dyno_metrics_get_table (metrics, &dir->table);
  remove_leftovers (dir->path);
  dyno_log_set_file (log);
  dir->has_step = FALSE;
  dir->begun = TRUE;
  g_string_assign (dir->text, text);
  return flush (dir, TRUE, error);
}

gboolean
dyno_run_folder_add_step (DynoRunFolder *dir, const DynoStepMetrics *step, GError **error)
{
  if (dir->has_step)
    dyno_metrics_csv_append (dir->text, &dir->table, &dir->step, NULL);
  dir->step = *step;
  dir->has_step = TRUE;
  return flush (dir, FALSE, error);
}

gboolean
dyno_run_folder_add_epoch (DynoRunFolder *dir, const DynoEpochMetrics *epoch, GError **error)
{
  if (dir->has_step)
    dyno_metrics_csv_append (dir->text, &dir->table, &dir->step,
                             dir->step.step == epoch->step ? epoch : NULL);
  dir->has_step = FALSE;
  return flush (dir, TRUE, error);
}

gboolean
dyno_run_folder_finish (DynoRunFolder *dir, DynoMetrics *metrics, GError **error)
{
  g_autofree char *text = dyno_metrics_to_csv (metrics);

  if (dir->fd >= 0)
    close (dir->fd);
  dir->fd = -1;
  return dyno_file_write_atomic (dir->metrics, text, strlen (text), error);
}
