/* SPDX-License-Identifier: MIT */
/* Masks that are watched during a run: they are predictions of its weights, of the same samples
 * after each validation, and watching changes nothing else. */
#include "engine.h"
#include "predictor.h"
#include "train-test.h"
#include <math.h>
#include <string.h>

#define MASKS "builtin:masks?size=32&samples=22&classes=4&seed=3"

/* 17 samples for training and 5 for validation. */
static DynoJob *
new_job (const char *folder)
{
  DynoJob *job = test_job ("unet_small", MASKS);

  job->out_dir = g_strdup (folder);
  job->watch_masks = TRUE;
  test_job_set (job, "data.val_split=0.25", "batch_size=4", "model.width=0.25", "lr=0.02", "seed=5",
                NULL);
  return job;
}

static const DynoEvent *
masks_of (const TestRun *run, guint i)
{
  g_assert_cmpuint (run->masks->len, >, i);
  return run->masks->pdata[i];
}

static gsize
count_bytes (const DynoEvent *event)
{
  return (gsize) event->masks.n * event->masks.width * event->masks.height;
}

static void
assert_same_masks (const DynoEvent *a, const DynoEvent *b)
{
  g_assert_cmpuint (a->masks.epoch, ==, b->masks.epoch);
  g_assert_cmpuint (a->masks.width, ==, b->masks.width);
  g_assert_cmpmem (a->masks.samples, a->masks.n * sizeof *a->masks.samples, b->masks.samples,
                   b->masks.n * sizeof *b->masks.samples);
  g_assert_cmpmem (a->masks.ids, count_bytes (a), b->masks.ids, count_bytes (b));
}

/* Whether the samples of the event are the first ones of the validation part. */
static void
assert_first_samples (const DynoJob *job, const DynoEvent *event, guint n)
{
  g_autoptr (GArray) training = NULL, validation = NULL;
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (job->data, NULL, NULL, NULL, NULL, NULL);

  dyno_dataset_split (dataset, job->settings.data_val_split, (guint64) job->settings.seed,
                      &training, &validation);
  g_assert_cmpuint (event->masks.n, ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpuint (event->masks.samples[i], ==, g_array_index (validation, guint32, i));
  g_assert_cmpuint (dyno_dataset_get_info (event->masks.dataset)->content_hash, ==,
                    dyno_dataset_get_info (dataset)->content_hash);
}

/* --- nothing else changes ------------------------------------------------------------------------- */

static void
test_changes_no_number (void)
{
  g_autofree char *with_dir = test_folder (), *without_dir = test_folder ();
  g_autofree char *with_weights = g_build_filename (with_dir, "weights-last.safetensors", NULL),
                  *without_weights =
                      g_build_filename (without_dir, "weights-last.safetensors", NULL);
  g_autoptr (DynoJob) with = new_job (with_dir), without = new_job (without_dir);
  g_auto (TestRun) watched = { 0 }, run = { 0 };

  test_job_set (with, "amp=true", NULL);
  test_job_set (without, "amp=true", NULL);
  without->watch_masks = FALSE;
  test_run_good (&watched, with);
  test_run_good (&run, without);
  g_assert_cmpuint (run.masks->len, ==, 0);
  g_assert_cmpuint (watched.masks->len, ==, 2);
  g_assert_cmpmem (watched.losses->data, watched.losses->len * sizeof (double), run.losses->data,
                   run.losses->len * sizeof (double));
  g_assert_cmpfloat (watched.epoch.val_loss, ==, run.epoch.val_loss);
  g_assert_cmpmem (watched.epoch.val_metrics, 3 * sizeof (double), run.epoch.val_metrics,
                   3 * sizeof (double));
  g_assert_cmpuint (watched.vram_bytes, ==, run.vram_bytes);
  test_assert_same_file (with_weights, without_weights);
  test_remove_tree (with_dir);
  test_remove_tree (without_dir);
}

static void
ignore_progress (const char *what, guint done, guint total, gpointer data)
{
}

static void
ignore_warning (const char *text, gpointer data)
{
}

/* The memory of device and host is planned, with and without watching. */
static void
test_memory_is_planned (void)
{
  DynoEngineWatch watch = { ignore_progress, ignore_warning, NULL };
  guint64 host[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoJob) job = new_job (NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoDataset) dataset = dyno_dataset_open (MASKS, NULL, NULL, NULL, NULL, &error);
      g_autoptr (DynoEngine) engine = NULL;

      job->watch_masks = i;
      engine = dyno_engine_open_split (NULL, job, dataset, &watch, &error);
      g_assert_no_error (error);
      g_assert_true (dyno_engine_build (engine, &watch, NULL, &error));
      g_assert_no_error (error);
      host[i] = dyno_device_get_allocated_host (engine->device);
      g_assert_cmpuint (host[i], ==,
                        dyno_host_plan_get_bytes (&engine->plan.host, DYNO_HOST_UPLOAD)
                            + dyno_host_plan_get_bytes (&engine->plan.host, DYNO_HOST_READBACK));
      g_assert_cmpuint (dyno_device_get_allocated_total (engine->device), ==,
                        engine->plan.plan.total_bytes);
    }
  g_assert_cmpuint (host[1], >, host[0]);
}

