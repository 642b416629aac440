/* SPDX-License-Identifier: MIT */
/* The needs of a job, computed from graph, lowering and memory plan of its two programs without a
 * device.
 *
 * Invariants: the plan given here is the one a session allocates; the needs of a network that was
 * planned are cached, since a window asks again after every change of a setting, also of one that
 * does not affect the network. */
#include "planjob.h"
#include "checked.h"
#include "microbatch.h"
#include "build.h"
#include "hash.h"
#include "intl.h"
#include "metrictable.h"
#include "snapshot.h"
#include "stepmemory.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MOST_BATCH      65536
#define MOST_TRIES      40
#define MOST_REMEMBERED 512

typedef struct {
  DynoPlan plan;
  guint64 n_parameters, n_trained;
  double flops;
  gboolean has_statistics; /* running statistics, of batch norm */
  /* the metrics that a validation computes from predictions, and the bytes of a slot's predictions
   * and of its watched masks */
  const DynoMetricInfo *metrics;
  guint64 predictions_bytes, watched_bytes;
} Need;

/* --- one network ------------------------------------------------------------------------------ */

/* Two networks are equal where all bytes of their parameters are equal, so that no member can be
 * forgotten.  Different padding causes a cache miss, never a wrong hit. */
typedef struct {
  DynoNetworkParams params; /* the model is interned, like the names in the schema */
  DynoDeviceInfo device;
} NeedKey;

static GMutex lock;
static GHashTable *remembered; /* NeedKey -> Need */

static guint
key_hash (gconstpointer key)
{
  return (guint) dyno_hash_bytes (DYNO_HASH_START, key, sizeof (NeedKey));
}

static gboolean
key_equal (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (NeedKey)) == 0;
}

static gboolean
recall (const NeedKey *key, Need *need)
{
  const Need *known;

  g_mutex_lock (&lock);
  known = remembered ? g_hash_table_lookup (remembered, key) : NULL;
  if (known)
    *need = *known;
  g_mutex_unlock (&lock);
  return known != NULL;
}

static void
remember (const NeedKey *key, const Need *need)
{
  g_mutex_lock (&lock);
  if (!remembered)
    remembered = g_hash_table_new_full (key_hash, key_equal, g_free, g_free);
  if (g_hash_table_size (remembered) >= MOST_REMEMBERED)
    g_hash_table_remove_all (remembered);
  g_hash_table_replace (remembered, g_memdup2 (key, sizeof *key), g_memdup2 (need, sizeof *need));
  g_mutex_unlock (&lock);
}

gboolean
dyno_job_build_has_statistics (DynoBuild *build)
{
  GPtrArray *parameters = dyno_graph_get_parameters (dyno_build_get_graph (build));

  for (guint i = 0; i < parameters->len; i++)
    if (((const DynoParameter *) g_ptr_array_index (parameters, i))->is_state)
      return TRUE;
  return FALSE;
}

static gboolean
compute_need (const DynoNetworkParams *params, const DynoDeviceInfo *device, DynoChoices *choices,
              Need *need, GError **error)
{
  DynoBuildParams build_params = { .info = device, .choices = choices, .n_slots = DYNO_JOB_SLOTS };
  g_autoptr (DynoBuild) build = dyno_build_new (params, error);

  memset (need, 0, sizeof *need);
  if (!build || !dyno_build_plan (build, &build_params, error))
    return FALSE;
  need->plan = *dyno_build_get_plan (build);
  need->flops = dyno_build_count_flops (build);
  need->n_parameters = dyno_build_count_parameters (build, FALSE);
  need->n_trained = dyno_build_count_parameters (build, TRUE);
  need->has_statistics = dyno_job_build_has_statistics (build);
  need->metrics = dyno_network_get_validation_metrics (dyno_build_get_graph (build));
  if (params->mode == DYNO_MODE_EVALUATE)
    {
      need->predictions_bytes = dyno_predictions_slot_bytes (dyno_build_get_graph (build));
      need->watched_bytes = dyno_watched_slot_bytes (dyno_build_get_graph (build));
    }
  return TRUE;
}

static gboolean
get_need (const DynoNetworkParams *params, const DynoDeviceInfo *device, DynoChoices *choices,
          Need *need, GError **error)
{
  NeedKey key;

  if (choices && dyno_choices_decide (choices))
    return compute_need (params, device, choices, need, error);
  memset (&key, 0, sizeof key);
  memcpy (&key.params, params, sizeof key.params);
  key.params.model = g_intern_string (params->model);
  memcpy (&key.device, device, sizeof key.device);
  if (recall (&key, need))
    return TRUE;
  if (!compute_need (params, device, NULL, need, error))
    return FALSE;
  remember (&key, need);
  return TRUE;
}

