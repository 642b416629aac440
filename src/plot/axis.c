/* SPDX-License-Identifier: MIT */
/* Round ticks for axes, and numbers as people read them. */
#include "axis.h"
#include <math.h>

static double
round_step (double span, guint max_ticks)
{
  double rough = span / MAX (max_ticks, 1);
  double power = pow (10.0, floor (log10 (rough)));
  double unit = rough / power;

  return power * (unit <= 1.0 ? 1.0 : unit <= 2.0 ? 2.0 : unit <= 5.0 ? 5.0 : 10.0);
}

static void
init_log (DynoAxis *axis, guint max_ticks)
{
  static const double minor[] = { 1.0, 2.0, 5.0 };
  int first = (int) floor (log10 (axis->low)), last = (int) ceil (log10 (axis->high));
  guint decades = (guint) MAX (last - first, 1);
  guint n_minor = decades * 3 <= max_ticks ? 3 : 1;
  int stride = (int) MAX (1, dyno_axis_position (axis, axis->high) * decades / MAX (max_ticks, 1) + 0.999);

  for (int d = first; d <= last; d += stride)
    for (guint m = 0; m < n_minor && axis->n_ticks < DYNO_AXIS_MAX_TICKS; m++)
      {
        double value = minor[m] * pow (10.0, d);
        if (value >= axis->low * 0.9999 && value <= axis->high * 1.0001)
          axis->ticks[axis->n_ticks++] = value;
      }
}

void
dyno_axis_init (DynoAxis *axis, double low, double high, guint max_ticks, gboolean log, gboolean round_out)
{
  *axis = (DynoAxis){ .log = log };
  if (!isfinite (low) || !isfinite (high) || (log && low <= 0.0))
    {
      low = log ? 0.1 : 0.0;
      high = 1.0;
    }
  if (high <= low * (1.0 + 1e-9) && high - low <= fabs (low) * 1e-9)
    {
      double middle = low;
      low = log ? middle / 2 : middle - MAX (fabs (middle) * 0.1, 0.5);
      high = log ? middle * 2 : middle + MAX (fabs (middle) * 0.1, 0.5);
    }
  axis->low = low;
  axis->high = high;
  if (log)
    {
      init_log (axis, max_ticks);
      return;
    }

  axis->step = round_step (high - low, max_ticks);
  if (round_out)
    {
      axis->low = floor (low / axis->step + 1e-9) * axis->step;
      axis->high = ceil (high / axis->step - 1e-9) * axis->step;
    }
  for (double i = ceil (axis->low / axis->step - 1e-9); axis->n_ticks < DYNO_AXIS_MAX_TICKS; i += 1.0)
    {
      double value = i * axis->step;
      if (value > axis->high + axis->step * 1e-6)
        break;
      axis->ticks[axis->n_ticks++] = value == 0.0 ? 0.0 : value;
    }
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

static char *
format_scaled (double value, int digits)
{
  double magnitude = fabs (value);

  if (magnitude >= 1e9)
    return g_strdup_printf ("%.*fG", MAX (digits + 9, 0), value / 1e9);
  if (magnitude >= 1e6)
    return g_strdup_printf ("%.*fM", MAX (digits + 6, 0), value / 1e6);
  if (magnitude >= 1e4)
    return g_strdup_printf ("%.*fk", MAX (digits + 3, 0), value / 1e3);
  return g_strdup_printf ("%.*f", MAX (digits, 0), value);
}

char *
dyno_axis_format (const DynoAxis *axis, double value)
{
  if (axis->log)
    return value < 1e-4 || value >= 1e5 ? g_strdup_printf ("%.0e", value) : g_strdup_printf ("%g", value);
  if (axis->step < 1e-6)
    return g_strdup_printf ("%.1e", value);
  return format_scaled (value, (int) -floor (log10 (axis->step) + 1e-9));
}

char *
dyno_axis_format_value (double value)
{
  double magnitude = fabs (value);

  if (!isfinite (value))
    return g_strdup ("–");
  if (magnitude != 0.0 && magnitude < 1e-3)
    return g_strdup_printf ("%.2e", value);
  return format_scaled (value, magnitude == 0.0 ? 0 : 3 - (int) floor (log10 (magnitude)));
}
