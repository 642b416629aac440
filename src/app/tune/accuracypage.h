/* SPDX-License-Identifier: MIT */
/* The page of the search for the best model: its limits and metric, the trials so far, and the best
 * trial beside the user's settings.  The page owns the current search, and frees it in a thread. */
#pragma once
#include "accuracytune.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ACCURACY_PAGE (dyno_accuracy_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoAccuracyPage, dyno_accuracy_page, DYNO, ACCURACY_PAGE, GtkBox)

/* Signals: "failed" (GError): the search failed after its first trial; "not-shown" (GError): the
 * report cannot be shown; "kept": a trial was added to the history; "active-changed";
 * "ready-changed": _is_ready or _can_go_on changed. */
void dyno_accuracy_page_set_setup (DynoAccuracyPage *self, DynoSetup *setup);
/* Sets the folder in which new searches are kept, and earlier ones are found. */
void dyno_accuracy_page_set_runs_folder (DynoAccuracyPage *self, const char *runs);
/* Whether a new search can begin, or the earlier one can be resumed, as far as the page knows. */
gboolean dyno_accuracy_page_is_ready (DynoAccuracyPage *self);
gboolean dyno_accuracy_page_can_go_on (DynoAccuracyPage *self);
/* go_on: resumes the newest search of the setup's job; else begins a new one.  FALSE: nothing was
 * begun, since the results could not be saved; errors: those of dyno_folder_can_keep and
 * dyno_run_writer_claim_folder. */
gboolean dyno_accuracy_page_start (DynoAccuracyPage *self, gboolean go_on, GError **error);
/* Shows a search that has begun, in place of the one before, and takes the tuner.  No other one may
 * be active.  minutes, folder: those of the search. */
void dyno_accuracy_page_show_search (DynoAccuracyPage *self, DynoAccuracyTune *tune, double minutes,
                                     const char *folder);
void dyno_accuracy_page_stop (DynoAccuracyPage *self);
gboolean dyno_accuracy_page_is_active (DynoAccuracyPage *self);
gboolean dyno_accuracy_page_has_best (DynoAccuracyPage *self);
void dyno_accuracy_page_use_best (DynoAccuracyPage *self);
void dyno_accuracy_page_set_narrow (DynoAccuracyPage *self, gboolean narrow);

G_END_DECLS
