/* SPDX-License-Identifier: MIT */
/* The pages of the two searches: findings, stages, tables of trials, the card of the
 * best, the plot of the trials. */
#include "parts.h"
#include "accuracycard.h"
#include "accuracyform.h"
#include "accuracyplot.h"
#include "accuracystatus.h"
#include "accuracytable.h"
#include "accuracywords.h"
#include "barlist.h"
#include "quickcard.h"
#include "trialtable.h"
#include "tunefindings.h"
#include "tunestages.h"
#include <math.h>
#include <string.h>

/* --- the search for speed --------------------------------------------------------------------- */

static void
assert_bars (GtkWidget *box, guint n, const double *shares)
{
  g_autoptr (GPtrArray) bars = parts_find_all (box, GTK_TYPE_PROGRESS_BAR);

  g_assert_cmpuint (bars->len, ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (gtk_progress_bar_get_fraction (bars->pdata[i]), shares[i],
                                    1e-6);
}

static void
set_gain (DynoTuneGain *gain, const char *key, const char *from, const char *to, double factor)
{
  *gain = (DynoTuneGain){ key, g_strdup (from), g_strdup (to), factor };
}

/* Settings that were measured together are named at one bar; bars of gains are by the logarithm of
 * the factor, so that two equal factors have bars of half the length of both together. */
static void
test_findings_name_what_was_measured (void)
{
  static const char *const reasons[] = { "The first.", "The second.", NULL };
  GtkWidget *box = g_object_ref_sink (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) r = dyno_tune_result_new (job), empty = dyno_tune_result_new (job);

  r->best.samples_per_s = 1000;
  r->loader_ceiling = 4000;
  r->gpu_ceiling = 2000;
  r->n_gains = 3;
  r->gains = g_new0 (DynoTuneGain, 3);
  set_gain (&r->gains[0], "batch_size", "16", "64", (double) NAN);
  set_gain (&r->gains[1], "amp", "false", "true", 4);
  set_gain (&r->gains[2], "workers", "0", "8", 2);
  r->reasons = g_strdupv ((char **) reasons);
  gtk_widget_show (box);
  dyno_tune_findings_show (box, r);
  parts_assert_texts (box, "What Limits\n"
                           "The data pipeline by itself\n4,000 samples/s\n"
                           "The device by itself\n2,000 samples/s\n"
                           "A whole run, validation included\n1,000 samples/s\n"
                           "What Each Setting Brought\n"
                           "Batch size: 16 → 64\nMixed precision (AMP): off → on\n4.00×\n"
                           "Workers: 0 → 8\n2.00×\n"
                           "Why\nThe second.");
  assert_bars (box, 5, (const double[]){ 1, 0.5, 0.25, 1, 0.5 });
  /* A figure that was not measured has no bar, and nothing stays of the search before. */
  r->loader_ceiling = INFINITY;
  r->gpu_ceiling = 500;
  r->n_gains = 1;
  dyno_tune_findings_show (box, r);
  parts_assert_texts (box, "What Limits\n"
                           "The device by itself\n500 samples/s\n"
                           "A whole run, validation included\n1,000 samples/s\n"
                           "Why\nThe second.");
  assert_bars (box, 2, (const double[]){ 0.5, 1 });
  g_strfreev (r->reasons);
  r->reasons = g_new0 (char *, 2);
  r->reasons[0] = g_strdup ("The only one."); /* the card of the best has it */
  dyno_tune_findings_show (box, r);
  parts_assert_says_not (box, "Why");
  /* Of several devices that exchange in time: the rate of all, and of one by itself. */
  r->ranks.samples_per_s = 1500;
  r->ranks.speedup = 1.5;
  for (guint i = 1; i <= 3; i++)
    {
      r->ranks.ranks = i;
      dyno_tune_findings_show (box, r);
      if (i == 1)
        parts_assert_says_not (box, "Several Devices");
      else
        parts_assert_says (box, i == 2 ? "2 devices together" : "3 devices together");
    }
  parts_assert_texts (box, "What Limits\n"
                           "The device by itself\n500 samples/s\n"
                           "A whole run, validation included\n1,000 samples/s\n"
                           "Several Devices\n"
                           "One device by itself\n1,000 samples/s\n"
                           "3 devices together\n1,500 samples/s");
  assert_bars (box, 4, (const double[]){ 0.5, 1, 1000.0 / 1500, 1 });
  r->ranks.samples_per_s = (double) NAN;
  dyno_tune_findings_show (box, r);
  parts_assert_says_not (box, "Several Devices");
  r->n_gains = 3;
  dyno_tune_findings_show (box, empty);
  parts_assert_texts (box, "");
  g_object_unref (box);
}

/* A setting that made it slower has a bar without length. */
static void
test_losses_have_an_empty_bar (void)
{
  GtkWidget *box = g_object_ref_sink (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) r = dyno_tune_result_new (job);

  gtk_widget_show (box);
  r->n_gains = 2;
  r->gains = g_new0 (DynoTuneGain, 2);
  set_gain (&r->gains[0], "prefetch", "2", "4", 0.5);
  set_gain (&r->gains[1], "cache", "true", "false", 8);
  dyno_tune_findings_show (box, r);
  parts_assert_texts (box, "What Each Setting Brought\nPrefetch: 2 → 4\n0.50×\n"
                           "Cache samples: on → off\n8.00×");
  assert_bars (box, 2, (const double[]){ 0, 1 });
  g_object_unref (box);
}

static DynoTrial
make_trial (guint number, const char *stage, gint64 batch, double rate)
{
  DynoTrial trial = { .number = number, .stage = stage, .samples_per_s = rate };

  dyno_settings_init (&trial.settings);
  trial.settings.batch_size = batch;
  return trial;
}

static GtkTreeView *
new_trial_list (void)
{
  g_autoptr (GtkListStore) store =
      gtk_list_store_new (13, G_TYPE_UINT, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_INT,
                          G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_DOUBLE, G_TYPE_STRING,
                          G_TYPE_STRING, G_TYPE_INT, G_TYPE_UINT);
  GtkWidget *list = gtk_tree_view_new_with_model (GTK_TREE_MODEL (store));

  return GTK_TREE_VIEW (g_object_ref_sink (list));
}

/* Bars are shares of the fastest trial so far; a trial without a rate has neither rate nor bar. */
static void
test_trials_are_shares_of_the_fastest (void)
{
  GtkTreeView *list = new_trial_list ();
  g_autoptr (DynoJob) job = dyno_job_new ();
  g_autoptr (DynoTuneResult) r = dyno_tune_result_new (job);
  DynoTrial trials[] = { make_trial (1, "baseline", 16, 500), make_trial (2, "search", 64, 0),
                         make_trial (3, "search", 128, 2000), make_trial (4, "proof", 128, 1190) };

  trials[0].vram_bytes = 3 << 20;
  trials[0].predicted = 480;
  trials[1].outcome = DYNO_TRIAL_OUT_OF_MEMORY;
  trials[1].text = (char *) "refused";
  trials[2].low = 1900;
  trials[2].high = 2100;
  trials[1].high = 5; /* without a lower end */
  trials[3].low = trials[3].high = 1190;
  trials[3].outcome = DYNO_TRIAL_DROPPED;
  dyno_trial_table_add (list, &trials[0]);
  parts_assert_column (list, 4, "100");
  for (guint i = 1; i < 4; i++)
    dyno_trial_table_add (list, &trials[i]);
  parts_assert_column (list, 0, "1\n2\n3\n4");
  parts_assert_column (list, 3, "500\n\n2,000\n1,190");
  parts_assert_column (list, 4, "25\n0\n100\n60");
  parts_assert_column (list, 5, "3.00 MiB\n\n\n");
  parts_assert_column (list, 7, "\nrefused\n\n");
  parts_assert_column (list, 9, "\n\n1,900 – 2,100\n");
  parts_assert_column (list, 10, "480\n\n\n");
  parts_assert_column (list, 11, "400\n400\n400\n400");
  /* Only trials that worked with these settings are the chosen ones. */
  for (guint i = 0; i < 4; i++)
    {
      DynoTrial *copy = g_new0 (DynoTrial, 1);
      dyno_trial_copy (&trials[i], copy);
      g_ptr_array_add (r->trials, copy);
    }
  DynoSettings chosen = trials[2].settings;
  chosen.lr *= 2; /* the tuner only advises one */
  dyno_trial_table_mark (list, r, &chosen);
  parts_assert_column (list, 11, "400\n400\n700\n400");
  g_autofree char *outcomes = parts_get_column (list, 6);
  g_auto (GStrv) each = g_strsplit (outcomes, "\n", -1);
  g_assert_cmpstr (each[2], ==, "Measured, chosen");
  g_assert_cmpstr (each[0], ==, "Measured");
  g_assert_false (dyno_trial_is_like (&trials[0].settings, &trials[2].settings));
  g_object_unref (list);
}

/* Ceilings are the highest so far, whatever their order; a second search begins without those of
 * the first. */
static void
test_stages_show_the_highest_ceiling (void)
{
  DynoTuneStages *stages = g_object_ref_sink (g_object_new (DYNO_TYPE_TUNE_STAGES, NULL));
  GtkWidget *widget = GTK_WIDGET (stages);
  DynoTuneEvent event = { .type = DYNO_TUNE_EVENT_PROGRESS, .trial.stage = "loader" };
  DynoTuneEvent ceiling = { .type = DYNO_TUNE_EVENT_CEILING,
                            .ceiling = { .of = DYNO_CEILING_LOADER, .samples_per_s = 3000 } };

  gtk_widget_show (widget);
  parts_assert_texts (widget, "○ Data\n–\n○ Device\n–\n○ Joint search\n–\n○ Proof\n–");
  dyno_tune_stages_take_event (stages, &event);
  parts_assert_says (widget, "● Data");
  dyno_tune_stages_take_event (stages, &ceiling);
  ceiling.ceiling.samples_per_s = 2000;
  dyno_tune_stages_take_event (stages, &ceiling);
  ceiling.ceiling.samples_per_s = 9000;
  ceiling.ceiling.outcome = DYNO_TRIAL_FAILED;
  dyno_tune_stages_take_event (stages, &ceiling);
  event.trial.stage = "gpu";
  dyno_tune_stages_take_event (stages, &event);
  ceiling.ceiling.of = DYNO_CEILING_GPU;
  dyno_tune_stages_take_event (stages, &ceiling);
  event.trial.stage = "search";
  dyno_tune_stages_take_event (stages, &event);
  parts_assert_texts (widget, "✓ Data\nup to 3,000 samples/s\n✗ Device\n–\n"
                              "● Joint search\n–\n○ Proof\n–");
  DynoTuneEvent trial = { .type = DYNO_TUNE_EVENT_TRIAL };
  dyno_tune_stages_take_event (stages, &trial);
  parts_assert_says (widget, "1 trial");
  dyno_tune_stages_take_event (stages, &trial);
  parts_assert_says (widget, "2 trials");
  event.trial.stage = "proof";
  dyno_tune_stages_take_event (stages, &event);
  parts_assert_says (widget, "● Proof");
  event.trial.stage = "goal";
  dyno_tune_stages_take_event (stages, &event);
  parts_assert_says (widget, "● Proof");
  DynoTuneEvent best = { .type = DYNO_TUNE_EVENT_BEST }, done = { .type = DYNO_TUNE_EVENT_DONE };
  dyno_tune_stages_take_event (stages, &best);
  dyno_tune_stages_take_event (stages, &done);
  parts_assert_texts (widget, "✓ Data\nup to 3,000 samples/s\n✗ Device\n–\n"
                              "✓ Joint search\n2 trials\n✗ Proof\nnot proven");
  best.proven = TRUE;
  dyno_tune_stages_take_event (stages, &best);
  parts_assert_says (widget, "✓ Proof");
  parts_assert_says (widget, "proven");
  dyno_tune_stages_begin (stages);
  parts_assert_texts (widget, "○ Data\n–\n○ Device\n–\n○ Joint search\n–\n○ Proof\n–");
  ceiling.ceiling.outcome = DYNO_TRIAL_OK;
  ceiling.ceiling.of = DYNO_CEILING_LOADER;
  ceiling.ceiling.samples_per_s = 100;
  dyno_tune_stages_take_event (stages, &ceiling);
  parts_assert_says (widget, "up to 100 samples/s");
  dyno_tune_stages_take_event (stages, &trial);
  parts_assert_says (widget, "1 trial");
  /* The device has a ceiling of its own, which is not that of another search, either. */
  for (guint i = 0; i < 2; i++)
    {
      ceiling.ceiling.of = DYNO_CEILING_GPU;
      ceiling.ceiling.samples_per_s = 50 - i;
      dyno_tune_stages_take_event (stages, &ceiling);
      parts_assert_says (widget, i == 0 ? "up to 50.0 samples/s" : "up to 49.0 samples/s");
      dyno_tune_stages_begin (stages);
    }
  /* A search whose trials all failed has found nothing. */
  g_autoptr (GPtrArray) labels = parts_find_all (widget, GTK_TYPE_LABEL);
  GtkStyleContext *title = gtk_widget_get_style_context (labels->pdata[4]),
                  *cell = gtk_widget_get_style_context (gtk_widget_get_parent (labels->pdata[4]));
  g_assert_true (gtk_style_context_has_class (cell, "off"));
  trial.trial.outcome = DYNO_TRIAL_FAILED;
  event.trial.stage = "search";
  dyno_tune_stages_take_event (stages, &event);
  dyno_tune_stages_take_event (stages, &trial);
  g_assert_false (gtk_style_context_has_class (title, "bad-text"));
  event.trial.stage = "proof";
  dyno_tune_stages_take_event (stages, &event);
  parts_assert_texts (widget, "○ Data\n–\n○ Device\n–\n✗ Joint search\n1 trial\n● Proof\n–");
  g_assert_true (gtk_style_context_has_class (title, "bad-text"));
  g_assert_false (gtk_style_context_has_class (cell, "off")); /* it is not to come */
  dyno_tune_stages_begin (stages);
  g_assert_false (gtk_style_context_has_class (title, "bad-text"));
  g_object_unref (stages);
}

static DynoFinding *
add_finding (DynoQuick *quick, DynoFindingLevel level, const char *text)
{
  DynoFinding *finding = g_new0 (DynoFinding, 1);

  finding->level = level;
  finding->text = g_strdup (text);
  g_ptr_array_add (quick->findings, finding);
  return finding;
}

static void
free_finding (gpointer data)
{
  DynoFinding *finding = data;

  g_free (finding->text);
  g_free (finding);
}

/* Figures and signs of a second quick test are shown in place of those of the first. */
static void
test_a_quick_test_replaces_the_one_before (void)
{
  GtkWidget *card = g_object_ref_sink (g_object_new (DYNO_TYPE_QUICK_CARD, NULL));
  DynoQuick quick = { .cores = 4, .workload = (char *) "ResNet-18", .amp = TRUE, .seconds = 31.4 };

  quick.findings = g_ptr_array_new_with_free_func (free_finding);
  g_strlcpy (quick.device.name, "Card A", sizeof quick.device.name);
  quick.has_ceilings = TRUE;
  quick.ceilings.copy_bytes_per_s = 400e9;
  quick.ceilings.single_flops_per_s = 20e12;
  quick.ceilings.matrix_flops_per_s = 90e12;
  quick.loader_samples_per_s = 3000;
  quick.samples_per_s = 800;
  quick.epoch = (DynoQuickEpoch){ 2400, 12 };
  quick.cpu_name = (char *) "A CPU";
  quick.cpu_samples_per_s = 10;
  quick.beside_samples_per_s = 250;
  quick.cpu_epoch = quick.beside_epoch = (DynoQuickEpoch){ (double) NAN, (double) NAN };
  add_finding (&quick, DYNO_FINDING_GOOD, "It is fast.");
  add_finding (&quick, DYNO_FINDING_PROBLEM, "It is hot.");
  gtk_widget_show (card);
  dyno_quick_card_show (DYNO_QUICK_CARD (card), &quick);
  parts_assert_says (card, "Quick Test of Card A");
  parts_assert_says (card, "400 GB/s");
  parts_assert_says (card, "20.0 TFLOP/s");
  parts_assert_says (card, "90.0 TFLOP/s");
  parts_assert_says (card, "12 s");
  parts_assert_says (card, "224 × 224, by 4 cores");
  parts_assert_says (card, "3,000 samples/s");
  parts_assert_says (card, "ResNet-18, AMP");
  parts_assert_says (card, "800 samples/s");
  parts_assert_says (card, "2,400 samples/s");
  parts_assert_says (card, "Arithmetic, 16 bit with matrix units");
  parts_assert_says (card, "25.0 times");
  parts_assert_says (card, "It is fast.");
  parts_assert_says (card, "It is hot.");
  parts_assert_says (card, "It took 31 s. Tuning finds the fastest settings for your own data.");
  quick.ceilings.single_flops_per_s = 5e12;
  quick.beside_samples_per_s = (double) NAN;
  dyno_quick_card_show (DYNO_QUICK_CARD (card), &quick);
  parts_assert_says (card, "5.00 TFLOP/s");
  parts_assert_says_not (card, "Beside the CPU");
  quick.beside_samples_per_s = 250;
  /* Beside the CPU, the device has the epoch of the same training, not that of its own one. */
  quick.beside_epoch = (DynoQuickEpoch){ 2400, 48 };
  quick.cpu_epoch = (DynoQuickEpoch){ 2400, 1200 };
  dyno_quick_card_show (DYNO_QUICK_CARD (card), &quick);
  g_autofree char *beside = parts_get_texts (card);
  g_assert_nonnull (strstr (beside, "The same on the device\n48 s"));
  g_assert_nonnull (strstr (beside, "\n12 s"));
  g_strlcpy (quick.device.name, "Card B", sizeof quick.device.name);
  quick.ceilings.matrix_flops_per_s = 0;
  quick.ceilings.single_flops_per_s = 50e9;
  quick.cores = 1;
  quick.amp = FALSE;
  quick.samples_per_s = (double) NAN;
  quick.cpu_samples_per_s = (double) NAN;
  g_ptr_array_set_size (quick.findings, 0);
  add_finding (&quick, DYNO_FINDING_NOTE, "It is small.");
  dyno_quick_card_show (DYNO_QUICK_CARD (card), &quick);
  parts_assert_says (card, "Quick Test of Card B");
  parts_assert_says (card, "224 × 224, by 1 core");
  parts_assert_says (card, "ResNet-18, fp32");
  parts_assert_says (card, "not measured");
  parts_assert_says (card, "50.0 GFLOP/s");
  parts_assert_says_not (card, "Arithmetic, 16 bit with matrix units");
  parts_assert_says_not (card, "Beside the CPU");
  parts_assert_says (card, "It is small.");
  parts_assert_says_not (card, "It is fast.");
  parts_assert_says_not (card, "It is hot.");
  g_ptr_array_set_size (quick.findings, 0);
  dyno_quick_card_show (DYNO_QUICK_CARD (card), &quick);
  parts_assert_says_not (card, "It is small.");
  g_autoptr (GPtrArray) lists = parts_find_all (card, GTK_TYPE_LIST_BOX);
  g_assert_cmpuint (lists->len, ==, 2);
  for (guint i = 0; i < 2; i++) /* there are facts, but no signs */
    g_assert_true (gtk_widget_get_visible (lists->pdata[i])
                   == (strcmp (atk_object_get_name (gtk_widget_get_accessible (lists->pdata[i])),
                               "What was measured")
                       == 0));
  g_ptr_array_unref (quick.findings);
  g_object_unref (card);
}

/* --- the search for the best model ------------------------------------------------------------ */

static void
make_space (DynoParamSpace *space)
{
  *space = (DynoParamSpace){ .n = 2 };
  dyno_settings_init (&space->own);
  space->own.lr = 0.05;
  space->params[0] = (DynoParam){ .key = "lr", .kind = DYNO_PARAM_LOG, .low = 0.1, .high = 10 };
  space->params[1] = (DynoParam){
    .key = "optimizer", .kind = DYNO_PARAM_CHOICE, .n_choices = 2, .choices = { "sgd", "adamw" }
  };
}

static void
add_trial (DynoAccuracyResult *r, double lr, guint n_done, double value)
{
  DynoAccuracyTrial trial = { .halving.n_done = n_done };

  dyno_settings_init (&trial.settings);
  trial.settings.lr = lr;
  for (guint i = 0; i < DYNO_HALVING_MOST_RUNGS; i++)
    trial.values[i] = i + 1 == n_done ? value : 0.01;
  g_array_append_val (r->trials, trial);
}

static DynoAccuracyResult *
new_result (void)
{
  DynoAccuracyResult *r = g_new0 (DynoAccuracyResult, 1);

  make_space (&r->space);
  dyno_metric_find ("accuracy", &r->metric);
  r->n_rungs = 3;
  r->rungs[0] = 1;
  r->rungs[1] = 3;
  r->rungs[2] = 9;
  r->trials = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyTrial));
  r->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  r->running = g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  add_trial (r, 0.05, 3, 0.90);
  add_trial (r, 0.1, 2, 0.85);
  add_trial (r, 0.02, 3, 0.921);
  return r;
}

