/* SPDX-License-Identifier: MIT */
/* The observers of a session, and the order in which they see its events: see event.h.  Any
 * thread.  Private to the layers up to train. */
#pragma once
#include "event.h"

G_BEGIN_DECLS

typedef struct _DynoObservers DynoObservers;

DynoObservers *dyno_observers_new (void);
/* To be called when no event follows. */
void dyno_observers_free (DynoObservers *observers);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoObservers, dyno_observers_free)

/* As dyno_session_add_observer and dyno_session_remove_observer. */
void dyno_observers_add (DynoObservers *observers, const DynoObserver *observer, gpointer data);
void dyno_observers_remove (DynoObservers *observers, const DynoObserver *observer, gpointer data);

/* Takes ownership of the event.  Returns when all observers have received it; in a call by an
 * observer it returns at once, and the event follows the present one. */
void dyno_observers_emit (DynoObservers *observers, DynoEvent *event);

/* Nobody takes events any more: calls abandon of all observers (see DynoObserver), also of
 * observers that are added later. */
void dyno_observers_abandon (DynoObservers *observers);

G_END_DECLS
