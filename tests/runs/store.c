/* SPDX-License-Identifier: MIT */
/* Runs, searches and rates in the history: stored values are read back, complete and under their
 * own names. */
#include "process.h"
#include "store-private.h"
#include "train-test.h"
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EPOCHS 3

static DynoStore *
open_store (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, "history.sqlite", NULL);
  g_autoptr (GError) error = NULL;
  DynoStore *store = dyno_store_open (path, &error);

  g_assert_no_error (error);
  g_assert_nonnull (store);
  return store;
}

static DynoStoredRun *
make_run (const char *model, const char *data, const char *folder)
{
  DynoStoredRun *run = dyno_stored_run_new ();

  run->model = g_strdup (model);
  run->data = g_strdup (data);
  run->folder = g_strdup (folder);
  run->state = DYNO_RUN_STATE_FINISHED;
  run->begin_us = 1000;
  return run;
}

static void
put (DynoStore *store, DynoStoredRun *run)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (dyno_store_put_run (store, run, NULL, 0, &error));
  g_assert_no_error (error);
}

static guint
count (DynoStore *store, const DynoRunFilter *filter)
{
  g_autoptr (GPtrArray) runs = dyno_store_list_runs (store, filter, NULL);

  g_assert_nonnull (runs);
  return runs->len;
}

/* Sets each setting to a value other than its default. */
static void
change_all (DynoSettings *settings)
{
  guint n;
  const DynoSettingInfo *table = dyno_setting_list (&n);

  for (guint i = 0; i < n; i++)
    {
      double now = dyno_settings_get_number (settings, table[i].key);
      double other = now != table[i].minimum ? table[i].minimum : table[i].maximum;

      if (table[i].type == DYNO_SETTING_TEXT)
        other = g_quark_from_static_string ("layer1, layer2");
      g_assert_true (dyno_settings_set_number (settings, table[i].key, other, NULL));
    }
}

static void
fill (DynoStoredRun *run)
{
  change_all (&run->settings);
  run->tags = g_strdup ("baseline, night");
  run->targets = g_strdup ("/data/y.npy");
  run->preset = g_strdup ("rtx3060");
  run->weights_in = g_strdup ("/w.safetensors");
  run->max_steps = 77;
  run->fingerprint = 0xfedcba9876543210u;
  run->n_train = 900;
  run->n_validation = 100;
  run->device = g_strdup ("A card");
  run->driver = g_strdup ("A driver 1.2");
  run->software_device = TRUE;
  run->version = g_strdup ("0.1");
  run->end_us = 5000;
  run->seen_us = 6000;
  run->state = DYNO_RUN_STATE_FAILED;
  run->error = g_strdup ("it “broke”");
  run->process = g_strdup ("1 2 3 4 5");
  run->steps = 300;
  run->epochs = EPOCHS;
  run->seconds = 12.5;
  run->preparation_seconds = 1.25;
  run->loss = 0.125;
  run->metric = g_strdup ("accuracy");
  run->metric_unit = g_strdup ("");
  run->metric_is_fraction = TRUE;
  run->best_metric = 0.75;
  run->best_val_loss = 0.5;
  run->best_epoch = 2;
  run->samples_per_s = 4321.5;
  run->epoch_overhead_seconds = 0.0625;
  run->planned_bytes = 1u << 30;
  run->vram_bytes = 5000000000u;
  run->n_parameters = 11000000;
  run->parts = 4;
}

static void
test_run_comes_back (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) run = make_run ("resnet18", "/data/x.npy", "/runs/a"), back = NULL;
  g_autoptr (GArray) epochs = NULL;
  DynoEpochMetrics rows[EPOCHS] = { 0 };

  fill (run);
  for (guint i = 0; i < EPOCHS; i++)
    rows[i] = (DynoEpochMetrics){ .epoch = i + 1,
                                  .step = 100 * (i + 1),
                                  .train_loss = 1.0 / (i + 1),
                                  .val_loss = i == 0 ? (double) NAN : 2.0,
                                  .train_metrics = { 0.5 },
                                  .val_metrics = { 0.25 * i },
                                  .samples_per_s = 100,
                                  .seconds = 3 };
  g_assert_true (dyno_store_put_run (store, run, rows, EPOCHS, NULL));
  g_clear_pointer (&store, dyno_store_free);
  store = open_store (folder);
  back = dyno_store_find_run (store, run->id, NULL);
  g_assert_nonnull (back);
  g_assert_true (dyno_settings_equal (&run->settings, &back->settings));
  /* Strings are compared one by one, all other members as bytes. */
