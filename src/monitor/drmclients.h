/* SPDX-License-Identifier: MIT */
/* The programs that have a DRM device open, from /proc/PID/fdinfo: their number, the device memory
 * that they hold, and their load on the device's engines.  Programs of other users are included as
 * far as the kernel permits.  Private to the monitor layer; one thread.
 *
 * Format: Documentation/gpu/drm-usage-stats.rst of the kernel. */
#pragma once
#include "source.h"

G_BEGIN_DECLS

typedef struct _DynoDrmClients DynoDrmClients;

typedef struct {
  double others; /* number of other processes; NaN: not known */
  DynoSensorPrograms programs;
  double own_bytes;    /* device memory of this process; NaN: not known */
  double busy_percent; /* of the busiest engine, by all visible programs; NaN: not known */
} DynoDrmUsage;

DynoDrmClients *dyno_drm_clients_new (const char *proc_root, const char *pci);
void dyno_drm_clients_free (DynoDrmClients *clients);
void dyno_drm_clients_read (DynoDrmClients *clients, gint64 now_us, DynoDrmUsage *usage);

G_END_DECLS
