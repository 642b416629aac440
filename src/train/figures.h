/* SPDX-License-Identifier: MIT */
/* The metrics of a validation that no loss measures (dyno_network_get_validation_metrics): computed
 * from its predictions and their truth with truthsums.h, labelsums.h and shares.h, as in an
 * evaluation of weights.  One thread, that of the pipe.  Private to the train layer. */
#pragma once
#include "comm.h"
#include "readback.h"

G_BEGIN_DECLS

typedef struct _DynoFigures DynoFigures;

/* graph: that of the validation, which must have such metrics.  best_metric: the setting, may be
 * NULL; the figures are those that dyno_metric_is_measured says.  readback: that of its pipe.
 * trained: the graph whose program holds the mean and deviation of the targets, where there are
 * any; it outlives the figures. */
DynoFigures *dyno_figures_new (DynoGraph *graph, const char *best_metric, DynoGraph *trained,
                               DynoReadback *readback);
void dyno_figures_free (DynoFigures *figures); /* NULL: does nothing */

void dyno_figures_reset (DynoFigures *figures); /* drops all samples */
/* Adds the samples of a batch that has just been retired.  A sample whose truth is not a class is
 * ignored, as in the loss. */
void dyno_figures_add (DynoFigures *figures, guint slot, guint32 n_samples);
/* Replaces the sums by those over all ranks, added in the order of the ranks; counts are exact.
 * Collective.  Errors: the communicator's. */
gboolean dyno_figures_sum (DynoFigures *figures, DynoComm *comm, GError **error);
/* The factor that turns means over all pixels of n_samples samples, as the loss of pixels gives
 * them in evaluation, into means over the pixels that count; 1 where a sample has one answer. */
double dyno_figures_get_scale (const DynoFigures *figures, guint64 n_samples);
/* Writes the figures to a run's metrics, after those of the loss; undefined ones are NaN. */
void dyno_figures_get (const DynoFigures *figures, double *metrics);

G_END_DECLS
