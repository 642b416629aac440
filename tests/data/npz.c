/* SPDX-License-Identifier: MIT */
/* NumPy archives: names, parts, stored and deflated members; and arrays that are copied before they
 * are read: deflated ones, or those in Fortran order. */
#include "archive-test.h"
#include "array.h"
#include "convert.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static GByteArray *
npy_bytes (const char *type, gboolean fortran, guint n_dims, const guint64 *shape,
           gconstpointer data)
{
  GByteArray *file = g_byte_array_new ();
  g_autoptr (GString) literal = g_string_new (NULL);
  guint8 start[10] = "\x93NUMPY\x01";
  gsize size = (gsize) (type[2] - '0');

  g_string_append_printf (literal, "{'descr': '%s', 'fortran_order': %s, 'shape': (", type,
                          fortran ? "True" : "False");
  for (guint i = 0; i < n_dims; i++)
    {
      g_string_append_printf (literal, "%" G_GUINT64_FORMAT ",", shape[i]);
      size *= shape[i];
    }
  g_string_append (literal, "), }\n");
  start[8] = (guint8) literal->len;
  g_byte_array_append (file, start, sizeof start);
  g_byte_array_append (file, (const guint8 *) literal->str, (guint) literal->len);
  g_byte_array_append (file, data, (guint) size);
  return file;
}

static guint
add (TestZip *zip, const char *name, gboolean deflated, const char *type, guint n_dims,
     const guint64 *shape, gconstpointer data)
{
  g_autoptr (GByteArray) bytes = npy_bytes (type, FALSE, n_dims, shape, data);

  return test_zip_add (zip, name, deflated, !deflated, bytes->data, bytes->len);
}

static char *
end_archive (TestZip *zip, const char *folder)
{
  char *path;

  test_zip_end (zip, FALSE);
  path = test_write (folder, "data.npz", zip->bytes->data, zip->bytes->len);
  test_zip_clear (zip);
  return path;
}

static const guint8 train_labels[6] = { 0, 2, 1, 0, 2, 1 }, test_labels[4] = { 1, 0, 2, 3 };

static char *
keras_archive (const char *folder, gboolean deflated, const guint8 *train, const guint8 *test)
{
  TestZip zip;

  test_zip_init (&zip);
  add (&zip, "x_test.npy", deflated, "|u1", 3, (guint64[]){ 4, 2, 3 }, test);
  add (&zip, "x_train.npy", deflated, "|u1", 3, (guint64[]){ 6, 2, 3 }, train);
  add (&zip, "y_train.npy", deflated, "|u1", 1, (guint64[]){ 6 }, train_labels);
  add (&zip, "y_test.npy", deflated, "|u1", 1, (guint64[]){ 4 }, test_labels);
  return end_archive (&zip, folder);
}

static void
test_keras_names (void)
{
  guint8 train[36], test[24], out[6];
  gint32 label;

  for (guint i = 0; i < sizeof train; i++)
    train[i] = (guint8) (i * 3);
  for (guint i = 0; i < sizeof test; i++)
    test[i] = (guint8) (i * 5 + 1);
  for (guint deflated = 0; deflated < 2; deflated++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *path = keras_archive (folder, deflated, train, test);
      g_autoptr (DynoDataset) dataset = test_open (path);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
      g_autoptr (GArray) trains = NULL, validates = NULL;

      g_assert_cmpstr (info->kind, ==, "npz");
      g_assert_cmpuint (info->n_samples, ==, 10);
      g_assert_cmpuint (info->n_classes, ==, 4);
      g_assert_cmpuint (info->class_counts[2], ==, 3);
      g_assert_true (info->has_split);
      dyno_dataset_split (dataset, 0.5, 1, &trains, &validates);
      g_assert_cmpuint (trains->len, ==, 6);
      g_assert_cmpuint (validates->len, ==, 4);
      for (guint i = 0; i < 10; i++)
        {
          g_assert_true (
              dyno_dataset_decode (dataset, i, 3, 2, (gpointer[]){ out, &label }, scratch, NULL));
          g_assert_cmpmem (out, 6, i < 6 ? train + i * 6 : test + (i - 6) * 6, 6);
          g_assert_cmpint (label, ==, i < 6 ? train_labels[i] : test_labels[i - 6]);
          g_assert_true (dyno_dataset_probe (dataset, i, NULL));
        }
      g_assert_cmpuint (g_array_index (validates, guint32, 0), >=, 6);
      test_folder_remove (folder);
    }
}