#define SAME(member)                               \
  g_assert_cmpstr (run->member, ==, back->member); \
  g_free (back->member);                           \
  back->member = run->member
  SAME (name);
  SAME (tags);
  SAME (model);
  SAME (data);
  SAME (targets);
  SAME (preset);
  SAME (weights_in);
  SAME (device);
  SAME (driver);
  SAME (version);
  SAME (folder);
  SAME (error);
  SAME (process);
  SAME (metric);
  SAME (metric_unit);
#undef SAME
  g_assert_cmpmem (run, sizeof *run, back, sizeof *back);
  g_free (g_steal_pointer (&back));
  epochs = dyno_store_list_epochs (store, run->id, NULL);
  g_assert_cmpuint (epochs->len, ==, EPOCHS);
  g_assert_true (isnan (g_array_index (epochs, DynoEpochMetrics, 0).val_loss));
  g_assert_cmpmem (&rows[1], sizeof rows[1], &g_array_index (epochs, DynoEpochMetrics, 1),
                   sizeof rows[1]);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

static void
test_written_again (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) run = make_run ("mlp", "builtin:shapes", NULL), back = NULL;

  put (store, run);
  g_assert_true (dyno_store_rename_run (store, run->id, "first", NULL));
  run->steps = 9;
  put (store, run);
  g_assert_cmpuint (count (store, NULL), ==, 1);
  back = dyno_store_find_run (store, run->id, NULL);
  g_assert_cmpuint (back->steps, ==, 9);
  g_assert_cmpstr (back->name, ==, "first"); /* the name was given meanwhile */
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

