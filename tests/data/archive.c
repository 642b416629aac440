/* SPDX-License-Identifier: MIT */
/* Image folders within .tar and .zip archives: the samples equal those of the folder, and damage is
 * reported. */
#include "archive-test.h"
#include "datafile.h"
#include "members.h"
#include "zipstore.h"
#include <string.h>
#include <unistd.h>

/* The order is not alphabetical; one folder contains them all, and does not count as a class. */
static const char *const members[] = {
  "photos/val/b/9.jpg",       "photos/train/b/x.jpg",
  "photos/train/a/2.jpg",     "photos/train/a-1/q.jpg",
  "photos/train/a/1.jpg",     "photos/train/a/sub/0.jpg",
  "photos/train/a/sub-1.jpg", NULL,
};

static GByteArray *
jpeg_of (guint i)
{
  return test_jpeg (40 + i, 30, (guint8) (20 * i), 50, 50, FALSE);
}

typedef enum { TAR, TAR_PAX, TAR_LONG, ZIP_STORED, ZIP_DEFLATED, ZIP_64, N_KINDS } Kind;

static char *
make_archive (const char *folder, const char *name, Kind kind)
{
  g_autoptr (GByteArray) tar = g_byte_array_new ();
  TestZip zip;
  char *path;

  test_zip_init (&zip);
  test_tar_add (tar, "./photos/", '5', NULL, 0);
  for (guint i = 0; members[i]; i++)
    {
      g_autoptr (GByteArray) jpeg = jpeg_of (i);
      g_autofree char *dotted = g_strconcat ("./", members[i], NULL);

      if (kind == TAR)
        test_tar_add (tar, dotted, '0', jpeg->data, jpeg->len);
      else if (kind == TAR_PAX)
        test_tar_add_pax (tar, members[i], jpeg->data, jpeg->len);
      else if (kind == TAR_LONG)
        test_tar_add_long (tar, members[i], jpeg->data, jpeg->len);
      else
        test_zip_add (&zip, members[i], kind == ZIP_DEFLATED, kind == ZIP_64, jpeg->data,
                      jpeg->len);
    }
  test_tar_end (tar);
  test_zip_end (&zip, kind == ZIP_64);
  path = kind <= TAR_LONG ? test_write (folder, name, tar->data, tar->len)
                          : test_write (folder, name, zip.bytes->data, zip.bytes->len);
  test_zip_clear (&zip);
  return path;
}

static void
assert_equal (DynoDataset *one, DynoDataset *other)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (one),
                        *theirs = dyno_dataset_get_info (other);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 pixels[2][8 * 8 * 3];
  gint32 labels[2];

  g_assert_cmpuint (info->n_samples, ==, theirs->n_samples);
  g_assert_cmpuint (info->n_classes, ==, theirs->n_classes);
  g_assert_cmpuint (info->max_width, ==, theirs->max_width);
  g_assert_cmpuint (info->min_width, ==, theirs->min_width);
  g_assert_cmpint (info->has_split, ==, theirs->has_split);
  for (guint c = 0; c < info->n_classes; c++)
    {
      g_assert_cmpstr (info->class_names[c], ==, theirs->class_names[c]);
      g_assert_cmpuint (info->class_counts[c], ==, theirs->class_counts[c]);
    }
  for (guint i = 0; i < info->n_samples; i++)
    {
      g_autoptr (GError) error = NULL;
      dyno_dataset_decode (one, i, 8, 8, (gpointer[]){ pixels[0], &labels[0] }, scratch, &error);
      g_assert_no_error (error);
      dyno_dataset_decode (other, i, 8, 8, (gpointer[]){ pixels[1], &labels[1] }, scratch, &error);
      g_assert_no_error (error);
      g_assert_cmpint (labels[0], ==, labels[1]);
      g_assert_cmpmem (pixels[0], sizeof pixels[0], pixels[1], sizeof pixels[1]);
    }
}

