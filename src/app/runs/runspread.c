/* SPDX-License-Identifier: MIT */
#include "runspread.h"
#include "format.h"
#include <glib/gi18n.h>
#include <math.h>

static gboolean
repeats (const DynoStoredRun *a, const DynoStoredRun *b)
{
  guint n;
  g_autofree const DynoSettingInfo **settings =
      dyno_store_compare_settings (&a->settings, &b->settings, &n);
  for (guint i = 0; i < n; i++)
    if (!g_str_equal (settings[i]->key, "data.fold") && !g_str_equal (settings[i]->key, "seed"))
      return FALSE;
  return g_strcmp0 (a->model, b->model) == 0 && g_strcmp0 (a->data, b->data) == 0
         && g_strcmp0 (a->targets, b->targets) == 0 && g_strcmp0 (a->weights_in, b->weights_in) == 0
         && g_strcmp0 (a->metric, b->metric) == 0;
}

char *
dyno_run_spread_describe (const DynoStoredRun *const *runs, guint n)
{
  double sum = 0, squares = 0;
  for (guint i = 0; i < n; i++)
    {
      if (runs[i]->state != DYNO_RUN_STATE_FINISHED || !runs[i]->metric
          || !isfinite (runs[i]->best_metric) || !repeats (runs[0], runs[i]))
        return NULL;
      sum += runs[i]->best_metric;
    }
  if (n < 2)
    return NULL;
  for (guint i = 0; i < n; i++)
    squares += (runs[i]->best_metric - sum / n) * (runs[i]->best_metric - sum / n);
  DynoStoredRun middle = *runs[0], spread = *runs[0]; /* their strings stay those of the run */
  middle.best_metric = sum / n;
  spread.best_metric = sqrt (squares / (n - 1));
  g_autofree char *mean = dyno_format_best (&middle), *deviation = dyno_format_best (&spread);
  /* Translators: a mean and a standard deviation: "87.3 % ± 1.2 %" */
  return g_strdup_printf (ngettext ("%u run, alike but for fold and seed: best %s ± %s "
                                    "(mean and standard deviation)",
                                    "%u runs, alike but for fold and seed: best %s ± %s "
                                    "(mean and standard deviation)",
                                    n),
                          n, mean, deviation);
}
