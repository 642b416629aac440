/* SPDX-License-Identifier: MIT */
/* NumPy arrays: shapes, types and byte orders; false headers; files that are truncated during
 * use. */
#include "data-test.h"
#include "npyfile.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static const DynoBatchField *
input_of (DynoDataset *dataset)
{
  return dyno_schema_find_role (&dyno_dataset_get_info (dataset)->schema, DYNO_FIELD_INPUT);
}

static char *
put_array (const char *folder, const char *name, const char *type, guint n_dims,
           const guint64 *shape, gconstpointer data)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  dyno_npy_write (path, type, n_dims, shape, data, &error);
  g_assert_no_error (error);
  return path;
}

/* A file with a header and data as given; NULL: size bytes 0, 1, 2, ... */
static char *
put_bytes (const char *folder, const char *name, const char *literal, const guint8 *data,
           gsize size)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();
  guint8 start[10] = "\x93NUMPY\x01";

  start[8] = (guint8) strlen (literal);
  g_byte_array_append (file, start, 10);
  g_byte_array_append (file, (const guint8 *) literal, (guint) strlen (literal));
  for (gsize i = 0; i < size; i++)
    g_byte_array_append (file, data ? data + i : &(guint8){ (guint8) i }, 1);
  return test_write (folder, name, file->data, file->len);
}

static char *
put_raw (const char *folder, const char *name, const char *literal, gsize size)
{
  return put_bytes (folder, name, literal, NULL, size);
}

static gint64 labels[6] = { 0, 2, 1, 0, 2, 1 };

static void
test_float_images_and_classes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *x = NULL, *y = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  const DynoDatasetInfo *info;
  float data[6 * 2 * 3 * 4], out[24];
  gint32 label;

  for (guint i = 0; i < G_N_ELEMENTS (data); i++)
    data[i] = (float) i / 7 - 3;
  x = put_array (folder, "X.npy", "f4", 4, (guint64[]){ 6, 2, 3, 4 }, data);
  y = put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels);
  dataset = test_open (x);
  info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (info->n_samples, ==, 6);
  g_assert_cmpuint (info->max_height, ==, 2);
  g_assert_cmpuint (info->max_width, ==, 3);
  g_assert_cmpuint (dyno_schema_count_channels (&info->schema), ==, 4);
  g_assert_cmpint (info->schema.fields[0].element, ==, DYNO_ELEMENT_F32);
  g_assert_cmpuint (info->n_classes, ==, 3);
  g_assert_false (info->schema.fields[0].normalisation.scale_255);
  g_assert_false (info->resizable);
  g_assert_true (
      dyno_dataset_decode (dataset, 4, 3, 2, (gpointer[]){ out, &label }, scratch, NULL));
  g_assert_cmpint (label, ==, 2);
  g_assert_cmpmem (out, sizeof out, data + 4 * 24, sizeof out);
  test_folder_remove (folder);
}

