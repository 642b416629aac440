/* SPDX-License-Identifier: MIT */
/* The folder of a run.  metrics.csv is extended during the run, and written once more, atomically,
 * at the end, where the run is short or a row could not be appended.  A step's row is written with
 * the next step, because the row of an epoch's last step also holds the epoch's values.
 * sensors.csv is only appended to, by the sensors' thread. */
#include "runfolder.h"
#include "checkpoint.h"
#include "file.h"
#include "intl.h"
#include "log.h"
#include "metricscsv.h"
#include "rowfile.h"
#include "sensorscsv.h"
#include "train-error.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Limits of sensors.csv in memory: bytes while it cannot be written, and rows before it begins. */
#define MOST_SENSORS      4194304
#define MOST_SENSORS_HELD 20000
/* Number of steps: a longer log takes seconds to minutes to write, and is written anew only where
 * its file is incomplete. */
#define MOST_ANEW 100000

struct _DynoRunFolder {
  char *path, *checkpoint, *weights, *last_weights;
  int lock;     /* file descriptor of the locked folder */
  guint n_made; /* number of folders at the end of path that were made */
  gboolean begun;
  DynoRowFile metrics;
  gboolean has_step;
  DynoStepMetrics step; /* the step whose row is not written yet */
  DynoMetricTable table;
  DynoMetrics *log; /* metrics.csv begins with its first begin_steps and begin_epochs rows */
  guint64 begin_steps, begin_epochs;

