/* SPDX-License-Identifier: MIT */
/* The engine of a session: from a job and a data set to programs that can be submitted.
 *
 * Invariant: exactly the memory of the plan is allocated; nothing is allocated, compiled or
 * recorded after dyno_engine_build, except for the loader of the test part, which takes the memory
 * of the validation's loader at the end of a run. */
#include "engine.h"
#include "autotune.h"
#include "classrows.h"
#include "classweights.h"
#include "intl.h"
#include "metrictable.h"
#include "microbatch.h"
#include "parts.h"
#include "targets.h"
#include "vet.h"
#include "weightsfile.h"
#include "weightsinfo.h"
#include <inttypes.h>
#include <string.h>

/* The first loss scale with AMP: lower than PyTorch's 65536, which costs the first steps of most
 * nets an overflow. */
#define FIRST_LOSS_SCALE 4096.0f

static void G_GNUC_PRINTF (2, 3) warn (const DynoEngineWatch *watch, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  watch->warning (text, watch->data);
}

/* --- opening ---------------------------------------------------------------------------------- */

static DynoDevice *
open_device (DynoDevice *device, const DynoJob *job, GError **error)
{
  guint64 budget_bytes = (guint64) job->settings.vram_budget;
  DynoDeviceParams params = { .index = job->device, .budget_bytes = budget_bytes };

  if (!device)
    return dyno_device_open (&params, error);
  return dyno_device_set_budget (device, budget_bytes, error) ? dyno_device_ref (device) : NULL;
}

static void
take_part (DynoEnginePart *part, GArray *indices)
{
  part->n_samples = indices ? indices->len : 0;
  part->indices = indices ? g_array_ref (indices) : NULL;
}

static void
take_samples (DynoEngine *engine, const DynoDatasetParts *parts)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (engine->dataset);

  take_part (&engine->training, parts->train);
  take_part (&engine->validation, parts->validation);
  take_part (&engine->test, parts->test);
  if (!parts->train && info->schema.generated)
    engine->training.n_samples = info->n_samples;
}

static void
warn_of_changes (const DynoEngine *engine, const DynoJob *asked, const DynoEngineWatch *watch)
{
  const DynoSettings *now = &engine->job->settings;
  const DynoOptimizerInfo *optimizer = dyno_optimizer_get_info ((DynoOptimizer) now->optimizer);
  g_autofree char *smaller = dyno_job_describe_batch (asked, engine->training.n_samples);

  if (now->amp != asked->settings.amp)
    warn (watch, "%s has no fp16: training in fp32 instead of AMP",
          dyno_device_get_info (engine->device)->name);
  if (smaller)
    warn (watch, "%s", smaller);
  if (optimizer->high_lr > 0 && now->lr > optimizer->high_lr)
    warn (watch, "A learning rate of %g is high for %s; %g is usual", now->lr, optimizer->title,
          optimizer->usual_lr);
}

static void
warn_of_data (const DynoEngine *engine, const DynoEngineWatch *watch)
{
  g_auto (GStrv) notes = dyno_dataset_list_notes (engine->dataset, engine->training.indices,
                                                  engine->validation.indices);

  for (guint i = 0; notes[i]; i++)
    warn (watch, "%s", notes[i]);
}

/* The job with a micro-batch as its batch; the effective batch is unchanged. */
static DynoJob *
micro_job (const DynoEngine *engine)
{
  DynoJob *job = dyno_job_copy (engine->job);

  job->settings.batch_size /= engine->parts;
  job->settings.accumulate *= engine->parts;
  return job;
}

static DynoPartCounts
count_parts (const DynoEngine *engine)
{
  return (DynoPartCounts){ engine->training.n_samples, engine->validation.n_samples,
                           engine->test.n_samples };
}

static gboolean
plan (DynoEngine *engine, GError **error)
{
  g_autoptr (DynoJob) micro = micro_job (engine);
  DynoPartCounts counts = count_parts (engine);

  if (!dyno_job_plan_parts (micro, dyno_dataset_get_info (engine->dataset),
                            dyno_device_get_info (engine->device), engine->choices, &counts,
                            &engine->plan, error))
    return FALSE;
  engine->plan.steps_per_epoch =
      dyno_job_count_steps (&engine->job->settings, engine->training.n_samples, engine->job->ranks);
  return TRUE;
}

