/* SPDX-License-Identifier: MIT */
/* Errors of a training: of the layers job, weights, record and train. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_TRAIN_ERROR (dyno_train_error_quark ())
GQuark dyno_train_error_quark (void);

typedef enum {
  /* unknown key, or a value out of its range: the message states the range */
  DYNO_TRAIN_ERROR_SETTING,
  DYNO_TRAIN_ERROR_DATA, /* the data set does not suit the model or the settings */
  /* the plan exceeds the VRAM budget: the message states the excess and the settings that would
   * fit */
  DYNO_TRAIN_ERROR_DOES_NOT_FIT,
  /* a checkpoint or weights file that does not match: the message names the first mismatch */
  DYNO_TRAIN_ERROR_CHECKPOINT,
  /* the loss stayed Inf, NaN or too large; or a state is not finite */
  DYNO_TRAIN_ERROR_DIVERGED,
  DYNO_TRAIN_ERROR_OUTPUT, /* the output folder cannot be written */
} DynoTrainError;

/* Sets DYNO_TRAIN_ERROR_DATA; returns FALSE. */
gboolean dyno_train_refuse_data (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);

G_END_DECLS
