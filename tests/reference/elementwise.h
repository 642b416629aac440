/* SPDX-License-Identifier: MIT */
/* Activations, and the product of an image and a factor for each channel, on the CPU in double.
 * Dense arrays. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* activation: numbered as in DynoActivation; 0: x itself.  parameter: of LEAKY_RELU and ELU; the
 * functions without it use PyTorch's defaults. */
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
/* Overwrites its outputs. */
void reference_scale_backward (const ReferenceScale *shape, const double *x, const double *s,
                               const double *dy, double *dx, double *ds);

G_END_DECLS
