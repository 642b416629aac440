/* SPDX-License-Identifier: MIT */
/* Shared by the files of manifests: a file's rows and the roles of its columns (manifestcolumns.c),
 * from which manifest.c takes the samples. */
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
  const char *prefix; /* prefix of its paths, below the root; "" */
  DynoPart part;      /* the part of all rows; NONE: the column split decides */
  DynoTask asked;
  guint first_row;    /* index of the first row after a header */
  guint n_columns;    /* of the first row */
  GPtrArray *headers; /* names of the columns; empty: there are none */
  int path, split;    /* indices of the columns, or -1 */
  int mask;           /* the column of masks' paths, which is the only target; -1: there is none */
  GArray *targets;    /* guint: columns */
  guint8 *commas;     /* (n_columns) TRUE where numbers of the column have a decimal comma */
  gboolean values;    /* the targets are values */
  gboolean one_hot;   /* the class is the target that is 1 */
  char *reason;       /* reason of a guess, or NULL */
  gboolean doubted;
} DynoManifestRows;

/* Decides the roles of the columns; rows has its file, the arrays and the requested task.  notes:
 * those of the data set.  Errors: EMPTY, UNSUPPORTED. */
gboolean dyno_manifest_plan (DynoManifestRows *rows, DynoNamedFiles *files, GPtrArray *notes,
                             GError **error);
/* A number of a column, which may be nan. */
gboolean dyno_manifest_get_number (const DynoManifestRows *rows, guint column, const char *cell,
                                   double *number);
/* "“x”" or, without headers, "3"; g_free. */
char *dyno_manifest_name_column (const DynoManifestRows *rows, guint column);
/* The path in a cell, with the rows' prefix; g_free. */
char *dyno_manifest_build_name (const DynoManifestRows *rows, const char *cell);
/* The part of a row; NONE: its cell names no part. */
DynoPart dyno_manifest_get_part (const DynoManifestRows *rows, guint row);
void dyno_manifest_rows_clear (DynoManifestRows *rows);

G_END_DECLS
