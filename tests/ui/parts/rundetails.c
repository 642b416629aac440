/* SPDX-License-Identifier: MIT */
/* The tabs of the selected runs, which have folders but no device. */
#include "parts.h"
#include "diagnosiscard.h"
#include "evaluateview.h"
#include "metrics.h"
#include "predictview.h"
#include "rundetails.h"
#include "runspread.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

typedef struct {
  DynoRunCurves *curves;
  DynoSetup *setup;
  GtkWidget *details, *window;
  DynoStoredRun *runs[DYNO_RUN_DETAILS_KEPT + 3];
} Details;

/* Writes a log of n steps of 32 samples. */
static void
write_log (const char *folder, guint n, double step_ms)
{
  g_autofree char *path = g_build_filename (folder, "metrics.csv", NULL);
  DynoMetrics *log = dyno_metrics_new ();

  for (guint i = 1; i <= n; i++)
    dyno_metrics_add_step (log, &(DynoStepMetrics){ .step = i,
                                                    .epoch = 1,
                                                    .loss = 1.0 / i,
                                                    .samples = 32,
                                                    .seconds = step_ms / 1000 * i,
                                                    .step_ms = step_ms });
  g_assert_true (dyno_metrics_write_csv (log, path, NULL));
  dyno_metrics_unref (log);
}

static void
write_weights (const DynoStoredRun *run)
{
  g_autofree char *path = g_build_filename (run->folder, "weights.safetensors", NULL);

  g_assert_true (g_file_set_contents (path, "x", 1, NULL));
}

/* Run 0 has no weights, all others have. */
static void
details_init (Details *d)
{
  d->curves = dyno_run_curves_new ();
  d->setup = dyno_setup_new ();
  for (guint i = 0; i < G_N_ELEMENTS (d->runs); i++)
    {
      DynoStoredRun *run = d->runs[i] = dyno_stored_run_new ();
      run->id = i + 1;
      run->name = g_strdup_printf ("details %u", i);
      run->model = g_strdup ("mlp");
      run->data = g_strdup ("builtin:waves");
      run->state = DYNO_RUN_STATE_FINISHED;
      run->folder = g_build_filename (g_get_home_dir (), run->name, NULL);
      run->steps = 40;
      g_assert_cmpint (g_mkdir_with_parents (run->folder, 0700), ==, 0);
      if (i > 0)
        write_weights (run);
    }
  d->details = dyno_run_details_new (d->curves);
  dyno_run_details_set_setup (DYNO_RUN_DETAILS (d->details), d->setup);
  d->window = parts_show (d->details, 900, 700);
}

static void
details_clear (Details *d)
{
  gtk_widget_destroy (d->window);
  dyno_setup_shutdown (d->setup);
  g_object_unref (d->setup);
  g_object_unref (d->curves);
  for (guint i = 0; i < G_N_ELEMENTS (d->runs); i++)
    {
      g_autofree char *weights = g_build_filename (d->runs[i]->folder, "weights.safetensors", NULL);
      g_unlink (weights);
      dyno_stored_run_free (d->runs[i]);
    }
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Details, details_clear)

static void
show (Details *d, guint first, guint n)
{
  dyno_run_details_show (DYNO_RUN_DETAILS (d->details),
                         (const DynoStoredRun *const *) d->runs + first, n);
}

static GtkStack *
get_stack (Details *d)
{
  return gtk_stack_switcher_get_stack (
      GTK_STACK_SWITCHER (parts_find (d->details, GTK_TYPE_STACK_SWITCHER)));
}

static void
choose (Details *d, const char *tab)
{
  gtk_stack_set_visible_child_name (get_stack (d), tab);
}

/* tabs: those that can be chosen, the shown one in brackets. */
static void
assert_tabs (Details *d, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GtkStack *stack = get_stack (d);
  g_autoptr (GList) children = gtk_container_get_children (GTK_CONTAINER (stack));

  for (GList *l = children; l; l = l->next)
    {
      g_autofree char *name = NULL;
      gtk_container_child_get (GTK_CONTAINER (stack), l->data, "name", &name, NULL);
      if (gtk_widget_get_visible (l->data))
        g_string_append_printf (text,
                                gtk_stack_get_visible_child (stack) == l->data ? "%s[%s]" : "%s%s",
                                text->len ? " " : "", name);
    }
  g_assert_cmpstr (text->str, ==, expected);
}

