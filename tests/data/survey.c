/* SPDX-License-Identifier: MIT */
/* Notes about the content of samples, and the samples that are shown. */
#include "data-test.h"
#include "npyfile.h"
#include "survey.h"
#include <string.h>

static void
put (const char *folder, const char *name, GByteArray *file)
{
  g_free (test_write (folder, name, file->data, file->len));
  g_byte_array_unref (file);
}

/* Images that all differ. */
static void
put_class (const char *folder, const char *name, guint n, guint8 green)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *file = g_strdup_printf ("%s/%02u.jpg", name, i);
      put (folder, file, test_jpeg (40, 30, (guint8) (i * 8), green, 50, FALSE));
    }
}

/* The first sentence that contains a word, or NULL. */
static const char *
find (const DynoSurvey *found, const char *word)
{
  for (guint i = 0; found->sentences[i]; i++)
    if (strstr (found->sentences[i], word))
      return found->sentences[i];
  return NULL;
}

/* Whether a sentence with that word is about a harmful finding. */
static gboolean
is_harm (const DynoSurvey *found, const char *word)
{
  for (guint i = 0; i < found->n_harmful; i++)
    if (strstr (found->sentences[i], word))
      return TRUE;
  return FALSE;
}

static DynoSurvey *
survey (const char *folder, guint64 most_bytes)
{
  const DynoDatasetParams params = { .one_class = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (folder, &params, NULL, NULL, NULL, &error);
  DynoSurvey *found;

  g_assert_no_error (error);
  found = dyno_dataset_survey (dataset, most_bytes, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return found;
}

static void
test_good_data_has_no_word (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoSurvey) found = NULL;

  put_class (folder, "a", 10, 0);
  put_class (folder, "b", 10, 200);
  found = survey (folder, 0);
  g_assert_null (found->sentences[0]);
  g_assert_true (found->compared);
  test_folder_remove (folder);
}

static void
test_same_samples (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoSurvey) found = NULL;
  g_autoptr (DynoSurvey) unread = NULL;
  const char *same, *wrong;

  put_class (folder, "a", 10, 0);
  put_class (folder, "b", 10, 200);
  put (folder, "a/copy.jpg", test_jpeg (40, 30, 8, 0, 50, FALSE));
  put (folder, "b/wrong.jpg", test_jpeg (40, 30, 16, 0, 50, FALSE));
  found = survey (folder, 0);
  same = find (found, "same as another");
  wrong = find (found, "another class");
  g_assert_true (same && g_str_has_prefix (same, "2 ") && strstr (same, "a/01.jpg, a/copy.jpg"));
  g_assert_true (wrong && g_str_has_prefix (wrong, "1 ") && strstr (wrong, "1 sample is")
                 && strstr (wrong, "a/02.jpg, b/wrong.jpg"));
  g_assert_null (find (found, "validation measures"));
  unread = survey (folder, 1);
  g_assert_true (found->compared && !unread->compared);
  for (guint less = 0; less < 2; less++)
    {
      g_autoptr (DynoDataset) dataset = test_open (folder);
      guint64 size = dyno_dataset_get_info (dataset)->size_bytes;
      g_autoptr (DynoSurvey) limited = survey (folder, size - less);

      g_assert_true (limited->compared == !less);
    }
  g_assert_cmpuint (found->n_harmful, ==, 2);
  g_assert_null (find (unread, "same as"));
  test_folder_remove (folder);
}

