/* SPDX-License-Identifier: MIT */
/* The history is a file that may be on a slow disk: every use of it is a task in a thread, which
 * opens the file for itself and returns the list of runs as it is afterwards. */
#pragma once
#include "store.h"
#include <gio/gio.h>

G_BEGIN_DECLS

typedef enum {
  DYNO_RUN_HISTORY_LIST,
  DYNO_RUN_HISTORY_RENAME, /* sets the name to text */
  DYNO_RUN_HISTORY_TAG,    /* sets the tags to text */
  DYNO_RUN_HISTORY_DELETE,
  DYNO_RUN_HISTORY_UNDELETE, /* restores runs that a deletion returned */
} DynoRunHistoryUse;

/* A deleted run, with everything that is needed to restore it. */
typedef struct {
  DynoStoredRun *run;
  GArray *epochs; /* DynoEpochMetrics */
} DynoDeletedRun;

/* Takes ids (gint64) and deleted (DynoDeletedRun); both may be NULL.  used is called in the
 * caller's thread, after those of all earlier uses by the same source.  A LIST is left out where
 * another use waits, which lists the runs too.  Main thread only. */
void dyno_run_history_use (GObject *source, DynoRunHistoryUse use, GArray *ids, const char *text,
                           GPtrArray *deleted, GAsyncReadyCallback used);
/* All runs, newest first; NULL: the error.  *deleted: the runs that a deletion removed, also if it
 * failed half way, or NULL; g_ptr_array_unref. */
GPtrArray *dyno_run_history_finish (GAsyncResult *result, GPtrArray **deleted, GError **error);

G_END_DECLS
