/* SPDX-License-Identifier: MIT */
/* Reorders the backward pass so that it needs less memory.
 *
 * At the start of the backward pass all activations are live, and little memory has been freed.
 * Two kinds of values need not be in memory then:
 * - The results of units that only add to a parameter's gradient (a convolution's wgrad, with its
 *   partial sums).  Such a unit may wait until memory has been freed, since no node before the
 *   optimizer reads its result.  It is deferred only where it would exceed the peak, so most units
 *   keep their place.
 * - An activation that a node of the backward pass `rematerialises`, if only units that may wait
 *   read it: the activation is dropped after the forward pass, and these units wait for the node.
 *   That costs one more write of the tensor, and one more read where it is a sum; the total cost is
 *   at most a 64th of the step's estimated time.  In a chain of sums, each of which is read to make
 *   the next one, every second sum is dropped.
 *
 * Invariants: a unit, which is the dispatches of a node with the recomputation right before them,
 * stays whole.  Only units that wait move: to a later place in the backward pass, after the unit
 * that rematerialises their values and before the unit that overwrites these.  A gradient that
 * several units add to does not wait, so sums keep their order.  The list is left as it is when the
 * peak falls only a little. */
#include "lowering-private.h"
#include "graph-private.h"
#include "command-list.h"
#include <string.h>

/* The least saving for which the list is changed. */
#define WORTH_BYTES    (G_GUINT64_CONSTANT (16) << 20)
#define WORTH_FRACTION 32 /* of the peak */
/* Rematerialising activations may take at most this fraction of the step's time. */
#define COST_FRACTION 64
/* Bisection steps after which the lowest limit is known to less than a thousandth. */
#define SEARCH_ROUNDS 12
/* The faster of two lists is taken when its peak is higher by less than this share. */
#define SLACK_FRACTION 256

#define NO_UNIT G_MAXUINT

typedef struct {
  DynoStage stage;
  guint first, n; /* dispatches */
  gboolean waits; /* may run later */
  /* a unit that waits runs after the first and before the second; NO_UNIT: no limit */
  guint after, deadline;
} Unit;

typedef struct {
  DynoTensor *tensor;
  guint n_units, last_unit, n_touches;
  guint first_writer; /* unit */
} Value;

/* The access of a binding of a dispatch. */
typedef struct {
  guint value;
  DynoAccess access;
} Touch;

/* The state of a value in one attempt. */
typedef struct {
  guint remaining; /* remaining touches */
  guint level;     /* the last level that touched it */
  DynoAccess access;
} State;

typedef struct {
  GPtrArray *list; /* dispatches in the order in which they were appended */
  GArray *units, *values, *touches;
  guint *touch_first; /* index into touches for each dispatch, and the end */
  /* of one attempt */
  State *states; /* for each value */
  guint8 *done;  /* for each unit */
  GArray *order, *waiting;
  guint level;
  guint64 live, dying, peak; /* dying: bytes that become free after this barrier level */
} Schedule;

typedef struct {
  DynoNode *node;        /* of the backward pass */
  DynoTensor *y, *fresh; /* the activation that it rematerialises; the tensor that it writes */
  GPtrArray *dispatches; /* dispatches of the node, lowered with this rematerialisation */
  double more_s;         /* additional estimated time */
} Rematerialised;

static Unit *
unit_at (const Schedule *s, guint unit)
{
  return &g_array_index (s->units, Unit, unit);
}

static Value *
value_at (const Schedule *s, guint value)
{
  return &g_array_index (s->values, Value, value);
}

/* Finds the touches of a unit's dispatches; returns their number. */
static guint
unit_touches (const Schedule *s, guint unit, const Touch **touches)
{
  const Unit *u = unit_at (s, unit);
  *touches = &g_array_index (s->touches, Touch, s->touch_first[u->first]);
  return s->touch_first[u->first + u->n] - s->touch_first[u->first];
}

/* Units ---------------------------------------------------------------------------------------- */

