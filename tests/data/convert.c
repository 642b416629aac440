/* SPDX-License-Identifier: MIT */
/* Packing: the packed data equal the source, and a failure leaves no partial file. */
#include "archive-test.h"
#include "convert.h"
#include "base-error.h"
#include "members.h"
#include "npyfile.h"
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

  dyno_dataset_convert (dataset, path, size, NULL, NULL, NULL, skipped, converted, &error);
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
  g_assert_cmpuint (converted.n_copied, ==, 1); /* this image is not enlarged */
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
  g_autoptr (DynoDataset) again = NULL, values = NULL, values_again = NULL;
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
  test_folder_remove (out);
}

/* The names of values are stored once, whatever the number of samples. */
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

/* On any failure the existing file stays, and no other file is left beside it. */
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

/* --- bit-identical data ----------------------------------------------------------------------- */

/* Compares the axes, sizes, classes, parts and names of values of two data sets, and every field of
 * every sample except the seeds. */
static void
assert_same (DynoDataset *a, DynoDataset *b)
{
  const DynoDatasetInfo *x = dyno_dataset_get_info (a), *y = dyno_dataset_get_info (b);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 *bytes[2][DYNO_SCHEMA_MAX_FIELDS] = { { NULL } };
  guint64 size[DYNO_SCHEMA_MAX_FIELDS];
  const DynoBatchSchema *schemas[] = { &x->schema, &y->schema };
  DynoDataset *const sets[] = { a, b };

  g_assert_cmpuint (x->n_samples, ==, y->n_samples);
  g_assert_cmpuint (x->n_classes, ==, y->n_classes);
  g_assert_cmpint (x->has_split, ==, y->has_split);
  g_assert_cmpuint (x->n_validation, ==, y->n_validation);
  g_assert_cmpuint (x->n_test, ==, y->n_test);
  g_assert_cmpstr (x->axes, ==, y->axes);
  g_assert_cmpuint (x->min_width, ==, y->min_width);
  g_assert_cmpuint (x->max_width, ==, y->max_width);
  for (guint i = 0; i <= x->n_classes && x->n_classes > 0; i++)
    g_assert_cmpstr (x->class_names[i], ==, y->class_names[i]);
  for (guint i = 0; i < x->n_classes; i++)
    g_assert_cmpuint (x->class_counts[i], ==, y->class_counts[i]);
  g_assert_cmpint (x->target_names != NULL, ==, y->target_names != NULL);
  for (guint i = 0; x->target_names && x->target_names[i]; i++)
    {
      g_assert_cmpstr (x->target_names[i], ==, y->target_names[i]);
      g_assert_cmpstr (x->target_units[i], ==, y->target_units[i]);
    }
  g_assert_cmpuint (x->schema.n_fields, ==, y->schema.n_fields);
  for (guint f = 0; f < x->schema.n_fields; f++)
    {
      const DynoBatchField *one = &x->schema.fields[f];
      int other = dyno_schema_find_index (&y->schema, one->role);

      g_assert_cmpint (other, >=, 0);
      g_assert_cmpstr (one->name, ==, y->schema.fields[other].name);
      g_assert_cmpint (one->element, ==, y->schema.fields[other].element);
      g_assert_cmpmem (one->shape, one->n_axes * sizeof one->shape[0],
                       y->schema.fields[other].shape,
                       y->schema.fields[other].n_axes * sizeof one->shape[0]);
      g_assert_cmpstr (one->axes, ==, y->schema.fields[other].axes);
      g_assert_cmpint (one->variable, ==, y->schema.fields[other].variable);
      g_assert_cmpmem (&one->normalisation, sizeof one->normalisation,
                       &y->schema.fields[other].normalisation, sizeof one->normalisation);
      size[one->role] = dyno_field_count (one) * dyno_element_size (one->element);
      for (guint k = 0; k < 2; k++)
        bytes[k][one->role] = g_malloc0 (size[one->role]);
    }
  for (guint64 i = 0; i < x->n_samples; i++)
    {
      for (guint k = 0; k < 2; k++)
        {
          gpointer fields[DYNO_SCHEMA_MAX_FIELDS];
          g_autoptr (GError) error = NULL;

          for (guint f = 0; f < schemas[k]->n_fields; f++)
            {
              fields[f] = bytes[k][schemas[k]->fields[f].role];
              if (schemas[k]->fields[f].role != DYNO_FIELD_SEED)
                memset (fields[f], k ? 0x55 : 0xaa, size[schemas[k]->fields[f].role]);
            }
          dyno_dataset_decode (sets[k], i, x->max_width, x->max_height, fields, scratch, &error);
          g_assert_no_error (error);
        }
      for (guint f = 0; f < x->schema.n_fields; f++)
        {
          DynoFieldRole role = x->schema.fields[f].role;
          g_assert_cmpmem (bytes[0][role], size[role], bytes[1][role], size[role]);
        }
    }
  for (guint f = 0; f < x->schema.n_fields; f++)
    for (guint k = 0; k < 2; k++)
      g_free (bytes[k][x->schema.fields[f].role]);
}

