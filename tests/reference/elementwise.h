/* SPDX-License-Identifier: MIT */
/* Activations, and the product of an image and a factor a channel, on the CPU in double.  Dense
 * arrays. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* As DynoActivation numbers them; 0: x itself.  parameter: of LEAKY_RELU and ELU; without it
 * PyTorch's default values. */
double reference_activate_with (guint activation, double parameter, double x);
double reference_activation_slope_with (guint activation, double parameter, double x);
double reference_activate (guint activation, double x);
double reference_activation_slope (guint activation, double x);

/* y[n][i][c] = x[n][i][c] * s[n][c] */
typedef struct {
  guint32 n, pixels, c;
} ReferenceScale;

void reference_scale_forward (const ReferenceScale *shape, const double *x, const double *s,
                              double *y);
/* Overwrites. */
void reference_scale_backward (const ReferenceScale *shape, const double *x, const double *s,
                               const double *dy, double *dx, double *ds);

G_END_DECLS
