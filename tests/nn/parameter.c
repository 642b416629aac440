/* SPDX-License-Identifier: MIT */
/* Parameters: layout in memory, initial values, fp16 on the host. */
#include "half.h"
#include "hash.h"
#include "network.h"
#include "rng.h"
#include <math.h>

static DynoParameter *
new_parameter (DynoGraph *graph, guint kind)
{
  static const char *const names[] = { "conv", "linear", "vector", "flat", "diagonal" };
  const DynoParameterLayout layouts[] = {
    dyno_layout_conv (5, 3, 2, 3),
    dyno_layout_linear (9, 1, 1, 13),
    dyno_layout_vector (11),
    dyno_layout_linear (9, 2, 4, 3),
    /* an order and pads that no op has: [kw][out_p][kh] */
    { .n_dims = 4, .extent = { 5, 1, 2, 3 }, .padded = { 8, 1, 2, 4 }, .order = { 3, 0, 1, 2 } }
  };
  return dyno_graph_parameter (graph, names[kind], &layouts[kind], DYNO_INIT_KAIMING_UNIFORM,
                               FALSE);
}

static void
test_round_trip (void)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  for (guint kind = 0; kind < 5; kind++)
    {
      const DynoParameter *parameter = new_parameter (graph, kind);
      guint64 count = dyno_parameter_count (parameter), filled = 0;
      g_autofree float *torch = g_new (float, count), *again = g_new0 (float, count);
      g_autofree float *packed = g_new (float, parameter->n_elements);
      for (guint64 i = 0; i < count; i++)
        torch[i] = (float) (i + 1);
      dyno_parameter_pack (parameter, torch, packed);
      for (guint64 i = 0; i < parameter->n_elements; i++)
        filled += packed[i] != 0;
      g_assert_cmpuint (filled, ==, count); /* all values are there, and the rest is zero */
      dyno_parameter_unpack (parameter, packed, again);
      g_assert_cmpmem (torch, count * sizeof (float), again, count * sizeof (float));
    }
}

static void
test_layout (void)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  const DynoParameter *conv = new_parameter (graph, 0), *flat = new_parameter (graph, 3);
  g_autofree float *torch = g_new (float, 1000), *packed = g_new (float, 2000);
  for (guint i = 0; i < 1000; i++)
    torch[i] = (float) i;
  dyno_parameter_pack (conv, torch, packed);
  /* o = 4, i = 2, kh = 1, kw = 2 */
  g_assert_cmpfloat (packed[((1 * 3 + 2) * 8 + 2) * 8 + 4], ==,
                     torch[((4 * 3 + 2) * 2 + 1) * 3 + 2]);
  dyno_parameter_pack (flat, torch, packed);
  /* o = 7, h = 1, w = 3, c = 2: column c * H * W + h * W + w */
  g_assert_cmpfloat (packed[((1 * 4 + 3) * 8 + 2) * 16 + 7], ==, torch[7 * 24 + 2 * 8 + 1 * 4 + 3]);
  g_assert_cmpuint (flat->n_elements, ==, 8 * 8 * 16);
  /* o = 4, kh = 1, kw = 2 of memory [kw][out_p][kh] */
  const DynoParameter *diagonal = new_parameter (graph, 4);
  dyno_parameter_pack (diagonal, torch, packed);
  g_assert_cmpfloat (packed[(2 * 8 + 4) * 2 + 1], ==, torch[(4 * 2 + 1) * 3 + 2]);
  g_assert_cmpuint (diagonal->n_elements, ==, 4 * 8 * 2);
}

/* Shapes and fans are PyTorch's, also where a weight has groups. */
static void
test_dims_and_fans (void)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  static const struct {
    guint n_dims;
    guint32 dims[4], fan_in, fan_out;
  } want[] = { { 4, { 5, 3, 2, 3 }, 18, 30 },
               { 2, { 9, 13 }, 13, 9 },
               { 1, { 11 }, 11, 11 },
               { 2, { 9, 24 }, 24, 9 },
               { 4, { 5, 1, 2, 3 }, 6, 30 } };
  for (guint kind = 0; kind < G_N_ELEMENTS (want); kind++)
    {
      const DynoParameter *parameter = new_parameter (graph, kind);
      g_assert_cmpuint (parameter->n_dims, ==, want[kind].n_dims);
      g_assert_cmpmem (parameter->dims, sizeof parameter->dims, want[kind].dims,
                       sizeof want[kind].dims);
      g_assert_cmpuint (parameter->fan_in, ==, want[kind].fan_in);
      g_assert_cmpuint (parameter->fan_out, ==, want[kind].fan_out);
    }
}

