/* SPDX-License-Identifier: MIT */
/* The strip at the bottom of the window: device, memory planned and in use, length of the queue,
 * which is a button that activates win.show-jobs. */
#pragma once
#include "runview.h"
#include "setup.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_STATUS_BAR (dyno_status_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoStatusBar, dyno_status_bar, DYNO, STATUS_BAR, GtkBox)

/* status: NULL, or the status of a run that has ended, means that no memory is in use. */
void dyno_status_bar_show (DynoStatusBar *self, DynoSetup *setup, const DynoRunStatus *status);
void dyno_status_bar_set_queue (DynoStatusBar *self, guint n_open, guint n_failed);
/* In a narrow window the memory is a bar only, whose tooltip has the text. */
void dyno_status_bar_set_tight (DynoStatusBar *self, gboolean tight);

G_END_DECLS
