/* SPDX-License-Identifier: MIT */
/* Integer geometry of the data sets that are drawn: the same on every machine. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_DRAWING_TURN 61440 /* units of a full turn, a number that 3, 4, 5 and 6 divide */
#define DYNO_DRAWING_ONE  4096  /* 1 in Q12 */

/* A regular polygon with its centre at 0: the half planes n . p <= distance. */
typedef struct {
  int n_planes;     /* at most 5 */
  int distance;     /* Q12 */
  int normal[5][2]; /* Q12 */
} DynoPolygon;

/* Sine of angle in Q16, from Bhaskara's rational formula: within 0.0017, exact at multiples of a
 * quarter turn. */
gint64 dyno_drawing_sine (gint64 angle);

void dyno_polygon_make (DynoPolygon *polygon, int n_planes, int distance);
/* The number of half planes that hold (u, v), Q12. */
int dyno_polygon_count_kept (const DynoPolygon *polygon, int u, int v);

G_END_DECLS