static void
test_features_of_every_type (void)
{
  static const char *const types[] = { "f2", "f4", "f8", "i1", "i2", "i4",
                                       "i8", "u1", "u2", "u4", "u8", "b1" };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint big = 0; big < 2; big++)
      {
        g_autofree char *folder = test_folder_new ();
        g_autofree char *literal =
            g_strdup_printf ("{'descr': '%c%s', 'fortran_order': False, 'shape': (6, 5), }\n",
                             big ? '>' : '<', types[t]);
        guint size = (guint) (types[t][1] - '0');
        g_autofree char *x = put_raw (folder, "X.npy", literal, 30 * size);
        G_GNUC_UNUSED g_autofree char *y =
            put_array (folder, "labels.npy", "i8", 1, (guint64[]){ 6 }, labels);
        g_autoptr (DynoDataset) dataset = test_open (x);
        g_autoptr (GByteArray) scratch = g_byte_array_new ();
        float out[5];
        gint32 label;

        g_assert_cmpuint (dyno_schema_count_channels (&dyno_dataset_get_info (dataset)->schema), ==,
                          5);
        g_assert_cmpint (input_of (dataset)->element, ==,
                         strcmp (types[t], "u1") == 0 ? DYNO_ELEMENT_U8 : DYNO_ELEMENT_F32);
        g_assert_cmpint (input_of (dataset)->normalisation.scale_255, ==,
                         strcmp (types[t], "u1") == 0);
        if (strcmp (types[t], "u1") == 0)
          {
            test_folder_remove (folder);
            continue;
          }
        /* The doubles of these bytes exceed a float. */
        g_assert_cmpint (
            dyno_dataset_decode (dataset, 1, 1, 1, (gpointer[]){ out, &label }, scratch, NULL), ==,
            strcmp (types[t], "f8") != 0);
        if (types[t][0] == 'u' || types[t][0] == 'i')
          for (guint i = 0; i < 5; i++)
            {
              guint64 expected = 0;
              for (guint b = 0; b < size; b++)
                expected |= (guint64) (guint8) ((5 + i) * size + b) << 8 * (big ? size - 1 - b : b);
              g_assert_cmpfloat (out[i], ==, (float) expected);
            }
        test_folder_remove (folder);
      }
}

static void
test_values_and_bytes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *x = NULL, *y = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 images[4 * 9], out[9];
  double targets[8] = { 0, 1.5, 2, 3, 4, 5, 6, -7 };
  float values[2];

  for (guint i = 0; i < sizeof images; i++)
    images[i] = (guint8) (i * 5);
  x = put_array (folder, "faces.npy", "u1", 3, (guint64[]){ 4, 3, 3 }, images);
  y = put_array (folder, "faces_y.npy", "f8", 2, (guint64[]){ 4, 2 }, targets);
  dataset = test_open (x);
  g_assert_cmpint (input_of (dataset)->element, ==, DYNO_ELEMENT_U8);
  /* The values are scaled to 0..1, and not normalised further. */
  g_assert_true (input_of (dataset)->normalisation.scale_255);
  g_assert_cmpfloat (input_of (dataset)->normalisation.mean[0], ==, 0);
  g_assert_cmpfloat (input_of (dataset)->normalisation.deviation[0], ==, 1);
  g_assert_cmpuint (dyno_schema_count_values (&dyno_dataset_get_info (dataset)->schema), ==, 2);
  g_assert_cmpuint (dyno_schema_count_channels (&dyno_dataset_get_info (dataset)->schema), ==, 1);
  g_assert_true (
      dyno_dataset_decode (dataset, 3, 3, 3, (gpointer[]){ out, values }, scratch, NULL));
  g_assert_cmpmem (out, 9, images + 27, 9);
  g_assert_cmpfloat (values[0], ==, 6);
  g_assert_cmpfloat (values[1], ==, -7);
  /* The file shrinks while it is used. */
  g_assert_cmpint (truncate (x, 150), ==, 0);
  g_assert_false (
      dyno_dataset_decode (dataset, 3, 3, 3, (gpointer[]){ out, values }, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_READ);
  test_has_words (error, "faces.npy|record 3|expected 9");
  test_folder_remove (folder);
}

static void
put_names (const char *folder, const char *text)
{
  g_free (test_write (folder, "y.names", text, strlen (text)));
}

