/* SPDX-License-Identifier: MIT */
/* Verbs of dynoctl without a device, by their whole output: no line, column or member may change
 * unnoticed. */
#include "cli.h"
#include "devicetext.h"
#include "diagnose.h"
#include "expected.h"
#include "file.h"
#include "masks.h"
#include "metrics.h"
#include "outfolder.h"
#include "output.h"
#include "predict-options.h"
#include "quicktext.h"
#include "runfacts.h"
#include "sensortext.h"
#include "store.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BEGIN_US (G_GINT64_CONSTANT (1700000000) * G_USEC_PER_SEC) /* 2023-11-14 22:13:20 UTC */

static char *folder; /* of all files of this test, and of the history */

/* --- the output of a verb --------------------------------------------------------------------- */

typedef int (*Verb) (int argc, char **argv);

/* Runs a verb with the words of line, in which “|” stands for a blank within a word, “~” for nothing
 * and “$” for the folder.  Returns all that it prints, on both streams, and its exit code in the
 * last line. */
static char *
run (Verb verb, const char *line)
{
  g_autofree char *whole = g_strstrip (g_strdup (line));
  g_auto (GStrv) words = g_strsplit (whole, " ", -1);
  guint n = g_strv_length (words);
  g_autofree char **argv = g_new0 (char *, n + 1);
  g_autoptr (GRegex) log = g_regex_new ("^# .*\n", G_REGEX_MULTILINE, 0, NULL);
  g_autofree char *path = g_build_filename (folder, "output", NULL), *text = NULL, *own = NULL;
  GString *shown;
  int code, out = dup (STDOUT_FILENO), err = dup (STDERR_FILENO),
            file = open (path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);

  for (guint i = 0; i < n; i++)
    {
      GString *word = g_string_new (words[i]);

      g_string_replace (word, "|", " ", 0);
      g_string_replace (word, "~", "", 0);
      g_string_replace (word, "$", folder, 0);
      g_free (words[i]);
      argv[i] = words[i] = g_string_free (word, FALSE); /* options are taken out of argv */
    }
  dyno_out_flush ();
  g_assert_true (out >= 0 && err >= 0 && file >= 0);
  g_assert_true (dup2 (file, STDOUT_FILENO) >= 0 && dup2 (file, STDERR_FILENO) >= 0);
  code = verb ((int) n, argv);
  dyno_out_flush ();
  (void) fflush (stderr);
  g_assert_true (dup2 (out, STDOUT_FILENO) >= 0 && dup2 (err, STDERR_FILENO) >= 0);
  close (file);
  close (out);
  close (err);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_unlink (path);
  own = g_regex_replace_literal (log, text, -1, 0, "", 0, NULL); /* without messages of GLib's */
  shown = g_string_new (own);
  g_string_replace (shown, folder, "$", 0);
  g_string_append_printf (shown, "= %d\n", code);
  return g_string_free (shown, FALSE);
}

static void
check (Verb verb, const char *line, const char *expected)
{
  g_autofree char *text = run (verb, line);

  if (strcmp (text, expected) != 0)
    g_test_message ("%s\n%s", line, text);
  g_assert_cmpstr (text, ==, expected);
}

/* --- runs ------------------------------------------------------------------------------------- */

static void
put_whole_run (DynoStore *store)
{
  g_autoptr (DynoStoredRun) one = dyno_stored_run_new ();
  const DynoEpochMetrics epochs[] = {
    { .epoch = 1,
      .step = 100,
      .train_loss = 1.5,
      .train_metrics = { 0.25 },
      .val_loss = 0.75,
      .val_metrics = { 0.5 },
      .samples_per_s = 1000,
      .seconds = 4.5 },
    { .epoch = 2,
      .step = 200,
      .train_loss = 0.5,
      .train_metrics = { 0.625 },
      .val_loss = (double) NAN,
      .val_metrics = { (double) NAN },
      .samples_per_s = 50,
      .seconds = 75 },
  };

  one->uid = 11;
  one->name = g_strdup ("night");
  one->model = g_strdup ("resnet18");
  one->data = g_strdup ("/data/images?a=1");
  one->preset = g_strdup ("t4");
  one->settings.lr = 0.25;
  one->settings.epochs = 3;
  one->settings.seed = 7;
  one->max_steps = 200;
  one->fingerprint = 0xabc;
  one->n_train = 900;
  one->n_validation = 100;
  one->n_test = 50;
  one->device = g_strdup ("A card");
  one->driver = g_strdup ("a driver 1.2");
  one->folder = g_strdup ("/runs/a");
  one->begin_us = BEGIN_US;
  one->state = DYNO_RUN_STATE_FINISHED;
  one->steps = 200;
  one->epochs = 2;
  one->seconds = 125;
  one->preparation_seconds = 3.5;
  one->loss = 0.25;
  one->metric = g_strdup ("accuracy");
  one->metric_is_fraction = TRUE;
  one->best_metric = 0.875;
  one->best_val_loss = 0.5;
  one->best_epoch = 1;
  one->test_metric = 0.75;
  one->test_loss = 0.625;
  one->samples_per_s = 1234;
  one->planned_bytes = 3u << 20;
  one->vram_bytes = 5u << 20;
  g_assert_true (dyno_store_put_run (store, one, epochs, G_N_ELEMENTS (epochs), NULL));
}

/* A run of which only what it must have is known. */
static void
put_bare_run (DynoStore *store, DynoRunState state)
{
  g_autoptr (DynoStoredRun) one = dyno_stored_run_new ();

  one->uid = 22;
  one->model = g_strdup ("mlp");
  one->data = g_strdup ("builtin:shapes?size=16");
  one->settings.lr = 0.5;
  one->begin_us = BEGIN_US + 60 * G_USEC_PER_SEC;
  one->seen_us = BEGIN_US;
  one->state = state;
  one->error = g_strdup ("it broke");
  one->n_train = 3;
  one->n_validation = 1;
  one->steps = 1;
  one->epochs = 1;
  g_assert_true (dyno_store_put_run (store, one, NULL, 0, NULL));
}

