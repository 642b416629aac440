/* SPDX-License-Identifier: MIT */
/* See lrfiles.h. */
#include "lrfiles.h"
#include "csvcell.h"
#include "file.h"
#include "plotmodule.h"
#include <math.h>

static void
add_field (GString *line, const DynoRecordField *field, const DynoLrPoint *point)
{
  g_autofree char *text = NULL;

  if (field->type == DYNO_RECORD_NUMBER)
    {
      dyno_csv_add_number (line, *DYNO_RECORD_MEMBER (point, field, const double));
      return;
    }
  text = g_strdup_printf ("%u", *DYNO_RECORD_MEMBER (point, field, const guint));
  dyno_csv_add_cell (line, text);
}

gboolean
dyno_lr_write_csv (const DynoLrCurve *curve, const char *path, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n;
  const DynoRecordField *fields = dyno_lr_point_list_fields (&n);

  for (guint i = 0; i < n; i++)
    dyno_csv_add_cell (text, fields[i].name);
  g_string_append_c (text, '\n');
  for (guint p = 0; p < curve->points->len; p++)
    {
      g_autoptr (GString) line = g_string_new (NULL);

      for (guint i = 0; i < n; i++)
        add_field (line, &fields[i], &g_array_index (curve->points, DynoLrPoint, p));
      g_string_append_printf (text, "%s\n", line->str);
    }
  return dyno_file_write_atomic (path, text->str, text->len, error);
}

gboolean
dyno_lr_draw (const DynoLrCurve *curve, const DynoLrSuggestion *s, const char *path, GError **error)
{
  DynoCurvesWrite write_curves =
      (DynoCurvesWrite) dyno_plot_module_find (DYNO_CURVES_SYMBOL, error);
  guint n = curve->points->len;
  g_autofree double *lr = g_new (double, n + 1), *loss = g_new (double, n + 1),
                    *smoothed = g_new (double, n + 1);
  g_autofree char *mark = isfinite (s->lr) ? g_strdup_printf ("lr %.2g", s->lr) : NULL;
  const DynoCurve curves[] = {
    { .name = "loss", .unit = "", .x = lr, .y = loss, .n = n, .colour = 7 },
    { .name = "smoothed", .unit = "", .x = lr, .y = smoothed, .n = n, .colour = 0 },
  };
  const DynoCurvePlot plot = { .title = "Loss",
                               .x_label = "learning rate",
                               .y_label = "",
                               .curves = curves,
                               .n_curves = G_N_ELEMENTS (curves),
                               /* a linear axis would show only the divergence */
                               .y_log = TRUE,
                               .x_log = TRUE,
                               .y_limit = (double) NAN,
                               .x_mark = s->lr,
                               .x_mark_label = mark };

  if (!write_curves)
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const DynoLrPoint *point = &g_array_index (curve->points, DynoLrPoint, i);

      lr[i] = point->lr;
      loss[i] = point->loss;
      smoothed[i] = point->smoothed;
    }
  return write_curves (DYNO_CURVES_VERSION, &plot, 1, path, error);
}
