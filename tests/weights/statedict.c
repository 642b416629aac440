/* SPDX-License-Identifier: MIT */
/* The tensors that load_state_dict (strict=True) requires: those of a weights file are
 * torchvision's, by name, shape and type, and no others.  The rules below describe torchvision's
 * modules, one line for each stage; a wrong name in a model is reported as a missing and as an
 * additional tensor. */
#include "weightsfile.h"
#include "network.h"
#include "safetensors.h"
#include <string.h>

/* Maps the names of torchvision's state dict to "(64, 3, 7, 7)", or "int64" for a scalar. */
typedef GHashTable State;

static void G_GNUC_PRINTF (3, 4) add (State *state, const char *shape, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_hash_table_insert (state, g_strdup_vprintf (format, arguments), g_strdup (shape));
  va_end (arguments);
}

/* in: number of input channels of a group */
static void
conv (State *state, const char *name, guint out, guint in, guint kernel)
{
  g_autofree char *shape = g_strdup_printf ("(%u, %u, %u, %u)", out, in, kernel, kernel);

  add (state, shape, "%s.weight", name);
}

static void
vector (State *state, const char *name, const char *member, guint c)
{
  g_autofree char *shape = g_strdup_printf ("(%u)", c);

  add (state, shape, "%s.%s", name, member);
}

static void
batch_norm (State *state, const char *name, guint c)
{
  static const char *const members[] = { "weight", "bias", "running_mean", "running_var" };

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    vector (state, name, members[i], c);
  add (state, "int64", "%s.num_batches_tracked", name);
}

static void
linear (State *state, const char *name, guint out, guint in)
{
  g_autofree char *shape = g_strdup_printf ("(%u, %u)", out, in);

  add (state, shape, "%s.weight", name);
  vector (state, name, "bias", out);
}

/* A convolution without a bias and the batch norm after it, at `first` and `second` of a module. */
static void
pair (State *state, const char *module, const char *first, const char *second, guint out, guint in,
      guint kernel)
{
  g_autofree char *a = g_strconcat (module, first, NULL), *b = g_strconcat (module, second, NULL);

  conv (state, a, out, in, kernel);
  batch_norm (state, b, out);
}

/* groups: of conv2, which is twice as wide with groups */
static void
resnet (State *state, const guint *blocks, gboolean bottleneck, guint groups)
{
  guint in = 64, expansion = bottleneck ? 4 : 1;

  pair (state, "", "conv1", "bn1", 64, 3, 7);
  for (guint layer = 0; layer < 4; layer++)
    for (guint block = 0; block < blocks[layer]; block++)
      {
        guint out = (64u << layer) * expansion, planes = (groups > 1 ? 128u : 64u) << layer;
        g_autofree char *module = g_strdup_printf ("layer%u.%u.", layer + 1, block);

        pair (state, module, "conv1", "bn1", planes, in, bottleneck ? 1 : 3);
        pair (state, module, "conv2", "bn2", planes, planes / groups, 3);
        if (bottleneck)
          pair (state, module, "conv3", "bn3", out, planes, 1);
        if (in != out || (block == 0 && layer > 0))
          pair (state, module, "downsample.0", "downsample.1", out, in, 1);
        in = out;
      }
  linear (state, "fc", 1000, in);
}

static void
mobilenet_v2 (State *state)
{
  static const guint stages[][3] = { { 1, 16, 1 }, { 6, 24, 2 },  { 6, 32, 3 }, { 6, 64, 4 },
                                     { 6, 96, 3 }, { 6, 160, 3 }, { 6, 320, 1 } };
  guint in = 32, index = 1;

  pair (state, "features.0.", "0", "1", 32, 3, 3);
  for (guint s = 0; s < G_N_ELEMENTS (stages); s++)
    for (guint n = 0; n < stages[s][2]; n++)
      {
        guint wide = in * stages[s][0], out = stages[s][1];
        g_autofree char *module = g_strdup_printf ("features.%u.conv.", index++);

        if (stages[s][0] == 1)
          {
            pair (state, module, "0.0", "0.1", wide, 1, 3);
            pair (state, module, "1", "2", out, wide, 1);
          }
        else
          {
            pair (state, module, "0.0", "0.1", wide, in, 1);
            pair (state, module, "1.0", "1.1", wide, 1, 3);
            pair (state, module, "2", "3", out, wide, 1);
          }
        in = out;
      }
  pair (state, "features.18.", "0", "1", 1280, in, 1);
  linear (state, "classifier.1", 1000, 1280);
}

