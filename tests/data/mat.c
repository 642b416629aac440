/* SPDX-License-Identifier: MIT */
/* MATLAB's files, made here in both byte orders and by libmatio, and read by both; and the head
 * poses of 300W-LP and AFLW2000, which are stored in such files. */
#include "convert.h"
#include "image.h"
#include "data-test.h"
#include "matfile.h"
#include <math.h>
#include <matio.h>
#include <string.h>
#include <zlib.h>

/* --- a writer of our own ---------------------------------------------------------------------- */

static void
put (GByteArray *bytes, guint64 value, guint size, gboolean big)
{
  for (guint i = 0; i < size; i++)
    {
      guint8 byte = (guint8) (value >> 8 * (big ? size - 1 - i : i));
      g_byte_array_append (bytes, &byte, 1);
    }
}

static GByteArray *
mat_new (gboolean big)
{
  GByteArray *file = g_byte_array_new ();
  char text[124];

  memset (text, ' ', sizeof text);
  memcpy (text, "MATLAB 5.0 MAT-file", 19);
  g_byte_array_append (file, (const guint8 *) text, sizeof text);
  put (file, 0x0100, 2, big);
  put (file, 0x4d49, 2, big);
  return file;
}

/* Appends a tag, in the small form where possible, with items of one size and the padding after
 * them. */
static void
put_element (GByteArray *bytes, guint type, guint size, guint n, const guint64 *items, gboolean big)
{
  gboolean is_small = size * n <= 4 && n > 0;

  if (is_small)
    put (bytes, (guint64) size * n << 16 | type, 4, big);
  else
    {
      put (bytes, type, 4, big);
      put (bytes, (guint64) size * n, 4, big);
    }
  for (guint i = 0; i < n; i++)
    put (bytes, items[i], size, big);
  while (bytes->len % (is_small ? 4 : 8) != 0 || (is_small && bytes->len % 8 != 0))
    put (bytes, 0, 1, big);
}

static void
put_name (GByteArray *bytes, const char *name, gboolean big)
{
  guint64 letters[32];
  guint n = (guint) strlen (name);

  for (guint i = 0; i < n; i++)
    letters[i] = (guint64) name[i];
  put_element (bytes, 1, 1, n, letters, big);
}

static guint64
bits_of (double value, guint type)
{
  float single = (float) value;
  guint64 bits = 0;
  guint32 low;

  if (type == 9)
    memcpy (&bits, &value, sizeof bits);
  else if (type == 7)
    {
      memcpy (&low, &single, sizeof low);
      bits = low;
    }
  else
    bits = (guint64) (gint64) value;
  return bits;
}

/* Appends an array of class kind, whose items are stored as type. */
static void
mat_add (GByteArray *file, const char *name, guint kind, guint type, guint rows, guint columns,
         const double *values, gboolean compressed, gboolean big)
{
  static const guint sizes[] = { 0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8 };
  g_autoptr (GByteArray) matrix = g_byte_array_new (), whole = g_byte_array_new ();
  guint64 items[256];
  guint8 packed[8192];
  uLongf n = sizeof packed;

  put_element (matrix, 6, 4, 2, (guint64[]){ kind, 0 }, big);
  put_element (matrix, 5, 4, 2, (guint64[]){ rows, columns }, big);
  put_name (matrix, name, big);
  for (guint i = 0; i < rows * columns; i++)
    items[i] = bits_of (values[i], type);
  put_element (matrix, type, sizes[type], rows * columns, items, big);
  put (whole, 14, 4, big);
  put (whole, matrix->len, 4, big);
  g_byte_array_append (whole, matrix->data, matrix->len);
  if (!compressed)
    {
      g_byte_array_append (file, whole->data, whole->len);
      return;
    }
  g_assert_cmpint (compress (packed, &n, whole->data, whole->len), ==, Z_OK);
  put (file, 15, 4, big);
  put (file, n, 4, big);
  g_byte_array_append (file, packed, (guint) n);
}

static const char *const all_names[] = {
  "a",   "bc",  "wide", "tiny", "x6",  "x7",  "x8",    "x9",
  "x10", "x11", "x12",  "x13",  "x14", "x15", "later", NULL
};

