/* SPDX-License-Identifier: MIT */
/* Checks a reference's gradient by central differences. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef double (*ReferenceFunction) (const double *x, gpointer data);

/* Sum of squared differences between the gradient and (f (x + step) - f (x - step)) / 2 step,
 * divided by the sum of squares of the latter. */
double reference_finite_error (ReferenceFunction f, gpointer data, const double *x, gsize n,
                               const double *gradient, double step);

G_END_DECLS
