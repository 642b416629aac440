/* SPDX-License-Identifier: MIT */
/* Shared by the files of manifests: a file's rows and what its columns are (manifestcolumns.c),
 * which manifest.c takes the samples from. */
#pragma once
#include "imagelist.h"
#include "namedfiles.h"
#include "partnames.h"
#include "texttable.h"

G_BEGIN_DECLS

/* One file of rows. */
typedef struct {
  DynoTextTable *table;
  const char *name;   /* of the file, as shown */
  const char *prefix; /* of its paths, below the root; "" */
  DynoPart part;      /* of all rows; NONE: as their column says */
  DynoTask asked;
  guint first_row;    /* after a header */
  guint n_columns;    /* of the first row */
  GPtrArray *headers; /* of the columns; empty: there are none */
  int path, split;    /* columns, or -1 */
  GArray *targets;    /* guint: columns */
  guint8 *commas;     /* (n_columns) numbers of the column have a decimal comma */
  gboolean values;    /* the targets are values */
  gboolean one_hot;   /* the one target that is 1 is the class */
  char *reason;       /* of a guess, or NULL */
  gboolean doubted;
} DynoManifestRows;

/* Says what the columns are; rows has its file, the arrays and what was asked for.  notes: of the
 * data set.  Errors: EMPTY, UNSUPPORTED. */
gboolean dyno_manifest_plan (DynoManifestRows *rows, DynoNamedFiles *files, GPtrArray *notes,
                             GError **error);
/* A number, be it one that is none (nan), of a column. */
gboolean dyno_manifest_get_number (const DynoManifestRows *rows, guint column, const char *cell,
                                   double *number);
/* "“x”" or, without headers, "3"; g_free. */
char *dyno_manifest_name_column (const DynoManifestRows *rows, guint column);
/* The path of a cell, with the rows' prefix; g_free. */
char *dyno_manifest_build_name (const DynoManifestRows *rows, const char *cell);
/* NONE: the row's cell names no part. */
DynoPart dyno_manifest_get_part (const DynoManifestRows *rows, guint row);
void dyno_manifest_rows_clear (DynoManifestRows *rows);

G_END_DECLS
