/* SPDX-License-Identifier: MIT */
/* Attention compared with a plain implementation in double. */
#include "attention-private.h"
#include "harness.h"
#include "infos.h"
#include "reference/attention.h"
#include "shader.h"
#include <string.h>

typedef struct {
  guint32 n, h, w, heads, d;
} Case;

/* One token; fewer tokens than a block; an image of several blocks; a ViT's 197 tokens; all head
 * sizes of the models. */
static const Case cases[] = { { 2, 1, 1, 1, 8 },  { 2, 1, 7, 3, 32 },   { 1, 8, 8, 3, 64 },
                              { 1, 1, 7, 2, 80 }, { 1, 1, 40, 1, 128 }, { 1, 1, 197, 1, 64 } };

/* The options of a case. */
typedef struct {
  gboolean amp, accumulate, as_card, by_row;
  double scale;  /* of q, k and v; 0 means 1 */
  double factor; /* of the scores; 0: the op's own */
  const DynoDeviceParams *device;
  const guint32 *valid;
} Options;

static void
check (const Case *c, Options o)
{
  const ReferenceAttention s = {
    o.by_row ? c->n * c->h : c->n, o.by_row ? c->w : c->h * c->w, c->heads, c->d, o.valid, o.factor
  };
  gsize ny = (gsize) s.n * s.t * s.heads * s.d, nx = 3 * ny;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){
      .amp = o.amp, .training = TRUE, .batch = c->n, .as_card = o.as_card, .device = o.device });
  g_autofree double *x = harness_random (1, nx, o.scale > 0 ? o.scale : 1),
                    *dy = harness_random (2, ny, 1), *start = harness_random (3, nx, 1),
                    *want = g_new (double, ny), *dx = g_new0 (double, nx), *lengths = NULL;
  DynoAttentionParams params = { .heads = c->heads, .scale = o.factor, .by_row = o.by_row };
  DynoTensor *tx = harness_input (h, "qkv", c->n, c->h, c->w, 3 * c->heads * c->d, x);
  if (o.valid)
    {
      /* two steps of the lengths make one token */
      lengths = g_new (double, c->n);
      for (guint32 n = 0; n < c->n; n++)
        lengths[n] = 2 * o.valid[n] + 1;
      params.sequence =
          (DynoSequence){ harness_raw (h, "lengths", DYNO_DTYPE_I32, c->n, 1, 1, 1, lengths), 2 };
    }
  DynoTensor *y = dyno_attention (harness_graph (h), tx, "y", &params);
  g_assert_nonnull (y);
  g_assert_cmpuint (y->h, ==, c->h);
  g_assert_cmpuint (y->w, ==, c->w);
  harness_set_gradient (h, y, dy);
  if (o.accumulate)
    harness_set_gradient (h, tx, start);
  harness_run (h);
  reference_attention_forward (&s, x, want);
  reference_attention_backward (&s, x, dy, dx);
  for (gsize i = 0; i < nx && o.accumulate; i++)
    dx[i] += start[i];
  g_autofree double *got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx);
  harness_assert_close (got, want, ny, harness_tolerance (h), "y");
  /* each part separately, since they differ in size */
  for (guint part = 0; part < 3; part++)
    {
      static const char *const names[] = { "dq", "dk", "dv" };
      gsize c_all = (gsize) c->heads * c->d;
      g_autofree double *a = g_new (double, ny), *b = g_new (double, ny);
      for (gsize row = 0; row < (gsize) s.n * s.t; row++)
        {
          memcpy (a + row * c_all, dx_got + (row * 3 + part) * c_all, c_all * sizeof (double));
          memcpy (b + row * c_all, dx + (row * 3 + part) * c_all, c_all * sizeof (double));
        }
      /* with a single token q and k have no gradient except for rounding */
      if (s.t == 1 && part < 2)
        for (gsize i = 0; i < ny; i++)
          g_assert_cmpfloat_with_epsilon (a[i], 0, 1e-6);
      else
        harness_assert_close (a, b, ny, harness_tolerance (h), names[part]);
    }
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i], (Options){ FALSE });
}

