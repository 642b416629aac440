/* SPDX-License-Identifier: MIT */
/* A device as dynoctl devices lists it, with the rates that were measured before. */
#pragma once
#include "device.h"

G_BEGIN_DECLS

void dyno_device_print (const DynoDeviceInfo *info, gboolean json);

G_END_DECLS
