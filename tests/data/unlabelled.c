/* SPDX-License-Identifier: MIT */
/* Arrays and sequences without labels, as input of predictions. */
#include "archive-test.h"
#include "data-test.h"
#include "image.h"
#include "npyfile.h"
#include "schema.h"
#include <string.h>

static const DynoBatchField image_3_2 = { .name = "image",
                                          .role = DYNO_FIELD_INPUT,
                                          .element = DYNO_ELEMENT_F32,
                                          .n_axes = 3,
                                          .shape = { 3, 2, 1 },
                                          .axes = "HWC" },
                            grey_8_8 = { .name = "image",
                                         .role = DYNO_FIELD_INPUT,
                                         .element = DYNO_ELEMENT_U8,
                                         .n_axes = 3,
                                         .shape = { 8, 8, 1 },
                                         .axes = "HWC" },
                            steps_9_2 = { .name = "sequence",
                                          .role = DYNO_FIELD_INPUT,
                                          .element = DYNO_ELEMENT_F32,
                                          .n_axes = 2,
                                          .shape = { 9, 2 },
                                          .axes = "TF",
                                          .variable = TRUE };

/* Floats first, first + 1, ... */
static char *
put (const char *folder, const char *name, float first, guint n_dims, const guint64 *shape)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  float data[256];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (data); i++)
    data[i] = first + (float) i;
  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  dyno_npy_write (path, "f4", n_dims, shape, data, &error);
  g_assert_no_error (error);
  return path;
}

static DynoDataset *
open_as (const DynoBatchField *wanted, const char *const *paths)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset =
      dyno_dataset_open_unlabelled (paths, wanted, NULL, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 0);
  g_assert_null (
      dyno_schema_find_role (&dyno_dataset_get_info (dataset)->schema, DYNO_FIELD_TARGET));
  return dataset;
}

static void
fails_as (const DynoBatchField *wanted, const char *const *paths, const char *words)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (dyno_dataset_open_unlabelled (paths, wanted, NULL, NULL, NULL, NULL, &error));
  test_has_words (error, words);
}

/* The first value of a sample, and its name. */
static void
check_sample (DynoDataset *dataset, guint64 index, float first, const char *name)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autofree char *shown = dyno_dataset_describe_sample (dataset, index);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  float out[256];

  g_assert_true (dyno_dataset_decode (dataset, index, info->max_width, info->max_height,
                                      (gpointer[]){ out }, scratch, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (out[0], ==, first);
  g_assert_cmpfloat (out[1], ==, first + 1);
  if (name[0] == '#')
    g_assert_cmpstr (shown, ==, name);
  else
    g_assert_true (g_str_has_suffix (shown, name));
}

/* For a single X.npy the first axis counts samples; targets beside it are ignored. */
static void
test_array_alone (void)
{
  g_autofree char *folder = test_folder_new (),
                  *x = put (folder, "Z.npy", 5, 3, (guint64[]){ 4, 3, 2 }),
                  *y G_GNUC_UNUSED = test_write (folder, "y.npy", "broken", 6);
  g_autoptr (DynoDataset) dataset = open_as (&image_3_2, (const char *const[]){ x, NULL }),
                          unknown = NULL;
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  g_assert_cmpuint (info->n_samples, ==, 4);
  g_assert_cmpuint (info->schema.n_fields, ==, 1);
  g_assert_cmpuint (info->max_height, ==, 3);
  check_sample (dataset, 0, 5, "#0");
  check_sample (dataset, 3, 5 + 18, "#3");
  unknown = open_as (NULL, (const char *const[]){ x, NULL });
  g_assert_cmpuint (dyno_dataset_get_info (unknown)->n_samples, ==, 4);
  test_folder_remove (folder);
}

/* Files, folders and archives in their order, each with one sample or many; those of another shape
 * are listed. */
static void
test_arrays_of_many_files (void)
{
  g_autofree char *folder = test_folder_new (),
                  *many = put (folder, "many.npy", 100, 3, (guint64[]){ 2, 3, 2 }),
                  *one G_GNUC_UNUSED = put (folder, "in/one.npy", 5, 2, (guint64[]){ 3, 2 }),
                  *two G_GNUC_UNUSED = put (folder, "in/deep/two.npy", 7, 2, (guint64[]){ 3, 2 }),
                  *odd G_GNUC_UNUSED = put (folder, "in/odd.npy", 7, 2, (guint64[]){ 4, 2 }),
                  *y G_GNUC_UNUSED = put (folder, "in/y.npy", 0, 1, (guint64[]){ 2 }),
                  *in = g_build_filename (folder, "in", NULL),
                  *gone = g_build_filename (folder, "gone.npy", NULL);
  g_autoptr (DynoDataset) dataset =
      open_as (&image_3_2, (const char *const[]){ gone, many, in, NULL });

  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 4);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 2);
  g_assert_false (dyno_dataset_get_info (dataset)->has_split);
  check_sample (dataset, 1, 106, "many.npy #1");
  check_sample (dataset, 2, 7, "in/deep/two.npy");
  check_sample (dataset, 3, 5, "in/one.npy");
  fails_as (&image_3_2, (const char *const[]){ gone, NULL }, "gone.npy");
  test_folder_remove (folder);
}

