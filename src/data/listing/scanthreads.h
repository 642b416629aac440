/* SPDX-License-Identifier: MIT */
/* Work on many items by a few threads that take chunks of them from a counter. */
#pragma once
#include "dataset.h"

G_BEGIN_DECLS

/* Items first to end, of any thread; chunks come in no order. */
typedef void (*DynoScanFunc) (guint64 first, guint64 end, gpointer data);

/* Gives each of n items to func once and waits for all.  progress (may be NULL) hears on the
 * calling thread of items done.  FALSE: cancelled; then not every item was given. */
gboolean dyno_scan_threads_run (guint64 n, guint chunk, guint max_threads, DynoScanFunc func,
                                gpointer data, DynoScanProgress progress, gpointer progress_data,
                                GCancellable *cancellable, GError **error);

G_END_DECLS
