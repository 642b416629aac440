/* SPDX-License-Identifier: MIT */
/* The table of the supported operators. */
#include "import-private.h"

static const DynoImportRow rows[] = {
  { "Abs", dyno_import_function },
  { "Add", dyno_import_add },
  { "And", dyno_import_fold },
  { "AveragePool", dyno_import_average_pool },
  { "BatchNormalization", dyno_import_batch_norm },
  { "Cast", dyno_import_cast },
  { "CastLike", dyno_import_cast },
  { "Ceil", dyno_import_fold },
  { "Celu", dyno_import_celu },
  { "Clip", dyno_import_clip },
  { "Concat", dyno_import_concat },
  { "Constant", dyno_import_constant },
  { "ConstantOfShape", dyno_import_fold },
  { "Conv", dyno_import_conv },
  { "ConvTranspose", dyno_import_conv_transpose },
  { "Cos", dyno_import_function },
  { "CumSum", dyno_import_fold },
  { "Div", dyno_import_div },
  { "Dropout", dyno_import_dropout },
  { "Einsum", dyno_import_einsum },
  { "Elu", dyno_import_elu },
  { "Equal", dyno_import_fold },
  { "Exp", dyno_import_function },
  { "Expand", dyno_import_expand },
  { "Flatten", dyno_import_flatten },
  { "Floor", dyno_import_fold },
  { "GRU", dyno_import_recurrent },
  { "Gather", dyno_import_gather },
  { "GatherElements", dyno_import_fold },
  { "GatherND", dyno_import_gather_nd },
  { "Gelu", dyno_import_gelu },
  { "Gemm", dyno_import_gemm },
  { "GlobalAveragePool", dyno_import_global_pool },
  { "GlobalMaxPool", dyno_import_global_pool },
  { "Greater", dyno_import_fold },
  { "GreaterOrEqual", dyno_import_fold },
  { "GroupNormalization", dyno_import_group_norm },
  { "HardSigmoid", dyno_import_hard_sigmoid },
  { "HardSwish", dyno_import_activation },
  { "Identity", dyno_import_identity },
  { "InstanceNormalization", dyno_import_instance_norm },
  { "LSTM", dyno_import_recurrent },
  { "LayerNormalization", dyno_import_layer_norm },
  { "LeakyRelu", dyno_import_leaky_relu },
  { "Less", dyno_import_fold },
  { "LessOrEqual", dyno_import_fold },
  { "Log", dyno_import_function },
  { "LogSoftmax", dyno_import_softmax },
  { "MatMul", dyno_import_matmul },
  { "Max", dyno_import_bound },
  { "MaxPool", dyno_import_max_pool },
  { "Mean", dyno_import_sum },
  { "Min", dyno_import_bound },
  { "Mish", dyno_import_activation },
  { "Mod", dyno_import_fold },
  { "Mul", dyno_import_mul },
  { "Neg", dyno_import_neg },
  { "Not", dyno_import_fold },
  { "Or", dyno_import_fold },
  { "PRelu", dyno_import_prelu },
  { "Pad", dyno_import_pad },
  { "Pow", dyno_import_pow },
  { "Range", dyno_import_fold },
  { "Reciprocal", dyno_import_function },
  { "ReduceL2", dyno_import_reduce_sum },
  { "ReduceMax", dyno_import_reduce },
  { "ReduceMean", dyno_import_reduce },
  { "ReduceMin", dyno_import_fold },
  { "ReduceProd", dyno_import_fold },
  { "ReduceSum", dyno_import_reduce_sum },
  { "ReduceSumSquare", dyno_import_reduce_sum },
  { "Relu", dyno_import_activation },
  { "Reshape", dyno_import_reshape },
  { "Resize", dyno_import_resize },
  { "Round", dyno_import_fold },
  { "ScatterND", dyno_import_scatter },
  { "Selu", dyno_import_selu },
  { "SequenceAt", dyno_import_sequence_at },
  { "Shape", dyno_import_shape },
  { "Sigmoid", dyno_import_activation },
  { "Sign", dyno_import_fold },
  { "Sin", dyno_import_function },
  { "Size", dyno_import_size },
  { "Slice", dyno_import_slice },
  { "Softmax", dyno_import_softmax },
  { "Softplus", dyno_import_activation },
  { "Split", dyno_import_split },
  { "SplitToSequence", dyno_import_split_to_sequence },
  { "Sqrt", dyno_import_function },
  { "Squeeze", dyno_import_squeeze },
  { "Sub", dyno_import_sub },
  { "Sum", dyno_import_sum },
  { "Tanh", dyno_import_activation },
  { "Tile", dyno_import_tile },
  { "Transpose", dyno_import_transpose },
  { "Trilu", dyno_import_fold },
  { "Unsqueeze", dyno_import_unsqueeze },
  { "Upsample", dyno_import_resize },
  { "Where", dyno_import_fold },
  { "Xor", dyno_import_fold },
};

/* Operators that are supported only as a part of a pattern (patterns.c). */
static const char *const inside_patterns[] = { "Bernoulli", "Erf", "IsNaN", "RandomUniformLike",
                                               NULL };

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
