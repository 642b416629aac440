/* SPDX-License-Identifier: MIT */
/* The batcher with a made-up engine, which records its batches, computes 2 x a sample, and waits
 * for a gate when it collects.  No test depends on time: a delay is either so long that it never
 * ends, or zero. */
#include "batcher.h"
#include "feederengine.h"
#include "gpu-error.h"
#include <dlfcn.h>
#include <string.h>

#define NEVER    (G_GINT64_CONSTANT (3600) * G_USEC_PER_SEC)
#define MAX_JOBS 16

typedef struct {
  GMutex mutex;
  GCond cond;
  gboolean open;      /* the gate */
  GString *batches;   /* "1 4 4": sizes, in order; "(2)" if submitting failed */
  GString *done;      /* "abc": jobs in the order of completion */
  GString *in_flight; /* batches in flight at each collect */
  guint n_done, n_lost, n_batches_told;
  guint64 n_samples_told;
  /* numbers of batches, from 1; 0: none */
  guint fail_submit, fail_collect, lose;
  guint submitted, collected;
  float flights[2][8];
  guint32 n[2];
  gint32 lengths[64];
  guint n_lengths;
} Engine;

typedef struct {
  DynoBatchJob job;
  Engine *engine;
  guint8 samples[32];
  float outputs[32];
  char name;
} Job;

/* Waits of the batcher for more samples. */
static struct {
  GMutex mutex;
  GCond cond;
  gboolean refused;
  guint n;
  gint64 first_end, last_end;
} delays;

/* Replaces GLib's for the batcher.  In parentheses, since it is a macro for ThreadSanitizer. */
gboolean (g_cond_wait_until) (GCond *cond, GMutex *mutex, gint64 end_time)
{
  gboolean (*glib) (GCond *, GMutex *, gint64) =
      (gboolean (*) (GCond *, GMutex *, gint64)) dlsym (RTLD_NEXT, "g_cond_wait_until");

  g_mutex_lock (&delays.mutex);
  g_assert_false (delays.refused);
  if (delays.n++ == 0)
    delays.first_end = end_time;
  delays.last_end = end_time;
  g_cond_broadcast (&delays.cond);
  g_mutex_unlock (&delays.mutex);
  return glib (cond, mutex, end_time);
}

static void
wait_for_delays (guint n)
{
  g_mutex_lock (&delays.mutex);
  while (delays.n < n)
    g_cond_wait (&delays.cond, &delays.mutex);
  g_mutex_unlock (&delays.mutex);
}

#define LOST_CODE   1
#define FAILED_CODE 2

static gboolean
engine_submit (gpointer data, gconstpointer const *samples, const gint32 *lengths, guint32 n,
               GError **error)
{
  Engine *e = data;
  guint slot = e->submitted % 2;

  g_mutex_lock (&e->mutex);
  g_string_append_printf (e->batches, e->fail_submit == e->submitted + 1 ? "(%u) " : "%u ", n);
  for (guint32 i = 0; i < n; i++)
    {
      e->flights[slot][i] = 2 * (float) *(const guint8 *) samples[i];
      if (lengths)
        e->lengths[e->n_lengths++] = lengths[i];
    }
  e->n[slot] = n;
  g_mutex_unlock (&e->mutex);
  if (e->fail_submit == e->submitted + 1)
    {
      e->fail_submit = 0;
      g_set_error_literal (error, G_OPTION_ERROR, FAILED_CODE, "submit");
      return FALSE;
    }
  e->submitted++;
  return TRUE;
}

static gboolean
engine_collect (gpointer data, gpointer outputs, GError **error)
{
  Engine *e = data;
  guint slot = e->collected % 2;

  g_mutex_lock (&e->mutex);
  g_string_append_printf (e->in_flight, "%u ", e->submitted - e->collected);
  g_cond_broadcast (&e->cond);
  while (!e->open)
    g_cond_wait (&e->cond, &e->mutex);
  g_mutex_unlock (&e->mutex);
  e->collected++;
  memcpy (outputs, e->flights[slot], e->n[slot] * sizeof (float));
  if (e->lose > 0 && e->collected >= e->lose)
    g_set_error_literal (error, G_OPTION_ERROR, LOST_CODE, "lost");
  else if (e->fail_collect == e->collected)
    g_set_error_literal (error, G_OPTION_ERROR, FAILED_CODE, "collect");
  else
    return TRUE;
  return FALSE;
}

static gboolean
engine_is_lost (const GError *error)
{
  return error->code == LOST_CODE;
}

