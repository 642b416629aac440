/* SPDX-License-Identifier: MIT */
/* A run in the window: its numbers, its phases, its state in words, the question
 * before it is stopped. */
#include "parts.h"
#include "findingrow.h"
#include "phasebar.h"
#include "plot/view.h"
#include "process.h"
#include "resumecard.h"
#include "runpill.h"
#include "runplots.h"
#include "sentence.h"
#include "statsbar.h"
#include "statusbar.h"
#include "stopbar.h"
#include <handy.h>
#include <math.h>
#include <string.h>

/* A status before the first step. */
static void
clear (DynoRunStatus *s, const DynoJob *job)
{
  *s = (DynoRunStatus){ .job = job,
                        .eta_s = -1,
                        .progress_left_s = -1,
                        .run_rate = (double) NAN,
                        .memory_limit = (double) NAN };
  for (guint i = 0; i < DYNO_MAX_RUN_METRICS; i++)
    {
      s->best[i] = (double) NAN;
      s->epoch.val_metrics[i] = s->epoch.train_metrics[i] = (double) NAN;
    }
  s->epoch.val_loss = (double) NAN;
}

static void
make_going (DynoRunStatus *s)
{
  s->state = DYNO_SESSION_RUNNING;
  s->n_steps = 20;
  s->total_epochs = 5;
  s->fraction = 0.432;
  s->eta_s = 725;
  s->step = (DynoStepMetrics){ .step = 20,
                               .epoch = 2,
                               .loss = 1.2345,
                               .samples_per_s = 1500,
                               .step_ms = 25,
                               .wait_data_ms = 5,
                               .vram_bytes = 3 << 20 };
}

/* Before the first step nothing is known; a run that has ended has its time and its whole rate. */
static void
test_numbers_of_a_run (void)
{
  DynoStatsBar *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_STATS_BAR, NULL));
  GtkWidget *widget = GTK_WIDGET (bar);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoRunStatus s;

  gtk_widget_show (widget);
  clear (&s, job);
  s.state = DYNO_SESSION_PREPARING;
  dyno_stats_bar_show (bar, &s);
  parts_assert_texts (widget, "Time left\n–\nThroughput\n–\nsamples/s\nLoss\n–\nAccuracy\n–\n"
                              "Epoch\n–\nStep\n–\nData wait\n–\nMemory\n–");
  make_going (&s);
  dyno_stats_bar_show (bar, &s);
  parts_assert_says (widget, "25.0 ms"); /* how many samples a step has is not known */
  s.step_samples = 30;
  s.step.samples = 7; /* the last step of an epoch */
  dyno_stats_bar_show (bar, &s);
  parts_assert_texts (widget, "Time left\n12:05\nThroughput\n1,500\nsamples/s\nLoss\n1.234\n"
                              "Accuracy\n–\nEpoch\n2\nof 5\nStep\n20.0 ms\nmean\n"
                              "Data wait\n5.00 ms\n20 % of a step\nMemory\n3.00 MiB");
  s.has_plan = TRUE;
  s.plan.limit_bytes = 2ull << 30;
  s.total_epochs = 0;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says (widget, "of 2.00 GiB");
  parts_assert_says (widget, "of –");
  s.released = TRUE;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says_not (widget, "3.00 MiB");
  for (DynoSessionState state = DYNO_SESSION_FINISHED; state <= DYNO_SESSION_FAILED; state++)
    {
      s.state = state;
      s.seconds = 3723;
      s.run_rate = 900;
      dyno_stats_bar_show (bar, &s);
      parts_assert_says (widget, "Time");
      parts_assert_says_not (widget, "Time left");
      parts_assert_says (widget, "1:02:03");
      parts_assert_says (widget, "900");
      parts_assert_says (widget, "33.3 ms"); /* 30 samples at this rate */
      parts_assert_says_not (widget, "1,500");
    }
  /* The next run begins without the numbers of this one. */
  clear (&s, job);
  s.state = DYNO_SESSION_PREPARING;
  dyno_stats_bar_show (bar, &s);
  parts_assert_texts (widget, "Time left\n–\nThroughput\n–\nsamples/s\nLoss\n–\nAccuracy\n–\n"
                              "Epoch\n–\nStep\n–\nData wait\n–\nMemory\n–");
  g_object_unref (bar);
}

