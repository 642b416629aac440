/* SPDX-License-Identifier: MIT */
/* The hazard check: an independent check of the barriers, which shares no code with their
 * placement.
 *
 * For every dispatch it looks back at all dispatches up to the last barrier or submit split, and
 * compares the memory that their declared intervals cover.  The time is quadratic in the length of
 * a level; levels are short. */
#include "command-list.h"
#include "graph-private.h"

static gboolean
bindings_conflict (const DynoBinding *a, const DynoBinding *b)
{
  if (!((a->access | b->access) & DYNO_ACCESS_WRITE) || a->tensor->space != b->tensor->space)
    return FALSE;
  guint64 a_begin = a->tensor->offset + a->byte_offset,
          a_end = a->tensor->offset + a->tensor->size_bytes;
  guint64 b_begin = b->tensor->offset + b->byte_offset,
          b_end = b->tensor->offset + b->tensor->size_bytes;
  return MAX (a_begin, b_begin) < MIN (a_end, b_end);
}

static gboolean
dispatches_conflict (const DynoDispatch *a, const DynoDispatch *b, char **conflict)
{
  for (guint i = 0; i < a->n_bindings; i++)
    for (guint k = 0; k < b->n_bindings; k++)
      if (bindings_conflict (&a->bindings[i], &b->bindings[k]))
        {
          *conflict = g_strdup_printf (
              "%s %s and %s %s: %s and %s share bytes of space %s without a barrier between",
              a->node->name, a->pass, b->node->name, b->pass, a->bindings[i].tensor->name,
              b->bindings[k].tensor->name, dyno_space_name (a->bindings[i].tensor->space));
          return TRUE;
        }
  return FALSE;
}

gboolean
dyno_command_list_check (GArray *list, GPtrArray *dispatches, char **conflict)
{
  *conflict = NULL;
  for (guint i = 0; i < list->len; i++)
    {
      DynoCommandListItem item = g_array_index (list, DynoCommandListItem, i);
      if (item.kind != DYNO_COMMAND_LIST_DISPATCH)
        continue;
      const DynoDispatch *late = g_ptr_array_index (dispatches, item.index);
      for (guint k = i; k-- > 0;)
        {
          DynoCommandListItem other = g_array_index (list, DynoCommandListItem, k);
          if (other.kind == DYNO_COMMAND_LIST_BARRIER
              || other.kind == DYNO_COMMAND_LIST_SUBMIT_SPLIT)
            break;
          if (other.kind == DYNO_COMMAND_LIST_DISPATCH
              && dispatches_conflict (g_ptr_array_index (dispatches, other.index), late, conflict))
            return FALSE;
        }
    }
  return TRUE;
}
