/* SPDX-License-Identifier: MIT */
/* The engine's names as words for the user, translated.  Strings are static unless a function says
 * otherwise. */
#pragma once
#include "runview.h"
#include "session.h"
#include "store.h"
#include "tune.h"

G_BEGIN_DECLS

const char *dyno_words_dataset_kind (const DynoDatasetInfo *info);
char *dyno_words_model (const char *name);    /* title of a model; NULL: ""; g_free */
char *dyno_words_data (const char *location); /* DATA, short; g_free */
/* The name of a file of weights, with its folder where it has the name that all runs give; g_free */
char *dyno_words_weights (const char *path);
char *dyno_words_sample_size (const DynoDatasetInfo *info); /* "32 × 32 × 3"; g_free */
/* The name of a preset; a device's own preset gets a name that describes it.  device: NULL where it
 * is not known. */
const char *dyno_words_preset (const DynoPreset *preset, const DynoDeviceInfo *device);
/* The run's name, else its model, data and time: "MLP on Shapes, Today 09:12"; g_free. */
char *dyno_words_run (const DynoStoredRun *run);
char *dyno_words_run_short (const DynoStoredRun *run);       /* without the time */
const char *dyno_words_run_state (const DynoStoredRun *run); /* "Finished", "Interrupted" */
/* How far an interrupted run came: "Interrupted: epoch 3 of 10"; g_free. */
char *dyno_words_interruption (const DynoStoredRun *run);
/* The share of a class in the pixels of all masks that count, or of a label in all samples:
 * "68.1 %"; g_free. */
char *dyno_words_class_share (const DynoDatasetInfo *info, guint class_id);
/* The samples of a class or with a label, or the pixels of a class: "1,200", "1,200 (30.0 %)",
 * "68.1 % of the pixels"; g_free. */
char *dyno_words_class_count (const DynoDatasetInfo *info, guint class_id);
/* The first labels of a sample, and with a question mark those that are not known: "red, ring?",
 * "no label"; g_free. */
char *dyno_words_labels (DynoDataset *dataset, guint64 index);
const char *dyno_words_memory_kind (DynoMemoryKind kind);
const char *dyno_words_session_state (DynoSessionState state);
const char *dyno_words_progress (const char *what); /* what: of a PROGRESS event */
/* How far a run is, in a word or a number: "Preparing", "43 %", "Paused"; g_free. */
char *dyno_words_run_progress (const DynoRunStatus *status);
/* The result on the test part in a sentence; NULL: there is none.  g_free. */
char *dyno_words_run_test (const DynoRunStatus *status);
/* The share of the run that is done, 0 to 1.  A preparation is no part of it. */
double dyno_words_run_fraction (const DynoRunStatus *status);
/* The name of a metric as it is written within a sentence: "best accuracy 97.4 %".  g_free. */
char *dyno_words_metric_within (const DynoMetricInfo *metric);
/* The index in status->metrics (which may be empty) of the metric that chooses the best epoch of
 * the run; 0 where the loss chooses it. */
guint dyno_words_find_metric (const DynoRunStatus *status);
const char *dyno_words_stage (const char *stage); /* stage: of a trial */
const char *dyno_words_outcome (DynoTrialOutcome outcome);
const char *dyno_words_level (DynoLevel level);
const char *dyno_words_choice (const char *value); /* a value of an ENUM setting: "cosine" */

/* The batch size to propose: the largest that fits, rounded down to a multiple of eight, which
 * suits matrix units; 0: none. */
gint64 dyno_words_fitting_batch (const DynoJobPlan *plan);
/* The batch size to replace the present one: the largest that fits, or the smaller one that the run
 * will use where the data set has fewer samples; 0: the present one is right, or none fits. */
gint64 dyno_words_better_batch (const DynoSettings *settings, const DynoJobPlan *plan);
/* Explains why a plan does not fit and which batch size would, or why the run will use another
 * batch size than the one that is set; NULL: the plan fits as it is.  g_free. */
char *dyno_words_plan_advice (const DynoSettings *settings, const DynoJobPlan *plan);
/* The meaning of another card's preset on this device; NULL: there is nothing to explain.
 * g_free. */
char *dyno_words_emulation (const DynoPreset *preset, const DynoDeviceInfo *device);
/* The sources of a preset's values, one line each.  g_free. */
char *dyno_words_preset_sources (const DynoPreset *preset, const DynoPresetUse *use);

/* The title of an error, and the next step where the error's domain says more than its message;
 * both may be NULL. */
const char *dyno_words_error_title (const GError *error);
const char *dyno_words_error_step (const GError *error);

G_END_DECLS
