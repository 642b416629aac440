/* SPDX-License-Identifier: MIT */
/* The page of the data set: its classes, its division, its problems; its card and recent ones. */
#include "parts.h"
#include "arrays.h"
#include "datapage.h"
#include "datapanel.h"
#include "labelexamples.h"
#include "recentdata.h"
#include "row.h"
#include <glib/gstdio.h>
#include <string.h>

typedef struct {
  DynoSetup *setup;
  DynoDataInspector *inspector;
  GtkWidget *page;
} Fixture;

static gboolean
is_open (gpointer setup)
{
  return !dyno_setup_get_opening (setup, NULL);
}

static gboolean
is_quiet (gpointer inspector)
{
  return !dyno_data_inspector_is_busy (inspector);
}

static void
open (Fixture *f, const char *location)
{
  dyno_setup_open_data (f->setup, location);
  parts_wait (is_open, f->setup);
}

static GtkWidget *
get (Fixture *f, const char *name)
{
  return GTK_WIDGET (gtk_widget_get_template_child (f->page, DYNO_TYPE_DATA_PAGE, name));
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->setup = dyno_setup_new ();
  f->inspector = dyno_data_inspector_new (f->setup);
  f->page = g_object_ref_sink (g_object_new (DYNO_TYPE_DATA_PAGE, NULL));
  gtk_widget_show (f->page);
  dyno_data_page_set_setup (DYNO_DATA_PAGE (f->page), f->setup, f->inspector);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_widget_destroy (f->page);
  g_object_unref (f->page);
  g_object_unref (f->inspector);
  dyno_setup_shutdown (f->setup);
  g_object_unref (f->setup);
}

static const char *
get_name (gpointer widget)
{
  return atk_object_get_name (gtk_widget_get_accessible (widget));
}

/* The rows of the classes: their texts, spoken names and bars. */
static void
assert_class (Fixture *f, guint i, const char *texts, const char *spoken, double share)
{
  GtkWidget *row =
      GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (get (f, "classes")), (int) i));
  g_auto (GStrv) parts = g_strsplit (get_name (row), "\302\240", -1);
  g_autofree char *plain = g_strjoinv (" ", parts);

  parts_assert_texts (row, texts);
  g_assert_cmpstr (plain, ==, spoken);
  g_assert_cmpfloat_with_epsilon (
      gtk_level_bar_get_value (GTK_LEVEL_BAR (parts_find (row, GTK_TYPE_LEVEL_BAR))), share, 1e-9);
}

static guint
count_rows (GtkWidget *list)
{
  g_autoptr (GList) rows = gtk_container_get_children (GTK_CONTAINER (list));

  return g_list_length (rows);
}

/* A folder with arrays of n samples of 2 x 2 bytes. */
static char *
make_arrays (const char *name, guint n, const char *shape, const guint8 *y, gsize n_y)
{
  char *folder = g_build_filename (g_get_home_dir (), name, NULL);
  g_autofree guint8 *x = g_malloc (n * 4);
  g_autofree char *x_shape = g_strdup_printf ("(%u, 2, 2)", n);

  for (guint i = 0; i < n * 4; i++)
    x[i] = (guint8) i;
  arrays_write (folder, "X.npy", "|u1", x_shape, x, n * 4);
  arrays_write (folder, "y.npy", "|u1", shape, y, n_y);
  return folder;
}

/* Bars are relative to the most frequent class, those of labels to all samples; samples with values
 * are one row; nothing stays of the data set before. */