/* Several runs have no tab that is of one; the tab that was chosen comes back with a single run. */
static void
test_tabs_are_of_the_selected_runs (void)
{
  g_auto (Details) d = { 0 };

  details_init (&d);
  for (guint i = 0; i < 2; i++)
    {
      show (&d, 0, 0);
      g_assert_false (gtk_widget_get_visible (d.details));
      show (&d, 0, 1);
      g_assert_true (gtk_widget_get_visible (d.details));
      assert_tabs (&d, i == 0 ? "[curves] diagnosis evaluate predict export"
                              : "curves diagnosis [evaluate] predict export");
      choose (&d, "evaluate");
      show (&d, 0, 3);
      assert_tabs (&d, "[curves] export");
      show (&d, 1, 1);
      assert_tabs (&d, "curves diagnosis [evaluate] predict export");
    }
  choose (&d, "export");
  show (&d, 0, 2);
  assert_tabs (&d, "curves [export]");
  choose (&d, "curves");
  show (&d, 2, 1);
  assert_tabs (&d, "[curves] diagnosis evaluate predict export");
}

/* The view of this type that is shown; NULL: a sentence in place of one. */
static GtkWidget *
get_view (Details *d, const char *tab)
{
  GtkWidget *child = gtk_stack_get_child_by_name (get_stack (d), tab);
  GtkWidget *view = gtk_stack_get_visible_child (GTK_STACK (parts_find (child, GTK_TYPE_STACK)));

  return GTK_IS_LABEL (view) ? NULL : view;
}

/* A run without weights has a sentence, until it has weights. */
static void
test_weights_are_evaluated_once_they_are_there (void)
{
  static const char *const tabs[] = { "evaluate", "predict" };
  g_auto (Details) d = { 0 };
  const char *none[] = { NULL };

  details_init (&d);
  show (&d, 0, 1);
  for (guint i = 0; i < 2; i++)
    {
      choose (&d, tabs[i]);
      g_assert_null (get_view (&d, tabs[i]));
      show (&d, 1, 1);
      g_assert_nonnull (get_view (&d, tabs[i]));
      show (&d, 0, 1);
      g_assert_null (get_view (&d, tabs[i]));
    }
  g_assert_false (dyno_run_details_predict (DYNO_RUN_DETAILS (d.details), none));
  write_weights (d.runs[0]);
  show (&d, 0, 1);
  g_assert_nonnull (get_view (&d, "predict"));
  choose (&d, "evaluate");
  g_assert_nonnull (get_view (&d, "evaluate"));
  show (&d, 0, 2);
  g_assert_false (dyno_run_details_predict (DYNO_RUN_DETAILS (d.details), none));
  show (&d, 0, 0);
  g_assert_false (dyno_run_details_predict (DYNO_RUN_DETAILS (d.details), none));
}

static void
note_end (GtkWidget *view, guint *n)
{
  (*n)++;
}

/* The views of the runs that were looked at last are kept, and those that work. */
static void
test_views_of_runs_are_kept (void)
{
  const guint n = DYNO_RUN_DETAILS_KEPT + 2;
  g_auto (Details) d = { 0 };
  GtkWidget *views[DYNO_RUN_DETAILS_KEPT + 3];
  guint ended = 0;

  details_init (&d);
  choose (&d, "evaluate");
  for (guint i = 1; i <= n; i++)
    {
      show (&d, i, 1);
      views[i] = get_view (&d, "evaluate");
      g_signal_connect (views[i], "destroy", G_CALLBACK (note_end), &ended);
      if (i == 1) /* fails at once in a thread, but its result has not come yet */
        gtk_button_clicked (
            GTK_BUTTON (parts_find_button (views[i], "E_valuate the Validation Samples")));
      if (i == DYNO_RUN_DETAILS_KEPT)
        {
          show (&d, 2, 1); /* looked at once more */
          g_assert_true (get_view (&d, "evaluate") == views[2]);
        }
    }
  g_assert_cmpuint (ended, ==, 1); /* of run 3: run 1 works, run 2 was shown again */
  for (guint i = n; i > 3; i--)
    {
      show (&d, i, 1);
      g_assert_true (get_view (&d, "evaluate") == views[i]);
    }
  show (&d, 2, 1);
  g_assert_true (get_view (&d, "evaluate") == views[2]);
  show (&d, 1, 1);
  g_assert_true (get_view (&d, "evaluate") == views[1]);
}

