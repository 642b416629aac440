/* SPDX-License-Identifier: MIT */
/* channels: a run of channels, y[n][h][w][c] = x[n][h][w][first + c].  Input x (N, H, W, C); output
 * y (N, H, W, count).
 * channels_backward: dx[n][h][w][first + c] = dy[n][h][w][c], zero in the other channels; where dx
 * has other contributors, added to dx.  Input dy; output dx.
 *
 * One kernel copies up to eight runs.  Where all runs begin and end at boundaries of 16-byte
 * accesses, it copies whole accesses, else single values.  A target of more than eight runs takes
 * several dispatches, each of which writes whole accesses of its own. */
#include "channels-private.h"
#include "channels-push.h"
#include "elementwise.h"
#include "ops.h"
#include <stddef.h>

typedef struct {
  guint32 first;
  gboolean accumulate;
} Channels;

static gboolean
are_aligned (const DynoChannelRun *runs, guint n_runs, guint32 lanes)
{
  for (guint i = 0; i < n_runs; i++)
    if (runs[i].start % lanes != 0 || runs[i].offset % lanes != 0
        || (runs[i].end % lanes != 0 && i + 1 < n_runs))
      return FALSE;
  return TRUE;
}

/* Copies the accesses from first to before end of each pixel of the target. */
static void
lower_range (DynoLowering *lowering, DynoNode *node, const char *pass, const DynoChannelRun *runs,
             guint n_runs, DynoTensor *target, guint32 first, guint32 end, gboolean accumulate)
{
  const DynoDeviceInfo *info = dyno_lowering_get_info (lowering);
  guint32 lanes = dyno_dtype_lanes (target->dtype), pixels = target->n * target->h * target->w,
          count = pixels * (end - first);
  DynoKernelSpec spec = { .shader = "channels/channels_copy.comp",
                          .push_bytes = sizeof (DynoChannelsPush) };
  spec.local_size[0] = dyno_elementwise_local (info);
  dyno_elementwise_type (&spec, target->dtype);
  dyno_elementwise_words (&spec, info);
  dyno_kernel_spec_macro (&spec, "RUNS=%u", n_runs);
  if (are_aligned (runs, n_runs, lanes))
    dyno_kernel_spec_macro (&spec, "ALIGNED=1");
  if (accumulate)
    dyno_kernel_spec_macro (&spec, "ACCUMULATE=1");
  dyno_kernel_spec_set (&spec, DYNO_CHANNELS_COUNT, count);
  dyno_kernel_spec_set (&spec, DYNO_CHANNELS_FIRST, first);
  dyno_kernel_spec_set (&spec, DYNO_CHANNELS_RANGE, end - first);
  dyno_kernel_spec_set (&spec, DYNO_CHANNELS_CVECS, target->cp / lanes);
  dyno_kernel_spec_set (&spec, DYNO_CHANNELS_START, runs[0].start);
  dyno_kernel_spec_set (&spec, DYNO_CHANNELS_OFFSET, runs[0].offset);
  dyno_kernel_spec_set (&spec, DYNO_CHANNELS_PITCH, runs[0].source->cp);
  for (guint i = 0; i < n_runs; i++)
    dyno_kernel_spec_set (&spec, DYNO_CHANNELS_END_0 + i, runs[i].end);
  DynoDispatch *dispatch = dyno_lowering_dispatch (
      lowering, node, pass, &spec, dyno_elementwise_groups (info, count, spec.local_size[0]), 1, 1);
  dispatch->bytes = (guint64) count * 16 * (accumulate ? 2 : 1);
  for (guint i = 0; i < n_runs; i++)
    {
      guint32 from = MAX (runs[i].start, first * lanes), to = MIN (runs[i].end, end * lanes);
      dispatch->bytes += (guint64) pixels * (to - from) * dyno_dtype_size (target->dtype);
      dyno_dispatch_bind (dispatch,
                          (guint16) (offsetof (DynoChannelsPush, sources) + i * sizeof (guint64)),
                          runs[i].source, DYNO_ACCESS_READ);
    }
  DYNO_BIND (dispatch, DynoChannelsPush, target, target, dyno_access_sum (accumulate));
}

