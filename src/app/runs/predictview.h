/* SPDX-License-Identifier: MIT */
/* The predictions of a run's weights for images that are chosen, or dropped. */
#pragma once
#include "predictwork.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* folder: of a run with weights (dyno_predict_can_use). */
GtkWidget *dyno_predict_view_new (const char *folder);
/* The device of the predictions that begin from now on: index, -1: the best, as at first. */
void dyno_predict_view_set_device (GtkWidget *view, int device);
/* The steps that the run has made by now: predictions of fewer are marked as old. */
void dyno_predict_view_set_steps (GtkWidget *view, guint64 steps);
/* Predicts these images, in place of those before. */
void dyno_predict_view_start (GtkWidget *view, const char *const *paths);
/* Asks the user for images. */
void dyno_predict_view_choose (GtkWidget *view);
gboolean dyno_predict_view_is_busy (GtkWidget *view);
/* The DynoPredictFuncs of the view's work: add the row of an image, and show the end. */
void dyno_predict_view_take_sample (const DynoPredictedSample *sample, gpointer view);
void dyno_predict_view_take_end (const DynoPredictSummary *summary, const GError *error,
                                 gpointer view);

G_END_DECLS
