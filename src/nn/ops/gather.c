/* SPDX-License-Identifier: MIT */
/* gather: the elements of each sample picked by constant indices, y[i] = x[from[i]], where an
 * element of x may be read several times or never, and a negative index gives 0.  Inputs x (N, H,
 * W, C), or a parameter's master (1, h, w, c in y), and the table; output y (N, h, w, c).
 * gather_backward: dx[k] (+)= the sum of dy[i] over all i with from[i] = k, in fp32 and in the
 * order of i; for a parameter it is added to the parameter's gradient.  Inputs dy, the table and,
 * where an element of x is read twice or more, the lists; output dx.
 *
 * The tables are constants of the graph and hold offsets in memory, so that a kernel takes one load
 * to find an element: they have an index for each element in memory of a sample of the target, -1
 * for the pads of its channels.  Where whole accesses are moved, there is one index per access.
 * The tables of the backward pass follow all tables of the forward pass, so that a graph without a
 * backward pass has the same constants at the same offsets. */
#include "channels-private.h"
#include "checked.h"
#include "elementwise.h"
#include "gather-push.h"
#include "graph-private.h"
#include "network.h"
#include "ops.h"

/* most values of a sample, for which a table is still below the limit of a graph's constants */
#define MOST_VALUES (1u << 27)
/* Most times that an element is read; taken four at a time, they stay below llvmpipe's loop
 * limit. */
#define MOST_READS 200000

enum { GATHER_SOURCE, GATHER_TABLE, GATHER_LISTS, GATHER_N_INPUTS };

typedef struct {
  gboolean is_aligned; /* the table has one index per access */
  gboolean accumulate;
} Gather;

/* --- tables ----------------------------------------------------------------------------------- */

/* A sample in memory. */
typedef struct {
  guint32 size;     /* elements, pads included */
  guint8 *is_value; /* 0: a pad, which is zero */
} Sample;

static void
sample_clear (Sample *sample)
{
  g_free (sample->is_value);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sample, sample_clear)

static guint32
sample_size (const DynoTensor *x)
{
  return x->h * x->w * x->cp;
}

static void
sample_of_tensor (Sample *sample, const DynoTensor *x)
{
  sample->size = sample_size (x);
  sample->is_value = g_new (guint8, sample->size);
  for (guint32 i = 0; i < sample->size; i++)
    sample->is_value[i] = i % x->cp < x->c;
}

static void
sample_of_parameter (Sample *sample, const DynoParameter *parameter, const guint32 *places)
{
  guint64 count = dyno_parameter_count (parameter);

  sample->size = (guint32) parameter->n_elements;
  sample->is_value = g_new0 (guint8, sample->size);
  for (guint64 i = 0; i < count; i++)
    sample->is_value[places[i]] = 1;
}

/* TRUE: each access of the target, whose elements have the sources `map`, has the same values as
 * one access of the source.  y: the target of the forward pass, whose values must then not be read
 * from pads, since the backward pass would write these; or NULL. */
static gboolean
is_aligned (const gint32 *map, guint32 count, const Sample *source, const DynoTensor *y,
            guint32 lanes)
{
  for (guint32 i = 0; i < count; i++)
    {
      guint32 lane = i % lanes;
      gint32 first = map[i - lane];
      if (first < 0 && map[i] < 0)
        continue;
      if (first < 0 || first % (gint32) lanes != 0)
        return FALSE;
      gboolean may_be_pad = !y || i % y->cp >= y->c;
      gboolean is_zero = map[i] < 0 && may_be_pad && !source->is_value[(guint32) first + lane];
      if (!is_zero && map[i] != first + (gint32) lane)
        return FALSE;
    }
  return TRUE;
}

/* The table for a map from the elements in memory of the target, which is shortened in place; y as
 * in is_aligned; *aligned: the table has one index per access.  NULL: the graph failed. */
static DynoTensor *
append_table (DynoGraph *graph, const char *name, gint32 *map, guint32 count, const Sample *source,
              const DynoTensor *y, gboolean *aligned)
{
  g_autofree char *table_name = g_strconcat (name, ".table", NULL);
  guint32 lanes = dyno_dtype_lanes (dyno_graph_get_storage (graph));

  *aligned = is_aligned (map, count, source, y, lanes);
  if (*aligned)
    {
      count /= lanes;
      for (guint32 i = 0; i < count; i++)
        map[i] = map[i * lanes] < 0 ? -1 : map[i * lanes] / (gint32) lanes;
    }
  return dyno_graph_constant (graph, table_name, DYNO_DTYPE_I32, 1, 1, count, map);
}

