/* SPDX-License-Identifier: MIT */
/* WebDataset shards: samples of members that share a name, all forms of labels, and missing
 * members. */
#include "archive-test.h"
#include <string.h>

static void
add_image (GByteArray *tar, const char *name, guint8 red)
{
  g_autoptr (GByteArray) jpeg = test_jpeg (40, 30, red, 50, 50, FALSE);
  test_tar_add (tar, name, '0', jpeg->data, jpeg->len);
}

static void
add_text (GByteArray *tar, const char *name, const char *text)
{
  test_tar_add (tar, name, '0', text, strlen (text));
}

static char *
put (const char *folder, const char *name, GByteArray *tar)
{
  char *path;

  test_tar_end (tar);
  path = test_write (folder, name, tar->data, tar->len);
  g_byte_array_unref (tar);
  return path;
}

/* A shard of n samples of class i % 2, with the image before or after its label. */
static char *
put_shard (const char *folder, const char *name, guint n, guint first)
{
  GByteArray *tar = g_byte_array_new ();

  for (guint i = first; i < first + n; i++)
    {
      g_autofree char *image = g_strdup_printf ("%04u.jpg", i);
      g_autofree char *label = g_strdup_printf ("%04u.cls", i);

      if (i % 3 == 0)
        add_text (tar, label, i % 2 ? "1" : "0\n");
      add_image (tar, image, (guint8) (10 * i));
      if (i % 3 != 0)
        add_text (tar, label, i % 2 ? "1" : "0\n");
    }
  return put (folder, name, tar);
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
assert_red (DynoDataset *dataset, guint64 index, int red)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[8 * 8 * 3];
  gint32 label;

  dyno_dataset_decode (dataset, index, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error);
  g_assert_no_error (error);
  g_assert_cmpint (ABS (pixels[3 * 7] - red), <=, 4);
  g_assert_cmpint (label, ==, dyno_dataset_get_label (dataset, index));
}

static void
test_one_shard_folder_and_pattern (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *one = put_shard (folder, "s-08.tar", 5, 0);
  g_autofree char *pattern = g_build_filename (folder, "s-{08..10}.tar", NULL);
  g_autofree char *missing = g_build_filename (folder, "s-{08..11}.tar", NULL);
  const char *const ways[] = { one, folder, pattern };
  const guint counts[] = { 5, 15, 15 };

  g_free (put_shard (folder, "s-09.tar", 5, 5));
  g_free (put_shard (folder, "s-10.tar", 5, 10));
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autoptr (DynoDataset) dataset = test_open (ways[i]);
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
      g_autofree char *name = dyno_dataset_describe_sample (dataset, counts[i] - 1);

      g_assert_cmpstr (info->kind, ==, "webdataset");
      g_assert_cmpuint (info->n_samples, ==, counts[i]);
      g_assert_cmpuint (info->n_classes, ==, 2);
      g_assert_cmpuint (info->n_unreadable, ==, 0);
      g_assert_cmpstr (name, ==, i == 0 ? "0004.jpg" : "s-10.tar: 0014.jpg");
      for (guint s = 0; s < counts[i]; s++)
        {
          g_assert_cmpint (dyno_dataset_get_label (dataset, s), ==, s % 2);
          assert_red (dataset, s, (int) (10 * s));
        }
    }
  test_open_fails (missing, DYNO_DATA_ERROR_NOT_FOUND, "s-11.tar");
  test_folder_remove (folder);
}

static void
test_labels_in_all_their_forms (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;
  GByteArray *tar = g_byte_array_new ();
  static const char *const classes[] = { "cat", "dog", "cat", "dog", "cat" };

  add_image (tar, "x/a.b.jpg", 0);
  add_text (tar, "x/a.cls", "cat");
  add_text (tar, "y/a.json", "{\"label\": \"dog\", \"box\": [1, 2]}");
  add_image (tar, "y/a.PNG", 0);
  add_text (tar, "c.txt", " cat \n");
  add_image (tar, "c.jpeg", 0);
  add_text (tar, "d.txt", "a caption of several words");
  add_text (tar, "d.json", "{\"class\": \"dog\", \"split\": \"val\"}");
  add_image (tar, "d.jpg", 0);
  add_image (tar, "d.seg.png", 0);
  add_text (tar, "e.json", "{\"label\": \"dog\"}");
  add_text (tar, "e.cls", "cat");
  add_image (tar, "e.jpg", 0);
  /* the name ends at its first dot, so a.b.jpg is no image of a */
  add_image (tar, "x2.jpg", 0);
  add_text (tar, "x2.cls", "cat");
  path = put (folder, "x", tar);
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 5);
  g_assert_true (is_listed (dataset, "x: x/a: the sample has no image"));
  for (guint i = 0; i < 4; i++)
    g_assert_cmpstr (
        dyno_dataset_get_info (dataset)->class_names[dyno_dataset_get_label (dataset, i)], ==,
        classes[i + 1]);
  dyno_dataset_split (dataset, 0, 1, &train, &validation);
  g_assert_cmpuint (validation->len, ==, 1);
  g_assert_cmpuint (g_array_index (validation, guint32, 0), ==, 2);
  test_folder_remove (folder);
}

