/* SPDX-License-Identifier: MIT */
/* lstm: one layer, in one or both directions; its input projection is a linear node before it.
 * x (N, 1, T, C), h and c (N, H), gates i, f, g, o in blocks of H columns:
 *     gates[n][t] = W_ih x[n][t] + b_ih, for all steps at once
 *     (i, f, g, o) = gates[n][t] + W_hh h + b_hh
 *     c = sigmoid (f) c + sigmoid (i) tanh (g);   y[n][t] = h = sigmoid (o) tanh (c)
 * y is (N, 1, T, H) or (N, 1, T, 2 H), with the reverse direction last; where a step does not
 * count, y is 0 and the state stays unchanged.  h is rounded to y's type; c and all sums are fp32.
 *
 * Roles.  lstm: inputs the lengths (or NULL), then for each direction gates, W_hh (compute type)
 * and b_hh (master); outputs y, then in training for each direction kept (N, 1, T, 4 H), the gates
 * after their functions, and cell (N, 1, T, H) fp32.
 *         lstm_backward, of one direction: inputs the lengths, dy, y, kept, cell, W_hh; outputs
 * dgates (N, 1, T, 4 H), the gradient of gates, and previous (N, 1, T, H), the state before each
 * step.  The gradient of W_hh is then one product over all steps, previous^T dgates, and the
 * gradients of b_hh and b_ih are the sums of the columns of dgates: nodes of the linear layer, with
 * sums in a fixed order.
 *
 * The recurrence of a direction is one dispatch over all steps; a workgroup computes whole
 * sequences, so that no step waits for another workgroup.  Where a device ends long loops, the
 * recurrence is split into several dispatches, with bit-identical results. */
#include "conv2d-private.h"
#include "elementwise.h"
#include "lstm-push.h"
#include "ops.h"
#include "steps.h"
#include <stddef.h>

typedef struct {
  guint32 hidden, stride;
  gboolean reverse; /* backward: the direction of the node */
} Lstm;

enum { FORWARD_LENGTHS, FORWARD_GATES, FORWARD_WEIGHT, FORWARD_BIAS, FORWARD_N_INPUTS };
enum { FORWARD_Y, FORWARD_KEPT, FORWARD_CELL, FORWARD_N_OUTPUTS };
/* distance from a direction's roles to those of the next direction */
#define NEXT_INPUT  (FORWARD_N_INPUTS - FORWARD_GATES)
#define NEXT_OUTPUT (FORWARD_N_OUTPUTS - FORWARD_KEPT)
enum {
  BACKWARD_LENGTHS,
  BACKWARD_DY,
  BACKWARD_Y,
  BACKWARD_KEPT,
  BACKWARD_CELL,
  BACKWARD_WEIGHT,
  BACKWARD_N_INPUTS
};
enum { BACKWARD_DGATES, BACKWARD_PREVIOUS, BACKWARD_N_OUTPUTS };

/* The shape of a workgroup; see shaders/lib/lstm.glsl. */
typedef struct {
  guint32 width, parts, units, samples, keep;
  guint32 steps; /* steps of a dispatch */
} Shape;

#define WIDTH          256 /* most invocations along the units, and on a CPU */
#define WIDTH_SOFTWARE 32
#define INVOCATIONS    512 /* enough to hide the latency of a step's loads */
#define MOST_SAMPLES   8
/* workgroups that a card of 132 processors runs at once; scaled to the device */
#define WORKGROUPS       132
#define SAMPLES_SOFTWARE 2
#define KEPT_REGISTERS   64    /* registers of an invocation for weights */
#define SOFTWARE_LOOPS   30000 /* iterations of an invocation; see types.glsl */
#define MOST_UNITS       16

/* Bytes of workgroup memory: of the forward pass (vec4 of parts, a state) and the backward pass (a
 * float of parts, four gradients per unit). */
static guint64
shared_bytes (const Shape *s, guint32 hidden, gboolean backward)
{
  guint64 values = (guint64) hidden * s->samples * (backward ? 4 : 1);
  guint64 parts = (guint64) s->parts * s->samples * s->width * (backward ? 1 : 4);
  return 4 * (values + (s->parts > 1 ? parts : 0));
}

