/* SPDX-License-Identifier: MIT */
/* Manifests in CSV, TSV and JSON lines, and folders with metadata: the rows that are read, and
 * those that are listed with their line. */
#include "data-test.h"
#include <string.h>
#include <unistd.h>

static void
put_jpeg (const char *folder, const char *name, guint8 red)
{
  g_autoptr (GByteArray) file = test_jpeg (40, 30, red, 50, 50, FALSE);
  g_free (test_write (folder, name, file->data, file->len));
}

static char *
put_text (const char *folder, const char *name, const char *text)
{
  return test_write (folder, name, text, strlen (text));
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
assert_names (DynoDataset *dataset, const char *const *names)
{
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==,
                    g_strv_length ((char **) names));
  for (guint i = 0; names[i]; i++)
    {
      g_autofree char *name = dyno_dataset_describe_sample (dataset, i);
      g_assert_cmpstr (name, ==, names[i]);
    }
}

static void
put_four (const char *folder)
{
  put_jpeg (folder, "a.jpg", 10);
  put_jpeg (folder, "b.jpg", 60);
  put_jpeg (folder, "c.jpg", 110);
  put_jpeg (folder, "with, comma \"q\".jpg", 200);
}

/* The same four samples in all supported notations. */
static void
test_ways_to_write_classes (void)
{
  static const struct {
    const char *name, *text;
  } ways[] = {
    { "m.csv", "path,label\na.jpg,dog\nb.jpg,cat\n\"with, comma \"\"q\"\".jpg\",dog\nc.jpg,cat\n" },
    { "m", "a.jpg,dog\nb.jpg,cat\n\"with, comma \"\"q\"\".jpg\",dog\nc.jpg,cat" },
    { "bom.csv", "\xef\xbb\xbfLabel,FileName\r\ndog,a.jpg\r\n\r\n\"cat\",b.jpg\r\n"
                 "dog,\"with, comma \"\"q\"\".jpg\"\r\ncat,\"c.jpg\"\r\n" },
    { "m.tsv", "x\ty\na.jpg\tdog\nb.jpg\tcat\n\"with, comma \"\"q\"\".jpg\"\tdog\nc.jpg\tcat\n" },
    { "semicolon", "image;class\na.jpg;dog\nb.jpg;cat\nwith, comma \"q\".jpg;dog\nc.jpg;cat\n" },
    { "m.jsonl", "{\"file_name\":\"a.jpg\",\"label\":\"dog\",\"box\":[1,2]}\n"
                 "{\"label\":\"cat\",\"file_name\":\"b.jpg\"}\n\n"
                 "{\"file_name\":\"with, comma \\\"q\\\".jpg\",\"label\":\"dog\"}\n"
                 "{\"file_name\":\"c.jpg\",\"label\":\"cat\"}" },
  };
  static const char *const names[] = { "a.jpg", "b.jpg", "with, comma \"q\".jpg", "c.jpg", NULL };
  g_autofree char *folder = test_folder_new ();

  put_four (folder);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *path = put_text (folder, ways[i].name, ways[i].text);
      g_autoptr (DynoDataset) dataset = test_open (path);
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      guint8 pixels[8 * 8 * 3];
      gint32 label = -1;

      g_assert_cmpstr (info->kind, ==, "manifest");
      assert_names (dataset, names);
      g_assert_cmpuint (info->n_classes, ==, 2);
      g_assert_cmpstr (info->class_names[0], ==, "cat");
      g_assert_cmpuint (info->class_counts[1], ==, 2);
      g_assert_cmpuint (info->n_unreadable, ==, 0);
      g_assert_false (info->has_split);
      g_assert_true (
          dyno_dataset_decode (dataset, 2, 8, 8, (gpointer[]){ pixels, &label }, scratch, NULL));
      g_assert_cmpint (label, ==, 1);
      g_assert_cmpint (ABS (pixels[3 * 7] - 200), <=, 4);
    }
  test_folder_remove (folder);
}

