/* SPDX-License-Identifier: MIT */
/* A row for each image with its picture, and its classes or labels with
 * bars or its values; the row of an unreadable image says why. */
#include "predictview.h"
#include "export-dialog.h"
#include "file.h"
#include "format.h"
#include "maskpicture.h"
#include "oldnote.h"
#include "predictwork.h"
#include "row.h"
#include "settingtitles.h"
#include <glib/gi18n.h>

/* pixels */
#define PICTURE    72
#define LIST_LEAST 200

typedef struct {
  GtkWidget *view, *save, *save_masks, *list, *scrolled, *hint, *state, *spinner, *old;
  char *weights;
  int device;
  DynoPredictWork *work; /* NULL: not started yet */
  GtkSizeGroup *names;   /* gives the outputs' names the same width in all rows */
  GBytes *table;         /* predictions as CSV, owned by the work; NULL: the work is not done */
  char **paths;          /* images and folders that are predicted */
  char *masks_folder;    /* folder into which masks are written, or NULL */
} View;

static void
view_free (gpointer data)
{
  View *self = data;
  dyno_predict_work_cancel (self->work);
  g_free (self->weights);
  g_free (self->masks_folder);
  g_strfreev (self->paths);
  g_object_unref (self->names);
  g_free (self);
}

static GtkWindow *
get_window (View *self)
{
  return GTK_WINDOW (gtk_widget_get_toplevel (self->view));
}

/* --- rows ------------------------------------------------------------------------------------- */

static GtkWidget *
new_label (const char *text, float align, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), align);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  if (class)
    dyno_widget_add_class (label, class, TRUE);
  return label;
}

static char *
format_output (const DynoPredictedSample *sample, guint i)
{
  double number = sample->outputs[i].number;
  return sample->is_values ? g_strdup_printf ("%.4g", number) : dyno_format_percent (number);
}

static GtkWidget *
new_outputs (const DynoPredictedSample *sample, GtkSizeGroup *names)
{
  GtkWidget *grid = gtk_grid_new ();
  gtk_grid_set_column_spacing (GTK_GRID (grid), sample->has_mask ? 8 : 12);
  gtk_widget_set_hexpand (grid, TRUE);
  for (guint i = 0; i < sample->n; i++)
    {
      g_autofree char *text = format_output (sample, i);
      GtkWidget *name = new_label (sample->outputs[i].name, 0, NULL),
                *number = new_label (text, 1, "numeric");
      gtk_label_set_width_chars (GTK_LABEL (name), sample->has_mask ? 6 : 12);
      gtk_size_group_add_widget (names, name);
      gtk_widget_set_tooltip_text (name, sample->outputs[i].name);
      gtk_widget_set_hexpand (name, sample->is_values);
      gtk_label_set_ellipsize (GTK_LABEL (number), PANGO_ELLIPSIZE_NONE);
      if (sample->has_mask)
        gtk_grid_attach (GTK_GRID (grid),
                         dyno_mask_swatch_new ((guint8) sample->outputs[i].class_id), 0, (int) i, 1,
                         1);
      gtk_grid_attach (GTK_GRID (grid), name, 1, (int) i, 1, 1);
      gtk_grid_attach (GTK_GRID (grid), number, 3, (int) i, 1, 1);
      if (sample->is_values)
        continue;
      GtkWidget *bar = gtk_level_bar_new ();
      gtk_level_bar_set_value (GTK_LEVEL_BAR (bar), CLAMP (sample->outputs[i].number, 0, 1));
      dyno_widget_add_class (bar, "slim", TRUE);
      dyno_widget_set_accessible_name (bar, sample->outputs[i].name);
      gtk_widget_set_valign (bar, GTK_ALIGN_CENTER);
      gtk_widget_set_hexpand (bar, TRUE);
      gtk_grid_attach (GTK_GRID (grid), bar, 2, (int) i, 1, 1);
    }
  return grid;
}

