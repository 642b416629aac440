/* SPDX-License-Identifier: MIT */
/* The page of runs.  The list is read whenever the page is shown, and after each change. */
#include "runspage.h"
#include "format.h"
#include "predictdialog.h"
#include "predictwork.h"
#include "queuecard.h"
#include "row.h"
#include "runcurves.h"
#include "rundetails.h"
#include "runfinder.h"
#include "runhistory.h"
#include "runlist.h"
#include "runresume.h"
#include "runtable.h"
#include "searchcard.h"
#include "textdialog.h"
#include "undobar.h"
#include "words.h"
#include <glib/gi18n.h>
#include <math.h>

/* Heights of the list beside the details of a run, in pixels. */
#define LIST_LEAST 150
#define LIST_MOST  240

struct _DynoRunsPage {
  GtkBox parent_instance;
  GtkWidget *body, *queue, *finder, *actions, *list, *scrolled, *empty, *none, *searches, *details,
      *undo;
  GtkWidget *resume, *again, *tune, *folder, *rename, *tag, *delete;
  DynoRunList *runs;
  DynoRunCurves *curves;
  DynoSetup *setup;
  DynoJobList *jobs;
  char *wanted;         /* folder of the run that is to be selected; NULL: none */
  gboolean filling;     /* the selection is being restored: its changes do not count */
  gboolean wants_focus; /* the list gets the focus when the runs have been read */
};

enum { FAILED, TAKEN, START, EDIT, EXPORTED, REPORT_FAILED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoRunsPage, dyno_runs_page, GTK_TYPE_BOX)

static void update_selection (DynoRunsPage *self);

/* --- the list --------------------------------------------------------------------------------- */

static GtkTreeSelection *
get_selection (DynoRunsPage *self)
{
  return gtk_tree_view_get_selection (GTK_TREE_VIEW (self->list));
}

/* The selected runs (const DynoStoredRun*), in the order of the list. */
static GPtrArray *
get_selected (DynoRunsPage *self)
{
  GPtrArray *runs = g_ptr_array_new ();
  GList *rows = gtk_tree_selection_get_selected_rows (get_selection (self), NULL);
  for (GList *l = rows; l; l = l->next)
    {
      guint row = (guint) gtk_tree_path_get_indices (l->data)[0];
      const DynoStoredRun *run = dyno_run_list_get (self->runs, row);
      if (run)
        g_ptr_array_add (runs, (gpointer) run);
    }
  g_list_free_full (rows, (GDestroyNotify) gtk_tree_path_free);
  return runs;
}

static GArray *
get_selected_ids (DynoRunsPage *self)
{
  g_autoptr (GPtrArray) runs = get_selected (self);
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (guint i = 0; i < runs->len; i++)
    g_array_append_val (ids, ((const DynoStoredRun *) runs->pdata[i])->id);
  return ids;
}

/* Selects the run that is wanted, and no other; without effect while it is not listed. */
static void
select_wanted (DynoRunsPage *self)
{
  for (guint row = 0; self->wanted && row < dyno_run_list_get_length (self->runs); row++)
    {
      if (g_strcmp0 (dyno_run_list_get (self->runs, row)->folder, self->wanted) != 0)
        continue;
      g_autoptr (GtkTreePath) path = gtk_tree_path_new_from_indices ((int) row, -1);
      gtk_tree_selection_unselect_all (get_selection (self));
      gtk_tree_selection_select_path (get_selection (self), path);
      gtk_tree_view_scroll_to_cell (GTK_TREE_VIEW (self->list), path, NULL, FALSE, 0, 0);
      g_clear_pointer (&self->wanted, g_free);
    }
}

/* Shows the runs that match the finder's words, from new runs or, where runs is NULL, from the
 * present ones.  The selection and the scroll position are kept. */
