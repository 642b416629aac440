/* SPDX-License-Identifier: MIT */
/* The tuner's search space follows the table of settings. */
#include "space.h"
#include <string.h>

/* All values of a setting that may be tried, separated by blanks. */
static char *
list_values (const char *key)
{
  const DynoSettingInfo *info = dyno_setting_find (key);
  g_autoptr (GString) text = g_string_new (NULL);
  double value = -1;

  while (dyno_space_step (info, &value))
    g_string_append_printf (text, "%s%g", text->len ? " " : "", value);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_steps (void)
{
  g_autofree char *batch = list_values ("batch_size"), *amp = list_values ("amp"),
                  *workers = list_values ("workers");
  const DynoSettingInfo *info = dyno_setting_find ("batch_size");
  double value = 12;

  g_assert_cmpstr (batch, ==, "8 16 32 64 128 256 512 1024 2048 4096");
  g_assert_cmpstr (amp, ==, "0 1");
  g_assert_cmpstr (workers, ==, "0 1 2 4 8 16 32 64 128 256");
  g_assert_true (dyno_space_step (info, &value));
  g_assert_cmpfloat (value, ==, 16);
  value = 4096;
  g_assert_false (dyno_space_step (info, &value));
  g_assert_cmpfloat (value, ==, 4096);
}

/* The space has exactly the tunable rows of the table, and the table accepts every value. */
static void
test_follows_the_table (void)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n), *row = dyno_space_next (NULL);
  DynoSettings settings;

  dyno_settings_init (&settings);
  for (guint i = 0; i < n; i++)
    {
      double value = -1;
      guint values = 0;

      if (table[i].tunable.steps == DYNO_TUNABLE_NO)
        continue;
      g_assert_true (row == &table[i]);
      for (; dyno_space_step (row, &value); values++)
        g_assert_true (dyno_settings_set_number (&settings, row->key, value, NULL));
      g_assert_cmpuint (values, >, 1);
      row = dyno_space_next (row);
    }
  g_assert_null (row);
}

/* Batch 16, fp32, no workers; other settings stay. */
static void
test_baseline (void)
{
  DynoSettings settings, before;

  dyno_settings_init (&settings);
  settings.batch_size = 99;
  settings.amp = TRUE;
  settings.workers = 3;
  settings.lr = 7;
  settings.cache = settings.checkpointing = TRUE;
  settings.accumulate = 4;
  settings.prefetch = 5;
  before = settings;
  dyno_space_set_baseline (&settings);
  g_assert_cmpint (settings.batch_size, ==, 16);
  g_assert_false (settings.amp);
  g_assert_cmpint (settings.workers, ==, 0);
  g_assert_false (settings.cache || settings.checkpointing);
  g_assert_cmpint (settings.accumulate, ==, 1);
  g_assert_cmpint (settings.prefetch, ==, 2);
  settings.cache = settings.checkpointing = TRUE;
  settings.accumulate = 4;
  settings.prefetch = 5;
  settings.batch_size = 99;
  settings.amp = TRUE;
  settings.workers = 3;
  g_assert_true (dyno_settings_equal (&settings, &before));
}

/* The batch decides first, then the workers; AMP counts for nothing. */
static void
test_compare (void)
{
  DynoSettings a, b;

  dyno_settings_init (&a);
  b = a;
  b.amp = !a.amp;
  b.lr = 9;
  g_assert_cmpint (dyno_space_compare (&a, &b), ==, 0);
  b.workers = a.workers + 1;
  g_assert_cmpint (dyno_space_compare (&a, &b), ==, -1);
  a.batch_size = b.batch_size * 2;
  g_assert_cmpint (dyno_space_compare (&a, &b), ==, 1);
}

