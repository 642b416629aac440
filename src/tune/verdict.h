/* SPDX-License-Identifier: MIT */
/* What the trials say: which settings deserve a proof, and which are the best once proofs ran.  No
 * device and no clock: it looks at trials alone.  Used by the tuner alone. */
#pragma once
#include "trial.h"

G_BEGIN_DECLS

#define DYNO_VERDICT_PAYS 1.03 /* a gain below this is noise, or not worth its memory */

/* Of the trials that worked, of every stage: among those within PAYS of the fastest the one with
 * the smallest batch, then the fewest workers, then the highest rate.  trials: DynoTrial; NULL:
 * none worked. */
const DynoTrial *dyno_verdict_choose (const GPtrArray *trials);

/* What to prove, in this order and each settings once: the choice, the next fastest while nothing
 * is proven, then the base line and today's settings, which the best is compared with.  Call it
 * anew after each proof; NULL: nothing is left to prove. */
const DynoTrial *dyno_verdict_next_proof (const GPtrArray *trials, const DynoTrial *baseline,
                                          const DynoTrial *today);

typedef struct {
  const DynoTrial *best;     /* NULL: nothing worked */
  const DynoTrial *baseline; /* its proof, or its trial where it was not proven */
  const DynoTrial *today;    /* likewise; NULL: no figure of them */
  gboolean proven;           /* best is a proof */
  gboolean keep_today;       /* nothing is faster than today's settings by PAYS: best is they */
} DynoVerdict;

/* A proof stands for its settings, the trials of them do not count any more; what failed its proof
 * is out. */
void dyno_verdict_judge (const GPtrArray *trials, const DynoTrial *baseline, const DynoTrial *today,
                         DynoVerdict *verdict);

/* The verdict in words: what it brought, what limits, what to do.  g_free. */
char *dyno_verdict_explain (const DynoVerdict *verdict, const GPtrArray *trials);

G_END_DECLS
