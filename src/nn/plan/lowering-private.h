/* SPDX-License-Identifier: MIT */
/* The definition of DynoLowering, for the files that make, rewrite and plan it.
 *
 * lowering.c calls rematerialise.c, reorder.c and overlap.c.  The first two call lowering.c in
 * turn: they change the list of dispatches by lowering single nodes a second time. */
#pragma once
#include "lowering.h"

G_BEGIN_DECLS

struct _DynoLowering {
  DynoGraph *graph;
  DynoDeviceInfo info;
  DynoChoices *choices;     /* not owned; may be NULL */
  GPtrArray *dispatches;    /* DynoDispatch* */
  GPtrArray *tensors;       /* DynoTensor*: workspaces and rematerialised outputs, owned */
  GPtrArray *choice_points; /* DynoChoicePoint* */
  GHashTable *column_sums;  /* DynoTensor* -> DynoColumnSums*, owned */
  DynoStage stage;          /* of the dispatches being appended */
  gboolean rematerialising;
  /* activation that the node being lowered rematerialises besides its outputs; NULL: none */
  DynoTensor *rematerialised;
  DynoNode *node; /* the only node to lower; NULL: all */
  /* 1 + index of the last choice point of the node being lowered; 0: none */
  guint choice;
  gboolean chosen; /* a dispatch of the present choice point has been appended */
  /* added time of rematerialise.c, as a share of the step's estimated time */
  double recomputed_share;
  /* bytes of gradients per bucket, for a program in pieces; 0: derived from the net's size */
  guint64 bucket_bytes;
};

/* As dyno_lowering_new, without reorder.c and overlap.c: for their tests. */
DynoLowering *dyno_lowering_new_in_order (DynoGraph *graph, const DynoDeviceInfo *info,
                                          DynoChoices *choices, GError **error);

/* Appends a node's dispatches to the present list lowering->dispatches. */
void dyno_lowering_node (DynoLowering *lowering, DynoNode *node);

/* A new tensor of the same shape and type, to hold the tensor's rematerialised value. */
DynoTensor *dyno_lowering_tensor_like (DynoLowering *lowering, const DynoTensor *tensor);

/* rematerialise.c: drops values that the backward pass can compute again; keeps the list as it is
 * when that saves nothing. */
void dyno_lowering_rematerialise (DynoLowering *lowering);

/* reorder.c: lets weight gradients wait and backward nodes rematerialise activations; keeps the
 * list as it is when that saves little.  all: rematerialises every activation that can be
 * rematerialised, whatever the cost and the saving (for tests). */
void dyno_lowering_reorder (DynoLowering *lowering, gboolean all);

/* overlap.c: moves weight gradients into barrier levels that would otherwise leave most of the card
 * idle. */
void dyno_lowering_overlap (DynoLowering *lowering);

/* The same dispatches in the order with the lowest peak that was found, and that peak in bytes of
 * the arena; takes ownership of `list` and its dispatches, and the caller must hold the only
 * reference. */
GPtrArray *dyno_dispatches_order (GPtrArray *list, guint64 *peak);

/* plan.c: the most bytes of the arena that live at one barrier level of this list; no placement is
 * smaller.  Changes the tensors' offsets. */
guint64 dyno_dispatches_peak (GPtrArray *dispatches);

G_END_DECLS
