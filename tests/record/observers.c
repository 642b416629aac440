/* SPDX-License-Identifier: MIT */
/* Observers of a session: all see the events in one order, whichever thread emits; queues that drop
 * steps or block; removal. */
#include "observers.h"
#include "session-private.h"
#include <string.h>

/* --- an observer that records the events ------------------------------------------------------ */

typedef struct {
  GMutex lock;
  GArray *steps;     /* guint64; 0 for any other event */
  GPtrArray *events; /* with a reference */
  gboolean freed;
} Seen;

static void
seen_init (Seen *seen)
{
  memset (seen, 0, sizeof *seen);
  g_mutex_init (&seen->lock);
  seen->steps = g_array_new (FALSE, FALSE, sizeof (guint64));
  seen->events = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_event_unref);
}

static void
seen_clear (Seen *seen)
{
  g_mutex_clear (&seen->lock);
  g_array_unref (seen->steps);
  g_ptr_array_unref (seen->events);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Seen, seen_clear)

static void
see (DynoEvent *event, gpointer data)
{
  Seen *seen = data;
  guint64 step = event->type == DYNO_EVENT_STEP ? event->step.step : 0;

  g_mutex_lock (&seen->lock);
  g_array_append_val (seen->steps, step);
  g_ptr_array_add (seen->events, dyno_event_ref (event));
  g_mutex_unlock (&seen->lock);
  g_thread_yield (); /* lets other threads emit, whose events would be out of order here */
}

static void
free_seen (gpointer data)
{
  ((Seen *) data)->freed = TRUE;
}

static const DynoObserver seer = { .event = see, .free = free_seen };

static void
emit_step (DynoObservers *observers, guint64 step)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_STEP);

  event->step.step = step;
  dyno_observers_emit (observers, event);
}

static void
emit_text (DynoObservers *observers, DynoEventType type)
{
  DynoEvent *event = dyno_event_new (type);

  event->text = g_strdup ("said");
  dyno_observers_emit (observers, event);
}

/* --- order ------------------------------------------------------------------------------------ */

#define EMITTERS 4
#define EACH     200

typedef struct {
  DynoObservers *observers;
  guint64 first;
} Emitter;

static gpointer
emit_many (gpointer data)
{
  const Emitter *emitter = data;

  for (guint i = 0; i < EACH; i++)
    emit_step (emitter->observers, emitter->first + i);
  return NULL;
}