static DynoEngine *
open_parts (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
            const DynoDatasetParts *parts, const DynoEngineWatch *watch, GError **error)
{
  g_autoptr (DynoEngine) engine = g_new0 (DynoEngine, 1);

  engine->parts = 1;
  engine->dataset = dyno_dataset_ref (dataset);
  engine->device = open_device (device, job, error);
  if (!engine->device)
    return NULL;
  take_samples (engine, parts);
  if (engine->training.n_samples < MAX (job->ranks, 1))
    {
      g_set_error (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DATA,
                   engine->training.n_samples == 0
                       ? _ ("“%s” has no samples to train on")
                       : _ ("“%s” has fewer samples to train on than there are ranks"),
                   dyno_dataset_get_info (dataset)->name);
      return NULL;
    }
  engine->job =
      dyno_job_adapt (job, dyno_device_get_info (engine->device), engine->training.n_samples);
  warn_of_changes (engine, job, watch);
  warn_of_data (engine, watch);
  if (!plan (engine, error))
    return NULL;
  return g_steal_pointer (&engine);
}

DynoEngine *
dyno_engine_open (DynoDevice *device, const DynoJob *job, DynoDataset *dataset, GArray *training,
                  GArray *validation, const DynoEngineWatch *watch, GError **error)
{
  DynoDatasetParts parts = { .train = training, .validation = validation };

  return open_parts (device, job, dataset, &parts, watch, error);
}

DynoEngine *
dyno_engine_open_split (DynoDevice *device, const DynoJob *job, DynoDataset *dataset,
                        const DynoEngineWatch *watch, GError **error)
{
  g_auto (DynoDatasetParts) parts = { 0 };

  if (!dyno_dataset_get_info (dataset)->schema.generated)
    dyno_settings_divide (&job->settings, dataset, &parts);
  return open_parts (device, job, dataset, &parts, watch, error);
}

typedef struct {
  const DynoEngineWatch *watch;
  const char *what;
} Progress;

static void
on_progress (guint done, guint total, gpointer data)
{
  const Progress *progress = data;

  progress->watch->progress (progress->what, done, total, progress->watch->data);
}

static void
on_refused (const char *variant, const char *why, gpointer data)
{
  const Progress *progress = data;

  warn (progress->watch, _ ("Kernel %s is not used here: %s"), variant, why);
}

/* Time limit of all measurements of a run: the most important kernels come first, and a start may
 * not take long. */
#define AUTOTUNE_SECONDS 5.0

gboolean
dyno_engine_tunes (const DynoSettings *settings, const DynoDeviceInfo *info)
{
  return settings->autotune && !settings->deterministic && info->type != DYNO_DEVICE_TYPE_SOFTWARE;
}

DynoBuild *
dyno_engine_new_build (DynoEngine *engine, DynoMode mode, GError **error)
{
  g_autoptr (DynoJob) micro = micro_job (engine);
  DynoNetworkParams params;

  return dyno_job_get_network (micro, dyno_dataset_get_info (engine->dataset), mode, &params, error)
             ? dyno_build_new (&params, error)
             : NULL;
}

/* Measures the kernels that one network still needs, until the deadline; kernels that were not
 * measured keep their likely variants, now and at the next start. */
static gboolean
tune_network (DynoEngine *engine, DynoMode mode, gint64 deadline_us, Progress *progress,
              GCancellable *cancellable, GError **error)
{
  DynoVetWatch watch = { on_refused, NULL, progress };
  double seconds = (double) (deadline_us - g_get_monotonic_time ()) / G_USEC_PER_SEC;
  g_autoptr (DynoBuild) build = dyno_engine_new_build (engine, mode, error);

  return build
         && dyno_build_tune (build, engine->device, engine->choices, &watch, MAX (seconds, 1e-3),
                             on_progress, progress, cancellable, error)
         && dyno_autotune_settle (engine->device, dyno_build_get_graph (build), engine->choices,
                                  error);
}