static void
test_whole_numbers_are_classes_in_their_order (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;

  put_four (folder);
  path = put_text (folder, "m.csv", "a.jpg,10\nb.jpg,9\nc.jpg,-1\n");
  dataset = test_open (path);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[0], ==, "-1");
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->class_names[2], ==, "10");
  g_assert_cmpint (dyno_dataset_get_label (dataset, 0), ==, 2);
  test_folder_remove (folder);
}

/* Empty lines are no rows, but count as lines, so that a message has the line number of an
 * editor. */
static void
test_lines_are_counted_with_the_empty_ones (void)
{
  static const char *const texts[] = {
    "path,yaw\n\n\na.jpg,1\n\nc.jpg,nan\nb.jpg,2\n",
    "path,yaw\r\n\r\n\r\na.jpg,1\r\n\r\nc.jpg,nan\r\nb.jpg,2\r\n"
  };
  g_autofree char *folder = test_folder_new ();

  put_four (folder);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autofree char *path = put_text (folder, "m.csv", texts[i]);
      g_autoptr (DynoDataset) dataset = test_open (path);

      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
      g_assert_true (is_listed (dataset, "m.csv, line 6: a value is no finite number"));
    }
  test_folder_remove (folder);
}

static void
test_values_with_names_and_units (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *several = NULL, *one = NULL;
  g_autoptr (DynoDataset) dataset = NULL, of_one = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 pixels[8 * 8 * 3];
  float values[2];

  put_four (folder);
  several = put_text (folder, "m.csv",
                      "path,yaw (degrees),depth\na.jpg,1,2.5\nmissing.jpg,7,7\nb.jpg, -3.5e1 ,4\n"
                      "c.jpg,nan,1\nc.jpg,1,1e99\nc.jpg,1,x\nc.jpg,8,9\n");
  dataset = test_open (several);
  g_assert_cmpuint (dyno_schema_count_values (&dyno_dataset_get_info (dataset)->schema), ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 3);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 4);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->target_names[0], ==, "yaw");
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->target_units[0], ==, "degrees");
  g_assert_true (is_listed (dataset, "m.csv, line 5: a value is no finite number"));
  g_assert_true (is_listed (dataset, "m.csv, line 6: a value"));
  g_assert_true (is_listed (dataset, "m.csv, line 7: a value"));
  g_assert_true (is_listed (dataset, "m.csv, line 3: “missing.jpg”"));
  g_assert_true (
      dyno_dataset_decode (dataset, 1, 8, 8, (gpointer[]){ pixels, values }, scratch, NULL));
  g_assert_cmpfloat (values[0], ==, -35);
  g_assert_cmpfloat (dyno_dataset_get_values (dataset, 2)[1], ==, 9);
  one = put_text (folder, "one.csv", "a.jpg,1\nb.jpg,2.5\n");
  of_one = test_open (one);
  g_assert_cmpuint (dyno_schema_count_values (&dyno_dataset_get_info (of_one)->schema), ==, 1);
  g_assert_null (dyno_dataset_get_info (of_one)->target_names);
  test_folder_remove (folder);
}

static void
test_split_column (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;

  put_four (folder);
  path = put_text (folder, "m.csv",
                   "path,label,split\na.jpg,x,train\nb.jpg,y,Val\nc.jpg,y,test\nb.jpg,y,train\n"
                   "a.jpg,x,elsewhere\n");
  dataset = test_open (path);
  g_assert_true (dyno_dataset_get_info (dataset)->has_split);
  dyno_dataset_split (dataset, 0.5, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 2);
  g_assert_cmpuint (validation->len, ==, 1);
  g_assert_cmpuint (g_array_index (validation, guint32, 0), ==, 1);
  g_assert_true (is_listed (dataset, "line 6: the part"));
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_test, ==, 1);
  g_clear_pointer (&dataset, dyno_dataset_unref);
  g_free (path);
  path = put_text (folder, "m.csv", "path,label,split\na.jpg,x,train\nc.jpg,y,test\n");
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_true (dyno_dataset_get_info (dataset)->has_split);
  test_folder_remove (folder);
}

/* A list that the user names may refer to files anywhere.  For a list that was found in a folder,
 * files outside of the folder are read only on request, as links are. */
