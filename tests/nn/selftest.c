/* SPDX-License-Identifier: MIT */
/* The list and the self-test of kernel variants. */
#include "selftest.h"
#include "harness.h"
#include <string.h>

typedef struct {
  guint usable, unusable, half, passed;
  gboolean with_results;
} Count;

static void
count (const DynoVariantReport *report, gpointer data)
{
  Count *c = data;
  c->usable += report->usable;
  c->unusable += !report->usable;
  c->half += report->precision->compute == DYNO_DTYPE_F16;
  g_assert_nonnull (report->name);
  g_assert_nonnull (report->pass);
  g_assert_true (report->usable == (!report->why));
  if (!c->with_results)
    return;
  if (!report->passed)
    g_test_message ("%s %s: %g, %s", report->name, report->pass, report->error,
                    report->fault ? report->fault : "wrong");
  g_assert_cmpfloat (report->error, <, report->tolerance);
  c->passed += report->passed;
}

static void
test_list (void)
{
  DynoDeviceInfo poor = { .shared_bytes = 16384,
                          .max_invocations = 128,
                          .max_groups_x = 65535,
                          .subgroup_min = 8,
                          .subgroup_max = 8 };
  DynoDeviceInfo rich = { .shared_bytes = 65536,
                          .max_invocations = 1024,
                          .max_groups_x = 65535,
                          .subgroup_min = 32,
                          .subgroup_max = 32,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_KHR };
  Count on_poor = { 0 }, on_rich = { 0 };
  dyno_selftest_list (&poor, count, &on_poor);
  dyno_selftest_list (&rich, count, &on_rich);
  g_assert_cmpuint (on_poor.usable, >=, 3);
  g_assert_cmpuint (on_poor.unusable, >, on_poor.usable);
  g_assert_cmpuint (on_rich.usable, >, on_poor.usable);
  g_assert_cmpuint (on_rich.usable + on_rich.unusable, ==, on_poor.usable + on_poor.unusable);
  /* Every precision of the table is listed. */
  g_assert_cmpuint (on_rich.half, >, 0);
  g_assert_cmpuint (on_rich.half, <, on_rich.usable + on_rich.unusable);
}

/* A software device takes seconds to compile a tile, so it computes with every third one. */
static void
test_device (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (NULL, &error);
  g_assert_no_error (error);
  Count listed = { 0 }, run = { .with_results = TRUE };
  guint failed = 1, one_of = harness_takes (1, 3) ? 1 : 3;
  dyno_selftest_list (dyno_device_get_info (device), count, &listed);
  g_assert_true (dyno_selftest_variants (device, one_of, count, &run, &failed, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (failed, ==, 0);
  g_assert_cmpuint (run.passed, ==, run.usable);
  if (one_of == 1)
    g_assert_cmpuint (run.passed, ==, listed.usable);
  else
    g_assert_cmpuint (run.passed * one_of, >=, listed.usable);
  g_assert_cmpuint (dyno_device_get_validation_messages (device), ==, 0);
}

static void
count_names (const DynoVariantReport *report, gpointer data)
{
  g_autofree char *name =
      g_strdup_printf ("%s %s %s", report->name, report->pass, report->precision->name);

  if (report->usable)
    g_assert_true (g_hash_table_add (data, g_steal_pointer (&name)));
}

/* All usable variants of the list are compiled, each once, also those without tiles.  `dynoctl
 * kernels --self-test`, which a test of the suite cli runs, compiles all; here a software device
 * compiles every third one. */
static void
test_compiles_the_list (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (NULL, &error);
  g_assert_no_error (error);
  g_autoptr (GHashTable) listed = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                         compiled = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer name;
  guint failed = 1, one_of = harness_takes (1, 3) ? 1 : 3, left_out = 0;
  dyno_selftest_list (dyno_device_get_info (device), count_names, listed);
  g_assert_true (dyno_selftest_compile (device, one_of, count_names, compiled, &failed, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (failed, ==, 0);
  g_assert_true (g_hash_table_contains (compiled, "depthwise wgrad fp32"));
  g_hash_table_iter_init (&iter, listed);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_hash_table_contains (compiled, name))
      {
        if (one_of == 1)
          g_error ("%s is not compiled", (char *) name);
        left_out++;
      }
  g_assert_cmpuint (g_hash_table_size (compiled) + left_out, ==, g_hash_table_size (listed));
  g_assert_cmpuint (g_hash_table_size (compiled) * one_of, >=, g_hash_table_size (listed));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/selftest/lists-variants", test_list);
  g_test_add_func ("/nn/selftest/compiles-what-is-listed", test_compiles_the_list);
  g_test_add_func ("/nn/selftest/all-variants-pass", test_device);
  return g_test_run ();
}
