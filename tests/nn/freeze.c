/* SPDX-License-Identifier: MIT */
/* Frozen parameters: the backward pass ends above them, they have no gradients and no moments, and
 * training leaves them bit-identical; also the learning rates of layers and of the head, and moving
 * averages. */
#include "build.h"
#include "graph-private.h"
#include "infos.h"
#include "layerrates.h"
#include "optimizer-push.h"
#include <math.h>
#include <string.h>

#define BATCH 4

static DynoNetworkParams
params_of (const char *model, const char *freeze, DynoMode mode)
{
  DynoNetworkParams params = { .model = model,
                               .model_width = 0.25,
                               .batch = BATCH,
                               .schema = dyno_schema_image (DYNO_ELEMENT_F32, 32, 32, 3, 0),
                               .n_outputs = 10,
                               .optimizer = DYNO_OPTIMIZER_ADAMW,
                               .mode = mode,
                               .freeze = freeze };
  params.schema.generated = TRUE;
  return params;
}

static DynoGraph *
build_graph (const char *model, const char *freeze, DynoMode mode)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of (model, freeze, mode);
  DynoGraph *graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  return graph;
}

static const DynoParameter *
find (DynoGraph *graph, const char *name)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  for (guint i = 0; i < parameters->len; i++)
    if (g_str_equal (((DynoParameter *) parameters->pdata[i])->name, name))
      return parameters->pdata[i];
  g_assert_not_reached ();
}

#define BACKBONE "conv1, bn1,layer1.,layer2,layer3,layer4"

/* All but the head is frozen: the backward pass consists of the gradients of the head's weight and
 * bias. */
static void
test_nothing_below (void)
{
  g_autoptr (DynoGraph) graph = build_graph ("resnet18", BACKBONE, DYNO_MODE_TRAIN);
  GPtrArray *nodes = dyno_graph_get_nodes (graph);
  guint n_backward = 0;
  for (guint i = 0; i < nodes->len; i++)
    {
      const DynoNode *node = nodes->pdata[i];
      n_backward += node->stage == DYNO_STAGE_BACKWARD;
      g_assert_true (node->stage != DYNO_STAGE_BACKWARD || g_str_has_prefix (node->name, "fc"));
      g_assert_cmpstr (node->op->name, !=, "batch_norm_stats");
    }
  g_assert_cmpuint (n_backward, ==, 2);
  g_assert_true (find (graph, "layer4.0.conv1.weight")->is_frozen);
  g_assert_null (find (graph, "layer4.0.conv1.weight")->gradient);
  g_assert_nonnull (find (graph, "fc.weight")->gradient);
}

static void
plan_of (DynoGraph *graph, DynoPlan *plan)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoLowering) lowering = dyno_lowering_new (graph, &info_card, NULL, &error);
  g_assert_no_error (error);
  dyno_plan_compute (lowering, 2, DYNO_PLAN_DEFAULT, plan, &error);
  g_assert_no_error (error);
}

/* Only the head has gradients and moments, and no activations are kept for a backward pass. */
static void
test_memory (void)
{
  g_autoptr (DynoGraph) whole = build_graph ("resnet18", NULL, DYNO_MODE_TRAIN),
                        head = build_graph ("resnet18", BACKBONE, DYNO_MODE_TRAIN);
  DynoPlan of_whole, of_head;
  plan_of (whole, &of_whole);
  plan_of (head, &of_head);
  g_assert_cmpuint (of_head.space_bytes[DYNO_SPACE_MASTER], ==,
                    of_whole.space_bytes[DYNO_SPACE_MASTER]);
  for (guint space = DYNO_SPACE_GRADIENT; space <= DYNO_SPACE_MOMENT2; space++)
    {
      g_assert_cmpuint (of_head.space_bytes[space], <=, 64 << 10);
      g_assert_cmpuint (of_whole.space_bytes[space], >, 1 << 20);
    }
  g_assert_cmpuint (of_head.space_bytes[DYNO_SPACE_ARENA] * 2, <,
                    of_whole.space_bytes[DYNO_SPACE_ARENA]);
}

