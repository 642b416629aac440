/* SPDX-License-Identifier: MIT */
/* How a session prepares its data: the scale of the input values, the axes of arrays. */
#include "classweights.h"
#include "npyfile.h"
#include "train-error.h"
#include "train-test.h"
#include <string.h>
#include <unistd.h>

#define N    24
#define SIDE 16

static char *
put_array (const char *folder, const char *name, const char *type, guint n_dims,
           const guint64 *shape, gconstpointer data)
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

  test_job_set (job, "data.val_split=0", "batch_size=8", "lr=0.001", "warmup_epochs=0",
                "schedule=constant", NULL);
  job->max_steps = 3;
  return job;
}

static double
loss_of (const TestRun *run, guint step)
{
  return g_array_index (run->losses, double, step);
}

/* Bytes train like floats of value / 255, and with data.normalise=false like floats of the same
 * value. */
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
  g_free (put_array (folder, "y.npy", "i8", 1, shape, labels));

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

/* data.layout applies to the data set that a session opens. */
static void
test_axes_are_those_of_the_setting (void)
{
  g_autofree char *folder = test_folder ();
  guint64 first[] = { N, 8, SIDE, SIDE }, last[] = { N, SIDE, SIDE, 8 };
  g_autofree float *planes = g_new (float, N * 8 * SIDE * SIDE),
                   *pixels = g_new (float, N * 8 * SIDE * SIDE);
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
  g_free (put_array (folder, "y.npy", "i8", 1, first, labels));
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

/* Settings for opening a data set are part of the job. */
static void
test_dataset_is_opened_as_the_job_says (void)
{
  g_autoptr (DynoJob) job = test_job ("mlp", "X.npy");
  DynoDatasetParams params;

  job->targets = g_strdup ("t.npy");
  test_job_set (job, "data.layout=nhwc", "data.links=true", "data.one_class=true",
                "data.task=values", NULL);
  dyno_job_get_dataset_params (job, &params);
  g_assert_cmpstr (params.targets, ==, "t.npy");
  g_assert_cmpint (params.axes, ==, DYNO_AXES_NHWC);
  g_assert_cmpint (params.task, ==, DYNO_TASK_VALUES);
  g_assert_true (params.links && params.one_class);
  dyno_settings_init (&job->settings);
  dyno_job_get_dataset_params (job, &params);
  g_assert_cmpint (params.axes, ==, DYNO_AXES_AUTO);
  g_assert_cmpint (params.task, ==, DYNO_TASK_AUTO);
  g_assert_false (params.links || params.one_class);
}

/* Data of one class are refused, or trained on with a warning. */
static void
test_one_class_on_request (void)
{
  g_autofree char *folder = test_folder ();
  guint64 shape[] = { N, SIDE, SIDE, 1 };
  g_autofree guint8 *bytes = g_new0 (guint8, N * SIDE * SIDE);
  gint64 labels[N] = { 0 };
  g_autofree char *x = put_array (folder, "X.npy", "u1", 4, shape, bytes);
  g_free (put_array (folder, "y.npy", "i8", 1, shape, labels));
  g_autoptr (DynoJob) job = array_job (x);
  g_auto (TestRun) refused = { 0 };
  g_auto (TestRun) run = { 0 };

  test_run (&refused, job, NULL, NULL);
  g_assert_error (refused.error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_EMPTY);
  test_job_set (job, "data.one_class=true", NULL);
  test_run_good (&run, job);
  g_assert_true (test_has_warning (&run, "one class"));
  test_remove_tree (folder);
}

typedef struct {
  const char *path;
  guint64 bytes;
} Shrink;

static void
shrink (DynoSession *session, const DynoStepMetrics *step, gpointer data)
{
  const Shrink *s = data;

  if (step->step == 2)
    g_assert_cmpint (truncate (s->path, (off_t) s->bytes), ==, 0);
}

/* A file that is truncated during a run raises no signal: a few missing records are replaced, many
 * end the run with a data error. */
static void
test_array_that_shrinks_in_mid_run (void)
{
  for (guint many = 0; many < 2; many++)
    {
      g_autofree char *folder = test_folder ();
      guint64 n = 200, shape[] = { n, SIDE, SIDE, 1 };
      g_autofree float *values = g_new0 (float, n *SIDE *SIDE);
      g_autofree gint64 *labels = g_new0 (gint64, n);
      g_auto (TestRun) run = { 0 };

      for (guint i = 0; i < n; i++)
        labels[i] = i % 2;
      g_autofree char *x = put_array (folder, "X.npy", "f4", 4, shape, values);
      g_free (put_array (folder, "y.npy", "i8", 1, shape, labels));
      g_autoptr (DynoJob) job = array_job (x);
      Shrink s = { x, 128 + (many ? 20 : 195) * SIDE * SIDE * sizeof (float) };

      job->max_steps = 75; /* three epochs */
      test_job_set (job, "workers=1", "prefetch=1", NULL);
      test_run (&run, job, shrink, &s);
      g_assert_cmpint (run.state, ==, many ? DYNO_SESSION_FAILED : DYNO_SESSION_FINISHED);
      if (many)
        g_assert_error (run.error, DYNO_DATA_ERROR, DYNO_DATA_ERROR_CORRUPT);
      else
        g_assert_cmpuint (run.n_unreadable, ==, 5);
      g_assert_true (test_has_warning (&run, "became shorter"));
      test_remove_tree (folder);
    }
}

/* A picture with a valid header and `bytes` bytes of its pixels. */
static void
put_bmp (const char *folder, const char *name, gsize bytes)
{
  guint8 file[54 + SIDE * SIDE * 3] = { 'B', 'M' };
  g_autofree char *path = g_build_filename (folder, name, NULL),
                  *parent = g_path_get_dirname (path);

  file[10] = 54;
  file[14] = 40;
  file[18] = file[22] = SIDE;
  file[26] = 1;
  file[28] = 24;
  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, (const char *) file, (gssize) (54 + bytes), NULL));
}

