/* SPDX-License-Identifier: MIT */
/* Measuring the device without the loader: what is built once and what is rebuilt, and the data
 * that it trains on. */
#include "gpuceiling.h"
#include "loader-test.h"
#include <math.h>

#define FAR (g_get_monotonic_time () + 3600 * (gint64) G_USEC_PER_SEC)

static DynoDevice *device; /* shared by all tests, with the kernels that it has compiled */

typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  GArray *indices;
  DynoGpuCeiling *ceiling;
} Bench;

static void
begin (Bench *b, guint n)
{
  odd_reset (n);
  b->job = dyno_job_new ();
  b->job->model = (g_free (b->job->model), g_strdup ("mlp"));
  b->job->settings.batch_size = 8;
  b->job->settings.model_width = 0.125;
  b->job->settings.amp = FALSE;
  b->job->settings.autotune = FALSE;
  b->dataset = open_odd ();
  b->indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 i = 0; i < n; i++)
    g_array_append_val (b->indices, i);
  b->ceiling = dyno_gpu_ceiling_new (b->job, b->dataset, b->indices);
}

static void
end (Bench *b)
{
  dyno_gpu_ceiling_free (b->ceiling);
  g_array_unref (b->indices);
  dyno_dataset_unref (b->dataset);
  dyno_job_unref (b->job);
}

static gboolean
measure (Bench *b, DynoMeasurement *m, GError **error)
{
  g_autoptr (DynoDeadline) deadline = dyno_deadline_new (FAR, NULL, NULL);

  return dyno_gpu_ceiling_measure (b->ceiling, device, &b->job->settings, 0, deadline, m, error);
}

/* Samples are decoded once for each network, some of them for any batch; settings of the loader,
 * and accumulation, need no other network. */
static void
test_kept (void)
{
  Bench b;
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  begin (&b, 100);
  g_assert_true (measure (&b, &m, &error));
  g_assert_cmpint (odd.decodes, ==, 8);
  b.job->settings.workers = 3;
  b.job->settings.accumulate = 2;
  b.job->settings.lr = 0.5;
  g_assert_true (measure (&b, &m, &error));
  g_assert_cmpint (odd.decodes, ==, 8);
  b.job->settings.batch_size = 64;
  g_assert_true (measure (&b, &m, &error));
  g_assert_cmpint (odd.decodes, ==, 8 + 32);
  g_assert_cmpuint (m.vram_bytes, ==, m.planned_bytes);
  dyno_gpu_ceiling_release (b.ceiling);
  g_assert_true (measure (&b, &m, &error));
  g_assert_cmpint (odd.decodes, ==, 8 + 32 + 32);
  end (&b);
}

/* A step accumulates its micro-batches. */
static void
test_accumulate (void)
{
  Bench b;
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  begin (&b, 100);
  b.job->settings.accumulate = 3;
  g_assert_true (measure (&b, &m, &error));
  g_assert_cmpuint (m.steps, >, 0);
  g_assert_cmpuint (m.n_samples, ==, 24 * m.steps);
  end (&b);
}

/* Unreadable samples are skipped; if none can be read, that is the result. */
static void
test_unreadable (void)
{
  Bench b;
  g_autoptr (GError) error = NULL;
  DynoMeasurement m;

  begin (&b, 100);
  odd.bad_every = 2;
  g_assert_true (measure (&b, &m, &error));
  g_assert_no_error (error);
  dyno_gpu_ceiling_release (b.ceiling);
  odd.bad_every = 1;
  g_assert_false (measure (&b, &m, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
  g_clear_error (&error);
  odd.bad_every = 0;
  g_assert_true (measure (&b, &m, &error));
  end (&b);
}

/* Events while the engine is built: progress reports and decoded samples. */
static struct {
  DynoDeadline *deadline;
  gint n;    /* atomic */
  gint last; /* the deadline comes at this event; 0: before all */
} events;

static void
count_event (void)
{
  if (g_atomic_int_add (&events.n, 1) + 1 == events.last)
    g_cancellable_cancel (dyno_deadline_get_cancellable (events.deadline)); /* as the clock does */
}

static void
on_preparing (const char *what, guint done, guint total, gpointer data)
{
  count_event ();
}

static void
on_decode (guint64 index)
{
  count_event ();
}

/* A deadline may come at any moment of the build: the result is an error with this reason, and the
 * next measurement is not affected. */
static void
test_deadline (void)
{
  const DynoMeter meter = { .preparing = on_preparing };
  Bench b;
  gboolean good = FALSE;

  begin (&b, 100);
  b.job->model = (g_free (b.job->model), g_strdup ("simplecnn"));
  b.job->settings.batch_size = 3;
  dyno_gpu_ceiling_free (b.ceiling);
  b.ceiling = dyno_gpu_ceiling_new (b.job, b.dataset, b.indices);
  dyno_gpu_ceiling_set_meter (b.ceiling, &meter);
  odd.on_decode = on_decode;
  for (gint last = 0; !good; last++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDeadline) deadline = dyno_deadline_new (last == 0 ? 0 : FAR, NULL, NULL);
      DynoMeasurement m;

      events.deadline = deadline;
      events.n = 0;
      events.last = last;
      good =
          dyno_gpu_ceiling_measure (b.ceiling, device, &b.job->settings, 0, deadline, &m, &error);
      g_test_message ("event %d of %d: %s", last, events.n, good ? "ok" : error->message);
      g_assert_true (good == (last > events.n)); /* the deadline was not reached */
      if (!good)
        g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT);
    }
  g_assert_cmpint (events.n, >=, 3 + 2); /* the samples of a batch, and some progress */
  end (&b);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  int code;

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/gpuceiling/same-network-is-built-once", test_kept);
  g_test_add_func ("/tune/gpuceiling/deadline-at-any-moment", test_deadline);
  g_test_add_func ("/tune/gpuceiling/micro-batches-are-added-up", test_accumulate);
  g_test_add_func ("/tune/gpuceiling/unreadable-samples-are-passed-over", test_unreadable);
  device = dyno_device_open (NULL, &error);
  g_assert_no_error (error);
  code = g_test_run ();
  g_assert_cmpuint (dyno_device_get_validation_messages (device), ==, 0);
  dyno_device_unref (device);
  return code;
}