/* Training and evaluation share the weights' memory. */
static void
test_modes_agree (void)
{
  g_autoptr (DynoGraph) train = build_graph ("resnet18", "layer1,bn1", DYNO_MODE_TRAIN),
                        evaluate = build_graph ("resnet18", "layer1,bn1", DYNO_MODE_EVALUATE);
  GPtrArray *a = dyno_graph_get_parameters (train), *b = dyno_graph_get_parameters (evaluate);
  guint64 trained = dyno_graph_count_elements (train, DYNO_SPACE_GRADIENT);
  g_assert_cmpuint (a->len, ==, b->len);
  for (guint i = 0; i < a->len; i++)
    {
      const DynoParameter *p = a->pdata[i], *q = b->pdata[i];
      g_assert_cmpuint (p->element_offset, ==, q->element_offset);
      g_assert_cmpuint (p->master->offset, ==, q->master->offset);
      if (!p->is_state)
        g_assert_true ((p->element_offset >= trained) == p->is_frozen);
    }
}

static void
test_names_end_at_dots (void)
{
  g_autoptr (DynoGraph) graph = build_graph ("mobilenetv2", "features.1", DYNO_MODE_TRAIN);
  g_assert_true (find (graph, "features.1.conv.0.0.weight")->is_frozen);
  g_assert_false (find (graph, "features.10.conv.0.0.weight")->is_frozen);
  g_assert_true (find (graph, "features.1.conv.2.running_var")->is_frozen);
}

static void
assert_refused (const char *freeze, const char *words)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of ("resnet18", freeze, DYNO_MODE_TRAIN);
  g_assert_null (dyno_network_build (&params, &error));
  g_assert_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_MODEL);
  if (!strstr (error->message, words))
    g_error ("“%s” is not in “%s”", words, error->message);
}

static void
test_refuses (void)
{
  assert_refused ("layr1", "“layr1” to freeze; did you mean “layer1”?");
  assert_refused ("layer1,features", "“conv1”, “bn1”, “layer1”");
  assert_refused ("layer", "“layer” to freeze");
  assert_refused (BACKBONE ",fc", "nothing is left to train");
}

/* The parameters of a network, in torchvision's layout, before and after some steps on the device.
 * */
typedef struct {
  DynoBuild *build;
  GPtrArray *parameters;     /* DynoParameter */
  GPtrArray *before, *after; /* float * */
} Trained;

static GPtrArray *
read_values (DynoBuild *build, DynoSpace space)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *parameters = dyno_graph_get_parameters (dyno_build_get_graph (build));
  GPtrArray *values = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < parameters->len; i++)
    g_ptr_array_add (values, g_new0 (float, dyno_parameter_count (parameters->pdata[i])));
  dyno_program_read_parameters (dyno_build_get_program (build), space,
                                (float *const *) values->pdata, &error);
  g_assert_no_error (error);
  return values;
}

static void
step_once (DynoDevice *device, DynoProgram *program, guint step, float decay)
{
  g_autoptr (GError) error = NULL;
  guint64 value = 0;
  *dyno_program_step_input (program, 0) = (struct DynoStepInput){ .step = step,
                                                                  .seed_low = 7,
                                                                  .n_valid = BATCH,
                                                                  .loss_divisor = BATCH,
                                                                  .lr = 0.01f,
                                                                  .momentum = 0.9f,
                                                                  .beta2 = 0.999f,
                                                                  .epsilon = 1e-8f,
                                                                  .weight_decay = decay,
                                                                  .first_update = step == 0,
                                                                  .loss_scale_min = 1,
                                                                  .loss_scale_max = 1 };
  dyno_program_submit (program, DYNO_COMMAND_FULL, 0, NULL, 0, &value, &error);
  g_assert_no_error (error);
  dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, value, 0, &error);
  g_assert_no_error (error);
}

static void
train (Trained *t, const DynoNetworkParams *params, guint n_steps, float decay)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoDevice) device = dyno_device_open (&(DynoDeviceParams){ .index = -1 }, &error);
  g_assert_no_error (error);
  DynoBuildParams build_params = { .info = dyno_device_get_info (device) };
  t->build = dyno_build_new (params, &error);
  g_assert_no_error (error);
  dyno_build_plan (t->build, &build_params, &error);
  g_assert_no_error (error);
  dyno_build_allocate (device, &t->build, 1, &error);
  g_assert_no_error (error);
  dyno_build_record (t->build, device, 0, NULL, &error);
  g_assert_no_error (error);
  dyno_program_initialise (dyno_build_get_program (t->build), 1, &error);
  g_assert_no_error (error);
  t->parameters = dyno_graph_get_parameters (dyno_build_get_graph (t->build));
  t->before = read_values (t->build, DYNO_SPACE_MASTER);
  for (guint step = 0; step < n_steps; step++)
    step_once (device, dyno_build_get_program (t->build), step, decay);
  t->after = read_values (t->build, DYNO_SPACE_MASTER);
}

