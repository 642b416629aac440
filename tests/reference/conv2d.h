/* SPDX-License-Identifier: MIT */
/* Convolution on the CPU in double, naive: the reference for kernels.
 *
 * Dense arrays: x (N, H, W, C), y and dy (N, OH, OW, K), weight in torchvision's order (K, C, KH,
 * KW), with groups (K, C / groups, KH, KW), bias (K). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, h, w, c, k;
  guint32 kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  guint32 groups, dilation_h, dilation_w; /* 0 means 1 */
} ReferenceConv2d;

guint32 reference_conv2d_oh (const ReferenceConv2d *s);
guint32 reference_conv2d_ow (const ReferenceConv2d *s);

/* y = conv (x, weight) + bias; bias may be NULL. */
void reference_conv2d_forward (const ReferenceConv2d *s, const double *x, const double *weight,
                               const double *bias, double *y);

/* Each output is overwritten; NULL: not needed. */
void reference_conv2d_backward (const ReferenceConv2d *s, const double *x, const double *weight,
                                const double *dy, double *dx, double *dweight, double *dbias);

G_END_DECLS
