/* SPDX-License-Identifier: MIT */
/* Writes the curves of a run, or a sheet of small pictures, into a file: one plain C call for each.
 *
 * Cairo links X, which dynoctl must not do; so the plot layer is also built as a module
 * (dyno-curves), which dynoctl opens at run time if it is installed.  This header needs only GLib,
 * and is the whole interface between the two. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_CURVES_SYMBOL  "dyno_curves_write"
#define DYNO_CURVES_VERSION 3

typedef struct {
  const char *name, *unit;
  const double *x, *y; /* n each; x rising; NaN y: a gap */
  guint64 n;
  guint colour;    /* 0..7 */
  gboolean points; /* marks each point; for curves of few points */
} DynoCurve;

typedef struct {
  const char *title, *x_label, *y_label;
  const DynoCurve *curves;
  guint n_curves;
  gboolean y_log, y_from_zero;
  gboolean x_log;            /* logarithmic x axis, for x > 0 */
  double x0, x1;             /* visible span; x0 >= x1: all */
  double smoothing;          /* 0..0.99 */
  double y_limit;            /* horizontal line; NaN: none */
  const char *y_limit_label; /* or NULL */
  double x_mark;             /* vertical line with x_mark_label; without a label: none */
  const char *x_mark_label;  /* or NULL */
} DynoCurvePlot;

/* Writes the plots, one below the other, to path, whose extension determines the format: .svg, .png
 * or .pdf.  version: DYNO_CURVES_VERSION of the caller; any other is refused.  Errors:
 * G_FILE_ERROR; base's IO, DISK. */
typedef gboolean (*DynoCurvesWrite) (guint version, const DynoCurvePlot *plots, guint n_plots,
                                     const char *path, GError **error);

#define DYNO_SHEET_SYMBOL  "dyno_sheet_write_module"
#define DYNO_SHEET_VERSION 1

/* A tile of a sheet. */
typedef struct {
  const guint8 *rgb;     /* (height, width, 3) */
  guint32 width, height; /* at most 8192 */
  const char *caption;   /* one line; or NULL */
} DynoSheetTile;

/* Writes the tiles with their captions below a title (may be NULL) to path, a .png.  version:
 * DYNO_SHEET_VERSION of the caller; any other is refused.  Errors: as for DynoCurvesWrite. */
typedef gboolean (*DynoSheetWrite) (guint version, const char *title, const DynoSheetTile *tiles,
                                    guint n, const char *path, GError **error);

G_END_DECLS
