/* SPDX-License-Identifier: MIT */
/* permute: the elements of each sample in another order, as by ONNX's Reshape and Transpose.  Input
 * x (N, H, W, C); output y (N, H', W', C') of as many elements.  The index in a sample of y,
 * (h W' + w) C' + c, is a mixed-radix number whose digits are the parts, outermost first; the index
 * in the sample of x is the sum of each digit times the part's stride.
 * permute_backward: the inverse order from dy to dx, added to dx where it has other contributors.
 * Input dy; output dx. */
#include "channels-private.h"
#include "elementwise.h"
#include "ops.h"
#include "permute-push.h"

G_STATIC_ASSERT (DYNO_PERMUTE_MAX_PARTS == DYNO_PERMUTE_MOST_PARTS);

typedef struct {
  guint32 n; /* parts */
  guint32 extent[DYNO_PERMUTE_MAX_PARTS], stride[DYNO_PERMUTE_MAX_PARTS];
  gboolean accumulate;
} Permute;

/* parts of at least this extent are transposed by tiles; with smaller ones the tiles would be too
 * empty */
#define TILE_LEAST 16

/* TRUE: every access of y corresponds to one access of x. */
static gboolean
are_aligned (const Permute *order, const DynoTensor *x, const DynoTensor *y, guint32 lanes)
{
  guint last = order->n - 1;

  return order->stride[last] == 1 && order->extent[last] % lanes == 0 && x->c % lanes == 0
         && y->c % lanes == 0;
}

/* The number of tiles of the matrix of the fastest part of y and the fastest part of x, whose index
 * is *fast; 0: they are the same part, or too small, or gathering is as fast on the device. */
static guint32
count_tiles (const Permute *order, const DynoTensor *y, const DynoDeviceInfo *info, guint *fast)
{
  guint last = order->n - 1;
  guint64 count = y->n;

  for (guint i = 0; i < order->n; i++)
    {
      guint32 extent = order->extent[i];
      if (order->stride[i] == 1)
        *fast = i;
      count *= i == last || order->stride[i] == 1
                   ? (extent + DYNO_PERMUTE_SIDE - 1) / DYNO_PERMUTE_SIDE
                   : extent;
    }
  if (dyno_info_is_software (info) || *fast == last || order->extent[*fast] < TILE_LEAST
      || order->extent[last] < TILE_LEAST || count > G_MAXINT32
      || dyno_elementwise_local (info) % DYNO_PERMUTE_SIDE != 0)
    return 0;
  return (guint32) count;
}

