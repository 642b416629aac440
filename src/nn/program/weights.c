/* SPDX-License-Identifier: MIT */
/* All parameters of a program at once: packed on the host, one copy per space.
 *
 * Invariants:
 * - MASTER and its fp16 copy are written together; a program never runs while the two differ.  The
 *   running statistics and their copy for skipped steps are written together too, and so are the
 *   averages.
 * - Work that costs time on the host (random numbers, packing, rounding) runs on all cores; the
 *   result does not depend on their number. */
#include "graph-private.h"
#include "half.h"
#include "lowering-private.h"
#include "network.h"
#include "parallel.h"
#include "program.h"

/* A whole space as one tensor on the stack. */
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

/* The flat spaces of a graph on the host; NULL where the graph does not have the space. */
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
  g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_NO_MEMORY,
               "no host memory for %" G_GUINT64_FORMAT
               " weights; close other programs, or raise the memory limit of the process (ulimit "
               "-v)",
               n_elements);
  return FALSE;
}

/* Packs the parameters of a space. */
static gboolean
pack (const DynoGraph *graph, DynoSpace space, const float *const *values, float **flat,
      GError **error)
{
  guint64 n_elements = dyno_graph_count_elements (graph, space);
  if (n_elements == 0)
    return TRUE;
  *flat = g_try_new0 (float, n_elements);
  if (!*flat)
    return no_memory (n_elements, error);
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      guint64 first;
      if (dyno_graph_find_parameter (graph, parameter, space, &first))
        dyno_parameter_pack (parameter, values[i], *flat + first);
    }
  return TRUE;
}

/* Makes the fp16 copy of a space's parameters, which come first among the flat values. */
static gboolean
round_half (const DynoGraph *graph, DynoSpace space, Flat *flat, GError **error)
{
  guint64 n_elements = space == DYNO_SPACE_MASTER    ? graph->parameter_elements
                       : space == DYNO_SPACE_AVERAGE ? graph->trained_elements
                                                     : 0;
  if (graph->params.precision.storage == DYNO_DTYPE_F32 || n_elements == 0)
    return TRUE;
  flat->half = g_try_new (guint16, n_elements);
  if (!flat->half)
    return no_memory (n_elements, error);
  Rounding rounding = { flat->master, flat->half, n_elements };
  dyno_parallel_for ((guint) ((n_elements + HALF_CHUNK - 1) / HALF_CHUNK), round_chunk, &rounding);
  return TRUE;
}

/* Makes the flat values of a space: with the fp16 copy for MASTER and AVERAGE, and with the states
 * for MASTER. */
static gboolean
flatten (const DynoGraph *graph, DynoSpace space, const float *const *values, Flat *flat,
         GError **error)
{
  return pack (graph, space, values, &flat->master, error) && round_half (graph, space, flat, error)
         && (space != DYNO_SPACE_MASTER
             || pack (graph, DYNO_SPACE_STATE, values, &flat->states, error));
}

/* Writes n elements of a space from first on; NULL: there is nothing to write. */
static gboolean
write_part (DynoProgram *program, DynoSpace space, DynoDtype dtype, guint64 first, guint64 n,
            gconstpointer values, GError **error)
{
  DynoTensor part = whole_space (space, "weights", n, dtype);
  part.offset = first * dyno_dtype_size (dtype);
  return !values || n == 0
         || dyno_program_write_tensor (program, &part, 0, values, part.size_bytes, error);
}

/* The averages start as copies of the averaged values. */
static gboolean
write_averages (DynoProgram *program, const DynoGraph *graph, const Flat *flat, GError **error)
{
  guint64 trained = graph->trained_elements;
  return graph->params.average_decay <= 0
         || (write_part (program, DYNO_SPACE_AVERAGE, DYNO_DTYPE_F32, 0, trained, flat->master,
                         error)
             && write_part (program, DYNO_SPACE_AVERAGE, DYNO_DTYPE_F32, trained,
                            graph->state_elements, flat->states, error)
             && write_part (program, DYNO_SPACE_HALF, DYNO_DTYPE_F16, graph->parameter_elements,
                            trained, flat->half, error));
}

