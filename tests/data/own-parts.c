/* SPDX-License-Identifier: MIT */
/* The parts that data sets of each format bring: which samples train, validate and test. */
#include "archive-test.h"
#include "convert.h"
#include "dataset-class.h"
#include "masks-test.h"
#include "npyfile.h"
#include "partnames.h"
#include <string.h>

/* The samples of each part in their order: "train: a/1.jpg b/1.jpg; validation: ...". */
static char *
spell (DynoDataset *dataset)
{
  static const char *const names[] = { "train", "validation", "test" };
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  const DynoDivision shares = { .val_fraction = 0.5, .test_fraction = 0.25 };
  g_auto (DynoDatasetParts) parts = { 0 };
  GString *text = g_string_new (NULL);

  g_assert_true (info->has_split);
  dyno_dataset_divide (dataset, &shares, &parts);
  for (guint p = 0; p < 3; p++)
    {
      const GArray *part = p == 0 ? parts.train : p == 1 ? parts.validation : parts.test;

      g_string_append_printf (text, "%s%s:", p > 0 ? "; " : "", names[p]);
      for (guint i = 0; i < part->len; i++)
        {
          guint32 index = g_array_index (part, guint32, i);
          g_autofree char *name = dyno_dataset_describe_sample (dataset, index);

          g_assert_cmpint (dyno_dataset_get_part (dataset, index), ==, DYNO_PART_TRAIN + (int) p);
          g_string_append_printf (text, " %s", name);
        }
    }
  g_assert_cmpuint (info->n_validation, ==, parts.validation->len);
  g_assert_cmpuint (info->n_test, ==, parts.test->len);
  g_assert_cmpuint (info->n_samples, ==,
                    parts.train->len + parts.validation->len + parts.test->len);
  return g_string_free (text, FALSE);
}

static void
check (DynoDataset *dataset, const char *expected)
{
  g_autofree char *found = spell (dataset);

  g_assert_cmpstr (found, ==, expected);
}

static void
check_at (const char *location, const char *expected)
{
  g_autoptr (DynoDataset) dataset = test_open (location);

  check (dataset, expected);
}

/* words: separated by '|'; NULL: there is no note. */
static void
check_notes (DynoDataset *dataset, const char *words)
{
  g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);
  g_autofree char *all = g_strjoinv ("\n", notes);
  g_auto (GStrv) each = g_strsplit (words ? words : "", "|", -1);

  for (guint i = 0; each[i]; i++)
    if (!strstr (all, each[i]))
      g_error ("no note has “%s”: %s", each[i], all);
  if (!words)
    g_assert_cmpstr (all, ==, "");
}

static void
put_jpeg (const char *folder, const char *name)
{
  g_autoptr (GByteArray) file = test_jpeg (16, 16, (guint8) (g_str_hash (name) % 200), 0, 0, FALSE);

  g_free (test_write (folder, name, file->data, file->len));
}

static void
put_jpegs (const char *folder, const char *const *names)
{
  for (guint i = 0; names[i]; i++)
    put_jpeg (folder, names[i]);
}

static char *
put_text (const char *folder, const char *name, const char *text)
{
  return test_write (folder, name, text, strlen (text));
}

/* --- folders ---------------------------------------------------------------------------------- */

