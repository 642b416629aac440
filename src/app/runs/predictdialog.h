/* SPDX-License-Identifier: MIT */
/* What the weights of a run say of images: chosen, or dropped. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* folder: of a run; title: its name; device: index, -1: the best; paths: of images, or NULL: they
 * are asked for. */
void dyno_predict_dialog_show (GtkWindow *parent, const char *folder, const char *title, int device,
                               const char *const *paths);
/* Whether the folder of a run has weights to predict with; NULL: no. */
gboolean dyno_predict_can_use (const char *folder);
/* Whether all of them, at least one, are files of images by their names. */
gboolean dyno_predict_are_images (const char *const *paths);

G_END_DECLS
