/* SPDX-License-Identifier: MIT */
/* best.ini and best.json: the settings that a search has chosen. */
#pragma once
#include "exporter.h"

G_BEGIN_DECLS

/* Writes both, with the sentences as comments at the head of best.ini; sentences: NULL at the end. */
gboolean dyno_best_files_write (const char *folder, const DynoExportContext *context,
                                const char *const *sentences, GError **error);

G_END_DECLS