static void
test_folders (void)
{
  static const struct {
    const char *names[6], *expected, *notes;
  } cases[] = {
    { { "train/a/1.jpg", "train/b/1.jpg", "val/a/2.jpg", "test/a/3.jpg", "test/b/3.jpg" },
      "train: train/a/1.jpg train/b/1.jpg; validation: val/a/2.jpg; "
      "test: test/a/3.jpg test/b/3.jpg",
      NULL },
    { { "Train/a/1.jpg", "Train/b/1.jpg", "valid/b/2.jpg", "Test/a/3.jpg" },
      "train: Train/a/1.jpg Train/b/1.jpg; validation: valid/b/2.jpg; test: Test/a/3.jpg",
      NULL },
    { { "training_set/a/1.jpg", "training_set/b/1.jpg", "validation_set/b/2.jpg",
        "test_set/test_set/b/3.jpg" },
      "train: training_set/a/1.jpg training_set/b/1.jpg; validation: validation_set/b/2.jpg; "
      "test: test_set/test_set/b/3.jpg",
      NULL },
    /* A test part validates where nothing else does. */
    { { "train/a/1.jpg", "train/b/1.jpg", "test/a/3.jpg" },
      "train: train/a/1.jpg train/b/1.jpg; validation: test/a/3.jpg; test:",
      NULL },
    /* The test part adds no class, and is none without a class. */
    { { "train/a/1.jpg", "train/b/1.jpg", "val/a/2.jpg", "test/b/3.jpg", "test/c/4.jpg" },
      "train: train/a/1.jpg train/b/1.jpg; validation: val/a/2.jpg; test: test/b/3.jpg",
      "no class of the other parts has their names: “c”" },
    { { "train/a/1.jpg", "train/b/1.jpg", "val/a/2.jpg", "test/unknown/3.jpg" },
      "train: train/a/1.jpg train/b/1.jpg; validation: val/a/2.jpg; test:",
      "no class of the other parts has their names: “unknown”" },
    /* Images without classes are no part. */
    { { "train/a/1.jpg", "train/b/1.jpg", "val/a/2.jpg", "test/3.jpg" },
      "train: train/a/1.jpg train/b/1.jpg; validation: val/a/2.jpg; test:",
      "beside the parts are not used: “test”" },
    { { "train/a/1.jpg", "train/b/1.jpg", "val/a/2.jpg", "test/a/3.jpg", "test_data/a/4.jpg" },
      "train: train/a/1.jpg train/b/1.jpg; validation: val/a/2.jpg; test: test/a/3.jpg",
      "“test_data” is not used: “test” is taken" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;

      put_jpegs (folder, cases[i].names);
      dataset = test_open (folder);
      check (dataset, cases[i].expected);
      check_notes (dataset, cases[i].notes);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
      test_folder_remove (folder);
    }
}

static void
test_archives (void)
{
  static const char *const names[] = {
    "set/test/b/4.jpg",  "set/test/c/5.jpg", "set/train/a/1.jpg",
    "set/train/b/2.jpg", "set/val/a/3.jpg",  NULL,
  };
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (GByteArray) tar = g_byte_array_new ();
  g_autoptr (DynoDataset) dataset = NULL;

  for (guint i = 0; names[i]; i++)
    {
      g_autoptr (GByteArray) file = test_jpeg (16, 16, (guint8) (9 * i), 0, 0, FALSE);
      test_tar_add (tar, names[i], '0', file->data, file->len);
    }
  test_tar_end (tar);
  path = test_write (folder, "set.tar", tar->data, tar->len);
  dataset = test_open (path);
  check (dataset, "train: set/train/a/1.jpg set/train/b/2.jpg; validation: set/val/a/3.jpg; "
                  "test: set/test/b/4.jpg");
  check_notes (dataset, "no class of the other parts has their names: “c”");
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_classes, ==, 2);
  test_folder_remove (folder);
}