static gboolean
is_judged (gpointer data)
{
  return gtk_widget_get_visible (GTK_WIDGET (data));
}

typedef struct {
  GtkWidget *card;
  const char *text;
} Said;

static gboolean
is_said (gpointer data)
{
  const Said *said = data;
  g_autofree char *text = parts_get_texts (said->card);

  return strstr (text, said->text) != NULL;
}

/* The diagnosis is of the run that is selected, and is made anew when the run has gone on. */
static void
test_a_past_run_is_diagnosed (void)
{
  g_auto (Details) d = { 0 };

  details_init (&d);
  GtkWidget *card = parts_find (d.details, DYNO_TYPE_DIAGNOSIS_CARD);
  choose (&d, "diagnosis");
  for (guint i = 0; i < 2; i++)
    {
      show (&d, 2, 1);
      g_assert_false (gtk_widget_get_visible (card));
      parts_wait (is_judged, card);
      g_autofree char *problem = parts_get_texts (card);
      g_assert_nonnull (strstr (problem, d.runs[2]->folder)); /* it has no log */
      g_assert_null (strstr (problem, "samples/s"));
      write_log (d.runs[1]->folder, 40, 500);
      show (&d, 1, 1);
      g_assert_false (gtk_widget_get_visible (card));
      parts_wait (is_said, &(Said){ card, "64.0 samples/s" });
      show (&d, 1, 1); /* nothing is new */
      g_assert_true (gtk_widget_get_visible (card));
    }
  /* The run goes on: the card stays until the new diagnosis is there. */
  g_autofree char *before = parts_get_texts (card);
  d.runs[1]->steps = 400;
  write_log (d.runs[1]->folder, 400, 250);
  show (&d, 1, 1);
  g_assert_true (gtk_widget_get_visible (card));
  parts_assert_texts (card, before);
  parts_wait (is_said, &(Said){ card, "128 samples/s" });
}

/* Another run that took the folder does not get the view of the run before it; a run without a folder
 * has no diagnosis. */
static void
test_folders_pass_to_other_runs (void)
{
  g_auto (Details) d = { 0 };

  details_init (&d);
  choose (&d, "evaluate");
  guint ended = 0;
  for (guint i = 0; i < 2; i++)
    {
      show (&d, 1, 1);
      GtkWidget *view = get_view (&d, "evaluate");
      g_signal_connect (view, "destroy", G_CALLBACK (note_end), &ended);
      show (&d, 2, 1);
      d.runs[1]->steps += 10; /* the same run goes on */
      show (&d, 1, 1);
      g_assert_true (get_view (&d, "evaluate") == view);
      d.runs[1]->uid++;
      show (&d, 1, 1);
      g_assert_cmpuint (ended, ==, i + 1);
      g_assert_true (GTK_IS_BOX (get_view (&d, "evaluate")));
    }
  write_log (d.runs[1]->folder, 40, 500);
  GtkWidget *card = parts_find (d.details, DYNO_TYPE_DIAGNOSIS_CARD),
            *tab = gtk_widget_get_parent (card);
  choose (&d, "diagnosis");
  parts_wait (is_judged, card);
  g_clear_pointer (&d.runs[2]->folder, g_free);
  show (&d, 2, 1);
  g_assert_false (gtk_widget_get_visible (card));
  parts_assert_says (tab, "This run has kept no log.");
  show (&d, 1, 1);
  parts_assert_says (tab, "Reading the run…");
  parts_wait (is_judged, card);
  parts_assert_says_not (tab, "Reading the run…");
  d.runs[2]->folder = g_build_filename (g_get_home_dir (), d.runs[2]->name, NULL);
}

