/* SPDX-License-Identifier: MIT */
/* The open data set: its facts, its balance; masks over pictures; the load of the cores. */
#include "parts.h"
#include "balancebar.h"
#include "corebars.h"
#include "datapanel.h"
#include "maskpicture.h"
#include "palette.h"
#include <math.h>
#include <string.h>

static gboolean
is_open (gpointer setup)
{
  return !dyno_setup_get_opening (setup, NULL);
}

static void
open (DynoSetup *setup, const char *location)
{
  dyno_setup_open_data (setup, location);
  parts_wait (is_open, setup);
}

static gboolean
has_others (gpointer setup)
{
  return strstr (dyno_setup_get_job (setup)->data, "samples=64") == NULL;
}

/* The facts are those of the open data set; a change of a size keeps what the form does not show,
 * such as the number of classes and the seed. */
static void
test_shapes_keep_their_classes (void)
{
  DynoSetup *setup = dyno_setup_new ();
  DynoDataPanel *panel = g_object_ref_sink (g_object_new (DYNO_TYPE_DATA_PANEL, NULL));
  GtkWidget *widget = GTK_WIDGET (panel);

  gtk_widget_show (widget);
  dyno_data_panel_set_setup (panel, setup);
  parts_assert_says (widget, "No data set");
  parts_assert_says_not (widget, "Samples");
  open (setup, "builtin:shapes?size=16&samples=64&classes=3&seed=5");
  parts_assert_says (widget, "Shapes");
  parts_assert_says (widget, "3");
  parts_assert_says_not (widget, "No data set");
  GtkSpinButton *samples = GTK_SPIN_BUTTON (
      gtk_widget_get_template_child (widget, DYNO_TYPE_DATA_PANEL, "shapes_samples"));
  GtkSpinButton *size =
      GTK_SPIN_BUTTON (gtk_widget_get_template_child (widget, DYNO_TYPE_DATA_PANEL, "shapes_size"));
  g_assert_cmpint (gtk_spin_button_get_value_as_int (samples), ==, 64);
  g_assert_cmpint (gtk_spin_button_get_value_as_int (size), ==, 16);
  gtk_spin_button_set_value (samples, 128);
  parts_wait (has_others, setup);
  g_assert_cmpstr (dyno_setup_get_job (setup)->data, ==,
                   "builtin:shapes?size=16&samples=128&classes=3&seed=5");
  g_assert_cmpuint (dyno_setup_get_info (setup)->n_classes, ==, 3);
  /* Other data have no sizes to set, and values no classes. */
  open (setup, "builtin:waves");
  g_assert_false (gtk_widget_get_mapped (GTK_WIDGET (size)));
  parts_assert_says (widget, "Samples");
  parts_assert_says (widget, "Classes");
  open (setup, "builtin:poses?samples=96");
  parts_assert_says (widget, "96");
  parts_assert_says_not (widget, "Classes");
  dyno_setup_set_work (setup, DYNO_SETUP_MEASURES);
  GtkWidget *row =
      GTK_WIDGET (gtk_widget_get_template_child (widget, DYNO_TYPE_DATA_PANEL, "choice_row"));
  g_assert_false (gtk_widget_get_sensitive (row));
  dyno_setup_set_work (setup, DYNO_SETUP_IDLE);
  g_assert_true (gtk_widget_get_sensitive (row));
  gtk_widget_destroy (widget);
  g_object_unref (panel);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

static void
assert_tooltip (GtkWidget *widget, const char *expected)
{
  g_autofree char *tooltip = gtk_widget_get_tooltip_text (widget);

  g_assert_cmpstr (tooltip, ==, expected);
}

static void
test_the_balance_names_the_classes (void)
{
  GtkWidget *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_BALANCE_BAR, NULL));
  DynoBalanceBar *self = DYNO_BALANCE_BAR (bar);
  g_autoptr (DynoDataset) shapes = dyno_dataset_open ("builtin:shapes?size=16&samples=60&classes=3",
                                                      NULL, NULL, NULL, NULL, NULL);
  g_autoptr (DynoDataset) poses =
      dyno_dataset_open ("builtin:poses?samples=20", NULL, NULL, NULL, NULL, NULL);
  const DynoDatasetInfo *info = dyno_dataset_get_info (shapes);

  dyno_balance_bar_set_info (self, info);
  g_autofree char *expected = g_strdup_printf ("%s: %u\n%s: %u\n%s: %u", info->class_names[0],
                                               (guint) info->class_counts[0], info->class_names[1],
                                               (guint) info->class_counts[1], info->class_names[2],
                                               (guint) info->class_counts[2]);
  assert_tooltip (bar, expected);
  g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (bar)), ==, "Balance of classes");
  dyno_balance_bar_set_info (self, dyno_dataset_get_info (poses));
  assert_tooltip (bar, NULL);
  dyno_balance_bar_set_info (self, info);
  assert_tooltip (bar, expected);
  dyno_balance_bar_set_info (self, NULL);
  assert_tooltip (bar, NULL);
  g_object_unref (bar);
}

