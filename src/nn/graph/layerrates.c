/* SPDX-License-Identifier: MIT */
/* See layerrates.h.  The layers follow from the names, in two passes: a layer begins at the first
 * parameter of a block or module in which any parameter is a matrix, which may be a later one. */
#include "layerrates.h"
#include "checked.h"
#include "graph-private.h"
#include "optimizer-push.h"
#include "plan-private.h"
#include <math.h>
#include <string.h>

/* A block, or a module outside of blocks. */
typedef struct {
  gboolean has_matrix, is_head;
  int layer; /* -1: it has not begun */
} Unit;

/* The length of the path of the parameter's module; of the whole name where the name has no
 * module. */
static gsize
module_length (const char *name)
{
  const char *dot = strrchr (name, '.');

  return dot ? (gsize) (dot - name) : strlen (name);
}

/* The paths of all modules that have modules below them. */
static GHashTable *
list_parents (const DynoGraph *graph)
{
  GHashTable *parents = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      gsize length = module_length (parameter->name);

      for (gsize end = 1; end < length; end++)
        if (parameter->name[end] == '.')
          g_hash_table_add (parents, g_strndup (parameter->name, end));
    }
  return parents;
}

/* The path of the parameter's block, or of its module outside of blocks; g_free. */
static char *
find_unit (GHashTable *parents, const char *name)
{
  gsize length = module_length (name), block = 0;

  for (gsize end = 1; end < length; end++)
    if (name[end] == '.')
      {
        g_autofree char *path = g_strndup (name, end);
        gboolean numbered =
            g_ascii_isdigit (name[end - 1]) && g_hash_table_contains (parents, path);

        if (!numbered && block > 0)
          break;
        block = numbered ? end : 0;
      }
  /* The module itself may hold parameters of a block, as a layer scale. */
  if (length < strlen (name) && g_ascii_isdigit (name[length - 1]))
    {
      g_autofree char *path = g_strndup (name, length);

      if (g_hash_table_contains (parents, path)
          && (block == 0 || !memchr (name + block + 1, '.', length - block - 1)))
        block = length;
    }
  return g_strndup (name, block > 0 ? block : length);
}

static gboolean
is_matrix (const DynoParameter *parameter)
{
  return !parameter->is_state && !parameter->layout.is_vector;
}

void
dyno_graph_group_layers (DynoGraph *graph)
{
  g_autoptr (GHashTable) parents = list_parents (graph);
  g_autoptr (GHashTable) units = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autofree Unit **of = g_new (Unit *, graph->parameters->len);
  guint n = 0;

  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      char *path = find_unit (parents, parameter->name);

      of[i] = g_hash_table_lookup (units, path);
      if (!of[i])
        {
          of[i] = g_new0 (Unit, 1);
          of[i]->layer = -1;
          g_hash_table_insert (units, g_steal_pointer (&path), of[i]);
        }
      g_free (path);
      of[i]->has_matrix |= is_matrix (parameter);
      of[i]->is_head |= graph->head && i >= graph->head->index;
    }
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);

      if (of[i]->layer < 0 && of[i]->has_matrix && !of[i]->is_head)
        of[i]->layer = (int) n++;
      parameter->layer = of[i]->layer >= 0 ? (guint) of[i]->layer : MAX (n, 1) - 1;
    }
  for (guint i = 0; i < graph->parameters->len; i++)
    if (of[i]->is_head)
      ((DynoParameter *) g_ptr_array_index (graph->parameters, i))->layer = n;
  graph->n_layers = n + (graph->head ? 1 : 0);
}

double
dyno_graph_get_lr_factor (const DynoGraph *graph, const DynoParameter *parameter)
{
  const DynoGraphParams *params = &graph->params;
  double factor = 1;

  if (parameter->is_state)
    return 1;
  if (params->layer_decay > 0 && graph->n_layers > 0)
    factor = pow (params->layer_decay, graph->n_layers - 1 - parameter->layer);
  if (params->head_lr_factor > 0 && graph->head && parameter->index >= graph->head->index)
    factor *= params->head_lr_factor;
  return factor;
}

guint
dyno_graph_get_n_layers (const DynoGraph *graph)
{
  return graph->n_layers;
}

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const DynoParameter *const *p = a, *const *q = b;

  return (*p)->element_offset < (*q)->element_offset ? -1 : 1;
}

/* The trained parameters, in the order of the flat memory. */
static GPtrArray *
list_trained (const DynoGraph *graph)
{
  GPtrArray *trained = g_ptr_array_new ();

  for (guint i = 0; i < graph->parameters->len; i++)
    {
      DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);

      if (!parameter->is_state && !parameter->is_frozen)
        g_ptr_array_add (trained, parameter);
    }
  g_ptr_array_sort (trained, compare_places);
  return trained;
}

/* Parameters that follow each other with the same factor make one range. */
static GArray *
list_ranges (const DynoGraph *graph)
{
  g_autoptr (GPtrArray) trained = list_trained (graph);
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (DynoRateRange));

  for (guint i = 0; i < trained->len; i++)
    {
      float factor = (float) dyno_graph_get_lr_factor (graph, g_ptr_array_index (trained, i));
      guint64 end = i + 1 < trained->len
                        ? ((DynoParameter *) g_ptr_array_index (trained, i + 1))->element_offset
                        : graph->trained_elements;
      DynoRateRange range = { (guint32) (end / 8), factor }, *last;

      last = ranges->len > 0 ? &g_array_index (ranges, DynoRateRange, ranges->len - 1) : NULL;
      if (last && last->factor == factor)
        last->end = range.end;
      else
        g_array_append_val (ranges, range);
    }
  return ranges;
}

DynoTensor *
dyno_graph_make_rates (DynoGraph *graph)
{
  g_autoptr (GArray) ranges = list_ranges (graph);
  const DynoTensor *before = graph->standard ? graph->standard : graph->class_weights;
  guint32 words = ranges->len * (guint32) (sizeof (DynoRateRange) / 4);

  g_return_val_if_fail (!graph->rates, graph->rates);
  if (ranges->len == 0
      || (ranges->len == 1 && g_array_index (ranges, DynoRateRange, 0).factor == 1))
    return NULL;
  graph->rates = dyno_graph_tensor (graph, "lr_factors", DYNO_DTYPE_I32, DYNO_SPACE_SCALER, 1, 1, 1,
                                    words, words);
  if (!graph->rates)
    return NULL;
  graph->rates->offset =
      before ? dyno_align_up (before->offset + before->size_bytes, DYNO_TENSOR_ALIGNMENT)
             : DYNO_TENSOR_ALIGNMENT;
  graph->rate_ranges = g_steal_pointer (&ranges);
  return graph->rates;
}
