/* SPDX-License-Identifier: MIT */
/* The report of a search for the best validation: one HTML file like that of the tuner
 * (reporthtml.h), with the verdict, the results of the final by seed, the settings that mattered,
 * and all trials. */
#pragma once
#include "accuracy.h"

G_BEGIN_DECLS

/* job: the job of the search; device: its name, or NULL.  result: has a verdict and at least one
 * trial.  g_free. */
char *dyno_report_accuracy_html (const DynoAccuracyResult *result, const DynoJob *job,
                                 const char *device);

G_END_DECLS