static void
test_names (void)
{
  g_autofree char *folder = test_folder_new ();
  float data[12] = { 0 }, targets[12] = { 0 };
  const char *const broken[] = { "yaw\npitch\n",
                                 "yaw\npitch\nroll\nlength\n",
                                 "yaw\npitch\nyaw (degrees)\n",
                                 "yaw\n(degrees)\nroll\n",
                                 "yaw\npit\x01"
                                 "ch\nroll\n",
                                 "yaw\npit\xff"
                                 "ch\nroll\n",
                                 "" };
  g_autofree char *x = put_array (folder, "X.npy", "f4", 2, (guint64[]){ 4, 3 }, data);
  const DynoDatasetInfo *info;

  g_free (put_array (folder, "y.npy", "f4", 2, (guint64[]){ 4, 3 }, targets));
  {
    g_autoptr (DynoDataset) dataset = test_open (x);
    g_assert_null (dyno_dataset_get_info (dataset)->target_names);
  }
  put_names (folder, "# of a head\n\n yaw (degrees) \npitch(degrees)\nsize of it\n");
  {
    g_autoptr (DynoDataset) dataset = test_open (x);
    info = dyno_dataset_get_info (dataset);
    g_assert_cmpuint (g_strv_length (info->target_names), ==, 3);
    g_assert_cmpstr (info->target_names[0], ==, "yaw");
    g_assert_cmpstr (info->target_names[1], ==, "pitch");
    g_assert_cmpstr (info->target_names[2], ==, "size of it");
    g_assert_cmpstr (info->target_units[0], ==, "degrees");
    g_assert_cmpstr (info->target_units[1], ==, "degrees");
    g_assert_cmpstr (info->target_units[2], ==, "");
  }
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    {
      put_names (folder, broken[i]);
      test_open_fails (x, DYNO_DATA_ERROR_CORRUPT, "y.names|line|3 values");
    }
  test_folder_remove (folder);
}

/* Bytes stay bytes however many a sample has: they are scaled on the device. */
static void
test_rows_of_bytes (void)
{
  g_autofree char *folder = test_folder_new ();
  guint8 rows[6 * 20], out[20];
  gint32 label;

  for (guint i = 0; i < sizeof rows; i++)
    rows[i] = (guint8) (i * 2);
  g_autofree char *x = put_array (folder, "X.npy", "u1", 2, (guint64[]){ 6, 20 }, rows);
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels));
  g_autoptr (DynoDataset) dataset = test_open (x);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  g_assert_cmpint (input_of (dataset)->element, ==, DYNO_ELEMENT_U8);
  g_assert_cmpuint (dyno_schema_count_channels (&dyno_dataset_get_info (dataset)->schema), ==, 20);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->axes, ==, "NF");
  g_assert_true (
      dyno_dataset_decode (dataset, 3, 1, 1, (gpointer[]){ out, &label }, scratch, NULL));
  g_assert_cmpmem (out, 20, rows + 60, 20);
  test_folder_remove (folder);
}

static DynoDataset *
open_with_axes (const char *path, DynoAxes axes)
{
  DynoDatasetParams params = { .axes = axes };
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (path, &params, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dataset;
}

static void
test_axes_are_found_or_told (void)
{
  static const struct {
    guint64 shape[4];
    DynoAxes wanted;
    const char *axes;
    guint32 height, width, channels;
  } cases[] = {
    { { 6, 3, 8, 5 }, DYNO_AXES_AUTO, "NCHW", 8, 5, 3 },
    { { 6, 1, 28, 28 }, DYNO_AXES_AUTO, "NCHW", 28, 28, 1 },
    { { 6, 4, 2, 9 }, DYNO_AXES_AUTO, "NCHW", 2, 9, 4 },
    { { 6, 8, 5, 3 }, DYNO_AXES_AUTO, "NHWC", 8, 5, 3 },
    { { 6, 3, 8, 3 }, DYNO_AXES_AUTO, "NHWC", 3, 8, 3 },
    { { 6, 16, 7, 9 }, DYNO_AXES_AUTO, "NHWC", 16, 7, 9 },
    { { 6, 3, 8, 5 }, DYNO_AXES_NHWC, "NHWC", 3, 8, 5 },
    { { 6, 16, 7, 9 }, DYNO_AXES_NCHW, "NCHW", 7, 9, 16 },
    { { 6, 1, 1, 5 }, DYNO_AXES_AUTO, "NCHW", 1, 5, 1 },
  };
  g_autofree float *zeros = g_new0 (float, 6 * 28 * 28 * 16);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *x = put_array (folder, "X.npy", "f4", 4, cases[i].shape, zeros);
      g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels));
      g_autoptr (DynoDataset) dataset = open_with_axes (x, cases[i].wanted);
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

      g_assert_cmpstr (info->axes, ==, cases[i].axes);
      g_assert_cmpuint (info->max_height, ==, cases[i].height);
      g_assert_cmpuint (info->max_width, ==, cases[i].width);
      g_assert_cmpuint (dyno_schema_count_channels (&info->schema), ==, cases[i].channels);
      test_folder_remove (folder);
    }
}

