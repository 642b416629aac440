/* SPDX-License-Identifier: MIT */
/* The findings of a diagnosis in the window: the one that the watchdog shows with its button, and
 * the card with all of them. */
#include "parts.h"
#include "diagnosiscard.h"
#include "watchdog.h"
#include <math.h>
#include <string.h>

typedef struct {
  DynoRunMonitor *monitor;
  DynoSetup *setup;
  GPtrArray *findings;
} Fixture;

static void
set_up (Fixture *f)
{
  f->monitor = dyno_run_monitor_new ();
  f->setup = dyno_setup_new ();
  f->findings = g_ptr_array_new_with_free_func (g_free);
  dyno_setup_set_number (f->setup, "workers", 2, NULL);
  dyno_setup_set_number (f->setup, "batch_size", 64, NULL);
}

static void
tear_down (Fixture *f)
{
  g_ptr_array_unref (f->findings);
  g_object_unref (f->setup);
  g_object_unref (f->monitor);
}

/* Adds a finding without an action; the texts are not copied. */
static DynoFinding *
add (Fixture *f, DynoFindingLevel level, const char *text, const char *key, const char *value)
{
  DynoFinding *finding = g_new0 (DynoFinding, 1);

  *finding = (DynoFinding){ .level = level,
                            .check = DYNO_CHECK_DURING,
                            .text = (char *) text,
                            .key = key,
                            .value = (char *) value };
  g_ptr_array_add (f->findings, finding);
  return finding;
}

/* --- the watchdog ----------------------------------------------------------------------------- */

static const char *
get_icon (GtkWidget *widget)
{
  const char *icon;

  gtk_image_get_icon_name (GTK_IMAGE (parts_find (widget, GTK_TYPE_IMAGE)), &icon, NULL);
  return icon;
}

/* Of the findings that advise another value the worst is shown, of equal ones the first. */
static void
test_the_worst_finding_is_shown (void)
{
  DynoWatchdog *dog = g_object_ref_sink (g_object_new (DYNO_TYPE_WATCHDOG, NULL));
  GtkWidget *widget = GTK_WIDGET (dog);
  Fixture f;

  set_up (&f);
  dyno_watchdog_set_run (dog, f.monitor, f.setup);
  dyno_watchdog_show (dog, f.findings, TRUE);
  g_assert_false (gtk_widget_get_visible (widget));
  add (&f, DYNO_FINDING_NOTE, "A note.", "workers", "9");
  add (&f, DYNO_FINDING_WARNING, "Without a setting.", NULL, NULL);
  add (&f, DYNO_FINDING_WARNING, "Without a value.", "workers", NULL);
  add (&f, DYNO_FINDING_WARNING, "As it is.", "workers", "2");
  dyno_watchdog_show (dog, f.findings, TRUE);
  g_assert_false (gtk_widget_get_visible (widget));
  add (&f, DYNO_FINDING_WARNING, "The first.", "workers", "8");
  add (&f, DYNO_FINDING_WARNING, "The second.", "batch_size", "128");
  dyno_watchdog_show (dog, f.findings, FALSE);
  g_assert_true (gtk_widget_get_visible (widget));
  parts_assert_texts (widget, "The first.\nRestart with Workers 8");
  g_assert_cmpstr (get_icon (widget), ==, "dialog-warning-symbolic");
  add (&f, DYNO_FINDING_PROBLEM, "The problem.", "clip_norm", "1");
  dyno_watchdog_show (dog, f.findings, FALSE);
  parts_assert_says (widget, "The problem.");
  g_assert_cmpstr (get_icon (widget), ==, "dialog-error-symbolic");
  /* When the advice is followed, the next finding is the worst; when all is followed, none is. */
  dyno_setup_set_number (f.setup, "clip_norm", 1, NULL);
  dyno_watchdog_show (dog, f.findings, FALSE);
  parts_assert_texts (widget, "The first.\nRestart with Workers 8");
  g_assert_cmpstr (get_icon (widget), ==, "dialog-warning-symbolic");
  dyno_setup_set_number (f.setup, "workers", 8, NULL);
  dyno_setup_set_number (f.setup, "batch_size", 128, NULL);
  g_ptr_array_remove_range (f.findings, 0, 4);
  dyno_watchdog_show (dog, f.findings, FALSE);
  g_assert_false (gtk_widget_get_visible (widget));
  tear_down (&f);
  g_object_unref (dog);
}

