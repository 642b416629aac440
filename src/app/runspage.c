/* SPDX-License-Identifier: MIT */
/* The history is a file that may be on a slow disk: every use of it is a task in a thread, which
 * opens it for itself.  The list is read whenever the page is shown, and after each change. */
#include "runspage.h"
#include "format.h"
#include "row.h"
#include "store.h"
#include <glib/gi18n.h>
#include <math.h>

#define MOST_RUNS 500

enum {
  COLUMN_TITLE,
  COLUMN_WHEN,
  COLUMN_MODEL,
  COLUMN_RATE,
  COLUMN_BEST,
  COLUMN_STATE,
  COLUMN_RUN
};

struct _DynoRunsPage {
  GtkBox parent_instance;
  GtkWidget *list, *scrolled, *empty, *again, *folder, *compare, *rename, *delete, *card, *grid;
  GtkListStore *store;
  GPtrArray *runs; /* DynoStoredRun; the list's rows name them by index */
  DynoSetup *setup;
};

enum { FAILED, TAKEN, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunsPage, dyno_runs_page, GTK_TYPE_BOX)

/* --- the history, in a thread ----------------------------------------------------------------- */

typedef struct {
  enum { LIST, RENAME, DELETE } what;
  gint64 id;
  char *name;
} Request;

static void
request_free (gpointer data)
{
  Request *self = data;
  g_free (self->name);
  g_free (self);
}