static void
test_amp (void)
{
  for (guint i = 1; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i], (Options){ .amp = TRUE });
}

static void
test_accumulates (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check (&cases[1], (Options){ .amp = amp, .accumulate = TRUE });
}

/* Scores of hundreds, whose exponentials exceed fp32, in rows that begin with small scores. */
static void
test_large_scores (void)
{
  check (&(Case){ 1, 1, 40, 1, 32 }, (Options){ .scale = 16 });
}

/* The scores have another scale than 1 / sqrt of the head size. */
static void
test_scale (void)
{
  for (guint amp = 0; amp < 2; amp++)
    check (&cases[1], (Options){ .amp = amp, .factor = 0.7 });
}

/* Attention within rows: of less than a block, of slightly more than one, and of one token. */
static void
test_rows (void)
{
  static const Case rows[] = { { 2, 3, 7, 2, 16 }, { 1, 5, 40, 1, 32 }, { 2, 4, 1, 1, 8 } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint amp = 0; amp < 2; amp++)
      check (&rows[i], (Options){ .amp = amp, .by_row = TRUE });
  check (&rows[0], (Options){ .accumulate = TRUE, .by_row = TRUE, .factor = 0.7 });
  check (&rows[1], (Options){ .amp = TRUE, .accumulate = TRUE, .by_row = TRUE, .as_card = TRUE });
}

static void
test_long (void)
{
  check (&(Case){ 1, 1, 1000, 1, 32 }, (Options){ FALSE });
}

/* The larger blocks of GPUs, and the smallest, for devices with 16 KiB of workgroup memory. */
static void
test_blocks (void)
{
  const DynoDeviceParams small = { .index = -1, .shared_bytes = 16384 };
  check (&cases[4], (Options){ .device = &small });
  check (&cases[2], (Options){ .as_card = TRUE });
  check (&cases[2], (Options){ .amp = TRUE, .as_card = TRUE });
}

/* Lengths mask keys, also those of a whole tile. */
static void
test_lengths (void)
{
  const guint32 valid[] = { 3, 40 };
  for (guint amp = 0; amp < 2; amp++)
    check (&(Case){ 2, 1, 40, 3, 32 }, (Options){ .amp = amp, .valid = valid });
}

/* Evaluation keeps nothing for a backward pass. */
static void
test_evaluates (void)
{
  const Case *c = &cases[1];
  const ReferenceAttention s = { c->n, c->w, c->heads, c->d, NULL };
  gsize ny = (gsize) s.n * s.t * s.heads * s.d;
  for (guint amp = 0; amp < 2; amp++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .amp = amp, .batch = c->n });
      g_autofree double *x = harness_random (1, 3 * ny, 1), *want = g_new (double, ny);
      DynoTensor *tx = harness_input (h, "qkv", c->n, 1, c->w, 3 * c->heads * c->d, x);
      DynoTensor *y =
          dyno_attention (harness_graph (h), tx, "y", &(DynoAttentionParams){ .heads = c->heads });
      g_assert_cmpuint (y->producer->n_outputs, ==, 2);
      g_assert_null (y->producer->outputs[1]);
      harness_run (h);
      reference_attention_forward (&s, x, want);
      g_autofree double *got = harness_read (h, y);
      harness_assert_close (got, want, ny, harness_tolerance (h), "y");
    }
}

