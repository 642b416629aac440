/* SPDX-License-Identifier: MIT */
/* Draws the areas of COCO annotations into a mask, pixel for pixel as pycocotools does (cocoapi,
 * common/maskApi.c: rleFrPoly, rleFrString).  ids: (height, width); pixels outside the area are not
 * changed. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

/* Draws a polygon of n corners; xy: x and y of each in pixels.  Its boundary is walked at five
 * times the resolution.  Errors: CORRUPT (a corner far outside or not finite; a boundary that is
 * too long). */
gboolean dyno_mask_draw_polygon (const double *xy, gsize n, guint32 width, guint32 height,
                                 guint8 id, guint8 *ids, GError **error);

/* Draws runs of pixels in the order of columns, which are alternately outside and inside the area.
 * Errors: CORRUPT (their sum is not the number of pixels). */
gboolean dyno_mask_draw_runs (const guint32 *runs, gsize n, guint32 width, guint32 height,
                              guint8 id, guint8 *ids, GError **error);

/* Appends the runs (guint32) that a compressed text of COCO encodes.  Errors: CORRUPT. */
gboolean dyno_mask_read_runs (const char *text, GArray *runs, GError **error);

G_END_DECLS
