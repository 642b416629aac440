/* SPDX-License-Identifier: MIT */
#include "useddevices.h"
#include "devicenumbers.h"

/* All used ones: the chosen one, then the others by their numbers. */
static GArray *
list_used (const DynoUsedDevices *used)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GArray) named =
      used->list && used->all ? dyno_device_numbers_parse (used->list, used->all) : NULL;
  g_array_append_val (numbers, used->chosen);
  for (guint i = 0; named && i < used->all->len; i++)
    if (i != used->chosen && dyno_device_numbers_have (named, i))
      g_array_append_val (numbers, i);
  return numbers;
}

static const DynoDeviceInfo *
get_info (const DynoUsedDevices *used, guint index)
{
  return used->all && index < used->all->len ? used->all->pdata[index] : NULL;
}

guint
dyno_used_devices_count (const DynoUsedDevices *used)
{
  g_autoptr (GArray) numbers = list_used (used);
  return numbers->len;
}

gboolean
dyno_used_devices_have (const DynoUsedDevices *used, guint index)
{
  g_autoptr (GArray) numbers = list_used (used);
  return dyno_device_numbers_have (numbers, index);
}

gboolean
dyno_used_devices_suit (const DynoUsedDevices *used, guint index)
{
  const DynoDeviceInfo *chosen = get_info (used, used->chosen), *other = get_info (used, index);
  return chosen && other && (other->type == chosen->type || dyno_used_devices_have (used, index));
}

char *
dyno_used_devices_with (const DynoUsedDevices *used, guint index, gboolean use)
{
  g_autoptr (GArray) before = list_used (used),
                     numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < before->len; i++)
    {
      guint number = g_array_index (before, guint, i);
      if (use || number == used->chosen || number != index)
        g_array_append_val (numbers, number);
    }
  if (use && !dyno_device_numbers_have (numbers, index))
    g_array_append_val (numbers, index);
  return numbers->len > 1 ? dyno_device_numbers_format (numbers) : NULL;
}

const DynoDeviceInfo *
dyno_used_devices_find_smallest (const DynoUsedDevices *used)
{
  g_autoptr (GArray) numbers = list_used (used);
  const DynoDeviceInfo *smallest = NULL;
  for (guint i = 0; i < numbers->len; i++)
    {
      const DynoDeviceInfo *info = get_info (used, g_array_index (numbers, guint, i));
      if (info && (!smallest || info->vram_bytes < smallest->vram_bytes))
        smallest = info;
    }
  return smallest;
}

gboolean
dyno_used_devices_have_fp16 (const DynoUsedDevices *used)
{
  g_autoptr (GArray) numbers = list_used (used);
  for (guint i = 0; i < numbers->len; i++)
    {
      const DynoDeviceInfo *info = get_info (used, g_array_index (numbers, guint, i));
      if (info && !info->fp16)
        return FALSE;
    }
  return TRUE;
}
