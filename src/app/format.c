/* SPDX-License-Identifier: MIT */
/* Numbers as people read them.  printf follows LC_NUMERIC, so decimals and groups are the reader's
 * own.  A no-break space separates a unit from its number, so that a label never wraps between
 * them; the unit stands on the right also where text runs from right to left. */
#include "format.h"
#include "amount.h"
#include <glib/gi18n.h>
#include <gtk/gtk.h>
#include <math.h>

#define NBSP                 "\302\240"
#define NONE                 "\342\200\223"
#define FIRST_STRONG_ISOLATE "\342\201\250"
#define POP_ISOLATE          "\342\201\251"

/* Inside the isolate the direction follows the unit's letters; without letters it is left to
 * right. */
char *
dyno_format_isolate (char *text)
{
  if (gtk_widget_get_default_direction () != GTK_TEXT_DIR_RTL)
    return text;
  char *isolated = g_strconcat (FIRST_STRONG_ISOLATE, text, POP_ISOLATE, NULL);
  g_free (text);
  return isolated;
}

char *
dyno_format_bytes (guint64 bytes)
{
  return dyno_format_isolate (dyno_amount_bytes (bytes, NBSP));
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
  return dyno_format_isolate (dyno_amount_count (value, NBSP));
}

char *
dyno_format_rate (double per_s)
{
  if (!(per_s > 0) || !isfinite (per_s))
    return g_strdup (NONE);
  /* Three digits: rates are not more precise, and further digits would only flicker. */
  double unit = pow (10, floor (log10 (per_s)) - 2);
  return dyno_amount_rate (per_s < 1000 ? per_s : round (per_s / unit) * unit);
}

char *
dyno_format_throughput (double samples_per_s)
{
  g_autofree char *rate = dyno_format_rate (samples_per_s);
  return dyno_format_isolate (g_strdup_printf (_ ("%s samples/s"), rate));
}

char *
dyno_format_ms (double ms)
{
  if (!(ms >= 0) || !isfinite (ms))
    return g_strdup (NONE);
  /* The unit is chosen by the rounded value: 999.6 ms are 1.00 s. */
  if (ms >= 999.5)
    return dyno_format_isolate (g_strdup_printf (_ ("%.*f s"),
                                                 ms >= 99950  ? 0
                                                 : ms >= 9995 ? 1
                                                              : 2,
                                                 ms / 1000));
  return dyno_format_isolate (g_strdup_printf (_ ("%.*f ms"),
                                               ms >= 99.95   ? 0
                                               : ms >= 9.995 ? 1
                                                             : 2,
                                               ms));
}

char *
dyno_format_percent (double fraction)
{
  if (!isfinite (fraction))
    return g_strdup (NONE);
  return dyno_format_isolate (g_strdup_printf (_ ("%.1f %%"), 100 * fraction));
}

char *
dyno_format_share (double fraction)
{
  return dyno_format_isolate (g_strdup_printf (_ ("%.0f %%"), 100 * fraction));
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

/* unit: may be NULL or empty */
static char *
format_measure (double value, const char *unit)
{
  g_autofree char *number = dyno_format_value (value);
  if (!unit || *unit == '\0' || !isfinite (value))
    return g_steal_pointer (&number);
  if (g_str_equal (unit, "degrees"))
    return dyno_format_isolate (g_strconcat (number, "\302\260", NULL));
  return dyno_format_isolate (g_strconcat (number, NBSP, unit, NULL));
}

char *
dyno_format_metric (const DynoMetricInfo *metric, double value)
{
  return metric->format == DYNO_METRIC_FRACTION ? dyno_format_percent (value)
                                                : format_measure (value, metric->unit);
}

char *
dyno_format_best (const DynoStoredRun *run)
{
  return run->metric_is_fraction ? dyno_format_percent (run->best_metric)
                                 : format_measure (run->best_metric, run->metric_unit);
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
  return dyno_format_isolate (g_strdup_printf (
      "%u" NBSP "\303\227" NBSP "%u" NBSP "\303\227" NBSP "%u", width, height, channels));
}