/* Memory for the backward pass grows with T, and FLOPs with its square. */
static void
test_costs (void)
{
  guint64 flops[2], bytes[2];
  for (guint i = 0; i < 2; i++)
    {
      guint32 t = 100 << i;
      g_autofree double *x = g_new0 (double, (gsize) t * 96);
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE });
      DynoTensor *y = dyno_attention (harness_graph (h), harness_input (h, "x", 1, 1, t, 96, x),
                                      "y", &(DynoAttentionParams){ .heads = 2 });
      const DynoNode *node = y->producer;
      flops[i] = node->op->flops (node);
      g_assert_cmpuint (flops[i], ==, 4 * 32 * (guint64) t * t);
      bytes[i] = 0;
      GPtrArray *tensors = dyno_graph_get_tensors (harness_graph (h));
      for (guint k = 0; k < tensors->len; k++)
        {
          const DynoTensor *tensor = g_ptr_array_index (tensors, k);
          bytes[i] += tensor->producer == node ? tensor->size_bytes : 0;
        }
    }
  g_assert_cmpuint (bytes[0], ==, 100 * 4 * (32 + 2));
  g_assert_cmpuint (bytes[1], ==, 2 * bytes[0]);
}

/* FLOPs of the op and of its dispatches, forward and backward, and the sizes of the sums, for eight
 * rows of 25 tokens. */
static void
test_costs_of_rows (void)
{
  const guint64 all = 4 * 32 * (guint64) 200 * 200;
  g_autofree double *x = g_new0 (double, 200 * 96), *dy = g_new0 (double, 200 * 32);
  for (guint by_row = 0; by_row < 2; by_row++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE });
      g_autoptr (GError) error = NULL;
      guint64 work = 0, dispatched = 0;
      DynoTensor *y =
          dyno_attention (harness_graph (h), harness_input (h, "x", 1, 8, 25, 96, x), "y",
                          &(DynoAttentionParams){ .heads = 2, .by_row = by_row != 0 });
      g_assert_cmpuint (y->producer->outputs[1]->size_bytes, ==, 200 * 2 * 4);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      GPtrArray *nodes = dyno_graph_get_nodes (harness_graph (h));
      for (guint i = 0; i < nodes->len; i++)
        {
          const DynoNode *node = g_ptr_array_index (nodes, i);
          work += g_str_has_prefix (node->op->name, "attention") ? node->op->flops (node) : 0;
        }
      g_autoptr (DynoLowering) lowering =
          dyno_lowering_new (harness_graph (h), harness_info (h), NULL, &error);
      g_assert_no_error (error);
      GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
      for (guint i = 0; i < dispatches->len; i++)
        dispatched += ((const DynoDispatch *) g_ptr_array_index (dispatches, i))->flops;
      g_assert_cmpuint (work, ==, 3 * all / (by_row ? 8 : 1));
      g_assert_cmpuint (dispatched, ==, 3 * all / (by_row ? 8 : 1));
    }
}

static void
test_shapes (void)
{
  static const struct {
    guint32 heads, c, n_lengths;
    gboolean by_row;
    const char *word;
  } bad[] = { { 0, 48, 0, FALSE, "not q, k and v" }, { 3, 48, 0, FALSE, "not q, k and v" },
              { 1, 36, 0, FALSE, "heads of 12" },    { 1, 408, 0, FALSE, "heads of 136" },
              { 2, 48, 3, FALSE, "lengths" },        { 2, 48, 1, TRUE, "within rows" } };
  const double values[1000] = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
      g_autoptr (GError) error = NULL;
      DynoTensor *lengths = bad[i].n_lengths ? harness_raw (h, "lengths", DYNO_DTYPE_I32,
                                                            bad[i].n_lengths, 1, 1, 1, values)
                                             : NULL;
      DynoTensor *x = harness_input (h, "x", 1, 1, 2, bad[i].c, values);
      g_assert_null (dyno_attention (harness_graph (h), x, "y",
                                     &(DynoAttentionParams){ .heads = bad[i].heads,
                                                             .sequence = { lengths, 0 },
                                                             .by_row = bad[i].by_row }));
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, bad[i].word));
    }
}

