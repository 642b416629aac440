/* SPDX-License-Identifier: MIT */
/* The page of the devices shows the load of one device and of the machine over minutes, and the
 * memory of each program, with and without a run. */
#pragma once
#include "devicewatch.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DEVICE_PAGE (dyno_device_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoDevicePage, dyno_device_page, DYNO, DEVICE_PAGE, GtkBox)

/* To be called once.  The page shows the device of the setup until another one is chosen on the
 * page. */
void dyno_device_page_set_setup (DynoDevicePage *self, DynoSetup *setup);
/* The watch of the device that is shown; NULL: it was not shown yet. */
DynoDeviceWatch *dyno_device_page_get_watch (DynoDevicePage *self);
/* Arranges the cards of cores and programs one below the other. */
void dyno_device_page_set_narrow (DynoDevicePage *self, gboolean narrow);

G_END_DECLS
