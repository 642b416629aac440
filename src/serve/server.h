/* SPDX-License-Identifier: MIT */
/* The model server: the Open Inference Protocol (KServe v2) over HTTP/1.1, with or without TLS, by
 * libsoup.
 *
 * Threads: the caller's main loop accepts connections and distributes them to threads that only
 * read and write HTTP; a pool of threads prepares samples and writes responses as text; each model
 * has a batcher with its own thread, which drives the model.  All functions are called from one
 * thread, whose default main context is used.
 *
 * Limits, which hold for any client: bytes of a body, bytes in memory for all requests together (8
 * times as many), requests of a model, connections, and the time within which a request must have
 * been received and a response must have been read. */
#pragma once
#include "batcher.h"
#include "signature.h"
#include <gio/gio.h>

G_BEGIN_DECLS

/* A model that is ready.  Strings, info and engine outlive the server. */
typedef struct {
  const char *name;
  const DynoWeightsInfo *info;
  const DynoBatchField *input;
  const DynoBatchEngine *klass;
  gpointer engine;
} DynoServedModel;

typedef struct {
  const char *address;          /* an IP address */
  guint16 port;                 /* 0: any free port */
  const char *token;            /* NULL: none is required */
  GTlsCertificate *certificate; /* with its key; NULL: no TLS */
  guint64 max_body;             /* bytes, up to DYNO_SERVE_MOST_BODY */
  guint32 max_batch;            /* samples of a batch, up to the engines' limit */
  gint64 max_delay_us;
  guint max_queue;    /* requests of a model */
  guint timeout_s;    /* limits for an idle connection, for receiving a whole request, and for
                       * sending the response */
  guint workers;      /* threads of the pool, > 0 */
  guint http_threads; /* threads that read and write HTTP, > 0 */
} DynoServerParams;

#define DYNO_SERVE_MOST_BODY (G_GUINT64_CONSTANT (1) << 30)

typedef struct _DynoServer DynoServer;

/* Listens, and answers from the next iteration of the main loop on.  params is copied except for
 * token and certificate, which must outlive the server.  Errors: OPTION (the address cannot be
 * used), MISSING. */
DynoServer *dyno_server_new (const DynoServerParams *params, const DynoServedModel *models, guint n,
                             GError **error);
/* Ends all connections.  NULL: nothing. */
void dyno_server_free (DynoServer *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DynoServer, dyno_server_free)

guint16 dyno_server_get_port (DynoServer *server);

/* Answers requests until stop is cancelled, from any thread: then no connection is accepted, new
 * requests are refused, accepted ones are answered, and the function returns TRUE.  FALSE with the
 * error of a model: the model was lost, and the requests that waited for it were answered with
 * 500. */
gboolean dyno_server_run (DynoServer *server, GCancellable *stop, GError **error);

G_END_DECLS
