/* SPDX-License-Identifier: MIT */
/* Searches of the history, for dynoctl runs: lists all, or shows one with its trials. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* The number 12 for "s12"; 0: the word is no name of a search. */
gint64 dyno_search_parse_id (const char *word);
/* Returns -1 on error. */
int dyno_searches_list (DynoStore *store, guint limit, gboolean json, const char *command,
                        GError **error);
/* Error: NOT_FOUND. */
int dyno_search_show (DynoStore *store, gint64 id, gboolean json, GError **error);

/* name: "" removes the name.  Error: NOT_FOUND. */
int dyno_search_rename (DynoStore *store, gint64 id, const char *name, GError **error);

/* files: also removes the search's files from its folder, and the folder if it is then empty.
 * Errors: NOT_FOUND, ACTIVE; DYNO_BASE_ERROR_IO. */
int dyno_search_delete (DynoStore *store, gint64 id, gboolean files, GError **error);

G_END_DECLS
