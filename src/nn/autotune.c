/* SPDX-License-Identifier: MIT */
/* Autotuning: a mini program of one node for each label, timed by timestamps after its dispatches, checked against the first.
 *
 * Laws:
 * - Inputs are small random values with zero pads, the same for every label; gradients of parameters start from zero.
 * - A label wins only if its outputs agree with those of the first label that gave finite ones.
 * - A variant that fails to compile or to agree costs a warning, never the run. */
#include "autotune.h"
#include "graph-private.h"
#include "half.h"
#include "lowering-private.h"
#include "network.h"
#include "plan-private.h"
#include "rng.h"
#include <math.h>

#define PATTERN_BYTES (1u << 20)
#define SAMPLE        16384 /* elements at each of three places of an output */
#define MAX_RUNS      7
#define TUNE_US       30000.0 /* a label's runs together, about */

/* What two kernels may differ by: order of sums, and rounding to F16 at the end. */
#define TOLERANCE_F16 1e-5
#define TOLERANCE_F32 1e-8

typedef struct {
  DynoNode *node;
  const char *key;
  char **labels;
} Point;

typedef struct {
  DynoDevice *device;
  DynoGraph *graph;
  DynoChoices *choices;
  DynoLowering *base; /* owns the points' texts */
  GArray *points;     /* Point, keys unique and unknown */
  guint n_labels;
  DynoMemory *memory;
  DynoBuffer *pattern;
} Tuner;

/* The lowering of one label, and what it gave. */
typedef struct {
  DynoLowering *lowering;
  DynoProgram *program;
  double time_us;
  float *sample; /* of the outputs, one after the other */
  gsize n_samples;
} Trial;

static void
trial_clear (Trial *trial)
{
  dyno_program_free (trial->program);
  dyno_lowering_free (trial->lowering);
  g_free (trial->sample);
}

static gboolean
find_points (Tuner *t, GError **error)
{
  t->base = dyno_lowering_new (t->graph, dyno_device_get_info (t->device), t->choices, error);
  if (!t->base)
    return FALSE;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *points = dyno_lowering_get_choice_points (t->base);
  for (guint i = 0; i < points->len; i++)
    {
      const DynoChoicePoint *point = g_ptr_array_index (points, i);
      g_autofree char *known = dyno_choices_get (t->choices, point->key);
      /* A known label that is not among the variants (of another version) is measured anew. */
      if ((known && g_strv_contains ((const char *const *) point->labels, known)) || !g_hash_table_add (seen, point->key))
        continue;
      g_array_append_val (t->points, ((Point){ point->node, point->key, point->labels }));
      t->n_labels += g_strv_length (point->labels);
    }
  return TRUE;
}

/* The node lowered with one label at one key, its other keys as they are known. */
static DynoLowering *
lower_label (Tuner *t, const Point *point, const char *label, DynoPlan *plan, GError **error)
{
  g_autoptr (DynoChoices) forced = dyno_choices_new ();
  GPtrArray *points = dyno_lowering_get_choice_points (t->base);
  for (guint i = 0; i < points->len; i++)
    {
      const DynoChoicePoint *other = g_ptr_array_index (points, i);
      g_autofree char *known = other->node == point->node ? dyno_choices_get (t->choices, other->key) : NULL;
      if (known)
        dyno_choices_set (forced, other->key, known, 0);
    }
  dyno_choices_set (forced, point->key, label, 0);
  g_autoptr (DynoLowering) lowering =
      dyno_lowering_new_node (t->graph, point->node, dyno_device_get_info (t->device), forced, error);
  if (!lowering || !dyno_plan_compute (lowering, 1, DYNO_PLAN_NO_ALIAS, plan, error))
    return NULL;
  lowering->choices = NULL;
  return g_steal_pointer (&lowering);
}

