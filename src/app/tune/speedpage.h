/* SPDX-License-Identifier: MIT */
/* The page of the tuner: the settings that it tries, the result of each trial, and the best trial
 * beside the base line. */
#pragma once
#include "setup.h"
#include "tune.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_SPEED_PAGE (dyno_speed_page_get_type ())
G_DECLARE_FINAL_TYPE (DynoSpeedPage, dyno_speed_page, DYNO, SPEED_PAGE, GtkBox)

/* Signals: "failed" (GError), "not-kept" (GError): the search cannot be saved, but goes on;
 * "report-failed" (GError); "kept": the report is among the search's files now;
 * "active-changed". */
void dyno_speed_page_set_setup (DynoSpeedPage *self, DynoSetup *setup);
/* runs: as for dyno_search_folder_make.  FALSE: nothing was begun, since the search could not be
 * saved; errors: those of dyno_search_folder_make. */
gboolean dyno_speed_page_start (DynoSpeedPage *self, const char *runs, GError **error);
/* Shows a search that has begun, in place of the one before, and takes the tuner.  No other one may
 * be active.  folder: where its report is kept; NULL: nowhere. */
void dyno_speed_page_show_search (DynoSpeedPage *self, DynoTune *tune, const char *folder);
/* Shows an event of the search. */
void dyno_speed_page_take_event (DynoSpeedPage *self, const DynoTuneEvent *event);
void dyno_speed_page_stop (DynoSpeedPage *self);
gboolean dyno_speed_page_is_active (DynoSpeedPage *self);
void dyno_speed_page_use_best (DynoSpeedPage *self);
gboolean dyno_speed_page_has_best (DynoSpeedPage *self);
/* Places the explanation above the controls instead of beside them. */
void dyno_speed_page_set_narrow (DynoSpeedPage *self, gboolean narrow);

G_END_DECLS
