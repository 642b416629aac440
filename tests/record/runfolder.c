/* SPDX-License-Identifier: MIT */
/* The folder of a run: its lock, its files, and the log of a resumed run. */
#include "runfolder.h"
#include "sensorscsv.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In place of libc's: for the next n_shared attempts to lock a folder for a run, another program
 * holds a shared lock. */
static guint n_shared;

int
flock (int fd, int operation)
{
  if (n_shared > 0 && operation == (LOCK_EX | LOCK_NB))
    {
      n_shared--;
      errno = EWOULDBLOCK;
      return -1;
    }
  return (int) syscall (SYS_flock, fd, operation);
}

static DynoRunFolder *
open_good (const char *path)
{
  g_autoptr (GError) error = NULL;
  DynoRunFolder *folder = dyno_run_folder_open (path, &error);

  g_assert_no_error (error);
  g_assert_nonnull (folder);
  return folder;
}

static void
test_one_run_at_a_time (void)
{
  g_autofree char *path = test_folder ();
  DynoRunFolder *folder = open_good (path);
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_run_folder_open (path, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT);
  g_assert_nonnull (strstr (error->message, "Another run"));
  g_assert_nonnull (strstr (error->message, path));
  dyno_run_folder_free (folder);
  dyno_run_folder_free (open_good (path));
  test_remove_tree (path);
}

