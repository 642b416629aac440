/* SPDX-License-Identifier: MIT */
/* Several ranks train as one process does that accumulates as many batches: sessions in threads of
 * this process, each on a software device of its own. */
#include "checked.h"
#include "checkpoint.h"
#include "comm-test.h"
#include "image.h"
#include "schedule.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define MOST_RANKS 4

typedef struct {
  const DynoJob *job;
  TestHook hooks[MOST_RANKS];
  gpointer data;
  TestRun runs[MOST_RANKS];
} Group;

static void
run_one (DynoComm *comm, gpointer data)
{
  Group *group = data;
  guint rank = dyno_comm_get_rank (comm);

  test_run_rank (&group->runs[rank], group->job, comm, group->hooks[rank], group->data);
}

static void
clear_runs (Group *group)
{
  for (guint rank = 0; rank < MOST_RANKS; rank++)
    if (group->runs[rank].losses)
      test_run_clear (&group->runs[rank]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Group, clear_runs)

static void
run_group (Group *group, guint ranks)
{
  comm_test_run (ranks, run_one, group);
}

static void
assert_good (const Group *group, guint ranks, DynoSessionState state)
{
  for (guint rank = 0; rank < ranks; rank++)
    {
      const TestRun *run = &group->runs[rank];

      g_assert_no_error (run->error);
      g_assert_cmpint (run->state, ==, state);
      g_assert_cmpuint (run->losses->len, ==, group->runs[0].losses->len);
      g_assert_cmpmem (run->losses->data, run->losses->len * sizeof (double),
                       group->runs[0].losses->data, run->losses->len * sizeof (double));
    }
}

/* 128 samples for training and 32 for validation; 16 in a step of all ranks; several buckets. */
static DynoJob *
new_job (const char *model, guint ranks)
{
  DynoJob *job = test_job (model, "builtin:shapes?size=16&samples=160&classes=4");
  g_autofree char *batch = g_strdup_printf ("batch_size=%u", 16 / ranks);

  test_job_set (job, batch, "data.val_split=0.2", "exchange.bucket=4096", "workers=1",
                "deterministic=true", NULL);
  return job;
}

static DynoJob *
new_alone (const char *model, guint ranks)
{
  DynoJob *job = new_job (model, ranks);
  g_autofree char *accumulate = g_strdup_printf ("accumulate=%u", ranks);

  test_job_set (job, accumulate, NULL);
  return job;
}

static void
assert_within (double share, double a, double b)
{
  g_assert_cmpfloat_with_epsilon (a, b, share * fabs (a));
}

static void
assert_near (double a, double b)
{
  assert_within (1e-5, a, b);
}

static void
assert_losses_within (double share, const GArray *a, guint from, const GArray *b)
{
  g_assert_cmpuint (a->len, ==, from + b->len);
  for (guint i = 0; i < b->len; i++)
    assert_within (share, g_array_index (a, double, from + i), g_array_index (b, double, i));
}

static void
assert_losses_near (const GArray *a, guint from, const GArray *b)
{
  assert_losses_within (1e-5, a, from, b);
}

/* A network without batch norm, but with augmentation and class weights, has the same losses and
 * the same validation. */
static void
test_as_one_process (void)
{
  for (guint ranks = 2; ranks <= 4; ranks += 2)
    {
      g_autoptr (DynoJob) alone = new_alone ("mlp", ranks), job = new_job ("mlp", ranks);
      g_auto (TestRun) expected = { 0 };
      g_auto (Group) group = { .job = job };

      test_job_set (alone, "augment.flip=true", "loss.weights=1,3,15,2", "best_metric=f1_macro",
                    NULL);
      test_job_set (job, "augment.flip=true", "loss.weights=1,3,15,2", "best_metric=f1_macro",
                    NULL);
      test_run_good (&expected, alone);
      run_group (&group, ranks);
      assert_good (&group, ranks, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (expected.losses->len, ==, 16);
      assert_losses_near (expected.losses, 0, group.runs[0].losses);
      for (guint rank = 0; rank < ranks; rank++)
        {
          const DynoEpochMetrics *epoch = &group.runs[rank].epoch;
          assert_near (expected.epoch.val_loss, epoch->val_loss);
          assert_near (expected.epoch.train_loss, epoch->train_loss);
          g_assert_cmpfloat (expected.epoch.val_metrics[0], ==, epoch->val_metrics[0]);
          for (guint i = dyno_metric_table_find_validation (&expected.metrics);
               i < expected.metrics.n; i++)
            g_assert_cmpfloat (expected.epoch.val_metrics[i], ==, epoch->val_metrics[i]);
          g_assert_cmpuint (expected.best_epoch, ==, group.runs[rank].best_epoch);
        }
    }
}

/* Probabilities of classes are those of all ranks, in the second validation too: with weights that
 * do not change, the figures are those of one process. */
static void
test_validates_probabilities_alike (void)
{
  static const char *const settings[] = { "best_metric=roc_auc", "best_metric=calibration_error" };

  for (guint i = 0; i < 4; i++)
    {
      guint ranks = i < 2 ? 2 : 4;
      g_autoptr (DynoJob) alone = new_alone ("mlp", ranks), job = new_job ("mlp", ranks);
      g_auto (TestRun) expected = { 0 };
      g_auto (Group) group = { .job = job };
      guint last;

      test_job_set (alone, "lr=0", "epochs=2", "data.val_split=0.35", settings[i % 2], NULL);
      test_job_set (job, "lr=0", "epochs=2", "data.val_split=0.35", settings[i % 2], NULL);
      test_run_good (&expected, alone);
      run_group (&group, ranks);
      assert_good (&group, ranks, DYNO_SESSION_FINISHED);
      last = expected.metrics.n - 1;
      g_assert_true (expected.metrics.infos[last].costly);
      g_assert_cmpfloat (expected.epoch.val_metrics[last], >, 0);
      for (guint rank = 0; rank < ranks; rank++)
        g_assert_cmpfloat_with_epsilon (expected.epoch.val_metrics[last],
                                        group.runs[rank].epoch.val_metrics[last], 1e-7);
    }
}

/* 120 samples are 15 batches of 8: in the last step only some of the ranks have batches, or some
 * have fewer, and the others contribute nothing to it.  The samples of an epoch are those of one
 * process, and so are losses and validation. */
static void
test_batches_that_do_not_divide (void)
{
  static const struct {
    guint ranks, accumulate, steps;
    const char *settings[3];
    double within;
  } cases[] = {
    { 2, 1, 8, { "augment.mixup=0.4", "loss.weights=1,3,15,2", "amp=false" }, 1e-5 },
    { 2, 2, 4, { "clip_norm=0.5", "ema_decay=0.9", "amp=false" }, 1e-5 },
    { 2, 1, 8, { "clip_value=0.002", "layer_decay=0.5", "amp=false" }, 1e-5 },
    { 4, 1, 4, { "label_smoothing=0.1", "exchange.half=true", "amp=true" }, 1e-3 },
    { 4, 3, 2, { "augment.flip=true", "optimizer=adamw", "amp=false" }, 1e-5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      guint ranks = cases[i].ranks, accumulate = cases[i].accumulate;
      double within = cases[i].within;
      g_autoptr (DynoJob) alone = new_job ("mlp", 2), job = new_job ("mlp", 2);
      g_auto (TestRun) expected = { 0 };
      g_auto (Group) group = { .job = job };
      g_autofree char *each = g_strdup_printf ("accumulate=%u", accumulate),
                      *all = g_strdup_printf ("accumulate=%u", accumulate * ranks);

      test_job_set (alone, "data.val_split=0.25", all, cases[i].settings[0], cases[i].settings[1],
                    cases[i].settings[2], NULL);
      test_job_set (job, "data.val_split=0.25", each, cases[i].settings[0], cases[i].settings[1],
                    cases[i].settings[2], NULL);
      test_run_good (&expected, alone);
      run_group (&group, ranks);
      assert_good (&group, ranks, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (expected.losses->len, ==, 2 * cases[i].steps);
      assert_losses_within (within, expected.losses, 0, group.runs[0].losses);
      for (guint rank = 0; rank < ranks; rank++)
        {
          const DynoEpochMetrics *epoch = &group.runs[rank].epoch;
          assert_within (within, expected.epoch.val_loss, epoch->val_loss);
          assert_within (within, expected.epoch.train_loss, epoch->train_loss);
        }
    }
}

/* A rank without a batch, as two of four in the last of these 8 steps, leaves the running
 * statistics of batch norm unchanged: its input is zeros, which would show in the validation. */
static void
test_batch_norm_without_a_batch (void)
{
  g_autoptr (DynoJob) alone = new_alone ("simplecnn", 4), job = new_job ("simplecnn", 4);
  g_auto (TestRun) expected = { 0 };
  g_auto (Group) group = { .job = job };

  test_job_set (alone, "data.val_split=0.25", "epochs=1", NULL);
  test_job_set (job, "data.val_split=0.25", "epochs=1", NULL);
  test_run_good (&expected, alone);
  run_group (&group, 4);
  assert_good (&group, 4, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (group.runs[0].losses->len, ==, 8);
  g_test_message ("%g alone, %g of ranks", expected.epoch.val_loss, group.runs[0].epoch.val_loss);
  g_assert_cmpfloat_with_epsilon (group.runs[0].epoch.val_loss, expected.epoch.val_loss,
                                  0.03 * expected.epoch.val_loss);
  for (guint rank = 1; rank < 4; rank++)
    g_assert_cmpfloat (group.runs[rank].epoch.val_loss, ==, group.runs[0].epoch.val_loss);
}

/* The running statistics of batch norm are the same on all ranks, and have moved as far as in one
 * process that accumulates the ranks' batches, so the validation is close; it is not equal, since
 * in one process the later batches count a little more. */
static void
test_batch_norm_validates_alike (void)
{
  g_autoptr (DynoJob) alone = new_alone ("simplecnn", 4), job = new_job ("simplecnn", 4);
  g_auto (TestRun) expected = { 0 };
  g_auto (Group) group = { .job = job };

  test_job_set (alone, "epochs=1", NULL);
  test_job_set (job, "epochs=1", NULL);
  test_run_good (&expected, alone);
  run_group (&group, 4);
  assert_good (&group, 4, DYNO_SESSION_FINISHED);
  g_test_message ("%g alone, %g of ranks", expected.epoch.val_loss, group.runs[0].epoch.val_loss);
  g_assert_cmpfloat_with_epsilon (group.runs[0].epoch.val_loss, expected.epoch.val_loss,
                                  0.03 * expected.epoch.val_loss);
  for (guint rank = 1; rank < 4; rank++)
    g_assert_cmpfloat (group.runs[rank].epoch.val_loss, ==, group.runs[0].epoch.val_loss);
}

/* Data that are generated on the device in a step, here the samples, are equal too. */
static void
test_generated (void)
{
  g_autoptr (DynoJob) alone = new_alone ("mlp", 2), job = new_job ("mlp", 2);
  g_auto (TestRun) expected = { 0 };
  g_auto (Group) group = { .job = job };

  for (guint i = 0; i < 2; i++)
    {
      DynoJob *one = i ? alone : job;
      g_free (one->data);
      one->data = g_strdup ("synthetic:16x16x3?classes=4&samples=64");
      test_job_set (one, "epochs=1", NULL);
    }
  test_run_good (&expected, alone);
  run_group (&group, 2);
  assert_good (&group, 2, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (expected.losses->len, ==, 4);
  assert_losses_near (expected.losses, 0, group.runs[0].losses);
}

/* Only rank 0 reads the weights; all ranks use their normalisation. */
static void
test_normalisation_of_weights (void)
{
  g_autofree char *folder = test_folder (), *weights = g_build_filename (folder, "w", NULL);
  g_autoptr (DynoJob) before = new_alone ("mlp", 2), alone = new_alone ("mlp", 2),
                      job = new_job ("mlp", 2);
  g_auto (TestRun) first = { 0 }, expected = { 0 };
  g_auto (Group) group = { .job = job };

  before->weights_out = g_strdup (weights);
  before->max_steps = 1;
  test_run_good (&first, before);
  for (guint i = 0; i < 2; i++)
    {
      DynoJob *one = i ? alone : job;
      one->weights_in = g_strdup (weights);
      one->max_steps = 4;
      test_job_set (one, "data.normalise=weights", NULL);
    }
  test_run_good (&expected, alone);
  run_group (&group, 2);
  assert_good (&group, 2, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (expected.losses->len, ==, 4);
  assert_losses_near (expected.losses, 0, group.runs[0].losses);
  test_remove_tree (folder);
}

/* Batch norm, AMP and an fp16 exchange give equal bits from run to run. */
static void
test_equal_twice (void)
{
  g_autoptr (DynoJob) job = new_job ("simplecnn", 2);
  g_auto (Group) first = { .job = job }, second = { .job = job };

  test_job_set (job, "amp=true", "exchange.half=true", "epochs=1", NULL);
  run_group (&first, 2);
  run_group (&second, 2);
  assert_good (&first, 2, DYNO_SESSION_FINISHED);
  assert_good (&second, 2, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (first.runs[0].losses->len, ==, 8);
  g_assert_cmpmem (first.runs[0].losses->data, 8 * sizeof (double), second.runs[0].losses->data,
                   8 * sizeof (double));
  g_assert_cmpfloat (first.runs[0].epoch.val_loss, ==, second.runs[1].epoch.val_loss);
}

/* The device converts the gradients to fp16 where the plan has room for them, else the host does:
 * with equal bits, in the planned memory. */
static void
test_halves_are_planned (void)
{
  g_autoptr (DynoJob) job = new_job ("mlp", 2);
  g_autofree char *change = NULL;
  g_auto (Group) whole = { .job = job }, half = { .job = job }, tight = { .job = job };
  const DynoPlan *plans[] = { &whole.runs[0].plan.plan, &half.runs[0].plan.plan,
                              &tight.runs[0].plan.plan };

  test_job_set (job, "amp=true", "epochs=1", NULL);
  run_group (&whole, 2);
  assert_good (&whole, 2, DYNO_SESSION_FINISHED);
  test_job_set (job, "exchange.half=true", NULL);
  run_group (&half, 2);
  assert_good (&half, 2, DYNO_SESSION_FINISHED);
  g_assert_true (plans[1]->halves && !plans[0]->halves);
  g_assert_cmpuint (
      plans[1]->total_bytes - plans[0]->total_bytes, ==,
      dyno_align_up (plans[0]->space_bytes[DYNO_SPACE_GRADIENT] / 2, DYNO_BUFFER_GRANULARITY));
  g_assert_cmpuint (half.runs[0].vram_bytes, ==, plans[1]->total_bytes);
  g_assert_cmpuint (half.runs[1].vram_bytes, ==, plans[1]->total_bytes);
  change = g_strdup_printf ("vram_budget=%" G_GUINT64_FORMAT, plans[1]->total_bytes - 1);
  test_job_set (job, change, NULL);
  run_group (&tight, 2);
  assert_good (&tight, 2, DYNO_SESSION_FINISHED);
  g_assert_true (plans[2]->snapshot && !plans[2]->halves);
  g_assert_cmpuint (tight.runs[0].vram_bytes, ==, plans[2]->total_bytes);
  g_assert_cmpmem (half.runs[0].losses->data, 8 * sizeof (double), tight.runs[0].losses->data,
                   8 * sizeof (double));
}

/* Where devices write into each other's memory, their send buffers are planned too, and the
 * exchange uses the host where there is no room: with equal bits. */
static void
test_inboxes_are_planned (void)
{
  g_autoptr (DynoJob) job = new_job ("simplecnn", 2);
  g_autofree char *change = NULL;
  g_auto (Group) host = { .job = job }, peers = { .job = job }, tight = { .job = job };
  const DynoPlan *plans[] = { &host.runs[0].plan.plan, &peers.runs[0].plan.plan,
                              &tight.runs[0].plan.plan };

  test_job_set (job, "amp=true", "exchange.half=true", "epochs=1", NULL);
  run_group (&host, 2);
  g_setenv ("DYNO_PEER_COPIES", "1", TRUE);
  run_group (&peers, 2);
  change = g_strdup_printf ("vram_budget=%" G_GUINT64_FORMAT, plans[1]->total_bytes - 1);
  test_job_set (job, change, NULL);
  run_group (&tight, 2);
  g_unsetenv ("DYNO_PEER_COPIES");
  assert_good (&host, 2, DYNO_SESSION_FINISHED);
  assert_good (&peers, 2, DYNO_SESSION_FINISHED);
  assert_good (&tight, 2, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (plans[0]->inbox_bytes, ==, 0);
  g_assert_cmpuint (plans[1]->inbox_bytes, >=,
                    plans[0]->space_bytes[DYNO_SPACE_GRADIENT] / 2
                        + plans[0]->space_bytes[DYNO_SPACE_STATE]);
  g_assert_cmpuint (plans[1]->inbox_bytes % (2 << 20), ==, 0);
  g_assert_cmpuint (plans[1]->total_bytes - plans[0]->total_bytes, ==, plans[1]->inbox_bytes);
  g_assert_cmpuint (plans[2]->total_bytes, ==, plans[0]->total_bytes);
  for (guint rank = 0; rank < 2; rank++)
    {
      g_assert_cmpuint (host.runs[rank].vram_bytes, ==, plans[0]->total_bytes);
      g_assert_cmpuint (peers.runs[rank].vram_bytes, ==, plans[1]->total_bytes);
      g_assert_cmpuint (tight.runs[rank].vram_bytes, ==, plans[2]->total_bytes);
    }
  g_assert_cmpmem (host.runs[0].losses->data, 8 * sizeof (double), peers.runs[0].losses->data,
                   8 * sizeof (double));
  g_assert_cmpmem (host.runs[0].losses->data, 8 * sizeof (double), tight.runs[0].losses->data,
                   8 * sizeof (double));
}

static void
stop_at_five (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 5)
    dyno_session_stop (session, FALSE);
}

static void
take_rate (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  g_array_append_val ((GArray *) data, step->lr);
}

/* Two ranks, then one process with the same batch, whose steps are half as large, then two ranks
 * again: the rates follow the position in the run's samples, and the last step has the end of the
 * schedule. */
static void
test_other_ranks_keep_the_place (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (double));
  guint64 half_steps = 2 * (guint64) g_test_rand_int_range (1, 8), more; /* of 16 in an epoch */

  more = 2 * (guint64) g_test_rand_int_range (1, 8);
  for (guint part = 0; part < 3; part++)
    {
      g_autoptr (DynoJob) job = new_job ("mlp", 2);
      g_auto (Group) group = { .job = job, .hooks = { take_rate }, .data = rates };
      guint ranks = part == 1 ? 1 : 2;
      guint64 first = part == 0 ? 0 : part == 1 ? half_steps : half_steps + more, spe = 16 / ranks;

      test_job_set (job, "warmup_epochs=0", NULL);
      g_array_set_size (rates, 0);
      job->out_dir = g_strdup (folder);
      job->resume = part > 0 ? g_strdup (folder) : NULL;
      job->max_steps = (gint64) (part == 0   ? half_steps / 2
                                 : part == 1 ? half_steps / 2 + more
                                             : 0);
      if (ranks == 1)
        test_run (&group.runs[0], job, take_rate, rates);
      else
        run_group (&group, 2);
      assert_good (&group, ranks, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (rates->len, >, 0);
      for (guint i = 0; i < rates->len; i++)
        g_assert_cmpfloat (g_array_index (rates, double, i), ==,
                           dyno_schedule_lr (&job->settings, first / ranks + i, spe, 2 * spe));
      if (part == 2)
        g_assert_cmpuint (first / 2 + rates->len, ==, 2 * spe);
    }
  test_remove_tree (folder);
}

/* Two ranks stop within an epoch, whichever of them gets the request; one process and four ranks
 * resume there. */
static void
test_resumes_with_other_ranks (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) alone = new_alone ("mlp", 2), job = new_job ("mlp", 2),
                      four = new_job ("mlp", 4), one = new_alone ("mlp", 2);
  g_auto (TestRun) whole = { 0 }, rest = { 0 };
  g_auto (Group) begun = { .job = job, .hooks = { NULL, stop_at_five } }, resumed = { .job = four };
  guint done;

  test_run_good (&whole, alone);
  job->out_dir = g_strdup (folder);
  run_group (&begun, 2);
  assert_good (&begun, 2, DYNO_SESSION_STOPPED);
  done = begun.runs[0].losses->len;
  g_assert_cmpuint (done, >=, 5);
  g_assert_cmpuint (done, <, 8);
  one->resume = g_strdup (folder);
  test_run_good (&rest, one);
  assert_losses_near (whole.losses, done, rest.losses);
  four->resume = g_strdup (folder);
  run_group (&resumed, 4);
  assert_good (&resumed, 4, DYNO_SESSION_FINISHED);
  assert_losses_near (whole.losses, done, resumed.runs[0].losses);
  assert_near (whole.epoch.val_loss, resumed.runs[3].epoch.val_loss);
  test_remove_tree (folder);
}

/* Where the plan has no room for a snapshot, rank 0 has no step in flight when it saves, and the
 * others have one. */
static void
test_saves_without_snapshot (void)
{
  g_autofree char *folder = test_folder (), *change = NULL;
  g_autoptr (DynoJob) job = new_job ("mlp", 2);
  g_auto (Group) roomy = { .job = job }, tight = { .job = job };
  const DynoJobPlan *plan = &tight.runs[0].plan;

  test_job_set (job, "epochs=1", "workers=0", NULL);
  run_group (&roomy, 2);
  assert_good (&roomy, 2, DYNO_SESSION_FINISHED);
  g_assert_true (roomy.runs[0].plan.plan.snapshot);
  change =
      g_strdup_printf ("vram_budget=%" G_GUINT64_FORMAT, roomy.runs[0].plan.plan.total_bytes - 1);
  test_job_set (job, change, "checkpoint_minutes=1e-5", NULL);
  job->out_dir = g_strdup (folder);
  run_group (&tight, 2);
  assert_good (&tight, 2, DYNO_SESSION_FINISHED);
  g_assert_true (plan->fits && !plan->plan.snapshot);
  g_assert_cmpuint (tight.runs[0].checkpoints, >=, 1);
  g_assert_cmpuint (tight.runs[1].checkpoints, ==, 0);
  assert_losses_near (roomy.runs[0].losses, 0, tight.runs[0].losses);
  test_remove_tree (folder);
}

static void
command (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  g_autoptr (GError) error = NULL;

  if (step->step == 2)
    {
      dyno_session_checkpoint (session);
      dyno_session_set (session, "lr", "0.01", &error);
      g_assert_no_error (error);
      dyno_session_pause (session);
    }
}

#define PAUSED_RANKS 2
#define PAUSED_JOBS  3 /* number of jobs that each rank begins in the pause */

static struct {
  DynoComm *comms[PAUSED_RANKS];
  DynoSession *sessions[PAUSED_RANKS]; /* atomic; NULL: not started yet */
  gint step;                           /* atomic: the last step before the pause; 0: none */
  guint checked;                       /* the number of steps after the pause */
  GThread *resumer;
} paused;

static gboolean
have_jobs (guint64 *counts)
{
  gboolean enough = TRUE;

  for (guint rank = 0; rank < PAUSED_RANKS; rank++)
    {
      DynoSession *session = g_atomic_pointer_get (&paused.sessions[rank]);
      guint64 begun = comm_test_count_begun (paused.comms[rank]);

      if (!session || dyno_session_get_state (session) != DYNO_SESSION_PAUSED)
        counts[rank] = begun;
      enough = enough && begun >= counts[rank] + PAUSED_JOBS;
    }
  return enough;
}

/* Resumes once all ranks have been paused for a while. */
static gpointer
resume (gpointer session)
{
  guint64 counts[PAUSED_RANKS] = { 0 };

  while (!have_jobs (counts))
    g_usleep (1000);
  g_atomic_int_set (&paused.step,
                    (gint) dyno_metrics_get_steps (dyno_session_get_metrics (session)));
  dyno_session_resume (session);
  return NULL;
}

/* Counts the steps after the pause, without those that were in flight. */
static gint
count_since_pause (const DynoStepMetrics *step)
{
  gint before = g_atomic_int_get (&paused.step);

  return before > 0 ? (gint) step->step - before - 2 : 0;
}

/* Events may arrive many steps late, so the run goes on until enough of them have arrived. */
static void
command_rank_0 (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  g_atomic_pointer_set (&paused.sessions[0], session);
  if (count_since_pause (step) > 10)
    dyno_session_stop (session, FALSE);
  command (session, step, data);
  if (step->step == 2)
    paused.resumer = g_thread_new ("resumer", resume, session);
}

static void
check_lr (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  g_atomic_pointer_set (&paused.sessions[1], session);
  if (count_since_pause (step) <= 0)
    return;
  g_assert_cmpfloat_with_epsilon (step->lr, 0.01, 1e-9);
  paused.checked++;
}

static void
run_paused (DynoComm *comm, gpointer group)
{
  paused.comms[dyno_comm_get_rank (comm)] = comm;
  run_one (comm, group);
}

/* Settings, a pause and a checkpoint that are requested of rank 0 apply to all ranks; only rank 0
 * writes. */
static void
test_commands (void)
{
  g_autofree char *folder = test_folder (),
                  *state = g_build_filename (folder, DYNO_CHECKPOINT_NAME, NULL);
  g_autoptr (DynoJob) job = new_job ("mlp", 2);
  g_auto (Group) group = { .job = job, .hooks = { command_rank_0, check_lr } };

  test_job_set (job, "schedule=constant", "epochs=100000", NULL);
  job->out_dir = g_strdup (folder);
  comm_test_run (PAUSED_RANKS, run_paused, &group);
  g_thread_join (paused.resumer);
  assert_good (&group, 2, DYNO_SESSION_STOPPED);
  g_assert_cmpuint (paused.checked, >, 5);
  g_assert_cmpuint (group.runs[0].checkpoints, >=, 2);
  g_assert_cmpuint (group.runs[1].checkpoints, ==, 0);
  g_assert_true (g_file_test (state, G_FILE_TEST_EXISTS));
  test_remove_tree (folder);
}

static void
stop_now (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 3)
    dyno_session_stop (session, TRUE);
}

/* Any rank may fail. */
static void
test_failure (void)
{
  for (guint failing = 0; failing < 2; failing++)
    {
      g_autoptr (DynoJob) job = new_job ("mlp", 2);
      g_auto (Group) group = { .job = job };
      const TestRun *other = &group.runs[1 - failing];

      test_job_set (job, "epochs=100", NULL);
      group.hooks[failing] = stop_now;
      run_group (&group, 2);
      g_assert_no_error (group.runs[failing].error);
      g_assert_cmpint (group.runs[failing].state, ==, DYNO_SESSION_STOPPED);
      g_assert_no_error (other->error);
      g_assert_cmpint (other->state, ==, DYNO_SESSION_STOPPED);
    }
}

/* A rank that cannot begin reports the reason to the rank that waits for it. */
static void
run_unlike (DynoComm *comm, gpointer data)
{
  Group *group = data;
  guint rank = dyno_comm_get_rank (comm);
  g_autoptr (DynoJob) job = dyno_job_copy (group->job);

  if (rank == 1)
    {
      g_free (job->data);
      job->data = g_strdup ("/nowhere/at/all");
    }
  test_run_rank (&group->runs[rank], job, comm, NULL, NULL);
}

static void
test_failure_to_begin (void)
{
  g_autoptr (DynoJob) job = new_job ("mlp", 2);
  g_auto (Group) group = { .job = job };

  comm_test_run (2, run_unlike, &group);
  g_assert_error (group.runs[0].error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
  g_assert_nonnull (strstr (group.runs[0].error->message, "rank 1 on host0"));
  g_assert_nonnull (strstr (group.runs[0].error->message, "nowhere"));
  g_assert_cmpint (group.runs[1].state, ==, DYNO_SESSION_FAILED);
}

static void
die_at_three (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 3)
    comm_test_die (*(DynoComm **) data);
}

static void
run_dying (DynoComm *comm, gpointer data)
{
  Group *group = data;
  guint rank = dyno_comm_get_rank (comm);

  test_run_rank (&group->runs[rank], group->job, comm, rank == 1 ? die_at_three : NULL, &comm);
}

/* A checkpoint that was saved before a rank died stays valid, and a run resumes from it. */
static void
test_checkpoint_stands (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = new_job ("mlp", 2), again = new_alone ("mlp", 2);
  g_auto (Group) group = { .job = job };
  g_auto (TestRun) whole = { 0 }, rest = { 0 };

  test_run_good (&whole, again);
  test_job_set (job, "checkpoint_minutes=0.000001", NULL);
  job->out_dir = g_strdup (folder);
  comm_test_run (2, run_dying, &group);
  g_assert_error (group.runs[0].error, DYNO_COMM_ERROR, DYNO_COMM_ERROR_PEER);
  g_assert_nonnull (strstr (group.runs[0].error->message, "rank 1 on host0"));
  g_assert_cmpuint (group.runs[0].checkpoints, >, 0);
  again->resume = g_strdup (folder);
  test_run_good (&rest, again);
  g_assert_cmpuint (rest.losses->len, <, whole.losses->len);
  assert_losses_near (whole.losses, whole.losses->len - rest.losses->len, rest.losses);
  test_remove_tree (folder);
}

/* The page-locked memory of the exchange is in the plan of each rank, and in none of a single
 * process. */
static guint64
exchange_bytes (const TestRun *run)
{
  for (guint i = 0; i < run->plan.host.n; i++)
    if (strcmp (run->plan.host.buffers[i].purpose, "exchange") == 0)
      return run->plan.host.buffers[i].size_bytes;
  return 0;
}

static void
test_plan (void)
{
  g_autoptr (DynoJob) job = new_job ("mlp", 2);
  g_auto (Group) group = { .job = job };
  g_auto (TestRun) alone = { 0 };

  test_job_set (job, "epochs=1", NULL);
  run_group (&group, 2);
  assert_good (&group, 2, DYNO_SESSION_FINISHED);
  test_run_good (&alone, job);
  g_assert_cmpuint (exchange_bytes (&alone), ==, 0);
  for (guint rank = 0; rank < 2; rank++)
    g_assert_cmpuint (exchange_bytes (&group.runs[rank]), ==,
                      alone.plan.plan.space_bytes[DYNO_SPACE_GRADIENT]
                          + alone.plan.plan.space_bytes[DYNO_SPACE_STATE]);
}

/* Rank 0 reports at the end the figures of each rank: a step takes the same time on all, part of it
 * waiting. */
static void
test_rates (void)
{
  g_autoptr (DynoJob) job = new_job ("mlp", 4);
  g_auto (Group) group = { .job = job };
  const TestRun *first = &group.runs[0];

  run_group (&group, 4);
  assert_good (&group, 4, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (first->n_ranks, ==, 4);
  for (guint rank = 0; rank < 4; rank++)
    {
      const DynoRankReport *report = &first->ranks[rank];

      g_assert_cmpstr (report->host, ==, rank < 2 ? "host0" : "host1");
      g_assert_cmpstr (report->device, !=, "");
      g_assert_true (report->rate.own_ms > 0 && report->rate.wait_ms > 0);
      g_assert_cmpfloat_with_epsilon (report->rate.samples_per_s, 4e3 / report->rate.own_ms,
                                      1e-6 * report->rate.samples_per_s);
      g_assert_cmpfloat_with_epsilon (report->rate.own_ms + report->rate.wait_ms,
                                      first->ranks[0].rate.own_ms + first->ranks[0].rate.wait_ms,
                                      1e-6);
      g_assert_cmpuint (group.runs[rank].n_ranks, ==, rank == 0 ? 4 : 0);
    }
}

/* Two classes of plain images, some of which are truncated. */
static char *
make_folder (guint n, guint n_broken)
{
  char *folder = test_folder ();
  g_autoptr (GByteArray) file = g_byte_array_new ();

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *class = g_strdup_printf ("%s/%c", folder, 'a' + i % 2),
                      *path = g_strdup_printf ("%s/%u.png", class, i);
      guint8 pixels[16 * 16 * 3];

      for (guint at = 0; at < sizeof pixels; at++)
        pixels[at] = (guint8) (at * (3 + i) + i % 2 * 100);
      g_mkdir_with_parents (class, 0700);
      g_assert_true (dyno_image_encode_png (pixels, 16, 16, 3, file, NULL));
      g_assert_true (g_file_set_contents (path, (const char *) file->data,
                                          (gssize) (i < n_broken ? file->len / 2 : file->len),
                                          NULL));
    }
  return folder;
}

/* In one epoch and in two steps each rank reads its own part, and all ranks know the samples that
 * one of them could not read. */
static void
test_unreadable_samples_are_all_ranks (void)
{
  for (gint64 steps = 0; steps <= 2; steps += 2)
    {
      g_autofree char *folder = make_folder (64, 12);
      g_autoptr (DynoJob) job = test_job ("mlp", folder);
      g_auto (Group) group = { .job = job };
      const TestRun *first = &group.runs[0];

      test_job_set (job, "epochs=1", "batch_size=8", "data.val_split=0", "data.max_bad=0.5",
                    "workers=1", "prefetch=1", "image_size=16", NULL);
      job->max_steps = steps;
      run_group (&group, 2);
      assert_good (&group, 2, DYNO_SESSION_FINISHED);
      if (steps == 0)
        g_assert_cmpuint (first->n_unreadable, ==, 12);
      g_assert_cmpuint (first->n_unreadable, >, 0);
      g_assert_cmpuint (first->n_unreadable, ==, group.runs[1].n_unreadable);
      for (guint rank = 0; rank < 2; rank++)
        g_assert_true (test_has_warning (&group.runs[rank], "A sample cannot be read"));
      test_remove_tree (folder);
    }
}

/* Rank 0 shows the first samples of its own batches, the other rank none, and nothing else
 * changes. */
static void
test_masks_are_watched_by_rank_0 (void)
{
  const char *data = "builtin:masks?size=32&samples=26&classes=4&seed=3";
  static const guint places[] = { 0, 1, 4, 5 };
  g_autoptr (DynoJob) job = test_job ("unet_small", data), unwatched = NULL;
  g_auto (Group) group = { 0 }, other = { 0 };
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, NULL);
  g_autoptr (GArray) training = NULL, validation = NULL;

  test_job_set (job, "data.val_split=0.25", "batch_size=2", "workers=1", "epochs=2",
                "deterministic=true", NULL);
  unwatched = dyno_job_copy (job);
  job->watch_masks = TRUE;
  group.job = job;
  other.job = unwatched;
  run_group (&group, 2);
  run_group (&other, 2);
  assert_good (&group, 2, DYNO_SESSION_FINISHED);
  g_assert_cmpmem (group.runs[0].losses->data, group.runs[0].losses->len * sizeof (double),
                   other.runs[0].losses->data, other.runs[0].losses->len * sizeof (double));
  g_assert_cmpfloat (group.runs[0].epoch.val_loss, ==, other.runs[0].epoch.val_loss);
  g_assert_cmpuint (group.runs[1].masks->len + other.runs[0].masks->len, ==, 0);
  g_assert_cmpuint (group.runs[0].masks->len, ==, 2);
  dyno_dataset_split (dataset, 0.25, (guint64) job->settings.seed, &training, &validation);
  for (guint i = 0; i < 2; i++)
    {
      const DynoEvent *event = group.runs[0].masks->pdata[i];

      g_assert_cmpuint (event->masks.n, ==, G_N_ELEMENTS (places));
      for (guint k = 0; k < event->masks.n; k++)
        g_assert_cmpuint (event->masks.samples[k], ==,
                          g_array_index (validation, guint32, places[k]));
    }
}

/* Rank 0 measures the whole test part; the result is that of one process with the same weights. */
static void
test_test_part (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = new_job ("mlp", 2), again = new_job ("mlp", 1);
  Group group = { .job = job };
  g_auto (TestRun) alone = { 0 };
  g_autofree char *result = g_build_filename (folder, DYNO_TEST_RESULT_NAME, NULL);

  job->out_dir = g_strdup (folder);
  test_job_set (job, "data.test_split=0.25", NULL);
  run_group (&group, 2);
  assert_good (&group, 2, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (group.runs[0].test.n_samples, ==, 40);
  g_assert_cmpuint (group.runs[1].test.n_samples, ==, 0);

  /* Without its file the result is measured anew. */
  g_assert_cmpint (g_unlink (result), ==, 0);
  again->resume = g_strdup (folder);
  again->out_dir = g_strdup (folder);
  test_job_set (again, "data.test_split=0.25", "batch_size=8", NULL);
  test_run_good (&alone, again);
  g_assert_cmpuint (alone.losses->len, ==, 0);
  g_assert_cmpuint (alone.test.n_samples, ==, 40);
  g_assert_cmpfloat (alone.test.loss, ==, group.runs[0].test.loss);
  g_assert_cmpfloat (alone.test.metrics[0], ==, group.runs[0].test.metrics[0]);
  clear_runs (&group);
  test_remove_tree (folder);
}

/* The same for the test part that a data set brings: no rank trains or validates on it. */
static void
test_own_test_part (void)
{
  g_autofree char *folder = test_folder (), *path = g_build_filename (folder, "rows.csv", NULL),
                  *run = g_build_filename (folder, "run", NULL);
  g_autoptr (GString) text = g_string_new ("label,pixels,split\n");
  guint64 losses[2] = { 0 };
  double last[2];

  for (guint with_test = 0; with_test < 2; with_test++)
    {
      g_autoptr (DynoJob) job = new_job ("mlp", 2);
      Group group = { .job = job };

      for (guint i = with_test ? 80 : 0; i < (with_test ? 100u : 80u); i++)
        {
          g_string_append_printf (text, "%u,", i % 4);
          for (guint p = 0; p < 64; p++)
            g_string_append_printf (text, " %u", (i * 37 + p * 11 * (1 + i % 4)) % 256);
          g_string_append (text, i >= 80 ? ",test\n" : i >= 64 ? ",val\n" : ",train\n");
        }
      g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
      g_free (job->data);
      job->data = g_strdup (path);
      job->out_dir = with_test ? g_strdup (run) : NULL;
      run_group (&group, 2);
      assert_good (&group, 2, DYNO_SESSION_FINISHED);
      g_assert_cmpuint (group.runs[0].test.n_samples, ==, with_test ? 20 : 0);
      g_assert_cmpuint (group.runs[1].test.n_samples, ==, 0);
      losses[with_test] = group.runs[0].losses->len;
      last[with_test] = g_array_index (group.runs[0].losses, double, losses[with_test] - 1);
      clear_runs (&group);
    }
  g_assert_cmpuint (losses[0], ==, losses[1]);
  g_assert_cmpfloat (last[0], ==, last[1]);
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/ranks/losses-are-those-of-one-process-that-accumulates",
                   test_as_one_process);
  g_test_add_func ("/train/ranks/probabilities-of-all-ranks-validate",
                   test_validates_probabilities_alike);
  g_test_add_func ("/train/ranks/what-is-drawn-in-a-step-is-the-same", test_generated);
  g_test_add_func ("/train/ranks/batch-norm-validates-alike", test_batch_norm_validates_alike);
  g_test_add_func ("/train/ranks/normalisation-of-weights-is-rank-0s",
                   test_normalisation_of_weights);
  g_test_add_func ("/train/ranks/batches-that-do-not-divide", test_batches_that_do_not_divide);
  g_test_add_func ("/train/ranks/batch-norm-without-a-batch", test_batch_norm_without_a_batch);
  g_test_add_func ("/train/ranks/equal-bits-twice", test_equal_twice);
  g_test_add_func ("/train/ranks/resumes-with-other-ranks", test_resumes_with_other_ranks);
  g_test_add_func ("/train/ranks/other-ranks-keep-the-place", test_other_ranks_keep_the_place);
  g_test_add_func ("/train/ranks/halves-are-planned", test_halves_are_planned);
  g_test_add_func ("/train/ranks/inboxes-are-planned", test_inboxes_are_planned);
  g_test_add_func ("/train/ranks/saves-without-room-for-a-snapshot", test_saves_without_snapshot);
  g_test_add_func ("/train/ranks/commands-are-rank-0s", test_commands);
  g_test_add_func ("/train/ranks/a-rank-that-ends-ends-all", test_failure);
  g_test_add_func ("/train/ranks/a-rank-that-cannot-begin-ends-all", test_failure_to_begin);
  g_test_add_func ("/train/ranks/checkpoint-outlives-a-rank", test_checkpoint_stands);
  g_test_add_func ("/train/ranks/memory-of-the-exchange-is-planned", test_plan);
  g_test_add_func ("/train/ranks/unreadable-samples-are-those-of-all",
                   test_unreadable_samples_are_all_ranks);
  g_test_add_func ("/train/ranks/rank-0-tells-what-each-does", test_rates);
  g_test_add_func ("/train/ranks/masks-are-watched-by-rank-0", test_masks_are_watched_by_rank_0);
  g_test_add_func ("/train/ranks/test-part-is-measured-by-rank-0", test_test_part);
  g_test_add_func ("/train/ranks/test-part-of-the-data-is-measured-by-rank-0", test_own_test_part);
  return g_test_run ();
}