/* --- which masks, of which samples ---------------------------------------------------------------- */

typedef struct {
  const DynoEvent *event;
  guint at;
  guint64 n_other; /* pixels of another class */
} Comparing;

static gboolean
compare (const DynoPrediction *prediction, gpointer data)
{
  Comparing *c = data;
  const guint8 *ids =
      c->event->masks.ids + (gsize) c->at * c->event->masks.width * c->event->masks.height;
  guint32 every = c->event->masks.every;

  g_assert_null (prediction->problem);
  g_assert_cmpuint (prediction->index, ==, c->event->masks.samples[c->at]);
  for (guint32 y = 0; y < c->event->masks.height; y++)
    for (guint32 x = 0; x < c->event->masks.width; x++)
      c->n_other +=
          *ids++ != prediction->mask[(gsize) y * every * c->event->masks.image_width + x * every];
  c->at++;
  return TRUE;
}

/* The masks are those of the run's last weights.  Batches of another size sum in another order, so
 * a pixel between two classes may have the other class. */
static void
assert_predicted (const char *folder, const DynoEvent *event, gboolean amp)
{
  g_autofree char *weights = g_build_filename (folder, "weights-last.safetensors", NULL);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = {
    .weights = weights, .batch = 4, .workers = 1, .amp = amp, .device = -1
  };
  Comparing comparing = { .event = event };
  g_autoptr (DynoPredictor) predictor =
      dyno_predictor_new (&params, event->masks.dataset, notes, NULL, &error);
  guint32 width, height;

  g_assert_no_error (error);
  dyno_predictor_get_mask_size (predictor, &width, &height);
  g_assert_cmpuint (width, ==, event->masks.image_width);
  g_assert_cmpuint (height, ==, event->masks.image_height);
  g_array_append_vals (indices, event->masks.samples, event->masks.n);
  dyno_predictor_run (predictor, indices, compare, &comparing, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (comparing.at, ==, event->masks.n);
  g_test_message ("%" G_GUINT64_FORMAT " of %" G_GSIZE_FORMAT " pixels have another class",
                  comparing.n_other, count_bytes (event));
  g_assert_cmpuint (comparing.n_other, <=, count_bytes (event) / 500);
}

/* If the masks did not vary, a mask of any sample, or any pixel, would pass the test. */
static void
assert_varied (const DynoEvent *event)
{
  guint64 there[256] = { 0 }, most = 0;

  for (gsize i = 0; i < count_bytes (event); i++)
    there[event->masks.ids[i]]++;
  for (guint i = 0; i < 256; i++)
    most = MAX (most, there[i]);
  g_test_message ("%" G_GUINT64_FORMAT " of %" G_GSIZE_FORMAT " pixels are of one class", most,
                  count_bytes (event));
  g_assert_cmpuint (most, <, count_bytes (event) * 9 / 10);
}

static void
test_are_those_of_the_weights (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autofree char *folder = test_folder ();
      g_autoptr (DynoJob) job = new_job (folder);
      g_auto (TestRun) run = { 0 };
      const DynoEvent *last;

      test_job_set (job, amp ? "amp=true" : "amp=false", "epochs=3", NULL);
      test_run_good (&run, job);
      g_assert_cmpuint (run.masks->len, ==, 3);
      last = masks_of (&run, 2);
      g_assert_cmpuint (last->masks.epoch, ==, 3);
      g_assert_cmpuint (last->masks.every, ==, 1);
      assert_first_samples (job, last, 4);
      assert_predicted (folder, last, amp);
      g_assert_true (memcmp (last->masks.ids, masks_of (&run, 0)->masks.ids, count_bytes (last))
                     != 0);
      assert_varied (last);
      test_remove_tree (folder);
    }
}

