/* SPDX-License-Identifier: MIT */
/* Cards and devices: which card a device is, how much of its memory a program can use, and which
 * features it supports so badly that no preset turns them on. */
#include "preset.h"
#include "intl.h"
#include <string.h>

#define MIB     ((guint64) 1 << 20)
#define RESERVE (512 * MIB)

/* A driver keeps a part of the total that it reports for itself.  The capacity in PyTorch's
 * messages, as users report them, is below nvidia-smi's total by 225 to 450 MiB on cards of 8 to 24
 * GB (9.78 of 10 GiB on an RTX 3080, 11.75 of 12 on a 3060, 23.61 of 23.99 on a 4090, 14.56 of 15
 * on a T4), and by 512 MiB on an A100 (39.50 of 40).  512 MiB, or 2 % where that is more, covers
 * all of these cards; the surplus is for a desktop's screen and the program's own context.  On a
 * small card the part is an eighth at most.  In whole MiB. */
guint64
dyno_preset_estimate_usable (guint64 total_bytes)
{
  guint64 usable = total_bytes - MIN (MAX (RESERVE, total_bytes / 50), total_bytes / 8);

  return usable > MIB ? usable / MIB * MIB : usable;
}

/* TRUE where fragment is in name as whole words and no other model of the family is meant ("RTX
 * 3080 Ti"). */
static gboolean
name_matches (const char *name, const char *fragment)
{
  static const char *const others[] = { "ti", "super", "laptop", "max-q", "mobile", "d" };
  g_autofree char *lower = g_ascii_strdown (name, -1), *wanted = g_ascii_strdown (fragment, -1);
  const char *found = *wanted ? strstr (lower, wanted) : NULL;
  const char *rest;

  if (!found || (found > lower && g_ascii_isalnum (found[-1])))
    return FALSE;
  rest = found + strlen (wanted);
  if (g_ascii_isalnum (*rest))
    return FALSE;
  while (*rest == ' ')
    rest++;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      gsize length = strlen (others[i]);
      if (strncmp (rest, others[i], length) == 0 && !g_ascii_isalnum (rest[length]))
        return FALSE;
    }
  return TRUE;
}

gboolean
dyno_preset_is_device (const DynoPreset *preset, const DynoDeviceInfo *device)
{
  double ratio = (double) device->vram_bytes / (double) MAX (1, preset->total_bytes);

  /* Some cards are sold with other memory under the same name: they are not the preset's card. */
  if (preset->this_gpu || ratio < 0.85 || ratio > 1.15)
    return preset->this_gpu;
  for (guint k = 0; preset->match[k]; k++)
    if (name_matches (device->name, preset->match[k]))
      return TRUE;
  return FALSE;
}

/* Matrix units are not required: where a driver offers fp16 arithmetic without them it is packed,
 * twice as fast as fp32, and the batches of presets rely on half the memory. */
const char *
dyno_preset_refuse_amp (const DynoDeviceInfo *device)
{
  if (!device)
    return NULL;
  if (device->type == DYNO_DEVICE_TYPE_SOFTWARE)
    return _ ("AMP is left off: on a CPU fp16 takes many times as long as fp32");
  return device->fp16 ? NULL : _ ("AMP is left off: the device has no fp16 arithmetic");
}

const char *
dyno_preset_warn_of_amp (const DynoDeviceInfo *device)
{
  if (!dyno_preset_refuse_amp (device))
    return NULL;
  return device->fp16 ? _ ("AMP is on, and on this device fp16 takes many times as long as fp32")
                      : _ ("AMP is on, and this device has no fp16 arithmetic");
}
