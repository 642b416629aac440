/* SPDX-License-Identifier: MIT */
/* The state that session.c (commands, any thread) and sessionthread.c (the session's thread) share.
 *
 * Invariant: the lock protects the commands; everything else in a run belongs to its thread. */
#pragma once
#include "observers.h"
#include "schedule.h"
#include "session.h"

G_BEGIN_DECLS

typedef enum { DYNO_STOP_NONE, DYNO_STOP_SAVE, DYNO_STOP_NOW } DynoStop;

struct _DynoSession {
  DynoDataset *dataset;
  DynoDevice *device;          /* or NULL: the run opens one */
  const DynoRunWriter *writer; /* or NULL */
  DynoComm *comm;              /* or NULL: the only rank */
  DynoLrSweep sweep;           /* steps 0: none */
  DynoMetrics *metrics;
  DynoObservers *observers;
  GThread *thread;
  int state; /* atomic, DynoSessionState */

  GMutex lock;
  GCond wake; /* a command came */
  gboolean pause, checkpoint, end_epoch;
  gboolean release;         /* only with pause */
  guint validation_batches; /* only with end_epoch */
  DynoStop stop;
  const DynoJob *job; /* includes all live changes so far: a change replaces it */

  DynoSensorsParams sensors; /* of a run; all 0 except in tests */
  gint64 reconnect_us;       /* reconnect.c: from a failure to the first try; shorter in tests */

  GCancellable *soft; /* a stop with saving: cancels waiting before a step has begun */
  GCancellable *hard; /* a stop at once */
};

/* The function of the session's thread. */
gpointer dyno_session_run (gpointer session);

/* Takes ownership of the event; see dyno_observers_emit. */
void dyno_session_emit (DynoSession *session, DynoEvent *event);
void dyno_session_set_state (DynoSession *session, DynoSessionState state);

G_END_DECLS
