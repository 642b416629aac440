/* SPDX-License-Identifier: MIT */
/* What a session makes of its data: the scale that values are fed at, the axes of arrays. */
#include "npyfile.h"
#include "train-test.h"
#include <string.h>

#define N    24
#define SIDE 16

static char *
put_array (const char *folder, const char *name, const char *type, guint n_dims, const guint64 *shape, gconstpointer data)
{
  char *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;

  dyno_npy_write (path, type, n_dims, shape, data, &error);
  g_assert_no_error (error);
  return path;
}

static DynoJob *
array_job (const char *path)
{
  DynoJob *job = test_job ("mlp", path);

  test_job_set (job, "data.val_split=0", "batch_size=8", "lr=0.001", "warmup_epochs=0", "schedule=constant", NULL);
  job->max_steps = 3;
  return job;
}

static double
loss_of (const TestRun *run, guint step)
{
  return g_array_index (run->losses, double, step);
}

/* Bytes train as the floats of a 255th do, and with data.normalise=false as the floats of the same numbers. */
static void
test_bytes_are_scaled_unless_told (void)
{
  g_autofree char *folder = test_folder ();
  guint64 shape[] = { N, SIDE, SIDE, 1 };
  guint8 bytes[N * SIDE * SIDE];
  float scaled[N * SIDE * SIDE], plain[N * SIDE * SIDE];
  gint64 labels[N];

  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    {
      bytes[i] = (guint8) (i * 37 + i / 256 * 11);
      plain[i] = bytes[i];
      scaled[i] = (float) bytes[i] / 255;
    }
  for (guint i = 0; i < N; i++)
    labels[i] = i % 3;
  g_autofree char *u1 = put_array (folder, "bytes.npy", "u1", 4, shape, bytes);
  g_autofree char *f4 = put_array (folder, "plain.npy", "f4", 4, shape, plain);
  g_autofree char *f4_scaled = put_array (folder, "scaled.npy", "f4", 4, shape, scaled);
  g_autofree char *y = put_array (folder, "y.npy", "i8", 1, shape, labels);

  for (guint normalise = 0; normalise < 2; normalise++)
    {
      g_autoptr (DynoJob) job = array_job (u1), like = array_job (normalise ? f4_scaled : f4);
      g_auto (TestRun) run = { 0 };
      g_auto (TestRun) expected = { 0 };

      test_job_set (job, normalise ? "data.normalise=true" : "data.normalise=false", NULL);
      test_run_good (&run, job);
      test_run_good (&expected, like);
      for (guint i = 0; i < 3; i++)
        g_assert_cmpfloat_with_epsilon (loss_of (&run, i) / loss_of (&expected, i), 1.0, 1e-5);
    }
  test_remove_tree (folder);
}

/* data.layout reaches the data set that a session opens. */
static void
test_axes_are_those_of_the_setting (void)
{
  g_autofree char *folder = test_folder ();
  guint64 first[] = { N, 8, SIDE, SIDE }, last[] = { N, SIDE, SIDE, 8 };
  g_autofree float *planes = g_new (float, N * 8 * SIDE * SIDE), *pixels = g_new (float, N * 8 * SIDE * SIDE);
  gint64 labels[N];

  for (guint n = 0; n < N; n++)
    for (guint c = 0; c < 8; c++)
      for (guint p = 0; p < SIDE * SIDE; p++)
        planes[(n * 8 + c) * SIDE * SIDE + p] = pixels[(n * SIDE * SIDE + p) * 8 + c] =
            (float) ((n * 7 + c * 13 + p * 29) % 101) / 101;
  for (guint i = 0; i < N; i++)
    labels[i] = i % 3;
  g_autofree char *a = put_array (folder, "a.npy", "f4", 4, first, planes);
  g_autofree char *b = put_array (folder, "b.npy", "f4", 4, last, pixels);
  g_autofree char *y = put_array (folder, "y.npy", "i8", 1, first, labels);
  g_autoptr (DynoJob) job = array_job (a), like = array_job (b);
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) expected = { 0 };

  test_job_set (job, "data.layout=nchw", NULL);
  test_run_good (&run, job);
  test_run_good (&expected, like);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (loss_of (&run, i), ==, loss_of (&expected, i));
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/data/bytes-are-scaled-unless-told", test_bytes_are_scaled_unless_told);
  g_test_add_func ("/train/data/axes-are-those-of-the-setting", test_axes_are_those_of_the_setting);
  return g_test_run ();
}