/* FALSE: the hidden units are too many for a workgroup or its memory. */
static gboolean
find_shape (const DynoDeviceInfo *info, guint32 n, guint32 t, guint32 hidden, DynoDtype dtype,
            gboolean backward, Shape *s)
{
  gboolean software = dyno_info_is_software (info);
  guint32 most = MIN (software ? WIDTH_SOFTWARE : WIDTH, info->max_invocations),
          wanted = software ? 1 : dyno_device_info_scale (info, WORKGROUPS);
  guint32 rows = backward ? 4 * hidden : hidden, registers;
  *s = (Shape){ .width = MIN ((hidden + 7) & ~7u, most), .parts = 1, .steps = t };
  s->units = ((hidden + 7) / 8 * 8 + s->width - 1) / s->width;
  s->samples =
      software ? MIN (SAMPLES_SOFTWARE, n) : CLAMP ((n + wanted - 1) / wanted, 1, MOST_SAMPLES);
  s->samples = MAX (1, MIN (s->samples, MOST_SAMPLES / MIN (s->units, MOST_SAMPLES)));
  while (!software && s->units == 1 && hidden % (2 * s->parts) == 0
         && 2 * s->parts * s->width <= MIN (INVOCATIONS, info->max_invocations))
    s->parts *= 2;
  while (s->samples > 1 && shared_bytes (s, hidden, backward) > info->shared_bytes)
    s->samples--;
  while (s->parts > 1 && shared_bytes (s, hidden, backward) > info->shared_bytes)
    s->parts /= 2;
  /* Registers for the weights of the rows: a row is four weights of a unit in the forward pass, one
   * weight in the backward pass. */
  registers = dtype == DYNO_DTYPE_F16 ? 2 : 4;
  if (!software && s->units == 1)
    s->keep = MIN (rows / s->parts, KEPT_REGISTERS / registers * (backward ? 4 : 1)) & ~1u;
  if (software)
    {
      guint32 loops = s->units * s->samples * (2 * rows + 16);
      s->steps = CLAMP (SOFTWARE_LOOPS / loops, 1, t);
    }
  return s->units <= MOST_UNITS && shared_bytes (s, hidden, backward) <= info->shared_bytes;
}

static DynoKernelSpec
make_spec (DynoLowering *lowering, const DynoNode *node, const char *shader, const DynoTensor *y,
           const DynoTensor *gates, gboolean reverse, const Shape *shape)
{
  const Lstm *attributes = node->attributes;
  DynoKernelSpec spec = { .shader = shader };
  spec.local_size[0] = shape->width;
  spec.local_size[1] = shape->parts;
  dyno_elementwise_type (&spec, gates->dtype);
  dyno_kernel_spec_macro (&spec, "UNITS=%u", shape->units);
  dyno_kernel_spec_macro (&spec, "SAMPLES=%u", shape->samples);
  dyno_kernel_spec_macro (&spec, "KEEP=%u", shape->keep);
  if (reverse)
    dyno_kernel_spec_macro (&spec, "REVERSE=1");
  if (dyno_info_is_software (dyno_lowering_get_info (lowering)))
    dyno_kernel_spec_macro (&spec, "COMPACT=1");
  if (node->inputs[FORWARD_LENGTHS])
    dyno_kernel_spec_macro (&spec, "LENGTHS=1");
  dyno_kernel_spec_set (&spec, DYNO_LSTM_N, gates->n);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_T, gates->w);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_H, attributes->hidden);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_KP, gates->cp);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_YP, y->cp);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_COLUMN, reverse ? attributes->hidden : 0);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_STRIDE, attributes->stride);
  return spec;
}

static gboolean
refuse (DynoLowering *lowering, const DynoNode *node)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  dyno_graph_fail (dyno_lowering_get_graph (lowering), DYNO_NN_ERROR_UNSUPPORTED,
                   "%s: %u hidden units do not fit %u KiB of workgroup memory of %s; take fewer",
                   node->name, ((const Lstm *) node->attributes)->hidden, info->shared_bytes >> 10,
                   info->name);
  return FALSE;
}

