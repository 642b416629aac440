/* SPDX-License-Identifier: MIT */
/* The server's life: models, listening, connections, time limits, and the end.
 *
 * Facts of libsoup 3.2 to 3.6 that this relies on:
 * - Its own listener has no limit of connections, ends for ever when the system has no file
 *   descriptor left, and leaks the socket of each connection (3.2).  So connections are accepted
 *   here, and handed over with the socket kept at their remote address, which messages give back.
 * - A connection that its client ends between two requests is neither closed nor forgotten (3.2):
 *   sweeps close it.
 * - It keeps a connection for a next request only while it listens itself: it is given one end of a
 *   pair of sockets, at which nothing ever arrives.
 * - soup_server_disconnect ends all connections, also with answers that were not yet sent; so at the
 *   end only the listening socket is closed first. */
#include "server-private.h"
#include "parallel.h"
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST_CONNECTIONS 1024
#define SPARE_FILES      128 /* that are not for connections */
#define HELD_BODIES      8
#define SWEEP_S          1

gboolean
dyno_server_hold (DynoServer *s, guint64 bytes)
{
  gboolean ok;

  g_mutex_lock (&s->mutex);
  ok = bytes <= HELD_BODIES * s->params.max_body
       && s->held_bytes <= HELD_BODIES * s->params.max_body - bytes;
  if (ok)
    s->held_bytes += bytes;
  g_mutex_unlock (&s->mutex);
  return ok;
}

void
dyno_server_let_go (DynoServer *s, guint64 bytes)
{
  g_mutex_lock (&s->mutex);
  s->held_bytes -= bytes;
  g_mutex_unlock (&s->mutex);
}

/* g_main_context_invoke would call func here while no loop runs. */
void
dyno_server_send (GSourceFunc func, gpointer data)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, data, NULL);
  g_source_attach (source, NULL);
}

DynoServerModel *
dyno_server_find_model (DynoServer *s, const char *name)
{
  for (guint i = 0; i < s->n_models; i++)
    if (strcmp (s->models[i].signature.name, name) == 0)
      return &s->models[i];
  return NULL;
}

/* --- the end ---------------------------------------------------------------------------------- */

static void
quit_if_over (DynoServer *s)
{
  if (s->stopping && s->n_active == 0 && s->loop)
    g_main_loop_quit (s->loop);
}

void
dyno_server_end_active (DynoServer *s)
{
  s->n_active--;
  quit_if_over (s);
}

static void
stop_accepting (DynoServer *s)
{
  if (!s->accepting)
    return;
  g_source_destroy (s->accepting);
  g_clear_pointer (&s->accepting, g_source_unref);
}

static void
begin_stop (DynoServer *s)
{
  if (s->stopping)
    return;
  s->stopping = TRUE;
  stop_accepting (s);
  g_socket_close (s->listening, NULL);
  quit_if_over (s);
}

static gboolean
on_stop (GCancellable *stop, gpointer data)
{
  (void) stop;
  begin_stop (data);
  return G_SOURCE_REMOVE;
}

static gboolean
stop_for_loss (gpointer data)
{
  begin_stop (data);
  return G_SOURCE_REMOVE;
}

/* --- models ----------------------------------------------------------------------------------- */

static void
on_batch (guint32 n, gpointer data)
{
  DynoServerModel *model = data;

  dyno_serve_metrics_add_batch (model->metrics, n);
}

static void
on_lost (const GError *error, gpointer data)
{
  DynoServer *s = ((DynoServerModel *) data)->server;

  g_mutex_lock (&s->mutex);
  if (!s->lost)
    s->lost = g_error_copy (error);
  g_mutex_unlock (&s->mutex);
  dyno_server_send (stop_for_loss, s);
}

static void
add_model (DynoServer *s, DynoServerModel *model, const DynoServedModel *served)
{
  DynoBatcherParams params = { .max_batch = s->params.max_batch,
                               .max_delay_us = s->params.max_delay_us,
                               .max_queue = s->params.max_queue,
                               .n_outputs = served->info->n_outputs,
                               .on_batch = on_batch,
                               .on_lost = on_lost,
                               .data = model };
  DynoJson json;

  model->server = s;
  dyno_signature_init (&model->signature, served->name, served->info, served->input);
  params.sample_bytes = model->signature.sample_bytes;
  model->metrics = dyno_serve_metrics_new (s->params.max_batch);
  dyno_json_init (&json, 0);
  dyno_signature_write (&model->signature, &json);
  model->metadata = dyno_json_steal (&json);
  dyno_json_clear (&json);
  model->batcher = dyno_batcher_new (&params, served->klass, served->engine);
}