static GPtrArray *
parse (const GByteArray *file)
{
  g_autoptr (GError) error = NULL;
  /* The copy has the exact size, so that reads beyond it are detected. */
  g_autofree guint8 *copy = g_memdup2 (file->data, file->len);
  GPtrArray *arrays = dyno_mat_parse (copy, file->len, all_names, &error);

  g_assert_no_error (error);
  return arrays;
}

static void
check_array (const GPtrArray *arrays, const char *name, guint rows, guint columns,
             const double *values)
{
  const DynoMatArray *array = dyno_mat_find (arrays, name);

  g_assert_nonnull (array);
  g_assert_cmpuint (array->n_dims, ==, 2);
  g_assert_cmpuint (array->shape[0], ==, rows);
  g_assert_cmpuint (array->shape[1], ==, columns);
  for (guint i = 0; i < rows * columns; i++)
    g_assert_cmpfloat (array->items[i], ==, values[i]);
}

/* Compares an array with Matio's reading; only for doubles. */
static void
check_by_matio (const char *path, const char *name, guint rows, guint columns, const double *values)
{
  mat_t *file = Mat_Open (path, MAT_ACC_RDONLY);
  matvar_t *var;

  g_assert_nonnull (file);
  var = Mat_VarRead (file, name);
  g_assert_nonnull (var);
  g_assert_cmpint (var->rank, ==, 2);
  g_assert_cmpuint (var->dims[0], ==, rows);
  g_assert_cmpuint (var->dims[1], ==, columns);
  g_assert_cmpint (var->class_type, ==, MAT_C_DOUBLE);
  for (guint i = 0; i < rows * columns; i++)
    g_assert_cmpfloat (((const double *) var->data)[i], ==, values[i]);
  Mat_VarFree (var);
  Mat_Close (file);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void
test_both_orders (void)
{
  static const double values[6] = { 1, -2, 3.5, 1e300, -0.25, 7 },
                      whole[6] = { 0, 1, 2, 3, 4, 100 }, one = 42;

  for (guint big = 0; big < 2; big++)
    for (guint compressed = 0; compressed < 2; compressed++)
      {
        g_autofree char *folder = test_folder_new ();
        g_autoptr (GByteArray) file = mat_new (big);
        g_autoptr (GPtrArray) arrays = NULL;

        mat_add (file, "a", 6, 9, 2, 3, values, compressed, big);
        mat_add (file, "other", 6, 9, 2, 3, whole, compressed, big);
        /* Doubles that MATLAB stores as bytes, and a single byte within its tag. */
        mat_add (file, "wide", 6, 2, 3, 2, whole, compressed, big);
        mat_add (file, "tiny", 6, 2, 1, 1, &one, compressed, big);
        g_autofree char *path = test_write (folder, "m.mat", file->data, file->len);

        arrays = parse (file);
        g_assert_cmpuint (arrays->len, ==, 3);
        check_array (arrays, "a", 2, 3, values);
        check_array (arrays, "wide", 3, 2, whole);
        check_array (arrays, "tiny", 1, 1, &one);
        check_by_matio (path, "a", 2, 3, values);
        check_by_matio (path, "wide", 3, 2, whole);
        check_by_matio (path, "tiny", 1, 1, &one);
        test_folder_remove (folder);
      }
}

/* Every numeric class, stored in its own type, in both byte orders. */
static void
test_every_class (void)
{
  static const struct {
    guint kind, type;
    gboolean is_signed;
  } cases[] = { { 6, 9, TRUE },   { 7, 7, TRUE },   { 8, 1, TRUE },  { 9, 2, FALSE },
                { 10, 3, TRUE },  { 11, 4, FALSE }, { 12, 5, TRUE }, { 13, 6, FALSE },
                { 14, 12, TRUE }, { 15, 13, FALSE } };
  double values[3] = { 100, 0, 17 };

  for (guint big = 0; big < 2; big++)
    {
      g_autoptr (GByteArray) file = mat_new (big);
      g_autoptr (GPtrArray) arrays = NULL;

      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          g_autofree char *name = g_strdup_printf ("x%u", cases[i].kind);
          values[1] = cases[i].is_signed ? -100 : 200;
          mat_add (file, name, cases[i].kind, cases[i].type, 3, 1, values, i % 2, big);
        }
      arrays = parse (file);
      g_assert_cmpuint (arrays->len, ==, G_N_ELEMENTS (cases));
      for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
        {
          g_autofree char *name = g_strdup_printf ("x%u", cases[i].kind);
          values[1] = cases[i].is_signed ? -100 : 200;
          check_array (arrays, name, 3, 1, values);
        }
    }
}