static void
test_sequences (void)
{
  static const char *const names[] = { "train/a/1.npy", "train/b/1.npy", "val/a/2.npy",
                                       "test/b/3.npy" };
  g_autofree char *folder = test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_build_filename (folder, names[i], NULL),
                      *parent = g_path_get_dirname (path);

      g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
      g_assert_true (dyno_npy_write (path, "f4", 2, (guint64[]){ 2 + i, 2 },
                                     (float[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, NULL));
    }
  check_at (folder, "train: train/a/1.npy train/b/1.npy; validation: val/a/2.npy; "
                    "test: test/b/3.npy");
  test_folder_remove (folder);
}

static void
test_masks (void)
{
  static const guint8 pixels[8] = { 0, 0, 0, 0, 1, 1, 1, 1 };
  static const char *const layouts[][6] = {
    { "train/images/", "train/masks/", "val/images/", "val/masks/", "test/images/", "test/masks/" },
    { "images/train/", "masks/train/", "images/val/", "masks/val/", "images/test/", "masks/test/" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_autofree char *folder = test_folder_new (), *expected = NULL;

      for (guint part = 0; part < 3; part++)
        {
          g_autofree char *image = g_strdup_printf ("%s%u.jpg", layouts[i][2 * part], part),
                          *mask = g_strdup_printf ("%s%u.png", layouts[i][2 * part + 1], part);

          masks_put_image (folder, image, 4, 2);
          masks_put (folder, mask, 4, 2, 0, 8, pixels);
        }
      expected = g_strdup_printf ("train: %s0.jpg; validation: %s1.jpg; test: %s2.jpg",
                                  layouts[i][0], layouts[i][2], layouts[i][4]);
      check_at (folder, expected);
      test_folder_remove (folder);
    }
}

#define COCO_FILE                                                                           \
  "{\"images\":[{\"id\":1,\"file_name\":\"1.jpg\",\"width\":4,\"height\":2}],"              \
  "\"categories\":[{\"id\":3,\"name\":\"cat\"}],\"annotations\":[{\"id\":1,\"image_id\":1," \
  "\"category_id\":3,\"iscrowd\":0,\"segmentation\":[[0,0,2,0,2,2,0,2]]}]}"

static void
test_coco (void)
{
  static const char *const parts[] = { "train", "valid", "test" };
  g_autofree char *folder = test_folder_new ();

  for (guint part = 0; part < 3; part++)
    {
      g_autofree char *image = g_strdup_printf ("%s/1.jpg", parts[part]),
                      *json = g_strdup_printf ("%s/_annotations.coco.json", parts[part]);

      masks_put_image (folder, image, 4, 2);
      g_free (put_text (folder, json, COCO_FILE));
    }
  check_at (folder, "train: train/1.jpg; validation: valid/1.jpg; test: test/1.jpg");
  test_folder_remove (folder);
}

/* --- lists ------------------------------------------------------------------------------------ */

static void
test_lists (void)
{
  static const struct {
    const char *name, *text, *expected;
  } cases[] = {
    { "l.csv",
      "path,label,split\nc.jpg,x,test\na.jpg,x,train\nb.jpg,y,Val\nd.jpg,y,testing\n"
      "e.jpg,y,train\n",
      "train: a.jpg e.jpg; validation: b.jpg; test: c.jpg d.jpg" },
    { "l.csv", "path,label,split\na.jpg,x,train\nc.jpg,y,test\nb.jpg,y,train\n",
      "train: a.jpg b.jpg; validation: c.jpg; test:" },
    /* Where no part is called train, the first trains. */
    { "l.csv", "path,label,split\na.jpg,x,val\nc.jpg,y,test\nb.jpg,y,val\n",
      "train: a.jpg b.jpg; validation: c.jpg; test:" },
    { "l.jsonl",
      "{\"path\": \"a.jpg\", \"label\": \"x\", \"split\": \"train\"}\n"
      "{\"path\": \"b.jpg\", \"label\": \"y\", \"split\": \"test\"}\n"
      "{\"path\": \"c.jpg\", \"label\": \"y\", \"split\": \"validation\"}\n",
      "train: a.jpg; validation: c.jpg; test: b.jpg" },
    { "l.csv", "path,v1,v2,split\na.jpg,1,2.5,train\nb.jpg,2,3.5,val\nc.jpg,3,4.5,test\n",
      "train: a.jpg; validation: b.jpg; test: c.jpg" },
  };
  static const char *const names[] = { "a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg", NULL };
  g_autofree char *folder = test_folder_new ();

  put_jpegs (folder, names);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = put_text (folder, cases[i].name, cases[i].text);
      g_autoptr (DynoDataset) dataset = test_open (path);

      check (dataset, cases[i].expected);
      check_notes (dataset, NULL);
    }
  test_folder_remove (folder);
}

/* A sample that moves from the validation to the test part is other content. */
static void
test_content (void)
{
  static const char *const names[] = { "a.jpg", "b.jpg", "c.jpg", "d.jpg", NULL },
                           *const words[] = { "val,test", "test,val", "val,val", "test,test" };
  g_autofree char *folder = test_folder_new ();
  guint64 hashes[4];

  put_jpegs (folder, names);
  for (guint i = 0; i < 4; i++)
    {
      g_auto (GStrv) two = g_strsplit (words[i], ",", -1);
      g_autofree char *text = g_strdup_printf (
                          "path,label,split\na.jpg,x,train\nb.jpg,y,train\nc.jpg,x,%s\n"
                          "d.jpg,y,%s\n",
                          two[0], two[1]),
                      *path = put_text (folder, "l.csv", text);
      g_autoptr (DynoDataset) dataset = test_open (path);

      hashes[i] = dyno_dataset_get_info (dataset)->content_hash;
    }
  g_assert_cmpuint (hashes[0], !=, hashes[1]);
  g_assert_cmpuint (hashes[0], !=, hashes[2]);
  g_assert_cmpuint (hashes[1], !=, hashes[2]);
  g_assert_cmpuint (hashes[2], ==, hashes[3]); /* both validate */
  test_folder_remove (folder);
}

/* A list in the folder of each part; a test part without labels is not used. */
static void
test_lists_of_folders (void)
{
  static const char *const names[] = { "train/a.jpg", "train/b.jpg", "valid/c.jpg", "test/d.jpg",
                                       NULL };

  for (guint labelled = 0; labelled < 2; labelled++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autoptr (DynoDataset) dataset = NULL;

      put_jpegs (folder, names);
      g_free (put_text (folder, "train/metadata.csv", "file_name,label\na.jpg,x\nb.jpg,y\n"));
      g_free (put_text (folder, "valid/metadata.csv", "file_name,label\nc.jpg,x\n"));
      g_free (put_text (folder, "test/metadata.csv",
                        labelled ? "file_name,label\nd.jpg,y\n" : "file_name\nd.jpg\n"));
      dataset = test_open (folder);
      check (dataset, labelled ? "train: train/a.jpg train/b.jpg; validation: valid/c.jpg; "
                                 "test: test/d.jpg"
                               : "train: train/a.jpg train/b.jpg; validation: valid/c.jpg; test:");
      check_notes (dataset, labelled ? NULL : "The test part “test” is not used: “metadata.csv”");
      test_folder_remove (folder);
    }
}

static void
test_pixel_rows (void)
{
#define PIXELS "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
  g_autofree char *folder = test_folder_new (), *path = NULL;

  path = put_text (folder, "p.csv",
                   "emotion,pixels,Usage\n0," PIXELS ",Training\n1," PIXELS ",PrivateTest\n"
                   "0," PIXELS ",PublicTest\n1," PIXELS ",Training\n");
  check_at (path, "train: #0 #3; validation: #2; test: #1");
  g_free (path);
  path = put_text (folder, "p.csv",
                   "emotion,pixels,Usage\n0," PIXELS ",Training\n1," PIXELS ",PrivateTest\n"
                   "0," PIXELS ",Training\n");
  check_at (path, "train: #0 #2; validation: #1; test:");
  test_folder_remove (folder);
#undef PIXELS
}

/* --- shards and arrays ------------------------------------------------------------------------ */

/* label: the text of the member cls, NULL: there is none; json: the text of a member json, or
 * NULL. */
static void
put_shard (const char *folder, const char *name, const char *key, const char *label,
           const char *json)
{
  g_autoptr (GByteArray) tar = g_byte_array_new (), jpeg = test_jpeg (16, 16, 9, 0, 0, FALSE);
  g_autofree char *image = g_strdup_printf ("%s.jpg", key), *cls = g_strdup_printf ("%s.cls", key),
                  *text = g_strdup_printf ("%s.json", key);

  test_tar_add (tar, image, '0', jpeg->data, jpeg->len);
  if (label)
    test_tar_add (tar, cls, '0', label, strlen (label));
  if (json)
    test_tar_add (tar, text, '0', json, strlen (json));
  test_tar_end (tar);
  g_free (test_write (folder, name, tar->data, tar->len));
}

static void
test_shards (void)
{
  static const char *const layouts[][4] = {
    { "train/0.tar", "train/1.tar", "validation/0.tar", "test/0.tar" },
    { "train/0.tar", "train/1.tar", "valid/0.tar", "test/0.tar" },
    /* Not without labels, since the first shard decides the format. */
    { "s-train-0.tar", "s-train-1.tar", "s-val-0.tar", "s-test-0.tar" },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (layouts) - 1; i++)
    {
      const char *const *names = layouts[i / 2];
      g_autofree char *folder = test_folder_new (), *expected = NULL, *bases[4];
      g_autoptr (DynoDataset) dataset = NULL;
      gboolean labelled = i % 2 == 0;

      for (guint k = 0; k < 4; k++)
        {
          g_autofree char *key = g_strdup_printf ("k%u", k);

          bases[k] = g_path_get_basename (names[k]);
          put_shard (folder, names[k], key, k < 3 || labelled ? (k % 2 ? "1" : "0") : NULL, NULL);
        }
      expected = g_strdup_printf (
          "train: %s: k0.jpg %s: k1.jpg; validation: %s: k2.jpg; test:%s%s%s", bases[0], bases[1],
          bases[2], labelled ? " " : "", labelled ? bases[3] : "", labelled ? ": k3.jpg" : "");
      dataset = test_open (folder);
      check (dataset, expected);
      check_notes (dataset, labelled ? NULL : "1 sample of the test part has no label");
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 0);
      for (guint k = 0; k < 4; k++)
        g_free (g_steal_pointer (&bases[k]));
      test_folder_remove (folder);
    }
}

