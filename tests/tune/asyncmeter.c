/* SPDX-License-Identifier: MIT */
/* Measurements in a thread of their own, with a meter that does not return before it is
 * released. */
#include "asyncmeter.h"
#include <math.h>

typedef struct {
  DynoMeter meter;
  gboolean waits; /* until it is released, even if it is cancelled */
} Slow;

static GMutex lock;
static GCond changed;
static gboolean inside, let_go, freed; /* protected by the lock */
static int n_reported;                 /* atomic */

static void
set (gboolean *flag)
{
  g_mutex_lock (&lock);
  *flag = TRUE;
  g_cond_broadcast (&changed);
  g_mutex_unlock (&lock);
}

static void
wait_until (const gboolean *flag)
{
  g_mutex_lock (&lock);
  while (!*flag)
    g_cond_wait (&changed, &lock);
  g_mutex_unlock (&lock);
}

static gboolean
is_set (const gboolean *flag)
{
  gboolean value;

  g_mutex_lock (&lock);
  value = *flag;
  g_mutex_unlock (&lock);
  return value;
}

static gboolean
slow_gpu (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
          GCancellable *cancellable, DynoMeasurement *m, GError **error)
{
  dyno_measurement_init (m);
  meter->preparing ("compile", 1, 2, meter->preparing_user);
  set (&inside);
  if (((Slow *) meter)->waits)
    wait_until (&let_go);
  meter->preparing ("compile", 2, 2, meter->preparing_user);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  m->rate.median = (double) settings->batch_size;
  m->steps = (guint64) seconds;
  m->fill_s = meter->fill_s;
  m->n_unreadable = meter->steps_only;
  return TRUE;
}

static gboolean
slow_numerics (DynoMeter *meter, const DynoSettings *settings, gint64 deadline_us,
               GCancellable *cancellable, DynoNumerics *numerics, GError **error)
{
  *numerics = (DynoNumerics){ .n_steps = 3, .text = g_strdup ("as good") };
  return TRUE;
}

static void
slow_free (DynoMeter *meter)
{
  g_free (meter);
  set (&freed);
}

static const DynoMeterClass slow_class = { .gpu = slow_gpu,
                                           .free = slow_free,
                                           .numerics = slow_numerics };

static void
on_report (const char *what, guint done, guint total, gpointer user)
{
  g_atomic_int_inc (&n_reported);
}

static DynoMeter *
make_meter (gboolean waits, double grace_s)
{
  Slow *slow = g_new0 (Slow, 1);
  DynoMeter *meter;

  slow->meter.class = &slow_class;
  slow->meter.n_cores = 7;
  slow->waits = waits;
  inside = let_go = freed = FALSE;
  g_atomic_int_set (&n_reported, 0);
  meter = dyno_async_meter_new (&slow->meter, grace_s);
  meter->preparing = on_report;
  return meter;
}

