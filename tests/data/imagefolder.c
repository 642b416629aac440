/* SPDX-License-Identifier: MIT */
/* Image folders: the samples that are found, the files that are left out, and files that must not
 * block or end the scan. */
#include "data-test.h"
#include "image.h"
#include <errno.h>
#include <fcntl.h>
#include <png.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void
put_jpeg (const char *folder, const char *name, guint8 red)
{
  g_autoptr (GByteArray) file = test_jpeg (40, 30, red, 50, 50, FALSE);
  g_free (test_write (folder, name, file->data, file->len));
}

static void
put_link (const char *target, const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_cmpint (symlink (target, path), ==, 0);
}

static gboolean
is_listed (DynoDataset *dataset, const char *words)
{
  for (const char *const *at = dyno_dataset_get_unreadable (dataset); *at; at++)
    if (strstr (*at, words))
      return TRUE;
  return FALSE;
}

static void
test_classes_and_order (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  const DynoDatasetInfo *info;
  static const char *const expected[] = { "a/1.jpg", "a/2.jpg", "a/sub/0.jpg", "b/x.jpg" };

  put_jpeg (folder, "b/x.jpg", 10);
  put_jpeg (folder, "a/2.jpg", 10);
  put_jpeg (folder, "a/sub/0.jpg", 10);
  put_jpeg (folder, "a/1.jpg", 200);
  put_jpeg (folder, ".hidden/1.jpg", 10);
  put_jpeg (folder, "a/.hidden.jpg", 10);
  g_free (test_write (folder, "empty/.keep", "", 0));
  dataset = test_open (folder);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (info->n_samples, ==, 4);
  g_assert_cmpuint (info->n_unreadable, ==, 0);
  g_assert_cmpuint (info->n_classes, ==, 3);
  g_assert_cmpstr (info->class_names[0], ==, "a");
  g_assert_cmpstr (info->class_names[1], ==, "b");
  g_assert_cmpstr (info->class_names[2], ==, "empty");
  g_assert_cmpuint (info->class_counts[0], ==, 3);
  g_assert_cmpuint (info->class_counts[2], ==, 0);
  g_assert_cmpuint (info->max_width, ==, 40);
  g_assert_cmpuint (info->min_height, ==, 30);
  g_assert_false (info->has_split);
  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = dyno_dataset_describe_sample (dataset, i);
      g_assert_cmpstr (name, ==, expected[i]);
      g_assert_cmpint (dyno_dataset_get_label (dataset, i), ==, i == 3);
    }
  test_folder_remove (folder);
}

static void
test_decodes_by_content (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) png = test_png (9, 9, PNG_COLOR_TYPE_RGB, 8, FALSE);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GError) error = NULL;
  guint8 pixels[8 * 8 * 3];
  gint32 label = -1;

  put_jpeg (folder, "a/really-jpeg.png", 100);
  g_free (test_write (folder, "b/really-png.jpg", png->data, png->len));
  g_free (test_write (folder, "b/text.jpg", "not an image at all", 19));
  g_free (test_write (folder, "b/empty.jpg", "", 0));
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 2);
  g_assert_true (is_listed (dataset, "b/text.jpg: not an image"));
  g_assert_true (is_listed (dataset, "b/empty.jpg: empty file"));
  dyno_dataset_decode (dataset, 1, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error);
  g_assert_no_error (error);
  g_assert_cmpint (label, ==, 1);
  g_assert_cmpint (pixels[100], ==, 200);
  test_folder_remove (folder);
}

static void
test_own_split (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;

  put_jpeg (folder, "train/a/1.jpg", 10);
  put_jpeg (folder, "train/b/1.jpg", 10);
  put_jpeg (folder, "val/b/2.jpg", 10);
  dataset = test_open (folder);
  g_assert_true (dyno_dataset_get_info (dataset)->has_split);
  dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 2);
  g_assert_cmpuint (validation->len, ==, 1);
  g_assert_cmpint (dyno_dataset_get_label (dataset, g_array_index (validation, guint32, 0)), ==, 1);
  test_folder_remove (folder);
}

