/* SPDX-License-Identifier: MIT */
/* Weights files: their descriptions of themselves. */
#include "npyfile.h"
#include "train-test.h"
#include "weightsinfo.h"
#include <string.h>

static char *
in_folder (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static DynoWeightsInfo *
read_info (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, &error);
  DynoWeightsInfo *info = file ? dyno_weights_info_read (file, &error) : NULL;

  g_assert_no_error (error);
  return info;
}

/* Model, classes, size and normalisation of the images that a run was trained on. */
static void
test_says_its_input_and_classes (void)
{
  g_autofree char *folder = test_folder (), *weights = in_folder (folder, "weights.safetensors"),
                  *last = in_folder (folder, "weights-last.safetensors");
  g_autoptr (DynoJob) job = test_job ("simplecnn", "builtin:shapes?size=16&samples=64&classes=3");
  g_auto (TestRun) run = { 0 };

  job->out_dir = g_strdup (folder);
  test_job_set (job, "image_size=24", "data.val_split=0.5", NULL);
  job->max_steps = 2;
  test_run_good (&run, job);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (DynoWeightsInfo) info = read_info (i ? last : weights);
      const DynoNormalisation *normalisation = &info->input.normalisation;

      g_assert_cmpstr (info->model, ==, "simplecnn");
      g_assert_cmpfloat (info->model_width, ==, 0.25);
      g_assert_false (info->is_values);
      g_assert_cmpuint (info->n_outputs, ==, 3);
      g_assert_cmpuint (g_strv_length (info->class_names), ==, 3);
      g_assert_cmpstr (info->class_names[0], ==, "circle");
      g_assert_true (info->has_input);
      g_assert_cmpstr (info->input.axes, ==, "HWC");
      g_assert_cmpint (info->input.element, ==, DYNO_ELEMENT_U8);
      g_assert_cmpuint (info->input.shape[0], ==, 24);
      g_assert_cmpuint (info->input.shape[1], ==, 24);
      g_assert_cmpuint (info->input.shape[2], ==, 3);
      g_assert_true (normalisation->scale_255 && normalisation->standardise);
      g_assert_cmpfloat (normalisation->mean[0], ==, 0.33f);
      g_assert_cmpfloat (normalisation->deviation[2], ==, 0.25f);
    }
  test_remove_tree (folder);
}

/* The values in use, and not those that the data set advises. */
static void
test_says_that_nothing_is_normalised (void)
{
  g_autofree char *folder = test_folder (), *weights = in_folder (folder, "weights.safetensors");
  g_autoptr (DynoJob) job = test_job ("mlp", "builtin:waves?length=16&samples=32&classes=2");
  g_auto (TestRun) run = { 0 };

  job->out_dir = g_strdup (folder);
  test_job_set (job, "data.normalise=false", "data.val_split=0", NULL);
  job->max_steps = 1;
  test_run_good (&run, job);
  g_autoptr (DynoWeightsInfo) info = read_info (weights);
  g_assert_false (info->input.normalisation.scale_255 || info->input.normalisation.standardise);
  g_assert_cmpstr (info->input.axes, ==, "TF");
  g_assert_cmpuint (info->input.shape[0], ==, 16);
  test_remove_tree (folder);
}

/* The names and units of values are those of y.names. */
static void
test_says_its_values_and_units (void)
{
  g_autofree char *folder = test_folder (),
                  *weights = in_folder (folder, "run/weights.safetensors"),
                  *x = in_folder (folder, "X.npy"), *y = in_folder (folder, "y.npy"),
                  *names = in_folder (folder, "y.names");
  guint64 x_shape[] = { 8, 4 }, y_shape[] = { 8, 2 };
  float values[32];
  g_autoptr (GError) error = NULL;
  g_auto (TestRun) run = { 0 };

  for (guint i = 0; i < 32; i++)
    values[i] = (float) i;
  g_assert_true (
      dyno_npy_write (x, "f4", 2, x_shape, values, &error)
      && dyno_npy_write (y, "f4", 2, y_shape, values, &error)
      && g_file_set_contents (names, "speed (m/s)\nangle, [left] \"x\" (°)\n", -1, &error));
  g_autoptr (DynoJob) job = test_job ("mlp", x);
  job->out_dir = in_folder (folder, "run");
  test_job_set (job, "data.val_split=0", "batch_size=8", NULL);
  job->max_steps = 1;
  test_run_good (&run, job);
  g_autoptr (DynoWeightsInfo) info = read_info (weights);
  g_assert_true (info->is_values);
  g_assert_cmpuint (info->n_outputs, ==, 2);
  g_assert_nonnull (info->target_names);
  g_assert_cmpuint (g_strv_length (info->target_names), ==, 2);
  g_assert_cmpstr (info->target_names[1], ==, "angle, [left] \"x\"");
  g_assert_cmpstr (info->target_units[1], ==, "°");
  g_assert_cmpuint (g_strv_length (info->target_units), ==, 2);
  g_assert_cmpint (info->input.element, ==, DYNO_ELEMENT_F32);
  test_remove_tree (folder);
}

