/* SPDX-License-Identifier: MIT */
/* Verbs of dynoctl without a device, by their whole output: no line, column or member may change
 * unnoticed.  Each file has a function that adds its tests; verbs.c calls all of them. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

extern char *verbs_folder; /* of all files of these tests, and of the history */

typedef int (*VerbsVerb) (int argc, char **argv);

/* Runs a verb with the words of line, in which “|” stands for a blank within a word, “~” for nothing
 * and “$” for the folder.  Returns all that it prints, on both streams, and its exit code in the
 * last line. */
char *verbs_run (VerbsVerb verb, const char *line);
/* Fails unless that is its output. */
void verbs_check (VerbsVerb verb, const char *line, const char *expected);

void verbs_add_diagnose (void);
void verbs_add_inspect (void);
void verbs_add_machine (void);
void verbs_add_options (void);
void verbs_add_runs (void);

G_END_DECLS
