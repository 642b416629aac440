/* SPDX-License-Identifier: MIT */
/* A search over the hyperparameters for the best validation of one metric.
 *
 * Trial 0 is the job's own settings, trained to the end.  Further trials are proposed by a
 * tree-structured Parzen estimator (tpe.h) and stopped early by successive halving (halving.h): each
 * is a run whose schedule spans all epochs, which stops at its rung's epoch and goes on from there
 * when it is promoted.  The value of a trial is the best of its epochs so far, whose weights a run
 * keeps.
 *
 * All trials have the job's seed, so the best of many is better by chance too.  Therefore the best
 * two and the job's own settings are trained anew with other seeds, which the search has not seen,
 * and compared by pairs with equal seeds (paired.h): only that is a proof.
 *
 * The search has no clock and no device of its own: a table of functions trains and says the time.
 * Its decisions follow from the measured values, so that a search that is resumed goes on as it
 * would have. */
#pragma once
#include "halving.h"
#include "importance.h"
#include "paired.h"
#include "params.h"
#include "tuneresult.h"
#include <gio/gio.h>

G_BEGIN_DECLS

#define DYNO_ACCURACY_MOST_SEEDS 10
#define DYNO_ACCURACY_CONTENDERS 2

/* A run of a trial, from one number of epochs to another; a line of accuracy.csv. */
typedef struct {
  guint trial;    /* from 0: the job's own settings */
  gboolean final; /* with a seed of the final; else the job's seed */
  guint64 seed;
  guint64 from_epochs, epochs; /* that it had, and has now */
  DynoTrialOutcome outcome;
  double value;          /* best of the metric in validation up to here; NaN unless OK */
  double seconds;        /* that this part took */
  double train_seconds;  /* of them in epochs; the rest went to opening and compiling */
  char *text;            /* the reason of a failure, or NULL */
  DynoSettings settings; /* the seed is as in the search */
} DynoAccuracyRun;

DynoAccuracyRun *dyno_accuracy_run_copy (const DynoAccuracyRun *run);
void dyno_accuracy_run_free (DynoAccuracyRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyRun, dyno_accuracy_run_free)

typedef struct {
  /* Trains run->settings with run->seed from from_epochs to epochs, and fills outcome, value, text
   * and train_seconds.  FALSE: the search ends, CANCELLED is no failure. */
  gboolean (*train) (DynoAccuracyRun *run, gpointer data, GCancellable *cancellable,
                     GError **error);
  double (*get_time) (gpointer data); /* seconds, of any beginning */
  gpointer data;
} DynoAccuracyRunner;

typedef struct {
  DynoSettings settings;
  double point[DYNO_PARAMS_MOST];
  DynoHalvingTrial halving; /* losses: the metric, with the sign that makes less better */
  double values[DYNO_HALVING_MOST_RUNGS]; /* of the metric */
  DynoTrialOutcome outcome;               /* of its last run */
} DynoAccuracyTrial;

/* A trial that took part in the final. */
typedef struct {
  guint trial;
  gboolean failed;                         /* on one of the seeds: it takes no further part */
  double values[DYNO_ACCURACY_MOST_SEEDS]; /* by seed; NaN: not measured */
  DynoPaired gain; /* over the job's own settings, above 0: better; in the metric's unit */
} DynoAccuracyContender;

/* How sure the choice is. */
typedef enum {
  DYNO_ACCURACY_PROVEN,
  DYNO_ACCURACY_NOT_PROVEN, /* it is better in the final, but the interval holds 0 */
  DYNO_ACCURACY_NO_FINAL,   /* it is better in the search, and had no final on two seeds */
  DYNO_ACCURACY_KEEP, /* nothing is better than the job's own settings, which are the choice */
} DynoAccuracyVerdict;

