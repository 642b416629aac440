/* SPDX-License-Identifier: MIT */
/* Points and their min/max pyramid.  Level k holds one bucket for every FAN^k points; a range is
 * answered from at most 2 FAN buckets a level, so the cost of drawing follows the number of pixels
 * and not of points.
 *
 * Invariant: x and y hold the points of the groups, then the newest ones as they are.  All groups
 * are full (`each` points) but the last one, which the next points that become old fill. */
#include "series.h"
#include <math.h>
#include <string.h>

#define FAN 16

typedef struct {
  double minimum, maximum; /* of the finite values, where count > 0 */
  guint32 count;           /* finite values, saturating */
} Bucket;

/* A group: successive points, reduced to a few numbers. */
typedef struct {
  double x_min, y_min, x_max, y_max; /* the least and the greatest; count 0: none */
  double x_gap;                      /* of its last point without a number; NaN: none */
  double mean;                       /* of the finite values */
  guint64 count, points;             /* finite values; all */
} Group;

struct _DynoSeries {
  gint n_references; /* atomic */
  char *name;
  char *unit;
  GArray *x, *y;           /* double */
  GArray *groups;          /* Group */
  guint n_old;             /* points of x and y that stand for the groups */
  guint64 each;            /* points of a full group */
  double x_first, y_first; /* the first point of all, once there are groups */
  GPtrArray *levels;       /* GArray of Bucket; level i covers FAN^(i+1) points a bucket */
  DynoSeries *smoothed;    /* cache for one smoothing factor */
  double smoothing;
  double average, weight; /* running state of the cache */
};

DynoSeries *
dyno_series_new (const char *name, const char *unit)
{
  DynoSeries *series = g_new0 (DynoSeries, 1);

  series->n_references = 1;
  series->name = g_strdup (name);
  series->unit = g_strdup (unit);
  series->x = g_array_new (FALSE, FALSE, sizeof (double));
  series->y = g_array_new (FALSE, FALSE, sizeof (double));
  series->groups = g_array_new (FALSE, FALSE, sizeof (Group));
  series->each = 1;
  series->levels = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  return series;
}

DynoSeries *
dyno_series_ref (DynoSeries *series)
{
  g_atomic_int_inc (&series->n_references);
  return series;
}

void
dyno_series_free (DynoSeries *series)
{
  if (!series || !g_atomic_int_dec_and_test (&series->n_references))
    return;
  g_clear_pointer (&series->smoothed, dyno_series_free);
  g_ptr_array_unref (series->levels);
  g_array_unref (series->groups);
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

/* Adds count successive values, whose mean is y, to the average. */
static void
add_smoothed (DynoSeries *series, double x, double y, guint64 count)
{
  double value = NAN;

  if (isfinite (y))
    {
      double keep = count == 1 ? series->smoothing : pow (series->smoothing, (double) count);

      /* The weight undoes the bias towards zero of the first points. */
      series->average = keep * series->average + (1.0 - keep) * y;
      series->weight = keep * series->weight + (1.0 - keep);
      value = series->average / series->weight;
    }
  dyno_series_append (series->smoothed, x, value);
}

/* Adds the points so far to the pyramid's new level, which has its first full bucket now. */
static void
begin_level (DynoSeries *series, guint level, guint64 index)
{
  GArray *buckets = g_array_new (FALSE, TRUE, sizeof (Bucket));

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
          bucket_add (&g_array_index (buckets, Bucket, 0), b->minimum, b->maximum, b->count);
        }
    }
}

/* Adds point `index`, which is stored already, to the pyramid; the points before it are in it. */
static void
count_point (DynoSeries *series, guint64 index)
{
  double y = g_array_index (series->y, double, index);
  guint32 finite = isfinite (y) ? 1 : 0;
  guint64 span = FAN;

  for (guint level = 0;; level++, span *= FAN)
    {
      GArray *buckets;

      if (level == series->levels->len)
        {
          if (index + 1 < span)
            break;
          begin_level (series, level, index);
          continue;
        }
      buckets = g_ptr_array_index (series->levels, level);
      if (index / span >= buckets->len)
        g_array_set_size (buckets, buckets->len + 1);
      bucket_add (&g_array_index (buckets, Bucket, index / span), y, y, finite);
    }
}

/* --- old points ------------------------------------------------------------------------------- */

/* Merges group b into a, which it follows. */
static void
join (Group *a, const Group *b)
{
  if (b->count > 0)
    {
      if (a->count == 0 || b->y_min < a->y_min)
        {
          a->x_min = b->x_min;
          a->y_min = b->y_min;
        }
      if (a->count == 0 || b->y_max > a->y_max)
        {
          a->x_max = b->x_max;
          a->y_max = b->y_max;
        }
      a->mean = a->count == 0 ? b->mean
                              : a->mean
                                    + (b->mean - a->mean)
                                          * ((double) b->count / (double) (a->count + b->count));
    }
  if (!isnan (b->x_gap))
    a->x_gap = b->x_gap;
  a->count += b->count;
  a->points += b->points;
}

static void
halve_groups (DynoSeries *series)
{
  guint n = 0;

  for (guint i = 0; i < series->groups->len; i += 2)
    {
      Group pair = g_array_index (series->groups, Group, i);

      if (i + 1 < series->groups->len)
        join (&pair, &g_array_index (series->groups, Group, i + 1));
      g_array_index (series->groups, Group, n++) = pair;
    }
  g_array_set_size (series->groups, n);
  series->each *= 2;
}

