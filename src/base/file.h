/* SPDX-License-Identifier: MIT */
/* Files that are whole or not there. */
#pragma once
#include "base-error.h"

G_BEGIN_DECLS

/* Writes data to path so that path holds either its old content or the new one, also after a crash:
 * temporary file beside it, fsync, rename.  A symbolic link at path is replaced, not followed.
 * Errors: DYNO_BASE_ERROR_DISK (no space, quota, size limit), DYNO_BASE_ERROR_IO; the message names the path. */
gboolean dyno_file_write_atomic (const char *path, const void *data, gsize size_bytes, GError **error);

/* The folder for caches of compiled shaders and tuning results, $XDG_CACHE_HOME/dyno; made when missing.
 * NULL when it cannot be made: callers then work without a cache.  Free with g_free. */
char *dyno_cache_dir (const char *child);

G_END_DECLS
