/* SPDX-License-Identifier: MIT */
/* Pictures of the training network's input, and random crops, which the device or the loader
 * makes. */
#include "image.h"
#include "samplepreview.h"
#include "train-test.h"
#include <glib/gstdio.h>
#include <string.h>

#define DATA "builtin:shapes?size=16&samples=30&classes=3"

static DynoPreview *
make (DynoDevice *device, DynoDataset *dataset, DynoJob *job, guint n, guint64 epoch)
{
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GError) error = NULL;
  for (guint32 i = 0; i < n; i++)
    g_array_append_val (indices, i);
  DynoPreview *preview = dyno_preview_new (device, job, dataset, indices, epoch, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (preview->n, ==, n);
  g_assert_cmpuint (preview->width, ==, 16);
  g_assert_cmpuint (preview->height, ==, 16);
  return preview;
}

/* Without augmentation the pictures equal the samples to the byte, normalised or not.  With
 * augmentation an equal seed and epoch draw equal changes, another seed or epoch draws others; a
 * sample does not depend on the number of samples. */
static void
test_samples (void)
{
  enum { N = 5, SIZE = 16 * 16 * 3 };
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (DATA, NULL, NULL, NULL, NULL, NULL);
  g_autoptr (DynoDevice) device = dyno_device_open (NULL, NULL);
  g_autoptr (DynoJob) job = test_job ("mlp", DATA);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  guint8 pixels[SIZE];
  guint32 seed;
  gint32 label;
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { pixels, &label, &seed };

  test_job_set (job, "augment.flip=false", NULL);
  g_autoptr (DynoPreview) plain = make (device, dataset, job, N, 0);
  test_job_set (job, "data.normalise=false", NULL);
  g_autoptr (DynoPreview) raw = make (device, dataset, job, N, 0);
  for (guint i = 0; i < N; i++)
    {
      g_assert_true (dyno_dataset_decode (dataset, i, 16, 16, fields, scratch, NULL));
      g_assert_cmpmem (pixels, SIZE, plain->pixels + i * SIZE, SIZE);
    }
  g_assert_cmpmem (plain->pixels, N * SIZE, raw->pixels, N * SIZE);
  test_job_set (job, "data.normalise=true", "augment.rotate=90", "augment.hue=0.5", NULL);
  g_autoptr (DynoPreview) first = make (device, dataset, job, N, 0);
  g_autoptr (DynoPreview) again = make (device, dataset, job, N + 2, 0);
  g_autoptr (DynoPreview) later = make (device, dataset, job, N, 1);
  g_assert_cmpmem (first->pixels, N * SIZE, again->pixels, N * SIZE);
  for (guint i = 0; i < N; i++)
    {
      g_assert_true (memcmp (first->pixels + i * SIZE, plain->pixels + i * SIZE, SIZE) != 0);
      g_assert_true (memcmp (first->pixels + i * SIZE, later->pixels + i * SIZE, SIZE) != 0);
    }
}

