/* SPDX-License-Identifier: MIT */
/* The harness: graph in, device run, arrays of double out.
 *
 * The arena is filled with a pattern before a run and read back whole after it; guards, pads and
 * results are looked up in that copy. */
#include "fusion.h"
#include "harness.h"
#include "graph-private.h"
#include "half.h"
#include "lowering-private.h"
#include "memory-private.h"
#include "network.h"
#include "rng.h"
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN 0xDEADDEADu

typedef struct {
  DynoTensor *tensor;
  double *values; /* dense */
} Upload;

typedef struct {
  char *prefix;
  DynoVariant variant;
} Force;

struct _Harness {
  HarnessParams params;
  DynoDevice *device;
  DynoGraph *graph;
  DynoLowering *lowering;
  DynoMemory *memory;
  DynoProgram *program;
  DynoChoices *choices;
  gboolean prepared;
  GArray *uploads, *forces;
  GHashTable *values, *gradients; /* parameter name -> double*, torchvision's order */
  struct DynoStepInput step;
  struct DynoScalerState scaler;
  struct DynoStepOutput output;
  guint8 *arena; /* after the run */
};

static DynoDevice *shared_device;

static void
shared_device_close (void)
{
  g_clear_pointer (&shared_device, dyno_device_unref);
}

static DynoDevice *
open_device (const DynoDeviceParams *params)
{
  g_autoptr (GError) error = NULL;
  if (params)
    {
      DynoDevice *device = dyno_device_open (params, &error);
      g_assert_no_error (error);
      return device;
    }
  if (!shared_device)
    {
      shared_device = dyno_device_open (NULL, &error);
      g_assert_no_error (error);
      atexit (shared_device_close);
    }
  return dyno_device_ref (shared_device);
}

static void
upload_clear (gpointer data)
{
  g_free (((Upload *) data)->values);
}

static void
force_clear (gpointer data)
{
  g_free (((Force *) data)->prefix);
}

Harness *
harness_new (const HarnessParams *params)
{
  Harness *h = g_new0 (Harness, 1);
  h->params = *params;
  h->device = open_device (params->device);
  DynoGraphParams graph = { .batch = MAX (params->batch, 1),
                            .precision = dyno_precision_of_amp (params->amp),
                            .training = params->training,
                            .checkpointing = params->checkpointing,
                            .optimizer = params->optimizer,
                            .freeze = params->freeze };
  h->graph = dyno_graph_new (&graph);
  h->choices = dyno_choices_new ();
  h->uploads = g_array_new (FALSE, TRUE, sizeof (Upload));
  g_array_set_clear_func (h->uploads, upload_clear);
  h->forces = g_array_new (FALSE, TRUE, sizeof (Force));
  g_array_set_clear_func (h->forces, force_clear);
  h->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  h->gradients = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  h->step.step = 1;
  h->step.n_valid = graph.batch;
  h->step.loss_divisor = (float) graph.batch;
  h->scaler.scale = h->scaler.update_scale = 1.0f;
  return h;
}

void
harness_free (Harness *h)
{
  if (!h)
    return;
  dyno_program_free (h->program);
  dyno_memory_unref (h->memory);
  dyno_lowering_free (h->lowering);
  dyno_graph_free (h->graph);
  dyno_choices_free (h->choices);
  g_array_unref (h->uploads);
  g_array_unref (h->forces);
  g_hash_table_unref (h->values);
  g_hash_table_unref (h->gradients);
  g_free (h->arena);
  dyno_device_unref (h->device);
  g_free (h);
}

DynoGraph *
harness_graph (Harness *h)
{
  return h->graph;
}

const DynoDeviceInfo *
harness_info (Harness *h)
{
  return dyno_device_get_info (h->device);
}

gboolean
harness_takes (guint turn, guint of)
{
  g_autoptr (DynoDevice) device = NULL;

  if (turn % of == 0 || g_getenv ("DYNO_TEST_WHOLE"))
    return TRUE;
  device = open_device (NULL);
  return dyno_device_get_info (device)->type != DYNO_DEVICE_TYPE_SOFTWARE;
}

struct DynoStepInput *
harness_step (Harness *h)
{
  return &h->step;
}

struct DynoScalerState *
harness_scaler (Harness *h)
{
  return &h->scaler;
}

