/* SPDX-License-Identifier: MIT */
/* The memory that drivers report, correctly and wrongly, through the layer of tests/layer:
 * impossible numbers are not used, and a run then shows its own account, labelled as such. */
#include "../train/train-test.h"
#include "buffer.h"
#include "device.h"
#include "session-private.h"
#include <gmodule.h>

#define MIB (G_GUINT64_CONSTANT (1) << 20)

static void (*set_faults) (const char *words);

static const struct {
  guint64 budget, usage;
  gboolean said;
  guint64 own, available;
} cases[] = {
  { 0, 0, FALSE, 0, 0 },
  { 0, 100 * MIB, FALSE, 0, 0 },
  { 1000 * MIB, 100 * MIB, TRUE, 100 * MIB, 900 * MIB },
  { 80 * MIB, 100 * MIB, TRUE, 100 * MIB, 0 }, /* other programs use some of it */
  { 1000 * MIB, 64 * MIB, TRUE, 64 * MIB, 936 * MIB },
  { 1000 * MIB, 0, FALSE, 0, 0 }, /* less than Dyno has allocated */
  { 1000 * MIB, 1, FALSE, 0, 0 },
  { 1000 * MIB, G_MAXUINT64, FALSE, 0, 0 },
  { G_MAXUINT64, G_MAXUINT64 / 2, FALSE, 0, 0 },
};

static void
tell (guint64 budget, guint64 usage)
{
  g_autofree char *words = g_strdup_printf (
      "budget,budget-bytes=%" G_GUINT64_FORMAT ",usage-bytes=%" G_GUINT64_FORMAT, budget, usage);

  g_test_message ("%s", words);
  set_faults (words);
}

static void
test_numbers (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      DynoMemoryUsage usage = { 0 };
      guint64 used = 0, available = 0;

      tell (cases[i].budget, cases[i].usage);
      g_autoptr (DynoDevice) device = dyno_device_open (&(DynoDeviceParams){ 0 }, &error);
      g_assert_no_error (error);
      guint64 size = dyno_device_get_info (device)->vram_bytes;
      g_assert_true (dyno_device_get_info (device)->memory_budget);
      g_assert_cmpuint (size, >=, 1000 * MIB);
      g_autoptr (DynoBuffer) held =
          dyno_buffer_new (device, 64 * MIB, DYNO_MEMORY_WEIGHTS, DYNO_BUFFER_DEVICE, &error);
      g_assert_no_error (error);
      g_assert_nonnull (held);
      g_assert_cmpint (dyno_device_query_usage (device, &usage), ==, cases[i].said);
      g_assert_cmpint (dyno_device_query_memory (device, &used, &available), ==, cases[i].said);
      if (!cases[i].said)
        continue;
      g_assert_cmpuint (usage.own_bytes, ==, cases[i].own);
      g_assert_cmpuint (usage.available_bytes, ==, cases[i].available);
      g_assert_cmpuint (usage.used_bytes, ==, size - cases[i].available);
      g_assert_cmpuint (used + available, ==, size);
    }
}

/* The reported budget exceeds the device's memory. */
static void
test_more_than_there_is (void)
{
  DynoMemoryUsage usage = { 0 };

  tell (G_MAXUINT64, 100 * MIB);
  g_autoptr (DynoDevice) device = dyno_device_open (&(DynoDeviceParams){ 0 }, NULL);
  guint64 size = dyno_device_get_info (device)->vram_bytes;
  g_assert_true (dyno_device_query_usage (device, &usage));
  g_assert_cmpuint (usage.available_bytes, ==, size - 100 * MIB);
  g_assert_cmpuint (usage.used_bytes, ==, 100 * MIB);
}

/* The last sensor reading of a run, and the memory of all programs from its steps. */
static void
run_job (DynoSensorReading *last, guint64 *all_bytes)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:shapes?size=16&samples=100&classes=3");
  gboolean done = FALSE;

  test_job_set (job, "model.width=0.0625", "epochs=2", NULL);
  g_autoptr (DynoSession) session = dyno_session_new (job);
  DynoEventQueue *events = dyno_session_add_queue (session, 0, TRUE);
  session->sensors.interval_ms = 5;
  dyno_session_start (session);
  while (!done)
    {
      g_autoptr (DynoEvent) event = dyno_event_queue_pop (events, 300 * G_USEC_PER_SEC);

      g_assert_nonnull (event);
      g_assert_cmpint (event->type, !=, DYNO_EVENT_ERROR);
      if (event->type == DYNO_EVENT_SENSORS)
        *last = *event->sensors;
      if (event->type == DYNO_EVENT_STEP)
        *all_bytes = event->step.vram_all_bytes;
      done = event->type == DYNO_EVENT_DONE;
    }
  dyno_session_join (session);
}

static void
test_run_is_labelled (void)
{
  DynoSensorReading r = { 0 };
  guint64 all = 0;

  tell (1000 * MIB, 100 * MIB);
  run_job (&r, &all);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_VRAM_OWN], ==, DYNO_SENSOR_SOURCE_DRIVER);
  g_assert_cmpfloat (r.values[DYNO_SENSOR_VRAM_OWN], ==, 100 * MIB);
  g_assert_cmpuint (all, >, 0);
  tell (1000 * MIB, 0);
  run_job (&r, &all);
  g_assert_cmpuint (r.sources[DYNO_SENSOR_VRAM_OWN], ==, DYNO_SENSOR_SOURCE_ACCOUNT);
  g_assert_cmpfloat (r.values[DYNO_SENSOR_VRAM_OWN], >, 10000);
  g_assert_cmpuint (all, ==, 0);
}

int
main (int argc, char **argv)
{
  GModule *module;

  g_test_init (&argc, &argv, NULL);
  module = g_module_open (g_getenv ("DYNO_FAULTS_LAYER"), G_MODULE_BIND_LAZY);
  g_assert_nonnull (module);
  g_assert_true (g_module_symbol (module, "dyno_faults_set", (gpointer *) &set_faults));
  g_test_add_func ("/faults/memory-budget/numbers-that-cannot-be-are-not-known", test_numbers);
  g_test_add_func ("/faults/memory-budget/no-more-than-there-is", test_more_than_there_is);
  g_test_add_func ("/faults/memory-budget/run-is-labelled", test_run_is_labelled);
  return g_test_run ();
}
