/* SPDX-License-Identifier: MIT */
/* Decoded samples kept in memory, by place in a list of samples.  All calls from any thread,
 * without waiting: an entry is written before it can be seen, and does not change afterwards. */
#pragma once
#include "schema.h"

G_BEGIN_DECLS

typedef struct _DynoSampleCache DynoSampleCache;

/* schema, layout: of the samples; seeds are not kept.  limit_bytes: 0 for half of the memory that
 * is free now.  NULL: there is no memory for the table. */
DynoSampleCache *dyno_sample_cache_new (guint64 n_places, const DynoBatchSchema *schema,
                                        const DynoBatchLayout *layout, guint64 limit_bytes);
void dyno_sample_cache_free (DynoSampleCache *cache);

/* Fills a sample's fields except its seed; FALSE where the sample is not in the cache. */
gboolean dyno_sample_cache_get (DynoSampleCache *cache, guint64 place, gpointer const *fields);

/* Keeps a copy, unless the limit is reached or another thread was first. */
void dyno_sample_cache_put (DynoSampleCache *cache, guint64 place, gpointer const *fields);

guint64 dyno_sample_cache_get_bytes (DynoSampleCache *cache);

/* Bytes of main memory that are available now without swapping. */
guint64 dyno_sample_cache_get_free_memory (void);

/* The share of n_samples, 0..1, that a cache with limit 0 would keep if it were made now. */
double dyno_sample_cache_get_share (const DynoBatchSchema *schema, guint64 n_samples);

G_END_DECLS