/* Uploads ------------------------------------------------------------------------------------- */

static gsize
dense_count (const DynoTensor *tensor)
{
  return (gsize) tensor->n * tensor->h * tensor->w * tensor->c;
}

static void
add_upload (Harness *h, DynoTensor *tensor, const double *values)
{
  Upload upload = { tensor, g_memdup2 (values, dense_count (tensor) * sizeof (double)) };
  g_array_append_val (h->uploads, upload);
}

DynoTensor *
harness_input (Harness *h, const char *name, guint32 n, guint32 height, guint32 w, guint32 c,
               const double *values)
{
  DynoTensor *tensor = dyno_graph_activation (h->graph, name, n, height, w, c);
  g_assert_nonnull (tensor);
  tensor->needs_gradient = h->params.training;
  add_upload (h, tensor, values);
  return tensor;
}

DynoTensor *
harness_raw (Harness *h, const char *name, DynoDtype dtype, guint32 n, guint32 height, guint32 w,
             guint32 c, const double *values)
{
  DynoTensor *tensor =
      dyno_graph_tensor (h->graph, name, dtype, DYNO_SPACE_INPUT, n, height, w, c, c);
  g_assert_nonnull (tensor);
  add_upload (h, tensor, values);
  return tensor;
}

static DynoParameter *
find_parameter (Harness *h, const char *name)
{
  GPtrArray *parameters = dyno_graph_get_parameters (h->graph);
  for (guint i = 0; i < parameters->len; i++)
    {
      DynoParameter *parameter = g_ptr_array_index (parameters, i);
      if (g_str_equal (parameter->name, name))
        return parameter;
    }
  g_error ("no parameter %s", name);
}

void
harness_set_parameter (Harness *h, const char *name, const double *torch)
{
  gsize count = dyno_parameter_count (find_parameter (h, name));
  g_hash_table_replace (h->values, g_strdup (name), g_memdup2 (torch, count * sizeof (double)));
}

void
harness_set_parameter_gradient (Harness *h, const char *name, const double *torch)
{
  gsize count = dyno_parameter_count (find_parameter (h, name));
  g_hash_table_replace (h->gradients, g_strdup (name), g_memdup2 (torch, count * sizeof (double)));
}

void
harness_set_gradient (Harness *h, DynoTensor *tensor, const double *values)
{
  gboolean accumulate;
  DynoTensor *gradient = dyno_graph_gradient_target (h->graph, tensor, &accumulate);
  g_assert_nonnull (gradient);
  g_assert_false (accumulate);
  add_upload (h, gradient, values);
}

static guint64
memory_index (const DynoTensor *tensor, gsize dense)
{
  return dense / tensor->c * tensor->cp + dense % tensor->c;
}

static void
upload_tensor (Harness *h, const Upload *upload)
{
  g_autoptr (GError) error = NULL;
  const DynoTensor *tensor = upload->tensor;
  if (tensor->offset == DYNO_OFFSET_NONE)
    return; /* no dispatch reads or writes it */
  g_autofree guint8 *bytes = g_malloc0 (tensor->size_bytes);
  for (gsize i = 0; i < dense_count (tensor); i++)
    {
      guint64 at = memory_index (tensor, i);
      switch (tensor->dtype)
        {
        case DYNO_DTYPE_F32:
          ((float *) (void *) bytes)[at] = (float) upload->values[i];
          break;
        case DYNO_DTYPE_F16:
          ((guint16 *) (void *) bytes)[at] = harness_to_f16 (upload->values[i]);
          break;
        case DYNO_DTYPE_U8:
          bytes[at] = (guint8) upload->values[i];
          break;
        case DYNO_DTYPE_I32:
          ((guint32 *) (void *) bytes)[at] = (guint32) (gint64) upload->values[i];
          break;
        }
    }
  dyno_program_write_tensor (h->program, tensor, 0, bytes, tensor->size_bytes, &error);
  g_assert_no_error (error);
}

/* Uploads the values of all parameters, either the given or the initial ones; gradients are the
 * given ones or zero. */
