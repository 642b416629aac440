/* SPDX-License-Identifier: MIT */
/* The table of the fusions, and the loop that applies one. */
#include "fusion.h"
#include "graph-private.h"

const DynoFusion *const *
dyno_fusion_list (void)
{
  /* clang-format off */
  static const DynoFusion *const fusions[] = {
    &dyno_fusion_column_sums,
    &dyno_fusion_norm_sum,
    &dyno_fusion_norm_activation,
    &dyno_fusion_norm_pool,
    &dyno_fusion_running_norm,
    &dyno_fusion_sparse_gradient,
    &dyno_fusion_gradient_sums,
    &dyno_fusion_norm_load,
    &dyno_fusion_gradient_pair,
    NULL,
  };
  /* clang-format on */
  return fusions;
}

guint
dyno_fusion_apply (const DynoFusion *fusion, DynoGraph *graph)
{
  guint applied = 0;
  for (guint i = 0; i < graph->nodes->len && !graph->error; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i), *other = NULL;
      guint n_nodes = graph->nodes->len;
      if (!fusion->match (graph, node, &other))
        continue;
      fusion->apply (graph, node, other);
      applied += !graph->error;
      i -= n_nodes - graph->nodes->len; /* the next node has moved there */
    }
  return applied;
}

void
dyno_fusion_apply_stage (DynoFusionStage stage, DynoGraph *graph)
{
  const DynoFusion *const *fusions = dyno_fusion_list ();
  for (guint i = 0; fusions[i]; i++)
    if (fusions[i]->stage == stage)
      dyno_fusion_apply (fusions[i], graph);
}
