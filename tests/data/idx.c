/* SPDX-License-Identifier: MIT */
/* IDX files: plain and gzip, pairs and folders, and false headers. */
#include "data-test.h"
#include "idxfile.h"
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static GByteArray *
make_idx (guint n_dims, guint32 count, guint32 rows, guint32 columns, guint64 n_bytes)
{
  GByteArray *file = g_byte_array_new ();
  guint32 shape[3] = { GUINT32_TO_BE (count), GUINT32_TO_BE (rows), GUINT32_TO_BE (columns) };
  guint8 magic[4] = { 0, 0, 8, (guint8) n_dims };

  g_byte_array_append (file, magic, 4);
  g_byte_array_append (file, (guint8 *) shape, 4 * n_dims);
  for (guint64 i = 0; i < n_bytes; i++)
    {
      guint8 value = (guint8) (n_dims == 1 ? i % 3 : i);
      g_byte_array_append (file, &value, 1);
    }
  return file;
}

static void
put (const char *folder, const char *name, GByteArray *file)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  if (g_str_has_suffix (name, ".gz"))
    {
      gzFile out = gzopen (path, "wb");
      g_assert_cmpint (gzwrite (out, file->data, file->len), ==, (int) file->len);
      gzclose (out);
    }
  else
    g_free (test_write (folder, name, file->data, file->len));
  g_byte_array_unref (file);
}

static void
put_pair (const char *folder, const char *part, guint32 count, const char *ending)
{
  g_autofree char *images = g_strdup_printf ("%s-images-idx3-ubyte%s", part, ending);
  g_autofree char *labels = g_strdup_printf ("%s-labels-idx1-ubyte%s", part, ending);

  put (folder, images, make_idx (3, count, 4, 5, count * 20));
  put (folder, labels, make_idx (1, count, 0, 0, count));
}

static void
assert_sample (DynoDataset *dataset, guint64 index, guint64 within)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[20];
  gint32 label = -1;

  g_assert_true (
      dyno_dataset_decode (dataset, index, 5, 4, (gpointer[]){ pixels, &label }, scratch, &error));
  g_assert_cmpint (label, ==, (gint32) (within % 3));
  for (guint i = 0; i < 20; i++)
    g_assert_cmpuint (pixels[i], ==, (guint8) (within * 20 + i));
}

static void
test_reads_plain_and_gzip (void)
{
  static const char *const endings[] = { "", ".gz" };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *path = g_strdup_printf ("%s/t10k-images-idx3-ubyte%s", folder, endings[i]);

      put_pair (folder, "t10k", 30, endings[i]);
      for (guint by_folder = 0; by_folder < 2; by_folder++)
        {
          g_autoptr (DynoDataset) dataset = test_open (by_folder ? folder : path);
          const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
          g_assert_cmpstr (info->kind, ==, "idx");
          g_assert_cmpuint (info->n_samples, ==, 30);
          g_assert_cmpuint (info->n_classes, ==, 3);
          g_assert_cmpuint (dyno_schema_count_channels (&info->schema), ==, 1);
          g_assert_cmpuint (info->max_width, ==, 5);
          g_assert_cmpuint (info->max_height, ==, 4);
          g_assert_false (info->has_split);
          assert_sample (dataset, 17, 17);
        }
      test_folder_remove (folder);
    }
}

static void
test_folder_with_both_parts_is_split (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;

  put_pair (folder, "train", 40, ".gz");
  put_pair (folder, "t10k", 10, "");
  dataset = test_open (folder);
  g_assert_true (dyno_dataset_get_info (dataset)->has_split);
  dyno_dataset_split (dataset, 0.3, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 40);
  g_assert_cmpuint (validation->len, ==, 10);
  g_assert_cmpuint (g_array_index (validation, guint32, 0), ==, 40);
  assert_sample (dataset, 39, 39);
  assert_sample (dataset, 43, 3);
  test_folder_remove (folder);
}