/* The text of a row for screen readers. */
static char *
describe (const DynoPredictedSample *sample)
{
  GString *text = g_string_new (sample->sample);
  if (sample->problem)
    g_string_append_printf (text, ": %s", sample->problem);
  else if (sample->is_labels && sample->n == 0)
    g_string_append_printf (text, ": %s", _ ("no label"));
  for (guint i = 0; i < sample->n; i++)
    {
      g_autofree char *number = format_output (sample, i);
      g_string_append_printf (text, "%s %s %s", i ? "," : ":", sample->outputs[i].name, number);
    }
  return g_string_free (text, FALSE);
}

static GtkWidget *
new_picture (View *self, GdkPixbuf *pixbuf)
{
  GtkWidget *image = gtk_image_new ();
  gtk_widget_set_size_request (image, PICTURE, -1);
  gtk_widget_set_valign (image, GTK_ALIGN_START);
  if (!pixbuf)
    return image;
  cairo_surface_t *surface =
      gdk_cairo_surface_create_from_pixbuf (pixbuf, gtk_widget_get_scale_factor (self->view), NULL);
  gtk_image_set_from_surface (GTK_IMAGE (image), surface);
  cairo_surface_destroy (surface);
  return image;
}

void
dyno_predict_view_take_sample (const DynoPredictedSample *sample, gpointer view)
{
  View *self = g_object_get_data (view, "dyno-predict");
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4),
            *both = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  g_autofree char *base = g_path_get_basename (sample->sample), *words = describe (sample);
  GtkWidget *name = new_label (base, 0, "bar-title");
  gtk_widget_set_tooltip_text (name, sample->sample);
  gtk_container_add (GTK_CONTAINER (box), name);
  if (sample->problem)
    {
      GtkWidget *problem = new_label (sample->problem, 0, "bad-text");
      gtk_label_set_ellipsize (GTK_LABEL (problem), PANGO_ELLIPSIZE_NONE);
      gtk_label_set_line_wrap (GTK_LABEL (problem), TRUE);
      gtk_label_set_line_wrap_mode (GTK_LABEL (problem), PANGO_WRAP_WORD_CHAR);
      gtk_container_add (GTK_CONTAINER (box), problem);
    }
  else if (sample->is_labels && sample->n == 0)
    gtk_container_add (GTK_CONTAINER (box), new_label (_ ("no label"), 0, "caption"));
  else
    gtk_container_add (GTK_CONTAINER (box), new_outputs (sample, self->names));
  gtk_widget_set_hexpand (box, TRUE);
  gtk_container_add (GTK_CONTAINER (both), new_picture (self, sample->picture));
  gtk_container_add (GTK_CONTAINER (both), box);
  g_object_set (both, "margin", 8, "margin-start", 12, "margin-end", 12, NULL);
  gtk_container_add (GTK_CONTAINER (row), both);
  dyno_widget_set_accessible_name (row, words);
  gtk_widget_show_all (row);
  gtk_container_add (GTK_CONTAINER (self->list), row);
}

/* --- the work --------------------------------------------------------------------------------- */

static void
describe_masks (GString *text, guint64 n, const char *folder)
{
  g_autofree char *count = dyno_format_count (n), *name = g_filename_display_name (folder);
  g_string_append (text, "; ");
  /* Translators: number of masks, a folder */
  g_string_append_printf (
      text, ngettext ("%s mask saved in %s", "%s masks saved in %s", (gulong) n), count, name);
}