static const DynoBatchEngine one_slot = { 1, engine_submit, engine_collect, engine_is_lost };
static const DynoBatchEngine two_slots = { 2, engine_submit, engine_collect, engine_is_lost };

static void
on_batch (guint32 n, gpointer data)
{
  Engine *e = data;

  e->n_batches_told++;
  e->n_samples_told += n;
}

static void
on_lost (const GError *error, gpointer data)
{
  Engine *e = data;

  g_assert_cmpstr (error->message, ==, "lost");
  e->n_lost++;
}

static void
on_done (DynoBatchJob *job, gpointer data)
{
  Job *own = data;
  Engine *e = own->engine;

  g_assert_true (&own->job == job);
  g_mutex_lock (&e->mutex);
  g_string_append_c (e->done, own->name);
  e->n_done++;
  g_cond_broadcast (&e->cond);
  g_mutex_unlock (&e->mutex);
}

static void
engine_init (Engine *e)
{
  memset (e, 0, sizeof *e);
  g_mutex_init (&e->mutex);
  g_cond_init (&e->cond);
  e->batches = g_string_new (NULL);
  e->done = g_string_new (NULL);
  e->in_flight = g_string_new (NULL);
}

static void
engine_clear (Engine *e)
{
  g_string_free (e->batches, TRUE);
  g_string_free (e->done, TRUE);
  g_string_free (e->in_flight, TRUE);
  g_mutex_clear (&e->mutex);
  g_cond_clear (&e->cond);
}

static void
open_gate (Engine *e)
{
  g_mutex_lock (&e->mutex);
  e->open = TRUE;
  g_cond_broadcast (&e->cond);
  g_mutex_unlock (&e->mutex);
}

static void
wait_done (Engine *e, guint n)
{
  g_mutex_lock (&e->mutex);
  while (e->n_done < n)
    g_cond_wait (&e->cond, &e->mutex);
  g_mutex_unlock (&e->mutex);
}

static DynoBatcher *
make (Engine *e, const DynoBatchEngine *klass, guint32 max_batch, gint64 delay_us, guint max_queue)
{
  DynoBatcherParams params = { .max_batch = max_batch,
                               .max_delay_us = delay_us,
                               .max_queue = max_queue,
                               .sample_bytes = 1,
                               .output_bytes = sizeof (float),
                               .on_batch = on_batch,
                               .on_lost = on_lost,
                               .data = e };

  return dyno_batcher_new (&params, klass, e);
}

/* The samples are 10 x number, 10 x number + 1 ... */
static void
push (DynoBatcher *batcher, Engine *e, Job *job, guint number, guint32 n)
{
  g_autoptr (GError) error = NULL;

  memset (job, 0, sizeof *job);
  job->engine = e;
  job->name = (char) ('a' + number);
  for (guint32 i = 0; i < n; i++)
    job->samples[i] = (guint8) (10 * number + i);
  job->job = (DynoBatchJob){
    .samples = job->samples, .n = n, .outputs = job->outputs, .done = on_done, .data = job
  };
  dyno_batcher_reserve (batcher, &error);
  g_assert_no_error (error);
  dyno_batcher_push (batcher, &job->job);
}

static void
check_outputs (const Job *job)
{
  g_assert_no_error (job->job.error);
  for (guint32 i = 0; i < job->job.n; i++)
    g_assert_cmpfloat (job->outputs[i], ==, 2 * (float) job->samples[i]);
}

/* The first job has a batch of its own; jobs that arrive while it is computed share the next
 * ones. */
static void
test_order_and_splitting (void)
{
  static const guint32 sizes[] = { 1, 2, 3, 4, 1 };
  Job jobs[G_N_ELEMENTS (sizes)];
  Engine e;

  engine_init (&e);
  g_autoptr (DynoBatcher) batcher = make (&e, &one_slot, 4, 0, MAX_JOBS);
  push (batcher, &e, &jobs[0], 0, sizes[0]);
  g_mutex_lock (&e.mutex);
  while (e.in_flight->len == 0)
    g_cond_wait (&e.cond, &e.mutex); /* until the first batch is being collected */
  g_mutex_unlock (&e.mutex);
  for (guint i = 1; i < G_N_ELEMENTS (sizes); i++)
    push (batcher, &e, &jobs[i], i, sizes[i]);
  open_gate (&e);
  wait_done (&e, G_N_ELEMENTS (sizes));
  g_assert_cmpstr (e.done->str, ==, "abcde");
  g_assert_cmpstr (e.batches->str, ==, "1 4 4 2 ");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    check_outputs (&jobs[i]);
  dyno_batcher_stop (batcher);
  g_assert_cmpuint (e.n_batches_told, ==, 4);
  g_assert_cmpuint (e.n_samples_told, ==, 11);
  engine_clear (&e);
}