static void
test_what_lies_outside (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *outside = g_strconcat (folder, "-more", NULL); /* the same beginning */
  g_autofree char *base = g_path_get_basename (outside);
  g_autofree char *link = g_build_filename (folder, "link.jpg", NULL);
  g_autofree char *target = g_build_filename (outside, "o.jpg", NULL);
  g_autofree char *text = g_strdup_printf (
      "a.jpg,x\nb.jpg,y\nsub/../c.jpg,y\n../%s/o.jpg,x\n%s,x\nlink.jpg,x\n", base, target);
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL, all = NULL, of_folder = NULL;
  const DynoDatasetParams follow = { .links = TRUE };

  g_assert_cmpint (g_mkdir (outside, 0700), ==, 0);
  put_four (folder);
  put_jpeg (folder, "sub/d.jpg", 1);
  put_jpeg (outside, "o.jpg", 1);
  g_assert_cmpint (symlink (target, link), ==, 0);
  path = put_text (folder, "m.csv", text);
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 5);
  g_assert_true (is_listed (dataset, "line 6: “link.jpg”: it leads out of the folder; data.links"));
  all = dyno_dataset_open (path, &follow, NULL, NULL, NULL, NULL);
  g_assert_cmpuint (dyno_dataset_get_info (all)->n_samples, ==, 6);
  g_free (put_text (folder, "metadata.csv", text));
  of_folder = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (of_folder)->n_samples, ==, 3);
  g_assert_true (is_listed (of_folder, "line 4: "));
  g_assert_true (is_listed (of_folder, "line 5: "));
  g_assert_true (is_listed (of_folder, "line 6: "));
  test_folder_remove (folder);
  test_folder_remove (outside);
}

static void
test_rows_that_cannot_be_used_are_listed (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL;

  put_four (folder);
  g_free (put_text (folder, "text.jpg", "not an image"));
  path = put_text (folder, "m.csv",
                   "path,label\na.jpg,x\n\"b.jpg\",\"two\nlines\"\nc.jpg\nc.jpg,x,y\n,x\nc.jpg,\n"
                   "text.jpg,x\n\xff.jpg,x\nsub,x\n");
  dataset = test_open (path);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 2);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 7);
  g_assert_true (is_listed (dataset, "line 5: the row has another number"));
  g_assert_true (is_listed (dataset, "line 6: the row has another number"));
  g_assert_true (is_listed (dataset, "line 7: there is no path"));
  g_assert_true (is_listed (dataset, "line 8: there is no label"));
  g_assert_true (is_listed (dataset, "line 9: “text.jpg”: not an image"));
  g_assert_true (is_listed (dataset, "line 10: "));
  g_assert_true (is_listed (dataset, "line 11: "));
  test_folder_remove (folder);
}

static void
test_broken_files (void)
{
  static const struct {
    const char *text;
    gsize size;
    int code;
    const char *words;
  } cases[] = {
    { "a.jpg,x\n\"b.jpg,y\n", 0, DYNO_DATA_ERROR_CORRUPT, "m.csv|line 2|never ends" },
    { "a.jpg,x\n\"b\"z.jpg,y\n", 0, DYNO_DATA_ERROR_CORRUPT, "line 2|follows a closing" },
    { "a.jpg,x\nb\0jpg,y\n", 16, DYNO_DATA_ERROR_UNSUPPORTED, "UTF-8|zero byte at 9" },
    { "path,label\n", 0, DYNO_DATA_ERROR_EMPTY, "m.csv|no sample" },
    { "", 0, DYNO_DATA_ERROR_EMPTY, "no sample" },
    { "gone.jpg,x\n", 0, DYNO_DATA_ERROR_EMPTY, "all 1 were refused|gone.jpg" },
    { "path,split\na.jpg,train\n", 0, DYNO_DATA_ERROR_UNSUPPORTED, "nothing to learn|“split”" },
    { "path,text,name2\na.jpg,x,y\n", 0, DYNO_DATA_ERROR_UNSUPPORTED, "several columns|“label”" },
    { "{\"file_name\":\"a.jpg\",\"label\":1}\n{\"file_name\":", 0, DYNO_DATA_ERROR_CORRUPT,
      "line 2" },
    { "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}\n", 0,
      DYNO_DATA_ERROR_CORRUPT, "line 1|nested" },
  };
  g_autofree char *folder = test_folder_new ();

  put_four (folder);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gsize size = cases[i].size > 0 ? cases[i].size : strlen (cases[i].text);
      g_autofree char *path = test_write (folder, "m.csv", cases[i].text, size);

      test_open_fails (path, (DynoDataError) cases[i].code, cases[i].words);
    }
  test_folder_remove (folder);
}

