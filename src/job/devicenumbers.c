/* SPDX-License-Identifier: MIT */
#include "devicenumbers.h"
#include <string.h>

static GArray *
list_alike (const GPtrArray *devices)
{
  const DynoDeviceInfo *best = devices->pdata[0];
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < devices->len; i++)
    if (((const DynoDeviceInfo *) devices->pdata[i])->type == best->type)
      g_array_append_val (list, i);
  return list;
}

GArray *
dyno_device_numbers_parse (const char *text, const GPtrArray *devices)
{
  g_autoptr (GArray) numbers = NULL;
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  if (devices->len == 0)
    return NULL;
  if (strcmp (text, "all") == 0)
    return list_alike (devices);
  numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; words[i]; i++)
    {
      guint64 value;
      guint number;

      if (!g_ascii_string_to_unsigned (g_strstrip (words[i]), 10, 0, devices->len - 1, &value,
                                       NULL))
        return NULL;
      number = (guint) value;
      g_array_append_val (numbers, number);
    }
  return numbers->len > 0 ? g_steal_pointer (&numbers) : NULL;
}

char *
dyno_device_numbers_format (const GArray *numbers)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < numbers->len; i++)
    g_string_append_printf (text, "%s%u", i > 0 ? "," : "", g_array_index (numbers, guint, i));
  return g_string_free (text, FALSE);
}

gboolean
dyno_device_numbers_have (const GArray *numbers, guint number)
{
  for (guint i = 0; i < numbers->len; i++)
    if (g_array_index (numbers, guint, i) == number)
      return TRUE;
  return FALSE;
}