/* Several threads emit at once. */
static void
test_same_events (void)
{
  g_auto (Seen) one = { 0 }, two = { 0 };
  g_autoptr (DynoObservers) observers = dyno_observers_new ();
  GThread *threads[EMITTERS];
  Emitter emitters[EMITTERS];
  guint64 last[EMITTERS] = { 0 };

  seen_init (&one);
  seen_init (&two);
  dyno_observers_add (observers, &seer, &one);
  dyno_observers_add (observers, &seer, &two);
  for (guint i = 0; i < EMITTERS; i++)
    {
      emitters[i] = (Emitter){ observers, 1 + 1000 * (guint64) i };
      threads[i] = g_thread_new ("emit", emit_many, &emitters[i]);
    }
  for (guint i = 0; i < EMITTERS; i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (one.events->len, ==, EMITTERS * EACH);
  g_assert_cmpuint (two.events->len, ==, one.events->len);
  for (guint i = 0; i < one.events->len; i++)
    {
      guint64 step = g_array_index (one.steps, guint64, i);

      g_assert_true (one.events->pdata[i] == two.events->pdata[i]);
      g_assert_cmpuint (step, >, last[step / 1000]); /* each thread's steps are in their order */
      last[step / 1000] = step;
    }
}

typedef struct {
  DynoObservers *observers;
  Seen *other;
  guint other_saw;
} Nested;

static void
emit_inside (DynoEvent *event, gpointer data)
{
  Nested *nested = data;

  if (event->type != DYNO_EVENT_STEP)
    return;
  emit_text (nested->observers, DYNO_EVENT_WARNING);
  nested->other_saw = nested->other->events->len;
}

static const DynoObserver inside = { .event = emit_inside };

static void
test_emit_inside (void)
{
  g_auto (Seen) seen = { 0 };
  g_autoptr (DynoObservers) observers = dyno_observers_new ();
  Nested nested = { observers, &seen, 99 };

  seen_init (&seen);
  dyno_observers_add (observers, &inside, &nested);
  dyno_observers_add (observers, &seer, &seen);
  emit_step (observers, 5);
  g_assert_cmpuint (nested.other_saw, ==, 0); /* the observer has not received the step yet */
  g_assert_cmpuint (seen.events->len, ==, 2);
  g_assert_cmpuint (g_array_index (seen.steps, guint64, 0), ==, 5);
  g_assert_cmpuint (g_array_index (seen.steps, guint64, 1), ==, 0);
}

/* --- queues ----------------------------------------------------------------------------------- */

/* The observer that reads nothing loses steps only; the others lose nothing. */
static void
test_slow_drops_steps (void)
{
  g_auto (Seen) seen = { 0 };
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *slow = dyno_session_add_queue (session, 4, FALSE);
  guint steps = 0, others = 0;
  DynoEvent *event;

  seen_init (&seen);
  dyno_session_add_observer (session, &seer, &seen);
  for (guint64 i = 1; i <= 100; i++)
    {
      emit_step (session->observers, i);
      if (i % 10 == 0)
        emit_text (session->observers, DYNO_EVENT_CHECKPOINT);
    }
  dyno_session_emit (session, dyno_event_new (DYNO_EVENT_STATE));
  g_assert_cmpuint (seen.events->len, ==, 111);
  while ((event = dyno_event_queue_pop (slow, 0)))
    {
      if (event->type == DYNO_EVENT_STEP)
        g_assert_cmpuint (event->step.step, ==, ++steps);
      else
        others++;
      dyno_event_unref (event);
    }
  g_assert_cmpuint (steps, ==, 4);
  g_assert_cmpuint (others, ==, 11);
}

/* A full queue has room again for as many events as were taken, also the second time; events that
 * came while it was full are lost, unless they are never dropped. */
static void
test_full_twice (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *queue = dyno_session_add_queue (session, 3, FALSE);
  guint64 step = 0;

  for (guint round = 0; round < 3; round++)
    {
      guint64 first = step + 1;

      for (guint i = 0; i < 5; i++)
        emit_step (session->observers, ++step);
      emit_text (session->observers, DYNO_EVENT_WARNING);
      for (guint i = 0; i < 4; i++)
        {
          g_autoptr (DynoEvent) event = dyno_event_queue_pop (queue, 0);

          g_assert_nonnull (event);
          g_assert_cmpint (event->type, ==, i < 3 ? DYNO_EVENT_STEP : DYNO_EVENT_WARNING);
          if (i < 3)
            g_assert_cmpuint (event->step.step, ==, first + i);
          if (i != 0)
            continue;
          /* still full, since the warning takes a place, too */
          emit_step (session->observers, ++step);
        }
      g_assert_null (dyno_event_queue_pop (queue, 0));
    }
}

/* Masks that were not taken are replaced by newer masks, and by no other event; with every_event,
 * all stay. */
static void
test_masks_take_the_place_of_older_ones (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *queue = dyno_session_add_queue (session, 2, FALSE),
                 *whole = dyno_session_add_queue (session, 2, TRUE);
  guint64 epoch = 0;

  for (guint round = 0; round < 3; round++)
    {
      static const DynoEventType types[] = { DYNO_EVENT_WARNING, DYNO_EVENT_WARNING,
                                             DYNO_EVENT_MASKS };

      for (guint i = 0; i < 2 + round; i++)
        {
          DynoEvent *event = dyno_event_new (DYNO_EVENT_MASKS);

          event->masks.epoch = ++epoch;
          event->masks.ids = g_malloc (1);
          dyno_session_emit (session, event);
          if (i < 2)
            emit_text (session->observers, DYNO_EVENT_WARNING);
        }
      /* The last masks come after two texts, or between them. */
      for (guint i = 0; i < 3; i++)
        {
          g_autoptr (DynoEvent) event = dyno_event_queue_pop (queue, 0);

          g_assert_nonnull (event);
          g_assert_cmpint (event->type, ==, round > 0 ? types[i] : types[(i + 1) % 3]);
          if (event->type == DYNO_EVENT_MASKS)
            g_assert_cmpuint (event->masks.epoch, ==, epoch);
        }
      g_assert_null (dyno_event_queue_pop (queue, 0));
    }
  for (guint64 expected = 1; expected <= epoch;)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (whole, 0);

      g_assert_nonnull (event);
      if (event->type == DYNO_EVENT_MASKS)
        g_assert_cmpuint (event->masks.epoch, ==, expected++);
    }
}

