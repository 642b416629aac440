/* SPDX-License-Identifier: MIT */
/* Samples with several labels in manifests: the notations that are read, those that are guessed,
 * and the division of such data. */
#include "archive-test.h"
#include "convert.h"
#include "npyfile.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static void
put_jpeg (const char *folder, const char *name, guint8 red)
{
  g_autoptr (GByteArray) file = test_jpeg (40, 30, red, 50, 50, FALSE);
  g_free (test_write (folder, name, file->data, file->len));
}

static void
put_text (const char *folder, const char *name, const char *text)
{
  g_free (test_write (folder, name, text, strlen (text)));
}

static char *
put_files (const char *name, const char *text, char **path)
{
  char *folder = test_folder_new ();

  for (guint i = 0; i < 6; i++)
    {
      g_autofree char *image = g_strdup_printf ("%u.jpg", i);
      put_jpeg (folder, image, (guint8) (20 * i));
    }
  *path = test_write (folder, name, text, strlen (text));
  return folder;
}

static DynoDataset *
open_as (const char *path, DynoTask task, GError **error)
{
  return dyno_dataset_open (path, &(DynoDatasetParams){ .task = task }, NULL, NULL, NULL, error);
}

static void
assert_labels (DynoDataset *dataset, const char *names, const char *states)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autofree char *got = g_strjoinv (" ", info->class_names);
  g_autofree guint64 *counts = g_new0 (guint64, info->n_classes);
  g_autoptr (GString) all = g_string_new (NULL);

  g_assert_cmpint (dyno_dataset_get_task (info), ==, DYNO_TASK_LABELS);
  g_assert_cmpstr (got, ==, names);
  g_assert_cmpuint (dyno_schema_count_labels (&info->schema), ==, info->n_classes);
  g_assert_true (info->knows_values);
  g_assert_false (dyno_dataset_has_classes (info));
  for (guint64 i = 0; i < info->n_samples; i++)
    {
      const float *values = dyno_dataset_get_values (dataset, i);

      g_string_append (all, i > 0 ? " " : "");
      for (guint32 c = 0; c < info->n_classes; c++)
        {
          counts[c] += values[c] == 1;
          g_string_append_c (all, isnan (values[c]) ? '?' : values[c] == 1 ? '1' : '0');
        }
    }
  g_assert_cmpstr (all->str, ==, states);
  for (guint32 c = 0; c < info->n_classes; c++)
    g_assert_cmpuint (info->class_counts[c], ==, counts[c]);
}

typedef struct {
  const char *name, *text;
  DynoTask asked;
  const char *labels, *states; /* of all samples; '?': not known */
  gboolean guessed, doubted;
} Way;