static gboolean
wake (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

static gboolean
has_data (gpointer setup)
{
  return dyno_setup_get_info (setup) != NULL;
}

static gboolean
is_over (gpointer monitor)
{
  dyno_run_monitor_drain (monitor);
  return !dyno_run_monitor_is_active (monitor);
}

static void
note_start (GSimpleAction *action, GVariant *parameter, guint *n)
{
  (*n)++;
}

/* During the run only a live setting is changed in it; after the run, the button begins another. */
static void
test_the_advice_is_for_this_run_or_the_next (void)
{
  DynoWatchdog *dog = g_object_new (DYNO_TYPE_WATCHDOG, NULL);
  GtkWidget *widget = GTK_WIDGET (dog);
  GtkWidget *window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  GSimpleAction *start = g_simple_action_new ("start", NULL);
  guint n = 0;
  Fixture f;

  set_up (&f);
  g_action_map_add_action (G_ACTION_MAP (window), G_ACTION (start));
  g_signal_connect (start, "activate", G_CALLBACK (note_start), &n);
  gtk_container_add (GTK_CONTAINER (window), widget);
  dyno_watchdog_set_run (dog, f.monitor, f.setup);
  add (&f, DYNO_FINDING_WARNING, "It is slow.", "batch_size", "128");
  dyno_watchdog_show (dog, f.findings, TRUE);
  parts_assert_texts (widget, "It is slow.\nBatch size 128 in the Next Run");
  gtk_button_clicked (GTK_BUTTON (parts_find (widget, GTK_TYPE_BUTTON)));
  g_assert_false (gtk_widget_get_visible (widget));
  g_assert_cmpint (dyno_setup_get_job (f.setup)->settings.batch_size, ==, 128);
  g_assert_cmpuint (n, ==, 0);
  add (&f, DYNO_FINDING_WARNING, "It diverges.", "lr", "0.002");
  dyno_watchdog_show (dog, f.findings, TRUE);
  parts_assert_texts (widget, "It diverges.\nSet Learning rate to 0.002");
  dyno_watchdog_show (dog, f.findings, FALSE);
  parts_assert_texts (widget, "It diverges.\nRestart with Learning rate 0.002");
  for (guint i = 1; i <= 2; i++) /* a second run is begun anew, too */
    {
      gtk_button_clicked (GTK_BUTTON (parts_find (widget, GTK_TYPE_BUTTON)));
      g_assert_cmpuint (n, ==, i);
      g_assert_cmpfloat_with_epsilon (dyno_setup_get_job (f.setup)->settings.lr, 0.002, 1e-12);
      dyno_setup_set_number (f.setup, "lr", 0.1, NULL);
      dyno_watchdog_show (dog, f.findings, FALSE);
    }
  /* Where the next run trains other data or another model, only the run itself is changed. */
  dyno_run_monitor_set_runs_folder (f.monitor, g_get_home_dir ());
  g_autoptr (DynoJob) job = dyno_job_copy (dyno_setup_get_job (f.setup));
  g_free (job->data);
  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  job->resume = g_strdup ("/nowhere/at/all"); /* so that the run ends at once */
  g_assert_true (dyno_run_monitor_start (f.monitor, job, NULL, NULL));
  guint idle = g_idle_add (wake, NULL);
  parts_wait (is_over, f.monitor);
  g_source_remove (idle);
  GtkWidget *button = parts_find (widget, GTK_TYPE_BUTTON);
  dyno_setup_set_number (f.setup, "lr", 0.002, NULL); /* that of the run is another one */
  dyno_watchdog_show (dog, f.findings, TRUE);
  parts_assert_texts (widget, "It diverges.\nSet Learning rate to 0.002");
  dyno_setup_set_number (f.setup, "lr", 0.3, NULL);
  gtk_button_clicked (GTK_BUTTON (button));
  g_assert_cmpfloat (dyno_setup_get_job (f.setup)->settings.lr, ==, 0.3);
  dyno_watchdog_show (dog, f.findings, FALSE);
  g_assert_true (gtk_widget_get_visible (widget) && !gtk_widget_get_visible (button));
  g_assert_cmpuint (n, ==, 2);
  gtk_widget_destroy (window);
  g_object_unref (start);
  tear_down (&f);
}

/* What a run measures, in the order of its signals. */
typedef struct {
  DynoRunFacts facts;
  DynoSensorReading reading;
} Measured;

static void
measure (DynoRunMonitor *monitor, Measured *measured)
{
  DynoRunView *view = dyno_run_monitor_get_view (monitor);
  DynoStepMetrics step = {
    .step = 1, .loss = 1, .step_ms = 1, .decoded = 1, .workers = 64, .decode_ms = 10, .fetch_ms = 5
  };
  g_autoptr (DynoEvent) facts = dyno_event_new (DYNO_EVENT_FACTS),
                        sensors = dyno_event_new (DYNO_EVENT_SENSORS);

  for (step.step = 1; step.step <= 9 && dyno_run_monitor_get_status (monitor)->n_steps < 9;
       step.step++)
    dyno_run_view_take_step (view, &step);
  facts->facts = measured->facts;
  sensors->sensors = g_memdup2 (&measured->reading, sizeof measured->reading);
  dyno_run_monitor_take_event (monitor, facts);
  dyno_run_monitor_take_event (monitor, sensors);
}

/* When a run ends, it is judged by its own readings: a second run has none of the first. */
static void
test_each_run_is_judged_by_its_own_readings (void)
{
  static const double busy[] = { 10, 100, 10 };
  static const char *const advice[] = { "Restart with Workers 8", "Restart with Workers 4",
                                        "Restart with Workers 8" };
  DynoWatchdog *dog = g_object_ref_sink (g_object_new (DYNO_TYPE_WATCHDOG, NULL));
  GtkWidget *widget = GTK_WIDGET (dog);
  g_autofree char *runs = g_build_filename (g_get_home_dir (), "judged runs", NULL);
  g_autoptr (DynoJob) job = dyno_job_new ();
  Measured measured = { .facts = { .cores = 4 } };
  Fixture f;

  set_up (&f);
  job->data = g_strdup ("builtin:shapes?size=16&samples=64");
  dyno_setup_open_data (f.setup, job->data);
  parts_wait (has_data, f.setup);
  job->resume = g_strdup ("/nowhere/at/all"); /* it fails at its beginning */
  job->settings.workers = 64;
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    measured.reading.values[i] = (double) NAN;
  dyno_run_monitor_set_runs_folder (f.monitor, runs);
  g_signal_connect (f.monitor, "changed", G_CALLBACK (measure), &measured);
  dyno_watchdog_set_run (dog, f.monitor, f.setup);
  for (guint i = 0; i < G_N_ELEMENTS (busy); i++)
    {
      measured.reading.time_us = i + 1;
      measured.reading.values[DYNO_SENSOR_CPU_BUSY] = busy[i];
      g_assert_true (dyno_run_monitor_start (f.monitor, job, NULL, NULL));
      g_assert_false (gtk_widget_get_visible (widget));
      guint idle = g_idle_add (wake, NULL);
      parts_wait (is_over, f.monitor);
      g_source_remove (idle);
      g_assert_true (gtk_widget_get_visible (widget));
      parts_assert_says (widget, advice[i]);
    }
  tear_down (&f);
  g_object_unref (dog);
}

/* --- the card --------------------------------------------------------------------------------- */

static DynoDiagnosis
new_diagnosis (Fixture *f)
{
  return (DynoDiagnosis){ .verdict = (char *) "The data limits. Set workers=8.",
                          .knob = "workers",
                          .expected_gain = 0.424,
                          .loader_ceiling = 400,
                          .gpu_ceiling = 1000,
                          .rate = 380,
                          .exchange_ceiling = (double) NAN,
                          .findings = f->findings };
}

/* The list of rows with this title. */
static GtkWidget *
find_list (GtkWidget *card, const char *title)
{
  g_autoptr (GPtrArray) lists = parts_find_all (card, GTK_TYPE_LIST_BOX);

  for (guint i = 0; i < lists->len; i++)
    if (g_strcmp0 (atk_object_get_name (gtk_widget_get_accessible (lists->pdata[i])), title) == 0)
      return lists->pdata[i];
  g_error ("no list “%s”", title);
}

/* Each list has the rows of its findings, of this diagnosis alone. */
static void
test_findings_are_listed (void)
{
  DynoDiagnosisCard *card = g_object_ref_sink (g_object_new (DYNO_TYPE_DIAGNOSIS_CARD, NULL));
  GtkWidget *widget = GTK_WIDGET (card);
  Fixture f;

  set_up (&f);
  dyno_diagnosis_card_set_run (card, f.monitor, f.setup);
  add (&f, DYNO_FINDING_WARNING, "Few workers.", "workers", "8")->check = DYNO_CHECK_BEFORE;
  add (&f, DYNO_FINDING_WARNING, "It waits.", "workers", "4");
  add (&f, DYNO_FINDING_NOTE, "It is warm.", NULL, NULL)->action = (char *) "Open a window.";
  DynoDiagnosis d = new_diagnosis (&f);
  dyno_diagnosis_card_show (card, &d);
  g_assert_true (gtk_widget_get_visible (widget));
  parts_assert_says (widget, "The data limits. Set “Workers: 8”.");
  parts_assert_says (widget, "about +42 %");
  parts_assert_texts (find_list (widget, "Known Before the Run"), "Few workers.\nApply");
  parts_assert_texts (find_list (widget, "While It Runs"),
                      "It waits.\nApply\nIt is warm.\nOpen a window.");
  parts_assert_says_not (widget, "When It Has Ended");
  parts_assert_texts (find_list (widget, "How Fast It Could Be"),
                      "This run\n380 samples/s\nData alone, estimated\n400 samples/s\n"
                      "Device alone, estimated\n1,000 samples/s");
  g_autoptr (GPtrArray) bars =
      parts_find_all (find_list (widget, "How Fast It Could Be"), GTK_TYPE_LEVEL_BAR);
  const double shares[] = { 0.38, 0.4, 1 };
  for (guint i = 0; i < bars->len; i++)
    g_assert_cmpfloat_with_epsilon (gtk_level_bar_get_value (bars->pdata[i]), shares[i], 1e-9);
  /* A second diagnosis has other lists. */
  g_ptr_array_remove_range (f.findings, 0, 2);
  add (&f, DYNO_FINDING_GOOD, "It has ended.", NULL, NULL)->check = DYNO_CHECK_AFTER;
  d = new_diagnosis (&f);
  d.expected_gain = 0.004;
  d.gpu_measured = TRUE;
  d.loader_ceiling = (double) NAN;
  dyno_diagnosis_card_show (card, &d);
  parts_assert_says_not (widget, "Known Before the Run");
  parts_assert_says_not (widget, "about +42 %");
  parts_assert_texts (find_list (widget, "While It Runs"), "It is warm.\nOpen a window.");
  parts_assert_texts (find_list (widget, "When It Has Ended"), "It has ended.");
  parts_assert_texts (find_list (widget, "How Fast It Could Be"),
                      "This run\n380 samples/s\nDevice alone, measured\n1,000 samples/s");
  tear_down (&f);
  g_object_unref (card);
}

/* The kinds of memory are those of the present plan; a smaller second plan has fewer rows. */
static void
test_memory_is_of_the_present_plan (void)
{
  static const guint64 plans[2][DYNO_MEMORY_N_KINDS] = { { 8 << 20, 4 << 20, 4 << 20, 16 << 20 },
                                                         { 6 << 20, 0, 0, 2 << 20 } };
  static const char *const texts[] = {
    "Weights\n8.00 MiB\nGradients\n4.00 MiB\nOptimizer\n4.00 MiB\n"
    "Activations\n16.0 MiB",
    "Weights\n6.00 MiB\nActivations\n2.00 MiB"
  };
  DynoDiagnosisCard *card = g_object_ref_sink (g_object_new (DYNO_TYPE_DIAGNOSIS_CARD, NULL));
  GtkWidget *widget = GTK_WIDGET (card);
  g_autoptr (DynoJob) job = dyno_job_new ();
  Fixture f;

  set_up (&f);
  dyno_diagnosis_card_set_run (card, f.monitor, f.setup);
  DynoDiagnosis d = new_diagnosis (&f);
  dyno_diagnosis_card_show (card, &d);
  parts_assert_says_not (widget, "Memory by Component");
  dyno_run_view_begin (dyno_run_monitor_get_view (f.monitor), job);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoEvent) event = dyno_event_new (DYNO_EVENT_PLAN);
      DynoPlan *plan = &event->plan.plan.plan;
      for (guint k = 0; k < DYNO_MEMORY_N_KINDS; k++)
        plan->total_bytes += plan->kind_bytes[k] = plans[i][k];
      dyno_run_monitor_take_event (f.monitor, event);
      dyno_diagnosis_card_show (card, &d);
      parts_assert_texts (find_list (widget, "Memory by Component"), texts[i]);
    }
  g_autoptr (GPtrArray) bars =
      parts_find_all (find_list (widget, "Memory by Component"), GTK_TYPE_LEVEL_BAR);
  g_assert_cmpfloat_with_epsilon (gtk_level_bar_get_value (bars->pdata[0]), 0.75, 1e-9);
  tear_down (&f);
  g_object_unref (card);
}

