/* SPDX-License-Identifier: MIT */
/* Networks of ONNX files that give a class for each pixel, and ConvTranspose: its sizes, pads and
 * crops, and unsupported forms. */
#include "graph-private.h"
#include "import-test.h"
#include "op.h"
#include <string.h>

static const ImportTestShape shape = {
  .n_outputs = 3, .height = 8, .width = 8, .channels = 4, .mode = DYNO_MODE_PREDICT
};

/* --- ConvTranspose ---------------------------------------------------------------------------- */

/* For an image of 8 x 8 pixels: the size and the pads of the op, and the crop of its result. */
static void
test_transposed (void)
{
  static const struct {
    const char *text, *ops;
    guint32 h, w, c, pad_h, pad_w;
    double top, left;
  } rows[] = {
    { IMPORT_TEST_AROUND ("w c.weight 4,6,2,2;ConvTranspose c x,c.weight u strides=2,2;"
                          "w d.weight 4,6,1,1;Conv d u,d.weight h"),
      "conv_transpose", 16, 16, 6, 0, 0, 0, 0 },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;w c.bias 4;ConvTranspose c x,c.weight,c.bias h "
                          "strides=2,1 pads=1,1,1,1 output_padding=1,0"),
      "conv_transpose", 16, 8, 4, 1, 1, 0, 0 },
    { IMPORT_TEST_AROUND ("w c.weight 4,2,3,3;ConvTranspose c x,c.weight h group=2 dilations=2,1"),
      "conv_transpose", 12, 10, 4, 0, 0, 0, 0 },
    /* pads that differ at both ends: the difference is cropped */
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;ConvTranspose c x,c.weight h pads=0,2,1,1"),
      "conv_transpose pad", 10, 8, 4, 0, 1, 0, -1 },
    /* 8 * 2 rows of 17, 8 * 3 columns of 24 */
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;ConvTranspose c x,c.weight h strides=2,3 "
                          "auto_pad=SAME_UPPER"),
      "conv_transpose pad", 17, 24, 4, 0, 0, 0, 0 },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;ConvTranspose c x,c.weight h strides=2,3 "
                          "auto_pad=SAME_LOWER"),
      "conv_transpose pad", 17, 24, 4, 0, 0, -1, 0 },
    /* pads of 1 and a crop of one column, from 17 x 17 */
    { IMPORT_TEST_AROUND ("w c.weight 4,4,3,3;ConvTranspose c x,c.weight h strides=2,2 "
                          "output_shape=15,14"),
      "conv_transpose pad", 15, 15, 4, 1, 1, 0, -1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      double pad_h, pad_w, top = 0, left = 0;
      g_test_message ("%s", rows[i].text);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, shape, &error);
      g_assert_no_error (error);
      g_autofree char *ops = import_test_list_ops (graph);
      const DynoNode *node = g_ptr_array_index (dyno_graph_get_nodes (graph), 1),
                     *next = g_ptr_array_index (dyno_graph_get_nodes (graph), 2);
      const DynoTensor *y = node->outputs[0];
      g_assert_true (g_str_has_prefix (ops, rows[i].ops));
      g_assert_true (dyno_node_get_attribute (node, "pad_h", &pad_h));
      g_assert_true (dyno_node_get_attribute (node, "pad_w", &pad_w));
      dyno_node_get_attribute (next, "top", &top);
      dyno_node_get_attribute (next, "left", &left);
      g_assert_true (y->h == rows[i].h && y->w == rows[i].w && y->c == rows[i].c);
      g_assert_cmpfloat (pad_h, ==, rows[i].pad_h);
      g_assert_cmpfloat (pad_w, ==, rows[i].pad_w);
      g_assert_cmpfloat (top, ==, rows[i].top);
      g_assert_cmpfloat (left, ==, rows[i].left);
    }
}