/* The page may free its runs; what has the focus keeps it. */
static void
test_the_focus_stays_when_runs_are_read_again (void)
{
  g_auto (Details) d = { 0 };

  details_init (&d);
  show (&d, 1, 1);
  choose (&d, "evaluate");
  GtkWidget *button =
      parts_find_button (get_view (&d, "evaluate"), "E_valuate the Validation Samples");
  gtk_widget_grab_focus (button);
  for (guint i = 0; i < 2; i++)
    {
      dyno_run_details_forget (DYNO_RUN_DETAILS (d.details));
      g_assert_true (gtk_widget_get_visible (d.details));
      show (&d, 1, 1);
      assert_tabs (&d, "curves diagnosis [evaluate] predict export");
      g_assert_true (gtk_window_get_focus (GTK_WINDOW (d.window)) == button);
    }
  choose (&d, "export");
  g_autoptr (GPtrArray) buttons =
      parts_find_all (gtk_stack_get_child_by_name (get_stack (&d), "export"), GTK_TYPE_BUTTON);
  gtk_widget_grab_focus (buttons->pdata[0]);
  for (guint i = 0; i < 2; i++)
    {
      dyno_run_details_forget (DYNO_RUN_DETAILS (d.details));
      show (&d, 1, 1);
      g_assert_true (gtk_window_get_focus (GTK_WINDOW (d.window)) == buttons->pdata[0]);
    }
}

/* Images that are dropped are predicted by the selected run, in its tab. */
static void
test_dropped_images_are_predicted_by_the_run (void)
{
  g_auto (Details) d = { 0 };
  const char *paths[] = { "/nowhere/a.png", NULL };

  details_init (&d);
  for (guint i = 1; i <= 2; i++)
    {
      show (&d, i, 1);
      choose (&d, "curves");
      g_assert_true (dyno_run_details_predict (DYNO_RUN_DETAILS (d.details), paths));
      assert_tabs (&d, "curves diagnosis evaluate [predict] export");
      g_assert_true (dyno_predict_view_is_busy (get_view (&d, "predict")));
    }
  show (&d, 3, 1);
  g_assert_false (dyno_predict_view_is_busy (get_view (&d, "predict")));
}

static gboolean
is_idle (gpointer view)
{
  return !dyno_evaluate_view_is_busy (view);
}

/* Results of a run that has gone on say of which weights they are, until they are made anew; a
 * result that failed says nothing. */
static void
test_old_results_are_marked (void)
{
  static const char *const at[] = {
    "These results are of the weights that the run had at step 40; it has gone on since.",
    "These results are of the weights that the run had at step 60; it has gone on since."
  };
  const char *paths[] = { "/nowhere/a.png", NULL };
  g_auto (Details) d = { 0 };

  details_init (&d);
  for (guint tab = 0; tab < 2; tab++)
    {
      d.runs[1]->steps = 40;
      choose (&d, tab == 0 ? "evaluate" : "predict");
      show (&d, 1, 1);
      GtkWidget *view = get_view (&d, tab == 0 ? "evaluate" : "predict");
      d.runs[1]->steps = 41;
      show (&d, 1, 1);
      parts_assert_says_not (view, at[0]); /* there is no result */
      d.runs[1]->steps = 40;
      show (&d, 1, 1);
      for (guint i = 0; i < 2; i++)
        {
          if (tab == 0)
            gtk_button_clicked (
                GTK_BUTTON (parts_find_button (view, "E_valuate the Validation Samples")));
          else
            dyno_predict_view_start (view, paths);
          parts_assert_says_not (view, at[i]);
          show (&d, 2, 1);
          d.runs[1]->steps += 20;
          show (&d, 1, 1);
          parts_assert_says (view, at[i]);
        }
      if (tab == 0)
        {
          parts_wait (is_idle, view);
          parts_assert_says_not (view, at[1]);
        }
    }
}