/* A history of two runs: one of which all is known, and one of which little is known. */
static void
test_runs (void)
{
#define RUNS(line, expected) check (dyno_verb_runs, "dynoctl|runs " line " --state-dir $", expected)
  g_autofree char *path = g_build_filename (folder, "history.sqlite", NULL), *shown = NULL;
  const char *epochs;
  g_autoptr (DynoStore) store = NULL;

  RUNS ("list", "dynoctl runs: no runs yet; runs --searches lists the searches of tune\n"
                "= 0\n");
  store = dyno_store_open (path, NULL);
  g_assert_nonnull (store);
  put_whole_run (store);
  put_bare_run (store, DYNO_RUN_STATE_FAILED);
  RUNS ("list", "id             begun  name                   model     data            state  "
                "           epochs  best              samples/s  time\n"
                " 2  2023-11-14 22:14  mlp on builtin:shapes  mlp       builtin:shapes  failed "
                "                1  -                         -     -\n"
                " 1  2023-11-14 22:13  night                  resnet18  images          "
                "stopped as asked       2  accuracy 87.50 %      1,234  2:05\n"
                "= 0\n");
  RUNS ("list --limit 1",
        "id             begun  name                   model  data            state   "
        "epochs  best  samples/s  time\n"
        " 2  2023-11-14 22:14  mlp on builtin:shapes  mlp    builtin:shapes  failed    "
        "   1     -          -     -\n"
        "= 0\n");
  RUNS ("list --data images",
        "id             begun  name   model     data    state             epochs  best "
        "             samples/s  time\n"
        " 1  2023-11-14 22:13  night  resnet18  images  stopped as asked       2  "
        "accuracy 87.50 %      1,234  2:05\n"
        "= 0\n");
  RUNS ("list --model none",
        "dynoctl runs: no runs match; runs --searches lists the searches of tune\n"
        "= 0\n");
  RUNS ("list --searches --model mlp",
        "dynoctl runs: --searches lists all of them; leave out --model and --data\n"
        "Try 'dynoctl runs --help'.\n"
        "= 2\n");
  RUNS ("show 1", "run 1  night, stopped as asked, begun 2023-11-14 22:13\n"
                  "model     resnet18 on /data/images?a=1 (900 + 100 + 50 samples, fingerprint "
                  "0000000000000abc)\n"
                  "device    A card, a driver 1.2\n"
                  "settings  epochs=3, lr=0.25, seed=7\n"
                  "trained   200 steps, 2 epochs in 2:05 (and 3.5 s before), 1,234 samples/s\n"
                  "asked     to stop at step 200, before its 3 epochs were over; resume with: "
                  "dynoctl train --resume /runs/a\n"
                  "best      accuracy 87.50 % (epoch 1)\n"
                  "test      accuracy 75.00 %, loss 0.6250 on 50 samples that the training has "
                  "not seen\n"
                  "memory    3.00 MiB planned, 5.00 MiB used\n"
                  "folder    /runs/a\n"
                  "\n"
                  "epoch  step    loss  validation loss  accuracy  samples/s  seconds\n"
                  "    1   100  1.5000           0.7500   50.00 %      1,000    4.5 s\n"
                  "    2   200  0.5000                -         -       50.0     1:15\n"
                  "= 0\n");
  RUNS ("show 2", "run 2  mlp on builtin:shapes, failed, begun 2023-11-14 22:14\n"
                  "error     it broke\n"
                  "model     mlp on builtin:shapes?size=16 (3 + 1 sample, fingerprint "
                  "0000000000000000)\n"
                  "device    none was opened\n"
                  "settings  lr=0.5\n"
                  "trained   1 step, 1 epoch in - (and - before), - samples/s\n"
                  "memory    0 B planned, 0 B used\n"
                  "folder    nothing is kept\n"
                  "= 0\n");
  shown = run (dyno_verb_runs, "dynoctl|runs show 1 --json --state-dir $");
  epochs = strstr (shown, "\"epoch_list\": ");
  g_assert_cmpstr (
      epochs, ==,
      "\"epoch_list\": [{\"epoch\": 1, \"step\": 100, \"train_loss\": 1.5, \"val_loss\": 0.75, "
      "\"train_metric\": 0.25, \"val_metric\": 0.5, \"samples_per_s\": 1000, \"seconds\": 4.5}, "
      "{\"epoch\": 2, \"step\": 200, \"train_loss\": 0.5, \"val_loss\": null, \"train_metric\": "
      "0.625, \"val_metric\": null, \"samples_per_s\": 50, \"seconds\": 75}]}\n= 0\n");
  RUNS ("compare 1 2", "                 run 1                          run 2\n"
                       "name             night                          mlp on builtin:shapes\n"
                       "model            resnet18                       mlp\n"
                       "data             /data/images?a=1               builtin:shapes?size=16\n"
                       "fingerprint      0000000000000abc               0000000000000000\n"
                       "device           A card                         -\n"
                       "driver           a driver 1.2                   -\n"
                       "preset           t4                             -\n"
                       "epochs           3                              10\n"
                       "lr               0.25                           0.5\n"
                       "seed             7                              1\n"
                       "state            stopped as asked               failed\n"
                       "epochs           2                              1\n"
                       "best             accuracy 87.50 %               -\n"
                       "validation loss  0.5000                         -\n"
                       "test             accuracy 75.00 %, loss 0.6250  -\n"
                       "samples/s        1,234                          -\n"
                       "time             2:05                           -\n"
                       "memory used      5.00 MiB                       0 B\n"
                       "= 0\n");
  RUNS ("compare 2 2", "                 run 2                  run 2\n"
                       "name             mlp on builtin:shapes  mlp on builtin:shapes\n"
                       "state            failed                 failed\n"
                       "epochs           1                      1\n"
                       "best             -                      -\n"
                       "validation loss  -                      -\n"
                       "samples/s        -                      -\n"
                       "time             -                      -\n"
                       "memory used      0 B                    0 B\n"
                       "= 0\n");
  RUNS (
      "compare 2 1 --json",
      "{\"event\": \"compare\", \"a\": {\"id\": 2, \"name\": \"mlp on builtin:shapes\", \"state\": "
      "\"failed\", \"stopped_as_asked\": false, \"fingerprint\": \"0000000000000000\", "
      "\"begin\": \"2023-11-14T22:14:20Z\", \"end\": null, \"model\": \"mlp\", \"data\": "
      "\"builtin:shapes?size=16\", \"targets\": null, \"preset\": null, \"n_train\": 3, "
      "\"n_validation\": 1, \"n_test\": 0, \"device\": null, \"driver\": null, \"dyno\": null, "
      "\"folder\": null, \"error\": \"it broke\", \"steps\": 1, \"epochs\": 1, \"seconds\": "
      "null, \"preparation_seconds\": null, \"loss\": null, \"metric\": null, "
      "\"best_metric\": null, \"best_val_loss\": null, \"best_epoch\": 0, \"test_metric\": "
      "null, \"test_loss\": null, \"samples_per_s\": null, \"epoch_overhead_seconds\": "
      "null, \"planned_bytes\": 0, \"vram_bytes\": 0, \"parameters\": 0, \"micro_batches\": "
      "1, \"settings\": {\"epochs\": 10, \"lr\": 0.5, \"seed\": 1}}, \"b\": {\"id\": 1, \"name\": "
      "\"night\", \"state\": \"finished\", \"stopped_as_asked\": true, \"fingerprint\": "
      "\"0000000000000abc\", \"begin\": \"2023-11-14T22:13:20Z\", \"end\": null, \"model\": "
      "\"resnet18\", \"data\": \"/data/images?a=1\", \"targets\": null, \"preset\": \"t4\", "
      "\"n_train\": 900, \"n_validation\": 100, \"n_test\": 50, \"device\": \"A card\", "
      "\"driver\": \"a driver 1.2\", \"dyno\": null, \"folder\": \"/runs/a\", \"error\": null, "
      "\"steps\": 200, \"epochs\": 2, \"seconds\": 125, \"preparation_seconds\": 3.5, "
      "\"loss\": 0.25, \"metric\": \"accuracy\", \"best_metric\": 0.875, \"best_val_loss\": "
      "0.5, \"best_epoch\": 1, \"test_metric\": 0.75, \"test_loss\": 0.625, "
      "\"samples_per_s\": 1234, \"epoch_overhead_seconds\": null, \"planned_bytes\": "
      "3145728, \"vram_bytes\": 5242880, \"parameters\": 0, \"micro_batches\": 1, "
      "\"settings\": {\"epochs\": 3, \"lr\": 0.25, \"seed\": 7}}}\n"
      "= 0\n");
  RUNS ("compare 1", "dynoctl runs: write it as: dynoctl runs compare ID ID\n"
                     "Try 'dynoctl runs --help'.\n"
                     "= 2\n");
  RUNS ("show 1 2", "dynoctl runs: write it as: dynoctl runs show ID\n"
                    "Try 'dynoctl runs --help'.\n"
                    "= 2\n");
  RUNS ("remove 1", "dynoctl runs: there is no “remove”; it is list, show, compare, rename, delete "
                    "or import\n"
                    "Try 'dynoctl runs --help'.\n"
                    "= 2\n");
  RUNS ("show 9223372036854775808",
        "dynoctl: “9223372036854775808” is not the number of a run; 'dynoctl runs' "
        "lists them\n"
        "= 2\n");
  RUNS ("rename 2 bare", "= 0\n");
  RUNS ("delete 1 --files", "= 0\n");
  RUNS ("list", "id             begun  name  model  data            state   epochs  best  "
                "samples/s  time\n"
                " 2  2023-11-14 22:14  bare  mlp    builtin:shapes  failed       1     -       "
                "   -     -\n"
                "= 0\n");
  RUNS ("import $", "dynoctl: No run is in there: Failed to open file “$/metrics.csv”: No such "
                    "file or directory\n"
                    "= 2\n");
#undef RUNS
}

/* --- options of predict and evaluate ---------------------------------------------------------- */

static int
parse_predict (int argc, char **argv)
{
  static const GOptionEntry own[] = { { NULL } };
  DynoPredictOptions o;
  g_autofree GOptionEntry *entries = NULL;
  g_autofree char *data = NULL;
  int code = -1;

  dyno_predict_options_init (&o);
  entries = dyno_predict_options_entries (&o, own);
  if (dyno_predict_options_parse (&o, argc, argv, "DATA...", "Tests.", entries, &code))
    {
      data = g_strjoinv (",", o.data);
      dyno_out_line ("run %s, weights %s, model %s, data %s, batch %d, size %d, device %d, workers "
                     "%d, %d %d %d",
                     o.run ? o.run : "-", o.weights, o.model ? o.model : "-", data, (int) o.batch,
                     (int) o.image_size, o.device, o.workers, o.amp, o.mirror, o.json);
    }
  dyno_predict_options_clear (&o);
  return code;
}

static void
test_predict_options (void)
{
#define PREDICT(line, expected) check (parse_predict, "predict " line, expected)
  PREDICT ("--run a b", "run a, weights a/weights.safetensors, model -, data b, batch 0, size 0, "
                        "device -1, workers 0, 0 0 0\n"
                        "= 0\n");
  PREDICT ("-w a -m b -d c -d d e f -b 65536 --image-size 65536 --workers 256 --device 3 --amp",
           "run -, weights a, model b, data c,d,e,f, batch 65536, size 65536, device 3, "
           "workers 256, 1 0 0\n"
           "= 0\n");
  PREDICT ("-w a b --mirror",
           "run -, weights a, model -, data b, batch 0, size 0, device -1, workers 0, 0 1 "
           "0\n"
           "= 0\n");
  PREDICT ("-w a b --json",
           "run -, weights a, model -, data b, batch 0, size 0, device -1, workers 0, 0 0 "
           "1\n"
           "= 0\n");
  PREDICT ("-w a", "predict: name the data: files, a folder, or any DATA\n"
                   "Try 'predict --help'.\n"
                   "= 2\n");
  PREDICT ("a", "predict: name the weights: --run DIR or --weights FILE\n"
                "Try 'predict --help'.\n"
                "= 2\n");
  PREDICT ("-w a -r b c", "predict: --run and --weights are two ways to say the same: name one\n"
                          "Try 'predict --help'.\n"
                          "= 2\n");
  PREDICT ("-w a b -b 65537", "predict: --batch 65537: it is from 1 to 65536\n"
                              "Try 'predict --help'.\n"
                              "= 2\n");
  PREDICT ("-w a b -b -1", "predict: --batch -1: it is from 1 to 65536\n"
                           "Try 'predict --help'.\n"
                           "= 2\n");
  PREDICT ("-w a b --image-size 65537", "predict: --image-size 65537: it is from 1 to 65536\n"
                                        "Try 'predict --help'.\n"
                                        "= 2\n");
  PREDICT ("-w a b --workers 257", "predict: --workers 257: it is from 1 to 256\n"
                                   "Try 'predict --help'.\n"
                                   "= 2\n");
  PREDICT ("-w a b --device -1",
           "predict: --device -1: it is a number from 'dynoctl devices', from 0; without "
           "it the best is taken\n"
           "Try 'predict --help'.\n"
           "= 2\n");
  PREDICT ("-w a -d ~", "predict: --data: its value is empty\n"
                        "Try 'predict --help'.\n"
                        "= 2\n");
  PREDICT ("-w a --dta b", "predict: Unknown option --dta; did you mean --data?\n"
                           "Try 'predict --help'.\n"
                           "= 2\n");
#undef PREDICT
}

/* --- the folder of --out ---------------------------------------------------------------------- */

static int
prepare_folder (int argc, char **argv)
{
  static const char *const names[] = { "one", "two", NULL };
  const DynoOutFiles files = { names, "an earlier search", ", go on by --resume" };

  return dyno_out_folder_prepare (argv[0], argv[1], &files, argc > 2);
}

/* A folder is refused for any of the verb's files, and for none of other names; with force it is
 * taken. */
