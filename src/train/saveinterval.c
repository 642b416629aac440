/* SPDX-License-Identifier: MIT */
#include "saveinterval.h"

void
dyno_save_interval_begin (DynoSaveInterval *interval, guint64 step, gint64 now_us)
{
  *interval = (DynoSaveInterval){ .step = step, .us = now_us };
}

gboolean
dyno_save_interval_check (DynoSaveInterval *interval, double minutes, guint64 step, gint64 now_us)
{
  if (minutes > 0 && step > interval->step && (double) (now_us - interval->us) >= minutes * 60e6)
    interval->due = TRUE;
  return interval->due;
}

void
dyno_save_interval_take (DynoSaveInterval *interval, guint64 step, gint64 now_us)
{
  dyno_save_interval_begin (interval, step, now_us);
}

void
dyno_save_interval_keep (DynoSaveInterval *interval, guint64 step)
{
  interval->step = step;
}