static void
show_runs (DynoRunsPage *self, GPtrArray *runs)
{
  const char *words = dyno_run_finder_get_text (DYNO_RUN_FINDER (self->finder));
  g_autoptr (GArray) ids = get_selected_ids (self);
  GtkAdjustment *place = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (self->scrolled));
  double y = gtk_adjustment_get_value (place);
  self->filling = TRUE;
  /* No widget may refer to a run while the old runs are freed. */
  dyno_run_details_forget (DYNO_RUN_DETAILS (self->details));
  gtk_tree_view_set_model (GTK_TREE_VIEW (self->list), NULL);
  dyno_run_list_set_words (self->runs, words);
  if (runs)
    dyno_run_list_set_runs (self->runs, runs);
  gtk_tree_view_set_model (GTK_TREE_VIEW (self->list), GTK_TREE_MODEL (self->runs));
  dyno_run_table_fit (self->list);
  for (guint row = 0; ids->len > 0 && row < dyno_run_list_get_length (self->runs); row++)
    for (guint i = 0; i < ids->len; i++)
      if (g_array_index (ids, gint64, i) == dyno_run_list_get (self->runs, row)->id)
        {
          g_autoptr (GtkTreePath) path = gtk_tree_path_new_from_indices ((int) row, -1);
          gtk_tree_selection_select_path (get_selection (self), path);
        }
  self->filling = FALSE;
  gtk_adjustment_set_value (place, y);
  guint n_runs = dyno_run_list_get_n_runs (self->runs),
        n_shown = dyno_run_list_get_length (self->runs);
  gtk_widget_set_visible (self->finder, n_runs > 0);
  gtk_widget_set_visible (self->actions, n_runs > 0);
  gtk_widget_set_visible (self->scrolled, n_shown > 0);
  gtk_widget_set_visible (self->none, n_runs > 0 && n_shown == 0);
  gtk_widget_set_visible (self->empty, n_runs == 0);
  dyno_run_finder_set_count (DYNO_RUN_FINDER (self->finder), n_shown, n_runs);
  update_selection (self);
  select_wanted (self);
  if (self->wants_focus)
    {
      self->wants_focus = FALSE;
      dyno_runs_page_focus (self);
    }
}

void
dyno_runs_page_focus (DynoRunsPage *self)
{
  if (dyno_run_list_get_length (self->runs) > 0)
    gtk_widget_grab_focus (self->list);
  else if (gtk_widget_get_visible (self->empty) || gtk_widget_get_visible (self->none))
    gtk_widget_child_focus (GTK_WIDGET (self), GTK_DIR_TAB_FORWARD);
  else
    self->wants_focus = TRUE;
}

void
dyno_runs_page_select (DynoRunsPage *self, const char *folder)
{
  g_free (self->wanted);
  self->wanted = g_strdup (folder);
  select_wanted (self);
}

static void
history_used (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoRunsPage *self = DYNO_RUNS_PAGE (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) deleted = NULL;
  g_autoptr (GPtrArray) runs = dyno_run_history_finish (result, &deleted, &error);
  if (!self->setup)
    return;
  if (deleted)
    dyno_undo_bar_offer (DYNO_UNDO_BAR (self->undo), deleted);
  if (runs)
    show_runs (self, g_steal_pointer (&runs));
  else
    g_signal_emit (self, signals[FAILED], 0, error);
}

/* Takes ids and deleted. */
static void
ask_history (DynoRunsPage *self, DynoRunHistoryUse use, GArray *ids, const char *text,
             GPtrArray *deleted)
{
  dyno_run_history_use (G_OBJECT (self), use, ids, text, deleted, history_used);
}

void
dyno_runs_page_refresh (DynoRunsPage *self)
{
  ask_history (self, DYNO_RUN_HISTORY_LIST, NULL, NULL, NULL);
  if (self->jobs)
    dyno_job_list_refresh (self->jobs);
  dyno_search_card_refresh (DYNO_SEARCH_CARD (self->searches));
}

gboolean
dyno_runs_page_find (DynoRunsPage *self)
{
  if (dyno_run_list_get_n_runs (self->runs) == 0)
    return FALSE;
  dyno_run_finder_find (DYNO_RUN_FINDER (self->finder));
  return TRUE;
}

/* --- what is selected ------------------------------------------------------------------------- */

static void
update_buttons (DynoRunsPage *self)
{
  g_autoptr (GPtrArray) selected = get_selected (self);
  const DynoStoredRun *first = selected->len > 0 ? selected->pdata[0] : NULL;
  gboolean one = selected->len == 1, ready = self->setup && !dyno_setup_is_locked (self->setup),
           idle = self->setup && !dyno_setup_is_busy (self->setup), still = selected->len > 0;
  for (guint i = 0; i < selected->len; i++)
    still &= ((const DynoStoredRun *) selected->pdata[i])->state != DYNO_RUN_STATE_RUNNING;
  gtk_widget_set_sensitive (self->resume, one && idle && dyno_run_is_resumable (first));
  gtk_widget_set_sensitive (self->again, one && ready);
  gtk_widget_set_sensitive (self->tune, one && ready && dyno_predict_can_use (first->folder));
  gtk_widget_set_sensitive (self->folder, one && first->folder);
  gtk_widget_set_sensitive (self->rename, one);
  gtk_widget_set_sensitive (self->tag, selected->len > 0);
  gtk_widget_set_sensitive (self->delete, still);
  dyno_search_card_set_ready (DYNO_SEARCH_CARD (self->searches), ready);
  if (self->queue)
    dyno_queue_card_set_editable (DYNO_QUEUE_CARD (self->queue), ready);
}