/* The metric that chooses the best epoch is shown, of the validation where there is one. */
static void
test_the_metric_that_chooses_is_shown (void)
{
  DynoStatsBar *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_STATS_BAR, NULL));
  GtkWidget *widget = GTK_WIDGET (bar);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoRunStatus s;

  gtk_widget_show (widget);
  clear (&s, job);
  make_going (&s);
  s.metrics.n = 2;
  dyno_metric_find ("mean_abs_error", &s.metrics.infos[0]);
  dyno_metric_find ("accuracy", &s.metrics.infos[1]);
  s.metrics.infos[0].selects_best = FALSE;
  s.metrics.infos[1].selects_best = TRUE;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says (widget, "Accuracy");
  s.n_epochs = 1;
  s.epoch.train_metrics[0] = 7.5;
  s.epoch.train_metrics[1] = 0.8;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says (widget, "80.0 %");
  parts_assert_says (widget, "training");
  s.epoch.val_metrics[0] = 6.5;
  s.epoch.val_metrics[1] = 0.7;
  s.epoch.val_loss = 0.5;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says (widget, "70.0 %");
  parts_assert_says (widget, "val. 0.5000");
  parts_assert_says_not (widget, "training");
  s.best[0] = 5.5;
  s.best[1] = 0.75;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says (widget, "best 75.0 %");
  g_autoptr (GPtrArray) labels = parts_find_all (widget, GTK_TYPE_LABEL);
  for (guint i = 0; i < labels->len; i++)
    if (strcmp (gtk_label_get_text (labels->pdata[i]), "Accuracy") == 0)
      {
        g_autofree char *all =
            gtk_widget_get_tooltip_text (gtk_widget_get_parent (labels->pdata[i]));
        g_autofree char *lines =
            g_strdup_printf ("\n%s: 6.500\nAccuracy: 70.0 %%", s.metrics.infos[0].title);
        g_assert_true (g_str_has_suffix (all, lines));
      }
  s.metrics.infos[1].of_validation = TRUE;
  s.epoch.val_metrics[1] = (double) NAN;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says_not (widget, "80.0 %");
  parts_assert_says_not (widget, "best 75.0 %");
  /* Without a validation the tooltip has the metrics of the training, and only those. */
  for (guint i = 0; i < labels->len; i++)
    if (strcmp (gtk_label_get_text (labels->pdata[i]), "Accuracy") == 0)
      {
        g_autofree char *all =
            gtk_widget_get_tooltip_text (gtk_widget_get_parent (labels->pdata[i]));
        g_autofree char *line = g_strdup_printf ("\n%s: 7.500", s.metrics.infos[0].title);
        g_assert_true (g_str_has_suffix (all, line));
      }
  /* A second run with another table. */
  s.metrics.n = 1;
  dyno_stats_bar_show (bar, &s);
  parts_assert_says (widget, s.metrics.infos[0].title);
  parts_assert_says (widget, "best 5.500");
  parts_assert_says_not (widget, "Accuracy");
  g_object_unref (bar);
}

static void
test_phases_that_take_no_time_are_left_out (void)
{
  DynoPhaseBar *bar = DYNO_PHASE_BAR (g_object_ref_sink (dyno_phase_bar_new ()));
  GtkWidget *widget = GTK_WIDGET (bar);
  DynoPhases p = { .wait_data_ms = 10,
                   .copy_ms = 0.01,
                   .forward_ms = 30,
                   .backward_ms = 40,
                   .optimizer_ms = (double) NAN,
                   .exchange_ms = 0,
                   .validation_ms = 12,
                   .saving_ms = 8,
                   .idle_ms = -1 };

  dyno_phase_bar_show (bar, &p);
  parts_assert_texts (widget, "Wait for data  10.0 %  10.0 ms\nForward  30.0 %  30.0 ms\n"
                              "Backward  40.0 %  40.0 ms\nValidation  12.0 %  12.0 ms\n"
                              "Saving  8.0 %  8.00 ms");
  p = (DynoPhases){ .exchange_ms = 3, .optimizer_ms = 1, .copy_ms = 2, .idle_ms = 4 };
  dyno_phase_bar_show (bar, &p);
  parts_assert_texts (widget, "Copy  20.0 %  2.00 ms\nOptimizer  10.0 %  1.00 ms\n"
                              "Exchange  30.0 %  3.00 ms\nIdle  40.0 %  4.00 ms");
  p = (DynoPhases){ 0 };
  dyno_phase_bar_show (bar, &p);
  parts_assert_texts (widget, "");
  g_object_unref (bar);
}

static void
test_the_pill_follows_the_run (void)
{
  DynoRunPill *pill = g_object_ref_sink (g_object_new (DYNO_TYPE_RUN_PILL, NULL));
  GtkWidget *widget = GTK_WIDGET (pill), *bar = parts_find (widget, GTK_TYPE_PROGRESS_BAR);
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoRunStatus s;

  gtk_widget_show (widget);
  clear (&s, NULL);
  dyno_run_pill_show (pill, &s);
  g_assert_true (GTK_IS_LABEL (gtk_stack_get_visible_child (GTK_STACK (pill))));
  g_assert_null (dyno_run_pill_describe (&s));
  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->data = g_strdup ("builtin:waves?samples=10");
  s.job = job;
  g_assert_null (dyno_run_pill_describe (&s)); /* it has not begun */
  make_going (&s);
  dyno_run_pill_show (pill, &s);
  g_autofree char *title = dyno_run_pill_describe (&s);
  g_assert_cmpstr (title, ==, "43 %, Waves");
  g_assert_true (GTK_IS_BUTTON (gtk_stack_get_visible_child (GTK_STACK (pill))));
  parts_assert_says (widget, "MLP on Waves");
  parts_assert_says (widget, "43 %");
  g_assert_cmpfloat_with_epsilon (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)), 0.432,
                                  1e-9);
  s.state = DYNO_SESSION_FAILED;
  dyno_run_pill_show (pill, &s);
  g_assert_null (dyno_run_pill_describe (&s));
  parts_assert_says (widget, "Failed");
  s.state = DYNO_SESSION_FINISHED;
  g_assert_null (dyno_run_pill_describe (&s));
  /* The next run is another one, and has not failed. */
  clear (&s, job);
  s.state = DYNO_SESSION_PREPARING;
  s.fraction = 0.3;
  g_free (job->data);
  job->data = g_strdup ("/data/cats");
  dyno_run_pill_show (pill, &s);
  parts_assert_says (widget, "MLP on cats");
  parts_assert_says (widget, "Preparing");
  g_assert_cmpfloat (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)), ==, 0);
  g_autoptr (GPtrArray) labels = parts_find_all (widget, GTK_TYPE_LABEL);
  for (guint i = 0; i < labels->len; i++)
    g_assert_false (
        gtk_style_context_has_class (gtk_widget_get_style_context (labels->pdata[i]), "bad-text"));
  g_object_unref (pill);
}

