/* SPDX-License-Identifier: MIT */
/* The devices that may train along with the chosen one, to be ticked, and what they change.  Hidden
 * where there is no such device. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DEVICES_ROW (dyno_devices_row_get_type ())
G_DECLARE_FINAL_TYPE (DynoDevicesRow, dyno_devices_row, DYNO, DEVICES_ROW, GtkListBoxRow)

void dyno_devices_row_set_setup (DynoDevicesRow *self, DynoSetup *setup);

G_END_DECLS
