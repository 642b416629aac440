/* SPDX-License-Identifier: MIT */
/* Rows are rebuilt only when the list of searches changes, so that the focus stays. */
#include "searchcard.h"
#include "format.h"
#include "row.h"
#include "searchfolder.h"
#include "tuneresult.h"
#include "words.h"
#include <glib/gi18n.h>

struct _DynoSearchCard {
  GtkBox parent_instance;
  GtkWidget *list;
  GPtrArray *searches; /* DynoStoredSearch, the searches that are shown; or NULL */
  gboolean ready, reading, again;
};

enum { FAILED, REPORT_FAILED, TAKEN, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (DynoSearchCard, dyno_search_card, GTK_TYPE_BOX)

/* --- the history, in a thread ----------------------------------------------------------------- */

static char *
find_report (const DynoStoredSearch *search)
{
  g_autofree char *path =
      search->folder ? g_build_filename (search->folder, "report.html", NULL) : NULL;
  return path && g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&path) : NULL;
}

/* Lists the searches; a search whose folder has no report any more is listed without the folder. */
static void
list_searches (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GError *error = NULL;
  g_autoptr (DynoStore) store = dyno_store_open (NULL, &error);
  GPtrArray *searches =
      store ? dyno_store_list_searches (store, DYNO_SEARCH_FOLDERS, &error) : NULL;
  for (guint i = 0; searches && i < searches->len; i++)
    {
      DynoStoredSearch *search = searches->pdata[i];
      g_autofree char *report = find_report (search);
      if (!report)
        g_clear_pointer (&search->folder, g_free);
    }
  if (searches)
    g_task_return_pointer (task, searches, (GDestroyNotify) g_ptr_array_unref);
  else
    g_task_return_error (task, error);
}

/* --- rows ------------------------------------------------------------------------------------- */

static char *
announce_title (const DynoStoredSearch *search)
{
  g_autofree char *model = dyno_words_model (search->model), *data = dyno_words_data (search->data);
  return search->name ? g_strdup (search->name) : g_strdup_printf (_ ("%s on %s"), model, data);
}

/* The result of a search; without a result, how it ended. */
static char *
announce_result (const DynoStoredSearch *search)
{
  g_autofree char *when = dyno_format_when (search->begin_us),
                  *best = dyno_trial_describe (&search->best),
                  *rate = dyno_format_throughput (search->best_samples_per_s), *result = NULL;
  if (search->state == DYNO_RUN_STATE_RUNNING)
    result = g_strdup (_ ("Running"));
  else if (!search->has_best && search->state == DYNO_RUN_STATE_STOPPED)
    result = g_strdup (_ ("Stopped"));
  else if (!search->has_best && search->state == DYNO_RUN_STATE_KILLED)
    result = g_strdup (_ ("Interrupted"));
  else if (!search->has_best)
    result = g_strdup (_ ("Nothing was found: no settings ran to the end"));
  else
    result = g_strdup_printf (search->proven ? _ ("%s: %s, proven") : _ ("%s: %s, not proven"),
                              best, rate);
  return g_strdup_printf ("%s\n%s", when, result);
}

static const DynoStoredSearch *
get_search (DynoSearchCard *self, GtkWidget *button)
{
  GtkWidget *row = gtk_widget_get_ancestor (button, GTK_TYPE_LIST_BOX_ROW);
  int at = gtk_list_box_row_get_index (GTK_LIST_BOX_ROW (row));
  return self->searches && at >= 0 && at < (int) self->searches->len ? self->searches->pdata[at]
                                                                     : NULL;
}

static void
use_clicked (GtkWidget *button, DynoSearchCard *self)
{
  const DynoStoredSearch *search = get_search (self, button);
  if (search)
    g_signal_emit (self, signals[TAKEN], 0, search);
}

static void
report_clicked (GtkWidget *button, DynoSearchCard *self)
{
  const DynoStoredSearch *search = get_search (self, button);
  g_autofree char *path = search ? find_report (search) : NULL,
                  *uri = path ? g_filename_to_uri (path, NULL, NULL) : NULL;
  g_autoptr (GError) error = NULL;
  if (search && !path)
    {
      g_autofree char *folder = g_filename_display_name (search->folder);
      g_set_error (&error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
                   _ ("It is not in “%s” any more; what the search found is still in the history"),
                   folder);
      dyno_search_card_refresh (self);
    }
  else if (uri)
    gtk_show_uri_on_window (GTK_WINDOW (gtk_widget_get_toplevel (button)), uri, GDK_CURRENT_TIME,
                            &error);
  if (error)
    g_signal_emit (self, signals[REPORT_FAILED], 0, error);
}

static GtkWidget *
add_button (DynoSearchCard *self, GtkWidget *row, const char *label, const char *title,
            GCallback clicked)
{
  GtkWidget *button = gtk_button_new_with_label (label);
  g_autofree char *name = g_strdup_printf ("%s: %s", label, title);
  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  dyno_widget_set_accessible_name (button, name);
  g_signal_connect (button, "clicked", clicked, self);
  gtk_container_add (GTK_CONTAINER (row), button);
  gtk_widget_show (button);
  return button;
}

