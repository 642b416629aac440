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
  DynoServeMetrics *other; /* of requests for no model */
  DynoHttpThread **threads;
  guint n_threads;
  GThreadPool *pool; /* of DynoExchange */
  /* of the main thread */
  GSocket *listening;
  GSource *accepting; /* NULL: the next sweep makes it */
  guint sweep;
  guint n_accepted;
  guint16 port;
  GMainLoop *loop;
  GMutex mutex; /* of all that follows */
  guint64 held_bytes;
  guint n_active; /* requests that were accepted and are not answered */
  gboolean stopping;
  GError *lost;
};

/* All but server, next, context, loop and calls is its own. */
struct _DynoHttpThread {
  DynoServer *server;
  DynoHttpThread *next;
  GMainContext *context;
  GMainLoop *loop;
  GAsyncQueue *calls; /* of other threads */
  GThread *thread;
  SoupServer *soup;
  int quiet_end;          /* of a pair of sockets, the other of which is libsoup's; -1: none */
  GQueue exchanges;       /* of DynoExchange, all that live */
  guint n_active;         /* of the server's, those of this thread */
  GPtrArray *connections; /* of DynoServeConnection, and some that are over */
  guint most_connections;
};

/* Calls func in the thread, from any other one. */
void dyno_http_thread_send (DynoHttpThread *thread, GSourceFunc func, gpointer data);

/* The following functions are called from any thread. */

/* Adds to the bytes that are held; FALSE: that would pass the limit. */
gboolean dyno_server_hold (DynoServer *server, guint64 bytes);
void dyno_server_let_go (DynoServer *server, guint64 bytes);

DynoServerModel *dyno_server_find_model (DynoServer *server, const char *name);
gboolean dyno_server_is_stopping (DynoServer *server);
/* A request is accepted; FALSE: the server stops. */
gboolean dyno_server_begin_active (DynoServer *server);
/* An accepted request was answered. */
void dyno_server_end_active (DynoServer *server);

typedef struct _DynoExchange DynoExchange;

/* A connection, counted by g_rc_box: its thread, its exchanges and its remote address hold it. */
typedef struct {
  GSocket *socket;
  guint n_exchanges;    /* that live; 0: it is between two requests */
  gint64 idle_since_us; /* where it is */
  gboolean ending;      /* it was shut down */
} DynoServeConnection;

void dyno_serve_connection_unref (gpointer connection);

/* The data of a remote address that is its DynoServeConnection. */
#define DYNO_CONNECTION_KEY "dyno-connection"

/* Begins the exchange of a message; it lives as long as the message. */
void dyno_exchange_attach (DynoHttpThread *thread, SoupServerMessage *message);
/* Ends the connection of an exchange whose time is over. */
void dyno_exchange_sweep (DynoExchange *exchange, gint64 now_us);
/* Handlers of all paths: when the headers are there, and when the body is. */
void dyno_exchange_on_headers (SoupServer *soup, SoupServerMessage *message, const char *path,
                               GHashTable *query, gpointer data);
void dyno_exchange_on_body (SoupServer *soup, SoupServerMessage *message, const char *path,
                            GHashTable *query, gpointer data);
/* The pool's work and the order of it. */
void dyno_exchange_work (gpointer exchange, gpointer server);
int dyno_exchange_compare (gconstpointer one, gconstpointer other, gpointer data);

G_END_DECLS
