/* SPDX-License-Identifier: MIT */
/* A thread that reads and writes HTTP, with its own main loop, libsoup server and connections.  A
 * connection stays with its thread, and so do its messages and exchanges, which other threads
 * access only as exchange.c permits. */
#pragma once
#include "server-private.h"

G_BEGIN_DECLS

/* Errors: FAILED, where no socket or thread can be created. */
DynoHttpThread *dyno_http_thread_new (DynoServer *server, guint most_connections, GError **error);
/* Sets the thread that takes a connection if this one is full. */
void dyno_http_thread_set_next (DynoHttpThread *thread, DynoHttpThread *next);
/* Ends the thread's connections and joins the thread. */
void dyno_http_thread_end (DynoHttpThread *thread);
/* To be called after all threads have ended, since until then another thread may pass connections
 * to this one. */
void dyno_http_thread_free (DynoHttpThread *thread);

/* Takes ownership of a connection, which is closed if all threads are full.  Any thread. */
void dyno_http_thread_take (DynoHttpThread *thread, GSocket *socket);

G_END_DECLS
