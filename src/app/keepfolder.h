/* SPDX-License-Identifier: MIT */
/* The test of a folder before something begins that is to be kept in it. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

/* Makes the folder where it is missing.  FALSE: nothing can be written into it.  Errors:
 * G_FILE_ERROR, a sentence that names the folder. */
gboolean dyno_folder_can_keep (const char *folder, GError **error);
/* The same, as far as can be seen without making a folder. */
gboolean dyno_folder_may_keep (const char *folder, GError **error);

G_END_DECLS
