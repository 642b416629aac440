/* SPDX-License-Identifier: MIT */
/* The places of barriers: a dispatch that touches bytes which another dispatch has written since
 * the last barrier, or writes bytes which another has read, begins a new level.  One barrier orders
 * all dispatches before it against all dispatches after it. */
#include "plan-private.h"

typedef struct {
  DynoSpace space;
  gboolean write;
  guint64 begin, end;
} Range;

static Range
binding_range (const DynoBinding *binding)
{
  const DynoTensor *tensor = binding->tensor;
  return (Range){ .space = tensor->space,
                  .write = (binding->access & DYNO_ACCESS_WRITE) != 0,
                  .begin = tensor->offset + binding->byte_offset,
                  .end = tensor->offset + tensor->size_bytes };
}

static gboolean
conflicts (GArray *ranges, const DynoDispatch *dispatch)
{
  for (guint b = 0; b < dispatch->n_bindings; b++)
    {
      Range range = binding_range (&dispatch->bindings[b]);
      for (guint i = 0; i < ranges->len; i++)
        {
          const Range *other = &g_array_index (ranges, Range, i);
          if (other->space == range.space && (other->write || range.write)
              && other->begin < range.end && range.begin < other->end)
            return TRUE;
        }
    }
  return FALSE;
}

guint8 *
dyno_barriers_find (GPtrArray *dispatches)
{
  guint8 *before = g_new0 (guint8, dispatches->len + 1);
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (Range));
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      if (conflicts (ranges, dispatch))
        {
          before[i] = 1;
          g_array_set_size (ranges, 0);
        }
      for (guint b = 0; b < dispatch->n_bindings; b++)
        g_array_append_val (ranges, ((Range[]){ binding_range (&dispatch->bindings[b]) }[0]));
    }
  return before;
}
