/* SPDX-License-Identifier: MIT */
/* Keeps the runs that were deleted last, so that they can be restored, until the page is left.
 * Signal "undo": the button was pressed. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_UNDO_BAR (dyno_undo_bar_get_type ())
G_DECLARE_FINAL_TYPE (DynoUndoBar, dyno_undo_bar, DYNO, UNDO_BAR, GtkBin)

GtkWidget *dyno_undo_bar_new (void);
/* deleted: at least one DynoDeletedRun; earlier ones are dropped */
void dyno_undo_bar_offer (DynoUndoBar *self, GPtrArray *deleted);
gboolean dyno_undo_bar_has (DynoUndoBar *self);
/* Hides the bar and returns the runs; NULL: none are kept any more.  g_ptr_array_unref. */
GPtrArray *dyno_undo_bar_take (DynoUndoBar *self);

G_END_DECLS
