/* SPDX-License-Identifier: MIT */
/* What the parts of the search share: its state, and measuring with everything that belongs to it
 * (time, records, the model).  Used by search.c, scan.c, proof.c and verdict.c alone. */
#pragma once
#include "ratemodel.h"
#include "search.h"
#include "space.h"

G_BEGIN_DECLS

#define DYNO_SEARCH_PAYS  1.03 /* a gain below this is not worth a change */
#define DYNO_SEARCH_STEPS 7.0  /* that a measurement takes at the least */

/* All that was measured end to end of one point. */
typedef struct {
  DynoSettings settings;
  const char *role; /* "today", "baseline", "preset", "search" */
  DynoTrialOutcome outcome;
  char *text;
  GArray *trials, *proofs;             /* DynoEstimate: rates of a run */
  GArray *rates;                       /* DynoEstimate: of training alone */
  double validation_rate, epoch_end_s; /* NaN: not known */
  double step_ms, wait_data_ms, predicted;
  guint64 vram_bytes, planned_bytes, steps;
  gboolean out; /* it failed its proof */
} DynoArm;

typedef struct {
  const DynoSearchParams *params;
  const DynoJob *job;
  DynoMeter *meter;
  DynoTuneResult *result;
  DynoRateModel *model;
  GPtrArray *arms; /* DynoArm */
  DynoArm *baseline, *today, *preset;
  DynoSearchSpace space;
  GHashTable *plans; /* of fits () */
  double seconds, paused_s;
  gint64 begin_us;
  double prepare_s;       /* that a measurement takes besides measuring */
  double trial_s, scan_s; /* to measure */
  double scan_end_s;
  guint64 most_bytes; /* may be planned; what was refused is above it */
  double loader_rate; /* that the device need not exceed; INFINITY: not known */
  double expected;    /* rate of a run that the model holds possible at all */
  guint failures;     /* one after the other */
  double end_share;   /* validation and end of an epoch over its training; NaN: not known */
  gboolean memory_limits, loader_limits;
} DynoSearch;

gboolean dyno_search_stopped (DynoSearch *search);
double dyno_search_elapsed (DynoSearch *search);
/* What a measurement takes, by what is known. */
double dyno_search_cost (DynoSearch *search, const DynoSettings *settings, double seconds);

/* Whether it fits with the margin, and nothing that is smaller was refused. */
gboolean dyno_search_fits (DynoSearch *search, const DynoSettings *settings);
guint64 dyno_search_planned (DynoSearch *search, const DynoSettings *settings); /* 0: not known */

/* One ceiling: from the records if it was measured.  0: it failed; NaN: there was no time. */
double dyno_search_ceiling (DynoSearch *search, DynoCeilingOf of, const DynoSettings *settings);
void dyno_search_scan (DynoSearch *search); /* all of them */

/* The point's arm; NULL: it was never tried. */
DynoArm *dyno_search_find (DynoSearch *search, const DynoSettings *settings);
/* Measures end to end, keeps and tells it.  hopeless_below: the trial is dropped when a first look
 * says that it is below this rate.  The arm stays the search's; NULL: stopped before. */
DynoArm *dyno_search_try (DynoSearch *search, const char *stage, const DynoSettings *settings,
                          double seconds, double reserve_s, double hopeless_below);

/* What a run gets: all proofs, or all trials where there is none.  FALSE: nothing worked. */
gboolean dyno_arm_estimate (const DynoArm *arm, DynoEstimate *e);
/* Rate of a run from one of training alone. */
double dyno_search_run_rate (DynoSearch *search, const DynoArm *arm, double rate);
/* What counts: the logarithm of the rate of a run, less what a larger request should bring. */
double dyno_search_utility (const DynoSettings *settings, double rate);

/* What the verdict holds for the best by now; NULL: nothing worked. */
DynoArm *dyno_search_choose (DynoSearch *search);

/* Best, base line and present settings in turn, longer; then the result's verdict. */
void dyno_search_prove (DynoSearch *search);
void dyno_search_judge (DynoSearch *search);

G_END_DECLS
