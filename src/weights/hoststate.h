/* SPDX-License-Identifier: MIT */
/* The state of a run in host memory: what a checkpoint and a weights file hold.  Private to the
 * layers up to train. */
#pragma once
#include "snapshot.h"
#include "weightsfile.h"

G_BEGIN_DECLS

typedef struct {
  DynoGraph *graph; /* whose parameters these are; outlives the state */
  DynoWeights *model;
  DynoWeights *average; /* NULL: the graph has no moving averages; those of frozen ones are equal */
  DynoWeights *moment1, *moment2; /* NULL: not read, or the optimizer has none */
  struct DynoScalerState scaler;
} DynoState;

typedef enum {
  DYNO_STATE_MODEL, /* weights and running statistics: what a weights file holds */
  DYNO_STATE_WHOLE, /* all that a checkpoint holds */
} DynoStateParts;

/* From a snapshot (any one thread), or, where that is NULL, from the program's memory, which waits
 * for all that is in flight.  Errors: those of reading, OUT_OF_HOST_MEMORY. */
DynoState *dyno_state_read (DynoProgram *program, DynoSnapshot *snapshot, DynoStateParts parts,
                            GError **error);
/* The values to be saved as the weights: the averages, where there are some.  The state owns
 * them. */
DynoWeights **dyno_state_get_weights (DynoState *state);
void dyno_state_free (DynoState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoState, dyno_state_free)

G_END_DECLS
