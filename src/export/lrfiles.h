/* SPDX-License-Identifier: MIT */
/* The files of a learning-rate range test: its points as CSV, and its curve as a plot. */
#pragma once
#include "lrcurve.h"

G_BEGIN_DECLS

#define DYNO_LR_CSV "lr.csv"
#define DYNO_LR_SVG "lr.svg"

/* Writes a row per step (dyno_lr_point_list_fields), with empty cells for values that are not
 * finite.  Errors: base's IO, DISK. */
gboolean dyno_lr_write_csv (const DynoLrCurve *curve, const char *path, GError **error);

/* Plots loss and smoothed loss over the learning rate, with the suggested rate, by the module
 * dyno-curves; the extension of path determines the format: .svg, .png or .pdf.  Errors:
 * G_FILE_ERROR; base's. */
gboolean dyno_lr_draw (const DynoLrCurve *curve, const DynoLrSuggestion *suggestion,
                       const char *path, GError **error);

G_END_DECLS
