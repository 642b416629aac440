/* SPDX-License-Identifier: MIT */
/* The memory plan: levels follow from the declared accesses, live ranges from the levels, offsets
 * from the live ranges, and bytes from the offsets.
 *
 * Invariants:
 * - A tensor that is read before it is written lives from the start (the host fills it); a tensor
 *   marked `keep` lives to the end.
 * - Live ranges are in barrier levels, both ends included, so that aliasing never adds a barrier
 *   that the data dependencies do not need.
 * - The offsets do not depend on the device's limit of the buffer size, unless the arena is larger
 *   than that limit.
 * - Parameters and state have their offsets already; the plan only counts them. */
#include "plan-private.h"
#include "graph-private.h"
#include "lowering-private.h"
#include "buffer.h"
#include "checked.h"
#include "step.h"

typedef struct {
  DynoTensor *tensor;
  guint first_dispatch, last_dispatch;
  gboolean from_start;
} Use;

typedef struct {
  GPtrArray *dispatches;
  DynoPlanFlags flags;
  GArray *uses;                 /* Use, of the arena's tensors, by first dispatch */
  gboolean bound[DYNO_SPACE_N]; /* spaces that some dispatch touches */
  guint64 buffer_bytes;         /* buffer size of the arena: no tensor straddles a multiple of it */
} Planner;

DynoMemoryKind
dyno_space_kind (DynoSpace space)
{
  static const DynoMemoryKind kinds[DYNO_SPACE_N] = {
    [DYNO_SPACE_MASTER] = DYNO_MEMORY_WEIGHTS,     [DYNO_SPACE_HALF] = DYNO_MEMORY_WEIGHTS,
    [DYNO_SPACE_GRADIENT] = DYNO_MEMORY_GRADIENTS, [DYNO_SPACE_MOMENT1] = DYNO_MEMORY_OPTIMIZER,
    [DYNO_SPACE_MOMENT2] = DYNO_MEMORY_OPTIMIZER,  [DYNO_SPACE_STATE] = DYNO_MEMORY_WEIGHTS,
    [DYNO_SPACE_AVERAGE] = DYNO_MEMORY_WEIGHTS,    [DYNO_SPACE_SCALER] = DYNO_MEMORY_OPTIMIZER,
    [DYNO_SPACE_ARENA] = DYNO_MEMORY_ACTIVATIONS,  [DYNO_SPACE_INPUT] = DYNO_MEMORY_STAGING,
    [DYNO_SPACE_STEP_IN] = DYNO_MEMORY_STAGING,    [DYNO_SPACE_STEP_OUT] = DYNO_MEMORY_STAGING,
    [DYNO_SPACE_CONSTANT] = DYNO_MEMORY_WEIGHTS,
  };
  return kinds[space];
}

gboolean
dyno_space_is_slotted (DynoSpace space)
{
  return space == DYNO_SPACE_INPUT || space == DYNO_SPACE_STEP_IN || space == DYNO_SPACE_STEP_OUT;
}

gboolean
dyno_space_is_state (DynoSpace space)
{
  return space == DYNO_SPACE_MASTER || space == DYNO_SPACE_MOMENT1 || space == DYNO_SPACE_MOMENT2
         || space == DYNO_SPACE_STATE || space == DYNO_SPACE_AVERAGE || space == DYNO_SPACE_SCALER;
}

guint
dyno_plan_slots (const DynoPlan *plan, DynoSpace space)
{
  return space == DYNO_SPACE_INPUT       ? plan->n_input_slots
         : dyno_space_is_slotted (space) ? plan->n_slots
                                         : 1;
}

static void
collect_uses (Planner *p)
{
  GPtrArray *dispatches = p->dispatches;
  g_autoptr (GHashTable) places = g_hash_table_new (NULL, NULL); /* tensor -> 1 + index in uses */
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        {
          DynoTensor *tensor = dispatch->bindings[b].tensor;
          p->bound[tensor->space] = TRUE;
          if (tensor->space != DYNO_SPACE_ARENA)
            continue;
          guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, tensor));
          if (place == 0)
            {
              Use use = { tensor, i, i, (dispatch->bindings[b].access & DYNO_ACCESS_READ) != 0 };
              g_array_append_val (p->uses, use);
              g_hash_table_insert (places, tensor, GUINT_TO_POINTER (p->uses->len));
            }
          else
            g_array_index (p->uses, Use, place - 1).last_dispatch = i;
        }
    }
}