static float
first_of (const char *path, const char *name)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);
  const DynoSafetensor *tensor = dyno_safetensors_lookup (file, name);
  float value;

  g_assert_nonnull (tensor);
  memcpy (&value, tensor->data, sizeof value);
  return value;
}

/* Copies a weights file with a prefix before each name, one more tensor, and in fp16. */
static void
copy_as_checkpoint (const char *from, const char *to)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (from, 0, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *metadata[] = { "format", "pt", NULL };
  g_autoptr (GError) error = NULL;
  DynoSafetensor row;
  float zero = 0;

  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      row = *dyno_safetensors_get (file, i);
      row.name = g_strconcat ("module.", row.name, NULL);
      g_ptr_array_add (names, (gpointer) row.name);
      g_array_append_val (rows, row);
    }
  row = (DynoSafetensor){
    .name = "module.extra", .type = DYNO_TENSOR_F32, .size_bytes = 4, .data = &zero
  };
  g_array_append_val (rows, row);
  dyno_safetensors_write (to, (const DynoSafetensor *) (gpointer) rows->data, rows->len, metadata,
                          &error);
  g_assert_no_error (error);
}

/* Weights of other classes: all but the last layer are used, which a warning states, with the
 * prefix of the names and the unused tensors. */
static void
test_head_of_other_classes_starts_anew (void)
{
  g_autofree char *folder = test_folder (), *weights = in_folder (folder, "weights.safetensors"),
                  *theirs = in_folder (folder, "theirs.safetensors"),
                  *out = in_folder (folder, "out.safetensors");
  g_autoptr (DynoJob) job = test_job ("simplecnn", "builtin:shapes?size=16&samples=64&classes=3");
  g_autoptr (DynoJob) next = test_job ("simplecnn", "builtin:shapes?size=16&samples=64&classes=4");
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) again = { 0 };

  job->out_dir = g_strdup (folder);
  test_job_set (job, "data.val_split=0", NULL);
  job->max_steps = 1;
  test_run_good (&run, job);
  copy_as_checkpoint (weights, theirs);
  next->weights_in = g_strdup (theirs);
  next->weights_out = g_strdup (out);
  test_job_set (next, "data.val_split=0", "lr=1e-7", "warmup_epochs=0", NULL);
  next->max_steps = 1;
  test_run_good (&again, next);
  g_assert_true (test_has_warning (&again, "starts anew"));
  g_assert_true (test_has_warning (&again, "has 3 outputs, this model 4"));
  g_assert_true (test_has_warning (&again, "“module.extra”"));
  g_assert_cmpfloat_with_epsilon (first_of (out, "0.weight"), first_of (weights, "0.weight"), 1e-4);
  test_remove_tree (folder);
}

/* timm's config.json beside a file without a description; a damaged one is reported, and not
 * used. */