/* There are more files than are kept open; a file that is removed meanwhile is an error of its
 * sample. */
static void
test_very_many_files (void)
{
  g_autofree char *folder = test_folder_new (), *last = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  float out[6];

  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *name = g_strdup_printf ("%03u.npy", i);
      g_free (last);
      last = put (folder, name, (float) i, 2, (guint64[]){ 3, 2 });
    }
  g_autoptr (DynoDataset) dataset = open_as (&image_3_2, (const char *const[]){ folder, NULL });
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 100);
  check_sample (dataset, 0, 0, "000.npy");
  check_sample (dataset, 77, 77, "077.npy");
  g_assert_cmpint (g_unlink (last), ==, 0);
  g_assert_false (dyno_dataset_decode (dataset, 99, 2, 3, (gpointer[]){ out }, scratch, &error));
  test_has_words (error, "099.npy");
  test_folder_remove (folder);
}

static char *
put_archive (const char *folder, const char *const *names)
{
  TestZip zip;
  char *path;

  test_zip_init (&zip);
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *npy = put (folder, "part", (float) (10 * i), 3, (guint64[]){ 2, 3, 2 }),
                      *bytes = NULL;
      gsize size;

      g_assert_true (g_file_get_contents (npy, &bytes, &size, NULL));
      test_zip_add (&zip, names[i], FALSE, TRUE, bytes, size);
      g_unlink (npy);
    }
  test_zip_end (&zip, FALSE);
  path = test_write (folder, "data.npz", zip.bytes->data, zip.bytes->len);
  test_zip_clear (&zip);
  return path;
}

/* Archives of X only, of the parts of a training archive, of one array, or of one array with a
 * known name are read; two unknown names are refused. */
static void
test_archives (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL;
  static const struct {
    const char *const names[5];
    guint n;
  } cases[] = {
    { { "X.npy" }, 2 },
    { { "x_train.npy", "x_test.npy" }, 4 },
    { { "pictures.npy" }, 2 },
    { { "z.npy", "images.npy" }, 2 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_free (path);
      path = put_archive (folder, cases[i].names);
      g_autoptr (DynoDataset) dataset = open_as (&image_3_2, (const char *const[]){ path, NULL });
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, cases[i].n);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 0);
    }
  g_free (path);
  path = put_archive (folder, (const char *const[]){ "a.npy", "b.npy", NULL });
  fails_as (&image_3_2, (const char *const[]){ path, NULL }, "no array X|a.npy|(2, 3, 2)");
  test_folder_remove (folder);
}

static void
check_sequence (DynoDataset *dataset, guint64 index, gint32 steps, float first, const char *name)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autofree char *shown = dyno_dataset_describe_sample (dataset, index);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  float out[64];
  gint32 length;

  dyno_dataset_decode (dataset, index, info->max_width, 1, (gpointer[]){ out, &length }, scratch,
                       &error);
  g_assert_no_error (error);
  g_assert_cmpint (length, ==, steps);
  for (gint32 i = 0; i < 2 * (gint32) info->max_width; i++)
    g_assert_cmpfloat (out[i], ==, i < 2 * steps ? first + (float) i : 0);
  g_assert_true (g_str_has_suffix (shown, name));
}

/* Folders and files; sequences are as long as the weights require, or as the longest one. */
static void
test_sequences (void)
{
  g_autofree char *folder = test_folder_new (),
                  *a G_GNUC_UNUSED = put (folder, "in/a.npy", 1, 2, (guint64[]){ 5, 2 }),
                  *b = put (folder, "in/sub/b.npy", 2, 2, (guint64[]){ 3, 2 }),
                  *c = put (folder, "c.npy", 3, 2, (guint64[]){ 11, 2 }),
                  *odd G_GNUC_UNUSED = put (folder, "in/odd.npy", 4, 2, (guint64[]){ 3, 3 }),
                  *y G_GNUC_UNUSED = put (folder, "in/y.npy", 0, 1, (guint64[]){ 2 }),
                  *in = g_build_filename (folder, "in", NULL),
                  *cube = put (folder, "cube.npy", 4, 3, (guint64[]){ 3, 3, 2 });
  g_autoptr (DynoDataset) dataset = open_as (&steps_9_2, (const char *const[]){ in, NULL }),
                          longer = open_as (&steps_9_2, (const char *const[]){ b, c, NULL }),
                          unknown = open_as (NULL, (const char *const[]){ in, NULL });

  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 1);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->max_width, ==, 9);
  check_sequence (dataset, 0, 5, 1, "in/a.npy");
  check_sequence (dataset, 1, 3, 2, "in/sub/b.npy");
  g_assert_cmpuint (dyno_dataset_get_info (longer)->max_width, ==, 11);
  check_sequence (longer, 0, 3, 2, "in/sub/b.npy");
  check_sequence (longer, 1, 11, 3, "c.npy");
  g_assert_cmpuint (dyno_dataset_get_info (unknown)->max_width, ==, 5);
  fails_as (&steps_9_2, (const char *const[]){ cube, NULL }, "cube.npy|3 dimensions|(steps");
  test_folder_remove (folder);
}

