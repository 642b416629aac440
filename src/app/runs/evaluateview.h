/* SPDX-License-Identifier: MIT */
/* Evaluates the weights of a run on labelled data, and shows figures, classes or labels, the
 * confusion matrix of classes, and the samples of each of its cells. */
#pragma once
#include "evaluatework.h"
#include "job.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

/* folder: of the run, with weights (dyno_predict_can_use); job: the run's.  Nothing is evaluated
 * before the user chooses the data. */
GtkWidget *dyno_evaluate_view_new (const char *folder, const DynoJob *job);
/* The device of the evaluations that begin from now on: index, -1: the best, as at first. */
void dyno_evaluate_view_set_device (GtkWidget *view, int device);
/* The steps that the run has made by now: results of fewer are marked as old. */
void dyno_evaluate_view_set_steps (GtkWidget *view, guint64 steps);
/* Whether an evaluation or a calibration goes on. */
gboolean dyno_evaluate_view_is_busy (GtkWidget *view);
/* Ends the evaluation that the view began last with this result, which it takes; error: it failed,
 * and evaluation is NULL. */
void dyno_evaluate_view_show_result (GtkWidget *view, DynoEvaluation *evaluation,
                                     const GError *error);

G_END_DECLS
