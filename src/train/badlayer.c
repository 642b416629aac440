/* SPDX-License-Identifier: MIT */
/* One diagnostic step: a second program of the same network, whose values do not share memory, gets
 * the weights and the batch of the first, and its values are read back in order. */
#include "badlayer.h"
#include "weightsfile.h"
#include <math.h>
#include <string.h>

/* The slot that holds a batch with a bad loss, else one with a bad gradient; -1: none. */
static int
find_slot (DynoProgram *program)
{
  int found = -1;

  for (int slot = 0; slot < DYNO_PIPE_SLOTS; slot++)
    {
      const struct DynoStepOutput *output = dyno_program_step_output (program, (guint) slot);

      if (output->nonfinite_loss)
        return slot;
      if (output->overflow)
        found = slot;
    }
  return found;
}

static DynoBuild *
build_apart (DynoEngine *engine, GError **error)
{
  DynoBuildParams params = { .info = dyno_device_get_info (engine->device),
                             .choices = engine->choices,
                             .flags = DYNO_PLAN_NO_ALIAS };
  g_autoptr (DynoBuild) build = dyno_engine_new_build (engine, DYNO_MODE_TRAIN, error);
  DynoBuild *builds[1] = { build };

  if (!build || !dyno_build_plan (build, &params, error)
      || !dyno_build_allocate (engine->device, builds, 1, error)
      || !dyno_build_record (build, engine->device,
                             1u << DYNO_COMMAND_FORWARD | 1u << DYNO_COMMAND_BACKWARD, NULL, error))
    return NULL;
  return g_steal_pointer (&build);
}

static gboolean
copy_tensor (DynoProgram *from, const DynoTensor *source, guint slot, DynoProgram *to,
             const DynoTensor *target, GError **error)
{
  g_autofree guint8 *bytes = g_try_malloc (source->size_bytes);

  if (!bytes)
    {
      g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                   "No host memory for “%s”", source->name);
      return FALSE;
    }
  return dyno_program_read_tensor (from, source, slot, bytes, source->size_bytes, error)
         && dyno_program_write_tensor (to, target, 0, bytes, source->size_bytes, error);
}

/* Copies weights, loss scale, targets' scale, batch and step input.  Both graphs are of the same
 * network, so their tensors have the same indices. */
static gboolean
give_state (DynoEngine *engine, guint slot, DynoProgram *program, DynoGraph *graph, GError **error)
{
  DynoProgram *own = dyno_engine_get_program (engine);
  GPtrArray *from = dyno_graph_get_tensors (dyno_engine_get_graph (engine)),
            *to = dyno_graph_get_tensors (graph);
  g_autoptr (DynoWeights) weights = dyno_weights_new (graph, error);

  if (!weights || !dyno_program_read_parameters (own, DYNO_SPACE_MASTER, weights->values, error)
      || !dyno_program_write_parameters (program, DYNO_SPACE_MASTER,
                                         (const float *const *) weights->values, error))
    return FALSE;
  if (dyno_network_get_n_scaled (graph) > 0
      && !dyno_program_write_target_scale (
          program, dyno_network_get_target_scale (dyno_engine_get_graph (engine)), error))
    return FALSE;
  if (!dyno_engine_weigh_classes (engine, program, error))
    return FALSE;
  g_return_val_if_fail (from->len == to->len, FALSE);
  for (guint i = 0; i < from->len; i++)
    {
      const DynoTensor *tensor = from->pdata[i];

      if ((tensor->space == DYNO_SPACE_INPUT || tensor->space == DYNO_SPACE_SCALER)
          && !copy_tensor (own, tensor, slot, program, to->pdata[i], error))
        return FALSE;
    }
  *dyno_program_step_input (program, 0) = *dyno_program_step_input (own, slot);
  return TRUE;
}

static gboolean
is_finite (const DynoTensor *tensor, const guint8 *bytes)
{
  guint64 n = tensor->size_bytes / dyno_dtype_size (tensor->dtype);

  /* A value is not finite where all bits of its exponent are set. */
  for (guint64 i = 0; i < n; i++)
    if (tensor->dtype == DYNO_DTYPE_F16
            ? (((const guint16 *) (const void *) bytes)[i] & 0x7c00u) == 0x7c00u
            : (((const guint32 *) (const void *) bytes)[i] & 0x7f800000u) == 0x7f800000u)
      return FALSE;
  return TRUE;
}

/* Returns the next value that a dispatch writes for later dispatches, including parameters'
 * gradients; NULL: there is none. */
static const DynoTensor *
next_output (const DynoDispatch *dispatch, guint *binding)
{
  for (; *binding < dispatch->n_bindings; (*binding)++)
    {
      const DynoBinding *b = &dispatch->bindings[*binding];
      const DynoTensor *t = b->tensor;

      if ((b->access & DYNO_ACCESS_WRITE)
          && (t->space == DYNO_SPACE_ARENA || t->space == DYNO_SPACE_GRADIENT)
          && t->producer == dispatch->node
          && (t->dtype == DYNO_DTYPE_F16 || t->dtype == DYNO_DTYPE_F32))
        {
          (*binding)++;
          return t;
        }
    }
  return NULL;
}

static char *
find_first (DynoProgram *program, DynoStage stage, GError **error)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (dyno_program_get_lowering (program));

  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = dispatches->pdata[i];
      const DynoTensor *tensor;

      for (guint binding = 0;
           dispatch->stage == stage && (tensor = next_output (dispatch, &binding));)
        {
          g_autofree guint8 *bytes = g_try_malloc (tensor->size_bytes);

          if (!bytes
              || !dyno_program_read_tensor (program, tensor, 0, bytes, tensor->size_bytes, error))
            return NULL;
          if (!is_finite (tensor, bytes))
            return stage == DYNO_STAGE_FORWARD
                       ? g_strdup (dispatch->node->name)
                       : g_strdup_printf ("%s (backward pass)", dispatch->node->name);
        }
    }
  return NULL;
}

/* Runs one pass of the diagnostic step; returns the name of its first layer whose values are not
 * finite. */
static char *
run_pass (DynoEngine *engine, DynoProgram *program, DynoCommandKind kind, DynoStage stage,
          GError **error)
{
  guint64 done;

  if (!dyno_program_submit (program, kind, 0, NULL, 0, &done, error)
      || !dyno_device_wait_idle (engine->device, error))
    return NULL;
  return find_first (program, stage, error);
}

/* The forward pass is checked before the backward pass overwrites some of its values. */
char *
dyno_engine_find_bad_layer (DynoEngine *engine, GError **error)
{
  g_autoptr (DynoBuild) build = NULL;
  g_autoptr (GError) problem = NULL;
  DynoProgram *program;
  char *name;
  int slot;

  if (!dyno_device_wait_idle (engine->device, error))
    return NULL;
  slot = find_slot (dyno_engine_get_program (engine));
  build = slot >= 0 ? build_apart (engine, error) : NULL;
  if (!build)
    return NULL;
  program = dyno_build_get_program (build);
  if (!give_state (engine, (guint) slot, program, dyno_build_get_graph (build), error))
    return NULL;
  name = run_pass (engine, program, DYNO_COMMAND_FORWARD, DYNO_STAGE_FORWARD, &problem);
  if (!name && !problem)
    name = run_pass (engine, program, DYNO_COMMAND_BACKWARD, DYNO_STAGE_BACKWARD, &problem);
  if (problem)
    g_propagate_error (error, g_steal_pointer (&problem));
  return name;
}