#define SPREAD \
  "3 runs, alike but for fold and seed: best 80.0 % ± 10.0 % (mean and standard deviation)"

/* Runs that repeat one training by other folds and seeds have a mean and a deviation; runs that
 * differ in more, that have no result, or a result of another metric, have none. */
static void
test_repeated_runs_have_a_spread (void)
{
  g_auto (Details) d = { 0 };
  static const double best[] = { 0.7, 0.9, 0.8 };

  details_init (&d);
  for (guint i = 0; i < 3; i++)
    {
      d.runs[i]->metric = g_strdup ("accuracy");
      d.runs[i]->metric_is_fraction = TRUE;
      d.runs[i]->best_metric = best[i];
      d.runs[i]->settings.data_folds = 3;
      d.runs[i]->settings.data_fold = i + 1;
      d.runs[i]->settings.seed = 7 + i;
    }
  for (guint i = 0; i < 2; i++)
    {
      show (&d, 0, 3);
      parts_assert_says (d.details, SPREAD);
      show (&d, 0, 1);
      parts_assert_says_not (d.details, SPREAD);
      d.runs[2]->settings.lr = 0.25;
      show (&d, 0, 3);
      parts_assert_says_not (d.details, SPREAD);
      parts_assert_says_not (d.details, "mean and standard deviation");
      d.runs[2]->settings.lr = d.runs[0]->settings.lr;
      d.runs[2]->settings.log_trackio = TRUE; /* the settings after the seed count, too */
      g_assert_null (dyno_run_spread_describe ((const DynoStoredRun *const *) d.runs, 3));
      d.runs[2]->settings.log_trackio = FALSE;
      d.runs[1]->best_metric = (double) NAN;
      g_assert_null (dyno_run_spread_describe ((const DynoStoredRun *const *) d.runs, 3));
      d.runs[1]->best_metric = best[1];
      d.runs[1]->state = DYNO_RUN_STATE_STOPPED;
      g_assert_null (dyno_run_spread_describe ((const DynoStoredRun *const *) d.runs, 3));
      d.runs[1]->state = DYNO_RUN_STATE_FINISHED;
      d.runs[1]->metric[0] = 'A';
      g_assert_null (dyno_run_spread_describe ((const DynoStoredRun *const *) d.runs, 3));
      d.runs[1]->metric[0] = 'a';
      d.runs[1]->model[0] = 'x';
      g_assert_null (dyno_run_spread_describe ((const DynoStoredRun *const *) d.runs, 3));
      d.runs[1]->model[0] = 'm';
    }
  g_assert_null (dyno_run_spread_describe ((const DynoStoredRun *const *) d.runs, 1));
  g_assert_null (dyno_run_spread_describe (NULL, 0));
  show (&d, 0, 0);
}

void
parts_add_run_details (void)
{
  g_test_add_func ("/ui/parts/repeated-runs-have-a-spread", test_repeated_runs_have_a_spread);
  g_test_add_func ("/ui/parts/old-results-are-marked", test_old_results_are_marked);
  g_test_add_func ("/ui/parts/tabs-are-of-the-selected-runs", test_tabs_are_of_the_selected_runs);
  g_test_add_func ("/ui/parts/weights-are-evaluated-once-they-are-there",
                   test_weights_are_evaluated_once_they_are_there);
  g_test_add_func ("/ui/parts/views-of-runs-are-kept", test_views_of_runs_are_kept);
  g_test_add_func ("/ui/parts/a-past-run-is-diagnosed", test_a_past_run_is_diagnosed);
  g_test_add_func ("/ui/parts/folders-pass-to-other-runs", test_folders_pass_to_other_runs);
  g_test_add_func ("/ui/parts/the-focus-stays-when-runs-are-read-again",
                   test_the_focus_stays_when_runs_are_read_again);
  g_test_add_func ("/ui/parts/dropped-images-are-predicted-by-the-run",
                   test_dropped_images_are_predicted_by_the_run);
}
