/* SPDX-License-Identifier: MIT */
/* The build path: submitting its stages separately changes no bit, a network predicts without loss
 * and labels, all modes of a model share its parameters, and the plan without a device equals the
 * allocation. */
#include "build.h"
#include <string.h>

#define BATCH 6

static DynoDevice *device;

/* With dropout and batch norm, in which the modes differ. */
static DynoNetworkParams
params_of (DynoMode mode, gboolean generated)
{
  DynoNetworkParams params = { .model = "simplecnn",
                               .model_width = 0.125,
                               .batch = BATCH,
                               .schema = dyno_schema_image (DYNO_ELEMENT_F32, 32, 32, 3, 0),
                               .n_outputs = 10,
                               .mode = mode };

  params.schema.generated = generated;
  return params;
}

static DynoBuild *
plan_build (DynoMode mode, gboolean generated)
{
  g_autoptr (GError) error = NULL;
  DynoNetworkParams params = params_of (mode, generated);
  DynoBuildParams build_params = { .info = dyno_device_get_info (device) };
  DynoBuild *build = dyno_build_new (&params, &error);

  g_assert_no_error (error);
  dyno_build_plan (build, &build_params, &error);
  g_assert_no_error (error);
  return build;
}

static void
allocate (DynoBuild *const *builds, guint n, guint kinds)
{
  g_autoptr (GError) error = NULL;

  dyno_build_allocate (device, builds, n, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++)
    {
      dyno_build_record (builds[i], device, kinds, NULL, &error);
      g_assert_no_error (error);
    }
  dyno_program_initialise (dyno_build_get_program (builds[0]), 1, &error);
  g_assert_no_error (error);
}

static void
submit (DynoBuild *build, DynoCommandKind kind, guint step)
{
  g_autoptr (GError) error = NULL;
  DynoProgram *program = dyno_build_get_program (build);
  guint64 timeline_value = 0;

  *dyno_program_step_input (program, 0) = (struct DynoStepInput){ .step = step,
                                                                  .seed_low = 7,
                                                                  .n_valid = BATCH,
                                                                  .loss_divisor = BATCH,
                                                                  .lr = 0.05f,
                                                                  .momentum = 0.9f,
                                                                  .first_update = step == 0,
                                                                  .loss_scale_min = 1,
                                                                  .loss_scale_max = 65536 };
  dyno_program_submit (program, kind, 0, NULL, 0, &timeline_value, &error);
  g_assert_no_error (error);
  dyno_queue_wait (device, DYNO_QUEUE_COMPUTE, timeline_value, 0, &error);
  g_assert_no_error (error);
}

static guint8 *
read_masters (DynoBuild *build, gsize *size_bytes)
{
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = dyno_memory_get_buffer (dyno_build_get_memory (build), DYNO_SPACE_MASTER, 0);
  guint8 *bytes;

  *size_bytes = dyno_buffer_get_size (buffer);
  bytes = g_malloc (*size_bytes);
  dyno_buffer_read (buffer, 0, bytes, *size_bytes, &error);
  g_assert_no_error (error);
  return bytes;
}

static void
test_stages_apart (void)
{
  struct DynoStepOutput outputs[2];
  guint8 *masters[2];
  gsize size_bytes = 0;

  for (guint apart = 0; apart < 2; apart++)
    {
      g_autoptr (DynoBuild) build = plan_build (DYNO_MODE_TRAIN, TRUE);
      double stage_us[3];

      allocate (&build, 1, apart ? DYNO_COMMANDS_STAGES : 0);
      for (guint step = 0; step < 3; step++)
        if (apart)
          {
            submit (build, DYNO_COMMAND_FORWARD, step);
            dyno_program_read_stages (dyno_build_get_program (build), 0, stage_us);
            g_assert_cmpfloat (stage_us[DYNO_STAGE_OPTIMIZER], ==, 0);
            submit (build, DYNO_COMMAND_BACKWARD, step);
            submit (build, DYNO_COMMAND_OPTIMIZER, step);
          }
        else
          submit (build, DYNO_COMMAND_FULL, step);
      dyno_program_read_stages (dyno_build_get_program (build), 0, stage_us);
      for (guint i = 0; i < 3; i++)
        g_assert_cmpfloat (stage_us[i], >, 0);
      outputs[apart] = *dyno_program_step_output (dyno_build_get_program (build), 0);
      masters[apart] = read_masters (build, &size_bytes);
    }
  g_assert_cmpfloat (outputs[0].loss_sum, >, 0);
  g_assert_cmpmem (&outputs[0], sizeof outputs[0], &outputs[1], sizeof outputs[1]);
  g_assert_cmpmem (masters[0], size_bytes, masters[1], size_bytes);
  g_free (masters[0]);
  g_free (masters[1]);
}

