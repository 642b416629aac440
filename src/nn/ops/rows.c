/* SPDX-License-Identifier: MIT */
/* rows: an image's rows as the steps of a sequence, y[n][0][h][w * C + c] = x[n][h][w][c].  Input x
 * (N, H, W, C); output y (N, 1, H, W * C).
 * rows_backward: dx[n][h][w][c] (+)= dy[n][0][h][w * C + c].  Input dy; output dx. */
#include "elementwise.h"
#include "ops.h"
#include "steps-push.h"

typedef struct {
  gboolean accumulate;
} Rows;

static void
lower (DynoLowering *lowering, DynoNode *node, const char *pass, const DynoTensor *image,
       const DynoTensor *sequence, gboolean backward)
{
  const Rows *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *source = node->inputs[0], *target = node->outputs[0];
  guint32 count = dyno_elementwise_count (lowering, target);
  DynoKernelSpec spec = { .shader = "rows/rows_copy.comp", .push_bytes = sizeof (DynoRowsPush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, target->dtype);
  dyno_elementwise_words (&spec, info);
  if (backward)
    dyno_kernel_spec_macro (&spec, "BACKWARD=1");
  if (attributes->accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  dyno_kernel_spec_set (&spec, DYNO_ROWS_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_ROWS_CVECS, target->cp / dyno_dtype_lanes (target->dtype));
  dyno_kernel_spec_set (&spec, DYNO_ROWS_W, image->w);
  dyno_kernel_spec_set (&spec, DYNO_ROWS_C, image->c);
  dyno_kernel_spec_set (&spec, DYNO_ROWS_CP, image->cp);
  dyno_kernel_spec_set (&spec, DYNO_ROWS_YP, sequence->cp);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = source->size_bytes + target->size_bytes * (attributes->accumulate ? 2 : 1);
  DYNO_BIND (dispatch, DynoRowsPush, source, source, DYNO_ACCESS_READ);
  DYNO_BIND (dispatch, DynoRowsPush, target, target, dyno_access_sum (attributes->accumulate));
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, "backward", node->outputs[0], node->inputs[0], TRUE);
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  lower (lowering, node, "forward", node->inputs[0], node->outputs[0], FALSE);
}

static const DynoAttribute rows_attributes[] = { DYNO_ATTRIBUTE (Rows, accumulate) };

static const DynoOpClass backward_class = { .name = "rows_backward",
                                            DYNO_OP_ATTRIBUTES (rows_attributes),
                                            .lower = lower_backward };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  Rows attributes = { FALSE };
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoTensor *dx = dyno_graph_gradient_target (graph, node->inputs[0], &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, &dy, 1, &dx, 1, &attributes,
                            sizeof attributes);
}

static const DynoOpClass rows_class = { .name = "rows",
                                        .traits = { .restorable = TRUE },
                                        DYNO_OP_ATTRIBUTES (rows_attributes),
                                        .backward = backward,
                                        .lower = lower_forward };

DynoTensor *
dyno_rows (DynoGraph *graph, DynoTensor *x, const char *name)
{
  if (!x || x->h == 1)
    return x;
  if ((guint64) x->w * x->c > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE, "%s: rows of %u x %u values are too long",
                            name, x->w, x->c);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, 1, x->h, x->w * x->c);
  if (!y)
    return NULL;
  const Rows attributes = { FALSE };
  dyno_graph_node (graph, &rows_class, name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}