static void
test_folder_with_metadata (void)
{
  static const char *const names[] = { "train/a.jpg", "train/sub/b.jpg", "test/c.jpg", NULL };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL, of_root = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;

  put_jpeg (folder, "train/a.jpg", 10);
  put_jpeg (folder, "train/sub/b.jpg", 10);
  put_jpeg (folder, "test/c.jpg", 10);
  g_free (put_text (folder, "train/metadata.csv", "file_name,label\na.jpg,1\nsub/b.jpg,0\n"));
  g_free (put_text (folder, "test/metadata.jsonl", "{\"file_name\": \"c.jpg\", \"label\": 1}\n"));
  dataset = test_open (folder);
  assert_names (dataset, names);
  dyno_dataset_split (dataset, 0, 1, &train, &validation);
  g_assert_cmpuint (validation->len, ==, 1);
  g_assert_cmpint (dyno_dataset_get_label (dataset, 2), ==, 1);
  /* values in this file, a class in the other */
  g_free (put_text (folder, "test/metadata.jsonl", "{\"file_name\": \"c.jpg\", \"label\": 1.5}\n"));
  test_open_fails (folder, DYNO_DATA_ERROR_UNSUPPORTED, "other targets");
  g_free (put_text (folder, "metadata.csv",
                    "file_name,text,label\ntest/c.jpg,hello,x\ntrain/a.jpg,hi,y\n"));
  of_root = test_open (folder);
  g_assert_cmpuint (dyno_dataset_get_info (of_root)->n_samples, ==, 2);
  g_auto (GStrv) notes = dyno_dataset_list_notes (of_root, NULL, NULL);
  g_assert_nonnull (strstr (notes[0], "“text” of “metadata.csv” is not used: “label”"));
  test_folder_remove (folder);
}

static void
test_file_that_vanishes_is_an_error_of_its_sample (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *path = NULL, *gone = g_build_filename (folder, "b.jpg", NULL);
  g_autoptr (DynoDataset) dataset = NULL;
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  guint8 pixels[8 * 8 * 3];
  gint32 label;

  put_four (folder);
  path = put_text (folder, "m.csv", "a.jpg,x\nb.jpg,y\n");
  dataset = test_open (path);
  g_assert_cmpint (g_unlink (gone), ==, 0);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_true (
      dyno_dataset_decode (dataset, 0, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error));
  g_assert_false (
      dyno_dataset_decode (dataset, 1, 8, 8, (gpointer[]){ pixels, &label }, scratch, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_NOT_FOUND);
  test_has_words (error, "b.jpg");
  test_folder_remove (folder);
}

static guint64
hash_of (const char *folder, const char *text)
{
  g_autofree char *path = put_text (folder, "m.csv", text);
  g_autoptr (DynoDataset) dataset = test_open (path);
  return dyno_dataset_get_info (dataset)->content_hash;
}

static void
test_content_hash_sees_labels_values_parts_and_order (void)
{
  static const char *const texts[] = {
    "path,label,split\na.jpg,x,train\nb.jpg,y,train\n",
    "path,label,split\na.jpg,y,train\nb.jpg,x,train\n",
    "path,label,split\na.jpg,x,train\nb.jpg,y,val\n",
    "path,label,split\nb.jpg,y,train\na.jpg,x,train\n",
    "path,label,split\na.jpg,1.5,train\nb.jpg,2,train\n",
    "path,label,split\na.jpg,1.5,train\nb.jpg,3,train\n",
  };
  g_autofree char *folder = test_folder_new ();
  guint64 hashes[G_N_ELEMENTS (texts)];

  put_four (folder);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      hashes[i] = hash_of (folder, texts[i]);
      g_assert_cmphex (hash_of (folder, texts[i]), ==, hashes[i]);
      for (guint k = 0; k < i; k++)
        g_assert_cmphex (hashes[k], !=, hashes[i]);
    }
  test_folder_remove (folder);
}