/* Grey images of bytes: the packed file has the same parts, classes and pixels. */
static void
test_packed_archive_is_the_same (void)
{
  g_autofree char *folder = test_folder_new (), *out = g_build_filename (folder, "x.tar", NULL);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_autoptr (GError) error = NULL;
  DynoConverted converted;
  guint8 images[60];
  guint met = 0;

  for (guint i = 0; i < sizeof images; i++)
    images[i] = (guint8) (4 * i);
  g_autofree char *path = keras_archive (folder, TRUE, images, images + 36);
  g_autoptr (DynoDataset) dataset = test_open (path);
  g_assert_true (
      dyno_dataset_convert (dataset, out, 0, NULL, NULL, NULL, NULL, &converted, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (converted.n_written, ==, 10);
  g_autoptr (DynoDataset) again = test_open (out);
  dyno_dataset_split (again, 0, 0, &train, &validation);
  g_assert_cmpuint (validation->len, ==, 4);
  g_assert_cmpuint (dyno_dataset_get_info (again)->n_classes, ==, 4);
  g_assert_cmpuint (dyno_schema_count_channels (&dyno_dataset_get_info (again)->schema), ==, 1);
  for (guint i = 0; i < 10; i++)
    {
      guint8 pixels[6];
      gint32 label;
      guint place;

      g_assert_true (dyno_dataset_decode (again, i, 3, 2, (gpointer[]){ pixels, &label, NULL },
                                          scratch, NULL));
      place = pixels[0] / 24; /* the image's first pixel is 24 times its index */
      met |= 1u << place;
      g_assert_cmpmem (pixels, 6, images + 6 * place, 6);
      g_assert_cmpint (label, ==, place < 6 ? train_labels[place] : test_labels[place - 6]);
    }
  g_assert_cmpuint (met, ==, 0x3ff);
  test_folder_remove (folder);
}

/* X and y in capitals, values with names beside the archive. */
static void
test_values_of_one_part (void)
{
  static const float x[6] = { 1, 2, 3, 4, 5, 6 };
  static const double y[6] = { 10, 20, 30, 40, 50, 60 };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  float out[2], values[2];
  TestZip zip;

  test_zip_init (&zip);
  add (&zip, "X.npy", TRUE, "<f4", 2, (guint64[]){ 3, 2 }, x);
  add (&zip, "Y.npy", FALSE, "<f8", 2, (guint64[]){ 3, 2 }, y);
  g_autofree char *path = end_archive (&zip, folder);
  g_free (test_write (folder, "data.names", "yaw (degrees)\npitch\n", 20));
  g_autoptr (DynoDataset) dataset = test_open (path);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  g_assert_false (info->has_split);
  g_assert_cmpuint (dyno_schema_count_values (&info->schema), ==, 2);
  g_assert_cmpstr (info->target_names[0], ==, "yaw");
  g_assert_cmpstr (info->target_units[0], ==, "degrees");
  g_assert_true (
      dyno_dataset_decode (dataset, 1, 1, 1, (gpointer[]){ out, values }, scratch, NULL));
  g_assert_cmpfloat (out[1], ==, 4);
  g_assert_cmpfloat (values[0], ==, 30);
  g_assert_cmpfloat (values[1], ==, 40);
  test_folder_remove (folder);
}

static void
test_other_names_are_listed (void)
{
  static const guint8 zeros[64];
  g_autofree char *folder = test_folder_new ();
  TestZip zip;

  test_zip_init (&zip);
  add (&zip, "faces.npy", FALSE, "<f4", 2, (guint64[]){ 2, 3 }, zeros);
  add (&zip, "poses.npy", TRUE, "|u1", 1, (guint64[]){ 40 }, zeros);
  test_zip_add (&zip, "notes.npy", FALSE, FALSE, "no array at all", 15);
  g_autofree char *path = end_archive (&zip, folder);
  test_open_fails (path, DYNO_DATA_ERROR_UNKNOWN,
                   "x_train|faces.npy: float32 (2, 3)|poses.npy: uint8 (40)|notes.npy: damaged");
  /* The requested arrays are used. */
  test_zip_init (&zip);
  add (&zip, "x.npy", FALSE, "<f4", 2, (guint64[]){ 4, 2 }, zeros);
  add (&zip, "kinds.npy", FALSE, "|u1", 1, (guint64[]){ 4 }, test_labels);
  g_free (end_archive (&zip, folder));
  test_open_fails (path, DYNO_DATA_ERROR_UNKNOWN, "kinds.npy: uint8 (4)");
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open (path, &(DynoDatasetParams){ .targets = "kinds" }, NULL, NULL, NULL, NULL);
  g_assert_nonnull (dataset);
  g_assert_cmpint (dyno_dataset_get_label (dataset, 3), ==, 3);
  test_folder_remove (folder);
}

static void
put32 (guint8 *at, guint32 value)
{
  for (guint i = 0; i < 4; i++)
    at[i] = (guint8) (value >> 8 * i);
}

/* Refused are bytes with a wrong checksum, a size that deflate cannot reach, and an encrypted
 * member. */
static void
test_damage_is_refused (void)
{
  static const struct {
    guint at; /* position in the directory entry */
    guint32 value;
    const char *words;
  } cases[] = { { 16, 0x12345678, "x.npy|compressed bytes are damaged" },
                { 24, 500000000, "x.npy|compressed bytes are damaged" },
                { 24, 200, "x.npy|compressed bytes are damaged" },
                { 8, 0x00080001, "x.npy|encrypted" } };
  static const float zeros[200];

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      TestZip zip;
      guint entry;

      test_zip_init (&zip);
      entry = add (&zip, "x.npy", TRUE, "<f4", 2, (guint64[]){ 4, 50 }, zeros);
      add (&zip, "y.npy", TRUE, "|u1", 1, (guint64[]){ 4 }, test_labels);
      put32 (zip.directory->data + entry + cases[i].at, cases[i].value);
      g_autofree char *path = end_archive (&zip, folder);
      test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, cases[i].words);
      test_folder_remove (folder);
    }
}

