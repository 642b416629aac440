/* SPDX-License-Identifier: MIT */
/* Findings for people: the verb diagnose, the end of train, quick. */
#pragma once
#include "diagnosis.h"
#include "planjob.h"

G_BEGIN_DECLS

/* Prints a line for each finding, and a second one for the action. */
void dyno_findings_print (const GPtrArray *findings);

/* At the end of a run: the verdict and the worst finding beside it, in two lines at most; and as an
 * event. */
void dyno_diagnosis_say (const DynoDiagnosis *diagnosis);
void dyno_diagnosis_print_event (const DynoDiagnosis *diagnosis);

/* Prints the findings of the check list before a run that a setting mends; nothing where there is
 * none. */
void dyno_diagnosis_say_before (const DynoJob *job, const DynoDatasetInfo *info,
                                const DynoDeviceInfo *device, const DynoJobPlan *plan);

G_END_DECLS
