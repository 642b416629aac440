/* SPDX-License-Identifier: MIT */
/* The metrics of a validation that no loss measures (dyno_network_get_validation_metrics): computed
 * from its predictions and their truth, by truthsums.h, as an evaluation of the weights is.  One
 * thread, that of the pipe.  Private to the train layer. */
#pragma once
#include "comm.h"
#include "readback.h"

G_BEGIN_DECLS

typedef struct _DynoFigures DynoFigures;

/* graph: that of the validation, which has such metrics.  readback: of its pipe.  trained: the graph
 * whose program holds mean and deviation of the targets, where they have them; it outlives the
 * figures. */
DynoFigures *dyno_figures_new (DynoGraph *graph, DynoGraph *trained, DynoReadback *readback);
void dyno_figures_free (DynoFigures *figures); /* NULL: nothing */

void dyno_figures_reset (DynoFigures *figures); /* no samples */
/* The samples of a batch that has just been retired.  One whose truth is no class does not count, as
 * in the loss. */
void dyno_figures_add (DynoFigures *figures, guint slot, guint32 n_samples);
/* The sums become those of all ranks, added up in the order of the ranks; counts are exact.
 * Collective.  Errors: the communicator's. */
gboolean dyno_figures_sum (DynoFigures *figures, DynoComm *comm, GError **error);
/* The factor that makes means over all pixels of n_samples samples, as the loss of pixels has them in
 * evaluation, means over those that count; 1 where a sample has one answer. */
double dyno_figures_get_scale (const DynoFigures *figures, guint64 n_samples);
/* Writes their values to the places of a run's metrics, after those of the loss; NaN where nothing
 * defines one. */
void dyno_figures_get (const DynoFigures *figures, double *metrics);

G_END_DECLS
