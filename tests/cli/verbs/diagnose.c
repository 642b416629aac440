/* SPDX-License-Identifier: MIT */
/* Diagnoses, the quick test, and scores of masks. */
#include "verbs.h"
#include "cli.h"
#include "diagnose.h"
#include "masks.h"
#include "metrics.h"
#include "quicktext.h"
#include "runfacts.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

/* --- quick ------------------------------------------------------------------------------------ */

static DynoQuick *quick;

static int
print_quick (int argc, char **argv)
{
  dyno_quick_print (quick, argc > 1);
  return 0;
}

static void
add_finding (GPtrArray *list, DynoFindingLevel level, const char *text, const char *action)
{
  DynoFinding *finding = g_new0 (DynoFinding, 1);

  finding->id = "an-id";
  finding->level = level;
  finding->check = DYNO_CHECK_AFTER;
  finding->text = g_strdup (text);
  finding->action = g_strdup (action);
  finding->key = action ? "workers" : NULL;
  finding->value = g_strdup (action ? "4" : NULL);
  g_ptr_array_add (list, finding);
}

/* Each measurement has its own line and unit; what was not measured says so or has no line. */
static void
test_quick (void)
{
  g_autoptr (GError) error = NULL;

  quick = dyno_quick_new ();
  g_strlcpy (quick->device.name, "Card", sizeof quick->device.name);
  quick->workload = g_strdup ("a workload");
  quick->cores = 2;
  verbs_check (print_quick, "quick",
               "Card\n"
               "memory copy    not measured\n"
               "fp32           not measured\n"
               "samples made   not measured by 2 cores, 224 x 224\n"
               "training       not measured: a workload, fp32\n"
               "predicting     not measured\n"
               "\n"
               "\n"
               "0 s; dynoctl tune finds the settings for your own data\n"
               "= 0\n");
  verbs_check (
      print_quick, "quick --json",
      "{\"device\": \"Card\", \"software\": false, \"copy_gb_per_s\": null, "
      "\"fp32_tflop_per_s\": null, \"matrix_tflop_per_s\": null, \"cores\": 2, "
      "\"loader_samples_per_s\": null, \"workload\": \"a workload\", \"amp\": false, "
      "\"samples_per_s\": null, \"step_ms\": null, \"vram_bytes\": 0, \"cpu\": null, "
      "\"cpu_samples_per_s\": null, \"beside_samples_per_s\": null, \"epoch\": "
      "{\"predict_samples_per_s\": null, \"epoch_s\": null, \"epoch_samples\": 0}, "
      "\"cpu_epoch\": {\"predict_samples_per_s\": null, \"epoch_s\": null, "
      "\"epoch_samples\": 0}, \"beside_epoch\": {\"predict_samples_per_s\": null, "
      "\"epoch_s\": null, \"epoch_samples\": 0}, \"preset\": null, \"expected_least\": null, "
      "\"expected_most\": null, \"seconds\": 0, \"findings\": []}\n"
      "= 0\n");
  quick->device.type = DYNO_DEVICE_TYPE_SOFTWARE;
  quick->ceilings.copy_bytes_per_s = 1.5e9;
  quick->ceilings.single_flops_per_s = 9.9e10;
  quick->ceilings.matrix_flops_per_s = 1e11;
  quick->cores = 1;
  quick->loader_samples_per_s = 12.5;
  quick->amp = TRUE;
  quick->samples_per_s = 123;
  quick->step_ms = 4;
  quick->vram_bytes = 5;
  quick->cpu_name = g_strdup ("A CPU");
  quick->cpu_samples_per_s = 6;
  quick->beside_samples_per_s = 7;
  quick->epoch = (DynoQuickEpoch){ 8, 9 };
  quick->n_train = 1000;
  quick->cpu_epoch = (DynoQuickEpoch){ 11, 12 };
  quick->beside_epoch = (DynoQuickEpoch){ 13, 0 };
  quick->n_beside = 1843;
  quick->preset = dyno_preset_find ("t4", NULL, &error);
  g_assert_no_error (error);
  quick->expected_least = 14;
  quick->expected_most = 15;
  quick->seconds = 16.4;
  add_finding (quick->findings, DYNO_FINDING_GOOD, "Good.", NULL);
  add_finding (quick->findings, DYNO_FINDING_NOTE, "A note.", "Do nothing.");
  add_finding (quick->findings, DYNO_FINDING_WARNING, "A warning.", "Do this.");
  add_finding (quick->findings, DYNO_FINDING_PROBLEM, "A problem.", "Do that.");
  verbs_check (print_quick, "quick",
               "Card (software, slow)\n"
               "memory copy    1.5 GB/s\n"
               "fp32           99.0 GFLOP/s\n"
               "fp16, matrix   0.1 TFLOP/s\n"
               "samples made   12.5 samples/s by 1 core, 224 x 224\n"
               "training       123 samples/s: a workload, AMP\n"
               "predicting     8 samples/s, and 9 s an epoch of 1,000 samples\n"
               "on the CPU     6 samples/s by A CPU, 7 samples/s by the device: SimpleCNN 32 "
               "x 32, fp32\n"
               "  predicting   11.0 samples/s, and 12 s an epoch of 1,843 samples\n"
               "  the device   13.0 samples/s\n"
               "expected       14-15 samples/s (preset t4, its guides' networks)\n"
               "\n"
               "+  Good.\n"
               "   A note.\n"
               "     Do nothing.\n"
               "!  A warning.\n"
               "     Do this.\n"
               "!! A problem.\n"
               "     Do that.\n"
               "\n"
               "16 s; dynoctl tune finds the settings for your own data\n"
               "= 0\n");
  verbs_check (
      print_quick, "quick --json",
      "{\"device\": \"Card\", \"software\": true, \"copy_gb_per_s\": 1.5, "
      "\"fp32_tflop_per_s\": 0.099, \"matrix_tflop_per_s\": 0.1, \"cores\": 1, "
      "\"loader_samples_per_s\": 12.5, \"workload\": \"a workload\", \"amp\": true, "
      "\"samples_per_s\": 123, \"step_ms\": 4, \"vram_bytes\": 5, \"cpu\": \"A CPU\", "
      "\"cpu_samples_per_s\": 6, \"beside_samples_per_s\": 7, \"epoch\": "
      "{\"predict_samples_per_s\": 8, \"epoch_s\": 9, \"epoch_samples\": 1000}, "
      "\"cpu_epoch\": {\"predict_samples_per_s\": 11, \"epoch_s\": 12, \"epoch_samples\": "
      "1843}, \"beside_epoch\": {\"predict_samples_per_s\": 13, \"epoch_s\": 0, "
      "\"epoch_samples\": 1843}, \"preset\": \"t4\", \"expected_least\": 14, "
      "\"expected_most\": 15, \"seconds\": 16.4, \"findings\": [{\"id\": \"an-id\", \"level\": "
      "\"good\", \"text\": \"Good.\", \"action\": null}, {\"id\": \"an-id\", \"level\": \"note\", "
      "\"text\": \"A note.\", \"action\": \"Do nothing.\"}, {\"id\": \"an-id\", \"level\": "
      "\"warning\", \"text\": \"A warning.\", \"action\": \"Do this.\"}, {\"id\": \"an-id\", "
      "\"level\": \"problem\", \"text\": \"A problem.\", \"action\": \"Do that.\"}]}\n"
      "= 0\n");
  dyno_quick_free (quick);
}