static void
update_selection (DynoRunsPage *self)
{
  if (self->filling)
    return;
  g_autoptr (GPtrArray) selected = get_selected (self);
  update_buttons (self);
  /* The list leaves room for the details of what is selected. */
  g_object_set (self->scrolled, "vexpand", selected->len == 0, "propagate-natural-height",
                selected->len > 0, NULL);
  dyno_run_details_show (DYNO_RUN_DETAILS (self->details),
                         (const DynoStoredRun *const *) selected->pdata, selected->len);
}

/* The selected run; NULL: not exactly one is selected. */
static const DynoStoredRun *
get_one (DynoRunsPage *self)
{
  g_autoptr (GPtrArray) selected = get_selected (self);
  return selected->len == 1 ? selected->pdata[0] : NULL;
}

static void
take_again (DynoRunsPage *self)
{
  const DynoStoredRun *run = get_one (self);
  if (!run)
    return;
  DynoJob *job = dyno_stored_run_get_job (run);
  dyno_setup_set_job (self->setup, job);
  dyno_job_unref (job);
  g_signal_emit (self, signals[TAKEN], 0);
}

/* The network keeps the settings that it was trained with; the data set stays that of the window,
 * since fine-tuning is mostly for other data. */
static void
fine_tune (DynoRunsPage *self)
{
  const DynoStoredRun *run = get_one (self);
  if (!run || !run->folder)
    return;
  g_autoptr (DynoJob) job = dyno_stored_run_get_job (run);
  g_free (job->weights_in);
  job->weights_in = dyno_predict_get_weights (run->folder);
  g_clear_pointer (&job->data, g_free);
  dyno_setup_set_job (self->setup, job);
  g_signal_emit (self, signals[TAKEN], 0);
}

static void
resume (DynoRunsPage *self)
{
  const DynoStoredRun *run = get_one (self);
  if (!run || !dyno_run_is_resumable (run))
    return;
  g_autoptr (DynoJob) job = dyno_run_get_resuming_job (run);
  g_signal_emit (self, signals[START], 0, job);
}

gboolean
dyno_runs_page_predict (DynoRunsPage *self, const char *const *paths)
{
  return dyno_run_details_predict (DYNO_RUN_DETAILS (self->details), paths);
}

static void
open_folder (DynoRunsPage *self)
{
  const DynoStoredRun *run = get_one (self);
  g_autoptr (GError) error = NULL;
  if (!run || !run->folder)
    return;
  g_autofree char *uri = g_filename_to_uri (run->folder, NULL, &error);
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  if (!uri || !gtk_show_uri_on_window (GTK_WINDOW (window), uri, GDK_CURRENT_TIME, &error))
    g_signal_emit (self, signals[FAILED], 0, error);
}

/* --- rename, tag, delete ---------------------------------------------------------------------- */

typedef struct {
  DynoRunsPage *page;
  DynoRunHistoryUse use;
  GArray *ids;
} Question;

static void
question_free (gpointer data)
{
  Question *self = data;
  g_array_unref (self->ids);
  g_free (self);
}

static void
question_answered (const char *text, gpointer data)
{
  const Question *question = data;
  ask_history (question->page, question->use, g_array_ref (question->ids), text, NULL);
}

static void
ask_text (DynoRunsPage *self, DynoRunHistoryUse use, const char *title, const char *name,
          const char *accept, const char *text)
{
  GtkWidget *window = gtk_widget_get_toplevel (GTK_WIDGET (self));
  Question *question = g_new0 (Question, 1);
  question->page = self;
  question->use = use;
  question->ids = get_selected_ids (self);
  dyno_text_dialog_show (GTK_WINDOW (window), title, name, accept, text, question_answered,
                         question, question_free);
}

