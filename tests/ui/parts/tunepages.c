/* SPDX-License-Identifier: MIT */
/* The pages of the two searches as wholes: what they show of a search in each of its states, and
 * after a second search.  No search measures anything. */
#include "parts.h"
#include "accuracypage.h"
#include "accuracyprobe.h"
#include "quickcard.h"
#include "reporthtml.h"
#include "speedpage.h"
#include "tunepage.h"
#include "tunereport.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- the search for speed --------------------------------------------------------------------- */

typedef struct {
  DynoSetup *setup;
  DynoSpeedPage *page;
  GtkWidget *window;
  GString *signals; /* a word for each signal of the page */
} Speed;

static void
note_error (GtkWidget *page, const GError *error, GString *signals)
{
  g_string_append_printf (signals, "%s ", error->message);
}

static void
note_kept (GString *signals)
{
  g_string_append (signals, "kept ");
}

static void
note_active (GString *signals)
{
  g_string_append (signals, "active ");
}

static void
speed_init (Speed *s)
{
  s->setup = dyno_setup_new ();
  s->page = g_object_new (DYNO_TYPE_SPEED_PAGE, NULL);
  s->signals = g_string_new (NULL);
  dyno_speed_page_set_setup (s->page, s->setup);
  s->window = parts_show (GTK_WIDGET (s->page), 700, 500);
  g_signal_connect (s->page, "failed", G_CALLBACK (note_error), s->signals);
  g_signal_connect (s->page, "not-kept", G_CALLBACK (note_error), s->signals);
  g_signal_connect (s->page, "report-failed", G_CALLBACK (note_error), s->signals);
  g_signal_connect_swapped (s->page, "kept", G_CALLBACK (note_kept), s->signals);
  g_signal_connect_swapped (s->page, "active-changed", G_CALLBACK (note_active), s->signals);
}

static void
speed_clear (Speed *s)
{
  gtk_widget_destroy (s->window);
  g_string_free (s->signals, TRUE);
  dyno_setup_shutdown (s->setup);
  g_object_unref (s->setup);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Speed, speed_clear)

static GtkWidget *
speed_child (Speed *s, const char *name)
{
  return GTK_WIDGET (
      gtk_widget_get_template_child (GTK_WIDGET (s->page), DYNO_TYPE_SPEED_PAGE, name));
}

static gboolean
is_shown (GtkWidget *widget)
{
  for (; widget && !GTK_IS_WINDOW (widget); widget = gtk_widget_get_parent (widget))
    if (!gtk_widget_get_visible (widget))
      return FALSE;
  return TRUE;
}

static const char *
get_text (GtkWidget *widget)
{
  return GTK_IS_BUTTON (widget) ? gtk_button_get_label (GTK_BUTTON (widget))
                                : gtk_label_get_text (GTK_LABEL (widget));
}

static gboolean
is_suggested (GtkWidget *widget)
{
  return gtk_style_context_has_class (gtk_widget_get_style_context (widget), "suggested-action");
}

/* A tuner without a thread: the events are the test's. */
static void
speed_begin (Speed *s, const char *folder)
{
  g_autoptr (DynoJob) job = dyno_job_new ();

  dyno_speed_page_show_search (s->page, dyno_tune_new (job, 1), folder);
}

static void
speed_take (Speed *s, const DynoTuneEvent *event)
{
  dyno_speed_page_take_event (s->page, event);
}

static gboolean
speed_is_over (gpointer data)
{
  return !dyno_speed_page_is_active (((Speed *) data)->page);
}

static void
speed_end (Speed *s)
{
  speed_take (s, &(DynoTuneEvent){ .type = DYNO_TUNE_EVENT_DONE });
  parts_wait (speed_is_over, s);
}

static DynoTrial
make_trial (const char *stage, gint64 batch, double rate, guint64 bytes)
{
  DynoTrial trial = { .number = 1, .stage = stage, .samples_per_s = rate, .vram_bytes = bytes };

  dyno_settings_init (&trial.settings);
  trial.settings.batch_size = batch;
  return trial;
}

/* A result without reasons whose best has a batch of 64, the base line of 16. */
static DynoTuneResult *
new_result (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoTuneResult *r = dyno_tune_result_new (job);

  r->best = make_trial ("proof", 64, 2000, 3 << 20);
  r->baseline = make_trial ("baseline", 16, 500, 1 << 20);
  return r;
}

static DynoTuneEvent
make_best (DynoTuneResult *r, double speedup, gboolean proven, gboolean keep_today)
{
  return (DynoTuneEvent){ .type = DYNO_TUNE_EVENT_BEST,
                          .trial = r->best,
                          .baseline = r->baseline,
                          .result = r,
                          .speedup = speedup,
                          .gain = (double) NAN,
                          .proven = proven,
                          .keep_today = keep_today };
}

static void
assert_text (Speed *s, const char *name, const char *expected)
{
  g_autofree char *text = parts_get_texts (speed_child (s, name));

  g_assert_cmpstr (text, ==, expected);
}

/* Of start, pause and stop those are offered that can be used, also in a second search, and after
 * one that was paused when it ended. */
