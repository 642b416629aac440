/* SPDX-License-Identifier: MIT */
/* The validation pass.  Private to the train floor. */
#pragma once
#include "pipe.h"

G_BEGIN_DECLS

typedef struct {
  guint64 n_samples;
  double loss;   /* mean */
  double metric; /* classes: accuracy, a fraction; values: mean absolute error */
} DynoEvaluation;

/* All batches of the pipe's loader, the last one short.  Errors: those of the pipe. */
gboolean dyno_evaluate (DynoPipe *pipe, DynoLoader *loader, guint64 seed, GCancellable *cancellable,
                        DynoEvaluation *evaluation, GError **error);

G_END_DECLS
