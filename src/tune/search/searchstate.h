/* SPDX-License-Identifier: MIT */
/* What the parts of the search share: its state, and measuring with everything that belongs to it
 * (time, records, the model).  Used by the files of the search alone. */
#pragma once
#include "ratemodel.h"
#include "search.h"
#include "space.h"

G_BEGIN_DECLS

#define DYNO_SEARCH_PAYS     1.03 /* a gain below this is not worth a change */
#define DYNO_SEARCH_NOISE    0.01 /* of any rate: two measurements of the same differ by as much */
#define DYNO_SEARCH_FAILURES 6    /* one after the other: the device or the data is broken */
#define DYNO_SEARCH_UPDATES  8    /* of an epoch, at the least: fewer hardly learn, however fast */
#define DYNO_SEARCH_STEPS    7.0  /* that a measurement takes at the least */

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
  gboolean out;     /* it failed its proof */
  gboolean filling; /* all that was measured of it was before its cache held all samples */
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
  GHashTable *plans;        /* of fits () */
  double seconds, paused_s; /* of the search and its proof */
  double total_s;           /* with what is learnt after that */
  gint64 begin_us;
  /* What a measurement takes besides measuring: of the loader; of a network that the device has
   * not had yet (kernels are compiled, and measured in the proof), and that it has had; 0: not
   * known */
  double loader_prepare_s, new_prepare_s, again_prepare_s;
  double trial_share;     /* what a trial takes over what is measured of it: ends of epochs; 0: not
                             known */
  GHashTable *networks;   /* that the device has had */
  double trial_s, scan_s; /* to measure */
  double scan_end_s;      /* no ceiling is begun that would end later */
  guint64 most_bytes;     /* may be planned; what was refused is above it */
  double loader_rate;     /* that the device need not exceed; INFINITY: not known */
  double expected;        /* rate of a run that the model holds possible at all */
  guint failures;         /* one after the other */
  double end_share;       /* validation and end of an epoch over its training; NaN: not known */
  gboolean memory_limits, loader_limits;
  gboolean worked;     /* a trial has */
  gboolean explaining; /* all is proven: a time that is over is no result */
  const char *stage;   /* of what is measured now, and its settings */
  DynoSettings measured;
} DynoSearch;

void dyno_arm_free (gpointer arm);

/* Begins to measure these; tells it. */
void dyno_search_tell (DynoSearch *search, const char *stage, const DynoSettings *settings);
/* A DynoMeterPreparing. */
void dyno_search_tell_preparing (const char *what, guint done, guint total, gpointer search);
gboolean dyno_search_stopped (DynoSearch *search);
gint64 dyno_search_now_us (DynoSearch *search);
double dyno_search_elapsed (DynoSearch *search);
/* What a measurement takes on the device, by what is known: besides measuring, and in all. */
double dyno_search_prepare (DynoSearch *search, const DynoSettings *settings);
double dyno_search_cost (DynoSearch *search, const DynoSettings *settings, double seconds);
/* The same of the device's ceiling, at the device's own rate. */
double dyno_search_gpu_cost (DynoSearch *search, const DynoSettings *settings);
/* Until the cache holds all, at the rate without it; 0 where there is none, or nothing to be had of
 * it: what is measured before says little. */
double dyno_search_fill_seconds (DynoSearch *search, const DynoSettings *settings);
/* What two turns of the proof take. */
double dyno_search_proof_cost (DynoSearch *search, const DynoSettings *settings);
/* From now on kernels are measured: each network is new once more. */
void dyno_search_tune_kernels (DynoSearch *search);

/* Whether it fits with the margin, and nothing that is smaller was refused. */
gboolean dyno_search_fits (DynoSearch *search, const DynoSettings *settings);
/* Whether that is known already, and takes no time. */
gboolean dyno_search_is_planned (DynoSearch *search, const DynoSettings *settings);
/* Whether an epoch has updates enough, of accumulated batches too. */
gboolean dyno_search_updates (DynoSearch *search, const DynoSettings *settings);
guint64 dyno_search_planned (DynoSearch *search, const DynoSettings *settings); /* 0: not known */

