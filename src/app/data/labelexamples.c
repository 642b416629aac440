/* SPDX-License-Identifier: MIT */
/* Names are shown at once, pictures come from a thread.  Pictures of samples that are no longer
 * shown are dropped by their cancellable. */
#include "labelexamples.h"
#include "datasampler.h"
#include "row.h"
#include "words.h"
#include <glib/gi18n.h>

#define PIXELS     72
#define NAME_CHARS 12

struct _DynoLabelExamples {
  GtkFlowBox parent_instance;
  GPtrArray *images; /* GtkImage*, of the samples that are shown; owned by the children */
  GCancellable *loading;
};

G_DEFINE_FINAL_TYPE (DynoLabelExamples, dyno_label_examples, GTK_TYPE_FLOW_BOX)

static void
loaded (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoLabelExamples *self = data; /* freed if the loading was cancelled */
  g_autoptr (DynoSamples) samples = dyno_sampler_finish (result, NULL);
  if (!samples)
    return;
  g_clear_object (&self->loading);
  for (guint i = 0; i < samples->shots->len && i < self->images->len; i++)
    {
      if (!samples->shots->pdata[i])
        continue;
      cairo_surface_t *surface = gdk_cairo_surface_create_from_pixbuf (
          samples->shots->pdata[i], gtk_widget_get_scale_factor (GTK_WIDGET (self)), NULL);
      gtk_image_set_from_surface (self->images->pdata[i], surface);
      cairo_surface_destroy (surface);
    }
}

static void
add_example (DynoLabelExamples *self, DynoDataset *dataset, guint64 index)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4), *image = gtk_image_new (), *label;
  g_autofree char *sample = dyno_dataset_describe_sample (dataset, index),
                  *names = dyno_words_labels (dataset, index),
                  *words = g_strdup_printf ("%s: %s", sample, names);
  label = gtk_label_new (names);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_label_set_max_width_chars (GTK_LABEL (label), NAME_CHARS);
  dyno_widget_add_class (label, "caption", TRUE);
  gtk_widget_set_size_request (image, PIXELS, PIXELS);
  gtk_widget_set_tooltip_text (box, words);
  gtk_container_add (GTK_CONTAINER (box), image);
  gtk_container_add (GTK_CONTAINER (box), label);
  gtk_container_add (GTK_CONTAINER (self), box);
  gtk_widget_set_can_focus (gtk_widget_get_parent (box), FALSE);
  dyno_widget_set_accessible_name (gtk_widget_get_parent (box), words);
  gtk_widget_show_all (gtk_widget_get_parent (box));
  g_ptr_array_add (self->images, image);
}

static void
clear (DynoLabelExamples *self)
{
  if (self->loading)
    g_cancellable_cancel (self->loading);
  g_clear_object (&self->loading);
  g_ptr_array_set_size (self->images, 0);
  dyno_widget_clear (GTK_WIDGET (self));
}

void
dyno_label_examples_show (DynoLabelExamples *self, DynoDataset *dataset, const GArray *indices)
{
  g_autoptr (GArray) shown = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint step = dataset ? MAX (indices->len / DYNO_LABEL_EXAMPLES_MOST, 1) : 0;
  clear (self);
  for (guint i = 0; dataset && i < indices->len && shown->len < DYNO_LABEL_EXAMPLES_MOST; i += step)
    {
      guint32 index = g_array_index (indices, guint32, i);
      if (!g_hash_table_add (seen, GUINT_TO_POINTER (index)))
        continue;
      g_array_append_val (shown, index);
      add_example (self, dataset, index);
    }
  if (shown->len == 0)
    return;
  self->loading = g_cancellable_new ();
  dyno_sampler_show_async (dataset, shown,
                           (guint) (PIXELS * gtk_widget_get_scale_factor (GTK_WIDGET (self))),
                           self->loading, loaded, self);
}

static void
dyno_label_examples_dispose (GObject *object)
{
  DynoLabelExamples *self = DYNO_LABEL_EXAMPLES (object);
  if (self->images)
    clear (self);
  g_clear_pointer (&self->images, g_ptr_array_unref);
  G_OBJECT_CLASS (dyno_label_examples_parent_class)->dispose (object);
}

static void
dyno_label_examples_class_init (DynoLabelExamplesClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_label_examples_dispose;
}

static void
dyno_label_examples_init (DynoLabelExamples *self)
{
  self->images = g_ptr_array_new ();
  g_object_set (self, "selection-mode", GTK_SELECTION_NONE, "max-children-per-line",
                DYNO_LABEL_EXAMPLES_MOST / 2, "column-spacing", 6, "row-spacing", 12, "homogeneous",
                TRUE, "valign", GTK_ALIGN_START, NULL);
  dyno_widget_set_accessible_name (GTK_WIDGET (self), _ ("Samples with their labels"));
}