/* Columns keep their order; names from lists are sorted. */
static void
test_notations (void)
{
  static const Way ways[] = {
    { "flags.csv", "file,dog,cat,bird\n0.jpg,1,1,0\n1.jpg,0,0,0\n2.jpg,0,1,0\n", DYNO_TASK_AUTO,
      "dog cat bird", "110 000 010", TRUE, FALSE },
    { "points.csv", "file,dog,cat\n0.jpg,1.0,1.0\n1.jpg,0.0,1.0\n2.jpg,0,0\n", DYNO_TASK_AUTO,
      "dog cat", "11 01 00", TRUE, FALSE },
    { "onehot.csv", "file,dog,cat\n0.jpg,1,0\n1.jpg,0,1\n", DYNO_TASK_LABELS, "dog cat", "10 01",
      FALSE, FALSE },
    { "words.csv", "file,dog,cat\n0.jpg,True,False\n1.jpg,false,TRUE\n2.jpg,true,true\n",
      DYNO_TASK_LABELS, "dog cat", "10 01 11", FALSE, FALSE },
    /* CheXpert: other columns beside the labels, -1 and nothing for those that are not known */
    { "chexpert.csv",
      "Path,Sex,Age,Edema,Fracture\n0.jpg,Male,54,1.0,\n1.jpg,Female,60,-1.0,0.0\n2.jpg,Male,7,,1."
      "0\n",
      DYNO_TASK_LABELS, "Edema Fracture", "1? ?0 ?1", FALSE, FALSE },
    { "bars.csv", "image,tags\n0.jpg,dog|cat\n1.jpg,cat\n2.jpg,\n3.jpg,dog\n4.jpg,cat | bird\n",
      DYNO_TASK_AUTO, "bird cat dog", "011 010 000 001 110", TRUE, TRUE },
    { "semicolons.csv", "image,labels\n0.jpg,10;9\n1.jpg,9\n2.jpg,10\n3.jpg,2;9\n4.jpg,2\n",
      DYNO_TASK_AUTO, "2 9 10", "011 010 001 110 100", TRUE, TRUE },
    /* beside columns of numbers, in too many combinations for classes */
    { "beside.csv",
      "file,width,height,tags\n0.jpg,3,4,dog|cat\n1.jpg,3,5,cat\n2.jpg,4,4,dog\n3.jpg,4,4,owl|cat\n"
      "4.jpg,4,5,owl|dog|cat\n",
      DYNO_TASK_AUTO, "cat dog owl", "110 100 010 101 111", TRUE, TRUE },
    /* decimal commas between semicolons */
    { "decimal.csv", "file;dog;cat\n0.jpg;1,0;1,0\n1.jpg;0,0;1,0\n2.jpg;0,0;0,0\n", DYNO_TASK_AUTO,
      "dog cat", "11 01 00", TRUE, FALSE },
    { "commas.csv", "image,labels\n0.jpg,\"dog,cat\"\n1.jpg,cat\n", DYNO_TASK_LABELS, "cat dog",
      "11 10", FALSE, FALSE },
    /* Kaggle's Planet: blanks between the names */
    { "blanks.csv",
      "image_name,tags\n0.jpg,haze primary\n1.jpg,clear primary water\n2.jpg,haze\n"
      "3.jpg,clear haze\n4.jpg,water\n",
      DYNO_TASK_LABELS, "clear haze primary water", "0110 1011 0100 1100 0001", FALSE, FALSE },
    /* names with blanks, which separate nothing */
    { "names.csv", "image,labels\n0.jpg,golden retriever\n1.jpg,golden eagle\n2.jpg,sea eagle\n",
      DYNO_TASK_LABELS, "golden eagle|golden retriever|sea eagle", "010 100 001", FALSE, FALSE },
    { "python.csv", "image,labels\n0.jpg,\"['dog', 'cat']\"\n1.jpg,['cat']\n2.jpg,[]\n",
      DYNO_TASK_LABELS, "cat dog", "11 10 00", FALSE, FALSE },
    { "lists.jsonl",
      "{\"file_name\":\"0.jpg\",\"labels\":[\"a|b\",\"c\"]}\n"
      "{\"file_name\":\"1.jpg\",\"labels\":[]}\n"
      "{\"file_name\":\"2.jpg\",\"labels\":[\"c\"]}\n",
      DYNO_TASK_AUTO, "a|b c", "11 00 01", TRUE, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *path = NULL, *folder = put_files (ways[i].name, ways[i].text, &path);
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = open_as (path, ways[i].asked, &error);
      const DynoDatasetInfo *info;

      g_assert_no_error (error);
      info = dyno_dataset_get_info (dataset);
      if (g_str_equal (ways[i].name, "names.csv"))
        {
          g_autofree char *names = g_strjoinv ("|", info->class_names);
          g_assert_cmpstr (names, ==, ways[i].labels);
        }
      else
        assert_labels (dataset, ways[i].labels, ways[i].states);
      g_assert_cmpint (info->task_reason != NULL, ==, ways[i].guessed);
      g_assert_cmpint (info->task_doubted, ==, ways[i].doubted);
      test_folder_remove (folder);
    }
}

/* The same lists are classes where another task is known, and one separator in a few names decides
 * nothing. */
static void
test_no_labels (void)
{
  static const struct {
    const char *text;
    DynoTask asked, task;
  } cases[] = {
    { "image,tags\n0.jpg,dog|cat\n1.jpg,cat\n2.jpg,dog|cat\n3.jpg,dog\n", DYNO_TASK_CLASSES,
      DYNO_TASK_CLASSES },
    { "image,label\n0.jpg,a|b\n1.jpg,a|b\n2.jpg,c\n3.jpg,c\n", DYNO_TASK_AUTO, DYNO_TASK_CLASSES },
    { "file,dog,cat\n0.jpg,1,1\n1.jpg,0,1\n", DYNO_TASK_VALUES, DYNO_TASK_VALUES },
    { "file,dog,cat\n0.jpg,1,0\n1.jpg,0,1\n", DYNO_TASK_AUTO, DYNO_TASK_CLASSES },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = NULL, *folder = put_files ("m.csv", cases[i].text, &path);
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = open_as (path, cases[i].asked, &error);

      g_assert_no_error (error);
      g_assert_cmpint (dyno_dataset_get_task (dyno_dataset_get_info (dataset)), ==, cases[i].task);
      test_folder_remove (folder);
    }
}

static void
test_refused (void)
{
  static const struct {
    const char *text;
    DynoTask asked;
    const char *words;
  } cases[] = {
    { "file,dog,cat\n0.jpg,1,1\n1.jpg,0,1\n", DYNO_TASK_CLASSES, "data.task to labels" },
    { "file,age,height\n0.jpg,20,1.7\n1.jpg,30,1.6\n", DYNO_TASK_LABELS,
      "“m.csv” has no labels, which data.task=labels needs" },
    { "0.jpg,1,1\n1.jpg,0,1\n", DYNO_TASK_LABELS, "a first line that names the columns" },
    { "0.jpg,1,1\n1.jpg,0,1\n", DYNO_TASK_AUTO, "a first line that names the columns" },
    { "image,labels\n0.jpg,\n1.jpg,\n", DYNO_TASK_LABELS, "The list names no label" },
    { "file,dog,cat\n0.jpg,1,0\n1.jpg,1,0\n", DYNO_TASK_LABELS,
      "no label that some samples have and others have not" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = NULL, *folder = put_files ("m.csv", cases[i].text, &path);
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = open_as (path, cases[i].asked, &error);

      g_assert_null (dataset);
      if (!strstr (error->message, cases[i].words))
        g_error ("%u: %s", i, error->message);
      test_folder_remove (folder);
    }
  g_autoptr (GError) error = NULL;
  g_assert_null (open_as ("builtin:shapes?samples=20", DYNO_TASK_LABELS, &error));
  g_assert_nonnull (strstr (error->message, "does not list several labels"));
}

/* In JSON lines a sample without a list of names is listed, and one with an empty list has none. */
static void
test_missing_lists (void)
{
  g_autofree char *path = NULL,
                  *folder = put_files ("m.jsonl",
                                       "{\"file_name\":\"0.jpg\",\"labels\":[\"a\",\"b\"]}\n"
                                       "{\"file_name\":\"1.jpg\",\"labels\":[]}\n"
                                       "{\"file_name\":\"2.jpg\",\"labels\":[1,0]}\n"
                                       "{\"file_name\":\"3.jpg\",\"labels\":null}\n"
                                       "{\"file_name\":\"4.jpg\"}\n",
                                       &path);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = open_as (path, DYNO_TASK_AUTO, &error);

  g_assert_no_error (error);
  assert_labels (dataset, "a b", "11 00");
  g_assert_cmpuint (g_strv_length ((char **) dyno_dataset_get_unreadable (dataset)), ==, 3);
  test_folder_remove (folder);
}

/* A sample of which nothing is known is listed with its line; the second file of a folder with
 * parts may have its columns in another order. */
static void
test_rows_and_parts (void)
{
  g_autofree char *path = NULL,
                  *folder =
                      put_files ("m.csv", "file,dog,cat\n0.jpg,1,1\n1.jpg,,-1\n2.jpg,0,1\n", &path);
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = open_as (path, DYNO_TASK_LABELS, &error);

  g_assert_no_error (error);
  assert_labels (dataset, "dog cat", "11 01");
  test_missing_lists ();
  g_assert_nonnull (strstr (dyno_dataset_get_unreadable (dataset)[0], "3"));
  test_folder_remove (folder);

  g_autofree char *both = test_folder_new (), *train = g_build_filename (both, "train", NULL),
                  *valid = g_build_filename (both, "valid", NULL);
  g_assert_cmpint (g_mkdir (train, 0700) | g_mkdir (valid, 0700), ==, 0);
  put_jpeg (train, "a.jpg", 10);
  put_jpeg (train, "b.jpg", 20);
  put_jpeg (valid, "c.jpg", 30);
  put_text (train, "_classes.csv", "filename, dog, cat\na.jpg, 1, 1\nb.jpg, 0, 0\n");
  put_text (valid, "_classes.csv", "filename, cat, owl, dog\nc.jpg, 0, 1, 1\n");
  g_autoptr (DynoDataset) parts = open_as (both, DYNO_TASK_AUTO, &error);
  g_assert_no_error (error);
  assert_labels (parts, "dog cat owl", "11? 00? 101");
  g_assert_true (dyno_dataset_get_info (parts)->has_split);
  g_autoptr (GArray) trained = NULL, validated = NULL;
  dyno_dataset_split (parts, 0.5, 1, &trained, &validated);
  g_auto (GStrv) notes = dyno_dataset_list_notes (parts, trained, validated);
  g_autofree char *all = g_strjoinv ("\n", notes);
  g_assert_nonnull (strstr (all, "no training sample with the label “owl”:"));
  g_assert_nonnull (strstr (all, "no validation sample with the label “cat”:"));
  /* Each file may lack a label, and have another column among its labels. */
  put_text (train, "_classes.csv", "filename, dog, fox, cat\na.jpg, 1, 1, 1\nb.jpg, 0, 0, 0\n");
  put_text (valid, "_classes.csv", "filename, cat, light, owl, dog\nc.jpg, 0, dim, 1, 1\n");
  g_autoptr (DynoDataset) others = open_as (both, DYNO_TASK_LABELS, &error);
  g_assert_no_error (error);
  assert_labels (others, "dog fox cat owl", "111? 000? 1?01");
  put_text (train, "_classes.csv", "filename, dog, cat\na.jpg, 1, 1\nb.jpg, 0, 0\n");
  /* By chance each row of the second file has a single 1. */
  put_text (valid, "_classes.csv", "filename, dog, cat\nc.jpg, 0, 1\n");
  g_autoptr (DynoDataset) single = open_as (both, DYNO_TASK_AUTO, &error);
  g_assert_no_error (error);
  assert_labels (single, "dog cat", "11 00 01");
  test_folder_remove (both);
}

/* The lists of the second file are separated as those of the first, also where no cell of it has
 * the separator. */
static void
test_separator_of_parts (void)
{
  g_autofree char *both = test_folder_new (), *train = g_build_filename (both, "train", NULL),
                  *valid = g_build_filename (both, "valid", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir (train, 0700) | g_mkdir (valid, 0700), ==, 0);
  put_jpeg (train, "a.jpg", 10);
  put_jpeg (train, "b.jpg", 20);
  put_jpeg (valid, "c.jpg", 30);
  put_text (train, "metadata.csv", "file_name,labels\na.jpg,\"dog;sea, deep\"\nb.jpg,dog\n");
  put_text (valid, "metadata.csv", "file_name,labels\nc.jpg,\"sea, deep\"\n");
  g_autoptr (DynoDataset) dataset = open_as (both, DYNO_TASK_LABELS, &error);
  g_assert_no_error (error);
  assert_labels (dataset, "dog sea, deep", "11 10 01");
  g_assert_true (dyno_dataset_get_info (dataset)->has_split);
  test_folder_remove (both);
}

/* Each part has its share of a rare label, and a sample is in one part only; the same holds for
 * folds and for a test part. */
static void
test_division (void)
{
  static const DynoDivision divisions[] = {
    { .seed = 7, .n_folds = 4, .fold = 0 }, { .seed = 7, .n_folds = 4, .fold = 1 },
    { .seed = 7, .n_folds = 4, .fold = 2 }, { .seed = 7, .n_folds = 4, .fold = 3 },
    { .seed = 7, .val_fraction = 0.25 },    { .seed = 7, .test_fraction = 0.25 },
  };
  g_autofree char *folder = test_folder_new (), *path = NULL;
  g_autoptr (GString) text = g_string_new ("file,common,rare\n");
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 6; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.jpg", i);
      put_jpeg (folder, name, (guint8) (i * 20));
    }
  /* 20 of 200 samples are rare, half of them with the common label too. */
  for (guint i = 0; i < 200; i++)
    g_string_append_printf (text, "%u.jpg,%u,%u\n", i % 6, i % 2, i % 20 == 0 || i % 20 == 5);
  path = test_write (folder, "m.csv", text->str, text->len);
  g_autoptr (DynoDataset) dataset = open_as (path, DYNO_TASK_LABELS, &error);
  g_assert_no_error (error);
  for (guint d = 0; d < G_N_ELEMENTS (divisions); d++)
    {
      g_autoptr (GArray) train = NULL, validation = NULL;
      g_auto (DynoDatasetParts) parts = { 0 };
      g_autofree guint8 *seen = g_new0 (guint8, 200);
      guint rare = 0;

      dyno_dataset_divide (dataset, &divisions[d], &parts);
      train = g_array_ref (parts.train);
      validation = g_array_ref (d == 5 ? parts.test : parts.validation);
      g_assert_cmpuint (validation->len, ==, 50);
      g_assert_cmpuint (train->len, ==, 150);
      for (guint i = 0; i < 200; i++)
        {
          guint32 index = i < 50 ? g_array_index (validation, guint32, i)
                                 : g_array_index (train, guint32, i - 50);
          g_assert_false (seen[index]);
          seen[index] = TRUE;
          rare += i < 50 && dyno_dataset_get_values (dataset, index)[1] > 0;
        }
      g_assert_cmpuint (rare, ==, 5);
    }
  test_folder_remove (folder);
}

/* --- arrays ----------------------------------------------------------------------------------- */

static void
put_array (const char *folder, const char *name, const char *type, guint n_dims,
           const guint64 *shape, gconstpointer data)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  dyno_npy_write (path, type, n_dims, shape, data, &error);
  g_assert_no_error (error);
}

