/* SPDX-License-Identifier: MIT */
/* Keeps the records of a search while it runs: each measurement goes into its folder's trials.csv
 * and into the history.  The history never fails a search: where it cannot be written, there is one
 * warning.  Used only by the tuner; one thread. */
#pragma once
#include "store.h"
#include "trialsfile.h"

G_BEGIN_DECLS

typedef struct {
  const DynoJob *job;
  const DynoDeviceInfo *device;
  guint64 fingerprint;         /* of the data */
  const char *folder;          /* for trials.csv; NULL: none */
  gboolean append;             /* after the existing lines */
  DynoStore *store;            /* NULL: no history */
  const DynoTuneResult *known; /* result of an earlier search, or NULL */
} DynoSearchRecordsParams;

typedef struct _DynoSearchRecords DynoSearchRecords;

/* Writes the known measurements first, where they are not in the file already.  Errors: those of
 * trialsfile.h. */
DynoSearchRecords *dyno_search_records_new (const DynoSearchRecordsParams *params, GError **error);
/* FALSE, once, where the file cannot be written: from then on only the history is written. */
gboolean dyno_search_records_add_ceiling (DynoSearchRecords *records, const DynoCeiling *ceiling,
                                          GError **error);
gboolean dyno_search_records_add_trial (DynoSearchRecords *records, const DynoTrial *trial,
                                        GError **error);
/* error: the reason why there is no best, or NULL. */
void dyno_search_records_end (DynoSearchRecords *records, const DynoTuneResult *result,
                              const GError *error);
void dyno_search_records_free (DynoSearchRecords *records);

G_END_DECLS