static void
test_leak_over_own_parts (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoSurvey) found = NULL;
  const char *leak;

  put_class (folder, "train/a", 10, 0);
  put_class (folder, "train/b", 10, 200);
  put_class (folder, "val/b", 3, 100);
  put (folder, "val/a/copy.jpg", test_jpeg (40, 30, 24, 0, 50, FALSE));
  found = survey (folder, 0);
  leak = find (found, "validation measures");
  g_assert_true (leak && g_str_has_prefix (leak, "1 ") && strstr (leak, "train/a/03.jpg"));
  g_assert_null (find (found, "same as another"));
  g_assert_null (find (found, "test measures"));
  g_clear_pointer (&found, dyno_survey_free);
  put_class (folder, "test/a", 2, 50);
  put (folder, "test/a/copy.jpg", test_jpeg (40, 30, 32, 0, 50, FALSE));
  put (folder, "test/b/copy.jpg", test_jpeg (40, 30, 8, 100, 50, FALSE));
  found = survey (folder, 0);
  leak = find (found, "test measures");
  g_assert_true (leak && g_str_has_prefix (leak, "2 ")
                 && strstr (leak, "train/a/04.jpg, test/a/copy.jpg"));
  leak = find (found, "validation measures");
  g_assert_true (leak && g_str_has_prefix (leak, "1 "));
  g_assert_null (find (found, "same as another"));
  test_folder_remove (folder);
}

/* The parts of a pair decide, whichever of its samples comes first. */
static void
test_leak_in_any_order (void)
{
  static const struct {
    const char *parts[2], *found, *absent;
  } cases[] = {
    { { "train", "test" }, "test measures", "validation measures" },
    { { "test", "train" }, "test measures", "validation measures" },
    { { "val", "test" }, "test measures", "validation measures" },
    { { "test", "val" }, "test measures", "validation measures" },
    { { "train", "val" }, "validation measures", "test measures" },
    { { "val", "train" }, "validation measures", "test measures" },
    { { "test", "test" }, "same as another", "measures" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder_new (), *list = NULL, *path = NULL;
      g_autoptr (DynoSurvey) found = NULL;
      const char *leak;

      put (folder, "1.jpg", test_jpeg (40, 30, 1, 2, 3, FALSE));
      put (folder, "2.jpg", test_jpeg (40, 30, 1, 2, 3, FALSE));
      put (folder, "3.jpg", test_jpeg (40, 30, 100, 2, 3, FALSE));
      put (folder, "4.jpg", test_jpeg (40, 30, 200, 2, 3, FALSE));
      list = g_strdup_printf ("path,label,split\n1.jpg,x,%s\n2.jpg,x,%s\n3.jpg,y,train\n"
                              "4.jpg,y,val\n",
                              cases[i].parts[0], cases[i].parts[1]);
      path = test_write (folder, "list.csv", list, strlen (list));
      found = survey (path, 0);
      leak = find (found, cases[i].found);
      g_assert_true (leak && g_str_has_prefix (leak, "1 ") && strstr (leak, "1.jpg, 2.jpg"));
      g_assert_null (find (found, cases[i].absent));
      test_folder_remove (folder);
    }
}

/* Inserts orientation 6 in an APP1 segment after the start of a JPEG. */
static GByteArray *
make_turned (GByteArray *jpeg)
{
  static const guint8 exif[] = { 0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0,    0, 'I', 'I',
                                 '*',  0,    8, 0,  0,   0,   1,   0,   0x12, 1, 3,   0,
                                 1,    0,    0, 0,  6,   0,   0,   0,   0,    0, 0,   0 };
  GByteArray *turned = g_byte_array_new ();

  g_byte_array_append (turned, jpeg->data, 2);
  g_byte_array_append (turned, exif, sizeof exif);
  g_byte_array_append (turned, jpeg->data + 2, jpeg->len - 2);
  g_byte_array_unref (jpeg);
  return turned;
}

/* Inserts two bytes that belong to no segment after the first segment. */
static GByteArray *
make_stray (GByteArray *jpeg)
{
  guint after = 4 + (guint) (jpeg->data[4] << 8 | jpeg->data[5]);
  GByteArray *stray = g_byte_array_new ();

  g_byte_array_append (stray, jpeg->data, after);
  g_byte_array_append (stray, (const guint8[]){ 1, 2 }, 2);
  g_byte_array_append (stray, jpeg->data + after, jpeg->len - after);
  g_byte_array_unref (jpeg);
  return stray;
}

static void
test_kinds_of_images (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoSurvey) found = NULL;
  const char *grey, *deep, *turned;

  put_class (folder, "a", 10, 0);
  put_class (folder, "b", 10, 200);
  put (folder, "a/grey.png", test_png (40, 30, 0, 8, FALSE));
  put (folder, "b/grey.png", test_png (40, 31, 4, 8, FALSE));
  put (folder, "a/deep.png", test_png (40, 30, 2, 16, FALSE));
  put (folder, "a/stray.jpg", make_stray (test_jpeg (40, 30, 3, 2, 3, FALSE)));
  put (folder, "b/turned.jpg", make_turned (test_jpeg (30, 40, 1, 2, 3, FALSE)));
  found = survey (folder, 0);
  grey = find (found, "greyscale");
  deep = find (found, "16 bits");
  turned = find (found, "EXIF");
  g_assert_true (grey && g_str_has_prefix (grey, "2 of 25 "));
  g_assert_true (deep && g_str_has_prefix (deep, "1 of 25 "));
  g_assert_true (turned && g_str_has_prefix (turned, "1 of 25 "));
  g_assert_true (g_str_has_prefix (find (found, "stray bytes"), "1 of 25 "));
  g_assert_nonnull (find (found, "from 40 × 30 to 40 × 31"));
  /* The low bits that training does not use are lost; the other findings are harmless. */
  g_assert_cmpuint (found->n_harmful, ==, 1);
  g_assert_true (is_harm (found, "16 bits"));
  g_assert_null (find (found, "same as"));
  test_folder_remove (folder);
}

