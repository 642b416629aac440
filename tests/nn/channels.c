/* SPDX-License-Identifier: MIT */
/* concat, channels and channel_shuffle: copies, so that values and gradients are exact where nothing is added. */
#include "fusion.h"
#include "harness.h"
#include <string.h>

#define MOST 26

typedef struct {
  guint32 n, h, w;
} Size;

static const Size sizes[] = { { 1, 1, 1 }, { 2, 5, 7 }, { 1, 64, 63 } };

/* Multiples of 8, of 4, and neither; a last tensor with an odd number of channels; more tensors
 * than a dispatch takes, with whole accesses and with less than one each. */
static const guint32 lists[][MOST + 1] = {
  { 8, 16, 24 },
  { 3, 5 },
  { 10, 7, 33 },
  { 8, 3 },
  { 4, 4, 9 },
  { 16, 8, 8, 8, 8, 8, 8, 8, 8, 8, 5 },
  { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2 },
  { 12, 1, 1, 1, 1, 1, 1, 1, 1, 20, 3, 2, 2, 2, 2, 2, 2, 2, 2, 9 },
};

static guint
list_length (const guint32 *list)
{
  guint n = 0;
  while (list[n])
    n++;
  return n;
}

/* whole[pixel][first + c] = or += part[pixel][c] */
static void
put (double *whole, guint32 channels, guint32 first, const double *part, guint32 c, gsize pixels,
     gboolean adds)
{
  for (gsize i = 0; i < pixels * c; i++)
    {
      double *to = &whole[i / c * channels + first + i % c];
      *to = adds ? *to + part[i] : part[i];
    }
}

static double *
take (const double *whole, guint32 channels, guint32 first, guint32 c, gsize pixels)
{
  double *part = g_new (double, pixels *c);
  for (gsize i = 0; i < pixels * c; i++)
    part[i] = whole[i / c * channels + first + i % c];
  return part;
}

static void
assert_equal (const double *got, const double *want, gsize n)
{
  for (gsize i = 0; i < n; i++)
    g_assert_cmpfloat (got[i], ==, want[i]);
}

/* accumulate: every other tensor has a gradient already, and tensor 0 needs none. */
static void
check_concat (const Size *s, const guint32 *list, gboolean amp, gboolean accumulate)
{
  guint n = list_length (list);
  gsize pixels = (gsize) s->n * s->h * s->w;
  guint32 channels = 0;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  DynoTensor *tensors[MOST];
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free),
                        starts = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("x%u", i);
      g_ptr_array_add (values, harness_random (2 * i + 1, pixels * list[i], 1));
      g_ptr_array_add (starts, harness_random (2 * i + 2, pixels * list[i], 1));
      tensors[i] = harness_input (h, name, s->n, s->h, s->w, list[i], values->pdata[i]);
      channels += list[i];
    }
  DynoTensor *y = dyno_concat (harness_graph (h), tensors, n, "y");
  g_assert_cmpuint (y->c, ==, channels);
  g_autofree double *dy = harness_random (99, pixels * channels, 1),
                    *want = g_new (double, pixels *channels);
  harness_set_gradient (h, y, dy);
  for (guint i = 1; i < n && accumulate; i += 2)
    harness_set_gradient (h, tensors[i], starts->pdata[i]);
  tensors[0]->needs_gradient = !accumulate;
  harness_run (h);
  g_autofree double *got = harness_read (h, y);
  guint32 first = 0;
  for (guint i = 0; i < n; first += list[i], i++)
    {
      put (want, channels, first, values->pdata[i], list[i], pixels, FALSE);
      if (i == 0 && accumulate)
        continue;
      gsize count = pixels * list[i];
      g_autofree double *dx = take (dy, channels, first, list[i], pixels),
                        *dx_got = harness_read_gradient (h, tensors[i]);
      const double *start = starts->pdata[i];
      for (gsize k = 0; k < count && accumulate && i % 2 == 1; k++)
        dx[k] += start[k];
      harness_assert_close (dx_got, dx, count, accumulate ? harness_tolerance (h) : 0, "dx");
    }
  assert_equal (got, want, pixels * channels);
}

