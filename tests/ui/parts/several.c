/* SPDX-License-Identifier: MIT */
/* Several devices that train together: they are ticked, planned for, and started by the queue. */
#include "parts.h"
#include "cores.h"
#include "devicesrow.h"
#include "file.h"
#include "obstacles.h"
#include "process.h"
#include "setupsteps.h"
#include "speedpage.h"
#include "vrambar.h"
#include "window-private.h"
#include <glib/gstdio.h>
#include <string.h>

#define GIB (G_GUINT64_CONSTANT (1) << 30)

/* Two cards that are alike, a smaller one without fp16, and the software device; with the limits of
 * the device of the tests. */
static GPtrArray *
make_devices (void)
{
  static const struct {
    const char *name;
    DynoDeviceType type;
    guint gib;
    gboolean fp16;
  } rows[] = { { "Big", DYNO_DEVICE_TYPE_DISCRETE, 40, TRUE },
               { "Big", DYNO_DEVICE_TYPE_DISCRETE, 40, TRUE },
               { "Small", DYNO_DEVICE_TYPE_DISCRETE, 8, FALSE },
               { "CPU", DYNO_DEVICE_TYPE_SOFTWARE, 4, FALSE } };
  static DynoDeviceInfo limits;
  GPtrArray *devices = g_ptr_array_new_with_free_func (g_free);

  if (limits.vram_bytes == 0)
    {
      g_autoptr (GPtrArray) real = dyno_device_list (NULL);
      limits = *(const DynoDeviceInfo *) real->pdata[0];
    }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      DynoDeviceInfo *device = g_memdup2 (&limits, sizeof limits);

      device->index = i;
      g_strlcpy (device->name, rows[i].name, sizeof device->name);
      device->type = rows[i].type;
      device->vram_bytes = device->max_buffer_bytes = rows[i].gib * GIB;
      device->fp16 = rows[i].fp16;
      g_ptr_array_add (devices, device);
    }
  return devices;
}

static void
assert_with (const char *list, guint chosen, guint index, gboolean use, const char *expected)
{
  g_autoptr (GPtrArray) devices = make_devices ();
  DynoUsedDevices used = { devices, chosen, list };
  g_autofree char *with = dyno_used_devices_with (&used, index, use);

  g_assert_cmpstr (with, ==, expected);
}

static void
assert_used (const char *list, guint chosen, guint n, const char *smallest, gboolean fp16)
{
  g_autoptr (GPtrArray) devices = make_devices ();
  DynoUsedDevices used = { devices, chosen, list };

  g_assert_cmpuint (dyno_used_devices_count (&used), ==, n);
  g_assert_cmpstr (dyno_used_devices_find_smallest (&used)->name, ==, smallest);
  g_assert_true (dyno_used_devices_have_fp16 (&used) == fp16);
}

/* The chosen device is the first of the list, whatever the list names, and never leaves it. */
static void
test_a_list_of_used_devices (void)
{
  assert_with (NULL, 0, 1, TRUE, "0,1");
  assert_with (NULL, 1, 0, TRUE, "1,0");
  assert_with (NULL, 2, 2, TRUE, NULL);
  assert_with ("0,1", 0, 2, TRUE, "0,1,2");
  assert_with ("2,0", 0, 1, TRUE, "0,2,1");
  assert_with ("0,1,2", 0, 1, FALSE, "0,2");
  assert_with ("0,1", 0, 1, FALSE, NULL);
  assert_with ("0,1", 0, 0, FALSE, "0,1");
  assert_with ("0,1", 0, 3, FALSE, "0,1");
  assert_with ("all", 1, 1, TRUE, "1,0,2");
  assert_with ("1,1", 1, 1, TRUE, NULL);
  assert_with ("0,9", 0, 0, TRUE, NULL);
  assert_used (NULL, 0, 1, "Big", TRUE);
  assert_used ("0,1", 0, 2, "Big", TRUE);
  assert_used ("0,1,2", 0, 3, "Small", FALSE);
  assert_used ("2", 1, 2, "Small", FALSE);
  assert_used ("no list", 1, 1, "Big", TRUE);
  DynoUsedDevices none = { NULL, 0, "0,1" };
  g_assert_cmpuint (dyno_used_devices_count (&none), ==, 1);
  g_assert_null (dyno_used_devices_find_smallest (&none));
  g_assert_true (dyno_used_devices_have_fp16 (&none));
  g_assert_false (dyno_used_devices_suit (&none, 0));
}

