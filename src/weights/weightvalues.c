/* SPDX-License-Identifier: MIT */
/* Weights in host memory: a float array for each parameter. */
#include "weightvalues.h"
#include "gpu-error.h"
#include "network.h"

DynoWeights *
dyno_weights_new (DynoGraph *graph, GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autoptr (DynoWeights) weights = g_new0 (DynoWeights, 1);

  weights->n = parameters->len;
  weights->values = g_new0 (float *, parameters->len + 1);
  for (guint i = 0; i < parameters->len; i++)
    {
      weights->values[i] =
          g_try_new0 (float, dyno_parameter_count (g_ptr_array_index (parameters, i)));
      if (!weights->values[i])
        {
          g_set_error (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_HOST_MEMORY,
                       "No memory for a copy of the weights; close other programs, or raise the "
                       "memory limit of the process (ulimit -v)");
          return NULL;
        }
    }
  return g_steal_pointer (&weights);
}

void
dyno_weights_free (DynoWeights *weights)
{
  if (!weights)
    return;
  for (guint i = 0; i < weights->n; i++)
    g_free (weights->values[i]);
  g_free (weights->values);
  g_free (weights);
}
