/* SPDX-License-Identifier: MIT */
/* Weights that others trained, in training and prediction: their names, their types, their
 * metadata. */
#include "classrows.h"
#include "network.h"
#include "timmnames.h"
#include "train-test.h"
#include "weightsfile.h"
#include "weightsinfo.h"
#include <math.h>
#include <string.h>

#define SHAPES "builtin:shapes?size=16&samples=32&classes=3"

/* --- timm's names ----------------------------------------------------------------------------- */

/* A file being made: tensors under timm's names, each filled with its own number, and that number
 * by torchvision's name. */
typedef struct {
  GArray *tensors;
  GPtrArray *owned;   /* names and data */
  GHashTable *number; /* char * to guint */
} Timm;

static void
add_tensor (Timm *timm, const char *theirs, const char *ours, guint n_dims, const guint *shape)
{
  guint64 count = 1;
  guint number = timm->tensors->len + 1;
  DynoSafetensor tensor = { .type = DYNO_TENSOR_F32, .n_dims = n_dims };
  float *data;

  for (guint i = 0; i < n_dims; i++)
    count *= tensor.shape[i] = shape[i];
  data = g_new (float, count);
  for (guint64 i = 0; i < count; i++)
    data[i] = (float) number;
  tensor.name = g_strdup (theirs);
  tensor.data = data;
  tensor.size_bytes = count * sizeof (float);
  g_ptr_array_add (timm->owned, (gpointer) tensor.name);
  g_ptr_array_add (timm->owned, data);
  g_array_append_val (timm->tensors, tensor);
  g_hash_table_insert (timm->number, g_strdup (ours), GUINT_TO_POINTER (number));
}

static void
add_member (Timm *timm, const char *theirs, const char *ours, const char *member, guint n_dims,
            const guint *shape)
{
  g_autofree char *a = g_strconcat (theirs, ".", member, NULL),
                  *b = g_strconcat (ours, ".", member, NULL);

  add_tensor (timm, a, b, n_dims, shape);
}

static void
add_conv (Timm *timm, const char *module, const char *theirs, const char *ours, guint out, guint in,
          guint kernel, gboolean bias)
{
  g_autofree char *whole = g_strconcat (module, theirs, NULL);
  const guint shape[] = { out, in, kernel, kernel };

  add_member (timm, whole, ours, "weight", 4, shape);
  if (bias)
    add_member (timm, whole, ours, "bias", 1, shape);
}

