/* SPDX-License-Identifier: MIT */
/* All models: the built-in models, and networks that were read from ONNX files.
 *
 * A network's name holds the first quarter of the SHA-256 of its file without the weights, so that
 * the same network has the same name everywhere and a name never means two networks.  A network
 * that was opened once is kept in the user's folder of networks, from which later processes load
 * it.
 * Invariants: the table is accessed under the lock; a network in the table is never changed or
 * freed. */
#include "file.h"
#include "graph-private.h"
#include "import-private.h"
#include "intl.h"
#include "models.h"
#include "text.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define SUFFIX     ".onnx"
#define DIGEST     16          /* hexadecimal digits in a name */
#define MOST_STEM  40          /* characters of a file's name in a network's name */
#define MOST_BYTES (64u << 20) /* of a network without its weights */

typedef struct {
  DynoModel model; /* first, so that a DynoModel * can be cast to a Network * */
  GBytes *file;    /* without the weights */
} Network;

static GMutex lock;
static GHashTable *networks; /* name to Network */

const DynoModel *const *
dyno_model_list (void)
{
  static const DynoModel *const models[] = { &dyno_model_simplecnn,
                                             &dyno_model_resnet18,
                                             &dyno_model_resnet34,
                                             &dyno_model_resnet50,
                                             &dyno_model_resnet101,
                                             &dyno_model_resnext50,
                                             &dyno_model_mobilenetv2,
                                             &dyno_model_mobilenet_v3_small,
                                             &dyno_model_mobilenet_v3_large,
                                             &dyno_model_efficientnet_b0,
                                             &dyno_model_efficientnet_v2_s,
                                             &dyno_model_densenet121,
                                             &dyno_model_regnet_x_400mf,
                                             &dyno_model_regnet_y_400mf,
                                             &dyno_model_convnext_tiny,
                                             &dyno_model_vit_tiny,
                                             &dyno_model_vit_small,
                                             &dyno_model_vit_b_16,
                                             &dyno_model_unet_small,
                                             &dyno_model_unet_resnet18,
                                             &dyno_model_unet_resnet34,
                                             &dyno_model_fcn_resnet50,
                                             &dyno_model_deeplabv3_resnet50,
                                             &dyno_model_lraspp_mobilenet_v3_large,
                                             &dyno_model_headpose_resnet18,
                                             &dyno_model_headpose_resnet50,
                                             &dyno_model_mlp,
                                             &dyno_model_cnnlstm,
                                             &dyno_model_lstm_stack,
                                             &dyno_model_gru_stack,
                                             &dyno_model_cnn1d,
                                             &dyno_model_cnn1d_dilated,
                                             &dyno_model_wavenet,
                                             NULL };
  return models;
}

/* --- names ------------------------------------------------------------------------------------ */

/* "net@0123456789abcdef" of "/some/folder/net.onnx"; g_free. */
static char *
name_network (const char *path, GBytes *file)
{
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *digest = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, file);
  char *at = strchr (base, '@');

  if (at) /* the path contains a network's own name */
    *at = '\0';
  if (g_str_has_suffix (base, SUFFIX))
    base[strlen (base) - strlen (SUFFIX)] = '\0';
  g_strcanon (base, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-", '_');
  return g_strdup_printf ("%.*s@%.*s", MOST_STEM, *base ? base : "network", DIGEST, digest);
}

/* TRUE: the name is a network's name and not a path. */
static gboolean
is_network_name (const char *name)
{
  const char *at = strrchr (name, '@');

  return at && at > name && !strchr (name, '/') && strlen (at + 1) == DIGEST
         && strspn (at + 1, "0123456789abcdef") == DIGEST;
}

static char *
path_of (const char *name)
{
  g_autofree char *folder = dyno_data_dir ("networks"), *base = g_strconcat (name, SUFFIX, NULL);

  return g_build_filename (folder, base, NULL);
}

/* --- networks --------------------------------------------------------------------------------- */

static DynoTensor *
build (DynoGraph *graph, DynoTensor *x, const DynoModelParams *params)
{
  return dyno_import_build (graph, x, params->model->network, params->n_outputs,
                            params->model->of_pixels, graph->notes);
}

