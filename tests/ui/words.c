/* SPDX-License-Identifier: MIT */
/* What the window says, without a display: numbers beside text that runs from right to left, names
 * of runs, settings by their titles. */
#include "format.h"
#include "settingtitles.h"
#include "words.h"
#include <gtk/gtk.h>
#include <math.h>
#include <string.h>

/* Where that part of the text stands in a line of that direction, as it is drawn. */
static int
find_x (PangoDirection direction, const char *text, const char *part)
{
  PangoContext *context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  PangoLayout *layout;
  PangoRectangle at;
  const char *found = strstr (text, part);

  g_assert_nonnull (found);
  pango_context_set_base_dir (context, direction);
  layout = pango_layout_new (context);
  pango_layout_set_text (layout, text, -1);
  pango_layout_index_to_pos (layout, (int) (found - text), &at);
  g_object_unref (layout);
  g_object_unref (context);
  return at.x;
}

#define assert_order(text, first, then)                          \
  g_assert_cmpint (find_x (PANGO_DIRECTION_RTL, text, first), <, \
                   find_x (PANGO_DIRECTION_RTL, text, then))

static void
test_units_stand_at_their_right (void)
{
  const DynoMetricInfo metric = { .format = DYNO_METRIC_NUMBER, .unit = "degrees" };
  gtk_widget_set_default_direction (GTK_TEXT_DIR_RTL);
  g_autofree char *percent = dyno_format_percent (0.675), *share = dyno_format_share (0.43),
                  *bytes = dyno_format_bytes (3 << 20), *size = dyno_format_size (64, 48, 3),
                  *ms = dyno_format_ms (12.4), *rate = dyno_format_throughput (35.4),
                  *degrees = dyno_format_metric (&metric, 2.31),
                  *factor = dyno_format_isolate (g_strdup ("3.4\303\227"));
  gtk_widget_set_default_direction (GTK_TEXT_DIR_LTR);
  g_autofree char *plain = dyno_format_percent (0.675);
  assert_order (percent, "6", "%");
  assert_order (share, "4", "%");
  assert_order (size, "64", "48");
  assert_order (degrees, "2", "\302\260");
  assert_order (factor, "4", "\303\227");
  const char *const parts[][3] = {
    { percent, "6", "%" }, { bytes, "3", "MiB" }, { ms, "1", "ms" }, { rate, "3", "s/s" }
  };
  for (gsize i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *whole = g_strdup_printf ("\327\251\327\234\327\225\327\235 %s "
                                                "\327\251\327\234\327\225\327\235",
                                                parts[i][0]);
      assert_order (whole, parts[i][1], parts[i][2]);
    }
  g_assert_cmpstr (plain, ==, "67.5 %"); /* nothing is added where nothing is needed */
  /* What all this is for. */
  g_assert_cmpint (find_x (PANGO_DIRECTION_RTL, plain, "%"), <,
                   find_x (PANGO_DIRECTION_RTL, plain, "6"));
}

static void
check_titles (const char *text, const char *expected)
{
  g_autofree char *put = dyno_setting_titles_put (text);

  g_assert_cmpstr (put, ==, expected);
}

static void
test_keys_become_titles (void)
{
  check_titles (NULL, NULL);
  check_titles ("Set workers=8 (about +40 %)", "Set “Workers 8” (about +40 %)");
  check_titles ("Take a lower lr (0.005), a longer warm-up or clip_norm=1; see whether amp=false "
                "holds.",
                "Take a lower “Learning rate” (0.005), a longer warm-up or “Gradient clipping 1”; "
                "see whether “Mixed precision (AMP) off” holds.");
  check_titles ("a small batch and model.width below 1", "a small batch and “Model width” below 1");
  check_titles ("Set data.val_split=0.1.", "Set “Validation share 0.1”.");
  check_titles ("设置 model.width；lr=0.5。", "设置 “Model width”；“Learning rate 0.5”。");
  /* Words of every day, files, options, and what is quoted. */
  check_titles ("64 workers share 2 cores; cache, seed", "64 workers share 2 cores; cache, seed");
  check_titles ("/data/lr/model.width.csv --device", "/data/lr/model.width.csv --device");
  check_titles ("There is no “lr_rate”: “lr”?", "There is no “lr_rate”: “lr”?");
  check_titles ("workers=many, batch_sizes=3", "workers=many, batch_sizes=3");
}

static void
check_name (const char *name, const char *folder, const char *begin)
{
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();
  g_autoptr (GDateTime) noon = g_date_time_new_local (2001, 2, 3, 12, 34, 5);
  g_autofree char *said = NULL;

  run->name = g_strdup (name);
  run->folder = g_strdup (folder);
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:shapes?size=16");
  run->begin_us = g_date_time_to_unix (noon) * G_USEC_PER_SEC;
  said = dyno_words_run (run);
  if (!g_str_has_prefix (said, begin))
    g_error ("“%s” does not begin with “%s”", said, begin);
  g_assert_cmpint (g_str_has_suffix (said, " 12:34"), ==, g_str_has_prefix (begin, "MLP"));
}

static void
test_runs_without_a_name_say_what_and_when (void)
{
  check_name (NULL, "/runs/2001-02-03_12-34-05", "MLP on Shapes, ");
  check_name (NULL, "/runs/2001-02-03_12-34-05_2", "MLP on Shapes, ");
  check_name (NULL, NULL, "MLP on Shapes, ");
  check_name ("the slower one", "/runs/2001-02-03_12-34-05", "the slower one");
  check_name (NULL, "/work/baseline", "baseline"); /* somebody named it */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/words/units-stand-at-their-right", test_units_stand_at_their_right);
  g_test_add_func ("/ui/words/keys-become-titles", test_keys_become_titles);
  g_test_add_func ("/ui/words/runs-without-a-name-say-what-and-when",
                   test_runs_without_a_name_say_what_and_when);
  return g_test_run ();
}
