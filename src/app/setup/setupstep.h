/* SPDX-License-Identifier: MIT */
/* One step of the strip above a run: a choice of the next run, as it is now, and what speaks
 * against it.  Its state follows from its reasons.  No widgets; values without locks. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_STEP_READY,
  DYNO_STEP_PENDING, /* it is still being looked at */
  DYNO_STEP_WARNING, /* a run can begin, and is likely to be worse for it */
  DYNO_STEP_BLOCKED, /* no run can begin */
} DynoStepState;

/* That which takes a reason away. */
typedef enum {
  DYNO_STEP_MEND_NONE,
  DYNO_STEP_MEND_AMP_OFF,
  DYNO_STEP_MEND_BATCH,   /* the better batch size (dyno_words_better_batch) */
  DYNO_STEP_MEND_WEIGHTS, /* none of them: random values */
  DYNO_STEP_MEND_FOLDER,  /* another one */
  DYNO_STEP_MEND_MODEL,   /* one that suits the data (fittingmodel.h) */
} DynoStepMend;

typedef struct {
  DynoStepState state;
  char *text; /* a sentence */
  DynoStepMend mend;
} DynoStepReason;

typedef struct {
  char *value;        /* what is chosen, in short */
  char *whole;        /* the same, whole; NULL: value is */
  GPtrArray *reasons; /* DynoStepReason; READY: a remark */
} DynoSetupStep;

/* value, whole: taken. */
DynoSetupStep *dyno_setup_step_new (char *value, char *whole);
void dyno_setup_step_free (DynoSetupStep *step);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoSetupStep, dyno_setup_step_free)

/* NULL or "": there is no reason. */
void dyno_setup_step_add (DynoSetupStep *step, DynoStepState state, const char *text,
                          DynoStepMend mend);
/* The gravest state of the reasons; a known warning counts more than that others may come. */
DynoStepState dyno_setup_step_get_state (const DynoSetupStep *step);
/* The first reason of that state; NULL: none. */
const DynoStepReason *dyno_setup_step_find (const DynoSetupStep *step, DynoStepState state);
/* The state and all reasons in words, a line each: "Please note:\n…".  Translated; g_free. */
char *dyno_setup_step_describe (const DynoSetupStep *step);
gboolean dyno_setup_step_equal (const DynoSetupStep *a, const DynoSetupStep *b);

G_END_DECLS
