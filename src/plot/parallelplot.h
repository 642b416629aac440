/* SPDX-License-Identifier: MIT */
/* Parallel coordinates (Inselberg 1985, "The plane with parallel coordinates"), with Cairo only: an
 * axis a parameter, and a curve a trial, which passes each axis at its value there.  Axes stand upright
 * beside each other where there is room for their titles, else they lie below each other. */
#pragma once
#include "draw.h"

G_BEGIN_DECLS

typedef struct {
  double at; /* 0..1 of the axis: of one that stands from the bottom up */
  const char *label;
} DynoParallelTick;

typedef struct {
  const char *title; /* translated */
  const DynoParallelTick *ticks;
  guint n_ticks;
  gboolean has_none; /* curves without a value pass beside the axis, below or left of it */
} DynoParallelAxis;

typedef struct {
  const double *places; /* 0..1 on each axis; NaN: none */
  double shade;         /* 0: the worst to 1: the best; NaN: it has no value so far */
  gboolean failed;
} DynoParallelCurve;

typedef struct {
  const DynoParallelAxis *axes; /* the last one is the result, by which curves are shaded */
  guint n_axes;
  const DynoParallelCurve *curves;
  guint n_curves;
  int best, own, pointed; /* curves that stand out; -1: none */
  DynoColour accent;      /* of the best */
  /* The key above the axes, translated; NULL: left out. */
  const char *best_name, *own_name, *failed_name, *worse_name, *better_name;
} DynoParallel;

/* The height that it needs at a width: more where axes lie below each other. */
double dyno_parallel_height (const DynoParallel *plot, const DynoPlotTheme *theme, double width);

/* Draws into (0, 0, width, height).  device_scale sharpens hairlines on HiDPI. */
void dyno_parallel_draw (cairo_t *cr, const DynoParallel *plot, const DynoPlotTheme *theme,
                         double width, double height, double device_scale);

/* Where a curve passes an axis in a drawing of that size. */
void dyno_parallel_point (const DynoParallel *plot, const DynoPlotTheme *theme, double width,
                          double height, guint curve, guint axis, double *x, double *y);

/* The curve that is nearest to a place of a drawing of that size, at most a few pixels away; -1: none
 * is there. */
int dyno_parallel_curve_at (const DynoParallel *plot, const DynoPlotTheme *theme, double width,
                            double height, double x, double y);

G_END_DECLS
