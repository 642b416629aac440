/* SPDX-License-Identifier: MIT */
/* Files below a folder, found by what people write of them in lists: names without their ending,
 * with backslashes, without their folders, or with folders of another computer before them. */
#pragma once
#include "partnames.h"

G_BEGIN_DECLS

typedef struct _DynoNamedFiles DynoNamedFiles;

typedef enum {
  DYNO_NAMED_AS_WRITTEN, /* the file is there */
  DYNO_NAMED_FOUND,      /* another name is its */
  DYNO_NAMED_AMBIGUOUS,  /* several files could be meant */
  DYNO_NAMED_MISSING,
} DynoNamed;

/* Nothing is read until a name is looked for that is not there. */
DynoNamedFiles *dyno_named_files_new (const char *root);
void dyno_named_files_free (DynoNamedFiles *files);

/* Looks for a file by name, a path below the root or an absolute one; of several the one in a folder
 * of the part, which may be NONE.  *found: its path below the root, of FOUND only; g_free. */
DynoNamed dyno_named_files_find (DynoNamedFiles *files, const char *name, DynoPart part,
                                 char **found);

G_END_DECLS
