/* SPDX-License-Identifier: MIT */
/* Whole programs on the device: the allocation equals the plan; shared memory, rematerialising,
 * another order, slots and accumulation change no bit of a result. */
#include "buckets.h"
#include "graph-private.h"
#include "lowering-private.h"
#include "network.h"
#include "program.h"
#include "snapshot.h"
#include <math.h>
#include <string.h>

#define BATCH 8

typedef struct {
  DynoGraph *graph;
  DynoLowering *lowering;
  DynoPlan plan;
  DynoMemory *memory;
  DynoProgram *program;
} Net;

static DynoDevice *device;

static DynoNetworkParams
params_of (const char *model, gboolean amp)
{
  DynoNetworkParams params = { .model = model,
                               .model_width = 0.0625,
                               .batch = BATCH,
                               .schema = dyno_schema_image (DYNO_ELEMENT_U8, 32, 32, 3, 0),
                               .n_outputs = 10,
                               .precision = dyno_precision_of_amp (amp),
                               .mode = DYNO_MODE_TRAIN };
  params.schema.generated = TRUE;
  return params;
}

/* most_bytes: limit for one buffer; 0: the device's limit. */
static Net
net_make (const DynoNetworkParams *params, DynoPlanFlags flags, gboolean reorder,
          guint64 most_bytes)
{
  g_autoptr (GError) error = NULL;
  Net net = { .graph = dyno_network_build (params, &error) };
  g_assert_no_error (error);
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  net.lowering = reorder ? dyno_lowering_new_in_order (net.graph, info, NULL, &error)
                         : dyno_lowering_new (net.graph, info, NULL, &error);
  g_assert_no_error (error);
  if (reorder)
    {
      dyno_lowering_reorder (net.lowering, TRUE);
      dyno_lowering_overlap (net.lowering);
    }
  if (most_bytes > 0)
    net.lowering->info.max_buffer_bytes = most_bytes;
  dyno_plan_compute (net.lowering, 2, flags, &net.plan, &error);
  g_assert_no_error (error);
  net.memory = dyno_memory_new (device, &net.plan, &error);
  g_assert_no_error (error);
  net.program = dyno_program_new (device, net.lowering, net.memory, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  dyno_program_initialise (net.program, 1, &error);
  g_assert_no_error (error);
  return net;
}

static Net
net_new (const DynoNetworkParams *params, DynoPlanFlags flags)
{
  return net_make (params, flags, FALSE, 0);
}

static void
net_clear (Net *net)
{
  dyno_program_free (net->program);
  dyno_memory_unref (net->memory);
  dyno_lowering_free (net->lowering);
  dyno_graph_free (net->graph);
}

static struct DynoStepInput
step_input (guint step, guint data_step, guint accumulate)
{
  return (struct DynoStepInput){ .step = data_step,
                                 .seed_low = 7,
                                 .n_valid = BATCH,
                                 .loss_divisor = (float) (BATCH * accumulate),
                                 .lr = 0.05f,
                                 .momentum = 0.9f,
                                 .beta2 = 0.999f,
                                 .epsilon = 1e-8f,
                                 .weight_decay = 1e-4f,
                                 .first_update = step == 0,
                                 .loss_scale_min = 1,
                                 .loss_scale_max = 65536,
                                 .scale_growth_interval = 0 };
}

static guint64
submit (Net *net, DynoCommandKind kind, guint slot, struct DynoStepInput input)
{
  g_autoptr (GError) error = NULL;
  guint64 timeline_value = 0;
  *dyno_program_step_input (net->program, slot) = input;
  dyno_program_submit (net->program, kind, slot, NULL, 0, &timeline_value, &error);
  g_assert_no_error (error);
  return timeline_value;
}

static void
wait_for (guint64 timeline_value)
{
  g_autoptr (GError) error = NULL;
  dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, &error);
  g_assert_no_error (error);
}

static struct DynoStepOutput
run_step (Net *net, DynoCommandKind kind, struct DynoStepInput input)
{
  wait_for (submit (net, kind, 0, input));
  return *dyno_program_step_output (net->program, 0);
}

/* All of a space's bytes. */
static guint8 *
read_space (Net *net, DynoSpace space, gsize *size_bytes)
{
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = dyno_memory_get_buffer (net->memory, space, 0);
  *size_bytes = dyno_buffer_get_size (buffer);
  guint8 *bytes = g_malloc (*size_bytes);
  dyno_buffer_read (buffer, 0, bytes, *size_bytes, &error);
  g_assert_no_error (error);
  return bytes;
}

static void
assert_space_equal (Net *a, Net *b, DynoSpace space)
{
  gsize size_a, size_b;
  g_autofree guint8 *bytes_a = read_space (a, space, &size_a),
                    *bytes_b = read_space (b, space, &size_b);
  g_assert_cmpmem (bytes_a, size_a, bytes_b, size_b);
}

