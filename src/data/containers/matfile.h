/* SPDX-License-Identifier: MIT */
/* MATLAB's .mat files of version 5 (also called 6 and 7): the numeric arrays in them, plain or
 * compressed, of either byte order.  "MAT-File Format", The MathWorks, chapter 1. */
#pragma once
#include "data-error.h"

G_BEGIN_DECLS

#define DYNO_MAT_MAX_DIMS 8

typedef struct {
  char *name;
  guint n_dims; /* at least 2 */
  guint64 shape[DYNO_MAT_MAX_DIMS];
  guint64 n_items;
  double *items; /* first index fastest */
} DynoMatArray;

/* The real numeric arrays of the wanted names (NULL-terminated), which other classes are not, out of a
 * file in memory: DynoMatArray, free with g_ptr_array_unref.  Errors: CORRUPT, UNSUPPORTED (version
 * 7.3, no .mat file), TOO_LARGE. */
GPtrArray *dyno_mat_parse (const guint8 *bytes, gsize size, const char *const *wanted,
                           GError **error);
const DynoMatArray *dyno_mat_find (const GPtrArray *arrays, const char *name); /* NULL: none */

G_END_DECLS
