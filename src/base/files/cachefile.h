/* SPDX-License-Identifier: MIT */
/* Files of the caches: a header with magic, version, key, size and hash before the content.
 * The layers gpu, comm, nn and data cache results in them that take long to compute. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint64 words[2];
} DynoCacheKey;

/* The path of a cache file, or NULL where there is no cache folder. */
char *dyno_cache_file_path (const char *folder, DynoCacheKey key, const char *suffix);

/* The content; NULL: there is no file (path may be NULL), or it was corrupt or of another version
 * or key, and is removed. */
GBytes *dyno_cache_file_read (const char *path, const char magic[8], DynoCacheKey key);

/* Replaces the file atomically; a failure is logged and otherwise ignored, and data of 2 GiB or
 * more is not written.  path may be NULL. */
void dyno_cache_file_write (const char *path, const char magic[8], DynoCacheKey key,
                            gconstpointer data, gsize size_bytes);

G_END_DECLS