static gboolean
refuse (GError **error, const char *shown, const char *reason)
{
  g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
               "“%s” is not a network that Dyno can train: %s", shown, reason);
  return FALSE;
}

/* Checks the outputs, the single input and the operators of a network; without weights the file's
 * other inputs are the weights. */
static gboolean
check_ends (const DynoOnnxModel *onnx, guint n_inputs, const char *shown, GError **error)
{
  const DynoOnnxValue *input = onnx->n_inputs > 0 ? &onnx->inputs[0] : NULL;
  g_autofree char *unknown = dyno_import_list_unknown (onnx), *reason = NULL;

  if (onnx->n_outputs < 1)
    return refuse (error, shown, "it has no output");
  if (n_inputs != 1)
    reason = g_strdup_printf ("it has %u inputs beside its weights; Dyno trains networks with "
                              "one",
                              n_inputs);
  else if (!input->has_shape || (input->n_dims != 2 && input->n_dims != 3 && input->n_dims != 4))
    reason = g_strdup_printf ("its input “%s” has %u axes; Dyno feeds (N, C, H, W), (N, C, T), "
                              "(N, T, C) or (N, C)",
                              input->name, input->has_shape ? input->n_dims : 0);
  else if (unknown)
    reason = g_strdup_printf ("it has operators that Dyno does not have: %s", unknown);
  return !reason || refuse (error, shown, reason);
}

/* The number of inputs of a model that are not initialisers. */
static guint
count_inputs (const DynoOnnxModel *onnx)
{
  guint n = 0;

  for (guint i = 0; i < onnx->n_inputs; i++)
    n += dyno_onnx_model_find_initializer (onnx, onnx->inputs[i].name) == NULL;
  return n;
}

static guint32
dim_of (const DynoOnnxValue *value, guint axis)
{
  gint64 dim = axis < value->n_dims ? value->dims[axis].value : 0;

  return dim > 0 && dim <= G_MAXUINT16 ? (guint32) dim : 0;
}

/* Adds a network to the table, unless it is there; the table takes a reference of its own to
 * onnx. */
static const DynoModel *
enter (const char *path, GBytes *file, DynoOnnxModel *onnx)
{
  g_autofree char *name = name_network (path, file);
  const DynoOnnxValue *input = &onnx->inputs[0];
  gboolean of_pixels = dyno_import_is_of_pixels (onnx);
  Network *network;

  g_mutex_lock (&lock);
  if (!networks)
    networks = g_hash_table_new (g_str_hash, g_str_equal);
  network = g_hash_table_lookup (networks, name);
  if (!network)
    {
      network = g_new0 (Network, 1);
      network->file = g_bytes_ref (file);
      network->model = (DynoModel){ .name = g_intern_string (name),
                                    .summary = _ ("From an ONNX file"),
                                    .min_size = 1,
                                    .build = build,
                                    .network = dyno_onnx_model_ref (onnx),
                                    .sequences = input->n_dims == 3,
                                    .of_pixels = of_pixels,
                                    .n_file_outputs = dyno_import_count_outputs (onnx) };
      name[strlen (name) - DIGEST - 1] = '\0';
      network->model.title = g_intern_string (name);
      if (input->n_dims == 4)
        {
          network->model.height = dim_of (input, 2);
          network->model.width = dim_of (input, 3);
          network->model.channels = dim_of (input, 1);
        }
      g_hash_table_insert (networks, (gpointer) network->model.name, network);
    }
  g_mutex_unlock (&lock);
  return &network->model;
}

const DynoModel *
dyno_model_adopt (const char *path, GBytes *file, GError **error)
{
  g_autofree char *shown = g_filename_display_basename (path);
  g_autoptr (GError) problem = NULL;
  g_autoptr (DynoOnnxModel) onnx = NULL;

  if (g_bytes_get_size (file) > MOST_BYTES)
    {
      refuse (error, shown, "without its weights it has more than 64 MiB");
      return NULL;
    }
  onnx = dyno_onnx_model_parse (file, NULL, DYNO_ONNX_READ_NETWORK, &problem);
  if (!onnx)
    {
      refuse (error, shown, problem->message);
      return NULL;
    }
  return check_ends (onnx, 1, shown, error) ? enter (path, file, onnx) : NULL;
}