static void
write_pixels (DynoBuild *build)
{
  g_autoptr (GError) error = NULL;
  DynoTensor *pixels = dyno_network_find_input (dyno_build_get_graph (build), DYNO_FIELD_INPUT);
  g_autofree float *values = g_new (float, pixels->size_bytes / sizeof (float));

  for (gsize i = 0; i < pixels->size_bytes / sizeof (float); i++)
    values[i] = (float) (i * 2654435761u % 1000) / 500 - 1;
  dyno_program_write_tensor (dyno_build_get_program (build), pixels, 0, values, pixels->size_bytes,
                             &error);
  g_assert_no_error (error);
}

static guint8 *
read_logits (DynoBuild *build, gsize *size_bytes)
{
  g_autoptr (GError) error = NULL;
  DynoTensor *logits = dyno_network_get_logits (dyno_build_get_graph (build));
  guint8 *bytes = g_malloc (logits->size_bytes);

  g_assert_true (logits->keep); /* no later tensor shares their memory */
  *size_bytes = logits->size_bytes;
  dyno_program_read_tensor (dyno_build_get_program (build), logits, 0, bytes, *size_bytes, &error);
  g_assert_no_error (error);
  return bytes;
}

/* The outputs of prediction are the logits of evaluation, with the weights that were just
 * trained. */
static void
test_predicts (void)
{
  g_autoptr (DynoBuild) training = plan_build (DYNO_MODE_TRAIN, FALSE);
  g_autoptr (DynoBuild) evaluation = plan_build (DYNO_MODE_EVALUATE, FALSE);
  g_autoptr (DynoBuild) prediction = plan_build (DYNO_MODE_PREDICT, FALSE);
  DynoBuild *builds[] = { training, evaluation, prediction };
  g_autofree guint8 *before = NULL, *after = NULL, *evaluated = NULL;
  gsize size_bytes;

  g_assert_null (dyno_network_find_input (dyno_build_get_graph (prediction), DYNO_FIELD_TARGET));
  g_assert_cmpuint (dyno_build_get_plan (prediction)->space_bytes[DYNO_SPACE_GRADIENT], ==, 0);
  allocate (builds, G_N_ELEMENTS (builds), 0);
  write_pixels (prediction);
  submit (prediction, DYNO_COMMAND_FORWARD, 0);
  before = read_logits (prediction, &size_bytes);
  submit (training, DYNO_COMMAND_FULL, 0);
  /* The builds share the slot's input, as they share all memory. */
  write_pixels (prediction);
  submit (prediction, DYNO_COMMAND_FORWARD, 1);
  after = read_logits (prediction, &size_bytes);
  g_assert_cmpint (memcmp (before, after, size_bytes), !=, 0);
  write_pixels (evaluation);
  submit (evaluation, DYNO_COMMAND_FORWARD, 1);
  evaluated = read_logits (evaluation, &size_bytes);
  g_assert_cmpmem (evaluated, size_bytes, after, size_bytes);
}

/* The memory has every space that one of the builds needs: here an input, which the first build
 * generates itself. */