/* Forward -------------------------------------------------------------------------------------- */

static void
lower_direction (DynoLowering *lowering, DynoNode *node, guint direction, gboolean last)
{
  const Lstm *attributes = node->attributes;
  DynoTensor **inputs = node->inputs + NEXT_INPUT * direction, *gates = inputs[FORWARD_GATES];
  DynoTensor *lengths = node->inputs[FORWARD_LENGTHS], *y = node->outputs[FORWARD_Y], *kept = NULL,
             *cell = NULL;
  Shape shape;
  if (node->n_outputs > FORWARD_KEPT)
    {
      kept = node->outputs[FORWARD_KEPT + NEXT_OUTPUT * direction];
      cell = node->outputs[FORWARD_CELL + NEXT_OUTPUT * direction];
    }
  if (!find_shape (dyno_lowering_get_info (lowering), gates->n, gates->w, attributes->hidden,
                   gates->dtype, FALSE, &shape)
      && !refuse (lowering, node))
    return;
  if (!cell && shape.steps < gates->w)
    cell = dyno_lowering_workspace (lowering, "cell",
                                    (guint64) gates->n * gates->w * attributes->hidden * 4);
  DynoKernelSpec spec =
      make_spec (lowering, node, "lstm/lstm_forward.comp", y, gates, direction == 1, &shape);
  spec.push_bytes = sizeof (DynoLstmPush);
  if (kept)
    dyno_kernel_spec_macro (&spec, "KEPT=1");
  if (cell)
    dyno_kernel_spec_macro (&spec, "CELL=1");
  if (last)
    dyno_kernel_spec_macro (&spec, "PAD_END=1");
  for (guint32 first = 0; first < gates->w; first += shape.steps)
    {
      guint32 count = MIN (shape.steps, gates->w - first);
      DynoDispatch *dispatch =
          dyno_lowering_dispatch (lowering, node, direction ? "reverse" : "forward", &spec,
                                  (gates->n + shape.samples - 1) / shape.samples, 1, 1);
      DYNO_BIND (dispatch, DynoLstmPush, gates, gates, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoLstmPush, weight, inputs[FORWARD_WEIGHT], DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoLstmPush, bias, inputs[FORWARD_BIAS], DYNO_ACCESS_READ);
      if (lengths)
        DYNO_BIND (dispatch, DynoLstmPush, lengths, lengths, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoLstmPush, y, y, dyno_access_sum (first > 0));
      if (kept)
        DYNO_BIND (dispatch, DynoLstmPush, kept, kept, DYNO_ACCESS_WRITE);
      if (cell)
        DYNO_BIND (dispatch, DynoLstmPush, cell, cell, dyno_access_sum (first > 0));
      DYNO_PUSH (dispatch, DynoLstmPush, first, first);
      DYNO_PUSH (dispatch, DynoLstmPush, count, count);
      dispatch->flops =
          2 * (guint64) gates->n * count * 4 * attributes->hidden * attributes->hidden;
      dispatch->bytes = (gates->size_bytes + y->size_bytes / (last ? direction + 1 : 2)
                         + (kept ? kept->size_bytes : 0) + (cell ? cell->size_bytes : 0))
                            / gates->w * count
                        + inputs[FORWARD_WEIGHT]->size_bytes;
    }
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  gboolean both = node->n_inputs > FORWARD_N_INPUTS;
  lower_direction (lowering, node, 0, !both);
  if (both)
    lower_direction (lowering, node, 1, TRUE);
}

/* Backward ------------------------------------------------------------------------------------- */