/* Refused are two members of one name, ignoring case, and names that lead out of the archive. */
static void
test_names_are_refused (void)
{
  static const struct {
    const char *first, *second, *words;
  } cases[] = {
    { "x.npy", "x.npy", ": x.npy|two members have this name|numpy.savez" },
    { "./x.npy", "x.npy", "two members have this name" },
    { "x.npy", "X.npy", "X.npy|other capitals|numpy.savez" },
    { "x.npy", "../../x.npy", ": ../../x.npy|leads out of the archive|numpy.savez" },
    { "../x.npy", "x.npy", "../x.npy|leads out of the archive|numpy.savez" },
    { "/tmp/x.npy", "x.npy", "/tmp/x.npy|leads out of the archive|numpy.savez" },
    { "..\\x.npy", "x.npy", "../x.npy|leads out of the archive|numpy.savez" },
    { "a/../../x.npy", "x.npy", "leads out of the archive" },
    { "readme.txt", "../x.npy", "leads out of the archive" },
    { "notes.npy", "notes.npy", "two members have this name" },
  };
  static const guint8 zeros[16];

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint deflated = 0; deflated < 2; deflated++)
      {
        g_autofree char *folder = test_folder_new ();
        TestZip zip;

        test_zip_init (&zip);
        add (&zip, cases[i].first, deflated, "|u1", 2, (guint64[]){ 4, 4 }, zeros);
        add (&zip, "y.npy", deflated, "|u1", 1, (guint64[]){ 4 }, test_labels);
        add (&zip, cases[i].second, deflated, "|u1", 2, (guint64[]){ 4, 4 }, zeros);
        g_autofree char *path = end_archive (&zip, folder),
                        *other = g_build_filename (folder, "data.zip", NULL);
        test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, cases[i].words);
        /* The file name does not matter if the first member is an array. */
        g_assert_cmpint (g_rename (path, other), ==, 0);
        if (g_str_has_suffix (cases[i].first, ".npy"))
          test_open_fails (other, DYNO_DATA_ERROR_CORRUPT, cases[i].words);
        test_folder_remove (folder);
      }
}

