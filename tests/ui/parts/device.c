/* SPDX-License-Identifier: MIT */
/* The figures of a device. */
#include "parts.h"
#include "devicefigures.h"
#include <math.h>

static void
clear (DynoSensorReading *reading)
{
  *reading = (DynoSensorReading){ 0 };
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    reading->values[i] = (double) NAN;
}

/* The words below a figure and the figure itself go when their cause has gone. */
static void
test_figures_follow_the_reading (void)
{
  GtkWidget *figures = g_object_ref_sink (g_object_new (DYNO_TYPE_DEVICE_FIGURES, NULL));
  DynoSensorReading reading;

  clear (&reading);
  gtk_widget_show (figures);
  reading.values[DYNO_SENSOR_GPU_BUSY] = 40;
  reading.values[DYNO_SENSOR_GPU_POWER] = 99.6;
  reading.values[DYNO_SENSOR_GPU_POWER_LIMIT] = 300;
  reading.throttle_reasons = DYNO_THROTTLE_POWER;
  dyno_device_figures_show (DYNO_DEVICE_FIGURES (figures), &reading);
  parts_assert_says (figures, "Load");
  parts_assert_says (figures, "slowed: power limit");
  parts_assert_says (figures, "100 W");
  parts_assert_says (figures, "of 300 W");
  parts_assert_says_not (figures, "Temperature");
  reading.throttle_reasons = 0;
  reading.values[DYNO_SENSOR_GPU_POWER] = (double) NAN;
  reading.values[DYNO_SENSOR_GPU_TEMPERATURE] = 61;
  dyno_device_figures_show (DYNO_DEVICE_FIGURES (figures), &reading);
  parts_assert_says_not (figures, "slowed: power limit");
  parts_assert_says_not (figures, "Power");
  parts_assert_says (figures, "61 °C");
  dyno_device_figures_show (DYNO_DEVICE_FIGURES (figures), NULL);
  parts_assert_says_not (figures, "Load");
  g_object_unref (figures);
}

/* Each figure is of its own sensor, with its own words. */
static void
test_figures_of_all_sensors (void)
{
  GtkWidget *figures = g_object_ref_sink (g_object_new (DYNO_TYPE_DEVICE_FIGURES, NULL));
  DynoSensorReading reading;

  clear (&reading);
  gtk_widget_show (figures);
  reading.values[DYNO_SENSOR_VRAM_ALL] = 3 << 20;
  reading.values[DYNO_SENSOR_VRAM_TOTAL] = 12 << 20;
  reading.values[DYNO_SENSOR_GPU_CLOCK] = 1800;
  reading.values[DYNO_SENSOR_GPU_MEMORY_CLOCK] = 9500;
  reading.values[DYNO_SENSOR_CPU_BUSY] = 37;
  reading.values[DYNO_SENSOR_CPU_OWN] = 12;
  reading.values[DYNO_SENSOR_RAM_USED] = 5 << 20;
  reading.values[DYNO_SENSOR_RAM_TOTAL] = 64 << 20;
  reading.values[DYNO_SENSOR_DISK_READ_PER_S] = 2 << 20;
  dyno_device_figures_show (DYNO_DEVICE_FIGURES (figures), &reading);
  parts_assert_texts (figures, "Device memory\n3.00 MiB\nof 12.0 MiB\n"
                               "Clock\n1,800 MHz\nmemory 9,500 MHz\n"
                               "Processor\n37 %\nDyno 12 %\n"
                               "Machine memory\n5.00 MiB\nof 64.0 MiB\n"
                               "Reading\n2.00 MiB/s\nby Dyno");
  reading.values[DYNO_SENSOR_VRAM_TOTAL] = reading.values[DYNO_SENSOR_GPU_MEMORY_CLOCK] =
      reading.values[DYNO_SENSOR_CPU_OWN] = reading.values[DYNO_SENSOR_RAM_TOTAL] = (double) NAN;
  dyno_device_figures_show (DYNO_DEVICE_FIGURES (figures), &reading);
  parts_assert_texts (figures, "Device memory\n3.00 MiB\nClock\n1,800 MHz\nProcessor\n37 %\n"
                               "Machine memory\n5.00 MiB\nReading\n2.00 MiB/s\nby Dyno");
  /* The first of several reasons is shown. */
  reading.values[DYNO_SENSOR_GPU_BUSY] = 0;
  const struct {
    guint32 reasons;
    const char *words;
  } rows[] = { { DYNO_THROTTLE_POWER, "slowed: power limit" },
               { DYNO_THROTTLE_TEMPERATURE, "slowed: temperature" },
               { DYNO_THROTTLE_CURRENT, "slowed: current limit" },
               { DYNO_THROTTLE_HARDWARE, "slowed by the hardware" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      reading.throttle_reasons = rows[i].reasons;
      dyno_device_figures_show (DYNO_DEVICE_FIGURES (figures), &reading);
      parts_assert_says (figures, rows[i].words);
    }
  g_object_unref (figures);
}

void
parts_add_device (void)
{
  g_test_add_func ("/ui/parts/figures-of-all-sensors", test_figures_of_all_sensors);
  g_test_add_func ("/ui/parts/figures-follow-the-reading", test_figures_follow_the_reading);
}
