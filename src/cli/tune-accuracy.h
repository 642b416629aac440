/* SPDX-License-Identifier: MIT */
/* dynoctl tune --for METRIC: the search for the settings that learn best. */
#pragma once
#include "accuracyfile.h"
#include "job-options.h"

G_BEGIN_DECLS

#define DYNO_CLI_MOST_TRIALS 10000

typedef struct {
  const char *command;
  const DynoJobOptions *options;
  DynoCliJob *cli_job;
  const char *metric;
  const char *out, *resume;         /* output folder and folder to resume, or NULL */
  const DynoAccuracyRecord *record; /* record in the resumed folder, or NULL */
  double minutes;
  guint n_trials, n_seeds; /* 0: as many as there is time for */
  guint at_once;           /* trials at the same time; 0: as many as it pays */
  const char *const *over; /* what is searched, as in dyno_param_space_choose; NULL: the usual */
  gboolean force, quiet;
} DynoTuneAccuracy;

/* Runs the search, prints and writes its results; returns an exit code, after printing the
 * error. */
int dyno_tune_accuracy (const DynoTuneAccuracy *tune);

G_END_DECLS
