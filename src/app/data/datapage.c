/* SPDX-License-Identifier: MIT */
/* The facts are shown at once; split and notes come from the inspector, pictures from a thread.
 * Pictures of a data set that is no longer open are dropped by its cancellable.  Pictures as the
 * network sees them are made anew shortly after the last change of a setting, while the page is
 * visible. */
#include "datapage.h"
#include "datapanel.h"
#include "datasampler.h"
#include "format.h"
#include "labelexamples.h"
#include "maskpicture.h"
#include "row.h"
#include "settingtitles.h"
#include "words.h"
#include <glib/gi18n.h>
#include <handy.h>
#include <math.h>

#define PIXELS   40
#define DELAY_MS 250

struct _DynoDataPage {
  GtkBox parent_instance;
  GtkWidget *panel, *split_row, *split, *size_row, *size, *use_group, *notes, *notes_group;
  GtkWidget *classes, *classes_group, *more, *examples, *examples_group;
  GtkWidget *seen_list, *seen_row, *seen_spinner, *seen;
  DynoSetup *setup;
  DynoDataset *dataset; /* the data set that is shown */
  DynoDataInspector *inspector;
  GCancellable *cancellable;
  GPtrArray *strips;    /* GtkBox*, one for each class that is shown; owned by the list */
  DynoSamples *samples; /* the samples in the strips; NULL: none yet */
  GPtrArray *images;    /* GtkImage*, in the order of samples->shots; owned by the strips */
  GCancellable *seeing; /* NULL: no pictures are being made */
  guint64 draw;
  guint timer;
  gboolean stale; /* a setting has changed: new pictures as the network sees them are needed */
};

G_DEFINE_FINAL_TYPE (DynoDataPage, dyno_data_page, GTK_TYPE_BOX)

/* --- classes ---------------------------------------------------------------------------------- */

/* spoken: the count in words for screen readers; NULL: text is used.  swatch: before the name;
 * below: a line below the bar; both NULL: none. */
static void
add_class (DynoDataPage *self, const char *name, const char *text, const char *spoken, double share,
           GtkWidget *swatch, const char *below)
{
  GtkWidget *row = gtk_list_box_row_new (), *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12),
            *left = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4),
            *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *label = gtk_label_new (name),
            *level = gtk_level_bar_new (), *strip = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 4),
            *number;
  number = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_set_tooltip_text (label, name);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (level), GTK_LEVEL_BAR_OFFSET_LOW, 0);
  gtk_level_bar_add_offset_value (GTK_LEVEL_BAR (level), GTK_LEVEL_BAR_OFFSET_HIGH, 1);
  gtk_level_bar_set_value (GTK_LEVEL_BAR (level), share);
  dyno_widget_add_class (level, "slim", TRUE);
  dyno_widget_set_accessible_name (level, name);
  gtk_label_set_xalign (GTK_LABEL (number), 1);
  dyno_widget_add_class (number, "numeric", TRUE);
  gtk_widget_set_size_request (strip, DYNO_SAMPLER_EACH * (PIXELS + 4) - 4, PIXELS);
  g_object_set (box, "margin", 8, "margin-start", 12, "margin-end", 12, NULL);
  gtk_widget_set_valign (left, GTK_ALIGN_CENTER);
  if (swatch)
    gtk_container_add (GTK_CONTAINER (head), swatch);
  gtk_container_add (GTK_CONTAINER (head), label);
  gtk_container_add (GTK_CONTAINER (head), number);
  gtk_container_add (GTK_CONTAINER (left), head);
  gtk_container_add (GTK_CONTAINER (left), level);
  if (below)
    {
      GtkWidget *line = gtk_label_new (below);
      gtk_label_set_xalign (GTK_LABEL (line), 0);
      gtk_label_set_ellipsize (GTK_LABEL (line), PANGO_ELLIPSIZE_END);
      dyno_widget_add_class (line, "caption", TRUE);
      gtk_container_add (GTK_CONTAINER (left), line);
    }
  gtk_container_add (GTK_CONTAINER (box), left);
  gtk_container_add (GTK_CONTAINER (box), strip);
  gtk_container_add (GTK_CONTAINER (row), box);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  g_autofree char *words = g_strdup_printf ("%s: %s", name, spoken ? spoken : text);
  dyno_widget_set_accessible_name (row, words);
  gtk_container_add (GTK_CONTAINER (self->classes), row);
  g_ptr_array_add (self->strips, strip);
}

/* Adds the first n classes: with counts of samples, as bars that are relative to the most frequent
 * class; or with shares of the pixels and the colours in which the masks are shown; or labels, with
 * counts and shares of all samples. */
