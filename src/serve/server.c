/* SPDX-License-Identifier: MIT */
/* The server's life: models, listening, and the end. */
#include "server.h"
#include "httpthread.h"
#include "parallel.h"
#include <string.h>
#include <sys/resource.h>

#define MOST_CONNECTIONS 1024
#define SPARE_FILES      128 /* file descriptors reserved for other uses than connections */
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

DynoServerModel *
dyno_server_find_model (DynoServer *s, const char *name)
{
  for (guint i = 0; i < s->n_models; i++)
    if (strcmp (s->models[i].signature.name, name) == 0)
      return &s->models[i];
  return NULL;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Calls func on the main thread; dyno_server_free drops pending calls. */
static void
send_main (DynoServer *s, GSourceFunc func)
{
  g_autoptr (GSource) source = g_idle_source_new ();

  g_source_set_priority (source, G_PRIORITY_DEFAULT);
  g_source_set_callback (source, func, s, NULL);
  g_source_attach (source, NULL);
}

gboolean
dyno_server_is_stopping (DynoServer *s)
{
  gboolean stopping;

  g_mutex_lock (&s->mutex);
  stopping = s->stopping;
  g_mutex_unlock (&s->mutex);
  return stopping;
}

gboolean
dyno_server_begin_active (DynoServer *s)
{
  gboolean ok;

  g_mutex_lock (&s->mutex);
  ok = !s->stopping;
  s->n_active += ok != FALSE;
  g_mutex_unlock (&s->mutex);
  return ok;
}

static gboolean
is_over (DynoServer *s)
{
  gboolean over;

  g_mutex_lock (&s->mutex);
  over = s->stopping && s->n_active == 0;
  g_mutex_unlock (&s->mutex);
  return over;
}

static gboolean
quit_if_over (gpointer data)
{
  DynoServer *s = data;

  if (is_over (s) && s->loop)
    g_main_loop_quit (s->loop);
  return G_SOURCE_REMOVE;
}

void
dyno_server_end_active (DynoServer *s)
{
  g_mutex_lock (&s->mutex);
  s->n_active--;
  g_mutex_unlock (&s->mutex);
  if (is_over (s))
    send_main (s, quit_if_over);
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
  if (dyno_server_is_stopping (s))
    return;
  g_mutex_lock (&s->mutex);
  s->stopping = TRUE;
  g_mutex_unlock (&s->mutex);
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
  send_main (s, stop_for_loss);
}

static void
add_model (DynoServer *s, DynoServerModel *model, const DynoServedModel *served)
{
  DynoBatcherParams params = { .max_batch = s->params.max_batch,
                               .max_delay_us = s->params.max_delay_us,
                               .max_queue = s->params.max_queue,
                               .on_batch = on_batch,
                               .on_lost = on_lost,
                               .data = model };
  DynoJson json;

  model->server = s;
  dyno_signature_init (&model->signature, served->name, served->info, served->input);
  params.sample_bytes = model->signature.sample_bytes;
  params.output_bytes = model->signature.output_bytes;
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

static gboolean
on_connection (GSocket *listening, GIOCondition condition, gpointer data)
{
  DynoServer *s = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GSocket) socket = g_socket_accept (listening, NULL, &error);

  (void) condition;
  if (socket)
    {
      dyno_http_thread_take (s->threads[s->n_accepted++ % s->n_threads], socket);
      return G_SOURCE_CONTINUE;
    }
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
    return G_SOURCE_CONTINUE;
  /* After other errors, such as no free file descriptor, the next sweep tries again. */
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

static gboolean
sweep (gpointer data)
{
  DynoServer *s = data;

  if (!s->accepting && !dyno_server_is_stopping (s))
    start_accepting (s);
  return G_SOURCE_CONTINUE;
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
      || !(own = g_socket_get_local_address (s->listening, &problem)))
    return dyno_serve_refuse (error, DYNO_SERVE_ERROR_OPTION, "%s port %u cannot be used: %s",
                              s->params.address, s->params.port, problem->message);
  g_socket_set_blocking (s->listening, FALSE);
  s->port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (own));
  start_accepting (s);
  return TRUE;
}

/* Each thread gets its share of the connections. */
static gboolean
start_threads (DynoServer *s, GError **error)
{
  guint most = limit_connections (), n = s->params.http_threads;

  s->threads = g_new0 (DynoHttpThread *, n);
  for (; s->n_threads < n; s->n_threads++)
    {
      guint share = most / n + (s->n_threads < most % n);

      s->threads[s->n_threads] = dyno_http_thread_new (s, share, error);
      if (!s->threads[s->n_threads])
        return FALSE;
    }
  for (guint i = 0; i < n; i++)
    dyno_http_thread_set_next (s->threads[i], s->threads[(i + 1) % n]);
  return TRUE;
}

/* --- life ------------------------------------------------------------------------------------- */

DynoServer *
dyno_server_new (const DynoServerParams *params, const DynoServedModel *models, guint n,
                 GError **error)
{
  g_autoptr (DynoServer) s = g_new0 (DynoServer, 1);

  g_return_val_if_fail (params->max_body <= DYNO_SERVE_MOST_BODY && params->workers > 0
                            && params->http_threads > 0,
                        NULL);
  s->params = *params;
  g_mutex_init (&s->mutex);
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
  if (!start_threads (s, error))
    return NULL;
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
  for (guint i = 0; i < s->n_threads; i++)
    dyno_http_thread_end (s->threads[i]);
  for (guint i = 0; i < s->n_threads; i++)
    dyno_http_thread_free (s->threads[i]);
  g_free (s->threads);
  while (g_source_remove_by_user_data (s))
    ; /* sources that the threads sent to this one */
  g_clear_object (&s->listening);
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
  if (!is_over (s))
    g_main_loop_run (s->loop);
  g_source_destroy (source);
  g_clear_pointer (&s->loop, g_main_loop_unref);
  g_mutex_lock (&s->mutex);
  if (s->lost)
    g_propagate_error (error, g_error_copy (s->lost));
  g_mutex_unlock (&s->mutex);
  return s->lost == NULL;
}