static void
upload_parameters (Harness *h, DynoSpace space, GHashTable *given)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *parameters = dyno_graph_get_parameters (h->graph);
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < parameters->len; i++)
    {
      const DynoParameter *parameter = g_ptr_array_index (parameters, i);
      gsize count = dyno_parameter_count (parameter);
      float *torch = g_new0 (float, count);
      const double *own = g_hash_table_lookup (given, parameter->name);
      if (own)
        for (gsize k = 0; k < count; k++)
          torch[k] = (float) own[k];
      else if (space == DYNO_SPACE_MASTER)
        dyno_parameter_initialise (parameter, 1, torch);
      g_ptr_array_add (values, torch);
    }
  dyno_program_write_parameters (h->program, space, (const float *const *) values->pdata, &error);
  g_assert_no_error (error);
}

/* Running -------------------------------------------------------------------------------------- */

static void
prepare (Harness *h)
{
  g_autoptr (GError) error = NULL;
  if (h->prepared)
    return;
  h->prepared = TRUE;
  if (h->params.training)
    dyno_graph_backward (h->graph);
  if (h->params.sparse)
    *h->params.sparse = dyno_fusion_apply (&dyno_fusion_sparse_gradient, h->graph);
  if (h->params.gradient_sums)
    *h->params.gradient_sums = dyno_fusion_apply (&dyno_fusion_gradient_sums, h->graph);
  if (h->params.norm_loads)
    *h->params.norm_loads = dyno_fusion_apply (&dyno_fusion_norm_load, h->graph);
  if (h->params.pairs)
    *h->params.pairs = dyno_fusion_apply (&dyno_fusion_gradient_pair, h->graph);
  if (h->params.optimizer_on)
    dyno_optimizer_update (h->graph);
  dyno_graph_check (h->graph, &error);
  g_assert_no_error (error);
}

static DynoLowering *
lower (Harness *h)
{
  g_autoptr (GError) error = NULL;
  DynoDeviceInfo info = *dyno_device_get_info (h->device);
  if (h->params.as_card)
    {
      info.type = DYNO_DEVICE_TYPE_DISCRETE;
      info.processors = 2;
    }
  DynoLowering *lowering = h->params.restoring
                               ? dyno_lowering_new_in_order (h->graph, &info, h->choices, &error)
                               : dyno_lowering_new (h->graph, &info, h->choices, &error);
  g_assert_no_error (error);
  return lowering;
}

GArray *
harness_variants (Harness *h, const char *key_prefix)
{
  prepare (h);
  g_autoptr (DynoLowering) lowering = lower (h);
  GPtrArray *points = dyno_lowering_get_choice_points (lowering);
  GArray *variants = g_array_new (FALSE, FALSE, sizeof (DynoVariant));
  for (guint i = 0; i < points->len && variants->len == 0; i++)
    {
      const DynoChoicePoint *point = g_ptr_array_index (points, i);
      if (g_str_has_prefix (point->key, key_prefix))
        g_array_append_vals (variants, point->variants, point->n_variants);
    }
  return variants;
}

void
harness_force (Harness *h, const char *key_prefix, const DynoVariant *variant)
{
  Force force = { g_strdup (key_prefix), *variant };
  g_array_append_val (h->forces, force);
}

static void
apply_forces (Harness *h)
{
  if (h->forces->len == 0)
    return;
  g_autoptr (DynoLowering) lowering = lower (h);
  GPtrArray *points = dyno_lowering_get_choice_points (lowering);
  for (guint f = 0; f < h->forces->len; f++)
    {
      const Force *force = &g_array_index (h->forces, Force, f);
      guint found = 0;
      for (guint i = 0; i < points->len; i++)
        {
          const DynoChoicePoint *point = g_ptr_array_index (points, i);
          for (guint v = 0; g_str_has_prefix (point->key, force->prefix) && v < point->n_variants;
               v++)
            if (dyno_variant_equal (&point->variants[v], &force->variant))
              {
                dyno_choices_set (h->choices, point->key, &force->variant, 0);
                found++;
              }
        }
      if (found == 0)
        {
          char label[DYNO_VARIANT_LABEL];
          dyno_variant_print (&force->variant, label);
          g_error ("no choice point %s has %s", force->prefix, label);
        }
    }
}

