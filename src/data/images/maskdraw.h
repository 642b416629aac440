/* SPDX-License-Identifier: MIT */
/* Draws the areas of COCO annotations into a mask, pixel for pixel as pycocotools does (cocoapi,
 * common/maskApi.c: rleFrPoly, rleFrString).  ids: (height, width); what lies outside of an area
 * stays. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

/* A polygon of n corners, xy: x and y of each in pixels.  Its boundary is walked at five times the
 * resolution.  Errors: CORRUPT (a corner far outside, or no number; a boundary without end). */
gboolean dyno_mask_draw_polygon (const double *xy, gsize n, guint32 width, guint32 height,
                                 guint8 id, guint8 *ids, GError **error);

/* Runs of pixels in the order of columns, by turns outside and inside of the area.  Errors: CORRUPT
 * (they are not as many as the pixels). */
gboolean dyno_mask_draw_runs (const guint32 *runs, gsize n, guint32 width, guint32 height,
                              guint8 id, guint8 *ids, GError **error);

/* Appends the runs (guint32) of a compressed text of COCO.  Errors: CORRUPT. */
gboolean dyno_mask_read_runs (const char *text, GArray *runs, GError **error);

G_END_DECLS
