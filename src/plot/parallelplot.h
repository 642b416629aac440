/* SPDX-License-Identifier: MIT */
/* Parallel coordinates (Inselberg 1985, "The plane with parallel coordinates"), with Cairo only:
 * one axis for each parameter, and one curve for each trial, which crosses each axis at the trial's
 * value.  The axes are vertical where there is room for their titles, else horizontal, one below
 * the other. */
#pragma once
#include "draw.h"

G_BEGIN_DECLS

typedef struct {
  double at; /* 0..1 along the axis: from the bottom of a vertical one */
  const char *label;
} DynoParallelTick;

typedef struct {
  const char *title; /* translated */
  const DynoParallelTick *ticks;
  guint n_ticks;
  gboolean has_none; /* curves without a value pass the axis below or left of it */
} DynoParallelAxis;

typedef struct {
  const double *places; /* 0..1 on each axis; NaN: none */
  double shade;         /* 0 (worst) to 1 (best); NaN: there is no result yet */
  gboolean failed;
} DynoParallelCurve;

typedef struct {
  const DynoParallelAxis *axes; /* the last axis is the result, by which curves are shaded */
  guint n_axes;
  const DynoParallelCurve *curves;
  guint n_curves;
  int best, own, pointed; /* highlighted curves; -1: none */
  DynoColour accent;      /* of the best */
  /* The labels of the key above the axes, translated; NULL: omitted. */
  const char *best_name, *own_name, *failed_name, *worse_name, *better_name;
} DynoParallel;

/* The height that the plot needs at a width. */
double dyno_parallel_height (const DynoParallel *plot, const DynoPlotTheme *theme, double width);

/* Draws into (0, 0, width, height).  device_scale sharpens hairlines on HiDPI. */
void dyno_parallel_draw (cairo_t *cr, const DynoParallel *plot, const DynoPlotTheme *theme,
                         double width, double height, double device_scale);

/* The point at which a curve crosses an axis in a drawing of that size. */
void dyno_parallel_point (const DynoParallel *plot, const DynoPlotTheme *theme, double width,
                          double height, guint curve, guint axis, double *x, double *y);

/* The curve nearest to a point of a drawing of that size, at most a few pixels away; -1: there is
 * none. */
int dyno_parallel_curve_at (const DynoParallel *plot, const DynoPlotTheme *theme, double width,
                            double height, double x, double y);

G_END_DECLS
