/* SPDX-License-Identifier: MIT */
/* Whole networks compared with PyTorch: the losses of some steps and the weights after them, from
 * fixtures that make_fixtures.py writes.  Inputs, labels and initial weights are generated here
 * with the hash of that script, and are read from files, as a user's are. */
#include "npyfile.h"
#include "train-test.h"
#include "weightsfile.h"
#include <math.h>
#include <string.h>

/* The same as in make_fixtures.py. */
#define PROJECTIONS             4
#define FIRST_PROJECTION_STREAM 4096

static double *
hash_uniform (guint64 stream, guint64 count)
{
  double *values = g_new (double, count);

  for (guint64 i = 0; i < count; i++)
    {
      guint64 z = i + stream * G_GUINT64_CONSTANT (0x9E3779B97F4A7C15);
      z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xBF58476D1CE4E5B9);
      z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94D049BB133111EB);
      z = z ^ (z >> 31);
      values[i] = (double) (z >> 40) / 8388608.0 - 1.0;
    }
  return values;
}

typedef struct {
  GKeyFile *file;
  DynoJob *job;
  guint size, classes, samples;
  gsize steps; /* the steps to run: the first ones of the fixture, or all */
  gboolean all;
  char *folder;
} Case;

static double
get_number (const Case *c, const char *key)
{
  g_autoptr (GError) error = NULL;
  double value = g_key_file_get_double (c->file, "run", key, &error);

  g_assert_no_error (error);
  return value;
}

static void
set_setting (const Case *c, const char *key, const char *from)
{
  g_autofree char *value = g_key_file_get_string (c->file, "run", from, NULL);

  g_assert_true (dyno_settings_set (&c->job->settings, key, value, NULL));
}

static void
write_data (Case *c)
{
  guint64 n = c->samples, shape[] = { n, c->size, c->size, 3 }, count = n * c->size * c->size * 3;
  g_autofree double *x = hash_uniform (1, count), *y = hash_uniform (2, n),
                    *coarse = hash_uniform (3, n * 4 * 4 * 3);
  g_autofree float *pixels = g_new (float, count);
  g_autofree gint64 *labels = g_new (gint64, n);
  g_autoptr (GError) error = NULL;

  for (guint64 i = 0; i < count; i++)
    {
      guint64 channel = i % 3, column = i / 3 % c->size, row = i / 3 / c->size % c->size,
              sample = i / 3 / c->size / c->size;
      guint64 patch = ((sample * 4 + row * 4 / c->size) * 4 + column * 4 / c->size) * 3 + channel;
      pixels[i] = (float) (0.75 * coarse[patch] + 0.25 * x[i]);
    }
  for (guint64 i = 0; i < n; i++)
    labels[i] = (gint64) ((y[i] + 1.0) / 2.0 * c->classes);
  c->job->data = g_build_filename (c->folder, "X.npy", NULL);
  c->job->targets = g_build_filename (c->folder, "y.npy", NULL);
  dyno_npy_write (c->job->data, "f4", 4, shape, pixels, &error);
  g_assert_no_error (error);
  dyno_npy_write (c->job->targets, "i8", 1, shape, labels, &error);
  g_assert_no_error (error);
}

static DynoGraph *
make_graph (const Case *c)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = { .model = c->job->model,
                               .model_width = c->job->settings.model_width,
                               .batch = 1,
                               .schema =
                                   dyno_schema_image (DYNO_ELEMENT_F32, c->size, c->size, 3, 0),
                               .n_outputs = c->classes };
  DynoGraph *graph = dyno_network_build (&params, &error);

  g_assert_no_error (error);
  return graph;
}

static void
write_weights (Case *c)
{
  g_autoptr (DynoGraph) graph = make_graph (c);
  g_autoptr (DynoWeights) weights = dyno_weights_new (graph, NULL);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GError) error = NULL;
  guint64 stream = 16;

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *p = g_ptr_array_index (parameters, i);
      guint64 count = dyno_parameter_count (p);
      if (p->is_state)
        {
          dyno_parameter_initialise (p, 1, weights->values[i]);
          continue;
        }
      g_autofree double *u = hash_uniform (stream++, count);
      double fan_in = (double) count / p->dims[0];
      double scale = p->n_dims > 1 ? sqrt (6.0 / fan_in) : 0.1;
      double offset = p->n_dims == 1 && g_str_has_suffix (p->name, "weight") ? 1.0 : 0.0;
      for (guint64 e = 0; e < count; e++)
        weights->values[i][e] = (float) (u[e] * scale + offset);
    }
  c->job->weights_in = g_build_filename (c->folder, "init.safetensors", NULL);
  c->job->weights_out = g_build_filename (c->folder, "out.safetensors", NULL);
  dyno_weights_save (weights, graph, c->job->weights_in, NULL, &error);
  g_assert_no_error (error);
}

