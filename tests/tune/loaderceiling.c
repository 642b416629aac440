/* SPDX-License-Identifier: MIT */
/* Measuring the data pipeline without the device, with a data set that has faults. */
#include "loaderceiling.h"
#include "loader-test.h"
#include <math.h>

#define LONG_AGO 1 /* in monotonic time */
#define FAR      (g_get_monotonic_time () + 3600 * (gint64) G_USEC_PER_SEC)

static DynoJob *
make_job (void)
{
  DynoJob *job = dyno_job_new ();

  job->settings.batch_size = 8;
  job->settings.workers = 0;
  job->settings.prefetch = 1;
  job->settings.cache = FALSE;
  return job;
}

static GArray *
make_indices (guint n)
{
  GArray *indices = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint32 i = 0; i < n; i++)
    g_array_append_val (indices, i);
  return indices;
}

static gboolean
measure (const DynoJob *job, guint n, gint64 until_us, GCancellable *cancellable,
         DynoLoaderCeiling *c, GError **error)
{
  g_autoptr (DynoDataset) dataset = open_odd ();
  g_autoptr (GArray) indices = make_indices (n);
  g_autoptr (GError) problem = NULL;
  g_autoptr (DynoDeadline) deadline = dyno_deadline_new (until_us, cancellable, &problem);

  g_assert_no_error (problem);
  return dyno_loader_ceiling_measure (job, dataset, indices, 0, deadline, c, error);
}