static guint64
guard_bytes (const Planner *p)
{
  return p->flags & DYNO_PLAN_GUARD ? DYNO_GUARD_BYTES : 0;
}

/* The bytes of the arena that a tensor takes. */
static guint64
use_bytes (const Planner *p, const Use *use)
{
  return dyno_align_up (use->tensor->size_bytes, DYNO_TENSOR_ALIGNMENT) + 2 * guard_bytes (p);
}

/* Gives every tensor memory of its own; levels are found from these addresses too. */
static gboolean
place_apart (Planner *p, guint64 buffer_bytes, guint64 *end)
{
  *end = 0;
  for (guint i = 0; i < p->uses->len; i++)
    {
      const Use *use = &g_array_index (p->uses, Use, i);
      guint64 size = use_bytes (p, use), left = buffer_bytes - *end % buffer_bytes;
      guint64 start = size > left && size <= buffer_bytes ? *end + left : *end;
      use->tensor->offset = start + guard_bytes (p);
      if (!dyno_size_add (start, size, end) || *end > (guint64) G_MAXINT64)
        return FALSE;
    }
  return TRUE;
}

/* Live ranges in levels, for tensors with memory of their own; g_free. */
static DynoLiveRange *
find_live_ranges (const Planner *p)
{
  GPtrArray *dispatches = p->dispatches;
  g_autofree guint8 *before = dyno_barriers_find (dispatches);
  g_autofree guint *levels = g_new (guint, dispatches->len + 1);
  DynoLiveRange *ranges = g_new0 (DynoLiveRange, p->uses->len + 1);
  guint level = 0;
  for (guint i = 0; i < dispatches->len; i++)
    levels[i] = level += before[i];
  for (guint i = 0; i < p->uses->len; i++)
    {
      const Use *use = &g_array_index (p->uses, Use, i);
      ranges[i].size_bytes = use_bytes (p, use);
      ranges[i].first = use->from_start ? 0 : levels[use->first_dispatch];
      ranges[i].last = use->tensor->keep ? level : levels[use->last_dispatch];
    }
  return ranges;
}

/* Replaces the offsets by offsets that let tensors share memory. */
static void
place_shared (Planner *p)
{
  g_autofree DynoLiveRange *ranges = find_live_ranges (p);
  dyno_live_ranges_place (ranges, p->uses->len, p->buffer_bytes);
  for (guint i = 0; i < p->uses->len; i++)
    g_array_index (p->uses, Use, i).tensor->offset = ranges[i].offset + guard_bytes (p);
}

/* Computes the sizes of the arena's buffers from the tensors' offsets. */
static void
count_arena (const Planner *p, DynoPlan *plan)
{
  memset (plan->arena_bytes, 0, sizeof plan->arena_bytes);
  plan->n_arena_buffers = 1;
  for (guint i = 0; i < p->uses->len; i++)
    {
      const Use *use = &g_array_index (p->uses, Use, i);
      guint64 start = use->tensor->offset - guard_bytes (p), size = use_bytes (p, use);
      guint buffer = (guint) MIN (start / p->buffer_bytes, DYNO_PLAN_MAX_ARENA_BUFFERS - 1);
      plan->arena_bytes[buffer] =
          MAX (plan->arena_bytes[buffer], start + size - buffer * p->buffer_bytes);
      plan->n_arena_buffers = MAX (plan->n_arena_buffers, buffer + 1);
      plan->largest_bytes = MAX (plan->largest_bytes, size);
    }
  /* An arena that needs more buffers has a last one larger than the limit, which shows here. */
  plan->largest_bytes =
      MAX (plan->largest_bytes, plan->arena_bytes[DYNO_PLAN_MAX_ARENA_BUFFERS - 1]);
}

