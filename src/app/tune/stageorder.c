/* SPDX-License-Identifier: MIT */
#include "stageorder.h"

void
dyno_stage_order_begin (DynoStageOrder *order)
{
  *order = (DynoStageOrder){ 0 };
}

/* Ends the earlier stages that are at work. */
static void
end_before (DynoStageOrder *order, guint stage)
{
  for (guint i = 0; i < stage; i++)
    if (order->stands[i] == DYNO_STAND_AT_WORK)
      order->stands[i] = order->brought[i] ? DYNO_STAND_DONE : DYNO_STAND_FAILED;
}

void
dyno_stage_order_work (DynoStageOrder *order, DynoTuneStage stage)
{
  for (guint i = stage + 1; i < DYNO_N_TUNE_STAGES; i++)
    if (order->stands[i] != DYNO_STAND_TO_COME)
      return;
  end_before (order, stage);
  order->stands[stage] = DYNO_STAND_AT_WORK;
}

void
dyno_stage_order_bring (DynoStageOrder *order, DynoTuneStage stage)
{
  order->brought[stage] = TRUE;
  if (order->stands[stage] == DYNO_STAND_FAILED)
    order->stands[stage] = DYNO_STAND_DONE;
}

void
dyno_stage_order_end (DynoStageOrder *order)
{
  end_before (order, DYNO_N_TUNE_STAGES);
}
