/* SPDX-License-Identifier: MIT */
/* The layers of LSTM and GRU: what both ops share.  A layer runs in one or both directions; its
 * input projection, gates = W_ih x + b_ih for all steps at once, is a linear node before it.
 * x (N, 1, T, C), h (N, H); the G gates of a unit (4 of an LSTM, 3 of a GRU) lie in blocks of H columns.
 * y is (N, 1, T, H) or (N, 1, T, 2 H), with the reverse direction last; where a step does not
 * count, y is 0 and the state stays unchanged.  h is rounded to storage, all sums are fp32.
 *
 * Roles.  Forward: inputs the lengths (or NULL), then for each direction gates, W_hh (compute type)
 * and b_hh (master, or NULL); outputs y, then in training for each direction kept (N, 1, T, 4 H),
 * the values of the step that the backward pass reads, and of an LSTM cell (N, 1, T, H) fp32.
 *         Backward, of one direction: inputs the lengths, dy, y, kept, cell (or NULL), W_hh;
 * outputs dgates (N, 1, T, G H), the gradient of gates; previous (N, 1, T, H), the state before
 * each step;
 * and of a GRU dproduct (N, 1, T, G H), the gradient of W_hh h + b_hh, which of an LSTM is dgates.
 * The gradient of W_hh is then one product over all steps, previous^T dproduct, and the gradients
 * of b_hh and b_ih are the sums of the columns of dproduct and dgates: nodes of the linear layer,
 * with sums in a fixed order.
 *
 * The recurrence is one dispatch over all steps; a workgroup computes whole sequences, so that no
 * step waits for another workgroup.  Where a device ends long loops, the recurrence is
 * split into several dispatches, with bit-identical results. */
#include "conv2d-private.h"
#include "elementwise.h"
#include "recurrent-private.h"
#include "recurrent-push.h"
#include "steps.h"
#include <stddef.h>

enum { FORWARD_LENGTHS, FORWARD_GATES, FORWARD_WEIGHT, FORWARD_BIAS, FORWARD_N_INPUTS };
enum { FORWARD_Y, FORWARD_KEPT, FORWARD_CELL, FORWARD_N_OUTPUTS };
/* distance from a direction's inputs to those of the next direction */
#define NEXT_INPUT (FORWARD_N_INPUTS - FORWARD_GATES)
#define KEPT       4 /* values of a unit that a step keeps */
enum {
  BACKWARD_LENGTHS,
  BACKWARD_DY,
  BACKWARD_Y,
  BACKWARD_KEPT,
  BACKWARD_CELL,
  BACKWARD_WEIGHT,
  BACKWARD_N_INPUTS
};
enum { BACKWARD_DGATES, BACKWARD_PREVIOUS, BACKWARD_DPRODUCT, BACKWARD_N_OUTPUTS };

/* The number of outputs of a direction, and the distance to those of the next one. */
static guint
outputs_of (const DynoRecurrentCell *cell)
{
  return cell->has_cell ? 2 : 1;
}

/* The shape of a workgroup; see shaders/lib/recurrent.glsl. */
typedef struct {
  guint32 width, parts, units, samples, keep;
  guint32 steps; /* steps of a dispatch */
} Shape;

#define WIDTH          256 /* most invocations along the units, and on a CPU */
#define WIDTH_SOFTWARE 32
#define INVOCATIONS    512 /* enough to hide the latency of a step's loads */
#define MOST_SAMPLES   8
/* workgroups that a card with this number of processors runs at once */
#define WORKGROUPS       132
#define SAMPLES_SOFTWARE 2
#define KEPT_REGISTERS   64    /* registers of an invocation for weights */
#define SOFTWARE_LOOPS   30000 /* iterations of an invocation; see types.glsl */
#define MOST_UNITS       16

/* Bytes of workgroup memory: of the forward pass (vec4 of parts, a state) and the backward pass (a
 * float of parts, a gradient per gate of a unit). */
static guint64
shared_bytes (const Shape *s, guint32 hidden, guint32 n_gates, gboolean backward)
{
  guint64 values = (guint64) hidden * s->samples * (backward ? n_gates : 1);
  guint64 parts = (guint64) s->parts * s->samples * s->width * (backward ? 1 : 4);
  return 4 * (values + (s->parts > 1 ? parts : 0));
}

