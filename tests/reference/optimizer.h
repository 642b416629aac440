/* SPDX-License-Identifier: MIT */
/* PyTorch's SGD, AdamW, Adam, RMSprop, clip_grad_norm_, clip_grad_value_ and GradScaler, and Lion,
 * on the CPU in double. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  REFERENCE_SGD,
  REFERENCE_ADAMW,
  REFERENCE_ADAM,
  REFERENCE_RMSPROP,
  REFERENCE_LION
} ReferenceRule;

typedef struct {
  ReferenceRule rule;
  double lr, momentum, beta2, weight_decay, epsilon;
  double clip_norm;  /* 0: none */
  double clip_value; /* 0: none; after clip_norm */
  gboolean dynamic_scale;
  guint growth_interval;
  /* state */
  double scale;
  guint good_steps, applied, skipped;
  double grad_norm;
  gsize n_clipped;        /* elements that clip_value changed in this step */
  double least_direction; /* for Lion: the smallest value whose sign was used */
  gboolean overflow;
} ReferenceOptimizer;

/* One step over n values; gradient holds scaled gradients, moments start as zero; a rule with one
 * moment does not change moment2. */
void reference_optimizer_step (ReferenceOptimizer *o, gsize n, double *weights,
                               const double *gradient, double *moment1, double *moment2);

G_END_DECLS