/* All kernels at once, several at a time; one that does not compile shows itself again when its label's turn comes. */
static gboolean
warm_up (Tuner *t, GPtrArray *specs, GCancellable *cancellable, GError **error)
{
  g_autoptr (GError) local = NULL;
  if (specs->len > 0
      && !dyno_kernel_get_many (t->device, (const DynoKernelSpec *const *) specs->pdata, specs->len, NULL, NULL, NULL,
                                cancellable, &local))
    g_debug ("not all variants compile: %s", local->message);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static void
collect_specs (const DynoLowering *lowering, GHashTable *known, GPtrArray *specs)
{
  for (guint i = 0; i < lowering->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (lowering->dispatches, i);
      if (g_hash_table_contains (known, &dispatch->spec))
        continue;
      DynoKernelSpec *spec = g_memdup2 (&dispatch->spec, sizeof dispatch->spec);
      g_ptr_array_add (specs, spec);
      g_hash_table_add (known, spec);
    }
}

/* Memory that holds every label of every point, one at a time; and their kernels. */
static gboolean
allocate (Tuner *t, GCancellable *cancellable, GError **error)
{
  DynoPlan all = { .n_slots = 1 };
  g_autoptr (GPtrArray) specs = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) known = g_hash_table_new (dyno_kernel_spec_hash, dyno_kernel_spec_equal);
  for (guint i = 0; i < t->points->len; i++)
    {
      const Point *point = &g_array_index (t->points, Point, i);
      for (guint k = 0; point->labels[k]; k++)
        {
          DynoPlan plan;
          g_autoptr (DynoLowering) lowering = lower_label (t, point, point->labels[k], &plan, error);
          if (!lowering)
            return FALSE;
          dyno_plan_merge (&all, &plan);
          collect_specs (lowering, known, specs);
        }
    }
  t->memory = dyno_memory_new (t->device, &all, error);
  if (!t->memory || !warm_up (t, specs, cancellable, error))
    return FALSE;
  t->pattern = dyno_buffer_new (t->device, PATTERN_BYTES, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, error);
  return t->pattern != NULL;
}

/* Inputs --------------------------------------------------------------------------------------------------------- */

static void
put_value (guint8 *bytes, DynoDtype dtype, guint64 index, float value)
{
  if (dtype == DYNO_DTYPE_F16)
    ((guint16 *) (void *) bytes)[index] = dyno_half_from_float (value);
  else if (dtype == DYNO_DTYPE_F32)
    ((float *) (void *) bytes)[index] = value;
}

/* Whole rows of random values, pads zero, put into the pattern buffer and copied over the tensor. */
static gboolean
fill_activation (Tuner *t, const DynoTensor *tensor, GError **error)
{
  DynoBuffer *arena = dyno_memory_get_buffer (t->memory, tensor->space, 0);
  guint64 row = (guint64) tensor->cp * dyno_dtype_size (tensor->dtype);
  gboolean is_rows = tensor->size_bytes % row == 0 && row <= PATTERN_BYTES && row % 4 == 0;
  if (!is_rows || tensor->dtype == DYNO_DTYPE_U8 || tensor->dtype == DYNO_DTYPE_I32)
    return dyno_buffer_fill (arena, tensor->offset, tensor->size_bytes & ~G_GUINT64_CONSTANT (3), 0, error);
  guint64 n_rows = MIN (PATTERN_BYTES, tensor->size_bytes) / row, chunk = n_rows * row;
  g_autofree guint8 *bytes = g_malloc0 (chunk);
  DynoRng rng = dyno_rng_init (11, tensor->id);
  for (guint64 i = 0; i < n_rows; i++)
    for (guint32 c = 0; c < tensor->c; c++)
      put_value (bytes, tensor->dtype, i * tensor->cp + c, (float) (dyno_rng_uniform (&rng) - 0.5));
  if (!dyno_buffer_write (t->pattern, 0, bytes, chunk, error))
    return FALSE;
  g_autoptr (DynoCommand) command = dyno_command_new (t->device, DYNO_QUEUE_COMPUTE, error);
  if (!command)
    return FALSE;
  for (guint64 at = 0; at < tensor->size_bytes; at += chunk)
    dyno_command_copy (command, t->pattern, 0, arena, tensor->offset + at, MIN (chunk, tensor->size_bytes - at));
  guint64 ticket;
  return dyno_command_end (command, error) && dyno_command_submit (command, NULL, 0, &ticket, error)
         && dyno_queue_wait (t->device, DYNO_QUEUE_COMPUTE, ticket, 0, error);
}

/* A parameter as it would start, in the space and type that the node reads. */
static gboolean
fill_parameter (Tuner *t, const DynoTensor *tensor, GError **error)
{
  const DynoParameter *parameter = tensor->parameter;
  guint64 count = dyno_parameter_count (parameter), n = parameter->n_elements;
  g_autofree float *torch = g_new (float, count), *packed = g_new (float, n);
  g_autofree guint8 *bytes = g_malloc0 (tensor->size_bytes);
  dyno_parameter_initialise (parameter, 1, torch);
  dyno_parameter_pack (parameter, torch, packed);
  for (guint64 i = 0; i < n; i++)
    put_value (bytes, tensor->dtype, i, packed[i]);
  DynoBuffer *buffer = dyno_memory_get_buffer (t->memory, tensor->space, 0);
  return dyno_buffer_write (buffer, tensor->offset, bytes, tensor->size_bytes, error);
}

