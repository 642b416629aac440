/* SPDX-License-Identifier: MIT */
/* softmax over the channels of each pixel: for each row r of x (N, H, W, C)
 *     y[r] = exp (x[r] - max (x[r])) / sum (exp (x[r] - max (x[r])))
 * in fp32; input x, output y of the same shape.
 * softmax_backward: dx[r] (+)= y[r] (dy[r] - sum (dy[r] y[r]) / sum (y[r])).  Inputs y, dy; output
 * dx, which is dy's memory where no other node reads dy. */
#include "elementwise.h"
#include "ops.h"
#include "softmax-push.h"

#define INVOCATIONS          256
#define INVOCATIONS_SOFTWARE 64
#define MOST_WIDTH           32 /* invocations per row */

typedef struct {
  gboolean accumulate;
} SoftmaxBackward;

static guint32
count_rows (const DynoTensor *x)
{
  return x->n * x->h * x->w;
}

/* Appends the dispatch of a pass over the rows of a tensor. */
static DynoDispatch *
append (DynoLowering *lowering, DynoNode *node, const char *pass, DynoKernelSpec *spec,
        const DynoTensor *x)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 invocations = MIN (dyno_info_is_software (info) ? INVOCATIONS_SOFTWARE : INVOCATIONS,
                             info->max_invocations);
  guint32 cvecs = x->cp / dyno_dtype_lanes (x->dtype), rows = count_rows (x);

  dyno_elementwise_count (lowering, x);
  spec->local_size[0] = MIN (cvecs, MOST_WIDTH);
  spec->local_size[1] = invocations / spec->local_size[0];
  dyno_elementwise_type (spec, x->dtype);
  dyno_elementwise_words (spec, info);
  dyno_kernel_spec_set (spec, DYNO_SOFTMAX_ROWS, rows);
  dyno_kernel_spec_set (spec, DYNO_SOFTMAX_CVECS, cvecs);
  dyno_kernel_spec_set (spec, DYNO_SOFTMAX_C, x->c);
  return dyno_lowering_dispatch (lowering, node, pass, spec,
                                 dyno_elementwise_groups (info, rows, spec->local_size[1]), 1, 1);
}

/* Backward ------------------------------------------------------------------------------------- */

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const SoftmaxBackward *attributes = node->attributes;
  DynoTensor *y = node->inputs[0], *dx = node->outputs[0];
  DynoKernelSpec spec = { .shader = "softmax/softmax_backward.comp",
                          .push_bytes = sizeof (DynoSoftmaxBackwardPush) };
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  DynoDispatch *dispatch = append (lowering, node, "backward", &spec, y);
  dispatch->flops = 5 * dyno_tensor_elements (y);
  dispatch->bytes = y->size_bytes * (attributes->accumulate ? 4 : 3);
  DYNO_BIND (dispatch, DynoSoftmaxBackwardPush, y, y, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoSoftmaxBackwardPush, dy, node->inputs[1], DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoSoftmaxBackwardPush, dx, dx, dyno_access_sum (attributes->accumulate));
}

static const DynoAttribute backward_attributes[] = { DYNO_ATTRIBUTE (SoftmaxBackward, accumulate) };

static const DynoOpClass backward_class = { .name = "softmax_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  SoftmaxBackward attributes = { FALSE };
  DynoTensor *x = node->inputs[0], *y = node->outputs[0], *dy = dyno_graph_gradient (graph, y);
  DynoTensor *dx = dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  if (dx)
    dyno_graph_backward_node (graph, node, &backward_class, (DynoTensor *[]){ y, dy }, 2, &dx, 1,
                              &attributes, sizeof attributes);
}

/* Forward -------------------------------------------------------------------------------------- */

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  DynoTensor *x = node->inputs[0], *y = node->outputs[0];
  DynoKernelSpec spec = { .shader = "softmax/softmax_forward.comp",
                          .push_bytes = sizeof (DynoSoftmaxPush) };
  DynoDispatch *dispatch = append (lowering, node, "forward", &spec, x);
  dispatch->flops = 5 * dyno_tensor_elements (x);
  dispatch->bytes = x->size_bytes + y->size_bytes;
  DYNO_BIND (dispatch, DynoSoftmaxPush, x, x, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoSoftmaxPush, y, y, DYNO_ACCESS_WRITE);
}

static const DynoOpClass softmax_class = { .name = "softmax",
                                           .traits = { .reads_own_output = TRUE,
                                                       .restorable = TRUE },
                                           .backward = backward,
                                           .lower = lower_forward };

DynoTensor *
dyno_softmax (DynoGraph *graph, DynoTensor *x, const char *name)
{
  if (!x)
    return NULL;
  if ((guint64) x->n * x->h * x->w > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u x %u x %u rows are too many; lower the batch", name, x->n, x->h,
                            x->w);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &softmax_class, name, &x, 1, &y, 1, NULL, 0);
  return y;
}