static void
ask_name (DynoRunsPage *self)
{
  const DynoStoredRun *run = get_one (self);
  if (run) /* the title of a run without a name is no default name, since it has a relative time */
    ask_text (self, DYNO_RUN_HISTORY_RENAME, _ ("Rename the Run"), _ ("Name of the run"),
              _ ("_Rename"), run->name);
}

static void
ask_tags (DynoRunsPage *self)
{
  g_autoptr (GPtrArray) selected = get_selected (self);
  const DynoStoredRun *first = selected->len > 0 ? selected->pdata[0] : NULL;
  if (first)
    ask_text (self, DYNO_RUN_HISTORY_TAG, _ ("Tags, with Commas Between"), _ ("Tags of the runs"),
              _ ("_Tag"), first->tags);
}

static void
delete_selected (DynoRunsPage *self)
{
  if (gtk_widget_get_sensitive (self->delete))
    ask_history (self, DYNO_RUN_HISTORY_DELETE, get_selected_ids (self), NULL, NULL);
}

static void
undo (DynoRunsPage *self)
{
  GPtrArray *deleted = dyno_undo_bar_take (DYNO_UNDO_BAR (self->undo));
  if (deleted)
    ask_history (self, DYNO_RUN_HISTORY_UNDELETE, NULL, NULL, deleted);
}

static gboolean
list_key_pressed (GtkWidget *list, GdkEventKey *event, DynoRunsPage *self)
{
  if (event->keyval == GDK_KEY_Delete)
    delete_selected (self);
  else if (event->keyval == GDK_KEY_F2)
    ask_name (self);
  else if (event->keyval == GDK_KEY_z && (event->state & GDK_CONTROL_MASK)
           && dyno_undo_bar_has (DYNO_UNDO_BAR (self->undo)))
    undo (self);
  else if (!dyno_run_finder_take_key (DYNO_RUN_FINDER (self->finder), (GdkEvent *) event))
    return GDK_EVENT_PROPAGATE;
  return GDK_EVENT_STOP;
}

/* --- the page --------------------------------------------------------------------------------- */

void
dyno_runs_page_set_setup (DynoRunsPage *self, DynoSetup *setup)
{
  self->setup = setup;
  dyno_run_details_set_setup (DYNO_RUN_DETAILS (self->details), setup);
  g_signal_connect_object (setup, "changed", G_CALLBACK (update_buttons), self, G_CONNECT_SWAPPED);
  update_buttons (self);
}

static void
dyno_runs_page_dispose (GObject *object)
{
  DynoRunsPage *self = DYNO_RUNS_PAGE (object);
  self->setup = NULL;
  self->filling = TRUE;
  if (self->jobs)
    g_signal_handlers_disconnect_by_data (self->jobs, self);
  G_OBJECT_CLASS (dyno_runs_page_parent_class)->dispose (object);
}

static void
dyno_runs_page_finalize (GObject *object)
{
  DynoRunsPage *self = DYNO_RUNS_PAGE (object);
  g_clear_object (&self->runs);
  g_clear_object (&self->curves);
  g_clear_object (&self->jobs);
  g_free (self->wanted);
  G_OBJECT_CLASS (dyno_runs_page_parent_class)->finalize (object);
}

