/* SPDX-License-Identifier: MIT */
/* Smoothing and suggestion of a learning-rate range test. */
#include "lrcurve.h"
#include "intl.h"
#include "median.h"
#include <math.h>
#include <stdlib.h>

#define WINDOW_SHARE 10  /* steps of the whole test over those of the smoothing's window */
#define NOISES       4.0 /* number of standard deviations beyond which a fall is not by chance */
/* number of differences from which the deviation is estimated twice as large, as a margin */
#define FEW 8.0
/* share of the loss: a smaller fall may be rounding where nothing else varies */
#define LEAST_FALL 1e-4
/* the test ends after this many losses in a row that are not finite, even in skipped steps */
#define MOST_LOST 3
#define MAD_SIGMA 0.6745 /* median of |x| of a standard normal distribution */

const DynoRecordField *
dyno_lr_point_list_fields (guint *n)
{
#define FIELD(name, type, member)                           \
  {                                                         \
    name, type, G_STRUCT_OFFSET (DynoLrPoint, member), name \
  }
  static const DynoRecordField fields[] = {
    FIELD ("step", DYNO_RECORD_UINT, step),       FIELD ("lr", DYNO_RECORD_NUMBER, lr),
    FIELD ("loss", DYNO_RECORD_NUMBER, loss),     FIELD ("smoothed", DYNO_RECORD_NUMBER, smoothed),
    FIELD ("skipped", DYNO_RECORD_FLAG, skipped),
  };
#undef FIELD

  *n = G_N_ELEMENTS (fields);
  return fields;
}

const char *
dyno_lr_end_name (DynoLrEnd end)
{
  static const char *const names[] = { "whole", "diverged", "time", "stopped" };

  g_return_val_if_fail ((guint) end < G_N_ELEMENTS (names), "stopped");
  return names[end];
}

const char *
dyno_lr_verdict_name (DynoLrVerdict verdict)
{
  static const char *const names[] = { "steepest", "tenth", "too-short", "no-fall" };

  g_return_val_if_fail ((guint) verdict < G_N_ELEMENTS (names), "no-fall");
  return names[verdict];
}

/* --- the curve -------------------------------------------------------------------------------- */

DynoLrCurve *
dyno_lr_curve_new (double from, double to, guint steps)
{
  DynoLrCurve *curve;

  g_return_val_if_fail (from > 0 && from < to && steps >= DYNO_LR_LEAST_STEPS, NULL);
  curve = g_new0 (DynoLrCurve, 1);
  curve->from = from;
  curve->to = to;
  curve->steps = steps;
  curve->points = g_array_new (FALSE, FALSE, sizeof (DynoLrPoint));
  curve->least = INFINITY;
  return curve;
}

void
dyno_lr_curve_free (DynoLrCurve *curve)
{
  if (!curve)
    return;
  g_array_unref (curve->points);
  g_free (curve);
}

/* The window of the smoothing, in steps. */
static double
find_window (const DynoLrCurve *curve)
{
  return MAX ((double) curve->steps / WINDOW_SHARE, 2.0);
}

gboolean
dyno_lr_curve_add (DynoLrCurve *curve, double lr, double loss, gboolean skipped)
{
  DynoLrPoint point = { .step = curve->points->len + 1,
                        .lr = lr,
                        .loss = isfinite (loss) ? loss : (double) NAN,
                        .smoothed = (double) NAN,
                        .skipped = skipped };
  double window = find_window (curve), beta = 1 - 1 / window;
  gboolean over;

  g_return_val_if_fail (curve->end != DYNO_LR_END_DIVERGED, FALSE);
  curve->n_lost = isfinite (loss) ? 0 : curve->n_lost + 1;
  if (curve->n_lost == 0)
    {
      curve->sum = beta * curve->sum + (1 - beta) * loss;
      curve->weight = beta * curve->weight + (1 - beta);
      point.smoothed = curve->sum / curve->weight;
    }
  g_array_append_val (curve->points, point);
  over = curve->n_lost > 0 ? !skipped || curve->n_lost >= MOST_LOST
                           : point.smoothed > DYNO_LR_DIVERGED * curve->least;
  if (over)
    curve->end = DYNO_LR_END_DIVERGED;
  else if (curve->n_lost == 0 && point.step >= MAX (window, DYNO_LR_LEAST_STEPS))
    curve->least = MIN (curve->least, point.smoothed);
  return !over;
}