static void
test_sequences (void)
{
  g_autoptr (DynoDataset) dataset =
      dyno_dataset_open ("builtin:waves", NULL, NULL, NULL, NULL, NULL);
  g_autoptr (DynoDevice) device = dyno_device_open (NULL, NULL);
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:waves");
  g_autoptr (GArray) indices = g_array_new (FALSE, TRUE, sizeof (guint32));
  g_autoptr (GError) error = NULL;

  g_array_set_size (indices, 1);
  g_assert_null (dyno_preview_new (device, job, dataset, indices, 0, NULL, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
}

/* Two classes of stripes with six files each, as PNG and JPEG. */
static char *
make_folder (void)
{
  char *folder = test_folder ();
  g_autoptr (GByteArray) file = g_byte_array_new ();

  for (guint i = 0; i < 12; i++)
    {
      g_autofree char *class = g_strdup_printf ("%s/%c", folder, 'a' + i % 2),
                      *path = g_strdup_printf ("%s/%u.%s", class, i, i % 3 ? "jpg" : "png");
      guint8 pixels[60][80][3];

      for (guint at = 0; at < sizeof pixels; at++)
        ((guint8 *) pixels)[at] =
            (guint8) ((i % 2 ? at / 3 % 80 : at / 240) * (3 + i) % 200 + at % 3 * 20);
      g_mkdir_with_parents (class, 0700);
      g_assert_true (i % 3 ? dyno_image_encode_jpeg (pixels[0][0], 80, 60, file, NULL)
                           : dyno_image_encode_png (pixels[0][0], 80, 60, 3, file, NULL));
      g_assert_true (
          g_file_set_contents (path, (const char *) file->data, (gssize) file->len, NULL));
    }
  return folder;
}

static DynoJob *
crop_job (const char *folder, const char *from)
{
  DynoJob *job = test_job ("mlp", folder);
  g_autofree char *setting = g_strconcat ("augment.crop_from=", from, NULL);

  test_job_set (job, "image_size=16", "augment.flip=false", "augment.crop=0.1", "batch_size=4",
                "data.val_split=0", "epochs=2", setting, NULL);
  return job;
}

/* Either the loader or the device crops, and neither outside of training. */
static void
test_crops_are_taken_once (void)
{
  g_autofree char *folder = make_folder ();
  static const struct {
    const char *data, *from;
    double by_loader, by_device;
  } cases[] = { { NULL, "source", 0.1, 0 },
                { NULL, "sample", 0, 0.1 },
                { DATA, "source", 0, 0.1 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const char *data = cases[i].data ? cases[i].data : folder;
      g_autoptr (DynoDataset) dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, NULL);
      const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
      g_autoptr (DynoJob) job = crop_job (data, cases[i].from);
      DynoNetworkParams network;
      DynoLoaderParams loader;

      g_assert_true (dyno_job_get_network (job, info, DYNO_MODE_TRAIN, &network, NULL));
      g_assert_cmpfloat (network.augmentation.crop, ==, cases[i].by_device);
      g_assert_true (dyno_job_get_loader_params (job, info, TRUE, &loader, NULL));
      g_assert_cmpfloat (loader.crop.area, ==, cases[i].by_loader);
      g_assert_true (dyno_job_get_loader_params (job, info, FALSE, &loader, NULL));
      g_assert_cmpfloat (loader.crop.area, ==, 0);
    }
  test_remove_tree (folder);
}

/* Pictures show the loader's crops, which the device does not crop again. */
static void
test_crops_of_files (void)
{
  enum { N = 5, SIZE = 16 * 16 * 3 };
  g_autofree char *folder = make_folder ();
  g_autoptr (DynoDataset) dataset = dyno_dataset_open (folder, NULL, NULL, NULL, NULL, NULL);
  g_autoptr (DynoDevice) device = dyno_device_open (NULL, NULL);
  g_autoptr (DynoJob) job = crop_job (folder, "source"), other = crop_job (folder, "sample");
  g_autoptr (DynoPreview) crops = make (device, dataset, job, N, 1),
                          later = make (device, dataset, job, N, 2),
                          of_samples = make (device, dataset, other, N, 1);
  g_autoptr (GArray) indices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (DynoLoader) loader = NULL;
  DynoLoaderParams params;
  DynoBatch *batch;

  for (guint32 i = 0; i < N; i++)
    g_array_append_val (indices, i);
  g_assert_true (
      dyno_job_get_loader_params (job, dyno_dataset_get_info (dataset), TRUE, &params, NULL));
  params.batch = N;
  params.shuffle = FALSE;
  loader = dyno_loader_new (dataset, indices, &params, NULL);
  dyno_loader_start_epoch (loader, 1, 0);
  batch = dyno_loader_next (loader, NULL, NULL, NULL);
  g_assert_cmpmem (batch->fields[0], N * SIZE, crops->pixels, N * SIZE);
  dyno_loader_release (loader, batch);
  for (guint i = 0; i < N; i++)
    {
      g_assert_true (memcmp (crops->pixels + i * SIZE, later->pixels + i * SIZE, SIZE) != 0);
      g_assert_true (memcmp (crops->pixels + i * SIZE, of_samples->pixels + i * SIZE, SIZE) != 0);
    }
  test_remove_tree (folder);
}

/* The weights are the same for any number of workers, with a cache requested, and in two parts. */
static void
test_training_on_crops_repeats (void)
{
  static const char *const changes[] = { "workers=0", "workers=2", "cache=true", NULL };
  g_autofree char *folder = make_folder ();
  g_autofree char *expected = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autofree char *dir = test_folder (),
                      *weights = g_build_filename (dir, "weights.safetensors", NULL);
      g_autoptr (DynoJob) job = crop_job (folder, "source");
      g_auto (TestRun) run = { 0 }, rest = { 0 };

      job->out_dir = g_strdup (dir);
      test_job_set (job, "schedule=constant", "warmup_epochs=0", changes[i], NULL);
      job->max_steps = changes[i] ? 0 : 4; /* stops in the second epoch */
      test_run_good (&run, job);
      if (!changes[i])
        {
          g_assert_cmpuint (run.losses->len, ==, 4);
          job->max_steps = 0;
          job->resume = g_strdup (dir);
          test_run_good (&rest, job);
          g_assert_cmpuint (rest.losses->len, ==, 2);
        }
      if (expected)
        test_assert_same_file (expected, weights);
      if (i == 0)
        {
          expected = g_build_filename (folder, "weights.safetensors", NULL);
          g_assert_cmpint (g_rename (weights, expected), ==, 0);
        }
      test_remove_tree (dir);
    }
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/preview/is-what-the-first-layer-reads", test_samples);
  g_test_add_func ("/train/preview/sequences-have-none", test_sequences);
  g_test_add_func ("/train/preview/crops-are-taken-once", test_crops_are_taken_once);
  g_test_add_func ("/train/preview/crops-of-files", test_crops_of_files);
  g_test_add_func ("/train/preview/training-on-crops-repeats", test_training_on_crops_repeats);
  return g_test_run ();
}
