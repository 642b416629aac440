/* SPDX-License-Identifier: MIT */
/* Lowering: calls the ops' `lower` for all nodes and keeps the dispatches that they append.
 *
 * Invariants: dispatches are in node order, except for the ones that rematerialise.c and reorder.c
 * move in the backward pass; the dispatches that an op appends for one node are contiguous in the
 * list.  A mistake of an op (groups past the limits, too many bindings) fails the graph, so that
 * the error occurs in the build and not in a run. */
#include "lowering-private.h"
#include "graph-private.h"
#include <stdio.h>

static void
choice_point_free (gpointer data)
{
  DynoChoicePoint *point = data;
  g_free (point->key);
  g_free (point->variants);
  g_free (point);
}

void
dyno_lowering_node (DynoLowering *lowering, DynoNode *node)
{
  lowering->stage = lowering->rematerialising ? DYNO_STAGE_BACKWARD : node->stage;
  lowering->choice = 0;
  node->op->lower (lowering, node);
}

static DynoLowering *
lowering_make (DynoGraph *graph, DynoNode *node, const DynoDeviceInfo *info, DynoChoices *choices,
               gboolean in_order, GError **error)
{
  if (!dyno_graph_check (graph, error))
    return NULL;
  g_autoptr (DynoLowering) lowering = g_new0 (DynoLowering, 1);
  lowering->graph = graph;
  lowering->info = *info;
  lowering->choices = choices;
  lowering->node = node;
  lowering->dispatches = g_ptr_array_new_with_free_func (g_free);
  lowering->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_tensor_free);
  lowering->choice_points = g_ptr_array_new_with_free_func (choice_point_free);
  lowering->column_sums = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  const char *why = dyno_precision_unusable (&graph->params.precision, info);
  if (why)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_UNSUPPORTED, "%s has %s", info->name, why);
      dyno_graph_check (graph, error);
      return NULL;
    }
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  if (node)
    dyno_lowering_node (lowering, node);
  else
    for (guint i = 0; i < nodes->len && !graph->error; i++)
      dyno_lowering_node (lowering, g_ptr_array_index (nodes, i));
  if (!node && graph->params.training && !graph->error)
    dyno_lowering_rematerialise (lowering);
  if (!node && graph->params.training && !in_order && !graph->error)
    {
      dyno_lowering_reorder (lowering, FALSE);
      dyno_lowering_overlap (lowering);
    }
  if (!dyno_graph_check (graph, error))
    return NULL;
  return g_steal_pointer (&lowering);
}

DynoLowering *
dyno_lowering_new (DynoGraph *graph, const DynoDeviceInfo *info, DynoChoices *choices,
                   GError **error)
{
  return lowering_make (graph, NULL, info, choices, FALSE, error);
}

DynoLowering *
dyno_lowering_new_in_order (DynoGraph *graph, const DynoDeviceInfo *info, DynoChoices *choices,
                            GError **error)
{
  return lowering_make (graph, NULL, info, choices, TRUE, error);
}

DynoLowering *
dyno_lowering_new_node (DynoGraph *graph, DynoNode *node, const DynoDeviceInfo *info,
                        DynoChoices *choices, GError **error)
{
  return lowering_make (graph, node, info, choices, FALSE, error);
}

void
dyno_lowering_free (DynoLowering *lowering)
{
  if (!lowering)
    return;
  g_ptr_array_unref (lowering->dispatches);
  g_ptr_array_unref (lowering->tensors);
  g_ptr_array_unref (lowering->choice_points);
  g_hash_table_unref (lowering->column_sums);
  g_free (lowering);
}

DynoGraph *
dyno_lowering_get_graph (DynoLowering *lowering)
{
  return lowering->graph;
}

GPtrArray *
dyno_lowering_get_dispatches (DynoLowering *lowering)
{
  return lowering->dispatches;
}

GPtrArray *
dyno_lowering_get_choice_points (DynoLowering *lowering)
{
  return lowering->choice_points;
}

const DynoDeviceInfo *
dyno_lowering_get_info (DynoLowering *lowering)
{
  return &lowering->info;
}

gboolean
dyno_lowering_is_rematerialising (DynoLowering *lowering)
{
  return lowering->rematerialising;
}

DynoTensor *
dyno_lowering_get_rematerialised (DynoLowering *lowering)
{
  return lowering->rematerialised;
}

