/* SPDX-License-Identifier: MIT */
/* The inspector of the open data set: its division, and the sentences about its samples. */
#include "parts.h"
#include "arrays.h"
#include "datainspector.h"
#include <string.h>

#define ORDERED                                                                                     \
  "The samples lie in the order of their classes: with “Shuffle: off” a batch would be of one " \
  "class"
#define WAITS   "The samples are compared with each other once no run is in progress"
#define MIXED   "one of the two labels is wrong"
#define TOO_BIG "The samples have more than 256\302\240MiB and were not compared with each other"

/* A folder with 16 samples of 4 bytes, the first half of class 0; sample i is i and zeros, but the
 * last one is as sample `last`. */
static char *
make_small (const char *name, guint8 last)
{
  char *folder = g_build_filename (g_get_home_dir (), name, NULL);
  guint8 x[16][4] = { { 0 } }, y[16];

  for (guint8 i = 0; i < 16; i++)
    {
      x[i][0] = i < 15 ? i : last;
      y[i] = i >= 8;
    }
  arrays_write (folder, "X.npy", "|u1", "(16, 2, 2)", x[0], sizeof x);
  arrays_write (folder, "y.npy", "|u1", "(16,)", y, sizeof y);
  return folder;
}

static gboolean
is_open (gpointer setup)
{
  return !dyno_setup_get_opening (setup, NULL);
}

static gboolean
is_quiet (gpointer inspector)
{
  return !dyno_data_inspector_is_busy (inspector);
}

static void
open (DynoSetup *setup, const char *location)
{
  dyno_setup_open_data (setup, location);
  parts_wait (is_open, setup);
}

static gboolean
says (const GPtrArray *sentences, const char *part)
{
  for (guint i = 0; i < sentences->len; i++)
    if (strstr (sentences->pdata[i], part))
      return TRUE;
  return FALSE;
}

static gboolean
warns (DynoDataInspector *inspector, const char *part)
{
  return says (dyno_data_inspector_get_warnings (inspector), part);
}

static gboolean
remarks (DynoDataInspector *inspector, const char *part)
{
  return says (dyno_data_inspector_get_remarks (inspector), part);
}

static void
assert_split (DynoDataInspector *inspector, guint64 train, guint64 validation, guint64 test)
{
  guint64 n[3] = { 0 };

  g_assert_true (dyno_data_inspector_get_split (inspector, &n[0], &n[1], &n[2]));
  g_assert_cmpuint (n[0], ==, train);
  g_assert_cmpuint (n[1], ==, validation);
  g_assert_cmpuint (n[2], ==, test);
}

static void
assert_no_split (DynoDataInspector *inspector)
{
  guint64 n[3];

  g_assert_false (dyno_data_inspector_get_split (inspector, &n[0], &n[1], &n[2]));
}