gboolean
dyno_engine_autotune (DynoEngine *engine, const DynoEngineWatch *watch, GCancellable *cancellable,
                      GError **error)
{
  const DynoSettings *s = &engine->job->settings;
  const char *key = dyno_device_get_key (engine->device);
  g_autoptr (GError) problem = NULL;
  Progress progress = { watch, "autotune" };
  gint64 deadline_us = g_get_monotonic_time () + (gint64) (AUTOTUNE_SECONDS * G_USEC_PER_SEC);

  engine->choices = dyno_choices_load (key);
  if (!dyno_engine_tunes (s, dyno_device_get_info (engine->device)))
    {
      dyno_choices_go_by_rule (engine->choices);
      return !dyno_choices_decide (engine->choices) || plan (engine, error);
    }
  if (!tune_network (engine, DYNO_MODE_TRAIN, deadline_us, &progress, cancellable, &problem)
      || (engine->validation.n_samples > 0
          && !tune_network (engine, DYNO_MODE_EVALUATE, deadline_us, &progress, cancellable,
                            &problem)))
    {
      dyno_choices_save (engine->choices, key, NULL);
      if (!g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET)
          && !g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY))
        {
          g_propagate_error (error, g_steal_pointer (&problem));
          return FALSE;
        }
      warn (watch, "Kernels were not all measured, for lack of device memory: %s",
            problem->message);
      g_clear_error (&problem);
    }
  if (!dyno_choices_save (engine->choices, key, &problem))
    warn (watch, "The choice of the measured kernels was not saved: %s", problem->message);
  return plan (engine, error);
}

/* --- building --------------------------------------------------------------------------------- */

/* Kernels are compiled here, since the memory depends on which variants the device can run. */
static gboolean
plan_part (DynoEngine *engine, DynoEnginePart *part, Progress *progress, GCancellable *cancellable,
           GError **error)
{
  DynoVetWatch watch = { on_refused, on_progress, progress };
  DynoBuildParams params = { .info = dyno_device_get_info (engine->device),
                             .choices = engine->choices,
                             .n_slots = DYNO_PIPE_SLOTS,
                             .device = engine->device,
                             .watch = &watch,
                             .cancellable = cancellable,
                             .bucket_bytes = (guint64) engine->job->settings.exchange_bucket,
                             .flags = engine->comm ? DYNO_PLAN_SHARED : DYNO_PLAN_DEFAULT };

  return dyno_build_plan (part->build, &params, error);
}

/* Plans again where variants were refused; n_before: number of refused variants before. */
static gboolean
check_plan (DynoEngine *engine, guint n_before, GError **error)
{
  g_autofree char *advice = NULL;

  if (dyno_choices_count_refusals (engine->choices) == n_before)
    return TRUE;
  if (!plan (engine, error))
    return FALSE;
  advice = dyno_job_plan_advice (engine->job, &engine->plan);
  if (advice)
    g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT, advice);
  return advice == NULL;
}

static gboolean
build_programs (DynoEngine *engine, const DynoEngineWatch *watch, GCancellable *cancellable,
                GError **error)
{
  Progress progress = { watch, "compile" };
  DynoBuild *builds[2];
  guint n_refused = dyno_choices_count_refusals (engine->choices), n = 1;

  engine->training.build = dyno_engine_new_build (engine, DYNO_MODE_TRAIN, error);
  if (!engine->training.build)
    return FALSE;
  if (!engine->job->weights_in && !engine->job->resume)
    engine->start = dyno_start_values_new (dyno_engine_get_graph (engine),
                                           (guint64) engine->job->settings.seed);
  if (!plan_part (engine, &engine->training, &progress, cancellable, error))
    return FALSE;
  builds[0] = engine->training.build;
  if (engine->validation.n_samples + engine->test.n_samples > 0)
    {
      builds[n++] = engine->validation.build =
          dyno_engine_new_build (engine, DYNO_MODE_EVALUATE, error);
      if (!engine->validation.build
          || !plan_part (engine, &engine->validation, &progress, cancellable, error))
        return FALSE;
    }
  if (!check_plan (engine, n_refused, error)
      || !dyno_build_allocate (engine->device, builds, n, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!dyno_build_record (builds[i], engine->device,
                            engine->comm && i == 0 ? DYNO_COMMANDS_EXCHANGED : 0, cancellable,
                            error))
      return FALSE;
  return TRUE;
}

static DynoUploader *
make_uploader (DynoEngine *engine, DynoEnginePart *part, GError **error)
{
  const DynoDatasetInfo *info = dyno_dataset_get_info (engine->dataset);
  DynoLoaderParams params;

  if (!dyno_job_get_loader_params (engine->job, info, part == &engine->training, &params, error))
    return NULL;
  params.batch /= engine->parts;
  params.turn = part == &engine->training ? engine->parts : 1;
  if (part == &engine->test)
    params.ranks = params.rank = 0;
  return dyno_uploader_new (engine->device, dyno_build_get_memory (part->build),
                            dyno_build_get_graph (part->build), engine->dataset, part->indices,
                            &params, DYNO_PIPE_SLOTS, engine->job->settings.pinned, error);
}

/* Another program may have taken the memory that the plan counted on: saving then waits for the
 * device, as it does where the plan has no room for a snapshot. */
static gboolean
build_snapshot (DynoEngine *engine, GError **error)
{
  g_autoptr (GError) problem = NULL;

  if (!engine->plan.plan.snapshot)
    return TRUE;
  engine->snapshot = dyno_snapshot_new (dyno_engine_get_program (engine), &problem);
  if (engine->snapshot)
    return TRUE;
  if (!g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY)
      && !g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET))
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  g_info ("Weights for checkpoints are copied from the device between steps: %s", problem->message);
  dyno_job_plan_drop_snapshot (&engine->plan);
  return TRUE;
}