/* Adds a deflated member that claims the largest possible size, but ends in noise: inflating more
 * than its header detects the damage. */
static void
add_bomb (TestZip *zip, const char *name, const char *type, gboolean fits, guint n_dims,
          const guint64 *shape)
{
  g_autoptr (GByteArray) header = g_byte_array_new ();
  g_autoptr (GString) literal = g_string_new (NULL);
  g_autoptr (GRand) random = g_rand_new_with_seed (1);
  guint8 start[10] = "\x93NUMPY\x01";
  guint64 size = (guint64) (type[2] - '0');
  guint entry;

  g_string_append_printf (literal, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (guint i = 0; i < n_dims; i++)
    {
      g_string_append_printf (literal, "%" G_GUINT64_FORMAT ",", shape[i]);
      size *= shape[i];
    }
  g_string_append (literal, "), }\n");
  start[8] = (guint8) literal->len;
  g_byte_array_append (header, start, sizeof start);
  g_byte_array_append (header, (const guint8 *) literal->str, (guint) literal->len);
  size = fits ? size + header->len : 1300000000;
  for (guint i = 0; i < 350000; i++)
    {
      guint32 noise = g_rand_int (random);
      g_byte_array_append (header, (const guint8 *) &noise, sizeof noise);
    }
  entry = test_zip_add (zip, name, TRUE, FALSE, header->data, header->len);
  put32 (zip->directory->data + entry + 24, (guint32) size);
}

static void
test_bombs_are_refused_by_their_headers (void)
{
  static const struct {
    const char *type;
    gboolean fits;
    guint64 shape[3];
    DynoDataError code;
    const char *words;
  } cases[] = {
    { "<f4", TRUE, { 1, 300000000 }, DYNO_DATA_ERROR_TOO_LARGE, "x.npy|from one number to 1 GB" },
    { "<f4", TRUE, { 3, 100000000 }, DYNO_DATA_ERROR_CORRUPT, "y.npy|4 records|has 3" },
    { "<f4", FALSE, { 4, 50 }, DYNO_DATA_ERROR_CORRUPT, "x.npy|needs 800 bytes|inflated" },
    { "<f4", FALSE, { 400, 5000000 }, DYNO_DATA_ERROR_CORRUPT, "x.npy|shape needs 8000000000" },
    { "<O4", TRUE, { 4, 50000000 }, DYNO_DATA_ERROR_UNSUPPORTED, "x.npy|Python objects" },
    /* Only the bytes of this member are wrong, so it is inflated. */
    { "<f4", TRUE, { 4, 50000000 }, DYNO_DATA_ERROR_CORRUPT, "x.npy|compressed bytes are damaged" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      TestZip zip;

      test_zip_init (&zip);
      add_bomb (&zip, "x.npy", cases[i].type, cases[i].fits, 2, cases[i].shape);
      add (&zip, "y.npy", TRUE, "|u1", 1, (guint64[]){ 4 }, test_labels);
      g_autofree char *path = end_archive (&zip, folder);
      test_open_fails (path, cases[i].code, cases[i].words);
      test_folder_remove (folder);
    }
}

/* The headers of the other arrays are checked first: those of the validation part, and of the
 * targets. */
static void
test_headers_come_before_bytes (void)
{
  static const struct {
    const char *name, *type;
    guint64 count;
    const char *words;
  } cases[] = { { "x_test.npy", "|u1", 4, "x_test.npy|another shape or type" },
                { "y_test.npy", "<f4", 4, "y_test.npy|other targets" },
                { "y_train.npy", "|u1", 7, "y_train.npy|7 records" } };
  static const guint8 zeros[64];

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      static const char *const names[] = { "y_train.npy", "x_test.npy", "y_test.npy" };
      g_autofree char *folder = test_folder_new ();
      TestZip zip;

      test_zip_init (&zip);
      add_bomb (&zip, "x_train.npy", "<f4", TRUE, 2, (guint64[]){ 6, 40000000 });
      for (guint k = 0; k < 3; k++)
        {
          gboolean chosen = g_str_equal (names[k], cases[i].name);

          if (k == 1 && !chosen)
            add_bomb (&zip, names[k], "<f4", TRUE, 2, (guint64[]){ 4, 40000000 });
          else if (chosen)
            add (&zip, names[k], TRUE, cases[i].type, 1, &cases[i].count, zeros);
          else
            add (&zip, names[k], TRUE, "|u1", 1, (guint64[]){ k == 0 ? 6 : 4 }, zeros);
        }
      g_autofree char *path = end_archive (&zip, folder);
      test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, cases[i].words);
      test_folder_remove (folder);
    }
}

