/* SPDX-License-Identifier: MIT */
/* Entries of runs that ended while another process held the history: each lies beside it, a history
 * of this run only (HISTORY.late-<16 digits>), until the history is opened the next time.  Private to
 * the layer. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* history: its path.  The run gets uid and id of the file.  Errors: those of the store. */
gboolean dyno_late_entry_write (const char *history, DynoStoredRun *run,
                                const DynoEpochMetrics *epochs, guint n_epochs, GError **error);
/* Those beside the store's file go into it; what cannot be written now stays for the next time. */
void dyno_late_entries_take (DynoStore *store);

G_END_DECLS