/* For weights of one channel: 77 x 0.299 + 150 x 0.587 + 29 x 0.114 = 114.4; grey stays. */
static void
test_images_as_luma (void)
{
  g_autofree char *folder = test_folder_new (), *colour = NULL, *grey = NULL;
  g_autoptr (GByteArray) file = g_byte_array_new (), scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[16 * 3], out[16 * 3];

  for (guint i = 0; i < 16; i++)
    memcpy (pixels + 3 * i, (guint8[]){ 77, 150, 29 }, 3);
  g_assert_true (dyno_image_encode_png (pixels, 4, 4, 3, file, NULL));
  colour = test_write (folder, "colour.png", file->data, file->len);
  memset (pixels, 201, 16);
  g_assert_true (dyno_image_encode_png (pixels, 4, 4, 1, file, NULL));
  grey = test_write (folder, "grey.png", file->data, file->len);
  for (guint luma = 0; luma < 2; luma++)
    {
      g_autoptr (DynoDataset) dataset =
          open_as (luma ? &grey_8_8 : NULL, (const char *const[]){ colour, grey, NULL });

      g_assert_cmpuint (dyno_schema_count_channels (&dyno_dataset_get_info (dataset)->schema), ==,
                        luma ? 1 : 3);
      g_assert_cmpint (dyno_dataset_get_info (dataset)->luma, ==, (gboolean) luma);
      dyno_dataset_decode (dataset, 0, 4, 4, (gpointer[]){ out }, scratch, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (out[0], ==, luma ? 114 : 77);
      g_assert_cmpuint (out[15], ==, luma ? 114 : 77);
      dyno_dataset_decode (dataset, 1, 4, 4, (gpointer[]){ out }, scratch, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (out[0], ==, 201);
    }
  test_folder_remove (folder);
}

static void
check_luma (DynoDataset *dataset, guint32 side, guint64 n_samples)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 out[256] = { 0 };
  gint32 label;

  g_assert_true (info->luma && !info->croppable);
  g_assert_cmpuint (dyno_schema_count_channels (&info->schema), ==, 1);
  g_assert_cmpuint (info->n_samples, ==, n_samples);
  for (guint64 i = 0; i < n_samples; i++)
    {
      dyno_dataset_decode (dataset, i, side, side, (gpointer[]){ out, &label, NULL }, scratch,
                           &error);
      g_assert_no_error (error);
      for (guint k = 0; k < side * side; k++)
        g_assert_cmpuint (out[k], ==, 114);
      g_assert_cmpuint (out[side * side], ==, 0);
    }
}

/* Arrays of bytes, with channels last and first, and a single sample; arrays of floats are no
 * images, and three planes are three samples of one channel. */
static void
test_arrays_as_luma (void)
{
  static const guint64 last[] = { 2, 8, 8, 3 }, first[] = { 2, 3, 8, 8 }, one[] = { 8, 8, 3 },
                       few[] = { 2, 4, 4, 3 };
  const struct {
    const guint64 *shape;
    guint n_dims, n_samples;
  } rows[] = { { last, 4, 2 }, { first, 4, 2 }, { one, 3, 1 } };
  g_autofree char *folder = test_folder_new (), *path = g_build_filename (folder, "x.npy", NULL),
                  *floats = put (folder, "f.npy", 0, 4, few);
  static const guint8 colour[] = { 77, 150, 29 }, planes[192];
  DynoBatchField wide = grey_8_8;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      guint8 pixels[384];

      for (guint k = 0; k < sizeof pixels; k++)
        pixels[k] = colour[rows[i].shape == first ? k / 64 % 3 : k % 3];
      g_assert_true (dyno_npy_write (path, "u1", rows[i].n_dims, rows[i].shape, pixels, NULL));
      g_autoptr (DynoDataset) dataset = open_as (&grey_8_8, (const char *const[]){ path, NULL });
      check_luma (dataset, 8, rows[i].n_samples);
    }
  g_autoptr (DynoDataset) dataset = open_as (&grey_8_8, (const char *const[]){ floats, NULL });
  g_assert_false (dyno_dataset_get_info (dataset)->luma);
  g_assert_true (dyno_npy_write (path, "u1", 3, (const guint64[]){ 3, 8, 8 }, planes, NULL));
  g_autoptr (DynoDataset) three = open_as (&grey_8_8, (const char *const[]){ path, NULL });
  g_assert_false (dyno_dataset_get_info (three)->luma);
  g_assert_cmpuint (dyno_dataset_get_info (three)->n_samples, ==, 3);
  wide.shape[0] = 6;
  wide.shape[1] = 10;
  g_assert_true (dyno_npy_write (path, "u1", 3, (const guint64[]){ 6, 10, 3 }, planes, NULL));
  g_autoptr (DynoDataset) single = open_as (&wide, (const char *const[]){ path, NULL });
  g_assert_true (dyno_dataset_get_info (single)->luma);
  g_assert_cmpuint (dyno_dataset_get_info (single)->n_samples, ==, 1);
  test_folder_remove (folder);
}

