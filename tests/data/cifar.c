/* SPDX-License-Identifier: MIT */
/* CIFAR-10 and CIFAR-100 in binary form, complete and damaged. */
#include "data-test.h"
#include <string.h>

#define PLANE 1024

/* Record i of a file: classes repeat from `first` on, channel c has the bytes i + c. */
static GByteArray *
make_file (guint n_labels, guint n, guint first)
{
  GByteArray *file = g_byte_array_new ();

  for (guint i = 0; i < n; i++)
    {
      guint8 coarse = 19, label = (guint8) ((first + i) % (n_labels == 1 ? 10 : 100));

      if (n_labels == 2)
        g_byte_array_append (file, &coarse, 1);
      g_byte_array_append (file, &label, 1);
      for (guint c = 0; c < 3; c++)
        {
          guint8 plane[PLANE];
          memset (plane, (int) (i + c), sizeof plane);
          plane[33] = (guint8) (100 + c); /* row 1, column 1 */
          g_byte_array_append (file, plane, sizeof plane);
        }
    }
  return file;
}

static void
put (const char *folder, const char *name, GByteArray *file)
{
  g_free (test_write (folder, name, file->data, file->len));
  g_byte_array_unref (file);
}

static void
assert_sample (DynoDataset *dataset, guint64 index, guint i, gint32 expected)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[3 * PLANE];
  gint32 label = -1;

  dyno_dataset_decode (dataset, index, 32, 32, (gpointer[]){ pixels, &label }, scratch, &error);
  g_assert_no_error (error);
  g_assert_cmpint (label, ==, expected);
  g_assert_cmpint (dyno_dataset_get_label (dataset, index), ==, expected);
  for (guint c = 0; c < 3; c++)
    {
      g_assert_cmpuint (pixels[c], ==, i + c);
      g_assert_cmpuint (pixels[33 * 3 + c], ==, 100 + c);
    }
}

static void
test_cifar10_folder (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;
  const DynoDatasetInfo *info;
  static const char names[] = "airplane\nauto\r\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntr\n\n";

  put (folder, "data_batch_2.bin", make_file (1, 20, 1));
  put (folder, "data_batch_1.bin", make_file (1, 20, 0));
  put (folder, "test_batch.bin", make_file (1, 300, 5));
  g_free (test_write (folder, "batches.meta.txt", names, sizeof names - 1));
  dataset = test_open (folder);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpstr (info->kind, ==, "cifar");
  g_assert_cmpuint (info->n_samples, ==, 340);
  g_assert_cmpuint (info->n_classes, ==, 10);
  g_assert_cmpstr (info->class_names[1], ==, "auto");
  g_assert_cmpstr (info->class_names[9], ==, "tr");
  g_assert_cmpuint (info->size_bytes, ==, 340 * 3073);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (info->class_counts[i], ==, 34);
  g_assert_true (info->has_split);
  dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 40);
  g_assert_cmpuint (validation->len, ==, 300);
  assert_sample (dataset, 0, 0, 0);
  assert_sample (dataset, 21, 1, 2);
  assert_sample (dataset, 42, 2, 7);
  test_folder_remove (folder);
}

static void
test_cifar100_has_fine_labels (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *lone = g_build_filename (folder, "lone", NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  g_autoptr (DynoDataset) dataset = NULL, of_file = NULL;

  for (guint i = 0; i < 100; i++)
    g_string_append_printf (names, "n%u\n", i);
  put (folder, "train.bin", make_file (2, 120, 0));
  put (folder, "test.bin", make_file (2, 4, 50));
  put (folder, "lone", make_file (2, 10, 90));
  g_free (test_write (folder, "fine_label_names.txt", names->str, names->len));
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 124);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 100);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[99], ==, "n99");
  assert_sample (dataset, 121, 1, 51);
  /* recognised by content, whatever the name */
  of_file = test_open (lone);
  g_assert_cmpstr (dyno_dataset_get_info (of_file)->kind, ==, "cifar");
  g_assert_cmpuint (dyno_dataset_get_info (of_file)->n_samples, ==, 10);
  g_assert_false (dyno_dataset_get_info (of_file)->has_split);
  assert_sample (of_file, 9, 9, 99);
  test_folder_remove (folder);
}