/* A button applies its own finding, says so from then on, and can be used again after a change. */
static void
test_findings_are_applied (void)
{
  DynoDiagnosisCard *card = g_object_ref_sink (g_object_new (DYNO_TYPE_DIAGNOSIS_CARD, NULL));
  GtkWidget *widget = GTK_WIDGET (card);
  Fixture f;

  set_up (&f);
  dyno_diagnosis_card_set_run (card, f.monitor, f.setup);
  add (&f, DYNO_FINDING_WARNING, "The batch is small.", "batch_size", "128");
  add (&f, DYNO_FINDING_WARNING, "It waits.", "workers", "8");
  DynoDiagnosis d = new_diagnosis (&f);
  dyno_diagnosis_card_show (card, &d);
  GtkWidget *advice = parts_find_button (widget, "Apply Advice"),
            *list = find_list (widget, "While It Runs");
  g_autoptr (GPtrArray) rows = parts_find_all (list, GTK_TYPE_BUTTON);
  const DynoSettings *now = &dyno_setup_get_job (f.setup)->settings;
  g_assert_cmpuint (rows->len, ==, 2);
  g_assert_cmpstr (atk_object_get_name (gtk_widget_get_accessible (rows->pdata[1])), ==,
                   "Apply: Workers 8");
  gtk_button_clicked (GTK_BUTTON (advice)); /* the setting that the verdict names */
  g_assert_true (now->workers == 8 && now->batch_size == 64);
  parts_assert_texts (list, "The batch is small.\nApply\nIt waits.\nApplied");
  g_assert_cmpstr (gtk_button_get_label (GTK_BUTTON (advice)), ==, "Applied");
  g_assert_false (gtk_widget_get_sensitive (advice));
  gtk_button_clicked (rows->pdata[0]);
  g_assert_true (now->workers == 8 && now->batch_size == 128);
  dyno_setup_set_number (f.setup, "workers", 2, NULL);
  g_assert_true (gtk_widget_get_sensitive (advice) && gtk_widget_get_sensitive (rows->pdata[1]));
  parts_assert_texts (list, "The batch is small.\nApplied\nIt waits.\nApply");
  /* While a run goes on, nothing is applied. */
  dyno_setup_set_work (f.setup, DYNO_SETUP_TRAINS);
  g_assert_false (gtk_widget_get_sensitive (advice) || gtk_widget_get_sensitive (rows->pdata[1]));
  g_autofree char *why = gtk_widget_get_tooltip_text (rows->pdata[1]),
                  *none = gtk_widget_get_tooltip_text (rows->pdata[0]);
  g_assert_cmpstr (why, ==, "Once the run has ended");
  g_assert_null (none);
  dyno_setup_set_work (f.setup, DYNO_SETUP_IDLE);
  /* A verdict without a setting advises none. */
  d.knob = NULL;
  dyno_diagnosis_card_show (card, &d);
  g_assert_false (gtk_widget_get_visible (advice));
  tear_down (&f);
  g_object_unref (card);
}

void
parts_add_diagnosis (void)
{
  g_test_add_func ("/ui/parts/the-worst-finding-is-shown", test_the_worst_finding_is_shown);
  g_test_add_func ("/ui/parts/the-advice-is-for-this-run-or-the-next",
                   test_the_advice_is_for_this_run_or_the_next);
  g_test_add_func ("/ui/parts/each-run-is-judged-by-its-own-readings",
                   test_each_run_is_judged_by_its_own_readings);
  g_test_add_func ("/ui/parts/findings-are-listed", test_findings_are_listed);
  g_test_add_func ("/ui/parts/memory-is-of-the-present-plan", test_memory_is_of_the_present_plan);
  g_test_add_func ("/ui/parts/findings-are-applied", test_findings_are_applied);
}
