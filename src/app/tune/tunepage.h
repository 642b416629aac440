/* SPDX-License-Identifier: MIT */
/* The page of the tuner: the settings that it tries, the result of each trial, the best beside the
 * base line. */
#pragma once
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_TUNE_PAGE (dyno_tune_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoTunePage, dyno_tune_page, DYNO, TUNE_PAGE, GtkBox)

/* Signals: "failed" (GError), "not-kept" (GError): the search goes on; "report-failed" (GError),
 * "kept": the report is among the search's files now; "active-changed". */
void dyno_tune_page_set_setup (DynoTunePage *self, DynoSetup *setup);
/* runs: as of dyno_search_folder_make.  FALSE: nothing was begun, since the search could not be
 * kept; its errors. */
gboolean dyno_tune_page_start (DynoTunePage *self, const char *runs, GError **error);
void dyno_tune_page_stop (DynoTunePage *self);
gboolean dyno_tune_page_is_active (DynoTunePage *self);
void dyno_tune_page_use_best (DynoTunePage *self);
gboolean dyno_tune_page_has_best (DynoTunePage *self);
/* The explanation stands above the controls, not beside them. */
void dyno_tune_page_set_narrow (DynoTunePage *self, gboolean narrow);

G_END_DECLS
