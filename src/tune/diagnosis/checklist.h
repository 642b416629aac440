/* SPDX-License-Identifier: MIT */
/* The check list of a run, item by item: what guides ask to be done before a run, to be watched in it and
 * to be looked at after it, and which of it is done, is not, or cannot be known.
 *
 * A diagnosis says what it has found; this list has every item, also those that are well, so that nothing
 * is taken as done which nobody has looked at.  It is pure, as dyno_diagnose is, and judges by the same
 * input. */
#pragma once
#include "diagnosis.h"

G_BEGIN_DECLS

typedef enum { DYNO_ITEM_DONE, DYNO_ITEM_OPEN, DYNO_ITEM_UNKNOWN } DynoItemState;

typedef struct {
  const char *id; /* "batch-measured": static, the same in every version */
  DynoCheck check;
  DynoItemState state;
  char *text; /* a sentence: what is so */
  char *next; /* what to do; NULL where it is done */
} DynoCheckItem;

/* Every item once (DynoCheckItem *), by list; diagnosis: of the same input.  g_ptr_array_unref. */
GPtrArray *dyno_checklist_new (const DynoDiagnosisInput *input, const DynoDiagnosis *diagnosis);

const char *dyno_item_state_name (DynoItemState state); /* "done", "open", "unknown" */

G_END_DECLS
