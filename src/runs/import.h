/* SPDX-License-Identifier: MIT */
/* Imports runs that are in no history (runs of an earlier Dyno, of another machine, of a lost
 * history) from the files in their folders: settings.ini, metrics.csv, facts.ini. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* Adds the run in a folder as an entry of its own, *added is TRUE then; or returns the entry that
 * has the folder already.  NULL with the error: NOT_FOUND where there is no metrics.csv of a
 * run. */
DynoStoredRun *dyno_store_import_run (DynoStore *store, const char *folder, gboolean *added,
                                      GError **error);
/* Imports all runs in `parent`; returns the number of added runs, and sets *n_found (may be NULL)
 * to the number of runs found. */
guint dyno_store_import_runs (DynoStore *store, const char *parent, guint *n_found);

G_END_DECLS
