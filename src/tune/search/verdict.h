/* SPDX-License-Identifier: MIT */
/* Chooses the best of the measured settings and gives the reasons in words.  No device and no
 * clock. */
#pragma once
#include "preset.h"
#include "statistics.h"
#include "tuneresult.h"

G_BEGIN_DECLS

#define DYNO_VERDICT_PAYS 1.03 /* a gain below this is noise, or does not justify its memory */

typedef struct {
  const DynoSettings *settings;
  DynoEstimate rate; /* rate of a run */
} DynoVerdictEntry;

typedef struct {
  int best, fastest;   /* indices; -1: there is no entry */
  gboolean keep_today; /* nothing is faster than the present settings by PAYS: these are the best */
} DynoVerdict;

/* Takes the entries that are certainly (by the low end of their interval) within PAYS of the
 * fastest and of the rate that was expected to be possible, and of these the entry with the
 * smallest batch, then the fewest workers, then the highest rate.  It never takes an entry that is
 * slower than the base line, and takes the present settings where no entry beats them by PAYS.
 * baseline, today: indices; -1: not among the entries.  expected: a rate that counts where it is
 * within PAYS of the fastest; 0: none. */
void dyno_verdict_choose (const DynoVerdictEntry *entries, guint n, int baseline, int today,
                          double expected, DynoVerdict *verdict);

/* The learning rate for another effective batch: it is scaled by the square root of the ratio of
 * the batches. */
double dyno_verdict_learning_rate (const DynoSettings *from, const DynoSettings *to);

/* The sentences of a result that is otherwise complete, the most important first.  g_strfreev. */
char **dyno_verdict_explain (const DynoTuneResult *result);
/* The gain of each setting in words, for output without a bar chart; NULL: there is no gain to
 * show. g_free. */
char *dyno_verdict_explain_gains (const DynoTuneResult *result);

/* Adds, as the last reason, a comparison of the best with the numbers of the preset's guide for the
 * job; adds nothing where the guide has no such numbers. */
void dyno_verdict_add_preset (DynoTuneResult *result, const DynoPreset *preset,
                              const DynoPresetUse *use);

G_END_DECLS
