/* SPDX-License-Identifier: MIT */
/* Code shared by the readers of weights files: weightsfile.c, for files of this model, and
 * startweights.c, for files of any origin. */
#pragma once
#include "weightsfile.h"

G_BEGIN_DECLS

/* Sets an error (CHECKPOINT) that begins with the file and ends in the reason.  Returns FALSE. */
gboolean dyno_weights_mismatch (const DynoWeightsSource *source, GError **error, const char *format,
                                ...) G_GNUC_PRINTF (3, 4);
/* A parameter's tensor, by its own name or by timm's; NULL: the file has none. */
const DynoSafetensor *dyno_weights_lookup (DynoSafetensors *file, const char *prefix,
                                           const char *name);
/* Reads the values of a parameter, whose name and shape are those in the file. */
gboolean dyno_weights_read_one (const DynoParameter *parameter, DynoSafetensors *file,
                                const DynoWeightsSource *source, float *out, GError **error);
/* Sets batches_tracked to num_batches_tracked of the first batch norm that has it. */
void dyno_weights_find_tracked (DynoWeights *weights, DynoSafetensors *file, const char *prefix);

G_END_DECLS