static void
test_config_json_completes (void)
{
  static const char good[] =
      "{\"architecture\": \"resnet18\", \"num_classes\": 2, \"label_names\": [\"cat\", \"dog\"],"
      " \"pretrained_cfg\": {\"input_size\": [3, 96, 128], \"mean\": [0.1, 0.2, 0.3],"
      " \"std\": [0.5, 0.5, 0.25], \"tag\": \"a]{\", \"url\": null}}";
  static const char *const bad[] = {
    "{",
    "[]",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    "{\"pretrained_cfg\": 3}",
    "{\"input_size\": [3, 96, -1], \"mean\": [0, 0, 0], \"std\": [1, 1, 1]}",
    "{\"input_size\": [3, 96, 96], \"mean\": [0, 0, 0], \"std\": [1, 0, 1]}",
    "{\"input_size\": [3, 96, 96], \"mean\": [0, 0, \"x\"], \"std\": [1, 1, 1]}",
  };
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "w.safetensors"),
                  *config = in_folder (folder, "config.json");

  for (guint i = 0; i <= G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (DynoWeightsInfo) info = g_new0 (DynoWeightsInfo, 1);
      g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);

      g_assert_true (
          g_file_set_contents (config, i < G_N_ELEMENTS (bad) ? bad[i] : good, -1, NULL));
      dyno_weights_info_complete (info, path, notes);
      g_assert_cmpint (info->has_input, ==, i == G_N_ELEMENTS (bad));
      if (!info->has_input)
        continue;
      g_assert_cmpuint (notes->len, ==, 1);
      g_assert_nonnull (strstr (notes->pdata[0], "0.1 0.2 0.3"));
      g_assert_cmpstr (info->model, ==, "resnet18");
      g_assert_cmpuint (info->n_outputs, ==, 2);
      g_assert_cmpstr (info->class_names[1], ==, "dog");
      g_assert_cmpuint (info->input.shape[0], ==, 96);
      g_assert_cmpuint (info->input.shape[1], ==, 128);
      g_assert_cmpfloat (info->input.normalisation.deviation[2], ==, 0.25f);
    }
  test_remove_tree (folder);
}

/* Foreign metadata: each of these is refused, and the key is named. */
static void
test_nonsense_is_refused (void)
{
  static const struct {
    const char *key, *value;
  } cases[] = {
    { "model.width", "nan" },           { "outputs", "0" },
    { "outputs", "99999999999" },       { "task", "dreams" },
    { "classes", "[\"a\"]" },           { "classes", "[[[[[" },
    { "classes", "{\"a\":1}" },         { "input.element", "complex128" },
    { "input.axes", "CHWX" },           { "input.shape", "[16, 16]" },
    { "input.shape", "[16, 1e30, 3]" }, { "input.shape", "[16, -1, 3]" },
    { "input.mean", "[0.5, \"b\"]" },   { "input.deviation", "[1, 0, 1]" },
    { "input.deviation", "[1]" },       { "input.scale", "255" },
  };
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "w.safetensors");
  float zero = 0;
  DynoSafetensor row = { .name = "a", .type = DYNO_TENSOR_F32, .size_bytes = 4, .data = &zero };

  for (gsize i = 0; i <= G_N_ELEMENTS (cases); i++)
    {
      const char *good[] = { "model",
                             "mlp",
                             "model.width",
                             "1",
                             "outputs",
                             "2",
                             "task",
                             "classes",
                             "classes",
                             "[\"a\", \"[b\"]",
                             "input.element",
                             "uint8",
                             "input.axes",
                             "HWC",
                             "input.shape",
                             "[16, 16, 3]",
                             "input.scale",
                             "1/255",
                             "input.mean",
                             "[0, 0, 0.5]",
                             "input.deviation",
                             "[1, 1, 0.5]",
                             NULL };
      g_autoptr (GError) error = NULL;

      for (guint k = 0; good[k] && i < G_N_ELEMENTS (cases); k += 2)
        if (strcmp (good[k], cases[i].key) == 0)
          good[k + 1] = cases[i].value;
      dyno_safetensors_write (path, &row, 1, good, &error);
      g_assert_no_error (error);
      g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, &error);
      g_assert_no_error (error);
      g_autoptr (DynoWeightsInfo) info = dyno_weights_info_read (file, &error);
      if (i == G_N_ELEMENTS (cases))
        {
          g_assert_no_error (error);
          g_assert_cmpstr (info->class_names[1], ==, "[b");
          continue;
        }
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
      g_assert_nonnull (strstr (error->message, cases[i].key));
    }
  test_remove_tree (folder);
}

/* --- calibration ------------------------------------------------------------------------------ */

/* Writes a file of one tensor for three labels; extra: further metadata, or NULL. */
static void
write_labels (const char *path, const char *key, const char *value)
{
  static const float values[] = { 1, -2, 3.5f };
  DynoSafetensor row = { .name = "t",
                         .type = DYNO_TENSOR_F32,
                         .n_dims = 1,
                         .shape = { 3 },
                         .size_bytes = sizeof values,
                         .data = values };
  const char *pairs[] = { "task", "labels", "outputs", "3", "note", "of others", key, value, NULL };
  g_autoptr (GError) error = NULL;

  dyno_safetensors_write (path, &row, 1, pairs, &error);
  g_assert_no_error (error);
}

