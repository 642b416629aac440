/* SPDX-License-Identifier: MIT */
/* Cache files, whose content is used only when every field of the header is right.
 * The hash is not for security: it detects truncated and damaged files, not forged ones. */
#include "cachefile.h"
#include "file.h"
#include "hash.h"
#include <glib/gstdio.h>
#include <string.h>

#define FORMAT_VERSION 1

typedef struct {
  char magic[8];
  guint64 version;
  DynoCacheKey key;
  guint64 size_bytes;
  guint64 hash;
} Header;

G_STATIC_ASSERT (sizeof (Header) == 48);

char *
dyno_cache_file_path (const char *folder, DynoCacheKey key, const char *suffix)
{
  g_autofree char *name = g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x%s",
                                           key.words[0], key.words[1], suffix);
  g_autofree char *path = dyno_cache_dir (folder);

  return path ? g_build_filename (path, name, NULL) : NULL;
}

static gboolean
is_whole (const char *data, gsize size, const char magic[8], DynoCacheKey key)
{
  Header header;

  if (size < sizeof header)
    return FALSE;
  memcpy (&header, data, sizeof header);
  return memcmp (header.magic, magic, sizeof header.magic) == 0 && header.version == FORMAT_VERSION
         && memcmp (&header.key, &key, sizeof key) == 0 && header.size_bytes == size - sizeof header
         && header.hash
                == dyno_hash_bytes (DYNO_HASH_START, data + sizeof header, size - sizeof header);
}

GBytes *
dyno_cache_file_read (const char *path, const char magic[8], DynoCacheKey key)
{
  g_autofree char *data = NULL;
  gsize size;

  if (!path || !g_file_get_contents (path, &data, &size, NULL))
    return NULL;
  if (!is_whole (data, size, magic, key))
    {
      g_info ("Dropped the damaged or foreign cache file “%s”", path);
      g_unlink (path);
      return NULL;
    }
  return g_bytes_new (data + sizeof (Header), size - sizeof (Header));
}

void
dyno_cache_file_write (const char *path, const char magic[8], DynoCacheKey key, gconstpointer data,
                       gsize size_bytes)
{
  g_autoptr (GByteArray) file = NULL;
  g_autoptr (GError) error = NULL;
  Header header = { .version = FORMAT_VERSION,
                    .key = key,
                    .size_bytes = size_bytes,
                    .hash = dyno_hash_bytes (DYNO_HASH_START, data, size_bytes) };

  if (!path || size_bytes > G_MAXINT32)
    return;
  memcpy (header.magic, magic, sizeof header.magic);
  file = g_byte_array_sized_new ((guint) (sizeof header + size_bytes));
  g_byte_array_append (file, (const guint8 *) &header, sizeof header);
  g_byte_array_append (file, data, (guint) size_bytes);
  if (!dyno_file_write_atomic (path, file->data, file->len, &error))
    g_info ("Cache file not written: %s", error->message);
}
