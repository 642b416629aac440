/* SPDX-License-Identifier: MIT */
/* A file that is written piece by piece and is whole or not there: what is at its path is replaced
 * when all of it is written.  The first failure stays, and is told at the end. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoOutFile DynoOutFile;

/* Errors: DYNO_BASE_ERROR_IO, _DISK. */
DynoOutFile *dyno_out_file_new (const char *path, GError **error);
/* FALSE: no more is taken. */
gboolean dyno_out_file_append (DynoOutFile *file, const void *data, gsize size);
/* Ends it, and frees it in any case.  Errors: as above. */
gboolean dyno_out_file_finish (DynoOutFile *file, GError **error);
/* Leaves what was at its path; NULL: nothing. */
void dyno_out_file_abandon (DynoOutFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoOutFile, dyno_out_file_abandon)

G_END_DECLS
