/* SPDX-License-Identifier: MIT */
/* The inside of a graph, for the files of the nn layer that build and rewrite it. */
#pragma once
#include "metric.h"
#include "schema.h"

G_BEGIN_DECLS

/* Tensors whose gradient is the same memory, and what waits to be added (autograd.c). */
typedef struct {
  DynoTensor *source, *target;
} DynoPendingSum;

struct _DynoGraph {
  DynoGraphParams params;
  GError *error;
  GPtrArray *nodes, *tensors, *parameters;
  DynoStage stage;
  guint64 parameter_elements; /* of MASTER, HALF, GRADIENT, MOMENTs */
  guint64 state_elements;
  gboolean sealed; /* the flat tensors exist: no more parameters */
  DynoTensor *step_input, *step_output, *scaler;
  DynoTensor *flat[DYNO_SPACE_N];
  DynoTensor *kept_states; /* NULL: STATE holds the running statistics alone */

  guint cursor; /* the forward node whose backward is being appended; n_nodes before that */
  GHashTable *node_index; /* forward DynoNode* -> 1 + its place, while backward runs */
  /* gradient DynoTensor* -> GPtrArray of the tensors whose gradient it is */
  GHashTable *gradient_shares;
  GArray *pending; /* DynoPendingSum */

  /* network.c */
  DynoBatchSchema schema;
  DynoTensor *inputs[DYNO_SCHEMA_MAX_FIELDS]; /* of its fields; NULL: not read */
  DynoTensor *logits;
  /* mean and deviation of the targets, behind the scaler; NULL: they are as they are */
  DynoTensor *standard;
  float *target_scale;     /* what that holds */
  DynoMetricInfo *metrics; /* of the loss; NULL: none yet */
  guint n_metrics;
};

/* A tensor that the graph does not list: for the lowering.  Free with dyno_tensor_free. */
DynoTensor *dyno_tensor_new (DynoGraph *graph, const char *name, DynoDtype dtype, DynoSpace space,
                             guint32 n, guint32 h, guint32 w, guint32 c, guint32 cp);
void dyno_tensor_free (DynoTensor *tensor);

/* The flat space of the parameters (states: of the states) into an array for each, in torchvision's
 * layout. */
void dyno_graph_unpack (const DynoGraph *graph, gboolean states, const float *flat,
                        float *const *values);

const char *dyno_space_name (DynoSpace space);

G_END_DECLS
