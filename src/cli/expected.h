/* SPDX-License-Identifier: MIT */
/* Compares the expected numbers of a preset with those of a run that has ended. */
#pragma once
#include "diagnosis.h"
#include "job-options.h"
#include "runview.h"

G_BEGIN_DECLS

/* Prints a line; nothing where there is no preset, or none of its numbers was measured.  input: the
 * values of sensors and steps of the run. */
void dyno_expected_print (const DynoCliJob *cli_job, const DynoRunStatus *status,
                          const DynoDiagnosisInput *input);
/* The same as an event, {"event": "expected", "samples_per_s": {"measured": 70.1, "expected":
 * [300, 500]}, ...}. */
void dyno_expected_print_event (const DynoCliJob *cli_job, const DynoRunStatus *status,
                                const DynoDiagnosisInput *input);

G_END_DECLS
