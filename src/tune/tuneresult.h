/* SPDX-License-Identifier: MIT */
/* The result of a search: ceilings, trials, the curve over the batch size, the best settings and
 * the reasons.  Immutable once it is shared, by reference from any thread; it needs no device.
 *
 * Rates.  samples_per_s of a trial, of the best and of the base line is the rate of a whole run:
 * training samples divided by the wall time, which includes validation and ends of epochs.
 * train_samples_per_s leaves these out.  A ceiling's rate is that of the loader by itself, of the
 * device by itself, or the limit that the exchange between ranks sets.  low and high bound the rate
 * at 95 %.  A search for several ranks has the rates of each rank. */
#pragma once
#include "learning.h"
#include "numerics.h"
#include "ranksestimate.h"
#include "record.h"

G_BEGIN_DECLS

typedef enum {
  DYNO_TRIAL_OK,
  DYNO_TRIAL_DOES_NOT_FIT,  /* the planner ruled it out; it did not run */
  DYNO_TRIAL_OUT_OF_MEMORY, /* the driver refused */
  DYNO_TRIAL_FAILED,        /* another error, which text describes */
  DYNO_TRIAL_DIVERGED,      /* Inf or NaN loss */
  DYNO_TRIAL_DROPPED,       /* hopeless after a first look: not measured to the end */
} DynoTrialOutcome;

/* "ok", "does-not-fit", ...: exact, for files. */
const char *dyno_trial_outcome_name (DynoTrialOutcome outcome);
/* "ok", "oom", "failed", "dropped": as in --json. */
const char *dyno_trial_outcome_class (DynoTrialOutcome outcome);
gboolean dyno_trial_outcome_find (const char *name, DynoTrialOutcome *outcome);

typedef struct {
  guint number;      /* from 1 */
  const char *stage; /* static: "baseline", "today", "preset", "search", "proof", "goal" */
  DynoSettings settings;
  DynoTrialOutcome outcome;
  double samples_per_s; /* of a whole run; 0 unless OK or DROPPED */
  double low, high;
  double predicted;                 /* the model's expectation; 0: it gave none */
  double train_samples_per_s;       /* without validation and ends of epochs */
  double validation_s, epoch_end_s; /* of each epoch, included in samples_per_s */
  /* wait_data_ms: part of step_ms in which the device waits for data */
  double step_ms, wait_data_ms;
  double outside_cpu;    /* share of all cores that other programs took meanwhile; NaN: not known */
  guint64 vram_bytes;    /* allocated */
  guint64 planned_bytes; /* 0: not planned */
  guint64 steps;         /* measured */
  char *text;            /* reason of a failure, or NULL; where OK: notes a cache being filled */
} DynoTrial;

/* The stage of a trial or ceiling, in words: "present" for "today", "base line". */
const char *dyno_trial_stage_text (const char *stage);
/* "batch 16, fp32, 0 workers", for texts.  g_free. */
char *dyno_trial_describe (const DynoSettings *settings);
/* The members by their columns in a trials file and their names in JSON, except the settings. */
const DynoRecordField *dyno_trial_list_fields (guint *n);
void dyno_trial_clear (DynoTrial *trial);
void dyno_trial_copy (const DynoTrial *trial, DynoTrial *copy);

typedef enum { DYNO_CEILING_LOADER, DYNO_CEILING_GPU, DYNO_CEILING_EXCHANGE } DynoCeilingOf;
const char *dyno_ceiling_name (DynoCeilingOf of); /* "loader", "gpu", "exchange" */

/* For the loader's ceiling workers, prefetch, cache and image_size of the settings count; for the
 * device's batch_size, amp, checkpointing and accumulate.  The exchange's ceiling comes from a
 * model, and only for the best. */
typedef struct {
  DynoCeilingOf of;
  DynoSettings settings;
  DynoTrialOutcome outcome;
  double samples_per_s, low, high; /* 0 unless OK */
  double outside_cpu;
  guint64 vram_bytes, planned_bytes; /* GPU */
  char *text;                        /* the reason for a failure, or NULL */
} DynoCeiling;

void dyno_ceiling_clear (DynoCeiling *ceiling);
void dyno_ceiling_copy (const DynoCeiling *ceiling, DynoCeiling *copy);

/* Throughput and memory over the batch size, with the other settings those of the best. */
typedef struct {
  gint64 batch_size;
  double samples_per_s, low, high; /* 0: it does not fit, or failed */
  gboolean measured;               /* end to end; else from the model */
  guint64 vram_bytes;              /* measured where the point was measured, else planned */
} DynoCurvePoint;

typedef struct {
  DynoCurvePoint *points; /* by rising batch */
  guint n;
  gint64 knee; /* beyond it any larger batch gains less than 10 %; 0: there is only one batch */
  /* the advised batch: the best's, or without a best the smallest within 3 % of the fastest; 0:
   * there is none, or it has no rate */
  gint64 smallest;
  gint64 fastest;
  double elsewhere; /* samples/s of other settings that are faster than the best; 0: none are */
  char *text;       /* "128 to 256: +2 % for +71 % memory", or NULL */
} DynoTuneCurve;

/* The gain of a setting on the way from the base line to the best, measured before and after. */
typedef struct {
  const char *key; /* static: key of the table */
  char *from, *to;
  /* includes the settings before it that have no factor; NaN: included in a later setting's
   * factor */
  double factor;
} DynoTuneGain;

/* A participant of the race to a goal. */
typedef struct {
  DynoSettings settings; /* its learning rate is replaced by the one advised for its batch */
  gboolean ran;
  DynoLearning learning;
  char *text; /* the reason for a failure, or NULL */
} DynoTuneRacer;

