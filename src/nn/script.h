/* SPDX-License-Identifier: MIT */
/* What a program records, as a list: dispatches, barriers, cuts between submits, marks of time.
 * And the check of it. */
#pragma once
#include "plan-private.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_SCRIPT_DISPATCH,
  DYNO_SCRIPT_BARRIER,
  DYNO_SCRIPT_CUT,  /* the command ends, another begins (with a full barrier) */
  DYNO_SCRIPT_MARK, /* a timestamp: index is its slot */
} DynoScriptStep;

typedef struct {
  DynoScriptStep step;
  guint index; /* of the dispatch or the timer's slot */
} DynoScriptItem;

#define DYNO_SCRIPT_MARKS 4 /* start, end of forward, of backward, of optimizer */

/* A guess at the time of the dispatches, for a slow device of its kind. */
double dyno_dispatches_seconds (GPtrArray *dispatches, const DynoDeviceInfo *info);

/* The items (DynoScriptItem) for the dispatches of the stages in the mask (1 << DynoStage).  Cuts
 * are made where the estimated time of a submit passes a tenth of a second on a device that is not
 * a CPU. */
GArray *dyno_script_new (GPtrArray *dispatches, guint stage_mask, const DynoDeviceInfo *info);

/* The hazard check: walks the script with no regard to how it was made, pair by pair.  FALSE with a
 * text that names the first pair of dispatches that conflict without a barrier between. */
gboolean dyno_script_check (GArray *script, GPtrArray *dispatches, char **conflict);

G_END_DECLS
