/* SPDX-License-Identifier: MIT */
/* contract: sums of products of the elements of one or two tensors over some of their indices, as
 * Einstein's sum writes them: products of matrices of any axes, products with repeated values, sums
 * and repetitions.  In each sample
 *     y[o] = scale * sum over s of a[o, s] * b[o, s]
 * where o are the digits of the index of y, and s the summed digits; each operand has some of the
 * digits.  Inputs a (N, ...) or (1, ...), which all samples share, and b, likewise or NULL; output
 * y.
 * contract_backward, one for each input that needs a gradient: the contraction of dy and the
 * other input over the digits that the input lacks, and over the samples for an input that they
 * share.  Inputs dy and the other input (or NULL); output the input's gradient.
 *
 * Two kernels: contract_sum has an element for an invocation, or for several where elements are few
 * and sums long; contract_tile is a product of matrices through shared memory, for cards. */
#include "contract-push.h"
#include "elementwise.h"
#include "ops.h"
#include <string.h>

G_STATIC_ASSERT (DYNO_CONTRACT_MAX_PARTS == DYNO_CONTRACT_MOST_PARTS);

typedef DynoContractPart Part;

typedef struct {
  guint32 n, n_out; /* parts, and those of them that y has, which come first */
  Part parts[DYNO_CONTRACT_MAX_PARTS];
  float scale;
  guint32 samples; /* that are summed; 1: each sample has a result */
  gboolean accumulate;
} Contract;

enum { INPUT_A, INPUT_B, N_INPUTS };

/* A tile of fewer rows, columns or summed indices is too empty. */
#define TILE_LEAST       16
#define TILE_LEAST_DEPTH 8
/* contract_sum: the invocations that keep a large card busy, and least summed indices of each */
#define BUSY_INVOCATIONS 65536
#define LEAST_SUMMED     8
/* llvmpipe's loops end silently after 65535 iterations in all */
#define MOST_ITERATIONS 60000

static guint64
count_parts (const Contract *c, guint from, guint to)
{
  guint64 count = 1;

  for (guint i = from; i < to; i++)
    count *= c->parts[i].extent;
  return count;
}

static guint64
count_summed (const Contract *c)
{
  return count_parts (c, c->n_out, c->n);
}

/* Lowering ------------------------------------------------------------------------------------- */

/* The parts of y that only a has, or only b, as a set of bits, and their number of values. */
static guint
find_own (const Contract *c, gboolean of_a, guint64 *count)
{
  guint set = 0;

  *count = 1;
  for (guint i = 0; i < c->n_out; i++)
    {
      const Part *part = &c->parts[i];
      if ((of_a ? part->a : part->b) == 0 || (of_a ? part->b : part->a) != 0)
        continue;
      set |= 1u << i;
      *count *= part->extent;
    }
  return set;
}

/* TRUE: neighbours in the operand's memory differ in a summed index. */
static gboolean
is_deep (const Contract *c, gboolean of_a)
{
  for (guint i = c->n_out; i < c->n; i++)
    if ((of_a ? c->parts[i].a : c->parts[i].b) == 1)
      return TRUE;
  return FALSE;
}

static void
set_operand (DynoKernelSpec *spec, const DynoTensor *x, guint id)
{
  dyno_kernel_spec_set (spec, id, x && x->n > 1 ? x->h * x->w * x->cp : 0);
  dyno_kernel_spec_set (spec, id + 1, x ? x->c : 1);
  dyno_kernel_spec_set (spec, id + 2, x ? x->cp : 1);
}

