/* SPDX-License-Identifier: MIT */
/* The page of the devices: which one is shown, its plots and the memory of programs; the watch that
 * keeps its readings. */
#include "parts.h"
#include "devicepage.h"
#include "plot/view.h"
#include <math.h>
#include <string.h>

static const char *const names[] = { "Card A", "Card B", "Processor C" };

/* The first n devices. */
static GPtrArray *
make_devices (guint n)
{
  GPtrArray *devices = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < n; i++)
    {
      DynoDeviceInfo *device = g_new0 (DynoDeviceInfo, 1);
      device->index = i;
      g_strlcpy (device->name, names[i], sizeof device->name);
      g_snprintf (device->driver, sizeof device->driver, "driver %u", i + 1);
      device->type = i == 2 ? DYNO_DEVICE_TYPE_SOFTWARE : DYNO_DEVICE_TYPE_DISCRETE;
      device->vram_bytes = (guint64) (i + 1) << 33;
      g_ptr_array_add (devices, device);
    }
  return devices;
}

typedef struct {
  DynoSetup *setup;
  GtkWidget *page, *window;
  DynoDevicePage *self;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  f->setup = dyno_setup_new ();
  f->page = g_object_new (DYNO_TYPE_DEVICE_PAGE, NULL);
  f->self = DYNO_DEVICE_PAGE (f->page);
  dyno_device_page_set_setup (f->self, f->setup);
  f->window = parts_show (f->page, 900, 700);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_widget_destroy (f->window);
  dyno_setup_shutdown (f->setup);
  g_object_unref (f->setup);
}

static GtkComboBox *
get_choice (Fixture *f)
{
  return GTK_COMBO_BOX (parts_find (f->page, GTK_TYPE_COMBO_BOX_TEXT));
}

/* An empty reading of this time. */
static void
clear (DynoSensorReading *reading, double seconds)
{
  dyno_sensor_reading_init (reading);
  reading->time_us = (gint64) (seconds * G_USEC_PER_SEC);
}

/* The page follows the device of the setup until another one is chosen on the page. */
static void
test_the_chosen_device_is_shown (Fixture *f, gconstpointer data)
{
  g_assert_null (dyno_device_page_get_watch (f->self));
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (get_choice (f))));
  dyno_setup_take_devices (f->setup, make_devices (3), NULL);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (get_choice (f))));
  parts_assert_says (f->page, "driver 1  ·  8.00 GiB");
  DynoDeviceWatch *first = dyno_device_page_get_watch (f->self);
  for (guint i = 0; i < 2; i++)
    {
      dyno_setup_set_device (f->setup, 1);
      g_assert_cmpint (gtk_combo_box_get_active (get_choice (f)), ==, 1);
      parts_assert_says (f->page, "driver 2  ·  16.0 GiB");
      g_assert_true (dyno_device_page_get_watch (f->self) != first);
      dyno_setup_set_device (f->setup, 2);
      g_assert_cmpint (gtk_combo_box_get_active (get_choice (f)), ==, 2);
      parts_assert_says (f->page, "It computes on the processor, whose load is shown here");
      dyno_setup_set_device (f->setup, 0);
      parts_assert_says (f->page, "driver 1  ·  8.00 GiB");
      g_assert_true (dyno_device_page_get_watch (f->self) == first); /* it goes on */
    }
  gtk_combo_box_set_active (get_choice (f), 1);
  parts_assert_says (f->page, "driver 2  ·  16.0 GiB");
  dyno_setup_set_device (f->setup, 2);
  parts_assert_says (f->page, "driver 2  ·  16.0 GiB");
  g_assert_cmpint (gtk_combo_box_get_active (get_choice (f)), ==, 1);
  gtk_combo_box_set_active (get_choice (f), 2);
  parts_assert_says (f->page, "Processor C");
}

/* A single device leaves no choice; without any, the machine is watched. */
static void
test_the_machine_is_shown_without_devices (Fixture *f, gconstpointer data)
{
  dyno_setup_take_devices (f->setup, NULL,
                           g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "none"));
  parts_assert_says (f->page, "This Machine");
  g_assert_nonnull (dyno_device_page_get_watch (f->self));
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (get_choice (f))));
}

static void
test_a_single_device_leaves_no_choice (Fixture *f, gconstpointer data)
{
  dyno_setup_take_devices (f->setup, make_devices (1), NULL);
  parts_assert_says (f->page, "Card A");
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (get_choice (f))));
}

static void
add_program (DynoSensorReading *reading, guint32 pid, const char *name, double bytes)
{
  DynoSensorProgram *program = &reading->programs.list[reading->programs.n++];

  *program = (DynoSensorProgram){ .pid = pid, .own = pid == 1, .bytes = bytes };
  g_strlcpy (program->name, name, sizeof program->name);
}

static double
get_bar (GtkWidget *page, guint i)
{
  g_autoptr (GPtrArray) bars = parts_find_all (page, GTK_TYPE_PROGRESS_BAR);

  g_assert_cmpuint (i, <, bars->len);
  return gtk_progress_bar_get_fraction (bars->pdata[i]);
}

