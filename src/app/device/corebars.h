/* SPDX-License-Identifier: MIT */
/* The load of each core of the processor, as upright bars side by side. */
#pragma once
#include <gtk/gtk.h>

G_BEGIN_DECLS

#define DYNO_TYPE_CORE_BARS (dyno_core_bars_get_type ())
G_DECLARE_FINAL_TYPE (DynoCoreBars, dyno_core_bars, DYNO, CORE_BARS, GtkDrawingArea)

/* busy: percent of each core, NaN where the core is offline; copied. */
void dyno_core_bars_set (DynoCoreBars *self, const float *busy, guint n);

G_END_DECLS
