/* SPDX-License-Identifier: MIT */
/* The form: a fold for each group of the table of settings, with model and preset where they
 * belong, and a search over all of it.  A value that differs from the preset or the default has a
 * dot, and a button that restores it.  The settings that determine how arrays are read are shown
 * with the data set.
 *
 * Its rows are built when the panel is first shown, or when the program is idle after its first
 * frame, so that they do not delay the start. */
#include "settingspanel.h"
#include "cores.h"
#include "fold.h"
#include "format.h"
#include "lrdialog.h"
#include "modelrow.h"
#include "obstacles.h"
#include "presetpanel.h"
#include "row.h"
#include "settingcontrol.h"
#include "weightsrow.h"
#include "words.h"
#include <glib/gi18n.h>

typedef struct {
  const DynoSettingInfo *info;
  GtkWidget *row, *reset, *control;
  GtkWidget *find; /* opens the range test of the learning rate; else NULL */
} SettingRow;

struct _DynoSettingsPanel {
  GtkBox parent_instance;
  GtkWidget *search, *list, *nothing, *later, *both;
  GtkWidget *folds[DYNO_SETTING_N_GROUPS], *preset;
  GtkWidget *model_row, *weights_row;
  DynoSetup *setup; /* outlives the panel */
  DynoState *state; /* or NULL */
  GArray *rows;     /* SettingRow, of the groups built so far */
  guint n_groups;   /* groups built so far */
  guint idle;       /* idle source that builds the other groups; 0: all are built */
};

enum { LIVE_CHANGE, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSettingsPanel, dyno_settings_panel, GTK_TYPE_BOX)

/* --- rows ------------------------------------------------------------------------------------- */

static char *
describe_workers (DynoSettingsPanel *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self->setup);
  guint32 advised =
      preset ? dyno_preset_get_workers (preset, dyno_setup_get_level (self->setup)) : 0;
  guint cores = dyno_cores_count ();
  if (advised <= cores || dyno_setup_differs (self->setup, dyno_setting_find ("workers")))
    return NULL;
  /* Translators: number of workers, number of processors: the smaller one counts */
  return g_strdup_printf (ngettext ("The preset advises %u, this machine has %u core",
                                    "The preset advises %u, this machine has %u cores", cores),
                          advised, cores);
}

/* Explains that the preset's AMP would make the device slower; the switch nevertheless shows it as
 * on. */
static char *
describe_amp (DynoSettingsPanel *self)
{
  const DynoPreset *preset = dyno_setup_get_preset (self->setup);
  if (!preset || !preset->amp || dyno_setup_get_job (self->setup)->settings.amp)
    return NULL;
  return g_strdup (dyno_preset_refuse_amp (dyno_setup_get_device (self->setup)));
}

/* A data set with fewer samples than the batch size makes smaller batches: the row of the batch
 * size states this. */
static char *
describe_batch (DynoSettingsPanel *self)
{
  const DynoJobPlan *plan = dyno_setup_get_plan (self->setup);
  const DynoSettings *settings = &dyno_setup_get_job (self->setup)->settings;
  if (!plan || !plan->fits || dyno_words_better_batch (settings, plan) == 0)
    return NULL;
  g_autofree char *batch = dyno_format_count ((guint64) plan->batch_size);
  /* Translators: the batch size that is used instead of the one that is set */
  return g_strdup_printf (_ ("%s will run"), batch);
}

static char *
describe_row (DynoSettingsPanel *self, const DynoSettingInfo *info)
{
  const DynoSettings *settings = &dyno_setup_get_job (self->setup)->settings;
  if (dyno_setup_changes_run (self->setup) && info->live != DYNO_SETTING_LIVE_NO)
    return g_strdup (_ ("Changes the run at once"));
  if (g_str_equal (info->key, "batch_size"))
    return describe_batch (self);
  if (g_str_equal (info->key, "workers"))
    return describe_workers (self);
  if (g_str_equal (info->key, "amp"))
    return describe_amp (self);
  if (g_str_equal (info->key, "accumulate") && settings->accumulate > 1)
    {
      g_autofree char *total =
          dyno_format_count ((guint64) (settings->batch_size * settings->accumulate));
      /* Translators: batch size times accumulation, a number of samples */
      return g_strdup_printf (_ ("Effective batch: %s"), total);
    }
  return NULL;
}

