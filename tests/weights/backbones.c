/* SPDX-License-Identifier: MIT */
/* Start weights of models with a class for each pixel: a classifier's file fills the backbone, and
 * the rest is initialised; a file of the whole model with other classes, whose last layer may be
 * two; and a file with additional tensors. */
#include "file.h"
#include "network.h"
#include "train-error.h"
#include "weightsfile.h"
#include <glib/gstdio.h>
#include <string.h>

#define UNTOUCHED 0.5f

static char *folder;

static DynoGraph *
build (const char *model, guint32 n_outputs, double width)
{
  const DynoNetworkParams params = { .model = model,
                                     .model_width = width,
                                     .batch = 1,
                                     .schema = dyno_schema_image (DYNO_ELEMENT_U8, 64, 64, 3, 0),
                                     .n_outputs = n_outputs,
                                     .mode = DYNO_MODE_PREDICT };
  g_autoptr (GError) error = NULL;
  DynoGraph *graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  return graph;
}

/* The values of a parameter in a file, which depend on its name and the index. */
static float
value_of (const char *name, guint64 i)
{
  return (float) (g_str_hash (name) % 1000) + (float) (i % 512) / 512;
}

/* Writes a file of a model's weights, with prefix before their names; only: the prefix of the names
 * that are written; more: an additional tensor, or NULL. */
static DynoSafetensors *
write_weights (const char *model, guint32 n_outputs, const char *prefix, const char *only,
               const char *more)
{
  static const float data[2] = { 1, 2 };
  const DynoSafetensor beside = { .name = more,
                                  .type = DYNO_TENSOR_F32,
                                  .n_dims = 1,
                                  .shape = { 2 },
                                  .data = data,
                                  .size_bytes = sizeof data };
  g_autofree char *path = g_build_filename (folder, "w.safetensors", NULL);
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoGraph) graph = build (model, n_outputs, 0.25);
  g_autoptr (DynoWeights) weights = dyno_weights_new (graph, NULL);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      for (guint64 k = 0; k < dyno_parameter_count (parameter); k++)
        weights->values[i][k] = value_of (parameter->name, k);
    }
  weights->batches_tracked = 77;
  dyno_weights_list (weights, graph, prefix, FALSE, TRUE, tensors, names);
  for (guint i = tensors->len; i-- > 0;)
    if (!g_str_has_prefix (g_array_index (tensors, DynoSafetensor, i).name, only))
      g_array_remove_index (tensors, i);
  if (more)
    g_array_append_val (tensors, beside);
  g_assert_true (dyno_safetensors_write (path, (const DynoSafetensor *) (gpointer) tensors->data,
                                         tensors->len, NULL, &error));
  DynoSafetensors *file = dyno_safetensors_open (path, 0, &error);
  g_assert_no_error (error);
  return file;
}

static DynoWeights *
untouched (DynoGraph *graph)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  DynoWeights *weights = dyno_weights_new (graph, NULL);

  for (guint i = 0; i < parameters->len; i++)
    for (guint64 k = 0; k < dyno_parameter_count (parameters->pdata[i]); k++)
      weights->values[i][k] = UNTOUCHED;
  return weights;
}

/* Each parameter under `ours` has the values of the same name under `theirs`; the others have
 * values only where those of their own names were given.  Returns the number of the former. */
static guint
check_values (DynoGraph *graph, const DynoWeights *weights, const char *ours, const char *theirs)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  guint n = 0;

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      gboolean filled = g_str_has_prefix (parameter->name, ours);
      g_autofree char *there =
          filled ? g_strconcat (theirs, parameter->name + strlen (ours), NULL) : NULL;
      n += filled;
      for (guint64 k = 0; k < dyno_parameter_count (parameter); k++)
        g_assert_cmpfloat (weights->values[i][k], ==, filled ? value_of (there, k) : UNTOUCHED);
    }
  return n;
}