static gboolean
build_pipe (DynoEngine *engine, DynoEnginePart *part, GError **error)
{
  if (!part->build || part->n_samples == 0)
    return TRUE;
  if (!dyno_dataset_get_info (engine->dataset)->schema.generated && !engine->resident
      && !(part->uploader = make_uploader (engine, part, error)))
    return FALSE;
  part->pipe = dyno_pipe_new (engine->device, dyno_build_get_program (part->build), part->uploader,
                              (guint32) (engine->job->settings.batch_size / engine->parts),
                              engine->slot_use);
  return TRUE;
}

static gboolean
build_exchange (DynoEngine *engine, GError **error)
{
  engine->exchange =
      dyno_exchange_new (dyno_engine_get_program (engine), &engine->plan.plan, engine->comm,
                         dyno_job_exchanges_halves (engine->job), error);
  if (!engine->exchange)
    return FALSE;
  dyno_pipe_set_exchange (engine->training.pipe, engine->exchange);
  dyno_stepper_set_comm (engine->stepper, engine->comm, engine->parts);
  return TRUE;
}

/* To be called once the validation has its pipe. */
static gboolean
build_figures (DynoEngine *engine, GError **error)
{
  const char *best_metric = g_quark_to_string (engine->job->settings.best_metric);
  DynoBuild *build = engine->validation.build;
  DynoGraph *graph = build ? dyno_build_get_graph (build) : NULL;

  if (!graph
      || !dyno_metric_asks_predictions (best_metric, dyno_network_get_validation_metrics (graph)))
    return TRUE;
  engine->readback = dyno_readback_new (engine->device, build, error);
  if (!engine->readback)
    return FALSE;
  engine->figures =
      dyno_figures_new (graph, best_metric, dyno_engine_get_graph (engine), engine->readback);
  if (engine->validation.pipe)
    dyno_pipe_set_readback (engine->validation.pipe, engine->readback);
  return TRUE;
}

/* To be called once the validation has its pipe. */
static gboolean
build_watch (DynoEngine *engine, GError **error)
{
  DynoBuild *build = engine->validation.build;

  if (!build || engine->validation.n_samples == 0 || !dyno_job_watches_masks (engine->job)
      || !dyno_network_get_watched (dyno_build_get_graph (build)))
    return TRUE;
  engine->watch =
      dyno_mask_watch_new (engine->device, build, engine->dataset, DYNO_WATCHED_SIDE, error);
  return engine->watch != NULL;
}

static gboolean
build_pipes (DynoEngine *engine, GError **error)
{
  if (!build_pipe (engine, &engine->training, error)
      || !build_pipe (engine, &engine->validation, error) || !build_figures (engine, error)
      || !build_watch (engine, error))
    return FALSE;
  engine->stepper = dyno_stepper_new (engine->training.pipe);
  return !engine->comm || build_exchange (engine, error);
}

