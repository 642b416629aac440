/* SPDX-License-Identifier: MIT */
/* The history in the window: deleted runs that are restored, past searches, the first page; and
 * the curve of a search in words. */
#include "parts.h"
#include "curveview.h"
#include "home.h"
#include "runhistory.h"
#include "searchcard.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* An empty history. */
static DynoStore *
new_history (void)
{
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, NULL, NULL),
                        searches = dyno_store_list_searches (store, 0, NULL);

  for (guint i = 0; i < runs->len; i++)
    g_assert_true (
        dyno_store_delete_run (store, ((const DynoStoredRun *) runs->pdata[i])->id, NULL));
  for (guint i = 0; i < searches->len; i++)
    g_assert_true (dyno_store_delete_search (
        store, ((const DynoStoredSearch *) searches->pdata[i])->id, NULL));
  return g_steal_pointer (&store);
}

/* Returns the id.  A later call puts a run that was begun later. */
static gint64
put_run (DynoStore *store, const char *name, DynoRunState state, guint n_epochs)
{
  static gint64 begun;
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();
  g_autofree DynoEpochMetrics *epochs = g_new0 (DynoEpochMetrics, n_epochs + 1);

  run->name = g_strdup (name);
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:waves");
  run->state = state;
  run->begin_us = ++begun;
  run->end_us = 1000;
  for (guint i = 0; i < n_epochs; i++)
    epochs[i] = (DynoEpochMetrics){ .epoch = i + 1, .val_loss = 0.5 };
  g_assert_true (dyno_store_put_run (store, run, epochs, n_epochs, NULL));
  return run->id;
}

/* Puts a run that was killed, with a checkpoint. */
static void
put_interrupted (DynoStore *store, const char *name)
{
  g_autofree char *folder = g_build_filename (g_get_home_dir (), name, NULL),
                  *path = g_build_filename (folder, "checkpoint.safetensors", NULL);
  g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
  run->name = g_strdup (name);
  run->model = g_strdup ("mlp");
  run->data = g_strdup ("builtin:waves");
  run->folder = g_strdup (folder);
  run->state = DYNO_RUN_STATE_KILLED;
  run->uid = 77;
  run->begin_us = 1000;
  g_assert_true (dyno_store_put_run (store, run, NULL, 0, NULL));
}

typedef struct {
  gboolean is_done;
  GPtrArray *runs, *deleted;
  GError *error;
} Used;

static void
used (GObject *source, GAsyncResult *result, gpointer data)
{
  Used *use = g_object_get_data (source, "use");

  use->runs = dyno_run_history_finish (result, &use->deleted, &use->error);
  use->is_done = TRUE;
}

static gboolean
is_done (gpointer data)
{
  return ((Used *) data)->is_done;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  const DynoStoredRun *const *one = a, *const *other = b;

  return strcmp ((*one)->name, (*other)->name);
}

/* Uses the history and asserts the names and tags of its runs afterwards, by name.  Returns the
 * deleted runs, or NULL. */
static GPtrArray *
use_history (DynoRunHistoryUse what, const gint64 *ids, guint n, const char *text,
             GPtrArray *deleted, const char *expected)
{
  g_autoptr (GObject) source = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  GArray *list = g_array_new (FALSE, FALSE, sizeof (gint64));
  Used use = { 0 };

  g_array_append_vals (list, ids, n);
  g_object_set_data (source, "use", &use);
  dyno_run_history_use (source, what, list, text, deleted, used);
  parts_wait (is_done, &use);
  g_assert_no_error (use.error);
  g_ptr_array_sort (use.runs, compare_names);
  for (guint i = 0; i < use.runs->len; i++)
    {
      const DynoStoredRun *run = use.runs->pdata[i];
      g_string_append_printf (names, "%s[%s] ", run->name, run->tags ? run->tags : "");
    }
  g_assert_cmpstr (names->str, ==, expected);
  g_ptr_array_unref (use.runs);
  return use.deleted;
}

