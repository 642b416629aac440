/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the search: its state, and measuring with its account of time, its records
 * and the model.  Used only by the files of the search. */
#pragma once
#include "ratemodel.h"
#include "search.h"
#include "space.h"

G_BEGIN_DECLS

#define DYNO_SEARCH_PAYS  1.03 /* a gain below this does not justify a change */
#define DYNO_SEARCH_NOISE 0.01 /* share of a rate by which two measurements of a point differ */
/* failures in a row after which the device or the data is broken */
#define DYNO_SEARCH_FAILURES 6
#define DYNO_SEARCH_UPDATES  8   /* least updates of an epoch: with fewer a run hardly learns */
#define DYNO_SEARCH_STEPS    7.0 /* least steps of a measurement */

/* All end-to-end measurements of one point. */
typedef struct {
  DynoSettings settings;
  const char *role; /* "today", "baseline", "preset", "search" */
  DynoTrialOutcome outcome;
  char *text;
  GArray *trials, *proofs;             /* DynoEstimate: rates of a run */
  GArray *rates;                       /* DynoEstimate: of training only */
  double validation_rate, epoch_end_s; /* NaN: not known */
  double step_ms, wait_data_ms, predicted;
  guint64 vram_bytes, planned_bytes, steps;
  gboolean out;     /* the last measurement of the arm failed, so it cannot be the best */
  gboolean filling; /* all its measurements were made before its cache held all samples */
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
  GHashTable *plans;        /* cache of dyno_search_fits () */
  double seconds, paused_s; /* time of the search and its proof; time of its pauses */
  double total_s;           /* including the race, or the comparison of learning, after the proof */
  gint64 begin_us;
  /* The time of a measurement besides measuring, in seconds: of the loader; of a network that is
   * new to the device (kernels are compiled, and measured in the proof); of a network that the
   * device had before; 0: not known */
  double loader_prepare_s, new_prepare_s, again_prepare_s;
  /* time of a trial, with ends of epochs, over its measuring time; 0: not known */
  double trial_share;
  GHashTable *networks;   /* networks that the device has had before */
  double trial_s, scan_s; /* measuring time of a trial; of a ceiling */
  double scan_end_s;      /* no ceiling is begun that would end after this */
  guint64 most_bytes;     /* plans must be smaller: the limit with its margin, or a refused plan */
  /* the highest rate of the loader, which the device need not exceed; INFINITY: not known */
  double loader_rate;
  double expected; /* the highest rate of a run that the model considers possible */
  guint failures;  /* number of failures in a row */
  /* time of an epoch's validation and end over its training; NaN: not known */
  double end_share;
  gboolean memory_limits, loader_limits;
  gboolean worked;     /* a trial has worked */
  gboolean explaining; /* the proof is done: running out of time is not an error any more */
  const char *stage;   /* stage of the present measurement, and its settings */
  DynoSettings measured;
} DynoSearch;

void dyno_arm_free (gpointer arm);

/* Begins a measurement of these settings and reports it. */
void dyno_search_report (DynoSearch *search, const char *stage, const DynoSettings *settings);
/* A DynoMeterPreparing. */
void dyno_search_report_preparing (const char *what, guint done, guint total, gpointer search);
gboolean dyno_search_stopped (DynoSearch *search);
gint64 dyno_search_now_us (DynoSearch *search);
double dyno_search_elapsed (DynoSearch *search);
/* The time of a measurement on the device, as far as is known: the time besides measuring, and the
 * total. */
double dyno_search_prepare (DynoSearch *search, const DynoSettings *settings);
double dyno_search_cost (DynoSearch *search, const DynoSettings *settings, double seconds);
/* The same for the device's ceiling, at the device's own rate. */
double dyno_search_gpu_cost (DynoSearch *search, const DynoSettings *settings);
/* The time until the cache holds all samples, at the rate without it; 0 where there is no cache, or
 * where it has no effect: a measurement before that time is not representative. */
double dyno_search_fill_seconds (DynoSearch *search, const DynoSettings *settings);
/* The time of the arm's next turn in the proof, without its fill_seconds (). */
double dyno_search_turn_cost (DynoSearch *search, const DynoArm *arm, double seconds);
/* The time of two turns of the proof.  measured: with kernels that are measured first. */
double dyno_search_proof_cost (DynoSearch *search, const DynoSettings *settings, gboolean measured);
/* From now on kernels are measured: each network counts as new once more. */
void dyno_search_tune_kernels (DynoSearch *search);

/* TRUE where the settings fit with the margin, and no smaller plan was refused. */
gboolean dyno_search_fits (DynoSearch *search, const DynoSettings *settings);
/* TRUE where the answer is known already and takes no time. */
gboolean dyno_search_is_planned (DynoSearch *search, const DynoSettings *settings);
/* TRUE where an epoch has DYNO_SEARCH_UPDATES updates with the accumulated batches, or no fewer
 * than with the present settings. */
