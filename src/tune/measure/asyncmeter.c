/* SPDX-License-Identifier: MIT */
/* A call holds copies of all data that it reads and writes, and a reference to the Shared that
 * holds inner.  The search's thread frees inner, or, where a measurement was abandoned, the thread
 * of that measurement when it ends: a thread that is not joined must not destroy a device while the
 * process exits.  inner is used by one measurement at a time, so that no measurement begins after
 * one was abandoned. */
#include "asyncmeter.h"
#include "intl.h"

/* The part that both threads reference. */
typedef struct {
  gatomicrefcount references;
  DynoMeter *inner;
} Shared;

typedef struct {
  DynoMeter meter;
  DynoMeterClass class; /* without the functions that inner lacks */
  Shared *shared;
  double grace_s;
  gint64 end_us;
  gboolean left, late; /* a measurement was abandoned; because its time was over */
} AsyncMeter;

typedef enum { LOADER, GPU, TRIAL, NUMERICS, LEARN } Kind;

typedef struct {
  gatomicrefcount references;
  Shared *shared;
  Kind kind;
  DynoSettings settings;
  double seconds;
  gint64 deadline_us;
  GCancellable *cancellable; /* or NULL */
  DynoLearningGoal goal;
  DynoMeasurement measurement;
  DynoNumerics numerics;
  DynoLearning learning;
  gboolean good;
  GError *error;

  /* protects all below; also held during a report, so that no report runs once the call is
   * abandoned */
  GMutex lock;
  GCond ended_or_cancelled;
  gboolean ended, cancelled, left;
  DynoMeterPreparing preparing;
  gpointer preparing_user;
} Call;

static int n_left; /* atomic */

guint
dyno_async_meter_count_left (void)
{
  return (guint) g_atomic_int_get (&n_left);
}

static void
shared_unref (Shared *shared)
{
  if (!g_atomic_ref_count_dec (&shared->references))
    return;
  dyno_meter_free (shared->inner);
  g_free (shared);
}

static void
call_unref (Call *call)
{
  if (!g_atomic_ref_count_dec (&call->references))
    return;
  shared_unref (call->shared);
  g_clear_object (&call->cancellable);
  g_clear_error (&call->error);
  dyno_numerics_clear (&call->numerics);
  g_mutex_clear (&call->lock);
  g_cond_clear (&call->ended_or_cancelled);
  g_free (call);
}

static void
tell (const char *what, guint done, guint total, gpointer data)
{
  Call *call = data;

  g_mutex_lock (&call->lock);
  if (!call->left && call->preparing)
    call->preparing (what, done, total, call->preparing_user);
  g_mutex_unlock (&call->lock);
}

static gboolean
measure (Call *c)
{
  DynoMeter *inner = c->shared->inner;
  const DynoMeterClass *class = inner->class;

  switch (c->kind)
    {
    case LOADER:
      return class->loader (inner, &c->settings, c->seconds, c->deadline_us, c->cancellable,
                            &c->measurement, &c->error);
    case GPU:
      return class->gpu (inner, &c->settings, c->seconds, c->deadline_us, c->cancellable,
                         &c->measurement, &c->error);
    case TRIAL:
      return class->trial (inner, &c->settings, c->seconds, c->deadline_us, c->cancellable,
                           &c->measurement, &c->error);
    case NUMERICS:
      return class->numerics (inner, &c->settings, c->deadline_us, c->cancellable, &c->numerics,
                              &c->error);
    case LEARN:
      return class->learn (inner, &c->settings, &c->goal, c->deadline_us, c->cancellable,
                           &c->learning, &c->error);
    default:
      g_assert_not_reached ();
    }
}

static gpointer
run (gpointer data)
{
  Call *call = data;
  gboolean good = measure (call), left;

  g_mutex_lock (&call->lock);
  call->good = good;
  call->ended = TRUE;
  left = call->left;
  g_cond_signal (&call->ended_or_cancelled);
  g_mutex_unlock (&call->lock);
  call_unref (call); /* frees inner, and its device, where the measurement was abandoned */
  if (left)
    g_atomic_int_add (&n_left, -1);
  return NULL;
}

