/* SPDX-License-Identifier: MIT */
/* A view: the axes that an ONNX value has, over the tensor (N, H, W, C) that holds the value.
 *
 * Each axis of the value is a product of parts of the tensor's axes, outermost part first:
 * flattening (N, C, H, W) to (N, C H W) gives the axes N and C H W, and the heads of an attention
 * split C in two.  Transpose and Reshape change the view and move no memory; an op that needs its
 * input in a certain form asks for the form by dyno_view_is.  Parts of extent 1 are left out, so
 * that Squeeze and Unsqueeze are a Reshape as well.
 *
 * The batch of a view is the batch in the file, whatever batch the graph has: exports contain their
 * batch in the constants of their shapes, such as (24, 197, 64) for 2 samples of 12 heads.  No op
 * moves elements from one sample to another, so a view with the file's batch describes the graph's
 * samples too.
 *
 * A view may cover only a run of channels, which starts at `begin`.
 *
 * A view is a plain value: copy it by assignment. */
#pragma once
#include "graph.h"

G_BEGIN_DECLS

#define DYNO_VIEW_MAX_DIMS  9
#define DYNO_VIEW_MAX_PARTS 12 /* parts of a reshaped view */

typedef struct {
  char axis;      /* of the tensor: 'N', 'H', 'W' or 'C' */
  guint32 extent; /* > 1 */
  guint32 stride; /* from one element of the part to the next, in elements of the tensor's axis */
} DynoViewPart;

typedef struct {
  guint32 batch; /* extent of the axis N */
  guint32 begin; /* channels of the tensor before the first channel of the view */
  guint n_dims;
  guint end[DYNO_VIEW_MAX_DIMS]; /* axis i has the parts from end[i - 1] (0 for i = 0) to end[i] */
  /* one part more for each of height, width and channels, when they are created */
  DynoViewPart parts[DYNO_VIEW_MAX_PARTS + 3];
} DynoView;

/* The view of a tensor in which each word of form is an axis: "N C H W", "N CHW", "N W C".  Axes of
 * the tensor that the form leaves out have the extent 1. */
void dyno_view_init (DynoView *view, const DynoTensor *tensor, guint32 batch, const char *form);
/* TRUE: the view is the tensor's view of that form, of all channels. */
gboolean dyno_view_is (const DynoView *view, const DynoTensor *tensor, const char *form);
gboolean dyno_view_equal (const DynoView *a, const DynoView *b);
/* The first part of an axis. */
guint dyno_view_begin (const DynoView *view, guint axis);
/* Appends a part to an axis, the last one that has parts; it is joined with the part before it where
 * they are contiguous, and a part of one element is left out. */
void dyno_view_add_part (DynoView *view, guint axis, DynoViewPart part);
guint64 dyno_view_dim (const DynoView *view, guint axis);

/* Keeps the elements from `begin` to before `end` of an axis.  FALSE: they are not a run of the
 * axis' first part, or that part is not of the channels; the view is then unchanged. */
gboolean dyno_view_slice (DynoView *view, guint axis, guint64 begin, guint64 end);
/* TRUE: the channels of the view are exactly the channels [begin, begin + *count) of its tensor. */
gboolean dyno_view_is_run (const DynoView *view, guint32 *count);

/* Gives an axis, which is the whole axis `part` of the tensor, another extent. */
void dyno_view_resize (DynoView *view, guint axis, char part, guint32 extent);

/* Gives the view other axes over the same elements in the same order.  FALSE: the number of
 * elements differs, or an axis would begin inside of a part at a position where the part cannot be
 * split; the view is then unchanged. */
gboolean dyno_view_reshape (DynoView *view, const gint64 *dims, guint n_dims);
/* Axis i of the result is the previous axis perm[i]; perm is a permutation. */
void dyno_view_transpose (DynoView *view, const guint *perm);

/* "(8, 3, 224, 224)"; g_free. */
char *dyno_view_print (const DynoView *view);

G_END_DECLS
