/* SPDX-License-Identifier: MIT */
/* The GRU against the reference: layers, directions, unequal lengths, its gradients. */
#include "harness.h"
#include "reference/gru.h"
#include <string.h>

#define MOST_LAYERS 4 /* layers x directions */

typedef struct {
  guint32 n, t, in, hidden, layers;
  gboolean both;
  const double *lengths; /* NULL: none */
  guint32 stride;
} Case;

static const double lengths[] = { 9, 3, 0, 100, 8 };

/* The hidden units are no multiple of 8, so that all pads occur; lengths of 0 and past the end;
 * more sequences, and more units, than a workgroup of a CPU takes. */
static const Case cases[] = {
  { 4, 5, 6, 6, 1, FALSE, NULL, 0 },
  { 4, 5, 6, 6, 2, TRUE, lengths, 2 },
  { 2, 3, 6, 37, 1, FALSE, lengths, 0 },
};

/* One direction of a layer, with random parameters and their gradients. */
typedef struct {
  ReferenceGru s;
  char suffix[24]; /* "_l1_reverse" */
  double *w_ih, *w_hh, *b_ih, *b_hh;
  ReferenceGruGradient d;
} Part;

typedef struct {
  Part parts[MOST_LAYERS];
  guint n_parts, directions;
  guint32 valid[8];
  double *inputs[3]; /* of each layer, and the last layer's output */
} Model;

static void
make_part (Model *m, const Case *c, guint index)
{
  Part *part = &m->parts[index];
  guint layer = index / m->directions, reverse = index % m->directions;
  guint32 in = layer ? c->hidden * m->directions : c->in, rows = 3 * c->hidden;
  g_snprintf (part->suffix, sizeof part->suffix, "_l%u%s", layer, reverse ? "_reverse" : "");
  part->w_ih = harness_random (10 + index, (gsize) rows * in, 0.5);
  part->w_hh = harness_random (20 + index, (gsize) rows * c->hidden, 0.5);
  part->b_ih = harness_random (30 + index, rows, 0.5);
  part->b_hh = harness_random (40 + index, rows, 0.5);
  part->d = (ReferenceGruGradient){ g_new0 (double, (gsize) rows *in),
                                    g_new0 (double, (gsize) rows * c->hidden),
                                    g_new0 (double, rows), g_new0 (double, rows) };
  part->s = (ReferenceGru){ c->n,
                            c->t,
                            in,
                            c->hidden,
                            reverse == 1,
                            c->lengths ? m->valid : NULL,
                            part->w_ih,
                            part->w_hh,
                            part->b_ih,
                            part->b_hh,
                            c->hidden * m->directions,
                            reverse * c->hidden };
}

static void
model_init (Model *m, const Case *c, const double *x)
{
  memset (m, 0, sizeof *m);
  m->directions = c->both ? 2 : 1;
  m->n_parts = c->layers * m->directions;
  for (guint32 n = 0; c->lengths && n < c->n; n++)
    m->valid[n] = (guint32) CLAMP (c->lengths[n] / MAX (c->stride, 1), 1, c->t);
  m->inputs[0] = g_memdup2 (x, sizeof (double) * c->n * c->t * c->in);
  for (guint i = 0; i < m->n_parts; i++)
    {
      guint layer = i / m->directions;
      make_part (m, c, i);
      if (!m->inputs[layer + 1])
        m->inputs[layer + 1] = g_new0 (double, (gsize) c->n * c->t * c->hidden * m->directions);
      reference_gru_forward (&m->parts[i].s, m->inputs[layer], m->inputs[layer + 1]);
    }
}

