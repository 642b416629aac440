/* SPDX-License-Identifier: MIT */
/* Autotuning: a small program of one node for each variant, timed by timestamps after its
 * dispatches and compared with the first variant.
 *
 * Invariants:
 * - Inputs are small random values with zero pads, the same for every variant; gradients of
 *   parameters start from zero.
 * - A variant wins only if its outputs agree with the outputs of the first variant whose outputs
 *   were finite.
 * - A variant that fails to compile or to agree costs a warning, never the run.
 * - All variants are timed at the clock of a busy device.
 *
 * Not every variant is tried: to compile them all takes longer than a short training.  They are
 * ordered best guess first, and a variant is a tile with an optional split ("khr 128x64x32 k8").
 * The first few tiles are timed, then further tiles as long as the best one is among the last
 * tried, and then the other splits of the winner.  The nodes with most work come first, and keys
 * that are not reached in time keep their best guess until the next start.  Kernels are compiled by
 * threads ahead of the timing; on a device that is the CPU itself the timing waits for them. */
#include "autotune.h"
#include "cores.h"
#include "graph-private.h"
#include "half.h"
#include "lowering-private.h"
#include "median.h"
#include "network.h"
#include "parallel.h"
#include "plan-private.h"
#include "rng.h"
#include "vet.h"
#include "vetting-private.h"
#include <math.h>

#define PATTERN_BYTES (1u << 20)
#define SAMPLE        16384 /* elements at each of three places of an output */
#define MAX_RUNS      5
#define TUNE_US       20000.0 /* all runs of a variant together, about */
/* factor on the best time, from which on one run suffices to reject a variant */
#define HOPELESS    1.5
#define FIRST_TILES 4
#define MORE_TILES  2
#define MAX_THREADS 16
#define WARM_US     50000
#define SAVE_US     (2 * G_USEC_PER_SEC)

/* The permitted difference of two kernels, from the order of sums and rounding to F16 at the
 * end. */
#define TOLERANCE_F16 1e-5
#define TOLERANCE_F32 1e-8

/* The build of one variant, and its results. */
typedef struct {
  DynoBuild *build;
  double time_us;
  float *sample; /* samples of the outputs, concatenated */
  gsize n_samples;
} Trial;

typedef struct {
  DynoNode *node;
  const char *key;
  const DynoVariant *variants;
  guint n_variants;
  guint64 work;          /* of the node, to rank the points */
  GArray *tried;         /* guint: indices of variants, in the order of trying */
  guint n_timed;         /* number of tried variants that were timed; the rest is being compiled */
  Trial reference;       /* of the first variant with a result */
  guint reference_place; /* in tried */
  int best;              /* index of a variant; -1: none */
  guint best_place;      /* in tried */
  double best_us;
} Point;

typedef struct {
  DynoDevice *device;
  DynoGraph *graph;
  DynoChoices *choices;
  DynoLowering *base; /* owns the points' keys and variants */
  GPtrArray *points;  /* Point, keys unique and unknown */
  guint n_variants, n_done;
  gint64 deadline_us;
  DynoMemory *memory;
  DynoBuffer *pattern;
  GHashTable *contents; /* tensor of the graph -> GBytes */
  GThreadPool *compilers;
  GPtrArray *specs;  /* DynoKernelSpec given to the compilers */
  GHashTable *known; /* set of the specs */
  GMutex lock;
  GCond idle;
  guint n_compiling; /* under lock */
  gint64 busy_us;    /* time when the device last computed; 0: not yet */
} Tuner;

static void
trial_clear (Trial *trial)
{
  dyno_build_free (trial->build);
  g_free (trial->sample);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Trial, trial_clear)

static void
point_free (gpointer data)
{
  Point *point = data;
  g_array_unref (point->tried);
  trial_clear (&point->reference);
  g_free (point);
}

static guint64
node_work (const DynoLowering *lowering, const DynoNode *node)
{
  guint64 work = 0;
  for (guint i = 0; i < lowering->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (lowering->dispatches, i);
      work += dispatch->node == node ? dispatch->flops : 0;
    }
  return work;
}

