/* SPDX-License-Identifier: MIT */
/* The autotuner fills the table, a variant with wrong results never wins, and cancelling keeps the
 * choices that were made. */
#include "autotune.h"
#include "elementwise.h"
#include "graph-private.h"
#include "network.h"
#include "ops.h"

static DynoDevice *device;

static const DynoVariant two_ways[] = { { .m = 1, .n = 1, .k = 1 }, { .m = 2, .n = 2, .k = 2 } };

/* Lowers y = a + b with two variants: one computes the sum twice, the other is faster and computes
 * a + a. */
static void
two_ways_lower (DynoLowering *lowering, DynoNode *node)
{
  gboolean wrong = dyno_lowering_choose (lowering, node, "two-ways", two_ways, 2) == 1;
  for (guint i = 0; i < (wrong ? 1 : 6); i++)
    dyno_elementwise_lower (lowering, node, "forward", "add/add_forward.comp", node->inputs[0],
                            node->inputs[wrong ? 0 : 1], node->outputs[0], FALSE, NULL, 0, FALSE);
}

static void
test_wrong_never_wins (void)
{
  static const DynoOpClass op = { .name = "two_ways", .lower = two_ways_lower };
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 64 });
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  DynoTensor *inputs[] = { dyno_graph_activation (graph, "a", 64, 32, 32, 8),
                           dyno_graph_activation (graph, "b", 64, 32, 32, 8) };
  DynoTensor *y = dyno_graph_activation (graph, "y", 64, 32, 32, 8);
  dyno_graph_node (graph, &op, "node", inputs, 2, &y, 1, NULL, 0);
  g_test_expect_message ("dyno-nn", G_LOG_LEVEL_WARNING, "*two-ways with f32 2x2x2 is wrong*");
  g_assert_true (dyno_autotune_within (device, graph, choices, 0, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_test_assert_expected_messages ();
  DynoVariant best;
  g_assert_true (dyno_choices_get (choices, "two-ways", &best));
  g_assert_true (dyno_variant_equal (&best, &two_ways[0]));
}

static void
count_progress (guint done, guint count, gpointer data)
{
  guint *last = data;
  g_assert_cmpuint (done, ==, *last + 1);
  g_assert_cmpuint (done, <=, count);
  *last = done;
}

static DynoGraph *
small_net (gboolean amp)
{
  DynoNetworkParams params = { .model = "mlp",
                               .model_width = 0.125,
                               .batch = 8,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 4, 4, 3, 0),
                               .n_outputs = 10,
                               .precision = dyno_precision_of_amp (amp),
                               .mode = DYNO_MODE_TRAIN };
  return dyno_network_build (&params, NULL);
}

static void
test_fills_the_table (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (DynoGraph) graph = small_net (amp);
      g_autoptr (DynoChoices) choices = dyno_choices_new ();
      guint64 allocated = dyno_device_get_allocated_total (device);
      guint count = dyno_autotune_count (device, graph, choices), done = 0;
      g_assert_cmpuint (count, >, 8);
      g_assert_true (
          dyno_autotune_within (device, graph, choices, 0, count_progress, &done, NULL, &error));
      g_assert_no_error (error);
      g_assert_cmpuint (done, >, 0);
      g_assert_cmpuint (dyno_autotune_count (device, graph, choices), ==, 0);
      g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, allocated);
      g_autoptr (DynoLowering) lowering =
          dyno_lowering_new (graph, dyno_device_get_info (device), choices, &error);
      GPtrArray *points = dyno_lowering_get_choice_points (lowering);
      for (guint i = 0; i < points->len; i++)
        {
          const DynoChoicePoint *point = g_ptr_array_index (points, i);
          DynoVariant known;
          g_assert_true (dyno_choices_get (choices, point->key, &known));
          g_assert_true (dyno_variant_equal (&known, &point->variants[point->chosen]));
        }
    }
}