void
dyno_predict_view_take_end (const DynoPredictSummary *s, const GError *error, gpointer view)
{
  View *self = g_object_get_data (view, "dyno-predict");
  g_autofree char *count = dyno_format_count (s->n),
                  *rate = dyno_format_rate (s->seconds > 0 ? (double) s->n / s->seconds : 0);
  g_autoptr (GString) text = g_string_new (NULL);
  gtk_spinner_stop (GTK_SPINNER (self->spinner));
  if (error)
    {
      g_autofree char *cause = dyno_setting_titles_put (error->message);
      g_string_append (text, cause);
      dyno_old_note_clear (self->old);
    }
  else
    {
      g_string_append_printf (
          text,
          /* Translators: number of images, images per second, device */
          ngettext ("%s image, %s images/s on %s", "%s images, %s images/s on %s", (gulong) s->n),
          count, rate, s->device);
      if (s->n_unreadable > 0)
        {
          g_autofree char *bad = dyno_format_count (s->n_unreadable);
          g_string_append (text, "; ");
          g_string_append_printf (
              text,
              ngettext ("%s could not be read", "%s could not be read", (gulong) s->n_unreadable),
              bad);
        }
    }
  if (!error && self->masks_folder)
    describe_masks (text, s->n_masks, self->masks_folder);
  self->table = s->n > 0 ? s->table : NULL;
  gtk_widget_set_sensitive (self->save, self->table != NULL);
  gtk_widget_set_visible (self->save_masks, s->has_masks);
  gtk_widget_set_sensitive (self->save_masks, s->n_predicted > 0);
  gtk_label_set_text (GTK_LABEL (self->state), text->str);
  dyno_widget_add_class (self->state, "bad-text", error != NULL);
  gtk_widget_set_tooltip_text (self->state, s->notes);
}

/* folder: for the masks; NULL: masks are not written. */
static void
predict (View *self, const char *const *paths, const char *folder)
{
  static const DynoPredictFuncs funcs = { dyno_predict_view_take_sample,
                                          dyno_predict_view_take_end };
  char **copy = g_strdupv ((char **) paths); /* copied first: paths may be self->paths */
  dyno_predict_work_cancel (self->work);
  g_strfreev (self->paths);
  g_free (self->masks_folder);
  self->paths = copy;
  self->masks_folder = g_strdup (folder);
  self->table = NULL;
  gtk_widget_set_sensitive (self->save, FALSE);
  gtk_widget_set_sensitive (self->save_masks, FALSE);
  dyno_old_note_begin (self->old);
  dyno_widget_clear (self->list);
  gtk_widget_hide (self->hint);
  gtk_widget_show (self->scrolled);
  gtk_label_set_text (GTK_LABEL (self->state), _ ("Predicting…"));
  dyno_widget_add_class (self->state, "bad-text", FALSE);
  gtk_spinner_start (GTK_SPINNER (self->spinner));
  self->work = dyno_predict_work_start (
      self->weights, self->device, (const char *const *) copy,
      (guint) (PICTURE * gtk_widget_get_scale_factor (self->view)), folder, &funcs, self->view);
}

static void
start (View *self, const char *const *paths)
{
  predict (self, paths, NULL);
}

/* --- the masks -------------------------------------------------------------------------------- */

/* Masks are not kept in memory: they are predicted once more, and each is written at once. */
static void
folder_chosen (const char *path, const DynoExporter *exporter, gpointer data)
{
  View *self = data;
  predict (self, (const char *const *) self->paths, path);
}

static void
choose_masks_folder (View *self)
{
  dyno_dialog_end_with (dyno_dialog_open (get_window (self), _ ("Folder for the Masks"), TRUE, NULL,
                                          NULL, folder_chosen, self),
                        self->view);
}

/* --- the table -------------------------------------------------------------------------------- */

static gboolean
write_table (gpointer table, const char *path, GError **error)
{
  gsize size;
  gconstpointer data = g_bytes_get_data (table, &size);
  return dyno_file_write_atomic (path, data, size, error);
}

static void
save_table (View *self)
{
  dyno_dialog_save_held (get_window (self), _ ("Save the Table of Predictions"), "predictions.csv",
                         write_table, g_bytes_ref (self->table), (GDestroyNotify) g_bytes_unref,
                         self->state);
}

/* --- choosing and dropping -------------------------------------------------------------------- */

