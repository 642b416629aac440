/* SPDX-License-Identifier: MIT */
/* The devices of the next run, as its job names them (devicenumbers.h): the chosen one first, then
 * those that train along with it, each with a process of its own.  NULL: the chosen one by itself.
 * Plain values without widgets or locks. */
#pragma once
#include "device.h"

G_BEGIN_DECLS

typedef struct {
  const GPtrArray *all; /* DynoDeviceInfo */
  guint chosen;         /* index */
  const char *list;     /* or NULL; a list that names none of them is as good as NULL */
} DynoUsedDevices;

guint dyno_used_devices_count (const DynoUsedDevices *used);
gboolean dyno_used_devices_have (const DynoUsedDevices *used, guint index);
/* Whether the device may be offered: it is used, or its type is that of the chosen one. */
gboolean dyno_used_devices_suit (const DynoUsedDevices *used, guint index);
/* The list with the device, or without it; the chosen one stays.  g_free; NULL: as above. */
char *dyno_used_devices_with (const DynoUsedDevices *used, guint index, gboolean use);
/* The one with the least memory, which limits all: each process has a part of the same size. */
const DynoDeviceInfo *dyno_used_devices_find_smallest (const DynoUsedDevices *used);
gboolean dyno_used_devices_have_fp16 (const DynoUsedDevices *used); /* all of them */

G_END_DECLS
