/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the server, which call each other: models, listening and the end
 * (server.c), the threads with connections (httpthread.c), and a request from its headers to its
 * answer (exchange.c). */
#pragma once
#include "route.h"
#include "server.h"
#include "servemetrics.h"
#include <libsoup/soup.h>

G_BEGIN_DECLS

typedef struct {
  DynoSignature signature;
  DynoBatcher *batcher;
  DynoServeMetrics *metrics;
  char *metadata; /* JSON */
  DynoServer *server;
} DynoServerModel;

typedef struct _DynoHttpThread DynoHttpThread;

struct _DynoServer {
  DynoServerParams params; /* never changed, like the models, threads and pool */
  guint n_models;
  DynoServerModel *models;
  DynoServeMetrics *other; /* counts requests for no model */
  DynoHttpThread **threads;
  guint n_threads;
  GThreadPool *pool; /* its tasks are DynoExchange */
  /* used only by the main thread: */
  GSocket *listening;
  GSource *accepting; /* NULL: the next sweep creates it */
  guint sweep;
  guint n_accepted;
  guint16 port;
  GMainLoop *loop;
  GMutex mutex; /* guards all members below */
  guint64 held_bytes;
  guint n_active; /* accepted requests without a response yet */
  gboolean stopping;
  GError *lost;
};

/* All members but server, next, context, loop and calls are accessed only by the thread. */
struct _DynoHttpThread {
  DynoServer *server;
  DynoHttpThread *next;
  GMainContext *context;
  GMainLoop *loop;
  GAsyncQueue *calls; /* sent by other threads */
  GThread *thread;
  SoupServer *soup;
  int quiet_end;          /* one end of a socket pair, of which libsoup has the other; -1: none */
  GQueue exchanges;       /* all existing DynoExchange */
  guint n_active;         /* this thread's share of server->n_active */
  GPtrArray *connections; /* DynoServeConnection, including some that have ended */
  guint most_connections;
};

/* Calls func on the thread; to be called from any other thread. */
void dyno_http_thread_send (DynoHttpThread *thread, GSourceFunc func, gpointer data);

/* The following functions are called from any thread. */

/* Adds to held_bytes; FALSE: this would exceed the limit. */
gboolean dyno_server_hold (DynoServer *server, guint64 bytes);
void dyno_server_let_go (DynoServer *server, guint64 bytes);

DynoServerModel *dyno_server_find_model (DynoServer *server, const char *name);
gboolean dyno_server_is_stopping (DynoServer *server);
/* Counts an accepted request; FALSE: the server is stopping. */
gboolean dyno_server_begin_active (DynoServer *server);
/* To be called when an accepted request was answered. */
void dyno_server_end_active (DynoServer *server);

typedef struct _DynoExchange DynoExchange;

/* A connection, reference counted by g_rc_box: its thread, its exchanges and its remote address
 * hold references. */
typedef struct {
  GSocket *socket;
  guint n_exchanges;    /* existing exchanges; 0: the connection is idle between two requests */
  gint64 idle_since_us; /* begin of the idle time, if n_exchanges is 0 */
  gboolean ending;      /* the socket was shut down */
  gboolean used;        /* a request has come */
} DynoServeConnection;

void dyno_serve_connection_unref (gpointer connection);

/* The key of the data of a remote address that is its DynoServeConnection. */
#define DYNO_CONNECTION_KEY "dyno-connection"

/* Begins the exchange of a message; it lives as long as the message. */
void dyno_exchange_attach (DynoHttpThread *thread, SoupServerMessage *message);
/* Ends the connection of an exchange if its deadline has passed. */
void dyno_exchange_sweep (DynoExchange *exchange, gint64 now_us);
/* Handlers of all paths, called when the headers and when the body have been received. */
void dyno_exchange_on_headers (SoupServer *soup, SoupServerMessage *message, const char *path,
                               GHashTable *query, gpointer data);
void dyno_exchange_on_body (SoupServer *soup, SoupServerMessage *message, const char *path,
                            GHashTable *query, gpointer data);
/* The pool's task, and the order of tasks. */
void dyno_exchange_work (gpointer exchange, gpointer server);
int dyno_exchange_compare (gconstpointer one, gconstpointer other, gpointer data);

G_END_DECLS