/* An archive is recognised by its content, whatever its name. */
static void
test_samples_are_the_folders (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *photos = g_build_filename (folder, "photos", NULL);
  g_autoptr (DynoDataset) of_folder = NULL;

  for (guint i = 0; members[i]; i++)
    {
      g_autoptr (GByteArray) jpeg = jpeg_of (i);
      g_free (test_write (folder, members[i], jpeg->data, jpeg->len));
    }
  of_folder = test_open (photos);
  for (Kind kind = TAR; kind < N_KINDS; kind++)
    {
      g_autofree char *path = make_archive (folder, "archive.bin", kind);
      g_autoptr (DynoDataset) dataset = test_open (path);
      g_autofree char *name = dyno_dataset_describe_sample (dataset, 0);

      g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==, "archive");
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 0);
      g_assert_cmpstr (name, ==, "photos/train/a/1.jpg");
      assert_equal (dataset, of_folder);
      /* an open archive stays readable */
      g_assert_cmpint (g_unlink (path), ==, 0);
      assert_equal (dataset, of_folder);
    }
  test_folder_remove (folder);
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
add_jpeg (GByteArray *tar, const char *name)
{
  g_autoptr (GByteArray) jpeg = jpeg_of (1);
  test_tar_add (tar, name, '0', jpeg->data, jpeg->len);
}

static void
test_members_that_are_no_samples (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) tar = g_byte_array_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autofree char *path = NULL;

  add_jpeg (tar, "readme.jpg");
  add_jpeg (tar, "a/1.jpg");
  add_jpeg (tar, "a/1.jpg");
  add_jpeg (tar, "b/2\xff.jpg");
  add_jpeg (tar, "b/.hidden.jpg");
  add_jpeg (tar, "__MACOSX/a/1.jpg");
  add_jpeg (tar, "../b/3.jpg");
  test_tar_add (tar, "b/link.jpg", '2', "/etc/passwd", 11);
  test_tar_add (tar, "b/fifo.jpg", '6', NULL, 0);
  test_tar_add (tar, "b/text.jpg", '0', "no image", 8);
  test_tar_end (tar);
  path = test_write (folder, "x", tar->data, tar->len);
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 5);
  g_assert_true (is_listed (dataset, "a/1.jpg: a later member"));
  g_assert_true (is_listed (dataset, "../b/3.jpg: its name leads out"));
  g_assert_true (is_listed (dataset, "b/link.jpg: a link"));
  g_assert_true (is_listed (dataset, "b/fifo.jpg: not a regular"));
  g_assert_true (is_listed (dataset, "b/text.jpg: not an image"));
  test_folder_remove (folder);
}

static void
test_truncated_and_damaged_tar (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) tar = g_byte_array_new ();
  guint second, third;

  add_jpeg (tar, "a/1.jpg");
  second = tar->len;
  add_jpeg (tar, "b/2.jpg");
  third = tar->len;
  add_jpeg (tar, "b/3.jpg");
  for (guint damage = 0; damage < 3; damage++)
    {
      g_autoptr (GByteArray) bad = g_byte_array_new ();
      g_autofree char *path = NULL;
      g_autoptr (DynoDataset) dataset = NULL;

      g_byte_array_append (bad, tar->data, damage == 0 ? third + 700 : tar->len);
      if (damage == 1)
        bad->data[third + 3] ^= 1; /* a wrong checksum */
      if (damage == 2)
        memcpy (bad->data + second + 124, "99999999999", 11);
      path = test_write (folder, "x.tar", bad->data, bad->len);
      if (damage == 2)
        {
          test_open_fails (path, DYNO_DATA_ERROR_EMPTY, "one class only");
          continue;
        }
      dataset = test_open (path);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 1);
      g_assert_true (is_listed (dataset, damage == 0 ? "b/3.jpg: the archive ends inside it"
                                                     : "a damaged header; the rest"));
    }
  test_folder_remove (folder);
}

/* A forged size of 2^55 - 1 bytes, in base 256. */
static void
test_huge_sizes_of_tar_allocate_nothing (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) tar = g_byte_array_new ();
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  guint at;

  add_jpeg (tar, "a/1.jpg");
  add_jpeg (tar, "b/2.jpg");
  at = tar->len;
  add_jpeg (tar, "b/3.jpg");
  memset (tar->data + at + 124, 0xff, 12);
  tar->data[at + 124] = 0x80;
  memset (tar->data + at + 125, 0, 4);
  tar->data[at + 129] = 0x7f;
  memset (tar->data + at + 148, ' ', 8);
  guint sum = 0;
  for (guint i = 0; i < 512; i++)
    sum += tar->data[at + i];
  g_snprintf ((char *) tar->data + at + 148, 8, "%06o", sum);
  path = test_write (folder, "x.tar", tar->data, tar->len);
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_true (is_listed (dataset, "b/3.jpg: the archive ends inside it")
                 || is_listed (dataset, "a damaged header"));
  test_folder_remove (folder);
}

static void
set_le (TestZip *zip, guint at, guint size, guint64 value)
{
  for (guint i = 0; i < size; i++)
    zip->directory->data[at + i] = (guint8) (value >> (8 * i));
}

