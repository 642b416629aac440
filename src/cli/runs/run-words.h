/* SPDX-License-Identifier: MIT */
/* Runs of the history as text and as JSON, for the verbs that show them. */
#pragma once
#include "cli.h"
#include "store.h"

G_BEGIN_DECLS

/* Free with g_free; "-" where a value is not known. */
char *dyno_text_when (gint64 time_us); /* "2026-11-22 10:29", local time */
/* The state as in lists of runs; a run that has made the requested number of steps is not called
 * finished. */
const char *dyno_text_run_state (const DynoStoredRun *run);
char *dyno_text_data (const char *data); /* the last part of a path, or the name of built-in data */
char *dyno_text_metric_value (const DynoStoredRun *run, double value); /* "98.50 %" */
char *dyno_text_best (const DynoStoredRun *run); /* best metric with its name, else the loss */
/* "accuracy 97.10 %, loss 0.0912"; NULL: the run was not measured on a test part.  g_free. */
char *dyno_text_test (const DynoStoredRun *run);

/* Prints a line, {"event": "run", ...}; epochs NULL: settings and epochs are omitted. */
void dyno_run_print_json (const DynoStoredRun *run, const GArray *epochs);
/* Adds the members of this object, except for the event. */
void dyno_run_add_json (DynoJson *json, const DynoStoredRun *run);
/* "2026-11-22T09:29:00Z", or null for 0. */
void dyno_json_add_time (DynoJson *json, const char *key, gint64 time_us);

G_END_DECLS