static gboolean
fill_tensor (Tuner *t, const DynoTensor *tensor, GError **error)
{
  DynoBuffer *buffer = dyno_memory_get_buffer (t->memory, tensor->space, 0);
  if (tensor->space == DYNO_SPACE_ARENA)
    return fill_activation (t, tensor, error);
  if (tensor->space == DYNO_SPACE_GRADIENT)
    return dyno_buffer_fill (buffer, tensor->offset, tensor->size_bytes, 0, error);
  return !tensor->parameter || fill_parameter (t, tensor, error);
}

/* Everything that the dispatches read or add to, once each. */
static gboolean
fill_inputs (Tuner *t, const Trial *trial, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GPtrArray *dispatches = trial->lowering->dispatches;
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        if (g_hash_table_add (seen, dispatch->bindings[b].tensor) && !fill_tensor (t, dispatch->bindings[b].tensor, error))
          return FALSE;
    }
  return TRUE;
}

/* Results -------------------------------------------------------------------------------------------------------- */

/* Three stretches of a tensor as floats, appended. */
static gboolean
sample_tensor (Tuner *t, const DynoTensor *tensor, GArray *values, GError **error)
{
  guint64 size = dyno_dtype_size (tensor->dtype), n = tensor->size_bytes / size, count = MIN (n, SAMPLE);
  g_autofree guint8 *bytes = g_malloc (count * size);
  DynoBuffer *buffer = dyno_memory_get_buffer (t->memory, tensor->space, 0);
  for (guint part = 0; part < 3; part++)
    {
      guint64 first = (n - count) / 2 * part;
      if (!dyno_buffer_read (buffer, tensor->offset + first * size, bytes, count * size, error))
        return FALSE;
      for (guint64 i = 0; i < count; i++)
        {
          float value = tensor->dtype == DYNO_DTYPE_F16 ? dyno_half_to_float (((guint16 *) (void *) bytes)[i])
                                                        : ((float *) (void *) bytes)[i];
          g_array_append_val (values, value);
        }
    }
  return TRUE;
}

static gboolean
sample_outputs (Tuner *t, const Point *point, Trial *trial, GError **error)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (float));
  for (guint i = 0; i < point->node->n_outputs; i++)
    {
      const DynoTensor *tensor = point->node->outputs[i];
      gboolean is_value = tensor && (tensor->dtype == DYNO_DTYPE_F16 || tensor->dtype == DYNO_DTYPE_F32);
      if (is_value && tensor->offset != DYNO_OFFSET_NONE && !sample_tensor (t, tensor, values, error))
        return FALSE;
    }
  trial->n_samples = values->len;
  trial->sample = (float *) (void *) g_array_free (g_steal_pointer (&values), FALSE);
  return TRUE;
}

/* Normalised squared difference; infinity where a value is not finite. */
static double
difference (const Trial *trial, const Trial *reference)
{
  double error = 0, power = 0;
  for (gsize i = 0; i < trial->n_samples; i++)
    {
      double d = (double) trial->sample[i] - reference->sample[i];
      error += d * d;
      power += (double) reference->sample[i] * reference->sample[i];
    }
  if (error == 0)
    return 0;
  double relative = error / power;
  return isfinite (relative) ? relative : INFINITY;
}

/* Runs ----------------------------------------------------------------------------------------------------------- */

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

static gboolean
run_once (Tuner *t, Trial *trial, double *time_us, GError **error)
{
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  gint64 start = g_get_monotonic_time ();
  if (!dyno_program_profile (trial->program, 0, times, error))
    return FALSE;
  *time_us = 0;
  for (guint i = 0; i < times->len; i++)
    *time_us += g_array_index (times, double, i);
  if (dyno_device_get_info (t->device)->timestamp_ns <= 0)
    *time_us = (double) (g_get_monotonic_time () - start);
  return TRUE;
}

/* The median of some runs; one alone where that shows already that it is far from the best. */
static gboolean
time_trial (Tuner *t, Trial *trial, double best_us, GError **error)
{
  double times[MAX_RUNS];
  if (!run_once (t, trial, &times[0], error))
    return FALSE;
  trial->time_us = times[0];
  if (times[0] > 3 * best_us)
    return TRUE;
  guint runs = (guint) CLAMP (TUNE_US / MAX (times[0], 1.0), 1.0, (double) MAX_RUNS);
  for (guint i = 0; i < runs; i++)
    if (!run_once (t, trial, &times[i], error))
      return FALSE;
  qsort (times, runs, sizeof (double), compare_doubles);
  trial->time_us = times[runs / 2];
  return TRUE;
}

