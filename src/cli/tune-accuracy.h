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
  const char *out, *resume;         /* folders, or NULL */
  const DynoAccuracyRecord *record; /* of the folder that is resumed, or NULL */
  double minutes;
  guint n_trials, n_seeds; /* 0: as many as there is time for */
  gboolean force, quiet;
} DynoTuneAccuracy;

/* Searches, prints, writes; returns an exit code, and has printed the error. */
int dyno_tune_accuracy (const DynoTuneAccuracy *tune);

G_END_DECLS
