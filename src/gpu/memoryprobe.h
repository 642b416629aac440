/* SPDX-License-Identifier: MIT */
/* The memory of a device that is not open, by VK_EXT_memory_budget.  One thread at a time. */
#pragma once
#include "device.h"

G_BEGIN_DECLS

typedef struct _DynoMemoryProbe DynoMemoryProbe;

/* NULL: there is no such device, or its driver does not report its memory. */
DynoMemoryProbe *dyno_memory_probe_new (const DynoDeviceInfo *info);
void dyno_memory_probe_free (DynoMemoryProbe *probe);

gboolean dyno_memory_probe_query (DynoMemoryProbe *probe, DynoMemoryUsage *usage);

G_END_DECLS