/* Deleted runs come back whole, with name, tags and epochs. */
static void
test_deleted_runs_come_back (void)
{
  g_autoptr (DynoStore) store = new_history ();
  gint64 ids[] = { put_run (store, "one", DYNO_RUN_STATE_FINISHED, 3),
                   put_run (store, "two", DYNO_RUN_STATE_FINISHED, 0),
                   put_run (store, "three", DYNO_RUN_STATE_FAILED, 2) };

  g_assert_null (use_history (DYNO_RUN_HISTORY_LIST, NULL, 0, NULL, NULL, "one[] three[] two[] "));
  g_assert_null (use_history (DYNO_RUN_HISTORY_TAG, ids, 2, "night, base", NULL,
                              "one[night, base] three[] two[night, base] "));
  g_assert_null (use_history (DYNO_RUN_HISTORY_RENAME, ids + 1, 1, "second", NULL,
                              "one[night, base] second[night, base] three[] "));
  GPtrArray *deleted = use_history (DYNO_RUN_HISTORY_DELETE, ids, 2, NULL, NULL, "three[] ");
  g_assert_cmpuint (deleted->len, ==, 2);
  g_assert_null (use_history (DYNO_RUN_HISTORY_LIST, NULL, 0, NULL, NULL, "three[] "));
  g_ptr_array_remove_index (deleted, 1);
  g_assert_null (
      use_history (DYNO_RUN_HISTORY_UNDELETE, NULL, 0, NULL, deleted, "one[night, base] three[] "));
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, NULL, NULL);
  for (guint i = 0; i < runs->len; i++)
    {
      const DynoStoredRun *run = runs->pdata[i];
      g_autoptr (GArray) epochs = dyno_store_list_epochs (store, run->id, NULL);
      g_assert_cmpuint (epochs->len, ==, strcmp (run->name, "one") == 0 ? 3 : 2);
    }
}

/* --- searches --------------------------------------------------------------------------------- */

static void
put_search (DynoStore *store, const char *model, double rate, gboolean proven)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoDeviceInfo device = { .name = "A card" };
  DynoSettings best = job->settings;
  DynoStoreSearchEnd end = { .best = rate > 0 ? &best : NULL,
                             .best_samples_per_s = rate,
                             .baseline_samples_per_s = 1,
                             .proven = proven,
                             .state = rate > 0 ? "finished" : "stopped" };

  g_free (job->model);
  job->model = g_strdup (model);
  job->data = g_strdup ("builtin:waves");
  gint64 id = dyno_store_begin_search (store, job, &device, 1, NULL, NULL);
  g_assert_cmpint (id, >, 0);
  g_assert_true (dyno_store_end_search (store, id, &end, NULL));
}

typedef struct {
  GtkWidget *card;
  const char *last; /* a part of the text that the last row to come has in the end */
  double taken;     /* rate of the search whose settings were taken */
} Searches;

/* A search may be read between its begin and its end: then it has a row without a result. */
static gboolean
has_rows (gpointer data)
{
  Searches *searches = data;
  g_autofree char *texts = parts_get_texts (searches->card);

  return strstr (texts, searches->last) != NULL;
}

static void
note_taken (GtkWidget *card, const DynoStoredSearch *search, Searches *searches)
{
  searches->taken = search->best_samples_per_s;
}

