/* SPDX-License-Identifier: MIT */
/* The newest values of a device and the machine, large; values that are not available are left
 * out. */
#pragma once
#include "sensors.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DEVICE_FIGURES (dyno_device_figures_get_type ())
G_DECLARE_FINAL_TYPE (DynoDeviceFigures, dyno_device_figures, DYNO, DEVICE_FIGURES, GtkFlowBox)

/* reading: NULL while there is none, which shows nothing. */
void dyno_device_figures_show (DynoDeviceFigures *self, const DynoSensorReading *reading);

G_END_DECLS