/* The masks do not depend on the batch size, the prefetch and the workers, with or without metrics
 * that are read back as well. */
static void
test_batches_of_any_size (void)
{
  static const struct {
    const char *batch, *split, *how;
    guint n;
  } cases[] = {
    { "batch_size=1", "data.val_split=0.25", "workers=0", 4 },
    { "batch_size=3", "data.val_split=0.25", "prefetch=1", 4 }, /* batches of 3 and 2 */
    { "batch_size=8", "data.val_split=0.25", "pinned=false", 4 },
    { "batch_size=2", "data.val_split=0.1", "workers=4", 2 },             /* one batch only */
    { "batch_size=4", "data.val_split=0.15", "best_metric=mean_iou", 3 }, /* a short batch */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = test_folder ();
      g_autoptr (DynoJob) job = new_job (folder);
      g_auto (TestRun) run = { 0 };

      test_job_set (job, cases[i].batch, cases[i].split, cases[i].how, NULL);
      test_run_good (&run, job);
      g_assert_cmpuint (run.masks->len, ==, 2);
      for (guint k = 0; k < 2; k++)
        assert_first_samples (job, masks_of (&run, k), cases[i].n);
      assert_predicted (folder, masks_of (&run, 1), FALSE);
      test_remove_tree (folder);
    }
}

/* A run in two parts, of which the second begins in the middle of an epoch. */
static void
test_resumed_run_goes_on (void)
{
  g_autofree char *whole_dir = test_folder (), *part_dir = test_folder ();
  g_autoptr (DynoJob) whole = new_job (whole_dir), part = new_job (part_dir);
  g_auto (TestRun) all = { 0 }, first = { 0 }, second = { 0 };

  test_job_set (whole, "epochs=4", NULL);
  test_job_set (part, "epochs=4", NULL);
  test_run_good (&all, whole);
  part->max_steps = 10;
  test_run_good (&first, part);
  part->resume = g_strdup (part_dir);
  part->max_steps = 0;
  test_run_good (&second, part);
  g_assert_cmpuint (all.masks->len, ==, 4);
  g_assert_cmpuint (first.masks->len, ==, 2);
  g_assert_cmpuint (second.masks->len, ==, 2);
  for (guint i = 0; i < 4; i++)
    assert_same_masks (masks_of (&all, i),
                       i < 2 ? masks_of (&first, i) : masks_of (&second, i - 2));
  test_remove_tree (whole_dir);
  test_remove_tree (part_dir);
}

/* There are no masks without a validation, and none of a model with one answer for an image. */
static void
test_only_of_validated_pixels (void)
{
  g_autoptr (DynoJob) unvalidated = new_job (NULL),
                      classes = test_job ("mlp", "builtin:shapes?size=16&samples=40");
  g_auto (TestRun) one = { 0 }, other = { 0 };

  test_job_set (unvalidated, "data.val_split=0", "epochs=1", NULL);
  classes->watch_masks = TRUE;
  test_job_set (classes, "data.val_split=0.25", "epochs=1", NULL);
  test_run_good (&one, unvalidated);
  test_run_good (&other, classes);
  g_assert_cmpuint (one.masks->len + other.masks->len, ==, 0);
  g_assert_cmpuint (other.epochs, ==, 1);
}

static gboolean
nothing_is_before (gpointer data, GError **error)
{
  return TRUE;
}

