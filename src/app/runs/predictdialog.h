/* SPDX-License-Identifier: MIT */
/* The predictions of a run's weights (predictview.h) in a window of their own. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* folder: of a run; title: the run's name; device: index, -1: the best; paths: of images, NULL: the
 * user is asked for them.  Returns the dialog. */
GtkWidget *dyno_predict_dialog_show (GtkWindow *parent, const char *folder, const char *title,
                                     int device, const char *const *paths);
/* Whether the folder of a run has weights to predict with; FALSE for NULL. */
gboolean dyno_predict_can_use (const char *folder);
/* Whether there is at least one path, and all paths are image files by their names. */
gboolean dyno_predict_are_images (const char *const *paths);

G_END_DECLS