/* --- diagnose --------------------------------------------------------------------------------- */

static void
write_run (const char *path, const DynoRunFacts *facts)
{
  const DynoMetricTable table = { .n = 1,
                                  .infos = { { .name = "accuracy",
                                               .title = "Accuracy",
                                               .unit = "",
                                               .higher_is_better = TRUE,
                                               .format = DYNO_METRIC_FRACTION } } };
  g_autofree char *csv = g_build_filename (path, "metrics.csv", NULL);
  g_autoptr (DynoMetrics) metrics = dyno_metrics_new ();
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (path, 0700);
  dyno_metrics_set_table (metrics, &table);
  for (guint64 i = 1; i <= 100; i++)
    {
      const DynoStepMetrics step = { .step = i,
                                     .epoch = 1 + (i - 1) / 50,
                                     .loss = 1 / (double) i,
                                     .metrics = { 0.5 },
                                     .lr = 0.1,
                                     .samples_per_s = i == 1 ? 0 : 400,
                                     .step_ms = 20,
                                     .wait_data_ms = 8,
                                     .upload_ms = 1,
                                     .forward_ms = 3,
                                     .backward_ms = 5,
                                     .optimizer_ms = 2,
                                     .grad_norm = 1,
                                     .loss_scale = 1,
                                     .vram_bytes = 1000,
                                     .seconds = 0.02 * (double) i,
                                     .samples = 8 };
      const DynoEpochMetrics epoch = { .epoch = step.epoch,
                                       .step = i,
                                       .train_loss = step.loss,
                                       .train_metrics = { 0.5 },
                                       .val_loss = 0.5,
                                       .val_metrics = { 0.5 },
                                       .samples_per_s = 400,
                                       .seconds = 1.5,
                                       .validation_seconds = 0.25,
                                       .saving_seconds = 0.125 };

      dyno_metrics_add_step (metrics, &step);
      if (i % 50 == 0)
        dyno_metrics_add_epoch (metrics, &epoch);
    }
  g_assert_true (dyno_metrics_write_csv (metrics, csv, &error));
  g_assert_no_error (error);
  if (facts)
    g_assert_true (dyno_run_facts_write (path, facts, &error));
  g_assert_no_error (error);
}

