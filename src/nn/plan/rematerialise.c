/* SPDX-License-Identifier: MIT */
/* Activation checkpointing: outputs are dropped after the forward pass and computed again in the
 * backward pass, right before their first use there.
 *
 * This works on the lowered list, so it needs nothing from the ops but the trait `restorable`.  A
 * rematerialised node writes fresh tensors; backward's reads are bound to these, and the forward
 * values die early.
 * Where the inputs of a rematerialised node were dropped themselves, they are rematerialised first,
 * so that a chain of dropped outputs is computed again as a whole and kept until the backward pass
 * has used it.  The choice of outputs to drop is a knapsack problem: each output saves its bytes
 * and costs the estimated seconds of its node, and all together may cost 35 % of the step's time.
 * Outputs are taken in the order of bytes per second up to several shares of that time, and chains
 * are cut at several lengths; the resulting list with the lowest peak is taken, so that the peak
 * never grows.  Every node runs at most twice, whatever the length of its chain.
 * Without the checkpointing setting this is done only for values that are cheap to compute, which
 * depend only on the step's inputs (the prepared input), and only where the saving is large enough.
 * Invariant: a rematerialised value equals the dropped one to the bit: same kernel, same inputs. */
#include "lowering-private.h"
#include "graph-private.h"
#include "command-list.h"

/* The maximum lengths of chains, in nodes, and the shares of a step's estimated time that are
 * tried. */
static const guint chains[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 };
static const double shares[] = { 0.05, 0.12, 0.2, 0.28, 0.35 };
/* A faster list is better if its peak is higher by at most this share. */
#define EQUAL_PEAK 0.01

/* Without the setting, dropping the prepared input must save this many bytes and this share of the
 * peak. */
#define WORTH_BYTES    (G_GUINT64_CONSTANT (64) << 20)
#define WORTH_FRACTION 25
/* A smaller saving suffices where preparing the input again takes a small share of the step's
 * estimated time. */
#define CHEAP_FRACTION       112
#define CHEAP_WORTH_BYTES    (G_GUINT64_CONSTANT (16) << 20)
#define CHEAP_WORTH_FRACTION 64

typedef struct {
  DynoNode *node;
  GPtrArray *dispatches; /* the second lowering, still bound to the forward tensors */
  double seconds;        /* estimated time of the dispatches */
  guint64 bytes;         /* of the outputs that the node can write again */
  gboolean taken;        /* in this attempt: its outputs may be dropped */
  guint depth;           /* in this attempt; 0: kept */
  gboolean done;         /* in this attempt: its dispatches are in the list */
} Candidate;

typedef struct {
  DynoLowering *lowering;
  GPtrArray *candidates; /* Candidate*, in node order */
  GHashTable *dropped;   /* forward tensor -> Candidate that can write it again */
  GHashTable *fresh;     /* forward tensor -> the tensor that takes its place */
  GHashTable *writers;   /* tensor -> number of nodes that write it */
  GPtrArray *list;       /* the list of this attempt */
} Rematerialisation;

static void
candidate_free (gpointer data)
{
  Candidate *candidate = data;
  g_ptr_array_unref (candidate->dispatches);
  g_free (candidate);
}

static guint
count_writers (Rematerialisation *r, const DynoTensor *tensor)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (r->writers, tensor));
}

static void
find_writers (Rematerialisation *r)
{
  /* tensor -> the node that wrote it last */
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < r->lowering->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (r->lowering->dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        {
          DynoTensor *tensor = dispatch->bindings[b].tensor;
          if (!(dispatch->bindings[b].access & DYNO_ACCESS_WRITE)
              || g_hash_table_lookup (last, tensor) == dispatch->node)
            continue;
          g_hash_table_insert (last, tensor, (gpointer) dispatch->node);
          g_hash_table_insert (r->writers, tensor,
                               GUINT_TO_POINTER (count_writers (r, tensor) + 1));
        }
    }
}

/* TRUE: every tensor that the node reads and writes still has its value from the forward pass, and
 * no output must be kept. */
static gboolean
node_is_stable (Rematerialisation *r, const DynoNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] && node->inputs[i]->space == DYNO_SPACE_ARENA
        && count_writers (r, node->inputs[i]) > 1)
      return FALSE;
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] && (count_writers (r, node->outputs[i]) > 1 || node->outputs[i]->keep))
      return FALSE;
  return TRUE;
}

static gboolean
node_reads_arena (const DynoNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] && node->inputs[i]->space == DYNO_SPACE_ARENA)
      return TRUE;
  return FALSE;
}

static gboolean
node_has_output (const DynoNode *node, const DynoTensor *tensor)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] == tensor)
      return TRUE;
  return FALSE;
}

