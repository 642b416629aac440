/* SPDX-License-Identifier: MIT */
/* Reading the state of a run back from the device. */
#include "hoststate.h"
#include "network.h"
#include <string.h>

static DynoWeights *
read_space (DynoProgram *program, DynoSnapshot *snapshot, DynoSpace space, GError **error)
{
  g_autoptr (DynoWeights) weights =
      dyno_weights_new (dyno_lowering_get_graph (dyno_program_get_lowering (program)), error);

  if (!weights
      || !(snapshot ? dyno_snapshot_read_parameters (snapshot, space, weights->values, error)
                    : dyno_program_read_parameters (program, space, weights->values, error)))
    return NULL;
  return g_steal_pointer (&weights);
}

static gboolean
read_average (DynoState *state, DynoProgram *program, DynoSnapshot *snapshot, GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (state->graph);

  if (dyno_graph_get_params (state->graph)->average_decay <= 0)
    return TRUE;
  state->average = read_space (program, snapshot, DYNO_SPACE_AVERAGE, error);
  for (guint i = 0; state->average && i < parameters->len; i++)
    {
      const DynoParameter *parameter = parameters->pdata[i];
      if (parameter->is_frozen && !parameter->is_state)
        memcpy (state->average->values[i], state->model->values[i],
                dyno_parameter_count (parameter) * sizeof (float));
    }
  return state->average != NULL;
}

static gboolean
read_scaler (DynoState *state, DynoProgram *program, DynoSnapshot *snapshot, GError **error)
{
  if (snapshot)
    return dyno_snapshot_read_scaler (snapshot, &state->scaler, error);
  return dyno_program_read_tensor (program, dyno_graph_scaler (state->graph), 0, &state->scaler,
                                   sizeof state->scaler, error);
}

DynoState *
dyno_state_read (DynoProgram *program, DynoSnapshot *snapshot, DynoStateParts parts, GError **error)
{
  g_autoptr (DynoState) state = g_new0 (DynoState, 1);

  state->graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  state->model = read_space (program, snapshot, DYNO_SPACE_MASTER, error);
  if (!state->model || !read_average (state, program, snapshot, error))
    return NULL;
  if (parts == DYNO_STATE_MODEL)
    return g_steal_pointer (&state);
  state->moment1 = read_space (program, snapshot, DYNO_SPACE_MOMENT1, error);
  if (!state->moment1)
    return NULL;
  if (dyno_optimizer_get_info (dyno_graph_get_params (state->graph)->optimizer)->n_moments > 1
      && !(state->moment2 = read_space (program, snapshot, DYNO_SPACE_MOMENT2, error)))
    return NULL;
  return read_scaler (state, program, snapshot, error) ? g_steal_pointer (&state) : NULL;
}

DynoWeights **
dyno_state_get_weights (DynoState *state)
{
  return state->average ? &state->average : &state->model;
}

void
dyno_state_free (DynoState *state)
{
  if (!state)
    return;
  dyno_weights_free (state->model);
  dyno_weights_free (state->average);
  dyno_weights_free (state->moment1);
  dyno_weights_free (state->moment2);
  g_free (state);
}