static void
add_classes (DynoDataPage *self, const DynoDatasetInfo *info, guint n)
{
  gboolean masks = dyno_schema_find_mask (&info->schema) != NULL,
           labels = dyno_dataset_get_task (info) == DYNO_TASK_LABELS;
  guint64 most = labels ? MAX (info->n_samples, 1) : 1;
  for (guint i = 0; i < info->n_classes; i++)
    most = MAX (most, info->class_counts[i]);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = masks || labels ? dyno_words_class_share (info, i)
                                              : dyno_format_count (info->class_counts[i]),
                      *spoken = dyno_words_class_count (info, i),
                      *count = dyno_format_count (info->class_counts[i]), *below = NULL;
      if (labels)
        below = g_strdup_printf (
            ngettext ("%s sample", "%s samples", (gulong) info->class_counts[i]), count);
      add_class (self, info->class_names[i], text, spoken,
                 (double) info->class_counts[i] / (double) most,
                 masks ? dyno_mask_swatch_new ((guint8) i) : NULL, below);
    }
}

/* Explains the numbers beside labels, and beside the classes of masks. */
static void
describe_shares (DynoDataPage *self, const DynoDatasetInfo *info)
{
  g_autofree char *text = NULL;
  if (info && dyno_dataset_get_task (info) == DYNO_TASK_LABELS)
    text =
        g_strdup (_ ("Samples with each label, and their share of all samples.  A sample has any "
                     "number of labels, so the shares do not add up to 100 %."));
  if (info && dyno_schema_find_mask (&info->schema))
    {
      guint64 all = info->n_ignored;
      for (guint i = 0; i < info->n_classes; i++)
        all += info->class_counts[i];
      g_autofree char *ignored =
          dyno_format_percent (all > 0 ? (double) info->n_ignored / (double) all : NAN);
      text = info->n_ignored == 0
                 ? g_strdup (_ ("Shares of the pixels of all masks, and samples with the class."))
                 /* Translators: a share */
                 : g_strdup_printf (_ ("Shares of the pixels that count, and samples with the "
                                       "class.  %s of all pixels count for no class; they are "
                                       "hatched."),
                                    ignored);
    }
  hdy_preferences_group_set_description (HDY_PREFERENCES_GROUP (self->classes_group), text);
  atk_object_set_description (gtk_widget_get_accessible (self->classes), text ? text : "");
}

static void
show_classes (DynoDataPage *self, const DynoDatasetInfo *info)
{
  gboolean classes = info && dyno_schema_count_values (&info->schema) == 0 && info->n_classes > 0;
  gboolean labels = classes && dyno_dataset_get_task (info) == DYNO_TASK_LABELS;
  guint n = classes ? MIN (info->n_classes, DYNO_SAMPLER_CLASSES) : info ? 1 : 0;
  dyno_widget_clear (self->classes);
  g_ptr_array_set_size (self->strips, 0);
  if (classes)
    add_classes (self, info, n);
  else if (info)
    {
      g_autofree char *count = dyno_format_count (info->n_samples);
      add_class (self, _ ("All"), count, NULL, info->n_samples > 0, NULL, NULL);
    }
  gtk_widget_show_all (self->classes);
  hdy_preferences_group_set_title (HDY_PREFERENCES_GROUP (self->classes_group),
                                   labels    ? _ ("Labels")
                                   : classes ? _ ("Classes")
                                             : _ ("Samples"));
  dyno_widget_set_accessible_name (self->classes, labels ? _ ("Labels") : _ ("Classes"));
  describe_shares (self, info);
  guint left_out = classes ? info->n_classes - n : 0;
  g_autofree char *text =
      g_strdup_printf (labels ? ngettext ("… and %u more label", "… and %u more labels", left_out)
                              : ngettext ("… and %u more class", "… and %u more classes", left_out),
                       left_out);
  gtk_label_set_text (GTK_LABEL (self->more), text);
  gtk_widget_set_visible (self->more, left_out > 0);
  gtk_widget_set_visible (self->classes_group, n > 0);
}

/* --- pictures --------------------------------------------------------------------------------- */

static guint
get_pixels (DynoDataPage *self)
{
  return PIXELS * (guint) gtk_widget_get_scale_factor (GTK_WIDGET (self));
}