/* An unreadable sample of the validation part is reported like any other. */
static void
test_unreadable_in_validation_is_reported (void)
{
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = test_job ("mlp", folder);
  g_auto (TestRun) run = { 0 };

  for (guint i = 0; i < 24; i++)
    {
      g_autofree char *name =
          g_strdup_printf ("%s/%c/%u.bmp", i < 16 ? "train" : "val", i % 2 ? 'a' : 'b', i);
      put_bmp (folder, name, i == 20 ? 10 : SIDE * SIDE * 3);
    }
  test_job_set (job, "batch_size=8", "epochs=2", "data.max_bad=0.5", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.n_unreadable, ==, 1);
  g_assert_true (test_has_warning (&run, "20.bmp"));
  g_assert_true (test_has_warning (&run, "another takes its place"));
  test_remove_tree (folder);
}

/* An MLP learns padded and flattened sequences; padding and length are no inputs of their own. */
static void
test_sequences_are_learned (void)
{
  g_auto (TestRun) run = { 0 };
  g_autoptr (DynoJob) job =
      test_job ("mlp", "builtin:waves?length=24&channels=2&samples=400&classes=4");

  test_job_set (job, "epochs=6", "optimizer=adamw", "lr=0.003", "data.val_split=0.2", NULL);
  test_run_good (&run, job);
  g_assert_cmpfloat (run.best_val_accuracy, >, 0.8);
}

