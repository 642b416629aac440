/* SPDX-License-Identifier: MIT */
/* The cache of decoded samples: a table of pointers, filled once each by compare-and-exchange. */
#include "sample-cache.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct _DynoSampleCache {
  gpointer *entries; /* pixels, then target */
  guint64 n_places;
  gsize pixel_bytes, target_bytes;
  gsize limit_bytes;
  gsize used_bytes; /* atomic */
};

/* Memory that can be had without swapping; a guess of 1 GB where the system does not say. */
static guint64
free_memory (void)
{
  guint64 kilobytes = 0;
  char line[256];
  FILE *file = fopen ("/proc/meminfo", "re");

  while (file && fgets (line, sizeof line, file))
    if (sscanf (line, "MemAvailable: %" G_GUINT64_FORMAT " kB", &kilobytes) == 1)
      break;
  if (file)
    fclose (file);
  return kilobytes > 0 ? kilobytes * 1024 : (guint64) 1 << 30;
}

DynoSampleCache *
dyno_sample_cache_new (guint64 n_places, gsize pixel_bytes, gsize target_bytes, guint64 limit_bytes)
{
  DynoSampleCache *cache = g_new0 (DynoSampleCache, 1);

  cache->n_places = n_places;
  cache->pixel_bytes = pixel_bytes;
  cache->target_bytes = target_bytes;
  cache->limit_bytes = limit_bytes > 0 ? limit_bytes : free_memory () / 2;
  cache->entries = g_try_new0 (gpointer, n_places);
  if (!cache->entries)
    g_clear_pointer (&cache, g_free);
  return cache;
}

void
dyno_sample_cache_free (DynoSampleCache *cache)
{
  if (!cache)
    return;
  for (guint64 i = 0; i < cache->n_places; i++)
    g_free (cache->entries[i]);
  g_free (cache->entries);
  g_free (cache);
}

gboolean
dyno_sample_cache_get (DynoSampleCache *cache, guint64 place, gpointer pixels, gpointer target)
{
  const guint8 *entry = g_atomic_pointer_get (&cache->entries[place]);

  if (!entry)
    return FALSE;
  memcpy (pixels, entry, cache->pixel_bytes);
  memcpy (target, entry + cache->pixel_bytes, cache->target_bytes);
  return TRUE;
}

void
dyno_sample_cache_put (DynoSampleCache *cache, guint64 place, gconstpointer pixels,
                       gconstpointer target)
{
  gsize size = cache->pixel_bytes + cache->target_bytes;
  guint8 *entry = NULL;

  /* Room is taken first and given back when the entry does not come to be: the limit is never
   * passed. */
  if ((gsize) g_atomic_pointer_add (&cache->used_bytes, (gssize) size) + size <= cache->limit_bytes)
    entry = g_try_malloc (size);
  if (entry)
    {
      memcpy (entry, pixels, cache->pixel_bytes);
      memcpy (entry + cache->pixel_bytes, target, cache->target_bytes);
      if (g_atomic_pointer_compare_and_exchange (&cache->entries[place], NULL, entry))
        return;
    }
  g_free (entry);
  g_atomic_pointer_add (&cache->used_bytes, -(gssize) size);
}

guint64
dyno_sample_cache_get_bytes (DynoSampleCache *cache)
{
  return (guint64) (gsize) g_atomic_pointer_get (&cache->used_bytes);
}