static void
add_norm (Timm *timm, const char *module, const char *theirs, const char *ours, guint c)
{
  static const char *const members[] = { "weight", "bias", "running_mean", "running_var" };
  g_autofree char *whole = g_strconcat (module, theirs, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    add_member (timm, whole, ours, members[i], 1, &c);
}

/* Adds a block of timm's; ours: torchvision's name before its numbers.  Without an expansion it is
 * DepthwiseSeparableConv, otherwise InvertedResidual. */
static void
add_block (Timm *timm, const char *module, const char *ours, guint expand, guint kernel, guint in,
           guint out, gboolean squeeze)
{
  guint wide = in * expand, at = 0, norm = 1;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *bn = NULL;

#define NAME(...)                                                \
  (g_ptr_array_add (names, g_strdup_printf ("%s." __VA_ARGS__)), \
   (const char *) g_ptr_array_index (names, names->len - 1))
  if (expand > 1)
    {
      add_conv (timm, module, "conv_pw", NAME ("0.0", ours), wide, in, 1, FALSE);
      add_norm (timm, module, "bn1", NAME ("0.1", ours), wide);
      at = 1, norm = 2;
    }
  add_conv (timm, module, "conv_dw", NAME ("%u.0", ours, at), wide, 1, kernel, FALSE);
  bn = g_strdup_printf ("bn%u", norm);
  add_norm (timm, module, bn, NAME ("%u.1", ours, at), wide);
  at++;
  if (squeeze)
    {
      add_conv (timm, module, "se.conv_reduce", NAME ("%u.fc1", ours, at), in / 4, wide, 1, TRUE);
      add_conv (timm, module, "se.conv_expand", NAME ("%u.fc2", ours, at), wide, in / 4, 1, TRUE);
      at++;
    }
  /* torchvision's last convolution of a block has no activation, and in MobileNetV2 is no module of
   * its own either. */
  add_conv (timm, module, expand > 1 ? "conv_pwl" : "conv_pw",
            squeeze ? NAME ("%u.0", ours, at) : NAME ("%u", ours, at), out, wide, 1, FALSE);
  add_norm (timm, module, expand > 1 ? "bn3" : "bn2",
            squeeze ? NAME ("%u.1", ours, at) : NAME ("%u", ours, at + 1), out);
#undef NAME
}

static void
add_network (Timm *timm, const char *prefix, gboolean efficientnet)
{
  /* kernel, channels and blocks of timm's decode_arch_def */
  static const guint mobile[][3] = { { 3, 16, 1 }, { 3, 24, 2 },  { 3, 32, 3 }, { 3, 64, 4 },
                                     { 3, 96, 3 }, { 3, 160, 3 }, { 3, 320, 1 } },
                     efficient[][3] = { { 3, 16, 1 },  { 3, 24, 2 },  { 5, 40, 2 }, { 3, 80, 3 },
                                        { 5, 112, 3 }, { 5, 192, 4 }, { 3, 320, 1 } };
  guint in = 32, feature = 1;
  const guint head[] = { 7, 1280 };
  g_autofree char *classifier = g_strconcat (prefix, "classifier", NULL);

  add_conv (timm, prefix, "conv_stem", "features.0.0", 32, 3, 3, FALSE);
  add_norm (timm, prefix, "bn1", "features.0.1", 32);
  for (guint s = 0; s < 7; s++)
    {
      const guint *stage = efficientnet ? efficient[s] : mobile[s];
      for (guint n = 0; n < stage[2]; n++)
        {
          g_autofree char *module = g_strdup_printf ("%sblocks.%u.%u.", prefix, s, n),
                          *ours = efficientnet ? g_strdup_printf ("features.%u.%u.block", s + 1, n)
                                               : g_strdup_printf ("features.%u.conv", feature++);

          add_block (timm, module, ours, s == 0 ? 1 : 6, stage[0], in, stage[1], efficientnet);
          in = stage[1];
        }
    }
  add_conv (timm, prefix, "conv_head", efficientnet ? "features.8.0" : "features.18.0", 1280, in, 1,
            FALSE);
  add_norm (timm, prefix, "bn2", efficientnet ? "features.8.1" : "features.18.1", 1280);
  add_member (timm, classifier, "classifier.1", "weight", 2, head);
  add_member (timm, classifier, "classifier.1", "bias", 1, head);
}

static DynoGraph *
build (const char *model, guint n_classes)
{
  DynoNetworkParams params = { .model = model,
                               .batch = 1,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, n_classes),
                               .n_outputs = n_classes,
                               .mode = DYNO_MODE_PREDICT };
  g_autoptr (GError) error = NULL;
  DynoGraph *graph = dyno_network_build (&params, &error);

  g_assert_no_error (error);
  return graph;
}

/* Every tensor of timm's file gets torchvision's name, and none is left; with other classes than
 * the model's, all but the last layer. */
static void
check_timm (gboolean efficientnet, const char *prefix, guint n_classes, guint n_tensors)
{
  g_autofree char *folder = test_folder (), *path = g_build_filename (folder, "w", NULL);
  Timm timm = { g_array_new (FALSE, FALSE, sizeof (DynoSafetensor)),
                g_ptr_array_new_with_free_func (g_free),
                g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  g_autoptr (DynoGraph) graph = build (efficientnet ? "efficientnet_b0" : "mobilenetv2", n_classes);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (DynoWeights) weights = dyno_weights_new (graph, NULL);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  gboolean head_is_new;

  add_network (&timm, prefix, efficientnet);
  g_assert_cmpuint (timm.tensors->len, ==, n_tensors);
  dyno_safetensors_write (path, (const DynoSafetensor *) (gpointer) timm.tensors->data,
                          timm.tensors->len, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, &error);
  g_assert_no_error (error);
  dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_MAY_DIFFER, &head_is_new, notes,
                     &error);
  g_assert_no_error (error);
  g_assert_cmpint (head_is_new, ==, n_classes != 7);
  g_assert_cmpuint (notes->len, ==, n_classes != 7);
  if (head_is_new)
    g_assert_nonnull (strstr (notes->pdata[0], "has 7 outputs, this model"));
  g_assert_cmpuint (parameters->len, ==, n_tensors);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      gboolean fresh = head_is_new && g_str_has_prefix (parameter->name, "classifier");
      guint number = GPOINTER_TO_UINT (g_hash_table_lookup (timm.number, parameter->name));

      g_assert_cmpuint (number, >, 0);
      for (guint64 k = 0; k < dyno_parameter_count (parameter); k++)
        g_assert_cmpfloat (weights->values[i][k], ==, fresh ? 0 : (float) number);
    }
  g_array_unref (timm.tensors);
  g_ptr_array_unref (timm.owned);
  g_hash_table_unref (timm.number);
  test_remove_tree (folder);
}

