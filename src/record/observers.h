/* SPDX-License-Identifier: MIT */
/* The observers of a session, and the order in which they see its events: see event.h.  Any
 * thread.  Private to the layers up to train. */
#pragma once
#include "event.h"

G_BEGIN_DECLS

typedef struct _DynoObservers DynoObservers;

DynoObservers *dyno_observers_new (void);
/* Nothing may be emitted any more. */
void dyno_observers_free (DynoObservers *observers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoObservers, dyno_observers_free)

/* As dyno_session_add_observer and dyno_session_remove_observer. */
void dyno_observers_add (DynoObservers *observers, const DynoObserver *observer, gpointer data);
void dyno_observers_remove (DynoObservers *observers, const DynoObserver *observer, gpointer data);

/* Takes the event.  Returns when all observers have seen it, but for a call out of an observer,
 * whose event follows the one that is being seen. */
void dyno_observers_emit (DynoObservers *observers, DynoEvent *event);

/* Nobody takes events any more: see DynoObserver.  Holds for those that are added later. */
void dyno_observers_abandon (DynoObservers *observers);

G_END_DECLS