/* The gain beside the best is the best's own, wherever it is among the contenders. */
static void
test_card_shows_the_gain_of_the_best (void)
{
  DynoAccuracyCard *card = g_object_ref_sink (g_object_new (DYNO_TYPE_ACCURACY_CARD, NULL));
  GtkWidget *widget = GTK_WIDGET (card);
  g_autoptr (DynoAccuracyResult) r = new_result ();

  dyno_accuracy_card_show (card, &r->space, r, -1);
  g_assert_false (gtk_widget_get_visible (widget));
  dyno_accuracy_card_show (card, &r->space, r, 1);
  parts_assert_says (widget, "Best so far");
  parts_assert_says (widget, "85.00 % after 3 epochs");
  parts_assert_says (widget, "Learning rate 0.1");
  parts_assert_says (widget, "90.00 % after 9 epochs");
  parts_assert_says (widget, "Learning rate 0.05");
  parts_assert_says_not (widget, "+3.00");
  r->text = g_strdup ("It is better.");
  r->verdict = DYNO_ACCURACY_PROVEN;
  r->best = 2;
  r->n_contenders = 2;
  r->contenders[0] =
      (DynoAccuracyContender){ .trial = 1, .gain = { .n = 3, .mean = 0.01, .half = 0.002 } };
  r->contenders[1] =
      (DynoAccuracyContender){ .trial = 2, .gain = { .n = 3, .mean = 0.03, .half = 0.004 } };
  dyno_accuracy_card_show (card, &r->space, r, 2);
  parts_assert_says (widget, "Best, proven on further seeds");
  parts_assert_says (widget, "+3.00");
  parts_assert_says (widget, "± 0.40 points");
  parts_assert_says (widget, "92.10 % after 9 epochs");
  parts_assert_says (widget, "It is better.");
  g_assert_true (dyno_accuracy_result_is_usable (r));
  r->contenders[1].gain.n = 2;
  dyno_accuracy_card_show (card, &r->space, r, 2);
  parts_assert_says (widget, "+3.00");
  /* A difference of one pair is no gain. */
  r->contenders[1].gain.n = 1;
  r->verdict = DYNO_ACCURACY_NOT_PROVEN;
  dyno_accuracy_card_show (card, &r->space, r, 2);
  parts_assert_says (widget, "Best so far, not proven");
  parts_assert_says_not (widget, "+3.00");
  parts_assert_says_not (widget, "+1.00");
  /* Where the user's settings stay, there is nothing to use, and nothing to compare them with. */
  r->verdict = DYNO_ACCURACY_KEEP;
  r->best = 0;
  dyno_accuracy_card_show (card, &r->space, r, 0);
  g_assert_false (dyno_accuracy_result_is_usable (r));
  parts_assert_says (widget, "Your settings stay");
  parts_assert_says (widget, "nothing is better");
  parts_assert_says (widget, "Learning rate 0.05, Optimizer SGD");
  parts_assert_says_not (widget, "Learning rate 0.02");
  g_autoptr (DynoAccuracyResult) alone = new_result ();
  alone->text = g_strdup ("There was no time.");
  alone->verdict = DYNO_ACCURACY_KEEP;
  g_array_set_size (alone->trials, 1);
  dyno_accuracy_card_show (card, &alone->space, alone, 0);
  parts_assert_says_not (widget, "nothing is better"); /* nothing else was tried */
  dyno_accuracy_card_show (card, &r->space, r, 0);
  /* A metric of which less is better: the gain is shown as a decrease. */
  dyno_metric_find ("mean_abs_error", &r->metric);
  r->verdict = DYNO_ACCURACY_PROVEN;
  r->best = 1;
  dyno_accuracy_card_show (card, &r->space, r, 1);
  parts_assert_says (widget, "−0.01");
  parts_assert_says (widget, "Best, proven on further seeds");
  g_object_unref (card);
}

