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
  dyno_setup_set_locked (setup, TRUE);
  GtkWidget *row =
      GTK_WIDGET (gtk_widget_get_template_child (widget, DYNO_TYPE_DATA_PANEL, "choice_row"));
  g_assert_false (gtk_widget_get_sensitive (row));
  dyno_setup_set_locked (setup, FALSE);
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
}

void
parts_add_data (void)
{
  g_test_add_func ("/ui/parts/shapes-keep-their-classes", test_shapes_keep_their_classes);
  g_test_add_func ("/ui/parts/the-balance-names-the-classes", test_the_balance_names_the_classes);
  g_test_add_func ("/ui/parts/the-busiest-core-is-named", test_the_busiest_core_is_named);
  g_test_add_func ("/ui/parts/masks-colour-a-picture", test_masks_colour_a_picture);
}
