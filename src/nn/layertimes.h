/* SPDX-License-Identifier: MIT */
/* Where time and memory of a step go, layer by layer, from the times of its dispatches. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

typedef struct {
  char *name;       /* the graph's, "layer1.0.conv1"; also "loss" and "optimizer" */
  const char *kind; /* of its op, "conv2d" */
  double us[DYNO_STAGE_OPTIMIZER + 1]; /* of each stage; a forward kernel that is computed again for
                                        * the backward pass counts there */
  guint64 flops, bytes;                /* useful, of all its kernels */
  guint64 live_bytes; /* activations and workspaces in use while its kernels run, at most */
  guint dispatches;
} DynoLayerTimes;

/* In the order in which layers begin.  times_us: of each dispatch, as dyno_program_profile gives
 * them.  Kernels of a layer's gradients and statistics are the layer's; what fusion made one is one.
 * layer_of: room for the layer's index of each dispatch, or NULL.  Owned by the caller, strings too. */
GArray *dyno_layer_times_list (DynoLowering *lowering, const double *times_us, guint *layer_of);

/* Bytes of activations and workspaces that hold a value while each of the dispatches (DynoDispatch*)
 * runs, pads included; g_free. */
guint64 *dyno_dispatches_live_bytes (GPtrArray *dispatches);

G_END_DECLS
