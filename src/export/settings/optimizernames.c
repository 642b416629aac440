/* SPDX-License-Identifier: MIT */
/* The optimizers in the terms of other programs.  A name is given only where the other program's
 * optimizer computes the same with the arguments that its exporter writes. */
#include "formats.h"

static const DynoOptimizerNames table[DYNO_N_OPTIMIZERS] = {
  /* timm's "sgd" is SGD with Nesterov momentum, its "momentum" is SGD with momentum. */
  [DYNO_OPTIMIZER_SGD] = { .lightning = "torch.optim.SGD",
                           .deepspeed = "SGD",
                           .timm = "momentum",
                           .torchvision = "sgd",
                           .transformers = "sgd",
                           .ultralytics = "SGD" },
  [DYNO_OPTIMIZER_ADAMW] = { .lightning = "torch.optim.AdamW",
                             .deepspeed = "AdamW",
                             .timm = "adamw",
                             .torchvision = "adamw",
                             .transformers = "adamw_torch",
                             .ultralytics = "AdamW" },
  /* TrainingArguments' Adam is AdamW, and torchvision's reference has none. */
  [DYNO_OPTIMIZER_ADAM] = { .lightning = "torch.optim.Adam",
                            .deepspeed = "Adam",
                            .timm = "adam",
                            .ultralytics = "Adam" },
  /* The RMSprop of torchvision's reference has other constants, which no flag changes. */
  [DYNO_OPTIMIZER_RMSPROP] = { .lightning = "torch.optim.RMSprop",
                               .deepspeed = "RMSprop",
                               .timm = "rmsprop",
                               .transformers = "rmsprop",
                               .ultralytics = "RMSProp" },
  /* PyTorch has no Lion; timm's takes the same arguments. */
  [DYNO_OPTIMIZER_LION] = { .lightning = "timm.optim.Lion",
                            .deepspeed = "Lion",
                            .timm = "lion",
                            .transformers = "lion_32bit" },
};

const DynoOptimizerNames *
dyno_export_get_optimizer (const DynoSettings *settings)
{
  return &table[settings->optimizer];
}

gboolean
dyno_export_has_momentum (const DynoExportContext *context)
{
  DynoOptimizer optimizer = (DynoOptimizer) context->job->settings.optimizer;

  return dyno_optimizer_get_info (optimizer)->has_momentum;
}

gboolean
dyno_export_has_other_betas (const DynoExportContext *context)
{
  const DynoOptimizerInfo *adam = dyno_optimizer_get_info (DYNO_OPTIMIZER_ADAM),
                          *optimizer = dyno_optimizer_get_info (
                              (DynoOptimizer) context->job->settings.optimizer);

  return optimizer->beta1 > 0
         && (optimizer->beta1 != adam->beta1 || optimizer->beta2 != adam->beta2);
}