/* One wrong byte of the labels makes 201 classes; a note before training names the sample. */
static void
test_a_wrong_label_is_noted (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_auto (GStrv) notes = NULL;
  GByteArray *labels = make_idx (1, 30, 0, 0, 30);

  labels->data[8 + 17] = 200;
  put (folder, "t10k-images-idx3-ubyte", make_idx (3, 30, 4, 5, 30 * 20));
  put (folder, "t10k-labels-idx1-ubyte", labels);
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 201);
  notes = dyno_dataset_list_notes (dataset, NULL, NULL);
  g_assert_cmpuint (g_strv_length (notes), ==, 1);
  g_assert_nonnull (strstr (notes[0], "a label from 3 to 199, and 1 of 30"));
  g_assert_nonnull (strstr (notes[0], "the first is #17."));
  test_folder_remove (folder);
}

static void
test_resizes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 pixels[64];
  gint32 label;

  put_pair (folder, "train", 6, "");
  dataset = test_open (folder);
  g_assert_true (
      dyno_dataset_decode (dataset, 0, 8, 8, (gpointer[]){ pixels, &label }, scratch, NULL));
  for (guint y = 0; y < 8; y++)
    for (guint x = 1; x < 8; x++)
      g_assert_cmpuint (pixels[y * 8 + x], >=, pixels[y * 8 + x - 1]);
  test_folder_remove (folder);
}

static void
test_lying_headers (void)
{
  for (guint gzip = 0; gzip < 2; gzip++)
    {
      g_autofree char *folder = test_folder_new ();
      const char *images = gzip ? "train-images-idx3-ubyte.gz" : "train-images-idx3-ubyte";
      const char *labels = gzip ? "train-labels-idx1-ubyte.gz" : "train-labels-idx1-ubyte";

      put (folder, labels, make_idx (1, 30, 0, 0, 30));
      put (folder, images, make_idx (3, 31, 4, 5, 30 * 20));
      test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "31 records of 20 bytes|30|images");
      put (folder, images, make_idx (3, 29, 4, 5, 30 * 20));
      test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "29 records|images");
      /* The header claims 34 GB, which is refused because of the file's size, before any
       * allocation. */
      put (folder, images, make_idx (3, 500000, 260, 260, 600));
      test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "500000 records");
      put (folder, images, make_idx (3, G_MAXUINT32, 65535, 65535, 600));
      test_open_fails (folder, DYNO_DATA_ERROR_TOO_LARGE, "65535");
      put (folder, images, make_idx (3, 30, 0, 5, 0));
      test_open_fails (folder, DYNO_DATA_ERROR_TOO_LARGE, "30 × 0 × 5");
      put (folder, images, make_idx (3, 29, 4, 5, 29 * 20));
      test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "30 labels|expected 29|labels");
      put (folder, images, make_idx (1, 30, 0, 0, 30));
      test_open_fails (folder, DYNO_DATA_ERROR_UNSUPPORTED, "1 dimension ");
      put (folder, images, make_idx (3, 0, 4, 5, 0));
      put (folder, labels, make_idx (1, 0, 0, 0, 0));
      test_open_fails (folder, DYNO_DATA_ERROR_EMPTY, "no sample");
      test_folder_remove (folder);
    }
}

/* 64 GiB from a file of 64 MB are possible with deflate, but not for images: the file is refused by
 * this ratio, before it is inflated. */
static void
test_gzip_bomb_is_refused_by_its_ratio (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = g_build_filename (folder, "train-images-idx3-ubyte.gz", NULL);

  put (folder, "train-labels-idx1-ubyte", make_idx (1, 30, 0, 0, 30));
  put (folder, "train-images-idx3-ubyte.gz", make_idx (3, 65536, 1024, 1024, 600));
  /* the appended part is a hole, past the end of the stream */
  g_assert_cmpint (truncate (path, 64 << 20), ==, 0);
  test_open_fails (path, DYNO_DATA_ERROR_TOO_LARGE, "65536 MB|64 MB, 1024 times");
  test_folder_remove (folder);
}

static guint64
hash_of (const char *folder)
{
  g_autoptr (DynoDataset) dataset = test_open (folder);
  return dyno_dataset_get_info (dataset)->content_hash;
}