/* With an endless delay, nothing is submitted before the batch is full; the delay begins when the
 * first of its samples arrives. */
static void
test_waits_for_a_full_batch (void)
{
  Job jobs[3];
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  delays.n = 0;
  g_autoptr (DynoBatcher) batcher = make (&e, &one_slot, 4, NEVER, MAX_JOBS);
  push (batcher, &e, &jobs[0], 0, 1);
  wait_for_delays (1);
  push (batcher, &e, &jobs[1], 1, 2);
  wait_for_delays (2);
  g_assert_cmpint (delays.last_end, ==, delays.first_end);
  push (batcher, &e, &jobs[2], 2, 1);
  wait_done (&e, 3);
  g_assert_cmpstr (e.batches->str, ==, "4 ");
  dyno_batcher_stop (batcher);
  engine_clear (&e);
}

/* A batch that is exactly full does not wait. */
static void
test_full_batch_is_not_delayed (void)
{
  Job job;
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  delays.refused = TRUE;
  g_autoptr (DynoBatcher) batcher = make (&e, &one_slot, 4, NEVER, MAX_JOBS);
  push (batcher, &e, &job, 0, 4);
  wait_done (&e, 1);
  g_assert_cmpstr (e.batches->str, ==, "4 ");
  dyno_batcher_stop (batcher);
  delays.refused = FALSE;
  engine_clear (&e);
}

/* After the delay a request is submitted in a batch that is not full. */
static void
test_delay_ends (void)
{
  Job job;
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  g_autoptr (DynoBatcher) batcher = make (&e, &one_slot, 4, 1000, MAX_JOBS);
  push (batcher, &e, &job, 3, 1);
  wait_done (&e, 1);
  check_outputs (&job);
  dyno_batcher_stop (batcher);
  engine_clear (&e);
}

static void
test_two_batches_are_in_flight (void)
{
  Job job;
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  g_autoptr (DynoBatcher) batcher = make (&e, &two_slots, 4, NEVER, MAX_JOBS);
  push (batcher, &e, &job, 1, 12);
  wait_done (&e, 1);
  check_outputs (&job);
  dyno_batcher_stop (batcher);
  g_assert_cmpstr (e.batches->str, ==, "4 4 4 ");
  g_assert_cmpstr (e.in_flight->str, ==, "2 2 1 ");
  engine_clear (&e);
}

static void
test_lengths (void)
{
  gint32 lengths[] = { 3, 1, 2 };
  DynoBatchJob *job;
  Job own;
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  g_autoptr (DynoBatcher) batcher = make (&e, &one_slot, 2, 0, MAX_JOBS);
  memset (&own, 0, sizeof own);
  own.engine = &e;
  own.name = 'a';
  job = &own.job;
  *job = (DynoBatchJob){ .samples = own.samples,
                         .lengths = lengths,
                         .n = 3,
                         .outputs = own.outputs,
                         .done = on_done,
                         .data = &own };
  g_assert_true (dyno_batcher_reserve (batcher, NULL));
  dyno_batcher_push (batcher, job);
  wait_done (&e, 1);
  dyno_batcher_stop (batcher);
  g_assert_cmpuint (e.n_lengths, ==, 3);
  g_assert_cmpmem (e.lengths, sizeof lengths, lengths, sizeof lengths);
  engine_clear (&e);
}

