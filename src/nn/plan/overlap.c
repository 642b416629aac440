/* SPDX-License-Identifier: MIT */
/* Overlap of weight gradients with dispatches that leave most of a card idle.
 *
 * In the backward pass some dispatches sum up a few numbers per channel: they occupy only a part of
 * the card, and a barrier follows each of them.  No node before the optimizer reads a weight
 * gradient, so a weight gradient runs in the barrier level of such a dispatch, and its partial sums
 * are added up in the next level.  Where there is no such dispatch, it runs beside the data
 * gradient, which saves one level.
 *
 * Invariants: two dispatches that touch the same tensor, one of them writing, keep their order, so
 * sums stay equal to the bit; the peak of the memory does not grow. */
#include "lowering-private.h"

/* Dispatches of at most this many bytes and FLOPs leave most of a card idle. */
#define SHORT_BYTES (G_GUINT64_CONSTANT (4) << 20)
#define SHORT_FLOPS G_GUINT64_CONSTANT (250000000)
/* A weight gradient is moved by at most this many levels, since its inputs must be kept until it
 * runs. */
#define MAX_LEVELS 6

typedef struct {
  guint first, n;
} Run;

static const DynoDispatch *
dispatch_at (GPtrArray *list, guint i)
{
  return g_ptr_array_index (list, i);
}

/* TRUE: the two dispatches touch the same tensor, and one of them writes it. */
static gboolean
conflict (const DynoDispatch *a, const DynoDispatch *b)
{
  for (guint i = 0; i < a->n_bindings; i++)
    for (guint k = 0; k < b->n_bindings; k++)
      if (a->bindings[i].tensor == b->bindings[k].tensor
          && ((a->bindings[i].access | b->bindings[k].access) & DYNO_ACCESS_WRITE))
        return TRUE;
  return FALSE;
}

static gboolean
conflicts_in (GPtrArray *list, guint first, guint end, const DynoDispatch *dispatch)
{
  for (guint i = first; i < end; i++)
    if (conflict (dispatch_at (list, i), dispatch))
      return TRUE;
  return FALSE;
}

/* The end of the barrier level that begins here. */
static guint
level_end (GPtrArray *list, guint first)
{
  guint end = first + 1;
  while (end < list->len && !conflicts_in (list, first, end, dispatch_at (list, end)))
    end++;
  return end;
}

static gboolean
is_short (GPtrArray *list, guint first, guint end)
{
  for (guint i = first; i < end; i++)
    if (dispatch_at (list, i)->bytes > SHORT_BYTES || dispatch_at (list, i)->flops > SHORT_FLOPS)
      return FALSE;
  return TRUE;
}

/* Finds the run: the dispatches of a node of the backward pass from here on, if they write only
 * gradients of parameters and tensors that no other node touches. */
