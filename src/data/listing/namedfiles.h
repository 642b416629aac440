/* SPDX-License-Identifier: MIT */
/* Finds files below a folder by the names that people write in lists: without extension, with
 * backslashes, without folders, or with the folders of another computer. */
#pragma once
#include "partnames.h"

G_BEGIN_DECLS

typedef struct _DynoNamedFiles DynoNamedFiles;

typedef enum {
  DYNO_NAMED_AS_WRITTEN, /* the file exists under this name */
  DYNO_NAMED_FOUND,      /* the file exists under another name */
  DYNO_NAMED_AMBIGUOUS,  /* several files match */
  DYNO_NAMED_MISSING,
} DynoNamed;

/* Nothing is read until a name is looked up that does not exist. */
DynoNamedFiles *dyno_named_files_new (const char *root);
void dyno_named_files_free (DynoNamedFiles *files);

/* Looks for a file by name, a path below the root or an absolute one; where several files match,
 * the file in a folder of the part is taken (part may be NONE).  *found: its path below the root,
 * only with FOUND; g_free. */
DynoNamed dyno_named_files_find (DynoNamedFiles *files, const char *name, DynoPart part,
                                 char **found);

G_END_DECLS
