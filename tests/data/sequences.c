/* SPDX-License-Identifier: MIT */
/* Folders of sequences in .npy files of differing length: class folders, lists, y.npy. */
#include "data-test.h"
#include "npyfile.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { SEQUENCE, TARGET, LENGTH };

/* steps x 2 floats: first, first + 1, ... */
static void
put_sequence (const char *folder, const char *name, guint64 steps, float first)
{
  g_autofree char *path = g_build_filename (folder, name, NULL),
                  *parent = g_path_get_dirname (path);
  float data[64];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2 * steps; i++)
    data[i] = first + (float) i;
  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  dyno_npy_write (path, "f4", 2, (guint64[]){ steps, 2 }, data, &error);
  g_assert_no_error (error);
}

static void
check_sample (DynoDataset *dataset, guint64 index, guint32 longest, gint32 steps, float first,
              gpointer target)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  float out[64];
  gint32 length, seed;

  memset (out, 0xff, sizeof out);
  dyno_dataset_decode (dataset, index, longest, 1, (gpointer[]){ out, target, &length, &seed },
                       scratch, &error);
  g_assert_no_error (error);
  g_assert_cmpint (length, ==, steps);
  for (gint32 i = 0; i < 2 * (gint32) longest; i++)
    g_assert_cmpfloat (out[i], ==, i < 2 * steps ? first + (float) i : 0);
}

static void
test_class_folders (void)
{
  g_autofree char *folder = test_folder_new ();
  gint32 label;

  put_sequence (folder, "walk/a.npy", 5, 10);
  put_sequence (folder, "walk/b.npy", 9, 20);
  put_sequence (folder, "run/a.npy", 3, 30);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  const DynoBatchField *input = dyno_schema_find_role (&info->schema, DYNO_FIELD_INPUT);
  g_autofree char *name = dyno_dataset_describe_sample (dataset, 1);

  g_assert_cmpstr (info->kind, ==, "sequences");
  g_assert_cmpuint (info->n_samples, ==, 3);
  g_assert_cmpuint (info->n_classes, ==, 2);
  g_assert_cmpstr (info->class_names[0], ==, "run");
  g_assert_cmpuint (info->class_counts[1], ==, 2);
  g_assert_cmpuint (info->min_width, ==, 3);
  g_assert_cmpuint (info->max_width, ==, 9);
  g_assert_true (input->variable);
  g_assert_cmpuint (dyno_field_axis (input, 'T'), ==, 9);
  g_assert_cmpuint (dyno_field_axis (input, 'F'), ==, 2);
  g_assert_cmpint (dyno_schema_find_index (&info->schema, DYNO_FIELD_LENGTH), ==, LENGTH);
  check_sample (dataset, 0, 9, 3, 30, &label);
  g_assert_cmpint (label, ==, 0);
  check_sample (dataset, 1, 9, 5, 10, &label);
  g_assert_cmpint (label, ==, 1);
  g_assert_cmpstr (name, ==, "walk/a.npy");
  check_sample (dataset, 2, 9, 9, 20, &label);
  test_folder_remove (folder);
}

static void
test_own_parts (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GArray) train = NULL, validation = NULL;

  put_sequence (folder, "train/a/1.npy", 4, 0);
  put_sequence (folder, "train/b/1.npy", 4, 0);
  put_sequence (folder, "val/a/2.npy", 6, 0);
  put_sequence (folder, "val/b/2.npy", 6, 0);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_assert_true (dyno_dataset_get_info (dataset)->has_split);
  dyno_dataset_split (dataset, 0.1, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 2);
  g_assert_cmpuint (validation->len, ==, 2);
  test_folder_remove (folder);
}