static void
test_transposed_refusals (void)
{
  static const struct {
    const char *text, *pattern;
  } rows[] = {
    { IMPORT_TEST_AROUND ("w c.weight 3,4,2,2;ConvTranspose c x,c.weight h"),
      "*ConvTranspose “c”: its weight takes 3 channels, its input has 4*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,2,2;ConvTranspose c x,c.weight h group=3"),
      "*ConvTranspose “c”: 3 groups do not fit 4 channels*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,2,2;ConvTranspose c x,c.weight h output_shape=9,10"),
      "*ConvTranspose “c”: its output of 10 is larger than its input, window and stride allow*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,2,2;ConvTranspose c x,c.weight h output_padding=-1,0"),
      "*ConvTranspose “c”: output_padding is -1*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,2,2;ConvTranspose c x,c.weight h output_padding=1,0"),
      "*1 rows and 0 columns at the end are not less than the stride*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,2,2;ConvTranspose c x,c.weight h auto_pad=FULL"),
      "*ConvTranspose “c”: auto_pad FULL is not read*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,300,1;ConvTranspose c x,c.weight h dilations=65535,1"),
      "*ConvTranspose “c”: its output of 19594973 is too large*" },
    { IMPORT_TEST_AROUND ("w c.weight 4,4,2,2;ConvTranspose c x,c.weight h pads=5,5,5,5"),
      "*pads of 5 and 5 makes no image*" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_test_message ("%s", rows[i].text);
      import_test_assert_refused (rows[i].text, shape, rows[i].pattern);
    }
}

/* --- pixels ----------------------------------------------------------------------------------- */

/* The task follows from the output's shape in the file, known or not; the last layer gets the
 * classes of the data. */
