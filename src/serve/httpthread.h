/* SPDX-License-Identifier: MIT */
/* A thread that reads and writes HTTP, with a main loop, a libsoup server and connections of its
 * own.  A connection stays with its thread; so do its messages and exchanges, which no other thread
 * touches but as exchange.c says. */
#pragma once
#include "server-private.h"

G_BEGIN_DECLS

/* Errors: FAILED, where the system gives no socket or thread. */
DynoHttpThread *dyno_http_thread_new (DynoServer *server, guint most_connections, GError **error);
/* The next of the threads that take connections in turn: it takes one where this one is full. */
void dyno_http_thread_set_next (DynoHttpThread *thread, DynoHttpThread *next);
/* Ends its connections and joins it. */
void dyno_http_thread_end (DynoHttpThread *thread);
/* After all threads have ended: until then another one may pass connections on to it. */
void dyno_http_thread_free (DynoHttpThread *thread);

/* Takes a connection over; it is closed where all threads are full.  Any thread. */
void dyno_http_thread_take (DynoHttpThread *thread, GSocket *socket);

G_END_DECLS
