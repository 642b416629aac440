/* SPDX-License-Identifier: MIT */
/* Numbers as people read them.  printf follows LC_NUMERIC, so decimals and groups are the reader's
 * own.  Units are kept from the number by a no-break space, so that a label never wraps between
 * them. */
#include "format.h"
#include "amount.h"
#include <glib/gi18n.h>
#include <math.h>

#define NBSP "\302\240"
#define NONE "\342\200\223"

char *
dyno_format_bytes (guint64 bytes)
{
  return dyno_amount_bytes (bytes, NBSP);
}

char *
dyno_format_count (guint64 count)
{
  return count < 100 ? g_strdup_printf ("%" G_GUINT64_FORMAT, count)
                     : dyno_amount_rate ((double) count);
}

char *
dyno_format_large (double value)
{
  return dyno_amount_count (value, NBSP);
}

char *
dyno_format_rate (double per_s)
{
  if (!(per_s > 0) || !isfinite (per_s))
    return g_strdup (NONE);
  return dyno_amount_rate (per_s);
}

char *
dyno_format_ms (double ms)
{
  if (!(ms >= 0) || !isfinite (ms))
    return g_strdup (NONE);
  if (ms >= 10000)
    return g_strdup_printf (_ ("%.1f s"), ms / 1000);
  return g_strdup_printf (_ ("%.*f ms"), ms >= 100 ? 0 : ms >= 10 ? 1 : 2, ms);
}

char *
dyno_format_percent (double fraction)
{
  if (!isfinite (fraction))
    return g_strdup (NONE);
  return g_strdup_printf (_ ("%.1f %%"), 100 * fraction);
}

char *
dyno_format_value (double value)
{
  if (!isfinite (value))
    return g_strdup (NONE);
  double size = fabs (value);
  if (size > 0 && (size >= 1e6 || size < 1e-4))
    {
      int exponent = (int) floor (log10 (size));
      return g_strdup_printf ("%.2fe%d", value / pow (10, exponent), exponent);
    }
  return g_strdup_printf ("%.*f",
                          size >= 1000  ? 0
                          : size >= 100 ? 1
                          : size >= 10  ? 2
                          : size >= 1   ? 3
                                        : 4,
                          value);
}

char *
dyno_format_metric (const DynoMetricInfo *metric, double value)
{
  if (metric->format == DYNO_METRIC_FRACTION)
    return dyno_format_percent (value);
  g_autofree char *number = dyno_format_value (value);
  gboolean bare = *metric->unit == '\0' || !isfinite (value);
  return g_strconcat (number, bare ? NULL : NBSP, metric->unit, NULL);
}

char *
dyno_format_best (const DynoStoredRun *run)
{
  if (run->metric_is_fraction)
    return dyno_format_percent (run->best_metric);
  g_autofree char *number = dyno_format_value (run->best_metric);
  gboolean bare = !run->metric_unit || *run->metric_unit == '\0' || !isfinite (run->best_metric);
  return g_strconcat (number, bare ? NULL : NBSP, run->metric_unit, NULL);
}

static gboolean
is_same_day (GDateTime *a, GDateTime *b)
{
  return g_date_time_get_day_of_year (a) == g_date_time_get_day_of_year (b)
         && g_date_time_get_year (a) == g_date_time_get_year (b);
}

char *
dyno_format_when (gint64 time_us)
{
  g_autoptr (GDateTime) when = g_date_time_new_from_unix_local (time_us / G_USEC_PER_SEC),
                        now = g_date_time_new_now_local (),
                        yesterday = now ? g_date_time_add_days (now, -1) : NULL;
  if (!when || !yesterday)
    return g_strdup ("");
  if (is_same_day (when, now))
    /* Translators: a time of today, in the words of strftime */
    return g_date_time_format (when, _ ("Today %H:%M"));
  if (is_same_day (when, yesterday))
    return g_date_time_format (when, _ ("Yesterday %H:%M"));
  return g_date_time_format (when, "%x %H:%M");
}

char *
dyno_format_span (double seconds)
{
  if (!(seconds >= 0) || !(seconds < 1e9))
    return g_strdup (NONE);
  return dyno_amount_duration (seconds);
}

char *
dyno_format_size (guint32 width, guint32 height, guint32 channels)
{
  return g_strdup_printf ("%u" NBSP "\303\227" NBSP "%u" NBSP "\303\227" NBSP "%u", width, height,
                          channels);
}
