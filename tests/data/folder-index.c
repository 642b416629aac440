/* SPDX-License-Identifier: MIT */
/* The index of an image folder: it gives the result of a scan, detects changes, and is not used
 * where it is damaged. */
#include "cachefile.h"
#include "data-test.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *cache;

static void
put_jpeg (const char *folder, const char *name, guint8 red)
{
  g_autoptr (GByteArray) file = test_jpeg (40, 30, red, 50, 50, FALSE);
  g_free (test_write (folder, name, file->data, file->len));
}

/* Makes all folders and files look unchanged for a while, since recently changed ones are not
 * indexed. */
static void
set_time (const char *path, gint64 seconds)
{
  const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

  g_assert_cmpint (utimensat (AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), ==, 0);
}

static void
let_rest (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *full = g_build_filename (path, name, NULL);
      let_rest (full);
    }
  set_time (path, 1000000000);
}

static char *
make_folder (void)
{
  char *folder = test_folder_new ();

  for (guint i = 0; i < 6; i++)
    {
      g_autofree char *name = g_strdup_printf ("%c/%u.jpg", i % 2 ? 'a' : 'b', i);
      put_jpeg (folder, name, (guint8) (10 * i));
    }
  put_jpeg (folder, "a/sub/9.jpg", 99);
  g_free (test_write (folder, "b/text.jpg", "no image at all", 16));
  let_rest (folder);
  return folder;
}