/* The phases of a run and their shares, its ceilings and findings, of one rank and of several. */
static void
test_diagnose (void)
{
#define DIAGNOSE(line, expected) verbs_check (dyno_verb_diagnose, "diagnose " line, expected)
  static const DynoRunFacts facts = { .model = "mlp",
                                      .timestamps = TRUE,
                                      .n_train = 400,
                                      .n_validation = 40,
                                      .steps_per_epoch = 50,
                                      .batch_size = 8,
                                      .accumulate = 1,
                                      .parts = 1,
                                      .ranks = 2,
                                      .hosts = 1,
                                      .exchange_wait_ms = 1.5,
                                      .exchange_sum_ms = 2,
                                      .state = DYNO_SESSION_FINISHED };
  g_autofree char *one = g_build_filename (verbs_folder, "one", NULL),
                  *two = g_build_filename (verbs_folder, "two", NULL);

  write_run (one, NULL);
  write_run (two, &facts);
  DIAGNOSE ("--run $/one --state-dir $",
            "No setting stands out that should be changed; most of a step, 40 %, is "
            "computing\n"
            "\n"
            "training        400 samples/s\n"
            "loader ceiling  not known\n"
            "device ceiling  800 samples/s   (estimated from this run)\n"
            "\n"
            "phase          ms per step    share\n"
            "wait for data        8.000   31.9 %\n"
            "copy                 1.000    4.0 %\n"
            "forward              3.000   12.0 %\n"
            "backward             5.000   20.0 %\n"
            "optimizer            2.000    8.0 %\n"
            "validation           5.051   20.2 %\n"
            "saving               0.000    0.0 %\n"
            "idle                 1.000    4.0 %\n"
            "step                25.051  100.0 %\n"
            "\n"
            "in the run\n"
            "   Why not 100 %? The device computes in 40 % of the 25.1 ms that a step "
            "takes with its share of the epoch's end; the rest is 32 % waiting for data, "
            "4.0 % copies, 20 % validation, 4.0 % idle between steps\n"
            "+  Steps (20.0 ms) and device memory (0.98 KiB) stayed as they were\n"
            "\n"
            "after the run\n"
            "+  It learns: the training loss fell from 1 to 0.01\n"
            "= 0\n");
  DIAGNOSE ("--run $/two --state-dir $",
            "No setting stands out that should be changed; most of a step, 40 %, is "
            "computing\n"
            "\n"
            "training        400 samples/s\n"
            "loader ceiling  not known\n"
            "device ceiling  800 samples/s   (estimated from this run)\n"
            "exchange        4,000 samples/s   (estimated from this run)\n"
            "\n"
            "phase          ms per step    share\n"
            "wait for data        8.000   31.9 %\n"
            "copy                 0.500    2.0 %\n"
            "forward              3.000   12.0 %\n"
            "backward             5.000   20.0 %\n"
            "optimizer            2.000    8.0 %\n"
            "exchange             1.500    6.0 %\n"
            "validation           5.051   20.2 %\n"
            "saving               0.000    0.0 %\n"
            "idle                 0.000    0.0 %\n"
            "step                25.051  100.0 %\n"
            "\n"
            "in the run\n"
            "   Why not 100 %? The device computes in 40 % of the 25.1 ms that a step "
            "takes with its share of the epoch's end; the rest is 32 % waiting for data, "
            "2.0 % copies, 6.0 % exchange with other ranks, 20 % validation\n"
            "+  Steps (20.0 ms) and device memory (0.98 KiB) stayed as they were\n"
            "\n"
            "after the run\n"
            "+  It learns: the training loss fell from 1 to 0.01\n"
            "= 0\n");
  DIAGNOSE ("--run $/two --state-dir $ --checklist",
            "before the run\n"
            "[ ] The settings were not recorded\n"
            "      Keep the folder of a run (train --out), in which settings.ini is the "
            "first file\n"
            "[ ] No search has measured which batch size is the fastest here\n"
            "      dynoctl tune measures rate and memory of each\n"
            "[ ] The rate of the data pipeline was not measured without the device\n"
            "      dynoctl bench --loader measures it for each number of workers, dynoctl "
            "tune as well\n"
            "[?] The fastest precision of the device is unknown\n"
            "      Try amp=true; dynoctl tune compares speed and numbers\n"
            "[?] The memory of the run was not planned\n"
            "      dynoctl plan shows it by component; a smaller batch_size or "
            "checkpointing=true takes less\n"
            "[x] Samples kept for validation: 40\n"
            "[?] The governor of the CPU's clocks is unknown\n"
            "      For the length of a run, as root: cpupower frequency-set -g performance\n"
            "[?] It is unknown whether the driver stays loaded\n"
            "      See nvidia-smi -q | grep Persistence; as root: nvidia-smi -pm 1\n"
            "[?] It is unknown whether other programs use the device: the driver does not "
            "report it\n"
            "      Switch desktop effects off or close the session, end other programs, or "
            "put the screen on another device\n"
            "\n"
            "in the run\n"
            "[?] The utilisation of the device is unknown\n"
            "      The verdict of dynoctl diagnose names the cause\n"
            "[?] It is unknown whether the device waits for data\n"
            "      More workers, cache=true, or dynoctl convert, which packs the data into "
            "one file\n"
            "[?] The power limit is unknown\n"
            "      nvidia-smi -q -d POWER reports whether it may be raised (nvidia-smi "
            "-pl, as root)\n"
            "[?] The temperature is unknown\n"
            "      Check fans, dust and the airflow of the case; dynoctl sensors shows it\n"
            "[x] Steps stayed as fast as they were\n"
            "[x] Device memory stayed as it was\n"
            "\n"
            "after the run\n"
            "[x] The run has come to its end\n"
            "[x] The training loss fell: it learns\n"
            "[x] The validation loss follows the training loss\n"
            "= 0\n");
  DIAGNOSE ("--run $/none", "dynoctl: “$/none” holds no metrics.csv of a run: name the folder that "
                            "training wrote into\n"
                            "= 3\n");
  DIAGNOSE ("", "diagnose: which run? Name its folder with --run DIR\n"
                "Try 'diagnose --help'.\n"
                "= 2\n");
#undef DIAGNOSE
}

