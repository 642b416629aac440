/* SPDX-License-Identifier: MIT */
#include "monitor-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

char *
test_tree_new (void)
{
  g_autoptr (GError) error = NULL;
  char *root = g_dir_make_tmp ("dyno-monitor-XXXXXX", &error);

  g_assert_no_error (error);
  return root;
}

static char *
make_place (const char *root, const char *path)
{
  char *whole = g_build_filename (root, path, NULL);
  g_autofree char *folder = g_path_get_dirname (whole);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0755), ==, 0);
  return whole;
}

void
test_tree_write_bytes (const char *root, const char *path, const void *data, gsize size_bytes)
{
  g_autofree char *whole = make_place (root, path);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (whole, data, (gssize) size_bytes, &error);
  g_assert_no_error (error);
}

void
test_tree_write (const char *root, const char *path, const char *text)
{
  g_autofree char *whole = g_build_filename (root, path, NULL);

  if (text)
    test_tree_write_bytes (root, path, text, strlen (text));
  else
    g_assert_cmpint (g_unlink (whole), ==, 0);
}

void
test_tree_link (const char *root, const char *path, const char *target)
{
  g_autofree char *whole = make_place (root, path);

  g_unlink (whole);
  g_assert_cmpint (symlink (target, whole), ==, 0);
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) folder =
      g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open (path, 0, NULL);
  const char *name;

  while (folder && (name = g_dir_read_name (folder)))
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      remove_tree (child);
    }
  g_remove (path);
}

void
test_tree_free (char *root)
{
  remove_tree (root);
  g_free (root);
}

void
test_assert_near (double value, double expected)
{
  g_assert_cmpfloat_with_epsilon (value, expected, 1e-6 * MAX (1, fabs (expected)));
}

void
test_tree_write_machine (const char *root, guint moment)
{
  static const char *const stat[] = {
    "cpu  1000 100 500 8000 300 50 50 0 0 0\n"
    "cpu0 250 25 125 2000 75 12 13 0 0 0\n"
    "cpu1 250 25 125 2000 75 12 13 0 0 0\n"
    "cpu3 500 50 250 4000 150 26 24 0 0 0\n"
    "intr 123456 0 9 0 0 0\n"
    "ctxt 987654\n",
    "cpu  1180 100 520 8180 310 55 55 0 0 0\n"
    "cpu0 350 25 125 2000 75 12 13 0 0 0\n"
    "cpu1 250 25 125 2080 75 22 23 0 0 0\n"
    "cpu3 580 50 270 4100 160 21 19 0 0 0\n"
    "intr 123499 0 9 0 0 0\n"
    "ctxt 987999\n",
  };
  static const char *const self[] = {
    "4711 (a (b) 9 9 c) R 1 4711 4711 0 -1 4194304 100 0 2 0 700 150 0 0 20 0 9 0 5000 1 2\n",
    "4711 (a (b) 9 9 c) R 1 4711 4711 0 -1 4194304 100 0 2 0 780 170 0 0 20 0 9 0 5000 1 2\n",
  };
  static const char *const io[] = {
    "rchar: 999999\nwchar: 5\nsyscr: 1\nsyscw: 2\nread_bytes: 4096000\nwrite_bytes: 77\n",
    "rchar: 9999999\nwchar: 5\nsyscr: 1\nsyscw: 2\nread_bytes: 8192000\nwrite_bytes: 77\n",
  };
  static const char *const vmstat[] = {
    "nr_free_pages 5\npswpin 100\npswpout 900\n",
    "nr_free_pages 5\npswpin 110\npswpout 990\n",
  };

  test_tree_write (root, "stat", stat[moment]);
  test_tree_write (root, "self/stat", self[moment]);
  test_tree_write (root, "self/io", io[moment]);
  test_tree_write (root, "vmstat", vmstat[moment]);
  test_tree_write (root, "meminfo",
                   "MemTotal:       16000000 kB\nMemFree:         1000000 kB\n"
                   "MemAvailable:   12000000 kB\nSwapTotal: 0 kB\n");
  test_tree_write (root, "pressure/cpu",
                   "some avg10=12.50 avg60=3.00 avg300=0.10 total=5\n"
                   "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  test_tree_write (root, "pressure/io",
                   "some avg10=0.25 avg60=0.00 avg300=0.00 total=9\n"
                   "full avg10=7.00 avg60=0.00 avg300=0.00 total=9\n");
  test_tree_write (root, "pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
}