static void
build (Harness *h)
{
  g_autoptr (GError) error = NULL;
  prepare (h);
  apply_forces (h);
  h->lowering = lower (h);
  if (h->params.restoring)
    dyno_lowering_reorder (h->lowering, TRUE);
  DynoPlan plan;
  dyno_plan_compute (h->lowering, 1, DYNO_PLAN_NO_ALIAS | DYNO_PLAN_GUARD, &plan, &error);
  g_assert_no_error (error);
  h->memory = dyno_memory_new (h->device, &plan, &error);
  g_assert_no_error (error);
  h->program = dyno_program_new (h->device, h->lowering, h->memory, 0, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
upload_all (Harness *h)
{
  g_autoptr (GError) error = NULL;
  DynoBuffer *arena = dyno_memory_get_buffer (h->memory, DYNO_SPACE_ARENA, 0);
  if (arena)
    dyno_buffer_fill (arena, 0, dyno_buffer_get_size (arena), PATTERN, &error);
  g_assert_no_error (error);
  upload_parameters (h, DYNO_SPACE_MASTER, h->values);
  if (g_hash_table_size (h->gradients) > 0)
    upload_parameters (h, DYNO_SPACE_GRADIENT, h->gradients);
  for (guint i = 0; i < h->uploads->len; i++)
    upload_tensor (h, &g_array_index (h->uploads, Upload, i));
  if (dyno_memory_get_buffer (h->memory, DYNO_SPACE_SCALER, 0))
    dyno_program_write_tensor (h->program, dyno_graph_scaler (h->graph), 0, &h->scaler,
                               sizeof h->scaler, &error);
  g_assert_no_error (error);
}

static void
read_arena (Harness *h)
{
  g_autoptr (GError) error = NULL;
  DynoBuffer *buffer = dyno_memory_get_buffer (h->memory, DYNO_SPACE_ARENA, 0);
  g_clear_pointer (&h->arena, g_free);
  if (!buffer)
    return;
  h->arena = g_malloc (dyno_buffer_get_size (buffer));
  dyno_buffer_read (buffer, 0, h->arena, dyno_buffer_get_size (buffer), &error);
  g_assert_no_error (error);
}

static gboolean
is_pattern (const guint8 *bytes, guint64 begin, guint64 end)
{
  static const guint8 pattern[4] = { 0xAD, 0xDE, 0xAD, 0xDE };
  for (guint64 i = begin; i < end; i++)
    if (bytes[i] != pattern[i % 4])
      return FALSE;
  return TRUE;
}

static void
check_guards (Harness *h, const DynoTensor *tensor)
{
  const guint8 *bytes = h->arena;
  guint64 end = tensor->offset + tensor->size_bytes;
  if (!is_pattern (bytes, tensor->offset - DYNO_GUARD_BYTES, tensor->offset))
    g_error ("bytes before %s were written", tensor->name);
  if (!is_pattern (bytes, end,
                   (end + DYNO_TENSOR_ALIGNMENT - 1) / DYNO_TENSOR_ALIGNMENT * DYNO_TENSOR_ALIGNMENT
                       + DYNO_GUARD_BYTES))
    g_error ("bytes after %s were written", tensor->name);
}

static void
check_pads (Harness *h, const DynoTensor *tensor)
{
  gsize element = dyno_dtype_size (tensor->dtype);
  guint64 rows = (guint64) tensor->n * tensor->h * tensor->w;
  gboolean is_value = tensor->dtype == DYNO_DTYPE_F16 || tensor->dtype == DYNO_DTYPE_F32;
  if (!is_value || tensor->c == tensor->cp || tensor->size_bytes != rows * tensor->cp * element)
    return;
  static const guint8 zero[4] = { 0 };
  for (guint64 row = 0; row < rows; row++)
    for (guint32 c = tensor->c; c < tensor->cp; c++)
      {
        const guint8 *at = h->arena + tensor->offset + (row * tensor->cp + c) * element;
        /* A negative zero is zero too. */
        guint8 sign = at[element - 1] & 0x7f;
        if (memcmp (at, zero, element - 1) != 0 || sign != 0)
          g_error ("pad lane %u of %s is not zero in row %" G_GUINT64_FORMAT, c, tensor->name, row);
      }
}

static void
check_tensors (Harness *h)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (h->lowering);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        {
          DynoTensor *tensor = dispatch->bindings[b].tensor;
          if (tensor->space != DYNO_SPACE_ARENA || !g_hash_table_add (seen, tensor))
            continue;
          check_guards (h, tensor);
          check_pads (h, tensor);
        }
    }
}

