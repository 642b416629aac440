/* SPDX-License-Identifier: MIT */
/* Helpers of the diagnosis tests: a machine and a run on it, from which an input is made, without a
 * device, a clock or files. */
#pragma once
#include "diagnosis.h"

G_BEGIN_DECLS

/* Times of a step in milliseconds. */
typedef struct {
  DynoDiagnosisInput in;
  guint n;
  double step_ms, wait_ms, upload_ms, host_copy_ms, forward_ms, backward_ms, optimizer_ms;
  double decode_ms, fetch_ms; /* of one sample */
  guint workers, batch;
  double late_factor;  /* of the steps in the last half */
  double wait_until;   /* share of the run after which no step waits for data; 0: the end */
  guint64 vram_growth; /* by the end of the run */
  guint64 vram_all;
  guint n_bad; /* number of last losses that are NaN */
  double skipped_share;
  double loss0, loss1;
  guint n_epochs;
  double train_loss[8], val_loss[8], validation_s, saving_s;
} Machine;

/* A healthy run on a GPU: 64 samples in 10 ms, data ahead, learning. */
void machine_init (Machine *m);

/* Each step waits wait_ms for data; a worker decodes a sample in decode_ms. */
void wait_for_data (Machine *m, double wait_ms, double decode_ms);

/* Two ranks: the exchange takes this many milliseconds of each step that are not hidden. */
void exchange_for (Machine *m, double exchange_ms);

DynoDiagnosis *diagnose (Machine *m);

G_END_DECLS
