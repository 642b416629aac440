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
  /* means of the loss's metrics, then the figures' metrics; the remaining elements hold no
   * metric */
  double metrics[DYNO_MAX_RUN_METRICS];
} DynoEvaluation;

/* Called once, as soon as the first batch is submitted, or earlier where that batch is not decoded
 * yet: it can take results of earlier submissions without delaying the validation. */
typedef gboolean (*DynoEvaluateBegun) (gpointer data, GError **error);

typedef struct {
  DynoPipe *pipe;
  DynoLoader *loader;   /* the pipe's loader, whose epoch was started */
  DynoFigures *figures; /* those of the pipe's readback; NULL: no figures are needed */
  DynoMaskWatch *watch; /* NULL: masks are not watched */
  /* Each rank evaluates its share, and sums are over all ranks; NULL: there is one rank. */
  DynoComm *comm;
  guint64 seed;
  guint64 most_batches; /* most batches to evaluate; 0: all, of which the last may be short */
  DynoEvaluateBegun begun;
  gpointer data;
} DynoEvaluateParams;

/* After an error no batch is in flight.  Errors: those of the pipe, of begun and of the
 * communicator. */
gboolean dyno_evaluate (const DynoEvaluateParams *params, GCancellable *cancellable,
                        DynoEvaluation *evaluation, GError **error);

G_END_DECLS
