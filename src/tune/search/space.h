/* SPDX-License-Identifier: MIT */
/* The space that the tuner searches: the tunable rows of the table of settings, with the values
 * that the table allows, that the machine supports and that the search has found to matter. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* The tunable settings in the table's order: the row after `before` (NULL: the first), or NULL. */
const DynoSettingInfo *dyno_space_next (const DynoSettingInfo *before);

/* The value after *value among the values that may be tried, in their order; FALSE: it was the
 * last.  A value between two of them is followed by the larger one. */
gboolean dyno_space_step (const DynoSettingInfo *info, double *value);

/* The part of the table's space that is searched on this machine. */
typedef struct {
  gint64 most_batch;   /* largest batch by data set and memory */
  gint64 most_workers; /* the number of cores, or more where workers wait for a disk */
  gboolean fp16;       /* AMP is searched: the device supports fp16 and is not a CPU */
  gboolean loader;     /* there is a loader: the device does not make its own input */
  gboolean can_cache;
  /* FALSE: the setting keeps its value, since it does not affect the limiting resource (the loader
   * or the memory) */
  gboolean vary_prefetch, vary_checkpointing, vary_accumulate;
} DynoSearchSpace;

/* The values of a tunable setting that are searched, rising; start's own value is among them where
 * the machine supports it, and is the only value where the setting is not searched.  For batch_size
 * and workers the value half-way between two doubled values is tried too.  Elements double;
 * g_array_unref. */
GArray *dyno_space_values (const DynoSearchSpace *space, const DynoSettingInfo *info,
                           const DynoSettings *start);

/* All points: each searched setting with each of its values, all else as in start.  Elements
 * DynoSettings; g_array_unref. */
GArray *dyno_space_list (const DynoSearchSpace *space, const DynoSettings *start);

/* TRUE where all tunable settings are the same. */
gboolean dyno_space_same (const DynoSettings *a, const DynoSettings *b);

/* Sets the base line, the values of a typical first script; the other settings stay. */
void dyno_space_set_baseline (DynoSettings *settings);

/* -1, 0, 1: a needs less of the machine than b, the same, or more, by the first setting with
 * doubled values in which they differ. */
int dyno_space_compare (const DynoSettings *a, const DynoSettings *b);

G_END_DECLS
