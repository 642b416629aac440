/* SPDX-License-Identifier: MIT */
/* data.normalise=weights: the source of its numbers, and where they are stored. */
#include "checkpoint.h"
#include "train-test.h"
#include "weightsinfo.h"
#include <glib/gstdio.h>
#include <string.h>

/* 64 samples, 4 steps per epoch; their own mean is 0.33, the deviation 0.25. */
#define SHAPES "builtin:shapes?size=16&samples=64&classes=3"

static const char *const theirs[] = { "outputs",
                                      "3",
                                      "input.element",
                                      "uint8",
                                      "input.axes",
                                      "HWC",
                                      "input.shape",
                                      "[16, 16, 3]",
                                      "input.scale",
                                      "1/255",
                                      "input.mean",
                                      "[0.1, 0.123456789, 0.3]",
                                      "input.deviation",
                                      "[0.5, 0.6, 0.7]",
                                      NULL };
static const char *const silent[] = { "outputs", "3", NULL };

static char *
in_folder (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static DynoJob *
new_job (const char *weights, const char *normalise)
{
  DynoJob *job = test_job ("simplecnn", SHAPES);
  g_autofree char *setting = g_strconcat ("data.normalise=", normalise, NULL);

  job->weights_in = g_strdup (weights);
  test_job_set (job, "data.val_split=0", setting, NULL);
  job->max_steps = 2;
  return job;
}

/* Writes the weights after one step as `name` in folder; metadata NULL: Dyno's own. */
static char *
write_weights (const char *folder, const char *name, const char *const *metadata)
{
  g_autofree char *own = in_folder (folder, "own");
  g_autoptr (DynoJob) job = new_job (NULL, "true");
  g_auto (TestRun) run = { 0 };
  char *path = in_folder (folder, name);
  g_autoptr (GError) error = NULL;

  job->weights_out = g_strdup (metadata ? own : path);
  test_run_good (&run, job);
  if (!metadata)
    return path;
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (own, 0, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    g_array_append_vals (rows, dyno_safetensors_get (file, i), 1);
  dyno_safetensors_write (path, (const DynoSafetensor *) (gpointer) rows->data, rows->len, metadata,
                          &error);
  g_assert_no_error (error);
  return path;
}

/* The normalisation in the weights of a run. */
static DynoNormalisation
read_normalisation (const char *path)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);
  g_autoptr (DynoWeightsInfo) info = dyno_weights_info_read (file, NULL);

  g_assert_true (info->has_input);
  return info->input.normalisation;
}

static double
first_loss (const TestRun *run)
{
  return g_array_index (run->losses, double, 0);
}

/* The input is normalised with the file's numbers, which the saved weights have too, exactly. */
static void
test_of_the_weights (void)
{
  g_autofree char *folder = test_folder (), *weights = write_weights (folder, "w", theirs),
                  *own = write_weights (folder, "mine", NULL), *saved = in_folder (folder, "saved");
  g_autoptr (DynoJob) job = new_job (weights, "weights"), plain = new_job (weights, "true"),
                      same = new_job (own, "weights"), expected = new_job (own, "true");
  g_auto (TestRun) run = { 0 }, other = { 0 }, again = { 0 }, once = { 0 };

  job->weights_out = g_strdup (saved);
  test_run_good (&run, job);
  g_assert_cmpuint (run.warnings->len, ==, 0);
  const DynoNormalisation normalisation = read_normalisation (saved);
  g_assert_true (normalisation.scale_255 && normalisation.standardise);
  g_assert_cmpfloat (normalisation.mean[1], ==, 0.123456789f);
  g_assert_cmpfloat (normalisation.mean[2], ==, 0.3f);
  g_assert_cmpfloat (normalisation.deviation[0], ==, 0.5f);
  test_run_good (&other, plain);
  g_assert_true (test_has_warning (&other, "were made for bytes / 255, less mean 0.1 "));
  g_assert_true (test_has_warning (&other, "; data.normalise=weights feeds theirs"));
  g_assert_cmpfloat (first_loss (&run), !=, first_loss (&other));
  /* If the file has the numbers that the data set advises, the run is the same. */
  test_run_good (&again, same);
  test_run_good (&once, expected);
  g_assert_cmpmem (again.losses->data, again.losses->len * sizeof (double), once.losses->data,
                   once.losses->len * sizeof (double));
  test_remove_tree (folder);
}

static void
test_of_timms_config (void)
{
  static const char config[] = "{\"architecture\": \"resnet18\", \"pretrained_cfg\": {"
                               "\"mean\": [0.5, 0.25, 0.125], \"std\": [0.5, 0.75, 1],"
                               "\"input_size\": [3, 16, 16]}}";
  g_autofree char *folder = test_folder (), *weights = write_weights (folder, "w", silent),
                  *beside = in_folder (folder, "config.json"), *saved = in_folder (folder, "saved");
  g_autoptr (DynoJob) job = new_job (weights, "weights");
  g_auto (TestRun) run = { 0 };

  g_assert_true (g_file_set_contents (beside, config, -1, NULL));
  job->weights_out = g_strdup (saved);
  test_run_good (&run, job);
  const DynoNormalisation normalisation = read_normalisation (saved);
  g_assert_true (normalisation.scale_255);
  g_assert_cmpfloat (normalisation.mean[0], ==, 0.5f);
  g_assert_cmpfloat (normalisation.mean[2], ==, 0.125f);
  g_assert_cmpfloat (normalisation.deviation[1], ==, 0.75f);
  test_remove_tree (folder);
}

