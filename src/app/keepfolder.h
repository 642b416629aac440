/* SPDX-License-Identifier: MIT */
/* Tests whether a folder can be written to, before a run or search that is to be kept in it
 * begins. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Creates the folder if it is missing.  Returns FALSE if nothing can be written into it.  Errors:
 * G_FILE_ERROR, a sentence that names the folder. */
gboolean dyno_folder_can_keep (const char *folder, GError **error);
/* The same, as far as this can be determined without creating a folder. */
gboolean dyno_folder_may_keep (const char *folder, GError **error);

G_END_DECLS