static gboolean
has_running_job (gpointer jobs)
{
  return dyno_job_list_get_running (jobs) != NULL;
}

static gboolean
has_no_running_job (gpointer jobs)
{
  return !has_running_job (jobs);
}

static guint n_failed;

static gboolean
have_failed (gpointer jobs)
{
  return dyno_job_list_count_failed (jobs) == n_failed;
}

/* Puts n jobs into the history, and reads them; the first one runs. */
static void
read_jobs (DynoJobList *jobs, DynoStore *store, gint64 ids[], guint n)
{
  g_autofree char *process = dyno_process_describe ();

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (DynoJob) job = dyno_job_new ();
      g_free (job->model);
      job->model = g_strdup ("resnet18");
      job->data = g_strdup ("/data/dogs");
      job->out_dir = g_strdup_printf ("%s/pill %u", g_get_home_dir (), i);
      ids[i] = dyno_store_add_job (store, job, NULL);
    }
  g_assert_true (dyno_store_begin_job (store, ids[0], process, NULL));
  dyno_job_list_refresh (jobs);
  parts_wait (has_running_job, jobs);
}

/* The pill shows the run of the window while it goes, else the job of the queue, else the last run;
 * and how many jobs wait beside it. */
static void
test_the_pill_shows_the_queue (void)
{
  DynoRunPill *pill = g_object_ref_sink (g_object_new (DYNO_TYPE_RUN_PILL, NULL));
  GtkWidget *widget = GTK_WIDGET (pill), *bar = parts_find (widget, GTK_TYPE_PROGRESS_BAR);
  g_autoptr (DynoJobList) jobs = dyno_job_list_new ();
  g_autoptr (DynoStore) store = dyno_store_open (NULL, NULL);
  GtkWidget *popover = dyno_jobs_popover_new (jobs);
  g_autoptr (DynoJob) job = dyno_job_new ();
  gint64 ids[3];
  DynoRunStatus s;

  gtk_widget_show (widget);
  dyno_run_pill_set_jobs (pill, jobs, DYNO_JOBS_POPOVER (popover));
  clear (&s, NULL);
  dyno_run_pill_show (pill, &s);
  g_assert_true (GTK_IS_LABEL (gtk_stack_get_visible_child (GTK_STACK (pill))));
  read_jobs (jobs, store, ids, 3);
  dyno_run_pill_show (pill, &s);
  g_assert_true (GTK_IS_BUTTON (gtk_stack_get_visible_child (GTK_STACK (pill))));
  parts_assert_says (widget, "ResNet-18 on dogs");
  parts_assert_says (widget, "Running");
  parts_assert_says (widget, "+2");
  g_assert_true (gtk_widget_get_visible (bar));
  g_free (job->model);
  job->model = g_strdup ("mlp");
  job->data = g_strdup ("builtin:waves?samples=10");
  for (guint i = 0; i < 2; i++)
    {
      clear (&s, job);
      make_going (&s);
      dyno_run_pill_show (pill, &s);
      parts_assert_says (widget, "MLP on Waves");
      parts_assert_says (widget, "43 %");
      parts_assert_says (widget, "+3");
      parts_assert_says_not (gtk_bin_get_child (GTK_BIN (popover)),
                             "Start the queue when this run has ended"); /* it runs already */
      s.state = DYNO_SESSION_FINISHED;
      dyno_run_pill_show (pill, &s);
      parts_assert_says (widget, "ResNet-18 on dogs");
      parts_assert_says (widget, "+2");
      parts_assert_says (parts_find (popover, GTK_TYPE_BOX), "MLP on Waves");
    }
  g_assert_true (dyno_store_end_job (store, ids[0], DYNO_QUEUED_FINISHED, 0, NULL));
  dyno_job_list_refresh (jobs);
  parts_wait (has_no_running_job, jobs);
  s.state = DYNO_SESSION_RUNNING;
  dyno_run_pill_show (pill, &s);
  parts_assert_says (gtk_bin_get_child (GTK_BIN (popover)),
                     "Start the queue when this run has ended");
  s.state = DYNO_SESSION_FINISHED;
  dyno_run_pill_show (pill, &s);
  parts_assert_says (widget, "MLP on Waves");
  parts_assert_says (widget, "+2");
  clear (&s, NULL);
  dyno_run_pill_show (pill, &s);
  parts_assert_says (widget, "Queue");
  parts_assert_says (widget, "2 jobs");
  parts_assert_says_not (widget, "+2");
  parts_assert_says_not (parts_find (popover, GTK_TYPE_BOX), "MLP on Waves");
  g_assert_false (gtk_widget_get_visible (bar));
  /* Failed jobs are shown once no other is left, instead of a run that has ended. */
  for (guint i = 1; i < 3; i++)
    {
      g_assert_true (dyno_store_begin_job (store, ids[i], "1 1 boot 1 here", NULL));
      g_assert_true (dyno_store_end_job (store, ids[i], DYNO_QUEUED_FAILED, 1, NULL));
      dyno_job_list_refresh (jobs);
      n_failed = i;
      parts_wait (have_failed, jobs);
      clear (&s, i == 1 ? NULL : job);
      s.state = DYNO_SESSION_FINISHED;
      dyno_run_pill_show (pill, &s);
      parts_assert_says (widget, i == 1 ? "1 job" : "2 jobs failed");
      g_assert_true (GTK_IS_BUTTON (gtk_stack_get_visible_child (GTK_STACK (pill))));
    }
  s.state = DYNO_SESSION_RUNNING;
  dyno_run_pill_show (pill, &s);
  parts_assert_says (widget, "MLP on Waves");
  for (guint i = 0; i < 3; i++)
    g_assert_true (dyno_store_remove_job (store, ids[i], NULL));
  gtk_widget_destroy (widget);
  g_object_unref (pill);
}

