/* SPDX-License-Identifier: MIT */
/* Measurements on a device that fails, through the layer of tests/layer: the failure is a result,
 * and the next measurement works. */
#include "meter.h"
#include <gmodule.h>
#include <math.h>

#define FAR (g_get_monotonic_time () + 3600 * (gint64) G_USEC_PER_SEC)

static void (*set_faults) (const char *words);

typedef gboolean (*Measure) (DynoMeter *, const DynoSettings *, double, gint64, GCancellable *,
                             DynoMeasurement *, GError **);

typedef struct {
  DynoJob *job;
  DynoMeter *meter;
} Bench;

static void
begin (Bench *b)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) devices = NULL;
  g_autoptr (DynoDataset) dataset = NULL;

  set_faults ("");
  b->job = dyno_job_new ();
  b->job->data = g_strdup ("builtin:shapes?size=16&samples=100&classes=3");
  b->job->model = (g_free (b->job->model), g_strdup ("mlp"));
  b->job->settings.model_width = 0.0625;
  b->job->settings.batch_size = 8;
  b->job->settings.workers = 0;
  b->job->settings.amp = b->job->settings.autotune = FALSE;
  devices = dyno_device_list (&error);
  g_assert_no_error (error);
  dataset = dyno_dataset_open (b->job->data, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  b->meter = dyno_meter_new (b->job, dataset, devices->pdata[0]);
}

static void
end (Bench *b)
{
  set_faults ("");
  dyno_meter_free (b->meter);
  dyno_job_unref (b->job);
}

static gboolean
measure (Bench *b, Measure how, GError **error)
{
  DynoMeasurement m;
  gboolean good = how (b->meter, &b->job->settings, 0, FAR, NULL, &m, error);

  g_assert_cmpint (good, ==, m.rate.median > 0);
  return good;
}

/* The device ceiling reports the loss; a trial continues on another device, as a run does; the next
 * measurement works, whichever it is. */
static void
test_gone (gconstpointer words)
{
  for (guint first = 0; first < 2; first++)
    for (guint next = 0; next < 2; next++)
      {
        g_autoptr (GError) error = NULL;
        gboolean good;
        Bench b;

        begin (&b);
        Measure measures[] = { b.meter->class->gpu, b.meter->class->trial };
        set_faults (words);
        good = measure (&b, measures[first], &error);
        if (first == 0)
          {
            g_assert_false (good);
            g_assert_true (error->domain == DYNO_GPU_ERROR);
          }
        else
          g_assert_no_error (error);
        g_clear_error (&error);
        g_assert_true (measure (&b, measures[next], &error));
        g_assert_no_error (error);
        end (&b);
      }
}

/* A refusal of planned memory is reported as such, without smaller micro-batches. */
static void
test_no_memory (void)
{
  for (guint which = 0; which < 2; which++)
    {
      g_autoptr (GError) error = NULL;
      Bench b;

      begin (&b);
      Measure measures[] = { b.meter->class->gpu, b.meter->class->trial };
      set_faults ("memory=2,devices=64");
      g_assert_false (measure (&b, measures[which], &error));
      g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY);
      g_clear_error (&error);
      set_faults ("");
      g_assert_true (measure (&b, measures[which], &error));
      end (&b);
    }
}

int
main (int argc, char **argv)
{
  GModule *module;

  g_test_init (&argc, &argv, NULL);
  module = g_module_open (g_getenv ("DYNO_FAULTS_LAYER"), G_MODULE_BIND_LAZY);
  g_assert_nonnull (module);
  g_assert_true (g_module_symbol (module, "dyno_faults_set", (gpointer *) &set_faults));
  g_test_add_data_func ("/faults/meter/lost", "lost=12", test_gone);
  g_test_add_data_func ("/faults/meter/hangs", "hang=12", test_gone);
  g_test_add_func ("/faults/meter/no-memory-is-told", test_no_memory);
  return g_test_run ();
}