static void
test_a_search_is_paused_and_stopped (void)
{
  g_auto (Speed) s = { 0 };
  DynoTuneEvent progress = { .type = DYNO_TUNE_EVENT_PROGRESS,
                             .trial = make_trial ("search", 64, 0, 0),
                             .fraction = 0.25 };

  speed_init (&s);
  GtkWidget *start = speed_child (&s, "start"), *pause = speed_child (&s, "pause"),
            *stop = speed_child (&s, "stop"), *status = speed_child (&s, "status"),
            *bar = speed_child (&s, "progress"), *empty = speed_child (&s, "empty");
  g_assert_true (is_shown (start) && is_shown (speed_child (&s, "minutes")) && is_shown (empty));
  g_assert_false (is_shown (pause) || is_shown (stop) || is_shown (status));
  for (guint i = 0; i < 2; i++)
    {
      g_string_truncate (s.signals, 0);
      speed_begin (&s, NULL);
      g_assert_cmpstr (s.signals->str, ==, "active ");
      g_assert_false (is_shown (start) || is_shown (speed_child (&s, "minutes"))
                      || is_shown (speed_child (&s, "minutes_label")) || is_shown (empty));
      g_assert_true (is_shown (pause) && is_shown (stop) && is_shown (status));
      g_assert_true (gtk_widget_get_sensitive (pause) && gtk_widget_get_sensitive (stop));
      g_assert_cmpstr (get_text (pause), ==, "P_ause");
      g_assert_cmpstr (get_text (status), ==, "Preparing");
      g_assert_true (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)) == 0);
      progress.preparing = "kernels";
      progress.n_prepared = 12;
      progress.n_to_prepare = 40;
      speed_take (&s, &progress);
      g_assert_nonnull (strstr (get_text (status), "(12 of 40)"));
      progress.n_to_prepare = 0;
      speed_take (&s, &progress);
      g_assert_null (strstr (get_text (status), " of "));
      progress.preparing = NULL;
      speed_take (&s, &progress);
      g_assert_nonnull (strstr (get_text (status), ": batch 64"));
      g_assert_null (strstr (get_text (status), " – "));
      g_assert_true (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)) == 0.25);
      /* While it is paused, events of the measurement that still runs do not hide that. */
      gtk_button_clicked (GTK_BUTTON (pause));
      g_assert_cmpstr (get_text (pause), ==, "Resum_e");
      g_assert_cmpstr (get_text (status), ==, "Paused after the measurement that runs");
      speed_take (&s, &progress);
      g_assert_cmpstr (get_text (status), ==, "Paused after the measurement that runs");
      gtk_button_clicked (GTK_BUTTON (pause));
      g_assert_cmpstr (get_text (pause), ==, "P_ause");
      g_assert_cmpstr (get_text (status), ==, "Resuming");
      speed_take (&s, &progress);
      g_assert_nonnull (strstr (get_text (status), ": batch 64"));
      gtk_button_clicked (GTK_BUTTON (pause)); /* it ends while it is paused */
      dyno_speed_page_stop (s.page);
      g_assert_cmpstr (get_text (status), ==, "Stopping; what was measured stays");
      gtk_button_clicked (GTK_BUTTON (pause)); /* so that it goes on to its end */
      dyno_speed_page_stop (s.page);
      speed_take (&s, &progress);
      g_assert_cmpstr (get_text (status), ==, "Stopping; what was measured stays");
      speed_end (&s);
      g_assert_cmpstr (s.signals->str, ==, "active active ");
      g_assert_true (is_shown (start) && is_shown (speed_child (&s, "minutes")));
      g_assert_false (is_shown (pause) || is_shown (stop) || is_shown (status));
      g_assert_false (is_shown (speed_child (&s, "list_box")));
    }
  dyno_speed_page_stop (s.page); /* there is none to stop */
}