/* FALSE: the hidden units are too many for a workgroup or its memory. */
static gboolean
find_shape (const DynoDeviceInfo *info, guint32 n, guint32 t, guint32 hidden, guint32 n_gates,
            DynoDtype dtype, gboolean backward, Shape *s)
{
  gboolean software = dyno_info_is_software (info);
  guint32 most = MIN (software ? WIDTH_SOFTWARE : WIDTH, info->max_invocations),
          wanted = software ? 1 : dyno_device_info_scale (info, WORKGROUPS);
  guint32 rows = backward ? n_gates * hidden : hidden, most_kept;
  *s = (Shape){ .width = MIN ((hidden + 7) & ~7u, most), .parts = 1, .steps = t };
  s->units = ((hidden + 7) / 8 * 8 + s->width - 1) / s->width;
  s->samples =
      software ? MIN (SAMPLES_SOFTWARE, n) : CLAMP ((n + wanted - 1) / wanted, 1, MOST_SAMPLES);
  s->samples = MAX (1, MIN (s->samples, MOST_SAMPLES / MIN (s->units, MOST_SAMPLES)));
  while (!software && s->units == 1 && hidden % (2 * s->parts) == 0
         && 2 * s->parts * s->width <= MIN (INVOCATIONS, info->max_invocations))
    s->parts *= 2;
  while (s->samples > 1 && shared_bytes (s, hidden, n_gates, backward) > info->shared_bytes)
    s->samples--;
  while (s->parts > 1 && shared_bytes (s, hidden, n_gates, backward) > info->shared_bytes)
    s->parts /= 2;
  /* Registers for the weights of the rows: a row is a weight for each gate of a unit in the forward
   * pass, which take two registers in half precision, and one weight in the backward pass. */
  if (backward)
    most_kept = dtype == DYNO_DTYPE_F16 ? 2 * KEPT_REGISTERS : KEPT_REGISTERS;
  else
    most_kept = KEPT_REGISTERS / (dtype == DYNO_DTYPE_F16 ? 2 : n_gates);
  if (!software && s->units == 1)
    s->keep = MIN (rows / s->parts, most_kept) & ~1u;
  if (software)
    {
      guint32 loops = s->units * s->samples * (2 * rows + 16);
      s->steps = CLAMP (SOFTWARE_LOOPS / loops, 1, t);
    }
  return s->units <= MOST_UNITS
         && shared_bytes (s, hidden, n_gates, backward) <= info->shared_bytes;
}

static DynoKernelSpec
make_spec (DynoLowering *lowering, const DynoNode *node, const char *shader, const DynoTensor *y,
           const DynoTensor *gates, gboolean reverse, const Shape *shape)
{
  const DynoRecurrent *attributes = node->attributes;
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
  if (node->inputs[FORWARD_LENGTHS]) /* the role of both passes */
    dyno_kernel_spec_macro (&spec, "LENGTHS=1");
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_N, gates->n);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_T, gates->w);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_H, attributes->hidden);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_GP, gates->cp);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_KP, (KEPT * attributes->hidden + 7) & ~7u);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_YP, y->cp);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_COLUMN, reverse ? attributes->hidden : 0);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_STRIDE, attributes->stride);
  return spec;
}

static gboolean
refuse (DynoLowering *lowering, const DynoNode *node)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  dyno_graph_fail (dyno_lowering_get_graph (lowering), DYNO_NN_ERROR_UNSUPPORTED,
                   "%s: %u hidden units do not fit %u KiB of workgroup memory of %s; take fewer",
                   node->name, ((const DynoRecurrent *) node->attributes)->hidden,
                   info->shared_bytes >> 10, info->name);
  return FALSE;
}

/* Forward -------------------------------------------------------------------------------------- */

