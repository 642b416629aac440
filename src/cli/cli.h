/* SPDX-License-Identifier: MIT */
/* Shared by the verbs of dynoctl: their table, options, exit codes, and error reports.
 *
 * Invariants: results go to standard output, everything else to standard error; --json gives one
 * object per line; the process never sets a locale, so every number has a '.'; only main leaves the
 * process, a verb returns its exit code. */
#pragma once
#include "jsontext.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_EXIT_OK = 0,
  DYNO_EXIT_FAILURE = 1,
  DYNO_EXIT_USAGE = 2,
  DYNO_EXIT_DATA = 3,        /* a data set, weights file or checkpoint cannot be used */
  DYNO_EXIT_NO_DEVICE = 4,   /* no loader, driver or device that Dyno can use */
  DYNO_EXIT_DEVICE_LOST = 5, /* the device is lost or hangs */
  DYNO_EXIT_MEMORY = 6,      /* out of host or device memory, or past the VRAM budget */
  DYNO_EXIT_DISK = 7,        /* a file cannot be written */
  DYNO_EXIT_DIVERGED = 8,
  DYNO_EXIT_RESUMABLE = 75, /* the run was stopped and can be resumed */
  DYNO_EXIT_INTERRUPTED = 130,
  DYNO_EXIT_TERMINATED = 143,
} DynoExitCode;

/* The only function that maps an error to an exit code; NULL maps to OK. */
DynoExitCode dyno_exit_code (const GError *error);

typedef struct {
  const char *name;
  const char *arguments; /* "DATA", for the usage line */
  const char *summary;
  int (*run) (int argc, char **argv); /* argv[0] is "dynoctl VERB"; returns an exit code */
  gboolean alone;                     /* the verb must not run in several processes of mpirun */
} DynoVerb;

int dyno_verb_devices (int argc, char **argv);
int dyno_verb_presets (int argc, char **argv);
int dyno_verb_inspect (int argc, char **argv);
int dyno_verb_model (int argc, char **argv);
int dyno_verb_convert (int argc, char **argv);
int dyno_verb_plan (int argc, char **argv);
int dyno_verb_train (int argc, char **argv);
int dyno_verb_tune (int argc, char **argv);
int dyno_verb_lr (int argc, char **argv);
int dyno_verb_quick (int argc, char **argv);
int dyno_verb_profile (int argc, char **argv);
int dyno_verb_diagnose (int argc, char **argv);
int dyno_verb_runs (int argc, char **argv);
int dyno_verb_queue (int argc, char **argv);
int dyno_verb_export (int argc, char **argv);
int dyno_verb_predict (int argc, char **argv);
int dyno_verb_evaluate (int argc, char **argv);
int dyno_verb_save (int argc, char **argv);
int dyno_verb_serve (int argc, char **argv);
int dyno_verb_bench (int argc, char **argv);
int dyno_verb_kernels (int argc, char **argv);
int dyno_verb_sensors (int argc, char **argv);
int dyno_verb_watch (int argc, char **argv);

/* Parses options; entries write to their pointers.  --help is added.  rest (may be NULL: none
 * allowed) takes arguments that are no options, at most max_rest.  Returns TRUE to go on; FALSE:
 * leave with *code. */
gboolean dyno_cli_parse (int argc, char **argv, const char *arguments, const char *summary,
                         const GOptionEntry *entries, const char *after, char ***rest,
                         guint max_rest, int *code);

/* The environment variable by which the queue names the file for the error of a job's process. */
#define DYNO_CLI_ERROR_FILE "DYNO_ERROR_FILE"

/* Usage error in words, with a hint to --help; returns DYNO_EXIT_USAGE. */
int dyno_cli_usage (const char *command, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Asks the user at the terminal; FALSE where there is no terminal, or the answer does not begin
 * with y. */
gboolean dyno_cli_ask (const char *format, ...) G_GNUC_PRINTF (1, 2);

/* Prints the error on standard error, with json also as an {"event": "error"}, frees it and returns
 * its exit code. */
int dyno_cli_fail (GError *error, gboolean json);

/* Seconds since the process began. */
double dyno_cli_seconds (void);

G_END_DECLS