static void
finding_free (gpointer data)
{
  DynoFinding *finding = data;

  g_free (finding->text);
  g_free (finding->action);
  g_free (finding->value);
  g_free (finding);
}

static DynoDiagnosis diagnosis;

static int
print_diagnosis (int argc, char **argv)
{
  dyno_diagnosis_print (&diagnosis);
  return 0;
}

/* The line at the end of a run has the first of the worst findings, and none that the verdict has
 * already. */
static void
test_diagnosis (void)
{
  g_autoptr (GPtrArray) findings = g_ptr_array_new_with_free_func (finding_free);

  diagnosis.verdict = (char *) "The verdict: a problem.";
  diagnosis.findings = findings;
  add_finding (findings, DYNO_FINDING_NOTE, "A note.", NULL);
  verbs_check (print_diagnosis, "diagnosis",
               "diagnosis: The verdict: a problem.\n"
               "= 0\n");
  add_finding (findings, DYNO_FINDING_WARNING, "A warning.", NULL);
  add_finding (findings, DYNO_FINDING_WARNING, "Another warning.", NULL);
  verbs_check (print_diagnosis, "diagnosis",
               "diagnosis: The verdict: a problem.\n"
               "  warning: A warning.\n"
               "= 0\n");
  add_finding (findings, DYNO_FINDING_PROBLEM, "The verdict", NULL);
  verbs_check (print_diagnosis, "diagnosis",
               "diagnosis: The verdict: a problem.\n"
               "  warning: A warning.\n"
               "= 0\n");
  add_finding (findings, DYNO_FINDING_PROBLEM, "A problem.", NULL);
  verbs_check (print_diagnosis, "diagnosis",
               "diagnosis: The verdict: a problem.\n"
               "  problem: A problem.\n"
               "= 0\n");
}

/* --- scores of masks -------------------------------------------------------------------------- */

static DynoMaskScores *mask_scores;
static DynoDataset *mask_data;

static int
print_masks (int argc, char **argv)
{
  static char *names[] = { (char *) "ground", (char *) "sky", NULL };
  const DynoWeightsInfo info = { .model = (char *) "unet",
                                 .n_outputs = mask_scores->n_outputs,
                                 .class_names = names };

  dyno_mask_scores_print (mask_scores, &info, mask_data, "validation", 2, argc > 1);
  return 0;
}

