/* SPDX-License-Identifier: MIT */
/* The claims that a result may make.  A search fills in its measurements and its choice;
 * dyno_claims_settle then derives the numbers that every sentence, file, report and window reads,
 * so that none of them contradicts another.  No device and no clock.
 *
 * Invariants of a settled result:
 * - proven: best, base line and present settings ran in the proof of this search, the best at least
 *   twice, its interval is narrow enough, and it is faster than both (or, with a goal, it reached
 *   the goal first among others, which include the present settings).  The parts that are missing
 *   are in `missing`.
 * - A ceiling is not below any rate that was measured with the settings that it depends on; a
 *   ceiling that was exceeded by more than noise is not known (NaN).
 * - limit is GPU only where the device waits for data in less than DYNO_CLAIMS_WAITING of a step.
 * - wait_share is within 0 and 1; NaN: not known.
 * - largest_ran is the largest batch that ran in any measurement; largest_fits is not below it. */
#pragma once
#include "statistics.h"
#include "tuneresult.h"

G_BEGIN_DECLS

/* largest half width of an interval, relative to the rate, that proves anything */
#define DYNO_CLAIMS_CLOSED 0.10
/* factor over a ceiling: a faster rate shows that it is no ceiling */
#define DYNO_CLAIMS_EXCEEDED 1.10
#define DYNO_CLAIMS_WAITING  0.10 /* share of a step: from here on waiting for data is the limit */

/* TRUE where the interval of a rate is narrow enough for a proof; FALSE without a measurement. */
gboolean dyno_claims_is_closed (const DynoEstimate *e);

/* Sets proven, missing, inside_noise, limit, wait_share and the largest batches, and corrects the
 * ceilings, which at first are those of the search's model.  May be called again. */
void dyno_claims_settle (DynoTuneResult *result);

/* TRUE: the n_a measurements of a are faster than the n_b of b, by their intervals, or by the
 * differences within each turn, since other load during a turn affected both (95 %, one-sided).
 * FALSE also where a or b was not measured. */
gboolean dyno_claims_is_faster (const DynoEstimate *a, guint n_a, const DynoEstimate *b, guint n_b);
/* The same at 85 %. */
gboolean dyno_claims_is_likely_faster (const DynoEstimate *a, guint n_a, const DynoEstimate *b,
                                       guint n_b);

G_END_DECLS