static gboolean
is_planned (gpointer setup)
{
  return !dyno_setup_get_opening (setup, NULL)
         && (dyno_setup_get_plan (setup) || dyno_setup_get_advice (setup));
}

/* The plan of a change comes later; it is told by the number of steps, which several share. */
static guint64 n_steps;

static gboolean
has_steps (gpointer setup)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (setup);

  return plan && plan->steps_per_epoch == n_steps;
}

static void
wait_for_steps (DynoSetup *setup, guint64 n)
{
  n_steps = n;
  parts_wait (has_steps, setup);
}

static DynoSetup *
new_setup (void)
{
  DynoSetup *setup = dyno_setup_new ();

  dyno_setup_restore (setup, "builtin:waves?samples=240", "mlp", NULL, DYNO_LEVEL_RECOMMENDED,
                      NULL);
  dyno_setup_take_devices (setup, make_devices (), NULL);
  parts_wait (is_planned, setup);
  g_assert_true (dyno_setup_set_number (setup, "batch_size", 10, NULL));
  g_assert_true (dyno_setup_set_number (setup, "data.val_split", 0, NULL));
  return setup;
}

static void
drop (DynoSetup *setup)
{
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

static const char *
get_list (DynoSetup *setup)
{
  return dyno_setup_get_job (setup)->devices;
}

static GtkToggleButton *
get_button (GtkWidget *row, guint i)
{
  g_autoptr (GPtrArray) buttons = parts_find_all (row, GTK_TYPE_CHECK_BUTTON);

  g_assert_cmpuint (i, <, buttons->len);
  return buttons->pdata[i];
}

/* Devices like the chosen one can be ticked; ticks follow undo and the chosen device, and the button
 * that was ticked stays the same one. */
static void
test_devices_are_ticked (void)
{
  DynoSetup *setup = new_setup ();
  GtkWidget *row = g_object_ref_sink (g_object_new (DYNO_TYPE_DEVICES_ROW, NULL)),
            *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_VRAM_BAR, NULL));

  dyno_devices_row_set_setup (DYNO_DEVICES_ROW (row), setup);
  dyno_vram_bar_set_setup (DYNO_VRAM_BAR (bar), setup);
  parts_assert_texts (row, "Train on these as well\n1: Big, 40.0 GiB\n2: Small, 8.00 GiB");
  g_assert_null (get_list (setup));
  GtkToggleButton *other = get_button (row, 0), *small = get_button (row, 1);
  wait_for_steps (setup, 24);
  gtk_toggle_button_set_active (other, TRUE);
  g_assert_cmpstr (get_list (setup), ==, "0,1");
  wait_for_steps (setup, 12);
  g_assert_true (get_button (row, 0) == other);
  parts_assert_says (row, "2 devices, each with a process and a batch of its own: 20 samples "
                          "in each step.  The run is a job of the queue.");
  g_autofree char *memory = parts_get_texts (bar);
  g_assert_nonnull (strstr (memory, " of 40.0 GiB each"));
  g_assert_true (dyno_setup_set_number (setup, "accumulate", 3, NULL));
  wait_for_steps (setup, 4);
  parts_assert_says (row, "2 devices, each with a process and a batch of its own: 60 samples "
                          "in each step.  The run is a job of the queue.");
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (get_list (setup), ==, "0,1");
  gtk_toggle_button_set_active (small, TRUE);
  g_assert_cmpstr (get_list (setup), ==, "0,1,2");
  wait_for_steps (setup, 8);
  g_assert_cmpuint (dyno_setup_get_plan (setup)->device_bytes, ==, 8 * GIB);
  /* The chosen one changes: the device before it stays in use. */
  dyno_setup_set_device (setup, 1);
  g_assert_cmpstr (get_list (setup), ==, "1,0,2");
  parts_assert_says (row, "0: Big, 40.0 GiB");
  g_assert_true (gtk_toggle_button_get_active (get_button (row, 0)));
  g_assert_true (gtk_toggle_button_get_active (get_button (row, 1)));
  g_assert_cmpint (dyno_setup_get_job (setup)->device, ==, 1);
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (get_list (setup), ==, "0,1,2");
  g_assert_true (dyno_setup_step (setup, TRUE));
  g_assert_cmpstr (get_list (setup), ==, "0,1");
  g_assert_false (gtk_toggle_button_get_active (get_button (row, 1)));
  g_assert_true (dyno_setup_step (setup, FALSE));
  g_assert_true (gtk_toggle_button_get_active (get_button (row, 1)));
  gtk_toggle_button_set_active (get_button (row, 1), FALSE);
  gtk_toggle_button_set_active (get_button (row, 0), FALSE);
  g_assert_null (get_list (setup));
  wait_for_steps (setup, 24);
  parts_assert_texts (row, "Train on these as well\n1: Big, 40.0 GiB\n2: Small, 8.00 GiB");
  /* A device of another type is by itself, and a single choice stays one. */
  for (guint i = 0; i < 2; i++)
    {
      dyno_setup_use_list (setup, i == 0 ? "0,1" : "0");
      dyno_setup_set_device (setup, 3);
      g_assert_null (get_list (setup));
    }
  g_assert_false (gtk_widget_get_visible (row));
  dyno_setup_use_list (setup, "2,1");
  g_assert_cmpstr (get_list (setup), ==, "2,1");
  g_assert_cmpint (dyno_setup_get_job (setup)->device, ==, 2);
  dyno_setup_use_list (setup, "1,2");
  g_assert_cmpstr (get_list (setup), ==, "2,1");
  dyno_setup_use_list (setup, NULL);
  g_assert_null (get_list (setup));
  g_assert_cmpint (dyno_setup_get_job (setup)->device, ==, 2);
  dyno_setup_use_list (setup, "0");
  g_assert_null (get_list (setup));
  g_assert_cmpint (dyno_setup_get_job (setup)->device, ==, 0);
  g_object_unref (bar);
  g_object_unref (row);
  drop (setup);
}