/* The samples are equal for channels first and last, in bytes, floats and floats of the other byte
 * order. */
static void
test_channels_first_is_interleaved (void)
{
  guint64 first[] = { 6, 3, 5, 7 }, last[] = { 6, 5, 7, 3 };
  guint8 bytes[2][6 * 105];
  float floats[2][6 * 105], swapped[6 * 105];

  for (guint n = 0; n < 6; n++)
    for (guint c = 0; c < 3; c++)
      for (guint p = 0; p < 35; p++)
        {
          guint value = n * 31 + c * 70 + p;
          bytes[0][n * 105 + c * 35 + p] = bytes[1][n * 105 + p * 3 + c] = (guint8) value;
          floats[0][n * 105 + c * 35 + p] = floats[1][n * 105 + p * 3 + c] = (float) value / 8;
        }
  for (guint i = 0; i < 6 * 105; i++)
    for (guint b = 0; b < 4; b++)
      ((guint8 *) (swapped + i))[b] = ((const guint8 *) (floats[0] + i))[3 - b];

  for (guint kind = 0; kind < 3; kind++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *a =
          kind == 0 ? put_array (folder, "A.npy", "u1", 4, first, bytes[0])
          : kind == 1
              ? put_array (folder, "A.npy", "f4", 4, first, floats[0])
              : put_bytes (folder, "A.npy",
                           "{'descr': '>f4', 'fortran_order': False, 'shape': (6, 3, 5, 7), }\n",
                           (const guint8 *) swapped, sizeof swapped);
      g_autofree char *b = put_array (folder, "B.npy", kind == 0 ? "u1" : "f4", 4, last,
                                      kind == 0 ? (gconstpointer) bytes[1] : floats[1]);
      g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels));
      g_autoptr (DynoDataset) one = test_open (a), other = test_open (b);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      float out[2][105] = { { 0 } };
      gint32 label;

      g_assert_cmpstr (dyno_dataset_get_info (one)->axes, ==, "NCHW");
      for (guint n = 0; n < 6; n++)
        {
          g_assert_true (
              dyno_dataset_decode (one, n, 7, 5, (gpointer[]){ out[0], &label }, scratch, NULL));
          g_assert_true (
              dyno_dataset_decode (other, n, 7, 5, (gpointer[]){ out[1], &label }, scratch, NULL));
          g_assert_cmpmem (out[0], sizeof out[0], out[1], sizeof out[1]);
        }
      test_folder_remove (folder);
    }
}

static void
test_a_folder_of_x_and_y_opens (void)
{
  g_autofree char *folder = test_folder_new ();
  float data[12] = { 0, 1, 2, 3, 4, 5 };
  g_autofree char *x = put_array (folder, "X.npy", "f4", 2, (guint64[]){ 6, 2 }, data);

  test_open_fails (folder, DYNO_DATA_ERROR_NOT_FOUND, "X.npy|y.npy");
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels));
  g_autoptr (DynoDataset) by_folder = test_open (folder), by_file = test_open (x);
  g_assert_cmpstr (dyno_dataset_get_info (by_folder)->kind, ==, "npy");
  g_assert_cmpuint (dyno_dataset_get_info (by_folder)->n_samples, ==, 6);
  g_assert_cmpuint (dyno_dataset_get_info (by_folder)->content_hash, ==,
                    dyno_dataset_get_info (by_file)->content_hash);
  test_folder_remove (folder);
}

