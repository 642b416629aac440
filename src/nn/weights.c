/* SPDX-License-Identifier: MIT */
/* All parameters of a program at once: packed on the host, one copy a space.
 *
 * Invariants:
 * - MASTER and its fp16 copy are written together; a program never runs with the two apart.  So are
 *   the running statistics and what a skipped step makes of them again.
 * - What costs time on the host (random numbers, packing, rounding) runs on all cores; the result
 *   does not depend on how many. */
#include "graph-private.h"
#include "half.h"
#include "lowering-private.h"
#include "network.h"
#include "parallel.h"
#include "program.h"

/* The whole of a space as one tensor on the stack. */
static DynoTensor
whole_space (DynoSpace space, const char *name, guint64 n_elements, DynoDtype dtype)
{
  return (DynoTensor){ .name = (char *) name,
                       .space = space,
                       .dtype = dtype,
                       .size_bytes = n_elements * dyno_dtype_size (dtype) };
}

#define HALF_CHUNK (1u << 16)

typedef struct {
  const float *values;
  guint16 *half;
  guint64 n_elements;
} Rounding;

static void
round_chunk (guint index, gpointer data)
{
  Rounding *r = data;
  guint64 first = (guint64) index * HALF_CHUNK, end = MIN (first + HALF_CHUNK, r->n_elements);
  for (guint64 i = first; i < end; i++)
    r->half[i] = dyno_half_from_float (r->values[i]);
}

/* The flat spaces of a graph on the host; NULL where a graph has no such. */
typedef struct {
  float *master, *states;
  guint16 *half;
} Flat;

static void
flat_clear (Flat *flat)
{
  g_free (flat->master);
  g_free (flat->states);
  g_free (flat->half);
}

static gboolean
no_memory (guint64 n_elements, GError **error)
{
  g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_WEIGHTS,
               "no host memory for %" G_GUINT64_FORMAT " weights", n_elements);
  return FALSE;
}

/* Packs the parameters (states FALSE) or the states. */
static gboolean
pack (const DynoGraph *graph, gboolean states, const float *const *values, float **flat,
      GError **error)
{
  guint64 n_elements = states ? graph->state_elements : graph->parameter_elements;
  if (n_elements == 0)
    return TRUE;
  *flat = g_try_new0 (float, n_elements);
  if (!*flat)
    return no_memory (n_elements, error);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      if (!parameter->is_state == !states)
        dyno_parameter_pack (parameter, values[i], *flat + parameter->element_offset);
    }
  return TRUE;
}

static gboolean
round_half (const DynoGraph *graph, Flat *flat, GError **error)
{
  guint64 n_elements = graph->parameter_elements;
  if (graph->params.precision.storage == DYNO_DTYPE_F32 || n_elements == 0)
    return TRUE;
  flat->half = g_try_new (guint16, n_elements);
  if (!flat->half)
    return no_memory (n_elements, error);
  Rounding rounding = { flat->master, flat->half, n_elements };
  dyno_parallel_for ((guint) ((n_elements + HALF_CHUNK - 1) / HALF_CHUNK), round_chunk, &rounding);
  return TRUE;
}

/* Of MASTER: with its fp16 copy and the states. */
static gboolean
flatten (const DynoGraph *graph, DynoSpace space, const float *const *values, Flat *flat,
         GError **error)
{
  return pack (graph, FALSE, values, &flat->master, error)
         && (space != DYNO_SPACE_MASTER
             || (round_half (graph, flat, error)
                 && pack (graph, TRUE, values, &flat->states, error)));
}

static gboolean
write_flat (DynoProgram *program, DynoSpace space, const Flat *flat, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  DynoTensor whole = whole_space (space, "weights", graph->parameter_elements, DYNO_DTYPE_F32);
  DynoTensor half =
      whole_space (DYNO_SPACE_HALF, "fp16 weights", graph->parameter_elements, DYNO_DTYPE_F16);
  DynoTensor states =
      whole_space (DYNO_SPACE_STATE, "states", graph->state_elements, DYNO_DTYPE_F32);
  const DynoTensor *kept = graph->kept_states;
  return (!flat->master
          || dyno_program_write_tensor (program, &whole, 0, flat->master, whole.size_bytes, error))
         && (!flat->half
             || dyno_program_write_tensor (program, &half, 0, flat->half, half.size_bytes, error))
         && (!flat->states
             || dyno_program_write_tensor (program, &states, 0, flat->states, states.size_bytes,
                                           error))
         && (!flat->states || !kept
             || dyno_program_write_tensor (program, kept, 0, flat->states, kept->size_bytes,
                                           error));
}

gboolean
dyno_program_write_parameters (DynoProgram *program, DynoSpace space, const float *const *values,
                               GError **error)
{
  g_return_val_if_fail (space <= DYNO_SPACE_MOMENT2 && space != DYNO_SPACE_HALF, FALSE);
  Flat flat = { NULL, NULL, NULL };
  gboolean written = flatten (dyno_lowering_get_graph (dyno_program_get_lowering (program)), space,
                              values, &flat, error)
                     && write_flat (program, space, &flat, error);
  flat_clear (&flat);
  return written;
}