static void
test_allocates_what_was_planned (void)
{
  for (guint amp = 0; amp < 2; amp++)
    {
      DynoNetworkParams params = params_of ("resnet18", amp);
      params.schema.generated = FALSE;
      guint64 before[DYNO_MEMORY_N_KINDS], total = dyno_device_get_allocated_total (device);
      for (guint kind = 0; kind < DYNO_MEMORY_N_KINDS; kind++)
        before[kind] = dyno_device_get_allocated (device, kind);
      Net net = net_new (&params, DYNO_PLAN_DEFAULT);
      for (guint kind = 0; kind < DYNO_MEMORY_N_KINDS; kind++)
        g_assert_cmpuint (dyno_device_get_allocated (device, kind) - before[kind], ==,
                          net.plan.kind_bytes[kind]);
      g_assert_cmpuint (dyno_device_get_allocated_total (device) - total, ==, net.plan.total_bytes);
      net_clear (&net);
      g_assert_cmpuint (dyno_device_get_allocated_total (device), ==, total);
    }
}

/* The loss must fall when the same batch is trained on repeatedly. */
static void
test_learns (void)
{
  const char *const models[] = { "simplecnn", "resnet18", "mlp" };
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    for (guint amp = g_str_equal (models[i], "resnet18"); amp < 2; amp++)
      {
        DynoNetworkParams params = params_of (models[i], amp);
        Net net = net_new (&params, DYNO_PLAN_DEFAULT);
        double first = 0, last = 0;
        for (guint step = 0; step < 12; step++)
          {
            struct DynoStepOutput output =
                run_step (&net, DYNO_COMMAND_FULL, step_input (step, 0, 1));
            g_assert_cmpuint (output.n_valid, ==, BATCH);
            g_assert_cmpuint (output.nonfinite_loss, ==, 0);
            g_assert_true (isfinite (output.loss_sum));
            last = output.loss_sum / BATCH;
            first = step == 0 ? last : first;
          }
        g_assert_cmpfloat (first, >, 1.5);
        g_assert_cmpfloat (last, <, 0.5 * first);
        net_clear (&net);
      }
}

/* Memory that is shared or not, in one buffer or several, and values that are kept or recomputed
 * give bit-identical weights after some steps. */
static void
test_memory_changes_no_bit (void)
{
  const char *const models[] = { "simplecnn", "resnet18" };
  guint n_split = 0;
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    for (guint amp = g_str_equal (models[i], "resnet18"); amp < 2; amp++)
      {
        DynoNetworkParams params = params_of (models[i], amp);
        Net shared = net_new (&params, DYNO_PLAN_DEFAULT),
            apart = net_new (&params, DYNO_PLAN_NO_ALIAS);
        Net reordered = net_make (&params, DYNO_PLAN_DEFAULT, TRUE, 0);
        Net split = net_make (&params, DYNO_PLAN_DEFAULT, FALSE, shared.plan.largest_bytes);
        Net split_apart = net_make (&params, DYNO_PLAN_NO_ALIAS, FALSE, shared.plan.largest_bytes);
        /* In some models the weights are the largest buffer. */
        n_split += split.plan.n_arena_buffers > 1;
        g_assert_cmpuint (split_apart.plan.n_arena_buffers, >=, split.plan.n_arena_buffers);
        params.checkpointing = TRUE;
        Net rematerialised = net_new (&params, DYNO_PLAN_DEFAULT);
        /* in a shallow network the list may stay the same */
        g_assert_cmpuint (dyno_lowering_get_dispatches (rematerialised.lowering)->len, >=,
                          dyno_lowering_get_dispatches (shared.lowering)->len
                              + (g_str_equal (models[i], "resnet18") ? 3 : 0));
        Net *nets[] = { &shared, &apart, &rematerialised, &reordered, &split, &split_apart };
        struct DynoStepOutput outputs[G_N_ELEMENTS (nets)];
        for (guint step = 0; step < 3; step++)
          for (guint k = 0; k < G_N_ELEMENTS (nets); k++)
            outputs[k] = run_step (nets[k], DYNO_COMMAND_FULL, step_input (step, step, 1));
        for (guint k = 1; k < G_N_ELEMENTS (nets); k++)
          {
            g_assert_cmpmem (&outputs[0], sizeof outputs[0], &outputs[k], sizeof outputs[k]);
            assert_space_equal (&shared, nets[k], DYNO_SPACE_MASTER);
            assert_space_equal (&shared, nets[k], DYNO_SPACE_MOMENT1);
            assert_space_equal (&shared, nets[k], DYNO_SPACE_STATE);
          }
        for (guint k = 0; k < G_N_ELEMENTS (nets); k++)
          net_clear (nets[k]);
      }
  g_assert_cmpuint (n_split, >=, 2);
}

/* The planned barriers are in the commands: on a device that runs dispatches one after the other,
 * no result would show it. */
