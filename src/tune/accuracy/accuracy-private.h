/* SPDX-License-Identifier: MIT */
/* The state of one search for the best validation, and its steps: accuracy.c decides what is
 * trained next, accuracygroup.c trains, accuracystate.c takes what was measured, accuracyfinal.c
 * compares with further seeds.  Private to these files; one thread. */
#pragma once
#include "accuracy.h"

G_BEGIN_DECLS

typedef struct {
  const DynoParamSpace *space;
  const DynoAccuracyParams *params;
  const DynoAccuracyRunner *runner;
  const DynoAccuracyWatch *watch;
  GCancellable *cancellable;
  DynoAccuracyResult *result;
  DynoTpe tpe;
  double begin; /* by the runner's time */
  DynoAccuracyPace pace;
  guint most_at_once; /* the runner's, and fewer once that many had no memory */
  int known_first;    /* the rung in which the trials of an earlier search began; -1: it had none */
} DynoAccuracySearch;

/* --- what was measured ------------------------------------------------------------------------ */

/* Trial i of the result. */
DynoAccuracyTrial *dyno_accuracy_search_get_trial (const DynoAccuracySearch *s, guint i);

/* The rung that ends at this epoch; -1: none. */
int dyno_accuracy_search_find_rung (const DynoAccuracySearch *s, guint64 epochs);

/* Takes the run, which then belongs to the result.  FALSE: it does not belong to this search. */
gboolean dyno_accuracy_search_take_run (DynoAccuracySearch *s, DynoAccuracyRun *run);

/* Copies the points of all trials: rows of space->n values. */
void dyno_accuracy_search_copy_points (const DynoAccuracySearch *s, double *points);

/* Fills the importance of the parameters by the values after the first rung, which all trials have:
 * the trials of higher rungs are few and similar. */
void dyno_accuracy_search_fill_importance (DynoAccuracySearch *s);

/* --- time ------------------------------------------------------------------------------------- */

/* The number of runs that are trained at the same time, where there are enough. */
guint dyno_accuracy_search_get_at_once (const DynoAccuracySearch *s);

/* The expected time of n_runs runs of this many epochs each, at_once at the same time; 0: not
 * known. */
double dyno_accuracy_search_expect (const DynoAccuracySearch *s, guint64 epochs, guint n_runs,
                                    guint at_once);

/* TRUE: the runs end within the first part of the time, that is without the last `kept` seconds. */
gboolean dyno_accuracy_search_has_time (const DynoAccuracySearch *s, guint64 epochs, guint n_runs,
                                        guint at_once, double kept);

/* The number of seeds that the final may use. */
guint dyno_accuracy_search_get_most_seeds (const DynoAccuracySearch *s);

/* The time that is kept for the final: that of all its runs, unless it is too long. */
double dyno_accuracy_search_get_final_seconds (const DynoAccuracySearch *s);

/* --- runs ------------------------------------------------------------------------------------- */

/* A group of runs that are trained at the same time, all with as many epochs to train. */
typedef struct {
  guint n;
  DynoAccuracyRun *runs[DYNO_ACCURACY_MOST_AT_ONCE];
} DynoAccuracyGroup;

/* Frees the runs; the group is empty afterwards. */
void dyno_accuracy_group_clear (DynoAccuracyGroup *group);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoAccuracyGroup, dyno_accuracy_group_clear)

/* Adds the run of a trial from the rung that it has finished to the next one. */
void dyno_accuracy_group_add_rung (const DynoAccuracySearch *s, DynoAccuracyGroup *group,
                                   guint number, const DynoSettings *settings);

/* Trains the runs of the group, and records those that have ended, in their order; the group is
 * empty afterwards.  FALSE with the error, or without one where the search was stopped. */
gboolean dyno_accuracy_group_train (DynoAccuracySearch *s, DynoAccuracyGroup *group,
                                    GError **error);

/* --- the final -------------------------------------------------------------------------------- */

/* Chooses the best trials that are better than the job's own settings, n_most at most. */
void dyno_accuracy_final_choose (DynoAccuracySearch *s, guint n_most);

/* Fills the values of own and contenders from the runs of the final. */
void dyno_accuracy_final_fill (DynoAccuracySearch *s);

/* Trains the final, as far as there is time.  FALSE as from dyno_accuracy_group_train. */
gboolean dyno_accuracy_final_run (DynoAccuracySearch *s, GError **error);

G_END_DECLS