static void
test_wrong_names_are_said (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_auto (GStrv) notes = NULL;

  put (folder, "data_batch_1.bin", make_file (1, 10, 0));
  g_free (test_write (folder, "batches.meta.txt", "a\xff\nb\n", 5));
  dataset = test_open (folder);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[1], ==, "1");
  notes = dyno_dataset_list_notes (dataset, NULL, NULL);
  g_assert_nonnull (strstr (notes[0], "2 names for 10 classes"));
  test_folder_remove (folder);
}

static void
test_resizes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 pixels[8 * 8 * 3];
  gint32 label;

  put (folder, "data_batch_1.bin", make_file (1, 10, 0));
  dataset = test_open (folder);
  g_assert_true (
      dyno_dataset_decode (dataset, 7, 8, 8, (gpointer[]){ pixels, &label }, scratch, NULL));
  for (guint c = 0; c < 3; c++)
    g_assert_cmpuint (pixels[60 * 3 + c], ==, 7 + c);
  /* with one side of the stored size: only its own bytes are written */
  {
    guint8 wide[32 * 8 * 3 + 1], tall[8 * 32 * 3 + 1];

    wide[32 * 8 * 3] = tall[8 * 32 * 3] = 123;
    g_assert_true (
        dyno_dataset_decode (dataset, 7, 32, 8, (gpointer[]){ wide, &label }, scratch, NULL));
    g_assert_true (
        dyno_dataset_decode (dataset, 7, 8, 32, (gpointer[]){ tall, &label }, scratch, NULL));
    g_assert_cmpuint (wide[32 * 8 * 3], ==, 123);
    g_assert_cmpuint (tall[8 * 32 * 3], ==, 123);
    for (guint c = 0; c < 3; c++)
      g_assert_cmpuint (wide[250 * 3 + c], ==, 7 + c);
  }
  test_folder_remove (folder);
}

static void
test_damaged_files (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = g_build_filename (folder, "data_batch_1.bin", NULL);
  GByteArray *file = make_file (1, 300, 0);

  g_byte_array_set_size (file, 3073 * 299 + 7);
  put (folder, "data_batch_1.bin", file);
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT,
                   "no multiple|3073|record 299 has 7|data_batch_1");
  test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, "no multiple");
  file = make_file (1, 300, 0);
  file->data[298 * 3073] = 10;
  put (folder, "data_batch_1.bin", file);
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "record 298|label 10|0 to 9");
  put (folder, "data_batch_1.bin", make_file (1, 30, 0));
  put (folder, "test_batch.bin", make_file (2, 30, 0));
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "test_batch.bin|no multiple");
  put (folder, "data_batch_1.bin", g_byte_array_new ());
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "0 bytes");
  test_folder_remove (folder);
}

static void
test_of_one_fine_label_out_of_range (void)
{
  g_autofree char *folder = test_folder_new ();
  GByteArray *file = make_file (2, 80, 0);

  file->data[79 * 3074 + 1] = 100;
  put (folder, "train.bin", file);
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "record 79|label 100|CIFAR-100|0 to 99");
  /* the coarse label, too */
  file = make_file (2, 80, 0);
  file->data[78 * 3074] = 20;
  put (folder, "train.bin", file);
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "record 78|label 20|CIFAR-100|0 to 19");
  /* A damaged file has the kind of its name. */
  for (guint i = 0; i < 3; i++)
    {
      static const char *const names[] = { "train.bin", "test.bin", "test_batch.bin" };
      g_autofree char *path = g_build_filename (folder, names[i], NULL);

      file = make_file (2, 2, 0);
      g_byte_array_set_size (file, file->len - 5);
      put (folder, names[i], file);
      test_open_fails (path, DYNO_DATA_ERROR_CORRUPT,
                       i < 2 ? "record's 3074|record 1 has 3069"
                             : "record's 3073|record 1 has 3070");
    }
  test_folder_remove (folder);
}

static guint64
hash_of (const char *folder)
{
  g_autoptr (DynoDataset) dataset = test_open (folder);
  return dyno_dataset_get_info (dataset)->content_hash;
}