static void
test_barriers_are_recorded (void)
{
  static const DynoCommandKind kinds[] = { DYNO_COMMAND_FULL, DYNO_COMMAND_ACCUMULATE,
                                           DYNO_COMMAND_FORWARD };
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  Net net = net_new (&params, DYNO_PLAN_DEFAULT);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (guint slot = 0; slot < 2; slot++)
      {
        guint planned = dyno_program_get_barriers (net.program, kinds[i]);
        guint submits = dyno_program_get_submits (net.program, kinds[i]);
        g_assert_cmpuint (planned, >, 10);
        g_assert_cmpuint (dyno_program_get_recorded_barriers (net.program, kinds[i], slot), ==,
                          planned + 2 * submits + 2);
      }
  net_clear (&net);
}

/* Two steps in flight in two slots have the results of consecutive steps. */
static void
test_slots (void)
{
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  Net one = net_new (&params, DYNO_PLAN_DEFAULT), two = net_new (&params, DYNO_PLAN_DEFAULT);
  guint64 timeline_value = 0;
  for (guint step = 0; step < 4; step += 2)
    {
      run_step (&one, DYNO_COMMAND_FULL, step_input (step, step, 1));
      run_step (&one, DYNO_COMMAND_FULL, step_input (step + 1, step + 1, 1));
      submit (&two, DYNO_COMMAND_FULL, 0, step_input (step, step, 1));
      timeline_value = submit (&two, DYNO_COMMAND_FULL, 1, step_input (step + 1, step + 1, 1));
      wait_for (timeline_value);
    }
  assert_space_equal (&one, &two, DYNO_SPACE_MASTER);
  g_assert_cmpmem (dyno_program_step_output (one.program, 0), sizeof (struct DynoStepOutput),
                   dyno_program_step_output (two.program, 1), sizeof (struct DynoStepOutput));
  net_clear (&one);
  net_clear (&two);
}

/* Where the input is constant the slots share it, and the allocation equals the plan. */
static void
test_one_input (void)
{
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  params.schema = dyno_schema_image (DYNO_ELEMENT_F32, 32, 32, 3, 0);
  Net many = net_new (&params, DYNO_PLAN_DEFAULT), one = net_new (&params, DYNO_PLAN_ONE_INPUT);
  guint64 input = many.plan.space_bytes[DYNO_SPACE_INPUT];
  g_assert_cmpuint (input, >, 0);
  g_assert_cmpuint (one.plan.total_bytes + input, ==, many.plan.total_bytes);
  g_assert_cmpuint (one.plan.kind_bytes[DYNO_MEMORY_STAGING] + input, ==,
                    many.plan.kind_bytes[DYNO_MEMORY_STAGING]);
  for (guint space = 0; space < DYNO_SPACE_N; space++)
    {
      gboolean shared = dyno_memory_get_buffer (one.memory, space, 0)
                        == dyno_memory_get_buffer (one.memory, space, 1);
      gboolean alike = dyno_memory_get_buffer (many.memory, space, 0)
                       == dyno_memory_get_buffer (many.memory, space, 1);
      g_assert_cmpint (shared, ==, alike || space == DYNO_SPACE_INPUT);
    }
  Net *nets[] = { &many, &one };
  for (guint k = 0; k < G_N_ELEMENTS (nets); k++)
    {
      g_autoptr (GError) error = NULL;
      DynoTensor *pixels = dyno_network_find_input (nets[k]->graph, DYNO_FIELD_INPUT);
      g_autofree float *values = g_new (float, pixels->size_bytes / sizeof (float));
      for (guint64 i = 0; i < pixels->size_bytes / sizeof (float); i++)
        values[i] = (float) (i % 17) / 16;
      for (guint slot = 0; slot < 2; slot++)
        dyno_program_write_tensor (nets[k]->program, pixels, slot, values, pixels->size_bytes,
                                   &error);
      g_assert_no_error (error);
      submit (nets[k], DYNO_COMMAND_FULL, 0, step_input (0, 0, 1));
      wait_for (submit (nets[k], DYNO_COMMAND_FULL, 1, step_input (1, 1, 1)));
    }
  assert_space_equal (&many, &one, DYNO_SPACE_MASTER);
  net_clear (&many);
  net_clear (&one);
}

static void
test_gradients_accumulate (void)
{
  DynoNetworkParams params = params_of ("mlp", FALSE);
  Net net = net_new (&params, DYNO_PLAN_DEFAULT);
  gsize size;
  run_step (&net, DYNO_COMMAND_ACCUMULATE, step_input (0, 0, 1));
  g_autofree float *once = (float *) (void *) read_space (&net, DYNO_SPACE_GRADIENT, &size);
  run_step (&net, DYNO_COMMAND_ACCUMULATE, step_input (0, 0, 1));
  g_autofree float *twice = (float *) (void *) read_space (&net, DYNO_SPACE_GRADIENT, &size);
  double sum = 0;
  for (gsize i = 0; i < size / sizeof (float); i++)
    {
      g_assert_cmpfloat_with_epsilon (twice[i], 2 * once[i], 1e-6 + 1e-5 * fabs ((double) once[i]));
      sum += fabs ((double) once[i]);
    }
  g_assert_cmpfloat (sum, >, 0.1);
  run_step (&net, DYNO_COMMAND_FULL, step_input (0, 0, 1));
  g_autofree float *cleared = (float *) (void *) read_space (&net, DYNO_SPACE_GRADIENT, &size);
  for (gsize i = 0; i < size / sizeof (float); i++)
    g_assert_cmpfloat (cleared[i], ==, 0);
  g_assert_cmpfloat (dyno_program_step_output (net.program, 0)->grad_norm, >, 0);
  struct DynoStepOutput output = run_step (&net, DYNO_COMMAND_ACCUMULATE, step_input (1, 1, 1));
  g_assert_cmpfloat (output.grad_norm, ==, 0); /* nothing of the last step remains */
  net_clear (&net);
}

