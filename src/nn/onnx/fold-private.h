/* SPDX-License-Identifier: MIT */
/* Operators over numbers that are known before the network runs: what their families share.  fold.c
 * has the table of the operators; fold-elementwise.c those that compute each number from one of each
 * input, fold-axes.c those that move numbers, fold-index.c those that take numbers by their places,
 * fold-reduce.c sums and the like over axes, fold-make.c those that make new numbers.
 *
 * A reader checks its sizes, makes the output by dyno_fold_make or dyno_fold_new_like, which refuse
 * one that is too large, and goes over its numbers by a walk.  The import bounds the numbers that
 * are read and made in all (DYNO_IMPORT_MAX_NUMBERS), so that a small file is not much work.
 *
 * Private to the folder, and to one import's thread. */
#pragma once
#include "import-private.h"

G_BEGIN_DECLS

/* Twice those of a constant: Tile walks over copies and over numbers. */
#define DYNO_FOLD_MAX_DIMS (2 * DYNO_CONSTANT_MAX_DIMS)
#define DYNO_FOLD_PLACES   3

/* A walk over all elements of dims, the last axis fastest, which keeps a place in each of up to
 * DYNO_FOLD_PLACES arrays: the place's step along each axis is its stride. */
typedef struct {
  guint n_dims;
  gint64 dims[DYNO_FOLD_MAX_DIMS], at[DYNO_FOLD_MAX_DIMS];
  gint64 strides[DYNO_FOLD_PLACES][DYNO_FOLD_MAX_DIMS];
  gint64 place[DYNO_FOLD_PLACES];
} DynoFoldWalk;

/* Begins with all places and strides 0. */
void dyno_fold_walk_init (DynoFoldWalk *walk, const gint64 *dims, guint n_dims);
/* The strides of place k: those of the constant, whose axes are the walk's last ones; an axis of 1
 * is repeated. */
void dyno_fold_walk_broadcast (DynoFoldWalk *walk, guint k, const DynoConstant *constant);
void dyno_fold_walk_next (DynoFoldWalk *walk);

/* Distances between neighbours along each axis of an array. */
void dyno_fold_strides (const gint64 *dims, guint n_dims, gint64 *strides);
gint64 dyno_fold_count (const gint64 *dims, guint n_dims);

/* Input i as known numbers; NULL: it is none, which was refused. */
const DynoConstant *dyno_fold_known (DynoImport *import, const DynoOnnxNode *node, guint i);
/* The same where it may be left out: *numbers is then NULL. */
gboolean dyno_fold_optional (DynoImport *import, const DynoOnnxNode *node, guint i,
                             const char *attribute, const DynoConstant **numbers);
/* Numbers, which the import counts.  NULL: they are too many, which was refused. */
DynoConstant *dyno_fold_make (DynoImport *import, const DynoOnnxNode *node, gboolean is_int,
                              const gint64 *dims, guint n_dims);
DynoConstant *dyno_fold_new_like (DynoImport *import, const DynoOnnxNode *node,
                                  const DynoConstant *like, const gint64 *dims, guint n_dims);
/* Refuses numbers that overflow, divide by zero or the like; frees the output. */
gboolean dyno_fold_overflows (DynoImport *import, const DynoOnnxNode *node, DynoConstant *made);
gboolean dyno_fold_refuse_dims (DynoImport *import, const DynoOnnxNode *node);

/* An axis from the front; FALSE: it is out of range, which was refused. */
gboolean dyno_fold_axis (DynoImport *import, const DynoOnnxNode *node, gint64 given, guint n_dims,
                         guint *axis);
/* The axes of a list as a set of bits; NULL: all of them. */
gboolean dyno_fold_axes (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *list,
                         guint n_dims, guint *set);
/* An index from the front; FALSE: it is out of range, which was refused. */
gboolean dyno_fold_index (DynoImport *import, const DynoOnnxNode *node, const DynoConstant *list,
                          guint i, gint64 n, gint64 *index);
/* Fills dims (DYNO_CONSTANT_MAX_DIMS) from a list of sizes; FALSE: one is negative, or they are too
 * many, which was refused. */
gboolean dyno_fold_take_dims (DynoImport *import, const DynoOnnxNode *node,
                              const DynoConstant *list, gint64 *dims);
/* The shape that two shapes broadcast to; FALSE: they do not, which was refused. */
gboolean dyno_fold_broadcast (DynoImport *import, const DynoOnnxNode *node, const gint64 *dims,
                              guint n_dims, gint64 *to, guint *n_to);
/* Output 0: the numbers of data with other axes, as many. */
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
