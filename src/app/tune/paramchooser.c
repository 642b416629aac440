/* SPDX-License-Identifier: MIT */
/* Each setting is an item with a row in the popover.  The rows are made anew when the spaces have
 * changed.  A range that is no range is replaced by the one before when its entry is left. */
#include "paramchooser.h"
#include "accuracywords.h"
#include "row.h"
#include <glib/gi18n.h>
#include <string.h>

#define MOST_ITEMS (2 * DYNO_PARAMS_MOST)

typedef struct {
  DynoParamChooser *chooser;
  DynoParam param;
  char *text; /* for dyno_param_space_choose, with the range or the values that were given */
  gboolean usual, chosen;
  double low, high;             /* of a number, as chosen, in the unit of the setting */
  double usual_low, usual_high; /* the same, as they were given */
  GtkWidget *check, *values, *ends[2];
} Item;

struct _DynoParamChooser {
  GtkMenuButton parent_instance;
  GtkWidget *label, *list, *reset;
  Item items[MOST_ITEMS];
  guint n;
  gboolean setting; /* the rows are set by this widget, not by the user */
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoParamChooser, dyno_param_chooser, GTK_TYPE_MENU_BUTTON)

static gboolean
is_number (const Item *item)
{
  return item->param.kind != DYNO_PARAM_CHOICE && !g_str_equal (item->param.key, "augment");
}

static gboolean
is_as_usual (const Item *item)
{
  return item->chosen == item->usual
         && (!item->chosen || (item->low == item->usual_low && item->high == item->usual_high));
}

static gboolean
is_usual (const DynoParamChooser *self)
{
  for (guint i = 0; i < self->n; i++)
    if (!is_as_usual (&self->items[i]))
      return FALSE;
  return TRUE;
}

static void
show_label (DynoParamChooser *self)
{
  guint n = 0;
  for (guint i = 0; i < self->n; i++)
    n += self->items[i].chosen;
  gboolean usual = is_usual (self);
  /* Translators: the usual settings are searched; also the next one: so many settings */
  g_autofree char *text = usual ? g_strdup (C_ ("settings", "The usual ones"))
                                : g_strdup_printf (ngettext ("%u setting", "%u settings", n), n);
  gtk_label_set_text (GTK_LABEL (self->label), text);
  gtk_widget_set_sensitive (self->reset, !usual);
}

static void
show_item (const Item *item)
{
  const double ends[] = { item->low, item->high };
  item->chooser->setting = TRUE;
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (item->check), item->chosen);
  gtk_widget_set_sensitive (item->values, item->chosen);
  for (guint i = 0; i < 2 && item->ends[i]; i++)
    {
      g_autofree char *text = g_strdup_printf ("%.3g", ends[i]);
      gtk_entry_set_text (GTK_ENTRY (item->ends[i]), text);
    }
  item->chooser->setting = FALSE;
}

static void
emit_changed (DynoParamChooser *self)
{
  show_label (self);
  g_signal_emit (self, signals[CHANGED], 0);
}

/* --- what the user changes -------------------------------------------------------------------- */

static void
toggled (GtkToggleButton *check, Item *item)
{
  if (item->chooser->setting)
    return;
  item->chosen = gtk_toggle_button_get_active (check);
  gtk_widget_set_sensitive (item->values, item->chosen);
  emit_changed (item->chooser);
}

/* Reads the value in an entry, which shows three digits of the present one.  FALSE: the entry has
 * no number that the setting can have. */
static gboolean
read_end (const Item *item, guint which, double *value)
{
  const DynoSettingInfo *info = dyno_setting_find (item->param.key);
  const char *text = gtk_entry_get_text (GTK_ENTRY (item->ends[which]));
  g_autofree char *shown = g_strdup_printf ("%.3g", *value);
  char *end;
  if (g_str_equal (text, shown))
    return TRUE;
  *value = g_strtod (text, &end);
  return end > text && *end == '\0' && *value >= info->minimum && *value <= info->maximum;
}

static void
read_range (Item *item)
{
  double low = item->low, high = item->high;
  gboolean good = read_end (item, 0, &low) && read_end (item, 1, &high)
                  && high - low > 1e-9 * high; /* not equal but for rounding */
  gboolean changed = good && (low != item->low || high != item->high);
  if (changed)
    {
      item->low = low;
      item->high = high;
    }
  show_item (item);
  if (changed)
    emit_changed (item->chooser);
}

static gboolean
entry_left (GtkWidget *entry, GdkEvent *event, Item *item)
{
  read_range (item);
  return GDK_EVENT_PROPAGATE;
}