/* The map that a forward node's table was made from, one index for each element in memory of y, but
 * -1 for the pads of y too; g_free. */
static gint32 *
read_map (const DynoGraph *graph, const DynoNode *node)
{
  const Gather *gather = node->attributes;
  const DynoTensor *y = node->outputs[0];
  const gint32 *table = (const gint32 *) (gconstpointer) (graph->constants->data
                                                          + node->inputs[GATHER_TABLE]->offset);
  guint32 count = sample_size (y), lanes = dyno_dtype_lanes (y->dtype);
  gint32 *map = g_new (gint32, count);

  for (guint32 i = 0; i < count; i++)
    {
      gint32 at = gather->is_aligned ? table[i / lanes] : table[i];
      map[i] = at >= 0 && gather->is_aligned ? at * (gint32) lanes + (gint32) (i % lanes) : at;
      if (i % y->cp >= y->c)
        map[i] = -1;
    }
  return map;
}

/* --- lowering --------------------------------------------------------------------------------- */

/* One pass from the source to the target, a tensor or a parameter; the lists are those of
 * gather_sums, or NULL. */
static void
lower_pass (DynoLowering *lowering, DynoNode *node, const char *pass)
{
  const Gather *gather = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *source = node->inputs[GATHER_SOURCE], *target = node->outputs[0],
             *table = node->inputs[GATHER_TABLE], *lists = node->inputs[GATHER_LISTS];
  DynoDtype storage = dyno_graph_get_storage (dyno_lowering_get_graph (lowering));
  guint32 lanes = dyno_dtype_lanes (storage),
          count =
              dyno_elementwise_count_of (lowering, target, lanes * dyno_dtype_size (target->dtype));
  DynoKernelSpec spec = { .shader = lists ? "gather/gather_sums.comp" : "gather/gather_copy.comp",
                          .push_bytes = sizeof (DynoGatherPush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, storage);
  dyno_elementwise_words (&spec, info);
  if (source->parameter)
    dyno_kernel_spec_macro (&spec, "FROM_FLOATS=1");
  if (target->parameter)
    dyno_kernel_spec_macro (&spec, "TO_FLOATS=1");
  if (gather->is_aligned)
    dyno_kernel_spec_macro (&spec, "ALIGNED=1");
  if (gather->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  dyno_kernel_spec_set (&spec, DYNO_GATHER_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_GATHER_SAMPLE, count / target->n);
  dyno_kernel_spec_set (&spec, DYNO_GATHER_FROM, sample_size (source));
  guint32 groups = dyno_elementwise_groups (info, count, spec.local_size[0]);
  /* The loops over the lists leave no iterations for a loop over accesses. */
  if (lists)
    groups = (guint32) MIN (dyno_div_up (count, spec.local_size[0]), info->max_groups_x);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, pass, &spec, groups, 1, 1);
  dispatch->bytes = MIN (source->size_bytes, target->size_bytes)
                    + target->size_bytes * (gather->accumulate ? 2 : 1) + table->size_bytes
                    + (lists ? lists->size_bytes : 0);
  DYNO_BIND (dispatch, DynoGatherPush, source, source, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoGatherPush, indices, table, DYNO_ACCESS_READ);
  if (lists)
    DYNO_BIND (dispatch, DynoGatherPush, lists, lists, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoGatherPush, target, target, dyno_access_sum (gather->accumulate));
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "backward");
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "forward");
}

static const DynoAttribute attributes[] = { DYNO_ATTRIBUTE (Gather, is_aligned),
                                            DYNO_ATTRIBUTE (Gather, accumulate) };

/* --- backward --------------------------------------------------------------------------------- */

static const DynoOpClass backward_class = { .name = "gather_backward",
                                            DYNO_OP_ATTRIBUTES (attributes),
                                            .lower = lower_backward,
                                            .flops = dyno_channels_flops };
static const DynoOpClass sums_class = { .name = "gather_sums",
                                        DYNO_OP_ATTRIBUTES (attributes),
                                        .lower = lower_backward };

/* Appends the tables of gather_sums.  begins: the number of readers of element k at k + 1, size + 1
 * numbers.  FALSE: the graph failed. */