static void
test_classes_are_listed (Fixture *f, gconstpointer data)
{
  static const guint8 one[] = { 0, 0, 0, 0, 0, 0, 1, 1, 1, 2 },
                      many[] = { 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0 };
  g_autofree char *classes = make_arrays ("classes", 10, "(10,)", one, sizeof one),
                  *labels = make_arrays ("labels", 4, "(4, 3)", many, sizeof many);
  HdyPreferencesGroup *group = HDY_PREFERENCES_GROUP (get (f, "classes_group"));

  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (group)));
  g_assert_false (gtk_widget_get_visible (get (f, "use_group")));
  for (guint i = 0; i < 2; i++)
    {
      open (f, classes);
      g_assert_true (gtk_widget_get_visible (get (f, "use_group")));
      g_assert_cmpstr (hdy_preferences_group_get_title (group), ==, "Classes");
      g_assert_cmpstr (hdy_preferences_group_get_description (group), ==, "");
      g_assert_cmpuint (count_rows (get (f, "classes")), ==, 3);
      assert_class (f, 0, "0\n6", "0: 6", 1);
      assert_class (f, 1, "1\n3", "1: 3", 0.5);
      assert_class (f, 2, "2\n1", "2: 1", 1.0 / 6);
      open (f, labels);
      g_assert_cmpstr (hdy_preferences_group_get_title (group), ==, "Labels");
      g_assert_cmpstr (get_name (get (f, "classes")), ==, "Labels");
      g_assert_true (g_str_has_prefix (hdy_preferences_group_get_description (group),
                                       "Samples with each label, and their share"));
      assert_class (f, 0, "0\n50.0 %\n2 samples", "0: 2 (50.0 %)", 0.5);
      assert_class (f, 1, "1\n25.0 %\n1 sample", "1: 1 (25.0 %)", 0.25);
      open (f, "builtin:poses?samples=96");
      g_assert_cmpstr (hdy_preferences_group_get_title (group), ==, "Samples");
      g_assert_cmpstr (hdy_preferences_group_get_description (group), ==, "");
      g_assert_cmpstr (get_name (get (f, "classes")), ==, "Classes");
      g_assert_cmpuint (count_rows (get (f, "classes")), ==, 1);
      assert_class (f, 0, "All\n96", "All: 96", 1);
    }
}

/* Of many classes the first are listed, and the number of the others is told. */
static void
test_classes_that_are_left_out_are_counted (Fixture *f, gconstpointer data)
{
  const struct {
    guint n_classes, n_rows;
    const char *more; /* NULL: none */
  } rows[] = { { 42, 40, "… and 2 more classes" },
               { 40, 40, NULL },
               { 41, 40, "… and 1 more class" },
               { 3, 3, NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *location =
          g_strdup_printf ("synthetic:8x8x3?classes=%u&samples=84", rows[i].n_classes);
      open (f, location);
      g_assert_cmpuint (count_rows (get (f, "classes")), ==, rows[i].n_rows);
      g_assert_cmpint (gtk_widget_get_visible (get (f, "more")), ==, rows[i].more != NULL);
      if (rows[i].more)
        parts_assert_says (get (f, "more"), rows[i].more);
    }
  guint8 y[4 * 41];
  for (guint i = 0; i < G_N_ELEMENTS (y); i++)
    y[i] = i % 2;
  g_autofree char *labels = make_arrays ("many labels", 4, "(4, 41)", y, sizeof y);
  open (f, labels);
  parts_assert_says (get (f, "more"), "… and 1 more label");
}

/* The division is in words once it is known, and the size of images where it can be chosen. */
static void
test_the_use_in_training_is_told (Fixture *f, gconstpointer data)
{
  GtkWidget *split = get (f, "split"), *size = get (f, "size_row");

  dyno_setup_set_number (f->setup, "data.val_split", 0.25, NULL);
  for (guint i = 1; i <= 2; i++)
    {
      g_autofree char *location =
          g_strdup_printf ("builtin:shapes?size=%u&samples=%u000&classes=2", 16 * i, 2 * i);
      open (f, location);
      g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (split)), ==, "");
      parts_wait (is_quiet, f->inspector);
      g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (split)), ==,
                       i == 1 ? "1,500 train, 500 validate" : "3,000 train, 1,000 validate");
      parts_assert_says (size, i == 1 ? "16 × 16 × 3" : "32 × 32 × 3");
      dyno_setup_set_number (f->setup, "data.test_split", 0.1, NULL);
      parts_wait (is_quiet, f->inspector);
      g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (split)), ==,
                       i == 1 ? "1,350 train, 450 validate, 200 test"
                              : "2,700 train, 900 validate, 400 test");
      dyno_setup_set_number (f->setup, "data.test_split", 0, NULL);
      dyno_setup_set_number (f->setup, "image_size", 24, NULL);
      parts_assert_says (size, "24 × 24 × 3");
      dyno_setup_set_number (f->setup, "image_size", 0, NULL);
      open (f, "builtin:waves");
      g_assert_false (gtk_widget_get_visible (size));
    }
}

