/* SPDX-License-Identifier: MIT */
/* The median of measured times. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Sorts the values and returns the middle one; for an even n the upper of the two.  n > 0. */
double dyno_median (double *values, gsize n);

G_END_DECLS
