/* SPDX-License-Identifier: MIT */
/* Rows of metrics.csv.  Private to the train floor. */
#pragma once
#include "metrics.h"

G_BEGIN_DECLS

/* The head line, newline included. */
#define DYNO_METRICS_CSV_HEAD                                                                                              \
  "step,epoch,loss,accuracy,lr,samples_per_s,step_ms,wait_data_ms,upload_ms,forward_ms,backward_ms,optimizer_ms,grad_norm," \
  "loss_scale,skipped,vram_bytes,vram_all_bytes,seconds,train_loss,train_accuracy,val_loss,val_accuracy,epoch_seconds\n"

/* One line; epoch may be NULL.  What there is no number for (NaN, Inf) is written as nan, inf or -inf; epoch columns of other rows
 * are empty.  The same bytes in any locale. */
void dyno_metrics_csv_append (GString *text, const DynoStepMetrics *step, const DynoEpochMetrics *epoch);

G_END_DECLS
