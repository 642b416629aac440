/* SPDX-License-Identifier: MIT */
/* The test part of a run: it is measured once, at the end, with the best weights, and nothing else
 * in the run depends on it. */
#include "image.h"
#include "maskscores.h"
#include "measure.h"
#include "parts.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=120&classes=4"
#define MASKS  "builtin:masks?size=16&samples=30&classes=3"
#define POSES  "builtin:poses?size=16&samples=60"
#define WAVES  "builtin:waves?length=16&samples=60&classes=2"

static DynoJob *
job_in (const char *model, const char *data, const char *folder)
{
  DynoJob *job = test_job (model, data);

  job->out_dir = g_strdup (folder);
  test_job_set (job, "data.test_split=0.25", "data.val_split=0.2", "seed=5", "batch_size=8",
                "deterministic=true", NULL);
  return job;
}

static char *
in_folder (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

/* Opens the weights of the folder for a prediction of the job's data. */
static DynoPredictor *
open_predictor (const char *folder, const char *name, DynoDataset *dataset)
{
  g_autofree char *weights = in_folder (folder, name);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = { .weights = weights, .batch = 7, .workers = 1, .device = -1 };
  DynoPredictor *predictor = dyno_predictor_new (&params, dataset, notes, NULL, &error);

  g_assert_no_error (error);
  return predictor;
}

static DynoDataset *
divide (const DynoJob *job, DynoDatasetParts *parts)
{
  g_autoptr (GError) error = NULL;
  DynoDataset *dataset = dyno_dataset_open (job->data, NULL, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  dyno_settings_divide (&job->settings, dataset, parts);
  return dataset;
}

static void
assert_near (double a, double b)
{
  g_assert_cmpfloat_with_epsilon (a, b, 1e-5 * MAX (1, fabs (b)));
}

/* Totals are those of the samples, whose lowest are the worst, the first of equal ones first; the
 * table has them all. */
static void
assert_samples_agree (const DynoMaskScores *scores, DynoPredictor *predictor, DynoDataset *dataset,
                      guint most)
{
  const guint32 n = scores->n_outputs;
  guint64 n_counted = 0, n_ignored = 0, n_right = 0;
  g_autofree char *folder = g_dir_make_tmp ("dyno-masks-XXXXXX", NULL),
                  *path = g_build_filename (folder, "t.csv", NULL), *text = NULL;
  g_autoptr (GError) error = NULL;
  guint at = 0;

  g_assert_cmpuint (scores->samples->len, ==, scores->n_samples);
  for (guint32 i = 0; i < n * n; i++)
    {
      n_counted += scores->confusion[i];
      n_right += i % (n + 1) == 0 ? scores->confusion[i] : 0;
    }
  for (guint i = 0; i < scores->samples->len; i++)
    {
      const DynoMaskScored *one = &g_array_index (scores->samples, DynoMaskScored, i);
      double sum = 0;
      guint there = 0;
      n_ignored += one->n_ignored;
      for (guint32 k = 0; k < n; k++)
        if (!isnan (scores->ious[i * n + k]))
          {
            sum += scores->ious[i * n + k];
            there++;
          }
      assert_near (one->iou, sum / there);
    }
  g_assert_cmpuint (n_ignored, ==, scores->n_ignored);
  g_assert_cmpuint (n_counted + n_ignored, ==, scores->n_samples * scores->width * scores->height);
  assert_near (dyno_mask_scores_get_accuracy (scores), (double) n_right / (double) n_counted);
  g_assert_cmpuint (scores->worst->len, ==, MIN (most, scores->samples->len));
  g_autofree gboolean *taken = g_new0 (gboolean, scores->samples->len);
  for (; at < scores->worst->len; at++)
    {
      const DynoMaskScored *lowest = NULL;
      for (guint i = 0; i < scores->samples->len; i++)
        {
          const DynoMaskScored *one = &g_array_index (scores->samples, DynoMaskScored, i);
          if (!taken[i] && (!lowest || one->iou < lowest->iou))
            lowest = one;
        }
      taken[lowest - (const DynoMaskScored *) (gpointer) scores->samples->data] = TRUE;
      g_assert_cmpuint (g_array_index (scores->worst, DynoMaskScored, at).index, ==, lowest->index);
    }
  g_assert_true (dyno_mask_scores_write_table (scores, dyno_predictor_get_info (predictor), dataset,
                                               path, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, scores->n_samples + 2);
  g_assert_true (
      g_str_has_prefix (lines[0], "sample,index,mean_iou,pixel_accuracy,ignored,IoU of "));
  for (guint i = 0; i < scores->samples->len; i++)
    {
      const DynoMaskScored *one = &g_array_index (scores->samples, DynoMaskScored, i);
      g_auto (GStrv) cells = g_strsplit (lines[i + 1], ",", -1);
      g_assert_cmpuint (g_strv_length (cells), ==, 5 + n);
      g_assert_cmpuint (g_ascii_strtoull (cells[1], NULL, 10), ==, one->index);
      assert_near (g_ascii_strtod (cells[2], NULL), one->iou);
      assert_near (g_ascii_strtod (cells[3], NULL), one->accuracy);
      g_assert_cmpuint (g_ascii_strtoull (cells[4], NULL, 10), ==, one->n_ignored);
      for (guint32 k = 0; k < n; k++)
        if (!isnan (scores->ious[i * n + k]))
          assert_near (g_ascii_strtod (cells[5 + k], NULL), scores->ious[i * n + k]);
    }
  g_unlink (path);
  g_rmdir (folder);
}

static void
put_png (const char *folder, const char *name, const guint8 *pixels, guint32 channels)
{
  g_autofree char *path = in_folder (folder, name);
  g_autoptr (GByteArray) file = g_byte_array_new ();

  g_assert_true (dyno_image_encode_png (pixels, 16, 16, channels, file, NULL));
  g_assert_true (g_file_set_contents (path, (char *) file->data, (gssize) file->len, NULL));
}

/* Pixels that are ignored belong to no class, and of equal masks the first is the worst. */
static void
test_ignored_pixels_of_masks (void)
{
  /* the number of ignored rows of each mask; the others have as many pixels of class 1 as columns
     that are named here, and class 0 */
  static const struct {
    guint ignored, columns;
  } masks[] = {
    { 0, 12 }, { 15, 2 }, { 4, 4 }, { 4, 4 }, { 4, 4 }, { 1, 6 }, { 0, 12 }, { 0, 12 }
  };
  g_autofree char *folder = test_folder (), *data = in_folder (folder, "data"),
                  *images = in_folder (data, "images"), *truths = in_folder (data, "masks"),
                  *out = in_folder (folder, "out");
  guint64 there[2] = { 0 }, ignored = 0;
  guint8 image[16 * 16 * 3], mask[16 * 16];
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;
  g_auto (TestRun) run = { 0 };

  g_assert_cmpint (g_mkdir_with_parents (images, 0700) | g_mkdir_with_parents (truths, 0700), ==,
                   0);
  for (guint32 i = 0; i < G_N_ELEMENTS (masks); i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.png", i);
      for (guint at = 0; at < 16 * 16; at++)
        {
          mask[at] = at / 16 < masks[i].ignored ? 255 : at % 16 < masks[i].columns;
          memset (image + at * 3, mask[at] == 1 ? 200 : 40, 3);
          if (mask[at] == 255)
            ignored++;
          else
            there[mask[at]]++;
        }
      put_png (images, name, image, 3);
      put_png (truths, name, mask, 1);
      g_array_append_val (all, i);
    }
  g_autoptr (DynoJob) job = test_job ("unet_small", data);
  job->out_dir = g_strdup (out);
  test_job_set (job, "data.val_split=0", "batch_size=4", "epochs=1", "image_size=16", NULL);
  test_run_good (&run, job);
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (DynoPredictor) predictor = open_predictor (out, "weights.safetensors", dataset);
  g_autoptr (DynoMaskScores) scores =
      dyno_mask_scores_measure (predictor, dataset, all, 8, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (scores->n_samples, ==, 8);
  g_assert_cmpuint (scores->n_ignored, ==, ignored);
  for (guint i = 0; i < 8; i++)
    g_assert_cmpuint (g_array_index (scores->samples, DynoMaskScored, i).n_ignored, ==,
                      16 * masks[i].ignored);
  for (guint c = 0; c < 2; c++)
    g_assert_cmpuint (scores->confusion[c * 2] + scores->confusion[c * 2 + 1], ==, there[c]);
  g_assert_cmpuint (scores->worst->len, ==, 8);
  for (guint i = 1; i < 8; i++)
    {
      const DynoMaskScored *a = &g_array_index (scores->worst, DynoMaskScored, i - 1), *b = a + 1;
      g_assert_true (a->iou < b->iou || (a->iou <= b->iou && a->index < b->index));
    }
  test_remove_tree (folder);
}

/* Labels are those of the weights by name: data may have them in another order, and a label that
 * the data lack is not known. */
static void
test_labels_by_name (void)
{
  static const struct {
    const char *text;
    guint known;
    gint columns[3]; /* of the weights' labels a, b and c; -1: none */
  } lists[] = {
    { "file,a,b,c\n0.png,1,0,0\n1.png,0,1,1\n2.png,1,1,0\n3.png,0,0,1\n", 3, { 0, 1, 2 } },
    { "file,c,a,b\n0.png,0,1,0\n1.png,1,0,1\n2.png,0,1,1\n3.png,1,0,0\n", 3, { 1, 2, 0 } },
    { "file,c,b\n0.png,0,0\n1.png,1,1\n2.png,0,1\n3.png,1,0\n", 2, { -1, 1, 0 } }
  };
  g_autofree char *folder = test_folder (), *out = in_folder (folder, "out");
  guint8 image[16 * 16 * 3];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *name = g_strdup_printf ("%u.png", i);
      for (guint at = 0; at < sizeof image; at++)
        image[at] = (guint8) (at * (3 + i) + i * 50);
      put_png (folder, name, image, 3);
    }
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      const DynoDatasetParams params = { .task = DYNO_TASK_LABELS };
      g_autofree char *name = g_strdup_printf ("%u.csv", i), *path = in_folder (folder, name);
      g_assert_true (g_file_set_contents (path, lists[i].text, -1, NULL));
      if (i == 0)
        {
          g_autoptr (DynoJob) job = test_job ("mlp", path);
          g_auto (TestRun) run = { 0 };
          job->out_dir = g_strdup (out);
          test_job_set (job, "data.task=labels", "data.val_split=0", "batch_size=4", "epochs=1",
                        NULL);
          test_run_good (&run, job);
        }
      g_autoptr (DynoDataset) dataset = dyno_dataset_open (path, &params, NULL, NULL, NULL, &error);
      g_assert_no_error (error);
      g_autoptr (DynoPredictor) predictor = open_predictor (out, "weights.safetensors", dataset);
      g_autoptr (DynoScores) scores =
          dyno_scores_measure (predictor, dataset, NULL, 0, NULL, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpuint (scores->n_samples, ==, 4);
      for (guint k = 0; k < 4; k++)
        {
          const DynoScored *one = &g_array_index (scores->samples, DynoScored, k);
          const float *truth = dyno_dataset_get_values (dataset, one->index);
          double loss = 0;
          for (guint c = 0; c < 3; c++)
            if (lists[i].columns[c] >= 0)
              {
                double share = (double) g_array_index (scores->outputs, float, k * 3 + c);
                loss -= log (truth[lists[i].columns[c]] > 0 ? share : 1 - share) / 3;
              }
          g_assert_cmpuint (one->n_known, ==, lists[i].known);
          assert_near (one->loss, loss);
        }
    }
  test_remove_tree (folder);
}

/* The result equals an evaluation of weights.safetensors on the samples of the test part. */
static void
assert_result (const DynoJob *job, const TestRun *run)
{
  g_auto (DynoDatasetParts) parts = { 0 };
  g_autoptr (DynoDataset) dataset = divide (job, &parts);
  g_autoptr (DynoPredictor) predictor =
      open_predictor (job->out_dir, "weights.safetensors", dataset);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (run->test.n_samples, ==, parts.test->len);
  g_assert_cmpuint (run->test.epoch, ==, run->best_epoch);
  g_assert_cmpuint (run->test.step, ==, run->done_steps);
  if (dyno_predictor_get_info (predictor)->of_pixels)
    {
      g_autoptr (DynoMaskScores) scores =
          dyno_mask_scores_measure (predictor, dataset, parts.test, 3, NULL, NULL, &error);
      DynoClassMeans means;

      g_assert_no_error (error);
      assert_samples_agree (scores, predictor, dataset, 3);
      dyno_class_counts_get_means (&scores->counts, &means);
      g_assert_cmpstr (run->metrics.infos[2].name, ==, "mean_iou");
      assert_near (run->test.metrics[2], means.iou);
      assert_near (run->test.metrics[0], dyno_mask_scores_get_accuracy (scores));
      return;
    }
  g_autoptr (DynoScores) scores =
      dyno_scores_measure (predictor, dataset, parts.test, 0, NULL, NULL, &error);

  g_assert_no_error (error);
  assert_near (run->test.loss, dyno_scores_get_loss (scores));
  if (!scores->is_values)
    assert_near (run->test.metrics[0], (double) scores->n_correct / (double) scores->n_samples);
}

/* Classes, values, pixels and sequences, whose kinds of metrics differ. */
static void
test_equals_an_evaluation (void)
{
  static const struct {
    const char *model, *data, *setting;
  } cases[] = { { "mlp", SHAPES, "lr=0.02" },
                { "simplecnn", SHAPES, "ema_decay=0.8" },
                { "mlp", POSES, "best_metric=r2" },
                { "unet_small", MASKS, "lr=0.02" },
                { "cnn1d", WAVES, "augment.flip=false" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder ();
      g_autoptr (DynoJob) job = job_in (cases[i].model, cases[i].data, folder);
      g_auto (TestRun) run = { 0 };

      g_test_message ("%s on %s", cases[i].model, cases[i].data);
      test_job_set (job, cases[i].setting, NULL);
      test_run_good (&run, job);
      assert_result (job, &run);
      test_remove_tree (folder);
    }
}

/* A job whose weights become worse from its first epoch on. */
static DynoJob *
fading_job (const char *learned, const char *folder)
{
  DynoJob *job = job_in ("mlp", SHAPES, folder);

  job->weights_in = in_folder (learned, "weights.safetensors");
  test_job_set (job, "lr=0.2", "momentum=0", "clip_norm=0.001", "weight_decay=1", "epochs=3",
                "warmup_epochs=0", "schedule=constant", NULL);
  return job;
}

/* The best weights are measured, not the last; also where the run keeps them in memory only, and
 * with the file's weights where nothing validates. */
static void
test_measures_the_best_weights (void)
{
  g_autofree char *learned = test_folder (), *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", SHAPES, learned), fading = NULL, unkept = NULL;
  g_auto (TestRun) run = { 0 }, faded = { 0 }, in_memory = { 0 };
  g_auto (DynoDatasetParts) parts = { 0 };
  g_autoptr (GError) error = NULL;

  test_job_set (job, "lr=0.01", "warmup_epochs=0", "schedule=constant", "data.val_split=0", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.best_epoch, ==, 0);
  assert_result (job, &run);
  fading = fading_job (learned, folder);
  test_run_good (&faded, fading);
  g_assert_cmpuint (faded.best_epoch, ==, 1);
  assert_result (fading, &faded);
  g_autoptr (DynoDataset) dataset = divide (fading, &parts);
  g_autoptr (DynoPredictor) last = open_predictor (folder, "weights-last.safetensors", dataset);
  g_autoptr (DynoScores) scores =
      dyno_scores_measure (last, dataset, parts.test, 0, NULL, NULL, &error);
  g_assert_cmpfloat (fabs (dyno_scores_get_loss (scores) - faded.test.loss), >, 1e-4);

  unkept = fading_job (learned, folder);
  g_clear_pointer (&unkept->out_dir, g_free);
  test_run_good (&in_memory, unkept);
  g_assert_cmpuint (in_memory.best_epoch, ==, 1);
  assert_near (in_memory.test.loss, faded.test.loss);
  test_remove_tree (learned);
  test_remove_tree (folder);
}

/* The samples of the test part neither train nor validate: a run on data without them has the same
 * losses.  Here a hidden test part leaves the run as it is, too. */
static void
test_changes_nothing_else (void)
{
  g_autoptr (DynoJob) job = job_in ("mlp", SHAPES, NULL), hidden = job_in ("mlp", SHAPES, NULL);
  g_auto (TestRun) run = { 0 }, other = { 0 };

  hidden->no_test = TRUE;
  test_run_good (&run, job);
  test_run_good (&other, hidden);
  g_assert_cmpuint (run.test.n_samples, ==, 30);
  g_assert_cmpuint (other.test.n_samples, ==, 0);
  g_assert_cmpuint (run.losses->len, ==, 2 * (72 / 8));
  g_assert_cmpmem (run.losses->data, run.losses->len * sizeof (double), other.losses->data,
                   other.losses->len * sizeof (double));
  g_assert_cmpfloat (run.epoch.val_loss, ==, other.epoch.val_loss);
}

/* Replaces the loss in a folder's result, which shows whether it was measured anew. */
static void
mark (const char *folder, const TestRun *run)
{
  DynoTestResult marked = run->test;

  marked.loss = 123;
  g_assert_true (dyno_test_result_write (folder, &run->metrics, &marked, NULL));
}

/* Rows of pixels with a part each, of which every fifth validates, and every fourth of the others
 * tests, or is left out; g_free. */
static char *
write_rows (const char *folder, gboolean with_test)
{
  g_autoptr (GString) text = g_string_new ("label,pixels,split\n");
  char *path = in_folder (folder, "rows.csv");

  for (guint i = 0; i < 100; i++)
    {
      gboolean validates = i % 5 == 0, tests = !validates && i % 4 == 0;

      if (tests && !with_test)
        continue;
      g_string_append_printf (text, "%u,", i % 3);
      for (guint p = 0; p < 64; p++)
        g_string_append_printf (text, "%s%u", p > 0 ? " " : "",
                                (i * 37 + p * 11 * (1 + i % 3)) % 256);
      g_string_append_printf (text, ",%s\n", tests ? "test" : validates ? "val" : "train");
    }
  g_assert_true (g_file_set_contents (path, text->str, -1, NULL));
  return path;
}

/* The test part that a data set brings is the test part of the run; without its samples the data
 * set gives the same losses. */
static void
test_own_part (void)
{
  g_autofree char *folder = test_folder (), *other = test_folder (),
                  *with = write_rows (folder, TRUE), *without = write_rows (other, FALSE);
  g_autoptr (DynoJob) job = job_in ("mlp", with, folder), bare = job_in ("mlp", without, other),
                      refused = job_in ("mlp", with, NULL);
  g_auto (TestRun) run = { 0 }, again = { 0 }, untested = { 0 }, failed = { 0 };

  test_job_set (job, "data.test_split=0", "loss.class_weights=balanced", NULL);
  test_job_set (bare, "data.test_split=0", "loss.class_weights=balanced", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.test.n_samples, ==, 20);
  assert_result (job, &run);
  test_run_good (&untested, bare);
  g_assert_cmpuint (untested.test.n_samples, ==, 0);
  g_assert_cmpuint (run.losses->len, ==, 2 * (60 / 8));
  g_assert_cmpmem (run.losses->data, run.losses->len * sizeof (double), untested.losses->data,
                   untested.losses->len * sizeof (double));
  g_assert_cmpfloat (run.epoch.val_loss, ==, untested.epoch.val_loss);

  /* A finished run that is resumed keeps its result. */
  mark (folder, &run);
  job->resume = g_strdup (folder);
  test_run_good (&again, job);
  g_assert_true (again.is_idle);
  g_assert_cmpfloat (again.test.loss, ==, 123);
  g_assert_cmpuint (again.test.n_samples, ==, 20);

  /* A share of such data is refused. */
  test_run (&failed, refused, NULL, NULL);
  g_assert_cmpint (failed.state, ==, DYNO_SESSION_FAILED);
  test_remove_tree (folder);
  test_remove_tree (other);
}

/* A finished run is not measured again, however often it is resumed, unless it trains further; a
 * result is removed as soon as it no longer belongs to the weights in the folder. */
static void
test_measures_once (void)
{
  g_autofree char *folder = test_folder (), *other = test_folder (),
                  *result = in_folder (folder, DYNO_TEST_RESULT_NAME);
  g_autoptr (DynoJob) job = job_in ("mlp", SHAPES, folder);
  g_auto (TestRun) first = { 0 }, longer = { 0 }, part = { 0 }, moved = { 0 };
  DynoTestResult read;

  test_run_good (&first, job);
  mark (folder, &first);
  job->resume = g_strdup (folder);
  for (guint i = 0; i < 2; i++)
    {
      g_auto (TestRun) again = { 0 };

      test_run_good (&again, job);
      g_assert_true (again.is_idle);
      g_assert_cmpfloat (again.test.loss, ==, 123);
      g_assert_cmpuint (again.test.n_samples, ==, 30);
    }
  /* In another folder the run is completed, with the result that it has. */
  g_free (job->out_dir);
  job->out_dir = g_strdup (other);
  test_run_good (&moved, job);
  g_assert_cmpfloat (moved.test.loss, ==, 123);
  g_assert_true (dyno_test_result_read (other, &moved.metrics, &read));
  g_assert_cmpfloat (read.loss, ==, 123);
  g_free (job->out_dir);
  job->out_dir = g_strdup (folder);

  test_job_set (job, "epochs=3", NULL);
  test_run_good (&longer, job);
  g_assert_cmpuint (longer.epochs, ==, 1);
  assert_result (job, &longer);
  g_assert_true (dyno_test_result_read (folder, &longer.metrics, &read));
  g_assert_cmpfloat (read.loss, ==, longer.test.loss);

  /* One more step, which is not the end of the run. */
  test_job_set (job, "epochs=4", NULL);
  job->max_steps = (gint64) longer.done_steps + 1;
  test_run_good (&part, job);
  g_assert_cmpuint (part.losses->len, ==, 1);
  g_assert_cmpuint (part.test.n_samples, ==, 0);
  g_assert_false (g_file_test (result, G_FILE_TEST_EXISTS));
  test_remove_tree (folder);
  test_remove_tree (other);
}

static void
stop (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  if (step->step == 3)
    dyno_session_stop (session, FALSE);
}

/* A run that was stopped has no result until it is resumed and comes to its end; neither has a run
 * that ends early by its validation before that. */
static void
test_stopped_run_is_measured_at_its_end (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", SHAPES, folder);
  g_auto (TestRun) stopped = { 0 }, resumed = { 0 };

  test_job_set (job, "lr=0", "epochs=9", "early_stop.patience=2", "best_metric=loss", NULL);
  test_run (&stopped, job, stop, NULL);
  g_assert_cmpint (stopped.state, ==, DYNO_SESSION_STOPPED);
  g_assert_cmpuint (stopped.test.n_samples, ==, 0);
  job->resume = g_strdup (folder);
  test_run (&resumed, job, NULL, NULL);
  g_assert_cmpint (resumed.state, ==, DYNO_SESSION_FINISHED);
  g_assert_cmpuint (resumed.epochs, ==, 3);
  assert_result (job, &resumed);
  test_remove_tree (folder);
}

static void
stop_at_the_end (DynoEvent *event, gpointer data)
{
  if (event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_STOPPING)
    dyno_session_stop (data, FALSE);
}

/* A stop during the measurement leaves a run that is measured when it is resumed. */
static void
test_stop_before_the_result (void)
{
  static const DynoObserver observer = { .event = stop_at_the_end };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = job_in ("mlp", SHAPES, folder);
  g_autoptr (DynoSession) session = dyno_session_new (job);
  g_auto (TestRun) resumed = { 0 };

  dyno_session_add_observer (session, &observer, session);
  dyno_session_start (session);
  dyno_session_join (session);
  g_assert_cmpint (dyno_session_get_state (session), ==, DYNO_SESSION_STOPPED);
  job->resume = g_strdup (folder);
  test_run_good (&resumed, job);
  g_assert_cmpuint (resumed.losses->len, ==, 0);
  g_assert_false (resumed.is_idle);
  assert_result (job, &resumed);
  test_remove_tree (folder);
}

/* Weights that are gone do not undo the run: it ends well, with a warning. */
static void
lose_weights (DynoEvent *event, gpointer data)
{
  g_autofree char *weights = in_folder (data, "weights.safetensors");

  if (event->type == DYNO_EVENT_STATE && event->state == DYNO_SESSION_STOPPING)
    g_assert_cmpint (g_unlink (weights), ==, 0);
}

static void
find_words (DynoEvent *event, gpointer data)
{
  if (event->type == DYNO_EVENT_WARNING && strstr (event->text, "test part was not measured"))
    *(gboolean *) data = TRUE;
}

static void
test_lost_weights_are_a_warning (void)
{
  static const DynoObserver loser = { .event = lose_weights }, finder = { .event = find_words };
  g_autofree char *folder = test_folder (), *result = in_folder (folder, DYNO_TEST_RESULT_NAME);
  g_autoptr (DynoJob) job = job_in ("mlp", SHAPES, folder);
  g_autoptr (DynoSession) session = dyno_session_new (job);
  gboolean found = FALSE;

  dyno_session_add_observer (session, &loser, folder);
  dyno_session_add_observer (session, &finder, &found);
  dyno_session_start (session);
  dyno_session_join (session);
  g_assert_cmpint (dyno_session_get_state (session), ==, DYNO_SESSION_FINISHED);
  g_assert_true (found);
  g_assert_false (g_file_test (result, G_FILE_TEST_EXISTS));
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/test-part/equals-an-evaluation", test_equals_an_evaluation);
  g_test_add_func ("/train/test-part/labels-by-name", test_labels_by_name);
  g_test_add_func ("/train/test-part/ignored-pixels-of-masks", test_ignored_pixels_of_masks);
  g_test_add_func ("/train/test-part/measures-the-best-weights", test_measures_the_best_weights);
  g_test_add_func ("/train/test-part/changes-nothing-else", test_changes_nothing_else);
  g_test_add_func ("/train/test-part/of-the-data-changes-nothing-else", test_own_part);
  g_test_add_func ("/train/test-part/measures-once", test_measures_once);
  g_test_add_func ("/train/test-part/stopped-run-is-measured-at-its-end",
                   test_stopped_run_is_measured_at_its_end);
  g_test_add_func ("/train/test-part/stop-before-the-result", test_stop_before_the_result);
  g_test_add_func ("/train/test-part/lost-weights-are-a-warning", test_lost_weights_are_a_warning);
  return g_test_run ();
}