static void
make_fresh (Rematerialisation *r, Candidate *candidate, DynoTensor *tensor)
{
  if (g_hash_table_contains (r->fresh, tensor))
    return;
  DynoTensor *fresh = dyno_lowering_tensor_like (r->lowering, tensor);
  if (!fresh)
    return;
  g_hash_table_insert (r->fresh, tensor, fresh);
  g_hash_table_insert (r->dropped, tensor, candidate);
  candidate->bytes += tensor->size_bytes;
}

/* Lowers the node a second time and records which of its outputs the second lowering writes. */
static void
add_candidate (Rematerialisation *r, DynoNode *node)
{
  DynoLowering *lowering = r->lowering;
  Candidate *candidate = g_new0 (Candidate, 1);
  candidate->node = node;
  candidate->dispatches = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (r->candidates, candidate);
  GPtrArray *forward = lowering->dispatches;
  guint n_points = lowering->choice_points->len;
  lowering->dispatches = candidate->dispatches;
  lowering->rematerialising = TRUE;
  dyno_lowering_node (lowering, node);
  lowering->rematerialising = FALSE;
  lowering->dispatches = forward;
  g_ptr_array_set_size (lowering->choice_points, (gint) n_points);
  for (guint i = 0; i < candidate->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (candidate->dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        if ((dispatch->bindings[b].access & DYNO_ACCESS_WRITE)
            && node_has_output (node, dispatch->bindings[b].tensor))
          make_fresh (r, candidate, dispatch->bindings[b].tensor);
    }
  candidate->seconds = dyno_dispatches_seconds (candidate->dispatches, &lowering->info);
}

static void
find_candidates (Rematerialisation *r)
{
  GPtrArray *nodes = dyno_graph_get_nodes (r->lowering->graph);
  gboolean all = r->lowering->graph->params.checkpointing;
  for (guint i = 0; i < nodes->len; i++)
    {
      DynoNode *node = g_ptr_array_index (nodes, i);
      if (node->stage == DYNO_STAGE_FORWARD && node->op->traits.restorable
          && (all || !node_reads_arena (node)) && node_is_stable (r, node))
        add_candidate (r, node);
    }
}

static void
set_depths (Rematerialisation *r, guint limit)
{
  for (guint i = 0; i < r->candidates->len; i++)
    {
      Candidate *candidate = g_ptr_array_index (r->candidates, i);
      guint depth = 1;
      for (guint k = 0; k < candidate->node->n_inputs; k++)
        {
          const Candidate *source = g_hash_table_lookup (r->dropped, candidate->node->inputs[k]);
          if (source && candidate->node->inputs[k])
            depth = MAX (depth, 1 + source->depth);
        }
      candidate->depth = candidate->taken && depth <= limit ? depth : 0;
      candidate->done = FALSE;
    }
}

static void append_rebound (Rematerialisation *r, const DynoDispatch *dispatch);

/* Puts a dropped tensor's candidate into the list, after the candidates that it depends on. */
static void
append_candidate (Rematerialisation *r, Candidate *candidate)
{
  if (candidate->done)
    return;
  candidate->done = TRUE;
  for (guint i = 0; i < candidate->dispatches->len; i++)
    append_rebound (r, g_ptr_array_index (candidate->dispatches, i));
}

static void
append_rebound (Rematerialisation *r, const DynoDispatch *dispatch)
{
  DynoDispatch *copy = g_memdup2 (dispatch, sizeof *dispatch);
  for (guint b = 0; b < copy->n_bindings; b++)
    {
      Candidate *candidate = g_hash_table_lookup (r->dropped, copy->bindings[b].tensor);
      if (!candidate || candidate->depth == 0)
        continue;
      append_candidate (r, candidate);
      copy->bindings[b].tensor = g_hash_table_lookup (r->fresh, copy->bindings[b].tensor);
    }
  g_ptr_array_add (r->list, copy);
}

static GPtrArray *
make_list (Rematerialisation *r, guint limit)
{
  set_depths (r, limit);
  r->list = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < r->lowering->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (r->lowering->dispatches, i);
      if (dispatch->stage == DYNO_STAGE_FORWARD)
        g_ptr_array_add (r->list, g_memdup2 (dispatch, sizeof *dispatch));
      else
        append_rebound (r, dispatch);
    }
  return g_steal_pointer (&r->list);
}

/* The bytes that dropping must save without the setting, at this peak. */
static guint64
worth_bytes (const Rematerialisation *r, guint64 peak)
{
  double again = 0, step = dyno_dispatches_seconds (r->lowering->dispatches, &r->lowering->info);
  for (guint i = 0; i < r->candidates->len; i++)
    again += ((const Candidate *) g_ptr_array_index (r->candidates, i))->seconds;
  return again * CHEAP_FRACTION <= step ? MAX (CHEAP_WORTH_BYTES, peak / CHEAP_WORTH_FRACTION)
                                        : MAX (WORTH_BYTES, peak / WORTH_FRACTION);
}

