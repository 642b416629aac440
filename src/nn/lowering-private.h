/* SPDX-License-Identifier: MIT */
/* The inside of a lowering, for the files that make, rewrite and plan it. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

struct _DynoLowering {
  DynoGraph *graph;
  DynoDeviceInfo info;
  DynoChoices *choices;     /* not owned; may be NULL */
  GPtrArray *dispatches;    /* DynoDispatch* */
  GPtrArray *tensors;       /* DynoTensor*: workspaces and recomputed outputs, owned */
  GPtrArray *choice_points; /* DynoChoicePoint* */
  DynoStage stage;          /* of the dispatches being appended */
  gboolean recompute;
  DynoNode *node; /* the only one, or NULL: all */
};

/* Appends a node's dispatches to the list that lowering->dispatches is now. */
void dyno_lowering_node (DynoLowering *lowering, DynoNode *node);

/* recompute.c: drops what backward can have again; keeps the list as it is when that saves nothing. */
void dyno_lowering_recompute (DynoLowering *lowering);

G_END_DECLS
