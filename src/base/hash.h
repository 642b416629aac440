/* SPDX-License-Identifier: MIT */
/* Fast 64-bit hash for cache keys and integrity checks (not for security): FNV-1a over 8-byte words
 * with a final avalanche.  The same bytes give the same value on every machine of one byte
 * order. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_HASH_START G_GUINT64_CONSTANT (0xcbf29ce484222325)

guint64 dyno_hash_bytes (guint64 start, const void *data, gsize size_bytes);
guint64 dyno_hash_string (guint64 start, const char *string);

G_END_DECLS
