/* SPDX-License-Identifier: MIT */
/* The states of a search's stages as they are shown.  The search itself may alternate between
 * stages; they are shown as beginning in order, each only once. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_TUNE_STAGE_DATA,
  DYNO_TUNE_STAGE_DEVICE,
  DYNO_TUNE_STAGE_SEARCH,
  DYNO_TUNE_STAGE_PROOF,
  DYNO_N_TUNE_STAGES,
} DynoTuneStage;

typedef enum {
  DYNO_STAND_TO_COME, /* also for a stage that was skipped */
  DYNO_STAND_AT_WORK,
  DYNO_STAND_DONE,
  DYNO_STAND_FAILED, /* the stage ended without a result */
} DynoCheckState;

typedef struct {
  DynoCheckState stands[DYNO_N_TUNE_STAGES];
  gboolean brought[DYNO_N_TUNE_STAGES]; /* the stage has a result */
} DynoStageOrder;

void dyno_stage_order_begin (DynoStageOrder *order);
/* Records that the stage is at work, and that earlier ones have ended.  Does nothing if a later
 * stage has begun. */
void dyno_stage_order_work (DynoStageOrder *order, DynoTuneStage stage);
/* Records that the stage has a result. */
void dyno_stage_order_bring (DynoStageOrder *order, DynoTuneStage stage);
/* Records that no stage is at work any more. */
void dyno_stage_order_end (DynoStageOrder *order);

G_END_DECLS