static void
write_by_matio (const char *path, enum matio_compression compression)
{
  mat_t *file = Mat_CreateVer (path, NULL, MAT_FT_MAT5);
  double doubles[4] = { 1.5, -2, 3, 4 };
  gint16 shorts[4] = { 1, -2, 3, -4 };
  guint8 bytes[4] = { 1, 2, 3, 255 };
  char text[4] = { 'a', 'b', 'c', 'd' };
  size_t dims[2] = { 2, 2 };
  matvar_t *vars[] = {
    Mat_VarCreate ("text", MAT_C_CHAR, MAT_T_INT8, 2, dims, text, 0),
    Mat_VarCreate ("a", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, doubles, 0),
    Mat_VarCreate ("bc", MAT_C_INT16, MAT_T_INT16, 2, dims, shorts, 0),
    Mat_VarCreate ("wide", MAT_C_UINT8, MAT_T_UINT8, 2, dims, bytes, 0),
  };

  g_assert_nonnull (file);
  for (guint i = 0; i < G_N_ELEMENTS (vars); i++)
    {
      g_assert_cmpint (Mat_VarWrite (file, vars[i], compression), ==, 0);
      Mat_VarFree (vars[i]);
    }
  Mat_Close (file);
}

static void
test_reads_matio (void)
{
  static const enum matio_compression kinds[] = { MAT_COMPRESSION_NONE, MAT_COMPRESSION_ZLIB };

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *path = g_build_filename (folder, "m.mat", NULL), *text = NULL;
      g_autoptr (GPtrArray) arrays = NULL;
      gsize size;

      write_by_matio (path, kinds[i]);
      g_assert_true (g_file_get_contents (path, &text, &size, NULL));
      g_autoptr (GError) error = NULL;
      arrays = dyno_mat_parse ((const guint8 *) text, size, all_names, &error);
      g_assert_no_error (error);
      g_assert_nonnull (arrays);
      g_assert_cmpuint (arrays->len, ==, 3);
      check_array (arrays, "a", 2, 2, (const double[]){ 1.5, -2, 3, 4 });
      check_array (arrays, "bc", 2, 2, (const double[]){ 1, -2, 3, -4 });
      check_array (arrays, "wide", 2, 2, (const double[]){ 1, 2, 3, 255 });
      test_folder_remove (folder);
    }
}

/* A file that is truncated or changed anywhere is an error or has other numbers; no byte outside of
 * it is read. */