/* A data set with labels, which stay with their samples. */
static void
test_labelled_as_luma (void)
{
  const DynoDatasetParams params = { .wanted = &grey_8_8 };
  g_autofree char *folder = test_folder_new (), *a = NULL, *b = NULL;
  g_autoptr (GByteArray) file = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[16 * 3];

  for (guint i = 0; i < 16; i++)
    memcpy (pixels + 3 * i, (guint8[]){ 77, 150, 29 }, 3);
  g_assert_true (dyno_image_encode_png (pixels, 4, 4, 3, file, NULL));
  a = test_write (folder, "a/1.png", file->data, file->len);
  b = test_write (folder, "b/1.png", file->data, file->len);
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (folder, &params, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  check_luma (dataset, 4, 2);
  g_assert_cmpint (dyno_dataset_get_label (dataset, 1), ==, 1);
  test_folder_remove (folder);
}

/* Paths that do not exist are counted, and listed up to a limit; the first that exists decides on
 * the kind, also where it is the last. */
static void
test_missing_paths (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *x = put (folder, "a.npy", 5, 3, (guint64[]){ 2, 2, 3 });
  const char *paths[] = { "/missing/1.png", "/missing/2.png", "/missing/3.png", x, NULL };
  DynoDatasetParams params = { 0 };

  for (guint most = 1; most <= 4; most++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = NULL;

      params.max_listed = most;
      dataset = dyno_dataset_open_unlabelled (paths, &image_3_2, &params, NULL, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 3);
      g_assert_cmpuint (g_strv_length ((char **) dyno_dataset_get_unreadable (dataset)), ==,
                        MIN (most, 3));
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
      check_sample (dataset, 1, 11, "");
    }
  paths[3] = NULL;
  {
    g_autoptr (GError) error = NULL;

    g_assert_null (
        dyno_dataset_open_unlabelled (paths, &image_3_2, NULL, NULL, NULL, NULL, &error));
    g_assert_nonnull (error);
  }
  test_folder_remove (folder);
}

/* Folders are searched to a depth of 64, the given one included. */
static void
test_deep_folders (void)
{
  g_autofree char *folder = test_folder_new (), *above = test_folder_new (),
                  *first = put (above, "first.npy", 0, 3, (guint64[]){ 2, 3, 2 });
  g_autoptr (GString) deep = g_string_new ("a.npy");

  for (guint depth = 1; depth <= 65; depth++)
    {
      g_autofree char *x = NULL;
      g_autoptr (DynoDataset) dataset = NULL;

      if (depth >= 63)
        {
          x = put (folder, deep->str, (float) depth, 2, (guint64[]){ 3, 2 });
          dataset = open_as (&image_3_2, (const char *[]){ first, folder, NULL });
          g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, MIN (depth, 64) - 60);
          g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, depth > 64);
        }
      g_string_prepend (deep, "d/");
    }
  test_folder_remove (folder);
  test_folder_remove (above);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/unlabelled/array-alone", test_array_alone);
  g_test_add_func ("/data/unlabelled/arrays-of-many-files", test_arrays_of_many_files);
  g_test_add_func ("/data/unlabelled/very-many-files", test_very_many_files);
  g_test_add_func ("/data/unlabelled/archives", test_archives);
  g_test_add_func ("/data/unlabelled/sequences", test_sequences);
  g_test_add_func ("/data/unlabelled/images-as-luma", test_images_as_luma);
  g_test_add_func ("/data/unlabelled/arrays-as-luma", test_arrays_as_luma);
  g_test_add_func ("/data/unlabelled/labelled-as-luma", test_labelled_as_luma);
  g_test_add_func ("/data/unlabelled/missing-paths", test_missing_paths);
  g_test_add_func ("/data/unlabelled/deep-folders", test_deep_folders);
  return g_test_run ();
}
