/* SPDX-License-Identifier: MIT */
/* The validation pass.  Private to the train layer. */
#pragma once
#include "pipe.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n_samples;
  double loss; /* means */
  double metrics[DYNO_MAX_METRICS];
} DynoEvaluation;

/* Called once, as soon as the first batch is queued, or before where that is not decoded yet:
 * results of what runs before the validation can be had without holding it up. */
typedef gboolean (*DynoEvaluateBegun) (gpointer data, GError **error);

/* All batches of the pipe's loader, whose epoch was started, the last one short; or the first
 * most_batches of them, where that is not 0.  comm (may be NULL): the sums are those of all ranks,
 * each of which evaluates its share.  After an error nothing of them is in flight.  Errors: those of the pipe, and of begun. */
gboolean dyno_evaluate (DynoPipe *pipe, DynoLoader *loader, DynoComm *comm, guint64 seed,
                        guint64 most_batches, DynoEvaluateBegun begun, gpointer data,
                        GCancellable *cancellable, DynoEvaluation *evaluation, GError **error);

G_END_DECLS