/* A folder of arrays with 4 to 11 steps; they are padded to the longest one. */
static void
test_sequences_of_several_lengths (void)
{
  g_autofree char *folder = test_folder ();
  g_auto (TestRun) run = { 0 };
  float values[11 * 2];

  for (guint i = 0; i < 16; i++)
    {
      guint64 shape[] = { 4 + i / 2, 2 };
      g_autofree char *class = g_build_filename (folder, i % 2 ? "up" : "down", NULL),
                      *name = g_strdup_printf ("%u.npy", i);
      for (guint k = 0; k < G_N_ELEMENTS (values); k++)
        values[k] = (float) k * (i % 2 ? 0.1f : -0.1f);
      g_mkdir_with_parents (class, 0700);
      g_free (put_array (class, name, "f4", 2, shape, values));
    }
  g_autoptr (DynoJob) job = test_job ("mlp", folder);
  job->max_steps = 2;
  test_job_set (job, "batch_size=8", "data.val_split=0", NULL);
  test_run_good (&run, job);
  g_assert_cmpuint (run.losses->len, ==, 2);
  test_remove_tree (folder);
}

static void
test_flip_of_sequences_is_refused (void)
{
  g_auto (TestRun) run = { 0 };
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:waves?samples=40");

  test_job_set (job, "augment.flip=true", NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_assert_nonnull (strstr (run.error->message, "augment.flip"));
}

/* Values have no classes to balance. */
static void
test_balance_of_values_is_refused (void)
{
  g_autofree char *folder = test_folder ();
  guint64 shape[] = { N, SIDE, SIDE, 1 };
  g_autofree guint8 *bytes = g_new0 (guint8, N * SIDE * SIDE);
  float values[N] = { 1 };
  g_autofree char *x = put_array (folder, "X.npy", "u1", 4, shape, bytes);
  g_free (put_array (folder, "y.npy", "f4", 1, shape, values));
  g_autoptr (DynoJob) job = array_job (x);
  g_auto (TestRun) run = { 0 };

  test_job_set (job, "data.balance=sampling", NULL);
  test_run (&run, job, NULL, NULL);
  g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  g_assert_nonnull (strstr (run.error->message, "data.balance"));
  test_remove_tree (folder);
}

/* --- weights of classes ------------------------------------------------------------------------ */

#define N_WEIGHED 8

/* Samples with different losses, of two classes with these labels. */
static DynoJob *
weighed_job (const char *folder, const gint64 labels[N_WEIGHED])
{
  guint64 shape[] = { N_WEIGHED, SIDE, SIDE, 1 };
  guint8 bytes[N_WEIGHED * SIDE * SIDE];

  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    bytes[i] = (guint8) (i * 37 + i / 256 * 11);
  g_autofree char *x = put_array (folder, "X.npy", "u1", 4, shape, bytes);
  g_free (put_array (folder, "y.npy", "i8", 1, shape, labels));
  DynoJob *job = array_job (x);

  test_job_set (job, "lr=0", "data.shuffle=false", NULL);
  return job;
}

/* The loss of each sample, without weights. */
static void
find_losses (const DynoJob *job, double losses[N_WEIGHED])
{
  g_autoptr (DynoJob) single = dyno_job_copy (job);
  g_auto (TestRun) run = { 0 };

  single->max_steps = N_WEIGHED;
  test_job_set (single, "batch_size=1", NULL);
  test_run_good (&run, single);
  for (guint i = 0; i < N_WEIGHED; i++)
    losses[i] = loss_of (&run, i);
}

/* Each step of four samples has the weighted mean of its losses, as PyTorch's cross entropy has. */
static void
check_weighed (const DynoJob *job, const double losses[N_WEIGHED], const gint64 labels[N_WEIGHED],
               const double weights[2])
{
  g_autoptr (DynoJob) four = dyno_job_copy (job);
  g_auto (TestRun) run = { 0 };

  four->max_steps = 2;
  test_job_set (four, "batch_size=4", NULL);
  test_run_good (&run, four);
  for (guint step = 0; step < 2; step++)
    {
      double sum = 0, all = 0;

      for (guint i = 4 * step; i < 4 * step + 4; i++)
        {
          sum += weights[labels[i]] * losses[i];
          all += weights[labels[i]];
        }
      g_assert_cmpfloat_with_epsilon (loss_of (&run, step), sum / all, 1e-5);
    }
}

/* The weight of a sample is proportional to the rarity of its class. */
static void
test_class_weights_even_out (void)
{
  static const gint64 labels[N_WEIGHED] = { 0, 1, 0, 0, 0, 0, 1, 0 };
  static const double weights[2] = { 8 / 2.0 / 6, 8 / 2.0 / 2 };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = weighed_job (folder, labels);
  g_auto (TestRun) refused = { 0 };
  double losses[N_WEIGHED];

  find_losses (job, losses);
  test_job_set (job, "loss.class_weights=balanced", NULL);
  check_weighed (job, losses, labels, weights);
  test_job_set (job, "data.balance=sampling", NULL);
  test_run (&refused, job, NULL, NULL);
  g_assert_error (refused.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
  test_remove_tree (folder);
}

/* Weights are given in the order of the classes or by their names; only their ratios matter, not a
 * common factor. */
static void
test_given_class_weights (void)
{
  static const char *const given[] = { "loss.weights=0.5, 3", "loss.weights=1 = 3,0=0.5",
                                       "loss.weights=0.005,0.03" };
  static const gint64 labels[N_WEIGHED] = { 0, 1, 0, 0, 0, 0, 1, 0 };
  static const double weights[2] = { 0.5, 3 };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = weighed_job (folder, labels);
  double losses[N_WEIGHED];

  find_losses (job, losses);
  for (guint k = 0; k < G_N_ELEMENTS (given); k++)
    {
      test_job_set (job, given[k], NULL);
      check_weighed (job, losses, labels, weights);
    }
  test_remove_tree (folder);
}

/* Weights with a common factor train the same, bit for bit where the factor is a power of two.
 * With accumulation, each micro-batch has the mean over its own weights. */
static void
test_common_factor (void)
{
  static const gint64 labels[N_WEIGHED] = { 0, 1, 1, 0, 0, 1, 1, 0 };
  g_autofree char *folder = test_folder ();
  g_autoptr (DynoJob) job = weighed_job (folder, labels);
  TestRun runs[3] = { { 0 } };
  double weights[2] = { g_test_rand_int_range (1, 40), g_test_rand_int_range (1, 40) };

  test_job_set (job, "lr=0.05", "label_smoothing=0.2", "batch_size=4", "accumulate=2", NULL);
  job->max_steps = 5;
  for (guint i = 0; i < 3; i++)
    {
      double factor = i == 1 ? 16 : i == 2 ? 1.0 / 60 : 1;
      g_autofree char *text =
          g_strdup_printf ("loss.weights=%.17g,%.17g", weights[0] * factor, weights[1] * factor);

      test_job_set (job, text, NULL);
      test_run_good (&runs[i], job);
    }
  for (guint step = 0; step < 5; step++)
    {
      g_assert_cmpfloat (loss_of (&runs[1], step), ==, loss_of (&runs[0], step));
      g_assert_cmpfloat_with_epsilon (loss_of (&runs[2], step), loss_of (&runs[0], step), 1e-5);
    }
  for (guint i = 0; i < 3; i++)
    test_run_clear (&runs[i]);
  test_remove_tree (folder);
}

static void
test_class_weights_are_checked (void)
{
  static char *const names[] = { (char *) "cat", (char *) "dog", (char *) "a=b", NULL };
  static const DynoDatasetInfo info = { .name = (char *) "pets",
                                        .class_names = (char **) names,
                                        .n_classes = 3 };
  static const struct {
    const char *text;
    DynoTrainError code;
    const char *words;
  } bad[] = {
    { "1,2", DYNO_TRAIN_ERROR_DATA, "has 2 numbers, and “pets” 3 classes" },
    { "1,2,3,4", DYNO_TRAIN_ERROR_DATA, "has 4 numbers, and “pets” 3 classes" },
    { "cat=1,dgo=2", DYNO_TRAIN_ERROR_DATA,
      "“dgo”, which “pets” does not have; did you mean “dog”?" },
    { "horse=1", DYNO_TRAIN_ERROR_DATA, "dynoctl inspect" },
    { "cat=1,cat=1", DYNO_TRAIN_ERROR_DATA, "twice" },
    { "1,-2,3", DYNO_TRAIN_ERROR_SETTING, "“-2” is negative" },
    { "dog=-1e-9", DYNO_TRAIN_ERROR_SETTING, "is negative" },
    { "1,nan,3", DYNO_TRAIN_ERROR_SETTING, "“nan” is not finite" },
    { "1,2,inf", DYNO_TRAIN_ERROR_SETTING, "“inf” is not finite" },
    { "1,2,1e999", DYNO_TRAIN_ERROR_SETTING, "“1e999” is not finite" },
    { "1,2,1e7", DYNO_TRAIN_ERROR_SETTING, "“1e7” is more than 1000000" },
    { "0,0,0", DYNO_TRAIN_ERROR_SETTING, "“0,0,0” leaves no class with a weight above 0" },
    { "cat=0,dog=0,a=b=0", DYNO_TRAIN_ERROR_SETTING, "leaves no class" },
    { "1,,3", DYNO_TRAIN_ERROR_SETTING, "“” is not a number" },
    { "cat=,dog=1", DYNO_TRAIN_ERROR_SETTING, "“” is not a number" },
    { "1,dog=2", DYNO_TRAIN_ERROR_SETTING, "“1” names no class" },
    { "1;2;3", DYNO_TRAIN_ERROR_SETTING, "“1;2;3” is not a number" },
    { "do=1", DYNO_TRAIN_ERROR_DATA, "“do”, which “pets” does not have; did you mean “dog”?" },
    { "1,1000001,1", DYNO_TRAIN_ERROR_SETTING, "“1000001” is more than 1000000" },
  };
  static const struct {
    const char *text;
    float weights[3];
  } good[] = { { "1, 2 ,0", { 1, 2, 0 } },
               { "dog=2.5", { 1, 2.5f, 1 } },
               { "-0,1000000,1", { 0, 1000000, 1 } }, /* no negative zero */
               { " a=b = 4, cat=0", { 0, 1, 4 } } };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (dyno_class_weights_parse (bad[i].text, &info, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, (gint) bad[i].code);
      if (!strstr (error->message, bad[i].words))
        g_error ("%s: %s", bad[i].text, error->message);
    }
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree float *weights = dyno_class_weights_parse (good[i].text, &info, &error);

      g_assert_no_error (error);
      g_assert_cmpmem (weights, 3 * sizeof (float), good[i].weights, 3 * sizeof (float));
    }
}

/* A comma within a name separates nothing: the longest prefix that is the name of a class is
 * taken. */
static void
test_class_weights_of_names_with_commas (void)
{
  static char *const names[] = { (char *) "dog, wild", (char *) "a", (char *) "a=1,b",
                                 (char *) "x,,y", NULL };
  static const DynoDatasetInfo info = { .name = (char *) "pets",
                                        .class_names = (char **) names,
                                        .n_classes = 4 };
  static const struct {
    const char *text;
    float weights[4];
  } good[] = { { "dog, wild=2", { 2, 1, 1, 1 } },
               { " a=3 , dog, wild = 2,x,,y=5", { 2, 3, 1, 5 } },
               { "a=1,b=4,a=0.5", { 1, 0.5f, 4, 1 } },
               { "1,2,3,4", { 1, 2, 3, 4 } } };
  static const char *const bad[][2] = { { "dog,wild=2", "“dog” names no class" },
                                        { "a=1,c=4", "the class “c”" },
                                        { "dog, wild=1,dog, wild=1", "twice" } };

  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree float *weights = dyno_class_weights_parse (good[i].text, &info, &error);

      g_assert_no_error (error);
      g_assert_cmpmem (weights, 4 * sizeof (float), good[i].weights, 4 * sizeof (float));
    }
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (dyno_class_weights_parse (bad[i][0], &info, &error));
      g_assert_nonnull (strstr (error->message, bad[i][1]));
    }
}

