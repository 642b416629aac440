/* SPDX-License-Identifier: MIT */
/* What the diagnosis finds wrong with the run, in a sentence, with a button that does what it
 * advises: in the run where the setting is live, else in the next run; a run that has ended is
 * started again.  Hidden where there is nothing of the kind. */
#pragma once
#include "runmonitor.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_WATCHDOG (dyno_watchdog_get_type ())
G_DECLARE_FINAL_TYPE (DynoWatchdog, dyno_watchdog, DYNO, WATCHDOG, GtkBox)

void dyno_watchdog_set_run (DynoWatchdog *self, DynoRunMonitor *monitor, DynoSetup *setup);

G_END_DECLS