static void
on_cancelled (GCancellable *cancellable, gpointer data)
{
  Call *call = data;

  g_mutex_lock (&call->lock);
  call->cancelled = TRUE;
  g_cond_signal (&call->ended_or_cancelled);
  g_mutex_unlock (&call->lock);
}

static gboolean
wait_until (Call *call, gint64 until_us)
{
  if (until_us < G_MAXINT64)
    return g_cond_wait_until (&call->ended_or_cancelled, &call->lock, until_us);
  g_cond_wait (&call->ended_or_cancelled, &call->lock);
  return TRUE;
}

/* Waits until the call has ended, end_us has passed, or the call was cancelled and has not ended
 * within grace_s.  FALSE: the call is abandoned; *late: because end_us has passed. */
static gboolean
wait_for (Call *call, double grace_s, gint64 end_us, gboolean *late)
{
  gboolean in_time = TRUE;
  gint64 until_us;

  g_mutex_lock (&call->lock);
  while (!call->ended && !call->cancelled && in_time)
    in_time = wait_until (call, end_us);
  *late = !in_time && !call->cancelled;
  until_us = g_get_monotonic_time () + (gint64) (grace_s * G_USEC_PER_SEC);
  while (!call->ended && in_time)
    in_time = wait_until (call, until_us);
  call->left = !call->ended;
  if (call->left)
    g_atomic_int_inc (&n_left);
  in_time = call->ended;
  g_mutex_unlock (&call->lock);
  return in_time;
}

static Call *
call_new (AsyncMeter *async, Kind kind, const DynoSettings *settings, gint64 deadline_us,
          GCancellable *cancellable)
{
  Call *call = g_new0 (Call, 1);

  g_atomic_ref_count_init (&call->references);
  g_atomic_ref_count_inc (&async->shared->references);
  call->shared = async->shared;
  call->kind = kind;
  call->settings = *settings;
  call->deadline_us = deadline_us;
  call->cancellable = cancellable ? g_object_ref (cancellable) : NULL;
  call->preparing = async->meter.preparing;
  call->preparing_user = async->meter.preparing_user;
  g_mutex_init (&call->lock);
  g_cond_init (&call->ended_or_cancelled);
  dyno_measurement_init (&call->measurement);
  return call;
}

static void
set_left_error (const AsyncMeter *async, GError **error)
{
  if (async->late)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT,
                         _ ("The time was over while the driver was at work on the first steps, "
                            "which cannot be interrupted; give it more time"));
  else
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, "The search was stopped");
}

/* TRUE: the results are there.  The caller still owns the call. */
static gboolean
make (AsyncMeter *async, Call *call, GError **error)
{
  DynoMeter *inner = async->shared->inner;
  gulong handler = 0;
  GThread *thread;
  gboolean ended;

  if (async->left)
    {
      set_left_error (async, error);
      return FALSE;
    }
  dyno_meter_forward (&async->meter, inner);
  inner->preparing = tell;
  inner->preparing_user = call;
  g_atomic_ref_count_inc (&call->references);
  thread = g_thread_try_new ("dyno-meter", run, call, error);
  if (!thread)
    {
      call_unref (call);
      return FALSE;
    }
  if (call->cancellable)
    handler = g_cancellable_connect (call->cancellable, G_CALLBACK (on_cancelled), call, NULL);
  ended = wait_for (call, async->grace_s, async->end_us, &async->late);
  if (handler)
    g_cancellable_disconnect (call->cancellable, handler);
  if (ended)
    {
      g_thread_join (thread); /* it holds nothing any more */
      if (!call->good)
        g_propagate_error (error, g_steal_pointer (&call->error));
      return call->good;
    }
  g_thread_unref (thread);
  async->left = TRUE;
  set_left_error (async, error);
  return FALSE;
}