/* FALSE with an error when the device is in trouble; a label that does not work has an infinite time. */
static gboolean
try_label (Tuner *t, const Point *point, const char *label, double best_us, Trial *trial, GError **error)
{
  g_autoptr (GError) local = NULL;
  DynoPlan plan;
  guint64 ticket;
  struct DynoStepInput *input;
  trial->time_us = INFINITY;
  trial->lowering = lower_label (t, point, label, &plan, error);
  if (!trial->lowering)
    return FALSE;
  trial->program = dyno_program_new (t->device, trial->lowering, t->memory, NULL, NULL, NULL, &local);
  if (!trial->program && g_error_matches (local, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER))
    {
      g_warning ("%s with %s does not compile: %s", point->key, label, local->message);
      return TRUE;
    }
  if (!trial->program)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  input = dyno_program_step_input (trial->program, 0);
  input->n_valid = t->graph->params.batch;
  input->loss_divisor = (float) t->graph->params.batch;
  return fill_inputs (t, trial, error) && dyno_program_submit (trial->program, DYNO_COMMAND_FULL, 0, NULL, 0, &ticket, error)
         && dyno_queue_wait (t->device, DYNO_QUEUE_COMPUTE, ticket, 0, error) && sample_outputs (t, point, trial, error)
         && time_trial (t, trial, best_us, error);
}

/* TRUE when the label may win. */
static gboolean
agrees (Tuner *t, const Point *point, const char *label, const Trial *trial, const Trial *reference)
{
  if (!isfinite (trial->time_us))
    return FALSE;
  double limit = t->graph->params.amp ? TOLERANCE_F16 : TOLERANCE_F32;
  double found = difference (trial, reference);
  if (found <= limit)
    return TRUE;
  g_warning ("%s with %s is wrong on %s (NMSE %g); it is not used", point->key, label,
             dyno_device_get_info (t->device)->name, found);
  return FALSE;
}

static gboolean
tune_point (Tuner *t, const Point *point, guint *done, DynoKernelProgress progress, gpointer data, GCancellable *cancellable,
            GError **error)
{
  Trial reference = { 0 };
  gboolean has_reference = FALSE, ok = TRUE;
  const char *best = NULL;
  double best_us = INFINITY;
  for (guint i = 0; point->labels[i] && ok; i++)
    {
      Trial trial = { 0 };
      ok = !g_cancellable_set_error_if_cancelled (cancellable, error)
           && try_label (t, point, point->labels[i], best_us, &trial, error);
      if (ok && agrees (t, point, point->labels[i], &trial, has_reference ? &reference : &trial))
        {
          g_debug ("%s: %s %.1f us", point->key, point->labels[i], trial.time_us);
          if (trial.time_us < best_us)
            {
              best_us = trial.time_us;
              best = point->labels[i];
            }
          if (!has_reference)
            {
              has_reference = TRUE;
              reference = trial;
              trial = (Trial){ 0 };
            }
        }
      trial_clear (&trial);
      if (ok && progress)
        progress (++*done, t->n_labels, data);
    }
  trial_clear (&reference);
  if (ok && best)
    dyno_choices_set (t->choices, point->key, best, best_us);
  return ok;
}

static void
tuner_clear (Tuner *t)
{
  dyno_buffer_free (t->pattern);
  dyno_memory_free (t->memory);
  g_array_unref (t->points);
  dyno_lowering_free (t->base);
}

gboolean
dyno_autotune (DynoDevice *device, DynoGraph *graph, DynoChoices *choices, DynoKernelProgress progress, gpointer data,
               GCancellable *cancellable, GError **error)
{
  Tuner t = { .device = device, .graph = graph, .choices = choices };
  t.points = g_array_new (FALSE, FALSE, sizeof (Point));
  gboolean ok = find_points (&t, error);
  if (ok && t.points->len > 0)
    ok = allocate (&t, cancellable, error);
  guint done = 0;
  for (guint i = 0; ok && i < t.points->len; i++)
    ok = tune_point (&t, &g_array_index (t.points, Point, i), &done, progress, data, cancellable, error);
  tuner_clear (&t);
  return ok;
}

guint
dyno_autotune_count (DynoDevice *device, DynoGraph *graph, DynoChoices *choices)
{
  Tuner t = { .device = device, .graph = graph, .choices = choices };
  t.points = g_array_new (FALSE, FALSE, sizeof (Point));
  guint count = find_points (&t, NULL) ? t.n_labels : 0;
  tuner_clear (&t);
  return count;
}