/* A run is resumed only on the data that it began with: other images or other labels are other
 * data. */
static void
test_content_hash_sees_images_and_labels (void)
{
  g_autofree char *folder = test_folder_new ();
  GByteArray *changed;
  guint64 first;

  put_pair (folder, "train", 30, "");
  first = hash_of (folder);
  g_assert_cmphex (hash_of (folder), ==, first);
  changed = make_idx (1, 30, 0, 0, 30);
  changed->data[8 + 29] ^= 1;
  put (folder, "train-labels-idx1-ubyte", changed);
  g_assert_cmphex (hash_of (folder), !=, first);
  put_pair (folder, "train", 30, "");
  g_assert_cmphex (hash_of (folder), ==, first);
  changed = make_idx (3, 30, 4, 5, 600);
  changed->data[16 + 599] ^= 1;
  put (folder, "train-images-idx3-ubyte", changed);
  g_assert_cmphex (hash_of (folder), !=, first);
  test_folder_remove (folder);
}

static void
test_missing_labels_and_damaged_gzip (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = g_build_filename (folder, "train-images-idx3-ubyte.gz", NULL);
  g_autofree char *labels = g_build_filename (folder, "train-labels-idx1-ubyte.gz", NULL);
  g_autofree char *content = NULL;
  gsize size;

  put (folder, "train-images-idx3-ubyte.gz", make_idx (3, 30, 4, 5, 600));
  test_open_fails (path, DYNO_DATA_ERROR_NOT_FOUND, "train-labels-idx1-ubyte");
  put (folder, "train-labels-idx1-ubyte.gz", make_idx (1, 30, 0, 0, 30));
  test_open_fails (labels, DYNO_DATA_ERROR_UNKNOWN, "images file");
  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  g_free (test_write (folder, "train-images-idx3-ubyte.gz", content, size / 2));
  test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, "could be read");
  content[size / 2] ^= 0x55;
  g_free (test_write (folder, "train-images-idx3-ubyte.gz", content, size));
  test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, "images");
  g_free (test_write (folder, "train-images-idx3-ubyte.gz", "\0\0\x0d\x03", 4));
  test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, "header");
  g_free (test_write (folder, "train-images-idx3-ubyte.gz", "\0\0\x0d\x03\0\0\0\0\0", 9));
  test_open_fails (path, DYNO_DATA_ERROR_UNSUPPORTED, "0x0d");
  test_folder_remove (folder);
}

