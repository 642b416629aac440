/* SPDX-License-Identifier: MIT */
/* Entries of runs that ended while another process held the history.  Each is a history of its one
 * run in a file beside the history (HISTORY.late-<16 digits>), until the history is opened the next
 * time.  Private to the layer. */
#pragma once
#include "store.h"

G_BEGIN_DECLS

/* Writes the run into a late entry beside the history at this path.  The run gets its uid and its
 * id in the new file.  Errors: those of the store. */
gboolean dyno_late_entry_write (const char *history, DynoStoredRun *run,
                                const DynoEpochMetrics *epochs, guint n_epochs, GError **error);
/* Moves the late entries beside the store's file into it; an entry that cannot be written now stays
 * for the next time. */
void dyno_late_entries_take (DynoStore *store);

G_END_DECLS
