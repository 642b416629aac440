/* SPDX-License-Identifier: MIT */
/* Weights of a model in safetensors files, by torchvision's names, shapes and layouts.  Private
 * to the layers up to train. */
#pragma once
#include "safetensors.h"
#include "weightvalues.h"

G_BEGIN_DECLS

/* From a file, whose tensors have prefix before their names ("" for a plain weights file).  F16,
 * BF16 and F64 are converted, and I8 with scales (int8weights.h).  Every parameter must be there in
 * its shape, and with strict nothing else; without_states, as of moments: running statistics and frozen parameters are not looked for;
 * may_lack: what is not there is zero.  Errors: CHECKPOINT, naming shown and the first tensor that
 * does not match, or holds a number that is not finite. */
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

/* From somebody's weights file.  Names may have something before them ("model.", "module.",
 * "state_dict."), the same before each, and be timm's.  The last linear layer, with MAY_DIFFER,
 * may be missing, or be of another number of outputs: its values in weights stay then, and
 * *head_is_new is TRUE (may be NULL); with LEFT_OUT they stay in any case.  With MAY_DIFFER the file
 * may also be of a classifier, such as torchvision's ResNet, that is the backbone of a model of
 * pixels: all values but the backbone's stay.  Every other parameter must be there in its shape;
 * tensors that the model has no place for are left unused.  Notes (char*, sentences) say which were left out or replaced.  Errors: CHECKPOINT, naming
 * shown and what is missing or does not match. */
gboolean dyno_weights_load (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
                            const char *shown, DynoWeightsHead head, gboolean *head_is_new,
                            GPtrArray *notes, GError **error);

/* Outputs of the last layer in somebody's file; 0: it has none that fits the model but for their
 * number.  And reads, for each output of the model, the row of it that rows names, or leaves what is
 * in weights (G_MAXUINT32).  Errors: CHECKPOINT, and those of memory. */
guint64 dyno_weights_count_outputs (DynoGraph *graph, DynoSafetensors *file);
gboolean dyno_weights_load_rows (DynoWeights *weights, DynoGraph *graph, DynoSafetensors *file,
                                 const char *shown, const guint32 *rows, GError **error);

/* Appends DynoSafetensor rows that point into weights; names (char*) are added to names and live as
 * long as it.  without_states, as of moments: running statistics and frozen parameters are left out.
 * tracked: num_batches_tracked are written as well, and point to
 * weights->batches_tracked. */
void dyno_weights_list (const DynoWeights *weights, DynoGraph *graph, const char *prefix,
                        gboolean without_states, gboolean tracked, GArray *tensors,
                        GPtrArray *names);

/* The check of every save before it touches a file: all float32 tensors of the list
 * (DynoSafetensor) are finite.  FALSE with DIVERGED, naming the first that is not. */
gboolean dyno_tensors_check_finite (const GArray *tensors, GError **error);

/* A plain weights file, which predicts in the data's unit (targets.h).  Errors: DIVERGED (a value
 * is not finite; the file at path is as it was), those of dyno_safetensors_write. */
gboolean dyno_weights_save (const DynoWeights *weights, DynoGraph *graph, const char *path,
                            const char *const *metadata, GError **error);

G_END_DECLS