static void
case_init (Case *c, const char *name, gsize most_steps)
{
  g_autofree char *path =
                      g_strconcat (g_test_get_dir (G_TEST_DIST), "/fixtures/", name, ".ini", NULL),
                  *model = NULL;
  g_autofree double *losses = NULL;
  g_autoptr (GError) error = NULL;

  c->file = g_key_file_new ();
  g_key_file_load_from_file (c->file, path, G_KEY_FILE_NONE, &error);
  g_assert_no_error (error);
  model = g_key_file_get_string (c->file, "run", "model", NULL);
  c->job = test_job (model, NULL);
  c->size = (guint) get_number (c, "size");
  c->classes = (guint) get_number (c, "classes");
  c->samples = (guint) get_number (c, "samples");
  c->folder = test_folder ();
  set_setting (c, "model.width", "width");
  set_setting (c, "batch_size", "batch");
  set_setting (c, "optimizer", "optimizer");
  set_setting (c, "lr", "lr");
  set_setting (c, "weight_decay", "weight_decay");
  set_setting (c, "label_smoothing", "smoothing");
  set_setting (c, "clip_norm", "clip_norm");
  test_job_set (c->job, "momentum=0.9", "schedule=constant", "warmup_epochs=0",
                "data.shuffle=false", "data.val_split=0", "augment.flip=false", NULL);
  losses = g_key_file_get_double_list (c->file, "losses", "fp32", &c->steps, &error);
  g_assert_no_error (error);
  c->all = c->steps <= most_steps;
  c->steps = MIN (c->steps, most_steps);
  c->job->max_steps = c->steps;
  write_data (c);
  write_weights (c);
}

static void
case_clear (Case *c)
{
  g_key_file_unref (c->file);
  dyno_job_unref (c->job);
  test_remove_tree (c->folder);
  g_free (c->folder);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, case_clear)

static void
check_losses (const Case *c, const TestRun *run, double tolerance)
{
  g_autofree double *expected = g_key_file_get_double_list (c->file, "losses", "fp32", NULL, NULL);
  double worst = 0;

  g_assert_cmpuint (run->losses->len, ==, c->steps);
  for (guint i = 0; i < c->steps; i++)
    {
      double got = g_array_index (run->losses, double, i),
             relative = fabs (got - expected[i]) / fabs (expected[i]);

      worst = MAX (worst, relative);
      if (!(relative <= tolerance))
        g_error ("step %u: loss %.7f, PyTorch has %.7f", i + 1, got, expected[i]);
    }
  g_test_message ("largest relative difference of a loss: %.2e", worst);
}

static float
element (const DynoSafetensor *tensor, guint64 at)
{
  float value;

  memcpy (&value, (const guint8 *) tensor->data + sizeof value * at, sizeof value);
  return value;
}

/* Elements are compared on the scale of their tensor. */
static void
check_weights (const Case *c, double tolerance, double sum_tolerance)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (c->job->weights_out, 0, &error);
  g_auto (GStrv) names = g_key_file_get_keys (c->file, "weights", NULL, NULL);
  double worst = 0;

  g_assert_no_error (error);
  g_assert_cmpuint (g_strv_length (names), ==, dyno_safetensors_get_count (file));
  for (guint i = 0; names[i]; i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_lookup (file, names[i]);
      g_autofree double *expected =
          g_key_file_get_double_list (c->file, "weights", names[i], NULL, NULL);
      gint64 tracked;

      g_assert_nonnull (tensor);
      if (tensor->type == DYNO_TENSOR_I64)
        {
          memcpy (&tracked, tensor->data, 8);
          g_assert_cmpint (tracked, ==, (gint64) c->steps);
          continue;
        }
      guint64 n = tensor->size_bytes / 4, places[] = { 0, n / 3, 2 * n / 3, n - 1 };
      double sum = 0, scale = expected[0] / (double) n;
      for (guint64 e = 0; e < n; e++)
        sum += fabsf (element (tensor, e));
      for (guint k = 0; k < G_N_ELEMENTS (places); k++)
        {
          float value = element (tensor, places[k]);
          double difference = fabs (value - expected[k + 1]) / scale;
          if (!(difference <= tolerance))
            g_error ("%s[%" G_GUINT64_FORMAT "] is %g, PyTorch has %g", names[i], places[k], value,
                     expected[k + 1]);
          worst = MAX (worst, difference);
        }
      g_assert_cmpfloat_with_epsilon (sum / expected[0], 1.0, sum_tolerance);
    }
  g_test_message ("largest difference of a weight, on its tensor's scale: %.2e", worst);
}