#define ROOM 4

static gint emitting; /* atomic: the step that is emitted, or waits for room */

/* Takes events only while the queue is full and another one waits for room. */
static gpointer
take_all (gpointer data)
{
  gint n = 0;
  DynoEvent *event;

  while ((event = dyno_event_queue_pop (data, 600 * G_USEC_PER_SEC)))
    {
      n += event->type == DYNO_EVENT_STEP;
      while (g_atomic_int_get (&emitting) < MIN (n + ROOM, 200))
        g_thread_yield ();
      dyno_event_unref (event);
    }
  return GINT_TO_POINTER (n);
}

static void
test_every_event (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *queue = dyno_session_add_queue (session, ROOM, TRUE);
  GThread *thread = g_thread_new ("take", take_all, queue);
  DynoEvent *done = dyno_event_new (DYNO_EVENT_DONE);

  for (gint i = 1; i <= 200; i++)
    {
      g_atomic_int_set (&emitting, i);
      emit_step (session->observers, (guint64) i);
    }
  dyno_session_emit (session, done);
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (thread)), ==, 200);
}

/* After a stop at once, no event is taken any more and no thread waits. */
static void
test_abandoned (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoSession) session = dyno_session_new (job);

  dyno_session_add_queue (session, 1, TRUE);
  dyno_session_stop (session, TRUE);
  dyno_session_add_queue (session, 1, TRUE); /* a queue that is added late as well */
  for (guint64 i = 1; i <= 10; i++)
    emit_step (session->observers, i);
}

/* --- removal ---------------------------------------------------------------------------------- */

static void
test_removed (void)
{
  g_auto (Seen) gone = { 0 }, stays = { 0 };
  g_autoptr (DynoObservers) observers = dyno_observers_new ();

  seen_init (&gone);
  seen_init (&stays);
  dyno_observers_add (observers, &seer, &gone);
  dyno_observers_add (observers, &seer, &stays);
  emit_step (observers, 1);
  dyno_observers_remove (observers, &seer, &gone);
  g_assert_true (gone.freed && !stays.freed);
  emit_step (observers, 2);
  g_assert_cmpuint (gone.events->len, ==, 1);
  g_assert_cmpuint (stays.events->len, ==, 2);
  dyno_observers_remove (observers, &seer, &gone); /* it was not added: nothing happens */
  g_assert_false (stays.freed);
  g_clear_pointer (&observers, dyno_observers_free);
  g_assert_true (stays.freed);
}

typedef struct {
  DynoObservers *observers;
  guint calls;
  gboolean freed;
} Leaver;

static void leave (DynoEvent *event, gpointer data);

static void
free_leaver (gpointer data)
{
  ((Leaver *) data)->freed = TRUE;
}

static const DynoObserver leaver_observer = { .event = leave, .free = free_leaver };

static void
leave (DynoEvent *event, gpointer data)
{
  Leaver *leaver = data;

  leaver->calls++;
  dyno_observers_remove (leaver->observers, &leaver_observer, leaver);
  g_assert_false (leaver->freed); /* not before its call has returned */
}

static void
test_removes_itself (void)
{
  g_autoptr (DynoObservers) observers = dyno_observers_new ();
  Leaver leaver = { .observers = observers };

  dyno_observers_add (observers, &leaver_observer, &leaver);
  emit_step (observers, 1);
  emit_step (observers, 2);
  g_assert_cmpuint (leaver.calls, ==, 1);
  g_assert_true (leaver.freed);
}

typedef struct {
  DynoObservers *observers;
  Seen *next;
} Remover;

static void
remove_next (DynoEvent *event, gpointer data)
{
  Remover *remover = data;

  dyno_observers_remove (remover->observers, &seer, remover->next);
}

static const DynoObserver remover_observer = { .event = remove_next };