static const DynoSpace trained_spaces[] = { DYNO_SPACE_MASTER, DYNO_SPACE_HALF, DYNO_SPACE_MOMENT1,
                                            DYNO_SPACE_MOMENT2, DYNO_SPACE_STATE };

/* A step whose loss divisor of 0 makes the gradients infinite. */
static void
run_skipped (Net *net, guint step)
{
  struct DynoStepInput input = step_input (step, step, 1);
  input.loss_divisor = 0;
  g_assert_cmpuint (run_step (net, DYNO_COMMAND_FULL, input).overflow, ==, 1);
}

/* After a skipped step, with or without earlier micro-steps in its accumulation, everything but the
 * scaler is unchanged, and later steps have the same bits with and without it. */
static void
check_skipped (const DynoNetworkParams *params)
{
  Net net = net_new (params, DYNO_PLAN_DEFAULT), plain = net_new (params, DYNO_PLAN_DEFAULT);
  run_skipped (&net, 0);
  run_step (&net, DYNO_COMMAND_FULL, step_input (0, 0, 1));
  run_step (&net, DYNO_COMMAND_ACCUMULATE, step_input (1, 7, 1));
  run_skipped (&net, 1);
  run_step (&plain, DYNO_COMMAND_FULL, step_input (0, 0, 1));
  for (guint i = 0; i < G_N_ELEMENTS (trained_spaces); i++)
    if (dyno_memory_get_buffer (net.memory, trained_spaces[i], 0))
      assert_space_equal (&net, &plain, trained_spaces[i]);
  assert_space_equal (&net, &plain, DYNO_SPACE_GRADIENT);
  struct DynoStepOutput a = run_step (&net, DYNO_COMMAND_FULL, step_input (1, 1, 1));
  struct DynoStepOutput b = run_step (&plain, DYNO_COMMAND_FULL, step_input (1, 1, 1));
  g_assert_cmpuint (a.skipped, ==, 2);
  a.skipped = b.skipped;
  g_assert_cmpmem (&a, sizeof a, &b, sizeof b);
  for (guint i = 0; i < G_N_ELEMENTS (trained_spaces); i++)
    if (dyno_memory_get_buffer (net.memory, trained_spaces[i], 0))
      assert_space_equal (&net, &plain, trained_spaces[i]);
  net_clear (&net);
  net_clear (&plain);
}

static void
test_skipped_step (void)
{
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  params.schema = dyno_schema_image (DYNO_ELEMENT_U8, 16, 16, 3, 0);
  params.schema.generated = TRUE;
  check_skipped (&params);
  params.precision = dyno_precision_of_amp (TRUE);
  params.optimizer = DYNO_OPTIMIZER_ADAMW;
  check_skipped (&params);
}

static void
test_fusion_keeps_results (void)
{
  DynoNetworkParams params = params_of ("resnet18", TRUE);

  params.model_width =
      0.125; /* narrower, half precision moves the gradient's norm by a hundredth */
  Net fused = net_new (&params, DYNO_PLAN_DEFAULT);
  params.no_fusion = TRUE;
  Net plain = net_new (&params, DYNO_PLAN_DEFAULT);
  struct DynoStepOutput a = run_step (&fused, DYNO_COMMAND_FULL, step_input (0, 0, 1));
  struct DynoStepOutput b = run_step (&plain, DYNO_COMMAND_FULL, step_input (0, 0, 1));
  g_test_message ("loss %g and %g, norm %g and %g", a.loss_sum, b.loss_sum, a.grad_norm,
                  b.grad_norm);
  g_assert_cmpfloat_with_epsilon (a.loss_sum, b.loss_sum, 1e-3 * fabs ((double) b.loss_sum));
  g_assert_cmpfloat_with_epsilon (a.grad_norm, b.grad_norm, 1e-2 * (double) b.grad_norm);
  g_assert_cmpuint (dyno_program_get_barriers (fused.program, DYNO_COMMAND_FULL), <,
                    dyno_program_get_barriers (plain.program, DYNO_COMMAND_FULL));
  net_clear (&fused);
  net_clear (&plain);
}

/* Training and evaluation share memory: evaluation reads the trained weights and changes
 * nothing. */