static void
test_classifiers (void)
{
  static const struct {
    const char *model, *classifier, *prefix, *ours, *theirs;
  } rows[] = {
    { "unet_resnet18", "resnet18", "", "encoder.", "" },
    { "unet_resnet34", "resnet34", "module.", "encoder.", "" },
    { "fcn_resnet50", "resnet50", "", "backbone.", "" },
    { "deeplabv3_resnet50", "resnet50", "model.", "backbone.", "" },
    { "lraspp_mobilenet_v3_large", "mobilenet_v3_large", "", "backbone.", "features." },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoSafetensors) file =
          write_weights (rows[i].classifier, 7, rows[i].prefix, "", NULL);
      g_autoptr (DynoGraph) graph = build (rows[i].model, 3, 0.25);
      g_autoptr (DynoWeights) weights = untouched (graph);
      g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      gboolean is_new = FALSE;
      guint n_all = dyno_graph_get_parameters (graph)->len;

      g_test_message ("%s", rows[i].model);
      g_assert_cmpuint (dyno_weights_count_outputs (graph, file), ==, 0);
      dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_MAY_DIFFER, &is_new, notes,
                         &error);
      g_assert_no_error (error);
      guint n = check_values (graph, weights, rows[i].ours, rows[i].theirs);
      g_autofree char *words = g_strdup_printf (
          "“w” fills the part “%.*s” of this model, %u of its %u tensors; the rest "
          "starts anew",
          (int) strlen (rows[i].ours) - 1, rows[i].ours, n, n_all);
      g_assert_true (is_new);
      g_assert_cmpuint (weights->batches_tracked, ==, 77);
      g_assert_cmpuint (notes->len, ==, 2);
      g_assert_cmpstr (notes->pdata[0], ==, words);
      g_assert_nonnull (strstr (notes->pdata[1], "Not used of “w”: "));
      g_assert_nonnull (strstr (notes->pdata[1], i == 4 ? "classifier.3.bias" : "fc.bias"));
    }
}

/* The file has only the encoder of the same model, without its last layer and decoder. */
static void
test_encoder_only (void)
{
  g_autoptr (DynoSafetensors) file = write_weights ("unet_resnet18", 3, "", "encoder.", NULL);
  g_autoptr (DynoGraph) graph = build ("unet_resnet18", 3, 0.25);
  g_autoptr (DynoWeights) weights = untouched (graph);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_MAY_DIFFER, NULL, notes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (notes->len, ==, 1);
  check_values (graph, weights, "encoder.", "encoder.");
}

/* A classifier's file is not a whole model for prediction; a file of another width has other
 * shapes; and a part of the decoder is not enough. */
