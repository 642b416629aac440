/* SPDX-License-Identifier: MIT */
/* ONNX models: an accepted model is sorted, and every byte of its tensors is read; the same bytes
 * are also read as weights, without the nodes. */
#include "model.h"

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* Each value that a node reads is computed before it, or by no node. */
static void
check_order (const DynoOnnxModel *model)
{
  g_autoptr (GHashTable) later = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = model->n_nodes; i > 0; i--)
    {
      const DynoOnnxNode *node = &model->nodes[i - 1];

      for (guint k = 0; k < node->n_outputs; k++)
        if (*node->outputs[k])
          g_hash_table_add (later, (gpointer) node->outputs[k]);
      for (guint k = 0; k < node->n_inputs; k++)
        g_assert_false (g_hash_table_contains (later, node->inputs[k]));
    }
}

static void
read_tensor (const DynoOnnxModel *model, const DynoOnnxTensor *tensor)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = dyno_onnx_tensor_read (model, tensor, &error);
  const guint8 *values = bytes ? g_bytes_get_data (bytes, NULL) : NULL;
  volatile guint8 sum = 0;
  guint64 n = 0, size = 0;

  g_assert_true ((bytes != NULL) != (error != NULL));
  if (!bytes)
    return;
  g_assert_true (dyno_onnx_tensor_get_size (tensor, &n, &size));
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, size);
  for (gsize b = 0; b < size; b++)
    sum = (guint8) (sum + values[b]);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  static const DynoOnnxParts parts[] = { DYNO_ONNX_READ_ALL, DYNO_ONNX_READ_NETWORK,
                                         DYNO_ONNX_READ_TENSORS };
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);

  for (guint p = 0; p < G_N_ELEMENTS (parts); p++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoOnnxModel) model = dyno_onnx_model_parse (bytes, "/nowhere", parts[p], &error);

      g_assert_true ((model != NULL) != (error != NULL));
      g_assert_true (!error || error->domain == DYNO_ONNX_ERROR);
      if (!model)
        continue;
      check_order (model);
      for (guint i = 0; i < model->n_initializers; i++)
        read_tensor (model, &model->initializers[i]);
      for (guint i = 0; i < model->n_nodes; i++)
        for (guint k = 0; k < model->nodes[i].n_attributes; k++)
          if (model->nodes[i].attributes[k].t)
            read_tensor (model, model->nodes[i].attributes[k].t);
    }
  return 0;
}
