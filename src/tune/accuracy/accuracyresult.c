/* SPDX-License-Identifier: MIT */
/* The result of a search as a value: copies, the order of its trials, its numbers in words. */
#include "accuracy.h"
#include "intl.h"
#include <math.h>
#include <stdlib.h>

#define LEAST_IMPORTANCE 0.05

typedef struct {
  guint index, n_done;
  double loss;
} Ranked;

static int
compare_ranked (gconstpointer a, gconstpointer b)
{
  const Ranked *x = a, *y = b;

  if (x->n_done != y->n_done)
    return x->n_done > y->n_done ? -1 : 1;
  if (x->loss != y->loss)
    return x->loss < y->loss ? -1 : 1;
  return x->index < y->index ? -1 : 1;
}

guint
dyno_accuracy_result_rank (const DynoAccuracyResult *result, guint *trials, guint n_most)
{
  g_autofree Ranked *ranked = g_new (Ranked, MAX (result->trials->len, 1));
  guint n = 0;

  for (guint i = 0; i < result->trials->len; i++)
    {
      const DynoHalvingTrial *t = &g_array_index (result->trials, DynoAccuracyTrial, i).halving;

      if (!t->failed && t->n_done > 0)
        ranked[n++] = (Ranked){ i, t->n_done, t->losses[t->n_done - 1] };
    }
  qsort (ranked, n, sizeof *ranked, compare_ranked);
  for (guint i = 0; i < MIN (n, n_most); i++)
    trials[i] = ranked[i].index;
  return MIN (n, n_most);
}

char *
dyno_accuracy_format (const DynoMetricInfo *metric, double value)
{
  return metric->format == DYNO_METRIC_FRACTION ? g_strdup_printf ("%.2f %%", 100 * value)
                                                : g_strdup_printf ("%.4g", value);
}

char *
dyno_accuracy_format_difference (const DynoMetricInfo *metric, double difference)
{
  return metric->format == DYNO_METRIC_FRACTION
             ? g_strdup_printf (_ ("%.2f points"), 100 * difference)
             : g_strdup_printf ("%.3g", difference);
}

double
dyno_accuracy_result_find_best (const DynoAccuracyResult *result)
{
  double best = (double) NAN;

  for (guint i = 0; i < result->runs->len; i++)
    {
      const DynoAccuracyRun *run = result->runs->pdata[i];

      if (!run->final && dyno_metric_is_better (&result->metric, run->value, best))
        best = run->value;
    }
  return best;
}

guint
dyno_accuracy_result_find_rung (const DynoAccuracyResult *result, const DynoAccuracyRun *run)
{
  guint rung = 0;

  while (rung + 1 < result->n_rungs && result->rungs[rung] < run->epochs)
    rung++;
  return rung;
}

guint
dyno_accuracy_result_list_important (const DynoAccuracyResult *result, guint *params)
{
  guint n = 0;

  for (guint i = 0; i < DYNO_PARAMS_MOST; i++)
    {
      guint at = n;

      if (!(result->importance[i] >= LEAST_IMPORTANCE))
        continue;
      while (at > 0 && result->importance[params[at - 1]] < result->importance[i])
        {
          params[at] = params[at - 1];
          at--;
        }
      params[at] = i;
      n++;
    }
  return n;
}

/* --- memory ----------------------------------------------------------------------------------- */

DynoAccuracyRun *
dyno_accuracy_run_copy (const DynoAccuracyRun *run)
{
  DynoAccuracyRun *copy = g_memdup2 (run, sizeof *run);

  copy->text = g_strdup (run->text);
  return copy;
}

void
dyno_accuracy_run_free (DynoAccuracyRun *run)
{
  if (!run)
    return;
  g_free (run->text);
  g_free (run);
}

static gpointer
copy_run (gconstpointer run, gpointer data)
{
  return dyno_accuracy_run_copy (run);
}

DynoAccuracyResult *
dyno_accuracy_result_copy (const DynoAccuracyResult *result)
{
  DynoAccuracyResult *copy = g_memdup2 (result, sizeof *result);

  copy->trials = g_array_copy (result->trials);
  copy->runs = g_ptr_array_copy (result->runs, copy_run, NULL);
  copy->running = g_ptr_array_copy (result->running, copy_run, NULL);
  copy->text = g_strdup (result->text);
  return copy;
}

void
dyno_accuracy_result_free (DynoAccuracyResult *result)
{
  if (!result)
    return;
  g_clear_pointer (&result->trials, g_array_unref);
  g_clear_pointer (&result->runs, g_ptr_array_unref);
  g_clear_pointer (&result->running, g_ptr_array_unref);
  g_free (result->text);
  g_free (result);
}
