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

/* What the check list of before a run finds that a setting mends; nothing where all is well. */
void dyno_diagnosis_say_before (const DynoJob *job, const DynoDatasetInfo *info,
                                const DynoDeviceInfo *device, const DynoJobPlan *plan);

G_END_DECLS