static void
lower_direction (DynoLowering *lowering, DynoNode *node, const DynoRecurrentCell *op,
                 guint direction, gboolean last)
{
  const DynoRecurrent *attributes = node->attributes;
  DynoTensor **inputs = node->inputs + NEXT_INPUT * direction, *gates = inputs[FORWARD_GATES];
  DynoTensor *lengths = node->inputs[FORWARD_LENGTHS], *y = node->outputs[FORWARD_Y], *kept = NULL,
             *cell = NULL;
  Shape shape;
  if (node->n_outputs > FORWARD_KEPT)
    {
      kept = node->outputs[FORWARD_KEPT + outputs_of (op) * direction];
      if (op->has_cell)
        cell = node->outputs[FORWARD_CELL + outputs_of (op) * direction];
    }
  if (!find_shape (dyno_lowering_get_info (lowering), gates->n, gates->w, attributes->hidden,
                   op->n_gates, gates->dtype, FALSE, &shape)
      && !refuse (lowering, node))
    return;
  if (op->has_cell && !cell && shape.steps < gates->w)
    cell = dyno_lowering_workspace (lowering, "cell",
                                    (guint64) gates->n * gates->w * attributes->hidden * 4);
  DynoKernelSpec spec =
      make_spec (lowering, node, op->forward_shader, y, gates, direction == 1, &shape);
  spec.push_bytes = sizeof (DynoRecurrentPush);
  if (kept)
    dyno_kernel_spec_macro (&spec, "KEPT=1");
  if (cell)
    dyno_kernel_spec_macro (&spec, "CELL=1");
  if (inputs[FORWARD_BIAS])
    dyno_kernel_spec_macro (&spec, "BIAS=1");
  if (shape.steps < gates->w)
    dyno_kernel_spec_macro (&spec, "RESUMES=1");
  if (last)
    dyno_kernel_spec_macro (&spec, "PAD_END=1");
  for (guint32 first = 0; first < gates->w; first += shape.steps)
    {
      guint32 count = MIN (shape.steps, gates->w - first);
      DynoDispatch *dispatch =
          dyno_lowering_dispatch (lowering, node, direction ? "reverse" : "forward", &spec,
                                  (gates->n + shape.samples - 1) / shape.samples, 1, 1);
      DYNO_BIND (dispatch, DynoRecurrentPush, gates, gates, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoRecurrentPush, weight, inputs[FORWARD_WEIGHT], DYNO_ACCESS_READ);
      if (inputs[FORWARD_BIAS])
        DYNO_BIND (dispatch, DynoRecurrentPush, bias, inputs[FORWARD_BIAS], DYNO_ACCESS_READ);
      if (lengths)
        DYNO_BIND (dispatch, DynoRecurrentPush, lengths, lengths, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoRecurrentPush, y, y, dyno_access_sum (first > 0));
      if (kept)
        DYNO_BIND (dispatch, DynoRecurrentPush, kept, kept, DYNO_ACCESS_WRITE);
      if (cell)
        DYNO_BIND (dispatch, DynoRecurrentPush, cell, cell, dyno_access_sum (first > 0));
      DYNO_PUSH (dispatch, DynoRecurrentPush, first, first);
      DYNO_PUSH (dispatch, DynoRecurrentPush, count, count);
      dispatch->flops =
          2 * (guint64) gates->n * count * op->n_gates * attributes->hidden * attributes->hidden;
      dispatch->bytes = (gates->size_bytes + y->size_bytes / (last ? direction + 1 : 2)
                         + (kept ? kept->size_bytes : 0) + (cell ? cell->size_bytes : 0))
                            / gates->w * count
                        + inputs[FORWARD_WEIGHT]->size_bytes;
    }
}

void
dyno_recurrent_lower (DynoLowering *lowering, DynoNode *node, const DynoRecurrentCell *op)
{
  gboolean both = node->n_inputs > FORWARD_N_INPUTS;
  lower_direction (lowering, node, op, 0, !both);
  if (both)
    lower_direction (lowering, node, op, 1, TRUE);
}

/* Backward ------------------------------------------------------------------------------------- */

static DynoTensor *
lower_transpose (DynoLowering *lowering, DynoNode *node, guint32 n_gates, guint32 pitch)
{
  const DynoRecurrent *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *weight = node->inputs[BACKWARD_WEIGHT];
  guint64 count = n_gates * (guint64) attributes->hidden * attributes->hidden;
  DynoTensor *turned =
      dyno_lowering_workspace (lowering, "transposed", count * dyno_dtype_size (weight->dtype));
  if (!turned)
    return NULL;
  DynoKernelSpec spec = { .shader = "recurrent/recurrent_transpose.comp",
                          .local_size = { dyno_elementwise_local (info) },
                          .push_bytes = sizeof (DynoRecurrentTransposePush) };
  dyno_elementwise_type (&spec, weight->dtype);
  dyno_kernel_spec_macro (&spec, "GATES=%u", n_gates);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_H, attributes->hidden);
  dyno_kernel_spec_set (&spec, DYNO_RECURRENT_GP, pitch);
  DynoDispatch *dispatch =
      dyno_lowering_dispatch (lowering, node, "transpose", &spec,
                              dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = 2 * turned->size_bytes;
  DYNO_BIND (dispatch, DynoRecurrentTransposePush, source, weight, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoRecurrentTransposePush, target, turned, DYNO_ACCESS_WRITE);
  return turned;
}