static void
assert_note (Fixture *f, int i, const char *start, const char *kind)
{
  GtkWidget *row = GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (get (f, "notes")), i));

  g_assert_true (g_str_has_prefix (get_name (row), start));
  g_assert_cmpstr (get_name (parts_find (row, GTK_TYPE_IMAGE)), ==, kind);
}

/* Warnings stand before remarks; the last remark has a button where the samples were not
 * compared. */
static void
test_problems_stand_before_remarks (Fixture *f, gconstpointer data)
{
  static const guint8 few[] = { 0, 0, 0, 0, 1, 1, 1, 1 };
  guint8 y[257];
  g_autofree char *large = g_build_filename (g_get_home_dir (), "too large", NULL),
                  *small = make_arrays ("few", 8, "(8,)", few, sizeof few);
  HdyPreferencesGroup *group = HDY_PREFERENCES_GROUP (get (f, "notes_group"));

  for (guint i = 0; i < G_N_ELEMENTS (y); i++)
    y[i] = i % 2;
  arrays_write (large, "X.npy", "|u1", "(257, 1024, 1024)", NULL, (gsize) 257 << 20);
  arrays_write (large, "y.npy", "|u1", "(257,)", y, sizeof y);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (group)));
  for (guint i = 0; i < 2; i++)
    {
      open (f, small);
      parts_wait (is_quiet, f->inspector);
      g_assert_cmpstr (hdy_preferences_group_get_title (group), ==, "Problems");
      g_assert_cmpuint (count_rows (get (f, "notes")), ==, 2);
      assert_note (f, 0, "Fewer than 10 samples of each of the classes", "Warning");
      assert_note (f, 1, "The samples lie in the order of their classes", "Remark");
      g_assert_null (parts_find (get (f, "notes"), GTK_TYPE_BUTTON));
      open (f, large);
      parts_wait (is_quiet, f->inspector);
      g_assert_cmpstr (hdy_preferences_group_get_title (group), ==, "Remarks");
      g_assert_cmpuint (count_rows (get (f, "notes")), ==, 1);
      assert_note (f, 0, "The samples have more than 256", "Remark");
      GtkWidget *button = parts_find_button (get (f, "notes"), "Compare");
      g_assert_cmpstr (get_name (button), ==, "Compare the samples");
      dyno_setup_set_work (f->setup, DYNO_SETUP_MEASURES);
      gtk_button_clicked (GTK_BUTTON (button));
      assert_note (f, 0, "The samples are compared with each other once", "Remark");
      g_assert_null (parts_find (get (f, "notes"), GTK_TYPE_BUTTON));
      dyno_setup_set_work (f->setup, DYNO_SETUP_IDLE);
      g_assert_false (gtk_widget_get_visible (GTK_WIDGET (group)));
      open (f, "builtin:waves");
      g_assert_false (gtk_widget_get_visible (GTK_WIDGET (group)));
    }
}

static guint
count_pictures (Fixture *f)
{
  g_autoptr (GPtrArray) images = parts_find_all (get (f, "classes"), GTK_TYPE_IMAGE);

  return images->len;
}

static gboolean
has_pictures (gpointer f)
{
  return count_pictures (f) > 0;
}

static gboolean
has_examples (gpointer f)
{
  return gtk_widget_get_visible (get (f, "examples_group"));
}

/* Writes images of one class into a folder of its own; the last `broken` of them end too early. */
static void
write_images (const char *folder, const char *class, guint n, guint broken)
{
  g_autofree char *place = g_build_filename (folder, class, NULL);
  g_autoptr (GdkPixbuf) picture = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, 24, 24);

  g_assert_cmpint (g_mkdir_with_parents (place, 0700), ==, 0);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.png", i),
                      *path = g_build_filename (place, name, NULL), *bytes = NULL;
      gsize size;
      gdk_pixbuf_fill (picture, 0x102030ff * (i + 1));
      g_assert_true (gdk_pixbuf_save_to_buffer (picture, &bytes, &size, "png", NULL, NULL));
      g_assert_true (
          g_file_set_contents (path, bytes, (gssize) (i + broken < n ? size : size * 2 / 3), NULL));
    }
}