static void
test_evaluation_shares_memory (void)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  Net training = { .graph = dyno_network_build (&params, &error) }, evaluation = { 0 };
  params.mode = DYNO_MODE_EVALUATE;
  params.batch = 2 * BATCH;
  evaluation.graph = dyno_network_build (&params, &error);
  training.lowering =
      dyno_lowering_new (training.graph, dyno_device_get_info (device), NULL, &error);
  evaluation.lowering =
      dyno_lowering_new (evaluation.graph, dyno_device_get_info (device), NULL, &error);
  dyno_plan_compute (training.lowering, 1, DYNO_PLAN_DEFAULT, &training.plan, &error);
  dyno_plan_compute (evaluation.lowering, 1, DYNO_PLAN_DEFAULT, &evaluation.plan, &error);
  g_assert_no_error (error);
  dyno_plan_merge (&training.plan, &evaluation.plan);
  training.memory = evaluation.memory = dyno_memory_new (device, &training.plan, &error);
  g_assert_no_error (error);
  training.program =
      dyno_program_new (device, training.lowering, training.memory, 0, NULL, NULL, NULL, &error);
  evaluation.program =
      dyno_program_new (device, evaluation.lowering, training.memory, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  dyno_program_initialise (training.program, 1, &error);
  struct DynoStepInput input = step_input (0, 0, 1);
  input.n_valid = 2 * BATCH;
  double before = run_step (&evaluation, DYNO_COMMAND_FORWARD, input).loss_sum;
  for (guint step = 0; step < 4; step++)
    run_step (&training, DYNO_COMMAND_FULL, step_input (step, 0, 1));
  gsize size;
  g_autofree guint8 *weights = read_space (&training, DYNO_SPACE_MASTER, &size);
  double after = run_step (&evaluation, DYNO_COMMAND_FORWARD, input).loss_sum;
  g_assert_cmpfloat (before, !=, after);
  /* it has only a forward pass */
  g_assert_cmpfloat (run_step (&evaluation, DYNO_COMMAND_FULL, input).loss_sum, ==, after);
  g_autofree guint8 *same = read_space (&training, DYNO_SPACE_MASTER, &size);
  g_assert_cmpmem (weights, size, same, size);
  DynoTensor *logits = dyno_network_get_logits (evaluation.graph);
  g_autofree guint8 *values = g_malloc (logits->size_bytes);
  g_assert_true (
      dyno_program_read_tensor (evaluation.program, logits, 0, values, logits->size_bytes, &error));
  evaluation.memory = NULL;
  dyno_program_free (evaluation.program);
  evaluation.program = NULL;
  net_clear (&training);
  net_clear (&evaluation);
}

static void
test_weights_round_trip (void)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of ("simplecnn", TRUE);
  Net net = net_new (&params, DYNO_PLAN_DEFAULT);
  GPtrArray *parameters = dyno_graph_get_parameters (net.graph);
  g_autoptr (GPtrArray) wrote = g_ptr_array_new_with_free_func (g_free),
                        got = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < parameters->len; i++)
    {
      guint64 count = dyno_parameter_count (g_ptr_array_index (parameters, i));
      float *values = g_new (float, count);
      for (guint64 k = 0; k < count; k++)
        values[k] = (float) (i + 1) + (float) (k % 97) / 128;
      g_ptr_array_add (wrote, values);
      g_ptr_array_add (got, g_new0 (float, count));
    }
  dyno_program_write_parameters (net.program, DYNO_SPACE_MASTER,
                                 (const float *const *) wrote->pdata, &error);
  g_assert_no_error (error);
  dyno_program_read_parameters (net.program, DYNO_SPACE_MASTER, (float *const *) got->pdata,
                                &error);
  g_assert_no_error (error);
  for (guint i = 0; i < parameters->len; i++)
    {
      gsize size = dyno_parameter_count (g_ptr_array_index (parameters, i)) * sizeof (float);
      g_assert_cmpmem (wrote->pdata[i], size, got->pdata[i], size);
    }
  const DynoParameter *first = g_ptr_array_index (parameters, 0);
  guint16 half;
  g_assert_true (
      dyno_program_read_tensor (net.program, first->compute, 0, &half, sizeof half, &error));
  g_assert_cmpuint (half, ==, 0x3c00); /* 1.0, in the fp16 copy too */
  net_clear (&net);
}

/* Makes a program in pieces that uses the memory of a net. */
static DynoProgram *
new_in_pieces (Net *net, guint64 bucket_bytes)
{
  g_autoptr (GError) error = NULL;
  DynoProgram *program;
  net->lowering->bucket_bytes = bucket_bytes;
  program = dyno_program_new (device, net->lowering, net->memory, DYNO_COMMANDS_EXCHANGED, NULL,
                              NULL, NULL, &error);
  g_assert_no_error (error);
  return program;
}