static void
use_history (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  GError *error = NULL;
  g_autoptr (DynoStore) store = dyno_store_open (NULL, &error);
  const DynoRunFilter filter = { .limit = MOST_RUNS };
  GPtrArray *runs = NULL;
  gboolean done = store != NULL;
  if (done && request->what == RENAME)
    done = dyno_store_rename_run (store, request->id, request->name, &error);
  else if (done && request->what == DELETE)
    done = dyno_store_delete_run (store, request->id, &error);
  if (done)
    runs = dyno_store_list_runs (store, &filter, &error);
  if (runs)
    g_task_return_pointer (task, runs, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

static void
add_run (DynoRunsPage *self, guint index)
{
  const DynoStoredRun *run = self->runs->pdata[index];
  g_autoptr (GDateTime) begin = g_date_time_new_from_unix_local (run->begin_us / G_USEC_PER_SEC);
  g_autofree char *title = dyno_stored_run_get_title (run),
                  *when = begin ? g_date_time_format (begin, "%x %H:%M") : g_strdup (""),
                  *rate = dyno_format_rate (run->samples_per_s),
                  *best = run->metric_is_fraction ? dyno_format_percent (run->best_metric)
                                                  : dyno_format_value (run->best_metric);
  static const char *const states[] = { N_ ("Running"), N_ ("Finished"), N_ ("Stopped"),
                                        N_ ("Failed"), N_ ("Ended without a word") };
  gtk_list_store_insert_with_values (self->store, NULL, -1, COLUMN_TITLE, title, COLUMN_WHEN, when,
                                     COLUMN_MODEL, run->model ? run->model : "", COLUMN_RATE, rate,
                                     COLUMN_BEST, best, COLUMN_STATE, _ (states[run->state]),
                                     COLUMN_RUN, index, -1);
}

static void
history_used (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoRunsPage *self = DYNO_RUNS_PAGE (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) runs = g_task_propagate_pointer (G_TASK (result), &error);
  if (!self->setup)
    return;
  if (!runs)
    {
      g_signal_emit (self, signals[FAILED], 0, error);
      return;
    }
  gtk_list_store_clear (self->store);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  self->runs = g_steal_pointer (&runs);
  for (guint i = 0; i < self->runs->len; i++)
    add_run (self, i);
  gtk_widget_set_visible (self->scrolled, self->runs->len > 0);
  gtk_widget_set_visible (self->empty, self->runs->len == 0);
  gtk_widget_hide (self->card);
}

static void
ask_history (DynoRunsPage *self, int what, gint64 id, const char *name)
{
  Request *request = g_new0 (Request, 1);
  request->what = what;
  request->id = id;
  request->name = g_strdup (name);
  g_autoptr (GTask) task = g_task_new (self, NULL, history_used, NULL);
  g_task_set_task_data (task, request, request_free);
  g_task_run_in_thread (task, use_history);
}

void
dyno_runs_page_refresh (DynoRunsPage *self)
{
  ask_history (self, LIST, 0, NULL);
}

/* --- what is selected ------------------------------------------------------------------------- */

/* At most two of them; the number of all. */
static guint
get_selected (DynoRunsPage *self, const DynoStoredRun *selected[2])
{
  GtkTreeModel *model;
  GList *rows = gtk_tree_selection_get_selected_rows (
      gtk_tree_view_get_selection (GTK_TREE_VIEW (self->list)), &model);
  guint n = 0;
  for (GList *l = rows; l; l = l->next, n++)
    {
      GtkTreeIter iter;
      guint index;
      gtk_tree_model_get_iter (model, &iter, l->data);
      gtk_tree_model_get (model, &iter, COLUMN_RUN, &index, -1);
      if (n < 2)
        selected[n] = self->runs->pdata[index];
    }
  g_list_free_full (rows, (GDestroyNotify) gtk_tree_path_free);
  return n;
}

static void
update_buttons (DynoRunsPage *self)
{
  const DynoStoredRun *selected[2] = { NULL, NULL };
  guint n = self->runs && self->setup ? get_selected (self, selected) : 0;
  gtk_widget_set_sensitive (self->again, n == 1 && !dyno_setup_is_locked (self->setup));
  gtk_widget_set_sensitive (self->folder, n == 1 && selected[0]->folder);
  gtk_widget_set_sensitive (self->compare, n == 2);
  gtk_widget_set_sensitive (self->rename, n == 1);
  gtk_widget_set_sensitive (self->delete, n == 1 && selected[0]->state != DYNO_RUN_STATE_RUNNING);
}

static void
take_again (DynoRunsPage *self)
{
  const DynoStoredRun *selected[2];
  if (get_selected (self, selected) != 1)
    return;
  DynoJob *job = dyno_stored_run_get_job (selected[0]);
  dyno_setup_set_job (self->setup, job);
  dyno_job_unref (job);
  g_signal_emit (self, signals[TAKEN], 0);
}

static void
open_folder (DynoRunsPage *self)
{
  const DynoStoredRun *selected[2];
  g_autoptr (GError) error = NULL;
  if (get_selected (self, selected) != 1 || !selected[0]->folder)
    return;
  g_autofree char *uri = g_filename_to_uri (selected[0]->folder, NULL, &error);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  if (!uri || !gtk_show_uri_on_window (GTK_WINDOW (window), uri, GDK_CURRENT_TIME, &error))
    g_signal_emit (self, signals[FAILED], 0, error);
}

/* --- comparing -------------------------------------------------------------------------------- */

static void
add_line (DynoRunsPage *self, int row, const char *title, const char *one, const char *other)
{
  const char *const texts[] = { title, one, other };
  for (int i = 0; i < 3; i++)
    {
      GtkWidget *label = gtk_label_new (texts[i]);
      gtk_label_set_xalign (GTK_LABEL (label), 0);
      gtk_label_set_line_wrap (GTK_LABEL (label), TRUE);
      gtk_widget_set_hexpand (label, TRUE);
      if (i == 0)
        dyno_widget_add_class (label, "caption", TRUE);
      if (row == 0)
        dyno_widget_add_class (label, "run-title", TRUE);
      gtk_grid_attach (GTK_GRID (self->grid), label, i, row, 1, 1);
    }
}

static void
compare (DynoRunsPage *self)
{
  const DynoStoredRun *two[2];
  int row = 0;
  guint n;
  if (get_selected (self, two) != 2)
    return;
  g_autofree char *one = dyno_stored_run_get_title (two[0]),
                  *other = dyno_stored_run_get_title (two[1]);
  g_autofree char *rates[2] = { dyno_format_rate (two[0]->samples_per_s),
                                dyno_format_rate (two[1]->samples_per_s) };
  g_autofree const DynoSettingInfo **infos =
      dyno_store_compare_settings (&two[0]->settings, &two[1]->settings, &n);
  dyno_widget_clear (self->grid);
  add_line (self, row++, "", one, other);
  add_line (self, row++, _ ("Samples/s"), rates[0], rates[1]);
  if (g_strcmp0 (two[0]->model, two[1]->model) != 0)
    add_line (self, row++, _ ("Model"), two[0]->model, two[1]->model);
  if (g_strcmp0 (two[0]->data, two[1]->data) != 0)
    {
      g_autofree char *a = g_filename_display_name (two[0]->data ? two[0]->data : ""),
                      *b = g_filename_display_name (two[1]->data ? two[1]->data : "");
      add_line (self, row++, _ ("Data"), a, b);
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *a = dyno_settings_get (&two[0]->settings, infos[i]->key),
                      *b = dyno_settings_get (&two[1]->settings, infos[i]->key);
      add_line (self, row++, _ (infos[i]->title), a, b);
    }
  if (n == 0)
    add_line (self, row, _ ("All settings are equal"), "", "");
  gtk_widget_show_all (self->grid);
  gtk_widget_show (self->card);
}

/* --- rename, delete --------------------------------------------------------------------------- */

static void
set_id (GtkWidget *dialog, gint64 id)
{
  g_object_set_data_full (G_OBJECT (dialog), "dyno-id", g_memdup2 (&id, sizeof id), g_free);
}

static gint64
get_id (GtkDialog *dialog)
{
  return *(const gint64 *) g_object_get_data (G_OBJECT (dialog), "dyno-id");
}

static void
rename_answered (GtkDialog *dialog, int response, DynoRunsPage *self)
{
  GtkWidget *entry = g_object_get_data (G_OBJECT (dialog), "dyno-entry");
  if (response == GTK_RESPONSE_ACCEPT)
    ask_history (self, RENAME, get_id (dialog), gtk_entry_get_text (GTK_ENTRY (entry)));
  gtk_widget_destroy (GTK_WIDGET (dialog));
}

static void
ask_name (DynoRunsPage *self)
{
  const DynoStoredRun *selected[2];
  if (get_selected (self, selected) != 1)
    return;
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self)), *entry = gtk_entry_new ();
  GtkWidget *dialog = gtk_dialog_new_with_buttons (
      _ ("Rename the Run"), GTK_WINDOW (window),
      GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT | GTK_DIALOG_USE_HEADER_BAR, _ ("_Cancel"),
      GTK_RESPONSE_CANCEL, _ ("_Rename"), GTK_RESPONSE_ACCEPT, NULL);
  g_autofree char *title = dyno_stored_run_get_title (selected[0]);
  gtk_entry_set_text (GTK_ENTRY (entry), title);
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  g_object_set (entry, "margin", 18, "width-chars", 40, NULL);
  dyno_widget_set_accessible_name (entry, _ ("Name of the run"));
  gtk_container_add (GTK_CONTAINER (gtk_dialog_get_content_area (GTK_DIALOG (dialog))), entry);
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_ACCEPT);
  g_object_set_data (G_OBJECT (dialog), "dyno-entry", entry);
  set_id (dialog, selected[0]->id);
  g_signal_connect_object (dialog, "response", G_CALLBACK (rename_answered), self, 0);
  gtk_widget_show_all (dialog);
}