static DynoAccuracyRun *
add_run (GPtrArray *runs, guint trial, gboolean final, guint64 from, guint64 to)
{
  DynoAccuracyRun *run = g_new0 (DynoAccuracyRun, 1);

  *run = (DynoAccuracyRun){ .trial = trial,
                            .final = final,
                            .seed = 7,
                            .from_epochs = from,
                            .epochs = to,
                            .at_once = 1,
                            .value = (double) NAN };
  dyno_settings_init (&run->settings);
  g_ptr_array_add (runs, run);
  return run;
}

static void
test_a_search_tells_its_present_run (void)
{
  g_autoptr (GPtrArray) runs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_accuracy_run_free);
  DynoAccuracyEvent event = { .type = DYNO_ACCURACY_EVENT_BEGIN };
  const struct {
    DynoAccuracyEventType type;
    guint trial, at_once;
    gboolean final;
    guint64 from, epoch;
    const char *preparing;
    guint n_prepared, n_to_prepare;
    const char *words;
  } rows[] = {
    { DYNO_ACCURACY_EVENT_BEGIN, 0, 1, FALSE, 0, 0, NULL, 0, 0, "Your settings: epoch 1 of 9" },
    { DYNO_ACCURACY_EVENT_BEGIN, 3, 1, FALSE, 3, 0, NULL, 0, 0, "Trial 3: epoch 4 of 9" },
    { DYNO_ACCURACY_EVENT_EPOCH, 3, 4, FALSE, 3, 5, NULL, 0, 0,
      "Trial 3, one of 4 at once: epoch 6 of 9" },
    { DYNO_ACCURACY_EVENT_EPOCH, 3, 1, FALSE, 3, 9, NULL, 0, 0, "Trial 3: epoch 9 of 9" },
    { DYNO_ACCURACY_EVENT_BEGIN, 0, 1, TRUE, 0, 0, NULL, 0, 0,
      "Final, your settings with seed 7: epoch 1 of 9" },
    { DYNO_ACCURACY_EVENT_BEGIN, 3, 1, TRUE, 0, 0, NULL, 0, 0,
      "Final, trial 3 with seed 7: epoch 1 of 9" },
    { DYNO_ACCURACY_EVENT_BEGIN, 1, 1, TRUE, 0, 0, NULL, 0, 0,
      "Final, trial 1 with seed 7: epoch 1 of 9" },
    { DYNO_ACCURACY_EVENT_PROGRESS, 2, 1, FALSE, 1, 0, NULL, 0, 0, "Trial 2: epoch 2 of 9" },
    { DYNO_ACCURACY_EVENT_PROGRESS, 2, 1, FALSE, 1, 0, "x", 0, 0, "Trial 2: x" },
    { DYNO_ACCURACY_EVENT_PROGRESS, 2, 1, FALSE, 1, 0, "x", 3, 12, "Trial 2: x (3 of 12)" },
    { DYNO_ACCURACY_EVENT_END, 2, 1, FALSE, 1, 0, NULL, 0, 0, NULL },
    { DYNO_ACCURACY_EVENT_WARNING, 2, 1, FALSE, 1, 0, NULL, 0, 0, NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      event.type = rows[i].type;
      event.run = add_run (runs, rows[i].trial, rows[i].final, rows[i].from, 9);
      event.run->at_once = rows[i].at_once;
      event.epoch = rows[i].epoch;
      event.preparing = rows[i].preparing;
      event.n_prepared = rows[i].n_prepared;
      event.n_to_prepare = rows[i].n_to_prepare;
      g_autofree char *words = dyno_accuracy_status_describe (&event);
      g_assert_cmpstr (words, ==, rows[i].words);
    }
  event.text = (char *) "It is slow.";
  g_autofree char *warning = dyno_accuracy_status_describe_warning (&event);
  event.run = NULL;
  g_autofree char *whole = dyno_accuracy_status_describe_warning (&event),
                  *nothing = dyno_accuracy_status_describe (&event);
  g_assert_cmpstr (warning, ==, "Trial 2: It is slow.");
  g_assert_cmpstr (whole, ==, "It is slow.");
  g_assert_null (nothing);
}

