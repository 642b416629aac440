/* SPDX-License-Identifier: MIT */
/* The feeder: samples that are passed to it are predicted as samples of a data set are, for any
 * batch size, and with two batches in flight. */
#include "feeder.h"
#include "train-test.h"
#include "weightsfile.h"
#include <math.h>
#include <string.h>

#define SHAPES    "builtin:shapes?size=16&samples=24&classes=3"
#define WAVES     "builtin:waves?length=16&channels=2&samples=24&classes=3"
#define N         24
#define MAX_BATCH 10

typedef struct {
  guint8 *samples[N];
  gint32 lengths[N];
  float expected[N][3];
  guint n;
} Whole;

static char *
in_folder (const char *folder, const char *name)
{
  return g_build_filename (folder, name, NULL);
}

static gboolean
on_prediction (const DynoPrediction *prediction, gpointer data)
{
  Whole *whole = data;

  g_assert_null (prediction->problem);
  memcpy (whole->expected[whole->n++], prediction->shares, sizeof whole->expected[0]);
  return TRUE;
}

/* Reads the samples of the data set, and the predictions that a predictor makes of them. */
static void
read_whole (Whole *whole, const char *weights, const char *data)
{
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GByteArray) scratch = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = { .weights = weights, .batch = 7, .workers = 1, .device = -1 };
  DynoBatchSchema schema;

  g_autoptr (DynoDataset) dataset = dyno_dataset_open (data, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  const DynoDatasetInfo *info = dyno_dataset_get_info (dataset);
  dyno_dataset_get_schema (info, info->max_width, info->max_height, &schema);
  int input = dyno_schema_find_index (&schema, DYNO_FIELD_INPUT),
      length = dyno_schema_find_index (&schema, DYNO_FIELD_LENGTH);
  for (guint i = 0; i < N; i++)
    {
      gpointer fields[DYNO_SCHEMA_MAX_FIELDS] = { NULL };
      gint32 others[DYNO_SCHEMA_MAX_FIELDS];

      for (guint k = 0; k < schema.n_fields; k++)
        fields[k] = &others[k];
      fields[input] = whole->samples[i] =
          g_malloc0 (dyno_field_count (&schema.fields[input])
                     * dyno_element_size (schema.fields[input].element));
      if (length >= 0)
        fields[length] = &whole->lengths[i];
      dyno_dataset_decode (dataset, i, info->max_width, info->max_height, fields, scratch, &error);
      g_assert_no_error (error);
    }
  g_autoptr (DynoPredictor) predictor = dyno_predictor_new (&params, dataset, notes, NULL, &error);
  g_assert_no_error (error);
  dyno_predictor_run (predictor, NULL, on_prediction, whole, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (whole->n, ==, N);
}

static void
collect (DynoFeeder *feeder, const Whole *whole, guint first, guint n)
{
  g_autoptr (GError) error = NULL;
  float outputs[MAX_BATCH][3];

  g_assert_true (dyno_feeder_collect (feeder, outputs[0], &error));
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < 3; k++)
      g_assert_cmpfloat_with_epsilon (outputs[i][k], whole->expected[first + i][k], 1e-6);
}

/* Batches of 1, smaller than the program's batch, and full; each is submitted before the previous
 * one is collected. */
static void
feed (DynoFeeder *feeder, const Whole *whole, gboolean has_lengths)
{
  static const guint sizes[] = { 1, MAX_BATCH, 3, 9, 1 }; /* N in total */
  guint at = 0, before = 0;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (dyno_feeder_submit (feeder, (gconstpointer const *) whole->samples + at,
                                         has_lengths ? whole->lengths + at : NULL, sizes[i],
                                         &error));
      g_assert_no_error (error);
      if (i > 0)
        {
          g_assert_cmpuint (dyno_feeder_get_pending (feeder), ==, 2);
          collect (feeder, whole, before, at - before);
        }
      before = at;
      at += sizes[i];
    }
  g_assert_cmpuint (at, ==, N);
  collect (feeder, whole, before, at - before);
  g_assert_cmpuint (dyno_feeder_get_pending (feeder), ==, 0);
}

static void
check (const char *model, const char *data)
{
  g_autofree char *folder = test_folder (), *weights = in_folder (folder, "weights.safetensors");
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoJob) job = test_job (model, data);
  g_autoptr (GError) error = NULL;
  g_auto (TestRun) run = { 0 };
  DynoPredictorParams params = { .weights = weights, .batch = MAX_BATCH, .device = -1 };
  Whole whole = { 0 };

  job->out_dir = g_strdup (folder);
  test_job_set (job, "epochs=1", "data.val_split=0", "seed=5", NULL);
  test_run_good (&run, job);
  read_whole (&whole, weights, data);
  g_autoptr (DynoFeeder) feeder = dyno_feeder_new (&params, notes, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (notes->len, ==, 0);
  g_assert_cmpuint (dyno_feeder_get_info (feeder)->n_outputs, ==, 3);
  feed (feeder, &whole, dyno_feeder_get_input (feeder)->variable);
  for (guint i = 0; i < N; i++)
    g_free (whole.samples[i]);
  test_remove_tree (folder);
}

static void
test_images (void)
{
  check ("simplecnn", SHAPES);
}

static void
test_sequences (void)
{
  check ("cnn1d", WAVES);
}

/* Without a data set only the weights file can describe the input of the network. */
static void
test_needs_a_described_input (void)
{
  g_autofree char *folder = test_folder (), *path = in_folder (folder, "weights.safetensors");
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  DynoPredictorParams params = { .weights = path, .model = "simplecnn", .device = -1 };
  DynoNetworkParams network = { .model = "simplecnn",
                                .model_width = 0.125,
                                .n_outputs = 3,
                                .batch = 1,
                                .mode = DYNO_MODE_PREDICT,
                                .precision = dyno_precision_of_amp (FALSE) };
  const char *const metadata[] = { "model.width", "0.125", NULL };

  dyno_schema_add (&network.schema, &(DynoBatchField){ .name = "image",
                                                       .role = DYNO_FIELD_INPUT,
                                                       .element = DYNO_ELEMENT_U8,
                                                       .n_axes = 3,
                                                       .shape = { 16, 16, 3 },
                                                       .axes = "HWC" });
  g_autoptr (DynoGraph) graph = dyno_network_build (&network, &error);
  g_assert_no_error (error);
  DynoWeights *weights = dyno_weights_new (graph, &error);
  dyno_weights_save (weights, graph, path, metadata, &error);
  g_assert_no_error (error);
  dyno_weights_free (weights);
  g_assert_null (dyno_feeder_new (&params, notes, NULL, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
  g_assert_nonnull (strstr (
      error->message, "does not state the element type, shape and normalisation of its input"));
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/train/feeder/images-as-a-data-set's", test_images);
  g_test_add_func ("/train/feeder/sequences-as-a-data-set's", test_sequences);
  g_test_add_func ("/train/feeder/needs-a-described-input", test_needs_a_described_input);
  return g_test_run ();
}