typedef enum {
  DYNO_PRESET_VERDICT_UNKNOWN, /* no preset, or not tried */
  DYNO_PRESET_VERDICT_HOLDS,
  DYNO_PRESET_VERDICT_TOO_BIG,
  DYNO_PRESET_VERDICT_LEAVES_UNUSED, /* the best is faster than the preset by PAYS */
  DYNO_PRESET_VERDICT_FAILED,
} DynoPresetVerdict;

/* The missing parts of a proof; see claims.h. */
typedef enum {
  DYNO_PROOF_BEST = 1 << 0,     /* two longer runs (of the proof) of the best */
  DYNO_PROOF_BASELINE = 1 << 1, /* a longer run of the base line */
  /* a longer run of the present settings; with a goal: their race to it */
  DYNO_PROOF_TODAY = 1 << 2,
  DYNO_PROOF_INTERVAL = 1 << 3, /* a narrow enough interval */
  DYNO_PROOF_ORDER = 1 << 4,    /* an order beyond noise: without it the best may be no faster */
  DYNO_PROOF_RIVAL = 1 << 5,    /* a second racer in the race to the goal */
  DYNO_PROOF_BATCHES = 1 << 6, /* larger batches, before the present settings are called the best */
} DynoProofMissing;

/* The limit of the best. */
typedef enum {
  DYNO_TUNE_LIMIT_UNKNOWN,
  DYNO_TUNE_LIMIT_DATA,
  DYNO_TUNE_LIMIT_GPU,
  DYNO_TUNE_LIMIT_BOTH, /* each by itself is faster than both together */
  DYNO_TUNE_LIMIT_EXCHANGE,
} DynoTuneLimit;

typedef struct {
  gatomicrefcount references;
  const DynoJob *job; /* as it was given: its settings are the present ones */
  char *device;
  guint n_cores;
  double minutes, seconds; /* requested; taken */
  gboolean stopped;        /* before the search ended */

  GPtrArray *ceilings; /* DynoCeiling */
  GPtrArray *trials;   /* DynoTrial, in order */
  guint n_known;       /* number of trials at the beginning that an earlier search measured */
  DynoTuneCurve curve;

  /* Each combines the rates of all its trials; stage "" where there is none: */
  DynoTrial best;
  DynoTrial baseline;    /* as it ran: a batch of 16 may have been too large */
  DynoTrial today;       /* the present settings */
  DynoTrial fastest;     /* the best may be 3 % below it, at a smaller batch */
  gboolean proven;       /* no part of the proof is missing */
  guint missing;         /* DynoProofMissing */
  gboolean inside_noise; /* not proven: all ran, but the best may be no faster */
  gint64 batches_to;     /* batches above this had no time and may be faster; 0: none */
  gboolean keep_today;   /* nothing is 3 % faster than the present settings, which are the best */
  double device_change;  /* factor by which the GPU's rate changed during the scan; 1: no change */
  double speedup;        /* best over base line; NaN: the base line did not work */
  double gain;           /* best over the present settings; NaN: not known */
  guint64 margin_bytes;  /* memory that the best leaves unused below the limit */
  DynoTuneGain *gains;   /* the gain of each setting */
  guint n_gains;
  double loader_ceiling, gpu_ceiling; /* with the best's settings; NaN: not known */
  DynoTuneLimit limit;                /* of the best */
  double wait_share; /* share of the best's step that waits for data: 0..1; NaN: not known */
  /* largest batch that ran, with any settings; that ran or fits by the plan; 0: none */
  gint64 largest_ran, largest_fits;
  /* of the best, on several ranks; its member ranks is 0 where there is one rank */
  DynoRanksEstimate ranks;
  /* factor over the best of twice the accumulation, and of an exchange in fp16; NaN: there is one
   * rank, the best waits for data, or its settings do not allow it */
  double accumulate_gain, half_gain;
  double lr;       /* learning rate that is advised for the best's batch */
  char *lr_advice; /* NULL: the batch is unchanged */
  DynoPresetVerdict preset_verdict;
  char *preset_text; /* NULL: unknown */
  /* comparison of AMP with fp32 where the choice used AMP; NULL: not compared */
  DynoNumerics *numerics;
  char *amp_text;         /* NULL: not compared */
  DynoLearningGoal *goal; /* of accuracy, if requested; or NULL */
  GPtrArray *racers;      /* DynoTuneRacer: to the goal, in order */
  int winner;             /* the racer that reached it first, and is the best; -1: none */
  /* the best has another effective batch, whose loss of accuracy is to be measured */
  gboolean equal_wanted;
  guint64 equal_epochs;  /* epochs after which accuracies were compared; 0: not compared */
  DynoLearning equal[2]; /* of the best, and of the present settings */
  double outside_cpu;    /* the highest of all measurements; NaN: not known */
  guint64 n_unreadable;  /* samples that could not be read, the most of any measurement */
  char **reasons;        /* sentences, the most important first */
} DynoTuneResult;

DynoTuneResult *dyno_tune_result_new (const DynoJob *job); /* empty; for the search */
DynoTuneResult *dyno_tune_result_ref (DynoTuneResult *result);
void dyno_tune_result_unref (DynoTuneResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoTuneResult, dyno_tune_result_unref)
gboolean dyno_tune_result_has_best (const DynoTuneResult *result);
/* TRUE where factors over other settings may be stated: not where the best may be no faster, nor
 * where its rate is not known well enough. */
gboolean dyno_tune_result_claims_gain (const DynoTuneResult *result);

G_END_DECLS