  GMutex sensors_lock; /* protects the members below: rows come from another thread */
  DynoRowFile sensors;
  GArray *sensors_held;      /* DynoSensorRow, held until the folder begins */
  guint64 sensors_step;      /* atomic: the last step that has ended */
  gboolean sensors_reported; /* a failure to write was reported */
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

/* The number of folders at the end of path that do not exist. */
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

#define LOCK_TRIES   5000
#define LOCK_WAIT_US 1000

/* Locks the folder for this run.  A program that looks whether a run writes into the folder holds a
 * shared lock for a moment, which is waited for; a run holds an exclusive one.  Returns errno. */
static int
lock (int fd)
{
  for (guint i = 0; i < LOCK_TRIES; i++)
    {
      if (flock (fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
      if (errno != EWOULDBLOCK || flock (fd, LOCK_SH | LOCK_NB) != 0)
        return errno;
      flock (fd, LOCK_UN);
      g_usleep (LOCK_WAIT_US);
    }
  return EWOULDBLOCK;
}

/* The folder itself is locked, so that no file is needed and none is left; the kernel unlocks it
 * when the process ends in any way. */
static gboolean
lock_folder (DynoRunFolder *dir, GError **error)
{
  g_autofree char *shown = g_filename_display_name (dir->path);
  int code;

  dir->lock = open (dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  code = dir->lock >= 0 ? lock (dir->lock) : errno;
  if (code == 0)
    return TRUE;
  if (code == EWOULDBLOCK)
    {
      g_set_error (
          error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT,
          _ ("Another run is writing into “%s”; wait for its end, or choose another folder"),
          shown);
      return FALSE;
    }
  /* NFS and similar file systems cannot lock folders. */
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

  dir->lock = -1;
  dir->n_made = count_missing (path);
  dir->path = g_strdup (path);
  dir->checkpoint = g_build_filename (path, DYNO_CHECKPOINT_NAME, NULL);
  dir->weights = g_build_filename (path, DYNO_WEIGHTS_NAME, NULL);
  dir->last_weights = g_build_filename (path, DYNO_WEIGHTS_NAME_LAST, NULL);
  dyno_row_file_init (&dir->metrics, g_build_filename (path, "metrics.csv", NULL));
  g_mutex_init (&dir->sensors_lock);
  dyno_row_file_init (&dir->sensors, g_build_filename (path, DYNO_SENSORS_CSV_NAME, NULL));
  dyno_sensors_csv_append_head (dir->sensors.text);
  dir->sensors_held = g_array_new (FALSE, FALSE, sizeof (DynoSensorRow));
  if (!dyno_dir_make (path))
    dyno_file_set_error (&problem, errno, path);
  if (problem || !dyno_file_test_writable (dir->metrics.path, &problem))
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
  if (!dir->begun)
    remove_made (dir->path, dir->n_made);
  if (dir->lock >= 0)
    {
      dyno_log_set_file (NULL);
      close (dir->lock);
    }
  dyno_row_file_clear (&dir->metrics);
  dyno_metrics_unref (dir->log);
  dyno_row_file_clear (&dir->sensors);
  g_array_unref (dir->sensors_held);
  g_mutex_clear (&dir->sensors_lock);
  g_free (dir->path);
  g_free (dir->checkpoint);
  g_free (dir->weights);
  g_free (dir->last_weights);
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
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);

  dyno_metrics_recall (metrics, path, last_step);
}

/* --- sensors.csv ------------------------------------------------------------------------------ */

/* To be called with the lock held.  Training does not depend on sensors.csv, so that a failure is
 * only logged. */
static void
flush_sensors (DynoRunFolder *dir, gboolean now)
{
  g_autoptr (GError) problem = NULL;

  if (dyno_row_file_flush (&dir->sensors, now, &problem))
    dir->sensors_reported = FALSE;
  else if (!dir->sensors_reported)
    {
      g_info ("%s; it is tried again", problem->message);
      dir->sensors_reported = TRUE;
    }
}

static void
begin_sensors (DynoRunFolder *dir)
{
  g_mutex_lock (&dir->sensors_lock);
  for (guint i = 0; i < dir->sensors_held->len; i++)
    dyno_sensors_csv_append (dir->sensors.text,
                             &g_array_index (dir->sensors_held, DynoSensorRow, i));
  g_array_set_size (dir->sensors_held, 0);
  dir->sensors.begun = TRUE;
  flush_sensors (dir, TRUE);
  g_mutex_unlock (&dir->sensors_lock);
}

static void
finish_sensors (DynoRunFolder *dir)
{
  g_mutex_lock (&dir->sensors_lock);
  flush_sensors (dir, TRUE);
  g_mutex_unlock (&dir->sensors_lock);
}

void
dyno_run_folder_add_sensors (DynoRunFolder *dir, const DynoSensorReading *reading)
{
  DynoSensorRow row;

  g_mutex_lock (&dir->sensors_lock);
  dyno_sensor_row_init (&row, reading, __atomic_load_n (&dir->sensors_step, __ATOMIC_RELAXED));
  if (!dir->sensors.begun && dir->sensors_held->len < MOST_SENSORS_HELD)
    g_array_append_val (dir->sensors_held, row);
  if (dir->sensors.begun && dir->sensors.text->len < MOST_SENSORS)
    dyno_sensors_csv_append (dir->sensors.text, &row);
  flush_sensors (dir, FALSE);
  g_mutex_unlock (&dir->sensors_lock);
}

void
dyno_run_folder_recall_sensors (DynoRunFolder *dir, const char *folder, guint64 last_step)
{
  g_autoptr (GArray) rows = dyno_sensors_csv_read (folder);

  g_mutex_lock (&dir->sensors_lock);
  __atomic_store_n (&dir->sensors_step, last_step, __ATOMIC_RELAXED);
  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, DynoSensorRow, i).step <= last_step)
      dyno_sensors_csv_append (dir->sensors.text, &g_array_index (rows, DynoSensorRow, i));
  /* Readings of the preparation, whose step was not known. */
  for (guint i = 0; i < dir->sensors_held->len; i++)
    g_array_index (dir->sensors_held, DynoSensorRow, i).step = last_step;
  g_mutex_unlock (&dir->sensors_lock);
}

/* --- metrics.csv ------------------------------------------------------------------------------ */

static gboolean
write_begin (gpointer data, const char *path, GError **error)
{
  DynoRunFolder *dir = data;

  return dyno_metrics_write_csv_begin (dir->log, dir->begin_steps, dir->begin_epochs, path, error);
}

gboolean
dyno_run_folder_begin (DynoRunFolder *dir, DynoMetrics *metrics, GError **error)
{
  g_autofree char *log = g_build_filename (dir->path, "log", NULL);

  dyno_metrics_get_table (metrics, &dir->table);
  remove_leftovers (dir->path);
  dyno_log_set_file (log);
  dir->has_step = FALSE;
  dir->begun = TRUE;
  dir->log = dyno_metrics_ref (metrics);
  dir->begin_steps = dyno_metrics_get_steps (metrics);
  dir->begin_epochs = dyno_metrics_get_epochs (metrics);
  dir->metrics.write_begin = write_begin;
  dir->metrics.data = dir;
  begin_sensors (dir);
  return dyno_row_file_begin (&dir->metrics, error);
}

gboolean
dyno_run_folder_add_step (DynoRunFolder *dir, const DynoStepMetrics *step, GError **error)
{
  if (dir->has_step)
    dyno_metrics_csv_append (dir->metrics.text, &dir->table, &dir->step, NULL);
  dir->step = *step;
  dir->has_step = TRUE;
  /* without the lock, which may be held as long as a slow disk takes */
  __atomic_store_n (&dir->sensors_step, step->step, __ATOMIC_RELAXED);
  return dyno_row_file_flush (&dir->metrics, FALSE, error);
}

gboolean
dyno_run_folder_add_epoch (DynoRunFolder *dir, const DynoEpochMetrics *epoch, GError **error)
{
  if (dir->has_step)
    dyno_metrics_csv_append (dir->metrics.text, &dir->table, &dir->step,
                             dir->step.step == epoch->step ? epoch : NULL);
  dir->has_step = FALSE;
  return dyno_row_file_flush (&dir->metrics, TRUE, error);
}

/* TRUE: all rows are in the file; the row that waits is written first. */
static gboolean
is_whole (DynoRunFolder *dir)
{
  struct stat open_one, there;

  if (dir->metrics.fd < 0)
    return FALSE;
  if (dir->has_step)
    dyno_metrics_csv_append (dir->metrics.text, &dir->table, &dir->step, NULL);
  dir->has_step = FALSE;
  return dyno_row_file_flush (&dir->metrics, TRUE, NULL) && fsync (dir->metrics.fd) == 0
         && fstat (dir->metrics.fd, &open_one) == 0 && stat (dir->metrics.path, &there) == 0
         && open_one.st_dev == there.st_dev && open_one.st_ino == there.st_ino;
}

gboolean
dyno_run_folder_finish (DynoRunFolder *dir, DynoMetrics *metrics, GError **error)
{
  gboolean done = dyno_metrics_get_steps (metrics) > MOST_ANEW && is_whole (dir);

  finish_sensors (dir);
  if (dir->metrics.fd >= 0)
    close (dir->metrics.fd);
  dir->metrics.fd = -1;
  return done || dyno_metrics_write_csv (metrics, dir->metrics.path, error);
}
