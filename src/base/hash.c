/* SPDX-License-Identifier: MIT */
/* 64-bit hash for cache keys: FNV-1a by 8-byte words, length mixed in, murmur3 finaliser. */
#include "hash.h"
#include <string.h>

#define PRIME G_GUINT64_CONSTANT (0x100000001b3)

guint64
dyno_hash_bytes (guint64 start, const void *data, gsize size_bytes)
{
  const guint8 *bytes = data;
  guint64 hash = start ^ (size_bytes * PRIME);
  gsize i = 0;

  for (; i + 8 <= size_bytes; i += 8)
    {
      guint64 word;
      memcpy (&word, bytes + i, 8);
      hash = (hash ^ word) * PRIME;
      hash ^= hash >> 29;
    }
  for (; i < size_bytes; i++)
    hash = (hash ^ bytes[i]) * PRIME;

  hash ^= hash >> 33;
  hash *= G_GUINT64_CONSTANT (0xff51afd7ed558ccd);
  hash ^= hash >> 33;
  return hash;
}

guint64
dyno_hash_string (guint64 start, const char *string)
{
  return dyno_hash_bytes (start, string, strlen (string));
}