static void
show_reset (DynoSettingsPanel *self, SettingRow *row, gboolean differs)
{
  GtkWidget *window = gtk_widget_get_toplevel (row->reset);
  double value = dyno_settings_get_number (dyno_setup_get_reference (self->setup), row->info->key);
  if (!differs && gtk_widget_has_focus (row->reset) && GTK_IS_WINDOW (window))
    gtk_widget_grab_focus (row->control); /* the button is hidden: the control gets the focus */
  gtk_widget_set_visible (row->reset, differs);
  dyno_widget_add_class (row->row, "changed", differs);
  if (!differs)
    return;
  g_autofree char *text = dyno_setting_control_describe (row->info, value);
  /* Translators: the value that preset or default say */
  g_autofree char *help = g_strdup_printf (_ ("Back to %s"), text);
  /* Translators: a setting, and the value that it is put back to */
  g_autofree char *name = g_strdup_printf (_ ("%s: back to %s"), _ (row->info->title), text);
  gtk_widget_set_tooltip_text (row->reset, help);
  dyno_widget_set_accessible_name (row->reset, name);
}

/* The range test trains, and so has the same requirements as a run. */
static void
show_find (DynoSettingsPanel *self, GtkWidget *find)
{
  g_autofree char *obstacle = dyno_setup_is_busy (self->setup)
                                  ? g_strdup (_ ("Not while a run or a search is in progress."))
                                  : dyno_obstacle_to_start (self->setup);
  gtk_widget_set_sensitive (find, obstacle == NULL);
  gtk_widget_set_tooltip_text (
      find,
      obstacle ? obstacle : _ ("Find a learning rate, by some steps in which the rate grows"));
}

static void
show_rows (DynoSettingsPanel *self)
{
  const DynoSettings *settings = &dyno_setup_get_job (self->setup)->settings;
  guint changed[DYNO_SETTING_N_GROUPS] = { 0 };
  for (guint i = 0; i < self->rows->len; i++)
    {
      SettingRow *row = &g_array_index (self->rows, SettingRow, i);
      gboolean differs = dyno_setup_differs (self->setup, row->info);
      g_autofree char *reason = dyno_obstacle_to_change (self->setup, row->info);
      g_autofree char *words = describe_row (self, row->info);
      dyno_setting_control_set (row->control, dyno_settings_get_number (settings, row->info->key));
      dyno_row_set_reason (DYNO_ROW (row->row), reason, _ (row->info->help));
      dyno_row_set_subtitle (DYNO_ROW (row->row), words);
      show_reset (self, row, differs);
      if (row->find)
        show_find (self, row->find);
      changed[row->info->group] += differs;
    }
  for (guint i = 0; i < DYNO_SETTING_N_GROUPS; i++)
    {
      if (self->folds[i])
        dyno_fold_set_changed (DYNO_FOLD (self->folds[i]), changed[i]);
    }
  gtk_widget_set_visible (self->later, dyno_setup_is_busy (self->setup));
  gtk_widget_set_visible (self->both, !dyno_setup_is_locked (self->setup));
  gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (self->both),
                                dyno_setup_changes_run (self->setup));
}

static void
both_toggled (DynoSettingsPanel *self)
{
  dyno_setup_set_changes_run (self->setup,
                              gtk_toggle_button_get_active (GTK_TOGGLE_BUTTON (self->both)));
}

