/* SPDX-License-Identifier: MIT */
/* The options that say what to train: shared by plan, train and tune.  Which of two wins:
 * settings-sources.h. */
#pragma once
#include "cli.h"
#include "estimate.h"
#include "exporter.h"
#include "jsontext.h"
#include "ranksestimate.h"

G_BEGIN_DECLS

#define DYNO_OPTION_UNSET   G_MININT64
#define DYNO_CLI_MOST_RANKS 65536

typedef struct {
  char *data, *targets, *model;
  char *preset, *level, *settings_file, **set;
  char *freeze;
  gint64 epochs, seed;
  int device;
  gboolean json;
  gboolean quiet;     /* of those verbs that have it */
  gboolean no_device; /* of a verb that uses none: there may be none */
  char *resume;       /* train only; filled by its verb */
} DynoJobOptions;

void dyno_job_options_init (DynoJobOptions *options);
void dyno_job_options_clear (DynoJobOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoJobOptions, dyno_job_options_clear)

/* Entries for these and then own ones ({ NULL } at the end); g_free. */
GOptionEntry *dyno_job_options_entries (DynoJobOptions *options, const GOptionEntry *own);

/* What the options name, opened. */
typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo device; /* the one that will be used */
  DynoPreset *preset;    /* or NULL */
  DynoLevel level;       /* of it */
  char **preset_notes;   /* dyno_preset_list_notes; NULL: no preset */
} DynoCliJob;

/* As its preset is asked about it; what it points to is the job's. */
DynoPresetUse dyno_cli_job_get_preset_use (const DynoCliJob *cli_job);
/* The notes, on standard error. */
void dyno_cli_job_say_preset (const char *command, const DynoCliJob *cli_job);
void dyno_cli_job_clear (DynoCliJob *cli_job);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoCliJob, dyno_cli_job_clear)

/* Resolves the options; warnings go to standard error.  FALSE: leave with *code, all is said. */
gboolean dyno_job_options_resolve (const char *command, const DynoJobOptions *options,
                                   DynoCliJob *cli_job, int *code);

/* The data set of a job.  With a command, a scan that takes long is told of on standard error; a
 * signal ends the waiting for a disk that does not answer.  Errors: those of dyno_dataset_open. */
DynoDataset *dyno_cli_open_dataset (const char *command, const DynoJob *job, GError **error);

/* Plan as an event, and for people.  estimate: its time and disk; ranks: what several make of it;
 * NULL: they are not told. */
void dyno_plan_print_json (const DynoCliJob *cli_job, const DynoJobPlan *plan, gboolean software,
                           const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks);
/* What is known of a job on several ranks, wherever it is told. */
void dyno_ranks_print_members (DynoJson *json, const DynoRanksEstimate *ranks);
void dyno_plan_print_text (const DynoCliJob *cli_job, const DynoJobPlan *plan,
                           const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks);

G_END_DECLS