void
dyno_channels_lower (DynoLowering *lowering, DynoNode *node, const char *pass,
                     const DynoChannelRun *runs, guint n_runs, DynoTensor *target,
                     gboolean accumulate)
{
  guint32 lanes = dyno_dtype_lanes (target->dtype), end = target->cp / lanes, first = 0;
  dyno_elementwise_count (lowering, target);
  if (accumulate)
    {
      first = runs[0].start / lanes;
      end = (runs[n_runs - 1].end + lanes - 1) / lanes;
    }
  for (guint i = 0; first < end;)
    {
      while (runs[i].end <= first * lanes && i + 1 < n_runs)
        i++;
      guint n = MIN (n_runs - i, DYNO_CHANNELS_MOST_RUNS);
      guint32 to = i + n == n_runs ? end : runs[i + n - 1].end / lanes;
      lower_range (lowering, node, pass, runs + i, n, target, first, to, accumulate);
      first = to;
    }
}

guint64
dyno_channels_flops (const DynoNode *node)
{
  (void) node;
  return 0;
}

static void
lower_backward (DynoLowering *lowering, DynoNode *node)
{
  const Channels *attributes = node->attributes;
  DynoTensor *dy = node->inputs[0];
  const DynoChannelRun run = { dy, attributes->first, attributes->first + dy->c, 0 };
  dyno_channels_lower (lowering, node, "backward", &run, 1, node->outputs[0],
                       attributes->accumulate);
}

static void
lower_forward (DynoLowering *lowering, DynoNode *node)
{
  const Channels *attributes = node->attributes;
  const DynoChannelRun run = { node->inputs[0], 0, node->outputs[0]->c, attributes->first };
  dyno_channels_lower (lowering, node, "forward", &run, 1, node->outputs[0], FALSE);
}

static const DynoAttribute channels_attributes[] = { DYNO_ATTRIBUTE (Channels, first),
                                                     DYNO_ATTRIBUTE (Channels, accumulate) };

static const DynoOpClass backward_class = { .name = "channels_backward",
                                            DYNO_OP_ATTRIBUTES (channels_attributes),
                                            .lower = lower_backward,
                                            .flops = dyno_channels_flops };

static void
backward (DynoGraph *graph, DynoNode *node)
{
  Channels attributes = *(const Channels *) node->attributes;
  DynoTensor *dy = dyno_graph_gradient (graph, node->outputs[0]);
  DynoTensor *dx = dyno_graph_gradient_target (graph, node->inputs[0], &attributes.accumulate);
  if (!dx)
    return;
  dyno_graph_backward_node (graph, node, &backward_class, &dy, 1, &dx, 1, &attributes,
                            sizeof attributes);
}

static const DynoOpClass channels_class = { .name = "channels",
                                            .traits = { .restorable = TRUE },
                                            DYNO_OP_ATTRIBUTES (channels_attributes),
                                            .backward = backward,
                                            .lower = lower_forward,
                                            .flops = dyno_channels_flops };

DynoTensor *
dyno_channels (DynoGraph *graph, DynoTensor *x, const char *name, guint32 first, guint32 count)
{
  if (!x)
    return NULL;
  if (count == 0 || first >= x->c || count > x->c - first)
    return dyno_graph_fail (graph, DYNO_NN_ERROR_SHAPE,
                            "%s: %u channels from channel %u on are not within the %u of the input",
                            name, count, first, x->c);
  if (count == x->c)
    return x;
  DynoTensor *y = dyno_graph_activation (graph, name, x->n, x->h, x->w, count);
  if (!y)
    return NULL;
  const Channels attributes = { .first = first };
  dyno_graph_node (graph, &channels_class, name, &x, 1, &y, 1, &attributes, sizeof attributes);
  return y;
}