/* --- connections ------------------------------------------------------------------------------ */

static guint
limit_connections (void)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return MOST_CONNECTIONS;
  return (guint) CLAMP ((gint64) limit.rlim_cur - SPARE_FILES, 16, MOST_CONNECTIONS);
}

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

/* Whether a connection between two requests is of no more use: its time is over, or its client has
 * ended it. */
static gboolean
is_left (DynoServer *s, DynoServeConnection *connection, gint64 now_us)
{
  char byte;

  return now_us - connection->idle_since_us >= (gint64) s->params.timeout_s * G_USEC_PER_SEC
         || recv (g_socket_get_fd (connection->socket), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Ends connections that are left, in two steps, and forgets those that are over. */
static void
sweep_connections (DynoServer *s)
{
  gint64 now_us = g_get_monotonic_time ();

  for (guint i = s->connections->len; i > 0; i--)
    {
      DynoServeConnection *connection = g_ptr_array_index (s->connections, i - 1);

      gboolean is_idle = connection->n_exchanges == 0;

      if (is_idle && connection->ending)
        g_socket_close (connection->socket, NULL);
      if (g_socket_is_closed (connection->socket))
        g_ptr_array_remove_index_fast (s->connections, i - 1);
      else if (is_idle && is_left (s, connection, now_us))
        {
          connection->ending = TRUE;
          g_socket_shutdown (connection->socket, TRUE, TRUE, NULL);
        }
    }
}

static void
take_connection (DynoServer *s, GSocket *socket)
{
  g_autoptr (GSocketAddress) local = g_socket_get_local_address (socket, NULL),
                             remote = g_socket_get_remote_address (socket, NULL);
  g_autoptr (GSocketConnection) stream = NULL;
  DynoServeConnection *connection;

  if (s->connections->len >= s->most_connections)
    sweep_connections (s);
  if (!local || !remote || s->connections->len >= s->most_connections)
    {
      g_socket_close (socket, NULL);
      return;
    }
  connection = g_rc_box_new0 (DynoServeConnection);
  connection->socket = g_object_ref (socket);
  g_ptr_array_add (s->connections, connection);
  g_socket_set_option (socket, IPPROTO_TCP, TCP_NODELAY, TRUE, NULL);
  g_object_set_data_full (G_OBJECT (remote), DYNO_CONNECTION_KEY, g_rc_box_acquire (connection),
                          dyno_serve_connection_unref);
  stream = g_socket_connection_factory_create_connection (socket);
  soup_server_accept_iostream (s->soup, G_IO_STREAM (stream), local, remote, NULL);
}

static gboolean
on_connection (GSocket *listening, GIOCondition condition, gpointer data)
{
  DynoServer *s = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_accept (listening, NULL, &error);

  (void) condition;
  if (socket)
    {
      take_connection (s, socket);
      return G_SOURCE_CONTINUE;
    }
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    return G_SOURCE_CONTINUE;
  /* Such as no file descriptor: the next sweep tries again. */
  g_clear_pointer (&s->accepting, g_source_unref);
  return G_SOURCE_REMOVE;
}

static void
start_accepting (DynoServer *s)
{
  s->accepting = g_socket_create_source (s->listening, G_IO_IN, NULL);
  g_source_set_callback (s->accepting, G_SOURCE_FUNC (on_connection), s, NULL);
  g_source_attach (s->accepting, NULL);
}

static void
on_request_started (SoupServer *soup, SoupServerMessage *message, gpointer data)
{
  (void) soup;
  dyno_exchange_attach (data, message);
}

static gboolean
sweep (gpointer data)
{
  DynoServer *s = data;
  gint64 now_us = g_get_monotonic_time ();

  sweep_connections (s);
  for (GList *link = s->exchanges.head; link; link = link->next)
    dyno_exchange_sweep (link->data, now_us);
  if (!s->stopping && !s->accepting)
    start_accepting (s);
  return G_SOURCE_CONTINUE;
}

/* So that libsoup keeps connections; see the head. */
static gboolean
keep_connections (DynoServer *s, GError **error)
{
  g_autoptr (GSocket) quiet = NULL;
  int ends[2];

  if (socketpair (AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "the system gives no socket");
      return FALSE;
    }
  s->quiet_end = ends[1];
  quiet = g_socket_new_from_fd (ends[0], error);
  return quiet && soup_server_listen_socket (s->soup, quiet, 0, error);
}

static gboolean
start_listening (DynoServer *s, GError **error)
{
  g_autoptr (GInetAddress) inet = g_inet_address_new_from_string (s->params.address);
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new (inet, s->params.port);
  g_autoptr (GSocketAddress) own = NULL;
  g_autoptr (GError) problem = NULL;

  s->listening = g_socket_new (g_inet_address_get_family (inet), G_SOCKET_TYPE_STREAM,
                               G_SOCKET_PROTOCOL_TCP, &problem);
  if (s->listening)
    g_socket_set_listen_backlog (s->listening, 128);
  if (!s->listening || !g_socket_bind (s->listening, address, TRUE, &problem)
      || !g_socket_listen (s->listening, &problem)
      || !(own = g_socket_get_local_address (s->listening, &problem))
      || !keep_connections (s, &problem))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_OPTION, "%s port %u cannot be used: %s",
                              s->params.address, s->params.port, problem->message);
  g_socket_set_blocking (s->listening, FALSE);
  s->port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (own));
  start_accepting (s);
  return TRUE;
}