static void
images_chosen (GtkDialog *chooser, int response, View *self)
{
  GSList *names = response == GTK_RESPONSE_ACCEPT
                      ? gtk_file_chooser_get_filenames (GTK_FILE_CHOOSER (chooser))
                      : NULL;
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  for (GSList *l = names; l; l = l->next)
    g_ptr_array_add (paths, l->data);
  g_slist_free (names);
  gtk_widget_destroy (GTK_WIDGET (chooser));
  if (paths->len == 0)
    return;
  g_ptr_array_add (paths, NULL);
  start (self, (const char *const *) paths->pdata);
}

static void
choose_images (View *self)
{
  GtkWidget *chooser = gtk_file_chooser_dialog_new (
      _ ("Images to Predict"), get_window (self), GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Cancel"),
      GTK_RESPONSE_CANCEL, _ ("_Open"), GTK_RESPONSE_ACCEPT, NULL);
  GtkFileFilter *images = gtk_file_filter_new ();
  gtk_file_filter_set_name (images, _ ("Images"));
  gtk_file_filter_add_mime_type (images, "image/*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), images);
  gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (chooser), TRUE);
  gtk_window_set_modal (GTK_WINDOW (chooser), TRUE);
  gtk_window_set_destroy_with_parent (GTK_WINDOW (chooser), TRUE);
  gtk_dialog_set_default_response (GTK_DIALOG (chooser), GTK_RESPONSE_ACCEPT);
  g_signal_connect (chooser, "response", G_CALLBACK (images_chosen), self);
  dyno_dialog_end_with (chooser, self->view);
  gtk_widget_show (chooser);
}

static void
dropped (GtkWidget *widget, GdkDragContext *context, int x, int y, GtkSelectionData *selection,
         guint info, guint time, View *self)
{
  g_auto (GStrv) uris = gtk_selection_data_get_uris (selection);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; uris && uris[i]; i++)
    {
      char *path = g_filename_from_uri (uris[i], NULL, NULL);
      if (path)
        g_ptr_array_add (paths, path);
    }
  if (paths->len == 0)
    return;
  g_ptr_array_add (paths, NULL);
  start (self, (const char *const *) paths->pdata);
}

/* --- the view --------------------------------------------------------------------------------- */

static void
add_list (View *self, GtkWidget *content)
{
  self->hint = gtk_label_new (_ ("Drop images here, or choose some."));
  dyno_widget_add_class (self->hint, "caption", TRUE);
  gtk_widget_set_vexpand (self->hint, TRUE);
  self->list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_NONE);
  dyno_widget_set_accessible_name (self->list, _ ("Predictions"));
  self->scrolled = gtk_scrolled_window_new (NULL, NULL);
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (self->scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  dyno_widget_set_accessible_name (self->scrolled, _ ("Predictions"));
  dyno_widget_add_class (self->scrolled, "card", TRUE);
  dyno_widget_add_class (self->scrolled, "list-card", TRUE);
  g_object_set (self->scrolled, "vexpand", TRUE, "min-content-height", LIST_LEAST, NULL);
  gtk_container_add (GTK_CONTAINER (self->scrolled), self->list);
  gtk_container_add (GTK_CONTAINER (content), self->hint);
  gtk_container_add (GTK_CONTAINER (content), self->scrolled);
  gtk_widget_show (self->hint);
  gtk_widget_show (self->list);
}