static void
group_point (DynoSeries *series, double x, double y)
{
  gboolean finite = isfinite (y);
  Group one = { .x_min = x,
                .y_min = y,
                .x_max = x,
                .y_max = y,
                .x_gap = finite ? (double) NAN : x,
                .mean = finite ? y : 0,
                .count = finite ? 1 : 0,
                .points = 1 };
  Group *last = series->groups->len > 0
                    ? &g_array_index (series->groups, Group, series->groups->len - 1)
                    : NULL;

  if (last && last->points < series->each)
    {
      join (last, &one);
      return;
    }
  if (series->groups->len == DYNO_SERIES_GROUPS)
    {
      halve_groups (series);
      group_point (series, x, y);
      return;
    }
  g_array_append_val (series->groups, one);
}

/* The points that stand for a group, in their order; returns how many. */
static guint
list_points (const Group *group, double x[3], double y[3])
{
  guint n = 0;

  if (group->count > 0)
    {
      gboolean rising = group->x_min <= group->x_max;

      x[n] = rising ? group->x_min : group->x_max;
      y[n++] = rising ? group->y_min : group->y_max;
      if (group->x_min != group->x_max || group->y_min != group->y_max)
        {
          x[n] = rising ? group->x_max : group->x_min;
          y[n++] = rising ? group->y_max : group->y_min;
        }
    }
  if (!isnan (group->x_gap))
    {
      guint at = n++;

      for (; at > 0 && x[at - 1] > group->x_gap; at--)
        {
          x[at] = x[at - 1];
          y[at] = y[at - 1];
        }
      x[at] = group->x_gap;
      y[at] = NAN;
    }
  return n;
}

static void
put_point (DynoSeries *series, guint index, double x, double y)
{
  g_array_index (series->x, double, index) = x;
  g_array_index (series->y, double, index) = y;
}

static void
move_newest (GArray *values, guint from, guint to)
{
  memmove (&g_array_index (values, double, to), &g_array_index (values, double, from),
           DYNO_SERIES_NEWEST * sizeof (double));
  g_array_set_size (values, to + DYNO_SERIES_NEWEST);
}

/* Moves all but the newest points into groups, and rebuilds x, y and the pyramid.  A group keeps
 * some of the points that it replaces, so x and y do not grow. */
static void
make_old (DynoSeries *series)
{
  guint newest = series->x->len - DYNO_SERIES_NEWEST, n = 0;

  if (series->groups->len == 0)
    {
      series->x_first = g_array_index (series->x, double, 0);
      series->y_first = g_array_index (series->y, double, 0);
    }
  for (guint i = series->n_old; i < newest; i++)
    group_point (series, g_array_index (series->x, double, i),
                 g_array_index (series->y, double, i));

  for (guint i = 0; i < series->groups->len; i++)
    {
      double x[3], y[3];
      guint some = list_points (&g_array_index (series->groups, Group, i), x, y);

      if (i == 0 && series->x_first < x[0])
        put_point (series, n++, series->x_first, series->y_first);
      for (guint p = 0; p < some; p++)
        put_point (series, n++, x[p], y[p]);
    }
  series->n_old = n;
  move_newest (series->x, newest, n);
  move_newest (series->y, newest, n);

  g_ptr_array_set_size (series->levels, 0);
  for (guint i = 0; i < series->x->len; i++)
    count_point (series, i);
}

void
dyno_series_append (DynoSeries *series, double x, double y)
{
  if (series->x->len - series->n_old == 2 * DYNO_SERIES_NEWEST)
    make_old (series);
  g_array_append_val (series->x, x);
  g_array_append_val (series->y, y);
  count_point (series, series->y->len - 1);
  if (series->smoothed)
    add_smoothed (series, x, y, 1);
}

gsize
dyno_series_get_bytes (const DynoSeries *series)
{
  gsize bytes = sizeof *series + (series->x->len + series->y->len) * sizeof (double)
                + series->groups->len * sizeof (Group);

  for (guint level = 0; level < series->levels->len; level++)
    bytes += ((GArray *) g_ptr_array_index (series->levels, level))->len * sizeof (Bucket);
  return bytes + (series->smoothed ? dyno_series_get_bytes (series->smoothed) : 0);
}

void
dyno_series_clear (DynoSeries *series)
{
  g_array_set_size (series->x, 0);
  g_array_set_size (series->y, 0);
  g_array_set_size (series->groups, 0);
  series->n_old = 0;
  series->each = 1;
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

/* The first index from `first` on whose x is >= value, which is expected about `near` further: the
 * search begins there, so that the columns of a drawing touch little memory. */
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

/* Appends one point of the average in a group's middle, and one where the group has no number. */
static void
smooth_group (DynoSeries *series, const Group *group)
{
  double x[3], y[3], middle;
  guint n = list_points (group, x, y);
  gboolean gap_first = !isnan (group->x_gap) && group->x_gap == x[0];

  middle = (x[0] + x[n - 1]) / 2;
  if (gap_first)
    add_smoothed (series, group->x_gap, NAN, 1);
  if (group->count > 0)
    add_smoothed (series, middle, group->mean, group->count);
  if (!isnan (group->x_gap) && !gap_first)
    add_smoothed (series, MAX (group->x_gap, middle), NAN, 1);
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
  for (guint i = 0; i < series->groups->len; i++)
    smooth_group (series, &g_array_index (series->groups, Group, i));
  for (guint i = series->n_old; i < series->y->len; i++)
    add_smoothed (series, g_array_index (series->x, double, i),
                  g_array_index (series->y, double, i), 1);
  return series->smoothed;
}
