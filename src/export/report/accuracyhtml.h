/* SPDX-License-Identifier: MIT */
/* The report of a search for the best validation: one HTML file as that of the tuner (reporthtml.h), with
 * the verdict, the final by seed, what mattered, and all trials. */
#pragma once
#include "accuracy.h"

G_BEGIN_DECLS

/* job: of the search; device: its name, or NULL.  result: with a verdict, and a trial at least.  g_free. */
char *dyno_report_accuracy_html (const DynoAccuracyResult *result, const DynoJob *job,
                                 const char *device);

G_END_DECLS