/* Pieces of JPEG files are stored with the whole file, pieces of other files are cropped: each
 * sample is the same, whichever kind was decoded before it into the same buffer. */
static void
test_pieces_of_both_kinds_are_the_same_after (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL, *packed = NULL;
  g_autoptr (GByteArray) tar = g_byte_array_new (), scratch = g_byte_array_new ();
  g_autoptr (GByteArray) jpeg = test_jpeg (40, 30, 50, 50, 50, FALSE);
  g_autoptr (GByteArray) png = test_png (40, 30, 2, 8, FALSE);
  g_autoptr (DynoDataset) dataset = NULL, again = NULL;
  DynoConverted converted;

  for (guint i = 0; i < 80; i++)
    {
      const GByteArray *image = i % 2 ? png : jpeg;
      g_autofree char *name = g_strdup_printf ("%02u.%s", i, i % 2 ? "png" : "jpg"),
                      *json = g_strdup_printf ("%02u.json", i),
                      *text = g_strdup_printf ("{\"values\": [%u], \"source_index\": %u, "
                                               "\"crop_xywh\": [16, 5, 8, 6]}",
                                               i, i);

      test_tar_add (tar, name, '0', image->data, image->len);
      test_tar_add (tar, json, '0', text, strlen (text));
    }
  test_tar_end (tar);
  path = test_write (folder, "pieces.tar", tar->data, tar->len);
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 80);
  packed = pack (dataset, folder, 0, &converted, NULL);
  g_assert_cmpuint (converted.n_copied, ==, 40);
  again = test_open (packed);
  for (guint i = 0; i < 80; i++)
    {
      guint8 before[8 * 6 * 3], after[8 * 6 * 3];
      float value;

      g_assert_true (
          dyno_dataset_decode (dataset, i, 8, 6, (gpointer[]){ before, &value }, scratch, NULL));
      g_assert_true (
          dyno_dataset_decode (again, i, 8, 6, (gpointer[]){ after, &value }, scratch, NULL));
      g_assert_cmpfloat (value, ==, i);
      g_assert_cmpmem (before, sizeof before, after, sizeof after);
    }
  test_folder_remove (folder);
}

static DynoDataset *
open_for_sequences (const char *location)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (location, &(DynoDatasetParams){ .sequences = TRUE },
                                            NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return dataset;
}

/* Class names in an order of their own, one channel, an unusual normalisation. */
static void
test_drawn_is_the_same_to_the_bit (void)
{
  static const char *const locations[] = {
    "builtin:waves?samples=24&length=40&channels=2&classes=4",
    "builtin:shapes?size=16&samples=40&classes=6", "builtin:poses?size=16&samples=12"
  };
  g_autofree char *out = test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (locations); i++)
    {
      g_autoptr (DynoDataset) dataset = test_open (locations[i]), again = NULL;
      g_autofree char *path = NULL;
      DynoConverted converted;

      path = pack (dataset, out, 0, &converted, NULL);
      again = test_open (path);
      g_assert_cmpstr (dyno_dataset_get_info (again)->kind, ==,
                       i == 0 ? "packed-arrays" : "webdataset");
      assert_same (dataset, again);
    }
  test_folder_remove (out);
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

