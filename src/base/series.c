/* SPDX-License-Identifier: MIT */
/* Points and their min/max pyramid.  Level k holds one bucket for every FAN^k points; a range is
 * answered from at most 2 FAN buckets a level, so the cost of drawing follows the number of pixels
 * and not of points. */
#include "series.h"
#include <math.h>
#include <string.h>

#define FAN 16

typedef struct {
  double minimum, maximum; /* of finite values; minimum > maximum: none */
  guint32 count;           /* finite values, saturating */
} Bucket;

struct _DynoSeries {
  char *name;
  char *unit;
  GArray *x, *y;        /* double */
  GPtrArray *levels;    /* GArray of Bucket; level i covers FAN^(i+1) points a bucket */
  DynoSeries *smoothed; /* cache for one smoothing factor */
  double smoothing;
  double average, weight; /* running state of the cache */
};

DynoSeries *
dyno_series_new (const char *name, const char *unit)
{
  DynoSeries *series = g_new0 (DynoSeries, 1);

  series->name = g_strdup (name);
  series->unit = g_strdup (unit);
  series->x = g_array_new (FALSE, FALSE, sizeof (double));
  series->y = g_array_new (FALSE, FALSE, sizeof (double));
  series->levels = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  return series;
}

void
dyno_series_free (DynoSeries *series)
{
  if (!series)
    return;
  g_clear_pointer (&series->smoothed, dyno_series_free);
  g_ptr_array_unref (series->levels);
  g_array_unref (series->y);
  g_array_unref (series->x);
  g_free (series->unit);
  g_free (series->name);
  g_free (series);
}

const char *
dyno_series_get_name (const DynoSeries *series)
{
  return series->name;
}

const char *
dyno_series_get_unit (const DynoSeries *series)
{
  return series->unit;
}

void
dyno_series_set_unit (DynoSeries *series, const char *unit)
{
  g_free (series->unit);
  series->unit = g_strdup (unit);
  if (series->smoothed)
    dyno_series_set_unit (series->smoothed, unit);
}

static void
bucket_add (Bucket *bucket, double low, double high, guint32 count)
{
  if (count == 0)
    return;
  bucket->minimum = bucket->count ? MIN (bucket->minimum, low) : low;
  bucket->maximum = bucket->count ? MAX (bucket->maximum, high) : high;
  bucket->count = bucket->count > G_MAXUINT32 - count ? G_MAXUINT32 : bucket->count + count;
}

static void
add_smoothed (DynoSeries *series, double x, double y)
{
  double value = NAN;

  if (isfinite (y))
    {
      /* The weight undoes the bias towards zero of the first points. */
      series->average = series->smoothing * series->average + (1.0 - series->smoothing) * y;
      series->weight = series->smoothing * series->weight + (1.0 - series->smoothing);
      value = series->average / series->weight;
    }
  dyno_series_append (series->smoothed, x, value);
}

void
dyno_series_append (DynoSeries *series, double x, double y)
{
  guint64 index = series->y->len;
  guint64 span = FAN;
  guint32 finite = isfinite (y) ? 1 : 0;

  g_return_if_fail (series->y->len < G_MAXUINT / 2);
  g_array_append_val (series->x, x);
  g_array_append_val (series->y, y);

  for (guint level = 0;; level++, span *= FAN)
    {
      GArray *buckets;

      if (level == series->levels->len)
        {
          if (index + 1 < span)
            break;
          /* A level begins once it has its first full bucket, made from the level below. */
          buckets = g_array_new (FALSE, TRUE, sizeof (Bucket));
          g_ptr_array_add (series->levels, buckets);
          g_array_set_size (buckets, 1);
          if (level == 0)
            for (guint i = 0; i <= index; i++)
              {
                double old = g_array_index (series->y, double, i);
                bucket_add (&g_array_index (buckets, Bucket, 0), old, old, isfinite (old) ? 1 : 0);
              }
          else
            {
              GArray *below = g_ptr_array_index (series->levels, level - 1);
              for (guint i = 0; i < below->len; i++)
                {
                  Bucket *b = &g_array_index (below, Bucket, i);
                  bucket_add (&g_array_index (buckets, Bucket, 0), b->minimum, b->maximum,
                              b->count);
                }
            }
          continue;
        }
      buckets = g_ptr_array_index (series->levels, level);
      if (index / span >= buckets->len)
        g_array_set_size (buckets, buckets->len + 1);
      bucket_add (&g_array_index (buckets, Bucket, index / span), y, y, finite);
    }

  if (series->smoothed)
    add_smoothed (series, x, y);
}

void
dyno_series_clear (DynoSeries *series)
{
  g_array_set_size (series->x, 0);
  g_array_set_size (series->y, 0);
  g_ptr_array_set_size (series->levels, 0);
  g_clear_pointer (&series->smoothed, dyno_series_free);
}

guint64
dyno_series_get_length (const DynoSeries *series)
{
  return series->y->len;
}

void
dyno_series_get (const DynoSeries *series, guint64 index, double *x, double *y)
{
  g_return_if_fail (index < series->y->len);
  *x = g_array_index (series->x, double, index);
  *y = g_array_index (series->y, double, index);
}