static void
delete_answered (GtkDialog *dialog, int response, DynoRunsPage *self)
{
  if (response == GTK_RESPONSE_ACCEPT)
    ask_history (self, DELETE, get_id (dialog), NULL);
  gtk_widget_destroy (GTK_WIDGET (dialog));
}

static void
ask_to_delete (DynoRunsPage *self)
{
  const DynoStoredRun *selected[2];
  if (get_selected (self, selected) != 1)
    return;
  g_autofree char *title = dyno_stored_run_get_title (selected[0]);
  GtkWidget *dialog = gtk_message_dialog_new (
      GTK_WINDOW (gtk_widget_get_toplevel (GTK_WIDGET (self))),
      GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT, GTK_MESSAGE_QUESTION, GTK_BUTTONS_NONE,
      _ ("Delete “%s” from the history?"), title);
  gtk_message_dialog_format_secondary_text (
      GTK_MESSAGE_DIALOG (dialog), "%s",
      _ ("Its folder with weights, metrics and curves stays where it is."));
  gtk_dialog_add_button (GTK_DIALOG (dialog), _ ("_Cancel"), GTK_RESPONSE_CANCEL);
  GtkWidget *yes = gtk_dialog_add_button (GTK_DIALOG (dialog), _ ("_Delete"), GTK_RESPONSE_ACCEPT);
  dyno_widget_add_class (yes, "destructive-action", TRUE);
  gtk_dialog_set_default_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
  set_id (dialog, selected[0]->id);
  g_signal_connect_object (dialog, "response", G_CALLBACK (delete_answered), self, 0);
  gtk_widget_show (dialog);
}