/* --- the meaning of columns ------------------------------------------------------------------- */

typedef struct {
  const char *text;
  DynoTask task;
  guint n_classes, n_values; /* both 0: the columns are refused */
  const char *name;          /* of the first class or value */
  double last;               /* label or first value of the last row */
  const char *words;         /* of a note or of the error; NULL: no note about a guess */
} Columns;

/* Every case lists a.jpg, b.jpg and c.jpg, in this order. */
static void
check_columns (const Columns *cases, guint n)
{
  g_autofree char *folder = test_folder_new ();

  put_four (folder);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = put_text (folder, "m.csv", cases[i].text), *all = NULL;
      const DynoDatasetParams params = { .task = cases[i].task };
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = dyno_dataset_open (path, &params, NULL, NULL, NULL, &error);
      g_auto (GStrv) notes = NULL;
      const DynoDatasetInfo *info;

      g_test_message ("%s", cases[i].text);
      if (cases[i].n_classes + cases[i].n_values == 0)
        {
          g_assert_null (dataset);
          test_has_words (error, cases[i].words);
          continue;
        }
      g_assert_no_error (error);
      info = dyno_dataset_get_info (dataset);
      g_assert_cmpuint (info->n_unreadable, ==, 0);
      g_assert_cmpuint (info->n_samples, ==, 3);
      g_assert_cmpuint (info->n_classes, ==, cases[i].n_classes);
      g_assert_cmpuint (dyno_schema_count_values (&info->schema), ==, cases[i].n_values);
      if (cases[i].n_classes > 0)
        g_assert_cmpstr (info->class_names[0], ==, cases[i].name);
      else
        g_assert_cmpstr (info->target_names ? info->target_names[0] : NULL, ==, cases[i].name);
      g_assert_cmpfloat (cases[i].n_classes > 0 ? dyno_dataset_get_label (dataset, 2)
                                                : (double) dyno_dataset_get_values (dataset, 2)[0],
                         ==, cases[i].last);
      notes = dyno_dataset_list_notes (dataset, NULL, NULL);
      all = g_strjoinv ("\n", notes);
      if (cases[i].words)
        {
          g_auto (GStrv) words = g_strsplit (cases[i].words, "|", -1);
          for (guint k = 0; words[k]; k++)
            g_assert_nonnull (strstr (all, words[k]));
        }
      else
        g_assert_null (strstr (all, "It is a guess"));
    }
  test_folder_remove (folder);
}

static void
test_class_among_numbers (void)
{
  static const Columns cases[] = {
    { "Width,Roi.X1,ClassId,Path\n20,1,7,a.jpg\n21,2,8,b.jpg\n22,3,7,c.jpg\n", DYNO_TASK_AUTO, 2, 0,
      "7", 0,
      "columns “Width”, “Roi.X1” of “m.csv” are not used: “ClassId” is learned|guess that classes|"
      "“ClassId” is named as targets are; data.task=values" },
    { "path,label_id,x\na.jpg,3,1\nb.jpg,4,1\nc.jpg,4,2\n", DYNO_TASK_AUTO, 2, 0, "3", 1,
      "“x” of “m.csv” is not used" },
    { "path,w,h\na.jpg,3,1\nb.jpg,4,1\nc.jpg,4,2\n", DYNO_TASK_AUTO, 0, 2, "w", 4,
      "the columns “w”, “h” hold whole numbers, and none is named label or class; "
      "data.task=classes" },
    { "path,w,h\na.jpg,3,1.5\nb.jpg,4,1\nc.jpg,4,2\n", DYNO_TASK_AUTO, 0, 2, "w", 4, NULL },
    { ",path,kind,w\n0,a.jpg,x,1\n1,b.jpg,y,2\n2,c.jpg,x,3\n", DYNO_TASK_CLASSES, 0, 0, NULL, 0,
      "name the one of the classes “label”" },
    { "path,w,h\na.jpg,3,1\nb.jpg,4,1\nc.jpg,4,2\n", DYNO_TASK_CLASSES, 0, 0, NULL, 0,
      "several columns of numbers" },
    { "Unnamed: 0,path,breed\n0,a.jpg,x\n1,b.jpg,y\n2,c.jpg,x\n", DYNO_TASK_AUTO, 2, 0, "x", 0,
      "“Unnamed: 0” of “m.csv” is not used: “breed” is learned" },
  };

  check_columns (cases, G_N_ELEMENTS (cases));
}