void
dyno_series_peek (const DynoSeries *series, const double **x, const double **y)
{
  *x = (const double *) (const void *) series->x->data;
  *y = (const double *) (const void *) series->y->data;
}

/* First index whose x is >= value (or > value with after). */
static guint
bound (const DynoSeries *series, double value, gboolean after)
{
  const double *x = (const double *) (const void *) series->x->data;
  guint low = 0, high = series->x->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (x[middle] < value || (after && x[middle] == value))
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The same for x >= value from first on, where it is about `near` further: looked for there, so that
 * the columns of a drawing touch little memory. */
static guint64
bound_from (const double *x, guint64 first, guint64 end, guint64 near, double value)
{
  guint64 step = MAX (near, 1), low = first, high;

  while (low + step < end && x[low + step] < value)
    {
      low += step;
      step *= 2;
    }
  high = MIN (low + step, end);
  while (low < high)
    {
      guint64 middle = low + (high - low) / 2;
      if (x[middle] < value)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* Minimum and maximum of points [first, last). */
static Bucket
range (const DynoSeries *series, guint64 first, guint64 last)
{
  const double *y = (const double *) (const void *) series->y->data;
  Bucket result = { 0 };

  while (first < last)
    {
      guint64 span = 1;
      int level = -1;

      /* The widest bucket that begins here and does not pass the end. */
      while (level + 1 < (int) series->levels->len && first % (span * FAN) == 0
             && first + span * FAN <= last)
        {
          span *= FAN;
          level++;
        }
      if (level < 0)
        bucket_add (&result, y[first], y[first], isfinite (y[first]) ? 1 : 0);
      else
        {
          Bucket *b = &g_array_index ((GArray *) g_ptr_array_index (series->levels, level), Bucket,
                                      first / span);
          bucket_add (&result, b->minimum, b->maximum, b->count);
        }
      first += span;
    }
  return result;
}

gboolean
dyno_series_get_range (const DynoSeries *series, double x0, double x1, double *x_min, double *x_max,
                       double *y_min, double *y_max)
{
  guint first = bound (series, x0, FALSE), last = bound (series, x1, TRUE);
  Bucket b = range (series, first, last);

  if (b.count == 0)
    return FALSE;
  *x_min = g_array_index (series->x, double, first);
  *x_max = g_array_index (series->x, double, last - 1);
  *y_min = b.minimum;
  *y_max = b.maximum;
  return TRUE;
}

guint64
dyno_series_nearest (const DynoSeries *series, double x)
{
  const double *xs = (const double *) (const void *) series->x->data;
  guint i = bound (series, x, FALSE);

  if (i > 0 && (i == series->x->len || x - xs[i - 1] < xs[i] - x))
    i--;
  return i;
}

static double
first_finite (const double *y, guint64 first, guint64 last, gboolean backwards)
{
  for (guint64 i = 0; i < last - first; i++)
    {
      double value = backwards ? y[last - 1 - i] : y[first + i];
      if (isfinite (value))
        return value;
    }
  return NAN;
}

guint
dyno_series_columns (const DynoSeries *series, double x0, double x1, guint n, DynoColumn *columns)
{
  const double *y = (const double *) (const void *) series->y->data;
  const double *x = (const double *) (const void *) series->x->data;
  guint n_columns = 0;
  guint64 first = bound (series, x0, FALSE), end = bound (series, x1, TRUE);

  /* One neighbour outside on each side, so that lines run off the edge and not stop short of it. */
  if (first > 0)
    first--;
  if (end < series->x->len)
    end++;

  if (end - first <= (guint64) n)
    {
      for (guint64 i = first; i < end; i++)
        columns[n_columns++] =
            (DynoColumn){ x[i], y[i], y[i], y[i], y[i], isfinite (y[i]) ? 1 : 0, 1 };
      return n_columns;
    }

  for (guint c = 0; c < n && first < end; c++)
    {
      double edge = x0 + (x1 - x0) * (c + 1) / n;
      guint64 last = c + 1 == n ? end : bound_from (x, first, end, (end - first) / (n - c), edge);
      Bucket b;

      if (last <= first)
        continue;
      b = range (series, first, last);
      columns[n_columns++] = (DynoColumn){ .x = (x[first] + x[last - 1]) / 2,
                                           .y_min = b.count ? b.minimum : NAN,
                                           .y_max = b.count ? b.maximum : NAN,
                                           .y_first = first_finite (y, first, last, FALSE),
                                           .y_last = first_finite (y, first, last, TRUE),
                                           .count = b.count,
                                           .points = last - first };
      first = last;
    }
  return n_columns;
}

const DynoSeries *
dyno_series_smoothed (DynoSeries *series, double smoothing)
{
  if (series->smoothed && series->smoothing == smoothing)
    return series->smoothed;

  g_clear_pointer (&series->smoothed, dyno_series_free);
  series->smoothed = dyno_series_new (series->name, series->unit);
  series->smoothing = CLAMP (smoothing, 0.0, 0.999);
  series->average = series->weight = 0.0;
  for (guint i = 0; i < series->y->len; i++)
    add_smoothed (series, g_array_index (series->x, double, i),
                  g_array_index (series->y, double, i));
  return series->smoothed;
}