static void
find_units (Schedule *s)
{
  const DynoDispatch *last = NULL;
  for (guint i = 0; i < s->list->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (s->list, i);
      /* recomputation for a forward node: the units right after it need the result */
      gboolean rematerialised = last && last->stage != last->node->stage;
      if (!last || last->stage != dispatch->stage
          || (last->node != dispatch->node && !rematerialised))
        g_array_append_val (s->units, ((Unit[]){ { .stage = dispatch->stage, .first = i } }[0]));
      unit_at (s, s->units->len - 1)->n++;
      last = dispatch;
    }
}

static void
add_touch (Schedule *s, GHashTable *places, guint unit, const DynoBinding *binding)
{
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, binding->tensor));
  if (place == 0)
    {
      Value fresh = { .tensor = binding->tensor, .last_unit = NO_UNIT, .first_writer = NO_UNIT };
      g_array_append_val (s->values, fresh);
      place = s->values->len;
      g_hash_table_insert (places, binding->tensor, GUINT_TO_POINTER (place));
    }
  Value *value = value_at (s, place - 1);
  if ((binding->access & DYNO_ACCESS_WRITE) && value->first_writer == NO_UNIT)
    value->first_writer = unit;
  value->n_units += value->last_unit != unit;
  value->last_unit = unit;
  value->n_touches++;
  g_array_append_val (s->touches, ((Touch[]){ { place - 1, binding->access } }[0]));
}

/* TRUE: the unit may run later.  Such a unit writes only its own scratch and gradients of
 * parameters that no other unit touches. */
static gboolean
unit_waits (const Schedule *s, guint unit)
{
  const Touch *touches;
  guint n = unit_touches (s, unit, &touches);
  gboolean writes = FALSE;
  if (unit_at (s, unit)->stage != DYNO_STAGE_BACKWARD)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const Value *value = value_at (s, touches[i].value);
      if (!(touches[i].access & DYNO_ACCESS_WRITE))
        continue;
      if (value->n_units > 1
          || (value->tensor->space != DYNO_SPACE_GRADIENT
              && value->tensor->space != DYNO_SPACE_ARENA))
        return FALSE;
      writes |= value->tensor->space == DYNO_SPACE_GRADIENT;
    }
  return writes;
}

/* The first unit from `from` on that writes the value. */
static guint
next_writer (const Schedule *s, guint value, guint from)
{
  for (guint unit = from; unit < s->units->len; unit++)
    {
      const Touch *touches;
      guint n = unit_touches (s, unit, &touches);
      for (guint i = 0; i < n; i++)
        if (touches[i].value == value && (touches[i].access & DYNO_ACCESS_WRITE))
          return unit;
    }
  return NO_UNIT;
}

/* Sets the limits of a unit that waits: a value that the unit reads may be rematerialised later
 * than the unit's place in the list, and may be overwritten after that. */
static void
find_window (Schedule *s, guint unit)
{
  Unit *u = unit_at (s, unit);
  const Touch *touches;
  guint n = unit_touches (s, unit, &touches);
  u->after = u->deadline = NO_UNIT;
  for (guint i = 0; i < n; i++)
    {
      const Value *value = value_at (s, touches[i].value);
      if (value->n_units == 1 || value->tensor->space != DYNO_SPACE_ARENA)
        continue;
      guint from = unit;
      if (value->first_writer != NO_UNIT && value->first_writer > unit)
        {
          from = value->first_writer;
          u->after = u->after == NO_UNIT ? from : MAX (u->after, from);
        }
      u->deadline = MIN (u->deadline, next_writer (s, touches[i].value, from + 1));
    }
}