static void
sum_arena (DynoPlan *plan)
{
  plan->space_bytes[DYNO_SPACE_ARENA] = 0;
  for (guint i = 0; i < plan->n_arena_buffers; i++)
    {
      plan->arena_bytes[i] = dyno_align_up (plan->arena_bytes[i], DYNO_BUFFER_GRANULARITY);
      plan->space_bytes[DYNO_SPACE_ARENA] += plan->arena_bytes[i];
    }
}

guint64
dyno_dispatches_peak (GPtrArray *dispatches)
{
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (Use));
  Planner p = { .dispatches = dispatches, .uses = uses };
  guint64 end = 0;
  collect_uses (&p);
  if (!place_apart (&p, G_MAXUINT64, &end)) /* dyno_plan_compute reports this */
    return G_MAXUINT64;
  g_autofree DynoLiveRange *ranges = find_live_ranges (&p);
  return dyno_live_ranges_bound (ranges, uses->len);
}

static void
place_inputs (DynoGraph *graph, guint64 *end)
{
  GPtrArray *tensors = dyno_graph_get_tensors (graph);
  for (guint i = 0; i < tensors->len; i++)
    {
      DynoTensor *tensor = g_ptr_array_index (tensors, i);
      if (tensor->space == DYNO_SPACE_ARENA)
        tensor->offset = DYNO_OFFSET_NONE;
      if (tensor->space != DYNO_SPACE_INPUT)
        continue;
      tensor->offset = *end;
      *end += dyno_align_up (tensor->size_bytes, DYNO_TENSOR_ALIGNMENT);
    }
}

static void
count_kinds (DynoPlan *plan)
{
  memset (plan->kind_bytes, 0, sizeof plan->kind_bytes);
  plan->total_bytes = 0;
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    {
      guint64 bytes = plan->space_bytes[space] * dyno_plan_slots (plan, space);
      plan->kind_bytes[dyno_space_kind (space)] += bytes;
      plan->total_bytes += bytes;
      if (!plan->snapshot || !dyno_space_is_state (space))
        continue;
      plan->kind_bytes[DYNO_MEMORY_SNAPSHOT] += plan->space_bytes[space];
      plan->total_bytes += plan->space_bytes[space];
    }
  if (plan->halves)
    {
      guint64 bytes =
          dyno_align_up (plan->space_bytes[DYNO_SPACE_GRADIENT] / 2, DYNO_BUFFER_GRANULARITY);
      plan->kind_bytes[DYNO_MEMORY_GRADIENTS] += bytes;
      plan->total_bytes += bytes;
    }
  plan->kind_bytes[DYNO_MEMORY_GRADIENTS] += plan->inbox_bytes;
  plan->total_bytes += plan->inbox_bytes;
}

static void
count_spaces (const Planner *p, DynoGraph *graph, guint64 bytes[DYNO_SPACE_N])
{
  guint64 elements = graph->parameter_elements;
  bytes[DYNO_SPACE_MASTER] = elements * 4;
  guint64 halves = elements + (graph->params.average_decay > 0 ? graph->trained_elements : 0);
  bytes[DYNO_SPACE_HALF] = graph->params.precision.storage == DYNO_DTYPE_F32
                               ? 0
                               : halves * dyno_dtype_size (graph->params.precision.storage);
  bytes[DYNO_SPACE_AVERAGE] = dyno_graph_count_elements (graph, DYNO_SPACE_AVERAGE) * 4;
  bytes[DYNO_SPACE_GRADIENT] = graph->params.training ? graph->trained_elements * 4 : 0;
  bytes[DYNO_SPACE_MOMENT1] = p->bound[DYNO_SPACE_MOMENT1] ? graph->trained_elements * 4 : 0;
  bytes[DYNO_SPACE_MOMENT2] = p->bound[DYNO_SPACE_MOMENT2] ? graph->trained_elements * 4 : 0;
  bytes[DYNO_SPACE_STATE] = graph->state_elements * 4 * (graph->kept_states ? 2 : 1);
  bytes[DYNO_SPACE_SCALER] = p->bound[DYNO_SPACE_SCALER] ? sizeof (struct DynoScalerState) : 0;
  const DynoTensor *behind = graph->standard ? graph->standard : graph->class_weights;
  if (graph->rates)
    behind = graph->rates;
  if (behind)
    bytes[DYNO_SPACE_SCALER] = behind->offset + behind->size_bytes;
  bytes[DYNO_SPACE_STEP_IN] = sizeof (struct DynoStepInput);
  bytes[DYNO_SPACE_STEP_OUT] = sizeof (struct DynoStepOutput);
  bytes[DYNO_SPACE_CONSTANT] = graph->constants->len;
}