static void
test_damage (void)
{
  static const double values[6] = { 1, 2, 3, 4, 5, 6 };
  g_autoptr (GByteArray) file = mat_new (FALSE);
  g_autoptr (GError) error = NULL;
  guint first;

  mat_add (file, "a", 6, 9, 2, 3, values, FALSE, FALSE);
  first = file->len;
  mat_add (file, "bc", 6, 9, 2, 3, values, TRUE, FALSE);
  for (guint cut = 129; cut < file->len; cut++)
    {
      g_autofree guint8 *copy = g_memdup2 (file->data, cut);
      g_autoptr (GPtrArray) arrays = dyno_mat_parse (copy, cut, all_names, NULL);
      g_assert_true (!arrays || (arrays->len == 1 && cut == first));
    }
  for (guint at = 128; at < file->len; at++)
    for (guint bit = 0; bit < 8; bit++)
      {
        g_autofree guint8 *copy = g_memdup2 (file->data, file->len);
        copy[at] ^= (guint8) (1 << bit);
        G_GNUC_UNUSED g_autoptr (GPtrArray) arrays =
            dyno_mat_parse (copy, file->len, all_names, NULL);
      }
  g_assert_null (dyno_mat_parse ((const guint8 *) "\x89HDF\r\n", 6, all_names, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (error, "7.3|-v7");
}

/* --- limits ------------------------------------------------------------------------------------ */

/* An array of class kind with these flags and this shape, whose items are bytes. */
static void
put_bytes (GByteArray *file, const char *name, guint kind, guint flags, guint n_dims,
           const guint64 *shape, const guint8 *items, gsize n)
{
  g_autoptr (GByteArray) matrix = g_byte_array_new ();
  guint8 zeros[8] = { 0 };

  put_element (matrix, 6, 4, 2, (guint64[]){ kind | flags << 8, 0 }, FALSE);
  put_element (matrix, 5, 4, n_dims, shape, FALSE);
  put_name (matrix, name, FALSE);
  put (matrix, 2, 4, FALSE);
  put (matrix, n, 4, FALSE);
  g_byte_array_append (matrix, items, (guint) n);
  g_byte_array_append (matrix, zeros, (guint) (-n & 7));
  put (file, 14, 4, FALSE);
  put (file, matrix->len, 4, FALSE);
  g_byte_array_append (file, matrix->data, matrix->len);
}

static void
assert_refused (const GByteArray *file, int code, const char *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_mat_parse (file->data, file->len, all_names, &error));
  g_assert_error (error, DYNO_DATA_ERROR, code);
  test_has_words (error, words);
}

/* Arrays have 2 to 8 dimensions, at least as many items as their shape, and up to 4194304; the first
 * of a name is found; arrays that are no real numbers are skipped. */
static void
test_shapes (void)
{
  static const guint64 ones[9] = { 2, 1, 3, 1, 1, 1, 1, 1, 1 };
  g_autofree guint8 *items = g_new0 (guint8, (1 << 22) + 1);

  for (guint i = 0; i < 8; i++)
    items[i] = (guint8) (10 + i);
  for (guint n_dims = 1; n_dims <= 9; n_dims++)
    {
      g_autoptr (GByteArray) file = mat_new (FALSE);
      const gsize n = n_dims < 3 ? 2 : 6;
      put_bytes (file, "a", 9, 0, n_dims, ones, items, n);
      if (n_dims < 2 || n_dims > 8)
        {
          assert_refused (file, DYNO_DATA_ERROR_CORRUPT, "2 to 8 dimensions");
          continue;
        }
      g_autoptr (GPtrArray) arrays = parse (file);
      const DynoMatArray *array = dyno_mat_find (arrays, "a");
      g_assert_true (array && array->n_dims == n_dims && array->n_items == n);
      for (guint i = 0; i < n_dims; i++)
        g_assert_cmpuint (array->shape[i], ==, ones[i]);
      for (guint i = 0; i < n; i++)
        g_assert_cmpfloat (array->items[i], ==, 10 + i);
    }
  for (guint less = 0; less < 2; less++)
    {
      g_autoptr (GByteArray) file = mat_new (FALSE), large = mat_new (FALSE);
      put_bytes (file, "a", 9, 0, 2, (guint64[]){ 3, 3 }, items, 9 - less);
      put_bytes (large, "bc", 9, 0, 2, (guint64[]){ 1, (1 << 22) + less }, items, (1 << 22) + less);
      if (less)
        {
          assert_refused (file, DYNO_DATA_ERROR_CORRUPT, "fewer items than its shape");
          assert_refused (large, DYNO_DATA_ERROR_TOO_LARGE, "“bc”|4194304");
          continue;
        }
      g_ptr_array_unref (parse (file));
      g_ptr_array_unref (parse (large));
    }
  g_autoptr (GByteArray) file = mat_new (FALSE);
  put_bytes (file, "x6", 4, 0, 2, ones, items, 2);    /* text */
  put_bytes (file, "x7", 9, 0x08, 2, ones, items, 2); /* complex */
  put_bytes (file, "x8", 16, 0, 2, ones, items, 2);   /* a function */
  put_bytes (file, "x9", 9, 0x02, 2, ones, items, 2); /* logical */
  put_bytes (file, "a", 9, 0, 2, ones, items + 4, 2);
  put_bytes (file, "a", 9, 0, 2, ones, items, 2);
  g_autoptr (GPtrArray) arrays = parse (file);
  g_assert_cmpuint (arrays->len, ==, 3);
  check_array (arrays, "x9", 2, 1, (const double[]){ 10, 11 });
  check_array (arrays, "a", 2, 1, (const double[]){ 14, 15 });
  g_assert_null (dyno_mat_find (arrays, "bc"));
  /* The name is the last of what there is: nothing behind it is read. */
  g_autoptr (GByteArray) cut = mat_new (FALSE), matrix = g_byte_array_new ();
  put_element (matrix, 6, 4, 2, (guint64[]){ 9, 0 }, FALSE);
  put_element (matrix, 5, 4, 2, ones, FALSE);
  put_name (matrix, "later", FALSE);
  put (cut, 14, 4, FALSE);
  put (cut, matrix->len - 3, 4, FALSE);
  g_byte_array_append (cut, matrix->data, matrix->len - 3);
  assert_refused (cut, DYNO_DATA_ERROR_CORRUPT, "tag is cut off");
  file->data[125] = 2; /* the version */
  assert_refused (file, DYNO_DATA_ERROR_UNSUPPORTED, "another version|-v7");
}

/* A compressed element that says that it has so many bytes, but ends after its tag. */
static void
put_promise (GByteArray *file, gsize size)
{
  g_autoptr (GByteArray) whole = g_byte_array_new ();
  guint8 packed[64];
  uLongf n = sizeof packed;

  put (whole, 9, 4, FALSE);
  put (whole, size, 4, FALSE);
  g_assert_cmpint (compress (packed, &n, whole->data, whole->len), ==, Z_OK);
  put (file, 15, 4, FALSE);
  put (file, n, 4, FALSE);
  g_byte_array_append (file, packed, (guint) n);
}

/* 64 MB are inflated from a file at most, and 100000 elements are read. */
static void
test_bounds_of_a_file (void)
{
  for (guint more = 0; more < 2; more++)
    {
      g_autoptr (GByteArray) file = mat_new (FALSE), many = mat_new (FALSE);
      put_promise (file, (40 << 20) - 8);
      put_promise (file, (24 << 20) - 8 + more);
      for (guint i = 0; i < 100000 + more; i++)
        put (many, 4 << 16 | 5, 8, FALSE);
      if (more)
        {
          assert_refused (file, DYNO_DATA_ERROR_CORRUPT, "more than 64 MB");
          assert_refused (many, DYNO_DATA_ERROR_CORRUPT, "too many elements");
          continue;
        }
      g_autoptr (GPtrArray) none = parse (file), nothing = parse (many);
      g_assert_true (none->len == 0 && nothing->len == 0);
    }
}

/* --- 300W-LP and AFLW2000 --------------------------------------------------------------------- */

static void
put_face (const char *folder, const char *stem, double yaw, double pitch, double roll,
          const double *points, guint n_points, const double *all_points)
{
  const double radians = G_PI / 180,
               pose[7] = { pitch * radians, yaw * radians, roll * radians, 1, 2, 3, 4 };
  g_autofree char *mat = g_strconcat (stem, ".mat", NULL), *jpg = g_strconcat (stem, ".jpg", NULL);
  g_autoptr (GByteArray) file = mat_new (FALSE), image = test_jpeg (450, 450, 90, 60, 30, FALSE);

  mat_add (file, "Pose_Para", 7, 7, 1, 7, pose, TRUE, FALSE);
  mat_add (file, "pt2d", 6, 9, 2, n_points, points, TRUE, FALSE);
  if (all_points)
    mat_add (file, "pt3d_68", 6, 9, 3, 2, all_points, TRUE, FALSE);
  g_free (test_write (folder, mat, file->data, file->len));
  g_free (test_write (folder, jpg, image->data, image->len));
}

static void
test_protocol (void)
{
  static const double face[4] = { 100, 120, 200, 240 }, hidden[6] = { 100, 120, -1, -1, 150, 150 },
                      all[6] = { 100, 120, 5, 200, 220, 5 };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GArray) train = NULL, validation = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 image[16 * 16 * 3];
  float values[3];

  put_face (folder, "300W_LP/AFW/AFW_1_0", 30, -10, 5, face, 2, NULL);
  put_face (folder, "300W_LP/AFW/AFW_1_1", 120, 0, 0, face, 2, NULL);
  put_face (folder, "300W_LP/AFW_Flip/AFW_1_0", -30, -10, -5, face, 2, NULL);
  put_face (folder, "AFLW2000/image00002", 60, 20, -15, hidden, 3, all);
  put_face (folder, "AFLW2000/image00004", 0, 99.5, 0, face, 2, NULL);
  put_face (folder, "AFLW2000/image00006", NAN, 20, -15, face, 2, NULL);
  g_free (test_write (folder, "AFLW2000/image00005.mat", "no", 2));
  g_free (test_write (folder, "AFLW2000/image00005.jpg", "no", 2));
  g_free (test_write (folder, "300W_LP/landmarks/AFW_1_0_pts.mat", "no image beside", 15));
  g_autoptr (DynoDataset) dataset = test_open (folder);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);
  g_autofree char *said = g_strjoinv ("\n", notes);

  g_assert_cmpstr (info->kind, ==, "300w-lp");
  g_assert_cmpuint (info->n_samples, ==, 3);
  g_assert_cmpuint (info->n_unreadable, ==, 2);
  g_assert_nonnull (strstr (dyno_dataset_get_unreadable (dataset)[0], "image00005"));
  g_assert_nonnull (strstr (dyno_dataset_get_unreadable (dataset)[1],
                            "image00006.jpg: its .mat has a pose that is no finite number"));
  g_assert_nonnull (strstr (said, "300W-LP for training, AFLW2000 for validation"));
  g_assert_nonnull (strstr (said, "2 samples with an angle beyond 99 degrees"));
  g_assert_cmpstr (info->target_names[1], ==, "pitch");
  dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 2);
  g_assert_cmpuint (validation->len, ==, 1);
  g_assert_cmpuint (g_array_index (validation, guint32, 0), ==, 2);
  g_assert_true (
      dyno_dataset_decode (dataset, 0, 16, 16, (gpointer[]){ image, values }, scratch, NULL));
  g_assert_cmpfloat_with_epsilon ((double) values[0], 30, 1e-3);
  g_assert_cmpfloat_with_epsilon ((double) values[1], -10, 1e-3);
  g_assert_cmpfloat_with_epsilon ((double) values[2], 5, 1e-3);
  /* The box of AFLW2000's sample includes all 68 points, from (100, 120) to (200, 220), with a
   * margin of 0.2: x from 100 - 40 to 200 + 0.4 * 140, y from 120 - 40 to 220 + 0.12 * 140. */
  g_assert_cmpuint (info->max_width, ==, 196);
  /* The margins of the other samples are between 0.2 and 0.4. */
  g_assert_cmpuint (info->min_width, >=, 125);
  g_assert_cmpuint (info->min_width, <=, 154);
  test_folder_remove (folder);
}

