/* SPDX-License-Identifier: MIT */
/* Weight gradients are moved into barrier levels that would leave a GPU idle: tested on made-up
 * lists, whose resulting order is known, and on networks. */
#include "graph-private.h"
#include "infos.h"
#include "lowering-private.h"
#include "network.h"
#include "plan-private.h"

#define LARGE (G_GUINT64_CONSTANT (64) << 20)

typedef struct {
  DynoGraph *graph;
  DynoLowering *lowering;
  GHashTable *tensors, *nodes;
} Made;

static void
made_init (Made *made)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = { .model = "mlp",
                               .batch = 4,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 8, 8, 1, 0),
                               .n_outputs = 2,
                               .precision = dyno_precision_of_amp (TRUE),
                               .mode = DYNO_MODE_TRAIN };
  made->graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  made->lowering = dyno_lowering_new (made->graph, &info_card, NULL, &error);
  g_assert_no_error (error);
  g_ptr_array_set_size (made->lowering->dispatches, 0);
  made->tensors = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  made->nodes = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
}

static void
made_clear (Made *made)
{
  g_hash_table_unref (made->tensors);
  g_hash_table_unref (made->nodes);
  dyno_lowering_free (made->lowering);
  dyno_graph_free (made->graph);
}

/* Upper case: a parameter's gradient.  "big" tensors have a GiB, others a MiB. */
static DynoTensor *
tensor_of (Made *made, const char *name)
{
  DynoTensor *tensor = g_hash_table_lookup (made->tensors, name);
  if (tensor)
    return tensor;
  tensor = g_new0 (DynoTensor, 1);
  tensor->name = (char *) name;
  tensor->space = g_ascii_isupper (name[0]) ? DYNO_SPACE_GRADIENT : DYNO_SPACE_ARENA;
  tensor->size_bytes = G_GUINT64_CONSTANT (1) << (g_str_has_prefix (name, "big") ? 30 : 20);
  tensor->offset =
      g_hash_table_size (made->tensors) * tensor->size_bytes; /* the planned offset in the arena */
  g_hash_table_insert (made->tensors, (gpointer) name, tensor);
  return tensor;
}

/* Adds a dispatch of the backward pass of this node, with its number of bytes, and the tensors that
 * it reads and writes, each list ended by NULL. */
static void
add (Made *made, const char *node_name, const char *pass, guint64 bytes, ...)
{
  DynoNode *node = g_hash_table_lookup (made->nodes, node_name);
  if (!node)
    {
      node = g_new0 (DynoNode, 1);
      node->stage = DYNO_STAGE_BACKWARD;
      g_hash_table_insert (made->nodes, (gpointer) node_name, node);
    }
  DynoDispatch *dispatch = g_new0 (DynoDispatch, 1);
  dispatch->node = node;
  dispatch->pass = pass;
  dispatch->stage = DYNO_STAGE_BACKWARD;
  dispatch->bytes = bytes;
  va_list names;
  va_start (names, bytes);
  for (guint access = DYNO_ACCESS_READ; access <= DYNO_ACCESS_WRITE; access++)
    for (const char *name; (name = va_arg (names, const char *)) != NULL;)
      dispatch->bindings[dispatch->n_bindings++] =
          (DynoBinding){ .tensor = tensor_of (made, name), .access = access };
  va_end (names);
  g_ptr_array_add (made->lowering->dispatches, dispatch);
}

/* Passes in their order; "|" precedes a pass that begins a level. */
static void
assert_levels (Made *made, const char *expected)
{
  dyno_lowering_overlap (made->lowering);
  GPtrArray *list = made->lowering->dispatches;
  dyno_dispatches_peak (list);
  g_autofree guint8 *before = dyno_barriers_find (list);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < list->len; i++)
    g_string_append_printf (text, "%s%s%s", i ? " " : "", before[i] ? "| " : "",
                            ((const DynoDispatch *) g_ptr_array_index (list, i))->pass);
  g_assert_cmpstr (text->str, ==, expected);
}

/* Adds the backward pass of a convolution as it is appended, and that of the batch norm before
 * it. */
static void
add_block (Made *made)
{
  add (made, "bn2", "gradient2", LARGE, "big y2", NULL, "dy2", NULL);
  add (made, "conv2.wgrad", "wgrad", LARGE, "dy2", "x2", NULL, "parts", NULL);
  add (made, "conv2.wgrad", "reduce", LARGE, "parts", NULL, "G2", NULL);
  add (made, "conv2.dgrad", "dgrad", LARGE, "dy2", NULL, "dx2", "sums", NULL);
  add (made, "bn1", "collect", 1000, "sums", NULL, "means", "B1", NULL);
}

static void
test_beside_what_is_short (void)
{
  Made made;
  made_init (&made);
  add_block (&made);
  add (&made, "bn1", "gradient1", LARGE, "dx2", "means", NULL, "dy1", NULL);
  assert_levels (&made, "gradient2 | dgrad | collect wgrad | gradient1 reduce");
  made_clear (&made);
}

/* Without a short level the move still saves a level. */
static void
test_beside_the_data_gradient (void)
{
  Made made;
  made_init (&made);
  add_block (&made);
  g_ptr_array_set_size (made.lowering->dispatches, 4);
  add (&made, "relu", "activation", LARGE, "dx2", NULL, "dy1", NULL);
  assert_levels (&made, "gradient2 | dgrad wgrad | activation reduce");
  made_clear (&made);
}

