/* SPDX-License-Identifier: MIT */
/* The optimizers, a row each (optimizers.c), from which the setting's values, the kernels' macros,
 * the memory of the moments, checkpoints, estimates and words follow.  A new one is a row, its
 * formula in shaders/optimizer/optimizer_update.comp under the row's macro, its names in other
 * programs (optimizernames.c of the export layer) and its reference.
 *
 * Two numbers of a step's input belong to the optimizer: `momentum` is the setting, or where
 * has_momentum is FALSE the decay beta1 of the first moment, and `beta2`. */
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
  DYNO_OPTIMIZER_LION, /* Chen et al. 2023, betas 0.9 and 0.99: steps of equal size, by the sign */
  DYNO_N_OPTIMIZERS
} DynoOptimizer;

typedef struct {
  const char *id;           /* value of the setting: "adamw" */
  const char *title;        /* a name, the same in every language: "AdamW" */
  const char *macro;        /* of its kernels: "ADAMW", which is defined as 1; NULL: none */
  guint n_moments;          /* values that are kept of each trained parameter: 1 or 2 */
  gboolean decay_apart;     /* of the gradient: weights shrink by lr * decay */
  gboolean has_momentum;    /* the setting of that name counts */
  gboolean has_corrections; /* 1 - beta^t of both moments, by the updates that were applied */
  double beta1, beta2;      /* 0: not read */
  double epsilon;
  double usual_lr; /* learning rate that is usual at the height of a schedule */
  double high_lr;  /* a higher one is warned of; 0: none is */
  guint flops;     /* of an element's update */
} DynoOptimizerInfo;

/* The row; static. */
const DynoOptimizerInfo *dyno_optimizer_get_info (DynoOptimizer optimizer);

G_END_DECLS
