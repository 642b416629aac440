/* SPDX-License-Identifier: MIT */
/* The files of a learning-rate range test. */
#include "lrfiles.h"
#include "base-error.h"
#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* The loss falls, and ends with NaN. */
static DynoLrCurve *
make_curve (void)
{
  DynoLrCurve *curve = dyno_lr_curve_new (0.001, 1.024, 11);

  for (guint i = 0; i < 10; i++)
    dyno_lr_curve_add (curve, 0.001 * (1 << i), 2.5 - 0.25 * i, i == 1);
  dyno_lr_curve_add (curve, 1.024, (double) NAN, TRUE);
  return curve;
}

static char *
read_file (const char *path)
{
  g_autoptr (GError) error = NULL;
  char *text;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

/* One row per step, '.' in any locale, empty cells for non-finite values. */
static void
test_csv_holds_every_step (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-lr-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, DYNO_LR_CSV, NULL), *text = NULL;
  g_autoptr (DynoLrCurve) curve = make_curve ();
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_lr_write_csv (curve, path, &error));
  g_assert_no_error (error);
  text = read_file (path);
  lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 1 + 11 + 1); /* the last is empty */
  g_assert_cmpstr (lines[0], ==, "step,lr,loss,smoothed,skipped");
  g_assert_cmpstr (lines[1], ==, "1,0.001,2.5,2.5,0");
  g_assert_true (g_str_has_prefix (lines[2], "2,0.002,2.25,2.3"));
  g_assert_true (g_str_has_suffix (lines[2], ",1"));
  g_assert_cmpstr (lines[11], ==, "11,1.024,,,1");
  g_unlink (path);
  g_rmdir (folder);
  g_assert_false (dyno_lr_write_csv (curve, "/nonexistent/lr.csv", &error));
  g_assert_error (error, DYNO_BASE_ERROR, DYNO_BASE_ERROR_IO);
}

/* The curve is drawn with and without a suggestion, also with a single point. */
static void
test_curve_is_drawn (void)
{
  g_autofree char *folder = g_dir_make_tmp ("dyno-lr-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, DYNO_LR_SVG, NULL);
  g_autoptr (DynoLrCurve) curve = make_curve ();

  for (guint n = 11; n > 0; n = n == 11 ? 1 : 0)
    {
      g_auto (DynoLrSuggestion) s = { 0 };
      g_autofree char *text = NULL;
      g_autoptr (GError) error = NULL;

      g_array_set_size (curve->points, n);
      dyno_lr_suggest (curve, &s);
      g_assert_true (isfinite (s.lr) == (n == 11));
      g_assert_true (dyno_lr_draw (curve, &s, path, &error));
      g_assert_no_error (error);
      text = read_file (path);
      g_assert_nonnull (strstr (text, "<svg"));
      g_unlink (path);
    }
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  if (!setlocale (LC_ALL, "de_DE.UTF-8"))
    g_test_message ("no German locale here");
  g_test_add_func ("/export/lrfiles/csv-holds-every-step", test_csv_holds_every_step);
  g_test_add_func ("/export/lrfiles/curve-is-drawn", test_curve_is_drawn);
  return g_test_run ();
}
