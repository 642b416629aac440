/* SPDX-License-Identifier: MIT */
/* Images as rows of text: FER2013's layout, a column for each pixel, and faulty rows. */
#include "data-test.h"
#include <string.h>

#define SIDE   8
#define PIXELS (SIDE * SIDE)

typedef enum { BLANKS, NAMES, GRID, PLAIN, N_WAYS } Way;

static guint8
pixel_of (guint row, guint i)
{
  return (guint8) ((row * 40 + i * 3) % 256);
}

/* Rows of classes 3, 5, 3 and 5, in one of the notations. */
static char *
make_text (Way way)
{
  static const char *const usages[] = { "Training", "Training", "PublicTest", "PrivateTest" };
  GString *text = g_string_new (way == BLANKS ? "emotion,pixels,Usage\n" : "");

  if (way == NAMES || way == GRID)
    {
      g_string_append (text, "label");
      for (guint i = 0; i < PIXELS; i++)
        g_string_append_printf (text, way == NAMES ? ",pixel%u" : ",%ux%u",
                                way == NAMES ? i : i / SIDE + 1, i % SIDE + 1);
      g_string_append_c (text, '\n');
    }
  for (guint row = 0; row < 4; row++)
    {
      g_string_append_printf (text, "%u", row % 2 ? 5 : 3);
      for (guint i = 0; i < PIXELS; i++)
        g_string_append_printf (text, "%c%u", way == BLANKS && i > 0 ? ' ' : ',',
                                pixel_of (row, i));
      g_string_append_printf (text, way == BLANKS ? ",%s\n" : "\n", usages[row]);
    }
  return g_string_free (text, FALSE);
}

static void
test_ways_to_write_them (void)
{
  g_autofree char *folder = test_folder_new ();

  for (Way way = BLANKS; way < N_WAYS; way++)
    {
      g_autofree char *text = make_text (way),
                      *path = test_write (folder, "t.csv", text, strlen (text));
      g_autoptr (DynoDataset) dataset = test_open (path);
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
      g_autoptr (GByteArray) scratch = g_byte_array_new ();
      g_autoptr (GArray) train = NULL, validation = NULL;
      guint8 pixels[PIXELS], small[16];
      gint32 label = -1;

      g_assert_cmpstr (info->kind, ==, "pixel-rows");
      g_assert_cmpuint (info->n_unreadable, ==, 0);
      g_assert_cmpuint (info->n_samples, ==, 4);
      g_assert_cmpuint (info->n_classes, ==, 2);
      g_assert_cmpstr (info->class_names[1], ==, "5");
      g_assert_cmpuint (info->max_width, ==, SIDE);
      g_assert_true (dyno_dataset_decode (dataset, 1, SIDE, SIDE, (gpointer[]){ pixels, &label },
                                          scratch, NULL));
      g_assert_cmpint (label, ==, 1);
      for (guint i = 0; i < PIXELS; i++)
        g_assert_cmpuint (pixels[i], ==, pixel_of (1, i));
      g_assert_true (
          dyno_dataset_decode (dataset, 2, 4, 4, (gpointer[]){ small, &label }, scratch, NULL));
      g_assert_cmpint (label, ==, 0);
      g_assert_cmpint (info->has_split, ==, way == BLANKS);
      if (way != BLANKS)
        continue;
      g_assert_cmpuint (info->n_test, ==, 1);
      dyno_dataset_split (dataset, 0, 1, &train, &validation);
      g_assert_cmpuint (train->len, ==, 2);
      g_assert_cmpuint (validation->len, ==, 1);
    }
  test_folder_remove (folder);
}

static void
test_rows_that_cannot_be_used_are_listed (void)
{
  static const char *const bad[] = { "3,1 2 3,Training", "3,0 256,Training", "3,0 x,Training",
                                     ",0 1,Training",    "3,0 1,elsewhere",  "3" };
  static const char *const words[] = {
    "line 6: it has another number", "line 7: a pixel is no", "line 8: a pixel is no",
    "line 9: there is no label",     "line 10: the part",     "line 11: "
  };
  g_autofree char *folder = test_folder_new (), *good = make_text (BLANKS),
                  *rest = g_strjoin ("\n", bad[0], bad[1], bad[2], bad[3], bad[4], bad[5], NULL),
                  *text = g_strconcat (good, rest, NULL),
                  *path = test_write (folder, "t.csv", text, strlen (text));
  g_autoptr (DynoDataset) dataset = test_open (path);

  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_samples, ==, 4);
  g_assert_cmpuint (dyno_dataset_get_info (dataset)->n_unreadable, ==, 6);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    g_assert_nonnull (strstr (dyno_dataset_get_unreadable (dataset)[i], words[i]));
  test_folder_remove (folder);
}

static void
test_what_is_refused (void)
{
  static const struct {
    const char *text, *words;
  } cases[] = {
    { "emotion,pixels\n3,1 2 3 4 5\n", "5 pixels|square images|X.npy" },
    { "emotion,pixels\n3,1 2 3 -4\n", "0 pixels" },
    { "pixels,Usage\n1 2 3 4,Training\n", "no class|“label”" },
    { "emotion,pixels\n", "lists no sample" },
  };
  g_autofree char *folder = test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = test_write (folder, "t.csv", cases[i].text, strlen (cases[i].text));
      g_autoptr (GError) error = NULL;

      g_assert_null (dyno_dataset_open (path, NULL, NULL, NULL, NULL, &error));
      test_has_words (error, cases[i].words);
    }
  test_folder_remove (folder);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/pixel-rows/ways-to-write-them", test_ways_to_write_them);
  g_test_add_func ("/data/pixel-rows/rows-that-cannot-be-used-are-listed",
                   test_rows_that_cannot_be_used_are_listed);
  g_test_add_func ("/data/pixel-rows/what-is-refused", test_what_is_refused);
  return g_test_run ();
}