/* A claim is made only with its proof: of being fastest, of a factor, of the present settings. */
static void
test_the_best_is_called_so_once_proven (void)
{
  g_auto (Speed) s = { 0 };
  g_autoptr (DynoTuneResult) r = new_result ();

  speed_init (&s);
  GtkWidget *use = speed_child (&s, "use"), *start = speed_child (&s, "start");
  const struct {
    double speedup;
    gboolean proven, keep_today, noise;
    const char *speed, *of, *title;
  } rows[] = {
    { 4, TRUE, FALSE, FALSE, "4.0×", "as fast as the base line", "Best, proven by a second run" },
    { (double) NAN, FALSE, FALSE, TRUE, "–", "not surely faster", "Best so far, not proven" },
    { 1.25, FALSE, FALSE, FALSE, "1.2×", "as fast as the base line", "Best so far, not proven" },
    { 4, TRUE, TRUE, FALSE, "✓", "already as fast", "Today's settings" },
    { 4, FALSE, TRUE, FALSE, "4.0×", "as fast as the base line", "Best so far, not proven" },
    { (double) NAN, FALSE, FALSE, FALSE, NULL, NULL, "Best so far, not proven" },
    { (double) NAN, TRUE, FALSE, FALSE, NULL, NULL, "Best, proven by a second run" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      speed_begin (&s, NULL);
      g_assert_false (is_shown (speed_child (&s, "best_card")));
      g_assert_false (dyno_speed_page_has_best (s.page));
      r->inside_noise = rows[i].noise;
      DynoTuneEvent best = make_best (r, rows[i].speedup, rows[i].proven, rows[i].keep_today);
      speed_take (&s, &best);
      g_assert_true (is_shown (speed_child (&s, "best_card")));
      g_assert_true (is_shown (speed_child (&s, "speedup")) == (rows[i].speed != NULL));
      if (rows[i].speed)
        {
          assert_text (&s, "speedup_of", rows[i].of);
          g_assert_nonnull (strstr (get_text (speed_child (&s, "speedup")), rows[i].speed));
        }
      assert_text (&s, "best_title", rows[i].title);
      g_assert_true (gtk_widget_get_visible (use) == !rows[i].keep_today);
      g_assert_true (dyno_speed_page_has_best (s.page) == !rows[i].keep_today);
      g_assert_true (is_suggested (use) == (rows[i].proven && !rows[i].keep_today));
      g_assert_true (is_suggested (start) != is_suggested (use));
      g_assert_false (is_shown (speed_child (&s, "report")));
      speed_end (&s);
      g_assert_true (gtk_widget_get_sensitive (use) && is_shown (speed_child (&s, "report")));
    }
  /* A further search begins without a suggestion, and without a report to save. */
  speed_begin (&s, NULL);
  g_assert_true (is_suggested (start));
  speed_end (&s);
  g_assert_false (dyno_speed_page_has_best (s.page) || is_shown (speed_child (&s, "report"))
                  || is_shown (speed_child (&s, "best_card"))
                  || is_shown (speed_child (&s, "details")));
}

/* The three columns show their own rate, memory and settings; the present settings have one only
 * where they are neither the best nor the base line. */
static void
test_the_best_is_beside_today_and_the_base_line (void)
{
  static const char *const reasons[] = { "It is fast.", "It is full.", NULL };
  g_auto (Speed) s = { 0 };
  g_autoptr (DynoTuneResult) r = new_result ();

  speed_init (&s);
  GtkWidget *today = speed_child (&s, "today_box"), *gain = speed_child (&s, "gain"),
            *text = speed_child (&s, "best_text");
  r->today = make_trial ("today", 32, 1000, 2 << 20);
  r->gain = 2;
  r->reasons = g_strdupv ((char **) reasons);
  DynoTuneEvent best = make_best (r, 4, TRUE, FALSE);
  speed_begin (&s, NULL);
  speed_take (&s, &best);
  assert_text (&s, "best_rate", "2,000 samples/s");
  assert_text (&s, "best_memory", "3.00 MiB");
  assert_text (&s, "today_rate", "1,000 samples/s");
  assert_text (&s, "today_memory", "2.00 MiB");
  assert_text (&s, "base_rate", "500 samples/s");
  assert_text (&s, "base_memory", "1.00 MiB");
  g_assert_true (g_str_has_prefix (get_text (speed_child (&s, "best_settings")), "batch 64"));
  g_assert_true (g_str_has_prefix (get_text (speed_child (&s, "today_settings")), "batch 32"));
  g_assert_true (g_str_has_prefix (get_text (speed_child (&s, "base_settings")), "batch 16"));
  g_assert_true (is_shown (today) && is_shown (gain) && is_shown (text));
  g_assert_nonnull (strstr (get_text (gain), "2.0×"));
  assert_text (&s, "best_text", "It is fast.");
  /* An unsure factor is not claimed. */
  r->missing = DYNO_PROOF_INTERVAL;
  speed_take (&s, &best);
  g_assert_true (is_shown (today) && !is_shown (gain));
  r->missing = 0;
  r->gain = (double) NAN;
  speed_take (&s, &best);
  g_assert_false (is_shown (gain));
  r->gain = 2;
  const gint64 same[] = { 64, 16 };
  for (guint i = 0; i < 2; i++)
    {
      r->today.settings.batch_size = 32;
      speed_take (&s, &best);
      g_assert_true (is_shown (today) && is_shown (gain));
      r->today.settings.batch_size = same[i];
      speed_take (&s, &best);
      g_assert_false (is_shown (today) || is_shown (gain));
    }
  /* They may not have run, and the rate or the memory may not be known. */
  r->today.settings.batch_size = 32;
  r->today.samples_per_s = 0;
  r->today.vram_bytes = 0;
  best.baseline.vram_bytes = 0;
  speed_take (&s, &best);
  assert_text (&s, "today_rate", "not measured");
  g_assert_false (is_shown (speed_child (&s, "today_memory"))
                  || is_shown (speed_child (&s, "base_memory")));
  best.baseline.vram_bytes = 1 << 20;
  speed_take (&s, &best);
  g_assert_true (is_shown (speed_child (&s, "base_memory")));
  r->today.stage = "";
  g_clear_pointer (&r->reasons, g_strfreev);
  speed_take (&s, &best);
  g_assert_false (is_shown (today) || is_shown (gain) || is_shown (text));
  /* The curve needs two points. */
  r->curve.points = g_new0 (DynoCurvePoint, 2);
  for (guint n = 0; n < 3; n++)
    {
      r->curve.n = n;
      speed_take (&s, &best);
      g_assert_true (is_shown (speed_child (&s, "curve_card")) == (n == 2));
    }
  speed_end (&s);
}

/* The settings of the last search are taken, once it is over, and only where it has found some. */
static void
test_the_settings_of_the_last_search_are_used (void)
{
  g_auto (Speed) s = { 0 };
  g_autoptr (DynoTuneResult) r = new_result ();

  speed_init (&s);
  GtkWidget *use = speed_child (&s, "use");
  const DynoSettings *now = &dyno_setup_get_job (s.setup)->settings;
  gint64 before = now->batch_size;
  dyno_speed_page_use_best (s.page);
  g_assert_cmpint (now->batch_size, ==, before);
  for (gint64 batch = before + 64; batch <= before + 128; batch += 64)
    {
      gint64 old = now->batch_size;
      r->best.settings.batch_size = batch;
      DynoTuneEvent best = make_best (r, 4, TRUE, FALSE);
      speed_begin (&s, NULL);
      speed_take (&s, &best);
      g_assert_false (gtk_widget_get_sensitive (use));
      dyno_speed_page_use_best (s.page); /* it still measures */
      g_assert_cmpint (now->batch_size, ==, old);
      speed_end (&s);
      g_assert_true (gtk_widget_get_sensitive (use));
      dyno_speed_page_use_best (s.page);
      g_assert_cmpint (now->batch_size, ==, batch);
    }
  speed_begin (&s, NULL);
  speed_end (&s);
  dyno_setup_set_number (s.setup, "batch_size", (double) before, NULL);
  dyno_speed_page_use_best (s.page);
  g_assert_cmpint (now->batch_size, ==, before);
}

static gboolean
has_kept (gpointer data)
{
  return strstr (((Speed *) data)->signals->str, "kept ") != NULL;
}

static char *
make_folder (const char *name)
{
  char *folder = g_build_filename (g_get_home_dir (), name, NULL);

  g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
  return folder;
}

/* The report is kept in the folder of its own search; a folder in which nothing is kept does not
 * stay, nor is a report written into one that could not be used. */
static void
test_reports_are_kept_with_their_searches (void)
{
  g_auto (Speed) s = { 0 };
  g_autoptr (DynoTuneResult) r = new_result ();
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_NO_SPACE, "full");
  g_autofree char *empty = make_folder ("search nothing");

  speed_init (&s);
  speed_begin (&s, empty);
  speed_end (&s);
  g_assert_false (g_file_test (empty, G_FILE_TEST_EXISTS));
  g_assert_cmpstr (s.signals->str, ==, "active active ");
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *folder = make_folder (i ? "search two" : "search one"),
                      *path = g_build_filename (folder, "report.html", NULL), *html = NULL;
      r->best.settings.batch_size = 640 + i;
      DynoTuneEvent best = make_best (r, 4, TRUE, FALSE);
      g_string_truncate (s.signals, 0);
      speed_begin (&s, folder);
      speed_take (&s, &best);
      speed_end (&s);
      parts_wait (has_kept, &s);
      g_assert_true (g_file_get_contents (path, &html, NULL, NULL));
      g_assert_nonnull (strstr (html, i ? "641" : "640"));
      g_unlink (path);
      g_rmdir (folder);
    }
  g_autofree char *full = make_folder ("search full");
  DynoTuneEvent best = make_best (r, 4, TRUE, FALSE);
  g_string_truncate (s.signals, 0);
  speed_begin (&s, full);
  speed_take (&s, &(DynoTuneEvent){ .type = DYNO_TUNE_EVENT_WARNING, .error = error });
  g_assert_cmpstr (s.signals->str, ==, "active full ");
  g_assert_false (g_file_test (full, G_FILE_TEST_EXISTS));
  speed_take (&s, &best);
  speed_end (&s);
  g_assert_cmpstr (s.signals->str, ==, "active full active ");
  /* The report can be saved elsewhere nevertheless. */
  g_assert_true (is_shown (speed_child (&s, "report")));
}

/* Trials are listed of this search alone, a failure is told, and the note stays until the end. */
static void
test_trials_are_of_the_present_search (void)
{
  g_auto (Speed) s = { 0 };
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "lost");
  DynoTuneEvent trial = { .type = DYNO_TUNE_EVENT_TRIAL },
                note = { .type = DYNO_TUNE_EVENT_NOTE, .text = (char *) "The time is short." };

  speed_init (&s);
  GtkTreeView *list = GTK_TREE_VIEW (speed_child (&s, "list"));
  GtkWidget *box = speed_child (&s, "list_box");
  g_assert_false (is_shown (box));
  for (guint i = 1; i <= 2; i++)
    {
      g_string_truncate (s.signals, 0);
      speed_begin (&s, NULL);
      g_assert_true (is_shown (box) && is_shown (speed_child (&s, "stages")));
      g_assert_false (is_shown (speed_child (&s, "note")));
      parts_assert_column (list, 0, "");
      speed_take (&s, &note);
      g_assert_true (is_shown (speed_child (&s, "note")));
      for (guint n = 1; n <= i; n++)
        {
          trial.trial = make_trial ("search", 16, 100 * n, 0);
          trial.trial.number = n;
          speed_take (&s, &trial);
        }
      parts_assert_column (list, 0, i == 1 ? "1" : "1\n2");
      parts_assert_says (speed_child (&s, "stages"), i == 1 ? "1 trial" : "2 trials");
      speed_take (&s, &(DynoTuneEvent){ .type = DYNO_TUNE_EVENT_ERROR, .error = error });
      speed_end (&s);
      g_assert_cmpstr (s.signals->str, ==, "active lost active ");
      g_assert_true (is_shown (box));
    }
}

