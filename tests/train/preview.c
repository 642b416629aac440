/* SPDX-License-Identifier: MIT */
/* Pictures of what the training network is fed with. */
#include "samplepreview.h"
#include "train-test.h"
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

/* Without changes they are the samples to the byte, normalised or not; with them the same seed and
 * epoch draw the same, others others; a sample does not depend on how many there are. */
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

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/preview/is-what-the-first-layer-reads", test_samples);
  g_test_add_func ("/train/preview/sequences-have-none", test_sequences);
  return g_test_run ();
}