gboolean
dyno_engine_turn_to_test (DynoEngine *engine, GError **error)
{
  g_return_val_if_fail (engine->test.n_samples > 0 && !engine->test.build, FALSE);
  g_clear_pointer (&engine->validation.pipe, dyno_pipe_free);
  g_clear_pointer (&engine->validation.uploader, dyno_uploader_free);
  engine->test.build = g_steal_pointer (&engine->validation.build);
  if (!build_pipe (engine, &engine->test, error))
    return FALSE;
  if (engine->readback)
    dyno_pipe_set_readback (engine->test.pipe, engine->readback);
  return TRUE;
}

/* --- memory that is refused ------------------------------------------------------------------- */

static gboolean
is_memory (const GError *problem)
{
  return g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OUT_OF_DEVICE_MEMORY)
         || g_error_matches (problem, DYNO_GPU_ERROR, DYNO_GPU_ERROR_OVER_BUDGET);
}

/* The largest batch that fits into the memory that the device has left now; 0: none.  Where the
 * driver does not report that memory, or reports as much as the refused plan needs, half of the
 * plan is assumed. */
static gint64
guess_fitting (DynoEngine *engine)
{
  guint64 used, available, allocated = dyno_device_get_allocated_total (engine->device);
  g_autoptr (DynoJob) smaller = micro_job (engine);
  DynoPartCounts counts = count_parts (engine);
  DynoJobPlan fitting;

  if (!dyno_device_query_memory (engine->device, &used, &available) || available == 0
      || available >= engine->plan.plan.total_bytes)
    available = engine->plan.plan.total_bytes / 2;
  smaller->settings.vram_budget = (gint64) (available + allocated);
  return dyno_job_plan_parts (smaller, dyno_dataset_get_info (engine->dataset),
                              dyno_device_get_info (engine->device), engine->choices, &counts,
                              &fitting, NULL)
             ? fitting.fitting_batch
             : 0;
}

static void
append_advice (GError *error, const char *advice)
{
  char *whole = g_strconcat (error->message, advice, NULL);

  g_free (error->message);
  error->message = whole;
}

/* Adds to the error the batch that would have fitted, where the device refused memory that the plan
 * counted on. */
static void
explain_memory (DynoEngine *engine, GError **error)
{
  gint64 batch = engine->job->settings.batch_size / engine->parts, fitting, effective;
  g_autofree char *advice = NULL;
  DynoMicroBatch micro;

  if (!error || !is_memory (*error))
    return;
  fitting = guess_fitting (engine);
  if (fitting < 1 || fitting >= batch)
    return;
  effective = engine->job->settings.batch_size * engine->job->settings.accumulate;
  micro = dyno_micro_batch_of (effective, fitting);
  advice = g_strdup_printf (_ (" (other programs may hold device memory; batch_size %" PRId64
                               " with accumulate %" PRId64
                               " should fit and gives an effective batch of %" PRId64 ")"),
                            micro.size, micro.count, micro.size * micro.count);
  append_advice (*error, advice);
}

/* Adds advice to a kernel's error; in fp32 there is no alternative. */
static void
explain_kernel (DynoEngine *engine, GError *error)
{
  if (g_error_matches (error, DYNO_GPU_ERROR, DYNO_GPU_ERROR_SHADER) && engine->job->settings.amp)
    append_advice (error, _ (", or train with amp=false"));
}

static gboolean
has_running_statistics (DynoEngine *engine)
{
  return engine->training.build && dyno_job_build_has_statistics (engine->training.build);
}

guint
dyno_engine_next_parts (DynoEngine *engine, const GError *problem)
{
  gint64 batch = engine->job->settings.batch_size, least, most, fitting;

  if (!is_memory (problem) || !engine->job->settings.memory_shrink)
    return 0;
  least = has_running_statistics (engine) ? 2 : 1;
  most = batch / engine->parts / 2;
  fitting = guess_fitting (engine);
  if (fitting > 0)
    most = MIN (most, MAX (fitting, least));
  return dyno_micro_batch_divide (batch, least, most);
}

guint64
dyno_engine_count_micro (const DynoEngine *engine)
{
  return (guint64) engine->job->settings.accumulate * engine->parts;
}

gboolean
dyno_engine_set_parts (DynoEngine *engine, guint parts, const GError *problem, GError **error)
{
  engine->parts = parts;
  if (problem && !engine->shrunk_for)
    engine->shrunk_for = g_strdup (problem->message);
  return plan (engine, error);
}

