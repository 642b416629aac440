/* SPDX-License-Identifier: MIT */
/* Fusions: rewrites of a graph that join two of its nodes, so that one kernel does the work of
 * both.
 *
 * Each is one file of this folder, which may include the private headers of the two ops that it
 * joins; no op knows another op or a fusion.
 *
 * Invariants: a fusion changes the set of nodes, but never their results except for rounding; a
 * tensor that it removes had only one reader in the forward pass.  `match` changes nothing.  Nodes
 * are tried in the order of the graph, so that equal graphs are rewritten equally. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_FUSION_FORWARD,  /* before dyno_graph_backward: joins forward nodes */
  DYNO_FUSION_BACKWARD, /* after dyno_graph_backward */
} DynoFusionStage;

typedef struct {
  const char *name; /* "norm-load" */
  DynoFusionStage stage;
  /* TRUE: the rewrite can be made at this node; *other is then the node with which this node is
   * joined. */
  gboolean (*match) (DynoGraph *graph, DynoNode *node, DynoNode **other);
  /* Makes the rewrite.  May fail the graph. */
  void (*apply) (DynoGraph *graph, DynoNode *node, DynoNode *other);
} DynoFusion;

/* All fusions, in the order in which they are applied in their stage. */
extern const DynoFusion dyno_fusion_column_sums;     /* conv2d -> batch_norm_stats */
extern const DynoFusion dyno_fusion_norm_sum;        /* batch_norm -> add */
extern const DynoFusion dyno_fusion_norm_activation; /* batch_norm -> activation */
extern const DynoFusion dyno_fusion_norm_pool;       /* batch_norm -> max_pool */
extern const DynoFusion dyno_fusion_running_norm;    /* conv2d -> batch_norm, not in training */

extern const DynoFusion dyno_fusion_sparse_gradient; /* conv2d.dgrad -> conv2d.dgrad */
extern const DynoFusion dyno_fusion_gradient_sums;   /* conv2d.dgrad -> batch_norm_backward */
extern const DynoFusion dyno_fusion_norm_load;       /* batch_norm -> its readers */
extern const DynoFusion dyno_fusion_gradient_pair;   /* two batch_norm_backward nodes */

/* The same as a list; NULL-terminated. */
const DynoFusion *const *dyno_fusion_list (void);

/* Makes the rewrite wherever it can be made; returns the number of rewrites. */
guint dyno_fusion_apply (const DynoFusion *fusion, DynoGraph *graph);
/* Applies all fusions of a stage. */
void dyno_fusion_apply_stage (DynoFusionStage stage, DynoGraph *graph);

G_END_DECLS
