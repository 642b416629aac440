/* SPDX-License-Identifier: MIT */
/* A search over the hyperparameters for the best validation of one metric.
 *
 * Trial 0 is the job's own settings, trained to the end.  Further trials are proposed by a
 * tree-structured Parzen estimator (tpe.h) and stopped early by successive halving (halving.h):
 * each is a run whose schedule spans all epochs, which stops at the last epoch of its rung and
 * resumes from there when it is promoted.  Where a run starts for more than twice as long as it
 * trains the first rungs, trials begin with a later one.  The value of a trial is that of its best
 * epoch so far, whose weights are kept.
 *
 * All trials have the job's seed, so the best of many trials may be the best by chance.  Therefore
 * the best two trials and the job's own settings are trained anew in the final with other seeds,
 * which the search has not used, and are compared in pairs with equal seeds (paired.h): only this
 * comparison is a proof.
 *
 * Several runs of one rung are trained at the same time where that makes more of them in a time
 * (accuracypace.h): runs of small networks leave a device idle, and most of a short run is its
 * start.  A trial that is trained counts as bad until it has ended, so that the next proposal goes
 * elsewhere.
 *
 * The search has no clock and no device of its own: a table of functions trains and returns the
 * time.  Its decisions follow from the measured values only, so that a resumed search decides as an
 * uninterrupted one would have, unless it was interrupted in the midst of several runs at once. */
#pragma once
#include "accuracypace.h"
#include "halving.h"
#include "importance.h"
#include "paired.h"
#include "params.h"
#include "tuneresult.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_ACCURACY_MOST_SEEDS 10
#define DYNO_ACCURACY_CONTENDERS 2

/* A run of a trial, from one number of epochs to another: one line of accuracy.csv. */
typedef struct {
  guint trial;    /* from 0: the job's own settings */
  gboolean final; /* with a seed of the final; FALSE: with the job's seed */
  guint64 seed;
  guint64 from_epochs, epochs; /* epochs trained before the run, and after it */
  DynoTrialOutcome outcome;
  gboolean has_ended;    /* outcome and the members below are filled */
  guint at_once;         /* number of runs that were trained at the same time, this one included */
  double value;          /* best of the metric in validation up to here; NaN unless OK */
  double seconds;        /* duration of this run, or of all that were trained with it */
  double train_seconds;  /* part of it spent in epochs; the rest went to opening and compiling */
  char *text;            /* the reason of a failure, or NULL */
  DynoSettings settings; /* their seed is that of the search */
} DynoAccuracyRun;

DynoAccuracyRun *dyno_accuracy_run_copy (const DynoAccuracyRun *run);
void dyno_accuracy_run_free (DynoAccuracyRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyRun, dyno_accuracy_run_free)

typedef struct {
  /* Trains n runs at the same time, most_at_once at most: run->settings with run->seed from
   * from_epochs to epochs, and fills outcome, value, text, train_seconds and has_ended.  FALSE: the
   * search ends; CANCELLED is not a failure.  Runs that had ended before are kept in any case. */
  gboolean (*train) (DynoAccuracyRun *const *runs, guint n, gpointer data,
                     GCancellable *cancellable, GError **error);
  double (*get_time) (gpointer data); /* seconds since any fixed moment */
  gpointer data;
  guint most_at_once; /* DYNO_ACCURACY_MOST_AT_ONCE at most; 0: 1 */
} DynoAccuracyRunner;

typedef struct {
  DynoSettings settings;
  double point[DYNO_PARAMS_MOST];
  DynoHalvingTrial halving; /* losses: the metric, with its sign changed where higher is better */
  double values[DYNO_HALVING_MOST_RUNGS]; /* the metric after each rung */
  DynoTrialOutcome outcome;               /* of its last run */
} DynoAccuracyTrial;

/* A trial that took part in the final. */
typedef struct {
  guint trial;
  gboolean failed;                         /* on one of the seeds: it trains with no further seed */
  double values[DYNO_ACCURACY_MOST_SEEDS]; /* by seed; NaN: not measured */
  DynoPaired gain; /* over the job's own settings, above 0: better; in the metric's unit */
} DynoAccuracyContender;

/* How sure the choice is. */
typedef enum {
  DYNO_ACCURACY_PROVEN,
  /* it is better in the final, but the interval includes 0, or the search was stopped */
  DYNO_ACCURACY_NOT_PROVEN,
  DYNO_ACCURACY_NO_FINAL, /* it is better in the search, but has no final on two seeds */
  DYNO_ACCURACY_KEEP,     /* nothing is better than the job's own settings, which are the choice */
} DynoAccuracyVerdict;

