/* SPDX-License-Identifier: MIT */
/* The bar that is shown while the window holds the settings of a job of the queue, to be edited. */
#pragma once
#include "jobqueue.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_EDIT_BAR (dyno_edit_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoEditBar, dyno_edit_bar, DYNO, EDIT_BAR, GtkInfoBar)

/* Signal "answered" (gint64 id, gboolean save): the job is to be changed, or to stay as it was; the
 * bar is hidden then. */
void dyno_edit_bar_begin (DynoEditBar *self, const DynoQueuedJob *job);
/* The name that the user gave the job; NULL: none.  g_free. */
char *dyno_edit_bar_get_name (DynoEditBar *self);
/* Whether the settings of the window can be saved at present. */
void dyno_edit_bar_set_savable (DynoEditBar *self, gboolean savable);
/* Whether the data set of the job cannot be opened, so that the job has none yet. */
void dyno_edit_bar_set_lacks_data (DynoEditBar *self, gboolean lacks);
/* Hides the bar without an answer. */
void dyno_edit_bar_dismiss (DynoEditBar *self);

G_END_DECLS