/* Returns the gradient of x for that of the last layer. */
static double *
model_backward (Model *m, const Case *c, const double *dy)
{
  double *gradient = g_memdup2 (dy, sizeof (double) * c->n * c->t * c->hidden * m->directions);
  for (guint layer = c->layers; layer-- > 0;)
    {
      double *below = g_new0 (double, (gsize) c->n * c->t * m->parts[layer * m->directions].s.in);
      for (guint d = 0; d < m->directions; d++)
        {
          Part *part = &m->parts[layer * m->directions + d];
          reference_gru_backward (&part->s, m->inputs[layer], gradient, below, &part->d);
        }
      g_free (gradient);
      gradient = below;
    }
  return gradient;
}

static void
model_clear (Model *m)
{
  for (guint i = 0; i < m->n_parts; i++)
    {
      Part *part = &m->parts[i];
      double *all[] = { part->w_ih,   part->w_hh,   part->b_ih,   part->b_hh,
                        part->d.w_ih, part->d.w_hh, part->d.b_ih, part->d.b_hh };
      for (guint k = 0; k < G_N_ELEMENTS (all); k++)
        g_free (all[k]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (m->inputs); i++)
    g_free (m->inputs[i]);
}

static void
set_parameters (Harness *h, const Part *part)
{
  const struct {
    const char *kind;
    const double *values;
  } all[] = { { "weight_ih", part->w_ih },
              { "weight_hh", part->w_hh },
              { "bias_ih", part->b_ih },
              { "bias_hh", part->b_hh } };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      g_autofree char *name = g_strconcat ("gru.", all[i].kind, part->suffix, NULL);
      harness_set_parameter (h, name, all[i].values);
    }
}

static void
check_gradient (Harness *h, const Part *part, const char *kind, const double *expected, gsize n)
{
  g_autofree char *name = g_strconcat ("gru.", kind, part->suffix, NULL);
  g_autofree double *got = harness_read_parameter_gradient (h, name);
  harness_assert_close (got, expected, n, harness_tolerance (h), name);
}

static DynoTensor *
add_gru (Harness *h, const Case *c, const double *values, DynoTensor **x)
{
  DynoTensor *counts =
      c->lengths ? harness_raw (h, "lengths", DYNO_DTYPE_I32, c->n, 1, 1, 1, c->lengths) : NULL;
  *x = harness_input (h, "x", c->n, 1, c->t, c->in, values);
  return dyno_gru (harness_graph (h), *x, "gru",
                   &(DynoRecurrentParams){ .hidden = c->hidden,
                                           .layers = c->layers,
                                           .bidirectional = c->both,
                                           .sequence = { counts, c->stride } });
}

static void
check (const Case *c, gboolean amp, gboolean accumulate, gboolean as_card)
{
  gsize nx = (gsize) c->n * c->t * c->in, ny = (gsize) c->n * c->t * c->hidden * (c->both ? 2 : 1);
  g_autoptr (Harness) h = harness_new (
      &(HarnessParams){ .amp = amp, .training = TRUE, .batch = c->n, .as_card = as_card });
  g_autofree double *x = harness_random (1, nx, 1), *dy = harness_random (2, ny, 1),
                    *start = harness_random (3, nx, 1);
  Model m;
  DynoTensor *tx, *y = add_gru (h, c, x, &tx);
  model_init (&m, c, x);
  for (guint i = 0; i < m.n_parts; i++)
    set_parameters (h, &m.parts[i]);
  harness_set_gradient (h, y, dy);
  if (accumulate)
    {
      harness_set_gradient (h, tx, start);
      harness_set_parameter_gradient (h, "gru.bias_hh_l0", m.parts[0].b_hh);
    }
  harness_run (h);
  g_autofree double *dx = model_backward (&m, c, dy), *y_got = harness_read (h, y),
                    *dx_got = harness_read_gradient (h, tx);
  for (gsize i = 0; i < nx && accumulate; i++)
    dx[i] += start[i];
  harness_assert_close (y_got, m.inputs[c->layers], ny, harness_tolerance (h), "y");
  harness_assert_close (dx_got, dx, nx, harness_tolerance (h), "dx");
  for (guint i = 0; i < m.n_parts; i++)
    {
      const Part *part = &m.parts[i];
      gsize rows = 3 * c->hidden;
      check_gradient (h, part, "weight_ih", part->d.w_ih, rows * part->s.in);
      check_gradient (h, part, "weight_hh", part->d.w_hh, rows * c->hidden);
      check_gradient (h, part, "bias_ih", part->d.b_ih, rows);
      for (gsize k = 0; k < rows && accumulate && i == 0; k++)
        part->d.b_hh[k] += part->b_hh[k];
      check_gradient (h, part, "bias_hh", part->d.b_hh, rows);
    }
  model_clear (&m);
}

