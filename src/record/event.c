/* SPDX-License-Identifier: MIT */
/* Events: made, shared, freed with the last reference. */
#include "event.h"

DynoEvent *
dyno_event_new (DynoEventType type)
{
  DynoEvent *event = g_new0 (DynoEvent, 1);

  g_atomic_ref_count_init (&event->references);
  event->type = type;
  event->time_us = g_get_monotonic_time ();
  return event;
}

DynoEvent *
dyno_event_ref (DynoEvent *event)
{
  g_atomic_ref_count_inc (&event->references);
  return event;
}

void
dyno_event_unref (DynoEvent *event)
{
  if (!event || !g_atomic_ref_count_dec (&event->references))
    return;
  switch (event->type)
    {
    case DYNO_EVENT_PLAN:
      g_free (event->plan.device);
      g_free (event->plan.driver);
      break;
    case DYNO_EVENT_PROGRESS:
      g_free (event->progress.what);
      break;
    case DYNO_EVENT_CHECKPOINT:
    case DYNO_EVENT_WARNING:
      g_free (event->text);
      break;
    case DYNO_EVENT_MASKS:
      dyno_dataset_unref (event->masks.dataset);
      g_free (event->masks.ids);
      break;
    case DYNO_EVENT_RANKS:
      g_free (event->ranks.reports);
      break;
    case DYNO_EVENT_SENSORS:
      g_free (event->sensors);
      break;
    case DYNO_EVENT_ERROR:
      g_clear_error (&event->error);
      break;
    case DYNO_EVENT_DONE:
      g_free (event->done.out_dir);
      g_strfreev (event->done.unreadable);
      g_free (event->done.ranks);
      break;
    case DYNO_EVENT_STATE:
    case DYNO_EVENT_METRICS:
    case DYNO_EVENT_FACTS:
    case DYNO_EVENT_STEP:
    case DYNO_EVENT_EPOCH:
    case DYNO_EVENT_RELEASED:
    default:
      break;
    }
  g_free (event);
}
