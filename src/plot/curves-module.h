/* SPDX-License-Identifier: MIT */
/* The curves of a run as a file, behind one plain C call.
 *
 * Cairo links X, which dynoctl must not; so the plot layer is also built as a module (dyno-curves)
 * that dynoctl opens at run time, and does without where it is missing.  This header needs GLib
 * alone, and is the whole contract between the two. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_CURVES_SYMBOL  "dyno_curves_write"
#define DYNO_CURVES_VERSION 2

typedef struct {
  const char *name, *unit;
  const double *x, *y; /* n each; x rising; NaN y: a gap */
  guint64 n;
  guint colour;    /* 0..7 */
  gboolean points; /* few points, drawn each */
} DynoCurve;

typedef struct {
  const char *title, *x_label, *y_label;
  const DynoCurve *curves;
  guint n_curves;
  gboolean y_log, y_from_zero;
  double x0, x1;             /* shown; x0 >= x1: all */
  double smoothing;          /* 0..0.99 */
  double y_limit;            /* a line across; NaN: none */
  const char *y_limit_label; /* or NULL */
} DynoCurvePlot;

/* Writes the plots, below each other, to path; its ending says how: .svg, .png or .pdf.  version:
 * DYNO_CURVES_VERSION of the caller; another one is refused.  Errors: G_FILE_ERROR. */
typedef gboolean (*DynoCurvesWrite) (guint version, const DynoCurvePlot *plots, guint n_plots,
                                     const char *path, GError **error);

G_END_DECLS