static GtkWidget *
make_row (DynoSearchCard *self, const DynoStoredSearch *search)
{
  g_autofree char *title = announce_title (search), *result = announce_result (search);
  GtkWidget *row = dyno_row_new ("", result);
  dyno_row_set_name (DYNO_ROW (row), title);
  if (search->folder)
    add_button (self, row, _ ("Open Report"), title, G_CALLBACK (report_clicked));
  if (search->has_best)
    {
      GtkWidget *use = add_button (self, row, _ ("Use Settings"), title, G_CALLBACK (use_clicked));
      gtk_widget_set_sensitive (use, self->ready);
      g_object_set_data (G_OBJECT (row), "dyno-use", use);
    }
  /* libhandy would press the first button wherever the row is clicked. */
  hdy_action_row_set_activatable_widget (HDY_ACTION_ROW (row), NULL);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), FALSE);
  return row;
}

static gboolean
same_searches (GPtrArray *a, GPtrArray *b)
{
  if (!a || a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const DynoStoredSearch *one = a->pdata[i], *other = b->pdata[i];
      if (one->id != other->id || one->state != other->state || one->has_best != other->has_best
          || !one->folder != !other->folder || g_strcmp0 (one->name, other->name) != 0)
        return FALSE;
    }
  return TRUE;
}

static void
searches_listed (GObject *source, GAsyncResult *result, gpointer data)
{
  DynoSearchCard *self = DYNO_SEARCH_CARD (source);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) searches = g_task_propagate_pointer (G_TASK (result), &error);
  self->reading = FALSE;
  if (!self->list)
    return;
  if (self->again)
    dyno_search_card_refresh (self);
  if (!searches)
    {
      g_signal_emit (self, signals[FAILED], 0, error);
      return;
    }
  if (same_searches (self->searches, searches))
    return;
  dyno_widget_clear (self->list);
  g_clear_pointer (&self->searches, g_ptr_array_unref);
  self->searches = g_steal_pointer (&searches);
  for (guint i = 0; i < self->searches->len; i++)
    gtk_container_add (GTK_CONTAINER (self->list), make_row (self, self->searches->pdata[i]));
  gtk_widget_set_visible (GTK_WIDGET (self), self->searches->len > 0);
}

void
dyno_search_card_refresh (DynoSearchCard *self)
{
  self->again = self->reading;
  if (self->reading)
    return;
  g_autoptr (GTask) task = g_task_new (self, NULL, searches_listed, NULL);
  self->reading = TRUE;
  g_task_run_in_thread (task, list_searches);
}

void
dyno_search_card_set_ready (DynoSearchCard *self, gboolean ready)
{
  self->ready = ready;
  g_autoptr (GList) rows = gtk_container_get_children (GTK_CONTAINER (self->list));
  for (GList *l = rows; l; l = l->next)
    {
      GtkWidget *use = g_object_get_data (l->data, "dyno-use");
      if (use)
        gtk_widget_set_sensitive (use, ready);
    }
}

/* --- the widgets ------------------------------------------------------------------------------ */

static void
dyno_search_card_dispose (GObject *object)
{
  DYNO_SEARCH_CARD (object)->list = NULL;
  G_OBJECT_CLASS (dyno_search_card_parent_class)->dispose (object);
}

static void
dyno_search_card_finalize (GObject *object)
{
  g_clear_pointer (&DYNO_SEARCH_CARD (object)->searches, g_ptr_array_unref);
  G_OBJECT_CLASS (dyno_search_card_parent_class)->finalize (object);
}

static void
dyno_search_card_class_init (DynoSearchCardClass *class)
{
  GType type = DYNO_TYPE_SEARCH_CARD;
  G_OBJECT_CLASS (class)->dispose = dyno_search_card_dispose;
  G_OBJECT_CLASS (class)->finalize = dyno_search_card_finalize;
  signals[FAILED] = g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                  G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[REPORT_FAILED] = g_signal_new ("report-failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                         NULL, G_TYPE_NONE, 1, G_TYPE_ERROR);
  signals[TAKEN] = g_signal_new ("taken", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                                 1, G_TYPE_POINTER);
}

static void
dyno_search_card_init (DynoSearchCard *self)
{
  GtkWidget *title = gtk_label_new (_ ("Searches")),
            *scrolled = gtk_scrolled_window_new (NULL, NULL);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self), GTK_ORIENTATION_VERTICAL);
  gtk_box_set_spacing (GTK_BOX (self), 8);
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  dyno_widget_add_class (title, "run-title", TRUE);
  self->list = gtk_list_box_new ();
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (self->list), GTK_SELECTION_NONE);
  dyno_widget_set_accessible_name (self->list, _ ("Searches"));
  gtk_scrolled_window_set_policy (GTK_SCROLLED_WINDOW (scrolled), GTK_POLICY_NEVER,
                                  GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_propagate_natural_height (GTK_SCROLLED_WINDOW (scrolled), TRUE);
  gtk_scrolled_window_set_max_content_height (GTK_SCROLLED_WINDOW (scrolled), 190);
  dyno_widget_set_accessible_name (scrolled, _ ("Searches"));
  dyno_widget_add_class (scrolled, "card", TRUE);
  dyno_widget_add_class (scrolled, "list-card", TRUE);
  gtk_container_add (GTK_CONTAINER (scrolled), self->list);
  gtk_container_add (GTK_CONTAINER (self), title);
  gtk_container_add (GTK_CONTAINER (self), scrolled);
  gtk_widget_show_all (title);
  gtk_widget_show_all (scrolled);
}

GtkWidget *
dyno_search_card_new (void)
{
  return g_object_new (DYNO_TYPE_SEARCH_CARD, NULL);
}
