/* SPDX-License-Identifier: MIT */
/* See layertimes.h.  A node that autograd or batch norm appended is named after its layer:
 * "layer1.0.conv1.wgrad", "layer1.0.bn1.stats". */
#include "layertimes.h"
#include "median.h"
#include "op.h"
#include <string.h>

const char *
dyno_stage_name (DynoStage stage)
{
  return stage == DYNO_STAGE_FORWARD    ? "forward"
         : stage == DYNO_STAGE_BACKWARD ? "backward"
                                        : "optimizer";
}

gboolean
dyno_program_time_dispatches (DynoProgram *program, guint repeats, double *times_us,
                              GCancellable *cancellable, GError **error)
{
  guint n = dyno_lowering_get_dispatches (dyno_program_get_lowering (program))->len;
  g_autoptr (GArray) times = g_array_new (FALSE, TRUE, sizeof (double));
  g_autofree double *all = g_new0 (double, (gsize) MAX (n, 1) * repeats);

  for (guint r = 0; r < repeats; r++)
    {
      g_array_set_size (times, 0);
      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !dyno_program_profile (program, 0, times, error))
        return FALSE;
      for (guint i = 0; i < MIN (n, times->len); i++)
        all[(gsize) i * repeats + r] = g_array_index (times, double, i);
    }
  for (guint i = 0; i < n; i++)
    times_us[i] = dyno_median (all + (gsize) i * repeats, repeats);
  return TRUE;
}

guint64 *
dyno_dispatches_live_bytes (GPtrArray *dispatches)
{
  /* tensor -> 1 + the last dispatch that uses it; removed at the first dispatch that uses it */
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL);
  guint64 *live = g_new0 (guint64, dispatches->len + 1), now = 0;

  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *d = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < d->n_bindings; b++)
        if (d->bindings[b].tensor->space == DYNO_SPACE_ARENA)
          g_hash_table_insert (last, d->bindings[b].tensor, GUINT_TO_POINTER (i + 1));
    }
  g_autoptr (GHashTable) held = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *d = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < d->n_bindings; b++)
        if (d->bindings[b].tensor->space == DYNO_SPACE_ARENA
            && g_hash_table_add (held, d->bindings[b].tensor))
          now += d->bindings[b].tensor->size_bytes;
      live[i] = now;
      for (guint b = 0; b < d->n_bindings; b++)
        if (GPOINTER_TO_UINT (g_hash_table_lookup (last, d->bindings[b].tensor)) == i + 1)
          {
            g_hash_table_remove (last, d->bindings[b].tensor);
            now -= d->bindings[b].tensor->size_bytes;
          }
    }
  return live;
}

/* Forward nodes by name. */
static GHashTable *
find_layers (DynoGraph *graph)
{
  GHashTable *layers = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (nodes, i);
      if (node->stage == DYNO_STAGE_FORWARD)
        g_hash_table_insert (layers, (gpointer) node->name, node);
    }
  return layers;
}

/* TRUE: the name is that of a batch norm's additional forward node, which appends a suffix to the
 * batch norm's name. */
static gboolean
is_part (const char *name)
{
  return g_str_has_suffix (name, ".stats") || g_str_has_suffix (name, ".table");
}

/* The layer that a node belongs to: the node's name where a layer has it, else the longest prefix
 * of the name, up to a dot, that is a layer's name; the node's name where there is no such prefix,
 * as for the optimizer.  g_free. */
static char *
find_owner (GHashTable *layers, const char *name)
{
  g_autofree char *begin = g_strdup (name);
  char *point;

  if (g_hash_table_contains (layers, name) && !is_part (name))
    return g_steal_pointer (&begin);
  while ((point = strrchr (begin, '.')))
    {
      *point = '\0';
      if (g_hash_table_contains (layers, begin))
        return g_steal_pointer (&begin);
    }
  return g_strdup (name);
}

static void
layer_clear (gpointer data)
{
  g_free (((DynoLayerTimes *) data)->name);
}

GArray *
dyno_layer_times_list (DynoLowering *lowering, const double *times_us, guint *layer_of)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
  g_autoptr (GHashTable) layers = find_layers (dyno_lowering_get_graph (lowering));
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint64 *live = dyno_dispatches_live_bytes (dispatches);
  GArray *list = g_array_new (FALSE, TRUE, sizeof (DynoLayerTimes));

  g_array_set_clear_func (list, layer_clear);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *d = g_ptr_array_index (dispatches, i);
      g_autofree char *name = find_owner (layers, d->node->name);
      guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, name));

      if (place == 0)
        {
          const DynoNode *node = g_hash_table_lookup (layers, name);
          DynoLayerTimes layer = { .name = g_strdup (name),
                                   .kind = node ? node->op->name : d->node->op->name };
          g_array_append_val (list, layer);
          place = list->len;
          g_hash_table_insert (places, g_strdup (name), GUINT_TO_POINTER (place));
        }
      DynoLayerTimes *layer = &g_array_index (list, DynoLayerTimes, place - 1);
      layer->us[d->stage] += times_us[i];
      layer->flops += d->flops;
      layer->bytes += d->bytes;
      layer->live_bytes = MAX (layer->live_bytes, live[i]);
      layer->dispatches++;
      if (layer_of)
        layer_of[i] = place - 1;
    }
  return list;
}