static void
test_matches (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    check (&cases[i], FALSE, FALSE, FALSE);
}

static void
test_amp (void)
{
  check (&cases[1], TRUE, FALSE, FALSE);
}

static void
test_accumulates (void)
{
  check (&cases[0], FALSE, TRUE, FALSE);
}

/* The state is stored in memory between two dispatches: the test has as many dispatches as a long
 * sequence takes where loops are limited, and only one. */
static void
test_many_dispatches (void)
{
  const Case c = { 2, 100, 6, 40, 1, TRUE, lengths + 3, 0 };
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = c.n });
  g_autoptr (GError) error = NULL;
  DynoDeviceInfo info = *harness_info (h);
  g_autofree double *x = harness_random (1, (gsize) c.n * c.t * c.in, 1);
  DynoTensor *tx;
  g_assert_nonnull (add_gru (h, &c, x, &tx));
  for (guint hardware = 0; hardware < 2; hardware++)
    {
      info.type = hardware ? DYNO_DEVICE_TYPE_DISCRETE : DYNO_DEVICE_TYPE_SOFTWARE;
      g_autoptr (DynoLowering) lowering =
          dyno_lowering_new (harness_graph (h), &info, NULL, &error);
      g_assert_no_error (error);
      GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
      guint n_dispatches = 0;
      for (guint i = 0; i < dispatches->len; i++)
        {
          const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
          n_dispatches += g_str_equal (dispatch->spec.shader, "gru/gru_forward.comp");
        }
      if (hardware)
        g_assert_cmpuint (n_dispatches, ==, 2);
      else
        g_assert_cmpuint (n_dispatches, >, 2);
    }
  check (&c, FALSE, FALSE, FALSE);
}

/* The kernels of a GPU: parts of the products for several invocations, weights in registers, either
 * all of a part (AMP) or the first ones (fp32), and three sequences in a workgroup, the last of
 * which has two. */
static void
test_as_on_a_card (void)
{
  const Case c = { 5, 3, 6, 128, 1, FALSE, lengths, 3 };
  for (guint amp = 0; amp < 2; amp++)
    check (&c, amp, FALSE, TRUE);
}

/* With all layers below and the input weights frozen, the recurrent weights are still trained. */
static void
test_frozen_input (void)
{
  const Case *c = &cases[0];
  gsize nx = (gsize) c->n * c->t * c->in, ny = (gsize) c->n * c->t * c->hidden;
  g_autofree double *x = harness_random (1, nx, 1), *dy = harness_random (2, ny, 1);
  Model m;
  g_autoptr (Harness) h = harness_new (&(HarnessParams){
      .training = TRUE, .batch = c->n, .freeze = "gru.weight_ih_l0,gru.bias_ih_l0" });
  DynoTensor *tx = harness_input (h, "x", c->n, 1, c->t, c->in, x), *y;
  tx->needs_gradient = FALSE;
  y = dyno_gru (harness_graph (h), tx, "gru", &(DynoRecurrentParams){ .hidden = c->hidden });
  model_init (&m, c, x);
  set_parameters (h, &m.parts[0]);
  harness_set_gradient (h, y, dy);
  harness_run (h);
  g_free (model_backward (&m, c, dy)); /* it fills in the parts */
  check_gradient (h, &m.parts[0], "weight_hh", m.parts[0].d.w_hh, 3 * c->hidden * c->hidden);
  check_gradient (h, &m.parts[0], "bias_hh", m.parts[0].d.b_hh, 3 * c->hidden);
  model_clear (&m);
}

