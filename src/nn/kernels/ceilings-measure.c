/* SPDX-License-Identifier: MIT */
/* The measurement of the ceilings: a copy, multiply-adds in registers, and large products by the
 * convolution's own kernels.
 *
 * Invariants:
 * - Work is sized by a short first try, so that the launch does not dominate a run and no driver's
 *   watchdog stops it.
 * - A device that was idle computes until its clock is up before a time counts; several runs are
 *   timed, and their median counts.
 * - Data is noise: a card that multiplies zeros takes less power and clocks higher than it ever
 *   does in training.
 * - A kernel that does not compile is left out; it never ends the measurement. */
#include "ceilings.h"
#include "command.h"
#include "half.h"
#include "median.h"
#include "ops.h"
#include "probe.h"
#include "rng.h"
#include <math.h>
#include <stdlib.h>

#define MIN_RUNS             3
#define MAX_RUNS             15
#define RUNS_US              60000.0 /* all runs for one rate together, about */
#define HOPELESS             1.5     /* factor on the best time: one run suffices */
#define WARM_UP_US           300000  /* an idle card needs some 0.1 s to reach its clock */
#define IDLE_US              20000   /* after this time without work the clock may fall */
#define PRODUCTS_SOFTWARE_US 1000000 /* includes compiling; the best guesses come first */
#define PRODUCTS_US          2000000 /* after this time no further kernel of a precision is begun */
#define GROW_MOST            16.0    /* largest growth from one run to the next */
#define NOISE_BYTES          (1u << 20)
#define INVOCATIONS          128u /* of a workgroup; every device allows this number */

#define COPY_BYTES (G_GUINT64_CONSTANT (1) << 30) /* far past any cache */
/* a CPU has larger caches, but the copy must not take too long */
#define COPY_BYTES_SOFTWARE (G_GUINT64_CONSTANT (1) << 27)
#define COPY_EACH           8u  /* chunks of 16 bytes per invocation */
#define COPY_FIRST          16u /* the first try copies this part of the buffer: 1/16 */

#define FMA_CHAINS       8u /* at least latency times issue width, of today's GPUs and CPUs */
#define FMA_UNROLL       16u
#define FMA_LOOPS        512u
#define FMA_SCALE        0.999f
#define FMA_FIRST_GROUPS 16u
#define FMA_MOST_GROUPS  65535u

#define SIDE_FIRST 512u /* a product is side x side x side / 2 */
#define SIDE_MOST  8192u

typedef struct {
  DynoDevice *device;
  gboolean software;
  double run_us, longest_us; /* least time of a run, and its longest estimated time */
  DynoBuffer *source, *target;
  DynoTimer *timer;
  gint64 busy_us; /* when the last run ended; 0: never */
} Meter;

static void
meter_clear (Meter *m)
{
  dyno_timer_free (m->timer);
  dyno_buffer_free (m->target);
  dyno_buffer_free (m->source);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Meter, meter_clear)

/* Runs ----------------------------------------------------------------------------------------- */

static gboolean
run_once (Meter *m, DynoCommand *command, double *time_us, GError **error)
{
  double times[2];
  gint64 start = g_get_monotonic_time ();
  guint64 timeline_value;
  if (!dyno_command_submit (command, NULL, 0, &timeline_value, error)
      || !dyno_queue_wait (m->device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error)
      || !dyno_timer_read (m->timer, times, G_N_ELEMENTS (times), error))
    return FALSE;
  m->busy_us = g_get_monotonic_time ();
  *time_us = times[1];
  if (dyno_device_get_info (m->device)->timestamp_ns <= 0)
    *time_us = (double) (m->busy_us - start);
  *time_us = MAX (*time_us, 1e-3);
  return TRUE;
}

/* One run on a warm device: the first run of a kernel touches its pages, and a CPU's driver
 * compiles it then. */
static gboolean
warm_up (Meter *m, DynoCommand *command, GError **error)
{
  gint64 begin = g_get_monotonic_time ();
  gboolean idle = !m->software && begin - m->busy_us > IDLE_US;
  double time_us;
  do
    if (!run_once (m, command, &time_us, error))
      return FALSE;
  while (idle && m->busy_us - begin < WARM_UP_US);
  return TRUE;
}

