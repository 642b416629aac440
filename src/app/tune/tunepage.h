/* SPDX-License-Identifier: MIT */
/* The page of the two searches: for the fastest settings (speedpage.h), and for the best model
 * (accuracypage.h). */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_TUNE_PAGE (dyno_tune_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoTunePage, dyno_tune_page, DYNO, TUNE_PAGE, GtkBox)

/* Signals: "failed" (GError), "not-kept" (GError): the search cannot be saved, but goes on;
 * "report-failed" (GError): a report could not be saved; "not-shown" (GError): a report cannot be
 * shown; "kept": the report is among the search's files now, or a trial is in the history;
 * "active-changed"; "ready-changed": _is_ready or _can_go_on changed. */
void dyno_tune_page_set_setup (DynoTunePage *self, DynoSetup *setup);
/* Sets the folder of runs, in which searches for the best model are kept, too. */
void dyno_tune_page_set_runs_folder (DynoTunePage *self, const char *runs);
/* Whether the search on the visible page can begin, or an earlier, stopped one can be resumed. */
gboolean dyno_tune_page_is_ready (DynoTunePage *self);
gboolean dyno_tune_page_can_go_on (DynoTunePage *self);
/* runs: as for dyno_search_folder_make.  FALSE: nothing was begun, since the search could not be
 * saved; errors: those of dyno_search_folder_make and dyno_accuracy_page_start. */
gboolean dyno_tune_page_start (DynoTunePage *self, const char *runs, gboolean go_on,
                               GError **error);
void dyno_tune_page_stop (DynoTunePage *self);
gboolean dyno_tune_page_is_active (DynoTunePage *self);
/* Whether the active search can be resumed after it was stopped, so that stopping loses nothing. */
gboolean dyno_tune_page_keeps_all (DynoTunePage *self);
void dyno_tune_page_use_best (DynoTunePage *self);
gboolean dyno_tune_page_has_best (DynoTunePage *self);
/* Places the explanation above the controls instead of beside them. */
void dyno_tune_page_set_narrow (DynoTunePage *self, gboolean narrow);

G_END_DECLS