static guint64
hash_of (const char *path)
{
  g_autoptr (DynoDataset) dataset = test_open (path);
  return dyno_dataset_get_info (dataset)->content_hash;
}

/* Other targets or another shape of the samples are other data. */
static void
test_content_hash_sees_targets_and_shape (void)
{
  g_autofree char *folder = test_folder_new ();
  float data[12] = { 0, 1, 2, 3, 4, 5 };
  gint64 others[6] = { 0, 2, 1, 0, 2, 0 };
  g_autofree char *x = put_array (folder, "X.npy", "f4", 2, (guint64[]){ 6, 2 }, data);
  guint64 first;

  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels));
  first = hash_of (x);
  g_assert_cmphex (hash_of (x), ==, first);
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, others));
  g_assert_cmphex (hash_of (x), !=, first);
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels));
  g_free (put_array (folder, "X.npy", "f4", 2, (guint64[]){ 6, 1 }, data));
  g_assert_cmphex (hash_of (x), !=, first);
  test_folder_remove (folder);
}

/* Samples of X with Inf or NaN, or with a number that float32 cannot hold, are refused by their
 * record; the others are read. */
static void
test_samples_that_are_not_finite (void)
{
  static const struct {
    const char *type;
    double value;
    const char *words;
  } cases[] = { { "f4", NAN, "X.npy|record 2|nan" },
                { "f4", -INFINITY, "record 2|-inf" },
                { "f8", 1e300, "record 2|inf" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      float singles[12] = { 0 }, out[2];
      double doubles[12] = { 0 };
      gboolean single = cases[i].type[1] == '4';
      gint32 label;

      singles[5] = (float) cases[i].value;
      doubles[5] = cases[i].value;
      g_autofree char *x = put_array (folder, "X.npy", cases[i].type, 2, (guint64[]){ 6, 2 },
                                      single ? (gconstpointer) singles : doubles);
      G_GNUC_UNUSED g_autofree char *y =
          put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels);
      g_autoptr (DynoDataset) dataset = test_open (x);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      g_autoptr (GError) error = NULL;

      g_assert_false (
          dyno_dataset_decode (dataset, 2, 1, 1, (gpointer[]){ out, &label }, scratch, &error));
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
      test_has_words (error, cases[i].words);
      g_assert_true (
          dyno_dataset_decode (dataset, 3, 1, 1, (gpointer[]){ out, &label }, scratch, NULL));
      test_folder_remove (folder);
    }
}

/* IEEE 754 binary16, down to its smallest number. */
static void
test_half_precision (void)
{
  static const struct {
    guint16 bits;
    double value;
  } cases[] = { { 0x0000, 0 },
                { 0x0001, 5.9604644775390625e-8 },
                { 0x8001, -5.9604644775390625e-8 },
                { 0x03ff, 6.097555160522461e-5 },
                { 0x0400, 6.103515625e-5 },
                { 0x3555, 0.333251953125 },
                { 0x3c00, 1 },
                { 0xc000, -2 },
                { 0x7bff, 65504 } };
  const DynoNpyHeader header = { .kind = 'f', .item_bytes = 2 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint16 bits = cases[i].bits;
      g_assert_cmpfloat (dyno_npy_get_double (&header, (const guint8 *) &bits), ==, cases[i].value);
    }
}