/* Class weights are refused before anything is planned: together with balanced sampling, and where
 * there are no classes. */
static void
test_class_weights_that_do_not_fit (void)
{
  static const char *const refused[][2] = {
    { "builtin:shapes?size=16&samples=40&classes=4", "loss.class_weights is balanced" },
    { "builtin:poses?size=16&samples=40", "no classes to weigh" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (DynoJob) job = test_job ("simplecnn", refused[i][0]);
      g_auto (TestRun) run = { 0 };

      test_job_set (job, "loss.weights=1,2,3,4", NULL);
      if (i == 0)
        test_job_set (job, "loss.class_weights=balanced", NULL);
      test_run (&run, job, NULL, NULL);
      g_assert_error (run.error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA);
      g_assert_nonnull (strstr (run.error->message, refused[i][1]));
    }
}

/* A small network estimates the heads' poses far better than the mean pose does, whose errors are
 * 25.7, 15.6 and 11.7 degrees. */
static void
test_poses_are_learned (void)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", "builtin:poses?size=12&samples=288");
  g_auto (TestRun) run = { 0 };
  const double *m = run.epoch.val_metrics;

  test_job_set (job, "epochs=6", "lr=0.01", "optimizer=adamw", NULL);
  test_run_good (&run, job);
  g_assert_cmpstr (run.metrics.infos[1].name, ==, "mean_abs_error_yaw");
  g_assert_cmpstr (run.metrics.infos[1].unit, ==, "degrees");
  g_test_message ("yaw %g, pitch %g, roll %g", m[1], m[2], m[3]);
  g_assert_cmpfloat (m[1], <, 22);
  g_assert_cmpfloat (m[2], <, 12.5);
  g_assert_cmpfloat (m[3], <, 10);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/data/bytes-are-scaled-unless-told", test_bytes_are_scaled_unless_told);
  g_test_add_func ("/train/data/axes-are-those-of-the-setting", test_axes_are_those_of_the_setting);
  g_test_add_func ("/train/data/dataset-is-opened-as-the-job-says",
                   test_dataset_is_opened_as_the_job_says);
  g_test_add_func ("/train/data/one-class-on-request", test_one_class_on_request);
  g_test_add_func ("/train/data/array-that-shrinks-in-mid-run", test_array_that_shrinks_in_mid_run);
  g_test_add_func ("/train/data/unreadable-in-validation-is-reported",
                   test_unreadable_in_validation_is_reported);
  g_test_add_func ("/train/data/sequences-are-learned", test_sequences_are_learned);
  g_test_add_func ("/train/data/sequences-of-several-lengths", test_sequences_of_several_lengths);
  g_test_add_func ("/train/data/flip-of-sequences-is-refused", test_flip_of_sequences_is_refused);
  g_test_add_func ("/train/data/balance-of-values-is-refused", test_balance_of_values_is_refused);
  g_test_add_func ("/train/data/class-weights-even-out", test_class_weights_even_out);
  g_test_add_func ("/train/data/given-class-weights", test_given_class_weights);
  g_test_add_func ("/train/data/class-weights-have-no-common-factor", test_common_factor);
  g_test_add_func ("/train/data/class-weights-are-checked", test_class_weights_are_checked);
  g_test_add_func ("/train/data/class-weights-of-names-with-commas",
                   test_class_weights_of_names_with_commas);
  g_test_add_func ("/train/data/class-weights-that-do-not-fit", test_class_weights_that_do_not_fit);
  g_test_add_func ("/train/data/poses-are-learned", test_poses_are_learned);
  return g_test_run ();
}
