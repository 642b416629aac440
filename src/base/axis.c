/* SPDX-License-Identifier: MIT */
/* Round ticks for axes, and the texts of numbers. */
#include "axis.h"
#include "amount.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double
round_step (double span, guint max_ticks)
{
  double rough = span / MAX (max_ticks, 1);
  double power = pow (10.0, floor (log10 (rough)));
  double unit = rough / power;

  return power * (unit <= 1.0 ? 1.0 : unit <= 2.0 ? 2.0 : unit <= 5.0 ? 5.0 : 10.0);
}

/* Ticks at every stride-th decade times each of the factors, within the ends; returns their number,
 * or DYNO_AXIS_MAX_TICKS + 1 where there are more. */
static guint
put_decades (DynoAxis *axis, const double *factors, guint n_factors, int stride)
{
  int first = (int) floor (log10 (axis->low)), last = (int) ceil (log10 (axis->high));

  axis->n_ticks = 0;
  for (int d = first; d <= last; d += stride)
    for (guint i = 0; i < n_factors; i++)
      {
        double value = factors[i] * pow (10.0, d);
        if (value >= axis->low * 0.9999 && value <= axis->high * 1.0001)
          {
            if (axis->n_ticks == DYNO_AXIS_MAX_TICKS)
              return axis->n_ticks + 1;
            axis->ticks[axis->n_ticks++] = value;
          }
      }
  return axis->n_ticks;
}

/* Ticks at 1, 2 and 5 of each decade where there is room, else at decades, else at every second one
 * and so on; on an axis of less than a decade, where these are too few, at the round values of a
 * linear axis. */
static void
init_log (DynoAxis *axis, guint max_ticks)
{
  static const double fine[] = { 1.0, 2.0, 5.0 };
  guint n = put_decades (axis, fine, 3, 1);

  if (n < 3 && max_ticks >= 3)
    {
      double step = round_step (axis->high - axis->low, max_ticks);
      axis->n_ticks = 0;
      for (double i = ceil (axis->low / step - 1e-9);
           i * step <= axis->high && axis->n_ticks < DYNO_AXIS_MAX_TICKS; i += 1.0)
        if (i > 0)
          axis->ticks[axis->n_ticks++] = i * step;
      return;
    }
  for (int stride = 1; n > max_ticks && stride < 400; stride++)
    n = put_decades (axis, fine, 1, stride);
}

void
dyno_axis_init (DynoAxis *axis, double low, double high, guint max_ticks, gboolean log,
                gboolean round_out, double least_step)
{
  *axis = (DynoAxis){ .log = log };
  if (!isfinite (low) || !isfinite (high) || (log && low <= 0.0))
    {
      low = log ? 0.1 : 0.0;
      high = 1.0;
    }
  if (high - low <= fabs (low) * 1e-9)
    {
      double middle = low, half = MAX (fabs (middle) * 0.1, middle == 0.0 ? 1.0 : 0.5);
      low = log ? middle / 2 : middle < 0.0 ? middle - half : MAX (middle - half, 0.0);
      high = log ? middle * 2 : middle + half;
    }
  axis->low = low;
  axis->high = high;
  if (log)
    {
      init_log (axis, max_ticks);
      return;
    }

  axis->step = MAX (round_step (high - low, max_ticks), least_step);
  if (round_out)
    {
      axis->low = floor (low / axis->step + 1e-9) * axis->step;
      axis->high = ceil (high / axis->step - 1e-9) * axis->step;
    }
  for (double i = ceil (axis->low / axis->step - 1e-9); axis->n_ticks < DYNO_AXIS_MAX_TICKS;
       i += 1.0)
    {
      double value = i * axis->step;
      if (value > axis->high + axis->step * 1e-6)
        break;
      axis->ticks[axis->n_ticks++] = value == 0.0 ? 0.0 : value;
    }
}

void
dyno_axis_init_time (DynoAxis *axis, double low, double high, guint max_ticks)
{
  static const double steps[] = { 1,     2,     5,     10,    15,     30,     60,
                                  120,   300,   600,   900,   1800,   3600,   7200,
                                  10800, 21600, 43200, 86400, 172800, 432000, 864000 };
  double step = steps[G_N_ELEMENTS (steps) - 1];

  dyno_axis_init (axis, low, high, max_ticks, FALSE, FALSE, 0);
  axis->time = TRUE;
  if (axis->step <= 0.5)
    return;
  for (guint i = G_N_ELEMENTS (steps); i-- > 0;)
    if ((axis->high - axis->low) / steps[i] <= max_ticks)
      step = steps[i];
  if ((axis->high - axis->low) / step > DYNO_AXIS_MAX_TICKS)
    return; /* a range of years keeps the ticks of dyno_axis_init */
  axis->step = step;
  axis->n_ticks = 0;
  for (double i = ceil (axis->low / step - 1e-9);
       i * step <= axis->high + step * 1e-6 && axis->n_ticks < DYNO_AXIS_MAX_TICKS; i += 1.0)
    axis->ticks[axis->n_ticks++] = i * step;
}