static void
setting_changed (const DynoSettingInfo *info, double value, gpointer data)
{
  DynoSettingsPanel *self = data;
  g_autoptr (GError) error = NULL;
  if (!dyno_setup_set_number (self->setup, info->key, value, &error))
    {
      gtk_widget_error_bell (GTK_WIDGET (self));
      show_rows (self);
      return;
    }
  if (dyno_setup_changes_run (self->setup) && info->live != DYNO_SETTING_LIVE_NO)
    g_signal_emit (self, signals[LIVE_CHANGE], 0, info->key);
}

static void
find_clicked (GtkWidget *button, DynoSettingsPanel *self)
{
  dyno_lr_dialog_show (GTK_WINDOW (gtk_widget_get_toplevel (button)), self->setup);
}

static void
reset_clicked (GtkWidget *button, DynoSettingsPanel *self)
{
  const DynoSettingInfo *info = g_object_get_data (G_OBJECT (button), "dyno-setting");
  setting_changed (
      info, dyno_settings_get_number (dyno_setup_get_reference (self->setup), info->key), self);
}

void
dyno_settings_panel_step (DynoSettingsPanel *self, gboolean undo)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  DynoSettings before = dyno_setup_get_job (self->setup)->settings;
  if (!dyno_setup_step (self->setup, undo) || !dyno_setup_changes_run (self->setup))
    return;
  const DynoSettings *now = &dyno_setup_get_job (self->setup)->settings;
  for (guint i = 0; i < n; i++)
    {
      const DynoSettingInfo *info = &list[i];
      if (info->live != DYNO_SETTING_LIVE_NO
          && dyno_settings_get_number (&before, info->key)
                 != dyno_settings_get_number (now, info->key))
        g_signal_emit (self, signals[LIVE_CHANGE], 0, info->key);
    }
}

/* --- search ----------------------------------------------------------------------------------- */

static void
search_changed (DynoSettingsPanel *self)
{
  g_autofree char *text = g_strdup (gtk_entry_get_text (GTK_ENTRY (self->search)));
  g_autofree char *folded = g_utf8_casefold (g_strstrip (text), -1);
  const char *asked = *folded ? folded : NULL;
  guint found = dyno_fold_search (DYNO_FOLD (self->preset), asked);
  for (guint i = 0; i < DYNO_SETTING_N_GROUPS; i++)
    {
      if (self->folds[i])
        found += dyno_fold_search (DYNO_FOLD (self->folds[i]), asked);
    }
  gtk_widget_set_visible (self->nothing, found == 0);
  gtk_widget_set_visible (self->list, found > 0);
}

/* Enter moves the focus to the first row that was found. */
static void
search_activated (DynoSettingsPanel *self)
{
  g_autoptr (GList) folds = gtk_container_get_children (GTK_CONTAINER (self->list));
  for (GList *l = folds; l; l = l->next)
    {
      GtkWidget *row =
          gtk_widget_get_visible (l->data) ? dyno_fold_get_first (DYNO_FOLD (l->data)) : NULL;
      if (row && gtk_widget_child_focus (row, GTK_DIR_TAB_FORWARD))
        return;
    }
}

static void
search_stopped (DynoSettingsPanel *self)
{
  gtk_entry_set_text (GTK_ENTRY (self->search), "");
}

static void
search_mapped (GtkWidget *search, gpointer data)
{
  g_signal_handlers_disconnect_by_func (search, search_mapped, data);
  gtk_widget_grab_focus (search);
}

/* If the panel is not mapped yet, the search gets the focus when it is mapped, since it cannot have
 * it before. */
void
dyno_settings_panel_find (DynoSettingsPanel *self)
{
  if (gtk_widget_get_mapped (self->search))
    gtk_widget_grab_focus (self->search);
  else
    g_signal_connect_after (self->search, "map", G_CALLBACK (search_mapped), self);
}

static void
place_mapped (GtkWidget *row, gpointer data)
{
  g_signal_handlers_disconnect_by_func (row, place_mapped, data);
  gtk_widget_child_focus (row, GTK_DIR_TAB_FORWARD);
}