/* --- the search for the best model ------------------------------------------------------------ */

/* A search with simulated trials, each of which waits until it is allowed. */
typedef struct {
  DynoSetup *setup;
  DynoAccuracyPage *page;
  GtkWidget *window;
  GString *signals;
  char *runs, *folder;
  const char *over; /* the only setting that is searched; NULL: the usual ones */
  GMutex lock;
  GCond changed;
  guint n_runs, allowed, fails_at; /* fails_at: counted from 1; 0: never */
  double clock;
} Accuracy;

static gboolean
train (DynoAccuracyRun *const *runs, guint n, gpointer data, GCancellable *cancellable,
       GError **error)
{
  Accuracy *a = data;
  DynoAccuracyRun *run = runs[0];
  double away = log (run->settings.lr / 0.2);

  g_mutex_lock (&a->lock);
  a->n_runs++;
  while (a->n_runs > a->allowed)
    g_cond_wait (&a->changed, &a->lock);
  gboolean fails = a->n_runs == a->fails_at;
  a->clock += 10 * (double) (run->epochs - run->from_epochs);
  g_mutex_unlock (&a->lock);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (fails)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "run %u broke", a->fails_at);
  run->train_seconds = 10;
  run->outcome = DYNO_TRIAL_OK;
  run->value = 0.9 - 0.02 * away * away + 0.0001 * (double) (run->seed % 10);
  run->has_ended = !fails;
  return !fails;
}

static double
get_time (gpointer data)
{
  Accuracy *a = data;

  g_mutex_lock (&a->lock);
  double now = a->clock;
  g_mutex_unlock (&a->lock);
  return now;
}

static void
allow (Accuracy *a, guint n)
{
  g_mutex_lock (&a->lock);
  a->allowed = n;
  g_cond_broadcast (&a->changed);
  g_mutex_unlock (&a->lock);
}

static gboolean
is_open (gpointer setup)
{
  return dyno_setup_get_dataset (setup) != NULL;
}

static gboolean
is_ready (gpointer data)
{
  return dyno_accuracy_page_is_ready (((Accuracy *) data)->page);
}

static void
accuracy_init (Accuracy *a, const char *name)
{
  static const char *const settings[] = { "epochs=9", NULL };

  g_mutex_init (&a->lock);
  g_cond_init (&a->changed);
  a->signals = g_string_new (NULL);
  a->runs = make_folder (name);
  a->setup = dyno_setup_new ();
  dyno_setup_restore (a->setup, NULL, "mlp", NULL, DYNO_LEVEL_RECOMMENDED, settings);
  dyno_setup_open_data (a->setup, "builtin:waves?length=16&samples=60&classes=3");
  parts_wait (is_open, a->setup);
  a->page = g_object_new (DYNO_TYPE_ACCURACY_PAGE, NULL);
  dyno_accuracy_page_set_setup (a->page, a->setup);
  dyno_accuracy_page_set_runs_folder (a->page, a->runs);
  a->window = parts_show (GTK_WIDGET (a->page), 700, 500);
  g_signal_connect (a->page, "failed", G_CALLBACK (note_error), a->signals);
  g_signal_connect_swapped (a->page, "active-changed", G_CALLBACK (note_active), a->signals);
  parts_wait (is_ready, a);
}

static void
accuracy_clear (Accuracy *a)
{
  gtk_widget_destroy (a->window);
  dyno_setup_shutdown (a->setup);
  g_object_unref (a->setup);
  g_string_free (a->signals, TRUE);
  g_free (a->runs);
  g_free (a->folder);
  g_mutex_clear (&a->lock);
  g_cond_clear (&a->changed);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Accuracy, accuracy_clear)

static GtkWidget *
accuracy_child (Accuracy *a, const char *name)
{
  return GTK_WIDGET (
      gtk_widget_get_template_child (GTK_WIDGET (a->page), DYNO_TYPE_ACCURACY_PAGE, name));
}

static void
accuracy_begin (Accuracy *a, const char *name, guint fails_at)
{
  const DynoAccuracyRunner runner = { train, get_time, a };
  const char *const over[] = { a->over, NULL };

  g_free (a->folder);
  a->folder = g_build_filename (a->runs, name, NULL);
  g_assert_cmpint (g_mkdir (a->folder, 0700), ==, 0);
  a->n_runs = a->allowed = 0;
  a->fails_at = fails_at;
  DynoAccuracyTune *tune = dyno_accuracy_tune_new (
      &(DynoAccuracyTuneParams){ .job = dyno_setup_get_job (a->setup),
                                 .dataset = dyno_setup_get_dataset (a->setup),
                                 .metric = "accuracy",
                                 .folder = a->folder,
                                 .minutes = 200,
                                 .most_trials = 12,
                                 .most_seeds = 20,
                                 .over = a->over ? over : NULL,
                                 .runner = &runner });
  g_string_truncate (a->signals, 0);
  dyno_accuracy_page_show_search (a->page, tune, 200, a->folder);
  dyno_accuracy_tune_start (tune);
}

static gboolean
accuracy_is_over (gpointer data)
{
  return !dyno_accuracy_page_is_active (((Accuracy *) data)->page);
}

static gboolean
trains_its_third (gpointer data)
{
  return g_str_has_prefix (get_text (accuracy_child (data, "status")), "Trial 2: epoch 1 of ");
}

static gboolean
trains_its_first (gpointer data)
{
  return g_str_has_prefix (get_text (accuracy_child (data, "status")), "Your settings: epoch 1 of");
}

static void
assert_shown (Accuracy *a, const char *shown, const char *hidden)
{
  g_auto (GStrv) all = g_strsplit (shown, " ", -1), none = g_strsplit (hidden, " ", -1);

  for (guint i = 0; all[i]; i++)
    if (!is_shown (accuracy_child (a, all[i])))
      g_error ("“%s” is not shown", all[i]);
  for (guint i = 0; none[i]; i++)
    if (is_shown (accuracy_child (a, none[i])))
      g_error ("“%s” is shown", none[i]);
}

/* A search is shown in each of its states, a second one without the results of the first; a stopped
 * one can go on, as long as the setup is that of the search. */
