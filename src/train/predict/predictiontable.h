/* SPDX-License-Identifier: MIT */
/* Predictions as lines of a CSV table: sample; class and probability of the most likely classes, or
 * the names of the chosen labels between "|" and the probability of each label, or the values with
 * their units; problem, where the sample could not be read. */
#pragma once
#include "predictor.h"

G_BEGIN_DECLS

/* Sorts the classes with the largest probabilities into ranked, of equal ones the lower number
 * first; returns their number: `most`, or all that there are. */
guint dyno_prediction_rank (const float *probabilities, guint32 n_classes, guint most,
                            guint32 *ranked);

/* The labels whose probability is at least their threshold (guint32), the most probable first. */
GArray *dyno_prediction_choose_labels (const float *probabilities, const DynoWeightsInfo *info);

/* Appends a line with its line end.  top: number of classes in a line, 1 to n_outputs. */
void dyno_prediction_table_append_head (GString *text, const DynoWeightsInfo *info, guint top);
void dyno_prediction_table_append (GString *text, const DynoWeightsInfo *info, guint top,
                                   const char *sample, const DynoPrediction *prediction);

G_END_DECLS