/* The median of at most max_runs; a single run if it is far slower than best_us. */
static gboolean
time_command (Meter *m, DynoCommand *command, guint max_runs, double best_us, double *time_us,
              GError **error)
{
  double times[MAX_RUNS];
  if (!warm_up (m, command, error) || !run_once (m, command, &times[0], error))
    return FALSE;
  *time_us = times[0];
  if (max_runs == 1 || times[0] > HOPELESS * best_us)
    return TRUE;
  guint runs = (guint) CLAMP (RUNS_US / times[0], MIN_RUNS, MIN (max_runs, MAX_RUNS));
  for (guint i = 1; i < runs; i++)
    if (!run_once (m, command, &times[i], error))
      return FALSE;
  *time_us = dyno_median (times, runs);
  return TRUE;
}

/* Memory --------------------------------------------------------------------------------------- */

static guint64
buffer_bytes (DynoDevice *device, gboolean software)
{
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  guint64 used, free_bytes, most = software ? COPY_BYTES_SOFTWARE : COPY_BYTES;
  if (!dyno_device_query_memory (device, &used, &free_bytes))
    free_bytes =
        info->vram_bytes - MIN (info->vram_bytes, dyno_device_get_allocated_total (device));
  most = MIN (most, free_bytes / 8);
  most = MIN (most, dyno_buffer_get_limit (info));
  return MAX (most & ~(guint64) (NOISE_BYTES - 1), NOISE_BYTES);
}

/* Fills the source with noise of a type: a block is doubled until it covers the source. */
static gboolean
fill_source (Meter *m, gboolean half, GError **error)
{
  g_autofree guint8 *noise = g_malloc (NOISE_BYTES);
  DynoRng rng = dyno_rng_init (5, 0);
  guint64 size = dyno_buffer_get_size (m->source), timeline_value;
  for (gsize i = 0; i < NOISE_BYTES / (half ? 2 : 4); i++)
    {
      float value = (float) (dyno_rng_uniform (&rng) - 0.5);
      if (half)
        ((guint16 *) (gpointer) noise)[i] = dyno_half_from_float (value);
      else
        ((float *) (gpointer) noise)[i] = value;
    }
  if (!dyno_buffer_write (m->source, 0, noise, NOISE_BYTES, error))
    return FALSE;
  g_autoptr (DynoCommand) command = dyno_command_new (m->device, DYNO_QUEUE_COMPUTE, error);
  if (!command)
    return FALSE;
  for (guint64 filled = NOISE_BYTES; filled < size; filled *= 2)
    {
      dyno_command_copy (command, m->source, 0, m->source, filled, MIN (filled, size - filled));
      dyno_command_barrier (command);
    }
  return dyno_command_end (command, error)
         && dyno_command_submit (command, NULL, 0, &timeline_value, error)
         && dyno_queue_wait (m->device, DYNO_QUEUE_COMPUTE, timeline_value, 0, error);
}

static gboolean
meter_init (Meter *m, DynoDevice *device, GError **error)
{
  gboolean software = dyno_device_get_info (device)->type == DYNO_DEVICE_TYPE_SOFTWARE;
  *m = (Meter){ .device = device,
                .software = software,
                .run_us = software ? 50000 : 2500,
                .longest_us = software ? 150000 : 100000 };
  guint64 size = buffer_bytes (device, software);
  m->source = dyno_buffer_new (device, size, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, error);
  m->target = m->source
                  ? dyno_buffer_new (device, size, DYNO_MEMORY_OTHER, DYNO_BUFFER_DEVICE, error)
                  : NULL;
  m->timer = m->target ? dyno_timer_new (device, 2, error) : NULL;
  return m->timer && fill_source (m, FALSE, error);
}

/* Copy and multiply-adds ----------------------------------------------------------------------- */

static DynoCommand *
record_probe (Meter *m, DynoKernel *kernel, const DynoProbePush *push, guint32 groups,
              GError **error)
{
  g_autoptr (DynoCommand) command = dyno_command_new (m->device, DYNO_QUEUE_COMPUTE, error);
  if (!command)
    return NULL;
  dyno_command_timestamp (command, m->timer, 0);
  dyno_command_dispatch (command, kernel, push, groups, 1, 1);
  dyno_command_timestamp (command, m->timer, 1);
  return dyno_command_end (command, error) ? g_steal_pointer (&command) : NULL;
}

/* Runs with more and more workgroups until a run is long enough, and times this number of
 * workgroups. */
