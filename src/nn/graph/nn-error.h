/* SPDX-License-Identifier: MIT */
/* Errors of the nn layer. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_NN_ERROR (dyno_nn_error_quark ())
GQuark dyno_nn_error_quark (void);

typedef enum {
  DYNO_NN_ERROR_SHAPE, /* shapes do not fit an op */
  /* a tensor that no device could hold; a smaller batch or image avoids it */
  DYNO_NN_ERROR_TOO_LARGE,
  DYNO_NN_ERROR_UNSUPPORTED, /* the device or this build cannot run the graph */
  /* no kernel variant is left that the device can run; the message names one and the reason */
  DYNO_NN_ERROR_KERNEL,
  DYNO_NN_ERROR_MODEL,     /* no model has that name, or the model cannot take the options */
  DYNO_NN_ERROR_WEIGHTS,   /* a weight whose name, shape or type differs from the model's */
  DYNO_NN_ERROR_NO_MEMORY, /* no host memory for a copy of weights */
} DynoNnError;

G_END_DECLS
