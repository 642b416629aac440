/* SPDX-License-Identifier: MIT */
/* Samples as pictures: some of each class, those that were asked for, and those with labels. */
#include "parts.h"
#include "arrays.h"
#include "datasampler.h"
#include "labelexamples.h"
#include <string.h>

/* A folder with the arrays X and y. */
static DynoDataset *
make (const char *name, const char *type, const char *x_shape, gconstpointer x, gsize n_x,
      const char *y_shape, const guint8 *y, gsize n_y)
{
  g_autofree char *folder = g_build_filename (g_get_home_dir (), name, NULL);
  g_autoptr (GError) error = NULL;

  arrays_write (folder, "X.npy", type, x_shape, x, n_x);
  arrays_write (folder, "y.npy", "|u1", y_shape, y, n_y);
  DynoDataset *dataset = dyno_dataset_open (folder, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  return dataset;
}

/* n samples of 2 x 2 pixels, of which sample i has the grey i. */
static DynoDataset *
make_greys (const char *name, guint n, const char *y_shape, const guint8 *y, gsize n_y)
{
  g_autofree guint8 *x = g_malloc (n * 4);
  g_autofree char *shape = g_strdup_printf ("(%u, 2, 2)", n);

  for (guint i = 0; i < n * 4; i++)
    x[i] = (guint8) (i / 4);
  return make (name, "|u1", shape, x, n * 4, y_shape, y, n_y);
}

static void
take_samples (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  *(DynoSamples **) data = dyno_sampler_finish (result, &error);
  g_assert_no_error (error);
}

static gboolean
is_there (gpointer data)
{
  return *(DynoSamples **) data != NULL;
}

static DynoSamples *
look (DynoDataset *dataset)
{
  DynoSamples *samples = NULL;

  dyno_sampler_look_async (dataset, 40, NULL, take_samples, &samples);
  parts_wait (is_there, &samples);
  return samples;
}

static int
get_grey (GdkPixbuf *picture)
{
  return picture ? gdk_pixbuf_read_pixels (picture)[0] : -1;
}

/* The samples of each class, four at most: "0 1 2 3 | 6 - - -"; each picture is of its sample. */
static void
assert_samples (const DynoSamples *samples, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_cmpuint (samples->shots->len, ==, samples->indices->len);
  for (guint i = 0; i < samples->shots->len; i++)
    {
      int grey = get_grey (samples->shots->pdata[i]);
      g_string_append (text, i == 0 ? "" : i % DYNO_SAMPLER_EACH == 0 ? " | " : " ");
      if (grey < 0)
        g_string_append (text, "-");
      else
        g_string_append_printf (text, "%d", grey);
      if (grey >= 0)
        g_assert_cmpuint (g_array_index (samples->indices, guint32, i), ==, grey);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

static void
test_samples_of_each_class (void)
{
  static const guint8 classes[] = { 0, 0, 1, 0, 0, 0, 3, 1, 1, 3 },
                      labels[] = { 1, 1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0 };
  g_autoptr (DynoDataset) one = make_greys ("one", 10, "(10,)", classes, sizeof classes),
                          many = make_greys ("many", 6, "(6, 3)", labels, sizeof labels);

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoSamples) some = look (one), labelled = look (many);
      assert_samples (some, "0 1 3 4 | 2 7 8 - | - - - - | 6 9 - -");
      assert_samples (labelled, "0 3 4 5 | 0 1 3 4 | - - - -");
    }
}

/* A label that is not known of a sample is none of its labels. */
static void
test_unknown_labels_have_no_samples (void)
{
  g_autofree char *folder = g_build_filename (g_get_home_dir (), "unknown labels", NULL);
  static const gint8 labels[5][2] = { { 1, -1 }, { -1, 1 }, { 0, -1 }, { -1, 0 }, { 1, 1 } };
  guint8 x[5][2][2];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 5; i++)
    memset (x[i], (int) i, sizeof x[i]);
  arrays_write (folder, "X.npy", "|u1", "(5, 2, 2)", x, sizeof x);
  arrays_write (folder, "y.npy", "|i1", "(5, 2)", labels, sizeof labels);
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (
      folder, &(DynoDatasetParams){ .task = DYNO_TASK_LABELS }, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (dyno_dataset_get_task (dyno_dataset_get_info (dataset)), ==, DYNO_TASK_LABELS);
  g_autoptr (DynoSamples) samples = look (dataset);
  assert_samples (samples, "0 4 - - | 1 4 - -");
}

static void
test_samples_that_are_asked_for (void)
{
  static const guint8 classes[] = { 0, 0, 1, 0, 0, 0, 3, 1, 1, 3 };
  static const guint32 asked[] = { 7, 0, 9, 7 };
  g_autoptr (DynoDataset) dataset = make_greys ("asked", 10, "(10,)", classes, sizeof classes);
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint n = 0; n <= G_N_ELEMENTS (asked); n += 2)
    {
      DynoSamples *samples = NULL;
      g_array_set_size (indices, 0);
      g_array_append_vals (indices, asked, n);
      dyno_sampler_show_async (dataset, indices, 40, NULL, take_samples, &samples);
      g_array_set_size (indices, 0); /* it has its own */
      parts_wait (is_there, &samples);
      g_assert_cmpuint (samples->shots->len, ==, n);
      for (guint i = 0; i < n; i++)
        g_assert_cmpint (get_grey (samples->shots->pdata[i]), ==, asked[i]);
      dyno_samples_free (samples);
    }
}

