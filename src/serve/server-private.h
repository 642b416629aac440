/* SPDX-License-Identifier: MIT */
/* Shared by the two halves of the server, which call each other: connections and their end
 * (server.c), and a request from its headers to its answer (exchange.c).  The main thread owns all
 * of it, except where a member says otherwise. */
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

struct _DynoServer {
  DynoServerParams params;
  SoupServer *soup;
  GSocket *listening;
  GSource *accepting; /* NULL: the next sweep makes it */
  int quiet_end;      /* of a pair of sockets, the other of which is libsoup's; -1: none */
  guint16 port;
  guint n_models;
  DynoServerModel *models;
  DynoServeMetrics *other; /* of requests for no model */
  GThreadPool *pool;       /* of DynoExchange */
  GMainLoop *loop;
  guint sweep;
  GQueue exchanges;       /* of DynoExchange, all that live */
  guint n_active;         /* requests that were accepted and are not answered */
  GPtrArray *connections; /* of DynoServeConnection, and some that are over */
  guint most_connections;
  gboolean stopping;
  GMutex mutex; /* of the next two */
  guint64 held_bytes;
  GError *lost;
};

/* Adds to the bytes that are held, any thread; FALSE: that would pass the limit. */
gboolean dyno_server_hold (DynoServer *server, guint64 bytes);
void dyno_server_let_go (DynoServer *server, guint64 bytes);

DynoServerModel *dyno_server_find_model (DynoServer *server, const char *name);
/* Calls func in the main thread, from any other one. */
void dyno_server_send (GSourceFunc func, gpointer data);
/* An accepted request was answered. */
void dyno_server_end_active (DynoServer *server);

typedef struct _DynoExchange DynoExchange;

/* A connection, counted by g_rc_box: the server, its exchanges and its remote address hold it. */
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
void dyno_exchange_attach (DynoServer *server, SoupServerMessage *message);
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
