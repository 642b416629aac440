/* SPDX-License-Identifier: MIT */
/* The control of one setting.  Spin buttons of fractions step by the size of their value (0.01,
 * then 0.001), because a learning rate has no one useful step; bytes are shown in GiB; a 0 that
 * means "not fixed" is shown as these words.  A text counts when it is complete: at Enter, or when
 * the focus leaves. */
#include "settingcontrol.h"
#include "format.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>
#include <stdlib.h>

#define GIB (1024.0 * 1024 * 1024)

typedef struct {
  const DynoSettingInfo *info;
  DynoSettingChanged changed;
  gpointer data;
  gulong handler;
} Control;

static Control *
get_control (GtkWidget *widget)
{
  return g_object_get_data (G_OBJECT (widget), "dyno-control");
}

/* The words for the value 0 where 0 is no amount; NULL: 0 is an amount. */
static const char *
zero_words (const DynoSettingInfo *info)
{
  return info->zero ? _ (info->zero) : NULL;
}

static void
switched (GObject *object, GParamSpec *spec, gpointer data)
{
  Control *c = data;
  c->changed (c->info, gtk_switch_get_active (GTK_SWITCH (object)) ? 1 : 0, c->data);
}

static void
chosen (GtkComboBox *combo, gpointer data)
{
  Control *c = data;
  if (gtk_combo_box_get_active (combo) >= 0)
    c->changed (c->info, gtk_combo_box_get_active (combo), c->data);
}

/* Few runs start from weights: a value that needs them is offered only where it is set already. */
static gboolean
is_offered (const DynoSettingInfo *info, const char *value)
{
  return !g_str_equal (info->key, "data.normalise") || !g_str_equal (value, "weights");
}

static void
show_choice (GtkComboBox *combo, const DynoSettingInfo *info, const char *value)
{
  guint n_offered = 0;

  if (!gtk_combo_box_set_active_id (combo, value))
    {
      gtk_combo_box_text_append (GTK_COMBO_BOX_TEXT (combo), value, dyno_words_choice (value));
      gtk_combo_box_set_active_id (combo, value);
    }
  while (info->values[n_offered] && is_offered (info, info->values[n_offered]))
    n_offered++;
  if (is_offered (info, value)
      && gtk_tree_model_iter_n_children (gtk_combo_box_get_model (combo), NULL) > (int) n_offered)
    gtk_combo_box_text_remove (GTK_COMBO_BOX_TEXT (combo), (int) n_offered);
}

static void
show_typed (GtkWidget *entry, double value)
{
  const char *text = value > 0 ? g_quark_to_string ((GQuark) value) : "";
  if (!g_str_equal (text, gtk_entry_get_text (GTK_ENTRY (entry))))
    gtk_entry_set_text (GTK_ENTRY (entry), text);
}

static void
typed (GtkEntry *entry, gpointer data)
{
  Control *c = data;
  g_autofree char *text = g_strstrip (g_strdup (gtk_entry_get_text (entry)));
  c->changed (c->info, *text ? g_quark_from_string (text) : 0, c->data);
}

static gboolean
typed_and_left (GtkWidget *entry, GdkEvent *event, gpointer data)
{
  typed (GTK_ENTRY (entry), data);
  return GDK_EVENT_PROPAGATE;
}

static GtkWidget *
new_entry (const DynoSettingInfo *info, Control *c)
{
  GtkWidget *entry = gtk_entry_new ();
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), zero_words (info));
  gtk_entry_set_width_chars (GTK_ENTRY (entry), 14);
  gtk_widget_set_valign (entry, GTK_ALIGN_CENTER);
  g_signal_connect (entry, "focus-out-event", G_CALLBACK (typed_and_left), c);
  c->handler = g_signal_connect (entry, "activate", G_CALLBACK (typed), c);
  return entry;
}

static double
get_unit (const DynoSettingInfo *info)
{
  return info->type == DYNO_SETTING_BYTES ? GIB : 1;
}

static void
set_step (GtkSpinButton *spin, const DynoSettingInfo *info)
{
  double value = fabs (gtk_spin_button_get_value (spin)), step = 1;
  if (info->type == DYNO_SETTING_DOUBLE)
    {
      double range = info->maximum - info->minimum;
      step = value > 0 ? pow (10, floor (log10 (value * 0.999))) : range <= 1 ? 0.01 : 0.1;
    }
  gtk_spin_button_set_increments (spin, step, 10 * step);
}

static void
spun (GtkSpinButton *spin, gpointer data)
{
  Control *c = data;
  double value = gtk_spin_button_get_value (spin);
  set_step (spin, c->info);
  if (c->info->type != DYNO_SETTING_DOUBLE && c->info->type != DYNO_SETTING_BYTES)
    value = round (value);
  c->changed (c->info, value == 0 ? 0 : value * get_unit (c->info), c->data);
}