gboolean
dyno_engine_shrink (DynoEngine *engine, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *excess = NULL;

  if (engine->plan.parts < 2)
    return TRUE;
  excess = dyno_job_plan_excess (&engine->plan);
  problem = g_error_new_literal (DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT, excess);
  return dyno_engine_set_parts (engine, engine->parts * engine->plan.parts, problem, error);
}

static void
report_parts (DynoEngine *engine, const DynoEngineWatch *watch)
{
  gint64 batch = engine->job->settings.batch_size;

  if (!engine->shrunk_for)
    return;
  warn (watch,
        _ ("%s; each batch of %" PRId64 " goes through the device in %u micro-batches of %" PRId64
           " from now on, whose gradients are added up: the effective batch stays%s"),
        engine->shrunk_for, batch, engine->parts, batch / engine->parts,
        has_running_statistics (engine)
            ? _ (", but batch norm takes its statistics over a micro-batch")
            : "");
  g_clear_pointer (&engine->shrunk_for, g_free);
}

/* Frees what dyno_engine_build made, step by step for all parts, since their programs share
 * memory. */
static void
clear_build (DynoEngine *engine)
{
  DynoEnginePart *parts[] = { &engine->training, &engine->validation, &engine->test };

  g_clear_pointer (&engine->stepper, dyno_stepper_free);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_clear_pointer (&parts[i]->pipe, dyno_pipe_free);
  g_clear_pointer (&engine->figures, dyno_figures_free);
  g_clear_pointer (&engine->watch, dyno_mask_watch_free);
  g_clear_pointer (&engine->readback, dyno_readback_free);
  g_clear_pointer (&engine->exchange, dyno_exchange_free);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_clear_pointer (&parts[i]->uploader, dyno_uploader_free);
  g_clear_pointer (&engine->snapshot, dyno_snapshot_free);
  g_clear_pointer (&engine->start, dyno_start_values_free);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    g_clear_pointer (&parts[i]->build, dyno_build_free);
  memset (engine->slot_use, 0, sizeof engine->slot_use);
}

gboolean
dyno_engine_weigh_classes (DynoEngine *engine, DynoProgram *program, GError **error)
{
  GQuark given = engine->job->settings.loss_weights;
  g_autofree float *weights = NULL;

  if (dyno_network_get_n_weighted (dyno_engine_get_graph (engine)) == 0)
    return TRUE;
  weights = given ? dyno_class_weights_parse (g_quark_to_string (given),
                                              dyno_dataset_get_info (engine->dataset), error)
                  : dyno_targets_weigh_classes (engine->dataset, engine->training.indices);
  return weights && dyno_program_write_class_weights (program, weights, error);
}

/* Lets the ranks write into each other's device memory; where this rank has planned no memory for
 * its inbox, no rank does. */
static gboolean
use_peers (DynoEngine *engine, GError **error)
{
  DynoPlan *plan = &engine->plan.plan;
  gboolean used;

  if (!dyno_exchange_use_peers (engine->exchange, plan,
                                plan->inbox_bytes > 0 ? NULL : "no memory is planned for them",
                                &used, error))
    return FALSE;
  if (!used)
    dyno_plan_set_inbox (plan, 0);
  return TRUE;
}

gboolean
dyno_engine_build (DynoEngine *engine, const DynoEngineWatch *watch, GCancellable *cancellable,
                   GError **error)
{
  if (!engine->choices)
    engine->choices = dyno_choices_new ();
  if (!engine->plan.fits)
    {
      g_autofree char *advice = dyno_job_plan_advice (engine->job, &engine->plan);
      g_set_error_literal (error, DYNO_TRAIN_ERROR, DYNO_TRAIN_ERROR_DOES_NOT_FIT, advice);
      return FALSE;
    }
  for (;;)
    {
      g_autoptr (GError) problem = NULL;
      guint parts;

      if (build_programs (engine, watch, cancellable, &problem) && build_pipes (engine, &problem)
          && build_snapshot (engine, &problem))
        break;
      parts = dyno_engine_next_parts (engine, problem);
      if (parts == 0)
        {
          explain_memory (engine, &problem);
          explain_kernel (engine, problem);
          g_propagate_error (error, g_steal_pointer (&problem));
          return FALSE;
        }
      clear_build (engine);
      if (!dyno_engine_set_parts (engine, parts, problem, error))
        return FALSE;
    }
  if (engine->plan.plan.halves && !dyno_exchange_convert_on_device (engine->exchange))
    dyno_plan_set_halves (&engine->plan.plan, FALSE);
  if (engine->exchange && !use_peers (engine, error))
    return FALSE;
  report_parts (engine, watch);
  return dyno_engine_weigh_classes (engine, dyno_engine_get_program (engine), error);
}