void
dyno_recurrent_lower_backward (DynoLowering *lowering, DynoNode *node, const DynoRecurrentCell *op)
{
  static const struct {
    guint role;
    guint16 offset;
  } reads[] = { { BACKWARD_DY, offsetof (DynoRecurrentBackwardPush, dy) },
                { BACKWARD_Y, offsetof (DynoRecurrentBackwardPush, y) },
                { BACKWARD_KEPT, offsetof (DynoRecurrentBackwardPush, kept) },
                { BACKWARD_CELL, offsetof (DynoRecurrentBackwardPush, cell) },
                { BACKWARD_LENGTHS, offsetof (DynoRecurrentBackwardPush, lengths) } };
  const DynoRecurrent *attributes = node->attributes;
  DynoTensor *dy = node->inputs[BACKWARD_DY], *dgates = node->outputs[BACKWARD_DGATES],
             *previous = node->outputs[BACKWARD_PREVIOUS], *carry = NULL,
             *dproduct = op->has_cell ? NULL : node->outputs[BACKWARD_DPRODUCT];
  DynoTensor *weight = lower_transpose (lowering, node, op->n_gates, dgates->cp);
  Shape shape;
  if (!weight
      || (!find_shape (dyno_lowering_get_info (lowering), dgates->n, dgates->w, attributes->hidden,
                       op->n_gates, dgates->dtype, TRUE, &shape)
          && !refuse (lowering, node)))
    return;
  DynoKernelSpec spec =
      make_spec (lowering, node, op->backward_shader, dy, dgates, attributes->reverse, &shape);
  spec.push_bytes = sizeof (DynoRecurrentBackwardPush);
  if (shape.steps < dgates->w)
    {
      carry =
          dyno_lowering_workspace (lowering, "carry", (guint64) dgates->n * attributes->hidden * 4);
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
      guint64 bytes = dgates->size_bytes * (dproduct ? 2 : 1) + previous->size_bytes;
      for (guint i = 0; i < G_N_ELEMENTS (reads); i++)
        if (node->inputs[reads[i].role])
          {
            dyno_dispatch_bind (dispatch, reads[i].offset, node->inputs[reads[i].role],
                                DYNO_ACCESS_READ);
            bytes += node->inputs[reads[i].role]->size_bytes;
          }
      DYNO_BIND (dispatch, DynoRecurrentBackwardPush, weight, weight, DYNO_ACCESS_READ);
      DYNO_BIND (dispatch, DynoRecurrentBackwardPush, dgates, dgates,
                 dproduct ? DYNO_ACCESS_WRITE : adds);
      if (dproduct)
        DYNO_BIND (dispatch, DynoRecurrentBackwardPush, dproduct, dproduct, adds);
      DYNO_BIND (dispatch, DynoRecurrentBackwardPush, previous, previous, DYNO_ACCESS_WRITE);
      if (carry)
        DYNO_BIND (dispatch, DynoRecurrentBackwardPush, carry, carry, adds);
      DYNO_PUSH (dispatch, DynoRecurrentBackwardPush, first, first);
      DYNO_PUSH (dispatch, DynoRecurrentBackwardPush, count, count);
      dispatch->flops =
          2 * (guint64) dgates->n * count * op->n_gates * attributes->hidden * attributes->hidden;
      dispatch->bytes = bytes / dgates->w * count + weight->size_bytes;
    }
}