/* A picture with structure everywhere. */
static void
put_photograph (const char *folder, const char *name)
{
  g_autofree guint8 *pixels = g_new (guint8, 450 * 450 * 3);
  g_autoptr (GByteArray) jpeg = g_byte_array_new ();

  for (guint i = 0; i < 450 * 450 * 3; i++)
    pixels[i] = (guint8) (i / 3 % 450 * 3 + i / 1350 * i / 1350 / 7 + i % 3 * 40);
  g_assert_true (dyno_image_encode_jpeg (pixels, 450, 450, jpeg, NULL));
  g_free (test_write (folder, name, jpeg->data, jpeg->len));
}

/* The packed set has the crops, order, parts and names of the source, bit for bit at any size: also
 * where a JPEG is decoded at a reduced size. */
static void
test_packed_set_is_the_same (void)
{
  static const double face[4] = { 100, 120, 200, 240 }, edge[4] = { 300, 10, 440, 200 };
  g_autofree char *folder = test_folder_new (), *out = test_folder_new (),
                  *path = g_build_filename (out, "packed.tar", NULL);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  DynoConverted converted;

  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *stem =
          g_strdup_printf ("%s/AFW_%u_0", i % 3 ? "300W_LP/AFW" : "AFLW2000", i);
      g_autofree char *jpg = g_strconcat (stem, ".jpg", NULL);

      put_face (folder, stem, 5.0 * i - 30, 3.0 * i, -2.0 * i, i % 2 ? face : edge, 2, NULL);
      put_photograph (folder, jpg);
    }
  g_autoptr (DynoDataset) dataset = test_open (folder);
  dyno_dataset_convert (dataset, path, 0, NULL, NULL, NULL, NULL, &converted, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (converted.n_copied, ==, 12);
  g_autoptr (DynoDataset) again = test_open (path);
  const DynoDatasetInfo *was = dyno_dataset_get_info (dataset), *is = dyno_dataset_get_info (again);
  g_assert_cmpuint (is->n_samples, ==, 12);
  g_assert_cmpuint (is->min_width, ==, was->min_width);
  g_assert_cmpuint (is->max_height, ==, was->max_height);
  for (guint k = 0; k < 3; k++)
    {
      g_assert_cmpstr (is->target_names[k], ==, was->target_names[k]);
      g_assert_cmpstr (is->target_units[k], ==, "degrees");
    }
  for (guint seed = 0; seed < 2; seed++)
    {
      g_autoptr (GArray) train = NULL, validation = NULL, train_again = NULL,
                         validation_again = NULL;
      dyno_dataset_split (dataset, 0.3, seed, &train, &validation);
      dyno_dataset_split (again, 0.3, seed, &train_again, &validation_again);
      g_assert_cmpuint (validation->len, ==, 4);
      g_assert_cmpmem (train->data, train->len * 4, train_again->data, train_again->len * 4);
      g_assert_cmpmem (validation->data, 16, validation_again->data, validation_again->len * 4);
    }
  for (guint i = 0; i < 12; i++)
    for (guint32 size = 14; size <= 224; size *= 4)
      {
        static guint8 pixels[2][224 * 224 * 3];
        float values[2][3];

        g_assert_true (dyno_dataset_decode (dataset, i, size, size,
                                            (gpointer[]){ pixels[0], values[0] }, scratch, NULL));
        g_assert_true (dyno_dataset_decode (again, i, size, size,
                                            (gpointer[]){ pixels[1], values[1] }, scratch, NULL));
        g_assert_cmpmem (pixels[0], size * size * 3, pixels[1], size * size * 3);
        g_assert_cmpmem (values[0], 12, values[1], 12);
      }
  test_folder_remove (folder);
  test_folder_remove (out);
}