/* --- the job ---------------------------------------------------------------------------------- */

gint64
dyno_job_get_batch (const DynoJob *job, guint64 n_train)
{
  guint64 most = n_train / MAX (job->ranks, 1), batch = (guint64) job->settings.batch_size;

  return (gint64) (most > 0 ? MIN (batch, most) : batch);
}

char *
dyno_job_describe_batch (const DynoJob *job, guint64 n_train)
{
  gint64 batch = dyno_job_get_batch (job, n_train);

  if (batch == job->settings.batch_size)
    return NULL;
  return job->ranks > 1 ? g_strdup_printf (
             ngettext ("The training part has only %" PRIu64
                       " sample for %u ranks: batch_size is reduced to %" PRId64,
                       "The training part has only %" PRIu64
                       " samples for %u ranks: batch_size is reduced to %" PRId64,
                       (gulong) n_train),
             n_train, job->ranks, batch)
                        : g_strdup_printf (ngettext ("The training part has only %" PRIu64
                                                     " sample: batch_size is reduced to %" PRId64,
                                                     "The training part has only %" PRIu64
                                                     " samples: batch_size is reduced to %" PRId64,
                                                     (gulong) n_train),
                                           n_train, batch);
}

DynoJob *
dyno_job_adapt (const DynoJob *job, const DynoDeviceInfo *device, guint64 n_train)
{
  DynoJob *adapted = dyno_job_copy (job);

  adapted->settings.batch_size = dyno_job_get_batch (job, n_train);
  if (!device->fp16)
    adapted->settings.amp = FALSE;
  return adapted;
}

guint64
dyno_job_count_steps (const DynoSettings *settings, guint64 n_train, guint ranks)
{
  guint64 batches = n_train / (guint64) settings->batch_size;

  return dyno_div_up (batches, (guint64) settings->accumulate * MAX (ranks, 1));
}

/* Plans both programs of an adapted job at a batch. */
static gboolean
need_of_job (const DynoJob *job, const DynoDatasetInfo *info, const DynoDeviceInfo *device,
             DynoChoices *choices, gboolean evaluation, guint32 batch, gboolean checkpointing,
             Need *need, GError **error)
{
  DynoNetworkParams params;
  Need other;

  if (!dyno_job_get_network (job, info, DYNO_MODE_TRAIN, &params, error))
    return FALSE;
  params.batch = batch;
  params.checkpointing = checkpointing;
  if (!get_need (&params, device, choices, need, error))
    return FALSE;
  if (!evaluation)
    return TRUE;
  if (!dyno_job_get_network (job, info, DYNO_MODE_EVALUATE, &params, error))
    return FALSE;
  params.batch = batch;
  if (!get_need (&params, device, choices, &other, error))
    return FALSE;
  dyno_plan_merge (&need->plan, &other.plan);
  if (dyno_metric_asks_predictions (g_quark_to_string (job->settings.best_metric), other.metrics))
    need->predictions_bytes = other.predictions_bytes;
  if (dyno_job_watches_masks (job))
    need->watched_bytes = other.watched_bytes;
  return TRUE;
}

typedef struct {
  const DynoJob *job;
  const DynoDatasetInfo *info;
  const DynoDeviceInfo *device;
  DynoChoices *choices;
  gboolean evaluation;
  guint64 limit_bytes;
} Search;

/* Bytes of the plan at a batch; G_MAXUINT64 where it cannot be planned, or needs larger buffers
 * than the device supports. */
static guint64
bytes_at (const Search *s, guint32 batch, gboolean evaluation)
{
  Need need;

  if (!need_of_job (s->job, s->info, s->device, s->choices, evaluation, batch,
                    s->job->settings.checkpointing, &need, NULL))
    return G_MAXUINT64;
  return dyno_plan_fits_buffers (&need.plan) ? need.plan.total_bytes : G_MAXUINT64;
}

/* TRUE: this plan fits the device. */
static gboolean
plan_fits (const Search *s, const DynoPlan *plan)
{
  return plan->total_bytes <= s->limit_bytes && dyno_plan_fits_buffers (plan);
}

/* The largest batch that fits.  Memory is nearly a straight line over the batch, so a line through
 * two known points guesses well; where the guesses fail repeatedly, the range is halved.  The
 * evaluation program, which hardly ever needs more memory, is checked last. */