static void
test_a_stopped_search_can_go_on (void)
{
  g_auto (Accuracy) a = { 0 };

  accuracy_init (&a, "stopped searches");
  GtkTreeView *list = GTK_TREE_VIEW (accuracy_child (&a, "list"));
  GtkWidget *stop = accuracy_child (&a, "stop"), *go_on = accuracy_child (&a, "go_on");
  assert_shown (&a, "start controls empty",
                "stop go_on status_box refusal note card plot_card list_box stages");
  for (guint i = 0; i < 2; i++)
    {
      accuracy_begin (&a, i ? "second" : "first", 0);
      g_assert_cmpstr (a.signals->str, ==, "active ");
      g_assert_cmpstr (get_text (accuracy_child (&a, "status")), ==, "Preparing");
      g_assert_cmpstr (get_text (accuracy_child (&a, "next")), ==, "");
      g_assert_false (dyno_accuracy_page_is_ready (a.page));
      assert_shown (&a, "stop status_box", "start controls go_on card plot_card list_box note");
      parts_wait (trains_its_first, &a);
      g_assert_true (g_str_has_prefix (get_text (accuracy_child (&a, "next")), "After that "));
      assert_shown (&a, "stop stages list_box", "start empty card");
      parts_assert_column (list, 0, "0");
      parts_assert_says (accuracy_child (&a, "stages"), "● Your settings");
      allow (&a, 4);
      parts_wait (trains_its_third, &a);
      assert_shown (&a, "stop stages list_box plot_card card", "start empty");
      parts_assert_column (list, 0, "0\n1\n2");
      g_autofree char *states = parts_get_column (list, 3);
      g_assert_nonnull (strstr (states, "Running"));
      g_assert_false (dyno_accuracy_page_has_best (a.page)
                      || dyno_accuracy_page_can_go_on (a.page));
      dyno_accuracy_page_stop (a.page);
      g_assert_cmpstr (get_text (accuracy_child (&a, "status")), ==,
                       "Stopping; what was measured stays");
      allow (&a, G_MAXUINT);
      parts_wait (accuracy_is_over, &a);
      g_autofree char *after = parts_get_column (list, 3);
      g_assert_null (strstr (after, "Running"));
      parts_assert_column (list, 0, "0\n1"); /* nothing is known of the trial that was stopped */
      parts_assert_says_not (accuracy_child (&a, "stages"), "● Search");
      parts_wait (is_ready, &a);
      assert_shown (&a, "start controls go_on stages list_box card", "stop status_box empty note");
      g_autofree char *tooltip = gtk_widget_get_tooltip_text (go_on);
      g_assert_cmpstr (tooltip, ==, "Resumes the search of accuracy, which has 2 trials");
      g_assert_cmpstr (a.signals->str, ==, "active active ");
      g_assert_true (g_file_test (a.folder, G_FILE_TEST_IS_DIR));
      g_assert_true (gtk_widget_get_sensitive (stop) == FALSE);
    }
  /* Of two changes in a row the last one counts. */
  double own = dyno_setup_get_job (a.setup)->settings.lr;
  dyno_setup_set_number (a.setup, "lr", 0.123, NULL);
  dyno_setup_set_number (a.setup, "lr", own, NULL);
  parts_wait (is_ready, &a);
  g_assert_true (dyno_accuracy_page_can_go_on (a.page));
  dyno_setup_set_number (a.setup, "lr", 0.123, NULL);
  parts_wait (is_ready, &a);
  g_assert_false (dyno_accuracy_page_can_go_on (a.page));
  assert_shown (&a, "start", "go_on");
  dyno_accuracy_page_stop (a.page);
}

/* Where the first run fails, the page says why until the setup changes; later it is an error of the
 * window, and what was measured stays. */
static void
test_a_search_that_fails_says_why (void)
{
  g_auto (Accuracy) a = { 0 };

  accuracy_init (&a, "failed searches");
  GtkWidget *refusal = accuracy_child (&a, "refusal");
  for (guint i = 0; i < 2; i++)
    {
      accuracy_begin (&a, i ? "second" : "first", 1);
      assert_shown (&a, "stop", "refusal");
      allow (&a, G_MAXUINT);
      parts_wait (accuracy_is_over, &a);
      assert_shown (&a, "start empty refusal", "stop card status_box note");
      g_assert_nonnull (strstr (get_text (refusal), "run 1 broke"));
      g_assert_cmpstr (a.signals->str, ==, "active active ");
      g_assert_false (dyno_accuracy_page_has_best (a.page));
      g_assert_false (g_file_test (a.folder, G_FILE_TEST_EXISTS));
      if (i == 0)
        dyno_setup_set_number (a.setup, "lr", 0.06, NULL);
      else /* other settings to search */
        g_signal_emit_by_name (accuracy_child (&a, "params"), "changed");
      parts_wait (is_ready, &a);
      assert_shown (&a, "start", "refusal");
    }
  accuracy_begin (&a, "third", 3);
  allow (&a, G_MAXUINT);
  parts_wait (accuracy_is_over, &a);
  assert_shown (&a, "start list_box card", "refusal stop empty");
  g_assert_cmpstr (a.signals->str, ==, "active run 3 broke active ");
  g_assert_true (g_file_test (a.folder, G_FILE_TEST_IS_DIR));
  g_autofree char *states = parts_get_column (GTK_TREE_VIEW (accuracy_child (&a, "list")), 3);
  g_assert_null (strstr (states, "Running"));
}

/* The result of a whole search is used once it is over, and the button that is suggested then is
 * that of its result. */
static void
test_the_best_of_a_whole_search_is_used (void)
{
  g_auto (Accuracy) a = { 0 };
  const DynoSettings *now;

  accuracy_init (&a, "whole searches");
  dyno_setup_set_number (a.setup, "lr", 0.0005, NULL); /* the others are better */
  GtkWidget *start = accuracy_child (&a, "start");
  now = &dyno_setup_get_job (a.setup)->settings;
  double own = now->lr;
  g_assert_true (is_suggested (start));
  for (guint i = 0; i < 2; i++)
    {
      accuracy_begin (&a, i ? "second" : "first", 0);
      dyno_accuracy_page_use_best (a.page);
      g_assert_true (now->lr == own);
      g_assert_false (dyno_accuracy_page_has_best (a.page));
      allow (&a, G_MAXUINT);
      parts_wait (accuracy_is_over, &a);
      parts_assert_says (accuracy_child (&a, "card"), "Best, proven on further seeds");
      g_assert_true (dyno_accuracy_page_has_best (a.page));
      g_assert_false (is_suggested (start));
      dyno_accuracy_page_use_best (a.page);
      g_assert_true (now->lr != own);
      assert_shown (&a, "card list_box plot_card start", "refusal empty stop");
      dyno_setup_set_number (a.setup, "lr", own, NULL);
    }
  accuracy_begin (&a, "third", 1);
  allow (&a, G_MAXUINT);
  parts_wait (accuracy_is_over, &a);
  g_assert_true (is_suggested (start) && !dyno_accuracy_page_has_best (a.page));
  dyno_accuracy_page_use_best (a.page);
  g_assert_true (now->lr == own);
}

