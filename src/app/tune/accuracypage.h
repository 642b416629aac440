/* SPDX-License-Identifier: MIT */
/* The search for the best model: how long and by which metric, the trials as they come, the best beside
 * the user's settings.  It owns the search of the moment, and frees it in a thread. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_ACCURACY_PAGE (dyno_accuracy_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoAccuracyPage, dyno_accuracy_page, DYNO, ACCURACY_PAGE, GtkBox)

/* Signals: "failed" (GError): after a first trial; "not-shown" (GError): the report; "kept": a trial is in the history; "active-changed";
 * "ready-changed": what may begin. */
void dyno_accuracy_page_set_setup (DynoAccuracyPage *self, DynoSetup *setup);
/* The folder in which searches are kept, and looked for. */
void dyno_accuracy_page_set_runs_folder (DynoAccuracyPage *self, const char *runs);
/* A search may begin, or go on, as far as the page knows. */
gboolean dyno_accuracy_page_is_ready (DynoAccuracyPage *self);
gboolean dyno_accuracy_page_can_go_on (DynoAccuracyPage *self);
/* go_on: with the newest search of the setup's job, else a new one.  FALSE: nothing was begun, since it
 * could not be kept; errors of dyno_folder_can_keep and dyno_run_writer_claim_folder. */
gboolean dyno_accuracy_page_start (DynoAccuracyPage *self, gboolean go_on, GError **error);
void dyno_accuracy_page_stop (DynoAccuracyPage *self);
gboolean dyno_accuracy_page_is_active (DynoAccuracyPage *self);
gboolean dyno_accuracy_page_has_best (DynoAccuracyPage *self);
void dyno_accuracy_page_use_best (DynoAccuracyPage *self);
void dyno_accuracy_page_set_narrow (DynoAccuracyPage *self, gboolean narrow);

G_END_DECLS