static DynoTensor *
lower_transpose (DynoLowering *lowering, DynoNode *node, guint32 pitch)
{
  const Lstm *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *weight = node->inputs[BACKWARD_WEIGHT];
  guint64 count = 4 * (guint64) attributes->hidden * attributes->hidden;
  DynoTensor *turned =
      dyno_lowering_workspace (lowering, "transposed", count * dyno_dtype_size (weight->dtype));
  if (!turned)
    return NULL;
  DynoKernelSpec spec = { .shader = "lstm/lstm_transpose.comp",
                          .local_size = { dyno_elementwise_local (info) },
                          .push_bytes = sizeof (DynoLstmTransposePush) };
  dyno_elementwise_type (&spec, weight->dtype);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_H, attributes->hidden);
  dyno_kernel_spec_set (&spec, DYNO_LSTM_KP, pitch);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "transpose", &spec,
                              dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = 2 * turned->size_bytes;
  DYNO_BIND (dispatch, DynoLstmTransposePush, source, weight, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoLstmTransposePush, target, turned, DYNO_ACCESS_WRITE);
  return turned;
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  static const struct {
    guint role;
    guint16 offset;
  } reads[] = { { BACKWARD_DY, offsetof (DynoLstmBackwardPush, dy) },
                { BACKWARD_Y, offsetof (DynoLstmBackwardPush, y) },
                { BACKWARD_KEPT, offsetof (DynoLstmBackwardPush, kept) },
                { BACKWARD_CELL, offsetof (DynoLstmBackwardPush, cell) },
                { BACKWARD_LENGTHS, offsetof (DynoLstmBackwardPush, lengths) } };
  const Lstm *attributes = node->attributes;
  DynoTensor *dy = node->inputs[BACKWARD_DY], *dgates = node->outputs[BACKWARD_DGATES],
             *previous = node->outputs[BACKWARD_PREVIOUS], *carry = NULL;
  DynoTensor *weight = lower_transpose (lowering, node, dgates->cp);
  Shape shape;
  if (!weight
      || (!find_shape (dyno_lowering_get_info (lowering), dgates->n, dgates->w, attributes->hidden,
                       dgates->dtype, TRUE, &shape)
          && !refuse (lowering, node)))
    return;
  DynoKernelSpec spec = make_spec (lowering, node, "lstm/lstm_backward.comp", dy, dgates,
                                   attributes->reverse, &shape);
  spec.push_bytes = sizeof (DynoLstmBackwardPush);
  if (shape.steps < dgates->w)
    {
      carry =
          dyno_lowering_workspace (lowering, "dcell", (guint64) dgates->n * attributes->hidden * 4);
      if (!carry)
        return;
      dyno_kernel_spec_macro (&spec, "CARRY=1");
    }
  for (guint32 first = 0; first < dgates->w; first += shape.steps)
    {
      guint32 count = MIN (shape.steps, dgates->w - first);
      DynoAccess adds = dyno_access_sum (first > 0);
      DynoDispatch *dispatch =
          dyno_lowering_dispatch (lowering, node, attributes->reverse ? "reverse" : "backward",
                                  &spec, (dgates->n + shape.samples - 1) / shape.samples, 1, 1);
      guint64 bytes = dgates->size_bytes + previous->size_bytes;
      for (guint i = 0; i < G_N_ELEMENTS (reads); i++)
        if (node->inputs[reads[i].role])
          {
            dyno_dispatch_bind (dispatch, reads[i].offset, node->inputs[reads[i].role],
                                DYNO_ACCESS_READ);
            bytes += node->inputs[reads[i].role]->size_bytes;
          }
      DYNO_BIND (dispatch, DynoLstmBackwardPush, weight, weight, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoLstmBackwardPush, dgates, dgates, adds);
      DYNO_BIND (dispatch, DynoLstmBackwardPush, previous, previous, DYNO_ACCESS_WRITE);
      if (carry)
        DYNO_BIND (dispatch, DynoLstmBackwardPush, dcell, carry, adds);
      DYNO_PUSH (dispatch, DynoLstmBackwardPush, first, first);
      DYNO_PUSH (dispatch, DynoLstmBackwardPush, count, count);
      dispatch->flops =
          2 * (guint64) dgates->n * count * 4 * attributes->hidden * attributes->hidden;
      dispatch->bytes = bytes / dgates->w * count + weight->size_bytes;
    }
}