/* Booleans as numpy saves them. */
static void
put_booleans (const char *folder, const char *name, guint n, guint width, const guint8 *flags)
{
  g_autofree char *header =
      g_strdup_printf ("{'descr': '|b1', 'fortran_order': False, 'shape': (%u, %u), }\n", n, width);
  guint8 start[10] = "\x93NUMPY\x01";
  g_autoptr (GByteArray) file = g_byte_array_new ();

  start[8] = (guint8) strlen (header);
  g_byte_array_append (file, start, sizeof start);
  g_byte_array_append (file, (const guint8 *) header, (guint) strlen (header));
  g_byte_array_append (file, flags, n * width);
  g_free (test_write (folder, name, file->data, file->len));
}

/* Whole numbers are labels by themselves where rows have several ones or none; of floats and of
 * labels that are not known the task has to be set. */
static void
test_arrays (void)
{
  static const gint64 several[6] = { 1, 1, 0, 1, 0, 0 }, single[6] = { 1, 0, 0, 1, 1, 0 },
                      unknown[6] = { 1, -1, 0, 1, -1, 0 }, one[3] = { 1, 0, 1 };
  static const guint8 booleans[6] = { 1, 1, 0, 1, 0, 0 };
  static const float floats[6] = { 1, 1, 0, 1, 0, 0 }, gaps[6] = { 1, NAN, 0, 1, -1, 0 };
  static const struct {
    const char *type;
    gconstpointer targets;
    guint width;
    DynoTask asked;
    const char *states;
  } cases[] = {
    { "i8", several, 2, DYNO_TASK_AUTO, "11 01 00" },
    { "i8", several, 2, DYNO_TASK_LABELS, "11 01 00" },
    { "i8", single, 2, DYNO_TASK_LABELS, "10 01 10" },
    { "i8", unknown, 2, DYNO_TASK_LABELS, "1? 01 ?0" },
    { "i8", one, 1, DYNO_TASK_LABELS, "1 0 1" },
    { "f4", floats, 2, DYNO_TASK_LABELS, "11 01 00" },
    { "f4", gaps, 2, DYNO_TASK_LABELS, "1? 01 ?0" },
    { NULL, booleans, 2, DYNO_TASK_AUTO, "11 01 00" },
  };
  g_autofree char *folder = test_folder_new (), *x = g_build_filename (folder, "X.npy", NULL);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  put_array (folder, "X.npy", "f4", 2, (guint64[]){ 3, 3 }, (float[9]){ 0 });
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      float input[3], target[2];

      if (cases[i].type)
        put_array (folder, "y.npy", cases[i].type, 2, (guint64[]){ 3, cases[i].width },
                   cases[i].targets);
      else
        put_booleans (folder, "y.npy", 3, cases[i].width, cases[i].targets);
      g_autoptr (DynoDataset) dataset = open_as (x, cases[i].asked, &error);
      g_assert_no_error (error);
      assert_labels (dataset, cases[i].width == 2 ? "0 1" : "0", cases[i].states);
      g_assert_cmpstr (
          dyno_dataset_get_info (dataset)->task_reason, ==,
          cases[i].asked == DYNO_TASK_AUTO ? "rows of “y.npy” have several ones, or none" : NULL);
      g_assert_false (dyno_dataset_get_info (dataset)->task_doubted);
      g_assert_true (
          dyno_dataset_decode (dataset, 0, 1, 1, (gpointer[]){ input, target }, scratch, &error));
      g_assert_cmpmem (target, cases[i].width * sizeof (float),
                       dyno_dataset_get_values (dataset, 0), cases[i].width * sizeof (float));
    }
  test_folder_remove (folder);
}

