/* SPDX-License-Identifier: MIT */
/* The options that say what to train, as plan, train, tune and lr share them.  settings-sources.h says
 * which of two sources wins. */
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
  gboolean quiet;     /* only of verbs that have the option */
  gboolean no_device; /* the verb uses no device: there may be none */
  char *resume;       /* train only; filled by its verb */
} DynoJobOptions;

void dyno_job_options_init (DynoJobOptions *options);
void dyno_job_options_clear (DynoJobOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoJobOptions, dyno_job_options_clear)

/* Entries for these options, followed by the verb's own ones ({ NULL } at the end); g_free. */
GOptionEntry *dyno_job_options_entries (DynoJobOptions *options, const GOptionEntry *own);

/* The job that the options name, with its data set open. */
typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo device; /* the one that will be used */
  DynoPreset *preset;    /* or NULL */
  DynoLevel level;       /* of the preset */
  char **preset_notes;   /* dyno_preset_list_notes; NULL: no preset */
} DynoCliJob;

/* The job as its preset is asked about it; the pointers in it are the job's. */
DynoPresetUse dyno_cli_job_get_preset_use (const DynoCliJob *cli_job);
/* Prints the notes of the preset on standard error. */
void dyno_cli_job_say_preset (const char *command, const DynoCliJob *cli_job);
void dyno_cli_job_clear (DynoCliJob *cli_job);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoCliJob, dyno_cli_job_clear)

/* Resolves the options; warnings go to standard error.  FALSE: leave with *code, the error is
 * printed. */
gboolean dyno_job_options_resolve (const char *command, const DynoJobOptions *options,
                                   DynoCliJob *cli_job, int *code);

/* Sets the start weights of a job to those of an option: NULL: they stay; "none": the job has
 * none. */
void dyno_cli_set_weights (DynoJob *job, const char *weights);

/* The data set of a job.  With a command, a scan that takes long is reported on standard error; a
 * signal ends the wait for a disk that does not answer.  Errors: those of dyno_dataset_open. */
DynoDataset *dyno_cli_open_dataset (const char *command, const DynoJob *job, GError **error);

/* Print the plan as an event, and for people.  estimate: its time and disk; ranks: the same job on
 * several ranks; NULL: left out. */
void dyno_plan_print_json (const DynoCliJob *cli_job, const DynoJobPlan *plan, gboolean software,
                           const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks);
/* Members that describe a job on several ranks, the same in every object that has them. */
void dyno_ranks_print_members (DynoJson *json, const DynoRanksEstimate *ranks);
void dyno_plan_print_text (const DynoCliJob *cli_job, const DynoJobPlan *plan,
                           const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks);

G_END_DECLS