static gboolean
time_probe (Meter *m, const DynoKernelSpec *spec, const DynoProbePush *push, guint32 first,
            guint32 most, guint32 *groups, double *time_us, GError **error)
{
  DynoKernel *kernel = dyno_kernel_get (m->device, spec, error);
  if (!kernel)
    return FALSE;
  for (*groups = CLAMP (first, 1, most);;)
    {
      g_autoptr (DynoCommand) command = record_probe (m, kernel, push, *groups, error);
      if (!command || !time_command (m, command, 1, INFINITY, time_us, error))
        return FALSE;
      if (*time_us >= m->run_us || *groups == most)
        return time_command (m, command, MAX_RUNS, INFINITY, time_us, error);
      g_debug ("%s: %u workgroups %.1f us", spec->shader, *groups, *time_us);
      double factor = CLAMP (2 * m->run_us / *time_us, 2.0, GROW_MOST);
      *groups = (guint32) MIN (*groups * factor, most);
    }
}

static gboolean
measure_copy (Meter *m, DynoCeilings *ceilings, GError **error)
{
  DynoKernelSpec spec = { .shader = "probe/copy.comp",
                          .local_size = { INVOCATIONS, 1, 1 },
                          .push_bytes = sizeof (DynoProbePush) };
  guint64 each = 16 * INVOCATIONS * COPY_EACH, size = dyno_buffer_get_size (m->source);
  guint32 most = (guint32) MIN (size / each, dyno_device_get_info (m->device)->max_groups_x),
          groups;
  DynoProbePush push = { .a = dyno_buffer_get_address (m->source),
                         .c = dyno_buffer_get_address (m->target),
                         .count = (guint32) (size / 16) };
  double time_us;
  dyno_kernel_spec_macro (&spec, "EACH=%u", COPY_EACH);
  if (!time_probe (m, &spec, &push, most / COPY_FIRST, most, &groups, &time_us, error))
    return FALSE;
  ceilings->copy_bytes_per_s = 2.0 * (double) groups * (double) each / (time_us * 1e-6);
  return TRUE;
}

static gboolean
measure_fma (Meter *m, DynoCeilings *ceilings, GError **error)
{
  DynoKernelSpec spec = { .shader = "probe/fma.comp",
                          .local_size = { INVOCATIONS, 1, 1 },
                          .push_bytes = sizeof (DynoProbePush) };
  guint64 fit = dyno_buffer_get_size (m->target) / (sizeof (float) * INVOCATIONS);
  guint32 most = MIN (FMA_MOST_GROUPS, dyno_device_get_info (m->device)->max_groups_x), groups;
  DynoProbePush push = { .c = dyno_buffer_get_address (m->target),
                         .count = FMA_LOOPS,
                         .scale = FMA_SCALE };
  double time_us;
  dyno_kernel_spec_macro (&spec, "CHAINS=%u UNROLL=%u", FMA_CHAINS, FMA_UNROLL);
  if (!time_probe (m, &spec, &push, FMA_FIRST_GROUPS, (guint32) MIN (most, fit), &groups, &time_us,
                   error))
    return FALSE;
  ceilings->fma_flops_per_s =
      2.0 * FMA_LOOPS * FMA_UNROLL * FMA_CHAINS * INVOCATIONS * (double) groups / (time_us * 1e-6);
  return TRUE;
}

/* Products ------------------------------------------------------------------------------------- */

/* A product of one size, lowered once for each kernel that could compute it. */
typedef struct {
  DynoGraph *graph;
  GArray *variants;     /* DynoVariant */
  GPtrArray *lowerings; /* DynoLowering *, one per variant */
} Product;

static void
product_clear (Product *p)
{
  g_clear_pointer (&p->lowerings, g_ptr_array_unref);
  g_clear_pointer (&p->variants, g_array_unref);
  g_clear_pointer (&p->graph, dyno_graph_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Product, product_clear)

static gboolean
on_matrix (DynoLowering *lowering)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
  for (guint i = 0; i < dispatches->len; i++)
    if (dyno_ceilings_on_matrix (&((const DynoDispatch *) dispatches->pdata[i])->spec))
      return TRUE;
  return FALSE;
}

/* The kernels of a 1x1 convolution, best guess first; for fp16 only the kernels that run on matrix
 * units. */
