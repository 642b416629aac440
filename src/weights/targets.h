/* SPDX-License-Identifier: MIT */
/* Values to predict, brought to mean 0 and deviation 1 for the training (data.normalise), and
 * weights of classes.  Private to the layers up to train.
 *
 * The network learns z = (value - mean) / deviation, each value by the mean and deviation of the
 * training part; the loss that is minimised is an eighth of the squared error of z (mse_rows.comp
 * explains why).  Losses and errors are reported in the data's unit.  A weights file predicts in
 * the data's unit: the map is folded into the last linear layer when it is written, and taken out
 * when it is read.  A checkpoint holds the unfolded weights and the map. */
#pragma once
#include "dataset.h"
#include "weightvalues.h"

G_BEGIN_DECLS

/* The means of all values over the training part, followed by their deviations (floats); the
 * deviation is 1 where all are equal.  NULL: there are no values, or the kind of data set does not
 * know its values in advance.  g_free. */
float *dyno_targets_measure (DynoDataset *dataset, const GArray *train);

/* Weights of the classes (n_classes floats) with which each class of the training part contributes
 * equally to the loss: n samples / (classes that have any * samples of the class), so that their
 * mean over the samples is 1; 1 for a class without a sample.  For masks the pixels of all samples
 * are counted.  For labels they are the weights of positive labels with which the samples that have
 * a label contribute as much as those that have not: samples without / samples with the label; 1
 * where there are none of either.  train NULL: all 1.  g_free. */
float *dyno_targets_weigh_classes (DynoDataset *dataset, const GArray *train);

/* A copy of weights that predicts in the data's unit; it shares all but the last layer's values, so
 * weights outlives it.  Unchanged weights where the graph has no map.  NULL: no memory. */
typedef struct {
  DynoWeights weights;
  float **values, *weight, *bias;
} DynoFoldedWeights;
DynoFoldedWeights *dyno_targets_fold (const DynoWeights *weights, DynoGraph *graph, GError **error);
void dyno_folded_weights_free (DynoFoldedWeights *folded);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoFoldedWeights, dyno_folded_weights_free)

/* The inverse of dyno_targets_fold, in place. */
void dyno_targets_unfold (DynoWeights *weights, DynoGraph *graph);

G_END_DECLS
