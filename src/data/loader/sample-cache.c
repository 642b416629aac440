/* SPDX-License-Identifier: MIT */
/* The cache of decoded samples: a table of pointers, filled once each by compare-and-exchange. */
#include "sample-cache.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct _DynoSampleCache {
  gpointer *entries; /* one field after the other */
  guint64 n_places;
  guint n_fields;
  gsize field_bytes[DYNO_SCHEMA_MAX_FIELDS], entry_bytes;
  gsize limit_bytes;
  gsize used_bytes; /* atomic */
};

/* Assumes 1 GB where the system gives no figure. */
guint64
dyno_sample_cache_get_free_memory (void)
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
dyno_sample_cache_new (guint64 n_places, const DynoBatchSchema *schema,
                       const DynoBatchLayout *layout, guint64 limit_bytes)
{
  DynoSampleCache *cache = g_new0 (DynoSampleCache, 1);

  cache->n_places = n_places;
  cache->n_fields = layout->n_fields;
  for (guint i = 0; i < layout->n_fields; i++)
    {
      if (schema->fields[i].role == DYNO_FIELD_SEED)
        continue;
      cache->field_bytes[i] = layout->sample_bytes[i];
      cache->entry_bytes += layout->sample_bytes[i];
    }
  cache->limit_bytes = limit_bytes > 0 ? limit_bytes : dyno_sample_cache_get_free_memory () / 2;
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
dyno_sample_cache_get (DynoSampleCache *cache, guint64 place, gpointer const *fields)
{
  const guint8 *entry = g_atomic_pointer_get (&cache->entries[place]);

  if (!entry)
    return FALSE;
  for (guint i = 0; i < cache->n_fields; entry += cache->field_bytes[i++])
    if (cache->field_bytes[i] > 0)
      memcpy (fields[i], entry, cache->field_bytes[i]);
  return TRUE;
}

void
dyno_sample_cache_put (DynoSampleCache *cache, guint64 place, gpointer const *fields)
{
  gsize size = cache->entry_bytes;
  guint8 *entry = NULL;

  /* The bytes are reserved first and released where the entry is not made: the limit is never
   * exceeded. */
  if ((gsize) g_atomic_pointer_add (&cache->used_bytes, (gssize) size) + size <= cache->limit_bytes)
    entry = g_try_malloc (size);
  if (entry)
    {
      guint8 *at = entry;
      for (guint i = 0; i < cache->n_fields; at += cache->field_bytes[i++])
        if (cache->field_bytes[i] > 0)
          memcpy (at, fields[i], cache->field_bytes[i]);
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

double
dyno_sample_cache_get_share (const DynoBatchSchema *schema, guint64 n_samples)
{
  DynoBatchLayout layout;
  double bytes = 0;

  if (!dyno_batch_layout_init (&layout, schema, 1, NULL))
    return 0;
  for (guint i = 0; i < layout.n_fields; i++)
    if (schema->fields[i].role != DYNO_FIELD_SEED)
      bytes += (double) layout.sample_bytes[i] * (double) n_samples;
  return bytes > 0 ? MIN (1.0, (double) (dyno_sample_cache_get_free_memory () / 2) / bytes) : 1;
}
