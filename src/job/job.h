/* SPDX-License-Identifier: MIT */
/* A job: what to train, on what, with which settings; and what it will need, before any run.
 *
 * Who makes a job writes it.  Once it is shared it is a snapshot: nobody writes it any more, it is
 * passed as const, and a change is a copy that takes its place.  References from any thread. */
#pragma once
#include "settings.h"
#include "hostplan.h"
#include "loader.h"
#include "network.h"
#include "plan.h"

G_BEGIN_DECLS

typedef struct {
  char *data;       /* DATA as dyno_dataset_open takes it */
  char *targets;    /* y.npy, or NULL */
  char *model;      /* name of a model */
  char *preset;     /* name of a preset for the record, or NULL */
  char *weights_in; /* safetensors or .pth to start from, or NULL */
  /* safetensors to write at the end besides out_dir's, or NULL; what is there is replaced */
  char *weights_out;
  char *resume;     /* checkpoint file or run folder to go on from, or NULL */
  char *out_dir;    /* folder for everything a run leaves; NULL: nothing is written */
  int device;       /* index; -1: best */
  gint64 max_steps; /* 0: epochs decide */
  /* Processes that train it together, each with batches of its own (0: one); and which this is. */
  guint ranks, rank;
  /* A session of the job emits MASKS events (event.h), where its model has a class for each pixel and
   * it validates; of several ranks, rank 0 does.  Nothing that the run computes or leaves changes. */
  gboolean watch_masks;
  DynoSettings settings;
  /* The numbers that data.normalise=weights stands for, once they are known (normalisation.h). */
  gboolean knows_normalisation;
  DynoNormalisation normalisation;
} DynoJob;

DynoJob *dyno_job_new (void); /* defaults: model simplecnn, device -1 */
DynoJob *dyno_job_copy (const DynoJob *job);
const DynoJob *dyno_job_ref (const DynoJob *job);
void dyno_job_unref (const DynoJob *job); /* NULL: nothing */
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoJob, dyno_job_unref)

/* How the job's data set is opened; params has no memory of its own. */
void dyno_job_get_dataset_params (const DynoJob *job, DynoDatasetParams *params);

/* The sample size that the job trains at: image_size, or the data set's own (largest sample, at
 * most 224, at least the model's least, for images of different sizes).  FALSE with DATA: the data
 * cannot be brought to it. */
gboolean dyno_job_get_size (const DynoJob *job, const DynoDatasetInfo *info, guint32 *width,
                            guint32 *height, GError **error);

/* The loader's threads: `workers`, and no more than `threads` allows. */
guint dyno_settings_count_workers (const DynoSettings *settings);

/* How a part of the data set is loaded for it, slots left out: batch, size, order, workers. */
gboolean dyno_job_get_loader_params (const DynoJob *job, const DynoDatasetInfo *info,
                                     gboolean training, DynoLoaderParams *params, GError **error);

/* The network of a job on a data set.  data.normalise=weights is as true is while its normalisation
 * is not known: sizes and times are the same. */
gboolean dyno_job_get_network (const DynoJob *job, const DynoDatasetInfo *info, DynoMode mode,
                               DynoNetworkParams *params, GError **error);

/* The batch that runs, on n_train samples (0: not known): as it is set, or all of the ranks' equal
 * shares of the training part where that has less. */
gint64 dyno_job_get_batch (const DynoJob *job, guint64 n_train);
/* "The training part has only 90 samples: batch_size is 90"; NULL: it runs as it is set.  g_free. */
char *dyno_job_describe_batch (const DynoJob *job, guint64 n_train);

/* The exact needs of a job, known without running it: no device is touched.  Takes some
 * milliseconds. */
typedef struct {
  DynoPlan plan;           /* training and evaluation merged */
  gint64 batch_size;       /* that runs, see dyno_job_get_batch */
  guint64 n_train;         /* samples of the training part */
  guint64 budget_bytes;    /* settings' vram_budget, else the device's memory */
  guint64 device_bytes;    /* the device's memory */
  guint64 limit_bytes;     /* the smaller of the two: what decides whether it fits */
  gboolean fits;           /* in it, and in buffers that the device can have */
  DynoHostPlan host;       /* page-locked memory and decoded batches */
  guint64 n_parameters;    /* weights, pads not counted */
  guint64 n_trained;       /* of these, what is not frozen */
  double flops_per_sample; /* forward and backward, useful */
  guint64 steps_per_epoch;
  gint64 fitting_batch; /* largest batch that fits with these settings; 0: none does */
  /* Equal micro-batches that a batch goes through the device in: 1: as a whole, which fits; more:
   * memory.shrink makes them; 0: no run starts. */
  guint parts;
  gboolean can_use_amp; /* it is off, and the device has fp16 */
  guint32 least_size;   /* height and width to which images can be made smaller; 0: they cannot */
  gboolean fits_checkpointed; /* this batch fits with checkpointing on */
  double checkpointed_share;  /* of a step's estimated time, what that adds; 0: not known */
  guint64 kept_bytes;         /* in all with checkpointing off, where it is on; else 0 */
} DynoJobPlan;

/* Errors: those of dyno_network_build and of the lowering; DATA.  Not fitting is no error. */
gboolean dyno_job_plan (const DynoJob *job, const DynoDatasetInfo *info,
                        const DynoDeviceInfo *device, DynoJobPlan *plan, GError **error);

/* In which micro-batches it is trained; NULL: as a whole, or not at all.  g_free. */
char *dyno_job_plan_describe_parts (const DynoJobPlan *plan);

/* Memory that checkpointing saves, and its estimated time; NULL: it is off.  g_free. */
char *dyno_job_plan_describe_checkpointing (const DynoJobPlan *plan);

/* Why it does not fit and what would, in words for people; NULL when it fits.  g_free. */
char *dyno_job_plan_advice (const DynoJob *job, const DynoJobPlan *plan);

/* FALSE: the setting has no effect with this model (name) on this data set; NULL: not known yet. */
gboolean dyno_job_meets (const DynoSettingInfo *info, const char *model,
                         const DynoDatasetInfo *data);

G_END_DECLS
