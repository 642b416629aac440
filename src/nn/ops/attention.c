/* SPDX-License-Identifier: MIT */
/* attention: each head of a sample attends over the sample's T = H * W tokens or, by row, over the
 * T = W tokens of each of its H rows.  qkv is (N, H, W, 3 C): a token's values are q, k, v, each
 * [head][value], C = heads * D:
 *     y[t] = sum over u of p[t][u] v[u],   p[t][u] = exp (s[t][u]) / sum over u of exp (s[t][u]),
 *     s[t][u] = q[t] . k[u] * scale, where scale is 1 / sqrt (D) unless the network sets another
 * u runs over the keys that count (DynoSequence in ops.h).  Scores and probabilities are never
 * written to memory: the backward pass computes them again from q, k and the sums of exponentials.
 *
 * Roles.  attention: inputs qkv, the lengths (N int32, or NULL); outputs y (N, H, W, C) and, in
 * training, sums (N, heads, T), by row (N, H, heads, T), fp32: the base-2 logarithm of each query's
 * sum of exponentials.
 *         attention_backward: inputs qkv, the lengths, y, dy, sums; output dqkv, in two passes: one
 *         computes the gradients of queries, the other the gradients of keys and values, so that
 *         each value has one writer and sums are in a fixed order.
 *
 * A workgroup's shape is the first of a list that fits the device and the number of tokens; see
 * shaders/lib/attention.glsl.  In fp16 the kernels of attention-matrix.c take their place where the
 * device has matrix units. */
#include "attention-private.h"
#include "attention-push.h"
#include "elementwise.h"
#include "ops.h"
#include "steps.h"
#include <math.h>
#include <stddef.h>

#define MOST_HEAD_DIM 128

typedef struct {
  guint32 heads, stride;
  double scale; /* of the scores; 0: 1 / sqrt (D) */
  gboolean by_row;
} Attention;

typedef struct {
  Attention forward;
  gboolean accumulate;
} AttentionBackward;

enum { FORWARD_QKV, FORWARD_LENGTHS, FORWARD_N_INPUTS };
enum { FORWARD_Y, FORWARD_SUMS, FORWARD_N_OUTPUTS };
enum { BACKWARD_QKV, BACKWARD_LENGTHS, BACKWARD_Y, BACKWARD_DY, BACKWARD_SUMS, BACKWARD_N_INPUTS };

typedef DynoAttentionPass Pass;

/* The number of tokens that attend to each other, and the number of such groups.  Rows can be
 * treated like samples, since they are contiguous. */
static guint32
count_tokens (const DynoTensor *qkv, const Attention *of)
{
  return of->by_row ? qkv->w : qkv->h * qkv->w;
}

static guint32
count_groups (const DynoTensor *qkv, const Attention *of)
{
  return of->by_row ? qkv->n * qkv->h : qkv->n;
}

/* Two products of the forward pass, four of the backward pass; recomputed products do not count. */
static guint64
count_flops (const DynoTensor *qkv, const Attention *of)
{
  guint64 t = count_tokens (qkv, of);
  return 4 * t * t * count_groups (qkv, of) * (qkv->c / 3);
}

/* Invocations along the rows of the other side and along a workgroup's own rows, and own rows of an
 * invocation.  Each invocation has four rows of the other side. */
typedef struct {
  guint32 x, y, rows;
} Shape;

/* Best first; the last shape always fits 16 KiB.  A backward pass has at most two own rows per
 * invocation, except on a CPU, since four rows need twice the registers for sums. */
static const Shape shapes[] = { { 8, 16, 4 }, { 8, 16, 2 }, { 8, 16, 1 }, { 4, 16, 2 }, { 8, 8, 1 },
                                { 4, 16, 1 }, { 4, 8, 1 },  { 2, 8, 1 },  { 2, 4, 1 } };
static const Shape shapes_software[] = { { 8, 4, 4 }, { 8, 4, 2 }, { 8, 4, 1 },
                                         { 4, 4, 1 }, { 2, 8, 1 }, { 2, 4, 1 } };

#define SOFTWARE_LOOPS 60000 /* iterations of an invocation; see types.glsl */

/* Bytes of workgroup memory, as the kernels declare it. */
static guint32
shared_bytes (const Shape *s, Pass pass, guint32 head_dim, DynoDtype dtype)
{
  guint32 own = s->y * s->rows, others = 4 * s->x,
          tile_rows = pass == DYNO_ATTENTION_FORWARD ? own + 2 * others : 2 * (own + others),
          n_weights = pass == DYNO_ATTENTION_KEYS ? 2 : 1;
  return tile_rows * (head_dim / 4 + 1) * 4 * dyno_dtype_size (dtype) + n_weights * own * s->x * 16
         + (pass == DYNO_ATTENTION_FORWARD ? own * s->x * 4 : 0);
}