static void
append_backward (DynoGraph *graph, const DynoNode *node, const DynoRecurrentCell *op,
                 guint direction)
{
  DynoRecurrent attributes = *(const DynoRecurrent *) node->attributes;
  DynoTensor *y = node->outputs[FORWARD_Y], *dy = dyno_graph_gradient (graph, y);
  DynoTensor **inputs = node->inputs + NEXT_INPUT * direction,
             **outputs = node->outputs + outputs_of (op) * direction,
             *gates = inputs[FORWARD_GATES], *dproduct = NULL;
  const DynoParameter *weight = inputs[FORWARD_WEIGHT]->parameter,
                      *bias = inputs[FORWARD_BIAS] ? inputs[FORWARD_BIAS]->parameter : NULL;
  g_autofree char *name = g_strconcat (gates->name, ".backward", NULL),
                  *product = g_strconcat (gates->name, ".product", NULL),
                  *state = g_strconcat (gates->name, ".previous", NULL);
  gboolean accumulate;
  /* Only this node reads the gates, so their gradient is not added to.  Where all layers below are
   * frozen the gates need no gradient, but the gradient of the recurrent weight is made from it. */
  DynoTensor *dgates = dyno_graph_gradient_target (graph, gates, &accumulate);
  if (!dgates && (weight->gradient || (bias && bias->gradient)))
    dgates = dyno_graph_activation (graph, name, gates->n, 1, gates->w, gates->c);
  DynoTensor *previous = dyno_graph_activation (graph, state, y->n, 1, y->w, attributes.hidden);
  if (!op->has_cell)
    dproduct = dyno_graph_activation (graph, product, gates->n, 1, gates->w, gates->c);
  if (!dy || !dgates || !previous)
    return;
  attributes.reverse = direction == 1;
  dyno_graph_node (
      graph, op->backward_op, name,
      (DynoTensor *[]){ node->inputs[FORWARD_LENGTHS], dy, y, outputs[FORWARD_KEPT],
                        op->has_cell ? outputs[FORWARD_CELL] : NULL, inputs[FORWARD_WEIGHT] },
      BACKWARD_N_INPUTS, (DynoTensor *[]){ dgates, previous, dproduct },
      dproduct ? BACKWARD_N_OUTPUTS : BACKWARD_DPRODUCT, &attributes, sizeof attributes);
  dyno_linear_append_weight_gradients (graph, weight->name, previous, dproduct ? dproduct : dgates,
                                       weight, bias);
}

void
dyno_recurrent_append_backward (DynoGraph *graph, const DynoNode *node, const DynoRecurrentCell *op)
{
  append_backward (graph, node, op, 0);
  if (node->n_inputs > FORWARD_N_INPUTS)
    append_backward (graph, node, op, 1);
}

guint64
dyno_recurrent_count_flops (const DynoNode *node, const DynoRecurrentCell *op)
{
  const guint64 hidden = ((const DynoRecurrent *) node->attributes)->hidden;
  guint64 all = 0;
  for (guint i = FORWARD_GATES; i < node->n_inputs; i += NEXT_INPUT)
    if (node->inputs[i])
      all += 2 * (guint64) node->inputs[i]->n * node->inputs[i]->w * op->n_gates * hidden * hidden;
  return all;
}

/* Builder -------------------------------------------------------------------------------------- */

typedef struct {
  DynoParameter *weight_ih, *weight_hh, *bias_ih, *bias_hh;
} Weights;

/* A parameter with PyTorch's start values; name NULL: there is none. */
static DynoParameter *
make_parameter (DynoGraph *graph, const char *name, const DynoParameterLayout *layout,
                guint32 hidden)
{
  DynoParameter *made =
      name ? dyno_graph_parameter (graph, name, layout, DYNO_INIT_KAIMING_UNIFORM, FALSE) : NULL;
  if (made)
    made->fan_in = hidden;
  return made;
}

static gboolean
make_weights (DynoGraph *graph, const DynoRecurrentNames *names, guint32 in, guint32 hidden,
              guint32 n_gates, Weights *w)
{
  const DynoParameterLayout ih = dyno_layout_linear (n_gates * hidden, 1, 1, in),
                            hh = dyno_layout_linear (n_gates * hidden, 1, 1, hidden),
                            bias = dyno_layout_vector (n_gates * hidden);
  w->weight_ih = make_parameter (graph, names->weight_ih, &ih, hidden);
  w->weight_hh = make_parameter (graph, names->weight_hh, &hh, hidden);
  w->bias_ih = make_parameter (graph, names->bias_ih, &bias, hidden);
  w->bias_hh = make_parameter (graph, names->bias_hh, &bias, hidden);
  return w->weight_ih && w->weight_hh && (w->bias_ih || !names->bias_ih)
         && (w->bias_hh || !names->bias_hh);
}

/* Adds the outputs that the backward pass of a direction reads. */
static void
add_kept (DynoGraph *graph, const DynoTensor *x, const DynoRecurrentCell *op, const char *kept,
          const char *cell, guint32 hidden, DynoTensor **out)
{
  out[FORWARD_KEPT] = dyno_graph_activation (graph, kept, x->n, 1, x->w, KEPT * hidden);
  if (op->has_cell)
    out[FORWARD_CELL] = dyno_graph_tensor (graph, cell, DYNO_DTYPE_F32, DYNO_SPACE_ARENA, x->n, 1,
                                           x->w, hidden, hidden);
}