static void
test_values (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  GByteArray *tar = g_byte_array_new ();

  for (guint i = 0; i < 4; i++)
    {
      static const char *const texts[] = { "{\"values\": [1, -2.5]}", "{\"values\": [1]}",
                                           "{\"label\": \"x\"}", "{\"values\": [3, 4e1]}" };
      g_autofree char *image = g_strdup_printf ("%u.jpg", i);
      g_autofree char *label = g_strdup_printf ("%u.json", i);

      add_image (tar, image, 0);
      add_text (tar, label, texts[i]);
    }
  path = put (folder, "v.tar", tar);
  dataset = test_open (path);
  g_assert_cmpuint (dyno_schema_count_values (&dyno_dataset_get_info (dataset)->schema), ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_true (is_listed (dataset, "v.tar: 1: it has another number of values"));
  g_assert_true (is_listed (dataset, "v.tar: 2: its target is of another kind"));
  g_assert_cmpfloat (dyno_dataset_get_values (dataset, 0)[1], ==, -2.5f);
  g_assert_cmpfloat (dyno_dataset_get_values (dataset, 1)[1], ==, 40);
  test_folder_remove (folder);
}

static void
test_parts_by_the_shards_names (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *other = test_folder_new ();
  const char *const folders[] = { folder, other };

  g_free (put_shard (folder, "set-train-000.tar", 6, 0));
  g_free (put_shard (folder, "set-val-000.tar", 4, 6));
  g_free (put_shard (other, "train/0.tar", 6, 0));
  g_free (put_shard (other, "validation/0.tar", 4, 6));
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autoptr (DynoDataset) dataset = test_open (folders[i]);
      g_autoptr (GArray) train = NULL, validation = NULL;

      g_assert_true (dyno_dataset_get_info (dataset)->has_split);
      dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
      g_assert_cmpuint (train->len, ==, 6);
      g_assert_cmpuint (validation->len, ==, 4);
    }
  test_folder_remove (folder);
  test_folder_remove (other);
}

static void
test_broken_shards (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = put_shard (folder, "s-0.tar", 5, 0);
  g_autofree char *content = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (path, &content, &size, NULL));
  g_free (test_write (folder, "s-1.tar", content, size - 2048 - 100));
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 9);
  g_assert_true (is_listed (dataset, "s-1.tar: 0004"));
  g_free (test_write (folder, "s-1.tar", "\x1f\x8b\x08\0\0\0\0\0\0", 9));
  test_open_fails (folder, DYNO_DATA_ERROR_UNSUPPORTED, "s-1.tar|gzip|plain .tar");
  g_free (test_write (folder, "s-1.tar", "what", 4));
  test_open_fails (folder, DYNO_DATA_ERROR_CORRUPT, "s-1.tar|no .tar");
  test_folder_remove (folder);
}

/* The description of a packed set's samples: impossible pieces are refused before anything of their
 * size is allocated, whole images and pieces may be mixed, and the order is that of the source
 * where every sample has an index. */
static void
test_pieces_and_places (void)
{
  static const char *const crops[] = { "[0, 0, 32768, 32768]", "[0, 0, 0, 5]",  "[1, 2, 3]",
                                       "[1, 2, 3, 4, 5]",      "\"all\"",       "[9e9, 0, 5, 5]",
                                       "[0, -40000, 5, 5]",    "[0.5, 0, 5, 5]" };
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  GByteArray *tar = g_byte_array_new ();
  guint8 pixels[8 * 6 * 3];
  float value;

  for (guint i = 0; i < 3 + G_N_ELEMENTS (crops); i++)
    {
      g_autofree char *image = g_strdup_printf ("%02u.jpg", i),
                      *json = g_strdup_printf ("%02u.json", i), *text = NULL;

      if (i < 3)
        text = g_strdup_printf ("{\"values\": [%u], \"source_index\": %u%s}", i, 50 - i,
                                i == 1 ? ", \"crop_xywh\": [4, 5, 8, 6]" : "");
      else
        text = g_strdup_printf ("{\"values\": [%u], \"source_index\": %u, \"crop_xywh\": %s}", i, i,
                                crops[i - 3]);
      add_image (tar, image, 50);
      add_text (tar, json, text);
    }
  path = put (folder, "a.tar", tar);
  g_autoptr (DynoDataset) dataset = test_open (path);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (info->n_samples, ==, 3);
  g_assert_cmpuint (info->n_unreadable, ==, G_N_ELEMENTS (crops));
  g_assert_true (is_listed (dataset, "03: its crop_xywh is no piece of an image"));
  g_assert_cmpuint (info->min_width, ==, 8);
  g_assert_cmpuint (info->max_width, ==, 40);
  for (guint i = 0; i < 3; i++)
    {
      g_assert_cmpfloat (dyno_dataset_get_values (dataset, i)[0], ==, 2 - i);
      g_assert_true (
          dyno_dataset_decode (dataset, i, 8, 6, (gpointer[]){ pixels, &value }, scratch, NULL));
      /* the piece is in the brighter half, a whole image ends in the darker half */
      g_assert_cmpint (ABS (pixels[7 * 3] - (i == 1 ? 70 : 50)), <, 6);
    }
  test_folder_remove (folder);
}