/* The text of a value as a user types it. */
static char *
make_text (const DynoSettingInfo *info, double number)
{
  double value = number / get_unit (info);
  if (info->type == DYNO_SETTING_BOOL)
    return g_strdup (number != 0 ? _ ("on") : _ ("off"));
  if (info->type == DYNO_SETTING_ENUM)
    return g_strdup (dyno_words_choice (info->values[(guint) number]));
  if (value == 0 && zero_words (info))
    return g_strdup (zero_words (info));
  if (info->type == DYNO_SETTING_TEXT)
    return g_strdup (number > 0 ? g_quark_to_string ((GQuark) number) : "");
  if (info->type == DYNO_SETTING_BYTES)
    return g_strdup_printf (_ ("%.4g GiB"), value);
  return g_strdup_printf (info->type == DYNO_SETTING_DOUBLE ? "%.6g" : "%.0f", value);
}

char *
dyno_setting_control_describe (const DynoSettingInfo *info, double number)
{
  char *text = make_text (info, number);
  return info->type == DYNO_SETTING_BYTES ? dyno_format_isolate (text) : text;
}

static gboolean
show_text (GtkSpinButton *spin, gpointer data)
{
  Control *c = data;
  g_autofree char *text =
      make_text (c->info, gtk_spin_button_get_value (spin) * get_unit (c->info));
  if (!g_str_equal (text, gtk_entry_get_text (GTK_ENTRY (spin))))
    gtk_entry_set_text (GTK_ENTRY (spin), text);
  return TRUE;
}

static gint
read_text (GtkSpinButton *spin, double *value, gpointer data)
{
  Control *c = data;
  const char *text = gtk_entry_get_text (GTK_ENTRY (spin));
  const char *words = zero_words (c->info);
  char *end = NULL;
  if (words && g_str_equal (text, words))
    {
      *value = 0;
      return TRUE;
    }
  *value = strtod (text, &end); /* first in the locale, then in the C locale, as in files */
  if (end == text || *end == '.')
    *value = g_ascii_strtod (text, &end);
  if (end > text)
    return TRUE;
  *value = gtk_spin_button_get_value (spin); /* GTK takes it also where the text is no number */
  return GTK_INPUT_ERROR;
}

static GtkWidget *
new_spin (const DynoSettingInfo *info, Control *c)
{
  double unit = get_unit (info);
  const char *words = zero_words (info);
  GtkWidget *spin = gtk_spin_button_new_with_range (info->minimum / unit, info->maximum / unit, 1);
  gtk_spin_button_set_numeric (GTK_SPIN_BUTTON (spin), FALSE); /* words and units are allowed */
  gtk_spin_button_set_digits (GTK_SPIN_BUTTON (spin), info->type == DYNO_SETTING_INT ? 0 : 12);
  int width = words ? MAX (10, (int) g_utf8_strlen (words, -1) + 1) : 6;
  gtk_entry_set_width_chars (GTK_ENTRY (spin), width);
  gtk_entry_set_max_width_chars (GTK_ENTRY (spin), MAX (7, width));
  gtk_entry_set_alignment (GTK_ENTRY (spin), 1);
  gtk_widget_set_valign (spin, GTK_ALIGN_CENTER);
  g_signal_connect (spin, "output", G_CALLBACK (show_text), c);
  g_signal_connect (spin, "input", G_CALLBACK (read_text), c);
  c->handler = g_signal_connect (spin, "value-changed", G_CALLBACK (spun), c);
  return spin;
}

GtkWidget *
dyno_setting_control_new (const DynoSettingInfo *info, DynoSettingChanged changed, gpointer data)
{
  Control *c = g_new0 (Control, 1);
  GtkWidget *widget;
  c->info = info;
  c->changed = changed;
  c->data = data;
  switch (info->type)
    {
    case DYNO_SETTING_BOOL:
      widget = gtk_switch_new ();
      c->handler = g_signal_connect (widget, "notify::active", G_CALLBACK (switched), c);
      break;
    case DYNO_SETTING_ENUM:
      widget = gtk_combo_box_text_new ();
      for (const char *const *value = info->values; *value && is_offered (info, *value); value++)
        gtk_combo_box_text_append (GTK_COMBO_BOX_TEXT (widget), *value, dyno_words_choice (*value));
      c->handler = g_signal_connect (widget, "changed", G_CALLBACK (chosen), c);
      break;
    case DYNO_SETTING_TEXT:
      widget = new_entry (info, c);
      break;
    case DYNO_SETTING_INT:
    case DYNO_SETTING_DOUBLE:
    case DYNO_SETTING_BYTES:
    default:
      widget = new_spin (info, c);
      break;
    }
  g_object_set_data_full (G_OBJECT (widget), "dyno-control", c, g_free);
  gtk_widget_show (widget);
  return widget;
}

void
dyno_setting_control_set (GtkWidget *widget, double value)
{
  Control *c = get_control (widget);
  g_signal_handler_block (widget, c->handler);
  if (GTK_IS_SWITCH (widget))
    gtk_switch_set_active (GTK_SWITCH (widget), value != 0);
  else if (GTK_IS_COMBO_BOX (widget))
    show_choice (GTK_COMBO_BOX (widget), c->info, c->info->values[(guint) value]);
  else if (c->info->type == DYNO_SETTING_TEXT)
    show_typed (widget, value);
  else
    {
      gtk_spin_button_set_value (GTK_SPIN_BUTTON (widget), value / get_unit (c->info));
      set_step (GTK_SPIN_BUTTON (widget), c->info);
    }
  g_signal_handler_unblock (widget, c->handler);
}
