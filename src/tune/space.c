/* SPDX-License-Identifier: MIT */
/* What may be tried, from the table's DynoTunable alone. */
#include "space.h"

const DynoSettingInfo *
dyno_space_next (const DynoSettingInfo *before)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (const DynoSettingInfo *row = before ? before + 1 : table; row < table + n; row++)
    if (row->tunable.steps != DYNO_TUNABLE_NO)
      return row;
  return NULL;
}

gboolean
dyno_space_step (const DynoSettingInfo *info, double *value)
{
  const DynoTunable *t = &info->tunable;
  double next = t->minimum;

  while (next <= *value)
    next = t->steps == DYNO_TUNABLE_DOUBLED && next > 0 ? next * 2 : next + 1;
  if (next > t->maximum)
    return FALSE;
  *value = next;
  return TRUE;
}

void
dyno_space_set_baseline (DynoSettings *settings)
{
  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    dyno_settings_set_number (settings, row->key, row->tunable.baseline, NULL);
}

int
dyno_space_compare (const DynoSettings *a, const DynoSettings *b)
{
  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    {
      double x = dyno_settings_get_number (a, row->key), y = dyno_settings_get_number (b, row->key);

      if (row->tunable.steps == DYNO_TUNABLE_DOUBLED && x != y)
        return x < y ? -1 : 1;
    }
  return 0;
}