static void
test_timm_mobilenetv2 (void)
{
  check_timm (FALSE, "", 7, 262);
  check_timm (FALSE, "model.", 3, 262);
}

static void
test_timm_efficientnet_b0 (void)
{
  check_timm (TRUE, "", 7, 311);
  check_timm (TRUE, "model.", 3, 311);
}

/* ViT-B has torchvision's names, ViT-Small timm's, which map one to one. */
static void
test_timm_vit (void)
{
  g_autoptr (DynoGraph) ours = build ("vit_b_16", 7), theirs = build ("vit_small_patch16_224", 7);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *a = dyno_graph_get_parameters (ours), *b = dyno_graph_get_parameters (theirs);

  for (guint i = 0; i < b->len; i++)
    g_hash_table_add (names, ((const DynoParameter *) b->pdata[i])->name);
  g_assert_cmpuint (a->len, ==, 152);
  for (guint i = 0; i < a->len; i++)
    {
      const DynoParameter *parameter = a->pdata[i];
      g_autofree char *name = dyno_timm_find_tensor (parameter->name);

      g_assert_nonnull (name);
      if (!g_hash_table_remove (names, name))
        g_error ("%s: timm has no other %s", parameter->name, name);
    }
  g_assert_cmpuint (g_hash_table_size (names), ==, 0);
  g_autofree char *qkv = dyno_timm_find_tensor (
                      "encoder.layers.encoder_layer_10.self_attention.in_proj_weight"),
                  *second = dyno_timm_find_tensor ("encoder.layers.encoder_layer_2.ln_2.bias"),
                  *hidden = dyno_timm_find_tensor ("encoder.layers.encoder_layer_2.mlp.0.bias");
  g_assert_cmpstr (qkv, ==, "blocks.10.attn.qkv.weight");
  g_assert_cmpstr (second, ==, "blocks.2.norm2.bias");
  g_assert_cmpstr (hidden, ==, "blocks.2.mlp.fc1.bias");
}

/* Names that resemble timm's, and are not. */
static void
test_timm_other_names (void)
{
  static const char *const others[] = {
    "conv1.weight",
    "0.weight",
    "features.0.weight",
    "features.",
    "features.1.",
    "features.x.0.bias",
    "features.2.0",
    "features.0.2.weight",
    "features.1.conv.3",
    "features.99999.0.x",
    "features.1.conv.3.weight",
    "classifier.0.weight",
    "features.1.0.block.1",
    "features.2.conv..",
    "features.2.0.block.",
    "classifier",
    "encoder.layers.encoder_layer_2",
    "encoder.layers.encoder_layer_x.ln_1.bias",
    "encoder.layers.encoder_layer_2.ln_3.bias",
  };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      g_autofree char *name = dyno_timm_find_tensor (others[i]);
      g_assert_cmpstr (name, ==, NULL);
    }
}