/* The columns of a search are those of its own settings. */
static void
test_each_search_has_its_own_space (void)
{
  static const char *const over[] = { NULL, "lr", NULL };
  guint n_columns[G_N_ELEMENTS (over)];
  g_auto (Accuracy) a = { 0 };

  accuracy_init (&a, "spaces of searches");
  for (guint i = 0; i < G_N_ELEMENTS (over); i++)
    {
      g_autofree char *name = g_strdup_printf ("search %u", i);
      a.over = over[i];
      accuracy_begin (&a, name, 0);
      parts_wait (trains_its_first, &a);
      n_columns[i] = gtk_tree_view_get_n_columns (GTK_TREE_VIEW (accuracy_child (&a, "list")));
      dyno_accuracy_page_stop (a.page);
      allow (&a, G_MAXUINT);
      parts_wait (accuracy_is_over, &a);
    }
  g_assert_cmpuint (n_columns[1], <, n_columns[0]);
  g_assert_cmpuint (n_columns[2], ==, n_columns[0]);
}

static int
get_row (GtkTreeView *list)
{
  GtkTreeIter iter;
  GtkTreeModel *model;

  if (!gtk_tree_selection_get_selected (gtk_tree_view_get_selection (list), &model, &iter))
    return -1;
  g_autoptr (GtkTreePath) path = gtk_tree_model_get_path (model, &iter);
  return gtk_tree_path_get_indices (path)[0];
}

static void
note_pointed (GtkWidget *plot, int trial, int *pointed)
{
  *pointed = trial;
}

/* A trial that is pointed at in the plot is selected in the list, and the reverse; the next search
 * begins with neither. */
static void
test_plot_and_list_point_at_the_same_trial (void)
{
  g_auto (Accuracy) a = { 0 };

  accuracy_init (&a, "pointed searches");
  GtkTreeView *list = GTK_TREE_VIEW (accuracy_child (&a, "list"));
  GtkWidget *plot = accuracy_child (&a, "plot");
  int pointed = -1;

  g_signal_connect (plot, "pointed", G_CALLBACK (note_pointed), &pointed);
  for (guint i = 0; i < 2; i++)
    {
      accuracy_begin (&a, i ? "second" : "first", 0);
      parts_wait (trains_its_first, &a);
      g_assert_cmpint (get_row (list), ==, -1);
      allow (&a, G_MAXUINT);
      parts_wait (accuracy_is_over, &a);
      for (int row = 1; row < 3; row++)
        {
          g_autoptr (GtkTreePath) path = gtk_tree_path_new_from_indices (row, -1);
          gtk_tree_selection_select_path (gtk_tree_view_get_selection (list), path);
          /* From there the keys go to the next trial and back again. */
          pointed = -1;
          parts_press (plot, GDK_KEY_Up);
          g_assert_true (pointed >= 0 && pointed != row);
          g_assert_cmpint (get_row (list), ==, pointed);
          parts_press (plot, GDK_KEY_Down);
          g_assert_cmpint (pointed, ==, row);
        }
      g_signal_emit_by_name (plot, "pointed", 1);
      g_assert_cmpint (get_row (list), ==, 1);
      g_signal_emit_by_name (plot, "pointed", -1);
      g_assert_cmpint (get_row (list), ==, -1);
    }
}

/* --- the probe -------------------------------------------------------------------------------- */

typedef struct {
  DynoAccuracyProspect *prospect;
  GObject *source;
} Probed;

static void
probed (GObject *source, GAsyncResult *result, gpointer data)
{
  ((Probed *) data)->prospect = dyno_accuracy_probe_finish (result);
}

static gboolean
has_prospect (gpointer data)
{
  return ((Probed *) data)->prospect != NULL;
}

static DynoAccuracyProspect *
probe (Accuracy *a, const DynoJob *job, const char *metric, const char *over, const char *runs)
{
  const char *texts[] = { over, NULL };
  Probed p = { .source = G_OBJECT (a->page) };

  dyno_accuracy_probe (job, dyno_setup_get_dataset (a->setup), metric, over ? texts : NULL, runs,
                       p.source, probed, &p);
  parts_wait (has_prospect, &p);
  return p.prospect;
}

static void
test_the_probe_finds_what_a_search_needs (void)
{
  g_auto (Accuracy) a = { 0 };
  g_autofree char *none = make_folder ("no searches");

  accuracy_init (&a, "probed searches");
  g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (a.setup));
  g_autoptr (DynoAccuracyProspect) any = probe (&a, job, NULL, NULL, none),
                                   unknown = probe (&a, job, "nothing", NULL, NULL),
                                   chosen = probe (&a, job, "accuracy", "lr=0.01..1", none),
                                   wrong = probe (&a, job, "accuracy", "speed", none);
  g_assert_no_error (any->error);
  g_assert_no_error (unknown->error);
  g_assert_no_error (chosen->error);
  g_assert_nonnull (wrong->error);
  g_assert_cmpstr (g_array_index (any->metrics, DynoMetricInfo, 0).name, ==, "accuracy");
  g_assert_true (any->usual.n > 0 && any->others.n > 0);
  g_assert_cmpuint (chosen->usual.n, ==, any->usual.n); /* not what is chosen */
  g_assert_true (wrong->usual.n == any->usual.n && wrong->metrics);
  g_assert_null (any->folder);
  /* The earlier search with this job. */
  accuracy_begin (&a, "one", 0);
  allow (&a, 4);
  parts_wait (trains_its_third, &a);
  dyno_accuracy_page_stop (a.page);
  allow (&a, G_MAXUINT);
  parts_wait (accuracy_is_over, &a);
  g_autoptr (DynoAccuracyProspect) earlier = probe (&a, job, NULL, NULL, a.runs),
                                   elsewhere = probe (&a, job, NULL, NULL, none),
                                   nowhere = probe (&a, job, NULL, NULL, NULL);
  g_assert_cmpstr (earlier->folder, ==, a.folder);
  g_assert_cmpstr (earlier->metric, ==, "accuracy");
  g_assert_cmpuint (earlier->n_trials, >=, 2);
  g_assert_true (!elsewhere->folder && !nowhere->folder && elsewhere->n_trials == 0);
  job->settings.lr *= 2;
  g_autoptr (DynoAccuracyProspect) other = probe (&a, job, NULL, NULL, a.runs);
  g_assert_true (!other->folder && !other->metric && other->n_trials == 0);
  job->settings.data_val_split = 0;
  g_autoptr (DynoAccuracyProspect) refused = probe (&a, job, NULL, NULL, a.runs);
  g_assert_nonnull (refused->error);
}