static void
test_concat (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_concat (&sizes[i % 2 ? 1 : i / 2 % 2], lists[i], amp, FALSE);
  check_concat (&sizes[2], lists[0], TRUE, FALSE);
  check_concat (&sizes[2], lists[2], FALSE, FALSE);
}

static void
test_concat_accumulates (void)
{
  for (guint i = 0; i < 5; i++)
    for (guint amp = 0; amp < 2; amp++)
      check_concat (&sizes[1], lists[i], amp, TRUE);
}

/* A tensor that is concatenated twice has the sum of both gradients. */
static void
test_concat_twice (void)
{
  const Size *s = &sizes[1];
  const guint32 c = 5;
  gsize pixels = (gsize) s->n * s->h * s->w;
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (Harness) h =
          harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
      g_autofree double *x = harness_random (1, pixels * c, 1),
                        *dy = harness_random (2, pixels * 2 * c, 1);
      DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, c, x);
      DynoTensor *y = dyno_concat (harness_graph (h), (DynoTensor *[]){ tx, tx }, 2, "y");
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *left = take (dy, 2 * c, 0, c, pixels),
                        *right = take (dy, 2 * c, c, c, pixels), *got = harness_read (h, y),
                        *dx = harness_read_gradient (h, tx), *want = g_new (double, pixels * 2 * c);
      for (gsize i = 0; i < pixels * c; i++)
        left[i] += right[i];
      put (want, 2 * c, 0, x, c, pixels, FALSE);
      put (want, 2 * c, c, x, c, pixels, FALSE);
      assert_equal (got, want, pixels * 2 * c);
      harness_assert_close (dx, left, pixels * c, harness_tolerance (h), "dx");
    }
}

/* Ranges of channels of x; the gradients of all ranges are summed, and channels without a range get
 * zero. */
typedef struct {
  guint32 c;
  struct {
    guint32 first, count;
  } runs[3];
} Runs;

static const Runs runs[] = {
  { 10, { { 0, 3 } } },
  { 10, { { 3, 7 } } },
  { 24, { { 8, 8 } } },
  { 24, { { 8, 9 }, { 16, 8 } } },
  { 33, { { 1, 32 }, { 0, 1 } } },
  { 20, { { 4, 8 }, { 4, 16 } } },
  { 272, { { 100, 17 }, { 0, 100 }, { 117, 155 } } },
  { 40, { { 8, 16 }, { 0, 40 }, { 20, 9 } } },
};

static void
check_channels (const Size *s, const Runs *r, gboolean amp)
{
  gsize pixels = (gsize) s->n * s->h * s->w;
  guint n = 0;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  g_autofree double *x = harness_random (1, pixels * r->c, 1), *dx = g_new0 (double, pixels * r->c);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, r->c, x), *ys[3];
  for (; n < 3 && r->runs[n].count; n++)
    {
      guint32 count = r->runs[n].count;
      g_autofree char *name = g_strdup_printf ("y%u", n);
      g_autofree double *dy = harness_random (2 + n, pixels * count, 1);
      ys[n] = dyno_channels (harness_graph (h), tx, name, r->runs[n].first, count);
      g_assert_cmpuint (ys[n]->c, ==, count);
      harness_set_gradient (h, ys[n], dy);
      put (dx, r->c, r->runs[n].first, dy, count, pixels, TRUE);
    }
  harness_run (h);
  for (guint i = 0; i < n; i++)
    {
      guint32 count = r->runs[i].count;
      g_autofree double *got = harness_read (h, ys[i]),
                        *want = take (x, r->c, r->runs[i].first, count, pixels);
      assert_equal (got, want, pixels * count);
    }
  g_autofree double *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (dx_got, dx, pixels * r->c, n > 1 ? harness_tolerance (h) : 0, "dx");
}

static void
test_channels (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    for (guint amp = 0; amp < 2; amp++)
      check_channels (&sizes[i % 2], &runs[i], amp);
  check_channels (&sizes[1], &runs[6], TRUE);
  check_channels (&sizes[2], &runs[3], TRUE);
}