static void
test_measures_as_the_other (void)
{
  DynoMeter *meter = make_meter (FALSE, 0);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  DynoSettings settings;
  DynoMeasurement m;
  DynoNumerics numerics;

  dyno_settings_init (&settings);
  settings.batch_size = 24;
  meter->fill_s = 2.5;
  g_assert_cmpuint (meter->n_cores, ==, 7);
  g_assert_true (meter->class->gpu (meter, &settings, 5, G_MAXINT64, cancellable, &m, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (m.rate.median, ==, 24);
  g_assert_cmpuint (m.steps, ==, 5);
  g_assert_cmpfloat (m.fill_s, ==, 2.5);
  g_assert_cmpint (g_atomic_int_get (&n_reported), ==, 2);
  g_assert_cmpuint (m.n_unreadable, ==, FALSE);
  for (int steps_only = TRUE; steps_only >= FALSE; steps_only--)
    {
      meter->steps_only = steps_only;
      g_assert_true (meter->class->gpu (meter, &settings, 5, G_MAXINT64, cancellable, &m, &error));
      g_assert_cmpuint (m.n_unreadable, ==, (guint64) steps_only);
    }
  g_assert_true (
      meter->class->numerics (meter, &settings, G_MAXINT64, cancellable, &numerics, &error));
  g_assert_cmpstr (numerics.text, ==, "as good");
  dyno_numerics_clear (&numerics);
  g_assert_null (meter->class->learn); /* the inner meter has no such function either */
  g_assert_cmpuint (dyno_async_meter_count_left (), ==, 0);
  dyno_meter_free (meter);
  g_assert_true (is_set (&freed));
}

/* Each measurement has a thread of its own, which is joined: otherwise a thread could have the last
 * reference to the inner meter, and free it while the process exits. */
static void
test_one_after_the_other (void)
{
  DynoSettings settings;
  DynoMeasurement m;

  dyno_settings_init (&settings);
  for (guint i = 0; i < 200; i++)
    {
      DynoMeter *meter = make_meter (FALSE, 0);

      for (guint k = 0; k < 3; k++)
        {
          g_autoptr (GError) error = NULL;

          g_assert_true (meter->class->gpu (meter, &settings, 1, G_MAXINT64, NULL, &m, &error));
        }
      dyno_meter_free (meter);
      g_assert_true (is_set (&freed));
    }
}

typedef struct {
  DynoMeter *meter;
  GCancellable *cancellable;
} Search;

static gpointer
search (gpointer data)
{
  Search *s = data;
  g_autoptr (GError) error = NULL, again = NULL;
  DynoSettings settings;
  DynoMeasurement m;

  dyno_settings_init (&settings);
  g_assert_false (
      s->meter->class->gpu (s->meter, &settings, 1, G_MAXINT64, s->cancellable, &m, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (isnan (m.rate.median));
  g_assert_cmpuint (dyno_async_meter_count_left (), ==, 1);
  /* The inner meter is still in use. */
  g_assert_false (
      s->meter->class->gpu (s->meter, &settings, 1, G_MAXINT64, s->cancellable, &m, &again));
  g_assert_error (again, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  dyno_meter_free (s->meter);
  return NULL;
}

/* A measurement that does not end is abandoned; it reports nothing any more, and the last reference
 * frees the meter. */
static void
test_left_behind (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Search s = { make_meter (TRUE, 0), cancellable };
  GThread *thread = g_thread_new ("search", search, &s);

  wait_until (&inside);
  g_cancellable_cancel (cancellable);
  g_thread_join (thread);
  g_assert_false (is_set (&freed));
  g_assert_cmpint (g_atomic_int_get (&n_reported), ==, 1);
  set (&let_go);
  wait_until (&freed);
  g_assert_cmpint (g_atomic_int_get (&n_reported), ==, 1);
  while (dyno_async_meter_count_left () > 0)
    g_thread_yield ();
}

static gpointer
search_in_time (gpointer data)
{
  Search *s = data;
  g_autoptr (GError) error = NULL, again = NULL;
  DynoSettings settings;
  DynoMeasurement m;

  dyno_settings_init (&settings);
  g_assert_false (
      s->meter->class->gpu (s->meter, &settings, 1, G_MAXINT64, s->cancellable, &m, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (dyno_async_meter_count_left (), ==, 0);
  g_assert_true (s->meter->class->gpu (s->meter, &settings, 1, G_MAXINT64, NULL, &m, &again));
  g_assert_no_error (again);
  dyno_meter_free (s->meter);
  g_assert_true (is_set (&freed));
  return NULL;
}

/* A measurement that ends within the grace period reports its own end, and is not abandoned. */
static void
test_ends_in_time (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Search s = { make_meter (TRUE, 3600), cancellable };
  GThread *thread = g_thread_new ("search", search_in_time, &s);

  wait_until (&inside);
  g_cancellable_cancel (cancellable);
  set (&let_go);
  g_thread_join (thread);
  g_assert_cmpint (g_atomic_int_get (&n_reported), ==, 4);
}

/* A measurement that goes on past the end is not waited for, even if it is not cancelled. */
static void
test_left_at_the_end (void)
{
  DynoMeter *meter = make_meter (TRUE, 3600);
  DynoSettings settings;
  DynoMeasurement m;

  dyno_settings_init (&settings);
  dyno_async_meter_set_end (meter, 1); /* in the past */
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (meter->class->gpu (meter, &settings, 1, G_MAXINT64, NULL, &m, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
      g_assert_true (isnan (m.rate.median));
      g_assert_cmpuint (dyno_async_meter_count_left (), ==, 1);
    }
  dyno_meter_free (meter);
  g_assert_false (is_set (&freed));
  set (&let_go);
  wait_until (&freed);
  while (dyno_async_meter_count_left () > 0)
    g_thread_yield ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/asyncmeter/measures-as-the-other", test_measures_as_the_other);
  g_test_add_func ("/tune/asyncmeter/one-after-the-other", test_one_after_the_other);
  g_test_add_func ("/tune/asyncmeter/ends-in-time", test_ends_in_time);
  g_test_add_func ("/tune/asyncmeter/left-behind", test_left_behind);
  g_test_add_func ("/tune/asyncmeter/left-at-the-end", test_left_at_the_end);
  return g_test_run ();
}
