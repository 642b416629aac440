/* SPDX-License-Identifier: MIT */
/* Lists of devices in words, as --devices and the jobs of the queue have them: numbers by commas,
 * which are indices into dyno_device_list, or "all", which stands for the devices of the best
 * device's type, since integrated graphics and the software device would only slow down a card. */
#pragma once
#include "device.h"

G_BEGIN_DECLS

/* The numbers (guint) in their order, each as often as it is named.  devices: DynoDeviceInfo.  NULL:
 * the text is no such list, or a number is not below devices->len. */
GArray *dyno_device_numbers_parse (const char *text, const GPtrArray *devices);
char *dyno_device_numbers_format (const GArray *numbers); /* "1,0"; g_free */
gboolean dyno_device_numbers_have (const GArray *numbers, guint number);

G_END_DECLS