static void
test_tags (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) run = make_run ("mlp", "builtin:shapes", NULL), back = NULL;
  g_autoptr (GError) error = NULL;

  put (store, run);
  g_assert_true (dyno_store_tag_run (store, run->id, " baseline,, for the paper ,baseline", NULL));
  put (store, run); /* its recorder goes on writing */
  back = dyno_store_find_run (store, run->id, NULL);
  g_assert_cmpstr (back->tags, ==, "baseline, for the paper");
  g_assert_true (dyno_store_tag_run (store, run->id, " , ", NULL));
  dyno_stored_run_free (g_steal_pointer (&back));
  back = dyno_store_find_run (store, run->id, NULL);
  g_assert_null (back->tags);
  g_assert_false (dyno_store_tag_run (store, 99, "x", &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A deleted run is written again as it was read: with its name, tags and epochs, and at its place in
 * the list, although it has a new id. */
static void
test_undelete (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) run = make_run ("mlp", "builtin:shapes", NULL), kept = NULL,
                            back = NULL, later = make_run ("mlp", "builtin:shapes", NULL);
  g_autoptr (GArray) epochs = NULL;
  g_autoptr (GPtrArray) runs = NULL;
  const DynoEpochMetrics epoch = { .epoch = 1, .step = 5, .train_loss = 0.5 };

  run->state = DYNO_RUN_STATE_FINISHED;
  g_assert_true (dyno_store_put_run (store, run, &epoch, 1, NULL));
  g_assert_true (dyno_store_rename_run (store, run->id, "the one", NULL));
  g_assert_true (dyno_store_tag_run (store, run->id, "good", NULL));
  kept = dyno_store_find_run (store, run->id, NULL);
  g_assert_true (dyno_store_delete_run (store, run->id, NULL));
  g_assert_null (dyno_store_find_run (store, run->id, NULL));
  later->begin_us = run->begin_us + 1;
  put (store, later);
  g_assert_true (dyno_store_put_run (store, kept, &epoch, 1, NULL));
  g_assert_cmpint (kept->id, >, later->id);
  runs = dyno_store_list_runs (store, NULL, NULL);
  g_assert_cmpuint (runs->len, ==, 2);
  g_assert_cmpint (((DynoStoredRun *) runs->pdata[0])->id, ==, later->id);
  back = dyno_store_find_run (store, kept->id, NULL);
  g_assert_cmpstr (back->name, ==, "the one");
  g_assert_cmpstr (back->tags, ==, "good");
  epochs = dyno_store_list_epochs (store, kept->id, NULL);
  g_assert_cmpuint (epochs->len, ==, 1);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

static void
test_ids (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (GError) error = NULL;
  gint64 last;

  for (gint64 i = 1; i <= 3; i++)
    {
      g_autoptr (DynoStoredRun) run = make_run ("mlp", "builtin:shapes", NULL);
      put (store, run);
      g_assert_cmpint (run->id, ==, i);
      last = run->id;
    }
  g_assert_true (dyno_store_delete_run (store, last, NULL));
  g_autoptr (DynoStoredRun) next = make_run ("mlp", "builtin:shapes", NULL);
  put (store, next);
  g_assert_cmpint (next->id, ==, 4);
  g_assert_null (dyno_store_find_run (store, last, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

static void
test_filter (void)
{
  static const char odd[] = "/data/\xff\xfe/x"; /* not UTF-8 */
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) a = make_run ("mlp", odd, odd), b = make_run ("resnet18", "/b", "/r");
  g_autoptr (GPtrArray) runs = NULL;

  put (store, a);
  put (store, b);
  g_assert_cmpuint (count (store, &(DynoRunFilter){ .model = "mlp" }), ==, 1);
  g_assert_cmpuint (count (store, &(DynoRunFilter){ .data = "\xff\xfe" }), ==, 1);
  g_assert_cmpuint (count (store, &(DynoRunFilter){ .data = "/b", .model = "mlp" }), ==, 0);
  runs = dyno_store_list_runs (store, &(DynoRunFilter){ .folder = odd, .limit = 1 }, NULL);
  g_assert_cmpuint (runs->len, ==, 1);
  g_assert_cmpstr (((DynoStoredRun *) runs->pdata[0])->data, ==, odd);
  g_ptr_array_unref (runs);
  runs = dyno_store_list_runs (store, &(DynoRunFilter){ .limit = 1 }, NULL);
  g_assert_cmpint (((DynoStoredRun *) runs->pdata[0])->id, ==, b->id); /* the newest one */
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

static void
test_folder_has_one_run (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) a = make_run ("mlp", "d", "/runs/1"),
                            b = make_run ("mlp", "d", "/runs/1"), back = NULL;

  put (store, a);
  put (store, b);
  g_assert_true (dyno_store_claim_folder (store, b, NULL));
  back = dyno_store_find_run (store, a->id, NULL);
  g_assert_null (back->folder);
  dyno_stored_run_free (back);
  back = dyno_store_find_run (store, b->id, NULL);
  g_assert_cmpstr (back->folder, ==, "/runs/1");
  /* the first run takes the folder again */
  put (store, a);
  g_assert_true (dyno_store_claim_folder (store, a, NULL));
  dyno_stored_run_free (back);
  back = dyno_store_find_run (store, b->id, NULL);
  g_assert_null (back->folder);
  dyno_stored_run_free (back);
  back = dyno_store_find_run (store, a->id, NULL);
  g_assert_cmpstr (back->folder, ==, "/runs/1");
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* --- who is alive ----------------------------------------------------------------------------- */

static DynoRunState
state_of (DynoStore *store, DynoStoredRun *run, const char *process)
{
  g_autoptr (DynoStoredRun) back = NULL;

  g_free (run->process);
  run->process = g_strdup (process);
  put (store, run);
  back = dyno_store_find_run (store, run->id, NULL);
  return back->state;
}

static volatile sig_atomic_t n_signals;

static void
count_signal (int number)
{
  n_signals++;
}

static void
test_killed_is_seen (void)
{
  g_autofree char *folder = test_folder (), *own = dyno_process_describe (), *later = NULL,
                  *other_boot = NULL, *elsewhere = NULL, *contained = NULL;
  g_auto (GStrv) parts = g_strsplit (own, " ", 5);
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) run = make_run ("mlp", "d", NULL);
  g_autoptr (GError) error = NULL;

  later = g_strdup_printf ("%s 1 %s %s %s", parts[0], parts[2], parts[3], parts[4]);
  other_boot = g_strdup_printf ("%s %s was %s %s", parts[0], parts[1], parts[3], parts[4]);
  elsewhere = g_strdup_printf ("%s %s other %s another", parts[0], parts[1], parts[3]);
  run->state = DYNO_RUN_STATE_RUNNING;
  run->seen_us = g_get_real_time () + (gint64) 3600 * G_USEC_PER_SEC;
  g_assert_cmpint (state_of (store, run, own), ==, DYNO_RUN_STATE_RUNNING);
  g_assert_false (dyno_store_delete_run (store, run->id, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE);
  /* Another process has this number now; and the machine was restarted. */
  g_assert_cmpint (state_of (store, run, later), ==, DYNO_RUN_STATE_KILLED);
  g_assert_cmpint (state_of (store, run, other_boot), ==, DYNO_RUN_STATE_KILLED);
  /* A process of another machine cannot be queried, nor can one of a container, whose numbers mean
   * other processes here: only its signs of life count. */
  contained = g_strdup_printf ("%s %s %s 1%s %s", parts[0], parts[1], parts[2], parts[3], parts[4]);
  g_assert_cmpint (dyno_process_find (own), ==, DYNO_PROCESS_ALIVE);
  g_assert_cmpint (dyno_process_find (contained), ==, DYNO_PROCESS_UNKNOWN);
  g_assert_cmpint (dyno_process_find (elsewhere), ==, DYNO_PROCESS_UNKNOWN);
  /* Only that very process is signalled. */
  signal (SIGUSR1, count_signal);
  g_assert_false (dyno_process_signal (later, SIGUSR1));
  g_assert_false (dyno_process_signal (other_boot, SIGUSR1));
  g_assert_false (dyno_process_signal (elsewhere, SIGUSR1));
  g_assert_false (dyno_process_signal (contained, SIGUSR1));
  g_assert_false (dyno_process_signal (NULL, SIGUSR1));
  g_assert_cmpint (n_signals, ==, 0);
  g_assert_true (dyno_process_signal (own, SIGUSR1));
  g_assert_cmpint (n_signals, ==, 1);
  signal (SIGUSR1, SIG_DFL);
  g_assert_cmpint (state_of (store, run, elsewhere), ==, DYNO_RUN_STATE_RUNNING);
  g_assert_cmpint (state_of (store, run, contained), ==, DYNO_RUN_STATE_RUNNING);
  run->seen_us -= (gint64) 2 * 3600 * G_USEC_PER_SEC;
  g_assert_cmpint (state_of (store, run, elsewhere), ==, DYNO_RUN_STATE_KILLED);
  g_assert_cmpint (state_of (store, run, contained), ==, DYNO_RUN_STATE_KILLED);
  g_assert_true (dyno_store_delete_run (store, run->id, NULL));
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* An ended process counts as gone, also before its parent reads its exit status. */
static void
test_process_without_parent_s_heed (void)
{
  int said[2], go[2];
  char text[200] = "";
  siginfo_t info;

  g_assert_cmpint (pipe (said) + pipe (go), ==, 0);
  pid_t child = fork ();
  g_assert_cmpint (child, >=, 0);
  if (child == 0)
    {
      g_autofree char *own = dyno_process_describe ();
      char end;
      close (go[1]);
      if (write (said[1], own, strlen (own)) < 0)
        _exit (1);
      _exit (read (go[0], &end, 1) == 0 ? 0 : 1);
    }
  g_assert_cmpint (read (said[0], text, sizeof text - 1), >, 0);
  g_assert_cmpint (dyno_process_find (text), ==, DYNO_PROCESS_ALIVE);
  close (go[1]);
  g_assert_cmpint (waitid (P_PID, (id_t) child, &info, WEXITED | WNOWAIT), ==, 0);
  g_assert_cmpint (dyno_process_find (text), ==, DYNO_PROCESS_GONE);
  g_assert_cmpint (waitpid (child, NULL, 0), ==, child);
  g_assert_cmpint (dyno_process_find (text), ==, DYNO_PROCESS_GONE);
  close (go[0]);
  close (said[0]);
  close (said[1]);
}

/* Repeated epochs of a run that was set back, and repeated trials of a resumed search, replace the
 * earlier ones, and no others. */
static void
test_done_again (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) run = make_run ("mlp", "d", NULL), other = make_run ("mlp", "d", NULL);
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  DynoDeviceInfo device = { .name = "A card" };
  gint64 search = dyno_store_begin_search (store, job, &device, 5, "/out", NULL);
  DynoEpochMetrics same = { .epoch = 2, .step = 8, .val_loss = 5 };

  g_assert_true (dyno_store_put_run (store, other, &same, 1, NULL));
  for (guint part = 0; part < 3; part++)
    {
      DynoEpochMetrics epochs[2];
      DynoStoreTrial trial = { .number = 1,
                               .stage = "trial",
                               .settings = job->settings,
                               .outcome = "ok",
                               .samples_per_s = 10 + part };
      g_autoptr (GArray) back = NULL, others = NULL;
      g_autoptr (GPtrArray) trials = NULL;

      for (guint i = 0; i < 2; i++)
        epochs[i] = (DynoEpochMetrics){ .epoch = 1 + part + i,
                                        .step = 4 * (1 + part + i),
                                        .val_loss = 100 + part };
      g_assert_true (dyno_store_put_run (store, run, epochs, 2, NULL));
      back = dyno_store_list_epochs (store, run->id, NULL);
      g_assert_cmpuint (back->len, ==, 2 + part);
      for (guint i = 0; i < back->len; i++)
        {
          const DynoEpochMetrics *epoch = &g_array_index (back, DynoEpochMetrics, i);

          g_assert_cmpuint (epoch->epoch, ==, i + 1);
          g_assert_cmpfloat (epoch->val_loss, ==, 100 + MIN (i, part));
        }
      others = dyno_store_list_epochs (store, other->id, NULL);
      g_assert_cmpuint (others->len, ==, 1);
      g_assert_cmpfloat (g_array_index (others, DynoEpochMetrics, 0).val_loss, ==, 5);
      g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
      trials = dyno_store_list_trials (store, search, NULL);
      g_assert_cmpuint (trials->len, ==, 1);
      g_assert_cmpfloat (((DynoStoreTrial *) trials->pdata[0])->samples_per_s, ==, 10 + part);
    }
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* Each search has its own end and its own trials. */
static void
test_searches_apart (void)
{
  static const char *const words[] = { "first", "second", "third" };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  const guint order[] = { 1, 0, 2 };
  DynoDeviceInfo device = { .name = "A card" };
  gint64 ids[3];

  for (guint i = 0; i < 3; i++)
    {
      ids[i] = dyno_store_begin_search (store, job, &device, 5, words[i], NULL);
      g_assert_cmpint (ids[i], >, 0);
    }
  for (guint n = 0; n < 3; n++)
    {
      guint i = order[n];
      DynoStoreTrial trial = {
        .number = 1, .stage = words[i], .settings = job->settings, .outcome = "ok"
      };
      DynoStoreSearchEnd end = { .state = i == 1 ? "stopped" : "finished", .text = words[i] };
      g_autoptr (GPtrArray) searches = NULL;

      g_assert_true (dyno_store_add_trial (store, ids[i], &trial, NULL));
      g_assert_true (dyno_store_end_search (store, ids[i], &end, NULL));
      searches = dyno_store_list_searches (store, 0, NULL);
      g_assert_cmpuint (searches->len, ==, 3);
      for (guint k = 0; k < 3; k++)
        {
          const DynoStoredSearch *search = searches->pdata[k];
          guint which = search->id == ids[0] ? 0 : search->id == ids[1] ? 1 : 2, place = 0;
          g_autoptr (GPtrArray) trials = dyno_store_list_trials (store, search->id, NULL);

          while (order[place] != which)
            place++;
          g_assert_cmpuint (trials->len, ==, place <= n);
          g_assert_cmpint (search->state, ==,
                           place > n    ? DYNO_RUN_STATE_RUNNING
                           : which == 1 ? DYNO_RUN_STATE_STOPPED
                                        : DYNO_RUN_STATE_FINISHED);
          if (place <= n)
            g_assert_cmpstr (((DynoStoreTrial *) trials->pdata[0])->stage, ==, words[which]);
        }
    }
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* --- the best epoch --------------------------------------------------------------------------- */

/* The order is that of a session: the metric, for equal values the loss, for equal losses the
 * earlier epoch. */
static void
test_best (void)
{
  static const DynoMetricInfo metric = { .name = "accuracy", .higher_is_better = TRUE };
  static const struct {
    double value, loss;
    guint64 by_metric, by_loss;
  } epochs[] = { { 0.5, (double) NAN, 0, 0 },
                 { 0.5, 3, 2, 2 },
                 { 0.5, 2, 3, 3 },
                 { 0.5, 2.5, 3, 3 },
                 { 0.4, 1, 3, 5 },
                 { 0.6, 5, 6, 5 },
                 { 0.6, 5, 6, 5 },
                 { 0.6, 4, 8, 5 },
                 { 0.9, (double) NAN, 8, 5 } };

  for (guint by_loss = 0; by_loss < 2; by_loss++)
    {
      g_autoptr (DynoStoredRun) run = dyno_stored_run_new ();

      for (guint i = 0; i < G_N_ELEMENTS (epochs); i++)
        {
          DynoEpochMetrics epoch = { .epoch = i + 1, .val_loss = epochs[i].loss };
          guint64 best = by_loss ? epochs[i].by_loss : epochs[i].by_metric;

          dyno_stored_run_take_best (run, by_loss ? NULL : &metric, epochs[i].value, &epoch);
          g_assert_cmpuint (run->best_epoch, ==, best);
          if (best == 0)
            continue;
          g_assert_cmpfloat (run->best_val_loss, ==, epochs[best - 1].loss);
          g_assert_cmpfloat (run->best_metric, ==, epochs[best - 1].value);
        }
    }
}

/* --- rates ------------------------------------------------------------------------------------ */

/* Generated samples have one fingerprint in all sizes, but not one rate. */
static void
test_rate_of_generated_samples (void)
{
  static const char *const data[] = { "builtin:shapes?size=32", "builtin:shapes?size=64" };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  DynoDeviceInfo device = { .name = "A card" };

  for (guint i = 0; i < G_N_ELEMENTS (data); i++)
    {
      g_autoptr (DynoJob) job = test_job ("mlp", data[i]);
      DynoStoreTrial trial = { .number = 1, .stage = "search", .outcome = "ok" };
      g_assert_true (isnan (dyno_store_find_rate (store, job, &device, 5)));
      trial.samples_per_s = 50 + i;
      trial.settings = job->settings;
      gint64 search = dyno_store_begin_search (store, job, &device, 5, NULL, NULL);
      g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
      g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 50 + i);
    }
  for (guint i = 0; i < G_N_ELEMENTS (data); i++)
    {
      g_autoptr (DynoJob) job = test_job ("mlp", data[i]);
      g_autoptr (DynoStoredRun) run = make_run ("mlp", data[i], NULL);
      g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 50 + i);
      run->settings = job->settings;
      run->fingerprint = 5;
      run->device = g_strdup ("A card");
      run->samples_per_s = 100 + i;
      put (store, run);
      g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 100 + i);
    }
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

static void
test_rate (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  g_autoptr (DynoStoredRun) run = make_run ("mlp", "d", NULL);
  DynoDeviceInfo device = { .name = "A card" }, other = { .name = "Another" };
  g_autoptr (DynoJob) job = test_job ("mlp", "d");

  run->settings = job->settings;
  run->fingerprint = 5;
  run->device = g_strdup ("A card");
  run->samples_per_s = 1234;
  put (store, run);
  g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 1234);
  /* A trial is shorter: it does not count beside the run. */
  DynoStoreTrial trial = { .number = 1, .stage = "search", .outcome = "ok", .samples_per_s = 50 };
  trial.settings = job->settings;
  gint64 search = dyno_store_begin_search (store, job, &device, 5, NULL, NULL);
  g_assert_true (dyno_store_add_trial (store, search, &trial, NULL));
  g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 1234);
  test_job_set (job, "lr=0.001", "epochs=99", "seed=8", NULL); /* these do not change the rate */
  g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 1234);
  g_assert_true (isnan (dyno_store_find_rate (store, job, &device, 6)));
  g_assert_true (isnan (dyno_store_find_rate (store, job, &other, 5)));
  test_job_set (job, "batch_size=8", NULL);
  g_assert_true (isnan (dyno_store_find_rate (store, job, &device, 5)));
  g_free (job->model);
  job->model = g_strdup ("resnet18");
  test_job_set (job, "batch_size=16", NULL);
  g_assert_true (isnan (dyno_store_find_rate (store, job, &device, 5)));
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* --- searches --------------------------------------------------------------------------------- */

static void
test_search (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  DynoDeviceInfo device = { .name = "A card" };
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  DynoStoreTrial trial = { .number = 1,
                           .stage = "trial",
                           .settings = job->settings,
                           .outcome = "ok",
                           .samples_per_s = 50,
                           .low = 48,
                           .high = 53,
                           .predicted = (double) NAN,
                           .vram_bytes = 7,
                           .planned_bytes = 8 };
  g_autoptr (GPtrArray) searches = NULL, trials = NULL;
  g_autoptr (GError) error = NULL;
  const DynoStoredSearch *search;
  const DynoStoreTrial *back;
  gint64 id = dyno_store_begin_search (store, job, &device, 5, "/out", &error), other;

  g_assert_no_error (error);
  g_assert_true (dyno_store_add_trial (store, id, &trial, &error));
  trial.number = 2;
  trial.outcome = "oom";
  trial.samples_per_s = (double) NAN;
  trial.text = "it did not fit";
  g_assert_true (dyno_store_add_trial (store, id, &trial, &error));
  /* A trial's rate is stored as that of a run is. */
  g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 50);
  searches = dyno_store_list_searches (store, 0, &error);
  search = searches->pdata[0];
  g_assert_cmpint (search->state, ==, DYNO_RUN_STATE_RUNNING);
  g_assert_false (search->has_best);
  g_assert_false (dyno_store_delete_search (store, id, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_ACTIVE);
  g_clear_error (&error);
  g_assert_true (dyno_store_end_search (store, id,
                                        &(DynoStoreSearchEnd){ .best = &job->settings,
                                                               .best_samples_per_s = 50,
                                                               .baseline_samples_per_s = 10,
                                                               .proven = TRUE,
                                                               .state = "finished",
                                                               .text = "5 times" },
                                        &error));
  g_ptr_array_unref (searches);
  searches = dyno_store_list_searches (store, 1, &error);
  search = searches->pdata[0];
  g_assert_cmpint (search->state, ==, DYNO_RUN_STATE_FINISHED);
  g_assert_true (search->has_best && search->proven);
  g_assert_true (dyno_settings_equal (&search->best, &job->settings));
  g_assert_cmpuint (search->n_trials, ==, 2);
  g_assert_cmpstr (search->folder, ==, "/out");
  trials = dyno_store_list_trials (store, id, &error);
  g_assert_cmpuint (trials->len, ==, 2);
  back = trials->pdata[0];
  g_assert_cmpfloat (back->high, ==, 53);
  g_assert_true (isnan (back->predicted));
  back = trials->pdata[1];
  g_assert_cmpstr (back->outcome, ==, "oom");
  g_assert_cmpstr (back->text, ==, "it did not fit");
  g_assert_true (dyno_settings_equal (&back->settings, &job->settings));
  g_assert_false (dyno_store_add_trial (store, id + 1, &trial, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_true (dyno_store_rename_search (store, id, "night\342\200\231s", &error));
  g_assert_false (dyno_store_rename_search (store, id + 1, "none", &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_autoptr (DynoStoredSearch) named = dyno_store_find_search (store, id, &error);
  g_assert_cmpstr (named->name, ==, "night\342\200\231s");
  g_assert_true (dyno_store_rename_search (store, id, "", &error));
  g_autoptr (DynoStoredSearch) unnamed = dyno_store_find_search (store, id, &error);
  g_assert_null (unnamed->name);
  g_assert_cmpuint (unnamed->n_trials, ==, 2);
  /* Deleting a search deletes its trials, whose rates are forgotten, and no other search. */
  other = dyno_store_begin_search (store, job, &device, 5, NULL, &error);
  g_assert_true (dyno_store_delete_search (store, id, &error));
  g_assert_false (dyno_store_delete_search (store, id, &error));
  g_assert_error (error, DYNO_RUNS_ERROR, DYNO_RUNS_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (dyno_store_find_search (store, id, NULL));
  g_autoptr (DynoStoredSearch) left = dyno_store_find_search (store, other, &error);
  g_assert_no_error (error);
  g_assert_cmpint (left->id, ==, other);
  g_autoptr (GPtrArray) none = dyno_store_list_trials (store, id, &error);
  g_assert_cmpuint (none->len, ==, 0);
  g_assert_true (isnan (dyno_store_find_rate (store, job, &device, 5)));
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* The text of a trial states that its cache was still being filled, so a run with these settings is
 * faster.  The results of a race have texts too. */
static void
test_filling (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  DynoDeviceInfo device = { .name = "A card" };
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  DynoStoreTrial trial = { .number = 1,
                           .stage = "today",
                           .outcome = "ok",
                           .samples_per_s = 50,
                           .text = "the cache was still being filled" };
  gint64 id;

  test_job_set (job, "cache=true", NULL);
  trial.settings = job->settings;
  id = dyno_store_begin_search (store, job, &device, 5, NULL, NULL);
  g_assert_true (dyno_store_add_trial (store, id, &trial, NULL));
  g_assert_true (isnan (dyno_store_find_rate (store, job, &device, 5)));
  trial.number = 2;
  trial.stage = "goal";
  trial.samples_per_s = 70;
  trial.text = "accuracy 90 % after 3 epochs, 9 s";
  g_assert_true (dyno_store_add_trial (store, id, &trial, NULL));
  g_assert_cmpfloat (dyno_store_find_rate (store, job, &device, 5), ==, 70);
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

/* A ceiling is found by the settings that it depends on, and not by others. */
static void
test_ceilings (void)
{
  static const struct {
    const char *change;
    gboolean loader, gpu; /* whether it is still found */
  } cases[] = {
    { "lr=0.5", TRUE, TRUE },         { "workers=7", FALSE, TRUE },
    { "cache=true", FALSE, TRUE },    { "batch_size=8", TRUE, FALSE },
    { "amp=false", TRUE, FALSE },     { "image_size=20", FALSE, FALSE },
    { "vram_budget=1G", TRUE, TRUE }, { "seed=9", TRUE, TRUE },
    { "prefetch=5", FALSE, TRUE },    { "data.layout=nchw", FALSE, FALSE },
    { "epochs=3", TRUE, TRUE },       { "checkpointing=true", TRUE, FALSE },
  };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoStore) store = open_store (folder);
  DynoDeviceInfo device = { .name = "A card" };
  g_autoptr (DynoJob) job = test_job ("mlp", "d");
  DynoStoreTrial trial = { .number = 1, .stage = "loader", .outcome = "ok", .samples_per_s = 50 };
  double loader, gpu;
  gint64 id;

  test_job_set (job, "workers=3", "amp=true", "batch_size=16", NULL);
  trial.settings = job->settings;
  id = dyno_store_begin_search (store, job, &device, 5, NULL, NULL);
  dyno_store_find_ceilings (store, "mlp", 5, "A card", &job->settings, &loader, &gpu);
  g_assert_true (isnan (loader) && isnan (gpu));
  g_assert_true (dyno_store_add_trial (store, id, &trial, NULL));
  trial = (DynoStoreTrial){ .number = 2, .stage = "gpu", .outcome = "ok", .samples_per_s = 70 };
  trial.settings = job->settings;
  g_assert_true (dyno_store_add_trial (store, id, &trial, NULL));
  /* an incomplete measurement has no ceiling */
  trial = (DynoStoreTrial){ .number = 3, .stage = "gpu", .outcome = "oom", .samples_per_s = 90 };
  trial.settings = job->settings;
  g_assert_true (dyno_store_add_trial (store, id, &trial, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoJob) other = dyno_job_copy (job);

      test_job_set (other, cases[i].change, NULL);
      dyno_store_find_ceilings (store, "mlp", 5, "A card", &other->settings, &loader, &gpu);
      g_test_message ("%s", cases[i].change);
      g_assert_true (cases[i].loader ? loader == 50 : isnan (loader));
      g_assert_true (cases[i].gpu ? gpu == 70 : isnan (gpu));
    }
  /* The newest search counts. */
  for (guint i = 1; i <= 2; i++)
    {
      id = dyno_store_begin_search (store, job, &device, 5, NULL, NULL);
      trial = (DynoStoreTrial){
        .number = 1, .stage = "loader", .outcome = "ok", .samples_per_s = 50 + i
      };
      trial.settings = job->settings;
      g_assert_true (dyno_store_add_trial (store, id, &trial, NULL));
      dyno_store_find_ceilings (store, "mlp", 5, "A card", &job->settings, &loader, &gpu);
      g_assert_true (loader == 50 + i && gpu == 70);
    }
  dyno_store_find_ceilings (store, "mlp", 6, "A card", &job->settings, &loader, &gpu);
  g_assert_true (isnan (loader) && isnan (gpu));
  dyno_store_find_ceilings (store, "mlp", 5, "Another", &job->settings, &loader, &gpu);
  g_assert_true (isnan (loader) && isnan (gpu));
  g_clear_pointer (&store, dyno_store_free);
  test_remove_tree (folder);
}

static void
test_titles_and_jobs (void)
{
  g_autoptr (DynoStoredRun) run = make_run ("mlp", "builtin:shapes?size=8", NULL);
  g_autoptr (DynoJob) job = NULL;
  char *title = dyno_stored_run_get_title (run);

  g_assert_cmpstr (title, ==, "mlp on builtin:shapes");
  g_free (title);
  run->folder = g_strdup ("/a/b");
  title = dyno_stored_run_get_title (run);
  g_assert_cmpstr (title, ==, "b");
  g_free (title);
  run->name = g_strdup ("mine");
  title = dyno_stored_run_get_title (run);
  g_assert_cmpstr (title, ==, "mine");
  g_free (title);
  run->settings.batch_size = 11;
  job = dyno_stored_run_get_job (run);
  g_assert_cmpstr (job->data, ==, "builtin:shapes?size=8");
  g_assert_cmpint (job->settings.batch_size, ==, 11);
  g_assert_null (job->out_dir); /* the job is another run */
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runs/store/run-comes-back", test_run_comes_back);
  g_test_add_func ("/runs/store/entry-is-written-again", test_written_again);
  g_test_add_func ("/runs/store/tags-are-tidy-and-stay", test_tags);
  g_test_add_func ("/runs/store/a-deleted-run-comes-back", test_undelete);
  g_test_add_func ("/runs/store/ids-are-never-given-twice", test_ids);
  g_test_add_func ("/runs/store/filters-and-keeps-bytes-of-names", test_filter);
  g_test_add_func ("/runs/store/a-folder-has-one-run", test_folder_has_one_run);
  g_test_add_func ("/runs/store/a-dead-process-does-not-run", test_killed_is_seen);
  g_test_add_func ("/runs/store/best-epoch-as-a-session-has-it", test_best);
  g_test_add_func ("/runs/store/rate-of-equal-settings", test_rate);
  g_test_add_func ("/runs/store/rate-of-generated-samples", test_rate_of_generated_samples);
  g_test_add_func ("/runs/store/search-and-trials", test_search);
  g_test_add_func ("/runs/store/process-without-parent-s-heed", test_process_without_parent_s_heed);
  g_test_add_func ("/runs/store/what-is-done-again-takes-its-place", test_done_again);
  g_test_add_func ("/runs/store/searches-end-apart", test_searches_apart);
  g_test_add_func ("/runs/store/rate-of-a-cache-that-filled-is-not-remembered", test_filling);
  g_test_add_func ("/runs/store/ceilings-of-the-settings-that-count", test_ceilings);
  g_test_add_func ("/runs/store/title-and-job", test_titles_and_jobs);
  return g_test_run ();
}
