/* SPDX-License-Identifier: MIT */
/* Does work on many items by a few threads, which take chunks of items from a counter. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Handles the items from first to before end, on any thread; chunks have no order. */
typedef void (*DynoScanFunc) (guint64 first, guint64 end, gpointer data);

/* Passes each of n items to func once, and waits for all.  progress (may be NULL) is called on the
 * calling thread with the number of items done.  FALSE: cancelled; then some items may not have
 * been passed. */
gboolean dyno_scan_threads_run (guint64 n, guint chunk, guint max_threads, DynoScanFunc func,
                                gpointer data, DynoScanProgress progress, gpointer progress_data,
                                GCancellable *cancellable, GError **error);

G_END_DECLS