/* "architecture" of timm's config.json. */
static void
test_timm_models (void)
{
  static const struct {
    const char *theirs, *ours;
    double width;
  } rows[] = {
    { "mobilenetv2_100", "mobilenetv2", 1 },
    { "mobilenetv2_100.ra_in1k", "mobilenetv2", 1 },
    { "mobilenetv2_050.lamb_in1k", "mobilenetv2", 0.5 },
    { "efficientnet_b0", "efficientnet_b0", 1 },
    { "efficientnet_b0.ra4_e3600_r224_in1k", "efficientnet_b0", 1 },
    { "resnet18.a1_in1k", "resnet18", 1 },
    { "vit_tiny_patch16_224.augreg_in21k", "vit_tiny_patch16_224", 1 },
    { "vit_base_patch16_224", "vit_b_16", 1 },
    { "deit_small_patch16_224.fb_in1k", "vit_small_patch16_224", 1 },
    { "vit_base_patch32_224", NULL, 1 },
    { "tf_efficientnet_b0.ns_jft_in1k", NULL, 1 },
    { "mobilenetv2_110d", NULL, 1 },
    { "", NULL, 1 },
    { ".a1_in1k", NULL, 1 },
  };
  g_autofree char *folder = test_folder (),
                  *config = g_build_filename (folder, "config.json", NULL),
                  *path = g_build_filename (folder, "w", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"architecture\": \"%s\"}", rows[i].theirs);
      g_autoptr (DynoWeightsInfo) info = g_new0 (DynoWeightsInfo, 1);
      g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);

      info->model_width = 1;
      g_assert_true (g_file_set_contents (config, text, -1, NULL));
      dyno_weights_info_complete (info, path, notes);
      g_assert_cmpstr (info->model, ==, rows[i].ours);
      g_assert_cmpfloat (info->model_width, ==, rows[i].width);
    }
  test_remove_tree (folder);
}

/* --- types ------------------------------------------------------------------------------------ */

/* 0.5, -2, the smallest and the largest normal number of each type, and one between two floats. */
static void
test_values_of_other_types (void)
{
  static const guint16 halves[] = { 0x3800, 0xc000, 0x0400, 0x7bff, 0x0001 },
                       brains[] = { 0x3f00, 0xc000, 0x0080, 0x7f7f, 0x3eab };
  static const double doubles[] = { 0.5, -2, 0x1p-126, 0x1.fffffep127, 1.0 / 3 };
  static const struct {
    DynoTensorType type;
    gsize element;
    gconstpointer data;
    float values[5];
  } rows[] = {
    { DYNO_TENSOR_F16, 2, halves, { 0.5f, -2, 0x1p-14f, 65504, 0x1p-24f } },
    { DYNO_TENSOR_BF16, 2, brains, { 0.5f, -2, 0x1p-126f, 0x1.fep127f, 0.333984375f } },
    { DYNO_TENSOR_F64, 8, doubles, { 0.5f, -2, 0x1p-126f, 0x1.fffffep127f, 1.0f / 3 } },
  };
  g_autofree char *folder = test_folder (), *path = g_build_filename (folder, "w", NULL);
  g_autoptr (DynoGraph) graph = build ("mlp", 5);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  guint last = parameters->len - 1; /* the bias of the classes */

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoWeights) weights = dyno_weights_new (graph, NULL);
      g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free),
                            notes = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      DynoSafetensor *bias;

      dyno_weights_list (weights, graph, "", FALSE, FALSE, tensors, names);
      bias = &g_array_index (tensors, DynoSafetensor, last);
      bias->type = rows[i].type;
      bias->data = rows[i].data;
      bias->size_bytes = 5 * rows[i].element;
      dyno_safetensors_write (path, (const DynoSafetensor *) (gpointer) tensors->data, tensors->len,
                              NULL, &error);
      g_assert_no_error (error);
      g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, &error);
      g_assert_no_error (error);
      dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_FITS, NULL, notes, &error);
      g_assert_no_error (error);
      for (guint k = 0; k < 5; k++)
        g_assert_cmpfloat (weights->values[last][k], ==, rows[i].values[k]);
    }
  test_remove_tree (folder);
}

