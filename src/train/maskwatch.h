/* SPDX-License-Identifier: MIT */
/* The class of each pixel of the first samples of a validation, for people who watch a run: see
 * watch_masks in job.h.  Only the batches with these samples are read back, by a copy behind
 * their submission, and nothing waits for it that does not wait for the batch.  One thread, the
 * session's.  Private to the train layer. */
#pragma once
#include "event.h"
#include "pipe.h"

G_BEGIN_DECLS

typedef struct _DynoMaskWatch DynoMaskWatch;

/* Of the build of a validation, whose network has classes to watch; dataset: of its samples; side: the
 * most rows and columns of a mask.  The build outlives it.  Errors: those of dyno_readback_new_watched. */
DynoMaskWatch *dyno_mask_watch_new (DynoDevice *device, DynoBuild *build, DynoDataset *dataset,
                                    guint32 side, GError **error);
void dyno_mask_watch_free (DynoMaskWatch *watch); /* nothing is in flight; NULL: nothing */

/* A validation begins. */
void dyno_mask_watch_begin (DynoMaskWatch *watch);
/* A batch of n_samples was submitted.  Errors: those of dyno_pipe_read_back. */
gboolean dyno_mask_watch_follow (DynoMaskWatch *watch, DynoPipe *pipe, guint32 n_samples,
                                 GError **error);
/* The oldest that was not taken yet has just been retired; loader: where it is from. */
void dyno_mask_watch_take (DynoMaskWatch *watch, DynoLoader *loader, guint slot, guint32 n_samples);

/* The samples since the beginning as an event, once; NULL: there are none.  dyno_event_unref. */
DynoEvent *dyno_mask_watch_report (DynoMaskWatch *watch, guint64 epoch);

G_END_DECLS
