/* SPDX-License-Identifier: MIT */
/* Errors of the runs layer.  A history that cannot be written is no reason to stop a run: its
 * recorder warns once and goes on. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_RUNS_ERROR (dyno_runs_error_quark ())
GQuark dyno_runs_error_quark (void);

typedef enum {
  DYNO_RUNS_ERROR_IO,        /* the file cannot be opened, read or written; locks do not work */
  DYNO_RUNS_ERROR_DISK,      /* no room for it */
  DYNO_RUNS_ERROR_BUSY,      /* another process held the file for longer than the wait */
  DYNO_RUNS_ERROR_CORRUPT,   /* damaged, and it could not be moved aside */
  DYNO_RUNS_ERROR_READ_ONLY, /* written by a newer Dyno, or in a place that cannot be written */
  DYNO_RUNS_ERROR_NOT_FOUND, /* there is no such run, search or job */
  DYNO_RUNS_ERROR_ACTIVE,    /* a running entry cannot be deleted or started once more */
} DynoRunsError;

G_END_DECLS