gboolean
dyno_plan_compute (DynoLowering *lowering, guint n_slots, DynoPlanFlags flags, DynoPlan *plan,
                   GError **error)
{
  g_return_val_if_fail (n_slots >= 1, FALSE);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (Use));
  guint64 limit = dyno_buffer_get_limit (&lowering->info);
  Planner p = {
    .dispatches = lowering->dispatches, .flags = flags, .uses = uses, .buffer_bytes = limit
  };
  *plan = (DynoPlan){ .n_slots = n_slots,
                      .n_input_slots = flags & DYNO_PLAN_ONE_INPUT ? 1 : n_slots,
                      .buffer_bytes = limit,
                      .shared = (flags & DYNO_PLAN_SHARED) != 0,
                      .recomputed_share = lowering->recomputed_share };
  place_inputs (lowering->graph, &plan->space_bytes[DYNO_SPACE_INPUT]);
  collect_uses (&p);
  if (!place_apart (&p, G_MAXUINT64, &plan->naive_arena_bytes))
    {
      g_set_error (
          error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE,
          "the activations of a step are too large to count; lower the batch or the image size");
      return FALSE;
    }
  guint64 end;
  if (!(flags & DYNO_PLAN_NO_ALIAS))
    place_shared (&p);
  else if (plan->naive_arena_bytes > limit)
    place_apart (&p, limit, &end);
  count_arena (&p, plan);
  count_spaces (&p, lowering->graph, plan->space_bytes);
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    {
      plan->space_bytes[space] = dyno_align_up (plan->space_bytes[space], DYNO_BUFFER_GRANULARITY);
      plan->largest_bytes = MAX (plan->largest_bytes, plan->space_bytes[space]);
    }
  sum_arena (plan);
  count_kinds (plan);
  return TRUE;
}

gboolean
dyno_plan_fits_buffers (const DynoPlan *plan)
{
  return plan->largest_bytes <= plan->buffer_bytes;
}

void
dyno_plan_merge (DynoPlan *plan, const DynoPlan *other)
{
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    plan->space_bytes[space] = MAX (plan->space_bytes[space], other->space_bytes[space]);
  /* Both plans must be for one device. */
  g_return_if_fail (plan->n_arena_buffers == 0 || plan->buffer_bytes == other->buffer_bytes);
  for (guint i = 0; i < other->n_arena_buffers; i++)
    plan->arena_bytes[i] = MAX (plan->arena_bytes[i], other->arena_bytes[i]);
  plan->n_arena_buffers = MAX (plan->n_arena_buffers, other->n_arena_buffers);
  plan->buffer_bytes = other->buffer_bytes;
  plan->largest_bytes = MAX (plan->largest_bytes, other->largest_bytes);
  sum_arena (plan);
  plan->naive_arena_bytes = MAX (plan->naive_arena_bytes, other->naive_arena_bytes);
  plan->n_slots = MAX (plan->n_slots, other->n_slots);
  plan->n_input_slots = MAX (plan->n_input_slots, other->n_input_slots);
  plan->snapshot = plan->snapshot || other->snapshot;
  plan->halves = plan->halves || other->halves;
  plan->shared = plan->shared || other->shared;
  plan->inbox_bytes = MAX (plan->inbox_bytes, other->inbox_bytes);
  plan->recomputed_share = MAX (plan->recomputed_share, other->recomputed_share);
  count_kinds (plan);
}

void
dyno_plan_set_snapshot (DynoPlan *plan, gboolean snapshot)
{
  plan->snapshot = snapshot;
  count_kinds (plan);
}

void
dyno_plan_set_halves (DynoPlan *plan, gboolean halves)
{
  plan->halves = halves;
  count_kinds (plan);
}

void
dyno_plan_set_inbox (DynoPlan *plan, guint64 inbox_bytes)
{
  plan->inbox_bytes = inbox_bytes;
  count_kinds (plan);
}
