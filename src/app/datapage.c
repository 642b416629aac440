/* SPDX-License-Identifier: MIT */
/* The facts are there at once; split, notes and pictures come from a thread, for the data set that
 * is open then: what comes for another one is dropped with its cancellable. */
#include "datapage.h"
#include "datapanel.h"
#include "datasampler.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>
#include <handy.h>

#define PIXELS 40

struct _DynoDataPage {
  GtkBox parent_instance;
  GtkWidget *panel, *split_row, *split, *size_row, *size, *use_group, *notes, *notes_group;
  GtkWidget *classes, *classes_group, *more;
  GtkSizeGroup *names;
  DynoSetup *setup;
  DynoDataset *dataset; /* that is shown */
  double val_split;
  gint64 seed;
  GCancellable *cancellable;
  GPtrArray *strips; /* GtkBox*, one for each class that is shown; of the list */
};

G_DEFINE_FINAL_TYPE (DynoDataPage, dyno_data_page, GTK_TYPE_BOX)

/* --- classes ---------------------------------------------------------------------------------- */

static void
add_class (DynoDataPage *self, const char *name, guint64 count, guint64 most)
{
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *label = gtk_label_new (name), *level = gtk_level_bar_new (),
            *strip = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 4), *number;
  g_autofree char *text = dyno_format_count (count);
  number = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 24);
  gtk_widget_set_tooltip_text (label, name);
  gtk_size_group_add_widget (self->names, label);
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (level), GTK_LEVEL_BAR_OFFSET_LOW, 0);
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (level), GTK_LEVEL_BAR_OFFSET_HIGH, 1);
  gtk_level_bar_set_value (GTK_LEVEL_BAR (level), most > 0 ? (double) count / (double) most : 0);
  gtk_widget_set_valign (level, GTK_ALIGN_CENTER);
  gtk_widget_set_hexpand (level, TRUE);
  dyno_widget_add_class (level, "slim", TRUE);
  dyno_widget_set_accessible_name (level, name);
  gtk_label_set_xalign (GTK_LABEL (number), 1);
  gtk_label_set_width_chars (GTK_LABEL (number), 7);
  dyno_widget_add_class (number, "numeric", TRUE);
  gtk_widget_set_size_request (strip, DYNO_SAMPLER_EACH * (PIXELS + 4) - 4, PIXELS);
  g_object_set (box, "margin", 8, "margin-start", 12, "margin-end", 12, NULL);
  gtk_container_add (GTK_CONTAINER (box), label);
  gtk_container_add (GTK_CONTAINER (box), level);
  gtk_container_add (GTK_CONTAINER (box), number);
  gtk_container_add (GTK_CONTAINER (box), strip);
  gtk_container_add (GTK_CONTAINER (row), box);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  g_autofree char *spoken = g_strdup_printf ("%s: %s", name, text);
  dyno_widget_set_accessible_name (row, spoken);
  gtk_container_add (GTK_CONTAINER (self->classes), row);
  g_ptr_array_add (self->strips, strip);
}

static void
show_classes (DynoDataPage *self, const DynoDatasetInfo *info)
{
  gboolean classes = info && dyno_schema_count_values (&info->schema) == 0 && info->n_classes > 0;
  guint n = classes ? MIN (info->n_classes, DYNO_SAMPLER_CLASSES) : info ? 1 : 0;
  guint64 most = 0;
  dyno_widget_clear (self->classes);
  g_ptr_array_set_size (self->strips, 0);
  for (guint i = 0; classes && i < info->n_classes; i++)
    most = MAX (most, info->class_counts[i]);
  for (guint i = 0; i < n; i++)
    add_class (self, classes ? info->class_names[i] : _ ("All"),
               classes ? info->class_counts[i] : info->n_samples, classes ? most : info->n_samples);
  gtk_widget_show_all (self->classes);
  hdy_preferences_group_set_title (HDY_PREFERENCES_GROUP (self->classes_group),
                                   classes ? _ ("Classes") : _ ("Samples"));
  guint left_out = classes ? info->n_classes - n : 0;
  g_autofree char *text = g_strdup_printf (
      ngettext ("… and %u more class", "… and %u more classes", left_out), left_out);
  gtk_label_set_text (GTK_LABEL (self->more), text);
  gtk_widget_set_visible (self->more, left_out > 0);
  gtk_widget_set_visible (self->classes_group, n > 0);
}

/* --- what comes from the thread --------------------------------------------------------------- */

static void
looked (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoDataPage *self = data;
  g_autoptr (DynoSamples) samples = dyno_sampler_finish (result, NULL);
  int scale;
  if (!samples) /* of another data set, or the page is gone */
    return;
  scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  for (guint i = 0; i < samples->shots->len && i / DYNO_SAMPLER_EACH < self->strips->len; i++)
    {
      if (!samples->shots->pdata[i])
        continue;
      cairo_surface_t *surface =
          gdk_cairo_surface_create_from_pixbuf (samples->shots->pdata[i], scale, NULL);
      GtkWidget *image = gtk_image_new_from_surface (surface);
      cairo_surface_destroy (surface);
      dyno_widget_set_accessible_name (image, _ ("A sample"));
      gtk_container_add (GTK_CONTAINER (self->strips->pdata[i / DYNO_SAMPLER_EACH]), image);
      gtk_widget_show (image);
    }
}