/* Names the picture of a sample, with its labels where it has any. */
static void
name_picture (DynoDataPage *self, guint i, const char *name)
{
  GtkWidget *image = self->images->pdata[i];
  if (dyno_dataset_get_task (dyno_dataset_get_info (self->dataset)) != DYNO_TASK_LABELS)
    {
      dyno_widget_set_accessible_name (image, name);
      return;
    }
  g_autofree char *labels =
      dyno_words_labels (self->dataset, g_array_index (self->samples->indices, guint32, i));
  g_autofree char *words = g_strdup_printf ("%s: %s", name, labels);
  gtk_widget_set_tooltip_text (image, labels);
  dyno_widget_set_accessible_name (image, words);
}

/* Shows the pictures of shots in the images. */
static void
show_shots (DynoDataPage *self, const GPtrArray *shots, const char *name)
{
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  for (guint i = 0; i < shots->len && i < self->images->len; i++)
    {
      if (!shots->pdata[i])
        continue;
      cairo_surface_t *surface =
          gdk_cairo_surface_create_from_pixbuf (shots->pdata[i], scale, NULL);
      gtk_image_set_from_surface (self->images->pdata[i], surface);
      cairo_surface_destroy (surface);
      name_picture (self, i, name);
    }
}

/* The random augmentations: "Random flip, Random rotation 15"; g_free. */
static char *
describe_changes (const DynoSettings *settings)
{
  guint n;
  const DynoSettingInfo *all = dyno_setting_list (&n);
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    {
      double value = dyno_settings_get_number (settings, all[i].key);
      if (all[i].group != DYNO_SETTING_GROUP_AUGMENTATION || value == 0
          || (all[i].type != DYNO_SETTING_BOOL && !all[i].zero)) /* a detail of another setting */
        continue;
      g_string_append_printf (text, "%s%s", text->len ? ", " : "", _ (all[i].title));
      if (all[i].type != DYNO_SETTING_BOOL)
        g_string_append_printf (text, " %g", value);
    }
  if (text->len == 0)
    g_string_append (text, _ ("No augmentation is switched on"));
  return g_string_free (text, FALSE);
}

static void
end_seeing (DynoDataPage *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  if (self->seeing)
    g_cancellable_cancel (self->seeing);
  g_clear_object (&self->seeing);
  g_object_set (self->seen_spinner, "active", FALSE, NULL);
}

static void
was_seen (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoDataPage *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSamples) seen = dyno_sampler_finish (result, &error);
  if (!seen && g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) /* self may be freed */
    return;
  end_seeing (self);
  if (seen)
    show_shots (self, seen->shots, _ ("A sample as the network sees it"));
  else
    {
      show_shots (self, self->samples->shots, _ ("A sample"));
      g_autofree char *text = dyno_setting_titles_put (error->message);
      dyno_row_set_subtitle (DYNO_ROW (self->seen_row), text);
    }
}

static gboolean
see (gpointer data)
{
  DynoDataPage *self = data;
  const DynoJob *job = dyno_setup_get_job (self->setup);
  self->timer = 0;
  if (!job || !self->images) /* the window is closing, and the page may have lost its children */
    return G_SOURCE_REMOVE;
  g_autofree char *changes = describe_changes (&job->settings);
  end_seeing (self);
  dyno_row_set_subtitle (DYNO_ROW (self->seen_row), changes);
  if (!self->samples || self->images->len == 0 || !gtk_switch_get_active (GTK_SWITCH (self->seen)))
    return G_SOURCE_REMOVE;
  self->stale = FALSE;
  self->seeing = g_cancellable_new ();
  g_object_set (self->seen_spinner, "active", TRUE, NULL);
  dyno_sampler_see_async (job, self->dataset, self->samples->indices, get_pixels (self), self->draw,
                          self->seeing, was_seen, self);
  return G_SOURCE_REMOVE;
}

/* Pictures are made only while the page is visible, and not after its disposal. */
static void
see_later (DynoDataPage *self)
{
  g_clear_handle_id (&self->timer, g_source_remove);
  self->stale = TRUE;
  if (self->images && dyno_setup_get_job (self->setup) && gtk_widget_get_mapped (GTK_WIDGET (self)))
    self->timer = g_timeout_add (DELAY_MS, see, self);
}

static void
mapped (DynoDataPage *self)
{
  if (self->stale)
    see_later (self);
}

static void
seen_switched (GObject *object, GParamSpec *spec, DynoDataPage *self)
{
  if (!gtk_switch_get_active (GTK_SWITCH (object)) && self->samples)
    show_shots (self, self->samples->shots, _ ("A sample"));
  see (self);
}

static void
draw_clicked (GtkButton *button, DynoDataPage *self)
{
  self->draw++;
  see (self);
}

