/* SPDX-License-Identifier: MIT */
/* Prints findings as text, for the verbs diagnose and quick and at the end of train. */
#pragma once
#include "diagnosis.h"
#include "planjob.h"

G_BEGIN_DECLS

/* Prints a line for each finding, and a second one for the action. */
void dyno_findings_print (const GPtrArray *findings);

/* Both report the end of a run: _print prints the verdict and the worst other finding, in two lines
 * at most; _print_event prints an event. */
void dyno_diagnosis_print (const DynoDiagnosis *diagnosis);
void dyno_diagnosis_print_event (const DynoDiagnosis *diagnosis);

/* Prints those findings of the check list before a run that a setting can fix, if any. */
void dyno_diagnosis_print_before (const DynoJob *job, const DynoDatasetInfo *info,
                                  const DynoDeviceInfo *device, const DynoJobPlan *plan);

G_END_DECLS