static Shape
find_shape (const DynoDeviceInfo *info, Pass pass, guint32 t, guint32 head_dim, DynoDtype dtype)
{
  gboolean software = dyno_info_is_software (info);
  const Shape *list = software ? shapes_software : shapes;
  guint n = software ? G_N_ELEMENTS (shapes_software) : G_N_ELEMENTS (shapes);
  for (guint i = 0; i + 1 < n; i++)
    {
      guint32 own = list[i].y * list[i].rows;
      if (shared_bytes (&list[i], pass, head_dim, dtype) <= info->shared_bytes
          && list[i].x * list[i].y <= info->max_invocations
          && (software || pass == DYNO_ATTENTION_FORWARD || list[i].rows <= 2)
          && (list[i].rows == 1 || own < 2 * t))
        return list[i];
    }
  return list[n - 1];
}

/* Iterations of loops of an invocation, at most. */
static guint64
count_loops (const Shape *s, guint32 t, guint32 head_dim)
{
  guint32 own = s->y * s->rows, others = 4 * s->x, quads = head_dim / 4,
          loads = (MAX (own, others) * quads + s->x * s->y - 1) / (s->x * s->y);
  return (guint64) (t + others - 1) / others * (2 * loads + 2 * quads + 2 * s->x + 1)
         + s->rows * quads + 2 * loads;
}

/* The kernel without matrix units; returns the rows of a workgroup. */
static guint32
find_spec (DynoLowering *lowering, DynoNode *node, Pass pass, guint32 t, guint32 head_dim,
           DynoKernelSpec *spec)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoDtype dtype = node->inputs[FORWARD_QKV]->dtype;
  Shape s = find_shape (info, pass, t, head_dim, dtype);
  if (dyno_info_is_software (info) && count_loops (&s, t, head_dim) > SOFTWARE_LOOPS)
    dyno_graph_fail (dyno_lowering_get_graph (lowering), DYNO_NN_ERROR_UNSUPPORTED,
                     "%s: %u tokens are too many for %s; take fewer", node->name, t, info->name);
  spec->shader = pass == DYNO_ATTENTION_FORWARD ? "attention/attention_forward.comp"
                                                : "attention/attention_backward.comp";
  spec->local_size[0] = s.x;
  spec->local_size[1] = s.y;
  dyno_elementwise_type (spec, dtype);
  dyno_kernel_spec_macro (spec, "ROWS=%u", s.rows);
  return s.y * s.rows;
}

static DynoDispatch *
add_dispatch (DynoLowering *lowering, DynoNode *node, Pass pass, const Attention *of, gboolean flag)
{
  static const char *const names[] = { "forward", "queries", "keys" };
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  const DynoTensor *qkv = node->inputs[FORWARD_QKV];
  guint32 t = count_tokens (qkv, of), heads = of->heads, head_dim = qkv->c / 3 / heads;
  double scale = of->scale > 0 ? of->scale / G_LN2 : 1 / (G_LN2 * sqrt (head_dim));
  DynoKernelSpec spec = { .push_bytes = pass == DYNO_ATTENTION_FORWARD
                                            ? sizeof (DynoAttentionPush)
                                            : sizeof (DynoAttentionBackwardPush) };
  guint32 own = dyno_attention_matrix_spec (info, pass, t, head_dim, qkv->dtype, &spec);
  if (own == 0)
    own = find_spec (lowering, node, pass, t, head_dim, &spec);
  guint64 items = (guint64) count_groups (qkv, of) * heads * ((t + own - 1) / own),
          groups = MIN (items, MAX (info->max_groups_x, 1));
  dyno_elementwise_count_of (lowering, qkv, 4 * dyno_dtype_size (qkv->dtype));
  dyno_kernel_spec_macro (&spec, "HEAD_DIM=%u", head_dim);
  if (pass == DYNO_ATTENTION_KEYS)
    dyno_kernel_spec_macro (&spec, "KEYS=1");
  if (flag)
    dyno_kernel_spec_macro (&spec, pass == DYNO_ATTENTION_FORWARD ? "KEEP=1" : "ACCUMULATE=1");
  if (node->inputs[FORWARD_LENGTHS])
    dyno_kernel_spec_macro (&spec, "LENGTHS=1");
  dyno_kernel_spec_set (&spec, DYNO_ATTENTION_T, t);
  dyno_kernel_spec_set (&spec, DYNO_ATTENTION_HEADS, heads);
  dyno_kernel_spec_set (&spec, DYNO_ATTENTION_ITEMS, (guint32) items);
  dyno_kernel_spec_set_float (&spec, DYNO_ATTENTION_SCALE, (float) scale);
  dyno_kernel_spec_set (&spec, DYNO_ATTENTION_STRIDE, of->stride);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, names[pass], &spec, (guint32) groups,
                              (guint32) ((items + groups - 1) / groups), 1);
  dispatch->flops = count_flops (qkv, of);
  return dispatch;
}