/* --- the suggestion --------------------------------------------------------------------------- */

/* The points whose losses are finite; n: their number.  g_free. */
static DynoLrPoint *
list_finite (const DynoLrCurve *curve, guint *n)
{
  DynoLrPoint *points = g_new (DynoLrPoint, curve->points->len + 1);

  *n = 0;
  for (guint i = 0; i < curve->points->len; i++)
    {
      const DynoLrPoint *point = &g_array_index (curve->points, DynoLrPoint, i);

      if (isfinite (point->loss))
        points[(*n)++] = *point;
    }
  return points;
}

/* The standard deviation of a step's loss, from the differences between the first n losses, on
 * which a trend over many steps has little effect; from few losses it is estimated rather too
 * large. */
static double
find_deviation (const DynoLrPoint *points, guint n)
{
  g_autofree double *differences = g_new (double, n);

  for (guint i = 0; i + 1 < n; i++)
    differences[i] = fabs (points[i + 1].loss - points[i].loss);
  return dyno_median (differences, n - 1) / MAD_SIGMA / G_SQRT2 * (1 + FEW / (n - 1));
}

/* The slope of the smoothed loss over the logarithm of the rate, from both neighbours. */
static double
find_slope (const DynoLrPoint *points, guint i)
{
  const DynoLrPoint *before = &points[i - 1], *after = &points[i + 1];

  return (after->smoothed - before->smoothed) / log (after->lr / before->lr);
}

static double
round_rate (double lr)
{
  g_autofree char *text = g_strdup_printf ("%.1e", lr);

  return strtod (text, NULL);
}

/* Fills all members except text and note. */
static void
decide (const DynoLrCurve *curve, DynoLrSuggestion *s)
{
  guint n, window = (guint) find_window (curve), least, steepest;
  g_autofree DynoLrPoint *points = list_finite (curve, &n);
  double deviation, start;

  s->verdict = DYNO_LR_TOO_SHORT;
  if (n < DYNO_LR_LEAST_STEPS || n <= window)
    return;
  least = window - 1; /* before it the mean is one of few losses */
  for (guint i = window; i < n; i++)
    if (points[i].smoothed < points[least].smoothed)
      least = i;
  s->verdict = DYNO_LR_NO_FALL;
  start = points[window - 1].smoothed;
  s->fall = start - points[least].smoothed;
  deviation = find_deviation (points, MAX (least + 1, (n + 1) / 2));
  s->noise = MAX (NOISES * deviation * sqrt (1.0 / window + 1 / (2.0 * window - 1)),
                  LEAST_FALL * fabs (start));
  if (least <= window || !(s->fall > s->noise))
    return;
  s->minimum = points[least].lr;
  s->tenth = s->minimum / 10;
  steepest = window;
  for (guint i = window; i < least; i++)
    if (find_slope (points, i) < find_slope (points, steepest))
      steepest = i;
  s->steepest = points[steepest].lr;
  s->verdict = s->tenth < s->steepest ? DYNO_LR_TENTH : DYNO_LR_STEEPEST;
  s->lr = round_rate (MIN (s->tenth, s->steepest));
}

/* --- words ------------------------------------------------------------------------------------ */

/* The rate of the last step; 0: there is none. */
static double
get_last_rate (const DynoLrCurve *curve)
{
  guint n = curve->points->len;

  return n > 0 ? g_array_index (curve->points, DynoLrPoint, n - 1).lr : 0;
}

/* The text for a test that did not come to its end. */
static char *
describe_cut (const DynoLrCurve *curve)
{
  guint n = curve->points->len;

  if (curve->end == DYNO_LR_END_TIME)
    return g_strdup_printf (_ ("No learning rate is suggested: the time was over after step %u of "
                               "%u, before the loss fell; give the test more minutes"),
                            n, curve->steps);
  return g_strdup_printf (_ ("No learning rate is suggested: the test was stopped after step %u of "
                             "%u, before the loss fell"),
                          n, curve->steps);
}