static void
test_stages_of_a_search_for_the_best_model (void)
{
  GtkWidget *box = g_object_ref_sink (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0));
  g_autoptr (DynoAccuracyResult) r = new_result ();
  DynoStageCells cells;

  gtk_widget_show (box);
  dyno_stage_cells_init (&cells, GTK_BOX (box));
  add_run (r->running, 3, FALSE, 0, 1);
  dyno_accuracy_status_show_stages (&cells, r);
  parts_assert_texts (box,
                      "✓ Your settings\n90.00 %\n● Search\n2 trials\n○ Final\n–\n○ Verdict\n–");
  g_ptr_array_set_size (r->running, 0);
  add_run (r->runs, 0, TRUE, 0, 9);
  add_run (r->runs, 2, TRUE, 0, 9);
  add_run (r->running, 0, TRUE, 0, 9);
  dyno_accuracy_status_show_stages (&cells, r);
  parts_assert_texts (
      box, "✓ Your settings\n90.00 %\n✓ Search\n2 trials\n● Final\n1 seed\n○ Verdict\n–");
  g_ptr_array_set_size (r->running, 0);
  r->text = g_strdup ("Kept.");
  r->verdict = DYNO_ACCURACY_NOT_PROVEN;
  dyno_accuracy_status_show_stages (&cells, r);
  parts_assert_says (box, "○ Verdict");
  parts_assert_says (box, "not proven");
  parts_assert_says (box, "✓ Final");
  r->verdict = DYNO_ACCURACY_KEEP;
  dyno_accuracy_status_show_stages (&cells, r);
  parts_assert_says (box, "✓ Verdict");
  parts_assert_says (box, "your settings stay");
  /* Another search in the same cells. */
  g_array_set_size (r->trials, 0);
  g_ptr_array_set_size (r->runs, 0);
  g_clear_pointer (&r->text, g_free);
  add_run (r->running, 0, FALSE, 0, 9);
  dyno_accuracy_status_show_stages (&cells, r);
  parts_assert_texts (box, "● Your settings\n–\n○ Search\n–\n○ Final\n–\n○ Verdict\n–");
  g_ptr_array_set_size (r->running, 0);
  add_trial (r, 0.05, 1, (double) NAN);
  g_array_index (r->trials, DynoAccuracyTrial, 0).halving.failed = TRUE;
  dyno_accuracy_status_show_stages (&cells, r);
  parts_assert_texts (box, "✗ Your settings\n–\n○ Search\n–\n○ Final\n–\n○ Verdict\n–");
  g_object_unref (box);
}