static void
drop (DynoSetup *setup)
{
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

/* Only what the division depends on divides anew; until that is done, no numbers are given, and
 * never those of another data set. */
static void
test_the_division_follows_its_settings (void)
{
  DynoSetup *setup = dyno_setup_new ();
  DynoDataInspector *inspector = dyno_data_inspector_new (setup);

  assert_no_split (inspector);
  g_assert_false (dyno_data_inspector_is_busy (inspector));
  dyno_setup_set_number (setup, "data.val_split", 0.25, NULL);
  g_assert_false (dyno_data_inspector_is_busy (inspector));
  for (guint i = 1; i <= 2; i++)
    {
      g_autofree char *location =
          g_strdup_printf ("builtin:shapes?size=16&samples=%u00&classes=2", i);
      open (setup, location);
      assert_no_split (inspector);
      parts_wait (is_quiet, inspector);
      assert_split (inspector, 75 * i, 25 * i, 0);
      dyno_setup_set_number (setup, "lr", 0.01 * i, NULL);
      g_assert_false (dyno_data_inspector_is_busy (inspector));
      assert_split (inspector, 75 * i, 25 * i, 0);
      dyno_setup_set_number (setup, "data.test_split", 0.2, NULL);
      assert_no_split (inspector);
      parts_wait (is_quiet, inspector);
      assert_split (inspector, 60 * i, 20 * i, 20 * i);
      /* Of two changes at once, the second one counts. */
      dyno_setup_set_number (setup, "data.test_split", 0, NULL);
      dyno_setup_set_number (setup, "data.val_split", 0.5, NULL);
      parts_wait (is_quiet, inspector);
      assert_split (inspector, 50 * i, 50 * i, 0);
      g_assert_true (dyno_setup_step (setup, TRUE));
      parts_wait (is_quiet, inspector);
      assert_split (inspector, 75 * i, 25 * i, 0);
    }
  g_object_unref (inspector);
  drop (setup);
}

/* Samples are compared once for each data set, and not during a run: a comparison that a run stops
 * is begun anew after it.  Sentences name settings by their titles. */
static void
test_samples_are_compared_between_runs (void)
{
  DynoSetup *setup = dyno_setup_new ();
  DynoDataInspector *inspector = dyno_data_inspector_new (setup);
  g_autofree char *mixed = make_small ("mixed", 3), *clean = make_small ("clean", 15);

  g_assert_cmpuint (dyno_data_inspector_get_remarks (inspector)->len, ==, 0);
  for (guint i = 0; i < 2; i++)
    {
      open (setup, mixed);
      g_assert_true (dyno_data_inspector_is_busy (inspector));
      g_assert_cmpuint (dyno_data_inspector_get_remarks (inspector)->len, ==, 0);
      dyno_setup_set_work (setup, DYNO_SETUP_TRAINS);
      g_assert_true (remarks (inspector, WAITS));
      parts_wait (is_quiet, inspector); /* the division goes on */
      g_assert_true (remarks (inspector, WAITS));
      g_assert_false (warns (inspector, MIXED));
      dyno_setup_set_work (setup, DYNO_SETUP_IDLE);
      g_assert_true (dyno_data_inspector_is_busy (inspector));
      g_assert_false (remarks (inspector, WAITS));
      parts_wait (is_quiet, inspector);
      g_assert_true (warns (inspector, "1 sample is the same as one of another class"));
      g_assert_true (warns (inspector, "Fewer than 10 samples of "));
      g_assert_true (warns (inspector, ". Add samples, or set “Balance classes: Sampling”"));
      g_assert_true (remarks (inspector, ORDERED));
      g_assert_false (remarks (inspector, MIXED) || warns (inspector, ORDERED));
      for (guint k = 0; k < 2; k++) /* a second run does not repeat the comparison */
        {
          dyno_setup_set_work (setup, k == 0 ? DYNO_SETUP_TRAINS : DYNO_SETUP_IDLE);
          g_assert_true (is_quiet (inspector) && warns (inspector, MIXED));
          g_assert_false (remarks (inspector, WAITS));
        }
      open (setup, clean);
      g_assert_false (warns (inspector, MIXED));
      g_assert_false (remarks (inspector, ORDERED));
      parts_wait (is_quiet, inspector);
      g_assert_false (warns (inspector, MIXED));
      g_assert_true (remarks (inspector, ORDERED));
      g_assert_false (dyno_data_inspector_can_compare (inspector));
    }
  g_object_unref (inspector);
  drop (setup);
}

/* Large samples are compared only where this is asked for, of each data set anew; asked for during
 * a run, they are compared after it. */
static void
test_large_samples_are_compared_on_demand (void)
{
  DynoSetup *setup = dyno_setup_new ();
  DynoDataInspector *inspector = dyno_data_inspector_new (setup);
  g_autofree char *large = g_build_filename (g_get_home_dir (), "large", NULL),
                  *small = make_small ("small", 15);
  guint8 y[257];

  for (guint i = 0; i < G_N_ELEMENTS (y); i++)
    y[i] = i % 2;
  arrays_write (large, "X.npy", "|u1", "(257, 1024, 1024)", NULL, (gsize) 257 << 20);
  arrays_write (large, "y.npy", "|u1", "(257,)", y, sizeof y);
  for (guint i = 0; i < 2; i++)
    {
      open (setup, large);
      g_assert_false (dyno_data_inspector_can_compare (inspector));
      parts_wait (is_quiet, inspector);
      g_assert_true (dyno_data_inspector_can_compare (inspector));
      g_assert_true (remarks (inspector, TOO_BIG));
      g_assert_cmpuint (dyno_data_inspector_get_warnings (inspector)->len, ==, 0);
      dyno_setup_set_work (setup, DYNO_SETUP_TRAINS);
      g_assert_true (dyno_data_inspector_can_compare (inspector));
      dyno_data_inspector_compare (inspector);
      g_assert_false (dyno_data_inspector_can_compare (inspector));
      g_assert_false (remarks (inspector, TOO_BIG));
      g_assert_true (remarks (inspector, WAITS));
      g_assert_true (is_quiet (inspector));
      dyno_setup_set_work (setup, DYNO_SETUP_IDLE);
      g_assert_false (is_quiet (inspector));
      g_assert_cmpuint (dyno_data_inspector_get_remarks (inspector)->len, ==, 0);
      if (i == 0)
        {
          parts_wait (is_quiet, inspector);
          g_assert_true (warns (inspector, MIXED));
          g_assert_false (remarks (inspector, TOO_BIG) || remarks (inspector, WAITS));
          g_assert_false (dyno_data_inspector_can_compare (inspector));
        }
      open (setup, small);
      parts_wait (is_quiet, inspector);
      g_assert_false (dyno_data_inspector_can_compare (inspector));
    }
  g_object_unref (inspector);
  drop (setup);
}

/* A comparison that failed is not tried again, and its error is of its data set alone. */
static void
test_a_failed_comparison_is_of_its_data (void)
{
  static const char *const reasons[] = { "No memory for it.", "No memory for the other." };
  DynoSetup *setup = dyno_setup_new ();
  DynoDataInspector *inspector = dyno_data_inspector_new (setup);
  g_autofree char *mixed = make_small ("failing", 3), *clean = make_small ("not failing", 15);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, reasons[i]);
      open (setup, mixed);
      parts_wait (is_quiet, inspector);
      g_assert_true (warns (inspector, MIXED));
      dyno_data_inspector_take_survey (inspector, NULL, error);
      g_assert_true (remarks (inspector, reasons[i]));
      g_assert_false (remarks (inspector, reasons[!i]) || remarks (inspector, WAITS));
      g_assert_false (warns (inspector, MIXED) || dyno_data_inspector_can_compare (inspector));
      for (guint k = 0; k < 2; k++)
        {
          dyno_setup_set_work (setup, k == 0 ? DYNO_SETUP_TRAINS : DYNO_SETUP_IDLE);
          g_assert_true (is_quiet (inspector) && remarks (inspector, reasons[i]));
        }
      open (setup, clean);
      g_assert_false (remarks (inspector, reasons[i]));
      parts_wait (is_quiet, inspector);
      g_assert_true (remarks (inspector, ORDERED));
      g_assert_false (remarks (inspector, reasons[i]));
    }
  g_object_unref (inspector);
  drop (setup);
}

void
parts_add_inspector (void)
{
  g_test_add_func ("/ui/parts/a-failed-comparison-is-of-its-data",
                   test_a_failed_comparison_is_of_its_data);
  g_test_add_func ("/ui/parts/the-division-follows-its-settings",
                   test_the_division_follows_its_settings);
  g_test_add_func ("/ui/parts/samples-are-compared-between-runs",
                   test_samples_are_compared_between_runs);
  g_test_add_func ("/ui/parts/large-samples-are-compared-on-demand",
                   test_large_samples_are_compared_on_demand);
}