static void
test_one_hot_columns_are_classes (void)
{
  static const Columns cases[] = {
    { "filename, apple, banana\na.jpg, 1, 0\nb.jpg, 0, 1\nc.jpg, 0, 1\n", DYNO_TASK_AUTO, 2, 0,
      "apple", 1, "each row has one 1 among the columns “apple”, “banana”; data.task=values" },
    { "path,x,y,z\na.jpg,0,1.0,0\nb.jpg,0,0,1\nc.jpg,0,1,0\n", DYNO_TASK_AUTO, 3, 0, "x", 1,
      "one 1 among" },
    { "path,x,y\na.jpg,1,0\nb.jpg,0,1\nc.jpg,0,1\n", DYNO_TASK_VALUES, 0, 2, "x", 0, NULL },
    { "path,x,y\na.jpg,1,0\nb.jpg,0,1\nc.jpg,1,1\n", DYNO_TASK_VALUES, 0, 2, "x", 1, NULL },
    { "path,x,y\na.jpg,1,0\nb.jpg,0,2\nc.jpg,0,1\n", DYNO_TASK_AUTO, 0, 2, "x", 0, "guess" },
  };

  check_columns (cases, G_N_ELEMENTS (cases));
}

static void
test_numbers_are_classes_or_values (void)
{
  static const Columns cases[] = {
    { "path,age\na.jpg,20\nb.jpg,43\nc.jpg,20\n", DYNO_TASK_AUTO, 2, 0, "20", 0,
      "guess that classes are learned: the column “age” holds whole numbers; data.task=values" },
    { "path,age\na.jpg,20\nb.jpg,43\nc.jpg,20\n", DYNO_TASK_VALUES, 0, 1, "age", 20, NULL },
    { "path,label\na.jpg,20\nb.jpg,43\nc.jpg,20\n", DYNO_TASK_AUTO, 2, 0, "20", 0, NULL },
    { "path,y\na.jpg,0.0\nb.jpg,2.0\nc.jpg,1.0\n", DYNO_TASK_AUTO, 0, 1, "y", 1,
      "with a point, though all are whole; data.task=classes" },
    { "path,y\na.jpg,0.0\nb.jpg,2.0\nc.jpg,1.0\n", DYNO_TASK_CLASSES, 3, 0, "0", 1, NULL },
    { "path,y\na.jpg,0.5\nb.jpg,2.0\nc.jpg,1.0\n", DYNO_TASK_CLASSES, 0, 0, NULL, 0,
      "numbers with a fraction" },
    { "path,y\na.jpg,u\nb.jpg,v\nc.jpg,u\n", DYNO_TASK_VALUES, 0, 0, NULL, 0,
      "no column of numbers" },
  };

  check_columns (cases, G_N_ELEMENTS (cases));
}

static void
test_decimal_comma (void)
{
  static const Columns cases[] = {
    { "path;x\na.jpg;0,5\nb.jpg;-1,25\nc.jpg;2\n", DYNO_TASK_AUTO, 0, 1, "x", 2,
      "numbers of the column “x” of “m.csv” are read with a decimal comma" },
    { "path;x;y\na.jpg;0,5;1\nb.jpg;1,25;2\nc.jpg;2,125;3\n", DYNO_TASK_AUTO, 0, 2, "x", 2.125,
      "decimal comma" },
    { "path,x\na.jpg,\"0,5\"\nb.jpg,\"1,25\"\nc.jpg,\"2,5\"\n", DYNO_TASK_AUTO, 0, 1, "x", 2.5,
      "decimal comma" },
    /* thousands separators or three decimals: undecided */
    { "path,x\na.jpg,\"1,500\"\nb.jpg,\"1,250\"\nc.jpg,\"2,500\"\n", DYNO_TASK_AUTO, 3, 0, "1,250",
      2, NULL },
    { "path;x\na.jpg;0,5\nb.jpg;red\nc.jpg;blue\n", DYNO_TASK_AUTO, 3, 0, "0,5", 1, NULL },
  };

  check_columns (cases, G_N_ELEMENTS (cases));
}