/* Each row takes the settings of its own search, also after a further search was listed above. */
static void
test_settings_of_a_past_search (void)
{
  g_autoptr (DynoStore) store = new_history ();
  Searches searches = { g_object_ref_sink (dyno_search_card_new ()), "\nStopped", 0 };
  DynoSearchCard *card = DYNO_SEARCH_CARD (searches.card);

  g_signal_connect (card, "taken", G_CALLBACK (note_taken), &searches);
  put_search (store, "mlp", 1500, TRUE);
  put_search (store, "simplecnn", 0, FALSE);
  dyno_search_card_refresh (card);
  dyno_search_card_refresh (card);
  parts_wait (has_rows, &searches);
  g_autofree char *texts = parts_get_texts (searches.card);
  g_assert_nonnull (strstr (texts, "MLP on Waves"));
  g_assert_nonnull (strstr (texts, ": 1,500 samples/s, proven"));
  g_assert_nonnull (strstr (texts, "\nStopped"));
  GtkWidget *use = parts_find_button (searches.card, "Use Settings");
  g_assert_false (gtk_widget_get_sensitive (use));
  dyno_search_card_set_ready (card, TRUE);
  g_assert_true (gtk_widget_get_sensitive (use));
  gtk_button_clicked (GTK_BUTTON (use));
  g_assert_cmpfloat (searches.taken, ==, 1500);
  put_search (store, "mlp", 1700, FALSE);
  searches.last = ": 1,700 samples/s, not proven";
  dyno_search_card_refresh (card);
  parts_wait (has_rows, &searches);
  g_autoptr (GPtrArray) rows = parts_find_all (searches.card, GTK_TYPE_LIST_BOX_ROW);
  const double rates[] = { 1700, 0, 1500 };
  for (guint i = 0; i < 3; i += 2)
    {
      use = parts_find_button (rows->pdata[i], "Use Settings");
      g_assert_true (gtk_widget_get_sensitive (use)); /* new rows too */
      gtk_button_clicked (GTK_BUTTON (use));
      g_assert_cmpfloat (searches.taken, ==, rates[i]);
    }
  g_autofree char *first = parts_get_texts (rows->pdata[0]);
  g_assert_nonnull (strstr (first, ", not proven"));
  dyno_search_card_set_ready (card, FALSE);
  g_assert_false (gtk_widget_get_sensitive (use));
  gtk_widget_destroy (searches.card);
  g_object_unref (searches.card);
}

static void
test_the_curve_of_a_search_in_words (void)
{
  GtkWidget *view = g_object_ref_sink (g_object_new (DYNO_TYPE_CURVE_VIEW, NULL));
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) r = dyno_tune_result_new (job);
  AtkObject *accessible = gtk_widget_get_accessible (view);

  r->curve.n = 3;
  r->curve.points = g_new0 (DynoCurvePoint, 3);
  r->curve.points[0] = (DynoCurvePoint){
    .batch_size = 16, .samples_per_s = 500, .measured = TRUE, .vram_bytes = 1 << 20
  };
  r->curve.points[1] =
      (DynoCurvePoint){ .batch_size = 32, .samples_per_s = 800, .vram_bytes = 2 << 20 };
  r->curve.points[2] = (DynoCurvePoint){ .batch_size = 1024, .vram_bytes = 4 << 20 };
  dyno_curve_view_set_result (DYNO_CURVE_VIEW (view), r, 0);
  g_auto (GStrv) parts = g_strsplit (atk_object_get_description (accessible), "\302\240", -1);
  g_autofree char *plain = g_strjoinv (" ", parts);
  g_assert_true (g_str_has_prefix (plain, "Batch 16: 500 samples/s measured, 1.00 MiB\n"
                                          "Batch 32: 800 samples/s expected, 2.00 MiB\n"
                                          "Batch 1,024: did not run, 4.00 MiB"));
  dyno_curve_view_set_result (DYNO_CURVE_VIEW (view), NULL, 0);
  g_assert_cmpstr (atk_object_get_description (accessible), ==, "");
  g_object_unref (view);
}

/* --- the first page --------------------------------------------------------------------------- */

typedef struct {
  GtkWidget *home;
  guint n_read;
} Home;

static void
note_read (GtkWidget *widget, Home *home)
{
  home->n_read++;
}

static gboolean
is_read (gpointer data)
{
  return ((Home *) data)->n_read > 0;
}

static gboolean
is_read_twice (gpointer data)
{
  return ((Home *) data)->n_read == 2;
}

static GtkWidget *
get_child (Home *home, const char *name)
{
  return GTK_WIDGET (gtk_widget_get_template_child (home->home, DYNO_TYPE_HOME, name));
}

static void
refresh (Home *home)
{
  home->n_read = 0;
  dyno_home_refresh (DYNO_HOME (home->home));
  parts_wait (is_read, home);
}