static GtkWidget *
add_note (DynoDataPage *self, const char *text, const char *icon_name, const char *class,
          const char *kind)
{
  GtkWidget *row = hdy_action_row_new (),
            *icon = gtk_image_new_from_icon_name (icon_name, GTK_ICON_SIZE_MENU);
  hdy_preferences_row_set_title (HDY_PREFERENCES_ROW (row), text);
  hdy_action_row_set_title_lines (HDY_ACTION_ROW (row), 0);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  dyno_widget_add_class (icon, class, TRUE);
  dyno_widget_set_accessible_name (icon, kind);
  dyno_widget_set_accessible_name (row, text);
  hdy_action_row_add_prefix (HDY_ACTION_ROW (row), icon);
  gtk_container_add (GTK_CONTAINER (self->notes), row);
  return row;
}

/* If the samples were not compared, the last remark states this, and gets a button that compares
 * them. */
static void
offer_comparison (DynoDataPage *self, GtkWidget *row)
{
  GtkWidget *button = gtk_button_new_with_label (_ ("Compare"));
  dyno_widget_set_accessible_name (button, _ ("Compare the samples"));
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (button, "clicked", G_CALLBACK (dyno_data_inspector_compare),
                            self->inspector);
  gtk_container_add (GTK_CONTAINER (row), button);
}

/* Why pictures are missing among the classes.  NULL: none is; g_free. */
static char *
describe_failures (const DynoSamples *samples)
{
  if (!samples || samples->n_failed == 0)
    return NULL;
  /* Translators: number of samples, the error of the first one */
  return g_strdup_printf (ngettext ("%u of the samples below cannot be decoded; in a run another "
                                    "one takes its place: %s",
                                    "%u of the samples below cannot be decoded; in a run others "
                                    "take their place: %s",
                                    samples->n_failed),
                          samples->n_failed, samples->failure);
}

static void
show_notes (DynoDataPage *self)
{
  const GPtrArray *warnings = dyno_data_inspector_get_warnings (self->inspector),
                  *remarks = dyno_data_inspector_get_remarks (self->inspector);
  g_autofree char *failures = describe_failures (self->samples);
  GtkWidget *last = NULL;
  dyno_widget_clear (self->notes);
  if (failures)
    add_note (self, failures, "dialog-warning-symbolic", "sign-warning", _ ("Warning"));
  for (guint i = 0; i < warnings->len; i++)
    add_note (self, warnings->pdata[i], "dialog-warning-symbolic", "sign-warning", _ ("Warning"));
  for (guint i = 0; i < remarks->len; i++)
    last = add_note (self, remarks->pdata[i], "dialog-information-symbolic", "sign-note",
                     _ ("Remark"));
  if (last && dyno_data_inspector_can_compare (self->inspector))
    offer_comparison (self, last);
  gtk_widget_show_all (self->notes);
  hdy_preferences_group_set_title (HDY_PREFERENCES_GROUP (self->notes_group),
                                   failures || warnings->len > 0 ? _ ("Problems") : _ ("Remarks"));
  gtk_widget_set_visible (self->notes_group, failures || warnings->len + remarks->len > 0);
}

/* --- what comes from the thread --------------------------------------------------------------- */

/* Shows, and keeps, only the pictures that could be decoded. */
static void
keep_pictures (DynoDataPage *self, DynoSamples *samples)
{
  guint n = 0;
  for (guint i = 0; i < samples->shots->len && i / DYNO_SAMPLER_EACH < self->strips->len; i++)
    {
      if (!samples->shots->pdata[i])
        continue;
      GtkWidget *image = gtk_image_new ();
      gtk_container_add (GTK_CONTAINER (self->strips->pdata[i / DYNO_SAMPLER_EACH]), image);
      gtk_widget_show (image);
      g_ptr_array_add (self->images, image);
      samples->shots->pdata[n] = g_steal_pointer (&samples->shots->pdata[i]);
      g_array_index (samples->indices, guint32, n++) = g_array_index (samples->indices, guint32, i);
    }
  g_ptr_array_set_size (samples->shots, (int) n);
  g_array_set_size (samples->indices, n);
}

static void
looked (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoDataPage *self = data;
  DynoSamples *samples = dyno_sampler_finish (result, NULL);
  if (!samples) /* cancelled: another data set is open, or the page is freed */
    return;
  keep_pictures (self, samples);
  self->samples = samples;
  show_shots (self, samples->shots, _ ("A sample"));
  show_notes (self);
  gtk_widget_set_visible (self->seen_list, self->images->len > 0);
  gboolean labels =
      dyno_dataset_get_task (dyno_dataset_get_info (self->dataset)) == DYNO_TASK_LABELS;
  if (labels)
    dyno_label_examples_show (DYNO_LABEL_EXAMPLES (self->examples), self->dataset,
                              samples->indices);
  gtk_widget_set_visible (self->examples_group, labels && self->images->len > 0);
  see_later (self);
}

