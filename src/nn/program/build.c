/* SPDX-License-Identifier: MIT */
/* Builds: each step checks that the step before was made.  A build can be planned again until it
 * has memory; dyno_build_allocate and dyno_build_record run once. */
#include "build.h"
#include "lowering-private.h"
#include "vetting-private.h"

struct _DynoBuild {
  DynoGraph *graph;
  gboolean owns_graph;
  DynoLowering *lowering;
  DynoPlan plan;
  DynoMemory *memory;
  DynoProgram *program;
};

DynoBuild *
dyno_build_new_graph (DynoGraph *graph)
{
  DynoBuild *build = g_new0 (DynoBuild, 1);

  build->graph = graph;
  return build;
}

DynoBuild *
dyno_build_new (const DynoNetworkParams *params, GError **error)
{
  DynoGraph *graph = dyno_network_build (params, error);
  DynoBuild *build;

  if (!graph)
    return NULL;
  build = dyno_build_new_graph (graph);
  build->owns_graph = TRUE;
  return build;
}

void
dyno_build_free (DynoBuild *build)
{
  if (!build)
    return;
  dyno_program_free (build->program);
  dyno_memory_unref (build->memory);
  dyno_lowering_free (build->lowering);
  if (build->owns_graph)
    dyno_graph_free (build->graph);
  g_free (build);
}

gboolean
dyno_build_tune (DynoBuild *build, DynoDevice *device, DynoChoices *choices,
                 const DynoVetWatch *watch, double seconds, DynoKernelProgress progress,
                 gpointer data, GCancellable *cancellable, GError **error)
{
  g_return_val_if_fail (!build->memory, FALSE);
  g_clear_pointer (&build->lowering, dyno_lowering_free);
  if (dyno_autotune_count (device, build->graph, choices) == 0)
    return TRUE;
  g_autoptr (DynoLowering) likely =
      dyno_vet_lower (device, build->graph, choices, watch, cancellable, error);
  return likely
         && dyno_autotune_within (device, build->graph, choices, seconds, progress, data,
                                  cancellable, error);
}

static DynoLowering *
lower (DynoGraph *graph, const DynoBuildParams *params, GError **error)
{
  if (params->node)
    return dyno_lowering_new_node (graph, params->node, params->info, params->choices, error);
  if (params->device)
    return dyno_vet_lower (params->device, graph, params->choices, params->watch,
                           params->cancellable, error);
  return dyno_lowering_new (graph, params->info, params->choices, error);
}

gboolean
dyno_build_plan (DynoBuild *build, const DynoBuildParams *params, GError **error)
{
  g_return_val_if_fail (!build->memory, FALSE);
  g_clear_pointer (&build->lowering, dyno_lowering_free);
  build->lowering = lower (build->graph, params, error);
  if (!build->lowering)
    return FALSE;
  build->lowering->choices = NULL; /* every choice point has a choice */
  build->lowering->bucket_bytes = params->bucket_bytes;
  if (dyno_plan_compute (build->lowering, MAX (params->n_slots, 1), params->flags, &build->plan,
                         error))
    return TRUE;
  g_clear_pointer (&build->lowering, dyno_lowering_free);
  return FALSE;
}

gboolean
dyno_build_allocate (DynoDevice *device, DynoBuild *const *builds, guint n, GError **error)
{
  g_autoptr (DynoMemory) memory = NULL;
  DynoPlan plan;

  for (guint i = 0; i < n; i++)
    g_return_val_if_fail (builds[i]->lowering && !builds[i]->memory, FALSE);
  g_return_val_if_fail (n > 0, FALSE);
  plan = builds[0]->plan;
  for (guint i = 1; i < n; i++)
    dyno_plan_merge (&plan, &builds[i]->plan);
  memory = dyno_memory_new (device, &plan, error);
  if (!memory)
    return FALSE;
  for (guint i = 0; i < n; i++)
    dyno_build_set_memory (builds[i], memory);
  return TRUE;
}

void
dyno_build_set_memory (DynoBuild *build, DynoMemory *memory)
{
  g_return_if_fail (!build->program);
  dyno_memory_ref (memory);
  dyno_memory_unref (build->memory);
  build->memory = memory;
}

gboolean
dyno_build_record (DynoBuild *build, DynoDevice *device, guint kinds, GCancellable *cancellable,
                   GError **error)
{
  g_return_val_if_fail (build->lowering && build->memory && !build->program, FALSE);
  build->program = dyno_program_new (device, build->lowering, build->memory, kinds, NULL, NULL,
                                     cancellable, error);
  return build->program != NULL;
}

DynoGraph *
dyno_build_get_graph (DynoBuild *build)
{
  return build->graph;
}

DynoLowering *
dyno_build_get_lowering (DynoBuild *build)
{
  return build->lowering;
}

const DynoPlan *
dyno_build_get_plan (DynoBuild *build)
{
  return build->lowering ? &build->plan : NULL;
}

DynoMemory *
dyno_build_get_memory (DynoBuild *build)
{
  return build->memory;
}

DynoProgram *
dyno_build_get_program (DynoBuild *build)
{
  return build->program;
}

guint64
dyno_build_count_parameters (DynoBuild *build, gboolean trained)
{
  GPtrArray *parameters = dyno_graph_get_parameters (build->graph);
  guint64 count = 0;

  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      if (!parameter->is_state && !(trained && parameter->is_frozen))
        count += dyno_parameter_count (parameter);
    }
  return count;
}

double
dyno_build_count_flops (DynoBuild *build)
{
  GPtrArray *dispatches;
  double flops = 0;

  g_return_val_if_fail (build->lowering, 0);
  dispatches = dyno_lowering_get_dispatches (build->lowering);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      if (dispatch->stage == dispatch->node->stage && dispatch->stage != DYNO_STAGE_OPTIMIZER)
        flops += (double) dispatch->flops;
    }
  return flops / dyno_graph_get_params (build->graph)->batch;
}