/* --- both searches ---------------------------------------------------------------------------- */

static gboolean
is_planned (gpointer setup)
{
  return dyno_setup_get_presets (setup) && !dyno_setup_get_opening (setup, NULL)
         && dyno_setup_get_plan (setup);
}

static gboolean
tune_page_is_ready (gpointer page)
{
  return dyno_tune_page_is_ready (page);
}

static gboolean
tune_page_is_idle (gpointer page)
{
  return !dyno_tune_page_is_active (page);
}

static void
note_name (GtkWidget *page, const GError *error, const char *name)
{
  g_string_append_printf (g_object_get_data (G_OBJECT (page), "signals"), "%s:%s ", name,
                          error->message);
}

static void
note_plain (GtkWidget *page, const char *name)
{
  g_string_append_printf (g_object_get_data (G_OBJECT (page), "signals"), "%s ", name);
}

/* Commands go to the page that is shown, but a search is stopped wherever it is; signals of both
 * are passed on under their own names. */
static void
test_commands_go_to_the_search_that_is_shown (void)
{
  static const char *const settings[] = { "epochs=1", NULL },
                           *const errors[] = { "failed", "not-kept", "report-failed", "not-shown" },
                           *const plain[] = { "kept", "active-changed", "ready-changed" };
  g_autoptr (GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "lost");
  g_autoptr (GString) signals = g_string_new (NULL);
  g_autoptr (DynoTuneResult) r = new_result ();
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoSetup *setup = dyno_setup_new ();
  DynoTunePage *page = g_object_new (DYNO_TYPE_TUNE_PAGE, NULL);
  GtkWidget *widget = GTK_WIDGET (page);
#define CHILD(name) GTK_WIDGET (gtk_widget_get_template_child (widget, DYNO_TYPE_TUNE_PAGE, name))
  GtkWidget *speed = CHILD ("speed"), *accuracy = CHILD ("accuracy");
  GtkStack *goal = GTK_STACK (CHILD ("goal"));
#undef CHILD

  g_object_set_data (G_OBJECT (page), "signals", signals);
  dyno_tune_page_set_setup (page, setup);
  g_assert_false (dyno_tune_page_is_ready (page)); /* neither data nor a device */
  GtkWidget *window = parts_show (widget, 700, 500);
  dyno_setup_restore (setup, "builtin:shapes?size=16&samples=64", "mlp", NULL,
                      DYNO_LEVEL_RECOMMENDED, settings);
  dyno_setup_start (setup);
  parts_wait (is_planned, setup);
  g_assert_true (dyno_tune_page_is_ready (page));
  for (guint i = 0; i < G_N_ELEMENTS (errors); i++)
    g_signal_connect (page, errors[i], G_CALLBACK (note_name), (gpointer) errors[i]);
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    g_signal_connect (page, plain[i], G_CALLBACK (note_plain), (gpointer) plain[i]);
  /* The search for speed is active, and the other page is shown. */
  dyno_speed_page_show_search (DYNO_SPEED_PAGE (speed), dyno_tune_new (job, 1), NULL);
  g_assert_cmpstr (signals->str, ==, "active-changed ");
  DynoTuneEvent best = make_best (r, 4, TRUE, FALSE);
  dyno_speed_page_take_event (DYNO_SPEED_PAGE (speed), &best);
  g_assert_true (dyno_tune_page_has_best (page) && dyno_tune_page_is_active (page));
  g_string_truncate (signals, 0);
  gtk_stack_set_visible_child (goal, accuracy);
  g_assert_true (g_str_has_prefix (signals->str, "ready-changed "));
  g_assert_false (dyno_tune_page_has_best (page) || dyno_tune_page_keeps_all (page));
  g_assert_true (dyno_tune_page_is_active (page));
  parts_wait (tune_page_is_ready, page);
  g_assert_false (dyno_tune_page_can_go_on (page));
  dyno_tune_page_stop (page);
  GtkWidget *status =
      GTK_WIDGET (gtk_widget_get_template_child (speed, DYNO_TYPE_SPEED_PAGE, "status"));
  g_assert_cmpstr (get_text (status), ==, "Stopping; what was measured stays");
  dyno_speed_page_take_event (DYNO_SPEED_PAGE (speed),
                              &(DynoTuneEvent){ .type = DYNO_TUNE_EVENT_DONE });
  parts_wait (tune_page_is_idle, page);
  const DynoSettings *now = &dyno_setup_get_job (setup)->settings;
  dyno_setup_set_number (setup, "batch_size", 8, NULL);
  dyno_tune_page_use_best (page);
  g_assert_cmpint (now->batch_size, ==, 8);
  g_string_truncate (signals, 0);
  gtk_stack_set_visible_child (goal, speed);
  g_assert_cmpstr (signals->str, ==, "ready-changed ");
  g_assert_true (dyno_tune_page_has_best (page));
  dyno_tune_page_use_best (page);
  g_assert_cmpint (now->batch_size, ==, 64);
  for (guint i = 0; i < 2; i++)
    {
      g_string_truncate (signals, 0);
      g_signal_emit_by_name (speed, "failed", error);
      g_signal_emit_by_name (speed, "not-kept", error);
      g_signal_emit_by_name (speed, "report-failed", error);
      g_signal_emit_by_name (speed, "kept");
      g_assert_cmpstr (signals->str, ==, "failed:lost not-kept:lost report-failed:lost kept ");
      g_string_truncate (signals, 0);
      g_signal_emit_by_name (accuracy, "failed", error);
      g_signal_emit_by_name (accuracy, "not-shown", error);
      g_signal_emit_by_name (accuracy, "kept");
      g_signal_emit_by_name (accuracy, "active-changed");
      g_signal_emit_by_name (accuracy, "ready-changed");
      g_assert_cmpstr (signals->str, ==,
                       "failed:lost not-shown:lost kept active-changed ready-changed ");
    }
  gtk_widget_destroy (window);
  dyno_setup_shutdown (setup);
  g_object_unref (setup);
}

/* --- the quick test --------------------------------------------------------------------------- */

static gboolean
quick_is_over (gpointer card)
{
  return !dyno_quick_card_is_active (card);
}

static void
note_failed (GtkWidget *card, const GError *error, guint *n)
{
  (*n)++;
}

static void
note_change (guint *n)
{
  (*n)++;
}

/* A test that fails says so, one that is stopped does not; neither leaves the result of the one
 * before, nor anything of itself. */
