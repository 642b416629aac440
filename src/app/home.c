/* SPDX-License-Identifier: MIT */
/* The history is a file that may be on a slow disk: it is read in a thread, which opens it for
 * itself. */
#include "home.h"
#include "format.h"
#include "quickcard.h"
#include "recentdata.h"
#include "resumecard.h"
#include "row.h"
#include "runresume.h"
#include "words.h"
#include <glib/gi18n.h>
#include <handy.h>
#include <math.h>

#define MOST_RUNS 5
#define LOOKED_AT 20 /* number of newest runs that are searched for an interrupted run */
#define MOST_DATA 5

struct _DynoHome {
  GtkBox parent_instance;
  GtkWidget *title, *text, *cause, *resume, *quick, *cards, *recent, *runs, *runs_group, *data,
      *data_group;
  DynoSetup *setup;
  DynoState *state;
  gboolean reading, again;
};

enum { READ, FAILED, TESTING_CHANGED, INTERRUPTED_CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoHome, dyno_home, GTK_TYPE_BOX)

/* --- what was done last ----------------------------------------------------------------------- */

typedef struct {
  GPtrArray *runs;            /* DynoStoredRun */
  DynoStoredRun *interrupted; /* NULL: none */
} History;

static void
history_free (gpointer data)
{
  History *self = data;
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  dyno_stored_run_free (self->interrupted);
  g_free (self);
}

/* Removes the run from the list. */
static DynoStoredRun *
take_interrupted (GPtrArray *runs, guint64 dismissed)
{
  const DynoStoredRun *found = dyno_run_find_interrupted (runs, dismissed);
  guint at;
  return found && g_ptr_array_find (runs, found, &at) ? g_ptr_array_steal_index (runs, at) : NULL;
}

static void
read_history (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const DynoRunFilter filter = { .limit = LOOKED_AT };
  GError *error = NULL;
  g_autoptr (DynoStore) store = dyno_store_open (NULL, &error);
  History *history = g_new0 (History, 1);
  if (store && (history->runs = dyno_store_list_runs (store, &filter, &error)))
    {
      history->interrupted = take_interrupted (history->runs, *(guint64 *) data);
      g_task_return_pointer (task, history, history_free);
      return;
    }
  history_free (history);
  g_task_return_error (task, error);
}

static GtkWidget *
new_row (GtkWidget *list, const char *title, const char *subtitle)
{
  GtkWidget *row = hdy_action_row_new (),
            *icon = gtk_image_new_from_icon_name ("go-next-symbolic", GTK_ICON_SIZE_MENU);
  hdy_preferences_row_set_title (HDY_PREFERENCES_ROW (row), title);
  hdy_action_row_set_subtitle (HDY_ACTION_ROW (row), subtitle);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), TRUE);
  dyno_widget_set_accessible_name (row, title);
  atk_object_set_description (gtk_widget_get_accessible (row), subtitle);
  gtk_container_add (GTK_CONTAINER (row), icon);
  gtk_container_add (GTK_CONTAINER (list), row);
  gtk_widget_show_all (row);
  return row;
}

/* Puts an icon before the row of a run that did not end well. */
static void
add_sign (GtkWidget *row, const char *icon_name, const char *class)
{
  GtkWidget *icon = gtk_image_new_from_icon_name (icon_name, GTK_ICON_SIZE_MENU);
  dyno_widget_add_class (icon, class, TRUE);
  gtk_widget_show (icon);
  hdy_action_row_add_prefix (HDY_ACTION_ROW (row), icon);
}

static void
add_run (DynoHome *self, const DynoStoredRun *run)
{
  g_autofree char *model = dyno_words_model (run->model),
                  *data = dyno_words_data (run->data ? run->data : ""),
                  *when = dyno_format_when (run->begin_us), *best = dyno_format_best (run);
  /* Translators: model, data set */
  g_autofree char *made = g_strdup_printf (_ ("%s on %s"), model, data),
                  *of = g_strdup_printf (_ ("best %s"), best);
  g_autoptr (GString) subtitle = g_string_new (NULL);
  if (run->state != DYNO_RUN_STATE_FINISHED)
    g_string_append_printf (subtitle, "%s  \302\267  ", dyno_words_run_state (run));
  g_string_append (subtitle, when);
  if (!isnan (run->best_metric))
    g_string_append_printf (subtitle, "  \302\267  %s", of);
  GtkWidget *row = new_row (self->runs, run->name ? run->name : made, subtitle->str);
  gtk_list_box_row_set_selectable (GTK_LIST_BOX_ROW (row), FALSE);
  if (run->state == DYNO_RUN_STATE_FAILED)
    add_sign (row, "dialog-error-symbolic", "bad");
  else if (run->state == DYNO_RUN_STATE_KILLED)
    add_sign (row, "dialog-warning-symbolic", "sign-warning");
}