static DynoAccuracyRow
make_row (guint trial, guint64 epochs, double value, DynoAccuracyState state,
          const DynoSettings *settings)
{
  return (DynoAccuracyRow){ trial, epochs, value, state, 0.5, settings };
}

/* Rows follow their trials; the bold one moves with the best, also where nothing else changes. */
static void
test_the_table_follows_the_trials (void)
{
  GtkTreeView *list = GTK_TREE_VIEW (g_object_ref_sink (gtk_tree_view_new ()));
  DynoParamSpace space;
  DynoMetricInfo metric;
  DynoSettings other;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyRow));

  make_space (&space);
  dyno_metric_find ("accuracy", &metric);
  other = space.own;
  other.lr = 0.2;
  DynoAccuracyRow own = make_row (0, 9, 0.9, DYNO_ACCURACY_STATE_WHOLE, &space.own),
                  first = make_row (1, 1, (double) NAN, DYNO_ACCURACY_STATE_RUNNING, &other);
  g_array_append_val (rows, own);
  g_array_append_val (rows, first);
  dyno_accuracy_table_begin (list, &space, &metric);
  g_assert_cmpuint (gtk_tree_view_get_n_columns (list), ==, 6);
  g_assert_cmpstr (gtk_tree_view_column_get_title (gtk_tree_view_get_column (list, 1)), ==,
                   "Accuracy (%)");
  dyno_accuracy_table_set_rows (list, &space, &metric, rows, 9, 0);
  parts_assert_column (list, 0, "0\n1");
  parts_assert_column (list, 1, "90.00\n–");
  parts_assert_column (list, 2, "9 / 9\n1 / 9");
  parts_assert_column (list, 3, "Trained to the end\nRunning");
  parts_assert_column (list, 4, "700\n400");
  parts_assert_column (list, 7, "0.05\n0.2");
  parts_assert_column (list, 8, "SGD\nSGD");
  g_array_index (rows, DynoAccuracyRow, 1) =
      make_row (1, 3, 0.955, DYNO_ACCURACY_STATE_PROMISING, &other);
  dyno_accuracy_table_select (list, 1);
  dyno_accuracy_table_set_rows (list, &space, &metric, rows, 9, 1);
  parts_assert_column (list, 1, "90.00\n95.50");
  parts_assert_column (list, 3, "Trained to the end\nAmong the best third");
  parts_assert_column (list, 4, "400\n700");
  g_assert_cmpint (dyno_accuracy_table_get_selected (list), ==, 1);
  dyno_accuracy_table_set_rows (list, &space, &metric, rows, 9, -1);
  parts_assert_column (list, 4, "400\n400");
  g_array_index (rows, DynoAccuracyRow, 1).epochs = 5; /* its value is the same */
  dyno_accuracy_table_set_rows (list, &space, &metric, rows, 9, -1);
  parts_assert_column (list, 2, "9 / 9\n5 / 9");
  g_array_index (rows, DynoAccuracyRow, 1).state = DYNO_ACCURACY_STATE_HALVED;
  dyno_accuracy_table_set_rows (list, &space, &metric, rows, 9, -1);
  parts_assert_column (list, 3, "Trained to the end\nStopped early");
  dyno_accuracy_table_select (list, 0);
  g_assert_cmpint (dyno_accuracy_table_get_selected (list), ==, 0);
  dyno_accuracy_table_select (list, 7);
  g_assert_cmpint (dyno_accuracy_table_get_selected (list), ==, -1);
  /* A second search with fewer parameters and another metric. */
  space.n = 1;
  dyno_metric_find ("mean_abs_error", &metric);
  dyno_accuracy_table_begin (list, &space, &metric);
  g_assert_cmpuint (gtk_tree_view_get_n_columns (list), ==, 5);
  parts_assert_column (list, 0, "");
  g_array_set_size (rows, 1);
  g_array_index (rows, DynoAccuracyRow, 0).value = 2.5;
  dyno_accuracy_table_set_rows (list, &space, &metric, rows, 9, 0);
  parts_assert_column (list, 1, "2.5");
  g_object_unref (list);
}

