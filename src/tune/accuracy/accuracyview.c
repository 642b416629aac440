/* SPDX-License-Identifier: MIT */
/* An axis spans the range of the search and the trials' own values; the axis of the learning rate,
 * whose range would span decades more with several optimizers, spans only the trials' values. */
#include "accuracyview.h"
#include "intl.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TICKS 6
/* share of a logarithmic axis between 0 and the least value, if 0 is shown */
#define ZERO_SHARE 0.12

/* --- rows ------------------------------------------------------------------------------------- */

static gboolean
is_finalist (const DynoAccuracyResult *r, guint trial)
{
  for (guint i = 0; i < r->n_contenders; i++)
    if (r->contenders[i].trial == trial || trial == 0)
      return TRUE;
  return FALSE;
}

/* TRUE: the search has come to its final. */
static gboolean
has_final (const DynoAccuracyResult *r)
{
  const GPtrArray *const lists[] = { r->runs, r->running };

  for (guint k = 0; k < G_N_ELEMENTS (lists); k++)
    for (guint i = 0; i < lists[k]->len; i++)
      if (((const DynoAccuracyRun *) lists[k]->pdata[i])->final)
        return TRUE;
  return FALSE;
}

static gboolean
is_running (const DynoAccuracyResult *r, guint trial)
{
  for (guint i = 0; i < r->running->len; i++)
    if (((const DynoAccuracyRun *) r->running->pdata[i])->trial == trial)
      return TRUE;
  return FALSE;
}