static void
count_calls (guint64 n_samples, gpointer data)
{
  ++*(guint *) data;
}

/* A file in Fortran order whose targets do not match it is refused before it is copied. */
static void
test_copies_come_last (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) x = NULL, y = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  static const guint8 zeros[64];
  guint calls = 0;

  x = npy_bytes ("<f4", TRUE, 2, (guint64[]){ 5, 3 }, zeros);
  y = npy_bytes ("|u1", FALSE, 1, (guint64[]){ 4 }, zeros);
  g_autofree char *path = test_write (folder, "X.npy", x->data, x->len);
  g_free (test_write (folder, "y.npy", y->data, y->len));
  dataset = dyno_dataset_open (path, NULL, count_calls, &calls, NULL, &error);
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
  g_assert_null (dataset);
  g_assert_cmpuint (calls, ==, 0);
  /* With 5 targets the copy is made, and reported. */
  g_clear_error (&error);
  g_clear_pointer (&y, g_byte_array_unref);
  y = npy_bytes ("|u1", FALSE, 1, (guint64[]){ 5 }, zeros);
  g_free (test_write (folder, "y.npy", y->data, y->len));
  dataset = dyno_dataset_open (path, NULL, count_calls, &calls, NULL, &error);
  g_assert_cmpuint (calls, >, 0);
  test_folder_remove (folder);
}