static void
assert_refused (const DynoJob *job, DynoTrainError code, const char *word, const char *step)
{
  g_auto (TestRun) run = { 0 };

  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, (int) code);
  if (!strstr (run.error->message, word) || !strstr (run.error->message, step))
    g_error ("“%s” says neither %s nor %s", run.error->message, word, step);
}

/* A run is refused without weights, with weights that lack the numbers, with and without a file
 * beside them, and with weights for another input. */
static void
test_refused (void)
{
  const char *grey[G_N_ELEMENTS (theirs)], *floats[G_N_ELEMENTS (theirs)];
  g_autofree char *folder = test_folder (), *quiet = write_weights (folder, "quiet", silent),
                  *beside = in_folder (folder, "config.json"), *one = NULL, *other = NULL;
  g_autoptr (DynoJob) none = new_job (NULL, "weights"), job = new_job (quiet, "weights");

  memcpy (grey, theirs, sizeof theirs);
  memcpy (floats, theirs, sizeof theirs);
  grey[7] = "[16, 16, 1]";
  floats[3] = "float32";
  one = write_weights (folder, "one", grey);
  other = write_weights (folder, "other", floats);
  assert_refused (none, DYNO_TRAIN_ERROR_SETTING, "starts from none", "--weights");
  assert_refused (job, DYNO_TRAIN_ERROR_CHECKPOINT, quiet, "set data.normalise to true");
  g_assert_true (g_file_set_contents (beside, "{", -1, NULL));
  assert_refused (job, DYNO_TRAIN_ERROR_CHECKPOINT, "config.json” is not used",
                  "set data.normalise to true");
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoJob) unlike = new_job (i ? one : other, "weights");
      assert_refused (unlike, DYNO_TRAIN_ERROR_DATA, i ? "of uint8 values of 1" : "float32",
                      "set data.normalise to true");
    }
  test_remove_tree (folder);
}

static void
stop_at (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == GPOINTER_TO_UINT (data))
    dyno_session_stop (session, FALSE);
}

/* The checkpoint has the numbers, so the file may be missing. */
static void
test_resumes_without_the_file (void)
{
  g_autofree char *folder = test_folder (), *weights = write_weights (folder, "w", theirs),
                  *whole_dir = in_folder (folder, "whole"), *part_dir = in_folder (folder, "part"),
                  *whole_weights = in_folder (whole_dir, DYNO_WEIGHTS_NAME),
                  *part_weights = in_folder (part_dir, DYNO_WEIGHTS_NAME);
  g_autoptr (DynoJob) whole = new_job (weights, "weights"), part = dyno_job_copy (whole);
  g_auto (TestRun) first = { 0 }, begun = { 0 }, ended = { 0 };

  whole->max_steps = part->max_steps = 6;
  whole->out_dir = g_strdup (whole_dir);
  part->out_dir = g_strdup (part_dir);
  test_run_good (&first, whole);
  test_run (&begun, part, stop_at, GUINT_TO_POINTER (3));
  g_assert_cmpint (begun.state, ==, DYNO_SESSION_STOPPED);
  g_assert_cmpint (g_unlink (weights), ==, 0);
  g_clear_pointer (&part->weights_in, g_free);
  part->resume = g_strdup (part_dir);
  test_run_good (&ended, part);
  g_assert_cmpuint (ended.warnings->len, ==, 0);
  test_assert_same_file (whole_weights, part_weights);
  g_assert_cmpfloat (read_normalisation (part_weights).mean[1], ==, 0.123456789f);
  test_remove_tree (folder);
}

/* A run with another normalisation has no numbers to resume with, unless a file is named. */
static void
test_resumed_otherwise (void)
{
  g_autofree char *folder = test_folder (), *weights = write_weights (folder, "w", theirs),
                  *dir = in_folder (folder, "run");
  g_autoptr (DynoJob) job = new_job (NULL, "true");
  g_auto (TestRun) first = { 0 }, second = { 0 };

  job->out_dir = g_strdup (dir);
  test_run_good (&first, job);
  job->resume = g_strdup (dir);
  job->max_steps = 4;
  test_job_set (job, "data.normalise=weights", NULL);
  assert_refused (job, DYNO_TRAIN_ERROR_SETTING, "another normalisation", "resume with that");
  job->weights_in = g_strdup (weights);
  test_run_good (&second, job);
  g_assert_true (test_has_warning (&second, "data.normalise was true and is weights now"));
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/normalisation/is-that-of-the-weights", test_of_the_weights);
  g_test_add_func ("/weights/normalisation/is-that-of-timms-config", test_of_timms_config);
  g_test_add_func ("/weights/normalisation/is-refused-where-there-is-none", test_refused);
  g_test_add_func ("/weights/normalisation/resumes-without-the-file",
                   test_resumes_without_the_file);
  g_test_add_func ("/weights/normalisation/resumed-otherwise", test_resumed_otherwise);
  return g_test_run ();
}