static gboolean
find_run (GPtrArray *list, GHashTable *users, guint first, Run *run)
{
  const DynoDispatch *head = dispatch_at (list, first);
  gboolean writes = FALSE;
  *run = (Run){ .first = first };
  if (head->stage != DYNO_STAGE_BACKWARD
      || (first > 0 && dispatch_at (list, first - 1)->node == head->node))
    return FALSE;
  for (guint i = first; i < list->len && dispatch_at (list, i)->node == head->node; i++, run->n++)
    {
      const DynoDispatch *dispatch = dispatch_at (list, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        {
          const DynoBinding *binding = &dispatch->bindings[b];
          if (!(binding->access & DYNO_ACCESS_WRITE))
            continue;
          gboolean is_gradient = binding->tensor->space == DYNO_SPACE_GRADIENT;
          if (dispatch->stage != DYNO_STAGE_BACKWARD
              || g_hash_table_lookup (users, binding->tensor) != head->node
              || (!is_gradient && binding->tensor->space != DYNO_SPACE_ARENA))
            return FALSE;
          writes |= is_gradient;
        }
    }
  return writes;
}

/* Maps a tensor to the only node that touches it, or to itself where several nodes do. */
static GHashTable *
find_users (GPtrArray *list)
{
  GHashTable *users = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < list->len; i++)
    {
      const DynoDispatch *dispatch = dispatch_at (list, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        {
          DynoTensor *tensor = dispatch->bindings[b].tensor;
          gpointer user = g_hash_table_lookup (users, tensor);
          gboolean is_first = !user || user == dispatch->node;
          g_hash_table_insert (users, tensor, is_first ? (gpointer) dispatch->node : tensor);
        }
    }
  return users;
}

/* The index, from the run's index on, of the first of the other dispatches that the run must
 * precede. */
static guint
find_limit (GPtrArray *others, GPtrArray *list, const Run *run)
{
  guint limit = run->first;
  while (limit < others->len && dispatch_at (others, limit)->stage == DYNO_STAGE_BACKWARD
         && !conflicts_in (list, run->first, run->first + run->n, dispatch_at (others, limit)))
    limit++;
  return limit;
}

/* The end of the first level of the other dispatches that the run's first dispatch can join; with
 * of_short_ones only levels of short dispatches count.  FALSE: there is no such level. */
static gboolean
find_level (GPtrArray *others, guint from, guint limit, gboolean of_short_ones,
            const DynoDispatch *dispatch, guint *place)
{
  guint n_levels = 0;
  for (guint first = 0; first < limit && n_levels < MAX_LEVELS; first = *place)
    {
      *place = level_end (others, first);
      if (*place <= from)
        continue;
      n_levels++;
      if (*place <= limit && !conflicts_in (others, first, *place, dispatch)
          && (!of_short_ones || is_short (others, first, *place)))
        return TRUE;
    }
  return FALSE;
}

static guint
count_levels (GPtrArray *list)
{
  guint n = 0;
  for (guint first = 0; first < list->len; first = level_end (list, first))
    n++;
  return n;
}

/* A copy of the list with the run's dispatches moved, one per level from this index on; the copy
 * does not own the dispatches. */
static GPtrArray *
move_run (GPtrArray *others, GPtrArray *list, const Run *run, guint place, guint limit)
{
  GPtrArray *moved = g_ptr_array_new ();
  guint k = 0;
  for (guint i = 0; i <= others->len; i++)
    {
      if (k < run->n && i == place)
        {
          g_ptr_array_add (moved, g_ptr_array_index (list, run->first + k++));
          guint next = i < limit ? level_end (others, i) : i;
          place = MIN (next, limit);
          for (; k < run->n && place == i; k++)
            g_ptr_array_add (moved, g_ptr_array_index (list, run->first + k));
        }
      if (i < others->len)
        g_ptr_array_add (moved, g_ptr_array_index (others, i));
    }
  return moved;
}

/* A better list, or NULL. */
static GPtrArray *
try_run (GPtrArray *list, const Run *run, gboolean of_short_ones, guint64 peak)
{
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  for (guint i = 0; i < list->len; i++)
    if (i < run->first || i >= run->first + run->n)
      g_ptr_array_add (others, g_ptr_array_index (list, i));
  guint place, limit = find_limit (others, list, run);
  if (!find_level (others, run->first, limit, of_short_ones, dispatch_at (list, run->first),
                   &place))
    return NULL;
  g_autoptr (GPtrArray) moved = move_run (others, list, run, place, limit);
  if (count_levels (moved) + !of_short_ones > count_levels (list)
      || dyno_dispatches_peak (moved) > peak)
    return NULL;
  return g_steal_pointer (&moved);
}

void
dyno_lowering_overlap (DynoLowering *lowering)
{
  guint64 peak = dyno_dispatches_peak (lowering->dispatches);
  g_autoptr (GHashTable) users = find_users (lowering->dispatches);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  GPtrArray *list = lowering->dispatches;
  for (guint i = 0; i < list->len; i++)
    if (i == 0 || dispatch_at (list, i)->node != dispatch_at (list, i - 1)->node)
      g_ptr_array_add (nodes, (gpointer) dispatch_at (list, i));
  for (guint i = 0; i < nodes->len; i++)
    {
      guint first;
      Run run;
      g_ptr_array_find (list, g_ptr_array_index (nodes, i), &first);
      if (!find_run (list, users, first, &run))
        continue;
      g_autoptr (GPtrArray) moved = try_run (list, &run, TRUE, peak);
      if (!moved)
        moved = try_run (list, &run, FALSE, peak);
      for (guint k = 0; moved && k < moved->len; k++)
        list->pdata[k] = moved->pdata[k];
    }
}