/* The movement of every tensor, compared on its own scale: this tests the gradients of all steps,
 * momentum, decay and running statistics, where the weights themselves hardly differ from the
 * initial ones. */
static void
check_movement (const Case *c, double tolerance)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoSafetensors) before = dyno_safetensors_open (c->job->weights_in, 0, &error);
  g_assert_no_error (error);
  g_autoptr (DynoSafetensors) after = dyno_safetensors_open (c->job->weights_out, 0, &error);
  g_assert_no_error (error);
  g_auto (GStrv) names = g_key_file_get_keys (c->file, "movement", NULL, NULL);
  double worst = 0;

  g_assert_nonnull (names);
  for (guint i = 0; names[i]; i++)
    {
      const DynoSafetensor *from = dyno_safetensors_lookup (before, names[i]),
                           *to = dyno_safetensors_lookup (after, names[i]);
      g_autofree double *expected =
          g_key_file_get_double_list (c->file, "movement", names[i], NULL, NULL);

      g_assert_nonnull (from);
      g_assert_nonnull (to);
      guint64 n = to->size_bytes / sizeof (float);
      g_assert_cmpuint (from->size_bytes, ==, to->size_bytes);
      for (guint k = 0; k < PROJECTIONS; k++)
        {
          g_autofree double *vector =
              hash_uniform (FIRST_PROJECTION_STREAM + i * PROJECTIONS + k, n);
          double product = 0;
          for (guint64 e = 0; e < n; e++)
            product += vector[e] * ((double) element (to, e) - (double) element (from, e));
          double difference = fabs (product - expected[k + 1]) / expected[0];
          if (!(difference <= tolerance))
            g_error ("%s moved by %g along vector %u, PyTorch's by %g (by %g in all)", names[i],
                     product, k, expected[k + 1], expected[0]);
          worst = MAX (worst, difference);
        }
    }
  g_test_message ("largest difference of a movement, on its tensor's scale: %.2e", worst);
}

typedef struct {
  const char *fixture, *precision;
  gsize
      /* Limit for a software device; weights are compared only if all steps of the fixture are
       * run. */
      most_steps;
} CaseParams;

static gboolean software;

static void
run_case (gconstpointer data)
{
  const CaseParams *params = data;
  gboolean amp = strcmp (params->precision, "amp") == 0;
  g_auto (Case) c = { 0 };
  g_auto (TestRun) run = { 0 };

  case_init (&c, params->fixture, software ? params->most_steps : G_MAXSIZE);
  test_job_set (c.job, amp ? "amp=true" : "amp=false", NULL);
  test_run_good (&run, c.job);
  g_assert_cmpuint (run.skipped, ==, 0);
  check_losses (&c, &run, amp ? 2e-2 : 1e-3);
  /* Adam and AdamW move by the sign of small gradients too, so single elements differ more than the
   * rest of their tensor. */
  if (c.all)
    check_weights (&c, amp ? 0.25 : 2e-3, amp ? 2e-2 : 1e-3);
  if (!amp && g_str_has_suffix (params->fixture, "-movement"))
    check_movement (&c, 5e-4);
}

int
main (int argc, char **argv)
{
  /* The whole ResNet-18 takes 2 s for a step on two cores, and its AMP kernels take a minute before
   * that; a narrow ResNet-18 is therefore run, and its weights are compared. */
  static const CaseParams cases[] = {
    { "simplecnn", "fp32", 20 },
    { "simplecnn", "amp", 20 },
    { "simplecnn-smoothed", "fp32", 20 },
    { "simplecnn-smoothed", "amp", 20 },
    { "mlp", "fp32", 20 },
    { "mlp", "amp", 20 },
    { "mlp-adam", "fp32", 20 },
    { "mlp-rmsprop", "fp32", 20 },
    { "resnet18", "fp32", 3 },
    { "resnet18", "amp", 0 },
    { "resnet18-movement", "fp32", 20 },
  };

  g_autoptr (GError) error = NULL;

  g_test_init (&argc, &argv, NULL);
  DynoDevice *device = dyno_device_open (NULL, &error);
  g_assert_no_error (error);
  software = dyno_device_get_info (device)->type == DYNO_DEVICE_TYPE_SOFTWARE;
  dyno_device_unref (device);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      if (software && cases[i].most_steps == 0)
        continue;
      g_autofree char *path =
          g_strconcat ("/train/pytorch/", cases[i].fixture, "-", cases[i].precision, NULL);
      g_test_add_data_func (path, &cases[i], run_case);
    }
  return g_test_run ();
}