static gboolean
append_lists (DynoGraph *graph, const char *name, const gint32 *map, guint32 count, gint32 *begins,
              guint32 size, DynoTensor **inputs)
{
  g_autofree char *begins_name = g_strconcat (name, ".begins", NULL),
                  *lists_name = g_strconcat (name, ".lists", NULL);
  guint32 total = 0;

  for (guint32 k = 0; k < size; k++)
    total = (guint32) (begins[k + 1] += begins[k]);
  g_autofree gint32 *next = g_memdup2 (begins, size * sizeof *begins),
                    *lists = g_new (gint32, total);
  for (guint32 i = 0; i < count; i++)
    if (map[i] >= 0)
      lists[next[map[i]]++] = (gint32) i;
  inputs[GATHER_TABLE] =
      dyno_graph_constant (graph, begins_name, DYNO_DTYPE_I32, 1, 1, size + 1, begins);
  inputs[GATHER_LISTS] =
      dyno_graph_constant (graph, lists_name, DYNO_DTYPE_I32, 1, 1, total, lists);
  return inputs[GATHER_TABLE] && inputs[GATHER_LISTS];
}

static void
backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *x = node->inputs[GATHER_SOURCE], *y = node->outputs[0];
  Gather gather = { .accumulate = TRUE };
  DynoTensor *inputs[GATHER_N_INPUTS] = { dyno_graph_gradient (graph, y) };
  DynoTensor *dx = x->parameter ? x->parameter->gradient
                                : dyno_graph_gradient_target (graph, x, &gather.accumulate);
  guint32 count = sample_size (y), size = sample_size (x);
  g_auto (Sample) sample = { 0 };
  gint32 most = 0;

  if (!dx)
    return;
  g_autofree gint32 *map = read_map (graph, node), *begins = g_new0 (gint32, size + 1);
  for (guint32 i = 0; i < count; i++)
    if (map[i] >= 0)
      {
        gint32 readers = ++begins[map[i] + 1];
        most = MAX (most, readers);
      }
  if (most > MOST_READS)
    {
      dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                       "%s: an element is read %d times in a sample, more than %d", node->name,
                       most, MOST_READS);
      return;
    }
  if (most > 1)
    {
      if (append_lists (graph, node->name, map, count, begins, size, inputs))
        dyno_graph_backward_node (graph, node, &sums_class, inputs, GATHER_N_INPUTS, &dx, 1,
                                  &gather, sizeof gather);
      return;
    }
  g_autofree gint32 *inverse = g_new (gint32, size);
  for (guint32 k = 0; k < size; k++)
    inverse[k] = -1;
  for (guint32 i = 0; i < count; i++)
    if (map[i] >= 0)
      inverse[map[i]] = (gint32) i;
  g_autofree char *name = g_strconcat (node->name, ".inverse", NULL);
  sample_of_tensor (&sample, y);
  inputs[GATHER_TABLE] =
      append_table (graph, name, inverse, size, &sample, NULL, &gather.is_aligned);
  if (inputs[GATHER_TABLE])
    dyno_graph_backward_node (graph, node, &backward_class, inputs, GATHER_N_INPUTS, &dx, 1,
                              &gather, sizeof gather);
}

/* --- forward ---------------------------------------------------------------------------------- */

static const DynoOpClass gather_class = { .name = "gather",
                                          .traits = { .restorable = TRUE },
                                          DYNO_OP_ATTRIBUTES (attributes),
                                          .backward = backward,
                                          .lower = lower_forward,
                                          .flops = dyno_channels_flops };

/* TRUE: the sample (h, w, c) is not empty, and its indices are below count, the number of values of
 * the source, which has `size` elements in memory; else the graph failed. */
static gboolean
check (DynoGraph *graph, const char *name, const DynoGatherParams *params, guint64 count,
       guint64 size)
{
  guint64 pixels = (guint64) params->h * params->w,
          channels = dyno_align_up ((guint64) params->c, 8);

  if (pixels == 0 || channels == 0 || pixels > MOST_VALUES || pixels * channels > MOST_VALUES
      || size > MOST_VALUES)
    {
      dyno_graph_fail (
          graph, DYNO_NN_ERROR_SHAPE,
          "%s: a sample (%u, %u, %u) is empty, or it or its source has too many values", name,
          params->h, params->w, params->c);
      return FALSE;
    }
  for (guint64 i = 0; i < pixels * params->c; i++)
    if (params->from[i] < -1 || params->from[i] >= (gint64) count)
      {
        dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                         "%s: the index %d is not among the %" G_GUINT64_FORMAT
                         " values of a sample",
                         name, params->from[i], count);
        return FALSE;
      }
  return TRUE;
}