static gint
more_work_first (gconstpointer a, gconstpointer b)
{
  const Point *x = *(const Point *const *) a, *y = *(const Point *const *) b;
  return x->work < y->work ? 1 : x->work > y->work ? -1 : strcmp (x->key, y->key);
}

static gboolean
has_variant (const DynoChoicePoint *point, const DynoVariant *variant)
{
  for (guint i = 0; i < point->n_variants; i++)
    if (dyno_variant_equal (&point->variants[i], variant))
      return TRUE;
  return FALSE;
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
      const DynoChoicePoint *found = g_ptr_array_index (points, i);
      DynoVariant known;
      /* A key whose known choice is not among the variants, as that of another version, is measured
       * again. */
      if ((dyno_choices_get (t->choices, found->key, &known) && has_variant (found, &known))
          || !g_hash_table_add (seen, found->key))
        continue;
      Point *point = g_new0 (Point, 1);
      point->node = found->node;
      point->key = found->key;
      point->variants = found->variants;
      point->n_variants = found->n_variants;
      point->work = node_work (t->base, found->node);
      point->tried = g_array_new (FALSE, FALSE, sizeof (guint));
      point->best = -1;
      point->best_us = INFINITY;
      g_ptr_array_add (t->points, point);
      t->n_variants += point->n_variants;
    }
  g_ptr_array_sort (t->points, more_work_first);
  return TRUE;
}

/* Plans the node with one variant at one key, and with the known choices at its other keys. */
static DynoBuild *
plan_variant (Tuner *t, const Point *point, const DynoVariant *variant, GError **error)
{
  g_autoptr (DynoChoices) forced = dyno_choices_new ();
  g_autoptr (DynoBuild) build = dyno_build_new_graph (t->graph);
  DynoBuildParams params = { .info = dyno_device_get_info (t->device),
                             .choices = forced,
                             .node = point->node,
                             .flags = DYNO_PLAN_NO_ALIAS };
  GPtrArray *points = dyno_lowering_get_choice_points (t->base);
  for (guint i = 0; i < points->len; i++)
    {
      const DynoChoicePoint *other = g_ptr_array_index (points, i);
      DynoVariant known;
      if (other->node == point->node && dyno_choices_get (t->choices, other->key, &known))
        dyno_choices_set (forced, other->key, &known, 0);
    }
  dyno_choices_set (forced, point->key, variant, 0);
  return dyno_build_plan (build, &params, error) ? g_steal_pointer (&build) : NULL;
}

/* Choice of variants --------------------------------------------------------------------------- */

static gboolean
is_tried (const Point *point, guint variant, gboolean any_split)
{
  for (guint i = 0; i < point->tried->len; i++)
    {
      guint other = g_array_index (point->tried, guint, i);
      if (other == variant
          || (any_split
              && dyno_variant_same_tile (&point->variants[other], &point->variants[variant])))
        return TRUE;
    }
  return FALSE;
}

/* Appends the first variant of each of the next n tiles. */
static void
add_tiles (Point *point, guint n)
{
  for (guint i = 0; i < point->n_variants && n > 0; i++)
    if (!is_tried (point, i, TRUE))
      {
        g_array_append_val (point->tried, i);
        n--;
      }
}

/* Appends the variants that are to be tried next to point->tried; none where the point is
 * settled. */
static void
choose_next (Point *point)
{
  if (point->tried->len == 0 || point->best < 0)
    {
      add_tiles (point, FIRST_TILES);
      return;
    }
  guint before = point->tried->len;
  if (point->best_place + MORE_TILES >= before)
    add_tiles (point, MORE_TILES);
  if (point->tried->len > before)
    return;
  for (guint i = 0; i < point->n_variants; i++)
    if (!is_tried (point, i, FALSE)
        && dyno_variant_same_tile (&point->variants[i], &point->variants[point->best]))
      g_array_append_val (point->tried, i);
}

/* Compiling ------------------------------------------------------------------------------------ */

/* A kernel that does not compile is reported when its variant is timed. */
static void
compile (gpointer data, gpointer user_data)
{
  Tuner *t = user_data;
  g_autoptr (GError) error = NULL;
  if (!dyno_kernel_get (t->device, data, &error))
    g_debug ("a variant does not compile: %s", error->message);
  g_mutex_lock (&t->lock);
  if (--t->n_compiling == 0)
    g_cond_signal (&t->idle);
  g_mutex_unlock (&t->lock);
}

