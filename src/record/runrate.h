/* SPDX-License-Identifier: MIT */
/* The rate of a run, in samples/s: one number, wherever a rate stands for a whole run (the window's
 * Train and Runs pages, the diagnosis, the history, exports, the end of dynoctl train).
 *
 * It is the training samples over the time in which they were trained: from the end of a step to
 * the end of the next one, by the run's clock, over all steps.  It excludes the first step of each
 * part of the run, which compiles; pauses; and the ends of epochs, with validation and saving.  So
 * ceilings are upper limits of this rate, and the time of an epoch is estimated from it and the
 * time of the epoch's end.  With several ranks it is the rate of all ranks together.  A resumed run
 * includes its earlier parts.
 *
 * The session computes it and stores it in the facts of the run, which the last FACTS event
 * reports: readers take it from there.  For a run that is in progress, or was killed, they compute
 * it from the rows of its log by the same rule. */
#pragma once
#include "event.h"
#include "stretch.h"

G_BEGIN_DECLS

/* NaN: no step was counted. */
double dyno_run_rate_get (const DynoRunRate *rate);

/* The rate in the facts where the run has ended, else that of its log.  NaN: neither has it. */
double dyno_run_rate_find (const DynoRunFacts *facts, const DynoStretches *log);

G_END_DECLS