static void
test_damaged_members_of_zip_are_listed (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL;
  g_autoptr (GByteArray) jpeg = jpeg_of (1);
  g_autoptr (DynoDataset) dataset = NULL;
  TestZip zip;
  guint at;

  test_zip_init (&zip);
  at = test_zip_add (&zip, "a/0.jpg", TRUE, FALSE, "", 0);
  set_le (&zip, at + 20, 4, 0); /* this member is read first, into a buffer that was never grown */
  test_zip_add (&zip, "a/1.jpg", TRUE, FALSE, jpeg->data, jpeg->len);
  test_zip_add (&zip, "b/2.jpg", FALSE, FALSE, jpeg->data, jpeg->len);
  test_zip_add (&zip, "b\\back.jpg", FALSE, FALSE, jpeg->data, jpeg->len);
  at = test_zip_add (&zip, "b/encrypted.jpg", FALSE, FALSE, jpeg->data, jpeg->len);
  set_le (&zip, at + 8, 2, 1);
  at = test_zip_add (&zip, "b/lzma.jpg", FALSE, FALSE, jpeg->data, jpeg->len);
  set_le (&zip, at + 10, 2, 14);
  at = test_zip_add (&zip, "b/far.jpg", FALSE, FALSE, jpeg->data, jpeg->len);
  set_le (&zip, at + 42, 4, 0x7fffffff);
  at = test_zip_add (&zip, "b/long.jpg", TRUE, FALSE, jpeg->data, jpeg->len);
  set_le (&zip, at + 20, 4, 0x7fffffff);
  at = test_zip_add (&zip, "b/bomb.jpg", TRUE, FALSE, jpeg->data, jpeg->len);
  set_le (&zip, at + 24, 4, 200 << 20);
  at = test_zip_add (&zip, "b/huge.jpg", TRUE, FALSE, jpeg->data, jpeg->len);
  set_le (&zip, at + 24, 4, 0xf0000000);
  at = test_zip_add (&zip, "b/other-size.jpg", TRUE, FALSE, jpeg->data, jpeg->len);
  set_le (&zip, at + 24, 4, jpeg->len - 1);
  at = test_zip_add (&zip, "b/link.jpg", FALSE, FALSE, "1.jpg", 5);
  set_le (&zip, at + 38, 4, 0120777u << 16);
  test_zip_end (&zip, FALSE);
  path = test_write (folder, "x.zip", zip.bytes->data, zip.bytes->len);
  test_zip_clear (&zip);
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 3);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 9);
  g_assert_true (is_listed (dataset, "a/0.jpg: its compressed bytes are damaged"));
  g_assert_true (is_listed (dataset, "b/encrypted.jpg: it is encrypted"));
  g_assert_true (is_listed (dataset, "b/lzma.jpg: a compression"));
  g_assert_true (is_listed (dataset, "b/far.jpg: its header is damaged"));
  g_assert_true (is_listed (dataset, "b/long.jpg: the archive ends inside it"));
  g_assert_true (is_listed (dataset, "b/bomb.jpg: its compressed bytes cannot hold"));
  g_assert_true (is_listed (dataset, "b/huge.jpg: file of more than 256 MB"));
  g_assert_true (is_listed (dataset, "b/other-size.jpg: its compressed bytes are damaged"));
  g_assert_true (is_listed (dataset, "b/link.jpg: a link"));
  test_folder_remove (folder);
}

static void
test_scratch_for_nothing_has_an_address (void)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  g_assert_true (dyno_datafile_reserve (scratch, 0, NULL));
  g_assert_nonnull (scratch->data);
}

static void
test_damaged_directory_of_zip (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = make_archive (folder, "x.zip", ZIP_DEFLATED);
  g_autofree char *content = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  g_free (test_write (folder, "x.zip", content, size - 1));
  test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, "x.zip|directory|missing");
  content[size - 5 - 22 + 16 + 3] = 0x7f; /* the offset of the directory */
  g_free (test_write (folder, "x.zip", content, size));
  test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, "x.zip|beyond its end");
  test_folder_remove (folder);
}