static void
trained_clear (Trained *t)
{
  g_ptr_array_unref (t->before);
  g_ptr_array_unref (t->after);
  dyno_build_free (t->build);
}

/* Some AdamW steps with a frozen batch norm in the middle, which a gradient passes through. */
static void
check_steps (gboolean amp)
{
  Trained t;
  DynoNetworkParams params = params_of ("simplecnn", "1,4,5,9.weight", DYNO_MODE_TRAIN);
  params.precision = dyno_precision_of_amp (amp);
  params.model_width = 0.125;
  train (&t, &params, 3, 0.1f);
  for (guint i = 0; i < t.parameters->len; i++)
    {
      const DynoParameter *p = t.parameters->pdata[i];
      gboolean same =
          memcmp (t.before->pdata[i], t.after->pdata[i], dyno_parameter_count (p) * sizeof (float))
          == 0;
      if (same != p->is_frozen)
        g_error ("%s %s", p->name, same ? "stays, but is not frozen" : "is frozen, but moves");
    }
  trained_clear (&t);
}

static void
test_frozen_stay (void)
{
  check_steps (FALSE);
  check_steps (TRUE);
}

/* One step of plain SGD: the last layer moves ten times as far as without the factor, all others
 * the same. */
static void
test_head_factor (void)
{
  for (guint frozen = 0; frozen < 2; frozen++)
    {
      Trained once, tenfold;
      DynoNetworkParams params =
          params_of ("simplecnn", frozen ? "0,18.weight" : NULL, DYNO_MODE_TRAIN);
      params.model_width = 0.125;
      params.optimizer = DYNO_OPTIMIZER_SGD;
      train (&once, &params, 1, 0);
      params.head_lr_factor = 10;
      train (&tenfold, &params, 1, 0);
      for (guint i = 0; i < once.parameters->len; i++)
        {
          const DynoParameter *p = once.parameters->pdata[i];
          const float *start = once.before->pdata[i], *a = once.after->pdata[i],
                      *b = tenfold.after->pdata[i];
          double factor = g_str_has_prefix (p->name, "18.") ? 10 : 1;
          for (guint64 k = 0; k < dyno_parameter_count (p); k++)
            g_assert_cmpfloat_with_epsilon (b[k] - start[k], factor * (a[k] - start[k]), 1e-6);
        }
      trained_clear (&once);
      trained_clear (&tenfold);
    }
}

/* The layer of some parameters: that of timm for vision transformers and ResNets; elsewhere a block
 * or a module with a matrix, with the vectors after it. */
