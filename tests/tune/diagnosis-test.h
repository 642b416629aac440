/* SPDX-License-Identifier: MIT */
/* What the tests of the diagnosis share: a machine and a run on it, from which an input is made.  No
 * device, no clock, no file. */
#pragma once
#include "diagnosis.h"

G_BEGIN_DECLS

/* Times of a step in milliseconds. */
typedef struct {
  DynoDiagnosisInput in;
  guint n;
  double step_ms, wait_ms, upload_ms, host_copy_ms, forward_ms, backward_ms, optimizer_ms;
  double decode_ms, fetch_ms; /* of a sample */
  guint workers, batch;
  double late_factor;  /* of the last half's steps */
  double wait_until;   /* share of the run after which no data is waited for; 0: to its end */
  guint64 vram_growth; /* by the end */
  guint64 vram_all;
  guint n_bad; /* last losses that are NaN */
  double skipped_share;
  double loss0, loss1;
  guint n_epochs;
  double train_loss[8], val_loss[8], validation_s, saving_s;
} Machine;

/* A healthy run on a GPU: 64 samples in 10 ms, data ahead, learning. */
void machine_init (Machine *m);

/* So many milliseconds of a step are waited for data, which a worker decodes in so many. */
void wait_for_data (Machine *m, double wait_ms, double decode_ms);

/* Two ranks: the exchange takes so many milliseconds of each step that nothing hides. */
void exchange_for (Machine *m, double exchange_ms);

DynoDiagnosis *diagnose (Machine *m);

G_END_DECLS
