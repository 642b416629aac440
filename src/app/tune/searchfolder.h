/* SPDX-License-Identifier: MIT */
/* The folders that searches keep their measurements and reports in. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

#define DYNO_SEARCH_FOLDERS 100 /* that are kept, the newest; as many are listed */

/* A folder of its own for each search: "…/searches/2026-05-01T12-30-05", a number behind it when
 * two start within a second; NULL: the error, which names the folder.  What is kept of the oldest
 * searches goes, files that are no search's own stay.  g_free. */
char *dyno_search_folder_make (GError **error);

G_END_DECLS