static void
add_note (DynoDataPage *self, const char *text)
{
  GtkWidget *row = hdy_action_row_new (),
            *icon = gtk_image_new_from_icon_name ("dialog-warning-symbolic", GTK_ICON_SIZE_MENU);
  hdy_preferences_row_set_title (HDY_PREFERENCES_ROW (row), text);
  hdy_action_row_set_title_lines (HDY_ACTION_ROW (row), 0);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  dyno_widget_add_class (icon, "sign-warning", TRUE);
  dyno_widget_set_accessible_name (icon, _ ("Warning"));
  dyno_widget_set_accessible_name (row, text);
  hdy_action_row_add_prefix (HDY_ACTION_ROW (row), icon);
  gtk_container_add (GTK_CONTAINER (self->notes), row);
}

static void
was_read (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoDataPage *self = data;
  g_autoptr (DynoSamples) samples = dyno_sampler_finish (result, NULL);
  if (!samples)
    return;
  g_autofree char *train = dyno_format_count (samples->n_train),
                  *validation = dyno_format_count (samples->n_validation);
  /* Translators: numbers of samples */
  g_autofree char *split = g_strdup_printf (_ ("%s train, %s validate"), train, validation);
  gtk_label_set_text (GTK_LABEL (self->split), split);
  dyno_widget_clear (self->notes);
  for (char **note = samples->notes; note && *note; note++)
    add_note (self, *note);
  gtk_widget_show_all (self->notes);
  gtk_widget_set_visible (self->notes_group, samples->notes && *samples->notes);
  if (self->strips->len > 0 && !dyno_dataset_get_info (self->dataset)->schema.generated)
    dyno_sampler_look_async (self->dataset,
                             PIXELS * (guint) gtk_widget_get_scale_factor (GTK_WIDGET (self)),
                             self->cancellable, looked, self);
}

static void
forget (DynoDataPage *self)
{
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
}

static void
show_size (DynoDataPage *self, const DynoDatasetInfo *info)
{
  guint32 width, height;
  gboolean known =
      info && info->resizable
      && dyno_job_get_size (dyno_setup_get_job (self->setup), info, &width, &height, NULL);
  g_autofree char *text =
      known ? dyno_format_size (width, height, dyno_schema_count_channels (&info->schema)) : NULL;
  gtk_label_set_text (GTK_LABEL (self->size), text ? text : "");
  gtk_widget_set_visible (self->size_row, known);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoDataPage *self)
{
  const DynoDatasetInfo *info = dyno_setup_get_info (setup);
  const DynoSettings *settings = &dyno_setup_get_job (setup)->settings;
  DynoDataset *dataset = dyno_setup_get_dataset (setup);
  gboolean same = dataset == self->dataset;
  show_size (self, info);
  if (same
      && (!dataset
          || (settings->data_val_split == self->val_split && settings->seed == self->seed)))
    return;
  forget (self);
  self->val_split = settings->data_val_split;
  self->seed = settings->seed;
  if (!same)
    show_classes (self, info);
  gtk_widget_set_visible (self->use_group, info != NULL);
  gtk_label_set_text (GTK_LABEL (self->split), "");
  gtk_widget_hide (self->notes_group);
  if (!dataset)
    return;
  self->dataset = dyno_dataset_ref (dataset);
  self->cancellable = g_cancellable_new ();
  dyno_sampler_read_async (dataset, self->val_split, (guint64) self->seed, self->cancellable,
                           was_read, self);
}

void
dyno_data_page_set_setup (DynoDataPage *self, DynoSetup *setup)
{
  self->setup = setup;
  dyno_data_panel_set_setup (DYNO_DATA_PANEL (self->panel), setup);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  setup_changed (setup, DYNO_SETUP_ALL, self);
}

static void
dyno_data_page_dispose (GObject *object)
{
  DynoDataPage *self = DYNO_DATA_PAGE (object);
  forget (self);
  g_clear_pointer (&self->strips, g_ptr_array_unref);
  g_clear_object (&self->names);
  G_OBJECT_CLASS (dyno_data_page_parent_class)->dispose (object);
}

static void
dyno_data_page_class_init (DynoDataPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dyno_data_page_dispose;
  g_type_ensure (DYNO_TYPE_DATA_PANEL);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/datapage.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoDataPage, name)
  BIND (panel);
  BIND (split_row);
  BIND (split);
  BIND (size_row);
  BIND (size);
  BIND (use_group);
  BIND (notes);
  BIND (notes_group);
  BIND (classes);
  BIND (classes_group);
  BIND (more);
#undef BIND
}

static void
dyno_data_page_init (DynoDataPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->strips = g_ptr_array_new ();
  self->names = gtk_size_group_new (GTK_SIZE_GROUP_HORIZONTAL);
}