void
harness_run_again (Harness *h)
{
  g_autoptr (GError) error = NULL;
  guint64 timeline_value;
  *dyno_program_step_input (h->program, 0) = h->step;
  dyno_program_submit (h->program, h->params.kind, 0, NULL, 0, &timeline_value, &error);
  g_assert_no_error (error);
  dyno_queue_wait (h->device, DYNO_QUEUE_COMPUTE, timeline_value, 0, &error);
  g_assert_no_error (error);
  h->output = *dyno_program_step_output (h->program, 0);
  read_arena (h);
  check_tensors (h);
  g_assert_cmpuint (dyno_device_get_validation_messages (h->device), ==, 0);
}

void
harness_run (Harness *h)
{
  g_assert_null (h->program);
  build (h);
  upload_all (h);
  harness_run_again (h);
}

/* Downloads ----------------------------------------------------------------------------------- */

static double
element_value (const DynoTensor *tensor, const guint8 *bytes, guint64 at)
{
  switch (tensor->dtype)
    {
    case DYNO_DTYPE_F32:
      return ((const float *) (const void *) bytes)[at];
    case DYNO_DTYPE_F16:
      return harness_from_f16 (((const guint16 *) (const void *) bytes)[at]);
    case DYNO_DTYPE_U8:
      return bytes[at];
    case DYNO_DTYPE_I32:
      return ((const gint32 *) (const void *) bytes)[at];
    }
  return NAN;
}

double *
harness_read (Harness *h, DynoTensor *tensor)
{
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (tensor);
  g_autofree guint8 *bytes = g_malloc (tensor->size_bytes);
  dyno_program_read_tensor (h->program, tensor, 0, bytes, tensor->size_bytes, &error);
  g_assert_no_error (error);
  gsize count = dense_count (tensor);
  double *values = g_new (double, count);
  for (gsize i = 0; i < count; i++)
    values[i] = element_value (tensor, bytes, memory_index (tensor, i));
  return values;
}

double *
harness_read_gradient (Harness *h, DynoTensor *tensor)
{
  return harness_read (h, tensor->gradient);
}

