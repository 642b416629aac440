/* SPDX-License-Identifier: MIT */
/* The options that define the job, shared by plan, train, tune and lr.  settings-sources.h
 * documents the precedence of the sources. */
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
  gboolean quiet;     /* set only by verbs with this option */
  gboolean no_device; /* the verb needs no device */
  char *resume;       /* only for train, which sets it */
} DynoJobOptions;

void dyno_job_options_init (DynoJobOptions *options);
void dyno_job_options_clear (DynoJobOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoJobOptions, dyno_job_options_clear)

/* Entries for these options, followed by the verb's own ones ({ NULL } at the end); g_free. */
GOptionEntry *dyno_job_options_entries (DynoJobOptions *options, const GOptionEntry *own);

/* The job that the options define, with its open data set. */
typedef struct {
  DynoJob *job;
  DynoDataset *dataset;
  DynoDeviceInfo device; /* the device that will be used */
  DynoPreset *preset;    /* or NULL */
  DynoLevel level;       /* of the preset */
  char **preset_notes;   /* dyno_preset_list_notes; NULL: no preset */
} DynoCliJob;

/* The facts about the job that its preset depends on; the pointers in it are the job's. */
DynoPresetUse dyno_cli_job_get_preset_use (const DynoCliJob *cli_job);
/* Prints the notes of the preset on standard error. */
void dyno_cli_job_print_preset (const char *command, const DynoCliJob *cli_job);
void dyno_cli_job_clear (DynoCliJob *cli_job);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DynoCliJob, dyno_cli_job_clear)

/* Resolves the options; warnings go to standard error.  FALSE: the error was printed, and the
 * process is to exit with *code. */
gboolean dyno_job_options_resolve (const char *command, const DynoJobOptions *options,
                                   DynoCliJob *cli_job, int *code);

/* Sets the name of the job's run, without blanks around it; NULL or blank: none. */
void dyno_cli_set_name (DynoJob *job, const char *name);

/* Sets the start weights of a job by the value of an option; NULL keeps them, "none" removes
 * them. */
void dyno_cli_set_weights (DynoJob *job, const char *weights);

/* Opens the data set of a job.  If command is not NULL, a long scan is reported on standard error.
 * A signal ends the wait for a disk that does not respond.  Errors: those of dyno_dataset_open. */
DynoDataset *dyno_cli_open_dataset (const char *command, const DynoJob *job, GError **error);

/* Print the plan as an event, or as text.  estimate: time and disk space; ranks: the same job on
 * several ranks; NULL: omitted. */
void dyno_plan_print_json (const DynoCliJob *cli_job, const DynoJobPlan *plan, gboolean software,
                           const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks);
/* Prints the members that describe a job on several ranks, identical in every object that has
 * them. */
void dyno_ranks_print_members (DynoJson *json, const DynoRanksEstimate *ranks);
void dyno_plan_print_text (const DynoCliJob *cli_job, const DynoJobPlan *plan,
                           const DynoRunEstimate *estimate, const DynoRanksEstimate *ranks);

G_END_DECLS