static void
test_refused (void)
{
  g_autoptr (DynoGraph) graph = build ("unet_resnet18", 3, 0.25),
                        wider = build ("unet_resnet18", 3, 0.5);
  g_autoptr (DynoWeights) weights = untouched (graph), more = untouched (wider);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoSafetensors) file = write_weights ("resnet18", 7, "", "", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_false (
      dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_FITS, NULL, notes, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
  g_assert_nonnull (strstr (error->message, "it has no tensor “encoder.conv1.weight”"));
  g_clear_error (&error);
  g_assert_false (dyno_weights_load (more, wider, file, "w", DYNO_WEIGHTS_HEAD_MAY_DIFFER, NULL,
                                     notes, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
  g_assert_nonnull (strstr (error->message, "tensor “conv1.weight” is (16, 3, 7, 7) there and (32, "
                                            "3, 7, 7) in the model"));
  g_clear_error (&error);
  g_autoptr (DynoSafetensors) part =
      write_weights ("unet_resnet18", 3, "", "encoder.", "decoder.blocks.0.conv1.1.bias");
  g_assert_false (dyno_weights_load (weights, graph, part, "w", DYNO_WEIGHTS_HEAD_MAY_DIFFER, NULL,
                                     notes, &error));
  g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
  g_assert_nonnull (strstr (error->message, "it has no tensor “decoder.blocks.0.conv1.0.weight”"));
  g_clear_error (&error);
  /* The last tensor that is missing is of a batch norm, and the first is not. */
  g_autoptr (DynoGraph) classifier = build ("resnet18", 7, 0.25);
  g_autoptr (DynoWeights) own = untouched (classifier);
  g_autoptr (DynoSafetensors) head = write_weights ("resnet18", 7, "", "fc.", NULL);
  g_assert_false (
      dyno_weights_load (own, classifier, head, "w", DYNO_WEIGHTS_HEAD_FITS, NULL, notes, &error));
  g_assert_nonnull (strstr (error->message, "it has no tensor “conv1.weight”"));
  g_assert_null (strstr (error->message, "folded"));
}

/* Of two prefixes of the same length, as those of a student and its teacher, the first is taken. */
static void
test_first_of_two_prefixes (void)
{
  g_autoptr (DynoSafetensors) file = write_weights ("resnet18", 7, "a.", "", "b.conv1.weight");
  g_autoptr (DynoGraph) graph = build ("resnet18", 7, 0.25);
  g_autoptr (DynoWeights) weights = untouched (graph);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_FITS, NULL, notes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (notes->len, ==, 1);
  g_assert_cmpstr (notes->pdata[0], ==, "Not used of “w”: “b.conv1.weight”");
  g_assert_cmpuint (check_values (graph, weights, "", ""), ==,
                    dyno_graph_get_parameters (graph)->len);
}

/* The auxiliary classifier in torchvision's files is not part of the model. */
static void
test_auxiliary (void)
{
  g_autoptr (DynoSafetensors) file =
      write_weights ("fcn_resnet50", 3, "", "", "aux_classifier.4.bias");
  g_autoptr (DynoGraph) graph = build ("fcn_resnet50", 3, 0.25);
  g_autoptr (DynoWeights) weights = untouched (graph);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;

  dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_FITS, NULL, notes, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (notes->len, ==, 1);
  g_assert_cmpstr (notes->pdata[0], ==, "Not used of “w”: “aux_classifier.4.bias”");
  g_assert_cmpuint (check_values (graph, weights, "", ""), ==,
                    dyno_graph_get_parameters (graph)->len);
}

/* Other classes: both layers whose outputs are added are initialised, or take the rows of classes
 * with the same names. */
static void
test_two_layers (void)
{
  const guint32 rows[] = { 4, G_MAXUINT32 };
  g_autoptr (DynoSafetensors) file = write_weights ("lraspp_mobilenet_v3_large", 5, "", "", NULL);
  g_autoptr (DynoGraph) graph = build ("lraspp_mobilenet_v3_large", 2, 0.25);
  g_autoptr (DynoWeights) weights = untouched (graph);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  gboolean is_new = FALSE;
  DynoHead head;

  g_assert_true (dyno_network_get_head (graph, &head));
  const DynoParameter *const parts[] = { head.weight, head.bias, head.added_weight,
                                         head.added_bias };
  dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_MAY_DIFFER, &is_new, notes,
                     &error);
  g_assert_no_error (error);
  g_assert_true (is_new);
  g_assert_nonnull (strstr (notes->pdata[0], "“w” has 5 outputs, this model 2"));
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_assert_cmpfloat (weights->values[parts[i]->index][0], ==, UNTOUCHED);
  g_assert_cmpfloat (weights->values[0][0], ==, value_of ("backbone.0.0.weight", 0));
  g_assert_cmpuint (dyno_weights_count_outputs (graph, file), ==, 5);
  dyno_weights_load_rows (weights, graph, file, "w", rows, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      guint64 inner = dyno_parameter_count (parts[i]) / 2;
      const float *values = weights->values[parts[i]->index];
      g_assert_cmpfloat (values[0], ==, value_of (parts[i]->name, 4 * inner));
      g_assert_cmpfloat (values[inner], ==, UNTOUCHED);
    }
}

int
main (int argc, char **argv)
{
  int code;

  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("dyno-backbones-XXXXXX", NULL);
  g_test_add_func ("/weights/backbones/a-classifier-fills-the-backbone", test_classifiers);
  g_test_add_func ("/weights/backbones/an-encoder-of-its-own", test_encoder_only);
  g_test_add_func ("/weights/backbones/refused-where-more-is-missing", test_refused);
  g_test_add_func ("/weights/backbones/first-of-two-prefixes", test_first_of_two_prefixes);
  g_test_add_func ("/weights/backbones/auxiliary-tensors-are-left-unused", test_auxiliary);
  g_test_add_func ("/weights/backbones/two-last-layers-start-anew", test_two_layers);
  code = g_test_run ();
  g_autofree char *path = g_build_filename (folder, "w.safetensors", NULL);
  g_unlink (path);
  g_rmdir (folder);
  g_free (folder);
  return code;
}
