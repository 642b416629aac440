/* SPDX-License-Identifier: MIT */
/* ONNX's Resize on the CPU in double, by the formulas of its specification.  Dense arrays:
 * x (N, H, W, C), y (N, OH, OW, C). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, h, w, c, oh, ow;
  const char *mode;        /* "linear", or the nearest_mode */
  const char *coordinates; /* coordinate_transformation_mode */
  double scale_h, scale_w; /* 0: oh / h, ow / w */
} ReferenceResize;

/* Both overwrite their outputs. */
void reference_resize_forward (const ReferenceResize *s, const double *x, double *y);
void reference_resize_backward (const ReferenceResize *s, const double *dy, double *dx);

G_END_DECLS