static void
assert_pixel (GdkPixbuf *picture, int x, int y, guint red, guint green, guint blue)
{
  const guchar *pixel =
      gdk_pixbuf_read_pixels (picture) + y * gdk_pixbuf_get_rowstride (picture) + 3 * x;

  g_assert_true (pixel[0] == red && pixel[1] == green && pixel[2] == blue);
}

/* The picture of the first sample of an array. */
static GdkPixbuf *
draw (const char *name, const char *type, const char *shape, gconstpointer x, gsize n_x,
      guint pixels)
{
  static const guint8 y[] = { 0, 1, 0, 1 };
  g_autoptr (DynoDataset) dataset = make (name, type, shape, x, n_x, "(4,)", y, sizeof y);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();

  return dyno_sampler_decode (dataset, 0, pixels, scratch);
}

/* Pictures keep their proportions and the order of their channels; floats outside 0 to 1 are scaled
 * from the least to the greatest one. */
static void
test_pictures_of_arrays (void)
{
  static const guint8 wide[4][2][4] = { { { 10, 20, 30, 40 }, { 50, 60, 70, 80 } } },
                      high[4][5][1] = { { { 9 }, { 8 }, { 7 }, { 6 }, { 5 } } },
                      colour[4][2][2][3] = { { { { 1, 2, 3 }, { 4, 5, 6 } },
                                               { { 7, 8, 9 }, { 10, 11, 12 } } } };
  static const float inside[4][2][2] = { { { 0.5f, 0.1f }, { 0.9f, 0.2f } } },
                     outside[4][2][2] = { { { -1, 4 }, { 0, 1 } } };
  g_autoptr (GdkPixbuf) a = draw ("wide", "|u1", "(4, 2, 4)", wide, sizeof wide, 8),
                        b = draw ("high", "|u1", "(4, 5, 1)", high, sizeof high, 5),
                        c = draw ("colour", "|u1", "(4, 2, 2, 3)", colour, sizeof colour, 2),
                        d = draw ("inside", "<f4", "(4, 2, 2)", inside, sizeof inside, 2),
                        e = draw ("outside", "<f4", "(4, 2, 2)", outside, sizeof outside, 2);

  g_assert_true (gdk_pixbuf_get_width (a) == 8 && gdk_pixbuf_get_height (a) == 4);
  assert_pixel (a, 7, 0, 40, 40, 40);
  assert_pixel (a, 1, 3, 50, 50, 50);
  g_assert_true (gdk_pixbuf_get_width (b) == 1 && gdk_pixbuf_get_height (b) == 5);
  assert_pixel (b, 0, 4, 5, 5, 5);
  assert_pixel (c, 1, 0, 4, 5, 6);
  assert_pixel (c, 0, 1, 7, 8, 9);
  assert_pixel (d, 0, 0, 127, 127, 127);
  assert_pixel (d, 0, 1, 229, 229, 229);
  assert_pixel (e, 0, 0, 0, 0, 0);
  assert_pixel (e, 1, 0, 255, 255, 255);
  assert_pixel (e, 0, 1, 51, 51, 51);
}

/* A sample is drawn with its own mask, or with a predicted one, or apart from its mask; one of
 * another size has none. */