/* A NaN makes every output NaN: the file is refused, and the tensor named. */
static void
test_numbers_that_are_none (void)
{
  static const guint16 half_infinite[5] = { 0x3800, 0, 0, 0x7c00, 0x7e00 };
  static const float nan_third[5] = { 1, 2, NAN, 4, 5 };
  static const double too_large[5] = { 1, 2, 3, 4, 1e300 };
  static const struct {
    DynoTensorType type;
    gsize element;
    gconstpointer data;
    const char *words;
  } rows[] = {
    { DYNO_TENSOR_F32, 4, nan_third,
      "“w”: 1 of 5 numbers of tensor “%s” are not finite, the first, at 2, is nan" },
    { DYNO_TENSOR_F16, 2, half_infinite,
      "2 of 5 numbers of tensor “%s” are not finite, the first, at 3, is inf" },
    { DYNO_TENSOR_F64, 8, too_large, "1 of 5 numbers of tensor “%s”" },
  };
  g_autofree char *folder = test_folder (), *path = g_build_filename (folder, "w", NULL);
  g_autoptr (DynoGraph) graph = build ("mlp", 5);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  guint last = parameters->len - 1; /* the bias of the classes */

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (DynoWeights) weights = dyno_weights_new (graph, NULL);
      g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free),
                            notes = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      g_auto (GStrv) words = g_strsplit (rows[i].words, "%s", 2);
      DynoSafetensor *bias;

      dyno_weights_list (weights, graph, "", FALSE, FALSE, tensors, names);
      bias = &g_array_index (tensors, DynoSafetensor, last);
      bias->type = rows[i].type;
      bias->data = rows[i].data;
      bias->size_bytes = 5 * rows[i].element;
      g_assert_true (dyno_safetensors_write (
          path, (const DynoSafetensor *) (gpointer) tensors->data, tensors->len, NULL, &error));
      g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, &error);
      g_assert_no_error (error);
      g_assert_false (dyno_weights_load (weights, graph, file, "w", DYNO_WEIGHTS_HEAD_FITS, NULL,
                                         notes, &error));
      g_assert_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_CHECKPOINT);
      g_assert_nonnull (strstr (error->message, words[0]));
      g_assert_nonnull (strstr (error->message, words[1]));
      g_assert_nonnull (strstr (error->message, ((DynoParameter *) parameters->pdata[last])->name));
    }
  test_remove_tree (folder);
}

/* --- their metadata --------------------------------------------------------------------------- */

/* Trains, and returns the path of the run's weights. */
static char *
train_weights (const char *folder, const char *data)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", data);
  g_auto (TestRun) run = { 0 };
  char *weights = g_build_filename (folder, "weights.safetensors", NULL);

  job->weights_out = g_strdup (weights);
  test_job_set (job, "data.val_split=0", NULL);
  job->max_steps = 1;
  test_run_good (&run, job);
  return weights;
}

/* Writes the same tensors with other metadata. */
static void
copy_with (const char *from, const char *to, const char *const *metadata)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (from, 0, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    g_array_append_vals (rows, dyno_safetensors_get (file, i), 1);
  dyno_safetensors_write (to, (const DynoSafetensor *) (gpointer) rows->data, rows->len, metadata,
                          &error);
  g_assert_no_error (error);
}

static void
start_from (TestRun *run, const char *weights, const char *data)
{
  g_autoptr (DynoJob) job = test_job ("simplecnn", data);

  job->weights_in = g_strdup (weights);
  test_job_set (job, "data.val_split=0", NULL);
  job->max_steps = 1;
  test_run_good (run, job);
}

/* If the file has no description of its input, training reports its own. */
static void
test_says_what_is_fed (void)
{
  g_autofree char *folder = test_folder (), *weights = train_weights (folder, SHAPES),
                  *plain = g_build_filename (folder, "plain", NULL);
  const char *const metadata[] = { "format", "pt", NULL };
  g_auto (TestRun) own = { 0 };
  g_auto (TestRun) theirs = { 0 };

  copy_with (weights, plain, metadata);
  start_from (&own, weights, SHAPES);
  g_assert_cmpuint (own.warnings->len, ==, 0);
  start_from (&theirs, plain, SHAPES);
  g_assert_cmpuint (theirs.warnings->len, ==, 1);
  g_assert_true (test_has_warning (&theirs, "does not state how its input is normalised"));
  g_assert_true (test_has_warning (&theirs, "it is fed bytes / 255, less mean 0.33 "));
  test_remove_tree (folder);
}

/* --- classes by their names ------------------------------------------------------------------- */

/* Reads the tensor whose name ends with `ending` from a weights file; values are consecutive. */
static float *
read_ending (const char *path, const char *ending, gsize *n_bytes)
{
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, NULL);

  for (guint i = 0; i < dyno_safetensors_get_count (file); i++)
    {
      const DynoSafetensor *tensor = dyno_safetensors_get (file, i);
      if (g_str_has_suffix (tensor->name, ending))
        {
          *n_bytes = tensor->size_bytes;
          return g_memdup2 (tensor->data, tensor->size_bytes);
        }
    }
  g_assert_not_reached ();
}