/* Settings are the same where all searched ones are. */
static void
test_same (void)
{
  DynoSettings a, b;

  dyno_settings_init (&a);
  b = a;
  b.lr = 9;
  b.epochs = a.epochs + 1;
  g_assert_true (dyno_space_same (&a, &b));
  for (const DynoSettingInfo *row = dyno_space_next (NULL); row; row = dyno_space_next (row))
    {
      double value = dyno_settings_get_number (&a, row->key);

      b = a;
      g_assert_true (dyno_settings_set_number (
          &b, row->key, value + 1 <= row->maximum ? value + 1 : value - 1, NULL));
      g_assert_false (dyno_space_same (&a, &b));
    }
}

/* --- the space of this machine ---------------------------------------------------------------- */

static char *
list_searched (const DynoSearchSpace *space, const char *key, const DynoSettings *start)
{
  g_autoptr (GArray) values = dyno_space_values (space, dyno_setting_find (key), start);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < values->len; i++)
    g_string_append_printf (text, "%s%g", text->len ? " " : "", g_array_index (values, double, i));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
test_searched_values (void)
{
  DynoSearchSpace space = { .most_batch = 75, .most_workers = 6, .loader = TRUE };
  DynoSettings start;

  dyno_settings_init (&start);
  start.batch_size = 20;
  start.amp = TRUE;
  start.prefetch = 5;
  g_autofree char *batch = list_searched (&space, "batch_size", &start),
                  *workers = list_searched (&space, "workers", &start),
                  *amp = list_searched (&space, "amp", &start),
                  *cache = list_searched (&space, "cache", &start),
                  *prefetch = list_searched (&space, "prefetch", &start);
  g_assert_cmpstr (batch, ==, "8 12 16 20 24 32 48 64 72");
  g_assert_cmpstr (workers, ==, "0 1 2 3 4 6");
  g_assert_cmpstr (amp, ==, "0"); /* the device has no fp16 */
  g_assert_cmpstr (cache, ==, "0");
  g_assert_cmpstr (prefetch, ==, "5"); /* prefetch limits nothing */
  space.vary_prefetch = space.can_cache = space.fp16 = TRUE;
  space.most_batch = 5;
  g_autofree char *few = list_searched (&space, "batch_size", &start),
                  *more = list_searched (&space, "prefetch", &start),
                  *cached = list_searched (&space, "cache", &start);
  g_assert_cmpstr (few, ==, "1 2 4 5");
  g_assert_cmpstr (more, ==, "2 4 5 8 16");
  g_assert_cmpstr (cached, ==, "0 1");
}

static void
test_all_points (void)
{
  DynoSearchSpace space = { .most_batch = 16, .most_workers = 2, .loader = TRUE, .fp16 = TRUE };
  DynoSettings start;

  dyno_settings_init (&start);
  start.batch_size = 16;
  start.workers = 1;
  g_autoptr (GArray) points = dyno_space_list (&space, &start);
  /* Batches 8, 12, 16; fp32 and AMP; 0, 1, 2 workers. */
  g_assert_cmpuint (points->len, ==, 3 * 2 * 3);
  for (guint i = 0; i < points->len; i++)
    for (guint k = 0; k < i; k++)
      g_assert_false (dyno_space_same (&g_array_index (points, DynoSettings, i),
                                       &g_array_index (points, DynoSettings, k)));
  space.loader = FALSE;
  g_autoptr (GArray) own = dyno_space_list (&space, &start);
  g_assert_cmpuint (own->len, ==, 3 * 2);
  g_assert_cmpint (g_array_index (own, DynoSettings, 0).workers, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tune/space/steps", test_steps);
  g_test_add_func ("/tune/space/follows-the-table", test_follows_the_table);
  g_test_add_func ("/tune/space/baseline-is-a-first-script", test_baseline);
  g_test_add_func ("/tune/space/compares-by-batch-then-workers", test_compare);
  g_test_add_func ("/tune/space/same-by-what-is-searched", test_same);
  g_test_add_func ("/tune/space/searches-what-the-machine-can-have", test_searched_values);
  g_test_add_func ("/tune/space/all-points-once", test_all_points);
  return g_test_run ();
}