static DynoAccuracyState
find_state (const DynoAccuracyResult *r, const DynoHalvingTrial *trials, guint i)
{
  const DynoAccuracyTrial *trial = &g_array_index (r->trials, DynoAccuracyTrial, i);

  if (is_running (r, i))
    return DYNO_ACCURACY_STATE_RUNNING;
  if (trial->halving.failed)
    return trial->outcome == DYNO_TRIAL_DIVERGED ? DYNO_ACCURACY_STATE_DIVERGED
                                                 : DYNO_ACCURACY_STATE_FAILED;
  if (r->text && r->best == i)
    return DYNO_ACCURACY_STATE_CHOSEN;
  if (has_final (r) && is_finalist (r, i))
    return DYNO_ACCURACY_STATE_FINALIST;
  if (trial->halving.n_done == r->n_rungs)
    return DYNO_ACCURACY_STATE_WHOLE;
  return trial->halving.n_done > 0
                 && dyno_halving_is_best_third (trials, r->trials->len, trial->halving.n_done - 1,
                                                i)
             ? DYNO_ACCURACY_STATE_PROMISING
             : DYNO_ACCURACY_STATE_HALVED;
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The number of sorted values below a value. */
static guint
count_less (const double *sorted, guint n, double value)
{
  guint low = 0, high = n;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (sorted[middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
fill_goodness (const DynoAccuracyResult *r, GArray *rows)
{
  double sign = r->metric.higher_is_better ? 1 : -1;
  g_autofree double *sorted = g_new (double, MAX (rows->len, 1));
  guint n = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      double value = g_array_index (rows, DynoAccuracyRow, i).value;

      if (isfinite (value))
        sorted[n++] = sign * value;
    }
  qsort (sorted, n, sizeof *sorted, compare_numbers);
  for (guint i = 0; i < rows->len; i++)
    {
      DynoAccuracyRow *row = &g_array_index (rows, DynoAccuracyRow, i);
      double value = sign * row->value;
      guint n_worse = count_less (sorted, n, value), /* 0 for NaN */
          n_equal = count_less (sorted, n, nextafter (value, INFINITY)) - n_worse;

      row->goodness = !isfinite (value) ? (double) NAN
                      : n < 2           ? 1
                                        : (n_worse + (n_equal - 1) / 2.0) / (n - 1);
    }
}

GArray *
dyno_accuracy_list_rows (const DynoAccuracyResult *result)
{
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyRow));
  guint n = result->trials->len;
  g_autofree DynoHalvingTrial *trials = g_new (DynoHalvingTrial, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    trials[i] = g_array_index (result->trials, DynoAccuracyTrial, i).halving;
  for (guint i = 0; i < n; i++)
    {
      const DynoAccuracyTrial *trial = &g_array_index (result->trials, DynoAccuracyTrial, i);
      guint done = trials[i].n_done;
      DynoAccuracyRow row = { .trial = i,
                              .epochs = done > 0 ? result->rungs[done - 1] : 0,
                              .value = done > 0 ? trial->values[done - 1] : (double) NAN,
                              .state = find_state (result, trials, i),
                              .settings = &trial->settings };

      g_array_append_val (rows, row);
    }
  for (guint i = 0; i < result->running->len; i++)
    {
      const DynoAccuracyRun *run = result->running->pdata[i];
      DynoAccuracyRow row = { .trial = run->trial,
                              .value = (double) NAN,
                              .state = DYNO_ACCURACY_STATE_RUNNING,
                              .settings = &run->settings };

      if (run->trial >= n)
        g_array_append_val (rows, row);
    }
  fill_goodness (result, rows);
  return rows;
}

static double
get_goodness (const GArray *rows, guint row)
{
  double goodness = g_array_index (rows, DynoAccuracyRow, row).goodness;

  return isnan (goodness) ? -1 : goodness;
}

guint
dyno_accuracy_get_rank (const GArray *rows, guint row)
{
  double own = get_goodness (rows, row);
  guint rank = 0;

  for (guint i = 0; i < rows->len; i++)
    {
      double other = get_goodness (rows, i);

      rank += other > own || (other == own && i < row);
    }
  return rank;
}

int
dyno_accuracy_find_rank (const GArray *rows, guint rank)
{
  for (guint i = 0; i < rows->len; i++)
    if (dyno_accuracy_get_rank (rows, i) == rank)
      return (int) i;
  return -1;
}

/* --- axes ------------------------------------------------------------------------------------- */

/* The values of the parameters in the settings, for a choice its index; NaN: no effect. */
static void
get_values (const DynoParamSpace *space, const DynoSettings *settings, double *values)
{
  dyno_param_space_get_point (space, settings, values);
  for (guint i = 0; i < space->n; i++)
    if (!isnan (values[i]) && space->params[i].kind != DYNO_PARAM_CHOICE
        && dyno_setting_find (space->params[i].key))
      values[i] = dyno_settings_get_number (settings, space->params[i].key);
}

/* The quantity that the axis scales: 1 - value for FROM_ONE. */
static double
bend (const DynoParam *param, double value)
{
  return param && param->kind == DYNO_PARAM_FROM_ONE ? 1 - value : value;
}

static void
add_tick (DynoAccuracyAxis *axis, double at, const char *label)
{
  DynoAccuracyTick *tick = &axis->ticks[axis->n_ticks];

  if (axis->n_ticks == DYNO_ACCURACY_MOST_TICKS || !(at >= -1e-9 && at <= 1 + 1e-9))
    return;
  tick->at = CLAMP (at, 0, 1);
  g_strlcpy (tick->label, label, sizeof tick->label);
  axis->n_ticks++;
}

static double
place (const DynoAccuracyAxis *axis, double value)
{
  const DynoParam *param = axis->param;
  double at;

  if (isnan (value))
    return value;
  if (param && param->kind == DYNO_PARAM_CHOICE)
    return param->n_choices > 1 ? value / (param->n_choices - 1) : 0.5;
  value = bend (param, value);
  if (axis->axis.log && value <= 0)
    return axis->turned ? 1 : 0;
  at = CLAMP (dyno_axis_position (&axis->axis, value), 0, 1);
  if (axis->has_zero)
    at = ZERO_SHARE + (1 - ZERO_SHARE) * at;
  return axis->turned ? 1 - at : at;
}

static void
fill_ticks (DynoAccuracyAxis *axis)
{
  const DynoParam *param = axis->param;

  if (param && param->kind == DYNO_PARAM_CHOICE)
    {
      for (guint c = 0; c < param->n_choices; c++)
        add_tick (axis, place (axis, c), param->choices[c]);
      return;
    }
  if (axis->has_zero)
    add_tick (axis, 0, "0");
  for (guint i = 0; i < axis->axis.n_ticks; i++)
    {
      double value = bend (param, axis->axis.ticks[i]);
      g_autofree char *label =
          axis->axis.log ? g_strdup_printf ("%.3g", value) : dyno_axis_format (&axis->axis, value);

      add_tick (axis, place (axis, value), label);
    }
}

/* Spans the axis over the values, one of each row, NaN where the row has none. */
static void
fill_axis (DynoAccuracyAxis *axis, double low, double high, const double *values, guint step,
           guint n)
{
  const DynoParam *param = axis->param;
  gboolean log = param && (param->kind == DYNO_PARAM_LOG || param->kind == DYNO_PARAM_FROM_ONE);
  double least = MIN (bend (param, low), bend (param, high)),
         most = MAX (bend (param, low), bend (param, high));

  for (guint i = 0; i < n; i++)
    {
      double value = bend (param, values[(gsize) i * step]);

      axis->has_none = axis->has_none || isnan (value);
      if (isnan (value))
        continue;
      axis->has_zero = axis->has_zero || (log && value <= 0);
      if (log && value <= 0)
        continue;
      least = fmin (least, value); /* low and high may be NaN: nothing is known so far */
      most = fmax (most, value);
    }
  dyno_axis_init (&axis->axis, least, most, TICKS, log, !param, 0);
  fill_ticks (axis);
}

/* Writes the values of a row on all axes, the metric's value last. */
static void
get_row_values (const DynoParamSpace *space, const DynoMetricInfo *metric,
                const DynoAccuracyRow *row, double *values)
{
  double point[DYNO_PARAMS_MOST];

  get_values (space, row->settings, point);
  for (guint i = 0; i < space->n; i++)
    values[i] = point[i];
  values[space->n] = metric->format == DYNO_METRIC_FRACTION ? 100 * row->value : row->value;
}

void
dyno_accuracy_fill_axes (DynoAccuracyAxis *axes, const DynoParamSpace *space,
                         const DynoMetricInfo *metric, const GArray *rows)
{
  guint n_axes = space->n + 1;
  g_autofree double *values = g_new (double, (gsize) MAX (rows->len, 1) * n_axes);

  for (guint k = 0; k < rows->len; k++)
    get_row_values (space, metric, &g_array_index (rows, DynoAccuracyRow, k),
                    values + (gsize) k * n_axes);
  for (guint i = 0; i < n_axes; i++)
    {
      const DynoParam *param = i < space->n ? &space->params[i] : NULL;
      double low = (double) NAN, high = (double) NAN, unit = 1;

      axes[i] = (DynoAccuracyAxis){ .param = param };
      if (param && strcmp (param->key, "warmup_epochs") == 0)
        unit = (double) space->own.epochs;
      if (param && strcmp (param->key, "lr") != 0)
        {
          low = param->low * unit;
          high = param->high * unit;
        }
      axes[i].turned = param ? param->kind == DYNO_PARAM_FROM_ONE : !metric->higher_is_better;
      fill_axis (&axes[i], low, high, values + i, n_axes, rows->len);
    }
}

void
dyno_accuracy_place_row (const DynoAccuracyAxis *axes, const DynoParamSpace *space,
                         const DynoMetricInfo *metric, const DynoAccuracyRow *row, double *places)
{
  get_row_values (space, metric, row, places);
  for (guint i = 0; i <= space->n; i++)
    places[i] = place (&axes[i], places[i]);
}

/* --- words ------------------------------------------------------------------------------------ */

const char *
dyno_accuracy_get_title (const DynoParam *param)
{
  const DynoSettingInfo *info = dyno_setting_find (param->key);

  if (info)
    return _ (info->title);
  return strcmp (param->key, "augment") == 0 ? _ ("Augmentation") : _ ("Mixed samples");
}

char *
dyno_accuracy_describe_param (const DynoParamSpace *space, guint param,
                              const DynoSettings *settings)
{
  const DynoParam *p = &space->params[param];
  double values[DYNO_PARAMS_MOST], value;

  get_values (space, settings, values);
  value = values[param];
  if (isnan (value))
    return g_strdup ("");
  if (p->kind == DYNO_PARAM_CHOICE)
    return g_strdup (value >= 0 && value < p->n_choices ? p->choices[(guint) value] : "");
  return g_strdup_printf ("%.3g", value);
}