static const DynoAttribute lstm_attributes[] = { DYNO_ATTRIBUTE (Lstm, hidden),
                                                 DYNO_ATTRIBUTE (Lstm, stride),
                                                 DYNO_ATTRIBUTE (Lstm, reverse) };

static const DynoOpClass backward_class = { .name = "lstm_backward",
                                            DYNO_OP_ATTRIBUTES (lstm_attributes),
                                            .lower = lower_backward };

static void
append_backward (DynoGraph *graph, const DynoNode *node, guint direction)
{
  Lstm attributes = *(const Lstm *) node->attributes;
  DynoTensor *y = node->outputs[FORWARD_Y], *dy = dyno_graph_gradient (graph, y);
  DynoTensor **inputs = node->inputs + NEXT_INPUT * direction,
             **outputs = node->outputs + NEXT_OUTPUT * direction, *gates = inputs[FORWARD_GATES];
  const DynoParameter *weight = inputs[FORWARD_WEIGHT]->parameter,
                      *bias = inputs[FORWARD_BIAS]->parameter;
  g_autofree char *name = g_strconcat (gates->name, ".backward", NULL),
                  *state = g_strconcat (gates->name, ".previous", NULL);
  gboolean accumulate;
  /* Only this node reads the gates, so their gradient is not added to.  Where all layers below are
   * frozen the gates need no gradient, but the gradient of the recurrent weight is made from it. */
  DynoTensor *dgates = dyno_graph_gradient_target (graph, gates, &accumulate);
  if (!dgates && (weight->gradient || bias->gradient))
    dgates = dyno_graph_activation (graph, name, gates->n, 1, gates->w, gates->c);
  DynoTensor *previous = dyno_graph_activation (graph, state, y->n, 1, y->w, attributes.hidden);
  if (!dy || !dgates || !previous)
    return;
  attributes.reverse = direction == 1;
  dyno_graph_node (graph, &backward_class, name,
                   (DynoTensor *[]){ node->inputs[FORWARD_LENGTHS], dy, y, outputs[FORWARD_KEPT],
                                     outputs[FORWARD_CELL], inputs[FORWARD_WEIGHT] },
                   BACKWARD_N_INPUTS, (DynoTensor *[]){ dgates, previous }, BACKWARD_N_OUTPUTS,
                   &attributes, sizeof attributes);
  dyno_linear_append_weight_gradients (graph, weight->name, previous, dgates, weight, bias);
}

static void
backward (DynoGraph *graph, DynoNode *node)
{
  append_backward (graph, node, 0);
  if (node->n_inputs > FORWARD_N_INPUTS)
    append_backward (graph, node, 1);
}

/* FLOPs of the products with the hidden state; the products with x belong to a linear layer. */
static guint64
flops (const DynoNode *node)
{
  const guint64 hidden = ((const Lstm *) node->attributes)->hidden;
  guint64 all = 0;
  for (guint i = FORWARD_GATES; i < node->n_inputs; i += NEXT_INPUT)
    if (node->inputs[i])
      all += 2 * (guint64) node->inputs[i]->n * node->inputs[i]->w * 4 * hidden * hidden;
  return all;
}

static const DynoOpClass lstm_class = { .name = "lstm",
                                        DYNO_OP_ATTRIBUTES (lstm_attributes),
                                        .backward = backward,
                                        .lower = lower_forward,
                                        .flops = flops };

/* Builder -------------------------------------------------------------------------------------- */

typedef struct {
  DynoParameter *weight_ih, *weight_hh, *bias_ih, *bias_hh;
} Weights;

static DynoParameter *
parameter (DynoGraph *graph, const char *name, const char *kind, guint layer, gboolean reverse,
           const DynoParameterLayout *layout, guint32 hidden)
{
  g_autofree char *own =
      g_strdup_printf ("%s.%s_l%u%s", name, kind, layer, reverse ? "_reverse" : "");
  DynoParameter *made = dyno_graph_parameter (graph, own, layout, DYNO_INIT_KAIMING_UNIFORM, FALSE);
  if (made)
    made->fan_in = hidden; /* all parameters have PyTorch's start values */
  return made;
}