static void
test_what_cannot_be_read_in_any_order_says_so (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *gz =
      test_write (folder, "photos.tar.gz", "\x1f\x8b\x08\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
  g_autofree char *zst =
      test_write (folder, "photos.tar.zst", "\x28\xb5\x2f\xfd\0\0\0\0\0\0\0\0", 12);

  test_open_fails (gz, DYNO_DATA_ERROR_UNSUPPORTED, "photos.tar.gz|gzip|unpack it");
  test_open_fails (zst, DYNO_DATA_ERROR_UNSUPPORTED, "photos.tar.zst|zstd|plain .tar");
  test_folder_remove (folder);
}

static void
test_archive_without_folders (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL;
  g_autoptr (GByteArray) tar = g_byte_array_new ();

  add_jpeg (tar, "1.jpg");
  test_tar_end (tar);
  path = test_write (folder, "x.tar", tar->data, tar->len);
  test_open_fails (path, DYNO_DATA_ERROR_UNKNOWN, "x.tar|no folders");
  test_folder_remove (folder);
}

/* The archive is truncated while it is in use: each missing sample is an error of its own. */
static void
test_archive_that_shrinks_in_use (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = make_archive (folder, "x.tar", TAR);
  g_autoptr (DynoDataset) dataset = test_open (path);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint n_failed = 0;

  g_assert_cmpint (truncate (path, 3000), ==, 0);
  for (guint i = 0; i < dyno_dataset_get_info (dataset)->n_samples; i++)
    {
      g_autoptr (GError) error = NULL;
      guint8 pixels[8 * 8 * 3];
      gint32 label;

      if (dyno_dataset_decode (dataset, i, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error))
        continue;
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
      test_has_words (error, "photos/|ends before it");
      n_failed++;
    }
  g_assert_cmpuint (n_failed, >=, 5);
  test_folder_remove (folder);
}

/* Names in archives have the rules of names in folders: parts, nested duplicate folders, system
 * files, and doubtful names. */
static void
test_names_of_people (void)
{
  static const char *const names[] = { "set/seg_train/seg_train/a/1.jpg",
                                       "set/seg_train/seg_train/b/2.jpg",
                                       "set/seg_test/seg_test/b/3.jpg",
                                       "__MACOSX/seg_train/seg_train/c/4.jpg",
                                       "set/seg_train/seg_train/a/Thumbs.db" },
                           *const doubtful[] = { "day/a/1.jpg", "day/b/1.jpg", "night/a/1.jpg",
                                                 "night/b/1.jpg" };
  g_autofree char *folder = test_folder_new ();

  for (guint k = 0; k < 2; k++)
    {
      g_autoptr (DynoDataset) dataset = NULL;
      g_autofree char *path = NULL, *all = NULL;
      g_auto (GStrv) notes = NULL;
      TestZip zip;

      test_zip_init (&zip);
      for (guint i = 0; i < (k == 0 ? G_N_ELEMENTS (names) : G_N_ELEMENTS (doubtful)); i++)
        {
          g_autoptr (GByteArray) jpeg = jpeg_of (i);
          test_zip_add (&zip, k == 0 ? names[i] : doubtful[i], FALSE, FALSE, jpeg->data, jpeg->len);
        }
      test_zip_end (&zip, FALSE);
      path = test_write (folder, "people.zip", zip.bytes->data, zip.bytes->len);
      test_zip_clear (&zip);
      dataset = test_open (path);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, k == 0 ? 3 : 4);
      g_assert_cmpint (dyno_dataset_get_info (dataset)->has_split, ==, k == 0);
      notes = dyno_dataset_list_notes (dataset, NULL, NULL);
      all = g_strjoinv ("\n", notes);
      g_assert_nonnull (strstr (all, k == 0 ? "are not data: Thumbs.db, __MACOSX"
                                            : "All classes hold the same folders, “a”, “b”"));
    }
  test_folder_remove (folder);
}

/* Masks are read from folders only: an archive whose file names match as images and masks is
 * refused, unless classes are requested; otherwise the folders are two classes, which a note
 * states. */
