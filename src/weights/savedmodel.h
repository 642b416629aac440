/* SPDX-License-Identifier: MIT */
/* A weights file as a model, without a device: the graph as its builder made it, without fusion,
 * for one sample, and the values of its parameters.  Exporters of models use it. */
#pragma once
#include "weightsinfo.h"

G_BEGIN_DECLS

typedef struct {
  DynoWeightsInfo *info; /* with input and outputs */
  DynoGraph *graph;      /* mode predict */
  DynoTensor *logits;
  /* for each of the graph's parameters, in its order: float32 in torchvision's layout */
  float *const *values;
  gpointer weights; /* memory of the values; private */
} DynoSavedModel;

/* Notes (char *) name the parts of the file that are not used.  Errors: CHECKPOINT: the file does
 * not name its model, input or outputs, or does not fit; those of dyno_network_build. */
DynoSavedModel *dyno_saved_model_open (const char *path, GPtrArray *notes, GError **error);
void dyno_saved_model_free (DynoSavedModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSavedModel, dyno_saved_model_free)

/* The values of the parameter to which a tensor of the graph, an input of a node, belongs; NULL:
 * the tensor belongs to none, or is NULL. */
const float *dyno_saved_model_get (const DynoSavedModel *model, const DynoTensor *tensor,
                                   const DynoParameter **parameter);

G_END_DECLS