/* Programs are named, or by their process, with their share of the memory; they go with the reading,
 * and with the device. */
static void
test_programs_are_those_of_the_reading (Fixture *f, gconstpointer data)
{
  DynoSensorReading reading;

  dyno_setup_take_devices (f->setup, make_devices (2), NULL);
  parts_assert_says_not (f->page, "Memory by Program");
  for (guint i = 0; i < 2; i++)
    {
      DynoDeviceWatch *watch = dyno_device_page_get_watch (f->self);
      clear (&reading, 1);
      reading.values[DYNO_SENSOR_VRAM_TOTAL] = 8 << 20;
      add_program (&reading, 1, "main", 4 << 20);
      add_program (&reading, 22, "other", 2 << 20);
      add_program (&reading, 33, "", NAN);
      dyno_device_watch_take (watch, &reading);
      parts_assert_says (f->page, "Memory by Program");
      g_autofree char *texts = parts_get_texts (f->page);
      g_assert_nonnull (
          strstr (texts, "Dyno\n4.00 MiB\nother (22)\n2.00 MiB\nProcess 33\n–\nCores"));
      g_assert_cmpfloat_with_epsilon (get_bar (f->page, 0), 0.5, 1e-9);
      g_assert_cmpfloat_with_epsilon (get_bar (f->page, 1), 0.25, 1e-9);
      g_assert_cmpfloat (get_bar (f->page, 2), ==, 0);
      clear (&reading, 1);
      add_program (&reading, 22, "other", 3 << 20); /* the whole memory is not known */
      dyno_device_watch_take (watch, &reading);
      parts_assert_says_not (f->page, "Dyno");
      parts_assert_says (f->page, "3.00 MiB");
      g_assert_cmpfloat (get_bar (f->page, 0), ==, 0);
      gtk_combo_box_set_active (get_choice (f), 1);
      parts_assert_says_not (f->page, "Memory by Program");
      dyno_device_watch_take (watch, &reading); /* of the device that is not shown */
      parts_assert_says_not (f->page, "Memory by Program");
      gtk_combo_box_set_active (get_choice (f), 0);
      parts_assert_says (f->page, "Memory by Program");
      clear (&reading, 1);
      dyno_device_watch_take (watch, &reading);
      parts_assert_says_not (f->page, "Memory by Program");
    }
}

/* The plot with this title, if it is shown. */
static DynoPlotView *
find_plot (Fixture *f, const char *title)
{
  g_autoptr (GPtrArray) views = parts_find_all (f->page, DYNO_TYPE_PLOT_VIEW);

  for (guint i = 0; i < views->len; i++)
    {
      const DynoPlot *plot = dyno_plot_view_get_plot (views->pdata[i]);
      if (g_strcmp0 (plot->title, title) == 0)
        return gtk_widget_get_mapped (views->pdata[i]) ? views->pdata[i] : NULL;
    }
  g_error ("There is no plot “%s”", title);
}

/* Plots are shown once they have a value, and stay; a limit is the newest one, in the unit of the
 * plot; what was looked at in one device is not looked at in another. */
static void
test_plots_follow_the_readings (Fixture *f, gconstpointer data)
{
  DynoSensorReading reading;

  dyno_setup_take_devices (f->setup, make_devices (2), NULL);
  for (int i = 0; i < 2; i++)
    {
      gtk_combo_box_set_active (get_choice (f), i);
      DynoDeviceWatch *watch = dyno_device_page_get_watch (f->self);
      if (i == 0)
        g_assert_null (find_plot (f, "Load"));
      clear (&reading, 100);
      reading.values[DYNO_SENSOR_CPU_BUSY] = 40;
      reading.values[DYNO_SENSOR_VRAM_ALL] = 3.0 * (1 << 30);
      reading.values[DYNO_SENSOR_VRAM_TOTAL] = 12.0 * (1 << 30);
      dyno_device_watch_take (watch, &reading);
      const DynoPlot *load = dyno_plot_view_get_plot (find_plot (f, "Load")),
                     *memory = dyno_plot_view_get_plot (find_plot (f, "Device memory"));
      g_assert_null (find_plot (f, "Temperature"));
      g_assert_null (find_plot (f, "Power"));
      g_assert_cmpuint (load->n_lines, ==, 1);
      g_assert_cmpint (load->lines[0].colour, ==, 1); /* the processor's, also when it is alone */
      g_assert_cmpfloat (memory->y_limit, ==, 12);
      g_assert_true (isnan (load->y_limit));
      g_assert_true (memory->y_from_zero);
      clear (&reading, 200);
      reading.values[DYNO_SENSOR_GPU_BUSY] = 90;
      reading.values[DYNO_SENSOR_GPU_TEMPERATURE] = 60;
      reading.values[DYNO_SENSOR_VRAM_TOTAL] = 11.0 * (1 << 30);
      dyno_device_watch_take (watch, &reading);
      g_assert_cmpuint (load->n_lines, ==, 2);
      g_assert_cmpfloat (memory->y_limit, ==, 11);
      g_assert_nonnull (find_plot (f, "Device memory")); /* it stays without a value */
      g_assert_false (dyno_plot_view_get_plot (find_plot (f, "Temperature"))->y_from_zero);
      g_assert_true (load->x0 == 0 && load->x1 == 0);
      /* Of a long time the last five minutes are shown, until a span is chosen. */
      clear (&reading, 600);
      dyno_device_watch_take (watch, &reading);
      g_assert_cmpfloat (dyno_device_watch_get_seconds (watch), ==, 500);
      g_assert_true (load->x0 == 200 && load->x1 == 500);
      g_signal_emit_by_name (find_plot (f, "Device memory"), "span", 20.0, 50.0);
      g_assert_true (load->x0 == 20 && load->x1 == 50);
      clear (&reading, 610);
      dyno_device_watch_take (watch, &reading);
      g_assert_true (load->x0 == 20 && load->x1 == 50 && memory->x0 == 20);
      g_signal_emit_by_name (find_plot (f, "Load"), "cursor", 30.0);
      g_assert_cmpfloat (memory->cursor_x, ==, 30);
    }
  g_assert_false (dyno_plot_span_is_all ((DynoPlotSpan){ 20, 50 }));
  gtk_combo_box_set_active (get_choice (f), 0);
  const DynoPlot *load = dyno_plot_view_get_plot (find_plot (f, "Load"));
  g_assert_true (load->x0 != 20 && load->x1 != 50);
}

