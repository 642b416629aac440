/* SPDX-License-Identifier: MIT */
/* Facts of libsoup 3.2 to 3.6 on which this file relies:
 * - The listener of libsoup does not limit connections, ends for ever when the system has no file
 *   descriptor left, and leaks the socket of each connection (3.2).  So server.c accepts
 *   connections, and add_connection passes them to libsoup; the DynoServeConnection is attached to
 *   the remote address, which libsoup returns for each message.
 * - libsoup neither closes nor forgets a connection that the client ends between two requests
 *   (3.2): sweep_connections closes it.
 * - libsoup keeps a connection for a next request only while it listens: it listens at one end of a
 *   pair of sockets, where no connection ever arrives (keep_connections).
 * - libsoup attaches its sources to the default context of the calling thread: begin makes the
 *   context of the new thread the default one while libsoup begins to listen.
 * - soup_server_disconnect ends all connections, also those whose answers were not sent yet: so
 *   stopping closes only the listening socket, and connections are ended after their requests.
 * - With TLS a thread of GLib waits for the client's handshake, and closing the stream waits for
 *   that thread: so a client has little time for its first request, and sockets are shut down
 *   before libsoup closes its streams. */
#include "httpthread.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SWEEP_S     1
#define HANDSHAKE_S 10

/* --- connections ------------------------------------------------------------------------------ */

static void
connection_clear (gpointer data)
{
  DynoServeConnection *connection = data;

  g_object_unref (connection->socket);
}

void
dyno_serve_connection_unref (gpointer connection)
{
  g_rc_box_release_full (connection, connection_clear);
}

