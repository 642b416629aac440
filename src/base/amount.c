/* SPDX-License-Identifier: MIT */
#include "amount.h"
#include <locale.h>
#include <math.h>
#include <string.h>

/* The value in the largest unit in which it is at least about one: 1000 MiB are 0.98 GiB. */
static char *
scale (double value, double base, const char *const *units, const char *gap)
{
  guint unit = 0;

  while (value >= 999.5 && units[unit + 1])
    {
      value /= base;
      unit++;
    }
  if (unit == 0)
    return g_strdup_printf ("%.0f%s%s", value, *units[0] ? gap : "", units[0]);
  return g_strdup_printf ("%.*f%s%s",
                          value < 9.995   ? 2
                          : value < 99.95 ? 1
                                          : 0,
                          value, gap, units[unit]);
}

char *
dyno_amount_bytes (guint64 bytes, const char *gap)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", NULL };

  return scale ((double) bytes, 1024, units, gap);
}

char *
dyno_amount_count (double count, const char *gap)
{
  static const char *const units[] = { "", "k", "M", "G", "T", NULL };

  return scale (count, 1000, units, gap);
}

const char *
dyno_amount_separator (void)
{
  const struct lconv *locale = localeconv ();

  /* The locale C has no separator; its decimal point means English, which has a comma. */
  return *locale->thousands_sep                     ? locale->thousands_sep
         : strcmp (locale->decimal_point, ".") == 0 ? ","
                                                    : "";
}

char *
dyno_amount_rate (double per_s)
{
  const char *apart = dyno_amount_separator ();
  GString *text = g_string_new (NULL);

  if (!isfinite (per_s) || fabs (per_s) < 99.95)
    g_string_printf (text, "%.*f", fabs (per_s) < 9.995 ? 2 : 1, per_s);
  else
    {
      g_string_printf (text, "%.0f", per_s);
      for (gssize at = (gssize) text->len - 3; at > (per_s < 0); at -= 3)
        g_string_insert (text, at, apart);
    }
  return g_string_free (text, FALSE);
}

char *
dyno_amount_duration (double seconds)
{
  guint64 whole = (guint64) (CLAMP (seconds, 0, 1e9) + 0.5);
  guint hours = (guint) (whole / 3600), minutes = (guint) (whole / 60 % 60),
        rest = (guint) (whole % 60);

  if (hours > 0)
    return g_strdup_printf ("%u:%02u:%02u", hours, minutes, rest);
  return g_strdup_printf ("%u:%02u", minutes, rest);
}
