/* SPDX-License-Identifier: MIT */
/* The table of optimizers.  Invariant: a row has one moment or two, and corrections only with
 * two. */
#include "optimizers.h"

static const DynoOptimizerInfo table[DYNO_N_OPTIMIZERS] = {
  [DYNO_OPTIMIZER_SGD] = { .id = "sgd",
                           .title = "SGD",
                           .n_moments = 1,
                           .has_momentum = TRUE,
                           .usual_lr = 0.05,
                           .flops = 6 },
  [DYNO_OPTIMIZER_ADAMW] = { .id = "adamw",
                             .title = "AdamW",
                             .macro = "ADAMW",
                             .n_moments = 2,
                             .decay_apart = TRUE,
                             .has_corrections = TRUE,
                             .beta1 = 0.9,
                             .beta2 = 0.999,
                             .epsilon = 1e-8,
                             .usual_lr = 0.001,
                             .high_lr = 0.01,
                             .flops = 14 },
  [DYNO_OPTIMIZER_ADAM] = { .id = "adam",
                            .title = "Adam",
                            .macro = "ADAM",
                            .n_moments = 2,
                            .has_corrections = TRUE,
                            .beta1 = 0.9,
                            .beta2 = 0.999,
                            .epsilon = 1e-8,
                            .usual_lr = 0.001,
                            .high_lr = 0.01,
                            .flops = 14 },
  [DYNO_OPTIMIZER_RMSPROP] = { .id = "rmsprop",
                               .title = "RMSprop",
                               .macro = "RMSPROP",
                               .n_moments = 2,
                               .has_momentum = TRUE,
                               .beta2 = 0.99,
                               .epsilon = 1e-8,
                               .usual_lr = 0.001,
                               .high_lr = 0.01,
                               .flops = 12 },
  [DYNO_OPTIMIZER_LION] = { .id = "lion",
                            .title = "Lion",
                            .macro = "LION",
                            .n_moments = 1,
                            .decay_apart = TRUE,
                            .beta1 = 0.9,
                            .beta2 = 0.99,
                            .usual_lr = 0.0001,
                            .high_lr = 0.003,
                            .flops = 10 },
};

const DynoOptimizerInfo *
dyno_optimizer_get_info (DynoOptimizer optimizer)
{
  g_return_val_if_fail ((guint) optimizer < DYNO_N_OPTIMIZERS, &table[0]);
  return &table[optimizer];
}