typedef struct {
  guint n;
  DynoStopAnswer answer;
  gboolean always;
} Answers;

static void
note_answer (DynoStopBar *bar, DynoStopAnswer answer, gboolean always, Answers *answers)
{
  answers->n++;
  answers->answer = answer;
  answers->always = always;
}

/* The question comes without the tick of the time before, and "for all" never goes with going on. */
static void
test_the_stop_question_comes_anew (void)
{
  DynoStopBar *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_STOP_BAR, NULL));
  GtkWidget *widget = GTK_WIDGET (bar);
  GtkToggleButton *tick = GTK_TOGGLE_BUTTON (parts_find_button (widget, "Do the same from now on"));
  Answers answers = { 0 };

  g_signal_connect (bar, "answered", G_CALLBACK (note_answer), &answers);
  g_assert_false (gtk_widget_get_visible (widget));
  dyno_stop_bar_ask (bar);
  g_assert_true (gtk_widget_get_visible (widget));
  gtk_toggle_button_set_active (tick, TRUE);
  gtk_button_clicked (GTK_BUTTON (parts_find_button (widget, "Save")));
  g_assert_false (gtk_widget_get_visible (widget));
  g_assert_true (answers.n == 1 && answers.answer == DYNO_STOP_ANSWER_SAVE && answers.always);
  dyno_stop_bar_ask (bar);
  g_assert_false (gtk_toggle_button_get_active (tick));
  gtk_button_clicked (GTK_BUTTON (parts_find_button (widget, "Discard")));
  g_assert_true (answers.n == 2 && answers.answer == DYNO_STOP_ANSWER_DISCARD && !answers.always);
  dyno_stop_bar_ask (bar);
  gtk_toggle_button_set_active (tick, TRUE);
  gtk_button_clicked (GTK_BUTTON (parts_find_button (widget, "Keep Training")));
  g_assert_true (answers.n == 3 && answers.answer == DYNO_STOP_ANSWER_KEEP_TRAINING
                 && !answers.always);
  dyno_stop_bar_ask (bar);
  dyno_stop_bar_dismiss (bar);
  g_assert_true (answers.n == 3 && !gtk_widget_get_visible (widget));
  g_object_unref (bar);
}

static void
test_a_finding_is_a_row (void)
{
  const struct {
    DynoFindingLevel level;
    const char *name, *icon;
  } levels[] = { { DYNO_FINDING_GOOD, "Good", "object-select-symbolic" },
                 { DYNO_FINDING_NOTE, "Note", "dialog-information-symbolic" },
                 { DYNO_FINDING_WARNING, "Warning", "dialog-warning-symbolic" },
                 { DYNO_FINDING_PROBLEM, "Problem", "dialog-error-symbolic" } };

  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      const DynoFinding finding = { .level = levels[i].level,
                                    .text = (char *) "It waits.",
                                    .action = i == 1 ? NULL : (char *) "Wait." };
      GtkWidget *row = g_object_ref_sink (dyno_finding_row_new (&finding));
      GtkWidget *image = parts_find (row, GTK_TYPE_IMAGE);
      const char *icon;
      g_autofree char *tooltip = gtk_widget_get_tooltip_text (image),
                      *spoken = g_strdup_printf ("%s: It waits.", levels[i].name);

      gtk_image_get_icon_name (GTK_IMAGE (image), &icon, NULL);
      g_assert_cmpstr (icon, ==, levels[i].icon);
      g_assert_cmpstr (tooltip, ==, levels[i].name);
      g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (row)), ==, spoken);
      parts_assert_texts (row, i == 1 ? "It waits." : "It waits.\nWait.");
      g_object_unref (row);
    }
}

