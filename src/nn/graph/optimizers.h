/* SPDX-License-Identifier: MIT */
/* The optimizers, a row each (optimizers.c).  The setting's values, the kernels' macros, the memory
 * of the moments, checkpoints, estimates and names follow from these rows.  A new optimizer needs a
 * row, its formula in shaders/optimizer/optimizer_update.comp under the row's macro, its names in
 * other programs (optimizernames.c of the export layer) and its reference.
 *
 * Two numbers of a step's input belong to the optimizer: `momentum`, which is the setting, or where
 * has_momentum is FALSE the decay beta1 of the first moment; and `beta2`. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Stored by name, never by number. */
typedef enum {
  DYNO_OPTIMIZER_SGD,   /* PyTorch's SGD: v = momentum v + (g + wd w); w -= lr v */
  DYNO_OPTIMIZER_ADAMW, /* PyTorch's AdamW, eps 1e-8, betas 0.9 and 0.999 */
  DYNO_OPTIMIZER_ADAM,  /* PyTorch's Adam: the decay is a part of the gradient */
  /* PyTorch's RMSprop, not centred, alpha 0.99 (beta2), eps 1e-8 outside of the root */
  DYNO_OPTIMIZER_RMSPROP,
  /* Chen et al. 2023, betas 0.9 and 0.99: steps of equal size in the direction of the sign */
  DYNO_OPTIMIZER_LION,
  DYNO_N_OPTIMIZERS
} DynoOptimizer;

typedef struct {
  const char *id;    /* value of the setting: "adamw" */
  const char *title; /* a name that is not translated: "AdamW" */
  const char *macro; /* the macro of its kernels, defined as 1: "ADAMW"; NULL: none */
  guint n_moments;   /* moments that are kept for each trained parameter: 1 or 2 */
  /* weight decay is apart from the gradient: weights shrink by lr * decay */
  gboolean decay_apart;
  gboolean has_momentum; /* the setting `momentum` is used */
  /* bias corrections 1 - beta^t of both moments; t counts the updates that were applied */
  gboolean has_corrections;
  double beta1, beta2; /* 0: not read */
  double epsilon;
  double usual_lr; /* usual learning rate at the peak of a schedule */
  double high_lr;  /* a higher learning rate causes a warning; 0: none does */
  guint flops;     /* arithmetic operations of an element's update */
} DynoOptimizerInfo;

/* The row; static. */
const DynoOptimizerInfo *dyno_optimizer_get_info (DynoOptimizer optimizer);

G_END_DECLS