static void
dyno_runs_page_class_init (DynoRunsPageClass *class)
{
  GType type = DYNO_TYPE_RUNS_PAGE;
  G_OBJECT_CLASS (class)->dispose = dyno_runs_page_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_runs_page_finalize;
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[TAKEN] =
      g_signal_new ("taken", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[START] = g_signal_new ("start", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                 1, G_TYPE_POINTER);
  signals[EDIT] = g_signal_new ("edit", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                1, G_TYPE_POINTER);
  signals[EXPORTED] = g_signal_new ("exported", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                    G_TYPE_NONE, 1, G_TYPE_STRING);
  signals[REPORT_FAILED] = g_signal_new ("report-failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                         NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
}

static void
add_list (DynoRunsPage *self)
{
  self->runs = dyno_run_list_new ();
  self->curves = dyno_run_curves_new ();
  self->list = dyno_run_table_new (self->curves);
  g_signal_connect_object (get_selection (self), "changed", G_CALLBACK (update_selection), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect (self->list, "key-press-event", G_CALLBACK (list_key_pressed), self);
  self->scrolled = gtk_scrolled_window_new (NULL, NULL);
  g_object_set (self->scrolled, "vexpand", TRUE, "min-content-height", LIST_LEAST,
                "max-content-height", LIST_MOST, NULL);
  dyno_widget_set_accessible_name (self->scrolled, _ ("Runs"));
  dyno_widget_add_class (self->scrolled, "card", TRUE);
  dyno_widget_add_class (self->scrolled, "list-card", TRUE);
  gtk_container_add (GTK_CONTAINER (self->scrolled), self->list);
  gtk_widget_show (self->list);
  gtk_container_add (GTK_CONTAINER (self->body), self->scrolled);
}

static GtkWidget *
add_button (GtkWidget *box, const char *label, const char *help, GCallback clicked,
            DynoRunsPage *self)
{
  GtkWidget *button = gtk_button_new_with_mnemonic (label);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  gtk_widget_set_tooltip_text (button, help);
  gtk_container_add (GTK_CONTAINER (box), button);
  return button;
}

static void
add_buttons (DynoRunsPage *self)
{
  GtkWidget *box = self->actions = gtk_flow_box_new ();
  gtk_flow_box_set_selection_mode (GTK_FLOW_BOX (box), GTK_SELECTION_NONE);
  gtk_flow_box_set_max_children_per_line (GTK_FLOW_BOX (box), 7);
  gtk_flow_box_set_column_spacing (GTK_FLOW_BOX (box), 6);
  gtk_flow_box_set_row_spacing (GTK_FLOW_BOX (box), 6);
  dyno_widget_set_accessible_name (box, _ ("What to do with a run"));
  self->resume = add_button (box, _ ("Resu_me"), _ ("Continue where the run was stopped"),
                             G_CALLBACK (resume), self);
  self->again = add_button (
      box, _ ("Set Up A_gain"),
      _ ("Takes data set, model and settings of this run into the window, to run it again"),
      G_CALLBACK (take_again), self);
  self->tune = add_button (box, _ ("F_ine-Tune"),
                           _ ("Takes model, settings and trained weights of this run into the "
                              "window, to train them further, on the data set of the window"),
                           G_CALLBACK (fine_tune), self);
  self->folder = add_button (box, _ ("Open _Folder"), _ ("Weights, metrics, curves, settings"),
                             G_CALLBACK (open_folder), self);
  self->rename = add_button (box, _ ("Re_name…"), _ ("F2"), G_CALLBACK (ask_name), self);
  self->tag = add_button (box, _ ("_Tags…"), _ ("Words of your own for the selected runs"),
                          G_CALLBACK (ask_tags), self);
  self->delete =
      add_button (box, _ ("_Delete"), _ ("From the history; folders with weights and metrics stay"),
                  G_CALLBACK (delete_selected), self);
  g_autoptr (GList) children = gtk_container_get_children (GTK_CONTAINER (box));
  for (GList *l = children; l; l = l->next)
    gtk_widget_set_can_focus (l->data, FALSE);
  gtk_widget_show_all (box);
  gtk_widget_hide (box); /* hidden until there are runs */
  gtk_container_add (GTK_CONTAINER (self->body), box);
}

static void
emit_failed (DynoRunsPage *self, const GError *error)
{
  g_signal_emit (self, signals[FAILED], 0, error);
}

static void
emit_exported (DynoRunsPage *self, const char *path)
{
  g_signal_emit (self, signals[EXPORTED], 0, path);
}

static void
emit_report_failed (DynoRunsPage *self, const GError *error)
{
  g_signal_emit (self, signals[REPORT_FAILED], 0, error);
}

static void
select_job (DynoRunsPage *self, const DynoQueuedJob *job)
{
  dyno_runs_page_select (self, job->job->out_dir);
}

static void
emit_edit (DynoRunsPage *self, gpointer job)
{
  g_signal_emit (self, signals[EDIT], 0, job);
}

/* A job that has begun, made an epoch or ended changes the list of runs. */
static void
jobs_changed (DynoRunsPage *self)
{
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    ask_history (self, DYNO_RUN_HISTORY_LIST, NULL, NULL, NULL);
}

void
dyno_runs_page_set_jobs (DynoRunsPage *self, DynoJobList *jobs)
{
  self->jobs = g_object_ref (jobs);
  self->queue = dyno_queue_card_new (jobs);
  gtk_widget_set_no_show_all (self->queue, TRUE);
  g_signal_connect_object (self->queue, "failed", G_CALLBACK (emit_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->queue, "edit", G_CALLBACK (emit_edit), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->queue, "show-run", G_CALLBACK (select_job), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (jobs, "changed", G_CALLBACK (jobs_changed), self, G_CONNECT_SWAPPED);
  gtk_container_add (GTK_CONTAINER (self->body), self->queue);
  gtk_box_reorder_child (GTK_BOX (self->body), self->queue, 0);
  update_buttons (self);
}

static void
take_search (DynoRunsPage *self, const DynoStoredSearch *search)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  if (dyno_setup_is_locked (self->setup))
    return;
  g_free (job->model);
  job->model = g_strdup (search->model);
  job->data = g_strdup (search->data);
  job->preset = g_strdup (search->preset);
  job->settings = search->best;
  dyno_setup_set_job (self->setup, job);
  g_signal_emit (self, signals[TAKEN], 0);
}

static void
add_searches (DynoRunsPage *self)
{
  self->searches = dyno_search_card_new ();
  g_signal_connect_object (self->searches, "failed", G_CALLBACK (emit_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->searches, "report-failed", G_CALLBACK (emit_report_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->searches, "taken", G_CALLBACK (take_search), self,
                           G_CONNECT_SWAPPED);
  gtk_container_add (GTK_CONTAINER (self->body), self->searches);
}

/* The whole page scrolls where the window is low: the list keeps a few rows, the curves their
 * height. */
static void
add_body (DynoRunsPage *self)
{
  GtkWidget *scrolled = gtk_scrolled_window_new (NULL, NULL);
  self->body = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  g_object_set (self->body, "margin", 18, NULL);
  g_object_set (scrolled, "hscrollbar-policy", GTK_POLICY_NEVER, "vexpand", TRUE, NULL);
  dyno_widget_set_accessible_name (scrolled, _ ("Queue and runs"));
  gtk_container_add (GTK_CONTAINER (scrolled), self->body);
  /* The page scrolls before any part is reduced to its minimum height. */
  gtk_scrollable_set_vscroll_policy (GTK_SCROLLABLE (gtk_bin_get_child (GTK_BIN (scrolled))),
                                     GTK_SCROLL_NATURAL);
  gtk_container_add (GTK_CONTAINER (self), scrolled);
  gtk_widget_show (self->body);
  gtk_widget_show (scrolled);
}

static void
find_runs (DynoRunsPage *self)
{
  show_runs (self, NULL);
}

static void
go_to_list (DynoRunsPage *self)
{
  gtk_widget_grab_focus (self->list);
}

static void
add_finder (DynoRunsPage *self)
{
  self->finder = dyno_run_finder_new ();
  g_signal_connect_object (self->finder, "changed", G_CALLBACK (find_runs), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->finder, "left", G_CALLBACK (go_to_list), self, G_CONNECT_SWAPPED);
  gtk_container_add (GTK_CONTAINER (self->body), self->finder);
}

static void
dyno_runs_page_init (DynoRunsPage *self)
{
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  add_body (self);
  add_finder (self);
  add_buttons (self);
  add_list (self);
  self->empty = dyno_status_page_new (
      "dyno-runs-symbolic", _ ("No Runs Yet"),
      _ ("Each run is kept here with its curves and settings, to be compared with others."));
  gtk_widget_set_vexpand (self->empty, TRUE);
  gtk_container_add (GTK_CONTAINER (self->body), self->empty);
  gtk_widget_hide (self->empty);
  self->none = gtk_label_new (_ ("No run has all of these words. Escape shows all runs."));
  g_object_set (self->none, "wrap", TRUE, "margin", 24, NULL);
  dyno_widget_add_class (self->none, "dim-label", TRUE);
  gtk_container_add (GTK_CONTAINER (self->body), self->none);
  self->undo = dyno_undo_bar_new ();
  g_signal_connect_object (self->undo, "undo", G_CALLBACK (undo), self, G_CONNECT_SWAPPED);
  gtk_container_add (GTK_CONTAINER (self->body), self->undo);
  self->details = dyno_run_details_new (self->curves);
  g_signal_connect_object (self->details, "failed", G_CALLBACK (emit_failed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->details, "exported", G_CALLBACK (emit_exported), self,
                           G_CONNECT_SWAPPED);
  gtk_container_add (GTK_CONTAINER (self->body), self->details);
  gtk_widget_hide (self->details);
  add_searches (self);
  update_buttons (self);
  g_signal_connect (self, "map", G_CALLBACK (dyno_runs_page_refresh), NULL);
}