static void
test_layers (void)
{
  static const struct {
    const char *model;
    guint n;
    struct {
      const char *name;
      guint layer;
    } of[8];
  } cases[] = {
    { "vit_tiny_patch16_224",
      14,
      { { "cls_token", 0 },
        { "pos_embed", 0 },
        { "patch_embed.proj.weight", 0 },
        { "blocks.0.norm1.weight", 1 },
        { "blocks.11.mlp.fc2.bias", 12 },
        { "norm.bias", 12 },
        { "head.weight", 13 } } },
    { "resnet18",
      10,
      { { "conv1.weight", 0 },
        { "bn1.bias", 0 },
        { "layer1.0.bn1.weight", 1 },
        { "layer1.1.conv1.weight", 2 },
        { "layer2.0.conv1.weight", 3 },
        { "layer2.0.downsample.1.bias", 3 },
        { "layer4.1.bn2.weight", 8 },
        { "fc.bias", 9 } } },
    { "convnext_tiny",
      23,
      { { "features.0.1.weight", 0 },
        { "features.1.0.layer_scale", 1 },
        { "features.1.1.block.0.weight", 2 },
        { "features.2.0.weight", 4 },
        { "features.2.1.weight", 4 },
        { "features.7.2.block.5.bias", 21 },
        { "classifier.0.weight", 21 },
        { "classifier.2.weight", 22 } } },
    { "mobilenetv2",
      20,
      { { "features.0.1.weight", 0 },
        { "features.1.conv.2.weight", 1 },
        { "features.17.conv.0.0.weight", 17 },
        { "features.18.1.bias", 18 },
        { "classifier.1.weight", 19 } } },
    { "simplecnn",
      5,
      { { "0.weight", 0 },
        { "1.bias", 0 },
        { "4.weight", 1 },
        { "13.weight", 3 },
        { "18.bias", 4 } } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint frozen = 0; frozen < 2; frozen++)
      {
        g_autofree char *module =
            g_strndup (cases[i].of[0].name, strcspn (cases[i].of[0].name, "."));
        g_autoptr (DynoGraph) graph =
            build_graph (cases[i].model, frozen ? module : NULL, DYNO_MODE_TRAIN);
        g_assert_cmpuint (dyno_graph_get_n_layers (graph), ==, cases[i].n);
        for (guint k = 0; k < G_N_ELEMENTS (cases[i].of) && cases[i].of[k].name; k++)
          g_assert_cmpuint (find (graph, cases[i].of[k].name)->layer, ==, cases[i].of[k].layer);
      }
}

/* One step of plain SGD: a parameter moves by its layer's power of the decay, and the head's by the
 * head's factor too, whatever parts of the flat memory the layers lie in. */
static void
check_layer_decay (const char *freeze, gboolean undecayed)
{
  const double decay = 0.5;
  Trained plain, decayed;
  DynoNetworkParams params = params_of ("simplecnn", freeze, DYNO_MODE_TRAIN);
  params.model_width = 0.125;
  params.optimizer = DYNO_OPTIMIZER_SGD;
  params.undecayed_vectors = undecayed;
  train (&plain, &params, 1, 0);
  params.layer_decay = decay;
  params.head_lr_factor = 10;
  train (&decayed, &params, 1, 0);
  DynoGraph *graph = dyno_build_get_graph (decayed.build);
  double moved = 0;
  for (guint i = 0; i < plain.parameters->len; i++)
    {
      const DynoParameter *p = decayed.parameters->pdata[i];
      const float *start = plain.before->pdata[i], *a = plain.after->pdata[i],
                  *b = decayed.after->pdata[i];
      double factor = p->layer == 4 ? 10 : pow (decay, 4 - (double) p->layer);
      if (p->is_state || p->is_frozen)
        continue;
      g_assert_cmpfloat (dyno_graph_get_lr_factor (graph, p), ==, factor);
      for (guint64 k = 0; k < dyno_parameter_count (p); k++)
        {
          moved += p->layer == 0 ? fabs ((double) (b[k] - start[k])) : 0;
          g_assert_cmpfloat_with_epsilon (b[k] - start[k], factor * (a[k] - start[k]), 1e-6);
        }
    }
  g_assert_true (freeze || moved > 1e-4);
  trained_clear (&plain);
  trained_clear (&decayed);
}

static void
test_layer_decay (void)
{
  check_layer_decay (NULL, FALSE);
  check_layer_decay ("0,18.weight", TRUE);
}

/* The table of the factors overlaps no other tensor of its space, and the plan has its bytes; no
 * table is made where all factors are 1. */
static void
test_table_of_rates (void)
{
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (GError) error = NULL;
      DynoNetworkParams params = params_of ("simplecnn", NULL, DYNO_MODE_TRAIN);
      DynoPlan plan;
      params.class_weights = i == 1 || i == 2;
      params.layer_decay = i != 2 ? 0.9 : 1;
      if (i == 3)
        {
          params.schema = dyno_schema_image (DYNO_ELEMENT_F32, 32, 32, 3, 10);
          params.loss = DYNO_LOSS_MSE;
          params.standard_targets = TRUE;
        }
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      plan_of (graph, &plan);
      g_assert_true (!graph->rates == (i == 2));
      if (!graph->rates)
        continue;
      const DynoTensor *before = i == 1   ? graph->class_weights
                                 : i == 3 ? graph->standard
                                          : dyno_graph_scaler (graph);
      g_assert_cmpuint (graph->rates->offset, >=, before->offset + before->size_bytes);
      g_assert_cmpuint (graph->rates->offset % 256, ==, 0);
      g_assert_cmpuint (graph->rates->size_bytes, ==, 5 * 8);
      g_assert_cmpuint (plan.space_bytes[DYNO_SPACE_SCALER], >=,
                        graph->rates->offset + graph->rates->size_bytes);
    }
}