static void
test_pixels (void)
{
#define CONV "in x N,4,8,8;w c.weight 5,4,3,3;w c.bias 5;Conv c x,c.weight,c.bias "
#define HALF "in x N,4,8,8;MaxPool p x a kernel_shape=2,2 strides=2,2;"
  static const struct {
    const char *text, *ops, *parameters;
    guint axis, n_there;
    gboolean is_linear;
  } rows[] = {
    { CONV "y pads=1,1,1,1;out y N,5,8,8", "conv2d pixel_classes", "c.weight[3,4,3,3] c.bias[3]", 0,
      5, TRUE },
    { CONV "y pads=1,1,1,1;out y N,5,h,w", "conv2d pixel_classes", "c.weight[3,4,3,3] c.bias[3]", 0,
      5, TRUE },
    { CONV "a pads=1,1,1,1;Relu r a y;out y N,5,8,8", "conv2d relu pixel_classes",
      "c.weight[3,4,3,3] c.bias[3]", 0, 5, FALSE },
    { CONV "a pads=1,1,1,1;Softmax s a y axis=1;out y N,5,8,8", "conv2d pixel_classes",
      "c.weight[3,4,3,3] c.bias[3]", 0, 5, TRUE },
    { HALF "w c.weight 5,4,1,1;Conv c a,c.weight b;f s 1,1,2,2;Resize r b,,s y mode=linear;"
           "out y N,5,8,8",
      "max_pool conv2d resize pixel_classes", "c.weight[3,4,1,1]", 0, 5, TRUE },
    { HALF "w c.weight 4,5,2,2;w c.bias 5;ConvTranspose c a,c.weight,c.bias y strides=2,2;"
           "out y N,5,8,8",
      "max_pool conv_transpose pixel_classes", "c.weight[4,3,2,2] c.bias[3]", 1, 5, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      const DynoModel *model = import_test_open (rows[i].text, &error);
      g_test_message ("%s", rows[i].text);
      g_assert_no_error (error);
      g_assert_true (model->of_pixels);
      g_assert_cmpuint (model->n_file_outputs, ==, rows[i].n_there);
      g_autoptr (DynoGraph) graph = import_test_build (rows[i].text, shape, &error);
      DynoHead head;
      g_assert_no_error (error);
      g_autofree char *ops = import_test_list_ops (graph),
                      *parameters = import_test_list_parameters (graph);
      const DynoTensor *logits = dyno_network_get_logits (graph);
      g_assert_cmpstr (ops, ==, rows[i].ops);
      g_assert_cmpstr (parameters, ==, rows[i].parameters);
      g_assert_true (logits->n == 2 && logits->h == 8 && logits->w == 8 && logits->c == 3);
      g_assert_true (dyno_network_get_head (graph, &head));
      g_assert_cmpstr (head.weight->name, ==, "c.weight");
      g_assert_cmpuint (head.axis, ==, rows[i].axis);
      g_assert_cmpint (head.is_linear, ==, rows[i].is_linear);
      g_assert_cmpint (head.bias != NULL, ==, strstr (rows[i].parameters, "bias") != NULL);
    }
}

/* The output is the sum of two convolutions over different pixels: both get the classes of the
 * data.  In a classifier such a sum is an ordinary block, and there are no two last layers where
 * one has an activation after it or other outputs. */
static void
test_two_layers (void)
{
#define TWO                                                                               \
  "w c.weight 5,4,1,1;w c.bias 5;Conv c a,c.weight,c.bias b;f s 1,1,2,2;Resize r b,,s d " \
  "mode=linear;w e.weight 5,4,3,3;w e.bias 5;Conv e x,e.weight,e.bias g pads=1,1,1,1;"
  static const char *const others[] = {
    HALF TWO "Add z d,g h;GlobalAveragePool q h i;Flatten f i y;out y N,5",
    HALF TWO "Relu k g l;Add z d,l y;out y N,5,8,8",
    HALF "w c.weight 1,4,1,1;Conv c x,c.weight d;w e.weight 5,4,3,3;"
         "Conv e x,e.weight g pads=1,1,1,1;Sub z d,g y;out y N,5,8,8",
  };
  const char *text = HALF TWO "Add z g,d y;out y N,5,8,8";
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = import_test_build (text, shape, &error);
  DynoHead head;

  g_assert_no_error (error);
  g_autofree char *parameters = import_test_list_parameters (graph);
  g_assert_cmpstr (parameters, ==, "c.weight[3,4,1,1] c.bias[3] e.weight[3,4,3,3] e.bias[3]");
  g_assert_true (dyno_network_get_head (graph, &head));
  g_assert_cmpstr (head.weight->name, ==, "e.weight");
  g_assert_cmpstr (head.bias->name, ==, "e.bias");
  g_assert_cmpstr (head.added_weight->name, ==, "c.weight");
  g_assert_cmpstr (head.added_bias->name, ==, "c.bias");
  g_assert_false (head.is_linear);
  g_assert_cmpuint (graph->head_start, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    {
      const DynoModel *model = import_test_open (others[i], &error);
      g_test_message ("%s", others[i]);
      g_assert_no_error (error);
      g_assert_cmpuint (model->n_file_outputs, ==, 0);
    }
#undef TWO
}

/* Files whose outputs have no shape, or have four axes of which two have one pixel; networks
 * without a replaceable layer keep their outputs. */
static void
test_which_are_of_pixels (void)
{
  static const struct {
    const char *text;
    gboolean of_pixels;
    guint n_there;
  } rows[] = {
    { CONV "y pads=1,1,1,1;out y ?", TRUE, 5 },
    { CONV "a pads=1,1,1,1;GlobalAveragePool g a y;out y ?", FALSE, 5 },
    { CONV "a pads=1,1,1,1;GlobalAveragePool g a b;Flatten f b y;out y ?", FALSE, 5 },
    { CONV "a pads=1,1,1,1;GlobalAveragePool g a y;out y N,5,1,1", FALSE, 5 },
    { CONV "a pads=1,1,1,1;GlobalAveragePool g a b;Flatten f b y;out y N,5", FALSE, 5 },
    { "in x N,4,8,8;w c.weight 4,2,2,2;ConvTranspose c x,c.weight y group=2 pads=0,0,1,1;"
      "out y N,4,8,8",
      TRUE, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      const DynoModel *model = import_test_open (rows[i].text, &error);
      g_test_message ("%s", rows[i].text);
      g_assert_no_error (error);
      g_assert_cmpint (model->of_pixels, ==, rows[i].of_pixels);
      g_assert_cmpuint (model->n_file_outputs, ==, rows[i].n_there);
    }
}

/* Outputs that do not have a row for each pixel, and a softmax along a side of the image, are
 * refused. */
static void
test_pixel_refusals (void)
{
  import_test_assert_refused (CONV "y strides=2,2;out y N,5,3,3", shape,
                              "*The output “y” of the network is (2, 3, 3, 3); Dyno trains "
                              "networks with one row of outputs "
                              "for each pixel of the picture, (samples, outputs, 8, 8)*");
  import_test_assert_refused (CONV "a pads=1,1,1,1;Transpose t a y perm=0,2,3,1;out y N,8,8,5",
                              shape, "*(2, 8, 8, *for each pixel*");
  import_test_assert_refused (CONV "a pads=1,1,1,1;Softmax s a y;out y N,5,8,8", shape,
                              "*Softmax “s”: its axis is not that of the outputs*");
#undef CONV
#undef HALF
}

void
import_test_add_pixels (void)
{
  g_test_add_func ("/nn/import/conv-transpose", test_transposed);
  g_test_add_func ("/nn/import/conv-transpose-refusals", test_transposed_refusals);
  g_test_add_func ("/nn/import/classes-of-pixels", test_pixels);
  g_test_add_func ("/nn/import/classes-of-pixels-by-two-layers", test_two_layers);
  g_test_add_func ("/nn/import/which-networks-are-of-pixels", test_which_are_of_pixels);
  g_test_add_func ("/nn/import/pixel-refusals", test_pixel_refusals);
}