/* Parts of a list, in any order: the last sample need not be the one that is not trained with. */
static void
test_parts_of_a_list (void)
{
  static const char table[] = "file,label,split\ns1.npy,a,train\ns2.npy,b,val\ns3.npy,b,train\n",
                    other[] = "file,label,split\ns1.npy,a,val\ns2.npy,b,train\ns3.npy,b,train\n";
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_autoptr (DynoDataset) again = NULL;
  guint64 bytes = 0;

  for (guint i = 1; i <= 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("s%u.npy", i);
      put_sequence (folder, name, 3 + i, 0);
    }
  g_free (test_write (folder, "labels.csv", table, sizeof table - 1));
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_assert_true (dyno_dataset_get_info (dataset)->has_split);
  dyno_dataset_split (dataset, 0.1, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 2);
  g_assert_cmpuint (validation->len, ==, 1);
  g_assert_cmpuint (g_array_index (validation, guint32, 0), ==, 1);
  for (guint i = 1; i <= 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s/s%u.npy", folder, i);
      GStatBuf status;

      g_assert_cmpint (g_stat (name, &status), ==, 0);
      bytes += (guint64) status.st_size;
    }
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->size_bytes, ==, bytes);
  /* Another part makes it other data. */
  g_free (test_write (folder, "labels.csv", other, sizeof other - 1));
  again = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (again)->content_hash, !=,
                    dyno_dataset_get_info (dataset)->content_hash);
  g_clear_pointer (&again, dyno_dataset_unref);
  g_free (test_write (folder, "labels.csv", table, sizeof table - 1));
  again = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (again)->content_hash, ==,
                    dyno_dataset_get_info (dataset)->content_hash);
  test_folder_remove (folder);
}

static void
test_records_beside_them (void)
{
  static const float values[6] = { 1, 2, 3, 4, 5, 6 };
  static const gint64 ids[3] = { 2, 0, 1 };
  g_autofree char *folder = test_folder_new ();
  g_autofree char *y = g_build_filename (folder, "y.npy", NULL);
  char *others[3];
  float target[2];
  gint32 label;

  put_sequence (folder, "s1.npy", 5, 1);
  put_sequence (folder, "s2.npy", 2, 2);
  put_sequence (folder, "s3.npy", 7, 3);
  test_open_fails (folder, DYNO_DATA_ERROR_NOT_FOUND, "labels.csv|y.npy|folder of its own");
  /* Other files beside them are not their folder; where there are as many, they decide. */
  for (guint i = 0; i < 3; i++)
    {
      others[i] = test_write (folder, (const char *[]){ "1.txt", "2.txt", "3.txt" }[i], "", 0);
      if (i < 2)
        test_open_fails (folder, DYNO_DATA_ERROR_NOT_FOUND, "labels.csv|y.npy");
      else
        test_open_fails (folder, DYNO_DATA_ERROR_UNKNOWN, "no sub-folders|images");
    }
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpint (unlink (others[i]), ==, 0);
      g_free (others[i]);
    }
  g_assert_true (dyno_npy_write (y, "f4", 2, (guint64[]){ 3, 2 }, values, NULL));
  g_free (test_write (folder, "y.names", "speed (m/s)\nslope\n", 18));
  {
    g_autoptr (DynoDataset) dataset = test_open (folder);
    const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
    g_assert_cmpuint (dyno_schema_count_values (&info->schema), ==, 2);
    g_assert_cmpstr (info->target_units[0], ==, "m/s");
    check_sample (dataset, 2, 7, 7, 3, target);
    g_assert_cmpfloat (target[1], ==, 6);
    g_assert_cmpfloat (dyno_dataset_get_values (dataset, 1)[0], ==, 3);
  }
  /* After a file that is refused, the others keep their own records. */
  g_autofree char *second = g_build_filename (folder, "s2.npy", NULL);
  g_assert_true (dyno_npy_write (second, "f4", 2, (guint64[]){ 2, 3 }, values, NULL));
  {
    g_autoptr (DynoDataset) dataset = test_open (folder);
    g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
    g_assert_cmpfloat (dyno_dataset_get_values (dataset, 0)[1], ==, 2);
    g_assert_cmpfloat (dyno_dataset_get_values (dataset, 1)[0], ==, 5);
    check_sample (dataset, 1, 7, 7, 3, target);
    g_assert_cmpfloat (target[1], ==, 6);
  }
  put_sequence (folder, "s2.npy", 2, 2);
  g_assert_true (dyno_npy_write (y, "i8", 1, (guint64[]){ 3 }, ids, NULL));
  {
    g_autoptr (DynoDataset) dataset = test_open (folder);
    g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 3);
    check_sample (dataset, 0, 7, 5, 1, &label);
    g_assert_cmpint (label, ==, 2);
  }
  g_assert_true (dyno_npy_write (y, "i8", 1, (guint64[]){ 2 }, ids, NULL));
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "y.npy|2 records|do not belong together");
  test_folder_remove (folder);
}

