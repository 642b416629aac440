/* SPDX-License-Identifier: MIT */
/* Runs that are in no history (of an earlier Dyno, another machine, a history that was lost), from
 * what they left in their folders: settings.ini, metrics.csv, facts.ini. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* The run in a folder as an entry of its own, *added; or the entry that has the folder already.
 * NULL with the error: NOT_FOUND where there is no metrics.csv of a run. */
DynoStoredRun *dyno_store_import_run (DynoStore *store, const char *folder, gboolean *added,
                                      GError **error);
/* All that lie in `parent`; how many were added, and how many (may be NULL) there are. */
guint dyno_store_import_runs (DynoStore *store, const char *parent, guint *n_found);

G_END_DECLS