/* Every figure of two classes, one of which no mask has, and of no sample at all. */
static void
test_masks (void)
{
  guint64 confusion[] = { 60, 20, 0, 0 }, there[] = { 80, 0 }, predicted[] = { 60, 20 },
          right[] = { 60, 0 };
  g_autoptr (GArray) worst = g_array_new (FALSE, FALSE, sizeof (DynoMaskScored));
  const DynoMaskScored rows[] = { { 1, 0.25, 0.5, 3 }, { 0, (double) NAN, (double) NAN, 9 } };
  DynoMaskScores scores = { .n_outputs = 2,
                            .width = 8,
                            .height = 6,
                            .n_samples = 3,
                            .n_unreadable = 1,
                            .n_ignored = 7,
                            .confusion = confusion,
                            .counts = { 2, there, predicted, right },
                            .worst = worst };

  mask_data = dyno_dataset_open ("builtin:masks?size=8&samples=2", NULL, NULL, NULL, NULL, NULL);
  mask_scores = &scores;
  verbs_check (print_masks, "masks",
               "unet on masks: 3 samples in 2.0 s, 1.5 samples/s; 1 could not be read\n"
               "mean IoU 37.5 %, mean Dice 42.9 %, pixel accuracy 75.0 %; at 8 x 6 pixels\n"
               "\n"
               "class    pixels     IoU    Dice  precision  recall\n"
               "ground  100.0 %  75.0 %  85.7 %    100.0 %  75.0 %\n"
               "sky       0.0 %   0.0 %   0.0 %      0.0 %       -\n"
               "\n"
               "confusion matrix: a row per true class, with the percentage of its pixels "
               "that each class was predicted for\n"
               "   75.0   25.0  ground\n"
               "      -      -  sky\n"
               "= 0\n");
  g_array_append_vals (worst, rows, 2);
  verbs_check (print_masks, "masks",
               "unet on masks: 3 samples in 2.0 s, 1.5 samples/s; 1 could not be read\n"
               "mean IoU 37.5 %, mean Dice 42.9 %, pixel accuracy 75.0 %; at 8 x 6 pixels\n"
               "\n"
               "class    pixels     IoU    Dice  precision  recall\n"
               "ground  100.0 %  75.0 %  85.7 %    100.0 %  75.0 %\n"
               "sky       0.0 %   0.0 %   0.0 %      0.0 %       -\n"
               "\n"
               "confusion matrix: a row per true class, with the percentage of its pixels "
               "that each class was predicted for\n"
               "   75.0   25.0  ground\n"
               "      -      -  sky\n"
               "\n"
               "worst: #1, mean IoU 25.0 %, pixel accuracy 50.0 %\n"
               "worst: #0, mean IoU -, pixel accuracy -\n"
               "= 0\n");
  verbs_check (
      print_masks, "masks --json",
      "{\"event\": \"evaluation\", \"model\": \"unet\", \"data\": "
      "\"builtin:masks?size=8&samples=2\", \"part\": \"validation\", \"samples\": 3, "
      "\"unreadable\": 1, \"seconds\": 2, \"mean_iou\": 0.375, \"mean_dice\": "
      "0.42857142857142855, \"pixel_accuracy\": 0.75, \"ignored_pixels\": 7, \"classes\": "
      "[{\"class\": \"ground\", \"pixels\": 80, \"iou\": 0.75, \"dice\": 0.8571428571428571, "
      "\"precision\": 1, \"recall\": 0.75}, {\"class\": \"sky\", \"pixels\": 0, \"iou\": 0, "
      "\"dice\": 0, \"precision\": 0, \"recall\": null}], \"confusion\": [[60, 20], [0, 0]], "
      "\"worst\": [{\"sample\": \"#1\", \"index\": 1, \"mean_iou\": 0.25, \"pixel_accuracy\": "
      "0.5}, {\"sample\": \"#0\", \"index\": 0, \"mean_iou\": null, \"pixel_accuracy\": null}]}\n"
      "= 0\n");
  scores.n_samples = 0;
  verbs_check (print_masks, "masks",
               "unet on masks: 0 samples in 2.0 s, 0 samples/s; 1 could not be read\n"
               "= 0\n");
  dyno_dataset_unref (mask_data);
}

void
verbs_add_diagnose (void)
{
  g_test_add_func ("/cli/verbs/quick", test_quick);
  g_test_add_func ("/cli/verbs/diagnose", test_diagnose);
  g_test_add_func ("/cli/verbs/diagnosis", test_diagnosis);
  g_test_add_func ("/cli/verbs/masks", test_masks);
}
