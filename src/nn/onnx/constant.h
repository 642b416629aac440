/* SPDX-License-Identifier: MIT */
/* Numbers of an ONNX graph that are known before the network runs: shapes, axes, factors. */
#pragma once
#include "model.h"

G_BEGIN_DECLS

#define DYNO_CONSTANT_MAX_DIMS 8
/* The attention masks of Swin have (windows, 49, 49) to (windows, 144, 144) numbers. */
#define DYNO_CONSTANT_MAX_COUNT (1 << 22)

/* Filled by the code that creates it, and immutable afterwards. */
typedef struct {
  guint n_refs; /* not atomic: an import belongs to one thread */
  guint n_dims; /* 0: one number without axes */
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint count;     /* the product of dims */
  gboolean is_int; /* TRUE: integers or booleans, in ints; else in floats */
  /* for floats: they have 64 bits; other floats are rounded to 32, so that Floor and Ceil of
   * results equal PyTorch's */
  gboolean is_double;
  gint64 *ints; /* one of ints and floats is NULL */
  double *floats;
} DynoConstant;

/* A constant of zeros.  NULL: it would have more than DYNO_CONSTANT_MAX_COUNT numbers. */
DynoConstant *dyno_constant_new (gboolean is_int, const gint64 *dims, guint n_dims);
/* The same, with the type of `like`. */
DynoConstant *dyno_constant_new_like (const DynoConstant *like, const gint64 *dims, guint n_dims);
DynoConstant *dyno_constant_ref (DynoConstant *constant);
void dyno_constant_free (DynoConstant *constant);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoConstant, dyno_constant_free)

/* The values of a tensor.  NULL: there are too many of them, their type is not supported, or they
 * could not be read. */
DynoConstant *dyno_constant_read (const DynoOnnxModel *model, const DynoOnnxTensor *tensor);

double dyno_constant_float (const DynoConstant *constant, guint i);
/* Floats are rounded towards zero and clamped to the range from -2^62 to 2^62; NAN gives 0. */
gint64 dyno_constant_int (const DynoConstant *constant, guint i);
/* to[at] = from[i], with the type of to. */
void dyno_constant_set (DynoConstant *to, guint at, const DynoConstant *from, guint i);
/* to[at] = value; to has floats. */
void dyno_constant_set_float (DynoConstant *to, guint at, double value);
/* TRUE: it is not empty, and all of its numbers are equal; *number is then their value. */
gboolean dyno_constant_is_uniform (const DynoConstant *constant, double *number);

G_END_DECLS
