/* SPDX-License-Identifier: MIT */
/* Writes a session into the history as it happens.  An observer notes each event on the thread that
 * emits it, and a separate thread writes.  Training never waits for it, and continues where nothing
 * can be written: this is logged once, and the recorder tries again until the end.  A history that
 * another process holds at the end gets its entry later (lateentry.h).
 *
 * The entry exists from the start of the session; steps are written every few seconds, epochs and
 * the end at once.  A resumed run continues its own entry, which is found by the run's folder. */
#pragma once
#include "session.h"
#include "store.h"

G_BEGIN_DECLS

typedef struct _DynoRunRecorder DynoRunRecorder;

/* To be called before the session's start.  store NULL: the recorder's thread opens the store of
 * dyno_store_open (NULL).  A reference to the store is taken. */
DynoRunRecorder *dyno_run_recorder_new (DynoStore *store, DynoSession *session);
/* To be called after the session's end, before or after the session is freed.  Waits until all is
 * written, but at most some seconds for a disk that does not respond. */
void dyno_run_recorder_free (DynoRunRecorder *recorder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRunRecorder, dyno_run_recorder_free)

G_END_DECLS