static void
inspected (DynoDataPage *self)
{
  guint64 n_train, n_validation, n_test;
  g_autofree char *split = NULL;
  if (dyno_data_inspector_get_split (self->inspector, &n_train, &n_validation, &n_test))
    {
      g_autofree char *train = dyno_format_count (n_train),
                      *validation = dyno_format_count (n_validation),
                      *test = dyno_format_count (n_test);
      if (n_test > 0)
        /* Translators: numbers of samples */
        split = g_strdup_printf (_ ("%s train, %s validate, %s test"), train, validation, test);
      else
        /* Translators: numbers of samples */
        split = g_strdup_printf (_ ("%s train, %s validate"), train, validation);
    }
  gtk_label_set_text (GTK_LABEL (self->split), split ? split : "");
  show_notes (self);
}

static void
forget (DynoDataPage *self)
{
  if (self->cancellable)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->dataset, dyno_dataset_unref);
  end_seeing (self);
  for (guint i = 0; i < self->images->len; i++)
    gtk_widget_destroy (self->images->pdata[i]);
  g_ptr_array_set_size (self->images, 0);
  g_clear_pointer (&self->samples, dyno_samples_free);
  gtk_widget_hide (self->seen_list);
  dyno_label_examples_show (DYNO_LABEL_EXAMPLES (self->examples), NULL, NULL);
  gtk_widget_hide (self->examples_group);
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
  DynoDataset *dataset = dyno_setup_get_dataset (setup);
  show_size (self, info);
  if (flags & ~(guint) (DYNO_SETUP_PLAN | DYNO_SETUP_WORK))
    see_later (self);
  if (dataset == self->dataset)
    return;
  forget (self);
  show_notes (self);
  show_classes (self, info);
  gtk_widget_set_visible (self->use_group, info != NULL);
  if (!dataset)
    return;
  self->dataset = dyno_dataset_ref (dataset);
  self->cancellable = g_cancellable_new ();
  if (self->strips->len > 0 && !info->schema.generated)
    dyno_sampler_look_async (dataset, get_pixels (self), self->cancellable, looked, self);
}

void
dyno_data_page_set_setup (DynoDataPage *self, DynoSetup *setup, DynoDataInspector *inspector)
{
  self->setup = setup;
  self->inspector = inspector;
  dyno_data_panel_set_setup (DYNO_DATA_PANEL (self->panel), setup);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  setup_changed (setup, DYNO_SETUP_ALL, self);
  g_signal_connect_object (inspector, "changed", G_CALLBACK (inspected), self, G_CONNECT_SWAPPED);
  inspected (self);
}

void
dyno_data_page_focus (DynoDataPage *self)
{
  dyno_data_panel_focus (DYNO_DATA_PANEL (self->panel));
}

static void
dyno_data_page_dispose (GObject *object)
{
  DynoDataPage *self = DYNO_DATA_PAGE (object);
  if (self->images)
    forget (self);
  g_clear_pointer (&self->images, g_ptr_array_unref);
  g_clear_pointer (&self->strips, g_ptr_array_unref);
  G_OBJECT_CLASS (dyno_data_page_parent_class)->dispose (object);
}

static void
dyno_data_page_class_init (DynoDataPageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dyno_data_page_dispose;
  g_type_ensure (DYNO_TYPE_DATA_PANEL);
  g_type_ensure (DYNO_TYPE_LABEL_EXAMPLES);
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
  BIND (examples);
  BIND (examples_group);
  BIND (seen_list);
  BIND (seen_row);
  BIND (seen_spinner);
  BIND (seen);
#undef BIND
  gtk_widget_class_bind_template_callback (widget_class, seen_switched);
  gtk_widget_class_bind_template_callback (widget_class, draw_clicked);
}

static void
dyno_data_page_init (DynoDataPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_direction (self->size, GTK_TEXT_DIR_LTR); /* width, height, channels */
  self->strips = g_ptr_array_new ();
  self->images = g_ptr_array_new ();
  hdy_action_row_set_activatable_widget (HDY_ACTION_ROW (self->seen_row), self->seen);
  g_signal_connect (self, "map", G_CALLBACK (mapped), NULL);
}