static void
note_pointed (GtkWidget *plot, int trial, GString *trials)
{
  g_string_append_printf (trials, "%d ", trial);
}

static void
assert_described (GtkWidget *plot, const char *begin)
{
  const char *text = atk_object_get_description (gtk_widget_get_accessible (plot));

  if (!g_str_has_prefix (text, begin))
    g_error ("not “%s”, but “%s”", begin, text);
}

/* The keys go through all trials by their values, also through equal ones. */
static void
test_keys_go_through_equal_trials (void)
{
  GtkWidget *plot = g_object_new (DYNO_TYPE_ACCURACY_PLOT, NULL);
  GtkWidget *window = parts_show (plot, 400, 300);
  DynoAccuracyPlot *self = DYNO_ACCURACY_PLOT (plot);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (DynoAccuracyRow));
  g_autoptr (GString) trials = g_string_new (NULL);
  DynoParamSpace space;
  DynoMetricInfo metric;
  static const double values[] = { 0.8, 0.9, 0.9, (double) NAN, 0.7 };

  make_space (&space);
  dyno_metric_find ("accuracy", &metric);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      DynoAccuracyRow row = make_row (i, 9, values[i], DYNO_ACCURACY_STATE_WHOLE, &space.own);
      row.goodness = isnan (values[i]) ? (double) NAN : values[i];
      g_array_append_val (rows, row);
    }
  g_signal_connect (plot, "pointed", G_CALLBACK (note_pointed), trials);
  dyno_accuracy_plot_set_rows (self, &space, &metric, rows, 1);
  assert_described (plot, "5 trials. Trial 1:");
  g_assert_null (parts_get_tooltip (plot, 0, 0, TRUE));
  /* The pointer ends its highlight where it leaves; a failed run does not stay in the picture. */
  GdkEvent *leave = gdk_event_new (GDK_LEAVE_NOTIFY);
  leave->crossing.window = g_object_ref (gtk_widget_get_window (plot));
  gtk_window_set_focus (GTK_WINDOW (window), NULL);
  dyno_accuracy_plot_point (self, 4);
  assert_described (plot, "5 trials. Trial 4:");
  g_autofree char *key = parts_get_tooltip (plot, 0, 0, TRUE);
  g_assert_true (g_str_has_prefix (key, "Trial 4:"));
  gtk_widget_event (plot, leave);
  gdk_event_free (leave);
  g_assert_cmpstr (trials->str, ==, "-1 ");
  assert_described (plot, "5 trials. Trial 1:");
  g_string_truncate (trials, 0);
  g_autofree char *before = parts_draw (plot);
  g_array_index (rows, DynoAccuracyRow, 3).state = DYNO_ACCURACY_STATE_FAILED;
  dyno_accuracy_plot_set_rows (self, &space, &metric, rows, 1);
  g_autofree char *failed = parts_draw (plot);
  g_assert_cmpstr (failed, !=, before);
  g_array_index (rows, DynoAccuracyRow, 3).state = DYNO_ACCURACY_STATE_WHOLE;
  dyno_accuracy_plot_set_rows (self, &space, &metric, rows, 1);
  g_autofree char *after = parts_draw (plot);
  g_assert_cmpstr (after, ==, before);
  for (guint i = 0; i < 7; i++)
    parts_press (plot, GDK_KEY_Down);
  g_assert_cmpstr (trials->str, ==, "1 2 0 4 3 ");
  g_string_truncate (trials, 0);
  for (guint i = 0; i < 6; i++)
    parts_press (plot, GDK_KEY_Up);
  g_assert_cmpstr (trials->str, ==, "4 0 2 1 ");
  g_string_truncate (trials, 0);
  parts_press (plot, GDK_KEY_Escape);
  parts_press (plot, GDK_KEY_Home);
  g_assert_cmpstr (trials->str, ==, "-1 1 ");
  /* The highlight stays at its trial, and ends with it. */
  g_string_truncate (trials, 0);
  dyno_accuracy_plot_point (self, 4);
  g_assert_cmpstr (trials->str, ==, "");
  g_array_remove_index (rows, 0);
  dyno_accuracy_plot_set_rows (self, &space, &metric, rows, 1);
  parts_press (plot, GDK_KEY_Up);
  g_assert_cmpstr (trials->str, ==, "2 ");
  g_array_remove_index (rows, 1);
  dyno_accuracy_plot_set_rows (self, &space, &metric, rows, 1);
  parts_press (plot, GDK_KEY_Down);
  g_assert_cmpstr (trials->str, ==, "2 1 ");
  dyno_accuracy_plot_set_rows (self, NULL, NULL, NULL, -1);
  g_assert_cmpstr (atk_object_get_description (gtk_widget_get_accessible (plot)), ==, "");
  gtk_widget_destroy (window);
}

