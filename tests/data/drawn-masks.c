/* SPDX-License-Identifier: MIT */
/* builtin:masks: the images are the same everywhere, and the masks are those of their shapes. */
#include "hash.h"
#include "masks-test.h"
#include <string.h>

static void
draw (DynoDataset *dataset, guint64 index, guint32 side, guint8 *image, guint8 *ids)
{
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { image, ids };

  g_assert_true (dyno_dataset_decode (dataset, index, side, side, fields, scratch, NULL));
}

static void
test_facts (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:masks?size=32&samples=10&classes=3"),
                          usual = test_open ("builtin:masks");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  g_assert_cmpstr (info->kind, ==, "drawn-masks");
  g_assert_cmpuint (info->n_samples, ==, 10);
  g_assert_cmpuint (info->n_classes, ==, 3);
  g_assert_cmpstr (info->class_names[0], ==, "background");
  g_assert_cmpstr (info->class_names[2], ==, "rectangle");
  g_assert_nonnull (dyno_schema_find_mask (&info->schema));
  g_assert_true (info->resizable && info->generated);
  info = dyno_dataset_get_info (usual);
  g_assert_cmpuint (info->n_samples, ==, 2000);
  g_assert_cmpuint (info->max_width, ==, 64);
  g_assert_cmpstr (info->class_names[3], ==, "triangle");
  g_assert_cmpuint (dyno_dataset_get_info (usual)->content_hash, !=,
                    dyno_dataset_get_info (dataset)->content_hash);
  test_open_fails ("builtin:masks?classes=5", DYNO_DATA_ERROR_OPTION, "classes");
  test_open_fails ("builtin:masks?size=4", DYNO_DATA_ERROR_OPTION, "size");
}

/* A run that one version began is resumed by another, so the images must not change. */
static void
test_pictures_never_change (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:masks?samples=100&seed=3");
  guint64 hash = DYNO_HASH_START;

  for (guint64 i = 0; i < 100; i += 9)
    {
      guint8 image[48 * 48 * 3], ids[48 * 48];

      draw (dataset, i, 48, image, ids);
      hash = dyno_hash_bytes (dyno_hash_bytes (hash, image, sizeof image), ids, sizeof ids);
    }
  g_assert_cmphex (hash, ==, G_GUINT64_CONSTANT (0x99bb7bb97276ce65));
}

/* Another size shows the same image, and the shares of classes are about the same. */
static void
test_sizes_and_counts (void)
{
  enum { SMALL = 32, LARGE = 128, N = 300 };
  g_autoptr (DynoDataset) dataset = test_open ("builtin:masks?size=32&samples=300");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  g_autofree guint8 *image = g_malloc (LARGE * LARGE * 3), *large = g_malloc (LARGE * LARGE);
  guint64 counts[4] = { 0 }, n_same = 0;
  guint8 ids[SMALL * SMALL];

  for (guint64 i = 0; i < N; i++)
    {
      draw (dataset, i, SMALL, image, ids);
      for (guint k = 0; k < SMALL * SMALL; k++)
        {
          g_assert_cmpuint (ids[k], <, 4);
          counts[ids[k]]++;
        }
      if (i >= 10)
        continue;
      draw (dataset, i, LARGE, image, large);
      for (guint k = 0; k < SMALL * SMALL; k++)
        n_same += ids[k] == large[(k / SMALL * 4 + 2) * LARGE + k % SMALL * 4 + 2];
    }
  g_assert_cmpuint (n_same, >, 10 * SMALL * SMALL * 97 / 100);
  for (guint c = 0; c < 4; c++)
    {
      double ratio = (double) info->class_counts[c] / (double) counts[c];

      /* The counts are from 64 of the images. */
      g_assert_cmpfloat (ratio, >, 0.7);
      g_assert_cmpfloat (ratio, <, 1.4);
      g_assert_cmpuint (counts[c], >, N * SMALL * SMALL / 25);
    }
}

/* The mask has the place of the shape, which is brighter than the background; the mean colour of a
 * shape nearly always shows its class. */
static void
test_masks_lie_on_their_shapes (void)
{
  enum { SIDE = 64, N = 200 };
  g_autoptr (DynoDataset) dataset = test_open ("builtin:masks?samples=200");
  g_autofree guint8 *image = g_malloc (SIDE * SIDE * 3), *ids = g_malloc (SIDE * SIDE);
  double ground = 0, bright = 0;
  guint64 n_ground = 0, n_bright = 0, n_hints = 0, n_right = 0;

  for (guint64 i = 0; i < N; i++)
    {
      draw (dataset, i, SIDE, image, ids);
      for (guint k = 0; k < SIDE * SIDE; k++)
        {
          const guint8 *p = image + 3 * k;
          guint least = p[0] <= p[1] && p[0] <= p[2] ? 0 : p[1] <= p[2] ? 1 : 2;

          *(ids[k] ? &bright : &ground) += p[0] + p[1] + p[2];
          *(ids[k] ? &n_bright : &n_ground) += 3;
          n_hints += ids[k] > 0;
          n_right += ids[k] == least + 1;
        }
    }
  g_assert_cmpfloat (bright / (double) n_bright, >, ground / (double) n_ground + 60);
  g_assert_cmpfloat ((double) n_right / (double) n_hints, >, 0.95);
  g_assert_cmpfloat ((double) n_right / (double) n_hints, <, 0.99);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/drawn-masks/facts-and-options", test_facts);
  g_test_add_func ("/data/drawn-masks/pictures-never-change", test_pictures_never_change);
  g_test_add_func ("/data/drawn-masks/sizes-and-counts", test_sizes_and_counts);
  g_test_add_func ("/data/drawn-masks/masks-lie-on-their-shapes", test_masks_lie_on_their_shapes);
  return g_test_run ();
}
