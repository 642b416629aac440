/* SPDX-License-Identifier: MIT */
/* Batch norm with an optional residual and activation on the CPU in double: PyTorch's BatchNorm.
 * Dense arrays of rows x c. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gsize rows;
  guint32 c;
  const double *x, *gamma, *beta;
  const double *residual; /* NULL: none */
  guint activation;       /* see elementwise.h */
  double parameter;       /* of the activation, if it has one */
  double eps, momentum;   /* 0 means 1e-5 and 0.1 */
} ReferenceBatchNorm;

/* Training: uses the batch's statistics, and updates running_mean and running_variance (may be
 * NULL). */
void reference_batch_norm_train (const ReferenceBatchNorm *s, double *running_mean,
                                 double *running_variance, double *y);
void reference_batch_norm_evaluate (const ReferenceBatchNorm *s, const double *running_mean,
                                    const double *running_variance, double *y);
/* Overwrites its outputs; dresidual may be NULL. */
void reference_batch_norm_backward (const ReferenceBatchNorm *s, const double *dy, double *dx,
                                    double *dresidual, double *dgamma, double *dbeta);

G_END_DECLS
