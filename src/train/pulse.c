/* SPDX-License-Identifier: MIT */
/* Invariants: reading the clock counts as a heartbeat, so that a gap is known before the thread has
 * its turn; only the last gap is stored with its limits, for times before it that are converted
 * after it. */
#include "pulse.h"

#define BEAT_US (G_USEC_PER_SEC / 4)
#define GAP_US  (2 * G_USEC_PER_SEC) /* shorter gaps are usual on a busy machine */

struct _DynoPulse {
  gint64 (*clock) (void);
  GMutex mutex; /* guards what follows */
  GCond stopped;
  gboolean stop;
  gint64 last_us;
  gint64 gap_begin_us, gap_end_us; /* of the last gap */
  gint64 gone_us;                  /* sum of all gaps */
  GThread *thread;                 /* NULL: there is none */
};

/* Mutex held. */
static void
beat (DynoPulse *pulse, gint64 now)
{
  if (now - pulse->last_us > GAP_US)
    {
      pulse->gap_begin_us = pulse->last_us + BEAT_US;
      pulse->gap_end_us = now;
      pulse->gone_us += pulse->gap_end_us - pulse->gap_begin_us;
    }
  pulse->last_us = MAX (pulse->last_us, now);
}

static gpointer
pulse_main (gpointer data)
{
  DynoPulse *pulse = data;

  g_mutex_lock (&pulse->mutex);
  while (!pulse->stop)
    {
      beat (pulse, pulse->clock ());
      g_cond_wait_until (&pulse->stopped, &pulse->mutex, g_get_monotonic_time () + BEAT_US);
    }
  g_mutex_unlock (&pulse->mutex);
  return NULL;
}

DynoPulse *
dyno_pulse_new (gint64 (*clock) (void))
{
  DynoPulse *pulse = g_new0 (DynoPulse, 1);

  g_mutex_init (&pulse->mutex);
  g_cond_init (&pulse->stopped);
  pulse->clock = clock;
  pulse->last_us = clock ();
  pulse->thread = g_thread_try_new ("dyno-pulse", pulse_main, pulse, NULL);
  return pulse;
}

void
dyno_pulse_free (DynoPulse *pulse)
{
  if (!pulse)
    return;
  g_mutex_lock (&pulse->mutex);
  pulse->stop = TRUE;
  g_cond_signal (&pulse->stopped);
  g_mutex_unlock (&pulse->mutex);
  if (pulse->thread)
    g_thread_join (pulse->thread);
  g_mutex_clear (&pulse->mutex);
  g_cond_clear (&pulse->stopped);
  g_free (pulse);
}

gint64
dyno_pulse_awake (DynoPulse *pulse, gint64 t)
{
  gint64 awake;

  if (!pulse || !pulse->thread)
    return t;
  g_mutex_lock (&pulse->mutex);
  beat (pulse, t);
  if (t >= pulse->gap_end_us)
    awake = t - pulse->gone_us;
  else
    awake =
        MIN (t, pulse->gap_begin_us) - (pulse->gone_us - (pulse->gap_end_us - pulse->gap_begin_us));
  g_mutex_unlock (&pulse->mutex);
  return awake;
}