static DynoDataset *
open_folder (const char *folder, guint index_from)
{
  /* A forged index may have all samples in one class. */
  const DynoDatasetParams params = { .index_from = index_from, .one_class = TRUE };
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (folder, &params, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dataset;
}

static void
make_index (const char *folder, const DynoDatasetParams *params)
{
  g_autoptr (GError) error = NULL;

  dyno_dataset_unref (dyno_dataset_open (folder, params, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
}

/* The path of the only index, or NULL; g_free. */
static char *
find_index (void)
{
  g_autofree char *folder = g_build_filename (cache, "dyno", "folders", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name = dir ? g_dir_read_name (dir) : NULL;

  g_assert_true (!name || !g_dir_read_name (dir));
  return name ? g_build_filename (folder, name, NULL) : NULL;
}

static void
drop_index (void)
{
  g_autofree char *path = find_index ();

  if (path)
    g_assert_cmpint (g_unlink (path), ==, 0);
}

static void
assert_same (DynoDataset *a, DynoDataset *b)
{
  const DynoDatasetInfo *x = dyno_dataset_get_info (a), *y = dyno_dataset_get_info (b);

  g_assert_cmpuint (x->n_samples, ==, y->n_samples);
  g_assert_cmpuint (x->n_unreadable, ==, y->n_unreadable);
  g_assert_cmpuint (x->size_bytes, ==, y->size_bytes);
  g_assert_cmpuint (x->content_hash, ==, y->content_hash);
  g_assert_cmpuint (x->min_width, ==, y->min_width);
  g_assert_cmpuint (x->max_width, ==, y->max_width);
  g_assert_cmpuint (x->min_height, ==, y->min_height);
  g_assert_cmpuint (x->max_height, ==, y->max_height);
  g_assert_cmpint (x->has_split, ==, y->has_split);
  g_assert_cmpuint (x->n_validation, ==, y->n_validation);
  g_assert_cmpuint (x->n_test, ==, y->n_test);
  g_assert_cmpuint (x->n_classes, ==, y->n_classes);
  g_assert_true (
      g_strv_equal ((const char *const *) x->class_names, (const char *const *) y->class_names));
  g_assert_cmpmem (x->class_counts, x->n_classes * 8, y->class_counts, y->n_classes * 8);
  g_assert_true (g_strv_equal (dyno_dataset_get_unreadable (a), dyno_dataset_get_unreadable (b)));
  for (guint64 i = 0; i < x->n_samples; i++)
    {
      g_autofree char *first = dyno_dataset_describe_sample (a, i),
                      *second = dyno_dataset_describe_sample (b, i);
      g_assert_cmpstr (first, ==, second);
      g_assert_cmpint (dyno_dataset_get_label (a, i), ==, dyno_dataset_get_label (b, i));
    }
}

/* Writes other content into the index from a position of the payload on, with a valid hash. */
static void
forge (const char *path, gsize place, gconstpointer value, gsize size)
{
  static const char magic[8] = "dynoscn3";
  g_autofree char *name = g_path_get_basename (path);
  g_autoptr (GBytes) payload = NULL;
  g_autofree guint8 *bytes = NULL;
  DynoCacheKey key;
  gsize length;

  g_assert_cmpint (sscanf (name, "%16" G_GINT64_MODIFIER "x%16" G_GINT64_MODIFIER "x",
                           &key.words[0], &key.words[1]),
                   ==, 2);
  payload = dyno_cache_file_read (path, magic, key);
  g_assert_nonnull (payload);
  bytes = g_memdup2 (g_bytes_get_data (payload, &length), g_bytes_get_size (payload));
  g_assert_cmpuint (place + size, <=, length);
  memcpy (bytes + place, value, size);
  dyno_cache_file_write (path, magic, key, bytes, length);
}

/* A number that no scan would give shows that the second open reads the index. */
static void
test_second_open_reads_the_index (void)
{
  g_autofree char *folder = make_folder (), *path = NULL;
  g_autoptr (DynoDataset) first = open_folder (folder, 1), second = open_folder (folder, 1),
                          third = NULL;
  const guint64 forged = 123456789;

  assert_same (first, second);
  g_assert_cmpuint (dyno_dataset_get_info (second)->n_samples, ==, 7);
  g_assert_cmpuint (dyno_dataset_get_info (second)->n_unreadable, ==, 1);
  g_assert_cmpuint (dyno_dataset_get_info (second)->n_refused, ==,
                    dyno_dataset_get_info (first)->n_refused);
  g_assert_cmpstr (dyno_dataset_get_info (second)->first_refused, ==,
                   dyno_dataset_get_info (first)->first_refused);
  path = find_index ();
  g_assert_nonnull (path);
  forge (path, 8, &forged, sizeof forged);
  third = open_folder (folder, 1);
  g_assert_cmpuint (dyno_dataset_get_info (third)->size_bytes, ==, forged);
  drop_index ();
  test_folder_remove (folder);
}

/* The index has the validation samples of a scan. */
static void
test_index_keeps_the_parts (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (DynoDataset) first = NULL, second = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL, again = NULL, validation_again = NULL;

  for (guint i = 0; i < 9; i++)
    {
      g_autofree char *name =
          g_strdup_printf ("%s/%c/%u.jpg", i % 3 ? "train" : "val", i % 2 ? 'a' : 'b', i);
      put_jpeg (folder, name, (guint8) (10 * i));
    }
  let_rest (folder);
  first = open_folder (folder, 1);
  path = find_index ();
  g_assert_nonnull (path);
  second = open_folder (folder, 1);
  assert_same (first, second);
  dyno_dataset_split (first, 0, 0, &train, &validation);
  dyno_dataset_split (second, 0, 0, &again, &validation_again);
  g_assert_cmpuint (validation->len, ==, 3);
  g_assert_cmpmem (train->data, train->len * sizeof (guint32), again->data,
                   again->len * sizeof (guint32));
  g_assert_cmpmem (validation->data, validation->len * sizeof (guint32), validation_again->data,
                   validation_again->len * sizeof (guint32));
  drop_index ();
  test_folder_remove (folder);
}

typedef enum {
  CHANGE_ADDED,
  CHANGE_REMOVED,
  CHANGE_RENAMED,
  CHANGE_REPLACED,
  CHANGE_WRITTEN,
  CHANGE_MENDED,
  CHANGE_CLASS,
  CHANGE_SUBFOLDER,
  CHANGE_PARTS,
  N_CHANGES,
} Change;

static void
change (const char *folder, Change what)
{
  g_autofree char *one = g_build_filename (folder, "a", "1.jpg", NULL),
                  *other = g_build_filename (folder, "a", "sub", "x.jpg", NULL),
                  *three = g_build_filename (folder, "a", "3.jpg", NULL);

  switch (what)
    {
    case CHANGE_ADDED:
      put_jpeg (folder, "a/sub/10.jpg", 1);
      break;
    case CHANGE_REMOVED:
      g_assert_cmpint (g_unlink (one), ==, 0);
      break;
    case CHANGE_RENAMED:
      g_assert_cmpint (rename (one, other), ==, 0);
      break;
    case CHANGE_REPLACED:
      g_assert_cmpint (rename (one, three), ==, 0);
      break;
    case CHANGE_WRITTEN:
      g_assert_cmpint (truncate (one, 3), ==, 0);
      break;
    case CHANGE_MENDED:
      put_jpeg (folder, "b/text.jpg", 1);
      break;
    case CHANGE_CLASS:
      put_jpeg (folder, "c/1.jpg", 1);
      break;
    case CHANGE_SUBFOLDER:
      put_jpeg (folder, "b/deep/deeper/1.jpg", 1);
      break;
    case CHANGE_PARTS:
      put_jpeg (folder, "train/p/1.jpg", 1);
      put_jpeg (folder, "train/q/1.jpg", 1);
      break;
    case N_CHANGES:
    default:
      g_assert_not_reached ();
    }
}

static void
test_changes_are_noticed (void)
{
  for (Change what = 0; what < N_CHANGES; what++)
    {
      g_autofree char *folder = make_folder ();
      g_autoptr (DynoDataset) before = open_folder (folder, 1), after = NULL, fresh = NULL;
      g_autofree char *path = find_index ();

      g_assert_nonnull (path);
      change (folder, what);
      after = open_folder (folder, 1);
      fresh = open_folder (folder, G_MAXUINT);
      assert_same (after, fresh);
      g_assert_cmpuint (dyno_dataset_get_info (after)->content_hash, !=,
                        dyno_dataset_get_info (before)->content_hash);
      drop_index ();
      test_folder_remove (folder);
    }
}

/* A folder with three parts is the same from its index, and a class that its training part gets
 * later is noticed also where only a folder of the test part had this name. */
static void
test_three_parts (void)
{
  static const char *const names[] = { "train/a/1.jpg", "train/b/1.jpg", "val/b/2.jpg",
                                       "test/a/3.jpg",  "test/b/3.jpg",  "test/c/4.jpg" };
  g_autofree char *folder = test_folder_new (), *path = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    put_jpeg (folder, names[i], (guint8) (10 * i));
  let_rest (folder);
  make_index (folder, &(DynoDatasetParams){ .index_from = 1 });
  path = find_index ();
  g_assert_nonnull (path);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoDataset) indexed = open_folder (folder, 1),
                              fresh = open_folder (folder, G_MAXUINT);
      const DynoDatasetInfo *info = dyno_dataset_get_info (indexed);

      assert_same (indexed, fresh);
      g_assert_cmpuint (info->n_validation, ==, 1);
      g_assert_cmpuint (info->n_test, ==, 2 + i);
      g_assert_cmpuint (info->n_classes, ==, 2 + i);
      put_jpeg (folder, "train/c/4.jpg", 9);
    }
  drop_index ();
  test_folder_remove (folder);
}

static void
test_damaged_index_is_made_anew (void)
{
  g_autofree char *folder = make_folder (), *path = NULL, *whole = NULL;
  g_autoptr (DynoDataset) fresh = open_folder (folder, 1);
  gsize size;

  path = find_index ();
  g_assert_true (g_file_get_contents (path, &whole, &size, NULL));
  for (guint round = 0; round < 4; round++)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_autofree char *bytes = g_memdup2 (whole, size), *again = NULL;
      gsize length = round == 0 ? 0 : round == 1 ? size / 2 : size, new_size;

      if (round == 2)
        bytes[size - 3] ^= 1;
      if (round == 3)
        bytes[9] ^= 1; /* another version */
      g_assert_true (g_file_set_contents (path, bytes, (gssize) length, NULL));
      dataset = open_folder (folder, 1);
      assert_same (dataset, fresh);
      g_assert_true (g_file_get_contents (path, &again, &new_size, NULL));
      g_assert_cmpmem (again, new_size, whole, size);
    }
  drop_index ();
  test_folder_remove (folder);
}

/* The hash is valid, but numbers are out of range. */
static void
test_numbers_out_of_range_are_not_believed (void)
{
  g_autofree char *folder = make_folder (), *path = NULL, *whole = NULL;
  const DynoDatasetParams params = { .index_from = 1 };
  static const guint32 values[] = { 0, 1, 2, 0x7fffffff, 0xffffffff };
  gsize size;

  make_index (folder, &params);
  path = find_index ();
  g_assert_true (g_file_get_contents (path, &whole, &size, NULL));
  /* near the start every value, then one of the values at each place in turn */
  for (gsize at = 40; at + 4 <= size - 48; at += 4)
    for (guint v = at < 80 ? 0 : at / 4 % 5; v < (at < 80 ? 5 : at / 4 % 5 + 1); v++)
      {
        g_autoptr (DynoDataset) dataset = NULL;

        g_assert_true (g_file_set_contents_full (path, whole, (gssize) size,
                                                 G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        forge (path, at, &values[v], 4);
        dataset = open_folder (folder, 1);
        for (guint64 i = 0; i < dyno_dataset_get_info (dataset)->n_samples; i++)
          {
            g_free (dyno_dataset_describe_sample (dataset, i));
            g_assert_cmpint (dyno_dataset_get_label (dataset, i), <,
                             (gint32) dyno_dataset_get_info (dataset)->n_classes);
          }
      }
  drop_index ();
  test_folder_remove (folder);
}

static void
test_what_may_change_unseen_has_none (void)
{
  g_autofree char *folder = make_folder (), *link = g_build_filename (folder, "a", "l", NULL);
  g_autoptr (DynoDataset) few = NULL, broken = NULL, young = NULL;

  few = open_folder (folder, 8);
  g_assert_null (find_index ());
  g_assert_cmpint (symlink ("nowhere", link), ==, 0);
  let_rest (folder);
  broken = open_folder (folder, 1);
  g_assert_null (find_index ());
  g_assert_cmpint (g_unlink (link), ==, 0);
  set_time (folder, 4102444800); /* in 2100: not settled, whatever the time is */
  young = open_folder (folder, 1);
  g_assert_null (find_index ());
  test_folder_remove (folder);
}

static void
test_options_have_indexes_of_their_own (void)
{
  g_autofree char *folder = make_folder ();
  const DynoDatasetParams plain = { .index_from = 1 }, one = { .index_from = 1, .max_listed = 1 },
                          links = { .index_from = 1, .links = TRUE };
  g_autofree char *indexes = g_build_filename (cache, "dyno", "folders", NULL);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GDir) dir = NULL;
      guint n = 0;

      make_index (folder, &plain);
      make_index (folder, &one);
      make_index (folder, &links);
      dir = g_dir_open (indexes, 0, NULL);
      while (g_dir_read_name (dir))
        n++;
      g_assert_cmpuint (n, ==, 3);
    }
  test_folder_remove (indexes);
  test_folder_remove (folder);
}

static void
test_few_indexes_are_kept (void)
{
  g_autofree char *indexes = g_build_filename (cache, "dyno", "folders", NULL);
  g_autoptr (GDir) dir = NULL;
  const DynoDatasetParams params = { .index_from = 1 };
  guint n = 0;

  for (guint i = 0; i < 20; i++)
    {
      g_autofree char *folder = test_folder_new ();

      put_jpeg (folder, "a/1.jpg", 10);
      put_jpeg (folder, "b/1.jpg", 10);
      let_rest (folder);
      make_index (folder, &params);
      test_folder_remove (folder);
    }
  dir = g_dir_open (indexes, 0, NULL);
  while (g_dir_read_name (dir))
    n++;
  g_assert_cmpuint (n, ==, 16);
  test_folder_remove (indexes);
}

static void
test_cancel_leaves_it (void)
{
  g_autofree char *folder = make_folder (), *path = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const DynoDatasetParams params = { .index_from = 1 };
  g_autoptr (GError) error = NULL;

  make_index (folder, &params);
  g_cancellable_cancel (cancellable);
  g_assert_null (dyno_dataset_open (folder, &params, NULL, NULL, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  path = find_index ();
  g_assert_nonnull (path);
  drop_index ();
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  int result;

  cache = test_folder_new ();
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/folder-index/second-open-reads-it", test_second_open_reads_the_index);
  g_test_add_func ("/data/folder-index/keeps-the-parts", test_index_keeps_the_parts);
  g_test_add_func ("/data/folder-index/changes-are-noticed", test_changes_are_noticed);
  g_test_add_func ("/data/folder-index/three-parts", test_three_parts);
  g_test_add_func ("/data/folder-index/damaged-is-made-anew", test_damaged_index_is_made_anew);
  g_test_add_func ("/data/folder-index/numbers-out-of-range",
                   test_numbers_out_of_range_are_not_believed);
  g_test_add_func ("/data/folder-index/none-of-what-may-change-unseen",
                   test_what_may_change_unseen_has_none);
  g_test_add_func ("/data/folder-index/options-have-their-own",
                   test_options_have_indexes_of_their_own);
  g_test_add_func ("/data/folder-index/few-are-kept", test_few_indexes_are_kept);
  g_test_add_func ("/data/folder-index/cancel-leaves-it", test_cancel_leaves_it);
  result = g_test_run ();
  test_folder_remove (cache);
  g_free (cache);
  return result;
}
