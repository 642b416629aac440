/* SPDX-License-Identifier: MIT */
/* Weights as int8. */
#include "int8weights.h"
#include <math.h>

#define MOST 127 /* -128 is not used: symmetric */

gboolean
dyno_int8_applies (const DynoParameter *parameter)
{
  return parameter->n_dims >= 2 && !parameter->is_state;
}

void
dyno_int8_quantise (const float *values, guint64 n_rows, guint64 n_columns, gint8 *out,
                    float *scales)
{
  for (guint64 row = 0; row < n_rows; row++)
    {
      const float *w = values + row * n_columns;
      float largest = 0;
      for (guint64 i = 0; i < n_columns; i++)
        largest = MAX (largest, fabsf (w[i]));
      scales[row] = largest / MOST;
      for (guint64 i = 0; i < n_columns; i++)
        {
          double q = scales[row] > 0 ? rint ((double) w[i] / (double) scales[row]) : 0;
          /* The scale of a row of denormals is rounded coarsely, so that values may exceed the
           * range. */
          out[row * n_columns + i] = (gint8) CLAMP (q, -MOST, MOST);
        }
    }
}

gboolean
dyno_int8_restore (const gint8 *values, const float *scales, guint64 n_rows, guint64 n_columns,
                   float *out)
{
  for (guint64 row = 0; row < n_rows; row++)
    {
      if (!(scales[row] >= 0 && isfinite (scales[row])))
        return FALSE;
      for (guint64 i = row * n_columns; i < (row + 1) * n_columns; i++)
        out[i] = (float) values[i] * scales[row];
    }
  return TRUE;
}