static void
test_a_quick_test_ends_without_a_result (void)
{
  DynoQuickCard *card = g_object_new (DYNO_TYPE_QUICK_CARD, NULL);
  GtkWidget *widget = GTK_WIDGET (card), *window = parts_show (widget, 500, 400);
  GtkWidget *stop = parts_find_button (widget, "Stop _Test"),
            *bar = parts_find (widget, GTK_TYPE_PROGRESS_BAR);
  g_autoptr (DynoQuick) quick = dyno_quick_new ();
  DynoFinding finding = { .text = (char *) "It is fast." };
  guint n_failed = 0, n_changed = 0;

  g_signal_connect (card, "failed", G_CALLBACK (note_failed), &n_failed);
  g_signal_connect_swapped (card, "active-changed", G_CALLBACK (note_change), &n_changed);
  quick->workload = g_strdup ("ResNet-18");
  g_autoptr (GPtrArray) findings = g_ptr_array_new ();
  g_ptr_array_add (findings, &finding);
  GPtrArray *own = quick->findings;
  for (guint i = 1; i <= 4; i++)
    {
      gboolean stopped = i % 2 == 0;
      quick->findings = findings;
      dyno_quick_card_show (card, quick);
      quick->findings = own;
      parts_assert_says (widget, "It is fast.");
      parts_assert_says (widget, "Making samples");
      dyno_quick_card_start (card, 99); /* there is no such device */
      g_assert_true (dyno_quick_card_is_active (card) && n_changed == 2 * i - 1);
      parts_assert_texts (widget, "Quick Test\nMeasuring memory and arithmetic…\nStop Test");
      g_assert_true (is_shown (stop) && is_shown (bar));
      dyno_quick_card_start (card, 99); /* only one at a time */
      g_assert_cmpuint (n_changed, ==, 2 * i - 1);
      if (stopped)
        gtk_button_clicked (GTK_BUTTON (stop));
      parts_wait (quick_is_over, card);
      g_assert_true (n_changed == 2 * i && n_failed == (i + 1) / 2);
      g_assert_false (gtk_widget_get_visible (widget) || gtk_widget_get_visible (stop)
                      || gtk_widget_get_visible (bar));
      dyno_quick_card_stop (card); /* there is none */
      gtk_widget_show (widget);
    }
  gtk_widget_destroy (window);
}

/* --- the report ------------------------------------------------------------------------------- */

typedef struct {
  guint n;
  GError *error;
} Written;

static void
report_written (const GError *error, gpointer data)
{
  Written *written = g_object_get_data (data, "written");

  written->n++;
  g_clear_error (&written->error);
  written->error = error ? g_error_copy (error) : NULL;
}

static gboolean
is_written (gpointer data)
{
  return ((Written *) data)->n > 0;
}

/* Each report is of its own search and device, and its error is told. */
static void
test_a_report_is_of_its_search (void)
{
  g_autofree char *path = g_build_filename (g_get_home_dir (), "report.html", NULL),
                  *nowhere = g_build_filename (g_get_home_dir (), "no", "where.html", NULL);
  g_autoptr (GObject) source = g_object_new (G_TYPE_OBJECT, NULL);
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:shapes?size=16&samples=64", NULL, NULL, NULL, NULL, NULL);
  Written written = { 0 };

  g_object_set_data (source, "written", &written);
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (DynoTuneResult) r = new_result ();
      DynoDeviceInfo device = { .driver = "Driver A" };
      g_autofree char *html = NULL;
      r->best.settings.batch_size = 320 + i;
      written.n = 0;
      dyno_tune_report_write (path, r, i == 1 ? NULL : &device, i == 2 ? dataset : NULL,
                              i == 2 ? (guint64) 3 << 30 : 0, report_written, source);
      DynoReportContext context;
      dyno_report_context_init (&context);
      DynoDeviceInfo own = device;
      context.device = i == 1 ? NULL : &own;
      context.data = i == 2 ? dyno_dataset_get_info (dataset) : NULL;
      context.limit_bytes = i == 2 ? (guint64) 3 << 30 : 0;
      g_autofree char *expected = dyno_report_html (r, &context);
      g_strlcpy (device.driver, "Driver B", sizeof device.driver); /* the report has its own copy */
      parts_wait (is_written, &written);
      g_assert_true (written.n == 1 && !written.error);
      g_assert_true (g_file_get_contents (path, &html, NULL, NULL));
      g_assert_cmpstr (html, ==, expected);
      g_autofree char *batch = g_strdup_printf ("%u", 320 + i);
      g_assert_nonnull (strstr (html, batch));
      g_assert_true ((strstr (html, "Driver A") != NULL) == (i != 1));
      g_assert_null (strstr (html, "Driver B"));
      written.n = 0;
      dyno_tune_report_write (nowhere, r, NULL, NULL, 0, report_written, source);
      parts_wait (is_written, &written);
      g_assert_true (written.n == 1 && written.error);
    }
  g_clear_error (&written.error);
  g_unlink (path);
}

void
parts_add_tune_pages (void)
{
  g_test_add_func ("/ui/parts/commands-go-to-the-search-that-is-shown",
                   test_commands_go_to_the_search_that_is_shown);
  g_test_add_func ("/ui/parts/a-quick-test-ends-without-a-result",
                   test_a_quick_test_ends_without_a_result);
  g_test_add_func ("/ui/parts/a-report-is-of-its-search", test_a_report_is_of_its_search);
  g_test_add_func ("/ui/parts/a-stopped-search-can-go-on", test_a_stopped_search_can_go_on);
  g_test_add_func ("/ui/parts/each-search-has-its-own-space", test_each_search_has_its_own_space);
  g_test_add_func ("/ui/parts/a-search-that-fails-says-why", test_a_search_that_fails_says_why);
  g_test_add_func ("/ui/parts/the-best-of-a-whole-search-is-used",
                   test_the_best_of_a_whole_search_is_used);
  g_test_add_func ("/ui/parts/plot-and-list-point-at-the-same-trial",
                   test_plot_and_list_point_at_the_same_trial);
  g_test_add_func ("/ui/parts/the-probe-finds-what-a-search-needs",
                   test_the_probe_finds_what_a_search_needs);
  g_test_add_func ("/ui/parts/a-search-is-paused-and-stopped", test_a_search_is_paused_and_stopped);
  g_test_add_func ("/ui/parts/the-best-is-called-so-once-proven",
                   test_the_best_is_called_so_once_proven);
  g_test_add_func ("/ui/parts/the-best-is-beside-today-and-the-base-line",
                   test_the_best_is_beside_today_and_the_base_line);
  g_test_add_func ("/ui/parts/the-settings-of-the-last-search-are-used",
                   test_the_settings_of_the_last_search_are_used);
  g_test_add_func ("/ui/parts/reports-are-kept-with-their-searches",
                   test_reports_are_kept_with_their_searches);
  g_test_add_func ("/ui/parts/trials-are-of-the-present-search",
                   test_trials_are_of_the_present_search);
}