/* The factor of the head is in the table also where only the head is trained: one range. */
static void
test_table_of_the_head (void)
{
  for (guint factor = 1; factor < 4; factor += 2)
    {
      g_autoptr (GError) error = NULL;
      DynoNetworkParams params = params_of ("resnet18", BACKBONE, DYNO_MODE_TRAIN);
      params.head_lr_factor = factor;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      g_assert_true (!graph->rates == (factor == 1));
      if (!graph->rates)
        continue;
      g_assert_cmpuint (graph->rate_ranges->len, ==, 1);
      const DynoRateRange *range = &g_array_index (graph->rate_ranges, DynoRateRange, 0);
      g_assert_cmpfloat (range->factor, ==, factor);
      g_assert_cmpuint (range->end * 8, ==, graph->trained_elements);
    }
}

/* A parameter that weight decay may exclude: one axis in PyTorch, or one of three names. */
static gboolean
is_vector (const DynoParameter *p)
{
  return p->n_dims == 1 || g_str_equal (p->name, "cls_token") || g_str_equal (p->name, "pos_embed")
         || g_str_has_suffix (p->name, "layer_scale");
}

/* Vectors, whatever their number of axes in PyTorch, are stored in one range of the flat memory,
 * the head in another, and no two parameters overlap. */
static void
check_places (const char *model, const char *freeze)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of (model, freeze, DYNO_MODE_TRAIN);
  params.undecayed_vectors = TRUE;
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  guint64 start, end, head = graph->head_start, sum = 0;
  dyno_graph_get_undecayed (graph, &start, &end);
  g_autofree guint8 *taken = g_malloc0 (graph->parameter_elements);
  guint n_vectors = 0;
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *p = parameters->pdata[i];
      if (p->is_state)
        continue;
      sum += p->n_elements;
      for (guint64 k = 0; k < p->n_elements; k++)
        g_assert_cmpuint (taken[p->element_offset + k]++, ==, 0);
      g_assert_true (p->is_frozen == (p->element_offset >= graph->trained_elements));
      if (p->is_frozen)
        continue;
      n_vectors += is_vector (p);
      if (is_vector (p) != (p->element_offset >= start && p->element_offset < end)
          || (i + 2 >= parameters->len) != (p->element_offset >= head))
        g_error ("%s: %s", model, p->name);
    }
  g_assert_cmpuint (sum, <=, graph->parameter_elements);
  g_assert_cmpuint (n_vectors, >, 2);
}

static void
test_places (void)
{
  check_places ("convnext_tiny", NULL);
  check_places ("cnn1d", NULL); /* a kernel has three axes, as the class token has */
  check_places ("vit_tiny_patch16_224", NULL);
  check_places ("vit_tiny_patch16_224", "blocks.0,patch_embed.proj.bias,cls_token");
}

/* One step that excludes vectors from weight decay: they move as without it, all others as with
 * it. */
static void
check_decay (DynoOptimizer optimizer, const char *freeze)
{
  Trained none, all, without;
  DynoNetworkParams params = params_of ("simplecnn", freeze, DYNO_MODE_TRAIN);
  params.model_width = 0.125;
  params.optimizer = optimizer;
  params.head_lr_factor = 3;
  train (&none, &params, 1, 0);
  train (&all, &params, 1, 0.5f);
  params.undecayed_vectors = TRUE;
  train (&without, &params, 1, 0.5f);
  double moved = 0;
  for (guint i = 0; i < none.parameters->len; i++)
    {
      const DynoParameter *p = none.parameters->pdata[i];
      const float *a = none.after->pdata[i], *b = all.after->pdata[i], *c = without.after->pdata[i];
      for (guint64 k = 0; k < dyno_parameter_count (p); k++)
        {
          moved += fabs ((double) (a[k] - b[k]));
          g_assert_cmpfloat_with_epsilon (c[k], p->n_dims == 1 ? a[k] : b[k], 1e-6);
        }
    }
  g_assert_cmpfloat (moved, >, 1e-2);
  trained_clear (&none);
  trained_clear (&all);
  trained_clear (&without);
}

static void
test_decay (void)
{
  for (guint i = 0; i < DYNO_N_OPTIMIZERS; i++)
    check_decay ((DynoOptimizer) i, i % 2 ? "0,18.weight" : NULL);
}

