/* SPDX-License-Identifier: MIT */
/* One step of the strip above a run: a present choice for the next run, and the reasons against it,
 * from which the step's state follows.  Plain values without widgets or locks. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_STEP_READY,
  DYNO_STEP_PENDING, /* still being checked */
  DYNO_STEP_WARNING, /* a run can begin, but is likely to be worse */
  DYNO_STEP_BLOCKED, /* no run can begin */
} DynoStepState;

/* The action that removes a reason. */
typedef enum {
  DYNO_STEP_MEND_NONE,
  DYNO_STEP_MEND_AMP_OFF,
  DYNO_STEP_MEND_BATCH,   /* the better batch size (dyno_words_better_batch) */
  DYNO_STEP_MEND_WEIGHTS, /* no start weights: random values */
  DYNO_STEP_MEND_FOLDER,  /* another output folder */
  DYNO_STEP_MEND_MODEL,   /* a model that suits the data (fittingmodel.h) */
} DynoStepMend;

typedef struct {
  DynoStepState state;
  char *text; /* a sentence */
  DynoStepMend mend;
} DynoStepReason;

typedef struct {
  char *value;        /* the choice, shortened */
  char *whole;        /* the choice in full; NULL: value is already in full */
  GPtrArray *reasons; /* DynoStepReason; one with READY is a remark */
} DynoSetupStep;

/* Takes value and whole. */
DynoSetupStep *dyno_setup_step_new (char *value, char *whole);
void dyno_setup_step_free (DynoSetupStep *step);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSetupStep, dyno_setup_step_free)

/* Adds a reason; text NULL or "": adds none. */
void dyno_setup_step_add (DynoSetupStep *step, DynoStepState state, const char *text,
                          DynoStepMend mend);
/* The gravest state of the reasons; WARNING outranks PENDING. */
DynoStepState dyno_setup_step_get_state (const DynoSetupStep *step);
/* The first reason of that state; NULL: none. */
const DynoStepReason *dyno_setup_step_find (const DynoSetupStep *step, DynoStepState state);
/* The state and all reasons in words, a line each: "Please note:\n…".  Translated; g_free. */
char *dyno_setup_step_describe (const DynoSetupStep *step);
gboolean dyno_setup_step_equal (const DynoSetupStep *a, const DynoSetupStep *b);

G_END_DECLS