/* --- building --------------------------------------------------------------------------------- */

static void
add_row (DynoSettingsPanel *self, DynoFold *fold, const DynoSettingInfo *info)
{
  SettingRow row = { info, dyno_row_new (_ (info->title), NULL),
                     gtk_button_new_from_icon_name ("edit-undo-symbolic", GTK_ICON_SIZE_MENU),
                     dyno_setting_control_new (info, setting_changed, self), NULL };
  g_autofree char *words = g_strjoin ("\n", _ (info->title), info->key, _ (info->help), NULL);
  dyno_row_add_control (DYNO_ROW (row.row), row.control);
  dyno_widget_set_accessible_name (row.control, _ (info->title));
  atk_object_set_description (gtk_widget_get_accessible (row.control), _ (info->help));
  gtk_widget_set_no_show_all (row.reset, TRUE);
  dyno_widget_add_class (row.reset, "flat", TRUE);
  dyno_widget_add_class (row.reset, "reset", TRUE);
  g_object_set_data (G_OBJECT (row.reset), "dyno-setting", (gpointer) info);
  g_signal_connect (row.reset, "clicked", G_CALLBACK (reset_clicked), self);
  dyno_row_add_control (DYNO_ROW (row.row), row.reset);
  gtk_box_reorder_child (GTK_BOX (gtk_widget_get_parent (row.reset)), row.reset, 0);
  if (g_str_equal (info->key, "lr"))
    {
      row.find = gtk_button_new_from_icon_name ("edit-find-symbolic", GTK_ICON_SIZE_MENU);
      dyno_widget_add_class (row.find, "flat", TRUE);
      dyno_widget_set_accessible_name (row.find, _ ("Find a learning rate"));
      g_signal_connect (row.find, "clicked", G_CALLBACK (find_clicked), self);
      dyno_row_add_control (DYNO_ROW (row.row), row.find);
      gtk_widget_show (row.find);
    }
  dyno_fold_take (fold, row.row, words);
  g_array_append_val (self->rows, row);
}

static DynoFold *
add_fold (DynoSettingsPanel *self, DynoSettingGroup group)
{
  GtkWidget *fold = dyno_fold_new (_ (dyno_setting_group_title (group)));
  self->folds[group] = fold;
  gtk_container_add (GTK_CONTAINER (self->list), fold);
  hdy_expander_row_set_expanded (HDY_EXPANDER_ROW (fold),
                                 group == DYNO_SETTING_GROUP_MODEL
                                     || group == DYNO_SETTING_GROUP_TRAINING);
  return DYNO_FOLD (fold);
}

static void
build_group (DynoSettingsPanel *self, DynoSettingGroup group)
{
  guint n;
  const DynoSettingInfo *list = dyno_setting_list (&n);
  if (group == DYNO_SETTING_GROUP_ARRAYS)
    return;
  DynoFold *fold = add_fold (self, group);
  if (group == DYNO_SETTING_GROUP_MODEL)
    {
      g_autofree char *words = g_strjoin ("\n", _ ("Model"), "model", NULL),
                      *layers = g_strjoin ("\n", _ ("Layers"), "layers", NULL),
                      *weights = g_strjoin ("\n", _ ("Start weights"), "weights", NULL);
      self->model_row = dyno_model_row_new (self->setup);
      self->weights_row = dyno_weights_row_new (self->setup);
      dyno_fold_take (fold, self->model_row, words);
      dyno_fold_take (fold, dyno_layers_row_new (self->setup), layers);
      dyno_fold_take (fold, self->weights_row, weights);
      self->preset = dyno_preset_panel_new (self->setup);
      gtk_container_add (GTK_CONTAINER (self->list), self->preset);
    }
  for (guint i = 0; i < n; i++)
    {
      if (list[i].group == group)
        add_row (self, fold, &list[i]);
    }
}