static void
schedule_init (Schedule *s, GPtrArray *list)
{
  /* tensor -> 1 + its place in values */
  g_autoptr (GHashTable) places = g_hash_table_new (NULL, NULL);
  *s = (Schedule){ .list = list };
  s->units = g_array_new (FALSE, FALSE, sizeof (Unit));
  s->values = g_array_new (FALSE, FALSE, sizeof (Value));
  s->touches = g_array_new (FALSE, FALSE, sizeof (Touch));
  s->order = g_array_new (FALSE, FALSE, sizeof (guint));
  s->waiting = g_array_new (FALSE, FALSE, sizeof (guint));
  s->touch_first = g_new (guint, list->len + 1);
  find_units (s);
  for (guint unit = 0; unit < s->units->len; unit++)
    for (guint i = unit_at (s, unit)->first; i < unit_at (s, unit)->first + unit_at (s, unit)->n;
         i++)
      {
        const DynoDispatch *dispatch = g_ptr_array_index (list, i);
        s->touch_first[i] = s->touches->len;
        for (guint b = 0; b < dispatch->n_bindings; b++)
          add_touch (s, places, unit, &dispatch->bindings[b]);
      }
  s->touch_first[list->len] = s->touches->len;
  s->states = g_new (State, s->values->len + 1);
  s->done = g_new (guint8, s->units->len + 1);
  for (guint unit = 0; unit < s->units->len; unit++)
    {
      unit_at (s, unit)->waits = unit_waits (s, unit);
      if (unit_at (s, unit)->waits)
        find_window (s, unit);
    }
}

static void
schedule_clear (Schedule *s)
{
  g_array_unref (s->units);
  g_array_unref (s->values);
  g_array_unref (s->touches);
  g_array_unref (s->order);
  g_array_unref (s->waiting);
  g_free (s->touch_first);
  g_free (s->states);
  g_free (s->done);
}

/* One try -------------------------------------------------------------------------------------- */

/* TRUE: this dispatch begins a barrier level. */
static gboolean
begins_level (const Schedule *s, guint dispatch)
{
  for (guint i = s->touch_first[dispatch]; i < s->touch_first[dispatch + 1]; i++)
    {
      const Touch *touch = &g_array_index (s->touches, Touch, i);
      const State *state = &s->states[touch->value];
      if (state->level == s->level && ((state->access | touch->access) & DYNO_ACCESS_WRITE))
        return TRUE;
    }
  return FALSE;
}

/* The bytes that would live while the unit runs, and the bytes that it would free, without its
 * scratch. */
static guint64
unit_needs (const Schedule *s, guint unit, guint64 *gives)
{
  const Touch *touches;
  guint n = unit_touches (s, unit, &touches);
  guint64 needs = s->live - (begins_level (s, unit_at (s, unit)->first) ? s->dying : 0);
  *gives = 0;
  for (guint i = 0; i < n; i++)
    {
      const Value *value = value_at (s, touches[i].value);
      guint remaining = s->states[touches[i].value].remaining;
      if (value->tensor->space != DYNO_SPACE_ARENA
          || (i > 0 && touches[i].value == touches[i - 1].value))
        continue;
      if (remaining == value->n_touches)
        needs += value->tensor->size_bytes;
      else if (remaining == 1)
        *gives += value->tensor->size_bytes;
    }
  return needs;
}

static void
run_dispatch (Schedule *s, guint dispatch)
{
  if (begins_level (s, dispatch))
    {
      s->level++;
      s->live -= s->dying;
      s->dying = 0;
    }
  for (guint i = s->touch_first[dispatch]; i < s->touch_first[dispatch + 1]; i++)
    {
      const Touch *touch = &g_array_index (s->touches, Touch, i);
      const Value *value = value_at (s, touch->value);
      State *state = &s->states[touch->value];
      state->access = state->level == s->level ? state->access | touch->access : touch->access;
      state->level = s->level;
      gboolean is_first = state->remaining == value->n_touches, is_last = --state->remaining == 0;
      if (value->tensor->space != DYNO_SPACE_ARENA)
        continue;
      s->live += is_first ? value->tensor->size_bytes : 0;
      s->dying += is_last && !value->tensor->keep ? value->tensor->size_bytes : 0;
    }
  s->peak = MAX (s->peak, s->live);
}

static void
run_unit (Schedule *s, guint unit)
{
  const Unit *u = unit_at (s, unit);
  for (guint i = u->first; i < u->first + u->n; i++)
    run_dispatch (s, i);
  s->done[unit] = TRUE;
  g_array_append_val (s->order, unit);
}

/* The place in `waiting` of the unit to run next: a unit that must run now, or else, among the
 * units that fit the limit, the unit that frees the most bytes. */
