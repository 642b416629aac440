/* SPDX-License-Identifier: MIT */
/* The operators that are read. */
#include "import-private.h"

static const DynoImportRow rows[] = {
  { "Add", dyno_import_add },
  { "AveragePool", dyno_import_average_pool },
  { "BatchNormalization", dyno_import_batch_norm },
  { "Cast", dyno_import_cast },
  { "Clip", dyno_import_clip },
  { "Concat", dyno_import_concat },
  { "Constant", dyno_import_constant },
  { "ConstantOfShape", dyno_import_fold },
  { "Conv", dyno_import_conv },
  { "Div", dyno_import_fold },
  { "Dropout", dyno_import_dropout },
  { "Elu", dyno_import_elu },
  { "Expand", dyno_import_expand },
  { "Flatten", dyno_import_flatten },
  { "Gather", dyno_import_gather },
  { "Gelu", dyno_import_gelu },
  { "Gemm", dyno_import_gemm },
  { "GlobalAveragePool", dyno_import_global_pool },
  { "GlobalMaxPool", dyno_import_global_pool },
  { "HardSigmoid", dyno_import_hard_sigmoid },
  { "HardSwish", dyno_import_activation },
  { "Identity", dyno_import_identity },
  { "LayerNormalization", dyno_import_layer_norm },
  { "LeakyRelu", dyno_import_leaky_relu },
  { "LogSoftmax", dyno_import_softmax },
  { "MatMul", dyno_import_matmul },
  { "MaxPool", dyno_import_max_pool },
  { "Mish", dyno_import_activation },
  { "Mul", dyno_import_mul },
  { "ReduceMax", dyno_import_reduce },
  { "ReduceMean", dyno_import_reduce },
  { "Relu", dyno_import_activation },
  { "Reshape", dyno_import_reshape },
  { "Shape", dyno_import_shape },
  { "Sigmoid", dyno_import_activation },
  { "Slice", dyno_import_slice },
  { "Softmax", dyno_import_softmax },
  { "Softplus", dyno_import_activation },
  { "Split", dyno_import_split },
  { "Squeeze", dyno_import_squeeze },
  { "Sub", dyno_import_fold },
  { "Tanh", dyno_import_activation },
  { "Transpose", dyno_import_transpose },
  { "Unsqueeze", dyno_import_unsqueeze },
};

/* Operators that are read as a part of a pattern (patterns.c) only. */
static const char *const inside_patterns[] = { "Erf", "Pow", "Sqrt", NULL };

const DynoImportRow *
dyno_import_find_row (const DynoOnnxNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows) && *node->domain == '\0'; i++)
    if (g_str_equal (rows[i].op_type, node->op_type))
      return &rows[i];
  return NULL;
}

char *
dyno_import_list_unknown (const DynoOnnxModel *model)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < model->n_nodes; i++)
    {
      const DynoOnnxNode *node = &model->nodes[i];
      guint n = 0;
      if (dyno_import_find_row (node)
          || (*node->domain == '\0' && g_strv_contains (inside_patterns, node->op_type))
          || !g_hash_table_add (seen, (gpointer) node->op_type))
        continue;
      for (guint k = i; k < model->n_nodes; k++)
        n += g_str_equal (model->nodes[k].op_type, node->op_type);
      g_string_append_printf (text, "%s%u %s (first: “%s”)", text->len ? ", " : "", n,
                              node->op_type, dyno_import_shown_name (node));
    }
  return text->len ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}