static void
test_tiny_classes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoSurvey) found = NULL, more = NULL;
  const char *tiny;

  put_class (folder, "large", 10, 0);
  put_class (folder, "small", 9, 200);
  found = survey (folder, 0);
  tiny = find (found, "hardly learns");
  g_assert_true (tiny && strstr (tiny, "small") && !strstr (tiny, "large"));
  g_assert_true (is_harm (found, "samples of class “small”: a network hardly learns it"));
  put_class (folder, "smaller", 8, 100);
  more = survey (folder, 0);
  g_assert_true (is_harm (
      more, "samples of each of the classes “small”, “smaller”: a network hardly learns them"));
  test_folder_remove (folder);
}

/* An array has no files, so its values are compared, and the order of its labels is examined. */
static void
test_arrays (void)
{
  for (guint sorted = 0; sorted < 2; sorted++)
    {
      g_autofree char *folder = test_folder_new ();
      g_autofree char *x = g_build_filename (folder, "X.npy", NULL),
                      *y = g_build_filename (folder, "y.npy", NULL);
      guint64 shape[] = { 24, 4, 4, 1 };
      guint8 values[24 * 16];
      gint64 labels[24];
      g_autoptr (DynoSurvey) found = NULL;

      for (guint i = 0; i < G_N_ELEMENTS (values); i++)
        values[i] = (guint8) ((i / 16 == 20 ? 3 : i / 16) * 10 + i % 16);
      for (guint i = 0; i < 24; i++)
        labels[i] = sorted ? i / 12 : i % 2;
      g_assert_true (dyno_npy_write (x, "u1", 4, shape, values, NULL));
      g_assert_true (dyno_npy_write (y, "i8", 1, shape, labels, NULL));
      found = survey (x, 0);
      g_assert_true (!!find (found, "order of their classes") == sorted);
      g_assert_nonnull (find (found, "#3"));
      g_assert_nonnull (find (found, "#20"));
      test_folder_remove (folder);
    }
}

/* A letter for each sample is its class: a is 0. */
static DynoSurvey *
survey_labels (const char *letters)
{
  g_autofree char *folder = test_folder_new ();
  g_autofree char *x = g_build_filename (folder, "X.npy", NULL),
                  *y = g_build_filename (folder, "y.npy", NULL);
  guint64 shape[] = { strlen (letters), 2, 2, 1 };
  guint8 values[64 * 4];
  gint64 labels[64];
  DynoSurvey *found;

  g_assert_cmpuint (shape[0], <=, G_N_ELEMENTS (labels));
  for (guint i = 0; i < shape[0] * 4; i++)
    values[i] = (guint8) (i / 4 * 2 + i % 4);
  for (guint i = 0; i < shape[0]; i++)
    labels[i] = letters[i] - 'a';
  g_assert_true (dyno_npy_write (x, "u1", 4, shape, values, NULL));
  g_assert_true (dyno_npy_write (y, "i8", 1, shape, labels, NULL));
  found = survey (x, 0);
  test_folder_remove (folder);
  return found;
}

