/* SPDX-License-Identifier: MIT */
/* Writes a session into the history as it happens: an observer that takes a note of each event on
 * the thread that emits it, and a thread of its own that writes.  Training never waits for it, and
 * goes on where nothing can be written: one message says so, and it is tried again until the end.
 * A history that another process holds at the end gets its entry later (lateentry.h).
 *
 * The entry is there from the start of the session; steps are written every few seconds, epochs and
 * the end at once.  A resumed run goes on in its own entry, which its folder tells. */
#pragma once
#include "session.h"
#include "store.h"

G_BEGIN_DECLS

typedef struct _DynoRunRecorder DynoRunRecorder;

/* Before the session's start.  store NULL: the one of dyno_store_open (NULL), opened on the
 * recorder's thread.  A reference to the store is taken. */
DynoRunRecorder *dyno_run_recorder_new (DynoStore *store, DynoSession *session);
/* After the session's end, before or after it is freed.  Waits until all is written, but for a disk
 * that does not answer some seconds at most. */
void dyno_run_recorder_free (DynoRunRecorder *recorder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoRunRecorder, dyno_run_recorder_free)

G_END_DECLS