static void
efficientnet_b0 (State *state)
{
  /* expansion, kernel, channels, blocks */
  static const guint stages[][4] = { { 1, 3, 16, 1 }, { 6, 3, 24, 2 },  { 6, 5, 40, 2 },
                                     { 6, 3, 80, 3 }, { 6, 5, 112, 3 }, { 6, 5, 192, 4 },
                                     { 6, 3, 320, 1 } };
  guint in = 32;

  pair (state, "features.0.", "0", "1", 32, 3, 3);
  for (guint s = 0; s < G_N_ELEMENTS (stages); s++)
    for (guint n = 0; n < stages[s][3]; n++)
      {
        guint wide = in * stages[s][0], out = stages[s][2], at = stages[s][0] > 1,
              squeezed = MAX (1, in / 4);
        g_autofree char *module = g_strdup_printf ("features.%u.%u.block.", s + 1, n),
                        *deep = g_strdup_printf ("%s%u.", module, at),
                        *fc1 = g_strdup_printf ("%s%u.fc1", module, at + 1),
                        *fc2 = g_strdup_printf ("%s%u.fc2", module, at + 1),
                        *last = g_strdup_printf ("%s%u.", module, at + 2);

        if (at)
          pair (state, module, "0.0", "0.1", wide, in, 1);
        pair (state, deep, "0", "1", wide, 1, stages[s][1]);
        conv (state, fc1, squeezed, wide, 1);
        vector (state, fc1, "bias", squeezed);
        conv (state, fc2, wide, squeezed, 1);
        vector (state, fc2, "bias", wide);
        pair (state, last, "0", "1", out, wide, 1);
        in = out;
      }
  pair (state, "features.8.", "0", "1", 1280, in, 1);
  linear (state, "classifier.1", 1000, 1280);
}

/* The tensors of a model's file, without their values; `names` owns their names. */
static GArray *
list_tensors (const char *model, GPtrArray *names)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = { .model = model,
                               .batch = 1,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 1000),
                               .n_outputs = dyno_model_find (model, NULL)->of_pixels ? 21 : 1000,
                               .mode = DYNO_MODE_PREDICT };
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  g_autoptr (DynoWeights) weights = dyno_weights_new (graph, &error);
  GArray *tensors = g_array_new (FALSE, FALSE, sizeof (DynoSafetensor));

  g_assert_no_error (error);
  dyno_weights_list (weights, graph, "", FALSE, TRUE, tensors, names);
  return tensors;
}

/* Removes every tensor of the model's file from state; tensors that remain are missing. */
static void
check (const char *model, State *state)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GArray) tensors = list_tensors (model, names);
  GHashTableIter iter;
  gpointer name;

  for (guint i = 0; i < tensors->len; i++)
    {
      const DynoSafetensor *tensor = &g_array_index (tensors, DynoSafetensor, i);
      g_autoptr (GString) shape = g_string_new (tensor->n_dims ? "(" : "");
      const char *wanted = g_hash_table_lookup (state, tensor->name);

      for (guint d = 0; d < tensor->n_dims; d++)
        g_string_append_printf (shape, "%s%" G_GUINT64_FORMAT, d ? ", " : "", tensor->shape[d]);
      g_string_append (shape, tensor->n_dims ? ")" : "int64");
      g_assert_cmpint (tensor->type, ==, tensor->n_dims ? DYNO_TENSOR_F32 : DYNO_TENSOR_I64);
      if (!wanted)
        g_error ("%s: torchvision has no “%s”", model, tensor->name);
      if (strcmp (wanted, shape->str) != 0)
        g_error ("%s: %s is %s, torchvision's %s", model, tensor->name, shape->str, wanted);
      g_hash_table_remove (state, tensor->name);
    }
  g_hash_table_iter_init (&iter, state);
  if (g_hash_table_iter_next (&iter, &name, NULL))
    g_error ("%s: “%s” of torchvision is missing", model, (const char *) name);
}