static void
test_lying_headers (void)
{
  static const struct {
    const char *literal;
    DynoDataError code;
    const char *words;
  } cases[] = {
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 2), }",
      DYNO_DATA_ERROR_TOO_LARGE, "overflows" },
    { "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904,), }",
      DYNO_DATA_ERROR_TOO_LARGE, "overflows" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,), }",
      DYNO_DATA_ERROR_CORRUPT, "shape" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (1000, 100), }", DYNO_DATA_ERROR_CORRUPT,
      "400000 bytes|has 100" },
    { "{'descr': '|O', 'fortran_order': False, 'shape': (5, 5), }", DYNO_DATA_ERROR_UNSUPPORTED,
      "Python objects" },
    { "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (5, 5), }",
      DYNO_DATA_ERROR_UNSUPPORTED, "structures" },
    { "{'descr': '<c8', 'fortran_order': False, 'shape': (5, 5), }", DYNO_DATA_ERROR_UNSUPPORTED,
      "c8" },
    { "{'descr': '<U4', 'fortran_order': False, 'shape': (5, 5), }", DYNO_DATA_ERROR_UNSUPPORTED,
      "U4" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (25,), }", DYNO_DATA_ERROR_UNSUPPORTED,
      "1 dimension;" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 5), }", DYNO_DATA_ERROR_EMPTY,
      "no sample" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0), }", DYNO_DATA_ERROR_TOO_LARGE,
      "numbers" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (-5, 5), }", DYNO_DATA_ERROR_CORRUPT,
      "shape" },
    { "{'descr': '<f4', 'fortran_order': False, }", DYNO_DATA_ERROR_CORRUPT, "missing" },
    { "{'descr': '<f4', 'descr': '<f4', 'shape': (5,5)}", DYNO_DATA_ERROR_CORRUPT, "repeated" },
    { "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 5", DYNO_DATA_ERROR_CORRUPT, "shape" },
    { "__import__('os').system('true')", DYNO_DATA_ERROR_CORRUPT, "dictionary" },
    { "", DYNO_DATA_ERROR_CORRUPT, "dictionary" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *x = put_raw (folder, "X.npy", cases[i].literal, 100);
      G_GNUC_UNUSED g_autofree char *y =
          put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels);
      test_open_fails (x, cases[i].code, cases[i].words);
      test_folder_remove (folder);
    }
}

static void
test_huge_header_is_refused (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *x = test_write (folder, "X.npy", "\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14);
  test_open_fails (x, DYNO_DATA_ERROR_TOO_LARGE, "4294967295");
  test_folder_remove (folder);
}

static void
test_targets_that_do_not_fit (void)
{
  g_autofree char *folder = test_folder_new ();
  float data[12] = { 0 };
  gint64 negative[6] = { 0, 1, -1, 0, 1, 1 }, large[6] = { 0, 1, 1000000000000, 0, 1, 1 },
         same[6] = { 0 };
  float bad[6] = { 1, 2, 3, 4, NAN, 6 };
  g_autofree char *x = put_array (folder, "X.npy", "f4", 2, (guint64[]){ 6, 2 }, data);

  test_open_fails (x, DYNO_DATA_ERROR_NOT_FOUND, "y.npy");
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 5 }, labels));
  test_open_fails (x, DYNO_DATA_ERROR_CORRUPT, "5 records|6");
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, negative));
  test_open_fails (x, DYNO_DATA_ERROR_CORRUPT, "record 2|-1");
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, large));
  test_open_fails (x, DYNO_DATA_ERROR_TOO_LARGE, "record 2|floats");
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, same));
  test_open_fails (x, DYNO_DATA_ERROR_EMPTY, "one class");
  /* On request there is one class, and not a second one without samples. */
  g_autoptr (DynoDataset) one =
      dyno_dataset_open (x, &(DynoDatasetParams){ .one_class = TRUE }, NULL, NULL, NULL, NULL);
  g_assert_nonnull (one);
  g_assert_cmpuint (dyno_dataset_get_info (one)->n_classes, ==, 1);
  g_assert_cmpuint (dyno_dataset_get_info (one)->class_counts[0], ==, 6);
  g_free (put_array (folder, "y.npy", "f4", 1, (guint64[]){ 6 }, bad));
  test_open_fails (x, DYNO_DATA_ERROR_CORRUPT, "record 4|finite");
  test_folder_remove (folder);
}

