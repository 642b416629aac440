/* SPDX-License-Identifier: MIT */
/* concat: tensors one after the other along their channels.  Inputs x_i (N, H, W, C_i); output y
 * (N, H, W, sum of C_i): y[n][h][w][first_i + c] = x_i[n][h][w][c], where first_i is the sum of the
 * C_j before C_i.
 * concat_backward, one for each input that needs a gradient:
 *     dx_i[n][h][w][c] (+)= dy[n][h][w][first_i + c]
 * Input dy; output dx_i. */
#include "channels-private.h"
#include "ops.h"

typedef struct {
  guint32 first;
  gboolean accumulate;
} ConcatBackward;

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const ConcatBackward *attributes = node->attributes;
  DynoTensor *dx = node->outputs[0];
  const DynoChannelRun run = { node->inputs[0], 0, dx->c, attributes->first };
  dyno_channels_lower (lowering, node, "backward", &run, 1, dx, attributes->accumulate);
}

static const DynoAttribute backward_attributes[] = { DYNO_ATTRIBUTE (ConcatBackward, first),
                                                     DYNO_ATTRIBUTE (ConcatBackward, accumulate) };

static const DynoOpClass backward_class = { .name = "concat_backward",
                                            DYNO_OP_ATTRIBUTES (backward_attributes),
                                            .lower = lower_backward,
                                            .flops = dyno_channels_flops };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  ConcatBackward attributes = { 0 };
  for (guint i = 0; i < node->n_inputs; i++)
    {
      DynoTensor *x = node->inputs[i],
                 *dx = dyno_graph_gradient_target (graph, x, &attributes.accumulate);
      g_autofree char *name = g_strdup_printf ("%s.backward.%u", node->name, i);
      if (dx)
        dyno_graph_node (graph, &backward_class, name, &dy, 1, &dx, 1, &attributes,
                         sizeof attributes);
      attributes.first += x->c;
    }
}

static void
lower (DynoLowering *lowering, DynoNode *node)
{
  g_autofree DynoChannelRun *runs = g_new (DynoChannelRun, node->n_inputs);
  guint32 first = 0;
  for (guint i = 0; i < node->n_inputs; i++)
    {
      DynoTensor *x = node->inputs[i];
      runs[i] = (DynoChannelRun){ x, first, first + x->c, 0 };
      first += x->c;
    }
  dyno_channels_lower (lowering, node, "forward", runs, node->n_inputs, node->outputs[0], FALSE);
}

static const DynoOpClass concat_class = { .name = "concat",
                                          .traits = { .restorable = TRUE },
                                          .backward = backward,
                                          .lower = lower,
                                          .flops = dyno_channels_flops };

DynoTensor *
dyno_concat (DynoGraph *graph, DynoTensor *const *tensors, guint n, const char *name)
{
  guint64 channels = 0;
  g_return_val_if_fail (n > 0, NULL);
  for (guint i = 0; i < n; i++)
    {
      const DynoTensor *x = tensors[i], *first = tensors[0];
      if (!x)
        return NULL;
      if (x->n != first->n || x->h != first->h || x->w != first->w || x->dtype != first->dtype)
        return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                                "%s: cannot join the channels of (%u, %u, %u, %u) and (%u, %u, %u, "
                                "%u)",
                                name, first->n, first->h, first->w, first->c, x->n, x->h, x->w,
                                x->c);
      channels += x->c;
    }
  if (channels > G_MAXINT32)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %" G_GUINT64_FORMAT " channels are too many", name, channels);
  if (n == 1)
    return tensors[0];
  DynoTensor *y = dyno_graph_activation (graph, name, tensors[0]->n, tensors[0]->h, tensors[0]->w,
                                         (guint32) channels);
  if (!y)
    return NULL;
  dyno_graph_node (graph, &concat_class, name, tensors, n, &y, 1, NULL, 0);
  return y;
}