static gboolean
product_init (Product *p, const DynoDeviceInfo *info, gboolean half, guint32 side, GError **error)
{
  DynoConv2dParams params = { .out_channels = side, .kernel_h = 1, .kernel_w = 1 };
  *p = (Product){ .graph = dyno_graph_new (&(DynoGraphParams){
                      .batch = side, .precision = dyno_precision_of_amp (half) }),
                  .variants = g_array_new (FALSE, FALSE, sizeof (DynoVariant)),
                  .lowerings =
                      g_ptr_array_new_with_free_func ((GDestroyNotify) dyno_lowering_free) };
  dyno_conv2d (p->graph, dyno_graph_activation (p->graph, "x", side, 1, 1, side / 2), "product",
               &params);
  g_autoptr (DynoLowering) guess =
      dyno_graph_check (p->graph, error) ? dyno_lowering_new (p->graph, info, NULL, error) : NULL;
  if (!guess)
    return FALSE;
  GPtrArray *points = dyno_lowering_get_choice_points (guess);
  const DynoChoicePoint *point = points->len > 0 ? g_ptr_array_index (points, 0) : NULL;
  for (guint i = 0; point && i < point->n_variants; i++)
    {
      g_autoptr (DynoChoices) choices = dyno_choices_new ();
      dyno_choices_set (choices, point->key, &point->variants[i], 0);
      g_autoptr (DynoLowering) lowering = dyno_lowering_new (p->graph, info, choices, error);
      if (!lowering)
        return FALSE;
      if (on_matrix (lowering) != half)
        continue;
      g_array_append_val (p->variants, point->variants[i]);
      g_ptr_array_add (p->lowerings, g_steal_pointer (&lowering));
    }
  return TRUE;
}

/* The address of a tensor: tensors that are only read lie in the source, other tensors in the
 * target; 0: there is no room. */
static guint64
place (Meter *m, GHashTable *places, guint64 used[2], const DynoBinding *binding)
{
  guint64 *known = g_hash_table_lookup (places, binding->tensor);
  if (known)
    return *known;
  guint written = (binding->access & DYNO_ACCESS_WRITE) != 0;
  DynoBuffer *buffer = written ? m->target : m->source;
  guint64 at = used[written],
          size = (binding->tensor->size_bytes + 255) & ~G_GUINT64_CONSTANT (255);
  if (size > dyno_buffer_get_size (buffer) - at)
    return 0;
  used[written] += size;
  guint64 address = dyno_buffer_get_address (buffer) + at;
  g_hash_table_insert (places, binding->tensor, g_memdup2 (&address, sizeof address));
  return address;
}

/* NULL without an error: the kernel does not compile, or its tensors do not fit. */
static DynoCommand *
record_product (Meter *m, DynoLowering *lowering, GError **error)
{
  GPtrArray *dispatches = dyno_lowering_get_dispatches (lowering);
  g_autoptr (GHashTable) places = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (DynoCommand) command = dyno_command_new (m->device, DYNO_QUEUE_COMPUTE, error);
  guint64 used[2] = { 0, 0 };
  if (!command)
    return NULL;
  dyno_command_timestamp (command, m->timer, 0);
  for (guint i = 0; i < dispatches->len; i++)
    {
      DynoDispatch *d = g_ptr_array_index (dispatches, i);
      g_autoptr (GError) local = NULL;
      DynoKernel *kernel = dyno_kernel_get (m->device, &d->spec, &local);
      if (!kernel)
        {
          g_info ("%s is left out of the ceilings: %s", d->spec.macros, local->message);
          return NULL;
        }
      for (guint b = 0; b < d->n_bindings; b++)
        {
          guint64 address = place (m, places, used, &d->bindings[b]);
          if (address == 0)
            return NULL;
          address += d->bindings[b].byte_offset;
          if (d->bindings[b].push_offset != G_MAXUINT16)
            dyno_dispatch_push (d, d->bindings[b].push_offset, &address, sizeof address);
        }
      dyno_command_dispatch (command, kernel, d->push, d->groups[0], d->groups[1], d->groups[2]);
      dyno_command_barrier (command);
    }
  dyno_command_timestamp (command, m->timer, 1);
  return dyno_command_end (command, error) ? g_steal_pointer (&command) : NULL;
}

/* The time is infinity where the product cannot be recorded. */
static gboolean
time_product (Meter *m, DynoLowering *lowering, guint max_runs, double best_us, double *time_us,
              GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (DynoCommand) command = record_product (m, lowering, &local);
  *time_us = INFINITY;
  if (local)
    g_propagate_error (error, g_steal_pointer (&local));
  else if (!command || time_command (m, command, max_runs, best_us, time_us, error))
    return TRUE;
  return FALSE;
}

/* Compiles all kernels at once, in threads, so that the device's clock does not fall between two
 * kernels.  A kernel that fails is reported when it is recorded. */