/* --- what is unfolded ------------------------------------------------------------------------- */

/* The names under which open folds are kept, in the order of the groups, followed by the
 * preset's. */
static const char *const fold_names[] = {
  [DYNO_SETTING_GROUP_MODEL] = "model",       [DYNO_SETTING_GROUP_TRAINING] = "training",
  [DYNO_SETTING_GROUP_PIPELINE] = "pipeline", [DYNO_SETTING_GROUP_AUGMENTATION] = "augmentation",
  [DYNO_SETTING_GROUP_MEMORY] = "memory",     [DYNO_SETTING_GROUP_ADVANCED] = "advanced",
  [DYNO_SETTING_N_GROUPS] = "preset"
};

static HdyExpanderRow *
get_fold (DynoSettingsPanel *self, guint i)
{
  GtkWidget *fold = i < DYNO_SETTING_N_GROUPS ? self->folds[i] : self->preset;
  return fold && fold_names[i] ? HDY_EXPANDER_ROW (fold) : NULL;
}

/* Keeps which folds are open, but not during a search, which unfolds the rows that it finds. */
static void
keep_folds (DynoSettingsPanel *self)
{
  g_autoptr (GPtrArray) open = g_ptr_array_new ();
  if (*gtk_entry_get_text (GTK_ENTRY (self->search)))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (fold_names); i++)
    if (get_fold (self, i) && hdy_expander_row_get_expanded (get_fold (self, i)))
      g_ptr_array_add (open, (gpointer) fold_names[i]);
  g_ptr_array_add (open, NULL);
  g_settings_set_strv (self->state, "unfolded", (const char *const *) open->pdata);
}

/* Restores the folds as they were left, and keeps their changes from here on. */
static void
follow_folds (DynoSettingsPanel *self)
{
  g_auto (GStrv) open = g_settings_get_strv (self->state, "unfolded");
  for (guint i = 0; i < G_N_ELEMENTS (fold_names); i++)
    if (get_fold (self, i))
      {
        hdy_expander_row_set_expanded (get_fold (self, i),
                                       g_strv_contains ((const char *const *) open, fold_names[i]));
        g_signal_connect_object (get_fold (self, i), "notify::expanded", G_CALLBACK (keep_folds),
                                 self, G_CONNECT_SWAPPED);
      }
}

void
dyno_settings_panel_set_state (DynoSettingsPanel *self, DynoState *state)
{
  g_set_object (&self->state, state);
  if (state && self->idle == 0)
    follow_folds (self);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoSettingsPanel *self)
{
  if (flags
      & (DYNO_SETUP_SETTINGS | DYNO_SETUP_PRESET | DYNO_SETUP_DEVICES | DYNO_SETUP_DATASET
         | DYNO_SETUP_MODEL | DYNO_SETUP_PLAN | DYNO_SETUP_WORK))
    show_rows (self);
}

/* Builds one group at a time, so that no key press waits for all. */
static gboolean
build_next (gpointer data)
{
  DynoSettingsPanel *self = data;
  build_group (self, self->n_groups++);
  if (self->n_groups < DYNO_SETTING_N_GROUPS)
    return G_SOURCE_CONTINUE;
  self->idle = 0;
  if (self->state)
    follow_folds (self);
  show_rows (self);
  return G_SOURCE_REMOVE;
}

static void
build_rest (DynoSettingsPanel *self)
{
  g_clear_handle_id (&self->idle, g_source_remove);
  while (self->n_groups < DYNO_SETTING_N_GROUPS)
    build_next (self);
}

/* Scrolls as far as needed to show the whole fold.  For a fold that is too tall it does not scroll:
 * moving the focus scrolls to the row. */