static gboolean
make_weights (DynoGraph *graph, const char *name, guint layer, gboolean reverse, guint32 in,
              guint32 hidden, Weights *w)
{
  const DynoParameterLayout ih = dyno_layout_linear (4 * hidden, 1, 1, in),
                            hh = dyno_layout_linear (4 * hidden, 1, 1, hidden),
                            bias = dyno_layout_vector (4 * hidden);
  w->weight_ih = parameter (graph, name, "weight_ih", layer, reverse, &ih, hidden);
  w->weight_hh = parameter (graph, name, "weight_hh", layer, reverse, &hh, hidden);
  w->bias_ih = parameter (graph, name, "bias_ih", layer, reverse, &bias, hidden);
  w->bias_hh = parameter (graph, name, "bias_hh", layer, reverse, &bias, hidden);
  return w->weight_ih && w->weight_hh && w->bias_ih && w->bias_hh;
}

static DynoTensor *
add_layer (DynoGraph *graph, DynoTensor *x, const char *name, guint layer,
           const DynoLstmParams *params)
{
  const Lstm attributes = { .hidden = params->hidden, .stride = MAX (params->sequence.stride, 1) };
  guint n_directions = params->bidirectional ? 2 : 1;
  gboolean training = dyno_graph_get_params (graph)->training;
  DynoTensor *inputs[FORWARD_N_INPUTS + NEXT_INPUT] = { params->sequence.lengths },
                                        *outputs[FORWARD_N_OUTPUTS + NEXT_OUTPUT];
  g_autofree char *own = g_strdup_printf ("%s.l%u", name, layer);
  outputs[FORWARD_Y] =
      dyno_graph_activation (graph, own, x->n, 1, x->w, n_directions * params->hidden);
  for (guint d = 0; d < n_directions; d++)
    {
      g_autofree char *projection = g_strconcat (own, d ? "_reverse.ih" : ".ih", NULL),
                      *kept = g_strconcat (own, d ? "_reverse.kept" : ".kept", NULL),
                      *cell = g_strconcat (own, d ? "_reverse.cell" : ".cell", NULL);
      DynoTensor **in = inputs + NEXT_INPUT * d, **out = outputs + NEXT_OUTPUT * d;
      Weights w;
      if (!make_weights (graph, name, layer, d == 1, x->c, params->hidden, &w))
        return NULL;
      in[FORWARD_GATES] = dyno_linear_append (graph, x, projection, w.weight_ih, w.bias_ih, FALSE);
      in[FORWARD_WEIGHT] = w.weight_hh->compute;
      in[FORWARD_BIAS] = w.bias_hh->master;
      if (!training)
        continue;
      out[FORWARD_KEPT] = dyno_graph_activation (graph, kept, x->n, 1, x->w, 4 * params->hidden);
      out[FORWARD_CELL] = dyno_graph_tensor (graph, cell, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, x->n, 1,
                                             x->w, params->hidden, params->hidden);
    }
  dyno_graph_node (graph, &lstm_class, own, inputs,
                   FORWARD_N_INPUTS + NEXT_INPUT * (n_directions - 1), outputs,
                   training ? FORWARD_N_OUTPUTS + NEXT_OUTPUT * (n_directions - 1) : 1, &attributes,
                   sizeof attributes);
  return outputs[FORWARD_Y];
}

DynoTensor *
dyno_lstm (DynoGraph *graph, DynoTensor *x, const char *name, const DynoLstmParams *params)
{
  if (!x || !dyno_sequence_check (graph, name, x, &params->sequence))
    return NULL;
  /* The kernels count the elements of a tensor in 32 bits. */
  if (params->hidden == 0 || params->hidden > 1u << 16
      || (guint64) x->n * x->w * (4 * (guint64) params->hidden + 8) > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: an LSTM of %u hidden units over %u sequences of %u steps is %s",
                            name, params->hidden, x->n, x->w,
                            params->hidden ? "too large; lower the batch" : "empty");
  for (guint layer = 0; x && layer < MAX (params->layers, 1); layer++)
    x = add_layer (graph, x, name, layer, params);
  return x;
}