/* Each short level takes one weight gradient; the next short level takes the next. */
static void
test_one_for_each (void)
{
  Made made;
  made_init (&made);
  add_block (&made);
  add (&made, "bn1", "gradient1", LARGE, "dx2", "means", NULL, "dy1", NULL);
  add (&made, "conv1.wgrad", "wgrad1", LARGE, "dy1", "x1", NULL, "G1", NULL);
  add (&made, "conv1.dgrad", "dgrad1", LARGE, "dy1", NULL, "dx1", "sums1", NULL);
  add (&made, "bn0", "collect0", 1000, "sums1", NULL, "means0", "B0", NULL);
  add (&made, "bn0", "gradient0", LARGE, "dx1", "means0", NULL, "dy0", NULL);
  assert_levels (&made, "gradient2 | dgrad | collect wgrad | gradient1 reduce | dgrad1 | "
                        "collect0 wgrad1 | gradient0");
  made_clear (&made);
}

/* The data gradient overwrites an input of the weight gradient, which therefore stays before it. */
static void
test_not_behind_what_overwrites (void)
{
  Made made;
  made_init (&made);
  add (&made, "bn2", "gradient2", LARGE, "big y2", NULL, "dy2", NULL);
  add (&made, "conv2.wgrad", "wgrad", LARGE, "dy2", "x2", NULL, "G2", NULL);
  add (&made, "conv2.dgrad", "dgrad", LARGE, "dy2", NULL, "x2", "sums", NULL);
  add (&made, "bn1", "collect", 1000, "sums", NULL, "means", "B1", NULL);
  add (&made, "bn1", "gradient1", LARGE, "x2", "means", NULL, "dy1", NULL);
  assert_levels (&made, "gradient2 | wgrad | dgrad | collect | gradient1");
  made_clear (&made);
}

/* Two nodes add to one gradient, so the order of the sums stays. */
static void
test_shared_gradients_stay (void)
{
  Made made;
  made_init (&made);
  add (&made, "bn2", "gradient2", LARGE, "big y2", NULL, "dy2", NULL);
  add (&made, "conv2.wgrad", "wgrad", LARGE, "dy2", "x2", NULL, "G", NULL);
  add (&made, "conv2.dgrad", "dgrad", LARGE, "dy2", NULL, "dx2", "sums", NULL);
  add (&made, "bn1", "collect", 1000, "sums", NULL, "means", "B1", NULL);
  add (&made, "bn1", "gradient1", LARGE, "dx2", "means", NULL, "dy1", NULL);
  add (&made, "conv1.wgrad", "wgrad1", LARGE, "dy1", "x1", NULL, "G", NULL);
  assert_levels (&made, "gradient2 | wgrad dgrad | collect | gradient1 | wgrad1");
  made_clear (&made);
}

/* The weight gradient is the last reader of a large input, where memory is at its peak. */
static void
test_the_peak_does_not_grow (void)
{
  Made made;
  made_init (&made);
  add (&made, "bn2", "gradient2", LARGE, "big y2", "big x2", NULL, "dy2", NULL);
  add (&made, "conv2.wgrad", "wgrad", LARGE, "dy2", "big x2", NULL, "G2", NULL);
  add (&made, "conv2.dgrad", "dgrad", LARGE, "dy2", NULL, "big dx2", "big more", NULL);
  add (&made, "bn1", "collect", 1000, "big more", NULL, "big means", "B1", NULL);
  add (&made, "bn1", "gradient1", LARGE, "big dx2", "big means", NULL, "dy1", NULL);
  assert_levels (&made, "gradient2 | wgrad dgrad | collect | gradient1");
  made_clear (&made);
}

/* Few batch norms are left whose backward sums are the only dispatch in their level. */
static void
test_networks (void)
{
  static const char *const models[] = { "resnet50", "mobilenetv2" };
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (GError) error = NULL;
      DynoNetworkParams params = { .model = models[i],
                                   .batch = 64,
                                   .schema = dyno_schema_image (DYNO_ELEMENT_U8, 224, 224, 3, 0),
                                   .n_outputs = 10,
                                   .precision = dyno_precision_of_amp (TRUE),
                                   .mode = DYNO_MODE_TRAIN };
      DynoGraph *graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      DynoLowering *lowering = dyno_lowering_new (graph, &info_card, NULL, &error);
      g_assert_no_error (error);
      GPtrArray *list = dyno_lowering_get_dispatches (lowering);
      dyno_dispatches_peak (list);
      g_autofree guint8 *before = dyno_barriers_find (list);
      guint alone = 0, all = 0;
      for (guint k = 0; k < list->len; k++)
        {
          const DynoDispatch *dispatch = g_ptr_array_index (list, k);
          gboolean collects = g_str_equal (dispatch->pass, "collect");
          all += collects;
          alone += collects && before[k] && k + 1 < list->len && before[k + 1];
        }
      g_assert_cmpuint (all, >=, 50);
      g_assert_cmpuint (alone, <=, all / 4);
      dyno_lowering_free (lowering);
      dyno_graph_free (graph);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/overlap/beside-what-is-short", test_beside_what_is_short);
  g_test_add_func ("/nn/overlap/beside-the-data-gradient", test_beside_the_data_gradient);
  g_test_add_func ("/nn/overlap/one-for-each", test_one_for_each);
  g_test_add_func ("/nn/overlap/not-behind-what-overwrites", test_not_behind_what_overwrites);
  g_test_add_func ("/nn/overlap/shared-gradients-stay", test_shared_gradients_stay);
  g_test_add_func ("/nn/overlap/the-peak-does-not-grow", test_the_peak_does_not_grow);
  g_test_add_func ("/nn/overlap/networks", test_networks);
  return g_test_run ();
}