/* An array of (N, T, F) is images of one channel for one model and sequences for another, before
 * and after packing. */
static void
test_arrays_are_the_same_to_the_bit (void)
{
  const struct {
    const char *type;
    guint n_dims;
    guint64 shape[4];
    gboolean values;
    const char *kind;
  } cases[] = { { "f4", 3, { 6, 5, 4 }, TRUE, "packed-arrays" },
                { "f4", 3, { 6, 5, 4 }, FALSE, "packed-arrays" },
                { "f8", 2, { 6, 20 }, TRUE, "packed-arrays" },
                { "f4", 4, { 6, 3, 5, 7 }, FALSE, "packed-arrays" },
                { "u1", 4, { 6, 5, 4, 2 }, FALSE, "packed-arrays" },
                { "u1", 3, { 6, 5, 4 }, FALSE, "webdataset" },
                { "u1", 4, { 6, 5, 4, 3 }, TRUE, "webdataset" } };
  static const gint64 labels[6] = { 2, 0, 1, 0, 2, 4 }; /* class 3 has no sample */
  static const float targets[12] = { 0.1f, -0.0f, 2, 1e-30f, 4, 5, 6, 7, 8, 9, 10, 11 };
  guint8 bytes[6 * 3 * 5 * 7 * 8];

  for (guint i = 0; i < sizeof bytes; i++)
    bytes[i] = (guint8) (i * 37 % 61); /* every float of these bytes is finite, whatever its size */
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint sequences = 0; sequences < 2; sequences++)
      {
        g_autofree char *folder = test_folder_new (), *out = test_folder_new (), *path = NULL;
        g_autofree char *x =
            put_array (folder, "X.npy", cases[i].type, cases[i].n_dims, cases[i].shape, bytes);
        g_free (cases[i].values ? put_array (folder, "y.npy", "f4", 2, (guint64[]){ 6, 2 }, targets)
                                : put_array (folder, "y.npy", "i8", 1, (guint64[]){ 6 }, labels));
        g_autoptr (DynoDataset) plain = NULL, dataset = NULL, again = NULL;
        DynoConverted converted;

        if (cases[i].values)
          g_free (test_write (folder, "y.names", "yaw (degrees)\npitch\n", 20));
        plain = test_open (x);
        path = pack (plain, out, 0, &converted, NULL);
        g_assert_cmpuint (converted.n_written, ==, 6);
        dataset = sequences ? open_for_sequences (x) : test_open (x);
        again = sequences ? open_for_sequences (path) : test_open (path);
        g_assert_cmpstr (dyno_dataset_get_info (again)->kind, ==, cases[i].kind);
        if (g_str_equal (cases[i].kind, "packed-arrays"))
          assert_same (dataset, again);
        else
          {
            /* a packed image does not record the axes of its array */
            ((DynoDatasetInfo *) dyno_dataset_get_info (dataset))->axes = NULL;
            assert_same (dataset, again);
          }
        test_folder_remove (folder);
        test_folder_remove (out);
      }
}

/* Sequences with a list: each keeps its length, its class by name, and its part. */
static void
test_sequences_keep_lengths_and_parts (void)
{
  g_autofree char *folder = test_folder_new (), *out = test_folder_new (), *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL, again = NULL;
  DynoConverted converted;
  float numbers[40];

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    numbers[i] = (float) i / 3;
  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *part = g_build_filename (folder, i % 4 == 0 ? "val" : "train", NULL),
                      *class = g_build_filename (part, i % 2 ? "walk" : "run", NULL),
                      *name = g_strdup_printf ("%02u.npy", i);
      g_assert_cmpint (g_mkdir_with_parents (class, 0755), ==, 0);
      g_free (put_array (class, name, "f4", 2, (guint64[]){ 3 + i, 2 }, numbers));
    }
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_validation, ==, 3);
  path = pack (dataset, out, 0, &converted, NULL);
  again = test_open (path);
  assert_same (dataset, again);
  test_folder_remove (folder);
  test_folder_remove (out);
}

