/* SPDX-License-Identifier: MIT */
/* best.ini and best.json: the settings that a search has chosen. */
#pragma once
#include "accuracy.h"
#include "exporter.h"

G_BEGIN_DECLS

/* Writes both files, with the sentences (NULL at the end) as comments at the head of best.ini. */
gboolean dyno_best_files_write (const char *folder, const DynoExportContext *context,
                                const char *const *sentences, GError **error);

/* The same, and report.html, for the choice of a search for the best validation; the comment is the
 * sentence of its verdict.  A search that was stopped keeps existing files where it has measured
 * nothing new, or where an earlier search had proved its choice.  job: the job of the search;
 * device: its name, or NULL. */
gboolean dyno_best_files_write_accuracy (const char *folder, const DynoJob *job, const char *device,
                                         const DynoAccuracyResult *result, GError **error);

G_END_DECLS
