/* SPDX-License-Identifier: MIT */
/* Findings for people: the verb diagnose, the end of train, quick. */
#pragma once
#include "diagnosis.h"
#include "planjob.h"

G_BEGIN_DECLS

/* A line each, and a second for what to do. */
void dyno_findings_print (const GPtrArray *findings);

/* The end of a run: the verdict and what is worst beside it, in two lines at most; and as an
 * event. */
void dyno_diagnosis_say (const DynoDiagnosis *diagnosis);
void dyno_diagnosis_print_event (const DynoDiagnosis *diagnosis);

/* What the check list of before a run finds that a setting mends; nothing where all is well. */
void dyno_diagnosis_say_before (const DynoJob *job, const DynoDatasetInfo *info,
                                const DynoDeviceInfo *device, const DynoJobPlan *plan);

G_END_DECLS