/* The meaning of other programs' crop_xywh is unknown, so the whole image is the sample. */
static void
test_pieces_of_other_programs (void)
{
  static const char *const crops[] = { "[0.5, 0, 0.7, 0.25]", "[4, 5, 8, 6]", "null",
                                       "[0, 0, 0, 5]" };
  g_autofree char *folder = test_folder_new (), *path = NULL;
  GByteArray *tar = g_byte_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (crops); i++)
    {
      g_autofree char *image = g_strdup_printf ("%02u.jpg", i),
                      *json = g_strdup_printf ("%02u.json", i),
                      *text =
                          g_strdup_printf ("{\"values\": [%u], \"crop_xywh\": %s}", i, crops[i]);

      add_image (tar, image, 50);
      add_text (tar, json, text);
    }
  path = put (folder, "a.tar", tar);
  g_autoptr (DynoDataset) dataset = test_open (path);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_assert_cmpuint (info->n_samples, ==, G_N_ELEMENTS (crops));
  g_assert_cmpuint (info->n_unreadable, ==, 0);
  g_assert_cmpuint (info->min_width, ==, 40);
  test_folder_remove (folder);
}

/* Members with more than one suffix after the key: of several images or labels of a sample, the one
 * without an extra suffix or with a known one counts, in any order of members. */
static void
test_dotted_members (void)
{
  static const struct {
    const char *name;
    guint8 red; /* of an image; 0: a text */
    const char *text;
  } members[] = {
    { "v1.0/0.input.jpg", 40, NULL },      { "v1.0/0.target.cls", 0, "7" },
    { "v1.0/1.depth.jpg", 200, NULL },     { "v1.0/1.input.jpg", 60, NULL },
    { "v1.0/1.mask.cls", 0, "3" },         { "v1.0/1.target.cls", 0, "8" },
    { "v1.0/2.depth.jpg", 200, NULL },     { "v1.0/2.jpg", 80, NULL },
    { "v1.0/2.image.jpg", 200, NULL },     { "v1.0/2.cls", 0, "7" },
    { "v1.0/2.target.cls", 0, "3" },       { "v1.0/3.image.jpg", 100, NULL },
    { "v1.0/3.label.txt", 0, "8" },        { "v1.0/4.jpg", 120, NULL },
    { "v1.0/4.caption.txt", 0, "a word" },
  };
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  GByteArray *tar = g_byte_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (members[i].text)
      add_text (tar, members[i].name, members[i].text);
    else
      add_image (tar, members[i].name, members[i].red);
  path = put (folder, "dots.tar", tar);
  dataset = test_open (path);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->kind, ==, "webdataset");
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      assert_red (dataset, i, 40 + 20 * (int) i);
      g_assert_cmpint (dyno_dataset_get_label (dataset, i), ==, i % 2);
    }
  g_assert_true (is_listed (
      dataset, "v1.0/4: the sample has no label (.cls, .json or .txt), only .jpg, .caption.txt"));
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_refused, ==, 1);
  test_folder_remove (folder);
}

static void
test_parts_of_shards (void)
{
  static const char *const names[][2] = { { "Train/s.tar", "Val/s.tar" },
                                          { "training_set/s.tar", "test_set/s.tar" },
                                          { "set-TRAIN-0.tar", "set-VAL-0.tar" } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;
      g_autoptr (GArray) train = NULL, validation = NULL;

      g_free (put_shard (folder, names[i][0], 4, 0));
      g_free (put_shard (folder, names[i][1], 2, 4));
      dataset = test_open (folder);
      dyno_dataset_split (dataset, 0, 1, &train, &validation);
      g_assert_cmpuint (train->len, ==, 4);
      g_assert_cmpuint (validation->len, ==, 2);
      test_folder_remove (folder);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/webdataset/one-shard-folder-and-pattern",
                   test_one_shard_folder_and_pattern);
  g_test_add_func ("/data/webdataset/labels-in-all-their-forms", test_labels_in_all_their_forms);
  g_test_add_func ("/data/webdataset/values", test_values);
  g_test_add_func ("/data/webdataset/parts-by-the-shards-names", test_parts_by_the_shards_names);
  g_test_add_func ("/data/webdataset/broken-shards", test_broken_shards);
  g_test_add_func ("/data/webdataset/pieces-and-places", test_pieces_and_places);
  g_test_add_func ("/data/webdataset/pieces-of-other-programs", test_pieces_of_other_programs);
  g_test_add_func ("/data/webdataset/dotted-members", test_dotted_members);
  g_test_add_func ("/data/webdataset/parts-of-shards", test_parts_of_shards);
  return g_test_run ();
}
