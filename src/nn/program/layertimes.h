/* SPDX-License-Identifier: MIT */
/* The time and the memory of a step, layer by layer, from the times of its dispatches. */
#pragma once
#include "program.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/* "forward", "backward", "optimizer". */
const char *dyno_stage_name (DynoStage stage);

/* The median time of each dispatch over some steps; times_us has room for all dispatches of the
 * program.  Errors: G_IO_ERROR_CANCELLED; those of dyno_program_profile. */
gboolean dyno_program_time_dispatches (DynoProgram *program, guint repeats, double *times_us,
                                       GCancellable *cancellable, GError **error);

typedef struct {
  char *name;       /* the layer's in the graph, "layer1.0.conv1"; also "loss" and "optimizer" */
  const char *kind; /* of its op, "conv2d" */
  /* time in each stage; a forward kernel that is run again for the backward pass counts in
   * BACKWARD */
  double us[DYNO_STAGE_OPTIMIZER + 1];
  guint64 flops, bytes; /* of all its kernels; only useful FLOPs */
  /* largest memory of activations and workspaces in use while its kernels run */
  guint64 live_bytes;
  guint dispatches;
} DynoLayerTimes;

/* The DynoLayerTimes of each layer, in the order in which the layers begin.  times_us: of each
 * dispatch, as from dyno_program_profile.  Kernels of a layer's gradients and statistics belong to
 * the layer; layers that a fusion has joined are one layer.  layer_of: room for the layer's index
 * of each dispatch, or NULL.  The caller owns the array with its strings. */
GArray *dyno_layer_times_list (DynoLowering *lowering, const double *times_us, guint *layer_of);

/* For each of the dispatches (DynoDispatch*), the bytes of activations and workspaces that hold a
 * value while it runs, pads included; g_free. */
guint64 *dyno_dispatches_live_bytes (GPtrArray *dispatches);

G_END_DECLS