/* Backward ------------------------------------------------------------------------------------- */

static void
lower_pass (DynoLowering *lowering, DynoNode *node, Pass pass, DynoTensor *deltas)
{
  static const struct {
    guint role;
    guint16 offset;
  } reads[] = { { BACKWARD_QKV, offsetof (DynoAttentionBackwardPush, qkv) },
                { BACKWARD_LENGTHS, offsetof (DynoAttentionBackwardPush, lengths) },
                { BACKWARD_DY, offsetof (DynoAttentionBackwardPush, dy) },
                { BACKWARD_SUMS, offsetof (DynoAttentionBackwardPush, sums) },
                { BACKWARD_Y, offsetof (DynoAttentionBackwardPush, y) } };
  const AttentionBackward *attributes = node->attributes;
  DynoTensor *dqkv = node->outputs[0];
  DynoDispatch *dispatch =
      add_dispatch (lowering, node, pass, &attributes->forward, attributes->accumulate);
  /* this pass writes one or two thirds of dqkv */
  dispatch->bytes = dqkv->size_bytes / 3 * (pass == DYNO_ATTENTION_KEYS ? 2 : 1)
                        * (attributes->accumulate ? 2 : 1)
                    + deltas->size_bytes;
  for (guint i = 0; i < G_N_ELEMENTS (reads); i++)
    {
      DynoTensor *tensor = node->inputs[reads[i].role];
      if (!tensor || (reads[i].role == BACKWARD_Y && pass == DYNO_ATTENTION_KEYS))
        continue;
      dispatch->bytes += tensor->size_bytes;
      dyno_dispatch_bind (dispatch, reads[i].offset, tensor, DYNO_ACCESS_READ);
    }
  DYNO_BIND (dispatch, DynoAttentionBackwardPush, deltas, deltas,
             pass == DYNO_ATTENTION_KEYS ? DYNO_ACCESS_READ : DYNO_ACCESS_WRITE);
  DYNO_BIND (dispatch, DynoAttentionBackwardPush, dqkv, dqkv,
             dyno_access_sum (attributes->accumulate));
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *deltas =
      dyno_lowering_workspace (lowering, "deltas", node->inputs[BACKWARD_SUMS]->size_bytes);
  if (!deltas)
    return;
  lower_pass (lowering, node, DYNO_ATTENTION_QUERIES, deltas);
  lower_pass (lowering, node, DYNO_ATTENTION_KEYS, deltas);
}

static guint64
count_backward (const DynoNode *node)
{
  const AttentionBackward *attributes = node->attributes;
  return 2 * count_flops (node->inputs[BACKWARD_QKV], &attributes->forward);
}

static const DynoAttribute backward_attributes[] = {
  DYNO_ATTRIBUTE (AttentionBackward, forward.heads),
  DYNO_ATTRIBUTE (AttentionBackward, forward.stride),
  DYNO_ATTRIBUTE (AttentionBackward, forward.scale),
  DYNO_ATTRIBUTE (AttentionBackward, forward.by_row), DYNO_ATTRIBUTE (AttentionBackward, accumulate)
};

static const DynoOpClass backward_class = { .name = "attention_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward,
                                            .flops = count_backward };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  const Attention *forward = node->attributes;
  AttentionBackward attributes = { .forward = *forward };
  DynoTensor *qkv = node->inputs[FORWARD_QKV], *y = node->outputs[FORWARD_Y];
  DynoTensor *inputs[BACKWARD_N_INPUTS] = { [BACKWARD_QKV] = qkv,
                                            [BACKWARD_LENGTHS] = node->inputs[FORWARD_LENGTHS],
                                            [BACKWARD_Y] = y,
                                            [BACKWARD_DY] = dyno_graph_gradient (graph, y),
                                            [BACKWARD_SUMS] = node->outputs[FORWARD_SUMS] };
  DynoTensor *dqkv = dyno_graph_gradient_target (graph, qkv, &attributes.accumulate);
  if (!dqkv)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, inputs, BACKWARD_N_INPUTS, &dqkv, 1,
                            &attributes, sizeof attributes);
}