static void
test_unused_part_is_said (void)
{
  g_autofree char *folder = test_folder_new ();

  put_jpeg (folder, "train/a/1.jpg", 10);
  put_jpeg (folder, "train/b/1.jpg", 10);
  put_jpeg (folder, "val/a/2.jpg", 10);
  for (guint with_other = 0; with_other < 2; with_other++)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_auto (GStrv) notes = NULL;

      if (with_other)
        put_jpeg (folder, "valid/b/2.jpg", 10);
      dataset = test_open (folder);
      notes = dyno_dataset_list_notes (dataset, NULL, NULL);
      g_assert_cmpuint (g_strv_length (notes), ==, with_other);
      if (with_other)
        g_assert_nonnull (strstr (notes[0], "“valid” is not used: “val”"));
    }
  test_folder_remove (folder);
}

static gboolean
has_note (DynoDataset *dataset, const char *words)
{
  g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);

  for (guint i = 0; notes[i]; i++)
    if (strstr (notes[i], words))
      return TRUE;
  return FALSE;
}

/* Parts are recognised in the usual spellings, in folders and in archives of them. */
static void
test_names_of_parts (void)
{
  static const struct {
    const char *train, *validation;
  } cases[] = {
    { "Train", "Test" },
    { "training_set", "test_set" },
    { "TRAIN", "VALID" },
    { "trainset", "valset" },
    { "Training Data", "Testing Data" },
    { "train-images", "val-images" },
    { "train2017", "val2017" },
    { "seg_train", "seg_test" },
    { "asl_alphabet_train", "asl_alphabet_test" },
    { "seg_train/seg_train", "seg_test/seg_test" },
    { "Train/train", "Val/val" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (GArray) train = NULL, validation = NULL;

      for (guint k = 0; k < 3; k++)
        {
          g_autofree char *name = g_strdup_printf (
              "%s/%s/1.jpg", k < 2 ? cases[i].train : cases[i].validation, k == 0 ? "a" : "b");
          put_jpeg (folder, name, 10);
        }
      dataset = test_open (folder);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
      g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[0], ==, "a");
      g_assert_true (dyno_dataset_get_info (dataset)->has_split);
      dyno_dataset_split (dataset, 0, 1, &train, &validation);
      g_assert_cmpuint (train->len, ==, 2);
      g_assert_cmpuint (validation->len, ==, 1);
      g_assert_cmpint (dyno_dataset_get_label (dataset, 2), ==, 1);
      test_folder_remove (folder);
    }
}

/* A refused file counts as a sample if it is an image of an unsupported type; a text file does not.
 * The index has the same count. */
static void
test_refused_samples_are_counted (void)
{
  static const struct {
    const char *name, *bytes;
  } files[] = { { "a/1.HEIC", "\1\1\1\1ftypheic\1\1\1\1" },
                { "a/2.gif", "GIF89a........" },
                { "a/3.jpg", "no image at all" },
                { "a/3.xml", "<annotation></annotation>" },
                { "a/README", "words, and more words" } };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  const DynoDatasetInfo *info;

  put_jpeg (folder, "a/0.jpg", 10);
  put_jpeg (folder, "b/0.jpg", 10);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    g_free (test_write (folder, files[i].name, files[i].bytes, strlen (files[i].bytes)));
  dataset = test_open (folder);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (info->n_unreadable, ==, 5);
  g_assert_cmpuint (info->n_refused, ==, 3);
  g_assert_true (g_str_has_suffix (
      info->first_refused, "a/1.HEIC: a HEIC image, which is not read; save it as JPEG or PNG"));
  g_assert_true (is_listed (dataset, "2.gif: a GIF image"));
  test_folder_remove (folder);
}

/* A class may be named train, or contain this word; a folder named like a part is no part without
 * class folders in it. */
static void
test_names_of_classes_are_no_parts (void)
{
  static const struct {
    const char *names[4];
    guint n_classes;
  } cases[] = {
    { { "train/1.jpg", "bus/1.jpg" }, 2 },
    { { "night train/old/1.jpg", "bus/old/1.jpg", "test card/old/1.jpg" }, 3 },
    { { "train/a/1.jpg", "train/b/1.jpg", "test/1.jpg" }, 2 },
    { { "retrained/a/1.jpg", "tested/a/1.jpg" }, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;

      for (guint k = 0; k < G_N_ELEMENTS (cases[i].names) && cases[i].names[k]; k++)
        put_jpeg (folder, cases[i].names[k], 10);
      dataset = test_open (folder);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, cases[i].n_classes);
      g_assert_false (dyno_dataset_get_info (dataset)->has_split);
      g_assert_cmpint (has_note (dataset, "beside the parts are not used: “test”"), ==, i == 2);
      test_folder_remove (folder);
    }
}

