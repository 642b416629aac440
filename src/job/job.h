/* SPDX-License-Identifier: MIT */
/* A job: the model, the data, the settings; and the resources that it will need, known before any
 * run.
 *
 * Only its creator writes a job.  Once shared it is immutable: it is passed as const, and a change
 * is a copy that replaces it.  References may be taken from any thread. */
#pragma once
#include "settings.h"
#include "hostplan.h"
#include "loader.h"
#include "network.h"
#include "plan.h"

G_BEGIN_DECLS

typedef struct {
  char *data;       /* location of the data set, for dyno_dataset_open */
  char *targets;    /* y.npy, or NULL */
  char *model;      /* name of a model */
  char *preset;     /* name of a preset for the record, or NULL */
  char *weights_in; /* safetensors or .pth to start from, or NULL */
  /* safetensors to write at the end besides out_dir's, or NULL; an existing file is replaced */
  char *weights_out;
  char *resume;  /* checkpoint file or run folder to resume from, or NULL */
  char *out_dir; /* folder for all output of a run; NULL: nothing is written */
  char *name;    /* of the run in the history, where it is new; or NULL */
  /* For the queue: the devices to train on, a process each, as for train --devices; NULL: one
   * process, on `device`. */
  char *devices;
  int device;       /* index; -1: best */
  gint64 max_steps; /* 0: the run ends by its epochs */
  /* The number of processes that train the job together, each with batches of its own (0: one); and
   * the rank of this process. */
  guint ranks, rank;
  /* A session of the job emits MASKS events (event.h), where its model has a class for each pixel
   * and it validates; with several ranks only rank 0 does.  Results and files of the run do not
   * depend on it. */
  gboolean watch_masks;
  /* The files of the run's folder are written when it ends, stops or pauses, and by
   * checkpoint_minutes, but not after each epoch: for short runs that are many. */
  gboolean saves_at_end;
  /* Beside saves_at_end: a run that ends with its last epoch writes its weights, but no checkpoint,
   * since nothing is resumed from there. */
  gboolean no_last_checkpoint;
  /* A session of the job leaves its test part unmeasured, as in a search, whose choices may not
   * depend on it. */
  gboolean no_test;
  DynoSettings settings;
  /* The normalisation for data.normalise=weights, once it is known (normalisation.h). */
  gboolean knows_normalisation;
  DynoNormalisation normalisation;
} DynoJob;

DynoJob *dyno_job_new (void); /* defaults: model simplecnn, device -1 */
DynoJob *dyno_job_copy (const DynoJob *job);
const DynoJob *dyno_job_ref (const DynoJob *job);
void dyno_job_unref (const DynoJob *job); /* NULL: does nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoJob, dyno_job_unref)

/* The parameters for opening the job's data set; params owns no memory. */
void dyno_job_get_dataset_params (const DynoJob *job, DynoDatasetParams *params);

/* The sample size that the job trains at: image_size, else the model's own size, else the data
 * set's (for images of different sizes that of the largest, at most 224); resized images have at
 * least the model's least size.  FALSE with DATA: the samples cannot be resized to it. */
gboolean dyno_job_get_size (const DynoJob *job, const DynoDatasetInfo *info, guint32 *width,
                            guint32 *height, GError **error);

/* The number of the loader's threads: `workers`, but no more than `threads` allows. */
guint dyno_settings_count_workers (const DynoSettings *settings);

/* The loader's parameters for a part of the data set, except for its slots: batch, size, order,
 * workers. */
gboolean dyno_job_get_loader_params (const DynoJob *job, const DynoDatasetInfo *info,
                                     gboolean training, DynoLoaderParams *params, GError **error);

/* The parameters of a job's network on a data set.  While the normalisation of
 * data.normalise=weights is not known, it is treated as data.normalise=true, with equal sizes and
 * times. */
gboolean dyno_job_get_network (const DynoJob *job, const DynoDatasetInfo *info, DynoMode mode,
                               DynoNetworkParams *params, GError **error);

/* The batch size used for n_train samples (0: not known): the setting, or a rank's equal share of
 * the training part where that is smaller. */
gint64 dyno_job_get_batch (const DynoJob *job, guint64 n_train);
/* "The training part has only 90 samples: batch_size is reduced to 90"; NULL: batch_size is used as
 * set.  g_free. */
char *dyno_job_describe_batch (const DynoJob *job, guint64 n_train);

/* The exact needs of a job, computed without running it and without a device, in some
 * milliseconds. */
typedef struct {
  DynoPlan plan;        /* training and evaluation merged */
  gint64 batch_size;    /* used batch size, see dyno_job_get_batch */
  guint64 n_train;      /* samples of the training part */
  guint64 budget_bytes; /* settings' vram_budget, else the device's memory */
  guint64 device_bytes; /* the device's memory */
  guint64 limit_bytes;  /* the smaller of budget_bytes and device_bytes; the plan has to fit */
  gboolean fits;     /* the plan fits into limit_bytes and into buffers that the device supports */
  DynoHostPlan host; /* page-locked memory and decoded batches */
  guint64 n_parameters;    /* weights, without padding */
  guint64 n_trained;       /* number of parameters that are not frozen */
  double flops_per_sample; /* useful operations, forward and backward */
  guint64 steps_per_epoch;
  gint64 fitting_batch; /* largest batch that fits with these settings; 0: none fits */
  /* The number of equal micro-batches per batch; 1: the whole batch, which fits; more:
   * memory.shrink divides it; 0: the run does not start. */
  guint parts;
  gboolean can_use_amp; /* AMP is off, and the device has fp16 */
  guint32 least_size;   /* height and width to which images can be made smaller; 0: they cannot */
  gboolean fits_checkpointed; /* this batch fits with checkpointing on */
  double checkpointed_share;  /* recomputation's share of a step's estimated time; 0: not known */
  guint64 kept_bytes;         /* total bytes with checkpointing off, where it is on; else 0 */
} DynoJobPlan;

/* Errors: those of dyno_network_build and of the lowering; DATA.  A plan that does not fit is no
 * error. */
gboolean dyno_job_plan (const DynoJob *job, const DynoDatasetInfo *info,
                        const DynoDeviceInfo *device, DynoJobPlan *plan, GError **error);

/* A description of the micro-batches; NULL: the batch is not divided, or does not fit.  g_free. */
char *dyno_job_plan_describe_parts (const DynoJobPlan *plan);

/* A description of the memory that checkpointing saves and of its cost in time; NULL: it is off.
 * g_free. */
char *dyno_job_plan_describe_checkpointing (const DynoJobPlan *plan);

/* The reason why the plan does not fit and what would fit, in words; NULL when it fits.  g_free. */
char *dyno_job_plan_advice (const DynoJob *job, const DynoJobPlan *plan);

/* FALSE: the setting has no effect with this model (name) on this data set; NULL: not known yet. */
gboolean dyno_job_meets (const DynoSettingInfo *info, const char *model,
                         const DynoDatasetInfo *data);

G_END_DECLS
