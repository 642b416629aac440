/* SPDX-License-Identifier: MIT */
/* The rate of a run, in samples/s: one number, wherever a rate stands for a whole run (the window's
 * Train and Runs pages, the diagnosis, the history, exports, the end of dynoctl train).
 *
 * It is the training samples over the time in which they were trained: from the end of a step to
 * the end of the next one, by the run's clock, over all steps.  Not in it: the first step of each
 * part of the run, which compiles; pauses; and the ends of epochs, with validation and saving.  So
 * it is the rate that ceilings are above, and that an epoch's time is estimated from, whose end
 * comes on top.  Of several ranks it is that of all together.  A resumed run counts its earlier
 * parts.
 *
 * The session counts it and leaves it in the facts of the run, the last event of which reports
 * it: readers take it from there.  Of a run that goes on, or was killed, they count the rows of
 * its log by the same rule. */
#pragma once
#include "event.h"
#include "stretch.h"

G_BEGIN_DECLS

/* NaN: no step was counted. */
double dyno_run_rate_get (const DynoRunRate *rate);

/* That of the facts where the run has ended, else that of its log.  NaN: neither knows it. */
double dyno_run_rate_find (const DynoRunFacts *facts, const DynoStretches *log);

G_END_DECLS