static void
entry_activated (GtkEntry *entry, Item *item)
{
  read_range (item);
}

static void
reset (DynoParamChooser *self)
{
  for (guint i = 0; i < self->n; i++)
    {
      Item *item = &self->items[i];
      item->chosen = item->usual;
      item->low = item->usual_low;
      item->high = item->usual_high;
      show_item (item);
    }
  emit_changed (self);
}

/* --- rows ------------------------------------------------------------------------------------- */

static GtkWidget *
new_entry (Item *item, guint which)
{
  const char *title = dyno_accuracy_get_title (&item->param);
  GtkWidget *entry = gtk_entry_new ();
  /* Translators: the lower or the upper end of the range of a setting, for screen readers */
  g_autofree char *name = g_strdup_printf (which == 0 ? _ ("%s, from") : _ ("%s, to"), title);
  gtk_entry_set_width_chars (GTK_ENTRY (entry), 8);
  gtk_entry_set_input_purpose (GTK_ENTRY (entry), GTK_INPUT_PURPOSE_NUMBER);
  dyno_widget_set_accessible_name (entry, name);
  g_signal_connect (entry, "focus-out-event", G_CALLBACK (entry_left), item);
  g_signal_connect (entry, "activate", G_CALLBACK (entry_activated), item);
  item->ends[which] = entry;
  return entry;
}

/* The choices in words: "SGD, AdamW, Lion". */
static char *
describe_choices (const DynoParam *param)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < param->n_choices; i++)
    {
      g_autofree char *word = dyno_accuracy_words_choice (param->choices[i]);
      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", word);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static GtkWidget *
new_values (Item *item)
{
  if (is_number (item))
    {
      GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
      gtk_container_add (GTK_CONTAINER (box), new_entry (item, 0));
      /* Translators: between the ends of a range */
      gtk_container_add (GTK_CONTAINER (box), gtk_label_new (C_ ("range", "to")));
      gtk_container_add (GTK_CONTAINER (box), new_entry (item, 1));
      return box;
    }
  g_autofree char *words = item->param.kind == DYNO_PARAM_CHOICE
                               ? describe_choices (&item->param)
                               : g_strdup (_ ("Strength of all random changes"));
  GtkWidget *label = gtk_label_new (words);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 32);
  dyno_widget_add_class (label, "caption", TRUE);
  return label;
}

static void
add_row (DynoParamChooser *self, Item *item)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  item->check = gtk_check_button_new_with_label (dyno_accuracy_get_title (&item->param));
  item->values = new_values (item);
  gtk_widget_set_margin_start (item->values, 24);
  g_signal_connect (item->check, "toggled", G_CALLBACK (toggled), item);
  gtk_container_add (GTK_CONTAINER (box), item->check);
  gtk_container_add (GTK_CONTAINER (box), item->values);
  gtk_widget_show_all (box);
  gtk_container_add (GTK_CONTAINER (self->list), box);
  show_item (item);
}

static void
add_heading (DynoParamChooser *self, const char *text)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_widget_set_margin_top (label, 6);
  dyno_widget_add_class (label, "stat-title", TRUE);
  gtk_widget_show (label);
  gtk_container_add (GTK_CONTAINER (self->list), label);
}

static void
add_item (DynoParamChooser *self, const DynoParamSpace *space, guint index, gboolean usual,
          const Item *before)
{
  Item *item = &self->items[self->n++];
  *item = (Item){ .chooser = self,
                  .param = space->params[index],
                  .text = dyno_param_space_write (space, index),
                  .usual = usual,
                  .chosen = before ? before->chosen : usual };
  dyno_param_space_get_range (space, index, &item->usual_low, &item->usual_high);
  gboolean own = before && (before->low != before->usual_low || before->high != before->usual_high);
  item->low = own ? before->low : item->usual_low;
  item->high = own ? before->high : item->usual_high;
  add_row (self, item);
}

static const Item *
find_item (const Item *items, guint n, const char *key)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (items[i].param.key, key))
      return &items[i];
  return NULL;
}

/* Whether the spaces have the present items, with the same ranges and values. */
static gboolean
has_spaces (DynoParamChooser *self, const DynoParamSpace *const spaces[2])
{
  guint at = 0;
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < spaces[k]->n; i++, at++)
      {
        const DynoParam *param = &spaces[k]->params[i];
        const Item *item = &self->items[at];
        double low, high;
        dyno_param_space_get_range (spaces[k], i, &low, &high);
        if (at >= self->n || !g_str_equal (param->key, item->param.key) || low != item->usual_low
            || high != item->usual_high || param->n_choices != item->param.n_choices
            || memcmp (param->choices, item->param.choices, sizeof param->choices) != 0)
          return FALSE;
      }
  return at == self->n;
}