static void
test_the_busiest_core_is_named (void)
{
  GtkWidget *bars = g_object_ref_sink (g_object_new (DYNO_TYPE_CORE_BARS, NULL));
  DynoCoreBars *self = DYNO_CORE_BARS (bars);
  static const float busy[] = { NAN, 12, 80.4f, 80.4f, 3 }, calm[] = { 0, NAN }, off[] = { NAN };

  dyno_core_bars_set (self, busy, 5);
  assert_tooltip (bars, "The busiest is core 2, 80 %");
  dyno_core_bars_set (self, calm, 2);
  assert_tooltip (bars, "The busiest is core 0, 0 %");
  dyno_core_bars_set (self, off, 1);
  g_autofree char *none = gtk_widget_get_tooltip_text (bars);
  g_assert_true (!none || !*none);
  dyno_core_bars_set (self, NULL, 0);
  g_object_unref (bars);
}

/* The background stays as it is, a class has its hue on any picture, ignored pixels are hatched. */
static void
test_masks_colour_a_picture (void)
{
  g_autoptr (GdkPixbuf) picture = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, 5, 3);
  guint8 mask[15] = { 0, 1, 2, 2, 0, 255, 255, 255, 255, 255, 0, 0, 0, 0, 1 }, rgb[2][3];
  const guchar *pixels;
  int stride = gdk_pixbuf_get_rowstride (picture);

  gdk_pixbuf_fill (picture, 0x646464ff);
  dyno_mask_picture_cover (picture, mask);
  pixels = gdk_pixbuf_read_pixels (picture);
  dyno_palette_get (1, rgb[0]);
  dyno_palette_get (2, rgb[1]);
  for (guint k = 0; k < 3; k++)
    {
      g_assert_cmpint (pixels[k], ==, 100);
      g_assert_cmpint (pixels[3 + k], ==, (100 * 116 + rgb[0][k] * 140) / 256);
      g_assert_cmpint (pixels[6 + k], ==, (100 * 116 + rgb[1][k] * 140) / 256);
      g_assert_cmpint (pixels[9 + k], ==, (100 * 116 + rgb[1][k] * 140) / 256);
      g_assert_cmpint (pixels[12 + k], ==, 100);
      g_assert_cmpint (pixels[2 * stride + 12 + (int) k], ==, (100 * 116 + rgb[0][k] * 140) / 256);
      g_assert_cmpint (pixels[2 * stride + (int) k], ==, 100);
    }
  guint n_light = 0, n_dark = 0;
  for (int x = 0; x < 5; x++)
    {
      n_light += pixels[stride + 3 * x] > 100;
      n_dark += pixels[stride + 3 * x] < 100;
    }
  g_assert_true (n_light > 0 && n_dark > 0 && n_light + n_dark == 5);
  /* The lines of what is not labelled are oblique. */
  g_autoptr (GdkPixbuf) ignored = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, 8, 8);
  guint8 all[64];
  memset (all, 255, sizeof all);
  gdk_pixbuf_fill (ignored, 0x646464ff);
  dyno_mask_picture_cover (ignored, all);
  pixels = gdk_pixbuf_read_pixels (ignored);
  stride = gdk_pixbuf_get_rowstride (ignored);
  for (int y = 0; y < 7; y++)
    for (int x = 0; x < 7; x++)
      g_assert_cmpint (pixels[y * stride + 3 * (x + 1)], ==, pixels[(y + 1) * stride + 3 * x]);
  /* The ground has an empty swatch, each other class one of its colour. */
  g_autoptr (GdkPixbuf) ground = dyno_mask_swatch_draw (0, 12),
                        first = dyno_mask_swatch_draw (1, 12);
  const guchar *empty = gdk_pixbuf_read_pixels (ground) + 6 * gdk_pixbuf_get_rowstride (ground)
                        + 6 * gdk_pixbuf_get_n_channels (ground),
               *full = gdk_pixbuf_read_pixels (first) + 6 * gdk_pixbuf_get_rowstride (first)
                       + 6 * gdk_pixbuf_get_n_channels (first);
  g_assert_cmpint (empty[3], ==, 0);
  g_assert_true (full[0] == rgb[0][0] && full[1] == rgb[0][1] && full[2] == rgb[0][2]);
}