static DynoKernelSpec
make_spec (const DynoNode *node, const char *shader)
{
  const Contract *c = node->attributes;
  const DynoTensor *a = node->inputs[INPUT_A], *b = node->inputs[INPUT_B], *y = node->outputs[0];
  DynoKernelSpec spec = { .shader = shader, .push_bytes = sizeof (DynoContractPush) };
  guint32 scale;

  dyno_elementwise_type (&spec, y->dtype);
  if (a->dtype == DYNO_DTYPE_F16)
    dyno_kernel_spec_macro (&spec, "HALF_A=1");
  if (b)
    dyno_kernel_spec_macro (&spec, b->dtype == DYNO_DTYPE_F16 ? "HAS_B=1 HALF_B=1" : "HAS_B=1");
  if (c->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  dyno_kernel_spec_macro (&spec, "PARTS=%u", c->n);
  dyno_kernel_spec_macro (&spec, "OUT=%u", c->n_out);
  memcpy (&scale, &c->scale, sizeof scale);
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_CVECS, y->cp / dyno_dtype_lanes (y->dtype));
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_PIXELS, y->h * y->w);
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_C, y->c);
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_SUMMED, (guint32) count_summed (c));
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_SAMPLES, c->samples);
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_SCALE, scale);
  set_operand (&spec, a, DYNO_CONTRACT_A);
  set_operand (&spec, b, DYNO_CONTRACT_B);
  for (guint i = 0; i < c->n; i++)
    {
      dyno_kernel_spec_set (&spec, DYNO_CONTRACT_PARTS + 3 * i, c->parts[i].extent);
      dyno_kernel_spec_set (&spec, DYNO_CONTRACT_PARTS + 3 * i + 1, c->parts[i].a);
      dyno_kernel_spec_set (&spec, DYNO_CONTRACT_PARTS + 3 * i + 2, c->parts[i].b);
    }
  return spec;
}

static void
append (DynoLowering *lowering, DynoNode *node, const char *pass, const DynoKernelSpec *spec,
        guint64 groups)
{
  const Contract *c = node->attributes;
  DynoTensor *a = node->inputs[INPUT_A], *b = node->inputs[INPUT_B], *y = node->outputs[0];
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, pass, spec,
                              (guint32) CLAMP (groups, 1, MIN (65535, info->max_groups_x)), 1, 1);

  dispatch->flops = node->op->flops (node);
  dispatch->bytes =
      a->size_bytes + (b ? b->size_bytes : 0) + y->size_bytes * (c->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoContractPush, a, a, DYNO_ACCESS_READ);
  if (b)
    DYNO_BIND (dispatch, DynoContractPush, b, b, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoContractPush, target, y, dyno_access_sum (c->accumulate));
}

/* FALSE: the node is no product of matrices that fills tiles, or the device lacks room for them. */
static gboolean
lower_tiles (DynoLowering *lowering, DynoNode *node, const char *pass)
{
  const Contract *c = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  const DynoTensor *y = node->outputs[0];
  guint64 high, wide, all = count_parts (c, 0, c->n_out);
  guint rows = find_own (c, TRUE, &high), columns = find_own (c, FALSE, &wide);

  if (dyno_info_is_software (info) || !node->inputs[INPUT_B] || high < TILE_LEAST
      || wide < TILE_LEAST || count_summed (c) < TILE_LEAST_DEPTH
      || info->max_invocations < DYNO_CONTRACT_LOCAL)
    return FALSE;
  guint64 tiles = (high + DYNO_CONTRACT_SIDE - 1) / DYNO_CONTRACT_SIDE
                  * ((wide + DYNO_CONTRACT_SIDE - 1) / DYNO_CONTRACT_SIDE) * (all / high / wide)
                  * y->n;
  if (tiles > G_MAXINT32)
    return FALSE;
  DynoKernelSpec spec = make_spec (node, "contract/contract_tile.comp");
  spec.local_size[0] = DYNO_CONTRACT_LOCAL;
  dyno_kernel_spec_macro (&spec, "ROWS=%u", rows);
  dyno_kernel_spec_macro (&spec, "COLUMNS=%u", columns);
  if (is_deep (c, TRUE))
    dyno_kernel_spec_macro (&spec, "A_DEEP=1");
  if (is_deep (c, FALSE))
    dyno_kernel_spec_macro (&spec, "B_DEEP=1");
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_COUNT, (guint32) tiles);
  append (lowering, node, pass, &spec, tiles);
  return TRUE;
}

static void
lower_sums (DynoLowering *lowering, DynoNode *node, const char *pass)
{
  const Contract *c = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoKernelSpec spec = make_spec (node, "contract/contract_sum.comp");
  guint32 count = dyno_elementwise_count (lowering, node->outputs[0]),
          local = dyno_elementwise_local (info), split = 1;
  gboolean software = dyno_info_is_software (info);
  guint64 summed = count_summed (c) * c->samples;

  while (split * 4 <= local
         && (software ? summed / split > MOST_ITERATIONS / 4
                      : summed / split >= 4 * LEAST_SUMMED
                            && (guint64) count * split < BUSY_INVOCATIONS))
    split *= 4;
  guint64 groups = ((guint64) count * split + local - 1) / local,
          most = MIN (65535, info->max_groups_x);
  if (software && (summed / split + 1) * ((groups + most - 1) / most) > MOST_ITERATIONS)
    {
      dyno_graph_fail (dyno_lowering_get_graph (lowering), DYNO_NN_ERROR_UNSUPPORTED,
                       "%s: sums of %" G_GUINT64_FORMAT
                       " products are too long for this driver; lower the batch",
                       node->name, summed);
      return;
    }
  spec.local_size[0] = local;
  dyno_elementwise_words (&spec, info);
  dyno_kernel_spec_macro (&spec, "SPLIT=%u", split);
  dyno_kernel_spec_set (&spec, DYNO_CONTRACT_COUNT, count);
  append (lowering, node, pass, &spec, groups);
}