static void
append_member (GByteArray *tar, const char *name, gconstpointer data, gsize size)
{
  static const guint8 zeros[512];
  guint8 header[512];

  dyno_tar_make_header (header, name, size);
  g_byte_array_append (tar, header, sizeof header);
  g_byte_array_append (tar, data, (guint) size);
  g_byte_array_append (tar, zeros, (guint) ((512 - size % 512) % 512));
}

/* Writes a shard of two samples of (steps, 2) floats, the first of which describes both. */
static char *
put_shard (const char *folder, const char *description, const char *type, guint64 steps, float last)
{
  g_autoptr (GByteArray) tar = g_byte_array_new ();
  static const guint8 end[1024];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GByteArray) array = g_byte_array_new ();
      g_autofree char *name = g_strdup_printf ("%u.npy", i), *text = g_strdup_printf ("%u.json", i),
                      *json = g_strdup_printf ("{\"label\": \"%u\"%s, \"source_index\": %u}", i,
                                               i == 0 ? description : "", i);
      /* room for 16 items of 8 bytes, if the type has that size */
      const float numbers[32] = { 1, 2, 3, 4, 5, 6, last, last };

      g_assert_cmpuint (steps * 2, <=, G_N_ELEMENTS (numbers) / 2);
      dyno_npy_append (array, type, 2, (guint64[]){ steps, 2 }, numbers);
      append_member (tar, name, array->data, array->len);
      append_member (tar, text, json, strlen (json));
    }
  g_byte_array_append (tar, end, sizeof end);
  return test_write (folder, "shard.tar", tar->data, tar->len);
}

#define DESCRIBED(input, shape, rest)                                            \
  ", \"input\": \"" input "\", \"input_shape\": [" shape "], \"input_pad\": 0, " \
  "\"normalisation\": [" rest ", 0, 0, 0, 0, 1, 1, 1, 1], \"sizes\": [1, 4, 1, 1]"

/* False entries of a description are detected, and so are samples that differ from it. */
static void
test_descriptions_are_checked (void)
{
  static const char good[] = DESCRIBED ("sequence float32 TF variable", "4, 2", "0, 0");
  static const char *const bad[] = {
    "",
    DESCRIBED ("sequence float32 TF variable", "4", "0, 0"),
    DESCRIBED ("sequence float32 TF variable", "4, 0", "0, 0"),
    DESCRIBED ("sequence float32 TF variable", "4, 2, 1", "0, 0"),
    DESCRIBED ("sequence float32 TF variable", "100000, 100000", "0, 0"),
    DESCRIBED ("sequence float32 TF variable", "4.5, 2", "0, 0"),
    DESCRIBED ("sequence float32 TF fixed", "4, 2", "0, 0"),
    DESCRIBED ("sequence float16 TF variable", "4, 2", "0, 0"),
    DESCRIBED ("sequence float32 CTF variable", "4, 2", "0, 0"),
    DESCRIBED ("noise float32 TF variable", "4, 2", "0, 0"),
    DESCRIBED ("sequence float32 TF variable", "4, 2", "0"),
    ", \"input\": 5",
  };
  const struct {
    const char *type;
    guint64 steps;
    float last;
    gboolean good;
  } samples[] = { { "f4", 4, 1, TRUE },   { "f4", 1, 1, TRUE },  { "f4", 5, 1, FALSE },
                  { "u1", 4, 1, FALSE },  { "f8", 2, 1, FALSE }, { "f4", 0, 1, FALSE },
                  { "f4", 4, NAN, FALSE } };
  g_autofree char *folder = test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autofree char *path = put_shard (folder, bad[i], "f4", 4, 1);
      test_open_fails (path, DYNO_DATA_ERROR_UNSUPPORTED,
                       "shard.tar|not described|dynoctl convert");
    }
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *path =
          put_shard (folder, good, samples[i].type, samples[i].steps, samples[i].last);
      g_autoptr (DynoDataset) dataset = test_open (path);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      g_autoptr (GError) error = NULL;
      float input[8];
      gint32 label, length;

      g_assert_cmpint (dyno_dataset_decode (dataset, 1, 4, 1,
                                            (gpointer[]){ input, &label, &length }, scratch,
                                            &error),
                       ==, samples[i].good);
      if (!samples[i].good)
        {
          g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
          test_has_words (error, "1.npy");
          continue;
        }
      g_assert_cmpint (length, ==, (gint32) samples[i].steps);
      g_assert_cmpfloat (input[7], ==, samples[i].steps == 4 ? 1 : 0);
      g_assert_cmpint (label, ==, 1);
    }
  test_folder_remove (folder);
}

