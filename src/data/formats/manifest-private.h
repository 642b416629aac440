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
  guint first_row;        /* index of the first row after a header */
  guint n_columns;        /* of the first row */
  GPtrArray *headers;     /* names of the columns; empty: there are none */
  int path, split;        /* indices of the columns, or -1 */
  int group;              /* the column of the groups, which is nothing else; -1: there is none */
  const char *group_name; /* which the user asks for; NULL or "": there are no groups */
  gboolean may_lack_group;
  int mask;         /* the column of masks' paths, which is the only target; -1: there is none */
  GArray *targets;  /* guint: columns */
  guint8 *commas;   /* (n_columns) TRUE where numbers of the column have a decimal comma */
  gboolean values;  /* the targets are values */
  gboolean one_hot; /* the class is the target that is 1 */
  gboolean flags;   /* each target is a label, which a sample has or has not */
  gboolean lists;   /* the only target lists the names of a sample's labels */
  /* with lists: between the names; 0 before it is found, unless an earlier file has it */
  char separator;
  char *reason; /* reason of a guess, or NULL */
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
/* The column whose name is the first of the words (in lower case, letters and digits only, NULL at
 * the end) that names one, and that is not the column of the groups; -1: there is none. */
int dyno_manifest_find_column (const DynoManifestRows *rows, const char *const *words);
/* Lists the columns that hold neither paths nor parts nor groups nor row numbers as targets. */
void dyno_manifest_list_candidates (DynoManifestRows *rows);
/* Names of the targets; and of the columns that are no targets, paths, parts or groups, with their
 * number (learned: a column that is left out, or -1); g_free. */
char *dyno_manifest_name_targets (const DynoManifestRows *rows);
char *dyno_manifest_name_unused (const DynoManifestRows *rows, int learned, guint *n);
/* Adds a note on unused columns beside the one that is learned. */
void dyno_manifest_note_unused (const DynoManifestRows *rows, guint learned, GPtrArray *notes);
/* Records the reason of a guess, which is taken. */
void dyno_manifest_guess (DynoManifestRows *rows, gboolean doubted, char *reason);
/* Sets UNSUPPORTED with a text after the name of the file and before its columns; FALSE. */
gboolean dyno_manifest_refuse_columns (const DynoManifestRows *rows, GError **error,
                                       const char *what);

/* --- groups of samples (manifestgroups.c) --- */

/* The column whose name is the asked one, to the letter; -1: there is none. */
int dyno_manifest_find_group (const DynoManifestRows *rows);
/* Refuses a column of groups that is not there, or that has the paths.  Errors: UNSUPPORTED. */
gboolean dyno_manifest_check_group (const DynoManifestRows *rows, GError **error);
/* The id of a row's group, which is added to groups (text to id) and counted in n; an empty cell is
 * a group of its own. */
guint32 dyno_manifest_add_group (const DynoManifestRows *rows, guint row, GHashTable *groups,
                                 guint32 *n);

/* --- several labels of a sample (manifestlabels.c) --- */

/* TRUE where the names of several labels stand in the column's cells: between one of these
 * separators, and with fewer different names than different cells. */
gboolean dyno_manifest_is_list (const DynoManifestRows *rows, guint column, const char *separators,
                                char *separator);
/* TRUE where all cells say whether a sample has a label (1, 0, true, false) or that this is not
 * known (-1, nothing), and some say that it is known. */
gboolean dyno_manifest_is_flag (const DynoManifestRows *rows, guint column);
/* 1, 0 or NaN (not known); FALSE: the cell is no flag. */
gboolean dyno_manifest_get_flag (const DynoManifestRows *rows, guint column, const char *cell,
                                 float *state);
/* Sets UNSUPPORTED for columns of labels whose names the file does not give; FALSE. */
gboolean dyno_manifest_refuse_nameless (const DynoManifestRows *rows, GError **error);
/* Finds the columns of labels, where the user asks for these.  Errors: UNSUPPORTED. */
gboolean dyno_manifest_find_labels (DynoManifestRows *rows, GPtrArray *notes, GError **error);
/* The names of the labels in a cell, without brackets and quotation marks around them; g_strfreev.
 * */
char **dyno_manifest_split_labels (const DynoManifestRows *rows, const char *cell);

/* The path in a cell, with the rows' prefix; g_free. */
char *dyno_manifest_build_name (const DynoManifestRows *rows, const char *cell);
/* The part of a row; NONE: its cell names no part. */
DynoPart dyno_manifest_get_part (const DynoManifestRows *rows, guint row);
void dyno_manifest_rows_clear (DynoManifestRows *rows);

G_END_DECLS
