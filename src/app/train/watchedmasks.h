/* SPDX-License-Identifier: MIT */
/* Draws the true and the predicted masks of a run's MASKS events as pictures, in a thread.  The
 * samples are decoded once, and kept as small as their masks are, at most DYNO_WATCHED_SIDE a
 * side. */
#pragma once
#include "event.h"
#include <gdk-pixbuf/gdk-pixbuf.h>

G_BEGIN_DECLS

typedef struct {
  char *name;           /* of the sample */
  GdkPixbuf *truth;     /* NULL: the sample cannot be decoded, or has no mask */
  GdkPixbuf *predicted; /* on black where the sample cannot be decoded */
  double iou;           /* mean over the classes in either mask; NaN: all pixels are ignored */
  gboolean there[256];  /* whether the class is in either mask */
} DynoWatchedMask;

typedef struct {
  guint64 epoch;
  guint n;
  DynoWatchedMask masks[DYNO_MOST_WATCHED];
} DynoWatchedMasks;

void dyno_watched_masks_free (DynoWatchedMasks *masks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoWatchedMasks, dyno_watched_masks_free)

/* Draws the events of one run, one at a time.  Reference counted; main thread. */
typedef struct _DynoMaskDrawer DynoMaskDrawer;
DynoMaskDrawer *dyno_mask_drawer_new (void);
void dyno_mask_drawer_unref (DynoMaskDrawer *drawer);

/* event: a MASKS event; a reference is taken.  Not to be called before the previous drawing is
 * finished. */
void dyno_mask_drawer_draw_async (DynoMaskDrawer *drawer, DynoEvent *event,
                                  GCancellable *cancellable, GAsyncReadyCallback done,
                                  gpointer data);
/* Returns NULL if the drawing was cancelled. */
DynoWatchedMasks *dyno_mask_drawer_finish (GAsyncResult *result);

G_END_DECLS