/* The task follows from the type of the targets, or from one-hot rows; where the numbers contradict
 * it, a note reports that, and data.task decides. */
static void
test_task_is_guessed_and_can_be_set (void)
{
  static const float whole[4] = { 0, 1, 2, 1 }, halves[4] = { 0, 1.5f, 2, 1 },
                     rows[8] = { 0, 1, 1, 0, 0, 1, 0, 1 }, several[8] = { 0, 1, 1, 1, 0, 1, 1, 0 },
                     thirds[8] = { 0, 1, 0.25f, 1, 0, 1, 1, 0 };
  static const gint64 ages[4] = { 20, 43, 20, 31 }, hot[8] = { 0, 1, 1, 0, 0, 1, 0, 1 },
                      labels_of[8] = { 0, 1, 1, 1, 0, 1, 0, 0 };
  static const struct {
    const char *type;
    guint width;
    gconstpointer targets;
    DynoTask task;
    guint n_classes, n_values; /* both 0: the targets are refused */
    gint32 label;              /* of the last sample */
    const char *words;         /* of the note, or of the error */
  } cases[] = {
    { "f4", 1, whole, DYNO_TASK_AUTO, 0, 1, 0,
      "floats, though all are whole numbers, from 0 to 2; data.task=classes" },
    { "f4", 1, whole, DYNO_TASK_CLASSES, 3, 0, 1, NULL },
    { "f4", 1, halves, DYNO_TASK_AUTO, 0, 1, 0, NULL },
    { "f4", 1, halves, DYNO_TASK_CLASSES, 0, 0, 0, "record 1: 1.5 is no class" },
    { "i8", 1, ages, DYNO_TASK_AUTO, 44, 0, 31, NULL },
    { "i8", 1, ages, DYNO_TASK_VALUES, 0, 1, 0, NULL },
    { "f4", 2, rows, DYNO_TASK_AUTO, 2, 0, 1,
      "each row of “y.npy” is one 1 among zeros; data.task=values" },
    { "i8", 2, hot, DYNO_TASK_AUTO, 2, 0, 1, "one 1 among zeros" },
    { "i8", 2, hot, DYNO_TASK_VALUES, 0, 2, 0, NULL },
    { "f4", 2, several, DYNO_TASK_AUTO, 0, 2, 0, "all are whole numbers" },
    { "f4", 2, several, DYNO_TASK_CLASSES, 0, 0, 0, "rows that are no class" },
    { "i8", 2, labels_of, DYNO_TASK_VALUES, 0, 2, 0, NULL },
    { "i8", 2, labels_of, DYNO_TASK_CLASSES, 0, 0, 0, "several ones|set data.task to labels" },
    { "i8", 1, ages, DYNO_TASK_LABELS, 0, 0, 0,
      "y.npy|record 0: 20 is no label|set data.task to auto" },
    { "f4", 2, thirds, DYNO_TASK_LABELS, 0, 0, 0, "record 1: 0.25 is no label" },
  };
  g_autofree char *folder = test_folder_new ();
  g_autofree char *x = put_array (folder, "X.npy", "f4", 2, (guint64[]){ 4, 3 }, (float[12]){ 0 });

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const DynoDatasetParams params = { .task = cases[i].task };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = NULL;
      g_auto (GStrv) notes = NULL;
      g_autofree char *all = NULL;

      g_free (put_array (folder, "y.npy", cases[i].type, cases[i].width == 1 ? 1 : 2,
                         (guint64[]){ 4, cases[i].width }, cases[i].targets));
      dataset = dyno_dataset_open (x, &params, NULL, NULL, NULL, &error);
      if (cases[i].n_classes + cases[i].n_values == 0)
        {
          g_assert_null (dataset);
          test_has_words (error, cases[i].words);
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, cases[i].n_classes);
      g_assert_cmpuint (dyno_schema_count_values (&dyno_dataset_get_info (dataset)->schema), ==,
                        cases[i].n_values);
      if (cases[i].n_classes > 0)
        g_assert_cmpint (dyno_dataset_get_label (dataset, 3), ==, cases[i].label);
      notes = dyno_dataset_list_notes (dataset, NULL, NULL);
      all = g_strjoinv ("\n", notes);
      g_assert_cmpint (strstr (all, "It is a guess") != NULL, ==, cases[i].words != NULL);
      g_assert_true (!cases[i].words || strstr (all, cases[i].words));
      g_assert_cmpint (dyno_dataset_get_info (dataset)->task_reason != NULL, ==,
                       cases[i].task == DYNO_TASK_AUTO && cases[i].targets != halves);
    }
  test_folder_remove (folder);
}