static void
test_out_folder (void)
{
#define PREPARE(line, expected) check (prepare_folder, "tune " line, expected)
  g_autofree char *one = g_build_filename (folder, "new", "one", NULL),
                  *two = g_build_filename (folder, "new", "two", NULL),
                  *other = g_build_filename (folder, "new", "other", NULL);

  PREPARE ("$/new", "= 0\n");
  g_assert_true (g_file_set_contents (other, "x", 1, NULL));
  PREPARE ("$/new", "= 0\n");
  g_assert_true (g_file_set_contents (two, "x", 1, NULL));
  PREPARE ("$/new", "tune: “$/new” holds an earlier search (two); choose another folder, go on by "
                    "--resume, or write over it by --force\n"
                    "= 2\n");
  PREPARE ("$/new force", "= 0\n");
  g_assert_true (g_file_test (two, G_FILE_TEST_EXISTS) && !g_file_test (one, G_FILE_TEST_EXISTS));
  PREPARE ("$/new/other",
           "tune: cannot make the folder “$/new/other”: Not a directory; choose another "
           "with --out\n"
           "= 7\n");
  PREPARE ("$/new/other/new",
           "tune: cannot make the folder “$/new/other/new”: Not a directory; choose "
           "another with --out\n"
           "= 7\n");
#undef PREPARE
}

/* --- presets ---------------------------------------------------------------------------------- */

static const char preset[] =
    "[preset]\nname=My card\narchitecture=Own\nvram=12GB\nvram_total=10240MB\nvram_usable=8192MB\n"
    "vram_source=a tool\nworkers=2-4\nworkers_cpu_bound=16\nprefetch=3\namp=true\npinned=false\n"
    "persistent_workers=true\nderived=prefetch;persistent_workers;\nmatch=My card;\n"
    "notes=first;second;\nadvice=An advice.\n"
    "[row 1]\nimage_size=512\nbatch_safe=4\nbatch_recommended=5\nbatch_max=6\n"
    "derived=batch_recommended;\n"
    "[row 2]\nimage_size=224\ntask=values\ninput=image\ndata=biwi;300w-lp;\nmodel=headpose;\n"
    "batch_safe=8\nbatch_recommended=8\nbatch_max=8\n"
    "[row 3]\nimage_size=224\nbatch_safe=16\nbatch_recommended=24\nbatch_max=32\n"
    "derived=batch_max;\n"
    "[row 4]\nimage_size=0\ninput=sequence\nframework=tensorflow\nbatch_safe=64\n"
    "batch_recommended=96\nbatch_max=128\n"
    "[expected 1]\ntask=values\nbatch=64\nbefore_batch=32\nsamples_per_s=300-500\n"
    "before_samples_per_s=82\nvram_gb=5\n"
    "[expected 2]\npower_w=100-120\n";

static const char bare_preset[] = "[preset]\nname=Bare card\nvram=1.5GB\nworkers=0\namp=false\n"
                                  "[row 1]\nimage_size=32\nbatch_safe=1\nbatch_recommended=1\n"
                                  "batch_max=1\n";

/* Every value of a preset file of a user's own is printed under its name, with the mark of those
 * that are derived. */
static void
test_presets (void)
{
#define PRESETS(line, expected) check (dyno_verb_presets, "presets " line, expected)
  g_autofree char *path = g_build_filename (folder, "own.preset", NULL),
                  *bare = g_build_filename (folder, "bare.preset", NULL);

  g_assert_true (g_file_set_contents (path, preset, -1, NULL));
  g_assert_true (g_file_set_contents (bare, bare_preset, -1, NULL));
  PRESETS ("$/own.preset",
           "My card (own), Own\n"
           "memory    12 GB, of which 8 GB usable: 8192 of the 10240 MiB in all (a tool)\n"
           "workers   2-4, up to 16 when the CPU is the bottleneck, persistent*\n"
           "prefetch  3*\n"
           "AMP       on\n"
           "pinned    off\n"
           "notes     first; second\n"
           "expected  values to predict: batch 64 (32 before): 300-500 samples/s (82 "
           "before), 5 GB\n"
           "expected  100-120 W\n"
           "from      $/own.preset\n"
           "\n"
           "An advice.\n"
           "\n"
           " images  safe  recommended  max  for\n"
           "512x512     4           5*    6\n"
           "224x224     8            8    8  biwi/300w-lp, headpose, values to predict\n"
           "224x224    16           24  32*\n"
           "      -    64           96  128  sequences, tensorflow\n"
           "\n"
           "* derived: Dyno's own value, no guide gives it\n"
           "= 0\n");
  PRESETS (
      "$/own.preset --json",
      "{\"id\": \"own\", \"name\": \"My card\", \"architecture\": \"Own\", \"vram_bytes\": "
      "12884901888, \"vram_total_bytes\": 10737418240, \"vram_usable_bytes\": "
      "8589934592, \"vram_source\": \"a tool\", \"rows\": [{\"image_size\": 512, \"workload\": "
      "\"\", \"task\": \"\", \"input\": \"\", \"data\": [], \"model\": [], \"framework\": null, "
      "\"batch_safe\": 4, \"batch_recommended\": 5, \"batch_max\": 6, \"derived\": "
      "[\"batch_recommended\"]}, {\"image_size\": 224, \"workload\": \"biwi/300w-lp, "
      "headpose, values to predict\", \"task\": \"values\", \"input\": \"image\", \"data\": "
      "[\"biwi\", \"300w-lp\"], \"model\": [\"headpose\"], \"framework\": null, \"batch_safe\": "
      "8, \"batch_recommended\": 8, \"batch_max\": 8, \"derived\": []}, {\"image_size\": "
      "224, \"workload\": \"\", \"task\": \"\", \"input\": \"\", \"data\": [], \"model\": [], "
      "\"framework\": null, \"batch_safe\": 16, \"batch_recommended\": 24, \"batch_max\": "
      "32, \"derived\": [\"batch_max\"]}, {\"image_size\": 0, \"workload\": \"sequences, "
      "tensorflow\", \"task\": \"\", \"input\": \"sequence\", \"data\": [], \"model\": [], "
      "\"framework\": \"tensorflow\", \"batch_safe\": 64, \"batch_recommended\": 96, "
      "\"batch_max\": 128, \"derived\": []}], \"workers_min\": 2, \"workers_max\": 4, "
      "\"workers_cpu_bound\": 16, \"prefetch\": 3, \"amp\": true, \"pinned\": false, "
      "\"persistent_workers\": true, \"notes\": [\"first\", \"second\"], \"derived\": "
      "[\"prefetch\", \"persistent_workers\"], \"expected\": [{\"workload\": \"values to "
      "predict\", \"task\": \"values\", \"input\": \"\", \"data\": [], \"model\": [], "
      "\"framework\": null, \"batch\": 64, \"before_batch\": 32, \"samples_per_s\": [300, "
      "500], \"before_samples_per_s\": [82, 82], \"vram_gb\": [5, 5]}, {\"workload\": \"\", "
      "\"task\": \"\", \"input\": \"\", \"data\": [], \"model\": [], \"framework\": null, "
      "\"batch\": "
      "0, \"before_batch\": 0, \"power_w\": [100, 120]}], \"advice\": \"An advice.\", "
      "\"source\": \"$/own.preset\", \"this_gpu\": false, \"matches_device\": false}\n"
      "= 0\n");
  PRESETS ("$/bare.preset",
           "Bare card (bare)\n"
           "memory    1.5 GB, of which 1.31 GB usable: 1344 of the 1536 MiB in all\n"
           "workers   0, persistent\n"
           "prefetch  2\n"
           "AMP       off\n"
           "pinned    on\n"
           "from      $/bare.preset\n"
           "\n"
           "\n"
           "\n"
           "images  safe  recommended  max  for\n"
           " 32x32     1            1    1\n"
           "\n"
           "* derived: Dyno's own value, no guide gives it\n"
           "= 0\n");
  PRESETS ("t4", "T4 (t4), Turing\n"
                 "memory    16 GB, of which 14.5 GB usable: 14848 of the 15360 MiB in all "
                 "(nvidia-smi, ECC on)\n"
                 "workers   2-4, persistent*\n"
                 "prefetch  2\n"
                 "AMP       on\n"
                 "pinned    on*\n"
                 "notes     hosted notebooks: few CPU cores\n"
                 "from      built in\n"
                 "\n"
                 "The card of hosted notebooks, which give it few CPU cores: two to four "
                 "workers, and a cache of decoded samples where RAM allows. AMP on; batch 8 to "
                 "12 at 512x512, 16 to 32 at 224x224.\n"
                 "\n"
                 " images  safe  recommended  max  for\n"
                 "512x512     8          10*   12\n"
                 "224x224    16          24*   32\n"
                 "\n"
                 "* derived: Dyno's own value, no guide gives it\n"
                 "= 0\n");
#undef PRESETS
}

/* --- serve ------------------------------------------------------------------------------------ */

/* The options of serve at both ends of their ranges: whatever is accepted fails for want of the
 * weights. */