/* --- a run in a sentence ---------------------------------------------------------------------- */

static void
assert_sentence (const DynoRunStatus *s, DynoLossTrend trend, double busy, const char *expected)
{
  g_autofree char *text = dyno_sentence_describe (s, trend, busy);
  g_auto (GStrv) parts = g_strsplit (text, "\302\240", -1);
  g_autofree char *plain = g_strjoinv (" ", parts);

  g_assert_cmpstr (plain, ==, expected);
}

static void
test_a_run_in_a_sentence (void)
{
  g_autoptr (DynoJob) job = dyno_job_new ();
  const struct {
    double seconds;
    const char *text;
  } left[] = { { 0, "Less than a minute left" },
               { 54, "Less than a minute left" },
               { 55, "1 min left" },
               { 89, "1 min left" },
               { 91, "2 min left" },
               { 99 * 60, "99 min left" },
               { 100 * 60, "1 h 40 min left" },
               { 3 * 3600 + 7 * 60, "3 h 7 min left" },
               { 47.9 * 3600, "47 h 54 min left" },
               { 48 * 3600, "2 days left" },
               { 71 * 3600, "2 days left" } };
  DynoRunStatus s;

  clear (&s, job);
  assert_sentence (&s, DYNO_LOSS_UNKNOWN, NAN, "Ready…");
  make_going (&s);
  for (guint i = 0; i < G_N_ELEMENTS (left); i++)
    {
      s.eta_s = left[i].seconds;
      assert_sentence (&s, DYNO_LOSS_UNKNOWN, NAN, left[i].text);
    }
  s.eta_s = 600;
  assert_sentence (&s, DYNO_LOSS_FALLING, 92.4, "10 min left, loss falling, GPU 92 % busy");
  assert_sentence (&s, DYNO_LOSS_STEADY, NAN, "10 min left, loss steady");
  assert_sentence (&s, DYNO_LOSS_RISING, 0, "10 min left, loss rising, GPU 0 % busy");
  s.eta_s = -1;
  assert_sentence (&s, DYNO_LOSS_UNKNOWN, NAN, "Training");
  s.state = DYNO_SESSION_PAUSED;
  s.eta_s = 600;
  assert_sentence (&s, DYNO_LOSS_FALLING, 50, "Paused, 10 min left");
  s.released = TRUE;
  assert_sentence (&s, DYNO_LOSS_FALLING, 50, "Paused, device memory is free, 10 min left");
  s.state = DYNO_SESSION_STOPPING;
  assert_sentence (&s, DYNO_LOSS_FALLING, 50, "Stopping…");
  s.metrics.n = 1;
  s.best[0] = 0.974;
  dyno_metric_find ("accuracy", &s.metrics.infos[0]);
  assert_sentence (&s, DYNO_LOSS_FALLING, 50, "Stopping…");
  s.metrics.n = 0;
  s.state = DYNO_SESSION_STOPPED;
  s.seconds = 42;
  assert_sentence (&s, DYNO_LOSS_FALLING, 50, "Stopped after 0:42");
  s.state = DYNO_SESSION_FAILED;
  assert_sentence (&s, DYNO_LOSS_FALLING, 50, "Failed after 0:42");
  s.state = DYNO_SESSION_FINISHED;
  s.metrics.n = 1;
  dyno_metric_find ("accuracy", &s.metrics.infos[0]);
  s.best[0] = 0.974;
  assert_sentence (&s, DYNO_LOSS_FALLING, 50, "Finished in 0:42, best accuracy 97.4 %");
  s.whole_steps = 2810;
  assert_sentence (&s, DYNO_LOSS_FALLING, 50,
                   "Stopped after 20 of 2,810 steps as asked, in 0:42, best accuracy 97.4 %");
  clear (&s, job);
  s.state = DYNO_SESSION_PREPARING;
  s.progress = "compile";
  assert_sentence (&s, DYNO_LOSS_UNKNOWN, NAN, "Preparing: Compiling kernels…");
  s.progress_left_s = 12.4;
  assert_sentence (&s, DYNO_LOSS_UNKNOWN, NAN, "Preparing: Compiling kernels…, about 12 s left");
}

/* --- plots of a run ---------------------------------------------------------------------------- */

/* Gives the monitor a run with these metrics and so many steps; metric k is 0.5 + k. */
static void
put_table (DynoRunMonitor *monitor, const DynoMetricTable *table, guint n)
{
  DynoRunView *view = dyno_run_monitor_get_view (monitor);
  DynoMetrics *log = dyno_metrics_new ();
  g_autoptr (DynoJob) job = dyno_job_new ();

  dyno_metrics_set_table (log, table);
  for (guint i = 1; i <= n; i++)
    {
      DynoStepMetrics step = { .step = i,
                               .epoch = 1,
                               .loss = 1,
                               .metrics = { 0.5, 1.5, 2.5 },
                               .lr = 0.1,
                               .samples_per_s = 100,
                               .step_ms = 1,
                               .vram_bytes = 1 << 20 };
      dyno_metrics_add_step (log, &step);
    }
  dyno_run_view_begin (view, job);
  g_signal_emit_by_name (monitor, "changed");
  while (dyno_run_view_take_log (view, log, 100) && dyno_run_view_get_status (view)->n_steps < n)
    continue;
  g_signal_emit_by_name (monitor, "changed");
  dyno_metrics_unref (log);
}

