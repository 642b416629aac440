/* SPDX-License-Identifier: MIT */
/* The five present choices for the next run, each with the reasons against it.  The rules are in
 * obstacles.h, datainspector.h, pathcheck.h, preset.h and words.h; this file only assigns their
 * results to the steps. */
#pragma once
#include "datainspector.h"
#include "pathcheck.h"
#include "setupstep.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_SETUP_STEP_DATA,
  DYNO_SETUP_STEP_MODEL,
  DYNO_SETUP_STEP_WEIGHTS,
  DYNO_SETUP_STEP_DEVICE,
  DYNO_SETUP_STEP_FOLDER,
  DYNO_SETUP_N_STEPS
} DynoSetupStepKind;

const char *dyno_setup_steps_get_title (DynoSetupStepKind kind); /* translated */
/* Free with dyno_setup_step_free. */
DynoSetupStep *dyno_setup_steps_look (DynoSetupStepKind kind, DynoSetup *setup,
                                      DynoDataInspector *inspector, DynoPathCheck *paths);

G_END_DECLS