/* The chosen metric stays chosen while it is listed; a spin button shows 0 as a word. */
static void
test_the_form_keeps_its_metric (void)
{
  GtkComboBoxText *combo = GTK_COMBO_BOX_TEXT (g_object_ref_sink (gtk_combo_box_text_new ()));
  GtkSpinButton *spin =
      GTK_SPIN_BUTTON (g_object_ref_sink (gtk_spin_button_new_with_range (0, 9, 1)));
  g_autoptr (GArray) both = g_array_new (FALSE, FALSE, sizeof (DynoMetricInfo)),
                     one = g_array_new (FALSE, FALSE, sizeof (DynoMetricInfo)),
                     first = g_array_new (FALSE, FALSE, sizeof (DynoMetricInfo));
  DynoMetricInfo metric;

  dyno_metric_find ("accuracy", &metric);
  g_array_append_val (both, metric);
  g_array_append_val (first, metric);
  dyno_metric_find ("mean_abs_error", &metric);
  g_array_append_val (both, metric);
  g_array_append_val (one, metric);
  dyno_accuracy_form_fill_metrics (combo, both);
  g_assert_cmpstr (gtk_combo_box_get_active_id (GTK_COMBO_BOX (combo)), ==, "accuracy");
  gtk_combo_box_set_active (GTK_COMBO_BOX (combo), 1);
  dyno_accuracy_form_fill_metrics (combo, one);
  g_assert_cmpstr (gtk_combo_box_get_active_id (GTK_COMBO_BOX (combo)), ==, "mean_abs_error");
  dyno_accuracy_form_fill_metrics (combo, both);
  g_assert_cmpint (gtk_combo_box_get_active (GTK_COMBO_BOX (combo)), ==, 1);
  g_assert_true (gtk_widget_get_sensitive (GTK_WIDGET (combo)));
  dyno_accuracy_form_fill_metrics (combo, NULL);
  g_assert_false (gtk_widget_get_sensitive (GTK_WIDGET (combo)));
  g_assert_cmpint (gtk_combo_box_get_active (GTK_COMBO_BOX (combo)), ==, -1);
  g_assert_false (dyno_accuracy_form_has_same (both, one));
  g_assert_false (dyno_accuracy_form_has_same (first, both));
  g_assert_false (dyno_accuracy_form_has_same (both, first));
  g_assert_true (dyno_accuracy_form_has_same (both, both));
  g_assert_true (dyno_accuracy_form_has_same (NULL, NULL));
  g_assert_false (dyno_accuracy_form_has_same (NULL, one));
  gtk_spin_button_set_numeric (spin, FALSE);
  dyno_accuracy_form_count (spin);
  g_assert_cmpstr (gtk_entry_get_text (GTK_ENTRY (spin)), ==, "any");
  gtk_spin_button_set_value (spin, 3);
  g_assert_cmpstr (gtk_entry_get_text (GTK_ENTRY (spin)), ==, "3");
  gtk_entry_set_text (GTK_ENTRY (spin), "any");
  gtk_spin_button_update (spin);
  g_assert_cmpint (gtk_spin_button_get_value_as_int (spin), ==, 0);
  gtk_spin_button_set_value (spin, 3);
  gtk_entry_set_text (GTK_ENTRY (spin), "");
  gtk_spin_button_update (spin);
  g_assert_cmpint (gtk_spin_button_get_value_as_int (spin), ==, 0);
  g_assert_cmpstr (gtk_entry_get_text (GTK_ENTRY (spin)), ==, "any");
  gtk_entry_set_text (GTK_ENTRY (spin), "5");
  gtk_spin_button_update (spin);
  g_assert_cmpint (gtk_spin_button_get_value_as_int (spin), ==, 5);
  DynoAccuracyProspect prospect = { .metric = (char *) "accuracy", .n_trials = 1 };
  g_autofree char *single = dyno_accuracy_form_describe_earlier (&prospect);
  prospect.n_trials = 14;
  g_autofree char *several = dyno_accuracy_form_describe_earlier (&prospect);
  g_assert_cmpstr (single, ==, "Resumes the search of accuracy, which has 1 trial");
  g_assert_cmpstr (several, ==, "Resumes the search of accuracy, which has 14 trials");
  g_object_unref (combo);
  g_object_unref (spin);
}

