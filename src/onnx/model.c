/* SPDX-License-Identifier: MIT */
/* Makes a model from the bytes of a file, and frees it. */
#include "model-private.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void
free_content (DynoOnnxStore *store)
{
  g_clear_pointer (&store->bytes, g_bytes_unref);
  g_clear_pointer (&store->folder, g_free);
  g_clear_pointer (&store->initializers, g_hash_table_unref);
  g_clear_pointer (&store->blocks, g_ptr_array_unref);
  g_clear_pointer (&store->texts, g_string_chunk_free);
  if (store->refused)
    g_string_free (store->refused, TRUE);
}

DynoOnnxModel *
dyno_onnx_model_ref (DynoOnnxModel *model)
{
  return g_atomic_rc_box_acquire (model);
}

void
dyno_onnx_model_unref (DynoOnnxModel *model)
{
  g_atomic_rc_box_release_full (model, (GDestroyNotify) free_content);
}

/* --- fields of the model ---------------------------------------------------------------------- */

static gboolean
take_opset (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxOpset *opset, GError **error)
{
  DynoProtoField f;

  opset->domain = "";
  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || (f.number == DYNO_ONNX_OPSET_DOMAIN
            && !dyno_onnx_take_text (store, &message, &f, &opset->domain, error))
        || (f.number == DYNO_ONNX_OPSET_VERSION
            && !dyno_onnx_take_int (&message, &f, &opset->version, error)))
      return FALSE;
  if (g_str_equal (opset->domain, "ai.onnx"))
    opset->domain = "";
  return TRUE;
}

static gboolean
take_pair (DynoOnnxStore *store, DynoProtoReader message, DynoOnnxPair *pair, GError **error)
{
  DynoProtoField f;

  *pair = (DynoOnnxPair){ "", "" };
  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || (f.number == DYNO_ONNX_PAIR_KEY
            && !dyno_onnx_take_text (store, &message, &f, &pair->key, error))
        || (f.number == DYNO_ONNX_PAIR_VALUE
            && !dyno_onnx_take_text (store, &message, &f, &pair->value, error)))
      return FALSE;
  return TRUE;
}

static gboolean
refuse_function (DynoOnnxStore *store, const DynoProtoReader *message, const DynoProtoField *field,
                 GError **error)
{
  const char *name = "";
  DynoProtoReader inner;
  DynoProtoField f;

  if (!dyno_proto_enter (message, field, "a function", &inner, error))
    return FALSE;
  while (dyno_proto_has_more (&inner))
    if (!dyno_proto_next (&inner, &f, error)
        || (f.number == DYNO_ONNX_FUNCTION_NAME
            && !dyno_onnx_take_text (store, &inner, &f, &name, error)))
      return FALSE;
  return dyno_onnx_fail (error, DYNO_ONNX_ERROR_UNSUPPORTED,
                         "it has functions of its own, which are not read, as “%s”", name);
}

static gboolean
take_model_field (DynoOnnxStore *store, const DynoProtoReader *message, const DynoProtoField *f,
                  DynoOnnxOpset *opsets, DynoOnnxPair *pairs, GError **error)
{
  gboolean all = store->parts != DYNO_ONNX_READ_TENSORS;
  DynoOnnxModel *model = &store->model;
  DynoProtoReader inner;

  switch (f->number)
    {
    case DYNO_ONNX_MODEL_IR:
      return dyno_onnx_take_int (message, f, &model->ir_version, error);
    case DYNO_ONNX_MODEL_PRODUCER:
      return dyno_onnx_take_text (store, message, f, &model->producer, error);
    case DYNO_ONNX_MODEL_VERSION:
      return dyno_onnx_take_text (store, message, f, &model->producer_version, error);
    case DYNO_ONNX_MODEL_GRAPH:
      return dyno_proto_enter (message, f, "the graph", &inner, error)
             && dyno_onnx_take_graph (store, inner, error);
    case DYNO_ONNX_MODEL_OPSET:
      return dyno_proto_enter (message, f, "a set of operators", &inner, error)
             && take_opset (store, inner, &opsets[model->n_opsets++], error);
    case DYNO_ONNX_MODEL_METADATA:
      return dyno_proto_enter (message, f, "the metadata", &inner, error)
             && take_pair (store, inner, &pairs[model->n_metadata++], error);
    case DYNO_ONNX_MODEL_FUNCTION:
      return !all || refuse_function (store, message, f, error);
    default:
      return TRUE;
    }
}

static gboolean
check_head (const DynoOnnxModel *model, guint n_graphs, GError **error)
{
  g_autoptr (GHashTable) domains = g_hash_table_new (g_str_hash, g_str_equal);

  if (model->ir_version < 1)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "it names no version of its format");
  if (n_graphs == 0)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "it has no graph");
  for (guint i = 0; i < model->n_opsets; i++)
    {
      const DynoOnnxOpset *opset = &model->opsets[i];
      const char *shown = *opset->domain ? opset->domain : "ai.onnx";

      if (opset->version < 1)
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                               "the version of the operators “%s” is no positive number", shown);
      if (!g_hash_table_add (domains, (gpointer) opset->domain))
        return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT,
                               "it names two versions of the operators “%s”", shown);
    }
  return TRUE;
}