/* --- start values ----------------------------------------------------------------------------- */

/* Warns where a weights file states no normalisation, or another than this run's. */
static void
warn_of_normalisation (DynoEngine *engine, const DynoWeightsInfo *info, const char *shown,
                       const DynoEngineWatch *watch)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (engine->dataset);
  const DynoBatchField *input;
  DynoNetworkParams network;
  g_autofree char *theirs = NULL, *ours = NULL;

  if (data->schema.generated
      || !dyno_job_get_network (engine->job, data, DYNO_MODE_TRAIN, &network, NULL))
    return;
  input = dyno_schema_find_role (&network.schema, DYNO_FIELD_INPUT);
  ours = dyno_normalisation_describe (input);
  if (!info->has_input)
    {
      warn (watch, _ ("“%s” does not state how its input is normalised; it is fed %s"), shown,
            ours);
      return;
    }
  theirs = dyno_normalisation_describe (&info->input);
  if (strcmp (theirs, ours) != 0)
    warn (watch, _ ("The weights of “%s” were made for %s; this run feeds %s%s"), shown, theirs,
          ours,
          info->input.element == input->element ? _ ("; data.normalise=weights feeds theirs") : "");
}

/* For each class of the data set its row in the file's last layer, where both have names and the
 * data set's are in another order or match only in part; else NULL. */
static guint32 *
match_classes (DynoEngine *engine, DynoSafetensors *file, const DynoWeightsInfo *info)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (engine->dataset);
  guint64 n_there = dyno_weights_count_outputs (dyno_engine_get_graph (engine), file);

  if (!info->class_names || !data->class_names || info->is_values
      || dyno_schema_count_values (&data->schema) > 0 || n_there != info->n_outputs
      || g_strv_length (info->class_names) != n_there
      || g_strv_length (data->class_names) != data->n_classes)
    return NULL;
  return dyno_class_rows_match ((const char *const *) info->class_names,
                                (const char *const *) data->class_names);
}

/* Warns of the first class whose name differs from that of its row in the kept last layer. */
static void
warn_of_classes (DynoEngine *engine, const DynoWeightsInfo *info, const char *shown,
                 const DynoEngineWatch *watch)
{
  const DynoDatasetInfo *data = dyno_dataset_get_info (engine->dataset);

  if (!info->class_names || !data->class_names || info->n_outputs != data->n_classes)
    return;
  for (guint i = 0; i < info->n_outputs; i++)
    if (g_strcmp0 (info->class_names[i], data->class_names[i]) != 0)
      {
        warn (watch,
              _ ("The last layer of “%s” is kept, but its classes are others: class %u is “%s” "
                 "there and “%s” in this data set"),
              shown, i, info->class_names[i], data->class_names[i]);
        return;
      }
}

static gboolean
load_weights (DynoEngine *engine, const DynoEngineWatch *watch, guint64 *batches_tracked,
              GError **error)
{
  const char *path = engine->job->weights_in;
  DynoGraph *graph = dyno_engine_get_graph (engine);
  GPtrArray *parameters = dyno_graph_get_parameters (graph);
  g_autofree char *shown = g_filename_display_name (path);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (DynoSafetensors) file = dyno_safetensors_open (path, 0, error);
  g_autoptr (DynoWeightsInfo) info = file ? dyno_weights_info_read (file, error) : NULL;
  g_autoptr (DynoWeights) weights = info ? dyno_weights_new (graph, error) : NULL;
  gboolean head_is_new = FALSE;
  g_autofree guint32 *rows = NULL;

  if (!weights)
    return FALSE;
  dyno_weights_info_complete (info, path, notes);
  for (guint i = 0; i < parameters->len; i++)
    dyno_parameter_initialise (g_ptr_array_index (parameters, i),
                               (guint64) engine->job->settings.seed, weights->values[i]);
  rows = match_classes (engine, file, info);
  if (!dyno_weights_load (weights, graph, file, shown,
                          rows ? DYNO_WEIGHTS_HEAD_LEFT_OUT : DYNO_WEIGHTS_HEAD_MAY_DIFFER,
                          &head_is_new, notes, error)
      || (rows && !dyno_weights_load_rows (weights, graph, file, shown, rows, error)))
    return FALSE;
  if (rows)
    g_ptr_array_add (notes,
                     dyno_class_rows_describe (
                         shown, (const char *const *) info->class_names,
                         (const char *const *) dyno_dataset_get_info (engine->dataset)->class_names,
                         rows));
  for (guint i = 0; i < notes->len; i++)
    warn (watch, "%s", (const char *) notes->pdata[i]);
  warn_of_normalisation (engine, info, shown, watch);
  if (!head_is_new)
    {
      warn_of_classes (engine, info, shown, watch);
      dyno_targets_unfold (weights, graph);
    }
  *batches_tracked = weights->batches_tracked;
  return dyno_program_write_parameters (dyno_engine_get_program (engine), DYNO_SPACE_MASTER,
                                        (const float *const *) weights->values, error);
}