/* The targets are those of the same name, then those whose name has y for X, then those of any
 * array of the folder. */
static void
test_targets_by_their_names (void)
{
  static const struct {
    const char *samples, *targets[4]; /* the first one is used */
  } cases[] = {
    { "Xtrain.npy", { "Xtrain_y.npy", "ytrain.npy", "y.npy", "labels.npy" } },
    { "Xtrain.npy", { "ytrain.npy", "y.npy", "labels.npy", NULL } },
    { "xtrain.npy", { "ytrain.npy", "labels.npy", NULL, NULL } },
    { "X.npy", { "y.npy", "labels.npy", NULL, NULL } },
    { "faces.npy", { "faces_y.npy", "y.npy", "labels.npy", NULL } },
    { "faces.npy", { "labels.npy", "yaces.npy", NULL, NULL } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new (), *x = NULL;
      g_autoptr (DynoDataset) dataset = NULL;
      guint8 images[2 * 9] = { 0 };

      x = put_array (folder, cases[i].samples, "u1", 3, (guint64[]){ 2, 3, 3 }, images);
      for (guint k = 0; k < 4 && cases[i].targets[k]; k++)
        {
          double targets[4] = { k + 0.5, 1, 2, 3 };

          g_free (put_array (folder, cases[i].targets[k], "f8", 2, (guint64[]){ 2, 2 }, targets));
        }
      dataset = test_open (x);
      g_assert_cmpfloat (dyno_dataset_get_values (dataset, 0)[0], ==, 0.5f);
      test_folder_remove (folder);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/npy/float-images-and-classes", test_float_images_and_classes);
  g_test_add_func ("/data/npy/features-of-every-type", test_features_of_every_type);
  g_test_add_func ("/data/npy/values-and-bytes", test_values_and_bytes);
  g_test_add_func ("/data/npy/rows-of-bytes", test_rows_of_bytes);
  g_test_add_func ("/data/npy/axes-are-found-or-told", test_axes_are_found_or_told);
  g_test_add_func ("/data/npy/channels-first-is-interleaved", test_channels_first_is_interleaved);
  g_test_add_func ("/data/npy/a-folder-of-x-and-y-opens", test_a_folder_of_x_and_y_opens);
  g_test_add_func ("/data/npy/content-hash-sees-targets-and-shape",
                   test_content_hash_sees_targets_and_shape);
  g_test_add_func ("/data/npy/samples-that-are-not-finite", test_samples_that_are_not_finite);
  g_test_add_func ("/data/npy/half-precision", test_half_precision);
  g_test_add_func ("/data/npy/lying-headers", test_lying_headers);
  g_test_add_func ("/data/npy/huge-header-is-refused", test_huge_header_is_refused);
  g_test_add_func ("/data/npy/targets-that-do-not-fit", test_targets_that_do_not_fit);
  g_test_add_func ("/data/npy/names-and-units-of-values", test_names);
  g_test_add_func ("/data/npy/task-is-guessed-and-can-be-set", test_task_is_guessed_and_can_be_set);
  g_test_add_func ("/data/npy/targets-by-their-names", test_targets_by_their_names);
  return g_test_run ();
}