static gint64
find_fitting (const Search *s, guint32 batch, const DynoPlan *plan)
{
  guint64 fixed = plan->kind_bytes[DYNO_MEMORY_WEIGHTS] + plan->kind_bytes[DYNO_MEMORY_GRADIENTS]
                  + plan->kind_bytes[DYNO_MEMORY_OPTIMIZER];
  guint64 low = 0, low_bytes = fixed, high = MOST_BATCH + 1, high_bytes = 0;

  if (plan_fits (s, plan))
    {
      low = batch;
      low_bytes = plan->total_bytes;
    }
  else
    {
      high = batch;
      high_bytes = dyno_plan_fits_buffers (plan) ? plan->total_bytes : G_MAXUINT64;
    }
  for (guint try = 0; try < MOST_TRIES && high - low > 1 && fixed <= s->limit_bytes; try++)
    {
      double slope = high_bytes && high_bytes < G_MAXUINT64 && high_bytes > low_bytes
                         ? (double) (high_bytes - low_bytes) / (double) (high - low)
                         : (double) (plan->total_bytes - fixed) / batch;
      double step = slope > 0 ? ((double) s->limit_bytes - (double) low_bytes) / slope : 0;
      guint64 guess =
          try >= 6 ? (low + high) / 2 : low + (guint64) CLAMP (step, 1.0, (double) MOST_BATCH);
      guint64 bytes;

      guess = CLAMP (guess, low + 1, high - 1);
      bytes = bytes_at (s, (guint32) guess, FALSE);
      if (bytes <= s->limit_bytes)
        {
          low = guess;
          low_bytes = bytes;
        }
      else
        {
          high = guess;
          high_bytes = bytes;
        }
    }
  while (s->evaluation && low > 0 && bytes_at (s, (guint32) low, TRUE) > s->limit_bytes)
    low--;
  return (gint64) low;
}

/* Host memory of one program and its uploader. */
static void
plan_part_host (const DynoJob *job, const DynoNetworkParams *params, DynoHostPlan *host)
{
  DynoUploadPlan upload = { 0 };

  if (!params->schema.generated)
    dyno_upload_plan_init (&upload, &params->schema, params->batch, (guint) job->settings.prefetch,
                           DYNO_JOB_SLOTS, job->settings.pinned, NULL);
  dyno_host_plan_add (host, &upload.batches);
  dyno_host_plan_add (host, &upload.staging);
  dyno_program_plan_host (DYNO_JOB_SLOTS, host);
}

/* Host memory of a whole engine, with a snapshot if plan->plan has one. */
static void
plan_host (const DynoJob *job, const DynoNetworkParams *params, guint n_parts, const Need *need,
           DynoJobPlan *plan)
{
  DynoHostBuffer predictions = dyno_predictions_plan_buffer (need->predictions_bytes);
  DynoHostBuffer watched = dyno_watched_plan_buffer (need->watched_bytes);
  DynoHostBuffer exchange = dyno_exchange_plan_buffer (&plan->plan);

  plan->host = (DynoHostPlan){ 0 };
  for (guint i = 0; i < n_parts; i++)
    plan_part_host (job, params, &plan->host);
  dyno_host_plan_add (&plan->host, &predictions);
  dyno_host_plan_add (&plan->host, &watched);
  if (job->ranks > 1)
    dyno_host_plan_add (&plan->host, &exchange);
  if (plan->plan.snapshot)
    dyno_snapshot_plan_host (&plan->plan, &plan->host);
}

gboolean
dyno_job_exchanges_halves (const DynoJob *job)
{
  return job->ranks > 1 && job->settings.amp && job->settings.exchange_half;
}

gboolean
dyno_job_watches_masks (const DynoJob *job)
{
  return job->watch_masks && job->rank == 0;
}

/* Gradients in another format than planned are sent through the host, without an inbox. */
static guint64
inbox_bytes (const DynoJob *job, const DynoDeviceInfo *device, const DynoPlan *plan)
{
  gboolean halves = dyno_job_exchanges_halves (job);

  return device->peer_memory && job->ranks > 1 && job->ranks <= DYNO_INBOX_MOST_RANKS
                 && halves == plan->halves
             ? dyno_inbox_total_bytes (plan, halves, job->ranks)
             : 0;
}

void
dyno_job_plan_drop_snapshot (DynoJobPlan *plan)
{
  DynoHostPlan snapshot = { 0 };

  if (!plan->plan.snapshot)
    return;
  dyno_snapshot_plan_host (&plan->plan, &snapshot);
  dyno_plan_set_snapshot (&plan->plan, FALSE);
  plan->host.n -= snapshot.n; /* it was added last */
  plan->host.total_bytes -= snapshot.total_bytes;
}

