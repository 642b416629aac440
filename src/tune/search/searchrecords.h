/* SPDX-License-Identifier: MIT */
/* What is kept of a search while it runs: each measurement in its folder's trials.csv and in the
 * history.  The history never fails a search: what cannot be written there is a warning once.  Used
 * by the tuner alone; one thread. */
#pragma once
#include "store.h"
#include "trialsfile.h"

G_BEGIN_DECLS

typedef struct {
  const DynoJob *job;
  const DynoDeviceInfo *device;
  guint64 fingerprint;         /* of the data */
  const char *folder;          /* for trials.csv; NULL: none */
  gboolean append;             /* behind what is there */
  DynoStore *store;            /* NULL: no history */
  const DynoTuneResult *known; /* of an earlier search, or NULL */
} DynoSearchRecordsParams;

typedef struct _DynoSearchRecords DynoSearchRecords;

/* What is known is written first, where it is not in the file already.  Errors: those of
 * trialsfile.h. */
DynoSearchRecords *dyno_search_records_new (const DynoSearchRecordsParams *params, GError **error);
/* FALSE, the first time, where the file cannot be written: from then on the history alone is. */
gboolean dyno_search_records_add_ceiling (DynoSearchRecords *records, const DynoCeiling *ceiling,
                                          GError **error);
gboolean dyno_search_records_add_trial (DynoSearchRecords *records, const DynoTrial *trial,
                                        GError **error);
/* error: why there is no best, or NULL. */
void dyno_search_records_end (DynoSearchRecords *records, const DynoTuneResult *result,
                              const GError *error);
void dyno_search_records_free (DynoSearchRecords *records);

G_END_DECLS
