/* SPDX-License-Identifier: MIT */
/* tokens: an image's pixels as tokens after a class token, with learned positions, as in ViT; for x
 * (N, H, W, C), T = 1 + H * W:
 *     y[n][0] = class_token + positions[0];   y[n][t] = x[n][t - 1] + positions[t]
 * Inputs x, class_token (1, 1, C) and positions (1, T, C), both masters; output y (N, 1, T, C).
 * Without a class token y (N, H, W, C) is x + positions (1, H * W, C); without positions y is the
 * class token followed by x.
 * tokens_backward: dx[n][t] (+)= dy[n][t + 1].  Input dy; output dx.
 * tokens_sums: dpositions[t] += sum over n of dy[n][t], dclass_token += sum over n of dy[n][0], in
 * fp32 and a fixed order.  Input dy; outputs dclass_token, dpositions (NULL: frozen). */
#include "elementwise.h"
#include "ops.h"
#include "tokens-push.h"

/* most samples that an invocation adds up; taken four at a time, they stay below llvmpipe's loop
 * limit */
#define MOST_SAMPLES 200000

enum { FORWARD_X, FORWARD_CLASS, FORWARD_POSITIONS, FORWARD_N_INPUTS };
enum { SUMS_CLASS, SUMS_POSITIONS, SUMS_N_OUTPUTS };

typedef struct {
  gboolean class_token, accumulate;
} TokensBackward;

DynoParameter *
dyno_token_parameter (DynoGraph *graph, const char *name, guint32 count, guint32 channels,
                      DynoInit init)
{
  const DynoParameterLayout layout = { .n_dims = 3,
                                       .extent = { 1, count, channels, 1 },
                                       .padded = { 1, count, (channels + 7) & ~7u, 1 },
                                       .order = { 0, 1, 2, 3 },
                                       .is_vector = TRUE };
  return dyno_graph_parameter (graph, name, &layout, init, FALSE);
}

static DynoKernelSpec
make_spec (DynoLowering *lowering, const char *shader, const DynoTensor *y, guint32 count)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoKernelSpec spec = { .shader = shader, .push_bytes = sizeof (DynoTokensPush) };
  dyno_elementwise_count (lowering, y);
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, y->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_kernel_spec_set (&spec, DYNO_TOKENS_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_TOKENS_CVECS, y->cp / dyno_dtype_lanes (y->dtype));
  dyno_kernel_spec_set (&spec, DYNO_TOKENS_T, y->h * y->w);
  dyno_kernel_spec_set (&spec, DYNO_TOKENS_N, y->n);
  return spec;
}

static DynoDispatch *
add_dispatch (DynoLowering *lowering, DynoNode *node, const char *pass, const DynoKernelSpec *spec,
              guint32 count)
{
  return dyno_lowering_dispatch (
      lowering, node, pass, spec,
      dyno_elementwise_groups (dyno_lowering_get_info (lowering), count, spec->local_size[0]), 1,
      1);
}

/* Backward ------------------------------------------------------------------------------------- */

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const TokensBackward *attributes = node->attributes;
  DynoTensor *dy = node->inputs[0], *dx = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, dx);
  DynoKernelSpec spec = make_spec (lowering, "tokens/tokens_backward.comp", dy, count);
  if (attributes->class_token)
    dyno_kernel_spec_macro (&spec, "CLASS_TOKEN=1");
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  DynoDispatch *dispatch = add_dispatch (lowering, node, "backward", &spec, count);
  dispatch->bytes = dx->size_bytes * (attributes->accumulate ? 3 : 2);
  DYNO_BIND (dispatch, DynoTokensPush, source, dy, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoTokensPush, target, dx, dyno_access_sum (attributes->accumulate));
}

static void
lower_sums (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *dy = node->inputs[0], *class_token = node->outputs[SUMS_CLASS],
             *positions = node->outputs[SUMS_POSITIONS];
  guint32 count = dy->h * dy->w * (dy->cp / dyno_dtype_lanes (dy->dtype));
  DynoKernelSpec spec = make_spec (lowering, "tokens/tokens_sums.comp", dy, count);
  if (class_token)
    dyno_kernel_spec_macro (&spec, "CLASS_TOKEN=1");
  if (positions)
    dyno_kernel_spec_macro (&spec, "POSITIONS=1");
  DynoDispatch *dispatch = add_dispatch (lowering, node, "sums", &spec, count);
  dispatch->flops = dyno_tensor_elements (dy);
  dispatch->bytes = dy->size_bytes + (positions ? 2 * positions->size_bytes : 0);
  DYNO_BIND (dispatch, DynoTokensPush, source, dy, DYNO_ACCESS_READ);
  if (class_token)
    DYNO_BIND (dispatch, DynoTokensPush, class_token, class_token, DYNO_ACCESS_READ_WRITE);
  if (positions)
    DYNO_BIND (dispatch, DynoTokensPush, positions, positions, DYNO_ACCESS_READ_WRITE);
}

static const DynoAttribute backward_attributes[] = { DYNO_ATTRIBUTE (TokensBackward, class_token),
                                                     DYNO_ATTRIBUTE (TokensBackward, accumulate) };