static void
note_change (DynoDeviceWatch *watch, guint *n)
{
  (*n)++;
}

static double
get_last (DynoDeviceWatch *watch, DynoSensor sensor)
{
  DynoSeries *series = dyno_device_watch_get_series (watch, sensor);
  double x, y;

  dyno_series_get (series, dyno_series_get_length (series) - 1, &x, &y);
  g_assert_cmpfloat (x, ==, dyno_device_watch_get_seconds (watch));
  return y;
}

/* Readings become points over seconds, in GiB and MiB/s; a sensor that had a value once has it for
 * good, one without keeps its place with gaps. */
static void
test_a_watch_keeps_its_readings (void)
{
  DynoDeviceWatch *watch = dyno_device_watch_new (NULL);
  DynoSensorReading reading;
  guint n = 0;

  g_signal_connect (watch, "changed", G_CALLBACK (note_change), &n);
  g_assert_null (dyno_device_watch_get_reading (watch));
  g_assert_false (dyno_device_watch_has (watch, DYNO_SENSOR_RAM_USED));
  clear (&reading, 5);
  reading.values[DYNO_SENSOR_RAM_USED] = 3.0 * (1 << 30);
  reading.values[DYNO_SENSOR_DISK_READ_PER_S] = 5 << 20;
  reading.values[DYNO_SENSOR_GPU_POWER] = 250;
  dyno_device_watch_take (watch, &reading);
  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpfloat (dyno_device_watch_get_seconds (watch), ==, 0);
  g_assert_cmpfloat (get_last (watch, DYNO_SENSOR_RAM_USED), ==, 3);
  g_assert_cmpfloat (get_last (watch, DYNO_SENSOR_DISK_READ_PER_S), ==, 5);
  g_assert_cmpfloat (get_last (watch, DYNO_SENSOR_GPU_POWER), ==, 250);
  g_assert_true (isnan (get_last (watch, DYNO_SENSOR_GPU_BUSY)));
  g_assert_cmpstr (
      dyno_series_get_unit (dyno_device_watch_get_series (watch, DYNO_SENSOR_RAM_USED)), ==, "GiB");
  clear (&reading, 7.5);
  reading.values[DYNO_SENSOR_GPU_BUSY] = 0;
  dyno_device_watch_take (watch, &reading);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpfloat (dyno_device_watch_get_seconds (watch), ==, 2.5);
  g_assert_true (isnan (get_last (watch, DYNO_SENSOR_RAM_USED)));
  g_assert_true (dyno_device_watch_has (watch, DYNO_SENSOR_RAM_USED)
                 && dyno_device_watch_has (watch, DYNO_SENSOR_GPU_BUSY)
                 && !dyno_device_watch_has (watch, DYNO_SENSOR_GPU_TEMPERATURE));
  g_assert_true (isnan (dyno_device_watch_get_reading (watch)->values[DYNO_SENSOR_RAM_USED]));
  clear (&reading, 9);
  dyno_device_watch_take (watch, &reading);
  g_assert_cmpfloat (dyno_device_watch_get_seconds (watch), ==, 4);
  g_object_unref (watch);
}

#define ADD(name, test) g_test_add ("/ui/parts/" name, Fixture, NULL, set_up, test, tear_down)

void
parts_add_devicepage (void)
{
  ADD ("the-chosen-device-is-shown", test_the_chosen_device_is_shown);
  ADD ("the-machine-is-shown-without-devices", test_the_machine_is_shown_without_devices);
  ADD ("a-single-device-leaves-no-choice", test_a_single_device_leaves_no_choice);
  ADD ("programs-are-those-of-the-reading", test_programs_are_those_of_the_reading);
  ADD ("plots-follow-the-readings", test_plots_follow_the_readings);
  g_test_add_func ("/ui/parts/a-watch-keeps-its-readings", test_a_watch_keeps_its_readings);
}