static gboolean
next_waiting (const Schedule *s, guint64 limit, guint deadline, guint *place)
{
  guint64 most = 0;
  gboolean found = FALSE;
  for (guint i = 0; i < s->waiting->len; i++)
    {
      guint unit = g_array_index (s->waiting, guint, i);
      const Unit *u = unit_at (s, unit);
      guint64 gives;
      if (u->deadline == deadline && deadline != NO_UNIT)
        {
          *place = i;
          return TRUE;
        }
      if ((u->after != NO_UNIT && !s->done[u->after]) || unit_needs (s, unit, &gives) > limit
          || (found && gives <= most))
        continue;
      found = TRUE;
      most = gives;
      *place = i;
    }
  return found;
}

static void
run_waiting (Schedule *s, guint64 limit, guint deadline)
{
  guint place;
  while (next_waiting (s, limit, deadline, &place))
    {
      run_unit (s, g_array_index (s->waiting, guint, place));
      g_array_remove_index (s->waiting, place);
    }
}

/* Makes an order that stays below the limit where possible; returns its peak, by the same barrier
 * levels as in the plan. */
static guint64
make_order (Schedule *s, guint64 limit)
{
  g_array_set_size (s->order, 0);
  g_array_set_size (s->waiting, 0);
  s->level = 1;
  s->live = s->dying = s->peak = 0;
  for (guint i = 0; i < s->values->len; i++)
    s->states[i] = (State){ .remaining = value_at (s, i)->n_touches };
  memset (s->done, 0, s->units->len);
  for (guint unit = 0; unit < s->units->len; unit++)
    {
      const Unit *u = unit_at (s, unit);
      if (u->stage == DYNO_STAGE_OPTIMIZER)
        run_waiting (s, G_MAXUINT64, NO_UNIT);
      run_waiting (s, 0, unit);
      if (u->waits)
        g_array_append_val (s->waiting, unit);
      else
        run_unit (s, unit);
      run_waiting (s, limit, NO_UNIT);
    }
  run_waiting (s, G_MAXUINT64, NO_UNIT);
  return s->peak;
}

GPtrArray *
dyno_dispatches_order (GPtrArray *list, guint64 *peak)
{
  Schedule s;
  schedule_init (&s, list);
  guint64 high = make_order (&s, G_MAXUINT64), low = 0;
  for (guint round = 0; round < SEARCH_ROUNDS; round++)
    {
      guint64 middle = low + (high - low) / 2, reached = make_order (&s, middle);
      high = MIN (high, reached);
      if (reached > middle)
        low = middle;
    }
  *peak = make_order (&s, high);
  GPtrArray *result = g_ptr_array_new_full (list->len, g_free);
  for (guint i = 0; i < s.order->len; i++)
    {
      const Unit *u = unit_at (&s, g_array_index (s.order, guint, i));
      for (guint k = 0; k < u->n; k++)
        g_ptr_array_add (result, g_ptr_array_index (list, u->first + k));
    }
  schedule_clear (&s);
  g_ptr_array_set_free_func (list, NULL);
  g_ptr_array_unref (list);
  return result;
}

/* Rematerialising ----------------------------------------------------------------------------- */

static void
rematerialised_free (gpointer data)
{
  Rematerialised *rematerialised = data;
  g_ptr_array_unref (rematerialised->dispatches);
  g_free (rematerialised);
}

/* TRUE: in the backward pass only units that may wait until this node has run read y. */
static gboolean
can_rematerialise (const Schedule *s, const DynoNode *node, const DynoTensor *y)
{
  guint restoring = NO_UNIT, readers = 0;
  if (!y || y->keep || y->space != DYNO_SPACE_ARENA)
    return FALSE;
  for (guint unit = 0; unit < s->units->len; unit++)
    if (((const DynoDispatch *) g_ptr_array_index (s->list, unit_at (s, unit)->first))->node
        == node)
      restoring = unit;
  for (guint unit = 0; unit < s->units->len; unit++)
    {
      const Unit *u = unit_at (s, unit);
      const Touch *touches;
      guint n = unit_touches (s, unit, &touches);
      for (guint i = 0; i < n && u->stage != DYNO_STAGE_FORWARD; i++)
        {
          if (value_at (s, touches[i].value)->tensor != y)
            continue;
          if (!u->waits || restoring == NO_UNIT || unit > restoring || u->deadline <= restoring)
            return FALSE;
          readers++;
        }
    }
  return readers > 0;
}

