/* SPDX-License-Identifier: MIT */
/* Scaling of 8-bit images on the CPU. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

/* Scales source (source_height, source_width, channels) to cover width x height, cuts the middle,
 * and writes (height, width, channels).  Triangle filter, widened when scaling down (no aliasing).
 * channels 1..4.  scratch: dyno_resize_scratch_bytes of working memory, any alignment. */
void dyno_resize_cover (const guint8 *source, guint32 source_width, guint32 source_height,
                        guint32 channels, guint32 width, guint32 height, guint8 *out,
                        gpointer scratch);
guint64 dyno_resize_scratch_bytes (guint32 source_width, guint32 source_height, guint32 channels,
                                   guint32 width, guint32 height);

/* A piece of an image, in pixels and fractions of pixels. */
typedef struct {
  double x, y, width, height;
} DynoResizeWindow;

/* Scales the window of source to width x height, each side independently.  Pixels outside the
 * window do not count, as if the window had been cut out before.  The window lies within the
 * source. */
void dyno_resize_window (const guint8 *source, guint32 source_width, guint32 channels,
                         const DynoResizeWindow *window, guint32 width, guint32 height, guint8 *out,
                         gpointer scratch);
guint64 dyno_resize_window_scratch_bytes (guint32 source_width, guint32 channels,
                                          const DynoResizeWindow *window, guint32 width,
                                          guint32 height);

/* Microseconds that this thread has spent in scaling since the last call. */
guint64 dyno_resize_take_us (void);

G_END_DECLS