/* The file's classes are in a random order, and one is unknown here if lacks is TRUE: each class of
 * the data set gets its own row, whatever their number; the others are initialised and listed. */
static void
check_rows (const char *data, guint n_here, gboolean lacks)
{
  static const char *const shapes[] = { "circle", "square", "triangle" };
  g_autofree char *folder = test_folder (), *weights = train_weights (folder, SHAPES),
                  *other = g_build_filename (folder, "other", NULL),
                  *out = g_build_filename (folder, "out", NULL);
  g_autoptr (DynoJob) job = test_job ("simplecnn", data);
  g_auto (TestRun) run = { 0 };
  const char *names[3];
  guint place[3], shift = (guint) g_test_rand_int_range (1, 3);

  for (guint i = 0; i < 3; i++)
    {
      place[i] = (i + shift) % 3;
      names[place[i]] = lacks && i == 1 ? "cat" : shapes[i];
    }
  g_autofree char *list =
      g_strdup_printf ("[\"%s\", \"%s\", \"%s\"]", names[0], names[1], names[2]);
  const char *metadata[] = { "outputs", "3", "classes", list, NULL };
  copy_with (weights, other, metadata);
  job->weights_in = g_strdup (other);
  job->weights_out = g_strdup (out);
  job->max_steps = 1;
  test_job_set (job, "data.val_split=0", "lr=0", NULL);
  test_run_good (&run, job);
  for (guint part = 0; part < 2; part++)
    {
      const char *ending = part ? "18.bias" : "18.weight";
      gsize n_there, n_bytes, row;
      g_autofree float *there = read_ending (other, ending, &n_there),
                       *here = read_ending (out, ending, &n_bytes);

      row = n_there / 3 / sizeof (float);
      g_assert_cmpuint (n_bytes, ==, row * n_here * sizeof (float));
      for (guint i = 0; i < 3; i++)
        if (lacks && i == 1)
          g_assert_true (memcmp (here + i * row, there + place[i] * row, row * sizeof (float)));
        else
          g_assert_cmpmem (here + i * row, row * sizeof (float), there + place[i] * row,
                           row * sizeof (float));
    }
  g_assert_true (test_has_warning (&run, lacks ? "kept: “circle”, “triangle”"
                                               : "kept: “circle”, “square”, “triangle”"));
  g_assert_true (test_has_warning (&run, "start anew: “") == (lacks || n_here > 3));
  g_assert_true (test_has_warning (&run, "start anew: “square”") == lacks);
  g_assert_true (test_has_warning (&run, "not used: “cat”") == lacks);
  g_assert_false (test_has_warning (&run, "its classes are others"));
  g_assert_false (test_has_warning (&run, "outputs, this model"));
  test_remove_tree (folder);
}

/* The first twenty classes are named, and the others, if there are any, are counted. */
static void
test_many_classes_are_counted (void)
{
  for (guint n = 20; n <= 21; n++)
    {
      g_auto (GStrv) there = g_new0 (char *, n + 2), here = g_new0 (char *, n + 2);
      g_autofree guint32 *rows = NULL;
      g_autofree char *text = NULL;

      there[0] = g_strdup ("both");
      here[0] = g_strdup ("both");
      for (guint i = 1; i <= n; i++)
        {
          there[i] = g_strdup_printf ("old %u", i);
          here[i] = g_strdup_printf ("new %u", i);
        }
      rows = dyno_class_rows_match ((const char *const *) there, (const char *const *) here);
      g_assert_nonnull (rows);
      text = dyno_class_rows_describe ("file", (const char *const *) there,
                                       (const char *const *) here, rows);
      g_assert_nonnull (strstr (text, "kept: “both”; start anew: “new 1”, “new 2”, "));
      g_assert_nonnull (strstr (text, n == 20 ? "“new 20”; not used: “old 1”, "
                                              : "“new 20” and 1 more; not used: “old 1”, "));
      g_assert_true (g_str_has_suffix (text, n == 20 ? "“old 20”" : "“old 20” and 1 more"));
    }
}