/* Only classes that have samples count: for their number, their order and those with too few. */
static void
test_counts_of_classes (void)
{
  static const struct {
    const char *letters, *found, *absent;
  } cases[] = {
    { "bbbbbbbbbbbb", "All samples are of one class", "hardly learns" },
    { "bbbbbbbbbbbb", "All samples are of one class", "order of their classes" },
    { "aaaaaaaaaaaacccccccccccc", "order of their classes", "hardly learns" },
    { "aaaaaaaaaaaacccccccccccc", "order of their classes", "All samples" },
    { "aaaaccca", "hardly learns", "order of their classes" },
    { "aaaacccc", "order of their classes", " more" },
    { "aaaaccc", "classes “0”, “2”: a", "order of their classes" },
    { "aabbccddffgggggggggg", "classes “0”, “1”, “2”, “3”, “5”: a", " more" },
    { "aabbccddffhgggggggggg", "classes “0”, “1”, “2”, “3”, “5” and 1 more: a", "“7”" },
    { "aabbccddffhigggggggggg", "“3”, “5” and 2 more: a", "“6”" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoSurvey) found = survey_labels (cases[i].letters);

      if (!find (found, cases[i].found) || find (found, cases[i].absent))
        g_error ("“%s”: %s", cases[i].letters, g_strjoinv ("; ", found->sentences));
    }
}

static void
test_examples_are_of_all_classes (void)
{
  g_autofree char *folder = test_folder_new ();
  g_autoptr (DynoDataset) dataset = NULL;
  guint64 indices[24];
  guint counts[3] = { 0 };

  put_class (folder, "a", 30, 0);
  put_class (folder, "b", 3, 100);
  put_class (folder, "c", 25, 200);
  dataset = test_open (folder);
  g_assert_cmpuint (dyno_dataset_pick_examples (dataset, 24, indices), ==, 24);
  for (guint i = 0; i < 24; i++)
    {
      counts[dyno_dataset_get_label (dataset, indices[i])]++;
      g_assert_true (i == 0 || indices[i] > indices[i - 1]);
    }
  g_assert_true (counts[0] == 11 && counts[1] == 3 && counts[2] == 10);
  g_assert_cmpuint (indices[0], ==, 0);
  g_assert_cmpuint (dyno_dataset_pick_examples (dataset, 2, indices), ==, 2);
  test_folder_remove (folder);
}

/* Where there are no classes, examples are spread evenly over all samples. */
static void
test_examples_without_classes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:poses?size=16&samples=10", NULL, NULL, NULL, NULL, &error);
  static const guint64 four[] = { 0, 2, 5, 7 };
  guint64 indices[16];

  g_assert_no_error (error);
  g_assert_cmpuint (dyno_dataset_pick_examples (dataset, 4, indices), ==, 4);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpuint (indices[i], ==, four[i]);
  g_assert_cmpuint (dyno_dataset_pick_examples (dataset, 16, indices), ==, 10);
  for (guint i = 0; i < 10; i++)
    g_assert_cmpuint (indices[i], ==, i);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/survey/good-data-has-no-word", test_good_data_has_no_word);
  g_test_add_func ("/data/survey/same-samples", test_same_samples);
  g_test_add_func ("/data/survey/leak-over-own-parts", test_leak_over_own_parts);
  g_test_add_func ("/data/survey/leak-in-any-order", test_leak_in_any_order);
  g_test_add_func ("/data/survey/kinds-of-images", test_kinds_of_images);
  g_test_add_func ("/data/survey/tiny-classes", test_tiny_classes);
  g_test_add_func ("/data/survey/arrays", test_arrays);
  g_test_add_func ("/data/survey/counts-of-classes", test_counts_of_classes);
  g_test_add_func ("/data/survey/examples-are-of-all-classes", test_examples_are_of_all_classes);
  g_test_add_func ("/data/survey/examples-without-classes", test_examples_without_classes);
  return g_test_run ();
}
