/* SPDX-License-Identifier: MIT */
/* The definition of DynoGraph, for the files of the nn layer that build and rewrite it. */
#pragma once
#include "metric.h"
#include "schema.h"

G_BEGIN_DECLS

/* A gradient that autograd.c still has to add to another gradient. */
typedef struct {
  DynoTensor *source, *target;
} DynoPendingSum;

struct _DynoGraph {
  DynoGraphParams params;
  GError *error;
  GPtrArray *nodes, *tensors, *parameters;
  char **freeze; /* the frozen prefixes; NULL: none */
  DynoStage stage;
  guint64 parameter_elements; /* of MASTER and HALF */
  guint64 trained_elements;   /* of GRADIENT and MOMENTs, which hold no frozen parameters */
  guint64 state_elements;
  guint64 head_start, undecayed_start, undecayed_end; /* see place_kinds */
  const DynoParameter *head; /* the first parameter of the head; NULL: no head */
  guint n_layers;            /* see layerrates.h; 0 before the parameters are placed */
  gboolean sealed;           /* the flat tensors exist: no parameter can be added */
  DynoTensor *step_input, *step_output, *scaler;
  DynoTensor *flat[DYNO_SPACE_N];
  DynoTensor *kept_states; /* NULL: STATE holds only the running statistics */

  GByteArray *constants; /* the contents of the space CONSTANT */

  guint cursor; /* index of the forward node whose backward is being appended; G_MAXUINT before */
  GHashTable *node_index; /* forward DynoNode* -> 1 + its place, while backward runs */
  /* gradient DynoTensor* -> GPtrArray of the tensors whose gradient it is */
  GHashTable *gradient_shares;
  GArray *pending; /* DynoPendingSum */

  /* network.c */
  DynoBatchSchema schema;
  DynoTensor *inputs[DYNO_SCHEMA_MAX_FIELDS]; /* of the schema's fields; NULL: not read */
  DynoTensor *logits, *result, *watched;      /* see dyno_network_get_result, _get_watched */
  DynoHead head_layer; /* the layer that computes the logits; weight NULL: none */
  /* mean and deviation of the targets, after the scaler; NULL: targets are not standardised */
  DynoTensor *standard;
  DynoTensor *class_weights; /* of cross entropy, also after the scaler; NULL: all are 1 */
  float *target_scale;       /* host copy of `standard` */
  /* DynoRateRange[] of the flat memory, after the other tensors of the scaler, and its values;
   * NULL: all parameters have the learning rate of the step */
  DynoTensor *rates;
  GArray *rate_ranges;
  DynoMetricInfo *metrics; /* of the loss; NULL: none yet */
  guint n_metrics;
  GPtrArray *notes; /* char *, about a network that was read from a file */
  DynoMix mix;      /* applied by the preparation of the input */
};

/* A tensor for the lowering, which the graph does not list.  Free with dyno_tensor_free. */
DynoTensor *dyno_tensor_new (DynoGraph *graph, const char *name, DynoDtype dtype, DynoSpace space,
                             guint32 n, guint32 h, guint32 w, guint32 c, guint32 cp);
void dyno_tensor_free (DynoTensor *tensor);

/* The number of elements of a flat space (MASTER, HALF, GRADIENT, a MOMENT, AVERAGE; STATE: the
 * running statistics), and the element at which a parameter begins in it.  FALSE: the parameter
 * does not lie in that space. */
guint64 dyno_graph_count_elements (const DynoGraph *graph, DynoSpace space);
gboolean dyno_graph_find_parameter (const DynoGraph *graph, const DynoParameter *parameter,
                                    DynoSpace space, guint64 *first);

/* Sets the layer of each parameter (layerrates.h). */
void dyno_graph_group_layers (DynoGraph *graph);

/* Copies a flat space into one array for each parameter that lies in it, in torchvision's
 * layout. */
void dyno_graph_unpack (const DynoGraph *graph, DynoSpace space, const float *flat,
                        float *const *values);

const char *dyno_space_name (DynoSpace space);

G_END_DECLS
