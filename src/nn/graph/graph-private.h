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
  char **freeze; /* prefixes; NULL: none */
  DynoStage stage;
  guint64 parameter_elements; /* of MASTER and HALF */
  guint64 trained_elements;   /* of GRADIENT and MOMENTs: those before the frozen ones */
  guint64 state_elements;
  const DynoParameter *head; /* the first of it; NULL: none */
  gboolean sealed;           /* the flat tensors exist: no more parameters */
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
  DynoTensor *class_weights; /* in the same place, of cross entropy; NULL: all 1 */
  float *target_scale;       /* what that holds */
  DynoMetricInfo *metrics;   /* of the loss; NULL: none yet */
  guint n_metrics;
  DynoMix mix; /* of the batch that the input is prepared from */
};

/* A tensor that the graph does not list: for the lowering.  Free with dyno_tensor_free. */
DynoTensor *dyno_tensor_new (DynoGraph *graph, const char *name, DynoDtype dtype, DynoSpace space,
                             guint32 n, guint32 h, guint32 w, guint32 c, guint32 cp);
void dyno_tensor_free (DynoTensor *tensor);

/* Of a flat space (MASTER, HALF, GRADIENT, a MOMENT, AVERAGE; STATE: the running statistics), its
 * elements; and where in it a parameter begins.  FALSE: it does not lie there. */
guint64 dyno_graph_count_elements (const DynoGraph *graph, DynoSpace space);
gboolean dyno_graph_find_parameter (const DynoGraph *graph, const DynoParameter *parameter,
                                    DynoSpace space, guint64 *first);

/* A flat space into an array for each parameter that lies in it, in torchvision's layout. */
void dyno_graph_unpack (const DynoGraph *graph, DynoSpace space, const float *flat,
                        float *const *values);

const char *dyno_space_name (DynoSpace space);

G_END_DECLS