static void
test_settings_of_a_trial_in_words (void)
{
  DynoParamSpace space;
  DynoSettings other;
  DynoMetricInfo degrees = { .name = "mean_abs_error",
                             .title = "Mean error",
                             .unit = "degrees",
                             .output = -1,
                             .format = DYNO_METRIC_NUMBER };

  make_space (&space);
  other = space.own;
  other.lr = 0.02;
  g_autofree char *same = dyno_accuracy_words_settings (&space, &space.own),
                  *none = dyno_accuracy_words_own (&space, &space.own),
                  *differs = dyno_accuracy_words_settings (&space, &other),
                  *own = dyno_accuracy_words_own (&space, &other),
                  *label = dyno_accuracy_words_metric (&degrees);
  g_assert_cmpstr (same, ==, "Your settings");
  g_assert_cmpstr (none, ==, "");
  g_assert_cmpstr (differs, ==,
                   "Learning rate\302\240"
                   "0.02");
  g_assert_cmpstr (own, ==,
                   "Learning rate\302\240"
                   "0.05");
  g_assert_cmpstr (label, ==, "Mean error (°)");
  DynoAccuracyRow row = make_row (4, 1, 0.5, DYNO_ACCURACY_STATE_HALVED, &other);
  DynoMetricInfo metric;
  dyno_metric_find ("accuracy", &metric);
  g_autofree char *words = dyno_accuracy_words_row (&space, &metric, &row);
  g_assert_cmpstr (words, ==,
                   "Trial 4: 50.00 % after 1 epoch. Stopped early. Learning rate\302\240"
                   "0.02");
  degrees.unit = "";
  g_autofree char *bare = dyno_accuracy_words_metric (&degrees);
  g_assert_cmpstr (bare, ==, "Mean error");
  g_autofree char *mix = dyno_accuracy_words_choice ("cutmix"),
                  *word = dyno_accuracy_words_choice ("2x"),
                  *number = dyno_accuracy_words_choice ("0.990"),
                  *yours = dyno_accuracy_words_choice ("own");
  g_assert_cmpstr (mix, ==, "CutMix");
  g_assert_cmpstr (number, ==, "0.99");
  g_assert_cmpstr (word, ==, "2x");
  g_assert_cmpstr (yours, ==, "Yours");
}

void
parts_add_tune (void)
{
  g_test_add_func ("/ui/parts/findings-name-what-was-measured",
                   test_findings_name_what_was_measured);
  g_test_add_func ("/ui/parts/losses-have-an-empty-bar", test_losses_have_an_empty_bar);
  g_test_add_func ("/ui/parts/trials-are-shares-of-the-fastest",
                   test_trials_are_shares_of_the_fastest);
  g_test_add_func ("/ui/parts/stages-show-the-highest-ceiling",
                   test_stages_show_the_highest_ceiling);
  g_test_add_func ("/ui/parts/a-quick-test-replaces-the-one-before",
                   test_a_quick_test_replaces_the_one_before);
  g_test_add_func ("/ui/parts/card-shows-the-gain-of-the-best",
                   test_card_shows_the_gain_of_the_best);
  g_test_add_func ("/ui/parts/a-search-tells-its-present-run", test_a_search_tells_its_present_run);
  g_test_add_func ("/ui/parts/stages-of-a-search-for-the-best-model",
                   test_stages_of_a_search_for_the_best_model);
  g_test_add_func ("/ui/parts/the-table-follows-the-trials", test_the_table_follows_the_trials);
  g_test_add_func ("/ui/parts/keys-go-through-equal-trials", test_keys_go_through_equal_trials);
  g_test_add_func ("/ui/parts/the-form-keeps-its-metric", test_the_form_keeps_its_metric);
  g_test_add_func ("/ui/parts/settings-of-a-trial-in-words", test_settings_of_a_trial_in_words);
}