static void
test_images_and_masks (void)
{
  enum { REFUSED, NOTED, TAKEN };
  static const struct {
    const char *names[4];
    DynoTask task;
    int outcome;
  } cases[] = {
    { { "Images/a.jpg", "masks/a.png", NULL }, DYNO_TASK_AUTO, REFUSED },
    { { "set/images/x/a-1.jpg", "set/labels/x/A-1_mask.png", "set/images/x/b.jpg", NULL },
      DYNO_TASK_AUTO,
      REFUSED },
    { { "Images/a.jpg", "masks/a.png", NULL }, DYNO_TASK_CLASSES, TAKEN },
    { { "images/a.jpg", "masks/b.png", "masks/c.png", "images/d.jpg" }, DYNO_TASK_AUTO, NOTED },
    { { "images/a.jpg", "masks/b.png", NULL }, DYNO_TASK_PIXELS, REFUSED },
    { { "cats/a.jpg", "dogs/a.png", NULL }, DYNO_TASK_AUTO, TAKEN },
  };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) jpeg = jpeg_of (1);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const DynoDatasetParams params = { .task = cases[i].task };
      g_autoptr (GByteArray) tar = g_byte_array_new ();
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) notes = NULL;
      g_autofree char *path = NULL, *all = NULL;

      for (guint k = 0; k < 4 && cases[i].names[k]; k++)
        test_tar_add (tar, cases[i].names[k], '0', jpeg->data, jpeg->len);
      test_tar_end (tar);
      path = test_write (folder, "set.tar", tar->data, tar->len);
      dataset = dyno_dataset_open (path, &params, NULL, NULL, NULL, &error);
      if (cases[i].outcome == REFUSED)
        {
          g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
          test_has_words (error, "set.tar|their masks|unpack|data.task");
          continue;
        }
      g_assert_no_error (error);
      notes = dyno_dataset_list_notes (dataset, NULL, NULL);
      all = g_strjoinv ("\n", notes);
      g_assert_cmpint (strstr (all, "“images” and “masks” of the archive are two classes") != NULL,
                       ==, cases[i].outcome == NOTED);
    }
  test_folder_remove (folder);
}

/* --- the directory of a zip ------------------------------------------------------------------- */

typedef struct {
  const guint8 *bytes;
  guint n;
} Walked;

static gboolean
take_member (const DynoMember *member, gpointer data, GError **error)
{
  Walked *walked = data;

  g_assert_null (member->refused);
  g_assert_cmpmem (walked->bytes + member->at, member->size, "content", 7);
  walked->n++;
  return TRUE;
}

/* Two members; before and after are bytes before the archive and after its directory, and the
 * comment of the archive ends it. */
static GByteArray *
make_zip (guint before, const char *after, guint n_after, const char *comment, guint n_comment)
{
  GByteArray *file = g_byte_array_new ();
  guint8 length[2] = { (guint8) n_comment, (guint8) (n_comment >> 8) };
  TestZip zip;

  test_zip_init (&zip);
  test_zip_add (&zip, "a.txt", FALSE, FALSE, "content", 7);
  test_zip_add (&zip, "b/c.txt", FALSE, FALSE, "content", 7);
  g_byte_array_append (zip.directory, (const guint8 *) after, n_after);
  test_zip_end (&zip, FALSE);
  for (guint i = 0; i < before; i++)
    g_byte_array_append (file, (const guint8 *) "P", 1);
  g_byte_array_append (file, zip.bytes->data, zip.bytes->len - 7); /* without its comment */
  g_byte_array_append (file, length, 2);
  for (guint i = 0; i < n_comment; i++)
    g_byte_array_append (file, (const guint8 *) comment + i % strlen (comment), 1);
  test_zip_clear (&zip);
  return file;
}

/* The end record is found without a comment, before the longest one, and before one that holds its
 * signature; other bytes may precede the archive, and only a signature may follow its directory. */
static void
test_ends_of_zip (void)
{
  static const struct {
    guint before;
    const char *after;
    guint n_after;
    const char *comment;
    guint n_comment;
    gboolean good;
  } cases[] = {
    { 0, "", 0, "", 0, TRUE },
    { 0, "", 0, "c", 1, TRUE },
    { 0, "", 0, "c", 65535, TRUE },
    { 0, "", 0, "PK\5\6 is no second end record of the archive", 45, TRUE },
    { 1, "", 0, "", 0, TRUE },
    { 70000, "", 0, "c", 65535, TRUE },
    { 3, "PK\5\5xx", 6, "", 0, TRUE },
    { 0, "PK\5\5", 4, "", 0, TRUE },
    { 0, "PK\5", 3, "", 0, FALSE },
    { 0, "PK\5\6xx", 6, "", 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GByteArray) file = make_zip (cases[i].before, cases[i].after, cases[i].n_after,
                                              cases[i].comment, cases[i].n_comment);
      g_autoptr (GError) error = NULL;
      Walked walked = { file->data, 0 };

      g_assert_cmpint (dyno_zip_walk_memory (file->data, file->len, take_member, &walked, &error),
                       ==, cases[i].good);
      g_assert_cmpuint (walked.n, ==, 2);
      if (!cases[i].good)
        test_has_words (error, "its directory ends early");
      /* Cut off by a byte, the archive has no end. */
      g_clear_error (&error);
      g_assert_false (
          dyno_zip_walk_memory (file->data, file->len - 1, take_member, &walked, &error));
      test_has_words (error, "is missing");
    }
}

