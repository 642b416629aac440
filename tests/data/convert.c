/* SPDX-License-Identifier: MIT */
/* Packing: what comes out is what went in, and a failure leaves nothing half done. */
#include "archive-test.h"
#include "convert.h"
#include "base-error.h"
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void
put_jpeg (const char *folder, const char *name, guint width, guint8 red)
{
  g_autoptr (GByteArray) file = test_jpeg (width, 30, red, 50, 50, FALSE);
  g_free (test_write (folder, name, file->data, file->len));
}

static char *
pack (DynoDataset *dataset, const char *folder, guint32 size, DynoConverted *converted,
      GPtrArray *skipped)
{
  char *path = g_build_filename (folder, "packed.tar", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (
      dyno_dataset_convert (dataset, path, size, NULL, NULL, NULL, skipped, converted, &error));
  g_assert_no_error (error);
  return path;
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir))
    n++;
  return n;
}

static void
test_folder_with_parts_is_the_same_after (void)
{
  g_autofree char *folder = test_folder_new (), *out = test_folder_new (), *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL, again = NULL;
  g_autoptr (GPtrArray) skipped = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GByteArray) scratch = g_byte_array_new (), png = test_png (9, 9, 2, 8, FALSE);
  g_autoptr (GArray) train = NULL, validation = NULL;
  const DynoDatasetInfo *info;
  DynoConverted converted;
  guint sum[2] = { 0 };

  for (guint i = 0; i < 70; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/%s/%02u.jpg", i % 5 ? "train" : "val",
                                               i % 2 ? "a \"q\" \\" : "b", i);
      put_jpeg (folder, name, 40 + i, (guint8) (3 * i));
    }
  g_free (test_write (folder, "train/b/x.png", png->data, png->len));
  dataset = test_open (folder);
  path = pack (dataset, out, 0, &converted, skipped);
  g_assert_cmpuint (converted.n_written, ==, 71);
  g_assert_cmpuint (converted.n_copied, ==, 71);
  g_assert_cmpuint (converted.n_skipped, ==, 0);
  g_assert_cmpuint (count_files (out), ==, 1);
  again = test_open (path);
  info = dyno_dataset_get_info (again);
  g_assert_cmpstr (info->kind, ==, "webdataset");
  g_assert_cmpuint (info->n_samples, ==, 71);
  g_assert_cmpstr (info->class_names[0], ==, "a \"q\" \\");
  g_assert_cmpuint (info->class_counts[1], ==, dyno_dataset_get_info (dataset)->class_counts[1]);
  g_assert_cmpuint (info->max_width, ==, 109);
  dyno_dataset_split (again, 0, 0, &train, &validation);
  g_assert_cmpuint (validation->len, ==, 14);
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < 71; i++)
      {
        guint8 pixels[8 * 8 * 3];
        gint32 label;
        g_assert_true (dyno_dataset_decode (k ? again : dataset, i, 8, 8,
                                            (gpointer[]){ pixels, &label }, scratch, NULL));
        for (guint b = 0; b < sizeof pixels; b++)
          sum[k] += pixels[b] * (guint) (label + 1);
      }
  g_assert_cmpuint (sum[0], ==, sum[1]);
  test_folder_remove (folder);
  test_folder_remove (out);
}

static void
test_scales_the_shorter_side (void)
{
  g_autofree char *folder = test_folder_new (), *out = test_folder_new (), *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL, again = NULL;
  DynoConverted converted;

  put_jpeg (folder, "a/1.jpg", 60, 10);
  put_jpeg (folder, "b/1.jpg", 12, 10);
  dataset = test_open (folder);
  path = pack (dataset, out, 15, &converted, NULL);
  g_assert_cmpuint (converted.n_copied, ==, 1); /* that one is not enlarged */
  again = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (again)->max_width, ==, 30);
  g_assert_cmpuint (dyno_dataset_get_info (again)->max_height, ==, 30);
  g_assert_cmpuint (dyno_dataset_get_info (again)->min_width, ==, 12);
  g_assert_cmpuint (dyno_dataset_get_info (again)->min_height, ==, 15);
  test_folder_remove (folder);
  test_folder_remove (out);
}