/* Runs a step in pieces: each bucket is final at the end of its piece. */
static void
run_pieces (Net *net, struct DynoStepInput input)
{
  const GArray *buckets = dyno_program_get_buckets (net->program);
  DynoBuffer *gradients = dyno_memory_get_buffer (net->memory, DYNO_SPACE_GRADIENT, 0);
  g_autoptr (GPtrArray) seen = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  guint64 value, bytes = 0;
  *dyno_program_step_input (net->program, 0) = input;
  for (guint piece = 0; piece < dyno_program_get_pieces (net->program); piece++)
    {
      g_assert_true (dyno_program_submit_piece (net->program, piece, 0, NULL, 0, &value, &error));
      wait_for (value);
      for (guint i = 0; i < buckets->len; i++)
        {
          const DynoBucket *bucket = &g_array_index (buckets, DynoBucket, i);
          if (bucket->piece != piece)
            continue;
          g_assert_cmpuint (seen->len, ==, i);
          g_ptr_array_add (seen, g_malloc (bucket->size_bytes));
          g_assert_true (dyno_buffer_read (gradients, bucket->offset, seen->pdata[i],
                                           bucket->size_bytes, &error));
          bytes += bucket->size_bytes;
        }
    }
  g_assert_cmpuint (seen->len, ==, buckets->len);
  g_assert_cmpuint (bytes, ==,
                    dyno_graph_count_elements (net->graph, DYNO_SPACE_GRADIENT) * sizeof (float));
  for (guint i = 0; i < buckets->len; i++)
    {
      const DynoBucket *bucket = &g_array_index (buckets, DynoBucket, i);
      g_autofree guint8 *now = g_malloc (bucket->size_bytes),
                        *zeros = g_malloc0 (bucket->size_bytes);
      g_assert_true (dyno_buffer_read (gradients, bucket->offset, now, bucket->size_bytes, &error));
      g_assert_cmpmem (now, bucket->size_bytes, seen->pdata[i], bucket->size_bytes);
      g_assert_true (memcmp (now, zeros, bucket->size_bytes) != 0);
    }
  wait_for (submit (net, DYNO_COMMAND_OPTIMIZER, 0, input));
}

/* Divided where gradients are final, a step has the bits of a step that is submitted whole. */
static void
test_pieces (void)
{
  const char *const models[] = { "simplecnn", "simplecnn", "resnet18" };
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      DynoNetworkParams params = params_of (models[i], i > 0);
      Net whole = net_new (&params, DYNO_PLAN_DEFAULT);
      Net cut = net_make (&params, DYNO_PLAN_DEFAULT, i > 0, 0);
      dyno_program_free (cut.program); /* the memory that it uses is initialised */
      cut.program = new_in_pieces (&cut, 2 << 10);
      g_assert_cmpuint (dyno_program_get_pieces (cut.program), >, 2);
      g_assert_cmpuint (dyno_program_get_pieces (cut.program), ==,
                        dyno_program_get_submits (cut.program, DYNO_COMMAND_PIECES));
      for (guint step = 0; step < 3; step++)
        {
          struct DynoStepOutput output =
              run_step (&whole, DYNO_COMMAND_FULL, step_input (step, step, 1));
          run_pieces (&cut, step_input (step, step, 1));
          g_assert_cmpmem (&output, sizeof output, dyno_program_step_output (cut.program, 0),
                           sizeof output);
        }
      assert_space_equal (&whole, &cut, DYNO_SPACE_MASTER);
      assert_space_equal (&whole, &cut, DYNO_SPACE_MOMENT1);
      assert_space_equal (&whole, &cut, DYNO_SPACE_STATE);
      net_clear (&whole);
      net_clear (&cut);
    }
}

/* A small net whose gradients are exchanged in one piece needs no separate commands. */
static void
test_one_piece (void)
{
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  Net net = net_new (&params, DYNO_PLAN_DEFAULT);
  g_autoptr (DynoProgram) program = new_in_pieces (&net, 0);
  g_assert_cmpuint (dyno_program_get_pieces (program), ==, 1);
  g_assert_cmpuint (dyno_program_get_buckets (program)->len, ==, 1);
  g_assert_null (dyno_program_get_buckets (net.program));
  net_clear (&net);
}

/* No dispatch but the optimizer's touches a bucket after the end of its piece. */
static void
assert_final (DynoLowering *lowering, const GArray *buckets, const GArray *ends)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings && dispatch->stage != DYNO_STAGE_OPTIMIZER; b++)
        {
          const DynoBinding *binding = &dispatch->bindings[b];
          guint64 begin = binding->tensor->offset + binding->byte_offset,
                  end = binding->tensor->offset + binding->tensor->size_bytes;
          for (guint k = 0; k < buckets->len; k++)
            {
              const DynoBucket *bucket = &g_array_index (buckets, DynoBucket, k);
              if (binding->tensor->space == DYNO_SPACE_GRADIENT
                  && begin < bucket->offset + bucket->size_bytes && bucket->offset < end)
                g_assert_cmpuint (i, <, g_array_index (ends, guint, bucket->piece));
            }
        }
    }
}