/* Gives the monitor a run with one metric. */
static void
put_run (DynoRunMonitor *monitor, const DynoMetricInfo *metric, guint n)
{
  DynoMetricTable table = { .n = 1, .infos = { *metric } };

  put_table (monitor, &table, n);
}

static const DynoPlot *
find_plot (GtkWidget *plots, const char *title)
{
  g_autoptr (GPtrArray) views = parts_find_all (plots, DYNO_TYPE_PLOT_VIEW);

  for (guint i = 0; i < views->len; i++)
    {
      const DynoPlot *plot = dyno_plot_view_get_plot (views->pdata[i]);
      if (g_strcmp0 (plot->title, title) == 0)
        return plot;
    }
  return NULL;
}

/* Title, unit and zero of the axis are those of the metric of the present run, and a zoom ends with
 * its run. */
static void
test_plots_are_of_the_present_run (void)
{
  DynoRunMonitor *monitor = dyno_run_monitor_new ();
  DynoRunPlots *plots = g_object_ref_sink (g_object_new (DYNO_TYPE_RUN_PLOTS, NULL));
  GtkWidget *widget = GTK_WIDGET (plots);
  DynoMetricInfo accuracy, other = { .name = "mean_abs_error",
                                     .title = "Mean error",
                                     .unit = "degrees",
                                     .output = -1,
                                     .format = DYNO_METRIC_NUMBER };

  dyno_metric_find ("accuracy", &accuracy);
  dyno_run_plots_set_run (plots, monitor);
  g_assert_null (find_plot (widget, "Accuracy"));
  for (guint i = 0; i < 2; i++)
    {
      put_run (monitor, &accuracy, 30);
      const DynoPlot *plot = find_plot (widget, "Accuracy"), *loss = find_plot (widget, "Loss");
      g_assert_nonnull (plot);
      g_assert_cmpstr (plot->y_label, ==, "%");
      g_assert_true (plot->y_from_zero && !loss->y_from_zero);
      g_assert_cmpuint (dyno_series_get_length (loss->lines[0].series), ==, 30);
      g_assert_true (loss->lines[0].mark_gaps && loss->lines[1].points);
      g_signal_emit_by_name (parts_find (widget, DYNO_TYPE_PLOT_VIEW), "span", 5.0, 20.0);
      g_assert_true (loss->x0 == 5 && loss->x1 == 20 && plot->x0 == 5 && plot->x1 == 20);
      put_run (monitor, &other, 20);
      g_assert_null (find_plot (widget, "Accuracy"));
      plot = find_plot (widget, "Mean error");
      g_assert_cmpstr (plot->y_label, ==, "degrees");
      g_assert_false (plot->y_from_zero);
      g_assert_true (loss->x0 == 0 && loss->x1 == 0);
      other.unit = "mm";
      put_run (monitor, &other, 25);
      g_assert_cmpstr (plot->y_label, ==, "mm");
      other.unit = "degrees";
    }
  gtk_widget_destroy (widget);
  g_object_unref (plots);
  g_object_unref (monitor);
}

/* Each metric has one plot, that which chooses the best epoch the first one, whichever it is. */
static void
test_each_metric_is_plotted_once (void)
{
  static const char *const titles[] = { "One", "Two", "Three" };
  DynoRunMonitor *monitor = dyno_run_monitor_new ();
  DynoRunPlots *plots = g_object_ref_sink (g_object_new (DYNO_TYPE_RUN_PLOTS, NULL));
  GtkWidget *widget = GTK_WIDGET (plots);
  DynoMetricTable table = { .n = 3 };

  for (guint i = 0; i < 3; i++)
    table.infos[i] = (DynoMetricInfo){
      .name = titles[i], .title = titles[i], .unit = "m", .output = -1, .format = DYNO_METRIC_NUMBER
    };
  dyno_run_plots_set_run (plots, monitor);
  for (guint chosen = 0; chosen < 3; chosen++)
    {
      for (guint i = 0; i < 3; i++)
        table.infos[i].selects_best = i == chosen;
      put_table (monitor, &table, 10);
      g_autoptr (GPtrArray) views = parts_find_all (widget, DYNO_TYPE_PLOT_VIEW);
      guint seen = 0;
      for (guint i = views->len; i-- > 0;) /* the grid lists its newest child first */
        {
          const DynoPlot *plot = dyno_plot_view_get_plot (views->pdata[i]);
          double x0, x1, y0, y1;
          if (g_strcmp0 (plot->y_label, "m") != 0)
            continue;
          for (guint k = 0; k < 3; k++)
            if (g_strcmp0 (plot->title, titles[k]) == 0)
              {
                g_assert_cmpuint (k == chosen, ==, seen == 0);
                g_assert_true (dyno_series_get_range (plot->lines[0].series, -INFINITY, INFINITY,
                                                      &x0, &x1, &y0, &y1));
                g_assert_cmpfloat (y0, ==, 0.5 + k);
              }
          seen++;
        }
      g_assert_cmpuint (seen, ==, 3);
      for (guint k = 0; k < 3; k++)
        g_assert_nonnull (find_plot (widget, titles[k]));
    }
  gtk_widget_destroy (widget);
  g_object_unref (plots);
  g_object_unref (monitor);
}