static void
test_split_members (void)
{
  static const char *const splits[] = { "train", "test", "val", "train" };
  g_autofree char *folder = test_folder_new ();

  for (guint k = 0; k < 4; k++)
    {
      g_autofree char *key = g_strdup_printf ("k%u", k), *name = g_strdup_printf ("%u.tar", k),
                      *json = g_strdup_printf ("{\"label\": \"%u\", \"split\": \"%s\"}", k % 2,
                                               splits[k]);
      put_shard (folder, name, key, NULL, json);
    }
  check_at (folder, "train: 0.tar: k0.jpg 3.tar: k3.jpg; validation: 2.tar: k2.jpg; "
                    "test: 1.tar: k1.jpg");
  test_folder_remove (folder);
}

static void
add_array (TestZip *zip, const char *folder, const char *name, guint n_dims, guint64 n)
{
  static const float numbers[8] = { 0, 1, 0, 1, 1, 0, 1, 0 };
  g_autofree char *path = g_build_filename (folder, "one.npy", NULL), *bytes = NULL;
  gsize size;

  g_assert_true (dyno_npy_write (path, n_dims == 1 ? "i4" : "f4", n_dims, (guint64[]){ n, 2 },
                                 n_dims == 1 ? (gconstpointer) (gint32[]){ 0, 1, 1, 0 } : numbers,
                                 NULL));
  g_assert_true (g_file_get_contents (path, &bytes, &size, NULL));
  test_zip_add (zip, name, FALSE, FALSE, bytes, size);
}