DynoDispatch *
dyno_lowering_dispatch (DynoLowering *lowering, DynoNode *node, const char *pass,
                        const DynoKernelSpec *spec, guint32 groups_x, guint32 groups_y,
                        guint32 groups_z)
{
  const DynoDeviceInfo *info = &lowering->info;
  guint64 invocations = (guint64) MAX (spec->local_size[0], 1) * MAX (spec->local_size[1], 1)
                        * MAX (spec->local_size[2], 1);
  if (groups_x == 0 || groups_y == 0 || groups_z == 0 || groups_x > info->max_groups_x
      || groups_y > 65535 || groups_z > 65535)
    dyno_graph_fail (lowering->graph, DYNO_NN_ERROR_UNSUPPORTED,
                     "%s %s: %u x %u x %u workgroups are more than %s takes", node->name, pass,
                     groups_x, groups_y, groups_z, info->name);
  if (invocations > info->max_invocations)
    dyno_graph_fail (lowering->graph, DYNO_NN_ERROR_UNSUPPORTED,
                     "%s %s: a workgroup of %" G_GUINT64_FORMAT " is more than %s takes",
                     node->name, pass, invocations, info->name);
  if (spec->push_bytes > DYNO_PUSH_MAX_BYTES || spec->push_bytes % 4)
    dyno_graph_fail (lowering->graph, DYNO_NN_ERROR_UNSUPPORTED,
                     "%s %s: %u bytes of push constants", node->name, pass, spec->push_bytes);
  if (spec->macros_cut)
    dyno_graph_fail (lowering->graph, DYNO_NN_ERROR_UNSUPPORTED,
                     "%s %s: the macros of %s do not fit: %s", node->name, pass, spec->shader,
                     spec->macros);
  DynoDispatch *dispatch = g_new0 (DynoDispatch, 1);
  dispatch->node = node;
  dispatch->pass = pass;
  dispatch->stage = lowering->stage;
  dispatch->spec = *spec;
  dispatch->groups[0] = groups_x;
  dispatch->groups[1] = groups_y;
  dispatch->groups[2] = groups_z;
  dispatch->choice = lowering->choice;
  dispatch->is_variant = lowering->choice > 0 && !lowering->chosen;
  lowering->chosen = TRUE;
  g_ptr_array_add (lowering->dispatches, dispatch);
  return dispatch;
}

void
dyno_dispatch_bind (DynoDispatch *dispatch, guint16 push_offset, DynoTensor *tensor,
                    DynoAccess access)
{
  dyno_dispatch_bind_at (dispatch, push_offset, tensor, 0, access);
}

void
dyno_dispatch_bind_at (DynoDispatch *dispatch, guint16 push_offset, DynoTensor *tensor,
                       guint64 byte_offset, DynoAccess access)
{
  g_return_if_fail (tensor);
  g_return_if_fail (dispatch->n_bindings < DYNO_DISPATCH_MAX_BINDINGS);
  g_return_if_fail (push_offset == G_MAXUINT16 || push_offset + 8u <= dispatch->spec.push_bytes);
  g_return_if_fail (byte_offset < tensor->size_bytes);
  dispatch->bindings[dispatch->n_bindings++] = (DynoBinding){
    .tensor = tensor, .access = access, .push_offset = push_offset, .byte_offset = byte_offset
  };
}

void
dyno_dispatch_push (DynoDispatch *dispatch, guint16 push_offset, gconstpointer value,
                    gsize size_bytes)
{
  g_return_if_fail (push_offset + size_bytes <= dispatch->spec.push_bytes);
  memcpy (dispatch->push + push_offset, value, size_bytes);
}

DynoTensor *
dyno_lowering_workspace (DynoLowering *lowering, const char *name, guint64 size_bytes)
{
  guint64 words = size_bytes / 4 + (size_bytes % 4 != 0);
  if (words > G_MAXUINT32)
    return dyno_graph_fail (lowering->graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a workspace of %" G_GUINT64_FORMAT " bytes is too large", name,
                            size_bytes);
  guint32 count = (guint32) MAX (words, 1);
  DynoTensor *tensor = dyno_tensor_new (lowering->graph, name, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, 1,
                                        1, 1, count, count);
  if (!tensor)
    return NULL;
  tensor->id = dyno_graph_get_tensors (lowering->graph)->len + lowering->tensors->len;
  g_ptr_array_add (lowering->tensors, tensor);
  return tensor;
}

void
dyno_lowering_set_column_sums (DynoLowering *lowering, const DynoTensor *y,
                               const DynoColumnSums *sums)
{
  if (lowering->rematerialising) /* the readers of the sums have run already */
    return;
  DynoColumnSums *kept = g_new (DynoColumnSums, 1);
  *kept = *sums;
  g_hash_table_insert (lowering->column_sums, (gpointer) y, kept);
}

