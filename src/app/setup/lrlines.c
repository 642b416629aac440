/* SPDX-License-Identifier: MIT */
#include "lrlines.h"
#include <glib/gi18n.h>

void
dyno_lr_lines_init (DynoLrLines *lines)
{
  lines->loss = dyno_series_new (_ ("Loss"), "");
  lines->smoothed = dyno_series_new (_ ("smoothed"), "");
}

void
dyno_lr_lines_clear (DynoLrLines *lines)
{
  g_clear_pointer (&lines->loss, dyno_series_free);
  g_clear_pointer (&lines->smoothed, dyno_series_free);
}

void
dyno_lr_lines_take (DynoLrLines *lines, const GArray *points)
{
  for (guint i = (guint) dyno_series_get_length (lines->loss); i < points->len; i++)
    {
      const DynoLrPoint *point = &g_array_index (points, DynoLrPoint, i);

      dyno_series_append (lines->loss, point->lr, point->loss);
      dyno_series_append (lines->smoothed, point->lr, point->smoothed);
    }
}