static void
test_cannot_be_kept (void)
{
  g_autofree char *out = test_folder_new (), *path = g_build_filename (out, "packed.tar", NULL);
  g_autofree char *folder = test_folder_new ();
  /* the names of 10,000 classes take 48,890 bytes, and four of the classes have samples */
  static const gint64 labels[4] = { 0, 1, 9999, 5 };
  static const float numbers[8] = { 0 };
  g_autofree char *x = put_array (folder, "X.npy", "f4", 2, (guint64[]){ 4, 2 }, numbers);
  g_free (put_array (folder, "y.npy", "i8", 1, (guint64[]){ 4 }, labels));
  g_autoptr (DynoDataset) noise = test_open ("synthetic:8x8x3?samples=20"),
                          waves = test_open ("builtin:waves?samples=20"), many = test_open (x),
                          masks = test_open ("builtin:masks?size=16&samples=4");
  DynoConverted converted;
  const struct {
    DynoDataset *dataset;
    guint32 size;
    const char *words;
  } cases[] = { { noise, 0, "synthetic|nothing to pack" },
                { waves, 16, "waves|a fixed size" },
                { masks, 0, "masks|does not keep|train with" },
                { many, 0, "classes|too long together|rename" } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_dataset_convert (cases[i].dataset, path, cases[i].size, NULL, NULL, NULL,
                                            NULL, &converted, &error));
      g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
      test_has_words (error, cases[i].words);
      g_assert_cmpuint (count_files (out), ==, 0);
    }
  test_folder_remove (folder);
  test_folder_remove (out);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/convert/pieces-of-both-kinds-are-the-same-after",
                   test_pieces_of_both_kinds_are_the_same_after);
  g_test_add_func ("/data/convert/folder-with-parts-is-the-same-after",
                   test_folder_with_parts_is_the_same_after);
  g_test_add_func ("/data/convert/scales-the-shorter-side", test_scales_the_shorter_side);
  g_test_add_func ("/data/convert/drawn-images-and-values", test_drawn_and_values);
  g_test_add_func ("/data/convert/names-of-values-once", test_names_of_values_are_kept_once);
  g_test_add_func ("/data/convert/unreadable-samples-are-skipped",
                   test_samples_that_cannot_be_read_are_skipped);
  g_test_add_func ("/data/convert/failure-leaves-what-was-there",
                   test_failure_leaves_what_was_there);
  g_test_add_func ("/data/convert/drawn-is-the-same-to-the-bit", test_drawn_is_the_same_to_the_bit);
  g_test_add_func ("/data/convert/arrays-are-the-same-to-the-bit",
                   test_arrays_are_the_same_to_the_bit);
  g_test_add_func ("/data/convert/sequences-keep-lengths-and-parts",
                   test_sequences_keep_lengths_and_parts);
  g_test_add_func ("/data/convert/descriptions-are-checked", test_descriptions_are_checked);
  g_test_add_func ("/data/convert/what-cannot-be-kept-is-refused", test_cannot_be_kept);
  return g_test_run ();
}
