/* SPDX-License-Identifier: MIT */
/* How far the stages of a search are.  The search itself goes back and forth between them; people
 * see them begin in their order, and none again. */
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
  DYNO_STAND_TO_COME, /* also of a stage that was passed over */
  DYNO_STAND_AT_WORK,
  DYNO_STAND_DONE,
  DYNO_STAND_FAILED, /* it was at work and has brought nothing */
} DynoStand;

typedef struct {
  DynoStand stands[DYNO_N_TUNE_STAGES];
  gboolean brought[DYNO_N_TUNE_STAGES]; /* a result */
} DynoStageOrder;

void dyno_stage_order_begin (DynoStageOrder *order);
/* The stage is at work, and those before it are over.  A stage that came before is not begun again.
 */
void dyno_stage_order_work (DynoStageOrder *order, DynoTuneStage stage);
/* The stage has brought a result, now or before. */
void dyno_stage_order_bring (DynoStageOrder *order, DynoTuneStage stage);
/* Nothing is at work any more. */
void dyno_stage_order_end (DynoStageOrder *order);

G_END_DECLS