/* AMP needs fp16 on all devices, and several need MPI. */
static void
test_what_several_devices_need (void)
{
  DynoSetup *setup = new_setup ();
  g_autofree char *path = g_strdup (g_getenv ("PATH")), *folder = g_dir_make_tmp (NULL, NULL),
                  *mpirun = g_build_filename (folder, "mpirun", NULL),
                  *module = g_build_filename (folder, "dyno-mpi.so", NULL);

  g_setenv ("PATH", folder, TRUE);
  g_setenv ("DYNO_MODULE_DIR", folder, TRUE);
  g_assert_true (dyno_setup_set_number (setup, "amp", 1, NULL));
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *free_to_change = dyno_obstacle_to_change (setup, dyno_setting_find ("amp")),
                      *start = dyno_obstacle_to_start (setup);
      g_assert_null (free_to_change);
      g_assert_null (start);
      dyno_setup_use_device (setup, 2, TRUE);
      g_autofree char *amp = dyno_obstacle_to_change (setup, dyno_setting_find ("amp"));
      g_assert_cmpstr (amp, ==,
                       "A device that trains along has no 16-bit floating point arithmetic, which "
                       "AMP needs.");
      g_assert_false (dyno_setup_get_job (setup)->settings.amp);
      dyno_setup_use_device (setup, 2, FALSE);
      g_assert_true (dyno_setup_set_number (setup, "amp", 1, NULL));
    }
  dyno_setup_use_device (setup, 1, TRUE);
  parts_wait (is_planned, setup);
  g_assert_true (dyno_setup_get_job (setup)->settings.amp);
  g_autofree char *without = dyno_obstacle_to_start (setup);
  g_assert_nonnull (strstr (without, "was built without MPI"));
  g_assert_true (g_file_set_contents (module, "", 0, NULL));
  g_autofree char *missing = dyno_obstacle_to_start (setup);
  g_assert_nonnull (strstr (missing, "install Open MPI"));
  g_assert_true (g_file_set_contents (mpirun, "#!/bin/sh\n", -1, NULL));
  g_assert_cmpint (g_chmod (mpirun, 0700), ==, 0);
  g_autofree char *there = dyno_obstacle_to_start (setup);
  g_assert_null (there);
  g_unlink (mpirun);
  g_unlink (module);
  g_rmdir (folder);
  g_unsetenv ("DYNO_MODULE_DIR");
  g_setenv ("PATH", path, TRUE);
  drop (setup);
}

/* --- the window ------------------------------------------------------------------------------- */

static guint n_jobs;

static gboolean
has_jobs (gpointer window)
{
  return dyno_job_list_get (DYNO_WINDOW (window)->jobs)->len == n_jobs;
}

static void
wait_for_jobs (DynoWindow *window, guint n)
{
  n_jobs = n;
  parts_wait (has_jobs, window);
}

