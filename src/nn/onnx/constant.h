/* SPDX-License-Identifier: MIT */
/* Numbers of an ONNX graph that are known before the network runs: shapes, axes, factors. */
#pragma once
#include "model.h"

G_BEGIN_DECLS

#define DYNO_CONSTANT_MAX_DIMS  8
#define DYNO_CONSTANT_MAX_COUNT 65536

typedef struct {
  guint n_dims; /* 0: one number without axes */
  gint64 dims[DYNO_CONSTANT_MAX_DIMS];
  guint count;     /* the product of dims */
  gboolean is_int; /* integers or booleans: in ints; else in floats */
  gint64 *ints;    /* one of the two is NULL */
  double *floats;
} DynoConstant;

/* Zeros.  NULL: there would be more than DYNO_CONSTANT_MAX_COUNT. */
DynoConstant *dyno_constant_new (gboolean is_int, const gint64 *dims, guint n_dims);
DynoConstant *dyno_constant_copy (const DynoConstant *constant);
void dyno_constant_free (DynoConstant *constant);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoConstant, dyno_constant_free)

/* The values of a tensor.  NULL: they are too many, of a type that is not read, or could not be
 * read. */
DynoConstant *dyno_constant_read (const DynoOnnxModel *model, const DynoOnnxTensor *tensor);

double dyno_constant_float (const DynoConstant *constant, guint i);
/* Floats are rounded towards zero. */
gint64 dyno_constant_int (const DynoConstant *constant, guint i);

G_END_DECLS
