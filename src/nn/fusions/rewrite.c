/* SPDX-License-Identifier: MIT */
/* See rewrite.h.  A graph has few nodes, so every query is a linear search. */
#include "rewrite.h"
#include "graph-private.h"

static gboolean
reads (const DynoNode *node, const DynoTensor *tensor)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] == tensor)
      return TRUE;
  return FALSE;
}

static gboolean
writes (const DynoNode *node, const DynoTensor *tensor)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] == tensor)
      return TRUE;
  return FALSE;
}

static guint
find_place (DynoGraph *graph, const DynoNode *node)
{
  guint place = 0;
  g_return_val_if_fail (g_ptr_array_find (graph->nodes, node, &place), 0);
  return place;
}

DynoNode *
dyno_rewrite_only_reader (DynoGraph *graph, const DynoTensor *tensor)
{
  DynoNode *reader = NULL;
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, i);
      for (guint k = 0; k < node->n_inputs; k++)
        {
          if (node->inputs[k] != tensor)
            continue;
          if (reader)
            return NULL;
          reader = node;
        }
    }
  return tensor->keep ? NULL : reader;
}

DynoNode *
dyno_rewrite_only_producer (DynoGraph *graph, const DynoTensor *tensor, const DynoNode *reader)
{
  DynoNode *node = tensor ? tensor->producer : NULL;
  return node && node->outputs[0] == tensor && dyno_rewrite_only_reader (graph, tensor) == reader
             ? node
             : NULL;
}

DynoNode *
dyno_rewrite_last_writer (DynoGraph *graph, const DynoTensor *tensor, const DynoNode *before)
{
  for (guint place = find_place (graph, before); place-- > 0;)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, place);
      if (writes (node, tensor))
        return node;
      if (reads (node, tensor))
        return NULL;
    }
  return NULL;
}

DynoNode *
dyno_rewrite_next_writer (DynoGraph *graph, const DynoTensor *tensor, const DynoNode *after)
{
  for (guint place = find_place (graph, after) + 1; place < graph->nodes->len; place++)
    {
      DynoNode *node = g_ptr_array_index (graph->nodes, place);
      if (reads (node, tensor))
        return NULL;
      if (writes (node, tensor))
        return node;
    }
  return NULL;
}

void
dyno_rewrite_take_over (DynoGraph *graph, DynoNode *node, DynoNode *last)
{
  DynoTensor *gone = node->outputs[0];
  gone->producer = NULL;
  gone->needs_gradient = FALSE;
  node->outputs[0] = last->outputs[0];
  node->outputs[0]->producer = node;
  guint from = find_place (graph, node), to = find_place (graph, last);
  for (guint i = from; i < to; i++)
    graph->nodes->pdata[i] = graph->nodes->pdata[i + 1];
  graph->nodes->pdata[to] = node; /* the shift has moved `last` to to - 1 */
  g_ptr_array_remove_index (graph->nodes, to - 1);
}

void
dyno_rewrite_remove (DynoGraph *graph, DynoNode *node)
{
  node->outputs[0]->producer = NULL;
  g_ptr_array_remove_index (graph->nodes, find_place (graph, node));
}