static gboolean
write_flat (DynoProgram *program, DynoSpace space, const Flat *flat, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  const DynoTensor *kept = graph->kept_states;
  if (space == DYNO_SPACE_AVERAGE)
    return write_part (program, space, DYNO_DTYPE_F32, 0, dyno_graph_count_elements (graph, space),
                       flat->master, error)
           && write_part (program, DYNO_SPACE_HALF, DYNO_DTYPE_F16, graph->parameter_elements,
                          graph->trained_elements, flat->half, error);
  return write_part (program, space, DYNO_DTYPE_F32, 0, dyno_graph_count_elements (graph, space),
                     flat->master, error)
         && write_part (program, DYNO_SPACE_HALF, DYNO_DTYPE_F16, 0, graph->parameter_elements,
                        flat->half, error)
         && write_part (program, DYNO_SPACE_STATE, DYNO_DTYPE_F32, 0, graph->state_elements,
                        flat->states, error)
         && (!flat->states || !kept
             || dyno_program_write_tensor (program, kept, 0, flat->states, kept->size_bytes, error))
         && (space != DYNO_SPACE_MASTER || write_averages (program, graph, flat, error));
}

static gboolean
is_of_parameters (DynoSpace space)
{
  return space == DYNO_SPACE_AVERAGE || (space <= DYNO_SPACE_MOMENT2 && space != DYNO_SPACE_HALF);
}

gboolean
dyno_program_write_parameters (DynoProgram *program, DynoSpace space, const float *const *values,
                               GError **error)
{
  g_return_val_if_fail (is_of_parameters (space), FALSE);
  Flat flat = { NULL, NULL, NULL };
  gboolean written = flatten (dyno_lowering_get_graph (dyno_program_get_lowering (program)), space,
                              values, &flat, error)
                     && write_flat (program, space, &flat, error);
  flat_clear (&flat);
  return written;
}

void
dyno_graph_unpack (const DynoGraph *graph, DynoSpace space, const float *flat, float *const *values)
{
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      guint64 first;
      if (dyno_graph_find_parameter (graph, parameter, space, &first))
        dyno_parameter_unpack (parameter, flat + first, values[i]);
    }
}

static gboolean
read_space (DynoProgram *program, DynoSpace space, float *const *values, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  guint64 n_elements = dyno_graph_count_elements (graph, space);
  if (n_elements == 0)
    return TRUE;
  g_autofree float *flat = g_try_new (float, n_elements);
  if (!flat)
    return no_memory (n_elements, error);
  DynoTensor whole = whole_space (space, "weights", n_elements, DYNO_DTYPE_F32);
  if (!dyno_program_read_tensor (program, &whole, 0, flat, whole.size_bytes, error))
    return FALSE;
  dyno_graph_unpack (graph, space, flat, values);
  return TRUE;
}

gboolean
dyno_program_abandon_step (DynoProgram *program, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  const DynoTensor *kept = graph->kept_states;
  DynoTensor gradients =
      whole_space (DYNO_SPACE_GRADIENT, "gradients", graph->trained_elements, DYNO_DTYPE_F32);
  DynoTensor states =
      whole_space (DYNO_SPACE_STATE, "states", graph->state_elements, DYNO_DTYPE_F32);
  guint64 n_elements = MAX (graph->trained_elements, graph->state_elements);
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
  g_return_val_if_fail (is_of_parameters (space), FALSE);
  return read_space (program, space, values, error)
         && (space != DYNO_SPACE_MASTER || read_space (program, DYNO_SPACE_STATE, values, error));
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

gboolean
dyno_program_write_class_weights (DynoProgram *program, const float *weights, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  guint32 n = dyno_network_get_n_weighted (graph);
  g_return_val_if_fail (n > 0, FALSE);
  g_autofree float *values = g_new (float, (gsize) n + 1);
  double sum = 0;

  for (guint32 c = 0; c < n; c++)
    sum += (double) (values[c] = weights[c]);
  values[n] = (float) sum;
  return dyno_program_write_tensor (program, graph->class_weights, 0, values,
                                    graph->class_weights->size_bytes, error);
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
      guint64 count = dyno_parameter_count (parameter);
      float *torch = g_try_new (float, count);

      if (!torch)
        {
          no_memory (count, &start->error);
          return NULL;
        }
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
    make_values (start); /* no thread could be started: this thread computes the values */
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
