/* SPDX-License-Identifier: MIT */
/* Findings for people: the verb diagnose, the end of train, quick. */
#pragma once
#include "diagnosis.h"
#include "progress.h"

G_BEGIN_DECLS

/* A line each, and a second for what to do. */
void dyno_findings_print (const GPtrArray *findings);

/* The verdict of a run's folder and its worst findings, in a few lines between those of the
 * progress; nothing where there is none. */
void dyno_diagnosis_say (const char *folder, DynoProgress *progress);

G_END_DECLS