/* Folders around the classes, or around the parts, are skipped, unless one may itself be a
 * class. */
static void
test_folders_around (void)
{
  static const char *const names[][3] = { { "pets/set/cat/1.jpg", "pets/set/dog/1.jpg" },
                                          { "pets/train/cat/1.jpg", "pets/test/dog/1.jpg" },
                                          { "train/cat/1.jpg", "train/dog/1.jpg" } };
  const DynoDatasetParams one_class = { .one_class = TRUE };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *folder = test_folder_new (), *first = NULL;
      g_autoptr (DynoDataset) dataset = NULL, one = NULL;

      for (guint k = 0; k < 2; k++)
        put_jpeg (folder, names[i][k], 10);
      put_jpeg (folder, "readme.jpg", 10);
      dataset = test_open (folder);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
      g_assert_cmpint (dyno_dataset_get_info (dataset)->has_split, ==, i == 1);
      g_assert_cmpint (has_note (dataset, i == 0 ? "is in “pets/set”" : "is in “pets”"), ==, i < 2);
      first = dyno_dataset_describe_sample (dataset, 0);
      g_assert_true (g_str_has_suffix (first, "cat/1.jpg"));
      one = dyno_dataset_open (folder, &one_class, NULL, NULL, NULL, NULL);
      g_assert_cmpuint (dyno_dataset_get_info (one)->n_classes, ==, i < 2 ? 1 : 2);
      test_folder_remove (folder);
    }
}

static void
test_flat_parts_are_refused (void)
{
  g_autofree char *folder = test_folder_new ();

  put_jpeg (folder, "Train/1.jpg", 10);
  put_jpeg (folder, "Test/1.jpg", 10);
  test_open_fails (folder, DYNO_DATA_ERROR_UNKNOWN, "Train|no sub-folders");
  test_folder_remove (folder);
}

static void
test_same_folders_in_all_classes_are_doubted (void)
{
  static const char *const names[] = { "day/a/1.jpg", "day/b/1.jpg", "night/a/2.jpg",
                                       "night/b/2.jpg" };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL, other = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    put_jpeg (folder, names[i], 10);
  dataset = test_open (folder);
  g_assert_true (has_note (dataset, "All classes hold the same folders, “a”, “b”"));
  g_assert_true (has_note (dataset, "“day”, “night” are parts"));
  put_jpeg (folder, "night/c/2.jpg", 10);
  other = test_open (folder);
  g_assert_false (has_note (other, "the same folders"));
  test_folder_remove (folder);
}

static void
test_what_systems_leave_behind (void)
{
  static const char *const names[] = { "__MACOSX/a/1.jpg", "a/Thumbs.db", "b/desktop.ini",
                                       "a/__MACOSX/2.jpg" };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  put_jpeg (folder, "a/1.jpg", 10);
  put_jpeg (folder, "b/1.jpg", 10);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    put_jpeg (folder, names[i], 10);
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 0);
  g_assert_true (has_note (dataset, "are not data: Thumbs.db, __MACOSX, desktop.ini"));
  test_folder_remove (folder);
}

/* Headers are intact and pixels are not: the scan accepts the files, and decoding each sample
 * detects them, in order. */
