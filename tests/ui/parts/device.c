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

void
parts_add_device (void)
{
  g_test_add_func ("/ui/parts/figures-follow-the-reading", test_figures_follow_the_reading);
}
