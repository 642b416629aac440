/* SPDX-License-Identifier: MIT */
/* best.ini and best.json: the settings that a search has chosen. */
#pragma once
#include "accuracy.h"
#include "exporter.h"

G_BEGIN_DECLS

/* Writes both, with the sentences as comments at the head of best.ini; sentences: NULL at the end. */
gboolean dyno_best_files_write (const char *folder, const DynoExportContext *context,
                                const char *const *sentences, GError **error);

/* The same for the choice of a search for the best validation, whose sentence is the comment, and
 * report.html.  A search
 * that was stopped, after nothing or after an earlier one's proof, knows no better: existing files are
 * kept.  job: of the search; device: its name, or NULL. */
gboolean dyno_best_files_write_accuracy (const char *folder, const DynoJob *job, const char *device,
                                         const DynoAccuracyResult *result, GError **error);

G_END_DECLS