static void
test_verify_decodes_every_sample (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) whole = test_jpeg (300, 200, 90, 50, 50, FALSE);
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_auto (GStrv) failed = NULL, first = NULL;
  guint64 n_failed;

  for (guint i = 0; i < 70; i++)
    {
      g_autofree char *name = g_strdup_printf ("%c/%02u.jpg", i < 35 ? 'a' : 'b', i);
      g_free (test_write (folder, name, whole->data, i % 20 == 7 ? whole->len / 2 : whole->len));
    }
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 70);
  failed = dyno_dataset_verify (dataset, 0, NULL, NULL, NULL, &n_failed, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (n_failed, ==, 4);
  g_assert_cmpuint (g_strv_length (failed), ==, 4);
  g_assert_true (g_str_has_prefix (failed[0], "a/07.jpg: "));
  g_assert_true (g_str_has_prefix (failed[3], "b/67.jpg: "));
  first = dyno_dataset_verify (dataset, 1, NULL, NULL, NULL, &n_failed, &error);
  g_assert_cmpuint (g_strv_length (first), ==, 1);
  g_assert_cmpuint (n_failed, ==, 4);
  g_assert_cmpstr (first[0], ==, failed[0]);
  g_cancellable_cancel (cancellable);
  g_assert_null (dyno_dataset_verify (dataset, 0, NULL, NULL, cancellable, &n_failed, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  test_folder_remove (folder);
}

static void
test_links_and_special_files (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *outside = test_folder_new ();
  g_autofree char *fifo = g_build_filename (folder, "a", "fifo.jpg", NULL);
  g_autofree char *socket_path = g_build_filename (folder, "a", "socket.jpg", NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  const DynoDatasetParams follow = { .links = TRUE };
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  int fd = socket (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  g_autofree char *beside = NULL;

  beside = g_strconcat (folder, "-beside", NULL); /* the same beginning, but not within */
  g_assert_cmpint (g_mkdir (beside, 0700), ==, 0);
  put_jpeg (beside, "1.jpg", 10);
  put_jpeg (outside, "secret/1.jpg", 10);
  put_jpeg (folder, "a/1.jpg", 10);
  put_jpeg (folder, "b/1.jpg", 10);
  put_link ("1.jpg", folder, "a/inside.jpg");
  put_link ("..", folder, "a/loop");
  put_link (".", folder, "b/self");
  put_link ("nowhere", folder, "b/broken.jpg");
  put_link (outside, folder, "b/out");
  put_link (outside, folder, "class-out");
  put_link (beside, folder, "b/beside");
  put_link ("/dev/zero", folder, "b/zero.jpg");
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  g_strlcpy (address.sun_path, socket_path, sizeof address.sun_path);
  g_assert_cmpint (bind (fd, (struct sockaddr *) &address, sizeof address), ==, 0);
  close (fd);

  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
  /* b is entered once, either through a/loop or directly, and each of its files counts once. */
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 3);
  g_assert_true (is_listed (dataset, "a/fifo.jpg: not a regular file"));
  g_assert_true (is_listed (dataset, "a/socket.jpg: not a regular file"));
  g_assert_true (is_listed (dataset, "broken.jpg: a symbolic link"));
  g_assert_true (is_listed (dataset, "/out: a symbolic link that leaves"));
  g_assert_true (is_listed (dataset, "zero.jpg: a symbolic link that leaves"));
  g_assert_true (is_listed (dataset, "class-out: a symbolic link that leaves"));
  g_assert_true (is_listed (dataset, "/beside: a symbolic link that leaves"));
  g_assert_true (is_listed (dataset, "data.links"));

  /* On request links out of the folder are followed; a device that they lead to is still no
   * sample. */
  g_clear_pointer (&dataset, dyno_dataset_unref);
  dataset = dyno_dataset_open (folder, &follow, NULL, NULL, NULL, NULL);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 3);
  /* A file outside of the folder counts once too, for the first class that reaches it. */
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 5);
  g_assert_true (is_listed (dataset, "zero.jpg: not a regular file"));
  g_assert_false (is_listed (dataset, "a symbolic link that leaves"));
  test_folder_remove (folder);
  test_folder_remove (outside);
  test_folder_remove (beside);
}

static void
test_odd_names (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *name = NULL;
  guint8 pixels[8 * 8 * 3];
  gint32 label;

  put_jpeg (folder, "caf\xe9/\xff\xfe.jpg", 10);
  put_jpeg (folder, "z/\n.jpg", 10);
  dataset = test_open (folder);
  g_assert_true (g_utf8_validate (dyno_dataset_get_info (dataset)->class_names[0], -1, NULL));
  name = dyno_dataset_describe_sample (dataset, 0);
  g_assert_true (g_utf8_validate (name, -1, NULL));
  for (guint i = 0; i < 2; i++)
    g_assert_true (
        dyno_dataset_decode (dataset, i, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error));
  test_folder_remove (folder);
}

/* A path longer than PATH_MAX, which is made folder by folder. */
static void
test_path_beyond_path_max (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *part = g_strnfill (200, 'd');
  g_autofree char *start = g_get_current_dir ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[8 * 8 * 3];
  gint32 label;

  put_jpeg (folder, "b/1.jpg", 10);
  g_assert_cmpint (g_chdir (folder), ==, 0);
  g_assert_cmpint (g_mkdir ("a", 0755), ==, 0);
  g_assert_cmpint (g_chdir ("a"), ==, 0);
  for (guint i = 0; i < 25; i++)
    {
      g_assert_cmpint (g_mkdir (part, 0755), ==, 0);
      g_assert_cmpint (g_chdir (part), ==, 0);
    }
  put_jpeg (".", "deep.jpg", 10);
  g_assert_cmpint (g_chdir (start), ==, 0);

  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_true (
      dyno_dataset_decode (dataset, 0, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error));

  /* Such a path is removed in the same way, since no call accepts it. */
  g_assert_cmpint (g_chdir (folder), ==, 0);
  g_assert_cmpint (g_chdir ("a"), ==, 0);
  for (guint i = 0; i < 25; i++)
    g_assert_cmpint (g_chdir (part), ==, 0);
  g_assert_cmpint (g_unlink ("deep.jpg"), ==, 0);
  for (guint i = 0; i < 25; i++)
    {
      g_assert_cmpint (g_chdir (".."), ==, 0);
      g_assert_cmpint (g_rmdir (part), ==, 0);
    }
  g_assert_cmpint (g_chdir (start), ==, 0);
  test_folder_remove (folder);
}

static void
test_what_is_no_data_set (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *missing = g_build_filename (folder, "missing", NULL);
  g_autofree char *fifo = g_build_filename (folder, "fifo", NULL);
  const DynoDatasetParams allow = { .one_class = TRUE };
  g_autoptr (DynoDataset) one = NULL;
  g_auto (GStrv) notes = NULL;

  test_open_fails (folder, DYNO_DATA_ERROR_UNKNOWN, "no sub-folders|folder of its own");
  put_jpeg (folder, "flat.jpg", 10);
  test_open_fails (folder, DYNO_DATA_ERROR_UNKNOWN, "no sub-folders");
  g_free (test_write (folder, "a/text.txt", "text only, no image", 19));
  test_open_fails (folder, DYNO_DATA_ERROR_EMPTY, "no readable sample|text.txt");
  put_jpeg (folder, "a/1.jpg", 10);
  test_open_fails (folder, DYNO_DATA_ERROR_EMPTY, "one class only|data.one_class");
  one = dyno_dataset_open (folder, &allow, NULL, NULL, NULL, NULL);
  g_assert_nonnull (one);
  notes = dyno_dataset_list_notes (one, NULL, NULL);
  g_assert_true (g_strv_length (notes) > 0
                 && strstr (notes[g_strv_length (notes) - 1], "one class"));
  test_open_fails (missing, DYNO_DATA_ERROR_NOT_FOUND, "missing");
  g_assert_cmpint (mkfifo (fifo, 0600), ==, 0);
  test_open_fails (fifo, DYNO_DATA_ERROR_UNKNOWN, "neither a file nor a folder");
  test_folder_remove (folder);
}

/* Files and folders at any depth, in the given order; files that are no images are listed. */
static void
test_files_without_labels (void)
{
  g_autofree char *folder = test_folder_new (), *a = NULL, *text = NULL;
  g_autofree char *inner = g_build_filename (folder, "b", NULL),
                  *gone = g_build_filename (folder, "gone.jpg", NULL);
  g_autoptr (GError) error = NULL;

  put_jpeg (folder, "z.jpg", 10);
  put_jpeg (folder, "b/2.jpg", 20);
  put_jpeg (folder, "b/c/1.jpg", 30);
  text = test_write (folder, "b/notes.txt", "hello", 5);
  a = g_build_filename (folder, "z.jpg", NULL);
  const char *const paths[] = { a, gone, inner, NULL };
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open_unlabelled (paths, NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autofree char *first = dyno_dataset_describe_sample (dataset, 0),
                  *last = dyno_dataset_describe_sample (dataset, 2);
  g_assert_cmpuint (info->n_samples, ==, 3);
  g_assert_cmpuint (info->n_classes, ==, 0);
  g_assert_cmpuint (info->schema.n_fields, ==, 1);
  g_assert_cmpstr (first, ==, a);
  g_assert_true (g_str_has_suffix (last, "b/c/1.jpg"));
  g_assert_cmpuint (info->n_unreadable, ==, 2);
  g_assert_true (is_listed (dataset, "gone.jpg") && is_listed (dataset, "notes.txt"));

  /* If none can be read, that is an error; another kind of DATA is an error, too. */
  const char *const bad[] = { gone, NULL };
  g_assert_null (dyno_dataset_open_unlabelled (bad, NULL, NULL, NULL, NULL, NULL, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY);
  g_clear_error (&error);
  const char *const shapes[] = { "builtin:shapes?samples=20", NULL };
  g_autoptr (DynoDataset) other =
      dyno_dataset_open_unlabelled (shapes, NULL, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dyno_dataset_get_info (other)->kind, ==, "shapes");
  test_folder_remove (folder);
}

static void
test_vanished_file_is_an_error_of_the_sample (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *gone = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[8 * 8 * 3];
  gint32 label;

  put_jpeg (folder, "a/1.jpg", 10);
  put_jpeg (folder, "b/1.jpg", 10);
  dataset = test_open (folder);
  gone = g_build_filename (folder, "a", "1.jpg", NULL);
  g_assert_cmpint (g_unlink (gone), ==, 0);
  g_assert_false (
      dyno_dataset_decode (dataset, 0, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND);
  g_clear_error (&error);
  /* A FIFO in its place neither blocks nor decodes. */
  g_assert_cmpint (mkfifo (gone, 0600), ==, 0);
  g_assert_false (
      dyno_dataset_decode (dataset, 0, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ);
  test_folder_remove (folder);
}

/* A file of more than 256 MB is no sample, and a file that grew past this after the scan is an
 * error of its sample.  The files have holes: they take this size neither on disk nor in memory. */
static void
test_file_of_more_than_the_limit (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *huge = g_build_filename (folder, "b", "huge.jpg", NULL);
  g_autofree char *grows = g_build_filename (folder, "b", "grows.jpg", NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[8 * 8 * 3];
  gint32 label;

  put_jpeg (folder, "a/1.jpg", 10);
  put_jpeg (folder, "b/huge.jpg", 10);
  put_jpeg (folder, "b/grows.jpg", 10);
  g_assert_cmpint (truncate (huge, (off_t) DYNO_IMAGE_MAX_FILE_BYTES + 1), ==, 0);
  g_assert_cmpint (truncate (grows, (off_t) DYNO_IMAGE_MAX_FILE_BYTES), ==, 0);
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_true (is_listed (dataset, "b/huge.jpg: file of more than 256 MB"));
  g_assert_cmpint (truncate (grows, (off_t) DYNO_IMAGE_MAX_FILE_BYTES + 1), ==, 0);
  g_assert_false (
      dyno_dataset_decode (dataset, 1, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
  test_has_words (error, "grows.jpg|268435457|268435456");
  test_folder_remove (folder);
}

/* Folders are entered to a depth of 64, and deeper ones are listed. */
static void
test_nested_folders_have_a_limit (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *deepest = NULL;
  g_autoptr (GString) path = g_string_new ("a");
  g_autoptr (DynoDataset) dataset = NULL;

  put_jpeg (folder, "b/1.jpg", 10);
  for (guint depth = 1; depth <= 66; depth++)
    {
      g_autofree char *name = g_strdup_printf ("%s/%u.jpg", path->str, depth);
      if (depth >= 63)
        put_jpeg (folder, name, 10);
      g_string_append (path, "/d");
    }
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->class_counts[0], ==, 2);
  deepest = dyno_dataset_describe_sample (dataset, 1);
  g_assert_true (g_str_has_suffix (deepest, "/64.jpg"));
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 1);
  g_assert_true (is_listed (dataset, "folders nested too deeply"));
  test_folder_remove (folder);
}

static void
on_progress (guint64 found, gpointer data)
{
  g_cancellable_cancel (data);
}

static void
test_scan_can_be_cancelled (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 600; i++)
    {
      g_autofree char *name = g_strdup_printf ("%c/%u.jpg", i % 2 ? 'a' : 'b', i);
      g_free (test_write (folder, name, "x", 1));
    }
  g_assert_null (dyno_dataset_open (folder, NULL, on_progress, cancellable, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  test_folder_remove (folder);
}

static void
test_listing_is_bounded_and_stable (void)
{
  g_autofree char *folder = test_folder_new ();
  DynoDatasetParams params = { .max_listed = 5 };
  g_autoptr (GError) error = NULL;

  put_jpeg (folder, "a/1.jpg", 10);
  put_jpeg (folder, "b/1.jpg", 10);
  for (guint i = 0; i < 300; i++)
    {
      g_autofree char *name = g_strdup_printf ("a/x%03u.jpg", i);
      g_free (test_write (folder, name, "x", 1));
    }
  for (guint round = 0; round < 5; round++)
    {
      g_autoptr (DynoDataset) dataset =
          dyno_dataset_open (folder, &params, NULL, NULL, NULL, &error);
      const char *const *listed = dyno_dataset_get_unreadable (dataset);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 300);
      g_assert_cmpuint (g_strv_length ((char **) listed), ==, 5);
      for (guint i = 0; i < 5; i++)
        {
          g_autofree char *expected = g_strdup_printf ("/a/x%03u.jpg: ", i);
          g_assert_nonnull (strstr (listed[i], expected));
        }
    }
  test_folder_remove (folder);
}

static void
test_content_hash_sees_changes (void)
{
  g_autofree char *folder = test_folder_new ();
  guint64 hashes[4];

  put_jpeg (folder, "a/1.jpg", 10);
  put_jpeg (folder, "b/1.jpg", 10);
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      if (i == 2)
        put_jpeg (folder, "a/2.jpg", 10);
      if (i == 3)
        {
          g_autofree char *from = g_build_filename (folder, "a/2.jpg", NULL);
          g_autofree char *to = g_build_filename (folder, "b/2.jpg", NULL);
          g_assert_cmpint (g_rename (from, to), ==, 0);
        }
      dataset = test_open (folder);
      hashes[i] = dyno_dataset_get_info (dataset)->content_hash;
    }
  g_assert_cmpuint (hashes[0], ==, hashes[1]);
  g_assert_cmpuint (hashes[1], !=, hashes[2]);
  g_assert_cmpuint (hashes[2], !=, hashes[3]);
  test_folder_remove (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/imagefolder/classes-and-order", test_classes_and_order);
  g_test_add_func ("/data/imagefolder/decodes-by-content", test_decodes_by_content);
  g_test_add_func ("/data/imagefolder/own-split", test_own_split);
  g_test_add_func ("/data/imagefiles/files-and-folders-without-labels", test_files_without_labels);
  g_test_add_func ("/data/imagefolder/unused-part-is-said", test_unused_part_is_said);
  g_test_add_func ("/data/verify/decodes-every-sample", test_verify_decodes_every_sample);
  g_test_add_func ("/data/imagefolder/links-and-special-files", test_links_and_special_files);
  g_test_add_func ("/data/imagefolder/odd-names", test_odd_names);
  g_test_add_func ("/data/imagefolder/path-beyond-path-max", test_path_beyond_path_max);
  g_test_add_func ("/data/imagefolder/what-is-no-data-set", test_what_is_no_data_set);
  g_test_add_func ("/data/imagefolder/vanished-file-is-an-error-of-the-sample",
                   test_vanished_file_is_an_error_of_the_sample);
  g_test_add_func ("/data/imagefolder/file-of-more-than-the-limit",
                   test_file_of_more_than_the_limit);
  g_test_add_func ("/data/imagefolder/nested-folders-have-a-limit",
                   test_nested_folders_have_a_limit);
  g_test_add_func ("/data/imagefolder/scan-can-be-cancelled", test_scan_can_be_cancelled);
  g_test_add_func ("/data/imagefolder/listing-is-bounded-and-stable",
                   test_listing_is_bounded_and_stable);
  g_test_add_func ("/data/imagefolder/content-hash-sees-changes", test_content_hash_sees_changes);
  g_test_add_func ("/data/imagefolder/refused-samples-are-counted",
                   test_refused_samples_are_counted);
  g_test_add_func ("/data/imagefolder/names-of-parts", test_names_of_parts);
  g_test_add_func ("/data/imagefolder/names-of-classes-are-no-parts",
                   test_names_of_classes_are_no_parts);
  g_test_add_func ("/data/imagefolder/folders-around", test_folders_around);
  g_test_add_func ("/data/imagefolder/flat-parts-are-refused", test_flat_parts_are_refused);
  g_test_add_func ("/data/imagefolder/same-folders-in-all-classes-are-doubted",
                   test_same_folders_in_all_classes_are_doubted);
  g_test_add_func ("/data/imagefolder/what-systems-leave-behind", test_what_systems_leave_behind);
  return g_test_run ();
}
