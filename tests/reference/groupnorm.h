/* SPDX-License-Identifier: MIT */
/* Group norm on the CPU in double.  Dense arrays: x, y (n, pixels, c). */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint32 n, pixels, c, groups;
  double eps;
} ReferenceGroupNorm;

/* Both overwrite their outputs. */
void reference_group_norm_forward (const ReferenceGroupNorm *s, const double *x, double *y);
void reference_group_norm_backward (const ReferenceGroupNorm *s, const double *x, const double *dy,
                                    double *dx);

G_END_DECLS
