/* SPDX-License-Identifier: MIT */
/* Following the lines of a file that grows, is replaced or is truncated. */
#include "follower.h"
#include <glib/gstdio.h>
#include <string.h>

static char *folder, *path;

static void
append (const char *text)
{
  FILE *file = g_fopen (path, "a");

  g_assert_nonnull (file);
  g_assert_cmpint (fputs (text, file), >=, 0);
  g_assert_cmpint (fclose (file), ==, 0);
}

static void
expect (DynoFollower *follower, const char *line, gboolean first)
{
  gboolean anew = !first;

  g_assert_cmpstr (dyno_follower_next (follower, &anew), ==, line);
  g_assert_cmpint (anew, ==, first);
}

static void
test_grows (void)
{
  g_autoptr (DynoFollower) follower = dyno_follower_new (path);

  g_remove (path);
  expect (follower, NULL, FALSE);
  append ("one\ntw");
  expect (follower, "one", TRUE);
  expect (follower, NULL, FALSE);
  append ("o\n\nthree");
  expect (follower, "two", FALSE);
  expect (follower, "", FALSE);
  expect (follower, NULL, FALSE);
  expect (follower, NULL, FALSE);
  append ("\n");
  expect (follower, "three", FALSE);
}

static void
test_replaced (void)
{
  g_autoptr (DynoFollower) follower = dyno_follower_new (path);

  g_remove (path);
  append ("one\nhalf");
  expect (follower, "one", TRUE);
  expect (follower, NULL, FALSE);
  g_assert_true (g_file_set_contents (path, "new one\nnew two\n", -1, NULL));
  expect (follower, "new one", TRUE);
  expect (follower, "new two", FALSE);
  expect (follower, NULL, FALSE);
}

/* While the file is missing no line is returned; no line of the file that replaces it is lost. */
static void
test_cut_and_gone (void)
{
  g_autoptr (DynoFollower) follower = dyno_follower_new (path);
  FILE *file;

  g_remove (path);
  append ("first line\n");
  expect (follower, "first line", TRUE);
  file = g_fopen (path, "w");
  g_assert_cmpint (fputs ("cut\n", file), >=, 0);
  g_assert_cmpint (fclose (file), ==, 0);
  expect (follower, "cut", TRUE);
  g_remove (path);
  expect (follower, NULL, FALSE);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  expect (follower, NULL, FALSE);
  g_assert_cmpint (g_rmdir (path), ==, 0);
  append ("back\n");
  expect (follower, "back", TRUE);
}

/* Lines of any length up to the limit are whole, also across the boundaries of the read buffer. */
static void
test_long (void)
{
  g_autoptr (DynoFollower) follower = dyno_follower_new (path);
  g_autofree char *fits = g_strnfill (1048576, 'a'), *too_long = g_strnfill (3000000, 'b');

  g_remove (path);
  append (fits);
  append ("\n");
  append (too_long);
  expect (follower, fits, TRUE);
  expect (follower, NULL, FALSE);
  append ("b\nshort\n");
  expect (follower, "short", FALSE);
  for (guint i = 0; i < 30000; i++)
    append (i % 2 ? "12345\n" : "6\n");
  for (guint i = 0; i < 30000; i++)
    expect (follower, i % 2 ? "12345" : "6", FALSE);
  expect (follower, NULL, FALSE);
  /* A file that replaces one in the middle of a line that is too long has its own first line. */
  append (too_long);
  expect (follower, NULL, FALSE);
  g_assert_true (g_file_set_contents (path, "new one\nnew two\n", -1, NULL));
  expect (follower, "new one", TRUE);
  expect (follower, "new two", FALSE);
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("dyno-follower-XXXXXX", NULL);
  path = g_build_filename (folder, "lines", NULL);
  g_test_add_func ("/base/follower/whole-lines-as-they-come", test_grows);
  g_test_add_func ("/base/follower/replaced-file-begins-again", test_replaced);
  g_test_add_func ("/base/follower/cut-file-and-one-that-was-gone", test_cut_and_gone);
  g_test_add_func ("/base/follower/long-lines-up-to-a-limit", test_long);
  code = g_test_run ();
  g_remove (path);
  g_rmdir (folder);
  g_free (path);
  g_free (folder);
  return code;
}
