/* SPDX-License-Identifier: MIT */
/* Where a verb writes, checked before it begins. */
#pragma once
#include "cli.h"
#include "runfolder.h"

G_BEGIN_DECLS

/* Makes the folder when it is missing.  One that holds files of an earlier run is refused (USAGE)
 * but for force, and but for the folder that is resumed: no run is ever written over unasked.
 * Other people's files in it are left alone.  Returns an exit code. */
int dyno_run_folder_prepare (const char *command, const char *folder, const char *resume,
                             gboolean force);

G_END_DECLS