/* Rows are matched by name as soon as one class is known, unless all are known at their places;
 * classes that are new have no row. */
static void
test_rows_of_classes (void)
{
#define NONE DYNO_CLASS_ROW_NONE
  static const struct {
    const char *there[5], *here[5];
    gboolean matched;
    guint32 rows[4];
  } cases[] = {
    { { "a", "b", "c" }, { "a", "b", "c" }, FALSE, { 0 } },
    { { "a", "b", "c" }, { "x", "y", "z" }, FALSE, { 0 } },
    { { "a", "b", "c" }, { "c", "a", "b" }, TRUE, { 2, 0, 1 } },
    { { "a", "b", "c" }, { "a", "b", "c", "d" }, TRUE, { 0, 1, 2, NONE } },
    { { "a", "b", "c" }, { "a", "aa", "b", "c" }, TRUE, { 0, NONE, 1, 2 } },
    { { "a", "b", "c" }, { "a", "b", "x" }, TRUE, { 0, 1, NONE } },
    { { "a", "b", "c" }, { "x", "y", "c" }, TRUE, { NONE, NONE, 2 } },
    { { "a", "b", "c" }, { "c" }, TRUE, { 2 } },
    { { "a", "b", "a" }, { "b", "a" }, TRUE, { 1, 0 } }, /* of equal names the first */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree guint32 *rows = dyno_class_rows_match (cases[i].there, cases[i].here);

      g_assert_cmpint (rows != NULL, ==, cases[i].matched);
      for (guint k = 0; rows && cases[i].here[k]; k++)
        g_assert_cmpuint (rows[k], ==, cases[i].rows[k]);
    }
#undef NONE
}

static void
test_classes_by_name (void)
{
  check_rows (SHAPES, 3, FALSE);
  check_rows (SHAPES, 3, TRUE);
  check_rows ("builtin:shapes?size=16&samples=64&classes=5", 5, TRUE);
}

/* A file with as many classes, all of other names; then a file with the data set's own classes. */
static void
test_says_that_classes_are_others (void)
{
  g_autofree char *folder = test_folder (), *weights = train_weights (folder, SHAPES),
                  *other = g_build_filename (folder, "other", NULL),
                  *same = g_build_filename (folder, "same", NULL);
  const char *metadata[] = { "outputs", "3", "classes", "[\"dog\", \"cat\", \"bird\"]", NULL };
  g_auto (TestRun) run = { 0 };
  g_auto (TestRun) again = { 0 };

  copy_with (weights, other, metadata);
  metadata[3] = "[\"circle\", \"square\", \"triangle\"]";
  copy_with (weights, same, metadata);
  start_from (&run, other, SHAPES);
  g_assert_true (test_has_warning (&run, "class 0 is “dog” there and “circle” in this data set"));
  g_assert_false (test_has_warning (&run, "starts anew"));
  start_from (&again, same, SHAPES);
  g_assert_false (test_has_warning (&again, "its classes are others"));
  test_remove_tree (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/pretrained/timm-mobilenetv2", test_timm_mobilenetv2);
  g_test_add_func ("/weights/pretrained/timm-efficientnet-b0", test_timm_efficientnet_b0);
  g_test_add_func ("/weights/pretrained/timm-vit", test_timm_vit);
  g_test_add_func ("/weights/pretrained/timm-other-names", test_timm_other_names);
  g_test_add_func ("/weights/pretrained/timm-models", test_timm_models);
  g_test_add_func ("/weights/pretrained/values-of-other-types", test_values_of_other_types);
  g_test_add_func ("/weights/pretrained/numbers-that-are-none", test_numbers_that_are_none);
  g_test_add_func ("/weights/pretrained/says-what-is-fed", test_says_what_is_fed);
  g_test_add_func ("/weights/pretrained/rows-of-classes", test_rows_of_classes);
  g_test_add_func ("/weights/pretrained/classes-are-matched-by-name", test_classes_by_name);
  g_test_add_func ("/weights/pretrained/classes-past-twenty-are-counted",
                   test_many_classes_are_counted);
  g_test_add_func ("/weights/pretrained/says-that-classes-are-others",
                   test_says_that_classes_are_others);
  return g_test_run ();
}
