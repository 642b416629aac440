/* SPDX-License-Identifier: MIT */
/* Checkpoints: all that a run needs to go on to the same bits.  All but finding one and reading its
 * job is private to the layers up to train.
 *
 * A checkpoint is a safetensors file: model.* (torchvision's names, running statistics and
 * num_batches_tracked included), moment1.* (momentum), moment2.* (of optimizers with two), scaler, targets
 * (targets.h; the model's weights are as they are then); metadata: position, settings, model, hash
 * of the data set, the normalisation that was the weights', and a hash over everything else.  The file is replaced atomically, and the one
 * before is kept beside it. */
#pragma once
#include "job.h"
#include "hoststate.h"

G_BEGIN_DECLS

#define DYNO_CHECKPOINT_NAME          "checkpoint.safetensors"
#define DYNO_CHECKPOINT_NAME_PREVIOUS "checkpoint.previous.safetensors"
/* the best by validation, beside a checkpoint */
#define DYNO_WEIGHTS_NAME      "weights.safetensors"
#define DYNO_WEIGHTS_NAME_LAST "weights-last.safetensors" /* where there is a best */

/* Where a run stands, between two steps. */
typedef struct {
  guint64 step;       /* updates done */
  guint64 epoch;      /* from 0 */
  guint64 epoch_step; /* updates done in it */
  double seconds;     /* of training so far, pauses left out */
  double epoch_seconds;
  double best_val_metric; /* of the metric that selects the best epoch; NaN: none yet */
  guint64 best_epoch;     /* whose weights are kept as the best, from 1; 0: none yet */
  double best_val_loss;   /* its own; NaN: none yet */
  /* For the early stop: the last epoch of a real gain, from 1 (0: none yet), and its value. */
  guint64 early_epoch;
  double early_best;
  guint64 epoch_samples; /* sums of the epoch so far */
  double epoch_loss_sum, epoch_metric_sums[DYNO_MAX_METRICS];
  guint64 batches_tracked; /* of batch norms */
  /* of the run that began it all (dyno_checkpoint_identify), however often it was resumed since; 0:
   * an earlier version's */
  guint64 run_id;
} DynoPosition;

/* The position as a checkpoint's metadata: key and value (char*, of their own) in turn; and from a
 * table of these (char* of char*).  Errors: CHECKPOINT, which names shown and the first key that is
 * missing. */
void dyno_position_append (const DynoPosition *position, GPtrArray *metadata);
gboolean dyno_position_read (DynoPosition *position, GHashTable *metadata, const char *shown,
                             GError **error);

/* Names a run by what its weights come from: model, data set, start and the settings that change
 * what is learned.  Never 0. */
guint64 dyno_checkpoint_identify (const DynoJob *job, guint64 content_hash);

/* Metadata of a weights file (weightsinfo.h): key, value, ..., NULL.  And whether the weights file at
 * path is one of that run, by these. */
char **dyno_checkpoint_weights_metadata (const DynoJob *job, const DynoDatasetInfo *data,
                                         guint64 run_id);
gboolean dyno_checkpoint_owns_weights (const char *path, guint64 run_id);

/* The checkpoint that `resume` names: a file, or the one in a run's folder.  Errors: CHECKPOINT
 * (there is none). */
char *dyno_checkpoint_find (const char *resume, GError **error);

/* The model and the settings of the run that wrote it, which need neither device nor data set; the
 * job's other names stay.  A sentence to warnings (char*, may be NULL) says that they are the
 * checkpoint's, and which settings it does not know: those stay too.  Errors: CHECKPOINT. */
gboolean dyno_checkpoint_read_job (const char *path, DynoJob *job, GPtrArray *warnings,
                                   GError **error);

/* The normalisation of a run with data.normalise=weights; *known FALSE: it was another.  Errors:
 * CHECKPOINT. */
gboolean dyno_checkpoint_read_normalisation (const char *path, DynoNormalisation *normalisation,
                                             gboolean *known, GError **error);

/* Writes a state, with moments; batches_tracked of its model is set.  Errors: DYNO_BASE_ERROR_DISK
 * and _IO; DIVERGED: a value is not finite, and nothing was written. */
gboolean dyno_checkpoint_write (const char *path, DynoState *state, const DynoJob *job,
                                guint64 content_hash, const DynoPosition *position, GError **error);

/* Puts the state into program.  The position is that of a run with the job's steps on n_train
 * samples: where the checkpoint's were of another size, it stays where it was in its epoch's samples
 * (schedule.h).  Sentences about what differs from the checkpoint's run go to
 * warnings (char*).  Errors: CHECKPOINT (damaged, or of another model, names the first mismatch),
 * data's, those of writing to the device. */
gboolean dyno_checkpoint_load (const char *path, DynoProgram *program, const DynoJob *job,
                               guint64 n_train, guint64 content_hash, DynoPosition *position,
                               GPtrArray *warnings, GError **error);

G_END_DECLS