static void
lower_pass (DynoLowering *lowering, DynoNode *node, const char *pass)
{
  if (!lower_tiles (lowering, node, pass))
    lower_sums (lowering, node, pass);
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "forward");
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  lower_pass (lowering, node, "backward");
}

static guint64
count_flops (const DynoNode *node)
{
  const Contract *c = node->attributes;

  return (guint64) node->outputs[0]->n * c->samples * count_parts (c, 0, c->n)
         * (node->inputs[INPUT_B] ? 2 : 1);
}

#define PART(i)                                                                      \
  DYNO_ATTRIBUTE (Contract, parts[i].extent), DYNO_ATTRIBUTE (Contract, parts[i].a), \
      DYNO_ATTRIBUTE (Contract, parts[i].b)
static const DynoAttribute attributes[] = {
  DYNO_ATTRIBUTE (Contract, n),
  DYNO_ATTRIBUTE (Contract, n_out),
  PART (0),
  PART (1),
  PART (2),
  PART (3),
  PART (4),
  PART (5),
  PART (6),
  PART (7),
  PART (8),
  PART (9),
  DYNO_ATTRIBUTE (Contract, scale),
  DYNO_ATTRIBUTE (Contract, samples),
  DYNO_ATTRIBUTE (Contract, accumulate),
};
#undef PART

static const DynoOpClass backward_class = { .name = "contract_backward",
                                            DYNO_OP_ATTRIBUTES (attributes),
                                            .lower = lower_backward,
                                            .flops = count_flops };

/* Building ------------------------------------------------------------------------------------- */

/* Copies parts of more than one element, and joins neighbours that all operands have contiguous;
 * returns the number in all. */
static guint
merge_parts (const Part *parts, guint n, Part *merged)
{
  guint k = 0;

  for (guint i = 0; i < n; i++)
    {
      Part *last = k > 0 ? &merged[k - 1] : NULL;
      if (parts[i].extent == 1)
        continue;
      if (last && last->a == (guint64) parts[i].a * parts[i].extent
          && last->b == (guint64) parts[i].b * parts[i].extent)
        *last = (Part){ last->extent * parts[i].extent, parts[i].a, parts[i].b };
      else
        merged[k++] = parts[i];
    }
  return k;
}

/* The strides in y of its parts, of which there are n_out: those of its dense index. */
static void
find_strides (const Contract *c, guint32 *strides)
{
  guint32 stride = 1;

  memset (strides, 0, DYNO_CONTRACT_MAX_PARTS * sizeof *strides);
  for (guint i = c->n_out; i-- > 0; stride *= c->parts[i].extent)
    strides[i] = stride;
}

static void
append_gradient (DynoGraph *graph, DynoNode *node, guint input)
{
  const Contract *c = node->attributes;
  DynoTensor *y = node->outputs[0], *x = node->inputs[input], *other = node->inputs[1 - input],
             *dy = dyno_graph_gradient (graph, y);
  Contract back = { .scale = c->scale, .samples = x->n < y->n ? y->n : 1 };
  guint32 in_y[DYNO_CONTRACT_MAX_PARTS], own[DYNO_CONTRACT_MAX_PARTS];
  Part parts[DYNO_CONTRACT_MAX_PARTS];
  guint n = 0;

  DynoTensor *dx = dyno_graph_gradient_target (graph, x, &back.accumulate);
  if (!dx)
    return;
  find_strides (c, in_y);
  /* the digits of x by falling stride, which is the order of its index, then the others */
  for (guint i = 0; i < c->n; i++)
    {
      guint32 stride = input == INPUT_A ? c->parts[i].a : c->parts[i].b;
      const Part part = { c->parts[i].extent, in_y[i],
                          input == INPUT_A ? c->parts[i].b : c->parts[i].a };
      guint k = n++;
      for (; k > 0 && own[k - 1] < stride; k--)
        {
          own[k] = own[k - 1];
          parts[k] = parts[k - 1];
        }
      own[k] = stride;
      parts[k] = part;
    }
  guint n_out = 0;
  while (n_out < n && own[n_out] > 0)
    n_out++;
  back.n_out = merge_parts (parts, n_out, back.parts);
  back.n = back.n_out + merge_parts (parts + n_out, n - n_out, back.parts + back.n_out);
  g_autofree char *name = g_strdup_printf ("%s.backward.%u", node->name, input);
  dyno_graph_node (graph, &backward_class, name, (DynoTensor *[]){ dy, other }, N_INPUTS, &dx, 1,
                   &back, sizeof back);
}