static void
test_serve (void)
{
#define SERVE(line, expected) check (dyno_verb_serve, "serve " line, expected)
  SERVE ("", "serve: name the weights: --run RUN, or --run NAME=RUN\n"
             "Try 'serve --help'.\n"
             "= 2\n");
  SERVE ("--run a --token-file b --no-token",
         "serve: --token-file and --no-token contradict each other: name one\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --tls-key b",
         "serve: --tls-key needs the certificate too: name it by --tls-certificate\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --max-batch 0", "serve: --max-batch 0: it is from 1 to 65536\n"
                                  "Try 'serve --help'.\n"
                                  "= 2\n");
  SERVE ("--run a --max-batch 65537", "serve: --max-batch 65537: it is from 1 to 65536\n"
                                      "Try 'serve --help'.\n"
                                      "= 2\n");
  SERVE ("--run a --max-delay-us -1", "serve: --max-delay-us -1: it is from 0 to 10000000\n"
                                      "Try 'serve --help'.\n"
                                      "= 2\n");
  SERVE ("--run a --max-delay-us 10000001",
         "serve: --max-delay-us 10000001: it is from 0 to 10000000\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --queue 0", "serve: --queue 0: it is from 1 to 65536\n"
                              "Try 'serve --help'.\n"
                              "= 2\n");
  SERVE ("--run a --queue 65537", "serve: --queue 65537: it is from 1 to 65536\n"
                                  "Try 'serve --help'.\n"
                                  "= 2\n");
  SERVE ("--run a --max-body 0", "serve: --max-body 0: it is from 1 to 1024\n"
                                 "Try 'serve --help'.\n"
                                 "= 2\n");
  SERVE ("--run a --max-body 1025", "serve: --max-body 1025: it is from 1 to 1024\n"
                                    "Try 'serve --help'.\n"
                                    "= 2\n");
  SERVE ("--run a --image-size 65537", "serve: --image-size 65537: it is from 0 to 65536\n"
                                       "Try 'serve --help'.\n"
                                       "= 2\n");
  SERVE ("--run a --timeout 0", "serve: --timeout 0: it is from 1 to 3600\n"
                                "Try 'serve --help'.\n"
                                "= 2\n");
  SERVE ("--run a --timeout 3601", "serve: --timeout 3601: it is from 1 to 3600\n"
                                   "Try 'serve --help'.\n"
                                   "= 2\n");
  SERVE ("--run a --workers 257", "serve: --workers 257: it is from 0 to 256\n"
                                  "Try 'serve --help'.\n"
                                  "= 2\n");
  SERVE ("--run a --listen 0.0.0.0:0",
         "serve: --listen 0.0.0.0: other machines could use the models; name a "
         "--token-file, or allow it by --no-token\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --listen [::]:0",
         "serve: --listen ::: other machines could use the models; name a --token-file, "
         "or allow it by --no-token\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a --run b/a",
         "serve: --run: two models are called “a”; give one another name by --run "
         "NAME=RUN\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a=b --run c=b --run a=d",
         "serve: --run: two models are called “a”; give one another name by --run "
         "NAME=RUN\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a=", "serve: --run a=: a model's name has only letters, digits, “_”, “-” and “.”; "
                     "give it one by --run NAME=RUN\n"
                     "Try 'serve --help'.\n"
                     "= 2\n");
  SERVE ("--run a|b",
         "serve: --run a b: a model's name has only letters, digits, “_”, “-” and “.”; "
         "give it one by --run NAME=RUN\n"
         "Try 'serve --help'.\n"
         "= 2\n");
  SERVE ("--run a|b=c", "serve: --run a b=c: a model's name has only letters, digits, “_”, “-” and "
                        "“.”; give it one by --run NAME=RUN\n"
                        "Try 'serve --help'.\n"
                        "= 2\n");
  SERVE ("--run $/x=1/run",
         "dynoctl: Cannot read “$/x=1/run/weights.safetensors”: No such file or directory\n"
         "= 3\n");
  SERVE ("--run $/none --max-batch 65536 --max-delay-us 10000000 --queue 65536 --image-size 65536 "
         "--timeout 3600 --workers 256 --no-token --listen 0.0.0.0:0",
         "dynoctl: Cannot read “$/none/weights.safetensors”: No such file or directory\n"
         "= 3\n");
  SERVE ("--run m=$/none --max-batch 1 --max-delay-us 0 --queue 1 --max-body 1 --image-size 0 "
         "--workers 0 --listen [::1]:0 --json --timeout 1",
         "{\"event\": \"error\", \"text\": \"Cannot read “$/none/weights.safetensors”: No such "
         "file or directory\", \"code\": 3}\n"
         "dynoctl: Cannot read “$/none/weights.safetensors”: No such file or directory\n"
         "= 3\n");
#undef SERVE
}

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
  check (print_quick, "quick",
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
  check (print_quick, "quick --json",
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
  check (print_quick, "quick",
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
  check (
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

/* --- sensors ---------------------------------------------------------------------------------- */

static DynoSensorReading *reading;

static int
print_sensors (int argc, char **argv)
{
  DynoDeviceInfo device = { .name = "Card", .pci = "0000:01:00.0" };

  dyno_sensors_print (strcmp (argv[0], "card") == 0 ? &device : NULL, reading, argc > 1);
  return 0;
}

/* A value of each sensor with its unit, in the digits of its size; programs, the memory of some of
 * which is not known. */
static void
test_sensors (void)
{
  static const double values[] = { 3.25, 9.99, 10.4, 350, 0.04, -4.5, 1, 1048576, 2147483648.0,
                                   1023, 2,    97.5, 12,  5,    6,    7, 8,       9,
                                   10,   11 };

  G_STATIC_ASSERT (G_N_ELEMENTS (values) == DYNO_N_SENSORS);
  reading = g_new0 (DynoSensorReading, 1);
  dyno_sensor_reading_init (reading);
  check (print_sensors, "none",
         "no GPU\n"
         "sensor                      value          from\n"
         "GPU busy                    not available\n"
         "GPU temperature             not available\n"
         "GPU power                   not available\n"
         "GPU power limit             not available\n"
         "GPU clock                   not available\n"
         "GPU memory clock            not available\n"
         "GPU held back               not available\n"
         "VRAM of this process        not available\n"
         "VRAM in use                 not available\n"
         "VRAM of the device          not available\n"
         "Other processes on the GPU  not available\n"
         "CPU busy                    not available\n"
         "CPU by this process         not available\n"
         "RAM used                    not available\n"
         "RAM of the machine          not available\n"
         "Swapped in                  not available\n"
         "Disk reads by this process  not available\n"
         "Waits for the CPU           not available\n"
         "Waits for disks             not available\n"
         "Waits for memory            not available\n"
         "= 0\n");
  check (print_sensors, "none --json",
         "{\"device\": null, \"pci\": null, \"gpu_busy_percent\": null, \"gpu_temperature_c\": "
         "null, \"gpu_power_w\": null, \"gpu_power_limit_w\": null, \"gpu_clock_mhz\": null, "
         "\"gpu_memory_clock_mhz\": null, \"gpu_throttle\": null, \"vram_own_bytes\": null, "
         "\"vram_all_bytes\": null, \"vram_total_bytes\": null, \"gpu_other_processes\": "
         "null, \"cpu_busy_percent\": null, \"cpu_own_percent\": null, \"ram_used_bytes\": "
         "null, \"ram_total_bytes\": null, \"swap_in_bytes_per_s\": null, "
         "\"disk_read_bytes_per_s\": null, \"pressure_cpu_percent\": null, "
         "\"pressure_io_percent\": null, \"pressure_memory_percent\": null, "
         "\"throttle_reasons\": [], \"core_busy_percent\": [], \"programs\": null, \"sources\": "
         "{}}\n"
         "= 0\n");
  memcpy (reading->values, values, sizeof values);
  for (guint i = 0; i < DYNO_N_SENSORS; i++)
    reading->sources[i] = (guint8) (i % (DYNO_SENSOR_SOURCE_ACCOUNT + 1));
  reading->n_cores = 2;
  reading->core_busy[0] = 50;
  reading->core_busy[1] = (float) NAN;
  reading->programs.known = TRUE;
  reading->programs.n = 2;
  reading->programs.list[0] = (DynoSensorProgram){ .pid = 7, .name = "train", .bytes = 3145728 };
  reading->programs.list[1] = (DynoSensorProgram){ .pid = 8, .bytes = (double) NAN };
  check (print_sensors, "card",
         "Card, 0000:01:00.0\n"
         "sensor                      value     from\n"
         "GPU busy                    3.2 %\n"
         "GPU temperature             10.0 °C   host\n"
         "GPU power                   10 W      nvml\n"
         "GPU power limit             350 W     amdgpu\n"
         "GPU clock                   0.0 MHz   intel\n"
         "GPU memory clock            -4.5 MHz  driver\n"
         "GPU held back               yes       account\n"
         "VRAM of this process        1.00 MiB\n"
         "VRAM in use                 2.00 GiB  host\n"
         "VRAM of the device          1.00 KiB  nvml\n"
         "Other processes on the GPU  2         amdgpu\n"
         "CPU busy                    98 %      intel\n"
         "CPU by this process         12 %      driver\n"
         "RAM used                    5 B       account\n"
         "RAM of the machine          6 B\n"
         "Swapped in                  7 B/s     host\n"
         "Disk reads by this process  8 B/s     nvml\n"
         "Waits for the CPU           9 %       amdgpu\n"
         "Waits for disks             10 %      intel\n"
         "Waits for memory            11 %      driver\n"
         "program  process  device memory\n"
         "train          7       3.00 MiB\n"
         "?              8\n"
         "= 0\n");
  reading->throttle_reasons = DYNO_THROTTLE_POWER | DYNO_THROTTLE_HARDWARE;
  check (print_sensors, "card --json",
         "{\"device\": \"Card\", \"pci\": \"0000:01:00.0\", \"gpu_busy_percent\": 3.25, "
         "\"gpu_temperature_c\": 9.99, \"gpu_power_w\": 10.4, \"gpu_power_limit_w\": 350, "
         "\"gpu_clock_mhz\": 0.04, \"gpu_memory_clock_mhz\": -4.5, \"gpu_throttle\": 1, "
         "\"vram_own_bytes\": 1048576, \"vram_all_bytes\": 2147483648, \"vram_total_bytes\": "
         "1023, \"gpu_other_processes\": 2, \"cpu_busy_percent\": 97.5, \"cpu_own_percent\": "
         "12, \"ram_used_bytes\": 5, \"ram_total_bytes\": 6, \"swap_in_bytes_per_s\": 7, "
         "\"disk_read_bytes_per_s\": 8, \"pressure_cpu_percent\": 9, \"pressure_io_percent\": "
         "10, \"pressure_memory_percent\": 11, \"throttle_reasons\": [\"power\", \"hardware\"], "
         "\"core_busy_percent\": [50, null], \"programs\": [{\"pid\": 7, \"name\": \"train\", "
         "\"bytes\": 3145728}, {\"pid\": 8, \"name\": null, \"bytes\": null}], \"sources\": "
         "{\"gpu_temperature_c\": \"host\", \"gpu_power_w\": \"nvml\", \"gpu_power_limit_w\": "
         "\"amdgpu\", \"gpu_clock_mhz\": \"intel\", \"gpu_memory_clock_mhz\": \"driver\", "
         "\"gpu_throttle\": \"account\", \"vram_all_bytes\": \"host\", \"vram_total_bytes\": "
         "\"nvml\", \"gpu_other_processes\": \"amdgpu\", \"cpu_busy_percent\": \"intel\", "
         "\"cpu_own_percent\": \"driver\", \"ram_used_bytes\": \"account\", "
         "\"swap_in_bytes_per_s\": \"host\", \"disk_read_bytes_per_s\": \"nvml\", "
         "\"pressure_cpu_percent\": \"amdgpu\", \"pressure_io_percent\": \"intel\", "
         "\"pressure_memory_percent\": \"driver\"}}\n"
         "= 0\n");
  reading->programs.n = 0;
  check (print_sensors, "card",
         "Card, 0000:01:00.0\n"
         "sensor                      value            from\n"
         "GPU busy                    3.2 %\n"
         "GPU temperature             10.0 °C          host\n"
         "GPU power                   10 W             nvml\n"
         "GPU power limit             350 W            amdgpu\n"
         "GPU clock                   0.0 MHz          intel\n"
         "GPU memory clock            -4.5 MHz         driver\n"
         "GPU held back               power, hardware  account\n"
         "VRAM of this process        1.00 MiB\n"
         "VRAM in use                 2.00 GiB         host\n"
         "VRAM of the device          1.00 KiB         nvml\n"
         "Other processes on the GPU  2                amdgpu\n"
         "CPU busy                    98 %             intel\n"
         "CPU by this process         12 %             driver\n"
         "RAM used                    5 B              account\n"
         "RAM of the machine          6 B\n"
         "Swapped in                  7 B/s            host\n"
         "Disk reads by this process  8 B/s            nvml\n"
         "Waits for the CPU           9 %              amdgpu\n"
         "Waits for disks             10 %             intel\n"
         "Waits for memory            11 %             driver\n"
         "= 0\n");
  g_free (reading);
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
#define DIAGNOSE(line, expected) check (dyno_verb_diagnose, "diagnose " line, expected)
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
  g_autofree char *one = g_build_filename (folder, "one", NULL),
                  *two = g_build_filename (folder, "two", NULL);

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
  check (print_diagnosis, "diagnosis",
         "diagnosis: The verdict: a problem.\n"
         "= 0\n");
  add_finding (findings, DYNO_FINDING_WARNING, "A warning.", NULL);
  add_finding (findings, DYNO_FINDING_WARNING, "Another warning.", NULL);
  check (print_diagnosis, "diagnosis",
         "diagnosis: The verdict: a problem.\n"
         "  warning: A warning.\n"
         "= 0\n");
  add_finding (findings, DYNO_FINDING_PROBLEM, "The verdict", NULL);
  check (print_diagnosis, "diagnosis",
         "diagnosis: The verdict: a problem.\n"
         "  warning: A warning.\n"
         "= 0\n");
  add_finding (findings, DYNO_FINDING_PROBLEM, "A problem.", NULL);
  check (print_diagnosis, "diagnosis",
         "diagnosis: The verdict: a problem.\n"
         "  problem: A problem.\n"
         "= 0\n");
}

/* --- inspect ---------------------------------------------------------------------------------- */

static void
write_array (const char *name, const char *shape, const float *values, guint n)
{
  g_autofree char *path = g_build_filename (folder, name, NULL),
                  *head = g_strdup_printf (
                      "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }\n", shape);
  g_autoptr (GString) text = g_string_new_len ("\x93NUMPY\x01\x00", 8);

  g_string_append_c (text, (char) strlen (head));
  g_string_append_c (text, '\0');
  g_string_append (text, head);
  g_string_append_len (text, (const char *) values, n * sizeof *values);
  g_mkdir_with_parents (folder, 0700);
  g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
}

static void
write_text (const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

/* Data of each task: text and JSON. */
static void
test_inspect (void)
{
#define INSPECT(line, expected) check (dyno_verb_inspect, "inspect " line, expected)
  static const float x[8 * 3] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
  float y[8 * 10] = { 0 };
  g_autoptr (GString) list = g_string_new ("label,who,pixels");

  for (guint i = 0; i < 10; i++)
    y[i] = 1;
  y[10] = (float) NAN;
  y[12] = 1;
  write_array ("X.npy", "8, 3", x, G_N_ELEMENTS (x));
  write_array ("y.npy", "8, 10", y, G_N_ELEMENTS (y));
  write_text ("y.names", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj (mm)\n");
  for (guint i = 0; i < 6; i++)
    {
      g_string_append_printf (list, "\n%c,%c,", "xyxyxy"[i], "ppqrrr"[i]);
      for (guint k = 0; k < 64; k++)
        g_string_append_printf (list, "%s%u", k > 0 ? " " : "", (i * 37 + k) % 256);
    }
  write_text ("grouped.csv", list->str);
  INSPECT ("builtin:shapes?size=8&samples=6&classes=3",
           "Drawn shapes (built in): shapes\n"
           "samples     6\n"
           "size        8x8 (width x height), 3 channels, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.33/0.25 "
           "0.33/0.25 0.33/0.25; as they are with data.normalise=false\n"
           "classes     3\n"
           "\n"
           "class     samples   share\n"
           "circle          2  33.3 %\n"
           "square          2  33.3 %\n"
           "triangle        2  33.3 %\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of class “circle”, “square”, “triangle”: a network "
           "hardly learns it, and its accuracy says little\n"
           "= 0\n");
  INSPECT (
      "builtin:shapes?size=8&samples=6&classes=3 --json",
      "{\"kind\": \"shapes\", \"title\": \"Drawn shapes (built in)\", \"name\": \"shapes\", "
      "\"data\": \"builtin:shapes?size=8&samples=6&classes=3\", \"samples\": 6, "
      "\"unreadable\": 0, \"bytes\": 0, \"element\": \"uint8\", \"axes\": null, \"normalise\": "
      "true, \"fed\": \"bytes divided by 255, less mean over deviation 0.33/0.25 "
      "0.33/0.25 0.33/0.25; as they are with data.normalise=false\", \"channels\": 3, "
      "\"min_width\": 8, \"max_width\": 8, \"min_height\": 8, \"max_height\": 8, "
      "\"resizable\": true, \"target\": \"class\", \"task\": \"classes\", \"task_guessed\": "
      "false, \"classes\": 3, \"class_names\": [\"circle\", \"square\", \"triangle\"], "
      "\"class_counts\": [2, 2, 2], \"fields\": [{\"name\": \"image\", \"role\": \"input\", "
      "\"element\": \"uint8\", \"axes\": \"HWC\", \"shape\": [8, 8, 3], \"variable\": false}, "
      "{\"name\": \"class\", \"role\": \"target\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": "
      "[], \"variable\": false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", "
      "\"axes\": \"\", \"shape\": [], \"variable\": false}], \"has_split\": false, "
      "\"generated\": true, \"unreadable_files\": [], \"notes\": [], \"warnings\": [\"Fewer "
      "than 10 samples of class “circle”, “square”, “triangle”: a network hardly "
      "learns it, and its accuracy says little\"], \"examples\": [{\"index\": 0, \"name\": "
      "\"circle #0\", \"target\": \"circle\"}, {\"index\": 3, \"name\": \"circle #3\", \"target\": "
      "\"circle\"}, {\"index\": 1, \"name\": \"square #1\", \"target\": \"square\"}, {\"index\": "
      "4, \"name\": \"square #4\", \"target\": \"square\"}, {\"index\": 2, \"name\": \"triangle "
      "#2\", \"target\": \"triangle\"}, {\"index\": 5, \"name\": \"triangle #5\", \"target\": "
      "\"triangle\"}]}\n"
      "= 0\n");
  INSPECT ("builtin:waves?length=16&channels=1&samples=3&classes=2",
           "Waves (built in): waves\n"
           "samples     3\n"
           "sequences   up to 16 steps of 1 value, float32, padded with 0\n"
           "fed         values as they are\n"
           "classes     2\n"
           "\n"
           "       class  samples   share\n"
           "2 half turns        2  66.7 %\n"
           "3 half turns        1  33.3 %\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of class “2 half turns”, “3 half turns”: a network "
           "hardly learns it, and its accuracy says little\n"
           "= 0\n");
  INSPECT ("builtin:poses?size=8&samples=2",
           "Drawn heads (built in): poses\n"
           "samples     2\n"
           "size        8x8 (width x height), 3 channels, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.45/0.25 "
           "0.45/0.25 0.45/0.25; as they are with data.normalise=false\n"
           "targets     3 values per sample: yaw (degrees), pitch (degrees), roll "
           "(degrees)\n"
           "= 0\n");
  INSPECT (
      "builtin:poses?size=8&samples=2 --json",
      "{\"kind\": \"poses\", \"title\": \"Drawn heads (built in)\", \"name\": \"poses\", \"data\": "
      "\"builtin:poses?size=8&samples=2\", \"samples\": 2, \"unreadable\": 0, \"bytes\": 0, "
      "\"element\": \"uint8\", \"axes\": null, \"normalise\": true, \"fed\": \"bytes divided by "
      "255, less mean over deviation 0.45/0.25 0.45/0.25 0.45/0.25; as they are with "
      "data.normalise=false\", \"channels\": 3, \"min_width\": 8, \"max_width\": 8, "
      "\"min_height\": 8, \"max_height\": 8, \"resizable\": true, \"target\": \"values\", "
      "\"task\": \"values\", \"task_guessed\": false, \"targets\": 3, \"target_names\": "
      "[\"yaw\", \"pitch\", \"roll\"], \"target_units\": [\"degrees\", \"degrees\", \"degrees\"], "
      "\"fields\": [{\"name\": \"image\", \"role\": \"input\", \"element\": \"uint8\", \"axes\": "
      "\"HWC\", \"shape\": [8, 8, 3], \"variable\": false}, {\"name\": \"values\", \"role\": "
      "\"target\", \"element\": \"float32\", \"axes\": \"C\", \"shape\": [3], \"variable\": "
      "false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": [], \"variable\": false}], \"has_split\": false, \"generated\": true, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [], \"examples\": [{\"index\": "
      "0, \"name\": \"#0 yaw 17 pitch 5 roll 15\", \"target\": \"16.6861 5.23476 14.9629\"}, "
      "{\"index\": 1, \"name\": \"#1 yaw -39 pitch 21 roll 8\", \"target\": \"-38.7122 "
      "21.1048 7.57496\"}]}\n"
      "= 0\n");
  INSPECT ("builtin:masks?size=8&samples=2 --deep",
           "Drawn shapes with masks (built in): masks\n"
           "samples     2\n"
           "size        8x8 (width x height), 3 channels, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.31/0.21 "
           "0.31/0.21 0.31/0.21; as they are with data.normalise=false\n"
           "classes     4, one for each pixel\n"
           "\n"
           "class       pixels   share\n"
           "background      94  74.0 %\n"
           "circle           0   0.0 %\n"
           "rectangle       23  18.1 %\n"
           "triangle        10   7.9 %\n"
           "\n"
           "decoded 2 samples, 0 of them cannot be read\n"
           "\n"
           "please note:\n"
           "  There is no pixel of class “circle”: it stays a class, and is never learned\n"
           "= 0\n");
  INSPECT (
      "builtin:masks?size=64&samples=3 --json",
      "{\"kind\": \"drawn-masks\", \"title\": \"Drawn shapes with masks (built in)\", "
      "\"name\": \"masks\", \"data\": \"builtin:masks?size=64&samples=3\", \"samples\": 3, "
      "\"unreadable\": 0, \"bytes\": 0, \"element\": \"uint8\", \"axes\": null, \"normalise\": "
      "true, \"fed\": \"bytes divided by 255, less mean over deviation 0.31/0.21 "
      "0.31/0.21 0.31/0.21; as they are with data.normalise=false\", \"channels\": 3, "
      "\"min_width\": 64, \"max_width\": 64, \"min_height\": 64, \"max_height\": 64, "
      "\"resizable\": true, \"target\": \"mask\", \"task\": \"pixels\", \"task_guessed\": false, "
      "\"classes\": 4, \"class_names\": [\"background\", \"circle\", \"rectangle\", "
      "\"triangle\"], \"class_counts\": [8333, 1055, 2235, 665], \"ignored_pixels\": 0, "
      "\"fields\": [{\"name\": \"image\", \"role\": \"input\", \"element\": \"uint8\", \"axes\": "
      "\"HWC\", \"shape\": [64, 64, 3], \"variable\": false}, {\"name\": \"mask\", \"role\": "
      "\"target\", \"element\": \"uint8\", \"axes\": \"HW\", \"shape\": [64, 64], \"variable\": "
      "false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": [], \"variable\": false}], \"has_split\": false, \"generated\": true, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [], \"examples\": [{\"index\": "
      "0, \"name\": \"#0\", \"target\": \"background 62 %, rectangle 22 %, triangle 16 %\"}, "
      "{\"index\": 1, \"name\": \"#1\", \"target\": \"background 86 %, rectangle 14 %\"}, "
      "{\"index\": 2, \"name\": \"#2\", \"target\": \"background 56 %, circle 26 %, rectangle "
      "19 %\"}]}\n"
      "= 0\n");
  INSPECT ("synthetic:8x4x3?samples=6&classes=2",
           "Synthetic noise (measures only the device): synthetic\n"
           "samples     6\n"
           "size        4x8 (width x height), 3 channels, uint8\n"
           "fed         noise made on the device\n"
           "classes     2\n"
           "\n"
           "class  samples   share\n"
           "    0        4  66.7 %\n"
           "    1        2  33.3 %\n"
           "= 0\n");
  INSPECT ("$/X.npy --set data.task=labels",
           "NumPy arrays: X.npy\n"
           "samples     8\n"
           "size        1x1 (width x height), 3 channels, float32\n"
           "axes        NF\n"
           "fed         values as they are\n"
           "on disk     557 B\n"
           "classes     10, any number for each sample\n"
           "\n"
           "label   samples   share\n"
           "a             1  12.5 %\n"
           "b             1  12.5 %\n"
           "c             2  25.0 %\n"
           "d             1  12.5 %\n"
           "e             1  12.5 %\n"
           "f             1  12.5 %\n"
           "g             1  12.5 %\n"
           "h             1  12.5 %\n"
           "i             1  12.5 %\n"
           "j (mm)        1  12.5 %\n"
           "\n"
           "example  target\n"
           "#0       a, b, c, d, e, f, g, h and 2 more\n"
           "#1       a?, c\n"
           "#2       none\n"
           "#3       none\n"
           "#4       none\n"
           "#5       none\n"
           "#6       none\n"
           "#7       none\n"
           "\n"
           "what may hurt:\n"
           "  3 samples are the same as another, the first: #4, #5; some of them are both "
           "in training and in validation\n"
           "= 0\n");
  INSPECT (
      "$/X.npy --set data.task=labels --json",
      "{\"kind\": \"npy\", \"title\": \"NumPy arrays\", \"name\": \"X.npy\", \"data\": "
      "\"$/X.npy\", "
      "\"samples\": 8, \"unreadable\": 0, \"bytes\": 557, \"element\": \"float32\", \"axes\": "
      "\"NF\", \"normalise\": false, \"fed\": \"values as they are\", \"channels\": 3, "
      "\"min_width\": 1, \"max_width\": 1, \"min_height\": 1, \"max_height\": 1, "
      "\"resizable\": false, \"target\": \"labels\", \"task\": \"labels\", \"task_guessed\": "
      "false, \"classes\": 10, \"class_names\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", "
      "\"h\", "
      "\"i\", \"j (mm)\"], \"class_counts\": [1, 1, 2, 1, 1, 1, 1, 1, 1, 1], \"fields\": "
      "[{\"name\": \"image\", \"role\": \"input\", \"element\": \"float32\", \"axes\": \"HWC\", "
      "\"shape\": [1, 1, 3], \"variable\": false}, {\"name\": \"labels\", \"role\": \"target\", "
      "\"element\": \"float32\", \"axes\": \"C\", \"shape\": [10], \"variable\": false}, "
      "{\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", \"shape\": "
      "[], "
      "\"variable\": false}], \"has_split\": false, \"generated\": false, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [\"3 samples are the same as "
      "another, the first: #4, #5; some of them are both in training and in "
      "validation\"], \"examples\": [{\"index\": 0, \"name\": \"#0\", \"target\": \"a, b, c, d, "
      "e, f, g, h and 2 more\"}, {\"index\": 1, \"name\": \"#1\", \"target\": \"a?, c\"}, "
      "{\"index\": 2, \"name\": \"#2\", \"target\": \"none\"}, {\"index\": 3, \"name\": \"#3\", "
      "\"target\": \"none\"}, {\"index\": 4, \"name\": \"#4\", \"target\": \"none\"}, {\"index\": "
      "5, "
      "\"name\": \"#5\", \"target\": \"none\"}, {\"index\": 6, \"name\": \"#6\", \"target\": "
      "\"none\"}, {\"index\": 7, \"name\": \"#7\", \"target\": \"none\"}]}\n"
      "= 0\n");
  y[10] = 0.5f;
  write_array ("y.npy", "8, 10", y, G_N_ELEMENTS (y));
  INSPECT ("$/X.npy --set data.task=values",
           "NumPy arrays: X.npy\n"
           "samples     8\n"
           "size        1x1 (width x height), 3 channels, float32\n"
           "axes        NF\n"
           "fed         values as they are\n"
           "on disk     557 B\n"
           "targets     10 values per sample: a, b, c, d, e, f, g, h, i, j (mm)\n"
           "\n"
           "example                 target\n"
           "#0         1 1 1 1 1 1 1 1 ...\n"
           "#1       0.5 0 1 0 0 0 0 0 ...\n"
           "#2         0 0 0 0 0 0 0 0 ...\n"
           "#3         0 0 0 0 0 0 0 0 ...\n"
           "#4         0 0 0 0 0 0 0 0 ...\n"
           "#5         0 0 0 0 0 0 0 0 ...\n"
           "#6         0 0 0 0 0 0 0 0 ...\n"
           "#7         0 0 0 0 0 0 0 0 ...\n"
           "\n"
           "what may hurt:\n"
           "  3 samples are the same as another, the first: #4, #5; some of them are both "
           "in training and in validation\n"
           "= 0\n");
  INSPECT (
      "$/X.npy --set data.task=values --json",
      "{\"kind\": \"npy\", \"title\": \"NumPy arrays\", \"name\": \"X.npy\", \"data\": "
      "\"$/X.npy\", "
      "\"samples\": 8, \"unreadable\": 0, \"bytes\": 557, \"element\": \"float32\", \"axes\": "
      "\"NF\", \"normalise\": false, \"fed\": \"values as they are\", \"channels\": 3, "
      "\"min_width\": 1, \"max_width\": 1, \"min_height\": 1, \"max_height\": 1, "
      "\"resizable\": false, \"target\": \"values\", \"task\": \"values\", \"task_guessed\": "
      "false, \"targets\": 10, \"target_names\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", "
      "\"h\", \"i\", \"j\"], \"target_units\": [\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", "
      "\"\", \"mm\"], "
      "\"fields\": [{\"name\": \"image\", \"role\": \"input\", \"element\": \"float32\", \"axes\": "
      "\"HWC\", \"shape\": [1, 1, 3], \"variable\": false}, {\"name\": \"values\", \"role\": "
      "\"target\", \"element\": \"float32\", \"axes\": \"C\", \"shape\": [10], \"variable\": "
      "false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": [], \"variable\": false}], \"has_split\": false, \"generated\": false, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [\"3 samples are the same as "
      "another, the first: #4, #5; some of them are both in training and in "
      "validation\"], \"examples\": [{\"index\": 0, \"name\": \"#0\", \"target\": \"1 1 1 1 1 1 "
      "1 1 ...\"}, {\"index\": 1, \"name\": \"#1\", \"target\": \"0.5 0 1 0 0 0 0 0 ...\"}, "
      "{\"index\": 2, \"name\": \"#2\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}, {\"index\": 3, "
      "\"name\": \"#3\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}, {\"index\": 4, \"name\": \"#4\", "
      "\"target\": \"0 0 0 0 0 0 0 0 ...\"}, {\"index\": 5, \"name\": \"#5\", \"target\": \"0 0 0 "
      "0 0 0 0 0 ...\"}, {\"index\": 6, \"name\": \"#6\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}, "
      "{\"index\": 7, \"name\": \"#7\", \"target\": \"0 0 0 0 0 0 0 0 ...\"}]}\n"
      "= 0\n");
  INSPECT ("$/grouped.csv --set data.group_column=who",
           "Pixels in rows of text: grouped.csv\n"
           "samples     6\n"
           "size        8x8 (width x height), 1 channel, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.5/0.25; as they "
           "are with data.normalise=false\n"
           "on disk     1.38 KiB\n"
           "classes     2\n"
           "groups      3 by the column “who”, of 1 to 3 samples\n"
           "parts       5 samples of 2 groups to train, 1 sample of 1 group to validate\n"
           "\n"
           "class  samples   share\n"
           "x            3  50.0 %\n"
           "y            3  50.0 %\n"
           "\n"
           "example  target\n"
           "#0       x\n"
           "#2       x\n"
           "#4       x\n"
           "#1       y\n"
           "#3       y\n"
           "#5       y\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of class “x”, “y”: a network hardly learns it, and "
           "its accuracy says little\n"
           "= 0\n");
  INSPECT (
      "$/grouped.csv --set data.group_column=who --set data.test_split=0.3 --set "
      "data.val_split=0.3 --json",
      "{\"kind\": \"pixel-rows\", \"title\": \"Pixels in rows of text\", \"name\": "
      "\"grouped.csv\", \"data\": \"$/grouped.csv\", \"samples\": 6, \"unreadable\": 0, "
      "\"bytes\": 1413, \"element\": \"uint8\", \"axes\": null, \"normalise\": true, \"fed\": "
      "\"bytes divided by 255, less mean over deviation 0.5/0.25; as they are with "
      "data.normalise=false\", \"channels\": 1, \"min_width\": 8, \"max_width\": 8, "
      "\"min_height\": 8, \"max_height\": 8, \"resizable\": true, \"target\": \"class\", "
      "\"task\": \"classes\", \"task_guessed\": false, \"classes\": 2, \"class_names\": [\"x\", "
      "\"y\"], \"class_counts\": [3, 3], \"fields\": [{\"name\": \"image\", \"role\": \"input\", "
      "\"element\": \"uint8\", \"axes\": \"HWC\", \"shape\": [8, 8, 1], \"variable\": false}, "
      "{\"name\": \"class\", \"role\": \"target\", \"element\": \"int32\", \"axes\": \"\", "
      "\"shape\": "
      "[], \"variable\": false}, {\"name\": \"seed\", \"role\": \"seed\", \"element\": \"int32\", "
      "\"axes\": \"\", \"shape\": [], \"variable\": false}], \"has_split\": false, "
      "\"generated\": false, \"groups\": {\"column\": \"who\", \"groups\": 3, \"smallest\": 1, "
      "\"largest\": 3}, \"parts\": {\"n_train\": 3, \"n_validation\": 1, \"n_test\": 2, "
      "\"groups_train\": 1, \"groups_validation\": 1, \"groups_test\": 1}, "
      "\"unreadable_files\": [], \"notes\": [], \"warnings\": [\"Fewer than 10 samples of "
      "class “x”, “y”: a network hardly learns it, and its accuracy says little\"], "
      "\"examples\": [{\"index\": 0, \"name\": \"#0\", \"target\": \"x\"}, {\"index\": 2, "
      "\"name\": "
      "\"#2\", \"target\": \"x\"}, {\"index\": 4, \"name\": \"#4\", \"target\": \"x\"}, "
      "{\"index\": 1, "
      "\"name\": \"#1\", \"target\": \"y\"}, {\"index\": 3, \"name\": \"#3\", \"target\": \"y\"}, "
      "{\"index\": 5, \"name\": \"#5\", \"target\": \"y\"}]}\n"
      "= 0\n");
  INSPECT ("$/grouped.csv --set data.test_split=0.3",
           "Pixels in rows of text: grouped.csv\n"
           "samples     6\n"
           "size        8x8 (width x height), 1 channel, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.5/0.25; as they "
           "are with data.normalise=false\n"
           "on disk     1.38 KiB\n"
           "classes     2\n"
           "parts       2 samples to train, 2 samples to validate, 2 samples to test\n"
           "\n"
           "class  samples   share\n"
           "x            3  50.0 %\n"
           "y            3  50.0 %\n"
           "\n"
           "example  target\n"
           "#0       x\n"
           "#2       x\n"
           "#4       x\n"
           "#1       y\n"
           "#3       y\n"
           "#5       y\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of class “x”, “y”: a network hardly learns it, and "
           "its accuracy says little\n"
           "= 0\n");
  INSPECT ("$/grouped.csv --set data.test_split=0.9 --set data.val_split=0.9",
           "Pixels in rows of text: grouped.csv\n"
           "samples     6\n"
           "size        8x8 (width x height), 1 channel, uint8\n"
           "fed         bytes divided by 255, less mean over deviation 0.5/0.25; as they "
           "are with data.normalise=false\n"
           "on disk     1.38 KiB\n"
           "classes     2\n"
           "parts       1 sample to train, 1 sample to validate, 4 samples to test\n"
           "\n"
           "class  samples   share\n"
           "x            3  50.0 %\n"
           "y            3  50.0 %\n"
           "\n"
           "example  target\n"
           "#0       x\n"
           "#2       x\n"
           "#4       x\n"
           "#1       y\n"
           "#3       y\n"
           "#5       y\n"
           "\n"
           "what may hurt:\n"
           "  Fewer than 10 samples of class “x”, “y”: a network hardly learns it, and "
           "its accuracy says little\n"
           "= 0\n");
  INSPECT ("builtin:shapes --set augment.flip=true",
           "inspect: --set takes other settings than those of how DATA is read "
           "(data.task) or divided (data.test_split) only with --preview FILE.png\n"
           "Try 'inspect --help'.\n"
           "= 2\n");
  INSPECT ("builtin:shapes --set augment.flip=true --set data.task=classes",
           "inspect: --set takes other settings than those of how DATA is read (data.task) or "
           "divided (data.test_split) only with --preview FILE.png\n"
           "Try 'inspect --help'.\n"
           "= 2\n");
  INSPECT ("builtin:shapes --set augment.flip",
           "dynoctl: --set augment.flip: a setting is given as KEY=VALUE\n"
           "= 2\n");
#undef INSPECT
}

/* --- devices ---------------------------------------------------------------------------------- */

static const DynoDeviceInfo *shown_device;

static int
print_device (int argc, char **argv)
{
  dyno_device_print (shown_device, argc > 1);
  return 0;
}

/* A device that has everything, with its rates, and one that has little. */
static void
test_devices (void)
{
  const DynoCeilings rates = { .copy_bytes_per_s = 1.5e12,
                               .fma_flops_per_s = 20e12,
                               .single_flops_per_s = 15e12,
                               .matrix_flops_per_s = 90e12,
                               .single_kernel = "f32 tile",
                               .matrix_kernel = "f16 tile" };
  DynoDeviceInfo info = { .index = 3,
                          .name = "Card",
                          .driver = "a driver 1.2",
                          .vendor_id = 1,
                          .device_id = 2,
                          .api_version = 1u << 22 | 3u << 12 | 250,
                          .type = DYNO_DEVICE_TYPE_DISCRETE,
                          .vram_bytes = G_GUINT64_CONSTANT (12) << 30,
                          .fp16 = TRUE,
                          .matrix = DYNO_MATRIX_NV,
                          .matrix_khr_device = TRUE,
                          .matrix_shapes = "16x16x16",
                          .subgroup_size = 32,
                          .shared_bytes = 49152,
                          .max_invocations = 1024,
                          .processors = 28,
                          .memory_budget = TRUE,
                          .transfer_queue = TRUE,
                          .timestamp_ns = 0.5 };
  DynoDeviceInfo bare = { .name = "Bare", .driver = "none", .type = DYNO_DEVICE_TYPE_INTEGRATED };
  g_autofree char *json = NULL, *compiler = NULL;
  const char *end, *start;

  g_assert_true (dyno_state_dir_set (folder, NULL));
  for (guint i = 0; i < 16; i++)
    info.uuid[i] = (guint8) (i * 17);
  shown_device = &bare;
  check (print_device, "devices",
         "0  Bare\n"
         "   type        integrated, Vulkan 0.0\n"
         "   driver      none\n"
         "   memory      0 B\n"
         "   AMP         no: the device has no fp16\n"
         "   matrix      no units: FMA\n"
         "   subgroup    0, workgroup memory 0 B, 0 invocations\n"
         "   processors  assumed to be 8: the driver does not report them\n"
         "   transfers   on the compute queue\n"
         "= 0\n");
  bare.type = DYNO_DEVICE_TYPE_SOFTWARE;
  bare.index = 1;
  check (print_device, "devices",
         "1  Bare (software, slow)\n"
         "   type        software, Vulkan 0.0\n"
         "   driver      none\n"
         "   memory      0 B\n"
         "   AMP         no: the device has no fp16\n"
         "   matrix      no units: FMA\n"
         "   subgroup    0, workgroup memory 0 B, 0 invocations\n"
         "   transfers   on the compute queue\n"
         "= 0\n");
  shown_device = &info;
  dyno_ceilings_keep (&info, &rates);
  check (print_device, "devices",
         "3  Card\n"
         "   type        discrete, Vulkan 1.3\n"
         "   driver      a driver 1.2\n"
         "   memory      12.0 GiB, use by other programs known\n"
         "   AMP         yes\n"
         "   matrix      VK_NV_cooperative_matrix\n"
         "               the device also has the faster VK_KHR_cooperative_matrix, "
         "which a build with a newer\n"
         "               shader compiler uses (Debian 13, Ubuntu 24.10 or later)\n"
         "   subgroup    32, workgroup memory 48.0 KiB, 1024 invocations\n"
         "   processors  28\n"
         "   transfers   on a queue of their own\n"
         "   measured    copy 1,500 GB/s, fp32 in registers 20.0 TFLOP/s\n"
         "               fp32 product 15.0 TFLOP/s (f32 tile)\n"
         "               fp16 product on matrix units 90.0 TFLOP/s (f16 tile)\n"
         "= 0\n");
  json = run (print_device, "devices --json");
  end = strstr (json, ", \"subgroup_size\"");
  start = strstr (json, ", \"compiler\"");
  g_assert_true (start && end);
  compiler = g_strndup (json, (gsize) (start - json));
  g_assert_cmpstr (
      compiler, ==,
      "{\"index\": 3, \"name\": \"Card\", \"driver\": \"a driver 1.2\", \"type\": \"discrete\", "
      "\"software\": false, \"note\": null, \"api\": \"1.3.250\", \"uuid\": "
      "\"00112233445566778899aabbccddeeff\", \"vendor_id\": 1, \"device_id\": 2, "
      "\"vram_bytes\": 12884901888, \"fp16\": true, \"matrix\": \"nv\", \"matrix_khr_device\": "
      "true, \"matrix_nv_device\": false, \"matrix_shapes\": \"16x16x16\"");
  g_assert_cmpstr (
      end, ==,
      ", \"subgroup_size\": 32, \"shared_bytes\": 49152, \"max_invocations\": 1024, "
      "\"processors\": 28, \"memory_budget\": true, \"transfer_queue\": true, "
      "\"timestamp_ns\": 0.5, \"ceilings\": {\"copy_gb_per_s\": 1500, \"fma_tflop_per_s\": "
      "20, \"fp32_tflop_per_s\": 15, \"fp32_kernel\": \"f32 tile\", \"matrix_tflop_per_s\": "
      "90, \"matrix_kernel\": \"f16 tile\"}}\n"
      "= 0\n");
}

/* --- the numbers of a preset beside those of a run -------------------------------------------- */

static DynoCliJob *expected_job;
static DynoRunStatus expected_status;
static DynoDiagnosisInput *expected_input;

static int
print_expected (int argc, char **argv)
{
  if (argc > 1)
    dyno_expected_print_event (expected_job, &expected_status, expected_input);
  else
    dyno_expected_print (expected_job, &expected_status, expected_input);
  return 0;
}

/* Only what is both expected and measured; nothing without a preset. */
static void
test_expected (void)
{
  g_autofree char *path = g_build_filename (folder, "expected.preset", NULL);
  g_autofree DynoDiagnosisInput *input = g_new (DynoDiagnosisInput, 1);
  g_auto (DynoCliJob) job = { 0 };
  g_autoptr (GError) error = NULL;

  expected_job = &job;
  expected_input = input;
  dyno_diagnosis_input_init (input);
  g_assert_true (g_file_set_contents (path, preset, -1, NULL));
  job.job = dyno_job_new ();
  job.dataset = dyno_dataset_open ("builtin:poses?size=16&samples=4", NULL, NULL, NULL, NULL, NULL);
  g_strlcpy (job.device.name, "This card", sizeof job.device.name);
  expected_status.run_rate = 70.5;
  check (print_expected, "expected", "= 0\n");
  check (print_expected, "expected --json", "= 0\n");
  job.preset = dyno_preset_find (path, NULL, &error);
  g_assert_no_error (error);
  check (print_expected, "expected",
         "preset: 70.5 samples/s (expected 300-500); expected is of its guide's network "
         "on My card, this is This card\n"
         "= 0\n");
  check (print_expected, "expected --json",
         "{\"event\": \"expected\", \"preset\": \"expected\", \"samples_per_s\": {\"measured\": "
         "70.5, \"expected\": [300, 500]}}\n"
         "= 0\n");
  input->log.whole.vram_bytes = G_GUINT64_CONSTANT (3) << 30;
  input->sensors.gpu_power = 90;
  check (print_expected, "expected",
         "preset: 70.5 samples/s (expected 300-500), 3 GB (expected 5), 90 W (expected "
         "100-120); expected is of its guide's network on My card, this is This card\n"
         "= 0\n");
  check (print_expected, "expected --json",
         "{\"event\": \"expected\", \"preset\": \"expected\", \"samples_per_s\": {\"measured\": "
         "70.5, \"expected\": [300, 500]}, \"vram_gb\": {\"measured\": 3, \"expected\": [5, "
         "5]}, \"power_w\": {\"measured\": 90, \"expected\": [100, 120]}}\n"
         "= 0\n");
  expected_status.run_rate = (double) NAN;
  input->log.whole.vram_bytes = 0;
  input->sensors.gpu_power = (double) NAN;
  check (print_expected, "expected", "= 0\n");
  check (print_expected, "expected --json", "= 0\n");
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
  check (print_masks, "masks",
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
  check (print_masks, "masks",
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
  check (
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
  check (print_masks, "masks",
         "unet on masks: 0 samples in 2.0 s, 0 samples/s; 1 could not be read\n"
         "= 0\n");
  dyno_dataset_unref (mask_data);
}

/* --- train, save and evaluate ----------------------------------------------------------------- */

/* Refusals before anything is opened. */
static void
test_refusals (void)
{
#define TRAIN(line, expected)    check (dyno_verb_train, "train " line, expected)
#define SAVE(line, expected)     check (dyno_verb_save, "save " line, expected)
#define EVALUATE(line, expected) check (dyno_verb_evaluate, "evaluate " line, expected)
  TRAIN ("--steps 0", "train: --steps 0: it is 1 or more\n"
                      "Try 'train --help'.\n"
                      "= 2\n");
  TRAIN ("--folds 1", "train: --folds 1: it is 2 to 100\n"
                      "Try 'train --help'.\n"
                      "= 2\n");
  TRAIN ("--folds 101", "train: --folds 101: it is 2 to 100\n"
                        "Try 'train --help'.\n"
                        "= 2\n");
  TRAIN ("--folds 100 --devices 0", "train: folds are trained by one process on one device\n"
                                    "Try 'train --help'.\n"
                                    "= 2\n");
  TRAIN ("--folds 2 --save-weights w",
         "train: --save-weights: each fold has weights of its own, which are in its "
         "folder\n"
         "Try 'train --help'.\n"
         "= 2\n");
  TRAIN ("--out a --no-out", "train: --out and --no-out exclude each other\n"
                             "Try 'train --help'.\n"
                             "= 2\n");
  TRAIN ("--name a --resume b",
         "train: --name: a run that is resumed keeps its name; 'dynoctl runs rename' "
         "gives it another one\n"
         "Try 'train --help'.\n"
         "= 2\n");
  TRAIN ("--device 0 --devices 0,1", "train: --device and --devices exclude each other\n"
                                     "Try 'train --help'.\n"
                                     "= 2\n");
  TRAIN ("--save-weights $/output",
         "train: --save-weights: “$/output” exists; name another file, or replace it by "
         "--force\n"
         "Try 'train --help'.\n"
         "= 2\n");
  SAVE ("", "save: name the weights: --run DIR or --weights FILE\n"
            "Try 'save --help'.\n"
            "= 2\n");
  SAVE ("--run a --weights b", "save: --run and --weights are two ways to say the same: name one\n"
                               "Try 'save --help'.\n"
                               "= 2\n");
  SAVE ("--run a", "save: name the format: --to onnx or --to int8\n"
                   "Try 'save --help'.\n"
                   "= 2\n");
  SAVE ("--run a --to pth", "save: --to pth: it is onnx or int8\n"
                            "Try 'save --help'.\n"
                            "= 2\n");
  SAVE ("--run a --to int8 --half",
        "save: --half, --keep-batchnorm and --normalise are of --to onnx\n"
        "Try 'save --help'.\n"
        "= 2\n");
  SAVE ("--run a --to int8 --keep-batchnorm",
        "save: --half, --keep-batchnorm and --normalise are of --to onnx\n"
        "Try 'save --help'.\n"
        "= 2\n");
  SAVE ("--run a --to int8 --normalise",
        "save: --half, --keep-batchnorm and --normalise are of --to onnx\n"
        "Try 'save --help'.\n"
        "= 2\n");
  SAVE ("--run a --to onnx --data b", "save: --data measures what --to int8 costs\n"
                                      "Try 'save --help'.\n"
                                      "= 2\n");
  SAVE ("--run $/none --to onnx --json",
        "{\"event\": \"error\", \"text\": \"Cannot read “$/none/weights.safetensors”: No such "
        "file or directory\", \"code\": 3}\n"
        "dynoctl: Cannot read “$/none/weights.safetensors”: No such file or directory\n"
        "= 3\n");
  SAVE ("--weights $/output --to onnx --out $/output",
        "save: “$/output” is there; --force replaces it\n"
        "Try 'save --help'.\n"
        "= 2\n");
  EVALUATE ("-w a b --worst -1", "evaluate: --worst -1: it is from 0 to 100000\n"
                                 "Try 'evaluate --help'.\n"
                                 "= 2\n");
  EVALUATE ("-w a b --worst 100001", "evaluate: --worst 100001: it is from 0 to 100000\n"
                                     "Try 'evaluate --help'.\n"
                                     "= 2\n");
  EVALUATE ("-w a b c", "evaluate: more than one DATA; its labels come from one data set\n"
                        "Try 'evaluate --help'.\n"
                        "= 2\n");
  EVALUATE ("-w a b --calibrate --mirror",
            "evaluate: --calibrate and --mirror: a calibration is for predictions without "
            "the mirror image\n"
            "Try 'evaluate --help'.\n"
            "= 2\n");
  EVALUATE ("-w a b --part half", "dynoctl: Cannot read “a”: No such file or directory\n"
                                  "= 3\n");
  EVALUATE ("-w $/none builtin:shapes --worst 100000",
            "dynoctl: Cannot read “$/none”: No such file or directory\n"
            "= 3\n");
#undef TRAIN
#undef SAVE
#undef EVALUATE
}

int
main (int argc, char **argv)
{
  g_autofree char *command = NULL;
  int code;

  /* No device: what is printed does not depend on the machine. */
  g_setenv ("VK_DRIVER_FILES", "/nonexistent", TRUE);
  g_setenv ("VK_ICD_FILENAMES", "/nonexistent", TRUE);
  g_setenv ("TZ", "UTC", TRUE);
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("dyno-verbs-XXXXXX", NULL);
  g_test_add_func ("/cli/verbs/runs", test_runs);
  g_test_add_func ("/cli/verbs/predict-options", test_predict_options);
  g_test_add_func ("/cli/verbs/out-folder", test_out_folder);
  g_test_add_func ("/cli/verbs/presets", test_presets);
  g_test_add_func ("/cli/verbs/serve", test_serve);
  g_test_add_func ("/cli/verbs/quick", test_quick);
  g_test_add_func ("/cli/verbs/sensors", test_sensors);
  g_test_add_func ("/cli/verbs/diagnose", test_diagnose);
  g_test_add_func ("/cli/verbs/diagnosis", test_diagnosis);
  g_test_add_func ("/cli/verbs/inspect", test_inspect);
  g_test_add_func ("/cli/verbs/devices", test_devices);
  g_test_add_func ("/cli/verbs/expected", test_expected);
  g_test_add_func ("/cli/verbs/masks", test_masks);
  g_test_add_func ("/cli/verbs/refusals", test_refusals);
  code = g_test_run ();
  command = g_strdup_printf ("rm -r '%s'", folder);
  if (code == 0)
    g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL);
  return code;
}
