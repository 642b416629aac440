/* SPDX-License-Identifier: MIT */
/* The folders that searches keep their measurements and reports in. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_SEARCH_FOLDERS 100 /* number of searches that are kept and listed */

/* A folder of its own for each search: "…/searches/2026-05-01T12-30-05", with a number appended
 * when two start within a second; NULL: the error, which names the folder.  Files of the oldest
 * searches are deleted, other files stay.  runs: the folder that was chosen for runs, in which
 * searches are kept where Dyno's own folder cannot be written to; or NULL.  g_free.  Errors:
 * G_FILE_ERROR, and those of dyno_file_set_error. */
char *dyno_search_folder_make (const char *runs, GError **error);

G_END_DECLS