static void
test_list_beside_them (void)
{
  static const char table[] = "file,label\nsub/s1.npy,walk\ns2.npy,run\ns2.npy,walk\nnone.npy,run\n"
                              "../out.npy,run\n";
  g_autofree char *folder = test_folder_new ();
  gint32 label;

  put_sequence (folder, "sub/s1.npy", 5, 1);
  put_sequence (folder, "s2.npy", 2, 2);
  g_free (test_write (folder, "labels.csv", table, sizeof table - 1));
  g_autoptr (DynoDataset) dataset = test_open (folder);
  const char *const *bad = dyno_dataset_get_unreadable (dataset);

  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 3);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 2);
  g_assert_nonnull (strstr (bad[0], "none.npy"));
  g_assert_nonnull (strstr (bad[1], "leads out of the folder"));
  check_sample (dataset, 0, 5, 5, 1, &label);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[label], ==, "walk");
  check_sample (dataset, 1, 5, 2, 2, &label);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[label], ==, "run");
  test_folder_remove (folder);
}

static void
test_list_of_masks (void)
{
  static const char table[] = "file,mask\ns1,m1.png\n";
  g_autofree char *folder = test_folder_new ();

  put_sequence (folder, "s1.npy", 5, 1);
  g_free (test_write (folder, "labels.csv", table, sizeof table - 1));
  test_open_fails (folder, DYNO_DATA_ERROR_UNSUPPORTED, "masks|“label”");
  test_folder_remove (folder);
}

/* (T) is one feature; Fortran order and integers are read; other shapes are listed. */
static void
test_shapes_and_types (void)
{
  static const char fortran[] =
      "\x93NUMPY\x01\0\x3c\0{'descr': '>i2', 'fortran_order': True, 'shape': (3, 2), } \n";
  static const guint8 items[12] = { 0, 1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6 };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autofree char *flat = NULL, *cube = NULL, *empty = NULL, *text = NULL;
  float numbers[8] = { 0 };
  gint32 label;

  g_byte_array_append (bytes, (const guint8 *) fortran, 70);
  g_byte_array_append (bytes, items, sizeof items);
  put_sequence (folder, "b/z.npy", 4, 0);
  g_free (test_write (folder, "a/a.npy", bytes->data, bytes->len));
  flat = g_build_filename (folder, "a/0flat.npy", NULL); /* the first file of its folder */
  cube = g_build_filename (folder, "a/cube.npy", NULL);
  empty = g_build_filename (folder, "a/empty.npy", NULL);
  dyno_npy_write (flat, "f4", 1, (guint64[]){ 8 }, numbers, NULL);
  dyno_npy_write (cube, "f4", 3, (guint64[]){ 2, 2, 2 }, numbers, NULL);
  dyno_npy_write (empty, "f4", 2, (guint64[]){ 0, 2 }, numbers, NULL);
  text = test_write (folder, "a/notes.npy", "hello", 5);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_autofree char *listed = g_strjoinv ("\n", (char **) dyno_dataset_get_unreadable (dataset));

  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 4);
  g_assert_nonnull (strstr (listed, "0flat.npy: it has 1 feature a step, most sequences have 2"));
  g_assert_nonnull (strstr (listed, "cube.npy: it has 3 dimensions"));
  g_assert_nonnull (strstr (listed, "empty.npy: it has no step"));
  g_assert_nonnull (strstr (listed, "notes.npy: damaged"));
  check_sample (dataset, 0, 4, 3, 1, &label);
  test_folder_remove (folder);
}

/* Where as many sequences have one number of features as another, the first one's counts. */
static void
test_tie_of_features (void)
{
  static const char *const names[] = { "a/1.npy", "a/2.npy", "b/1.npy", "b/2.npy" };
  static const float values[12] = { 0 };
  g_autofree char *folder = test_folder_new ();

  for (guint first = 2; first < 4; first++)
    {
      g_autoptr (DynoDataset) dataset = NULL;

      put_sequence (folder, "a/1.npy", 1, 0); /* makes the folders */
      put_sequence (folder, "b/1.npy", 1, 0);
      for (guint i = 0; i < 4; i++)
        {
          g_autofree char *path = g_build_filename (folder, names[i], NULL);

          g_assert_true (dyno_npy_write (
              path, "f4", 2, (guint64[]){ 2, i % 2 == 0 ? first : 5 - first }, values, NULL));
        }
      dataset = test_open (folder);
      g_assert_cmpuint (
          dyno_field_axis (
              dyno_schema_find_role (&dyno_dataset_get_info (dataset)->schema, DYNO_FIELD_INPUT),
              'F'),
          ==, first);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
    }
  test_folder_remove (folder);
}