/* The latest runs replace those that were listed before; runs that did not end well have a sign. */
static void
test_the_first_page_lists_the_latest_runs (void)
{
  g_autoptr (DynoStore) store = new_history ();
  DynoSetup *setup = dyno_setup_new ();
  Home home = { .home = g_object_ref_sink (g_object_new (DYNO_TYPE_HOME, NULL)) };

  g_signal_connect (home.home, "read", G_CALLBACK (note_read), &home);
  dyno_home_set_setup (DYNO_HOME (home.home), setup);
  parts_wait (is_read, &home);
  g_assert_false (gtk_widget_get_visible (get_child (&home, "runs_group")));
  put_run (store, "first", DYNO_RUN_STATE_FINISHED, 0);
  put_run (store, "second", DYNO_RUN_STATE_FAILED, 0);
  refresh (&home);
  g_assert_true (gtk_widget_get_visible (get_child (&home, "runs_group")));
  g_autoptr (GPtrArray) rows = parts_find_all (get_child (&home, "runs"), GTK_TYPE_LIST_BOX_ROW);
  g_assert_cmpuint (rows->len, ==, 2);
  parts_assert_says (rows->pdata[0], "second");
  parts_assert_says (rows->pdata[1], "first");
  g_autofree char *failed = parts_get_texts (rows->pdata[0]),
                  *finished = parts_get_texts (rows->pdata[1]);
  g_assert_nonnull (strstr (failed, "Failed"));
  g_assert_null (strstr (finished, "Finished"));
  put_run (store, NULL, DYNO_RUN_STATE_KILLED, 0); /* it has no checkpoint to resume from */
  refresh (&home);
  parts_assert_says (get_child (&home, "runs"), "MLP on Waves");
  g_assert_null (dyno_home_get_interrupted (DYNO_HOME (home.home)));
  g_autoptr (GPtrArray) more = parts_find_all (get_child (&home, "runs"), GTK_TYPE_LIST_BOX_ROW);
  g_assert_cmpuint (more->len, ==, 3);
  /* An interrupted run is offered; once that is declined, it is one of the list. */
  DynoState *state = dyno_state_new ();
  dyno_home_set_state (DYNO_HOME (home.home), state);
  put_interrupted (store, "night");
  refresh (&home);
  g_assert_cmpstr (dyno_home_get_interrupted (DYNO_HOME (home.home))->name, ==, "night");
  g_autofree char *others = parts_get_texts (get_child (&home, "runs"));
  g_assert_null (strstr (others, "night"));
  home.n_read = 0;
  gtk_button_clicked (GTK_BUTTON (parts_find_button (home.home, "_Not Now")));
  g_assert_null (dyno_home_get_interrupted (DYNO_HOME (home.home)));
  parts_wait (is_read, &home);
  parts_assert_says (get_child (&home, "runs"), "night");
  g_object_unref (state);
  /* Changes during a reading are read after it, twice. */
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("meanwhile %u", i);
      home.n_read = 0;
      dyno_home_refresh (DYNO_HOME (home.home));
      put_run (store, name, DYNO_RUN_STATE_FINISHED, 0);
      dyno_home_refresh (DYNO_HOME (home.home));
      dyno_home_refresh (DYNO_HOME (home.home));
      parts_wait (is_read_twice, &home);
      parts_assert_says (get_child (&home, "runs"), name);
    }
  gtk_widget_destroy (home.home);
  g_object_unref (home.home);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

void
parts_add_history (void)
{
  g_test_add_func ("/ui/parts/deleted-runs-come-back", test_deleted_runs_come_back);
  g_test_add_func ("/ui/parts/settings-of-a-past-search", test_settings_of_a_past_search);
  g_test_add_func ("/ui/parts/the-curve-of-a-search-in-words", test_the_curve_of_a_search_in_words);
  g_test_add_func ("/ui/parts/the-first-page-lists-the-latest-runs",
                   test_the_first_page_lists_the_latest_runs);
}