/* a += (1 - min (decay, (1 + t) / (10 + t))) (x - a), for weights and running statistics; a frozen
 * parameter has no average, and no memory for one. */
static void
check_average (gboolean amp)
{
  enum { STEPS = 4 };
  const double decay = 0.35;
  Trained t[STEPS];
  DynoNetworkParams params = params_of ("simplecnn", "4", DYNO_MODE_TRAIN);
  params.precision = dyno_precision_of_amp (amp);
  params.model_width = 0.125;
  params.average_decay = decay;
  for (guint n = 0; n < STEPS; n++)
    train (&t[n], &params, n + 1, 0.1f);
  g_autoptr (GPtrArray) got = read_values (t[STEPS - 1].build, DYNO_SPACE_AVERAGE);
  guint64 n_averages = 0;
  for (guint i = 0; i < t[0].parameters->len; i++)
    {
      const DynoParameter *p = t[0].parameters->pdata[i];
      n_averages += !p->is_frozen || p->is_state ? p->n_elements : 0;
      for (guint64 k = 0; k < dyno_parameter_count (p) && !p->is_frozen; k++)
        {
          double a = (double) ((const float *) t[0].before->pdata[i])[k];
          for (guint n = 0; n < STEPS; n++)
            a += (1 - MIN (decay, (2.0 + n) / (11.0 + n)))
                 * ((double) ((const float *) t[n].after->pdata[i])[k] - a);
          g_assert_cmpfloat_with_epsilon ((double) ((const float *) got->pdata[i])[k], a, 2e-6);
        }
    }
  guint64 bytes = dyno_build_get_plan (t[0].build)->space_bytes[DYNO_SPACE_AVERAGE];
  g_assert_cmpuint (bytes, >=, n_averages * 4);
  g_assert_cmpuint (bytes, <,
                    dyno_build_get_plan (t[0].build)->space_bytes[DYNO_SPACE_MASTER]
                        + dyno_build_get_plan (t[0].build)->space_bytes[DYNO_SPACE_STATE]);
  for (guint n = 0; n < STEPS; n++)
    trained_clear (&t[n]);
}

static void
test_average (void)
{
  check_average (FALSE);
  check_average (TRUE);
}

/* Evaluation reads the averages in place of the weights, and frozen weights themselves. */
static void
test_evaluation_of_averages (void)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of ("resnet18", "layer1", DYNO_MODE_EVALUATE);
  params.average_decay = 0.99;
  params.precision = dyno_precision_of_amp (TRUE);
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *p = parameters->pdata[i];
      gboolean whole = p->is_frozen && !p->is_state;
      g_assert_cmpint (p->master->space, ==, whole ? DYNO_SPACE_MASTER : DYNO_SPACE_AVERAGE);
      if (!p->is_state)
        g_assert_true ((p->compute->offset < graph->parameter_elements * 2) == whole);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nn/freeze/nothing-below-is-computed", test_nothing_below);
  g_test_add_func ("/nn/freeze/no-memory-for-what-is-frozen", test_memory);
  g_test_add_func ("/nn/freeze/training-and-evaluation-agree", test_modes_agree);
  g_test_add_func ("/nn/freeze/names-end-at-dots", test_names_end_at_dots);
  g_test_add_func ("/nn/freeze/unknown-and-all-are-refused", test_refuses);
  g_test_add_func ("/nn/freeze/frozen-stay-the-rest-moves", test_frozen_stay);
  g_test_add_func ("/nn/freeze/head-moves-by-its-own-learning-rate", test_head_factor);
  g_test_add_func ("/nn/layers/are-blocks-and-modules-with-matrices", test_layers);
  g_test_add_func ("/nn/layers/move-by-powers-of-the-decay", test_layer_decay);
  g_test_add_func ("/nn/layers/factors-have-memory-of-their-own", test_table_of_rates);
  g_test_add_func ("/nn/layers/head-alone-has-its-factor", test_table_of_the_head);
  g_test_add_func ("/nn/freeze/vectors-lie-together", test_places);
  g_test_add_func ("/nn/freeze/vectors-without-weight-decay", test_decay);
  g_test_add_func ("/nn/average/follows-weights-and-statistics", test_average);
  g_test_add_func ("/nn/average/is-what-evaluation-reads", test_evaluation_of_averages);
  return g_test_run ();
}
