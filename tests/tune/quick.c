/* SPDX-License-Identifier: MIT */
/* The quick test: the findings from its measurements, and one whole run on this machine's
 * device. */
#include "quick.h"
#include <math.h>
#include <string.h>

static const DynoFinding *
find (const DynoQuick *quick, const char *id)
{
  for (guint i = 0; i < quick->findings->len; i++)
    {
      const DynoFinding *finding = quick->findings->pdata[i];

      if (strcmp (finding->id, id) == 0)
        return finding;
    }
  return NULL;
}

/* A GPU with matrix units that trains 1000 samples/s, ten times the rate of a CPU, with a loader of
 * 2000 samples/s. */
static DynoQuick *
good_machine (void)
{
  DynoQuick *quick = dyno_quick_new ();

  quick->device.type = DYNO_DEVICE_TYPE_DISCRETE;
  quick->device.matrix = DYNO_MATRIX_KHR;
  quick->cores = 16;
  quick->workload = g_strdup ("ResNet-18");
  quick->samples_per_s = 1000;
  quick->loader_samples_per_s = 2000;
  quick->beside_samples_per_s = 5000;
  quick->cpu_samples_per_s = 500;
  quick->preset = dyno_preset_find ("rtx3090", NULL, NULL);
  quick->expected_least = 300;
  quick->expected_most = 500;
  return quick;
}

static void
test_good (void)
{
  static const char *const good[] = { "matrix-units", "faster-than-cpu", "as-expected",
                                      "data-keeps-pace" };
  g_autoptr (DynoQuick) quick = good_machine ();

  dyno_quick_judge (quick);
  g_assert_cmpuint (quick->findings->len, ==, G_N_ELEMENTS (good));
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_cmpint (find (quick, good[i])->level, ==, DYNO_FINDING_GOOD);
  g_assert_nonnull (strstr (find (quick, "faster-than-cpu")->text, "10 times"));
  g_assert_nonnull (strstr (find (quick, "as-expected")->text, " 1,000 samples/s"));
  g_assert_nonnull (strstr (find (quick, "data-keeps-pace")->text, " 2,000 samples/s"));
}

static void
test_bad (void)
{
  static const char *const bad[] = { "no-gpu", "hardly-faster-than-cpu", "below-expectation",
                                     "few-cores" };
  g_autoptr (DynoQuick) quick = good_machine (), broken = good_machine (),
                        slow_data = good_machine ();

  quick->device.type = DYNO_DEVICE_TYPE_SOFTWARE;
  quick->cores = 2;
  quick->samples_per_s = 200;
  quick->loader_samples_per_s = 100; /* not comparable: a CPU trains on smaller images */
  quick->beside_samples_per_s = 600;
  dyno_quick_judge (quick);
  g_assert_cmpuint (quick->findings->len, ==, G_N_ELEMENTS (bad));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_cmpint (find (quick, bad[i])->level, >, DYNO_FINDING_GOOD);
  slow_data->loader_samples_per_s = 100;
  dyno_quick_judge (slow_data);
  g_assert_cmpint (find (slow_data, "data-falls-behind")->level, ==, DYNO_FINDING_WARNING);
  broken->problem = g_strdup ("the driver crashed");
  broken->samples_per_s = (double) NAN;
  dyno_quick_judge (broken);
  g_assert_cmpstr (((DynoFinding *) broken->findings->pdata[0])->id, ==, "training-failed");
  g_assert_null (find (broken, "as-expected"));
  g_assert_null (find (broken, "below-expectation"));
}

typedef struct {
  guint calls;
  double fraction;
  GCancellable *cancel; /* at the second call; or NULL */
} Watch;

static void
on_progress (const char *what, double fraction, gpointer data)
{
  Watch *watch = data;

  g_assert_nonnull (what);
  g_assert_true (fraction >= watch->fraction && fraction <= 1);
  watch->fraction = fraction;
  if (++watch->calls == 2 && watch->cancel)
    g_cancellable_cancel (watch->cancel);
}

/* A lack of time is not attributed to the driver, and a CPU that other programs used is
 * reported. */
static void
test_busy (void)
{
  g_autoptr (DynoQuick) busy = good_machine (), quiet = good_machine ();

  busy->problem = g_strdup ("The time was over");
  busy->unfinished = TRUE;
  busy->samples_per_s = (double) NAN;
  busy->outside_cpu = 0.4;
  dyno_quick_judge (busy);
  g_assert_null (find (busy, "training-failed"));
  g_assert_cmpint (find (busy, "training-unfinished")->level, ==, DYNO_FINDING_WARNING);
  g_assert_nonnull (strstr (find (busy, "cpu-shared")->text, "40 %"));
  quiet->outside_cpu = 0.1;
  dyno_quick_judge (quiet);
  g_assert_null (find (quiet, "cpu-shared"));
}

static void
test_cancelled (void)
{
  const DynoQuickParams params = { .device = 0, .seconds = 0.1, .without_cpu = TRUE };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  Watch watch = { .cancel = cancellable };
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_quick_run (&params, on_progress, &watch, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (watch.calls, ==, 2);
}

static void
test_whole (void)
{
  const DynoQuickParams params = {
    .device = 0, .preset = "rtx4060", .seconds = 0.2, .all_seconds = 3600
  };
  Watch watch = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoQuick) quick = dyno_quick_run (&params, on_progress, &watch, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (watch.calls, >=, 3);
  g_assert_true (quick->has_ceilings && quick->ceilings.copy_bytes_per_s > 0);
  g_assert_true (quick->loader_samples_per_s > 0);
  g_assert_cmpfloat (quick->expected_least, ==, 105);
  g_assert_cmpfloat (quick->expected_most, ==, 105);
  g_assert_cmpfloat (quick->samples_per_s, >, 0);
  g_assert_null (quick->problem);
  g_test_message ("predicting %g samples/s, an epoch %g s of %u samples",
                  quick->epoch.predict_samples_per_s, quick->epoch.epoch_s, quick->n_train);
  g_assert_cmpuint (quick->n_train, ==,
                    1844); /* of 2,048 in ten classes, less a tenth of each for validation */
  g_assert_cmpfloat (quick->epoch.predict_samples_per_s, >, 0);
  g_assert_cmpfloat (quick->epoch.epoch_s, >, 0);
  g_assert_cmpuint (quick->findings->len, >, 0);
}

static void
test_errors (void)
{
  const DynoQuickParams device = { .device = 99 }, preset = { .device = 0, .preset = "rtx9999" };
  g_autoptr (GError) a = NULL, b = NULL;

  g_assert_null (dyno_quick_run (&device, NULL, NULL, NULL, &a));
  g_assert_error (a, DYNO_GPU_ERROR, DYNO_GPU_ERROR_NO_DEVICE);
  g_assert_null (dyno_quick_run (&preset, NULL, NULL, NULL, &b));
  g_assert_error (b, DYNO_TUNE_ERROR, DYNO_TUNE_ERROR_PRESET);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/quick/good-signs", test_good);
  g_test_add_func ("/tune/quick/bad-signs-worst-first", test_bad);
  g_test_add_func ("/tune/quick/no-time-is-no-failure", test_busy);
  g_test_add_func ("/tune/quick/no-such-device-or-preset", test_errors);
  g_test_add_func ("/tune/quick/can-be-cancelled", test_cancelled);
  g_test_add_func ("/tune/quick/measures-this-machine", test_whole);
  return g_test_run ();
}