/* A program that looks for a moment whether a run writes into a folder keeps no run out. */
static void
test_a_glance_is_no_run (void)
{
  g_autofree char *path = test_folder ();
  g_autoptr (GError) error = NULL;
  DynoRunFolder *folder;

  n_shared = 3;
  folder = open_good (path);
  g_assert_cmpuint (n_shared, ==, 0);
  n_shared = 2;
  g_assert_null (dyno_run_folder_open (path, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_OUTPUT);
  n_shared = 0;
  dyno_run_folder_free (folder);
  dyno_run_folder_free (open_good (path));
  test_remove_tree (path);
}

/* A folder that was made for a run which did not begin is removed, with the parent folders that
 * were made with it; an existing folder stays. */
static void
test_not_begun_leaves_nothing (void)
{
  g_autofree char *path = test_folder (), *above = g_build_filename (path, "a", NULL),
                  *deep = g_build_filename (above, "b", "c", NULL);

  dyno_run_folder_free (open_good (deep));
  g_assert_false (g_file_test (above, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (path, G_FILE_TEST_IS_DIR));
  dyno_run_folder_free (open_good (path));
  g_assert_true (g_file_test (path, G_FILE_TEST_IS_DIR));
  test_remove_tree (path);
}

/* Rows past the checkpoint belong to steps that are repeated. */
static void
test_recalls_up_to_a_step (void)
{
  g_autofree char *path = test_folder ();
  DynoRunFolder *folder = open_good (path);
  g_autoptr (DynoMetrics) none = dyno_metrics_new ();
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_run_folder_begin (folder, none, &error));
  for (guint64 step = 1; step <= 6; step++)
    {
      DynoStepMetrics row = { .step = step, .epoch = (step + 2) / 3, .loss = 1.0 / (double) step };
      DynoEpochMetrics epoch = { .epoch = row.epoch, .step = step, .val_loss = row.loss };

      g_assert_true (dyno_run_folder_add_step (folder, &row, &error));
      if (step % 3 == 0)
        g_assert_true (dyno_run_folder_add_epoch (folder, &epoch, &error));
    }
  g_assert_no_error (error);
  dyno_run_folder_free (folder);
  for (guint64 last = 0; last <= 7; last++)
    {
      g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
      DynoStepMetrics row;
      DynoEpochMetrics epoch;

      dyno_run_folder_recall (path, last, metrics);
      g_assert_cmpuint (dyno_metrics_get_steps (metrics), ==, MIN (last, 6));
      g_assert_cmpuint (dyno_metrics_get_epochs (metrics), ==, MIN (last, 6) / 3);
      if (last == 0)
        continue;
      g_assert_cmpuint (dyno_metrics_copy_steps (metrics, MIN (last, 6) - 1, 1, &row), ==, 1);
      g_assert_cmpuint (row.step, ==, MIN (last, 6));
      if (last < 3)
        continue;
      g_assert_cmpuint (dyno_metrics_copy_epochs (metrics, 0, 1, &epoch), ==, 1);
      g_assert_cmpuint (epoch.step, ==, 3);
      g_assert_cmpuint (epoch.epoch, ==, 1);
      g_assert_cmpfloat_with_epsilon (epoch.val_loss, 1.0 / 3, 1e-8);
    }
  test_remove_tree (path);
}

/* --- resumed twice ---------------------------------------------------------------------------- */

/* A part of a run: each step has the number of its part as the loss, three steps make an epoch.  A
 * part that was killed has appended its rows and ends there. */
static void
run_part (const char *path, guint part, guint64 resumed, guint64 last, gboolean killed)
{
  DynoRunFolder *folder = open_good (path);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
  g_autoptr (GError) error = NULL;
  DynoSensorReading reading;

  dyno_sensor_reading_init (&reading);
  if (part > 0)
    {
      dyno_run_folder_recall (path, resumed, metrics);
      dyno_run_folder_recall_sensors (folder, path, resumed);
    }
  g_assert_cmpuint (dyno_metrics_get_steps (metrics), ==, resumed);
  g_assert_true (dyno_run_folder_begin (folder, metrics, &error));
  for (guint64 step = resumed + 1; step <= last; step++)
    {
      DynoStepMetrics row = { .step = step, .epoch = (step + 2) / 3, .loss = part };
      DynoEpochMetrics epoch = { .epoch = row.epoch, .step = step, .val_loss = 10 + part };

      dyno_metrics_add_step (metrics, &row);
      g_assert_true (dyno_run_folder_add_step (folder, &row, &error));
      reading.values[DYNO_SENSOR_GPU_BUSY] = part;
      dyno_run_folder_add_sensors (folder, &reading);
      if (step % 3 != 0)
        continue;
      dyno_metrics_add_epoch (metrics, &epoch);
      g_assert_true (dyno_run_folder_add_epoch (folder, &epoch, &error));
    }
  if (!killed)
    g_assert_true (dyno_run_folder_finish (folder, metrics, &error));
  g_assert_no_error (error);
  dyno_run_folder_free (folder);
}

/* parts: for each step, the part whose row is kept. */
static void
assert_parts (const char *path, const guint *parts, guint n)
{
  g_autofree char *csv = g_build_filename (path, "metrics.csv", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoMetrics) metrics = dyno_metrics_read (csv, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (dyno_metrics_get_steps (metrics), ==, n);
  g_assert_cmpuint (dyno_metrics_get_epochs (metrics), ==, n / 3);
  for (guint i = 0; i < n; i++)
    {
      DynoStepMetrics row;
      DynoEpochMetrics epoch;

      g_assert_cmpuint (dyno_metrics_copy_steps (metrics, i, 1, &row), ==, 1);
      g_assert_cmpuint (row.step, ==, i + 1);
      g_assert_cmpfloat (row.loss, ==, parts[i]);
      if (i % 3 != 2)
        continue;
      g_assert_cmpuint (dyno_metrics_copy_epochs (metrics, i / 3, 1, &epoch), ==, 1);
      g_assert_cmpuint (epoch.epoch, ==, i / 3 + 1);
      g_assert_cmpfloat (epoch.val_loss, ==, 10 + parts[i]);
    }
}

static void
assert_sensors (const char *path, const guint *parts, guint n)
{
  g_autoptr (GArray) rows = dyno_sensors_csv_read (path);

  g_assert_cmpuint (rows->len, ==, n);
  for (guint i = 0; i < n; i++)
    {
      const DynoSensorRow *row = &g_array_index (rows, DynoSensorRow, i);

      g_assert_cmpuint (row->step, ==, i + 1);
      g_assert_cmpfloat (row->values[DYNO_SENSOR_GPU_BUSY], ==, parts[i]);
    }
}

/* Each part continues after the step of its checkpoint, the second at an earlier step than the
 * first: of every step the row of the last part is kept.  A killed part has its rows up to its last
 * epoch, at least. */
static void
test_resumed_twice (void)
{
  static const guint first[] = { 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1 },
                     second[] = { 0, 0, 0, 2, 2, 2, 2 },
                     third[] = { 0, 0, 0, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3 };

  for (guint killed = 0; killed < 2; killed++)
    {
      g_autofree char *path = test_folder ();

      run_part (path, 0, 0, 8, killed);
      run_part (path, 1, 4, 11, killed);
      if (!killed)
        {
          assert_parts (path, first, G_N_ELEMENTS (first));
          assert_sensors (path, first, G_N_ELEMENTS (first));
        }
      run_part (path, 2, 3, 7, killed);
      if (!killed)
        {
          assert_parts (path, second, G_N_ELEMENTS (second));
          assert_sensors (path, second, G_N_ELEMENTS (second));
        }
      run_part (path, 3, 5, 13, FALSE);
      assert_parts (path, third, G_N_ELEMENTS (third));
      if (!killed)
        assert_sensors (path, third, G_N_ELEMENTS (third));
      test_remove_tree (path);
    }
}

/* An epoch's values are only in the row of its last step. */
static void
test_epoch_has_its_row (void)
{
  g_autofree char *path = test_folder (), *csv = g_build_filename (path, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) none = dyno_metrics_new (), read = NULL;
  DynoRunFolder *folder = open_good (path);
  DynoEpochMetrics epoch = { .epoch = 1, .step = 2, .val_loss = 1 };

  g_assert_true (dyno_run_folder_begin (folder, none, NULL));
  for (guint64 step = 1; step <= 3; step++)
    {
      DynoStepMetrics row = { .step = step, .epoch = 1 + step / 3 };

      g_assert_true (dyno_run_folder_add_step (folder, &row, NULL));
    }
  g_assert_true (dyno_run_folder_add_epoch (folder, &epoch, NULL));
  dyno_run_folder_free (folder);
  read = dyno_metrics_read (csv, NULL);
  g_assert_cmpuint (dyno_metrics_get_steps (read), ==, 3);
  g_assert_cmpuint (dyno_metrics_get_epochs (read), ==, 0);
  test_remove_tree (path);
}

/* Sensor rows that come before the folder is begun are put after those of the resumed run. */
static void
test_recalls_sensors (void)
{
  g_autofree char *path = test_folder ();
  g_autoptr (DynoMetrics) none = dyno_metrics_new ();
  g_autoptr (GError) error = NULL;
  DynoSensorReading reading;

  dyno_sensor_reading_init (&reading);
  for (guint part = 0; part < 2; part++)
    {
      DynoRunFolder *folder = open_good (path);
      const guint64 expected[][6] = { { 0, 1, 2, 3, 4, 5 }, { 0, 1, 2, 3, 3, 4 } };
      g_autoptr (GArray) rows = NULL;

      /* a row of the preparation, which precedes the reading of the checkpoint */
      dyno_run_folder_add_sensors (folder, &reading);
      if (part == 1)
        dyno_run_folder_recall_sensors (folder, path, 3);
      g_assert_true (dyno_run_folder_begin (folder, none, &error));
      for (guint64 step = part == 0 ? 1 : 4; step <= (part == 0 ? 5 : 4); step++)
        {
          DynoStepMetrics row = { .step = step, .epoch = 1 };

          g_assert_true (dyno_run_folder_add_step (folder, &row, &error));
          dyno_run_folder_add_sensors (folder, &reading);
        }
      g_assert_true (dyno_run_folder_finish (folder, none, &error));
      dyno_run_folder_free (folder);
      rows = dyno_sensors_csv_read (path);
      g_assert_cmpuint (rows->len, ==, G_N_ELEMENTS (expected[0]));
      for (guint i = 0; i < rows->len; i++)
        g_assert_cmpuint (g_array_index (rows, DynoSensorRow, i).step, ==, expected[part][i]);
    }
  test_remove_tree (path);
}

/* A long metrics.csv has all appended rows, with the row that waited, and is written again if it
 * was removed. */
static void
test_long_log_is_whole_at_the_end (void)
{
  const guint64 n = 100500;

  for (guint part = 0; part < 2; part++)
    {
      g_autofree char *path = test_folder (), *csv = g_build_filename (path, "metrics.csv", NULL);
      g_autoptr (DynoMetrics) metrics = dyno_metrics_new (), read = NULL;
      DynoRunFolder *folder = open_good (path);
      g_autoptr (GError) error = NULL;
      DynoStepMetrics row = { .epoch = 1 };

      /* some rows exist before, as in a resumed run */
      for (row.step = 1; row.step <= n; row.step++)
        {
          if (row.step == 500)
            g_assert_true (dyno_run_folder_begin (folder, metrics, &error));
          dyno_metrics_add_step (metrics, &row);
          if (row.step >= 500)
            g_assert_true (dyno_run_folder_add_step (folder, &row, &error));
        }
      if (part == 1)
        g_assert_cmpint (g_unlink (csv), ==, 0);
      g_assert_true (dyno_run_folder_finish (folder, metrics, &error));
      dyno_run_folder_free (folder);
      read = dyno_metrics_read (csv, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (dyno_metrics_get_steps (read), ==, n);
      for (guint64 i = 0; i < n; i++)
        {
          g_assert_cmpuint (dyno_metrics_copy_steps (read, i, 1, &row), ==, 1);
          g_assert_cmpuint (row.step, ==, i + 1);
        }
      test_remove_tree (path);
    }
}

/* If the file cannot be created at first, it has all rows once it can: those of the log, and later
 * ones. */
static void
test_rows_of_an_outage_come_later (void)
{
  g_autofree char *path = test_folder (), *csv = g_build_filename (path, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new (), read = NULL;
  DynoRunFolder *folder = open_good (path);
  DynoStepMetrics row = { .epoch = 1 };
  g_autoptr (GError) error = NULL;

  for (row.step = 1; row.step <= 3; row.step++)
    dyno_metrics_add_step (metrics, &row);
  g_assert_cmpint (g_mkdir (csv, 0700), ==, 0); /* a folder in its place */
  g_assert_false (dyno_run_folder_begin (folder, metrics, NULL));
  for (row.step = 4; row.step <= 6; row.step++)
    {
      DynoEpochMetrics epoch = { .epoch = row.step - 3, .step = row.step };

      if (row.step == 6)
        g_assert_cmpint (g_rmdir (csv), ==, 0);
      (void) dyno_run_folder_add_step (folder, &row, NULL);
      g_assert_true (dyno_run_folder_add_epoch (folder, &epoch, NULL) == (row.step == 6));
    }
  dyno_run_folder_free (folder);
  read = dyno_metrics_read (csv, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_metrics_get_steps (read), ==, 6);
  g_assert_cmpuint (dyno_metrics_get_epochs (read), ==, 3);
  test_remove_tree (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/runfolder/a-glance-is-no-run", test_a_glance_is_no_run);
  g_test_add_func ("/record/runfolder/one-run-at-a-time", test_one_run_at_a_time);
  g_test_add_func ("/record/runfolder/not-begun-leaves-nothing", test_not_begun_leaves_nothing);
  g_test_add_func ("/record/runfolder/recalls-up-to-a-step", test_recalls_up_to_a_step);
  g_test_add_func ("/record/runfolder/resumed-twice-at-other-steps", test_resumed_twice);
  g_test_add_func ("/record/runfolder/epoch-has-its-own-row", test_epoch_has_its_row);
  g_test_add_func ("/record/runfolder/recalls-sensors-up-to-a-step", test_recalls_sensors);
  g_test_add_func ("/record/runfolder/long-log-is-whole-at-the-end",
                   test_long_log_is_whole_at_the_end);
  g_test_add_func ("/record/runfolder/rows-of-an-outage-come-later",
                   test_rows_of_an_outage_come_later);
  return g_test_run ();
}