static void
compile_lowering (Tuner *t, const DynoLowering *lowering)
{
  for (guint i = 0; i < lowering->dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (lowering->dispatches, i);
      if (g_hash_table_contains (t->known, &dispatch->spec))
        continue;
      DynoKernelSpec *spec = g_memdup2 (&dispatch->spec, sizeof dispatch->spec);
      g_ptr_array_add (t->specs, spec);
      g_hash_table_add (t->known, spec);
      g_mutex_lock (&t->lock);
      t->n_compiling++;
      g_mutex_unlock (&t->lock);
      if (t->compilers)
        g_thread_pool_push (t->compilers, spec, NULL);
      else
        compile (spec, t);
    }
}

/* Chooses variants and queues their kernels for the compiler threads.  FALSE with no error: the
 * point is settled. */
static gboolean
advance (Tuner *t, Point *point, GError **error)
{
  choose_next (point);
  for (guint i = point->n_timed; i < point->tried->len; i++)
    {
      g_autoptr (DynoBuild) build =
          plan_variant (t, point, &point->variants[g_array_index (point->tried, guint, i)], error);
      if (!build)
        return FALSE;
      compile_lowering (t, dyno_build_get_lowering (build));
    }
  return point->tried->len > point->n_timed;
}

static void
wait_for_compilers (Tuner *t)
{
  g_mutex_lock (&t->lock);
  while (t->n_compiling > 0)
    g_cond_wait (&t->idle, &t->lock);
  g_mutex_unlock (&t->lock);
}

/* Allocates memory that is large enough for each variant of each point, one at a time. */
static gboolean
allocate (Tuner *t, GError **error)
{
  DynoPlan all = { .n_slots = 1 };
  for (guint i = 0; i < t->points->len; i++)
    {
      const Point *point = g_ptr_array_index (t->points, i);
      for (guint k = 0; k < point->n_variants; k++)
        {
          g_autoptr (DynoBuild) build = plan_variant (t, point, &point->variants[k], error);
          if (!build)
            return FALSE;
          dyno_plan_merge (&all, dyno_build_get_plan (build));
        }
    }
  t->memory = dyno_memory_new (t->device, &all, error);
  if (!t->memory)
    return FALSE;
  t->pattern =
      dyno_buffer_new (t->device, PATTERN_BYTES, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, error);
  return t->pattern != NULL;
}

/* Inputs --------------------------------------------------------------------------------------- */

static void
put_value (guint8 *bytes, DynoDtype dtype, guint64 index, float value)
{
  if (dtype == DYNO_DTYPE_F16)
    ((guint16 *) (void *) bytes)[index] = dyno_half_from_float (value);
  else if (dtype == DYNO_DTYPE_F32)
    ((float *) (void *) bytes)[index] = value;
  else if (dtype == DYNO_DTYPE_I32) /* a mask: bits */
    memcpy (bytes + index * 4, &(guint32){ (guint32) ((value + 0.5) * G_MAXUINT32) }, 4);
}

/* Whole rows of random values, pads zero; NULL where the tensor does not consist of rows of
 * numbers. */
static GBytes *
activation_bytes (const DynoTensor *tensor)
{
  guint64 row = (guint64) tensor->cp * dyno_dtype_size (tensor->dtype);
  gboolean is_rows = tensor->size_bytes % row == 0 && row <= PATTERN_BYTES && row % 4 == 0;
  if (!is_rows || tensor->dtype == DYNO_DTYPE_U8)
    return NULL;
  guint64 n_rows = MIN (PATTERN_BYTES, tensor->size_bytes) / row;
  guint8 *bytes = g_malloc0 (n_rows * row);
  DynoRng rng = dyno_rng_init (11, tensor->id);
  for (guint64 i = 0; i < n_rows; i++)
    for (guint32 c = 0; c < tensor->c; c++)
      put_value (bytes, tensor->dtype, i * tensor->cp + c, (float) (dyno_rng_uniform (&rng) - 0.5));
  return g_bytes_new_take (bytes, n_rows * row);
}