static void
test_content_hash_sees_pixels_labels_and_parts (void)
{
  g_autofree char *folder = test_folder_new ();
  guint64 hashes[4];
  GByteArray *file;

  put (folder, "data_batch_1.bin", make_file (1, 20, 0));
  hashes[0] = hash_of (folder);
  g_assert_cmphex (hash_of (folder), ==, hashes[0]);
  file = make_file (1, 20, 0);
  file->data[3072] ^= 1;
  put (folder, "data_batch_1.bin", file);
  hashes[1] = hash_of (folder);
  put (folder, "data_batch_1.bin", make_file (1, 20, 1));
  hashes[2] = hash_of (folder);
  put (folder, "data_batch_1.bin", make_file (1, 10, 0));
  file = make_file (1, 20, 0);
  g_byte_array_remove_range (file, 0, 10 * 3073);
  put (folder, "test_batch.bin", file);
  hashes[3] = hash_of (folder);
  for (guint i = 1; i < G_N_ELEMENTS (hashes); i++)
    g_assert_cmphex (hashes[i], !=, hashes[0]);
  test_folder_remove (folder);
}

/* The pickle version is not read, and the error states the alternative. */
static void
test_version_for_python (void)
{
  static const char *const names[][2] = { { "data_batch_1", "batches.meta" }, { "train", "meta" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *folder = test_folder_new (), *file = NULL;

      file = test_write (folder, names[i][0], "\x80\x02}q", 4);
      g_free (test_write (folder, names[i][1], "\x80\x02}q", 4));
      test_open_fails (folder, DYNO_DATA_ERROR_UNSUPPORTED, "pickles|binary version|X.npy");
      if (i == 0)
        test_open_fails (file, DYNO_DATA_ERROR_UNSUPPORTED, "pickles");
      test_folder_remove (folder);
    }
}

/* The data set is found one or more folders below the given one, as torchvision stores it. */
static void
test_root_is_seen_through (void)
{
  static const char *const roots[] = { "cifar-10-batches-bin", "down/load/cifar-10-batches-bin" };

  for (guint i = 0; i < G_N_ELEMENTS (roots); i++)
    {
      g_autofree char *folder = test_folder_new (), *name = NULL,
                      *base = g_path_get_basename (folder);
      g_autoptr (DynoDataset) dataset = NULL, refused = NULL;
      g_auto (GStrv) notes = NULL;

      name = g_strconcat (roots[i], "/data_batch_1.bin", NULL);
      put (folder, name, make_file (1, 20, 0));
      dataset = test_open (folder);
      g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==, "cifar");
      g_assert_cmpstr (dyno_dataset_get_info (dataset)->name, ==, base);
      g_assert_cmpstr (dyno_dataset_get_info (dataset)->location, ==, folder);
      notes = dyno_dataset_list_notes (dataset, NULL, NULL);
      g_assert_nonnull (strstr (notes[0], roots[i]));
      /* a second folder beside it does not prevent this; a second data set does */
      g_free (test_write (folder, "other/words.txt", "words", 5));
      g_clear_pointer (&dataset, dyno_dataset_unref);
      refused = dyno_dataset_open (folder, NULL, NULL, NULL, NULL, NULL);
      g_assert_cmpint (refused != NULL, ==, i == 0);
      put (folder, "third/data_batch_1.bin", make_file (1, 20, 0));
      put (folder, "fourth/data_batch_1.bin", make_file (1, 20, 0));
      g_assert_null (dyno_dataset_open (folder, NULL, NULL, NULL, NULL, NULL));
      test_folder_remove (folder);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/cifar/cifar10-folder-has-its-split-and-names", test_cifar10_folder);
  g_test_add_func ("/data/cifar/cifar100-has-fine-labels", test_cifar100_has_fine_labels);
  g_test_add_func ("/data/cifar/wrong-list-of-names-is-said", test_wrong_names_are_said);
  g_test_add_func ("/data/cifar/resizes", test_resizes);
  g_test_add_func ("/data/cifar/damaged-files", test_damaged_files);
  g_test_add_func ("/data/cifar/fine-label-out-of-range", test_of_one_fine_label_out_of_range);
  g_test_add_func ("/data/cifar/content-hash-sees-pixels-labels-and-parts",
                   test_content_hash_sees_pixels_labels_and_parts);
  g_test_add_func ("/data/cifar/version-for-python", test_version_for_python);
  g_test_add_func ("/data/cifar/root-is-seen-through", test_root_is_seen_through);
  return g_test_run ();
}