static void
test_pictures_with_masks (void)
{
  g_autoptr (DynoDataset) dataset = dyno_dataset_open ("builtin:masks?size=16&samples=40&classes=3",
                                                       NULL, NULL, NULL, NULL, NULL);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 none[256] = { 0 }, all[256];

  memset (all, 2, sizeof all);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree guint8 *mask = NULL;
      g_autoptr (GdkPixbuf) bare =
          dyno_sampler_decode_masked (dataset, i, none, 16, 16, 16, scratch);
      g_autoptr (GdkPixbuf) covered =
          dyno_sampler_decode_masked (dataset, i, all, 16, 16, 16, scratch);
      g_autoptr (GdkPixbuf) apart = dyno_sampler_decode_apart (dataset, i, 16, 16, &mask, scratch);
      g_autoptr (GdkPixbuf) own = dyno_sampler_decode (dataset, i, 16, scratch);
      gsize n = gdk_pixbuf_get_byte_length (bare);
      g_assert_cmpmem (gdk_pixbuf_read_pixels (bare), n, gdk_pixbuf_read_pixels (apart), n);
      g_assert_nonnull (mask);
      for (int k = 0; k < 256; k++)
        {
          const guchar *pixel = gdk_pixbuf_read_pixels (own) + 3 * k,
                       *bare_pixel = gdk_pixbuf_read_pixels (bare) + 3 * k,
                       *covered_pixel = gdk_pixbuf_read_pixels (covered) + 3 * k;
          if (mask[k] == 0)
            g_assert_cmpmem (pixel, 3, bare_pixel, 3);
          else if (mask[k] == 2)
            g_assert_cmpmem (pixel, 3, covered_pixel, 3);
        }
    }
  g_autoptr (DynoSamples) samples = look (dataset);
  g_assert_cmpuint (samples->shots->len, ==, 3 * DYNO_SAMPLER_EACH);
  for (guint i = 0; i < samples->shots->len; i++)
    {
      g_autofree guint8 *mask = NULL;
      g_autoptr (GdkPixbuf) picture = dyno_sampler_decode_apart (
          dataset, g_array_index (samples->indices, guint32, i), 40, 40, &mask, scratch);
      g_assert_nonnull (picture);
      guint n = 0;
      g_assert_nonnull (samples->shots->pdata[i]);
      for (guint k = 0; k < 1600; k++)
        n += mask[k] == i / DYNO_SAMPLER_EACH;
      g_assert_cmpuint (n, >=, 8); /* one of 200 pixels */
    }
}

static void
add_texts (GtkWidget *child, gpointer data)
{
  g_autofree char *tooltip = gtk_widget_get_tooltip_text (gtk_bin_get_child (GTK_BIN (child)));

  g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (child)), ==, tooltip);
  g_string_append_printf (data, "%s\n", tooltip);
}

static gboolean
has_picture (gpointer image)
{
  return gtk_image_get_storage_type (image) == GTK_IMAGE_SURFACE;
}

/* How light the middle of an image is. */
static guint
get_light (gpointer image)
{
  cairo_surface_t *surface = NULL;

  g_object_get (image, "surface", &surface, NULL);
  g_assert_nonnull (surface);
  const guint8 *pixels = cairo_image_surface_get_data (surface);
  int stride = cairo_image_surface_get_stride (surface),
      middle = cairo_image_surface_get_height (surface) / 2;
  guint light = pixels[middle * stride + middle * 4];
  cairo_surface_destroy (surface);
  return light;
}

/* Some samples are shown at even distances, each once, with their labels below; none stays of those
 * shown before. */
