/* SPDX-License-Identifier: MIT */
/* The commands of a program as a list: dispatches, barriers, splits between submits, timestamps;
 * and the check of this list. */
#pragma once
#include "plan-private.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_COMMAND_LIST_DISPATCH,
  DYNO_COMMAND_LIST_BARRIER,
  /* the submit ends and another begins (with a full barrier); index 1: a piece ends here */
  DYNO_COMMAND_LIST_SUBMIT_SPLIT,
  DYNO_COMMAND_LIST_TIMESTAMP, /* index: the timer's slot */
} DynoCommandListKind;

typedef struct {
  DynoCommandListKind kind;
  guint index; /* of the dispatch or the timer's slot */
} DynoCommandListItem;

#define DYNO_COMMAND_LIST_TIMESTAMPS 4 /* start, end of forward, of backward, of optimizer */

/* Estimates the time of the dispatches on a slow device of this device's kind. */
double dyno_dispatches_seconds (GPtrArray *dispatches, const DynoDeviceInfo *info);

/* The items (DynoCommandListItem) for the dispatches of the stages in the mask (1 << DynoStage).
 * Submit splits are made where the estimated time of a submit passes a tenth of a second on a
 * device that is not a CPU, and where a piece ends: ends (guint; NULL: no piece ends) are as from
 * dyno_buckets_find. */
GArray *dyno_command_list_new (GPtrArray *dispatches, guint stage_mask, const GArray *ends,
                               const DynoDeviceInfo *info);

/* The hazard check: compares the list's dispatches pair by pair, independently of the code that
 * places barriers.  FALSE with a text that names the first pair of dispatches that conflict without
 * a barrier between them. */
gboolean dyno_command_list_check (GArray *list, GPtrArray *dispatches, char **conflict);

G_END_DECLS
