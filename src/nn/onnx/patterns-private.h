/* SPDX-License-Identifier: MIT */
/* The state of the search for a pattern's nodes, from its last node upwards; private to patterns.c
 * and patterns-depth.c. */
#pragma once
#include "import-private.h"

G_BEGIN_DECLS

typedef struct {
  DynoImport *import;
  GHashTable *producers; /* name of a value to the node that makes it */
  const DynoOnnxNode *inside[DYNO_IMPORT_MAX_INSIDE];
  guint n_inside;
} DynoMatch;

/* The node that makes input i, if its operator is op_type; it is added to `inside`.  NULL: there is
 * none. */
const DynoOnnxNode *dyno_match_step (DynoMatch *m, const DynoOnnxNode *node, guint i,
                                     const char *op_type);
/* Input i as one number; NAN: it is not one number. */
double dyno_match_number (DynoMatch *m, const DynoOnnxNode *node, guint i);
/* Records the last node and the nodes inside as a pattern; FALSE: other nodes read outputs of the
 * nodes inside. */
gboolean dyno_match_accept (DynoMatch *m, const DynoOnnxNode *last,
                            const DynoImportPattern *pattern);

G_END_DECLS