static char *
describe_short (const DynoLrCurve *curve)
{
  guint n = curve->points->len;

  if (curve->end == DYNO_LR_END_DIVERGED)
    return g_strdup_printf (_ ("No learning rate is suggested: the loss diverged in step %u of %u, "
                               "at %.2g; test from a lower rate on"),
                            n, curve->steps, get_last_rate (curve));
  if (curve->end == DYNO_LR_END_WHOLE)
    return g_strdup (_ ("No learning rate is suggested: too many steps had a loss that is not "
                        "finite; look at the data, or test without AMP"));
  return describe_cut (curve);
}

static char *
describe_flat (const DynoLrCurve *curve, const DynoLrSuggestion *s)
{
  double last = get_last_rate (curve);

  if (curve->end == DYNO_LR_END_TIME || curve->end == DYNO_LR_END_STOPPED)
    return describe_cut (curve);
  if (curve->fewer)
    return g_strdup_printf (_ ("No learning rate is suggested: the smoothed loss did not fall "
                               "beyond its noise within the steps for which there was time (%u); "
                               "give the test more minutes"),
                            curve->steps);
  if (curve->end == DYNO_LR_END_DIVERGED)
    return g_strdup_printf (
        _ ("No learning rate is suggested: the smoothed loss did not fall before it diverged at "
           "%.2g; test from a lower rate on, or look whether the targets belong to the samples"),
        last);
  return g_strdup_printf (
      _ ("No learning rate is suggested: the smoothed loss fell by no more than %.3g up to %.2g, "
         "and %.3g can be chance; test other rates, in more steps or with larger batches, or look "
         "whether the targets belong to the samples"),
      MAX (s->fall, 0), last, s->noise);
}

static char *
describe (const DynoLrCurve *curve, const DynoLrSuggestion *s)
{
  switch (s->verdict)
    {
    case DYNO_LR_STEEPEST:
      return g_strdup_printf (_ ("lr=%.2g is suggested: there the smoothed loss falls fastest (it "
                                 "is least at %.2g, and a tenth of that is no lower)"),
                              s->lr, s->minimum);
    case DYNO_LR_TENTH:
      return g_strdup_printf (
          _ ("lr=%.2g is suggested: a tenth of %.2g, where the smoothed loss is least (it falls "
             "fastest at %.2g, which is closer to where it rises)"),
          s->lr, s->minimum, s->steepest);
    case DYNO_LR_TOO_SHORT:
      return describe_short (curve);
    case DYNO_LR_NO_FALL:
    default:
      return describe_flat (curve, s);
    }
}

/* The note on rates that the test did not reach. */
static char *
describe_rest (const DynoLrCurve *curve, const DynoLrSuggestion *s)
{
  guint n = curve->points->len;
  double last = get_last_rate (curve);

  if (!isfinite (s->lr))
    return NULL;
  if (curve->end == DYNO_LR_END_TIME)
    return g_strdup_printf (_ ("The time was over at %.2g, in step %u of %u: higher rates were not "
                               "tested; give the test more minutes, or fewer steps"),
                            last, n, curve->steps);
  if (curve->end == DYNO_LR_END_STOPPED)
    return g_strdup_printf (
        _ ("The test was stopped at %.2g, in step %u of %u: higher rates were not tested"), last, n,
        curve->steps);
  if (curve->end == DYNO_LR_END_WHOLE && s->minimum == last)
    return g_strdup_printf (
        _ ("The smoothed loss was still falling at the last rate, %.2g: test up to a higher one"),
        last);
  return NULL;
}

void
dyno_lr_suggest (const DynoLrCurve *curve, DynoLrSuggestion *s)
{
  const double unknown = (double) NAN;

  *s = (DynoLrSuggestion){ .lr = unknown,
                           .steepest = unknown,
                           .tenth = unknown,
                           .minimum = unknown,
                           .fall = unknown,
                           .noise = unknown };
  decide (curve, s);
  s->text = describe (curve, s);
  s->note = describe_rest (curve, s);
}

void
dyno_lr_suggestion_clear (DynoLrSuggestion *s)
{
  g_clear_pointer (&s->text, g_free);
  g_clear_pointer (&s->note, g_free);
}