static void
history_read (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoHome *self = DYNO_HOME (source);
  History *history = g_task_propagate_pointer (G_TASK (result), NULL);
  self->reading = FALSE;
  if (history && self->setup)
    {
      dyno_widget_clear (self->runs);
      for (guint i = 0; i < history->runs->len && i < MOST_RUNS; i++)
        add_run (self, history->runs->pdata[i]);
      gtk_widget_set_visible (self->runs_group, history->runs->len > 0);
      dyno_resume_card_show (DYNO_RESUME_CARD (self->resume),
                             g_steal_pointer (&history->interrupted));
      g_signal_emit (self, signals[READ], 0);
      g_signal_emit (self, signals[INTERRUPTED_CHANGED], 0);
    }
  if (history)
    history_free (history);
  if (self->again && self->setup)
    dyno_home_refresh (self);
}

static void
recent_data_listed (GObject *owner, const GPtrArray *paths)
{
  DynoHome *self = DYNO_HOME (owner);
  if (!self->setup)
    return;
  dyno_widget_clear (self->data);
  for (guint i = 0; i < paths->len; i++)
    {
      const char *path = paths->pdata[i];
      g_autofree char *name = g_filename_display_basename (path),
                      *folder = g_path_get_dirname (path),
                      *shown = g_filename_display_name (folder);
      GtkWidget *row = new_row (self->data, name, shown);
      gtk_actionable_set_action_target (GTK_ACTIONABLE (row), "s", path);
      gtk_actionable_set_action_name (GTK_ACTIONABLE (row), "win.open-data");
    }
  gtk_widget_set_visible (self->data_group, paths->len > 0);
}

static void
show_recent_data (DynoHome *self)
{
  dyno_recent_data_list (MOST_DATA, G_OBJECT (self), recent_data_listed);
}

void
dyno_home_refresh (DynoHome *self)
{
  self->again = self->reading;
  if (self->reading)
    return;
  self->reading = TRUE;
  show_recent_data (self);
  g_autoptr (GTask) task = g_task_new (self, NULL, history_read, NULL);
  guint64 dismissed = dyno_state_get_dismissed_run (self->state);
  g_task_set_task_data (task, g_memdup2 (&dismissed, sizeof dismissed), g_free);
  g_task_run_in_thread (task, read_history);
}

const DynoStoredRun *
dyno_home_get_interrupted (DynoHome *self)
{
  return dyno_resume_card_get_run (DYNO_RESUME_CARD (self->resume));
}

static void
interrupted_dismissed (DynoHome *self)
{
  const DynoStoredRun *run = dyno_home_get_interrupted (self);
  if (run)
    dyno_state_set_dismissed_run (self->state, run->uid);
  dyno_resume_card_show (DYNO_RESUME_CARD (self->resume), NULL);
  g_signal_emit (self, signals[INTERRUPTED_CHANGED], 0);
  dyno_home_refresh (self);
}

void
dyno_home_set_state (DynoHome *self, DynoState *state)
{
  g_set_object (&self->state, state);
}

static void
run_activated (DynoHome *self)
{
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  if (G_IS_ACTION_GROUP (window))
    g_action_group_activate_action (G_ACTION_GROUP (window), "page", g_variant_new_string ("runs"));
}

/* --- the device, the quick test --------------------------------------------------------------- */