/* Samples that the pictures leave out since they cannot be decoded are a problem, which goes with
 * the data set. */
static void
test_pictures_that_cannot_be_decoded_are_told (Fixture *f, gconstpointer data)
{
  g_autofree char *one = g_build_filename (g_get_home_dir (), "one broken", NULL),
                  *two = g_build_filename (g_get_home_dir (), "two broken", NULL);
  HdyPreferencesGroup *group = HDY_PREFERENCES_GROUP (get (f, "notes_group"));
  const char *const folders[] = { one, two };
  static const char *const starts[] = {
    "1 of the samples below cannot be decoded; in a run another",
    "2 of the samples below cannot be decoded; in a run others"
  };

  for (guint i = 0; i < 2; i++)
    {
      write_images (folders[i], "a", 4, 1);
      write_images (folders[i], "b", 4, i);
    }
  for (guint i = 0; i < 4; i++)
    {
      open (f, folders[i % 2]);
      parts_wait (has_pictures, f);
      parts_wait (is_quiet, f->inspector);
      g_assert_cmpuint (count_pictures (f), ==, i % 2 == 0 ? 7 : 6);
      g_assert_cmpstr (hdy_preferences_group_get_title (group), ==, "Problems");
      assert_note (f, 0, starts[i % 2], "Warning");
      g_assert_nonnull (strstr (get_name (GTK_WIDGET (gtk_list_box_get_row_at_index (
                                    GTK_LIST_BOX (get (f, "notes")), 0))),
                                "3.png"));
      open (f, "builtin:waves");
      g_assert_false (gtk_widget_get_visible (GTK_WIDGET (group)));
    }
}

/* Pictures of samples come with the names of their labels, and go with the data set. */
static void
test_pictures_go_with_their_data (Fixture *f, gconstpointer data)
{
  static const guint8 one[] = { 0, 0, 0, 0, 0, 0, 1, 1, 1, 2 },
                      many[] = { 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0 };
  g_autofree char *classes = make_arrays ("pictures", 10, "(10,)", one, sizeof one),
                  *labels = make_arrays ("labelled", 4, "(4, 3)", many, sizeof many);

  for (guint i = 0; i < 2; i++)
    {
      open (f, classes);
      g_assert_cmpuint (count_pictures (f), ==, 0);
      g_assert_false (gtk_widget_get_visible (get (f, "seen_list")));
      parts_wait (has_pictures, f);
      g_assert_cmpuint (count_pictures (f), ==, 4 + 3 + 1);
      g_assert_true (gtk_widget_get_visible (get (f, "seen_list")));
      g_assert_false (has_examples (f));
      g_assert_cmpstr (get_name (parts_find (get (f, "classes"), GTK_TYPE_IMAGE)), ==, "A sample");
      open (f, labels);
      g_assert_cmpuint (count_pictures (f), ==, 0);
      parts_wait (has_examples, f);
      g_assert_cmpuint (count_pictures (f), ==, 2 + 1 + 2);
      GtkWidget *first = parts_find (get (f, "classes"), GTK_TYPE_IMAGE);
      g_autofree char *tooltip = gtk_widget_get_tooltip_text (first);
      g_assert_cmpstr (tooltip, ==, "0, 1, 2");
      g_assert_cmpstr (get_name (first), ==, "A sample: 0, 1, 2");
      /* Each sample with a label once. */
      parts_assert_texts (get (f, "examples"), "0, 1, 2\n0, 2");
      open (f, "synthetic:8x8x3?classes=3&samples=84"); /* these have no pictures */
      g_assert_false (has_examples (f));
      g_assert_false (gtk_widget_get_visible (get (f, "seen_list")));
      parts_assert_texts (get (f, "examples"), "");
    }
}

