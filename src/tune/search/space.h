/* SPDX-License-Identifier: MIT */
/* The space that the tuner searches: the rows of the table of settings that are tunable, with the
 * values that the table allows, the machine can have and the search has found to matter. */
#pragma once
#include "settings.h"

G_BEGIN_DECLS

/* The tunable settings in the table's order: the row after `before` (NULL: the first), or NULL. */
const DynoSettingInfo *dyno_space_next (const DynoSettingInfo *before);

/* The value after *value among those that may be tried, in their order; FALSE: it was the last.  A
 * value between two of them is followed by the next larger. */
gboolean dyno_space_step (const DynoSettingInfo *info, double *value);

/* What of the table's space is searched on this machine. */
typedef struct {
  gint64 most_batch;   /* data set and memory allow */
  gint64 most_workers; /* the cores, or more where they wait for a disk */
  gboolean fp16;       /* the device has it */
  gboolean loader;     /* there is one: the device does not make its own input */
  gboolean can_cache;
  /* Settings that are the limit of nothing keep their value: */
  gboolean vary_prefetch, vary_checkpointing, vary_accumulate;
} DynoSearchSpace;

/* The values of a tunable setting that are searched, rising; start's own is among them where the
 * machine can have it, and is the only one where the setting is not searched.  Doubled ones are
 * refined by the value half-way.  Elements double; g_array_unref. */
GArray *dyno_space_values (const DynoSearchSpace *space, const DynoSettingInfo *info,
                           const DynoSettings *start);

/* All points: each searched setting with each of its values, all else as in start.  Elements
 * DynoSettings; g_array_unref. */
GArray *dyno_space_list (const DynoSearchSpace *space, const DynoSettings *start);

/* Whether all tunable settings are the same. */
gboolean dyno_space_same (const DynoSettings *a, const DynoSettings *b);

/* Puts the base line into settings, what a first script does; all else stays. */
void dyno_space_set_baseline (DynoSettings *settings);

/* -1, 0, 1: whether a asks less of the machine than b, as much or more, by the first setting that
 * is tried by doubling and differs. */
int dyno_space_compare (const DynoSettings *a, const DynoSettings *b);

G_END_DECLS
