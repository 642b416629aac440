/* SPDX-License-Identifier: MIT */
/* All parameters of a program at once: packed on the host, one copy a space.
 *
 * Laws:
 * - MASTER and its fp16 copy are written together; a program never runs with the two apart.
 * - What costs time on the host (random numbers, packing, rounding) runs on all cores; the result does not depend on how many. */
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
  return (DynoTensor){
    .name = (char *) name, .space = space, .dtype = dtype, .size_bytes = n_elements * dyno_dtype_size (dtype)
  };
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

static gboolean
write_half (DynoProgram *program, const float *values, guint64 n_elements, GError **error)
{
  g_autofree guint16 *half = g_try_new (guint16, n_elements);
  if (!half)
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_WEIGHTS, "no host memory for the fp16 copy of the weights");
      return FALSE;
    }
  Rounding rounding = { values, half, n_elements };
  dyno_parallel_for ((guint) ((n_elements + HALF_CHUNK - 1) / HALF_CHUNK), round_chunk, &rounding);
  DynoTensor whole = whole_space (DYNO_SPACE_HALF, "fp16 weights", n_elements, DYNO_DTYPE_F16);
  return dyno_program_write_tensor (program, &whole, 0, half, whole.size_bytes, error);
}

static gboolean
write_space (DynoProgram *program, DynoSpace space, gboolean states, const float *const *values, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  guint64 n_elements = states ? graph->state_elements : graph->parameter_elements;
  if (n_elements == 0)
    return TRUE;
  g_autofree float *flat = g_try_new0 (float, n_elements);
  if (!flat)
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_WEIGHTS, "no host memory for %" G_GUINT64_FORMAT " weights",
                   n_elements);
      return FALSE;
    }
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      if (!parameter->is_state == !states)
        dyno_parameter_pack (parameter, values[i], flat + parameter->element_offset);
    }
  DynoTensor whole = whole_space (states ? DYNO_SPACE_STATE : space, "weights", n_elements, DYNO_DTYPE_F32);
  if (!dyno_program_write_tensor (program, &whole, 0, flat, whole.size_bytes, error))
    return FALSE;
  return space != DYNO_SPACE_MASTER || states || !graph->params.amp || write_half (program, flat, n_elements, error);
}

gboolean
dyno_program_write_parameters (DynoProgram *program, DynoSpace space, const float *const *values, GError **error)
{
  g_return_val_if_fail (space <= DYNO_SPACE_MOMENT2 && space != DYNO_SPACE_HALF, FALSE);
  return write_space (program, space, FALSE, values, error)
         && (space != DYNO_SPACE_MASTER || write_space (program, space, TRUE, values, error));
}

static gboolean
read_space (DynoProgram *program, DynoSpace space, gboolean states, float *const *values, GError **error)
{
  DynoGraph *graph = dyno_lowering_get_graph (dyno_program_get_lowering (program));
  guint64 n_elements = states ? graph->state_elements : graph->parameter_elements;
  if (n_elements == 0)
    return TRUE;
  g_autofree float *flat = g_try_new (float, n_elements);
  if (!flat)
    {
      g_set_error (error, DYNO_NN_ERROR, DYNO_NN_ERROR_WEIGHTS, "no host memory for %" G_GUINT64_FORMAT " weights",
                   n_elements);
      return FALSE;
    }
  DynoTensor whole = whole_space (states ? DYNO_SPACE_STATE : space, "weights", n_elements, DYNO_DTYPE_F32);
  if (!dyno_program_read_tensor (program, &whole, 0, flat, whole.size_bytes, error))
    return FALSE;
  for (guint i = 0; i < graph->parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (graph->parameters, i);
      if (!parameter->is_state == !states)
        dyno_parameter_unpack (parameter, flat + parameter->element_offset, values[i]);
    }
  return TRUE;
}

gboolean
dyno_program_read_parameters (DynoProgram *program, DynoSpace space, float *const *values, GError **error)
{
  g_return_val_if_fail (space <= DYNO_SPACE_MOMENT2 && space != DYNO_SPACE_HALF, FALSE);
  return read_space (program, space, FALSE, values, error)
         && (space != DYNO_SPACE_MASTER || read_space (program, space, TRUE, values, error));
}

gboolean
dyno_program_initialise (DynoProgram *program, guint64 seed, GError **error)
{
  GPtrArray *parameters = dyno_graph_get_parameters (dyno_lowering_get_graph (dyno_program_get_lowering (program)));
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      float *torch = g_new (float, dyno_parameter_count (parameter));
      dyno_parameter_initialise (parameter, seed, torch);
      g_ptr_array_add (values, torch);
    }
  return dyno_program_write_parameters (program, DYNO_SPACE_MASTER, (const float *const *) values->pdata, error);
}