/* With so many tokens a software driver would end the loops early, so it is refused there. */
static void
test_too_many_tokens (void)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
  g_autofree double *x = g_new0 (double, 200000 * 24);
  DynoDeviceInfo info = *harness_info (h);
  g_assert_nonnull (dyno_attention (harness_graph (h), harness_input (h, "x", 1, 1, 200000, 24, x),
                                    "y", &(DynoAttentionParams){ .heads = 1 }));
  for (guint hardware = 2; hardware-- > 0;) /* the graph keeps the error */
    {
      g_autoptr (GError) error = NULL;
      info.type = hardware ? DYNO_DEVICE_TYPE_DISCRETE : DYNO_DEVICE_TYPE_SOFTWARE;
      g_autoptr (DynoLowering) lowering =
          dyno_lowering_new (harness_graph (h), &info, NULL, &error);
      g_assert_cmpint (lowering != NULL, ==, hardware);
      if (hardware)
        g_assert_no_error (error);
      else
        g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_UNSUPPORTED);
    }
}

#define N_PASSES (DYNO_ATTENTION_KEYS + 1)

static guint32
matrix_spec (const DynoDeviceInfo *info, DynoAttentionPass pass, guint32 t, guint32 head_dim,
             DynoKernelSpec *spec)
{
  *spec = (DynoKernelSpec){ .shader = "none" };
  return dyno_attention_matrix_spec (info, pass, t, head_dim, DYNO_DTYPE_F16, spec);
}

