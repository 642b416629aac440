/* SPDX-License-Identifier: MIT */
/* The page of the two searches.  For the fastest settings: those that it tries, the result of each
 * trial, the best beside the base line; for the best model see accuracypage.h. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_TUNE_PAGE (dyno_tune_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoTunePage, dyno_tune_page, DYNO, TUNE_PAGE, GtkBox)

/* Signals: "failed" (GError), "not-kept" (GError): the search goes on; "report-failed" (GError): a
 * report is not saved; "not-shown" (GError): a report; "kept": the report is among the search's files
 * now, or a trial is in the history; "active-changed"; "ready-changed": what may begin. */
void dyno_tune_page_set_setup (DynoTunePage *self, DynoSetup *setup);
/* The folder of the runs, among which searches for the best model are. */
void dyno_tune_page_set_runs_folder (DynoTunePage *self, const char *runs);
/* The search that is shown may begin; go on, as an earlier one was stopped. */
gboolean dyno_tune_page_is_ready (DynoTunePage *self);
gboolean dyno_tune_page_can_go_on (DynoTunePage *self);
/* runs: as of dyno_search_folder_make.  FALSE: nothing was begun, since the search could not be
 * kept; its errors, and those of dyno_accuracy_page_start. */
gboolean dyno_tune_page_start (DynoTunePage *self, const char *runs, gboolean go_on,
                               GError **error);
void dyno_tune_page_stop (DynoTunePage *self);
gboolean dyno_tune_page_is_active (DynoTunePage *self);
/* Stopping the search that is at work loses nothing: it can go on. */
gboolean dyno_tune_page_keeps_all (DynoTunePage *self);
void dyno_tune_page_use_best (DynoTunePage *self);
gboolean dyno_tune_page_has_best (DynoTunePage *self);
/* The explanation stands above the controls, not beside them. */
void dyno_tune_page_set_narrow (DynoTunePage *self, gboolean narrow);

G_END_DECLS