static void
test_blanks_and_case_of_labels (void)
{
  static const Columns cases[] = {
    { "path,label\na.jpg,a\nb.jpg,\" b\t\"\nc.jpg,a \n", DYNO_TASK_AUTO, 2, 0, "a", 0, NULL },
    { "path,label\na.jpg,A\nb.jpg,b\nc.jpg,a\n", DYNO_TASK_AUTO, 3, 0, "A", 1,
      "“A” and “a” differ in capitals only" },
    { "path,label\na.jpg,AB\nb.jpg,Ab\nc.jpg,ab\n", DYNO_TASK_AUTO, 3, 0, "AB", 2,
      "The classes “AB” and “Ab”, and 1 other, differ in capitals only" },
  };

  check_columns (cases, G_N_ELEMENTS (cases));
}

/* --- names of files ---------------------------------------------------------------------------- */

static void
test_names_that_are_no_files (void)
{
  static const struct {
    const char *name, *text;
    const char *first; /* the first sample's path; NULL: refused with `words` */
    const char *words;
  } cases[] = {
    { "m.csv", "id,breed\nx1,a\nx2,b\n", "img/x1.jpg", "“x1” is “img/x1.jpg”" },
    { "m.csv", "id_code,diagnosis\nx1,0\nx2,1\n", "img/x1.jpg", "names stand for files" },
    { "m.csv", "number,kind\nx1,a\nx2,b\n", "img/x1.jpg", "stand for files" },
    { "m.csv", "file,label\nx1.jpg,a\nx2.jpg,b\n", "img/x1.jpg", "stand for files" },
    { "m.csv", "file;label\nimg\\x1.jpg;a\nimg\\x2.jpg;b\n", "img/x1.jpg",
      "“img\\x1.jpg” is “img/x1.jpg”" },
    { "m.csv", "file,label\nC:\\Users\\me\\img\\x1.jpg,a\nimg/x2.jpg,b\n", "img/x1.jpg",
      "stands for a file" },
    { "m.csv", "file,label\n/home/else/img/x1.jpg,a\nimg/x2.jpg,b\n", "img/x1.jpg",
      "stands for a file" },
    { "m.csv", "file,label\n./img/x1,a\nimg/x2.jpg,b\n", "img/x1.jpg", "stands for a file" },
    /* one such file in each of two folders: the name of the list decides, or the list is refused */
    { "train.csv", "file,label\nt.jpg,a\nimg/x2.jpg,b\nimg/x1.jpg,a\n", "train_images/t.jpg",
      "stands for a file" },
    { "m.csv", "file,label\nt.jpg,a\nimg/x2.jpg,b\nimg/x1.jpg,a\n", NULL,
      "line 2: several files have this name" },
    /* folders with other names than in the list are other folders */
    { "m.csv", "file,label\nelse/x1.jpg,a\nimg/x2.jpg,b\nimg/x1.jpg,a\n", NULL, "“else/x1.jpg”: " },
    { "m.csv", "file,label\nx1.png,a\nimg/x2.jpg,b\nimg/x1.jpg,a\n", NULL, "“x1.png”: " },
  };
  g_autofree char *folder = test_folder_new ();

  put_jpeg (folder, "img/x1.jpg", 10);
  put_jpeg (folder, "img/x2.jpg", 90);
  put_jpeg (folder, "train_images/t.jpg", 90);
  put_jpeg (folder, "test_images/t.jpg", 90);
  g_free (put_text (folder, "img/x1.txt", "a word on it"));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = put_text (folder, cases[i].name, cases[i].text);
      g_autoptr (DynoDataset) dataset = test_open (path);
      g_autofree char *first = dyno_dataset_describe_sample (dataset, 0), *all = NULL;
      g_auto (GStrv) notes = dyno_dataset_list_notes (dataset, NULL, NULL);

      g_test_message ("%s", cases[i].text);
      if (!cases[i].first)
        {
          g_assert_true (is_listed (dataset, cases[i].words));
          continue;
        }
      g_assert_cmpstr (first, ==, cases[i].first);
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 0);
      all = g_strjoinv ("\n", notes);
      g_assert_nonnull (strstr (all, cases[i].words));
    }
  test_folder_remove (folder);
}