gboolean dyno_search_updates (DynoSearch *search, const DynoSettings *settings);
guint64 dyno_search_planned (DynoSearch *search, const DynoSettings *settings); /* 0: not known */

/* Measures one ceiling, or takes it from the records.  0: it failed; NaN: there was no time. */
double dyno_search_ceiling (DynoSearch *search, DynoCeilingOf of, const DynoSettings *settings);
/* Measures the ceiling once more, where there is time.  Returns the factor of the change: 1 inside
 * the noise. */
double dyno_search_ceiling_again (DynoSearch *search, DynoCeiling *ceiling);
void dyno_search_scan (DynoSearch *search); /* measures all ceilings */
/* Where the best settings so far wait for data, and a measured loader promises a multiple of their
 * rate, settings with that loader are tried at once.  best: the best settings for the device, gpu:
 * their ceiling; NaN: not known. */
void dyno_search_leap (DynoSearch *search, const DynoSettings *best, double gpu);

/* Returns when the search may go on; the time in it does not count. */
void dyno_search_wait_for_turn (DynoSearch *search);

/* The point's arm; NULL: it was never tried. */
DynoArm *dyno_search_find (DynoSearch *search, const DynoSettings *settings);
/* The same; the arm is made where there is none. */
DynoArm *dyno_search_get_arm (DynoSearch *search, const char *stage, const DynoSettings *settings);
/* Measures end to end, keeps the result and reports it; a cache is filled before, which takes
 * fill_seconds () in addition.  reserve_s: seconds before the end of the search that the trial
 * leaves to the proof.  hopeless_below: the trial is dropped when a first look shows a rate below
 * this.  The search owns the arm; NULL: the search was stopped. */
DynoArm *dyno_search_try (DynoSearch *search, const char *stage, const DynoSettings *settings,
                          double seconds, double reserve_s, double hopeless_below);

/* Functions that also learn from earlier measurements: */
void dyno_search_learn_ceiling (DynoSearch *search, const DynoCeiling *ceiling);
/* A refused plan is too large, and so is any larger one. */
void dyno_search_learn_refusal (DynoSearch *search, DynoTrialOutcome outcome,
                                guint64 planned_bytes);
/* Learns the time of an epoch's end, relative to its training, from all arms that know it. */
void dyno_search_learn_epoch_end (DynoSearch *search);
/* The model learns a rate of the arm, without the cache where the cache was being filled. */
void dyno_search_learn_rate (DynoSearch *search, const DynoArm *arm, const DynoEstimate *rate);
double dyno_search_relative_sd (const DynoEstimate *e); /* standard deviation of its logarithm */

/* Measurements made while a cache fills represent the settings as long as there are no others; the
 * first other measurement removes them.  FALSE: there are others, and this measurement does not
 * count. */
gboolean dyno_arm_takes (DynoArm *arm, gboolean filling);

/* The rate of a run: from all proofs, or from all trials where there is no proof.  FALSE: nothing
 * worked. */
gboolean dyno_arm_estimate (const DynoArm *arm, DynoEstimate *e);
/* The rate of a run, from a rate of training only. */
double dyno_search_run_rate (DynoSearch *search, const DynoArm *arm, double rate);
/* The objective: the logarithm of the rate of a run, less the gain that a larger request should
 * bring. */
double dyno_search_utility (const DynoSettings *settings, double rate);

/* The arm that the verdict takes for the best at this time; NULL: nothing worked. */
DynoArm *dyno_search_choose (DynoSearch *search);

/* TRUE: by the proofs, the best may be no faster than the settings that it is compared with. */
gboolean dyno_search_is_open (DynoSearch *search);

/* Measures best, base line and present settings in turn, for longer; then the result's verdict
 * follows. */
void dyno_search_prove (DynoSearch *search);
void dyno_search_judge (DynoSearch *search);
/* Estimates the result's best on several ranks; does nothing where the meter is of one rank. */
void dyno_search_judge_ranks (DynoSearch *search);
/* Splits the gain of the result, whose rates are known, by settings; measures points on the way
 * where there is time. */
void dyno_search_split_gain (DynoSearch *search, const DynoArm *best);

/* Runs the race to the goal, if there is a goal. */
void dyno_search_race (DynoSearch *search);
/* Measures turns of the proof for the winner of the race, if it had none. */
void dyno_search_prove_winner (DynoSearch *search);
/* The arm that reached the goal first; NULL: none did. */
DynoArm *dyno_search_get_winner (DynoSearch *search);
/* Compares best and present settings after equal epochs, where their batches differ and there is
 * time. */
void dyno_search_compare_learning (DynoSearch *search);

G_END_DECLS