typedef struct {
  DynoParamSpace space;  /* that was searched */
  DynoMetricInfo metric; /* "loss": no metric of the loss, but itself */
  guint n_rungs;
  guint64 rungs[DYNO_HALVING_MOST_RUNGS]; /* epochs */
  GArray *trials;                         /* DynoAccuracyTrial */
  GPtrArray *runs;                        /* DynoAccuracyRun, in order */
  guint n_known;                          /* of runs, that an earlier search measured */
  gboolean known_proven;                  /* they are a proof by themselves */
  guint n_contenders;                     /* of the final, without the job's own settings */
  DynoAccuracyContender own, contenders[DYNO_ACCURACY_CONTENDERS];
  /* Of each parameter of the space (importance.h), of all trials at the first rung; NaN: not known. */
  double importance[DYNO_PARAMS_MOST];
  guint best; /* trial */
  DynoAccuracyVerdict verdict;
  gboolean stopped; /* by request */
  char *text;       /* the verdict, a sentence; translated */
} DynoAccuracyResult;

/* A snapshot for another thread, or of a search that goes on. */
DynoAccuracyResult *dyno_accuracy_result_copy (const DynoAccuracyResult *result);
void dyno_accuracy_result_free (DynoAccuracyResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoAccuracyResult, dyno_accuracy_result_free)

/* The trials by their last rungs and their values there, the best first: indices, n_most at most;
 * failed ones are left out.  Gives the number. */
guint dyno_accuracy_result_rank (const DynoAccuracyResult *result, guint *trials, guint n_most);
/* The best value of the search so far, the final left out; NaN: none. */
double dyno_accuracy_result_find_best (const DynoAccuracyResult *result);
/* The rung in which a run ends, from 0. */
guint dyno_accuracy_result_find_rung (const DynoAccuracyResult *result, const DynoAccuracyRun *run);
/* The parameters that explain at least a twentieth of the values by themselves, the most first:
 * indices, DYNO_PARAMS_MOST at most.  Gives the number. */
guint dyno_accuracy_result_list_important (const DynoAccuracyResult *result, guint *params);
/* "92.10 %", "0.2513".  g_free. */
char *dyno_accuracy_format (const DynoMetricInfo *metric, double value);
/* "1.8 points" of a fraction, "0.02" of others.  g_free. */
char *dyno_accuracy_format_difference (const DynoMetricInfo *metric, double difference);

/* Sees each run before it begins, and when it has ended; either may be NULL. */
typedef struct {
  void (*begin) (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data);
  /* FALSE: it could not be kept, and the search ends with the error. */
  gboolean (*end) (const DynoAccuracyResult *result, const DynoAccuracyRun *run, gpointer data,
                   GError **error);
  gpointer data;
} DynoAccuracyWatch;

typedef struct {
  double seconds;    /* for all; half of it is for the final */
  guint most_trials; /* the job's own counted; 0: as many as there is time for */
  guint most_seeds;  /* of the final; 0: as many as there is time for, DYNO_ACCURACY_MOST_SEEDS */
  const GPtrArray *known; /* DynoAccuracyRun: of an earlier search that goes on; or NULL */
} DynoAccuracyParams;

/* Finds the metric "accuracy", "loss", ... that the job's loss measures.  Errors: SETTING, which
 * names those that there are; DATA where there is nothing to validate on, or only one class; those
 * of a network. */
gboolean dyno_accuracy_check (const DynoJob *job, const DynoDatasetInfo *info, const char *name,
                              DynoMetricInfo *metric, GError **error);

/* The metrics that dyno_accuracy_check can find on the job's data set, the one that its loss selects
 * the best epoch by first: DynoMetricInfo.  Errors: those of a network. */
GArray *dyno_accuracy_list_metrics (const DynoJob *job, const DynoDatasetInfo *info,
                                    GError **error);

/* Blocks.  Errors: DYNO_TUNE_ERROR_NOTHING where the time is too short for the job's own settings
 * and none was given to others; those of the runner.  A search that is cancelled ends with what it
 * has measured. */
DynoAccuracyResult *dyno_accuracy_search (const DynoParamSpace *space, const DynoMetricInfo *metric,
                                          const DynoAccuracyParams *params,
                                          const DynoAccuracyRunner *runner,
                                          const DynoAccuracyWatch *watch, GCancellable *cancellable,
                                          GError **error);

G_END_DECLS