/* Appends the op; places: the offset in memory of each element of the source, whose pads are known
 * from sample. */
static DynoTensor *
append (DynoGraph *graph, DynoTensor *source, guint32 n, const char *name,
        const DynoGatherParams *params, const guint32 *places, const Sample *sample)
{
  DynoTensor *y = dyno_graph_activation (graph, name, n, params->h, params->w, params->c);
  Gather gather = { 0 };

  if (!y)
    return NULL;
  guint32 count = sample_size (y);
  g_autofree gint32 *map = g_new (gint32, count);
  for (guint32 i = 0; i < count; i++)
    {
      guint32 c = i % y->cp;
      gint32 from = c < y->c ? params->from[(gsize) (i / y->cp) * y->c + c] : -1;
      map[i] = from < 0 ? -1 : (gint32) places[from];
    }
  DynoTensor *table = append_table (graph, name, map, count, sample, y, &gather.is_aligned);
  if (!table)
    return NULL;
  dyno_graph_node (graph, &gather_class, name, (DynoTensor *[]){ source, table, NULL },
                   GATHER_N_INPUTS, &y, 1, &gather, sizeof gather);
  return y;
}

static gboolean
is_identity (const DynoTensor *x, const DynoGatherParams *params)
{
  gint32 count = (gint32) (x->h * x->w * x->c);
  gboolean same = params->h == x->h && params->w == x->w && params->c == x->c;

  for (gint32 i = 0; i < count && same; i++)
    same = params->from[i] == i;
  return same;
}

DynoTensor *
dyno_gather (DynoGraph *graph, DynoTensor *x, const char *name, const DynoGatherParams *params)
{
  if (!x)
    return NULL;
  g_auto (Sample) sample = { 0 };
  guint64 count = (guint64) x->h * x->w * x->c;
  if (!check (graph, name, params, count, (guint64) x->h * x->w * x->cp))
    return NULL;
  if (is_identity (x, params))
    return x;
  g_autofree guint32 *places = g_new (guint32, count);
  for (guint32 i = 0; i < count; i++)
    places[i] = i / x->c * x->cp + i % x->c;
  sample_of_tensor (&sample, x);
  return append (graph, x, x->n, name, params, places, &sample);
}

DynoTensor *
dyno_gather_parameter (DynoGraph *graph, const DynoParameter *parameter, const char *name,
                       const DynoGatherParams *params)
{
  if (!parameter)
    return NULL;
  g_auto (Sample) sample = { 0 };
  guint64 count = dyno_parameter_count (parameter);
  if (!check (graph, name, params, count, parameter->n_elements))
    return NULL;
  g_return_val_if_fail (parameter->n_elements % 8 == 0, NULL);
  g_autofree guint32 *places = g_new (guint32, count);
  dyno_parameter_places (parameter, places);
  sample_of_parameter (&sample, parameter, places);
  return append (graph, parameter->master, 1, name, params, places, &sample);
}

gboolean
dyno_gather_get_indices (const DynoGraph *graph, const DynoNode *node, gint64 *indices)
{
  const DynoTensor *x = node->inputs[GATHER_SOURCE], *y = node->outputs[0];
  g_autofree gint32 *map = read_map (graph, node);
  g_autofree guint32 *places = NULL, *values = NULL;

  if (x->parameter)
    {
      guint64 count = dyno_parameter_count (x->parameter);
      places = g_new (guint32, count);
      values = g_new0 (guint32, x->parameter->n_elements);
      dyno_parameter_places (x->parameter, places);
      for (guint32 i = 0; i < count; i++)
        values[places[i]] = i;
    }
  for (guint32 i = 0; i < y->h * y->w * y->c; i++)
    {
      gint32 at = map[i / y->c * y->cp + i % y->c];
      if (at < 0)
        return FALSE;
      indices[i] = values ? (gint64) values[at] : at / (gint64) x->cp * x->c + at % (gint64) x->cp;
    }
  return TRUE;
}
