/* SPDX-License-Identifier: MIT */
/* The dialog that evaluates the weights of a run on labelled data, and shows figures, classes or
 * labels, the confusion matrix of classes, and the samples of each of its cells. */
#pragma once
#include "evaluatework.h"
#include "job.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* folder: of the run, with weights (dyno_predict_can_use); job: the run's; title: its name; device:
 * index, -1: the best.  Begins with the run's own validation samples.  Returns the dialog. */
GtkWidget *dyno_evaluate_dialog_show (GtkWindow *parent, const char *folder, const DynoJob *job,
                                      const char *title, int device);
/* Ends the evaluation that the dialog began last with this result, which it takes; error: it failed,
 * and evaluation is NULL. */
void dyno_evaluate_dialog_show_result (GtkWidget *dialog, DynoEvaluation *evaluation,
                                       const GError *error);

G_END_DECLS
