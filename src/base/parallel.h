/* SPDX-License-Identifier: MIT */
/* A loop whose iterations do not depend on each other, over the machine's cores. */
#pragma once
#include <glib.h>

G_BEGIN_DECLS

typedef void (*DynoParallelFunc) (guint index, gpointer data);

/* Calls func once for each index below count, several at a time, low indices begun first; returns
 * when all are done.  Callable from any thread; threads live as long as the call. */
void dyno_parallel_for (guint count, DynoParallelFunc func, gpointer data);

/* An exclusive pool, whose threads are started before anything is queued: up to `threads`, as many
 * as the system gives.  NULL: it gives none.  Free by g_thread_pool_free. */
GThreadPool *dyno_thread_pool_new (GFunc func, gpointer data, guint threads);

G_END_DECLS
