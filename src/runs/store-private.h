/* SPDX-License-Identifier: MIT */
/* Declarations that the files of the store share.  Private to the layer. */
#pragma once
#include "rows.h"
#include "store.h"

G_BEGIN_DECLS

struct _DynoStore {
  gatomicrefcount references;
  DynoDatabase *db;
};

/* storedrun.c: the first fields of the table of a run's members are written once, with the new
 * entry; the other fields are written each time the entry is put. */
#define DYNO_RUN_WRITTEN_ONCE 5
/* Makes the run from a row of all its fields. */
DynoStoredRun *dyno_stored_run_read (sqlite3_stmt *statement);

/* Takes the epoch as the run's best if it is the best so far, by the same criterion as the session:
 * by the metric (NULL: by the loss only), and by the loss where the metric is equal.  value: of the
 * run's metric; NaN: there is none. */
void dyno_stored_run_take_best (DynoStoredRun *run, const DynoMetricInfo *metric, double value,
                                const DynoEpochMetrics *epoch);

/* Converts all settings to "key=value" lines, and back: a missing or invalid setting gets its
 * default value.  bad, which may be NULL: the first line that names no setting or holds no value of
 * it, "" where no line is a setting, NULL where all lines were read; g_free. */
char *dyno_settings_to_lines (const DynoSettings *settings);
void dyno_settings_from_lines (DynoSettings *settings, const char *lines, char **bad);

/* The state of an entry whose process may have ended without reporting it. */
DynoRunState dyno_run_state_find (const char *name, const char *process, const char *folder,
                                  gint64 seen_us);
/* A path made absolute; a name that is no file stays as it is.  g_free. */
char *dyno_store_absolute (const char *name);

G_END_DECLS