static gboolean
write_target_scale (DynoEngine *engine, GError **error)
{
  g_autofree float *scale = NULL;

  if (dyno_network_get_n_scaled (dyno_engine_get_graph (engine)) == 0)
    return TRUE;
  scale = dyno_targets_measure (engine->dataset, engine->training.indices);
  g_return_val_if_fail (scale, FALSE);
  return dyno_program_write_target_scale (dyno_engine_get_program (engine), scale, error);
}

gboolean
dyno_engine_initialise (DynoEngine *engine, const DynoEngineWatch *watch, guint64 *batches_tracked,
                        GError **error)
{
  gboolean amp = engine->job->settings.amp;
  struct DynoScalerState scaler = { .scale = amp ? FIRST_LOSS_SCALE : 1.0f };

  *batches_tracked = 0;
  if (!dyno_program_write_tensor (dyno_engine_get_program (engine),
                                  dyno_graph_scaler (dyno_engine_get_graph (engine)), 0, &scaler,
                                  sizeof scaler, error)
      || !write_target_scale (engine, error))
    return FALSE;
  if (engine->job->weights_in)
    return load_weights (engine, watch, batches_tracked, error);
  if (!engine->start)
    return dyno_program_initialise (dyno_engine_get_program (engine),
                                    (guint64) engine->job->settings.seed, error);
  if (!dyno_program_write_start (dyno_engine_get_program (engine), engine->start, error))
    return FALSE;
  g_clear_pointer (&engine->start, dyno_start_values_free);
  return TRUE;
}

/* --- live changes, end ------------------------------------------------------------------------ */

void
dyno_engine_renew_loaders (DynoEngine *engine)
{
  DynoSettings *s = &engine->job->settings;
  DynoUploader *uploaders[] = { engine->training.uploader, engine->validation.uploader };

  if (!engine->training.uploader)
    return;
  s->prefetch =
      MIN (s->prefetch, (gint64) dyno_uploader_get_max_prefetch (engine->training.uploader));
  for (guint i = 0; i < G_N_ELEMENTS (uploaders) && uploaders[i]; i++)
    {
      DynoLoader *loader = dyno_uploader_get_loader (uploaders[i]);

      dyno_loader_set_workers (loader, dyno_settings_count_workers (s));
      dyno_loader_set_prefetch (loader, (guint) s->prefetch);
    }
}

DynoGraph *
dyno_engine_get_graph (DynoEngine *engine)
{
  return dyno_build_get_graph (engine->training.build);
}

DynoProgram *
dyno_engine_get_program (DynoEngine *engine)
{
  return dyno_build_get_program (engine->training.build);
}

void
dyno_engine_free (DynoEngine *engine)
{
  if (!engine)
    return;
  clear_build (engine);
  dyno_choices_free (engine->choices);
  g_free (engine->shrunk_for);
  g_clear_pointer (&engine->training.indices, g_array_unref);
  g_clear_pointer (&engine->validation.indices, g_array_unref);
  g_clear_pointer (&engine->test.indices, g_array_unref);
  dyno_job_unref (engine->job);
  dyno_device_unref (engine->device);
  dyno_dataset_unref (engine->dataset);
  g_free (engine);
}