/* Forward -------------------------------------------------------------------------------------- */

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  const Attention *attributes = node->attributes;
  DynoTensor *qkv = node->inputs[FORWARD_QKV], *lengths = node->inputs[FORWARD_LENGTHS],
             *y = node->outputs[FORWARD_Y], *sums = node->outputs[FORWARD_SUMS];
  DynoDispatch *dispatch =
      add_dispatch (lowering, node, DYNO_ATTENTION_FORWARD, attributes, sums != NULL);
  dispatch->bytes = qkv->size_bytes + y->size_bytes + (sums ? sums->size_bytes : 0);
  DYNO_BIND (dispatch, DynoAttentionPush, qkv, qkv, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoAttentionPush, y, y, DYNO_ACCESS_WRITE);
  if (sums)
    DYNO_BIND (dispatch, DynoAttentionPush, sums, sums, DYNO_ACCESS_WRITE);
  if (lengths)
    DYNO_BIND (dispatch, DynoAttentionPush, lengths, lengths, DYNO_ACCESS_READ);
}

static const DynoAttribute attention_attributes[] = { DYNO_ATTRIBUTE (Attention, heads),
                                                      DYNO_ATTRIBUTE (Attention, stride),
                                                      DYNO_ATTRIBUTE (Attention, scale),
                                                      DYNO_ATTRIBUTE (Attention, by_row) };

static guint64
count_forward (const DynoNode *node)
{
  return count_flops (node->inputs[FORWARD_QKV], node->attributes);
}

static const DynoOpClass attention_class = { .name = "attention",
                                             .traits = { .reads_own_output = TRUE,
                                                         .restorable = TRUE },
                                             DYNO_OP_ATTRIBUTES (attention_attributes),
                                             .backward = backward,
                                             .lower = lower_forward,
                                             .flops = count_forward };

gboolean
dyno_attention_has_dim (guint64 channels)
{
  return channels > 0 && channels % 8 == 0 && channels <= MOST_HEAD_DIM;
}

static gboolean
check (DynoGraph *graph, const DynoTensor *qkv, const char *name, const DynoAttentionParams *params)
{
  guint32 heads = params->heads, head_dim = heads > 0 ? qkv->c / 3 / heads : 0;
  guint64 t = (guint64) qkv->h * qkv->w;
  if (heads == 0 || (guint64) 3 * heads * head_dim != qkv->c)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: %u channels are not q, k and v of %u heads; take a multiple of 3 x heads",
                     name, qkv->c, heads);
  else if (!dyno_attention_has_dim (head_dim))
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: heads of %u channels; they have 8 to %u, in multiples of 8", name,
                     head_dim, MOST_HEAD_DIM);
  else if (t * qkv->n * heads > G_MAXINT32)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: %u x %u heads of %" G_GUINT64_FORMAT
                     " tokens are too many; lower the batch",
                     name, qkv->n, heads, t);
  else if (params->by_row && params->sequence.lengths)
    dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                     "%s: attention within rows takes no lengths of the samples", name);
  else
    return !params->sequence.lengths || dyno_sequence_check (graph, name, qkv, &params->sequence);
  return FALSE;
}

DynoTensor *
dyno_attention (DynoGraph *graph, DynoTensor *qkv, const char *name,
                const DynoAttentionParams *params)
{
  if (!qkv || !check (graph, qkv, name, params))
    return NULL;
  const Attention attributes = { .heads = params->heads,
                                 .stride = MAX (params->sequence.stride, 1),
                                 .scale = params->scale,
                                 .by_row = params->by_row };
  guint32 t = count_tokens (qkv, &attributes);
  g_autofree char *sums_name = g_strconcat (name, ".sums", NULL);
  DynoTensor *outputs[FORWARD_N_OUTPUTS] = { NULL };
  outputs[FORWARD_Y] = dyno_graph_activation (graph, name, qkv->n, qkv->h, qkv->w, qkv->c / 3);
  if (!outputs[FORWARD_Y])
    return NULL;
  if (dyno_graph_get_params (graph)->training)
    {
      outputs[FORWARD_SUMS] =
          dyno_graph_tensor (graph, sums_name, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, qkv->n,
                             params->by_row ? qkv->h : 1, params->heads, t, t);
      if (!outputs[FORWARD_SUMS])
        return NULL;
    }
  dyno_graph_node (graph, &attention_class, name, (DynoTensor *[]){ qkv, params->sequence.lengths },
                   FORWARD_N_INPUTS, outputs, FORWARD_N_OUTPUTS, &attributes, sizeof attributes);
  return outputs[FORWARD_Y];
}
