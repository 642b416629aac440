/* SPDX-License-Identifier: MIT */
/* Shows in a sentence the problem that the diagnosis finds in the run, with a button that follows
 * the advice: in the current run if the setting is live, else in the next run; a run that has ended
 * is started again.  Where the setup has moved on to another data set or model, only what changes
 * the current run is offered.  Hidden where there is no such problem. */
#pragma once
#include "diagnosis.h"
#include "runmonitor.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_WATCHDOG (dyno_watchdog_get_type ())
G_DECLARE_FINAL_TYPE (DynoWatchdog, dyno_watchdog, DYNO, WATCHDOG, GtkBox)

void dyno_watchdog_set_run (DynoWatchdog *self, DynoRunMonitor *monitor, DynoSetup *setup);
/* Shows the worst of the findings (DynoFinding *) that advise a new value of a setting, the first
 * of equal ones; going: of a run that goes on.  Called by the watchdog itself for its run. */
void dyno_watchdog_show (DynoWatchdog *self, const GPtrArray *findings, gboolean going);

G_END_DECLS