static gboolean
measure_kind (DynoMeter *meter, Kind kind, const DynoSettings *settings, double seconds,
              gint64 deadline_us, GCancellable *cancellable, DynoMeasurement *measurement,
              GError **error)
{
  AsyncMeter *async = (AsyncMeter *) meter;
  Call *call = call_new (async, kind, settings, deadline_us, cancellable);
  gboolean good;

  call->seconds = seconds;
  good = make (async, call, error);
  if (async->left)
    dyno_measurement_init (measurement);
  else
    *measurement = call->measurement;
  call_unref (call);
  return good;
}

static gboolean
measure_loader (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
                GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  return measure_kind (meter, LOADER, settings, seconds, deadline_us, cancellable, measurement,
                       error);
}

static gboolean
measure_gpu (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
             GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  return measure_kind (meter, GPU, settings, seconds, deadline_us, cancellable, measurement, error);
}

static gboolean
measure_trial (DynoMeter *meter, const DynoSettings *settings, double seconds, gint64 deadline_us,
               GCancellable *cancellable, DynoMeasurement *measurement, GError **error)
{
  return measure_kind (meter, TRIAL, settings, seconds, deadline_us, cancellable, measurement,
                       error);
}

static gboolean
compare_numerics (DynoMeter *meter, const DynoSettings *settings, gint64 deadline_us,
                  GCancellable *cancellable, DynoNumerics *numerics, GError **error)
{
  AsyncMeter *async = (AsyncMeter *) meter;
  Call *call = call_new (async, NUMERICS, settings, deadline_us, cancellable);
  gboolean good = make (async, call, error);

  *numerics = (DynoNumerics){ 0 };
  if (good)
    {
      *numerics = call->numerics;
      call->numerics.text = NULL;
    }
  call_unref (call);
  return good;
}

static gboolean
learn (DynoMeter *meter, const DynoSettings *settings, const DynoLearningGoal *goal,
       gint64 deadline_us, GCancellable *cancellable, DynoLearning *learning, GError **error)
{
  AsyncMeter *async = (AsyncMeter *) meter;
  Call *call = call_new (async, LEARN, settings, deadline_us, cancellable);
  gboolean good;

  call->goal = *goal;
  good = make (async, call, error);
  if (!async->left)
    *learning = call->learning;
  call_unref (call);
  return good;
}

/* This does not run in a thread of its own: it reads nothing that a measurement writes, and waits
 * for no device. */
static gboolean
plan (DynoMeter *meter, const DynoSettings *settings, guint64 *bytes, gboolean *fits, char **advice,
      GError **error)
{
  DynoMeter *inner = ((AsyncMeter *) meter)->shared->inner;

  return inner->class->plan (inner, settings, bytes, fits, advice, error);
}

static void
estimate_ranks (DynoMeter *meter, const DynoSettings *settings, double step_seconds,
                DynoRanksEstimate *estimate)
{
  DynoMeter *inner = ((AsyncMeter *) meter)->shared->inner;

  inner->class->ranks (inner, settings, step_seconds, estimate);
}

static void
async_free (DynoMeter *meter)
{
  AsyncMeter *async = (AsyncMeter *) meter;

  shared_unref (async->shared);
  g_free (async);
}

static const DynoMeterClass async_class = {
  .loader = measure_loader,
  .gpu = measure_gpu,
  .trial = measure_trial,
  .plan = plan,
  .free = async_free,
  .numerics = compare_numerics,
  .learn = learn,
  .ranks = estimate_ranks,
};

DynoMeter *
dyno_async_meter_new (DynoMeter *inner, double grace_s)
{
  AsyncMeter *async = g_new0 (AsyncMeter, 1);

  async->meter = *inner;
  async->class = async_class;
  async->class.numerics = inner->class->numerics ? compare_numerics : NULL;
  async->class.learn = inner->class->learn ? learn : NULL;
  async->class.ranks = inner->class->ranks ? estimate_ranks : NULL;
  async->meter.class = &async->class;
  async->shared = g_new0 (Shared, 1);
  async->shared->inner = inner;
  g_atomic_ref_count_init (&async->shared->references);
  async->grace_s = grace_s;
  async->end_us = G_MAXINT64;
  return &async->meter;
}

void
dyno_async_meter_set_end (DynoMeter *meter, gint64 end_us)
{
  ((AsyncMeter *) meter)->end_us = end_us;
}
