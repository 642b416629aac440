/* SPDX-License-Identifier: MIT */
/* Shows in a sentence the problem that the diagnosis finds in the run, with a button that follows
 * the advice: in the current run if the setting is live, else in the next run; a run that has ended
 * is started again.  Hidden where there is no such problem. */
#pragma once
#include "runmonitor.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_WATCHDOG (dyno_watchdog_get_type ())
G_DECLARE_FINAL_TYPE (DynoWatchdog, dyno_watchdog, DYNO, WATCHDOG, GtkBox)

void dyno_watchdog_set_run (DynoWatchdog *self, DynoRunMonitor *monitor, DynoSetup *setup);

G_END_DECLS