static void
test_initial_values (void)
{
  g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
  const DynoParameterLayout layout = dyno_layout_conv (64, 32, 3, 3);
  DynoParameter *uniform =
      dyno_graph_parameter (graph, "u", &layout, DYNO_INIT_KAIMING_UNIFORM, FALSE);
  DynoParameter *normal =
      dyno_graph_parameter (graph, "n", &layout, DYNO_INIT_KAIMING_NORMAL_OUT, FALSE);
  guint64 count = dyno_parameter_count (uniform);
  g_autofree float *a = g_new (float, count), *b = g_new (float, count);
  dyno_parameter_initialise (uniform, 7, a);
  dyno_parameter_initialise (uniform, 7, b);
  g_assert_cmpmem (a, count * sizeof (float), b, count * sizeof (float));
  dyno_parameter_initialise (uniform, 8, b);
  g_assert_cmpfloat (a[0], !=, b[0]);
  double largest = 0, bound = 1 / sqrt (32 * 9);
  for (guint64 i = 0; i < count; i++)
    largest = MAX (largest, fabs ((double) a[i]));
  g_assert_cmpfloat (largest, <=, bound);
  g_assert_cmpfloat (largest, >, 0.99 * bound);
  dyno_parameter_initialise (normal, 7, a);
  double square = 0;
  for (guint64 i = 0; i < count; i++)
    square += (double) a[i] * a[i];
  g_assert_cmpfloat (fabs (square / count / (2.0 / (64 * 9)) - 1), <, 0.05);
}

/* A parameter that several threads initialise and pack equals one that a single thread made. */
static void
test_large (void)
{
  static const DynoInit inits[] = { DYNO_INIT_KAIMING_UNIFORM, DYNO_INIT_KAIMING_NORMAL_OUT,
                                    DYNO_INIT_NORMAL_001, DYNO_INIT_NORMAL_002,
                                    DYNO_INIT_KAIMING_NORMAL_IN };
  for (guint k = 0; k < G_N_ELEMENTS (inits); k++)
    {
      g_autoptr (DynoGraph) graph = dyno_graph_new (&(DynoGraphParams){ .batch = 1 });
      const DynoParameterLayout layout = dyno_layout_conv (130, 141, 3, 3);
      DynoParameter *parameter = dyno_graph_parameter (graph, "w", &layout, inits[k], FALSE);
      guint64 count = dyno_parameter_count (parameter);
      g_autofree float *torch = g_new (float, count),
                       *packed = g_new (float, parameter->n_elements);
      g_autofree float *back = g_new (float, count);
      double scale = k == 0   ? 1 / sqrt (141 * 9)
                     : k == 1 ? sqrt (2.0 / (130 * 9))
                     : k == 2 ? 0.01
                     : k == 3 ? 0.02
                              : sqrt (2.0 / (141 * 9));
      DynoRng rng = dyno_rng_init (3, dyno_hash_string (DYNO_HASH_START, "w"));
      dyno_parameter_initialise (parameter, 3, torch);
      for (guint64 i = 0; i < count; i++)
        {
          double value = k == 0 ? 2 * dyno_rng_uniform (&rng) - 1 : dyno_rng_normal (&rng);
          g_assert_cmpfloat (torch[i], ==, (float) (value * scale));
        }
      dyno_parameter_pack (parameter, torch, packed);
      dyno_parameter_unpack (parameter, packed, back);
      g_assert_cmpmem (torch, count * sizeof (float), back, count * sizeof (float));
    }
}

static void
test_half (void)
{
  for (guint bits = 0; bits < 65536; bits++)
    {
      float value = dyno_half_to_float ((guint16) bits);
      if (isnan (value))
        g_assert_true (isnan (dyno_half_to_float (dyno_half_from_float (value))));
      else
        g_assert_cmpuint (dyno_half_from_float (value), ==, bits);
    }
  g_assert_cmpuint (dyno_half_from_float (1.0f + 0x1p-11f), ==, 0x3c00); /* a tie goes to even */
  g_assert_cmpuint (dyno_half_from_float (1.0f + 3 * 0x1p-11f), ==, 0x3c02); /* up to even */
  /* above the tie */
  g_assert_cmpuint (dyno_half_from_float (1.0f + 0x1p-11f + 0x1p-20f), ==, 0x3c01);
  g_assert_cmpuint (dyno_half_from_float (65519.0f), ==, 0x7bff);
  g_assert_cmpuint (dyno_half_from_float (65520.0f), ==, 0x7c00);
  g_assert_cmpuint (dyno_half_from_float (0x1p-25f), ==, 0);
  g_assert_cmpuint (dyno_half_from_float (0x1.01p-25f), ==, 1);
  /* a subnormal rounds up to a normal */
  g_assert_cmpuint (dyno_half_from_float (0x1.ffcp-15f + 0x1p-26f), ==, 0x0400);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/parameter/dims-and-fans-are-pytorchs", test_dims_and_fans);
  g_test_add_func ("/nn/parameter/pack-unpack-round-trip", test_round_trip);
  g_test_add_func ("/nn/parameter/layout-is-as-documented", test_layout);
  g_test_add_func ("/nn/parameter/initial-values", test_initial_values);
  g_test_add_func ("/nn/parameter/large-ones-by-many-threads", test_large);
  g_test_add_func ("/nn/half/all-values-and-ties", test_half);
  return g_test_run ();
}
