/* SPDX-License-Identifier: MIT */
/* A weights file as a model, without a device: the graph as its builder made it, nothing fused,
 * for one sample, and the values of its parameters.  Exporters of models begin with it. */
#pragma once
#include "weightsinfo.h"

G_BEGIN_DECLS

typedef struct {
  DynoWeightsInfo *info; /* with input and outputs */
  DynoGraph *graph;      /* mode predict */
  DynoTensor *logits;
  /* of each of the graph's parameters, in its order: float32 in torchvision's layout */
  float *const *values;
  gpointer weights; /* that values lie in; private */
} DynoSavedModel;

/* Notes (char *) name the parts of the file that are not used.  Errors: CHECKPOINT: the file
 * does not say its model, input or outputs, or does not fit; those of dyno_network_build. */
DynoSavedModel *dyno_saved_model_open (const char *path, GPtrArray *notes, GError **error);
void dyno_saved_model_free (DynoSavedModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSavedModel, dyno_saved_model_free)

/* The values of the parameter that a tensor of the graph belongs to, an input of a node; NULL: it
 * belongs to none, or is NULL. */
const float *dyno_saved_model_get (const DynoSavedModel *model, const DynoTensor *tensor,
                                   const DynoParameter **parameter);

G_END_DECLS
