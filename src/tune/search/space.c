/* SPDX-License-Identifier: MIT */
/* The values that may be tried, from the table's DynoTunable and the machine. */
#include "space.h"
#include <math.h>
#include <string.h>

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

gboolean
dyno_space_same (const DynoSettings *a, const DynoSettings *b)
{
  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    if (dyno_settings_get_number (a, row->key) != dyno_settings_get_number (b, row->key))
      return FALSE;
  return TRUE;
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

/* --- the space of this machine ---------------------------------------------------------------- */

/* FALSE: the setting keeps its value.  *most: the largest value that the machine supports. */
static gboolean
is_searched (const DynoSearchSpace *space, const char *key, double *most)
{
  *most = INFINITY;
  if (strcmp (key, "batch_size") == 0)
    *most = (double) space->most_batch;
  else if (strcmp (key, "workers") == 0)
    *most = (double) space->most_workers;
  else if (strcmp (key, "amp") == 0)
    *most = space->fp16;
  else if (strcmp (key, "cache") == 0)
    *most = space->can_cache;
  if (strcmp (key, "workers") == 0 || strcmp (key, "cache") == 0)
    return space->loader;
  if (strcmp (key, "prefetch") == 0)
    return space->loader && space->vary_prefetch;
  if (strcmp (key, "checkpointing") == 0)
    return space->vary_checkpointing;
  if (strcmp (key, "accumulate") == 0)
    return space->vary_accumulate;
  return TRUE;
}

static int
compare_doubles (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static void
add_value (GArray *values, double value, double most)
{
  if (value < 0 || value > most)
    return;
  for (guint i = 0; i < values->len; i++)
    if (g_array_index (values, double, i) == value)
      return;
  g_array_append_val (values, value);
}

GArray *
dyno_space_values (const DynoSearchSpace *space, const DynoSettingInfo *info,
                   const DynoSettings *start)
{
  GArray *values = g_array_new (FALSE, FALSE, sizeof (double));
  double most, own = dyno_settings_get_number (start, info->key), value = -1;
  gboolean is_batch = strcmp (info->key, "batch_size") == 0,
           fine = is_batch || strcmp (info->key, "workers") == 0;

  if (!is_searched (space, info->key, &most))
    {
      g_array_append_val (values, own);
      return values;
    }
  while (dyno_space_step (info, &value))
    {
      add_value (values, value, most);
      if (fine && value >= 2 && value * 1.5 <= info->tunable.maximum)
        add_value (values, value * 1.5, most);
    }
  add_value (values, own, most);
  if (isfinite (most) && info->tunable.steps == DYNO_TUNABLE_DOUBLED
      && most < info->tunable.maximum)
    add_value (values, is_batch && most > 8 ? floor (most / 8) * 8 : most, most);
  /* Smaller values, for a memory that holds less than the smallest batch worth trying. */
  for (double small = 1; is_batch && most < 2 * info->tunable.minimum && small <= most; small *= 2)
    add_value (values, small, most);
  if (values->len == 0)
    g_array_append_val (values, own);
  g_array_sort (values, compare_doubles);
  return values;
}

GArray *
dyno_space_list (const DynoSearchSpace *space, const DynoSettings *start)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (DynoSettings));

  g_array_append_val (list, *start);
  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    {
      g_autoptr (GArray) values = dyno_space_values (space, row, start);
      GArray *next =
          g_array_sized_new (FALSE, FALSE, sizeof (DynoSettings), list->len * values->len);

      for (guint i = 0; i < list->len; i++)
        for (guint v = 0; v < values->len; v++)
          {
            DynoSettings point = g_array_index (list, DynoSettings, i);

            if (dyno_settings_set_number (&point, row->key, g_array_index (values, double, v),
                                          NULL))
              g_array_append_val (next, point);
          }
      g_array_unref (list);
      list = next;
    }
  return list;
}
