/* SPDX-License-Identifier: MIT */
/* The page of past runs: a list out of the history; open a run's folder, take its settings again,
 * compare two, rename, delete. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_RUNS_PAGE (dyno_runs_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoRunsPage, dyno_runs_page, DYNO, RUNS_PAGE, GtkBox)

/* Signals: "failed" (GError), "taken": a run's job was put into the setup. */
void dyno_runs_page_set_setup (DynoRunsPage *self, DynoSetup *setup);
/* Reads the history anew, in a thread. */
void dyno_runs_page_refresh (DynoRunsPage *self);

G_END_DECLS