static void
test_parts_must_be_alike (void)
{
  static const guint8 zeros[64];
  static const struct {
    const char *x_type, *y_type;
    guint64 shape[2];
    const char *words;
  } cases[] = { { "|u1", "|u1", { 4, 5 }, "x_test.npy|another shape or type|x_train.npy" },
                { "|i1", "|u1", { 4, 3 }, "x_test.npy|another shape or type" },
                { "|u1", "<f4", { 4, 3 }, "y_test.npy|other targets" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      TestZip zip;

      test_zip_init (&zip);
      add (&zip, "x_train.npy", FALSE, "|u1", 2, (guint64[]){ 6, 3 }, zeros);
      add (&zip, "y_train.npy", FALSE, "|u1", 1, (guint64[]){ 6 }, train_labels);
      add (&zip, "x_test.npy", FALSE, cases[i].x_type, 2, cases[i].shape, zeros);
      add (&zip, "y_test.npy", FALSE, cases[i].y_type, 1, (guint64[]){ 4 }, zeros);
      g_autofree char *path = end_archive (&zip, folder);
      test_open_fails (path, DYNO_DATA_ERROR_CORRUPT, cases[i].words);
      test_folder_remove (folder);
    }
}

/* --- Fortran order ---------------------------------------------------------------------------- */

/* Fills an array (n, a, b, c) in Fortran order; each item is its index in C order. */
static void
fill_fortran (guint16 *items, const guint64 *shape)
{
  guint16 count = 0;

  for (guint64 n = 0; n < shape[0]; n++)
    for (guint64 i = 0; i < shape[1]; i++)
      for (guint64 j = 0; j < shape[2]; j++)
        for (guint64 k = 0; k < shape[3]; k++)
          items[n + shape[0] * (i + shape[1] * (j + shape[2] * k))] = count++;
}

static void
test_fortran_order (void)
{
  static const guint64 shape[4] = { 5, 3, 4, 2 };
  static const double targets[10] = { 0, 1, 2, 3, 4, 10, 11, 12, 13, 14 };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) scratch = g_byte_array_new (), x = NULL, y = NULL;
  guint16 items[120];
  float out[24], values[2];

  fill_fortran (items, shape);
  x = npy_bytes ("<u2", TRUE, 4, shape, items);
  y = npy_bytes ("<f8", TRUE, 2, (guint64[]){ 5, 2 }, targets);
  g_autofree char *path = test_write (folder, "X.npy", x->data, x->len);
  g_free (test_write (folder, "y.npy", y->data, y->len));
  g_autoptr (DynoDataset) dataset = test_open (path);

  g_assert_cmpuint (dyno_dataset_get_info (dataset)->max_width, ==, 4);
  for (guint n = 0; n < 5; n++)
    {
      g_assert_true (
          dyno_dataset_decode (dataset, n, 4, 3, (gpointer[]){ out, values }, scratch, NULL));
      for (guint i = 0; i < 24; i++)
        g_assert_cmpfloat (out[i], ==, (float) (n * 24 + i));
      g_assert_cmpfloat (values[0], ==, (float) n);
      g_assert_cmpfloat (values[1], ==, (float) (10 + n));
    }
  test_folder_remove (folder);
}

/* The window size does not change the result; a window of size 0 holds one sample. */
static void
test_reorders_in_windows (void)
{
  static const guint64 shape[4] = { 7, 3, 4, 2 }, windows[] = { 0, 48, 100, 335, 1 << 20 };
  const DynoOpenContext context = { 0 };
  DynoNpyHeader header = { .kind = 'u', .item_bytes = 2, .fortran = TRUE, .n_dims = 4 };
  guint16 items[168], out[168];
  int from = memfd_create ("from", MFD_CLOEXEC);

  fill_fortran (items, shape);
  memcpy (header.shape, shape, sizeof shape);
  header.n_items = 168;
  header.data_bytes = sizeof items;
  g_assert_cmpint (pwrite (from, items, sizeof items, 10), ==, sizeof items);
  for (guint w = 0; w < G_N_ELEMENTS (windows); w++)
    {
      int to = dyno_array_new_copy (sizeof items, "x", NULL);

      g_assert_cmpint (to, >=, 0);
      g_assert_true (dyno_array_reorder (from, 10, &header, to, windows[w], "x", &context, NULL));
      g_assert_cmpint (pread (to, out, sizeof out, 0), ==, sizeof out);
      for (guint i = 0; i < 168; i++)
        g_assert_cmpuint (out[i], ==, i);
      close (to);
    }
  close (from);
}