static gboolean
dispatches_read (const GPtrArray *dispatches, const DynoTensor *tensor)
{
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        if (dispatch->bindings[b].tensor == tensor
            && (dispatch->bindings[b].access & DYNO_ACCESS_READ))
          return TRUE;
    }
  return FALSE;
}

/* TRUE: the backward pass reads the value in any case. */
static gboolean
backward_reads (const Schedule *s, guint value)
{
  for (guint unit = 0; unit < s->units->len; unit++)
    {
      const Touch *touches;
      guint n = unit_touches (s, unit, &touches);
      for (guint i = 0; i < n && unit_at (s, unit)->stage != DYNO_STAGE_FORWARD; i++)
        if (touches[i].value == value && (touches[i].access & DYNO_ACCESS_READ))
          return TRUE;
    }
  return FALSE;
}

/* TRUE: the backward pass reads every value that the node reads in any case. */
static gboolean
reads_what_is_kept (const Schedule *s, const Rematerialised *rematerialised)
{
  for (guint i = 0; i < s->values->len; i++)
    {
      const Value *value = value_at (s, i);
      if (value->tensor->space == DYNO_SPACE_ARENA && !value->tensor->keep
          && dispatches_read (rematerialised->dispatches, value->tensor) && !backward_reads (s, i))
        return FALSE;
    }
  return TRUE;
}

static Rematerialised *
rematerialised_new (DynoLowering *lowering, DynoNode *node, DynoTensor *y)
{
  DynoTensor *fresh = dyno_lowering_tensor_like (lowering, y);
  if (!fresh)
    return NULL;
  Rematerialised *rematerialised = g_new0 (Rematerialised, 1);
  *rematerialised = (Rematerialised){ .node = node, .y = y, .fresh = fresh };
  g_autoptr (GPtrArray) before = g_ptr_array_new ();
  GPtrArray *list = lowering->dispatches;
  for (guint i = 0; i < list->len; i++)
    if (((const DynoDispatch *) g_ptr_array_index (list, i))->node == node)
      g_ptr_array_add (before, g_ptr_array_index (list, i));
  guint n_points = lowering->choice_points->len;
  lowering->dispatches = rematerialised->dispatches = g_ptr_array_new_with_free_func (g_free);
  lowering->rematerialised = fresh;
  dyno_lowering_node (lowering, node);
  lowering->rematerialised = NULL;
  lowering->dispatches = list;
  g_ptr_array_set_size (lowering->choice_points, (gint) n_points);
  rematerialised->more_s = dyno_dispatches_seconds (rematerialised->dispatches, &lowering->info)
                           - dyno_dispatches_seconds (before, &lowering->info);
  return rematerialised;
}

static gint
compare_rematerialised (gconstpointer a, gconstpointer b)
{
  const Rematerialised *x = *(Rematerialised *const *) a, *y = *(Rematerialised *const *) b;
  if (x->y->size_bytes != y->y->size_bytes)
    return x->y->size_bytes > y->y->size_bytes ? -1 : 1;
  return x->y->id < y->y->id ? -1 : x->y->id > y->y->id;
}

/* TRUE: none of the first n nodes drops a value that the last one reads, and the last one drops no
 * value that they read. */
static gboolean
goes_with_others (GPtrArray *found, guint n, const Rematerialised *last)
{
  for (guint i = 0; i < n; i++)
    {
      const Rematerialised *other = g_ptr_array_index (found, i);
      if (dispatches_read (last->dispatches, other->y)
          || dispatches_read (other->dispatches, last->y))
        return FALSE;
    }
  return TRUE;
}

/* The activations that can be rematerialised, the largest first, up to the permitted cost (or
 * all). */