/* accumulate: x has a gradient already. */
static void
check_shuffle (const Size *s, guint32 c, guint32 groups, gboolean amp, gboolean accumulate)
{
  gsize count = (gsize) s->n * s->h * s->w * c;
  g_autoptr (Harness) h =
      harness_new (&(HarnessParams){ .amp = amp, .training = TRUE, .batch = s->n });
  g_autofree double *x = harness_random (1, count, 1), *dy = harness_random (2, count, 1),
                    *start = harness_random (3, count, 1), *want = g_new (double, count),
                    *dx = g_new (double, count);
  DynoTensor *tx = harness_input (h, "x", s->n, s->h, s->w, c, x);
  DynoTensor *y = dyno_channel_shuffle (harness_graph (h), tx, "y", groups);
  harness_set_gradient (h, y, dy);
  if (accumulate)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  for (gsize i = 0; i < count; i++)
    {
      guint32 at = (guint32) (i % c), group = at / (c / groups), place = at % (c / groups);
      gsize to = i - at + place * groups + group;
      want[to] = x[i];
      dx[i] = dy[to] + (accumulate ? start[i] : 0);
    }
  g_autofree double *got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx);
  assert_equal (got, want, count);
  harness_assert_close (dx_got, dx, count, accumulate ? harness_tolerance (h) : 0, "dx");
}

static void
test_shuffle (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      check_shuffle (&sizes[0], 6, 3, amp, FALSE);
      check_shuffle (&sizes[1], 116, 2, amp, FALSE);
      check_shuffle (&sizes[1], 33, 3, amp, TRUE);
      check_shuffle (&sizes[2], 24, 8, amp, FALSE);
    }
}

/* Two layers of a dense block, then a unit of ShuffleNet: tensors with several readers, and
 * gradients of channel ranges in memory that others share.  Returns z, then the gradients of x and
 * of the first layer's weight. */
static double *
blocks_run (gboolean amp, gboolean fused, gboolean restoring, gsize *n)
{
  enum { N = 2, SIDE = 6, C = 12, GROWTH = 6, ALL = C + 2 * GROWTH };
  guint sparse, sums, loads, pairs;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp,
                                                         .training = TRUE,
                                                         .batch = N,
                                                         .restoring = restoring,
                                                         .sparse = fused ? &sparse : NULL,
                                                         .gradient_sums = fused ? &sums : NULL,
                                                         .norm_loads = fused ? &loads : NULL,
                                                         .pairs = fused ? &pairs : NULL });
  DynoGraph *graph = harness_graph (h);
  const DynoConv2dParams conv = { .out_channels = GROWTH,
                                  .kernel_h = 3,
                                  .kernel_w = 3,
                                  .pad_h = 1,
                                  .pad_w = 1,
                                  .init = DYNO_INIT_KAIMING_UNIFORM };
  gsize pixels = N * SIDE * SIDE, n_x = pixels * C, n_z = pixels * ALL, n_w = GROWTH * C * 9;
  g_autofree double *x = harness_random (1, n_x, 1), *dz = harness_random (2, n_z, 1);
  DynoTensor *tx = harness_input (h, "x", N, SIDE, SIDE, C, x), *parts[3] = { tx };
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *joined = g_strdup_printf ("joined%u", i),
                      *norm = g_strdup_printf ("bn%u", i), *relu = g_strdup_printf ("relu%u", i),
                      *name = g_strdup_printf ("conv%u", i);
      DynoTensor *y = dyno_batch_norm (graph, dyno_concat (graph, parts, i + 1, joined), norm);
      parts[i + 1] = dyno_conv2d (graph, dyno_relu (graph, y, relu), name, &conv);
    }
  DynoTensor *y = dyno_concat (graph, parts, 3, "features");
  DynoTensor *left = dyno_channels (graph, y, "left", 0, ALL / 2),
             *right = dyno_channels (graph, y, "right", ALL / 2, ALL / 2);
  right = dyno_relu (graph, dyno_batch_norm (graph, right, "bn2"), "relu2");
  DynoTensor *z = dyno_channel_shuffle (
      graph, dyno_concat (graph, (DynoTensor *[]){ left, right }, 2, "both"), "z", 2);
  if (fused)
    dyno_fusion_apply_stage (DYNO_FUSION_FORWARD, graph);
  harness_set_gradient (h, z, dz);
  harness_run (h);
  if (fused)
    g_assert_cmpuint (loads, ==, 2);
  g_autofree double *got = harness_read (h, z), *dx = harness_read_gradient (h, tx),
                    *dw = harness_read_parameter_gradient (h, "conv0.weight");
  double *all = g_new (double, n_z + n_x + n_w);
  memcpy (all, got, n_z * sizeof (double));
  memcpy (all + n_z, dx, n_x * sizeof (double));
  memcpy (all + n_z + n_x, dw, n_w * sizeof (double));
  *n = n_z + n_x + n_w;
  return all;
}