static const DynoOpClass backward_class = { .name = "tokens_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward };

static const DynoOpClass sums_class = { .name = "tokens_sums", .lower = lower_sums };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *token = node->inputs[FORWARD_CLASS], *positions = node->inputs[FORWARD_POSITIONS];
  TokensBackward attributes = { .class_token = token != NULL };
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoTensor *sums[SUMS_N_OUTPUTS] = { [SUMS_CLASS] = token ? token->parameter->gradient : NULL,
                                       [SUMS_POSITIONS] =
                                           positions ? positions->parameter->gradient : NULL };
  g_autofree char *name = g_strconcat (node->name, ".backward", NULL),
                  *sums_name = g_strconcat (node->name, ".sums", NULL);
  if (sums[SUMS_CLASS] || sums[SUMS_POSITIONS])
    dyno_graph_node (graph, &sums_class, sums_name, &dy, 1, sums, SUMS_N_OUTPUTS, NULL, 0);
  DynoTensor *dx =
      dyno_graph_gradient_target (graph, node->inputs[FORWARD_X], &attributes.accumulate);
  if (dx)
    dyno_graph_node (graph, &backward_class, name, &dy, 1, &dx, 1, &attributes, sizeof attributes);
}

/* Forward -------------------------------------------------------------------------------------- */

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *x = node->inputs[FORWARD_X], *y = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, y);
  DynoKernelSpec spec = make_spec (lowering, "tokens/tokens_forward.comp", y, count);
  if (node->inputs[FORWARD_CLASS])
    dyno_kernel_spec_macro (&spec, "CLASS_TOKEN=1");
  if (node->inputs[FORWARD_POSITIONS])
    dyno_kernel_spec_macro (&spec, "POSITIONS=1");
  DynoDispatch *dispatch = add_dispatch (lowering, node, "forward", &spec, count);
  dispatch->flops = dyno_tensor_elements (y);
  dispatch->bytes =
      x->size_bytes + y->size_bytes
      + (node->inputs[FORWARD_POSITIONS] ? node->inputs[FORWARD_POSITIONS]->size_bytes : 0);
  DYNO_BIND (dispatch, DynoTokensPush, source, x, DYNO_ACCESS_READ);
  if (node->inputs[FORWARD_CLASS])
    DYNO_BIND (dispatch, DynoTokensPush, class_token, node->inputs[FORWARD_CLASS],
               DYNO_ACCESS_READ);
  if (node->inputs[FORWARD_POSITIONS])
    DYNO_BIND (dispatch, DynoTokensPush, positions, node->inputs[FORWARD_POSITIONS],
               DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoTokensPush, target, y, DYNO_ACCESS_WRITE);
}

static const DynoOpClass tokens_class = {
  .name = "tokens", .traits = { .restorable = TRUE }, .backward = backward, .lower = lower_forward
};

static gboolean
fits (const DynoParameter *parameter, guint64 count, guint32 channels)
{
  return parameter->n_dims == 3 && parameter->dims[0] == 1 && parameter->dims[1] == count
         && parameter->dims[2] == channels;
}

static DynoTensor *
append (DynoGraph *graph, DynoTensor *x, const char *name, const DynoParameter *class_token,
        const DynoParameter *positions, guint32 h, guint32 w)
{
  if (x->n > MOST_SAMPLES)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u samples are too many; lower the batch", name, x->n);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, h, w, x->c),
             *token = class_token ? class_token->master : NULL,
             *places = positions ? positions->master : NULL;
  if (!y)
    return NULL;
  dyno_graph_node (graph, &tokens_class, name, (DynoTensor *[]){ x, token, places },
                   FORWARD_N_INPUTS, &y, 1, NULL, 0);
  return y;
}

DynoTensor *
dyno_tokens (DynoGraph *graph, DynoTensor *x, const char *name, const DynoParameter *class_token,
             const DynoParameter *positions)
{
  if (!x || !class_token || !positions)
    return NULL;
  guint64 t = (guint64) x->h * x->w + 1;
  if (!fits (class_token, 1, x->c) || !fits (positions, t, x->c))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a class token of %u channels and %u positions do not fit "
                            "%u x %u tokens of %u channels",
                            name, class_token->dims[2], positions->dims[1], x->h, x->w, x->c);
  return append (graph, x, name, class_token, positions, 1, (guint32) t);
}

DynoTensor *
dyno_add_positions (DynoGraph *graph, DynoTensor *x, const char *name,
                    const DynoParameter *positions)
{
  if (!x || !positions)
    return NULL;
  if (!fits (positions, (guint64) x->h * x->w, x->c))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u positions of %u channels do not fit %u x %u tokens of %u "
                            "channels",
                            name, positions->dims[1], positions->dims[2], x->h, x->w, x->c);
  return append (graph, x, name, NULL, positions, x->h, x->w);
}

DynoTensor *
dyno_prepend_token (DynoGraph *graph, DynoTensor *x, const char *name,
                    const DynoParameter *class_token)
{
  if (!x || !class_token)
    return NULL;
  if (!fits (class_token, 1, x->c))
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: a class token of %u channels before tokens of %u", name,
                            class_token->dims[2], x->c);
  return append (graph, x, name, class_token, NULL, 1, x->h * x->w + 1);
}
