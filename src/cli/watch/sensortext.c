/* SPDX-License-Identifier: MIT */
/* Values of sensors as text. */
#include "sensortext.h"
#include "amount.h"
#include <math.h>
#include <string.h>

char *
dyno_text_sensor (DynoSensor sensor, double value)
{
  const char *unit = dyno_sensor_get_info (sensor)->unit;
  g_autofree char *amount = NULL;

  if (!isfinite (value))
    return g_strdup ("not available");
  if (sensor == DYNO_SENSOR_GPU_THROTTLE)
    return g_strdup (value > 0 ? "yes" : "no");
  if (g_str_has_prefix (unit, "bytes"))
    {
      amount = dyno_amount_bytes ((guint64) CLAMP (value, 0, 1e18), " ");
      return g_strconcat (amount, unit + strlen ("bytes"), NULL);
    }
  return g_strdup_printf ("%.*f%s%s", fabs (value) < 10 && value != floor (value) ? 1 : 0, value,
                          *unit ? " " : "", unit);
}

void
dyno_json_sensors (DynoJson *json, const double *values, guint throttle_reasons)
{
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    dyno_json_double (json, dyno_sensor_get_info ((DynoSensor) i)->name, values[i]);
  dyno_json_begin_array (json, "throttle_reasons");
  for (guint bit = 0; bit < 32; bit++)
    if (throttle_reasons & (1u << bit))
      {
        g_autofree char *word = dyno_throttle_words (1u << bit);
        dyno_json_string (json, NULL, word);
      }
  dyno_json_end_array (json);
}

gboolean
dyno_sensors_find_device (int index, DynoDeviceInfo *device, gboolean *has, GError **error)
{
  g_autoptr (GPtrArray) devices = dyno_device_list (NULL);
  guint n = devices ? devices->len : 0;

  *has = FALSE;
  if (index >= (int) n)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE,
                   "There is no device %d; there are %u, from 0", index, n);
      return FALSE;
    }
  for (guint i = 0; i < n && !*has; i++)
    {
      const DynoDeviceInfo *info = devices->pdata[i];

      if (index < 0 ? info->type != DYNO_DEVICE_TYPE_SOFTWARE : i == (guint) index)
        {
          *device = *info;
          *has = TRUE;
        }
    }
  return TRUE;
}
