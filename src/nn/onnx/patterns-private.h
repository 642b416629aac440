/* SPDX-License-Identifier: MIT */
/* A pattern while its nodes are looked for, from its last node upwards; private to patterns.c and
 * patterns-depth.c. */
#pragma once
#include "import-private.h"

G_BEGIN_DECLS

#define DYNO_MATCH_MAX_NODES 12 /* of a pattern, but for the last */

typedef struct {
  DynoImport *import;
  GHashTable *producers; /* name of a value to its node */
  const DynoOnnxNode *inside[DYNO_MATCH_MAX_NODES];
  guint n_inside;
} DynoMatch;

/* The node of the operator that makes input i, which becomes one inside; NULL: there is none. */
const DynoOnnxNode *dyno_match_step (DynoMatch *m, const DynoOnnxNode *node, guint i,
                                     const char *op_type);
/* Input i as one number; NAN: it is none. */
double dyno_match_number (DynoMatch *m, const DynoOnnxNode *node, guint i);
/* Makes the last node and those inside a pattern; FALSE: other nodes read what those inside make. */
gboolean dyno_match_accept (DynoMatch *m, const DynoOnnxNode *last,
                            const DynoImportPattern *pattern);

G_END_DECLS