static void
test_drawn_and_values (void)
{
  g_autofree char *out = test_folder_new (), *path = NULL, *list = NULL, *of_list = NULL;
  g_autoptr (DynoDataset) shapes = test_open ("builtin:shapes?size=16&samples=40&classes=4");
  g_autoptr (DynoDataset) again = NULL, values = NULL, values_again = NULL, waves = NULL;
  g_autoptr (GError) error = NULL;
  DynoConverted converted;

  path = pack (shapes, out, 0, &converted, NULL);
  again = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (again)->n_samples, ==, 40);
  g_assert_cmpuint (dyno_dataset_get_info (again)->max_width, ==, 16);
  put_jpeg (out, "1.jpg", 40, 1);
  put_jpeg (out, "2.jpg", 40, 2);
  list = test_write (out, "l.csv", "1.jpg,0.1,2\n2.jpg,-1e-3,-0.0\n", 29);
  values = test_open (list);
  of_list = pack (values, out, 0, &converted, NULL);
  values_again = test_open (of_list);
  g_assert_cmpuint (dyno_schema_count_values (&dyno_dataset_get_info (values_again)->schema), ==,
                    2);
  g_assert_cmpfloat (dyno_dataset_get_values (values_again, 0)[0], ==, 0.1f);
  g_assert_true (signbit (dyno_dataset_get_values (values_again, 1)[1]));
  waves = test_open ("builtin:waves?samples=20");
  g_assert_false (
      dyno_dataset_convert (waves, path, 0, NULL, NULL, NULL, NULL, &converted, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_folder_remove (out);
}

/* The names of values stand in the file once, whatever the number of samples. */
static void
test_names_of_values_are_kept_once (void)
{
  g_autofree char *out = test_folder_new (), *path = NULL, *content = NULL;
  g_autoptr (DynoDataset) poses = test_open ("builtin:poses?size=8&samples=40"), again = NULL;
  DynoConverted converted;
  gsize size;
  guint n = 0;

  path = pack (poses, out, 0, &converted, NULL);
  again = test_open (path);
  g_assert_cmpstr (dyno_dataset_get_info (again)->target_names[1], ==, "pitch");
  g_assert_cmpstr (dyno_dataset_get_info (again)->target_units[2], ==, "degrees");
  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  for (const char *at = content, *end = content + size;
       (at = memmem (at, (gsize) (end - at), "value_names", 11)); at++)
    n++;
  g_assert_cmpuint (n, ==, 1);
  test_folder_remove (out);
}

static void
test_samples_that_cannot_be_read_are_skipped (void)
{
  g_autofree char *folder = test_folder_new (), *out = test_folder_new (), *path = NULL;
  g_autofree char *gone = g_build_filename (folder, "a", "2.jpg", NULL);
  g_autoptr (GPtrArray) skipped = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoDataset) dataset = NULL;
  DynoConverted converted;

  put_jpeg (folder, "a/1.jpg", 40, 10);
  put_jpeg (folder, "a/2.jpg", 40, 10);
  put_jpeg (folder, "b/1.jpg", 40, 10);
  dataset = test_open (folder);
  g_assert_cmpint (g_unlink (gone), ==, 0);
  path = pack (dataset, out, 0, &converted, skipped);
  g_assert_cmpuint (converted.n_written, ==, 2);
  g_assert_cmpuint (converted.n_skipped, ==, 1);
  g_assert_nonnull (strstr (g_ptr_array_index (skipped, 0), "a/2.jpg"));
  test_folder_remove (folder);
  test_folder_remove (out);
}

/* Whatever fails, the file that was there stays, and nothing is left beside it. */
static void
test_failure_leaves_what_was_there (void)
{
  g_autofree char *out = test_folder_new ();
  g_autofree char *path = test_write (out, "packed.tar", "precious", 8), *content = NULL;
  g_autoptr (DynoDataset) shapes = test_open ("builtin:shapes?size=32&samples=300&classes=4");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) full = NULL, cancelled = NULL;
  struct rlimit before, small;
  DynoConverted converted;

  g_cancellable_cancel (cancellable);
  g_assert_false (dyno_dataset_convert (shapes, path, 0, NULL, NULL, cancellable, NULL, &converted,
                                        &cancelled));
  g_assert_error (cancelled, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  signal (SIGXFSZ, SIG_IGN);
  g_assert_cmpint (getrlimit (RLIMIT_FSIZE, &before), ==, 0);
  small = before;
  small.rlim_cur = 50000;
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &small), ==, 0);
  g_assert_false (
      dyno_dataset_convert (shapes, path, 0, NULL, NULL, NULL, NULL, &converted, &full));
  g_assert_cmpint (setrlimit (RLIMIT_FSIZE, &before), ==, 0);
  g_assert_error (full, DYNO_BASE_ERROR, DYNO_BASE_ERROR_DISK);
  test_has_words (full, "packed.tar");
  g_assert_true (g_file_get_contents (path, &content, NULL, NULL));
  g_assert_cmpstr (content, ==, "precious");
  g_assert_cmpuint (count_files (out), ==, 1);
  test_folder_remove (out);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/convert/folder-with-parts-is-the-same-after",
                   test_folder_with_parts_is_the_same_after);
  g_test_add_func ("/data/convert/scales-the-shorter-side", test_scales_the_shorter_side);
  g_test_add_func ("/data/convert/drawn-images-and-values", test_drawn_and_values);
  g_test_add_func ("/data/convert/names-of-values-once", test_names_of_values_are_kept_once);
  g_test_add_func ("/data/convert/unreadable-samples-are-skipped",
                   test_samples_that_cannot_be_read_are_skipped);
  g_test_add_func ("/data/convert/failure-leaves-what-was-there",
                   test_failure_leaves_what_was_there);
  return g_test_run ();
}