/* --- the page --------------------------------------------------------------------------------- */

void
dyno_runs_page_set_setup (DynoRunsPage *self, DynoSetup *setup)
{
  self->setup = setup;
  g_signal_connect_object (setup, "changed", G_CALLBACK (update_buttons), self, G_CONNECT_SWAPPED);
  update_buttons (self);
}

static void
dyno_runs_page_dispose (GObject *object)
{
  DynoRunsPage *self = DYNO_RUNS_PAGE (object);
  self->setup = NULL;
  G_OBJECT_CLASS (dyno_runs_page_parent_class)->dispose (object);
}

static void
dyno_runs_page_finalize (GObject *object)
{
  DynoRunsPage *self = DYNO_RUNS_PAGE (object);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  g_clear_object (&self->store);
  G_OBJECT_CLASS (dyno_runs_page_parent_class)->finalize (object);
}

static void
dyno_runs_page_class_init (DynoRunsPageClass *class)
{
  G_OBJECT_CLASS (class)->dispose = dyno_runs_page_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_runs_page_finalize;
  signals[FAILED] = g_signal_new ("failed", DYNO_TYPE_RUNS_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[TAKEN] = g_signal_new ("taken", DYNO_TYPE_RUNS_PAGE, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                 NULL, G_TYPE_NONE, 0);
}

static void
add_column (DynoRunsPage *self, const char *title, int column, double align, gboolean expand)
{
  GtkCellRenderer *cell = gtk_cell_renderer_text_new ();
  GtkTreeViewColumn *view =
      gtk_tree_view_column_new_with_attributes (title, cell, "text", column, NULL);
  g_object_set (cell, "xalign", align, "xpad", 8, "ypad", 6, NULL);
  if (expand)
    g_object_set (cell, "ellipsize", PANGO_ELLIPSIZE_END, "width-chars", 12, NULL);
  gtk_tree_view_column_set_alignment (view, (float) align);
  gtk_tree_view_column_set_resizable (view, TRUE);
  gtk_tree_view_column_set_expand (view, expand);
  gtk_tree_view_append_column (GTK_TREE_VIEW (self->list), view);
}

static void
add_list (DynoRunsPage *self)
{
  self->store = gtk_list_store_new (7, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING,
                                    G_TYPE_STRING, G_TYPE_STRING, G_TYPE_UINT);
  self->list = gtk_tree_view_new_with_model (GTK_TREE_MODEL (self->store));
  GtkTreeSelection *selection = gtk_tree_view_get_selection (GTK_TREE_VIEW (self->list));
  gtk_tree_selection_set_mode (selection, GTK_SELECTION_MULTIPLE);
  g_signal_connect_object (selection, "changed", G_CALLBACK (update_buttons), self,
                           G_CONNECT_SWAPPED);
  gtk_tree_view_set_search_column (GTK_TREE_VIEW (self->list), COLUMN_TITLE);
  dyno_widget_set_accessible_name (self->list, _ ("Runs"));
  add_column (self, _ ("Run"), COLUMN_TITLE, 0, TRUE);
  add_column (self, _ ("Begun"), COLUMN_WHEN, 0, FALSE);
  add_column (self, _ ("Model"), COLUMN_MODEL, 0, FALSE);
  add_column (self, _ ("Samples/s"), COLUMN_RATE, 1, FALSE);
  add_column (self, _ ("Best"), COLUMN_BEST, 1, FALSE);
  add_column (self, _ ("State"), COLUMN_STATE, 0, FALSE);
  self->scrolled = gtk_scrolled_window_new (NULL, NULL);
  gtk_widget_set_vexpand (self->scrolled, TRUE);
  dyno_widget_set_accessible_name (self->scrolled, _ ("Runs"));
  dyno_widget_add_class (self->scrolled, "card", TRUE);
  dyno_widget_add_class (self->scrolled, "list-card", TRUE);
  gtk_container_add (GTK_CONTAINER (self->scrolled), self->list);
  gtk_widget_show (self->list);
  gtk_container_add (GTK_CONTAINER (self), self->scrolled);
}

static GtkWidget *
add_button (GtkWidget *box, const char *label, GCallback clicked, DynoRunsPage *self)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  gtk_container_add (GTK_CONTAINER (box), button);
  return button;
}

