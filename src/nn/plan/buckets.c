/* SPDX-License-Identifier: MIT */
/* Buckets of gradients: parameters are taken from the last to the first until a bucket has its
 * size; a bucket is final after the last dispatch of the backward pass that touches it.
 *
 * Invariant: buckets become final in order of pieces; a bucket that is final early waits for the
 * buckets before it, since all devices exchange buckets in the same order. */
#include "buckets.h"
#include "graph-private.h"

/* A parameter's gradient; ready: the index of the dispatch after the last one that touches it. */
typedef struct {
  guint64 begin, end;
  guint ready;
} Range;

static int
compare_ranges (gconstpointer a, gconstpointer b)
{
  const Range *one = a, *other = b;
  return one->begin < other->begin ? -1 : one->begin > other->begin;
}

/* The gradients in the order of their offsets; padding between two gradients belongs to the first
 * one. */
static GArray *
list_ranges (DynoGraph *graph)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  GArray *ranges = g_array_new (FALSE, TRUE, sizeof (Range));
  guint64 first, end = dyno_graph_count_elements (graph, DYNO_SPACE_GRADIENT) * sizeof (float);
  for (guint i = 0; i < parameters->len; i++)
    if (dyno_graph_find_parameter (graph, parameters->pdata[i], DYNO_SPACE_GRADIENT, &first))
      {
        Range range = { .begin = first * sizeof (float) };
        g_array_append_val (ranges, range);
      }
  g_array_sort (ranges, compare_ranges);
  for (guint i = ranges->len; i-- > 0;)
    {
      Range *range = &g_array_index (ranges, Range, i);
      range->end = end;
      end = range->begin;
    }
  return ranges;
}

static void
touch (GArray *ranges, const DynoBinding *binding, guint after)
{
  guint64 begin = binding->tensor->offset + binding->byte_offset,
          end = binding->tensor->offset + binding->tensor->size_bytes;
  for (guint i = 0; i < ranges->len; i++)
    {
      Range *range = &g_array_index (ranges, Range, i);
      if (range->begin < end && begin < range->end)
        range->ready = MAX (range->ready, after);
    }
}

static guint
find_ready (GArray *ranges, GPtrArray *dispatches)
{
  guint passes = 0;
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      if (dispatch->stage == DYNO_STAGE_OPTIMIZER)
        continue;
      passes = i + 1;
      for (guint b = 0; b < dispatch->n_bindings; b++)
        if (dispatch->bindings[b].tensor->space == DYNO_SPACE_GRADIENT)
          touch (ranges, &dispatch->bindings[b], i + 1);
    }
  return passes;
}

/* TRUE: the bucket [begin, end) is large enough.  Without a size from the caller the last bucket is
 * small: no part of the backward pass is left to hide its exchange. */
static gboolean
is_full (guint64 begin, guint64 end, guint64 wanted, gboolean ours)
{
  return end - begin >= wanted
         || (ours && begin <= DYNO_BUCKET_LAST && end - begin >= DYNO_BUCKET_LAST);
}

GArray *
dyno_buckets_find (DynoLowering *lowering, guint64 bucket_bytes, GArray **ends)
{
  DynoGraph *graph = dyno_lowering_get_graph (lowering);
  g_autoptr (GArray) ranges = list_ranges (graph);
  GArray *buckets = g_array_new (FALSE, FALSE, sizeof (DynoBucket)),
         *cuts = g_array_new (FALSE, FALSE, sizeof (guint));
  guint passes = find_ready (ranges, dyno_lowering_get_dispatches (lowering)), ready = 0;
  guint64 total = dyno_graph_count_elements (graph, DYNO_SPACE_GRADIENT) * sizeof (float),
          wanted = bucket_bytes > 0
                       ? bucket_bytes
                       : CLAMP (total / DYNO_BUCKETS_WANTED, DYNO_BUCKET_LEAST, DYNO_BUCKET_MOST);
  gboolean ours = bucket_bytes == 0 && total > DYNO_BUCKET_LEAST;
  guint64 end = total;
  for (guint i = ranges->len; i-- > 0;)
    {
      const Range *range = &g_array_index (ranges, Range, i);
      ready = MAX (ready, range->ready);
      if (i > 0 && !is_full (range->begin, end, wanted, ours))
        continue;
      if (cuts->len == 0 || g_array_index (cuts, guint, cuts->len - 1) < ready)
        g_array_append_val (cuts, ready);
      DynoBucket bucket = { range->begin, end - range->begin, cuts->len - 1 };
      g_array_append_val (buckets, bucket);
      end = range->begin;
    }
  if (cuts->len == 0)
    g_array_append_val (cuts, passes);
  g_array_index (cuts, guint, cuts->len - 1) = passes;
  if (ends)
    *ends = cuts;
  else
    g_array_unref (cuts);
  return buckets;
}