/* Training and evaluation graphs have the same outputs; evaluation keeps nothing for a backward
 * pass. */
static void
test_evaluates (void)
{
  const Case *c = &cases[1];
  gsize ny = (gsize) c->n * c->t * c->hidden * 2;
  g_autofree double *x = harness_random (1, (gsize) c->n * c->t * c->in, 1), *first = NULL;
  for (guint training = 0; training < 2; training++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = training, .batch = c->n });
      DynoTensor *tx, *y = add_gru (h, c, x, &tx);
      harness_run (h);
      g_autofree double *got = harness_read (h, y);
      if (first)
        g_assert_cmpmem (got, ny * sizeof (double), first, ny * sizeof (double));
      else
        first = g_steal_pointer (&got);
    }
}

/* A layer without biases has the outputs of one whose biases are 0, and no such parameters. */
static void
test_without_biases (void)
{
  static const DynoRecurrentNames bare = { "w", "u", NULL, NULL }, whole = { "w", "u", "b", "d" };
  const guint32 n = 2, t = 3, in = 6, hidden = 6, rows = 3 * hidden;
  gsize nx = (gsize) n * t * in, ny = (gsize) n * t * hidden;
  g_autofree double *x = harness_random (1, nx, 1), *dy = harness_random (2, ny, 1),
                    *w = harness_random (3, (gsize) rows * in, 0.5),
                    *u = harness_random (4, (gsize) rows * hidden, 0.5),
                    *zeros = g_new0 (double, rows), *y_first = NULL, *dx_first = NULL;
  for (guint biases = 0; biases < 2; biases++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = n });
      DynoTensor *tx = harness_input (h, "x", n, 1, t, in, x),
                 *y = dyno_gru_layer (harness_graph (h), tx, "gru",
                                      &(DynoRecurrentParams){ .hidden = hidden },
                                      biases ? &whole : &bare);
      g_assert_cmpuint (dyno_graph_get_parameters (harness_graph (h))->len, ==, biases ? 4 : 2);
      harness_set_parameter (h, "w", w);
      harness_set_parameter (h, "u", u);
      for (guint i = 0; i < 2 && biases; i++)
        harness_set_parameter (h, i ? "d" : "b", zeros);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *y_got = harness_read (h, y), *dx_got = harness_read_gradient (h, tx);
      if (biases)
        {
          harness_assert_close (y_got, y_first, ny, harness_tolerance (h), "y");
          harness_assert_close (dx_got, dx_first, nx, harness_tolerance (h), "dx");
        }
      else
        {
          y_first = g_steal_pointer (&y_got);
          dx_first = g_steal_pointer (&dx_got);
        }
    }
}

/* Gates that are saturated have no gradient, and inputs that are denormal count as nearly 0;
 * neither makes a value that is not finite. */
static void
test_extremes (void)
{
  static const double sizes[] = { 3e4, 1e-40 };
  const Case *c = &cases[0];
  gsize nx = (gsize) c->n * c->t * c->in, ny = (gsize) c->n * c->t * c->hidden;
  g_autofree double *dy = harness_random (2, ny, 1);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .training = TRUE, .batch = c->n });
      g_autofree double *x = harness_random (1, nx, 1);
      for (gsize k = 0; k < nx; k++)
        x[k] *= sizes[i];
      Model m;
      DynoTensor *tx, *y = add_gru (h, c, x, &tx);
      model_init (&m, c, x);
      set_parameters (h, &m.parts[0]);
      harness_set_gradient (h, y, dy);
      harness_run (h);
      g_autofree double *dx = model_backward (&m, c, dy), *y_got = harness_read (h, y),
                        *dx_got = harness_read_gradient (h, tx);
      harness_assert_close (y_got, m.inputs[1], ny, harness_tolerance (h), "y");
      for (gsize k = 0; k < nx; k++)
        g_assert_cmpfloat_with_epsilon (dx_got[k], dx[k], 1e-5);
      g_autofree double *db = harness_read_parameter_gradient (h, "gru.bias_hh_l0");
      for (guint32 k = 0; k < 3 * c->hidden; k++)
        g_assert_cmpfloat_with_epsilon (db[k], m.parts[0].d.b_hh[k], 1e-5);
      model_clear (&m);
    }
}