/* --- the offer to resume, and the strip at the bottom ----------------------------------------- */

static DynoStoredRun *
new_interrupted (const char *name, guint64 epochs)
{
  DynoStoredRun *run = dyno_stored_run_new ();

  run->name = g_strdup (name);
  run->epochs = epochs;
  run->settings.epochs = 10;
  return run;
}

static void
count (GtkWidget *widget, guint *n)
{
  (*n)++;
}

static void
test_the_offer_to_resume_is_of_the_run (void)
{
  DynoResumeCard *card = g_object_ref_sink (g_object_new (DYNO_TYPE_RESUME_CARD, NULL));
  GtkWidget *widget = GTK_WIDGET (card);
  guint n = 0;

  g_signal_connect (card, "dismissed", G_CALLBACK (count), &n);
  dyno_resume_card_show (card, new_interrupted ("night", 2));
  g_assert_true (gtk_widget_get_visible (widget));
  parts_assert_says (widget, "Interrupted: epoch 3 of 10");
  parts_assert_says (widget, "night. It continues from its last checkpoint.");
  dyno_resume_card_show (card, new_interrupted ("day", 10));
  parts_assert_says (widget, "Interrupted: epoch 10 of 10");
  parts_assert_says (widget, "day. It continues from its last checkpoint.");
  g_assert_cmpstr (dyno_resume_card_get_run (card)->name, ==, "day");
  gtk_button_clicked (GTK_BUTTON (parts_find_button (widget, "_Not Now")));
  g_assert_cmpuint (n, ==, 1);
  for (guint i = 0; i < 2; i++)
    {
      dyno_resume_card_set_narrow (card, TRUE);
      g_assert_cmpint (gtk_orientable_get_orientation (GTK_ORIENTABLE (card)), ==,
                       GTK_ORIENTATION_VERTICAL);
      dyno_resume_card_set_narrow (card, FALSE);
      g_assert_cmpint (gtk_orientable_get_orientation (GTK_ORIENTABLE (card)), ==,
                       GTK_ORIENTATION_HORIZONTAL);
    }
  dyno_resume_card_show (card, NULL);
  g_assert_false (gtk_widget_get_visible (widget));
  g_assert_null (dyno_resume_card_get_run (card));
  g_object_unref (card);
}

/* Memory is that of the run while it goes on, and of the plan at other times. */
static void
test_the_bottom_shows_the_memory_of_the_run (void)
{
  DynoStatusBar *bar = g_object_ref_sink (g_object_new (DYNO_TYPE_STATUS_BAR, NULL));
  GtkWidget *widget = GTK_WIDGET (bar);
  GtkWidget *level = parts_find (widget, GTK_TYPE_LEVEL_BAR);
  DynoSetup *setup = dyno_setup_new ();
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoRunStatus s;

  clear (&s, job);
  make_going (&s);
  s.has_plan = TRUE;
  s.plan.plan.total_bytes = 2 << 20;
  s.plan.limit_bytes = 12 << 20;
  gtk_widget_show (widget);
  dyno_status_bar_show (bar, setup, NULL);
  parts_assert_texts (widget, "Looking for devices…\nQueue empty");
  dyno_status_bar_show (bar, setup, &s);
  parts_assert_says (widget, "Device memory 3.00 MiB in use, 2.00 MiB planned, of 12.0 MiB");
  g_assert_cmpfloat_with_epsilon (gtk_level_bar_get_value (GTK_LEVEL_BAR (level)), 0.25, 1e-9);
  s.released = TRUE;
  s.plan.plan.total_bytes = 6 << 20;
  dyno_status_bar_show (bar, setup, &s);
  parts_assert_says (widget, "Device memory 6.00 MiB planned, of 12.0 MiB");
  g_assert_cmpfloat_with_epsilon (gtk_level_bar_get_value (GTK_LEVEL_BAR (level)), 0.5, 1e-9);
  g_assert_false (gtk_style_context_has_class (gtk_widget_get_style_context (level), "over"));
  s.plan.plan.total_bytes = 13 << 20;
  dyno_status_bar_show (bar, setup, &s);
  g_assert_true (gtk_style_context_has_class (gtk_widget_get_style_context (level), "over"));
  s.plan.plan.total_bytes = 2 << 20;
  dyno_status_bar_show (bar, setup, &s);
  g_assert_false (gtk_style_context_has_class (gtk_widget_get_style_context (level), "over"));
  s.released = FALSE;
  s.step.vram_bytes = 13 << 20; /* more than was planned */
  dyno_status_bar_show (bar, setup, &s);
  g_assert_true (gtk_style_context_has_class (gtk_widget_get_style_context (level), "over"));
  s.state = DYNO_SESSION_STOPPED;
  dyno_status_bar_show (bar, setup, &s);
  parts_assert_texts (widget, "Looking for devices…\nQueue empty");
  g_assert_false (gtk_widget_get_visible (level));
  dyno_status_bar_set_queue (bar, 1, 0);
  parts_assert_says (widget, "1 job in the queue");
  dyno_status_bar_set_queue (bar, 2, 1);
  parts_assert_says (widget, "2 jobs in the queue, 1 job failed");
  dyno_status_bar_set_queue (bar, 0, 2);
  parts_assert_says (widget, "2 jobs failed");
  dyno_status_bar_set_queue (bar, 0, 0);
  parts_assert_says (widget, "Queue empty");
  g_object_unref (setup);
  g_object_unref (bar);
}