static void
show_device (DynoHome *self)
{
  const GError *error = dyno_setup_get_device_error (self->setup);
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  gtk_widget_set_visible (self->cause, error != NULL);
  if (!error && device && device->type == DYNO_DEVICE_TYPE_SOFTWARE)
    gtk_label_set_text (GTK_LABEL (self->title), _ ("Put This Machine on the Dynamometer"));
  else if (!error)
    gtk_label_set_text (GTK_LABEL (self->title), _ ("Put Your GPU on the Dynamometer"));
  if (!error)
    return;
  gtk_label_set_text (GTK_LABEL (self->title), dyno_words_error_title (error));
  gtk_label_set_text (
      GTK_LABEL (self->text),
      _ ("Dyno trains with Vulkan. Install the Vulkan loader and the driver of your graphics "
         "card, then start "
         "Dyno again. Without a card, Mesa's software driver (lavapipe) works too, slowly."));
  gtk_label_set_text (GTK_LABEL (self->cause), error->message);
}

static void
setup_changed (DynoSetup *setup, guint flags, DynoHome *self)
{
  if (flags & DYNO_SETUP_DEVICES)
    show_device (self);
}

void
dyno_home_set_narrow (DynoHome *self, gboolean narrow)
{
  GtkOrientation orientation = narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL;
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->cards), orientation);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->recent), orientation);
  dyno_resume_card_set_narrow (DYNO_RESUME_CARD (self->resume), narrow);
  /* In one column, each card has its natural height. */
  gtk_box_set_homogeneous (GTK_BOX (self->cards), !narrow);
  gtk_box_set_homogeneous (GTK_BOX (self->recent), !narrow);
}

void
dyno_home_start_quick_test (DynoHome *self)
{
  const DynoDeviceInfo *device = dyno_setup_get_device (self->setup);
  dyno_quick_card_start (DYNO_QUICK_CARD (self->quick), device ? (int) device->index : -1);
}

gboolean
dyno_home_is_testing (DynoHome *self)
{
  return dyno_quick_card_is_active (DYNO_QUICK_CARD (self->quick));
}

void
dyno_home_stop_testing (DynoHome *self)
{
  dyno_quick_card_stop (DYNO_QUICK_CARD (self->quick));
}

static void
testing_changed (DynoHome *self)
{
  g_signal_emit (self, signals[TESTING_CHANGED], 0);
}

static void
test_failed (DynoQuickCard *card, const GError *error, DynoHome *self)
{
  g_signal_emit (self, signals[FAILED], 0, error);
}

void
dyno_home_set_setup (DynoHome *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (setup_changed), self, 0);
  g_signal_connect_object (gtk_recent_manager_get_default (), "changed",
                           G_CALLBACK (show_recent_data), self, G_CONNECT_SWAPPED);
  show_device (self);
  dyno_home_refresh (self);
}

static void
dyno_home_dispose (GObject *object)
{
  DYNO_HOME (object)->setup = NULL;
  g_clear_object (&DYNO_HOME (object)->state);
  G_OBJECT_CLASS (dyno_home_parent_class)->dispose (object);
}

static void
dyno_home_class_init (DynoHomeClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GType type = DYNO_TYPE_HOME;
  G_OBJECT_CLASS (class)->dispose = dyno_home_dispose;
  g_type_ensure (DYNO_TYPE_QUICK_CARD);
  g_type_ensure (DYNO_TYPE_RESUME_CARD);
  signals[READ] =
      g_signal_new ("read", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[TESTING_CHANGED] = g_signal_new ("testing-changed", type, G_SIGNAL_RUN_LAST, 0, NULL,
                                           NULL, NULL, G_TYPE_NONE, 0);
  signals[INTERRUPTED_CHANGED] = g_signal_new ("interrupted-changed", type, G_SIGNAL_RUN_LAST, 0,
                                               NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/gpudyno/Dyno/ui/home.ui");
#define BIND(name) gtk_widget_class_bind_template_child (widget_class, DynoHome, name)
  BIND (title);
  BIND (text);
  BIND (cause);
  BIND (resume);
  BIND (quick);
  BIND (cards);
  BIND (recent);
  BIND (runs);
  BIND (runs_group);
  BIND (data);
  BIND (data_group);
#undef BIND
}

static void
dyno_home_init (DynoHome *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect_object (self->runs, "row-activated", G_CALLBACK (run_activated), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->quick, "active-changed", G_CALLBACK (testing_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->resume, "dismissed", G_CALLBACK (interrupted_dismissed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->quick, "failed", G_CALLBACK (test_failed), self, 0);
}
