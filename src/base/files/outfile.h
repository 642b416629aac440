/* SPDX-License-Identifier: MIT */
/* A file that is written piece by piece: the file at its path is replaced when the new one is
 * complete.  The first failure is remembered, and reported at the end. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct _DynoOutFile DynoOutFile;

/* Errors: DYNO_BASE_ERROR_IO, _DISK. */
DynoOutFile *dyno_out_file_new (const char *path, GError **error);
/* FALSE: the file has failed, and takes no more. */
gboolean dyno_out_file_append (DynoOutFile *file, const void *data, gsize size);
/* Replaces the file at the path, and frees `file` in any case.  Errors: as above. */
gboolean dyno_out_file_finish (DynoOutFile *file, GError **error);
/* Discards the new file and leaves the one at its path; NULL: nothing happens. */
void dyno_out_file_abandon (DynoOutFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoOutFile, dyno_out_file_abandon)

G_END_DECLS