static void
lower_pass (DynoLowering *lowering, DynoNode *node, const char *pass)
{
  const Permute *order = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, y), lanes = dyno_dtype_lanes (y->dtype);
  guint fast = 0;
  guint32 tiles = count_tiles (order, y, info, &fast);
  DynoKernelSpec spec = { .shader =
                              tiles ? "permute/permute_tile.comp" : "permute/permute_copy.comp",
                          .push_bytes = sizeof (DynoPermutePush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, y->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_kernel_spec_macro (&spec, "PARTS=%u", order->n);
  if (tiles)
    dyno_kernel_spec_macro (&spec, "FAST=%u", fast);
  else if (are_aligned (order, x, y, lanes))
    dyno_kernel_spec_macro (&spec, "ALIGNED=1");
  if (order->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  dyno_kernel_spec_set (&spec, DYNO_PERMUTE_COUNT, tiles ? tiles : count);
  dyno_kernel_spec_set (&spec, DYNO_PERMUTE_CVECS, y->cp / lanes);
  dyno_kernel_spec_set (&spec, DYNO_PERMUTE_PIXELS, y->h * y->w);
  dyno_kernel_spec_set (&spec, DYNO_PERMUTE_C, y->c);
  dyno_kernel_spec_set (&spec, DYNO_PERMUTE_FROM, x->h * x->w * x->cp);
  dyno_kernel_spec_set (&spec, DYNO_PERMUTE_FROM_C, x->c);
  dyno_kernel_spec_set (&spec, DYNO_PERMUTE_FROM_P, x->cp);
  for (guint i = 0; i < order->n; i++)
    {
      dyno_kernel_spec_set (&spec, DYNO_PERMUTE_PARTS + 2 * i, order->extent[i]);
      dyno_kernel_spec_set (&spec, DYNO_PERMUTE_PARTS + 2 * i + 1, order->stride[i]);
    }
  guint64 work = tiles ? (guint64) tiles * spec.local_size[0] : count;
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, work, spec.local_size[0]), 1, 1);
  dispatch->bytes = x->size_bytes + y->size_bytes * (order->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoPermutePush, source, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoPermutePush, target, y, dyno_access_sum (order->accumulate));
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

#define PART(i) DYNO_ATTRIBUTE (Permute, extent[i]), DYNO_ATTRIBUTE (Permute, stride[i])
static const DynoAttribute attributes[] = { DYNO_ATTRIBUTE (Permute, n),
                                            PART (0),
                                            PART (1),
                                            PART (2),
                                            PART (3),
                                            PART (4),
                                            PART (5),
                                            PART (6),
                                            PART (7),
                                            DYNO_ATTRIBUTE (Permute, accumulate) };
#undef PART

static const DynoOpClass backward_class = { .name = "permute_backward",
                                            DYNO_OP_ATTRIBUTES (attributes),
                                            .lower = lower_backward,
                                            .flops = dyno_channels_flops };

/* The parts in the order of x, outermost first; order[i] is the index of a part among the parts of
 * y.  FALSE: the parts do not cover each element of x exactly once. */
static gboolean
sort_parts (const DynoPermutePart *parts, guint n, guint64 count, guint *order)
{
  guint64 stride = 1;

  for (guint i = 0; i < n; i++)
    {
      guint k = i;
      for (; k > 0 && parts[order[k - 1]].stride < parts[i].stride; k--)
        order[k] = order[k - 1];
      order[k] = i;
    }
  for (guint i = n; i-- > 0; stride *= parts[order[i]].extent)
    if (parts[order[i]].stride != stride || stride > G_MAXINT32)
      return FALSE;
  return stride == count;
}

static void
backward (DynoGraph *graph, DynoNode *node)
{
  const Permute *forward = node->attributes;
  DynoTensor *x = node->inputs[0], *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoPermutePart parts[DYNO_PERMUTE_MAX_PARTS] = { 0 };
  guint32 place[DYNO_PERMUTE_MAX_PARTS], stride = 1;
  guint order[DYNO_PERMUTE_MAX_PARTS];
  Permute inverse = { .n = forward->n };
  DynoTensor *dx = dyno_graph_gradient_target (graph, x, &inverse.accumulate);

  if (!dx)
    return;
  for (guint i = forward->n; i-- > 0; stride *= forward->extent[i])
    {
      parts[i] = (DynoPermutePart){ forward->extent[i], forward->stride[i] };
      place[i] = stride;
    }
  sort_parts (parts, forward->n, stride, order);
  for (guint i = 0; i < forward->n; i++)
    {
      inverse.extent[i] = forward->extent[order[i]];
      inverse.stride[i] = place[order[i]];
    }
  dyno_graph_backward_node (graph, node, &backward_class, &dy, 1, &dx, 1, &inverse, sizeof inverse);
}

static const DynoOpClass permute_class = { .name = "permute",
                                           .traits = { .restorable = TRUE },
                                           DYNO_OP_ATTRIBUTES (attributes),
                                           .backward = backward,
                                           .lower = lower_forward,
                                           .flops = dyno_channels_flops };

/* Copies the parts, leaves out parts of one element, and joins neighbours that are contiguous;
 * returns their number. */
static guint
merge_parts (const DynoPermutePart *parts, guint n, DynoPermutePart *merged)
{
  guint k = 0;

  for (guint i = 0; i < n; i++)
    {
      DynoPermutePart *last = k > 0 ? &merged[k - 1] : NULL;
      if (parts[i].extent == 1)
        continue;
      if (last && last->stride == (guint64) parts[i].stride * parts[i].extent)
        *last = (DynoPermutePart){ last->extent * parts[i].extent, parts[i].stride };
      else
        merged[k++] = parts[i];
    }
  if (k == 0)
    merged[k++] = (DynoPermutePart){ 1, 1 };
  return k;
}

/* The number of elements in memory of a sample (h, w, c); G_MAXUINT64: too many. */
static guint64
sample_size (guint32 h, guint32 w, guint32 c)
{
  guint64 pixels = (guint64) h * w, channels = ((guint64) c + 7) & ~G_GUINT64_CONSTANT (7);

  return pixels > G_MAXINT32 || pixels * channels > G_MAXINT32 ? G_MAXUINT64 : pixels * channels;
}

DynoTensor *
dyno_permute (DynoGraph *graph, DynoTensor *x, const char *name, const DynoPermuteParams *params)
{
  if (!x)
    return NULL;
  const guint32 h = params->h, w = params->w, c = params->c;
  g_autofree DynoPermutePart *parts = g_new (DynoPermutePart, MAX (1, params->n_parts));
  guint n = merge_parts (params->parts, params->n_parts, parts),
        order[DYNO_PERMUTE_MAX_PARTS] = { 0 };

  if (sample_size (x->h, x->w, x->c) == G_MAXUINT64 || sample_size (h, w, c) == G_MAXUINT64)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: samples of (%u, %u, %u) or (%u, %u, %u) have too many values",
                            name, x->h, x->w, x->c, h, w, c);
  guint64 count = (guint64) x->h * x->w * x->c;
  if (n > DYNO_PERMUTE_MAX_PARTS)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a permutation of %u parts is too complex, Dyno moves up to %u",
                            name, n, DYNO_PERMUTE_MAX_PARTS);
  if ((guint64) h * w * c != count || !sort_parts (parts, n, count, order))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: (%u, %u, %u) is not a permutation of the values of (%u, %u, %u)",
                            name, h, w, c, x->h, x->w, x->c);
  if (n == 1 && h == x->h && w == x->w && c == x->c)
    return x;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, h, w, c);
  if (!y)
    return NULL;
  Permute permute = { .n = n };
  for (guint i = 0; i < n; i++)
    {
      permute.extent[i] = parts[i].extent;
      permute.stride[i] = parts[i].stride;
    }
  dyno_graph_node (graph, &permute_class, name, &x, 1, &y, 1, &permute, sizeof permute);
  return y;
}