static void
test_changes_in_use (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autofree char *path = g_build_filename (folder, "a/1.npy", NULL);
  float out[16], bad[4] = { 1, NAN, 3, 4 };
  gint32 label, length, seed;
  gpointer fields[] = { out, &label, &length, &seed };
  g_autoptr (GError) error = NULL;

  put_sequence (folder, "a/1.npy", 3, 0);
  put_sequence (folder, "b/1.npy", 4, 0);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  put_sequence (folder, "a/1.npy", 6, 0);
  g_assert_false (dyno_dataset_decode (dataset, 0, 4, 1, fields, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
  test_has_words (error, "1.npy|changed");
  g_clear_error (&error);
  dyno_npy_write (path, "f4", 2, (guint64[]){ 2, 2 }, bad, NULL);
  g_assert_false (dyno_dataset_decode (dataset, 0, 4, 1, fields, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
  test_has_words (error, "1.npy|finite");
  test_folder_remove (folder);
}

/* An array in an image folder, or beside class folders of images, does not make sequences of
 * them. */
static void
test_stray_arrays (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) image = test_jpeg (8, 8, 1, 2, 3, FALSE);
  static const char *const names[] = { "a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_free (test_write (folder, names[i], image->data, image->len));
  put_sequence (folder, "features.npy", 3, 0);
  put_sequence (folder, "a/features.npy", 3, 0);
  put_sequence (folder, "b/features.npy", 3, 0);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==, "image-folder");
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 4);
  test_folder_remove (folder);
}

/* A y.npy with a header of more than a gigabyte, in a file with a hole of that size: nothing is
 * allocated because of it. */
static void
test_targets_of_more_than_a_gigabyte (void)
{
  const guint n = 2049;
  g_autofree char *folder = test_folder_new (), *y = NULL, *header = NULL;
  GStatBuf status;
  int fd;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%04u.npy", i);
      put_sequence (folder, name, 1, 0);
    }
  header = g_strdup_printf ("{'descr': '<f8', 'fortran_order': False, 'shape': (%u, 65536), }", n);
  g_autofree char *whole = g_strdup_printf ("%-117s\n", header);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_byte_array_append (bytes, (const guint8 *) "\x93NUMPY\x01\0\x76\0", 10);
  g_byte_array_append (bytes, (const guint8 *) whole, 118);
  y = test_write (folder, "y.npy", bytes->data, bytes->len);
  fd = g_open (y, O_WRONLY, 0);
  g_assert_cmpint (ftruncate (fd, 128 + (off_t) n * 65536 * 8), ==, 0);
  close (fd);
  g_assert_cmpint (g_stat (y, &status), ==, 0);
  g_assert_cmpint (status.st_blocks, <, 1000);
  test_open_fails (folder, DYNO_DATA_ERROR_TOO_LARGE, "y.npy|targets");
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/sequences/class-folders-pad-and-length", test_class_folders);
  g_test_add_func ("/data/sequences/own-parts-are-kept", test_own_parts);
  g_test_add_func ("/data/sequences/parts-of-a-list", test_parts_of_a_list);
  g_test_add_func ("/data/sequences/records-beside-them", test_records_beside_them);
  g_test_add_func ("/data/sequences/list-beside-them", test_list_beside_them);
  g_test_add_func ("/data/sequences/list-of-masks", test_list_of_masks);
  g_test_add_func ("/data/sequences/shapes-and-types", test_shapes_and_types);
  g_test_add_func ("/data/sequences/tie-of-features", test_tie_of_features);
  g_test_add_func ("/data/sequences/changes-in-use-are-errors", test_changes_in_use);
  g_test_add_func ("/data/sequences/stray-arrays-are-none", test_stray_arrays);
  g_test_add_func ("/data/sequences/targets-of-more-than-a-gigabyte",
                   test_targets_of_more_than_a_gigabyte);
  return g_test_run ();
}