static void
add_buttons (DynoRunsPage *self)
{
  GtkWidget *box = gtk_flow_box_new ();
  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (box), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (box), 5);
  dyno_widget_set_accessible_name (box, _ ("What to do with a run"));
  self->again = add_button (box, _ ("Set Up A_gain"), G_CALLBACK (take_again), self);
  self->folder = add_button (box, _ ("Open _Folder"), G_CALLBACK (open_folder), self);
  self->compare = add_button (box, _ ("Compare T_wo"), G_CALLBACK (compare), self);
  self->rename = add_button (box, _ ("Re_name…"), G_CALLBACK (ask_name), self);
  self->delete = add_button (box, _ ("Dele_te…"), G_CALLBACK (ask_to_delete), self);
  gtk_widget_set_tooltip_text (
      self->again, _ ("Data set, model and settings of this run into the window, to run it again"));
  gtk_widget_set_tooltip_text (self->compare, _ ("Select two runs"));
  g_autoptr (GList) children = gtk_container_get_children (GTK_CONTAINER (box));
  for (GList *l = children; l; l = l->next)
    gtk_widget_set_can_focus (l->data, FALSE);
  gtk_widget_show_all (box);
  gtk_container_add (GTK_CONTAINER (self), box);
}

static void
dyno_runs_page_init (DynoRunsPage *self)
{
  GtkWidget *title = gtk_label_new (_ ("Runs"));
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  g_object_set (self, "margin", 18, "spacing", 14, NULL);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  dyno_widget_add_class (title, "run-title", TRUE);
  gtk_widget_show (title);
  gtk_container_add (GTK_CONTAINER (self), title);
  add_buttons (self);
  add_list (self);
  self->empty = gtk_label_new (_ ("Runs appear here once there are some."));
  gtk_widget_set_vexpand (self->empty, TRUE);
  dyno_widget_add_class (self->empty, "caption", TRUE);
  gtk_container_add (GTK_CONTAINER (self), self->empty);
  self->card = gtk_scrolled_window_new (NULL, NULL);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (self->card), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (self->card), 260);
  dyno_widget_add_class (self->card, "card", TRUE);
  self->grid = gtk_grid_new ();
  g_object_set (self->grid, "column-spacing", 18, "row-spacing", 6, "margin", 14, NULL);
  dyno_widget_set_accessible_name (self->card, _ ("Comparison"));
  gtk_container_add (GTK_CONTAINER (self->card), self->grid);
  gtk_container_add (GTK_CONTAINER (self), self->card);
  update_buttons (self);
  g_signal_connect (self, "map", G_CALLBACK (dyno_runs_page_refresh), NULL);
}