/* Whether an idle connection is to be closed: its time has expired, or the client has closed it. */
static gboolean
is_left (DynoHttpThread *t, DynoServeConnection *connection, gint64 now_us)
{
  gint64 limit_s = t->server->params.timeout_s;
  char byte;

  if (t->server->params.certificate && !connection->used)
    limit_s = MIN (limit_s, HANDSHAKE_S);
  return now_us - connection->idle_since_us >= limit_s * G_USEC_PER_SEC
         || recv (g_socket_get_fd (connection->socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Closes idle connections, in two steps, and removes closed ones from the list. */
static void
sweep_connections (DynoHttpThread *t)
{
  gint64 now_us = g_get_monotonic_time ();

  for (guint i = t->connections->len; i > 0; i--)
    {
      DynoServeConnection *connection = g_ptr_array_index (t->connections, i - 1);

      gboolean is_idle = connection->n_exchanges == 0;

      if (is_idle && connection->ending)
        g_socket_close (connection->socket, NULL);
      if (g_socket_is_closed (connection->socket))
        g_ptr_array_remove_index_fast (t->connections, i - 1);
      else if (is_idle && is_left (t, connection, now_us))
        {
          connection->ending = TRUE;
          g_socket_shutdown (connection->socket, TRUE, TRUE, NULL);
        }
    }
}

static gboolean
sweep (gpointer data)
{
  DynoHttpThread *t = data;
  gint64 now_us = g_get_monotonic_time ();

  sweep_connections (t);
  for (GList *link = t->exchanges.head; link; link = link->next)
    dyno_exchange_sweep (link->data, now_us);
  return G_SOURCE_CONTINUE;
}

/* The bytes of the connection; with TLS the first that are read or written begin with its
 * handshake.  NULL: TLS cannot be used. */
static GIOStream *
new_stream (DynoHttpThread *t, GSocket *socket)
{
  GIOStream *plain = G_IO_STREAM (g_socket_connection_factory_create_connection (socket)), *secure;

  if (!t->server->params.certificate)
    return plain;
  secure = g_tls_server_connection_new (plain, t->server->params.certificate, NULL);
  g_object_unref (plain);
  return secure;
}

/* FALSE: this thread is full. */
static gboolean
add_connection (DynoHttpThread *t, GSocket *socket)
{
  g_autoptr (GSocketAddress) local = g_socket_get_local_address (socket, NULL),
                             remote = g_socket_get_remote_address (socket, NULL);
  g_autoptr (GIOStream) stream = NULL;
  DynoServeConnection *connection;

  if (t->connections->len >= t->most_connections)
    sweep_connections (t);
  if (t->connections->len >= t->most_connections)
    return FALSE;
  if (!local || !remote)
    {
      g_socket_close (socket, NULL);
      return TRUE;
    }
  connection = g_rc_box_new0 (DynoServeConnection);
  connection->socket = g_object_ref (socket);
  connection->idle_since_us = g_get_monotonic_time ();
  g_ptr_array_add (t->connections, connection);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, TRUE, NULL);
  g_object_set_data_full (G_OBJECT (remote), DYNO_CONNECTION_KEY, g_rc_box_acquire (connection),
                          dyno_serve_connection_unref);
  stream = new_stream (t, socket);
  if (stream)
    soup_server_accept_iostream (t->soup, stream, local, remote, NULL);
  else
    g_socket_close (socket, NULL);
  return TRUE;
}

/* A call to be made on a thread: a source of its context takes calls from the queue. */
typedef struct {
  GSourceFunc func;
  gpointer data;
  GDestroyNotify free_data;
} Call;

static void
call_free (gpointer data)
{
  Call *call = data;

  if (call->free_data)
    call->free_data (call->data);
  g_free (call);
}

/* A connection that is passed to a thread that has a free place. */
typedef struct {
  DynoHttpThread *first, *thread;
  GSocket *socket;
} Arrival;

static void
arrival_free (gpointer data)
{
  Arrival *arrival = data;

  g_object_unref (arrival->socket);
  g_free (arrival);
}

static void send_arrival (DynoHttpThread *first, DynoHttpThread *thread, GSocket *socket);

static gboolean
arrive (gpointer data)
{
  Arrival *arrival = data;
  DynoHttpThread *next = arrival->thread->next;

  if (add_connection (arrival->thread, arrival->socket))
    return G_SOURCE_REMOVE;
  if (next == arrival->first)
    g_socket_close (arrival->socket, NULL);
  else
    send_arrival (arrival->first, next, arrival->socket);
  return G_SOURCE_REMOVE;
}

static gboolean
work_off (gpointer data)
{
  DynoHttpThread *t = data;
  Call *call = g_async_queue_pop (t->calls);

  call->func (call->data);
  call_free (call);
  return G_SOURCE_REMOVE;
}

static void
post (DynoHttpThread *t, GSourceFunc func, gpointer data, GDestroyNotify free_data)
{
  g_autoptr (GSource) source = g_idle_source_new ();
  Call *call = g_new0 (Call, 1);

  *call = (Call){ .func = func, .data = data, .free_data = free_data };
  g_async_queue_push (t->calls, call);
  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, work_off, t, NULL);
  g_source_attach (source, t->context);
}

static void
send_arrival (DynoHttpThread *first, DynoHttpThread *thread, GSocket *socket)
{
  Arrival *arrival = g_new0 (Arrival, 1);

  *arrival = (Arrival){ .first = first, .thread = thread, .socket = g_object_ref (socket) };
  post (thread, arrive, arrival, arrival_free);
}

void
dyno_http_thread_take (DynoHttpThread *t, GSocket *socket)
{
  send_arrival (t, t, socket);
}

void
dyno_http_thread_send (DynoHttpThread *t, GSourceFunc func, gpointer data)
{
  post (t, func, data, NULL);
}

/* --- life ------------------------------------------------------------------------------------- */

static void
on_request_started (SoupServer *soup, SoupServerMessage *message, gpointer data)
{
  dyno_exchange_attach (data, message);
}

/* Makes libsoup keep connections alive; see the comment at the top. */
static gboolean
keep_connections (DynoHttpThread *t, GError **error)
{
  g_autoptr (GSocket) quiet = NULL;
  int ends[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_FAILED,
                              "the system does not create a socket");
  t->quiet_end = ends[1];
  quiet = g_socket_new_from_fd (ends[0], error);
  return quiet && soup_server_listen_socket (t->soup, quiet, 0, error);
}

static gpointer
run (gpointer data)
{
  DynoHttpThread *t = data;

  g_main_context_push_thread_default (t->context);
  g_main_loop_run (t->loop);
  /* Sources that were sent by the pool still hold messages. */
  while (t->n_active > 0 && g_main_context_iteration (t->context, FALSE))
    ;
  for (guint i = 0; i < t->connections->len; i++)
    {
      DynoServeConnection *connection = g_ptr_array_index (t->connections, i);
      g_socket_shutdown (connection->socket, TRUE, TRUE, NULL);
    }
  soup_server_disconnect (t->soup);
  g_clear_object (&t->soup);
  g_clear_pointer (&t->connections, g_ptr_array_unref);
  g_main_context_pop_thread_default (t->context);
  return NULL;
}

static gboolean
quit (gpointer data)
{
  DynoHttpThread *t = data;

  g_main_loop_quit (t->loop);
  return G_SOURCE_REMOVE;
}

/* Makes the libsoup server and its sources, in the thread's context. */
static gboolean
begin (DynoHttpThread *t, GError **error)
{
  g_autoptr (GSource) timer = g_timeout_source_new_seconds (SWEEP_S);
  gboolean ok;

  g_main_context_push_thread_default (t->context);
  t->soup = soup_server_new (NULL, NULL);
  g_signal_connect (t->soup, "request-started", G_CALLBACK (on_request_started), t);
  soup_server_add_early_handler (t->soup, NULL, dyno_exchange_on_headers, t, NULL);
  soup_server_add_handler (t->soup, NULL, dyno_exchange_on_body, t, NULL);
  ok = keep_connections (t, error);
  g_source_set_callback (timer, sweep, t, NULL);
  g_source_attach (timer, t->context);
  g_main_context_pop_thread_default (t->context);
  if (ok)
    t->thread = g_thread_try_new ("dyno-http", run, t, error);
  return t->thread != NULL;
}

DynoHttpThread *
dyno_http_thread_new (DynoServer *server, guint most_connections, GError **error)
{
  DynoHttpThread *t = g_new0 (DynoHttpThread, 1);

  *t = (DynoHttpThread){ .server = server,
                         .next = t,
                         .context = g_main_context_new (),
                         .most_connections = most_connections,
                         .quiet_end = -1 };
  t->loop = g_main_loop_new (t->context, FALSE);
  t->calls = g_async_queue_new_full (call_free);
  t->connections = g_ptr_array_new_with_free_func (dyno_serve_connection_unref);
  g_queue_init (&t->exchanges);
  if (begin (t, error))
    return t;
  dyno_http_thread_free (t);
  return NULL;
}

void
dyno_http_thread_set_next (DynoHttpThread *t, DynoHttpThread *next)
{
  t->next = next;
}

void
dyno_http_thread_end (DynoHttpThread *t)
{
  if (!t->thread)
    return;
  dyno_http_thread_send (t, quit, t);
  g_thread_join (t->thread);
  t->thread = NULL;
}

void
dyno_http_thread_free (DynoHttpThread *t)
{
  dyno_http_thread_end (t);
  g_clear_object (&t->soup);
  g_clear_pointer (&t->connections, g_ptr_array_unref);
  g_main_loop_unref (t->loop);
  g_main_context_unref (t->context);
  g_async_queue_unref (t->calls);
  if (t->quiet_end >= 0)
    close (t->quiet_end);
  g_free (t);
}
