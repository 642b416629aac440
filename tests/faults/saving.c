/* SPDX-License-Identifier: MIT */
/* A disk that does not answer: training goes on, and later files are correct. */
#include "calls.h"
#include "checkpoint.h"
#include "train-test.h"
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=100&classes=4" /* 5 steps per epoch */

static DynoJob *
job_in (const char *folder)
{
  DynoJob *job = test_job ("mlp", SHAPES);

  job->out_dir = g_strdup (folder);
  test_job_set (job, "epochs=8", "lr=0.01", NULL);
  return job;
}

typedef struct {
  guint let_go_at; /* the step at which the save is released */
  guint held;
} Slowness;

static void
be_slow (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  Slowness *slowness = data;

  if (step->step != slowness->let_go_at)
    return;
  slowness->held = calls_get_held ();
  calls_let_go ();
}

/* The first save blocks in fsync until six epochs later: steps, validations and further saves are
 * not delayed by it, and in the end best, last and checkpoint are the same as on a fast disk. */
static void
test_training_goes_on (void)
{
  static const char *const files[] = { DYNO_WEIGHTS_NAME, DYNO_WEIGHTS_NAME_LAST };
  g_autofree char *fast = test_folder (), *slow = test_folder ();
  g_autoptr (DynoJob) job = job_in (fast), held_up = job_in (slow);
  g_auto (TestRun) plain = { 0 };
  g_auto (TestRun) run = { 0 };
  Slowness slowness = { .let_go_at = 33 };

  test_run_good (&plain, job);
  calls_hold_fsync ("dyno-saver");
  test_run (&run, held_up, be_slow, &slowness);
  calls_let_go ();
  g_assert_false (calls_gave_up ());
  g_assert_cmpuint (slowness.held, <=, 1); /* one file is written at a time */
  g_assert_no_error (run.error);
  g_assert_cmpuint (run.losses->len, ==, 40);
  g_assert_cmpmem (run.losses->data, 40 * sizeof (double), plain.losses->data,
                   40 * sizeof (double));
  g_assert_cmpuint (run.best_epoch, ==, plain.best_epoch);
  g_assert_cmpuint (run.checkpoints, >=, 1);
  g_assert_cmpuint (run.checkpoints, <, 8);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *a = g_build_filename (fast, files[i], NULL),
                      *b = g_build_filename (slow, files[i], NULL);
      test_assert_same_file (a, b);
    }
  held_up->resume = g_strdup (slow);
  test_job_set (held_up, "epochs=9", NULL);
  test_run_clear (&run);
  test_run_good (&run, held_up);
  g_assert_cmpuint (run.losses->len, ==, 5); /* the last checkpoint is that of the end */
  test_remove_tree (fast);
  test_remove_tree (slow);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/faults/saving/training-goes-on-while-the-disk-hangs", test_training_goes_on);
  return g_test_run ();
}