/* Without weight decay for vectors these lie together: a bucket then has gradients of layers far
 * apart, and is final with the last of them. */
static void
test_buckets_of_vectors (void)
{
  for (guint undecayed = 0; undecayed < 2; undecayed++)
    {
      g_autoptr (GError) error = NULL;
      DynoNetworkParams params = params_of ("resnet18", FALSE);
      params.undecayed_vectors = undecayed;
      g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
      g_assert_no_error (error);
      g_autoptr (DynoLowering) lowering =
          dyno_lowering_new (graph, dyno_device_get_info (device), NULL, &error);
      g_assert_no_error (error);
      g_autoptr (GArray) ends = NULL, buckets = dyno_buckets_find (lowering, 8 << 10, &ends);
      g_assert_cmpuint (ends->len, >, 1);
      g_assert_cmpuint (buckets->len, >, 3);
      assert_final (lowering, buckets, ends);
    }
}

/* The buckets of ResNet-18 have all gradients, from the last to the first, and each bucket is large
 * but for the last. */
static void
test_buckets (void)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of ("resnet18", FALSE);
  params.model_width = 1;
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, &error);
  g_assert_no_error (error);
  g_autoptr (DynoLowering) lowering =
      dyno_lowering_new (graph, dyno_device_get_info (device), NULL, &error);
  g_assert_no_error (error);
  g_autoptr (GArray) ends = NULL, buckets = dyno_buckets_find (lowering, 0, &ends);
  guint64 end = dyno_graph_count_elements (graph, DYNO_SPACE_GRADIENT) * sizeof (float);
  g_assert_cmpuint (buckets->len, >, 3);
  g_assert_cmpuint (buckets->len, <=, DYNO_BUCKETS_WANTED + 1);
  for (guint i = 0; i < buckets->len; i++)
    {
      const DynoBucket *bucket = &g_array_index (buckets, DynoBucket, i);
      g_assert_cmpuint (bucket->offset + bucket->size_bytes, ==, end);
      g_assert_cmpuint (bucket->piece, <, ends->len);
      end = bucket->offset;
      if (i + 1 == buckets->len)
        g_assert_cmpuint (bucket->size_bytes, <=, DYNO_BUCKET_LAST);
      else if (i + 2 < buckets->len)
        g_assert_cmpuint (bucket->size_bytes, >=, DYNO_BUCKET_LEAST);
    }
  g_assert_cmpuint (end, ==, 0);
}

/* A snapshot equals the memory of a program. */
static void
assert_snapshot_of (DynoSnapshot *snapshot, Net *net)
{
  static const DynoSpace spaces[] = { DYNO_SPACE_MASTER, DYNO_SPACE_MOMENT1 };
  GPtrArray *parameters = dyno_graph_get_parameters (net->graph);
  struct DynoScalerState scaler[2] = { { .scale = 0 } };
  g_autoptr (GError) error = NULL;
  for (guint s = 0; s < G_N_ELEMENTS (spaces); s++)
    {
      g_autoptr (GPtrArray) got = g_ptr_array_new_with_free_func (g_free),
                            expected = g_ptr_array_new_with_free_func (g_free);
      for (guint i = 0; i < parameters->len; i++)
        {
          guint64 count = dyno_parameter_count (g_ptr_array_index (parameters, i));
          g_ptr_array_add (got, g_new0 (float, count));
          g_ptr_array_add (expected, g_new0 (float, count));
        }
      dyno_snapshot_read_parameters (snapshot, spaces[s], (float *const *) got->pdata, &error);
      g_assert_no_error (error);
      dyno_program_read_parameters (net->program, spaces[s], (float *const *) expected->pdata,
                                    &error);
      g_assert_no_error (error);
      for (guint i = 0; i < parameters->len; i++)
        {
          gsize size = dyno_parameter_count (g_ptr_array_index (parameters, i)) * sizeof (float);
          g_assert_cmpmem (got->pdata[i], size, expected->pdata[i], size);
        }
    }
  dyno_snapshot_read_scaler (snapshot, &scaler[0], &error);
  g_assert_no_error (error);
  dyno_program_read_tensor (net->program, dyno_graph_scaler (net->graph), 0, &scaler[1],
                            sizeof scaler[1], &error);
  g_assert_no_error (error);
  g_assert_cmpmem (&scaler[0], sizeof scaler[0], &scaler[1], sizeof scaler[1]);
}

/* A snapshot is the state after the steps that were submitted before it, whatever was submitted
 * later. */