/* The least size of images that can be made smaller; else 0. */
static guint32
find_least_size (const DynoJob *job, const DynoDatasetInfo *info)
{
  const DynoModel *model = dyno_model_find (job->model, NULL);
  guint32 width, height, least = MAX (model ? model->min_size : 1, 1);

  return info->resizable && dyno_job_get_size (job, info, &width, &height, NULL)
                 && MAX (width, height) > least
             ? least
             : 0;
}

gboolean
dyno_job_plan_parts (const DynoJob *job, const DynoDatasetInfo *info, const DynoDeviceInfo *device,
                     DynoChoices *choices, const DynoPartCounts *counts, DynoJobPlan *plan,
                     GError **error)
{
  g_autoptr (DynoJob) adapted = dyno_job_adapt (job, device, counts->n_train);
  gboolean evaluates = counts->n_validation + counts->n_test > 0;
  const DynoSettings *s = &adapted->settings;
  Search search = { adapted, info, device, choices, evaluates, 0 };
  DynoNetworkParams params;
  Need need, other;

  memset (plan, 0, sizeof *plan);
  if (!dyno_job_check_parts (job, info, error)
      || !dyno_job_get_network (adapted, info, DYNO_MODE_TRAIN, &params, error)
      || !need_of_job (adapted, info, device, choices, evaluates, params.batch, s->checkpointing,
                       &need, error))
    return FALSE;
  plan->plan = need.plan;
  plan->batch_size = s->batch_size;
  plan->n_train = counts->n_train;
  plan->budget_bytes = s->vram_budget > 0 ? (guint64) s->vram_budget : device->vram_bytes;
  plan->device_bytes = device->vram_bytes;
  plan->limit_bytes =
      device->vram_bytes > 0 ? MIN (plan->budget_bytes, device->vram_bytes) : plan->budget_bytes;
  search.limit_bytes = plan->limit_bytes;
  plan->fits = plan_fits (&search, &need.plan);
  /* Where there is no room for a snapshot, saving waits for the device: that does not require a
   * smaller batch. */
  dyno_plan_set_snapshot (&plan->plan, TRUE);
  if (!plan_fits (&search, &plan->plan))
    dyno_plan_set_snapshot (&plan->plan, FALSE);
  /* The same for gradients in fp16: the host can convert them. */
  dyno_plan_set_halves (&plan->plan, dyno_job_exchanges_halves (adapted));
  if (!plan_fits (&search, &plan->plan))
    dyno_plan_set_halves (&plan->plan, FALSE);
  /* The same for the inbox: gradients can be sent through the host. */
  dyno_plan_set_inbox (&plan->plan, inbox_bytes (adapted, device, &plan->plan));
  if (!plan_fits (&search, &plan->plan))
    dyno_plan_set_inbox (&plan->plan, 0);
  plan_host (adapted, &params, evaluates ? 2 : 1, &need, plan);
  plan->n_parameters = need.n_parameters;
  plan->n_trained = need.n_trained;
  plan->flops_per_sample = need.flops;
  plan->steps_per_epoch = dyno_job_count_steps (s, counts->n_train, job->ranks);
  plan->fitting_batch = find_fitting (&search, params.batch, &need.plan);
  plan->parts = plan->fits ? 1
                : s->memory_shrink
                    ? dyno_micro_batch_divide (s->batch_size, need.has_statistics ? 2 : 1,
                                               MIN (plan->fitting_batch, s->batch_size - 1))
                    : 0;
  plan->can_use_amp = !s->amp && device->fp16;
  plan->least_size = find_least_size (adapted, info);
  plan->fits_checkpointed = plan->fits;
  plan->checkpointed_share = s->checkpointing ? need.plan.recomputed_share : 0;
  if (s->checkpointing
      && need_of_job (adapted, info, device, choices, evaluates, params.batch, FALSE, &other, NULL))
    {
      dyno_plan_set_snapshot (&other.plan, plan->plan.snapshot);
      dyno_plan_set_halves (&other.plan, plan->plan.halves);
      dyno_plan_set_inbox (&other.plan, plan->plan.inbox_bytes);
      plan->kept_bytes = other.plan.total_bytes;
    }
  if (!plan->fits && !s->checkpointing
      && need_of_job (adapted, info, device, choices, evaluates, params.batch, TRUE, &other, NULL))
    {
      plan->fits_checkpointed = plan_fits (&search, &other.plan);
      plan->checkpointed_share = other.plan.recomputed_share;
    }
  return TRUE;
}

gboolean
dyno_job_plan (const DynoJob *job, const DynoDatasetInfo *info, const DynoDeviceInfo *device,
               DynoJobPlan *plan, GError **error)
{
  DynoPartCounts counts;

  dyno_job_count_parts (job, info, &counts);
  return dyno_job_plan_parts (job, info, device, NULL, &counts, plan, error);
}
