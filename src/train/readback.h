/* SPDX-License-Identifier: MIT */
/* The outputs of the network for the batches in flight, and the truth of their samples where the
 * network reads it, or the classes of pixels that are watched: copied to the host by a command of
 * their own behind a submission.
 *
 * The outputs of all slots lie in the same memory of the device, which the next submission writes;
 * the copy is before it on the same queue.  One thread, that of the pipe.  Private to the train
 * layer. */
#pragma once
#include "build.h"

G_BEGIN_DECLS

typedef struct _DynoReadback DynoReadback;

/* Of a build for evaluation or prediction that is allocated, with DYNO_JOB_SLOTS slots, and outlives
 * it.  Errors: those of dyno_host_buffer_allocate and of commands. */
DynoReadback *dyno_readback_new (DynoDevice *device, DynoBuild *build, GError **error);
/* The same of dyno_network_get_watched, which the graph has; dyno_readback_get_mask reads it. */
DynoReadback *dyno_readback_new_watched (DynoDevice *device, DynoBuild *build, GError **error);
void dyno_readback_free (DynoReadback *readback); /* nothing is in flight; NULL: nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoReadback, dyno_readback_free)

/* Copies what the last submission of the slot leaves; *timeline_value becomes the end of that on
 * the compute queue.  Errors: those of submitting. */
gboolean dyno_readback_submit (DynoReadback *readback, guint slot, guint64 *timeline_value,
                               GError **error);

/* When the copy is over: the n_outputs values of a sample of the slot's batch. */
void dyno_readback_get_outputs (DynoReadback *readback, guint slot, guint32 row, float *outputs);
/* The same sample's truth as the network read it: an int32 class, or a float for each output. */
gint32 dyno_readback_get_class (DynoReadback *readback, guint slot, guint32 row);
const float *dyno_readback_get_values (DynoReadback *readback, guint slot, guint32 row);

/* Of a model of pixels: in evaluation the pixels of the batch with each pair of target and class,
 * [target][class]; in prediction the class of each pixel of a sample, (H, W), as of those that are
 * watched. */
const guint32 *dyno_readback_get_counts (DynoReadback *readback, guint slot);
const guint8 *dyno_readback_get_mask (DynoReadback *readback, guint slot, guint32 row);

G_END_DECLS
