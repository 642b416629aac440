/* SPDX-License-Identifier: MIT */
/* The class of each pixel of the first samples of a validation, for display during a run: see
 * watch_masks in job.h.  Only the batches with these samples are read back, by a copy submitted
 * after them, and the host waits for the copy only where it waits for the batch.  One thread, the
 * session's.  Private to the train layer. */
#pragma once
#include "event.h"
#include "pipe.h"

G_BEGIN_DECLS

typedef struct _DynoMaskWatch DynoMaskWatch;

/* build: that of a validation whose network has classes to watch; it outlives the watch.  dataset:
 * that of its samples.  side: the most rows and columns of a mask.  Errors: those of
 * dyno_readback_new_watched. */
DynoMaskWatch *dyno_mask_watch_new (DynoDevice *device, DynoBuild *build, DynoDataset *dataset,
                                    guint32 side, GError **error);
/* To be called while no copy is in flight.  NULL: does nothing. */
void dyno_mask_watch_free (DynoMaskWatch *watch);

/* To be called when a validation begins. */
void dyno_mask_watch_begin (DynoMaskWatch *watch);
/* To be called after a batch of n_samples was submitted.  Errors: those of dyno_pipe_read_back. */
gboolean dyno_mask_watch_follow (DynoMaskWatch *watch, DynoPipe *pipe, guint32 n_samples,
                                 GError **error);
/* To be called after the oldest batch that was not taken yet was retired; loader: the loader of the
 * batch. */
void dyno_mask_watch_take (DynoMaskWatch *watch, DynoLoader *loader, guint slot, guint32 n_samples);

/* Returns the samples of this validation as an event, once; NULL: there are none.
 * dyno_event_unref. */
DynoEvent *dyno_mask_watch_report (DynoMaskWatch *watch, guint64 epoch);

G_END_DECLS