/* The header is taken up to its limits, and not beyond. */
static void
test_limits_of_the_header (void)
{
  static const struct {
    guint n_dims;
    guint32 shape[3];
    gboolean taken;
  } rows[] = { { 1, { 7, 1, 1 }, TRUE },           { 2, { 7, 5, 1 }, TRUE },
               { 3, { 7, 5, 3 }, TRUE },           { 3, { 0, 5, 3 }, TRUE },
               { 3, { 7, 0, 3 }, FALSE },          { 3, { 7, 5, 0 }, FALSE },
               { 3, { 1, 65535, 65535 }, TRUE },   { 3, { 1, 65536, 3 }, FALSE },
               { 3, { 1, 3, 65536 }, FALSE },      { 3, { 4096, 4096, 4096 }, TRUE },
               { 3, { 4097, 4096, 4096 }, FALSE }, { 1, { G_MAXUINT32, 1, 1 }, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GByteArray) file =
          make_idx (rows[i].n_dims, rows[i].shape[0], rows[i].shape[1], rows[i].shape[2], 0);
      g_autoptr (GError) error = NULL, cut = NULL;
      DynoIdxHeader header;
      gboolean taken = dyno_idx_parse_header (file->data, file->len, "f", &header, &error);
      g_assert_true (taken == rows[i].taken);
      if (taken)
        {
          g_assert_cmpuint (header.n_dims, ==, rows[i].n_dims);
          g_assert_cmpmem (header.shape, sizeof header.shape, rows[i].shape, sizeof header.shape);
          g_assert_cmpuint (header.n_bytes, ==,
                            (guint64) rows[i].shape[0] * rows[i].shape[1] * rows[i].shape[2]);
        }
      else
        g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
      g_assert_false (dyno_idx_parse_header (file->data, file->len - 1, "f", &header, &cut));
      g_assert_error (cut, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
    }
  g_assert_false (
      dyno_idx_parse_header ((const guint8 *) "\0\0\x08\4\0\0\0\1", 8, "f", NULL, NULL));
}

/* Plain files have the promised bytes exactly; sizes are those of the files. */
static void
test_content_is_exact (void)
{
  for (guint gzip = 0; gzip < 2; gzip++)
    for (guint more = 0; more < 3; more++)
      {
        g_autofree char *folder = test_folder_new ();
        const char *name = gzip ? "a.gz" : "a";
        g_autofree char *path = g_build_filename (folder, name, NULL), *text = NULL;
        g_autoptr (GError) error = NULL;
        DynoIdxHeader header;
        guint64 bytes = 0;
        gsize size;
        put (folder, name, make_idx (2, 9, 4, 0, 35 + more));
        g_autofree guint8 *content = dyno_idx_read (path, &header, &bytes, &error);
        g_assert_true (g_file_get_contents (path, &text, &size, NULL));
        g_assert_cmpuint (bytes, ==, size);
        g_assert_true ((content != NULL) == (more == 1));
        if (!content)
          {
            g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
            test_has_words (error, more == 0 ? "9 records of 4 bytes| 8 "
                                   : gzip    ? "9 records of 4 bytes|more than 9 could be read"
                                             : "9 records of 4 bytes|has 9 records");
          }
        test_folder_remove (folder);
      }
}

/* Content of more than 256 MB may be 128 times its gzip file; smaller content may be any number. */
static void
test_ratio_of_large_content (void)
{
  static const struct {
    guint32 count; /* of a megabyte each */
    off_t file;
    int code;
  } rows[] = { { 512, 4 << 20, DYNO_DATA_ERROR_CORRUPT },
               { 516, 4 << 20, DYNO_DATA_ERROR_TOO_LARGE },
               { 256, 1 << 20, DYNO_DATA_ERROR_CORRUPT },
               { 257, 1 << 20, DYNO_DATA_ERROR_TOO_LARGE } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *path = g_build_filename (folder, "a.gz", NULL);
      g_autoptr (GError) error = NULL;
      DynoIdxHeader header;
      put (folder, "a.gz", make_idx (3, rows[i].count, 1024, 1024, 600));
      g_assert_cmpint (truncate (path, rows[i].file), ==, 0);
      g_assert_null (dyno_idx_read (path, &header, NULL, &error));
      g_assert_error (error, DYNO_DATA_ERROR, rows[i].code);
      test_folder_remove (folder);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/idx/reads-plain-and-gzip", test_reads_plain_and_gzip);
  g_test_add_func ("/data/idx/folder-with-both-parts-is-split",
                   test_folder_with_both_parts_is_split);
  g_test_add_func ("/data/idx/a-wrong-label-is-noted", test_a_wrong_label_is_noted);
  g_test_add_func ("/data/idx/resizes", test_resizes);
  g_test_add_func ("/data/idx/lying-headers", test_lying_headers);
  g_test_add_func ("/data/idx/content-hash-sees-images-and-labels",
                   test_content_hash_sees_images_and_labels);
  g_test_add_func ("/data/idx/gzip-bomb-is-refused-by-its-ratio",
                   test_gzip_bomb_is_refused_by_its_ratio);
  g_test_add_func ("/data/idx/limits-of-the-header", test_limits_of_the_header);
  g_test_add_func ("/data/idx/content-is-exact", test_content_is_exact);
  g_test_add_func ("/data/idx/ratio-of-large-content", test_ratio_of_large_content);
  g_test_add_func ("/data/idx/missing-labels-and-damaged-gzip",
                   test_missing_labels_and_damaged_gzip);
  return g_test_run ();
}
