/* SPDX-License-Identifier: MIT */
/* Buttons are made anew only where other devices are offered, so that the one that was ticked keeps
 * the focus; `updating` marks a change that is no choice of the user. */
#include "devicesrow.h"
#include "format.h"
#include "row.h"
#include <glib/gi18n.h>
#include <math.h>

struct _DynoDevicesRow {
  GtkListBoxRow parent_instance;
  GtkWidget *buttons, *note;
  DynoSetup *setup;
  GArray *offered; /* guint: indices of devices, a button each */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (DynoDevicesRow, dyno_devices_row, GTK_TYPE_LIST_BOX_ROW)

/* The devices that are offered beside the chosen one. */
static GArray *
list_others (DynoSetup *setup)
{
  GArray *others = g_array_new (FALSE, FALSE, sizeof (guint));
  DynoUsedDevices used = dyno_setup_get_used_devices (setup);
  for (guint i = 0; used.all && i < used.all->len; i++)
    if (i != used.chosen && dyno_used_devices_suit (&used, i))
      g_array_append_val (others, i);
  return others;
}

static void
button_toggled (GtkToggleButton *button, DynoDevicesRow *self)
{
  guint index = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (button), "dyno-device"));
  if (!self->updating)
    dyno_setup_use_device (self->setup, index, gtk_toggle_button_get_active (button));
}

/* "1: NVIDIA A100, 40 GiB", with the number that other lists of devices have. */
static GtkWidget *
new_button (DynoDevicesRow *self, const DynoDeviceInfo *device, guint index)
{
  g_autofree char *memory = dyno_format_isolate (dyno_format_bytes (device->vram_bytes)),
                  *text = g_strdup_printf ("%u: %s, %s", index, device->name, memory);
  GtkWidget *button = gtk_check_button_new_with_label (text),
            *label = gtk_bin_get_child (GTK_BIN (button));
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_tooltip_text (button, text);
  g_object_set_data (G_OBJECT (button), "dyno-device", GUINT_TO_POINTER (index));
  g_signal_connect (button, "toggled", G_CALLBACK (button_toggled), self);
  gtk_widget_show_all (button);
  return button;
}

static void
show_buttons (DynoDevicesRow *self)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (self->setup);
  g_autoptr (GArray) others = list_others (self->setup);
  gboolean same = others->len == self->offered->len;
  for (guint i = 0; same && i < others->len; i++)
    same = g_array_index (others, guint, i) == g_array_index (self->offered, guint, i);
  self->updating = TRUE;
  if (!same)
    {
      dyno_widget_clear (self->buttons);
      for (guint i = 0; i < others->len; i++)
        {
          guint index = g_array_index (others, guint, i);
          gtk_container_add (GTK_CONTAINER (self->buttons),
                             new_button (self, used.all->pdata[index], index));
        }
      g_array_unref (self->offered);
      self->offered = g_array_ref (others);
    }
  g_autoptr (GList) buttons = gtk_container_get_children (GTK_CONTAINER (self->buttons));
  guint i = 0;
  for (GList *l = buttons; l; l = l->next, i++)
    gtk_toggle_button_set_active (
        l->data, dyno_used_devices_have (&used, g_array_index (self->offered, guint, i)));
  self->updating = FALSE;
  gtk_widget_set_visible (GTK_WIDGET (self), self->offered->len > 0);
}

static void
show_note (DynoDevicesRow *self)
{
  DynoUsedDevices used = dyno_setup_get_used_devices (self->setup);
  const DynoSettings *s = &dyno_setup_get_job (self->setup)->settings;
  const DynoRunEstimate *estimate = dyno_setup_get_estimate (self->setup);
  guint n = dyno_used_devices_count (&used);
  g_autofree char *count =
      dyno_format_count (n * (guint64) s->batch_size * (guint64) s->accumulate);
  GString *text = g_string_new (NULL);
  if (n > 1)
    {
      g_string_append_printf (
          text,
          /* Translators: number of devices, number of samples; %u is 2 or more */
          ngettext (
              "%u device with a process and a batch of its own: %s samples in each step",
              "%u devices, each with a process and a batch of its own: %s samples in each step", n),
          n, count);
      if (estimate && isfinite (estimate->speedup))
        g_string_append_printf (text, _ (", about %.1f times as fast as one"), estimate->speedup);
      g_string_append_printf (text, ".  %s", _ ("The run is a job of the queue."));
    }
  gtk_label_set_text (GTK_LABEL (self->note), text->str);
  gtk_widget_set_visible (self->note, n > 1);
  g_string_free (text, TRUE);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoDevicesRow *self)
{
  if (flags & DYNO_SETUP_DEVICES)
    show_buttons (self);
  if (flags & (DYNO_SETUP_DEVICES | DYNO_SETUP_SETTINGS | DYNO_SETUP_PLAN))
    show_note (self);
}

void
dyno_devices_row_set_setup (DynoDevicesRow *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  setup_changed (setup, DYNO_SETUP_ALL, self);
}

static void
dyno_devices_row_finalize (GObject *object)
{
  g_array_unref (DYNO_DEVICES_ROW (object)->offered);
  G_OBJECT_CLASS (dyno_devices_row_parent_class)->finalize (object);
}

static void
dyno_devices_row_class_init (DynoDevicesRowClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_devices_row_finalize;
}

static void
dyno_devices_row_init (DynoDevicesRow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 4),
            *title = dyno_text_new (_ ("Train on these as well"), NULL);
  self->offered = g_array_new (FALSE, FALSE, sizeof (guint));
  self->buttons = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  self->note = dyno_text_new (NULL, "caption");
  gtk_label_set_max_width_chars (GTK_LABEL (self->note), 36);
  dyno_widget_set_accessible_name (self->buttons, _ ("Train on these as well"));
  gtk_container_add (GTK_CONTAINER (box), title);
  gtk_container_add (GTK_CONTAINER (box), self->buttons);
  gtk_container_add (GTK_CONTAINER (box), self->note);
  gtk_widget_set_margin_start (box, 2);
  gtk_widget_show_all (box);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (self), FALSE);
  gtk_widget_set_can_focus (GTK_WIDGET (self), FALSE);
  dyno_widget_add_class (GTK_WIDGET (self), "text-row", TRUE);
  gtk_container_add (GTK_CONTAINER (self), box);
}