static void
backward (DynoGraph *graph, DynoNode *node)
{
  if (!dyno_graph_gradient (graph, node->outputs[0]))
    return;
  for (guint i = 0; i < N_INPUTS; i++)
    if (node->inputs[i] && node->inputs[i]->needs_gradient)
      append_gradient (graph, node, i);
}

static const DynoOpClass contract_class = { .name = "contract",
                                            .traits = { .restorable = TRUE },
                                            DYNO_OP_ATTRIBUTES (attributes),
                                            .backward = backward,
                                            .lower = lower_forward,
                                            .flops = count_flops };

/* TRUE: the parts cover each element of the operand exactly once. */
static gboolean
covers (const Part *parts, guint n, gboolean of_a, const DynoTensor *x)
{
  guint64 count = (guint64) x->h * x->w * x->c, stride = 1;

  for (guint found = 0; stride < count; found++)
    {
      guint64 next = 0;
      for (guint i = 0; i < n; i++)
        if (parts[i].extent > 1 && (of_a ? parts[i].a : parts[i].b) == stride)
          next = next == 0 ? parts[i].extent : G_MAXUINT32;
      if (next == 0 || found == n)
        return FALSE;
      stride *= next;
    }
  guint64 all = 1;
  for (guint i = 0; i < n && all <= count; i++)
    all *= (of_a ? parts[i].a : parts[i].b) != 0 ? parts[i].extent : 1;
  return stride == count && all == count;
}

DynoTensor *
dyno_contract (DynoGraph *graph, DynoTensor *a, DynoTensor *b, const char *name,
               const DynoContractParams *params)
{
  if (!a || (params->has_b && !b))
    return NULL;
  const guint n = params->n_out + params->n_summed;
  guint64 size = (guint64) params->h * params->w * params->c, out = 1, summed = 1;
  guint32 samples = MAX (MAX (a->n, params->samples), b ? b->n : 1);
  g_autofree Part *merged = g_new (Part, MAX (1, n));
  Contract c = { .scale = params->scale == 0 ? 1 : (float) params->scale, .samples = 1 };

  for (guint i = 0; i < params->n_out && out <= G_MAXINT32; i++)
    out *= params->parts[i].extent;
  for (guint i = params->n_out; i < n && summed <= G_MAXINT32; i++)
    summed *= params->parts[i].extent;
  if (out != size || size > G_MAXINT32 || summed * samples > G_MAXINT32
      || (a->n != samples && a->n != 1) || (b && b->n != samples && b->n != 1)
      || !covers (params->parts, n, TRUE, a) || (b && !covers (params->parts, n, FALSE, b)))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: the indices of (%u, %u, %u) and the summed ones do not fit its "
                            "inputs, or are too many",
                            name, params->h, params->w, params->c);
  guint n_out = merge_parts (params->parts, params->n_out, merged),
        n_all =
            n_out + merge_parts (params->parts + params->n_out, params->n_summed, merged + n_out);
  if (n_all > DYNO_CONTRACT_MAX_PARTS)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a product over %u indices is too complex, Dyno has up to %u", name,
                            n_all, DYNO_CONTRACT_MAX_PARTS);
  c.n = n_all;
  c.n_out = n_out;
  memcpy (c.parts, merged, n_all * sizeof *merged);
  DynoTensor *y = dyno_graph_activation (graph, name, samples, params->h, params->w, params->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &contract_class, name, (DynoTensor *[]){ a, b }, N_INPUTS, &y, 1, &c,
                   sizeof c);
  return y;
}