/* The augmentations that are switched on are named, with their strength. */
static void
test_augmentations_are_named (Fixture *f, gconstpointer data)
{
  GtkWidget *row = get (f, "seen_row"),
            *draw = parts_find_button (row, "Change them at random once more");
  const char *const none = "No augmentation is switched on";

  gtk_widget_show (get (f, "seen_list"));
  dyno_setup_set_number (f->setup, "augment.flip", 0, NULL);
  for (guint i = 0; i < 2; i++)
    {
      gtk_button_clicked (GTK_BUTTON (draw));
      parts_assert_says (row, none);
      dyno_setup_set_number (f->setup, "augment.flip", 1, NULL);
      gtk_button_clicked (GTK_BUTTON (draw));
      parts_assert_says_not (row, none);
      parts_assert_says (row, "Random flip");
      dyno_setup_set_number (f->setup, "augment.rotate", 15, NULL);
      gtk_button_clicked (GTK_BUTTON (draw));
      parts_assert_says (row, "Random flip, Random rotation 15");
      dyno_setup_set_number (f->setup, "augment.flip", 0, NULL);
      dyno_setup_set_number (f->setup, "augment.rotate", 0, NULL);
    }
}

/* --- the card of the data set ------------------------------------------------------------------ */

static GtkWidget *
get_of (GtkWidget *panel, const char *name)
{
  return GTK_WIDGET (gtk_widget_get_template_child (panel, DYNO_TYPE_DATA_PANEL, name));
}

static void
assert_tooltip (GtkWidget *widget, const char *expected)
{
  g_autofree char *tooltip = gtk_widget_get_tooltip_text (widget);

  g_assert_cmpstr (tooltip && *tooltip ? tooltip : NULL, ==, expected);
}

/* A folder of two classes with an image each, and a file that is none with this name. */
static char *
make_images (const char *name, const char *broken)
{
  static const char *const classes[] = { "a", "b" };
  char *folder = g_build_filename (g_get_home_dir (), name, NULL);
  g_autoptr (GdkPixbuf) image = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, 4, 4);

  gdk_pixbuf_fill (image, 0x40506000);
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *place = g_build_filename (folder, classes[i], NULL),
                      *good = g_build_filename (place, "good.png", NULL),
                      *bad = g_build_filename (place, broken ? broken : "", NULL);
      g_assert_cmpint (g_mkdir_with_parents (place, 0700), ==, 0);
      g_assert_true (gdk_pixbuf_save (image, good, "png", NULL, NULL));
      if (broken)
        g_assert_true (g_file_set_contents (bad, "no image", -1, NULL));
    }
  return folder;
}

/* The card shows facts of the open data set only: what another one had, and this one has not, goes
 * with it. */
static void
test_the_card_is_of_the_open_data (Fixture *f, gconstpointer data)
{
  static const guint8 many[] = { 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0 };
  GtkWidget *panel = get (f, "panel");
  g_autofree char *labels = make_arrays ("card labels", 4, "(4, 3)", many, sizeof many),
                  *first = make_images ("first_images", "one.png"),
                  *second = make_images ("second_images", "two.png");
  GtkTextBuffer *buffer =
      gtk_text_view_get_buffer (GTK_TEXT_VIEW (get_of (panel, "unreadable_text")));

  for (guint i = 0; i < 2; i++)
    {
      open (f, labels);
      parts_assert_says (panel, "card labels");
      parts_assert_says (get_of (panel, "classes_row"), "Labels");
      parts_assert_says (get_of (panel, "classes_row"), "Any number for each sample");
      parts_assert_says (get_of (panel, "samples_row"), "4");
      g_assert_true (gtk_widget_get_visible (get_of (panel, "disk_row")));
      assert_tooltip (get_of (panel, "choice_row"), labels);
      g_assert_false (gtk_widget_get_visible (get_of (panel, "unreadable_row")));
      for (guint k = 0; k < 2; k++)
        {
          g_autofree char *text = NULL;
          open (f, k == 0 ? first : second);
          parts_assert_says (panel, k == 0 ? "first_images" : "second_images");
          parts_assert_texts (get_of (panel, "classes_row"), "Classes\n2");
          assert_tooltip (get_of (panel, "choice_row"), k == 0 ? first : second);
          g_assert_true (gtk_widget_get_visible (get_of (panel, "unreadable_row")));
          g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (get_of (panel, "unreadable"))), ==,
                           "2");
          g_object_get (buffer, "text", &text, NULL);
          g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
          g_assert_cmpuint (g_strv_length (lines), ==, 2);
          g_assert_true (strstr (text, k == 0 ? "one.png" : "two.png"));
          g_assert_false (strstr (text, k == 0 ? "two.png" : "one.png"));
        }
      open (f, "builtin:waves");
      g_assert_false (gtk_widget_get_visible (get_of (panel, "disk_row")));
      g_assert_false (gtk_widget_get_visible (get_of (panel, "unreadable_row")));
      assert_tooltip (get_of (panel, "choice_row"), NULL);
    }
}

