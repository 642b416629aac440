/* SPDX-License-Identifier: MIT */
/* Which of what was measured is the best, and why, in words.  No device and no clock. */
#pragma once
#include "preset.h"
#include "statistics.h"
#include "tuneresult.h"

G_BEGIN_DECLS

#define DYNO_VERDICT_PAYS 1.03 /* a gain below this is noise, or not worth its memory */

typedef struct {
  const DynoSettings *settings;
  DynoEstimate rate; /* of a run */
} DynoVerdictEntry;

typedef struct {
  int best, fastest;   /* indices; -1: there is no entry */
  gboolean keep_today; /* nothing is faster than the present settings by PAYS: best is they */
} DynoVerdict;

/* Among the entries that are surely (by the low end of their interval) within PAYS of the fastest,
 * and of what was expected to be possible, the one with the smallest batch, then the fewest
 * workers, then the highest rate; but never one that is slower than the base line, and the present
 * settings where nothing beats them by PAYS.  baseline, today: indices; -1: not among them.
 * expected: a rate that counts as far as it is within PAYS of the fastest; 0: none. */
void dyno_verdict_choose (const DynoVerdictEntry *entries, guint n, int baseline, int today,
                          double expected, DynoVerdict *verdict);

/* The learning rate for another effective batch: by the square root of how much larger it is. */
double dyno_verdict_learning_rate (const DynoSettings *from, const DynoSettings *to);

/* The sentences of a result that is complete but for them, the most important first.  g_strfreev. */
char **dyno_verdict_explain (const DynoTuneResult *result);
/* What each setting brought, for where no bars show it; NULL: nothing to tell.  g_free. */
char *dyno_verdict_explain_gains (const DynoTuneResult *result);

/* Adds, as the last reason, the best beside the numbers of the preset's guide for the job; nothing
 * where neither says so. */
void dyno_verdict_add_preset (DynoTuneResult *result, const DynoPreset *preset,
                              const DynoPresetUse *use);

G_END_DECLS