/* Keeps a network for later processes.  If the folder cannot be written, later processes do not
 * find the network, which is no error here. */
static void
keep (const DynoModel *model)
{
  g_autofree char *path = path_of (model->name), *folder = g_path_get_dirname (path);
  GBytes *file = dyno_model_get_file (model);
  g_autoptr (GError) error = NULL;
  gsize size;

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return;
  const void *data = g_bytes_get_data (file, &size);
  if (g_mkdir_with_parents (folder, 0777) != 0
      || !dyno_file_write_atomic (path, data, size, &error))
    g_warning ("The network “%s” cannot be saved in “%s” (%s); name its ONNX file again next time",
               model->title, folder, error ? error->message : g_strerror (errno));
}

gboolean
dyno_model_is_path (const char *name)
{
  return strchr (name, '/') || g_str_has_suffix (name, SUFFIX);
}

const DynoModel *
dyno_model_open (const char *path, gboolean *has_weights, GError **error)
{
  g_autofree char *shown = g_filename_display_basename (path);
  g_autoptr (GError) problem = NULL;
  g_autoptr (DynoOnnxModel) onnx = dyno_onnx_model_open (path, DYNO_ONNX_READ_NETWORK, &problem);
  g_autoptr (GBytes) file = NULL;
  const DynoModel *model;

  if (!onnx)
    {
      g_set_error_literal (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL, problem->message);
      return NULL;
    }
  gboolean bare = dyno_onnx_model_is_network (onnx);
  if (has_weights)
    *has_weights = !bare;
  if (!check_ends (onnx, bare ? 1 : count_inputs (onnx), shown, error))
    return NULL;
  file = dyno_onnx_model_write_network (onnx, &problem);
  if (!file)
    {
      refuse (error, shown, problem->message);
      return NULL;
    }
  model = dyno_model_adopt (path, file, error);
  if (model)
    keep (model);
  return model;
}

GBytes *
dyno_model_get_file (const DynoModel *model)
{
  return model->network ? ((const Network *) model)->file : NULL;
}

/* Loads the network of a name that an earlier process has kept. */
static const DynoModel *
find_kept (const char *name, GError **error)
{
  g_autofree char *path = path_of (name), *data = NULL;
  gsize size;

  if (!g_file_get_contents (path, &data, &size, NULL))
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
                   _ ("The network “%s” is not known here; name its ONNX file, or a run that has "
                      "trained it"),
                   name);
      return NULL;
    }
  g_autoptr (GBytes) file = g_bytes_new_take (g_steal_pointer (&data), size);
  const DynoModel *model = dyno_model_adopt (path, file, error);
  if (!model || g_str_equal (model->name, name))
    return model;
  g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
               "“%s” does not hold the network that its name states; remove it, and name the ONNX "
               "file of the network",
               path);
  return NULL;
}

static const DynoModel *
find_network (const char *name, GError **error)
{
  Network *network;

  g_mutex_lock (&lock);
  network = networks ? g_hash_table_lookup (networks, name) : NULL;
  g_mutex_unlock (&lock);
  return network ? &network->model : find_kept (name, error);
}

const DynoModel *
dyno_model_find (const char *name, GError **error)
{
  const DynoModel *const *models = dyno_model_list ();
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  name = name ? name : "";
  for (guint i = 0; models[i]; i++)
    if (g_str_equal (models[i]->name, name))
      return models[i];
    else
      g_ptr_array_add (names, (gpointer) models[i]->name);
  if (is_network_name (name))
    return find_network (name, error);
  if (dyno_model_is_path (name))
    return dyno_model_open (name, NULL, error);
  g_ptr_array_add (names, NULL);
  g_autofree char *all = g_strjoinv (", ", (char **) names->pdata);
  const char *meant = dyno_text_nearest (name, (const char *const *) names->pdata, 2);
  if (meant)
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
                 _ ("There is no model “%s”; did you mean “%s”? There are %s"), name, meant, all);
  else
    g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL,
                 _ ("There is no model “%s”; there are %s"), name, all);
  return NULL;
}