typedef struct {
  DynoParamSpace space; /* the space that was searched */
  /* the metric that is compared; named "loss" where that is the loss itself */
  DynoMetricInfo metric;
  guint n_rungs;
  guint64
      rungs[DYNO_HALVING_MOST_RUNGS]; /* epochs; fewer once the job's own settings are trained */
  GArray *trials;                     /* DynoAccuracyTrial */
  GPtrArray *runs;                    /* DynoAccuracyRun, in order */
  GPtrArray *running;                 /* DynoAccuracyRun, copied: those that are trained now */
  guint n_known;                      /* number of first runs, from an earlier search */
  gboolean known_proven;              /* the known runs are a proof by themselves */
  guint n_contenders;                 /* in the final, besides the job's own settings */
  DynoAccuracyContender own, contenders[DYNO_ACCURACY_CONTENDERS];
  /* The importance of each parameter of the space (importance.h), from the values of all trials
   * after the first rung; NaN: not known. */
  double importance[DYNO_PARAMS_MOST];
  guint best; /* number of the chosen trial */
  DynoAccuracyVerdict verdict;
  gboolean stopped; /* by request */
  char *text;       /* the verdict, a sentence; translated */
} DynoAccuracyResult;

/* A copy for another thread, or of a search that is still running. */
DynoAccuracyResult *dyno_accuracy_result_copy (const DynoAccuracyResult *result);
void dyno_accuracy_result_free (DynoAccuracyResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyResult, dyno_accuracy_result_free)

/* The indices of the best trials, n_most at most, the best first: ordered by their last rungs, then
 * by their values there; failed trials are left out.  Returns the number. */
guint dyno_accuracy_result_rank (const DynoAccuracyResult *result, guint *trials, guint n_most);
/* The best value of the search so far, without the final; NaN: none. */
double dyno_accuracy_result_find_best (const DynoAccuracyResult *result);
/* The rung in which a run ends, from 0. */
guint dyno_accuracy_result_find_rung (const DynoAccuracyResult *result, const DynoAccuracyRun *run);
/* The indices of the parameters that explain at least a twentieth of the variance of the values by
 * themselves, the most important first: DYNO_PARAMS_MOST at most.  Returns the number. */
guint dyno_accuracy_result_list_important (const DynoAccuracyResult *result, guint *params);
/* "92.10 %", "0.2513".  g_free. */
char *dyno_accuracy_format (const DynoMetricInfo *metric, double value);
/* "1.80 points" for a fraction, "0.02" for other metrics.  g_free. */
char *dyno_accuracy_format_difference (const DynoMetricInfo *metric, double difference);

/* Callbacks before and after each run, in the thread of the search; either may be NULL.  Runs that
 * are trained at the same time all begin before the first of them ends. */
typedef struct {
  void (*begin) (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data);
  /* FALSE: the run could not be recorded, and the search ends with the error. */
  gboolean (*end) (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data,
                   GError **error);
  gpointer data;
} DynoAccuracyWatch;

typedef struct {
  /* for the whole search; what the final needs of it, but at most half, is kept for the final */
  double seconds;
  guint most_trials; /* including the job's own settings; 0: as many as there is time for */
  guint most_seeds;  /* of the final; 0: as many as time allows, up to DYNO_ACCURACY_MOST_SEEDS */
  /* runs to train at the same time, as far as the runner can; 0: as many as it pays, by the time
   * that they take, or 1 where a number of trials is asked for: no clock decides then */
  guint at_once;
  const GPtrArray *known; /* DynoAccuracyRun of an earlier search that is resumed; or NULL */
} DynoAccuracyParams;

/* Finds the metric "accuracy", "loss", ...  that the job's loss measures.  Errors: SETTING, which
 * names the metrics that exist; DATA where there is nothing to validate on, or only one class;
 * those of dyno_job_get_network and dyno_network_build. */
gboolean dyno_accuracy_check (const DynoJob *job, const DynoDatasetInfo *info, const char *name,
                              DynoMetricInfo *metric, GError **error);

/* The metrics (DynoMetricInfo) that dyno_accuracy_check can find on the job's data set, first the
 * one by which the job's loss selects the best epoch.  Errors: those of dyno_job_get_network and
 * dyno_network_build. */
GArray *dyno_accuracy_list_metrics (const DynoJob *job, const DynoDatasetInfo *info,
                                    GError **error);

/* Blocks.  Errors: DYNO_TUNE_ERROR_NOTHING where the time is too short for the job's own settings;
 * those of the runner.  A cancelled search returns the result of its runs so far. */
DynoAccuracyResult *dyno_accuracy_search (const DynoParamSpace *space, const DynoMetricInfo *metric,
                                          const DynoAccuracyParams *params,
                                          const DynoAccuracyRunner *runner,
                                          const DynoAccuracyWatch *watch, GCancellable *cancellable,
                                          GError **error);

G_END_DECLS