static State *
new_state (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

static void
test_resnets (void)
{
  static const struct {
    const char *model;
    guint blocks[4];
    gboolean bottleneck;
    guint n_tensors; /* len (state_dict ()) */
    guint groups;
  } rows[] = { { "resnet18", { 2, 2, 2, 2 }, FALSE, 122, 1 },
               { "resnet34", { 3, 4, 6, 3 }, FALSE, 218, 1 },
               { "resnet50", { 3, 4, 6, 3 }, TRUE, 320, 1 },
               { "resnet101", { 3, 4, 23, 3 }, TRUE, 626, 1 },
               { "resnext50_32x4d", { 3, 4, 6, 3 }, TRUE, 320, 32 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GHashTable) state = new_state ();

      resnet (state, rows[i].blocks, rows[i].bottleneck, rows[i].groups);
      g_assert_cmpuint (g_hash_table_size (state), ==, rows[i].n_tensors);
      check (rows[i].model, state);
    }
}

static void
test_mobilenet_v2 (void)
{
  g_autoptr (GHashTable) state = new_state ();

  mobilenet_v2 (state);
  g_assert_cmpuint (g_hash_table_size (state), ==, 314);
  check ("mobilenetv2", state);
}

static void
test_efficientnet_b0 (void)
{
  g_autoptr (GHashTable) state = new_state ();

  efficientnet_b0 (state);
  g_assert_cmpuint (g_hash_table_size (state), ==, 360);
  check ("efficientnet_b0", state);
}

static void
test_vit_b_16 (void)
{
  g_autoptr (GHashTable) state = new_state ();

  add (state, "(1, 1, 768)", "class_token");
  add (state, "(1, 197, 768)", "encoder.pos_embedding");
  conv (state, "conv_proj", 768, 3, 16);
  vector (state, "conv_proj", "bias", 768);
  for (guint i = 0; i < 12; i++)
    {
      static const char *const norms[] = { "ln_1", "ln_2" };
      g_autofree char *layer = g_strdup_printf ("encoder.layers.encoder_layer_%u", i),
                      *out = g_strconcat (layer, ".self_attention.out_proj", NULL),
                      *first = g_strconcat (layer, ".mlp.0", NULL),
                      *second = g_strconcat (layer, ".mlp.3", NULL);

      for (guint k = 0; k < G_N_ELEMENTS (norms); k++)
        {
          g_autofree char *norm = g_strdup_printf ("%s.%s", layer, norms[k]);
          vector (state, norm, "weight", 768);
          vector (state, norm, "bias", 768);
        }
      add (state, "(2304, 768)", "%s.self_attention.in_proj_weight", layer);
      add (state, "(2304)", "%s.self_attention.in_proj_bias", layer);
      linear (state, out, 768, 768);
      linear (state, first, 3072, 768);
      linear (state, second, 768, 3072);
    }
  vector (state, "encoder.ln", "weight", 768);
  vector (state, "encoder.ln", "bias", 768);
  linear (state, "heads.head", 1000, 768);
  g_assert_cmpuint (g_hash_table_size (state), ==, 152);
  check ("vit_b_16", state);
}

/* Names, shapes and order of state_dict () of torchvision's models, without an auxiliary classifier, and
 * of segmentation_models_pytorch's U-Nets, these of 21 classes, by SHA-256 of its lines in Python:
 *     "%s %s\n" % (name, list (tensor.shape)) */
static void
test_digests (void)
{
  static const struct {
    const char *model;
    guint n_tensors;
    const char *digest;
  } rows[] = {
    { "resnet18", 122, "02568eab318c210f0d857b7e345cc37b86e30b66a49663acb8af1653c0d25830" },
    { "efficientnet_b0", 360, "1e1b1b0d5263f19c8d6a7329eea147e4042c11bbdc6e9951f00e10ddd2e03631" },
    { "mobilenet_v3_small", 244,
      "35d37abdb2f5f3977ca26fee3b7c16ce3a59b706a2f0bc10768534a9fbc6b1f9" },
    { "mobilenet_v3_large", 312,
      "dcd929075d7ba21fb82be02ef441f20962fa05e2c3435d62f97723089fd3c2fd" },
    { "regnet_y_400mf", 384, "c325f26b3b59b48a05ec3f47b1039d49eb015de59801eff15751808139a21e36" },
    { "regnet_x_400mf", 428, "2d9c3803e9d2ec92de1f460b95c715123a6c156e89d40dd076e45c3e30691c7f" },
    { "densenet121", 727, "590913c7c269d76d77aa7acde8b0d37d813b49d3bdeaca40e7cba1113b39795c" },
    { "efficientnet_v2_s", 782,
      "63e9ff6082713ca95539f65717d2d22138d49a857f0b7aeec289857562bc8563" },
    { "unet_resnet18", 182, "63a3799bd3a4defc830cc5bea4228be924c3e96965c2e66a8e0c78eae0f35de0" },
    { "unet_resnet34", 278, "fef9bb53248844872e93716e59f49310d224625a0a6b3650cac1afa0725acd9e" },
    { "fcn_resnet50", 326, "4e505cfb785be558a0d078718ea3d49c3377161c693747169cf498253dd0b006" },
    { "deeplabv3_resnet50", 362,
      "3c1f4cd1e3f43b5700f5e9f4ed575c78d936f8af8e12a6d892df7ccfe856c557" },
    { "lraspp_mobilenet_v3_large", 319,
      "4fd0ec0ff5ff9295d29e6bc2f79602c9125bcbd2e3cac3735d7a3954b4e520eb" },
    { "convnext_tiny", 182, "a79f56461a2cd188ec99525abe5ca10f25cc9f722683489212465fb50ad6f321" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GArray) tensors = list_tensors (rows[i].model, names);
      g_autoptr (GString) text = g_string_new (NULL);

      for (guint k = 0; k < tensors->len; k++)
        {
          const DynoSafetensor *tensor = &g_array_index (tensors, DynoSafetensor, k);

          g_string_append_printf (text, "%s [", tensor->name);
          for (guint d = 0; d < tensor->n_dims; d++)
            g_string_append_printf (text, "%s%" G_GUINT64_FORMAT, d ? ", " : "", tensor->shape[d]);
          g_string_append (text, "]\n");
        }
      g_autofree char *digest = g_compute_checksum_for_string (G_CHECKSUM_SHA256, text->str, -1);
      if (tensors->len != rows[i].n_tensors || strcmp (digest, rows[i].digest) != 0)
        g_error ("%s: its original has %u tensors, and not these %u:\n%s", rows[i].model,
                 rows[i].n_tensors, tensors->len, text->str);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/state-dict/resnets", test_resnets);
  g_test_add_func ("/weights/state-dict/mobilenet-v2", test_mobilenet_v2);
  g_test_add_func ("/weights/state-dict/efficientnet-b0", test_efficientnet_b0);
  g_test_add_func ("/weights/state-dict/vit-b-16", test_vit_b_16);
  g_test_add_func ("/weights/state-dict/names-shapes-and-order", test_digests);
  return g_test_run ();
}
