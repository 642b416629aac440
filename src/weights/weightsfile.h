/* SPDX-License-Identifier: MIT */
/* Weights of a model in safetensors files, by torchvision's names, shapes and layouts.  Private
 * to the layers up to train. */
#pragma once
#include "safetensors.h"
#include "weightvalues.h"

G_BEGIN_DECLS

/* Reads weights from a file, whose tensors' names begin with prefix ("" for a plain weights file).
 * F16, BF16 and F64 are converted, and I8 with scales (int8weights.h).  The file must hold every
 * parameter in its shape, and with strict no other tensor; without_states, as for moments: running
 * statistics and frozen parameters are not read; may_lack: missing parameters are zero.  Errors:
 * CHECKPOINT, naming shown and the first tensor that does not match, or holds a number that is not
 * finite. */
typedef struct {
  const char *shown; /* the file, for messages */
  const char *prefix;
  gboolean strict;
  gboolean without_states;
  gboolean may_lack;
} DynoWeightsSource;
gboolean dyno_weights_read (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
                            const DynoWeightsSource *source, GError **error);

typedef enum {
  DYNO_WEIGHTS_HEAD_FITS,
  DYNO_WEIGHTS_HEAD_MAY_DIFFER,
  DYNO_WEIGHTS_HEAD_LEFT_OUT,
} DynoWeightsHead;

/* Reads weights from a file of any origin.  Names may have a common prefix ("model.", "module.",
 * "state_dict."), and may be timm's.  With MAY_DIFFER the last linear layer may be missing, or have
 * another number of outputs: then its values in weights are unchanged, and *head_is_new is TRUE
 * (may be NULL); with LEFT_OUT they are always unchanged.  With MAY_DIFFER the file may also be of
 * a classifier, such as torchvision's ResNet, that is the backbone of a model of pixels: all values
 * but the backbone's are unchanged.  The file must hold every other parameter in its shape; tensors
 * that the model does not have are not used.  Notes (char*, sentences) name tensors that were left
 * out or replaced.  Errors: CHECKPOINT, naming shown and the first parameter that is missing or
 * does not match. */
gboolean dyno_weights_load (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
                            const char *shown, DynoWeightsHead head, gboolean *head_is_new,
                            GPtrArray *notes, GError **error);

/* The number of outputs of the last layer in a file of any origin; 0: it has no last layer that
 * fits the model except for that number. */
guint64 dyno_weights_count_outputs (DynoGraph *graph, DynoSafetensors *file);
/* Reads, for each output of the model, the row of the last layer in the file that rows names; with
 * G_MAXUINT32 the values in weights are unchanged.  Errors: CHECKPOINT, and those of memory. */
gboolean dyno_weights_load_rows (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
                                 const char *shown, const guint32 *rows, GError **error);

/* Appends DynoSafetensor rows that point into weights; names (char*) are added to names and live as
 * long as it.  without_states, as for moments: running statistics and frozen parameters are left
 * out.  tracked: num_batches_tracked are listed as well, and point to weights->batches_tracked. */
void dyno_weights_list (const DynoWeights *weights, DynoGraph *graph, const char *prefix,
                        gboolean without_states, gboolean tracked, GArray *tensors,
                        GPtrArray *names);

/* Checks, before a save touches a file, that all float32 tensors of the list (DynoSafetensor) are
 * finite.  FALSE with DIVERGED, naming the first that is not. */
gboolean dyno_tensors_check_finite (const GArray *tensors, GError **error);

/* Writes a plain weights file, which predicts in the data's unit (targets.h).  Errors: DIVERGED (a
 * value is not finite; the file at path is unchanged), those of dyno_safetensors_write. */
gboolean dyno_weights_save (const DynoWeights *weights, DynoGraph *graph, const char *path,
                            const char *const *metadata, GError **error);

G_END_DECLS
