/* SPDX-License-Identifier: MIT */
/* A graph as text: one node per line with its stage, op, attributes and the shapes of its inputs
 * and outputs. */
#include "graph-private.h"
#include "op.h"
#include <string.h>

const char *
dyno_dtype_name (DynoDtype dtype)
{
  static const char *const names[] = { "f32", "f16", "u8", "i32" };
  return names[dtype];
}

const char *
dyno_space_name (DynoSpace space)
{
  static const char *const names[DYNO_SPACE_N] = { "master",  "half",  "gradient", "moment1",
                                                   "moment2", "state", "average",  "scaler",
                                                   "arena",   "input", "step_in",  "step_out",
                                                   "constant" };
  return names[space];
}

static void
append_tensors (GString *text, DynoTensor *const *tensors, guint n_tensors)
{
  for (guint i = 0; i < n_tensors; i++)
    if (tensors[i])
      g_string_append_printf (text, " %s(%u,%u,%u,%u %s)", tensors[i]->name, tensors[i]->n,
                              tensors[i]->h, tensors[i]->w, tensors[i]->c,
                              dyno_dtype_name (tensors[i]->dtype));
}

static double
attribute_value (const DynoNode *node, const DynoAttribute *attribute)
{
  const guint8 *at = (const guint8 *) node->attributes + attribute->offset;
  double wide;
  float real;
  guint32 whole;
  gint64 integer;
  switch (attribute->type)
    {
    case DYNO_ATTRIBUTE_DOUBLE:
      memcpy (&wide, at, sizeof wide);
      return wide;
    case DYNO_ATTRIBUTE_FLOAT:
      memcpy (&real, at, sizeof real);
      return (double) real;
    case DYNO_ATTRIBUTE_INT:
      memcpy (&integer, at, sizeof integer);
      return (double) integer;
    case DYNO_ATTRIBUTE_UINT:
    case DYNO_ATTRIBUTE_BOOL:
    default:
      memcpy (&whole, at, sizeof whole);
      return (double) whole;
    }
}

gboolean
dyno_node_get_attribute (const DynoNode *node, const char *name, double *value)
{
  for (guint i = 0; i < node->op->n_attributes; i++)
    if (g_str_equal (node->op->attributes[i].name, name))
      {
        *value = attribute_value (node, &node->op->attributes[i]);
        return TRUE;
      }
  return FALSE;
}

char *
dyno_node_print_attributes (const DynoNode *node)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < node->op->n_attributes; i++)
    {
      const DynoAttribute *attribute = &node->op->attributes[i];
      double value = attribute_value (node, attribute);
      if (value == 0)
        continue;
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", attribute->name);
      if (attribute->type != DYNO_ATTRIBUTE_BOOL)
        {
          char number[G_ASCII_DTOSTR_BUF_SIZE];
          g_string_append_printf (text, "=%s",
                                  g_ascii_formatd (number, sizeof number, "%g", value));
        }
    }
  return g_string_free (text, FALSE);
}

char *
dyno_graph_print (DynoGraph *graph)
{
  static const char *const stages[] = { "forward", "backward", "optimizer" };
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const DynoNode *node = g_ptr_array_index (graph->nodes, i);
      g_autofree char *attributes = dyno_node_print_attributes (node);
      g_string_append_printf (text, "%4u %-9s %-28s %-20s %s:", i, stages[node->stage], node->name,
                              node->op->name, attributes);
      append_tensors (text, node->inputs, node->n_inputs);
      g_string_append (text, " ->");
      append_tensors (text, node->outputs, node->n_outputs);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}