gboolean
dyno_lowering_get_column_sums (DynoLowering *lowering, const DynoTensor *y, DynoColumnSums *sums)
{
  const DynoColumnSums *kept = g_hash_table_lookup (lowering->column_sums, y);
  if (kept)
    *sums = *kept;
  return kept != NULL;
}

DynoTensor *
dyno_lowering_tensor_like (DynoLowering *lowering, const DynoTensor *tensor)
{
  g_autofree char *name = g_strconcat (tensor->name, ".rematerialised", NULL);
  DynoTensor *fresh = dyno_tensor_new (lowering->graph, name, tensor->dtype, tensor->space,
                                       tensor->n, tensor->h, tensor->w, tensor->c, tensor->cp);
  if (!fresh)
    return NULL;
  fresh->size_bytes = tensor->size_bytes;
  fresh->id = dyno_graph_get_tensors (lowering->graph)->len + lowering->tensors->len;
  g_ptr_array_add (lowering->tensors, fresh);
  return fresh;
}

static void
fail_choice (DynoLowering *lowering, const DynoNode *node, const char *key, const char *refused,
             const char *why)
{
  if (!why)
    dyno_graph_fail (lowering->graph, DYNO_NN_ERROR_UNSUPPORTED, "%s: no kernel for %s runs on %s",
                     node->name, key, lowering->info.name);
  else
    dyno_graph_fail (lowering->graph, DYNO_NN_ERROR_KERNEL,
                     "%s: no kernel for %s is left on %s; the likeliest, %s, is refused: %s",
                     node->name, key, lowering->info.name, refused, why);
}

guint
dyno_lowering_choose (DynoLowering *lowering, DynoNode *node, const char *key,
                      const DynoVariant *variants, guint n_variants)
{
  DynoChoicePoint *point = g_new0 (DynoChoicePoint, 1);
  DynoVariant wanted;
  gboolean known = lowering->choices && dyno_choices_get (lowering->choices, key, &wanted);
  g_autofree char *first_why = NULL;
  char refused[DYNO_VARIANT_LABEL] = "";
  guint first = 0, chosen = n_variants;

  point->node = node;
  point->key = g_strdup (key);
  point->variants = g_new (DynoVariant, n_variants);
  for (guint i = 0; i < n_variants; i++)
    {
      g_autofree char *why = lowering->choices
                                 ? dyno_choices_get_refusal (lowering->choices, key, &variants[i])
                                 : NULL;
      if (why)
        {
          if (!first_why)
            {
              dyno_variant_print (&variants[i], refused);
              first_why = g_steal_pointer (&why);
            }
          continue;
        }
      if (point->n_variants == 0)
        first = i;
      if (known && chosen == n_variants && dyno_variant_equal (&variants[i], &wanted))
        {
          chosen = i;
          point->chosen = point->n_variants;
        }
      point->variants[point->n_variants++] = variants[i];
    }
  g_ptr_array_add (lowering->choice_points, point);
  lowering->choice = lowering->choice_points->len;
  lowering->chosen = FALSE;
  if (point->n_variants == 0)
    {
      fail_choice (lowering, node, key, refused, first_why);
      return 0;
    }
  return chosen < n_variants ? chosen : first;
}

/* Spec building -------------------------------------------------------------------------------- */

void
dyno_kernel_spec_macro (DynoKernelSpec *spec, const char *format, ...)
{
  gsize used = strlen (spec->macros);
  if (used > 0 && used + 1 < sizeof spec->macros)
    spec->macros[used++] = ' ';
  va_list args;
  va_start (args, format);
  int length = vsnprintf (spec->macros + used, sizeof spec->macros - used, format, args);
  va_end (args);
  if (length < 0 || used + (gsize) length >= sizeof spec->macros)
    spec->macros_cut = TRUE;
}

void
dyno_kernel_spec_set (DynoKernelSpec *spec, guint constant_id, guint32 value)
{
  g_return_if_fail (constant_id < DYNO_KERNEL_MAX_CONSTANTS);
  spec->constants[constant_id] = value;
  spec->n_constants = MAX (spec->n_constants, constant_id + 1);
}

void
dyno_kernel_spec_set_float (DynoKernelSpec *spec, guint constant_id, float value)
{
  guint32 bits;
  memcpy (&bits, &value, sizeof bits);
  dyno_kernel_spec_set (spec, constant_id, bits);
}