static void
test_blocks (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      gsize n;
      g_autofree double *plain = blocks_run (amp, FALSE, FALSE, &n);
      for (guint form = 1; form < 4; form++)
        {
          g_autofree double *got = blocks_run (amp, form & 1, form & 2, &n);
          harness_assert_close (got, plain, n, amp ? 2e-5 : 1e-7, "blocks");
        }
    }
}

/* Nothing is copied where the result is the tensor itself; copies count no FLOPs. */
static void
test_whole (void)
{
  const double values[5] = { 1, 2, 3, 4, 5 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
  DynoTensor *x = harness_input (h, "x", 1, 1, 1, 5, values);
  g_assert_true (dyno_concat (harness_graph (h), &x, 1, "y") == x);
  g_assert_true (dyno_channels (harness_graph (h), x, "z", 0, 5) == x);
  g_assert_true (dyno_channel_shuffle (harness_graph (h), x, "s", 1) == x);
  g_assert_true (dyno_channel_shuffle (harness_graph (h), x, "s", 5) == x);
  DynoTensor *part = dyno_channels (harness_graph (h), x, "part", 2, 3);
  g_assert_cmpuint (part->producer->op->flops (part->producer), ==, 0);
  g_autofree char *text = dyno_node_print_attributes (part->producer);
  g_assert_cmpstr (text, ==, "first=2");
}

static void
test_shapes (void)
{
  const double values[24] = { 0 };
  for (guint form = 0; form < 8; form++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
      DynoTensor *x = harness_input (h, "x", 2, 1, 2, 3, values),
                 *narrow = harness_input (h, "narrow", 2, 1, 1, 3, values),
                 *tall = harness_input (h, "tall", 2, 2, 2, 3, values);
      DynoTensor *pair[] = { x, form == 0 ? narrow : tall };
      DynoTensor *y = form < 2    ? dyno_concat (harness_graph (h), pair, 2, "y")
                      : form == 2 ? dyno_channels (harness_graph (h), x, "y", 1, 3)
                      : form == 3 ? dyno_channels (harness_graph (h), x, "y", 3, 1)
                      : form == 4 ? dyno_channels (harness_graph (h), x, "y", 1, G_MAXUINT32)
                      : form == 5
                          ? dyno_channels (harness_graph (h), x, "y", 1, 0)
                          : dyno_channel_shuffle (harness_graph (h), x, "y", form == 6 ? 2 : 0);
      g_assert_null (y);
      g_autoptr (GError) error = NULL;
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/concat/joins-channels", test_concat);
  g_test_add_func ("/nn/concat/gradients-accumulate", test_concat_accumulates);
  g_test_add_func ("/nn/concat/a-tensor-twice", test_concat_twice);
  g_test_add_func ("/nn/channels/takes-runs", test_channels);
  g_test_add_func ("/nn/channel-shuffle/transposes-groups", test_shuffle);
  g_test_add_func ("/nn/concat/blocks-of-networks-equal-unfused", test_blocks);
  g_test_add_func ("/nn/channels/all-are-the-tensor-itself", test_whole);
  g_test_add_func ("/nn/channels/bad-shapes-are-errors", test_shapes);
  return g_test_run ();
}
