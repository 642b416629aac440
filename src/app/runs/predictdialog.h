/* SPDX-License-Identifier: MIT */
/* The dialog with the predictions of a run's weights for images that are chosen, or dropped. */
#pragma once
#include "predictwork.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* folder: of a run; title: the run's name; device: index, -1: the best; paths: of images, NULL: the
 * user is asked for them.  Returns the dialog. */
GtkWidget *dyno_predict_dialog_show (GtkWindow *parent, const char *folder, const char *title,
                                     int device, const char *const *paths);
/* The DynoPredictFuncs of the dialog's work: add the row of an image, and show the end. */
void dyno_predict_dialog_take_sample (const DynoPredictedSample *sample, gpointer dialog);
void dyno_predict_dialog_take_end (const DynoPredictSummary *summary, const GError *error,
                                   gpointer dialog);
/* Whether the folder of a run has weights to predict with; FALSE for NULL. */
gboolean dyno_predict_can_use (const char *folder);
/* Whether there is at least one path, and all paths are image files by their names. */
gboolean dyno_predict_are_images (const char *const *paths);

G_END_DECLS
