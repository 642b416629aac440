/* SPDX-License-Identifier: MIT */
/* The page of the diagnosis shows what limits the current run, or the last one. */
#pragma once
#include "runmonitor.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_DIAGNOSE_PAGE (dyno_diagnose_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoDiagnosePage, dyno_diagnose_page, DYNO, DIAGNOSE_PAGE, GtkStack)

void dyno_diagnose_page_set_run (DynoDiagnosePage *self, DynoRunMonitor *monitor, DynoSetup *setup);

G_END_DECLS
