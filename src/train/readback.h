/* SPDX-License-Identifier: MIT */
/* The outputs of the network for the batches in flight, and the truth of their samples where the
 * network reads it, or the classes of pixels that are watched: copied to the host by a separate
 * command after each submission.
 *
 * The outputs of all slots share the same device memory, which the next submission overwrites; the
 * copy precedes it on the same queue.  One thread, that of the pipe.  Private to the train
 * layer. */
#pragma once
#include "build.h"

G_BEGIN_DECLS

typedef struct _DynoReadback DynoReadback;

/* build: one for evaluation or prediction, which is allocated, has DYNO_JOB_SLOTS slots, and
 * outlives the readback.  Errors: those of dyno_host_buffer_allocate and of commands. */
DynoReadback *dyno_readback_new (DynoDevice *device, DynoBuild *build, GError **error);
/* The same for dyno_network_get_watched, which the graph must have; dyno_readback_get_mask reads
 * it. */
DynoReadback *dyno_readback_new_watched (DynoDevice *device, DynoBuild *build, GError **error);
/* To be called while no copy is in flight.  NULL: does nothing. */
void dyno_readback_free (DynoReadback *readback);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoReadback, dyno_readback_free)

/* Copies the results of the last submission of the slot; *timeline_value becomes the end of the
 * copy on the compute queue.  Errors: those of submitting. */
gboolean dyno_readback_submit (DynoReadback *readback, guint slot, guint64 *timeline_value,
                               GError **error);

/* After the copy has ended: the n_outputs values of a sample of the slot's batch. */
void dyno_readback_get_outputs (DynoReadback *readback, guint slot, guint32 row, float *outputs);
/* The same sample's truth as the network read it: an int32 class, or a float for each output. */
gint32 dyno_readback_get_class (DynoReadback *readback, guint slot, guint32 row);
const float *dyno_readback_get_values (DynoReadback *readback, guint slot, guint32 row);

/* For a model of pixels in evaluation: the number of the batch's pixels with each pair of target
 * and class, [target][class]. */
const guint32 *dyno_readback_get_counts (DynoReadback *readback, guint slot);
/* For a model of pixels in prediction, and for watched masks: the class of each pixel of a sample,
 * (H, W). */
const guint8 *dyno_readback_get_mask (DynoReadback *readback, guint slot, guint32 row);

G_END_DECLS