/* A parameter's start values, in the type that the node reads. */
static GBytes *
parameter_bytes (const DynoTensor *tensor)
{
  const DynoParameter *parameter = tensor->parameter;
  guint64 count = dyno_parameter_count (parameter), n = parameter->n_elements;
  g_autofree float *torch = g_new (float, count), *packed = g_new (float, n);
  guint8 *bytes = g_malloc0 (tensor->size_bytes);
  dyno_parameter_initialise (parameter, 1, torch);
  dyno_parameter_pack (parameter, torch, packed);
  for (guint64 i = 0; i < n; i++)
    put_value (bytes, tensor->dtype, i, packed[i]);
  return g_bytes_new_take (bytes, tensor->size_bytes);
}

/* The contents are made once per tensor and reused, since a tensor is filled for each variant of
 * its nodes. */
static GBytes *
tensor_bytes (Tuner *t, const DynoTensor *tensor)
{
  GBytes *bytes = g_hash_table_lookup (t->contents, tensor);
  if (bytes)
    return bytes;
  bytes = tensor->space == DYNO_SPACE_ARENA ? activation_bytes (tensor) : parameter_bytes (tensor);
  if (bytes)
    g_hash_table_insert (t->contents, (gpointer) tensor, bytes);
  return bytes;
}

/* Repeats the bytes over the whole tensor. */
static gboolean
fill_activation (Tuner *t, const DynoTensor *tensor, gboolean is_workspace, GError **error)
{
  guint64 offset;
  DynoBuffer *arena = dyno_memory_locate (t->memory, tensor, 0, &offset);
  GBytes *bytes = is_workspace ? NULL : tensor_bytes (t, tensor);
  if (!bytes)
    return dyno_buffer_fill (arena, offset, tensor->size_bytes & ~G_GUINT64_CONSTANT (3), 0, error);
  gsize chunk;
  const void *data = g_bytes_get_data (bytes, &chunk);
  if (!dyno_buffer_write (t->pattern, 0, data, chunk, error))
    return FALSE;
  g_autoptr (DynoCommand) command = dyno_command_new (t->device, DYNO_QUEUE_COMPUTE, error);
  if (!command)
    return FALSE;
  for (guint64 at = 0; at < tensor->size_bytes; at += chunk)
    dyno_command_copy (command, t->pattern, 0, arena, offset + at,
                       MIN (chunk, tensor->size_bytes - at));
  guint64 timeline_value;
  return dyno_command_end (command, error)
         && dyno_command_submit (command, NULL, 0, &timeline_value, error)
         && dyno_queue_wait (t->device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error);
}

static gboolean
fill_tensor (Tuner *t, const Trial *trial, const DynoTensor *tensor, GError **error)
{
  DynoBuffer *buffer = dyno_memory_get_buffer (t->memory, tensor->space, 0);
  if (tensor->space == DYNO_SPACE_ARENA)
    return fill_activation (
        t, tensor, g_ptr_array_find (dyno_build_get_lowering (trial->build)->tensors, tensor, NULL),
        error);
  if (tensor->space == DYNO_SPACE_GRADIENT)
    return dyno_buffer_fill (buffer, tensor->offset, tensor->size_bytes, 0, error);
  if (!tensor->parameter)
    return TRUE;
  return dyno_buffer_write (buffer, tensor->offset,
                            g_bytes_get_data (tensor_bytes (t, tensor), NULL), tensor->size_bytes,
                            error);
}

/* Fills each tensor that the dispatches read or write, once. */
static gboolean
fill_inputs (Tuner *t, const Trial *trial, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GPtrArray *dispatches = dyno_build_get_lowering (trial->build)->dispatches;
  for (guint i = 0; i < dispatches->len; i++)
    {
      const DynoDispatch *dispatch = g_ptr_array_index (dispatches, i);
      for (guint b = 0; b < dispatch->n_bindings; b++)
        if (g_hash_table_add (seen, dispatch->bindings[b].tensor)
            && !fill_tensor (t, trial, dispatch->bindings[b].tensor, error))
          return FALSE;
    }
  return TRUE;
}

/* Results -------------------------------------------------------------------------------------- */

