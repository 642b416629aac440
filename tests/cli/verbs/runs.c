/* SPDX-License-Identifier: MIT */
/* Runs and searches of the history. */
#include "verbs.h"
#include "cli.h"
#include "store.h"
#include <math.h>
#include <string.h>

#define BEGIN_US (G_GINT64_CONSTANT (1700000000) * G_USEC_PER_SEC) /* 2023-11-14 22:13:20 UTC */

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
#define RUNS(line, expected) \
  verbs_check (dyno_verb_runs, "dynoctl|runs " line " --state-dir $", expected)
  g_autofree char *path = g_build_filename (verbs_folder, "history.sqlite", NULL), *shown = NULL;
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
  shown = verbs_run (dyno_verb_runs, "dynoctl|runs show 1 --json --state-dir $");
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

void
verbs_add_runs (void)
{
  g_test_add_func ("/cli/verbs/runs", test_runs);
}