static const DynoQueuedJob *
get_queued (DynoWindow *window, guint i)
{
  return ((const DynoListedJob *) dyno_job_list_get (window->jobs)->pdata[i])->queued;
}

static gboolean
has_started (gpointer window)
{
  return dyno_job_list_is_started (DYNO_WINDOW (window)->jobs);
}

static gboolean
has_ended (gpointer window)
{
  return !has_started (window);
}

static gboolean
shows_runs (gpointer window)
{
  return g_str_equal (gtk_stack_get_visible_child_name (GTK_STACK (DYNO_WINDOW (window)->pages)),
                      "runs");
}

static gboolean
says_ended (gpointer window)
{
  g_autofree char *text = parts_get_texts (DYNO_WINDOW (window)->toast);

  return strstr (text, "The queue was stopped: 1 job is left") != NULL;
}

#define WAITS "Start puts this run into the queue, which uses the device."

/* Start with several devices puts the job before those that wait, starts the queue, and opens the
 * run when it has begun; also the second time.  A job that is edited brings its devices, and the
 * window gets its own back. */
static void
test_several_devices_are_started_by_the_queue (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs", NULL),
                  *folder = g_dir_make_tmp (NULL, NULL),
                  *program = g_build_filename (folder, "dynoctl", NULL),
                  *mpirun = g_build_filename (folder, "mpirun", NULL),
                  *module = g_build_filename (folder, "dyno-mpi.so", NULL),
                  *old = g_strdup (g_getenv ("PATH")),
                  *path = g_strdup_printf ("%s:%s", folder, old),
                  *process = dyno_process_describe ();
  g_autoptr (DynoStore) store = NULL;

  g_assert_true (g_file_set_contents (module, "", 0, NULL));
  g_assert_true (g_file_set_contents (program, "#!/bin/sh\nexec tail -f /dev/null\n", -1, NULL));
  g_assert_true (g_file_set_contents (mpirun, "#!/bin/sh\n", -1, NULL));
  g_assert_cmpint (g_chmod (program, 0700) + g_chmod (mpirun, 0700), ==, 0);
  g_setenv ("PATH", path, TRUE);
  g_setenv ("DYNO_MODULE_DIR", folder, TRUE);
  parts_wait (is_planned, window->setup);
  dyno_setup_take_devices (window->setup, make_devices (), NULL);
  parts_wait (is_planned, window->setup);
  dyno_window_take_runs_folder (window, runs);
  g_assert_true (dyno_window_queue_job (window, FALSE, NULL));
  parts_assert_says (window->toast, "SimpleCNN on Shapes was added to the queue, which is to be "
                                    "started (Ctrl+J)");
  wait_for_jobs (window, 1);
  g_assert_false (has_started (window));
  store = dyno_store_open (NULL, NULL);
  for (guint i = 0; i < 2; i++)
    {
      dyno_window_show_page (window, "train");
      parts_assert_says (window->tune_page, "Tunes SimpleCNN on Shapes, Big");
      dyno_setup_use_list (window->setup, i == 0 ? "0,1" : "0,1,2");
      parts_assert_says (window->tune_page, i == 0 ? "Tunes SimpleCNN on Shapes, 2 devices"
                                                   : "Tunes SimpleCNN on Shapes, 3 devices");
      g_action_group_activate_action (G_ACTION_GROUP (window), "start", NULL);
      parts_assert_says (window->toast, "The devices are being started");
      wait_for_jobs (window, 2);
      parts_wait (has_started, window);
      g_assert_true (dyno_window_is_idle (window));
      g_assert_cmpstr (get_queued (window, 0)->job->devices, ==, i == 0 ? "0,1" : "0,1,2");
      g_assert_null (get_queued (window, 1)->job->devices);
      g_assert_false (shows_runs (window));
      parts_assert_says_not (window->train_empty, WAITS);
      gint64 id = get_queued (window, 0)->id;
      g_assert_true (dyno_store_begin_job (store, id, process, NULL));
      dyno_job_list_refresh (window->jobs);
      parts_wait (shows_runs, window);
      g_assert_true (dyno_window_queue_holds_device (window));
      parts_assert_says (window->queue_bar, "The queue trains SimpleCNN on Shapes: Running");
      dyno_window_show_page (window, "train");
      parts_assert_says (window->train_empty, WAITS);
      gtk_info_bar_response (GTK_INFO_BAR (window->queue_bar), GTK_RESPONSE_ACCEPT);
      g_assert_true (shows_runs (window));
      g_assert_true (dyno_window_queue_job (window, TRUE, NULL));
      parts_assert_says (window->toast,
                         "SimpleCNN on Shapes was added to the queue, as the next job");
      wait_for_jobs (window, 3);
      dyno_job_list_remove (window->jobs, get_queued (window, 1)->id);
      wait_for_jobs (window, 2);
      dyno_setup_use_list (window->setup, "3"); /* no device of the job */
      g_assert_true (dyno_window_queue_holds_device (window));
      dyno_setup_use_list (window->setup, "0");
      g_assert_true (dyno_store_end_job (store, id, DYNO_QUEUED_STOPPED, 75, NULL));
      dyno_job_list_remove (window->jobs, id);
      wait_for_jobs (window, 1);
      dyno_job_list_stop (window->jobs);
      parts_wait (has_ended, window);
      parts_wait (says_ended, window);
      g_assert_false (gtk_widget_get_visible (window->queue_bar));
      /* The next start shows its own run only. */
      dyno_window_show_page (window, "train");
      dyno_job_list_refresh (window->jobs);
    }
  dyno_setup_use_list (window->setup, "0,1,2");
  g_assert_true (dyno_window_queue_job (window, FALSE, NULL));
  wait_for_jobs (window, 2);
  g_assert_cmpstr (get_queued (window, 1)->job->devices, ==, "0,1,2");
  dyno_setup_use_list (window->setup, "0,2");
  for (guint i = 0; i < 2; i++)
    {
      g_signal_emit_by_name (window->jobs_popover, "edit", get_queued (window, 1));
      g_assert_cmpstr (get_list (window->setup), ==, "0,1,2");
      g_signal_emit_by_name (window->jobs_popover, "edit", get_queued (window, 0));
      g_assert_null (get_list (window->setup));
      gtk_info_bar_response (GTK_INFO_BAR (window->edit_bar), GTK_RESPONSE_CANCEL);
      g_assert_cmpstr (get_list (window->setup), ==, "0,2");
    }
  for (guint i = 0; i < 2; i++)
    dyno_job_list_remove (window->jobs, get_queued (window, i)->id);
  wait_for_jobs (window, 0);
  g_setenv ("PATH", old, TRUE);
  g_unsetenv ("DYNO_MODULE_DIR");
  g_unlink (program);
  g_unlink (mpirun);
  g_unlink (module);
  g_rmdir (folder);
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

static gboolean
is_over (gpointer page)
{
  return !dyno_speed_page_is_active (page);
}

typedef struct {
  GHashTable *seen; /* names of folders */
  char *head;       /* the first line of the measurements of the last one */
} Searches;

/* Whether a search has begun whose folder was not seen before. */
static gboolean
has_begun (gpointer data)
{
  Searches *searches = data;
  g_autofree char *folder = dyno_data_dir ("searches");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);

  g_clear_pointer (&searches->head, g_free);
  for (const char *name; dir && !searches->head && (name = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (folder, name, "trials.csv", NULL);

      if (g_hash_table_contains (searches->seen, name)
          || !g_file_get_contents (path, &searches->head, NULL, NULL))
        continue;
      g_hash_table_add (searches->seen, g_strdup (name));
      searches->head[strcspn (searches->head, "\n")] = '\0';
    }
  return searches->head != NULL;
}

/* A search for several devices measures one of them, and says so; the next one, for a single device,
 * does not.  The window keeps all cores. */
static void
test_a_search_is_of_all_devices (void)
{
  static const char *const settings[] = { "epochs=1", NULL };
  DynoSetup *setup = dyno_setup_new ();
  DynoSpeedPage *page = g_object_ref_sink (g_object_new (DYNO_TYPE_SPEED_PAGE, NULL));
  GtkWidget *note =
      GTK_WIDGET (gtk_widget_get_template_child (GTK_WIDGET (page), DYNO_TYPE_SPEED_PAGE, "note"));
  GPtrArray *devices = dyno_device_list (NULL);
  Searches searches = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), NULL };
  guint n_cores = dyno_cores_count ();

  while (has_begun (&searches)) /* those of other tests */
    ;
  dyno_speed_page_set_setup (page, setup);
  dyno_setup_restore (setup, "builtin:shapes?size=16&samples=64", "mlp", NULL,
                      DYNO_LEVEL_RECOMMENDED, settings);
  g_ptr_array_add (devices, g_memdup2 (devices->pdata[0], sizeof (DynoDeviceInfo)));
  ((DynoDeviceInfo *) devices->pdata[1])->index = 1;
  dyno_setup_take_devices (setup, devices, NULL);
  parts_wait (is_planned, setup);
  for (guint i = 0; i < 2; i++)
    {
      gboolean several = i == 0;
      dyno_setup_use_device (setup, 1, several);
      parts_wait (is_planned, setup);
      g_assert_true (dyno_speed_page_start (page, NULL, NULL));
      g_assert_cmpuint (dyno_cores_count (), ==, n_cores);
      g_assert_true (gtk_widget_get_visible (note) == several);
      if (several)
        {
          DynoTuneEvent more = { .type = DYNO_TUNE_EVENT_NOTE,
                                 .text = (char *) "The time is short." };
          dyno_speed_page_take_event (page, &more);
          g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (note)), ==,
                           "Measured as one of 2 devices, on its share of the processor's cores: "
                           "all rates are those of each device.\nThe time is short.");
        }
      parts_wait (has_begun, &searches);
      g_assert_true (g_str_has_suffix (searches.head, ",ranks") == several);
      dyno_speed_page_stop (page);
      parts_wait (is_over, page);
    }
  g_hash_table_unref (searches.seen);
  g_free (searches.head);
  gtk_widget_destroy (GTK_WIDGET (page));
  g_object_unref (page);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