void
dyno_graph_unpack (const DynoGraph *graph, gboolean states, const float *flat, float *const *values)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      if (!parameter->is_state == !states)
        dyno_parameter_unpack (parameter, flat + parameter->element_offset, values[i]);
    }
}

static gboolean
read_space (DynoProgram *program, DynoSpace space, gboolean states, float *const *values,
            GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  guint64 n_elements = states ? graph->state_elements : graph->parameter_elements;
  if (n_elements == 0)
    return TRUE;
  g_autofree float *flat = g_try_new (float, n_elements);
  if (!flat)
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_WEIGHTS,
                   "no host memory for %" G_GUINT64_FORMAT " weights", n_elements);
      return FALSE;
    }
  DynoTensor whole =
      whole_space (states ? DYNO_SPACE_STATE : space, "weights", n_elements, DYNO_DTYPE_F32);
  if (!dyno_program_read_tensor (program, &whole, 0, flat, whole.size_bytes, error))
    return FALSE;
  dyno_graph_unpack (graph, states, flat, values);
  return TRUE;
}

gboolean
dyno_program_abandon_step (DynoProgram *program, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  const DynoTensor *kept = graph->kept_states;
  DynoTensor gradients =
      whole_space (DYNO_SPACE_GRADIENT, "gradients", graph->parameter_elements, DYNO_DTYPE_F32);
  DynoTensor states =
      whole_space (DYNO_SPACE_STATE, "states", graph->state_elements, DYNO_DTYPE_F32);
  guint64 n_elements = MAX (graph->parameter_elements, graph->state_elements);
  g_autofree float *values = g_try_new0 (float, n_elements);

  if (!values)
    return no_memory (n_elements, error);
  return dyno_program_write_tensor (program, &gradients, 0, values, gradients.size_bytes, error)
         && (!kept
             || (dyno_program_read_tensor (program, kept, 0, values, kept->size_bytes, error)
                 && dyno_program_write_tensor (program, &states, 0, values, states.size_bytes,
                                               error)));
}

gboolean
dyno_program_read_parameters (DynoProgram *program, DynoSpace space, float *const *values,
                              GError **error)
{
  g_return_val_if_fail (space <= DYNO_SPACE_MOMENT2 && space != DYNO_SPACE_HALF, FALSE);
  return read_space (program, space, FALSE, values, error)
         && (space != DYNO_SPACE_MASTER || read_space (program, space, TRUE, values, error));
}

gboolean
dyno_program_write_target_scale (DynoProgram *program, const float *scale, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  g_return_val_if_fail (graph->standard, FALSE);
  g_free (graph->target_scale);
  graph->target_scale = g_memdup2 (scale, graph->standard->size_bytes);
  return dyno_program_write_tensor (program, graph->standard, 0, scale, graph->standard->size_bytes,
                                    error);
}

/* Start values --------------------------------------------------------------------------------- */

struct _DynoStartValues {
  const DynoGraph *graph;
  guint64 seed;
  GThread *thread; /* NULL: joined */
  Flat flat;
  GError *error;
};

static gpointer
make_values (gpointer data)
{
  DynoStartValues *start = data;
  GPtrArray *parameters = start->graph->parameters;
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      float *torch = g_new (float, dyno_parameter_count (parameter));
      dyno_parameter_initialise (parameter, start->seed, torch);
      g_ptr_array_add (values, torch);
    }
  flatten (start->graph, DYNO_SPACE_MASTER, (const float *const *) values->pdata, &start->flat,
           &start->error);
  return NULL;
}

DynoStartValues *
dyno_start_values_new (const DynoGraph *graph, guint64 seed)
{
  DynoStartValues *start = g_new0 (DynoStartValues, 1);
  start->graph = graph;
  start->seed = seed;
  start->thread = g_thread_try_new ("dyno-weights", make_values, start, NULL);
  if (!start->thread)
    make_values (start); /* no thread to be had: here, then */
  return start;
}

void
dyno_start_values_free (DynoStartValues *start)
{
  if (!start)
    return;
  if (start->thread)
    g_thread_join (start->thread);
  flat_clear (&start->flat);
  g_clear_error (&start->error);
  g_free (start);
}

gboolean
dyno_program_write_start (DynoProgram *program, DynoStartValues *start, GError **error)
{
  g_return_val_if_fail (
      dyno_lowering_get_graph (dyno_program_get_lowering (program)) == start->graph, FALSE);
  if (start->thread)
    g_thread_join (g_steal_pointer (&start->thread));
  if (start->error)
    {
      g_propagate_error (error, g_error_copy (start->error));
      return FALSE;
    }
  return write_flat (program, DYNO_SPACE_MASTER, &start->flat, error);
}

gboolean
dyno_program_initialise (DynoProgram *program, guint64 seed, GError **error)
{
  DynoStartValues *start =
      dyno_start_values_new (dyno_lowering_get_graph (dyno_program_get_lowering (program)), seed);
  gboolean written = dyno_program_write_start (program, start, error);
  dyno_start_values_free (start);
  return written;
}