/* A copy too large for memory is a file in the cache folder, without a name there. */
static void
test_large_copies_have_no_name (void)
{
  g_autofree char *cache = g_build_filename (g_get_user_cache_dir (), "dyno", "arrays", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = NULL;
  int fd = dyno_array_new_copy ((G_GUINT64_CONSTANT (256) << 20) + 1, "x", &error);

  g_assert_no_error (error);
  dir = g_dir_open (cache, 0, &error);
  g_assert_no_error (error);
  g_assert_null (g_dir_read_name (dir));
  close (fd);
  g_assert_cmpint (dyno_array_new_copy (G_MAXINT64, "big.npy", &error), ==, -1);
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_TOO_LARGE);
  test_has_words (error, "big.npy|cache folder|C order");
}

/* The validation part may have rows with one 1 each only: they are labels as those of the training
 * part are. */
static void
test_labels_of_parts (void)
{
  static const guint8 train[6] = { 1, 1, 0, 1, 0, 0 }, test[4] = { 0, 1, 1, 0 };
  static const float expected[10] = { 1, 1, 0, 1, 0, 0, 0, 1, 1, 0 };
  g_autofree char *folder = test_folder_new (), *path = NULL;
  TestZip zip;

  test_zip_init (&zip);
  add (&zip, "x_train.npy", FALSE, "|u1", 2, (guint64[]){ 3, 3 }, (guint8[9]){ 0 });
  add (&zip, "y_train.npy", FALSE, "|u1", 2, (guint64[]){ 3, 2 }, train);
  add (&zip, "x_test.npy", FALSE, "|u1", 2, (guint64[]){ 2, 3 }, (guint8[6]){ 0 });
  add (&zip, "y_test.npy", FALSE, "|u1", 2, (guint64[]){ 2, 2 }, test);
  path = end_archive (&zip, folder);
  g_autoptr (DynoDataset) dataset = test_open (path);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  g_assert_cmpint (dyno_dataset_get_task (info), ==, DYNO_TASK_LABELS);
  g_assert_true (info->has_split);
  g_assert_cmpuint (info->class_counts[0], ==, 2);
  g_assert_cmpuint (info->class_counts[1], ==, 3);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpmem (dyno_dataset_get_values (dataset, i), 8, expected + 2 * i, 8);
  test_folder_remove (folder);
}

int
main (int argc, char *argv[])
{
  g_autofree char *cache = test_folder_new ();
  int result;

  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/npz/keras-names-train-and-validate", test_keras_names);
  g_test_add_func ("/data/npz/packed-archive-is-the-same", test_packed_archive_is_the_same);
  g_test_add_func ("/data/npz/values-of-one-part", test_values_of_one_part);
  g_test_add_func ("/data/npz/other-names-are-listed", test_other_names_are_listed);
  g_test_add_func ("/data/npz/damage-is-refused", test_damage_is_refused);
  g_test_add_func ("/data/npz/doubled-names-and-names-that-lead-out-are-refused",
                   test_names_are_refused);
  g_test_add_func ("/data/npz/bombs-are-refused-by-their-headers",
                   test_bombs_are_refused_by_their_headers);
  g_test_add_func ("/data/npz/headers-come-before-bytes", test_headers_come_before_bytes);
  g_test_add_func ("/data/npz/copies-come-last", test_copies_come_last);
  g_test_add_func ("/data/npz/parts-must-be-alike", test_parts_must_be_alike);
  g_test_add_func ("/data/array/fortran-order-is-read", test_fortran_order);
  g_test_add_func ("/data/array/reorders-in-windows-of-any-size", test_reorders_in_windows);
  g_test_add_func ("/data/array/large-copies-have-no-name", test_large_copies_have_no_name);
  g_test_add_func ("/data/npz/labels-of-parts", test_labels_of_parts);
  result = g_test_run ();
  test_folder_remove (cache);
  return result;
}