/* An observer that another one removes does not even get the event that is being delivered. */
static void
test_removed_by_another (void)
{
  g_auto (Seen) seen = { 0 };
  g_autoptr (DynoObservers) observers = dyno_observers_new ();
  Remover remover = { observers, &seen };

  seen_init (&seen);
  dyno_observers_add (observers, &remover_observer, &remover);
  dyno_observers_add (observers, &seer, &seen);
  emit_step (observers, 1);
  g_assert_cmpuint (seen.events->len, ==, 0);
  g_assert_true (seen.freed);
}

typedef struct {
  GMutex lock;
  GCond changed;
  gboolean inside, abandoned, freed;
} Holder;

static void
hold (DynoEvent *event, gpointer data)
{
  Holder *holder = data;

  g_mutex_lock (&holder->lock);
  holder->inside = TRUE;
  g_cond_broadcast (&holder->changed);
  while (!holder->abandoned)
    g_cond_wait (&holder->changed, &holder->lock);
  g_assert_false (holder->freed);
  holder->inside = FALSE;
  g_mutex_unlock (&holder->lock);
}

static void
let_go (gpointer data)
{
  Holder *holder = data;

  g_mutex_lock (&holder->lock);
  holder->abandoned = TRUE;
  g_cond_broadcast (&holder->changed);
  g_mutex_unlock (&holder->lock);
}

static void
free_holder (gpointer data)
{
  ((Holder *) data)->freed = TRUE;
}

static const DynoObserver holder_observer = { hold, let_go, free_holder };

static gpointer
emit_one (gpointer data)
{
  emit_step (data, 1);
  return NULL;
}

/* A call that waits for its queue is released, and has ended when the removal returns. */
static void
test_removed_in_mid_call (void)
{
  g_autoptr (DynoObservers) observers = dyno_observers_new ();
  Holder holder = { .inside = FALSE };
  GThread *thread;

  g_mutex_init (&holder.lock);
  g_cond_init (&holder.changed);
  dyno_observers_add (observers, &holder_observer, &holder);
  thread = g_thread_new ("emit", emit_one, observers);
  g_mutex_lock (&holder.lock);
  while (!holder.inside)
    g_cond_wait (&holder.changed, &holder.lock);
  g_mutex_unlock (&holder.lock);
  dyno_observers_remove (observers, &holder_observer, &holder);
  g_mutex_lock (&holder.lock);
  g_assert_false (holder.inside);
  g_mutex_unlock (&holder.lock);
  g_thread_join (thread);
  g_assert_true (holder.freed);
  g_mutex_clear (&holder.lock);
  g_cond_clear (&holder.changed);
}

/* An event lives as long as its last reference. */
static void
test_references (void)
{
  DynoEvent *event = dyno_event_new (DYNO_EVENT_WARNING);

  event->text = g_strdup ("text");
  g_assert_true (g_atomic_ref_count_compare (&event->references, 1));
  g_assert_true (dyno_event_ref (event) == event);
  g_assert_true (g_atomic_ref_count_compare (&event->references, 2));
  dyno_event_unref (event);
  g_assert_true (g_atomic_ref_count_compare (&event->references, 1));
  g_assert_cmpstr (event->text, ==, "text");
  dyno_event_unref (event);
  dyno_event_unref (NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/observers/all-see-the-same-events-in-one-order", test_same_events);
  g_test_add_func ("/record/observers/what-one-emits-follows", test_emit_inside);
  g_test_add_func ("/record/observers/slow-queue-drops-steps-alone", test_slow_drops_steps);
  g_test_add_func ("/record/observers/queue-is-full-more-than-once", test_full_twice);
  g_test_add_func ("/record/observers/masks-take-the-place-of-older-ones",
                   test_masks_take_the_place_of_older_ones);
  g_test_add_func ("/record/observers/queue-of-every-event-waits", test_every_event);
  g_test_add_func ("/record/observers/abandoned-queue-holds-nobody-up", test_abandoned);
  g_test_add_func ("/record/observers/removed-sees-nothing-more", test_removed);
  g_test_add_func ("/record/observers/removes-itself", test_removes_itself);
  g_test_add_func ("/record/observers/removed-by-another-sees-nothing", test_removed_by_another);
  g_test_add_func ("/record/observers/removed-in-mid-call", test_removed_in_mid_call);
  g_test_add_func ("/record/events/references", test_references);
  return g_test_run ();
}
