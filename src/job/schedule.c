/* SPDX-License-Identifier: MIT */
/* The learning rate at a place of a run: it follows from the place and the settings only, so that a
 * resumed run continues exactly. */
#include "schedule.h"
#include "intl.h"
#include <inttypes.h>
#include <math.h>

/* The learning rate at step `at` of a schedule that spans total steps, with warm_up steps of
 * warm-up. */
static double
rate_in (const DynoSettings *settings, double at, double warm_up, double total)
{
  if (at < warm_up)
    return settings->lr * (at + 1) / (warm_up + 1);
  switch ((DynoSchedule) settings->schedule)
    {
    case DYNO_SCHEDULE_COSINE:
      {
        double length = MAX (total - warm_up, 1.0), t = MIN ((at - warm_up) / length, 1.0);
        return settings->lr * 0.5 * (1.0 + cos (G_PI * t));
      }
    case DYNO_SCHEDULE_STEP:
      return settings->lr * pow (0.1, MIN (floor (3.0 * at / total), 2.0));
    case DYNO_SCHEDULE_CONSTANT:
    default:
      return settings->lr;
    }
}

double
dyno_schedule_lr (const DynoSettings *settings, guint64 place, guint64 steps_per_epoch,
                  guint64 total_steps)
{
  double warm_up = floor (settings->warmup_epochs * (double) steps_per_epoch), total;

  if (settings->schedule_epochs > 0)
    total_steps = (guint64) settings->schedule_epochs * steps_per_epoch;
  total = MAX ((double) total_steps, 1.0);
  return rate_in (settings, MIN ((double) place, total - 1), warm_up, total);
}

double
dyno_lr_sweep_get (const DynoLrSweep *sweep, guint64 step)
{
  if (step + 1 >= sweep->steps)
    return sweep->to;
  return sweep->from * pow (sweep->to / sweep->from, (double) step / (sweep->steps - 1));
}

guint64
dyno_schedule_move (guint64 epoch_step, const DynoScheduleSpan *was, const DynoScheduleSpan *now)
{
  if (was->steps_per_epoch > 0 && epoch_step >= was->steps_per_epoch)
    return now->steps_per_epoch;
  if (was->step_samples == now->step_samples)
    return MIN (epoch_step, now->steps_per_epoch);
  return MIN (epoch_step * was->step_samples / now->step_samples, now->steps_per_epoch);
}

char *
dyno_schedule_describe_change (const DynoSettings *was, double was_lr, const DynoSettings *now,
                               double now_lr)
{
  gboolean longer = now->epochs > was->epochs && now->schedule_epochs == 0;
  g_autoptr (GString) text = NULL;

  if (was->epochs == now->epochs && was->schedule_epochs == now->schedule_epochs)
    return NULL;
  if (fabs (now_lr - was_lr) <= DYNO_SCHEDULE_JUMP * was_lr)
    return NULL;
  text = g_string_new (NULL);
  g_string_printf (
      text,
      ngettext ("The learning rate continues at %.3g after %.3g: its schedule now spans %" PRId64
                " epoch in place of %" PRId64,
                "The learning rate continues at %.3g after %.3g: its schedule now spans %" PRId64
                " epochs in place of %" PRId64,
                (gulong) (now->schedule_epochs > 0 ? now->schedule_epochs : now->epochs)),
      now_lr, was_lr, now->schedule_epochs > 0 ? now->schedule_epochs : now->epochs,
      was->schedule_epochs > 0 ? was->schedule_epochs : was->epochs);
  if (longer)
    g_string_append_printf (text, _ ("; schedule_epochs=%" PRId64 " keeps the rate where it was"),
                            was->schedule_epochs > 0 ? was->schedule_epochs : was->epochs);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
