/* SPDX-License-Identifier: MIT */
/* The folder that a run leaves: --out DIR. */
#pragma once
#include "cli.h"
#include "exporter.h"
#include "session.h"

G_BEGIN_DECLS

/* Makes the folder when it is missing.  One that holds files of an earlier run is refused (USAGE) but for force, and but
 * for the folder that is resumed: no run is ever written over unasked.  Other people's files in it are left alone.  
 * Returns an exit code. */
int dyno_run_folder_prepare (const char *command, const char *folder, const char *resume, gboolean force);

/* settings.ini of the run; a data set's path is written absolute, so that the run resumes from anywhere. */
gboolean dyno_run_folder_write_settings (const char *folder, const DynoJob *job, const char *device, GError **error);

/* curves.svg and curves.png through the module dyno-curves; FALSE: not drawn, and the error says why. */
gboolean dyno_run_folder_write_curves (const char *folder, DynoMetrics *metrics, guint64 budget_bytes, GError **error);

G_END_DECLS
