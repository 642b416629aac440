/* SPDX-License-Identifier: MIT */
/* Constant folding: operators over numbers that are known before the network runs, and the code
 * that their files share.  fold.c has the table of the operators; fold-elementwise.c has
 * elementwise operators, fold-axes.c operators that move numbers, fold-index.c operators that take
 * numbers by index, fold-reduce.c reductions over axes, fold-make.c operators that make new
 * numbers.
 *
 * A reader checks the sizes, makes the output by dyno_fold_make or dyno_fold_new_like, which refuse
 * an output that is too large, and iterates over its numbers by a walk.  The import bounds the
 * total of the numbers that are read and made (DYNO_IMPORT_MAX_NUMBERS), so that a small file
 * cannot cause much work.
 *
 * Private to the folder.  An import belongs to one thread. */
#pragma once
#include "import-private.h"

G_BEGIN_DECLS

/* Twice the axes of a constant: Tile walks over copies and over numbers. */
#define DYNO_FOLD_MAX_DIMS (2 * DYNO_CONSTANT_MAX_DIMS)
#define DYNO_FOLD_PLACES   3

/* A walk over all elements of dims, the last axis fastest.  It keeps an index into each of up to
 * DYNO_FOLD_PLACES arrays, which has a stride for each axis. */
typedef struct {
  guint n_dims;
  gint64 dims[DYNO_FOLD_MAX_DIMS], at[DYNO_FOLD_MAX_DIMS];
  gint64 strides[DYNO_FOLD_PLACES][DYNO_FOLD_MAX_DIMS];
  gint64 place[DYNO_FOLD_PLACES];
} DynoFoldWalk;

/* Begins with all indices and strides 0. */
void dyno_fold_walk_init (DynoFoldWalk *walk, const gint64 *dims, guint n_dims);
/* Sets the strides of index k to the strides of the constant, whose axes are the walk's last axes;
 * an axis of extent 1 is repeated. */
void dyno_fold_walk_broadcast (DynoFoldWalk *walk, guint k, const DynoConstant *constant);
void dyno_fold_walk_next (DynoFoldWalk *walk);

/* Distances between neighbours along each axis of an array. */
void dyno_fold_strides (const gint64 *dims, guint n_dims, gint64 *strides);
gint64 dyno_fold_count (const gint64 *dims, guint n_dims);

/* Input i as a constant; NULL: it is not a constant, and the node was refused. */
const DynoConstant *dyno_fold_known (DynoImport *import, const DynoOnnxNode *node, guint i);
/* The same for an optional input, which is an attribute in earlier opsets; if both are missing,
 * *numbers is NULL.  FALSE: the node was refused. */
gboolean dyno_fold_optional (DynoImport *import, const DynoOnnxNode *node, guint i,
                             const char *attribute, const DynoConstant **numbers);
/* A new constant, whose numbers the import counts.  NULL: there are too many, and the node was
 * refused. */
DynoConstant *dyno_fold_make (DynoImport *import, const DynoOnnxNode *node, gboolean is_int,
                              const gint64 *dims, guint n_dims);
DynoConstant *dyno_fold_new_like (DynoImport *import, const DynoOnnxNode *node,
                                  const DynoConstant *like, const gint64 *dims, guint n_dims);
/* Refuses the node, since its numbers overflow, divide by zero or the like; frees the output. */
gboolean dyno_fold_overflows (DynoImport *import, const DynoOnnxNode *node, DynoConstant *made);
gboolean dyno_fold_refuse_dims (DynoImport *import, const DynoOnnxNode *node);

/* An axis, counted from the front; FALSE: it is out of range, and the node was refused. */
gboolean dyno_fold_axis (DynoImport *import, const DynoOnnxNode *node, gint64 given, guint n_dims,
                         guint *axis);
/* The axes of a list as a bit mask; list NULL: all axes. */
gboolean dyno_fold_axes (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *list,
                         guint n_dims, guint *set);
/* An index, counted from the front; FALSE: it is out of range, and the node was refused. */
gboolean dyno_fold_index (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *list,
                          guint i, gint64 n, gint64 *index);
/* Fills dims (DYNO_CONSTANT_MAX_DIMS) from a list of sizes; FALSE: one is negative, or there are
 * too many, and the node was refused. */
gboolean dyno_fold_take_dims (DynoImport *import, const DynoOnnxNode *node,
                              const DynoConstant *list, gint64 *dims);
/* The shape that two shapes broadcast to; FALSE: they do not broadcast, and the node was
 * refused. */
gboolean dyno_fold_broadcast (DynoImport *import, const DynoOnnxNode *node, const gint64 *dims,
                              guint n_dims, gint64 *to, guint *n_to);
/* Sets output 0 to the numbers of data with other axes. */
gboolean dyno_fold_reshape (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *data,
                            const gint64 *dims, guint n_dims);

/* --- readers ---------------------------------------------------------------------------------- */

gboolean dyno_fold_elementwise (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_clip (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_where (DynoImport *import, const DynoOnnxNode *node);

gboolean dyno_fold_expand (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_tile (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_transpose (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_reshape_node (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_squeeze (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_unsqueeze (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_flatten (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_slice (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_concat (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_split (DynoImport *import, const DynoOnnxNode *node);

gboolean dyno_fold_gather (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_gather_nd (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_gather_elements (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_scatter_nd (DynoImport *import, const DynoOnnxNode *node);

gboolean dyno_fold_reduce (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_cum_sum (DynoImport *import, const DynoOnnxNode *node);

gboolean dyno_fold_constant_of_shape (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_range (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_cast (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_cast_like (DynoImport *import, const DynoOnnxNode *node);
gboolean dyno_fold_trilu (DynoImport *import, const DynoOnnxNode *node);

G_END_DECLS