/* Each fold of the data becomes a job of its own, with the settings of the window but for the fold;
 * also the second time, and with a name of its own. */
static void
test_each_fold_becomes_a_job (void)
{
  GtkWidget *widget =
      g_object_ref_sink (dyno_window_new (NULL, NULL, "builtin:shapes?size=16&samples=64"));
  DynoWindow *window = DYNO_WINDOW (widget);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "runs of folds", NULL);
  static const char *const names[] = { "Fold 1 of 3", "Fold 2 of 3", "Fold 3 of 3" };
  GActionGroup *actions = G_ACTION_GROUP (window);

  parts_wait (is_planned, window->setup);
  dyno_window_take_runs_folder (window, runs);
  g_assert_false (g_action_group_get_action_enabled (actions, "add-folds-to-queue"));
  g_assert_true (dyno_setup_set_number (window->setup, "data.folds", 3, NULL));
  g_assert_true (dyno_setup_set_number (window->setup, "data.fold", 2, NULL));
  parts_wait (is_planned, window->setup);
  g_assert_true (g_action_group_get_action_enabled (actions, "add-folds-to-queue"));
  for (guint i = 0; i < 2; i++)
    {
      g_action_group_activate_action (actions, "add-folds-to-queue", NULL);
      parts_assert_says (window->toast, "3 folds of SimpleCNN on Shapes were added to the queue");
      wait_for_jobs (window, 3);
      for (guint fold = 0; fold < 3; fold++)
        {
          const DynoJob *job = get_queued (window, fold)->job;
          g_assert_cmpint (job->settings.data_fold, ==, fold + 1);
          g_assert_cmpint (job->settings.data_folds, ==, 3);
          g_assert_cmpstr (job->name, ==, names[fold]);
        }
      for (guint fold = 0; fold < 3; fold++)
        dyno_job_list_remove (window->jobs, get_queued (window, fold)->id);
      wait_for_jobs (window, 0);
    }
  g_assert_cmpint (dyno_setup_get_job (window->setup)->settings.data_fold, ==, 2);
  g_assert_true (dyno_setup_set_number (window->setup, "data.folds", 0, NULL));
  parts_wait (is_planned, window->setup);
  g_assert_false (g_action_group_get_action_enabled (actions, "add-folds-to-queue"));
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

void
parts_add_several (void)
{
  g_test_add_func ("/ui/parts/each-fold-becomes-a-job", test_each_fold_becomes_a_job);
  g_test_add_func ("/ui/parts/a-search-is-of-all-devices", test_a_search_is_of_all_devices);
  g_test_add_func ("/ui/parts/a-list-of-used-devices", test_a_list_of_used_devices);
  g_test_add_func ("/ui/parts/devices-are-ticked", test_devices_are_ticked);
  g_test_add_func ("/ui/parts/what-several-devices-need", test_what_several_devices_need);
  g_test_add_func ("/ui/parts/several-devices-are-started-by-the-queue",
                   test_several_devices_are_started_by_the_queue);
}