/* Appends three stretches of a tensor as floats. */
static gboolean
sample_tensor (Tuner *t, const DynoTensor *tensor, GArray *values, GError **error)
{
  guint64 size = dyno_dtype_size (tensor->dtype), n = tensor->size_bytes / size,
          count = MIN (n, SAMPLE);
  g_autofree guint8 *bytes = g_malloc (count * size);
  guint64 offset;
  DynoBuffer *buffer = dyno_memory_locate (t->memory, tensor, 0, &offset);
  for (guint part = 0; part < 3; part++)
    {
      guint64 first = (n - count) / 2 * part;
      if (!dyno_buffer_read (buffer, offset + first * size, bytes, count * size, error))
        return FALSE;
      for (guint64 i = 0; i < count; i++)
        {
          float value = tensor->dtype == DYNO_DTYPE_F16
                            ? dyno_half_to_float (((guint16 *) (void *) bytes)[i])
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
      gboolean is_value =
          tensor && (tensor->dtype == DYNO_DTYPE_F16 || tensor->dtype == DYNO_DTYPE_F32);
      if (is_value && tensor->offset != DYNO_OFFSET_NONE
          && !sample_tensor (t, tensor, values, error))
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

/* Runs ----------------------------------------------------------------------------------------- */

gint64
dyno_autotune_warm_up_us (gint64 busy_us, gint64 now_us)
{
  return CLAMP (now_us - busy_us, 0, WARM_US);
}

static gboolean
run_once (Tuner *t, Trial *trial, double *time_us, GError **error)
{
  g_autoptr (GArray) times = g_array_new (FALSE, FALSE, sizeof (double));
  gint64 start = g_get_monotonic_time ();
  if (!dyno_program_profile (dyno_build_get_program (trial->build), 0, times, error))
    return FALSE;
  t->busy_us = g_get_monotonic_time ();
  *time_us = 0;
  for (guint i = 0; i < times->len; i++)
    *time_us += g_array_index (times, double, i);
  if (dyno_device_get_info (t->device)->timestamp_ns <= 0)
    *time_us = (double) (t->busy_us - start);
  return TRUE;
}

/* Warms the device up.  While the device waits for a kernel to be compiled, its clock falls to a
 * third or less; the device computes until the clock is up again. */
static gboolean
warm_up (Tuner *t, Trial *trial, GError **error)
{
  gint64 start = g_get_monotonic_time (),
         until = start + dyno_autotune_warm_up_us (t->busy_us, start);
  double time_us;
  if (dyno_device_get_info (t->device)->type == DYNO_DEVICE_TYPE_SOFTWARE)
    return TRUE;
  while (g_get_monotonic_time () < until)
    if (!run_once (t, trial, &time_us, error))
      return FALSE;
  return TRUE;
}

/* The median of some runs; a single run if it already shows that the variant is far from the
 * best. */
static gboolean
time_trial (Tuner *t, Trial *trial, double best_us, GError **error)
{
  double times[MAX_RUNS];
  if (!warm_up (t, trial, error) || !run_once (t, trial, &times[0], error))
    return FALSE;
  trial->time_us = times[0];
  if (times[0] > HOPELESS * best_us)
    return TRUE;
  guint runs = (guint) CLAMP (TUNE_US / MAX (times[0], 1.0), 1.0, (double) MAX_RUNS);
  for (guint i = 0; i < runs; i++)
    if (!run_once (t, trial, &times[i], error))
      return FALSE;
  trial->time_us = dyno_median (times, runs);
  return TRUE;
}

static void
warn_refused (const char *variant, const char *why, gpointer data)
{
  g_warning ("Kernel %s is not used on this device: %s", variant, why);
}

/* Compiles the variant's kernels; *again: they do not compile, and are refused from now on. */
static gboolean
compile_trial (Tuner *t, const Trial *trial, gboolean *again, GError **error)
{
  static const DynoVetWatch watch = { .refused = warn_refused };

  return dyno_vet_compile (t->device, dyno_build_get_lowering (trial->build), t->choices, &watch,
                           NULL, again, error);
}

/* FALSE with an error when the device fails; the time of a variant that does not work is
 * infinite. */
static gboolean
try_variant (Tuner *t, const Point *point, const DynoVariant *variant, double best_us, Trial *trial,
             GError **error)
{
  g_autofree char *refused = dyno_choices_get_refusal (t->choices, point->key, variant);
  guint64 timeline_value;
  DynoProgram *program;
  struct DynoStepInput *input;
  gboolean again;
  trial->time_us = INFINITY;
  if (refused)
    return TRUE;
  trial->build = plan_variant (t, point, variant, error);
  if (!trial->build || !compile_trial (t, trial, &again, error))
    return FALSE;
  if (again)
    return TRUE;
  dyno_build_set_memory (trial->build, t->memory);
  if (!dyno_build_record (trial->build, t->device, 1u << DYNO_COMMAND_FULL, NULL, error))
    return FALSE;
  program = dyno_build_get_program (trial->build);
  input = dyno_program_step_input (program, 0);
  input->n_valid = t->graph->params.batch;
  input->loss_divisor = (float) t->graph->params.batch;
  return fill_inputs (t, trial, error)
         && dyno_program_submit (program, DYNO_COMMAND_FULL, 0, NULL, 0, &timeline_value, error)
         && dyno_queue_wait (t->device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error)
         && sample_outputs (t, point, trial, error) && time_trial (t, trial, best_us, error);
}

/* TRUE when the variant may win. */
static gboolean
agrees (Tuner *t, const Point *point, const DynoVariant *variant, const Trial *trial,
        const Trial *reference)
{
  char label[DYNO_VARIANT_LABEL];
  if (!isfinite (trial->time_us))
    return FALSE;
  double limit =
      t->graph->params.precision.storage == DYNO_DTYPE_F16 ? TOLERANCE_F16 : TOLERANCE_F32;
  double found = difference (trial, reference);
  if (found <= limit)
    return TRUE;
  dyno_variant_print (variant, label);
  g_warning ("%s with %s is wrong on %s (NMSE %g); it is not used", point->key, label,
             dyno_device_get_info (t->device)->name, found);
  return FALSE;
}

/* Times the variants that were chosen.  FALSE with an error when the device fails or the user
 * cancels. */
static gboolean
time_point (Tuner *t, Point *point, DynoKernelProgress progress, gpointer data,
            GCancellable *cancellable, GError **error)
{
  for (; point->n_timed < point->tried->len; point->n_timed++)
    {
      guint place = g_array_index (point->tried, guint, point->n_timed);
      const DynoVariant *variant = &point->variants[place];
      char label[DYNO_VARIANT_LABEL];
      g_auto (Trial) trial = { 0 };
      if (g_cancellable_set_error_if_cancelled (cancellable, error)
          || !try_variant (t, point, variant, point->best_us, &trial, error))
        return FALSE;
      gboolean is_first = !point->reference.sample;
      if (agrees (t, point, variant, &trial, is_first ? &trial : &point->reference))
        {
          dyno_variant_print (variant, label);
          g_debug ("%s: %s %.1f us", point->key, label, trial.time_us);
          /* A variant that agrees with the tested reference has passed a test larger than the
           * self-test. */
          if (!is_first
              && dyno_choices_has_passed (
                  t->choices, point->key,
                  &point->variants[g_array_index (point->tried, guint, point->reference_place)]))
            dyno_choices_pass (t->choices, point->key, variant);
          if (trial.time_us < point->best_us)
            {
              point->best_us = trial.time_us;
              point->best = (int) place;
              point->best_place = point->n_timed;
            }
          if (is_first)
            {
              point->reference_place = point->n_timed;
              point->reference.n_samples = trial.n_samples;
              point->reference.sample = g_steal_pointer (&trial.sample);
            }
        }
      if (progress)
        progress (++t->n_done, t->n_variants, data);
    }
  return TRUE;
}

/* The points are processed in turn: while some are timed, the next variants of others are
 * compiled. */
static gboolean
tune_points (Tuner *t, DynoKernelProgress progress, gpointer data, GCancellable *cancellable,
             GError **error)
{
  gboolean is_software = dyno_device_get_info (t->device)->type == DYNO_DEVICE_TYPE_SOFTWARE;
  gint64 saved_us = g_get_monotonic_time ();
  g_autoptr (GPtrArray) queue = g_ptr_array_new ();
  GError *local = NULL;
  for (guint i = 0; i < t->points->len && !local; i++)
    if (advance (t, g_ptr_array_index (t->points, i), &local))
      g_ptr_array_add (queue, g_ptr_array_index (t->points, i));
  for (guint i = 0; i < queue->len && !local; i++)
    {
      Point *point = g_ptr_array_index (queue, i);
      gint64 now = g_get_monotonic_time ();
      if (now > t->deadline_us)
        {
          g_info ("%s and others are not measured and take their likeliest kernels: the time for "
                  "measuring is over",
                  point->key);
          break;
        }
      if (is_software)
        wait_for_compilers (t);
      if (!time_point (t, point, progress, data, cancellable, &local))
        break;
      if (point->best >= 0)
        dyno_choices_set (t->choices, point->key, &point->variants[point->best], point->best_us);
      if (point->best >= 0 && advance (t, point, &local))
        g_ptr_array_add (queue, point);
      if (now - saved_us > SAVE_US)
        {
          dyno_choices_keep (t->choices);
          saved_us = now;
        }
    }
  dyno_choices_keep (t->choices);
  if (local)
    g_propagate_error (error, local);
  return !local;
}

static void
tuner_init (Tuner *t, DynoDevice *device, DynoGraph *graph, DynoChoices *choices)
{
  *t = (Tuner){ .device = device, .graph = graph, .choices = choices };
  t->points = g_ptr_array_new_with_free_func (point_free);
  t->specs = g_ptr_array_new_with_free_func (g_free);
  t->known = g_hash_table_new (dyno_kernel_spec_hash, dyno_kernel_spec_equal);
  t->contents = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_bytes_unref);
  g_mutex_init (&t->lock);
  g_cond_init (&t->idle);
}

static void
tuner_clear (Tuner *t)
{
  if (t->compilers)
    g_thread_pool_free (t->compilers, TRUE, TRUE);
  dyno_buffer_free (t->pattern);
  dyno_memory_unref (t->memory);
  g_ptr_array_unref (t->points);
  g_hash_table_unref (t->contents);
  g_hash_table_unref (t->known);
  g_ptr_array_unref (t->specs);
  dyno_lowering_free (t->base);
  g_cond_clear (&t->idle);
  g_mutex_clear (&t->lock);
}

gboolean
dyno_autotune_within (DynoDevice *device, DynoGraph *graph, DynoChoices *choices, double seconds,
                      DynoKernelProgress progress, gpointer data, GCancellable *cancellable,
                      GError **error)
{
  Tuner t;
  tuner_init (&t, device, graph, choices);
  t.deadline_us =
      seconds > 0 ? g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC) : G_MAXINT64;
  gboolean ok = find_points (&t, error);
  if (ok && t.points->len > 0)
    {
      guint threads = MIN (dyno_cores_count (), MAX_THREADS);
      t.compilers = dyno_thread_pool_new (compile, &t, threads);
      ok = allocate (&t, error) && tune_points (&t, progress, data, cancellable, error);
    }
  tuner_clear (&t);
  return ok;
}

gboolean
dyno_autotune (DynoDevice *device, DynoGraph *graph, DynoChoices *choices,
               DynoKernelProgress progress, gpointer data, GCancellable *cancellable,
               GError **error)
{
  return dyno_autotune_within (device, graph, choices, DYNO_AUTOTUNE_SECONDS, progress, data,
                               cancellable, error);
}

gboolean
dyno_autotune_settle (DynoDevice *device, DynoGraph *graph, DynoChoices *choices, GError **error)
{
  Tuner t;
  tuner_init (&t, device, graph, choices);
  gboolean ok = find_points (&t, error);
  for (guint i = 0; ok && i < t.points->len; i++)
    {
      const Point *point = g_ptr_array_index (t.points, i);
      dyno_choices_set (choices, point->key, &point->variants[0], 0);
    }
  tuner_clear (&t);
  return ok;
}

guint
dyno_autotune_count (DynoDevice *device, DynoGraph *graph, DynoChoices *choices)
{
  Tuner t;
  tuner_init (&t, device, graph, choices);
  guint count = find_points (&t, NULL) ? t.n_variants : 0;
  tuner_clear (&t);
  return count;
}