/* --- life ------------------------------------------------------------------------------------- */

DynoServer *
dyno_server_new (const DynoServerParams *params, const DynoServedModel *models, guint n,
                 GError **error)
{
  g_autoptr (DynoServer) s = g_new0 (DynoServer, 1);

  g_return_val_if_fail (params->max_body <= DYNO_SERVE_MOST_BODY && params->workers > 0, NULL);
  s->params = *params;
  g_mutex_init (&s->mutex);
  g_queue_init (&s->exchanges);
  s->quiet_end = -1;
  s->connections = g_ptr_array_new_with_free_func (dyno_serve_connection_unref);
  s->most_connections = limit_connections ();
  s->other = dyno_serve_metrics_new (1);
  s->models = g_new0 (DynoServerModel, n);
  for (; s->n_models < n; s->n_models++)
    add_model (s, &s->models[s->n_models], &models[s->n_models]);
  s->pool = dyno_thread_pool_new (dyno_exchange_work, s, params->workers);
  if (!s->pool)
    {
      dyno_serve_refuse (error, DYNO_SERVE_ERROR_FAILED, "the system gives no thread");
      return NULL;
    }
  g_thread_pool_set_sort_function (s->pool, dyno_exchange_compare, NULL);
  s->soup = soup_server_new (NULL, NULL);
  g_signal_connect (s->soup, "request-started", G_CALLBACK (on_request_started), s);
  soup_server_add_early_handler (s->soup, NULL, dyno_exchange_on_headers, s, NULL);
  soup_server_add_handler (s->soup, NULL, dyno_exchange_on_body, s, NULL);
  if (!start_listening (s, error))
    return NULL;
  s->sweep = g_timeout_add_seconds (SWEEP_S, sweep, s);
  return g_steal_pointer (&s);
}

void
dyno_server_free (DynoServer *s)
{
  if (!s)
    return;
  if (s->sweep)
    g_source_remove (s->sweep);
  stop_accepting (s);
  for (guint i = 0; i < s->n_models; i++)
    dyno_batcher_stop (s->models[i].batcher);
  if (s->pool)
    g_thread_pool_free (s->pool, FALSE, TRUE);
  if (s->soup)
    {
      /* Sources that the pool sent to this thread hold messages. */
      while (s->n_active > 0 && g_main_context_iteration (NULL, FALSE))
        ;
      soup_server_disconnect (s->soup);
      g_object_unref (s->soup);
    }
  g_ptr_array_unref (s->connections);
  g_clear_object (&s->listening);
  if (s->quiet_end >= 0)
    close (s->quiet_end);
  for (guint i = 0; i < s->n_models; i++)
    {
      dyno_batcher_free (s->models[i].batcher);
      dyno_serve_metrics_free (s->models[i].metrics);
      g_free (s->models[i].metadata);
    }
  g_free (s->models);
  dyno_serve_metrics_free (s->other);
  g_clear_error (&s->lost);
  g_mutex_clear (&s->mutex);
  g_free (s);
}

guint16
dyno_server_get_port (DynoServer *s)
{
  return s->port;
}

gboolean
dyno_server_run (DynoServer *s, GCancellable *stop, GError **error)
{
  g_autoptr (GSource) source = g_cancellable_source_new (stop);

  s->loop = g_main_loop_new (NULL, FALSE);
  g_source_set_callback (source, G_SOURCE_FUNC (on_stop), s, NULL);
  g_source_attach (source, NULL);
  if (!s->stopping || s->n_active > 0)
    g_main_loop_run (s->loop);
  g_source_destroy (source);
  g_clear_pointer (&s->loop, g_main_loop_unref);
  g_mutex_lock (&s->mutex);
  if (s->lost)
    g_propagate_error (error, g_error_copy (s->lost));
  g_mutex_unlock (&s->mutex);
  return s->lost == NULL;
}
