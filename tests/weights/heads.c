/* SPDX-License-Identifier: MIT */
/* The last layer of an imported network: its outputs are rows of the weight in a linear layer and a
 * convolution, and columns in a matrix product, whose weight is (inputs, outputs). */
#include "file.h"
#include "graph-private.h"
#include "network.h"
#include "onnx-test.h"
#include "targets.h"
#include "weightsfile.h"
#include <glib/gstdio.h>
#include <string.h>

#define N_INPUTS 4
#define N_THERE  3 /* outputs of the file */

typedef struct {
  const char *name;
  gint64 dims[4]; /* of the weight */
  guint n_dims, axis;
} Kind;

static const Kind kinds[] = { { "gemm", { N_THERE, N_INPUTS }, 2, 0 },
                              { "matmul", { N_INPUTS, N_THERE }, 2, 1 },
                              { "conv", { N_THERE, N_INPUTS, 1, 1 }, 4, 0 } };

static char *folder;

static void
add_weight (GByteArray *graph, const char *name, const gint64 *dims, guint n_dims)
{
  static const float zeros[N_THERE * N_INPUTS];
  GByteArray *tensor = onnx_test_tensor (name, DYNO_ONNX_FLOAT, dims, n_dims);
  gsize count = 1;

  for (guint i = 0; i < n_dims; i++)
    count *= (gsize) dims[i];
  dyno_proto_bytes (tensor, DYNO_ONNX_TENSOR_RAW, zeros, count * sizeof *zeros);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INITIALIZER, tensor);
}

static void
add_node (GByteArray *graph, const char *op, const char *inputs, const char *output)
{
  GByteArray *node = onnx_test_node (op, output, inputs, output);

  if (strcmp (op, "Gemm") == 0)
    onnx_test_attribute_int (node, "transB", 1);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_NODE, node);
}

/* x (N, 4, 1, 1) -> y (N, 3) */
static const DynoModel *
open_network (const Kind *kind)
{
  GByteArray *graph = g_byte_array_new (), *input = g_byte_array_new (),
             *type = g_byte_array_new (), *tensor = g_byte_array_new (),
             *shape = g_byte_array_new ();
  static const guint64 dims[] = { 1, N_INPUTS, 1, 1 };
  static const gint64 outputs = N_THERE;
  g_autoptr (GByteArray) file = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_strdup_printf ("%s/%s.onnx", folder, kind->name);

  for (guint i = 0; i < G_N_ELEMENTS (dims); i++)
    {
      GByteArray *dim = g_byte_array_new ();
      dyno_proto_uint (dim, DYNO_ONNX_DIM_VALUE, dims[i]);
      onnx_test_add (shape, DYNO_ONNX_SHAPE_DIM, dim);
    }
  dyno_proto_uint (tensor, DYNO_ONNX_TENSOR_TYPE_ELEMENT, DYNO_ONNX_FLOAT);
  onnx_test_add (tensor, DYNO_ONNX_TENSOR_TYPE_SHAPE, shape);
  onnx_test_add (type, DYNO_ONNX_TYPE_TENSOR, tensor);
  dyno_proto_string (input, DYNO_ONNX_VALUE_NAME, "x");
  onnx_test_add (input, DYNO_ONNX_VALUE_TYPE, type);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_INPUT, input);
  onnx_test_add (graph, DYNO_ONNX_GRAPH_OUTPUT, onnx_test_value ("y", N_THERE));
  add_weight (graph, "w", kind->dims, kind->n_dims);
  add_weight (graph, "b", &outputs, 1);
  if (strcmp (kind->name, "conv") == 0)
    {
      add_node (graph, "Conv", "x,w,b", "a");
      add_node (graph, "Flatten", "a", "y");
    }
  else
    {
      add_node (graph, "Flatten", "x", "a");
      if (strcmp (kind->name, "gemm") == 0)
        add_node (graph, "Gemm", "a,w,b", "y");
      else
        {
          add_node (graph, "MatMul", "a,w", "p");
          add_node (graph, "Add", "p,b", "y");
        }
    }
  file = onnx_test_file (graph);
  g_assert_true (g_file_set_contents (path, (const char *) file->data, file->len, &error));
  const DynoModel *model = dyno_model_open (path, NULL, &error);
  g_assert_no_error (error);
  return model;
}

static DynoGraph *
build (const Kind *kind, guint32 n_outputs, DynoMode mode, DynoLoss loss)
{
  DynoNetworkParams params = { .model = open_network (kind)->name,
                               .batch = 2,
                               .n_outputs = n_outputs,
                               .loss = loss,
                               .standard_targets = loss != DYNO_LOSS_CROSS_ENTROPY,
                               .mode = mode };
  g_autoptr (GError) error = NULL;

  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 1, 1, N_INPUTS,
                                     loss == DYNO_LOSS_CROSS_ENTROPY ? 0 : n_outputs);
  DynoGraph *graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  return graph;
}

/* The output to which element i of the weight belongs, with n outputs. */
static guint
output_of (const Kind *kind, guint i, guint n)
{
  return kind->axis == 0 ? i / N_INPUTS : i % n;
}

