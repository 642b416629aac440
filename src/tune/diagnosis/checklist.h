/* SPDX-License-Identifier: MIT */
/* The check list of a run: the items that guides ask for before, during and after a run, and for
 * each item whether it is done, open, or cannot be known.
 *
 * A diagnosis lists its findings; this list has every item, also the items that are well, so that
 * an unchecked item is not taken as done.  It is pure, as dyno_diagnose is, and judges by the same
 * input. */
#pragma once
#include "diagnosis.h"

G_BEGIN_DECLS

typedef enum { DYNO_ITEM_DONE, DYNO_ITEM_OPEN, DYNO_ITEM_UNKNOWN } DynoItemState;

typedef struct {
  const char *id; /* "batch-measured": static, the same in every version */
  DynoCheck check;
  DynoItemState state;
  char *text; /* a sentence about the state */
  char *next; /* advice; NULL where the item is done */
} DynoCheckItem;

/* Every item once (DynoCheckItem *), by list; diagnosis: that of the same input.
 * g_ptr_array_unref. */
GPtrArray *dyno_checklist_new (const DynoDiagnosisInput *input, const DynoDiagnosis *diagnosis);

const char *dyno_item_state_name (DynoItemState state); /* "done", "open", "unknown" */

G_END_DECLS