/* The buttons wrap into as many lines as the width needs. */
static void
add_buttons (View *self, GtkWidget *content)
{
  GtkWidget *flow = gtk_flow_box_new (),
            *choose = gtk_button_new_with_mnemonic (_ ("C_hoose Images…"));
  g_object_set (flow, "selection-mode", GTK_SELECTION_NONE, "max-children-per-line", 3,
                "homogeneous", TRUE, "column-spacing", 8, "row-spacing", 8, "can-focus", FALSE,
                NULL);
  self->save = gtk_button_new_with_mnemonic (_ ("Save Ta_ble…"));
  gtk_widget_set_sensitive (self->save, FALSE);
  gtk_widget_set_tooltip_text (
      self->save, _ ("The most likely classes, the labels, or the values, of each image, as "
                     "CSV"));
  g_signal_connect_swapped (self->save, "clicked", G_CALLBACK (save_table), self);
  self->save_masks = gtk_button_new_with_mnemonic (_ ("Save Mas_ks…"));
  gtk_widget_set_tooltip_text (self->save_masks,
                               _ ("The class of each pixel of each image, as PNG files"));
  g_signal_connect_swapped (self->save_masks, "clicked", G_CALLBACK (choose_masks_folder), self);
  g_signal_connect_swapped (choose, "clicked", G_CALLBACK (choose_images), self);
  GtkWidget *buttons[] = { choose, self->save, self->save_masks };
  for (guint i = 0; i < G_N_ELEMENTS (buttons); i++)
    {
      gtk_container_add (GTK_CONTAINER (flow), buttons[i]);
      gtk_widget_set_can_focus (gtk_widget_get_parent (buttons[i]), FALSE);
      gtk_widget_set_visible (buttons[i], buttons[i] != self->save_masks);
      g_object_bind_property (buttons[i], "visible", gtk_widget_get_parent (buttons[i]), "visible",
                              G_BINDING_SYNC_CREATE);
    }
  gtk_container_add (GTK_CONTAINER (content), flow);
  gtk_widget_show (flow);
}

static void
add_head (View *self, GtkWidget *content)
{
  add_buttons (self, content);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  self->spinner = gtk_spinner_new ();
  gtk_widget_set_no_show_all (self->spinner, TRUE);
  g_object_bind_property (self->spinner, "active", self->spinner, "visible", G_BINDING_SYNC_CREATE);
  self->state = gtk_label_new ("");
  gtk_label_set_xalign (GTK_LABEL (self->state), 0);
  gtk_label_set_line_wrap (GTK_LABEL (self->state), TRUE);
  gtk_widget_set_hexpand (self->state, TRUE);
  gtk_container_add (GTK_CONTAINER (box), self->spinner);
  gtk_container_add (GTK_CONTAINER (box), self->state);
  gtk_container_add (GTK_CONTAINER (content), box);
  gtk_widget_show_all (box);
  self->old = dyno_old_note_new ();
  gtk_container_add (GTK_CONTAINER (content), self->old);
}

void
dyno_predict_view_start (GtkWidget *view, const char *const *paths)
{
  start (g_object_get_data (G_OBJECT (view), "dyno-predict"), paths);
}

void
dyno_predict_view_choose (GtkWidget *view)
{
  choose_images (g_object_get_data (G_OBJECT (view), "dyno-predict"));
}

void
dyno_predict_view_set_device (GtkWidget *view, int device)
{
  View *self = g_object_get_data (G_OBJECT (view), "dyno-predict");
  self->device = device;
}

void
dyno_predict_view_set_steps (GtkWidget *view, guint64 steps)
{
  View *self = g_object_get_data (G_OBJECT (view), "dyno-predict");
  dyno_old_note_set_steps (self->old, steps);
}

gboolean
dyno_predict_view_is_busy (GtkWidget *view)
{
  const View *self = g_object_get_data (G_OBJECT (view), "dyno-predict");
  gboolean busy;
  g_object_get (self->spinner, "active", &busy, NULL);
  return busy;
}

GtkWidget *
dyno_predict_view_new (const char *folder)
{
  View *self = g_new0 (View, 1);
  self->weights = dyno_predict_get_weights (folder);
  self->device = -1;
  self->names = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
  self->view = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  g_object_set_data_full (G_OBJECT (self->view), "dyno-predict", self, view_free);
  add_head (self, self->view);
  add_list (self, self->view);
  gtk_drag_dest_set (self->view, GTK_DEST_DEFAULT_ALL, NULL, 0, GDK_ACTION_COPY);
  gtk_drag_dest_add_uri_targets (self->view);
  g_signal_connect (self->view, "drag-data-received", G_CALLBACK (dropped), self);
  return self->view;
}