static void
test_memory_serves_all (void)
{
  g_autoptr (DynoBuild) training = plan_build (DYNO_MODE_TRAIN, TRUE);
  g_autoptr (DynoBuild) prediction = plan_build (DYNO_MODE_PREDICT, FALSE);
  DynoBuild *builds[] = { training, prediction };

  g_assert_cmpuint (dyno_build_get_plan (training)->space_bytes[DYNO_SPACE_INPUT], ==, 0);
  allocate (builds, G_N_ELEMENTS (builds), 0);
  write_pixels (prediction);
  submit (training, DYNO_COMMAND_FULL, 0);
  submit (prediction, DYNO_COMMAND_FORWARD, 1);
}

/* A prediction build works without other builds, and without the spaces of a loss or an
 * optimizer. */
static void
test_predicts_alone (void)
{
  g_autoptr (DynoBuild) prediction = plan_build (DYNO_MODE_PREDICT, FALSE);
  g_autofree guint8 *logits = NULL;
  gboolean varied = FALSE;
  gsize size_bytes;

  allocate (&prediction, 1, 0);
  write_pixels (prediction);
  submit (prediction, DYNO_COMMAND_FORWARD, 0);
  logits = read_logits (prediction, &size_bytes);
  for (gsize i = 0; i < size_bytes; i++)
    varied |= logits[i] != logits[0];
  g_assert_true (varied);
}

static void
test_plans_without_a_device (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoBuild) build = plan_build (DYNO_MODE_TRAIN, FALSE);
  g_autoptr (DynoDevice) counted = dyno_device_open (NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (dyno_build_count_parameters (build, TRUE), >, 1000);
  g_assert_cmpfloat (dyno_build_count_flops (build), >, 1e5);
  dyno_build_allocate (counted, &build, 1, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (dyno_device_get_allocated_total (counted), ==,
                    dyno_build_get_plan (build)->total_bytes);
}

/* The second plan uses a choice that was made after the first. */
static void
test_plans_again (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (DynoBuild) build = plan_build (DYNO_MODE_TRAIN, FALSE);
  g_autoptr (DynoChoices) choices = dyno_choices_new ();
  DynoBuildParams params = { .info = dyno_device_get_info (device), .choices = choices };
  g_autofree char *key = NULL;
  DynoVariant other;
  gboolean found = FALSE;

  GPtrArray *points = dyno_lowering_get_choice_points (dyno_build_get_lowering (build));
  for (guint i = 0; i < points->len && !key; i++)
    {
      const DynoChoicePoint *point = g_ptr_array_index (points, i);
      if (point->n_variants < 2)
        continue;
      key = g_strdup (point->key);
      other = point->variants[point->chosen == 0 ? 1 : 0];
    }
  g_assert_nonnull (key);
  dyno_choices_set (choices, key, &other, 1);
  dyno_build_plan (build, &params, &error);
  g_assert_no_error (error);
  points = dyno_lowering_get_choice_points (dyno_build_get_lowering (build));
  for (guint i = 0; i < points->len; i++)
    {
      const DynoChoicePoint *point = g_ptr_array_index (points, i);
      if (g_str_equal (point->key, key))
        {
          found = TRUE;
          g_assert_true (dyno_variant_equal (&point->variants[point->chosen], &other));
        }
    }
  g_assert_true (found);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  device = dyno_device_open (NULL, &error);
  g_assert_no_error (error);
  g_test_add_func ("/nn/build/stages-apart-change-no-bit", test_stages_apart);
  g_test_add_func ("/nn/build/prediction-shares-what-was-trained", test_predicts);
  g_test_add_func ("/nn/build/memory-serves-all-that-share-it", test_memory_serves_all);
  g_test_add_func ("/nn/build/predicts-without-loss-and-labels", test_predicts_alone);
  g_test_add_func ("/nn/build/allocates-what-was-planned-without-a-device",
                   test_plans_without_a_device);
  g_test_add_func ("/nn/build/plans-again-with-other-choices", test_plans_again);
  result = g_test_run ();
  if (dyno_device_get_validation_messages (device) > 0)
    {
      g_printerr ("the validation layer had something to say\n");
      result = 1;
    }
  dyno_device_unref (device);
  return result;
}