static void
test_arrays (void)
{
  static const struct {
    const char *names[6];
    const char *expected, *notes;
  } cases[] = {
    { { "x_test.npy", "y_test.npy", "x_train.npy", "y_train.npy", "x_val.npy", "y_val.npy" },
      "train: #0 #1 #2; validation: #3; test: #4 #5",
      NULL },
    { { "x_test.npy", "y_test.npy", "x_train.npy", "y_train.npy" },
      "train: #0 #1 #2; validation: #3 #4; test:",
      NULL },
    { { "x_valid.npy", "y_valid.npy", "x_train.npy", "y_train.npy", "x_val.npy", "y_val.npy" },
      "train: #0 #1 #2; validation: #3; test:",
      "The array “x_valid” is not used: “x_val” is taken for its part" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new (), *path = NULL;
      g_autoptr (DynoDataset) dataset = NULL;
      TestZip zip;

      test_zip_init (&zip);
      for (guint k = 0; k < 6 && cases[i].names[k]; k++)
        add_array (&zip, folder, cases[i].names[k], cases[i].names[k][0] == 'x' ? 2 : 1,
                   strstr (cases[i].names[k], "train") ? 3
                   : strstr (cases[i].names[k], "val") ? 1
                                                       : 2);
      test_zip_end (&zip, FALSE);
      path = test_write (folder, "d.npz", zip.bytes->data, zip.bytes->len);
      test_zip_clear (&zip);
      dataset = test_open (path);
      check (dataset, cases[i].expected);
      check_notes (dataset, cases[i].notes);
      test_folder_remove (folder);
    }
}

/* Packing keeps the three parts. */
static void
test_packed (void)
{
  static const char *const names[] = { "a.jpg", "b.jpg", "c.jpg", "d.jpg", NULL };
  g_autofree char *folder = test_folder_new (), *out = test_folder_new (), *list = NULL,
                  *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL, again = NULL;
  g_autoptr (GError) error = NULL;
  DynoConverted converted;

  put_jpegs (folder, names);
  list = put_text (folder, "l.csv",
                   "path,label,split\na.jpg,x,test\nb.jpg,y,train\nc.jpg,x,val\nd.jpg,x,train\n");
  dataset = test_open (list);
  path = g_build_filename (out, "p.tar", NULL);
  dyno_dataset_convert (dataset, path, 0, NULL, NULL, NULL, NULL, &converted, &error);
  g_assert_no_error (error);
  again = test_open (path);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpint (dyno_dataset_get_part (again, i), ==, dyno_dataset_get_part (dataset, i));
  g_assert_cmpuint (dyno_dataset_get_info (again)->n_test, ==, 1);
  g_assert_cmpuint (dyno_dataset_get_info (again)->n_validation, ==, 1);
  test_folder_remove (folder);
  test_folder_remove (out);
}

/* --- names ------------------------------------------------------------------------------------ */

/* A name belongs to a part by one whole word; words that are neither a part nor usual are the rest,
 * with which only a folder beside another can be one. */
static void
test_names (void)
{
  static const struct {
    const char *name;
    DynoPart part;
    const char *rest;
  } cases[] = {
    { "train", DYNO_PART_TRAIN, "" },
    { "trainSet_01", DYNO_PART_TRAIN, "" },
    { "TRAINING", DYNO_PART_TRAIN, "" },
    { "testimages", DYNO_PART_TEST, "" },
    { "val2017", DYNO_PART_VALIDATION, "" },
    { "jpg.dev", DYNO_PART_VALIDATION, "" },
    { "evaluation-data", DYNO_PART_VALIDATION, "" },
    { "public_test", DYNO_PART_VALIDATION, "" },
    { "privateTest", DYNO_PART_TEST, "" },
    { "publicTraining", DYNO_PART_TRAIN, "" },
    { "night train", DYNO_PART_TRAIN, "night" },
    { "a-bTest_c", DYNO_PART_TEST, "a b c" },
    { "train-val", DYNO_PART_NONE, NULL },
    { "test test", DYNO_PART_NONE, NULL },
    { "trainer", DYNO_PART_NONE, NULL },
    { "contest", DYNO_PART_NONE, NULL },
    { "CIFARTest", DYNO_PART_NONE, NULL },
    { "images", DYNO_PART_NONE, NULL },
    { "", DYNO_PART_NONE, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *rest = NULL;

      g_assert_cmpint (dyno_part_of_name (cases[i].name, &rest), ==, cases[i].part);
      g_assert_cmpstr (rest, ==, cases[i].rest);
      g_assert_cmpint (dyno_part_of_name (cases[i].name, NULL), ==,
                       g_strcmp0 (cases[i].rest, "") == 0 ? cases[i].part : DYNO_PART_NONE);
    }
}

static gboolean
is_no_file (const char *name, gpointer data)
{
  return !strchr (name, '.');
}

static void
check_choice (char **names, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  DynoPartFolders folders;

  dyno_part_folders_choose (&folders, (const char *const *) names, is_no_file, NULL);
  g_string_printf (text, "%s, %s, %s:", folders.train ? folders.train : "-",
                   folders.validation ? folders.validation : "-",
                   folders.test ? folders.test : "-");
  for (guint i = 0; i < folders.unused->len; i++)
    g_string_append_printf (text, " %s", (const char *) folders.unused->pdata[i]);
  g_assert_cmpstr (text->str, ==, expected);
  dyno_part_folders_clear (&folders);
}

/* The choice follows from the names alone, in any order: plain names first, then short ones. */
static void
test_choices (void)
{
  static const struct {
    const char *names, *expected;
  } cases[] = {
    { "train val test test_data", "train, val, test: test_data" },
    { "train test", "train, test, -:" },
    { "training public_test private_test", "training, public_test, private_test:" },
    { "night_train bus", "-, -, -:" },
    { "night_train night_val bus", "night_train, night_val, -:" },
    { "night_train night_test bus_val", "night_train, night_test, -: bus_val" },
    { "night_train train", "train, -, -: night_train" },
    { "train night_test test", "train, test, -: night_test" },
    { "validation train_01 val train", "train, val, -: train_01 validation" },
    { "dogs_train cats_train dogs_val cats_val", "cats_train, cats_val, -: dogs_train dogs_val" },
    { "b_train a_train b_test b_dev", "b_train, b_dev, b_test: a_train" },
    { "x_train x_val training_images validation_images",
      "training_images, validation_images, -: x_train x_val" },
    { "test val", "-, -, -:" },
    { "train val.tar test", "train, test, -:" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto (GStrv) names = g_strsplit (cases[i].names, " ", -1);
      guint n = g_strv_length (names);

      check_choice (names, cases[i].expected);
      for (guint k = 0; k < n / 2; k++)
        {
          char *name = names[k];

          names[k] = names[n - 1 - k];
          names[n - 1 - k] = name;
        }
      check_choice (names, cases[i].expected);
    }
}

/* Of the parts that are listed, the first with samples trains. */
static void
test_listed (void)
{
  static const struct {
    guint64 n[DYNO_PART_TEST + 1];
    DynoPart listed, part;
  } cases[] = {
    { { 0, 3, 2, 1 }, DYNO_PART_TRAIN, DYNO_PART_TRAIN },
    { { 0, 3, 2, 1 }, DYNO_PART_VALIDATION, DYNO_PART_VALIDATION },
    { { 0, 3, 0, 1 }, DYNO_PART_TEST, DYNO_PART_TEST },
    { { 0, 0, 2, 1 }, DYNO_PART_VALIDATION, DYNO_PART_TRAIN },
    { { 0, 0, 2, 1 }, DYNO_PART_TEST, DYNO_PART_TEST },
    { { 0, 0, 0, 1 }, DYNO_PART_TEST, DYNO_PART_TRAIN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (dyno_part_of_listed (cases[i].n, cases[i].listed), ==, cases[i].part);
}

int
main (int argc, char *argv[])
{
  g_autofree char *cache = test_folder_new ();
  int result;

  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/own-parts/names", test_names);
  g_test_add_func ("/data/own-parts/choices", test_choices);
  g_test_add_func ("/data/own-parts/listed", test_listed);
  g_test_add_func ("/data/own-parts/folders", test_folders);
  g_test_add_func ("/data/own-parts/archives", test_archives);
  g_test_add_func ("/data/own-parts/sequences", test_sequences);
  g_test_add_func ("/data/own-parts/masks", test_masks);
  g_test_add_func ("/data/own-parts/coco", test_coco);
  g_test_add_func ("/data/own-parts/lists", test_lists);
  g_test_add_func ("/data/own-parts/another-part-is-other-content", test_content);
  g_test_add_func ("/data/own-parts/lists-of-folders", test_lists_of_folders);
  g_test_add_func ("/data/own-parts/pixel-rows", test_pixel_rows);
  g_test_add_func ("/data/own-parts/shards", test_shards);
  g_test_add_func ("/data/own-parts/split-members", test_split_members);
  g_test_add_func ("/data/own-parts/arrays", test_arrays);
  g_test_add_func ("/data/own-parts/packing-keeps-them", test_packed);
  result = g_test_run ();
  test_folder_remove (cache);
  return result;
}