/* A file with 100 o + i as the weight of output o and input i, and 10 o as its bias. */
static DynoSafetensors *
write_weights (const Kind *kind)
{
  float weight[N_THERE * N_INPUTS], bias[N_THERE];
  DynoSafetensor rows[2] = { { .name = "w", .n_dims = kind->n_dims },
                             { .name = "b", .n_dims = 1 } };
  g_autofree char *path = g_strdup_printf ("%s/%s.safetensors", folder, kind->name);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (weight); i++)
    {
      guint o = output_of (kind, i, N_THERE), in = kind->axis == 0 ? i % N_INPUTS : i / N_THERE;
      weight[i] = (float) (100 * o + in);
    }
  for (guint o = 0; o < N_THERE; o++)
    bias[o] = (float) (10 * o);
  for (guint i = 0; i < kind->n_dims; i++)
    rows[0].shape[i] = (guint64) kind->dims[i];
  rows[0].type = rows[1].type = DYNO_TENSOR_F32;
  rows[0].data = weight;
  rows[0].size_bytes = sizeof weight;
  rows[1].shape[0] = N_THERE;
  rows[1].data = bias;
  rows[1].size_bytes = sizeof bias;
  g_assert_true (dyno_safetensors_write (path, rows, 2, NULL, &error));
  DynoSafetensors *file = dyno_safetensors_open (path, 0, &error);
  g_assert_no_error (error);
  return file;
}

/* Output 0 of two is output 2 of the file; output 1 is not in the file. */
static void
test_rows (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      const Kind *kind = &kinds[k];
      g_autoptr (DynoGraph) graph = build (kind, 2, DYNO_MODE_TRAIN, DYNO_LOSS_CROSS_ENTROPY);
      g_autoptr (DynoSafetensors) file = write_weights (kind);
      g_autoptr (DynoWeights) weights = dyno_weights_new (graph, NULL);
      g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
      g_autoptr (GError) error = NULL;
      const guint32 rows[] = { 2, G_MAXUINT32 };
      gboolean is_new = FALSE;
      DynoHead head;

      g_test_message ("%s", kind->name);
      g_assert_true (dyno_network_get_head (graph, &head));
      g_assert_cmpuint (head.axis, ==, kind->axis);
      g_assert_cmpstr (head.weight->name, ==, "w");
      g_assert_cmpstr (head.bias->name, ==, "b");
      g_assert_true (head.is_linear);
      g_assert_cmpuint (dyno_weights_count_outputs (graph, file), ==, N_THERE);
      g_assert_true (dyno_weights_load (weights, graph, file, "f", DYNO_WEIGHTS_HEAD_MAY_DIFFER,
                                        &is_new, notes, &error));
      g_assert_true (is_new);
      g_assert_nonnull (strstr (g_ptr_array_index (notes, 0), "has 3 outputs, this model 2"));
      for (guint i = 0; i < 2 * N_INPUTS; i++)
        weights->values[head.weight->index][i] = -1;
      weights->values[head.bias->index][1] = -1;
      g_assert_true (dyno_weights_load_rows (weights, graph, file, "f", rows, &error));
      for (guint i = 0; i < 2 * N_INPUTS; i++)
        {
          guint in = kind->axis == 0 ? i % N_INPUTS : i / 2;
          g_assert_cmpfloat (weights->values[head.weight->index][i], ==,
                             output_of (kind, i, 2) == 0 ? (float) (200 + in) : -1.0f);
        }
      g_assert_cmpfloat (weights->values[head.bias->index][0], ==, 20);
      g_assert_cmpfloat (weights->values[head.bias->index][1], ==, -1);
    }
}

/* Values in the unit of the data: each output is scaled by its own deviation, and back. */
static void
test_fold (void)
{
  const float scale[] = { 5, 7, 2, 4 }; /* means, then deviations */

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    {
      const Kind *kind = &kinds[k];
      g_autoptr (DynoGraph) graph = build (kind, 2, DYNO_MODE_TRAIN, DYNO_LOSS_MSE);
      g_autoptr (DynoWeights) weights = dyno_weights_new (graph, NULL);
      g_autoptr (GError) error = NULL;
      DynoHead head;

      g_test_message ("%s", kind->name);
      graph->target_scale = g_memdup2 (scale, sizeof scale);
      g_assert_cmpuint (dyno_network_get_n_scaled (graph), ==, 2);
      g_assert_true (dyno_network_get_head (graph, &head));
      float *weight = weights->values[head.weight->index],
            *bias = weights->values[head.bias->index];
      for (guint i = 0; i < 2 * N_INPUTS; i++)
        weight[i] = 1;
      bias[0] = bias[1] = 3;
      g_autoptr (DynoFoldedWeights) folded = dyno_targets_fold (weights, graph, &error);
      g_assert_no_error (error);
      for (guint i = 0; i < 2 * N_INPUTS; i++)
        g_assert_cmpfloat (folded->weight[i], ==, scale[2 + output_of (kind, i, 2)]);
      g_assert_cmpfloat (folded->bias[0], ==, 3 * 2 + 5);
      g_assert_cmpfloat (folded->bias[1], ==, 3 * 4 + 7);
      memcpy (weight, folded->weight, 2 * N_INPUTS * sizeof (float));
      memcpy (bias, folded->bias, 2 * sizeof (float));
      dyno_targets_unfold (weights, graph);
      for (guint i = 0; i < 2 * N_INPUTS; i++)
        g_assert_cmpfloat (weight[i], ==, 1);
      g_assert_cmpfloat (bias[0], ==, 3);
      g_assert_cmpfloat (bias[1], ==, 3);
    }
}

static void
remove_tree (const char *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir && (name = g_dir_read_name (dir)))
    {
      g_autofree char *child = g_build_filename (path, name, NULL);
      remove_tree (child);
    }
  g_remove (path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("dyno-heads-XXXXXX", NULL);
  g_assert_true (dyno_state_dir_set (folder, NULL));
  g_test_add_func ("/weights/heads/rows-of-the-last-layer", test_rows);
  g_test_add_func ("/weights/heads/values-in-the-datas-unit", test_fold);
  int status = g_test_run ();
  remove_tree (folder);
  g_free (folder);
  return status;
}