/* Without time nothing is measured and nothing fails; choices that were not measured are not
 * recorded as known. */
static void
test_no_time (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = small_net (FALSE);
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  guint count = dyno_autotune_count (device, graph, choices);
  g_assert_true (dyno_autotune_within (device, graph, choices, 1e-9, NULL, NULL, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_autotune_count (device, graph, choices), ==, count);
}

/* Choices for which there was no time keep their best guess, and are not measured again. */
static void
test_settles (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = small_net (FALSE);
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  g_assert_true (dyno_autotune_within (device, graph, choices, 1e-9, NULL, NULL, NULL, &error));
  g_assert_true (dyno_autotune_settle (device, graph, choices, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_autotune_count (device, graph, choices), ==, 0);
  g_autoptr (DynoLowering) lowering =
      dyno_lowering_new (graph, dyno_device_get_info (device), choices, &error);
  GPtrArray *points = dyno_lowering_get_choice_points (lowering);
  for (guint i = 0; i < points->len; i++)
    g_assert_cmpuint (((DynoChoicePoint *) g_ptr_array_index (points, i))->chosen, ==, 0);
}

static void
cancel_when_one_is_known (guint done, guint count, gpointer data)
{
  gpointer *both = data;
  g_autoptr (DynoGraph) graph = small_net (FALSE);
  if (dyno_autotune_count (device, graph, both[0]) < GPOINTER_TO_UINT (both[2]))
    g_cancellable_cancel (both[1]);
}

/* After a stop before the end, the next start has less to do. */
static void
test_stop_keeps (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = small_net (FALSE);
  g_autoptr (DynoChoices) choices = dyno_choices_load ("a device");
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  guint count = dyno_autotune_count (device, graph, choices);
  gpointer data[] = { choices, cancellable, GUINT_TO_POINTER (count) };
  g_assert_false (dyno_autotune_within (device, graph, choices, 0, cancel_when_one_is_known, data,
                                        cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_autoptr (DynoChoices) kept = dyno_choices_load ("a device");
  g_assert_cmpuint (dyno_autotune_count (device, graph, kept), <, count);
  g_assert_cmpuint (dyno_autotune_count (device, graph, kept), >, 0);
}

static void
cancel_at_three (guint done, guint count, gpointer data)
{
  if (done == 3)
    g_cancellable_cancel (data);
}

static void
test_cancelling (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoGraph) graph = small_net (FALSE);
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_assert_false (
      dyno_autotune (device, graph, choices, cancel_at_three, cancellable, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Before it is timed, a device computes for as long as it was idle, at most for 50 ms. */
static void
test_warm_up (void)
{
  g_assert_cmpint (dyno_autotune_warm_up_us (7000, 7000), ==, 0);
  g_assert_cmpint (dyno_autotune_warm_up_us (7000, 9500), ==, 2500);
  g_assert_cmpint (dyno_autotune_warm_up_us (7000, 9000000), ==, 50000);
  g_assert_cmpint (dyno_autotune_warm_up_us (0, 9000000), ==, 50000);
  g_assert_cmpint (dyno_autotune_warm_up_us (7000, 6000), ==, 0);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("dyno-autotune-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", folder, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/autotune/warm-up", test_warm_up);
  device = dyno_device_open (NULL, &error);
  g_assert_no_error (error);
  g_test_add_func ("/nn/autotune/wrong-variant-never-wins", test_wrong_never_wins);
  g_test_add_func ("/nn/autotune/fills-the-table", test_fills_the_table);
  g_test_add_func ("/nn/autotune/no-time", test_no_time);
  g_test_add_func ("/nn/autotune/what-time-leaves-is-settled", test_settles);
  g_test_add_func ("/nn/autotune/a-stop-keeps-what-was-measured", test_stop_keeps);
  g_test_add_func ("/nn/autotune/cancelling", test_cancelling);
  int result = g_test_run ();
  dyno_device_unref (device);
  return result;
}
