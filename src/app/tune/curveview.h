/* SPDX-License-Identifier: MIT */
/* Throughput and memory over the batch size, as a search has measured them, with marks for the
 * knee, the advised and the fastest batch, and the available memory. */
#pragma once
#include "tuneresult.h"
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_CURVE_VIEW (dyno_curve_view_get_type ())
G_DECLARE_FINAL_TYPE (DynoCurveView, dyno_curve_view, DYNO, CURVE_VIEW, GtkDrawingArea)

/* Takes a reference to the result.  limit_bytes: the memory limit of the search; 0: not known. */
void dyno_curve_view_set_result (DynoCurveView *self, DynoTuneResult *result, guint64 limit_bytes);

G_END_DECLS