/* Sorts the most bytes per second first. */
static gint
compare_worth (gconstpointer a, gconstpointer b)
{
  const Candidate *first = *(Candidate *const *) a, *second = *(Candidate *const *) b;
  double x = (double) first->bytes * second->seconds, y = (double) second->bytes * first->seconds;
  return (x < y) - (x > y);
}

/* Takes the candidates that fit into these seconds. */
static guint
take (const GPtrArray *by_worth, double seconds)
{
  guint n = 0;
  for (guint i = 0; i < by_worth->len; i++)
    {
      Candidate *candidate = g_ptr_array_index (by_worth, i);
      candidate->taken = candidate->seconds <= seconds;
      if (!candidate->taken)
        continue;
      seconds -= candidate->seconds;
      n++;
    }
  return n;
}

typedef struct {
  GPtrArray *list; /* NULL: no list is better than the original one */
  guint64 peak;
  double seconds;
} Best;

/* Takes the list if it is better; a list with an equal peak has to be faster. */
static void
consider (Rematerialisation *r, Best *best, GPtrArray *list, guint64 peak)
{
  double seconds = dyno_dispatches_seconds (list, &r->lowering->info);
  guint64 near = (guint64) ((double) best->peak * EQUAL_PEAK);
  gboolean better = seconds < best->seconds ? peak < best->peak + (best->list ? near : 0)
                                            : peak + near < best->peak;
  if (better)
    {
      g_clear_pointer (&best->list, g_ptr_array_unref);
      *best = (Best){ g_ptr_array_ref (list), peak, seconds };
    }
  g_ptr_array_unref (list);
}

/* Without the setting: chains of one node, if they are worth it. */
static void
drop_unasked (Rematerialisation *r, Best *best)
{
  guint64 worth = worth_bytes (r, best->peak);
  take (r->candidates, G_MAXDOUBLE);
  GPtrArray *list = make_list (r, 1);
  guint64 peak = dyno_dispatches_peak (list);
  if (peak + worth < best->peak)
    *best = (Best){ g_ptr_array_ref (list), peak, 0 };
  g_ptr_array_unref (list);
}

static void
drop_asked (Rematerialisation *r, Best *best)
{
  g_autoptr (GPtrArray) by_worth = g_ptr_array_new ();
  double step = best->seconds;
  guint before = 0;
  take (by_worth, -1);
  g_ptr_array_unref (dyno_dispatches_order (make_list (r, 0), &best->peak));
  for (guint i = 0; i < r->candidates->len; i++)
    g_ptr_array_add (by_worth, g_ptr_array_index (r->candidates, i));
  g_ptr_array_sort (by_worth, compare_worth);
  for (guint s = 0; s < G_N_ELEMENTS (shares); s++)
    {
      guint n = take (by_worth, shares[s] * step);
      for (guint c = 0; c < G_N_ELEMENTS (chains) && n > before; c++)
        {
          guint64 peak;
          /* lists of other chain lengths also differ in the units that may wait */
          GPtrArray *list = dyno_dispatches_order (make_list (r, chains[c]), &peak);
          consider (r, best, list, peak);
        }
      before = n;
    }
}

void
dyno_lowering_rematerialise (DynoLowering *lowering)
{
  Rematerialisation r = { .lowering = lowering };
  Best best = { .peak = dyno_dispatches_peak (lowering->dispatches),
                .seconds = dyno_dispatches_seconds (lowering->dispatches, &lowering->info) };
  r.candidates = g_ptr_array_new_with_free_func (candidate_free);
  r.dropped = g_hash_table_new (NULL, NULL);
  r.fresh = g_hash_table_new (NULL, NULL);
  r.writers = g_hash_table_new (NULL, NULL);
  find_writers (&r);
  find_candidates (&r);
  if (r.candidates->len > 0)
    (lowering->graph->params.checkpointing ? drop_asked : drop_unasked) (&r, &best);
  if (best.list)
    {
      double step = dyno_dispatches_seconds (lowering->dispatches, &lowering->info),
             with = dyno_dispatches_seconds (best.list, &lowering->info);
      lowering->recomputed_share = step > 0 ? with / step - 1 : 0;
      g_ptr_array_unref (lowering->dispatches);
      lowering->dispatches = best.list;
    }
  g_ptr_array_unref (r.candidates);
  g_hash_table_unref (r.dropped);
  g_hash_table_unref (r.fresh);
  g_hash_table_unref (r.writers);
}
