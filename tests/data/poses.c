/* SPDX-License-Identifier: MIT */
/* The built-in heads: poses within their ranges, equal on any machine and with any workers. */
#include "data-test.h"
#include "hash.h"
#include "loader-test.h"
#include <math.h>
#include <string.h>

static const float bounds[3] = { 99, 60, 45 };

static void
test_schema (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:poses?samples=50");
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);

  g_assert_cmpstr (info->kind, ==, "poses");
  g_assert_true (info->resizable);
  g_assert_cmpuint (dyno_schema_count_values (&info->schema), ==, 3);
  g_assert_cmpstr (info->target_names[0], ==, "yaw");
  g_assert_cmpstr (info->target_names[1], ==, "pitch");
  g_assert_cmpstr (info->target_names[2], ==, "roll");
  for (guint i = 0; i < 3; i++)
    g_assert_cmpstr (info->target_units[i], ==, "degrees");
}

/* The angles are nearly normally distributed: the deviation is a third of the bound, and few are
 * near it. */
static void
test_angles_are_bounded (void)
{
  const guint n = 20000;
  g_autoptr (DynoDataset) dataset = test_open ("builtin:poses?samples=20000");
  double sum[3] = { 0 }, squares[3] = { 0 };
  guint near[3] = { 0 };

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < 3; k++)
      {
        double value = (double) dyno_dataset_get_values (dataset, i)[k];
        g_assert_cmpfloat (fabs (value), <=, (double) bounds[k]);
        sum[k] += value;
        squares[k] += value * value;
        near[k] += fabs (value) > (double) bounds[k] * 2 / 3;
      }
  for (guint k = 0; k < 3; k++)
    {
      g_assert_cmpfloat (fabs (sum[k] / n), <, (double) bounds[k] / 100);
      g_assert_cmpfloat_with_epsilon (sqrt (squares[k] / n), (double) bounds[k] / 3,
                                      (double) bounds[k] / 60);
      g_assert_cmpuint (near[k], >, n / 200);
      g_assert_cmpuint (near[k], <, n / 10);
    }
}

/* A head that is turned to the left of the image (positive yaw) has its hair at the right, so the
 * visible pose is not symmetric.  The same holds for pitch and roll, by means over all samples. */
static void
test_pose_shows (void)
{
  enum { SIDE = 32 };
  g_autoptr (DynoDataset) dataset = test_open ("builtin:poses?size=32&samples=600");
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  double product[3] = { 0 }, own[3] = { 0 }, other[3] = { 0 };
  guint8 image[SIDE * SIDE * 3];
  float values[3];

  for (guint i = 0; i < 600; i++)
    {
      double moments[3] = { 0 };

      g_assert_true (dyno_dataset_decode (dataset, i, SIDE, SIDE, (gpointer[]){ image, values },
                                          scratch, NULL));
      for (gint y = 8; y < 24; y++)
        for (gint x = 8; x < 24; x++)
          {
            double light = image[(y * SIDE + x) * 3];
            double u = x - 15.5, v = y - 15.5;
            moments[0] += light * u;
            moments[1] += light * v;
            moments[2] += light * u * v;
          }
      for (guint k = 0; k < 3; k++)
        {
          product[k] += moments[k] * (double) values[k];
          own[k] += moments[k] * moments[k];
          other[k] += (double) values[k] * (double) values[k];
        }
    }
  for (guint k = 0; k < 3; k++)
    {
      double correlation = product[k] / sqrt (own[k] * other[k]);
      g_test_message ("correlation %u: %g", k, correlation);
      g_assert_cmpfloat (fabs (correlation), >, 0.2);
    }
}

static void
test_deterministic (void)
{
  g_autoptr (DynoDataset) dataset = test_open ("builtin:poses?size=24&samples=40");
  g_autoptr (DynoDataset) other = test_open ("builtin:poses?size=24&samples=40&seed=2");
  DynoLoaderParams params = { .batch = 8, .seed = 3, .shuffle = TRUE, .persistent = TRUE };
  guint64 first = fold_new (dataset, params, 0);

  /* A stored value, which is the same on every machine. */
  g_assert_cmphex (first, ==, G_GUINT64_CONSTANT (0x797ab02b55233512));
  g_assert_cmphex (fold_new (other, params, 0), !=, first);
  g_assert_cmphex (dyno_dataset_get_info (other)->content_hash, !=,
                   dyno_dataset_get_info (dataset)->content_hash);
  for (params.workers = 1; params.workers < 5; params.workers += 3)
    g_assert_cmphex (fold_new (dataset, params, 0), ==, first);
}

static void
test_refuses (void)
{
  test_open_fails ("builtin:poses?classes=3", DYNO_DATA_ERROR_OPTION, "classes|samples");
  test_open_fails ("builtin:pose", DYNO_DATA_ERROR_NOT_FOUND, "builtin:poses");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/data/poses/three-angles-in-degrees", test_schema);
  g_test_add_func ("/data/poses/angles-are-bounded-and-about-normal", test_angles_are_bounded);
  g_test_add_func ("/data/poses/pose-shows", test_pose_shows);
  g_test_add_func ("/data/poses/same-for-any-workers-and-machine", test_deterministic);
  g_test_add_func ("/data/poses/refuses-what-cannot-be", test_refuses);
  return g_test_run ();
}