/* The op counts the products with the state, of three gates. */
static void
test_flops (void)
{
  const Case *c = &cases[1];
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = c->n });
  g_autofree double *x = harness_random (1, (gsize) c->n * c->t * c->in, 1);
  DynoTensor *tx, *y = add_gru (h, c, x, &tx);
  guint64 each = 2 * (guint64) c->n * c->t * 3 * c->hidden * c->hidden;
  g_assert_cmpstr (y->producer->op->name, ==, "gru");
  g_assert_cmpuint (y->producer->op->flops (y->producer), ==, 2 * each);
}

static void
test_errors (void)
{
  static const struct {
    guint32 h, hidden, n_lengths;
    const char *word;
  } bad[] = { { 2, 4, 0, "not a sequence" }, { 1, 0, 0, "empty" }, { 1, 4, 3, "lengths" } };
  const double values[48] = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 2 });
      g_autoptr (GError) error = NULL;
      DynoTensor *counts = bad[i].n_lengths ? harness_raw (h, "lengths", DYNO_DTYPE_I32,
                                                           bad[i].n_lengths, 1, 1, 1, values)
                                            : NULL;
      DynoTensor *x = harness_input (h, "x", 2, bad[i].h, 3, 4, values);
      g_assert_null (dyno_gru (
          harness_graph (h), x, "gru",
          &(DynoRecurrentParams){ .hidden = bad[i].hidden, .sequence = { .lengths = counts } }));
      g_assert_false (dyno_graph_check (harness_graph (h), &error));
      g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, bad[i].word));
    }
}

/* A state that exceeds the workgroup memory is an error of the build. */
static void
test_too_many_units (void)
{
  g_autoptr (Harness) h = harness_new (&(HarnessParams){ .batch = 1 });
  g_autoptr (GError) error = NULL;
  const double values[4] = { 0 };
  DynoDeviceInfo info = *harness_info (h);
  DynoTensor *x = harness_input (h, "x", 1, 1, 1, 4, values);
  g_assert_nonnull (
      dyno_gru (harness_graph (h), x, "gru", &(DynoRecurrentParams){ .hidden = 5000 }));
  info.shared_bytes = 16384;
  g_assert_null (dyno_lowering_new (harness_graph (h), &info, NULL, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "5000 hidden units"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/gru/matches-reference", test_matches);
  g_test_add_func ("/nn/gru/matches-reference-with-amp", test_amp);
  g_test_add_func ("/nn/gru/gradients-accumulate", test_accumulates);
  g_test_add_func ("/nn/gru/one-dispatch-or-many", test_many_dispatches);
  g_test_add_func ("/nn/gru/as-on-a-card", test_as_on_a_card);
  g_test_add_func ("/nn/gru/frozen-below-trained-above", test_frozen_input);
  g_test_add_func ("/nn/gru/evaluates-as-it-trains", test_evaluates);
  g_test_add_func ("/nn/gru/without-biases", test_without_biases);
  g_test_add_func ("/nn/gru/saturated-and-denormal", test_extremes);
  g_test_add_func ("/nn/gru/flops-of-three-gates", test_flops);
  g_test_add_func ("/nn/gru/bad-shapes-are-errors", test_errors);
  g_test_add_func ("/nn/gru/too-many-units-are-an-error", test_too_many_units);
  return g_test_run ();
}