static void
test_measures (void)
{
  g_autoptr (DynoJob) job = make_job ();
  g_autoptr (GError) error = NULL;
  DynoLoaderCeiling c;

  for (gint64 workers = 0; workers <= 2; workers++)
    {
      odd_reset (100);
      job->settings.workers = workers;
      job->settings.pinned = workers != 1; /* with a copy, too */
      measure (job, 100, FAR, NULL, &c, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (c.n_batches, >=, 3);
      g_assert_cmpint (odd.decodes, >=, 8 * ((gint) c.n_batches + 1));
      g_assert_cmpfloat (c.rate.median, >, 0);
      g_assert_cmpfloat (c.rate.low, <=, c.rate.median);
      g_assert_cmpfloat (c.rate.high, >=, c.rate.median);
      g_assert_true (isnan (c.outside_cpu) || (c.outside_cpu >= 0 && c.outside_cpu <= 1));
    }
}

/* The first batch, for which all queues are empty, and three more are read; then four batches are
 * decoded once, and the measured ones come from memory. */
static void
test_cache (void)
{
  g_autoptr (DynoJob) job = make_job ();
  g_autoptr (GError) error = NULL;
  DynoLoaderCeiling c;

  odd_reset (100);
  job->settings.cache = TRUE;
  measure (job, 100, FAR, NULL, &c, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (c.cached_share, ==, 1);
  g_assert_cmpuint (c.n_batches, >=, 3);
  g_assert_cmpint (odd.decodes, >=, (4 + 4) * 8);
  g_assert_cmpint (odd.decodes, <, (4 + 4) * 8 + 3 * 8);
  g_assert_cmpfloat (c.uncached_rate, >, 0);
}

static void
test_mix (void)
{
  g_assert_cmpfloat (dyno_loader_ceiling_mix (4000, 1000, 1), ==, 4000);
  g_assert_cmpfloat (dyno_loader_ceiling_mix (4000, 1000, 0), ==, 1000);
  g_assert_cmpfloat (fabs (dyno_loader_ceiling_mix (4000, 1000, 0.8) - 2500), <, 1e-9);
}

/* An epoch of one batch, and a batch larger than the part. */
static void
test_small (void)
{
  g_autoptr (DynoJob) job = make_job ();
  g_autoptr (GError) error = NULL;
  DynoLoaderCeiling c;

  for (guint n = 5; n <= 9; n++)
    {
      odd_reset (10);
      measure (job, n, FAR, NULL, &c, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (c.n_epochs, >=, 2);
    }
  odd_reset (10);
  g_assert_false (measure (job, 0, FAR, NULL, &c, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
}

/* The deadline comes by itself: no thread cancels the cancellable that is polled here. */
static void
test_clock (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDeadline) deadline =
      dyno_deadline_new (g_get_monotonic_time () + 1000, NULL, &error);
  GCancellable *cancellable = dyno_deadline_get_cancellable (deadline);
  GPollFD fd;

  g_assert_no_error (error);
  g_assert_true (g_cancellable_make_pollfd (cancellable, &fd));
  while (g_poll (&fd, 1, -1) != 1)
    ;
  g_cancellable_release_fd (cancellable);
  g_assert_false (dyno_deadline_check (deadline, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
}

static DynoDeadline *to_pass;
static gint last_decode;

/* Makes the deadline pass, as the clock would. */
static void
pass_deadline (guint64 index)
{
  if (g_atomic_int_get (&odd.decodes) == last_decode)
    g_cancellable_cancel (dyno_deadline_get_cancellable (to_pass));
}

/* No sample comes before the deadline, at which the wait ends. */
static void
test_deadline (void)
{
  g_autoptr (DynoJob) job = make_job ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) indices = make_indices (100);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDeadline) deadline = NULL;
  DynoLoaderCeiling c;

  odd_reset (100);
  odd.on_decode = pass_deadline;
  last_decode = 1;
  job->settings.workers = 1;
  dataset = open_odd ();
  to_pass = deadline = dyno_deadline_new (FAR, NULL, &error);
  g_assert_no_error (error);
  g_assert_false (dyno_loader_ceiling_measure (job, dataset, indices, 3600, deadline, &c, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
}

/* One batch is taken first, and each further one is a window; two windows are enough. */
static void
test_deadline_with_enough (void)
{
  g_autoptr (DynoJob) job = make_job ();
  g_autoptr (GArray) indices = make_indices (100);

  for (guint batches = 0; batches <= 2; batches++)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDeadline) deadline = NULL;
      DynoLoaderCeiling c;

      odd_reset (100);
      odd.on_decode = pass_deadline;
      last_decode = (gint) (1 + batches) * 8 + 1; /* the first sample of the next batch */
      job->settings.workers = 0;                  /* this thread decodes each batch that it takes */
      dataset = open_odd ();
      to_pass = deadline = dyno_deadline_new (FAR, NULL, &error);
      g_assert_no_error (error);
      if (batches < 2)
        {
          g_assert_false (
              dyno_loader_ceiling_measure (job, dataset, indices, 0, deadline, &c, &error));
          g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
        }
      else
        {
          dyno_loader_ceiling_measure (job, dataset, indices, 0, deadline, &c, &error);
          g_assert_no_error (error);
          g_assert_cmpuint (c.n_batches, ==, batches);
          g_assert_cmpuint (c.rate.n, ==, batches);
        }
    }
}

/* The deadline passes before anything was measured. */
static void
test_too_late (void)
{
  g_autoptr (DynoJob) job = make_job ();
  g_autoptr (GError) error = NULL;
  DynoLoaderCeiling c;

  odd_reset (100);
  g_assert_false (measure (job, 100, LONG_AGO, NULL, &c, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
  g_assert_cmpint (odd.decodes, ==, 0);
}

static GCancellable *to_cancel;

static void
cancel (guint64 index)
{
  g_cancellable_cancel (to_cancel);
}

static void
test_cancelled (void)
{
  g_autoptr (DynoJob) job = make_job ();

  for (gint64 workers = 0; workers <= 1; workers++)
    {
      g_autoptr (GError) error = NULL;
      DynoLoaderCeiling c;

      odd_reset (100);
      odd.on_decode = cancel;
      to_cancel = g_cancellable_new ();
      job->settings.workers = workers;
      g_assert_false (measure (job, 100, FAR, to_cancel, &c, &error));
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_clear_object (&to_cancel);
    }
}

static void
test_unreadable (void)
{
  g_autoptr (DynoJob) job = make_job ();
  g_autoptr (GError) error = NULL;
  DynoLoaderCeiling c;

  odd_reset (100);
  odd.bad_every = 1;
  g_assert_false (measure (job, 100, FAR, NULL, &c, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
}

static void
test_workers_of_a_machine (void)
{
  static const struct {
    guint32 cores;
    const char *list;
  } rows[] = {
    { 1, "0 1 " }, { 2, "0 1 2 " }, { 3, "0 1 2 3 " }, { 4, "0 1 2 4 " }, { 6, "0 1 2 4 6 " }
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GArray) list = dyno_loader_list_workers (rows[i].cores);
      g_autoptr (GString) text = g_string_new (NULL);
      for (guint k = 0; k < list->len; k++)
        g_string_append_printf (text, "%u ", g_array_index (list, guint32, k));
      g_assert_cmpstr (text->str, ==, rows[i].list);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/loaderceiling/real-decoding", test_measures);
  g_test_add_func ("/tune/loaderceiling/later-epochs-come-from-the-cache", test_cache);
  g_test_add_func ("/tune/loaderceiling/what-does-not-fit-the-cache-counts", test_mix);
  g_test_add_func ("/tune/loaderceiling/epochs-of-a-batch", test_small);
  g_test_add_func ("/tune/loaderceiling/deadline-comes-with-its-time", test_clock);
  g_test_add_func ("/tune/loaderceiling/deadline-ends-waiting", test_deadline);
  g_test_add_func ("/tune/loaderceiling/deadline-with-enough-is-a-result",
                   test_deadline_with_enough);
  g_test_add_func ("/tune/loaderceiling/after-the-deadline-nothing-is-read", test_too_late);
  g_test_add_func ("/tune/loaderceiling/cancelling-ends-it", test_cancelled);
  g_test_add_func ("/tune/loaderceiling/unreadable-samples-are-a-result", test_unreadable);
  g_test_add_func ("/tune/loaderceiling/workers-of-a-machine", test_workers_of_a_machine);
  return g_test_run ();
}