static void
scroll_to (DynoSettingsPanel *self, GtkWidget *fold)
{
  GtkWidget *scrolled = gtk_widget_get_ancestor (GTK_WIDGET (self), GTK_TYPE_SCROLLED_WINDOW),
            *content = gtk_widget_get_parent (GTK_WIDGET (self));
  GtkAdjustment *adjustment =
      scrolled ? gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled)) : NULL;
  int y, height = gtk_widget_get_allocated_height (fold);
  if (adjustment && height <= gtk_adjustment_get_page_size (adjustment)
      && gtk_widget_translate_coordinates (fold, content, 0, 0, NULL, &y))
    gtk_adjustment_clamp_page (adjustment, y, y + height);
}

void
dyno_settings_panel_show_place (DynoSettingsPanel *self, DynoSettingsPlace place)
{
  build_rest (self);
  GtkWidget *fold = place == DYNO_SETTINGS_PLACE_DEVICE ? self->preset
                                                        : self->folds[DYNO_SETTING_GROUP_MODEL],
            *row = place == DYNO_SETTINGS_PLACE_DEVICE
                       ? dyno_preset_panel_get_device_row (DYNO_PRESET_PANEL (self->preset))
                   : place == DYNO_SETTINGS_PLACE_MODEL ? self->model_row
                                                        : self->weights_row;
  gtk_entry_set_text (GTK_ENTRY (self->search), "");
  search_changed (self); /* the entry emits its own signal later */
  hdy_expander_row_set_expanded (HDY_EXPANDER_ROW (fold), TRUE);
  scroll_to (self, fold);
  if (gtk_widget_get_mapped (row))
    gtk_widget_child_focus (row, GTK_DIR_TAB_FORWARD);
  else
    g_signal_connect_after (row, "map", G_CALLBACK (place_mapped), self);
}

void
dyno_settings_panel_set_setup (DynoSettingsPanel *self, DynoSetup *setup)
{
  self->setup = setup;
  self->idle = g_idle_add_full (G_PRIORITY_LOW, build_next, self, NULL);
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  show_rows (self);
}

static void
dyno_settings_panel_map (GtkWidget *widget)
{
  build_rest (DYNO_SETTINGS_PANEL (widget));
  GTK_WIDGET_CLASS (dyno_settings_panel_parent_class)->map (widget);
}

static void
dyno_settings_panel_dispose (GObject *object)
{
  g_clear_handle_id (&DYNO_SETTINGS_PANEL (object)->idle, g_source_remove);
  G_OBJECT_CLASS (dyno_settings_panel_parent_class)->dispose (object);
}

static void
dyno_settings_panel_finalize (GObject *object)
{
  g_array_unref (DYNO_SETTINGS_PANEL (object)->rows);
  g_clear_object (&DYNO_SETTINGS_PANEL (object)->state);
  G_OBJECT_CLASS (dyno_settings_panel_parent_class)->finalize (object);
}

static void
dyno_settings_panel_class_init (DynoSettingsPanelClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dyno_settings_panel_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_settings_panel_finalize;
  widget_class->map = dyno_settings_panel_map;
  /* key of a live setting that changed while a run goes on */
  signals[LIVE_CHANGE] = g_signal_new ("live-change", DYNO_TYPE_SETTINGS_PANEL, G_SIGNAL_RUN_LAST,
                                       0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/io/github/gpudyno/Dyno/ui/settingspanel.ui");
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, search);
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, list);
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, nothing);
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, later);
  gtk_widget_class_bind_template_child (widget_class, DynoSettingsPanel, both);
  gtk_widget_class_bind_template_callback (widget_class, both_toggled);
  gtk_widget_class_bind_template_callback (widget_class, search_changed);
  gtk_widget_class_bind_template_callback (widget_class, search_activated);
  gtk_widget_class_bind_template_callback (widget_class, search_stopped);
}

static void
dyno_settings_panel_init (DynoSettingsPanel *self)
{
  self->rows = g_array_new (FALSE, FALSE, sizeof (SettingRow));
  gtk_widget_init_template (GTK_WIDGET (self));
}
