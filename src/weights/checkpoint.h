/* SPDX-License-Identifier: MIT */
/* Checkpoints: all that a run needs to resume with bit-identical results.  All functions but those
 * that find a checkpoint and read its job are private to the layers up to train.
 *
 * A checkpoint is a safetensors file: model.* (torchvision's names, running statistics and
 * num_batches_tracked included), average.* (moving averages, where there are any), moment1.*
 * (momentum), moment2.* (of optimizers with two), scaler, targets (targets.h; the model's weights
 * are not folded); metadata: position, settings, model, hash of the data set, the normalisation of
 * the start weights, and a hash over everything else.  The file is replaced atomically, and the
 * previous one is kept beside it. */
#pragma once
#include "job.h"
#include "hoststate.h"

G_BEGIN_DECLS

#define DYNO_CHECKPOINT_NAME          "checkpoint.safetensors"
#define DYNO_CHECKPOINT_NAME_PREVIOUS "checkpoint.previous.safetensors"
/* the best weights by validation, beside a checkpoint */
#define DYNO_WEIGHTS_NAME      "weights.safetensors"
#define DYNO_WEIGHTS_NAME_LAST "weights-last.safetensors" /* the last, beside the best weights */

/* The position of a run, between two steps. */
typedef struct {
  guint64 step;       /* updates done */
  guint64 epoch;      /* from 0 */
  guint64 epoch_step; /* updates done in this epoch */
  double seconds;     /* of training so far, without pauses */
  double epoch_seconds;
  double best_val_metric; /* of the metric that selects the best epoch; NaN: none yet */
  guint64 best_epoch;     /* the epoch whose weights are kept as the best, from 1; 0: none yet */
  double best_val_loss;   /* loss of that epoch; NaN: none yet */
  /* For the early stop: the last epoch of a real gain, from 1 (0: none yet), and its value. */
  guint64 early_epoch;
  double early_best;
  guint64 epoch_samples; /* sums of the epoch so far */
  double epoch_loss_sum, epoch_metric_sums[DYNO_MAX_METRICS];
  guint64 batches_tracked; /* number of batches that batch norms have tracked */
  /* identifies the first run (dyno_checkpoint_identify), however often it was resumed; 0: written
   * by an earlier version */
  guint64 run_id;
} DynoPosition;

/* Convert the position to a checkpoint's metadata: keys and values (char*, newly allocated) in
 * turn; and from a table of them (char* to char*).  Errors: CHECKPOINT, which names shown and the
 * first missing key. */
void dyno_position_append (const DynoPosition *position, GPtrArray *metadata);
gboolean dyno_position_read (DynoPosition *position, GHashTable *metadata, const char *shown,
                             GError **error);

/* Identifies a run by the inputs that determine its weights: model, data set, start and the
 * settings that change what is learned.  Never 0. */
guint64 dyno_checkpoint_identify (const DynoJob *job, guint64 content_hash);

/* The metadata of a weights file (weightsinfo.h): key, value, ..., NULL; g_strfreev. */
char **dyno_checkpoint_weights_metadata (const DynoJob *job, const DynoDatasetInfo *data,
                                         guint64 run_id);
/* TRUE: the weights file at path is of this run. */
gboolean dyno_checkpoint_owns_weights (const char *path, guint64 run_id);

/* The path of the checkpoint that `resume` names: a file, or the one in a run's folder.  Errors:
 * CHECKPOINT (there is none). */
char *dyno_checkpoint_find (const char *resume, GError **error);

/* Sets the job's model and settings to those of the run that wrote the checkpoint, without a device
 * or data set; the job's other names are unchanged.  Sentences are added to warnings (char*, may be
 * NULL): that the settings are the checkpoint's, and which settings it does not contain; these are
 * unchanged.  Errors: CHECKPOINT. */
gboolean dyno_checkpoint_read_job (const char *path, DynoJob *job, GPtrArray *warnings,
                                   GError **error);

/* Reads the normalisation of a run with data.normalise=weights; *known FALSE: the run had another
 * setting.  Errors: CHECKPOINT. */
gboolean dyno_checkpoint_read_normalisation (const char *path, DynoNormalisation *normalisation,
                                             gboolean *known, GError **error);

/* Writes a state, with moments; sets batches_tracked of its model.  Errors: DYNO_BASE_ERROR_DISK
 * and _IO; DIVERGED: a value is not finite, and nothing was written. */
gboolean dyno_checkpoint_write (const char *path, DynoState *state, const DynoJob *job,
                                guint64 content_hash, const DynoPosition *position, GError **error);

/* Loads the state into program.  The position is converted to the job's steps on n_train samples:
 * where the checkpoint's steps were of another size, the position among the samples of its epoch is
 * kept (schedule.h).  Sentences about differences from the checkpoint's run are added to warnings
 * (char*).  Errors: CHECKPOINT (damaged, or of another model, with the first mismatch), data's,
 * those of writing to the device. */
gboolean dyno_checkpoint_load (const char *path, DynoProgram *program, const DynoJob *job,
                               guint64 n_train, guint64 content_hash, DynoPosition *position,
                               GPtrArray *warnings, GError **error);

G_END_DECLS