static void
test_parts_as_people_write_them (void)
{
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (DynoDataset) dataset = NULL, of_folder = NULL;
  g_autoptr (GArray) train = NULL, validation = NULL;

  put_four (folder);
  path = put_text (folder, "m.csv",
                   "path,label,Usage\na.jpg,x,Training\nb.jpg,y,PublicTest\nc.jpg,y,PrivateTest\n"
                   "b.jpg,y,Training\n");
  dataset = test_open (path);
  dyno_dataset_split (dataset, 0, 1, &train, &validation);
  g_assert_cmpuint (train->len, ==, 2);
  g_assert_cmpuint (validation->len, ==, 1);
  put_jpeg (folder, "rf/train/a.jpg", 10);
  put_jpeg (folder, "rf/train/b.jpg", 10);
  put_jpeg (folder, "rf/valid/c.jpg", 10);
  g_free (put_text (folder, "rf/train/_classes.csv", "filename, p, q\na.jpg, 1, 0\nb.jpg, 0, 1\n"));
  g_free (put_text (folder, "rf/valid/_classes.csv", "filename, p, q\nc.jpg, 0, 1\n"));
  g_autofree char *rf = g_build_filename (folder, "rf", NULL);
  of_folder = test_open (rf);
  g_assert_cmpuint (dyno_dataset_get_info (of_folder)->n_classes, ==, 2);
  g_assert_true (dyno_dataset_get_info (of_folder)->has_split);
  g_assert_cmpint (dyno_dataset_get_label (of_folder, 2), ==, 1);
  test_folder_remove (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/manifest/lines-are-counted-with-the-empty-ones",
                   test_lines_are_counted_with_the_empty_ones);
  g_test_add_func ("/data/manifest/ways-to-write-classes", test_ways_to_write_classes);
  g_test_add_func ("/data/manifest/whole-numbers-are-classes-in-their-order",
                   test_whole_numbers_are_classes_in_their_order);
  g_test_add_func ("/data/manifest/values-with-names-and-units", test_values_with_names_and_units);
  g_test_add_func ("/data/manifest/split-column", test_split_column);
  g_test_add_func ("/data/manifest/what-lies-outside", test_what_lies_outside);
  g_test_add_func ("/data/manifest/rows-that-cannot-be-used-are-listed",
                   test_rows_that_cannot_be_used_are_listed);
  g_test_add_func ("/data/manifest/broken-files", test_broken_files);
  g_test_add_func ("/data/manifest/folder-with-metadata", test_folder_with_metadata);
  g_test_add_func ("/data/manifest/file-that-vanishes-is-an-error-of-its-sample",
                   test_file_that_vanishes_is_an_error_of_its_sample);
  g_test_add_func ("/data/manifest/content-hash-sees-labels-values-parts-and-order",
                   test_content_hash_sees_labels_values_parts_and_order);
  g_test_add_func ("/data/manifest/class-among-numbers", test_class_among_numbers);
  g_test_add_func ("/data/manifest/one-hot-columns-are-classes", test_one_hot_columns_are_classes);
  g_test_add_func ("/data/manifest/numbers-are-classes-or-values",
                   test_numbers_are_classes_or_values);
  g_test_add_func ("/data/manifest/decimal-comma", test_decimal_comma);
  g_test_add_func ("/data/manifest/blanks-and-case-of-labels", test_blanks_and_case_of_labels);
  g_test_add_func ("/data/manifest/names-that-are-no-files", test_names_that_are_no_files);
  g_test_add_func ("/data/manifest/parts-as-people-write-them", test_parts_as_people_write_them);
  return g_test_run ();
}
