/* SPDX-License-Identifier: MIT */
/* channel_shuffle, ShuffleNet's: the channels as (groups, C / groups), transposed:
 *     y[n][h][w][i * groups + g] = x[n][h][w][g * (C / groups) + i]
 * Input x; output y; (N, H, W, C) both.
 * channel_shuffle_backward: the same from dy to dx with C / groups groups, added to dx where it has
 * other contributors.  Input dy; output dx. */
#include "channels-private.h"
#include "channels-push.h"
#include "elementwise.h"
#include "elementwise-push.h"
#include "ops.h"

typedef struct {
  guint32 groups;
  gboolean accumulate;
} Shuffle;

static void
lower_pass (DynoLowering *lowering, DynoNode *node, const char *pass)
{
  const Shuffle *attributes = node->attributes;
  DynoTensor *y = node->outputs[0];
  const guint32 constants[] = { [DYNO_SHUFFLE_CVECS - 1] = y->cp / dyno_dtype_lanes (y->dtype),
                                [DYNO_SHUFFLE_C - 1] = y->c,
                                [DYNO_SHUFFLE_GROUPS - 1] = attributes->groups };
  dyno_elementwise_lower (lowering, node, pass, "channels/channels_shuffle.comp", node->inputs[0],
                          NULL, y, attributes->accumulate, constants, G_N_ELEMENTS (constants),
                          FALSE);
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

static const DynoAttribute shuffle_attributes[] = { DYNO_ATTRIBUTE (Shuffle, groups),
                                                    DYNO_ATTRIBUTE (Shuffle, accumulate) };

static const DynoOpClass backward_class = { .name = "channel_shuffle_backward",
                                            DYNO_OP_ATTRIBUTES (shuffle_attributes),
                                            .lower = lower_backward,
                                            .flops = dyno_channels_flops };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  const Shuffle *forward = node->attributes;
  DynoTensor *x = node->inputs[0], *dy = dyno_graph_gradient (graph, node->outputs[0]);
  Shuffle attributes = { .groups = x->c / forward->groups };
  DynoTensor *dx = dyno_graph_gradient_target (graph, x, &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, &dy, 1, &dx, 1, &attributes,
                            sizeof attributes);
}

static const DynoOpClass shuffle_class = { .name = "channel_shuffle",
                                           .traits = { .restorable = TRUE },
                                           DYNO_OP_ATTRIBUTES (shuffle_attributes),
                                           .backward = backward,
                                           .lower = lower_forward,
                                           .flops = dyno_channels_flops };

DynoTensor *
dyno_channel_shuffle (DynoGraph *graph, DynoTensor *x, const char *name, guint32 groups)
{
  if (!x)
    return NULL;
  if (groups == 0 || x->c % groups != 0)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u groups do not divide %u channels; take a number that does",
                            name, groups, x->c);
  if (groups == 1 || groups == x->c)
    return x;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, x->c);
  if (!y)
    return NULL;
  const Shuffle attributes = { .groups = groups };
  dyno_graph_node (graph, &shuffle_class, name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}