static gboolean
is_reopened (gpointer setup)
{
  return is_open (setup) && !strcmp (dyno_setup_get_info (setup)->axes, "NHWC");
}

/* The order of the axes can be chosen only for arrays with four of them; another data set begins
 * with the order that the settings have. */
static void
test_axes_can_be_chosen (Fixture *f, gconstpointer data)
{
  static const guint8 y[] = { 0, 0, 1, 1 };
  GtkWidget *panel = get (f, "panel"), *row = get_of (panel, "axes_row");
  GtkComboBox *combo = GTK_COMBO_BOX (get_of (panel, "axes"));
  g_autofree char *flat = make_arrays ("flat", 4, "(4,)", y, 4),
                  *deep = g_build_filename (g_get_home_dir (), "deep", NULL);
  const char *reason = "Cannot be changed while the tuner or a test measures.";

  arrays_write (deep, "X.npy", "|u1", "(4, 3, 6, 5)", NULL, 4 * 3 * 6 * 5);
  arrays_write (deep, "y.npy", "|u1", "(4,)", y, sizeof y);
  for (guint i = 0; i < 2; i++)
    {
      open (f, deep);
      g_assert_true (gtk_widget_get_visible (row));
      parts_assert_says (row, "Taken as N, C, H, W");
      g_assert_cmpint (gtk_tree_model_iter_n_children (gtk_combo_box_get_model (combo), NULL), ==,
                       3);
      g_assert_cmpstr (gtk_combo_box_get_active_id (combo), ==, "auto");
      parts_assert_says (get_of (panel, "size_row"), "5 × 6 × 3");
      dyno_setup_set_work (f->setup, DYNO_SETUP_MEASURES);
      g_assert_false (gtk_widget_get_sensitive (row));
      assert_tooltip (row, reason);
      dyno_setup_set_work (f->setup, DYNO_SETUP_IDLE);
      g_assert_true (gtk_widget_get_sensitive (row));
      assert_tooltip (row, NULL);
      gtk_combo_box_set_active_id (combo, "nhwc");
      parts_wait (is_reopened, f->setup);
      parts_assert_says (row, "Taken as N, H, W, C");
      g_assert_cmpstr (gtk_combo_box_get_active_id (combo), ==, "nhwc");
      parts_assert_says (get_of (panel, "size_row"), "6 × 3 × 5");
      open (f, flat);
      g_assert_false (gtk_widget_get_visible (row));
      gtk_combo_box_set_active_id (combo, "auto");
    }
}

/* While a data set is opened, the one before stays; an opening that is cancelled or fails changes
 * nothing. */
static void
test_the_card_stays_until_others_are_open (Fixture *f, gconstpointer data)
{
  static const guint8 y[] = { 0, 0, 1, 1 };
  GtkWidget *panel = get (f, "panel"), *row = get_of (panel, "opening_row");
  g_autofree char *arrays = make_arrays ("staying", 4, "(4,)", y, 4);
  gboolean active;

  g_assert_false (gtk_widget_get_visible (row));
  open (f, arrays);
  for (guint i = 0; i < 2; i++)
    {
      dyno_setup_open_data (f->setup, "builtin:waves");
      g_assert_true (gtk_widget_get_visible (row));
      g_object_get (get_of (panel, "spinner"), "active", &active, NULL);
      g_assert_true (active);
      parts_assert_says (panel, "staying");
      gtk_button_clicked (GTK_BUTTON (get_of (panel, "cancel")));
      g_assert_false (gtk_widget_get_visible (row));
      g_object_get (get_of (panel, "spinner"), "active", &active, NULL);
      g_assert_false (active);
      parts_assert_says (panel, "staying");
      open (f, "/nowhere/at/all");
      g_assert_false (gtk_widget_get_visible (row));
      parts_assert_says (panel, "staying");
    }
}