static void
test_snapshot (void)
{
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  Net ahead = net_new (&params, DYNO_PLAN_DEFAULT), net = net_new (&params, DYNO_PLAN_DEFAULT);
  g_autoptr (GError) error = NULL;
  DynoPlan plan = net.plan;
  guint64 total = dyno_device_get_allocated_total (device);
  DynoSnapshot *snapshot = dyno_snapshot_new (ahead.program, &error);
  g_assert_no_error (error);
  dyno_plan_set_snapshot (&plan, TRUE);
  g_assert_cmpuint (dyno_device_get_allocated_total (device) - total, ==,
                    plan.total_bytes - net.plan.total_bytes);
  g_assert_cmpuint (dyno_device_get_allocated (device, DYNO_MEMORY_SNAPSHOT), ==,
                    plan.kind_bytes[DYNO_MEMORY_SNAPSHOT]);
  for (guint step = 0; step < 4; step += 2)
    {
      submit (&ahead, DYNO_COMMAND_FULL, 0, step_input (step, step, 1));
      g_assert_true (dyno_snapshot_take (snapshot, &error));
      submit (&ahead, DYNO_COMMAND_FULL, 1, step_input (step + 1, step + 1, 1));
      run_step (&net, DYNO_COMMAND_FULL, step_input (step, step, 1));
      assert_snapshot_of (snapshot, &net);
      run_step (&net, DYNO_COMMAND_FULL, step_input (step + 1, step + 1, 1));
    }
  dyno_snapshot_free (snapshot);
  net_clear (&ahead);
  net_clear (&net);
}

static void
test_profile (void)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of ("mlp", FALSE);
  Net net = net_new (&params, DYNO_PLAN_DEFAULT);
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < 2; i++)
    {
      g_assert_true (dyno_program_profile (net.program, 0, times, &error));
      g_assert_cmpuint (times->len, ==, dyno_lowering_get_dispatches (net.lowering)->len);
    }
  double stages[3], sum = 0;
  for (guint i = 0; i < times->len; i++)
    sum += g_array_index (times, double, i);
  g_assert_cmpfloat (sum, >, 0);
  run_step (&net, DYNO_COMMAND_FULL, step_input (0, 0, 1));
  dyno_program_read_stages (net.program, 0, stages);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (stages[i], >, 0);
  net_clear (&net);
}

/* A budget below the plan is an error before anything runs. */
static void
test_over_budget (void)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of ("simplecnn", FALSE);
  g_autoptr (DynoGraph) graph = dyno_network_build (&params, NULL);
  g_autoptr (DynoLowering) lowering =
      dyno_lowering_new (graph, dyno_device_get_info (device), NULL, NULL);
  DynoPlan plan;
  dyno_plan_compute (lowering, 1, DYNO_PLAN_DEFAULT, &plan, NULL);
  g_autoptr (DynoDevice) small =
      dyno_device_open (&(DynoDeviceParams){ .index = -1, .budget_bytes = plan.total_bytes }, NULL);
  g_autoptr (DynoMemory) fits = dyno_memory_new (small, &plan, &error);
  g_assert_no_error (error);
  g_clear_pointer (&fits, dyno_memory_unref);
  g_assert_true (dyno_device_set_budget (small, plan.total_bytes - 1, &error));
  g_assert_null (dyno_memory_new (small, &plan, &error));
  g_assert_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
  g_assert_cmpuint (dyno_device_get_allocated_total (small), ==, 0);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  device = dyno_device_open (NULL, &error);
  g_assert_no_error (error);
  g_test_add_func ("/nn/program/allocates-what-was-planned", test_allocates_what_was_planned);
  g_test_add_func ("/nn/program/over-budget-fails-before-anything-runs", test_over_budget);
  g_test_add_func ("/nn/program/loss-falls-on-one-batch", test_learns);
  g_test_add_func ("/nn/program/slots-share-an-input-that-stays", test_one_input);
  g_test_add_func ("/nn/program/sharing-and-rematerialising-change-no-bit",
                   test_memory_changes_no_bit);
  g_test_add_func ("/nn/program/planned-barriers-are-recorded", test_barriers_are_recorded);
  g_test_add_func ("/nn/program/two-slots-in-flight", test_slots);
  g_test_add_func ("/nn/program/parameter-gradients-accumulate", test_gradients_accumulate);
  g_test_add_func ("/nn/program/skipped-step-changes-nothing-but-the-scaler", test_skipped_step);
  g_test_add_func ("/nn/program/fusion-keeps-results", test_fusion_keeps_results);
  g_test_add_func ("/nn/program/evaluation-shares-memory", test_evaluation_shares_memory);
  g_test_add_func ("/nn/program/weights-round-trip", test_weights_round_trip);
  g_test_add_func ("/nn/program/snapshot-is-the-state-when-taken", test_snapshot);
  g_test_add_func ("/nn/program/pieces-change-no-bit-and-leave-final-gradients", test_pieces);
  g_test_add_func ("/nn/program/a-small-net-is-one-piece", test_one_piece);
  g_test_add_func ("/nn/program/the-last-bucket-is-small", test_buckets);
  g_test_add_func ("/nn/program/buckets-of-vectors-are-final", test_buckets_of_vectors);
  g_test_add_func ("/nn/program/profile-times-every-dispatch", test_profile);
  int result = g_test_run ();
  if (dyno_device_get_validation_messages (device) > 0)
    {
      g_printerr ("the validation layer had something to say\n");
      result = 1;
    }
  dyno_device_unref (device);
  return result;
}
