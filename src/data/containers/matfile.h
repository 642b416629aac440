/* SPDX-License-Identifier: MIT */
/* Reads the numeric arrays of MATLAB's .mat files of version 5 (also called 6 and 7), plain or
 * compressed, in either byte order.  "MAT-File Format", The MathWorks, chapter 1. */
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

/* Reads, from a file in memory, the real numeric arrays with the wanted names (NULL-terminated);
 * arrays of other classes are left out.  The elements are DynoMatArray, free with
 * g_ptr_array_unref.  Errors: CORRUPT, UNSUPPORTED (version 7.3, no .mat file), TOO_LARGE. */
GPtrArray *dyno_mat_parse (const guint8 *bytes, gsize size, const char *const *wanted,
                           GError **error);
const DynoMatArray *dyno_mat_find (const GPtrArray *arrays, const char *name); /* NULL: none */

G_END_DECLS