static void
compile (Meter *m, const Product *p)
{
  g_autoptr (GPtrArray) specs = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < p->lowerings->len; i++)
    {
      GPtrArray *dispatches = dyno_lowering_get_dispatches (g_ptr_array_index (p->lowerings, i));
      for (guint d = 0; d < dispatches->len; d++)
        g_ptr_array_add (specs, &((DynoDispatch *) dispatches->pdata[d])->spec);
    }
  if (!dyno_kernel_get_many (m->device, (const DynoKernelSpec *const *) specs->pdata, specs->len,
                             NULL, NULL, NULL, NULL, &error))
    g_info ("not all kernels of the ceilings compile: %s", error->message);
}

/* The time of the first kernel that runs; infinity: none does. */
static gboolean
try_side (Meter *m, gboolean half, guint32 side, double *time_us, GError **error)
{
  g_auto (Product) p = { 0 };
  *time_us = INFINITY;
  if (!product_init (&p, dyno_device_get_info (m->device), half, side, error))
    return FALSE;
  for (guint i = 0; i < p.lowerings->len && isinf (*time_us); i++)
    if (!time_product (m, p.lowerings->pdata[i], 1, INFINITY, time_us, error))
      return FALSE;
  return TRUE;
}

/* Finds the largest side whose run is not too long.  The time of a larger side is estimated from
 * the last run, and that side is then run itself, since the launch dominates the time of small
 * products. */
static gboolean
find_side (Meter *m, gboolean half, guint32 *side, GError **error)
{
  guint64 element = half ? 2 : 4, size = dyno_buffer_get_size (m->target);
  guint32 tried = 0;
  for (*side = SIDE_FIRST; tried != *side;)
    {
      double time_us;
      tried = *side;
      if (!try_side (m, half, tried, &time_us, error))
        return FALSE;
      /* Twice the side means eight times the work. */
      for (;
           *side < SIDE_MOST && 4 * element * *side * *side <= size && 8 * time_us <= m->longest_us;
           time_us *= 8)
        *side *= 2;
    }
  g_debug ("products are of side %u", *side);
  return TRUE;
}

/* The best rate of a precision and its kernel's label; 0: no kernel for it. */
static gboolean
measure_product (Meter *m, gboolean half, double *flops_per_s, char label[DYNO_CEILINGS_LABEL],
                 GError **error)
{
  g_auto (Product) p = { 0 };
  guint32 side;
  double best_us = INFINITY, time_us;
  char name[DYNO_VARIANT_LABEL];
  *flops_per_s = 0;
  *label = '\0';
  if ((half && !fill_source (m, half, error)) || !find_side (m, half, &side, error)
      || !product_init (&p, dyno_device_get_info (m->device), half, side, error))
    return FALSE;
  if (!m->software)
    compile (m, &p);
  gint64 deadline_us = g_get_monotonic_time () + (m->software ? PRODUCTS_SOFTWARE_US : PRODUCTS_US);
  for (guint i = 0;
       i < p.lowerings->len && (isinf (best_us) || g_get_monotonic_time () < deadline_us); i++)
    {
      if (!time_product (m, p.lowerings->pdata[i], MAX_RUNS, best_us, &time_us, error))
        return FALSE;
      dyno_variant_print (&g_array_index (p.variants, DynoVariant, i), name);
      g_debug ("product of %u, %s: %.1f us", side, name, time_us);
      if (time_us >= best_us)
        continue;
      best_us = time_us;
      g_strlcpy (label, name, DYNO_CEILINGS_LABEL);
    }
  *flops_per_s = isinf (best_us) ? 0 : (double) side * side * side / (best_us * 1e-6);
  return TRUE;
}

gboolean
dyno_ceilings_measure (DynoDevice *device, DynoCeilings *ceilings, GError **error)
{
  const DynoDeviceInfo *info = dyno_device_get_info (device);
  g_auto (Meter) m = { 0 };
  *ceilings = (DynoCeilings){ 0 };
  return meter_init (&m, device, error) && measure_copy (&m, ceilings, error)
         && measure_fma (&m, ceilings, error)
         && measure_product (&m, FALSE, &ceilings->single_flops_per_s, ceilings->single_kernel,
                             error)
         && (info->matrix == DYNO_MATRIX_NONE || !info->fp16
             || measure_product (&m, TRUE, &ceilings->matrix_flops_per_s, ceilings->matrix_kernel,
                                 error));
}