/* Without AFLW2000 there is no fixed split, and a note warns of turned copies. */
static void
test_one_of_both (void)
{
  static const double face[4] = { 100, 120, 200, 240 };
  g_autofree char *folder = test_folder_new ();

  put_face (folder, "AFW/AFW_1_0", 30, -10, 5, face, 2, NULL);
  put_face (folder, "AFW/AFW_1_1", 35, -10, 5, face, 2, NULL);
  g_autoptr (DynoDataset) dataset = test_open (folder);
  g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);
  g_autofree char *said = g_strjoinv ("\n", notes);

  g_assert_false (dyno_dataset_get_info (dataset)->has_split);
  g_assert_nonnull (strstr (said, "turned copies of each photograph"));
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/mat/both-orders-as-libmatio", test_both_orders);
  g_test_add_func ("/data/mat/every-numeric-class", test_every_class);
  g_test_add_func ("/data/mat/reads-what-libmatio-writes", test_reads_matio);
  g_test_add_func ("/data/mat/damage-is-never-read-beyond", test_damage);
  g_test_add_func ("/data/mat/shapes-and-kinds-of-arrays", test_shapes);
  g_test_add_func ("/data/mat/bounds-of-a-file", test_bounds_of_a_file);
  g_test_add_func ("/data/300w-lp/protocol-with-aflw2000", test_protocol);
  g_test_add_func ("/data/300w-lp/one-of-both", test_one_of_both);
  g_test_add_func ("/data/300w-lp/packed-set-is-the-same", test_packed_set_is_the_same);
  return g_test_run ();
}