static void
test_examples_are_of_different_samples (void)
{
  GtkWidget *widget = g_object_ref_sink (g_object_new (DYNO_TYPE_LABEL_EXAMPLES, NULL));
  DynoLabelExamples *examples = DYNO_LABEL_EXAMPLES (widget);
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint8 labels[32][2];

  for (guint i = 0; i < 32; i++)
    {
      labels[i][0] = i % 2;
      labels[i][1] = i < 20;
    }
  g_autoptr (DynoDataset) dataset =
      make_greys ("examples", 32, "(32, 2)", labels[0], sizeof labels);
  gtk_widget_show (widget);
  for (guint k = 0; k < 2; k++)
    {
      g_autoptr (GString) few = g_string_new (NULL), all = g_string_new (NULL),
                          expected = g_string_new (NULL);
      guint32 some[] = { 3, 3, 22, 3, 4 };
      g_array_set_size (indices, 0);
      g_array_append_vals (indices, some, G_N_ELEMENTS (some));
      dyno_label_examples_show (examples, dataset, indices);
      gtk_container_foreach (GTK_CONTAINER (widget), add_texts, few);
      g_assert_cmpstr (few->str, ==, "#3: 0, 1\n#22: no label\n#4: 1\n");
      parts_assert_texts (widget, "0, 1\nno label\n1");
      parts_wait (has_picture, parts_find (widget, GTK_TYPE_IMAGE));
      g_autoptr (GPtrArray) images = parts_find_all (widget, GTK_TYPE_IMAGE);
      g_assert_cmpuint (images->len, ==, 3);
      g_assert_cmpuint (get_light (images->pdata[0]), <, get_light (images->pdata[2]));
      g_assert_cmpuint (get_light (images->pdata[2]), <, get_light (images->pdata[1]));
      g_array_set_size (indices, 0);
      for (guint32 i = 0; i < 25 + k; i++)
        g_array_append_val (indices, i);
      dyno_label_examples_show (examples, dataset, indices);
      gtk_container_foreach (GTK_CONTAINER (widget), add_texts, all);
      for (guint i = 0; i < 24; i += 2)
        g_string_append_printf (expected, "#%u: %s\n", i, i < 20 ? "1" : "no label");
      g_assert_cmpstr (all->str, ==, expected->str);
      dyno_label_examples_show (examples, NULL, NULL);
      parts_assert_texts (widget, "");
    }
  gtk_widget_destroy (widget);
  g_object_unref (widget);
}

/* Several samples as the network sees them are drawn as each of them alone is. */
static void
test_seen_samples_are_drawn_each (void)
{
  enum { N = 3, WIDTH = 4, HEIGHT = 2 };
  guint8 pixels[N][HEIGHT * WIDTH * 3], masks[N][HEIGHT * WIDTH];

  for (guint i = 0; i < N; i++)
    for (guint k = 0; k < HEIGHT * WIDTH; k++)
      masks[i][k] = (guint8) ((i + k) % 3);
  for (guint masked = 0; masked < 2; masked++)
    {
      const DynoPreview all = { N, WIDTH, HEIGHT, pixels[0], masked ? masks[0] : NULL };
      g_autoptr (GPtrArray) shots = g_ptr_array_new_with_free_func (g_object_unref);

      for (guint i = 0; i < N; i++)
        memset (pixels[i], (int) (40 + 60 * i), sizeof pixels[i]);
      dyno_sampler_add_seen (&all, 8, shots);
      g_assert_cmpuint (shots->len, ==, N);
      for (guint i = 0; i < N; i++)
        {
          const DynoPreview one = { 1, WIDTH, HEIGHT, pixels[i], masked ? masks[i] : NULL };
          g_autoptr (GPtrArray) alone = g_ptr_array_new_with_free_func (g_object_unref);

          memset (pixels[i], (int) (40 + 60 * i), sizeof pixels[i]);
          dyno_sampler_add_seen (&one, 8, alone);
          gsize n = gdk_pixbuf_get_byte_length (alone->pdata[0]);
          g_assert_cmpint (gdk_pixbuf_get_width (alone->pdata[0]), ==, 8);
          g_assert_cmpint (gdk_pixbuf_get_height (alone->pdata[0]), ==, 4);
          g_assert_cmpuint (gdk_pixbuf_get_byte_length (shots->pdata[i]), ==, n);
          g_assert_cmpint (memcmp (gdk_pixbuf_read_pixels (shots->pdata[i]),
                                   gdk_pixbuf_read_pixels (alone->pdata[0]), n),
                           ==, 0);
        }
    }
}

void
parts_add_samples (void)
{
  g_test_add_func ("/ui/parts/samples-of-each-class", test_samples_of_each_class);
  g_test_add_func ("/ui/parts/unknown-labels-have-no-samples", test_unknown_labels_have_no_samples);
  g_test_add_func ("/ui/parts/samples-that-are-asked-for", test_samples_that_are_asked_for);
  g_test_add_func ("/ui/parts/pictures-of-arrays", test_pictures_of_arrays);
  g_test_add_func ("/ui/parts/pictures-with-masks", test_pictures_with_masks);
  g_test_add_func ("/ui/parts/examples-are-of-different-samples",
                   test_examples_are_of_different_samples);
  g_test_add_func ("/ui/parts/seen-samples-are-drawn-each", test_seen_samples_are_drawn_each);
}