/* --- recent data -------------------------------------------------------------------------------- */

static GString *recent; /* the names in each answer, with a space between them; then a line's end */
static guint n_answers;

static void
listed (GObject *owner, const GPtrArray *paths)
{
  for (guint i = 0; i < paths->len; i++)
    {
      g_autofree char *name = g_path_get_basename (paths->pdata[i]);
      g_string_append_printf (recent, "%s%s", i > 0 ? " " : "", name);
    }
  g_string_append_c (recent, '\n');
  n_answers++;
}

static gboolean
is_listed (gpointer n)
{
  return n_answers == GPOINTER_TO_UINT (n);
}

static void
assert_recent (GObject *owner, guint most, const char *expected)
{
  g_autofree char *line = g_strdup_printf ("%s\n", expected);

  recent = g_string_new (NULL);
  n_answers = 0;
  dyno_recent_data_list (most, owner, listed);
  parts_wait (is_listed, GUINT_TO_POINTER (1));
  g_assert_cmpstr (recent->str, ==, line);
  g_string_free (recent, TRUE);
}

/* Of the requests that come while one is pending the newest one is answered, too; another owner's
 * have nothing to do with them. */
static void
test_requests_that_wait (GObject *owner)
{
  g_autoptr (GObject) other = g_object_new (G_TYPE_OBJECT, NULL);

  for (guint i = 0; i < 2; i++)
    {
      recent = g_string_new (NULL);
      n_answers = 0;
      dyno_recent_data_list (1, owner, listed);
      dyno_recent_data_list (3, owner, listed);
      dyno_recent_data_list (2, owner, listed);
      parts_wait (is_listed, GUINT_TO_POINTER (2));
      dyno_recent_data_list (1, other, listed);
      parts_wait (is_listed, GUINT_TO_POINTER (3));
      g_assert_cmpstr (recent->str, ==, "newest_one\nnewest_one middle\nnewest_one\n");
      n_answers = 0;
      dyno_recent_data_list (1, owner, listed);
      dyno_recent_data_list (1, other, listed);
      parts_wait (is_listed, GUINT_TO_POINTER (2));
      g_string_free (recent, TRUE);
    }
}

static void
note_change (GtkRecentManager *manager, gboolean *changed)
{
  *changed = TRUE;
}

static gboolean
is_set (gpointer flag)
{
  return *(gboolean *) flag;
}

static guint
count_buttons (GtkWidget *box)
{
  g_autoptr (GPtrArray) buttons = parts_find_all (box, GTK_TYPE_MODEL_BUTTON);

  return buttons->len;
}

static gboolean
has_four (gpointer box)
{
  return count_buttons (box) == 4;
}

static gboolean
has_three (gpointer box)
{
  return count_buttons (box) == 3;
}

/* Data sets that were opened last come first, whenever they were opened for the first time; those
 * that are gone, those of other programs and built-in ones are left out. */