/* Entries of an archive in memory: each is found under its own name, and whatever could give other
 * bytes than those that were stored is refused. */
static void
test_stored_entries_are_found_by_name (void)
{
  static const struct {
    const char *name;
    gboolean deflated, encrypted;
    DynoDataError code;
    const char *words; /* NULL: it is taken */
  } thirds[] = { { "m/data/1", FALSE, FALSE, 0, NULL },
                 { "m/data/0", FALSE, FALSE, DYNO_DATA_ERROR_CORRUPT, "m/data/0|two entries" },
                 { "m/data/1", TRUE, FALSE, DYNO_DATA_ERROR_UNSUPPORTED, "compressed" },
                 { "m/data/1", FALSE, TRUE, DYNO_DATA_ERROR_CORRUPT, "m/data/1|encrypted" } };

  g_assert_true (dyno_zip_matches ((const guint8 *) "PK\3\4", 4));
  g_assert_false (dyno_zip_matches ((const guint8 *) "PK\3\4", 3));
  g_assert_false (dyno_zip_matches ((const guint8 *) "PK\5\6", 4)); /* an archive of nothing */
  for (guint i = 0; i < G_N_ELEMENTS (thirds); i++)
    {
      TestZip zip;
      g_autoptr (GError) error = NULL;

      test_zip_init (&zip);
      test_zip_add (&zip, "m/data.pkl", FALSE, FALSE, "first", 5);
      test_zip_add (&zip, "m/data/0", FALSE, FALSE, "second", 6);
      guint at = test_zip_add (&zip, thirds[i].name, thirds[i].deflated, FALSE, "third one", 9);
      if (thirds[i].encrypted)
        set_le (&zip, at + 8, 2, 1);
      test_zip_end (&zip, FALSE);
      g_autoptr (DynoZip) found = dyno_zip_parse (zip.bytes->data, zip.bytes->len, &error);
      if (thirds[i].words)
        {
          g_assert_null (found);
          g_assert_error (error, DYNO_DATA_ERROR, (gint) thirds[i].code);
          test_has_words (error, thirds[i].words);
        }
      else
        {
          static const char *const names[] = { "m/data.pkl", "m/data/0", "m/data/1" },
                                   *const contents[] = { "first", "second", "third one" };
          g_assert_no_error (error);
          g_assert_cmpuint (found->entries->len, ==, 3);
          for (guint k = 0; k < 3; k++)
            {
              const DynoZipEntry *entry = dyno_zip_lookup (found, names[k]);
              g_assert_cmpmem (entry->data, entry->size, contents[k], strlen (contents[k]));
            }
          g_assert_null (dyno_zip_lookup (found, "m/data/2"));
        }
      test_zip_clear (&zip);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/archive/samples-are-the-folders", test_samples_are_the_folders);
  g_test_add_func ("/data/archive/members-that-are-no-samples", test_members_that_are_no_samples);
  g_test_add_func ("/data/archive/truncated-and-damaged-tar", test_truncated_and_damaged_tar);
  g_test_add_func ("/data/archive/huge-sizes-of-tar-allocate-nothing",
                   test_huge_sizes_of_tar_allocate_nothing);
  g_test_add_func ("/data/archive/damaged-members-of-zip-are-listed",
                   test_damaged_members_of_zip_are_listed);
  g_test_add_func ("/data/archive/stored-entries-are-found-by-name",
                   test_stored_entries_are_found_by_name);
  g_test_add_func ("/data/archive/scratch-for-nothing-has-an-address",
                   test_scratch_for_nothing_has_an_address);
  g_test_add_func ("/data/archive/damaged-directory-of-zip", test_damaged_directory_of_zip);
  g_test_add_func ("/data/archive/ends-of-zip", test_ends_of_zip);
  g_test_add_func ("/data/archive/what-cannot-be-read-in-any-order-says-so",
                   test_what_cannot_be_read_in_any_order_says_so);
  g_test_add_func ("/data/archive/without-folders-is-said", test_archive_without_folders);
  g_test_add_func ("/data/archive/shrinks-in-use", test_archive_that_shrinks_in_use);
  g_test_add_func ("/data/archive/names-of-people", test_names_of_people);
  g_test_add_func ("/data/archive/images-and-masks-are-refused", test_images_and_masks);
  return g_test_run ();
}