/* The array's names are those of y.names, each line as a whole. */
static void
test_array_names (void)
{
  static const gint64 several[6] = { 1, 1, 0, 1, 0, 0 };
  g_autofree char *folder = test_folder_new (), *x = g_build_filename (folder, "X.npy", NULL);
  g_autoptr (GError) error = NULL;

  put_array (folder, "X.npy", "f4", 2, (guint64[]){ 3, 3 }, (float[9]){ 0 });
  put_array (folder, "y.npy", "i8", 2, (guint64[]){ 3, 2 }, several);
  put_text (folder, "y.names", "# of pets\ndog (small)\ndog (large)\n");
  {
    g_autoptr (DynoDataset) dataset = open_as (x, DYNO_TASK_AUTO, &error);
    g_assert_no_error (error);
    assert_labels (dataset, "dog (small) dog (large)", "11 01 00");
    g_assert_null (dyno_dataset_get_info (dataset)->target_names);
  }
  put_text (folder, "y.names", "dog\n");
  g_assert_null (open_as (x, DYNO_TASK_AUTO, &error));
  g_assert_nonnull (strstr (error->message, "2 labels need as many different names"));
  test_folder_remove (folder);
}

/* A record of which nothing is known is refused, since X has no record to leave out. */
static void
test_array_without_known_labels (void)
{
  static const float gaps[6] = { 1, 0, NAN, NAN, 0, 1 };
  g_autofree char *folder = test_folder_new (), *x = g_build_filename (folder, "X.npy", NULL);
  g_autoptr (GError) error = NULL;

  put_array (folder, "X.npy", "f4", 2, (guint64[]){ 3, 3 }, (float[9]){ 0 });
  put_array (folder, "y.npy", "f4", 2, (guint64[]){ 3, 2 }, gaps);
  g_assert_null (open_as (x, DYNO_TASK_LABELS, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
  g_assert_nonnull (strstr (error->message, "record 1: no label is known; remove the record"));
  test_folder_remove (folder);
}

/* Images of bytes, and sequences in one array. */
static void
test_array_kinds (void)
{
  static const gint64 several[6] = { 1, 1, 0, 1, 0, 0 };
  g_autofree char *folder = test_folder_new (), *x = g_build_filename (folder, "X.npy", NULL);
  DynoDatasetParams params = { .sequences = TRUE };
  g_autoptr (GError) error = NULL;

  put_array (folder, "y.npy", "i8", 2, (guint64[]){ 3, 2 }, several);
  put_array (folder, "X.npy", "u1", 4, (guint64[]){ 3, 2, 2, 3 }, (guint8[36]){ 0 });
  {
    g_autoptr (DynoDataset) dataset = open_as (x, DYNO_TASK_AUTO, &error);
    g_assert_no_error (error);
    assert_labels (dataset, "0 1", "11 01 00");
  }
  put_array (folder, "X.npy", "f4", 3, (guint64[]){ 3, 4, 2 }, (float[24]){ 0 });
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (x, &params, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (dyno_dataset_get_info (dataset)->axes, ==, "NTF");
  assert_labels (dataset, "0 1", "11 01 00");
  test_folder_remove (folder);
}

/* --- sequences -------------------------------------------------------------------------------- */

static void
put_sequences (const char *folder)
{
  put_array (folder, "a.npy", "f4", 2, (guint64[]){ 5, 2 }, (float[10]){ 0 });
  put_array (folder, "b.npy", "f4", 2, (guint64[]){ 3, 2 }, (float[6]){ 0 });
  put_array (folder, "c.npy", "f4", 2, (guint64[]){ 4, 2 }, (float[8]){ 0 });
}

/* The labels of sequences come from an array, with its names, or from a list; a sequence that
 * cannot be read takes its labels with it. */
static void
test_sequences (void)
{
  static const gint64 several[6] = { 1, 1, 0, 1, 0, 0 };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  float input[10], target[2];
  gint32 length;

  put_sequences (folder);
  put_array (folder, "y.npy", "i8", 2, (guint64[]){ 3, 2 }, several);
  put_text (folder, "y.names", "walks\ntalks\n");
  {
    g_autoptr (DynoDataset) dataset = open_as (folder, DYNO_TASK_AUTO, &error);
    g_assert_no_error (error);
    assert_labels (dataset, "walks talks", "11 01 00");
    g_assert_true (dyno_dataset_decode (dataset, 1, 5, 1, (gpointer[]){ input, target, &length },
                                        scratch, &error));
    g_assert_cmpint (length, ==, 3);
    g_assert_cmpfloat (target[0], ==, 0);
    g_assert_cmpfloat (target[1], ==, 1);
  }
  put_text (folder, "b.npy", "no array");
  {
    g_autoptr (DynoDataset) dataset = open_as (folder, DYNO_TASK_AUTO, &error);
    g_assert_no_error (error);
    assert_labels (dataset, "walks talks", "11 00");
  }
  put_sequences (folder);
  put_text (folder, "labels.csv", "file,walks,talks\na.npy,1,1\nb.npy,1,\nc.npy,0,1\n");
  g_autoptr (DynoDataset) listed = open_as (folder, DYNO_TASK_LABELS, &error);
  g_assert_no_error (error);
  assert_labels (listed, "walks talks", "11 1? 01");
  test_folder_remove (folder);
}

/* --- packed ----------------------------------------------------------------------------------- */

static char *
pack (DynoDataset *dataset, const char *folder)
{
  char *path = g_build_filename (folder, "packed.tar", NULL);
  g_autoptr (GError) error = NULL;
  DynoConverted converted;

  dyno_dataset_convert (dataset, path, 0, NULL, NULL, NULL, NULL, &converted, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (converted.n_skipped, ==, 0);
  return path;
}

/* Images, arrays and sequences with labels are the same after packing: the names in their order,
 * those without a sample too, and the labels that are not known. */
static void
test_packed (void)
{
  static const float gaps[9] = { 1, NAN, 0, 0, 1, 0, -1, 0, 0 };
  static const char list[] = "file,zebra,cat,none,split\n0.jpg,1,1,0,train\n1.jpg,,0,0,val\n"
                             "2.jpg,0,-1,0,train\n";
  g_autofree char *path = NULL, *images = put_files ("m.csv", list, &path),
                  *folder = test_folder_new (), *x = g_build_filename (folder, "X.npy", NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *out = test_folder_new (), *packed = NULL;
      g_autoptr (DynoDataset) dataset = open_as (path, DYNO_TASK_LABELS, &error);

      g_assert_no_error (error);
      assert_labels (dataset, "zebra cat none", "110 ?00 0?0");
      packed = pack (dataset, out);
      g_autoptr (DynoDataset) again =
          open_as (packed, i ? DYNO_TASK_LABELS : DYNO_TASK_AUTO, &error);
      g_assert_no_error (error);
      assert_labels (again, "zebra cat none", "110 ?00 0?0");
      g_assert_null (dyno_dataset_get_info (again)->task_reason);
      g_assert_cmpuint (dyno_dataset_get_info (again)->n_validation, ==, 1);
      test_folder_remove (out);
    }
  put_array (folder, "y.npy", "f4", 2, (guint64[]){ 3, 3 }, gaps);
  put_text (folder, "y.names", "zebra\ncat\nnone\n");
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *out = test_folder_new (), *packed = NULL;

      if (i == 0)
        put_array (folder, "X.npy", "f4", 2, (guint64[]){ 3, 3 }, (float[9]){ 0 });
      else
        {
          g_assert_cmpint (g_unlink (x), ==, 0);
          put_sequences (folder);
        }
      g_autoptr (DynoDataset) dataset = open_as (i == 0 ? x : folder, DYNO_TASK_LABELS, &error);
      g_assert_no_error (error);
      packed = pack (dataset, out);
      g_autoptr (DynoDataset) again = open_as (packed, DYNO_TASK_AUTO, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (dyno_dataset_get_info (again)->kind, ==, "packed-arrays");
      assert_labels (again, "zebra cat none", "1?0 010 ?00");
      test_folder_remove (out);
    }
  test_folder_remove (folder);
  test_folder_remove (images);
}

static void
test_packed_too_many (void)
{
  const guint n = 4097;
  g_autofree char *folder = test_folder_new (), *x = g_build_filename (folder, "X.npy", NULL),
                  *out = g_build_filename (folder, "out.tar", NULL);
  g_autofree gint64 *rows = g_new0 (gint64, 2 * n);
  g_autoptr (GError) error = NULL;
  DynoConverted converted;

  rows[0] = rows[1] = 1;
  put_array (folder, "X.npy", "f4", 2, (guint64[]){ 2, 3 }, (float[6]){ 0 });
  put_array (folder, "y.npy", "i8", 2, (guint64[]){ 2, n }, rows);
  g_autoptr (DynoDataset) dataset = open_as (x, DYNO_TASK_AUTO, &error);
  g_assert_no_error (error);
  g_assert_false (
      dyno_dataset_convert (dataset, out, 0, NULL, NULL, NULL, NULL, &converted, &error));
  g_assert_error (error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_UNSUPPORTED);
  test_has_words (error, "X.npy|has 4097 labels; a packed file keeps up to 4096|its source");
  test_folder_remove (folder);
}

/* --- WebDataset of other programs ------------------------------------------------------------- */

static char *
put_shard (const char *folder, const char *const *texts, guint n)
{
  g_autoptr (GByteArray) tar = g_byte_array_new ();

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GByteArray) jpeg = test_jpeg (40, 30, (guint8) (20 * i), 50, 50, FALSE);
      g_autofree char *image = g_strdup_printf ("%u.jpg", i);
      g_autofree char *json = g_strdup_printf ("%u.json", i);

      test_tar_add (tar, image, '0', jpeg->data, jpeg->len);
      test_tar_add (tar, json, '0', texts[i], strlen (texts[i]));
    }
  test_tar_end (tar);
  return test_write (folder, "s.tar", tar->data, tar->len);
}

static void
test_shards (void)
{
  static const struct {
    const char *texts[5];
    guint n;
    DynoTask asked;
    const char *names, *states, *unreadable;
  } cases[] = {
    { { "{\"labels\":[\"dog\",\"cat\"]}", "{\"labels\":[]}", "{\"labels\":[\"cat\"]}" },
      3,
      DYNO_TASK_AUTO,
      "cat dog",
      "11 00 10",
      NULL },
    { { "{\"labels\":[1,0,-1]}", "{\"labels\":[false,true,true]}", "{\"labels\":[0,1]}",
        "{\"labels\":[0,1,7]}", "{\"labels\":[-1,-1,-1]}" },
      5,
      DYNO_TASK_AUTO,
      "0 1 2",
      "10? 011",
      "s.tar: 2: it has another number of labels|s.tar: 3: its labels are neither names|"
      "s.tar: 4: none of its labels is known" },
    { { "{\"label\":\"x\",\"labels\":[1,0]}", "{\"label\":\"y\",\"labels\":[0,1]}" },
      2,
      DYNO_TASK_LABELS,
      "0 1",
      "10 01",
      NULL },
    /* a single value is no list, and a class first does not make the others classes */
    { { "{\"labels\":3}", "{\"label\":\"x\"}", "{\"labels\":[\"a\"]}", "{\"labels\" : []}" },
      4,
      DYNO_TASK_LABELS,
      "a",
      "1 0",
      "s.tar: 0: the sample has no label|s.tar: 1: it has no list of labels" },
    { { "{\"labels\":[\"a\"]}", "{\"labels\":[1,0]}", "{\"label\":\"b\"}", "{\"labels\":[\"b\"]}" },
      4,
      DYNO_TASK_AUTO,
      "a b",
      "10 01",
      "s.tar: 1: its target is of another kind|s.tar: 2: its target is of another kind" },
  };
  static const char *const both[] = { "{\"label\":\"x\",\"labels\":[1,0]}",
                                      "{\"label\":\"y\",\"labels\":[0,1]}" };
  g_autofree char *folder = test_folder_new ();
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = put_shard (folder, cases[i].texts, cases[i].n);
      g_autoptr (DynoDataset) dataset = open_as (path, cases[i].asked, &error);
      g_auto (GStrv) unreadable =
          cases[i].unreadable ? g_strsplit (cases[i].unreadable, "|", -1) : g_new0 (char *, 1);

      g_assert_no_error (error);
      assert_labels (dataset, cases[i].names, cases[i].states);
      for (guint u = 0; unreadable[u]; u++)
        g_assert_nonnull (strstr (dyno_dataset_get_unreadable (dataset)[u], unreadable[u]));
      g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==,
                        g_strv_length (unreadable));
    }
  g_autofree char *path = put_shard (folder, both, 2);
  g_autoptr (DynoDataset) classes = open_as (path, DYNO_TASK_AUTO, &error);
  g_assert_no_error (error);
  g_assert_cmpint (dyno_dataset_get_task (dyno_dataset_get_info (classes)), ==, DYNO_TASK_CLASSES);
  test_folder_remove (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/labels/notations", test_notations);
  g_test_add_func ("/data/labels/other-tasks", test_no_labels);
  g_test_add_func ("/data/labels/refused", test_refused);
  g_test_add_func ("/data/labels/rows-and-parts", test_rows_and_parts);
  g_test_add_func ("/data/labels/separator-of-parts", test_separator_of_parts);
  g_test_add_func ("/data/labels/division", test_division);
  g_test_add_func ("/data/labels/arrays", test_arrays);
  g_test_add_func ("/data/labels/array-names", test_array_names);
  g_test_add_func ("/data/labels/array-without-known-labels", test_array_without_known_labels);
  g_test_add_func ("/data/labels/array-kinds", test_array_kinds);
  g_test_add_func ("/data/labels/sequences", test_sequences);
  g_test_add_func ("/data/labels/packed", test_packed);
  g_test_add_func ("/data/labels/packed-too-many", test_packed_too_many);
  g_test_add_func ("/data/labels/shards", test_shards);
  return g_test_run ();
}