static DynoTensor *
append_layer (DynoGraph *graph, DynoTensor *x, const char *name, const DynoRecurrentCell *op,
              const DynoRecurrentParams *params, const DynoRecurrentNames *names)
{
  /* Without lengths the stride has no effect, so that all strides share their kernels. */
  const DynoRecurrent attributes = { .hidden = params->hidden,
                                     .stride = params->sequence.lengths
                                                   ? MAX (params->sequence.stride, 1)
                                                   : 1 };
  guint n_directions = params->bidirectional ? 2 : 1, n_kept = outputs_of (op) * n_directions;
  gboolean training = dyno_graph_get_params (graph)->training;
  DynoTensor *inputs[FORWARD_N_INPUTS + NEXT_INPUT] = { params->sequence.lengths },
                                        *outputs[2 * FORWARD_N_OUTPUTS];
  outputs[FORWARD_Y] =
      dyno_graph_activation (graph, name, x->n, 1, x->w, n_directions * params->hidden);
  for (guint d = 0; d < n_directions; d++)
    {
      g_autofree char *projection = g_strconcat (name, d ? "_reverse.ih" : ".ih", NULL),
                      *kept = g_strconcat (name, d ? "_reverse.kept" : ".kept", NULL),
                      *cell = g_strconcat (name, d ? "_reverse.cell" : ".cell", NULL);
      DynoTensor **in = inputs + NEXT_INPUT * d;
      Weights w;
      if (!make_weights (graph, &names[d], x->c, params->hidden, op->n_gates, &w))
        return NULL;
      in[FORWARD_GATES] = dyno_linear_append (graph, x, projection, w.weight_ih, w.bias_ih, FALSE);
      in[FORWARD_WEIGHT] = w.weight_hh->compute;
      in[FORWARD_BIAS] = w.bias_hh ? w.bias_hh->master : NULL;
      if (!in[FORWARD_GATES])
        return NULL;
      if (training)
        add_kept (graph, x, op, kept, cell, params->hidden, outputs + outputs_of (op) * d);
    }
  dyno_graph_node (graph, op->op, name, inputs, FORWARD_N_INPUTS + NEXT_INPUT * (n_directions - 1),
                   outputs, training ? FORWARD_KEPT + n_kept : FORWARD_KEPT, &attributes,
                   sizeof attributes);
  return outputs[FORWARD_Y];
}

static gboolean
check (DynoGraph *graph, const DynoTensor *x, const char *name, const DynoRecurrentCell *op,
       const DynoRecurrentParams *params)
{
  if (!x || !dyno_sequence_check (graph, name, x, &params->sequence))
    return FALSE;
  /* The kernels count the elements of a tensor in 32 bits. */
  if (params->hidden > 0 && params->hidden <= 1u << 16
      && (guint64) x->n * x->w * (4 * (guint64) params->hidden + 8) <= G_MAXINT32)
    return TRUE;
  dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                   "%s: %s of %u hidden units over %u sequences of %u steps is %s", name, op->title,
                   params->hidden, x->n, x->w,
                   params->hidden == 0         ? "empty"
                   : params->hidden > 1u << 16 ? "too large; take fewer units"
                                               : "too large; lower the batch");
  return FALSE;
}

DynoTensor *
dyno_recurrent_layer (DynoGraph *graph, DynoTensor *x, const char *name,
                      const DynoRecurrentCell *op, const DynoRecurrentParams *params,
                      const DynoRecurrentNames *names)
{
  return check (graph, x, name, op, params) ? append_layer (graph, x, name, op, params, names)
                                            : NULL;
}

DynoTensor *
dyno_recurrent_stack (DynoGraph *graph, DynoTensor *x, const char *name,
                      const DynoRecurrentCell *op, const DynoRecurrentParams *params)
{
  static const char *const kinds[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh" };

  if (!check (graph, x, name, op, params))
    return NULL;
  for (guint layer = 0; x && layer < MAX (params->layers, 1); layer++)
    {
      g_autofree char *own = g_strdup_printf ("%s.l%u", name, layer);
      g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
      DynoRecurrentNames names[2];
      for (guint i = 0; i < 2 * G_N_ELEMENTS (kinds); i++)
        g_ptr_array_add (texts, g_strdup_printf ("%s.%s_l%u%s", name, kinds[i % 4], layer,
                                                 i < G_N_ELEMENTS (kinds) ? "" : "_reverse"));
      for (guint d = 0; d < G_N_ELEMENTS (names); d++)
        {
          const char *const *of = (const char *const *) texts->pdata + 4 * d;
          names[d] = (DynoRecurrentNames){ of[0], of[1], of[2], of[3] };
        }
      x = append_layer (graph, x, own, op, params, names);
    }
  return x;
}