/* The number of own rows of a workgroup, by tokens and the device's default subgroup size. */
static void
test_matrix_workgroups (void)
{
  static const struct {
    DynoAttentionPass pass;
    guint32 t, head_dim, subgroup_size, own, invocations;
  } wanted[] = {
    /* 197 tokens are 13 fragments of 16 rows; a workgroup has 7 of them, or 4 pairs */
    { DYNO_ATTENTION_FORWARD, 197, 64, 32, 7 * 16, 224 },
    { DYNO_ATTENTION_QUERIES, 197, 64, 32, 7 * 16, 224 },
    { DYNO_ATTENTION_KEYS, 197, 64, 32, 4 * 32, 128 },
    { DYNO_ATTENTION_FORWARD, 197, 64, 64, 8 * 16, 256 },
    { DYNO_ATTENTION_FORWARD, 129, 64, 32, 5 * 16, 160 },
    { DYNO_ATTENTION_FORWARD, 128, 64, 32, 8 * 16, 256 },
    { DYNO_ATTENTION_FORWARD, 1, 8, 32, 16, 32 },
    { DYNO_ATTENTION_FORWARD, 1, 8, 64, 2 * 16, 64 },
    /* no pairs of fragments where there are too few registers */
    { DYNO_ATTENTION_KEYS, 197, 72, 32, 4 * 16, 128 },
    /* 64 others of 128 values do not fit 48 KiB with eight subgroups */
    { DYNO_ATTENTION_FORWARD, 1000, 128, 32, 4 * 16, 128 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      DynoDeviceInfo info = info_card;
      DynoKernelSpec spec;
      info.subgroup_size = info.subgroup_max = wanted[i].subgroup_size;
      g_assert_cmpuint (matrix_spec (&info, wanted[i].pass, wanted[i].t, wanted[i].head_dim, &spec),
                        ==, wanted[i].own);
      g_assert_cmpuint (spec.local_size[0], ==, wanted[i].invocations);
      g_assert_cmpuint (spec.subgroup_size, ==, 32);
    }
}

/* Devices without matrix units, subgroups of 32 or enough memory, and fp32, use the other
 * kernels. */
static void
test_matrix_not_there (void)
{
  DynoDeviceInfo none = info_card, narrow = info_card, wide = info_card, small = info_card;
  DynoKernelSpec spec = { .shader = "none" };
  none.matrix = DYNO_MATRIX_NONE;
  narrow.subgroup_min = narrow.subgroup_max = 16;
  wide.subgroup_min = wide.subgroup_max = wide.subgroup_size = 64;
  small.shared_bytes = 4096;
  const DynoDeviceInfo *infos[] = { &none, &narrow, &wide, &small };
  for (guint i = 0; i < G_N_ELEMENTS (infos) * N_PASSES; i++)
    g_assert_cmpuint (matrix_spec (infos[i / N_PASSES], i % N_PASSES, 197, 64, &spec), ==, 0);
  for (DynoAttentionPass pass = 0; pass < N_PASSES; pass++)
    g_assert_cmpuint (dyno_attention_matrix_spec (&info_card, pass, 197, 64, DYNO_DTYPE_F32, &spec),
                      ==, 0);
  g_assert_cmpstr (spec.shader, ==, "none");
}

/* Every kernel with matrix units compiles with the extension that this build's shader compiler
 * supports: with one fragment and two, with and without a padded fragment of a row. */
static void
test_matrix_kernels_compile (void)
{
  static const guint32 head_dims[] = { 64, 40, 128 };
  DynoShaderCompiler *compiler =
      dyno_shader_compiler_new ((1 << 22) | (2 << 12), DYNO_OPTIMISE_ALL);
  DynoDeviceInfo info = info_card;
  info.matrix = dyno_shader_compiler_matrix ();
  g_assert_cmpint (info.matrix, !=, DYNO_MATRIX_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (head_dims) * N_PASSES * 2; i++)
    {
      DynoAttentionPass pass = i / 2 % N_PASSES;
      guint32 head_dim = head_dims[i / 2 / N_PASSES];
      g_autoptr (GError) error = NULL;
      DynoKernelSpec spec;
      g_assert_cmpuint (matrix_spec (&info, pass, 197, head_dim, &spec), >, 0);
      spec.local_size[2] = 1;
      dyno_kernel_spec_macro (&spec, "HEAD_DIM=%u", head_dim);
      if (pass == DYNO_ATTENTION_KEYS)
        dyno_kernel_spec_macro (&spec, "KEYS=1");
      if (i % 2)
        dyno_kernel_spec_macro (&spec, pass == DYNO_ATTENTION_FORWARD ? "KEEP=1 LENGTHS=1"
                                                                      : "ACCUMULATE=1 LENGTHS=1");
      g_autoptr (GBytes) spirv =
          dyno_shader_compiler_get (compiler, spec.shader, spec.macros, spec.local_size, &error);
      g_assert_no_error (error);
      harness_validate_spirv (spirv, spec.macros);
    }
  dyno_shader_compiler_free (compiler);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/attention/matches-reference", test_matches);
  g_test_add_func ("/nn/attention/matches-reference-with-amp", test_amp);
  g_test_add_func ("/nn/attention/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/attention/large-scores", test_large_scores);
  g_test_add_func ("/nn/attention/scale-of-the-scores", test_scale);
  g_test_add_func ("/nn/attention/rows-by-themselves", test_rows);
  g_test_add_func ("/nn/attention/a-thousand-tokens", test_long);
  g_test_add_func ("/nn/attention/every-size-of-blocks", test_blocks);
  g_test_add_func ("/nn/attention/keys-by-lengths", test_lengths);
  g_test_add_func ("/nn/attention/evaluates", test_evaluates);
  g_test_add_func ("/nn/attention/costs", test_costs);
  g_test_add_func ("/nn/attention/costs-of-rows", test_costs_of_rows);
  g_test_add_func ("/nn/attention/bad-shapes-are-errors", test_shapes);
  g_test_add_func ("/nn/attention/too-many-tokens-for-a-cpu", test_too_many_tokens);
  g_test_add_func ("/nn/attention/matrix-workgroups", test_matrix_workgroups);
  g_test_add_func ("/nn/attention/matrix-units-that-are-not-there", test_matrix_not_there);
  g_test_add_func ("/nn/attention/matrix-kernels-compile", test_matrix_kernels_compile);
  return g_test_run ();
}
