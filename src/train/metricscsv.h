/* SPDX-License-Identifier: MIT */
/* Rows of metrics.csv.  Private to the train layer. */
#pragma once
#include "metrics.h"

G_BEGIN_DECLS

/* The head line, newline included. */
#define DYNO_METRICS_CSV_HEAD                                                                     \
  "step,epoch,loss,accuracy,lr,samples_per_s,step_ms,wait_data_ms,upload_ms,forward_ms,backward_" \
  "ms,optimizer_ms,grad_norm,"                                                                    \
  "loss_scale,skipped,vram_bytes,vram_all_bytes,seconds,train_loss,train_accuracy,val_loss,val_"  \
  "accuracy,is_error,epoch_"                                                                      \
  "samples_per_s,epoch_seconds\n"

/* One line; epoch may be NULL.  What there is no number for (NaN, Inf) is written as nan, inf or
 * -inf; epoch columns of other rows are empty.  The same bytes in any locale. */
void dyno_metrics_csv_append (GString *text, const DynoStepMetrics *step,
                              const DynoEpochMetrics *epoch);

/* A line back into numbers, newline left out.  FALSE: it is not whole.  Digits that were not
 * written are not there. */
gboolean dyno_metrics_csv_parse (const char *line, DynoStepMetrics *step, DynoEpochMetrics *epoch,
                                 gboolean *has_epoch);

G_END_DECLS