static gboolean
take_model (DynoOnnxStore *store, DynoProtoReader message, GError **error)
{
  guint counts[DYNO_ONNX_MODEL_METADATA + 1] = { 0 };
  guint64 n_pairs = 0, n_opsets = 0;
  DynoOnnxOpset *opsets;
  DynoOnnxPair *pairs;
  DynoProtoField f;

  if (!dyno_onnx_count_fields (message, counts, G_N_ELEMENTS (counts), error)
      || !dyno_onnx_count (&n_pairs, counts[DYNO_ONNX_MODEL_METADATA], DYNO_ONNX_MAX_PAIRS,
                           "entries of metadata", error)
      || !dyno_onnx_count (&n_opsets, counts[DYNO_ONNX_MODEL_OPSET], DYNO_ONNX_MAX_OPSETS,
                           "sets of operators", error))
    return FALSE;
  if (counts[DYNO_ONNX_MODEL_GRAPH] > 1)
    return dyno_onnx_fail (error, DYNO_ONNX_ERROR_CORRUPT, "it has two graphs");
  opsets = dyno_onnx_allocate (store, counts[DYNO_ONNX_MODEL_OPSET], sizeof *opsets, error);
  if (n_opsets > 0 && !opsets)
    return FALSE;
  pairs = dyno_onnx_allocate (store, counts[DYNO_ONNX_MODEL_METADATA], sizeof *pairs, error);
  if (n_pairs > 0 && !pairs)
    return FALSE;
  store->model.opsets = opsets;
  store->model.metadata = pairs;
  while (dyno_proto_has_more (&message))
    if (!dyno_proto_next (&message, &f, error)
        || !take_model_field (store, &message, &f, opsets, pairs, error))
      return FALSE;
  dyno_onnx_index_initializers (store);
  return store->parts == DYNO_ONNX_READ_TENSORS
         || (check_head (&store->model, counts[DYNO_ONNX_MODEL_GRAPH], error)
             && dyno_onnx_check_model (store, error)
             && (store->parts == DYNO_ONNX_READ_ALL
                 || (dyno_onnx_split_weights (store, error)
                     && dyno_onnx_split_recurrent (store, error))));
}

/* --- models ----------------------------------------------------------------------------------- */

DynoOnnxModel *
dyno_onnx_model_parse (GBytes *bytes, const char *folder, DynoOnnxParts parts, GError **error)
{
  DynoOnnxStore *store = g_atomic_rc_box_new0 (DynoOnnxStore);
  g_autoptr (DynoOnnxModel) model = &store->model;
  DynoProtoReader message;
  gsize size = 0;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  store->bytes = g_bytes_ref (bytes);
  store->folder = folder ? g_canonicalize_filename (folder, NULL) : NULL;
  store->parts = parts;
  store->texts = g_string_chunk_new (4096);
  store->blocks = g_ptr_array_new_with_free_func (g_free);
  store->initializers = g_hash_table_new (g_str_hash, g_str_equal);
  store->refused = g_string_new (NULL);
  model->producer = model->producer_version = model->graph_name = "";
  if (size > DYNO_ONNX_MAX_BYTES)
    {
      dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "it has more than 2 GB");
      return NULL;
    }
  dyno_proto_begin (&message, data, size, "the model");
  return take_model (store, message, error) ? g_steal_pointer (&model) : NULL;
}

static GBytes *
read_file (const char *path, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat facts;
  g_autofree guint8 *bytes = NULL;

  if (fd < 0 || fstat (fd, &facts) < 0)
    dyno_onnx_fail (error, DYNO_ONNX_ERROR_IO, "%s", g_strerror (errno));
  else if (!S_ISREG (facts.st_mode))
    dyno_onnx_fail (error, DYNO_ONNX_ERROR_IO, "it is no regular file");
  else if ((guint64) facts.st_size > DYNO_ONNX_MAX_BYTES)
    dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "it has more than 2 GB");
  else if (!(bytes = g_try_malloc (MAX (1, (gsize) facts.st_size))))
    dyno_onnx_fail (error, DYNO_ONNX_ERROR_LIMIT, "memory is short for the file");
  else if (!dyno_onnx_read_range (fd, bytes, (gsize) facts.st_size, 0))
    {
      dyno_onnx_fail (error, DYNO_ONNX_ERROR_IO, "%s", errno ? g_strerror (errno) : "it was cut");
      g_clear_pointer (&bytes, g_free);
    }
  if (fd >= 0)
    close (fd);
  return bytes ? g_bytes_new_take (g_steal_pointer (&bytes), (gsize) facts.st_size) : NULL;
}

DynoOnnxModel *
dyno_onnx_model_open (const char *path, DynoOnnxParts parts, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GBytes) bytes = read_file (path, error);
  DynoOnnxModel *model = bytes ? dyno_onnx_model_parse (bytes, folder, parts, error) : NULL;

  if (!model)
    g_prefix_error (error, "“%s”: ", path);
  return model;
}

gint64
dyno_onnx_model_get_opset (const DynoOnnxModel *model, const char *domain)
{
  for (guint i = 0; i < model->n_opsets; i++)
    if (g_str_equal (model->opsets[i].domain, domain))
      return model->opsets[i].version;
  return 0;
}

const DynoOnnxTensor *
dyno_onnx_model_find_initializer (const DynoOnnxModel *model, const char *name)
{
  return g_hash_table_lookup (((const DynoOnnxStore *) model)->initializers, name);
}

const DynoOnnxAttribute *
dyno_onnx_node_find_attribute (const DynoOnnxNode *node, const char *name)
{
  for (guint i = 0; i < node->n_attributes; i++)
    if (g_str_equal (node->attributes[i].name, name))
      return &node->attributes[i];
  return NULL;
}