static DynoTensor *
find_again (Harness *h, DynoTensor *tensor)
{
  g_autofree char *name = g_strconcat (tensor->name, ".rematerialised", NULL);
  for (guint i = 0; i < h->lowering->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (h->lowering->dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        if (g_str_equal (dispatch->bindings[b].tensor->name, name))
          return dispatch->bindings[b].tensor;
    }
  return NULL;
}

double *
harness_read_again (Harness *h, DynoTensor *tensor)
{
  DynoTensor *again = find_again (h, tensor);
  if (!again)
    g_error ("%s was not written again", tensor->name);
  return harness_read (h, again);
}

gboolean
harness_has_again (Harness *h, DynoTensor *tensor)
{
  return find_again (h, tensor) != NULL;
}

/* Reads a parameter's values from one of the flat spaces. */
static double *
read_parameter (Harness *h, const char *name, DynoSpace space, DynoDtype dtype)
{
  g_autoptr (GError) error = NULL;
  const DynoParameter *parameter = find_parameter (h, name);
  guint64 count = dyno_parameter_count (parameter), n = parameter->n_elements;
  DynoTensor tensor = { .name = parameter->name,
                        .dtype = dtype,
                        .space = parameter->is_state ? DYNO_SPACE_STATE : space,
                        .size_bytes = n * dyno_dtype_size (dtype),
                        .offset = parameter->element_offset * dyno_dtype_size (dtype) };
  g_autofree guint8 *bytes = g_malloc (tensor.size_bytes);
  dyno_program_read_tensor (h->program, &tensor, 0, bytes, tensor.size_bytes, &error);
  g_assert_no_error (error);
  g_autofree float *packed = g_new (float, n);
  for (guint64 i = 0; i < n; i++)
    packed[i] = (float) element_value (&tensor, bytes, i);
  g_autofree float *torch = g_new (float, count);
  dyno_parameter_unpack (parameter, packed, torch);
  g_autofree float *again = g_new (float, n);
  dyno_parameter_pack (parameter, torch, again);
  for (guint64 i = 0; i < n; i++)
    if (again[i] == 0 && packed[i] != 0)
      g_error ("a pad of %s is %g in space %s", name, (double) packed[i],
               dyno_space_name (tensor.space));
  double *values = g_new (double, count);
  for (guint64 i = 0; i < count; i++)
    values[i] = torch[i];
  return values;
}

double *
harness_read_parameter (Harness *h, const char *name)
{
  return read_parameter (h, name, DYNO_SPACE_MASTER, DYNO_DTYPE_F32);
}

double *
harness_read_parameter_half (Harness *h, const char *name)
{
  return read_parameter (h, name, DYNO_SPACE_HALF, DYNO_DTYPE_F16);
}

double *
harness_read_parameter_gradient (Harness *h, const char *name)
{
  return read_parameter (h, name, DYNO_SPACE_GRADIENT, DYNO_DTYPE_F32);
}

double *
harness_read_moment (Harness *h, const char *name, DynoSpace space)
{
  return read_parameter (h, name, space, DYNO_DTYPE_F32);
}

const struct DynoStepOutput *
harness_output (Harness *h)
{
  return &h->output;
}

struct DynoScalerState
harness_read_scaler (Harness *h)
{
  g_autoptr (GError) error = NULL;
  struct DynoScalerState scaler;
  dyno_program_read_tensor (h->program, dyno_graph_scaler (h->graph), 0, &scaler, sizeof scaler,
                            &error);
  g_assert_no_error (error);
  return scaler;
}

/* Numbers -------------------------------------------------------------------------------------- */

guint16
harness_to_f16 (double value)
{
  return dyno_half_from_float ((float) value);
}

double
harness_from_f16 (guint16 bits)
{
  return dyno_half_to_float (bits);
}

double
harness_round_f16 (double value)
{
  return harness_from_f16 (harness_to_f16 (value));
}

double *
harness_random (guint64 seed, gsize n, double scale)
{
  DynoRng rng = dyno_rng_init (seed, 1);
  double *values = g_new (double, n);
  for (gsize i = 0; i < n; i++)
    values[i] = harness_round_f16 ((2.0 * dyno_rng_uniform (&rng) - 1.0) * scale);
  return values;
}

double
harness_nmse (const double *got, const double *expected, gsize n)
{
  double error = 0, power = 0;
  for (gsize i = 0; i < n; i++)
    {
      error += (got[i] - expected[i]) * (got[i] - expected[i]);
      power += expected[i] * expected[i];
    }
  return error == 0 ? 0 : error / power;
}

double
harness_tolerance (Harness *h)
{
  return h->params.amp ? 5e-6 : 1e-7;
}

void
harness_assert_close (const double *got, const double *expected, gsize n, double tolerance,
                      const char *what)
{
  double nmse = harness_nmse (got, expected, n);
  if (nmse <= tolerance) /* FALSE for NaN */
    return;
  gsize worst = 0;
  for (gsize i = 0; i < n; i++)
    if (!(fabs (got[i] - expected[i]) <= fabs (got[worst] - expected[worst])))
      worst = i;
  g_error ("%s: NMSE %g is over %g; worst at %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
           ": got %g, expected %g",
           what, nmse, tolerance, worst, n, got[worst], expected[worst]);
}

void
harness_validate_spirv (GBytes *spirv, const char *what)
{
  g_autofree char *tool = g_find_program_in_path ("spirv-val");
  if (!tool)
    return;
  g_autoptr (GError) error = NULL;
  g_autofree char *said = NULL;
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "dyno-spirv-XXXXXX", NULL);
  int file = g_mkstemp (path);
  g_assert_cmpint (file, >=, 0);
  g_close (file, NULL);
  g_file_set_contents (path, g_bytes_get_data (spirv, NULL), (gssize) g_bytes_get_size (spirv),
                       &error);
  g_assert_no_error (error);
  const char *argv[] = { tool, "--target-env", "vulkan1.2", "--scalar-block-layout", path, NULL };
  int status;
  /* GLib does not fork this process when its descriptors are left open; a fork takes 30 ms. */
  g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_LEAVE_DESCRIPTORS_OPEN, NULL, NULL, NULL, &said,
                &status, &error);
  g_assert_no_error (error);
  g_unlink (path);
  if (status != 0)
    g_error ("%s: %s", what, said);
}
