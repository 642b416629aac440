/* SPDX-License-Identifier: MIT */
/* scale: y[n][h][w][c] = x[n][h][w][c] * s[n][c], as squeeze-and-excitation applies its factors.
 * Inputs x (N, H, W, C) and s (N, 1, 1, C); output y (N, H, W, C).
 * scale_backward, in one pass over x and dy:
 *     dx[n][h][w][c] (+)= dy[n][h][w][c] * s[n][c]
 *     ds[n][c] (+)= sum over h, w of dy[n][h][w][c] * x[n][h][w][c]
 * Inputs x, s, dy; outputs dx, which is dy's memory where no other node reads dy, and ds, each NULL
 * where it is not wanted.  Where samples are few, their pixels are cut into splits, whose sums are
 * added up in a fixed order. */
#include "conv2d-private.h"
#include "elementwise.h"
#include "elementwise-push.h"
#include "modes.h"
#include "ops.h"
#include "scale-push.h"
#include <stddef.h>

typedef struct {
  gboolean accumulate, accumulate_factor;
} ScaleBackward;

enum { BACKWARD_X, BACKWARD_S, BACKWARD_DY, BACKWARD_N_INPUTS };
enum { BACKWARD_DX, BACKWARD_DS, BACKWARD_N_OUTPUTS };

static void
bind (DynoDispatch *dispatch, gsize offset, DynoTensor *tensor, gboolean accumulate)
{
  dispatch->bytes += tensor->size_bytes * (accumulate ? 2 : 1);
  dyno_dispatch_bind (dispatch, (guint16) offset, tensor, dyno_access_sum (accumulate));
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const ScaleBackward *attributes = node->attributes;
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  DynoTensor *x = node->inputs[BACKWARD_X], *s = node->inputs[BACKWARD_S],
             *dy = node->inputs[BACKWARD_DY];
  DynoTensor *dx = node->outputs[BACKWARD_DX], *ds = node->outputs[BACKWARD_DS], *partials = NULL;
  DynoKernelSpec spec = { .shader = "scale/scale_backward.comp",
                          .push_bytes = sizeof (DynoScalePush) };
  const DynoPixelSums sums = dyno_elementwise_pixel_sums (info, x);
  guint32 splits = sums.splits;
  spec.local_size[0] = sums.width;
  spec.local_size[1] = sums.lanes;
  if (ds && splits > 1)
    {
      partials = dyno_lowering_workspace (lowering, "partials",
                                          (guint64) splits * x->n * x->cp * sizeof (float));
      if (!partials)
        return;
    }
  dyno_elementwise_type (&spec, x->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_elementwise_count (lowering, x);
  if (dx)
    dyno_kernel_spec_macro (&spec, "DX=%d",
                            attributes->accumulate ? DYNO_STORE_ID_SUM : DYNO_STORE_ID_PLAIN);
  if (ds)
    dyno_kernel_spec_macro (&spec, "DS=%d",
                            partials                        ? DYNO_STORE_ID_PARTS
                            : attributes->accumulate_factor ? DYNO_STORE_ID_SUM
                                                            : DYNO_STORE_ID_PLAIN);
  dyno_kernel_spec_set (&spec, DYNO_SCALE_CVECS, x->cp / dyno_dtype_lanes (x->dtype));
  dyno_kernel_spec_set (&spec, DYNO_SCALE_PIXELS, x->h * x->w);
  dyno_kernel_spec_set (&spec, DYNO_SCALE_SAMPLES, x->n);
  dyno_kernel_spec_set (&spec, DYNO_SCALE_SPLIT, sums.split);
  DynoDispatch *dispatch = dyno_lowering_dispatch (lowering, node, "backward", &spec, sums.blocks,
                                                   MIN (x->n, 65535), splits);
  dispatch->flops = dyno_tensor_elements (x) * ((dx != NULL) + 2 * (ds != NULL));
  dispatch->bytes = dy->size_bytes + (dx ? s->size_bytes : 0) + (ds ? x->size_bytes : 0);
  DYNO_BIND (dispatch, DynoScalePush, dy, dy, DYNO_ACCESS_READ);
  if (ds)
    DYNO_BIND (dispatch, DynoScalePush, x, x, DYNO_ACCESS_READ);
  if (dx)
    {
      DYNO_BIND (dispatch, DynoScalePush, s, s, DYNO_ACCESS_READ);
      bind (dispatch, offsetof (DynoScalePush, dx), dx, attributes->accumulate);
    }
  if (ds)
    bind (dispatch, offsetof (DynoScalePush, ds), partials ? partials : ds,
          !partials && attributes->accumulate_factor);
  if (partials)
    dyno_conv2d_lower_join (lowering, node, partials, ds, NULL, splits,
                            attributes->accumulate_factor);
}

static const DynoAttribute backward_attributes[] = {
  DYNO_ATTRIBUTE (ScaleBackward, accumulate), DYNO_ATTRIBUTE (ScaleBackward, accumulate_factor)
};

static const DynoOpClass backward_class = { .name = "scale_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  ScaleBackward attributes = { FALSE, FALSE };
  DynoTensor *x = node->inputs[0], *s = node->inputs[1], *y = node->outputs[0];
  DynoTensor *dy = dyno_graph_gradient (graph, y), *outputs[BACKWARD_N_OUTPUTS] = { NULL };
  /* dx may overwrite dy although the gradient of the factor is computed from dy too, since an
   * invocation reads the values before it overwrites them. */
  if (x->needs_gradient)
    outputs[BACKWARD_DX] = dyno_graph_gradient_target_over (graph, x, y, &attributes.accumulate);
  if (s->needs_gradient)
    outputs[BACKWARD_DS] = dyno_graph_gradient_target (graph, s, &attributes.accumulate_factor);
  if (!outputs[BACKWARD_DX] && !outputs[BACKWARD_DS])
    return;
  dyno_graph_backward_node (graph, node, &backward_class, (DynoTensor *[]){ x, s, dy },
                            BACKWARD_N_INPUTS, outputs, BACKWARD_N_OUTPUTS, &attributes,
                            sizeof attributes);
}

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  const DynoTensor *x = node->inputs[0];
  const guint32 constants[] = { [DYNO_SCALE_FORWARD_CVECS - 1] =
                                    x->cp / dyno_dtype_lanes (x->dtype),
                                [DYNO_SCALE_FORWARD_PIXELS - 1] = x->h * x->w };
  dyno_elementwise_lower (lowering, node, "forward", "scale/scale_forward.comp", node->inputs[0],
                          node->inputs[1], node->outputs[0], FALSE, constants,
                          G_N_ELEMENTS (constants), FALSE);
}

static const DynoOpClass scale_class = {
  .name = "scale", .traits = { .restorable = TRUE }, .backward = backward, .lower = lower
};

DynoTensor *
dyno_scale (DynoGraph *graph, DynoTensor *x, DynoTensor *factors, const char *name)
{
  if (!x || !factors)
    return NULL;
  if (factors->n != x->n || factors->h != 1 || factors->w != 1 || factors->c != x->c
      || factors->dtype != x->dtype || (guint64) x->h * x->w > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: factors (%u, %u, %u, %u) do not fit (%u, %u, %u, %u); there is "
                            "one for each sample and channel",
                            name, factors->n, factors->h, factors->w, factors->c, x->n, x->h, x->w,
                            x->c);
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &scale_class, name, (DynoTensor *[]){ x, factors }, 2, &y, 1, NULL, 0);
  return y;
}