/* Watches a validation with the engine's weights. */
static DynoEvent *
watch_with_side (DynoEngine *engine, guint32 side)
{
  DynoLoader *loader = dyno_uploader_get_loader (engine->validation.uploader);
  g_autoptr (GError) error = NULL;
  DynoMaskWatch *watch =
      dyno_mask_watch_new (engine->device, engine->validation.build, engine->dataset, side, &error);
  DynoEvaluateParams params = {
    .pipe = engine->validation.pipe, .loader = loader, .watch = watch, .begun = nothing_is_before
  };
  DynoEvaluation evaluation;
  DynoEvent *event;

  g_assert_no_error (error);
  dyno_loader_start_epoch (loader, 0, 0);
  g_assert_true (dyno_evaluate (&params, NULL, &evaluation, &error));
  event = dyno_mask_watch_report (watch, 1);
  g_assert_null (dyno_mask_watch_report (watch, 1)); /* only once */
  dyno_mask_watch_free (watch);
  return event;
}

static void
assert_thinned (const DynoEvent *whole, const DynoEvent *event, guint32 every)
{
  const guint8 *ids = event->masks.ids;

  g_assert_cmpuint (event->masks.n, ==, whole->masks.n);
  g_assert_cmpuint (event->masks.every, ==, every);
  g_assert_cmpuint (event->masks.image_width, ==, 32);
  g_assert_cmpuint (event->masks.image_height, ==, 32);
  g_assert_cmpuint (event->masks.width, ==, (31 + every) / every);
  g_assert_cmpuint (event->masks.height, ==, (31 + every) / every);
  for (guint i = 0; i < event->masks.n; i++)
    for (guint32 y = 0; y < 32; y += every)
      for (guint32 x = 0; x < 32; x += every)
        g_assert_cmpuint (*ids++, ==, whole->masks.ids[(i * 32 + y) * 32 + x]);
}

/* An image with more rows than a mask may have is reduced to every second or third row. */
static void
test_large_masks_are_thinned (void)
{
  static const struct {
    guint32 side, every;
  } cases[] = { { 32, 1 }, { 31, 2 }, { 16, 2 }, { 11, 3 } };
  DynoEngineWatch watch = { ignore_progress, ignore_warning, NULL };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = new_job (folder);
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (MASKS, NULL, NULL, NULL, NULL, NULL);
  g_autoptr (DynoEngine) engine = NULL;
  g_autoptr (DynoEvent) whole = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (TestRun) run = { 0 };
  guint64 batches;

  test_job_set (job, "epochs=4", NULL);
  test_run_good (&run, job);
  job->weights_in = g_build_filename (folder, "weights-last.safetensors", NULL);
  engine = dyno_engine_open_split (NULL, job, dataset, &watch, &error);
  g_assert_no_error (error);
  g_assert_true (dyno_engine_build (engine, &watch, NULL, &error));
  g_assert_true (dyno_engine_initialise (engine, &watch, &batches, &error));
  g_assert_no_error (error);
  whole = watch_with_side (engine, 512);
  assert_varied (whole);
  g_assert_cmpmem (whole->masks.ids, count_bytes (whole), masks_of (&run, 3)->masks.ids,
                   count_bytes (masks_of (&run, 3)));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (DynoEvent) event = watch_with_side (engine, cases[i].side);

      assert_thinned (whole, event, cases[i].every);
    }
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/maskwatch/changes-no-number", test_changes_no_number);
  g_test_add_func ("/train/maskwatch/memory-is-planned", test_memory_is_planned);
  g_test_add_func ("/train/maskwatch/are-those-of-the-weights", test_are_those_of_the_weights);
  g_test_add_func ("/train/maskwatch/batches-of-any-size", test_batches_of_any_size);
  g_test_add_func ("/train/maskwatch/resumed-run-goes-on", test_resumed_run_goes_on);
  g_test_add_func ("/train/maskwatch/only-of-validated-pixels", test_only_of_validated_pixels);
  g_test_add_func ("/train/maskwatch/large-masks-are-thinned", test_large_masks_are_thinned);
  return g_test_run ();
}