/* One ceiling: from the records if it was measured.  0: it failed; NaN: there was no time. */
double dyno_search_ceiling (DynoSearch *search, DynoCeilingOf of, const DynoSettings *settings);
/* The same once more, where there is time.  By how much it changed: 1 inside the noise. */
double dyno_search_ceiling_again (DynoSearch *search, DynoCeiling *ceiling);
void dyno_search_scan (DynoSearch *search); /* all of them */
/* Where all that is there waits for data, and the loader alone gave a multiple: that is tried at
 * once.  best: the device's, whose ceiling is gpu; NaN: not known. */
void dyno_search_leap (DynoSearch *search, const DynoSettings *best, double gpu);

/* Returns when the search may go on; the time in it does not count. */
void dyno_search_wait_for_turn (DynoSearch *search);

/* The point's arm; NULL: it was never tried. */
DynoArm *dyno_search_find (DynoSearch *search, const DynoSettings *settings);
/* The same, begun where there is none. */
DynoArm *dyno_search_get_arm (DynoSearch *search, const char *stage, const DynoSettings *settings);
/* Measures end to end, keeps and tells it; a cache is filled before, which takes fill_seconds ()
 * besides.  hopeless_below: the trial is dropped when a first look
 * says that it is below this rate.  The arm stays the search's; NULL: stopped before. */
DynoArm *dyno_search_try (DynoSearch *search, const char *stage, const DynoSettings *settings,
                          double seconds, double reserve_s, double hopeless_below);

/* What was measured before, too: */
void dyno_search_learn_ceiling (DynoSearch *search, const DynoCeiling *ceiling);
/* What was refused is too much, and all that is larger. */
void dyno_search_learn_refusal (DynoSearch *search, DynoTrialOutcome outcome,
                                guint64 planned_bytes);
/* What an epoch's end takes, over its training: of all arms that know it. */
void dyno_search_learn_epoch_end (DynoSearch *search);
/* The model learns a rate of the arm: without the cache where that was filling. */
void dyno_search_learn_rate (DynoSearch *search, const DynoArm *arm, const DynoEstimate *rate);
double dyno_search_relative_sd (const DynoEstimate *e); /* of the logarithm */

/* What is measured while a cache fills stands for the settings as long as nothing else does; it
 * goes where this is not that.  FALSE: something else is there, and this does not count. */
gboolean dyno_arm_takes (DynoArm *arm, gboolean filling);

/* What a run gets: all proofs, or all trials where there is none.  FALSE: nothing worked. */
gboolean dyno_arm_estimate (const DynoArm *arm, DynoEstimate *e);
/* Rate of a run from one of training alone. */
double dyno_search_run_rate (DynoSearch *search, const DynoArm *arm, double rate);
/* What counts: the logarithm of the rate of a run, less what a larger request should bring. */
double dyno_search_utility (const DynoSettings *settings, double rate);

/* What the verdict holds for the best by now; NULL: nothing worked. */
DynoArm *dyno_search_choose (DynoSearch *search);

/* TRUE: what the proofs hold for the best may be no faster than what it is compared with. */
gboolean dyno_search_is_open (DynoSearch *search);

/* Best, base line and present settings in turn, longer; then the result's verdict. */
void dyno_search_prove (DynoSearch *search);
void dyno_search_judge (DynoSearch *search);
/* Of the result's best: what several ranks make of it; nothing where the meter is of one. */
void dyno_search_judge_ranks (DynoSearch *search);
/* Of the result, whose rates are there; measures points on the way where there is time. */
void dyno_search_split_gain (DynoSearch *search, const DynoArm *best);

/* To the goal, if there is one. */
void dyno_search_race (DynoSearch *search);
/* Turns of the proof for who was there first, where it had none. */
void dyno_search_prove_winner (DynoSearch *search);
/* Who was there first; NULL: nobody. */
DynoArm *dyno_search_get_winner (DynoSearch *search);
/* Best and present settings after equal epochs, where their batches differ and there is time. */
void dyno_search_compare_learning (DynoSearch *search);

G_END_DECLS