static void
count_call (GSimpleAction *action, GVariant *parameter, gpointer n)
{
  ++*(guint *) n;
}

/* The number of jobs is a button with this name, which shows the jobs.  A telephone has room for
 * it, since the memory is a bar without its text there. */
static void
test_the_bottom_opens_the_jobs (void)
{
  static const GActionEntry entries[] = { { "show-jobs", count_call, NULL, NULL, NULL } };
  DynoStatusBar *bar = g_object_new (DYNO_TYPE_STATUS_BAR, NULL);
  GtkWidget *widget = GTK_WIDGET (bar), *window = parts_show (widget, 360, 40),
            *button = parts_find (widget, GTK_TYPE_BUTTON),
            *level = parts_find (widget, GTK_TYPE_LEVEL_BAR);
  g_autoptr (GSimpleActionGroup) group = g_simple_action_group_new ();
  g_autoptr (DynoJob) job = dyno_job_new ();
  DynoSetup *setup = dyno_setup_new ();
  DynoRunStatus s;
  guint n = 0;
  int least;

  clear (&s, job);
  make_going (&s);
  s.has_plan = TRUE;
  s.plan.plan.total_bytes = 2 << 20;
  s.plan.limit_bytes = 12 << 20;
  g_action_map_add_action_entries (G_ACTION_MAP (group), entries, 1, &n);
  gtk_widget_insert_action_group (window, "win", G_ACTION_GROUP (group));
  dyno_status_bar_set_queue (bar, 12, 0);
  for (guint i = 0; i < 2; i++)
    {
      dyno_status_bar_set_tight (bar, TRUE);
      dyno_status_bar_show (bar, setup, &s);
      parts_assert_texts (widget, "Looking for devices…\n12 jobs in the queue");
      g_autofree char *tooltip = gtk_widget_get_tooltip_text (level);
      g_assert_nonnull (strstr (tooltip, " in use, "));
      gtk_widget_get_preferred_width (widget, &least, NULL);
      g_assert_cmpint (least, <, 300);
      dyno_status_bar_set_tight (bar, FALSE);
      parts_assert_says (widget, "Device memory 3.00 MiB in use, 2.00 MiB planned, of 12.0 MiB");
    }
  g_assert_true (gtk_widget_get_can_focus (button));
  g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (button)), ==,
                   "12 jobs in the queue");
  gtk_button_clicked (GTK_BUTTON (button));
  g_assert_cmpuint (n, ==, 1);
  gtk_widget_destroy (window);
  g_object_unref (setup);
}

void
parts_add_train (void)
{
  g_test_add_func ("/ui/parts/the-bottom-opens-the-jobs", test_the_bottom_opens_the_jobs);
  g_test_add_func ("/ui/parts/numbers-of-a-run", test_numbers_of_a_run);
  g_test_add_func ("/ui/parts/the-metric-that-chooses-is-shown",
                   test_the_metric_that_chooses_is_shown);
  g_test_add_func ("/ui/parts/phases-that-take-no-time-are-left-out",
                   test_phases_that_take_no_time_are_left_out);
  g_test_add_func ("/ui/parts/the-pill-follows-the-run", test_the_pill_follows_the_run);
  g_test_add_func ("/ui/parts/the-pill-shows-the-queue", test_the_pill_shows_the_queue);
  g_test_add_func ("/ui/parts/the-stop-question-comes-anew", test_the_stop_question_comes_anew);
  g_test_add_func ("/ui/parts/a-finding-is-a-row", test_a_finding_is_a_row);
  g_test_add_func ("/ui/parts/a-run-in-a-sentence", test_a_run_in_a_sentence);
  g_test_add_func ("/ui/parts/plots-are-of-the-present-run", test_plots_are_of_the_present_run);
  g_test_add_func ("/ui/parts/each-metric-is-plotted-once", test_each_metric_is_plotted_once);
  g_test_add_func ("/ui/parts/the-offer-to-resume-is-of-the-run",
                   test_the_offer_to_resume_is_of_the_run);
  g_test_add_func ("/ui/parts/the-bottom-shows-the-memory-of-the-run",
                   test_the_bottom_shows_the_memory_of_the_run);
}
