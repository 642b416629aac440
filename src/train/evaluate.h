/* SPDX-License-Identifier: MIT */
/* The validation pass.  Private to the train layer. */
#pragma once
#include "figures.h"
#include "maskwatch.h"
#include "metric.h"
#include "pipe.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n_samples;
  double loss; /* means */
  /* means of those that the loss declares, then those of the figures, and NaN */
  double metrics[DYNO_MAX_RUN_METRICS];
} DynoEvaluation;

/* Called once, as soon as the first batch is queued, or before where that is not decoded yet:
 * results of what runs before the validation can be had without holding it up. */
typedef gboolean (*DynoEvaluateBegun) (gpointer data, GError **error);

typedef struct {
  DynoPipe *pipe;
  DynoLoader *loader;   /* the pipe's, whose epoch was started */
  DynoFigures *figures; /* of the pipe's readback; NULL: none are asked for */
  DynoMaskWatch *watch; /* NULL: nobody watches */
  /* The sums are those of all ranks, each of which evaluates its share; NULL: there is one. */
  DynoComm *comm;
  guint64 seed;
  guint64 most_batches; /* the first of the loader's; 0: all, the last one short */
  DynoEvaluateBegun begun;
  gpointer data;
} DynoEvaluateParams;

/* After an error nothing of the batches is in flight.  Errors: those of the pipe, of begun and of
 * the communicator. */
gboolean dyno_evaluate (const DynoEvaluateParams *params, GCancellable *cancellable,
                        DynoEvaluation *evaluation, GError **error);

G_END_DECLS