static GPtrArray *
find_rematerialised (DynoLowering *lowering, gboolean all)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (rematerialised_free),
            *nodes = dyno_graph_get_nodes (lowering->graph);
  Schedule s;
  schedule_init (&s, lowering->dispatches);
  for (guint i = 0; i < nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (nodes, i);
      DynoTensor *y = node->stage == DYNO_STAGE_BACKWARD && node->op->rematerialises
                          ? node->op->rematerialises (node)
                          : NULL;
      Rematerialised *rematerialised =
          can_rematerialise (&s, node, y) ? rematerialised_new (lowering, node, y) : NULL;
      if (rematerialised && !reads_what_is_kept (&s, rematerialised))
        g_clear_pointer (&rematerialised, rematerialised_free);
      if (rematerialised)
        g_ptr_array_add (found, rematerialised);
    }
  schedule_clear (&s);
  g_ptr_array_sort (found, compare_rematerialised);
  for (guint i = 0; i < found->len;)
    if (goes_with_others (found, i, g_ptr_array_index (found, i)))
      i++;
    else
      g_ptr_array_remove_index (found, i);
  double left = dyno_dispatches_seconds (lowering->dispatches, &lowering->info) / COST_FRACTION;
  for (guint i = 0; i < found->len && !all; i++)
    {
      const Rematerialised *rematerialised = g_ptr_array_index (found, i);
      left -= rematerialised->more_s;
      if (left < 0)
        g_ptr_array_set_size (found, (gint) i);
    }
  return found;
}

/* A new list in which the first n activations are rematerialised, in its best order. */
static GPtrArray *
make_list (GPtrArray *list, GPtrArray *found, guint n, guint64 *peak)
{
  g_autoptr (GHashTable) by_node = g_hash_table_new (NULL, NULL),
                         by_tensor = g_hash_table_new (NULL, NULL);
  GPtrArray *rewritten = g_ptr_array_new ();
  for (guint i = 0; i < n; i++)
    {
      Rematerialised *rematerialised = g_ptr_array_index (found, i);
      g_hash_table_insert (by_node, rematerialised->node, rematerialised);
      g_hash_table_insert (by_tensor, rematerialised->y, rematerialised);
    }
  const DynoNode *node = NULL; /* the node whose dispatches are in the list */
  for (guint i = 0; i < list->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (list, i);
      const Rematerialised *rematerialised = g_hash_table_lookup (by_node, dispatch->node);
      if (rematerialised)
        {
          for (guint k = 0; k < rematerialised->dispatches->len && node != dispatch->node; k++)
            g_ptr_array_add (
                rewritten,
                g_memdup2 (g_ptr_array_index (rematerialised->dispatches, k), sizeof *dispatch));
          node = dispatch->node;
          continue;
        }
      DynoDispatch *copy = g_memdup2 (dispatch, sizeof *dispatch);
      for (guint b = 0; b < copy->n_bindings && copy->stage != DYNO_STAGE_FORWARD; b++)
        {
          rematerialised = g_hash_table_lookup (by_tensor, copy->bindings[b].tensor);
          if (rematerialised)
            copy->bindings[b].tensor = rematerialised->fresh;
        }
      g_ptr_array_add (rewritten, copy);
    }
  return dyno_dispatches_order (rewritten, peak);
}

void
dyno_lowering_reorder (DynoLowering *lowering, gboolean all)
{
  g_autoptr (GPtrArray) found = find_rematerialised (lowering, all);
  guint64 before = dyno_dispatches_peak (lowering->dispatches), best_peak;
  GPtrArray *best = make_list (lowering->dispatches, found, found->len, &best_peak);
  /* take as few as suffice: every rematerialisation costs time */
  guint64 enough = best_peak + best_peak / SLACK_FRACTION;
  for (guint low = 0, high = found->len; low < high && !all;)
    {
      guint middle = (low + high) / 2;
      guint64 peak;
      GPtrArray *list = make_list (lowering->dispatches, found, middle, &peak);
      if (peak <= enough)
        {
          GPtrArray *swap = best;
          best = list;
          list = swap;
          high = middle;
        }
      else
        low = middle + 1;
      g_ptr_array_unref (list);
    }
  best_peak = dyno_dispatches_peak (best);
  if (all || best_peak + MAX (WORTH_BYTES, before / WORTH_FRACTION) <= before)
    {
      g_ptr_array_unref (lowering->dispatches);
      lowering->dispatches = g_steal_pointer (&best);
    }
  g_clear_pointer (&best, g_ptr_array_unref);
}