static void
test_recent_data_are_sorted_by_their_last_use (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *name, *program;
    guint day; /* of the last use */
  } items[] = { { "middle", "dyno", 14 },     { "oldest", "dyno", 11 }, { "other", "editor", 17 },
                { "newest_one", "dyno", 16 }, { "gone", "dyno", 15 },   { "old", "dyno", 12 } };
  g_autofree char *file = g_build_filename (g_get_user_data_dir (), "recently-used.xbel", NULL);
  g_autoptr (GString) text =
      g_string_new ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<xbel version=\"1.0\" "
                    "xmlns:bookmark=\"http://www.freedesktop.org/standards/desktop-bookmarks\" "
                    "xmlns:mime=\"http://www.freedesktop.org/standards/shared-mime-info\">\n");
  g_autoptr (GObject) owner = g_object_new (G_TYPE_OBJECT, NULL);
  GtkRecentManager *manager = gtk_recent_manager_get_default ();
  gboolean changed = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (items); i++)
    {
      g_autofree char *path = g_build_filename (g_get_home_dir (), "recent", items[i].name, NULL);
      if (strcmp (items[i].name, "gone") != 0)
        g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
      g_string_append_printf (
          text,
          "<bookmark href=\"file://%s\" added=\"2026-01-01T00:00:00Z\" "
          "modified=\"2026-01-%uT00:00:00Z\" visited=\"2026-01-01T00:00:00Z\"><info><metadata "
          "owner=\"http://freedesktop.org\"><mime:mime-type type=\"inode/directory\"/>"
          "<bookmark:applications><bookmark:application name=\"%s\" exec=\"&apos;%s %%u&apos;\" "
          "modified=\"2026-01-%uT00:00:00Z\" count=\"1\"/></bookmark:applications></metadata>"
          "</info></bookmark>\n",
          path, items[i].day, items[i].program, items[i].program, items[i].day);
    }
  g_string_append (text, "</xbel>\n");
  g_object_set (gtk_settings_get_default (), "gtk-recent-files-max-age", -1, NULL);
  gulong handler = g_signal_connect (manager, "changed", G_CALLBACK (note_change), &changed);
  g_assert_true (g_file_set_contents (file, text->str, -1, NULL));
  parts_wait (is_set, &changed);
  assert_recent (owner, 9, "newest_one middle old oldest");
  assert_recent (owner, 3, "newest_one middle old");
  assert_recent (owner, 4, "newest_one middle old oldest");
  test_requests_that_wait (owner);
  /* An old one is opened once more; built-in data are not kept. */
  g_autofree char *old = g_build_filename (g_get_home_dir (), "recent", "old", NULL);
  DynoDatasetInfo info = { .generated = TRUE, .location = old };
  dyno_recent_data_add (&info);
  info.generated = FALSE;
  changed = FALSE;
  dyno_recent_data_add (&info);
  parts_wait (is_set, &changed);
  assert_recent (owner, 9, "old newest_one middle oldest");
  /* The names in the menu are whole. */
  GtkWidget *panel = get (f, "panel"), *box = get_of (panel, "recent_box");
  GtkMenuButton *choose = GTK_MENU_BUTTON (get_of (panel, "choose"));
  GtkWidget *popover = GTK_WIDGET (gtk_menu_button_get_popover (choose));
  g_signal_emit_by_name (popover, "show");
  parts_wait (has_four, box);
  g_assert_true (gtk_widget_get_visible (box));
  g_assert_true (gtk_widget_get_visible (get_of (panel, "recent_title")));
  parts_assert_texts (box, "old\nnewest_one\nmiddle\noldest");
  g_assert_cmpint (g_rmdir (old), ==, 0);
  g_signal_emit_by_name (popover, "show");
  parts_wait (has_three, box);
  parts_assert_texts (box, "newest_one\nmiddle\noldest");
  g_signal_handler_disconnect (manager, handler);
}

#define ADD(name, test) g_test_add ("/ui/parts/" name, Fixture, NULL, set_up, test, tear_down)

void
parts_add_datapage (void)
{
  ADD ("classes-are-listed", test_classes_are_listed);
  ADD ("classes-that-are-left-out-are-counted", test_classes_that_are_left_out_are_counted);
  ADD ("the-use-in-training-is-told", test_the_use_in_training_is_told);
  ADD ("problems-stand-before-remarks", test_problems_stand_before_remarks);
  ADD ("pictures-go-with-their-data", test_pictures_go_with_their_data);
  ADD ("pictures-that-cannot-be-decoded-are-told", test_pictures_that_cannot_be_decoded_are_told);
  ADD ("augmentations-are-named", test_augmentations_are_named);
  ADD ("the-card-is-of-the-open-data", test_the_card_is_of_the_open_data);
  ADD ("axes-can-be-chosen", test_axes_can_be_chosen);
  ADD ("the-card-stays-until-others-are-open", test_the_card_stays_until_others_are_open);
  ADD ("recent-data-are-sorted-by-their-last-use", test_recent_data_are_sorted_by_their_last_use);
}