/* A place is occupied from its reservation until the job is done, or until it is released. */
static void
test_full_queue (void)
{
  GError *error = NULL;
  guint64 samples;
  guint requests;
  Job job;
  Engine e;

  engine_init (&e);
  g_autoptr (DynoBatcher) batcher = make (&e, &one_slot, 4, 0, 2);
  push (batcher, &e, &job, 0, 1);
  g_assert_true (dyno_batcher_reserve (batcher, &error));
  g_assert_false (dyno_batcher_reserve (batcher, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_BUSY);
  g_assert_cmpuint (dyno_serve_error_get_status (error), ==, 503);
  g_clear_error (&error);
  dyno_batcher_get_load (batcher, &requests, &samples);
  g_assert_cmpuint (requests, ==, 2);
  open_gate (&e);
  wait_done (&e, 1);
  g_assert_true (dyno_batcher_reserve (batcher, &error));
  dyno_batcher_release (batcher);
  dyno_batcher_release (batcher);
  dyno_batcher_stop (batcher);
  dyno_batcher_get_load (batcher, &requests, &samples);
  g_assert_cmpuint (requests, ==, 0);
  g_assert_cmpuint (samples, ==, 0);
  engine_clear (&e);
}

/* The answers of HTTP, and the errors after which a device is no longer there. */
static void
test_kinds_of_errors (void)
{
  static const struct {
    DynoServeError code;
    guint status;
  } rows[] = { { DYNO_SERVE_ERROR_BAD_REQUEST, 400 }, { DYNO_SERVE_ERROR_DENIED, 401 },
               { DYNO_SERVE_ERROR_NOT_FOUND, 404 },   { DYNO_SERVE_ERROR_METHOD, 405 },
               { DYNO_SERVE_ERROR_TOO_LARGE, 413 },   { DYNO_SERVE_ERROR_MEDIA_TYPE, 415 },
               { DYNO_SERVE_ERROR_FAILED, 500 },      { DYNO_SERVE_ERROR_BUSY, 503 },
               { DYNO_SERVE_ERROR_STOPPING, 503 },    { DYNO_SERVE_ERROR_OPTION, 500 },
               { DYNO_SERVE_ERROR_MISSING, 500 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_serve_refuse (&error, rows[i].code, "%u of %s", 3, "four"));
      g_assert_error (error, DYNO_SERVE_ERROR, (gint) rows[i].code);
      g_assert_cmpstr (error->message, ==, "3 of four");
      g_assert_cmpuint (dyno_serve_error_get_status (error), ==, rows[i].status);
      error->domain = G_FILE_ERROR; /* any other */
      g_assert_cmpuint (dyno_serve_error_get_status (error), ==, 500);
    }
  for (int code = 0; code <= DYNO_GPU_ERROR_TIMEOUT + 4; code++)
    {
      g_autoptr (GError) error = g_error_new_literal (DYNO_GPU_ERROR, code, "x"),
                         other = g_error_new_literal (G_FILE_ERROR, code, "x");
      g_assert_true (dyno_feeder_engine.is_lost (error)
                     == (code == DYNO_GPU_ERROR_DEVICE_LOST || code == DYNO_GPU_ERROR_TIMEOUT));
      g_assert_false (dyno_feeder_engine.is_lost (other));
    }
}

/* Work that is queued at the end is done, without waiting for a delay or a full batch. */
static void
test_stop_finishes_the_queue (void)
{
  GError *error = NULL;
  Job jobs[3];
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  g_autoptr (DynoBatcher) batcher = make (&e, &two_slots, 8, NEVER, MAX_JOBS);
  for (guint i = 0; i < 3; i++)
    push (batcher, &e, &jobs[i], i, 2);
  dyno_batcher_stop (batcher);
  g_assert_cmpstr (e.done->str, ==, "abc");
  g_assert_cmpstr (e.batches->str, ==, "6 ");
  for (guint i = 0; i < 3; i++)
    check_outputs (&jobs[i]);
  g_assert_false (dyno_batcher_reserve (batcher, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_STOPPING);
  g_clear_error (&error);
  engine_clear (&e);
}

/* The jobs of a failed batch get its error, once each, and their waiting parts are dropped; the
 * other jobs are not affected. */
static void
check_failure (gboolean at_submit)
{
  static const guint32 sizes[] = { 4, 7, 1, 4 };
  Job jobs[G_N_ELEMENTS (sizes)];
  Engine e;

  engine_init (&e);
  if (at_submit)
    e.fail_submit = 2;
  else
    e.fail_collect = 2;
  g_autoptr (DynoBatcher) batcher = make (&e, &one_slot, 4, NEVER, MAX_JOBS);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    push (batcher, &e, &jobs[i], i, sizes[i]);
  open_gate (&e);
  dyno_batcher_stop (batcher);
  g_assert_cmpstr (e.done->str, ==, "abcd");
  g_assert_cmpstr (e.batches->str, ==, at_submit ? "4 (4) 4 1 " : "4 4 4 1 ");
  check_outputs (&jobs[0]);
  g_assert_error (jobs[1].job.error, G_OPTION_ERROR, FAILED_CODE);
  g_clear_error (&jobs[1].job.error);
  check_outputs (&jobs[2]);
  check_outputs (&jobs[3]);
  g_assert_cmpuint (e.n_lost, ==, 0);
  g_assert_cmpuint (e.n_batches_told, ==, 3); /* those that were predicted */
  g_assert_cmpuint (e.n_samples_told, ==, 9);
  engine_clear (&e);
}

static void
test_failing_submit (void)
{
  check_failure (TRUE);
}

static void
test_failing_collect (void)
{
  check_failure (FALSE);
}

/* With two batches in flight, both parts of a job may fail: the job is done once. */
static void
test_failure_of_two_flights (void)
{
  Job jobs[2];
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  e.fail_collect = 1;
  g_autoptr (DynoBatcher) batcher = make (&e, &two_slots, 2, NEVER, MAX_JOBS);
  push (batcher, &e, &jobs[0], 0, 10);
  wait_done (&e, 1);
  push (batcher, &e, &jobs[1], 1, 2);
  dyno_batcher_stop (batcher);
  g_assert_cmpstr (e.done->str, ==, "ab");
  g_assert_cmpstr (e.batches->str, ==, "2 2 2 ");
  g_assert_nonnull (jobs[0].job.error);
  g_clear_error (&jobs[0].job.error);
  check_outputs (&jobs[1]);
  engine_clear (&e);
}

/* A job of two batches that fail differently keeps the first error. */
static void
test_first_error_of_two_flights (void)
{
  Job job;
  Engine e;

  engine_init (&e);
  e.open = TRUE;
  e.fail_submit = 2;
  e.fail_collect = 1;
  g_autoptr (DynoBatcher) batcher = make (&e, &two_slots, 2, NEVER, MAX_JOBS);
  push (batcher, &e, &job, 0, 4);
  dyno_batcher_stop (batcher);
  g_assert_cmpstr (e.done->str, ==, "a");
  g_assert_cmpstr (e.batches->str, ==, "2 (2) ");
  g_assert_cmpuint (e.collected, ==, 1);
  g_assert_error (job.job.error, G_OPTION_ERROR, FAILED_CODE);
  g_assert_cmpstr (job.job.error->message, ==, "submit");
  g_clear_error (&job.job.error);
  engine_clear (&e);
}

/* After a device loss all jobs fail, present and later ones. */
static void
test_loss (void)
{
  GError *error = NULL;
  Job jobs[4];
  Engine e;

  engine_init (&e);
  e.lose = 2;
  g_autoptr (DynoBatcher) batcher = make (&e, &two_slots, 2, NEVER, MAX_JOBS);
  for (guint i = 0; i < 4; i++)
    push (batcher, &e, &jobs[i], i, 2);
  g_assert_true (dyno_batcher_reserve (batcher, NULL));
  open_gate (&e);
  wait_done (&e, 4);
  dyno_batcher_release (batcher);
  dyno_batcher_stop (batcher);
  g_assert_cmpuint (e.n_lost, ==, 1);
  check_outputs (&jobs[0]);
  for (guint i = 1; i < 4; i++)
    {
      g_assert_error (jobs[i].job.error, G_OPTION_ERROR, LOST_CODE);
      g_clear_error (&jobs[i].job.error);
    }
  g_assert_false (dyno_batcher_reserve (batcher, &error));
  g_assert_error (error, DYNO_SERVE_ERROR, DYNO_SERVE_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "lost");
  g_clear_error (&error);
  engine_clear (&e);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* First, since an error here makes other tests wait for ever. */
  g_test_add_func ("/serve/batcher/full-batch-is-not-delayed", test_full_batch_is_not_delayed);
  g_test_add_func ("/serve/batcher/order-and-splitting", test_order_and_splitting);
  g_test_add_func ("/serve/batcher/waits-for-a-full-batch", test_waits_for_a_full_batch);
  g_test_add_func ("/serve/batcher/delay-ends", test_delay_ends);
  g_test_add_func ("/serve/batcher/two-batches-are-in-flight", test_two_batches_are_in_flight);
  g_test_add_func ("/serve/batcher/lengths", test_lengths);
  g_test_add_func ("/serve/batcher/full-queue", test_full_queue);
  g_test_add_func ("/serve/batcher/kinds-of-errors", test_kinds_of_errors);
  g_test_add_func ("/serve/batcher/stop-finishes-the-queue", test_stop_finishes_the_queue);
  g_test_add_func ("/serve/batcher/failing-submit", test_failing_submit);
  g_test_add_func ("/serve/batcher/failing-collect", test_failing_collect);
  g_test_add_func ("/serve/batcher/failure-of-two-flights", test_failure_of_two_flights);
  g_test_add_func ("/serve/batcher/first-error-of-two-flights", test_first_error_of_two_flights);
  g_test_add_func ("/serve/batcher/loss", test_loss);
  return g_test_run ();
}
