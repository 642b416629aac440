/* SPDX-License-Identifier: MIT */
/* See summary.h. */
#include "summary.h"
#include "layerrates.h"
#include "network.h"
#include "op.h"

static guint64
count_values (const DynoTensor *tensor)
{
  return (guint64) tensor->n * tensor->h * tensor->w * tensor->c;
}

static DynoLayer
describe (const DynoGraph *graph, const DynoNode *node)
{
  const DynoTensor *output = node->outputs[0];
  guint64 values = count_values (output);
  DynoLayer layer = { .name = node->name,
                      .kind = node->op->name,
                      .n = output->n,
                      .h = output->h,
                      .w = output->w,
                      .c = output->c,
                      .output_bytes = output->size_bytes };
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const DynoTensor *input = node->inputs[i];
      const DynoParameter *parameter = input ? input->parameter : NULL;
      if (!input)
        continue;
      if (!parameter)
        values = MAX (values, count_values (input));
      else if (parameter->is_state)
        layer.states += dyno_parameter_count (parameter);
      else
        {
          layer.parameters += dyno_parameter_count (parameter);
          layer.lr_factor = dyno_graph_get_lr_factor (graph, parameter);
        }
    }
  layer.flops = node->op->flops ? node->op->flops (node) : values;
  return layer;
}

GArray *
dyno_network_list_layers (DynoGraph *graph)
{
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  GArray *layers = g_array_new (FALSE, FALSE, sizeof (DynoLayer));
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (nodes, i);
      if (node->stage != DYNO_STAGE_FORWARD || node->n_outputs == 0 || !node->outputs[0])
        continue;
      const DynoLayer layer = describe (graph, node);
      g_array_append_val (layers, layer);
    }
  return layers;
}
