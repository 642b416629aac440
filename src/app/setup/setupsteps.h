/* SPDX-License-Identifier: MIT */
/* The five choices that a run is made of, as they are now: what each is, and what speaks against
 * it.  The rules are elsewhere (obstacles.h, datainspector.h, pathcheck.h, preset.h, words.h);
 * this only says to which step each of their answers belongs. */
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