double
dyno_axis_position (const DynoAxis *axis, double value)
{
  if (axis->log)
    return log (value / axis->low) / log (axis->high / axis->low);
  return (value - axis->low) / (axis->high - axis->low);
}

double
dyno_axis_value (const DynoAxis *axis, double position)
{
  if (axis->log)
    return axis->low * pow (axis->high / axis->low, position);
  return axis->low + position * (axis->high - axis->low);
}

/* "1e15", "1.5e-7": without the sign, zeros and digits that printf adds. */
static char *
format_power (double value, int digits)
{
  g_autofree char *text = g_strdup_printf ("%.*e", CLAMP (digits, 0, 6), value);
  char *e = strchr (text, 'e'), *end = e;
  int exponent;

  if (!e)
    return g_steal_pointer (&text); /* an infinite value, "inf" */
  exponent = atoi (e + 1);
  *e = '\0';
  if (strpbrk (text, ".,"))
    {
      while (end[-1] == '0')
        end--;
      if (!g_ascii_isdigit (end[-1]))
        end--;
      *end = '\0';
    }
  return g_strdup_printf ("%se%d", text, exponent);
}

/* "2,000": with the separator of thousands. */
static char *
format_whole (double value, int digits)
{
  GString *text = g_string_new (NULL);

  g_string_printf (text, "%.*f", digits, value);
  if (fabs (value) >= 1e3 && digits == 0)
    g_string_insert (text, (gssize) text->len - 3, dyno_amount_separator ());
  return g_string_free (text, FALSE);
}

static char *
format_scaled (double value, int digits)
{
  double magnitude = fabs (value);

  if (magnitude >= 1e12)
    return format_power (value, digits + (int) floor (log10 (magnitude)));
  if (magnitude >= 1e9)
    return g_strdup_printf ("%.*fG", MAX (digits + 9, 0), value / 1e9);
  if (magnitude >= 1e6)
    return g_strdup_printf ("%.*fM", MAX (digits + 6, 0), value / 1e6);
  if (magnitude >= 1e4)
    return g_strdup_printf ("%.*fk", MAX (digits + 3, 0), value / 1e3);
  return format_whole (value, MAX (digits, 0));
}

char *
dyno_axis_format_time (double seconds, double step)
{
  guint64 whole = (guint64) (MAX (seconds, 0.0) + (step < 1.0 ? 0.0 : 0.5));
  guint days = (guint) (whole / 86400), hours = (guint) (whole / 3600 % 24),
        minutes = (guint) (whole / 60 % 60);

  if (!isfinite (seconds) || seconds > 1e12)
    return g_strdup ("–");
  if (step < 1.0)
    return g_strdup_printf ("%.*f", (int) -floor (log10 (step) + 1e-9), seconds);
  if (days > 0)
    return g_strdup_printf ("%ud %u:%02u", days, hours, minutes);
  if (hours > 0)
    return g_strdup_printf ("%u:%02u:%02u", hours, minutes, (guint) (whole % 60));
  return g_strdup_printf ("%u:%02u", minutes, (guint) (whole % 60));
}

char *
dyno_axis_format (const DynoAxis *axis, double value)
{
  if (axis->time)
    return dyno_axis_format_time (value, axis->step);
  if (axis->log)
    return value < 1e-3 || value >= 1e5             ? format_power (value, 6)
           : value >= 1e3 && value == round (value) ? format_whole (value, 0)
                                                    : g_strdup_printf ("%.6g", value);
  if (axis->step < 1e-6)
    return value == 0.0 ? g_strdup ("0") : format_power (value, 2);
  return format_scaled (value, (int) -floor (log10 (axis->step) + 1e-9));
}

static char *
format_digits (double value, int digits)
{
  double magnitude = fabs (value);

  if (!isfinite (value))
    return g_strdup ("–");
  if (magnitude != 0.0 && magnitude < 1e-3)
    return format_power (value, 2);
  return format_scaled (value, magnitude == 0.0 ? 0 : digits - 1 - (int) floor (log10 (magnitude)));
}

char *
dyno_axis_format_value (double value)
{
  return format_digits (value, 4);
}

char *
dyno_axis_format_measure (double value, const char *unit)
{
  return format_digits (value, unit && g_str_has_suffix (unit, "/s") ? 3 : 4);
}
