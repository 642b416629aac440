/* SPDX-License-Identifier: MIT */
/* The state of a run in host memory, for a checkpoint or a weights file.  Private to the layers up
 * to train. */
#pragma once
#include "snapshot.h"
#include "weightsfile.h"

G_BEGIN_DECLS

typedef struct {
  DynoGraph *graph; /* the graph of these parameters; outlives the state */
  DynoWeights *model;
  DynoWeights *average; /* NULL: no moving averages; those of frozen parameters are their values */
  DynoWeights *moment1, *moment2; /* NULL: not read, or the optimizer has none */
  struct DynoScalerState scaler;
} DynoState;

typedef enum {
  DYNO_STATE_MODEL, /* weights and running statistics, for a weights file */
  DYNO_STATE_WHOLE, /* everything, for a checkpoint */
} DynoStateParts;

/* Reads the state from a snapshot (any one thread), or, where that is NULL, from the program's
 * memory after waiting for all submissions in flight.  Errors: those of reading,
 * OUT_OF_HOST_MEMORY. */
DynoState *dyno_state_read (DynoProgram *program, DynoSnapshot *snapshot, DynoStateParts parts,
                            GError **error);
/* The values to be saved as the weights: the averages, where there are any.  Owned by the state. */
DynoWeights **dyno_state_get_weights (DynoState *state);
void dyno_state_free (DynoState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoState, dyno_state_free)

G_END_DECLS