static void
calibrate (const char *path, double temperature, const float *thresholds)
{
  float copy[3] = { 0 };
  DynoWeightsInfo info = { .n_outputs = 3, .temperature = temperature };
  g_autoptr (GError) error = NULL;

  if (thresholds)
    memcpy (copy, thresholds, sizeof copy);
  info.thresholds = thresholds ? copy : NULL;
  dyno_weights_info_write_calibration (&info, path, &error);
  g_assert_no_error (error);
}

/* The second calibration replaces the first, and all else in the file stays. */
static void
test_calibration_is_written_twice (void)
{
  static const float first[] = { 0.125f, 0.5f, 1 }, second[] = { 0, 0.1f, 0.75f };
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "w.safetensors");
  const float *const thresholds[] = { NULL, first, second, NULL };
  const double temperatures[] = { 1, 2.5, 1 / 3.0, 1 };

  write_labels (path, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (thresholds); i++)
    {
      g_autoptr (DynoSafetensors) file = NULL;
      g_autoptr (DynoWeightsInfo) info = NULL;

      if (i > 0)
        calibrate (path, temperatures[i], thresholds[i]);
      info = read_info (path);
      file = dyno_safetensors_open (path, 0, NULL);
      g_assert_cmpfloat_with_epsilon (info->temperature, temperatures[i], 1e-9);
      if (thresholds[i])
        g_assert_cmpmem (info->thresholds, 12, thresholds[i], 12);
      else
        g_assert_null (info->thresholds);
      g_assert_cmpstr (dyno_safetensors_get_metadata (file, "note"), ==, "of others");
      g_assert_cmpuint (info->n_outputs, ==, 3);
      g_assert_cmpfloat (((const float *) dyno_safetensors_lookup (file, "t")->data)[2], ==, 3.5f);
    }
  test_remove_tree (folder);
}

static void
test_wrong_calibrations (void)
{
  const struct {
    const char *key, *value;
    gboolean is_good;
  } cases[] = {
    { "output.temperature", "2", TRUE },
    { "output.temperature", "0", FALSE },
    { "output.temperature", "-1", FALSE },
    { "output.temperature", "nan", FALSE },
    { "output.temperature", "1e9", FALSE },
    { "output.temperature", "1 K", FALSE },
    { "output.thresholds", "[0, 0.5, 1]", TRUE },
    { "output.thresholds", "[0, 0.5]", FALSE },
    { "output.thresholds", "[0, 0.5, 1, 1]", FALSE },
    { "output.thresholds", "[0, 0.5, 1.01]", FALSE },
    { "output.thresholds", "[-0.1, 0.5, 1]", FALSE },
    { "output.thresholds", "[0, \"a\", 1]", FALSE },
    { "output.thresholds", "[]", FALSE },
  };
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "w.safetensors");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoSafetensors) file = NULL;
      g_autoptr (DynoWeightsInfo) info = NULL;

      write_labels (path, cases[i].key, cases[i].value);
      file = dyno_safetensors_open (path, 0, &error);
      g_assert_no_error (error);
      info = dyno_weights_info_read (file, &error);
      g_assert_true ((info != NULL) == cases[i].is_good);
      if (info)
        continue;
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
      g_assert_nonnull (strstr (error->message, cases[i].key));
    }
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/says-its-input-and-classes", test_says_its_input_and_classes);
  g_test_add_func ("/weights/says-that-nothing-is-normalised",
                   test_says_that_nothing_is_normalised);
  g_test_add_func ("/weights/says-its-values-and-units", test_says_its_values_and_units);
  g_test_add_func ("/weights/head-of-other-classes-starts-anew",
                   test_head_of_other_classes_starts_anew);
  g_test_add_func ("/weights/config-json-beside-completes", test_config_json_completes);
  g_test_add_func ("/weights/calibration-is-written-twice", test_calibration_is_written_twice);
  g_test_add_func ("/weights/wrong-calibrations-are-refused", test_wrong_calibrations);
  g_test_add_func ("/weights/nonsense-in-metadata-is-refused", test_nonsense_is_refused);
  return g_test_run ();
}