void
dyno_param_chooser_set_spaces (DynoParamChooser *self, const DynoParamSpace *usual,
                               const DynoParamSpace *others)
{
  const DynoParamSpace *const spaces[] = { usual, others };
  guint n = self->n;
  if (has_spaces (self, spaces))
    return;
  g_autofree Item *before = g_memdup2 (self->items, sizeof self->items);
  dyno_widget_clear (self->list);
  self->n = 0;
  for (guint k = 0; k < 2; k++)
    {
      if (k > 0 && spaces[k]->n > 0)
        add_heading (self, _ ("Further Settings"));
      for (guint i = 0; i < spaces[k]->n; i++)
        add_item (self, spaces[k], i, k == 0, find_item (before, n, spaces[k]->params[i].key));
    }
  for (guint i = 0; i < n; i++)
    g_free (before[i].text);
  show_label (self);
}

/* --- the choice as text ----------------------------------------------------------------------- */

static char *
write_item (const Item *item)
{
  char low[G_ASCII_DTOSTR_BUF_SIZE], high[G_ASCII_DTOSTR_BUF_SIZE];
  if (item->usual && is_as_usual (item))
    return g_strdup (item->param.key);
  if (!is_number (item))
    return g_strdup (item->text);
  g_ascii_formatd (low, sizeof low, "%.6g", item->low);
  g_ascii_formatd (high, sizeof high, "%.6g", item->high);
  return g_strdup_printf ("%s=%s..%s", item->param.key, low, high);
}

char **
dyno_param_chooser_get_texts (DynoParamChooser *self)
{
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  if (is_usual (self))
    return NULL;
  for (guint i = 0; i < self->n; i++)
    if (self->items[i].chosen)
      {
        g_autofree char *text = write_item (&self->items[i]);
        g_strv_builder_add (list, text);
      }
  return g_strv_builder_end (list);
}

/* --- the widget ------------------------------------------------------------------------------- */

static void
dyno_param_chooser_finalize (GObject *object)
{
  DynoParamChooser *self = DYNO_PARAM_CHOOSER (object);
  for (guint i = 0; i < self->n; i++)
    g_free (self->items[i].text);
  G_OBJECT_CLASS (dyno_param_chooser_parent_class)->finalize (object);
}

static void
dyno_param_chooser_class_init (DynoParamChooserClass *class)
{
  G_OBJECT_CLASS (class)->finalize = dyno_param_chooser_finalize;
  signals[CHANGED] = g_signal_new ("changed", DYNO_TYPE_PARAM_CHOOSER, G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 0);
}

static void
dyno_param_chooser_init (DynoParamChooser *self)
{
  GtkWidget *popover = gtk_popover_new (GTK_WIDGET (self)),
            *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 10),
            *scrolled = gtk_scrolled_window_new (NULL, NULL),
            *content = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->label = gtk_label_new (NULL);
  gtk_widget_set_hexpand (self->label, TRUE);
  gtk_label_set_xalign (GTK_LABEL (self->label), 0);
  gtk_container_add (GTK_CONTAINER (content), self->label);
  gtk_container_add (GTK_CONTAINER (content),
                     gtk_image_new_from_icon_name ("pan-down-symbolic", GTK_ICON_SIZE_BUTTON));
  gtk_container_add (GTK_CONTAINER (self), content);
  gtk_widget_show_all (content);
  self->list = gtk_box_new (GTK_ORIENTATION_VERTICAL, 10);
  g_object_set (self->list, "margin-end", 12, NULL); /* room for the scroll bar */
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 360);
  dyno_widget_set_accessible_name (scrolled, _ ("Settings to search"));
  gtk_container_add (GTK_CONTAINER (scrolled), self->list);
  self->reset = gtk_button_new_with_label (_ ("Use the Usual Ones"));
  g_signal_connect_swapped (self->reset, "clicked", G_CALLBACK (reset), self);
  g_object_set (box, "margin", 12, NULL);
  gtk_container_add (GTK_CONTAINER (box), scrolled);
  gtk_container_add (GTK_CONTAINER (box), self->reset);
  gtk_container_add (GTK_CONTAINER (popover), box);
  gtk_widget_show_all (box);
  gtk_menu_button_set_popover (GTK_MENU_BUTTON (self), popover);
  show_label (self);
}