static gboolean
is_drawn (cairo_surface_t *surface, int x, int y)
{
  return cairo_image_surface_get_data (
             surface)[y * cairo_image_surface_get_stride (surface) + 4 * x + 3]
         > 128;
}

/* Twelve classes are named; where there are more classes than columns, a column is the mean of its
 * classes; colours are those of the present data. */
static void
test_columns_of_the_balance (void)
{
  GtkWidget *bar = g_object_new (DYNO_TYPE_BALANCE_BAR, NULL);
  DynoBalanceBar *self = DYNO_BALANCE_BAR (bar);
  GtkWidget *window = parts_show (bar, 90, 60);
  g_autoptr (DynoDataset) shapes = dyno_dataset_open ("builtin:shapes?size=16&samples=60&classes=3",
                                                      NULL, NULL, NULL, NULL, NULL),
                          masks = dyno_dataset_open ("builtin:masks?size=16&samples=40&classes=3",
                                                     NULL, NULL, NULL, NULL, NULL);
  DynoDatasetInfo info = *dyno_dataset_get_info (shapes);
  int width = gtk_widget_get_allocated_width (bar), height = gtk_widget_get_allocated_height (bar);
  guint n = 2 * (guint) (width / 3);
  g_autofree guint64 *counts = g_new (guint64, n);
  g_auto (GStrv) names = g_new0 (char *, n + 1);

  dyno_balance_bar_set_info (self, dyno_dataset_get_info (shapes));
  g_autofree char *before = parts_draw (bar);
  dyno_balance_bar_set_info (self, dyno_dataset_get_info (masks));
  dyno_balance_bar_set_info (self, dyno_dataset_get_info (shapes));
  g_autofree char *after = parts_draw (bar);
  g_assert_cmpstr (after, ==, before);
  for (guint i = 0; i < n; i++)
    {
      counts[i] = i % 2 ? 50 : 100;
      names[i] = g_strdup_printf ("c%u", i);
    }
  info.class_names = names;
  info.class_counts = counts;
  info.n_classes = n;
  dyno_balance_bar_set_info (self, &info);
  g_autofree char *tooltip = gtk_widget_get_tooltip_text (bar);
  g_assert_true (g_str_has_suffix (tooltip, "\nc10: 100\nc11: 50\n…"));
  info.n_classes = 12;
  dyno_balance_bar_set_info (self, &info);
  g_autofree char *whole = gtk_widget_get_tooltip_text (bar);
  g_assert_true (g_str_has_suffix (whole, "\nc10: 100\nc11: 50"));
  info.n_classes = n;
  dyno_balance_bar_set_info (self, &info);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *cr = cairo_create (surface);
  gtk_widget_draw (bar, cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  for (int x = 0; x < width / 3; x++)
    {
      g_assert_true (is_drawn (surface, x * width / (width / 3) + 1, height - 1));
      g_assert_true (is_drawn (surface, x * width / (width / 3) + 1, height / 4 + 2));
      g_assert_false (is_drawn (surface, x * width / (width / 3) + 1, height / 4 - 2));
    }
  cairo_surface_destroy (surface);
  gtk_widget_destroy (window);
}

void
parts_add_data (void)
{
  g_test_add_func ("/ui/parts/shapes-keep-their-classes", test_shapes_keep_their_classes);
  g_test_add_func ("/ui/parts/the-balance-names-the-classes", test_the_balance_names_the_classes);
  g_test_add_func ("/ui/parts/the-busiest-core-is-named", test_the_busiest_core_is_named);
  g_test_add_func ("/ui/parts/columns-of-the-balance", test_columns_of_the_balance);
  g_test_add_func ("/ui/parts/masks-colour-a-picture", test_masks_colour_a_picture);
}
