/* SPDX-License-Identifier: MIT */
/* Pooling on the CPU in double.  Dense arrays: x (N, H, W, C), y (N, OH, OW, C). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, h, w, c;
  guint32 kernel, stride, pad;
  guint32 kernel_w, stride_w, pad_w; /* of the width; kernel_w 0: the values of the height */
  /* Output size if windows reach further past the end; 0: the size with equal pads. */
  guint32 oh, ow;
} ReferencePool;

guint32 reference_pool_oh (const ReferencePool *s);
guint32 reference_pool_ow (const ReferencePool *s);

void reference_max_pool_forward (const ReferencePool *s, const double *x, double *y);
/* The first of equal values in scan order takes the gradient.  Overwrites its output. */
void reference_max_pool_backward (const ReferencePool *s, const double *x, const double *dy,
                                  double *dx);

/* over H and W; kernel unused */
void reference_avg_pool_forward (const ReferencePool *s, const double *x, double *y);
void reference_avg_pool_backward (const ReferencePool *s, const double *dy, double *dx);

/* Averages over windows, PyTorch's AvgPool2d and AdaptiveAvgPool2d. */
typedef struct {
  guint32 n, h, w, c;
  guint32 oh, ow;
  gboolean adaptive; /* the other members are unused */
  guint32 kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  gboolean exclude_pad;
  gint32 more_h, more_w; /* pads at the end minus those at the beginning */
} ReferenceAvgWindow;

/* Both overwrite their outputs. */
void reference_avg_window_forward (const ReferenceAvgWindow *s, const double *x, double *y);
void reference_avg_window_backward (const ReferenceAvgWindow *s, const double *dy, double *dx);

G_END_DECLS
